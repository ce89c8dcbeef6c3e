"""Tries what people install on systems that nobody prepared: bare Debian and Ubuntu, made by debootstrap.

    python packaging/clean_systems.py dist/grus_1.2.3_amd64.deb                    on every system whose archive answers
    python packaging/clean_systems.py dist/*.deb --only debian-12 --before OLD.deb   with an upgrade from the version before
    python packaging/clean_systems.py dist/*.deb --upgrade    where none was released: from the same files under a lower version
    python packaging/clean_systems.py dist/*.deb --appimage dist/*.AppImage    extracted, on a second system that has no package

On each it installs the package, talks to the Guide, reads a page, serves, opens the window under Xvfb, upgrades with its data kept, and
removes it. No Python, no compiler and no library of a screen is there before. Needs root and debootstrap. A system whose archive is not to
be had is said, and left out. Ends with a table, and with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SYSTEMS = {
    "debian-12": ("bookworm", "http://deb.debian.org/debian"),
    "debian-13": ("trixie", "http://deb.debian.org/debian"),
    "ubuntu-22.04": ("jammy", "http://archive.ubuntu.com/ubuntu"),
    "ubuntu-24.04": ("noble", "http://archive.ubuntu.com/ubuntu"),
}
SCRIPTS = Path("/usr/share/debootstrap/scripts")
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
_APART = (
    "unshare",
    "-m",
    "--propagation",
    "private",
)  # what is mounted within is not seen from outside, nor deleted with the folder
_PATIENCE = 900  # seconds of one step
# What the window of an AppImage asks of a system: what Qt draws through, which belongs to the graphics driver, and fonts.
SCREEN = "libegl1 libgl1 fontconfig-config fonts-dejavu-core"
LOWER_VERSION = "0~before"
APT = "apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io -qq"


@dataclass
class CleanSystem:
    """A root folder that commands run in, and what they said."""

    name: str
    root: Path
    results: list[tuple[str, str, float]] = field(default_factory=list)
    patience: float | None = _PATIENCE
    folders: tuple[Path, ...] = ()  # of this machine, seen there under the same path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        inner = (
            'set -e; r=$1 c=$2; shift 2; mount -t proc proc "$r/proc" 2>/dev/null || mount --bind /proc "$r/proc"; '
            'mount --rbind /dev "$r/dev"; mount --rbind /sys "$r/sys"; '
            'for f; do mkdir -p "$r$f"; mount --bind "$f" "$r$f"; done; '
            'exec chroot "$r" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin '
            'DEBIAN_FRONTEND=noninteractive XDG_RUNTIME_DIR=/tmp sh -c "$c"'
        )
        words = [*_APART, "bash", "-c", inner, "clean", str(self.root), command, *map(str, self.folders)]
        return subprocess.run(words, capture_output=True, text=True, timeout=self.patience)

    def step(self, what: str, command: str, expect: str = "", user: bool = True) -> bool:
        """One line of the table. `expect` must match what the command printed; `user`: not as root."""
        if user:
            command = f"su person -c {_quoted(f'cd; {command}')}"
        started = time.monotonic()
        try:
            done = self.run(command)
            said = done.stdout + done.stderr
            good = done.returncode == 0 and re.search(expect, said) is not None
        except subprocess.TimeoutExpired:
            said, good = f"no end after {self.patience} s", False
        return self.note(what, good, said, time.monotonic() - started)

    def note(self, what: str, good: bool, said: str, took: float = 0.0) -> bool:
        self.results.append((what, "ok" if good else "FAILED", took))
        print(f"{self.name}: {what}: {'ok' if good else 'FAILED'} ({took:.1f} s)", flush=True)
        if not good:
            print("    " + "\n    ".join(said.strip().splitlines()[-15:]), flush=True)
        return good


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def mirror_of_this_machine(apt: Path = Path("/etc/apt")) -> str:
    """Where this machine gets Debian's packages, for the systems of the same archive; files that apt reads, and no archive of others."""
    for file in [
        apt / "sources.list",
        *sorted((apt / "sources.list.d").glob("*.list")),
        *sorted((apt / "sources.list.d").glob("*.sources")),
    ]:
        if file.is_file():
            found = re.search(
                r"^(?:URIs:|deb(?: \[[^]]*\])?)\s+((?:https?|file):\S+/debian)/?(?:\s|$)",
                file.read_text(errors="replace"),
                re.MULTILINE,
            )
            if found:
                return found[1]
    return ""


