"""The server pane: a real server in the window's process, over the window's own engine, asked over HTTP."""

from __future__ import annotations

import json
import stat
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.agents.connecting import Connections
from app.agents.programs import AgentServer, agent_program
from app.client_lines import client_lines
from app.gui.server.pane import scale_for
from app.gui.viewmodels.server import written
from app.gui.widgets import BADGES
from tests.app.gui.conftest import Opened


@pytest.fixture
def open_server(open_grus: Callable[..., Opened]) -> Callable[..., tuple[Opened, Any]]:
    def open_it(**preferences: Any) -> tuple[Opened, Any]:
        grus = open_grus(**preferences)
        grus.qtbot.keyClick(grus.window, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
        return grus, grus.window.panes["server"]

    return open_it


def switch_on(grus: Opened, pane: Any) -> str:
    pane.server_preferences.set(port=0)
    grus.qtbot.mouseClick(pane.switch, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.hosting.state == "on", 20)
    return str(pane.hosting.address)


def ask(address: str, key: str = "", path: str = "/v1/chat/completions", **more: Any) -> dict[str, Any]:
    body = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], **more}
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    wanted = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(wanted, timeout=20) as answer:
        return dict(json.load(answer))


def beside(grus: Opened, run: Callable[[], Any]) -> Any:
    """The test's own thread is the UI thread, which must go on."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        grus.until(future.done, 20)
        return future.result()


def test_programs_talk_to_the_window_s_own_engine(open_server: Any) -> None:
    grus, pane = open_server()
    address = switch_on(grus, pane)
    assert pane.state.text() == f"Running on {address}"
    reply = beside(grus, lambda: ask(address))
    assert reply["choices"][0]["message"]["content"] == "Hello there."
    assert len(grus.engine.requests) == 1
    assert grus.context.core._service.result().resident() == {"tiny"}
    pane.hosting.poll()
    grus.until(lambda: "POST /v1/chat/completions 200" in pane.log.toPlainText())
    assert "Hi" not in pane.log.toPlainText()
    assert grus.window.status_bar.trust.text() == "Everything stays on this machine"


def test_it_can_be_stopped_and_started_again(open_server: Any) -> None:
    grus, pane = open_server()
    first = switch_on(grus, pane)
    grus.qtbot.keyClick(pane, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    grus.until(lambda: pane.hosting.state == "off", 20)
    with pytest.raises(urllib.error.URLError):
        beside(grus, lambda: ask(first))
    assert not grus.engine.closed
    second = switch_on(grus, pane)
    assert beside(grus, lambda: ask(second))["object"] == "chat.completion"


def test_other_machines_need_a_key_and_the_strip_tells_of_them(open_server: Any) -> None:
    grus, pane = open_server()
    pane.access.host.setCurrentIndex(1)
    pane.access.host.activated.emit(1)
    grus.qtbot.mouseClick(pane.switch, Qt.MouseButton.LeftButton)
    assert pane.hosting.state == "off"
    assert pane.problem.text() == "Other machines may only connect with a key. Create one first."
    grus.qtbot.mouseClick(pane.access.make, Qt.MouseButton.LeftButton)
    key = pane.server_preferences.access.keys[0]
    assert QGuiApplication.clipboard().text() == key
    address = switch_on(grus, pane)
    assert grus.window.status_bar.trust.text().startswith("Other machines can reach the server on port")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        beside(grus, lambda: ask(address))
    assert beside(grus, lambda: ask(address, key))["object"] == "chat.completion"
    assert stat.S_IMODE(grus.context.places.preferences.stat().st_mode) == 0o600
    grus.qtbot.mouseClick(pane.switch, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.hosting.state == "off", 20)
    assert grus.window.status_bar.trust.text() == "Everything stays on this machine"


def test_a_port_that_is_taken_is_said_where_the_switch_is(open_server: Any) -> None:
    import socket

    grus, pane = open_server()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        pane.access.port.clear()
        grus.qtbot.keyClicks(pane.access.port, str(taken.getsockname()[1]))
        grus.qtbot.mouseClick(pane.switch, Qt.MouseButton.LeftButton)
        grus.until(lambda: pane.problem.text(), 20)
    assert "Cannot listen on 127.0.0.1" in pane.problem.text()
    assert pane.hosting.state == "off"


def test_running_requests_are_seen_and_can_be_ended(open_server: Any) -> None:
    grus, pane = open_server()
    grus.engine.pause = 0.05
    grus.engine.reply = "word " * 400
    address = switch_on(grus, pane)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: ask(address))
        grus.until(lambda: (pane.hosting.poll(), pane.requests.count())[1] == 1, 20)
        assert pane.quiet.text() == "1 active request."
        assert pane.requests.item(0).text().startswith("tiny · ")
        pane.requests.setCurrentRow(0)
        grus.qtbot.keyClick(pane, Qt.Key.Key_Delete)
        grus.until(future.done, 20)
    grus.until(lambda: (pane.hosting.poll(), pane.requests.count())[1] == 0, 20)
    assert len(grus.engine.cancelled) == 1


def test_pages_that_may_call(open_server: Any) -> None:
    grus, pane = open_server()
    pane.access.origins.setText("app.example")
    pane.access.origins.editingFinished.emit()
    assert "is not a valid origin" in pane.problem.text()
    pane.access.origins.setText("https://app.example, https://b.example")
    pane.access.origins.editingFinished.emit()
    assert pane.problem.text() == ""
    assert pane.server_preferences.settings().origins == ("https://app.example", "https://b.example")
    switch_on(grus, pane)
    assert not pane.access.origins.isEnabled()


def test_it_goes_on_serving_after_a_restart(open_server: Any, open_grus: Callable[..., Opened]) -> None:
    grus, pane = open_server()
    switch_on(grus, pane)
    again = open_grus(pane="chat")
    assert again.window.shown == "chat"
    again.until(lambda: again.window.panes["server"].hosting.state == "on", 20)


def test_lines_for_every_program_name_the_server_the_key_and_the_model(open_server: Any) -> None:
    grus, pane = open_server()
    pane.hosting.poll()
    grus.until(lambda: pane.model.currentText() == "tiny")
    for name in client_lines():
        pane.program.setCurrentText(name)
        assert "tiny" in pane.snippet.toPlainText()
        assert "http://127.0.0.1:8080" in pane.snippet.toPlainText()
    pane.program.setCurrentText("curl")
    grus.qtbot.keyClick(
        pane, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )  # fmt: skip
    assert QGuiApplication.clipboard().text().startswith("curl http://127.0.0.1:8080/v1/chat/completions")
    compile(written("Python", "http://127.0.0.1:1", "key", "m"), "snippet", "exec")
    settings = written("Zed", "http://127.0.0.1:1", "key", "m").partition("\n#")[0]
    assert json.loads(settings)["language_models"]["openai_compatible"]["Grus"]["api_url"] == "http://127.0.0.1:1/v1"


def test_a_snippet_is_as_high_as_its_lines_and_the_log_is_in_sight(open_server: Any) -> None:
    grus, pane = open_server()
    grus.window.resize(1180, 780)
    line = pane.snippet.fontMetrics().lineSpacing()

    def fits() -> bool:
        lines = pane.snippet.blockCount()
        return (
            pane.snippet.verticalScrollBar().maximum() == 0
            and lines * line < pane.snippet.height() < (lines + 3) * line
            and pane.log.visibleRegion().boundingRect() == pane.log.rect()
            and pane.log.height() >= 4 * line
        )

    for name in ("curl", "Python", "LlamaIndex, Ollama"):
        pane.program.setCurrentText(name)
        grus.until(fits)  # once it is laid out


def test_what_a_model_can_do_stands_behind_its_name(open_server: Any) -> None:
    grus, pane = open_server()
    pane.hosting.poll()
    grus.until(lambda: pane.model.count())
    assert (pane.model.currentText(), pane.model.itemData(0, BADGES)) == ("tiny", ("Chat",))
    assert pane.model.itemData(0, Qt.ItemDataRole.AccessibleTextRole) == "tiny, Chat"
    pane.model.showPopup()
    QApplication.processEvents()
    row = pane.model.view().visualRect(pane.model.model().index(0, 0))
    pixels = pane.model.view().grab(row.adjusted(row.width() // 2, 0, 0, 0)).toImage()
    colours = {pixels.pixel(x, y) for x in range(pixels.width()) for y in range(pixels.height())}
    assert len(colours) > 2  # a frame and letters, and not the background alone
    pane.model.hidePopup()


def test_the_axis_ends_at_a_round_number() -> None:
    assert [scale_for(most) for most in (0, 0.9, 42, 96, 60_000)] == [1, 1, 50, 200, 66_000]


def test_the_plot_says_in_words_what_it_draws(open_server: Any) -> None:
    _, pane = open_server()
    pane.plot.show_rates([0.0, 61.5, 30.0])
    assert pane.plot.accessibleDescription() == "30.0 now, at most 61.5 in the last two minutes"
    pane.plot.grab()


def test_keys_are_made_apart_from_files(open_server: Any, tmp_path: Path) -> None:
    _, pane = open_server()
    first, second = pane.server_preferences.make_key(), pane.server_preferences.make_key()
    assert first != second
    pane.server_preferences.drop_key(first)
    assert list(pane.server_preferences.access.keys) == [second]


@pytest.fixture
def agents_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder where Claude Code was used, and nothing else."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG", "CONTINUE_GLOBAL_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("HOME", tmp_path), ("USERPROFILE", tmp_path), ("XDG_CONFIG_HOME", tmp_path / ".config")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{\n  "model": "opus"\n}\n', encoding="utf-8")
    return tmp_path


def listed_agents(grus: Opened, pane: Any) -> dict[str, Any]:
    pane.agent_menu = None
    grus.qtbot.mouseClick(pane.agent_button, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.agent_menu is not None)
    pane.agent_menu.hide()
    return {action.text(): action for action in pane.agent_menu.actions()}


def test_an_agent_is_connected_and_its_settings_are_given_back(open_server: Any, agents_home: Path) -> None:
    grus, pane = open_server()
    pane.hosting.poll()
    grus.until(lambda: pane.model.currentText() == "tiny")
    file = agents_home / ".claude/settings.json"
    before = file.read_bytes()
    offered = listed_agents(grus, pane)
    assert [text for text, action in offered.items() if action.isEnabled()] == ["Connect Claude Code"]
    assert "Codex (not installed)" in offered
    pane.server_preferences.set(port=8123, keys=["sesame"])
    offered["Connect Claude Code"].trigger()
    grus.until(lambda: file.read_bytes() != before)
    variables = json.loads(file.read_text(encoding="utf-8"))["env"]
    assert (variables["ANTHROPIC_BASE_URL"], variables["ANTHROPIC_MODEL"]) == ("http://127.0.0.1:8123", "tiny")
    assert variables["ANTHROPIC_AUTH_TOKEN"] == "sesame"
    notice = grus.window.notice.current
    grus.until(lambda: notice.sentence.startswith("Claude Code uses this server now."))
    assert notice.sentence.endswith("settings.json.before-grus.")
    notice.take_back()
    grus.until(lambda: file.read_bytes() == before)
    listed_agents(grus, pane)["Connect Claude Code"].trigger()
    grus.until(lambda: file.read_bytes() != before)
    listed_agents(grus, pane)["Disconnect Claude Code"].trigger()
    grus.until(lambda: file.read_bytes() == before)
    file.write_text("{", encoding="utf-8")
    listed_agents(grus, pane)["Connect Claude Code"].trigger()
    grus.until(lambda: "cannot be read (line 1 is not JSON)" in notice.sentence)
    assert notice.level == "error"


def test_what_is_connected_while_it_is_taken_back_stays_known(
    agents_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections, program = Connections(tmp_path / "own"), agent_program("claude")
    server = AgentServer("http://127.0.0.1:8123", "tiny", "sesame")
    connections.connect(program, server)
    keep, begun = connections._keep, threading.Event()

    def keep_late(records: Any) -> None:
        begun.set()
        time.sleep(0.2)
        keep(records)

    monkeypatch.setattr(connections, "_keep", keep_late)
    back = threading.Thread(target=connections.disconnect, args=(program,))
    back.start()
    assert begun.wait(10)
    monkeypatch.setattr(connections, "_keep", keep)
    connections.connect(program, server)
    back.join()
    assert connections.connected(program)
    connections.disconnect(program)
