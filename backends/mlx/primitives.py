"""What a lazy graph consists of: the operations that a step builds and issues."""

from __future__ import annotations

import io
import re
from collections import Counter

import mlx.core as mx


def primitives(*outputs: mx.array) -> Counter[str]:
    """Counts, by kind, the primitives of the lazy graph that computes `outputs`."""
    dot = io.StringIO()
    mx.export_to_dot(dot, *outputs)
    return Counter(re.findall(r'\[label ="([^"]*)", shape=rectangle', dot.getvalue()))


def count_primitives(*outputs: mx.array) -> int:
    return sum(primitives(*outputs).values())
