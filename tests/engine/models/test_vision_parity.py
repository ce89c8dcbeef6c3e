"""Vision models on both backends against the reference library: features, positions, logits and greedy tokens.

The reference gets the pixel values of its own processor. Prompts hold one image, several, images of odd sizes, and a
video beside an image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backends.base import Segment
from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load
from engine.models.encoder import Pieces
from engine.types import Picture, Request, Result, SamplingParams
from engine.vision.processor import VisionProcessor
from tests.engine.models.test_parity import worst
from tests.engine.vision.pictures import drawn
from tests.vision_checkpoints import END, IMAGE, LEAST, MODELS, MOST, PATCH, PREPROCESSOR, START, VIDEO, reference, save

BACKENDS = ("torch", "mlx")
GREEDY = 32


@dataclass(frozen=True)
class Case:
    images: tuple[tuple[int, int], ...] = ()
    frames: int = 0

    def drawn(self) -> list[Image.Image]:
        return [drawn(*size, seed) for seed, size in enumerate(self.images)]

    @property
    def ids(self) -> list[int]:
        """Text around every image, as a template writes it; the video comes first."""
        ids = [5, 17, 33]
        if self.frames:
            ids += [START, VIDEO, END, 8]
        for i in range(len(self.images)):
            ids += [START, IMAGE, END, 90 + i, 7]
        return [*ids, 11, 200, 13]


CASES = {
    "one": Case(((48, 32),)),
    "several": Case(((40, 40), (16, 64), (64, 24))),
    "odd": Case(((33, 51), (7, 5), (1, 1), (301, 17))),
    "video": Case(((40, 24),), frames=5),
    "text": Case(),
}


class Prompt:
    """A case as a model's sight makes it."""

    def __init__(self, vision: VisionProcessor, case: Case) -> None:
        clips: list[Picture] = []
        if case.frames:
            clips = [vision.video([drawn(24, 32, 50 + i) for i in range(case.frames)])]
        self.images = [vision.prepare(image) for image in case.drawn()]
        self.clips, self.pictures = clips, [*clips, *self.images]
        self.ids, self.positions = vision.expand(case.ids, self.pictures)
        self.rope = vision.rope(self.ids, self.pictures)

    def request(self, model: str, n: int = GREEDY) -> Request:
        greedy = SamplingParams(temperature=0.0, max_tokens=n, ignore_eos=True)
        seen: dict[str, Any] = {}
        if self.pictures:
            seen = dict(pictures=self.pictures, positions=self.positions, rope=self.rope)
        return Request(model, self.ids, greedy, **seen)


_prompts: dict[tuple[str, str], Prompt] = {}  # by model and case: both backends take the same


