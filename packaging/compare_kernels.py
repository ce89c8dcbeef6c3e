"""Runs the programs that hold every tier of the kernels against the scalar one, for each system that gets a wheel: here, by qemu, by wine.

    python packaging/compare_kernels.py                              all systems
    python packaging/compare_kernels.py linux-aarch64 --out compare  and leave the program there, to be run on such a machine

The kernels are compiled by the compiler, from the sources and with the flags of the wheels' libraries; the programs are
tests/backends/kernels/compare_*.cpp. A program for macOS is compiled here, and runs on a Mac.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from pathlib import Path

import project
from zig_kernels import TARGETS, Processor, Target, WheelError, compile_objects, link, program_name, run

from backends.torch.kernels import build
from tests.backends.kernels.compare_cases import cases

PROGRAMS = project.ROOT / "tests" / "backends" / "kernels"
_MINUTES = 40  # an emulator on a busy machine
# AVX-VNNI's instruction is compiled as AVX-512 encodes it where the processor has the latter alone.
STAND_IN = "-DGRUS_AVXVNNI_AS_AVX512"
STAND_IN_SOURCES = ("dispatch.cpp", "avxvnni.cpp")


def compile_program(target: Target, folder: Path, stand_in: bool = False) -> Path:
    """The kernels and what compares them, as one program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.inc").write_text(cases(), encoding="ascii")
    as_avx512 = [path for path in build.sources() if stand_in and path.name in STAND_IN_SOURCES]
    kernels = [path for path in build.sources() if path not in as_avx512]
    objects = compile_objects(target, kernels, folder)
    objects += compile_objects(target, as_avx512, folder, STAND_IN)
    objects += compile_objects(target, sorted(PROGRAMS.glob("compare_*.cpp")), folder, f"-I{PROGRAMS}", f"-I{folder}")
    return link(target, objects, folder / program_name(target, "compare"))


def compared(output: str) -> dict[str, int]:
    """Tier -> how many comparisons it passed."""
    return {
        name: int(count) for name, count in re.findall(r"^compared (\w+): (\d+) comparisons$", output, re.MULTILINE)
    }


def judged(target: Target, processor: Processor, output: str, code: int) -> dict[str, int]:
    """The tiers that were compared. A failure, and a tier that this processor must have and was not compared, end everything."""
    tiers = compared(output)
    # on a processor with plain C++ alone there is nothing to compare, which the program's exit code says
    ended_well = code == 0 or (processor.tiers == () and not tiers)
    if not ended_well or "0 failures" not in output.splitlines():
        raise WheelError(f"the kernels for {target.name} fail on {processor.name}:\n{output[-4000:]}")
    if processor.tiers is not None and set(tiers) != set(processor.tiers):
        raise WheelError(
            f"{processor.name} has {', '.join(processor.tiers)}; {', '.join(tiers) or 'nothing'} was compared"
        )
    return tiers


def try_program(target: Target, processor: Processor, program: Path, folder: Path) -> dict[str, int]:
    started = time.monotonic()
    done = run(processor, folder, str(program), timeout=_MINUTES * 60)
    tiers = judged(target, processor, done.stdout.replace("\r", "") + done.stderr, done.returncode)
    words = (
        ", ".join(f"{name} {count} comparisons" for name, count in tiers.items()) or "no tier but plain C++, as it must"
    )
    print(f"{target.name}, {processor.name}: {words}; 0 failures; {time.monotonic() - started:.0f} s", flush=True)
    return tiers


def compare(target: Target, program: Path, folder: Path) -> None:
    """Run the program on every processor that there is here for its system."""
    if not target.processors:
        print(
            f"{target.name}: compiled, {program.stat().st_size / 1e6:.1f} MB; it runs on such a machine alone",
            flush=True,
        )
    for processor in target.processors:
        tiers = try_program(target, processor, program, folder)
        if "avx512" in tiers and "avxvnni" not in tiers:
            other = compile_program(target, folder / f"{target.name}-avxvnni", stand_in=True)
            named = Processor(f"{processor.name}, AVX-VNNI as AVX-512 encodes it", processor.runner)
            if "avxvnni" not in try_program(target, named, other, folder):
                raise WheelError(f"AVX-VNNI was not compared for {target.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares the kernels' tiers for the systems that get wheels.")
    names = [target.name for target in TARGETS]
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names))
    parser.add_argument("--out", type=Path, help="leave the programs in this folder")
    parser.add_argument("--compile", action="store_true", help="run nothing")
    given = parser.parse_args()
    if unknown := sorted(set(given.targets) - set(names)):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(names)}")
    with tempfile.TemporaryDirectory(prefix="grus-compare-") as temporary:
        for target in (t for t in TARGETS if t.name in (given.targets or names)):
            program = compile_program(target, Path(temporary) / target.name)
            if given.out:
                given.out.mkdir(parents=True, exist_ok=True)
                shutil.copy2(program, given.out / program.name)
            if not given.compile:
                compare(target, program, Path(temporary))


if __name__ == "__main__":
    main()
