"""Voxtral from a sound to its transcript, with a tiny random model: the prompt, languages, times by Grus's own cutting, captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import grus
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.listening.transcription import ListenOptions
from engine.pipelines.listening.voxtral import VoxtralTranscriber
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import sound
from tests.voxtral_checkpoints import WINDOW, features, save_voxtral, voxtral_id, voxtral_reference

BEFORE = "<s>[INST][BEGIN_AUDIO]"


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = save_voxtral(tmp_path_factory.mktemp("ears") / "voxtral")
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu", dtype="f32")) as made:
        yield made


def transcriber(ears: grus.Ears) -> VoxtralTranscriber:
    assert isinstance(ears.listener, VoxtralTranscriber)
    return ears.listener


def written(ears: grus.Ears, ids: Sequence[int]) -> str:
    return "".join(ears.listener.model.bytes_of(id).decode("latin-1") for id in ids)


@pytest.mark.parametrize(
    ("language", "seconds", "windows", "named"),
    [(None, 2.0, 1, ""), ("auto", 30.0, 1, ""), ("en", 0.1, 1, "lang:en"), ("hi", 30.1, 2, "lang:hi")],
)
def test_the_prompt_is_the_references(
    ears: grus.Ears, language: str | None, seconds: float, windows: int, named: str
) -> None:
    """As mistral-common, which the reference's processor asks, writes a transcription request."""
    own = transcriber(ears)
    heard = own._ears.sound(np.zeros(int(seconds * RATE), np.float32))
    ids, places = own.prompt(heard, ListenOptions(language))
    assert written(ears, ids) == BEFORE + "[AUDIO]" * (WINDOW * windows) + "[/INST]" + named + "[TRANSCRIBE]"
    assert places == list(range(3, 3 + WINDOW * windows))


def test_a_sound_of_two_windows_is_heard_as_the_reference_hears_it(ears: grus.Ears) -> None:
    """The window that the sound ends in, and the one before it, through the engine."""
    own, samples = transcriber(ears), sound(31.0)
    heard = own._ears.sound(samples)
    wanted = features(samples).numpy()
    assert np.abs(heard.patches.reshape(2, 3000, 128).transpose(0, 2, 1) - wanted).max() < 1e-4
    ids, _ = own.prompt(heard, ListenOptions("en"))
    made = list(own.submit(samples, ListenOptions("en")).result().ids)[:16]
    given: dict[str, Any] = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
    with torch.no_grad():
        out = voxtral_reference().generate(
            **given, input_features=torch.from_numpy(wanted), max_new_tokens=len(made), do_sample=False
        )[0, len(ids) :]
    assert len(set(made)) > 4
    assert made == out.tolist()[: len(made)]


def test_times_are_those_of_the_speech_that_was_found(ears: grus.Ears) -> None:
    heard = ears.listen(talk(2), rate=RATE, language="fr")
    assert heard.language == "fr"
    assert len(heard.segments) == 2
    assert every(segment.text and 0 < segment.confidence <= 1 and segment.tokens for segment in heard.segments)
    assert heard.segments[0].end < heard.segments[1].start
    assert ears.listen(talk(1), rate=RATE).language == "und"


@pytest.mark.parametrize(("given", "message"), [
    (dict(language="xx"), "code of two letters"),
    (dict(translate=True), "does not translate"),
    (dict(words=True), "no times of words"),
    (dict(prompt="Grus"), "takes no prompt"),
])  # fmt: skip
def test_what_it_cannot(ears: grus.Ears, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        ears.listen(talk(1), rate=RATE, **given)


def test_a_loop_is_asked_again_in_the_same_language(ears: grus.Ears) -> None:
    own, asked = transcriber(ears), list[ListenOptions | None]()

    class Looping:
        text, logprobs = "so " * 9, ()

        def result(self) -> Any:
            return self

    def submit(samples: np.ndarray, options: ListenOptions | None = None, **more: Any) -> Any:
        asked.append(options)
        return Looping()

    own.submit = submit  # type: ignore[method-assign]
    try:
        (made,) = own.finished(np.zeros(RATE, np.float32), 0.0, Looping(), ListenOptions("de"))
    finally:
        del own.submit  # type: ignore[method-assign]
    assert asked == [ListenOptions("de")]
    assert (made.text, made.doubtful) == ("so", True)


def test_a_tokenizer_without_the_task_is_one_sentence(ears: grus.Ears) -> None:
    class Without:
        def id(self, token: str) -> int | None:
            return None if token == "[TRANSCRIBE]" else voxtral_id(token)

    own = transcriber(ears)
    with pytest.raises(grus.GrusError, match=r"no token \[TRANSCRIBE\]"):
        VoxtralTranscriber(own._engine, own.model, Without(), own._ears)
