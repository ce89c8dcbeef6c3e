"""What the Reader is tested on: text, fonts and sizes that training never saw, always the same pictures.

python packaging/starters/reader_heldout.py FOLDER      # writes them as PNG files with their text beside them
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import line_fonts
import lines
from line_text import line
from PIL import Image, ImageDraw

SENTENCES = """
The ferry left Harwich at 6:45, twenty minutes late, and nobody on deck seemed to mind.
Please sign both copies, keep one for your records, and return the other by 14 June 2024.
Her grandmother's kitchen smelled of cinnamon, wet coats and the coal that still burned in the corner.
Section 4.2 explains why the older pumps failed; section 4.3 lists what replaced them.
"Nothing is lost," he wrote, "until the last person who remembers it has stopped talking."
Total due: $1,284.50 (including VAT at 20%). Late payments are charged 1.5% a month.
Owls hunt by ear. A barn owl can find a vole under snow in complete darkness.
In 1843 Ada Lovelace published notes that were three times as long as the paper they described.
To reset the boiler, hold the red button for 10 seconds, wait for two beeps, then release it.
The committee met on Tuesday, could not agree, and met again on Thursday with sandwiches.
Granite weathers slowly; limestone dissolves; clay simply slides into the sea each winter.
Do not exceed 8 tablets in 24 hours. If symptoms persist, ask your pharmacist for advice.
Mr. Okafor's train arrives at platform 9 from Leeds, calling at Wakefield, Doncaster and Peterborough.
We measured 37 samples at 21.5 degrees and found a median width of 0.83 mm.
Who keeps the keys to the greenhouse now that Beatrix has moved to Lisbon?
The judge asked whether the letter had been opened before or after the funeral.
Boil the beans for an hour, drain them, add garlic, lemon zest and a handful of parsley.
Every map is an argument about what matters, drawn to scale and coloured in.
Version 3.11.2 fixes a crash when the clipboard held more than 65,536 characters.
Jupiter has at least 95 moons, of which four were seen by Galileo in January 1610.
She sold the piano for 300 pounds, bought a bicycle, and rode it all the way to Ghent.
Visitors are asked to leave bags, umbrellas and wet boots at the desk beside the stairs.
The quarterly figures, though below forecast, were the best since the factory reopened.
Knives, forks & spoons: drawer two. Batteries: drawer five. Everything else: ask Zoe.
""".strip().splitlines()


@dataclass(frozen=True)
class Case:
    name: str
    image: Image.Image
    text: str


def words(rng: random.Random) -> Iterator[str]:
    """Running English, sentence after sentence, in an order of its own."""
    while True:
        for sentence in rng.sample(SENTENCES, len(SENTENCES)):
            yield from sentence.split()


def held_out_text(rng: random.Random, length: int) -> str:
    """Two of three lines are English as people write it, the third is numbers, names, code and signs."""
    if rng.random() < 1 / 3:
        return line(rng, length)
    running = words(rng)
    for _ in range(rng.randint(0, 40)):
        next(running)
    text = next(running)
    while len(text) < length:
        text += " " + next(running)
    return text


def line_cases(count: int, damaged: bool, seed: int) -> list[Case]:
    """Clean: dark on light, undamaged. Damaged: any colours, each line worn in at least one way."""
    rng = random.Random(seed)
    cases = []
    for number in range(count):
        path, kind = lines.pick_font(rng, line_fonts.HELD_OUT)
        size = rng.choice(lines.HELD_OUT_SIZES)
        made = lines.set_line(rng, held_out_text(rng, rng.randint(6, 70)), path, size, kind)
        image = made.image
        if damaged:
            image = lines.coloured(rng, image)
            plain = image
            while image is plain:
                image = lines.worn(rng, plain, size)
        else:
            ink, paper = rng.randint(0, 60), rng.randint(225, 255)
            image = image.point([round(ink + (paper - ink) * level / 255) for level in range(256)])
        cases.append(Case(f"{'damaged' if damaged else 'clean'}-{number:03}-{path.stem}-{size}", image, made.text))
    return cases


def page_cases(count: int, seed: int) -> list[Case]:
    """Pages as an office printer's scanner sees them: a heading, paragraphs, every second one in two columns."""
    rng = random.Random(seed)
    cases = []
    for number in range(count):
        columns = 1 + number % 2
        kind = ("serif", "sans", "serif", "sans", "mono", "serif")[number % 6]
        path = rng.choice(line_fonts.files(rng.choice(line_fonts.HELD_OUT[kind])))
        size = rng.choice((17, 21, 26))
        image, text = _page(rng, path, size, columns)
        if number % 3 == 2:
            image = lines.worn(rng, image, size, turn=0.7)
        cases.append(Case(f"page-{number:02}-{path.stem}-{size}-{columns}col", image, text))
    return cases


def _page(rng: random.Random, path: Path, size: int, columns: int) -> tuple[Image.Image, str]:
    width, height, margin, gutter = 1000, 1300, 80, 50
    page = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(page)
    font, large = lines.font_at(path, size), lines.font_at(path, size * 7 // 4)
    running = words(rng)
    heading = " ".join(next(running).strip('.,;:"()?') for _ in range(4))
    draw.text((margin, margin), heading, font=large, fill=0)
    top = margin + int(size * 4)
    across = (width - 2 * margin - gutter * (columns - 1)) / columns
    leading = int(size * 1.35)
    written = [heading]
    for column in range(columns):
        left, y = margin + column * (across + gutter), top
        while y < height - margin - leading * 4:
            for _ in range(rng.randint(3, 7)):
                text = next(running)
                while True:
                    word = next(running)
                    if draw.textlength(f"{text} {word}", font=font) > across:
                        running = _with(word, running)
                        break
                    text += " " + word
                draw.text((left, y), text, font=font, fill=0)
                written.append(text)
                y += leading
                if y > height - margin - leading:
                    break
            y += leading // 2
    return page, "\n".join(written)


def _with(word: str, rest: Iterator[str]) -> Iterator[str]:
    yield word
    yield from rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for case in (*line_cases(200, False, 11), *line_cases(200, True, 12), *page_cases(12, 13)):
        case.image.save(args.folder / f"{case.name}.png")
        (args.folder / f"{case.name}.txt").write_text(case.text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
