"""The engine: many streams together, a follow-up turn, and what it costs itself."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import grus
from engine.benchmark import TextBenchmark
from engine.types import Settings
from tests.bench.shapes import checkpoint
from tests.bench.table import Row

HISTORY, REPLY = 2000, 16


def stream_rows() -> list[Row]:
    with grus.load(str(checkpoint("qwen3-0.6b", "F32")), backend="torch", device="cpu", dtype="f32") as model:
        measure = TextBenchmark(model.engine, model.loaded)
        measure.decode(2, 4, 1)
        # in turn, so that a machine that slows down slows all of them
        rounds = [{n: measure.decode(n, REPLY, 1) for n in (1, 4, 8, 16)} for _ in range(3)]
        rates = {n: statistics.median(r[n] for r in rounds) for n in (1, 4, 8, 16)}
        aims = {8: ">= 3x one stream"}
        rows = [Row(f"{n} streams", "tokens/s", rates[n], rates[1], "one stream", aims.get(n, "")) for n in rates]
        cold, warm = measure.follow_up(HISTORY, runs=2)
        rows.append(Row(f"follow-up turn after {HISTORY} tokens", "% of cold", 100 * warm / cold, aim="<= 5"))
        rows.append(Row("first token, cold", "s", cold))
    return rows


def overhead_rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        from tests.checkpoints import save

        path = save("qwen3", Path(folder) / "tiny")
        with grus.load(str(path), Settings(async_scheduling=False), backend="torch", device="cpu") as model:
            costs = [TextBenchmark(model.engine, model.loaded, seed=i).overhead() for i in range(5)]
    return [Row("the engine's own cost, one stream", "ms a token", 1000 * statistics.median(costs), aim="<= 0.3")]


def rows() -> list[Row]:
    return overhead_rows() + stream_rows()
