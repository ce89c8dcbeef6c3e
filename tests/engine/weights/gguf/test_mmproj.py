"""`mmproj` files: what is written has llama.cpp's names and keys, and sees as the folder does that it was made of."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import gguf
import numpy as np
import pytest
from PIL import Image

from backends.base import Segment
from engine.errors import BadRequest, ConfigError, UnsupportedArchitecture
from engine.model_files import open_model
from engine.types import Result
from engine.weights.convert import convert
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.encode import encode
from engine.weights.gguf.mmproj import open_mmproj
from engine.weights.gguf.mmproj_files import by_preference, name_beside
from engine.weights.gguf.reader import read
from engine.weights.gguf.writer import Plan, write
from tests.asserting import every
from tests.checkpoints import save as save_text
from tests.engine.models.test_parity import worst
from tests.engine.models.test_vision_checkpoints import loaded_features
from tests.engine.models.test_vision_parity import World, agree, expected
from tests.engine.vision.pictures import drawn
from tests.engine.weights.gguf.test_export import plain
from tests.llamacpp_peer import MARKS, PLACE, REPLY, LlamaCpp
from tests.vision_checkpoints import MODELS, save

BACKENDS = ("torch", "mlx")
CASE = "several"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("mmproj")

    @cache
    def file(name: str) -> Path:
        return convert(save(name, root / name), root / f"{name}.gguf")

    return file


@pytest.fixture(scope="module")
def worlds(files: Callable[[str], Path]) -> Iterator[Callable[[str, str], World]]:
    made: list[World] = []

    @cache
    def world(name: str, backend: str) -> World:
        made.append(World(files(name), backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_logits_and_tokens_are_the_references(worlds: Callable[..., World], name: str, backend: str) -> None:
    world = worlds(name, backend)
    prompt = world.prompt(CASE)
    logits, want, margins = expected(name, CASE, prompt)
    features = np.concatenate(world.encode(prompt.pictures))
    assert worst(world.logits(prompt, features), logits) <= 1e-4
    result = world.engine.batch([prompt.request(world.name)])[0]
    assert isinstance(result, Result)
    agree(list(result.ids), want, margins)


@pytest.mark.parametrize("name", MODELS)
def test_names_and_keys_are_llamacpps(files: Callable[[str], Path], name: str) -> None:
    file = read(name_beside(files(name)))
    layers = range(8)
    known = {
        f"{theirs.format(bid=i, xid=0)}.{part}"
        for theirs in (gguf.TENSOR_NAMES[one] for one in gguf.MODEL_TENSORS[gguf.MODEL_ARCH.MMPROJ])
        for i in layers
        for part in ("weight", "bias", "weight.1")
    }
    assert every(tensor in known for tensor in file.tensors)
    classes = (gguf.Keys.Clip, gguf.Keys.ClipVision, gguf.Keys.ClipVision.Attention, gguf.Keys.ClipVision.Projector)
    keys = {value for one in classes for value in vars(one).values() if isinstance(value, str)}
    assert every(key in keys for key in file.metadata if key.startswith("clip."))
    assert file.metadata["general.architecture"] == gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.MMPROJ]
    assert file.metadata["clip.projector_type"] in {
        value for key, value in vars(gguf.VisionProjectorType).items() if key.isupper()
    }


def test_a_file_without_its_encoder_reads_text(files: Callable[[str], Path], tmp_path: Path) -> None:
    text = shutil.copy(files("qwen3_vl"), tmp_path / "vl.gguf")
    assert open_model(text).config["model_type"] == "qwen3"
    assert "vision_config" not in open_model(files("qwen3_vl"), mmproj="none").config
    named = open_model(text, mmproj=str(name_beside(files("qwen3_vl"))))
    assert named.config["model_type"] == "qwen3_vl"
    assert named.nbytes > open_model(text).nbytes


def test_only_an_encoder_that_fits_is_taken(files: Callable[[str], Path], tmp_path: Path) -> None:
    """One of another model may lie in the same folder, and so may anything under such a name."""
    text = convert(save_text("qwen3", tmp_path / "folder"), tmp_path / "text.gguf")
    other = shutil.copy(name_beside(files("qwen3_vl")), tmp_path / "mmproj-F16.gguf")
    (tmp_path / "mmproj-damaged.gguf").write_bytes(b"GGUF")
    assert "vision_config" not in open_model(text).config
    with pytest.raises(ConfigError, match="not for `qwen3`"):
        open_model(text, mmproj=str(other))
    with pytest.raises(ConfigError, match="no mmproj file"):
        open_model(text, mmproj=str(text))
    with pytest.raises(ConfigError, match="no GGUF file"):
        open_model(tmp_path / "folder", mmproj=str(other))
    write(tmp_path / "new.gguf", {"general.architecture": "clip", "clip.projector_type": "of-tomorrow"}, [])
    with pytest.raises(UnsupportedArchitecture, match="of-tomorrow"):
        open_mmproj(tmp_path / "new.gguf")


def test_a_folder_of_two_files_is_one_model(files: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copy(files("qwen3_5"), tmp_path / "m.gguf")
    shutil.copy(name_beside(files("qwen3_5")), tmp_path / "mmproj-model-f32.gguf")
    assert open_model(tmp_path).config["model_type"] == "qwen3_5"


def test_the_likeliest_of_several_comes_first() -> None:
    names = ["mmproj-F32.gguf", "mmproj-BF16.gguf", "mmproj-b-F16.gguf", "mmproj-a.gguf", "b.gguf", "x/mmproj-a.gguf"]
    assert by_preference(names, "a.gguf")[0] == "mmproj-a.gguf"
    assert by_preference(names, "c-Q8_0.gguf")[0] in ("mmproj-BF16.gguf", "mmproj-a.gguf")
    assert by_preference(names, "x/c.gguf")[0] == "x/mmproj-a.gguf"
    assert "x/mmproj-a.gguf" not in by_preference(names, "a.gguf")


def test_nothing_is_written_over_another_encoder(files: Callable[[str], Path], tmp_path: Path) -> None:
    name_beside(tmp_path / "m.gguf").write_bytes(b"")
    with pytest.raises(BadRequest, match=r"mmproj-m\.gguf is there already"):
        convert(files("qwen3_vl").with_suffix(""), tmp_path / "m.gguf")


def test_matrices_in_blocks_are_read_as_well(files: Callable[[str], Path], tmp_path: Path) -> None:
    """Published encoders come in Q8_0, too."""
    source, plans = read(name_beside(files("qwen3_vl"))), []
    for name, raw in source.tensors.items():
        rows = dequantize(raw).reshape(-1, raw.shape[-1])
        kind = "Q8_0" if ".attn_qkv.weight" in name else "F32"
        plans.append(
            Plan(name, kind, raw.shape, partial(lambda rows, kind: [encode(rows, kind).tobytes()], rows, kind))
        )
    given = {key: plain(value) for key, value in source.metadata.items()}
    flags = "clip.vision.is_deepstack_layers"
    text = shutil.copy(files("qwen3_vl"), tmp_path / "m.gguf")
    write(tmp_path / "mmproj.gguf", given | {flags: [bool(flag) for flag in given[flags]]}, plans)
    got, want = loaded_features(text), loaded_features(files("qwen3_vl"))
    assert 1e-5 < worst(got, want) < 0.05


class TestLlamaCpp:
    """Pictures of sizes that need no scaling, with text around each. llama.cpp's GELU looks values up in f16."""

    pytestmark = MARKS

    @pytest.mark.parametrize("name", [name for name in MODELS if name != "qwen2_5_vl"])
    def test_its_text_is_ours(self, worlds: Callable[..., World], files: Callable[[str], Path], name: str) -> None:
        compare(worlds(name, "torch"), [drawn(32, 24), drawn(48, 48, 1)])

    def test_windows_are_ours(self, files: Callable[[str], Path], tmp_path: Path) -> None:
        """llama.cpp's are of 112 pixels, whatever a file says: one picture is wider, and one higher."""
        folder = shutil.copytree(files("qwen2_5_vl").with_suffix(""), tmp_path / "wide")
        config, image = folder / "config.json", folder / "preprocessor_config.json"
        given = json.loads(config.read_text())
        given["vision_config"]["window_size"] = 112
        config.write_text(json.dumps(given))
        size = {"shortest_edge": 512, "longest_edge": 1 << 16}
        image.write_text(json.dumps(json.loads(image.read_text()) | {"size": size}))
        world = World(convert(folder, tmp_path / "wide.gguf"), "torch")
        try:
            compare(world, [drawn(136, 48), drawn(40, 120, 1)])
        finally:
            world.engine.close()


