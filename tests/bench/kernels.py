"""How fast the CPU kernels read weights: `python -m tests.bench.kernels [types] [--rows N --columns N --tokens N,N]`.

Prints, a type and a number of tokens a line, the median G weights/s (each weight counted once a token) and the share of the
machine's read bandwidth, which is measured first. The matrices together are larger than the caches, as a model's are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch

from backends.torch.kernels import arena
from backends.torch.kernels.library import tier
from backends.torch.kernels.linear import KernelLinear, linear
from tests.backends.kernels.weights_made_here import columns_of, make

TYPES = ("Q8_0", "Q4_0", "Q4_K", "Q6_K", "affine-4-64", "Q1_0", "BF16", "F32")
WORKING_SET = 384 << 20  # bytes
READ_SET = 1 << 30  # a server's cache may hold half of that


def seconds(run: Callable[[], object], least: float = 0.25) -> float:
    """The median of as many runs as fit, seven at least."""
    run()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 7 or time.perf_counter() - begin < least:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


def bandwidth() -> float:
    """Bytes a second that all threads together read, from huge pages and from more than any cache holds."""
    x = arena.zeros(READ_SET).view(torch.float32).fill_(1)
    return x.nbytes / seconds(x.sum, 1.0)


def copies(kind: str, rows: int, columns: int) -> list[KernelLinear]:
    weight = make(kind, rows, columns).weight
    first = linear([weight], [None], torch.float32)
    count = min(64, -(-WORKING_SET // first.nbytes))
    return [first, *(linear([weight], [None], torch.float32) for _ in range(count - 1))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("types", nargs="*", default=TYPES)
    parser.add_argument("--rows", type=int, default=3072)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--tokens", default="1,8,512")
    args = parser.parse_args()
    read = bandwidth()
    print(f"tier {tier()}, {torch.get_num_threads()} threads, reads {read / 1e9:.1f} GB/s")
    for kind in args.types:
        columns = columns_of(kind, args.columns)
        matrices = copies(kind, args.rows, columns)
        nbytes = sum(m.nbytes for m in matrices)
        weights = len(matrices) * args.rows * columns
        for tokens in (int(n) for n in args.tokens.split(",")):
            x = torch.randn(tokens, columns)
            few = matrices if tokens < 64 else matrices[:2]
            spent = seconds(lambda few=few, x=x: [m(x) for m in few])  # type: ignore[misc]
            share = len(few) / len(matrices)
            print(
                f"{kind:12} {tokens:4} tokens  {weights * share * tokens / spent / 1e9:8.1f} G weights/s"
                f"  {nbytes * share / spent / read:6.0%} of bandwidth  {1e6 * spent / len(few):9.1f} us"
            )


if __name__ == "__main__":
    main()
