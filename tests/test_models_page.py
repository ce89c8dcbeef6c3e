"""docs/models.md is what packaging/models_page.py makes of the registries."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from engine.models.registry import ARCHITECTURES, PARTS
from tests.asserting import every
from tests.test_docs import ROOT


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("models_page", ROOT / "packaging" / "models_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_of_today() -> None:
    made = script()
    assert (ROOT / "docs" / "models.md").read_text(encoding="utf-8") == made.page(), (
        "run `python packaging/models_page.py`"
    )


def test_every_model_is_on_it_and_no_other() -> None:
    made, text = script(), (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert every(f"`{kind}`" in text for kind in ARCHITECTURES)
    assert every(f"`{kind.partition('#')[0]}`" in text for kind in PARTS)
    assert set(made.NAMES) == set(ARCHITECTURES)
