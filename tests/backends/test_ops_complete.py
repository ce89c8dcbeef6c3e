"""No operation without a test, none without a line in the docs."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path

from backends.base import Ops
from tests.backends.op_cases import Case

HERE = Path(__file__).parent
PROMISED = {name for name in vars(Ops) if not name.startswith("_")}


def all_cases() -> list[Case]:
    modules = [importlib.import_module(f"tests.backends.{path.stem}") for path in sorted(HERE.glob("test_ops_*.py"))]
    return [case for module in modules for case in getattr(module, "CASES", [])]


def test_every_op_has_a_case_and_every_case_an_op() -> None:
    assert {case.op for case in all_cases()} == PROMISED


def test_no_two_cases_share_a_name() -> None:
    assert [name for name, count in Counter(map(str, all_cases())).items() if count > 1] == []


def test_the_docs_table_names_exactly_the_ops_of_the_protocol() -> None:
    text = (HERE.parents[1] / "docs" / "ops.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == PROMISED
