"""Talking with a model, for Python and for the command line: ears, a model that chats and a voice on one engine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

import numpy as np

from app.sdk.opening import open_engine
from engine.loading import LoadedModel, LoadOptions
from engine.pipelines.listening.transcription import Captions, Transcriber, asr_model
from engine.pipelines.prompt import chat_prompt
from engine.pipelines.speaking.long_form import SpeechOptions, SpeechQueue
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import SavedVoices
from engine.pipelines.voice_chat import Message, TalkEvent, VoiceChat
from engine.settings import Settings
from engine.starter import GUIDE
from engine.text.reasoning import Piece, ReasoningSplitter
from engine.types import Failed, SamplingParams, Text


class Talker:
    """Three models with an engine of their own. Close it, or use it in a `with` block.

    `ears` listens, `voice_model` speaks in `voice` (a preset or a saved one), `model` answers; `sampling` is how
    (max_tokens, temperature, ...).
    """

    def __init__(self, *, ears: str, voice_model: str, model: str = GUIDE, voice: str | None = None, language: str = "auto",
                 instructions: str | None = None, system: str | None = None, wishes: SpeechOptions | None = None,
                 options: LoadOptions | None = None, settings: Settings | None = None, voices: SavedVoices | None = None,
                 **sampling: Any) -> None:  # fmt: skip
        self._sampling = SamplingParams(**sampling)
        wishes = wishes or SpeechOptions()
        # all conversations have the same voice
        self._wishes = replace(wishes, seed=secrets.randbits(31) if wishes.seed is None else wishes.seed)
        self._system, self.model = system, model
        self.engine, loaded = open_engine(ears, options, settings)
        try:
            self._listener = Transcriber(self.engine, asr_model(ears, loaded[ears]))
            self.engine.load(model)
            self._loaded = cast(LoadedModel, loaded[model])
            self._voice = speaker(self.engine, voice_model)
            self._manner = (voices or SavedVoices()).settings(voice, self._voice.presets, language, instructions)
            self._voice.check(self._manner)
        except BaseException:
            self.engine.close()
            raise

    @property
    def rate(self) -> int:
        """Of the voice's samples."""
        return self._voice.rate

    def open(self, messages: Sequence[Message] = ()) -> VoiceChat:
        """A conversation, to be fed with samples at 16 kHz as they are recorded: see `engine.pipelines.voice_chat`."""
        captions = Captions(self.engine, self._listener)
        mouth = SpeechQueue(self._voice, self._manner, self._wishes)
        return VoiceChat(captions, self._chat, mouth, mouth.rate, messages, stop_voice=mouth.stop)

    def talk(self, sound: Iterable[np.ndarray], messages: Sequence[Message] = ()) -> Iterator[TalkEvent]:
        """What happens while `sound` comes in: pieces at 16 kHz, as a microphone gives them, empty ones where there is
        nothing new. When it ends the last reply is still made. Closing the iterator stops the voice."""
        talk = self.open(messages)
        try:
            for samples in sound:
                yield from talk.feed(samples)
            yield from talk.finish()
        finally:
            talk.interrupt()

    def _chat(self, messages: Sequence[Message]) -> Iterator[str]:
        told = [{"role": "system", "content": self._system}, *messages] if self._system else list(messages)
        prompt = chat_prompt(self._loaded, told, enable_thinking=False)
        splitter = ReasoningSplitter.after_prompt(prompt.text)  # some models think all the same: aloud nobody wants it
        handle = self.engine.submit(prompt.request(self.model, self._sampling))
        try:
            for event in handle:
                if isinstance(event, Failed):
                    raise event.error
                if isinstance(event, Text):
                    yield from _answer(splitter.push(event.text))
            yield from _answer(splitter.flush())
        finally:
            handle.cancel()

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Talker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _answer(pieces: Iterable[Piece]) -> Iterator[str]:
    for piece in pieces:
        if piece.kind == "answer" and piece.text:
            yield piece.text
