"""Recordings that libsndfile does not read: twelve containers as ffmpeg makes and decodes them, tracks, places, damage, memory."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.errors import BadRequest
from engine.media import recordings
from engine.media.recordings import mux_subtitles
from engine.media.sound import SoundStream, read_sound
from tests.needs import no_program

pytestmark = pytest.mark.skipif(bool(no_program("ffmpeg")), reason=no_program("ffmpeg"))

RATE = 48_000
LOSSLESS = {
    "alac.m4a": ["-c:a", "alac"],
    "pcm.mov": ["-c:a", "pcm_s16le"],
    "flac.mka": ["-c:a", "flac"],
    "pcm.avi": ["-c:a", "pcm_s16le"],
    "alac.caf": ["-c:a", "alac"],
}
LOSSY = {
    "aac.m4a": ["-c:a", "aac"],
    "aac.aac": ["-c:a", "aac"],
    "aac.mp4": ["-c:a", "aac"],
    "vorbis.mkv": ["-c:a", "libvorbis"],
    "opus.webm": ["-c:a", "libopus"],
    "opus.opus": ["-c:a", "libopus"],
    "wma.wma": ["-c:a", "wmav2"],
    "ac3.ts": ["-c:a", "ac3"],
}


def ffmpeg(*arguments: object) -> None:
    command = ["ffmpeg", "-v", "error", "-y", "-nostdin", *map(str, arguments)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recordings")
    t = np.arange(3 * RATE) / RATE
    voice = 0.4 * np.sin(2 * np.pi * 220 * t) * np.sin(2 * np.pi * 1.5 * t) + 0.1 * np.sin(2 * np.pi * 900 * t)
    soundfile.write(made / "one.wav", voice.astype(np.float32), RATE, subtype="PCM_16")
    soundfile.write(made / "other.wav", 0.3 * np.sin(2 * np.pi * 500 * t).astype(np.float32), RATE, subtype="PCM_16")
    return made


def as_ffmpeg_decodes(file: Path) -> np.ndarray:
    raw = file.with_suffix(".f32")
    ffmpeg("-i", file, "-map", "0:a:0", "-f", "f32le", "-c:a", "pcm_f32le", raw)
    return np.fromfile(raw, "<f4")


@pytest.mark.parametrize("name", [*LOSSLESS, *LOSSY])
def test_a_container_is_read_as_ffmpeg_reads_it(name: str, folder: Path) -> None:
    file = folder / name
    ffmpeg("-i", folder / "one.wav", *{**LOSSLESS, **LOSSY}[name], file)
    made, wanted = read_sound(file, RATE).samples, as_ffmpeg_decodes(file)
    assert len(made) == len(wanted)
    np.testing.assert_allclose(made, wanted, atol=0 if name in LOSSLESS else 1e-3)
    np.testing.assert_array_equal(read_sound(file.read_bytes(), RATE).samples, made)


def test_amr_of_old_phones(folder: Path) -> None:
    """For which Debian's ffmpeg has a decoder alone: frames of random bits, in the mode of 12.2 kbit/s."""
    random, file = np.random.default_rng(2), folder / "speech.amr"
    file.write_bytes(b"#!AMR\n" + b"".join(b"\x3c" + random.bytes(30) + b"\0" for _ in range(100)))
    made, wanted = read_sound(file, 8000).samples, as_ffmpeg_decodes(file)
    assert len(made) == len(wanted) == 100 * 160
    np.testing.assert_allclose(made, wanted, atol=1e-3)


@pytest.fixture(scope="module")
def film(folder: Path) -> Path:
    """A picture that moves, and two sounds."""
    file = folder / "film.mkv"
    ffmpeg(
        "-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=3", "-i", folder / "one.wav", "-i", folder / "other.wav",
        "-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "mpeg4", "-c:a", "flac",
        "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", file,
    )  # fmt: skip
    return file


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
    source = folder / f"plain{ending}"
    ffmpeg("-i", film, "-map", "0:v", "-map", "0:a:0", "-c:v", "copy", "-c:a", "aac", source)
    target = folder / f"subtitled{ending}"
    mux_subtitles(source, target, [(0.2, 1.0, "Hello."), (1.5, 2.5, "Grüße & Küsse")], "de")
    text = folder / "read.srt"
    ffmpeg("-i", target, "-map", "0:s:0", text)
    assert [line for line in text.read_text(encoding="utf-8").splitlines() if line] == [
        "1", "00:00:00,200 --> 00:00:01,000", "Hello.", "2", "00:00:01,500 --> 00:00:02,500", "Grüße & Küsse",
    ]  # fmt: skip
    np.testing.assert_array_equal(read_sound(target, RATE).samples, read_sound(source, RATE).samples)
    assert list(folder.glob("*.part")) == []


def test_what_takes_no_subtitles(folder: Path) -> None:
    with pytest.raises(BadRequest, match="muxed into"):
        mux_subtitles(folder / "one.wav", folder / "one.subtitled.wav", [], "en")
    assert not (folder / "one.subtitled.wav").exists()


def test_damaged_and_hostile_files_end_in_one_sentence(film: Path, folder: Path, tmp_path: Path) -> None:
    """Nor is a playlist followed to another file."""
    mp4 = folder / "plain.mp4"
    ffmpeg("-i", folder / "one.wav", "-c:a", "aac", mp4)
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
    (tmp_path / "silent.mkv").write_bytes(b"")
    ffmpeg("-i", film, "-map", "0:v", "-c:v", "copy", tmp_path / "silent.mkv")
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
    ffmpeg("-i", folder / "one.wav", "-c:a", "aac", folder / "good.m4a")
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
    ffmpeg("-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", 36000, "-c:a", "flac", file)
    told = subprocess.run(
        [sys.executable, "-c", _LONG, str(file)], capture_output=True, text=True, timeout=250, check=True
    ).stdout.split()
    seconds, grown, child = map(int, told)
    assert seconds == 36000
    assert grown < 64_000  # KiB
    assert child < 400_000


def test_a_client_that_stops_reading_ends_the_decoder(film: Path) -> None:
    stream = SoundStream(film, RATE)
    blocks = iter(stream)
    next(blocks)
    blocks.close()
    assert stream.seconds > 0
