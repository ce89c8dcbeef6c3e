"""How many characters the Reader gets wrong on print it never saw, with tesseract (Debian) beside it.

    python packaging/starters/evaluate_reader.py [--model FOLDER] [--lines 200] [--pages 12] [--tesseract] [--worst 5]

Everything goes the way of `grus read`: picture in, text out. The error rate is the number of characters to insert, drop
or change, over the number that stand there. Runs of white space count as one; quotes count alike, curly or straight."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from reader_heldout import Case, line_cases, page_cases

CLEAN, DAMAGED, PAGES = "clean lines", "damaged lines", "pages"
MOST = {CLEAN: 0.02, DAMAGED: 0.05, PAGES: 0.05}
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")

Read = Callable[[Sequence[Case]], list[str]]


@dataclass(frozen=True)
class Score:
    wrong: int
    characters: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.wrong / max(1, self.characters)


def plain(text: str) -> str:
    return " ".join(text.translate(_STRAIGHT).split())


def distance(read: str, wanted: str) -> int:
    """The fewest characters to insert, drop or change."""
    letters = np.array([ord(char) for char in wanted], np.int64)
    places = np.arange(len(letters) + 1)
    row = places.copy()
    for number, char in enumerate(read, 1):
        changed = np.minimum(row[1:] + 1, row[:-1] + (letters != ord(char)))
        row = np.concatenate(([number], changed))
        row = np.minimum.accumulate(row - places) + places
    return int(row[-1])


def score(read: Read, cases: Sequence[Case], worst: int = 0) -> Score:
    began = time.perf_counter()
    texts = [plain(text) for text in read(cases)]
    seconds = time.perf_counter() - began
    wanted = [plain(case.text) for case in cases]
    wrong = [distance(text, right) for text, right in zip(texts, wanted, strict=True)]
    for index in sorted(range(len(cases)), key=lambda i: -wrong[i] / max(1, len(wanted[i])))[:worst]:
        print(f"{cases[index].name}: {wrong[index]} wrong\n  stands {wanted[index]}\n  read   {texts[index]}")
    return Score(sum(wrong), sum(map(len, wanted)), seconds)


def with_grus(model: Path | None) -> Read:
    from app.runtime.reading import ReadingModels
    from engine.pipelines.reading.session import ReadingSession

    def read(cases: Sequence[Case]) -> list[str]:
        with ReadingModels(str(model) if model else None, None) as models:
            documents = ReadingSession(models.recognizer).documents([case.image.convert("RGB") for case in cases])
        return ["\n".join(element.text for element in document.elements) for document in documents]

    return read


def with_tesseract(mode: int) -> Read:
    """`mode`: how it takes the page apart; 7 is one line, 3 a page that it finds its way in."""

    def one(case: Case) -> str:
        packed = io.BytesIO()
        case.image.save(packed, "PNG")
        command = ["tesseract", "-", "-", "--psm", str(mode), "-l", "eng"]
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        done = subprocess.run(command, input=packed.getvalue(), capture_output=True, check=True, env=environment)
        return done.stdout.decode()

    return lambda cases: [one(case) for case in cases]


def sets(lines: int, pages: int) -> dict[str, list[Case]]:
    return {CLEAN: line_cases(lines, False, 11), DAMAGED: line_cases(lines, True, 12), PAGES: page_cases(pages, 13)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--tesseract", action="store_true")
    parser.add_argument("--worst", type=int, default=0, help="show the worst of each set")
    args = parser.parse_args()
    rows = []
    for name, cases in sets(args.lines, args.pages).items():
        if not cases:
            continue
        ours = score(with_grus(args.model), cases, args.worst)
        row = f"| {name} | {len(cases)} | {ours.characters} | {ours.rate:.2%} | {ours.seconds / len(cases):.2f} s |"
        if args.tesseract:
            theirs = score(with_tesseract(3 if name == PAGES else 7), cases)
            row += f" {theirs.rate:.2%} | {theirs.seconds / len(cases):.2f} s |"
        rows.append((row, ours.rate <= MOST[name]))
        print(row, flush=True)
    print("\n| set | pictures | characters | Reader | each |" + (" tesseract | each |" if args.tesseract else ""))
    print("|---|---|---|---|---|" + ("---|---|" if args.tesseract else ""))
    print("\n".join(row for row, _ in rows))
    return 0 if all(good for _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
