"""The window: panes made when opened, one instance, shortcuts, themes, what is remembered, and what is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from app.commands import window as command
from app.gui import desktop
from app.gui.palette import ShortcutLines, score
from app.gui.preferences import Preferences, places_under
from app.gui.theme import DARK, LIGHT
from tests.app.gui.conftest import Opened

ROOT = Path(__file__).resolve().parents[3]
NAMED = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit)


def test_only_the_pane_that_is_shown_is_made(grus: Opened) -> None:
    assert list(grus.window.panes) == ["chat"]
    assert "stays on this machine" in grus.window.status_bar.trust.text()


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(grus: Opened) -> None:
    grus.window.make_all()
    nameless = [
        f"{type(w).__name__} in {type(w.parent()).__name__}"
        for w in grus.window.findChildren(QWidget)
        if isinstance(w, NAMED) and not w.objectName().startswith("qt_")
        if not (w.accessibleName() or (w.text() if isinstance(w, QAbstractButton) else ""))
    ]
    assert nameless == []
    deaf = [
        w.accessibleName()
        for w in grus.window.findChildren(QAbstractButton)
        if w.focusPolicy() == Qt.FocusPolicy.NoFocus and w.isVisible() and not w.objectName().startswith("qt_")
        if not isinstance(w.parent(), QLineEdit)
    ]
    assert deaf == []


def test_no_two_actions_share_a_shortcut(grus: Opened) -> None:
    grus.window.make_all()
    assert grus.context.actions.clashes() == []


def test_every_action_with_keys_is_in_the_overview(grus: Opened) -> None:
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    overview = grus.window.shortcuts
    assert overview.isVisible()

    def shown() -> set[tuple[str, str]]:
        return {line for group in overview.findChildren(ShortcutLines) for line in group.lines}

    grus.until(lambda: len(grus.window.panes) == len(grus.window.specs))
    grus.until(lambda: {(line.title, line.keys) for line in grus.context.actions.listed if line.keys} == shown())
    for scale in (1.0, 2.0):
        grus.context.preferences.put("text_scale", scale)
        grus.context.look.settle()
        QApplication.processEvents()
        for group in overview.findChildren(ShortcutLines):
            metrics = QFontMetrics(grus.context.look.font())
            assert group.height() >= len(group.lines) * metrics.lineSpacing()
            for (title, keys), (left, right) in zip(group.lines, group.places(group.width()), strict=True):
                assert max(map(metrics.horizontalAdvance, title.split())) <= left.width(), title
                assert left.right() + metrics.horizontalAdvance(keys) <= right.right(), title
    grus.qtbot.keyClick(overview, Qt.Key.Key_Escape)
    assert not overview.isVisible()


def test_the_palette_finds_and_does(grus: Opened) -> None:
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    finder = grus.window.palette_card
    grus.qtbot.keyClicks(finder.field, "swlight")
    assert "light and dark" in finder.results.currentItem().text()
    before = grus.context.look.theme
    grus.qtbot.keyClick(finder.field, Qt.Key.Key_Return)
    assert grus.context.look.theme is not before
    assert not finder.isVisible()


def test_letters_in_order_find_and_the_nearest_comes_first() -> None:
    assert score("New conversation", "nc") is not None
    assert score("New conversation", "xq") is None
    assert score("Export as PDF", "pdf") < score("Copied from Dunfermline", "pdf")  # type: ignore[operator]
    assert score("Search", "") == 0


def test_appearance_is_chosen_and_remembered(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(appearance="dark")
    assert grus.context.look.theme is DARK
    assert DARK.window.lower() in grus.window.grab().toImage().pixelColor(600, 10).name()
    grus.window.switch_appearance()
    assert grus.context.look.theme is LIGHT
    assert open_grus().context.look.theme is LIGHT


def test_text_grows_and_the_place_of_the_window_is_remembered(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus()
    before = QApplication.font().pointSizeF()
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    grus.until(lambda: QApplication.font().pointSizeF() == pytest.approx(before * 1.1))
    grus.window.scale_text(0)
    grus.until(lambda: QApplication.font().pointSizeF() == pytest.approx(before))
    grus.window.resize(760, 500)  # the screen without a screen is small
    assert open_grus().window.size().width() == 760


def test_a_sentence_can_be_taken_back(grus: Opened) -> None:
    taken = []
    grus.context.say("Deleted.", undo=("Undo", lambda: taken.append(1)))
    assert grus.window.notice.sentence.text() == "Deleted."
    grus.qtbot.mouseClick(grus.window.notice.undo, Qt.MouseButton.LeftButton)
    assert taken == [1]
    assert not grus.window.notice.isVisible()


def test_damaged_settings_are_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "preferences.json"
    file.write_text("{broken")
    preferences = Preferences(file)
    assert preferences.set_aside is not None
    assert preferences.set_aside.read_text() == "{broken"
    preferences.put("a", 1)
    assert Preferences(file).get("a") == 1


def test_a_damaged_database_is_said_and_kept(open_grus: Callable[..., Opened], tmp_path: Path) -> None:
    data = tmp_path / "grus" / "data"
    data.mkdir(parents=True)
    (data / "grus.sqlite3").write_bytes(b"no database at all" * 99)
    grus = open_grus()
    grus.until(lambda: grus.window.notice.isVisible())
    assert "damaged" in grus.window.notice.sentence.text()
    assert [f.read_bytes()[:11] for f in data.glob("*.damaged-*.sqlite3")] == [b"no database"]


SECOND_START = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.gui import desktop
app = QCoreApplication([])
print(desktop.hand_over(sys.argv[1], [Path(sys.argv[2])]))
"""