def debootstrap_words(name: str, root: Path, archive: str) -> list[str]:
    """What debootstrap is called with. Ubuntu has libraries of the window in `universe`, which its installer turns on."""
    suite, ubuntu = SYSTEMS[name][0], name.startswith("ubuntu")
    words = ["--variant=minbase", "--include=ca-certificates"]
    if ubuntu:
        words += ["--components=main,universe"]
        words += [f"--keyring={UBUNTU_KEYS}"] if UBUNTU_KEYS.exists() else []
    # A debootstrap that is older than the suite has no script for it; all suites of a distribution have the same one.
    return [*words, suite, str(root), archive, str(SCRIPTS / ("gutsy" if ubuntu else "sid"))]


@contextmanager
def clean_system(name: str, scratch: Path, bases: Path | None = None) -> Iterator[CleanSystem | None]:
    """A fresh root folder; None where the archive is not to be had. Removed at the end. `bases`: where fresh ones are kept."""
    root = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch))
    try:
        base = bases / name if bases else root
        if base.exists() and base != root:
            print(f"{name}: the system in {base}", flush=True)
        elif why := debootstrapped(name, base):
            print(f"{name}: its archive is not to be had here: {why}", flush=True)
            yield None
            return
        if base != root:
            subprocess.run(["cp", "-a", f"{base}/.", str(root)], check=True)
        root.chmod(0o755)  # it is "/" for ordinary users there, too
        for file in ("/etc/resolv.conf", "/etc/hosts", *map(str, Path("/etc/apt/apt.conf.d").glob("*proxy*"))):
            if Path(file).exists():
                shutil.copyfile(file, root / file.lstrip("/"))
        system = CleanSystem(name, root)
        system.run("useradd -m person; apt-get update -qq")
        yield system
    finally:
        shutil.rmtree(root, ignore_errors=True)


