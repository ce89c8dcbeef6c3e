"""`POST /generate`: SGLang's continuations of texts and tokens, and scores of prompts alone."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.runtime.reasoning import limit_of_prompt
from app.server.body import JsonRoute, ignore
from app.server.context import Here, answer
from app.server.errors import bad_request
from app.server.generation import GeneratedChoice, Generation, check_ids, split_prompts, whole_text
from app.server.images import ImagePart
from app.server.openai.shapes import LEAST_LOGPROB, token_text
from app.server.openapi import errors, streams
from app.server.requests import DONE, RequestGroup, event, requested_timings
from app.server.sampling import custom_budget, repetition_window, stop_list
from app.server.sglang.protocol import SglangGenerateReply, SglangGenerateRequest, SglangSamplingParams
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, placed, text_prompt
from engine.types import Picture, SamplingParams, TokenLogprob, new_id

router = APIRouter(route_class=JsonRoute, tags=["SGLang"])


_REPLIES: dict[str, Any] = {
    "response_model": SglangGenerateReply | list[SglangGenerateReply],
    "responses": streams() | errors(400, 404, 429),
}


@router.put("/generate", include_in_schema=False, **_REPLIES)
@router.post("/generate", **_REPLIES)
async def generate(body: SglangGenerateRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text or of tokens; a list for a list."""
    if not body.return_logprob:
        for name in ("top_logprobs_num", "logprob_start_len"):
            if getattr(body, name) not in (None, 0, -1) and not ignore(name):
                raise bad_request(f"{name} needs return_logprob: true.", "return_logprob")
    texts, lists = _prompts(body)
    size = sum(map(len, texts or lists))
    server.check_prompt(size)
    images = _images(body, len(texts or lists))
    name, model = await server.service.find(body.model)
    adapters = (
        [] if body.lora_path is None else body.lora_path if isinstance(body.lora_path, list) else [body.lora_path]
    )
    if adapters:
        name = server.service.model_of(name)
    for adapter in {one for one in adapters if one}:
        await server.service.find(f"{name}:{adapter}")
    pictures = iter(await server.look([part for own in images for part in own], model, request))
    seen = [[next(pictures) for _ in own] for own in images]
    call = await server.beside(size, request, _GenerateCall, body, name, model, seen)
    batch = RequestGroup.begin(server.requests, call.requests)
    if body.stream:
        return await server.stream(batch, call.chunks(batch))
    await batch.whole(request.receive, lambda number, event: call.generations[number].add(event))
    return answer(call.result())


