"""Makes a model that comes with Grus from nothing: `python packaging/starters/make_starters.py guide|reader [--rehearse]`.

Runs the steps in order and tells how far they are; what is made is tested before it is installed. Each step can be stopped at
any time: the same command resumes where it was. A rehearsal takes the same steps in miniature, in a folder of its own, and
installs what it made there: it shows that everything starts, resumes and ends; its models are untrained in effect.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parents[1] / "resources/starter"


@dataclass(frozen=True)
class Step:
    what: str
    words: Sequence[object]  # a script here, and its arguments
    must: bool = True  # end well


def guide(work: Path, target: Path, rehearsal: bool) -> list[Step]:
    few = (
        ("--word-steps", 32, "--steps", 16, "--questions", 3000, "--report-every", 8, "--keep-every", 0)
        if rehearsal
        else ()
    )
    asked = ("--held-back", 40) if rehearsal else ()
    return [
        Step("training the Guide", ("train_guide.py", "--work", work, *few)),
        Step("asking it the held-out questions", ("evaluate_guide.py", work, *asked), must=not rehearsal),
        Step("installing it", ("install.py", work, target)),
    ]


def reader(work: Path, target: Path, rehearsal: bool) -> list[Step]:
    few = ("--shards", 2, "--count", 150) if rehearsal else ()
    short = (
        ("--steps", 8, "--alone", 4, "--frames", 400, "--report-every", 2, "--keep-every", 0, "--no-compile")
        if rehearsal
        else ()
    )
    asked = ("--lines", 1, "--pages", 0) if rehearsal else ("--lines", 100, "--pages", 4)
    made = work / "model"
    return [
        Step("drawing lines", ("line_shards.py", work / "shards", *few)),
        Step("training the Reader", ("train_reader.py", work, *short)),
        Step("writing it as a model", ("export_reader.py", work, made)),
        Step("reading held-out lines and pages", ("evaluate_reader.py", "--model", made, *asked), must=not rehearsal),
        Step("installing it", ("install.py", made, target)),
    ]


MAKERS = {"guide": guide, "reader": reader}


def run(steps: Sequence[Step]) -> int:
    began = time.monotonic()
    for number, step in enumerate(steps, 1):
        print(f"[{number} of {len(steps)}] {step.what}", flush=True)
        started = time.monotonic()
        script, *words = map(str, step.words)
        code = subprocess.run([sys.executable, str(HERE / script), *words], check=False).returncode
        if code and step.must:
            print(f"[{number} of {len(steps)}] {step.what}: stopped. The same command resumes from here.", flush=True)
            return code
        print(f"[{number} of {len(steps)}] {step.what}: {time.monotonic() - started:.0f} s", flush=True)
    print(f"done in {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=sorted(MAKERS))
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--work", type=Path, help="where checkpoints lie (default: a folder in build)")
    options = parser.parse_args()
    work = options.work or Path("build") / (f"{options.model}-rehearsal" if options.rehearse else options.model)
    target = work / "installed" if options.rehearse else SHIPPED / options.model
    return run(MAKERS[options.model](work, target, options.rehearse))


if __name__ == "__main__":
    sys.exit(main())
