"""The makers of the starter models are scripts beside each other, not a package: their folder goes on the path."""

from __future__ import annotations

import sys
from pathlib import Path

STARTERS = Path(__file__).resolve().parents[2] / "packaging" / "starters"
if str(STARTERS) not in sys.path:
    sys.path.insert(0, str(STARTERS))
