"""The script that has packages checked: what it complains of, and that what nothing has read is not called clean."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.needs import need_program
from tests.packaging.tools import ROOT, script

check_packages = script("check_packages")
bundle = check_packages.bundle

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="packages of Linux are checked on Linux")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A bundle whose program does nothing. Packages of it lie in this folder."""
    monkeypatch.setattr(bundle, "BUILD", tmp_path / "build")
    monkeypatch.setattr(bundle, "DIST", tmp_path / "dist")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    inner = tmp_path / "build" / "grus" / "_internal"
    (inner / "grus-1.2.3.dist-info").mkdir(parents=True)
    shutil.copyfile("/bin/true", inner.parent / "grus")
    return tmp_path / "dist"


def checked(check: str, *arguments: Any) -> bool:
    checks = check_packages.Checks()
    getattr(check_packages, check)(checks, *arguments)
    return bool(checks.good)


def test_a_program_that_is_not_here_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    checks = check_packages.Checks()
    checks.program("lint", "a-program-that-nobody-has", "x")
    assert not checks.good
    assert "a-program-that-nobody-has is not installed here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "silent", "good"),
    [
        ("true", True, True),
        ("echo a hint", False, True),
        ("echo a hint", True, False),
        ("echo wrong >&2; exit 1", False, False),
        ("exit 4", False, False),
    ],
)
def test_a_program_must_succeed_and_may_have_to_be_silent(command: str, silent: bool, good: bool) -> None:
    checks = check_packages.Checks()
    checks.program("lint", "sh", "-c", command, silent=silent)
    assert checks.good is good


def test_nothing_to_check_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_packages.main([str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    for ending in (".deb", ".rpm", ".AppImage"):
        assert f"there is a {ending}: FAILED" in printed


@pytest.mark.parametrize("lacking", ["", "usr/share/man/man1/grus.1.gz", "usr/bin/grus"])
def test_a_package_of_debian_has_what_every_package_has(lacking: str, small: Path, tmp_path: Path) -> None:
    need_program("dpkg-deb", "ar", "xz")
    package = bundle.make_deb()
    root = tmp_path / "package"
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(root)], check=True)
    if lacking:
        (root / lacking).unlink()
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(package)], check=True)
    listed = subprocess.run(["dpkg-deb", "--contents", str(package)], capture_output=True, text=True, check=True).stdout
    assert check_packages.missing_files(listed) == (f"{lacking} is not in it\n" if lacking else "")


def test_packages_recommend_a_font_with_chinese_and_japanese_characters(small: Path) -> None:
    need_program("dpkg-deb", "ar", "xz", "rpmbuild", "rpm")
    asked = {
        "fonts-noto-cjk": ["dpkg-deb", "--field", str(bundle.make_deb()), "Recommends"],
        "google-noto-sans-cjk-fonts": ["rpm", "-qp", "--recommends", "--nosignature", str(bundle.make_rpm())],
    }
    for font, command in asked.items():
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [font]


@pytest.mark.parametrize("broken", ["", "Type=Program", "Categories=Nonsense;"])
def test_the_desktop_file_that_is_installed_is_read(broken: str, small: Path, tmp_path: Path) -> None:
    need_program("desktop-file-validate", "appstreamcli")
    root = bundle.lay_out(tmp_path / "root")
    if broken:
        file = root / check_packages.DESKTOP
        key = broken.split("=")[0]
        lines = [broken if line.startswith(f"{key}=") else line for line in file.read_text().splitlines()]
        file.write_text("\n".join(lines) + "\n")
    assert checked("desktop_files", "grus", root) is not bool(broken)


def test_the_metainfo_that_is_installed_is_read(small: Path, tmp_path: Path) -> None:
    need_program("desktop-file-validate", "appstreamcli")
    root = bundle.lay_out(tmp_path / "root")
    file = root / check_packages.METAINFO
    file.write_text(
        file.read_text()
        .replace("<summary>", "<summary>Not a short name. With two sentences.")
        .replace("<name>Grus</name>", "")
    )
    assert not checked("desktop_files", "grus", root)


@pytest.mark.parametrize("lacking", ["", "a file", "a library"])
def test_an_rpm_has_its_files_and_asks_for_the_libraries_of_the_window(
    lacking: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("rpmbuild", "rpm", "rpmlint")
    if lacking == "a library":
        monkeypatch.setattr(bundle, "RPM", bundle.RPM.replace("Requires: {requires}", "Requires: glibc"))
    if lacking == "a file":
        monkeypatch.setattr(
            bundle, "RPM", bundle.RPM.replace("/usr/share/man/man1/grus.1.gz\n", "%exclude /usr/share/man\n")
        )
    package = bundle.make_rpm()
    assert checked("check_rpm", package) is not bool(lacking)


@pytest.mark.parametrize("lacking", ["", "AppRun", "usr/share/applications/org.grus.Grus.desktop"])
def test_an_appimage_has_its_files_behind_its_runtime(
    lacking: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("mksquashfs", "unsquashfs", "desktop-file-validate", "appstreamcli")
    runtime = tmp_path / "runtime"
    header = bytearray(64)
    header[:11] = b"\x7fELF\x02\x01\x01\x00AI\x02"
    header[40:48] = (6000).to_bytes(8, "little")  # where its sections are listed,
    header[58:62] = (64).to_bytes(2, "little") + (3).to_bytes(2, "little")  # the size of an entry, and how many
    runtime.write_bytes(bytes(header) + bytes(6000 + 3 * 64 - 64))
    if lacking:
        made = bundle.make_appdir

        def appdir() -> Path:
            root = made()
            (root / lacking).unlink()
            return Path(root)

        monkeypatch.setattr(bundle, "make_appdir", appdir)
    image = bundle.make_appimage(runtime)
    assert check_packages.squashfs_offset(image) == runtime.stat().st_size
    assert checked("check_appimage", image) is not bool(lacking)


def test_the_manifest_of_the_flatpak_is_read_by_its_builder(capsys: pytest.CaptureFixture[str]) -> None:
    need_program("flatpak-builder")
    assert checked("check_flatpak"), capsys.readouterr().out


def test_the_release_has_its_packages_checked_before_they_are_kept() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    job = workflow.split("  linux:\n")[1].split("  clean-systems:\n")[0]
    assert job.index("packaging/check_packages.py dist") < job.index("actions/upload-artifact")
    installed = job.split("apt-get install -y ")[1].splitlines()[0].split()
    for package in (
        "lintian",
        "rpm",
        "rpmlint",
        "squashfs-tools",
        "desktop-file-utils",
        "appstream",
        "flatpak-builder",
    ):
        assert package in installed
