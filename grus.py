"""Grus from Python, in one page.

    import grus

    print(grus.chat("How do I read a PDF?"))  # the Guide, a tiny model that comes with Grus and knows only Grus
    print(grus.chat("Why is the sky blue?", model="Qwen/Qwen3-0.6B"))

    print(grus.chat("What is in this picture?", images=["cat.jpg"], model="Qwen/Qwen3-VL-2B-Instruct"))

    print(grus.read("letter.jpg").markdown)

    vectors = grus.embed(["The sea is blue.", "Bread is baked."], model="sentence-transformers/all-MiniLM-L6-v2")
    best, *_ = grus.rerank("What colour is the sea?", ["The sea is blue.", "Bread."], model="BAAI/bge-reranker-v2-m3")

    def weather(city: str) -> str:
        "The weather in a city."
        return "Sunny"

    print(grus.agent("Do I need an umbrella in Paris?", [weather], model="Qwen/Qwen3-4B"))

    with grus.load("Qwen/Qwen3-0.6B") as model:
        for piece in model.stream("Tell me a story."):
            print(piece, end="", flush=True)
        print(model.run("The capital of France is", raw=True, max_tokens=5).text)

A model that `chat` or `run` loaded stays loaded until the process ends or `grus.unload` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.runtime.catalogue import capabilities, main_use
from app.runtime.chat import ChatRequest, Effort, PreparedChat, ReplyCall, ReplyCollector, ReplyParser, prepare
from app.runtime.models import Loaded, ServiceOwner, closed_on_error, open_models
from app.runtime.reading import Read, forget_readers, read, read_all
from app.runtime.tools.loop import ROUNDS, Approve, ModelReply, ToolEvent, ToolLoop, ToolRun, ToolStep
from app.runtime.tools.permissions import Permissions
from app.runtime.tools.tool import PythonTool, Tool
from app.runtime.tools.toolbox import Toolbox
from app.runtime.vectors import EmbeddingModel, RankedDocument
from app.runtime.voice import (
    Ears,
    Sound,
    Speaker,
    Spoken,
    Talker,
    VoiceActivity,
    chosen_chapters,
    pronunciations_of,
)
from engine.errors import BadRequest, GrusError, MissingCapability, UnsupportedArchitecture
from engine.loading import LoadedModel, LoadOptions
from engine.media.audiobook_file import audiobook_ending
from engine.pipelines.listening.transcript import Transcript
from engine.pipelines.listening.voice_activity import SpeechSpan
from engine.pipelines.prompt import Prompt, text_prompt
from engine.pipelines.reading.book import open_book
from engine.pipelines.speaking.audiobook import BookProgress, MadeBook
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.speaking.voice import Clone
from engine.pipelines.voice_chat import TalkEvent
from engine.speculation import same_vocabulary
from engine.starter import GUIDE, SYSTEM
from engine.types import Done, Event, Failed, RequestHandle, Result, SamplingParams, Settings, Text
from engine.vision.processor import seeing

__all__ = [
    "Answer",
    "Ears",
    "EmbeddingModel",
    "GrusError",
    "Model",
    "RankedDocument",
    "Read",
    "Speaker",
    "SpeechSpan",
    "Spoken",
    "Talker",
    "ToolRun",
    "ToolStep",
    "VoiceActivity",
    "agent",
    "batch",
    "chat",
    "embed",
    "listen",
    "load",
    "read",
    "read_all",
    "rerank",
    "run",
    "speak",
    "speak_book",
    "speech_spans",
    "talk",
    "unload",
]

# models that are loaded as those that write are, and have another use
_NO_TEXT = {
    "listen": "listens, and answers no text. Give it to grus listen, or in Python to grus.Ears.",
    "speak": "speaks, and writes no text. Give it to grus speak, or in Python to grus.Speaker.",
}

Messages = str | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Answer:
    """A finished reply. `text` is all that the model wrote; `answer` is what remains without reasoning and tool calls.
    `result` has its timings and why it ended, `prompt` what the model read."""

    text: str
    prompt: Prompt
    result: Result
    answer: str = ""
    reasoning: str = ""
    tool_calls: Sequence[ReplyCall] = ()

    def __str__(self) -> str:
        return self.text


class Model(ServiceOwner):
    """A loaded model with an engine of its own. Close it, or use it in a `with` block. `SERVER::MODEL` is a model of a server
    elsewhere that `grus remote add` keeps."""

    loaded: LoadedModel

    def __init__(
        self,
        name: str,
        options: LoadOptions | None = None,
        settings: Settings | None = None,
        profile: Path | None = None,
        adapters: Mapping[str, str | Path] | None = None,
    ) -> None:
        """`profile`: the file that gets a Chrome trace of the engine's work at the end. `adapters`: LoRA adapters that a prompt may
        choose, by name: folders, GGUF files or repository ids. `LoadOptions.merged` has those that become part of the model."""
        self.name = name
        self.adapters = own = {adapter: str(place) for adapter, place in (adapters or {}).items()}
        self.service = open_models(
            [name], options, settings, profile=profile, accept=self._accept, adapters={name: own}
        )
        with closed_on_error(self.service):
            self.loaded = accepted(
                name, self.service.load_now(name)
            )  # one elsewhere is not loaded, and so not accepted yet
            for adapter in own:
                self.service.load_now(f"{name}:{adapter}")

    def _accept(self, source: str, loaded: Loaded) -> None:
        """Raises for a model that writes no text, and for a draft model of another vocabulary."""
        if source == self.name:
            self.loaded = accepted(source, loaded)
        elif isinstance(loaded, LoadedModel) and not same_vocabulary(loaded, self.loaded):
            raise BadRequest(f"{source} cannot draft for {self.name}: their vocabularies differ.", "draft")

    def prepare(
        self,
        prompt: Messages,
        sampling: SamplingParams | None = None,
        *,
        raw: bool = False,
        system: str | None = None,
        images: Sequence[Any] = (),
        sounds: Sequence[Any] = (),
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool | None = None,
        effort: Effort | None = None,
        thinking_budget: int | None = None,
        variables: Mapping[str, Any] | None = None,
        adapter: str | None = None,
    ) -> PreparedChat:
        """The engine's request for a prompt, and the parser of its reply. `raw`: no chat template.

        `images` come before a prompt that is one string: paths, Pillow images, arrays or bytes of files. In messages they
        are parts, `{"type": "image", "image": Path("cat.jpg")}`. So do `sounds`, which a model with ears hears: paths, bytes of files, or
        mono samples at 16 kHz (`{"type": "audio", "audio": ...}`). `tools` have OpenAI's shape.
        `effort` is that of the reasoning, and `thinking_budget` the tokens after which it is closed. `adapter`: one of the
        model's, which answers.
        """
        name = self._served(adapter)
        params = sampling or SamplingParams()
        if raw:
            if not isinstance(prompt, str) or system is not None or images or sounds:
                raise TypeError("A raw prompt is one string, without a system prompt and without images.")
            read = text_prompt(self.loaded, prompt)
            return PreparedChat(read.request(name, params), ReplyParser(), read, self.loaded)
        if isinstance(prompt, str):
            messages: list[Mapping[str, Any]] = [{"role": "user", "content": with_images(prompt, images, sounds)}]
        else:
            if images or sounds:
                raise TypeError("Images and sounds go with one string. In messages they are parts of the content.")
            messages = list(prompt)
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        chat = ChatRequest(
            messages,
            params,
            tools=tools,
            thinking=thinking,
            effort=effort,
            reasoning_tokens=thinking_budget,
            variables=variables or {},
        )
        return prepare(chat, self.loaded, name)

    def _served(self, adapter: str | None) -> str:
        """The model's name with an adapter, as the service knows it."""
        if adapter is None:
            return self.name
        if adapter not in self.adapters:
            have = ", ".join(self.adapters) or "none"
            raise BadRequest(f"{self.name} has no adapter {adapter[:200]!r}. It has: {have}.", "adapter")
        return f"{self.name}:{adapter}"

    def prompt(
        self,
        prompt: Messages,
        *,
        raw: bool = False,
        system: str | None = None,
        images: Sequence[Any] = (),
        tools: Sequence[Mapping[str, Any]] = (),
        **variables: Any,
    ) -> Prompt:
        """What the model would read: the same as for `prepare`."""
        return self.prepare(prompt, raw=raw, system=system, images=images, tools=tools, variables=variables).prompt

    def submit(self, prompt: Prompt, sampling: SamplingParams | None = None) -> RequestHandle:
        """Start a request; its events are read from the handle."""
        return self.service.submit(prompt.request(self.name, sampling))

    def run(
        self,
        prompt: Messages,
        *,
        raw: bool = False,
        system: str | None = None,
        images: Sequence[Any] = (),
        sounds: Sequence[Any] = (),
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool | None = None,
        variables: Mapping[str, Any] | None = None,
        adapter: str | None = None,
        **sampling: Any,
    ) -> Answer:
        """Answer one prompt. `sampling`: max_tokens, temperature, top_p, seed, stop, ... (see SamplingParams)."""
        prepared = self.prepare(
            prompt, SamplingParams(**sampling), raw=raw, system=system, images=images, sounds=sounds, tools=tools,
            thinking=thinking, variables=variables, adapter=adapter,
        )  # fmt: skip
        return _answer(prepared, self.service.submit(prepared.request))

    def tool_loop(
        self,
        ask: Callable[[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], ModelReply],
        tools: Sequence[Tool],
        approve: Approve | None = None,
        rounds: int = ROUNDS,
        on_event: Callable[[ToolEvent], None] = lambda event: None,
    ) -> ToolLoop:
        """A loop whose results from outside hold none of this model's markers. `ask` gets a reply for messages and tools."""
        sees = seeing(self.loaded.vision)
        return ToolLoop(
            ask, tools, approve, rounds, on_event=on_event, markers=self.loaded.tokenizer.markers, sees=sees
        )

    def stream(
        self,
        prompt: Messages,
        *,
        raw: bool = False,
        system: str | None = None,
        images: Sequence[Any] = (),
        sounds: Sequence[Any] = (),
        variables: Mapping[str, Any] | None = None,
        adapter: str | None = None,
        **sampling: Any,
    ) -> Iterator[str]:
        """The answer in pieces, as it is made. Closing the iterator stops the model."""
        params = SamplingParams(**sampling)
        prepared = self.prepare(
            prompt, params, raw=raw, system=system, images=images, sounds=sounds, variables=variables, adapter=adapter
        )
        handle = self.service.submit(prepared.request)
        try:
            for event in handle:
                if isinstance(event, Failed):
                    raise event.error
                if isinstance(event, Text) and event.text:
                    yield event.text
        finally:
            handle.cancel()

    def batch(
        self,
        prompts: Sequence[Messages],
        *,
        raw: bool = False,
        system: str | None = None,
        adapter: str | Sequence[str | None] | None = None,
        **sampling: Any,
    ) -> list[Answer]:
        """Answer many prompts together, in their order. `adapter`: one for all prompts, or each prompt's (None: the model's own
        weights)."""
        params = SamplingParams(**sampling)
        chosen = [adapter] * len(prompts) if adapter is None or isinstance(adapter, str) else adapter
        prepared = [
            self.prepare(prompt, params, raw=raw, system=system, adapter=one)
            for prompt, one in zip(prompts, chosen, strict=True)
        ]
        results = self.service.batch([one.request for one in prepared])
        return [_answer(one, result) for one, result in zip(prepared, results)]


