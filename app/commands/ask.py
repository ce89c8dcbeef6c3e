"""`grus ask DIR QUESTION`: what a folder of documents says, with the places where it says so."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.options import add_where, load_options
from app.runtime.library.answers import CITE, REPLY, cited, fewer, has_room, question_with
from engine.errors import BadRequest, ContextOverflow
from engine.starter import GUIDE

if TYPE_CHECKING:
    import grus
    from app.runtime.library.store import FoundPassage

DESCRIPTION = """\
Asks a folder that `grus index` has read. A model answers from the passages that fit, and the passages that it cites are listed
below with file and page. --search lists the passages alone and needs no model.

  grus ask ~/Papers "When does the lease end?" --model Qwen/Qwen3-4B
  grus ask ~/Papers "notice period" --search --top 10

The Guide, which answers where no model is named, is tiny and knows only Grus: it finds few answers in other papers."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "ask",
        help="ask a folder of documents",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("folder", metavar="DIR", type=Path, help="a folder that was indexed")
    command.add_argument("question", metavar="QUESTION", help="what is asked")
    command.add_argument(
        "--library", metavar="FILE", type=Path, help="the index (default: among the application's data)"
    )
    command.add_argument("--search", action="store_true", help="list the passages, without an answer")
    command.add_argument("--top", metavar="N", type=int, default=5, help="passages (default: 5)")
    command.add_argument("--model", metavar="M", default=GUIDE, help="the model that answers (default: the Guide)")
    command.add_argument("--rerank", metavar="M", help="a reranker that sorts the passages")
    command.add_argument(
        "--full-text", action="store_true", help="search by words alone, without the library's vectors"
    )
    command.add_argument("--max-tokens", metavar="N", type=int, default=REPLY, help=f"of the answer (default: {REPLY})")
    command.add_argument("--json", action="store_true", help="one JSON object")
    add_where(command)
    command.set_defaults(command=ask)


def ask(options: argparse.Namespace) -> int:
    from app.runtime.library.folders import FolderLibrary

    if not options.question.strip():
        raise BadRequest("The question is empty.", "question")
    if not 1 <= options.top <= 50:
        raise BadRequest(f"--top must be between 1 and 50, not {options.top}.", "top")
    with FolderLibrary(options.folder, options.library, must_exist=True) as library:
        with _search(library, options) as find:
            found = find(options.question, options.top)
        if not found:
            print("Nothing was found." if not options.json else json.dumps({"answer": None, "passages": []}))
            return 0
        if options.search:
            _show(found, range(1, len(found) + 1), options.json, None)
            return 0
        answer, shown = _answer(found, options)
        _show(shown, cited(answer, len(shown)) or range(1, len(shown) + 1), options.json, answer)
    return 0


@contextmanager
def _search(library: Any, options: argparse.Namespace) -> Iterator[Callable[[str, int], list[FoundPassage]]]:
    """With the library's own embedding model, so that questions and passages are compared by the same."""
    import grus
    from app.runtime.library.search import LibrarySearch

    embed = rank = None
    with ExitStack() as stack:
        name = "" if options.full_text else library.store.value("model")
        if name:
            vectors = stack.enter_context(grus.EmbeddingModel(name, load_options(options)))
            prompt = "query" if "query" in vectors.prompts else None
            embed = lambda text: vectors.embed([text], prompt=prompt, truncate=True)[0]  # noqa: E731
        if options.rerank:
            ranker = stack.enter_context(grus.EmbeddingModel(options.rerank, load_options(options)))
            rank = lambda text, texts: [(one.index, one.score) for one in ranker.rank(text, texts)]  # noqa: E731
        yield LibrarySearch(library.store, embed, rank).find


def _answer(found: Sequence[FoundPassage], options: argparse.Namespace) -> tuple[str, Sequence[FoundPassage]]:
    """The answer, printed as it comes, and the passages that the model was given: as many as its context holds."""
    import grus
    from app.commands.run import ReplyPrinter

    with grus.Model(options.model, load_options(options)) as model:
        prepared, shown = _prepared(model, found, options)
        printer = ReplyPrinter(prepared.reader, answer=not options.json, reasoning=False)
        printer.follow(model.service.submit(prepared.request))
    if not options.json:
        print("\n")
    return printer.answer, shown


def _prepared(
    model: grus.Model, found: Sequence[FoundPassage], options: argparse.Namespace
) -> tuple[Any, Sequence[FoundPassage]]:
    from engine.types import SamplingParams

    context = model.loaded.context
    params = SamplingParams(max_tokens=min(options.max_tokens, context // 4), temperature=0.0)
    shown = list(found)
    while shown:
        with suppress(ContextOverflow):
            prepared = model.prepare(question_with(shown, options.question), params, system=CITE)
            if has_room(len(prepared.request.prompt_ids), context, options.max_tokens):
                if len(shown) < len(found):
                    print(f"{model.name} has room for {len(shown)} of {len(found)} passages.", file=sys.stderr)
                return prepared, shown
        shown = fewer(shown)
    raise BadRequest(f"The question is too long for {model.name}: its context is {context} tokens.", "question")


def _show(found: Sequence[FoundPassage], numbers: Sequence[int], as_json: bool, answer: str | None) -> None:
    if as_json:
        listed = [
            {
                "number": number,
                "file": one.path,
                one.unit: one.page,
                "headings": one.place,
                "text": one.text,
                "score": one.score,
            }
            for number, one in enumerate(found, 1)
        ]
        print(
            json.dumps(
                {"answer": answer, "cited": [*numbers] if answer is not None else None, "passages": listed},
                ensure_ascii=False,
            )
        )
        return
    for number in numbers:
        one = found[number - 1]
        if answer is None:
            print(f"[{number}] {one.where}\n{one.text}\n")
        else:
            print(f"[{number}] {one.where}")
