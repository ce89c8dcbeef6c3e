"""Reads a Dockerfile, and does what its lines say in a folder with a bare Debian instead of an image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

LEADING = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# how this machine reaches its packages, and nothing else
MACHINE = ["/etc/pip.conf", "/root/.config/pip", "/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs"]
BUNDLE = (
    "/etc/ssl/certs/ca-certificates.crt"  # installing ca-certificates writes it anew: the machine's is kept beside it
)
KEPT_BUNDLE = "/etc/ssl/machine.crt"
MACHINE += [f"/etc/apt/{name}" for name in ("sources.list", "sources.list.d", "keyrings", "apt.conf.d", "auth.conf.d")]
ENTER = """set -e; root=$1; shift; mount --make-rprivate /
mount -t proc proc "$root/proc" 2>/dev/null || mount --bind /proc "$root/proc"; mount --rbind /dev "$root/dev"
for d in $PIP_FIND_LINKS; do if [ -d "$d" ]; then mkdir -p "$root$d"; mount --bind "$d" "$root$d"; fi; done
exec chroot "$root" /usr/bin/env -i "$@"
"""


def instructions(text: str) -> list[tuple[str, str]]:
    """The lines as (INSTRUCTION, rest), continued lines joined."""
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", kept)
    return [
        (word.upper(), rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word
    ]


def command_of(rest: str) -> list[str]:
    """A command in either of its forms: a JSON list, or a line for the shell."""
    return list(json.loads(rest)) if rest.startswith("[") else ["/bin/sh", "-c", rest]


@dataclass
class Image:
    """What the lines have made so far."""

    root: Path  # of the file system
    context: Path  # what COPY copies from
    folder: str = "/"
    user: str = "root"
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": LEADING})
    arguments: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def do(self, word: str, rest: str) -> None:
        if word == "RUN":
            done = subprocess.run(self.inside(command_of(rest)), capture_output=True, text=True)
            assert done.returncode == 0, f"RUN {rest}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        elif word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                self._copy(source, target)
        elif word == "WORKDIR":
            self.folder = rest
            (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = rest
        elif word == "ENV":
            self.environment.update(part.split("=", 1) for part in shlex.split(rest))
        elif word == "ARG":
            name, _, value = rest.partition("=")
            self.arguments[name] = value
        elif word == "CMD":
            self.command = command_of(rest)
        elif word == "HEALTHCHECK":
            self.health = command_of(rest.split("CMD ", 1)[1])
        else:
            assert word in ("FROM", "VOLUME", "EXPOSE"), f"{word} is not known here"

    def _copy(self, source: str, target: str) -> None:
        start = self.context / source
        end = self.root / self.folder.lstrip("/") / target
        if start.is_dir():
            shutil.copytree(start, end, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            end.mkdir(parents=True, exist_ok=True)
            shutil.copy(start, end)

    def home(self) -> str:
        """Of the user, who is named or numbered."""
        for line in (self.root / "etc" / "passwd").read_text(encoding="utf-8").splitlines():
            name, _, number, _, _, folder, _ = line.split(":")
            if self.user in (name, number):
                return folder
        return "/"

    def inside(self, command: list[str], **environment: str) -> list[str]:
        """The command as this user, in this folder, in the bare system."""
        machine = {
            name: value.replace(BUNDLE, KEPT_BUNDLE)
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "SSL_CERT_FILE", "CURL_CA"))
        }
        known = {"HOME": self.home(), "LANG": "C.UTF-8"}
        given = machine | {k: v for k, v in self.arguments.items() if v} | known | self.environment | environment
        variables = [f"{name}={value}" for name, value in given.items()]
        person = (
            [] if self.user == "root" else ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        )
        there = ["/bin/sh", "-c", f'cd {shlex.quote(self.folder)} && exec "$@"', "sh"]
        return [
            "unshare",
            "--mount",
            "bash",
            "-c",
            ENTER,
            "enter",
            str(self.root),
            *variables,
            *person,
            *there,
            *command,
        ]


def bare_debian(root: Path) -> None:
    """Debian 12 as its image is: nothing but the base system. Raises CalledProcessError where it cannot be had."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True).stdout
    mirror = [said.split()[0]] if said.split() else []
    subprocess.run(
        ["debootstrap", "--variant=minbase", "bookworm", str(root), *mirror], check=True, capture_output=True
    )
    for name in MACHINE:
        source, target = Path(name), root / name.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    if Path(BUNDLE).exists():
        shutil.copy(BUNDLE, root / KEPT_BUNDLE.lstrip("/"))
