"""Broken headers by the thousand: whatever the bytes, opening a file succeeds or raises a typed error, at once.

A test run tries a few hundred, always the same ones; `GRUS_FUZZ_SECONDS` makes it go on.
"""

from __future__ import annotations

import os
import struct
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import GrusError
from engine.models.registry import find_architecture
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.checkpoint import GgufCheckpoint
from engine.weights.gguf.reader import Elements, read
from engine.weights.gguf.types import NUMBERS, TYPES
from engine.weights.view import survey
from tests.engine.weights.gguf.files import save, zeros

SECONDS = float(os.environ.get("GRUS_FUZZ_SECONDS", "0"))
AT_LEAST = 500
INTERESTING = [
    0,
    1,
    2,
    8,
    9,
    31,
    32,
    33,
    127,
    128,
    255,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
]


WORDS = ["<s>", "a", "b", "ab", "</s>", "数"]
SEEDS = {
    "llama": {"tokenizer.ggml.model": "llama", "tokenizer.ggml.scores": [0.0, -1.0, -2.0, -0.5, 0.0, 3.0]},
    "qwen35": {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen35",
        "tokenizer.ggml.merges": ["a b"],
        "qwen35.attention.key_length": 128,
        "qwen35.rope.dimension_count": 32,
        "qwen35.rope.dimension_sections": [8, 4, 4, 0],
        "qwen35.ssm.conv_kernel": 4,
        "qwen35.ssm.state_size": 32,
        "qwen35.ssm.group_count": 2,
        "qwen35.ssm.time_step_rank": 4,
        "qwen35.ssm.inner_size": 128,
    },
    "deepseek2": {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "glm4",
        "tokenizer.ggml.merges": ["a b"],
        "deepseek2.attention.key_length": 80,
        "deepseek2.attention.value_length": 64,
        "deepseek2.attention.key_length_mla": 48,
        "deepseek2.attention.value_length_mla": 32,
        "deepseek2.attention.kv_lora_rank": 64,
        "deepseek2.rope.dimension_count": 16,
        "deepseek2.rope.scaling.type": "yarn",
        "deepseek2.rope.scaling.factor": 4.0,
        "deepseek2.rope.scaling.original_context_length": 64,
        "deepseek2.rope.scaling.yarn_log_multiplier": 0.1,
        "deepseek2.expert_count": 4,
        "deepseek2.expert_used_count": 2,
        "deepseek2.expert_shared_count": 1,
        "deepseek2.expert_feed_forward_length": 64,
        "deepseek2.expert_gating_func": 2,
        "deepseek2.expert_weights_norm": True,
    },
}


def sample(folder: Path, arch: str) -> bytes:
    metadata = {
        "general.architecture": arch,
        "general.alignment": 32,
        f"{arch}.block_count": 1,
        f"{arch}.embedding_length": 256,
        f"{arch}.feed_forward_length": 256,
        f"{arch}.attention.head_count": 2,
        f"{arch}.attention.head_count_kv": [1],
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-6,
        f"{arch}.rope.freq_base": 1e4,
        "tokenizer.ggml.tokens": WORDS,
        "tokenizer.ggml.token_type": [3, 1, 1, 1, 3, 4],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 4,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": "{{ x }}",
        "general.sampling.temp": 0.5,
    }
    rows = {"token_embd": "Q8_0", "blk.0.attn_q": "Q4_K", "blk.0.ffn_up": "Q2_0", "blk.0.attn_k": "Q1_0"}
    rows |= {
        "blk.0.attn_v": "IQ1_M",
        "blk.0.ffn_gate": "IQ3_XXS",
        "blk.0.ffn_down": "IQ2_S",
        "blk.0.attn_output": "NVFP4",
    }
    plans = [zeros(f"{name}.weight", kind, (128, 256)) for name, kind in rows.items()]
    plans += [
        zeros(f"of.{kind}", kind, (2, 256))
        for kind in sorted((set(NUMBERS.values()) & set(TYPES)) - set(rows.values()))
    ]
    plans += [zeros("blk.0.attn_k_b.weight", "Q8_0", (2, 64, 32)), zeros("blk.0.exp_probs_b.bias", "F32", (4,))]
    plans += [zeros("blk.0.ssm_a", "F32", (4,)), zeros("blk.0.ssm_conv1d.weight", "F32", (256, 4))]
    return save(folder / "seed.gguf", metadata | SEEDS[arch], plans).read_bytes()


def use(path: Path) -> None:
    """Everything that loading does with a file, short of a backend."""
    file = read(path)
    for value in file.metadata.values():
        if isinstance(value, Elements) and value.kind != 9:
            value.strings() if value.kind == 8 else value.numbers()
    for tensor in file.tensors.values():
        assert dequantize(tensor).shape == tensor.shape
    checkpoint = GgufCheckpoint(file)
    checkpoint.tokenizer().encode("ab c")
    assert isinstance(checkpoint.template_sources, dict)
    make = find_architecture(checkpoint.config, "m.gguf")
    for name in checkpoint.source.names:
        raw = checkpoint.source.raw(name)
        assert raw is not None
        assert len(raw.buffer) == raw.nbytes
    survey(lambda view: make(view, checkpoint.config), checkpoint.source)


def mutants(seed: bytes, header: int) -> Iterator[bytes]:
    rng = np.random.default_rng(7)
    while True:
        raw = bytearray(seed)
        for _ in range(int(rng.integers(1, 4))):
            if len(raw) <= header:  # cut short already
                break
            at = int(rng.integers(4, header))
            match int(rng.integers(0, 6)):
                case 0:
                    raw[at] = int(rng.integers(0, 256))
                case 1:
                    raw[at : at + 8] = struct.pack("<Q", INTERESTING[rng.integers(len(INTERESTING))])
                case 2:
                    raw[at : at + 4] = struct.pack("<Q", INTERESTING[rng.integers(len(INTERESTING))])[:4]
                case 3:
                    del raw[at : at + int(rng.integers(1, 40))]
                case 4:
                    other = int(rng.integers(4, header))
                    raw[at:at] = raw[other : other + int(rng.integers(1, 60))]
                case 5:
                    del raw[int(rng.integers(0, len(raw))) :]
        yield bytes(raw)


@pytest.mark.parametrize("arch", SEEDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_header_breaks_the_reader(tmp_path: Path, arch: str) -> None:
    seed = sample(tmp_path, arch)
    header = seed.index(b"ssm_conv1d") + 48
    path = tmp_path / "m.gguf"
    path.write_bytes(seed)
    use(path)
    opened = refused = 0
    slowest, end = 0.0, time.monotonic() + SECONDS
    tracemalloc.start()
    try:
        for raw in mutants(seed, header):
            path.write_bytes(raw)
            began = time.process_time()
            try:
                use(path)
                opened += 1
            except GrusError:
                refused += 1
            slowest = max(slowest, time.process_time() - began)
            if opened + refused >= AT_LEAST and time.monotonic() > end:
                break
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert opened > AT_LEAST / 100
    assert refused > AT_LEAST / 2
    assert slowest < 1
    assert peak < 20_000_000
