"""Pages that were read, kept while their document is not finished: what a crash cannot take, and where the next run goes on.

A folder with one JSON file a page. It belongs to one source, unchanged, read with the same settings; else it is started anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from engine.pipelines.reading.result import Page, page_from_json, page_to_json
from engine.pipelines.reading.saving import replace_file

_OWNER = "journal.json"
_VERSION = 1  # of the form of the pages


def fingerprint(source: Path, settings: str) -> str:
    """Changes with the file's content and with the settings."""
    digest = hashlib.sha256(f"{_VERSION}|{settings}|".encode())
    try:
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""  # opening it will say what is wrong
    return digest.hexdigest()


class Journal:
    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._pages: dict[int, Page] = {}
        self._ready = False
        if self._is_ours():
            self._ready = True
            for file in folder.glob("page-*.json"):
                page = _read(file)
                if page is not None:
                    self._pages[page.number] = page

    def page(self, number: int) -> Page | None:
        return self._pages.get(number)

    def add(self, page: Page) -> None:
        self._make_ready()
        replace_file(self._folder / f"page-{page.number}.json", _bytes(page_to_json(page)))
        self._pages[page.number] = page

    def remove(self) -> None:
        if self._ready:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._ready = False

    def _make_ready(self) -> None:
        if not self._ready:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            replace_file(self._folder / _OWNER, _bytes({"of": self._fingerprint}))
            self._ready = True

    def _is_ours(self) -> bool:
        try:
            found = json.loads((self._folder / _OWNER).read_bytes())
        except (OSError, ValueError):
            return False
        return bool(self._fingerprint) and isinstance(found, dict) and found.get("of") == self._fingerprint


def _read(file: Path) -> Page | None:
    """None for what somebody else has damaged: that page is read again."""
    try:
        return page_from_json(json.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _bytes(shown: object) -> bytes:
    return json.dumps(shown, ensure_ascii=False).encode()
