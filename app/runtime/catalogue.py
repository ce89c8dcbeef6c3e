"""Which models may be asked for by name, where they lie, and what each can do. A request can name a model, never a path.

Known are: models given by name when the server started, folders in models folders, what is whole in the Hugging Face cache, and
what other applications have (`engine.hub.other_apps`). An alias is another name of such a model: programs that know the names of one provider only can use any model.
Loading is in `app.runtime.models`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from app.runtime.remote.servers import REMOTE, RemoteServer, RemoteServers, remote_config
from engine.errors import GrusError, MissingCapability, ModelNotFound
from engine.hub.cache import CachedModel, adapter_base, cached_models, chosen, find, gguf_models, model_in, parse
from engine.hub.other_apps import AppModel, app_model, app_models
from engine.hub.resolve import resolve
from engine.model_files import open_model
from engine.models.registry import find_encoder, find_part
from engine.pipelines.listening import ALIGNING, DIARIZING, LISTENING, LISTENING_CHATS, VERIFYING
from engine.pipelines.ranking import is_yes_no_reranker, ranks_pairs
from engine.pipelines.speaking import is_kokoro, is_orpheus, is_spark
from engine.starter import SYSTEM, starter
from engine.text.sentence_modules import POOLING_FILE
from engine.vision.registry import VISION_PROCESSORS
from engine.weights.chatterbox_files import is_chatterbox_folder
from engine.weights.checkpoint import known_by, type_of
from engine.weights.ggml_whisper import is_ggml_whisper
from engine.weights.gguf.mmproj_files import files_beside, is_mmproj

LONGEST_NAME = 200
_CLAUDES = ("claude-*", "anthropic/claude-*")  # names of the default model, unless an alias says otherwise


@dataclass(frozen=True)
class KnownModel:
    """One model: the name it goes by, what to load, and when its files were last changed."""

    name: str
    source: str
    created: int = 0
    app: str | None = None  # the application that has it, where that is not Grus
    base: str | None = None  # of `MODEL:ADAPTER`: the model; `source` is its own
    adapter: str | None = None  # the adapter's folder, file or repository
    server: str | None = None  # of `SERVER::MODEL`: the server elsewhere; `source` is what that calls the model
    config: Mapping[str, Any] | None = None  # of a model elsewhere, where no folder has one

    @property
    def model(self) -> str:
        """What is loaded for it."""
        return self.base or self.name


@dataclass
class Catalogue:
    """`named` are served under their names; the first is the default of requests that name none. `aliases` are names, or
    patterns with `*`, of models; the first that fits counts."""

    named: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    cache_dir: str | None = None
    use_cache: bool = True
    more_folders: Sequence[Path] = ()  # models folders besides `folder`
    aliases: Mapping[str, str] = field(default_factory=dict)
    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of a model, by name: where each lies
    remotes: RemoteServers | None = None  # servers elsewhere whose models may be asked for
    default_elsewhere: str | None = None  # the default where none is served by name

    @property
    def folders(self) -> list[Path]:
        return [folder for folder in (self.folder, *self.more_folders) if folder is not None and folder.is_dir()]

    @property
    def default(self) -> str | None:
        return next(iter(self.named), self.default_elsewhere)

    def look_up(self, name: str) -> KnownModel:
        """Raises ModelNotFound. A model's own name comes before an alias."""
        target = None
        known = self._found(name) or ((target := self._aliased(name)) and self._found(target))
        if known:
            return known
        if target:
            raise ModelNotFound(f"{name[:200]!r} is an alias of {target!r}, which is not here.")
        have = ", ".join(self.named) or "none by name"
        raise ModelNotFound(f"There is no model {name[:200]!r} here. Served: {have}. GET /v1/models lists all.")

    def _found(self, name: str) -> KnownModel | None:
        return self._elsewhere(name) or self._by_name(name) or self._adapted(name)

    def _elsewhere(self, name: str) -> KnownModel | None:
        """A model of a server elsewhere, by the name that nothing on this machine can have."""
        if self.remotes is None or (found := self.remotes.split(name)) is None:
            return None
        return of_server(found[0], found[1])

    def _adapted(self, name: str) -> KnownModel | None:
        """`MODEL:ADAPTER`, of the adapters that were given by name, and of those in the cache by their repository's."""
        model, colon, adapter = name.removesuffix(":latest").rpartition(":")
        if not colon or not adapter:
            return None
        target = None
        base = self._by_name(model) or ((target := self._aliased(model)) and self._by_name(target))
        if not base:
            return None
        own = self.adapters.get(base.name, {})
        source = own.get(adapter) or (adapter if self.has_cached_adapter(adapter) else None)
        if source is not None:
            return replace(base, name=f"{base.name}:{adapter}", base=base.name, adapter=source)
        have = [*own, *self._cached_adapters().get(base.name, ())]
        if not have:
            return None
        raise ModelNotFound(f"The model {base.name} has no adapter {adapter[:200]!r}. It has: {', '.join(have)}.")

    def has_cached_adapter(self, name: str) -> bool:
        """Whether the cache has this repository, whole, and it is an adapter."""
        named = parse(name) if self.use_cache and len(name) <= LONGEST_NAME else None
        snapshot = None if named is None or named.revision or named.quant else find(named.repo, None, self.cache_dir)
        return snapshot is not None and snapshot.complete and adapter_base(snapshot.path) is not None

    def _cached_adapters(self, cached: Iterable[CachedModel] | None = None) -> dict[str, list[str]]:
        """Repositories of adapters in the cache, by the model that they were made for."""
        found: dict[str, list[str]] = {}
        if self.use_cache:
            for one in cached_models(self.cache_dir) if cached is None else cached:
                if one.adapter_of and one.snapshot.complete:
                    found.setdefault(one.adapter_of, []).append(one.repo)
        return found

    def _by_name(self, name: str) -> KnownModel | None:
        """`:latest` is how some clients spell a name without a tag."""
        for spelling in (name, name.removesuffix(":latest")):
            if spelling in self.named:
                return self._known(spelling, self.named[spelling])
            found = self._in_folder(spelling) or self._in_cache(spelling) or self._in_app(spelling)
            if found is not None:
                return found
            if spelling == SYSTEM and (folder := starter(SYSTEM)) is not None:
                return self._known(SYSTEM, str(folder))
        return None

    def _aliased(self, name: str) -> str | None:
        """The model that this name is an alias of. An adapter that was given by name goes by that alone too."""
        for pattern, model in self.aliases.items():
            if _fits(name, pattern):
                return model
        alone = next((f"{model}:{name}" for model, own in self.adapters.items() if name in own), None)
        return alone or (self._only() if any(_fits(name, pattern) for pattern in _CLAUDES) else None)

    def _only(self) -> str | None:
        """The default, else the one model in the models folders."""
        if self.default is not None:
            return self.default
        found = [path.name for folder in self.folders for path in folder.iterdir() if _holds_model(path)]
        return found[0] if len(found) == 1 else None

    def all(self) -> list[KnownModel]:
        """Reads the disk; call it from a thread."""
        known = {name: self._known(name, source) for name, source in self.named.items()}
        for folder in self.folders:
            for path in sorted(folder.iterdir()):
                if _holds_model(path):
                    known.setdefault(path.name, self._known(path.name, str(path)))
        cached = cached_models(self.cache_dir) if self.use_cache else []
        for model in cached:
            whole = model.adapter_of is None and (model.snapshot.complete or model.quants)
            for name in model.names if whole else ():
                known.setdefault(name, KnownModel(name, name, int(model.modified)))
        for other in app_models() if self.use_cache else ():
            known.setdefault(other.name, self._of_app(other))
        adapters = self._cached_adapters(cached)
        servers = [] if self.remotes is None else self.remotes.all()
        known |= {server.called(one.id): of_server(server, one.id) for server in servers for one in server.models}
        return [each for one in known.values() for each in (one, *self._with_adapters(one, adapters))]

    def _with_adapters(self, model: KnownModel, cached: Mapping[str, Sequence[str]]) -> Iterator[KnownModel]:
        """The model with each of its adapters."""
        named = parse(model.name)
        repos = {model.name, model.source, *((named.repo, named.base or "") if named else ())}
        found = {repo: repo for base in sorted(repos) for repo in cached.get(base, ())} | dict(
            self.adapters.get(model.name, {})
        )
        for name, source in found.items():
            yield replace(model, name=f"{model.name}:{name}", base=model.name, adapter=source)

    def _in_folder(self, name: str) -> KnownModel | None:
        """Compared with the names that are there, so that no spelling can lead out of the folder. `NAME:PART` is one of
        several GGUF files in a sub-folder."""
        plain, _, part = name.partition(":")
        for folder in self.folders:
            there = {entry.name for entry in folder.iterdir()}
            if name in there and _holds_model(folder / name):
                return self._known(name, str(folder / name))
            if part and plain in there and (folder / plain).is_dir():
                models = gguf_models(sorted(file.name for file in (folder / plain).glob("*.gguf")))
                if chosen(models, part) is not None:
                    return KnownModel(name, f"{folder / plain}:{part}", int((folder / plain).stat().st_mtime))
        return None

    def _in_cache(self, name: str) -> KnownModel | None:
        named = parse(name) if self.use_cache and len(name) <= LONGEST_NAME else None
        if named is None or named.revision:
            return None
        snapshot = find(named.repo, None, self.cache_dir)
        if snapshot is None or model_in(snapshot, named.quant) is None or adapter_base(snapshot.path) is not None:
            return None
        return KnownModel(name, name, int(snapshot.path.stat().st_mtime))

    def _in_app(self, name: str) -> KnownModel | None:
        """Names of other applications' models are compared with those that are there."""
        found = app_model(name) if self.use_cache and len(name) <= LONGEST_NAME else None
        return None if found is None else self._of_app(replace(found, name=name))

    def _of_app(self, model: AppModel) -> KnownModel:
        return replace(self._known(model.name, str(model.path)), app=model.app)

    def _known(self, name: str, source: str) -> KnownModel:
        try:
            created = int(Path(source).expanduser().stat().st_mtime)
        except (OSError, ValueError):
            created = 0
        return KnownModel(name, source, created)


