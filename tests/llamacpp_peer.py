"""llama.cpp's replies to GGUF files, beside ours. Needs `llama-cpp-python` (the `bench` extra)."""

from __future__ import annotations

import base64
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backends.base import Segment
from backends.ops import LONG_TEXT
from engine.loading import LoadOptions, load
from engine.pipelines.prompt import Prompt
from engine.weights.gguf.mmproj_files import name_beside
from tests.seeing_world import SeeingWorld

MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("llama_cpp") is None, reason="llama-cpp-python is not installed (the extra `bench`)"
    ),
]
CHILD = [sys.executable, str(Path(__file__).with_name("llamacpp_child.py"))]
PLACE = "<__media__>"
PROMPT = [ord(letter) - 33 for letter in "Whatever.one.says,the.other.says.too."]
REPLY = 40


class LlamaCpp:
    """llama.cpp's logits after a prompt, and after each further token."""

    def __init__(self, path: Path, mmproj: Path | None = None) -> None:
        arguments = ["reply", str(path)] if mmproj is None else ["see", str(path), str(mmproj)]
        self._child = subprocess.Popen([*CHILD, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def see(self, text: str, pictures: Sequence[Image.Image]) -> np.ndarray:
        """The logits after a text with `PLACE` for each picture, of a model with an mmproj file. Then steps of one token follow."""
        given = [(*picture.size, base64.b64encode(picture.tobytes()).decode()) for picture in pictures]
        return self.step({"text": text, "pictures": given})

    def step(self, ids: list[int] | dict[str, Any]) -> np.ndarray:
        asked, answer = self._child.stdin, self._child.stdout
        assert asked is not None
        assert answer is not None
        asked.write(json.dumps(ids).encode() + b"\n")
        asked.flush()
        size = answer.read(4)
        assert len(size) == 4, "llama.cpp does not open the file, or ended"
        return np.frombuffer(answer.read(4 * int.from_bytes(size, "little")), np.float32)

    def close(self) -> None:
        self._child.communicate(timeout=60)


def both(path: Path, backend: str = "torch", long: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Our logits and llama.cpp's, along its greedy reply. `long`: as a text beyond its model's trained length."""
    theirs = LlamaCpp(path)
    model = load(str(path), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none"))
    slot = model.kv.open(len(PROMPT) + REPLY)
    assert slot is not None
    ids, at = PROMPT, LONG_TEXT
    for _ in range(REPLY):
        want = theirs.step(ids)
        pos = np.arange(at, at + len(ids), dtype=np.int32) if long else None
        at += len(ids)
        got = model.runner.run([Segment(slot, ids, pos=pos, want=range(len(ids) - 1, len(ids)))]).read()[slot].logits
        assert got is not None
        yield got[-1], want
        ids = [int(want.argmax())]
    theirs.close()
    model.close()


def sees_alike(world: SeeingWorld, place: str, picture: Image.Image, file: Path | None = None) -> None:
    """Along llama.cpp's greedy reply about a picture. `place`: where our prompt has it; `file`: what llama.cpp reads, if not our file."""
    file = file or Path(world.name)
    theirs = LlamaCpp(file, name_beside(file))
    wants = [theirs.see(f"One {PLACE} what is it?", [picture])]
    prompt = world.prompt(f"One {place} what is it?", [picture])
    got = [world.logits(prompt)[-1]]
    for _ in range(REPLY - 1):
        prompt = _longer(prompt, int(wants[-1].argmax()))
        wants.append(theirs.step(list(prompt.ids[-1:])))
        got.append(world.logits(prompt)[-1])
    theirs.close()
    for ours, want in zip(got, wants, strict=True):
        assert np.linalg.norm(ours - want) <= 2e-2 * np.linalg.norm(want)
        assert ours.argmax() == want.argmax()


def _longer(prompt: Prompt, id: int) -> Prompt:
    rope = prompt.rope
    if rope is not None:
        rope = np.concatenate([rope, np.full((3, 1), rope.max() + 1)], 1)
    return replace(prompt, ids=[*prompt.ids, id], rope=rope)
