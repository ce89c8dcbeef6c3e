"""Hugging Face's cache folder on this machine: where it is, which models are in it, how they are called, and whether they are whole.

Reads the folder itself, so that finding a cached model needs neither the network nor huggingface_hub (slow to import).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import GrusError, ModelNotFound, WeightsError
from engine.weights.chatterbox_files import FILES as PARTS
from engine.weights.gguf.mmproj_files import is_mmproj
from engine.weights.gguf.reader import read
from engine.weights.safetensors import INDEX, SINGLE, missing_shards, read_index

DEFAULT_REVISION = "main"
ADAPTER = "adapter_config.json"  # only a LoRA adapter's folder has it
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapters.safetensors", "adapter_model.bin")  # in order of preference
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
    adapter_of: str | None = None  # of an adapter: the model that it was made for, empty where it does not say

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
        quants, base = tuple(whole_quants(snapshot.path)), adapter_base(snapshot.path)
        models.append(CachedModel(snapshot, nbytes, snapshot.path.stat().st_mtime, quants, base))
    return models


def adapter_base(path: Path) -> str | None:
    """The model that an adapter's folder was made for, empty where it does not say; None where it holds a model instead."""
    if (path / "config.json").exists() or not (path / ADAPTER).is_file():
        return None
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads((path / ADAPTER).read_bytes())
        base = found.get("base_model_name_or_path") or found.get("model") if isinstance(found, dict) else None
        return base if isinstance(base, str) else ""
    return ""


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
    weights = {name for name in names if name.endswith(WEIGHT_KINDS) and not name.startswith("voices/")}
    if INDEX in there and SINGLE not in weights:
        try:
            missing |= set(read_index(path / INDEX).values()) - there
        except WeightsError:
            missing.add(INDEX)
    elif ADAPTER in names and "config.json" not in names:
        return sorted(missing | (set() if there.intersection(ADAPTER_WEIGHTS) else {ADAPTER_WEIGHTS[0]}))
    elif not weights:
        missing.add(SINGLE)
    missing.update(missing_shards(weights))
    if PARTS.keys() & names and "config.json" not in names:
        return sorted(missing | (PARTS.keys() - there))
    configs = {"config.json", "LLM/config.json"}  # Spark-TTS keeps its language model in a folder of its own
    if not configs & names and not any(name.endswith(".gguf") for name in names):
        missing.add("config.json")
    return sorted(missing)


# -- the GGUF files of a repository as the models they hold: one model in several quantizations, each a file or its shards

_SHARD = re.compile(r"-(\d{5})-of-(\d{5})$")
_KIND = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:P?T?I?Q\d[A-Z0-9_]*|MXFP4[A-Z_]*|NVFP4|BF16|F16|FP16|F32))(?=$|[-._/])", re.IGNORECASE
)
# The usual trade of size against quality comes first. MXFP4 is how gpt-oss is published, beside a small draft model in Q8_0.
_CHOICE = ("Q4_K_M", "UD-Q4_K_M", "MXFP4", "Q4_K_S", "Q4_0", "Q5_K_M", "Q6_K", "Q8_0", "BF16", "F16")


def gguf_models(names: Iterable[str]) -> dict[str, list[str]]:
    """Files by quantization, in the repository's order, shards together; what sees for a model (mmproj) is left out.

    A file whose name tells no quantization goes by its stem, and so does a second one of the same quantization.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(".gguf") and not is_mmproj(name):
            groups.setdefault(_SHARD.sub("", name.removesuffix(".gguf")), []).append(name)
    models: dict[str, list[str]] = {}
    for stem, files in groups.items():
        kind = kind_of(stem)
        models[kind if kind and kind not in models else stem] = sorted(files)
    return models


def kind_of(name: str) -> str:
    """The quantization in a file's name; empty where the name has none."""
    found = _KIND.findall(_SHARD.sub("", name.removesuffix(".gguf")))
    return str(found[-1]).upper() if found else ""


