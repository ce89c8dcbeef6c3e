"""What Hugging Face has: repositories by words, and all that a person wants to know of one before downloading it.

Reads lists and sizes only; no weights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from engine.errors import BadRequest, ErrorText, ModelNotFound, Offline
from engine.hub import client, library, offline
from engine.hub.cache import chosen, gguf_models, kind_of, parse
from engine.hub.client import busy, explained
from engine.hub.download import wanted
from engine.hub.token import token

_T = TypeVar("_T")
_PATIENCE = 15.0  # seconds
_FIELDS = ("downloads", "likes", "pipeline_tag", "gated")
_NAMED_BITS = re.compile(r"(\d)[-_]?bit|int(\d)", re.IGNORECASE)


@dataclass(frozen=True)
class FoundModel:
    """One line of a search's answer."""

    repo: str
    downloads: int = 0  # of the last 30 days
    likes: int = 0
    task: str = ""  # Hugging Face's own word: text-generation, image-text-to-text, ...
    gated: bool = False


# GGUF's architectures of mixtures whose names do not say so
_MIXTURES = frozenset(("deepseek2", "gpt-oss", "qwen3next", "minimax-m2", "laguna", "granitehybrid"))


@dataclass(frozen=True)
class Facts:
    """One repository."""

    repo: str
    nbytes: int  # of what would be downloaded
    files: int
    format: str  # safetensors, GGUF, PyTorch
    quantization: str  # Q4_K_M, 4 bit, bf16; nothing when nobody says
    licence: str
    gated: bool
    architecture: str  # its model_type
    parameters: int
    commit: str
    others: tuple[str, ...] = ()  # of a GGUF repository: its other quantizations, as `repo:QUANT`

    @property
    def experts_in_file(self) -> bool:
        """Whether it is a mixture in GGUF, whose experts can stay in the file where memory has no room for them."""
        return self.format == "GGUF" and ("moe" in self.architecture or self.architecture in _MIXTURES)


def search(words: str, limit: int = 30) -> list[FoundModel]:
    """Most downloaded first. For `owner/name:QUANT`, what is found of that name goes by the quantization too."""
    words = words.strip()
    named = parse(words)
    quant = named.quant if named else None
    if named and quant:
        words = named.repo
    if not words:
        raise BadRequest(ErrorText("Type what to search for: a model's name, or who made it."))

    def ask(hub: Any) -> list[FoundModel]:
        # One page, asked once: the library's own search tries a dead network for half a minute.
        params = {"search": words, "sort": "downloads", "limit": limit, "expand": list(_FIELDS)}
        address = f"{library.endpoint()}/api/models"
        answer = hub.utils.get_session().get(address, params=params, headers=client.headers(), timeout=_PATIENCE)
        hub.utils.hf_raise_for_status(answer)
        found = [_found(model) for model in answer.json()]
        return [replace(one, repo=f"{one.repo}:{quant}") if quant and one.repo == words else one for one in found]

    return _asked(ask, "", "main")


def facts(repo: str, revision: str | None = None) -> Facts:
    """Raises ModelNotFound for a repository without a model, and Offline without a network."""
    named = parse(repo)
    if named is None:
        raise ModelNotFound(ErrorText("{repo} is not the id of a repository.", repo=repr(repo)))
    plain, revision = named.repo, revision or named.revision

    def ask(hub: Any) -> Any:
        api = hub.HfApi(endpoint=library.endpoint(), token=token(library.endpoint()))
        return api.model_info(plain, revision=revision, files_metadata=True, timeout=_PATIENCE)

    info = _asked(ask, plain, revision or "main")
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    names = wanted(sizes, named.quant)
    if not any(name.endswith((".safetensors", ".gguf", ".bin", ".pt", ".pth")) for name in names):
        raise ModelNotFound(ErrorText("{repo} holds no model files.", repo=repo))
    models = gguf_models(sizes) if any(name.endswith(".gguf") for name in names) else {}
    taken = chosen(models, named.quant)
    config: Mapping[str, Any] = info.config or {}
    return Facts(
        repo=repo,
        nbytes=sum(sizes[name] for name in names),
        files=len(names),
        format=_format(names),
        quantization=quantization_of(repo, names, config, _dtypes(info)),
        licence=_licence(info),
        gated=bool(info.gated),
        architecture=str(config.get("model_type") or _of_gguf(info, "architecture") or ""),
        parameters=int(getattr(info.safetensors, "total", 0) or _of_gguf(info, "total") or 0),
        commit=str(info.sha or ""),
        others=tuple(f"{plain}:{kind}" for kind in models if kind != taken),
    )


def quantization_of(repo: str, names: list[str], config: Mapping[str, Any], dtypes: Mapping[str, int]) -> str:
    """From the surest to the vaguest: a GGUF's file name, the config, the repository's name, the kinds of tensors."""
    for name in names:
        if name.endswith(".gguf") and (kind := kind_of(name)):
            return kind
    for key in ("quantization", "quantization_config"):
        quantization = config.get(key)
        if isinstance(quantization, Mapping) and quantization.get("bits"):
            return f"{quantization['bits']} bit"
        if isinstance(quantization, Mapping) and quantization.get("quant_method"):
            return str(quantization["quant_method"])
    if bits := _NAMED_BITS.search(repo.partition("/")[2]):
        return f"{bits[1] or bits[2]} bit"
    kinds = {"BF16": "bf16", "F16": "f16", "F32": "f32"}
    most = max(dtypes, key=lambda kind: dtypes[kind], default="")
    return kinds.get(most, "")


def _asked(ask: Callable[[Any], _T], repo: str, revision: str) -> _T:
    if why := offline.reason():
        raise Offline(ErrorText("Hugging Face is not asked: {why}.", why=why))
    try:
        return ask(library.hub())
    except Exception as error:
        reason, status = explained(error, repo or "the search", revision), client.status_of(error)
        if isinstance(reason, Offline) and status is not None:
            raise Offline(busy(error, status)) from error
        if isinstance(reason, Offline) and not isinstance(error, ValueError):
            raise Offline(ErrorText("Hugging Face cannot be reached. Check the network, then try again.")) from error
        raise reason from error


def _found(model: Mapping[str, Any]) -> FoundModel:
    fields = {key: model.get(key) for key in _FIELDS}
    return FoundModel(
        str(model["id"]),
        fields["downloads"] or 0,
        fields["likes"] or 0,
        fields["pipeline_tag"] or "",
        bool(fields["gated"]),
    )


def _format(names: list[str]) -> str:
    for suffix, name in ((".safetensors", "safetensors"), (".gguf", "GGUF")):
        if any(entry.endswith(suffix) for entry in names):
            return name
    return "PyTorch"


def _dtypes(info: Any) -> Mapping[str, int]:
    return dict(getattr(info.safetensors, "parameters", None) or {})


def _of_gguf(info: Any, key: str) -> Any:
    header = getattr(info, "gguf", None)
    return header.get(key) if isinstance(header, Mapping) else None


def _licence(info: Any) -> str:
    card = getattr(info, "card_data", None)
    licence = getattr(card, "license_name", None) or getattr(card, "license", None)
    if not licence or licence == "other":
        tagged = [tag.partition(":")[2] for tag in info.tags or [] if tag.startswith("license:")]
        licence = tagged[0] if tagged else licence
    return str(licence or "")
