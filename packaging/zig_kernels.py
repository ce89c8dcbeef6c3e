"""The kernels of every system that gets a wheel, compiled on this machine by zig, and how what was compiled is tried here."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import mach_o
import project

from backends.torch.kernels import build
from backends.torch.kernels.library import STRUCTS

KERNELS = "backends/torch/kernels"
HARNESS = Path(__file__).with_name("kernels_check.c")


@dataclass(frozen=True)
class Processor:
    """A processor on which programs of a system run here. `tiers`: those beside plain C++ that must run on it; None: its own."""

    name: str
    runner: tuple[str, ...] = ()
    tiers: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Target:
    """One system that gets a wheel with kernels. Without `processors` nothing here runs its programs."""

    name: str
    zig: str  # what the compiler calls it
    tag: str  # the platform tag of the wheel
    library: str  # the file's name in the wheel
    magic: bytes  # how such a file begins
    link: tuple[str, ...] = ()
    processors: tuple[Processor, ...] = (Processor("this processor"),)

    @property
    def windows(self) -> bool:
        return "windows" in self.zig


_ARM = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu")
TARGETS = (
    Target("linux-x86_64", "x86_64-linux-gnu.2.28", "manylinux_2_34_x86_64", f"{build.STEM}.so", b"\x7fELF\x02\x01", ("-Wl,-s",),
           (Processor("this processor"), Processor("Haswell", ("qemu-x86_64", "-cpu", "Haswell"), ("avx2",)),
            Processor("Nehalem", ("qemu-x86_64", "-cpu", "Nehalem"), ()))),
    Target("linux-aarch64", "aarch64-linux-gnu.2.28", "manylinux_2_39_aarch64", f"{build.STEM}.so", b"\x7fELF\x02\x01", ("-Wl,-s",),
           (Processor("newest ARM", (*_ARM, "max"), ("neon", "i8mm")), Processor("Neoverse N1", (*_ARM, "neoverse-n1"), ("neon",)),
            Processor("Cortex-A57", (*_ARM, "cortex-a57"), ()))),
    Target("macos-arm64", "aarch64-macos.14.0", "macosx_14_0_arm64", f"{build.STEM}.dylib", b"\xcf\xfa\xed\xfe",
           ("-Wl,-s", f"-Wl,-install_name,@rpath/{build.STEM}.dylib"), ()),
    Target("windows-x64", "x86_64-windows-gnu", "win_amd64", f"{build.STEM}.pyd", b"MZ", ("-s",),
           (Processor("this processor, by wine", ("wine64",)),)),
)  # fmt: skip


class WheelError(SystemExit):
    """A wheel that cannot be made or does not hold what it must; the message says which."""

    def __init__(self, message: str) -> None:
        super().__init__(f"wheels: {message}")


def zig(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"zig {' '.join(arguments[:6])} ...\n{done.stderr.strip()[-4000:]}")


def compile_objects(target: Target, sources: Sequence[Path], folder: Path, *flags: str) -> list[str]:
    """Object files in `folder`, with the flags of the library. zig keeps what it compiled, so that the same again takes no time."""
    folder.mkdir(parents=True, exist_ok=True)
    common = [f for f in build.FLAGS if f != "-fPIC" or not target.windows]
    name, value = build.define()

    def compile_one(source: Path) -> str:
        inside = source.is_relative_to(build.FOLDER)
        made = str(folder / (build.object_name(source) if inside else f"{source.stem}.o"))
        # one file alone has the digest, which changes with each of them
        digest = [f"-D{name}={value}"] if source == build.FOLDER / "module.cpp" else []
        zig(
            "c++",
            "-target",
            target.zig,
            *common,
            "-g0",
            f"-I{build.FOLDER}",
            *digest,
            *flags,
            "-c",
            str(source),
            "-o",
            made,
        )
        return made

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(compile_one, sources))


def link(target: Target, objects: Sequence[str], made: Path, *flags: str) -> Path:
    threads = [] if target.windows else build.LINK
    zig("c++", "-target", target.zig, *objects, *threads, *flags, "-o", str(made))
    return made


def compile_kernels(target: Target, folder: Path) -> Path:
    """The library of all kernels for this system, stripped, in `folder`."""
    objects = compile_objects(target, build.sources(), folder)
    return checked(link(target, objects, folder / target.library, "-shared", *target.link), target)


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


def examined(library: Path, target: Target) -> str:
    """What a library for macOS promises to the loader, in words. What a Mac would refuse ends everything."""
    found = mach_o.read(library.read_bytes())
    major, minor = found.oldest
    if (found.processor, found.kind) != (mach_o.ARM64, mach_o.LIBRARY):
        raise WheelError(f"the library for {target.name} is of another processor, or a program")
    if found.install_names != [f"@rpath/{target.library}"]:
        raise WheelError(f"the install name for {target.name} is {found.install_names}")
    if foreign := [name for name in found.needs if not name.startswith(("/usr/lib/", "/System/"))]:
        raise WheelError(f"the library for {target.name} needs {', '.join(foreign)}, which no Mac has")
    if f"_{major}_{minor}_" not in target.tag:
        raise WheelError(f"the library for {target.name} is built for macOS {major}.{minor}, the tag says {target.tag}")
    if lacking := set(exported()) - found.exports:
        raise WheelError(f"the library for {target.name} does not export {', '.join(sorted(lacking))}")
    if found.unsigned:
        raise WheelError(f"no Mac loads the library for {target.name}: {found.unsigned}")
    return (
        f"not run here; arm64, macOS {major}.{minor}, {found.install_names[0]}, needs {', '.join(found.needs)}, "
        f"exports all {len(exported())} functions, signed ad hoc, each page as it was signed"
    )


def runner(processor: Processor) -> list[str]:
    """What a program of the system is started with; Debian keeps wine's own program out of the search path."""
    if not processor.runner:
        return []
    found = shutil.which(processor.runner[0], path=os.pathsep.join([os.environ["PATH"], "/usr/lib/wine"]))
    if found is None:
        raise WheelError(f"{processor.name} is tried with {processor.runner[0]}, which is not installed")
    return [found, *processor.runner[1:]]


def run(processor: Processor, folder: Path, *command: str, timeout: int = 900) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "wine")}
    return subprocess.run(
        [*runner(processor), *command], capture_output=True, text=True, env=environment, timeout=timeout
    )


def program_name(target: Target, name: str) -> str:
    return f"{name}-{target.name}{'.exe' if target.windows else ''}"


def run_harness(target: Target, library: Path, folder: Path) -> str:
    """Load the library on every processor that there is here, resolve each function, and hold some, in every tier, against plain
    arithmetic."""
    if not target.processors:
        return examined(library, target)
    program = folder / program_name(target, "check")
    plain = [] if target.windows else ["-lm"]
    zig("cc", "-target", target.zig, "-O2", str(HARNESS), "-o", str(program), *plain)
    lines = []
    for processor in target.processors:
        done = run(processor, folder, str(program), str(library), *exported())
        if done.returncode:
            raise WheelError(
                f"the kernels for {target.name} fail on {processor.name}:\n{done.stdout}{done.stderr[-2000:]}"
            )
        if f"struct bytes {' '.join(str(ctypes.sizeof(struct)) for struct in STRUCTS)};" not in done.stdout:
            raise WheelError(
                f"the structs of the kernels for {target.name} are not as Python fills them:\n{done.stdout}"
            )
        lines.append(f"{processor.name}: {done.stdout.strip()}")
    return "\n  ".join(lines)
