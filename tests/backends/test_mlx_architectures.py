"""A decode step on MLX has no more operations than mlx-lm's, for each architecture that both have."""

from __future__ import annotations

import pytest

from tests.bench import primitives

# what mlx-lm opens of the tiny checkpoints that there are here; fewer: nothing would be compared
AT_LEAST = 40


@pytest.mark.slow  # each architecture's fused functions are compiled, by g++
def test_each_architecture_has_no_more_operations_than_mlx_lm() -> None:
    rows = primitives.rows()
    assert len(rows) >= 2 * AT_LEAST
    assert [(row.what, row.ours, row.peer) for row in rows if row.peer is None or row.ours > row.peer] == []
