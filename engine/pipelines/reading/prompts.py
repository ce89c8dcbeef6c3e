"""What each family of models reads: its prompt for each task, and whether it was trained with whole pages.

A family that is not here is asked in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.pipelines.reading.results import Task
from engine.text.doctags import GROUNDING
from engine.vision.paddle import TASKS as PADDLE_PROMPTS


@dataclass(frozen=True)
class TaskPrompts:
    """The tasks of a family."""

    of: Mapping[Task, str]  # empty: the picture alone
    whole_pages: bool = (
        False  # it was trained to write a page at once, as markdown or DocTags; else it is given regions
    )
    no_repeat_ngrams: tuple[int, int] | None = (
        None  # what its authors generate with: a size, and the last tokens that it is for
    )


GENERAL = TaskPrompts(
    {
        "text": "Read all text in this image. Answer with the text alone, line by line as it stands.",
        "markdown": "Write this page as markdown, in reading order. Tables as HTML, formulas as LaTeX between $$. "
        "Answer with the markdown alone.",
        "table": "Write the table in this image as HTML. Answer with the <table> alone.",
        "formula": "Write the formula in this image as LaTeX. Answer with the LaTeX alone.",
        "chart": "Write the data of this chart as a table in markdown. Answer with the table alone.",
        "seal": "Read the text of the seal in this image. Answer with the text alone.",
    }
)
_FIRST_PADDLE: tuple[Task, ...] = ("text", "table", "formula", "chart")
PADDLE_1_5 = TaskPrompts({task: PADDLE_PROMPTS[task] for task in (*_FIRST_PADDLE, "seal", "spotting")})
PADDLE = TaskPrompts({task: PADDLE_PROMPTS[task] for task in _FIRST_PADDLE})
GLM_OCR = TaskPrompts(
    {"text": "Text Recognition:", "table": "Table Recognition:", "formula": "Formula Recognition:"},
)
_FREE: tuple[Task, ...] = ("text", "table", "formula")
# Words beside the picture may come back in its answer.
LIGHTON = TaskPrompts(dict.fromkeys(("markdown", "text", "table", "formula"), ""), whole_pages=True)

# Of a page it writes the parts with their places, of a region the text alone.
DEEPSEEK_OCR = TaskPrompts(
    {
        "markdown": f"{GROUNDING}Convert the document to markdown.",
        **dict.fromkeys(_FREE, "Free OCR."),
        "chart": "Parse the figure.",
    },
    whole_pages=True,
)

# It knows one task for a page. Of a region the text is kept alone.
UNLIMITED_OCR = TaskPrompts(
    dict.fromkeys(("markdown", *_FREE), "document parsing."), whole_pages=True, no_repeat_ngrams=(35, 128)
)

DOCLING = TaskPrompts(
    {
        "markdown": "Convert this page to docling.",
        "text": "Convert this page to docling.",
        "table": "Convert table to OTSL.",
        "formula": "Convert formula to LaTeX.",
        "chart": "Convert chart to table.",
    },
    whole_pages=True,
)

_FAMILIES = {"deepseek_ocr2": DEEPSEEK_OCR, "glm_ocr": GLM_OCR, "lighton_ocr": LIGHTON, "unlimited_ocr": UNLIMITED_OCR}
_PROMPT_END_1_5 = "Assistant:\n"  # prompts of PaddleOCR-VL's first version end with a space


def task_prompts(model_type: str, rendered: str, doctags: bool = False) -> TaskPrompts:
    """Of a model of this type. `rendered`: what its chat template makes of a picture; `doctags`: its vocabulary has them."""
    if doctags:
        return DOCLING
    if model_type == "paddleocr_vl":
        return PADDLE_1_5 if rendered.endswith(_PROMPT_END_1_5) else PADDLE
    return _FAMILIES.get(model_type, GENERAL)
