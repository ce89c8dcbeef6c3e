"""DeepSeek-OCR 2's pictures: tiles and the whole, relative positions, pages that are cut, published sizes, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest, ConfigError
from engine.loading import LoadOptions, load
from engine.models.config import Fields, text_config
from engine.models.deepseek_ocr2 import vision_fields
from engine.models.registry import find_architecture
from engine.models.sam import distances
from engine.models.stretching import stretched
from engine.pipelines.prompt import chat_prompt
from engine.pipelines.reading.recognizer import VisionRecognizer
from engine.text.doctags import places_in
from engine.vision.page_views import DeepseekOcr2VisionProcessor
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.ocr_checkpoints import DEEPSEEK_PICTURES, DEEPSEEK_VISION, OCR_FAMILIES, deepseek_pixels, save
from tests.seeing_checkpoints import SeeingFamily, written
from tests.seeing_checkpoints import made as made_by_the_reference
from tests.seeing_world import SeeingWorld, references_reply

SIZES = [(48, 32), (768, 768), (300, 900), (1600, 800), (769, 400), (800, 1131), (3, 200), (1500, 1500)]


def processor(**settings: Any) -> DeepseekOcr2VisionProcessor:
    config = {"vision_config": DEEPSEEK_VISION, "image_token_id": 300}
    return DeepseekOcr2VisionProcessor(Fields(config), Fields(DEEPSEEK_PICTURES | settings), lambda text: [])


@pytest.mark.parametrize("settings", [{}, {"max_patches": 3}, {"crop_to_patches": False}])
@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_the_references(size: tuple[int, int], settings: dict[str, Any]) -> None:
    picture = processor(**settings).prepare(drawn(*size))
    want = deepseek_pixels([drawn(*size)], **settings)
    tiles = [*want.get("pixel_values_local", []), *want["pixel_values"]]
    assert len(picture.sides) == len(tiles) == int(want["num_local_patches"][0]) + 1
    start = 0
    for side, tile in zip(picture.sides, tiles):
        patches = picture.patches[start : start + side * side].reshape(side, side, 3, 16, 16)
        start += side * side
        assert np.abs(patches.transpose(2, 0, 3, 1, 4).reshape(3, side * 16, -1) - tile.numpy()).max() <= 1e-6
    assert start == len(picture.patches)
    expected = 1 + sum({48: 144, 64: 256}[side] for side in picture.sides)
    assert picture.tokens == expected


@pytest.mark.parametrize("size", [14, 5, 48, 64])
def test_distances_are_the_references(size: int) -> None:
    """Learned for 64 places, or for as many as there are."""
    import torch
    from transformers.models.deepseek_ocr2.modeling_deepseek_ocr2 import DeepseekOcr2SamVisionAttention

    random = np.random.default_rng(size)
    for learned in {127, 2 * size - 1}:
        table = random.normal(0, 1, (learned, 6)).astype(np.float32)
        get: Any = DeepseekOcr2SamVisionAttention.get_rel_pos
        want = get(None, size, size, torch.from_numpy(table)).numpy()
        low, high, share = distances(size, learned)
        rows = np.concatenate([table] * size)
        got = rows[low] + (rows[high] - rows[low]) * share[:, None]
        assert np.abs(got.reshape(size, size, 6) - want).max() <= 3e-5


@pytest.mark.parametrize("side", [48, 64, 70])
def test_positions_are_stretched_as_the_references(side: int) -> None:
    import torch

    table = np.random.default_rng(2).normal(0, 1, (64, 64, 3)).astype(np.float32)
    given = torch.from_numpy(table).permute(2, 0, 1)[None]
    want = torch.nn.functional.interpolate(given, (side, side), mode="bicubic", align_corners=False, antialias=True)
    assert (
        np.abs(stretched(table, side, side, "bicubic") - want[0].permute(1, 2, 0).numpy()).max() <= 3e-5
    )  # its shares are of f32


def whole_sight() -> SeeingFamily:
    """Of whose three layers one sees all of a view."""
    family = OCR_FAMILIES["deepseek_ocr2"]

    def config(id_of: Callable[[str], int]) -> tuple[type, Any]:
        kind, made = family.config(id_of)
        made.vision_config.sam_config.global_attn_indexes = [1]
        return kind, made

    return replace(family, config=config)


@cache
def reference(windows: bool) -> Any:
    """`windows`: no layer sees all of a view."""
    return made_by_the_reference(OCR_FAMILIES["deepseek_ocr2"] if windows else whole_sight())


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., SeeingWorld]]:
    root = tmp_path_factory.mktemp("deepseek")
    made: list[SeeingWorld] = []

    @cache
    def world(backend: str, windows: bool = False, **settings: Any) -> SeeingWorld:
        folder = written(whole_sight(), reference(windows), root / f"{backend}{len(made)}")
        (folder / "preprocessor_config.json").write_text(json.dumps(DEEPSEEK_PICTURES | settings))
        made.append(SeeingWorld(folder, backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


@pytest.mark.slow
def test_a_page_in_tiles_is_read_as_by_the_reference(worlds: Callable[..., SeeingWorld]) -> None:
    """Beside a small picture, in one prompt: views of both sizes."""
    alike(worlds("torch"), reference(False), [drawn(900, 500), drawn(60, 80, 3)])


@pytest.mark.slow
def test_a_page_in_tiles_on_mlx(worlds: Callable[..., SeeingWorld]) -> None:
    """Two tiles and the whole. On a CPU, MLX multiplies without BLAS: a layer that sees all 4,096 places of the whole takes minutes. Such
    layers are held against the reference in smaller views (below, and in `test_unlimited_ocr`)."""
    alike(worlds("mlx", windows=True, max_patches=2), reference(True), [drawn(800, 400)], max_patches=2)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_one_view_of_the_smaller_size(worlds: Callable[..., SeeingWorld], backend: str) -> None:
    alike(worlds(backend, crop_to_patches=False), reference(False), [drawn(60, 80)], crop_to_patches=False)


def alike(world: SeeingWorld, model: Any, pictures: list[Image.Image], **settings: Any) -> None:
    """Features, logits and greedy tokens are the reference's."""
    import torch

    prompt = world.prompt("What is " + "<image>\nand " * len(pictures), pictures)
    inputs = dict(deepseek_pixels(pictures, **settings))
    with torch.no_grad():
        want = torch.cat(list(model.model.get_image_features(**inputs).pooler_output))
    assert worst(np.concatenate(world.encode(prompt.pictures)), want.numpy()) <= 1e-4
    ids = torch.tensor([prompt.ids])
    logits, tokens, margins = references_reply(model, dict(input_ids=ids, attention_mask=torch.ones_like(ids)) | inputs)
    assert worst(world.logits(prompt), logits) <= 1e-4
    agree(world.reply(prompt), tokens, margins)


