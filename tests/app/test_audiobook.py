"""`grus speak --book`, as a person types it, with the system's own voice: what becomes of a book, and of one that was interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

import grus
from app.cli import main
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.media.sound import read_sound
from engine.pipelines.reading.book import open_book
from engine.pipelines.speaking.audiobook import BookProgress
from engine.pipelines.speaking.speech import SpeechOptions
from tests.app.fresh import environment
from tests.app.server.scripted import until
from tests.asserting import every
from tests.books import chapters, epub
from tests.needs import no_program
from tests.qwen3_tts_cases import checkpoint, ending

pytestmark = [
    pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng")),
    pytest.mark.skipif(sys.platform == "win32", reason="the voice's program is watched by a shell script"),
]
RATE = 22_050
# stands before the real program: keeps what is to be said, and waits for ever at the fifth text while a file is there
VOICE = """#!/bin/sh
case "$*" in *--voices*) exec {real} "$@";; esac
text=$(cat)
printf '%s|%s\\n' "$*" "$text" >> {log}
if [ -e {stuck} ] && [ $(wc -l < {log}) -gt {most} ]; then sleep 600; fi
printf '%s' "$text" | {real} "$@"
"""


@dataclass
class WatchedVoice:
    log: Path
    stuck: Path

    def texts(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.is_file() else []
        return [line.partition("|")[2] for line in lines]

    def voices(self) -> dict[str, str]:
        """Of each text, the options of the program."""
        return {
            text: options for options, _, text in (line.partition("|") for line in self.log.read_text().splitlines())
        }


@pytest.fixture
def voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WatchedVoice:
    return watched(tmp_path, monkeypatch, 4)


def watched(folder: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> WatchedVoice:
    made = WatchedVoice(folder / "said.log", folder / "stuck")
    program = folder / "programs" / "espeak-ng"
    program.parent.mkdir()
    script = VOICE.format(real=shutil.which("espeak-ng"), log=made.log, stuck=made.stuck, most=most)
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return made


def speak(*arguments: object) -> int:
    return main(["speak", *map(str, arguments)])


def probed(path: Path) -> dict[str, Any]:
    """What FFmpeg's own program reads of it."""
    if reason := no_program("ffprobe"):
        pytest.skip(reason)
    shown = ["-show_chapters", "-show_streams", "-show_format", "-of", "json"]
    done = subprocess.run(["ffprobe", "-v", "error", *shown, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def marks(path: Path) -> list[str]:
    return [chapter["tags"]["title"] for chapter in probed(path)["chapters"]]


def records(folder: Path) -> int:
    """The passages that are whole in the folder of an unfinished book."""
    try:
        data = (folder / "passages.pcm").read_bytes()
    except OSError:
        return 0
    count = at = 0
    while at + 8 <= len(data):
        at += 8 + 2 * struct.unpack_from("<I", data, at + 4)[0]
        count += at <= len(data)
    return count


def killed(*arguments: object, voice: WatchedVoice, least: int) -> None:
    """The command in a process of its own, killed when its voice stands still."""
    voice.stuck.touch()
    command = [sys.executable, "-m", "app.cli", "speak", *map(str, arguments)]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        until(lambda: records(Path("cranes.m4b.unfinished")) >= least and len(voice.texts()) > least, 120)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    voice.stuck.unlink()


def resumed(*arguments: object) -> str:
    command = [sys.executable, "-m", "app.cli", "speak", *map(str, arguments)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_killed_book_is_continued_and_comes_out_whole(
    tmp_path: Path, voice: WatchedVoice, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = chapters(3, 2)
    book = ("--book", epub(tmp_path / "cranes.epub", parts))
    killed(*book, voice=voice, least=2)
    first = records(Path("cranes.m4b.unfinished"))
    assert not Path("cranes.m4b").exists()
    assert speak(*book, "--subtitles") == 0
    assert "3 chapters" in capsys.readouterr().err
    every_text = [text for title, paragraphs in parts for text in (f"{title}.", *paragraphs)]
    assert set(voice.texts()) == set(every_text)
    # the passages are kept in the book's order; several are spoken at once, so the voice heard them in any
    assert every(voice.texts().count(text) == 1 for text in every_text[:first])
    assert len(voice.texts()) <= len(every_text) + (len(every_text) - first)
    assert list(Path().glob("*.unfinished")) == []
    grus.speak_book(book[1], "whole.m4b", subtitles=True)
    assert Path("cranes.srt").read_text() == Path("whole.srt").read_text()
    both = [read_sound(Path(name), RATE).samples for name in ("cranes.m4b", "whole.m4b")]
    assert np.array_equal(*both)
    assert marks(Path("cranes.m4b")) == [title for title, _ in parts]


def test_an_m4b_has_chapters_cover_and_tags(tmp_path: Path, voice: WatchedVoice) -> None:
    made = grus.speak_book(epub(tmp_path / "cranes.epub", chapters(3)), tmp_path / "out.m4b", subtitles=True)
    found = probed(made.files[0])
    assert marks(made.files[0]) == [mark.title for mark in made.chapters] == [title for title, _ in chapters(3)]
    starts = [float(chapter["start_time"]) for chapter in found["chapters"]]
    assert starts == pytest.approx([mark.start for mark in made.chapters], abs=0.002)
    assert float(found["format"]["duration"]) == pytest.approx(made.seconds, abs=0.2)
    tags = found["format"]["tags"]
    assert (tags["title"], tags["artist"], tags["major_brand"]) == ("Cranes", "Ada Grus", "M4B ")
    (picture,) = [stream for stream in found["streams"] if stream["disposition"]["attached_pic"]]
    assert (picture["width"], picture["height"]) == (300, 400)
    with av.open(str(made.files[0])) as file:
        assert file.streams.audio[0].codec_context.name == "aac"
        assert len(file.chapters()) == 3
    # a subtitle stands over sound, and between two of them it is quiet
    samples = read_sound(made.files[0], RATE).samples
    lines = made.subtitles[0].read_text().split("\n\n")
    assert len(lines) == 12
    for line in lines:
        start, _, end = line.strip().splitlines()[1].partition(" --> ")
        said = samples[int(seconds(start) * RATE) : int(seconds(end) * RATE)]
        assert np.abs(said).max() > 0.05
        assert np.abs(samples[int((seconds(start) - 0.3) * RATE) : int((seconds(start) - 0.15) * RATE)]).max() < 0.02


def seconds(clock: str) -> float:
    hours, minutes, rest = clock.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


@pytest.mark.parametrize(("ending", "codec"), [("mp3", "mp3"), ("opus", "opus"), ("m4a", "aac")])
def test_other_formats_have_chapters_and_cover_too(
    tmp_path: Path, voice: WatchedVoice, ending: str, codec: str
) -> None:
    target = tmp_path / f"cranes.{ending}"
    assert speak("--book", epub(tmp_path / "cranes.epub", chapters(2, 1)), "-o", target) == 0
    found = probed(target)
    assert marks(target) == [title for title, _ in chapters(2)]
    assert found["streams"][0]["codec_name"] == codec
    assert every(stream["codec_name"] in (codec, "mjpeg", "bin_data") for stream in found["streams"])
    assert "mjpeg" in [stream["codec_name"] for stream in found["streams"]]


def test_a_file_for_each_chapter(tmp_path: Path, voice: WatchedVoice, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [("What? Why: 1/2", ["First."]), *chapters(2, 1)]
    book = ("--book", epub(tmp_path / "cranes.epub", parts), "-o", "cranes.mp3", "--per-chapter", "--subtitles")
    assert speak(*book, "--chapters", "1,3") == 0
    names = sorted(path.name for path in Path("cranes").iterdir())
    title = f"2 {parts[2][0]}"
    assert names == ["1 What Why 1 2.mp3", "1 What Why 1 2.srt", f"{title}.mp3", f"{title}.srt"]
    tags = probed(Path("cranes") / f"{title}.mp3")["format"]["tags"]
    assert (tags["title"], tags["album"], tags["track"]) == (parts[2][0], "Cranes", "2/2")
    assert "cranes: 2 chapters" in capsys.readouterr().err


def test_speakers_and_pronunciations(tmp_path: Path, voice: WatchedVoice) -> None:
    text = "# Talk\n\nShe said: [Anna] I use SQL. [/anna] And then? [bert] Nothing [2].\n\nSo it ended.\n"
    (tmp_path / "talk.md").write_text(text, encoding="utf-8")
    (tmp_path / "words.txt").write_text("SQL = sequel\n", encoding="utf-8")
    options = ("--speaker", "anna=en-gb", "--speaker", "bert=de", "--pronunciations", tmp_path / "words.txt")
    assert speak("--book", tmp_path / "talk.md", "--subtitles", *options) == 0
    spoken = voice.voices()
    assert "-v en-gb" in spoken["I use sequel."]
    assert "-v de" in spoken["Nothing [2]."]
    assert "-v" not in spoken["So it ended."]
    assert "-v" not in spoken["And then?"]
    assert "I use SQL." in Path("talk.srt").read_text()  # as the book writes it
    assert speak("SQL is old.", "--pronunciations", tmp_path / "words.txt", "-o", "said.wav") == 0
    assert voice.texts()[-1] == "sequel is old."


def test_a_book_is_read_in_its_own_language(tmp_path: Path, voice: WatchedVoice) -> None:
    book = epub(tmp_path / "cranes.epub", [("Eins", ["Guten Tag."])], language="de-DE")
    grus.speak_book(book, "own.m4b")
    assert "-v de" in voice.voices()["Guten Tag."]
    grus.speak_book(book, "chosen.m4b", language="french")
    assert "-v fr" in voice.voices()["Guten Tag."]


def test_what_was_interrupted_is_not_mixed_with_something_else(tmp_path: Path, voice: WatchedVoice) -> None:
    book = epub(tmp_path / "cranes.epub", chapters(2))

    def stop(progress: Any) -> None:
        if progress.done > progress.before:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grus.speak_book(book, "cranes.m4b", progress=stop)
    assert records(Path("cranes.m4b.unfinished")) == 1
    with pytest.raises(BadRequest, match="unfinished audiobook of another text"):
        grus.speak_book(book, "cranes.m4b", language="german")
    seen: list[Any] = []
    grus.speak_book(book, "cranes.m4b", language="german", restart=True, progress=seen.append)
    assert seen[0].before == 0
    assert Path("cranes.m4b").is_file()
    assert not Path("cranes.m4b.unfinished").exists()


def test_chapters_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = chapters(2)
    assert speak("--book", epub(tmp_path / "cranes.epub", parts), "--list-chapters") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"{n}  {title}  (23 words)" for n, (title, _) in enumerate(parts, 1)]
    assert err == "Cranes, Ada Grus\n"


@pytest.mark.parametrize(("arguments", "message"), [
    (["--book", "none.epub"], "none.epub is not a file"),
    (["--book", "cranes.epub", "-o", "x.wma"], "as m4b, m4a, mp3, opus, not as 'wma'"),
    (["--book", "cranes.epub", "-o", "nowhere/x.m4b"], "folder nowhere does not exist"),
    (["--book", "cranes.epub", "--chapters", "9"], "of 1 to 2, not '9'"),
    (["--book", "cranes.epub", "--chapters", "x"], "of 1 to 2, not 'x'"),
    (["--book", "cranes.epub", "--heading-level", "0"], "levels from 1 to 6"),
    (["--book", "cranes.epub", "--speaker", "anna"], "NAME=VOICE, not 'anna'"),
    (["--book", "cranes.epub", "--speaker", "an[na=de"], "is no name of a speaker"),
    (["--book", "cranes.epub", "--speaker", "anna=nobody"], "no voice 'nobody'"),
    (["--book", "cranes.epub", "--cover", "cranes.epub"], "can be read"),
    (["--book", "cranes.epub", "--speed", "9"], "speed must be"),
    (["--book", "cranes.epub", "Hello."], "one of them"),
    (["--book", "cranes.epub", "--stream"], "--stream does not go with --book"),
    (["--book", "cranes.epub", "--pronunciations", "cranes.epub"], "no text in UTF-8"),
    (["Hello.", "--chapters", "2"], "--chapters goes with --book"),
    (["--list-chapters"], "--list-chapters goes with --book"),
])  # fmt: skip
def test_what_cannot_be(
    tmp_path: Path, voice: WatchedVoice, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    epub(tmp_path / "cranes.epub", chapters(2))
    assert speak(*arguments) == 2
    assert message in capsys.readouterr().err
    assert list(Path().glob("*.m4b*")) == []


@pytest.mark.slow
def test_a_book_of_twenty_chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    voice = watched(tmp_path, monkeypatch, 40)
    parts = chapters(20, 3)
    book = ("--book", epub(tmp_path / "cranes.epub", parts))
    killed(*book, voice=voice, least=30)
    kept = [text for title, paragraphs in parts for text in (f"{title}.", *paragraphs)][:30]
    assert "20 chapters" in resumed(*book)
    assert every(voice.texts().count(text) == 1 for text in kept)
    assert marks(Path("cranes.m4b")) == [title for title, _ in parts]
    assert "mjpeg" in [stream["codec_name"] for stream in probed(Path("cranes.m4b"))["streams"]]
    assert len(open_book(tmp_path / "cranes.epub").chapters) == 20


def test_a_described_voice_stays_the_same_after_an_interruption(tmp_path: Path) -> None:
    """It continues from what it said first, which the next process reads from the folder."""
    model = str(ending(checkpoint("voice_design", tmp_path / "model")))
    book, options = open_book(epub(tmp_path / "cranes.epub", chapters(1, 3))), SpeechOptions(seed=3)
    steps: list[BookProgress] = []

    def stop(progress: BookProgress) -> None:
        steps.append(progress)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with grus.Speaker(model, LoadOptions(backend="auto", device="cpu", dtype="f32")) as speaker:
        speaker.speak_book(book, tmp_path / "whole.m4b", options, instructions="An old sailor.")
        with pytest.raises(KeyboardInterrupt):
            speaker.speak_book(book, tmp_path / "cut.m4b", options, instructions="An old sailor.", progress=stop)
        assert records(tmp_path / "cut.m4b.unfinished") == 2
        speaker.speak_book(book, tmp_path / "cut.m4b", options, instructions="An old sailor.")
    both = [read_sound(tmp_path / name, 24_000).samples for name in ("whole.m4b", "cut.m4b")]
    assert np.array_equal(*both)
