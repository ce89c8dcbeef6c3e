"""Pictures and sounds of requests become features before their requests join.

One model's encoder runs as a task: it takes what waits together, up to a number of patches, works in pieces so that
running replies go on, and remembers results by their content. A request whose features are all there joins the lane.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.errors import BadRequest, GrusError
from engine.sequence import Job
from engine.tasks import Task, wrapped
from engine.types import Picture, Request, Sound

Medium: TypeAlias = Picture | Sound

_BATCH = 8192  # patches (or thousandths of samples) that are encoded together
_KEPT = 256 << 20  # bytes of features that are remembered


class Features:
    """What was encoded lately, by content; the least recently used goes first."""

    def __init__(self, limit: int = _KEPT) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()
        self._nbytes = 0
        self.hits = 0

    def get(self, key: str) -> np.ndarray | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: str, features: np.ndarray) -> None:
        if key in self._kept:
            return
        self._kept[key] = features
        self._nbytes += features.nbytes
        while self._nbytes > self._limit and len(self._kept) > 1:
            self._nbytes -= self._kept.popitem(last=False)[1].nbytes


class Encoding:
    """One model's encoder at work."""

    def __init__(self, model: str, start: Callable[[Task[None]], None], join: Callable[[Job], None],
                 fail: Callable[[Job, GrusError], None]) -> None:  # fmt: skip
        self._model = model
        self._start = start
        self._join = join
        self._fail = fail
        self.features = Features()
        self._waiting: deque[Job] = deque()
        self._ready: dict[Job, dict[str, np.ndarray]] = {}  # what a waiting job has, whatever is forgotten meanwhile
        self._task: Task[None] | None = None  # while there is work

    @property
    def busy(self) -> bool:
        return self._task is not None or bool(self._waiting)

    @property
    def waiting(self) -> int:
        """Requests whose pictures or sound are not encoded yet."""
        return len(self._waiting)

    def add(self, job: Job) -> None:
        self._waiting.append(job)
        self._ready[job] = {}
        if self._task is None:
            self._task = Task(self._model, self._work, counted=False)
            self._start(self._task)

    def close(self, error: GrusError) -> None:
        """The model is going: end what waits, and work that has not begun (which would load the model again)."""
        self._give_all_up(error)
        if self._task is not None:
            self._task.fail(error)
            self._task = None

    def _give_all_up(self, error: GrusError) -> None:
        while self._waiting:
            self._give_up(self._waiting.popleft(), error)

    def _work(self, loaded: Any) -> Generator[None, None, None]:
        try:
            while self._waiting:
                self._let_go()
                batch = self._batch()
                if not batch:
                    continue
                encode = getattr(getattr(loaded, "model", None), "encode", None)
                if encode is None:
                    what = "images" if isinstance(batch[0], Picture) else "sound"
                    self._give_all_up(BadRequest(f"The model {self._model} does not take {what}.", "messages"))
                    return
                yield from self._encode(encode, batch)
        except Exception as error:
            self._give_all_up(wrapped(error))
            raise
        finally:
            self._task = None

    def _let_go(self) -> None:
        """Jobs that have all they need join; those that nobody waits for are dropped."""
        for job in list(self._waiting):
            ready = self._ready[job]
            for medium in media(job.request):
                if medium.key not in ready and (found := self.features.get(medium.key)) is not None:
                    self.features.hits += 1
                    ready[medium.key] = found
            if job.over or all(medium.key in ready for medium in media(job.request)):
                self._waiting.remove(job)
                del self._ready[job]
                if not job.over:
                    self._admit(job, ready)

    def _admit(self, job: Job, ready: dict[str, np.ndarray]) -> None:
        try:
            job.request, job.sound = with_features(job.request, ready)
        except GrusError as error:
            self._fail(job, error)
        else:
            self._join(job)

    def _batch(self) -> list[Medium]:
        chosen: dict[str, Medium] = {}
        size = 0
        for job in self._waiting:
            for medium in media(job.request):
                if medium.key in chosen or medium.key in self._ready[job]:
                    continue
                size += extent(medium)
                if chosen and size > _BATCH:
                    return list(chosen.values())
                chosen[medium.key] = medium
        return list(chosen.values())

    def _encode(self, encode: Callable[[Sequence[Medium]], Generator[None, None, list[np.ndarray]]],
                batch: list[Medium]) -> Generator[None, None, None]:  # fmt: skip
        try:
            running = encode(batch)
            while True:
                try:
                    next(running)
                except StopIteration as end:
                    self._keep(batch, end.value)
                    return
                yield
                if not any(self._wanted(medium) for medium in batch):
                    running.close()
                    return
        except Exception as error:
            if len(batch) > 1:  # find out whose fault it was
                for medium in batch:
                    yield from self._encode(encode, [medium])
                return
            failure = wrapped(error)
            for job in [job for job in self._waiting if self._needs(job, batch[0])]:
                self._waiting.remove(job)
                self._give_up(job, failure)

    def _keep(self, batch: list[Medium], made: list[np.ndarray]) -> None:
        for medium, features in zip(batch, made, strict=True):
            self.features.put(medium.key, features)
            for job in self._waiting:
                if self._needs(job, medium):
                    self._ready[job][medium.key] = features

    def _wanted(self, medium: Medium) -> bool:
        return any(self._needs(job, medium) for job in self._waiting)

    @staticmethod
    def _needs(job: Job, medium: Medium) -> bool:
        return not job.over and any(own.key == medium.key for own in media(job.request))

    def _give_up(self, job: Job, error: GrusError) -> None:
        del self._ready[job]
        if not job.over:
            self._fail(job, error)


def media(request: Request) -> Sequence[Medium]:
    return (request.sound,) if request.sound is not None else request.pictures


def extent(medium: Medium) -> int:
    return len(medium.patches) if isinstance(medium, Picture) else medium.samples.size // 1000


def check_media(request: Request) -> None:
    """Raise BadRequest where pictures, their places and other inputs contradict each other."""
    if request.pictures and request.sound is not None:
        raise BadRequest("A request has pictures or a sound, not both.", "sound")
    if not request.pictures:
        return
    if request.embeds is not None:
        raise BadRequest("A request has pictures or embeddings, not both.", "embeds")
    tokens = sum(picture.tokens for picture in request.pictures)
    places = 0 if request.positions is None else len(request.positions)
    if places != tokens:
        raise BadRequest(f"The pictures take {tokens} places in the prompt, which has {places} for them.", "positions")


def with_features(request: Request, features: dict[str, np.ndarray]) -> tuple[Request, np.ndarray | None]:
    """The request as the scheduler takes it, and what its sequences attend to beside themselves."""
    if request.sound is not None:
        return request, features[request.sound.key]
    rows = [features[picture.key] for picture in request.pictures]
    for picture, made in zip(request.pictures, rows):
        if len(made) != picture.tokens:
            raise BadRequest(f"A picture gave {len(made)} features for {picture.tokens} places.", "pictures")
    return dataclasses.replace(request, embeds=np.concatenate(rows), pictures=()), None