def test_a_second_start_hands_its_files_over(qtbot: Any, tmp_path: Path) -> None:
    taken: list[list[Path]] = []
    name = desktop.name_for(tmp_path)
    assert not desktop.hand_over(name, [])
    reception = desktop.SingleInstance(name, taken.append)
    file = tmp_path / "a b.pdf"
    command = [sys.executable, "-c", SECOND_START, name, str(file)]
    second = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=20_000)
    assert second.communicate()[0].strip() == "True"
    assert taken == [[file]]
    reception.close()


def test_the_command_for_a_shortcut_of_the_desktop_toggles_dictation(qtbot: Any, tmp_path: Path) -> None:
    asked: list[str] = []
    name = desktop.name_for(places_under(tmp_path).data)
    reception = desktop.SingleInstance(
        name, lambda files: asked.append("raised"), None, lambda: asked.append("dictate")
    )
    command = [sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())"]
    second = subprocess.Popen([*command, "app", "--dictate", "--folder", str(tmp_path)], cwd=ROOT)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=20_000)
    assert (second.returncode, asked) == (0, ["dictate"])
    reception.close()


def test_files_for_the_window_reach_a_pane(grus: Opened, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Cranes dance.")
    grus.window.panes["chat"].take([file])
    draft = grus.window.panes["chat"].draft
    grus.until(lambda: draft.files)
    assert draft.files[0].text == "Cranes dance."


def test_without_a_screen_the_server_is_started_instead(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    if os.name != "posix" or os.uname().sysname == "Darwin":
        pytest.skip("this system always has a screen")
    served: list[list[str]] = []
    monkeypatch.setattr("app.commands.serve.serve_models", lambda models, offline: served.append(models) or 0)
    from app.cli import parser

    options = parser().parse_args(["app", "--model", "x/y"])
    assert command.window(options) == 0
    assert served == [["x/y"]]
    assert "no screen" in capsys.readouterr().err


def test_no_pane_is_narrower_than_what_it_holds(open_grus: Callable[..., Opened]) -> None:
    """In German, with large text and the panel open: a control that had no room would lie on another."""
    grus = open_grus(language="de", text_scale=1.3)
    grus.window.resize(720, 480)
    grus.window.pane("chat").toggle_panel()
    for spec in grus.window.specs:
        pane = grus.window.open_pane(spec.name)
        grus.until(lambda pane=pane: pane.width() >= pane.minimumSizeHint().width())
        for part in pane.findChildren(QAbstractButton):
            if part.isVisible() and part.text():
                assert part.width() >= part.minimumSizeHint().width() - 1, (spec.name, part.text())
    assert grus.window.width() < 900  # toolbars go on in a second line


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_an_empty_pane_says_can_be_read_to_its_end(open_grus: Callable[..., Opened], language: str) -> None:
    """In a window of any width, and without a model too, when it says more."""
    grus = open_grus(language=language)
    for width in (1180, 760):
        grus.window.resize(width, 700)
        for name in ("chat", "read", "listen", "models"):
            pane = grus.window.open_pane(name)
            grus.until(lambda pane=pane: pane.empty.isVisible())  # type: ignore[misc]
            sentence = pane.empty.sentence
            assert sentence.text()
            assert sentence.height() >= sentence.heightForWidth(sentence.width()), (name, width)
