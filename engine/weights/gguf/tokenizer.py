"""The tokenizer inside a GGUF file: byte-level BPE as GPT-2 began it, or SentencePiece as Llama 2 has it, in Gemma 4's files with
merges instead of scores.

Makes what `tokenizer.json` would have made. How text is cut into words first is in `words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any

from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend
from tokenizers.models import BPE

from engine.errors import TokenizerError
from engine.text.tokenizer import Tokenizer
from engine.weights.gguf.reader import Elements
from engine.weights.gguf.words import KINDS, named


class TokenType(IntEnum):
    """What `tokenizer.ggml.token_type` says of a token."""

    NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


_SPACE = "▁"
_NAMED = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad", "seperator": "sep", "mask": "mask"}
_INSTEAD = "Give the folder of the model's own tokenizer instead."


class Vocabulary:
    """The token list of a file, checked."""

    def __init__(self, metadata: Mapping[str, Any], where: str) -> None:
        self.metadata = metadata
        self.where = where
        tokens = metadata.get("tokenizer.ggml.tokens")
        if not isinstance(tokens, Elements) or not tokens.count:
            raise TokenizerError(f"{where} has no tokenizer. {_INSTEAD}")
        self.tokens = tokens.strings()
        self.types = self._numbers("token_type", TokenType.NORMAL)
        self.ids = {
            token: id for id, token in reversed(list(enumerate(self.tokens))) if self.types[id] != TokenType.UNUSED
        }

    @property
    def control(self) -> dict[str, int]:
        return {token: id for token, id in self.ids.items() if self.types[id] == TokenType.CONTROL}

    @cached_property
    def control_ids(self) -> frozenset[int]:
        """Of control tokens, and of the unknown one."""
        return frozenset(id for id, kind in enumerate(self.types) if kind in (TokenType.CONTROL, TokenType.UNKNOWN))

    def scores(self) -> list[float]:
        return self._numbers("scores", 0.0)

    def merges(self) -> list[tuple[str, str]]:
        merges = self.metadata.get("tokenizer.ggml.merges")
        if not isinstance(merges, Elements):
            raise TokenizerError(f"{self.where} has a tokenizer without merges. {_INSTEAD}")
        pairs = [tuple(merge.split(" ", 1)) for merge in merges.strings()]
        if any(len(pair) != 2 for pair in pairs):
            raise TokenizerError(f"{self.where}: a merge of its tokenizer is not a pair of tokens. {_INSTEAD}")
        return [pair for pair in pairs if "".join(pair) in self.ids and pair[0] in self.ids and pair[1] in self.ids]  # type: ignore[misc]

    def special(self, name: str) -> int | None:
        id = self.metadata.get(f"tokenizer.ggml.{name}_token_id")
        if id is None or id in (0xFFFFFFFF, -1):
            return None
        if not isinstance(id, int) or not 0 <= id < len(self.tokens):
            raise TokenizerError(f"{self.where}: {name}_token_id is {id!r}, which is no token of its vocabulary.")
        return id

    def flag(self, name: str, default: bool) -> bool:
        value = self.metadata.get(f"tokenizer.ggml.{name}", default)
        return value if isinstance(value, bool) else default

    def _numbers(self, name: str, default: Any) -> list[Any]:
        values = self.metadata.get(f"tokenizer.ggml.{name}")
        if values is None:
            return [default] * len(self.tokens)
        if not isinstance(values, Elements) or values.count != len(self.tokens):
            raise TokenizerError(f"{self.where}: tokenizer.ggml.{name} does not fit its {len(self.tokens):,} tokens.")
        return list(values.numbers().tolist())


def build(vocabulary: Vocabulary, arch: str, config: Mapping[str, Any], generation: Mapping[str, Any]) -> Tokenizer:
    where = vocabulary.where
    model = vocabulary.metadata.get("tokenizer.ggml.model")
    try:
        if model == "gpt2":
            backend, adds_bos = _byte_level(vocabulary, arch)
        elif model == "llama":
            backend, adds_bos = _sentencepiece(vocabulary, _merges_by_score(vocabulary)), True
        elif model == "gemma4":
            backend, adds_bos = _sentencepiece(vocabulary, vocabulary.merges()), True
        elif model in ("bert", "t5"):
            backend, adds_bos = (word_pieces if model == "bert" else unigram)(vocabulary), False
        else:
            raise TokenizerError(f"{where} has a tokenizer of the kind `{model}`, which is not supported. {_INSTEAD}")
        _add_tokens(backend, vocabulary)
    except TokenizerError:
        raise
    except Exception as error:  # the library raises bare Exception for whatever it cannot build
        raise TokenizerError(f"The tokenizer in {where} cannot be built ({error}). {_INSTEAD}") from error
    if model in ("bert", "t5"):
        surround(backend, vocabulary, words=model == "bert")
    else:
        _surround(backend, vocabulary, adds_bos)
    settings = {
        f"{ours}_token": vocabulary.tokens[id]
        for theirs, ours in _NAMED.items()
        if (id := vocabulary.special(theirs)) is not None
    }
    return Tokenizer(backend, settings, config, generation)


def _byte_level(v: Vocabulary, arch: str) -> tuple[Backend, bool]:
    kind = v.metadata.get("tokenizer.ggml.pre")
    words = named(kind, arch)
    if words is None:
        raise TokenizerError(
            f"{v.where} cuts text into words as `{kind}` does, which is not known. Known: {', '.join(sorted(KINDS))}. "
            f"{_INSTEAD}"
        )
    backend = Backend(BPE(vocab=v.ids, merges=v.merges(), ignore_merges=words.whole_words))
    backend.decoder = decoders.ByteLevel()
    words.prepare(backend)
    return backend, words.bos


def _sentencepiece(v: Vocabulary, merges: list[tuple[str, str]]) -> Backend:
    prefix = v.flag("add_space_prefix", True)
    unknown = v.special("unknown")
    backend = Backend(
        BPE(
            vocab=v.ids,
            merges=merges,
            unk_token=v.tokens[unknown if unknown is not None else 0],
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    steps = [normalizers.Replace(" ", _SPACE)]
    backend.normalizer = normalizers.Sequence([normalizers.Prepend(_SPACE), *steps] if prefix else steps)
    backend.decoder = decoders.Sequence(
        [
            decoders.Replace(_SPACE, " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            *([decoders.Strip(" ", 1, 0)] if prefix else []),
        ]
    )
    return backend


def _merges_by_score(v: Vocabulary) -> list[tuple[str, str]]:
    """SentencePiece merges whichever pair makes the token with the highest score: an order of all pairs that do."""
    scores, found = v.scores(), []
    for token, id in v.ids.items():
        if v.types[id] != TokenType.NORMAL:
            continue
        for cut in range(1, len(token)):
            left, right = v.ids.get(token[:cut]), v.ids.get(token[cut:])
            if left is not None and right is not None:
                found.append((-scores[id], left, right, token[:cut], token[cut:]))
    found.sort()
    return [(left, right) for *_, left, right in found]


def _add_tokens(backend: Backend, v: Vocabulary) -> None:
    """Tokens that are found in text before it is cut: control tokens, and those that the model's makers added."""
    control = {id for name in _NAMED if (id := v.special(name)) is not None and v.types[id] != TokenType.NORMAL}
    control |= {id for id, kind in enumerate(v.types) if kind in (TokenType.CONTROL, TokenType.UNKNOWN)}
    added = control | {id for id, kind in enumerate(v.types) if kind == TokenType.USER}
    for id in sorted(added):
        if v.ids.get(v.tokens[id]) == id and v.tokens[id]:
            token = AddedToken(v.tokens[id], special=id in control, normalized=False)
            (backend.add_special_tokens if id in control else backend.add_tokens)([token])


