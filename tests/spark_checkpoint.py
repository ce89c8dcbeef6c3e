"""A tiny random Spark-TTS, saved as it is published: `LLM/`, `BiCodec/` and `wav2vec2-large-xlsr-53/`.

The weights of the codec are drawn from their names, so that `tests/data/spark` need hold no more than what the reference
made of them.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import torch
import yaml
from safetensors.numpy import save_file

DATA = Path(__file__).parent / "data" / "spark"
VOCOS = dict(vocos_dim=32, vocos_intermediate_dim=64, vocos_num_layers=2)
CONFIG = {"audio_tokenizer": {
    "mel_params": dict(sample_rate=16000, n_fft=1024, win_length=640, hop_length=320, mel_fmin=10, mel_fmax=None,
                       num_mels=128),
    "encoder": dict(input_channels=48, out_channels=40, sample_ratios=[1, 1], **VOCOS),
    "decoder": dict(input_channel=40, channels=64, rates=[8, 5, 4, 2], kernel_sizes=[16, 11, 8, 4]),
    "quantizer": dict(input_dim=40, codebook_size=128, codebook_dim=8, commitment=0.25, codebook_loss_weight=2.0,
                      use_l2_normlize=True, threshold_ema_dead_code=0.2),
    "speaker_encoder": dict(input_dim=128, out_dim=40, latent_dim=16, token_num=8, fsq_levels=[4] * 6,
                            fsq_num_quantizers=1),
    "prenet": dict(input_channels=40, out_channels=40, condition_dim=40, sample_ratios=[1, 1],
                   use_tanh_at_final=False, **VOCOS),
    "postnet": dict(input_channels=40, out_channels=40, use_tanh_at_final=False, **VOCOS),
}}  # fmt: skip
HEARING = dict(hidden_size=48, num_hidden_layers=17, num_attention_heads=4, intermediate_size=64, conv_dim=[32] * 7,
               num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, feat_extract_norm="layer",
               do_stable_layer_norm=True, conv_bias=True)  # fmt: skip


def shapes() -> dict[str, tuple[int, ...]]:
    return {name: tuple(shape) for name, shape in json.loads((DATA / "shapes.json").read_text()).items()}


def weight(name: str, shape: tuple[int, ...]) -> np.ndarray:
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if name.endswith(("running_var", "alpha")):
        made = 0.5 + random.random(shape)
    elif "gamma" in name:
        made = 0.3 + 0.2 * random.random(shape)
    elif name.endswith("weight_g"):
        made = (0.1 if name.startswith("decoder.model.") else 0.7) + 0.4 * random.random(shape)
    elif len(shape) > 1:
        made = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        made *= 4.0 if "project_in" in name else 1.0
    else:
        made = 0.1 * random.standard_normal(shape) + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
    return made.astype(np.float32)


def sound(seconds: float = 2.0) -> np.ndarray:
    t = np.arange(int(16000 * seconds)) / 16000
    noise = np.random.default_rng(1).standard_normal(len(t))
    return (0.3 * np.sin(2 * np.pi * 200 * t * (1 + t)) + 0.05 * noise).astype(np.float32)


def features() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((60, 48)).astype(np.float32)


@cache
def hearing() -> torch.nn.Module:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    torch.manual_seed(0)
    model = Wav2Vec2Model(Wav2Vec2Config(**HEARING)).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1 and "original0" not in name:
                p.mul_(3.0)  # the library's own start leaves all but nothing of a sound
    return model


def save_codec(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    save_file({name: weight(name, shape) for name, shape in shapes().items()}, folder / "model.safetensors")
    return folder


def save_hearing(folder: Path) -> Path:
    """As the project publishes it: a pickle of the model that was trained, under older names."""
    model = hearing()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(model.config.to_diff_dict() | HEARING | {"model_type": "wav2vec2"}
                                                   | {"conv_kernel": list(model.config.conv_kernel),
                                                      "conv_stride": list(model.config.conv_stride)}))  # fmt: skip
    older = {"parametrizations.weight.original0": "weight_g", "parametrizations.weight.original1": "weight_v"}
    state = {}
    for name, value in model.state_dict().items():
        for new, old in older.items():
            name = name.replace(new, old)
        state[f"wav2vec2.{name}"] = value
    state["project_hid.weight"] = torch.zeros(4, 4)
    torch.save(state, folder / "pytorch_model.bin")
    return folder


SOUND_TOKENS = (
    *(f"<|task_{task}|>" for task in ("tts", "controllable_tts")),
    *(f"<|{side}_{part}|>" for part in ("content", "style_label", "global_token", "semantic_token")
      for side in ("start", "end")),
    *(f"<|{label}_{i}|>" for label in ("gender", "pitch_label", "speed_label") for i in range(5)),
    *(f"<|bicodec_semantic_{i}|>" for i in range(128)),
    *(f"<|bicodec_global_{i}|>" for i in range(4096)),
)  # fmt: skip


def save_writer(folder: Path) -> Path:
    from tests.checkpoints import SPECIALS, save, save_tokenizer

    save("qwen2", folder, vocab_size=256 + len(SPECIALS) + len(SOUND_TOKENS), max_position_embeddings=4096)
    save_tokenizer(folder, SOUND_TOKENS)
    return folder


def save_all(home: Path) -> Path:
    save_writer(home / "LLM")
    save_codec(home / "BiCodec")
    save_hearing(home / "wav2vec2-large-xlsr-53")
    return home
