"""Captions while somebody speaks: partial text, then final text, whatever the size of the pieces."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pipelines.listening.transcription import Captions
from tests.engine.pipelines.listening.conftest import RATE, talk


def caption(ears, pieces):
    captions = Captions(ears.service, ears.listener)
    made = [one for piece in pieces for one in captions.feed(piece)]
    return made + captions.finish(), captions


@pytest.mark.parametrize("size", [160, 1600, 5000])
def test_pieces_of_any_size(ears, size):
    sound = talk(2)
    made, captions = caption(ears, np.split(sound, range(size, len(sound), size)))
    final = [one for one in made if one.final]
    whole = ears.listen(sound, rate=RATE)
    assert len(final) == len(whole.segments) == 2
    for one, other in zip(final, whole.segments):
        assert one.segment.end == pytest.approx(other.end, abs=0.2)
    assert any(not one.final for one in made)
    assert [one.final for one in made[-1:]] == [True]
    assert not captions.speaking


def test_old_sound_is_forgotten(ears):
    sound = talk(2)
    _, captions = caption(ears, np.split(np.concatenate([sound] * 3), range(1600, 3 * len(sound), 1600)))
    assert len(captions._kept) < 3 * RATE


def test_speech_that_goes_on_at_the_end_becomes_final(ears):
    sound = talk(1)[: int(1.9 * RATE)]
    made, _ = caption(ears, [sound])
    assert made[-1].final
    assert made[-1].segment.text
