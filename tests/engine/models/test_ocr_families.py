"""Families of models that read pages, on both backends against the reference library: features, logits, greedy tokens, published sizes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.describe import describe
from engine.errors import BadRequest
from engine.models.registry import find_architecture
from engine.pipelines.prompt import chat_prompt
from engine.pipelines.reading.recognizer import VisionRecognizer
from engine.vision.glm import GlmVisionProcessor
from engine.weights.convert import convert
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_seeing_families import BACKENDS, CASES, pictures_of
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.llamacpp_peer import MARKS, sees_alike
from tests.ocr_checkpoints import OCR_FAMILIES, glm_pixels, reference, save
from tests.seeing_world import SeeingWorld, exact_logits, references_reply


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("ocr")

    @cache
    def made(name: str, stored: str = "folder") -> Path:
        return save(name, root / name) if stored == "folder" else convert(made(name), root / f"{name}.gguf")

    return made


@pytest.fixture(scope="module")
def worlds(place: Callable[..., Path]) -> Iterator[Callable[..., SeeingWorld]]:
    made: list[SeeingWorld] = []

    @cache
    def world(name: str, backend: str, stored: str = "folder") -> SeeingWorld:
        made.append(SeeingWorld(place(name, stored), backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


@cache
def expected(name: str, case: str, ids: tuple[int, ...]) -> tuple[np.ndarray, list[int], list[float]]:
    import torch

    prompt = torch.tensor([ids])
    inputs: dict[str, Any] = dict(input_ids=prompt, attention_mask=torch.ones_like(prompt))
    if CASES[case][1]:
        inputs |= OCR_FAMILIES[name].with_ids(prompt) | OCR_FAMILIES[name].inputs(pictures_of(case))
    reference(name).model.rope_deltas = None  # it remembers the last prompt's
    _, reply, margins = references_reply(reference(name), inputs)
    reference(name).model.rope_deltas = None
    return exact_logits(reference(name), inputs), reply, margins


@pytest.mark.parametrize("name", OCR_FAMILIES)
class TestParity:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("case", ["one", "several"])
    def test_features(self, worlds: Callable[..., SeeingWorld], name: str, backend: str, case: str) -> None:
        import torch

        family, world = OCR_FAMILIES[name], worlds(name, backend)
        with torch.no_grad():
            want = family.features(reference(name), family.inputs(pictures_of(case)))
        prompt = world.prompt(CASES[case][0].replace("@", family.place), pictures_of(case))
        assert worst(np.concatenate(world.encode(prompt.pictures)), want.numpy()) <= 1e-4

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("case", CASES)
    def test_logits_and_greedy_tokens(
        self, worlds: Callable[..., SeeingWorld], name: str, backend: str, case: str
    ) -> None:
        world = worlds(name, backend)
        prompt = world.prompt(CASES[case][0].replace("@", OCR_FAMILIES[name].place), pictures_of(case))
        logits, want, margins = expected(name, case, tuple(prompt.ids))
        assert worst(world.logits(prompt), logits) <= 1e-4
        assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
        agree(world.reply(prompt), want, margins)

    def test_a_chat_has_the_places_of_its_pictures(self, worlds: Callable[..., SeeingWorld], name: str) -> None:
        loaded = worlds(name, "torch").loaded
        assert loaded.vision is not None
        content = [{"type": "image", "image": drawn(20, 30)}]
        prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
        assert prompt.positions is not None
        assert len(prompt.positions) == prompt.pictures[0].tokens
        assert describe(loaded.name).sees.startswith("images")
        with pytest.raises(BadRequest, match="not videos"):
            loaded.vision.video([drawn(8, 8)])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["glm_ocr", "granite_docling"])
def test_gguf_files_read_the_same(worlds: Callable[..., SeeingWorld], name: str, backend: str, case: str) -> None:
    world = worlds(name, backend, "gguf")
    assert world.loaded.config["model_type"] == worlds(name, backend).loaded.config["model_type"]
    prompt = world.prompt(CASES[case][0].replace("@", OCR_FAMILIES[name].place), pictures_of(case))
    logits, want, margins = expected(name, case, tuple(prompt.ids))
    assert worst(world.logits(prompt), logits) <= 1e-4
    agree(world.reply(prompt), want, margins)


class TestLlamaCpp:
    pytestmark = MARKS

    @pytest.mark.parametrize(("name", "side"), [("glm_ocr", 48), ("granite_docling", 96)])
    def test_its_text_is_ours(self, worlds: Callable[..., SeeingWorld], name: str, side: int) -> None:
        sees_alike(worlds(name, "torch", "gguf"), OCR_FAMILIES[name].place, drawn(side, side, 1))


def test_a_reply_keeps_doctags(worlds: Callable[..., SeeingWorld]) -> None:
    world = worlds("granite_docling", "torch")
    tokenizer, text = world.loaded.tokenizer, world.loaded.text_stream()
    said = [tokenizer.id(token) for token in ("<doctag>", "<text>", "<loc_7>", "</text>", "<image>", "</doctag>")]
    assert None not in said
    assert (
        "".join(text.push(id) for id in said if id is not None) + text.finish()
        == "<doctag><text><loc_7></text></doctag>"
    )
    recognizer = VisionRecognizer(world.engine, world.loaded)
    assert recognizer.whole_pages
    assert "Convert this page to docling." in recognizer._prompt("markdown")


@pytest.mark.parametrize("size", [(48, 32), (40, 24), (33, 51), (3, 5), (301, 17), (200, 180)])
def test_pixels_of_glm_are_the_references(worlds: Callable[..., SeeingWorld], size: tuple[int, int]) -> None:
    vision = worlds("glm_ocr", "torch").loaded.vision
    assert isinstance(vision, GlmVisionProcessor)
    picture, want = vision.prepare(drawn(*size)), glm_pixels([drawn(*size)])
    assert list(picture.grid) == want["image_grid_thw"][0].tolist()
    assert np.abs(picture.patches.reshape(len(picture.patches), -1) - want["pixel_values"].numpy()).max() <= 1e-6


# -- published sizes

GLM: dict[str, Any] = {
    "text_config": dict(
        model_type="glm_ocr_text",
        vocab_size=59392,
        hidden_size=1536,
        intermediate_size=4608,
        num_hidden_layers=16,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        num_nextn_predict_layers=1,
        rms_norm_eps=1e-5,
        max_position_embeddings=131072,
        rope_parameters=dict(
            rope_type="default", mrope_section=[16, 24, 24], partial_rotary_factor=1.0, rope_theta=10000
        ),
    ),
    "vision_config": dict(
        model_type="glm_ocr_vision",
        hidden_size=1024,
        depth=24,
        num_heads=16,
        attention_bias=True,
        intermediate_size=4096,
        image_size=336,
        patch_size=14,
        out_hidden_size=1536,
        rms_norm_eps=1e-5,
        spatial_merge_size=2,
        temporal_patch_size=2,
    ),
}
LIGHTON: dict[str, Any] = {
    "text_config": dict(
        model_type="qwen3",
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=16384,
        rope_theta=1e6,
    ),
    "vision_config": dict(
        model_type="pixtral",
        hidden_size=1024,
        image_size=1540,
        intermediate_size=4096,
        num_attention_heads=16,
        num_hidden_layers=24,
        patch_size=14,
        hidden_act="silu",
    ),
}


@pytest.mark.parametrize(
    ("prefix", "fields", "extra"),
    [("GlmOcr", GLM, "model.language_model.layers.16.eh_proj.weight"), ("LightOnOcr", LIGHTON, "")],
)
def test_published_size_is_accepted_exactly(prefix: str, fields: dict[str, Any], extra: str) -> None:
    import torch
    import transformers

    config = getattr(transformers, f"{prefix}Config")(**fields)
    with torch.device("meta"):
        model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    given = json.loads(json.dumps(config.to_dict()))
    make = find_architecture(given, prefix)
    tied = bool(given["tie_word_embeddings"])
    counted = {key: shape for key, shape in shapes.items() if not (tied and key == "lm_head.weight")}
    with_more = counted | ({extra: (8, 8)} if extra else {})  # the layer that guesses ahead
    found = check(lambda w: make(w, given), with_more)
    assert found.parameters == sum(int(np.prod(one)) for one in counted.values())
