"""What the panes' view-models decide, without a widget, a network or an engine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.gui.preferences import Preferences
from app.gui.viewmodels import server
from app.gui.viewmodels.models.card import described_facts
from app.gui.viewmodels.models.downloads import Download, Downloads
from app.gui.viewmodels.models.library import fit_words, speed_words
from app.gui.viewmodels.server import (
    ServerAccess,
    ServerPreferences,
    address_for,
    masked,
    network_address,
    programs,
    written,
)
from app.runtime.recommended import RecommendedModel, best
from app.window_engine import WindowEngine
from engine.describe import Description
from engine.errors import Offline
from engine.machine import Machine

GB = 10**9
MACHINE = Machine("torch", "cpu", 16 * GB, 12 * GB, 100 * GB)


class Posts:
    """Callbacks as the UI thread would run them: when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def post(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def run_until(self, condition: Callable[[], Any]) -> None:
        pause = threading.Event()
        for _ in range(2000):
            while self.waiting:
                self.waiting.pop(0)()
            if condition():
                return
            pause.wait(0.005)
        raise AssertionError("it did not happen in time")


class Strip:
    """The part of the core that a download needs."""

    def __init__(self) -> None:
        self.sentences: dict[str, str] = {}

    def reach(self, what: str, sentence: str) -> None:
        self.sentences[what] = sentence


@pytest.fixture
def preferences(tmp_path: Path) -> Preferences:
    return Preferences(tmp_path / "preferences.json")


def downloads(preferences: Preferences, fetch: Any) -> tuple[Downloads, Posts, Strip]:
    posts, strip = Posts(), Strip()
    core: Any = strip
    return Downloads(core, preferences, posts.post, lambda *said, **more: None, fetch), posts, strip


def test_a_paused_download_hears_no_late_news(preferences: Preferences) -> None:
    ended = threading.Event()

    def fetch(repo: str, cache_dir: str | None, progress: Callable[[int, int], None]) -> Path:
        try:
            while True:
                progress(300, 1000)
        finally:
            ended.set()

    model, posts, strip = downloads(preferences, fetch)
    model.start("a/b")
    posts.run_until(lambda: model.items[0].done == 300)
    assert strip.sentences["download"] == "Downloading a/b from Hugging Face."
    model.pause("a/b")
    assert ended.wait(10)
    posts.run_until(lambda: True)
    assert (model.items[0].state, model.items[0].sentence) == ("paused", "Paused at 0 KB of 1 KB")
    assert strip.sentences["download"] == ""
    again, _, _ = downloads(Preferences(preferences._file), fetch)
    assert [(item.repo, item.state, item.total) for item in again.items] == [("a/b", "paused", 1000)]


def test_a_download_that_fails_keeps_its_reason_and_can_be_resumed(preferences: Preferences) -> None:
    failures = [Offline("Hugging Face cannot be reached.")]

    def fetch(repo: str, cache_dir: str | None, progress: Callable[[int, int], None]) -> Path:
        if failures:
            raise failures.pop()
        return Path()

    model, posts, _ = downloads(preferences, fetch)
    finished: list[str] = []
    model.finished.connect(finished.append)
    model.start("a/b")
    posts.run_until(lambda: model.items[0].state == "broken")
    assert model.items[0].sentence == "Hugging Face cannot be reached."
    model.start("a/b")
    posts.run_until(lambda: finished == ["a/b"])
    assert model.items == []
    assert preferences.get("downloads") == []


def test_how_far_and_how_long_still() -> None:
    running = Download("a/b", "running", 2 * GB, 5 * GB, rate=50_000_000)
    assert running.sentence == "2.0 GB of 5.0 GB, 50 MB/s, 1:00 min left"
    assert Download("a/b", "running", 5 * GB, 5 * GB).sentence == "Verifying"


def test_an_expected_speed_in_words() -> None:
    assert [speed_words(speed) for speed in (0.0, 0.42, 7.6, 120.4)] == [
        "",
        "about 0.4 tokens/s",
        "about 8 tokens/s",
        "about 120 tokens/s",
    ]


def test_what_to_begin_with_leaves_room_and_needs_nobody_s_consent() -> None:
    def choice(repo: str, size: int, gated: bool = False) -> RecommendedModel:
        return RecommendedModel(repo, repo, "see", size, "", "", "", gated)

    choices = [choice("small", GB), choice("good", 4 * GB), choice("large", 9 * GB), choice("asks", 4 * GB, True)]
    assert best(choices, MACHINE) == {"see": "good"}
    assert fit_words(MACHINE, 20 * GB) == ("Too large for this machine: needs about 22.0 GB of 16.0 GB.", "error")
    assert fit_words(MACHINE, 12 * GB)[1] == "warning"
    assert fit_words(None, GB) == ("", "")
    words = "Needs about 22.0 GB of 16.0 GB. Its experts can stay in the file: replies are as slow as the disk."
    assert fit_words(MACHINE, 20 * GB, experts_in_file=True) == (words, "warning")
    assert fit_words(MACHINE, 40 * GB, experts_in_file=True)[1] == "error", "too little of it would be in memory"
    assert fit_words(replace(MACHINE, device="cuda:0"), 20 * GB, experts_in_file=True)[1] == "error"


def test_a_mixture_that_runs_from_its_file_says_so() -> None:
    about = Description("m", "", "qwen3_moe", runs=True, stored_as="Q4_K", memory_needed=3 * GB, file_bytes=19 * GB)
    rows = {row.title: (row.value, row.level) for row in described_facts(about)}
    assert rows["From disk"] == (
        "19.0 GB of experts have no room in memory and stay in the file. Replies are as slow as the disk.",
        "warning",
    )
    assert "From disk" not in {row.title for row in described_facts(replace(about, file_bytes=0))}


def test_the_strip_tells_of_everything_that_reaches_beyond() -> None:
    nothing: Any = None
    core = WindowEngine(nothing, nothing, nothing)
    core.reach("server", "A.")
    core.reach("download", "B.")
    assert core.state.beyond == "A. B."
    core.reach("server", "")
    assert core.state.beyond == "B."
    core.reach("download", "")
    assert core.state.beyond == ""


def test_wishes_are_kept_and_checked(preferences: Preferences) -> None:
    preferred = ServerPreferences(preferences)
    assert preferred.problem == ""
    preferred.set(host="0.0.0.0")
    assert "with a key" in preferred.problem
    key = preferred.make_key()
    assert preferred.problem == ""
    assert ServerPreferences(Preferences(preferences._file)).access == ServerAccess("0.0.0.0", 8080, [key], [])
    assert key not in masked(key)
    preferred.set_origins("https://a.example, ftp://b")
    assert preferred.problem.startswith("ftp://b is not")


def test_view_models_load_no_engine_before_they_are_asked() -> None:
    import subprocess

    code = (
        "import app.gui.viewmodels.models.card, app.gui.viewmodels.server, app.gui.viewmodels.settings, sys;"
        "print([m for m in ('fastapi', 'huggingface_hub', 'torch', 'PySide6', 'engine.loading') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[3]
    assert subprocess.check_output([sys.executable, "-c", code], cwd=root, text=True).strip() == "[]"


def test_other_machines_get_an_address_that_they_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_for(ServerAccess(), 8080) == "http://127.0.0.1:8080"
    monkeypatch.setattr(server, "network_address", lambda: "192.168.0.7")
    address = address_for(ServerAccess(server.EVERYWHERE), 8081)
    assert address == "http://192.168.0.7:8081"
    assert address_for(ServerAccess("::"), 1) == "http://192.168.0.7:1"
    assert address_for(ServerAccess("fe80::1"), 1) == "http://[fe80::1]:1"
    for name in ("curl", "Claude Code", "Codex", "Continue", "opencode"):
        snippet = written(name, address, "k", "m")
        assert (address in snippet, "127.0.0.1" in snippet) == (True, False), name
    monkeypatch.setattr(server, "network_address", lambda: "")
    assert address_for(ServerAccess(server.EVERYWHERE), 1) == "http://127.0.0.1:1"  # without a network


def test_the_address_in_the_network_is_one_of_this_machine() -> None:
    import socket

    found = network_address()
    if found:
        with socket.socket() as own:
            own.bind((found, 0))  # an address of another machine cannot be bound


def test_realtime_is_offered_where_models_listen_and_speak() -> None:
    assert "Python, Realtime" in programs(voice=True)
    assert [name for name in programs(voice=False) if "Realtime" in name] == []
    assert set(programs(voice=True)) - set(programs(voice=False)) == {
        "Python, Realtime", "pipecat, Realtime", "livekit, Realtime",
    }  # fmt: skip
