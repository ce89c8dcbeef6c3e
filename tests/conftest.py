"""What holds for every test: one thread a process, set before any array library is imported, and no dice of the machine.

The models in the tests are tiny, the suite runs in two processes, and sums come out in the same order everywhere.
A request without a seed draws one (`secrets.randbits`): here it draws the same one in every run, else a test that
forgets its seed fails once in a hundred runs. `GRUS_TEST_DICE=7` throws other dice: to look for such a test.
"""

from __future__ import annotations

import os
import random
import secrets

import pytest

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(autouse=True)
def same_dice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(os.environ.get("GRUS_TEST_DICE", "") + request.node.nodeid)
    monkeypatch.setattr(secrets, "randbits", dice.getrandbits)