def debootstrapped(name: str, folder: Path) -> str:
    """Make the system in `folder`, whole or not at all. Why it cannot be made, else nothing."""
    archive = SYSTEMS[name][1]
    if name.startswith("debian") and (here := mirror_of_this_machine()):
        archive = here
    unfinished = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    command = [*_APART, "debootstrap", *debootstrap_words(name, unfinished, archive)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        return (done.stdout + done.stderr).strip().splitlines()[-1]
    unfinished.rename(folder)  # over an empty folder too
    return ""


SERVE = """
PROGRAM serve --port 8099 >serve.log 2>&1 & server=$!
for i in $(seq 120); do grep -q "serves on" serve.log && break; sleep 1; done
asked='{"model": "guide", "messages": [{"role": "user", "content": "is anything sent over the network?"}]}'
exec 3<>/dev/tcp/127.0.0.1/8099
printf 'POST /v1/chat/completions HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n' >&3
printf 'Content-Length: %d\\r\\n\\r\\n%s' ${#asked} "$asked" >&3
cat <&3; kill $server; wait $server || true
"""
PAGE = "/usr/lib/grus/_internal/resources/starter/page.png"
QUESTION, ANSWER = "is anything sent over the network?", "Nothing that you write leaves this machine"
# On a screen of its own, of which a copy is kept: Xvfb deletes its file when it ends.
WINDOW = """
mkdir -p screen
GRUS_SAY_READY=1 xvfb-run -a -s "-screen 0 1280x860x24 -fbdir $HOME/screen" sh -c '
  PROGRAM app >window.log 2>&1 & window=$!
  for i in $(seq 60); do grep -q "ready after" window.log && break; sleep 1; done
  sleep 5; cp screen/Xvfb_screen0 screen.xwd; kill $window; wait $window'
cat window.log
"""
_FEW_COLOURS = 32  # an empty screen has two


def try_package(system: CleanSystem, package: Path, before: Path | None, pictures: Path | None = None) -> None:
    bare = system.run("command -v python3 gcc c++ Xvfb")
    assert not bare.stdout.strip(), f"{system.name} is not bare: {bare.stdout}"
    if before is not None:
        _install(system, before, "the version before is installed")
        old_conversations(system)
    if not _install(system, package, "upgraded" if before else "installed"):
        return
    system.step("--version", "grus --version", r"grus \d")
    system.step("doctor", "grus doctor", r"kernels\)")
    try_program(system, "", "grus", PAGE)
    system.run(f"{APT} xvfb xauth")
    try_window(system, "window", "grus", pictures)
    if before is not None:
        conversations_are_kept(system, "upgraded, the window opened")
    system.step("removed", "apt-get purge -y -qq grus && ! command -v grus && ! test -e /usr/lib/grus", user=False)
    if before is not None:
        conversations_are_kept(system, "removed")


def try_program(system: CleanSystem, what: str, program: str, page: str) -> None:
    """What needs no screen. `what` comes before each line of the table."""
    system.step(f"{what}chat", f"echo '{QUESTION}' | {program} chat", ANSWER)
    system.step(f"{what}read", f"{program} read {page}", "Every autumn the cranes")
    # A page is no recording: that FFmpeg says so shows that it is there.
    system.step(
        f"{what}FFmpeg", f"{program} -m engine.media.ffmpeg_child decode {page} 16000 1 || true", '"error": "[^"]'
    )
    system.step(f"{what}serve", f"bash -c {_quoted(SERVE.replace('PROGRAM', program))}", ANSWER)


def try_window(system: CleanSystem, what: str, program: str, pictures: Path | None) -> None:
    """The window says that it is ready, and draws itself. Its picture goes into the folder `pictures`, for people to look at."""
    if not system.step(what, WINDOW.replace("PROGRAM", program), r"ready after [\d.]+ s"):
        return
    width, height, rgb = screen((system.root / "home" / "person" / "screen.xwd").read_bytes())
    colours = len({rgb[at : at + 3] for at in range(0, len(rgb), 3)})
    system.note(f"{what} is drawn", colours > _FEW_COLOURS, f"{colours} colours")
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        (pictures / (re.sub(r"[^\w.]+", "-", f"{system.name}-{what}") + ".png")).write_bytes(png(width, height, rgb))


def screen(dump: bytes) -> tuple[int, int, bytes]:
    """Width, height and RGB of the file that Xvfb keeps of its screen: an X window dump of 32 bits a pixel."""
    size, _, _, _, width, height, _, order, _, _, _, bits, line = struct.unpack_from(">13I", dump)
    colours = struct.unpack_from(">20I", dump)[19]
    if (order, bits) != (0, 32):
        raise ValueError(f"a screen of {bits} bits a pixel, in byte order {order}")
    first = size + 12 * colours
    rows = (dump[at : at + 4 * width] for at in range(first, first + height * line, line))
    rgb = bytearray(3 * width * height)
    pixels = b"".join(rows)
    for channel in range(3):  # blue comes first
        rgb[channel::3] = pixels[2 - channel :: 4]
    return width, height, bytes(rgb)


def png(width: int, height: int, rgb: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + rgb[at : at + 3 * width] for at in range(0, len(rgb), 3 * width))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _database(system: CleanSystem) -> Path:
    return system.root / "home" / "person" / ".local" / "share" / "Grus" / "grus.sqlite3"


def _schema(version: int) -> Path:
    return Path(__file__).parents[1] / "tests" / "data" / "schemas" / f"v{version}.sql"


def old_conversations(system: CleanSystem) -> None:
    """Conversations as the first version of Grus kept them, where the window looks for them."""
    file = _database(system)
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as db:
        db.executescript(_schema(1).read_text(encoding="utf-8"))
    system.run("chown -R person: /home/person/.local && chmod 700 /home/person/.local/share/Grus")


def conversations_are_kept(system: CleanSystem, when: str) -> bool:
    """They are all there, in the newest version of the database."""
    newest = max(int(path.stem[1:]) for path in _schema(1).parent.glob("v*.sql"))
    ask = "SELECT id, title, model FROM conversations ORDER BY id"
    with closing(sqlite3.connect(":memory:")) as old, closing(sqlite3.connect(_database(system))) as db:
        old.executescript(_schema(1).read_text(encoding="utf-8"))
        version = db.execute("PRAGMA user_version").fetchone()[0]
        kept = set(db.execute(ask)) >= set(old.execute(ask))
    return system.note(
        f"conversations are kept: {when}", kept and version == newest, f"version {version}, kept: {kept}"
    )


def _install(system: CleanSystem, package: Path, what: str) -> bool:
    shutil.copyfile(package, system.root / "tmp" / package.name)
    done = system.step(what, f"{APT} /tmp/{package.name}", user=False)
    (system.root / "tmp" / package.name).unlink()
    return done


def lower_version(package: Path, folder: Path) -> Path:
    """The same files as a package of a lower version, packed without compression: what an upgrade begins with where none was released."""
    root, made = folder / "package", folder / f"{LOWER_VERSION}.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(root)], check=True)
    control = root / "DEBIAN" / "control"
    text, found = re.subn(r"(?m)^Version: .*$", f"Version: {LOWER_VERSION}", control.read_text(encoding="utf-8"))
    if found != 1:
        raise SystemExit(f"{package} names no version, or several")
    control.write_text(text, encoding="utf-8")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(made)], check=True)
    shutil.rmtree(root)
    return made


