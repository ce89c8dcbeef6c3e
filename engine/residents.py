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

from engine.budget import Limit, Memory
from engine.draft import DraftModel, same_vocabulary
from engine.errors import OutOfMemory
from engine.grammar import Grammars
from engine.joining import Joining
from engine.lane import Lane
from engine.loaded import Loaded, Loader
from engine.prefix import Prefix, Prefixes
from engine.settings import memory_limit
from engine.shared import Shared
from engine.speculation import Speculation
from engine.spill import Spill, shared_key
from engine.stats import ModelStats
from engine.tasks import Task

log = logging.getLogger("grus.engine")


class Busy(Exception):
    """The model would fit if one that is in use were gone."""


@dataclass(frozen=True)
class _Room:
    """What decides whether another model fits."""

    lanes: frozenset[tuple[str, int, bool, bool]]
    used: int  # bytes of sequences

    def better_than(self, before: _Room) -> bool:
        return self.lanes != before.lanes or self.used < before.used


class Residents:
    def __init__(self, load: Loader, shared: Shared, helper: Executor,
                 wake: Callable[[], None], start: Callable[[Task[None]], None]) -> None:  # fmt: skip
        self.lanes: dict[str, Lane] = {}
        self.pinned: set[str] = set()
        self.closing: set[str] = set()  # unloaded as soon as their requests have ended
        self._kept: dict[str, float | None] = {}  # seconds that a model stays unused, where not as the settings say
        self._load = load
        self._refused: dict[str, _Room] = {}  # models that wait for room, and what there was when they were refused
        self._sizes: dict[str, int] = {}  # ... and their bytes, which are estimated until they were loaded once
        self._shared = shared
        self._helper = helper
        self._wake = wake
        self._start = start  # a task
        self.limit = Limit(None)
        self.host_limit = memory_limit(shared.settings.host_memory_limit, psutil.virtual_memory().total)
        folder = shared.settings.spill_folder
        self.spill = Spill(Path(folder), memory_limit(shared.settings.spill_limit, 0)) if folder is not None else None

    def lane(self, name: str) -> Lane:
        """The model's lane, loaded now if it must be. Raises what loading raises, or Busy."""
        lane = self.lanes.get(name)
        if lane is not None:
            return lane
        if (refused := self._refused.get(name)) is not None and not self._room().better_than(refused):
            raise Busy
        try:
            self._make_place()
            self._make_room(name)
            lane = self._open(name)
            self.lanes[name] = lane
            self._fit(name)
        except Busy:
            self._refused[name] = self._room()
            raise
        except BaseException:
            self._forget_refusal(name)
            raise
        self._forget_refusal(name)
        return lane

    def _forget_refusal(self, name: str) -> None:
        self._refused.pop(name, None)
        self._sizes.pop(name, None)

    def _room(self) -> _Room:
        lanes = frozenset((n, id(lane), lane.busy, n in self.pinned) for n, lane in self.lanes.items())
        return _Room(lanes, sum(lane.memory.used for lane in self.lanes.values()))

    def _make_place(self) -> None:
        most = self._shared.settings.max_models
        while most and len(self.lanes) >= most:
            self._unload_oldest(None)

    def _make_room(self, name: str) -> None:
        """Unload others before the model is loaded, where its size is known. Nothing is unloaded for what does not fit."""
        limit = self.limit.nbytes
        if limit is None or not self.lanes:
            return
        if name not in self._sizes:
            self._sizes[name] = self._load.size(name) or 0
        size = self._sizes[name]
        if not size:
            return
        if size >= limit:
            raise self._never_fits(name, size)
        stay = {n: lane for n, lane in self.lanes.items() if lane.busy or n in self.pinned}
        least = sum(lane.weight_bytes + max(0, lane.memory.used - lane.prefixes.nbytes) for lane in stay.values())
        if least + size >= limit:
            self._refuse(stay, None)
        while self.weight_bytes + sum(lane.memory.used for lane in self.lanes.values()) + size >= limit:
            if not self._reclaim(name):
                self._unload_oldest(None)

    def _never_fits(self, name: str, size: int) -> OutOfMemory:
        assert self.limit.nbytes is not None
        return OutOfMemory(f"The model {name} takes {size >> 20} MiB; the memory limit is {self.limit.nbytes >> 20} MiB, "
                           "and its sequences need room too.")  # fmt: skip

    def _open(self, name: str) -> Lane:
        while True:
            try:
                log.info("loading %s", name)
                loaded = self._load(name)
                break
            except (MemoryError, OutOfMemory) as error:
                if not self.lanes:
                    raise OutOfMemory(str(error) or f"The model {name} does not fit into memory.") from error
                self._unload_oldest(error)
        try:
            return self._lane(loaded)
        except BaseException:
            loaded.close()
            self._load.unloaded(loaded)
            raise

    def _lane(self, loaded: Loaded) -> Lane:
        settings, shared = self._shared.settings, self._shared
        if self.limit.nbytes is None:
            self.limit.nbytes = memory_limit(settings.gpu_memory_limit, loaded.backend.memory().total)
        memory = Memory(loaded.kv)
        spill = self.spill if memory.movable else None

        def store(prefix: Prefix, hurry: bool) -> None:
            if spill is None:
                return
            key = shared_key(loaded.fingerprint, prefix.adapter)
            try:
                spill.store(
                    key,
                    prefix.key,
                    lambda: loaded.kv.export_snapshot(loaded.kv.snapshot(prefix.slot)),
                    self._helper,
                    hurry,
                )
            except (MemoryError, OutOfMemory) as error:  # memory is what is being made here
                log.info("a prefix of %s was not spilled: %r", loaded.name, error)

        prefixes = Prefixes(memory, store if spill is not None else None, shared.tally)
        find = None
        if spill is not None:
            find = spill.finder(loaded.fingerprint, whole_only=memory.recurrent)
        grammars = Grammars(loaded.tokenizer, loaded.vocab, sorted(loaded.eos_ids))
        joining = Joining(loaded, settings, grammars, self._helper, find, self._wake)
        speculation = self._speculation(loaded)
        loaded.runner.span = shared.trace.span
        with shared.trace.span("warm", model=loaded.name):
            loaded.runner.warm()
        return Lane(loaded, shared, memory, prefixes, joining, speculation, lambda: self._reclaim(loaded.name),
                    self.host_limit, self._start)  # fmt: skip

    def _speculation(self, loaded: Loaded) -> Speculation:
        """With the draft model, where there is one of this model's vocabulary."""
        settings = self._shared.settings
        if settings.draft_model in (None, loaded.name) or getattr(loaded, "tokenizer", None) is None:
            return Speculation()
        draft = self._load(str(settings.draft_model))
        if not same_vocabulary(draft, loaded):
            draft.close()
            log.warning("%s does not draft for %s: their vocabularies differ", draft.name, loaded.name)
            return Speculation()
        return DraftModel(draft, settings.max_draft, loaded.vocab)

    def _fit(self, name: str) -> None:
        """Unload others until the weights fit under the limit; none for a model that is too large all by itself."""
        lane, limit = self.lanes[name], self.limit.nbytes
        if limit is None:
            return
        try:
            while self.weight_bytes + sum(other.memory.used for other in self.lanes.values()) >= limit:
                alone = lane.weight_bytes + lane.memory.used >= limit
                if not alone and self._reclaim(name):
                    continue
                if alone or len(self.lanes) == 1:
                    raise self._never_fits(name, lane.weight_bytes)
                self._unload_oldest(None, spare=name)
        except BaseException as error:
            if isinstance(error, Busy):
                self._sizes[name] = lane.weight_bytes + lane.memory.used
            del self.lanes[name]
            lane.close()
            self._load.unloaded(lane.loaded)
            raise

    def _unload_oldest(self, cause: BaseException | None, spare: str | None = None) -> None:
        """Unload the least recently used model that may go. Raise Busy, or OutOfMemory when none ever may."""
        free = [n for n, lane in self.lanes.items() if n not in self.pinned and n != spare and not lane.busy]
        if free:
            self.unload(min(free, key=lambda n: self.lanes[n].last_used))
        else:
            self._refuse([n for n in self.lanes if n != spare], cause)

    def _refuse(self, stay: Iterable[str], cause: BaseException | None) -> NoReturn:
        """These are in the way."""
        if any(name not in self.pinned for name in stay):
            raise Busy
        raise OutOfMemory("There is no room for another model: all that are loaded are pinned.") from cause

    def unload(self, name: str) -> None:
        lane = self.lanes.pop(name)
        self.closing.discard(name)
        self.pinned.discard(name)
        self._kept.pop(name, None)
        log.info("unloading %s", name)
        try:
            lane.close()
        except Exception:  # a device that is broken may refuse even that; the others go on
            log.exception("%s could not be closed properly", name)
        self._load.unloaded(lane.loaded)

    def forget_prefixes(self, name: str | None) -> Future[int]:
        """Memory is given back now, files are deleted soon. The answer is how many prefixes there were in both."""
        lanes = list(self.lanes.values()) if name is None else [self.lanes[name]]
        idle = sum(lane.prefixes.forget() for lane in lanes)
        fingerprint = None if name is None else self.lanes[name].loaded.fingerprint
        spill = self.spill
        return self._helper.submit(lambda: idle + (spill.forget(fingerprint) if spill is not None else 0))

    @property
    def weight_bytes(self) -> int:
        return sum(lane.weight_bytes for lane in self.lanes.values())

    def share_memory(self, lane: Lane) -> None:
        others = [other.memory for other in self.lanes.values() if other is not lane]
        self.limit.share(lane.memory, self.weight_bytes, others)

    def _reclaim(self, asking: str) -> bool:
        """Drop one idle prefix of another model, for the sake of `asking`."""
        for name, lane in self.lanes.items():
            if name != asking and lane.prefixes.drop_oldest():
                if asking in self.lanes:
                    self.share_memory(self.lanes[asking])
                return True
        return False

    def keep(self, name: str, seconds: float | None) -> None:
        self._kept[name] = seconds
        if (lane := self.lanes.get(name)) is not None:
            lane.last_used = self._shared.clock()

    def _ends(self, name: str, lane: Lane) -> float | None:
        """When an idle model must go. None: when its room is needed."""
        seconds = self._kept.get(name, self._shared.settings.idle_ttl)
        return None if seconds is None or name in self.pinned else lane.last_used + seconds

    def tidy(self, now: float) -> bool:
        """Unload what was told to go and what nobody has used for long."""
        gone = [
            name for name, lane in self.lanes.items()
            if not lane.busy and (
                name in self.closing or ((end := self._ends(name, lane)) is not None and now >= end)
            )
        ]  # fmt: skip
        for name in gone:
            self.unload(name)
        return bool(gone)

    def next_deadline(self) -> float | None:
        """When the next idle model must go."""
        ends = [self._ends(name, lane) for name, lane in self.lanes.items() if not lane.busy]
        return min((end for end in ends if end is not None), default=None)

    def stats(self, now: float) -> list[ModelStats]:
        """Called on any thread."""
        return [self._stats_of(name, lane, now) for name, lane in list(self.lanes.items())]

    def _stats_of(self, name: str, lane: Lane, now: float) -> ModelStats:
        scheduler, end = lane.scheduler, self._ends(name, lane)
        left = None if end is None else max(0.0, end - (lane.last_used if lane.busy else now))
        return ModelStats(
            name=name,
            active=len(scheduler.running),
            waiting=len(scheduler.waiting),
            evicted=len(scheduler.evicted),
            pinned=name in self.pinned,
            in_use=lane.busy,
            weight_bytes=lane.weight_bytes,
            kv_bytes=lane.memory.used,
            kv_budget=lane.memory.kv.budget,
            idle_prefixes=len(lane.prefixes),
            max_active=scheduler.cap,
            expires_in=left,
        )

    def close(self) -> None:
        for name in list(self.lanes):
            self.unload(name)
