"""WavLM's vectors of voices on both backends against the reference, and the configs that are published."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from engine.errors import BadRequest, ConfigError, WeightsError
from engine.loaded import LoadedPart
from engine.loading import LoadOptions, load_any
from engine.models.registry import PARTS
from engine.models.wavlm import distance_buckets
from engine.weights.view import check
from tests.engine.models.test_sortformer import run
from tests.sortformer_checkpoints import conversation
from tests.wavlm_checkpoints import reference, save_wavlm

BACKENDS = ("torch", "mlx")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    def load(backend: str, weighted: bool, pickled: bool) -> Any:
        folder = save_wavlm(tmp_path_factory.mktemp("wavlm"), weighted, pickled)
        return load_any(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none"))

    return cache(load)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("backend", BACKENDS)
def test_vectors_are_the_reference_s(opened: Any, backend: str, weighted: bool) -> None:
    own = opened(backend, weighted, False)
    assert isinstance(own, LoadedPart)
    for seconds, seed in ((0.7, 1), (4.0, 2)):  # the longer one has distances beyond the last bucket
        sound = conversation(seconds, seed)
        with torch.no_grad():
            wanted = reference(weighted)(torch.from_numpy(sound)[None]).embeddings[0]
        wanted = torch.nn.functional.normalize(wanted, dim=0).numpy()
        np.testing.assert_allclose(run(own.model.embed(sound)), wanted, atol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pickled_checkpoint_with_older_names_is_the_same_model(opened: Any, backend: str) -> None:
    sound = conversation(1.0, 3)
    made = [run(opened(backend, True, pickled).model.embed(sound)) for pickled in (False, True)]
    np.testing.assert_allclose(made[0], made[1], atol=1e-6)


def test_distances_have_the_reference_s_buckets() -> None:
    config = transformers.WavLMConfig(num_hidden_layers=1)
    attention = transformers.models.wavlm.modeling_wavlm.WavLMAttention(768, 12)
    away = torch.arange(1500)[None] - torch.arange(1500)[:, None]
    wanted = attention._relative_positions_bucket(away).numpy()
    np.testing.assert_array_equal(distance_buckets(1500, config.num_buckets, config.max_bucket_distance), wanted)


def test_a_sound_too_short_is_refused(opened: Any) -> None:
    model = opened("torch", True, False).model
    assert np.isfinite(run(model.embed(conversation(1.0)[: model.least]))).all()
    with pytest.raises(BadRequest, match="at least"):
        run(model.embed(conversation(1.0)[: model.least - 1]))
    assert np.isfinite(run(model.embed(np.zeros(16000, np.float32)))).all()


def test_published_sizes() -> None:
    """WavLM Base and Base+ for speaker verification: names and shapes as the reference makes them, none more and none less."""
    config = transformers.WavLMConfig(use_weighted_layer_sum=True, num_labels=1251, architectures=["WavLMForXVector"])
    with torch.device("meta"):
        made = transformers.WavLMForXVector(config)
    shapes = {key: tuple(value.shape) for key, value in made.state_dict().items()}
    own = config.to_dict()
    assert not check(lambda w: PARTS["wavlm"](w, own), shapes).problems
    minimal = {"model_type": "wavlm", "use_weighted_layer_sum": True}  # all the rest is the reference's default
    assert not check(lambda w: PARTS["wavlm"](w, minimal), shapes).problems
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: PARTS["wavlm"](w, own), shapes | {"wavlm.surprise": (3,)})
    for wrong, word in (
        ({"feat_extract_norm": "layer"}, "base models"), ({"do_stable_layer_norm": True}, "base models"),
        ({"architectures": ["WavLMForCTC"]}, "WavLMForXVector"), ({"tdnn_kernel": [1]}, "tdnn_dim"),
        ({"num_attention_heads": 11}, "hidden_size"), ({"max_bucket_distance": 20}, "max_bucket_distance"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=word):
            check(lambda w: PARTS["wavlm"](w, own | wrong), shapes)  # noqa: B023


def test_it_is_opened_by_the_name_of_what_it_can_do(tmp_path: Path) -> None:
    from app.runtime.catalogue import capabilities_of, main_use

    found = capabilities_of(str(save_wavlm(tmp_path)))
    assert found == {"verify"}
    assert main_use(found) == "verify"
