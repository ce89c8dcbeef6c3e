"""Where passages meet: no larger step than they have themselves, and pauses that are what they are to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.pipelines.speaking.speech import PassageJoiner

RATE = 24000
FADE = 119  # steps
LOUD = 0.004


def largest_step(sound: np.ndarray) -> float:
    """From one sample to the next, out of the silence before it and into the silence behind it as well: a click is one that
    is larger than those around it."""
    return float(np.abs(np.diff(sound, prepend=0.0, append=0.0)).max())


def joined(passages, pauses=()):
    joints, made = PassageJoiner(RATE), []
    for i, chunks in enumerate(passages):
        if i:
            joints.pause(pauses[i - 1] if pauses else 0.0)
        made += joints.passage(chunks)
    return np.concatenate([np.zeros(0, np.float32), *made])


def tone(seconds=0.2, hertz=300.0, size=0.5, phase=0.0, offset=0.0):
    t = np.arange(int(seconds * RATE)) / RATE
    return (offset + size * np.cos(2 * np.pi * hertz * t + phase)).astype(np.float32)


def silence(seconds):
    return np.zeros(int(seconds * RATE), np.float32)


def gaps(sound):
    """Silences between what is loud, in seconds; only those that no tone's own passing through zero explains."""
    loud = np.flatnonzero(np.abs(sound) > LOUD)
    between = np.diff(loud) - 1
    return between[between > 0.03 * RATE] / RATE


tones = st.builds(
    tone, st.floats(0.001, 0.15), st.floats(60, 2000), st.floats(0.0, 0.9), st.floats(0, 7), st.floats(-0.1, 0.1)
)
ends = st.floats(0.0, 0.3).map(silence)


@given(st.lists(st.tuples(ends, tones, ends, st.integers(1, 5000)), min_size=1, max_size=4), st.floats(0.0, 1.0))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_no_step_at_a_join_is_larger_than_those_of_the_passages(parts, pause):
    """Whatever they begin and end with, and in whatever chunks they come. A fade over so many samples adds its slope, and
    what is too faint to count as sound may set in at once."""
    whole = [np.concatenate((before, sound, after)) for before, sound, after, _ in parts]
    own = max(float(np.abs(np.diff(sound)).max(initial=0.0)) for _, sound, _, _ in parts)
    loudest = max(float(np.abs(sound).max(initial=0.0)) for _, sound, _, _ in parts)
    chunks = [[one[i : i + size] for i in range(0, len(one), size)] for one, (*_, size) in zip(whole, parts)]
    sound = joined(chunks, [pause] * len(parts))
    assert largest_step(sound) <= own + loudest / FADE + 0.02 + 1e-6


@pytest.mark.parametrize("short", [1, 30, 119, 240])
def test_even_the_shortest_sound_is_faded_at_both_ends(short):
    sound = joined([[np.full(short, 0.8, np.float32)]])
    assert len(sound) == short
    assert largest_step(sound) <= 0.8 / FADE + 1e-6


@given(st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(0.0, 0.3), st.floats(0.5, 1.0)), min_size=2, max_size=5))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_pause_is_as_long_whatever_silence_a_model_leaves(parts):
    whole = [[np.concatenate((silence(before), tone(), silence(after)))] for before, after, _ in parts]
    pauses = [pause for *_, pause in parts[:-1]]
    assert gaps(joined(whole, pauses)) == pytest.approx(pauses, abs=0.004)  # a fade's faint end counts as silence


def test_more_silence_than_the_pause_is_the_model_s_own():
    sound = joined([[tone(), silence(0.4)], [tone()]], [0.1])
    assert gaps(sound) == pytest.approx([0.4], abs=0.004)


def test_silence_before_the_first_word_is_cut_and_none_of_the_sound():
    sound = joined([[silence(1.0)], [silence(0.5), tone(0.3)]])
    assert len(sound) < (1.5 + 0.3) * RATE  # a passage without a word is not made longer
    begun = joined([[silence(1.0), tone(0.3)]])
    assert 0.3 * RATE <= len(begun) <= 0.37 * RATE


def test_chunks_change_no_sample():
    whole = np.concatenate((silence(0.2), tone(0.5, hertz=220), silence(0.1)))
    wanted = joined([[whole]])
    for size in (7, 333, 4800):
        assert np.array_equal(joined([[whole[i : i + size] for i in range(0, len(whole), size)]]), wanted)
