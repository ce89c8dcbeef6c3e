"""The window's Models pane in a process of its own, against the tests' hub: search, download, pause, a kill, a token, offline."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.starter import GUIDE, starter
from tests.app.gui.fetcher import REPO
from tests.app.new_machine import Fresh, files_of, wait_for
from tests.hub_server import TOKEN, FakeHub, Hold, serving

WEIGHTS = "model.safetensors"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    folder = starter(GUIDE)
    assert folder is not None
    with serving() as hub:
        hub.repos[REPO] = files_of(folder)
        yield hub


@pytest.fixture
def fresh(hub: FakeHub, tmp_path: Path) -> Fresh:
    return Fresh(hub, tmp_path / "home", {"QT_QPA_PLATFORM": "offscreen"})


@contextmanager
def window(fresh: Fresh, task: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    program = ("-m", "tests.app.gui.fetcher")
    process = fresh.start(task, *more, "--folder", fresh.home / "grus", program=program, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.kill()  # the tests end it as a crash would
        process.communicate()


def test_a_download_is_paused_goes_on_and_survives_a_kill(fresh: Fresh) -> None:
    # without a pace the whole file may arrive before the transfer has paused
    first = fresh.hub.holds[WEIGHTS] = Hold(2_000_000, pace=0.02)
    with window(fresh, "download") as process:
        assert "Paused at" in wait_for(process, "paused:")
        second = fresh.hub.holds[WEIGHTS] = Hold(1_000_000)
        first.go.set()
        (fresh.home / "grus" / "go on").touch()
        wait_for(process, "running")
        assert second.reached.wait(60)
    assert fresh.found(REPO) is None
    second.go.set()
    asked = len(fresh.hub.ranges)
    with window(fresh, "resume") as process:
        assert wait_for(process, "listed") == "listed under Downloading\n"
        assert wait_for(process, "here:") == f"here: {REPO} is installed. Its checksums are correct.\n"
    resumed = [wanted for name, wanted in fresh.hub.ranges[asked:] if name == WEIGHTS]
    assert len(resumed) == 1
    assert int(resumed[0].removeprefix("bytes=").rstrip("-")) > 1_000_000
    snapshot = fresh.found(REPO)
    assert snapshot is not None
    assert (snapshot.path / WEIGHTS).read_bytes() == fresh.hub.repos[REPO][WEIGHTS]


def test_a_gated_model_opens_with_a_token_from_the_settings(fresh: Fresh) -> None:
    fresh.hub.gated[REPO] = {TOKEN}
    with window(fresh, "gated") as process:
        assert wait_for(process, "refused:").startswith(
            f"refused: {REPO} is gated. Accept its terms on {fresh.hub.address}/{REPO}"
        )
        assert TOKEN[:3] not in wait_for(process, "field shows")
        assert "which only you can read" in wait_for(process, "kept:")
        wait_for(process, "here")
        wait_for(process, "removed:")
    sent_on = {token for where, token in fresh.hub.shown if where == "storage"}
    assert sent_on == {""}
    assert [
        p
        for p in fresh.home.rglob("*")
        if p.is_file() and p.stat().st_size < 10**6 and TOKEN.encode() in p.read_bytes()
    ] == []


def test_a_window_that_was_started_offline_asks_nobody(fresh: Fresh) -> None:
    with window(fresh, "offline", "--offline") as process:
        assert (
            wait_for(process, "found nothing")
            == "found nothing: Hugging Face is not asked: Grus was started with --offline.\n"
        )
        assert "Grus was started with --offline, so it cannot be downloaded" in wait_for(process, "refused:")
        assert wait_for(process, "switch:").startswith("switch: True False Grus was started with --offline")
    assert fresh.hub.asked == []
