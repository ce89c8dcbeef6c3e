"""Orpheus: prompts, tokens into frames, and sound through a real codec; the tokens are scripted."""

from __future__ import annotations

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import BadRequest, EngineFault, SpeechRanAway
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking import is_orpheus
from engine.pipelines.speaking.orpheus import (
    BEGIN,
    END_OF_TEXT,
    END_OF_TURN,
    FIRST_CODE,
    FRAME,
    PLACES,
    SIZE,
    SPEECH,
    FrameParser,
    Orpheus,
    codes_by_level,
)
from engine.pipelines.speaking.voice import Clone, VoiceSettings
from tests.engine.pipelines.speaking.scripted import ScriptedHandle
from tests.snac_checkpoint import save


def tokens(frames):
    """The tokens that stand for `frames [n, 7]` of codes."""
    return [int(code) + FIRST_CODE + SIZE * place for frame in frames for place, code in enumerate(frame)]


def some(n, seed=0):
    return np.random.default_rng(seed).integers(0, SIZE, (n, FRAME))


class Words:
    def encode(self, text, add_special=True, *, parse_special=True):
        assert not parse_special
        return [ord(c) for c in text]


class Scripted:
    """An engine whose talker says what it is told, and whose codec is real."""

    def __init__(self, engine, codec):
        self.engine, self.codec = engine, codec
        self.script, self.requests, self.cancelled = [], [], 0
        self.closing = "stop"

    def task(self, model, work, *, admitted=False):
        if model == "talker":

            class Loaded:
                name, config = "talker", {"model_type": "llama", "vocab_size": 156940}
                tokenizer, defaults = Words(), {}

            return Answer(work(Loaded))
        return self.engine.task(self.codec, work)

    def submit(self, request, *, admitted=False):
        self.requests.append(request)
        script = self.script[min(len(self.requests), len(self.script)) - 1]
        return ScriptedHandle(self, request, script, step=5)


class Answer:
    def __init__(self, work):
        self.work = work

    def result(self):
        with pytest.raises(StopIteration) as end:
            next(self.work)
        return end.value.value


@pytest.fixture(scope="module")
def codec(tmp_path_factory):
    folder = str(save(tmp_path_factory.mktemp("orpheus") / "snac", codes=SIZE))
    with Engine(lambda name: load_any(name, LoadOptions(backend="auto", device="cpu"))) as engine:
        yield engine, folder


@pytest.fixture
def talker(codec):
    return Scripted(*codec)


def test_tokens_become_frames_in_their_order():
    wanted = some(3)
    made = list(FrameParser().push([SPEECH, *tokens(wanted)]))
    assert len(made) == 3
    for frame, codes in zip(made, wanted):
        assert [level.tolist() for level in codes_by_level([frame])] == [
            [codes[0]], [codes[1], codes[4]], [codes[2], codes[3], codes[5], codes[6]],
        ]  # fmt: skip
    assert [len(level) for level in codes_by_level(made)] == [3 * len(places) for places in PLACES]


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_token_that_is_lost_costs_a_frame_and_no_more(cut):
    given = tokens(some(4))
    del given[7 + cut]
    made = list(FrameParser().push(given))
    assert len(made) == 3
    assert made[-1][0] == some(4)[3][0]


def test_sound_is_that_of_the_codes(talker):
    wanted = some(20)
    talker.script = [[SPEECH, *tokens(wanted)]]
    samples = np.concatenate(list(Orpheus(talker, "talker", "codec").speak("Hello there.", VoiceSettings("leo"))))
    codes = codes_by_level(list(FrameParser().push(tokens(wanted))))
    whole = talker.engine.task(talker.codec, lambda loaded: loaded.model.decode(codes)).result()
    assert len(samples) == pytest.approx(20 * 2048, abs=2048)
    np.testing.assert_allclose(samples, whole[: len(samples)], atol=1e-4)
    assert talker.cancelled == 1


def test_the_prompt(talker):
    talker.script = [tokens(some(2))]
    list(Orpheus(talker, "talker", "codec").speak(" Hi <laugh> ", VoiceSettings("zoe")))
    ids = talker.requests[0].prompt_ids
    assert (ids[0], ids[-2], ids[-1]) == (BEGIN, END_OF_TEXT, END_OF_TURN)
    assert "".join(map(chr, ids[1:-2])) == "zoe: Hi <laugh>"
    assert talker.requests[0].sampling.temperature == 0.6


@pytest.mark.parametrize(("text", "settings", "message"), [
    ("Hi", VoiceSettings("bob"), "no voice 'bob'"),
    ("Hi", VoiceSettings(instructions="sadly"), "no instructions"),
    ("Hi", VoiceSettings(clone=Clone(np.zeros(3, np.float32))), "clones none"),
    ("Hi", VoiceSettings(language="de"), "speaks English"),
    ("  ", VoiceSettings(), "no text"),
    ("a" * 3000, VoiceSettings(), "3000 characters"),
])  # fmt: skip
def test_what_it_cannot_do(talker, text, settings, message):
    with pytest.raises(BadRequest, match=message):
        Orpheus(talker, "talker", "codec").speak(text, settings)


def test_a_voice_that_is_stuck_is_tried_again_and_then_given_up(talker):
    stuck = tokens(np.repeat(some(1), 60, 0))
    talker.script = [stuck, tokens(some(9))]
    samples = np.concatenate(
        list(Orpheus(talker, "talker", "codec").speak("Hello", VoiceSettings(), buffered=True, seed=1))
    )
    assert len(samples) == pytest.approx(9 * 2048, abs=2048)
    assert [request.sampling.seed for request in talker.requests] == [1, 2]
    talker.script, talker.requests = [stuck], []
    with pytest.raises(SpeechRanAway, match="repeated itself"):
        list(Orpheus(talker, "talker", "codec").speak("Hello", VoiceSettings(), buffered=True))
    assert len(talker.requests) == 3


def test_a_fault_comes_out(talker):
    talker.script, talker.closing = [tokens(some(1))], "fault"
    with pytest.raises(EngineFault):
        list(Orpheus(talker, "talker", "codec").speak("Hello", VoiceSettings()))


def test_which_models_are_orpheus():
    assert is_orpheus({"model_type": "llama", "vocab_size": 156940})
    assert not is_orpheus({"model_type": "llama", "vocab_size": 128256})
    assert not is_orpheus({"model_type": "qwen2", "vocab_size": 166000})
