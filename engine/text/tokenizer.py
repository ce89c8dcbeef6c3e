"""A checkpoint's tokenizer: text to ids, ids to text, and which ids mean something special.

Reads `tokenizer.json` or `tekken.json`, or builds a byte-level BPE from `vocab.json` and `merges.txt`. Knows nothing of chats: a prompt
that a chat template made is encoded with `add_special=False`, for the template has written its own BOS.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend
from tokenizers.decoders import Fuse

from engine.errors import TokenizerError
from engine.text.byte_bpe import byte_level_bpe
from engine.text.detokenizer import Detokenizer
from engine.text.long_text import PIECE, Cuts, cuts_of, least_bytes, longest_token
from engine.text.tekken import FILE as TEKKEN
from engine.text.tekken import named_tokens, read_tekken
from engine.text.vocabulary import spelling_of

# one text at a time is encoded in the thread that asks: a pool of threads as large as the machine would gain nothing
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_FILES = ("tokenizer.json", TEKKEN, "vocab.json and merges.txt")
_SHORT = 1000  # characters, which are encoded in less than half a millisecond
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class TooManyTokens(Exception):
    """A text has more tokens than there is room for. Unless `exact`, it was not counted to its end: it has `count` or more."""

    def __init__(self, count: int, *, exact: bool) -> None:
        super().__init__(f"{count} tokens{'' if exact else ' or more'}")
        self.count = count
        self.exact = exact


class Tokenizer:
    """Safe to share between threads: after loading, nothing but caches changes."""

    def __init__(
        self,
        backend: Backend,
        settings: Mapping[str, Any] | None = None,
        config: Mapping[str, Any] | None = None,
        generation_config: Mapping[str, Any] | None = None,
    ) -> None:
        """`settings` is tokenizer_config.json over special_tokens_map.json."""
        settings = settings or {}
        config = config or {}
        backend.no_truncation()  # files may carry the limits of somebody's training run
        backend.no_padding()
        self._backend = backend
        self._spelling = spelling_of(json.loads(backend.decoder.__getstate__()) if backend.decoder else None)
        self.strip = self._spelling.strip
        self._added: dict[int, AddedToken] = backend.get_added_tokens_decoder()
        self.vocab_size: int = max(backend.get_vocab_size(), max(self._added, default=-1) + 1)
        self.special_tokens = _named_tokens(settings)  # as templates know them: {"bos_token": "<s>", ...}
        named = {self.id(token) for token in self.special_tokens.values()}
        marked = {id for id, token in self._added.items() if token.special}
        self.special_ids: frozenset[int] = frozenset(marked | {id for id in named if id is not None})
        self._bytes: dict[int, bytes] = {}

        text_config = config.get("text_config") or {}
        own_bos = self.id(self.special_tokens.get("bos_token", ""))
        self.bos_id = next(
            iter(_ids("bos_token_id", own_bos, config.get("bos_token_id"), text_config.get("bos_token_id"))), None
        )
        self.eos_ids: tuple[int, ...] = _ids(
            "eos_token_id",
            config.get("eos_token_id"),
            text_config.get("eos_token_id"),
            (generation_config or {}).get("eos_token_id"),
            self.id(self.special_tokens.get("eos_token", "")),
        )

    @classmethod
    def from_folder(
        cls,
        path: str | Path,
        config: Mapping[str, Any] | None = None,
        generation_config: Mapping[str, Any] | None = None,
    ) -> Tokenizer:
        folder = Path(path)
        settings = _read_json(folder / "special_tokens_map.json") | _read_json(folder / "tokenizer_config.json")
        if (folder / "tokenizer.json").is_file():
            backend = _parse_backend((folder / "tokenizer.json").read_bytes(), folder / "tokenizer.json")
        elif (folder / TEKKEN).is_file():
            backend = read_tekken(folder / TEKKEN)
            settings = named_tokens(backend) | settings
        elif (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            backend = byte_level_bpe(folder, str(settings.get("tokenizer_class", "")), config or {})
        else:
            raise TokenizerError(f"There is no tokenizer in {folder}. Looked for {', for '.join(_FILES)}.")
        _add_missing(backend, _read_json(folder / "added_tokens.json"), settings, folder)
        if backend.decoder is None and (config or {}).get("model_type") == "chatterbox":  # it only reads text
            backend.decoder = Fuse()
        return cls(backend, settings, config, generation_config)

    def encode(
        self, text: str, add_special: bool = True, *, parse_special: bool = True, most: int | None = None
    ) -> list[int]:
        """Ids of `text`. `add_special` adds what the tokenizer wants around a text (a BOS); with `parse_special` off
        the text cannot smuggle in control tokens: "<|im_end|>" is then ten characters like any others. Raises TooManyTokens
        as soon as it is known that there are more than `most`."""
        if most is not None and len(text) > 2 * PIECE and (least := self._least_tokens(text)) > most:
            raise TooManyTokens(least, exact=False)
        ids: list[int] = []
        for part, end in self._parts(text, add_special, parse_special):
            ids += part
            if most is not None and len(ids) > most:
                count = len(ids)
                for held in (ids, part):  # by the error's traceback, until the garbage collection, which visits each id
                    held.clear()
                raise TooManyTokens(count + self._least_tokens(text[end:]), exact=end == len(text))
        return ids

    def beginning(self, text: str, count: int) -> list[int]:
        """The first `count` ids of a text, with what the tokenizer puts around it; all where there are fewer."""
        ids: list[int] = []
        for part, _ in self._parts(text, True, True):
            ids += part
            if len(ids) >= count:
                break
        return ids[:count]

    def pair(self, first: str, second: str, most: int) -> tuple[list[int], list[int]]:
        """Two texts as one, with what the tokenizer puts around and between them: ids, and of each token which text it is
        from. Of more than `most` tokens, the longer text loses its end."""
        own = self._backend.num_special_tokens_to_add(is_pair=True)
        one, two = self._backend.encode_batch([first, second], add_special_tokens=False)
        room, (short, long) = max(0, most - own), sorted([len(one), len(two)])
        if short + long > room:
            kept = max(room - short, -(-room // 2))  # of the longer one
            kept_short = min(short, room - kept)
            keep_one, keep_two = (kept, kept_short) if len(one) > len(two) else (kept_short, kept)
            one.truncate(keep_one)
            two.truncate(keep_two)
        both = self._backend.post_process(one, two, True)
        return both.ids, both.type_ids

    def _parts(self, text: str, add_special: bool, parse_special: bool) -> Iterator[tuple[list[int], int]]:
        """Ids, and up to where in the text. Other threads run while a part is encoded."""
        backend = self._backend if parse_special else self._literal
        if len(text) <= 2 * PIECE or self._cuts is None:
            yield _encoded(backend, text, add_special), len(text)
            return
        before, after = self.around if add_special else ([], [])
        for piece, end in self._cuts.pieces(text):
            ids = _encoded(backend, piece, False)
            yield [*before, *ids, *(after if end == len(text) else ())], end
            before = []

    def _least_tokens(self, text: str) -> int:
        """Of a long text."""
        return -(-least_bytes(text) // self._longest) if self._longest else 0

    @cached_property
    def _cuts(self) -> Cuts | None:
        return cuts_of(self._backend)

    @cached_property
    def _longest(self) -> int | None:
        return longest_token(self._backend) if self._cuts is not None else None

    @cached_property
    def around(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and after a text."""
        (found,) = self._backend.encode_batch_fast(["a"])
        own = [at for at, special in enumerate(found.special_tokens_mask) if not special] or [len(found.ids)]
        return found.ids[: own[0]], found.ids[own[-1] + 1 :]

    def decode(self, ids: Iterable[int], skip_special: bool = True, *, at_start: bool = True) -> str:
        detokenizer = Detokenizer(self, skip_special=skip_special, at_start=at_start)
        return detokenizer.push(ids) + detokenizer.flush()

    def to_json(self) -> str:
        """What its tokenizer.json says, or would say."""
        described: str = self._backend.to_str()
        return described

    def token(self, id: int) -> str:
        """How the vocabulary spells a token; empty for an id that it does not have (padded rows of a model)."""
        token: str | None = self._backend.id_to_token(id) if id >= 0 else None
        return token or ""

    def id(self, token: str) -> int | None:
        found: int | None = self._backend.token_to_id(token) if token else None
        return found

    def bytes_of(self, id: int) -> bytes:
        """Exactly what the token adds to the output, before it is read as UTF-8."""
        known = self._bytes.get(id)
        if known is None:
            added = self._added.get(id)
            known = added.content.encode() if added is not None else self._spelling.bytes_of(self.token(id))
            self._bytes[id] = known
        return known

    @property
    def markers(self) -> frozenset[str]:
        """Texts that are a token with a meaning of its own for a template: `<|im_end|>`, `[INST]`, `<tool_call>`."""
        added = {token.content for token in self._added.values()}
        return frozenset(text for text in added if len(text) > 2 and text[0] in "<[" and text[-1] in ">]")

    def is_special(self, id: int) -> bool:
        return id in self.special_ids

    @cached_property
    def _literal(self) -> Backend:
        """Reads special tokens as any other text. Shares the vocabulary: a copy of a large one would take half a second, in
        which no other thread runs."""
        twin = Backend(self._backend.model)
        for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
            if (own := getattr(self._backend, part)) is not None:
                setattr(twin, part, own)
        for _, token in sorted(self._backend.get_added_tokens_decoder().items()):  # in this order they get the same ids
            (twin.add_special_tokens if token.special else twin.add_tokens)([token])
        if twin.get_added_tokens_decoder() != self._backend.get_added_tokens_decoder():
            twin = Backend.from_str(self._backend.to_str())
        twin.encode_special_tokens = True
        return twin


