"""Training strips, rendered ahead into one file a width: the same maker everywhere, seeded, as many shards as wanted.

A shard is an .npz of arrays per bucket of columns: `pixels` [n, height, columns * COLUMN], `text` ids of the characters
with 0 behind the end, `shows` the character each column shows, `middle` how many characters have their middle in it,
`places` the column of each character's middle."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import line_fonts
import lines
from line_text import CHARACTERS, line

from engine.vision.line_strips import LineStripRules, straighten

COLUMN = 4  # strip pixels a column of the model covers
RULES = LineStripRules(height=20, rise=1, stretch=5, longest=400)
BUCKETS = (24, 48, 72, 96, 116)  # columns
LONGEST_TEXT = 72
NUMBER = {char: i + 1 for i, char in enumerate(CHARACTERS)}  # 0 is no character


def sample(rng: random.Random, damage: float):
    """One strip: (bucket, pixels, text, shows, middle, places), or None if it does not fit."""
    length = rng.choice((rng.randint(1, 12), rng.randint(4, 32), rng.randint(16, 52), rng.randint(24, 44)))
    path, kind = lines.pick_font(rng, line_fonts.TRAINING)
    size = rng.choice(lines.TRAINING_SIZES)
    made = lines.set_line(rng, line(rng, length), path, size, kind, ligatures=rng.random() < 0.5)
    made = lines.reshaped(rng, made)
    image = lines.coloured(rng, made.image)
    edges = made.edges
    if rng.random() < damage:
        before = image.width
        image = lines.worn(rng, image, size)
        edges = edges + (image.width - before) / 2
    strip = straighten(image, RULES)
    if strip is None or len(made.text) > LONGEST_TEXT:
        return None
    pixels = strip.pixels
    needed = -(-pixels.shape[1] // COLUMN)
    bucket = next((b for b in BUCKETS if b >= needed), None)
    if bucket is None:
        return None
    room = bucket * COLUMN - pixels.shape[1]
    left = rng.randint(0, min(room, 6)) if rng.random() < 0.5 else 0
    pixels = np.pad(pixels, ((0, 0), (left, room - left)), constant_values=255)
    at = (edges - strip.left) * strip.scale + left
    centres = (np.arange(bucket) + 0.5) * COLUMN
    covering = np.searchsorted(at, centres, side="right") - 1
    text = np.array([NUMBER[char] for char in made.text], np.uint8)
    shows = np.where((covering >= 0) & (covering < len(text)), text[np.clip(covering, 0, len(text) - 1)], 0)
    places = np.clip((at[:-1] + at[1:]) / 2 / COLUMN, 0, bucket - 1).astype(np.uint8)
    middle = np.bincount(places, minlength=bucket).clip(max=2)
    return (
        bucket,
        pixels,
        np.pad(text, (0, LONGEST_TEXT - len(text))),
        shows.astype(np.uint8),
        middle.astype(np.uint8),
        np.pad(places, (0, LONGEST_TEXT - len(text))),
    )


def shard(seed: int, count: int, damage: float) -> dict[str, np.ndarray]:
    rng = random.Random(seed)
    rows: dict[int, list[tuple]] = {bucket: [] for bucket in BUCKETS}
    for _ in range(count):
        made = sample(rng, damage)
        if made:
            rows[made[0]].append(made[1:])
    names = ("pixels", "text", "shows", "middle", "places")
    return {f"{name}{b}": np.stack(column) for b in BUCKETS for name, column in zip(names, zip(*rows[b]), strict=False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0, help="number (and seed) of the first shard")
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--count", type=int, default=5000, help="lines a shard")
    args = parser.parse_args()
    if lacking := line_fonts.missing():
        raise SystemExit(f"Fonts are not installed: {', '.join(lacking)}. line_fonts.py lists Debian's packages.")
    args.folder.mkdir(parents=True, exist_ok=True)
    for number in range(args.first, args.first + args.shards):
        path = args.folder / f"lines-{number:04}.npz"
        if path.exists():
            continue
        start = time.time()
        # The first shards are clean print, so that the encoder finds letters before it meets damage.
        arrays = shard(1_000_000 + number, args.count, damage=0.25 if number < 3 else 0.55)
        half = path.with_suffix(".part")
        with half.open("wb") as file:
            np.savez(file, **arrays)
        half.rename(path)
        lines_made = sum(len(rows) for name, rows in arrays.items() if name.startswith("pixels"))
        done = number - args.first + 1
        print(f"{done} of {args.shards}: {lines_made} lines in {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
