"""What a bundle is made from: valid files for desktops and stores, all that is imported by name, names that agree."""

from __future__ import annotations

import ast
import importlib.util
import json
import plistlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from app.bundled import DESKTOP_ID
from tests.asserting import every
from tests.needs import need_program, no_window
from tests.packaging.tools import ROOT, script

bundle = script("bundle")
icons = script("icons")
HERE = ROOT / "packaging" / "bundle"
SPEC = (HERE / "grus.spec").read_text(encoding="utf-8")


def constant(name: str) -> list[str]:
    """A list or tuple of strings in the recipe, without what it is joined with."""
    for node in ast.parse(SPEC).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return [
                leaf.value
                for leaf in ast.walk(node.value)
                if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
            ]
    raise AssertionError(f"the recipe has no {name}")


def wanted(place: str) -> bool:
    """The recipe's own answer whether this file is in the bundle."""
    parts = [
        node
        for node in ast.parse(SPEC).body
        if (isinstance(node, ast.FunctionDef) and node.name == "wanted")
        or (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Tuple)
            and "Tuple" not in ast.dump(node.targets[0])
        )
    ]
    names: dict[str, Any] = {"Path": Path, "MAC": False}
    exec(compile(ast.Module(parts, []), "grus.spec", "exec"), names)
    return bool(names["wanted"](place))


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ("torch/bin/torch_shm_manager", True),
        ("torch/bin/protoc", False),
        ("torch/lib/libtorch_cpu.so", True),
        ("torch/lib/libXNNPACK.a", False),
        ("numpy/_core/include/numpy/ndarrayobject.h", False),
        ("PySide6/Qt/lib/libQt6Core.so.6", True),
        ("PySide6\\Qt\\qml\\QtQuick\\qmldir", False),
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("PySide6/Qt/translations/qtbase_it.qm", False),
        ("PySide6/QtCore.pyi", False),
        ("libportaudio.so.2", True),
        ("libasound.so.2", False),
        ("av.libs/libavcodec-5e6b81c2.so.62.28.102", True),
        ("PySide6/Qt/lib/libavcodec.so.61", False),
        ("pillow.libs/libavif-c6062d5f.so.16.4.2", False),
        ("pillow.libs/libwebp-51b0b3f7.so.7.2.0", True),
        ("resources/translations/grus_de.qm", True),
        ("resources/translations/grus_de.ts", False),
        ("resources/__pycache__/__init__.cpython-311.pyc", False),
    ],
)
def test_nothing_that_only_developers_read_is_in_it(place: str, there: bool) -> None:
    assert wanted(place) is there


def test_the_application_is_made_of_the_wheel_and_not_of_the_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the source there are no kernels, and nobody says where updates are announced."""
    ran: list[tuple[tuple[str, ...], Path]] = []
    monkeypatch.setattr(bundle, "BUILD", tmp_path / "build")
    monkeypatch.setattr(bundle, "run", lambda *words, cwd: ran.append((words, cwd)))
    monkeypatch.setattr(bundle, "strip_libraries", lambda folder: None)
    (tmp_path / "build" / "grus").mkdir(parents=True)
    (tmp_path / "build" / "Grus.app").mkdir()
    bundle.make_app()
    [(words, cwd)] = ran
    assert "PyInstaller" in words
    assert cwd == tmp_path / "build"  # Python looks for packages where it is started
    assert "pathex" not in SPEC


def test_every_module_of_qt_that_the_window_imports_is_in_it() -> None:
    from tests.test_system_libraries import qt_modules

    assert qt_modules() <= set(constant("QT"))


def test_nothing_that_grus_needs_is_left_out() -> None:
    """A package that is excluded must be one that only tests and extras use, or a part of torch that no model runs through."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^\w-]", text, maxsplit=1)[0].lower() for text in project["dependencies"]} - {
        "torch",
        "mlx",
        "mlx-lm",
    }
    excluded = {name.lower().replace("_", "-") for name in constant("EXCLUDED")}
    assert needed & excluded == set()


def test_what_the_recipe_names_of_grus_is_there() -> None:
    assert every(importlib.util.find_spec(name) is not None for name in (*constant("OWN"), "backends.torch.triton"))


