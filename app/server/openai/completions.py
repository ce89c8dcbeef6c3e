"""`POST /v1/completions`: continues one or several prompts without a chat template. Prompt p's choice c has the index p * n + c."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.server.body import Hint, JsonRoute
from app.server.context import Here, answer
from app.server.errors import bad_request
from app.server.generation import GeneratedChoice, Generation, TokenIds, check_ids, split_prompts, whole_text
from app.server.openai.chat import ChatStreamOptions, CompletionUsage, check_stream_options
from app.server.openai.shapes import LEAST_LOGPROB, fingerprint, finish_reason, token_text, usage
from app.server.openapi import errors, streams
from app.server.requests import DONE, RequestGroup, event, joined, requested_timings
from app.server.sampling import SamplingFields
from engine.loading import LoadedModel
from engine.pipelines.prompt import infill_prompt, text_prompt
from engine.types import Done, Text, Timings, TokenLogprob, new_id
from engine.types import Request as EngineRequest

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


_DEFAULT_MAX_TOKENS = 16


class CompletionRequest(SamplingFields):
    model: str | None = None
    prompt: (
        str
        | TokenIds
        | Annotated[list[str], Field(min_length=1, max_length=128)]
        | Annotated[list[TokenIds], Field(min_length=1, max_length=128)]
    )
    suffix: str | None = None
    max_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None  # None: 16, OpenAI's default
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    best_of: Annotated[int, Field(ge=1, le=16)] | None = None
    stream: bool | None = None
    stream_options: ChatStreamOptions | None = None
    no_stop_trim: bool | None = None
    skip_special_tokens: bool | None = None
    user: Hint[str] = None


class CompletionLogprobs(BaseModel):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None
    text_offset: list[int]


class CompletionChoice(BaseModel):
    index: int
    text: str
    logprobs: CompletionLogprobs | None
    finish_reason: Literal["stop", "length"]
    matched_stop: str | int | None = None


class Completion(BaseModel):
    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    system_fingerprint: str | None = None
    timings: dict[str, float] | None = None


@router.post("/v1/completions", response_model=Completion, responses=streams() | errors(400, 404, 429))
async def completions(body: CompletionRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text or of tokens, or of several at once."""
    _check(body)
    size = sum(len(prompt) for prompts in split_prompts(body.prompt) for prompt in prompts) + len(body.suffix or "")
    server.check_prompt(size)
    name, model = await server.service.find(body.model)
    call = await server.beside(size, request, _CompletionCall, body, name, model)
    batch = RequestGroup.begin(server.requests, call.requests)
    if body.stream:
        return await server.stream(batch, call.chunks(batch))
    await batch.whole(request.receive, lambda number, event: call.generations[number].add(event))
    return answer(call.result())


def _check(body: CompletionRequest) -> None:
    n = body.n or 1
    if body.best_of is not None and body.best_of < n:
        raise bad_request("best_of must be at least n.", "best_of")
    if body.best_of is not None and body.best_of > n and body.stream:
        raise bad_request("best_of cannot be streamed: the best is known at the end.", "best_of")
    if body.max_tokens == 0 and (not body.echo or body.stream):
        raise bad_request("max_tokens 0 makes sense only with echo, and whole.", "max_tokens")
    check_stream_options(body.stream_options, body.stream)
    if body.suffix is not None and body.echo:
        raise bad_request("suffix and echo exclude each other.", "echo")


