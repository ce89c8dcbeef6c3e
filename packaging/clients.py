"""Installs the programs that `make test-clients` tries: Python's in environments of their own, JavaScript's in `.clients-node`.

What is installed is said in pyproject.toml (the extras whose names begin with `clients`, whose pins do not go together) and in
`tests/clients/package.json`; `clients-constraints.txt` has versions that go together. Open WebUI is installed from
`clients-webui.txt`, which has all that it loads and nothing more. llama.cpp's tests
of its server come from the sources of llama-cpp-python. Nothing is done where nothing changed since.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("clients", "clients-aider", "clients-voice")
NODE = ROOT / ".clients-node"
LLAMA, LLAMA_SOURCES = ROOT / ".clients-llama", "llama-cpp-python==0.3.36"
CONSTRAINTS = {"clients": ROOT / "packaging" / "clients-constraints.txt"}  # aider has pins of its own
WEBUI = ROOT / "packaging" / "clients-webui.txt"


def say(text: str) -> None:
    print(f"grus: {text}", file=sys.stderr, flush=True)


def made_for(folder: Path, recipe: str) -> bool:
    stamp = folder / ".ready"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe


def install_python(name: str, what: list[str], lists: str) -> None:
    folder = ROOT / f".venv-{name}"
    recipe = "\n".join([str(ROOT), sys.version, *what, lists])
    if made_for(folder, recipe):
        return
    say(f"making {folder.name}; the first time this takes some minutes")
    venv.create(folder, clear=True, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *what], check=True)
    (folder / ".ready").write_text(recipe, encoding="utf-8")


def install_extra(extra: str) -> None:
    """The packages of an extra, but not Grus itself, which would bring torch: its clients know it by its address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    constraints = CONSTRAINTS.get(extra)
    limits = ["-c", str(constraints)] if constraints else []
    lists = constraints.read_text(encoding="utf-8") if constraints else ""
    install_python(extra, [*limits, *project["optional-dependencies"][extra]], lists)


def install_webui() -> None:
    if sys.version_info >= (3, 13):
        say("Open WebUI needs Python 3.11 or 3.12: it is left out")
        return
    install_python("clients-webui", ["--no-deps", "-r", str(WEBUI)], WEBUI.read_text(encoding="utf-8"))


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
            for member in sources:
                if member.isfile() and any(f"vendor/llama.cpp/{part}" in member.name for part in wanted):
                    target = LLAMA / member.name
                    if ".." in target.parts:
                        raise SystemExit(f"{file.name} holds {member.name}, which leads out of its folder.")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with sources.extractfile(member) as content:  # type: ignore[union-attr]
                        target.write_bytes(content.read())
    (LLAMA / ".ready").write_text(LLAMA_SOURCES, encoding="utf-8")


def main() -> None:
    for extra in EXTRAS:
        install_extra(extra)
    install_webui()
    install_node()
    install_llama_tests()


if __name__ == "__main__":
    argparse.ArgumentParser(description="Installs the programs that `make test-clients` tries.").parse_args()
    main()
