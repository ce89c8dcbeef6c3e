"""Writes the list of the CUDA pack for the bundle that this Python makes: wheels with their addresses, sizes and digests.

    python packaging/cuda_pack.py build/cuda_pack.json
    python packaging/cuda_pack.py build/cuda_pack.json --index ADDRESS     of another index than PyTorch's for CUDA

pip is asked what it would install of the PyTorch that is installed here, built for CUDA, on this system and this Python; the wheels stay
where they are. `packaging/bundle/grus.spec` puts the list into the bundle, and `app/cuda_pack.py` reads it there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import Any

INDEX = "https://download.pytorch.org/whl/cu130"  # CUDA 13.0, of which packaging/constraints.txt has the libraries
REVISION = 1  # of what is taken, below: another one makes another version of the pack
TAKEN = ("torch", "nvidia-", "cuda-")  # the bundle has everything else that PyTorch imports


class CudaPackError(SystemExit):
    def __init__(self, message: str) -> None:
        super().__init__(f"cuda_pack: {message}")


def resolved(requirement: str, index: str) -> list[dict[str, Any]]:
    """What pip would install, as its report has it. pip 25.3 and newer read metadata and no wheel where the index has it apart."""
    words = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--only-binary",
        ":all:",
    ]
    words += ["--report", "-", *(["--index-url", index] if index else []), requirement]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise CudaPackError(f"pip found no {requirement}:\n{done.stderr.strip()[-2000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    return found


def length(url: str) -> int:
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as reply:
        return int(reply.headers["Content-Length"])


def contents(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The list, out of pip's report."""
    files, torch = [], ""
    for entry in sorted(found, key=lambda entry: str(entry["metadata"]["name"]).lower()):
        name = str(entry["metadata"]["name"]).lower().replace("_", "-")
        if name != TAKEN[0] and not name.startswith(TAKEN[1:]):
            continue
        if name == TAKEN[0]:
            torch = entry["metadata"]["version"]
        url, hashes = entry["download_info"]["url"], entry["download_info"]["archive_info"].get("hashes", {})
        if "sha256" not in hashes:
            raise CudaPackError(f"the index gives no digest of {name}")
        files.append({"url": url, "sha256": hashes["sha256"], "size": length(url)})
    if not torch:
        raise CudaPackError("pip would install no PyTorch")
    return {"version": f"{torch}-{REVISION}", "files": files}


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the list of the CUDA pack.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--index", default=INDEX, help="where PyTorch's build for CUDA is; empty: pip's own")
    given = parser.parse_args()
    wanted = contents(resolved(f"torch=={version('torch').partition('+')[0]}", given.index))
    given.file.parent.mkdir(parents=True, exist_ok=True)
    given.file.write_text(json.dumps(wanted, indent=1) + "\n", encoding="ascii")
    total = sum(file["size"] for file in wanted["files"])
    print(f"{given.file}: {wanted['version']}, {len(wanted['files'])} wheels, {total / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
