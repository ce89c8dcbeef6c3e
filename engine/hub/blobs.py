"""One file of a repository into the cache's blobs: resumes where it was cut off, and is checked before it counts.

huggingface_hub begins a cut-off file anew; of a model of 20 GB that is a day on a slow line. So the bytes are fetched
here, into a part that keeps. A lock lets one download at a time write a part, also between processes; another one waits
and finds the whole file.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Protocol

from engine.errors import GrusError
from engine.hub import client
from engine.hub.client import FileFacts
from engine.hub.links import inside, link
from engine.hub.locking import exclusive

_CHUNK = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")  # the hub's tag of a large file; of a small one it is git's
_SHA1 = re.compile(r"[0-9a-f]{40}")
_TAG = re.compile(r"[\w-][\w.-]{0,199}", re.ASCII)  # it becomes a file's name


class Damaged(GrusError):
    """A file is not what the hub says it is."""

    code = "damaged_download"


class FileReport(Protocol):
    """Who hears of one file's download. Raising from any of these ends it and keeps its part."""

    def count(self, nbytes: int) -> None:
        """So much of the file is here."""

    def waiting(self, sentence: str) -> None:
        """Why nothing arrives; empty when data arrives."""

    def check(self) -> None:
        """Called now and then while nothing arrives."""


def fetch_file(repo: str, name: str, commit: str, storage: Path, report: FileReport) -> None:
    """Bring one file into `storage/blobs` and link it into the snapshot.

    A connection that breaks is taken up again for as long as attempts bring something.
    """
    place = inside(storage / "snapshots" / commit, name)
    if place.exists():
        return
    url = client.file_url(repo, name, commit)
    facts = client.persistent(lambda: client.file_facts(url), report.waiting, report.check)
    if not _TAG.fullmatch(facts.etag):
        raise GrusError(f"The hub does not say which version of {name} it has. Try again later.")
    blob = storage / "blobs" / facts.etag
    if not blob.exists():
        part = blob.with_name(f"{facts.etag}.part")
        lock = storage.parent / ".locks" / storage.name / f"{facts.etag}.part.lock"

        def waiting() -> None:
            report.waiting(f"Another download of {repo} is under way. Waiting for it, to share what it brings.")
            report.count(_size(part) or _size(blob))

        with exclusive(lock, waiting):
            report.waiting("")
            if not blob.exists():
                _fetch_whole(url, name, blob, part, facts, report)
    link(blob, place)


def _fetch_whole(url: str, name: str, blob: Path, part: Path, facts: FileFacts, report: FileReport) -> None:
    """A part of an earlier download that turns out damaged is fetched once more from its beginning."""
    part.parent.mkdir(parents=True, exist_ok=True)
    resumed = _size(part) > 0
    while True:
        _fetch_rest(url, part, facts.size, report)
        if facts.size in (None, _size(part)) and matches(part, facts.etag):
            part.replace(blob)
            return
        part.unlink()
        if not resumed:
            raise Damaged(
                f"{name} arrived damaged: its checksum is not the hub's. It was thrown away; download it again."
            )
        resumed = False


def _fetch_rest(url: str, part: Path, size: int | None, report: FileReport) -> None:
    """Attempts that bring nothing are counted; one that brings something begins the count anew."""
    fruitless = 0
    while True:
        before = _size(part)
        try:
            _append(url, part, size, report)
            return
        except Exception as error:
            fruitless = 0 if _size(part) > before else fruitless + 1
            pause = client.pause_for(error, max(0, fruitless - 1), unreachable=True)
            if pause is None:
                raise
            client.rest_for(error, pause if fruitless else 0.0, report.waiting, report.check)


def matches(file: Path, tag: str) -> bool:
    """Whether a blob's content has the checksum that its name says. Other names say nothing, and pass."""
    if _SHA256.fullmatch(tag):
        digest = hashlib.sha256()
    elif _SHA1.fullmatch(tag):
        digest = hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    else:
        return True
    with file.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest() == tag


def damaged_files(snapshot: Path) -> list[str]:
    """Files of a cached snapshot whose content is not what the hub gave them as a checksum."""
    files = sorted(entry for entry in snapshot.rglob("*") if entry.is_file())
    return [file.relative_to(snapshot).as_posix() for file in files if not matches(file.resolve(), file.resolve().name)]


def _append(url: str, part: Path, size: int | None, report: FileReport) -> None:
    """The rest of a file behind what is there."""
    there = _size(part)
    if size is not None and there >= size > 0:
        report.count(there)
        return
    with client.opened(url, {"Range": f"bytes={there}-"} if there else {}) as response:
        goes_on = response.status_code == 206
        with part.open("ab" if goes_on else "wb") as stream:
            done = there if goes_on else 0
            report.count(done)
            for piece in response.iter_bytes():  # as it comes, so that a break loses nothing
                stream.write(piece)
                done += len(piece)
                report.count(done)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
