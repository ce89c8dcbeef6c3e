"""The tiers of CPUs that this machine is not, and all of them under the sanitizers, by a C++ program of their own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backends.torch.kernels.build import FOLDER, files, object_name, sources
from tests.backends.kernels.compare_cases import cases
from tests.needs import no_program

HERE = Path(__file__).resolve().parent
KEPT = HERE.parents[2] / "build" / "compare_tiers"
# No leaks: the pool lives as long as the process, on purpose. Checks that AddressSanitizer makes as well are left out, and its own are
# calls instead of code in place: templates of a tier compile in a third of the time.
SANITIZED = [
    "-fsanitize=address,undefined", "-fno-sanitize=null,object-size,vptr", "-fno-sanitize-recover=all", "-g1",
    "--param", "asan-instrumentation-with-call-threshold=0", "-DGRUS_AVXVNNI_AS_AVX512",
]  # fmt: skip


def build(compiler: str, *flags: str) -> Path:
    """The program. Its object files stay in `build`, so that a run that is ended by its time is continued by the next one, and a file is
    compiled again only after a change."""
    folder = KEPT / compiler
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.inc").write_text(cases())
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True).stdout
    headers = [*(p for p in files() if p.suffix != ".cpp"), HERE / "compare.hpp", folder / "cases.inc"]
    common = hashlib.sha256(b"\0".join([version, *map(str.encode, flags), *map(Path.read_bytes, headers)]))

    def compile_one(source: Path) -> Path:
        sha = common.copy()
        sha.update(source.read_bytes())
        name = object_name(source) if source.is_relative_to(FOLDER) else f"{source.stem}.o"
        made = folder / f"{sha.hexdigest()[:16]}-{name}"
        if not made.exists():
            half = made.with_suffix(".part")
            include = [f"-I{FOLDER}", f"-I{folder}"]
            subprocess.run([compiler, "-std=c++20", *flags, *include, "-c", str(source), "-o", str(half)], check=True)
            half.replace(made)
        return made

    compiled = [*(p for p in sources() if p.name != "module.cpp"), *HERE.glob("compare_*.cpp")]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, compiled))
    for old in {*folder.glob("*.o")} - {*objects}:
        old.unlink()
    program = folder / "compare_tiers"
    subprocess.run([compiler, *flags, *map(str, objects), "-pthread", "-o", str(program)], check=True)
    return program


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)  # compiles every tier, and then runs as slowly as a checker or an emulator does
@pytest.mark.skipif(bool(no_program("g++")), reason=no_program("g++"))
def test_every_tier_under_the_sanitizers() -> None:
    program = build("g++", "-O1", "-ffp-contract=off", "-Wno-psabi", *SANITIZED)
    assert "0 failures" in run([str(program)], ASAN_OPTIONS="detect_leaks=0")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # compiles every tier, and then runs as slowly as a checker or an emulator does
@pytest.mark.skipif(not shutil.which("aarch64-linux-gnu-g++"), reason="needs Debian's g++-aarch64-linux-gnu")
@pytest.mark.skipif(not shutil.which("qemu-aarch64"), reason="needs Debian's qemu-user")
def test_the_tiers_of_arm() -> None:
    program = build("aarch64-linux-gnu-g++", "-O2", "-ffp-contract=off", "-Wno-psabi", "-static")
    seen = run(["qemu-aarch64", "-cpu", "max", str(program)])
    assert "compared neon" in seen
    assert "compared i8mm" in seen
    # Neither are CPUs given what they lack: the product of bytes by squares, and the dot product.
    older = run(["qemu-aarch64", "-cpu", "neoverse-n1", str(program)])
    assert "compared neon" in older
    assert "i8mm" not in older
    plain = subprocess.run(
        ["qemu-aarch64", "-cpu", "cortex-a57", str(program)], capture_output=True, text=True, timeout=800
    )
    assert plain.stdout.splitlines()[-1] == "0 failures"
    assert "neon" not in plain.stdout
