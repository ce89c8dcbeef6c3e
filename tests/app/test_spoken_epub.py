"""An EPUB 3 with media overlays from `grus speak --book`, checked by structure and against its own sound."""

from __future__ import annotations

import itertools
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from app.cli import main
from engine.media.sound import read_sound
from engine.pipelines.reading.book import open_book
from engine.pipelines.speaking.spoken_epub import BookFacts, SpokenChapter, SpokenSentence, write_spoken_epub
from tests.asserting import every
from tests.books import chapters, epub
from tests.needs import no_program

OPF, DC = "{http://www.idpf.org/2007/opf}", "{http://purl.org/dc/elements/1.1/}"
SMIL, HTML, OPS = "{http://www.w3.org/ns/SMIL}", "{http://www.w3.org/1999/xhtml}", "{http://www.idpf.org/2007/ops}"
speaks = pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))


def seconds(clock: str) -> float:
    hours, minutes, rest = clock.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(rest)


class Opened:
    """The parts of a book, each found as a reading system finds it."""

    def __init__(self, file: Path) -> None:
        self.zip = zipfile.ZipFile(file)
        container = ElementTree.fromstring(self.zip.read("META-INF/container.xml"))
        self.root = str(container[0][0].attrib["full-path"])
        self.package = self.xml(self.root)
        self.items = {item.attrib["id"]: item.attrib for item in self.package.iter(f"{OPF}item")}
        self.meta = [(one.attrib, one.text or "") for one in self.package.iter(f"{OPF}meta")]

    def name(self, href: str) -> str:
        return str(PurePosixPath(self.root).parent / href)

    def xml(self, name: str) -> ElementTree.Element:
        return ElementTree.fromstring(self.zip.read(name))

    def duration(self, refines: str | None) -> float:
        (found,) = (
            text for given, text in self.meta
            if given["property"] == "media:duration" and given.get("refines") == refines
        )  # fmt: skip
        return seconds(found)

    def clips(self, overlay: str) -> list[tuple[str, float, float]]:
        """Of each sentence its id, and the begin and end in the sound."""
        made = []
        for par in self.xml(self.name(self.items[overlay]["href"])).iter(f"{SMIL}par"):
            text, sound = par.find(f"{SMIL}text"), par.find(f"{SMIL}audio")
            assert text is not None
            assert sound is not None
            made.append(
                (
                    text.attrib["src"].partition("#")[2],
                    seconds(sound.attrib["clipBegin"]),
                    seconds(sound.attrib["clipEnd"]),
                )
            )
        return made


def check_structure(book: Opened) -> None:
    first = book.zip.infolist()[0]
    assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
    assert book.zip.read("mimetype") == b"application/epub+zip"
    assert book.package.attrib["version"] == "3.0"
    (identifier,) = book.package.iter(f"{DC}identifier")
    assert identifier.attrib["id"] == book.package.attrib["unique-identifier"]
    assert [one.text for one in book.package.iter(f"{DC}title")] == ["Cranes"]
    listed = {book.name(item["href"]) for item in book.items.values()}
    there = set(book.zip.namelist()) - {"mimetype", "META-INF/container.xml", book.root}
    assert listed == there
    assert sum("nav" in item.get("properties", "").split() for item in book.items.values()) == 1
    total = 0.0
    for entry in book.package.iter(f"{OPF}itemref"):
        page = book.items[entry.attrib["idref"]]
        overlay = page["media-overlay"]
        assert book.items[overlay]["media-type"] == "application/smil+xml"
        ids = [one.attrib["id"] for one in book.xml(book.name(page["href"])).iter(f"{HTML}span")]
        clips = book.clips(overlay)
        assert [id for id, _, _ in clips] == [id for id in ids if id in {name for name, _, _ in clips}]
        assert len(set(ids)) == len(ids)
        assert clips[0][1] == 0
        assert every(one[2] == two[1] for one, two in itertools.pairwise(clips)) or len(clips) == 1
        assert every(begin < end for _, begin, end in clips)
        length = book.duration(f"#{overlay}")
        assert clips[-1][2] == length
        sounds = {one.attrib["src"] for one in book.xml(book.name(book.items[overlay]["href"])).iter(f"{SMIL}audio")}
        (sound,) = sounds
        heard = read_sound(book.zip.read(book.name(sound)), 16_000)
        assert heard.seconds == pytest.approx(length, abs=0.1)  # frames of AAC
        total += length
    assert book.duration(None) == pytest.approx(total, abs=0.002)


