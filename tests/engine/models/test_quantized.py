"""Checkpoints that mlx-lm quantized load on both backends, and both compute the same product.

The hybrid is there because mlx-lm saves it differently: its norms hold 1 + w and its convolution's axes are swapped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.checkpoints import save, save_as_qwen_publishes
from tests.driver import Driver
from tests.engine.weights.test_packed_fuzz import pack_experts
from tests.needs import need_kernels, no_kernels

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99]

# name -> (architecture, bits, group, per-layer choice)
KINDS: dict[str, tuple[str, int, int, Callable[[str, Any], Any] | None]] = {
    "qwen3-4bit": ("qwen3", 4, 32, None),
    "qwen3-8bit": ("qwen3", 8, 32, None),
    "llama-6bit": ("llama", 6, 32, None),
    "qwen3-mixed": (
        "qwen3",
        4,
        32,
        lambda path, _: {"bits": 8, "group_size": 64} if "gate_proj" in path else "o_proj" not in path,
    ),
    "moe-4bit": ("qwen3_moe", 4, 32, None),
    "hybrid-4bit": ("qwen3_5", 4, 32, None),
    "gemma4-4bit": ("gemma4", 4, 32, None),
    "gemma4-moe-4bit": ("gemma4_moe", 4, 32, None),
    "laguna-4bit": ("laguna", 4, 32, None),
    "gemma3n-4bit": ("gemma3n", 4, 32, None),
    "muse-glimmer-4bit": ("muse_glimmer", 4, 32, None),
    "hybrid-moe-4bit": ("qwen3_5_moe", 4, 32, None),
    "glm-4bit": ("glm4", 4, 32, None),
    "glm-moe-4bit": ("glm4_moe", 4, 32, None),
    "latent-4bit": ("deepseek_v3", 4, 32, None),
    "minimax-4bit": ("minimax_m2", 4, 32, None),
    "lfm2-4bit": ("lfm2", 4, 32, None),
    "lfm2-moe-4bit": ("lfm2_moe", 4, 32, None),
    "granite-4bit": ("granite", 4, 32, None),
    "granite-moe-4bit": ("granitemoe", 4, 32, None),
    "granite-hybrid-4bit": ("granite_hybrid", 4, 32, None),
    "granite-dense-hybrid-8bit": ("granite_hybrid_dense", 8, 32, None),
    "nemotron-4bit": ("nemotron_h_moe", 4, 32, None),
    "smollm3-4bit": ("smollm3", 4, 32, None),
    "seed-4bit": ("seed_oss", 4, 32, None),
    "ernie-4bit": ("ernie4_5", 4, 32, None),
    "ernie-moe-4bit": ("ernie4_5_moe", 4, 32, None),
    "olmo3-4bit": ("olmo3", 4, 32, None),
    "exaone4-4bit": ("exaone4", 4, 32, None),
    "cohere2-4bit": ("cohere2", 4, 32, None),
    "qwen2-4bit": ("qwen2", 4, 32, None),
    "mistral-4bit": ("mistral_window", 4, 32, None),
    "ministral3-4bit": ("ministral3", 4, 32, None),
    "gemma3-4bit": ("gemma3", 4, 32, None),
    "gpt-oss-4bit": ("gpt_oss", 4, 32, None),
    "phi3-4bit": ("phi3", 4, 32, None),
    "qwen3-next-4bit": ("qwen3_next", 4, 32, None),
    "glm-flash-4bit": ("glm4_moe_lite", 4, 32, None),
    "deepseek-v2-4bit": ("deepseek_v2", 4, 32, None),
    "hunyuan-4bit": ("hunyuan", 4, 32, None),
    "olmo2-4bit": ("olmo2", 4, 32, None),
}
NO_WINDOW = {"sliding_window": None}
TIED, WIDE, ONE_GROUP = {"tie_word_embeddings": True}, {"intermediate_size": 128}, {"mamba_n_groups": 1}
# mlx-lm knows no other, quantizes some matrices in groups of 64, or normalizes all groups of Mamba-2 together
CHANGES: dict[str, dict[str, Any]] = {
    "lfm2": TIED,
    "lfm2_moe": TIED,
    "cohere2": TIED,
    "gemma3n": TIED,
    "granite": WIDE,
    "granitemoe": WIDE,
    "mistral_window": NO_WINDOW,
    "phi3": NO_WINDOW,
    # its limit is fixed there, and YaRN's range is rounded to whole dimensions
    "gpt_oss": {
        "swiglu_limit": 7.0,
        "rope_parameters": dict(rope_type="yarn", rope_theta=150000.0, factor=1.0, original_max_position_embeddings=16),
    },
}
CHANGES |= dict.fromkeys(("granite_hybrid", "granite_hybrid_dense"), ONE_GROUP)


def rename(folder: Path, change: Callable[[str], str | None], unused: Sequence[int] = ()) -> None:
    """The tensors of a checkpoint under other names; None leaves one out. `unused`: layers that get keys and values that nothing reads,
    as published ones have."""
    tensors = load_file(folder / "model.safetensors")
    for name in ("k_proj", "v_proj", "k_norm") if unused else ():
        own = tensors[f"model.layers.0.self_attn.{name}.weight"]
        tensors |= {f"model.layers.{i}.self_attn.{name}.weight": own.copy() for i in unused}
    named = {new: values for name, values in tensors.items() if (new := change(name)) is not None}
    save_file(named, folder / "model.safetensors", {"format": "pt"})


def quantize(kind: str, root: Path) -> Path:
    """A tiny checkpoint as mlx-lm converts it."""
    import mlx.core as mx
    from mlx_lm.utils import load_model, quantize_model, save_config, save_model

    architecture, bits, group, choice = KINDS[kind]
    # mlx-lm reads the ropes of these as 5.x writes them
    spelling = "new" if architecture in ("qwen3_5", "qwen3_5_moe", "ministral3") else "old"
    changes = CHANGES.get(architecture, {})
    saved = source = save(architecture, root / f"{kind}-source", spelling, **changes)
    text = json.loads((source / "config.json").read_text())
    # mlx-lm knows these only as published: nested beside a vision tower
    if architecture == "qwen3_5_moe":
        source = save_as_qwen_publishes(saved, root / f"{kind}-published")
    elif architecture in ("qwen3_5", "gemma3n"):
        (source / "config.json").write_text(json.dumps({"model_type": architecture, "text_config": text}))
    elif architecture == "minimax_m2":
        rotary = int(text.pop("partial_rotary_factor") * text["head_dim"])
        text |= {"num_local_experts": text.pop("num_experts"), "rotary_dim": rotary, "shared_intermediate_size": 0}
        (source / "config.json").write_text(json.dumps(text))
    elif architecture == "exaone4":
        (source / "config.json").write_text(json.dumps(text | {"sliding_window_pattern": "LLLG"}))
    if architecture == "gpt_oss":  # whose experts mlx-lm takes in blocks alone, as they are published
        pack_experts(source, (117, 121))
        packed = json.loads((source / "config.json").read_text())
        (source / "config.json").write_text(json.dumps(packed | {"num_local_experts": packed.pop("num_experts")}))
    elif architecture == "muse_glimmer":  # mlx-lm leaves out image encoders that have a name of their own
        rename(source, lambda name: None if "vision" in name else name)
    elif architecture == "gemma3n":
        rename(source, lambda name: name.replace("model.", "model.language_model.", 1), unused=(3, 4))
    model, config = load_model(source, lazy=True)
    usual = getattr(model, "quant_predicate", None)
    model, config = quantize_model(model, config, group, bits, quant_predicate=choice or usual)
    folder = root / kind
    folder.mkdir()
    save_model(folder, model)
    save_config(config, folder / "config.json")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((saved / file).read_bytes())
    mx.clear_cache()
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("quantized")
    return cache(lambda kind: quantize(kind, root))


def mlx_lm_logits(folder: Path) -> np.ndarray:
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache
    from mlx_lm.utils import load_model

    model, _ = load_model(folder)
    return np.array(model(mx.array([PROMPT]), cache=make_prompt_cache(model))[0].astype(mx.float32))


@pytest.mark.parametrize("kind", KINDS)
def test_both_backends_agree(folders: Callable[[str], Path], kind: str) -> None:
    if kind == "gpt-oss-4bit":  # on a CPU torch has no operation of its own for such experts
        need_kernels()
    folder = folders(kind)
    want = mlx_lm_logits(folder)
    for backend in ("torch", "mlx"):
        got = Driver(folder, backend).logits(PROMPT)
        # the CPU kernels round the activations of MXFP4's products to eight bits
        rounded = backend == "torch" and kind.startswith("gpt-oss") and not no_kernels()
        assert float(np.abs(got - want).max() / np.abs(want).max()) <= (0.05 if rounded else 1e-3), backend
