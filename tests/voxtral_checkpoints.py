"""Tiny random checkpoints of Voxtral with a `tekken.json`, made by the reference library. A window has its real length, 30 seconds."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

CONTROL = 100  # ids of control tokens; 40 of them have names, as in the published files
_WORDS = (
    "the",
    "lang",
    "en",
    "and",
    "crane",
    "says",
    " the",
    " crane",
    " says",
    "ä",
    "日",
    "日本",
    " what",
    "Hm",
    "2",
    "12",
)
_NAMES = {
    0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]", 4: "[/INST]", 5: "[AVAILABLE_TOOLS]", 6: "[/AVAILABLE_TOOLS]",
    7: "[TOOL_RESULTS]", 8: "[/TOOL_RESULTS]", 9: "[TOOL_CALLS]", 10: "[IMG]", 11: "<pad>",
    12: "[IMG_BREAK]", 13: "[IMG_END]", 14: "[PREFIX]", 15: "[MIDDLE]", 16: "[SUFFIX]", 17: "[SYSTEM_PROMPT]",
    18: "[/SYSTEM_PROMPT]", 19: "[TOOL_CONTENT]", 24: "[AUDIO]", 25: "[BEGIN_AUDIO]",
    32: "[STREAMING_PAD]", 33: "[STREAMING_WORD]", 34: "[TRANSCRIBE]",
}  # fmt: skip
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
AUDIO = 24
WINDOW = 375  # tokens of 30 seconds


def _tokens() -> list[bytes]:
    """Bytes, then all beginnings of words, the shorter ones first, and a word that no merges make."""
    parts = {word.encode()[:end] for word in _WORDS for end in range(2, len(word.encode()) + 1)}
    return [*(bytes([byte]) for byte in range(256)), *sorted(parts, key=lambda part: (len(part), part)), b"qxj"]


VOCAB = CONTROL + len(_tokens())


def voxtral_id(token: str) -> int:
    return next(id for id, name in _NAMES.items() if name == token)


def tekken() -> dict[str, Any]:
    """With two tokens more than the model has, as published files have many more."""
    vocab = [*_tokens(), b"crane says", b"the crane"]
    control = [{"rank": i, "token_str": _NAMES.get(i, f"<SPECIAL_{i}>"), "is_control": True} for i in range(40)]
    audio = dict(
        sampling_rate=16000, frame_rate=12.5, chunk_length_s=30.0,
        audio_encoding_config=dict(num_mel_bins=128, hop_length=160, window_size=400),
    )  # fmt: skip
    return {
        "config": dict(
            pattern=PATTERN, num_vocab_tokens=len(vocab), default_vocab_size=VOCAB, version="v7",
            default_num_special_tokens=CONTROL,
        ),
        "vocab": [
            dict(rank=i, token_bytes=base64.b64encode(token).decode(), token_str=None) for i, token in enumerate(vocab)
        ],
        "special_tokens": control,
        "audio": audio,
    }  # fmt: skip


@cache
def voxtral_reference(seed: int = 0) -> Any:
    import torch
    import transformers

    audio = dict(
        hidden_size=32, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, num_mel_bins=128,
        max_source_positions=1500,
    )  # fmt: skip
    text = dict(
        model_type="llama", vocab_size=VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=2048,
        rope_parameters=dict(rope_type="default", rope_theta=1e6), bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    config = transformers.VoxtralConfig(audio_config=audio, text_config=text, audio_token_id=AUDIO)
    config._attn_implementation = "eager"
    model = transformers.VoxtralForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_((0.2 if "audio" in name else 0.35) * noise)
        model.model.language_model.embed_tokens.weight.mul_(0.5)
    return model


def features(samples: np.ndarray) -> Any:
    """The spectrogram's windows as the reference's processor makes them."""
    import transformers
    from transformers.models.voxtral.processing_voxtral import VoxtralProcessor

    given = dict(VoxtralProcessor.audio_kwargs)
    longest = given.pop("max_source_positions")
    ears = SimpleNamespace(feature_extractor=transformers.WhisperFeatureExtractor(feature_size=128))
    return VoxtralProcessor._retrieve_input_features(ears, [samples], longest, **given)


def save_voxtral(folder: Path, layout: str = "published", **how: Any) -> Path:
    """`layout`: `plain`, with the names that the reference has in memory; `mlx`, with channels last."""
    import safetensors.torch

    voxtral_reference(**how).save_pretrained(folder)
    (folder / "tekken.json").write_text(json.dumps(tekken()))
    if layout == "published":
        return folder
    path = folder / "model.safetensors"
    saved = safetensors.torch.load_file(path)
    if layout == "plain":
        saved = dict(voxtral_reference(**how).state_dict())
    else:
        turned = ("conv1.weight", "conv2.weight")
        saved = {name: t.permute(0, 2, 1).contiguous() if name.endswith(turned) else t for name, t in saved.items()}
    safetensors.torch.save_file({name: t.contiguous() for name, t in saved.items()}, path, {"format": "pt"})
    return folder


# -- Voxtral Realtime

LEFT, DELAY, RIGHT = 32, 6, 17  # tokens of silence before a sound, of the delay, and of silence behind a sound
TOKEN = 1280  # samples


@cache
def realtime_reference(seed: int = 0) -> Any:
    """The encoder's rows see half a second, the text model's 40 tokens."""
    import torch
    import transformers

    audio = dict(
        hidden_size=32, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, head_dim=16, num_mel_bins=128,
        sliding_window=25, rope_parameters=dict(rope_type="default", rope_theta=1e6),
    )  # fmt: skip
    text = dict(
        model_type="voxtral_realtime_text", vocab_size=VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=2048, sliding_window=40,
        rms_norm_eps=1e-5, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e6),
    )  # fmt: skip
    config = transformers.VoxtralRealtimeConfig(audio_config=audio, text_config=text)
    config._attn_implementation = "eager"
    model = transformers.VoxtralRealtimeForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_((0.2 if "audio" in name else 0.35) * noise)
        model.model.language_model.embed_tokens.weight.mul_(0.5)
        model.model.multi_modal_projector.linear_2.weight.mul_(0.1)
    return model


def realtime_features(samples: np.ndarray) -> Any:
    """The spectrogram of a sound as mistral-common pads it and the reference makes it of that."""
    import transformers

    count = -(-len(samples) // TOKEN)
    padded = np.zeros((LEFT + count + RIGHT) * TOKEN, np.float32)
    padded[LEFT * TOKEN :][: len(samples)] = samples
    extract = transformers.VoxtralRealtimeFeatureExtractor()
    return extract(padded, sampling_rate=16000, return_tensors="pt")["input_features"]


def save_realtime(folder: Path, **how: Any) -> Path:
    realtime_reference(**how).save_pretrained(folder)
    held = tekken()
    held["audio"] |= dict(
        chunk_length_s=None, transcription_format="streaming", transcription_delay_ms=480.0, streaming_look_ahead_ms=2.5,
        streaming_look_back_ms=52.5, streaming_n_left_pad_tokens=LEFT,
    )  # fmt: skip
    (folder / "tekken.json").write_text(json.dumps(held))
    return folder
