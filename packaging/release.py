"""The texts of a release: the changelog's section, checksums, what updates read, and files for package managers.

python packaging/release.py cut 1.2.3 1.3.0    before the tag: the section of 1.2.3 is closed, and 1.3.0 is worked on
python packaging/release.py notes --out FILE   what changed, for the release's page
python packaging/release.py files --dist DIR   SHA256SUMS, latest.json, and packaging/templates filled in, into DIR
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import time
import tomllib
from pathlib import Path
from string import Template

import project

CHANGELOG = project.ROOT / "CHANGELOG.md"
TEMPLATES = project.ROOT / "packaging" / "templates"
OPEN = "## Unreleased"
_CONDA = {"torch": "pytorch", "soundfile": "pysoundfile", "sounddevice": "python-sounddevice", "soxr": "soxr-python"}
# Files of a release by what updates and templates call them: how each name ends.
KINDS = {
    "deb": "_amd64.deb", "rpm": ".x86_64.rpm", "appimage": "-x86_64.AppImage", "dmg": ".dmg", "setup": "-setup.exe",
    "tar": "grus-linux-x86_64.tar.xz", "wheel_linux": "-manylinux_2_34_x86_64.whl", "wheel_pure": "-py3-none-any.whl", "sdist": ".tar.gz",
}  # fmt: skip


class ReleaseError(SystemExit):
    def __init__(self, message: str) -> None:
        super().__init__(f"release: {message}")


def section(text: str, version: str) -> str:
    """What changed in a version, as the changelog has it; of a version that is not closed, what is open."""
    for heading in (rf"## {re.escape(version)}(?: \([\d-]+\))?", re.escape(OPEN)):
        found = re.search(rf"^{heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        if found and found[1].strip():
            return found[1].strip() + "\n"
    raise ReleaseError(f"the changelog has nothing of {version}")


def cut(text: str, version: str, date: str) -> str:
    """The changelog with what is open closed as `version`."""
    if re.search(rf"^## {re.escape(version)}\b", text, re.MULTILINE):
        raise ReleaseError(f"the changelog has {version} already")
    section(text, "")  # something must be open
    return text.replace(f"{OPEN}\n", f"{OPEN}\n\n## {version} ({date})\n", 1)


def raised(pyproject: str, version: str) -> str:
    return re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', pyproject, count=1)


def digests(dist: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(dist.iterdir())
        if path.is_file() and path.name not in ("SHA256SUMS", "latest.json", "latest.json.minisig")
    }


def release_files(found: dict[str, str]) -> dict[str, str]:
    """Kind -> name, of those that are there."""
    return {kind: name for kind, ends in KINDS.items() for name in found if name.endswith(ends)}


def latest(version: str, notes: str, repository: str, found: dict[str, str], sizes: dict[str, int]) -> str:
    """What an installed Grus reads to know of this release. It is signed, so it names what each file must hash to."""
    base = f"https://github.com/{repository}/releases/download/v{version}"
    files = {
        kind: {"url": f"{base}/{name}", "sha256": found[name], "size": sizes[name]}
        for kind, name in release_files(found).items()
    }
    return json.dumps({"version": version, "notes": notes, "files": files}, indent=1) + "\n"


def conda_requirements() -> list[str]:
    """What Grus needs on Linux, as conda writes it and calls it."""
    needed = tomllib.loads(project.PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    words = [re.split(r"\s*;\s*", text) for text in needed]
    plain = [parts[0] for parts in words if len(parts) == 1 or "!=" in parts[1]]
    split = [re.match(r"([\w-]+)(.*)", text) for text in plain]
    return [f"{_CONDA.get(found[1], found[1])} {found[2]}".strip() for found in split if found]


def fill(dist: Path, version: str, repository: str) -> list[Path]:
    """The templates for package managers that the release's files suffice for."""
    found = digests(dist)
    names = release_files(found)
    values = {"version": version, "repository": repository, "date": time.strftime("%Y-%m-%d", time.gmtime())}
    values["conda_requirements"] = "\n".join(f"    - {name}" for name in conda_requirements())
    values |= {f"{kind}_sha256": found[name] for kind, name in names.items()}
    values |= {f"{kind}_name": name for kind, name in names.items()}
    made = []
    for template in sorted(path for path in TEMPLATES.rglob("*") if path.is_file()):
        text = Template(template.read_text(encoding="utf-8"))
        lacking = [name for name in text.get_identifiers() if name not in values]
        if lacking:
            print(
                f"{template.name} is left out: there is no {', '.join(sorted({n.rpartition('_')[0] for n in lacking}))}"
            )
            continue
        target = dist / "packages" / template.relative_to(TEMPLATES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.substitute(values), encoding="utf-8")
        made.append(target)
    return made


def files(dist: Path, version: str, repository: str) -> None:
    found = digests(dist)
    if not found:
        raise ReleaseError(f"{dist} holds no files")
    sizes = {name: (dist / name).stat().st_size for name in found}
    notes = section(CHANGELOG.read_text(encoding="utf-8"), version)
    (dist / "latest.json").write_text(latest(version, notes, repository, found, sizes), encoding="utf-8")
    (dist / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in found.items()), encoding="ascii")
    for made in fill(dist, version, repository):
        print(made)


def main() -> None:
    parser = argparse.ArgumentParser(description="The texts of a release.")
    commands = parser.add_subparsers(dest="command", required=True)
    cutting = commands.add_parser("cut")
    cutting.add_argument("version")
    cutting.add_argument("following")
    noting = commands.add_parser("notes")
    noting.add_argument("--out", type=Path, required=True)
    filing = commands.add_parser("files")
    filing.add_argument("--dist", type=Path, required=True)
    given = parser.parse_args()
    repository = os.environ.get("GITHUB_REPOSITORY", "grus/grus")
    if given.command == "cut":
        today = time.strftime("%Y-%m-%d")
        CHANGELOG.write_text(cut(CHANGELOG.read_text(encoding="utf-8"), given.version, today), encoding="utf-8")
        project.PYPROJECT.write_text(
            raised(project.PYPROJECT.read_text(encoding="utf-8"), given.following), encoding="utf-8"
        )
    elif given.command == "notes":
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(section(CHANGELOG.read_text(encoding="utf-8"), project.version()), encoding="utf-8")
    else:
        files(given.dist, project.version(), repository)


if __name__ == "__main__":
    main()