def chosen(models: dict[str, list[str]], quant: str | None, loosely: bool = True) -> str | None:
    """The key of what is asked for: a quantization, a file's name, or a part of one of these, in any case. None where
    nothing fits. Without a wish the usual choice.

    An exact name goes first, then one that has a word which begins so (`Q4_K` for `Q4_K_M`, not `F16` for `BF16`), then,
    if `loosely`, any that contains it. Raises ModelNotFound where several fit equally well.
    """
    if quant is None:
        return next((kind for kind in _CHOICE if kind in models), next(iter(models), None))
    wanted = _SHARD.sub("", quant.lower().removesuffix(".gguf"))
    begins = re.compile(r"(?:^|[-._/ ])" + re.escape(wanted))
    names = {kind: (kind.lower(), _stem(files[0])) for kind, files in models.items()}
    steps = [
        [kind for kind, (name, _) in names.items() if name == wanted],
        [kind for kind, (_, stem) in names.items() if stem == wanted],
        [kind for kind, (name, _) in names.items() if begins.search(name)],
        [kind for kind, (_, stem) in names.items() if begins.search(stem)],
        [kind for kind, both in names.items() if loosely and any(wanted in name for name in both)],
    ]
    found = next(filter(None, steps), [])
    if len(found) > 1:
        raise ModelNotFound(f"{quant} fits several GGUF files: {', '.join(found)}. Name one of them.")
    return found[0] if found else None


def file_in(folder: Path, wanted: str) -> Path:
    """The GGUF file of a folder on this machine that has this name or quantization, or a part of it; of several shards the
    first. Raises ModelNotFound, with what there is."""
    models = gguf_models(sorted(file.name for file in folder.glob("*.gguf")))
    kind = chosen(models, wanted)
    if kind is None:
        there = f"It has: {', '.join(models)}" if models else "It holds no GGUF files"
        raise ModelNotFound(f"{folder} has no {wanted}. {there}.")
    return folder / models[kind][0]


def missing_of(files: Iterable[str]) -> list[str]:
    """Shards of this one model that are not among its files."""
    there = set(files)
    wanted: set[str] = set()
    for name in there:
        if found := _SHARD.search(name.removesuffix(".gguf")):
            start, count = name[: found.start()], found[2]
            wanted |= (
                {f"{start}-{i:05}-of-{count}.gguf" for i in range(1, int(count) + 1)} if int(count) < 1000 else set()
            )
    return sorted(wanted - there)


def _stem(name: str) -> str:
    return _SHARD.sub("", name.rpartition("/")[2].lower().removesuffix(".gguf"))


# -- how a model of the hub is called: `owner/name`, with `@revision` and with `:QUANT` where a repository holds a model in
# several quantizations, as in `Qwen/Qwen3-0.6B-GGUF:Q8_0`.