def _answer(prepared: PreparedChat, made: Result | RequestHandle) -> Answer:
    collector = ReplyCollector()
    id = prepared.request.id
    events: Iterable[Event] = made if isinstance(made, RequestHandle) else _as_events(id, made)
    for event in events:
        for part in prepared.reader.read(event):
            collector.add(part)
    result = made if isinstance(made, Result) else made.result()
    (message, *_) = collector.messages()
    return Answer(result.text, prepared.prompt, result, message.answer, message.reasoning, tuple(message.calls))


def _as_events(id: str, result: Result) -> Iterable[Event]:
    return Text(id, result.text, result.ids), Done(id, result.reason, result.timings)


def accepted(name: str, loaded: Loaded) -> LoadedModel:
    """Raises for one that writes no text."""
    if not isinstance(loaded, LoadedModel):
        raise UnsupportedArchitecture(
            f"{name} has the architecture `{loaded.config['model_type']}`: it writes no text."
        )
    found = capabilities(loaded.config)
    if "chat" not in found and (other := _NO_TEXT.get(main_use(found))) is not None:
        raise MissingCapability(f"{name} {other}", "chat")
    return loaded


def with_images(text: str, images: Sequence[Any], sounds: Sequence[Any] = ()) -> str | list[dict[str, Any]]:
    """A message's content. A string among the images and sounds is a path."""
    if not images and not sounds:
        return text
    given = [("image", image) for image in images] + [("audio", sound) for sound in sounds]
    parts = [{"type": kind, kind: Path(one) if isinstance(one, str) else one} for kind, one in given]
    return [*parts, {"type": "text", "text": text}]


