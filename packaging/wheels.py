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
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import project
from zig_kernels import KERNELS, TARGETS, Target, WheelError, checked, compile_kernels, run_harness

from backends.torch.kernels import build

_MANYLINUX = r"manylinux_(\d+)_(\d+)_(\w+)"


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
                checked(library, target)  # it carries the digest of the sources here
                if stamp != build.digest():
                    raise WheelError(f"{wheel.name} carries kernels of other sources than its stamp says")
                print(f"{wheel.name}\n  {run_harness(target, library, place)}", flush=True)
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
