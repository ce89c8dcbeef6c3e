"""A household's papers and a system's documentation, with questions as people ask them. Written without a look at the code that
searches, except for the last 20 lines of `debian.tsv`.

`papers.md` holds the documents, `questions.tsv` what is asked of them, and `debian.tsv` what is asked of the documentation that
Debian's packages install. Several documents resemble each other: two leases, two machines, two insurances, two birds.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from app.runtime.library.folders import FolderLibrary
from tests.app.library_corpus import WRITERS, Question, Section, write_package, write_table

HERE = Path(__file__).resolve().parents[1] / "data" / "library"
SYSTEM = {
    "git/RelNotes": Path("/usr/share/doc/git/RelNotes"),
    "valgrind/html": Path("/usr/share/doc/valgrind/html"),
    "espeak-ng/docs": Path("/usr/share/doc/espeak-ng/docs"),
    "common-licenses": Path("/usr/share/common-licenses"),
}  # fmt: skip


def papers() -> Iterable[tuple[str, str, list[Section], list[list[str]]]]:
    """Each document: its file, its title, its sections, and the rows of a table."""
    for document in (HERE / "papers.md").read_text(encoding="utf-8").split("@ ")[1:]:
        name, title, *lines = document.splitlines()
        sections: list[Section] = []
        for line in lines:
            if line.startswith("## "):
                sections.append((line[3:], ""))
            elif sections and not sections[-1][1]:
                sections[-1] = (sections[-1][0], line)
            else:
                sections.append(("", line))
        yield name, title.removeprefix("# "), sections, [line.split(",") for line in lines]


def make_papers(folder: Path) -> int:
    made = 0
    for name, title, sections, rows in papers():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in (".csv", ".xlsx"):
            write_table(file, title, rows)
        elif file.suffix == ".pptx":
            _slides(file, title, sections)
        elif file.suffix == ".rtf":
            _rich_text(file, title, sections)
        else:
            WRITERS[file.suffix](file, title, sections)
        made += 1
    return made


def copy_system_documents(folder: Path) -> list[str]:
    """Copies what of Debian's documentation is installed; the names of the parts."""
    there = [name for name, place in SYSTEM.items() if place.is_dir()]
    for name in there:
        shutil.copytree(SYSTEM[name], folder / name, ignore=shutil.ignore_patterns("*.gz", "*.png", "images"))
        for file in (folder / name).iterdir():
            if file.is_file() and not file.suffix[1:].isalpha():
                os.rename(file, f"{file}.txt")  # a library takes files by their endings
    return there


def asked(name: str) -> list[Question]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [Question(*line.split("\t")) for line in lines]


def is_found(question: Question, library: FolderLibrary, top: int = 5) -> bool:
    answer = " ".join(question.answer.split())
    return any(
        fnmatch.fnmatch(found.path.removesuffix(".txt"), question.file.removesuffix(".txt"))
        and answer in " ".join(found.text.split())
        for found in library.find(question.text, top)
    )


def _slides(file: Path, title: str, sections: list[Section]) -> None:
    def slide(heading: str, text: str) -> str:
        shapes = "".join(
            f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp>'
            for kind, words in (("title", heading), ("body", text))
        )
        spaces = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
        return f"<p:sld {spaces}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"

    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    slides = [slide(title, ""), *(slide(*section) for section in sections)]
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    links = "".join(f'<Relationship Id="r{n}" Type="{office}/slide" Target="slides/slide{n}.xml"/>' for n in numbers)
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    overrides = "".join(
        f'<Override PartName="/ppt/slides/slide{n}.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.slide+xml"/>'
        for n in numbers
    )
    write_package(
        file,
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Override PartName="/ppt/presentation.xml" '
            f'ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/>{overrides}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r0" Type="{office}/officeDocument" '
            'Target="ppt/presentation.xml"/></Relationships>',
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{office}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
            **{f"ppt/slides/slide{n}.xml": slides[n - 1] for n in numbers},
        },
    )


def _rich_text(file: Path, title: str, sections: list[Section]) -> None:
    body = rf"{{\b {title}}}\par " + "".join(rf"{{\b {heading}}}\par {text}\par " for heading, text in sections)
    file.write_text(rf"{{\rtf1\ansi {body}}}", encoding="ascii")
