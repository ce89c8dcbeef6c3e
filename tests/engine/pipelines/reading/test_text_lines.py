"""A detector and a recognizer of lines: boxes from a map of text, regions from boxes, characters from columns, and real tiny models."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.runtime.reading import ReadingModels
from engine.errors import BadRequest, ConfigError
from engine.loading import LoadOptions
from engine.models.config import Fields
from engine.pipelines.reading.reader import DocumentReader, PageRead
from engine.pipelines.reading.recognizer import Crop
from engine.pipelines.reading.session import ReadOptions
from engine.pipelines.reading.text_lines import LineRecognizer, lines_in_map
from engine.vision.pp_ocr import DetectorImages, LineImages, bilinear, boxes_in, connected
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.engine.vision.pictures import drawn
from tests.ppocr_checkpoints import CHARACTERS, save

OPTIONS: dict[str, Any] = {"device": "cpu", "dtype": "f32"}


def test_pixels_that_touch_are_one_group() -> None:
    mask = np.zeros((6, 12), bool)
    mask[0, 0] = mask[1, 1] = True  # by a corner
    mask[0, 4:6] = mask[2, 4:6] = mask[0:3, 6] = True  # two arms, joined behind
    mask[4, 9:12] = True
    mask[5, 0] = True
    assert sorted(connected(mask)) == [(0, 2, 0, 2), (0, 3, 4, 7), (4, 5, 9, 12), (5, 6, 0, 1)]
    assert connected(np.zeros((3, 3), bool)) == []


def test_boxes_grow_by_their_area_over_their_outline() -> None:
    likely = np.zeros((64, 128), np.float32)
    likely[10:20, 20:60] = 0.9
    likely[40:50, 20:60] = 0.5  # likely enough as pixels, not as a box
    likely[60, 100:120] = 0.9  # too thin
    (box,) = boxes_in(likely, 256, 64)
    grow = 10 * 40 * 1.5 / (2 * (10 + 40))
    assert (box.left, box.right) == pytest.approx(((20 - grow) * 2, (60 + grow) * 2))
    assert (box.top, box.bottom) == pytest.approx((10 - grow, 20 + grow))
    assert box.score == pytest.approx(0.9)


def test_boxes_become_columns_and_headings() -> None:
    likely = np.zeros((400, 640), np.float32)
    likely[20:44, 40:360] = 0.95
    for row in range(6):
        for left in (40, 360):
            likely[80 + 24 * row : 90 + 24 * row, left : left + 240] = 0.95
    found = lines_in_map(Image.new("RGB", (1280, 800), "white"), likely)
    assert [region.label for region in found.regions] == ["heading", "text", "text"]
    heading, first, second = found.regions
    assert heading.box.bottom < first.box.top
    assert first.box.right < second.box.left
    assert len(first.lines) == len(second.lines) == 6
    line = first.lines[0]
    assert line.left < 80 < 560 < line.right
    assert line.top < 160 < 180 < line.bottom
    empty = lines_in_map(Image.new("RGB", (64, 64), "white"), np.zeros((32, 32), np.float32))
    assert empty.regions == ()


@pytest.mark.parametrize(
    ("settings", "page", "size"),
    [
        ({}, (1654, 2339), (960, 672)),
        ({}, (300, 100), (96, 288)),
        ({"limit_type": "min", "limit_side_len": 736}, (300, 100), (736, 2208)),
        ({"limit_type": "min", "limit_side_len": 736, "max_side_limit": 1000}, (300, 100), (320, 992)),
        ({"limit_type": "resize_long", "limit_side_len": 640}, (320, 100), (192, 640)),
        ({}, (3, 5), (32, 32)),
    ],
)
def test_the_size_that_a_detector_sees(
    tmp_path: Path, settings: dict[str, Any], page: tuple[int, int], size: tuple[int, int]
) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    images = DetectorImages(Fields({}), tmp_path)
    assert images.size(page[1], page[0]) == size
    pixels = images.prepare(Image.new("RGB", page, (255, 0, 0)))
    assert pixels.shape == (*size, 3)
    assert pixels[0, 0] == pytest.approx([(0 - 0.485) / 0.229, (0 - 0.456) / 0.224, (1 - 0.406) / 0.225], abs=1e-5)


@pytest.mark.parametrize(("height", "width"), [(48, 100), (20, 31), (48, 7), (1, 1)])
def test_lines_are_scaled_as_by_torch(height: int, width: int) -> None:
    import torch

    image = np.asarray(drawn(90, 30))
    want = torch.nn.functional.interpolate(
        torch.from_numpy(image.copy()).permute(2, 0, 1)[None].float(), size=(height, width), mode="bilinear"
    )[0]
    got = bilinear(image, height, width).astype(np.float32)
    assert np.abs(got - want.permute(1, 2, 0).numpy()).max() <= 0.5 + 1e-3


class TestLines:
    @pytest.fixture
    def images(self, tmp_path: Path) -> LineImages:
        (tmp_path / "preprocessor_config.json").write_text(json.dumps({"character_list": ["", "a", "b", " "]}))
        return LineImages(Fields({"head_out_channels": 4}), tmp_path)

    def test_equal_neighbours_are_one_character(self, images: LineImages) -> None:
        ids, chances = np.array([1, 1, 0, 1, 2, 2, 3, 0, 1]), np.arange(1, 10) / 10
        text, sure = images.text(ids, chances)
        assert text == "aab a"
        assert sure == pytest.approx((0.1, 0.4, 0.5, 0.7, 0.9))
        assert images.text(np.zeros(3, np.int64), np.ones(3)) == ("", ())

    @pytest.mark.parametrize(
        ("size", "width"), [((96, 24), 320), ((480, 48), 512), ((48, 480), 320), ((9000, 48), 3200)]
    )
    def test_a_line_keeps_its_shape(self, images: LineImages, size: tuple[int, int], width: int) -> None:
        pixels = images.prepare(Image.new("RGB", size, (255, 255, 255)))
        assert pixels.shape == (48, width, 3)
        filled = min(-(-48 * size[0] // size[1]), 3200)
        assert (pixels[:, :filled] == 1).all()
        assert (pixels[:, filled:] == 0).all()

    def test_its_characters_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="lacks `character_list`"):
            LineImages(Fields({}), tmp_path)
        (tmp_path / "preprocessor_config.json").write_text(json.dumps({"character_list": ["a", "b"]}))
        assert LineImages(Fields({"head_out_channels": 3}), tmp_path).characters == ["", "a", "b"]
        with pytest.raises(ConfigError, match="2 characters, but the model 9"):
            LineImages(Fields({"head_out_channels": 9}), tmp_path)


# -- real models (tiny, random)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("lines")
    return cache(lambda kind: save(kind, root / kind))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_page_is_read_by_both(place: Callable[[str], Path], backend: str) -> None:
    sheet = Sheet((300, 220))
    sheet.paragraph(20, 20, prose(8, 20, 1), size=16)
    options = LoadOptions(backend=backend, **OPTIONS)  # type: ignore[arg-type]
    with ReadingModels(str(place("rec")), str(place("det")), options) as models:
        assert isinstance(models.recognizer, LineRecognizer)
        lines = [drawn(60 + 90 * n, 24, n) for n in range(5)]

        def read(chosen: list[Image.Image]) -> list[tuple[str, tuple[float, ...]]]:
            assert models.recognizer is not None
            streams = models.recognizer.read([Crop(line, "text", 64) for line in chosen])
            pieces = [list(stream) for stream in streams]
            return [(piece[0].text, piece[0].logprobs) if piece else ("", ()) for piece in pieces]

        together = read(lines)
        for (text, scores), (alone, alone_scores) in zip(together, [read([line])[0] for line in lines], strict=True):
            assert text == alone
            assert scores == pytest.approx(alone_scores, abs=1e-4)
        assert len({text for text, _ in together}) > 1
        assert {letter for text, _ in together for letter in text} <= set(CHARACTERS[1:])
        for layout in (models.layout, None):
            reader = DocumentReader(models.recognizer, layout, ReadOptions(rotate=0))
            (page,) = [event.page for event in reader.read([sheet.image]) if isinstance(event, PageRead)]
            assert page.error is None
            assert page.splitter == (layout.name if layout else "built-in splitter")
        assert [len(line) for line in page.elements[0].lines]
        stats = models.engine.stats()
        assert (stats.active, stats.waiting, stats.leaks) == (0, 0, 0)


def test_a_layout_cannot_read(place: Callable[[str], Path]) -> None:
    with pytest.raises(BadRequest, match="Give it as the layout"):
        ReadingModels(str(place("det")), None, LoadOptions(**OPTIONS))
