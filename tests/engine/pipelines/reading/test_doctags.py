"""DocTags of a page: elements with their places, what is cut off, and what a region's tags say."""

from __future__ import annotations

import pytest

from engine.pipelines.reading.doctags import doctags_elements, is_doctags, without_tags
from engine.pipelines.reading.prompts import DOCLING, GENERAL, task_prompts
from engine.pipelines.reading.results import Box
from engine.text.doctags import doctags_in
from tests.engine.pipelines.reading.sheets import Sheet, prose
from tests.engine.pipelines.reading.test_whole_pages import WholePages, read

PAGE = Box(0, 0, 1000, 500)
PLACE = "<loc_50><loc_100><loc_250><loc_200>"
BOX = Box(100, 100, 500, 200)
WRITTEN = (
    f"<doctag><page_header>{PLACE}Journal</page_header>"
    f"<title>{PLACE}A &amp; B</title>"
    f"<section_header_level_1>{PLACE}One</section_header_level_1>"
    f"<text>{PLACE}Some <bold>words</bold>\nhere</text>"
    f"<unordered_list><list_item>{PLACE}first</list_item><list_item>{PLACE}second</list_item></unordered_list>"
    f"<ordered_list><list_item>only</list_item></ordered_list>"
    f"<otsl>{PLACE}<caption>{PLACE}Prices</caption><ched>name<ched>price<nl><fcel>red<fcel>1.50<nl></otsl>"
    f"<picture>{PLACE}<photograph><caption>A crane</caption></picture>"
    f"<chart>{PLACE}<fcel>a<fcel>1<nl></chart>"
    f"<formula>{PLACE}\\frac{{a}}{{b}} &lt; 1</formula>"
    f"<code>{PLACE}<_Python_>if x:\n    y</code>"
    f"<page_footer>{PLACE}7</page_footer></doctag>"
)


def test_doctags_become_elements() -> None:
    elements = doctags_elements(WRITTEN, PAGE)
    assert [(element.kind, element.text) for element in elements] == [
        ("header", "Journal"),
        ("heading", "A & B"),
        ("heading", "One"),
        ("text", "Some words here"),
        ("list", "- first\n- second"),
        ("list", "1. only"),
        ("caption", "Prices"),
        ("table", "name\tprice\nred\t1.50"),
        ("caption", "A crane"),
        ("figure", ""),
        ("chart", "a\t1"),
        ("formula", r"\frac{a}{b} < 1"),
        ("code", "if x:\n    y"),
        ("footer", "7"),
    ]
    assert [element.order for element in elements] == list(range(14))
    assert [element.level for element in elements[1:3]] == [1, 2]
    assert {element.box for element in elements if element.text not in ("1. only", "A crane")} == {BOX}
    assert elements[5].box == elements[8].box == PAGE


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        (f"<doctag><text>{PLACE}cut o", ["cut o"]),
        ("<text><loc_1><loc_2>no place</text>", ["no place"]),
        ("<text><loc_9><loc_9><loc_9><loc_9>empty place</text>", ["empty place"]),
        ("<otsl><loc_1>", []),
        ("<doctag></doctag>", []),
        (f"<text>{PLACE}<loc_999><loc_1></text>", []),
        ("words without tags", []),
    ],
)
def test_what_is_broken_counts_as_it_is(written: str, texts: list[str]) -> None:
    assert [element.text for element in doctags_elements(written, PAGE)] == texts


def test_the_tags_of_a_region_are_taken_off() -> None:
    assert is_doctags(f"<text>{PLACE}a</text>")
    assert not is_doctags("a < b and <b>c</b>")
    assert without_tags(f"<doctag><formula>{PLACE}x &lt; y</formula></doctag>") == "x < y"
    table = without_tags(f"<doctag><otsl>{PLACE}<fcel>1 &lt; 2<ecel><nl></otsl></doctag>")
    assert table == "<fcel>1 &lt; 2<ecel><nl>"


def test_the_words_lie_where_the_model_says() -> None:
    sheet = Sheet((600, 400))
    lines = prose(20, 30, 1)
    end = sheet.paragraph(60, 80, lines, size=18)
    bottom = min(500, round(end / 400 * 500))
    said = f"<doctag><text><loc_40><loc_90><loc_460><loc_{bottom}>{' '.join(lines)}</text></doctag>"
    page = read(WholePages(lambda crop: said), sheet.image)
    (element,) = page.elements
    assert element.text == " ".join(lines)
    assert element.box.left == pytest.approx(48)
    assert len(element.lines) == len(lines)
    assert [word.text for line in element.lines for word in line] == " ".join(lines).split()
    assert element.lines[0][0].box.top >= 78


def test_the_vocabulary_tells_who_writes_them() -> None:
    special = {
        "<doctag>",
        "</doctag>",
        "<loc_5>",
        "<text>",
        "<image>",
        "<|im_end|>",
        "<row_1_col_2>",
        "<end_of_utterance>",
    }
    assert doctags_in(special) == {"<doctag>", "</doctag>", "<loc_5>", "<text>"}
    assert doctags_in(special - {"<doctag>"}) == set()
    assert task_prompts("idefics3", "", doctags=True) is DOCLING
    assert task_prompts("idefics3", "") is GENERAL
