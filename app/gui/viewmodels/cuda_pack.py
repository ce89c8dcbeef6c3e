"""The CUDA pack in the window: whether it is there, its download, and its removal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from app import cuda_pack
from app.bundled import has_nvidia_driver
from app.cuda_pack import CudaPack
from app.gui.texts import size, tr
from app.gui.viewmodels.signal import Signal
from engine.errors import GrusError

if TYPE_CHECKING:
    from app.window_engine import JobRunner


class WindowCudaPack:
    """`changed`: there is something else to show. Nothing is offered without a pack for this Grus and an NVIDIA driver."""

    def __init__(self, work: JobRunner, pack: CudaPack | None) -> None:
        self._work, self.pack = work, pack
        self.changed = Signal()
        self.phase: Literal["idle", "downloading", "removing"] = "idle"
        self.problem = ""
        self.restart_needed = False
        self._progress = (0, 0)
        self._cancelled = False

    @property
    def offered(self) -> bool:
        return self.pack is not None and (has_nvidia_driver() or self.pack.is_installed)

    @property
    def installed(self) -> bool:
        return self.pack is not None and self.pack.is_installed

    def install(self) -> None:
        """Download and unpack it. What is there of it is continued."""
        pack = self.pack
        if pack is None or self.phase != "idle" or pack.is_installed:
            return
        self._cancelled, self._progress = False, (0, pack.size)
        self._put("downloading")

        def show(done: int, total: int) -> None:
            if self._cancelled:
                raise GrusError("The download was cancelled.")
            self._work.post(lambda: self._show_progress(done, total))

        self._work.run(lambda: pack.install(show), lambda _: self._end(True), self._fail)

    def remove(self) -> None:
        if self.phase == "idle" and self.installed:
            self._put("removing")
            self._work.run(cuda_pack.remove, lambda _: self._end(True), self._fail)

    def cancel(self) -> None:
        """End a download; another one continues it."""
        self._cancelled = True

    @property
    def status(self) -> str:
        if self.problem:
            return self.problem
        if self.phase == "downloading":
            done, total = self._progress
            if done >= total > 0:
                return tr("Unpacking.")
            return tr("Downloading: {done} of {total}", done=size(done), total=size(total))
        if self.phase == "removing":
            return tr("Removing.")
        if self.restart_needed:
            return tr("Takes effect after a restart of Grus.")
        if self.installed:
            return tr("CUDA pack {version} is installed.", version=self.pack.version if self.pack else "")
        return tr(
            "Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.",
            size=size(self.pack.size if self.pack else 0),
        )

    def _show_progress(self, done: int, total: int) -> None:
        self._progress = (done, total)
        self.changed()

    def _end(self, restart: bool) -> None:
        self.restart_needed = restart
        self._put("idle")

    def _fail(self, problem: str) -> None:
        self._put("idle", "" if self._cancelled else problem)

    def _put(self, phase: Literal["idle", "downloading", "removing"], problem: str = "") -> None:
        self.phase, self.problem = phase, problem
        self.changed()
