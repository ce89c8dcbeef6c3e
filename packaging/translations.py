"""`make translations`: the sentences of the sources into `resources/translations/grus_*.ts`, and these into `.qm`.

Qt's lupdate reads C++, not our Python calls, so it gets a page of C++ with every sentence that `found` lists. Translations that exist
are kept, a sentence that is gone leaves, a new one is marked unfinished. `python packaging/translations.py BRANCH` takes over what
another branch has translated. docs/translating.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
CATALOGUE = ROOT / "resources" / "catalogue.json"
LANGUAGES = ("de", "es", "fr", "ja", "pt_BR", "zh_CN")
ENGINE = (
    *(file for layer in ("engine", "app/agents", "app/runtime") for file in sorted((ROOT / layer).rglob("*.py"))),
    ROOT / "app" / "cuda_pack.py",
    ROOT / "app" / "main.py",
    ROOT / "app" / "updates.py",
)  # fmt: skip
SOURCES = (
    *sorted((ROOT / "app" / "gui").rglob("*.py")),
    ROOT / "app" / "explain.py",
    ROOT / "app" / "window_engine.py",
    ROOT / "app" / "window_reply.py",
)
_CALLS = {"tr": 0, "mark": 0, "trn": 1, "ErrorText": 0}  # which argument is the sentence


class SourcePhrase(NamedTuple):
    """A sentence to translate."""

    text: str
    about: str = ""  # what tells it from its namesakes
    plural: bool = False
    files: tuple[str, ...] = ()


@cache
def found() -> list[SourcePhrase]:
    """Every sentence of the window, once."""
    known: dict[tuple[str, str], SourcePhrase] = {}
    for file in (*SOURCES, *ENGINE):
        source = file.read_text(encoding="utf-8")
        if any(f"{name}(" in source for name in _CALLS):
            for phrase in in_python(source):
                _add(known, phrase, file.relative_to(ROOT).as_posix())
    for model in json.loads(CATALOGUE.read_text(encoding="utf-8"))["models"]:
        _add(known, SourcePhrase(model["does"]), CATALOGUE.relative_to(ROOT).as_posix())
    return [known[key] for key in sorted(known)]


def _add(known: dict[tuple[str, str], SourcePhrase], phrase: SourcePhrase, file: str) -> None:
    here = known.get((phrase.text, phrase.about), phrase)
    if here.plural != phrase.plural:
        raise SystemExit(f"{file}: {phrase.text!r} is given to both tr and trn.")
    files = here.files if file in here.files else (*here.files, file)
    known[phrase.text, phrase.about] = here._replace(files=files)


def in_python(source: str) -> Iterator[SourcePhrase]:
    """The sentences that a source gives to `tr`, `trn`, `mark` and `ErrorText`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (at := _CALLS.get(name)) is None or len(node.args) <= at:
            continue
        about = "".join(_strings(node.args[1])) if name in ("tr", "mark") and len(node.args) > 1 else ""
        for text in _strings(node.args[at]):
            yield SourcePhrase(text, about, name == "trn")


def _strings(node: ast.expr) -> list[str]:
    """A text, or the texts of `one if condition else other`; none where a variable holds it."""
    if isinstance(node, ast.IfExp):
        return [*_strings(node.body), *_strings(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def as_cpp(phrases: list[SourcePhrase]) -> str:
    lines = ["void sentences(int n) {"]
    for phrase in phrases:
        arguments = [json.dumps(text, ensure_ascii=False) for text in ("grus", phrase.text, phrase.about)]
        if phrase.plural:
            arguments.append("n")
        lines += [f"//: {', '.join(phrase.files)}", f"QCoreApplication::translate({', '.join(arguments)});"]
    return "\n".join([*lines, "}", ""])


def update(languages: tuple[str, ...] = LANGUAGES) -> None:
    """Bring the .ts files up to date with the sources, and compile them."""
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "sentences.cpp"
        page.write_text(as_cpp(found()), encoding="utf-8")
        for language in languages:
            file = FOLDER / f"grus_{language}.ts"
            options = [
                "-silent",
                "-no-obsolete",
                "-locations",
                "none",
                "-sort-messages",
                "-disable-heuristic",
                "similartext",
            ]
            target = ["-source-language", "en", "-target-language", language]
            subprocess.run([tools / "pyside6-lupdate", *options, page, "-ts", file, *target], check=True)
            compiled = ["-silent", "-nounfinished", file, "-qm", file.with_suffix(".qm")]
            subprocess.run([tools / "pyside6-lrelease", *compiled], check=True)


def take_over(branch: str) -> None:
    """Translations that another branch has, where this one has none; after a merge, where both added sentences."""
    for language in LANGUAGES:
        file = FOLDER / f"grus_{language}.ts"
        name = file.relative_to(ROOT).as_posix()
        shown = subprocess.run(["git", "show", f"{branch}:{name}"], cwd=ROOT, check=True, capture_output=True)
        theirs = {_key(message): message for message in ET.fromstring(shown.stdout).iter("message")}
        tree = ET.parse(file)
        for message in tree.iter("message"):
            translation, other = message.find("translation"), theirs.get(_key(message))
            found_there = other.find("translation") if other is not None else None
            if translation is not None and translation.get("type") and found_there is not None:
                message.remove(translation)
                message.append(found_there)
        tree.write(file, encoding="utf-8", xml_declaration=True)


def _key(message: ET.Element) -> tuple[str | None, str | None]:
    return message.findtext("source"), message.findtext("comment")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Brings the sentences of the sources into resources/translations.")
    parser.add_argument(
        "branch", nargs="*", help="takes over what this branch has translated and the work tree has not"
    )
    branches = parser.parse_args(arguments).branch
    update()
    for branch in branches:
        take_over(branch)
        update()


if __name__ == "__main__":
    main(sys.argv[1:])
