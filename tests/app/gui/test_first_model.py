"""The card at the start of a chat: which model it offers, its download, and the conversation that waits when it is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.gui.preferences import Preferences
from app.gui.viewmodels.models.downloads import Downloads
from app.gui.viewmodels.models.library import MachineFacts
from app.gui.viewmodels.models.offer import ModelOffer, first_chat
from app.runtime.catalogue import Catalogue
from app.runtime.recommended import RecommendedModel, read_catalogue
from engine.errors import BackendUnavailable
from engine.machine import Machine, look_in_process
from engine.starter import starters
from tests.app.gui.conftest import Opened
from tests.app.gui.media import AtOnce

GB = 10**9
MACHINE = Machine("torch", "cpu", 16 * GB, 12 * GB, 100 * GB, 80 * GB)
CHAT = RecommendedModel("Fine 4B", "org/fine-GGUF", "chat", 2_600_000_000, "GGUF", "mit", "", reads=2_600_000_000)
HUGE = RecommendedModel("Huge", "org/huge-GGUF", "chat", 9 * GB, "GGUF", "mit", "", reads=GB)
EARS = RecommendedModel("Ears", "org/ears", "listen", 250_000_000, "safetensors", "mit", "")


class Desk:
    """A core whose service has a catalogue of folders, downloads that a test speaks for, and an offer over both."""

    def __init__(self, folder: Path) -> None:
        self.models = folder / "models"
        self.models.mkdir()
        self.catalogue = Catalogue(starters(), self.models, use_cache=False)
        self.core: Any = AtOnce()
        self.core.use = lambda job, then=None, failed=None: self.core.run(lambda: job(self), then, failed)
        self.core.reach = lambda what, sentence: None
        self.preferences = Preferences(folder / "preferences.json")
        self.progress: Callable[[int, int], None] = lambda done, total: None
        self.downloads = Downloads(self.core, self.preferences, self.core.post, lambda *a, **m: None, self.fetch)
        self.machinery = MachineFacts(self.core, self.preferences)
        self.machinery.look = lambda: self.machinery._got(MACHINE)  # type: ignore[method-assign]
        self.began: list[str] = []
        self.offer = ModelOffer(self.core, self.preferences, self.downloads, self.machinery, lambda: [CHAT, HUGE, EARS])
        self.ready: list[tuple[str, str]] = []
        self.offer.ready.connect(lambda task, name: self.ready.append((task, name)))
        self.downloads.finished.connect(lambda repo: self.offer.look())

    def fetch(self, repo: str, cache_dir: str | None, progress: Callable[[int, int], None]) -> Path:
        self.began.append(repo)
        self.progress = progress
        return self.models

    def add(self, name: str, model_type: str) -> None:
        home = self.models / name
        home.mkdir(parents=True)
        (home / "config.json").write_text(json.dumps({"model_type": model_type}))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path)

    def start(repo: str) -> None:  # no thread: the test says what comes
        from app.gui.viewmodels.models.downloads import Download

        desk.began.append(repo)
        desk.downloads.items.append(Download(repo, "running", 1 * GB, 2_600_000_000, 50e6))
        desk.downloads.changed()

    monkeypatch.setattr(desk.downloads, "start", start)
    return desk


def test_the_first_card_names_a_model_its_size_its_speed_and_that_it_fits(desk: Desk) -> None:
    assert desk.offer.card is None  # nothing is known yet
    desk.offer.look()
    card = desk.offer.card
    assert card is not None
    assert card.title.startswith("This is the Guide, a tiny helper")
    assert card.sentence == "Get a real model: Fine 4B, 2.6 GB, about 25 tokens/s here, fits."
    assert card.action == "download"
    assert Preferences(desk.preferences._file).get("machine")["memory"] == 16 * GB  # the next start need not look


def test_its_download_is_shown_and_the_model_is_ready_by_its_own_name(desk: Desk) -> None:
    desk.offer.look()
    desk.offer.act()
    assert desk.began == ["org/fine-GGUF"]
    card = desk.offer.card
    assert card is not None
    assert (card.action, card.share) == ("pause", pytest.approx(1 / 2.6))
    assert "of 2.6 GB" in card.working
    desk.downloads.items.clear()
    desk.catalogue.named = {**desk.catalogue.named, "org/fine-GGUF:Q4_K_M": str(desk.models / "fine")}
    desk.add("fine", "qwen3")
    desk.downloads.finished("org/fine-GGUF")
    assert desk.ready == [("chat", "org/fine-GGUF:Q4_K_M")]
    card = desk.offer.card
    assert card is not None
    assert card.sentence == "Fine 4B is ready. Write your first message."


def test_later_the_same_card_offers_what_is_missing_until_it_is_dismissed(desk: Desk) -> None:
    desk.machinery._got(MACHINE)
    desk.add("mine", "qwen3")
    desk.offer.look()
    card = desk.offer.card
    assert card is not None
    assert (card.task, card.sentence) == ("listen", "Ears, 250 MB, fits.")
    desk.offer.dismiss()
    assert desk.offer.card is None


def test_with_a_model_nothing_is_measured_and_without_one_in_a_process_of_its_own(desk: Desk) -> None:
    asked: list[int] = []
    desk.machinery.look = lambda: asked.append(1)  # type: ignore[method-assign]
    desk.add("mine", "qwen3")
    desk.offer.look()
    assert (asked, desk.offer.card) == ([], None)
    (desk.models / "mine" / "config.json").unlink()
    desk.offer.look()
    desk.offer.look()
    assert asked == [1]
    card = desk.offer.card
    assert card is not None
    assert (card.sentence, card.action) == ("Checking this machine.", "")


def test_the_first_model_is_quick_to_get_and_quicker_than_reading() -> None:
    choices = read_catalogue()
    by_repo = {choice.repo: choice for choice in choices}
    for bandwidth in (25, 50, 100, 400):
        machine = Machine("torch", "cpu", 24 * GB, 18 * GB, 100 * GB, bandwidth * GB)
        found = by_repo[first_chat(choices, machine)]
        assert found.size <= 6 * GB
        assert found.speed(machine) >= 15
    assert first_chat(choices, Machine("torch", "cpu", 2 * GB, GB, 100 * GB, 50 * GB)) == ""


def test_the_machine_is_looked_at_without_loading_a_backend_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process is a script here: that torch is not needed for it is what counts."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    facts = json.dumps(vars(MACHINE))
    (tmp_path / "engine" / "machine.py").write_text(
        f"import sys, json\njson.loads(sys.argv[1])\nprint('''{facts}''')\n"
    )
    there = {**os.environ, "PYTHONPATH": str(tmp_path)}
    monkeypatch.setattr("engine.machine.child_environment", lambda: there)
    monkeypatch.chdir(tmp_path)
    assert look_in_process("torch", "cpu") == MACHINE


def test_a_process_that_looks_is_killed_when_the_window_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    (tmp_path / "engine" / "machine.py").write_text("import time\ntime.sleep(60)\n")
    there = {**os.environ, "PYTHONPATH": str(tmp_path)}
    monkeypatch.setattr("engine.machine.child_environment", lambda: there)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BackendUnavailable, match="could not be checked"):
        look_in_process("torch", "cpu", started=lambda process: process.kill())
    core: Any = AtOnce()
    core.use = lambda job, then=None, failed=None: core.run(lambda: job(None), then, failed)
    facts = MachineFacts(core, Preferences(tmp_path / "preferences.json"))
    facts.end()  # before the engine was there
    facts.look()
    assert (facts.machine, facts._looking) == (None, [])


def test_what_another_pane_finds_out_about_the_machine_reaches_the_card(desk: Desk) -> None:
    """The look of the chat took too long; Models, where Refresh tries again, succeeds."""
    desk.machinery.look = lambda: desk.machinery._failed("Too slow.")  # type: ignore[method-assign]
    desk.offer.look()
    card = desk.offer.card
    assert card is not None
    assert card.sentence == "Too slow."
    desk.machinery._got(MACHINE)
    card = desk.offer.card
    assert card is not None
    assert card.action == "download"


def test_the_machine_is_looked_at_once_for_all_panes(
    open_grus: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Again only for other settings, after a failure, and when it is asked for."""
    asked: list[str] = []

    def look(device: str, **more: object) -> Machine:
        asked.append(device)
        if device == "metal":
            raise BackendUnavailable("This machine has no Metal device.")
        return MACHINE

    monkeypatch.setattr("engine.machine.look_in_process", look)
    grus = open_grus(("guide",))
    for name in ("models", "settings", "chat", "models"):
        grus.window.open_pane(name)
    grus.until(lambda: grus.context.machinery.machine, 30)
    grus.window.open_pane("settings")
    computing = grus.window.panes["settings"].computing
    computing.choose("device", "metal")
    grus.until(lambda: computing.failed, 30)
    computing.look()
    grus.until(lambda: len(asked) == 3, 30)
    computing.choose("device", "cpu")
    grus.until(lambda: not computing.failed, 30)
    grus.window.panes["models"].look_again()
    grus.until(lambda: len(asked) == 5, 30)
    assert asked == ["auto", "metal", "metal", "cpu", "cpu"]


