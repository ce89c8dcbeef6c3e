"""PaddleOCR-VL on both backends against the reference library: image features, positions in use, logits, greedy tokens.

One image, several of odd sizes packed together, and images beside a request of text alone in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Sampling, Segment, Slot
from engine.errors import ConfigError
from engine.models.encoder import Pieces
from engine.models.registry import find_architecture
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import survey
from tests.asserting import every
from tests.driver import Driver
from tests.reading_checkpoints import END, IMAGE, MERGE, PATCH, START, paddleocr_vl, save_paddleocr_vl

BACKENDS = ("torch", "mlx")
TEXT = [5, 17, 33, 41, 8, 9, 60, 3, 90]
GREEDY = 32
GRIDS = {"one": [(6, 4)], "wide": [(2, 14)], "several": [(6, 4), (2, 2), (4, 10), (2, 2)]}


@dataclass(frozen=True)
class Drawing:
    """A picture of random values."""

    patches: np.ndarray
    grid: tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """A prompt with pictures, and what the reference makes of it."""

    ids: list[int]
    pictures: list[Drawing]

    @property
    def places(self) -> list[int]:
        return [i for i, id in enumerate(self.ids) if id == IMAGE]

    def inputs(self) -> dict[str, Any]:
        import torch

        ids = torch.tensor([self.ids])
        given = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
        if self.pictures:
            given |= dict(
                pixel_values=torch.from_numpy(np.concatenate([p.patches for p in self.pictures])),
                image_grid_thw=torch.tensor([p.grid for p in self.pictures]),
                mm_token_type_ids=(ids == IMAGE).int(),
            )
        return given


@cache
def case(name: str) -> Case:
    random = np.random.default_rng(len(name))
    ids, pictures = list(TEXT), []
    for height, width in GRIDS.get(name, []):
        values = random.standard_normal((height * width, 3, PATCH, PATCH), np.float32)
        pictures.append(Drawing(values, (1, height, width)))
        ids += [START, *[IMAGE] * (height * width // MERGE**2), END, 11, 13]
    return Case(ids, pictures)


@cache
def expected(name: str) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, list[int], list[float]]:
    """Logits of the prompt, features, positions `[3, n]`, greedy tokens, and by how much each was the best."""
    import torch

    model, given = paddleocr_vl(), case(name).inputs()
    with torch.no_grad():
        logits = model(**given).logits[0].numpy()
        features, positions = [], np.broadcast_to(np.arange(len(case(name).ids)), (3, len(case(name).ids)))
        if case(name).pictures:
            found = model.get_image_features(given["pixel_values"], given["image_grid_thw"])
            features = [f.numpy() for f in found.pooler_output]
            positions = model.model.get_rope_index(
                given["input_ids"], given["mm_token_type_ids"], given["image_grid_thw"]
            )
            positions = positions[0][:, 0].numpy()
        out = model.generate(
            **given,
            max_new_tokens=GREEDY,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    margins = ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()
    return logits, features, positions, out.sequences[0, len(case(name).ids) :].tolist(), margins


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Driver]]:
    root = tmp_path_factory.mktemp("paddleocr")

    @cache
    def folder(spelling: str) -> Path:
        return save_paddleocr_vl(root / spelling, spelling)

    @cache
    def driver(backend: str, spelling: str = "published") -> Driver:
        return Driver(folder(spelling), backend)

    yield driver
    driver.cache_clear()


def run(work: Generator[None, None, list[np.ndarray]]) -> tuple[list[np.ndarray], int]:
    """The result, and how often it let others step in."""
    count = 0
    while True:
        try:
            next(work)
            count += 1
        except StopIteration as end:
            return end.value, count


def segment(driver: Driver, name: str, slot: Slot, **more: Any) -> Segment:
    given = case(name)
    if not given.pictures:
        return Segment(slot, given.ids, **more)
    ops = driver.backend.ops
    rows = ops.numpy(driver.model.embed(ops.array(np.array(given.ids, np.int32)))).copy()
    rows[given.places] = np.concatenate(run(driver.model.encode(given.pictures))[0])
    return Segment(slot, embeds=rows, pos=expected(name)[2].astype(np.int32), **more)


def greedy(driver: Driver, names: Sequence[str]) -> list[list[int]]:
    """Greedy tokens of several prompts in the same steps; what follows a prompt goes on from its largest position."""
    slots = [driver.kv.open(len(case(name).ids) + GREEDY) for name in names]
    first = [segment(driver, name, slot, sample=Sampling()) for name, slot in zip(names, slots)]
    behind = [int(expected(name)[2].max()) + 1 for name in names]
    tokens = driver.runner.run(first).read()
    out = [list(tokens[slot].ids) for slot in slots]
    while len(out[0]) < GREEDY:
        at = [np.full((3, 1), start + len(got) - 1, np.int32) for start, got in zip(behind, out)]
        segments = [Segment(slot, [got[-1]], pos=pos, sample=Sampling()) for slot, got, pos in zip(slots, out, at)]
        tokens = driver.runner.run(segments).read()
        for slot, got in zip(slots, out):
            got += tokens[slot].ids
    for slot in slots:
        driver.kv.close(slot)
    return out


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def same_tokens(got: list[int], name: str) -> None:
    want, margins = expected(name)[3:]
    assert len(set(want)) > 8, "the reference repeats itself, so this would prove little"
    if got != want:
        parted = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
        assert margins[parted] < 1e-5, f"token {parted}: {got[parted]}, expected {want[parted]}"


@pytest.mark.parametrize("backend", BACKENDS)
class TestParity:
    @pytest.mark.parametrize("name", GRIDS)
    def test_features(self, drivers: Callable[..., Driver], backend: str, name: str) -> None:
        got, _ = run(drivers(backend).model.encode(case(name).pictures))
        want = expected(name)[1]
        assert [f.shape for f in got] == [f.shape for f in want]
        assert every(f.dtype == np.float32 and worst(f, w) <= 1e-4 for f, w in zip(got, want))

    @pytest.mark.parametrize("name", [*GRIDS, "text"])
    def test_logits(self, drivers: Callable[..., Driver], backend: str, name: str) -> None:
        driver = drivers(backend)
        slot = driver.kv.open(len(case(name).ids))
        token = driver.runner.run([segment(driver, name, slot, want=range(len(case(name).ids)))]).read()[slot]
        driver.kv.close(slot)
        assert worst(token.logits, expected(name)[0]) <= 1e-4

    @pytest.mark.parametrize("name", GRIDS)
    def test_greedy_tokens(self, drivers: Callable[..., Driver], backend: str, name: str) -> None:
        same_tokens(greedy(drivers(backend), [name])[0], name)

    def test_beside_a_request_of_text_alone(self, drivers: Callable[..., Driver], backend: str) -> None:
        names = ["several", "text", "one"]
        for got, name in zip(greedy(drivers(backend), names), names):
            same_tokens(got, name)

    def test_the_libraries_own_spelling_is_the_same_model(self, drivers: Callable[..., Driver], backend: str) -> None:
        nested, flat = drivers(backend, "nested"), drivers(backend)
        assert np.array_equal(nested.logits(TEXT), flat.logits(TEXT))
        pictures = case("several").pictures
        for a, b in zip(run(nested.model.encode(pictures))[0], run(flat.model.encode(pictures))[0]):
            assert np.array_equal(a, b)

    def test_the_cuts_change_nothing(self, drivers: Callable[..., Driver], backend: str) -> None:
        """Small pieces: the same features, and many places to step in."""
        driver, pictures = drivers(backend), case("several").pictures
        encoder, ops = driver.model.encoder, driver.backend.ops
        whole, few = run(encoder(pictures, Pieces(ops, pause_after=0.0)))
        parts, many = run(encoder(pictures, Pieces(ops, piece=1.0, pause_after=0.0)))
        assert many > few > 8
        assert every(worst(a, b) <= 1e-5 for a, b in zip(parts, whole))


def test_what_training_left_behind_is_ignored(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = save_paddleocr_vl(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    extra = ("embeddings.packing_position_embedding.weight", "head.probe", "head.mlp.fc1.weight")
    tensors |= {f"visual.vision_model.{name}": np.zeros((2, 2), np.float32) for name in extra}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert not problems(folder)


def test_wrong_tensors_are_named(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = save_paddleocr_vl(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    tensors["mlp_AR.linear_3.weight"] = tensors.pop("mlp_AR.linear_2.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert {(p.kind, p.tensor) for p in problems(folder)} == {
        ("missing", "mlp_AR.linear_2.weight"),
        ("unexpected", "mlp_AR.linear_3.weight"),
    }


def test_a_rope_without_its_section_is_the_usual_one_or_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(save_paddleocr_vl(tmp_path))
    make = find_architecture(checkpoint.config, "x")
    bare = dict(checkpoint.config, rope_scaling=None)
    with pytest.raises(ConfigError, match="mrope_section"):
        survey(lambda view: make(view, bare), checkpoint)
    made = []
    survey(lambda view: made.append(make(view, bare | {"head_dim": 128})), checkpoint)
    assert [rope.section for rope in made[0].ropes] == [(16, 24, 24)]


def problems(folder: Path) -> Sequence[Any]:
    checkpoint = Checkpoint.open(folder)
    make = find_architecture(checkpoint.config, folder.name)
    return survey(lambda view: make(view, checkpoint.config), checkpoint).problems


@pytest.mark.parametrize(
    ("field", "value"), [("hidden_act", "relu"), ("num_attention_heads", 5), ("patch_size", "big")]
)
def test_an_impossible_encoder_is_refused(tmp_path: Path, field: str, value: object) -> None:
    checkpoint = Checkpoint.open(save_paddleocr_vl(tmp_path))
    config = dict(checkpoint.config, vision_config=dict(checkpoint.config["vision_config"], **{field: value}))
    make = find_architecture(config, "x")
    with pytest.raises(ConfigError, match=field if field != "num_attention_heads" else "heads"):
        survey(lambda view: make(view, config), checkpoint)
