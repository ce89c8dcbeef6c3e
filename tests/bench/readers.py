"""Readers that are compared, here and in the reference library: of page regions (PaddleOCR-VL, GLM-OCR), and of lines (PP-OCRv6)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.peers import Reference

GRID = (1, 20, 40)  # a region of 800 patches
PLACES = GRID[1] * GRID[2] // 4
IMAGE, START, END = 100295, 101305, 101306
PROMPT = [1, 2969, 93963, 93919, START, *[IMAGE] * PLACES, END, 9945, 93972, 23, 92267, 93963, 93919]


def patches(seed: int) -> np.ndarray:
    """Of an image with slopes and noise, in the range of normalized pixels."""
    random = np.random.default_rng(seed)
    slope = np.linspace(-1, 1, GRID[1] * GRID[2], dtype=np.float32).reshape(-1, 1, 1, 1)
    noise = random.standard_normal((GRID[1] * GRID[2], 3, 14, 14), np.float32)
    return np.clip(slope + 0.5 * noise, -1, 1)


class Region:
    def __init__(self, patches: np.ndarray) -> None:
        self.patches, self.grid = patches, GRID


class GrusReader:
    """Ours, without the engine: encoder, decoder and runner. `dtype` is f32, or what to quantize the weights to."""

    image, prompt = IMAGE, PROMPT

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        from engine.loading import LoadOptions, load

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        quant = "none" if dtype == "f32" else dtype
        loaded = load(folder, LoadOptions(backend="torch", device="cpu", dtype="f32", quant=quant))
        self.model, self.kv, self.runner, self.ops = loaded.model, loaded.kv, loaded.runner, loaded.backend.ops
        self.features_of_one: np.ndarray | None = None

    def prefill(self, n: int) -> float:
        """Of text, once, so that everything is warm."""
        from backends.base import Sampling, Segment

        slot = self.kv.open(n)
        assert slot is not None
        began = time.perf_counter()
        self.runner.run([Segment(slot, list(range(5, 5 + n)), sample=Sampling())]).read()
        took = time.perf_counter() - began
        self.kv.close(slot)
        return took

    def region(self, seed: int) -> Any:
        return Region(patches(seed))

    def _encoded(self, regions: int) -> list[np.ndarray]:
        work = self.model.encode([self.region(i) for i in range(regions)])
        while True:
            try:
                next(work)
            except StopIteration as end:
                made: list[np.ndarray] = end.value
                return made

    def encode(self) -> float:
        began = time.perf_counter()
        self._encoded(1)
        return time.perf_counter() - began

    def pause(self) -> float:
        """The longest time without letting others in."""
        work, longest, last = self.model.encode([self.region(0)]), 0.0, time.perf_counter()
        for _ in work:
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        return max(longest, time.perf_counter() - last)

    def features(self, path: str) -> None:
        np.save(path, self._encoded(1)[0])

    def read(self) -> float:
        """Encoding, the prompt, and the first token."""
        began = time.perf_counter()
        slot = self._started(self._encoded(1)[0], 1)
        took = time.perf_counter() - began
        self.kv.close(slot)
        return took

    def _started(self, features: np.ndarray, room: int) -> Any:
        from backends.base import Sampling, Segment
        from engine.vision.processor import rope_positions

        slot = self.kv.open(len(self.prompt) + room)
        rows = np.array(self.ops.numpy(self.model.embed(self.ops.array(np.array(self.prompt, np.int32)))))
        first = self.prompt.index(self.image)
        rows[first : first + PLACES] = features
        self.behind = rope_positions(len(self.prompt), [(first, (GRID[1] // 2, GRID[2] // 2))])
        self.runner.run([Segment(slot, embeds=rows, pos=self.behind.astype(np.int32), sample=Sampling())]).read()
        return slot

    def decode(self, n: int, batch: int) -> float:
        """Seconds a step."""
        from backends.base import Sampling, Segment

        if self.features_of_one is None:
            (self.features_of_one,) = self._encoded(1)
        slots = [self._started(self.features_of_one, n) for _ in range(batch)]
        start = int(self.behind.max()) + 1
        began = time.perf_counter()
        for i in range(n):
            place = np.full((3, 1), start + i, np.int32)
            self.runner.run([Segment(slot, pos=place, sample=Sampling()) for slot in slots]).read()
        took = time.perf_counter() - began
        for slot in slots:
            self.kv.close(slot)
        return took / n


class TransformersReader(Reference):
    kind = "PaddleOCRVLForConditionalGeneration"

    def prefill(self, n: int) -> float:
        began = time.perf_counter()
        self.model(self.torch.arange(5, 5 + n)[None], use_cache=True, logits_to_keep=1)
        return time.perf_counter() - began

    def _inputs(self) -> dict[str, Any]:
        torch, ids = self.torch, self.torch.tensor([PROMPT])
        return dict(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            pixel_values=torch.from_numpy(patches(0)),
            image_grid_thw=torch.tensor([GRID]),
            mm_token_type_ids=(ids == IMAGE).int(),
        )

    def encode(self) -> float:
        given = self._inputs()
        began = time.perf_counter()
        self.model.get_image_features(given["pixel_values"], given["image_grid_thw"])
        return time.perf_counter() - began

    def features(self, path: str) -> None:
        given = self._inputs()
        found = self.model.get_image_features(given["pixel_values"], given["image_grid_thw"])
        np.save(path, found.pooler_output[0].numpy())

    def read(self) -> float:
        given = self._inputs()
        began = time.perf_counter()
        self.model(**given, use_cache=True, logits_to_keep=1).logits.argmax(-1)
        return time.perf_counter() - began

    def decode(self, n: int, batch: int) -> float:
        """Seconds a step, behind a prompt of the same length, but of text: a step costs the same."""
        ids = self.torch.arange(5, 5 + len(PROMPT))[None].expand(batch, -1)
        out = self.model(ids, use_cache=True, logits_to_keep=1)
        token = out.logits[:, -1:].argmax(-1)
        began = time.perf_counter()
        for _ in range(n):
            out = self.model(token, past_key_values=out.past_key_values, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        return (time.perf_counter() - began) / n


GLM_IMAGE = 59280
GLM_PROMPT = [59248, 59250, 59253, 59256, *[GLM_IMAGE] * PLACES, 59257, 3, 4, 5, 59254]


class GrusGlm(GrusReader):
    image, prompt = GLM_IMAGE, GLM_PROMPT

    def region(self, seed: int) -> Any:
        """Each patch twice, as one in two frames."""
        return Region(np.repeat(patches(seed)[:, :, None], 2, axis=2).reshape(GRID[1] * GRID[2], -1))


class TransformersGlm(TransformersReader):
    kind = "GlmOcrForConditionalGeneration"


PAGE, LINE = (960, 704), (48, 320)  # pixels of a page as the detector sees it, and of a line


def pixels(count: int, size: tuple[int, int]) -> np.ndarray:
    """Images with dark strokes and noise, `[count, height, width, 3]`."""
    random = np.random.default_rng(3)
    strokes = random.random((count, size[0] // 8, size[1] // 8, 1)).repeat(8, 1).repeat(8, 2) > 0.7
    noise = random.standard_normal((count, *size, 3), np.float32)
    return (0.1 * noise + np.where(strokes, -1.5, 1.5)).astype(np.float32)


class GrusLines:
    """The detector or the recognizer of PP-OCRv6, without the engine. `dtype`: `auto` may round convolutions to bf16."""

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        from engine.loading import LoadOptions, load_any

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self.model: Any = load_any(folder, LoadOptions(backend="torch", device="cpu", dtype=dtype)).model
        self.detects = getattr(self.model, "finds_text_lines", False)

    def prefill(self, n: int) -> float:
        """A small image, so that everything is warm."""
        return self._seconds(pixels(1, (LINE[0] // 32 * 64, 64)))

    def images(self, count: int) -> float:
        """Seconds for pages one by one, or for lines together."""
        return self._seconds(pixels(count, PAGE if self.detects else LINE))

    def found(self, path: str) -> None:
        """The map of a page, or how likely each line's best characters are."""
        given = pixels(1, PAGE if self.detects else LINE)
        np.save(path, self._run(given[0]) if self.detects else self._run(given)[1])

    def _seconds(self, given: np.ndarray) -> float:
        began = time.perf_counter()
        if self.detects:
            for image in given:
                self._run(image)
        else:
            self._run(given)
        return time.perf_counter() - began

    def _run(self, given: np.ndarray) -> Any:
        work = self.model.likely(given)
        while True:
            try:
                next(work)
            except StopIteration as end:
                return end.value


class TransformersLines(GrusLines):
    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        import torch
        import transformers

        torch.set_grad_enabled(False)
        self.torch = torch
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        name = json.loads((Path(folder) / "config.json").read_text())["architectures"][0]
        self.detects = "Det" in name
        self.model = getattr(transformers, name).from_pretrained(folder).eval()

    def _run(self, given: np.ndarray) -> Any:
        batch = given[None] if self.detects else given
        made = self.model(self.torch.from_numpy(batch).permute(0, 3, 1, 2).contiguous()).last_hidden_state
        if self.detects:
            return made[0, 0].numpy()
        chances, ids = made.max(-1)
        return ids.numpy(), chances.numpy()
