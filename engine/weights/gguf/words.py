"""How text is cut into words before bytes are merged, for each kind that a GGUF file may name (`tokenizer.ggml.pre`).

Patterns are those of the families' own tokenizers. Writing a file asks the other way round: which kind is this?
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE

from engine.text.byte_bpe import QWEN, QWEN_MARKS

_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    + _SUFFIX
    + r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    + _SUFFIX
    + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_THREE_DIGITS = r"\p{N}{1,3}"
_HAN_AND_KANA = r"[一-龥぀-ゟ゠-ヿ]+"
_DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Words:
    """One way to cut. `patterns` are applied one after the other; none means GPT-2's own rule."""

    patterns: tuple[str, ...] = ()
    compose: bool = False  # NFC before anything else
    single_digits: bool = False
    whole_words: bool = False  # a word that is a token is taken as it is, whatever the merges say
    bos: bool = False  # a text begins with BOS unless the file says otherwise

    def prepare(self, tokenizer: Tokenizer) -> None:
        """Give a tokenizer this way of cutting."""
        if self.compose:
            tokenizer.normalizer = normalizers.NFC()
        steps = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in self.patterns]
        digits = [pre_tokenizers.Digits(individual_digits=True)] if self.single_digits else []
        level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not self.patterns)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*digits, *steps, level])


_GPT2 = Words()
_LLAMA = Words((_LLAMA3,), whole_words=True, bos=True)
_QWEN2 = Words((QWEN,), compose=True)
_GLM4 = Words((_LLAMA3,), whole_words=True)
_HUNYUAN = Words((_THREE_DIGITS, _HAN_AND_KANA, _DEEPSEEK))

KINDS: dict[str, Words] = {
    "gpt-2": _GPT2,
    "llama-bpe": _LLAMA,
    "llama3": _LLAMA,
    "llama-v3": _LLAMA,
    "qwen2": _QWEN2,
    "deepseek-r1-qwen": Words((QWEN,)),
    "hunyuan": Words((QWEN,)),
    "qwen35": Words((QWEN_MARKS,), compose=True),
    "hunyuan-dense": _HUNYUAN,
    "deepseek-v3": _HUNYUAN,
    "glm4": _GLM4,
    "chatglm-bpe": Words((_LLAMA3,)),
    "dbrx": Words((_LLAMA3,)),  # of OLMo
    "command-r": Words(single_digits=True, compose=True),
    "exaone4": _GPT2,
    "laguna": Words((r"[^\n]+|[\n]+", QWEN)),
    "tekken": Words((_TEKKEN,), whole_words=True),
    "gpt-4o": Words((_O200K,), whole_words=True),
    "llama4": Words((_O200K,), whole_words=True),
    "minimax-m2": Words((_O200K,)),
    "smollm": Words(single_digits=True),
}
_BY_ARCHITECTURE = {"qwen2": "qwen2", "qwen3": "qwen2", "qwen3moe": "qwen2", "qwen35": "qwen35", "qwen35moe": "qwen35"}


def named(kind: str | None, arch: str) -> Words | None:
    """The way that a file names; older files name none."""
    if kind in (None, "default"):
        kind = _BY_ARCHITECTURE.get(arch, "gpt-2")
    return KINDS.get(str(kind))


def recognized(tokenizer: Tokenizer, families: tuple[str, ...] = ()) -> str | None:
    """The name of the kind that cuts as this tokenizer does; of several, one of `families` if it is among them."""
    wanted = _patterns(tokenizer)
    names = []
    for name, words in KINDS.items():
        candidate = Tokenizer(BPE())
        words.prepare(candidate)
        if _patterns(candidate) == wanted:
            names.append(name)
    return next((name for name in names if name in families), names[0] if names else None)


def _patterns(tokenizer: Tokenizer) -> list[str]:
    """What a pre-tokenizer does to text, without the settings that change only offsets."""
    if tokenizer.pre_tokenizer is None:
        return []
    described = json.loads(tokenizer.pre_tokenizer.__getstate__())
    steps = described.get("pretokenizers", [described])
    found = []
    for step in steps:
        kind = step["type"]
        if kind == "Split":
            found.append(f"split {step['behavior']} {step['invert']} {next(iter(step['pattern'].values()))}")
        elif kind == "ByteLevel":
            found += ["gpt-2"] if step["use_regex"] else []
        else:
            found.append(f"{kind} {step.get('individual_digits')}")
    return found
