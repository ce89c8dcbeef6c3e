"""`grus embed`: vectors of texts, as JSON lines, CSV or a NumPy file."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import grus
from app.commands.options import add_profile, add_where, check_profile, load_options, say_quantized, writable
from engine.errors import BadRequest
from engine.whole_file import whole_file

DESCRIPTION = """\
Makes vectors that stand for texts: texts of the same meaning have vectors of nearly the same direction.

  grus embed "The sea is blue." --model sentence-transformers/all-MiniLM-L6-v2
  grus embed --file questions.txt --model Qwen/Qwen3-Embedding-0.6B --prompt query
  grus embed --file lines.txt --model BAAI/bge-m3 --dimensions 256 -o lines.npy

--file has a text in each line; without texts they are read from standard input. Nothing leaves this machine."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "embed",
        help="make vectors of texts",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("texts", nargs="*", metavar="TEXT", help="texts")
    command.add_argument("--file", metavar="F", type=Path, help="a file with a text in each line")
    command.add_argument("--model", metavar="M", required=True, help="an embedding model: a folder or a repository id")
    command.add_argument("--prompt", metavar="NAME", help="one of the model's own prompts, such as query or document")
    command.add_argument("--dimensions", metavar="N", type=int, help="the first N numbers of each vector alone")
    command.add_argument(
        "--truncate", action="store_true", help="cut texts that are too long, instead of refusing them"
    )
    command.add_argument("-o", "--output", metavar="OUT", type=Path, help="a file: .jsonl, .csv or .npy")
    add_profile(command)
    add_where(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    texts = texts_of(options.texts, options.file)
    kind = options.output.suffix.lower() if options.output is not None else ".jsonl"
    if kind not in (".jsonl", ".json", ".csv", ".npy"):
        raise BadRequest(f"{options.output} must end in .jsonl, .csv or .npy.", "output")
    if options.output is not None:
        writable(options.output)
    check_profile(options.profile)
    with grus.EmbeddingModel(options.model, load_options(options), profile=options.profile) as model:
        say_quantized(getattr(model.loaded, "quant", None), options.quant)
        vectors = model.embed(texts, prompt=options.prompt, dimensions=options.dimensions, truncate=options.truncate)
    if options.output is None:
        sys.stdout.write(written(vectors, kind).decode())
        return 0
    try:
        with whole_file(options.output) as part:
            part.write_bytes(written(vectors, kind))
    except OSError as error:
        raise BadRequest(f"{options.output} could not be written: {error.strerror or error}.", "output") from None
    print(f"{len(vectors)} vectors of {vectors.shape[1]} numbers -> {options.output}", file=sys.stderr)
    return 0


def texts_of(given: Sequence[str], file: Path | None) -> list[str]:
    """From the command line, else from a file's lines, else from standard input's."""
    if given and file is not None:
        raise BadRequest("Give texts, or --file: one of the two.")
    if given:
        return list(given)
    try:
        read = sys.stdin.read() if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file or 'Standard input'} cannot be read as text: {error}.", "file") from None
    lines = [line for line in read.splitlines() if line.strip()]
    if not lines:
        raise BadRequest("There is no text. Give one, or a file with a text in each line.", "file")
    return lines


def written(vectors: np.ndarray, kind: str) -> bytes:
    """As the bytes of a file of this kind."""
    if kind == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, vectors)
        return buffer.getvalue()
    if kind == ".csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(vectors.tolist())
        return text.getvalue().encode()
    return "".join(f"{json.dumps(row)}\n" for row in vectors.tolist()).encode()
