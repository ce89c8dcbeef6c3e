"""The CUDA pack of a bundle: downloaded from a server on this machine, checked, continued, used by the next process, removed.

Each command is a new process, started as a bundle starts (packaging/bundle/start.py), with a list of the pack of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Outcome
from tests.app.release_site import ReleaseSite, serving_releases

ROOT = Path(__file__).resolve().parents[2]
# A process that believes that it is a bundle whose resources are in a folder of the test.
_BUNDLE = """
import sys
from pathlib import Path
folder, sys.argv = sys.argv[1], sys.argv[1:]
sys.frozen, sys._MEIPASS = True, folder
import resources
packaged = resources.path
resources.path = lambda *names: Path(folder, *names) if names == ("cuda_pack.json",) else packaged(*names)
"""
_START = _BUNDLE + "import runpy\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"


def wheel(name: str, files: dict[str, bytes], programs: tuple[str, ...] = ()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {
            **files,
            f"{name}-9.9.dist-info/METADATA": f"Name: {name}\nVersion: 9.9+cu\n".encode(),
        }.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o755 if path in programs else 0o644) << 16
            archive.writestr(entry, data)
    return made.getvalue()


TORCH = wheel(
    "torch",
    {
        "torch/__init__.py": b"__version__ = '9.9+cu'\n",
        "torch/bin/shm": b"program",
        "grus_probe.py": b"import os, torch\nprint(os.path.dirname(torch.__file__))\n",
        "torch-9.9.data/purelib/torchgen.py": b"",
        "torch-9.9.data/scripts/torchrun": b"#!python",
        "torch/lib/libcuda.so": bytes(range(256)) * 900,
    },
    programs=("torch/bin/shm",),
)
CUBLAS = wheel("nvidia_cublas", {"nvidia/cu13/lib/libcublas.so": os.urandom(200_000)})


@dataclass
class BundledGrus:
    """A bundle with a pack of two wheels, and what its processes see."""

    folder: Path
    site: ReleaseSite
    driver: bool = True
    version: str = "9.9+cu-1"
    wheels: dict[str, bytes] = field(default_factory=lambda: {"torch-9.9.whl": TORCH, "nvidia_cublas-9.9.whl": CUBLAS})

    @property
    def packs(self) -> Path:
        return self.folder / "packs"

    def offer(self, **digests: str) -> None:
        """Write the list into the bundle; `digests`: others than the wheels have."""
        files = [
            self.site.add(name, data, digests.get(name.partition("-")[0], "")) for name, data in self.wheels.items()
        ]
        content = {"version": self.version, "files": [vars(file) for file in files]}
        (self.folder / "cuda_pack.json").write_text(json.dumps(content))

    def run(self, code: str, *arguments: str) -> Outcome:
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        if self.driver:
            (programs / "nvidia-smi").write_text("#!/bin/sh\n")
            (programs / "nvidia-smi").chmod(0o755)
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "GRUS_CUDA_FOLDER": str(self.packs), "HF_HUB_OFFLINE": "1",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        command = [sys.executable, "-c", code, str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment, cwd=ROOT)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def grus(self, *arguments: str) -> Outcome:
        return self.run(_START, str(ROOT / "packaging" / "bundle" / "start.py"), *arguments)

    def uses_pack(self) -> bool:
        """Whether a process of this bundle finds the packages of the pack."""
        done = self.grus("-m", "grus_probe")  # of the wheel of PyTorch
        assert ("No module named grus_probe" in done.err) is (done.code != 0), done.err
        return done.out == f"{self.packs / self.version / 'torch'}\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Iterator[BundledGrus]:
    if sys.platform == "win32":
        pytest.skip("the stand-in for NVIDIA's driver is a shell script")
    with serving_releases() as site:
        made = BundledGrus(tmp_path, site)
        made.offer()
        yield made


def test_it_is_downloaded_unpacked_used_and_removed(bundle: BundledGrus) -> None:
    before = bundle.grus("cuda", "status")
    assert (before.code, "not installed. It is a download of" in before.out) == (1, True)
    done = bundle.grus("cuda", "install")
    assert done.code == 0, done.err
    pack = bundle.packs / bundle.version
    assert {path.name for path in bundle.packs.iterdir()} == {"lock", bundle.version}
    assert (pack / "nvidia" / "cu13" / "lib" / "libcublas.so").stat().st_size == 200_000
    assert (pack / "torch" / "bin" / "shm").stat().st_mode & 0o111
    assert not (pack / "torch" / "__init__.py").stat().st_mode & 0o111
    assert (pack / "torchgen.py").exists()
    assert not (pack / "torch-9.9.data").exists()
    assert bundle.uses_pack()
    assert bundle.grus("cuda", "status").out == "The CUDA pack 9.9+cu-1 is installed.\n"
    asked = len(bundle.site.asked)
    assert bundle.grus("cuda", "install").code == 0  # it is there
    assert len(bundle.site.asked) == asked
    assert bundle.grus("cuda", "remove").out == "The CUDA pack is removed.\n"
    assert not bundle.packs.exists()
    assert not bundle.uses_pack()
    assert bundle.grus("cuda", "remove").out == "No CUDA pack is installed.\n"


def test_a_connection_that_breaks_is_taken_up_again(bundle: BundledGrus) -> None:
    bundle.site.cut["nvidia_cublas-9.9.whl"] = 50_000
    assert bundle.grus("cuda", "install").code == 0
    assert ("/nvidia_cublas-9.9.whl", "bytes=50000-") in bundle.site.asked


def test_what_an_interrupted_download_brought_is_kept(bundle: BundledGrus) -> None:
    del bundle.site.files["nvidia_cublas-9.9.whl"]
    failed = bundle.grus("cuda", "install")
    assert (failed.code, "Traceback" in failed.err) == (2, False)
    assert "could not be downloaded" in failed.err
    assert not bundle.uses_pack()  # half a pack is none
    bundle.site.files["nvidia_cublas-9.9.whl"] = CUBLAS
    (bundle.packs / "download" / "nvidia_cublas-9.9.whl.part").write_bytes(CUBLAS[:1000])
    bundle.site.asked.clear()
    assert bundle.grus("cuda", "install").code == 0
    assert bundle.site.asked == [("/nvidia_cublas-9.9.whl", "bytes=1000-")]


def test_a_wheel_with_another_digest_is_deleted(bundle: BundledGrus) -> None:
    bundle.offer(torch=hashlib.sha256(b"another").hexdigest())
    failed = bundle.grus("cuda", "install")
    assert (failed.code, "torch-9.9.whl is not the file that was announced. It was deleted." in failed.err) == (2, True)
    assert list((bundle.packs / "download").iterdir()) == []
    assert not (bundle.packs / bundle.version).exists()


def test_a_newer_bundle_takes_its_own_pack_and_deletes_the_old_one(bundle: BundledGrus) -> None:
    assert bundle.grus("cuda", "install").code == 0
    bundle.version = "9.10+cu-1"
    bundle.wheels = {"torch-9.10.whl": TORCH}
    bundle.offer()
    assert not bundle.uses_pack()
    assert bundle.grus("cuda", "install").code == 0
    assert {path.name for path in bundle.packs.iterdir()} == {"lock", bundle.version}


def test_without_a_driver_the_bundles_own_pytorch_is_used(bundle: BundledGrus, monkeypatch: pytest.MonkeyPatch) -> None:
    if Path("/proc/driver/nvidia/version").exists():
        pytest.skip("this machine has NVIDIA's driver")
    bundle.driver = False
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = bundle.grus("cuda", "install")
    assert "There is no NVIDIA driver" in done.out
    assert not bundle.uses_pack()
    assert "not used: there is no NVIDIA driver" in bundle.grus("cuda", "status").out


def test_a_disk_without_room_is_a_sentence(bundle: BundledGrus) -> None:
    code = _BUNDLE + (
        "import shutil\nfrom types import SimpleNamespace\nshutil.disk_usage = lambda path: SimpleNamespace(free=1000)\n"
        "from app.cli import main\nsys.exit(main(['cuda', 'install']))"
    )
    done = bundle.run(code)
    assert (done.code, bundle.site.asked) == (2, [])
    assert "has only 1.0 kB left. GRUS_CUDA_FOLDER names another place." in done.err


def test_an_install_by_pythons_tools_says_who_brings_the_build(command: Callable[..., Outcome]) -> None:
    done = command("cuda", "install")
    assert (done.code, "uv, pipx and pip install PyTorch's build for CUDA themselves" in done.err) == (2, True)


def test_the_doctor_names_it(bundle: BundledGrus) -> None:
    code = _BUNDLE + (
        "import json\nfrom app.commands import doctor\nadvice = []\n"
        "facts = dict(doctor._torch(advice))\nprint(json.dumps([facts, advice]))"
    )
    facts, advice = json.loads(bundle.run(code).out)
    assert facts["NVIDIA GPU"].startswith("The CUDA pack 9.9+cu-1 is not installed.")
    assert any("`grus cuda install`" in sentence for sentence in advice)
    assert bundle.grus("cuda", "install").code == 0
    facts, advice = json.loads(bundle.run(code).out)
    assert facts["NVIDIA GPU"] == "The CUDA pack 9.9+cu-1 is installed."
    assert not any("grus cuda install" in sentence for sentence in advice)


def test_the_list_is_made_of_what_pip_would_install(monkeypatch: pytest.MonkeyPatch, bundle: BundledGrus) -> None:
    from tests.packaging.tools import script

    writer = script("cuda_pack")

    def entry(name: str, version: str, data: bytes, **more: Any) -> dict[str, Any]:
        file = bundle.site.add(f"{name}.whl", data)
        hashes = more.get("hashes", {"sha256": file.sha256})
        info = {"url": file.url, "archive_info": {"hashes": hashes}}
        return {"metadata": {"name": name, "version": version}, "download_info": info}

    found = [
        entry("torch", "2.13.0+cu130", b"torch"), entry("nvidia_cublas", "13.1", b"cublas"), entry("sympy", "1.14", b"sympy"),
        entry("cuda-toolkit", "13.0", b"toolkit"), entry("triton", "3.7", b"triton"),
    ]  # fmt: skip
    made = writer.contents(found)
    assert made["version"] == f"2.13.0+cu130-{writer.REVISION}"
    assert [Path(file["url"]).name for file in made["files"]] == ["cuda-toolkit.whl", "nvidia_cublas.whl", "torch.whl"]
    assert [file["size"] for file in made["files"]] == [7, 6, 5]
    with pytest.raises(SystemExit, match="no digest of torch"):
        writer.contents([entry("torch", "2.13.0", b"torch", hashes={})])
    with pytest.raises(SystemExit, match="no PyTorch"):
        writer.contents(found[1:])
