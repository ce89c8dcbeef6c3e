"""Gemma 3's pictures on both backends against the reference library: pixels, features, logits, greedy tokens; and published sizes.

Tokens of a picture see one another in both directions, in layers with a window too. The window is shorter than a picture here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backends.base import Segment
from engine.engine import Engine
from engine.errors import BadRequest, ConfigError
from engine.loading import LoadedModel, LoadOptions, load
from engine.models.config import Fields
from engine.models.registry import find_architecture
from engine.pipelines.prompt import Prompt, chat_prompt, encoded
from engine.types import Request, Result, SamplingParams, Settings
from engine.vision.gemma3 import Gemma3VisionProcessor
from engine.weights.convert import convert
from engine.weights.gguf.mmproj import name_beside
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.gemma3_checkpoints import END, IMAGE, PREPROCESSOR, SIDE, START, TOKENS, reference, save
from tests.llamacpp_peer import MARKS, PLACE, REPLY, LlamaCpp

BACKENDS = ("torch", "mlx")
GREEDY = 32
CASES = {
    "one": ("Look: <start_of_image> What is it?", ((48, 32),)),
    "several": ("<start_of_image>\nis not <start_of_image> and <start_of_image>?", ((40, 40), (16, 64), (301, 17))),
    "text": ("Nothing to see here, only words.", ()),
}


def pictures_of(case: str) -> list[Image.Image]:
    return [drawn(*size, seed) for seed, size in enumerate(CASES[case][1])]


class GemmaWorld:
    """The model on one backend, from a folder or a GGUF file, with an engine."""

    def __init__(self, place: Path, backend: str, **settings: Any) -> None:
        self.name = str(place)

        def make(name: str) -> LoadedModel:
            self.loaded = load(name, LoadOptions(backend=backend, device="cpu", dtype="f32", memory_limit=1 << 30))
            return self.loaded

        self.engine = Engine(make, Settings(**settings))
        self.engine.load(self.name)

    def prompt(self, case: str) -> Prompt:
        assert self.loaded.vision is not None
        return encoded(self.loaded, CASES[case][0], [self.loaded.vision.prepare(one) for one in pictures_of(case)])

    def encode(self, pictures: Sequence[Any]) -> list[np.ndarray]:
        def work(loaded: LoadedModel) -> Any:
            return (yield from loaded.model.encode(pictures))

        return self.engine.task(self.name, work).result(60)

    def logits(self, prompt: Prompt) -> np.ndarray:
        """Of every position."""
        features = np.concatenate(self.encode(prompt.pictures)) if prompt.pictures else None
        seen = set() if prompt.positions is None else set(prompt.positions.tolist())
        ends = [i for i in range(1, len(prompt.ids)) if (i in seen) != (i - 1 in seen)]

        def work(loaded: LoadedModel) -> Any:
            slot = loaded.kv.open(len(prompt.ids))
            assert slot is not None
            rows, used = [], 0
            for start, stop in zip([0, *ends], [*ends, len(prompt.ids)]):
                segment = Segment(slot, want=range(stop - start))
                if start in seen:
                    assert features is not None
                    segment.embeds, segment.mutual = features[used : used + stop - start], True
                    used += stop - start
                else:
                    segment.ids = prompt.ids[start:stop]
                rows.append(loaded.runner.run([segment]).read()[slot].logits)
                yield
            loaded.kv.close(slot)
            return np.concatenate(rows)

        return self.engine.task(self.name, work).result(60)

    def reply(self, prompt: Prompt) -> list[int]:
        greedy = SamplingParams(temperature=0.0, max_tokens=GREEDY, ignore_eos=True)
        request = Request(self.name, prompt.ids, greedy, pictures=prompt.pictures, positions=prompt.positions)
        result = self.engine.batch([request])[0]
        assert isinstance(result, Result), result
        return list(result.ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("gemma3") / "tiny")


@pytest.fixture(scope="module")
def worlds(folder: Path) -> Iterator[Callable[..., GemmaWorld]]:
    made: list[GemmaWorld] = []

    @cache
    def file() -> Path:
        return convert(folder, folder.with_suffix(".gguf"))

    @cache
    def world(backend: str, stored: str = "folder") -> GemmaWorld:
        made.append(GemmaWorld(folder if stored == "folder" else file(), backend))
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
    def test_features(self, worlds: Callable[..., GemmaWorld], backend: str, case: str) -> None:
        import torch

        world = worlds(backend)
        prompt = world.prompt(case)
        with torch.no_grad():
            want = reference().model.get_image_features(pixel_values(pictures_of(case))).pooler_output
        got = world.encode(prompt.pictures)
        assert [len(rows) for rows in got] == [TOKENS] * len(CASES[case][1])
        assert worst(np.stack(got), want.numpy()) <= 1e-4

    @pytest.mark.parametrize("stored", ["folder", "gguf"])
    @pytest.mark.parametrize("case", CASES)
    def test_logits_and_greedy_tokens(
        self, worlds: Callable[..., GemmaWorld], backend: str, case: str, stored: str
    ) -> None:
        world = worlds(backend, stored)
        prompt = world.prompt(case)
        logits, want, margins = expected(case, tuple(prompt.ids))
        assert worst(world.logits(prompt), logits) <= 1e-4
        assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
        agree(world.reply(prompt), want, margins)


def test_a_picture_is_computed_in_one_piece_by_however_short_steps(folder: Path) -> None:
    world = GemmaWorld(folder, "torch", prefill_chunk=5)
    try:
        prompt = world.prompt("several")
        _, want, margins = expected("several", tuple(prompt.ids))
        agree(world.reply(prompt), want, margins)
        agree(world.reply(prompt), want, margins)  # from the prefix cache
    finally:
        world.engine.close()


def test_prompts_are_spelled_as_the_references(worlds: Callable[..., GemmaWorld]) -> None:
    """Empty lines around each picture belong to the text, before it is cut into tokens."""
    loaded = worlds("torch").loaded
    content = [{"type": "image", "image": drawn(20, 20)}, {"type": "text", "text": "Hm?"}]
    prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
    text = loaded.tokenizer.decode(prompt.ids, skip_special=False)
    whole = f"<start_of_image>{'<image_soft_token>' * TOKENS}<end_of_image>"
    assert f"<|im_start|>user\n\n{whole}\n\nHm?" in text.replace("user\n\n\n", "user\n\n")
    assert prompt.ids.count(START) == prompt.ids.count(END) == 1


@pytest.mark.parametrize("size", [(300, 200), (64, 900), (1, 1), (32, 32)])
def test_pixels_are_the_references(worlds: Callable[..., GemmaWorld], size: tuple[int, int]) -> None:
    vision = worlds("torch").loaded.vision
    assert vision is not None
    picture = vision.prepare(drawn(*size))
    side = SIDE // 4
    tiled = picture.patches.reshape(side, side, 3, 4, 4).transpose(2, 0, 3, 1, 4).reshape(3, SIDE, SIDE)
    assert np.abs(tiled - pixel_values([drawn(*size)])[0].numpy()).max() <= 1e-6


def test_what_cannot_be_is_refused(worlds: Callable[..., GemmaWorld]) -> None:
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

    def test_its_text_is_ours(self, worlds: Callable[..., GemmaWorld]) -> None:
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