def of_server(server: RemoteServer, model: str) -> KnownModel:
    """A model of a server elsewhere."""
    config = remote_config(server.offered(model))
    return KnownModel(server.called(model), model, server=server.name, config=config)


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _holds_model(path: Path) -> bool:
    if path.suffix == ".gguf":
        return path.is_file()
    if path.suffix == ".bin":
        return path.is_file() and is_ggml_whisper(path)
    # Spark-TTS keeps its language model in a folder of its own
    configs = ("config.json", "LLM/config.json")
    return (
        any((path / name).is_file() for name in configs)
        or is_chatterbox_folder(path)
        or (path.is_dir() and any(path.glob("*.gguf")))
    )


# -- what each model can do: chat, see, make vectors, rank texts, read pages, find a page's regions, listen, speak
#
# One table for the window, the server, the command line and Python. It is computed from a model's config.json and the files
# beside it; no weights are opened.

Capability = Literal[
    "chat",
    "vision",
    "hear",
    "embed",
    "rank",
    "read",
    "lines",
    "layout",
    "listen",
    "diarize",
    "verify",
    "align",
    "speak",
    "remote",
]  # hear: it takes sounds among words; lines: it reads lines of pages, and cannot be asked; diarize: it tells who speaks when; verify: it knows a voice again; align: when each word is said; remote: it runs elsewhere
Use = Literal["chat", "embed", "rank", "read", "layout", "listen", "diarize", "verify", "align", "speak", "part"]

