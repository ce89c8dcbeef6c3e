"""JSON: everything that is known of a document, headers and footers included. `docs/reading.md` describes the fields."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.pipelines.reading.result import Document, page_to_json

_NUMBERS = re.compile(r"\[\n([-\d.,\s]+)\]")


def document_to_json(document: Document) -> dict[str, Any]:
    shown: dict[str, Any] = {"document": document.name, "pages": [page_to_json(page) for page in document.pages]}
    return shown | ({"error": document.error} if document.error is not None else {})


def json_of(document: Document, indent: int | None = 1) -> str:
    text = json.dumps(document_to_json(document), ensure_ascii=False, indent=indent)
    # a box is easier to read on one line; no string holds a line break, so only lists of numbers look like this
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"