def test_the_identifier_is_the_same_everywhere() -> None:
    assert (HERE / f"{DESKTOP_ID}.desktop").is_file()
    root = ET.fromstring(bundle.filled(f"{DESKTOP_ID}.metainfo.xml"))
    assert root.findtext("id") == DESKTOP_ID
    assert root.findtext("launchable") == f"{DESKTOP_ID}.desktop"
    assert yaml.safe_load((HERE / "flatpak.yml").read_text(encoding="utf-8"))["id"] == DESKTOP_ID
    assert f"Icon={DESKTOP_ID}\n" in (HERE / f"{DESKTOP_ID}.desktop").read_text(encoding="utf-8")


def test_macos_may_compile_kernels_and_listen() -> None:
    rights = plistlib.loads((HERE / "entitlements.plist").read_bytes())
    assert rights["com.apple.security.cs.allow-jit"] is True
    assert rights["com.apple.security.device.audio-input"] is True


def test_a_package_asks_for_the_libraries_of_the_window() -> None:
    debian, fedora = bundle.system_names(0), bundle.system_names(1)
    assert {"libegl1", "libxcb-cursor0", "fonts-dejavu-core", "libglib2.0-0"} <= set(debian)
    assert {"libglvnd-egl", "xcb-util-cursor"} <= set(fedora)
    assert not {"-", "base"} & {*debian, *fedora}
    assert "libasound2" in bundle.debian_packages()
    assert set(debian) - set(bundle.debian_packages()) == {"libportaudio2"}
    assert set(fedora) - set(bundle.rpm_packages()) == {"portaudio"}
    assert {"alsa-lib", f"glibc >= {bundle.oldest_glibc()}"} <= set(bundle.rpm_packages())


def test_the_icon_is_a_drawing_in_the_accent_of_the_window() -> None:
    root = ET.fromstring(icons.svg())
    assert root.get("width") == root.get("height") == "128"
    assert "currentColor" not in icons.svg()


@pytest.mark.skipif(bool(no_window()), reason=no_window() or "needs Qt")
def test_macos_and_windows_get_the_drawing_in_every_size(tmp_path: Path) -> None:
    from PIL import IcnsImagePlugin, IcoImagePlugin, Image, ImageColor

    from app.gui.theme import LIGHT

    icns, ico = icons.write(tmp_path)
    assert (icns.name, ico.name) == ("grus.icns", "grus.ico")
    accent = ImageColor.getrgb(LIGHT.accent)
    with Image.open(icns) as mac, Image.open(ico) as windows:
        assert isinstance(mac, IcnsImagePlugin.IcnsImageFile)
        assert isinstance(windows, IcoImagePlugin.IcoImageFile)
        assert {width * scale for width, _, scale in mac.info["sizes"]} >= {32, 128, 256, 512, 1024}
        assert windows.info["sizes"] == {(size, size) for size in icons.ICO}
        pictures = [mac.convert("RGBA"), *(windows.ico.getimage((size, size)).convert("RGBA") for size in icons.ICO)]
    for picture in pictures:
        assert picture.getpixel((0, 0))[3] == 0  # nothing around the crane
        pixels = np.asarray(picture).reshape(-1, 4)
        assert 0.1 < (pixels[:, 3] > 0).mean() < 0.6
        assert np.abs(pixels[pixels[:, 3] == 255, :3].astype(int) - accent).max() <= 2


def test_the_recipes_take_the_icons_where_they_are_written() -> None:
    """PyInstaller's folder of results is where `bundle.py app` writes them, and Inno Setup's script names that folder."""
    assert 'Path(DISTPATH) / ("grus.icns" if MAC else "grus.ico")' in SPEC
    setup = (HERE / "grus.iss").read_text(encoding="utf-8")
    named = re.search(r'#define Icon "(.+)"', setup)
    assert named is not None
    assert (HERE / named[1].replace("\\", "/")).resolve() == bundle.BUILD / "grus.ico"
    assert "SetupIconFile={#Icon}" in setup


