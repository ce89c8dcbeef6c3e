"""llama.cpp's native routes that editors and scripts use: `/completion`, `/infill`, `/apply-template`, `/props`, `/lora-adapters`, and
`/v1/chat/completions/input_tokens`. A translation: what they do, the routes of the other families do too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from app.bundled import grus_version
from app.runtime.chat import json_grammar
from app.server.body import JsonRoute
from app.server.context import Here, Server, answer
from app.server.errors import bad_request, unsupported
from app.server.generation import GeneratedChoice, Generation, check_ids
from app.server.images import check_counted
from app.server.llamacpp.protocol import (
    LlamaAdapter,
    LlamaAdapterScale,
    LlamaAppliedTemplate,
    LlamaCompletionReply,
    LlamaCompletionRequest,
    LlamaConversation,
    LlamaInfillRequest,
    LlamaInputTokens,
    LlamaPrompt,
    LlamaPromptObject,
    LlamaProps,
    LlamaSuccess,
)
from app.server.openai.shapes import LEAST_LOGPROB, token_text
from app.server.openapi import errors, streams
from app.server.requests import RequestGroup, event
from app.server.sampling import repetition_window, report_schema, stop_list
from engine.errors import CheckpointError
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, infill_prompt, placed, text_prompt
from engine.text.tokenizer import Tokenizer
from engine.types import Grammar, SamplingParams, Text, Timings, TokenLogprob
from engine.types import Request as EngineRequest
from engine.vision.processor import hearing, seeing

router = APIRouter(route_class=JsonRoute, tags=["llama.cpp"])
_REPLY: dict[str, Any] = {
    # an object of any kind: `response_fields` names what a reply shall hold
    "response_model": LlamaCompletionReply | list[LlamaCompletionReply] | dict[str, Any] | list[dict[str, Any]],
    "responses": streams() | errors(400, 404, 429),
}
_NEVER = -1e4  # a bias


@router.post("/completion", **_REPLY)
async def completion(body: LlamaCompletionRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text, of tokens, or of both in turn; a list for a list of them."""
    given = body.prompt
    several = isinstance(given, list) and (all(isinstance(one, str) for one in given) or not _is_one(given))
    prompts: Sequence[Any] = given if isinstance(given, list) and several else [given]
    size = sum(map(_size, prompts))
    server.check_prompt(size)
    name, model = await server.service.find(body.model)

    def made() -> list[EngineRequest]:
        params = _sampling(body, model)
        return [_prompt(one, model).request(name, params) for one in prompts]

    requests = await server.beside(size, request, made)
    return await _reply(_Completion(body, model, requests, several), request, server)


@router.post("/infill", **_REPLY)
async def infill(body: LlamaInfillRequest, request: Request, server: Here) -> Any | Response:
    """What belongs between `input_prefix` with `prompt` and `input_suffix`; `input_extra` are further files of the project."""
    files = [(file.filename, file.text) for file in body.input_extra or ()]
    prefix = body.input_prefix + body.prompt
    size = len(prefix) + len(body.input_suffix) + sum(len(name) + len(text) for name, text in files)
    server.check_prompt(size)
    name, model = await server.service.find(body.model)

    def made() -> list[EngineRequest]:
        filled = infill_prompt(model, prefix, body.input_suffix, files, max(body.n_predict or 0, 0))
        return [EngineRequest(name, filled.ids, _sampling(body, model, filled.stops))]

    requests = await server.beside(size, request, made)
    return await _reply(_Completion(body, model, requests, False), request, server)


@router.post("/apply-template", responses=errors(400, 404))
async def apply_template(body: LlamaConversation, request: Request, server: Here) -> LlamaAppliedTemplate:
    """The prompt that the model would read of a conversation."""
    return LlamaAppliedTemplate(prompt=await server.rendered(body.chat(), body.model, request))


