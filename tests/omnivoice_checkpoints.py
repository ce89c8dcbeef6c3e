"""A tiny random OmniVoice with its codec, in the layout of the published repositories."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from tests.checkpoints import SPECIALS, save_tokenizer

BOOKS, CODES = 8, 17  # the last code is the mask
MASK = CODES - 1
MARKS = (
    "<|denoise|>", "<|lang_start|>", "<|lang_end|>", "<|instruct_start|>", "<|instruct_end|>", "<|text_start|>",
    "<|text_end|>",
)  # fmt: skip
TALKER: dict[str, Any] = dict(
    model_type="qwen3", hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
    intermediate_size=64, vocab_size=256 + len(SPECIALS) + len(MARKS), rms_norm_eps=1e-6, rope_theta=1e6,
    max_position_embeddings=4096, tie_word_embeddings=True,
)  # fmt: skip
CONFIG: dict[str, Any] = dict(
    model_type="omnivoice", architectures=["OmniVoice"], audio_vocab_size=CODES, audio_mask_id=MASK,
    num_audio_codebook=BOOKS, audio_codebook_weights=[8, 8, 6, 6, 4, 4, 2, 2], llm_config=TALKER,
)  # fmt: skip
HOP = 640
CODEC = (
    Path(__file__).parent / "data" / "omnivoice" / "audio_tokenizer"
)  # by the reference library, see `record.py` beside it


@cache
def talker_tensors(seed: int = 0) -> dict[str, np.ndarray]:
    random, c = np.random.default_rng(seed), TALKER
    hidden, dim, ffn = c["hidden_size"], c["head_dim"], c["intermediate_size"]
    q, kv = c["num_attention_heads"] * dim, c["num_key_value_heads"] * dim
    shapes: dict[str, tuple[int, ...]] = {
        "llm.embed_tokens.weight": (c["vocab_size"], hidden),
        "llm.norm.weight": (hidden,),
        "audio_embeddings.weight": (BOOKS * CODES, hidden),
        "audio_heads.weight": (BOOKS * CODES, hidden),
    }
    for i in range(c["num_hidden_layers"]):
        sizes = {
            "self_attn.q_proj": (q, hidden), "self_attn.k_proj": (kv, hidden), "self_attn.v_proj": (kv, hidden),
            "self_attn.o_proj": (hidden, q), "self_attn.q_norm": (dim,), "self_attn.k_norm": (dim,),
            "mlp.gate_proj": (ffn, hidden), "mlp.up_proj": (ffn, hidden), "mlp.down_proj": (hidden, ffn),
            "input_layernorm": (hidden,), "post_attention_layernorm": (hidden,),
        }  # fmt: skip
        shapes |= {f"llm.layers.{i}.{name}.weight": shape for name, shape in sizes.items()}
    made = {}
    for name, shape in shapes.items():
        noise = random.standard_normal(shape).astype(np.float32)
        made[name] = 1 + 0.1 * noise if len(shape) == 1 else noise * np.float32(2.0 if "head" in name else 1.0)
        if len(shape) == 2:
            made[name] = made[name] / np.float32(np.sqrt(shape[1]))
    made["codebook_layer_offsets"] = np.arange(BOOKS, dtype=np.int64) * CODES
    return made


def sound(seconds: float, rate: int, seed: int = 0) -> np.ndarray:
    at = np.arange(int(seconds * rate)) / rate
    noise = np.random.default_rng(seed).standard_normal(len(at))
    made: np.ndarray = (0.3 * np.sin(2 * np.pi * 220 * at) * np.sin(3 * at) + 0.05 * noise).astype(np.float32)
    return made


def split_by_codebook(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The names that mlx-audio's converter gives them."""
    made = {}
    for name, values in tensors.items():
        if name in ("audio_embeddings.weight", "audio_heads.weight"):
            for i in range(BOOKS):
                made[name.replace(".weight", f".{i}.weight")] = values[i * CODES : (i + 1) * CODES].copy()
        elif name != "codebook_layer_offsets":
            made[name.replace("llm.", "backbone.")] = values
    return made


def save_omnivoice(folder: Path, converted: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = talker_tensors()
    safetensors.numpy.save_file(split_by_codebook(tensors) if converted else tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    save_tokenizer(folder, MARKS)
    shutil.copytree(CODEC, folder / "audio_tokenizer")
    return folder
