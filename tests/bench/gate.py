"""`python -m tests.bench gate`: ten short ratios to peers in under six minutes, compared with those kept in gate.json by class of machine.

Times of a machine differ from day to day, and so do machines; a ratio of two programs that were measured in turn differs less. A ratio
that is more than 5 % below the kept one is measured again, and named if it stays there; the exit code is then 1. `--keep` writes what was
measured to gate.json, in place of what this class of machine had.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.gguf import file_of
from tests.bench.peers import Peer
from tests.bench.shapes import checkpoint

KEPT = Path(__file__).with_name("gate.json")
ALLOWED = 0.05  # of a ratio, that it may drop
LIMIT = 330.0  # seconds after which nothing is measured again
ROUNDS, SECONDS = 5, 15.0  # of a ratio: at most so many rounds, and no further one after so long
PACKAGES = {"transformers": "transformers", "mlx-lm": "mlx_lm", "llama.cpp": "llama_cpp"}
Kept = Mapping[str, Mapping[str, float]]  # class of machine -> ratio by name


@dataclass(frozen=True)
class Group:
    """Ratios of one model to one peer, for which both are loaded once."""

    ours: str
    peer: str
    model: Callable[[], Path]
    dtype: str
    prefix: str
    questions: Mapping[str, tuple[str, Mapping[str, int]]]  # name -> what both are asked

    def names(self) -> list[str]:
        return [f"{self.prefix} {name}, {self.peer}" for name in self.questions]


def _decode(n: int, batch: int, past: int) -> tuple[str, Mapping[str, int]]:
    return "decode", {"n": n, "batch": batch, "past": past}


SHORT: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "prefill of 512": ("prefill", {"n": 512}),
    "decode": _decode(16, 1, 64),
}
GROUPS = (
    Group(
        "grus-torch",
        "transformers",
        partial(checkpoint, "qwen3-0.6b", "BF16"),
        "bf16",
        "bf16",
        {**SHORT, "decode, 8 together": _decode(16, 8, 64)},
    ),
    Group(
        "grus-mlx",
        "mlx-lm",
        partial(checkpoint, "qwen3-small", "F32"),
        "f32",
        "MLX",
        {
            "decode": _decode(32, 1, 32),
            "decode, 8 together": _decode(32, 8, 32),
            "primitives of a step": ("primitives", {"batch": 1}),
        },
    ),
    Group("grus-torch", "llama.cpp", partial(file_of, "qwen3-0.6b", "Q8_0"), "f32", "Q8_0", SHORT),
    Group("grus-torch", "llama.cpp", partial(file_of, "qwen3-0.6b", "Q4_0"), "f32", "Q4_0", SHORT),
)


def machine_class(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    from backends.torch.kernels import library

    return ", ".join((platform.machine(), str(library.tier()), f"{os.cpu_count()} cores", *_family(cpuinfo)))


def _family(cpuinfo: Path) -> list[str]:
    """AMD's families, which share instructions, wait for memory in ways of their own: 25 is Zen 4, 26 is Zen 5."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return [f"AMD family {fields['cpu family']}"] if fields.get("vendor_id") == "AuthenticAMD" else []


def measure(group: Group, names: Collection[str]) -> dict[str, float]:
    """Ratios to the peer, above 1 in our favour; of each the median of pairs that were measured in turn."""
    path, found = group.model(), {}
    with Peer(group.ours, path, group.dtype) as ours, Peer(group.peer, path, group.dtype) as theirs:
        for name, (question, arguments) in zip(group.names(), group.questions.values()):
            if name not in names:
                continue
            ask = [partial(side.ask, question, **arguments) for side in (ours, theirs)]
            found[name] = _ratio(*ask, rounds=1 if question == "primitives" else ROUNDS)
    return found


def _ratio(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> float:
    if rounds > 1:
        ours(), theirs()
    began, ratios = time.monotonic(), []
    while not ratios or (len(ratios) < rounds and time.monotonic() - began < SECONDS):
        mine = float(ours())
        ratios.append(float(theirs()) / mine)
    return statistics.median(ratios)


def dropped(measured: Mapping[str, float], kept: Mapping[str, float]) -> list[str]:
    """Names of ratios that are more than is allowed below the kept ones."""
    return [name for name, ratio in measured.items() if name in kept and ratio < (1 - ALLOWED) * kept[name]]


def report(measured: Mapping[str, float], kept: Mapping[str, float], left_out: Iterable[str]) -> str:
    """A line for each ratio."""
    lines = []
    for name, ratio in measured.items():
        before = kept.get(name)
        change = "not kept yet" if before is None else f"kept {before:.2f}x, {100 * (ratio / before - 1):+.0f} %"
        mark = "DROPPED  " if name in dropped(measured, kept) else ""
        lines.append(f"{mark}{name}: {ratio:.2f}x ({change})")
    lines += [f"{name}: left out, {peer} is not installed" for name, peer in left_out]
    return "\n".join(lines)


def run(
    keep: bool = False,
    groups: Iterable[Group] = GROUPS,
    measure: Callable[[Group, Collection[str]], Mapping[str, float]] = measure,
    machine: str | None = None,
    path: Path = KEPT,
) -> int:
    """Measure, compare and print. Returns the exit code."""
    machine, began = machine or machine_class(), time.monotonic()
    all_kept: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
    kept, measured, left_out = all_kept.get(machine, {}), dict[str, float](), []
    for group in groups:
        if importlib.util.find_spec(PACKAGES[group.peer]) is None:
            left_out += [(name, group.peer) for name in group.names()]
            continue
        found = dict(measure(group, group.names()))
        again = dropped(found, kept)
        if again and not keep and time.monotonic() - began < LIMIT:
            for name, ratio in measure(group, again).items():
                found[name] = max(found[name], ratio)
        measured |= found
    print(f"{machine}: ratios to peers, above 1 in our favour")
    print(report(measured, kept, left_out))
    if keep:
        all_kept[machine] = kept | {name: round(ratio, 3) for name, ratio in measured.items()}
        path.write_text(json.dumps(all_kept, indent=1, sort_keys=True) + "\n")
        return 0
    if not kept:
        print("No ratios are kept for this class of machine. `python -m tests.bench gate --keep` keeps these.")
    worse = dropped(measured, kept)
    if worse:
        print(f"{len(worse)} of {len(measured)} dropped by more than {ALLOWED:.0%}: {'; '.join(worse)}")
    return 1 if worse else 0
