"""The CUDA pack in Settings: offered where a GPU waits for it, downloaded, cancelled, continued and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.cuda_pack import CudaPack
from app.gui.viewmodels import cuda_pack as module
from tests.app.gui.conftest import Opened
from tests.app.release_site import ReleaseSite, serving_releases
from tests.app.test_cuda_pack import CUBLAS, TORCH


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with serving_releases() as here:
        yield here


@pytest.fixture
def pack(site: ReleaseSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CudaPack:
    """Grus runs as a bundle with this pack, and there is an NVIDIA driver."""
    files = (site.add("torch-9.9.whl", TORCH), site.add("nvidia_cublas-9.9.whl", CUBLAS))
    made = CudaPack("9.9-1", files)
    monkeypatch.setenv("GRUS_CUDA_FOLDER", str(tmp_path / "packs"))
    monkeypatch.setattr(CudaPack, "offered", classmethod(lambda cls: made))
    monkeypatch.setattr(module, "has_nvidia_driver", lambda: True)
    return made


def settings(grus: Opened) -> Any:
    grus.window.open_pane("settings")
    return grus.window.panes["settings"].cuda_pack


def click(grus: Opened, button: Any) -> None:
    grus.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_it_is_downloaded_and_grus_restarts(pack: CudaPack, open_grus: Callable[..., Opened]) -> None:
    grus = open_grus()
    view = settings(grus)
    assert "it needs the CUDA pack: a download of" in view.status.text()
    click(grus, view.get)
    grus.until(lambda: view.restart.isVisible())
    assert pack.is_installed
    assert view.status.text() == "Takes effect after a restart of Grus."
    assert not view.get.isVisible()
    click(grus, view.restart)
    grus.until(lambda: grus.window.restarts)


def test_it_is_removed(pack: CudaPack, open_grus: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch) -> None:
    pack.install()
    monkeypatch.setattr(
        module, "has_nvidia_driver", lambda: False
    )  # the GPU was taken out: what is there can be removed
    grus = open_grus()
    view = settings(grus)
    assert view.status.text() == "CUDA pack 9.9-1 is installed."
    click(grus, view.remove)
    grus.until(lambda: not pack.is_installed and view.get.isVisible())


def test_a_cancelled_download_is_continued(
    pack: CudaPack, open_grus: Callable[..., Opened], site: ReleaseSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    grus = open_grus()
    view = settings(grus)
    shown = grus.context.cuda_pack.changed
    shown.connect(lambda: grus.context.cuda_pack.cancel() if view.cancel.isVisible() else None)
    click(grus, view.get)
    grus.until(lambda: view.get.isVisible())
    assert not pack.is_installed
    assert view.status.property("level") != "error"
    monkeypatch.setattr(grus.context.cuda_pack, "cancel", lambda: None)
    click(grus, view.get)
    grus.until(lambda: pack.is_installed and view.remove.isVisible())


def test_what_went_wrong_is_said(pack: CudaPack, open_grus: Callable[..., Opened], site: ReleaseSite) -> None:
    site.files.clear()
    grus = open_grus()
    view = settings(grus)
    click(grus, view.get)
    grus.until(lambda: "could not be downloaded" in view.status.text())
    assert view.status.property("level") == "error"
    assert view.get.isVisible()


def test_nothing_is_offered_without_a_gpu_or_a_pack(
    pack: CudaPack, open_grus: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_nvidia_driver", lambda: False)
    assert not settings(open_grus()).isVisible()
    monkeypatch.setattr(module, "has_nvidia_driver", lambda: True)
    monkeypatch.setattr(CudaPack, "offered", classmethod(lambda cls: None))
    assert not settings(open_grus()).isVisible()