def test_prompts_and_what_a_reply_keeps(worlds: Callable[..., SeeingWorld]) -> None:
    world = worlds("torch")
    tokenizer, text = world.loaded.tokenizer, world.loaded.text_stream()
    said = [tokenizer.id(token) for token in ("<|ref|>", "<|/ref|>", "<image>", "<|det|>", "<|/det|>")]
    assert "".join(text.push(id) for id in said if id is not None) + text.finish() == "<|ref|><|/ref|><|det|><|/det|>"
    assert places_in(["<|ref|>", "<|det|>"]) == set()
    recognizer = VisionRecognizer(world.engine, world.loaded)
    assert recognizer.whole_pages
    assert "<|grounding|>Convert the document to markdown." in recognizer._prompt("markdown")
    assert "Free OCR." in recognizer._prompt("text")


def test_without_a_template_of_its_own_it_gets_the_published_prompt(tmp_path: Path) -> None:
    folder = save("deepseek_ocr2", tmp_path / "tiny")
    (folder / "chat_template.jinja").unlink()
    loaded = load(str(folder), LoadOptions(backend="torch", device="cpu", dtype="f32", memory_limit=1 << 30))
    try:
        content = [{"type": "image", "image": drawn(20, 30)}, {"type": "text", "text": "Free OCR."}]
        prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
        assert loaded.tokenizer.decode(prompt.ids).endswith("\nFree OCR.")
        assert prompt.positions is not None
        assert prompt.positions.tolist() == list(range(257))
    finally:
        loaded.close()


def test_what_cannot_be_is_refused() -> None:
    vision = processor()
    with pytest.raises(BadRequest, match="not videos"):
        vision.video([drawn(8, 8)])
    for wrong, said in (
        ({"tile_size": 640}, "tile_size"),
        ({"size": {"height": 1280, "width": 1280}}, "size"),
        ({"min_patches": 7}, "min_patches"),
        ({"background_color": 127}, "background_color"),
    ):
        with pytest.raises(ConfigError, match=said):
            processor(**wrong)
    assert vision.note(drawn(700, 700)) is None
    assert "the model looks at" in str(vision.note(drawn(3000, 1500)))


