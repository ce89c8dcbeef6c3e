"""The core as one piece of long work has it: whatever the work asked of the engine ends when the work is cancelled.

Without it a voice, a page or a recording would go on until the next thing that it has to give. Knows no Qt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from engine.cancel import CancelScope

if TYPE_CHECKING:
    from app.runtime.models import ModelService
    from engine.loading import LoadedModel
    from engine.tasks import Task, Work
    from engine.types import Request


class Beside(Protocol):
    """What work beside the UI thread may use of the core."""

    @property
    def service(self) -> ModelService: ...
    @property
    def engine(self) -> Any:
        """What computes: `submit` and `task`."""

    def bring(self, name: str) -> LoadedModel: ...


class Leashed:
    def __init__(self, core: Host) -> None:
        self._core = core
        self._scope = CancelScope(_Engine(core))

    @property
    def service(self) -> ModelService:
        return self._core.service

    @property
    def engine(self) -> Any:
        _ = self._core.service  # whoever waits for the engine to start must not hold the scope meanwhile
        return self._scope

    def bring(self, name: str) -> LoadedModel:
        return self._core.bring(name)

    def cut(self) -> None:
        """From any thread. Who still waits for the engine gets CancelledError, or the end of what was made."""
        self._scope.cancel()


class _Engine:
    """The core's engine, which may not be there yet when the work is asked for."""

    def __init__(self, core: Host) -> None:
        self._core = core

    def submit(self, request: Request, *, admitted: bool = False) -> Any:
        return self._core.engine.submit(request, admitted=admitted)

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        task: Task[Any] = self._core.engine.task(model, work, admitted=admitted)
        return task
