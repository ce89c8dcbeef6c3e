"""The script that makes a bundle on an older system: what it runs there, in which order, and what ends it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.asserting import every
from tests.needs import need_program
from tests.packaging.tools import ROOT, script

bundle_in = script("bundle_in")
bundle, clean_systems = bundle_in.bundle, bundle_in.clean_systems


def may_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that a chroot may go into: this machine's programs, seen through a mount, and nothing else."""
    folder = tmp_path / "root"
    for name in ("proc", "dev", "sys", "tmp", "etc/apt"):
        (folder / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (folder / name).symlink_to(f"usr/{name}")
    return folder


@pytest.mark.skipif(sys.platform != "linux" or os.name != "posix", reason="debootstrap is for Linux")
def test_folders_of_this_machine_are_seen_there_under_the_same_path(root: Path, tmp_path: Path) -> None:
    need_program("unshare", "chroot")
    if os.geteuid() != 0 or not may_mount():
        pytest.skip("only root may mount")
    shared = tmp_path / "with a space"
    shared.mkdir()
    (shared / "text").write_text("seen\n")
    system = clean_systems.CleanSystem("bare", root, folders=(Path("/usr"), shared))
    done = system.run(f"cat '{shared}/text' && echo \"it's here\" > '{shared}/answer'; echo \"$HOME\"; exit 3")
    assert (done.returncode, done.stdout) == (3, "seen\n/root\n")
    assert (shared / "answer").read_text() == "it's here\n"
    assert list((root / "usr").iterdir()) == []  # seen from there alone, so that nobody deletes it with the system


def test_the_oldest_system_is_the_one_of_the_release() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    job = workflow.split("  linux:\n")[1].split("  clean-systems:\n")[0]
    assert f"runs-on: {bundle_in.OLDEST} " in job
    assert bundle_in.OLDEST in clean_systems.SYSTEMS


def test_what_is_run_there_in_which_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("GITHUB_REPOSITORY", "grus/a repository")
    wheel = tmp_path / "with a space" / "grus-1.2.3-py3-none-any.whl"
    steps = bundle_in.commands(wheel, ["deb", "appimage", "check"], Path("/some/runtime"))
    assert [name for name, _ in steps] == [
        "packages",
        "finished",
        "environment",
        "app",
        "sizes",
        "deb",
        "appimage",
        "check",
    ]
    commands = dict(steps)
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = shlex.split(commands["packages"])
    assert every(
        name in packages
        for name in (python, f"{python}-venv", f"lib{python}", "libxcb-cursor0", "libegl1", "rpm", "libportaudio2")
    )
    environment = shlex.split(commands["environment"])
    assert environment[:3] == [python, "-m", "venv"]
    assert environment[-4:] == ["--find-links", str(wheel.parent), str(wheel), "pyinstaller"]
    assert "--no-index" in environment
    deb = shlex.split(commands["deb"])
    assert every(word in deb for word in ("SOURCE_DATE_EPOCH=1700000000", "GITHUB_REPOSITORY=grus/a repository"))
    assert deb[-4:] == ["packaging/bundle.py", "deb", "--runtime", "/some/runtime"]
    assert shlex.split(commands["check"])[-1] == "packaging/try_bundle.py"


def test_a_python_that_is_not_finished_ends_everything() -> None:
    check = shlex.split(dict(bundle_in.commands(Path("/wheels/grus.whl"), ["deb"], None))["finished"])
    assert check[0] == bundle_in.python()
    for level, code in (("final", 0), ("candidate", 1)):
        pretended = f"import sys; sys.version_info = type('V', (), {{'releaselevel': {level!r}}})(); {check[2]}"
        assert subprocess.run([sys.executable, "-c", pretended]).returncode == code


def test_later_packages_of_ubuntu_are_asked_for(root: Path) -> None:
    sources = root / "etc" / "apt" / "sources.list"
    bundle_in.add_archives(clean_systems.CleanSystem("debian-12", root))
    assert not sources.exists()
    bundle_in.add_archives(clean_systems.CleanSystem("ubuntu-24.04", root))
    suites = [line.split()[2] for line in sources.read_text().splitlines()]
    assert suites == ["noble", "noble-updates", "noble-security"]
    assert every("universe" in line for line in sources.read_text().splitlines())
    assert not sources.with_name("sources.list.d").exists()


@pytest.fixture
def debian_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    keys = tmp_path / "keys.gpg"
    keys.write_bytes(b"keys")
    monkeypatch.setattr(bundle_in, "DEBIAN_KEYS", keys)
    monkeypatch.setattr(bundle_in, "python", lambda: "python3.11")
    return keys


def test_only_python_is_taken_of_debian(root: Path, debian_keys: Path) -> None:
    """apt itself reads the preferences, and says which archive it takes a package of."""
    bundle_in.add_archives(clean_systems.CleanSystem("ubuntu-22.04", root))
    apt = root / "etc" / "apt"
    assert (apt / "debian.gpg").read_bytes() == b"keys"
    assert " bookworm main" in (apt / "sources.list.d" / "debian.list").read_text()
    need_program("apt-cache")
    lists = root / "lists"
    (lists / "partial").mkdir(parents=True)
    (root / "status").touch()
    names = ("python3.11", "libpython3.11", "libpython3.11-stdlib", "python3-pip-whl", "libc6", "python3")
    texts = []
    for suite, version in (("jammy", "2"), ("bookworm", "1")):
        archive = root / suite
        archive.mkdir()
        about = "".join(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nFilename: {name}.deb\nSize: 1\nSHA256: {'0' * 64}\n\n"
            for name in names
        )
        (archive / "Packages").write_text(about)
        digest = hashlib.sha256(about.encode()).hexdigest()
        (archive / "Release").write_text(
            f"Codename: {suite}\nDate: Sat, 28 Nov 2026 00:00:00 UTC\nSHA256:\n {digest} {len(about)} Packages\n"
        )
        texts.append(f"deb [trusted=yes] file:{archive} ./\n")
    (root / "sources").write_text("".join(texts))
    options = [
        f"Dir::Etc::SourceList={root / 'sources'}", "Dir::Etc::SourceParts=/nowhere", f"Dir::State::Lists={lists}",
        f"Dir::State::Status={root / 'status'}", f"Dir::Etc::Preferences={apt / 'preferences.d' / 'debian'}",
        "Dir::Etc::PreferencesParts=/nowhere", f"Dir::Cache={root / 'cache'}", "APT::Sandbox::User=root",
    ]  # fmt: skip
    words = [word for option in options for word in ("-o", option)]
    subprocess.run(["apt-get", *words, "update"], check=True, capture_output=True)
    policy = subprocess.run(["apt-cache", *words, "policy", *names], check=True, capture_output=True, text=True).stdout
    taken = dict(re.findall(r"^(\S+):\n.*\n  Candidate: (\S+)$", policy, re.MULTILINE))
    assert taken == dict.fromkeys(names[:4], "1") | {"libc6": "2", "python3": "2"}


def test_debians_keys_are_needed_for_its_python(root: Path, debian_keys: Path) -> None:
    debian_keys.unlink()
    with pytest.raises(SystemExit, match="install debian-archive-keyring"):
        bundle_in.add_archives(clean_systems.CleanSystem("ubuntu-22.04", root))


@pytest.fixture
def system(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One on which each command whose name is in `fails` ends with 1. What was run is in `ran`."""
    made = clean_systems.CleanSystem("ubuntu-22.04", root)
    made.ran, made.fails = [], []

    def run(command: str) -> subprocess.CompletedProcess[str]:
        made.ran.append(command)
        failed = any(word in command for word in made.fails)
        return subprocess.CompletedProcess([], int(failed), "dist/grus.deb, 189.0 MB\n", "")

    monkeypatch.setattr(made, "run", run)
    monkeypatch.setattr(clean_systems, "clean_system", lambda *_: contextlib.nullcontext(made))
    monkeypatch.setattr(bundle_in, "collect", lambda wheel, folder: None)
    monkeypatch.setattr(bundle_in, "DEBIAN_KEYS", tmp_path / "keys.gpg")
    (tmp_path / "keys.gpg").touch()
    monkeypatch.setattr(bundle, "BUILD", root / "build")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    return made


def test_a_bundle_is_made_there_and_what_was_printed_is_shown(
    system: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remembered = bundle.BUILD / "work" / "of another Python"
    remembered.mkdir(parents=True)
    (tmp_path / "grus.whl").touch()
    assert bundle_in.main([str(tmp_path / "grus.whl"), "deb", "--scratch", str(tmp_path)]) == 0
    assert len(system.ran) == 6
    assert ROOT in system.folders
    assert system.patience is None
    assert "189.0 MB" in capsys.readouterr().out
    assert not remembered.exists()


def test_a_step_that_fails_ends_everything(system: Any, tmp_path: Path) -> None:
    system.fails = ["bundle.py app"]
    (tmp_path / "grus.whl").touch()
    with pytest.raises(SystemExit, match=r"app failed on ubuntu-22\.04"):
        bundle_in.main([str(tmp_path / "grus.whl"), "deb", "--scratch", str(tmp_path)])
    assert len(system.ran) == 4


def test_a_system_that_is_not_to_be_had_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_systems, "clean_system", lambda *_: contextlib.nullcontext(None))
    (tmp_path / "grus.whl").touch()
    assert bundle_in.main([str(tmp_path / "grus.whl"), "deb", "--scratch", str(tmp_path)]) == 1


def test_what_is_missing_is_said_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_systems, "clean_system", lambda *_: pytest.fail("a system was made"))
    with pytest.raises(SystemExit, match=r"no file.*wheels\.py"):
        bundle_in.main([str(tmp_path / "grus.whl"), "deb", "--scratch", str(tmp_path)])
    (tmp_path / "grus.whl").touch()
    with pytest.raises(SystemExit, match="--runtime FILE"):
        bundle_in.main([str(tmp_path / "grus.whl"), "appimage", "--scratch", str(tmp_path)])
