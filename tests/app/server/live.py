"""A server on a socket of this machine, in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.runtime.catalogue import Catalogue
from app.runtime.models import ModelService
from app.server.app import create_app
from app.server.config import ServerSettings
from app.server.listening import Listener
from app.server.requests import Requests
from tests.app.server.scripted import ScriptedEngine, scripted_model


@dataclass
class Live:
    url: str
    port: int
    service: ModelService
    requests: Requests
    engine: Any
    settings: ServerSettings = field(default_factory=ServerSettings)
    stop: Callable[[], None] = lambda: None


@contextmanager
def serving(
    make_engine: Callable[[Any], Any], load: Callable[[str], Any], catalogue: Catalogue, **settings: Any
) -> Iterator[Live]:
    chosen = ServerSettings(port=0, **settings)
    service = ModelService(make_engine, load, catalogue)
    app = create_app(service, chosen)
    listener = Listener(app, chosen)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    try:
        port = listener.wait_until_open(10)
        yield Live(
            f"http://127.0.0.1:{port}", port, service, app.state.server.requests, service.engine, chosen, listener.stop
        )
    finally:
        listener.stop()
        thread.join(10)
        service.close()
    assert not thread.is_alive()


@contextmanager
def scripted(folder: Path, model_type: str = "qwen3", name: str = "tiny", **settings: Any) -> Iterator[Live]:
    """One model behind a scripted engine."""
    model = scripted_model(folder / name, model_type)
    catalogue = Catalogue({name: str(folder / name)}, use_cache=False)
    settings.setdefault("voices_dir", str(folder / "voices"))
    with serving(ScriptedEngine, lambda source: model, catalogue, **settings) as live:
        yield live
