"""Every tier that this machine runs. Those of other CPUs are checked in test_other_cpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.torch.kernels.library import TIERS, available, library
from tests.needs import no_kernels

HERE = [t for i, t in enumerate(TIERS) if library().grus_use_tier(i)] if available() else ["scalar"]
if available():
    library().grus_use_tier(-1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a compiler there are no kernels to test."""
    if reason := no_kernels():
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(params=HERE)
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    library().grus_use_tier(TIERS.index(request.param))
    yield request.param
    library().grus_use_tier(-1)
