"""Voices known again: vectors of a recording's speakers, who they are, and what stays open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from app.runtime.models import ModelService, open_models
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.media.sound import from_array
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord
from engine.pipelines.listening.voice_prints import (
    THRESHOLD,
    VoicePrint,
    joined,
    recognized,
    reference_prints,
    renamed,
    speaker_prints,
)
from tests.wavlm_checkpoints import RATE, save_wavlm, voice


@pytest.fixture(scope="module", params=["torch", "mlx"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelService]:
    folder = str(save_wavlm(tmp_path_factory.mktemp("prints") / "wavlm", separates_voices=True))
    with closing(open_models([folder], LoadOptions(backend=request.param, device="cpu"))) as made:
        made.load_now(folder)
        yield made


def name_of(service: ModelService) -> str:
    return service.catalogue.all()[0].name


def spoken(start: float, end: float, speaker: str) -> TranscriptSegment:
    return TranscriptSegment(
        start, end, "Words.", words=(TranscriptWord("Words.", start, end, speaker),), speaker=speaker
    )


def test_two_voices_are_known_again_in_the_next_recording_in_another_order(service: ModelService) -> None:
    model = name_of(service)
    first = np.concatenate((voice("low", 3, 1), voice("high", 3, 2), voice("low", 2, 3)))
    second = np.concatenate((voice("high", 4, 4), voice("low", 2.5, 5)))
    before = speaker_prints(
        service,
        model,
        from_array(first, RATE, RATE),
        [spoken(0, 3, "Anna"), spoken(3, 6, "Bert"), spoken(6, 8, "Anna")],
    )
    assert {name: one.seconds for name, one in before.prints.items()} == {"Anna": 5.0, "Bert": 3.0}
    after = speaker_prints(
        service, model, from_array(second, RATE, RATE), [spoken(0, 4, "Speaker 1"), spoken(4, 6.5, "Speaker 2")]
    )
    assert after.mark == before.mark
    assert recognized(after.prints, before.prints) == {"Speaker 1": "Bert", "Speaker 2": "Anna"}
    between = float(before.prints["Anna"].vector @ before.prints["Bert"].vector)
    assert between < THRESHOLD - 0.1, between


def test_who_says_too_little_has_no_vector(service: ModelService) -> None:
    sound = from_array(voice("low", 2, 1), RATE, RATE)
    made = speaker_prints(
        service, name_of(service), sound, [spoken(0, 1.5, "A"), spoken(1.5, 1.505, "B"), spoken(9, 10, "C")]
    )
    assert set(made.prints) == {"A"}
    with pytest.raises(BadRequest, match="too short"):
        reference_prints(service, name_of(service), {"Eva": np.zeros(40, np.float32)})


def of(*values: float) -> VoicePrint:
    vector = np.array(values, np.float32)
    return VoicePrint(vector / np.linalg.norm(vector), 1.0)


def test_what_is_ambiguous_stays_open() -> None:
    anna, bert = of(1, 0, 0), of(0, 1, 0)
    known = {"Anna": anna, "Bert": bert}
    assert recognized({"Speaker 1": of(1, 0.1, 0), "Speaker 2": of(0, 0.1, 1)}, known) == {"Speaker 1": "Anna"}
    near = {"Anna": of(1, 0.1, 0), "Anton": of(1, -0.1, 0)}  # both are as near
    assert recognized({"Speaker 1": of(1, 0, 0)}, near) == {}
    assert recognized({"Speaker 1": of(1, 0.1, 0), "Speaker 2": of(1, 0, 0.1)}, {"Anna": anna}) == {}
    assert recognized({"Speaker 1": of(1, 0, 0), "Speaker 2": of(1, 0.5, 0)}, {"Anna": anna}) == {"Speaker 1": "Anna"}
    assert recognized({"Speaker 1": anna}, {}) == {}


def test_a_longer_recording_counts_more() -> None:
    both = joined([VoicePrint(of(1, 0).vector, 3.0), VoicePrint(of(0, 1).vector, 1.0)])
    assert both.seconds == 4.0
    np.testing.assert_allclose(both.vector, of(3, 1).vector, atol=1e-6)


def test_words_have_the_name_too() -> None:
    made = renamed(spoken(0, 1, "Speaker 1"), {"Speaker 1": "Anna"})
    assert (made.speaker, made.words[0].speaker) == ("Anna", "Anna")


def test_a_model_of_another_kind_is_refused() -> None:
    from engine.pipelines.listening.voice_activity import VOICE_ACTIVITY

    with closing(open_models([VOICE_ACTIVITY], LoadOptions(device="cpu"))) as service:
        service.load_now(VOICE_ACTIVITY)
        with pytest.raises(BadRequest, match="does not know voices again"):
            reference_prints(service, VOICE_ACTIVITY, {"Eva": np.zeros(RATE, np.float32)})