def _surround(backend: Backend, v: Vocabulary, adds_bos: bool) -> None:
    bos, eos = v.special("bos"), v.special("eos")
    before = [bos] if bos is not None and v.flag("add_bos_token", adds_bos) else []
    after = [eos] if eos is not None and v.flag("add_eos_token", False) else []
    if not before and not after:
        return
    parts: Sequence[str] = [*(v.tokens[id] for id in before), "$A", *(v.tokens[id] for id in after)]
    specials = [(v.tokens[id], id) for id in {*before, *after}]
    backend.post_processor = processors.TemplateProcessing(single=list(parts), special_tokens=specials)


# -- of encoders. A vocabulary of words (`bert`) has a mark before what begins a word and none before what continues one; that of
# XLM-RoBERTa (`t5`) has scores.


def word_pieces(v: Vocabulary) -> Backend:
    """BERT's. A vocabulary without capitals is one of lower case."""
    vocabulary = {_spelled(token, id in v.control_ids): id for token, id in v.ids.items()}
    unknown = v.special("unknown")
    backend = Backend(
        models.WordPiece(vocab=vocabulary, unk_token=v.tokens[unknown] if unknown is not None else "[UNK]")
    )
    words = [token for token, id in v.ids.items() if id not in v.control_ids]
    backend.normalizer = normalizers.BertNormalizer(lowercase=not any(word != word.lower() for word in words))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


def _spelled(token: str, control: bool) -> str:
    if control:
        return token
    return token.removeprefix(_SPACE) if token.startswith(_SPACE) else f"##{token}"


def unigram(v: Vocabulary) -> Backend:
    """XLM-RoBERTa's."""
    unknown = v.special("unknown")
    backend = Backend(models.Unigram(list(zip(v.tokens, v.scores())), unk_id=3 if unknown is None else unknown))
    charsmap = v.metadata.get("tokenizer.ggml.precompiled_charsmap")
    steps: list[Any] = [normalizers.Precompiled(bytes(charsmap.data))] if isinstance(charsmap, Elements) else []
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    backend.decoder = decoders.Metaspace()
    return backend


def surround(backend: Backend, v: Vocabulary, words: bool) -> None:
    """What encoders read around a text, and between two."""
    named = ("[CLS]", "[SEP]") if words else ("<s>", "</s>")
    ids = [v.special(kind) if v.special(kind) is not None else v.ids.get(name)
           for kind, name in zip(("cls", "seperator") if words else ("bos", "eos"), named)]  # fmt: skip
    if None in ids:
        return
    before, after = (v.tokens[id] for id in ids if id is not None)
    between = after if words else f"{after} {after}"
    backend.post_processor = processors.TemplateProcessing(
        single=f"{before} $A {after}",
        pair=f"{before} $A {between} $B:1 {after}:1" if words else f"{before} $A {between} $B {after}",
        special_tokens=[(token, int(id or 0)) for token, id in zip((before, after), ids)],
    )
