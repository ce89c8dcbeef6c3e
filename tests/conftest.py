"""What holds for every test: one thread a process, set before any array library is imported.

The models in the tests are tiny, the suite runs in two processes, and sums come out in the same order everywhere.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
