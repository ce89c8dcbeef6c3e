"""From a restart to the first token of a long conversation, on Qwen3.5-4B's shape in Q4_0.

One process leaves a conversation of 20,000 tokens in the folder of `--kv-offload-dir`. Each of the next ones loads the model and continues it. The
first does not compute these tokens, which takes minutes: it fills a slot with rows of a short prompt, again and again, and gives it to
the prefix cache, which writes the file as it writes all (`tests/test_bench_restart.py` compares such a file with a computed one, byte by byte).
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

from backends.base import Sampling, Segment
from engine.engine import Engine
from engine.executor import ModelExecutor
from engine.load_options import LoadOptions
from engine.loading import load
from engine.prefix_cache import CachedPrefix
from engine.prefix_offload import StoredPrefix
from engine.types import Request, SamplingParams, Settings
from tests.bench.mixture_shapes import F32, Tensors, write_random
from tests.bench.shapes import KEPT
from tests.bench.table import Row

LENGTH, REPLY, FRESH, ROUNDS = 20_000, 100, 16, 3  # tokens: of the conversation, of its last reply, of the next message
TAIL = 16  # tokens before the end of a prompt where the scheduler keeps a state checkpoint
SEEN = 64  # tokens that are computed, of which the rest are copies
Q4_0 = "Q4_0"


def qwen3_5_4b() -> Path:
    path = KEPT / "qwen3.5-4b-q4_0.gguf"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        _write(unfinished)
        unfinished.rename(path)
    return path


def _write(path: Path) -> None:
    """32 layers, of which three in four are gated delta rules; embeddings and output are one matrix."""
    layers, hidden, ffn, heads, kv_heads, dim, vocab = 32, 2560, 9216, 16, 4, 256, 248320
    keys, values, size = 16, 32, 128  # of a delta rule
    tensors: Tensors = {"token_embd.weight": ((vocab, hidden), "Q6_K"), "output_norm.weight": ((hidden,), F32)}
    for i in range(layers):
        named: Tensors = dict.fromkeys(("attn_norm", "post_attention_norm"), ((hidden,), F32))
        named |= {f"ffn_{part}": ((ffn, hidden), Q4_0) for part in ("gate", "up")}
        named["ffn_down"] = (hidden, ffn), Q4_0
        if i % 4 == 3:
            widths = {"attn_q": 2 * heads * dim, "attn_k": kv_heads * dim, "attn_v": kv_heads * dim}
            named |= {name: ((width, hidden), Q4_0) for name, width in widths.items()}
            named["attn_output"] = (hidden, heads * dim), Q4_0
            named |= {f"attn_{part}_norm": ((dim,), F32) for part in "qk"}
        else:
            named |= {
                "attn_qkv": (((2 * keys + values) * size, hidden), Q4_0),
                "attn_gate": ((values * size, hidden), Q4_0),
                "ssm_alpha": ((values, hidden), F32),
                "ssm_beta": ((values, hidden), F32),
                "ssm_conv1d": (((2 * keys + values) * size, 4), F32),
                "ssm_norm": ((size,), F32),
                "ssm_out": ((hidden, values * size), Q4_0),
            }
            tensors |= {f"blk.{i}.ssm_dt.bias": ((values,), F32), f"blk.{i}.ssm_a": ((values,), F32)}
        tensors |= {f"blk.{i}.{name}.weight": given for name, given in named.items()}

    def fields(writer: Any) -> None:
        writer.add_block_count(layers)
        writer.add_embedding_length(hidden)
        writer.add_feed_forward_length(ffn)
        writer.add_head_count(heads)
        writer.add_head_count_kv(kv_heads)
        writer.add_key_length(dim)
        writer.add_value_length(dim)
        writer.add_layer_norm_rms_eps(1e-6)
        writer.add_rope_freq_base(1e7)
        writer.add_rope_dimension_count(dim // 4)
        writer.add_rope_dimension_sections([11, 11, 10, 0])
        writer.add_ssm_conv_kernel(4)
        writer.add_ssm_state_size(size)
        writer.add_ssm_group_count(keys)
        writer.add_ssm_time_step_rank(values)
        writer.add_ssm_inner_size(values * size)
        writer.add_array("qwen35.attention.recurrent_layers", [i % 4 != 3 for i in range(layers)])

    write_random(path, "qwen35", vocab, tensors, fields)


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


def made_up(executor: ModelExecutor, length: int, checkpoint: int) -> StoredPrefix:
    """A prefix of any length, from the rows and states of a short prompt."""
    kv = executor.loaded.kv
    slot = executor.memory.open(SEEN)
    assert slot is not None
    executor.loaded.runner.run([Segment(slot, list(range(5, 5 + SEEN)), sample=Sampling())]).read()
    states = kv.export_snapshot(kv.snapshot(slot, rows=False))
    arrays = kv.export_snapshot(kv.snapshot(slot))
    executor.memory.close(slot)
    rows = [np.take(array, np.arange(length) % SEEN, axis=-2) for array in arrays[: len(arrays) - len(states)]]
    return StoredPrefix([*rows, *states], [(checkpoint, states)])


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
    keep(executor, conversation(), made_up(executor, LENGTH, LENGTH - REPLY - TAIL))
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
