"""Recordings that libsndfile does not read: twelve containers and more, tracks, places, damage, memory.

PyAV makes the files, so that every machine has them. Where the program ffmpeg is, what it decodes must be what is read.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from engine.errors import BadRequest
from engine.media import recordings
from engine.media.recordings import mux_subtitles
from engine.media.sound import SoundStream, read_sound
from tests.recordings import RATE, save_media, save_silence, tone

LOSSLESS = {
    "alac.m4a": "alac",
    "pcm.mov": "pcm_s16le",
    "flac.mka": "flac",
    "flac.mkv": "flac",
    "pcm.avi": "pcm_s16le",
    "alac.caf": "alac",
}
LOSSY = {
    "aac.m4a": "aac",
    "aac.aac": "aac",
    "aac.mp4": "aac",
    "aac.3gp": "aac",
    "aac.flv": "aac",
    "opus.webm": "libopus",
    "opus.opus": "libopus",
    "wma.wma": "wmav2",
    "ac3.ts": "ac3",
    "eac3.mp4": "eac3",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recordings")
    soundfile.write(made / "one.wav", tone(1), RATE, subtype="PCM_16")
    soundfile.write(made / "other.wav", tone(2), RATE, subtype="PCM_16")
    return made


def as_pyav_decodes(file: Path) -> np.ndarray:
    """In this process, in one go."""
    with av.open(str(file)) as opened:
        to = av.AudioResampler(format="flt", layout="mono", rate=opened.streams.audio[0].rate)
        frames = [ready.to_ndarray()[0] for frame in [*opened.decode(audio=0), None] for ready in to.resample(frame)]
    return np.concatenate(frames)


def as_ffmpeg_decodes(file: Path) -> np.ndarray:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(file), "-map", "0:a:0", "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, timeout=120, check=True).stdout, "<f4")


def read_as_decoded(file: Path, rate: int, atol: float) -> np.ndarray:
    made = read_sound(file, rate).samples
    decoders = [as_pyav_decodes, *([as_ffmpeg_decodes] if shutil.which("ffmpeg") else [])]
    for decoded in decoders:
        wanted = decoded(file)
        assert len(made) == len(wanted), decoded
        np.testing.assert_allclose(made, wanted, atol=atol)
    return made


@pytest.mark.parametrize("name", [*LOSSLESS, *LOSSY])
def test_a_container_is_read_as_ffmpeg_reads_it(name: str, folder: Path) -> None:
    file = save_media(folder / name, {**LOSSLESS, **LOSSY}[name])
    made = read_as_decoded(file, RATE, 0 if name in LOSSLESS else 1e-3)
    spoken = tone(1) / np.float32(32768)
    if name in LOSSLESS:
        np.testing.assert_array_equal(made, spoken)
    assert np.sqrt(np.mean(made**2)) == pytest.approx(np.sqrt(np.mean(spoken**2)), rel=0.1)
    np.testing.assert_array_equal(read_sound(file.read_bytes(), RATE).samples, made)


def test_amr_of_old_phones(folder: Path) -> None:
    """Frames of random bits, in the mode of 12.2 kbit/s."""
    random, file = np.random.default_rng(2), folder / "speech.amr"
    file.write_bytes(b"#!AMR\n" + b"".join(b"\x3c" + random.bytes(30) + b"\0" for _ in range(100)))
    made = read_as_decoded(file, 8000, 1e-3)
    assert len(made) == 100 * 160


@pytest.fixture(scope="module")
def film(folder: Path) -> Path:
    """A picture that moves, and two sounds."""
    return save_media(folder / "film.mkv", "flac", (tone(1), tone(2)), pictures=True)


def test_each_track_of_a_video(film: Path, folder: Path) -> None:
    for track, name in ((1, "one.wav"), (2, "other.wav")):
        wanted = soundfile.read(folder / name, dtype="float32")[0]
        np.testing.assert_array_equal(read_sound(film, RATE, track=track).samples, wanted)
    with pytest.raises(BadRequest, match=r"no sound track 3. It has: 1 \(eng, flac\), 2 \(deu, flac\)"):
        read_sound(film, RATE, track=3)
    with pytest.raises(BadRequest, match="no sound track 2"):
        read_sound(folder / "one.wav", RATE, track=2)


@pytest.mark.parametrize("name", ["film.mkv", "one.wav"])
def test_from_a_place_on(name: str, film: Path, folder: Path) -> None:
    whole = read_sound(folder / name, RATE).samples
    stream = SoundStream(folder / name, RATE, start=1.25)
    rest = np.concatenate(list(stream))
    np.testing.assert_array_equal(rest, whole[int(1.25 * RATE) :])
    assert stream.expected == pytest.approx(1.75, abs=0.05)
    assert stream.seconds == pytest.approx(len(rest) / RATE)


@pytest.mark.parametrize("ending", [".mkv", ".mp4", ".mov"])
def test_subtitles_in_a_copy_of_the_video(ending: str, film: Path, folder: Path) -> None:
    source = save_media(folder / f"plain{ending}", "aac", pictures=True)
    target = folder / f"subtitled{ending}"
    mux_subtitles(source, target, [(0.2, 1.0, "Hello."), (1.5, 2.5, "Grüße & Küsse")], "de")
    with av.open(str(target)) as opened:
        (stream,) = opened.streams.subtitles
        lines = [packet for packet in opened.demux(stream) if packet.size > 2]
        times = [(float(line.pts * line.time_base), float(line.duration * line.time_base)) for line in lines]
        texts = [
            bytes(line)[2 if ending != ".mkv" else 0 :].decode() for line in lines
        ]  # mov_text begins with a length
    assert texts == ["Hello.", "Grüße & Küsse"]
    np.testing.assert_allclose(times, [(0.2, 0.8), (1.5, 1.0)], atol=2e-3)
    np.testing.assert_array_equal(read_sound(target, RATE).samples, read_sound(source, RATE).samples)
    assert list(folder.glob("*.part")) == []


def test_what_takes_no_subtitles(folder: Path) -> None:
    with pytest.raises(BadRequest, match="muxed into"):
        mux_subtitles(folder / "one.wav", folder / "one.subtitled.wav", [], "en")
    assert not (folder / "one.subtitled.wav").exists()


def test_damaged_and_hostile_files_end_in_one_sentence(film: Path, folder: Path, tmp_path: Path) -> None:
    """Nor is a playlist followed to another file."""
    mp4 = save_media(tmp_path / "plain.mp4", "aac")
    secret = tmp_path / "secret.wav"
    soundfile.write(secret, np.zeros(RATE), RATE)
    random = np.random.default_rng(0)
    bad = {
        "cut.mp4": mp4.read_bytes()[: mp4.stat().st_size // 2],  # which tells at its end what is in it
        "noise.webm": film.read_bytes()[:64] + random.bytes(4096),
        "noise.mp4": b"\0\0\0\x20ftypisom" + random.bytes(4096),
        "text.m4a": b"This is a letter, and no recording.",
        "list.m3u8": f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n".encode(),
        "list.ffconcat": f"ffconcat version 1.0\nfile '{secret}'\n".encode(),
        "deep.mkv": b"\x1a\x45\xdf\xa3\x01" + b"\xff" * 200,
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadRequest) as error:
            read_sound(tmp_path / name, RATE)
        assert str(error.value).startswith(f"{tmp_path / name} could not be read as sound (")
        assert "\n" not in str(error.value)
    save_media(tmp_path / "silent.mkv", "flac", (), pictures=True)
    with pytest.raises(BadRequest, match="it holds no sound"):
        read_sound(tmp_path / "silent.mkv", RATE)


def test_random_bytes_in_real_files_hurt_nobody(film: Path, folder: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    whole = np.frombuffer(film.read_bytes(), np.uint8)
    for _ in range(6):
        broken = whole.copy()
        broken[random.integers(0, len(broken), 200)] = random.integers(0, 256, 200)
        (tmp_path / "broken.mkv").write_bytes(broken.tobytes())
        with suppress(BadRequest):
            assert len(read_sound(tmp_path / "broken.mkv", RATE).samples) <= 4 * RATE


def test_a_decoder_that_dies_or_hangs_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_media(folder / "good.m4a", "aac")
    for program in ("import os; os.abort()", "import time; time.sleep(60)", "print('no pieces at all', flush=True)"):
        child = tmp_path / "child.py"
        child.write_text(program)
        monkeypatch.setattr(
            recordings, "child_command", lambda module, *arguments, child=child: [sys.executable, str(child)]
        )
        monkeypatch.setattr(recordings, "_STALLED", 2.0)
        with pytest.raises(BadRequest, match="its decoder stopped"):
            read_sound(folder / "good.m4a", RATE)


_LONG = """
import resource, sys
from engine.media.sound import SoundStream
stream = SoundStream(sys.argv[1], 8000)
next(iter(stream))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for block in stream: pass
print(round(stream.seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_length(folder: Path) -> None:
    """Ten hours, which are 1.2 GB of samples."""
    file = folder / "long.mka"
    save_silence(file, hours=10)
    output = subprocess.run(
        [sys.executable, "-c", _LONG, str(file)], capture_output=True, text=True, timeout=250, check=True
    ).stdout.split()
    seconds, grown, child = map(int, output)
    assert seconds == 36000
    assert grown < 64_000  # KiB
    assert child < 400_000


def test_a_client_that_stops_reading_ends_the_decoder(film: Path) -> None:
    stream = SoundStream(film, RATE)
    blocks = iter(stream)
    next(blocks)
    blocks.close()
    assert stream.seconds > 0
