"""Gemma 3's pictures on both backends against the reference library: pixels, features, logits, greedy tokens; and published sizes.

Tokens of a picture see one another in both directions, in layers with a window too. The window is shorter than a picture here.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.registry import find_architecture
from engine.pipelines.prompt import Prompt, chat_prompt, encoded
from engine.vision.gemma3 import Gemma3VisionProcessor
from engine.weights.convert import convert
from engine.weights.gguf.mmproj_files import name_beside
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.gemma3_checkpoints import END, IMAGE, PREPROCESSOR, SIDE, START, TOKENS, reference, save
from tests.llamacpp_peer import MARKS, PLACE, REPLY, LlamaCpp
from tests.seeing_world import GREEDY, SeeingWorld

BACKENDS = ("torch", "mlx")
CASES = {
    "one": ("Look: <start_of_image> What is it?", ((48, 32),)),
    "several": ("<start_of_image>\nis not <start_of_image> and <start_of_image>?", ((40, 40), (16, 64), (301, 17))),
    "text": ("Nothing to see here, only words.", ()),
}


def pictures_of(case: str) -> list[Image.Image]:
    return [drawn(*size, seed) for seed, size in enumerate(CASES[case][1])]


def prompt_of(world: SeeingWorld, case: str) -> Prompt:
    return world.prompt(CASES[case][0], pictures_of(case))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("gemma3") / "tiny")


@pytest.fixture(scope="module")
def worlds(folder: Path) -> Iterator[Callable[..., SeeingWorld]]:
    made: list[SeeingWorld] = []

    @cache
    def file() -> Path:
        return convert(folder, folder.with_suffix(".gguf"))

    @cache
    def world(backend: str, stored: str = "folder") -> SeeingWorld:
        made.append(SeeingWorld(folder if stored == "folder" else file(), backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


def pixel_values(images: Sequence[Image.Image]) -> Any:
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

    kept = {name: value for name, value in PREPROCESSOR.items() if name != "image_processor_type"}
    return Gemma3ImageProcessorPil(**kept)(images=list(images), return_tensors="pt")["pixel_values"]


@cache
def expected(case: str, ids: tuple[int, ...]) -> tuple[np.ndarray, list[int], list[float]]:
    """Logits of the prompt; greedy tokens, and by how much each beat the second best."""
    import torch

    prompt = torch.tensor([ids])
    inputs: dict[str, Any] = dict(input_ids=prompt, attention_mask=torch.ones_like(prompt))
    inputs["token_type_ids"] = (prompt == IMAGE).int()
    if CASES[case][1]:
        inputs["pixel_values"] = pixel_values(pictures_of(case))
    with torch.no_grad():
        logits = reference()(**inputs).logits[0].numpy()
        out = reference().generate(
            **inputs,
            max_new_tokens=GREEDY,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    return logits, out.sequences[0, len(ids) :].tolist(), ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
class TestGemmaParity:
    @pytest.mark.parametrize("case", ["one", "several"])
    def test_features(self, worlds: Callable[..., SeeingWorld], backend: str, case: str) -> None:
        import torch

        world = worlds(backend)
        prompt = prompt_of(world, case)
        with torch.no_grad():
            want = reference().model.get_image_features(pixel_values(pictures_of(case))).pooler_output
        got = world.encode(prompt.pictures)
        assert [len(rows) for rows in got] == [TOKENS] * len(CASES[case][1])
        assert worst(np.stack(got), want.numpy()) <= 1e-4

    @pytest.mark.parametrize("stored", ["folder", "gguf"])
    @pytest.mark.parametrize("case", CASES)
    def test_logits_and_greedy_tokens(
        self, worlds: Callable[..., SeeingWorld], backend: str, case: str, stored: str
    ) -> None:
        world = worlds(backend, stored)
        prompt = prompt_of(world, case)
        logits, want, margins = expected(case, tuple(prompt.ids))
        assert worst(world.logits(prompt), logits) <= 1e-4
        assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
        agree(world.reply(prompt), want, margins)


def test_a_picture_is_computed_in_one_piece_by_however_short_steps(folder: Path) -> None:
    world = SeeingWorld(folder, "torch", prefill_chunk=5)
    try:
        prompt = prompt_of(world, "several")
        _, want, margins = expected("several", tuple(prompt.ids))
        agree(world.reply(prompt), want, margins)
        agree(world.reply(prompt), want, margins)  # from the prefix cache
    finally:
        world.engine.close()


def test_prompts_are_spelled_as_the_references(worlds: Callable[..., SeeingWorld]) -> None:
    """Empty lines around each picture belong to the text, before it is cut into tokens."""
    loaded = worlds("torch").loaded
    content = [{"type": "image", "image": drawn(20, 20)}, {"type": "text", "text": "Hm?"}]
    prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
    text = loaded.tokenizer.decode(prompt.ids, skip_special=False)
    whole = f"<start_of_image>{'<image_soft_token>' * TOKENS}<end_of_image>"
    assert f"<|im_start|>user\n\n{whole}\n\nHm?" in text.replace("user\n\n\n", "user\n\n")
    assert prompt.ids.count(START) == prompt.ids.count(END) == 1


@pytest.mark.parametrize("size", [(300, 200), (64, 900), (1, 1), (32, 32)])
def test_pixels_are_the_references(worlds: Callable[..., SeeingWorld], size: tuple[int, int]) -> None:
    vision = worlds("torch").loaded.vision
    assert vision is not None
    picture = vision.prepare(drawn(*size))
    side = SIDE // 4
    tiled = picture.patches.reshape(side, side, 3, 4, 4).transpose(2, 0, 3, 1, 4).reshape(3, SIDE, SIDE)
    assert np.abs(tiled - pixel_values([drawn(*size)])[0].numpy()).max() <= 1e-6


PAN_AND_SCAN = dict(
    do_pan_and_scan=True,
    pan_and_scan_min_crop_size=8,
    pan_and_scan_max_num_crops=4,
    pan_and_scan_min_ratio_to_activate=1.2,
)


def scanned(images: Sequence[Image.Image]) -> Any:
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

    kept = {name: value for name, value in PREPROCESSOR.items() if name != "image_processor_type"}
    return Gemma3ImageProcessorPil(**(kept | PAN_AND_SCAN))(images=list(images), return_tensors="pt")


@pytest.mark.parametrize("size", [(300, 200), (64, 900), (33, 32), (40, 17), (15, 7), (101, 20)])
def test_crops_of_long_pictures_are_the_references(worlds: Callable[..., SeeingWorld], size: tuple[int, int]) -> None:
    config = Fields(worlds("torch").loaded.config)
    picture = Gemma3VisionProcessor(config, Fields(PREPROCESSOR | PAN_AND_SCAN)).prepare(drawn(*size))
    want = scanned([drawn(*size)])
    assert picture.grid[0] == 1 + int(want["num_crops"][0])
    side = SIDE // 4
    tiled = picture.patches.reshape(-1, side, side, 3, 4, 4).transpose(0, 3, 1, 4, 2, 5).reshape(-1, 3, SIDE, SIDE)
    assert np.abs(tiled - want["pixel_values"].numpy()).max() <= 1e-6


def test_a_prompt_with_crops_is_the_references(folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers.models.gemma3.processing_gemma3 import Gemma3Processor

    shutil.copytree(folder, tmp_path / "scanning")
    (tmp_path / "scanning" / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR | PAN_AND_SCAN))
    world = SeeingWorld(tmp_path / "scanning", "torch")
    try:
        pictures = [drawn(60, 20), drawn(30, 30)]
        prompt = world.prompt("See <start_of_image> and <start_of_image>.", pictures)
        soft = "<image_soft_token>" * TOKENS
        full: Any = SimpleNamespace(full_image_sequence=f"\n\n<start_of_image>{soft}<end_of_image>\n\n")
        counts = {"num_crops": scanned(pictures)["num_crops"].tolist()}
        first, second = (Gemma3Processor.replace_image_token(full, counts, at) for at in range(2))
        assert counts["num_crops"] == [3, 0]
        assert prompt.ids == world.loaded.tokenizer.encode(f"See {first} and {second}.", add_special=False)
        ids = torch.tensor([prompt.ids])
        with torch.no_grad():
            want = reference()(
                input_ids=ids, token_type_ids=(ids == IMAGE).int(), pixel_values=scanned(pictures)["pixel_values"]
            ).logits[0]
        assert worst(world.logits(prompt), want.numpy()) <= 1e-4
    finally:
        world.engine.close()


def test_what_cannot_be_is_refused(worlds: Callable[..., SeeingWorld]) -> None:
    loaded = worlds("torch").loaded
    assert loaded.vision is not None
    with pytest.raises(BadRequest, match="not videos"):
        loaded.vision.video([drawn(8, 8)])
    with pytest.raises(BadRequest, match="2 places for images, but there are 1"):
        loaded.vision.expand([START, 5, START], [loaded.vision.prepare(drawn(8, 8))])
    with pytest.raises(ConfigError, match="another size"):
        Gemma3VisionProcessor(Fields(loaded.config), Fields({"size": {"height": 8, "width": 8}}))
    with pytest.raises(ConfigError, match="mm_tokens_per_image"):
        Gemma3VisionProcessor(Fields({**loaded.config, "mm_tokens_per_image": 9}), Fields({}))


# name -> text config; the image encoder is the same
PUBLISHED: dict[str, dict[str, Any]] = {
    "gemma-3-4b": dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34, num_attention_heads=8, num_key_value_heads=4),
    "gemma-3-12b": dict(hidden_size=3840, intermediate_size=15360, num_hidden_layers=48, num_attention_heads=16, num_key_value_heads=8),
    "gemma-3-27b": dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=62, num_attention_heads=32, num_key_value_heads=16, head_dim=128, query_pre_attn_scalar=168),
}  # fmt: skip
ENCODER = dict(
    hidden_size=1152,
    image_size=896,
    intermediate_size=4304,
    num_attention_heads=16,
    num_hidden_layers=27,
    patch_size=14,
    vision_use_head=False,
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_size_is_accepted_exactly(name: str) -> None:
    import torch
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    config = Gemma3Config(text_config=PUBLISHED[name], vision_config=ENCODER)
    with torch.device("meta"):
        model = Gemma3ForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if key != "lm_head.weight"}
    given = config.to_dict()
    make = find_architecture(given, name)
    assert check(lambda w: make(w, given), shapes).parameters == sum(int(np.prod(one)) for one in shapes.values())
    as_published = {
        key.replace("model.vision_tower.", "vision_tower.vision_model.")
        .replace("model.multi_modal_projector.", "multi_modal_projector.")
        .replace("model.language_model.", "language_model.model."): shape
        for key, shape in shapes.items()
    }
    check(lambda w: make(w, given), as_published)


class TestLlamaCpp:
    pytestmark = MARKS

    def test_its_text_is_ours(self, worlds: Callable[..., SeeingWorld]) -> None:
        """On pictures of the size that the encoder reads. llama.cpp's GELU looks values up in f16."""
        world = worlds("torch", "gguf")
        pictures = [drawn(SIDE, SIDE, seed) for seed in range(2)]
        text = "One <start_of_image> and another <start_of_image> what is it?"
        theirs = LlamaCpp(Path(world.name), name_beside(Path(world.name)))
        wants = [theirs.see(text.replace("<start_of_image>", f"\n\n{PLACE}\n\n"), pictures)]
        assert world.loaded.vision is not None
        prompt = encoded(world.loaded, text, [world.loaded.vision.prepare(one) for one in pictures])
        got = [world.logits(prompt)[-1]]
        ids = list(prompt.ids)
        for _ in range(REPLY - 1):
            ids.append(int(wants[-1].argmax()))
            wants.append(theirs.step(ids[-1:]))
            got.append(world.logits(replace(prompt, ids=ids))[-1])
        theirs.close()
        for ours, want in zip(got, wants, strict=True):
            assert np.linalg.norm(ours - want) <= 3e-3 * np.linalg.norm(want)
            assert ours.argmax() == want.argmax()
