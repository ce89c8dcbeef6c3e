"""Integration with the desktop: one instance per user, which takes files of later starts, and the tray icon.

A second start only hands its files over, so this module loads no widgets before the tray icon is made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.gui.texts import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QSystemTrayIcon

    from app.gui.window import Window

_PATIENCE = 1000  # milliseconds
_TOKEN = "XDG_ACTIVATION_TOKEN"  # a Wayland desktop gives it to who may come to the front: the start that a person made


def name_for(data: Path) -> str:
    """One name a data folder, so that a second folder may have a Grus of its own."""
    return "grus-" + hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:16]


def hand_over(name: str, files: Sequence[Path], dictate: bool = False) -> bool:
    """Give the files to the Grus that runs already, or have it begin or end dictation. False when none does."""
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_PATIENCE):
        return False
    token = os.environ.get(_TOKEN, "")
    message = {"files": [str(file.resolve()) for file in files], "token": token, "dictate": dictate}
    socket.write(json.dumps(message).encode() + b"\n")
    socket.waitForBytesWritten(_PATIENCE)
    # the first answers when it has read all: only then may this process end
    answered = socket.waitForReadyRead(_PATIENCE * 3)
    socket.disconnectFromServer()
    return answered


class SingleInstance(QObject):
    """The first Grus's side: takes files from later starts, or what they ask of dictation. Only the same user can reach it."""

    def __init__(
        self,
        name: str,
        take: Callable[[list[Path]], object],
        parent: QObject | None = None,
        dictate: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._take, self._dictate = take, dictate
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._greet)
        if not self._server.listen(name):
            # left behind by a killed process; a live one would have answered before
            QLocalServer.removeServer(name)
            self._server.listen(name)

    @property
    def listening(self) -> bool:
        return self._server.isListening()

    def close(self) -> None:
        self._server.close()

    def _greet(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(lambda socket=socket: self._read(socket))
            socket.disconnected.connect(socket.deleteLater)
            if socket.canReadLine():
                self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            return
        line = bytes(socket.readLine().data())
        socket.write(b"ok\n")
        socket.flush()
        try:
            message = json.loads(line)
            files = [Path(name) for name in message["files"]]
            if message.get("dictate"):  # the app in front stays there
                self._dictate()
                return
            if token := message.get("token"):
                os.environ[_TOKEN] = str(token)  # Qt takes it from there when the window is raised
        except (ValueError, KeyError, TypeError):
            return
        self._take(files)


def app_icon() -> QIcon:
    from app.gui.look import icon
    from app.gui.theme import LIGHT

    return icon("crane", LIGHT.accent)


def add_tray(window: Window) -> QSystemTrayIcon | None:
    from PySide6.QtWidgets import QMenu, QSystemTrayIcon

    if not QSystemTrayIcon.isSystemTrayAvailable():
        return None
    tray = QSystemTrayIcon(app_icon(), window)
    tray.setToolTip("Grus")
    menu = QMenu(window)
    window.context.look.dress(menu)
    menu.addAction(tr("Show Grus"), window.raise_up)
    for spec in window.specs:
        menu.addAction(tr(spec.title), partial(_show, window, spec.name))
    menu.addSeparator()
    menu.addAction(window.context.actions["window.quit"])
    tray.setContextMenu(menu)
    tray.activated.connect(
        lambda reason: window.raise_up() if reason == QSystemTrayIcon.ActivationReason.Trigger else None
    )
    tray.show()
    return tray


def _show(window: Window, pane: str) -> None:
    window.raise_up()
    window.open_pane(pane)
