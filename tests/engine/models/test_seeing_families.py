"""Families of models that see, on both backends against the reference library: features, logits and greedy tokens, from a folder and
from a GGUF file with its mmproj file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import load_file, save_file

from engine.describe import describe
from engine.pipelines.prompt import Prompt, chat_prompt
from engine.weights.convert import convert
from engine.weights.gguf.mmproj_files import name_beside
from engine.weights.gguf.reader import read
from tests.asserting import every
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_parity import agree
from tests.engine.vision.pictures import drawn
from tests.llamacpp_peer import MARKS, sees_alike
from tests.seeing_checkpoints import FAMILIES, reference, save
from tests.seeing_world import SeeingWorld, references_reply

BACKENDS = ("torch", "mlx")
CASES = {
    "one": ("Look: @ What is it?", ((48, 32),)),
    "several": ("@\nis not @ and @?", ((40, 40), (16, 64), (90, 30))),
    "text": ("Nothing to see here, only words.", ()),
}


def pictures_of(case: str) -> list[Image.Image]:
    return [drawn(*size, seed) for seed, size in enumerate(CASES[case][1])]


def prompt_of(world: SeeingWorld, name: str, case: str) -> Prompt:
    return world.prompt(CASES[case][0].replace("@", FAMILIES[name].place), pictures_of(case))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("families")

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
    """Logits of the prompt; greedy tokens, and by how much each beat the second best."""
    import torch

    prompt = torch.tensor([ids])
    inputs: dict[str, Any] = dict(input_ids=prompt, attention_mask=torch.ones_like(prompt))
    inputs |= FAMILIES[name].with_ids(prompt)
    if CASES[case][1]:
        inputs |= FAMILIES[name].inputs(pictures_of(case))
    return references_reply(reference(name), inputs)


@pytest.mark.parametrize("name", FAMILIES)
class TestSeeingParity:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("case", ["one", "several"])
    def test_features(self, worlds: Callable[..., SeeingWorld], name: str, backend: str, case: str) -> None:
        import torch

        world = worlds(name, backend)
        with torch.no_grad():
            want = FAMILIES[name].features(reference(name), FAMILIES[name].inputs(pictures_of(case)))
        got = np.concatenate(world.encode(prompt_of(world, name, case).pictures))
        assert worst(got[:, : want.shape[1]], want.numpy()) <= 1e-4  # behind it may lie what layers are given

    @pytest.mark.parametrize(
        ("backend", "stored"),
        [
            ("torch", "folder"),
            ("mlx", "folder"),
            ("torch", "gguf"),
            pytest.param("mlx", "gguf", marks=pytest.mark.slow),
        ],
    )
    @pytest.mark.parametrize("case", CASES)
    def test_logits_and_greedy_tokens(
        self, worlds: Callable[..., SeeingWorld], name: str, backend: str, case: str, stored: str
    ) -> None:
        world = worlds(name, backend, stored)
        prompt = prompt_of(world, name, case)
        logits, want, margins = expected(name, case, tuple(prompt.ids))
        assert worst(world.logits(prompt), logits) <= 1e-4
        assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
        agree(world.reply(prompt), want, margins)


@pytest.mark.parametrize("name", FAMILIES)
def test_names_and_keys_are_llamacpps(place: Callable[..., Path], name: str) -> None:
    file = read(name_beside(place(name, "gguf")))
    known = {
        f"{theirs.format(bid=i, xid=0)}.{part}"
        for theirs in (gguf.TENSOR_NAMES[one] for one in gguf.MODEL_TENSORS[gguf.MODEL_ARCH.MMPROJ])
        for i in range(8)
        for part in ("weight", "bias", "input_min", "input_max", "output_min", "output_max")
    } | {"v.class_embd", "v.token_embd.img_break", "v.std_bias", "v.std_scale"}
    assert every(tensor in known for tensor in file.tensors)
    classes = (gguf.Keys.Clip, gguf.Keys.ClipVision, gguf.Keys.ClipVision.Attention, gguf.Keys.ClipVision.Projector)
    keys = {value for one in classes for value in vars(one).values() if isinstance(value, str)}
    assert every(key in keys for key in file.metadata if key.startswith("clip."))


@pytest.mark.parametrize("name", FAMILIES)
def test_short_steps_and_the_prefix_cache_change_nothing(place: Callable[..., Path], name: str) -> None:
    world = SeeingWorld(place(name), "torch", prefill_chunk=5)
    try:
        prompt = prompt_of(world, name, "several")
        _, want, margins = expected(name, "several", tuple(prompt.ids))
        agree(world.reply(prompt), want, margins)
        agree(world.reply(prompt), want, margins)
    finally:
        world.engine.close()


@pytest.mark.parametrize("name", FAMILIES)
def test_a_chat_has_the_places_of_its_pictures(worlds: Callable[..., SeeingWorld], name: str) -> None:
    loaded = worlds(name, "torch").loaded
    assert loaded.vision is not None
    content = [{"type": "image", "image": drawn(20, 30)}, {"type": "text", "text": "Hm?"}]
    prompt = chat_prompt(loaded, [{"role": "user", "content": content}])
    assert prompt.positions is not None
    assert len(prompt.positions) == prompt.pictures[0].tokens
    assert {prompt.ids[at] for at in prompt.positions} <= set(loaded.vision.placeholder_ids)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["internvl", "mistral3", "smolvlm", "gemma4"])
def test_info_says_that_it_sees(place: Callable[..., Path], name: str) -> None:
    assert describe(str(place(name))).sees.startswith("images")


class TestLlamaCpp:
    """Pictures of sizes that need no scaling. llama.cpp's GELU looks values up in f16."""

    pytestmark = MARKS

    @pytest.mark.parametrize(("name", "side"), [("mistral3", 64), ("smolvlm", 96)])
    def test_its_text_is_ours(self, worlds: Callable[..., SeeingWorld], name: str, side: int) -> None:
        sees_alike(worlds(name, "torch", "gguf"), FAMILIES[name].place, drawn(side, side, 1))

    def test_internvls_text_is_ours_with_positions_in_its_order(
        self, place: Callable[..., Path], tmp_path: Path
    ) -> None:
        """llama.cpp puts the class token behind the patches and leaves the positions as they are, so that each patch has its neighbour's.
        It gets a file whose positions are moved along."""
        folder = shutil.copytree(place("internvl"), tmp_path / "moved")
        tensors = load_file(folder / "model.safetensors")
        (name,) = (name for name in tensors if name.endswith("position_embeddings"))
        tensors[name] = np.roll(tensors[name], -1, axis=1)
        save_file(tensors, folder / "model.safetensors")
        theirs = convert(folder, tmp_path / "moved.gguf")
        world = SeeingWorld(place("internvl", "gguf"), "torch")
        try:
            sees_alike(world, FAMILIES["internvl"].place, drawn(32, 32, 1), theirs)
        finally:
            world.engine.close()

    def test_gemma_4s_text_is_ours(self, place: Callable[..., Path], tmp_path: Path) -> None:
        """llama.cpp's pictures of Gemma 4 have as many tokens as published settings say. Its projector computes in f16."""
        folder = shutil.copytree(place("gemma4_large"), tmp_path / "large")
        settings = json.loads((folder / "processor_config.json").read_text())
        settings["image_processor"]["max_soft_tokens"] = 280
        (folder / "processor_config.json").write_text(json.dumps(settings))
        world = SeeingWorld(convert(folder, tmp_path / "large.gguf"), "torch")
        try:
            sees_alike(world, FAMILIES["gemma4_large"].place, drawn(128, 128, 1))
        finally:
            world.engine.close()

    @pytest.mark.parametrize("name", ["lfm2_vl", "lfm2_vl_moe"])
    def test_lfm2_vls_text_is_ours(self, place: Callable[..., Path], tmp_path: Path, name: str) -> None:
        """llama.cpp's pictures of LFM 2-VL have as many tokens, and tiles are as large, as published settings say."""
        folder = shutil.copytree(place(name), tmp_path / name)
        settings = json.loads((folder / "preprocessor_config.json").read_text())
        settings |= dict(min_image_tokens=64, max_image_tokens=256, tile_size=512, min_tiles=2, max_tiles=10)
        (folder / "preprocessor_config.json").write_text(json.dumps(settings))
        world = SeeingWorld(convert(folder, tmp_path / f"{name}.gguf"), "torch")
        try:
            sees_alike(world, FAMILIES[name].place, drawn(96, 80, 1))
        finally:
            world.engine.close()