class _CompletionCall:
    """One call: its engine requests, and the reply that is made of their events."""

    def __init__(self, body: CompletionRequest, name: str, model: LoadedModel) -> None:
        self.body = body
        self.model = model
        self.n = body.n or 1
        self.best_of = body.best_of or self.n
        self.no_output = body.max_tokens == 0  # the prompt and its scores alone
        self.prompts, stops = self._prompts()
        params = body.params(
            _DEFAULT_MAX_TOKENS if body.max_tokens is None else max(1, body.max_tokens),
            logprobs=body.logprobs is not None or self.best_of > self.n,
            top_logprobs=body.logprobs or 0,
            grammar=body.reported_grammar(),
        )
        params = replace(params, n=self.best_of, stop_token_ids=(*params.stop_token_ids, *stops))
        scored = bool(body.echo) and body.logprobs is not None
        self.requests = [EngineRequest(name, ids, params, prompt_logprobs=scored) for ids in self.prompts]
        self.generations = [Generation(self.best_of) for _ in self.prompts]
        self._echoes: dict[int, str] = {}
        self.head = {
            "id": new_id("cmpl"),
            "object": "text_completion",
            "created": int(time.time()),
            "model": name,
            "system_fingerprint": fingerprint(model),
        }

    def _prompts(self) -> tuple[list[list[int]], tuple[int, ...]]:
        """The prompts' tokens, and tokens that end the reply."""
        texts, ids = split_prompts(self.body.prompt)
        if self.body.suffix is not None:
            if len(texts) != 1:
                raise bad_request("suffix needs one prompt, which is a text.", "suffix")
            filled = infill_prompt(self.model, texts[0], self.body.suffix)
            return [filled.ids], filled.stops
        check_ids(ids, self.model, "prompt")
        return ids or [text_prompt(self.model, text).ids for text in texts], ()

    # -- the reply, whole

    def result(self) -> dict[str, Any]:
        choices = []
        for number, generation in enumerate(self.generations):
            best = generation.choices
            if self.best_of > self.n:
                best = sorted(best, key=lambda choice: -choice.mean_logprob)[: self.n]
            choices += [self._choice(number, at, choice) for at, choice in enumerate(best)]
        return self.head | {"choices": choices, "usage": self._usage(), **requested_timings()}

    def _choice(self, number: int, at: int, choice: GeneratedChoice) -> dict[str, Any]:
        echo = self._echo(number)
        return {
            "index": number * self.n + at,
            "text": echo + ("" if self.no_output else self._text(choice)),
            "logprobs": self._whole_logprobs(number, echo, choice) if self.body.logprobs is not None else None,
            "finish_reason": "length" if self.no_output else finish_reason(choice.reason or "stop"),
            "matched_stop": None if self.no_output else choice.stop,
        }

    def _text(self, choice: GeneratedChoice) -> str:
        return whole_text(choice, self.model, self.body.skip_special_tokens is not False, not self.body.no_stop_trim)

    def _usage(self) -> dict[str, Any]:
        timings = reduce(joined, (generation.timings for generation in self.generations))
        return usage(replace(timings, output_tokens=0) if self.no_output else timings)

    def _echo(self, number: int) -> str:
        """The prompt's text, decoded once a call."""
        if not self.body.echo:
            return ""
        if number not in self._echoes:
            texts, _ = split_prompts(self.body.prompt)
            decode = self.model.tokenizer.decode
            self._echoes[number] = texts[number] if texts else decode(self.prompts[number], skip_special=False)
        return self._echoes[number]

    def _whole_logprobs(self, number: int, echo: str, choice: GeneratedChoice) -> dict[str, Any]:
        own = self._logprobs([] if self.no_output else choice.scores, choice.offsets, len(echo))
        if not self.body.echo:
            return own
        return {key: [*value, *own[key]] for key, value in self._prompt_logprobs(number).items()}

    def _prompt_logprobs(self, number: int) -> dict[str, list[Any]]:
        """Null for the first token, which has nothing before it."""
        ids, scores = self.prompts[number], self.generations[number].prompt_scores
        words = [token_text(self.model.tokenizer, id) for id in ids]
        unknown = [None] * (len(ids) - len(scores))
        known = self._logprobs(scores, (), 0)
        return {
            "tokens": words,
            "token_logprobs": unknown + known["token_logprobs"],
            "top_logprobs": unknown + known["top_logprobs"],
            "text_offset": list(accumulate(map(len, words), initial=0))[:-1],
        }

    def _logprobs(self, scores: Sequence[TokenLogprob], offsets: Sequence[int], start: int) -> dict[str, Any]:
        tokenizer = self.model.tokenizer
        return {
            "tokens": [token_text(tokenizer, score.id) for score in scores],
            "token_logprobs": [max(score.logprob, LEAST_LOGPROB) for score in scores],
            "top_logprobs": [
                {token_text(tokenizer, id): max(logprob, LEAST_LOGPROB) for id, logprob in score.top}
                for score in scores
            ],
            "text_offset": [start + offset for offset in offsets[: len(scores)]],
        }

    # -- the reply, streamed

    async def chunks(self, batch: RequestGroup) -> AsyncIterator[bytes]:
        options = self.body.stream_options
        with_usage = bool(options and options.include_usage)
        continuous = bool(options and options.continuous_usage_stats)
        scored = self.body.logprobs is not None
        echoed: set[int] = set()
        sent: dict[tuple[int, int], int] = defaultdict(int)  # characters of each choice

        def chunk(
            number: int, at: int, text: str, logprobs: Any = None, reason: str | None = None, **more: Any
        ) -> bytes:
            choice = {"index": number * self.n + at, "text": text, "logprobs": logprobs, "finish_reason": reason}
            return event({**self.head, "choices": [choice | more], **tail()})

        def tail() -> dict[str, Any]:
            if continuous:
                prompt = sum(map(len, self.prompts))
                written = sum(len(choice.ids) for generation in self.generations for choice in generation.choices)
                return {"usage": usage(Timings(prompt_tokens=prompt, output_tokens=written))}
            return {"usage": None} if with_usage else {}

        async for number, got in batch.events():
            generation = self.generations[number]
            generation.add(got)
            if self.body.echo and isinstance(got, Text | Done) and number not in echoed:
                echoed.add(number)
                for at in range(self.n):
                    scores = self._prompt_logprobs(number) if scored else None
                    yield chunk(number, at, self._echo(number), scores)
            if isinstance(got, Text):
                text = self._text(generation.choices[got.index])[sent[number, got.index] :]
                sent[number, got.index] += len(text)
                if not text and not got.logprobs:
                    continue
                offsets = generation.choices[got.index].offsets[-len(got.logprobs) :]
                scores = self._logprobs(got.logprobs, offsets, len(self._echo(number))) if scored else None
                yield chunk(number, got.index, text, scores)
            elif isinstance(got, Done):
                for at, choice in enumerate(generation.choices):
                    rest = self._text(choice)[sent[number, at] :]
                    yield chunk(
                        number, at, rest, None, finish_reason(choice.reason or "stop"), matched_stop=choice.stop
                    )
        if with_usage:
            yield event({**self.head, "choices": [], "usage": self._usage()})
        if timings := requested_timings():
            yield event({**self.head, "choices": [], **timings, **tail()})
        yield DONE
