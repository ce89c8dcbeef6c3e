"""Gives the Guide's answers new words without training: `python packaging/starters/retell_guide.py [FOLDER]`.

Each sentence of an answer is one token, so the network knows which answer it gives and how many sentences that has, but
not what they say. Where `guide_answers.toml` says something else now, in as many sentences, the tokenizer is told. An
answer that is new, or longer, or shares a sentence that it shall no longer share, takes training.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from guide_text import ASK, END, REPLY, sentences, topic  # noqa: E402
from wordings import ANSWERS  # noqa: E402

import grus  # noqa: E402
from engine.types import Request, SamplingParams  # noqa: E402

SHIPPED = HERE.parents[1] / "resources/starter/guide"


def spoken_ids(model: grus.Model) -> dict[str, list[int]]:
    """The tokens of every answer's sentences, as the network writes them after the answer's name."""
    tokenizer = model.loaded.tokenizer
    params = SamplingParams(temperature=0, max_tokens=16)
    prompts = [tokenizer.encode(f"{ASK} ?{REPLY}{topic(name)}", add_special=False) for name in ANSWERS]
    results = model.engine.batch([Request(model.name, ids, params) for ids in prompts])
    end = tokenizer.id(END)
    return {name: [id for id in result.ids if id != end] for name, result in zip(ANSWERS, results, strict=True)}


def changes(spoken: dict[str, list[int]]) -> dict[int, str]:
    """The new text of each sentence's token. Raises SystemExit where a change needs training."""
    texts: dict[int, str] = {}
    for name, ids in spoken.items():
        wanted = sentences(name)
        if len(wanted) != len(ids):
            raise SystemExit(f"{name} has {len(wanted)} sentences now and {len(ids)} in the network: train it.")
        for id, sentence in zip(ids, wanted, strict=True):
            if texts.setdefault(id, sentence) != sentence:
                raise SystemExit(f"{name} shares a sentence with another answer, which says otherwise now: train it.")
    if len(set(texts.values())) < len(texts):
        raise SystemExit("Two sentences that were different are the same now: train it.")
    return texts


def retell(folder: Path) -> int:
    """Returns how many sentences changed."""
    with grus.load(str(folder), backend="torch", device="cpu", quant="none") as model:
        texts = changes(spoken_ids(model))
    file = folder / "tokenizer.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    changed = 0
    for token in kept["added_tokens"]:
        new = texts.get(token["id"], token["content"])
        changed += new != token["content"]
        token["content"] = new
    file.write_text(json.dumps(kept, indent=2, ensure_ascii=False), encoding="utf-8")
    return changed


if __name__ == "__main__":
    print(retell(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED), "sentences say something else now.")
