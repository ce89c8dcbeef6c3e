"""Makes a bundle and its packages on an older system than this one, which debootstrap makes: a bundle serves none older than its own.

    python packaging/bundle_in.py dist/grus-1.2.3-py3-none-manylinux_2_34_x86_64.whl deb rpm tar
    python packaging/bundle_in.py WHEEL deb appimage --runtime FILE     of packaging/bundle/appimage-runtime.sh
    python packaging/bundle_in.py WHEEL deb --system debian-12

What it makes lies in build/bundle and dist, as after `bundle.py`, which it runs there; `check` runs `try_bundle.py` there. The wheel's
dependencies are collected here, by this Python's pip, for the Python there, so both must be of one version. Ubuntu 22.04 has of 3.11 only
a release candidate, in which PyTorch crashes; Debian 12's asks for no newer C library, and is taken. Needs root and debootstrap.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import bundle
import clean_systems
import project

OLDEST = "ubuntu-22.04"
PYTORCH = "https://download.pytorch.org/whl/cpu"  # PyTorch's builds for CPUs alone
# What bundle.py runs, and what try_bundle.py speaks with.
TOOLS = ("binutils", "espeak-ng", "libportaudio2", "rpm", "squashfs-tools", "xz-utils")
DEBIAN = "debian-12"
DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FROM_DEBIAN = "python3.11 python3.11-* libpython3.11 libpython3.11-* python3-pip-whl python3-setuptools-whl"
FINISHED = "import bz2, ctypes, lzma, sqlite3, ssl, sys; sys.exit(sys.version_info.releaselevel != 'final')"
STEPS = ("tar", "deb", "rpm", "appimage")
_SHOWN = 25  # lines of what a step printed
_ENVIRONMENT = "/bundle"  # there


def python() -> str:
    """The package of this Python's version."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def collect(wheel: Path, folder: Path) -> None:
    """The wheels of everything that the bundle is made of, in the versions that were tested."""
    requirements = (project.ROOT / "packaging" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    [pyinstaller] = [line for line in requirements if line.startswith("pyinstaller")]
    pinned = project.ROOT / "packaging" / "constraints.txt"
    words = ["-m", "pip", "wheel", "--quiet", "--wheel-dir", str(folder), "-c", str(pinned), str(wheel), pyinstaller]
    index = os.environ.get("PIP_EXTRA_INDEX_URL", PYTORCH)
    bundle.run(sys.executable, *words, PIP_EXTRA_INDEX_URL=index)
    # Where that index does not answer, pip takes the registry's build instead.
    if any(folder.glob("nvidia_*.whl")):
        raise bundle.BundleError(f"PyTorch's build for CPUs was not to be had at {index}; pip took the build for CUDA")


def add_archives(system: clean_systems.CleanSystem) -> None:
    """Ubuntu's later packages; and on Ubuntu 22.04 Debian's Python 3.11, with nothing else of Debian."""
    if not system.name.startswith("ubuntu"):
        return
    suite, archive = clean_systems.SYSTEMS[system.name]
    apt = system.root / "etc" / "apt"
    lines = [f"deb {archive} {name} main universe\n" for name in (suite, f"{suite}-updates", f"{suite}-security")]
    (apt / "sources.list").write_text("".join(lines), encoding="utf-8")
    if system.name != OLDEST or python() != "python3.11":
        return
    if not DEBIAN_KEYS.is_file():
        raise bundle.BundleError(f"{DEBIAN_KEYS} is missing: install debian-archive-keyring")
    suite, archive = clean_systems.SYSTEMS[DEBIAN]
    shutil.copyfile(DEBIAN_KEYS, apt / "debian.gpg")
    source = f"deb [signed-by=/etc/apt/debian.gpg] {clean_systems.mirror_of_this_machine() or archive} {suite} main\n"
    wanted = {"*": -1, FROM_DEBIAN: 1001}  # more than 1000: also in place of a newer one
    pins = "\n".join(f"Package: {names}\nPin: release n={suite}\nPin-Priority: {n}\n" for names, n in wanted.items())
    for folder, text in (("sources.list.d/debian.list", source), ("preferences.d/debian", pins)):
        (apt / folder).parent.mkdir(exist_ok=True)
        (apt / folder).write_text(text, encoding="utf-8")


def commands(wheel: Path, what: Sequence[str], runtime: Path | None) -> list[tuple[str, str]]:
    """What is run on that system, each with its name. Its files are seen there under the same paths; beside the wheel are the others."""
    # PyInstaller takes Python as a library.
    packages = [python(), f"{python()}-venv", f"lib{python()}", *TOOLS, *bundle.debian_packages()]
    install = [
        "install",
        "--quiet",
        "--no-compile",
        "--no-index",
        "--find-links",
        str(wheel.parent),
        str(wheel),
        "pyinstaller",
    ]
    made = ["app", "sizes", *(name for name in what if name in STEPS)]
    options = ["--runtime", str(runtime)] if runtime else []
    # The commit's time: there is no git there. The repository's name goes into the packages.
    passed = {"SOURCE_DATE_EPOCH": str(bundle.source_date())}
    passed |= {name: os.environ[name] for name in ("GITHUB_REPOSITORY",) if name in os.environ}
    before = " ".join(f"{name}={shlex.quote(value)}" for name, value in passed.items())
    run = f"cd {shlex.quote(str(project.ROOT))} && {before} {_ENVIRONMENT}/bin/python packaging"
    steps = [
        ("packages", f"apt-get update -qq && {clean_systems.APT} {' '.join(packages)}"),
        ("finished", f"{python()} -c {shlex.quote(FINISHED)}"),
        ("environment", f"{python()} -m venv {_ENVIRONMENT} && {_ENVIRONMENT}/bin/pip {shlex.join(install)}"),
        *((name, f"{run}/bundle.py {shlex.join([name, *options])}") for name in made),
    ]
    if "check" in what:
        steps.append(("check", f"{run}/try_bundle.py"))
    return steps


def make(
    wheel: Path,
    what: Sequence[str],
    name: str,
    runtime: Path | None,
    scratch: Path,
    bases: Path | None,
) -> bool:
    """Whether the system could be had. A step that fails ends everything."""
    # Before anything that takes long.
    if not wheel.is_file():
        raise bundle.BundleError(f"{wheel} is no file: make it with packaging/wheels.py --only linux-x86_64")
    if "appimage" in what:
        bundle.checked_runtime(runtime)
    with (
        tempfile.TemporaryDirectory(prefix="grus-wheels-", dir=scratch) as temporary,
        clean_systems.clean_system(name, scratch, bases) as system,
    ):
        if system is None:
            return False
        wheels = Path(temporary)
        collect(wheel, wheels)
        add_archives(system)
        system.folders = (project.ROOT, wheels, *([runtime.parent] if runtime else []))
        system.patience = None
        shutil.rmtree(bundle.BUILD / "work", ignore_errors=True)  # what PyInstaller remembers is of another Python
        for step, command in commands(wheels / wheel.name, what, runtime):
            started = time.monotonic()
            done = system.run(command)
            print(f"{step}: {time.monotonic() - started:.0f} s", flush=True)
            print("    " + "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-_SHOWN:]), flush=True)
            if done.returncode:
                raise bundle.BundleError(f"{step} failed on {name}")
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Makes a bundle and its packages on an older system.")
    parser.add_argument("wheel", type=Path, help="of Grus, for Linux, made by packaging/wheels.py")
    parser.add_argument("what", nargs="+", choices=[*STEPS, "check"])
    parser.add_argument("--system", choices=list(clean_systems.SYSTEMS), default=OLDEST)
    parser.add_argument("--runtime", type=Path, help="of AppImages, type 2")
    parser.add_argument("--scratch", type=Path, default=Path("/var/tmp"))
    parser.add_argument("--bases", type=Path, help="keep the fresh system here, for the next time")
    given = parser.parse_args(arguments)
    runtime = given.runtime.resolve() if given.runtime else None
    done = make(given.wheel.resolve(), given.what, given.system, runtime, given.scratch, given.bases)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
