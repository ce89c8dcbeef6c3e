"""Sounds and videos of Gemma 4, on both backends against the reference library: spectrograms, features, logits and greedy tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import numpy as np
import pytest
from PIL import Image

from engine.errors import BadRequest, ConfigError, UnsupportedArchitecture
from engine.models.gemma4_audio import MELS
from engine.models.gemma4_vision import BOUNDS
from engine.models.registry import find_architecture
from engine.pipelines.prompt import Prompt, chat_prompt, encoded
from engine.vision.processor import hearing
from engine.weights.convert import convert
from engine.weights.gguf.mmproj_files import name_beside
from engine.weights.gguf.reader import read
from engine.weights.view import check
from tests.asserting import every
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.seeing_checkpoints import gemma4_hearing, gemma4_pixels, id_of, made, written
from tests.seeing_world import SeeingWorld, references_reply

BACKENDS = ("torch", "mlx")
KINDS: dict[str, dict[str, Any]] = {
    "as published": {},
    "short": dict(attention_chunk_size=5, attention_context_left=4, conv_kernel_size=3, use_clipped_linears=False),
}
TIMES = (0.0, 1.5, 61.0)
# text; sounds in seconds; pictures; videos, of so many frames
CASES: dict[str, tuple[str, tuple[float, ...], int, int]] = {
    "sound": ("Write <|audio|> down.", (1.37,), 0, 0),
    "shortest": ("<|audio|>", (0.021,), 0, 0),
    "sounds": ("<|audio|> or <|audio|>?", (0.5, 2.0), 0, 0),
    "video": ("See: <|video|> What?", (), 0, 3),
    "all": ("<|image|> and <|audio|>\n<|video|> then", (0.7,), 1, 2),
}


def sound(seconds: float, seed: int = 0) -> np.ndarray:
    """A tone that climbs, in noise."""
    at = np.arange(round(seconds * 16000)) / 16000
    noise = np.random.default_rng(seed).normal(0, 0.05, len(at))
    return (0.4 * np.sin(2 * np.pi * (200 + 300 * at) * at) + noise).astype(np.float32)


def frames(count: int) -> list[Image.Image]:
    return [drawn(50, 34, 70 + seed) for seed in range(count)]


@cache
def reference(kind: str) -> Any:
    return made(gemma4_hearing(**KINDS[kind]))


def heard(sounds: tuple[float, ...], first: int = 0) -> dict[str, Any]:
    from transformers import Gemma4AudioFeatureExtractor

    samples = [sound(n, seed) for seed, n in enumerate(sounds, first)]
    given = Gemma4AudioFeatureExtractor()(samples, return_tensors="pt")
    return {name: given[name] for name in ("input_features", "input_features_mask")}


def seen(count: int) -> dict[str, Any]:
    """A video's frames; its processor, which wants torchvision, prepares them as that of pictures does."""
    import torch

    each = [gemma4_pixels([frame]) for frame in frames(count)]
    return {
        "pixel_values_videos": torch.cat([one["pixel_values"] for one in each]),
        "video_position_ids": torch.cat([one["image_position_ids"] for one in each]),
        "num_frames_per_video": torch.tensor([count]),
    }


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., SeeingWorld]]:
    opened: list[SeeingWorld] = []
    root = tmp_path_factory.mktemp("hearing")

    @cache
    def place(kind: str, stored: str) -> Path:
        if stored == "gguf":
            return convert(place(kind, "folder"), root / f"{kind.replace(' ', '-')}.gguf")
        return written(gemma4_hearing(**KINDS[kind]), reference(kind), root / kind.replace(" ", "-"))

    @cache
    def world(backend: str, kind: str = "as published", stored: str = "folder") -> SeeingWorld:
        opened.append(SeeingWorld(place(kind, stored), backend))
        return opened[-1]

    yield world
    for one in opened:
        one.engine.close()


def prompt_of(world: SeeingWorld, case: str) -> Prompt:
    text, sounds, pictures, count = CASES[case]
    vision, ears = world.loaded.vision, hearing(world.loaded.vision)
    assert vision is not None
    assert ears is not None
    given = {
        "<|image|>": [vision.prepare(drawn(48, 32, seed)) for seed in range(pictures)],
        "<|audio|>": [ears.sound(sound(n, seed)) for seed, n in enumerate(sounds)],
        "<|video|>": [vision.video(frames(count), seconds=TIMES[:count])] if count else [],
    }
    order = sorted((at, place) for place in given for at in range(len(text)) if text.startswith(place, at))
    return encoded(world.loaded, text, [given[place].pop(0) for _, place in order])


