"""The archive: conversations, or everything that Grus keeps, as one ZIP file that another Grus takes in.

`content.json` holds the rows of the database and the settings; files of Grus's own (attachments, recordings, sound, voices) lie beside
it. Paths of these files are written relative to the data folder, so that they fit another machine. Secrets stay behind: the keys
of the server are left out, and a Hugging Face token is in no file that is read here. What is taken in is added: nothing that
is there is replaced but settings and presets of the same name.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from app.gui.store.database import OWN_FOLDERS, next_id, private_file, private_folder
from app.gui.texts import tr
from engine.errors import BadRequest
from engine.zip_file import BoundedZip, ZipRefused

FORMAT, VERSION = "grus-archive", 1
_CONTENT = "content.json"
_VOICES = "voices"  # a folder of a folder for each voice
_HERE = "{grus}/"  # the data folder, in paths
_MOST_FILES, _LARGEST_CONTENT, _LARGEST_FILE, _LARGEST = 500_000, 2 << 30, 16 << 30, 256 << 30  # bytes, unpacked
_CONVERSATIONS = ("folders", "conversations", "messages")
_ALL = (*_CONVERSATIONS, "presets", "results", "memories")
_JSON = {"folders": ("attachments",), "messages": ("calls", "attachments", "figures"), "results": ("body",)}
_LIVE = dict.fromkeys(("folders", "conversations", "messages", "results", "memories"), " WHERE deleted IS NULL")
_SPARE = 256 << 20  # bytes of the disk that stay free
# of this machine, or of what is open now
_STAYS = ("window", "conversation", "pane", "server.on", "read.watches", "read.watched_folder", "downloads", "backend", "device", "memory_limit", "replicas", "tensor_parallel", "draft_model",
          "cache_dir", "model_folders", "models_folder", "models")  # fmt: skip


@dataclass(frozen=True)
class Archive:
    """What an archive holds. `rows`: by table; `files`: places relative to the data folder."""

    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[str] = ()


# -- out


def collect(db: sqlite3.Connection, data: Path, everything: bool, settings: Mapping[str, Any]) -> Archive:
    """A question for the store."""
    tables = _ALL if everything else _CONVERSATIONS
    rows = {name: [_outward(name, dict(row), data) for row in db.execute(_select(name))] for name in tables}
    known = {row["id"] for row in rows["conversations"]}
    rows["messages"] = [row for row in rows["messages"] if row["conversation"] in known]
    files = {file[len(_HERE) :] for file in _paths(rows)}
    if everything:
        files |= {file.relative_to(data).as_posix() for file in (data / _VOICES).glob("*/*")}
    there = sorted(name for name in files if _is_own(name) and (data / name).is_file())
    return Archive(rows, shareable(settings) if everything else {}, there)


def shareable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without secrets, and without those that are about this machine."""
    kept = {key: value for key, value in settings.items() if key not in _STAYS}
    if isinstance(kept.get("server"), dict):
        kept["server"] = {key: value for key, value in kept["server"].items() if key in ("port", "origins")}
    return kept


def write(archive: Archive, data: Path, target: Path) -> Path:
    """The archive as a file, which is replaced as a whole."""
    fresh = target.with_name(f".{target.name}.part")
    content = {"format": FORMAT, "version": VERSION, "made": time.time(), "rows": archive.rows}
    content["settings"] = archive.settings
    try:
        private = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)  # conversations are nobody else's
        with os.fdopen(private, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr(_CONTENT, json.dumps(content, ensure_ascii=False, indent=1))
            for name in archive.files:
                out.write(data / name, name)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return target


def _select(table: str) -> str:
    return f"SELECT * FROM {table}{_LIVE.get(table, '')} ORDER BY rowid"


def _outward(table: str, row: dict[str, Any], data: Path) -> dict[str, Any]:
    for column in _JSON.get(table, ()):
        row[column] = json.loads(row[column])
    return {key: _mapped(value, lambda text: _relative(text, data)) for key, value in row.items()}


def _relative(text: str, data: Path) -> str:
    place = Path(text) if text.startswith(str(data)) else None
    if place is None or not place.is_relative_to(data):
        return text
    return _HERE + place.relative_to(data).as_posix()


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inside, change) for key, inside in value.items()}
    return [_mapped(inside, change) for inside in value] if isinstance(value, list) else value


def _paths(value: Any) -> set[str]:
    found: set[str] = set()
    _mapped(value, lambda text: found.add(text) or text if text.startswith(_HERE) else text)  # type: ignore[func-returns-value]
    return found


# -- in


def is_archive(file: Path) -> bool:
    """Whether a file is to be read as an archive: a ZIP file with Grus's own list of contents."""
    try:
        with _opened(file) as archive:
            return _CONTENT in archive.names
    except ZipRefused:
        return False


def _opened(file: Path) -> BoundedZip:
    return BoundedZip(file, parts=_MOST_FILES, whole=_LARGEST)


