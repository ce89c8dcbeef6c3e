"""GLM-4.1V and GLM-4.6V on both backends against the reference library: pictures and videos between text, published sizes, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from PIL import Image

from app.runtime.catalogue import capabilities
from engine.describe import describe
from engine.errors import BadRequest, ConfigError
from engine.models.config import Fields
from engine.models.registry import find_architecture
from engine.models.stretching import sampled
from engine.pipelines.prompt import Prompt, encoded
from engine.types import Request, Result, SamplingParams
from engine.vision.glm import Glm46VisionProcessor
from engine.weights.convert import convert
from engine.weights.gguf.mmproj_files import name_beside
from engine.weights.gguf.reader import read
from engine.weights.view import check
from tests.asserting import every
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.engine.weights.gguf.test_export import plain
from tests.llamacpp_peer import MARKS, sees_alike
from tests.ocr_checkpoints import GLM_PICTURES, GLM_VISION, GLM_WORDS, glm_pixels
from tests.seeing_checkpoints import SeeingFamily, id_of, made, pooled, text_fields, written
from tests.seeing_world import SeeingWorld, nearly_alike, references_reply

WORDS = (*GLM_WORDS, "<|begin_of_video|>", "<|end_of_video|>")
PLACE, MOVING = "<|begin_of_image|><|image|><|end_of_image|>", "<|begin_of_video|><|video|><|end_of_video|>"
VISION = GLM_VISION | {"image_size": 24, "intermediate_size": 40}  # 6 x 6 learned positions
FRAMES, SECONDS = [drawn(40, 24, 70 + i) for i in range(5)], [0.0, 0.5, 1.2, 1.7, 3.4]


def _config(kind: str, id_of: Callable[[str], int]) -> tuple[type, Any]:
    import transformers

    rope = dict(rope_type="default", rope_theta=10000.0, mrope_section=[2, 1, 1], partial_rotary_factor=0.5)
    text = text_fields(WORDS, model_type="glm4v_text", rms_norm_eps=1e-5, rope_parameters=rope)
    del text["head_dim"]
    named = {"image": "<|image|>", "video": "<|video|>"} | {
        f"{what}_{end}": f"<|{word}_of_{what}|>"
        for what in ("image", "video")
        for end, word in (("start", "begin"), ("end", "end"))
    }
    ids = {f"{name}_token_id": id_of(word) for name, word in named.items()}
    vision = VISION | {"model_type": "glm4v_vision"}
    config = getattr(transformers, f"{kind}Config")(
        text_config=text, vision_config=vision, tie_word_embeddings=False, **ids
    )
    return getattr(transformers, f"{kind}ForConditionalGeneration"), config


def family(kind: str) -> SeeingFamily:
    return SeeingFamily(
        words=WORDS,
        place=PLACE,
        config=lambda id_of: _config(kind, id_of),
        files={
            "preprocessor_config.json": GLM_PICTURES | {"image_processor_type": "Glm46VImageProcessor"},
            "video_preprocessor_config.json": GLM_PICTURES,
        },
        inputs=lambda pictures: dict(glm_pixels(pictures)),
        features=pooled,
    )


@cache
def reference(kind: str) -> Any:
    return made(family(kind))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., SeeingWorld]]:
    root = tmp_path_factory.mktemp("glm4v")
    begun: list[SeeingWorld] = []

    @cache
    def place(kind: str, stored: str) -> Path:
        if stored == "gguf":
            return convert(place(kind, "folder"), root / f"{kind}.gguf")
        return written(family(kind), reference(kind), root / kind)

    @cache
    def world(kind: str, backend: str, stored: str = "folder") -> SeeingWorld:
        begun.append(SeeingWorld(place(kind, stored), backend))
        return begun[-1]

    yield world
    for one in begun:
        one.engine.close()


def prompt_of(world: SeeingWorld, text: str, pictures: Sequence[Image.Image], video: bool) -> Prompt:
    """A video, where there is one, comes first."""
    vision = world.loaded.vision
    assert vision is not None
    clips = [vision.video(FRAMES, seconds=SECONDS)] if video else []
    return encoded(world.loaded, text, [*clips, *map(vision.prepare, pictures)])


def inputs_of(kind: str, prompt: Prompt, pictures: Sequence[Image.Image], video: bool) -> dict[str, Any]:
    """What the reference gets: its own processor's pixels of pictures; of a video, the same frames two by two."""
    import torch

    ids = torch.tensor([prompt.ids])
    inputs: dict[str, Any] = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    if pictures:
        inputs |= glm_pixels(pictures)
    kinds = (ids == id_of(family(kind))("<|image|>")).int()
    if video:
        clip = prompt.pictures[0]
        inputs |= dict(pixel_values_videos=torch.from_numpy(clip.patches.reshape(len(clip.patches), -1)))
        inputs |= dict(video_grid_thw=torch.tensor([clip.grid]))
        start, end = (prompt.ids.index(id_of(family(kind))(f"<|{word}_of_video|>")) for word in ("begin", "end"))
        kinds[0, start:end] *= 2
    return inputs | {"mm_token_type_ids": kinds}


