"""Makes all wheels on one machine: one a system with compiled kernels, and a pure one that says that its kernels are missing.

    python packaging/wheels.py                        all of them, into dist/
    python packaging/wheels.py --only linux-x86_64 pure
    python packaging/wheels.py --check DIR            load what was made: here, by qemu-aarch64, by wine; of macOS read its load commands

The kernels have a plain C interface, so that one wheel a system serves every Python. `ziglang` compiles them for each system; a
target that fails ends everything. The tag of a wheel says the oldest system that its dependencies have wheels for. Needs
packaging/requirements.txt.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import project

from backends.torch.kernels import build

KERNELS = "backends/torch/kernels"
_MANYLINUX = r"manylinux_(\d+)_(\d+)_(\w+)"
HARNESS = Path(__file__).with_name("kernels_check.c")


@dataclass(frozen=True)
class Target:
    """One system that gets a wheel with kernels."""

    name: str
    zig: str  # what the compiler calls it
    tag: str  # the platform tag of the wheel
    library: str  # the file's name in the wheel
    magic: bytes  # how such a file begins
    link: tuple[str, ...] = ()
    runner: tuple[str, ...] | None = ()  # what runs its programs here; None: nothing does, its load commands are read


TARGETS = (
    Target("linux-x86_64", "x86_64-linux-gnu.2.28", "manylinux_2_34_x86_64", f"{build.STEM}.so", b"\x7fELF\x02\x01", ("-Wl,-s",)),
    Target("linux-aarch64", "aarch64-linux-gnu.2.28", "manylinux_2_39_aarch64", f"{build.STEM}.so", b"\x7fELF\x02\x01",
           ("-Wl,-s",), ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")),
    Target("macos-arm64", "aarch64-macos.14.0", "macosx_14_0_arm64", f"{build.STEM}.dylib", b"\xcf\xfa\xed\xfe",
           ("-Wl,-s", f"-Wl,-install_name,@rpath/{build.STEM}.dylib"), None),
    Target("windows-x64", "x86_64-windows-gnu", "win_amd64", f"{build.STEM}.pyd", b"MZ", ("-s",), ("wine64",)),
)  # fmt: skip


class WheelError(SystemExit):
    """A wheel that cannot be made or does not hold what it must; the message says which."""

    def __init__(self, message: str) -> None:
        super().__init__(f"wheels: {message}")


def zig(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"zig {' '.join(arguments[:6])} ...\n{done.stderr.strip()[-4000:]}")


def compile_kernels(target: Target, folder: Path) -> Path:
    """The library of all kernels for this system, stripped, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    name, value = build.define()
    flags = [f for f in build.FLAGS if f != "-fPIC" or "windows" not in target.zig]
    common = ["-target", target.zig, *flags, "-g0", f"-I{build.FOLDER}", f"-D{name}={value}"]

    def compile_one(source: Path) -> str:
        made = str(folder / build.object_name(source))
        zig("c++", *common, "-c", str(source), "-o", made)
        return made

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, build.sources()))
    library = folder / target.library
    threads = [] if "windows" in target.zig else build.LINK
    zig("c++", "-target", target.zig, "-shared", *objects, *threads, *target.link, "-o", str(library))
    return checked(library, target)


def exported() -> list[str]:
    """The functions that Grus asks a library for."""
    text = (project.ROOT / KERNELS / "library.py").read_text(encoding="utf-8")
    return re.findall(r'^    "(grus_\w+)": \(', text, re.MULTILINE)


def checked(library: Path, target: Target) -> Path:
    data = library.read_bytes()
    if not data.startswith(target.magic):
        raise WheelError(f"{library.name} of {target.name} is no library of that system")
    lacking = [name for name in exported() if name.encode() + b"\0" not in data]
    if lacking:
        raise WheelError(f"{library.name} of {target.name} lacks {', '.join(lacking)}")
    if build.digest().encode() not in data:
        raise WheelError(f"{library.name} of {target.name} does not carry the digest of its sources")
    if str(project.ROOT).encode() in data:
        raise WheelError(f"{library.name} of {target.name} holds paths of the machine that made it")
    return library