def test_an_answer_for_settings_of_before_is_not_shown(tmp_path: Path) -> None:
    core: Any = AtOnce()
    answers: list[Callable[[Machine], None]] = []
    core.use = lambda job, then, failed: answers.append(then)
    preferences = Preferences(tmp_path / "preferences.json")
    facts = MachineFacts(core, preferences)
    facts.look()
    preferences.put("device", "cpu")
    facts.look()
    answers[1](MACHINE)
    answers[0](replace(MACHINE, device="cuda"))
    assert facts.machine == MACHINE


def test_the_card_is_in_the_chat_and_the_first_conversation_waits(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(("guide", "org/fine-GGUF"), machine=vars(MACHINE), model="guide")
    pane = grus.window.panes["chat"]
    grus.until(lambda: pane.talk.head.model)
    card = pane.empty.card
    pane.offer._able = {"chat": [], "listen": [], "speak": [], "see": [], "read": []}
    pane.offer._choices = lambda: [CHAT]
    pane.offer.changed()
    grus.until(card.isVisible)
    assert card.main.text() == "Download"
    assert card.height() >= card.layout().heightForWidth(card.width())
    assert not pane.empty.picture.isVisible()
    pane.offer._taken["chat"] = CHAT
    pane.offer.look()
    grus.until(lambda: pane.talk.head.model == "org/fine-GGUF")
    assert "is ready" in card.sentence.text()
    pane.talk.send("Hello")
    grus.until(lambda: pane.talk.path and not pane.talk.writing)
    assert grus.context.preferences.get("model") == "org/fine-GGUF"
