"""Models that other applications have downloaded: LM Studio, Ollama and llama.cpp. They are used where they lie, and only read.

* LM Studio keeps folders `PUBLISHER/MODEL` with GGUF files or safetensors: a model goes by these two names, as on the hub.
* Ollama keeps a manifest `HOST/NAMESPACE/MODEL/TAG` for each model, which names files of its store by their digests. The weights are
  a GGUF file; the template and the options beside it are Ollama's own, and the file's are used instead. A model goes by the name that
  `ollama run` knows: `qwen3:8b`, `hf.co/owner/name:Q4_K_M`.
* llama.cpp's cache holds files `OWNER_NAME_FILE.gguf`, and a manifest that tells the owner from the name. (Its newer versions use
  Hugging Face's cache, as MLX's tools do.)

`GRUS_OTHER_APPS=off` hides them all.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.hub.cache import chosen, gguf_models, missing_of, parse

App = Literal["LM Studio", "Ollama", "llama.cpp"]

_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_MOST_MANIFEST = 1 << 20  # bytes; real ones have two thousand
_WEIGHTS = "application/vnd.ollama.image.model"
_ADAPTER = "application/vnd.ollama.image.adapter"
_OLLAMAS_HOST = "registry.ollama.ai"


@dataclass(frozen=True)
class AppModel:
    """A model of another application."""

    name: str
    path: Path  # a GGUF file, the first of its shards, or a checkpoint folder
    app: App
    quant: str = ""  # of a GGUF file of a repository


_FRESH = 2.0  # seconds for which what was found is true: requests ask for each name that is not loaded
_last: tuple[float, list[str | None], list[AppModel]] = (0.0, [], [])


def app_models() -> list[AppModel]:
    """All of them, each name once. Reads the disk."""
    global _last
    if os.environ.get("GRUS_OTHER_APPS", "").strip().lower() in ("off", "0", "no", "false"):
        return []
    places = [str(Path.home()), *(os.environ.get(name) for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "XDG_CACHE_HOME"))]
    when, where, models = _last
    if where != places or time.monotonic() - when > _FRESH:
        models = _found()
        _last = (time.monotonic(), places, models)
    return models


def _found() -> list[AppModel]:
    found: dict[str, AppModel] = {}
    for models in (_of_lm_studio, _of_ollama, _of_llamacpp):
        with suppress(OSError):  # a folder of somebody else's, or one that goes while it is read
            for model in models():
                found.setdefault(model.name, model)
    return list(found.values())


def app_model(name: str) -> AppModel | None:
    """The model that goes by this name; of `owner/name` with several quantizations the usual one, or a part of `:QUANT`'s."""
    models = {model.name: model for model in app_models()}
    for spelling in (name, f"{name}:latest"):
        if spelling in models:
            return models[spelling]
    named = parse(name)
    if named is None or named.revision:
        return None
    alike = {model.quant: model for model in models.values() if model.name.partition(":")[0] == named.repo}
    kind = chosen({quant: [model.path.name] for quant, model in alike.items()}, named.quant) if alike else None
    return alike[kind] if kind is not None else None


def _of_lm_studio() -> Iterator[AppModel]:
    for root in _lm_studio_folders():
        for folder in sorted(root.glob("*/*")):
            if not folder.is_dir():
                continue
            name = f"{folder.parent.name}/{folder.name}"
            if (folder / "config.json").is_file() and any(folder.glob("*.safetensors")):
                yield AppModel(name, folder, "LM Studio")
                continue
            files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.gguf") if path.is_file())
            yield from _of_repository(name, gguf_models(files), folder, "LM Studio")


def _lm_studio_folders() -> list[Path]:
    """Newer versions write where their folder is into a file of the home folder."""
    homes = [Path.home() / ".lmstudio", Path.home() / ".cache" / "lm-studio"]
    pointer = Path.home() / ".lmstudio-home-pointer"
    if pointer.is_file() and (target := pointer.read_text("utf-8", "replace").strip()):
        homes.insert(0, Path(target))
    folders = {home.joinpath("models").resolve(): None for home in homes if (home / "models").is_dir()}
    return list(folders)


def _of_repository(name: str, models: dict[str, list[str]], folder: Path, app: App) -> Iterator[AppModel]:
    whole = {kind: files for kind, files in models.items() if not missing_of(files)}
    for kind, files in whole.items():
        yield AppModel(f"{name}:{kind}" if len(whole) > 1 else name, folder / files[0], app, kind)


def _of_ollama() -> Iterator[AppModel]:
    for root in _ollama_folders():
        for manifest in sorted((root / "manifests").glob("*/*/*/*")):
            host, namespace, model, tag = manifest.relative_to(root / "manifests").parts
            blob = _weights_of(manifest, root)
            if blob is None:
                continue
            owner = namespace if namespace != "library" or host != _OLLAMAS_HOST else ""
            outer = "" if host == _OLLAMAS_HOST else host
            yield AppModel("/".join(filter(None, (outer, owner, f"{model}:{tag}"))), blob, "Ollama")


def _ollama_folders() -> list[Path]:
    if folder := os.environ.get("OLLAMA_MODELS", "").strip():
        return [Path(folder).expanduser()]
    # as a service on Linux it has a user of its own
    places = (Path.home() / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models"))
    return [place for place in places if os.access(place, os.R_OK) and place.is_dir()]


def _weights_of(manifest: Path, root: Path) -> Path | None:
    """The file of a manifest's weights; None where they are in another form, or need an adapter beside them."""
    layers = _read(manifest).get("layers")
    kinds: dict[str, str] = {}
    for layer in layers if isinstance(layers, list) else []:
        if isinstance(layer, dict) and isinstance(layer.get("mediaType"), str):
            kinds.setdefault(layer["mediaType"], str(layer.get("digest")))
    digest = _DIGEST.fullmatch(kinds.get(_WEIGHTS, ""))
    if digest is None or _ADAPTER in kinds:
        return None
    blob = root / "blobs" / f"sha256-{digest[1]}"
    try:
        with blob.open("rb") as file:
            return blob if file.read(4) == b"GGUF" else None
    except OSError:
        return None


def _of_llamacpp() -> Iterator[AppModel]:
    folder = _llamacpp_folder()
    if not folder.is_dir():
        return
    owners = {}
    for manifest in folder.glob("manifest=*=*=*.json"):
        _, owner, name, _ = manifest.name.split("=", 3)
        owners[f"{owner}_{name}_"] = f"{owner}/{name}"
    repositories: dict[str, list[str]] = {}
    for file in sorted(folder.glob("*.gguf")):
        begins = max((prefix for prefix in owners if file.name.startswith(prefix)), key=len, default="")
        repositories.setdefault(begins, []).append(file.name)
    for begins, files in repositories.items():
        if begins:
            yield from _of_repository(owners[begins], gguf_models(files), folder, "llama.cpp")
            continue
        for names in gguf_models(files).values():
            if not missing_of(names):
                yield AppModel(names[0].removesuffix(".gguf"), folder / names[0], "llama.cpp")


def _llamacpp_folder() -> Path:
    if folder := os.environ.get("LLAMA_CACHE", "").strip():
        return Path(folder).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "llama.cpp"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "llama.cpp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llama.cpp"


def _read(path: Path) -> dict[str, Any]:
    """A JSON object; empty where there is none."""
    try:
        if path.stat().st_size > _MOST_MANIFEST:
            return {}
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
