"""The models pane as a person uses it, with a hub of our own on the loopback interface and a scripted engine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.gui.theme import contrast
from app.gui.widgets import BADGES
from app.runtime.recommended import RecommendedModel
from engine.describe import Description
from engine.hub.cache import find
from engine.machine import Machine
from tests.app.gui.conftest import Opened
from tests.asserting import every
from tests.hub_server import TOKEN, FakeHub, hub_here

GB = 10**9
WEIGHTS = bytes(range(256)) * 20_000
FILES = {"config.json": b'{"model_type": "qwen3"}', "model.safetensors": WEIGHTS}
CARD = {
    "downloads": 1_500_000,
    "pipeline_tag": "text-generation",
    "cardData": {"license": "apache-2.0"},
    "tags": [],
    "config": {"model_type": "qwen3"},
    "safetensors": {"parameters": {"BF16": 600_000_000}, "total": 600_000_000},
}


FINE = RecommendedModel("Fine 4B", "Qwen/Qwen3-0.6B", "chat", 2_600_000_000, "bf16", "mit", "", reads=2_600_000_000)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    machine = Machine("torch", "cpu", 16 * GB, 12 * GB, 100 * GB, 50 * GB)
    monkeypatch.setattr("engine.machine.look", lambda *asked: machine)
    monkeypatch.setattr("engine.machine.look_in_process", lambda **asked: machine)
    described = Description("tiny", "", "qwen3", runs=True, stored_as="bf16", parameters=10**6, backend="torch")
    monkeypatch.setattr("engine.describe.describe", lambda *asked: described)  # spares the tests a backend's imports
    with hub_here(monkeypatch) as fake:
        fake.repos["Qwen/Qwen3-0.6B"] = FILES
        fake.cards["Qwen/Qwen3-0.6B"] = CARD
        fake.tags["model.safetensors"] = hashlib.sha256(WEIGHTS).hexdigest()
        yield fake


@pytest.fixture
def open_models(open_grus: Callable[..., Opened], hub: FakeHub) -> Callable[..., tuple[Opened, Any]]:
    def open_it(**preferences: Any) -> tuple[Opened, Any]:
        grus = open_grus(**preferences)
        grus.context.core._service.result().catalogue.use_cache = True
        grus.qtbot.keyClick(grus.window, Qt.Key.Key_5, Qt.KeyboardModifier.ControlModifier)
        pane = grus.window.panes["models"]
        grus.until(lambda: pane.library.known and pane.machinery.machine)
        return grus, pane

    return open_it


def press(grus: Opened, pane: Any, action: str) -> None:
    grus.until(lambda: action in pane.view.buttons)
    grus.qtbot.mouseClick(pane.view.buttons[action], Qt.MouseButton.LeftButton)


def go(grus: Opened, pane: Any, key: str) -> None:
    grus.until(lambda: pane.list.row_of(key) >= 0)
    pane.list.setCurrentRow(pane.list.row_of(key))


def search(grus: Opened, pane: Any, words: str) -> None:
    grus.qtbot.keyClick(pane, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    grus.qtbot.keyClicks(pane.field, words)
    grus.qtbot.keyClick(pane.field, Qt.Key.Key_Return)
    grus.until(lambda: not pane.finding.searching)


def test_a_model_is_loaded_shows_what_it_holds_and_is_unloaded(open_models: Any) -> None:
    grus, pane = open_models()
    go(grus, pane, "tiny")
    press(grus, pane, "load")
    grus.until(lambda: "In memory" in pane.view.values)
    assert pane.view.values["In memory"].text() == "1 KB weights, 0 KB KV cache"
    assert [line.title for line in pane.list.lines] == ["In memory", "tiny"]
    press(grus, pane, "unload")
    grus.until(lambda: "load" in pane.view.buttons)
    assert grus.engine.models_loaded == {}
    grus.context.core.update(memory=1_234_000_000)  # of the whole process, as the status strip shows
    pane.library.changed()
    assert pane.held.text() == "No model is loaded. Grus uses 1.2 GB."


def test_search_tells_everything_before_the_download(open_models: Any, hub: FakeHub) -> None:
    grus, pane = open_models()
    search(grus, pane, "qwen3")
    assert [line.second for line in pane.list.lines] == ["text-generation · 1.5 M downloads per month"]
    assert hub.served == []
    go(grus, pane, "Qwen/Qwen3-0.6B")
    grus.until(lambda: "Weights" in pane.view.values)
    facts = {title: value.text() for title, value in pane.view.values.items()}
    assert facts["Download"] == "5 MB"
    assert facts["Memory"].startswith("Fits this machine")
    assert (facts["Format"], facts["Weights"], facts["Licence"]) == ("safetensors, bf16", "600 million", "apache-2.0")
    assert facts["Disk"] == "100.0 GB are free."
    assert hub.served == []


def test_a_download_arrives_and_can_be_used(open_models: Any, hub: FakeHub, tmp_path: Path) -> None:
    grus, pane = open_models()
    search(grus, pane, "qwen3")
    go(grus, pane, "Qwen/Qwen3-0.6B")
    press(grus, pane, "download")
    assert "Downloading Qwen/Qwen3-0.6B from Hugging Face." in grus.window.status_bar.trust.text()
    grus.until(lambda: "load" in pane.view.buttons, 20)
    assert find("Qwen/Qwen3-0.6B", None, tmp_path / "hub").complete
    assert grus.window.status_bar.trust.text() == "Everything stays on this machine"
    assert "checksums are correct" in grus.window.notice.sentence.text()
    assert grus.context.preferences.get("downloads") == []
    press(grus, pane, "check")
    grus.until(lambda: "are intact" in grus.window.notice.sentence.text())


def test_a_broken_download_says_so_and_is_resumed_after_a_restart(
    open_models: Any, hub: FakeHub, tmp_path: Path
) -> None:
    hub.cuts["model.safetensors"] = [3_000_000, 0, 0, 0]
    grus, pane = open_models()
    search(grus, pane, "qwen3")
    go(grus, pane, "Qwen/Qwen3-0.6B")
    press(grus, pane, "download")
    grus.until(lambda: "resume" in pane.view.buttons, 20)
    assert "cannot be reached" in pane.view.working.text()
    assert grus.window.status_bar.trust.text() == "Everything stays on this machine"
    grus, pane = open_models()
    assert [line.title for line in pane.list.lines][:2] == ["Downloading", "Qwen/Qwen3-0.6B"]
    hub.ranges.clear()
    go(grus, pane, "Qwen/Qwen3-0.6B")
    press(grus, pane, "resume")
    grus.until(lambda: find("Qwen/Qwen3-0.6B", None, tmp_path / "hub") is not None, 20)
    assert [name for name, asked in hub.ranges] == ["model.safetensors"]
    assert hub.ranges[0][1] != "bytes=0-"
    grus.until(lambda: not pane.downloads.items)


def test_escape_pauses_and_a_download_can_be_thrown_away(open_models: Any, hub: FakeHub, tmp_path: Path) -> None:
    grus, pane = open_models()
    held: list[Any] = []

    def slow(repo: str, cache_dir: str | None, progress: Callable[[int, int], None]) -> Path:
        held.append(progress)
        while True:
            progress(len(held), 1000)

    pane.downloads._fetch = slow
    pane.turn_to(1)
    go(grus, pane, "unsloth/Qwen3.5-2B-GGUF")
    press(grus, pane, "download")
    grus.until(lambda: pane.downloads.items[0].total == 1000)
    assert "pause" in pane.view.buttons
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_Escape)
    assert pane.downloads.items[0].state == "paused"
    assert pane.view.working.text().startswith("Paused at")
    press(grus, pane, "drop")
    assert pane.downloads.items == []
    grus.until(lambda: "download" in pane.view.buttons)


def test_without_a_network_it_says_so_where_the_work_is(open_models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    grus, pane = open_models()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    search(grus, pane, "qwen3")
    assert pane.state.text() == "Hugging Face cannot be reached. Check the network, then try again."
    assert pane.state.isVisible()


def test_a_deleted_model_can_be_taken_back(open_models: Any, hub: FakeHub, tmp_path: Path) -> None:
    from engine.hub.download import download

    download("Qwen/Qwen3-0.6B", None, tmp_path / "hub")
    grus, pane = open_models()
    go(grus, pane, "Qwen/Qwen3-0.6B")
    grus.qtbot.keyClick(
        pane, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    grus.until(lambda: pane.library.find("Qwen/Qwen3-0.6B") is None)
    assert find("Qwen/Qwen3-0.6B", None, tmp_path / "hub") is None
    grus.qtbot.mouseClick(grus.window.notice.undo, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.library.find("Qwen/Qwen3-0.6B") is not None)
    assert find("Qwen/Qwen3-0.6B", None, tmp_path / "hub").complete


def test_a_folder_is_added_remembered_and_taken_off_the_list(open_models: Any, tmp_path: Path) -> None:
    grus, pane = open_models()
    conversation_list = tmp_path / "shelf"
    (conversation_list / "mine").mkdir(parents=True)
    (conversation_list / "mine" / "config.json").write_text('{"model_type": "qwen3"}')
    pane.take([conversation_list])
    grus.until(lambda: pane.library.find("mine"))
    assert grus.context.preferences.get("model_folders") == [str(conversation_list)]
    assert "mine" in grus.window.panes["chat"].model_box.known or grus.until(
        lambda: "mine" in grus.window.panes["chat"].model_box.known
    ) is None  # fmt: skip
    go(grus, pane, "mine")
    press(grus, pane, "forget")
    grus.until(lambda: pane.library.find("mine") is None)
    assert (conversation_list / "mine" / "config.json").exists()
    grus.qtbot.mouseClick(grus.window.notice.undo, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.library.find("mine"))


def test_a_folder_without_a_model_is_refused_in_plain_words(open_models: Any, tmp_path: Path) -> None:
    grus, pane = open_models()
    (tmp_path / "empty").mkdir()
    pane.take([tmp_path / "empty"])
    grus.until(lambda: grus.window.notice.isVisible())
    assert "contains no model" in grus.window.notice.sentence.text()
    assert grus.context.preferences.get("model_folders") is None


def test_a_field_of_the_defaults_stands_beside_its_name(open_models: Any) -> None:
    grus, pane = open_models()
    grus.window.resize(1600, 900)
    go(grus, pane, "tiny")
    grus.until(pane.view.defaults.isVisible)
    for name, field in pane.view.defaults.fields.items():
        assert field.mapTo(pane.view.defaults, field.rect().topRight()).x() <= 340, name


def test_defaults_of_a_model_reach_its_replies(open_models: Any) -> None:
    grus, pane = open_models()
    go(grus, pane, "tiny")
    grus.qtbot.keyClicks(pane.view.defaults.fields["temperature"], "0.25")
    assert grus.context.preferences.get("model_defaults") == {"tiny": {"temperature": 0.25}}
    press(grus, pane, "chat")
    chat = grus.window.panes["chat"]
    assert grus.window.shown == "chat"
    grus.qtbot.keyClicks(chat.composer.field, "Hello")
    grus.qtbot.keyClick(chat.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: grus.engine.requests)
    assert grus.engine.requests[0].sampling.temperature == 0.25
    grus.until(lambda: not chat.talk.writing)


def test_good_choices_are_known_without_asking_anybody(open_models: Any, hub: FakeHub) -> None:
    grus, pane = open_models()
    grus.qtbot.keyClick(pane, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    lines = {line.key: line for line in pane.list.lines if line.key}
    first = "mistralai/Ministral-3-8B-Instruct-2512-GGUF"
    assert next(iter(lines)) == first  # the largest of which this machine reads 8 tokens a second
    assert lines[first].mark == "recommended"
    assert lines[first].second == "5.2 GB · about 8 tokens/s · apache-2.0"
    assert not any(key.endswith("4bit") for key in lines)  # files for MLX
    go(grus, pane, first)
    assert pane.view.values["Speed"].text() == "about 8 tokens/s here"
    mixture = "bartowski/Qwen_Qwen3.6-35B-A3B-GGUF"
    assert lines[mixture].mark == "from disk"
    assert "tokens/s" not in lines[mixture].second, "the memory's bandwidth says nothing of it"
    go(grus, pane, mixture)
    assert "experts can stay in the file" in pane.view.values["Memory"].text()
    assert pane.view.values["Memory"].property("level") == "warning"
    large = "unsloth/Qwen3.8-27B-GGUF"
    assert lines[large].mark == "too large"
    go(grus, pane, large)
    assert pane.view.values["Memory"].text().startswith("Too large for this machine")
    assert pane.view.values["Memory"].property("level") == "error"
    assert pane.finding.facts == {}
    assert contrast(grus.context.look.theme.warning, grus.context.look.theme.window) >= 4.5


def test_the_list_of_recommended_models_begins_with_its_first(open_models: Any, hub: FakeHub) -> None:
    grus, pane = open_models()
    go(grus, pane, "tiny")
    grus.qtbot.mouseClick(pane.pages, Qt.MouseButton.LeftButton, pos=pane.pages.tabRect(1).center())
    first = next(line.key for line in pane.list.lines if line.key)
    assert (pane.cards.name, pane.list.row_of(first)) == (first, pane.list.currentRow())
    assert pane.view.title.text() == next(line.title for line in pane.list.lines if line.key)


def test_words_narrow_the_list(open_models: Any) -> None:
    grus, pane = open_models()
    pane.turn_to(1)
    grus.qtbot.keyClicks(pane.field, "moonshine")
    assert {line.key for line in pane.list.lines if line.key} == {
        "UsefulSensors/moonshine-tiny",
        "UsefulSensors/moonshine-base",
    }


def test_a_search_that_finds_nothing_says_so_in_every_list(open_models: Any, hub: FakeHub) -> None:
    grus, pane = open_models()
    for page in (0, 1):
        pane.turn_to(page)
        grus.qtbot.keyClicks(pane.field, "xyzzy")
        assert pane.list.lines == []
        assert pane.state.text() == "No results for xyzzy."
        assert pane.state.isVisible()
    search(grus, pane, "xyzzy")
    assert pane.state.text() == "No results for xyzzy on Hugging Face."
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    finder = grus.window.palette_card
    grus.qtbot.keyClicks(finder.field, "xyzzyq")
    assert [finder.results.item(i).text() for i in range(finder.results.count())] == ["No results."]
    grus.qtbot.keyClick(finder.field, Qt.Key.Key_Return)
    assert finder.isVisible()


def test_what_a_model_can_do_stands_in_every_list(open_models: Any, hub: FakeHub) -> None:
    grus, pane = open_models()
    assert {line.key: line.badges for line in pane.list.lines if line.key} == {"tiny": ("Chat",)}
    pane.turn_to(1)
    badges = {line.key: line.badges for line in pane.list.lines if line.key}
    assert badges["UsefulSensors/moonshine-base"] == ("Transcription",)
    assert badges["Qwen/Qwen3-VL-2B-Instruct"] == ("Chat", "Vision", "Documents")
    search(grus, pane, "qwen3")
    assert [line.badges for line in pane.list.lines] == [("Chat",)]
    box = grus.window.panes["chat"].model_box
    grus.until(lambda: box.known == ["tiny"])
    assert box.itemData(0, BADGES) == ("Chat",)
    assert box.itemData(0, Qt.ItemDataRole.AccessibleTextRole) == "tiny, Chat"
    finder = grus.window.palette_card
    finder.open()
    grus.qtbot.keyClicks(finder.field, "use tiny")
    line = finder.results.currentItem()
    assert line.data(Qt.ItemDataRole.UserRole).badges == ("Chat",)
    assert line.data(Qt.ItemDataRole.AccessibleTextRole) == "Use tiny, Chat"
    bare = finder.results.grab(finder.results.visualItemRect(line)).toImage()
    line.setData(Qt.ItemDataRole.UserRole, replace(line.data(Qt.ItemDataRole.UserRole), badges=()))
    assert finder.results.grab(finder.results.visualItemRect(line)).toImage() != bare


def test_a_gated_model_asks_for_its_token_where_it_is_and_is_downloaded(open_models: Any, hub: FakeHub) -> None:
    hub.gated["Qwen/Qwen3-0.6B"] = {TOKEN}
    grus, pane = open_models()
    search(grus, pane, "qwen3")
    go(grus, pane, "Qwen/Qwen3-0.6B")
    grus.until(lambda: pane.view.token.isVisible())
    grus.qtbot.keyClicks(pane.view.token, TOKEN)
    assert "hf_" not in pane.view.token.displayText()
    grus.qtbot.keyClick(pane.view.token, Qt.Key.Key_Return)
    grus.until(lambda: "load" in pane.view.buttons, 20)
    assert pane.view.token.text() == ""
    assert not pane.view.token.isVisible()


def test_the_pane_speaks_german(open_models: Any) -> None:
    from app.gui import texts
    from app.runtime.recommended import read_catalogue

    grus, pane = open_models(language="de")
    assert pane.pages.tabText(1) == "Empfohlen"
    pane.turn_to(1)
    go(grus, pane, "unsloth/gemma-4-E2B-it-GGUF")
    assert pane.view.values["Tempo"].text() == "etwa 27 Token/s auf diesem Gerät"
    choices = read_catalogue()
    assert [choice.repo for choice in choices if texts.tr(choice.does) == choice.does] == []


def test_the_card_downloads_the_model_and_a_conversation_with_it_waits(
    open_grus: Callable[..., Opened], hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Hugging Face, as far as this machine has one."""
    monkeypatch.setattr("engine.starter.starters", lambda: {"guide": str(tmp_path / "models" / "tiny")})
    grus = open_grus(
        ("guide",), machine=vars(Machine("torch", "cpu", 16 * GB, 12 * GB, 100 * GB, 80 * GB)), model="guide"
    )
    grus.context.core._service.result().catalogue.use_cache = True
    pane = grus.window.panes["chat"]
    pane.offer._choices = lambda: [FINE]
    pane.offer.look()
    card = pane.empty.card
    grus.until(lambda: card.main.isVisible() and card.main.text() == "Download")
    grus.qtbot.mouseClick(card.main, Qt.MouseButton.LeftButton)
    grus.until(lambda: pane.talk.head.model == "Qwen/Qwen3-0.6B", 30)
    assert card.sentence.text() == "Fine 4B is ready. Write your first message."
    assert pane.model_box.currentText() == "Qwen/Qwen3-0.6B"
    assert hub.served


def test_every_button_of_a_card_has_a_name(open_models: Any) -> None:
    grus, pane = open_models()
    go(grus, pane, "tiny")
    assert every(button.accessibleName() for button in pane.view.findChildren(QAbstractButton) if button.text())
