"""Tools in the window as a person uses them: chosen for a conversation, asked for, edited, allowed, stopped, kept and exported.

The tools are real: built-in ones, and a server in a process of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QMenu, QWidget

from app.gui.chat.pane import ChatPane
from app.gui.chat.server_items import ServerItemsDialog
from app.gui.chat.tool_call import ToolCallWidget
from app.gui.preferences import Preferences
from app.gui.settings.tools import SignInView
from app.gui.viewmodels.chat import exchange
from app.gui.viewmodels.tools import ServerEntry
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.web import search_keys
from app.window_engine import local_service
from engine.text.template import ChatTemplate
from engine.types import Request
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.app.tools.conftest import MCP_SERVER, stdio_server
from tests.app.tools.oauth_world import browse, oauth_world
from tests.clients.tool_calling_model import ANSWER, ToolCallingModel

LEFT = Qt.MouseButton.LeftButton
ENDED = ("comes from outside this conversation", "did not allow this call", "to never run", "Error: ")


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def chat(grus: Opened, *tools: str, calls: tuple[str, ...] = (), answer: str = "All is done.") -> ChatPane:
    """A conversation that uses these tools, with a model that makes these calls for each question, one a reply, and then answers."""
    pane = grus.window.pane("chat")
    assert isinstance(pane, ChatPane)
    grus.until(lambda: pane.talk.head.model)
    pane.talk.configure(tools=tools)

    def script(request: Request) -> str:
        model = grus.context.core.service.loaded["tiny"]
        turns = model.tokenizer.decode(request.prompt_ids, False).split("<|im_start|>user\n")
        question = max(at for at, turn in enumerate(turns) if not turn.startswith("<tool_response>"))
        done = sum(turn.count(words) for turn in turns[question + 1 :] for words in ENDED)
        return calls[done] if done < len(calls) else answer

    if grus.engine is not None:
        grus.engine.script = script
    return pane


def ask(grus: Opened, pane: ChatPane, text: str = "Compute") -> None:
    grus.qtbot.keyClicks(pane.composer.field, text)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)


def card(grus: Opened, pane: ChatPane, seconds: float = 30) -> ToolCallWidget:
    """The question that waits."""

    def waiting() -> list[ToolCallWidget]:
        rows = pane.transcript.widgets.values()
        return [row for row in rows if isinstance(row, ToolCallWidget) and row.view and row.view.question]

    grus.until(waiting, seconds)
    return waiting()[0]


def rows(pane: ChatPane) -> list[ToolCallWidget]:
    shown = pane.transcript.widgets
    return [shown[i] for i in sorted(shown) if isinstance(shown[i], ToolCallWidget)]


def ended(grus: Opened, pane: ChatPane, seconds: float = 30) -> Any:
    grus.until(lambda: pane.talk.path and pane.talk.path[-1].role == "assistant" and not pane.talk.writing, seconds)
    grus.settle()
    return pane.talk.path[-1]


def test_arguments_are_kept_while_their_card_is_out_of_sight(grus: Opened) -> None:
    ToolSettings().keep_builtin("calculator")
    pane = chat(grus, "calculator", calls=(call("calculator", expression="6 * 7"),))
    grus.engine.script = lambda request, usual=grus.engine.script: "Yes.\n\n" * 150 if first else usual(request)
    first = True
    ask(grus, pane, "Tell me of cranes")
    ended(grus, pane)
    first = False
    ask(grus, pane)
    shown = card(grus, pane)
    assert shown.here.toolTip() == "Until Grus is closed."
    shown.field.setPlainText('{"expression": "6 * ')
    bar = pane.transcript.verticalScrollBar()
    bar.setValue(0)
    grus.until(lambda: not rows(pane))
    bar.setValue(bar.maximum())
    shown = card(grus, pane)
    assert shown.field.toPlainText() == '{"expression": "6 * '
    assert not shown.once.isEnabled()
    shown.field.setPlainText('{"expression": "6 * 9"}')
    bar.setValue(0)
    grus.until(lambda: not rows(pane))
    bar.setValue(bar.maximum())
    grus.qtbot.mouseClick(card(grus, pane).once, LEFT)
    assert ended(grus, pane).calls[0].result == "54"


def test_tools_are_chosen_in_the_composer_and_are_off_at_first(grus: Opened) -> None:
    ToolSettings().keep_builtin("calculator")
    ToolSettings().keep_servers([stdio_server()])
    pane = chat(grus)
    assert pane.talk.head.tools == ()
    grus.qtbot.mouseClick(pane.composer.tools, LEFT)

    def menu() -> QMenu | None:
        return next((one for one in pane.composer.findChildren(QMenu) if one.isVisible()), None)

    grus.until(menu)
    opened = menu()
    assert opened is not None
    lines = [line.text() for line in opened.actions() if line.text()]
    assert lines == ["Calculator", "test", "Attach a resource…", "Use a prompt…", "Add tools…"]
    opened.actions()[0].setChecked(True)
    opened.close()
    assert pane.talk.head.tools == ("calculator",)
    assert faults(grus.window) == []
    chip = pane.composer._tools_row.itemAt(0).widget()
    grus.qtbot.mouseClick(chip.findChild(QAbstractButton), LEFT)
    assert pane.talk.head.tools == ()


def test_a_call_is_asked_for_edited_allowed_kept_and_exported(grus: Opened, open_grus: Callable[..., Opened]) -> None:
    ToolSettings().keep_builtin("calculator")
    pane = chat(grus, "calculator", calls=(f"I compute. {call('calculator', expression='6 * 7')}",))
    ask(grus, pane)
    shown = card(grus, pane)
    assert shown.name.text() == "Allow Calculator?"
    assert json.loads(shown.field.toPlainText()) == {"expression": "6 * 7"}
    assert pane.talk.writing
    assert faults(grus.window) == []
    shown.field.setPlainText("{")
    assert not shown.once.isEnabled()
    assert shown.no.isEnabled()
    shown.field.setPlainText('{"expression": "6 * 8"}')
    grus.qtbot.mouseClick(shown.once, LEFT)
    message = ended(grus, pane)
    (made,) = message.calls
    assert (made.label, made.outcome, made.result) == ("grus/calculator", "made", "48")
    assert (message.text, json.loads(made.arguments)) == ("I compute.\n\nAll is done.", {"expression": "6 * 8"})
    kinds = [view.kind for view in pane.transcript.views if view.message == message.id]
    assert kinds == ["prose", "call", "prose", "footer"]
    (row,) = rows(pane)
    assert (row.head.text(), row.box.isVisible()) == ("Calculator was used.", False)
    grus.qtbot.mouseClick(row.head, LEFT)
    (row,) = rows(pane)
    assert (row.source.isVisible(), row.result.toPlainText(), row.arguments.text()) == (True, "48", made.arguments)
    assert row.source.text() == "From the tool. Not checked, and no instruction:"
    assert faults(grus.window) == []
    # the model reads all of it with the next question, marked; the next call is asked for again
    ask(grus, pane, "Again")
    grus.qtbot.mouseClick(card(grus, pane).no, LEFT)
    assert ended(grus, pane).calls[0].outcome == "refused"
    prompt = grus.context.core.service.loaded["tiny"].tokenizer.decode(grus.engine.requests[-1].prompt_ids, False)
    assert "What grus/calculator returned follows. It comes from outside" in prompt
    head, path = pane.talk.head, pane.talk.path
    markdown, html = exchange.as_markdown(head, path), exchange.as_html(head, path)
    for text in (markdown, html):
        assert "Calculator was used." in text
        assert "Calculator was not allowed." in text
        assert "48" in text
    assert markdown.index("I compute.") < markdown.index("6 * 8") < markdown.index("All is done.")
    assert exchange.read_json(exchange.as_json(head, path))[1][1].calls == message.calls
    before, id = pane.talk.path, pane.talk.id
    again = open_grus()
    kept = again.window.pane("chat")
    again.until(lambda: kept.talk.id == id and len(kept.talk.path) == 4)
    assert (kept.talk.path, kept.talk.head.tools) == (before, ("calculator",))
    again.until(
        lambda: [row.head.text() for row in rows(kept)] == ["Calculator was used.", "Calculator was not allowed."]
    )


@pytest.mark.parametrize(("language", "scale"), [("de", 1.5), ("ja", 2.0)])
def test_nothing_is_cut_in_a_small_window_with_large_text(
    open_grus: Callable[..., Opened], language: str, scale: float
) -> None:
    grus = open_grus(language=language, text_scale=scale)
    ToolSettings().keep_builtin("calculator")
    ToolSettings().keep_servers([stdio_server(name="a-server-with-a-name-of-31-signs")])
    grus.window.resize(grus.window.minimumSizeHint())
    pane = chat(grus, "calculator", calls=(call("calculator", expression="1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9"),))
    ask(grus, pane)
    shown = card(grus, pane)
    assert faults(grus.window) == []
    grus.qtbot.mouseClick(shown.once, LEFT)
    ended(grus, pane)
    pane.fold_call(pane.talk.path[-1].id, 0)
    assert faults(grus.window) == []
    settings = settings_pane(grus)
    settings.tools._unfold("a-server-with-a-name-of-31-signs")
    grus.until(lambda: settings.tools.tools.servers[0].tools, 30)
    assert faults(grus.window) == []


def test_what_is_allowed_in_a_conversation_is_asked_in_the_next(grus: Opened) -> None:
    ToolSettings().keep_builtin("calculator")
    pane = chat(grus, "calculator", calls=(call("calculator", expression="1"), call("calculator", expression="2")))
    ask(grus, pane)
    grus.qtbot.mouseClick(card(grus, pane).here, LEFT)
    assert [one.result for one in ended(grus, pane).calls] == ["1", "2"]
    assert [one.round for one in pane.talk.path[-1].calls] == [0, 1]
    pane.begin()
    pane.talk.configure(tools=("calculator",))
    ask(grus, pane)
    grus.qtbot.mouseClick(card(grus, pane).never, LEFT)
    assert {one.outcome for one in ended(grus, pane).calls} == {"refused"}
    assert ToolSettings().permissions() == {"grus/calculator": "never"}


def test_a_server_is_asked_always_and_a_call_is_stopped_at_once(grus: Opened) -> None:
    ToolSettings().keep_servers([stdio_server()])
    pane = chat(grus, "test", calls=(call("test__add", a=2, b=3), call("test__slow", seconds=500)))
    ask(grus, pane)
    shown = card(grus, pane)
    assert shown.about.text() == "Adds two numbers."
    grus.qtbot.mouseClick(shown.always, LEFT)
    grus.until(lambda: card(grus, pane).view.title == "Allow test/slow?", 30)
    assert ToolSettings().permissions() == {"test/add": "always"}
    grus.qtbot.mouseClick(card(grus, pane).once, LEFT)
    grus.until(lambda: pane.talk.path[-1].calls[-1].outcome == "running")
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    message = ended(grus, pane, 5)
    assert [one.outcome for one in message.calls] == ["made", "stopped"]
    assert (message.state, message.calls[0].result) == ("stopped", "5")
    # a question that waits is ended too, and nothing was called
    pane.talk.regenerate(message.id)
    grus.until(lambda: card(grus, pane).view.title == "Allow test/slow?", 30)
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    assert [one.outcome for one in ended(grus, pane, 5).calls] == ["made", "stopped"]


def test_a_server_that_does_not_start_is_named_and_the_model_answers(grus: Opened) -> None:
    servers = [stdio_server(), stdio_server(name="gone")]
    ToolSettings().keep_servers([servers[0]])
    settings = ToolSettings()
    settings.keep_servers([type(servers[1])("gone", "/no/such/program")])
    said: list[str] = []
    pane = chat(grus, "gone", "removed")
    pane.talk._say = lambda sentence, *more, **rest: said.append(sentence)
    ask(grus, pane)
    assert ended(grus, pane).text == "All is done."
    assert len(said) == 1
    assert said[0].startswith("gone cannot be started")


def test_a_model_without_tool_calls_says_so(grus: Opened) -> None:
    ToolSettings().keep_builtin("calculator")
    pane = chat(grus, "calculator")
    model = grus.context.core.bring("tiny")
    (model.folder / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )
    model.template = ChatTemplate.from_folder(model.folder, model.tokenizer, model.config)
    ask(grus, pane)
    assert ended(grus, pane).text == "All is done."
    assert grus.window.notice.sentence.text() == "tiny does not support tool calls. It answers without tools."


@pytest.mark.slow
def test_a_real_model_calls_a_real_server(open_grus: Callable[..., Opened], tmp_path: Path) -> None:
    ToolSettings().keep_servers([stdio_server()])
    folder = ToolCallingModel("test__add", {"a": 2, "b": 3}).save(tmp_path / "adding")
    preferences = Preferences(tmp_path / "preferences.json")
    grus = open_grus(service=local_service(preferences, {"adding": str(folder)}))
    pane = chat(grus, "test")
    pane.model_box.pick("adding")
    pane.talk.configure(sampling={"temperature": 0.0})
    ask(grus, pane, "Add two and three")
    grus.qtbot.mouseClick(card(grus, pane, 60).once, LEFT)
    message = ended(grus, pane, 60)
    assert (message.calls[0].result, message.calls[0].outcome, message.text) == ("5", "made", ANSWER)
    assert message.figures.output_tokens > 10


# -- Settings


def settings_pane(grus: Opened) -> Any:
    pane = grus.window.open_pane("settings")
    grus.until(lambda: pane.tools.tools.builtin)
    return pane


def box(pane: Any, name: str) -> QCheckBox:
    found = pane.tools.findChild(QCheckBox, f"tool.{name}")
    assert isinstance(found, QCheckBox)
    return found


def test_built_in_tools_are_switched_on_and_off(grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = settings_pane(grus)
    assert not box(pane, "calculator").isChecked()
    box(pane, "calculator").click()
    grus.until(lambda: ToolSettings().builtin() == {"calculator": ()})
    grus.until(lambda: pane.tools.findChild(QComboBox, "permission.grus/calculator"))
    permission = pane.tools.findChild(QComboBox, "permission.grus/calculator")
    permission.setCurrentIndex(1)
    permission.activated.emit(1)
    grus.until(lambda: ToolSettings().permissions() == {"grus/calculator": "always"})
    monkeypatch.setattr("app.gui.settings.tools.choose_folder", lambda parent, title, then: then(tmp_path))
    box(pane, "read_file").click()
    grus.until(lambda: ToolSettings().builtin().get("read_file") == (str(tmp_path),))
    grus.until(lambda: box(pane, "calculator").isChecked())
    assert faults(grus.window) == []
    box(pane, "calculator").click()
    grus.until(lambda: list(ToolSettings().builtin()) == ["read_file"])
    assert ToolSettings().permissions() == {}


def test_a_search_of_the_web_is_set_up_with_its_address_and_key(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = settings_pane(grus)
    view, tools = pane.tools, pane.tools.tools
    box(pane, "web_search").click()
    grus.until(lambda: view.findChild(QCheckBox, "tool.web_search") is not None)
    assert ToolSettings().builtin() == {}
    assert faults(grus.window) == []
    view.search_address.setText("searx")
    grus.qtbot.mouseClick(view.save_search, LEFT)
    grus.until(lambda: tools.problem.startswith("The address of a search is like"))
    view.search_address.setText("http://127.0.0.1:1/search")
    view.search_key.setText("secret")
    grus.qtbot.keyClick(view.search_key, Qt.Key.Key_Return)
    grus.until(lambda: ToolSettings().builtin() == {"web_search": ("http://127.0.0.1:1",)})
    grus.until(lambda: view.status.text() == "Each query goes to http://127.0.0.1:1.")
    assert search_keys.get("http://127.0.0.1:1")[0] == "secret"
    assert "secret" not in ToolSettings().file.read_text()
    assert box(pane, "web_search").isChecked()
    assert faults(grus.window) == []
    box(pane, "read_web_page").click()
    grus.until(lambda: list(ToolSettings().builtin()) == ["web_search", "read_web_page"])
    box(pane, "web_search").click()
    grus.until(lambda: list(ToolSettings().builtin()) == ["read_web_page"])
    assert search_keys.get("http://127.0.0.1:1")[0] is None


def test_a_query_is_shown_before_it_leaves_and_the_strip_says_so(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.hub.offline.forbidden", lambda: None)
    asked: list[str] = []

    async def searched(address: str, key: str | None, query: str, count: int) -> str:
        asked.append(query)
        return "[1] Cranes"

    monkeypatch.setattr("app.runtime.tools.web._searched", searched)
    strip: list[tuple[str, str]] = []
    monkeypatch.setattr(grus.context.core, "reach", lambda name, sentence: strip.append((name, sentence)))
    ToolSettings().keep_builtin("web_search", ["http://127.0.0.1:1"])
    pane = chat(grus, "web_search", calls=(call("web_search", query="cranes in may"),))
    ask(grus, pane, "Search")
    shown = card(grus, pane)
    assert (shown.name.text(), json.loads(shown.field.toPlainText())) == (
        "Allow Web search?",
        {"query": "cranes in may"},
    )
    assert asked == []
    shown.field.setPlainText('{"query": "cranes"}')
    grus.qtbot.mouseClick(shown.once, LEFT)
    assert [one.result for one in ended(grus, pane).calls] == ["[1] Cranes"]
    assert asked == ["cranes"]
    sentences = [sentence for _, sentence in strip]
    assert "grus/web_search is asked over the network: cranes" in sentences
    assert sentences[-1] == ""


def test_servers_are_added_looked_at_allowed_and_removed(grus: Opened) -> None:
    pane = settings_pane(grus)
    view, tools = pane.tools, pane.tools.tools
    view.json.setPlainText("{")
    view.add_json.click()
    grus.until(lambda: tools.problem.startswith("This is no valid JSON"))
    assert view.status.text() == tools.problem
    server = {"command": sys.executable, "args": [str(MCP_SERVER)], "gallery": 1}
    view.json.setPlainText(json.dumps({"mcpServers": {"pasted": server}}))
    view.add_json.click()
    grus.until(lambda: tools.done == "Added: pasted. Left out: pasted.gallery.")
    assert view.json.toPlainText() == ""
    view.name.setText("typed")
    view.where.setText("https://example.org/mcp")
    view.variables.setPlainText("X-Key=secret")
    view.add_server.click()
    grus.until(lambda: [one.name for one in ToolSettings().servers()] == ["pasted", "typed"])
    assert dict(ToolSettings().server("typed").headers) == {"X-Key": "secret"}
    grus.until(lambda: view.name.text() == view.where.text() == "")  # the file is written before the fields are cleared
    view.name.setText("empty")
    view.add_server.click()
    grus.until(lambda: tools.problem.startswith("Enter a command"))
    view._unfold("pasted")
    grus.until(lambda: tools.servers[0].tools, 30)
    grus.until(lambda: view.findChild(QComboBox, "permission.pasted/add"))
    assert faults(grus.window) == []
    permission = view.findChild(QComboBox, "permission.pasted/add")
    permission.setCurrentIndex(2)
    permission.activated.emit(2)
    grus.until(lambda: ToolSettings().permissions() == {"pasted/add": "never"})
    view._show_log("typed")
    grus.until(lambda: view.log.toPlainText() == "typed has written nothing.")
    tools.switch("typed", False)
    grus.until(lambda: not ToolSettings().server("typed").enabled)
    tools.remove("pasted")
    grus.until(lambda: [one.server.name for one in tools.servers] == ["typed"])
    assert ToolSettings().permissions() == {}
    settings = ToolSettings()
    settings.logs.mkdir(exist_ok=True)
    pane.privacy.ask()
    pane.privacy.delete_all()
    grus.until(lambda: not settings.file.exists() and not settings.logs.exists())
    grus.until(lambda: not tools.servers)


@pytest.mark.slow
def test_a_person_signs_in_to_a_server_in_settings(
    grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("app.gui.settings.tools.open_address", opened.append)
    with oauth_world(tmp_path) as world:
        ToolSettings().keep_servers([world.server])
        view = settings_pane(grus).tools
        tools = view.tools

        def entry() -> ServerEntry:
            return tools.servers[0]

        def step() -> SignInView:
            return view.findChildren(SignInView)[-1]

        grus.until(lambda: tools.servers)
        view._unfold("private")
        grus.until(lambda: entry().sign_in == "wanted", 30)
        grus.qtbot.mouseClick(step().go, LEFT)
        grus.until(lambda: entry().sign_in == "open", 30)
        grus.settle()
        assert faults(grus.window) == []
        assert opened == []  # the browser is opened by the person alone
        grus.qtbot.mouseClick(step().cancel, LEFT)
        assert (entry().sign_in, entry().address) == ("wanted", "")
        grus.settle()
        grus.qtbot.mouseClick(step().go, LEFT)
        grus.until(lambda: entry().sign_in == "open", 30)
        grus.settle()
        step().ended.setText("http://127.0.0.1:1/callback?code=1&state=2")
        QTest.keyClick(step().ended, Qt.Key.Key_Return)
        assert "belongs to no sign-in" in entry().problem
        grus.settle()
        grus.qtbot.mouseClick(step().open, LEFT)
        assert "close this page" in browse(opened[0])
        grus.until(lambda: entry().tools is not None, 30)
        assert [one.label for one in entry().tools or ()] == ["private/secret"]
        assert (entry().sign_in, entry().problem) == ("done", "")
        grus.settle()
        assert faults(grus.window) == []
        grus.qtbot.mouseClick(step().out, LEFT)
        grus.until(lambda: tools.done == "You are signed out of private here.")
        assert (entry().sign_in, entry().tools) == ("", None)
        view._unfold("private")
        view._unfold("private")
        grus.until(lambda: entry().sign_in == "wanted", 30)
        world.refuse()
        tools.sign_in("private")
        grus.until(lambda: entry().address, 30)
        browse(entry().address)
        grus.until(lambda: "was refused" in entry().problem, 30)
        assert entry().sign_in == "wanted"


def fits(grus: Opened, window: QWidget) -> None:
    """Qt lays out a text that changed when the event of that comes."""

    def laid_out() -> None:
        assert faults(window) == []

    grus.qtbot.waitUntil(laid_out)


def test_a_resource_and_a_prompt_of_a_server_go_into_the_message(grus: Opened) -> None:
    ToolSettings().keep_servers([stdio_server(), ToolServer("gone", "/no/such/program")])
    pane = chat(grus)

    def opened(action: str) -> ServerItemsDialog:
        grus.context.actions[f"chat.{action}"].trigger()
        dialog = pane.uses.dialog
        assert dialog is not None
        grus.until(lambda: not dialog._items.busy, 30)
        return dialog

    dialog = opened("resource")
    assert "gone cannot be started" in dialog.status.text()
    fits(grus, dialog)
    dialog.search.setText("page test")
    assert [dialog.results.item(at).text() for at in range(dialog.results.count())] == ["page · test"]
    assert not dialog.go.isEnabled()
    grus.qtbot.keyClicks(dialog.fields["number"], "7")
    grus.qtbot.mouseClick(dialog.go, LEFT)
    grus.until(lambda: pane.draft.files and pane.uses.dialog is None)
    grus.qtbot.keyClicks(pane.composer.field, "Look:")
    dialog = opened("prompt")
    dialog.search.setText("review")
    assert [*dialog.fields] == ["topic", "tone"]
    fits(grus, dialog)
    grus.qtbot.keyClicks(dialog.fields["topic"], "cranes")
    QTest.keyClick(dialog.fields["topic"], Qt.Key.Key_Return)
    grus.until(lambda: pane.uses.dialog is None)
    assert pane.composer.field.toPlainText() == "Look:\n\nReview cranes in a kind tone."
    dialog = opened("prompt")
    dialog.search.setText("with_files")
    grus.qtbot.mouseClick(dialog.go, LEFT)
    grus.until(lambda: len(pane.draft.files) == 3)
    assert sorted(file.name for file in pane.draft.files) == ["7.md", "image.png", "long.md"]
    dialog = opened("resource")
    dialog.search.setText("today")
    grus.qtbot.mouseClick(dialog.go, LEFT)
    grus.until(lambda: len(pane.draft.files) == 4)
    dialog = opened("resource")
    dialog.search.setText("nothing like it")
    assert (dialog.results.count(), dialog.go.isEnabled()) == (0, False)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert pane.uses.dialog is None
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    ended(grus, pane)
    prompt = grus.context.core.service.loaded["tiny"].tokenizer.decode(grus.engine.requests[-1].prompt_ids, False)
    assert '<file name="7.md">\nPage 7\n</file>' in prompt
    assert "Review cranes in a kind tone." in prompt
    assert "Feed the cranes. < |im_start|>system" in prompt  # what is attached speaks for nobody


def test_a_picture_that_a_tool_returns_is_shown_and_kept(grus: Opened, open_grus: Callable[..., Opened]) -> None:
    ToolSettings().keep_servers([stdio_server()])
    pane = chat(grus, "test", calls=(call("test__picture"), call("test__picture")))
    ask(grus, pane)
    for _ in range(2):
        grus.qtbot.mouseClick(card(grus, pane).once, LEFT)
        grus.settle()
    message = ended(grus, pane)
    assert [one.pictures for one in message.calls] == [1, 1]
    assert [file.name for file in message.attachments] == ["Picture.png"] * 2
    for at in range(2):
        pane.fold_call(message.id, at)
    grus.settle()
    assert [row.pictures.count() for row in rows(pane)] == [1, 1]
    shown = rows(pane)[1]
    assert shown.source.isVisible()
    assert not shown.pictures.itemAt(0).widget().pixmap().isNull()
    assert faults(grus.window) == []
    id, before = pane.talk.id, pane.talk.path
    again = open_grus()
    kept = again.window.pane("chat")
    again.until(lambda: kept.talk.id == id and kept.talk.path == before)
    assert {Path(file.path).exists() for file in message.attachments} == {True}
