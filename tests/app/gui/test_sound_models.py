"""What is played, without a device: samples that grow, seeking, speed, parts, bars."""

from __future__ import annotations

import numpy as np
import pytest

from app.gui.viewmodels.playback import Playback

RATE = 8_000


def tone(seconds: float) -> np.ndarray:
    return np.sin(np.arange(int(seconds * RATE)) * 0.3).astype(np.float32)


def all_of(playback: Playback) -> np.ndarray:
    parts = []
    while playback.playing:
        parts.append(playback.take(512))
    return np.concatenate(parts)


def test_a_sound_is_played_to_its_end_and_then_from_the_beginning() -> None:
    playback = Playback()
    playback.show(tone(1), RATE)
    playback.play()
    assert np.array_equal(all_of(playback), tone(1))
    assert playback.position == pytest.approx(1.0)
    playback.play()
    assert playback.position == 0.0


def test_playing_begins_while_sound_is_still_made() -> None:
    playback = Playback()
    playback.begin(RATE)
    playback.put(tone(0.2))
    playback.play()
    assert len(playback.take(RATE)) == int(0.2 * RATE)
    assert len(playback.take(RATE)) == 0
    assert playback.playing  # more will come
    playback.put(tone(0.3))
    playback.finish()
    assert len(all_of(playback)) == int(0.3 * RATE)
    assert not playback.playing


def test_a_part_is_played_alone() -> None:
    playback = Playback()
    playback.show(tone(2), RATE)
    playback.play(0.5, 0.75)
    assert np.array_equal(all_of(playback), tone(2)[int(0.5 * RATE) : int(0.75 * RATE)])


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_speed_changes_the_length_and_keeps_the_place(speed: float) -> None:
    playback = Playback()
    playback.show(tone(4), RATE)
    playback.play(1.0)
    playback.take(RATE // 2)
    before = playback.position
    playback.set_speed(speed)
    assert playback.position == pytest.approx(before, abs=0.15)
    seconds = len(all_of(playback)) / RATE
    assert seconds == pytest.approx((4 - before) / speed, rel=0.15)


def test_bars_tell_where_it_is_loud() -> None:
    playback = Playback()
    playback.show(np.concatenate((np.zeros(RATE, np.float32), tone(1))), RATE)
    bars = playback.bars(10)
    assert (bars[:4] < 0.01).all()
    assert (bars[6:] > 0.9).all()
    assert len(Playback().bars(10)) == 10
