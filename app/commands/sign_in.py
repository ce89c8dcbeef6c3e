"""`grus tools login` and `logout`: signing in to a tool server in the browser, from a terminal or without one."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import threading
import webbrowser
from concurrent.futures import Future
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.runtime.tools.sign_in import BrowserSignIn


def login(options: argparse.Namespace) -> int:
    from app.runtime.tools.connection import SIGN_IN_SECONDS, McpConnection, waited
    from app.runtime.tools.settings import ToolSettings
    from app.runtime.tools.sign_in import BrowserSignIn

    settings = ToolSettings()
    server = settings.server(options.name)
    if not server.url:
        raise BadRequest(f"{server.name} runs on this machine and takes no sign-in.", "name")
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()
    browser = BrowserSignIn(server, shown.put)
    with McpConnection(server, settings.logs, start=SIGN_IN_SECONDS, browser=browser) as connection:
        listed = connection.tools()
        listed.add_done_callback(lambda _: shown.put(""))
        if address := shown.get():
            _ask(server.name, address, browser)
        count = len(waited(listed, Future()))
    asked = "You are signed in" if address else "No sign-in is needed"
    print(f"{asked}: {server.name} has {count} {'tool' if count == 1 else 'tools'}.")
    return 0


def _ask(name: str, address: str, browser: BrowserSignIn) -> None:
    """The address is opened by the person, or for them when they say so; a line of input may be where the browser ended."""
    opens = sys.stdin.isatty() and _has_screen()
    where = urlsplit(address).netloc
    print(f"{name} asks you to sign in at {where}. Open this address in a browser:\n\n{address}\n", file=sys.stderr)
    offer = "Type y to open it in the browser of this machine. " if opens else ""
    rest = "Where the browser ends at an address that it cannot open, paste that here. Ctrl-C cancels."
    print(offer + rest, file=sys.stderr, flush=True)

    def read() -> None:
        for line in sys.stdin:
            if opens and line.strip().lower() in ("y", "yes"):
                webbrowser.open(address)
            elif line.strip() and not browser.take(line):
                print("This address belongs to no sign-in that is waited for.", file=sys.stderr)

    threading.Thread(target=read, name="grus-sign-in", daemon=True).start()


def _has_screen() -> bool:
    """Else a browser would take over the terminal, or open where nobody sits."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def logout(options: argparse.Namespace) -> int:
    from app.runtime.tools.kept_sign_ins import sign_out
    from app.runtime.tools.settings import ToolSettings

    server = ToolSettings().server(options.name)
    done = sign_out(server)
    print(f"You are signed out of {server.name} here." if done else f"You are not signed in to {server.name}.")
    return 0
