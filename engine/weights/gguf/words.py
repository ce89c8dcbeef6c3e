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


_GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CASED = (  # DeepSeek's letters that have a case
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5"
    "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
    "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45"
    "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"
    "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102"
    "\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06"
    "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
    "\U0001e900-\U0001e943"
)
_DEEPSEEK_LLM = (
    r"[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
    r"\p{N}+",
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _DEEPSEEK_LLM[4], r"\p{N}")
_FALCON = (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2_WORDS, r"[0-9][0-9][0-9]")
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_BAILING = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
_SEED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
_EXAONE_MOE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_UPPER, _LOWER = (rf"[\p{{Lm}}\p{{Lo}}\p{{M}}{case}&&[^\p{{Han}}]]" for case in (r"\p{Lu}\p{Lt}", r"\p{Ll}"))
_KIMI = (
    rf"\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_MINICPM = _LLAMA3.replace("{1,3}", "+")
_YOUTU = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
    "|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    _O200K.replace("{1,3}", ""),
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

_DIGITS = Words(single_digits=True)
_GPT4O = Words((_O200K,), whole_words=True)
_BAILINGMOE = Words((_BAILING,))
_PLAIN_QWEN = Words((QWEN,))
_DBRX = Words((_LLAMA3,))

KINDS: dict[str, Words] = {
    "gpt-2": _GPT2,
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"), _LLAMA),
    "qwen2": _QWEN2,
    **dict.fromkeys(
        ("deepseek-r1-qwen", "hunyuan", "stablelm2", "megrez", "kormo", "grok-2", "solar-open"), _PLAIN_QWEN
    ),
    "qwen35": Words((QWEN_MARKS,), compose=True),
    **dict.fromkeys(("hunyuan-dense", "deepseek-v3", "joyai-llm"), _HUNYUAN),
    "deepseek-llm": Words(_DEEPSEEK_LLM),
    "deepseek-coder": Words(_DEEPSEEK_CODER),
    "glm4": _GLM4,
    **dict.fromkeys(("chatglm-bpe", "dbrx", "smaug-bpe"), _DBRX),  # of GLM, OLMo and Granite, SmolLM 3
    "command-r": Words(single_digits=True, compose=True),
    **dict.fromkeys(("exaone4", "mpt", "olmo", "jais", "trillion", "granite-docling", "phi-2"), _GPT2),
    **dict.fromkeys(("gigachat", "a.x-4.0", "mellum"), _GPT2),
    "laguna": Words((r"[^\n]+|[\n]+", QWEN)),
    "tekken": Words((_TEKKEN,), whole_words=True),
    **dict.fromkeys(("gpt-4o", "llama4", "kanana2"), _GPT4O),
    "minimax-m2": Words((_O200K,)),
    **dict.fromkeys(("smollm", "starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2"), _DIGITS),
    "falcon": Words(_FALCON),
    **dict.fromkeys(("bloom", "poro-chat", "gpt3-finnish"), Words((_BLOOM,))),
    "viking": Words((_BLOOM, r"\p{N}")),
    **dict.fromkeys(("bailingmoe", "bailingmoe2", "llada-moe"), _BAILINGMOE),
    "seed-coder": Words((_SEED,)),
    "exaone-moe": Words((_EXAONE_MOE,)),
    "superbpe": Words((r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    "kimi-k2": Words((_KIMI,)),
    "minicpm5": Words((_THREE_DIGITS, _MINICPM), whole_words=True),
    "youtu": Words(_YOUTU, whole_words=True),
}
_BY_ARCHITECTURE = {"qwen2": "qwen2", "qwen3": "qwen2", "qwen3moe": "qwen2", "qwen35": "qwen35", "qwen35moe": "qwen35"}


def named(kind: str | None, arch: str) -> Words | None:
    """The way that a file names; older files name none."""
    if kind in (None, "default"):
        kind = _BY_ARCHITECTURE.get(arch, "gpt-2")
    return KINDS.get(str(kind))


_OWN_KINDS = {  # how llama.cpp's converter calls what several kinds would do for
    "llama": ("llama-bpe", "smaug-bpe"),
    "hunyuan-dense": ("hunyuan-dense", "hunyuan"),
    "deepseek2": ("deepseek-v3", "glm4"),
    "smollm3": ("smaug-bpe",),
    "gpt-oss": ("gpt-4o",),
    **dict.fromkeys(("granite", "granitemoe", "granitehybrid"), ("refact", "dbrx")),
    **dict.fromkeys(("lfm2", "lfm2moe"), ("lfm2",)),
    **dict.fromkeys(("glm4", "glm4moe"), ("glm4",)),
    **dict.fromkeys(("nemotron_h", "nemotron_h_moe"), ("tekken", "pixtral")),
    **dict.fromkeys(("exaone4", "laguna", "minimax-m2"), ("exaone4", "laguna", "minimax-m2")),
}


def recognized(tokenizer: Tokenizer, arch: str, whole_words: bool) -> str | None:
    """The name of the kind that cuts as this tokenizer does. Of several, those that treat whole words as it does come first, then
    those that files of this architecture name."""
    wanted, families = _patterns(tokenizer), _OWN_KINDS.get(arch, ("qwen2",))
    found = []
    for order, (name, words) in enumerate(KINDS.items()):
        candidate = Tokenizer(BPE())
        words.prepare(candidate)
        if _patterns(candidate) == wanted:
            found.append((words.whole_words != whole_words, name not in families, order, name))
    return min(found)[-1] if found else None


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
