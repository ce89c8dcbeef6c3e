"""Which models may be asked for by name, and where they lie. A request can name a model, never a path.

Known are: models given by name when the server started, folders in models folders, what is whole in the Hugging Face cache, and
what other applications have (`engine.hub.other_apps`). An alias is another name of such a model: programs that know the names of one provider only can use any model.
Loading is in `app.runtime.models`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import ModelNotFound
from engine.hub.cache import cached_models, find
from engine.hub.gguf_files import chosen, gguf_models
from engine.hub.naming import parse
from engine.hub.other_apps import AppModel, app_model, app_models
from engine.hub.snapshots import model_in

LONGEST_NAME = 200
_CLAUDES = ("claude-*", "anthropic/claude-*")  # names of the default model, unless an alias says otherwise


@dataclass(frozen=True)
class KnownModel:
    """One model: the name it goes by, what to load, and when its files were last changed."""

    name: str
    source: str
    created: int = 0
    app: str | None = None  # the application that has it, where that is not Grus


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

    @property
    def folders(self) -> list[Path]:
        return [folder for folder in (self.folder, *self.more_folders) if folder is not None and folder.is_dir()]

    @property
    def default(self) -> str | None:
        return next(iter(self.named), None)

    def look_up(self, name: str) -> KnownModel:
        """Raises ModelNotFound. A model's own name comes before an alias."""
        target = None
        known = self._by_name(name) or ((target := self._aliased(name)) and self._by_name(target))
        if known:
            return known
        if target:
            raise ModelNotFound(f"{name[:200]!r} is an alias of {target!r}, which is not here.")
        have = ", ".join(self.named) or "none by name"
        raise ModelNotFound(f"There is no model {name[:200]!r} here. Served: {have}. GET /v1/models lists all.")

    def _by_name(self, name: str) -> KnownModel | None:
        """`:latest` is how some clients spell a name without a tag."""
        for spelling in (name, name.removesuffix(":latest")):
            if spelling in self.named:
                return self._known(spelling, self.named[spelling])
            found = self._in_folder(spelling) or self._in_cache(spelling) or self._in_app(spelling)
            if found is not None:
                return found
        return None

    def _aliased(self, name: str) -> str | None:
        """The model that this name is an alias of."""
        for pattern, model in self.aliases.items():
            if _fits(name, pattern):
                return model
        return self._only() if any(_fits(name, pattern) for pattern in _CLAUDES) else None

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
        if self.use_cache:
            for model in cached_models(self.cache_dir):
                for name in model.names if model.snapshot.complete or model.quants else ():
                    known.setdefault(name, KnownModel(name, name, int(model.modified)))
            for other in app_models():
                known.setdefault(other.name, self._of_app(other))
        return list(known.values())

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
        if snapshot is None or model_in(snapshot, named.quant) is None:
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


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _holds_model(path: Path) -> bool:
    if path.suffix == ".gguf":
        return path.is_file()
    # Spark-TTS keeps its language model in a folder of its own
    configs = ("config.json", "LLM/config.json")
    return any((path / name).is_file() for name in configs) or (path.is_dir() and any(path.glob("*.gguf")))
