"""The settings pane: what is chosen holds, and everything that is stored can be seen and deleted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QToolButton

from app.gui.store import conversations, messages, records
from app.gui.store.messages import StoredMessage
from app.gui.store.records import Preset
from app.gui.theme import CONTRAST, DARK
from app.gui.viewmodels.settings import read_limit
from app.window_engine import local_service
from engine.errors import BackendUnavailable, BadRequest, Offline
from engine.hub import offline
from engine.hub import token as token_module
from engine.hub.download import download
from engine.hub.searching import facts, search
from engine.loading import LoadOptions
from engine.machine import Machine
from tests.app.gui.conftest import Opened
from tests.asserting import every
from tests.hub_server import serving

GB = 10**9


@pytest.fixture
def open_settings(
    open_grus: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[Opened, Any]]:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))

    def look(options: Any, limit: Any, again: bool = False) -> Machine:
        if options.device == "metal":
            raise BackendUnavailable("This machine has no Metal device. Use --device auto.")
        share = 0.7 if limit is None else limit if isinstance(limit, float) else 0.5
        return Machine("torch", "cpu", 16 * GB, round(16 * GB * share), 100 * GB)

    monkeypatch.setattr(
        "engine.machine.look_in_process",
        lambda backend, device, cache_dir, limit, again, started: look(LoadOptions(backend, device), limit, again),
    )

    def open_it(**preferences: Any) -> tuple[Opened, Any]:
        grus = open_grus(**preferences)
        grus.qtbot.keyClick(grus.window, Qt.Key.Key_7, Qt.KeyboardModifier.ControlModifier)
        return grus, grus.window.panes["settings"]

    return open_it


def pick(box: Any, value: Any) -> None:
    """As a person does it: open, and press Enter on an entry."""
    index = box.findData(value)
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_appearance_changes_at_once(open_settings: Any) -> None:
    grus, pane = open_settings()
    pick(pane.appearance, "dark")
    assert grus.context.look.theme is DARK
    pick(pane.appearance, "contrast")
    assert grus.context.look.theme is CONTRAST
    pick(pane.scale, 1.5)
    assert grus.context.look.scale == 1.5
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert pane.scale.currentData() == 1.0


def test_motion_is_reduced_by_its_shortcut_and_stays_so(open_settings: Any) -> None:
    grus, pane = open_settings()
    assert grus.context.look.moves
    grus.qtbot.keyClick(pane, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert not grus.context.look.moves
    _, again = open_settings()
    assert again.motion.isChecked()


def test_the_language_holds_after_a_restart(open_settings: Any) -> None:
    _, pane = open_settings()
    pick(pane.language, "de")
    _, again = open_settings()
    assert again.motion.text() == "Bewegung reduzieren"
    pick(again.language, "en")


def test_choices_of_computing_say_what_they_come_to(open_settings: Any) -> None:
    grus, pane = open_settings()
    grus.until(lambda: "11.2 GB of 16.0 GB" in pane.outcome.text())
    assert not pane.applies.isVisible()
    pick(pane.device, "metal")
    grus.until(lambda: "no Metal device" in pane.outcome.text())
    assert pane.outcome.property("level") == "error"
    pick(pane.device, "cpu")
    grus.until(lambda: pane.outcome.property("level") != "error")
    assert grus.context.preferences.get("device") == "cpu"
    assert pane.applies.isVisible()
    pick(pane.replicas, 2)
    assert grus.context.preferences.get("replicas") == 2
    pick(pane.split, 4)  # a model is split among devices, or has replicas
    chosen = [grus.context.preferences.get(key) for key in ("tensor_parallel", "replicas")]
    assert chosen == [4, 1]
    grus.until(lambda: (pane.split.currentData(), pane.replicas.currentData()) == (4, 1))


def test_threads_on_battery_hold_for_the_engine_of_the_next_start(open_settings: Any) -> None:
    grus, pane = open_settings()
    assert pane.battery.currentText() == "All"
    pick(pane.battery, 2)
    preferences = grus.context.preferences
    assert preferences.get("battery_threads") == 2
    pane._show()
    assert pane.battery.currentText() == "2"
    for chosen, threads in ((2, 2), (0, None)):
        preferences.put("battery_threads", chosen)
        service = local_service(preferences, {})
        assert service.engine.settings.battery_threads == threads
        service.close()


def test_how_much_of_the_disk_packed_weights_may_take_is_chosen(open_settings: Any) -> None:
    grus, pane = open_settings()
    assert pane.packed.currentText() == "16 GB"
    for value, title in (("0", "Nothing"), ("64G", "64 GB")):
        pick(pane.packed, value)
        pane._show()
        assert (grus.context.preferences.get("packed_limit"), pane.packed.currentText()) == (value, title)


def test_the_memory_limit_is_written_as_a_person_would(open_settings: Any) -> None:
    grus, pane = open_settings()
    grus.qtbot.keyClicks(pane.limit, "50 %")
    grus.qtbot.keyClick(pane.limit, Qt.Key.Key_Return)
    assert grus.context.preferences.get("memory_limit") == 0.5
    grus.until(lambda: "8.0 GB of 16.0 GB" in pane.outcome.text())
    pane.limit.selectAll()
    grus.qtbot.keyClicks(pane.limit, "much")
    grus.qtbot.keyClick(pane.limit, Qt.Key.Key_Return)
    assert pane.outcome.text() == "Enter a share like 70 %, or a size like 12 GB."
    assert grus.context.preferences.get("memory_limit") == 0.5


@pytest.mark.parametrize(
    ("written", "limit"), [("", None), ("70 %", 0.7), ("70%", 0.7), ("12 GB", "12GB"), ("12", "12G"), ("2,5 g", "2.5G")]
)
def test_limits(written: str, limit: Any) -> None:
    assert read_limit(written) == limit


@pytest.mark.parametrize("written", ["0 %", "120 %", "much", "-3 GB", "% 70"])
def test_what_is_no_limit(written: str) -> None:
    with pytest.raises(BadRequest):
        read_limit(written)


def fill(grus: Opened) -> None:
    def write(db: Any) -> None:
        id = conversations.create(db, "tiny", title="A secret plan")
        messages.add(db, id, StoredMessage(0, None, "user", "meet the crane at midnight"))
        records.keep_preset(db, Preset("mine", {"temperature": 0.1}))

    grus.context.store.ask(write).result()
    places = grus.context.places
    for folder, size in ((places.attachments, 2), (places.data / "sounds", 2), (places.packed, 3)):
        folder.mkdir(exist_ok=True)
        (folder / "a.bin").write_bytes(bytes(size * 1_000_000))


def holds(grus: Opened, text: bytes) -> list[str]:
    return [file.name for file in grus.context.places.data.rglob("*") if file.is_file() and text in file.read_bytes()]


def test_what_is_stored_where_with_its_size(open_settings: Any) -> None:
    grus, pane = open_settings()
    fill(grus)
    grus.qtbot.keyClick(pane, Qt.Key.Key_F5)
    words: list[str] = []

    def shown() -> bool:  # a look that began before the files were there may end behind F5's
        words[:] = [part.text() for part in pane.private.findChildren(QLabel)]
        return (words.count("2 MB"), words.count("3 MB")) == (2, 1)

    grus.until(shown)
    assert str(grus.context.places.database) in words
    assert "Models, shared with other programs" in words
    assert str(grus.context.places.packed) in words
    assert every(button.accessibleName().startswith("Show ") for button in pane.private.findChildren(QToolButton))


def test_delete_all_asks_first_and_then_nothing_is_left(open_settings: Any) -> None:
    grus, pane = open_settings(appearance="dark")
    fill(grus)
    chat = grus.window.panes["chat"]
    chat.conversation_list.look()
    grus.until(lambda: chat.conversation_list.all)
    assert holds(grus, b"crane at midnight")
    grus.qtbot.mouseClick(pane.private.begin, Qt.MouseButton.LeftButton)
    assert pane.private.question.isVisibleTo(pane)
    grus.window.activateWindow()
    grus.until(grus.window.isActiveWindow)
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_Escape)
    grus.until(lambda: not pane.private.question.isVisibleTo(pane))
    pane.privacy.delete_all()
    assert holds(grus, b"crane at midnight"), "nothing goes without the question"
    grus.qtbot.mouseClick(pane.private.begin, Qt.MouseButton.LeftButton)
    grus.qtbot.mouseClick(pane.private.really, Qt.MouseButton.LeftButton)
    grus.until(lambda: "Everything was deleted" in grus.window.notice.sentence.text(), 10)
    grus.settle()
    assert chat.conversation_list.all == []
    assert holds(grus, b"crane at midnight") == []
    assert holds(grus, b"secret plan") == []
    assert not (grus.context.places.data / "sounds").exists()
    assert not grus.context.places.packed.exists()
    assert grus.context.preferences.get("appearance") is None
    assert grus.context.look.theme is not DARK


def test_grus_goes_on_after_everything_was_deleted(open_settings: Any) -> None:
    grus, pane = open_settings()
    pane.privacy.ask()
    pane.privacy.delete_all()
    grus.until(lambda: "Everything was deleted" in grus.window.notice.sentence.text(), 10)
    chat = grus.window.open_pane("chat")
    grus.until(lambda: chat.talk.head.model)
    grus.qtbot.keyClicks(chat.composer.field, "Hello")
    grus.qtbot.keyClick(chat.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: chat.conversation_list.all and not chat.talk.writing, 10)
    assert chat.talk.path[-1].text == "Hello there."


def test_folders_of_models_can_be_taken_off(open_settings: Any, tmp_path: Path) -> None:
    grus, pane = open_settings(model_folders=[str(tmp_path)])
    drop = next(b for b in pane.own.findChildren(QToolButton) if str(tmp_path) in b.accessibleName())
    grus.qtbot.mouseClick(drop, Qt.MouseButton.LeftButton)
    assert grus.context.preferences.get("model_folders") == []
    assert not pane.own.isVisible()
    pane._put_cache(str(tmp_path / "elsewhere"))
    assert pane.cache_note.text() == str(tmp_path / "elsewhere")
    grus.qtbot.mouseClick(pane.default_cache, Qt.MouseButton.LeftButton)
    assert grus.context.preferences.get("cache_dir") is None


def test_the_offline_switch_binds_this_process_and_holds_after_a_restart(open_settings: Any, tmp_path: Path) -> None:
    with serving() as hub, pytest.MonkeyPatch.context() as patch:
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            patch.delenv(name, raising=False)
        patch.setenv("HF_ENDPOINT", hub.address)
        grus, pane = open_settings()
        assert not pane.network.offline.isChecked()
        grus.qtbot.mouseClick(
            pane.network.offline, Qt.MouseButton.LeftButton, pos=pane.network.offline.rect().topLeft() + QPoint(8, 8)
        )
        assert pane.network.offline.isChecked()
        for ask in (lambda: search("model"), lambda: facts("a/b"), lambda: download("a/b", cache_dir=tmp_path / "hub")):
            with pytest.raises(Offline, match="ettings say to work offline"):
                ask()
        assert offline.forbidden()
        grus, pane = open_settings()
        assert pane.network.offline.isChecked()
        assert pane.network.offline.isEnabled()
        with pytest.raises(Offline, match="ettings say to work offline"):
            search("model")
        assert hub.asked == []
        pane.network.offline.toggle()
        assert offline.reason() is None


def test_a_token_is_kept_hidden_and_deleted_with_everything(open_settings: Any) -> None:
    grus, pane = open_settings()
    grus.until(lambda: pane.access.kept is not None)
    assert not pane.network.remove.isVisibleTo(pane)
    grus.qtbot.keyClicks(pane.network.token, "two words")
    grus.qtbot.keyClick(pane.network.token, Qt.Key.Key_Return)
    grus.until(lambda: pane.network.about_token.text().startswith("A token is one word"))
    grus.qtbot.keyClicks(pane.network.token, "hf_secretsecret")
    assert "secret" not in pane.network.token.displayText()
    grus.qtbot.keyClick(pane.network.token, Qt.Key.Key_Return)
    grus.until(lambda: pane.access.removable)
    assert pane.network.token.text() == ""
    kept = token_module.token_file()
    assert b"hf_secretsecret" in kept.read_bytes()
    assert holds(grus, b"hf_secretsecret") == []
    pane.privacy.ask()
    pane.privacy.delete_all()
    grus.until(lambda: not kept.exists(), 10)
    grus.until(lambda: not pane.access.removable)


@pytest.mark.skipif(
    sys.platform != "linux", reason="where other systems keep it, tests/packaging/test_service.py knows"
)
def test_the_window_opens_at_login_when_switched_on(
    open_settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "autostart" / "org.grus.Grus.desktop"
    _, pane = open_settings()
    assert not pane.login.isChecked()
    pane.login.toggle()
    assert file.is_file()
    _, pane = open_settings()
    assert pane.login.isChecked()
    pane.login.toggle()
    assert not file.exists()