class _GenerateCall:
    """One call of `/generate`: its engine requests, and the objects that are made of their events."""

    def __init__(
        self, body: SglangGenerateRequest, name: str, model: LoadedModel, pictures: Sequence[Sequence[Picture]]
    ) -> None:
        """`pictures` of each prompt."""
        self.body = body
        self.model = model
        prompts = self._prompts(pictures)
        count = len(prompts)
        self.params: list[SglangSamplingParams] = self._per_prompt(
            body.sampling_params or SglangSamplingParams(), count, "sampling_params"
        )
        rids = self._per_prompt(body.rid, count, "rid") if body.rid is not None else None
        adapters = self._per_prompt(body.lora_path, count, "lora_path")
        self.scored = [bool(one) for one in self._per_prompt(body.return_logprob, count, "return_logprob")]
        self.tops = [one or 0 for one in self._per_prompt(body.top_logprobs_num, count, "top_logprobs_num")]
        starts = self._per_prompt(body.logprob_start_len, count, "logprob_start_len")
        self.starts = [_start(start, params) for start, params in zip(starts, self.params)]
        self.requests = [
            prompt.request(
                f"{name}:{adapters[at]}" if adapters[at] else name,
                self._sampling(at, prompt),
                id=rids[at] if rids else new_id("gen"),
                prompt_logprobs=self.scored[at] and self.starts[at] is not None,
            )
            for at, prompt in enumerate(prompts)
        ]
        for request, start in zip(self.requests, self.starts):
            if start is not None and start >= (length := len(request.prompt_ids)):
                raise bad_request(
                    f"logprob_start_len is {start}, but the prompt has {length} tokens.", "logprob_start_len"
                )
        if len({request.id for request in self.requests}) < len(self.requests):
            raise bad_request("Each prompt needs a rid of its own.", "rid")
        self.generations = [Generation(request.sampling.n) for request in self.requests]
        self.several = _is_batch(body) or self.requests[0].sampling.n > 1
        self.began = time.monotonic()

    def _sampling(self, at: int, prompt: Prompt) -> SamplingParams:
        params = _sampling(self.params[at], self.scored[at], self.tops[at])
        budget = custom_budget(self.params[at].custom_params, "sampling_params.custom_params")
        return params if budget is None else replace(params, reasoning=limit_of_prompt(self.model, prompt.ids, budget))

    def _prompts(self, pictures: Sequence[Sequence[Picture]]) -> list[Prompt]:
        texts, lists = _prompts(self.body)
        check_ids(lists, self.model, "input_ids")
        if texts:
            return [text_prompt(self.model, text, own) for text, own in zip(texts, pictures)]
        return [placed(self.model, "", ids, own) for ids, own in zip(lists, pictures)]

    def _per_prompt(self, given: Any, count: int, name: str) -> list[Any]:
        if not isinstance(given, list):
            if name == "rid" and count > 1:
                return [f"{given}_{at}" for at in range(count)]
            return [given] * count
        if len(given) != count:
            raise bad_request(f"{name} has {len(given)} entries for {count} prompts.", name)
        return given

    def result(self) -> Any:
        whole = [
            self._shown(n, choice) for n, generation in enumerate(self.generations) for choice in generation.choices
        ]
        return whole if self.several else whole[0]

    async def chunks(self, batch: RequestGroup) -> AsyncIterator[bytes]:
        starts = list(accumulate((len(generation.choices) for generation in self.generations), initial=0))
        async for number, got in batch.events():
            for choice in self.generations[number].add(got):
                shown = self._shown(number, choice)
                if self.several:
                    shown["index"] = starts[number] + self.generations[number].choices.index(choice)
                yield event(shown)
        yield DONE

    def _shown(self, number: int, choice: GeneratedChoice) -> dict[str, Any]:
        request, generation, params = self.requests[number], self.generations[number], self.params[number]
        alone = params.max_new_tokens == 0  # one token was sampled all the same
        ids = [] if alone else choice.ids
        meta: dict[str, Any] = {
            "id": request.id,
            "finish_reason": {"type": "length", "length": 0} if alone else self._finish_reason(choice, params),
            "prompt_tokens": len(request.prompt_ids),
            "completion_tokens": len(ids),
            "cached_tokens": generation.cached_tokens,
        }
        if choice.reason is not None:
            meta["e2e_latency"] = round(time.monotonic() - self.began, 6)
            meta |= requested_timings()
        if self.scored[number]:
            meta |= self._scores(number, [] if alone else choice.scores)
        text = "" if alone else whole_text(choice, self.model, params.skip_special_tokens, not params.no_stop_trim)
        return {"text": text, "output_ids": ids, "meta_info": meta}

    def _finish_reason(self, choice: GeneratedChoice, params: SglangSamplingParams) -> dict[str, Any] | None:
        if choice.reason is None:
            return None
        if choice.reason == "length":
            return {"type": "length", "length": len(choice.ids)}
        if choice.reason == "cancelled":
            return {"type": "abort"}
        return {"type": "stop", "matched": choice.stop}

    def _scores(self, number: int, outputs: Sequence[TokenLogprob]) -> dict[str, Any]:
        """`[logprob, id, text]` of tokens; the first of a prompt has no logprob, for nothing is before it."""
        prompt = self._prompt_scores(number)
        scores: dict[str, Any] = {
            "input_token_logprobs": [self._score(score.id, score.logprob, known) for score, known in prompt],
            "output_token_logprobs": [self._score(score.id, score.logprob) for score in outputs],
        }
        if self.tops[number]:
            scores["input_top_logprobs"] = [self._top(score) if known else None for score, known in prompt]
            scores["output_top_logprobs"] = [self._top(score) for score in outputs]
        return scores

    def _prompt_scores(self, number: int) -> list[tuple[TokenLogprob, bool]]:
        """The prompt's tokens from `logprob_start_len` on, and whether each has a logprob.

        SGLang leaves the first one's out, whatever is before it. Its own frontend compares the scores of prompts that
        were made longer, and takes the first entry for the token after the start: so it is where nothing is generated.
        """
        start = self.starts[number]
        if start is None:
            return []
        request, scores = self.requests[number], self.generations[number].prompt_scores
        after = [(score, True) for score in scores[start:]]
        if start > 0 and self.params[number].max_new_tokens == 0:
            return after
        return [(TokenLogprob(request.prompt_ids[start], 0.0), False), *after]

    def _top(self, score: TokenLogprob) -> list[list[Any]]:
        return [self._score(id, logprob) for id, logprob in score.top]

    def _score(self, id: int, logprob: float, known: bool = True) -> list[Any]:
        text = token_text(self.model.tokenizer, id) if self.body.return_text_in_logprobs else None
        return [max(logprob, LEAST_LOGPROB) if known else None, id, text]


def _start(given: int | None, params: SglangSamplingParams) -> int | None:
    """The token of the prompt from which scores are wanted. None: of the output alone, which is SGLang's default; but
    where nothing is generated, the prompt's are what is asked for."""
    if given is None:
        return 0 if params.max_new_tokens == 0 else None
    return given if given >= 0 else None


def _sampling(given: SglangSamplingParams, scored: bool, top: int) -> SamplingParams:
    seed = given.seed if given.seed is not None else given.sampling_seed
    for key in given.logit_bias or {}:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise bad_request(f"logit_bias: {key[:40]!r} is not a token id.", "sampling_params.logit_bias")
    alone = given.max_new_tokens == 0
    return SamplingParams(
        max_tokens=1 if alone else given.max_new_tokens,
        min_tokens=0 if alone else given.min_new_tokens,
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
        grammar=given.reported_grammar("sampling_params."),
    )


def _prompts(body: SglangGenerateRequest) -> tuple[list[str], list[list[int]]]:
    return split_prompts(body.input_ids or [] if body.text is None else body.text)


def _is_batch(body: SglangGenerateRequest) -> bool:
    """Whether a list of prompts was given."""
    return isinstance(body.text, list) or isinstance((body.input_ids or [0])[0], list)


def _images(body: SglangGenerateRequest, count: int) -> list[list[ImagePart]]:
    """Of each prompt: a URL, a data URL or base64, or a list of these."""
    if body.image_data and body.image_url:
        raise bad_request("Give image_data or image_url, not both.", "image_url")
    param = "image_data" if body.image_data else "image_url"
    given = getattr(body, param) or []
    if not _is_batch(body):
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