@router.post("/v1/chat/completions/input_tokens", responses=errors(400, 404))
async def input_tokens(body: LlamaConversation, request: Request, server: Here) -> LlamaInputTokens:
    """How many tokens the model would read of a conversation."""
    _, _, prepared = await server.prepare(body.chat(), body.model, request)
    check_counted(prepared)
    return LlamaInputTokens(input_tokens=len(prepared.prompt.ids))


@router.get("/props", responses=errors(400, 404))
async def props(server: Here, model: str | None = None) -> LlamaProps:
    """What a client must know of the model, which is loaded for it."""
    name, loaded = await server.service.find(model)
    named = loaded.tokenizer.special_tokens
    settings = {"n_ctx": loaded.context, "params": _settings(SamplingParams().over(loaded.defaults), None)}
    return LlamaProps(
        model_alias=name,
        model_path=name,
        chat_template=loaded.template.source() if loaded.template.names else "",
        bos_token=named.get("bos_token", ""),
        eos_token=named.get("eos_token", ""),
        modalities={"vision": seeing(loaded.vision), "audio": hearing(loaded.vision) is not None},
        total_slots=int(server.service.engine_settings().get("max_concurrent", 1)),
        default_generation_settings=settings,
        build_info=f"grus-{grus_version()}",
    )


@router.get("/lora-adapters", responses=errors(400, 404))
async def lora_adapters(server: Here, model: str | None = None) -> list[LlamaAdapter]:
    """The adapters of a model, and how strongly each takes part in requests to the model itself."""
    scales = server.service.adapter_scales(server.service.known(model).model)
    return [LlamaAdapter(id=i, path=name, scale=scale) for i, (name, scale) in enumerate(scales.items())]


@router.post("/lora-adapters", responses=errors(400, 404))
async def scale_lora_adapters(
    body: Annotated[list[LlamaAdapterScale], Field(max_length=1000)], server: Here, model: str | None = None
) -> LlamaSuccess:
    """Compute requests to the model itself with these adapters together. One that is not named takes no part."""
    name = server.service.known(model).model
    scales = _scales(body, name, server, "id")
    try:
        await server.service.scale_adapters(name, scales)
    except CheckpointError as error:
        raise bad_request(str(error), "id") from None
    return LlamaSuccess()


def _scales(given: Sequence[LlamaAdapterScale], model: str, server: Server, field: str) -> dict[str, float]:
    """By name. `field`: of the request, for the error."""
    names = list(server.service.adapter_scales(model))
    for one in given:
        if one.id >= len(names):
            raise bad_request(
                f"The model {model} has no adapter {one.id}. GET /lora-adapters lists those that it has.", field
            )
    return {names[one.id]: one.scale for one in given}


# -- from the request to the engine's


def _is_one(given: Sequence[Any]) -> bool:
    """One prompt of tokens and texts in turn."""
    return all(isinstance(part, str | int) for part in given)


def _size(prompt: LlamaPrompt) -> int:
    if isinstance(prompt, LlamaPromptObject):
        return len(prompt.prompt_string)
    return sum(len(part) if isinstance(part, str) else 1 for part in ([prompt] if isinstance(prompt, str) else prompt))


def _prompt(given: LlamaPrompt, model: LoadedModel) -> Prompt:
    if isinstance(given, LlamaPromptObject):
        if given.multimodal_data:
            raise unsupported("prompt.multimodal_data", "Send images to /v1/chat/completions: they are not read here.")
        given = given.prompt_string
    if isinstance(given, str):
        return text_prompt(model, given)
    ids: list[int] = []
    for at, part in enumerate(given):
        ids += (
            [part] if isinstance(part, int) else model.tokenizer.encode(part, add_special=at == 0, most=model.context)
        )
    check_ids([ids], model, "prompt")
    return placed(model, "", ids)


