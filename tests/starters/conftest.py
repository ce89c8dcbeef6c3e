"""The scripts of `packaging/starters` can be imported, as when one of them is run; the Guide is loaded once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import grus

STARTERS = Path(__file__).resolve().parents[2] / "packaging" / "starters"
if str(STARTERS) not in sys.path:
    sys.path.insert(0, str(STARTERS))


@pytest.fixture(scope="session")
def guide() -> Iterator[grus.Model]:
    with grus.load(backend="auto", device="cpu", quant="none") as model:
        yield model
