"""The documentation as a site: every page is on it, and it is built without a warning; what the FAQ quotes is what Grus says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.asserting import every
from tests.packaging.tools import ROOT, need_tool

CONFIG = ROOT / "packaging" / "mkdocs.yml"
# Words of other programs, and of a message between two values
NOT_OURS = {"externally managed environment"}


def leaves(nav: Any) -> Iterator[str]:
    for entry in nav:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else leaves(value)


def test_every_page_is_on_the_site_once() -> None:
    pages = list(leaves(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["nav"]))
    assert sorted(pages) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [need_tool("mkdocs"), "build", "--strict", "-f", str(CONFIG), "-d", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "First ten minutes" in home
    assert "fonts.googleapis" not in home  # a reader's browser asks nobody else


def quoted() -> list[str]:
    """What the FAQ shows as Grus's words: bold, in backticks."""
    text = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    headings = re.findall(r"\*\*(`+)(.+?)\1\*\*", text)
    return [words for _, words in headings if words not in NOT_OURS]


def test_the_faq_quotes_what_grus_says() -> None:
    """A text may be written over several lines of source, so quotes and line ends between its parts are left out."""
    sources = "".join(
        path.read_text(encoding="utf-8")
        for package in ("app", "engine", "backends")
        for path in (ROOT / package).rglob("*.py")
    )
    said = re.sub(r'"\s*\n?\s*f?"', "", sources)
    assert len(quoted()) > 25
    unknown = [words for words in quoted() if words.replace("`torch`", "`{name}`") not in said]
    assert unknown == []


def test_the_faq_helps_with_every_error_of_grus() -> None:
    """By its code, which a class of errors has."""
    codes = {
        code
        for package in ("app", "engine", "backends")
        for path in (ROOT / package).rglob("*.py")
        for code in re.findall(r'^    code = "(\w+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(codes) > 25
    text = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8").split("## Every error by its code")[1]
    assert sorted(code for code in codes if f"`{code}`" not in text) == []


def test_the_readme_is_one_screen_and_points_to_the_pages() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 70
    assert every(
        f"](docs/{name}.md)" in text for name in ("install", "first-steps", "faq", "command-line", "window", "api")
    )
