"""An engine that generates scripted text token by token, and a model that is only a tokenizer and a template.

Only the protocol's side of the server is tested with it; the real engine has tests of its own here.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.errors import GrusError
from engine.metrics import EngineStats, RequestMetrics
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer
from engine.types import (
    Done,
    Embedded,
    Failed,
    Finished,
    FinishReason,
    PromptScores,
    Request,
    RequestHandle,
    SamplingParams,
    Started,
    Text,
    Timings,
    TokenLogprob,
)
from engine.vision.registry import make_vision_processor
from tests.checkpoints import save_tokenizer
from tests.vision_checkpoints import IDS, PREPROCESSOR, TEMPLATE, TOWER, WORDS

VECTOR = (3.0, 4.0, 0.0, 12.0)  # every text's, times its length


def scripted_model(folder: Path, model_type: str = "qwen3", context: int = 4096) -> Any:
    """What handlers ask of a loaded model. Every byte is a token, so that texts and counts are easy to say.

    A `qwen3_vl` sees images, and its template has only what that needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"model_type": model_type, "eos_token_id": 258, "hidden_size": len(VECTOR)}
    sees = model_type == "qwen3_vl"
    if sees:
        config |= {**IDS, "vision_config": TOWER}
        (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
        (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder, WORDS if sees else ())
    tokenizer = Tokenizer.from_folder(folder, config, {})
    return SimpleNamespace(
        name="tiny",
        folder=folder,
        config=config,
        tokenizer=tokenizer,
        template=ChatTemplate.from_folder(folder, tokenizer, config),
        eos_ids=tokenizer.eos_ids,
        context=context,
        vocab=tokenizer.vocab_size,
        defaults={},
        weight_bytes=1000,
        fingerprint="f" * 64,
        load_seconds=0.0,
        foreign=False,
        vision=make_vision_processor(config, folder, lambda text: tokenizer.encode(text, add_special=False)),
        backend=SimpleNamespace(name="torch", device="cpu", dtype="f32", describe=lambda: "a script (CPU)"),
    )


@dataclass
class ScriptedEngine:
    """Replies with `reply`, or with what `script` makes of a request."""

    load_model: Callable[[str], Any]
    reply: str = "Hello there."
    script: Callable[[Request], str] | None = None
    reason: FinishReason = "stop"
    error: GrusError | None = None  # ends every request
    refusal: GrusError | None = None  # raised by submit
    pause: float = 0.0  # before every token
    silence: float = 0.0  # before the first token
    requests: list[Request] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    running: int = 0
    closed: bool = False
    models_loaded: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, float | None] = field(default_factory=dict)
    request_metrics: RequestMetrics = field(default_factory=RequestMetrics)

    def load(self, name: str) -> None:
        if name not in self.models_loaded:
            self.models_loaded[name] = self.load_model(name)

    def unload(self, name: str, *, cancel: bool = False) -> None:
        self.models_loaded.pop(name, None)
        self.kept.pop(name, None)

    def keep(self, name: str, seconds: float | None) -> None:
        self.kept[name] = seconds

    def clear_prefix_cache(self) -> int:
        return 0

    def models(self) -> list[Any]:
        return [
            SimpleNamespace(
                name=name, expires_in=self.kept.get(name), weight_bytes=1000, kv_bytes=200, active=self.running
            )
            for name in self.models_loaded
        ]

    def stats(self) -> EngineStats:
        return EngineStats(active=self.running)

    def close(self, grace: float = 0.0) -> None:
        self.closed = True

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        if self.refusal is not None:
            raise self.refusal
        request.sampling.check()
        self.requests.append(request)
        stop = threading.Event()
        handle = RequestHandle(request.id, 4096, stop.set)
        threading.Thread(target=self._speak, args=(request, handle, stop), daemon=True).start()
        return handle

    def _speak(self, request: Request, handle: RequestHandle, stop: threading.Event) -> None:
        self.running += 1
        try:
            handle.end(self._counted(self._events(request, handle, stop)))
        finally:
            self.running -= 1

    def _counted(self, end: Done | Failed) -> Done | Failed:
        if isinstance(end, Done):
            self.request_metrics.ended(end.reason, end.timings, time.monotonic())
        else:
            self.request_metrics.failed(end.error.code)
        return end

    def _events(self, request: Request, handle: RequestHandle, stop: threading.Event) -> Done | Failed:
        began = time.monotonic()
        tokenizer = self.models_loaded[request.model].tokenizer
        params = request.sampling
        said = 0

        def timings() -> Timings:
            return Timings(0.0, 0.0, time.monotonic() - began, len(request.prompt_ids), 0, said)

        stop.wait(self.silence)
        handle.put(Started(request.id, len(request.prompt_ids), 0))
        if self.error is not None:
            return Failed(request.id, self.error, timings())
        if request.prompt_logprobs:
            scores = [TokenLogprob(id, -1.0) for id in request.prompt_ids[1:]]
            handle.put(PromptScores(request.id, 1, scores))
        if request.pooling is not None:
            if stop.wait(self.pause):
                self.cancelled.append(request.id)
                return Done(request.id, "cancelled", timings())
            handle.put(Embedded(request.id, len(request.prompt_ids) * np.array(VECTOR, np.float32)))
            return Done(request.id, "stop", timings())
        text = self.script(request) if self.script is not None else self.reply
        reason: FinishReason = self.reason
        for index in range(params.n):
            ids = _limited(text, params, tokenizer)
            if params.max_tokens is not None and len(ids) > params.max_tokens:
                ids, reason = ids[: params.max_tokens], "length"
            stream = _Bytes(tokenizer)
            for id in ids:
                if stop.wait(self.pause) if self.pause else stop.is_set():
                    self.cancelled.append(request.id)
                    return Done(request.id, "cancelled", timings())
                said += 1
                scores = []
                if params.logprobs:
                    scores = [TokenLogprob(id, -0.5, tuple((t, -0.5 - t) for t in range(params.top_logprobs)))]
                handle.put(Text(request.id, stream.push(id), [id], index, scores))
            handle.put(Finished(request.id, index, reason))
        return Done(request.id, reason, timings())


def _limited(text: str, params: SamplingParams, tokenizer: Tokenizer) -> list[int]:
    """The tokens of a reply whose reasoning is closed where its limit says so; the answer of the script follows."""
    ids = tokenizer.encode(text, add_special=False)
    limit = params.reasoning
    if limit is None:
        return list(ids)
    thought, closed, answer = text.removeprefix(limit.open).partition(limit.close)
    inner = tokenizer.encode(thought, add_special=False)
    if (not limit.started and not text.startswith(limit.open)) or (closed and len(inner) <= limit.tokens):
        return list(ids)
    opened = () if limit.started else tokenizer.encode(limit.open, add_special=False)
    rest = tokenizer.encode(answer.lstrip(), add_special=False)
    return [*opened, *inner[: limit.tokens], *limit.closing, *rest]


class _Bytes:
    def __init__(self, tokenizer: Tokenizer) -> None:
        import codecs

        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, id: int) -> str:
        return self._decoder.decode(self._tokenizer.bytes_of(id))


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for something that other threads bring about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def schema_of(request: Request) -> Any:
    """The schema that a reply is held to."""
    grammar = request.sampling.grammar
    assert grammar is not None
    return {"type": "object"} if grammar.kind == "json_object" else json.loads(grammar.text)
