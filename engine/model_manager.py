"""Which models are in memory: loaded when first asked for, unloaded when idle for long or when another needs the room.

Everything here happens on the engine thread. Knows lanes and sizes; requests are routed by `engine.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import psutil

from engine.admission import Admission
from engine.errors import OutOfMemory
from engine.executor import ModelExecutor
from engine.loaded import Loaded, Loader
from engine.metrics import EngineContext, ModelStats
from engine.prefix_cache import CachedPrefix, MemoryLimit, PrefixCache, PrefixOffload, SequenceMemory, shared_key
from engine.sampling import GrammarCompiler
from engine.settings import memory_limit
from engine.speculation import DraftModelSpeculation, Speculation, same_vocabulary
from engine.tasks import Task

log = logging.getLogger("grus.engine")


class Busy(Exception):
    """The model would fit if one that is in use were gone."""


@dataclass(frozen=True)
class _Room:
    """What decides whether another model fits."""

    executors: frozenset[tuple[str, int, bool, bool]]
    used: int  # bytes of sequences

    def better_than(self, before: _Room) -> bool:
        return self.executors != before.executors or self.used < before.used


class ModelManager:
    def __init__(self, load: Loader, context: EngineContext, helper: Executor,
                 wake: Callable[[], None], start: Callable[[Task[None]], None]) -> None:  # fmt: skip
        self.executors: dict[str, ModelExecutor] = {}
        self.pinned: set[str] = set()
        self.closing: set[str] = set()  # unloaded as soon as their requests have ended
        self._kept: dict[str, float | None] = {}  # seconds that a model stays unused, where not as the settings say
        self._load = load
        self._refused: dict[str, _Room] = {}  # models that wait for room, and what there was when they were refused
        self._sizes: dict[str, int] = {}  # ... and their bytes, which are estimated until they were loaded once
        self._context = context
        self._helper = helper
        self._wake = wake
        self._start = start  # a task
        self.limit = MemoryLimit(None)
        self.host_limit = memory_limit(context.settings.host_memory_limit, psutil.virtual_memory().total)
        folder = context.settings.offload_folder
        self.offload = (
            PrefixOffload(Path(folder), memory_limit(context.settings.offload_limit, 0)) if folder is not None else None
        )

    def executor(self, name: str) -> ModelExecutor:
        """The model's lane, loaded now if it must be. Raises what loading raises, or Busy."""
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
        """Unload others before the model is loaded, where its size is known. Nothing is unloaded for what does not fit."""
        limit = self.limit.nbytes
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
        assert self.limit.nbytes is not None
        return OutOfMemory(f"The model {name} takes {size >> 20} MiB; the memory limit is {self.limit.nbytes >> 20} MiB, "
                           "and its sequences need room too.")  # fmt: skip

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
            self._load.unloaded(loaded)
            raise

    def _create_executor(self, loaded: Loaded) -> ModelExecutor:
        settings, context = self._context.settings, self._context
        if self.limit.nbytes is None:
            self.limit.nbytes = memory_limit(settings.gpu_memory_limit, loaded.backend.memory().total)
        memory = SequenceMemory(loaded.kv)
        offload = self.offload if memory.movable else None

        def store(prefix: CachedPrefix, hurry: bool) -> None:
            if offload is None:
                return
            key = shared_key(loaded.fingerprint, prefix.adapter)
            try:
                offload.store(
                    key,
                    prefix.key,
                    lambda: loaded.kv.export_snapshot(loaded.kv.snapshot(prefix.slot)),
                    self._helper,
                    hurry,
                )
            except (MemoryError, OutOfMemory) as error:  # memory is what is being made here
                log.info("a prefix of %s was not spilled: %r", loaded.name, error)

        prefix_cache = PrefixCache(memory, store if offload is not None else None, context.counters)
        find = None
        if offload is not None:
            find = offload.finder(loaded.fingerprint, whole_only=memory.recurrent)
        grammars = GrammarCompiler(loaded.tokenizer, loaded.vocab, sorted(loaded.eos_ids))
        admission = Admission(loaded, settings, grammars, self._helper, find, self._wake)
        speculation = self._speculation(loaded)
        loaded.runner.span = context.trace.span
        with context.trace.span("warm", model=loaded.name):
            loaded.runner.warm()
        return ModelExecutor(loaded, context, memory, prefix_cache, admission, speculation, lambda: self._reclaim(loaded.name),
                    self.host_limit, self._start)  # fmt: skip

    def _speculation(self, loaded: Loaded) -> Speculation:
        """With the draft model, where there is one of this model's vocabulary."""
        settings = self._context.settings
        if settings.draft_model in (None, loaded.name) or getattr(loaded, "tokenizer", None) is None:
            return Speculation()
        draft = self._load(str(settings.draft_model))
        if not same_vocabulary(draft, loaded):
            draft.close()
            log.warning("%s does not draft for %s: their vocabularies differ", draft.name, loaded.name)
            return Speculation()
        return DraftModelSpeculation(draft, settings.max_draft, loaded.vocab)

    def _fit(self, name: str) -> None:
        """Unload others until the weights fit under the limit; none for a model that is too large all by itself."""
        executor, limit = self.executors[name], self.limit.nbytes
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
            self._load.unloaded(executor.loaded)
            raise

    def _unload_oldest(self, cause: BaseException | None, spare: str | None = None) -> None:
        """Unload the least recently used model that may go. Raise Busy, or OutOfMemory when none ever may."""
        free = [
            n for n, executor in self.executors.items() if n not in self.pinned and n != spare and not executor.busy
        ]
        if free:
            self.unload(min(free, key=lambda n: self.executors[n].last_used))
        else:
            self._refuse([n for n in self.executors if n != spare], cause)

    def _refuse(self, stay: Iterable[str], cause: BaseException | None) -> NoReturn:
        """These are in the way."""
        if any(name not in self.pinned for name in stay):
            raise Busy
        raise OutOfMemory("There is no room for another model: all that are loaded are pinned.") from cause

    def unload(self, name: str) -> None:
        executor = self.executors.pop(name)
        self.closing.discard(name)
        self.pinned.discard(name)
        self._kept.pop(name, None)
        log.info("unloading %s", name)
        try:
            executor.close()
        except Exception:  # a device that is broken may refuse even that; the others go on
            log.exception("%s could not be closed properly", name)
        self._load.unloaded(executor.loaded)

    def clear_prefix_cache(self, name: str | None) -> Future[int]:
        """Memory is given back now, files are deleted soon. The answer is how many prefixes there were in both."""
        executors = list(self.executors.values()) if name is None else [self.executors[name]]
        idle = sum(executor.prefix_cache.forget() for executor in executors)
        fingerprint = None if name is None else self.executors[name].loaded.fingerprint
        offload = self.offload
        return self._helper.submit(lambda: idle + (offload.forget(fingerprint) if offload is not None else 0))

    @property
    def weight_bytes(self) -> int:
        return sum(executor.weight_bytes for executor in self.executors.values())

    def share_memory(self, executor: ModelExecutor) -> None:
        others = [other.memory for other in self.executors.values() if other is not executor]
        self.limit.share(executor.memory, self.weight_bytes, others)

    def _reclaim(self, asking: str) -> bool:
        """Drop one idle prefix of another model, for the sake of `asking`."""
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
        """When an idle model must go. None: when its room is needed."""
        seconds = self._kept.get(name, self._context.settings.idle_ttl)
        return None if seconds is None or name in self.pinned else executor.last_used + seconds

    def tidy(self, now: float) -> bool:
        """Unload what was told to go and what nobody has used for long."""
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
        """When the next idle model must go."""
        ends = [self._ends(name, executor) for name, executor in self.executors.items() if not executor.busy]
        return min((end for end in ends if end is not None), default=None)

    def stats(self, now: float) -> list[ModelStats]:
        """Called on any thread."""
        return [self._stats_of(name, executor, now) for name, executor in list(self.executors.items())]

    def _stats_of(self, name: str, executor: ModelExecutor, now: float) -> ModelStats:
        scheduler, end = executor.scheduler, self._ends(name, executor)
        left = None if end is None else max(0.0, end - (executor.last_used if executor.busy else now))
        return ModelStats(
            name=name,
            active=len(scheduler.running),
            waiting=len(scheduler.waiting),
            evicted=len(scheduler.preempted),
            pinned=name in self.pinned,
            in_use=executor.busy,
            weight_bytes=executor.weight_bytes,
            kv_bytes=executor.memory.used,
            kv_budget=executor.memory.kv.budget,
            idle_prefixes=len(executor.prefix_cache),
            max_active=scheduler.cap,
            expires_in=left,
        )

    def close(self) -> None:
        for name in list(self.executors):
            self.unload(name)
