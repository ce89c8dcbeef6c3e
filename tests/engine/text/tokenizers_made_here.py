"""Tiny tokenizers of the two families, made without any file or network."""

from __future__ import annotations

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

TRAINED_ON = [
    "the quick brown fox jumps over the lazy dog",
    "数据与模型 你好世界",
    "naïve café 🙂🙂 🇩🇪",
    "a  b   c\n\n\td",
]
CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def byte_level(specials: list[str] | None = None, plain: tuple[str, ...] = ("<think>", "</think>")) -> Tokenizer:
    """GPT-2's and Qwen's family, trained for a few merges so that some tokens hold half a character."""
    from tokenizers.trainers import BpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(
        TRAINED_ON * 3, BpeTrainer(vocab_size=340, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in specials or CHATML])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in plain])
    return tokenizer


def sentencepiece() -> Tokenizer:
    """Llama 2's family: a mark for the space, bytes as a way out, one leading space dropped, BOS in front."""
    words = ["▁", "▁the", "▁quick", "he", "t", "h", "e", "q", "u", "i", "c", "k", "你", "▁你好", "好", "x", "▁▁", "\n"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *words]
    tokenizer = Tokenizer(
        BPE(
            vocab={t: i for i, t in enumerate(tokens)},
            merges=[("h", "e")],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer
