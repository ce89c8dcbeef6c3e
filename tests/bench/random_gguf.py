"""GGUF files of real shapes with random blocks, written without a checkpoint, for families that llama.cpp's quantizer has none of ours for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import pre_tokenizers

from tests.bench.shapes import KEPT

LAYERS = 12  # of Gemma 4 E4B's 42: two of them attend to everything, six share keys and values
ROWS = 1 << 14  # of a table that are made at once


def q4_0(rows: int, columns: int, random: np.random.Generator) -> np.ndarray:
    made = np.empty((rows, columns // 32), dtype=[("scale", "<f2"), ("codes", "u1", 16)])
    made["scale"] = random.uniform(0.002, 0.004, made.shape)
    made["codes"] = random.integers(0, 256, (*made.shape, 16), np.uint8)
    return made.view(np.uint8)


def q6_k(rows: int, columns: int, random: np.random.Generator) -> np.ndarray:
    made = np.empty((rows, columns // 256), dtype=[("codes", "u1", 192), ("scales", "i1", 16), ("scale", "<f2")])
    made["codes"] = random.integers(0, 256, (*made.shape, 192), np.uint8)
    made["scales"] = random.integers(-64, 64, (*made.shape, 16), np.int8)
    made["scale"] = 2e-5
    return made.view(np.uint8)


def _random_blocks(block: np.dtype[Any], **scales: float) -> Callable[[int, int, np.random.Generator], np.ndarray]:
    """Blocks of 256 columns in which all is random but their scales in half precision."""

    def make(rows: int, columns: int, random: np.random.Generator) -> np.ndarray:
        made = np.frombuffer(random.bytes(rows * columns // 256 * block.itemsize), block).reshape(rows, -1).copy()
        for name, scale in scales.items():
            made[name] = scale
        return made.view(np.uint8)

    return make


Q5_K_BLOCK = np.dtype([("scale", "<f2"), ("minimum", "<f2"), ("rest", "u1", 172)])
IQ4_XS_BLOCK = np.dtype([("scale", "<f2"), ("rest", "u1", 134)])
MAKERS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "Q4_0": q4_0,
    "Q6_K": q6_k,
    "Q5_K": _random_blocks(Q5_K_BLOCK, scale=7e-5, minimum=1.1e-3),
    "IQ4_XS": _random_blocks(IQ4_XS_BLOCK, scale=1.6e-5),
}
F32 = "F32"
Described = tuple[tuple[int, ...], str]  # shape as numpy has it, type
Tensors = dict[str, Described]


def random_rows(rows: int, columns: int, kind: str) -> np.ndarray:
    """Random rows in blocks of this type. Few are made, and taken again and again: what they are does not matter to time."""
    import gguf

    from backends.torch.kernels.quantize import encode

    random, some = np.random.default_rng(0), min(rows, 512)
    few = random.standard_normal((some, columns), np.float32) * np.float32(0.02)
    # checkpoints are bf16, and what a file of GGUF keeps as f32 was so
    made = (few.view(np.uint32) & 0xFFFF0000).view(np.float32) if kind == F32 else encode(few, kind)
    if made is None and kind in MAKERS:
        made = MAKERS[kind](some, columns, random)
    elif made is None:
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


def gemma4_e4b() -> Path:
    """Matrices in Q4_0 and tables in Q6_K, as published files have them."""
    path = KEPT / f"gemma4-e4b-{LAYERS}-layers-q4_0.gguf"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(unfinished, "gemma4", _e4b_settings, _e4b_tensors())
        unfinished.rename(path)
    return path


def read_by_a_step(path: Path) -> int:
    """Bytes of a file that a decode step reads: all but the table of which it reads one row."""
    import gguf

    return sum(int(t.n_bytes) for t in gguf.GGUFReader(path).tensors if t.name != "per_layer_token_embd.weight")


HIDDEN, FFN, HEADS, KV_HEADS, DIM, WIDE, OWN, VOCAB, SHARED = 2560, 10240, 8, 2, 256, 512, 256, 262144, 6


def _full(layer: int) -> bool:
    return layer % 6 == 5


def _e4b_settings(writer: Any) -> None:
    writer.add_context_length(131072)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv([KV_HEADS] * LAYERS)
    writer.add_feed_forward_length([FFN] * LAYERS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_sliding_window(512)
    writer.add_sliding_window_pattern([not _full(i) for i in range(LAYERS)])
    writer.add_shared_kv_layers(SHARED)
    writer.add_embedding_length_per_layer_input(OWN)
    for add, size in ((writer.add_key_length, WIDE), (writer.add_value_length, WIDE)):
        add(size)
    writer.add_key_length_swa(DIM)
    writer.add_value_length_swa(DIM)
    writer.add_rope_dimension_count(WIDE)
    writer.add_rope_dimension_count_swa(DIM)
    writer.add_rope_freq_base(1e6)
    writer.add_rope_freq_base_swa(1e4)
    writer.add_final_logit_softcapping(30.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([f"<{i}>" for i in range(VOCAB)])
    writer.add_token_types([1] * VOCAB)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(1)


def _e4b_tensors() -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape by name."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {
        "token_embd.weight": ("Q6_K", (VOCAB, HIDDEN)),
        "per_layer_token_embd.weight": ("Q6_K", (VOCAB, LAYERS * OWN)),
        "per_layer_model_proj.weight": ("Q4_0", (LAYERS * OWN, HIDDEN)),
        "per_layer_proj_norm.weight": ("F32", (OWN,)),
        "output_norm.weight": ("F32", (HIDDEN,)),
        "rope_freqs.weight": ("F32", (WIDE // 2,)),
    }
    for i in range(LAYERS):
        dim, layer = WIDE if _full(i) else DIM, f"blk.{i}."
        matrices = {
            "attn_q": (HEADS * dim, HIDDEN),
            "attn_output": (HIDDEN, HEADS * dim),
            "ffn_gate": (FFN, HIDDEN),
            "ffn_up": (FFN, HIDDEN),
            "ffn_down": (HIDDEN, FFN),
            "inp_gate": (OWN, HIDDEN),
            "proj": (HIDDEN, OWN),
        }
        norms = {"attn_q_norm": dim}
        if i < LAYERS - SHARED:
            matrices |= {"attn_k": (KV_HEADS * dim, HIDDEN), "attn_v": (KV_HEADS * dim, HIDDEN)}
            norms["attn_k_norm"] = dim
        around = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm")
        norms |= dict.fromkeys(around, HIDDEN) | {"layer_output_scale": 1}
        found |= {f"{layer}{name}.weight": ("Q4_0", shape) for name, shape in matrices.items()}
        found |= {f"{layer}{name}.weight": ("F32", (size,)) for name, size in norms.items()}
    return found


def _floats(name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name != "rope_freqs.weight":
        return np.ones(shape, np.float32)
    return np.float32(
        [1.0] * (shape[0] // 4) + [1e30] * (shape[0] - shape[0] // 4)
    )  # a quarter of a wide head is turned


def _write(
    path: Path, arch: str, settings: Callable[[Any], None], tensors: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    import gguf

    writer, random = gguf.GGUFWriter(path, arch), np.random.default_rng(0)
    settings(writer)
    for name, (kind, shape) in tensors.items():
        of_kind = gguf.GGMLQuantizationType[kind]
        stored = shape if kind == "F32" else gguf.quant_shape_to_byte_shape(shape, of_kind)
        dtype, nbytes = np.dtype(np.float32 if kind == "F32" else np.uint8), int(np.prod(stored))
        writer.add_tensor_info(name, stored, dtype, nbytes * dtype.itemsize, of_kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    with path.open("r+b") as out:
        out.seek(0, 2)
        out.write(bytes(-out.tell() % writer.data_alignment))
        for name, (kind, shape) in tensors.items():
            written = 0
            for first in range(0, shape[0], ROWS):
                rows = min(ROWS, shape[0] - first)
                part = _floats(name, shape) if kind == "F32" else MAKERS[kind](rows, shape[1], random)
                written += out.write(part.tobytes())
            out.write(bytes(-written % writer.data_alignment))
    writer.close()
