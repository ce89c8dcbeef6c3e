"""From a request to choices that can be scheduled: defaults filled in, every wish checked against the model.

Runs on the engine thread, but what takes long (compiling a grammar, reading a prefix from disk) goes to a helper thread,
and the choice joins when that is done.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

from engine.encoding import check_media
from engine.errors import BadRequest, ContextOverflow
from engine.grammar import Grammars
from engine.guesses import Guesser, Prediction
from engine.loaded import Loaded
from engine.output import Output
from engine.pooling import Pool
from engine.sampling import Chooser, check_tokens
from engine.sequence import Choice, Job, Kept, Prepared, embedding_keys
from engine.settings import Settings
from engine.types import Request

FindStored = Callable[[list[int], str | None], Kept | None]


class Joining:
    """Makes one model's choices."""

    def __init__(self, loaded: Loaded, settings: Settings, grammars: Grammars, helper: Executor,
                 find_stored: FindStored | None, wake: Callable[[], None]) -> None:  # fmt: skip
        self._loaded = loaded
        self._settings = settings
        self._grammars = grammars
        self._helper = helper
        self._find_stored = find_stored
        self._wake = wake  # the engine thread, when something is ready
        longest = settings.max_seq_len
        self.context = min(loaded.context, longest) if longest else loaded.context

    def check(self, job: Job) -> None:
        """Raise BadRequest where the model cannot do what is asked, as far as that can be told before anything runs."""
        request = job.request
        if not self._loaded.vocab:
            raise BadRequest(f"The model {self._loaded.name} writes no text.", "model")
        job.params = params = request.sampling.over(self._loaded.defaults)
        params.check()
        check_tokens(params, self._loaded.vocab)
        prompt = list(request.prompt_ids)
        if request.pooling is not None and params.n != 1:
            raise BadRequest("A prompt has one embedding: n must be 1.", "n")
        self._check_prompt(prompt, request)
        if params.min_tokens > self.context - len(prompt):
            raise ContextOverflow(f"min_tokens {params.min_tokens} and a prompt of {len(prompt)} tokens do not fit into "
                                  f"the context of {self.context}.", "min_tokens")  # fmt: skip
        if request.adapter is not None and request.adapter not in getattr(self._loaded, "adapters", ()):
            raise BadRequest(f"The model {self._loaded.name} has no adapter {request.adapter!r}.", "adapter")
        if request.rope is not None and request.rope.shape != (3, len(prompt)):
            raise BadRequest(f"rope must have three positions for each of {len(prompt)} tokens.", "rope")
        if request.track is not None and (request.track.ndim != 2 or not len(request.track)):
            raise BadRequest("track must have one row of numbers or more.", "track")
        check_media(request)

    def choices(self, job: Job) -> list[Choice]:
        """Raise BadRequest where the model cannot do what is asked."""
        self.check(job)
        request, params = job.request, job.params
        prompt = list(request.prompt_ids)
        key, embedded = embedding_keys(request, request.id)
        if any(not 0 <= position < len(prompt) for position in embedded):
            raise BadRequest("positions of embeddings lie outside the prompt.", "positions")
        if request.prediction and not 0 <= min(request.prediction) <= max(request.prediction) < self._loaded.vocab:
            raise BadRequest(f"The prediction holds tokens outside 0 to {self._loaded.vocab - 1}.", "prediction")
        ready = self._prepare(job, key)
        return [self._choice(job, index, prompt, key, embedded, ready) for index in range(params.n)]

    def _check_prompt(self, prompt: list[int], request: Request) -> None:
        if not prompt:
            raise BadRequest("The prompt is empty.", "prompt")
        if request.pooling is not None and len(prompt) > self.context:
            raise ContextOverflow(f"The text has {len(prompt)} tokens; the context holds {self.context}. Shorten it.",
                                  "prompt")  # fmt: skip
        if request.pooling is None and len(prompt) >= self.context:
            raise ContextOverflow(f"The prompt has {len(prompt)} tokens; the context holds {self.context}, "
                                  "and a reply needs room too. Shorten it.", "prompt")  # fmt: skip
        if request.embeds is None and (min(prompt) < 0 or max(prompt) >= self._loaded.vocab):
            raise BadRequest(f"The prompt holds tokens outside 0 to {self._loaded.vocab - 1}.", "prompt")

    def _choice(self, job: Job, index: int, prompt: list[int], key: list[int], embedded: dict[int, int],
                ready: Future[Prepared] | None) -> Choice:  # fmt: skip
        params, vocab = job.params, self._loaded.vocab
        silent = frozenset(() if params.ignore_eos else self._loaded.eos_ids)
        named = frozenset(params.stop_token_ids) - silent
        pooling = job.request.pooling
        limit = self.context - len(prompt) if pooling is None else 0
        framed = getattr(getattr(self._loaded, "model", None), "frame", None) is not None
        plain = not framed and job.request.sound is None
        output = Output(self._loaded.text_stream(), params.stop, silent, named, min(params.max_tokens or limit, limit))
        return Choice(
            job,
            index,
            list(prompt),
            len(prompt),
            list(key),
            Chooser(params, job.seed, index, prompt, silent | named, vocab),
            output,
            embedded=embedded,
            frames=[] if framed else None,
            speculates=plain and (self._settings.speculation != "off" or bool(job.request.prediction)),
            guesser=self._guesser(job, len(prompt), limit) if plain else None,
            ready=ready,
            pool=Pool(pooling, len(prompt)) if pooling is not None else None,
            sound=plain and pooling is None,  # a text that was embedded once is no conversation's beginning
        )

    def _guesser(self, job: Job, prompt: int, limit: int) -> Guesser | None:
        repeats = self._settings.speculation == "ngram"
        prediction = Prediction(job.request.prediction[:limit], prompt) if job.request.prediction else None
        return Guesser(self._settings.max_draft, repeats, prediction) if repeats or prediction is not None else None

    def _prepare(self, job: Job, key: list[int]) -> Future[Prepared] | None:
        params, adapter = job.params, job.request.adapter
        if params.grammar is None and self._find_stored is None:
            return None

        def work() -> Prepared:
            grammar = params.grammar
            constraint = None if grammar is None else self._grammars.constraint(grammar, params.grammar_after)
            find = None if job.request.computes_all else self._find_stored
            return Prepared(constraint, None if find is None else find(key, adapter))

        future = self._helper.submit(work)
        future.add_done_callback(lambda _: self._wake())
        return future
