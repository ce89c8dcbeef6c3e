"""Which versions of the Python packages are installed: those that were tested, or one end of what pyproject.toml allows.

    python packaging/versions.py oldest         the lowest versions, one NAME==VERSION a line; setup.sh hands them to pip
    python packaging/versions.py constraints    writes constraints.txt anew, with uv (make constraints)

constraints.txt holds, for each system and Python, the newest versions that go together on the day it was made. It names no
address: where packages come from is a matter of the machine. `make setup` installs by it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "packaging" / "constraints.txt"
LINE = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.+!]*( ; [\w.<>=!'() ]+)?")
UP_TO = "python_full_version < '3.15'"
SYSTEMS = (
    "((platform_machine == 'arm64' and sys_platform == 'darwin') or sys_platform == 'linux' or sys_platform == 'win32')"
)
HEAD = """\
# The versions that Grus was tested with; `make setup` installs them. Made by `make constraints`, which see. No addresses.
"""


def requirements() -> list[str]:
    """What Grus and its tests ask for, as pyproject.toml has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["test"]]


def lowest(requirement: str) -> str:
    """`name[extra]>=1.2,<3; marker` as `name==1.2; marker`: a constraint for pip."""
    wanted, _, marker = requirement.partition(";")
    matched = re.fullmatch(r"([\w.-]+)(?:\[[^\]]*\])?(?:>=|==)([\w.]+)(?:,<[\w.]+)?", wanted.strip())
    if matched is None:
        raise SystemExit(f"{wanted!r} has no lowest version: write it as name>=LOWEST,<BOUND")
    return f"{matched[1]}=={matched[2]}" + (f"; {marker.strip()}" if marker else "")


def resolved() -> list[str]:
    """Lines of NAME==VERSION, with a marker where systems or Pythons differ, by uv in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = next(
            path for path in (Path(folder, "bin/python"), Path(folder, "Scripts/python.exe")) if path.exists()
        )
        subprocess.run([python, "-m", "pip", "install", "-q", "uv"], check=True)
        command = [python, "-m", "uv", "pip", "compile", "-q", "--universal", "--upgrade", "--python-version", "3.11"]
        form = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--extra", "test"]
        made = subprocess.run(
            [*command, *form, "pyproject.toml"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
    return [without(line, UP_TO, SYSTEMS) for line in made.stdout.splitlines()]


def without(line: str, *known: str) -> str:
    """The line without those parts of its marker that hold wherever Grus runs."""
    version, _, marker = line.partition(" ; ")
    for part in known:
        marker = marker.replace(f"{part} and ", "").replace(f" and {part}", "").replace(part, "")
    return f"{version} ; {marker}" if marker else version


def main(what: str) -> None:
    if what == "oldest":
        print("\n".join(map(lowest, requirements())))
    else:
        lines = resolved()
        wrong = [line for line in lines if not LINE.fullmatch(line)]
        if wrong or not lines:
            raise SystemExit(f"uv's answer is not a list of versions: {wrong[:3]}")
        FILE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Prints the lowest versions, or writes constraints.txt anew.")
    parser.add_argument("what", choices=["oldest", "constraints"])
    main(parser.parse_args().what)