def _encoded(backend: Backend, text: str, add_special: bool) -> list[int]:
    """A plain `encode` keeps other threads from running for as long as it takes. A batch of one does not; but to get the
    interpreter back from a thread that computes takes longer than a short text."""
    try:
        if len(text) <= _SHORT:
            encoding = backend.encode(text, add_special_tokens=add_special)
        else:
            (encoding,) = backend.encode_batch_fast([text], add_special_tokens=add_special)
    except TypeError:  # a lone surrogate, which JSON can spell and UTF-8 cannot
        return _encoded(backend, text.encode("utf-8", "replace").decode(), add_special)
    ids: list[int] = encoding.ids
    return ids


def _parse_backend(raw: bytes, file: Path) -> Backend:
    try:
        return Backend.from_buffer(raw)
    except Exception as error:  # the library raises bare Exception for whatever it cannot read
        raise TokenizerError(f"{file} cannot be read as a tokenizer ({error}). Download it again.") from error


def _read_json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise TokenizerError(f"{file} is not valid JSON ({error}). Download it again.") from error
    if not isinstance(value, dict):
        raise TokenizerError(f"{file} must hold a JSON object. Download it again.")
    return value


def _content(token: Any) -> str | None:
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) and token else None


def _named_tokens(settings: Mapping[str, Any]) -> dict[str, str]:
    named = {name: _content(settings.get(name)) for name in _NAMED}
    return {name: token for name, token in named.items() if token is not None}