TEXT: dict[str, Any] = dict(
    vocab_size=129280, hidden_size=1280, intermediate_size=6848, moe_intermediate_size=896, num_hidden_layers=12,
    num_attention_heads=10, num_key_value_heads=10, n_routed_experts=64, n_shared_experts=2, num_experts_per_tok=6,
    max_position_embeddings=8192, topk_method="greedy", n_group=1, topk_group=1,
)  # fmt: skip
PUBLISHED: dict[str, Any] = {  # as the first repository has it
    "architectures": ["DeepseekOCR2ForCausalLM"],
    "model_type": "deepseek_vl_v2",
    "language_config": TEXT | {"architectures": ["DeepseekV2ForCausalLM"], "first_k_dense_replace": 1, "moe_layer_freq": 1},
    "vision_config": {
        "image_size": 1024,
        "mlp_ratio": 3.7362,
        "model_name": "deepencoderv2",
        "model_type": "vision",
        "width": {
            "qwen2-0-5b": {"dim": 896},
            "sam_vit_b": {
                "downsample_channels": [512, 1024],
                "global_attn_indexes": [2, 5, 8, 11],
                "heads": 12,
                "layers": 12,
                "width": 768,
            },
        },
    },
    "projector_config": {"input_dim": 896, "model_type": "mlp_projector", "n_embed": 1280, "projector_type": "linear"},
}  # fmt: skip


def test_published_size_is_accepted_exactly(tmp_path: Path) -> None:
    """Under the names of the published files, with either config."""
    import torch
    from transformers import DeepseekOcr2Config, DeepseekOcr2ForConditionalGeneration
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    encoder = dict(
        hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
    )  # fmt: skip
    text = {key: value for key, value in TEXT.items() if key not in ("n_group", "topk_group")}
    text |= {"mlp_layer_types": ["dense", *["sparse"] * 11]}
    config = DeepseekOcr2Config(text_config=text, vision_config={"sam_config": {}, "encoder_config": encoder})
    with torch.device("meta"):
        model: Any = DeepseekOcr2ForConditionalGeneration(config)
    assert get_checkpoint_conversion_mapping("deepseek_ocr2"), "the reference reads the published names"
    shapes = renamed({key: tuple(value.shape) for key, value in model.state_dict().items()}, PLACES)
    given = json.loads(json.dumps(config.to_dict()))
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED))
    first = Checkpoint.open(tmp_path).config
    assert first["model_type"] == "deepseek_ocr2"
    total = sum(int(np.prod(one)) for one in shapes.values())
    for one in (given, first):
        make = find_architecture(one, "DeepSeek-OCR-2")
        assert check(lambda w, make=make, one=one: make(w, one), shapes).parameters == total
    ours, theirs = vision_fields(Fields(first)), vision_fields(Fields(given))
    for part in ("hidden_size", "num_hidden_layers", "num_attention_heads"):
        assert ours.sub("encoder_config").int(part) == theirs.sub("encoder_config").int(part)
    assert text_config(first).context == 8192


PLACES = {
    "model.vision_tower.sam_encoder.layers.": "model.sam_model.blocks.",
    "model.vision_tower.sam_encoder.patch_embed.projection.": "model.sam_model.patch_embed.proj.",
    "model.vision_tower.sam_encoder.neck.conv1.": "model.sam_model.neck.0.",
    "model.vision_tower.sam_encoder.neck.layer_norm1.": "model.sam_model.neck.1.",
    "model.vision_tower.sam_encoder.neck.conv2.": "model.sam_model.neck.2.",
    "model.vision_tower.sam_encoder.neck.layer_norm2.": "model.sam_model.neck.3.",
    "model.vision_tower.sam_encoder.proj.conv1.": "model.sam_model.net_2.",
    "model.vision_tower.sam_encoder.proj.conv2.": "model.sam_model.net_3.",
    "model.vision_tower.sam_encoder.": "model.sam_model.",
    "model.vision_tower.vision_encoder.": "model.qwen2_model.model.model.",
    "model.vision_tower.query_768_resolution.": "model.qwen2_model.query_768.",
    "model.vision_tower.query_1024_resolution.": "model.qwen2_model.query_1024.",
    "model.multi_modal_projector.": "model.projector.layers.",
    "model.language_model.": "model.",
    "model.view_separator": "model.view_seperator",
}


def renamed(shapes: dict[str, tuple[int, ...]], places: dict[str, str]) -> dict[str, tuple[int, ...]]:
    """By the names of the published files."""
    found: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        old = next(old for old in (*places, "") if name.startswith(old))
        new = places.get(old, "") + name.removeprefix(old)
        if new.startswith("model.sam_model.blocks."):
            new = new.replace("layer_norm", "norm")
        if new.endswith("mlp.experts.gate_up_proj"):
            for i in range(shape[0]):
                for part in ("gate_proj", "up_proj"):
                    found[new.replace("gate_up_proj", f"{i}.{part}.weight")] = (shape[1] // 2, shape[2])
        elif new.endswith("mlp.experts.down_proj"):
            found |= {new.replace("down_proj", f"{i}.down_proj.weight"): shape[1:] for i in range(shape[0])}
        else:
            found[new] = shape
    return found