class World:
    """One model on one backend, with an engine."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.name = str(folder)

        def make(name: str) -> LoadedModel:
            self.loaded = load(name, LoadOptions(backend=backend, device="cpu", dtype="f32", memory_limit=1 << 30))
            return self.loaded

        self.engine = Engine(make)
        self.engine.load(self.name)

    def prompt(self, case: str) -> Prompt:
        key = Path(self.name).name, case
        if key not in _prompts:
            assert self.loaded.vision is not None
            _prompts[key] = Prompt(self.loaded.vision, CASES[case])
        return _prompts[key]

    def encode(self, pictures: list[Picture]) -> list[np.ndarray]:
        def work(loaded: LoadedModel) -> Any:
            return (yield from loaded.model.encode(pictures))

        return self.engine.task(self.name, work).result(60)

    def logits(self, prompt: Prompt, features: np.ndarray | None) -> np.ndarray:
        """Of every position, text as ids and places as features, each run a step of its own."""
        seen = set(prompt.positions.tolist())
        ends = [i for i in range(1, len(prompt.ids)) if (i in seen) != (i - 1 in seen)]

        def work(loaded: LoadedModel) -> Any:
            slot = loaded.kv.open(len(prompt.ids))
            assert slot is not None
            rows, used = [], 0
            for start, stop in zip([0, *ends], [*ends, len(prompt.ids)]):
                segment = Segment(slot, pos=prompt.rope[:, start:stop], want=range(stop - start))
                if start in seen:
                    assert features is not None
                    segment.embeds = features[used : used + stop - start]
                    used += stop - start
                else:
                    segment.ids = prompt.ids[start:stop]
                rows.append(loaded.runner.run([segment]).read()[slot].logits)
                yield
            loaded.kv.close(slot)
            return np.concatenate(rows)

        return self.engine.task(self.name, work).result(60)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], World]]:
    root = tmp_path_factory.mktemp("vision")
    made: list[World] = []

    @cache
    def folder(name: str) -> Path:
        return save(name, root / name)

    @cache
    def world(name: str, backend: str) -> World:
        made.append(World(folder(name), backend))
        return made[-1]

    yield world
    for one in made:
        one.engine.close()


def reference_inputs(prompt: Prompt, case: Case) -> dict[str, Any]:
    import torch
    import transformers

    ids = torch.tensor([prompt.ids])
    out: dict[str, Any] = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    out["mm_token_type_ids"] = (ids == IMAGE).int() + 2 * (ids == VIDEO).int()
    if case.images:
        kept = {k: v for k, v in PREPROCESSOR.items() if k != "image_processor_type"}
        seen = transformers.Qwen2VLImageProcessorPil(**kept)(images=case.drawn(), return_tensors="pt")
        out |= dict(pixel_values=seen["pixel_values"], image_grid_thw=seen["image_grid_thw"])
    if prompt.clips:
        out["pixel_values_videos"] = torch.from_numpy(prompt.clips[0].patches)
        out["video_grid_thw"] = torch.tensor([prompt.clips[0].grid])
    return out


@cache
def expected(name: str, case: str, prompt: Prompt) -> tuple[np.ndarray, list[int], list[float]]:
    """Logits of the prompt; greedy tokens, and by how much each beat the second best, relative to the scale."""
    import torch

    model, inputs = reference(name), reference_inputs(prompt, CASES[case])
    model.model.rope_deltas = None  # it remembers the last prompt's, even for one without images
    with torch.no_grad():
        logits = model(**inputs).logits[0].numpy()
        out = model.generate(
            **inputs,
            max_new_tokens=GREEDY,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    margins = ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()
    return logits, out.sequences[0, len(prompt.ids) :].tolist(), margins


def agree(got: list[int], want: list[int], margins: list[float]) -> None:
    if got != want:
        parted = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
        assert margins[parted] < 1e-5, f"token {parted}: {got[parted]}, expected {want[parted]}"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
class TestParity:
    @pytest.mark.parametrize("case", [case for case in CASES if case != "text"])
    def test_features(self, worlds: Callable[..., World], name: str, backend: str, case: str) -> None:
        import torch

        world = worlds(name, backend)
        prompt = world.prompt(case)
        with torch.no_grad():
            for pictures in filter(None, (prompt.images, prompt.clips)):
                patches = torch.from_numpy(np.concatenate([picture.patches for picture in pictures]))
                grids = torch.tensor([picture.grid for picture in pictures])
                seen = reference(name).model.get_image_features(patches, grids)
                deep = getattr(seen, "deepstack_features", None) or []
                want = torch.cat([torch.cat(rows) for rows in (seen.pooler_output, *deep)], dim=1)
                got = world.encode(pictures)
                assert [len(rows) for rows in got] == [picture.tokens for picture in pictures]
                assert worst(np.concatenate(got), want.numpy()) <= 1e-4

    @pytest.mark.parametrize("case", CASES)
    def test_positions_and_logits(self, worlds: Callable[..., World], name: str, backend: str, case: str) -> None:
        import torch

        world = worlds(name, backend)
        prompt = world.prompt(case)
        inputs = reference_inputs(prompt, CASES[case])
        index = reference(name).model.get_rope_index(
            torch.tensor([prompt.ids]),
            inputs["mm_token_type_ids"],
            inputs.get("image_grid_thw"),
            inputs.get("video_grid_thw"),
        )
        assert np.array_equal(prompt.rope, index[0][:, 0].numpy())
        features = np.concatenate(world.encode(prompt.pictures)) if prompt.pictures else None
        assert worst(world.logits(prompt, features), expected(name, case, prompt)[0]) <= 1e-4

    def test_greedy_tokens_of_requests_that_run_together(
        self, worlds: Callable[..., World], name: str, backend: str
    ) -> None:
        world = worlds(name, backend)
        prompts = {case: world.prompt(case) for case in CASES}
        results = world.engine.batch([prompt.request(world.name) for prompt in prompts.values()])
        for (case, prompt), result in zip(prompts.items(), results):
            assert isinstance(result, Result), result
            _, want, margins = expected(name, case, prompt)
            assert len(set(want)) > 5, "the reference repeats itself, so this would prove little"
            agree(list(result.ids), want, margins)

    def test_work_that_is_cut_small_gives_the_same(self, worlds: Callable[..., World], name: str, backend: str) -> None:
        world = worlds(name, backend)
        prompt = world.prompt("odd")

        def work(loaded: LoadedModel) -> Any:
            pieces = Pieces(loaded.backend.ops, piece=1.0, pause_after=0.0)
            running, pauses = loaded.model.tower(prompt.pictures, pieces), 0
            while True:
                try:
                    next(running)
                except StopIteration as end:
                    return end.value, pauses
                pauses += 1
                yield

        rows, pauses = world.engine.task(world.name, work).result(60)
        layers, pictures = 3, len(prompt.pictures)
        assert pauses > layers * (2 + pictures), "every matrix and every picture's attention ends in a pause"
        assert worst(np.concatenate(rows), np.concatenate(world.encode(prompt.pictures))) <= 1e-5


def test_the_cases_are_as_odd_as_they_say(worlds: Callable[..., World]) -> None:
    grids = [picture.grid for picture in worlds("qwen3_vl", "torch").prompt("odd").pictures]
    assert len(set(grids)) == len(grids)
    areas = [h * w * PATCH**2 for _, h, w in grids]
    assert min(areas) >= LEAST
    assert max(areas) <= MOST
