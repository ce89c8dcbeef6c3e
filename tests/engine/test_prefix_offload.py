"""Prefixes on their way to disk: what waits for the helper's thread is counted, and written once."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.prefix_offload import PrefixOffload, StoredPrefix


class Later(Executor):
    """A helper that is busy until the test lets it go on."""

    def __init__(self) -> None:
        self.work: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.work.append(lambda: fn(*args, **kwargs))
        return Future()


def arrays() -> StoredPrefix:
    return StoredPrefix([np.zeros((40, 4), np.float32)])


def test_a_prefix_that_waits_is_not_stored_twice(tmp_path: Path) -> None:
    offload, helper = PrefixOffload(tmp_path, 1 << 20), Later()
    for _ in range(3):
        offload.store("key", range(40), arrays, helper)
    assert len(helper.work) == offload.pending == 1
    helper.work[0]()
    assert offload.pending == 0
    offload.store("key", range(40), arrays, helper)
    assert len(helper.work) == 1


def test_in_a_hurry_only_a_few_wait(tmp_path: Path) -> None:
    offload, helper = PrefixOffload(tmp_path, 1 << 20), Later()
    for number in range(10):
        offload.store("key", range(number, number + 40), arrays, helper)
    assert offload.pending == len(helper.work) == 4
    offload.store("key", range(100, 140), arrays, helper, hurry=False)
    assert offload.pending == 5


def test_a_prefix_that_cannot_be_written_waits_no_longer(tmp_path: Path) -> None:
    offload, helper = PrefixOffload(tmp_path, 1 << 20), Later()
    broken: Any = [None]
    offload.store("key", range(40), lambda: StoredPrefix(broken, [(8, broken)]), helper)
    assert offload.pending == 1
    with pytest.raises(TypeError):
        helper.work[0]()
    assert offload.pending == 0
