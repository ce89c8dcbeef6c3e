"""Makes the documents of this folder with other programs: python-docx 1, python-pptx 1, pandoc 2.17 and LibreOffice 7.4.

Run in an environment that has them; the files are in the tree, so the tests need none of them:

    python make_documents.py && for kind in odt epub pptx html rtf fb2 docx; do pandoc -s cranes.md -o pandoc.$kind; done
    for kind in odt rtf docx; do soffice --headless --convert-to $kind pandoc.docx; done       (named libreoffice.*)
    soffice --headless --convert-to odp pandoc.pptx; for kind in ods xlsx xls; do soffice --headless --convert-to $kind table.csv; done
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def word() -> None:
    import docx
    from docx.enum.text import WD_BREAK

    document: Any = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Society of Cranes"
    document.add_heading("The Crane Report", 0)
    document.add_heading("Introduction", 1)
    paragraph = document.add_paragraph("The common crane ")
    paragraph.add_run("Grus grus").italic = True
    paragraph.add_run(" stands 115 cm tall.")
    document.add_paragraph("Feed at dawn", style="List Bullet")
    document.add_paragraph("Count at dusk", style="List Bullet")
    document.add_paragraph("First step", style="List Number")
    document.add_paragraph("Second step", style="List Number")
    table = document.add_table(rows=3, cols=3)
    for row, texts in zip(table.rows, (("Lake", "Spring", "Autumn"), ("Müritz", "412", "980"), ("Plau", "77", "102"))):
        for cell, text in zip(row.cells, texts):
            cell.text = text
    table.cell(2, 1).merge(table.cell(2, 2))
    document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    document.add_heading("Closing", 2)
    document.add_paragraph("Last words — fin.")
    document.save(str(HERE / "python-docx.docx"))


def slides() -> None:
    import pptx

    deck: Any = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Cranes of the North", "A survey"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    body = second.placeholders[1].text_frame
    body.text = "They dance"
    nested = body.add_paragraph()
    nested.text, nested.level = "in spring", 1
    body.add_paragraph().text = "They migrate"
    second.shapes.title.text = "What cranes do"
    table = second.shapes.add_table(2, 2, 0, 3_000_000, 4_000_000, 800_000).table
    for at, text in enumerate(("Lake", "Cranes", "Müritz", "412")):
        table.cell(at // 2, at % 2).text = text
    second.notes_slide.notes_text_frame.text = "Mention the weather of 2019."
    deck.save(str(HERE / "python-pptx.pptx"))


if __name__ == "__main__":
    word()
    slides()