_PAGES_ONLY = frozenset(
    {"deepseek_ocr2", "glm_ocr", "lighton_ocr", "paddleocr_vl", "unlimited_ocr"}
)  # model types that answer nothing but what is on a page
_LAYOUTS = frozenset({"pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4", "pp_ocrv6_medium_det"})
_HEAR = frozenset({"gemma4"})  # take sounds among words, where their config has an encoder of them
_LINES = frozenset({"pp_ocrv6_small_rec"})  # read lines of text, and write no tokens

# a model to begin with, for each thing that Grus can do besides chat
RECOMMENDED: dict[Capability, str] = {
    "read": "PaddlePaddle/PaddleOCR-VL",
    "listen": "UsefulSensors/moonshine-base",
    "diarize": "mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32",
    "verify": "microsoft/wavlm-base-plus-sv",
    "speak": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
}
DOES: dict[str, str] = {
    "chat": "writes text",
    "read": "writes text",
    "speak": "speaks",
    "listen": "listens",
    "diarize": "tells who speaks when",
    "verify": "knows voices again",
    "align": "tells when each word of a transcript is said",
    "embed": "makes vectors of texts",
    "rank": "ranks texts",
    "layout": "is a part that other models use",
    "part": "is a part that other models use",
}


def capabilities(config: Mapping[str, Any], folder: Path | None = None) -> frozenset[Capability]:
    """Of a model with this config. `folder`: where it lies, for Spark-TTS is recognized by the codec beside it. Empty: a
    part that other models use, such as a codec."""
    # some repositories call a model as those of its kind
    model_type = str(type_of(dict(config))) if "model_type" in config else ""
    if model_type == REMOTE:
        return frozenset({*config["capabilities"], "remote"})
    if model_type in LISTENING_CHATS:
        return frozenset({"listen", "chat", "hear"})
    if model_type in LISTENING:
        return frozenset({"listen"})
    if model_type in DIARIZING:
        return frozenset({"diarize"})
    if model_type in VERIFYING:
        return frozenset({"verify"})
    if model_type in ALIGNING:
        return frozenset({"align"})
    if (
        model_type in ("qwen3_tts", "pocket_tts", "chatterbox", "omnivoice", "system_voice")
        or is_kokoro(config)
        or is_orpheus(config)
    ):
        return frozenset({"speak"})
    if folder is not None and is_spark(folder):
        return frozenset({"speak"})
    if model_type in _LAYOUTS:
        return frozenset({"layout"})
    if model_type in _LINES:
        return frozenset({"read", "lines"})
    if find_encoder(config) is not None:
        return frozenset({"rank" if ranks_pairs(config) else "embed"})
    if find_part({"model_type": known_by(dict(config)), **config}) is not None:
        return frozenset()
    if is_yes_no_reranker(config, folder):
        return frozenset({"rank"})
    if folder is not None and (folder / POOLING_FILE).is_file():  # a decoder that was trained to make vectors
        return frozenset({"embed"})
    found: set[Capability] = {"read"} if model_type in _PAGES_ONLY else {"chat", "embed"}
    if model_type in VISION_PROCESSORS and isinstance(config.get("vision_config"), Mapping):
        found |= {"vision", "read"}
        if model_type in _HEAR and isinstance(config.get("audio_config"), Mapping):
            found.add("hear")
    return frozenset(found)