@speaks
def test_a_book_becomes_an_epub_that_is_heard_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    epub(tmp_path / "cranes.epub", chapters(2))
    command = [sys.executable, "-m", "app.cli", "speak", "--book", str(tmp_path / "cranes.epub"), "-o", "spoken.epub"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=250, env=environment_of_tests(), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "2 chapters" in done.stderr
    book = Opened(tmp_path / "spoken.epub")
    check_structure(book)
    before, after = open_book(tmp_path / "cranes.epub"), open_book(tmp_path / "spoken.epub")
    assert (after.title, after.author, after.language) == (before.title, before.author, before.language)
    assert [chapter.title for chapter in after.chapters] == [chapter.title for chapter in before.chapters]
    assert [chapter.text.split() for chapter in after.chapters] == [chapter.text.split() for chapter in before.chapters]
    assert bool(after.cover) == bool(before.cover)
    page = book.xml(book.name("chapter1.xhtml"))
    assert [one.text for one in page.iter(f"{HTML}h1")] == [None]  # its heading, as spans
    sentences = {one.attrib["id"]: one.text for one in page.iter(f"{HTML}span")}
    sound = read_sound(book.zip.read(book.name("chapter1.m4a")), 16_000).samples
    for id, begin, end in book.clips("overlay1"):  # something is said in each clip
        assert sentences[id]
        assert np.abs(sound[int(begin * 16_000) : int(end * 16_000)]).max() > 0.02
    assert not (tmp_path / "spoken.epub.unfinished").exists()


def environment_of_tests() -> dict[str, str]:
    from tests.app.fresh import environment

    return environment()


def test_what_is_refused(tmp_path: Path, capsys: Any) -> None:
    source = epub(tmp_path / "cranes.epub", chapters(1))
    assert main(["speak", "--book", str(source), "-o", str(source)]) == 2
    assert "is the book itself" in capsys.readouterr().err
    assert main(["speak", "--book", str(source), "-o", str(tmp_path / "a.epub"), "--per-chapter"]) == 2
    assert "all chapters" in capsys.readouterr().err
    assert main(["speak", "--book", str(source), "-o", str(tmp_path / "a.ogg")]) == 2


def test_any_text_is_well_formed(tmp_path: Path) -> None:
    """Signs that XML forbids or gives a meaning, a sentence that is not spoken, and no author, language and cover."""
    sound = tmp_path / "sound.m4a"
    sound.write_bytes(b"sound")
    sentences = [
        SpokenSentence("a <b> & \x0b\ufffe c", 0.5),
        SpokenSentence("not said"),
        SpokenSentence(']]> "d"', 1.25),
    ]
    chapters = [SpokenChapter("1 < 2 & \x00", [[SpokenSentence("1 < 2 & ", 0.0)], sentences], sound, 2.0)]
    write_spoken_epub(tmp_path / "a.epub", BookFacts("A & <B>", "", "", b""), chapters)
    book = Opened(tmp_path / "a.epub")
    page = book.xml("EPUB/chapter1.xhtml")
    assert [one.text for one in page.iter(f"{HTML}span")] == ["1 < 2 & ", "a <b> &    c", "not said", ']]> "d"']
    assert len(list(page.iter(f"{HTML}h1"))) == 1
    assert book.clips("overlay1") == [("s1", 0.0, 0.5), ("s2", 0.5, 1.25), ("s4", 1.25, 2.0)]
    assert [one.text for one in book.package.iter(f"{DC}language")] == ["und"]
    assert not list(tmp_path.glob("*.part"))


@speaks
def test_epubcheck_finds_nothing(tmp_path: Path) -> None:
    if reason := no_program("epubcheck"):
        pytest.skip(reason)
    source = epub(tmp_path / "cranes.epub", chapters(2))
    assert main(["speak", "--book", str(source), "-o", str(tmp_path / "spoken.epub")]) == 0
    done = subprocess.run(["epubcheck", str(tmp_path / "spoken.epub")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