@cache
def expected(kind: str, case: str, ids: tuple[int, ...]) -> tuple[np.ndarray, list[int], list[float]]:
    import torch

    _, sounds, pictures, count = CASES[case]
    prompt = torch.tensor([ids])
    inputs: dict[str, Any] = dict(input_ids=prompt, attention_mask=torch.ones_like(prompt))
    inputs |= (heard(sounds) if sounds else {}) | (seen(count) if count else {})
    if pictures:
        shown = gemma4_pixels([drawn(48, 32, seed) for seed in range(pictures)])
        inputs |= {name: shown[name] for name in ("pixel_values", "image_position_ids")}
    return references_reply(reference(kind), inputs)


@pytest.mark.parametrize("seconds", [0.0201, 0.03, 0.5, 1.0, 1.37, 2.0, 30.0])
def test_spectrograms_are_the_references(worlds: Callable[..., SeeingWorld], seconds: float) -> None:
    ears = hearing(worlds("torch").loaded.vision)
    assert ears is not None
    got, want = ears.sound(sound(seconds)), heard((seconds,))
    mask = want["input_features_mask"][0].numpy()
    assert got.patches.shape == (mask.sum(), MELS)
    assert np.abs(got.patches - want["input_features"][0].numpy()[mask]).max() <= 1e-4
    assert got.tokens == mask[::2][::2].sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_features(worlds: Callable[..., SeeingWorld], kind: str, backend: str) -> None:
    import torch

    world, lengths = worlds(backend, kind), (0.021, 0.3, 2.0)
    ears = hearing(world.loaded.vision)
    assert ears is not None
    rows = world.encode([ears.sound(sound(n, seed)) for seed, n in enumerate(lengths)])
    for seed, (n, got) in enumerate(zip(lengths, rows, strict=True)):
        with torch.no_grad():
            want = reference(kind).model.get_audio_features(**heard((n,), seed))
        rows_of_words = want.pooler_output[0][want.attention_mask[0]].numpy()
        assert worst(got[:, : rows_of_words.shape[1]], rows_of_words) <= 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("kind", "case"), [*(("as published", case) for case in CASES), ("short", "sound")])
def test_logits_and_greedy_tokens(worlds: Callable[..., SeeingWorld], kind: str, case: str, backend: str) -> None:
    world = worlds(backend, kind)
    prompt = prompt_of(world, case)
    logits, want, margins = expected(kind, case, tuple(prompt.ids))
    assert worst(world.logits(prompt), logits) <= 1e-4
    assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
    agree(world.reply(prompt), want, margins)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", ["sound", "sounds", "all"])
def test_gguf_files_hear_the_same(worlds: Callable[..., SeeingWorld], case: str, backend: str) -> None:
    world = worlds(backend, "as published", "gguf")
    prompt = prompt_of(world, case)
    logits, want, margins = expected("as published", case, tuple(prompt.ids))
    assert worst(world.logits(prompt), logits) <= 1e-4
    agree(world.reply(prompt), want, margins)


def test_names_and_keys_are_llamacpps(worlds: Callable[..., SeeingWorld]) -> None:
    file = read(name_beside(Path(worlds("torch", "as published", "gguf").name)))
    known = {
        f"{theirs.format(bid=i, xid=0)}.{part}"
        for theirs in (gguf.TENSOR_NAMES[one] for one in gguf.MODEL_TENSORS[gguf.MODEL_ARCH.MMPROJ])
        for i in range(2)
        for part in ("weight", "bias", *BOUNDS)
    }
    heard_tensors = [name for name in file.tensors if name.startswith(("a.", "mm.a."))]
    assert len(heard_tensors) > 60
    assert every(name in known for name in heard_tensors)
    audio = gguf.Keys.ClipAudio
    keys = {value for one in (audio, audio.Attention) for value in vars(one).values() if isinstance(value, str)}
    assert every(key in keys for key in file.metadata if key.startswith("clip.audio."))
    assert (file.metadata["clip.vision.projector_type"], file.metadata["clip.audio.projector_type"]) == (
        gguf.VisionProjectorType.GEMMA4V,
        gguf.VisionProjectorType.GEMMA4A,
    )
    assert "clip.projector_type" not in file.metadata


def test_what_no_key_says_is_refused(worlds: Callable[..., SeeingWorld], tmp_path: Path) -> None:
    folder = Path(worlds("torch", "short").name)
    with pytest.raises(UnsupportedArchitecture, match="`attention_chunk_size` of the encoder of sound is 5"):
        convert(folder, tmp_path / "short.gguf")