CASES: dict[str, tuple[str, tuple[tuple[int, int], ...], bool]] = {
    "one": (f"Look: {PLACE} What is it?", ((48, 32),), False),
    "several": (f"{PLACE}\nis not {PLACE} and {PLACE}?", ((40, 40), (16, 64), (90, 30)), False),
    "video": (f"See {MOVING} and say.", (), True),
    "text": ("Nothing to see here, only words.", (), False),
}


@pytest.mark.parametrize(
    ("kind", "stored"), [("Glm46V", "folder"), ("Glm4v", "folder"), ("Glm46V", "gguf"), ("Glm4v", "gguf")]
)
@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("case", CASES)
def test_features_logits_and_greedy_tokens(
    worlds: Callable[..., SeeingWorld], kind: str, backend: str, case: str, stored: str
) -> None:
    """GGUF files do not say which of the two a model is, and a video's times are spelled as the newer one has them."""
    import torch

    text, sizes, video = CASES[case]
    world, model = worlds(kind, backend, stored), reference(kind)
    pictures = [drawn(*size, seed) for seed, size in enumerate(sizes)]
    prompt = prompt_of(world, text, pictures, video)
    inputs = inputs_of(kind, prompt, pictures, video)
    with torch.no_grad():
        want = []
        if video:
            clip = inputs["pixel_values_videos"], inputs["video_grid_thw"]
            want += list(model.model.get_video_features(*clip).pooler_output)
        if pictures:
            want += list(model.model.get_image_features(inputs["pixel_values"], inputs["image_grid_thw"]).pooler_output)
    if want:
        assert worst(np.concatenate(world.encode(prompt.pictures)), torch.cat(want).numpy()) <= 1e-4
    model.model.rope_deltas = None  # it remembers the last prompt's
    logits, tokens, margins = references_reply(model, inputs)
    assert worst(world.logits(prompt), logits) <= 1e-4
    assert len(set(tokens)) > 5, "the reference repeats itself, so this would prove little"
    agree(world.reply(prompt), tokens, margins)


def test_names_and_keys_are_llamacpps(worlds: Callable[..., SeeingWorld]) -> None:
    file = Path(worlds("Glm46V", "torch", "gguf").name)
    text, sight = read(file), read(name_beside(file))
    assert plain(text.metadata["glm4.rope.dimension_sections"]) == [2, 1, 1, 0]
    known = {
        f"{theirs.format(bid=i, xid=0)}.{part}"
        for theirs in (gguf.TENSOR_NAMES[one] for one in gguf.MODEL_TENSORS[gguf.MODEL_ARCH.MMPROJ])
        for i in range(2)
        for part in ("weight", "bias", "weight.1")
    }
    assert every(tensor in known for tensor in sight.tensors)
    assert sight.tensors["mm.patch_merger.weight"].shape == (64, 32, 2, 2)
    assert sight.metadata["clip.projector_type"] == gguf.VisionProjectorType.GLM4V


class TestLlamaCpp:
    pytestmark = MARKS

    def test_its_text_is_ours(self, worlds: Callable[..., SeeingWorld]) -> None:
        """On a picture with as many patches as the encoder has positions, which llama.cpp stretches otherwise."""
        sees_alike(worlds("Glm46V", "torch", "gguf"), PLACE, drawn(24, 24, 1))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_several_streams_at_once(worlds: Callable[..., SeeingWorld], backend: str) -> None:
    """A video beside a picture in one prompt too, which the reference cannot place."""
    world, greedy = worlds("Glm46V", backend), SamplingParams(temperature=0.0, max_tokens=12, ignore_eos=True)
    both = prompt_of(world, f"{MOVING} then {PLACE}", [drawn(30, 50)], True)
    prompts = [both, *(prompt_of(world, t, [drawn(*s) for s in sizes], v) for t, sizes, v in CASES.values())]
    alone = [world.reply(prompt)[:12] for prompt in prompts]
    requests = [
        Request(world.name, p.ids, greedy, pictures=p.pictures, positions=p.positions, rope=p.rope) for p in prompts
    ]
    results = world.engine.batch(requests)
    assert [list(result.ids) if isinstance(result, Result) else result for result in results] == alone


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_quantized_weights_serve(worlds: Callable[..., SeeingWorld], backend: str) -> None:
    whole = worlds("Glm46V", backend)
    quantized = SeeingWorld(Path(whole.name), backend, quant="q8_0")
    nearly_alike(quantized, whole, prompt_of(whole, CASES["one"][0], [drawn(48, 32)], False))
    quantized.engine.close()


