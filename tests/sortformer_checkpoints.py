"""Tiny random Sortformer checkpoints in both published layouts, and what the reference (mlx-audio 0.6.2) found with them.

The reference is no dependency of the tests: `tests/data/sortformer/record.py` ran it once over the same weights, which come from
numpy's random numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors.numpy import save_file

Kind = Literal["v1", "v2"]
KINDS: tuple[Kind, ...] = ("v1", "v2")
DATA = Path(__file__).parent / "data" / "sortformer"
RATE = 16000
CHUNK = 14  # frames
_MEANS = {"v1": (-7.0, -10.3, 15.1, -10.6), "v2": (-4.0, 17.6, 9.2, 1.5)}
LONG_V1 = 79 * 1280  # samples of a chunk of the first version: what 140 positions hold behind cache and queue


def config(kind: Kind) -> dict[str, Any]:
    streams = kind == "v2"
    mels = 128 if streams else 80
    return {
        "model_type": "sortformer",
        "num_speakers": 4,
        "fc_encoder_config": {
            "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
            "intermediate_size": 64, "hidden_act": "silu", "num_mel_bins": mels, "conv_kernel_size": 9,
            "subsampling_factor": 8, "subsampling_conv_channels": 8, "subsampling_conv_kernel_size": 3,
            "subsampling_conv_stride": 2, "attention_bias": True, "scale_input": True,
        },
        "tf_encoder_config": {
            "d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 40,
            "activation_function": "relu", "max_source_positions": 140, "k_proj_bias": streams,
        },
        "modules_config": {
            "num_speakers": 4, "fc_d_model": 48, "tf_d_model": 32, "subsampling_factor": 8,
            "chunk_len": CHUNK, "fifo_len": 20, "spkcache_len": 40, "spkcache_update_period": 16,
            "chunk_left_context": 1, "chunk_right_context": 2, "spkcache_sil_frames_per_spk": 2,
            "scores_boost_latest": 0.05, "sil_threshold": 0.9, "pred_score_threshold": 0.25, "strong_boost_rate": 0.75,
            "weak_boost_rate": 1.5, "min_pos_scores_rate": 0.5, "max_index": 99999, "use_aosc": streams,
        },
        "processor_config": {
            "feature_size": mels, "sampling_rate": RATE, "hop_length": 160, "n_fft": 512, "win_length": 400,
            "preemphasis": 0.97,
        },
    }  # fmt: skip


def published(kind: Kind) -> dict[str, Any]:
    """The sizes of the published models."""
    mels, layers = (80, 18) if kind == "v1" else (128, 17)
    given = config(kind)
    given["fc_encoder_config"] |= dict(
        hidden_size=512, num_hidden_layers=layers, num_attention_heads=8, intermediate_size=2048, num_mel_bins=mels,
        subsampling_conv_channels=256,
    )  # fmt: skip
    given["tf_encoder_config"] |= dict(
        d_model=192, encoder_layers=18, encoder_attention_heads=8, encoder_ffn_dim=768, max_source_positions=1500
    )
    given["modules_config"] |= dict(fc_d_model=512, tf_d_model=192, chunk_len=188, fifo_len=0, spkcache_len=188)
    return given


def shapes(given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """In the layout of the first version's repository: torch's."""
    first, second = given["fc_encoder_config"], given["tf_encoder_config"]
    hidden, ffn, heads = (first[name] for name in ("hidden_size", "intermediate_size", "num_attention_heads"))
    channels, kernel = first["subsampling_conv_channels"], first["conv_kernel_size"]
    wide, wide_ffn, speakers = second["d_model"], second["encoder_ffn_dim"], given["modules_config"]["num_speakers"]
    made: dict[str, tuple[int, ...]] = {}

    def biased(name: str, *shape: int, bias: bool = True) -> None:
        made[f"{name}.weight"] = shape
        if bias:
            made[f"{name}.bias"] = shape[:1]

    sub = "fc_encoder.subsampling"
    for i, shape in ((0, (1, 3, 3)), (2, (1, 3, 3)), (3, (channels, 1, 1)), (5, (1, 3, 3)), (6, (channels, 1, 1))):
        biased(f"{sub}.layers.{i}", channels, *shape)
    biased(f"{sub}.linear", hidden, channels * first["num_mel_bins"] // 8)
    for i in range(first["num_hidden_layers"]):
        own = f"fc_encoder.layers.{i}"
        for number in (1, 2):
            biased(f"{own}.norm_feed_forward{number}", hidden)
            biased(f"{own}.feed_forward{number}.linear1", ffn, hidden)
            biased(f"{own}.feed_forward{number}.linear2", hidden, ffn)
        for name in ("norm_self_att", "norm_conv", "norm_out", "conv.norm"):
            biased(f"{own}.{name}", hidden)
        for name in ("q", "k", "v", "o"):
            biased(f"{own}.self_attn.{name}_proj", hidden, hidden)
        biased(f"{own}.self_attn.relative_k_proj", hidden, hidden, bias=False)
        for name in ("bias_u", "bias_v"):
            made[f"{own}.self_attn.{name}"] = (heads, hidden // heads)
        biased(f"{own}.conv.pointwise_conv1", 2 * hidden, hidden, 1)
        biased(f"{own}.conv.depthwise_conv", hidden, 1, kernel)
        biased(f"{own}.conv.pointwise_conv2", hidden, hidden, 1)
        for name in ("running_mean", "running_var"):
            made[f"{own}.conv.norm.{name}"] = (hidden,)
    made["tf_encoder.embed_positions.weight"] = (second["max_source_positions"], wide)
    for i in range(second["encoder_layers"]):
        own = f"tf_encoder.layers.{i}"
        for name in ("q", "k", "v"):
            biased(f"{own}.self_attn.{name}_proj", wide, wide, bias=name != "k" or second["k_proj_bias"])
        biased(f"{own}.self_attn.out_proj", wide, wide)
        biased(f"{own}.fc1", wide_ffn, wide)
        biased(f"{own}.fc2", wide, wide_ffn)
        biased(f"{own}.self_attn_layer_norm", wide)
        biased(f"{own}.final_layer_norm", wide)
    biased("sortformer_modules.encoder_proj", wide, hidden)
    biased("sortformer_modules.first_hidden_to_hidden", wide, wide)
    biased("sortformer_modules.single_hidden_to_spks", speakers, wide)
    biased("sortformer_modules.hidden_to_spks", speakers, 2 * wide)
    return made


@cache
def weights(kind: Kind) -> Mapping[str, np.ndarray]:
    random, made = np.random.default_rng(4), {}
    for name, shape in shapes(config(kind)).items():
        if name.endswith("running_var"):
            value = random.uniform(0.5, 2.0, shape)
        elif len(shape) == 1:
            value = 0.1 * random.standard_normal(shape) + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
        elif "bias_" in name or "positions" in name:
            value = 0.1 * random.standard_normal(shape)
        else:
            value = 1.2 / np.sqrt(np.prod(shape[1:])) * random.standard_normal(shape)
        made[name] = value.astype(np.float32)
    # voices that come and go: the mean is taken away
    made["sortformer_modules.single_hidden_to_spks.weight"] *= 16.0
    made["sortformer_modules.single_hidden_to_spks.bias"] += np.array(_MEANS[kind], np.float32)
    return made


def mlx_layout(given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """As MLX's converter writes it: input channels last."""
    made = {}
    for name, value in given.items():
        if value.ndim == 4:
            value = value.transpose(0, 2, 3, 1)
        elif value.ndim == 3:
            value = value.transpose(0, 2, 1)
        made[name.replace("subsampling.layers.", "subsampling.layers_")] = np.ascontiguousarray(value)
    return made


def save_sortformer(kind: Kind, folder: Path) -> Path:
    """The first version as its authors publish it, the streaming one as it is converted."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(weights(kind)) if kind == "v1" else mlx_layout(weights(kind)), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config(kind), indent=1))
    return folder


def conversation(seconds: float, seed: int = 0) -> np.ndarray:
    """Voices of different pitch that take turns, with pauses, at 16 kHz."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    made = 0.01 * random.standard_normal(len(t))
    at, voice = 0.7, 0
    while at < seconds:
        lasts = random.uniform(0.8, 2.5)
        speaks = (t >= at) & (t < at + lasts)
        base = (110, 190, 260)[voice % 3]
        tones = sum(np.sin(2 * np.pi * base * i * t[speaks]) / i for i in (1, 2, 3, 5))
        made[speaks] += 0.25 * tones * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * t[speaks]))
        at, voice = at + lasts + random.uniform(-0.4, 0.9), voice + int(random.integers(1, 3))
    return made.astype(np.float32)


@cache
def recorded() -> Mapping[str, np.ndarray]:
    with np.load(DATA / "cases.npz") as file:
        return dict(file)