def try_appimage(system: CleanSystem, image: Path, pictures: Path | None = None) -> None:
    """Extracted, as where there is no FUSE; all but the window on a system that has nothing."""
    shutil.copyfile(image, system.root / "tmp" / "Grus.AppImage")
    unpack = "cd /tmp && chmod +x Grus.AppImage && ./Grus.AppImage --appimage-extract >/dev/null"
    if not system.step("AppImage: extracted", unpack, user=False):
        return
    folder = "/tmp/squashfs-root"
    try_program(system, "AppImage: ", f"{folder}/AppRun", f"{folder}{PAGE}")
    system.run(f"{APT} xvfb xauth {SCREEN}")
    try_window(system, "AppImage: window", f"{folder}/AppRun", pictures)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Tries a package on bare systems.")
    parser.add_argument("package", type=Path)
    earlier = parser.add_mutually_exclusive_group()
    earlier.add_argument("--before", type=Path, help="the .deb of the version before")
    earlier.add_argument("--upgrade", action="store_true", help="from the same files under a lower version")
    parser.add_argument("--appimage", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--scratch", type=Path, default=Path("/var/tmp"))
    parser.add_argument("--bases", type=Path, help="keep the fresh systems here, for the next time")
    parser.add_argument("--pictures", type=Path, help="put pictures of the window here")
    given = parser.parse_args(arguments)
    tried: list[CleanSystem] = []
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        before = lower_version(given.package, Path(folder)) if given.upgrade else given.before
        for name in given.only:
            with clean_system(name, given.scratch, given.bases) as system:
                if system is not None:
                    tried.append(system)
                    try_package(system, given.package, before, given.pictures)
            if given.appimage:
                with clean_system(name, given.scratch, given.bases) as system:
                    if system is not None:
                        tried.append(system)
                        try_appimage(system, given.appimage, given.pictures)
    for system in tried:
        for what, result, took in system.results:
            print(f"| {system.name} | {what} | {result} | {took:.1f} s |")
    failed = [what for system in tried for what, result, _ in system.results if result != "ok"]
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
