"""Every tier that this machine runs. Those of other CPUs are checked in test_other_cpus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backends.torch.kernels.library import TIERS, available, library

HERE = [t for i, t in enumerate(TIERS) if library().grus_use_tier(i)] if available() else ["scalar"]
if available():
    library().grus_use_tier(-1)


@pytest.fixture(params=HERE)
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    library().grus_use_tier(TIERS.index(request.param))
    yield request.param
    library().grus_use_tier(-1)
