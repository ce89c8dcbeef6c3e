"""What a bundle is made of and is not in the source, brought by the scripts of packaging/ from a server on this machine: the runtime of
AppImages, PyTorch's build for CPUs, and the list of its build for CUDA. pip and curl are the real ones; the wheels are tiny."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.needs import need_program
from tests.packaging.tools import ROOT, script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are run by a Unix bash")
PINNED = dict(re.findall(r"^(\w+)==([\w.]+)$", (ROOT / "packaging" / "constraints.txt").read_text(), re.MULTILINE))
TORCH = PINNED["torch"]
RUNTIME = b"a runtime"


@dataclass
class Site:
    """A folder that is served. `busy`: so many answers come first that say to ask again later."""

    folder: Path
    address: str = ""
    busy: int = 0

    def index(self, name: str, *wheels: Path) -> str:
        """An index of Python packages with these wheels; its address."""
        for wheel in wheels:
            page = self.folder / name / wheel.name.split("-")[0].replace("_", "-") / "index.html"
            page.parent.mkdir(parents=True)
            shutil.copy2(wheel, page.parent)
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            page.write_text(f'<!DOCTYPE html><a href="{quote(wheel.name)}#sha256={digest}">{wheel.name}</a>')
        return f"{self.address}/{name}/"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    here = Site(tmp_path / "site")
    here.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(here.folder))  # type: ignore[arg-type]

        def do_GET(self) -> None:
            if here.busy:
                here.busy -= 1
                self.send_error(503)
            else:
                super().do_GET()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


def wheel(
    folder: Path, name: str, version: str, needs: tuple[str, ...] = (), files: dict[str, bytes] | None = None
) -> Path:
    """A wheel with nothing in it but `files`."""
    made, info = io.BytesIO(), f"{name}-{version}.dist-info"
    wanted = "".join(f"Requires-Dist: {text}\n" for text in needs)
    with zipfile.ZipFile(made, "w") as archive:
        for path, data in (files or {}).items():
            archive.writestr(path, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wanted}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    target = folder / f"{name}-{version}-py3-none-any.whl"
    target.write_bytes(made.getvalue())
    return target


def newer_pip(folder: Path) -> Path:
    """This environment's pip under a higher version."""
    there = [path for path in distribution("pip").files or [] if path.parts[0] == "pip" and path.suffix != ".pyc"]
    return wheel(folder, "pip", "99.0", files={path.as_posix(): path.read_binary() for path in there})


def torch(folder: Path, cuda: str | None) -> Path:
    text = f"class version:\n    cuda = {cuda!r}\n".encode()
    libraries = ("nvidia_cudnn",) if cuda else ()
    return wheel(folder, "torch", TORCH if cuda else f"{TORCH}+cpu", libraries, {"torch.py": text})


def environment(**more: str) -> dict[str, str]:
    """Without this machine's own settings of pip and of proxies."""
    kept = {name: text for name, text in os.environ.items() if not name.lower().startswith("pip_")}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0", "no_proxy": "*", **more}


