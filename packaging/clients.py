"""Installs the programs that `make test-clients` tries: Python's in environments of their own, JavaScript's in `.clients-node`.

What is installed is said in pyproject.toml (the extras `clients` and `clients-aider`, whose pins do not go together) and in
`tests/clients/package.json`; `clients-constraints.txt` has versions that go together. llama.cpp's tests of its server come from
the sources of llama-cpp-python. Nothing is done where nothing changed since.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = {name: ROOT / f".venv-{name}" for name in ("clients", "clients-aider")}
NODE = ROOT / ".clients-node"
LLAMA, LLAMA_SOURCES = ROOT / ".clients-llama", "llama-cpp-python==0.3.36"
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


def install_llama_tests() -> None:
    if made_for(LLAMA, LLAMA_SOURCES):
        return
    say(f"downloading the sources of {LLAMA_SOURCES} into {LLAMA.name} for llama.cpp's tests")
    shutil.rmtree(LLAMA, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder]
        subprocess.run([*pip, "--no-binary", LLAMA_SOURCES.partition("==")[0], LLAMA_SOURCES], check=True)
        (file,) = Path(folder).glob("*.tar.gz")
        with tarfile.open(file) as sources:
            wanted = ("tools/server/tests/", "models/templates/")
            members = [one for one in sources if any(f"vendor/llama.cpp/{part}" in one.name for part in wanted)]
            sources.extractall(LLAMA, members, filter="data")
    (LLAMA / ".ready").write_text(LLAMA_SOURCES, encoding="utf-8")


def main() -> None:
    for extra, folder in ENVIRONMENTS.items():
        install_python(extra, folder)
    install_node()
    install_llama_tests()


if __name__ == "__main__":
    main()
