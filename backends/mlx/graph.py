"""Looking at a lazy graph before it runs: which primitives it would issue."""

from __future__ import annotations

import io
import re
from collections import Counter

import mlx.core as mx


def primitives(*outputs: mx.array) -> Counter[str]:
    """The kinds of primitives in the graph that would compute `outputs`, counted."""
    dot = io.StringIO()
    mx.export_to_dot(dot, *outputs)
    return Counter(re.findall(r'\[label ="([^"]*)", shape=rectangle', dot.getvalue()))


def count_primitives(*outputs: mx.array) -> int:
    return sum(primitives(*outputs).values())
