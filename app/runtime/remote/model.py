"""A model of a server elsewhere, as the runtime knows models: it takes the same requests and gives the same events.

It has no weights here, no executor and no place among the models in memory. A text has no tokens here either: the "ids" of a
prompt are its characters, and routes that give out or take tokens refuse it (`vocab` is 0).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import numpy as np

from app.runtime.chat import ChatRequest, PreparedChat
from app.runtime.remote.chat import (
    STREAMED,
    EncodedPicture,
    RemoteChat,
    RemoteText,
    ReplyDeltas,
    check_promises,
    encoded_picture,
    grammar_fields,
    prepare_elsewhere,
    sampled,
)
from app.runtime.remote.client import RemoteClient, remote_loop
from app.runtime.remote.servers import REMOTE, UNKNOWN, OfferedModel, RemoteServer, remote_config
from engine.errors import BadRequest, ErrorText, GrusError, Unsupported
from engine.loaded import NoMemory, NoRunner
from engine.loading import LoadedModel
from engine.media.inputs import Sound
from engine.media.sound import read_sound, written
from engine.pipelines.listening.transcription import SAMPLE_RATE
from engine.pipelines.speaking.speech import SpeechModel
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings
from engine.tasks import EngineLike, Task, Work, wrapped
from engine.types import Done, Embedded, Failed, Finished, Request, RequestHandle, Started, Text, Timings

T = TypeVar("T")
_TOKENS = 0x110000  # ids from here on are tokens that a server named; below are characters
_MOST_TOKENS = 1 << 20
_RATE = 24_000  # of speech: what it is converted to, whatever the server makes
_VOICES = (
    "alloy",
    "ash",
    "ballad",
    "cedar",
    "coral",
    "echo",
    "fable",
    "marin",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
)
Cancel = Callable[[], None]


class RemoteModel(LoadedModel):
    """A model of a server elsewhere. Requests of it are answered over HTTP."""

    def __init__(self, name: str, server: RemoteServer, offered: OfferedModel, client: RemoteClient) -> None:
        from engine.text.template import ChatTemplate

        self.server, self.offered, self.client = server, offered, client
        super().__init__(
            name=name,
            folder=Path(name),
            config=remote_config(offered),
            backend=cast(Any, RemoteBackend(server)),
            kv=cast(Any, NoMemory()),
            runner=cast(Any, NoRunner()),
            tokenizer=cast(Any, RemoteTokenizer()),
            template=ChatTemplate({}),
            eos_ids=(),
            context=offered.context or UNKNOWN,
            vocab=0,
            defaults={},
            weight_bytes=0,
            fingerprint=hashlib.sha256(f"{server.url} {offered.id}".encode()).hexdigest(),
            markers=frozenset(),
            vision=cast(Any, RemoteVision() if "vision" in offered.abilities else None),
        )
        self._running: dict[str, RequestHandle] = {}

    # -- what the runtime asks of a model elsewhere

    def prepare_elsewhere(self, chat: ChatRequest, name: str) -> PreparedChat:
        return prepare_elsewhere(chat, self, self.server, self.offered.id, name)

    def speech_elsewhere(self, engine: EngineLike) -> SpeechModel:
        if "speak" not in self.offered.abilities:
            raise BadRequest(ErrorText("{model} does not speak.", model=self.name), "model")
        return RemoteSpeech(engine, self)

    def submit(self, request: Request) -> RequestHandle:
        stop: list[Cancel] = []
        handle = RequestHandle(request.id, None, lambda: cancel_all(stop))
        self._running[request.id] = handle
        handle.on_end = lambda: drop(self._running, request.id)
        clock = _Clock()

        def cancelled() -> None:
            handle.end(Done(request.id, "cancelled", clock.timings()))

        stop.append(remote_loop().start(self._reply(request, handle, clock), cancelled))
        return handle

    def task(self, work: Work[Any]) -> Task[Any]:
        """Work beside requests: a call of the server, or what reads this model's facts."""
        stop: list[Cancel] = []
        task: Task[Any] = Task(self.name, work, lambda: cancel_all(stop))
        if isinstance(work, RemoteCall):
            stop.append(remote_loop().start(_run(task, work, self.client), lambda: task.fail(CancelledError())))
        else:
            try:
                task.end(_finished(work, self))
            except Exception as error:
                task.fail(wrapped(error))
        return task

    def close(self) -> None:
        """End what is being answered, and let go of the connections."""
        for handle in tuple(self._running.values()):
            handle.cancel()
        self.client.close()

    # -- on the remote loop

    async def _reply(self, request: Request, handle: RequestHandle, clock: _Clock) -> None:
        try:
            if request.sound is not None:
                await self._transcribe(request, request.sound, handle, clock)
            elif request.pooling is not None:
                await self._embed(request, handle, clock)
            else:
                await self._generate(request, handle, clock)
        except GrusError as error:
            handle.end(Failed(request.id, error, clock.timings()))
        except Exception as error:  # what a server sends can have any shape
            wrapped(error)
            handle.end(Failed(request.id, self.client.nonsense(), clock.timings()))

    async def _generate(self, request: Request, handle: RequestHandle, clock: _Clock) -> None:
        path, body = "/chat/completions", dict(getattr(request, "body", {}))
        if not isinstance(request, RemoteChat):
            path, body = "/completions", self._continuation(request)
        deltas = ReplyDeltas(request, self.tokenizer.named)  # type: ignore[attr-defined]
        async for event in self.client.events(path, body):
            if clock.begins():  # not before: what the server refuses has a status of its own
                handle.put(Started(request.id, 0, 0))
            for made in deltas.read(event):
                clock.token(made)
                handle.put(made)
        if not deltas.complete:
            raise self.client.cut()
        clock.used(deltas.usage)
        if isinstance(request, RemoteChat):
            check_promises(request, deltas, self.server.name)
        handle.end(Done(request.id, deltas.reason, clock.timings()))

    def _continuation(self, request: Request) -> dict[str, Any]:
        """The body for a prompt that is a text to continue."""
        params = request.sampling
        asked = {"logprobs": params.logprobs, "prompt_logprobs": request.prompt_logprobs, "images": request.pictures}
        if refused := next((field for field, wanted in asked.items() if wanted), None):
            raise Unsupported(f"{self.name} runs on another server, which gives no {refused} here.", refused)
        body = {"model": self.offered.id, "prompt": self.tokenizer.decode(list(request.prompt_ids)), **STREAMED}
        grammar = {} if params.grammar is None else grammar_fields(params.grammar, self.server)
        return {**body, **sampled(params, self.server.program, self.name), **grammar}

    async def _embed(self, request: Request, handle: RequestHandle, clock: _Clock) -> None:
        body = {
            "model": self.offered.id,
            "input": self.tokenizer.decode(list(request.prompt_ids)),
            "encoding_format": "float",
        }
        reply = await self.client.json("POST", "/embeddings", self.offered.id, json=body)
        given = reply["data"][0]["embedding"]
        vector = (
            np.frombuffer(base64.b64decode(given), "<f4") if isinstance(given, str) else np.asarray(given, np.float32)
        )
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise self.client.nonsense()
        clock.used(reply.get("usage") or {})
        handle.put(Embedded(request.id, vector))
        handle.end(Done(request.id, "stop", clock.timings()))

    async def _transcribe(self, request: Request, sound: Sound, handle: RequestHandle, clock: _Clock) -> None:
        data = await asyncio.to_thread(written, [sound.samples], SAMPLE_RATE, "wav")
        form = {"model": self.offered.id, "response_format": "json"}
        if sound.language is not None:
            form["language"] = sound.language
        files = {"file": ("speech.wav", data, "audio/wav")}
        reply = await self.client.json("POST", "/audio/transcriptions", self.offered.id, data=form, files=files)
        if not isinstance(reply.get("text"), str):
            raise self.client.nonsense()
        handle.put(Text(request.id, reply["text"].strip(), ()))
        handle.put(Finished(request.id, 0, "stop"))
        handle.end(Done(request.id, "stop", clock.timings()))