_QUANT = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_GGUF = re.compile(r"[-_.]GGUF$", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    repo: str
    revision: str | None = None
    quant: str | None = None

    @property
    def base(self) -> str | None:
        """The repository that a GGUF repository was made from, by its name; None for another one."""
        made_from = _GGUF.sub("", self.repo)
        return made_from if made_from != self.repo and REPO_ID.fullmatch(made_from) else None


def parse(name: str) -> Named | None:
    """None for what is no name of a repository. `:latest` is how some clients say that they choose none."""
    rest, colon, quant = name.partition(":")
    repo, at, revision = rest.partition("@")
    if not REPO_ID.fullmatch(repo) or (at and not revision) or (colon and not _QUANT.fullmatch(quant)):
        return None
    return Named(repo, revision or None, None if quant in ("", "latest") else quant)


# -- from a snapshot's file name to the blob that holds its content, laid out as huggingface_hub does
#
# Where a system or a disk has no links (Windows without the developer mode, exFAT), the snapshot gets a copy.


def inside(folder: Path, name: str) -> Path:
    """`folder`/`name`. A hub's name must not lead out of the folder."""
    parts = name.replace("\\", "/").split("/")
    if not name or any(part in ("", ".", "..") for part in parts) or ":" in parts[0]:
        raise GrusError(f"The hub names a file {name[:100]!r}, which is no name inside a repository.")
    return folder.joinpath(*parts)


def link(blob: Path, name: Path) -> None:
    """Make `name` stand for `blob`, in one step: another process may do the same."""
    name.parent.mkdir(parents=True, exist_ok=True)
    fresh = name.with_name(f".{name.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        try:
            fresh.symlink_to(os.path.relpath(blob, name.parent))
        except (OSError, NotImplementedError):
            shutil.copyfile(blob, fresh)
        fresh.replace(name)
    finally:
        fresh.unlink(missing_ok=True)


# -- what of a cached snapshot can be opened: a folder, or one of the GGUF files that lie in it, and where a file's tokenizer is

_TOKENIZERS = (("tokenizer.json",), ("tekken.json",), ("vocab.json", "merges.txt"))


def model_in(snapshot: Snapshot, quant: str | None = None, weights: str = "auto", loosely: bool = True) -> Path | None:
    """What to open: of GGUF files the first shard of the one that is wanted; None where it is not there, or not whole.

    `weights`: the format that is wanted (`safetensors`, `gguf`), where a snapshot holds both. `loosely`: see `chosen`.
    """
    if weights == "safetensors":
        here = any(name.endswith(".safetensors") for name in files_of(snapshot.path))
        return snapshot.path if here and snapshot.complete else None
    if quant is None and weights != "gguf" and not whole_quants(snapshot.path):
        return snapshot.path if snapshot.complete else None
    whole = {kind: parts for kind, parts in gguf_models(files_of(snapshot.path)).items() if not missing_of(parts)}
    kind = chosen(whole, quant, loosely)
    return snapshot.path / whole[kind][0] if kind else None


def tokenizer_of(file: Path) -> Path | None:
    """The folder with the tokenizer of a GGUF file that holds none: its own, else what the cache has of its base repository."""
    if _has_tokenizer(file.parent):
        return file.parent
    place = next((folder for folder in file.absolute().parents if folder.name.startswith("models--")), None)
    base = Named(place.name.removeprefix("models--").replace("--", "/")).base if place else None
    snapshot = find(base, None, place.parent) if place and base else None
    return snapshot.path if snapshot is not None and _has_tokenizer(snapshot.path) else None


def needs_tokenizer(file: Path) -> bool:
    """Whether a GGUF file holds no tokenizer and none lies here for it. A file that cannot be read says so when opened."""
    with suppress(GrusError):
        return "tokenizer.ggml.tokens" not in read(file).metadata and tokenizer_of(file) is None
    return False


def _has_tokenizer(folder: Path) -> bool:
    return any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS)


# -- taking a model out of the cache so that it can be put back for a while
#
# It is moved beside the others, within the same disk, and thrown away later.

ASIDE = ".grus-removed"


@dataclass(frozen=True)
class Removed:
    """A repository that was taken out."""

    repo: str
    moved: Sequence[tuple[Path, Path]]  # from where, to where

    def restore(self) -> bool:
        """False when it is no longer there, or when its place was taken by a new download."""
        if any(not os.path.lexists(aside) or os.path.lexists(home) for home, aside in self.moved):
            return False
        for home, aside in self.moved:
            aside.rename(home)
        return True

    def purge(self) -> None:
        for _, aside in self.moved:
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink(missing_ok=True)


def remove(repo: str, cache_dir: str | Path | None = None) -> Removed:
    """A whole repository, or of `owner/name:QUANT` the files of this quantization."""
    named = parse(repo)
    home = repo_folder(named.repo if named else repo, cache_dir)
    taken = _files_of_quant(home, named, cache_dir) if named and named.quant else [home] if home.is_dir() else []
    if not taken:
        raise ModelNotFound(f"{repo} is not in the cache {cache_folder(cache_dir)} any more.")
    aside = cache_folder(cache_dir) / ASIDE
    aside.mkdir(exist_ok=True)
    moved = [(path, aside / f"{path.name}.{time.time_ns()}") for path in taken]
    for path, away in moved:
        path.rename(away)
    return Removed(repo, moved)


def _files_of_quant(home: Path, named: Named, cache_dir: str | Path | None) -> list[Path]:
    """Links of the snapshot, and the blobs that they lead to."""
    snapshot = find(named.repo, named.revision, cache_dir)
    models = gguf_models(files_of(snapshot.path)) if snapshot else {}
    kind = chosen(models, named.quant)
    if snapshot is None or kind is None:
        return []
    links = [snapshot.path / name for name in models[kind]]
    blobs = [link.resolve() for link in links if link.is_symlink() and home.resolve() in link.resolve().parents]
    return [*links, *blobs]


def purge_all(cache_dir: str | Path | None = None) -> None:
    """What was taken out before, and by nobody put back."""
    shutil.rmtree(cache_folder(cache_dir) / ASIDE, ignore_errors=True)


def discard_unfinished(repo: str, cache_dir: str | Path | None = None) -> None:
    """What a download that is not wanted any more has left. A model that is whole stays."""
    named = parse(repo)
    repo = named.repo if named else repo
    snapshot = find(repo, None, cache_dir)
    folder = repo_folder(repo, cache_dir)
    if snapshot is None or not (snapshot.complete or whole_quants(snapshot.path)):
        shutil.rmtree(folder, ignore_errors=True)
        return
    for part in folder.glob("blobs/*.part"):
        part.unlink(missing_ok=True)