def read(file: Path) -> Archive:
    """Check an archive; nothing is taken in yet."""
    try:
        with _opened(file) as archive:
            content = json.loads(archive.read(_CONTENT, _LARGEST_CONTENT))
            names = [name for name in archive.names if _is_own(name)]
    except (ZipRefused, KeyError, ValueError, RecursionError):
        raise BadRequest(tr("This file is not a Grus archive, or it is damaged.")) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("rows"), dict):
        raise BadRequest(tr("This file is not a Grus archive, or it is damaged."))
    if content.get("version", 0) > VERSION:
        raise BadRequest(tr("This archive was made by a newer Grus. Update Grus to import it."))
    return Archive(content["rows"], shareable(content.get("settings") or {}), names)


def unpack(file: Path, archive: Archive, data: Path) -> None:
    """The archive's files into the data folder. Names are made of the content: one that is there is the same file."""
    voices = data / _VOICES
    taken = {folder.name for folder in voices.iterdir()} if voices.is_dir() else set()  # a voice stays as it is
    try:
        with _opened(file) as source:
            _check_room(source, archive, data)
            for name in archive.files:
                target = data / name
                if not target.exists() and not (target.parent.parent == voices and target.parent.name in taken):
                    private_folder(target.parent)
                    _unpack(source, name, target)
    except (ZipRefused, KeyError):
        raise BadRequest(tr("This file is not a Grus archive, or it is damaged.")) from None


def _check_room(source: BoundedZip, archive: Archive, data: Path) -> None:
    """No part gives more bytes than the archive says of it, so the disk is not filled by one that says less."""
    wanted = set(archive.files)
    needed = sum(part.file_size for part in source.parts if part.filename in wanted)
    data.mkdir(parents=True, exist_ok=True)
    if needed > shutil.disk_usage(data).free - _SPARE:
        raise BadRequest(tr("The disk has too little room for what is in this archive."))


def _unpack(source: BoundedZip, name: str, target: Path) -> None:
    """As a whole or not at all: a part of a file would be taken for the file by the next import."""
    fresh = target.with_name(f".{target.name}.part")
    try:
        private_file(fresh)
        with fresh.open("wb") as out:
            for piece in source.pieces(name, _LARGEST_FILE):
                out.write(piece)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def add(db: sqlite3.Connection, archive: Archive, data: Path) -> int:
    """A question for the store: add all rows, with new ids. Returns the number of conversations."""
    ids: dict[str, dict[int, int]] = {name: {} for name in _ALL}
    try:
        for table in _ALL:
            for row in archive.rows.get(table, ()):
                _add_row(db, table, dict(row), ids, data)
        for row in archive.rows.get("conversations", ()):
            leaf = ids["messages"].get(row.get("leaf") or 0)
            db.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (leaf, ids["conversations"][row["id"]]))
    except (KeyError, TypeError, ValueError, AttributeError, sqlite3.IntegrityError, sqlite3.OperationalError) as error:
        raise BadRequest(tr("This archive cannot be imported: a part of it is damaged.")) from error
    return len(ids["conversations"])


def _add_row(
    db: sqlite3.Connection, table: str, row: dict[str, Any], ids: dict[str, dict[int, int]], data: Path
) -> None:
    known = [column["name"] for column in db.execute(f"PRAGMA table_info({table})")]
    row = {column: _mapped(row[column], lambda text: _absolute(text, data)) for column in known if column in row}
    for column in _JSON.get(table, ()):
        if column in row or table != "folders":  # an older archive has no settings of projects
            row[column] = json.dumps(row[column], ensure_ascii=False)
    if table == "folders":
        same = db.execute("SELECT id FROM folders WHERE name = ? AND deleted IS NULL", (row["name"],)).fetchone()
        if same is not None:
            ids[table][row["id"]] = same["id"]
            return
    if table == "conversations":
        row |= {"folder": ids["folders"].get(row["folder"]), "leaf": None}
    if table == "memories":
        if db.execute("SELECT 1 FROM memories WHERE text = ? AND deleted IS NULL", (row["text"],)).fetchone():
            return
        row |= {"conversation": ids["conversations"].get(row["conversation"])}
    if table == "messages":
        row |= {"conversation": ids["conversations"][row["conversation"]]}
        row["parent"] = None if row["parent"] is None else ids[table][row["parent"]]
        if row["state"] == "writing":  # it was being written when it was exported
            row["state"] = "stopped"
    if "id" in known:
        before, row["id"] = row["id"], next_id(db, table)
        ids[table][before] = row["id"]
    places = ", ".join("?" * len(row))
    db.execute(f"INSERT OR REPLACE INTO {table}({', '.join(row)}) VALUES ({places})", tuple(row.values()))


def _absolute(text: str, data: Path) -> str:
    if not text.startswith(_HERE):
        return text
    name = text[len(_HERE) :]
    return str(data / name) if _is_own(name) else name


def _is_own(name: str) -> bool:
    """Whether a name in an archive is a file in one of Grus's own folders: no name leads outside."""
    first, *rest = PurePosixPath(name).parts or ("",)
    plain = not {"..", "."} & set(rest) and "\\" not in name and ":" not in name and not name.endswith("/")
    return plain and ((first in OWN_FOLDERS and len(rest) == 1) or (first == _VOICES and len(rest) == 2))