def _sampling(body: LlamaCompletionRequest, model: LoadedModel, stops: Sequence[int] = ()) -> SamplingParams:
    most = body.n_predict
    return SamplingParams(
        max_tokens=None if most is None or most < 0 else max(most, 1),
        temperature=body.temperature,
        top_k=None if body.top_k is None else max(body.top_k, 0),
        top_p=body.top_p,
        min_p=body.min_p,
        typical_p=body.typical_p,
        repetition_penalty=body.repeat_penalty,
        repetition_window=repetition_window(body.repeat_last_n, body.repeat_penalty, "repeat_last_n"),
        presence_penalty=body.presence_penalty or 0.0,
        frequency_penalty=body.frequency_penalty or 0.0,
        logit_bias=dict(_biases(body, model.tokenizer)),
        seed=None if body.seed is None or body.seed < 0 else body.seed,
        stop=stop_list(body.stop),
        stop_token_ids=tuple(stops),
        ignore_eos=bool(body.ignore_eos),
        logprobs=bool(body.n_probs),
        top_logprobs=body.n_probs or 0,
        grammar=_grammar(body),
    )


def _grammar(body: LlamaCompletionRequest) -> Grammar | None:
    if body.grammar and body.json_schema is not None:
        raise bad_request("grammar and json_schema exclude each other.", "json_schema")
    if body.json_schema is None:
        return Grammar("ebnf", body.grammar) if body.grammar else None
    grammar = json_grammar(body.json_schema)
    report_schema(grammar, "json_schema")
    return grammar


def _biases(body: LlamaCompletionRequest, tokenizer: Tokenizer) -> list[tuple[int, float]]:
    """Of the tokens: a text stands for those that it is made of."""
    given = body.logit_bias.items() if isinstance(body.logit_bias, dict) else body.logit_bias or ()
    found = []
    for token, bias in given:
        if isinstance(token, str):
            number = token.isascii() and token.isdigit()
            ids = [int(token)] if number else tokenizer.encode(token, add_special=False)
        else:
            ids = [token]
        if bias is not True:
            found += [(id, _NEVER if bias is False else float(bias)) for id in ids]
    return found


# -- the reply


async def _reply(made: _Completion, request: Request, server: Server) -> Any:
    """The reply of the model, or of the model with the adapters that the request asks for."""
    given = made.body.lora
    if given is None:
        return await made.reply(request, server)
    known = server.service.known(made.requests[0].model)
    if known.name != known.model:
        raise bad_request(f"lora says with which adapters of {known.model} to compute: name that model.", "lora")
    try:
        async with server.service.adapter_sum(known.model, _scales(given, known.model, server, "lora")) as adapter:
            made.requests = [replace(one, adapter=adapter) for one in made.requests]
            return await made.reply(request, server)
    except CheckpointError as error:
        raise bad_request(str(error), "lora") from None


