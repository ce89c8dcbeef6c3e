"""`grus rerank`: documents in the order of how well they fit a query."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import grus
from app.commands.embed import texts_of
from app.commands.options import add_profile, add_where, check_profile, load_options, say_quantized

DESCRIPTION = """\
Puts documents in the order of how well they fit a query, with a score for each.

  grus rerank "What colour is the sea?" "The sea is blue." "Bread is baked." --model BAAI/bge-reranker-v2-m3
  grus rerank "who wrote it?" --file passages.txt --top 5 --json --model Qwen/Qwen3-Reranker-0.6B

Scores of a reranker lie between 0 and 1. An embedding model ranks too: its scores are cosines.
--file has a document in each line. Nothing leaves this machine."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "rerank",
        help="sort documents by how well they fit a query",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("query", metavar="QUERY", help="what the documents are to fit")
    command.add_argument("documents", nargs="*", metavar="DOCUMENT", help="documents")
    command.add_argument("--file", metavar="F", type=Path, help="a file with a document in each line")
    command.add_argument("--model", metavar="M", required=True, help="a reranker: a folder or a repository id")
    command.add_argument("--top", metavar="N", type=int, help="the N best alone")
    command.add_argument("--instruction", metavar="TEXT", help="what relevance is, for Qwen3-Reranker")
    command.add_argument("--json", action="store_true", help="a JSON object in each line")
    add_profile(command)
    add_where(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    documents = texts_of(options.documents, options.file)
    check_profile(options.profile)
    with grus.EmbeddingModel(options.model, load_options(options), profile=options.profile) as model:
        say_quantized(getattr(model.loaded, "quant", None), options.quant)
        for one in model.rank(options.query, documents, top=options.top, instruction=options.instruction):
            print(json.dumps(dataclasses.asdict(one)) if options.json else f"{one.score:.4f}  {one.text}")
    return 0
