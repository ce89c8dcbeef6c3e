"""`make audit-syncs`: where a decode step makes the host wait for the device, by file and line.

On a machine with CUDA, torch itself tells (`set_sync_debug_mode`). Elsewhere a CPU stands for the GPU: the step takes torch's
way, without the CPU kernels, and every call is looked at. What lives on the device is all that was there before the step, all
that is made on it, and what is computed from these; a call waits that brings any of it to the host (`.item()`, `.tolist()`,
`.cpu()`, a branch on a value), whose result's size depends on values (`nonzero`, a mask as an index), or that copies from
the host without `non_blocking` (a list as an index does, too).
"""

from __future__ import annotations

import linecache
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

ROOT = Path(__file__).resolve().parents[2]
PLACE = torch.device("cpu", 0)  # the device; the host is a CPU without a number
READS = {
    "item", "tolist", "cpu", "__int__", "__float__", "__bool__", "__index__", "__contains__",
    "equal", "allclose", "is_nonzero",
}  # fmt: skip
SIZED_BY_VALUES = {"nonzero", "masked_select", "unique", "bincount", "argwhere"}
MAKERS = {"tensor", "as_tensor", "asarray"}


@dataclass(frozen=True, order=True)
class Wait:
    file: str
    line: int
    what: str

    @property
    def code(self) -> str:
        return linecache.getline(str(ROOT / self.file), self.line).strip()


class Audit(TorchFunctionMode):
    """Counts the waits of what runs inside."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[Wait] = Counter()

    def __enter__(self) -> Audit:
        """Arrays of numpy become tensors without asking a mode."""
        self._from_numpy = torch.from_numpy

        def from_numpy(array: Any) -> Tensor:
            made = self._from_numpy(array)
            made._on_host = True  # type: ignore[attr-defined]
            return made

        torch.from_numpy = from_numpy
        super().__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        torch.from_numpy = self._from_numpy
        super().__exit__(*what)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        given = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        given += [t for a in args if isinstance(a, list | tuple) for t in a if isinstance(t, Tensor)]
        ours = any(not _on_host(t) for t in given)
        if name == "__get__" and getattr(func, "__self__", None) is Tensor.device:
            return PLACE if ours else torch.device("cpu")
        target = _target(name, args, kwargs)
        what = self._wait(name, args, kwargs, ours, target)
        if what:
            self.waits[Wait(*_site(), what)] += 1
        result = func(*args, **kwargs)
        if isinstance(result, Tensor) and any(result is t for t in given) and name in ("cpu", "to"):
            result = result.detach()  # on a real device it would be a copy, not the same
        to_host = name == "cpu" or target == torch.device("cpu")
        for made in result if isinstance(result, list | tuple) else (result,):
            if isinstance(made, Tensor) and not any(made is t for t in given):
                made._on_host = to_host or not (ours or target == PLACE)  # type: ignore[attr-defined]
        return result

    def _wait(self, name: str, args: Any, kwargs: Any, ours: bool, target: torch.device | None) -> str:
        if ours and (name in READS or target == torch.device("cpu")):
            return f"{name}: reads from the device"
        if ours and (name in SIZED_BY_VALUES or (name == "where" and len(args) == 1)):
            return f"{name}: its result's size depends on values"
        if ours and name == "repeat_interleave" and isinstance(args[1], Tensor) and "output_size" not in kwargs:
            return f"{name}: its result's size depends on values"
        if ours and name in ("__getitem__", "__setitem__"):
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(i, list) or (isinstance(i, Tensor) and _on_host(i)) for i in index):
                return f"{name}: copies its index from the host"
            if any(isinstance(i, Tensor) and i.dtype == torch.bool for i in index):
                return f"{name}: a mask's size depends on values"
        if target == PLACE and not ours and not kwargs.get("non_blocking") and (name in MAKERS or name == "to"):
            return f"{name}: copies from the host"
        return ""


def _on_host(t: Tensor) -> bool:
    return getattr(t, "_on_host", False)


def _target(name: str, args: Any, kwargs: Any) -> torch.device | None:
    """The device that a call names."""
    found = kwargs.get("device")
    if found is None and name == "to":
        found = next((a for a in args[1:] if isinstance(a, torch.device | str)), None)
    return torch.device(found) if found is not None else None


def _site() -> tuple[str, int]:
    """The line of ours that is being run."""
    frame = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path != Path(__file__) and ROOT in path.parents and "site-packages" not in path.parts:
            return str(path.relative_to(ROOT)), frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "?", 0


# -- the steps that are looked at


def decode_step(folder: Path, recorded: bool, samplings: Sequence[Any]) -> Callable[[], Any]:
    """Issues a decode step of several sequences, warmed up."""
    from backends.base import Segment
    from backends.torch.backend import TorchBackend
    from backends.torch.cuda_graphs import DecodeGraphs
    from engine.models.registry import find_architecture
    from engine.weights.checkpoint import Checkpoint
    from engine.weights.view import build

    checkpoint = Checkpoint.open(folder)
    make = find_architecture(checkpoint.config, folder.name)
    backend = TorchBackend("cuda:0" if torch.cuda.is_available() else str(PLACE), "f32")
    model = build(lambda view: make(view, checkpoint.config), checkpoint, backend)
    kv = backend.kv(model.memory, 1 << 28)
    runner = backend.runner(model, kv)
    if not recorded:
        runner.graphs = None
    elif runner.graphs is None:  # the same step, run anew each time instead of replayed
        runner.graphs = DecodeGraphs(model, kv, Again)
    slots = [kv.open(256) for _ in samplings]
    for slot, sampling in zip(slots, samplings):
        runner.run([Segment(slot, [1, 2, 3, 4], sample=sampling)]).read()

    def run() -> Any:
        return runner.run([Segment(slot, None, sample=sampling) for slot, sampling in zip(slots, samplings)])

    for _ in range(3):
        run().read()
    return run


class Again:
    """A recording that computes anew."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Tensor, ...]) -> None:
        self.replay = lambda args: fn(*args)