def pure_wheel(folder: Path, version: str) -> Path:
    """The wheel as setuptools makes it, without kernels, from a clean copy of the tree."""
    tree = project.copy_tree(folder / "tree", version)
    write_update_source(tree)
    environment = {**os.environ, "GRUS_WITHOUT_KERNELS": "1"}
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "base"), str(tree)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"the wheel could not be built:\n{(done.stdout + done.stderr).strip()[-4000:]}")
    return next((folder / "base").glob("*.whl"))


def source_archive(tree: Path, out: Path) -> Path:
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"the source archive could not be built:\n{(done.stdout + done.stderr).strip()[-4000:]}")
    return max(out.glob("grus-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def write_update_source(tree: Path) -> None:
    """Where this build looks for updates, and whose key signs them; it never looks where the variables are not set."""
    feed, key = os.environ.get("GRUS_FEED", ""), os.environ.get("GRUS_UPDATE_KEY", "")
    if feed and key:
        (tree / "resources" / "update.json").write_text(json.dumps({"feed": feed, "key": key}) + "\n", encoding="ascii")


def assemble(base: Path, out: Path, target: Target | None, library: Path | None) -> Path:
    """A wheel for one system out of the pure one: its kernels and their stamp in place of their sources, its own tag."""
    name, version = base.name.split("-")[:2]
    tag = f"py3-none-{target.tag if target else 'any'}"
    info = f"{name}-{version}.dist-info"
    files: dict[str, bytes] = {}
    with zipfile.ZipFile(base) as archive:
        for entry in archive.namelist():
            if not entry.startswith(f"{KERNELS}/src/") and entry != f"{info}/RECORD" and not entry.endswith("/"):
                files[entry] = archive.read(entry)
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: grus\nRoot-Is-Purelib: {str(target is None).lower()}\nTag: {tag}\n".encode()
    )
    if library is not None:
        files[f"{KERNELS}/{library.name}"] = library.read_bytes()
        files[f"{KERNELS}/{build.STAMP.name}"] = build.digest().encode() + b"\n"
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={_hash(data)},{len(data)}" for path, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same files make the same wheel
            entry.external_attr = (0o755 if path == f"{KERNELS}/{target.library if target else ''}" else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


_LC_LOAD_DYLIB, _LC_ID_DYLIB, _LC_CODE_SIGNATURE, _LC_BUILD_VERSION = 0xC, 0xD, 0x1D, 0x32
_MACH_HEADER = 32  # bytes; the load commands follow it


def mach_commands(data: bytes) -> list[tuple[int, bytes]]:
    """The load commands of a 64-bit Mach-O file: kind and bytes of each."""
    found, place = [], _MACH_HEADER
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        kind, size = struct.unpack_from("<II", data, place)
        found.append((kind, data[place : place + size]))
        place += size
    return found


def examined(library: Path, target: Target) -> str:
    """What a macOS library's load commands promise to the loader. A Mac refuses one that is not signed, ad hoc at the least."""
    commands = mach_commands(library.read_bytes())

    def names(wanted: int) -> list[str]:
        # the command's third word says where its text begins
        texts = [text[struct.unpack_from("<I", text, 8)[0] :] for kind, text in commands if kind == wanted]
        return [text.rstrip(b"\0").decode() for text in texts]

    identity, needed = names(_LC_ID_DYLIB), names(_LC_LOAD_DYLIB)
    packed = next((struct.unpack_from("<I", text, 12)[0] for kind, text in commands if kind == _LC_BUILD_VERSION), 0)
    oldest = f"{packed >> 16}_{packed >> 8 & 255}"
    if identity != [f"@rpath/{target.library}"]:
        raise WheelError(f"the install name for {target.name} is {identity}")
    if foreign := [name for name in needed if not name.startswith(("/usr/lib/", "/System/"))]:
        raise WheelError(f"the library for {target.name} needs {', '.join(foreign)}, which no Mac has")
    if f"_{oldest}_" not in target.tag:
        raise WheelError(f"the library for {target.name} is built for macOS {oldest}, the tag says {target.tag}")
    if all(kind != _LC_CODE_SIGNATURE for kind, _ in commands):
        raise WheelError(f"the library for {target.name} is not signed")
    return f"not run here; macOS {oldest.replace('_', '.')}, {identity[0]}, needs {', '.join(needed)}, signed ad hoc"


def run_harness(target: Target, library: Path, folder: Path) -> str:
    """Compile the compare program for this system and run it on the library: every tier against plain arithmetic."""
    if target.runner is None:
        return examined(library, target)
    runner = list(target.runner)
    if runner:  # Debian keeps wine's own program out of the search path
        found = shutil.which(runner[0], path=os.pathsep.join([os.environ["PATH"], "/usr/lib/wine"]))
        if found is None:
            raise WheelError(f"{target.name} is tried with {runner[0]}, which is not installed")
        runner[0] = found
    program = folder / f"check-{target.name}{'.exe' if 'windows' in target.zig else ''}"
    zig(
        "cc",
        "-target",
        target.zig,
        "-O2",
        str(HARNESS),
        "-o",
        str(program),
        *([] if "windows" in target.zig else ["-lm"]),
    )
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "wine")}
    command = [*runner, str(program), str(library)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    if done.returncode:
        raise WheelError(f"the kernels for {target.name} fail:\n{done.stdout}{done.stderr[-2000:]}")
    return done.stdout.strip()


def check(folder: Path) -> None:
    """Load the library of every wheel in the folder; auditwheel and twine look at the wheels."""
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        raise WheelError(f"{folder} holds no wheel")
    with tempfile.TemporaryDirectory() as temporary:
        for target in TARGETS:
            for wheel in (w for w in wheels if w.name.endswith(f"-{target.tag}.whl")):
                place = Path(temporary) / target.name
                with zipfile.ZipFile(wheel) as archive:
                    library = Path(archive.extract(f"{KERNELS}/{target.library}", place))
                    stamp = archive.read(f"{KERNELS}/{build.STAMP.name}").decode().strip()
                said = run_harness(target, checked(library, target), place)
                if target.runner is not None and f"digest {stamp}" not in said:
                    raise WheelError(f"{wheel.name} carries kernels of other sources than its stamp says")
                print(f"{wheel.name}: {said}")
                if "linux" in target.tag:
                    audited(_tool("auditwheel", "show", str(wheel)), target)
    _tool("twine", "check", "--strict", *map(str, [*wheels, *folder.glob("*.tar.gz")]))


def audited(said: str, target: Target) -> None:
    """auditwheel must find this processor, and no newer system than the tag says."""
    promised = re.fullmatch(_MANYLINUX, target.tag)
    found = re.search(rf'platform tag: "{_MANYLINUX}"', " ".join(said.split()))
    if found is None or promised is None or found[3] != promised[3]:
        raise WheelError(f"auditwheel finds no library for {target.tag}")
    if (int(found[1]), int(found[2])) > (int(promised[1]), int(promised[2])):
        raise WheelError(f"the library for {target.tag} needs glibc {found[1]}.{found[2]}")


def _tool(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", name, *arguments], capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip()
    print(said)
    if done.returncode:
        raise WheelError(f"{name} refuses {arguments[-1]}")
    return said


def make(names: list[str], out: Path, version: str) -> list[Path]:
    made = []
    with tempfile.TemporaryDirectory(prefix="grus-wheels-") as temporary:
        folder = Path(temporary)
        base = pure_wheel(folder, version)
        for target in (t for t in TARGETS if t.name in names):
            library = compile_kernels(target, folder / target.name)
            made.append(assemble(base, out, target, library))
            print(
                f"{made[-1].name}: {made[-1].stat().st_size / 1e6:.2f} MB, kernels {library.stat().st_size / 1e6:.2f} MB",
                flush=True,
            )
        if "sdist" in names:
            made.append(source_archive(folder / "tree", out))
            print(f"{made[-1].name}: {made[-1].stat().st_size / 1e6:.2f} MB", flush=True)
        if "pure" in names:
            made.append(assemble(base, out, None, None))
            print(f"{made[-1].name}: {made[-1].stat().st_size / 1e6:.2f} MB", flush=True)
    return made


def main() -> None:
    everything = [*(target.name for target in TARGETS), "pure", "sdist"]
    parser = argparse.ArgumentParser(description="Makes the wheels, or checks those that were made.")
    parser.add_argument("--only", nargs="+", choices=everything, default=everything)
    parser.add_argument("--out", type=Path, default=project.ROOT / "dist")
    parser.add_argument("--version", default=None, help="else from the tag")
    parser.add_argument("--check", type=Path, metavar="DIR", help="make nothing; check the wheels in DIR")
    given = parser.parse_args()
    if given.check:
        check(given.check)
    else:
        make(given.only, given.out, given.version or project.version())


if __name__ == "__main__":
    main()