def test_the_desktop_file_is_valid() -> None:
    need_program("desktop-file-validate")
    done = subprocess.run(
        ["desktop-file-validate", str(HERE / f"{DESKTOP_ID}.desktop")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_metainfo_is_valid(tmp_path: Path) -> None:
    need_program("appstreamcli")
    file = tmp_path / f"{DESKTOP_ID}.metainfo.xml"
    file.write_text(bundle.filled(file.name), encoding="utf-8")
    done = subprocess.run(["appstreamcli", "validate", "--no-net", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_manual_page_is_read_without_a_warning() -> None:
    if shutil.which("man") is None:
        pytest.skip("needs man")
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(HERE / "grus.1")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="Flatpak is for Linux")
@pytest.mark.parametrize(
    ("given", "used"), [({}, "/home/person/.cache/huggingface"), ({"HF_HOME": "/models"}, "/models")]
)
def test_models_of_the_flatpak_lie_in_the_cache_that_it_may_use(given: dict[str, str], used: str) -> None:
    manifest = yaml.safe_load((ROOT / "packaging" / "bundle" / "flatpak.yml").read_text(encoding="utf-8"))
    [module] = manifest["modules"]
    [starter] = [source for source in module["sources"] if source["type"] == "script"]
    lines = [line.replace("exec /app/lib/grus/grus", "printenv HF_HOME; :") for line in starter["commands"]]
    home = {
        "HOME": "/home/person",
        "XDG_CACHE_HOME": "/home/person/.var/app/org.grus.Grus/cache",
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(["sh", "-c", "\n".join(lines)], capture_output=True, text=True, env={**home, **given})
    assert done.stdout.strip() == used
    assert "--filesystem=~/.cache/huggingface:create" in manifest["finish-args"]
    assert f"install -m 755 {starter['dest-filename']} /app/bin/{manifest['command']}" in module["build-commands"]


@pytest.mark.parametrize(
    ("version", "packaged"),
    [("1.2.3", "1.2.3"), ("1.2.3rc1", "1.2.3~rc1"), ("1.2.3.dev4", "1.2.3~dev4"), ("1.2.3b2", "1.2.3~b2")],
)
def test_what_comes_before_a_release_is_older_than_it(
    version: str, packaged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "version", lambda: version)
    assert bundle.package_version() == packaged
    need_program("dpkg")
    order = "eq" if packaged == "1.2.3" else "lt"
    assert subprocess.run(["dpkg", "--compare-versions", packaged, order, "1.2.3"]).returncode == 0


def test_without_a_bundle_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundle, "BUILD", tmp_path)
    with pytest.raises(SystemExit, match=r"bundle\.py app"):
        bundle.make_deb()
    with pytest.raises(SystemExit, match="--runtime"):
        bundle.make_appimage(None)


@pytest.mark.skipif(sys.platform != "linux", reason="packages of Debian are made on Linux")
def test_a_package_of_debian_is_packed_smaller_and_reads_as_dpkgs_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need_program("dpkg-deb", "ar", "xz")
    monkeypatch.setattr(bundle, "BUILD", tmp_path / "build")
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    control = "Package: grus\nVersion: 1.2.3\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: x\n"
    (root / "DEBIAN" / "control").write_text(control)
    program = root / "usr" / "lib" / "grus" / "grus"
    program.parent.mkdir(parents=True)
    shutil.copyfile("/bin/true", program)
    program.chmod(0o755)
    package = tmp_path / "grus.deb"
    bundle.pack_deb(root, package)
    assert {path.name for path in tmp_path.iterdir()} == {"root", "build", "grus.deb"}
    read = subprocess.run(["dpkg-deb", "--field", str(package), "Version"], capture_output=True, text=True)
    assert (read.returncode, read.stdout) == (0, "1.2.3\n")
    subprocess.run(["dpkg-deb", "--extract", str(package), str(tmp_path / "there")], check=True)
    unpacked = tmp_path / "there" / "usr" / "lib" / "grus" / "grus"
    assert unpacked.read_bytes() == program.read_bytes()
    assert unpacked.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(sys.platform == "win32", reason="the bundle of this test has the layout of Linux")
def test_packages_have_the_version_of_the_bundle(small_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that of the source beside the script, which may be installed as another one."""
    monkeypatch.setattr(bundle, "grus_version", lambda: "0.1.0")
    assert bundle.package_version() == "0.1.0"
    (small_bundle / "_internal" / "grus-9.8.7.dev1.dist-info").mkdir()
    assert bundle.package_version() == "9.8.7~dev1"
    assert 'version="9.8.7.dev1"' in bundle.filled(f"{DESKTOP_ID}.metainfo.xml")


# -- AppImage


@pytest.fixture
def small_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A bundle whose program is a line of shell."""
    monkeypatch.setattr(bundle, "BUILD", tmp_path / "build")
    monkeypatch.setattr(bundle, "DIST", tmp_path / "dist")
    folder = tmp_path / "build" / "grus"
    (folder / "_internal").mkdir(parents=True)
    (folder / "grus").write_text('#!/bin/sh\necho "grus got $@"\n')
    return folder


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """As the real one begins: an ELF file with the format's mark."""
    file = tmp_path / "runtime"
    file.write_bytes(b"\x7fELF\x02\x01\x01\x00AI\x02" + bytes(5000))
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="AppImages are for Linux")
def test_an_appimage_is_a_runtime_and_a_folder_that_runs(small_bundle: Path, runtime: Path, tmp_path: Path) -> None:
    if shutil.which("mksquashfs") is None:
        pytest.skip("needs mksquashfs")
    image = bundle.make_appimage(runtime)
    data = image.read_bytes()
    assert data.startswith(runtime.read_bytes())
    assert data[runtime.stat().st_size :][:4] == b"hsqs"
    assert image.stat().st_mode & 0o111
    folder = tmp_path / "squashfs-root"
    offset = str(runtime.stat().st_size)
    subprocess.run(["unsquashfs", "-q", "-o", offset, "-d", str(folder), str(image)], check=True, capture_output=True)
    (tmp_path / "link").symlink_to(folder / "AppRun")
    done = subprocess.run([str(tmp_path / "link"), "chat", "a b"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "grus got chat a b\n"
    entry = (folder / f"{DESKTOP_ID}.desktop").read_text(encoding="utf-8")
    assert f"Icon={DESKTOP_ID}\n" in entry
    assert (folder / ".DirIcon").read_text(encoding="utf-8") == icons.svg()
    assert not (tmp_path / "build" / "AppDir").exists()


def test_another_program_is_no_runtime(small_bundle: Path, tmp_path: Path) -> None:
    for data in (b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01\x00" + bytes(99), b""):
        (tmp_path / "runtime").write_bytes(data)
        with pytest.raises(SystemExit, match="no runtime of AppImages"):
            bundle.make_appimage(tmp_path / "runtime")


@pytest.mark.skipif(sys.platform != "linux", reason="the bundle of this test is a shell script")
@pytest.mark.parametrize("missing", ["", "app", "a module", "an import", "a start without Qt"])
def test_a_bundle_that_lacks_a_part_is_noticed(
    missing: str, small_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = script("try_bundle")
    there = {"modules": trial.expected_modules(), "missing": {}}
    if missing == "a module":
        there["modules"].remove("engine.models.qwen3")
    if missing == "an import":
        there["missing"] = {"sounddevice": "ModuleNotFoundError"}
    (small_bundle / "there.json").write_text(json.dumps(there))
    said = {
        "--version": "grus 1.2.3", "chat": "Nothing that you write leaves this machine", "read": "Every autumn the cranes",
        "speak": "0.8 s of sound", "-m": '{"codec": "pcm_s16le"}', "app": "ready after 0.5 s",
    }  # fmt: skip
    cases = "".join(f"  {word}) echo '{words}';;\n" for word, words in said.items() if word != missing)
    qt = "echo 'file=libQt6Core.so.6 [0]; needed by QtCore' >&2" if missing == "a start without Qt" else ":"
    (small_bundle / "grus").write_text(
        f'#!/bin/sh\n{qt}\n[ "$2" = app.bundle_check ] && exec cat "{small_bundle}/there.json"\ncase "$1" in\n{cases}  *) echo "No module named x" >&2; exit 1;;\nesac\n'
    )
    (small_bundle / "grus").chmod(0o755)
    monkeypatch.setattr(trial, "bundle", bundle)
    assert trial.main([]) == (1 if missing else 0)


@pytest.mark.skipif(sys.platform != "linux", reason="the bundle of this test is a shell script")
def test_a_program_that_hangs_is_ended_with_its_children(small_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that lives on has the pipe that the trial reads: it would wait for that one's end."""
    trial = script("try_bundle")
    monkeypatch.setattr(trial, "bundle", bundle)
    monkeypatch.setattr(trial, "PATIENCE", 0.5)
    (small_bundle / "grus").write_text("#!/bin/sh\nsleep 25 & echo started; wait\n")
    (small_bundle / "grus").chmod(0o755)
    started = time.monotonic()
    assert not trial.tried("chat", ["chat"], "an answer")
    assert not trial.complete()  # no line of a traceback
    assert time.monotonic() - started < 20
