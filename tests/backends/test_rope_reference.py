"""The numpy meaning of rope against the published models' own code, so that the reference itself cannot drift."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, MoonshineConfig
from transformers.models.llama import modeling_llama as llama
from transformers.models.moonshine import modeling_moonshine as moonshine
from transformers.models.paddleocr_vl import modeling_paddleocr_vl as paddleocr
from transformers.models.paddleocr_vl.configuration_paddleocr_vl import PaddleOCRTextConfig
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen3_5
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen3_vl
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig

from backends.base import Rope
from tests.backends.op_cases import normal
from tests.backends.reference_ops import rotate

GRID = np.int32([[0, 4, 4, 4, 9, 40], [0, 4, 5, 6, 9, 40], [0, 5, 4, 8, 9, 40]])
SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}


def theirs(module, rotary, x: np.ndarray, pos: np.ndarray) -> np.ndarray:
    """`x [T, H, D]` through a model's own rotary class and its own function."""
    heads = torch.tensor(x).transpose(0, 1)[None]
    place = torch.tensor(pos)
    cos, sin = rotary(heads, place[:, None] if place.ndim == 2 else place[None])
    return module.apply_rotary_pos_emb(heads, heads, cos, sin)[0][0].transpose(0, 1).numpy()


def inverse(dims: int, base: float) -> tuple[float, ...]:
    return tuple(float(base ** (-2 * i / dims)) for i in range(dims // 2))


@pytest.mark.parametrize(
    ("module", "config", "rotary", "section", "interleaved", "dims"),
    [
        (qwen3_vl, Qwen3VLTextConfig, qwen3_vl.Qwen3VLTextRotaryEmbedding, (4, 2, 2), True, 16),
        (qwen3_5, Qwen3_5TextConfig, qwen3_5.Qwen3_5TextRotaryEmbedding, (2, 1, 1), True, 8),
        (paddleocr, PaddleOCRTextConfig, paddleocr.PaddleOCRRotaryEmbedding, (2, 3, 3), False, 16),
        (qwen2_vl, Qwen2VLTextConfig, qwen2_vl.Qwen2VLRotaryEmbedding, (2, 3, 3), False, 16),
    ],
    ids=["qwen3_vl", "qwen3_5", "paddleocr_vl", "qwen2_vl"],
)
def test_multi_axis(module, config, rotary, section, interleaved, dims) -> None:
    parameters = {"rope_type": "default", "rope_theta": 5000.0, "mrope_section": list(section)}
    parameters["partial_rotary_factor"] = dims / 16
    embedding = rotary(config(**SIZES, rope_parameters=parameters))
    x = normal(6, 4, 16)
    rope = Rope(dims, inverse(dims, 5000.0), section=section, interleaved=interleaved)
    np.testing.assert_allclose(rotate(x, GRID, rope), theirs(module, embedding, x, GRID), atol=1e-5)


def test_neighbouring_pairs_on_part_of_a_head() -> None:
    parameters = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    embedding = moonshine.MoonshineRotaryEmbedding(MoonshineConfig(hidden_size=64, rope_parameters=parameters))
    x, pos = normal(5, 4, 8), np.int32([0, 1, 2, 17, 300])
    width = 2 * len(embedding.inv_freq)
    rope = Rope(width, tuple(map(float, embedding.inv_freq)), pairs=True)
    np.testing.assert_allclose(rotate(x, pos, rope), theirs(moonshine, embedding, x, pos), atol=1e-5)


def test_dynamic_is_what_decoding_token_by_token_gives() -> None:
    """Their frequencies follow the longest position seen; ours each token's own, which is the same one by one."""
    parameters = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
    config = LlamaConfig(**SIZES, max_position_embeddings=16, rope_parameters=parameters)
    embedding = llama.LlamaRotaryEmbedding(config)
    x = normal(40, 2, 16)
    decoded = [theirs(llama, embedding, x[t : t + 1], np.int32([t])) for t in range(40)]
    rope = Rope(16, inverse(16, 10000.0), dynamic=(10000.0, 4.0, 16))
    ours = rotate(x, np.arange(40, dtype=np.int32), rope)
    np.testing.assert_allclose(ours, np.concatenate(decoded), atol=2e-5)