def _add_missing(backend: Backend, listed: Mapping[str, Any], settings: Mapping[str, Any], folder: Path) -> None:
    """Older checkpoints keep tokens beside the tokenizer's own file, under ids that must come out the same."""
    wanted = {id: AddedToken(token, normalized=False, special=True) for token, id in listed.items()}
    for key, value in (settings.get("added_tokens_decoder") or {}).items():
        content = _content(value)
        if content is not None and str(key).isdigit():
            flags = {
                flag: bool(value.get(flag)) for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
            }
            wanted[int(key)] = AddedToken(content, **flags)
    known = {token.content for token in backend.get_added_tokens_decoder().values()}
    for id, token in sorted(wanted.items()):
        if token.content in known:
            continue
        (backend.add_special_tokens if token.special else backend.add_tokens)([token])
        if backend.token_to_id(token.content) != id:
            raise TokenizerError(
                f"In {folder}, the added token {token.content!r} should have id {id}, but its vocabulary gives it "
                f"{backend.token_to_id(token.content)}. The tokenizer's files do not belong together."
            )


def _ids(name: str, *values: Any) -> tuple[int, ...]:
    """A stable union; each value is an id, a list of ids, or nothing."""
    found: dict[int, None] = {}
    for value in values:
        for id in value if isinstance(value, list) else [value]:
            if id is None or id == -1:
                continue
            if not isinstance(id, int) or isinstance(id, bool) or id < 0:
                raise TokenizerError(f"{name} must be a token id or a list of them, not {id!r}.")
            found[id] = None
    return tuple(found)