@pytest.mark.parametrize("case", ["right", "busy at first", "changed", "absent", "the release's own digest"])
def test_the_runtime_of_appimages_is_used_only_with_its_digest(case: str, site: Site, tmp_path: Path) -> None:
    need_program("curl")
    if case != "absent":
        (site.folder / "runtime").write_bytes(RUNTIME + (b"!" if case == "changed" else b""))
    site.busy = 1 if case == "busy at first" else 0
    settings = {"APPIMAGE_RUNTIME_ADDRESS": f"{site.address}/runtime"}
    if case != "the release's own digest":
        settings["APPIMAGE_RUNTIME_DIGEST"] = hashlib.sha256(RUNTIME).hexdigest()
    program = ROOT / "packaging" / "bundle" / "appimage-runtime.sh"
    done = subprocess.run(
        ["bash", str(program), str(tmp_path / "build" / "runtime")],
        env=environment(**settings), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    brought = {path.name: path.read_bytes() for path in (tmp_path / "build").iterdir()}
    if case in ("right", "busy at first"):
        assert (done.returncode, brought) == (0, {"runtime": RUNTIME})
    else:
        assert done.returncode != 0
        assert brought == {}
        assert ("404" if case == "absent" else "did NOT match") in done.stderr


@pytest.mark.parametrize("answers", [True, False])
def test_a_bundle_for_linux_is_made_of_pytorchs_build_for_cpus_or_not_at_all(
    answers: bool, site: Site, tmp_path: Path
) -> None:
    """The registry of packages has the build for CUDA; pip takes that where the index of the other does not answer."""
    tree = tmp_path / "tree"
    install = tree / "packaging" / "bundle" / "install-built.sh"
    install.parent.mkdir(parents=True)
    for name in ("bundle/install-built.sh", "constraints.txt", "requirements.txt"):
        shutil.copy2(ROOT / "packaging" / name, tree / "packaging" / name)
    (tree / "wheels").mkdir()
    wheel(tree / "wheels", "grus", "1.2.3", ("torch",))
    made = (torch(tmp_path, "13.0"), wheel(tmp_path, "nvidia_cudnn", "9.0"), wheel(tmp_path, "pyinstaller", "6.22.99"))
    registry = site.index("registry", *made, newer_pip(tmp_path))
    for_cpus = site.index("cpus", torch(tmp_path, None)) if answers else "http://127.0.0.1:1/"
    program = tmp_path / "uname"
    program.write_text("#!/bin/sh\necho Linux\n")  # also where this test runs on a Mac
    program.chmod(0o755)
    settings = {
        "PIP_INDEX_URL": registry, "PIP_EXTRA_INDEX_URL": for_cpus, "PYTHON": sys.executable,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    words = ["bash", str(install), "wheels", "any"]
    done = subprocess.run(words, env=environment(**settings), capture_output=True, text=True, timeout=300)
    listed = subprocess.run(
        [str(tree / ".venv-bundle" / "bin" / "python"), "-m", "pip", "list", "--format", "json"],
        env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    there = {entry["name"].lower(): entry["version"] for entry in json.loads(listed.stdout)}
    assert tuple(map(int, there["pip"].split(".")[:2])) >= (25, 3)
    if answers:
        assert done.returncode == 0, done.stderr
        assert (there["torch"], there["grus"], there["pyinstaller"]) == (f"{TORCH}+cpu", "1.2.3", "6.22.99")
    else:
        assert done.returncode == 1
        assert f"PyTorch's build for CPUs was not to be had at {for_cpus}" in done.stderr
        assert "pyinstaller" not in there


@pytest.mark.parametrize("answers", [True, False])
def test_what_is_collected_for_an_older_system_has_pytorchs_build_for_cpus(
    answers: bool, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle_in = script("bundle_in")
    made = (torch(tmp_path, "13.0"), wheel(tmp_path, "nvidia_cudnn", "9.0"), wheel(tmp_path, "pyinstaller", "6.22.99"))
    settings = {"PIP_INDEX_URL": site.index("registry", *made)}
    settings["PIP_EXTRA_INDEX_URL"] = site.index("cpus", torch(tmp_path, None)) if answers else "http://127.0.0.1:1/"
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in environment(**settings).items():
        monkeypatch.setenv(name, value)
    grus = wheel(tmp_path, "grus", "1.2.3", ("torch",))
    if answers:
        bundle_in.collect(grus, tmp_path / "wheels")
        collected = {path.name.rpartition("-py3")[0] for path in (tmp_path / "wheels").iterdir()}
        assert collected == {"grus-1.2.3", f"torch-{TORCH}+cpu", "pyinstaller-6.22.99"}
    else:
        with pytest.raises(SystemExit, match="PyTorch's build for CPUs was not to be had at http://127"):
            bundle_in.collect(grus, tmp_path / "wheels")


def test_the_list_of_the_cuda_pack_has_what_an_index_offers(site: Site, tmp_path: Path) -> None:
    """The script as it is run for a release, with pip's own answer about an index."""
    made = [
        wheel(tmp_path, "torch", f"{TORCH}+cu130", ("nvidia-cudnn", "cuda-toolkit", "jinja2", "triton")),
        *(wheel(tmp_path, name, "9.0") for name in ("nvidia_cudnn", "cuda_toolkit", "jinja2", "triton")),
    ]
    index, list_file = site.index("whl", *made), tmp_path / "build" / "cuda_pack.json"
    words = [sys.executable, str(ROOT / "packaging" / "cuda_pack.py"), str(list_file), "--index", index]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    wanted = json.loads(list_file.read_text())
    assert wanted["version"].startswith(f"{TORCH}+cu130-")
    taken = [made[2], made[1], made[0]]  # by name
    assert [(file["url"].rpartition("/")[2], file["sha256"], file["size"]) for file in wanted["files"]] == [
        (quote(path.name), hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size) for path in taken
    ]
    again = subprocess.run([*words[:-1], f"{site.address}/none/"], env=environment(), capture_output=True, text=True)
    assert again.returncode == 1
    assert f"pip found no torch=={TORCH}" in again.stderr
