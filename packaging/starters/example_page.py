"""Draws the page that comes with the Reader, for everybody who has none at hand: `python packaging/starters/example_page.py`.

A heading and two columns, in a face that the Reader has learned; what stands there is in a file beside it.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

TARGET = Path(__file__).resolve().parents[2] / "resources/starter/page.png"
FONT = "/usr/share/fonts/opentype/urw-base35/P052-Roman.otf"  # Debian's fonts-urw-base35
SIZE, LEADING, MARGIN, GUTTER, WIDTH = 24, 34, 90, 60, 1100
HEADING = "Cranes over the marsh"
COLUMNS = (
    (
        "Every autumn the cranes come down from the north, some 40,000 of them, and rest for three weeks in the shallow "
        "water beyond the dyke.",
        "They arrive at dusk. First one hears them, a long rolling call that carries for 5 km; then a thin line shows in "
        "the east, bends, and breaks into families.",
        "A pair stays together for life and raises one chick, seldom two. The young bird keeps its brown head until "
        "spring.",
    ),
    (
        "Visitors should be at the hide by 16:30 and stay until it is dark. Bring warm clothes, a flask of tea and some "
        "patience; leave the dog at home.",
        "The warden, Mrs. Lindqvist, counts the birds on Mondays and Thursdays. Her record is 42,718, on 9 October 2019.",
        "Entry is free. A map costs $2.50 and pays for the boardwalk.",
    ),
)


def wrapped(draw: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if draw.textlength(longer, font=font) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def drawn() -> tuple[Image.Image, str]:
    """The page, and what stands on it."""
    page = Image.new("L", (WIDTH, 900), 255)
    draw = ImageDraw.Draw(page)
    font, large = ImageFont.truetype(FONT, SIZE), ImageFont.truetype(FONT, 2 * SIZE)
    draw.text((MARGIN, MARGIN), HEADING, font=large, fill=0)
    across = (WIDTH - 2 * MARGIN - GUTTER) / 2
    blocks, lowest = [HEADING], 0
    for number, paragraphs in enumerate(COLUMNS):
        left, y = MARGIN + number * (across + GUTTER), MARGIN + 4 * SIZE
        for paragraph in paragraphs:
            lines = wrapped(draw, paragraph, font, across)
            for line in lines:
                draw.text((left, y), line, font=font, fill=0)
                y += LEADING
            blocks.append("\n".join(lines))
            y += LEADING // 2
        lowest = max(lowest, y)
    return page.crop((0, 0, WIDTH, lowest + MARGIN - LEADING)), "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    page, text = drawn()
    page.save(TARGET, optimize=True)
    TARGET.with_suffix(".txt").write_text(text, encoding="utf-8")
    print(f"{TARGET}: {page.width} x {page.height}")
