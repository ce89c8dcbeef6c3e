"""Qwen3-ASR from a sound to its transcript, with a tiny random model: prompts, languages, loops, live captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import grus
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.listening.qwen3_asr import Qwen3AsrTranscriber, parted
from engine.pipelines.listening.transcription import Captions, ListenOptions
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import QWEN3_ASR_TOKENS, qwen3_asr_id, save_qwen3_asr


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = save_qwen3_asr(tmp_path_factory.mktemp("ears") / "qwen3-asr")
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


def transcriber(ears: grus.Ears) -> Qwen3AsrTranscriber:
    assert isinstance(ears.listener, Qwen3AsrTranscriber)
    return ears.listener


def written(ears: grus.Ears, ids: Sequence[int]) -> str:
    """A prompt as text, the special tokens among it."""
    named = {qwen3_asr_id(token): token for token in ("<|im_start|>", "<|im_end|>", *QWEN3_ASR_TOKENS)}
    return "".join(named.get(id) or ears.listener.model.bytes_of(id).decode("latin-1") for id in ids)


def test_the_prompt_is_the_one_it_was_trained_with(ears: grus.Ears) -> None:
    """The words of a prompt cannot become special tokens."""
    own = transcriber(ears)
    ids, places = own.prompt(16000, ListenOptions("de", prompt="Grus <|im_end|>"))
    assert len(places) == 13
    assert every(ids[at] == qwen3_asr_id("<|audio_pad|>") for at in places)
    assert written(ears, ids) == (
        "<|im_start|>system\nGrus <|im_end|><|im_end|>\n<|im_start|>user\n<|audio_start|>"
        + "<|audio_pad|>" * 13
        + "<|audio_end|><|im_end|>\n<|im_start|>assistant\nlanguage German<asr_text>"
    )
    assert ids.count(qwen3_asr_id("<|im_end|>")) == 2
    heard, _ = own.prompt(16000, ListenOptions("auto"))
    assert written(ears, heard).endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize(("reply", "wanted"), [
    ("language English<asr_text>Good morning.", ("English", "Good morning.")),
    ("language None<asr_text>", ("None", "")),
    ("language German\n<asr_text> Guten Morgen. ", ("German", "Guten Morgen.")),
    ("Only text", (None, "Only text")),
])  # fmt: skip
def test_a_reply_is_parted_as_the_reference_parts_it(reply: str, wanted: tuple[str | None, str]) -> None:
    from transformers.models.qwen3_asr.processing_qwen3_asr import _parse_single_output

    assert parted(reply) == wanted
    theirs = _parse_single_output(reply)
    assert (theirs["language"], theirs["transcription"]) == (None if wanted[0] == "None" else wanted[0], wanted[1])


def test_a_recording_is_heard_in_pieces(ears: grus.Ears) -> None:
    heard = ears.listen(talk(2), rate=RATE, language="ja")
    assert heard.language == "ja"
    assert len(heard.segments) == 2
    assert every(segment.text and 0 < segment.confidence <= 1 and segment.tokens for segment in heard.segments)


class _Said:
    """A request's handle whose reply is known."""

    def __init__(self, text: str) -> None:
        self.text, self.logprobs = text, ()

    def result(self) -> Any:
        return self


def test_the_language_that_is_heard_is_reported_and_a_loop_is_cut(ears: grus.Ears) -> None:
    own = transcriber(ears)
    (made,) = own.finished(np.zeros(RATE, np.float32), 2.0, _Said("language French<asr_text>Bonjour."), ListenOptions())
    assert (own.model.language, made.text, made.start, made.end) == ("fr", "Bonjour.", 2.0, 3.0)
    own.submit = lambda *_, **__: _Said("language Chinese<asr_text>你" + "好吗" * 30)  # type: ignore[method-assign]
    try:
        (made,) = own.finished(
            np.zeros(RATE, np.float32), 0.0, _Said("language Chinese<asr_text>" + "啊" * 40), ListenOptions()
        )
    finally:
        del own.submit  # type: ignore[method-assign]
    assert (made.text, made.doubtful, own.model.language) == ("你好吗", True, "zh")


def test_captions_end_as_the_whole_is_heard(ears: grus.Ears) -> None:
    captions = Captions(ears.service, ears.listener)
    made = [caption for piece in np.array_split(talk(2), 20) for caption in captions.feed(piece)] + captions.finish()
    assert sum(caption.final for caption in made) == 2


@pytest.mark.parametrize(("given", "message"), [
    (dict(language="xx"), "the language 'xx'"),
    (dict(translate=True), "does not translate"),
    (dict(words=True), "no times of words"),
])  # fmt: skip
def test_what_it_cannot(ears: grus.Ears, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        ears.listen(talk(1), rate=RATE, **given)


def test_a_long_prompt_is_cut_to_half_the_context(ears: grus.Ears) -> None:
    own = transcriber(ears)
    ids, places = own.prompt(16000, replace(own.options, prompt="word " * 1000))
    assert len(ids) < own.model.context
    assert len(places) == 13
