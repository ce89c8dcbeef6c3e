"""One file of a repository into the cache's blobs: goes on where it was cut off, and is checked before it counts.

huggingface_hub begins a cut-off file anew; of a model of 20 GB that is a day on a slow line. So the bytes are fetched
here, into a part that keeps, and huggingface_hub then finds the blob there and makes the links.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from engine.errors import GrusError
from engine.hub import library

_CHUNK = 1 << 20
_PATIENCE = 30.0  # seconds without a byte; then the connection counts as broken
_SHA256 = re.compile(r"[0-9a-f]{64}")  # the hub's tag of a large file; of a small one it is git's
_SHA1 = re.compile(r"[0-9a-f]{40}")


class Damaged(GrusError):
    """A file is not what the hub says it is."""

    code = "damaged_download"


def fetch_blob(repo: str, name: str, commit: str, storage: Path, count: Callable[[int], None]) -> None:
    """Bring one file into `storage/blobs`. `count(bytes)` hears how much of it is here; raising from it keeps the part.

    A connection that breaks is taken up again for as long as every attempt brings something.
    """
    hub = library.hub()
    url = hub.hf_hub_url(repo, name, revision=commit)
    about = hub.get_hf_file_metadata(url)
    if about.etag is None:
        raise GrusError(f"The hub does not say which version of {name} it has. Try again later.")
    blob = storage / "blobs" / about.etag
    if blob.exists():
        return
    blob.parent.mkdir(parents=True, exist_ok=True)
    part = blob.with_name(f"{about.etag}.part")
    while True:
        before = _size(part)
        try:
            _append(url, hub.utils.build_hf_headers(), part, about.size, count)
            break
        except Exception as error:
            if not _connection_broke(error) or _size(part) <= before:
                raise
    if not matches(part, about.etag):
        part.unlink()
        raise Damaged(f"{name} arrived damaged: its checksum is not the hub's. It was thrown away; download it again.")
    part.replace(blob)


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


def _append(url: str, headers: dict[str, str], part: Path, size: int | None, count: Callable[[int], None]) -> None:
    """The rest of a file behind what is there."""
    from huggingface_hub.utils import get_session, hf_raise_for_status

    there = _size(part)
    if size is not None and there >= size > 0:
        count(there)
        return
    asked = {**headers, "Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
    with get_session().stream("GET", url, headers=asked, follow_redirects=True, timeout=_PATIENCE) as response:
        hf_raise_for_status(response)
        goes_on = response.status_code == 206
        with part.open("ab" if goes_on else "wb") as stream:
            done = there if goes_on else 0
            count(done)
            for piece in response.iter_bytes():  # as it comes, so that a break loses nothing
                stream.write(piece)
                done += len(piece)
                count(done)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _connection_broke(error: BaseException) -> bool:
    """By name: which library carries the bytes depends on the hub's version."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"TransportError", "ConnectionError", "ChunkedEncodingError", "StreamError"})
