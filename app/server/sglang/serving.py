"""`/generate`: prompts into requests, events into SGLang's objects. In a stream each object repeats the text so far."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request as HttpRequest

from app.server.account import told_timings
from app.server.calls import json_grammar
from app.server.completions.serving import check_ids
from app.server.context import Server
from app.server.errors import ApiError, bad_request
from app.server.images import ImagePart
from app.server.many import Together
from app.server.openai_shapes import LEAST_LOGPROB, token_text
from app.server.sampling import repetition_window, stop_list
from app.server.sglang.protocol import GenerateParams, GenerateRequest
from app.server.streaming import DONE, event
from app.server.strict import parse
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, placed, text_prompt
from engine.types import (
    Done,
    Event,
    Finished,
    FinishReason,
    Grammar,
    Picture,
    PromptScores,
    SamplingParams,
    Started,
    Text,
    TokenLogprob,
    new_id,
)


@dataclass
class Output:
    """One choice of one prompt."""

    rid: str
    text: str = ""
    ids: list[int] = field(default_factory=list)
    scores: list[TokenLogprob] = field(default_factory=list)
    reason: FinishReason | None = None
    matched: str | int | None = None


class Generation:
    """One call of `/generate`."""

    def __init__(
        self, body: GenerateRequest, name: str, model: LoadedModel, pictures: Sequence[Sequence[Picture]]
    ) -> None:
        """`pictures` of each prompt."""
        self.body = body
        self.model = model
        given, self.batch = sources(body)
        prompts = self._prompts(given, pictures)
        params = self._per_prompt(body.sampling_params or GenerateParams(), len(prompts), "sampling_params")
        rids = self._per_prompt(body.rid, len(prompts), "rid") if body.rid is not None else None
        # SGLang's own default is -1: the output alone
        self.start = -1 if body.logprob_start_len is None else body.logprob_start_len
        self.requests = [
            prompt.request(
                name,
                sampling(one, bool(body.return_logprob), body.top_logprobs_num or 0),
                id=rids[at] if rids else new_id("gen"),
                prompt_logprobs=bool(body.return_logprob) and self.start >= 0,
            )
            for at, (prompt, one) in enumerate(zip(prompts, params))
        ]
        if len({request.id for request in self.requests}) < len(self.requests):
            raise bad_request("Each prompt needs a rid of its own.", "rid")
        self.outputs = [[Output(request.id) for _ in range(request.sampling.n)] for request in self.requests]
        self.several = self.batch or self.requests[0].sampling.n > 1
        self.prompt_scores: list[list[TokenLogprob]] = [[] for _ in prompts]
        self.cached = [0] * len(prompts)
        self.began = time.monotonic()

    def _prompts(self, given: Sequence[Any], pictures: Sequence[Sequence[Picture]]) -> list[Prompt]:
        if self.body.text is not None:
            return [text_prompt(self.model, text, own) for text, own in zip(given, pictures)]
        check_ids(given, self.model, "input_ids")
        return [placed(self.model, "", ids, own) for ids, own in zip(given, pictures)]

    def _per_prompt(self, given: Any, count: int, name: str) -> list[Any]:
        if not isinstance(given, list):
            if name == "rid" and count > 1:
                return [f"{given}_{at}" for at in range(count)]
            return [given] * count
        if len(given) != count:
            raise bad_request(f"{name} has {len(given)} entries for {count} prompts.", name)
        return given

    def hear(self, number: int, heard: Event) -> list[Output]:
        """The outputs that changed."""
        outputs = self.outputs[number]
        if isinstance(heard, Started):
            self.cached[number] = heard.cached_tokens
        elif isinstance(heard, PromptScores):
            self.prompt_scores[number] += heard.logprobs
        elif isinstance(heard, Text):
            output = outputs[heard.index]
            output.text += heard.text
            output.ids += heard.ids
            output.scores += heard.logprobs
            return [output] if heard.ids else []
        elif isinstance(heard, Finished):
            outputs[heard.index].reason, outputs[heard.index].matched = heard.reason, heard.stop
        elif isinstance(heard, Done):
            for output in outputs:
                if output.reason is None:
                    output.reason, output.matched = heard.reason, heard.stop
            return outputs
        return []

    def result(self) -> Any:
        whole = [self.shown(n, output) for n, outputs in enumerate(self.outputs) for output in outputs]
        return whole if self.several else whole[0]

    def shown(self, number: int, output: Output) -> dict[str, Any]:
        request = self.requests[number]
        meta: dict[str, Any] = {
            "id": output.rid,
            "finish_reason": self._reason(output),
            "prompt_tokens": len(request.prompt_ids),
            "completion_tokens": len(output.ids),
            "cached_tokens": self.cached[number],
        }
        if output.reason is not None:
            meta["e2e_latency"] = round(time.monotonic() - self.began, 6)
            meta |= told_timings()
        if self.body.return_logprob:
            first = self._score(TokenLogprob(request.prompt_ids[0], 0.0))
            known = [self._score(score) for score in self.prompt_scores[number]]
            every = [[None, *first[1:]], *known] if self.start >= 0 else []
            meta["input_token_logprobs"] = every[self.start :] if self.start >= 0 else []
            meta["output_token_logprobs"] = [self._score(score) for score in output.scores]
            if self.body.top_logprobs_num:
                meta["output_top_logprobs"] = [
                    [self._score(TokenLogprob(id, lp)) for id, lp in score.top] for score in output.scores
                ]
        return {"text": output.text, "output_ids": output.ids, "meta_info": meta}

    def _score(self, score: TokenLogprob) -> list[Any]:
        text = token_text(self.model.tokenizer, score.id) if self.body.return_text_in_logprobs else None
        return [max(score.logprob, LEAST_LOGPROB), score.id, text]

    def _reason(self, output: Output) -> dict[str, Any] | None:
        if output.reason is None:
            return None
        if output.reason == "length":
            return {"type": "length", "length": len(output.ids)}
        if output.reason == "cancelled":
            return {"type": "abort"}
        return {"type": "stop", "matched": output.matched}


def sampling(given: GenerateParams, scored: bool, top: int) -> SamplingParams:
    seed = given.seed if given.seed is not None else given.sampling_seed
    for key in given.logit_bias or {}:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise bad_request(f"logit_bias: {key[:40]!r} is not a token id.", "sampling_params.logit_bias")
    return SamplingParams(
        max_tokens=given.max_new_tokens,
        min_tokens=given.min_new_tokens,
        temperature=given.temperature,
        top_p=given.top_p,
        top_k=None if given.top_k is None else max(given.top_k, 0),
        min_p=given.min_p,
        repetition_penalty=given.repetition_penalty,
        repetition_window=repetition_window(
            given.repeat_last_n, given.repetition_penalty, "sampling_params.repeat_last_n"
        ),
        presence_penalty=given.presence_penalty,
        frequency_penalty=given.frequency_penalty,
        logit_bias={int(k): v for k, v in (given.logit_bias or {}).items()},
        stop=stop_list(given.stop),
        stop_token_ids=tuple(given.stop_token_ids or ()),
        ignore_eos=given.ignore_eos,
        seed=None if seed is None else seed & ((1 << 63) - 1),
        n=given.n,
        logprobs=scored,
        top_logprobs=top if scored else 0,
        grammar=_grammar(given),
    )


def _grammar(given: GenerateParams) -> Grammar | None:
    wishes = {"regex": given.regex, "json_schema": given.json_schema, "ebnf": given.ebnf}
    chosen = [kind for kind, wish in wishes.items() if wish is not None]
    if len(chosen) > 1:
        raise bad_request(f"{chosen[0]} and {chosen[1]} exclude each other.", f"sampling_params.{chosen[1]}")
    if given.json_schema is not None:
        return json_grammar(_schema(given.json_schema))
    if given.regex is not None:
        return Grammar("regex", given.regex)
    return Grammar("ebnf", given.ebnf) if given.ebnf is not None else None


def _schema(given: str | dict[str, Any]) -> dict[str, Any]:
    """SGLang's clients send it as text."""
    try:
        schema = parse(given.encode()) if isinstance(given, str) else given
    except ApiError as error:
        raise bad_request(f"json_schema: {error.message}", "sampling_params.json_schema") from None
    if not isinstance(schema, dict):
        raise bad_request("json_schema must be an object.", "sampling_params.json_schema")
    return schema


