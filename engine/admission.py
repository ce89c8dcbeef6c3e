"""Admission: from a request to sequences that can be scheduled.

Validates a request against the model and fills in defaults (`Admission`). Runs the model's encoder for pictures and
sound before the request joins (`MediaEncoder`). What takes long (compiling a grammar, reading an offloaded prefix) runs
on a helper thread, and the sequence joins when it is done.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, abc, deque
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from backends.kv_cache import drops_tokens
from engine.errors import BadRequest, ContextOverflow, ErrorText, GrusError
from engine.loaded import Loaded
from engine.ngram import DraftProposer, PredictedOutput
from engine.sequence import (
    EmbeddingPool,
    HostState,
    OutputProcessor,
    PreparedSequence,
    RequestState,
    Sampler,
    Sequence,
    check_tokens,
    embedding_keys,
    is_long,
    memory_variant,
)
from engine.tasks import Task, wrapped
from engine.types import Picture, Request, Settings, Sound

if TYPE_CHECKING:
    from engine.grammar import GrammarCompiler

FindStored = Callable[[list[int], str | None], HostState | None]


class Admission:
    """Validates the requests of one model and makes their sequences."""

    def __init__(self, loaded: Loaded, settings: Settings, grammars: GrammarCompiler, helper: Executor,
                 find_stored: FindStored | None, wake: Callable[[], None]) -> None:  # fmt: skip
        self._loaded = loaded
        self._settings = settings
        self._grammars = grammars
        self._helper = helper
        self._find_stored = find_stored
        self._wake = wake  # the engine's thread, when a helper has finished
        self._long_from = getattr(getattr(loaded, "model", None), "long_from", 0)
        self._mutual_pictures = getattr(getattr(loaded, "model", None), "mutual_pictures", False)
        longest = settings.max_seq_len
        self.context = min(loaded.context, longest) if longest else loaded.context

    def check(self, state: RequestState) -> None:
        """Fill in the model's sampling defaults, and raise BadRequest for what the model cannot do."""
        request = state.request
        if not self._loaded.vocab:
            raise BadRequest(ErrorText("The model {model} writes no text.", model=self._loaded.name), "model")
        state.params = params = request.sampling.over(self._loaded.defaults)
        params.check()
        check_tokens(params, self._loaded.vocab)
        prompt = list(request.prompt_ids)
        if request.pooling is not None and params.n != 1:
            raise BadRequest("A prompt has one embedding: n must be 1.", "n")
        self._check_prompt(prompt, request)
        if params.min_tokens > self.context - len(prompt):
            raise ContextOverflow(f"min_tokens {params.min_tokens} and a prompt of {len(prompt)} tokens do not fit into "
                                  f"the context of {self.context}.", "min_tokens", tokens=len(prompt) + params.min_tokens,
                                  limit=self.context)  # fmt: skip
        if request.adapter is not None and request.adapter not in getattr(self._loaded, "adapters", ()):
            raise BadRequest(f"The model {self._loaded.name} has no adapter {request.adapter!r}.", "adapter")
        if request.rope is not None and request.rope.shape != (3, len(prompt)):
            raise BadRequest(f"rope must have three positions for each of {len(prompt)} tokens.", "rope")
        if request.track is not None and (request.track.ndim != 2 or not len(request.track)):
            raise BadRequest("track must have one row of numbers or more.", "track")
        check_media(request)

    def sequences(self, state: RequestState) -> list[Sequence]:
        """The request's `n` sequences. Raises BadRequest for what the model cannot do."""
        self.check(state)
        request, params = state.request, state.params
        prompt = list(request.prompt_ids)
        key, embedded = embedding_keys(request, request.id)
        if any(not 0 <= position < len(prompt) for position in embedded):
            raise BadRequest("positions of embeddings lie outside the prompt.", "positions")
        if request.prediction and not 0 <= min(request.prediction) <= max(request.prediction) < self._loaded.vocab:
            raise BadRequest(f"The prediction holds tokens outside 0 to {self._loaded.vocab - 1}.", "prediction")
        prepared = self._prepare(state, key)
        return [self._create_sequence(state, index, prompt, key, embedded, prepared) for index in range(params.n)]

    def _check_prompt(self, prompt: list[int], request: Request) -> None:
        if not prompt:
            raise BadRequest("The prompt is empty.", "prompt")
        if request.pooling is not None and len(prompt) > self.context:
            raise ContextOverflow(ErrorText("The text has {tokens} tokens; the context holds {limit}. Shorten it.", tokens=len(prompt), limit=self.context),
                                  "prompt", tokens=len(prompt), limit=self.context)  # fmt: skip
        if request.pooling is None and len(prompt) >= self.context:
            raise ContextOverflow(ErrorText("The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten " "it.", tokens=len(prompt), limit=self.context), "prompt", tokens=len(prompt),
                                  limit=self.context)  # fmt: skip
        if request.embeds is None and (min(prompt) < 0 or max(prompt) >= self._loaded.vocab):
            raise BadRequest(f"The prompt holds tokens outside 0 to {self._loaded.vocab - 1}.", "prompt")

    def _create_sequence(self, state: RequestState, index: int, prompt: list[int], key: list[int], embedded: dict[int, int],
                prepared: Future[PreparedSequence] | None) -> Sequence:  # fmt: skip
        params, vocab = state.params, self._loaded.vocab
        silent = frozenset(() if params.ignore_eos else self._loaded.eos_ids)
        named = frozenset(params.stop_token_ids) - silent
        pooling = state.request.pooling
        limit = self.context - len(prompt) if pooling is None else 0
        framed = getattr(getattr(self._loaded, "model", None), "frame", None) is not None
        plain = not framed and state.request.sound is None
        drafts = plain and not drops_tokens(self._loaded.kv.specs)  # rejected tokens could have taken others' places
        output = OutputProcessor(
            self._loaded.text_stream(), params.stop, silent, named, min(params.max_tokens or limit, limit)
        )
        return Sequence(
            state,
            index,
            list(prompt),
            len(prompt),
            list(key),
            Sampler(params, state.seed, index, prompt, silent | named, vocab),
            output,
            embedded=embedded,
            frames=[] if framed else None,
            speculates=drafts and (self._speculates or bool(state.request.prediction)),
            proposer=self._proposer(state, len(prompt), limit) if drafts else None,
            prepared=prepared,
            pool=EmbeddingPool(pooling, len(prompt)) if pooling is not None else None,
            long_from=self._long_from,
            mutual_pictures=self._mutual_pictures,
            cacheable=plain and pooling is None,  # the prompt of an embedding is not continued later
        )

    @property
    def _speculates(self) -> bool:
        kind = self._settings.speculation
        return getattr(self._loaded, "draft_head", None) is not None if kind in ("auto", "mtp") else kind != "off"

    def _proposer(self, state: RequestState, prompt: int, limit: int) -> DraftProposer | None:
        repeats = self._settings.speculation == "ngram"
        prediction = PredictedOutput(state.request.prediction[:limit], prompt) if state.request.prediction else None
        return (
            DraftProposer(self._settings.max_draft, repeats, prediction) if repeats or prediction is not None else None
        )

    def _prepare(self, state: RequestState, key: list[int]) -> Future[PreparedSequence] | None:
        params, long = state.params, is_long(len(key), self._long_from)
        variant = memory_variant(state.request.adapter, long)
        constrained = params.grammar or params.reasoning or params.transcript
        if constrained is None and self._find_stored is None:
            return None

        def work() -> PreparedSequence:
            constraint = self._grammars.constraint_of(params)
            find = None if state.request.computes_all else self._find_stored
            return PreparedSequence(constraint, None if find is None else find(key, variant))

        future = self._helper.submit(work)
        future.add_done_callback(lambda _: self._wake())
        return future


