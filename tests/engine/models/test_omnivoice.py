"""OmniVoice against its references, on both backends: codes of a passage, how long texts last, and the codec both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.pick import pick
from engine.errors import BadRequest, ConfigError
from engine.models.higgs_codec import higgs_decoder, higgs_encoder
from engine.models.omnivoice import UnmaskRules, omnivoice
from engine.pipelines.speaking.omnivoice import frames_of, joined
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import build
from tests.asserting import every
from tests.omnivoice_checkpoints import BOOKS, CONFIG, HOP, MASK, save_omnivoice
from tests.qwen3_tts_cases import finished

BACKENDS = ("torch", "mlx")
CASES = Path(__file__).parents[2] / "data" / "omnivoice" / "cases.npz"


@pytest.fixture(scope="module")
def cases() -> dict[str, np.ndarray]:
    return dict(np.load(CASES))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    root = tmp_path_factory.mktemp("omnivoice")

    @cache
    def folder(converted: bool) -> Path:
        return save_omnivoice(root / str(converted), converted)

    @cache
    def model(backend: str, part: str = "", converted: bool = False) -> Any:
        home = folder(converted) / "audio_tokenizer" if part else folder(converted)
        files = Checkpoint.open(home)
        make = {"": omnivoice, "decoder": higgs_decoder, "encoder": higgs_encoder}[part]
        return build(lambda view: make(view, files.config), files, pick(backend, "cpu", "f32"))

    yield model
    model.cache_clear()


@pytest.mark.parametrize("backend", BACKENDS)
def test_codes_are_those_of_the_reference(made: Callable[..., Any], cases: dict[str, np.ndarray], backend: str) -> None:
    random, still = np.random.default_rng(0), UnmaskRules(scatter=0.0)
    unguided = UnmaskRules(steps=7, guidance=0.0, scatter=0.0)
    for name, heard, rules, converted in (
        ("alone", cases["heard"][:0], still, False),
        ("alone", cases["heard"][:0], still, True),
        ("continued", cases["heard"], still, False),
        ("unguided", cases["heard"][:0], unguided, False),
    ):
        model = made(backend, converted=converted)
        codes = finished(model.speak(list(cases["ids"]), heard, len(cases[name]), rules, random))
        np.testing.assert_array_equal(codes, cases[name])


@pytest.mark.parametrize("backend", BACKENDS)
def test_hidden_states_lead_to_the_reference_s_logits(
    made: Callable[..., Any], cases: dict[str, np.ndarray], backend: str
) -> None:
    model, count = made(backend), len(cases["alone"])
    ops = model.ops
    masks = np.full((count, BOOKS), MASK, np.int32)
    rows = ops.cat([model.words.rows(ops.array(cases["ids"])), model._frames(masks)], 0)
    logits = ops.numpy(model.head(finished(model.layers.run(rows, [len(cases["ids"]) + count]))))
    want = cases["logits"].reshape(logits.shape)
    assert np.abs(logits - want).max() < 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("backend", BACKENDS)
def test_chance_decides_by_its_seed(made: Callable[..., Any], cases: dict[str, np.ndarray], backend: str) -> None:
    model = made(backend)

    def codes(seed: int, **how: Any) -> np.ndarray:
        random = np.random.default_rng(seed)
        made: np.ndarray = finished(model.speak(list(cases["ids"]), cases["heard"], 9, UnmaskRules(**how), random))
        return made

    np.testing.assert_array_equal(codes(1), codes(1))
    assert (codes(1) != codes(2)).any()
    assert (codes(1, temperature=1.0) != codes(1)).any()
    assert every((codes(1) >= 0).flat)
    assert every((codes(1) < MASK).flat)


def test_texts_last_as_long_as_the_reference_says(cases: dict[str, np.ndarray]) -> None:
    texts = [str(text) for text in cases["texts"]]
    assert [frames_of(text) for text in texts] == list(cases["lasts"])
    assert [joined(text, "Before.") for text in texts] == [str(text) for text in cases["joined"]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_codec_decodes_and_encodes_as_the_reference(
    made: Callable[..., Any], cases: dict[str, np.ndarray], backend: str
) -> None:
    samples, want = finished(made(backend, "decoder").decode(cases["codes"])), cases["samples"]
    assert samples.shape == want.shape == (len(cases["codes"]) * HOP,)
    assert np.abs(samples - want).max() < 1e-4 * np.abs(want).max()
    found, heard = finished(made(backend, "encoder").encode(cases["given"], cases["given"])), cases["found"]
    assert found.shape == heard.shape
    assert (found == heard).mean() > 0.98  # a near tie may go either way


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_does_not_fit_is_said(made: Callable[..., Any], backend: str, tmp_path: Path) -> None:
    decoder, encoder = made(backend, "decoder"), made(backend, "encoder")
    for codes in (np.zeros((4, 3), np.int32), np.zeros((0, BOOKS), np.int32), np.full((4, BOOKS), MASK)):
        with pytest.raises(BadRequest, match="odes"):
            finished(decoder.decode(codes))
    with pytest.raises(BadRequest, match="too short"):
        finished(encoder.encode(np.zeros(9, np.float32), np.zeros(9, np.float32)))
    files = Checkpoint.open(save_omnivoice(tmp_path))
    for change in ({"llm_config": None}, {"llm_config": {"model_type": "llama"}}, {"audio_mask_id": 99}):
        with pytest.raises(ConfigError):
            build(lambda view, change=change: omnivoice(view, CONFIG | change), files, pick(backend, "cpu", "f32"))
