"""`grus memory`: the facts that a person lets Grus keep, and `--memory` of `grus chat`, whose model reads them and proposes others."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import BadRequest

DESCRIPTION = """\
The facts that you let Grus keep for all conversations. Nothing reads them until you say so: `grus chat MODEL --memory`, or Settings,
Memory in the window, which shows the same list.

  grus memory                                lists them, the newest first
  grus memory add "I am vegetarian."
  grus memory edit 3 "I eat fish."
  grus memory delete 3

A model that calls tools may propose a fact; you are asked each time. What is deleted is overwritten in the file. A window that
is open shows what changed here when its Settings are opened."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "memory",
        help="the facts that you let Grus keep",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "action", nargs="?", choices=("list", "add", "edit", "delete"), default="list", help="what to do (default: list)"
    )  # fmt: skip
    command.add_argument("words", nargs="*", metavar="WHAT", help="a fact, or the number of one and what it becomes")
    add_folder(command)
    command.add_argument("--json", action="store_true", help="list them as a JSON array")
    command.set_defaults(command=memory)


def add_memory(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--memory", action="store_true", help="the model reads the facts of `grus memory`, and may propose one"
    )
    add_folder(command)


def add_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--folder", type=Path, metavar="DIR", help="where Grus keeps its files, as in grus app --folder"
    )


def memory(options: argparse.Namespace) -> int:
    from app.gui.store import memories
    from app.gui.store.command import opened_store
    from app.runtime.memories import checked_fact

    words = list(options.words)
    number = _number(words.pop(0) if words else "") if options.action in ("edit", "delete") else 0
    fact = checked_fact(" ".join(words)) if options.action in ("add", "edit") else ""
    if words and not fact:
        raise BadRequest(f"`grus memory {options.action}` takes nothing else: {' '.join(words)}", "words")
    with opened_store(options.folder) as (store, _):
        known = store.ask(memories.listed).result()
        if number and all(one.id != number for one in known):
            raise BadRequest(f"There is no fact {number}. `grus memory` lists what there is.", "words")
        if options.action == "add":
            store.ask(lambda db: memories.add(db, fact)).result()
        elif options.action == "edit":
            store.ask(lambda db: memories.change(db, number, fact)).result()
        elif options.action == "delete":  # what is marked goes when the store is closed
            store.ask(lambda db: memories.delete(db, number)).result()
        elif options.json:
            shown = [{"id": one.id, "text": one.text, "conversation": one.title or None} for one in known]
            print(json.dumps(shown, ensure_ascii=False))
        else:
            lines = [f"{one.id}  {one.text}{f'  ({one.title})' if one.title else ''}" for one in known]
            print("\n".join(lines) or "Nothing is kept.")
    return 0


def _number(word: str) -> int:
    if not word.isdecimal() or not int(word):
        raise BadRequest("Say the number of a fact, as `grus memory` lists it.", "words")
    return int(word)


@dataclass(frozen=True)
class TerminalMemory:
    """What a model in the terminal reads, and what keeps another fact."""

    facts: Sequence[str]
    keep: Callable[[str], Any]


@contextmanager
def terminal_memory(options: argparse.Namespace) -> Iterator[TerminalMemory | None]:
    """None where no memory was asked for."""
    if not options.memory:
        yield None
        return
    from app.gui.store import memories
    from app.gui.store.command import opened_store

    with opened_store(options.folder) as (store, _):
        facts = [one.text for one in store.ask(memories.listed).result()]
        yield TerminalMemory(facts, lambda fact: store.ask(lambda db: memories.add(db, fact)).result())