def capabilities_of(source: str, cache_dir: str | None = None) -> frozenset[Capability]:
    """Of a folder, or of a repository in the cache. One of which nothing is known counts as one that chats."""
    folder = folder_of(source, cache_dir)
    return capabilities(config_in(folder), folder)


def main_use(capabilities: frozenset[Capability]) -> Use:
    """What a model is mostly for: a vision model chats, although it can read pages too."""
    uses: tuple[Use, ...] = ("speak", "listen", "diarize", "verify", "align", "chat", "embed", "rank", "read", "layout")
    return next((use for use in uses if use in capabilities), "part")


def can(source: str, capability: Capability, cache_dir: str | None = None) -> bool:
    return capability in capabilities_of(source, cache_dir)


def abilities(catalogue: Catalogue) -> dict[str, frozenset[Capability]]:
    """What each model can do, by name. Reads the disk: not for an event loop, nor the window's thread."""
    return {known.name: capabilities_of_known(known, catalogue.cache_dir) for known in catalogue.all()}


def capabilities_of_known(known: KnownModel, cache_dir: str | None = None) -> frozenset[Capability]:
    return capabilities_of(known.source, cache_dir) if known.config is None else capabilities(known.config)


def able(catalogue: Catalogue, capability: Capability) -> list[str]:
    """The names of the models on this machine that can do this. Reads the disk, too."""
    return [name for name, found in abilities(catalogue).items() if capability in found and "remote" not in found]


def serves(capability: Capability, found: frozenset[Capability]) -> bool:
    """Whether a model may be asked for this. A model that only reads pages answers a conversation that shows it one. What one
    elsewhere makes of a text its server says, where its name tells that it makes vectors."""
    return capability in found or (
        capability == "chat" and (found & {"read", "lines"} == {"read"} or {"embed", "remote"} <= found)
    )


def capabilities_of_loaded(loaded: Any) -> frozenset[Capability]:
    return capabilities(loaded.config, getattr(loaded, "folder", None))


def require(capability: Capability, name: str, loaded: Any, known: frozenset[Capability] | None = None) -> None:
    """Raise MissingCapability where a loaded model cannot do this. `known`: what it can do, where that was found before."""
    found = capabilities_of_loaded(loaded) if known is None else known
    if not serves(capability, found):
        does = "reads lines of pages" if "lines" in found else DOES[main_use(found)]
        sentence = f"The model {name} {does}; here one is needed that {DOES[capability]}."
        raise MissingCapability(sentence, capability)


def _files_near(folder: Path) -> list[Path]:
    """GGUF files in a folder, or those that may belong to one."""
    return (
        sorted(folder.glob("*.gguf")) if folder.is_dir() else [folder, *files_beside(folder)] if folder.exists() else []
    )


@lru_cache(64)
def _seeing(folder: Path, files: tuple[tuple[str, int], ...]) -> Mapping[str, Any]:
    """`files` with their times of change: as long as these are the same, no header is read again."""
    try:
        config = open_model(folder).config
    except (GrusError, OSError):
        return {}
    return config if "vision_config" in config else {}


def folder_of(source: str, cache_dir: str | None = None) -> Path:
    """Where a model lies, or would lie. One that is not whole yet, because it is being downloaded, is found too."""
    try:
        return resolve(source, cache_dir, download=False)
    except (GrusError, OSError):
        named = parse(source)
        snapshot = find(named.repo, named.revision, cache_dir) if named is not None and named.quant is None else None
        return snapshot.path if snapshot is not None else Path(source).expanduser()


def config_in(folder: Path) -> Mapping[str, Any]:
    """What a folder's config.json says, or a GGUF file beside an image encoder; empty where there is none to read."""
    if folder.is_file() and is_ggml_whisper(folder):
        return {"model_type": "whisper"}
    if is_chatterbox_folder(folder):
        return {"model_type": "chatterbox"}
    if not (folder / "config.json").exists() and any(is_mmproj(file.name) for file in _files_near(folder)):
        return _seeing(folder, tuple((file.name, file.stat().st_mtime_ns) for file in _files_near(folder)))
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder.is_dir() else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
