"""Installs the programs that `make test-clients` tries: Python's in environments of their own, JavaScript's in `.clients-node`.

What is installed is said in pyproject.toml (the extras `clients` and `clients-aider`, whose pins do not go together) and in
`tests/clients/package.json`; `clients-constraints.txt` has versions that go together. Nothing is done where nothing changed since.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = {name: ROOT / f".venv-{name}" for name in ("clients", "clients-aider")}
NODE = ROOT / ".clients-node"
CONSTRAINTS = {"clients": ROOT / "packaging" / "clients-constraints.txt"}  # aider has pins of its own


def say(text: str) -> None:
    print(f"grus: {text}", file=sys.stderr, flush=True)


def made_for(folder: Path, recipe: str) -> bool:
    stamp = folder / ".ready"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe


def install_python(extra: str, folder: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["optional-dependencies"][extra]
    constraints = CONSTRAINTS.get(extra)
    versions = constraints.read_text(encoding="utf-8") if constraints else ""
    recipe = "\n".join([str(ROOT), sys.version, *wanted, versions])
    if made_for(folder, recipe):
        return
    say(f"installing the extra {extra} into {folder.name}; the first time this takes some minutes")
    venv.create(folder, clear=True, with_pip=True)
    # not Grus itself, which would bring torch: its clients know it by its address
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *(["-c", constraints] if constraints else []), *wanted], check=True)
    (folder / ".ready").write_text(recipe, encoding="utf-8")


def install_node() -> None:
    recipe = (ROOT / "tests/clients/package.json").read_text(encoding="utf-8")
    if made_for(NODE, recipe):
        return
    if shutil.which("npm") is None:
        say("npm is not installed: the programs that need node are left out. Install Node.js 20 or later to try them.")
        return
    say(
        f"installing the packages of tests/clients/package.json into {NODE.name}; the first time this takes some minutes"
    )
    NODE.mkdir(exist_ok=True)
    (NODE / "package.json").write_text(recipe, encoding="utf-8")
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    subprocess.run(["npm", "install", *quiet], cwd=NODE, check=True)
    (NODE / ".ready").write_text(recipe, encoding="utf-8")


def main() -> None:
    for extra, folder in ENVIRONMENTS.items():
        install_python(extra, folder)
    install_node()


if __name__ == "__main__":
    main()