def cancel_all(stop: Sequence[Cancel]) -> None:
    for cancel in stop:
        cancel()


def drop(running: dict[str, RequestHandle], id: str) -> None:
    running.pop(id, None)


class _Clock:
    """The timings of one reply."""

    def __init__(self) -> None:
        self._began, self._first, self._pieces, self._running = time.monotonic(), 0.0, 0, False
        self._usage: Mapping[str, Any] = {}

    def begins(self) -> bool:
        """True the first time."""
        running, self._running = self._running, True
        return not running

    def token(self, event: object) -> None:
        if isinstance(event, RemoteText) and event.parts:
            self._pieces += 1
            self._first = self._first or time.monotonic() - self._began

    def used(self, usage: Mapping[str, Any]) -> None:
        self._usage = usage

    def timings(self) -> Timings:
        """Tokens are as the server counts them; without its word, the pieces that came."""
        details = self._usage.get("prompt_tokens_details") or {}
        return Timings(
            first_token=self._first,
            total=time.monotonic() - self._began,
            prompt_tokens=int(self._usage.get("prompt_tokens") or 0),
            cached_tokens=int(details.get("cached_tokens") or 0),
            output_tokens=int(self._usage.get("completion_tokens") or self._pieces),
        )


# -- calls of the server that are no requests of a model


@dataclass(frozen=True)
class RemoteCall:
    """Work for `task` that asks the server for something."""

    ask: Callable[[RemoteClient], Awaitable[Any]]

    def __call__(self, loaded: Any) -> Any:
        raise TypeError("A call of a server runs on the remote loop.")