def test_a_videos_prompt_is_the_references(worlds: Callable[..., SeeingWorld]) -> None:
    for kind, times in (("Glm46V", ("0.0 seconds", "1.2 seconds", "3.4 seconds")), ("Glm4v", ("0", "1", "3"))):
        world = worlds(kind, "torch")
        prompt = prompt_of(world, f"See {MOVING}!", [], True)
        each = "<|image|>" * (prompt.pictures[0].tokens // 3)
        frames = "".join(f"<|begin_of_image|>{each}<|end_of_image|>{time}" for time in times)
        want = world.loaded.tokenizer.encode(f"See <|begin_of_video|>{frames}<|end_of_video|>!")
        assert prompt.ids == list(want)
        assert describe(world.name).sees.startswith("images")


@pytest.mark.parametrize("size", [(6, 6), (4, 10), (3, 3), (20, 8)])
def test_positions_are_sampled_as_the_references(size: tuple[int, int]) -> None:
    import torch

    table = np.random.default_rng(4).normal(0, 1, (6, 6, 5)).astype(np.float32)
    down, across = (torch.arange(n, dtype=torch.float32) for n in size)
    y, x = torch.meshgrid((down + 0.5) / size[0] * 2 - 1, (across + 0.5) / size[1] * 2 - 1, indexing="ij")
    given, grid = torch.from_numpy(table).permute(2, 0, 1)[None], torch.stack([x, y], -1)[None]
    want = torch.nn.functional.grid_sample(given, grid, mode="bicubic", align_corners=False, padding_mode="border")
    assert np.abs(sampled(table, *size) - want[0].permute(1, 2, 0).numpy()).max() <= 1e-5


def test_what_cannot_be_is_refused(worlds: Callable[..., SeeingWorld]) -> None:
    world = worlds("Glm46V", "torch")
    vision = world.loaded.vision
    assert isinstance(vision, Glm46VisionProcessor)
    with pytest.raises(BadRequest, match="no frames"):
        vision.video([])
    with pytest.raises(BadRequest, match="one size"):
        vision.video([drawn(8, 8), drawn(9, 8)])
    with pytest.raises(BadRequest, match="a video where an image is"):
        encoded(world.loaded, PLACE, [vision.video(FRAMES)])
    with pytest.raises(BadRequest, match="one side is more than"):
        vision.prepare(drawn(1, 300))
    wrong = {"vision_config": VISION | {"patch_size": 8}}
    with pytest.raises(ConfigError, match="the vision tower reads"):
        Glm46VisionProcessor(Fields(wrong), Fields(GLM_PICTURES), lambda text: [])


PUBLISHED: dict[str, Any] = {
    "text_config": dict(
        model_type="glm4v_text",
        vocab_size=151552,
        hidden_size=4096,
        intermediate_size=13696,
        num_hidden_layers=40,
        num_attention_heads=32,
        num_key_value_heads=2,
        attention_bias=True,
        rms_norm_eps=1e-5,
        max_position_embeddings=131072,
        rope_parameters=dict(
            rope_type="default", rope_theta=500000, mrope_section=[8, 12, 12], partial_rotary_factor=0.5
        ),
    ),
    "vision_config": dict(model_type="glm4v_vision", hidden_size=1536, depth=24, intermediate_size=13696),
}


@pytest.mark.parametrize("kind", ["Glm46V", "Glm4v"])
def test_published_size_is_accepted_exactly(kind: str) -> None:
    import torch
    import transformers

    config = getattr(transformers, f"{kind}Config")(**PUBLISHED)
    with torch.device("meta"):
        model = getattr(transformers, f"{kind}ForConditionalGeneration")(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    given = json.loads(json.dumps(config.to_dict()))
    old = json.loads(json.dumps(given))  # as repositories have it
    rope = old["text_config"].pop("rope_parameters")
    old["text_config"] |= {"rope_theta": rope["rope_theta"], "partial_rotary_factor": 0.5}
    old["text_config"]["rope_scaling"] = {"type": "default", "mrope_section": [8, 12, 12]}
    for one in (given, old):
        make = find_architecture(one, kind)
        found = check(lambda w, make=make, one=one: make(w, one), shapes)
        assert found.parameters == sum(int(np.prod(shape)) for shape in shapes.values())
    assert capabilities(given) >= {"chat", "vision"}