def sources(body: GenerateRequest) -> tuple[list[Any], bool]:
    """The texts, or the tokens, of each prompt; and whether a list of them was given."""
    if body.text is not None:
        return ([body.text], False) if isinstance(body.text, str) else (list(body.text), True)
    given = body.input_ids or []
    rows = [row for row in given if isinstance(row, list)]
    return (rows, True) if rows else ([[id for id in given if isinstance(id, int)]], False)


def images(body: GenerateRequest, count: int, batch: bool) -> list[list[ImagePart]]:
    """Of each prompt: a URL, a data URL or base64, or a list of these."""
    if body.image_data and body.image_url:
        raise bad_request("Give image_data or image_url, not both.", "image_url")
    param = "image_data" if body.image_data else "image_url"
    given = getattr(body, param) or []
    if not batch:
        return [list(_flat(given, param))]
    if not given:
        return [[] for _ in range(count)]
    if not isinstance(given, list) or len(given) != count:
        raise bad_request(f"{param} needs one entry for each of {count} prompts.", param)
    return [list(_flat(own, param)) for own in given]


def _flat(given: Any, param: str) -> Iterator[ImagePart]:
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, list):
            yield from _flat(one, param)
        elif isinstance(one, str) and one:
            yield ImagePart(param, one, "either")
        elif one:
            raise bad_request(f"{param} must be texts: URLs, data URLs or base64.", param)


async def generation(body: GenerateRequest, server: Server, request: HttpRequest) -> Generation:
    if not body.return_logprob and (body.top_logprobs_num or body.logprob_start_len is not None):
        raise bad_request("top_logprobs_num and logprob_start_len need return_logprob: true.", "return_logprob")
    given, batch = sources(body)
    server.check_prompt(sum(map(len, given)))
    shown = images(body, len(given), batch)
    name, model = await server.service.find(body.model)
    pictures = iter(await server.look([part for own in shown for part in own], model, request))
    return Generation(body, name, model, [[next(pictures) for _ in own] for own in shown])


async def chunks(made: Generation, together: Together) -> AsyncIterator[bytes]:
    starts = [sum(len(outputs) for outputs in made.outputs[:at]) for at in range(len(made.outputs))]
    async for number, heard in together.events():
        for output in made.hear(number, heard):
            shown = made.shown(number, output)
            if made.several:
                shown["index"] = starts[number] + made.outputs[number].index(output)
            yield event(shown)
    yield DONE
