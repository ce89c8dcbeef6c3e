"""Looks for a newer release when asked to, downloads its file and checks it: nothing that is not signed is ever used.

A release's `latest.json` names its version, what changed, and a digest of each file; `latest.json.minisig` signs it. Where both are
to be had, and whose key signs them, is in `resources/update.json`, which is written when a release is built: a Grus from source has
none, and never looks. Besides models, this and the CUDA pack (`app/cuda_pack.py`) are all that Grus fetches.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit

import resources
from app.bundled import grus_version, is_bundled
from app.minisign import BadSignature, PublicKey
from engine.errors import DiskFull, ErrorText, GrusError, Offline, Unsupported
from engine.hub import offline

_SECONDS = 30
_LARGEST_FEED = 1 << 20
_CHUNK = 1 << 20
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class UpdateSource:
    """Where releases are announced, and the key that signs them."""

    feed: str
    key: PublicKey

    @classmethod
    def installed(cls) -> UpdateSource | None:
        """Of this installation; None from source, and in a build that was not told where."""
        file = resources.path("update.json")
        if not file.is_file():
            return None
        source = json.loads(file.read_text(encoding="utf-8"))
        return cls(source["feed"], PublicKey.parse(source["key"]))


@dataclass(frozen=True)
class ReleaseFile:
    url: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        return Path(urlsplit(self.url).path).name


@dataclass(frozen=True)
class AvailableUpdate:
    version: str
    notes: str  # Markdown: what changed
    files: dict[str, ReleaseFile]  # by kind: deb, rpm, appimage, dmg, setup


def check(source: UpdateSource, current: str | None = None) -> AvailableUpdate | None:
    """The newest release, where it is newer than this one."""
    feed = _fetch(source.feed, _LARGEST_FEED)
    signature = _fetch(source.feed + ".minisig", _LARGEST_FEED)
    try:
        source.key.check(feed, signature.decode("utf-8", "replace"))
        content = json.loads(feed)
        files = {
            kind: ReleaseFile(str(f["url"]), str(f["sha256"]), int(f["size"])) for kind, f in content["files"].items()
        }
        found = AvailableUpdate(str(content["version"]), str(content["notes"]), files)
    except BadSignature as error:
        raise Offline(
            ErrorText("The list of new versions is not trusted: {reason}. Nothing was changed.", reason=str(error))
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Offline(ErrorText("The list of new versions cannot be read. Nothing was changed.")) from None
    return found if is_newer(found.version, grus_version() if current is None else current) else None


def is_newer(version: str, than: str) -> bool:
    """Of versions as releases have them: numbers, then a, b or rc. A development version comes before its release."""
    return _order(version) > _order(than)


def _order(version: str) -> tuple[tuple[int, ...], int, int]:
    found = re.match(r"(\d+(?:\.\d+)*)(?:\.?(dev|a|b|rc)(\d*))?", version)
    if found is None:
        return ((), 0, 0)
    numbers = tuple(int(part) for part in found[1].split("."))
    kind = ("dev", "a", "b", "rc", None).index(found[2])
    return (numbers + (0,) * (4 - len(numbers)), kind, int(found[3] or 0))


def installed_kind() -> str:
    """How this Grus was installed, as releases name their files; `python` where an installer of Python's did it."""
    if not is_bundled():
        return "python"
    if sys.platform == "darwin":
        return "dmg"
    if sys.platform == "win32":
        return "setup"
    if os.environ.get("APPIMAGE"):
        return "appimage"
    return "rpm" if Path("/etc/redhat-release").exists() or Path("/usr/bin/zypper").exists() else "deb"


def download(file: ReleaseFile, folder: Path, progress: Progress | None = None) -> Path:
    """The file in `folder`, whole and with the digest that was signed. What arrived of it before is kept and continued."""
    target, part = folder / file.name, folder / f"{file.name}.part"
    if target.exists() and _digest(target) == file.sha256:
        return target
    have = part.stat().st_size if part.exists() else 0
    if have >= file.size:
        part.unlink()
        have = 0
    try:
        with _open(file.url, have) as reply:
            if reply.status != 206:
                have = 0
            with part.open("ab" if have else "wb") as out:
                while chunk := reply.read(_CHUNK):
                    out.write(chunk)
                    have += len(chunk)
                    if progress is not None:
                        progress(have, file.size)
                    if have > file.size:
                        break
    except (URLError, TimeoutError, ConnectionError) as error:
        raise Offline(
            ErrorText(
                "{name} could not be downloaded: {reason}. What arrived is kept.", name=file.name, reason=_why(error)
            )
        ) from None
    except OSError as error:
        raise DiskFull(
            ErrorText("{name} could not be saved: {reason}.", name=file.name, reason=error.strerror or str(error))
        ) from None
    if have < file.size:
        raise Offline(
            ErrorText(
                "The download of {name} was interrupted. Start it again: it continues from there.", name=file.name
            )
        )
    if _digest(part) != file.sha256:
        part.unlink()
        raise GrusError(ErrorText("{name} is not the file that was announced. It was deleted.", name=file.name))
    part.replace(target)
    return target


def replaces_itself(kind: str) -> bool:
    """Whether `how_to_install` installs it too."""
    return kind == "appimage"


def how_to_install(kind: str, file: Path | None) -> str:
    """What a person does with the file; an AppImage is replaced at once, and the next start is the new version."""
    if kind == "python":
        return "uv tool upgrade grus, or pipx upgrade grus, or pip install --upgrade grus: as it was installed"
    if file is None:
        raise Unsupported(ErrorText("This release has no file of the kind {kind}.", kind=kind))
    if replaces_itself(kind):
        place = Path(os.environ["APPIMAGE"])
        beside = place.with_name(
            f".{place.name}.new"
        )  # the download may be on another disk, and a program that runs is not written to
        try:
            shutil.copyfile(file, beside)
            beside.chmod(0o755)
            beside.replace(place)
        except OSError as error:
            beside.unlink(missing_ok=True)
            why = error.strerror or str(error)
            raise GrusError(ErrorText("{file} cannot be replaced: {reason}.", file=str(place), reason=why)) from None
        file.unlink()
        return f"{place} is the new version. Start it again."
    commands = {
        "deb": f"sudo apt install {file}",
        "rpm": f"sudo dnf install {file}",
        "dmg": f"open {file}",
        "setup": str(file),
    }
    return commands[kind]


def _open(url: str, start: int = 0) -> Any:
    import urllib.request  # with TLS, which an idle window does not hold

    if (reason := offline.forbidden()) is not None:
        raise Offline(ErrorText("Grus does not look for a new version: {reason}.", reason=reason))
    if urlsplit(url).scheme != "https" and urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
        raise Offline(ErrorText("A new version is downloaded over https only."))
    headers = {"User-Agent": f"grus/{grus_version()}", **({"Range": f"bytes={start}-"} if start else {})}
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_SECONDS)


def _fetch(url: str, most: int) -> bytes:
    try:
        with _open(url) as reply:
            data: bytes = reply.read(most + 1)
    except (URLError, TimeoutError, ConnectionError) as error:
        raise Offline(ErrorText("Checking for a new version failed: {reason}.", reason=_why(error))) from None
    if len(data) > most:
        raise Offline(ErrorText("The list of new versions is too large. Nothing was changed."))
    return data


def _why(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
