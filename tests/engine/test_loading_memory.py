"""Loading never holds more than the weights and one tensor: measured in a process of its own, as the system counts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.weights.convert import convert
from tests.bench import shapes

SHAPE = dict(
    hidden_size=512,
    intermediate_size=2048,
    num_hidden_layers=8,
    num_attention_heads=8,
    num_key_value_heads=8,
    head_dim=64,
    vocab_size=16384,
)
SLACK = 24 << 20  # allocators, caches, and what Python itself makes on the way

LOAD = """
import gc, json, sys
from tests.driver import Driver

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

folder, backend, dtype, warm = sys.argv[1:]
from pathlib import Path
Driver(Path(warm), backend, dtype).greedy([1, 2, 3], 2)  # imports, threads, first allocations
gc.collect()
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
driver = Driver(Path(folder), backend, dtype)
print(json.dumps([before, status("VmHWM")]))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    tiny = dict(SHAPE, hidden_size=64, intermediate_size=64, num_hidden_layers=1, vocab_size=64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "KEPT", tmp_path_factory.mktemp("shapes"))
        patch.setitem(shapes.SHAPES, "middle", SHAPE)
        patch.setitem(shapes.SHAPES, "warm", tiny)
        made = {stored: shapes.checkpoint("middle", stored) for stored in ("F32", "BF16")}
        yield {**made, "warm": shapes.checkpoint("warm", "F32")}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="asks Linux for the peak")
@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize(("stored", "dtype"), [("F32", "f32"), ("BF16", "bf16"), ("BF16", "f32")])
def test_peak_is_the_weights_and_one_tensor(folders: dict[str, Path], backend: str, stored: str, dtype: str) -> None:
    arguments = [str(folders[stored]), backend, dtype, str(folders["warm"])]
    run = subprocess.run(
        [sys.executable, "-c", LOAD, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    before, peak = json.loads(run.stdout.splitlines()[-1])
    counts = [a * b for a, b in (s for s in shapes.tensors(SHAPE).values() if len(s) == 2)]
    size = 4 if dtype == "f32" else 2
    assert peak - before <= (sum(counts) + max(counts)) * size + SLACK


STEPS = """
import sys
from backends.torch.kernels import arena
from tests.bench.peers import GrusTorch

grus = GrusTorch(sys.argv[1], "f32", "torch")
arena.wait()  # until the weights are packed
grus.prefill(3)
kept, counts = 0, False
with open("/proc/self/smaps") as lines:
    for line in lines:
        if "-" in line.split()[0]:
            counts = line.rstrip().endswith(sys.argv[1])
        elif counts and line.startswith("Rss:"):
            kept += int(line.split()[1]) * 1024
print(kept)
"""


@pytest.mark.torch_only("MLX copies what it reads")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks Linux for the pages of a file")
def test_steps_keep_no_page_of_the_file_beside_packed_weights(folders: dict[str, Path], tmp_path: Path) -> None:
    """Norms of a GGUF file are read in each step. Where the system keeps a file in huge pages, each is 2 MB of it."""
    path = tmp_path / "model.gguf"
    convert(folders["BF16"], path)
    with path.open("rb") as file:  # read anew: what was just written lies in ordinary pages
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.read()
    run = subprocess.run([sys.executable, "-c", STEPS, str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.splitlines()[-1]) <= path.stat().st_size // 20
