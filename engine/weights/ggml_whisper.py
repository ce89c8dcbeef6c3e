"""The `.bin` files of whisper.cpp, opened as they are: header, vocabulary and tensors, plain or quantized, under the names that models use.

Such a file says little: special tokens follow from the size of the vocabulary, and merges from the order of its tokens.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import AddedToken, decoders, pre_tokenizers
from tokenizers import Tokenizer as Backend
from tokenizers.models import BPE

from backends.base import Blocks, Dense, Raw
from engine.errors import TokenizerError, WeightsError
from engine.text.tokenizer import Tokenizer
from engine.text.vocabulary import BYTE_OF_CHAR
from engine.weights.gguf.types import FLOATS, NUMBERS, TYPES
from engine.weights.made import Made
from engine.weights.problems import Problem
from engine.weights.safetensors import map_file
from engine.weights.source import SourceMatrix, wrong

MAGIC = b"lmgg"
_HEADER = (
    "vocab", "audio_ctx", "audio_state", "audio_head", "audio_layer", "text_ctx", "text_state", "text_head", "text_layer",
    "mels", "ftype",
)  # fmt: skip
_MANY = 51865  # tokens of a model of many languages
_MOST = 1 << 20  # of any number in the header
LANGUAGES = [
    "en",
    "zh",
    "de",
    "es",
    "ru",
    "ko",
    "fr",
    "ja",
    "pt",
    "tr",
    "pl",
    "ca",
    "nl",
    "ar",
    "sv",
    "it",
    "id",
    "hi",
    "fi",
    "vi",
    "he",
    "uk",
    "el",
    "ms",
    "cs",
    "ro",
    "da",
    "hu",
    "ta",
    "no",
    "th",
    "ur",
    "hr",
    "bg",
    "lt",
    "la",
    "mi",
    "ml",
    "cy",
    "sk",
    "te",
    "fa",
    "lv",
    "bn",
    "sr",
    "az",
    "sl",
    "kn",
    "et",
    "mk",
    "br",
    "eu",
    "is",
    "hy",
    "ne",
    "mn",
    "bs",
    "kk",
    "sq",
    "sw",
    "gl",
    "mr",
    "pa",
    "si",
    "km",
    "sn",
    "yo",
    "so",
    "af",
    "oc",
    "ka",
    "be",
    "tg",
    "sd",
    "gu",
    "am",
    "yi",
    "lo",
    "uz",
    "fo",
    "ht",
    "ps",
    "tk",
    "nn",
    "mt",
    "sa",
    "lb",
    "my",
    "bo",
    "tl",
    "mg",
    "as",
    "tt",
    "haw",
    "ln",
    "ha",
    "ba",
    "jw",
    "su",
    "yue",
]
_PARTS = {
    "attn.query": "self_attn.q_proj",
    "attn.key": "self_attn.k_proj",
    "attn.value": "self_attn.v_proj",
    "attn.out": "self_attn.out_proj",
    "attn_ln": "self_attn_layer_norm",
    "cross_attn.query": "encoder_attn.q_proj",
    "cross_attn.key": "encoder_attn.k_proj",
    "cross_attn.value": "encoder_attn.v_proj",
    "cross_attn.out": "encoder_attn.out_proj",
    "cross_attn_ln": "encoder_attn_layer_norm",
    "mlp_ln": "final_layer_norm",
    "mlp.0": "fc1",
    "mlp.2": "fc2",
}
_OTHERS = {
    "encoder.positional_embedding": "model.encoder.embed_positions.weight",
    "decoder.positional_embedding": "model.decoder.embed_positions.weight",
    "decoder.token_embedding.weight": "model.decoder.embed_tokens.weight",
}
_LAYER = re.compile(r"(encoder|decoder)\.blocks\.(\d+)\.(.+)\.(weight|bias)")
_NORM = re.compile(r"(encoder|decoder)\.ln(?:_post)?\.(weight|bias)")


def is_ggml_whisper(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def to_model(name: str) -> str:
    """OpenAI's name of a tensor, as the reference library calls it."""
    if found := _LAYER.fullmatch(name):
        side, layer, part, kind = found.groups()
        return f"model.{side}.layers.{layer}.{_PARTS.get(part, part)}.{kind}"
    if found := _NORM.fullmatch(name):
        return f"model.{found[1]}.layer_norm.{found[2]}"
    return _OTHERS.get(name, f"model.{name}")


