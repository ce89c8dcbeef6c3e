"""Record what the references make of tiny checkpoints, as `cases.npz` beside this file: mlx-audio 0.6.2 of the talker of
`tests/omnivoice_checkpoints.py`, transformers of a random codec, which is written to `audio_tokenizer` here.

Run it from the repository's root with mlx-audio unpacked on PYTHONPATH: `PYTHONPATH=.:UNPACKED python tests/data/omnivoice/record.py`.
transformers' class imports torchaudio to resample. At one rate nothing is resampled, so an empty module will do.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import mlx.core as mx
import numpy as np
import torch
import transformers
from mlx_audio.tts.models.omnivoice.config import OmniVoiceConfig
from mlx_audio.tts.models.omnivoice.duration import RuleDurationEstimator
from mlx_audio.tts.models.omnivoice.generation import iterative_unmask
from mlx_audio.tts.models.omnivoice.omnivoice import Model, _combine_text

from tests.omnivoice_checkpoints import BOOKS, CODEC, CODES, CONFIG, HOP, MASK, sound, talker_tensors

TOKENIZER: dict[str, Any] = dict(
    sample_rate=16000, codebook_size=CODES - 1, codebook_dim=6, target_bandwidths=[0.8],
    acoustic_model_config=dict(
        model_type="dac", encoder_hidden_size=2, downsampling_ratios=[8, 5, 4, 4], decoder_hidden_size=16,
        upsampling_ratios=[8, 5, 4, 4], hidden_size=8,
    ),
    semantic_model_config=dict(
        model_type="hubert", hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        conv_dim=[8] * 7, num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=4,
    ),
)  # fmt: skip
IDS = np.arange(40, 65, dtype=np.int32)
COUNT, HEARD = 13, 6
TEXTS = (
    "Good morning.",
    "The cranes have come back from the south, and in 2026 they dance at dawn; is it so?",
    "鶴が来た。 踊る 鶴。",
    "Журавли вернулись с юга.",
    "สวัสดีครับ นกกระเรียนกลับมาแล้ว",
    "학이 남쪽에서 돌아왔습니다.",
    "الطيور عادت من الجنوب",
    "सारस दक्षिण से लौट आए हैं।",
)


def codec() -> Any:
    """Random numbers that 16 bits hold."""
    sys.modules["torchaudio"] = ModuleType("torchaudio")
    home = "transformers.models.higgs_audio_v2_tokenizer.modeling_higgs_audio_v2_tokenizer"
    kind = importlib.import_module(home).HiggsAudioV2TokenizerModel
    model = kind(transformers.HiggsAudioV2TokenizerConfig(**TOKENIZER)).eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, p in [*model.named_parameters(), *model.named_buffers()]:
            noise = torch.randn(p.shape, generator=generator)
            if "alpha" in name:
                p.copy_(1 + 0.2 * noise.abs())
            elif p.ndim <= 1:
                p.add_(0.1 * noise)
            else:
                p.copy_(noise / max(1, p[0].numel()) ** 0.5)
            p.copy_(p.half().float())
    return model


def recorded_codec() -> dict[str, np.ndarray]:
    model, given = codec(), sound(1.0, 16000)[: 24 * HOP]
    codes = np.random.default_rng(1).integers(0, MASK, (7, BOOKS))
    with torch.no_grad():
        samples = model.decode(torch.from_numpy(codes.T[None])).audio_values[0, 0].numpy()
        heard = model.encode(torch.from_numpy(given[None, None])).audio_codes[0].numpy().T
    model.half().save_pretrained(CODEC)
    return {"given": given, "codes": codes.astype(np.int32), "samples": samples, "found": heard.astype(np.int32)}


def main() -> None:
    mx.set_default_device(mx.cpu)
    model = Model(OmniVoiceConfig.from_dict(CONFIG))
    weights = {name: mx.array(values) for name, values in talker_tensors().items()}
    model.load_weights(list(model.sanitize(weights).items()))
    heard = np.random.default_rng(3).integers(0, MASK, (HEARD, BOOKS)).astype(np.int32)
    made: dict[str, np.ndarray] = {"ids": IDS, "heard": heard}
    for name, recording, how in (
        ("alone", heard[:0], {}),
        ("continued", heard, {}),
        ("unguided", heard[:0], {"guidance_scale": 0.0, "num_steps": 7}),
    ):
        text = mx.broadcast_to(mx.array(IDS)[None, :, None], (1, len(IDS), BOOKS))
        target = mx.full((1, COUNT, BOOKS), MASK, dtype=mx.int32)
        whole = mx.concatenate([text, mx.array(recording)[None], target], axis=1)
        mask = mx.arange(whole.shape[1])[None] >= len(IDS)
        codes = iterative_unmask(model, whole, mask, COUNT, position_temperature=0.0, **how)
        made[name] = np.array(codes)
        if name == "alone":
            made["logits"] = np.array(model(whole, mask))[0]
    estimator = RuleDurationEstimator()
    made["lasts"] = np.array(
        [max(10, int(estimator.estimate_duration(text, "Nice to meet you.", 25) * 1.15)) for text in TEXTS]
    )
    made |= recorded_codec()
    made["texts"] = np.array(TEXTS)
    made["joined"] = np.array([_combine_text(text, "Before.") for text in TEXTS])
    np.savez_compressed(Path(__file__).with_name("cases.npz"), **made)


if __name__ == "__main__":
    main()
