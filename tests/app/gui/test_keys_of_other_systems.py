"""The dictation key and the paste of Windows and macOS, tried without the system: its calls are recorded, and what it would answer is made up.

Where wine and a compiler for Windows are installed, a slow test has wine's own user32 answer, under a real X server.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.gui.keyboard import clipboard_paste, mac_key, mac_paste, windows_key, windows_paste
from app.gui.keyboard.clipboard_paste import PasteError
from app.gui.keyboard.combination import KeyUse, combination
from app.gui.keyboard.mac_key import EventKind, HotKeyId, MacKey
from app.gui.keyboard.mac_paste import MacPaste
from app.gui.keyboard.windows_key import WM_HOTKEY, Message, WindowsKey
from app.gui.keyboard.windows_paste import Input, KeyboardInput, MouseInput, WindowsPaste
from tests.app.gui.test_dictation_key import PROGRAM
from tests.app.gui.test_hotkey import ROOT, _environment
from tests.needs import need_program
from tests.processes import child_process

KEYS: Any = combination("Ctrl+Alt+D")
CTRL, ALT, V = 0xA2, 0xA4, 0x56


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[QApplication]:
    monkeypatch.setattr(clipboard_paste, "RESTORE", 20)
    monkeypatch.setattr(clipboard_paste, "_WAIT", 1)
    yield qapp
    qapp.clipboard().clear()


def use(events: list[str], name: str = "dictation") -> KeyUse:
    return KeyUse(name, "", lambda: events.append(f"{name} pressed"), lambda: events.append(f"{name} released"))


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64 bits")
def test_structures_have_the_layout_that_the_systems_document() -> None:
    assert (ctypes.sizeof(Input), Input.of.offset, ctypes.sizeof(MouseInput)) == (40, 8, 32)
    assert (ctypes.sizeof(KeyboardInput), KeyboardInput.flags.offset, KeyboardInput.extra.offset) == (24, 4, 16)
    assert (Message.message.offset, Message.wparam.offset) == (8, 16)
    assert (ctypes.sizeof(HotKeyId), ctypes.sizeof(EventKind)) == (8, 8)


class User32:
    """What Windows' library is asked, and the keys that are down."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.registered: dict[int, tuple[int, int]] = {}
        self.sent: list[tuple[int, int, int]] = []
        self.takes = True

    def RegisterHotKey(self, window: None, number: int, modifiers: int, virtual: int) -> int:
        if (modifiers, virtual) in self.registered.values() or number in self.registered:
            return 0
        self.registered[number] = (modifiers, virtual)
        return 1

    def UnregisterHotKey(self, window: None, number: int) -> int:
        return 1 if self.registered.pop(number, None) else 0

    def GetAsyncKeyState(self, virtual: int) -> int:
        return -0x8000 if virtual in self.down else 1  # the lowest bit: pressed since the last look

    def MapVirtualKeyW(self, virtual: int, kind: int) -> int:
        return virtual & 0x7F

    def SendInput(self, count: int, inputs: Any, size: int) -> int:
        if not self.takes or size != ctypes.sizeof(Input):
            return 0
        for one in inputs._obj:
            assert one.kind == 1
            self.sent.append((one.of.key.virtual, one.of.key.scan, one.of.key.flags))
        return count


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> User32:
    made = User32()
    for module in (windows_key, windows_paste):
        monkeypatch.setattr(module, "user_library", lambda: made)
    return made


def hotkey_message(number: int) -> ctypes.Array[ctypes.c_char]:
    """MSG as Windows fills it."""
    message = ctypes.create_string_buffer(48)
    found = Message.from_buffer(message)
    found.message, found.wparam = WM_HOTKEY, number
    return message


def test_windows_key_is_released_when_its_state_says_so(quick: QApplication, user: User32, qtbot: Any) -> None:
    events: list[str] = []
    owner = QObject()
    dictation, show = (
        WindowsKey(KEYS, use(events), owner),
        WindowsKey(combination("Ctrl+Alt+G"), use(events, "show"), owner),
    )  # type: ignore[arg-type]
    (number, wanted), (other, _) = user.registered.items()
    assert (number != other, wanted) == (True, (0x4003, ord("D")))
    with pytest.raises(OSError, match="another program"):
        WindowsKey(KEYS, use(events), owner)
    user.down = {CTRL, ALT, ord("D")}
    for asked in (number, number):  # a message that comes twice is one press
        message = hotkey_message(asked)
        handled = [
            key._filter.nativeEventFilter(b"windows_generic_MSG", ctypes.addressof(message))
            for key in (dictation, show)
        ]
        assert handled == [(True, 0), (False, 0)]
    qtbot.wait(60)
    assert events == ["dictation pressed"]
    user.down = {CTRL, ALT}
    qtbot.waitUntil(lambda: len(events) == 2, timeout=2000)
    assert events[1] == "dictation released"
    qtbot.wait(50)
    dictation.release()
    show.release()
    assert (len(events), user.registered) == (2, {})


