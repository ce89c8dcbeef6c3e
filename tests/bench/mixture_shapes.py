"""GGUF files of mixtures of experts in real shapes, with random weights, made once and kept in `.grus-bench`.

Layers, and the vocabulary with them, are as many as fit the memory of a common machine beside llama.cpp: a token passes each layer as
in the whole model, and reads the same share of head and layers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import pre_tokenizers

from tests.bench.shapes import KEPT

F32, Q8_0, Q4_K, Q6_K, MXFP4 = "F32", "Q8_0", "Q4_K", "Q6_K", "MXFP4"
Described = tuple[tuple[int, ...], str]  # shape as numpy has it, type
Tensors = dict[str, Described]


def random_rows(rows: int, columns: int, kind: str) -> np.ndarray:
    """Random rows in blocks of this type. Few are made, and taken again and again: what they are does not matter to time."""
    import gguf

    from backends.torch.kernels.quantize import encode

    few = np.random.default_rng(0).standard_normal((min(rows, 512), columns), np.float32) * np.float32(0.02)
    made = few if kind == F32 else encode(few, kind)
    if made is None:
        made = gguf.quants.quantize(few, gguf.GGMLQuantizationType[kind])
    return np.resize(made, (rows, made.shape[1]))


def write_random(path: Path, arch: str, vocab: int, tensors: Tensors, fields: Callable[[Any], None]) -> None:
    import gguf

    writer = gguf.GGUFWriter(path, arch)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*alphabet, *(f"<{i}>" for i in range(vocab - len(alphabet)))])
    writer.add_token_types([1] * vocab)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(vocab - 1)
    writer.add_context_length(32768)
    fields(writer)

    def data(name: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
        if len(shape) == 1:
            return np.full(shape, -1 if name.endswith("ssm_a") else 1, np.float32)  # a decay, as files hold it
        made = random_rows(int(np.prod(shape[:-1])), shape[-1], kind)
        return made.reshape(*shape[:-1], made.shape[1])

    for name, (shape, kind) in tensors.items():
        few = data(name, (*([1] * (len(shape) - 1)), shape[-1]), kind)
        bytes_shape = (*shape[:-1], few.shape[-1]) if len(shape) > 1 else shape
        size = int(np.prod(bytes_shape)) * few.itemsize
        raw = None if kind == F32 else gguf.GGMLQuantizationType[kind]
        writer.add_tensor_info(name, bytes_shape, few.dtype, size, raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for name, (shape, kind) in tensors.items():
        writer.write_tensor_data(data(name, shape, kind))
    writer.close()


def heads_of(hidden: int, heads: int, kv_heads: int, dim: int, gated: bool = False) -> list[tuple[str, Described]]:
    """`gated`: beside each head's queries lies a gate."""
    return [
        ("attn_q", (((2 if gated else 1) * heads * dim, hidden), Q8_0)),
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


def qwen3_6_35b_a3b(path: Path) -> None:
    """4 of 40 layers, of which three are gated delta rules, and as large a part of the vocabulary. Q4_K with Q6_K in half of the down
    projections, as Q4_K_M files have them."""
    layers, hidden, heads, kv_heads, dim, count, ffn, vocab = 4, 2048, 16, 2, 256, 256, 512, 248320 * 4 // 40
    keys, values, size = 16, 32, 128  # of a delta rule
    tensors: Tensors = {"token_embd.weight": ((vocab, hidden), Q4_K)}
    for i in range(layers):
        layer = f"blk.{i}"
        tensors |= _experts(layer, count, ffn, hidden, Q4_K, Q6_K if i % 2 else Q4_K)
        named: Tensors = dict.fromkeys(("attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"), ((hidden,), F32))
        named |= {f"ffn_{part}_shexp": ((ffn, hidden), Q8_0) for part in ("gate", "up")}
        named["ffn_down_shexp"] = (hidden, ffn), Q8_0
        if i % 4 == 3:
            named |= dict(heads_of(hidden, heads, kv_heads, dim, gated=True))
            named |= {f"attn_{part}_norm": ((dim,), F32) for part in "qk"}
        else:
            named |= {
                "attn_qkv": (((2 * keys + values) * size, hidden), Q8_0),
                "attn_gate": ((values * size, hidden), Q8_0),
                "ssm_alpha": ((values, hidden), F32),
                "ssm_beta": ((values, hidden), F32),
                "ssm_conv1d": (((2 * keys + values) * size, 4), F32),
                "ssm_norm": ((size,), F32),
                "ssm_out": ((hidden, values * size), Q8_0),
            }
            tensors |= {f"{layer}.ssm_dt.bias": ((values,), F32), f"{layer}.ssm_a": ((values,), F32)}
        tensors |= {f"{layer}.{name}.weight": given for name, given in named.items()}
    tensors |= {"output_norm.weight": ((hidden,), F32), "output.weight": ((vocab, hidden), Q6_K)}

    def fields(writer: Any) -> None:
        _sizes(writer, layers, hidden, heads, kv_heads, dim, count, 8, ffn)
        writer.add_rope_freq_base(1e7)
        writer.add_rope_dimension_count(dim // 4)
        writer.add_rope_dimension_sections([11, 11, 10, 0])
        writer.add_expert_shared_feed_forward_length(ffn)
        writer.add_ssm_conv_kernel(4)
        writer.add_ssm_state_size(size)
        writer.add_ssm_group_count(keys)
        writer.add_ssm_time_step_rank(values)
        writer.add_ssm_inner_size(values * size)
        writer.add_array("qwen35moe.attention.recurrent_layers", [i % 4 != 3 for i in range(layers)])

    write_random(path, "qwen35moe", vocab, tensors, fields)


SHAPES: dict[str, Callable[[Path], None]] = {
    "gpt-oss-20b": gpt_oss_20b,
    "qwen3.6-35b-a3b": qwen3_6_35b_a3b,
}


def file_of(shape: str) -> Path:
    path = KEPT / f"{shape}.gguf"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        SHAPES[shape](unfinished)
        unfinished.rename(path)
    return path


def bytes_a_token(path: Path) -> int:
    """What a decode step of one sequence must read: every weight once, but of the experts the chosen ones, and a row of the embedding;
    and the state of each gated delta rule, which a step writes too (not counted) and whose layers' weights drive it out of any cache."""
    import gguf

    reader = gguf.GGUFReader(path)
    count, chosen = (
        int(field.contents())
        for name in ("expert_count", "expert_used_count")
        for key, field in reader.fields.items()
        if key.endswith(f".{name}")
    )
    tied = not any(tensor.name == "output.weight" for tensor in reader.tensors)
    read = 0
    for tensor in reader.tensors:
        if "_exps." in tensor.name:
            read += int(tensor.n_bytes) * chosen // count
        elif tensor.name != "token_embd.weight" or tied:
            read += int(tensor.n_bytes)
        if tensor.name.endswith("ssm_norm.weight"):  # as long as a head is wide
            values = next(int(f.contents()) for key, f in reader.fields.items() if key.endswith("ssm.time_step_rank"))
            read += values * int(tensor.n_elements) ** 2 * 4
    return read