def test_videos_and_sounds_are_spelled_as_the_references(worlds: Callable[..., SeeingWorld]) -> None:
    from transformers.models.gemma4.processing_gemma4 import Gemma4Processor

    names = dict(boi_token="<|image>", eoi_token="<image|>", video_token="<|video|>")
    names |= dict(boa_token="<|audio>", eoa_token="<audio|>", audio_token="<|audio|>")
    processor: Any = SimpleNamespace(**names)
    world = worlds("torch")
    prompt = prompt_of(world, "all")
    _, heard_sound, video = prompt.pictures
    metadata = [SimpleNamespace(fps=1.0, timestamps=TIMES[:2])]
    given = {"num_soft_tokens_per_video": [video.tokens // 2], "video_metadata": metadata}
    first = "<|image>" + "<|image|>" * prompt.pictures[0].tokens + "<image|>"
    second = Gemma4Processor.replace_audio_token(processor, heard(CASES["all"][1]), 0)
    third = Gemma4Processor.replace_video_token(processor, given, 0)
    assert prompt.ids == world.loaded.tokenizer.encode(f"{first} and {second}\n{third} then", add_special=False)
    assert heard_sound.tokens == 18
    assert "01:01" in Gemma4Processor.replace_video_token(
        processor, given | {"video_metadata": [SimpleNamespace(fps=1.0, timestamps=TIMES)]}, 0
    )


def test_a_chat_has_the_places_of_its_sounds_and_videos(worlds: Callable[..., SeeingWorld]) -> None:
    loaded = worlds("torch").loaded
    content = [
        {"type": "audio", "audio": sound(0.5)},
        {"type": "video", "video": frames(2), "seconds": [0, 2]},
        {"type": "text", "text": "Hm?"},
    ]
    prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
    assert prompt.positions is not None
    assert len(prompt.positions) == sum(one.tokens for one in prompt.pictures)


def test_what_cannot_be_heard_is_refused(worlds: Callable[..., SeeingWorld]) -> None:
    world = worlds("torch")
    ears = hearing(world.loaded.vision)
    assert ears is not None
    with pytest.raises(BadRequest, match="31 seconds long; this model hears 30"):
        ears.sound(sound(31.0))
    with pytest.raises(BadRequest, match="shorter than 20 milliseconds"):
        ears.sound(sound(0.01))
    vision, short = world.loaded.vision, ears.sound(sound(0.1))
    assert vision is not None
    with pytest.raises(BadRequest, match="another order"):
        vision.expand([id_of(gemma4_hearing())("<|image|>")], [short])
    clip = vision.video(frames(1))
    with pytest.raises(BadRequest, match="2 places for videos, but there are 1"):
        encoded(world.loaded, "<|video|><|video|>", [clip])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (dict(attention_context_right=1), "attention_context_right"),
        (dict(attention_context_left=20), "attention_context_left"),
        (dict(hidden_act="gelu"), "hidden_act"),
        (dict(subsampling_conv_channels=[128]), "subsampling_conv_channels"),
    ],
)
def test_what_the_encoder_cannot_be_is_named(more: dict[str, Any], said: str) -> None:
    _, config = gemma4_hearing().config(id_of(gemma4_hearing()))
    given = config.to_dict()
    given["audio_config"] |= more
    shapes = {name: tuple(value.shape) for name, value in reference("as published").state_dict().items()}
    with pytest.raises(ConfigError, match=said):
        check(lambda w: find_architecture(given, "x")(w, given), shapes)


def test_the_published_encoder_is_accepted_exactly() -> None:
    import torch
    from transformers import Gemma4Config, Gemma4ForConditionalGeneration

    text = dict(hidden_size=1536, intermediate_size=6144, num_hidden_layers=35, num_attention_heads=8, num_key_value_heads=1,
                head_dim=256, global_head_dim=512, num_kv_shared_layers=20, use_double_wide_mlp=True,
                hidden_size_per_layer_input=256, vocab_size_per_layer_input=262144)  # fmt: skip
    config = Gemma4Config(text_config=text, vision_config=dict(use_clipped_linears=True), audio_config={})
    with torch.device("meta"):
        model = Gemma4ForConditionalGeneration(config)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items() if key != "lm_head.weight"}
    given = config.to_dict()
    make = find_architecture(given, "gemma-4-E2B")
    parameters = check(lambda w: make(w, given), shapes).parameters
    assert parameters == sum(int(np.prod(one)) for one in shapes.values())
    # MLX's converter puts the input channels of convolutions last
    moved = {
        key: tuple(shape[i] for i in (0, *range(2, len(shape)), 1)) if "conv" in key and len(shape) > 2 else shape
        for key, shape in shapes.items()
    }
    assert moved != shapes
    assert check(lambda w: make(w, given), moved).parameters == parameters
