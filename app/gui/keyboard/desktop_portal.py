"""The portal of a Linux desktop (xdg-desktop-portal), over D-Bus: calls, requests that a person may have to answer, sessions, signals.

Nothing blocks: replies come through the event loop. jeepney makes the messages: Qt's own D-Bus module gives Python neither unsigned
numbers nor lists of structures, which the portal asks for.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QTimer

from app.bundled import DESKTOP_ID

_log = logging.getLogger(__name__)
SERVICE, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_REQUEST, _SESSION = "org.freedesktop.portal.Request", "org.freedesktop.portal.Session"
_OTHER = 2  # how a request ended: neither granted nor refused by the person
_ANSWER = 300_000  # milliseconds; a portal that ended answers no request
_REPLY = 25_000  # milliseconds; a service that must be started first takes seconds

Then = Callable[[tuple[Any, ...] | None], Any]  # what was answered; None: an error, or nothing in time
Results = Callable[[dict[str, Any] | None], Any]  # what a request brought; None: refused


class DesktopPortal(QObject):
    """One connection to the session bus. Where there is none, every call ends as one that the portal refuses."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._replies: dict[int, Then] = {}
        self._requests: dict[str, Callable[[tuple[Any, ...]], Any]] = {}
        self._signals: list[tuple[str, Callable[[tuple[Any, ...]], Any]]] = []
        self._owner = ""  # the portal's own name on the bus: any program may send signals to this one
        self._own = ""  # this connection's name, as the paths of requests write it
        self._connection: Any = None
        try:
            from jeepney.io.blocking import open_dbus_connection

            self._connection = open_dbus_connection("SESSION", enable_fds=True)
        except (ImportError, OSError, KeyError, ValueError, RuntimeError) as error:
            _log.info("There is no session bus: %s", error)
            return
        self._own = self._connection.unique_name[1:].replace(".", "_")
        self._watch = QSocketNotifier(self._connection.sock.fileno(), QSocketNotifier.Type.Read, self)
        self._watch.activated.connect(lambda *_: self._read())
        rule = f"type='signal',sender='{SERVICE}',path_namespace='{PATH}'"
        self._send("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", (rule,))
        # outside a sandbox the portal takes the app's name from here; without this interface it guesses
        self.call("org.freedesktop.host.portal.Registry", "Register", "sa{sv}", (DESKTOP_ID, {}))

    def offers(self, interface: str, then: Callable[[bool], Any]) -> None:
        """Whether the desktop's portal has `org.freedesktop.portal.INTERFACE`."""
        self._call(
            "org.freedesktop.DBus.Properties", "Get", "ss", (f"org.freedesktop.portal.{interface}", "version"),
            lambda answer: then(answer is not None),
        )  # fmt: skip

    def call(
        self, interface: str, method: str, signature: str, body: tuple[Any, ...], then: Then | None = None
    ) -> None:
        self._call(interface, method, signature, body, then or (lambda answer: None))

    def request(
        self, interface: str, method: str, signature: str, body: tuple[Any, ...], options: dict[str, Any], then: Results
    ) -> None:
        """A call that a person may be asked about. `signature` ends in the options, `a{sv}`, which `body` leaves out."""
        token = f"grus{next(self._numbers)}"
        path = f"{PATH}/request/{self._own}/{token}"

        def answered(body: tuple[Any, ...]) -> None:
            code, results = body
            then({name: value for name, (_, value) in results.items()} if code == 0 else None)

        def called(answer: tuple[Any, ...] | None) -> None:
            if answer is None:
                wait_no_longer()

        def wait_no_longer() -> None:
            if self._requests.pop(path, None) is not None:
                then(None)

        self._requests[path] = answered
        QTimer.singleShot(_ANSWER, self, wait_no_longer)
        self._call(interface, method, signature, (*body, {"handle_token": ("s", token), **options}), called)

    def open_session(
        self, interface: str, options: dict[str, Any], then: Callable[[str | None], Any], closed: Callable[[], Any]
    ) -> None:
        """`then(path)`; `closed()` when the desktop ends the session."""
        token = f"grus{next(self._numbers)}"

        def opened(results: dict[str, Any] | None) -> None:
            path = None if results is None else str(results["session_handle"])
            if path is not None:
                self.listen(f"{_SESSION}.Closed {path}", lambda body: closed())
            then(path)

        options = {"session_handle_token": ("s", token), **options}
        self.request(interface, "CreateSession", "a{sv}", (), options, opened)

    def close_session(self, path: str) -> None:
        self._signals = [one for one in self._signals if one[0] != f"{_SESSION}.Closed {path}"]
        self._send(SERVICE, path, _SESSION, "Close", "", ())

    def listen(self, signal: str, then: Callable[[tuple[Any, ...]], Any]) -> None:
        """`signal`: its interface and name, and after a space the path, where it matters."""
        self._signals.append((signal, then))

    def forget(self, then: Callable[[tuple[Any, ...]], Any]) -> None:
        self._signals = [one for one in self._signals if one[1] != then]

    def _call(self, interface: str, method: str, signature: str, body: tuple[Any, ...], then: Then) -> None:
        serial = self._send(SERVICE, PATH, interface, method, signature, body)
        if serial is None:
            QTimer.singleShot(0, self, lambda: then(None))
            return
        self._replies[serial] = then
        QTimer.singleShot(_REPLY, self, lambda: self._reply(serial, None))

    def _send(
        self, service: str, path: str, interface: str, method: str, signature: str, body: tuple[Any, ...]
    ) -> int | None:
        if self._connection is None:
            return None
        from jeepney import DBusAddress, new_method_call

        message = new_method_call(DBusAddress(path, service, interface), method, signature or None, body)
        serial: int = next(self._connection.outgoing_serial)
        try:
            self._connection.send(message, serial=serial)
        except OSError as error:
            self._lose(error)
            return None
        return serial

    def _read(self) -> None:
        while self._connection is not None:
            try:
                message = self._connection.receive(timeout=0)
            except TimeoutError:
                return
            except (OSError, RuntimeError) as error:
                self._lose(error)
                return
            self._take(message)

    def _take(self, message: Any) -> None:
        from jeepney import HeaderFields, MessageType

        fields, kind = message.header.fields, message.header.message_type
        if kind in (MessageType.method_return, MessageType.error):
            serial = fields.get(HeaderFields.reply_serial, 0)
            if kind is MessageType.method_return and serial in self._replies:
                self._owner = fields.get(HeaderFields.sender, "")
            self._reply(serial, message.body if kind is MessageType.method_return else None)
        elif kind is MessageType.signal and fields.get(HeaderFields.sender) == self._owner:
            interface, path = fields.get(HeaderFields.interface, ""), fields.get(HeaderFields.path, "")
            name = f"{interface}.{fields.get(HeaderFields.member, '')}"
            if name == f"{_REQUEST}.Response" and path in self._requests:
                self._requests.pop(path)(message.body)
                return
            for wanted, then in tuple(self._signals):
                if wanted in (name, f"{name} {path}"):
                    then(message.body)

    def _reply(self, serial: int, answer: tuple[Any, ...] | None) -> None:
        if (then := self._replies.pop(serial, None)) is not None:
            then(answer)

    def _lose(self, error: Exception) -> None:
        """The session bus is gone, as at the end of a session."""
        _log.info("The session bus ended: %s", error)
        self._watch.setEnabled(False)
        self._connection.close()
        self._connection = None
        replies, requests = tuple(self._replies.values()), tuple(self._requests.values())
        self._replies.clear()
        self._requests.clear()
        for then in replies:
            then(None)
        for answered in requests:
            answered((_OTHER, {}))


def desktop_portal() -> DesktopPortal:
    """The one of this process."""
    app = QCoreApplication.instance()
    assert app is not None
    found = app.findChild(DesktopPortal)
    return found if isinstance(found, DesktopPortal) else DesktopPortal(app)
