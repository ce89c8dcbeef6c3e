"""Models of servers elsewhere in the window: added in Models, marked in lists, chosen by hand alone, and said while they are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.gui.models.remote_form import ServerDialog
from app.gui.viewmodels.models.remote import answers_elsewhere, server_of
from app.gui.widgets import BADGES
from app.runtime.remote.client import RemoteClient
from app.runtime.remote.servers import RemoteServer, RemoteServers, check_url, has_key, keep_server, kept_servers
from tests.app.gui.conftest import Opened
from tests.app.remote_peer import Peer, delta, listening, words

HOME = "Everything stays on this machine"
AWAY = "peer answers: what you send leaves this machine."


@pytest.fixture
def peer() -> Iterator[Peer]:
    with listening(stream=words("From", " elsewhere.")) as peer:
        yield peer


@pytest.fixture
def opened(open_grus: Callable[..., Opened]) -> Callable[..., Opened]:
    def open_it(**preferences: Any) -> Opened:
        grus = open_grus(**preferences)
        grus.context.core._service.result().catalogue.remotes = RemoteServers()
        return grus

    return open_it


def add(peer: Peer, **more: Any) -> None:
    keep_server(RemoteClient(RemoteServer("peer", check_url(peer.url), **more)).probe().server)


def models(grus: Opened) -> Any:
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
    pane = grus.window.panes["models"]
    grus.until(lambda: pane.library.known)
    return pane


def chat(grus: Opened) -> Any:
    pane = grus.window.pane("chat")
    grus.until(lambda: pane.talk.head.model)
    return pane


def send(grus: Opened, pane: Any, text: str) -> Any:
    before = len(pane.talk.path)
    grus.qtbot.keyClicks(pane.composer.field, text)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: len(pane.talk.path) == before + 2 and not pane.talk.writing, 20)
    return pane.talk.path[-1]


def choose(grus: Opened, pane: Any, name: str) -> None:
    grus.context.models_changed()
    grus.until(lambda: name in (pane.model_box.known or []))
    pane.model_box.pick(name)


def trust(grus: Opened) -> str:
    return str(grus.window.status_bar.trust.text())


def dialog_of(grus: Opened, pane: Any) -> ServerDialog:
    grus.qtbot.keyClick(pane, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = grus.window.findChild(ServerDialog)
    assert dialog is not None
    return dialog


def test_a_server_is_added_in_models_and_answers(opened: Any, peer: Peer) -> None:
    peer.key = "sesame"
    grus = opened()
    pane = models(grus)
    dialog = dialog_of(grus, pane)
    assert "leaves this machine" in dialog.about.text()
    grus.qtbot.keyClicks(dialog.name, "peer")
    grus.qtbot.keyClicks(dialog.url, peer.url)
    grus.qtbot.keyClick(dialog.url, Qt.Key.Key_Return)
    grus.until(lambda: dialog.problem.text() == "peer wants a key. Add it again, with its key.", 20)
    assert kept_servers() == []
    grus.qtbot.keyClicks(dialog.key, "sesame")
    grus.qtbot.keyClick(dialog.key, Qt.Key.Key_Return)
    grus.until(lambda: pane.list.row_of("peer::tiny") >= 0, 20)
    assert has_key(kept_servers()[0])
    assert "peer was added, with 1 model." in grus.window.notice.sentence.text()
    line = pane.list.lines[pane.list.row_of("peer::tiny")]
    assert (line.second, "Remote" in line.badges) == (f"{peer.url}/v1", True)
    assert [one.title for one in pane.list.lines if one.heading] == ["On disk", "On other machines"]
    pane.list.setCurrentRow(pane.list.row_of("peer::tiny"))
    assert pane.view.about.text() == AWAY
    assert trust(grus) == HOME
    grus.qtbot.mouseClick(pane.view.buttons["chat"], Qt.MouseButton.LeftButton)
    talk = chat(grus)
    grus.until(lambda: talk.talk.head.model == "peer::tiny")
    assert trust(grus) == AWAY
    assert send(grus, talk, "Hi").text == "From elsewhere."
    assert grus.engine.requests == []
    assert peer.last["messages"][-1] == {"role": "user", "content": "Hi"}


def test_the_list_of_a_conversation_marks_it_and_has_it_last(opened: Any, peer: Peer) -> None:
    add(peer)
    grus = opened()
    box = chat(grus).model_box
    grus.context.models_changed()
    grus.until(lambda: box.known == ["tiny", "peer::tiny"])
    assert "Remote" in box.itemData(1, BADGES)
    assert "Remote" not in (box.itemData(0, BADGES) or ())
    assert "Remote" in box.itemData(1, Qt.ItemDataRole.AccessibleTextRole)
    assert (box.name, trust(grus)) == ("tiny", HOME)


def test_a_conversation_never_moves_there_by_itself(opened: Any, peer: Peer) -> None:
    """The model that was chosen last is gone, and a server elsewhere has one."""
    add(peer)
    grus = opened(model="gone")
    box = chat(grus).model_box
    grus.context.models_changed()
    grus.until(lambda: "peer::tiny" in (box.known or []))
    assert box.name == "tiny"
    service = grus.context.core._service.result()
    service.catalogue.named = {}
    grus.context.models_changed()
    grus.until(lambda: box.known == ["peer::tiny"])
    assert (box.name, box.default, trust(grus)) == ("", "", HOME)
    assert [request.path for request in peer.requests] == ["/v1/models"]


def test_the_strip_follows_the_conversation(opened: Any, peer: Peer) -> None:
    add(peer)
    grus = opened()
    pane = chat(grus)
    first = send(grus, pane, "At home")
    assert first.text == "Hello there."
    choose(grus, pane, "peer::tiny")
    assert trust(grus) == AWAY
    choose(grus, pane, "tiny")
    assert trust(grus) == HOME


def test_what_goes_wrong_is_one_sentence_and_the_conversation_goes_on(opened: Any, peer: Peer) -> None:
    add(peer, silence=0.5)
    grus = opened()
    pane = chat(grus)
    choose(grus, pane, "peer::tiny")
    peer.stream, peer.cut = words("Half", " a")[:2], True
    said = send(grus, pane, "Cut")
    assert (said.text, said.error) == ("Half", "peer ended the connection before the reply was complete.")
    peer.cut, peer.stream = False, [3.0]
    assert send(grus, pane, "Slow").error == "peer sent nothing for 0.5 seconds."
    peer.key = "changed"
    assert send(grus, pane, "Key").error == "peer wants a key. Add it again, with its key."
    peer.key, peer.models = "", [{"id": "another"}]
    assert send(grus, pane, "Model").error == "peer has no model tiny, or does not do this."
    peer.models, peer.stream = [{"id": "tiny"}], words("Back.")
    assert send(grus, pane, "Again").text == "Back."


def test_stop_closes_the_connection(opened: Any, peer: Peer) -> None:
    add(peer)
    peer.stream = [delta(content="One"), 30.0]
    grus = opened()
    pane = chat(grus)
    choose(grus, pane, "peer::tiny")
    grus.qtbot.keyClicks(pane.composer.field, "Count")
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: pane.talk.path and pane.talk.path[-1].text == "One", 20)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Escape)
    grus.until(lambda: not pane.talk.writing, 20)
    assert pane.talk.path[-1].state == "stopped"
    grus.until(peer.gone.is_set, 20)


def test_offline_binds_it(opened: Any, peer: Peer) -> None:
    add(peer)
    grus = opened()
    pane = chat(grus)
    choose(grus, pane, "peer::tiny")
    grus.context.preferences.put("offline", True)
    assert send(grus, pane, "Hi").error == "peer was not asked, because Settings say to work offline."
    grus.context.preferences.put("offline", False)
    assert send(grus, pane, "Hi").text == "From elsewhere."


def test_reasoning_of_a_model_elsewhere_is_shown_apart(opened: Any, peer: Peer) -> None:
    add(peer)
    peer.stream = [delta(reasoning_content="Let me see."), delta(content="Yes."), delta(reason="stop")]
    grus = opened()
    pane = chat(grus)
    choose(grus, pane, "peer::tiny")
    said = send(grus, pane, "Well?")
    assert (said.reasoning, said.text) == ("Let me see.", "Yes.")


def test_a_server_is_refreshed_and_removed(opened: Any, peer: Peer) -> None:
    add(peer)
    grus = opened()
    pane = models(grus)
    grus.until(lambda: pane.list.row_of("peer::tiny") >= 0)
    pane.list.setCurrentRow(pane.list.row_of("peer::tiny"))
    peer.models = [{"id": "tiny"}, {"id": "second"}]
    grus.qtbot.mouseClick(pane.view.buttons["refresh"], Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.list.row_of("peer::second") >= 0, 20)
    grus.qtbot.mouseClick(pane.view.buttons["forget"], Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.list.row_of("peer::tiny") < 0, 20)
    assert kept_servers() == []


def test_a_form_that_is_closed_leaves_nothing_behind(opened: Any, peer: Peer) -> None:
    grus = opened()
    pane = models(grus)
    dialog = dialog_of(grus, pane)
    grus.qtbot.keyClicks(dialog.name, "not a name")
    grus.qtbot.keyClicks(dialog.url, peer.url)
    grus.qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    grus.until(lambda: "A server's name has up to 40" in dialog.problem.text())
    grus.qtbot.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    pane.servers.changed()
    assert kept_servers() == []
    assert peer.requests == []


def test_names() -> None:
    assert (server_of("peer::Qwen/Qwen3"), server_of("Qwen/Qwen3:Q8_0")) == ("peer", "")
    assert answers_elsewhere("tiny") == ""