class _Cursor:
    """A place in a file. Every step forward is checked."""

    def __init__(self, path: Path, data: memoryview) -> None:
        self.path, self.data, self.at = path, data, 0

    def take(self, count: int, what: str) -> memoryview:
        if count < 0 or count > len(self.data) - self.at:
            raise WeightsError(f"{self.path} is truncated, at {what}. Download it again.")
        self.at += count
        return self.data[self.at - count : self.at]

    def ints(self, count: int, what: str) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.take(4 * count, what))

    def small(self, what: str) -> int:
        (number,) = self.ints(1, what)
        if not 0 <= number <= _MOST:
            raise WeightsError(f"{self.path} is corrupt: {what} is {number}.")
        return number


class GgmlWhisper:
    """A file, opened. Also the source of its weights (`engine.weights.source.Source`)."""

    def __init__(self, path: Path) -> None:
        self.path, self.where = path, str(path)
        cursor = _Cursor(path, memoryview(map_file(path)))
        if bytes(cursor.take(4, "its beginning")) != MAGIC:
            raise WeightsError(f"{path} is no file of whisper.cpp.")
        numbers = {name: cursor.small(name) for name in _HEADER}
        mels, bins = cursor.small("its filters"), cursor.small("its filters")
        cursor.take(4 * mels * bins, "its filters")
        self._texts = [
            bytes(cursor.take(cursor.small("a token"), "a token")) for _ in range(cursor.small("its vocabulary"))
        ]
        self._many = numbers["vocab"] >= _MANY
        width = numbers["audio_state"]
        self.config: dict[str, Any] = {
            "model_type": "whisper",
            "vocab_size": numbers["vocab"],
            "num_mel_bins": numbers["mels"],
            "d_model": width,
            "encoder_layers": numbers["audio_layer"],
            "encoder_attention_heads": numbers["audio_head"],
            "encoder_ffn_dim": 4 * width,
            "decoder_layers": numbers["text_layer"],
            "decoder_attention_heads": numbers["text_head"],
            "decoder_ffn_dim": 4 * width,
            "max_source_positions": numbers["audio_ctx"],
            "max_target_positions": numbers["text_ctx"],
            "decoder_start_token_id": self._end + 1,
            "eos_token_id": self._end,
        }
        self.tensors = _tensors(cursor)
        self.names: Mapping[str, str] = {to_model(name): name for name in self.tensors}
        self._raws = {to_model(name): _flat_bias(to_model(name), raw) for name, raw in self.tensors.items()}

    @property
    def source(self) -> GgmlWhisper:
        return self

    @property
    def nbytes(self) -> int:
        return sum(raw.nbytes for raw in self.tensors.values())

    def raw(self, name: str) -> Raw | None:
        return self._raws.get(name)

    def matrix(self, stem: str, shape: tuple[int, ...], inputs_first: bool = False) -> SourceMatrix:
        name = f"{stem}.weight"
        raw = self._raws.get(name)
        if raw is None:
            return SourceMatrix(None, (), (Problem("missing", name),))
        if problem := wrong(name, raw, shape, (raw.dtype,)):
            return SourceMatrix(None, (name,), (problem,))
        weight = Dense(raw) if raw.dtype in FLOATS else Blocks(raw, raw.dtype, raw.shape)
        return SourceMatrix(weight, (name,))

    # -- the vocabulary

    @property
    def _end(self) -> int:
        """The end of the text. One language has a token less before it."""
        return 50257 if self._many else 50256

    @cached_property
    def special(self) -> dict[str, int]:
        vocab, first = int(self.config["vocab_size"]), self._end
        languages = LANGUAGES[: vocab - 51766] if self._many else LANGUAGES[:99]
        tasks = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
        named = ["endoftext", "startoftranscript", *languages, *tasks]
        tokens = [f"<|{name}|>" for name in named]
        tokens += [f"<|{0.02 * i:.2f}|>" for i in range(max(0, vocab - first - len(tokens)))]
        return {token: first + i for i, token in enumerate(tokens[: vocab - first])}

    @cached_property
    def generation_config(self) -> dict[str, Any]:
        known, of = self.special, self._tokenizer.id
        end, space = self._end, of("Ġ")
        made: dict[str, Any] = {
            "eos_token_id": end,
            "decoder_start_token_id": known["<|startoftranscript|>"],
            "no_timestamps_token_id": known["<|notimestamps|>"],
            "prev_sot_token_id": known["<|startofprev|>"],
            "is_multilingual": self._many,
            "begin_suppress_tokens": [id for id in (space, end) if id is not None],
            "suppress_tokens": self._not_spoken(),
            "max_initial_timestamp_index": 50,
        }
        if self._many:
            made["lang_to_id"] = {f"<|{code}|>": known[f"<|{code}|>"] for code in LANGUAGES if f"<|{code}|>" in known}
            made["task_to_id"] = {name: known[f"<|{name}|>"] for name in ("transcribe", "translate")}
        return made

    def _not_spoken(self) -> list[int]:
        """Tokens of what nobody says, as Whisper's authors list them: brackets, notes, and the tasks."""
        music = "♩♪♫♬♭♮♯"
        signs = [
            *'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
            *[
                "<<",
                ">>",
                "<<<",
                ">>>",
                "--",
                "---",
                "-(",
                "-[",
                "('",
                '("',
                "((",
                "))",
                "(((",
                ")))",
                "[[",
                "]]",
                "{{",
                "}}",
                "♪♪",
                "♪♪♪",
            ],
        ]
        encode = lambda text: self._tokenizer.encode(text, add_special=False, parse_special=False)  # noqa: E731
        found = {ids[0] for text in (" -", " '") if (ids := encode(text))}
        for sign in (*signs, *music):
            for ids in (encode(sign), encode(f" {sign}")):
                if ids and (len(ids) == 1 or sign in music):
                    found.add(ids[0])
        tasks = ("transcribe", "translate", "startoftranscript", "startofprev", "startoflm", "nospeech")
        return sorted(found | {self.special[f"<|{name}|>"] for name in tasks})

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        char_of = {byte: char for char, byte in BYTE_OF_CHAR.items()}
        ids: dict[bytes, int] = {}
        for id, text in enumerate(self._texts[: self._end]):
            if text:
                ids.setdefault(text, id)
        spelled = {text: "".join(char_of[byte] for byte in text) for text in ids}
        merges: list[tuple[str, str]] = []
        for text in sorted(ids, key=lambda text: ids[text]):
            pairs = [(text[:i], text[i:]) for i in range(1, len(text)) if text[:i] in ids and text[i:] in ids]
            pairs.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
            merges += [(spelled[left], spelled[right]) for left, right in pairs]
        try:
            backend = Backend(BPE(vocab={spelled[text]: id for text, id in ids.items()}, merges=merges))
            backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            backend.decoder = decoders.ByteLevel()
            # ids follow the vocabulary's size, which a file with gaps would not fill
            backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in self.special])
        except Exception as error:  # the library raises bare Exception for whatever it cannot build
            raise TokenizerError(
                f"The tokenizer in {self.path} cannot be built ({error}). Download it again."
            ) from error
        if any(backend.token_to_id(token) != id for token, id in self.special.items()):
            raise TokenizerError(f"{self.path}: its vocabulary has {len(ids)} tokens of text, not {self._end}.")
        return Tokenizer(backend, {"eos_token": "<|endoftext|>"}, self.config, {"eos_token_id": self._end})


