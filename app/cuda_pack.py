"""The CUDA pack: PyTorch's build for NVIDIA GPUs, which a bundle downloads when it is asked to.

A bundle has PyTorch's build for CPUs. `resources/cuda_pack.json`, written when the bundle is made (`packaging/cuda_pack.py`), names the
wheels of the same PyTorch for CUDA: addresses, sizes and digests. They are unpacked into a folder of their own, and `use` has packages
searched for there before the bundle. An installer of Python's packages brings either build itself, so such an install has no list.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import resources
from app.bundled import has_nvidia_driver, is_bundled
from app.updates import ReleaseFile, download
from engine.errors import DiskFull, ErrorText, GrusError, Offline, Unsupported
from engine.hub import offline

LIST = "cuda_pack.json"
FOLDER = "GRUS_CUDA_FOLDER"  # the variable that names another place for gigabytes
_DONE = "unpacked.txt"  # the digests of the wheels that are whole in an unfinished folder
_ROOM = 3  # bytes of disk for each byte to download: CUDA's libraries are half their size in a wheel, and one wheel lies beside them
Progress = Callable[[int, int], None]


def packs_folder() -> Path:
    """Beside the folder of conversations: deleting those takes no part of the program with them."""
    if chosen := os.environ.get(FOLDER):
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("Grus-CUDA", appauthor=False)


@dataclass(frozen=True)
class CudaPack:
    """The pack of this bundle. Its version is that of its contents, and not Grus's: an update with the same pack keeps it."""

    version: str
    files: tuple[ReleaseFile, ...]

    @classmethod
    def offered(cls) -> CudaPack | None:
        """None where there is no list: an install by Python's tools, a Mac, a bundle that was made without one."""
        file = resources.path(LIST)
        if not is_bundled() or not file.is_file():
            return None
        content = json.loads(file.read_text(encoding="utf-8"))
        files = (ReleaseFile(f["url"], f["sha256"], f["size"]) for f in content["files"])
        return cls(content["version"], tuple(files))

    @classmethod
    def expected(cls) -> CudaPack:
        """As `offered`; why there is none is an error."""
        pack = cls.offered()
        if pack is not None:
            return pack
        if sys.platform == "darwin":
            raise Unsupported("On a Mac MLX computes: there is no CUDA pack.")
        if is_bundled():
            raise Unsupported("This Grus was built without a CUDA pack.")
        raise Unsupported(
            "Only an installation with a Python of its own takes a CUDA pack. uv, pipx and pip install PyTorch's build for CUDA "
            "themselves: docs/install.md."
        )

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.files)

    @property
    def folder(self) -> Path:
        """Where it is once it is whole."""
        return packs_folder() / self.version

    @property
    def is_installed(self) -> bool:
        return self.folder.is_dir()

    def install(self, progress: Progress | None = None) -> Path:
        """Download what is missing and unpack it. What an interrupted attempt brought is kept and continued.

        Raising from `progress`, which is also called before each wheel is unpacked, ends it.
        """
        from engine.file_lock import exclusive
        from engine.hub.download import report_waiting

        if reason := offline.forbidden():
            raise Offline(ErrorText("The CUDA pack cannot be downloaded: {reason}.", reason=reason))

        def wait() -> None:
            report_waiting(progress, "Another Grus installs the CUDA pack. Waiting for it.")
            if progress is not None:
                progress(0, self.size)

        try:
            with exclusive(packs_folder() / "lock", wait):
                if not self.is_installed:
                    self._bring(progress)
        except OSError as error:
            raise DiskFull(
                ErrorText("The CUDA pack cannot be unpacked: {reason}.", reason=error.strerror or str(error))
            ) from None
        return self.folder

    def _bring(self, progress: Progress | None) -> None:
        part, wheels = packs_folder() / f"{self.version}.part", packs_folder() / "download"
        for folder in (part, wheels):
            folder.mkdir(exist_ok=True)
        done = set((part / _DONE).read_text(encoding="ascii").split()) if (part / _DONE).exists() else set()
        left = [file for file in self.files if file.sha256 not in done]
        self._check_space(left, wheels)
        have = self.size - sum(file.size for file in left)
        for file in left:
            wheel = _fetched(file, wheels, progress and _shifted(progress, have, self.size))
            have += file.size
            if progress is not None:
                progress(have, self.size)
            unpack(wheel, part)
            with (part / _DONE).open("a", encoding="ascii") as written:
                written.write(f"{file.sha256}\n")
            wheel.unlink()
        part.rename(self.folder)
        for other in packs_folder().iterdir():  # packs of versions before, and their downloads
            if other.is_dir() and other != self.folder:
                shutil.rmtree(other, ignore_errors=True)

    def _check_space(self, left: list[ReleaseFile], wheels: Path) -> None:
        there = sum(path.stat().st_size for path in wheels.iterdir())
        needed, free = _ROOM * sum(file.size for file in left) - there, shutil.disk_usage(wheels).free
        if needed > free:
            from engine.hub.download import size

            raise DiskFull(
                ErrorText(
                    "The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.",
                    needed=size(needed),
                    folder=str(packs_folder()),
                    free=size(free),
                    variable=FOLDER,
                )
            )


def remove() -> bool:
    """Delete every pack and what was downloaded for one. False where there was none."""
    folder = packs_folder()
    found = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    try:
        for path in found:
            shutil.rmtree(path)
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise GrusError(
            ErrorText(
                "The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.",
                reason=error.strerror or str(error),
            )
        ) from None
    return bool(found)


def use() -> None:
    """Search for packages in the pack first, where it is whole, belongs to this bundle, and an NVIDIA driver is there."""
    pack = CudaPack.offered()
    if pack is not None and pack.is_installed and has_nvidia_driver():
        sys.path.insert(0, str(pack.folder))


def _fetched(file: ReleaseFile, folder: Path, progress: Progress | None) -> Path:
    """A connection that breaks is taken up again for as long as it brings something."""
    part = folder / f"{file.name}.part"
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            return download(file, folder, progress)
        except Offline:
            if not part.exists() or part.stat().st_size <= before:
                raise


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """The progress of one file within all."""
    return lambda done, _: progress(before + done, total)


def unpack(wheel: Path, folder: Path) -> None:
    """The packages of a wheel into `folder`, as an installer lays them out, without its programs and headers."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            first, _, rest = entry.filename.partition("/")
            if first.endswith(".data"):
                kind, _, rest = rest.partition("/")
                if kind not in ("purelib", "platlib"):
                    continue
                entry.filename = rest
            if not entry.filename or entry.is_dir():
                continue
            placed = Path(archive.extract(entry, folder))
            if entry.external_attr >> 16 & 0o100:
                placed.chmod(0o755)
