"""The Reader as it ships: lines and pages that it never saw, read the way a user reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import evaluate_reader
import line_fonts
import pytest
from PIL import Image

from app.runtime.reading import ReadingModels
from engine.pipelines.reading.session import ReadingSession
from engine.pipelines.reading.upright import rotated_page

HERE = Path(__file__).resolve().parent
PICTURES = sorted((HERE / "pictures").glob("*.png"))
FOLDER = HERE.parents[1] / "resources" / "starter" / "reader"


@pytest.fixture(scope="module")
def session() -> Iterator[ReadingSession]:
    with ReadingModels(None, None) as models:
        yield ReadingSession(models.recognizer)


def test_it_is_small() -> None:
    from safetensors import safe_open

    with safe_open(FOLDER / "model.safetensors", "numpy") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - no dictionary
    parameters = 0
    for shape in shapes:
        size = 1
        for length in shape:
            size *= length
        parameters += size
    assert parameters <= 6_500_000
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 13_500_000


def test_pictures_of_lines_and_a_page_are_read(session: ReadingSession) -> None:
    """Kept as files, because the fonts they are set in need not be on every machine."""
    assert len(PICTURES) >= 5
    documents = session.documents([Image.open(path) for path in PICTURES])
    for path, document in zip(PICTURES, documents, strict=True):
        read = evaluate_reader.plain("\n".join(element.text for element in document.elements))
        stands = evaluate_reader.plain(path.with_suffix(".txt").read_text(encoding="utf-8"))
        assert evaluate_reader.distance(read, stands) <= 0.03 * len(stands), (path.name, read)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(evaluate_reader.MOST))
def test_few_characters_are_wrong_on_held_out_print(name: str) -> None:
    if line_fonts.missing():
        pytest.skip(f"fonts are not installed: {', '.join(line_fonts.missing())}")
    cases = evaluate_reader.sets(200, 12)[name]
    assert evaluate_reader.score(evaluate_reader.with_grus(None), cases).rate <= evaluate_reader.MOST[name]


def test_a_page_upside_down_and_tilted_is_read_as_if_it_lay_straight(session: ReadingSession) -> None:
    page = HERE.parents[1] / "resources" / "starter" / "page.png"
    stands = evaluate_reader.plain(page.with_suffix(".txt").read_text(encoding="utf-8"))
    (document,) = session.documents([rotated_page(Image.open(page).convert("RGB"), 187)])
    assert abs((document.pages[0].turned + 187 + 180) % 360 - 180) <= 0.1
    read = evaluate_reader.plain("\n".join(element.text for element in document.elements))
    assert evaluate_reader.distance(read, stands) <= 0.01 * len(stands)