class _Completion:
    """One call: its engine requests, and the objects that are made of their events."""

    def __init__(
        self, body: LlamaCompletionRequest, model: LoadedModel, requests: Sequence[EngineRequest], several: bool
    ) -> None:
        self.body, self.model, self.requests, self.several = body, model, requests, several
        self.generations = [Generation(1) for _ in requests]
        self.alone = body.n_predict == 0  # the prompt is computed for later ones, and not answered

    async def reply(self, request: Request, server: Server) -> Any:
        batch = RequestGroup.begin(server.requests, self.requests)
        if self.body.stream:
            return await server.stream(batch, self.chunks(batch))
        await batch.whole(request.receive, lambda number, got: self.generations[number].add(got))
        whole = [self._whole(number) for number in range(len(self.requests))]
        return answer(whole if self.several else whole[0])

    async def chunks(self, batch: RequestGroup) -> AsyncIterator[bytes]:
        async for number, got in batch.events():
            ended = self.generations[number].add(got)
            if isinstance(got, Text) and got.ids and not self.alone:
                choice = self.generations[number].choices[0]
                counts = {
                    "tokens_predicted": len(choice.ids),
                    "tokens_evaluated": len(self.requests[number].prompt_ids),
                }
                yield event(
                    {"index": number, "content": got.text, "tokens": list(got.ids), "stop": False, **counts}
                    | self._probabilities(got.logprobs)
                )
            elif ended and ended[0].reason is not None:
                yield event(self._whole(number) | {"content": "", "tokens": []})

    def _whole(self, number: int) -> dict[str, Any]:
        request, generation = self.requests[number], self.generations[number]
        choice = GeneratedChoice(reason="length") if self.alone else generation.choices[0]
        word = choice.stop if isinstance(choice.stop, str) else ""
        limited, prompt = choice.reason in ("length", "cancelled"), len(request.prompt_ids)
        reply = {
            "index": number,
            "content": choice.text,
            "tokens": choice.ids if self.body.return_tokens else [],
            "stop": True,
            "model": request.model,
            "prompt": self.model.tokenizer.decode(request.prompt_ids, skip_special=False),
            "tokens_predicted": len(choice.ids),
            "tokens_evaluated": prompt,
            "tokens_cached": prompt + len(choice.ids),
            "truncated": limited and prompt + len(choice.ids) >= self.model.context,
            "has_new_line": "\n" in choice.text,
            "stop_type": "limit" if limited else "word" if word else "eos",
            "stopping_word": word,
            "generation_settings": {
                "n_ctx": self.model.context,
                **_settings(request.sampling.over(self.model.defaults), self.body.n_predict),
            },
            "timings": _timings(generation.timings, len(choice.ids)),
        } | self._probabilities(choice.scores)
        return _selected(reply, self.body.response_fields) if self.body.response_fields else reply

    def _probabilities(self, scores: Sequence[TokenLogprob]) -> dict[str, Any]:
        def shown(id: int, logprob: float) -> dict[str, Any]:
            tokenizer = self.model.tokenizer
            raw = list(tokenizer.bytes_of(id))
            return {"id": id, "token": token_text(tokenizer, id), "bytes": raw, "logprob": max(logprob, LEAST_LOGPROB)}

        if not self.body.n_probs:
            return {}
        tops = [[shown(id, logprob) for id, logprob in score.top] for score in scores]
        found = [shown(score.id, score.logprob) | {"top_logprobs": top} for score, top in zip(scores, tops)]
        return {"completion_probabilities": found}


def _settings(sampling: SamplingParams, n_predict: int | None) -> dict[str, Any]:
    return {
        "n_predict": -1 if n_predict is None else n_predict,
        "seed": -1 if sampling.seed is None else sampling.seed,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "typical_p": sampling.typical_p,
        "repeat_penalty": sampling.repetition_penalty,
        "repeat_last_n": sampling.repetition_window or -1,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "ignore_eos": sampling.ignore_eos,
        "stop": list(sampling.stop),
        "n_probs": sampling.top_logprobs,
    }


def _timings(timings: Timings, predicted: int) -> dict[str, float]:
    """The first token comes of the prompt: the others are those that take steps."""
    count, steps = timings.prompt_tokens - timings.cached_tokens, max(predicted - 1, 0)
    before, after = 1000 * (timings.first_token - timings.queued), 1000 * (timings.total - timings.first_token)
    return {
        "cache_n": timings.cached_tokens,
        "prompt_n": count,
        "prompt_ms": before,
        "prompt_per_token_ms": before / max(count, 1),
        "prompt_per_second": timings.prefill_rate,
        "predicted_n": predicted,
        "predicted_ms": after,
        "predicted_per_token_ms": after / steps if steps else 0.0,
        "predicted_per_second": 1000 * steps / after if steps and after > 0 else 0.0,
    }


def _selected(reply: dict[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
    """The fields of these paths, `timings/prompt_n`, under the paths; those that there are none of are left out."""
    found = {}
    for path in wanted:
        value: Any = reply
        for key in path.split("/"):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            found[path] = value
    return found
