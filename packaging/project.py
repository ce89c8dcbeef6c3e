"""What all packaging scripts ask of the project: its version, its files, a clean copy of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
sys.path.insert(0, str(ROOT))  # so that a script of this folder can import Grus


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def base_version() -> str:
    """The version that pyproject.toml names: the one being worked on."""
    return str(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["version"])


def version(described: str | None = None) -> str:
    """A release's version is its tag, `v1.2.3`. Between tags it is a development version of what pyproject.toml names.

    `described` is what `git describe --tags --long --match 'v[0-9]*'` prints; asked of git where it is not given.
    """
    if described is None:
        try:
            described = git("describe", "--tags", "--long", "--match", "v[0-9]*")
        except (OSError, subprocess.CalledProcessError):
            described = ""
    found = re.fullmatch(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)-(\d+)-g[0-9a-f]+", described)
    if found is None:
        return f"{base_version()}.dev0"
    tag, commits = found[1], int(found[2])
    if not commits:
        return tag
    if base_version() == tag:
        raise SystemExit(f"pyproject.toml still names {tag}, which is released. Raise its version first.")
    return f"{base_version()}.dev{commits}"


def copy_tree(target: Path, version: str) -> Path:
    """The project's files as they are now, without what git ignores, links followed, with `version` written into them."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(None, listed):
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / name)
            shutil.copymode(source, target / name)
    written = target / "pyproject.toml"
    text = written.read_text(encoding="utf-8")
    written.write_text(re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', text, count=1), encoding="utf-8")
    return target
