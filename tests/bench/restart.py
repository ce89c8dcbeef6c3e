"""From a restart to the first token of a long conversation, on Qwen3.5-4B's shape in Q4_0.

One process leaves a conversation of 20,000 tokens in the folder of `--kv-offload-dir`. Each of the next ones loads the model and continues it. The
first does not compute these tokens, which takes minutes: it fills a slot with rows of a short prompt, again and again, and gives it to
the prefix cache, which writes the file as it writes all (`tests/engine/test_restart.py` compares such a file with a computed one, byte by byte).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import KVCache, Runner, Sampling, Segment
from engine.engine import Engine
from engine.executor import ModelExecutor
from engine.load_options import LoadOptions
from engine.loading import load
from engine.prefix_cache import CachedPrefix
from engine.prefix_offload import StoredPrefix
from engine.types import Request, SamplingParams, Settings
from tests.bench.hybrid_shapes import qwen3_5_4b
from tests.bench.table import Row

LENGTH, REPLY, FRESH, ROUNDS = 20_000, 100, 16, 3  # tokens: of the conversation, of its last reply, of the next message
TAIL = 16  # tokens before the end of a prompt where the scheduler keeps a state checkpoint
SEEN = 64  # tokens that are computed, of which the rest are copies


def conversation() -> list[int]:
    return np.random.default_rng(1).integers(0, 250, LENGTH).tolist()


def ask(engine: Engine, ids: list[int]) -> Any:
    handle = engine.submit(Request("m", ids, SamplingParams(temperature=0.0, max_tokens=2, ignore_eos=True)))
    while engine._thread is None and not engine.idle:
        engine.turn()
    return handle.result()


def opened(path: Path, options: LoadOptions, folder: Path, start: bool) -> Engine:
    """An engine with the model loaded, and used once. `start`: in a thread of its own, as in any program."""
    engine = Engine(lambda _: load(str(path), options), Settings(offload_folder=folder), start=start)
    engine.load("m")
    ask(engine, [7, 8, 9] * 5)
    return engine


def executor_of(engine: Engine) -> ModelExecutor:
    (executor,) = engine._manager.executors.values()
    return executor


def made_up(kv: KVCache, runner: Runner, length: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows of any number of tokens and states, from those of a short prompt."""
    slot = kv.open(SEEN)
    assert slot is not None
    runner.run([Segment(slot, list(range(5, 5 + SEEN)), sample=Sampling())]).read()
    states = kv.export_snapshot(kv.snapshot(slot, rows=False))
    arrays = kv.export_snapshot(kv.snapshot(slot))
    kv.close(slot)
    return [np.take(array, np.arange(length) % SEEN, axis=-2) for array in arrays[: len(arrays) - len(states)]], states


def keep(executor: ModelExecutor, tokens: Sequence[int], stored: StoredPrefix) -> None:
    """Give a prefix to the prefix cache as if it had been computed."""
    kv, memory = executor.loaded.kv, executor.memory
    slot = memory.open(len(tokens))
    assert slot is not None
    checkpoints = []
    for length, states in stored.states:
        rows = [array[..., :length, :] for array in stored.arrays[: len(stored.arrays) - len(states)]]
        kv.restore(slot, kv.import_snapshot(length, [*rows, *states]))
        checkpoints.append(kv.snapshot(slot, rows=False))
    kv.restore(slot, kv.import_snapshot(len(tokens), stored.arrays))
    memory.snapshot_bytes += sum(checkpoint.nbytes for checkpoint in checkpoints)
    executor.prefix_cache.insert(CachedPrefix(list(tokens), None, slot, checkpoints))


ON_CPU = LoadOptions(backend="torch", device="cpu")


def leave(path: Path, folder: Path) -> dict[str, float]:
    engine = opened(path, ON_CPU, folder, start=False)
    executor = executor_of(engine)
    executor.prefix_cache.clear(offload=False)
    rows, states = made_up(executor.loaded.kv, executor.loaded.runner, LENGTH)
    keep(executor, conversation(), StoredPrefix([*rows, *states], [(LENGTH - REPLY - TAIL, states)]))
    engine.close()
    return {"bytes": sum(file.stat().st_size for file in folder.glob("*.prefix"))}


def go_on(path: Path, folder: Path, shared: int) -> dict[str, float]:
    from backends.torch.kernels import arena

    engine = opened(path, ON_CPU, folder, start=True)
    arena.wait()  # until the weights are repacked: a model that was just opened computes beside that
    began = time.process_time()
    timings = ask(engine, [*conversation()[:shared], *range(5, 5 + LENGTH - shared + FRESH)]).timings
    work = time.process_time() - began
    executor_of(engine).prefix_cache.clear(offload=False)  # the next round is to find what this one has found
    engine.close()
    return {"first_token": timings.first_token, "work": work, "cached": timings.cached_tokens}


def child(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.restart", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def rows() -> list[Row]:
    path = qwen3_5_4b()
    made = []
    with tempfile.TemporaryDirectory() as folder:
        size = child("leave", str(path), folder)["bytes"]
        made.append(Row("file of the conversation", "MB", size / 1e6))
        whole, shorter = LENGTH, LENGTH - REPLY
        for shared, cached, what, aim in (
            (whole, whole, f"first token of the next turn, {FRESH} tokens", "<= 1"),
            (shorter, shorter - TAIL, f"the same, the last reply of {REPLY} tokens shown otherwise", ""),
        ):
            found = [child("go-on", str(path), folder, str(shared)) for _ in range(ROUNDS)]
            assert [one["cached"] for one in found] == [cached] * ROUNDS, found
            made.append(Row(what, "s", statistics.median(one["first_token"] for one in found), aim=aim))
            made.append(Row("its processor time, and a token's", "s", statistics.median(one["work"] for one in found)))
    return made


if __name__ == "__main__":
    what, path, folder, *rest = sys.argv[1:]
    made = leave(Path(path), Path(folder)) if what == "leave" else go_on(Path(path), Path(folder), int(rest[0]))
    print(json.dumps(made))
