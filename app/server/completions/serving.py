"""Completions: prompts into requests, their events into choices. Prompt p's choice c has the index p * n + c."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from app.server.account import told_timings
from app.server.completions.protocol import CompletionRequest
from app.server.context import Server
from app.server.errors import bad_request
from app.server.many import Together
from app.server.openai_shapes import LEAST_LOGPROB, finish_reason, token_text, usage
from app.server.streaming import DONE, event
from engine.loading import LoadedModel
from engine.pipelines.prompt import infill, text_prompt
from engine.types import Done, Event, Finished, FinishReason, PromptScores, Request, Text, Timings, TokenLogprob, new_id

USUAL_LENGTH = 16


@dataclass
class Spoken:
    """One choice as far as it has come."""

    text: str = ""
    ids: list[int] = field(default_factory=list)
    scores: list[TokenLogprob] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    reason: FinishReason = "stop"
    said: int = 0  # scores that a stream has already sent

    @property
    def mean(self) -> float:
        return sum(score.logprob for score in self.scores) / max(len(self.scores), 1)


class Job:
    """One call: its requests, and everything that was heard of them."""

    def __init__(self, body: CompletionRequest, name: str, model: LoadedModel) -> None:
        self.body = body
        self.name = name
        self.model = model
        self.n = body.n or 1
        self.made = body.best_of or self.n
        self.silent = body.max_tokens == 0  # only the prompt's own scores are wanted
        self.prompts, stops = self._prompts()
        params = replace(
            body.params(USUAL_LENGTH if body.max_tokens is None else max(1, body.max_tokens)),
            n=self.made,
            logprobs=body.logprobs is not None or self.made > self.n,
            top_logprobs=body.logprobs or 0,
        )
        params = replace(params, stop_token_ids=(*params.stop_token_ids, *stops))
        scored = bool(body.echo) and body.logprobs is not None
        self.requests = [Request(name, ids, params, prompt_logprobs=scored) for ids in self.prompts]
        self.spoken = [[Spoken() for _ in range(self.made)] for _ in self.prompts]
        self._echoes: dict[int, str] = {}
        self.prompt_scores: list[list[TokenLogprob]] = [[] for _ in self.prompts]
        self.timings: list[Timings] = [Timings()] * len(self.prompts)
        self.head = {
            "id": new_id("cmpl"),
            "object": "text_completion",
            "created": int(time.time()),
            "model": name,
            "system_fingerprint": f"fp_{model.fingerprint[:12]}",
        }

    def _prompts(self) -> tuple[list[list[int]], tuple[int, ...]]:
        given = self.body.prompt
        texts = [given] if isinstance(given, str) else [p for p in given if isinstance(p, str)]
        if self.body.suffix is not None:
            if len(texts) != 1:
                raise bad_request("suffix needs one prompt, which is a text.", "suffix")
            filled = infill(self.model.tokenizer, texts[0], self.body.suffix)
            return [filled.ids], filled.stops
        if texts:
            return [text_prompt(self.model, text).ids for text in texts], ()
        rows = [p for p in given if isinstance(p, list)] or [[id for id in given if isinstance(id, int)]]
        check_ids(rows, self.model, "prompt")
        return rows, ()

    def hear(self, number: int, heard: Event) -> None:
        if isinstance(heard, Text):
            spoken = self.spoken[number][heard.index]
            spoken.offsets += [len(spoken.text)] * len(heard.logprobs)
            spoken.text += heard.text
            spoken.ids += heard.ids
            spoken.scores += heard.logprobs
        elif isinstance(heard, Finished):
            self.spoken[number][heard.index].reason = heard.reason
        elif isinstance(heard, PromptScores):
            self.prompt_scores[number] += heard.logprobs
        elif isinstance(heard, Done):
            self.timings[number] = heard.timings
            if self.made == 1:
                self.spoken[number][0].reason = heard.reason

    def result(self) -> dict[str, Any]:
        choices = []
        for number, spoken in enumerate(self.spoken):
            best = sorted(spoken, key=lambda one: -one.mean)[: self.n] if self.made > self.n else spoken
            choices += [self._choice(number, at, one) for at, one in enumerate(best)]
        return self.head | {"choices": choices, "usage": self.usage(), **told_timings()}

    def usage(self) -> dict[str, Any]:
        timings = self.timings
        whole = Timings(
            prompt_tokens=sum(t.prompt_tokens for t in timings),
            cached_tokens=sum(t.cached_tokens for t in timings),
            output_tokens=0 if self.silent else sum(t.output_tokens for t in timings),
            drafted=sum(t.drafted for t in timings),
            accepted=sum(t.accepted for t in timings),
        )
        return usage(whole)

    def _choice(self, number: int, at: int, spoken: Spoken) -> dict[str, Any]:
        before = self.echo(number)
        return {
            "index": number * self.n + at,
            "text": before + ("" if self.silent else spoken.text),
            "logprobs": self._whole_logprobs(number, before, spoken) if self.body.logprobs is not None else None,
            "finish_reason": "length" if self.silent else finish_reason(spoken.reason),
        }

    def echo(self, number: int) -> str:
        """Asked for with every token of a stream, and decoded once."""
        if not self.body.echo:
            return ""
        if number not in self._echoes:
            self._echoes[number] = self._prompt_text(number)
        return self._echoes[number]

    def _prompt_text(self, number: int) -> str:
        given = self.body.prompt
        text = given if isinstance(given, str) else given[number] if isinstance(given[number], str) else None
        return text if isinstance(text, str) else self.model.tokenizer.decode(self.prompts[number], skip_special=False)

    def _whole_logprobs(self, number: int, before: str, spoken: Spoken) -> dict[str, Any]:
        own = self.logprobs([] if self.silent else spoken.scores, spoken.offsets, len(before))
        if not self.body.echo:
            return own
        return {key: [*value, *own[key]] for key, value in self.prompt_logprobs(number).items()}

    def prompt_logprobs(self, number: int) -> dict[str, list[Any]]:
        """The first token follows nothing, so that nothing is known of it."""
        ids, scores = self.prompts[number], self.prompt_scores[number]
        words = [token_text(self.model.tokenizer, id) for id in ids]
        unknown = len(ids) - len(scores)
        offsets = list(accumulate(map(len, words), initial=0))[:-1]
        return {
            "tokens": words,
            "token_logprobs": [None] * unknown + [max(s.logprob, LEAST_LOGPROB) for s in scores],
            "top_logprobs": [None] * unknown + [self._top(score) for score in scores],
            "text_offset": offsets,
        }

    def logprobs(self, scores: Sequence[TokenLogprob], offsets: Sequence[int], start: int) -> dict[str, Any]:
        return {
            "tokens": [token_text(self.model.tokenizer, score.id) for score in scores],
            "token_logprobs": [max(score.logprob, LEAST_LOGPROB) for score in scores],
            "top_logprobs": [self._top(score) for score in scores],
            "text_offset": [start + offset for offset in offsets[: len(scores)]],
        }

    def _top(self, score: TokenLogprob) -> dict[str, float]:
        return {token_text(self.model.tokenizer, id): max(lp, LEAST_LOGPROB) for id, lp in score.top}


def check_ids(rows: Sequence[Sequence[int]], model: LoadedModel, param: str) -> None:
    for row in rows:
        if unknown := [id for id in row if not 0 <= id < model.vocab]:
            raise bad_request(f"There is no token {unknown[0]}; this model has tokens 0 to {model.vocab - 1}.", param)


async def job(body: CompletionRequest, server: Server) -> Job:
    if body.best_of is not None and body.best_of < (body.n or 1):
        raise bad_request("best_of must be at least n.", "best_of")
    if body.best_of is not None and body.best_of > (body.n or 1) and body.stream:
        raise bad_request("best_of cannot be streamed: the best is known at the end.", "best_of")
    if body.max_tokens == 0 and (not body.echo or body.stream):
        raise bad_request("max_tokens 0 makes sense only with echo, and whole.", "max_tokens")
    if body.stream_options is not None and not body.stream:
        raise bad_request("stream_options needs stream: true.", "stream_options")
    if body.suffix is not None and body.echo:
        raise bad_request("suffix and echo exclude each other.", "echo")
    given = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    server.check_prompt(sum(len(part) if isinstance(part, str | list) else 1 for part in given))
    name, model = await server.service.find(body.model)
    return Job(body, name, model)


async def chunks(made: Job, together: Together) -> AsyncIterator[bytes]:
    options = made.body.stream_options
    with_usage = bool(options and options.include_usage)
    tail: dict[str, Any] = {"usage": None} if with_usage else {}

    def chunk(index: int, text: str, logprobs: Any = None, reason: str | None = None) -> bytes:
        choice = {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}
        return event({**made.head, "choices": [choice], **tail})

    echoed: set[int] = set()
    scored = made.body.logprobs is not None
    async for number, heard in together.events():
        made.hear(number, heard)
        speaks = isinstance(heard, Text | Done)
        if made.body.echo and speaks and number not in echoed:
            echoed.add(number)
            for at in range(made.n):
                scores = made.prompt_logprobs(number) if scored else None
                yield chunk(number * made.n + at, made.echo(number), scores)
        if isinstance(heard, Text) and (heard.text or heard.logprobs):
            spoken = made.spoken[number][heard.index]
            new, spoken.said = spoken.said, len(spoken.scores)
            start = len(made.echo(number))
            scores = made.logprobs(heard.logprobs, spoken.offsets[new:], start) if scored else None
            yield chunk(number * made.n + heard.index, heard.text, scores)
        elif isinstance(heard, Done):
            for at, spoken in enumerate(made.spoken[number]):
                yield chunk(number * made.n + at, "", None, finish_reason(spoken.reason))
    if with_usage:
        yield event({**made.head, "choices": [], "usage": made.usage()})
    if timings := told_timings():
        yield event({**made.head, "choices": [], **timings, **tail})
    yield DONE
