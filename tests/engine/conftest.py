"""What the engine's own tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.engine import Engine
from engine.types import Settings
from tests.fake_backend import FakeLoaded


@pytest.fixture
def build() -> Iterator[Callable[..., Engine]]:
    """An engine over fake models that the test itself steps: `build(loaded, max_concurrent=4)`."""
    made: list[Engine] = []

    def make(*loaded: FakeLoaded, start: bool = False, settings: Settings | None = None, **chosen: Any) -> Engine:
        models = {model.name: model for model in loaded}
        fake = getattr(loaded[0].runner, "clock", None)
        clock = {"clock": fake} if fake is not None else {}
        chosen.setdefault("gpu_memory_limit", "1T")
        engine = Engine(models.__getitem__, settings or Settings(**chosen), start=start, **clock)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()
