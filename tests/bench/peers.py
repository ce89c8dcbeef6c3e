"""The programs that are compared, each driven in a process of its own by one-line JSON commands.

Every peer answers the same questions: load a folder, prefill n tokens, decode n tokens at a batch, how much memory.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.bench.llamacpp import PIECE, LlamaCpp

THREADS = str(os.cpu_count() or 1)
# Another checkout of Grus, with an environment and kernels of its own: it then takes the place of each reference library.
checkout: Path | None = None


class Peer:
    """The near end: a child process and its answers."""

    def __init__(self, kind: str, folder: Path, dtype: str, root: Path | None = None) -> None:
        """`root`: the checkout whose code runs, if not this one."""
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": THREADS,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_VERBOSITY": "error",
        }
        self.kind, self.folder, self.dtype = kind, folder, dtype
        python = str(root / ".venv" / "bin" / "python") if root else sys.executable
        self._child = subprocess.Popen(
            [python, "-m", "tests.bench.peers", kind, str(folder), dtype],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.loaded: dict[str, Any] = self._answer()

    def rival(self, kind: str, folder: Path, dtype: str) -> Peer:
        """What this one is compared with: the program named, or this one in the other checkout."""
        return Peer(self.kind, self.folder, self.dtype, checkout) if checkout else Peer(kind, folder, dtype)

    def ask(self, question: str, **arguments: Any) -> Any:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps([question, arguments]) + "\n")
        self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"The bench process of {self.kind} ended: exit code {self._child.wait()}.")
        return json.loads(line)

    def close(self) -> None:
        self._child.communicate()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Grus:
    """Ours, without the engine: backend, model and runner."""

    def __init__(self, folder: str, dtype: str, backend: str, bits: int | None = None) -> None:
        """`bits`: in how many keys and values are kept, if not in as many as by default."""
        began = time.perf_counter()
        from backends.pick import pick
        from engine.model_files import open_model
        from engine.models.registry import find_architecture
        from engine.weights.fit import fitted, kept_bits
        from engine.weights.view import build

        self.backend = pick(backend, "cpu", dtype)
        self.backend.ops.numpy(self.backend.ops.arange(1))
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        opened = open_model(Path(folder))
        make = find_architecture(opened.config, folder)
        source = fitted(opened.source, self.backend, None)
        self.model = build(lambda view: make(view, opened.config), source, self.backend)
        kept = kept_bits(bits, self.backend, self.model, opened.quantized)
        self.kv = self.backend.kv(self.model.memory, 4 << 30, kept)
        self.runner = self.backend.runner(self.model, self.kv)

    def prefill(self, n: int) -> float:
        from backends.base import Sampling, Segment

        slot = self.kv.open(n)
        assert slot is not None
        began = time.perf_counter()
        self.runner.run([Segment(slot, list(range(5, 5 + n)), sample=Sampling())]).read()
        took = time.perf_counter() - began
        self.kv.close(slot)
        return took

    def decode(self, n: int, batch: int, past: int) -> float:
        from backends.base import Sampling, Segment

        slots = [self.kv.open(past + n + 1) for _ in range(batch)]
        for i, slot in enumerate(slots):
            assert slot is not None
            ids = [5 + (i + at) % 1000 for at in range(past)]
            for first in range(0, past, PIECE):  # more do not fit into a sliding window's rows
                self.runner.run([Segment(slot, ids[first : first + PIECE], sample=Sampling())]).read()
        live = [slot for slot in slots if slot is not None]
        began = time.perf_counter()
        for _ in range(n):
            self.runner.run([Segment(slot, sample=Sampling()) for slot in live]).read()
        took = time.perf_counter() - began
        for slot in live:
            self.kv.close(slot)
        return took / n


class Reference:
    """A model in the reference library, opened by its class of the name `kind`."""

    kind: str

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        import torch
        import transformers

        torch.set_grad_enabled(False)
        self.torch = torch
        auto: Any = getattr(transformers, self.kind)
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        self.model = auto.from_pretrained(folder, dtype=kind).eval()


class Transformers(Reference):
    kind = "AutoModelForCausalLM"

    def prefill(self, n: int) -> float:
        ids = self.torch.arange(5, 5 + n)[None]
        began = time.perf_counter()
        self.model(ids, use_cache=True, logits_to_keep=1).logits.argmax(-1)
        return time.perf_counter() - began

    def decode(self, n: int, batch: int, past: int) -> float:
        ids = self.torch.stack([self.torch.arange(5 + i, 5 + i + past) for i in range(batch)])
        out = self.model(ids, use_cache=True, logits_to_keep=1)
        token = out.logits[:, -1:].argmax(-1)
        began = time.perf_counter()
        for _ in range(n):
            out = self.model(token, past_key_values=out.past_key_values, use_cache=True)
            token = out.logits[:, -1:].argmax(-1)
        return (time.perf_counter() - began) / n


class MlxLm:
    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        import mlx.core as mx
        from mlx_lm.models import cache
        from mlx_lm.utils import load_model

        self.mx, self.cache = mx, cache
        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        self.model, _ = load_model(Path(folder), lazy=False)
        self.model.set_dtype({"f32": mx.float32, "bf16": mx.bfloat16}[dtype])

    def prefill(self, n: int) -> float:
        mx, cache = self.mx, self.cache.make_prompt_cache(self.model)
        began = time.perf_counter()
        mx.eval(mx.argmax(self.model(mx.arange(5, 5 + n)[None], cache=cache)[:, -1], -1))
        return time.perf_counter() - began

    def _started(self, batch: int, past: int) -> tuple[Any, Any]:
        mx, cache = self.mx, self.cache.make_prompt_cache(self.model)
        ids = mx.stack([mx.arange(5 + i, 5 + i + past) for i in range(batch)])
        token = mx.argmax(self.model(ids, cache=cache)[:, -1:], -1)
        mx.eval(token, [c.state for c in cache])
        return token, cache

    def decode(self, n: int, batch: int, past: int) -> float:
        mx = self.mx
        token, cache = self._started(batch, past)
        began = time.perf_counter()
        for _ in range(n):
            token = mx.argmax(self.model(token, cache=cache)[:, -1:], -1)
            mx.eval(token)
        return (time.perf_counter() - began) / n

    def primitives(self, batch: int) -> int:
        from backends.mlx.primitives import count_primitives

        token, cache = self._started(batch, 8)
        return count_primitives(self.mx.argmax(self.model(token, cache=cache)[:, -1:], -1))


class GrusMlx(Grus):
    def primitives(self, batch: int) -> int:
        return int(self.runner.count_primitives(batch))  # type: ignore[attr-defined]


class GrusTorch(Grus):
    def overhead(self, n: int, past: int) -> float:
        """The share of a decode step that is not the native call, measured by leaving it out: its results are those that the last one left."""
        from types import SimpleNamespace
        from unittest import mock

        from backends.base import Sampling, Segment

        slot = self.kv.open(past + 4 * n + 8)
        assert slot is not None
        self.runner.run([Segment(slot, list(range(5, 5 + past)), sample=Sampling())]).read()
        step = [Segment(slot, sample=Sampling())]

        def seconds() -> float:
            times = []
            for _ in range(n):
                began = time.perf_counter()
                self.runner.run(step).read()
                times.append(time.perf_counter() - began)
            return statistics.median(times)

        seconds()
        whole = seconds()
        assert self.runner._decoding is not None, "the step takes several calls"
        nothing = SimpleNamespace(grus_decode_step=lambda *_: None)
        with mock.patch.object(self.runner._decoding, "_library", nothing):
            rest = seconds()
        self.kv.close(slot)
        return rest / whole


def reading(kind: str, folder: str, dtype: str) -> Any:
    from tests.bench import readers

    return getattr(readers, kind)(folder, dtype)


def listening(kind: str, folder: str, dtype: str) -> Any:
    from tests.bench import hearers

    return getattr(hearers, kind)(folder, dtype)


def vectors(kind: str, folder: str, dtype: str) -> Any:
    from tests.bench import embedders

    return getattr(embedders, kind)(folder, dtype)


def ik(kind: str, folder: str, dtype: str, *how: int) -> Any:
    from tests.bench import ik

    return getattr(ik, kind)(folder, dtype, *how)


KINDS: dict[str, Any] = {
    "grus-torch": lambda folder, dtype: GrusTorch(folder, dtype, "torch"),
    "grus-mlx": lambda folder, dtype: GrusMlx(folder, dtype, "mlx"),
    "transformers": Transformers,
    "mlx-lm": MlxLm,
    "grus-reading": lambda folder, dtype: reading("GrusReader", folder, dtype),
    "transformers-reading": lambda folder, dtype: reading("TransformersReader", folder, dtype),
    "grus-glm": lambda folder, dtype: reading("GrusGlm", folder, dtype),
    "transformers-glm": lambda folder, dtype: reading("TransformersGlm", folder, dtype),
    "grus-lines": lambda folder, dtype: reading("GrusLines", folder, dtype),
    "transformers-lines": lambda folder, dtype: reading("TransformersLines", folder, dtype),
    "grus-listening": lambda folder, dtype: listening("GrusHearer", folder, dtype),
    "transformers-listening": lambda folder, dtype: listening("TransformersHearer", folder, dtype),
    "grus-whisper": lambda folder, dtype: listening("GrusWhisper", folder, dtype),
    "grus-parakeet": lambda folder, dtype: listening("GrusParakeet", folder, dtype),
    "transformers-whisper": lambda folder, dtype: listening("TransformersWhisper", folder, dtype),
    "faster-whisper": lambda folder, dtype: listening("FasterWhisper", folder, dtype),
    "grus-vectors": lambda folder, dtype: vectors("GrusVectors", folder, dtype),
    "sentence-transformers": lambda folder, dtype: vectors("SentenceTransformers", folder, dtype),
    "llama.cpp-vectors": lambda folder, dtype: vectors("LlamaCppVectors", folder, dtype),
    "llama.cpp": LlamaCpp,
    "grus-conversations": lambda folder, dtype: ik("GrusConversations", folder, dtype),
    "grus-conversations-8": lambda folder, dtype: ik("GrusConversations", folder, dtype, 8),
    "grus-conversations-4": lambda folder, dtype: ik("GrusConversations", folder, dtype, 4),
    "ik_llama.cpp": lambda folder, dtype: ik("IkLlamaCpp", folder, dtype),
}


def peak_memory() -> int:
    """Bytes. On Linux not by getrusage, which counts what the parent had when this process was started."""
    if sys.platform == "linux":
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answer() -> None:
    """The far end: load, say how long it took to the first token, then answer until the input ends."""
    kind, folder, dtype = sys.argv[1:]
    peer = KINDS[kind](folder, dtype)
    loaded = time.perf_counter() - peer.began
    peer.prefill(8)
    print(
        json.dumps({"imports": peer.imported, "load": loaded, "first_token": time.perf_counter() - peer.began}),
        flush=True,
    )
    for line in sys.stdin:
        question, arguments = json.loads(line)
        if question == "peak":
            print(json.dumps(peak_memory()), flush=True)
        else:
            print(json.dumps(getattr(peer, question)(**arguments)), flush=True)


if __name__ == "__main__":
    answer()