def audited(work: Callable[[], Any]) -> tuple[Any, Counter[Wait]]:
    if torch.cuda.is_available():
        return _audited_by_torch(work)
    with Audit() as audit:
        result = work()
    return result, audit.waits


def _audited_by_torch(work: Callable[[], Any]) -> tuple[Any, Counter[Wait]]:
    """Not measured here: there was no GPU."""
    waits: Counter[Wait] = Counter()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_: waits.update([Wait(*_site(), str(message).partition("\n")[0])])
            result = work()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return result, waits


STEPS = (("usual way", False), ("recorded", True))


def table(folder: Path, drawn: bool) -> list[tuple[str, str, Counter[Wait]]]:
    """`(step, part, waits)`; `drawn`: tokens are drawn with every filter, else the best is taken."""
    from backends.base import Sampling

    one = Sampling(temperature=0.8, noise=0.3, top_k=20, top_p=0.9, min_p=0.01) if drawn else Sampling()
    found = []
    for name, recorded in STEPS:
        run = decode_step(folder, recorded, [one] * 3)
        pending, waits = audited(run)
        _, reads = audited(pending.read)
        found += [(name, "issuing it", waits), (name, "reading its tokens", reads)]
    return found


def main() -> None:
    os.environ["GRUS_KERNELS"] = "off"  # before anything loads them: CUDA has none
    from tests.checkpoints import save

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "a CPU in a GPU's place"
    print(f"Host-device waits of a decode step of 3 sequences, on {device}\n")
    with tempfile.TemporaryDirectory() as root:
        for model in ("llama", "qwen3_5"):
            folder = save(model, Path(root) / model, "new" if model == "qwen3_5" else "old")
            for drawn in (False, True):
                for step, part, waits in table(folder, drawn):
                    how = "drawn" if drawn else "greedy"
                    print(f"{model}, {how}, {step}, {part}: {sum(waits.values())} waits")
                    for wait, times in sorted(waits.items()):
                        print(f"  {times}x {wait.file}:{wait.line}  {wait.what}\n      {wait.code}")


if __name__ == "__main__":
    main()
