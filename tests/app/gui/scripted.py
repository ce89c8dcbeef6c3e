"""The engine that a test writes, behind the same service that the window uses."""

from __future__ import annotations

from pathlib import Path

from app.runtime.catalogue import Catalogue
from app.runtime.models import ModelService
from tests.app.server.scripted import ScriptedEngine, scripted_model


def scripted_service(folder: Path, names: tuple[str, ...] = ("tiny",)) -> tuple[ModelService, ScriptedEngine]:
    model = scripted_model(folder / "tiny")
    model.name = names[0]
    catalogue = Catalogue({name: str(folder / "tiny") for name in names}, use_cache=False)
    service = ModelService(ScriptedEngine, lambda source: model, catalogue)
    return service, service.engine  # type: ignore[return-value]