_kept: dict[tuple[str, LoadOptions], Model] = {}
_vectors: dict[tuple[str, LoadOptions], EmbeddingModel] = {}
_ears: dict[tuple[str, LoadOptions], Ears] = {}
_speakers: dict[tuple[str, LoadOptions], Speaker] = {}
_activity: dict[LoadOptions, VoiceActivity] = {}


def load(
    model: str = GUIDE,
    settings: Settings | None = None,
    adapters: Mapping[str, str | Path] | None = None,
    **options: Any,
) -> Model:
    """Load a folder or a repository id. `adapters`: see `Model`. `options`: fields of `LoadOptions`, such as backend, device, dtype,
    quant, memory_limit, cache_dir, download; tensor_parallel, replicas and devices, for several devices."""
    return Model(model, LoadOptions(**options), settings, adapters=adapters)


def _keep(model: str, options: Mapping[str, Any]) -> Model:
    key = (model, LoadOptions(**options))
    if key not in _kept:
        _kept[key] = load(model, **options)
    return _kept[key]


def chat(prompt: Messages, *, model: str = GUIDE, options: Mapping[str, Any] | None = None, **parameters: Any) -> str:
    """The answer to one message or one conversation."""
    return _keep(model, options or {}).run(prompt, **parameters).text


def run(prompt: Messages, *, model: str = GUIDE, options: Mapping[str, Any] | None = None, **parameters: Any) -> Answer:
    """The same as `chat`, with reasoning, tool calls, timings and why it ended."""
    return _keep(model, options or {}).run(prompt, **parameters)


