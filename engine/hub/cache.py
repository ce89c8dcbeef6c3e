"""Hugging Face's cache folder on this machine: where it is, which models are in it, and whether they are whole.

Reads the folder itself, so that finding a cached model needs neither the network nor huggingface_hub (slow to import).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import WeightsError
from engine.hub.gguf_files import gguf_models, missing_of
from engine.weights.safetensors import INDEX, SINGLE, missing_shards, read_index

DEFAULT_REVISION = "main"
WEIGHT_KINDS = (".safetensors", ".gguf", ".bin", ".pt", ".pth")  # in order of preference
REPO_ID = re.compile(r"(?!.*(?:--|\.\.))[A-Za-z0-9_](?:[\w.-]*\w)?/[A-Za-z0-9_](?:[\w.-]*\w)?", re.ASCII)

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Snapshot:
    """One revision of a repository as it lies in the cache."""

    repo: str
    commit: str
    path: Path
    missing: tuple[str, ...] = ()  # files that a whole model would have

    @property
    def complete(self) -> bool:
        return not self.missing


@dataclass(frozen=True)
class CachedModel:
    snapshot: Snapshot
    nbytes: int  # on disk, of all revisions
    modified: float  # seconds since the epoch
    quants: tuple[str, ...] = ()  # of one that holds GGUF files alone: those that are whole

    @property
    def repo(self) -> str:
        return self.snapshot.repo

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be asked for by: several quantizations go by names of their own."""
        return tuple(f"{self.repo}:{quant}" for quant in self.quants) if len(self.quants) > 1 else (self.repo,)


def cache_folder(explicit: str | Path | None = None) -> Path:
    """The explicit setting, `HF_HUB_CACHE`, `HF_HOME`/hub, the default: the first that is set."""
    env = os.environ
    if explicit:
        chosen = str(explicit)
    elif hub := env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE"):
        chosen = hub
    elif home := env.get("HF_HOME"):
        chosen = os.path.join(home, "hub")
    else:
        chosen = os.path.join(env.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface", "hub")
    return Path(os.path.expandvars(os.path.expanduser(chosen)))


def find(repo: str, revision: str | None = None, cache_dir: str | Path | None = None) -> Snapshot | None:
    """The cached snapshot of a repository at a branch, tag or commit (default: main), whole or not."""
    folder = repo_folder(repo, cache_dir)
    commit = _commit(folder, revision or DEFAULT_REVISION)
    if commit is None:
        return None
    path = folder / "snapshots" / commit
    return Snapshot(repo, commit, path, tuple(_missing(path))) if path.is_dir() else None


def cached_models(cache_dir: str | Path | None = None) -> list[CachedModel]:
    """Every model in the cache, by name. Of one without a main branch, the newest snapshot counts."""
    root = cache_folder(cache_dir)
    models = []
    for folder in sorted(root.glob("models--*")) if root.is_dir() else []:
        repo = folder.name.removeprefix("models--").replace("--", "/")
        snapshot = find(repo, None, cache_dir) or _newest(repo, folder)
        if snapshot is None or _tokenizer_alone(folder, snapshot.path):
            continue
        # Snapshots link to blobs, and blobs may be links themselves: count what they lead to, once.
        entries = (entry for part in ("blobs", "snapshots") for entry in (folder / part).rglob("*"))
        files = {entry.resolve() for entry in entries if entry.is_file()}
        nbytes = sum(file.stat().st_size for file in files)
        models.append(CachedModel(snapshot, nbytes, snapshot.path.stat().st_mtime, tuple(whole_quants(snapshot.path))))
    return models


def repo_folder(repo: str, cache_dir: str | Path | None) -> Path:
    return cache_folder(cache_dir) / ("models--" + repo.replace("/", "--"))


def _commit(folder: Path, revision: str) -> str | None:
    if _COMMIT.fullmatch(revision):
        return revision
    if ".." in Path(revision).parts or Path(revision).is_absolute():
        return None
    try:
        commit = (folder / "refs" / revision).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return commit if re.fullmatch(r"[\w-]+", commit) else None


def _newest(repo: str, folder: Path) -> Snapshot | None:
    paths = [path for path in folder.glob("snapshots/*") if path.is_dir()]
    if not paths:
        return None
    path = max(paths, key=lambda p: p.stat().st_mtime)
    return Snapshot(repo, path.name, path, tuple(_missing(path)))


def whole_quants(snapshot: Path) -> list[str]:
    """Quantizations of a snapshot that holds GGUF files alone, those whose shards are all there; else nothing."""
    files = files_of(snapshot)
    if any(name.endswith(kind) for name in files for kind in WEIGHT_KINDS if kind != ".gguf"):
        return []
    return [kind for kind, parts in gguf_models(files).items() if not missing_of(parts)]


def files_of(snapshot: Path) -> list[str]:
    return sorted(entry.relative_to(snapshot).as_posix() for entry in snapshot.rglob("*") if entry.is_file())


def _tokenizer_alone(folder: Path, snapshot: Path) -> bool:
    """What was fetched for a GGUF file without a tokenizer is no model, nor one that was cut off."""
    names = files_of(snapshot)
    model = ("config.json", "params.json", INDEX)
    return (
        bool(names)
        and not any(name.endswith(WEIGHT_KINDS) or name.rpartition("/")[2] in model for name in names)
        and not any(folder.glob("blobs/*.part"))
    )


def _missing(path: Path) -> list[str]:
    """What a download that was cut off left out, as far as the files that are there can tell."""
    names = {entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_symlink() or entry.is_file()}
    there = {name for name in names if (path / name).exists()}
    missing = names - there  # links whose blob is gone
    weights = {name for name in names if name.endswith(WEIGHT_KINDS)}
    if INDEX in there and SINGLE not in weights:
        try:
            missing |= set(read_index(path / INDEX).values()) - there
        except WeightsError:
            missing.add(INDEX)
    elif not weights:
        missing.add(SINGLE)
    missing.update(missing_shards(weights))
    configs = {"config.json", "LLM/config.json"}  # Spark-TTS keeps its language model in a folder of its own
    if not configs & names and not any(name.endswith(".gguf") for name in names):
        missing.add("config.json")
    return sorted(missing)
