"""Sound written in every format, whole and as a stream."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

from engine.errors import BadRequest
from engine.media.sound import FORMATS, encoded, format_of, read_sound, to_pcm, write_file, written

RATE = 24000


def chunks(seconds=1.0, count=7):
    t = np.arange(int(RATE * seconds)) / RATE
    return np.array_split((0.5 * np.sin(2 * np.pi * 440 * t)).astype(np.float32), count)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "pcm"])
def test_files_open_and_sound_right(tmp_path, format):
    path = tmp_path / f"a.{format}"
    count = write_file(path, chunks(), RATE, format)
    assert count == RATE
    samples, rate = soundfile.read(path)
    assert len(samples) / rate == pytest.approx(1.0, abs=0.1)
    assert float(np.argmax(np.abs(np.fft.rfft(samples))) * rate / len(samples)) == pytest.approx(440, abs=3)
    assert np.abs(samples).max() == pytest.approx(0.5, rel=0.1)
    assert list(tmp_path.iterdir()) == [path]


def test_pcm_is_samples_alone(tmp_path):
    write_file(tmp_path / "a.pcm", chunks(), RATE, "pcm")
    data = np.frombuffer((tmp_path / "a.pcm").read_bytes(), "<i2")
    assert len(data) == RATE


@pytest.mark.parametrize("format", ["flac", "mp3", "opus"])
def test_a_stream_is_the_file(tmp_path, format):
    pieces = list(encoded(chunks(4.0, 40), RATE, format))
    with soundfile.SoundFile(io.BytesIO(b"".join(pieces))) as file:  # its header cannot know the length
        samples = file.read(3 * RATE)
    assert len(samples) >= 2.9 * RATE or format == "mp3"
    assert sum(len(piece) > 0 for piece in pieces) > 3


def test_a_wav_stream_begins_at_once():
    stream = encoded(iter(chunks()), RATE, "wav")
    assert next(stream)[:4] == b"RIFF"
    assert next(stream) == to_pcm(chunks()[0])


def test_what_is_too_loud_is_cut():
    assert np.frombuffer(to_pcm(np.array([2.0, -3.0, 0.0], np.float32)), "<i2").tolist() == [32767, -32767, 0]


def test_a_failure_leaves_nothing(tmp_path):
    def broken():
        yield chunks()[0]
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError):
        write_file(tmp_path / "a.wav", broken(), RATE, "wav")
    with pytest.raises(BadRequest, match="nothing to speak"):
        write_file(tmp_path / "b.wav", [], RATE, "wav")
    assert list(tmp_path.iterdir()) == []


def test_names(tmp_path):
    assert format_of(tmp_path / "a.OGG") == "opus"
    assert format_of(tmp_path / "a") == "wav"
    with pytest.raises(BadRequest, match="docx"):
        format_of(tmp_path / "a.docx")


@pytest.mark.parametrize("format", ["wav", "flac", "mp3", "opus"])
def test_what_was_streamed_can_be_listened_to(format):
    """Also FLAC, whose header says that its length is not known."""
    tone = 0.3 * np.sin(np.arange(48000) / 20).astype(np.float32)
    data = b"".join(encoded(np.array_split(tone, 20), 24000, format))
    decoded = read_sound(data, 24000)
    assert decoded.seconds == pytest.approx(2.0, abs=0.1)
    if format in ("wav", "flac"):
        np.testing.assert_allclose(decoded.samples, tone, atol=1e-4)


def test_a_flac_stream_says_that_its_length_is_not_known():
    tone = [np.full(4800, 0.1, np.float32)] * 3
    header = b"".join(encoded(tone, 24000, "flac"))[8:42]
    assert int.from_bytes(header[13:18], "big") & ((1 << 36) - 1) == 0
    assert header[18:] == bytes(16)  # no checksum of what is not known
    whole = written(tone, 24000, "flac")[8:42]
    assert int.from_bytes(whole[13:18], "big") & ((1 << 36) - 1) == 14400


def test_where_nothing_can_be_written_it_is_said(tmp_path):
    with pytest.raises(BadRequest, match="could not be written: No such file"):
        write_file(tmp_path / "nowhere" / "a.wav", [np.zeros(10, np.float32)], 24000, "wav")
