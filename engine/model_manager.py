"""The model manager: which models are in memory.

A model is loaded at its first request, and unloaded when it was idle for its TTL or when another model needs the room.
Runs on the engine's thread only; the router asks it for executors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import psutil

from backends.kv_cache import copy_can_truncate
from engine.admission import Admission
from engine.draft_head import DraftHeadSpeculation
from engine.errors import ErrorText, OutOfMemory
from engine.executor import ModelExecutor
from engine.loaded import Loaded, Loader
from engine.metrics import EngineContext, ModelStats
from engine.parallel.replica_scheduler import ReplicaScheduler
from engine.parallel.replicas import Replicas
from engine.prefix_cache import CachedPrefix, PrefixCache, SequenceMemory
from engine.prefix_offload import PrefixOffload, export_prefix, offload_key
from engine.speculation import DraftModelSpeculation, Speculation, same_vocabulary
from engine.tasks import Task
from engine.types import memory_limit

log = logging.getLogger("grus.engine")


class Busy(Exception):
    """The model would fit if a model that is in use now were unloaded."""


@dataclass(frozen=True)
class _Room:
    """The facts that decide whether another model fits; a load that was refused is retried when they improve."""

    executors: frozenset[tuple[str, int, bool, bool]]
    used: int  # bytes of sequences

    def better_than(self, before: _Room) -> bool:
        return self.executors != before.executors or self.used < before.used


class ModelManager:
    """Loads, unloads and pins models, and shares the device's memory among them."""

    def __init__(self, load: Loader, context: EngineContext, helper: Executor,
                 wake: Callable[[], None], start: Callable[[Task[None]], None]) -> None:  # fmt: skip
        self.executors: dict[str, ModelExecutor] = {}
        self.pinned: set[str] = set()
        self.closing: set[str] = set()  # unloaded as soon as their requests have ended
        self._kept: dict[str, float | None] = {}  # idle TTL in seconds, where it differs from the settings
        self._load = load
        self._refused: dict[str, _Room] = {}  # models without room, and the room when they were refused
        self._sizes: dict[str, int] = {}  # their bytes, estimated until they were loaded once
        self._context = context
        self._helper = helper
        self._wake = wake
        self._start = start  # of a task
        self.limit: int | None = None  # bytes of the device for all models; set when the first one is loaded
        self.host_limit = memory_limit(context.settings.host_memory_limit, psutil.virtual_memory().total)
        folder = context.settings.offload_folder
        self.offload = (
            PrefixOffload(Path(folder), memory_limit(context.settings.offload_limit, 0)) if folder is not None else None
        )

    def executor(self, name: str) -> ModelExecutor:
        """The model's executor; the model is loaded if it is not. Raises what loading raises, or Busy."""
        executor = self.executors.get(name)
        if executor is not None:
            return executor
        if (refused := self._refused.get(name)) is not None and not self._room().better_than(refused):
            raise Busy
        try:
            self._make_place()
            self._make_room(name)
            executor = self._open(name)
            self.executors[name] = executor
            self._fit(name)
        except Busy:
            self._refused[name] = self._room()
            raise
        except BaseException:
            self._forget_refusal(name)
            raise
        self._forget_refusal(name)
        return executor

    def _forget_refusal(self, name: str) -> None:
        self._refused.pop(name, None)
        self._sizes.pop(name, None)

    def _room(self) -> _Room:
        executors = frozenset(
            (n, id(executor), executor.busy, n in self.pinned) for n, executor in self.executors.items()
        )
        return _Room(executors, sum(executor.memory.used for executor in self.executors.values()))

    def _make_place(self) -> None:
        most = self._context.settings.max_models
        while most and len(self.executors) >= most:
            self._unload_oldest(None)

    def _make_room(self, name: str) -> None:
        """Unload other models before loading, where the size is known. Nothing is unloaded for a model that cannot fit."""
        limit = self.limit
        if limit is None or not self.executors:
            return
        if name not in self._sizes:
            self._sizes[name] = self._load.size(name) or 0
        size = self._sizes[name]
        if not size:
            return
        if size >= limit:
            raise self._never_fits(name, size)
        stay = {n: executor for n, executor in self.executors.items() if executor.busy or n in self.pinned}
        least = sum(
            executor.weight_bytes + max(0, executor.memory.used - executor.prefix_cache.nbytes)
            for executor in stay.values()
        )
        if least + size >= limit:
            self._refuse(stay, None)
        while self.weight_bytes + sum(executor.memory.used for executor in self.executors.values()) + size >= limit:
            if not self._reclaim(name):
                self._unload_oldest(None)

    def _never_fits(self, name: str, size: int) -> OutOfMemory:
        assert self.limit is not None
        return OutOfMemory(ErrorText("The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need " "room too.", name=name, size=size >> 20, limit=self.limit >> 20))  # fmt: skip

    def _open(self, name: str) -> ModelExecutor:
        while True:
            try:
                log.info("loading %s", name)
                loaded = self._load(name)
                break
            except (MemoryError, OutOfMemory) as error:
                if not self.executors:
                    raise OutOfMemory(str(error) or f"The model {name} does not fit into memory.") from error
                self._unload_oldest(error)
        try:
            return self._create_executor(loaded)
        except BaseException:
            loaded.close()
            loaded.backend.release()
            self._load.unloaded(loaded)
            raise

    def _create_executor(self, loaded: Loaded) -> ModelExecutor:
        settings, context = self._context.settings, self._context
        if self.limit is None:
            self.limit = memory_limit(settings.gpu_memory_limit, loaded.backend.memory().total)
        memory = SequenceMemory(loaded.kv)
        offload = self.offload if memory.movable else None

        def store(prefix: CachedPrefix, hurry: bool) -> None:
            if offload is None:
                return
            key = offload_key(loaded.fingerprint, prefix.variant)
            # of a model that is split, arrays come rank by rank: rows and states are not told apart
            checkpoints = prefix.checkpoints if getattr(loaded, "team", None) is None else ()
            try:
                offload.store(
                    key,
                    prefix.key,
                    lambda: export_prefix(loaded.kv, prefix.slot, checkpoints),
                    self._helper,
                    hurry,
                )
            except (MemoryError, OutOfMemory) as error:  # the caller is freeing memory: a failed copy must not stop it
                log.info("a prefix of %s was not offloaded: %r", loaded.name, error)

        prefix_cache = PrefixCache(memory, store if offload is not None else None, context.counters)
        find = None
        if offload is not None:
            find = offload.finder(loaded.fingerprint, partial(copy_can_truncate, memory.kv.specs))
        from engine.grammar import GrammarCompiler  # with llguidance 5 MB, imported for the first model

        grammars = GrammarCompiler(loaded.tokenizer, loaded.vocab, sorted(loaded.eos_ids))
        admission = Admission(loaded, settings, grammars, self._helper, find, self._wake)
        speculation = self._speculation(loaded)
        replicas: Replicas | None = getattr(loaded, "replicas", None)
        if replicas is not None:
            replicas.open(settings, speculation.draft_folder)
        loaded.runner.span = context.trace.span
        with context.trace.span("warm", model=loaded.name):
            loaded.runner.warm()
            speculation.warm(loaded)
        executor = ModelExecutor(loaded, context, memory, prefix_cache, admission, speculation, lambda: self._reclaim(loaded.name),
                    self.host_limit, self._start)  # fmt: skip
        if replicas is not None:
            replicas.wait("ready")
            executor.replicas = ReplicaScheduler(replicas, executor, context, self._wake)
        return executor

    def _speculation(self, loaded: Loaded) -> Speculation:
        """Speculative decoding with the draft model, where its vocabulary is this model's; otherwise without."""
        settings = self._context.settings
        if (head := getattr(loaded, "draft_head", None)) and settings.speculation not in ("off", "ngram"):
            return DraftHeadSpeculation(head, settings.max_draft, self._context.clock)
        headless = getattr(loaded, "eagle", None) is not None  # what was to draft is no model, and does not fit
        if headless or settings.draft_model in (None, loaded.name) or getattr(loaded, "tokenizer", None) is None:
            return Speculation()
        draft = self._load(str(settings.draft_model))
        if not same_vocabulary(draft, loaded):
            draft.close()
            draft.backend.release()
            log.warning("%s does not draft for %s: their vocabularies differ", draft.name, loaded.name)
            return Speculation()
        return DraftModelSpeculation(draft, settings.max_draft, loaded.vocab)

    def _fit(self, name: str) -> None:
        """Unload other models until the weights fit under the limit; none for a model that is too large by itself."""
        executor, limit = self.executors[name], self.limit
        if limit is None:
            return
        try:
            while self.weight_bytes + sum(other.memory.used for other in self.executors.values()) >= limit:
                alone = executor.weight_bytes + executor.memory.used >= limit
                if not alone and self._reclaim(name):
                    continue
                if alone or len(self.executors) == 1:
                    raise self._never_fits(name, executor.weight_bytes)
                self._unload_oldest(None, spare=name)
        except BaseException as error:
            if isinstance(error, Busy):
                self._sizes[name] = executor.weight_bytes + executor.memory.used
            del self.executors[name]
            executor.close()
            executor.loaded.backend.release()
            self._load.unloaded(executor.loaded)
            raise

    def _unload_oldest(self, cause: BaseException | None, spare: str | None = None) -> None:
        """Unload the least recently used idle model. Raises Busy, or OutOfMemory when all are pinned."""
        free = [
            n for n, executor in self.executors.items() if n not in self.pinned and n != spare and not executor.busy
        ]
        if free:
            self.unload(min(free, key=lambda n: self.executors[n].last_used))
        else:
            self._refuse([n for n in self.executors if n != spare], cause)

    def _refuse(self, stay: Iterable[str], cause: BaseException | None) -> NoReturn:
        """Raise Busy, or OutOfMemory when all of `stay` are pinned."""
        if any(name not in self.pinned for name in stay):
            raise Busy
        raise OutOfMemory(ErrorText("There is no room for another model: all that are loaded are pinned.")) from cause

    def unload(self, name: str) -> None:
        _release([self._drop(name)])

    def _drop(self, name: str) -> Loaded:
        """Unload a model. Its backend has still to release the memory."""
        executor = self.executors.pop(name)
        self.closing.discard(name)
        self.pinned.discard(name)
        self._kept.pop(name, None)
        log.info("unloading %s", name)
        try:
            executor.close()
        except Exception:  # a broken device may fail even here; other models continue
            log.exception("%s could not be closed properly", name)
        self._load.unloaded(executor.loaded)
        return executor.loaded

    def clear_prefix_cache(self, name: str | None) -> Future[int]:
        """Free the cached prefixes now, delete the offloaded ones on the helper thread. The result is how many there were."""
        executors = list(self.executors.values()) if name is None else [self.executors[name]]
        cached = sum(executor.prefix_cache.clear(offload=False) for executor in executors)
        for executor in executors:
            if executor.replicas is not None:
                executor.replicas.clear_prefixes()
        fingerprint = None if name is None else self.executors[name].loaded.fingerprint
        offload = self.offload
        return self._helper.submit(lambda: cached + (offload.clear(fingerprint) if offload is not None else 0))

    @property
    def weight_bytes(self) -> int:
        return sum(executor.weight_bytes for executor in self.executors.values())

    def share_memory(self, executor: ModelExecutor) -> None:
        """Give the executor's sequences what all weights and the other models' sequences leave."""
        allowed = executor.memory.loaded_budget
        if self.limit is not None:
            others = sum(other.memory.used for other in self.executors.values() if other is not executor)
            allowed = min(self.limit - self.weight_bytes - others, allowed)
        executor.memory.allow(allowed)

    def _reclaim(self, asking: str) -> bool:
        """Evict one cached prefix of another model to make room for `asking`. False when there is none."""
        for name, executor in self.executors.items():
            if name != asking and executor.prefix_cache.evict_oldest():
                if asking in self.executors:
                    self.share_memory(self.executors[asking])
                return True
        return False

    def keep(self, name: str, seconds: float | None) -> None:
        self._kept[name] = seconds
        if (executor := self.executors.get(name)) is not None:
            executor.last_used = self._context.clock()

    def _ends(self, name: str, executor: ModelExecutor) -> float | None:
        """When the model expires if it stays idle. None: only when its room is needed."""
        seconds = self._kept.get(name, self._context.settings.idle_ttl)
        return None if seconds is None or name in self.pinned else executor.last_used + seconds

    def tidy(self, now: float) -> bool:
        """Unload models that are closing or expired. True when one was."""
        gone = [
            name for name, executor in self.executors.items()
            if not executor.busy and (
                name in self.closing or ((end := self._ends(name, executor)) is not None and now >= end)
            )
        ]  # fmt: skip
        for name in gone:
            self.unload(name)
        return bool(gone)

    def next_deadline(self) -> float | None:
        """When the next idle model expires."""
        ends = [self._ends(name, executor) for name, executor in self.executors.items() if not executor.busy]
        return min((end for end in ends if end is not None), default=None)

    def stats(self, now: float) -> list[ModelStats]:
        """May be called on any thread."""
        return [self._stats_of(name, executor, now) for name, executor in list(self.executors.items())]

    def _stats_of(self, name: str, executor: ModelExecutor, now: float) -> ModelStats:
        scheduler, end, replicas = executor.scheduler, self._ends(name, executor), executor.replicas
        left = None if end is None else max(0.0, end - (executor.last_used if executor.busy else now))
        return ModelStats(
            name=name,
            active=len(scheduler.running) + (replicas.elsewhere if replicas else 0),
            waiting=len(scheduler.waiting) + (replicas.waiting if replicas else 0),
            evicted=len(scheduler.preempted),
            pinned=name in self.pinned,
            in_use=executor.busy,
            weight_bytes=executor.weight_bytes,
            kv_bytes=executor.memory.used,
            kv_budget=executor.memory.kv.budget,
            idle_prefixes=len(executor.prefix_cache),
            max_active=scheduler.cap,
            expires_in=left,
            replicas=replicas.alive if replicas else 1,
        )

    def close(self) -> None:
        _release([self._drop(name) for name in list(self.executors)])


def _release(gone: Iterable[Loaded]) -> None:
    """Give back the memory of models that were closed: once for each device."""
    for backend in {(type(loaded.backend), loaded.backend.device): loaded.backend for loaded in gone}.values():
        try:
            backend.release()
        except Exception:  # a broken device may fail even here; other models continue
            log.exception("the memory of %s could not be released", backend.device)
