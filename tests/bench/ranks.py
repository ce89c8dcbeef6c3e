"""What it costs to split a model among ranks: messages, bytes and time to tell a decode step, and a sum over two ranks by gloo."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from backends.ranks import Message
from backends.torch.group import TorchGroup
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Request, SamplingParams
from tests.bench.table import Row
from tests.checkpoints import save

SEQUENCES, REPLY, SUMS = 16, 256, 400
HIDDEN = 5120  # Qwen3-32B's
_OPTIONS = LoadOptions(backend="torch", device="cpu", dtype="f32", quant="none", tensor_parallel=2)


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        messages, nbytes, seconds = step_cost(save("llama", Path(folder) / "m", max_position_embeddings=2048))
    step = f"of a decode step of {SEQUENCES} sequences, 2 ranks"
    return [
        Row(f"messages {step}", "", messages, more_is_better=False),
        Row(f"bytes {step}", "", nbytes, aim="under 2,000", more_is_better=False),
        Row(f"telling {step}, median", "ms", seconds * 1e3, aim="under 0.2", more_is_better=False),
        Row(f"a sum of [{SEQUENCES}, {HIDDEN}] f32 by gloo, median", "ms", summed() * 1e3, more_is_better=False),
    ]


def step_cost(folder: Path) -> tuple[float, float, float]:
    """Messages, bytes and seconds of a decode step, medians. A real second process reads them."""
    loaded = load(str(folder), _OPTIONS)
    team = loaded.team
    assert team is not None
    send: Callable[[Sequence[Message]], None] = team.send
    steps: list[tuple[int, int, float]] = []

    def timed(messages: Sequence[Message]) -> None:
        before, began = team.sent, time.perf_counter()
        send(messages)
        spent = time.perf_counter() - began
        if messages[0][0] == "run" and len(messages[0][1]) == SEQUENCES:
            steps.append((team.sent[0] - before[0], team.sent[1] - before[1], spent))

    team.send = timed  # type: ignore[method-assign]
    how = SamplingParams(temperature=0.0, max_tokens=REPLY, ignore_eos=True)
    with Engine(lambda _: loaded) as engine:
        engine.load("m")
        before = team.sent[0]
        engine.batch([Request("m", [1, 2, 3 + i], how) for i in range(SEQUENCES)])
        assert len(steps) > REPLY // 2
        assert team.sent[0] - before < 2 * (len(steps) + 4 * SEQUENCES)
    messages, nbytes, seconds = zip(*steps, strict=True)
    return statistics.median(messages), statistics.median(nbytes), statistics.median(seconds)


def summed() -> float:
    """Seconds of a sum over two ranks, which are threads."""
    spent: list[float] = []

    def rank(index: int, place: Path) -> None:
        group = TorchGroup(place, index, 2, torch.device("cpu"))
        x = torch.ones(SEQUENCES, HIDDEN)
        for _ in range(SUMS):
            began = time.perf_counter()
            group.all_reduce(x)
            if index == 0:
                spent.append(time.perf_counter() - began)
        group.close()

    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=rank, args=(index, Path(folder) / "meeting")) for index in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return statistics.median(spent)
