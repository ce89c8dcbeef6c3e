"""The input audio buffer: positions, prefix padding, and its limit."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
import soxr

from app.server.errors import ApiError
from app.server.realtime import audio
from app.server.realtime.audio import (
    DEFAULT_FORMAT,
    InputAudioBuffer,
    StreamResampler,
    TurnStarted,
    TurnStopped,
    as_text,
    samples_in,
)
from app.server.realtime.protocol import AudioFormat, TurnDetection
from app.server.requests import AccountedEngine
from tests.app.server.live import Live
from tests.app.server.realtime.caller import pcm, text
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, silence, talk, voice

TURNS = TurnDetection(type="server_vad")
SOUND = talk(2)


def fed(buffer: InputAudioBuffer, samples: np.ndarray, piece: int = 4800) -> list[TurnStarted | TurnStopped]:
    data = pcm(samples)
    return [one for at in range(0, len(data), piece) for one in buffer.feed(text(data[at : at + piece]))]


@pytest.fixture
def engine(talking: Live) -> AccountedEngine:
    return talking.requests.engine()


@pytest.mark.parametrize("piece", [960, 4800, 1 << 22])
def test_speech_is_cut_out_where_it_was(engine: AccountedEngine, piece: int) -> None:
    buffer = InputAudioBuffer(engine, 300.0, TURNS)
    turns_found = fed(buffer, SOUND, piece)
    assert [type(one) for one in turns_found] == [TurnStarted, TurnStopped] * 2
    for began, ended in zip(turns_found[::2], turns_found[1::2]):
        assert isinstance(ended, TurnStopped)
        assert len(ended.samples) == ended.at - began.at
        original = SOUND[began.at : ended.at]
        assert np.corrcoef(original, ended.samples)[0, 1] > 0.99


def test_what_comes_before_a_speech_belongs_to_it_once(engine: AccountedEngine) -> None:
    both = np.concatenate([silence(1.0), voice(0.8), silence(0.3), voice(0.8, 1), silence(0.5)])
    short = TURNS.model_copy(update={"prefix_padding_ms": 0, "silence_duration_ms": 200})
    long = short.model_copy(update={"prefix_padding_ms": 2000})
    begins = {}
    for turns in (short, long):
        turns_found = fed(InputAudioBuffer(engine, 300.0, turns), both)
        begins[turns.prefix_padding_ms] = [one.at for one in turns_found if isinstance(one, TurnStarted)]
        ends = [one for one in turns_found if isinstance(one, TurnStopped)]
    assert begins[2000][0] == 0  # no more than there is
    assert begins[0][0] > 0.8 * RATE
    assert ends[0].at - len(ends[0].samples) == 0
    assert begins[2000][1] > begins[0][0]  # what was committed is not committed again


def test_of_silence_little_is_kept(engine: AccountedEngine) -> None:
    buffer = InputAudioBuffer(engine, 300.0, TURNS)
    fed(buffer, silence(20.0))
    assert sum(map(len, buffer._pieces)) < RATE


def test_a_speech_that_does_not_end_is_cut(engine: AccountedEngine) -> None:
    turns_found = fed(InputAudioBuffer(engine, 2.0, TURNS), np.tile(voice(1.0), 5))
    ended = [one for one in turns_found if isinstance(one, TurnStopped)]
    assert ended
    assert every(len(one.samples) <= 2.5 * RATE for one in ended)


def test_a_running_speech_is_committed_and_the_next_is_found(engine: AccountedEngine) -> None:
    buffer = InputAudioBuffer(engine, 300.0, TURNS)
    with pytest.raises(ApiError, match="Nobody is speaking"):
        buffer.commit()
    (began,) = fed(buffer, np.concatenate([silence(0.5), voice(0.8)]))
    assert buffer.speaking
    assert len(buffer.commit()) == pytest.approx(1.3 * RATE - began.at, abs=0.05 * RATE)
    assert not buffer.speaking
    assert [type(one) for one in fed(buffer, np.concatenate([silence(0.6), voice(0.8), silence(0.7)]))] == [
        TurnStarted,
        TurnStopped,
    ]


def test_turns_are_found_from_now_on_or_no_more(engine: AccountedEngine) -> None:
    buffer = InputAudioBuffer(engine, 3.0, None)
    assert fed(buffer, SOUND[: 2 * RATE]) == []
    assert [type(one) for one in buffer.turn(TURNS)] == [TurnStarted]
    assert buffer.turn(None) == []
    with pytest.raises(ApiError, match="3 seconds at most"):
        fed(buffer, silence(3.0), 1 << 22)
    assert len(buffer.commit()) == pytest.approx(2 * RATE, abs=0.05 * RATE)
    with pytest.raises(ApiError, match="There is no speech"):
        buffer.commit()


def test_sound_as_text_and_back() -> None:
    samples = np.linspace(-1, 1, 999).astype(np.float32)
    assert np.allclose(samples_in(as_text(samples, DEFAULT_FORMAT), DEFAULT_FORMAT), samples, atol=1e-4)
    stream = StreamResampler(16000, 24000)
    tone = np.sin(np.arange(16000) / 9).astype(np.float32)
    pieces = [stream.push(tone[at : at + 1000]) for at in range(0, 16000, 1000)]
    whole = np.concatenate([*pieces, stream.finish()])
    assert len(whole) == pytest.approx(24000, abs=2)
    assert np.corrcoef(whole[500:23500], np.sin(np.arange(500, 23500) / 13.5))[0, 1] > 0.999


@pytest.mark.parametrize(("law", "subtype"), [("audio/pcmu", "ULAW"), ("audio/pcma", "ALAW")])
def test_g711_is_what_libsndfile_writes(law: str, subtype: str) -> None:
    codes = bytes(range(256))
    levels, _ = soundfile.read(
        io.BytesIO(codes), dtype="int16", format="RAW", samplerate=8000, channels=1, subtype=subtype
    )
    assert np.array_equal(audio.decoded(codes, law), levels)
    assert np.array_equal(audio.decoded(audio.encoded(levels, law), law), levels)
    samples = np.arange(-32768, 32768, 7).astype(np.int16)
    error = np.abs(audio.decoded(audio.encoded(samples, law), law).astype(int) - samples)
    assert np.all(error <= np.maximum(np.abs(samples.astype(int)) / 16, 16))


@pytest.mark.parametrize("format", [AudioFormat(rate=8000), AudioFormat(rate=48000), AudioFormat(type="audio/pcmu"),
                                    AudioFormat(type="audio/pcma")], ids=str)  # fmt: skip
def test_every_format_has_the_same_turns(engine: AccountedEngine, format: AudioFormat) -> None:
    buffer = InputAudioBuffer(engine, 300.0, TURNS, format)
    turns_found = buffer.feed(as_text(soxr.resample(SOUND, RATE, format.rate), format))
    assert [type(one) for one in turns_found] == [TurnStarted, TurnStopped] * 2
    at_24_khz = fed(InputAudioBuffer(engine, 300.0, TURNS), SOUND)
    assert [one.at for one in turns_found] == pytest.approx([one.at for one in at_24_khz], abs=RATE // 10)
