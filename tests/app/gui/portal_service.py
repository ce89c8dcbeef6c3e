"""A desktop's portal for tests: the D-Bus interfaces of xdg-desktop-portal, with a person who answers as the first argument says (JSON).

`interfaces`: what it offers. `refused`: the requests that the person refuses. `paste`: the command that presses Shift+Insert in a real
compositor, after the text was put into its selection; `real`: that of the compositor holds it already. Without them the text is taken from
the clipboard's owner, as an app that pastes would.
Lines on stdin are what happens on the desktop: `press NAME`, `release NAME`, `copy TEXT`, `read`, `close`, `lie NAME`.
Each event is printed as one line of JSON.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
PORTAL = "org.freedesktop.portal"
SHIFT, INSERT = 42, 110
TEXT = "text/plain;charset=utf-8"


def note(**event: Any) -> None:
    print(json.dumps(event), flush=True)


class Portal:
    def __init__(self, connection: DBusConnection, options: dict[str, Any]) -> None:
        self.connection, self.options = connection, options
        self.sessions: dict[str, str] = {}  # path -> interface
        self.bound: dict[str, str] = {}  # the shortcut's name -> session
        self.down: set[int] = set()
        self.content = "copied before"
        self.owner = ""  # the session that owns the clipboard; none: another program
        self.serial = 0
        self.transfers: dict[int, tuple[str, threading.Thread, list[bytes]]] = {}
        self.remote = ""
        self.client = ""

    def signal(self, interface: str, name: str, signature: str, body: tuple[Any, ...], path: str = PATH) -> None:
        self.connection.send(new_signal(DBusAddress(path, interface=f"{PORTAL}.{interface}"), name, signature, body))

    def line(self, line: str) -> None:
        what, _, name = line.strip().partition(" ")
        if what in ("press", "release"):
            signal = "Activated" if what == "press" else "Deactivated"
            self.signal(
                "GlobalShortcuts",
                signal,
                "osta{sv}",
                (self.bound.get(name, PATH), name, 1, {"activation_token": ("s", "token")}),
            )
        elif what == "lie":  # another program of the session bus, which is no portal
            session = self.bound[name]
            with open_dbus_connection("SESSION") as other:
                liar = DBusAddress(PATH, interface=f"{PORTAL}.GlobalShortcuts")
                message = new_signal(liar, "Activated", "osta{sv}", (session, name, 1, {}))
                message.header.fields[HeaderFields.destination] = self.client
                other.send(message)
        elif what == "copy":
            self.content, self.owner = name, ""
            self.owner_changed()
        elif what == "read":
            self.ask("clipboard")
        elif what == "close":
            for path in self.sessions:
                self.signal("Session", "Closed", "", (), path)

    def message(self, message: Message) -> None:
        fields = message.header.fields
        interface, method = fields.get(HeaderFields.interface, ""), fields[HeaderFields.member]
        short = interface.removeprefix(f"{PORTAL}.")
        self.client = fields[HeaderFields.sender]
        if interface == "org.freedesktop.DBus.Properties":
            asked = message.body[0].removeprefix(f"{PORTAL}.")
            if asked in self.options["interfaces"]:
                self.answer(message, "v", (("u", 2),))
            else:
                self.refuse(message)
        elif short == "Session" and method == "Close":
            self.sessions.pop(fields[HeaderFields.path], None)
            note(closed=fields[HeaderFields.path].rsplit("/", 1)[-1])
            self.answer(message, None, ())
        elif short == "host.portal.Registry" or interface == "org.freedesktop.host.portal.Registry":
            note(app=message.body[0])
            self.answer(message, None, ())
        elif short not in self.options["interfaces"]:
            self.refuse(message)
        else:
            getattr(self, method)(message, short)

    def answer(self, message: Message, signature: str | None, body: tuple[Any, ...]) -> None:
        self.connection.send(new_method_return(message, signature, body))

    def refuse(self, message: Message) -> None:
        self.connection.send(
            new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "s", ("No such interface",))
        )

    def respond(self, message: Message, results: dict[str, Any]) -> None:
        """The request's handle, then what the person answered."""
        method, options = message.header.fields[HeaderFields.member], message.body[-1]
        sender = message.header.fields[HeaderFields.sender][1:].replace(".", "_")
        path = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        self.answer(message, "o", (path,))
        code = 1 if method in self.options.get("refused", ()) else 0
        self.signal("Request", "Response", "ua{sv}", (code, {} if code else results), path)

    def CreateSession(self, message: Message, short: str) -> None:
        sender = message.header.fields[HeaderFields.sender][1:].replace(".", "_")
        path = f"{PATH}/session/{sender}/{message.body[0]['session_handle_token'][1]}"
        self.sessions[path] = short
        self.respond(message, {"session_handle": ("s", path)})

    def BindShortcuts(self, message: Message, short: str) -> None:
        session, shortcuts, *_ = message.body
        assert self.sessions[session] == short
        note(bound={name: {key: value for key, (_, value) in about.items()} for name, about in shortcuts})
        given = [(name, {"trigger_description": ("s", "as wanted")}) for name, _ in shortcuts]
        self.bound |= {name: session for name, _ in shortcuts}
        self.respond(message, {"shortcuts": ("a(sa{sv})", given)})

    def SelectDevices(self, message: Message, short: str) -> None:
        session, options = message.body
        assert self.sessions[session] == short
        note(
            devices=options["types"][1],
            persist=options["persist_mode"][1],
            token=options.get("restore_token", ("s", ""))[1],
        )
        self.respond(message, {})

    def Start(self, message: Message, short: str) -> None:
        self.remote = message.body[0]
        clipboard = "Clipboard" in self.options["interfaces"]
        results: dict[str, Any] = {
            "devices": ("u", 1),
            "restore_token": ("s", "again"),
            "clipboard_enabled": ("b", clipboard),
        }
        self.respond(message, results)
        if clipboard:
            self.owner_changed()

    def RequestClipboard(self, message: Message, short: str) -> None:
        self.answer(message, None, ())

    def owner_changed(self) -> None:
        options = {"mime_types": ("as", [TEXT, "text/plain"]), "session_is_owner": ("b", bool(self.owner))}
        self.signal("Clipboard", "SelectionOwnerChanged", "oa{sv}", (self.remote, options))

    def SelectionRead(self, message: Message, short: str) -> None:
        reading, writing = os.pipe()
        self.answer(message, "h", (reading,))
        os.close(reading)
        with os.fdopen(writing, "wb") as output:
            output.write(self.content.encode())

    def SetSelection(self, message: Message, short: str) -> None:
        self.owner = message.body[0]
        self.answer(message, None, ())
        self.owner_changed()

    def NotifyKeyboardKeycode(self, message: Message, short: str) -> None:
        session, _, code, state = message.body
        assert session == self.remote
        self.answer(message, None, ())
        if state:
            self.down.add(code)
        else:
            self.down.discard(code)
        if state and code == INSERT and self.down == {SHIFT, INSERT}:
            if self.options.get("real"):
                subprocess.run(self.options["paste"], check=True)
            else:
                self.ask("pasted")

    def ask(self, why: str) -> None:
        """Another program asks for what is in the clipboard."""
        if not self.owner:
            note(**{why: self.content})
            return
        self.serial += 1
        self.transfers[self.serial] = (why, threading.Thread(), [])
        self.signal("Clipboard", "SelectionTransfer", "osu", (self.owner, TEXT, self.serial))

    def SelectionWrite(self, message: Message, short: str) -> None:
        serial = message.body[1]
        why, _, taken = self.transfers[serial]
        reading, writing = os.pipe()
        self.answer(message, "h", (writing,))
        os.close(writing)

        def read() -> None:
            with os.fdopen(reading, "rb") as given:
                taken.append(given.read())

        thread = threading.Thread(target=read)
        thread.start()
        self.transfers[serial] = (why, thread, taken)

    def SelectionWriteDone(self, message: Message, short: str) -> None:
        _, serial, good = message.body
        why, thread, taken = self.transfers.pop(serial)
        thread.join()
        self.answer(message, None, ())
        text = taken[0].decode() if good else None
        if why == "pasted" and self.options.get("paste") and text is not None:
            subprocess.run(
                ["wl-copy", "--primary", "--type", "text/plain"],
                input=text.encode(),
                check=True,
                stderr=subprocess.DEVNULL,
            )
            subprocess.run(self.options["paste"], check=True)
        note(**{why: text})


def serve(connection: DBusConnection, portal: Portal) -> None:
    selector = selectors.DefaultSelector()
    selector.register(connection.sock, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fd == 0:
                given = os.read(0, 4096).decode()  # sys.stdin would hold lines back that the selector waits for
                if not given:
                    return
                for line in given.splitlines():
                    portal.line(line)
                continue
            while True:
                try:
                    message = connection.receive(timeout=0)
                except TimeoutError:
                    break
                if message.header.message_type is MessageType.method_call:
                    portal.message(message)


def main() -> None:
    with open_dbus_connection("SESSION", enable_fds=True) as connection:
        portal = Portal(connection, json.loads(sys.argv[1]))
        connection.send_and_get_reply(message_bus.RequestName(NAME))
        note(ready=True)
        serve(connection, portal)


if __name__ == "__main__":
    main()
