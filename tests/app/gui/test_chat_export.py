"""Conversations as files: formulas are drawn on paper and in HTML, which has the conversation's title."""

from __future__ import annotations

import io
from typing import Any

import pypdf

from app.gui.chat.actions import as_pdf
from app.gui.store.conversations import ConversationHead
from app.gui.store.messages import StoredMessage
from app.gui.viewmodels.chat.exchange import as_html

HEAD = ConversationHead(1, "Waves & cranes", True, 2, "tiny", "", {})
SAID = [
    StoredMessage(1, None, "user", "How?"),
    StoredMessage(2, 1, "assistant", "So: $\\frac{a}{b}$ and\n\n$$\\sqrt{x}$$\n\n> a quote"),
]


def test_html_has_the_conversations_title_and_drawn_formulas() -> None:
    made = as_html(HEAD, SAID)
    assert "<title>Waves &amp; cranes</title>" in made
    assert made.count('<img src="data:image/svg+xml;base64,') == 2


def test_formulas_are_drawn_in_a_pdf(qapp: Any) -> None:
    document = pypdf.PdfReader(io.BytesIO(as_pdf(HEAD, SAID)))
    page = document.pages[0]
    assert document.metadata is not None
    assert document.metadata.title == "Waves & cranes"
    assert len(page.images) == 2
    assert "\\frac" not in page.extract_text()
    assert "quote" in page.extract_text()
