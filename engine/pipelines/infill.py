"""Fill-in-the-middle: what stands between two texts, asked for in the tokens that a code model was trained with.

The texts themselves are encoded without control tokens, so that no file can smuggle one in. Knows vocabularies only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.errors import BadRequest


class Vocabulary(Protocol):
    bos_id: int | None

    def id(self, token: str) -> int | None: ...
    def encode(self, text: str, add_special: bool = True, *, parse_special: bool = True) -> list[int]: ...


@dataclass(frozen=True)
class _Markers:
    before: str
    after: str
    middle: str  # where the model begins to write; empty where it does so after the prefix
    suffix_first: bool = False
    stops: tuple[str, ...] = ()


_FAMILIES = (
    _Markers("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>",
             stops=("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>")),
    _Markers("<fim_prefix>", "<fim_suffix>", "<fim_middle>", stops=("<|endoftext|>", "<fim_pad>", "<file_sep>")),
    _Markers("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    _Markers("▁<PRE>", "▁<SUF>", "▁<MID>", stops=("▁<EOT>",)),
    _Markers("[PREFIX]", "[SUFFIX]", "", suffix_first=True),
)  # fmt: skip


@dataclass(frozen=True)
class Infill:
    ids: list[int]
    stops: tuple[int, ...]  # tokens that end the middle


def infill(vocabulary: Vocabulary, prefix: str, suffix: str) -> Infill:
    """Raises BadRequest for a model that was not trained for this."""
    for markers in _FAMILIES:
        wanted = [name for name in (markers.before, markers.after, markers.middle) if name]
        ids = {name: vocabulary.id(name) for name in wanted}
        if None in ids.values():
            continue
        known: dict[str, int] = {name: id for name, id in ids.items() if id is not None}
        first = [known[markers.before], *_plain(vocabulary, prefix)]
        second = [known[markers.after], *_plain(vocabulary, suffix)]
        parts = [*second, *first] if markers.suffix_first else [*first, *second]
        if markers.middle:
            parts.append(known[markers.middle])
        begin = [] if vocabulary.bos_id is None else [vocabulary.bos_id]
        return Infill([*begin, *parts], tuple(i for s in markers.stops if (i := vocabulary.id(s)) is not None))
    raise BadRequest("This model cannot fill in a middle: its vocabulary has no tokens for that.", "suffix")


def _plain(vocabulary: Vocabulary, text: str) -> list[int]:
    return vocabulary.encode(text, add_special=False, parse_special=False)
