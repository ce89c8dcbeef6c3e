"""Unlimited-OCR: its pictures in tiles, replies longer than what it remembers of them, published sizes, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from PIL import Image

from app.runtime.catalogue import capabilities
from engine.describe import describe, layers
from engine.engine import Engine
from engine.errors import BadRequest, ConfigError
from engine.loading import LoadOptions, load
from engine.models.config import Fields, text_config
from engine.models.registry import find_architecture
from engine.models.unlimited_ocr import unlimited_ocr, vision_fields
from engine.pipelines.prompt import chat_prompt
from engine.pipelines.reading.recognizer import Crop, VisionRecognizer
from engine.types import Request, SamplingParams, Settings
from engine.vision.page_views import UnlimitedOcrVisionProcessor
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import check
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.engine.vision.test_deepseek_ocr2 import TEXT
from tests.ocr_checkpoints import (
    UNLIMITED_PICTURES,
    UNLIMITED_VISION,
    deepseek_pixels,
    reference,
    save,
    unlimited_pixels,
)
from tests.seeing_world import SeeingWorld, nearly_alike, references_reply

NAME, LENGTH = "unlimited_ocr", 40
SIZES = [(48, 32), (128, 128), (100, 300), (400, 200), (129, 90), (3, 100)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(NAME, tmp_path_factory.mktemp("unlimited") / "tiny")


def processor(**settings: Any) -> UnlimitedOcrVisionProcessor:
    config = {"vision_config": UNLIMITED_VISION, "image_token_id": 300}
    return UnlimitedOcrVisionProcessor(Fields(config), Fields(UNLIMITED_PICTURES | settings), lambda text: [])


@pytest.mark.parametrize("size", SIZES)
def test_pixels_are_those_of_the_references_steps(size: tuple[int, int]) -> None:
    picture = processor().prepare(drawn(*size))
    want = unlimited_pixels([drawn(*size)])
    views = [*want.get("pixel_values_local", []), *want["pixel_values"]]
    assert len(picture.sides) == len(views)
    starts = np.cumsum([0, *np.square(picture.sides)])
    for side, start, view in zip(picture.sides, starts, views):
        patches = picture.patches[start : start + side * side].reshape(side, side, 3, 16, 16)
        assert np.abs(patches.transpose(2, 0, 3, 1, 4).reshape(3, side * 16, -1) - view.numpy()).max() <= 1e-6
    columns, rows = want["patches_grid"][0]
    assert picture.tiles == ((rows, columns) if len(views) > 1 else (0, 0))


def test_a_whole_picture_without_tiles_is_padded_or_stretched() -> None:
    padded = processor(crop_to_patches=False).prepare(drawn(100, 300))
    want = deepseek_pixels([drawn(100, 300)], crop_to_patches=False, tile_size=192)["pixel_values"][0]
    assert padded.sides == (12,)
    got = padded.patches.reshape(12, 12, 3, 16, 16).transpose(2, 0, 3, 1, 4).reshape(3, 192, 192)
    assert np.abs(got - want.numpy()).max() <= 1e-6
    small = processor(crop_to_patches=False, size={"height": 128, "width": 128}).prepare(drawn(100, 300))
    stretched = drawn(100, 300).resize((128, 128), Image.Resampling.BICUBIC)
    pixels = np.asarray(stretched, np.float32).transpose(2, 0, 1) / 127.5 - 1
    got = small.patches.reshape(8, 8, 3, 16, 16).transpose(2, 0, 3, 1, 4).reshape(3, 128, 128)
    assert np.abs(got - pixels).max() <= 1e-6


@pytest.fixture(scope="module")
def worlds(folder: Path) -> Iterator[Callable[[str], SeeingWorld]]:
    made: list[SeeingWorld] = []

    @cache
    def world(backend: str) -> SeeingWorld:
        made.append(SeeingWorld(folder, backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_page_in_tiles_is_read_as_by_the_reference(worlds: Callable[[str], SeeingWorld], backend: str) -> None:
    """A tall and a wide one, and a small one without tiles."""
    import torch

    world, model = worlds(backend), reference(NAME)
    pictures = [drawn(300, 130), drawn(60, 80, 3), drawn(120, 380, 4)]
    prompt = world.prompt("What is " + "<image>\nand " * len(pictures), pictures)
    inputs = unlimited_pixels(pictures)
    with torch.no_grad():
        want = torch.cat(list(model.model.get_image_features(**inputs).pooler_output))
    assert worst(np.concatenate(world.encode(prompt.pictures)), want.numpy()) <= 1e-4
    ids = torch.tensor([prompt.ids])
    logits, tokens, margins = references_reply(model, dict(input_ids=ids, attention_mask=torch.ones_like(ids)) | inputs)
    assert worst(world.logits(prompt), logits) <= 1e-4
    assert len(set(tokens)) > 5, "the reference repeats itself, so this would prove little"
    agree(world.reply(prompt), tokens, margins)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_quantized_weights_serve(worlds: Callable[[str], SeeingWorld], backend: str) -> None:
    whole = worlds(backend)
    quantized = SeeingWorld(Path(whole.name), backend, quant="q8_0")
    nearly_alike(quantized, whole, whole.prompt("<image>document parsing.", [drawn(120, 90)]))
    quantized.engine.close()


# -- replies far longer than the eight tokens that are seen of them

PROMPTS = [np.random.default_rng(seed).integers(0, 250, n).tolist() for seed, n in enumerate((30, 3, 61, 17))]
PROMPTS.append([*PROMPTS[2][:50], 7, 8, 9])  # begins like another one


@cache
def said(prompt: tuple[int, ...], length: int = LENGTH, ngrams: tuple[int, int] | None = None) -> tuple[int, ...]:
    import torch

    ids = torch.tensor([prompt])
    options: dict[str, Any] = dict(do_sample=False, eos_token_id=None, pad_token_id=0, max_new_tokens=length)
    generation = copy.deepcopy(reference(NAME).generation_config)
    if ngrams is not None:
        generation.no_repeat_ngram_size, generation.no_repeat_ngram_window_size = ngrams
    given = dict(input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=generation)
    out = reference(NAME).generate(**given, **options)
    return tuple(out[0, len(prompt) :].tolist())


def engine_of(folder: Path, backend: str, **settings: Any) -> Engine:
    loaded = load(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32", kv_bits=32))
    return Engine(lambda name: loaded, Settings(prefill_chunk=16, **settings), start=False)


def replies(engine: Engine, prompts: list[list[int]], preempt: str = "", **sampling: Any) -> list[list[int]]:
    """To all at once. `preempt`: every seven turns one is preempted, and kept on the host or computed again."""
    params = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True, **sampling)
    handles, turns = [engine.submit(Request("m", prompt, params)) for prompt in prompts], 0
    while not engine.idle:
        engine.turn()
        turns += 1
        if preempt and turns % 7 == 0:
            (executor,) = engine._manager.executors.values()
            if (victim := executor.scheduler.victim()) is not None:
                with patch.object(executor.scheduler, "_cheaper_again", lambda length: preempt != "host"):
                    executor.scheduler.preempt(victim)
                assert (victim.host_state is not None) == (preempt == "host")
                executor.scheduler.cap = 16
    return [list(handle.result(0).ids) for handle in handles]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_streams_preemption_and_prefixes(folder: Path, tmp_path: Path, backend: str) -> None:
    want = [list(said(tuple(prompt))) for prompt in PROMPTS]
    assert len({tuple(one) for one in want}) == len(want)
    engine = engine_of(folder, backend, offload_folder=tmp_path / "kept", speculation="ngram")
    assert replies(engine, PROMPTS) == want
    assert engine.stats().drafted == 0
    before = engine.stats().prefix_hits
    assert replies(engine, PROMPTS, preempt="host") == want
    assert replies(engine, PROMPTS, preempt="again") == want
    stats = engine.stats()
    assert stats.evictions > 4
    assert stats.prefix_hits > before
    longer = [[*prompt, *reply[:25], 5] for prompt, reply in zip(PROMPTS, want)]
    assert replies(engine, longer) == [list(said(tuple(prompt))) for prompt in longer]
    (executor,) = engine._manager.executors.values()
    assert executor.prefix_cache.clear(hurry=False) > 0
    assert replies(engine, PROMPTS) == want  # from the disk
    assert engine.check() == 0
    assert engine.stats().failed == 0
    engine.close()


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_repeated_ngrams_are_left_out_as_by_the_reference(folder: Path, backend: str) -> None:
    """Two tokens in a row, within the last 24: those of the prompt belong to them."""
    engine = engine_of(folder, backend)
    want = [list(said(tuple(prompt), LENGTH, (2, 24))) for prompt in PROMPTS]
    assert want != [list(said(tuple(prompt))) for prompt in PROMPTS], (
        "no n-gram is repeated, so this would prove nothing"
    )
    assert replies(engine, PROMPTS, no_repeat_ngram_size=2, no_repeat_ngram_window_size=24) == want
    engine.close()


def test_a_page_is_read_with_the_ngrams_of_its_authors(worlds: Callable[[str], SeeingWorld]) -> None:
    world = worlds("torch")
    sampling = VisionRecognizer(world.engine, world.loaded)._request(Crop(drawn(60, 80), "markdown", 40)).sampling
    assert (sampling.no_repeat_ngram_size, sampling.no_repeat_ngram_window_size) == (35, 128)


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_long_reply_takes_no_more_memory(folder: Path, backend: str) -> None:
    engine = engine_of(folder, backend)
    prompt = PROMPTS[0]
    handle = engine.submit(Request("m", prompt, SamplingParams(temperature=0.0, max_tokens=300, ignore_eos=True)))
    used = set()
    while not engine.idle:
        engine.turn()
        (executor,) = engine._manager.executors.values()
        used |= {executor.memory.kv.used}
    assert len(used - {0}) == 1
    assert list(handle.result(0).ids)[:150] == list(said(tuple(prompt), 150))
    engine.close()


def test_prompts_and_what_a_reply_keeps(worlds: Callable[[str], SeeingWorld]) -> None:
    world = worlds("torch")
    tokenizer, text = world.loaded.tokenizer, world.loaded.text_stream()
    said = [tokenizer.id(token) for token in ("<|det|>", "<|/det|>", "<image>")]
    assert "".join(text.push(id) for id in said if id is not None) + text.finish() == "<|det|><|/det|>"
    recognizer = VisionRecognizer(world.engine, world.loaded)
    assert recognizer.whole_pages
    assert "<image>document parsing." in recognizer._prompt("markdown")
    assert layers(world.loaded.kv.specs) == "3 prompt-and-last-8 attention"
    assert describe(world.name).sees.startswith("images")


def test_without_a_template_of_its_own_it_gets_the_published_prompt(folder: Path, tmp_path: Path) -> None:
    bare = save(NAME, tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    loaded = load(str(bare), LoadOptions(backend="torch", device="cpu", dtype="f32", memory_limit=1 << 30))
    try:
        content = [{"type": "image", "image": drawn(20, 30)}, {"type": "text", "text": "document parsing."}]
        prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
        assert loaded.tokenizer.decode(prompt.ids).endswith("document parsing.")
        assert prompt.positions is not None
        assert prompt.positions.tolist() == list(range(13))
    finally:
        loaded.close()


def test_what_cannot_be_is_refused() -> None:
    vision = processor()
    with pytest.raises(BadRequest, match="not videos"):
        vision.video([drawn(8, 8)])
    with pytest.raises(BadRequest, match="one side is more than"):
        vision.prepare(drawn(1, 300))
    for wrong, said in (({"tile_size": 100}, "tile_size"), ({"size": {"height": 200, "width": 200}}, "size")):
        with pytest.raises(ConfigError, match=said):
            processor(**wrong)
    assert vision.note(drawn(150, 150)) is None
    assert "the model looks at" in str(vision.note(drawn(600, 300)))


PUBLISHED: dict[str, Any] = {  # as the first repository has it
    "architectures": ["UnlimitedOCRForCausalLM"],
    "model_type": "unlimited-ocr",
    "sliding_window": 128,
    "tile_tag": "2D",
    "global_view_pos": "head",
    "language_config": TEXT
    | {
        "architectures": ["DeepseekOCRForCausalLM"],
        "model_type": "deepseek_v2",
        "first_k_dense_replace": 1,
        "max_position_embeddings": 32768,
        "sliding_window_size": 128,
        "use_mla": False,
        "v_head_dim": 128,
    },
    "vision_config": {
        "image_size": 1024,
        "model_name": "deeplip_b_l",
        "model_type": "vision",
        "width": {
            "clip-l-14-224": {"heads": 16, "image_size": 224, "layers": 24, "patch_size": 14, "width": 1024},
            "sam_vit_b": {
                "downsample_channels": [512, 1024],
                "global_attn_indexes": [2, 5, 8, 11],
                "heads": 12,
                "layers": 12,
                "width": 768,
            },
        },
    },
    "projector_config": {"input_dim": 2048, "model_type": "mlp_projector", "n_embed": 1280, "projector_type": "linear"},
}


def test_published_size_is_accepted_exactly(tmp_path: Path) -> None:
    """Under the names of the published files, with either config."""
    import torch
    from transformers import UnlimitedOcrConfig, UnlimitedOcrForConditionalGeneration

    text = {key: value for key, value in TEXT.items() if key not in ("n_group", "topk_group")}
    config = UnlimitedOcrConfig(
        text_config=text | {"max_position_embeddings": 32768},
        vision_config={"sam_config": {}, "encoder_config": {}},
    )
    with torch.device("meta"):
        model: Any = UnlimitedOcrForConditionalGeneration(config)
    shapes = published_names({key: tuple(value.shape) for key, value in model.state_dict().items()})
    total = sum(int(np.prod(one)) for one in shapes.values())
    given = json.loads(json.dumps(config.to_dict()))
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED))
    first = Checkpoint.open(tmp_path).config
    assert (first["model_type"], capabilities(PUBLISHED)) == ("unlimited_ocr", {"read", "vision"})
    unused = {"model.vision_model.embeddings.patch_embedding.weight": (1024, 3, 14, 14)}
    for one in (given, first):
        make = find_architecture(one, "Unlimited-OCR")
        assert check(lambda w, make=make, one=one: make(w, one), shapes | unused).parameters == total
    ours, theirs = vision_fields(Fields(first)), vision_fields(Fields(given))
    for part in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "image_size"):
        assert ours.sub("encoder_config").int(part) == theirs.sub("encoder_config").int(part)
    assert text_config(first).context == 32768


def test_a_config_says_which_layers_forget() -> None:
    from engine.models.unlimited_ocr import _recent

    kinds = ["reference_sliding_attention", "full_attention"]
    config = {"language_config": TEXT | {"num_hidden_layers": 2, "layer_types": kinds}, "sliding_window": 64}
    assert _recent(text_config(config), Fields(config)) == [64, None]
    config["language_config"]["layer_types"] = ["sliding_attention"] * 2
    with pytest.raises(ConfigError, match="layer_types"):
        _recent(text_config(config), Fields(config))
    assert unlimited_ocr.__name__ in find_architecture({"model_type": "unlimited_ocr"}, "x").__name__


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
    "model.vision_tower.vision_encoder.encoder.": "model.vision_model.transformer.",
    "model.vision_tower.vision_encoder.": "model.vision_model.",
    "model.multi_modal_projector.": "model.projector.layers.",
    "model.language_model.": "model.",
    "model.view_separator": "model.view_seperator",
}


def published_names(shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    from tests.engine.vision.test_deepseek_ocr2 import renamed

    found: dict[str, tuple[int, ...]] = {}
    for name, shape in renamed(shapes, PLACES).items():
        if ".k_proj." in name and name.startswith("model.vision_model."):
            continue
        if ".v_proj." in name and name.startswith("model.vision_model."):
            continue
        if ".q_proj." in name and name.startswith("model.vision_model."):  # the three are one there
            found[name.replace(".q_proj.", ".qkv_proj.")] = (3 * shape[0], *shape[1:])
        else:
            found[name] = shape
    return found