Medium: TypeAlias = Picture | Sound

_BATCH = 8192  # patches (or thousands of samples) that are encoded in one batch
_CACHE_BYTES = 256 << 20  # of features


class FeatureCache:
    """Encoded features by content hash; evicts the least recently used."""

    def __init__(self, limit: int = _CACHE_BYTES) -> None:
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


class MediaEncoder:
    """Encodes pictures and sound of one model's requests in a task, so that running replies continue.

    Encodes what waits in one batch, up to a number of patches, and caches features by content. A request whose features are
    complete joins the scheduler.
    """

    def __init__(self, model: str, start: Callable[[Task[None]], None], join: Callable[[RequestState], None],
                 fail: Callable[[RequestState, GrusError], None]) -> None:  # fmt: skip
        self._model = model
        self._start = start
        self._join = join
        self._fail = fail
        self.features = FeatureCache()
        self._waiting: deque[RequestState] = deque()
        self._ready: dict[
            RequestState, dict[str, np.ndarray]
        ] = {}  # features of waiting requests, even if evicted from the cache
        self._task: Task[None] | None = None  # None while nothing waits

    @property
    def busy(self) -> bool:
        return self._task is not None or bool(self._waiting)

    @property
    def waiting(self) -> int:
        """The number of requests whose pictures or sound are not encoded yet."""
        return len(self._waiting)

    def add(self, state: RequestState) -> None:
        self._waiting.append(state)
        self._ready[state] = {}
        if self._task is None:
            self._task = Task(self._model, self._work, counted=False)
            self._start(self._task)

    def close(self, error: GrusError) -> None:
        """The model is being unloaded: end waiting requests, and a task that has not begun (it would reload the model)."""
        self._fail_all(error)
        if self._task is not None:
            self._task.fail(error)
            self._task = None

    def _fail_all(self, error: GrusError) -> None:
        while self._waiting:
            self._fail_one(self._waiting.popleft(), error)

    def _work(self, loaded: Any) -> Generator[None, None, None]:
        try:
            while self._waiting:
                self._admit_ready()
                batch = self._batch()
                if not batch:
                    continue
                encode = getattr(getattr(loaded, "model", None), "encode", None)
                if encode is None:
                    what = "images" if isinstance(batch[0], Picture) else "sound"
                    self._fail_all(BadRequest(f"The model {self._model} does not take {what}.", "messages"))
                    return
                yield from self._encode(encode, batch)
        except Exception as error:
            self._fail_all(wrapped(error))
            raise
        finally:
            self._task = None

    def _admit_ready(self) -> None:
        """Admit requests whose features are complete, and drop those that have ended."""
        for state in list(self._waiting):
            ready = self._ready[state]
            for medium in media(state.request):
                if medium.key not in ready and (found := self.features.get(medium.key)) is not None:
                    self.features.hits += 1
                    ready[medium.key] = found
            if state.over or all(medium.key in ready for medium in media(state.request)):
                self._waiting.remove(state)
                del self._ready[state]
                if not state.over:
                    self._admit(state, ready)

    def _admit(self, state: RequestState, ready: dict[str, np.ndarray]) -> None:
        try:
            state.request, state.sound = with_features(state.request, ready)
        except GrusError as error:
            self._fail(state, error)
        else:
            self._join(state)

    def _batch(self) -> list[Medium]:
        chosen: dict[str, Medium] = {}
        size = 0
        for state in self._waiting:
            for medium in media(state.request):
                if medium.key in chosen or medium.key in self._ready[state]:
                    continue
                size += extent(medium)
                if chosen and size > _BATCH:
                    return list(chosen.values())
                chosen[medium.key] = medium
        return list(chosen.values())

    def _encode(self, encode: Callable[[abc.Sequence[Medium]], Generator[None, None, list[np.ndarray]]],
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
                if not any(self._is_needed(medium) for medium in batch):
                    running.close()
                    return
        except Exception as error:
            if len(batch) > 1:  # isolate the faulty one
                for medium in batch:
                    yield from self._encode(encode, [medium])
                return
            failure = wrapped(error)
            for state in [state for state in self._waiting if self._needs(state, batch[0])]:
                self._waiting.remove(state)
                self._fail_one(state, failure)

    def _keep(self, batch: list[Medium], made: list[np.ndarray]) -> None:
        for medium, features in zip(batch, made, strict=True):
            self.features.put(medium.key, features)
            for state in self._waiting:
                if self._needs(state, medium):
                    self._ready[state][medium.key] = features

    def _is_needed(self, medium: Medium) -> bool:
        return any(self._needs(state, medium) for state in self._waiting)

    @staticmethod
    def _needs(state: RequestState, medium: Medium) -> bool:
        return not state.over and any(own.key == medium.key for own in media(state.request))

    def _fail_one(self, state: RequestState, error: GrusError) -> None:
        del self._ready[state]
        if not state.over:
            self._fail(state, error)


def media(request: Request) -> abc.Sequence[Medium]:
    return (request.sound,) if request.sound is not None else request.pictures


def extent(medium: Medium) -> int:
    return len(medium.patches) if isinstance(medium, Picture) else medium.samples.size // 1000


def check_media(request: Request) -> None:
    """Raise BadRequest where pictures, their positions and other inputs are inconsistent."""
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
    """The request with embeddings in place of pictures, or of a sound that has positions in the prompt; and the features of a
    sound that has none, for cross attention."""
    if request.sound is not None and request.positions is None:
        return request, features[request.sound.key]
    if request.sound is not None:
        made, count = features[request.sound.key], len(request.positions)
        if len(made) > count and request.adds_sound:
            return dataclasses.replace(request, embeds=made[:count], track=made[count:], sound=None), None
        if len(made) != count:
            raise BadRequest(f"The sound gave {len(made)} features for {len(request.positions)} places.", "positions")
        return dataclasses.replace(request, embeds=made, sound=None), None
    rows = [features[picture.key] for picture in request.pictures]
    for picture, made in zip(request.pictures, rows):
        if len(made) != picture.tokens:
            raise BadRequest(f"A picture gave {len(made)} features for {picture.tokens} places.", "pictures")
    return dataclasses.replace(request, embeds=np.concatenate(rows), pictures=()), None