def _tensors(cursor: _Cursor) -> Mapping[str, Raw]:
    found: dict[str, Raw] = {}
    while cursor.at < len(cursor.data):
        count, length, kind = cursor.ints(3, "a tensor")
        if not 1 <= count <= 4 or not 0 < length <= 256:
            raise WeightsError(f"{cursor.path} is corrupt: a tensor has {count} dimensions.")
        sizes = cursor.ints(count, "a tensor")
        name = bytes(cursor.take(length, "a tensor")).decode("utf-8", "replace")
        stored = TYPES.get(NUMBERS.get(kind, ""))
        if stored is None or min(sizes) < 1 or sizes[0] % stored.weights:
            raise WeightsError(f"{cursor.path}: the tensor {name} is stored in a way that is not known ({kind}).")
        shape = tuple(reversed(sizes))
        nbytes = math.prod(shape[:-1]) * stored.row_bytes(shape[-1])
        at = cursor.at
        data = cursor.take(nbytes, f"the tensor {name}")
        origin = Raw(name, str(cursor.path), at, nbytes, stored.name, shape, data)
        # names of any length come before the data, which lies anywhere: kernels need it at places of their own
        made = Made(origin, stored.name, shape, nbytes, lambda data=data: np.frombuffer(data, np.uint8).copy())  # type: ignore[misc]
        if name in found:
            raise WeightsError(f"{cursor.path} is corrupt: it has the tensor {name} twice.")
        found[name] = made
    return found


def _flat_bias(name: str, raw: Raw) -> Raw:
    """The biases of convolutions have an axis of one, for a sum over time."""
    if name.endswith(".bias") and len(raw.shape) == 2 and raw.shape[1] == 1 and isinstance(raw, Made):
        return Made(raw.origin, raw.dtype, raw.shape[:1], raw.nbytes, raw.make)
    return raw