def agent(
    prompt: Messages,
    tools: Sequence[Callable[..., Any] | str],
    *,
    model: str,
    system: str | None = None,
    approve: Approve | None = None,
    rounds: int = ROUNDS,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> ToolRun:
    """An answer for which the model may call tools: `.answer`, `.steps` with every call and its result, and `.messages`, to go on from.

    `tools`: plain Python functions, and names of what `grus tools add` added: "server", "server/tool", "calculator". A function
    runs unless `approve(name, arguments)`, which is asked before each call, says otherwise: False refuses it, a dict replaces the
    arguments. An added tool runs where `approve` allows it, or where it was set to always run; one that was set to never run never
    does. After `rounds` replies with calls the model must answer without tools. `parameters`: as for `run`."""
    loaded = _keep(model, options or {})

    def ask(messages: Sequence[Mapping[str, Any]], offered: Sequence[Mapping[str, Any]]) -> ModelReply:
        reply = loaded.run(messages, system=system, tools=offered, **parameters)
        return ModelReply(reply.answer, reply.tool_calls)

    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    with Toolbox(only=[one for one in tools if isinstance(one, str)]) as box:
        found = [*(PythonTool(one) for one in tools if not isinstance(one, str)), *box.tools]
        return loaded.tool_loop(ask, found, Permissions.of_program(box.settings, found, approve), rounds).run(messages)


def batch(
    prompts: Sequence[Messages], *, model: str = GUIDE, options: Mapping[str, Any] | None = None, **parameters: Any
) -> list[Answer]:
    """Answer many prompts together, in their order."""
    return _keep(model, options or {}).batch(prompts, **parameters)


def embed(
    texts: str | Sequence[str], *, model: str, options: Mapping[str, Any] | None = None, **parameters: Any
) -> np.ndarray:
    """Vectors of length one that stand for texts, `[texts, dimensions]`; of one text `[dimensions]`. `parameters`: prompt (the name
    of one of the model's prompts), dimensions, truncate."""
    made = _vectors_of(model, options).embed([texts] if isinstance(texts, str) else texts, **parameters)
    vectors: np.ndarray = made[0] if isinstance(texts, str) else made
    return vectors


def rerank(
    query: str, documents: Sequence[str], *, model: str, options: Mapping[str, Any] | None = None, **parameters: Any
) -> list[RankedDocument]:
    """The documents that fit the query best, best first: `.index`, `.score`, `.text`. `parameters`: top, instruction."""
    return _vectors_of(model, options).rank(query, documents, **parameters)


def _vectors_of(model: str, options: Mapping[str, Any] | None) -> EmbeddingModel:
    key = (model, LoadOptions(**(options or {})))
    if key not in _vectors:
        _vectors[key] = EmbeddingModel(*key)
    return _vectors[key]


def listen(sound: Sound, *, model: str, options: Mapping[str, Any] | None = None, **parameters: Any) -> Transcript:
    """What is said in a sound: `.text`, and `.segments` with their times. `parameters`: rate, language, words,
    translate, prompt, track, start, progress."""
    key = (model, LoadOptions(**(options or {})))
    if key not in _ears:
        _ears[key] = Ears(*key)
    return _ears[key].listen(sound, **parameters)


def speech_spans(sound: Sound, *, options: Mapping[str, Any] | None = None, **parameters: Any) -> list[SpeechSpan]:
    """Where somebody speaks in a sound, in seconds; no model is needed for it. `parameters`: rate, threshold,
    min_speech_seconds, min_silence_seconds, pad_seconds."""
    key = LoadOptions(**(options or {}))
    if key not in _activity:
        _activity[key] = VoiceActivity(key)
    return list(_activity[key].find(sound, **parameters).spans)


def speak(
    text: str,
    out: str | Path | None = None,
    *,
    model: str = SYSTEM,
    voice: str | Clone | None = None,
    language: str = "auto",
    instructions: str | None = None,
    pronunciations: str | Path | Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Spoken:
    """A text as sound, in a voice of the operating system where no `model` is named: `.samples`, `.rate`, `.save(path)`; written to `out` where that is given. `pronunciations`: a file with lines such as `SQL = sequel`, or a dictionary. `parameters`: speed, seed,
    temperature, spell, markdown."""
    speaker = _speaker(model, options)
    speech = SpeechOptions(pronunciations=pronunciations_of(pronunciations), **parameters)
    spoken = speaker.say(text, speaker.voice_settings(voice, language, instructions), speech)
    if out is not None:
        spoken.save(out)
    return spoken


def speak_book(
    book: str | Path,
    out: str | Path | None = None,
    *,
    model: str = SYSTEM,
    voice: str | Clone | None = None,
    language: str = "auto",
    instructions: str | None = None,
    speakers: Mapping[str, str | Clone] | None = None,
    pronunciations: str | Path | Mapping[str, str] | None = None,
    chapters: str | None = None,
    heading_level: int | None = None,
    cover: str | Path | None = None,
    per_chapter: bool = False,
    subtitles: bool = False,
    restart: bool = False,
    progress: Callable[[BookProgress], None] = lambda progress: None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> MadeBook:
    """An audiobook of an epub, PDF, docx, Markdown or text file: `.files`, `.chapters` with their times, `.seconds`. `out` ends in m4b,
    m4a, mp3 or opus; without it, an m4b in the current folder. `speakers`: a voice for each name that stands in square brackets in
    the text. `chapters`: such as `2-5,9`. A call that was interrupted, even by a kill, is continued by the same call. The rest is as for
    `speak` and `Speaker.speak_book`."""
    opened = chosen_chapters(open_book(book, heading_level), chapters, cover)
    target = Path(out) if out is not None else Path(f"{Path(book).stem}.m4b")
    audiobook_ending(target)  # before a model is loaded
    speech = SpeechOptions(pronunciations=pronunciations_of(pronunciations), **parameters)
    return _speaker(model, options).speak_book(
        opened, target, speech, voice=voice, language=language, instructions=instructions, speakers=speakers,
        per_chapter=per_chapter, subtitles=subtitles, restart=restart, progress=progress,
    )  # fmt: skip


def _speaker(model: str, options: Mapping[str, Any] | None) -> Speaker:
    key = (model, LoadOptions(**(options or {})))
    if key not in _speakers:
        _speakers[key] = Speaker(*key)
    return _speakers[key]


def talk(
    sound: Iterable[np.ndarray],
    *,
    ears: str,
    voice_model: str = SYSTEM,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Iterator[TalkEvent]:
    """A conversation by voice: what happens while `sound` comes in, pieces at 16 kHz as a microphone gives them. Events
    tell what is heard, each sentence of the reply, its sound, and that the person spoke, which stops the voice. `parameters`:
    model, voice, language, instructions, system, and how the model answers (see `Talker`). The models are let go at the end."""
    with Talker(ears=ears, voice_model=voice_model, options=LoadOptions(**(options or {})), **parameters) as talker:
        yield from talker.talk(sound)


def unload() -> None:
    """Let go of every model that `chat`, `run`, `batch`, `embed`, `rerank`, `read`, `listen`, `speech_spans` and `speak` have kept loaded."""
    forget_readers()
    while _kept:
        _kept.popitem()[1].close()
    while _vectors:
        _vectors.popitem()[1].close()
    while _ears:
        _ears.popitem()[1].close()
    while _activity:
        _activity.popitem()[1].close()
    while _speakers:
        _speakers.popitem()[1].close()