async def _run(task: Task[Any], work: RemoteCall, client: RemoteClient) -> None:
    try:
        task.end(await work.ask(client))
    except Exception as error:
        task.fail(wrapped(error))


def _finished(work: Work[T], model: RemoteModel) -> T:
    """The result of work that reads facts, and computes nothing."""
    steps = work(model)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(T, end.value)


class RemoteSpeech:
    """A voice of a server elsewhere, as a speech model."""

    rate = _RATE
    token_rate = 12.5  # what `max_tokens` is counted in, for no server says
    clones = False

    def __init__(self, engine: EngineLike, model: RemoteModel) -> None:
        self.engine, self._model = engine, model
        self._presets: Sequence[str] | None = None

    @property
    def presets(self) -> Sequence[str]:
        """The voices that the server lists, as Grus and some others do; else OpenAI's."""
        if self._presets is None:
            path = f"/audio/voices?model={quote(self._model.offered.id, safe='')}"
            try:
                reply = self._ask(lambda client: client.json("GET", path))
                found = [
                    voice["id"] for voice in reply.get("voices") or () if isinstance(voice, dict) and voice.get("id")
                ]
            except GrusError:
                found = []
            self._presets = found or _VOICES
        return self._presets

    def check(self, settings: VoiceSettings) -> None:
        if settings.clone is not None:
            raise BadRequest(ErrorText("A saved voice is not sent to a server elsewhere."), "voice")

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        id = self._model.offered.id
        body: dict[str, Any] = {"model": id, "input": text, "response_format": "wav"}
        if settings.preset is not None or self._model.server.program != "grus":
            body["voice"] = settings.preset or self.presets[0]
        if settings.language != "auto" and self._model.server.program == "grus":
            body["language"] = settings.language
        if settings.instructions:
            body["instructions"] = settings.instructions
        data = self._ask(lambda client: client.content("POST", "/audio/speech", id, json=body))
        yield read_sound(data, _RATE).samples

    def _ask(self, ask: Callable[[RemoteClient], Awaitable[T]]) -> T:
        return self.engine.task(self._model.name, cast(Work[T], RemoteCall(ask)), admitted=True).result()

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        raise BadRequest(ErrorText("{model} clones no voices from here.", model=self._model.name), "voice")


# -- what other code reads of a model


class RemoteBackend:
    """Says where the model runs."""

    name, dtype, foreign_library = REMOTE, "", ""

    def __init__(self, server: RemoteServer) -> None:
        self._server = server

    @property
    def device(self) -> str:
        return self._server.host

    def describe(self) -> str:
        return f"{self._server.name} ({self._server.host})"

    def release(self) -> None:
        """It holds nothing here."""


class RemoteTokenizer:
    """Texts as the numbers of their characters, and back; and the tokens that a server names where it gives log probabilities."""

    bos_id: int | None = None
    vocab_size = 0
    special_tokens: Mapping[str, str] = {}
    markers: frozenset[str] = frozenset()
    around: tuple[Sequence[int], Sequence[int]] = ((), ())

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._ids: dict[bytes, int] = {}
        self._tokens: list[bytes] = []

    def encode(
        self, text: str, add_special: bool = True, *, parse_special: bool = True, most: int | None = None
    ) -> list[int]:
        return [ord(character) for character in text]

    def beginning(self, text: str, most: int) -> list[int]:
        return self.encode(text)

    def decode(self, ids: Sequence[int], skip_special: bool = True, at_start: bool = True) -> str:
        return b"".join(map(self.bytes_of, ids)).decode("utf-8", "replace")

    def id(self, token: str) -> int | None:
        return None

    def is_special(self, id: int) -> bool:
        return False

    def bytes_of(self, id: int) -> bytes:
        if id < _TOKENS:
            return chr(id).encode("utf-8", "replace")
        with self._guard:
            return self._tokens[id - _TOKENS]

    def named(self, text: str, data: Sequence[int] | None) -> int:
        """The id here of a token that a server names."""
        token = bytes(data) if data else text.encode("utf-8", "replace")
        with self._guard:
            if (known := self._ids.get(token)) is not None:
                return known
            if len(self._tokens) >= _MOST_TOKENS:
                raise BadRequest("The server names more tokens than a vocabulary has.", "logprobs")
            self._tokens.append(token)
            return self._ids.setdefault(token, _TOKENS + len(self._tokens) - 1)


class RemoteVision:
    """Images are only encoded; what becomes of them is the server's part."""

    line_strips = None
    placeholder_ids: Sequence[int] = ()
    max_pixels = 0

    def prepare(self, image: Any) -> EncodedPicture:
        return encoded_picture(image)

    def note(self, image: Any) -> str | None:
        return None

    def expand(self, ids: Sequence[int], pictures: Sequence[Any]) -> Any:
        raise Unsupported("Images go with a conversation, not with a text to continue.", "images")
