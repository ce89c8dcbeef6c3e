"""Writes a program's settings for this server, and takes exactly that back.

The file as it was is kept beside it. What was written, and what stood there before, is recorded in Grus's own folder. Taking
back gives the old file where nothing else has changed since; else it takes back value by value, and leaves what was changed by hand.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agents.programs import AgentProgram, AgentServer
from app.agents.settings_text import MISSING, SettingPath, changed, readable, value_at
from engine.errors import BadRequest, ErrorText

_SUFFIX = ".before-grus"


@dataclass(frozen=True)
class SettingsChange:
    """What connecting or disconnecting did, or would do."""

    file: Path
    before: str | None  # None: there is no file
    after: str | None
    backup: Path | None = None  # where the file as it was lies now
    left: tuple[str, ...] = ()  # values that were changed by hand since, and stay

    @property
    def nothing(self) -> bool:
        return self.before == self.after

    def diff(self, key: str = "") -> str:
        """The change line by line, without the key."""
        import difflib

        lines = difflib.unified_diff(
            (self.before or "").splitlines(), (self.after or "").splitlines(),
            str(self.file), str(self.file), lineterm="", n=2,
        )  # fmt: skip
        text = "\n".join(lines)
        return text.replace(key, "(key)") if len(key) > 4 else text


class Connections:
    """Which programs were connected. `folder` is Grus's own for settings."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "connected.json"
        # the window's clicks run in threads: taking back and connecting anew would lose each other's record
        self._lock = threading.Lock()

    def connected(self, program: AgentProgram) -> bool:
        """Whether the program's settings still hold what was written."""
        record = self._records().get(program.name)
        if record is None:
            return False
        text = _text(Path(record["file"]))
        try:
            data = {} if text is None else readable(program.format, text, record["file"])
        except BadRequest:
            return False
        return any(value_at(data, tuple(one["path"])) == one["ours"] for one in record["changes"])

    def connect(self, program: AgentProgram, server: AgentServer, dry: bool = False) -> SettingsChange:
        """Write the settings; the second time nothing changes. `dry`: only report."""
        with self._lock:
            return self._connect(program, server, dry)

    def _connect(self, program: AgentProgram, server: AgentServer, dry: bool) -> SettingsChange:
        program.check_installed()
        file = program.file()
        before = _text(file)
        data = readable(program.format, before or "", file)
        wanted = {path: value for path, value in program.defaults.items() if value_at(data, path) is MISSING}
        after = self._changed(program, before or "", {**wanted, **program.settings(server)}, file)
        if dry or after == before:
            return SettingsChange(file, before, after)
        records = self._records()
        record = records.get(program.name) or {}
        if record.get("file") != str(file):
            record = {}
        known = {tuple(one["path"]): one for one in record.get("changes", ())}
        for path, value in {**wanted, **program.settings(server)}.items():
            one = known.setdefault(path, _entry(data, path))
            one["ours"] = value
        backup = Path(record["backup"]) if record.get("backup") else None
        # the old file is given back as it was only where every change since was one of these
        whole = not record or (before is not None and _digest(before) == record["digest"])
        if before is not None and (backup is None or not backup.is_file()) and not record:
            backup = _free_name(file)
            shutil.copy2(file, backup)
        records[program.name] = {
            "file": str(file),
            "backup": str(backup) if backup else "",
            "digest": _digest(after) if whole else "",
            "changes": [*known.values()],
        }
        # the record first: what is recorded and was not written is found unchanged when it is taken back
        self._keep(records)
        _write(file, after)
        return SettingsChange(file, before, after, backup)

    def disconnect(self, program: AgentProgram, dry: bool = False) -> SettingsChange:
        """Take back what was written."""
        with self._lock:
            return self._disconnect(program, dry)

    def _disconnect(self, program: AgentProgram, dry: bool) -> SettingsChange:
        records = self._records()
        record = records.get(program.name)
        if record is None:
            raise BadRequest(
                ErrorText("{program} was not connected by Grus: there is nothing to take back.", program=program.title),
                "program",
            )
        file, backup = Path(record["file"]), Path(record["backup"]) if record["backup"] else None
        before = _text(file)
        after, left = before, list[str]()
        if before is not None and _digest(before) == record["digest"] and (backup is None or backup.is_file()):
            after = None if backup is None else _text(backup)
        elif before is not None:
            after, left = self._taken_back(program, before, record, file)
            if backup is None and not readable(program.format, after, file) and "#" not in after and "//" not in after:
                after = None
        if dry:
            return SettingsChange(file, before, after, left=tuple(left))
        if after is None:
            file.unlink(missing_ok=True)
        elif after != before:
            _write(file, after)
        if backup is not None and _text(backup) == after:
            backup.unlink(missing_ok=True)
            backup = None
        del records[program.name]
        self._keep(records)
        return SettingsChange(
            file, before, after, backup if backup is not None and backup.is_file() else None, tuple(left)
        )

    def _taken_back(
        self, program: AgentProgram, text: str, record: Mapping[str, Any], file: Path
    ) -> tuple[str, list[str]]:
        left = []
        for one in reversed(record["changes"]):
            path = tuple(one["path"])
            now = value_at(readable(program.format, text, file), path)
            if now is MISSING:
                continue
            if now != one["ours"]:
                left.append(".".join(path))
                continue
            text = self._changed(program, text, {path: one.get("before", MISSING)}, file)
            for length in range(
                len(path) - 1, one["made"] - 1, -1
            ):  # objects that connecting made, once they are empty
                if one["made"] and value_at(readable(program.format, text, file), path[:length]) in ({}, []):
                    text = self._changed(program, text, {path[:length]: MISSING}, file)
        return text, left

    def _changed(self, program: AgentProgram, text: str, changes: Mapping[SettingPath, Any], file: Path) -> str:
        try:
            return changed(program.format, text, changes)
        except (ValueError, KeyError, IndexError) as error:
            raise BadRequest(
                ErrorText(
                    "{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.",
                    file=str(file),
                    why=str(error),
                )
            ) from None

    def _records(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _keep(self, records: Mapping[str, Any]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        _write(self._file, json.dumps(records, ensure_ascii=False, indent=1))


def _entry(data: Any, path: SettingPath) -> dict[str, Any]:
    """A value's record: what stood there, and how many names of its path existed (0: it needs no object of ours)."""
    before = value_at(data, path)
    made = next((length for length in range(1, len(path)) if value_at(data, path[:length]) is MISSING), 0)
    entry: dict[str, Any] = {"path": [*path], "made": made}
    return entry if before is MISSING else {**entry, "before": before}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(file: Path) -> str | None:
    """The text with its own line ends; None where there is no file."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadRequest(ErrorText("{file} is no text in UTF-8. Nothing was changed.", file=str(file))) from None


def _free_name(file: Path) -> Path:
    names = (file.with_name(f"{file.name}{_SUFFIX}{'' if n == 1 else f'-{n}'}") for n in range(1, 10_000))
    return next(name for name in names if not name.exists())


def _write(file: Path, text: str) -> None:
    """At once or not at all, where a link leads, with the rights that the file had; a new one only its owner may read."""
    target = Path(os.path.realpath(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.grus-new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(text.encode())
    with contextlib.suppress(FileNotFoundError):
        shutil.copymode(target, fresh)
    os.replace(fresh, target)
