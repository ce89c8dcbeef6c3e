"""GGUF files of mixtures of experts in real shapes, with random weights, made once and kept in `.grus-bench`.

Layers, and the vocabulary with them, are as many as fit the memory of a common machine beside llama.cpp: a token passes each layer as
in the whole model, and reads the same share of head and layers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.hybrid_shapes import kept, qwen3_6_35b_a3b
from tests.bench.random_gguf import F32, Described, Tensors, write_random

Q8_0, MXFP4 = "Q8_0", "MXFP4"


def heads_of(hidden: int, heads: int, kv_heads: int, dim: int) -> list[tuple[str, Described]]:
    return [
        ("attn_q", ((heads * dim, hidden), Q8_0)),
        ("attn_k", ((kv_heads * dim, hidden), Q8_0)),
        ("attn_v", ((kv_heads * dim, hidden), Q8_0)),
        ("attn_output", ((hidden, heads * dim), Q8_0)),
    ]


def _sizes(
    writer: Any, layers: int, hidden: int, heads: int, kv_heads: int, dim: int, count: int, chosen: int, ffn: int
) -> None:
    writer.add_block_count(layers)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(ffn)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(dim)
    writer.add_value_length(dim)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_expert_count(count)
    writer.add_expert_used_count(chosen)
    writer.add_expert_feed_forward_length(ffn)


def _experts(layer: str, count: int, ffn: int, hidden: int, kind: str, down: str) -> Tensors:
    return {
        f"{layer}.ffn_gate_inp.weight": ((count, hidden), F32),
        f"{layer}.ffn_gate_exps.weight": ((count, ffn, hidden), kind),
        f"{layer}.ffn_up_exps.weight": ((count, ffn, hidden), kind),
        f"{layer}.ffn_down_exps.weight": ((count, hidden, ffn), down),
    }


def gpt_oss_20b(path: Path) -> None:
    """6 of 24 layers, and as large a part of the vocabulary."""
    layers, hidden, heads, kv_heads, dim, count, ffn, vocab = 6, 2880, 64, 8, 64, 32, 2880, 201088 * 6 // 24
    tensors: Tensors = {"token_embd.weight": ((vocab, hidden), Q8_0)}
    for i in range(layers):
        layer = f"blk.{i}"
        tensors |= _experts(layer, count, ffn, hidden, MXFP4, MXFP4)
        tensors |= {
            f"{layer}.{name}.bias": (shape[:1], F32) for name, (shape, _) in heads_of(hidden, heads, kv_heads, dim)
        }
        tensors |= {f"{layer}.{name}.weight": given for name, given in heads_of(hidden, heads, kv_heads, dim)}
        for name, width in (("gate", ffn), ("up", ffn), ("down", hidden)):
            tensors[f"{layer}.ffn_{name}_exps.bias"] = (count, width), F32
        tensors[f"{layer}.ffn_gate_inp.bias"] = (count,), F32
        tensors[f"{layer}.attn_sinks.weight"] = (heads,), F32
        tensors |= {f"{layer}.{name}.weight": ((hidden,), F32) for name in ("attn_norm", "post_attention_norm")}
    tensors |= {"output_norm.weight": ((hidden,), F32), "output.weight": ((vocab, hidden), Q8_0)}

    def fields(writer: Any) -> None:
        import gguf

        _sizes(writer, layers, hidden, heads, kv_heads, dim, count, 4, ffn)
        writer.add_sliding_window(128)
        writer.add_rope_freq_base(150000.0)
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(32.0)
        writer.add_rope_scaling_orig_ctx_len(4096)

    write_random(path, "gpt-oss", vocab, tensors, fields)


SHAPES: dict[str, Callable[[], Path]] = {
    "gpt-oss-20b": lambda: kept("gpt-oss-20b", gpt_oss_20b),
    "qwen3.6-35b-a3b": qwen3_6_35b_a3b,
}


def file_of(shape: str) -> Path:
    return SHAPES[shape]()


def bytes_a_token(path: Path) -> int:
    """What a decode step of one sequence must move: every weight once, but of the experts the chosen ones, and a row of the embedding; and
    the state of each gated delta rule twice, since it is read and written anew, and other layers' weights drive it out of any cache."""
    import gguf

    reader = gguf.GGUFReader(path)
    experts = {
        name: int(field.contents())
        for name in ("expert_count", "expert_used_count")
        for key, field in reader.fields.items()
        if key.endswith(f".{name}")
    }  # none in a dense model
    tied = not any(tensor.name == "output.weight" for tensor in reader.tensors)
    moved = 0
    for tensor in reader.tensors:
        if "_exps." in tensor.name:
            moved += int(tensor.n_bytes) * experts["expert_used_count"] // experts["expert_count"]
        elif tensor.name != "token_embd.weight" or tied:
            moved += int(tensor.n_bytes)
        if tensor.name.endswith("ssm_norm.weight"):  # as long as a head is wide
            values = next(int(f.contents()) for key, f in reader.fields.items() if key.endswith("ssm.time_step_rank"))
            moved += 2 * values * int(tensor.n_elements) ** 2 * 4
    return moved


def bytes_kept_a_token(path: Path) -> int:
    """Its keys and values in half precision, which each later step reads."""
    import gguf

    tensors = gguf.GGUFReader(path).tensors
    return sum(2 * int(t.shape[1]) for t in tensors if t.name.endswith(("attn_k.weight", "attn_v.weight")))