def compare(world: World, pictures: list[Image.Image]) -> None:
    text = "Hello one @ and another @ then: what is it?"
    file = Path(world.name)
    theirs = LlamaCpp(file, name_beside(file))
    wants = [theirs.see(text.replace("@", PLACE), pictures)]
    for _ in range(REPLY - 1):
        wants.append(theirs.step([int(wants[-1].argmax())]))
    theirs.close()
    for got, want in zip(replies(world, text, pictures, wants), wants, strict=True):
        assert np.linalg.norm(got - want) <= 3e-3 * np.linalg.norm(want)
        assert got.argmax() == want.argmax()


def replies(world: World, text: str, pictures: list[Image.Image], wants: list[np.ndarray]) -> list[np.ndarray]:
    """Our logits along llama.cpp's greedy reply."""
    loaded = world.loaded
    assert loaded.vision is not None
    seen = [loaded.vision.prepare(picture) for picture in pictures]
    shown = text.replace("@", "<|vision_start|><|image_pad|><|vision_end|>")
    ids, positions = loaded.vision.expand(loaded.tokenizer.encode(shown, add_special=False), seen)
    rope, features = loaded.vision.rope(ids, seen), np.concatenate(world.encode(seen))

    def work(model: object) -> Iterator[None]:
        slot = loaded.kv.open(len(ids) + REPLY)
        assert slot is not None
        places, at, used, found = set(positions.tolist()), 0, 0, []
        while at < len(ids):
            stop = next((i for i in range(at + 1, len(ids)) if (i in places) != (at in places)), len(ids))
            segment = Segment(slot, pos=rope[:, at:stop], want=range(stop - at - 1, stop - at))
            if at in places:
                segment.embeds = features[used : used + stop - at]
                used += stop - at
            else:
                segment.ids = ids[at:stop]
            last = loaded.runner.run([segment]).read()[slot].logits
            at = stop
        assert last is not None
        found.append(last[-1])
        for i, want in enumerate(wants[:-1]):
            pos = np.full((3, 1), rope.max() + 1 + i)
            step = Segment(slot, [int(want.argmax())], pos=pos, want=range(1))
            logits = loaded.runner.run([step]).read()[slot].logits
            assert logits is not None
            found.append(logits[-1])
            yield
        loaded.kv.close(slot)
        return found  # type: ignore[return-value]

    return world.engine.task(world.name, work).result(120)  # type: ignore[arg-type, return-value]
