"""GGUF files of Qwen3.5-4B's and Qwen3.6-35B-A3B's shapes with random weights: three layers in four are gated delta rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.random_gguf import F32, Described, Tensors, write_random
from tests.bench.shapes import KEPT

VOCAB = 248320
KEYS, VALUES, SIZE = 16, 32, 128  # of a delta rule: heads of keys and of values, and how wide they are
# Types of matrices, as llama.cpp's files of that name have them: most of them, and those that differ; of `ffn_down` and `attn_v` in every other layer.
MIXES: dict[str, tuple[str, dict[str, str]]] = {
    "Q8_0": ("Q8_0", {}),
    "Q4_0": ("Q4_0", {"output": "Q6_K"}),
    "Q4_K_M": ("Q4_K", {"attn_qkv": "Q5_K", "attn_v": "Q6_K", "ffn_down": "Q6_K", "output": "Q6_K"}),
    "IQ4_XS": ("IQ4_XS", {"attn_v": "Q5_K", "output": "Q6_K"}),
}


def type_in(mix: str, name: str, layer: int = 0) -> str:
    most, others = MIXES[mix]
    return most if name in ("attn_v", "ffn_down") and layer % 2 == 0 else others.get(name, most)


def kept(name: str, write: Callable[[Path], None]) -> Path:
    """A file of this name, written unless it is there."""
    path = KEPT / f"{name}.gguf"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        write(unfinished)
        unfinished.rename(path)
    return path


def qwen3_5_4b(mix: str = "Q4_0", layers: int = 32) -> Path:
    """Of fewer layers with as large a part of the vocabulary. Embeddings and output are one matrix."""
    name = f"qwen3.5-4b-{mix.lower()}" + (f"-{layers}-layers" if layers != 32 else "")
    return kept(name, lambda path: _write_4b(path, mix, layers))


def qwen3_6_35b_a3b(experts: str = "Q4_K_M", layers: int = 4) -> Path:
    """The same of 40 layers. `experts`: the mix of their types; what is not an expert is Q8_0, as many published files have it."""
    name = f"qwen3.6-35b-a3b-{experts.lower()}-{layers}-layers"
    return kept(name, lambda path: _write_35b_a3b(path, experts, layers))


def _mixer(i: int, hidden: int, heads: int, kv_heads: int, dim: int, of: Callable[[str], str]) -> Tensors:
    """Attention, or a gated delta rule."""
    if i % 4 == 3:
        widths = {
            "attn_q": 2 * heads * dim,
            "attn_k": kv_heads * dim,
            "attn_v": kv_heads * dim,
        }  # a gate beside each query
        named: Tensors = {name: ((width, hidden), of(name)) for name, width in widths.items()}
        named["attn_output"] = (hidden, heads * dim), of("attn_output")
        return named | {f"attn_{part}_norm": ((dim,), F32) for part in "qk"}
    return {
        "attn_qkv": (((2 * KEYS + VALUES) * SIZE, hidden), of("attn_qkv")),
        "attn_gate": ((VALUES * SIZE, hidden), of("attn_gate")),
        "ssm_alpha": ((VALUES, hidden), F32),
        "ssm_beta": ((VALUES, hidden), F32),
        "ssm_conv1d": (((2 * KEYS + VALUES) * SIZE, 4), F32),
        "ssm_norm": ((SIZE,), F32),
        "ssm_out": ((hidden, VALUES * SIZE), of("ssm_out")),
    }


def _layer(i: int, named: Tensors) -> Tensors:
    made: Tensors = {f"blk.{i}.{name}.weight": given for name, given in named.items()}
    if i % 4 != 3:
        values: Described = (VALUES,), F32
        made |= {f"blk.{i}.ssm_dt.bias": values, f"blk.{i}.ssm_a": values}
    return made


def _write_4b(path: Path, mix: str, layers: int) -> None:
    hidden, ffn, heads, kv_heads, dim, vocab = 2560, 9216, 16, 4, 256, VOCAB * layers // 32
    tensors: Tensors = {
        "token_embd.weight": ((vocab, hidden), type_in(mix, "output")),
        "output_norm.weight": ((hidden,), F32),
    }
    for i in range(layers):
        named: Tensors = dict.fromkeys(("attn_norm", "post_attention_norm"), ((hidden,), F32))
        named |= {f"ffn_{part}": ((ffn, hidden), type_in(mix, f"ffn_{part}")) for part in ("gate", "up")}
        named["ffn_down"] = (hidden, ffn), type_in(mix, "ffn_down", i)
        tensors |= _layer(i, named | _mixer(i, hidden, heads, kv_heads, dim, partial(type_in, mix, layer=i // 4 + 1)))
    write_random(
        path,
        "qwen35",
        vocab,
        tensors,
        lambda writer: _fields(writer, "qwen35", layers, hidden, ffn, heads, kv_heads, dim),
    )


def _write_35b_a3b(path: Path, mix: str, layers: int) -> None:
    hidden, heads, kv_heads, dim, count, ffn, vocab = 2048, 16, 2, 256, 256, 512, VOCAB * layers // 40
    most = type_in(mix, "ffn_gate")
    tensors: Tensors = {"token_embd.weight": ((vocab, hidden), most)}
    for i in range(layers):
        named: Tensors = dict.fromkeys(("attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"), ((hidden,), F32))
        named["ffn_gate_inp"] = (count, hidden), F32
        named |= {f"ffn_{part}_exps": ((count, ffn, hidden), most) for part in ("gate", "up")}
        named["ffn_down_exps"] = (count, hidden, ffn), type_in(mix, "ffn_down", i)
        named |= {f"ffn_{part}_shexp": ((ffn, hidden), "Q8_0") for part in ("gate", "up")}
        named["ffn_down_shexp"] = (hidden, ffn), "Q8_0"
        tensors |= _layer(i, named | _mixer(i, hidden, heads, kv_heads, dim, lambda _: "Q8_0"))
    tensors |= {"output_norm.weight": ((hidden,), F32), "output.weight": ((vocab, hidden), type_in(mix, "output"))}

    def fields(writer: Any) -> None:
        _fields(writer, "qwen35moe", layers, hidden, ffn, heads, kv_heads, dim)
        writer.add_expert_count(count)
        writer.add_expert_used_count(8)
        writer.add_expert_feed_forward_length(ffn)
        writer.add_expert_shared_feed_forward_length(ffn)

    write_random(path, "qwen35moe", vocab, tensors, fields)


def _fields(writer: Any, arch: str, layers: int, hidden: int, ffn: int, heads: int, kv_heads: int, dim: int) -> None:
    writer.add_block_count(layers)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(ffn)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(dim)
    writer.add_value_length(dim)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e7)
    writer.add_rope_dimension_count(dim // 4)
    writer.add_rope_dimension_sections([11, 11, 10, 0])
    writer.add_ssm_conv_kernel(4)
    writer.add_ssm_state_size(SIZE)
    writer.add_ssm_group_count(KEYS)
    writer.add_ssm_time_step_rank(VALUES)
    writer.add_ssm_inner_size(VALUES * SIZE)
    writer.add_array(f"{arch}.attention.recurrent_layers", [i % 4 != 3 for i in range(layers)])
