"""Quantization groups of keys and values: how many numbers of a head share a scale, for heads of every size."""

from __future__ import annotations

COMMON = (64, 32)  # the groups that fused kernels know
LEAST, MOST = 8, 64


def group_of(dim: int) -> int:
    """The group for heads of `dim` numbers: a common one where it divides them, else their largest even divisor of at
    most 64 (two 4-bit codes lie in a byte). A head without such a divisor is a group by itself."""
    fitting = (group for group in (*COMMON, *range(MOST, LEAST - 1, -2)) if dim % group == 0)
    return next(fitting, dim)