def test_windows_pastes_once_the_modifiers_are_up_and_lets_go_of_those_that_stay(
    quick: QApplication, user: User32, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clipboard = quick.clipboard()
    clipboard.setText("before")
    user.down = {ALT}
    ended: list[str] = []
    WindowsPaste("Grüße", QObject(quick), ended.append)
    qtbot.wait(20)
    assert (user.sent, clipboard.text()) == ([], "before")
    user.down = set()
    qtbot.waitUntil(lambda: bool(user.sent), timeout=2000)
    assert clipboard.text() == "Grüße"
    up = 2
    assert user.sent == [(CTRL, CTRL & 0x7F, 0), (V, V, 0), (V, V, up), (CTRL, CTRL & 0x7F, up)]
    qtbot.waitUntil(lambda: bool(ended), timeout=2000)
    assert (ended, clipboard.text()) == ([""], "before")
    user.sent.clear()
    user.down = {0xA5}  # the right Alt key, which somebody never lets go
    WindowsPaste("Grüße", QObject(quick), ended.append)
    qtbot.waitUntil(lambda: len(ended) == 2, timeout=5000)
    assert user.sent[0] == (0xA5, 0x25, up | 1)
    user.down, user.takes = set(), False
    WindowsPaste("Grüße", QObject(quick), ended.append)
    assert "Ctrl+V" in ended[2]
    assert clipboard.text() == "Grüße"


class Carbon:
    """macOS' hot keys: what was registered, and its handlers."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []
        self.kinds: list[int] = []
        self.keys: list[tuple[int, int, int]] = []

    def GetApplicationEventTarget(self) -> int:
        return 1

    def InstallEventHandler(self, target: int, handler: Any, count: int, kinds: Any, data: None, made: Any) -> int:
        self.handlers.append(handler)
        self.kinds = [kinds[index].kind for index in range(count)]
        return 0

    def RegisterEventHotKey(self, code: int, mask: int, number: HotKeyId, target: int, options: int, made: Any) -> int:
        if any((code, mask) == key[:2] for key in self.keys):
            return -9878  # eventHotKeyExistsErr
        self.keys.append((code, mask, number.id))
        return 0

    def UnregisterEventHotKey(self, key: Any) -> None:
        self.keys.pop()

    def RemoveEventHandler(self, handler: Any) -> None:
        self.handlers.pop()

    def GetEventParameter(self, event: int, name: int, kind: int, _: None, size: int, __: None, found: Any) -> int:
        found._obj.signature, found._obj.id = int.from_bytes(b"Grus", "big"), event >> 4
        return 0

    def GetEventKind(self, event: int) -> int:
        return event & 15

    def event(self, kind: int, number: int) -> int:
        """The handlers are asked, the last one first, until one takes it."""
        answers = (handler(None, number << 4 | kind, None) for handler in reversed(self.handlers))
        return next((answer for answer in answers if answer == 0), -9874)


def test_macos_key_is_pressed_and_released_each_key_for_itself(
    monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    carbon = Carbon()
    monkeypatch.setattr(mac_key, "carbon_library", lambda: carbon)
    events: list[str] = []
    owner = QObject()
    show: Any = combination("Ctrl+Alt+G")
    made = [MacKey(KEYS, use(events), owner), MacKey(show, use(events, "show"), owner)]
    (code, mask, dictation), (_, _, other) = carbon.keys
    assert (code, mask, carbon.kinds) == (2, 0x900, [5, 6])
    with pytest.raises(OSError, match="another program"):
        MacKey(KEYS, use(events), owner)
    assert [
        carbon.event(kind, number) for kind, number in ((5, dictation), (5, other), (6, other), (6, dictation))
    ] == [0] * 4
    assert events == ["dictation pressed", "show pressed", "show released", "dictation released"]
    assert carbon.event(5, other + 1) == mac_key.NOT_HANDLED
    for key in made:
        key.release()
    assert (carbon.keys, carbon.handlers) == ([], [])


def test_macos_pastes_with_command_v_once_it_may(
    quick: QApplication, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    posted: list[tuple[int, bool, int]] = []
    asked: list[bool] = []
    made: dict[int, list[Any]] = {}
    held = [0x80000]  # Option

    def create(source: None, code: int, down: bool) -> int:
        made[len(made) + 1] = [code, down]
        return len(made)

    services = SimpleNamespace(
        AXIsProcessTrusted=lambda: False,
        CGEventSourceFlagsState=lambda state: held[0],
        CGEventCreateKeyboardEvent=create,
        CGEventSetFlags=lambda event, flags: made[event].append(flags),
        CGEventPost=lambda tap, event: posted.append(tuple(made[event])),
        CFRelease=lambda event: made[event].append("released"),
    )
    monkeypatch.setattr(mac_paste, "services_library", lambda: services)
    monkeypatch.setattr(mac_paste, "core_library", lambda: None)
    monkeypatch.setattr(mac_paste, "ask_for_access", lambda *given: asked.append(True))
    ended: list[str] = []
    with pytest.raises(PasteError, match="Privacy & Security, Accessibility"):
        MacPaste("Grüße", QObject(quick), ended.append)
    assert asked == [True]
    services.AXIsProcessTrusted = lambda: True
    clipboard = quick.clipboard()
    clipboard.setText("before")
    MacPaste("Grüße", QObject(quick), ended.append)
    qtbot.wait(20)
    assert posted == []
    held[0] = 0
    qtbot.waitUntil(lambda: len(posted) == 2, timeout=2000)
    assert (posted, clipboard.text()) == ([(9, True, 0x100000), (9, False, 0x100000)], "Grüße")
    qtbot.waitUntil(lambda: bool(ended), timeout=2000)
    assert (ended, clipboard.text()) == ([""], "before")
    assert [event[-1] for event in made.values()] == ["released"] * 2


IN_WINE = """
import ctypes, queue, subprocess
from app.gui import hotkey
from app.gui.keyboard import systems, windows_key, windows_paste

class User32:
    # wine's, in a process of its own: one call a line
    def __init__(self):
        self.process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers, self.messages = queue.SimpleQueue(), queue.SimpleQueue()
        assert self.process.stdout.readline() == "ready\\n"
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            what, _, value = line.strip().partition(" ")
            (self.answers if what == "=" else self.messages).put(value)

    def call(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.answers.get(timeout=20)

    def SendInput(self, count, inputs, size):
        return int(self.call("SendInput", count, size, ctypes.string_at(ctypes.addressof(inputs._obj), count * size).hex()))

    def RegisterHotKey(self, window, *numbers):
        return int(self.call("RegisterHotKey", *numbers))

    def UnregisterHotKey(self, window, number):
        return int(self.call("UnregisterHotKey", number))

    def __getattr__(self, name):
        return lambda *numbers: int(self.call(name, *numbers))

    def dispatch(self):
        # as Qt hands messages to its filters on Windows
        while not self.messages.empty():
            message = ctypes.create_string_buffer(bytes.fromhex(self.messages.get()))
            key._held._filter.nativeEventFilter(b"windows_generic_MSG", ctypes.addressof(message))

user = User32()
windows_key.user_library = windows_paste.user_library = lambda: user
systems.system = hotkey.system = dictation_key.system = lambda: "windows"
timer = QTimer()
timer.timeout.connect(user.dispatch)
timer.start(10)
"""
LAST = """
print(bytes.fromhex(user.call("text")).decode("utf-16-le"), flush=True)
user.process.stdin.close()
user.process.wait(20)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="wine is asked on Linux")
def test_windows_key_and_paste_work_with_the_user32_of_wine(tmp_path: Path, screen: str) -> None:
    """A key is really held, and a text field of wine's takes the text; the structures cross as bytes."""
    need_program("xdotool", "openbox", "x86_64-w64-mingw32-gcc")
    wine = shutil.which("wine64", path=os.pathsep.join([os.environ["PATH"], "/usr/lib/wine"]))
    if wine is None:
        pytest.skip("needs wine64, which packaging/system.txt names and this machine lacks")
    program = tmp_path / "user32.exe"
    source = Path(__file__).with_name("user32_in_wine.c")
    subprocess.run(["x86_64-w64-mingw32-gcc", "-o", str(program), str(source), "-luser32"], check=True, timeout=120)
    environment = _environment() | {
        "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path),
        "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=",
    }  # fmt: skip
    subprocess.run([wine, "wineboot", "-i"], env=environment, check=True, timeout=240, stderr=subprocess.DEVNULL)
    text = PROGRAM.replace("dictation_key.devices.Microphone, ", IN_WINE + "dictation_key.devices.Microphone, ", 1)
    (tmp_path / "dictate.py").write_text(text + LAST, encoding="utf-8")

    def press(*what: str) -> None:
        subprocess.run(["xdotool", *what], env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)

    manager = subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL)
    try:
        with child_process(
            [sys.executable, str(tmp_path / "dictate.py"), str(tmp_path / "settings.json"), wine, str(program)],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        ) as running:  # fmt: skip
            assert running.stdout is not None
            assert running.stdout.readline().split() == ["ready"]
            press("search", "--sync", "--name", "user32 in wine", "windowactivate", "--sync")
            press("sleep", "0.5", "keydown", "ctrl", "keydown", "alt", "keydown", "d", "sleep", "1")
            assert running.stdout.readline() == "held\n"
            press("keyup", "d", "sleep", "0.2", "keyup", "alt", "keyup", "ctrl")
            assert running.stdout.readline() == "copied before\n"
            assert running.stdout.readline() == "Grus grüßt die Kraniche 鶴.\n"
            assert running.wait(60) == 0
    finally:
        manager.terminate()
        manager.wait(10)
