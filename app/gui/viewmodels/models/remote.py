"""The form that adds a server elsewhere, and what the window says of such servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.gui.texts import in_language, tr, trn
from app.gui.viewmodels.signal import Signal
from app.runtime.remote.servers import BETWEEN

if TYPE_CHECKING:
    from app.runtime.remote.servers import ServerProbe
    from app.window_engine import JobRunner


def server_of(model: str) -> str:
    """The name of the server elsewhere that answers for a model; empty for one of this machine."""
    server, between, _ = model.partition(BETWEEN)
    return server if between else ""


def answers_elsewhere(model: str) -> str:
    """What the status strip says while such a model is chosen."""
    server = server_of(model)
    return tr("{name} answers: what you send leaves this machine.", name=server) if server else ""


class ServerForm:
    """`changed`: busy, or the problem. `added(name)`: the server answered and is kept."""

    def __init__(self, work: JobRunner, say: Callable[..., Any]) -> None:
        self._work, self._say = work, say
        self.changed = Signal()
        self.added = Signal()
        self.busy = False
        self.problem = ""

    def add(self, name: str, url: str, key: str = "", model: str = "") -> None:
        """Ask the server for its models, and keep it. `model`: one that it has and does not list."""
        self._run(lambda: _added(name.strip(), url.strip(), key.strip(), model.strip()), self._got)

    def remove(self, name: str) -> None:
        from app.runtime.remote.servers import forget_server

        def gone(_: None) -> None:
            self.busy = False
            self._say(tr("The server {name} was removed, with its key.", name=name), level="ok")
            self.added(name)

        self._run(lambda: forget_server(name), gone)

    def refresh(self, name: str) -> None:
        """Ask for its models again."""
        self._run(lambda: _asked_again(name), self._got)

    def _run(self, job: Callable[[], Any], then: Callable[[Any], Any]) -> None:
        if self.busy:
            return
        self.busy, self.problem = True, ""
        self.changed()
        self._work.run(job, then, self._failed)

    def _got(self, probe: ServerProbe) -> None:
        self.busy = False
        server, count = probe.server, len(probe.server.models)
        sentence = trn(
            "{name} was added, with {n} model.", "{name} was added, with {n} models.", count, name=server.name
        )
        warnings = [in_language(warning) for warning in probe.warnings]
        self._say(" ".join([sentence, *warnings]), level="warning" if warnings else "ok")
        self.changed()
        self.added(server.name)

    def _failed(self, sentence: str) -> None:
        self.busy, self.problem = False, sentence
        self.changed()


# -- off the UI thread


def _added(name: str, url: str, key: str, model: str) -> ServerProbe:
    from dataclasses import replace

    from app.runtime.remote.client import RemoteClient
    from app.runtime.remote.servers import RemoteServer, check_name, check_url, checked_key, keep_server, with_typed

    server = RemoteServer(check_name(name), check_url(url))
    probe = RemoteClient(server, key=checked_key(key) if key else None).probe()
    server = with_typed(probe.server, [model] if model else [])
    keep_server(server, key or None)
    return replace(probe, server=server, warnings=[] if server.models and not probe.server.models else probe.warnings)


def _asked_again(name: str) -> ServerProbe:
    from dataclasses import replace

    from app.runtime.remote.client import RemoteClient
    from app.runtime.remote.servers import RemoteServers, keep_server, with_typed

    before = RemoteServers().get(name)
    probe = RemoteClient(before).probe()
    listed = probe.server.models
    server = with_typed(probe.server, [] if listed else [model.id for model in before.models])
    keep_server(server)
    return replace(probe, server=server)
