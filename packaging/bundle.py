"""Makes the application with a Python of its own, and what people install: .deb, .rpm, AppImage, .dmg, a setup program.

    python packaging/bundle.py app                 build/bundle/grus, by PyInstaller
    python packaging/bundle.py tar deb rpm         out of that, into dist/
    python packaging/bundle.py appdir              what an AppImage holds, in build/bundle/AppDir
    python packaging/bundle.py appimage --runtime FILE     of packaging/bundle/appimage-runtime.sh
    python packaging/bundle.py dmg                 on a Mac; signed where GRUS_SIGN names an identity
    python packaging/bundle.py setup               on Windows, with Inno Setup
    python packaging/bundle.py sizes               what takes the room

`app` runs in an environment with a wheel of Grus, PyTorch's build for CPUs, and packaging/requirements.txt. The oldest system that
a Linux bundle serves is the one that it is made on. Briefcase is not used: it clones its templates while it builds.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import time
from email.utils import formatdate
from pathlib import Path
from string import Template

import icons
import project

from app.bundled import DESKTOP_ID, grus_version
from app.system_packages import requirements

HERE = project.ROOT / "packaging" / "bundle"
BUILD = project.ROOT / "build" / "bundle"
DIST = project.ROOT / "dist"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
_LIBRARY_COLUMN, _DNF_COLUMN = 0, 1  # of packaging/system.txt
STRIPPED = (
    "libpython*.so*", "torch/lib/*.so*", "av/**/*.so", "cryptography/**/*.so", "pypdfium2_raw/*.so", "tokenizers/*.so",
)  # fmt: skip
XZ = "--lzma2=preset=9e,dict=64MiB"
_GROUP = 20  # lines of the table of sizes


class BundleError(SystemExit):
    def __init__(self, message: str) -> None:
        super().__init__(f"bundle: {message}")


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> None:
    words = [str(word) for word in command]
    if shutil.which(words[0]) is None:
        raise BundleError(f"{words[0]} is not installed")
    if subprocess.run(words, cwd=cwd, env={**os.environ, **environment}).returncode:
        raise BundleError(f"{' '.join(words[:3])} failed")


def machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else "x86_64"


def application() -> Path:
    """The bundle that `app` made."""
    folder = BUILD / ("Grus.app" if sys.platform == "darwin" else "grus")
    if not folder.exists():
        raise BundleError("there is no bundle yet: python packaging/bundle.py app")
    return folder


def version() -> str:
    """Of the bundle, which is made of a wheel: the source beside this script may have been installed as another version."""
    for inner in (BUILD / "grus" / "_internal", *(BUILD / "Grus.app" / "Contents").glob("*")):
        for made in inner.glob("grus-*.dist-info"):
            return made.name.removeprefix("grus-").removesuffix(".dist-info")
    return grus_version()


def make_app() -> Path:
    work = BUILD / "work"
    words = [
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--distpath",
        str(BUILD),
        "--workpath",
        str(work),
        str(HERE / "grus.spec"),
    ]
    # Not in the source: the bundle is made of the wheel, which has the kernels and knows where updates are announced.
    BUILD.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux":
        icons.write(BUILD)
    run(sys.executable, *words, cwd=BUILD)
    if sys.platform == "linux":
        strip_libraries(application())
    return application()


def strip_libraries(folder: Path) -> None:
    """Debugging symbols that packages come with. numpy's OpenBLAS breaks when it is stripped."""
    for pattern in STRIPPED:
        for library in (folder / "_internal").glob(pattern):
            if library.is_file() and not library.is_symlink():
                run("strip", "--strip-unneeded", library)


def filled(name: str, **more: str) -> str:
    """A text of packaging/bundle with its variables filled in."""
    values = {
        "version": version(),
        "repository": repository(),
        "date": time.strftime("%Y-%m-%d", time.gmtime(source_date())),
        **more,
    }
    return Template((HERE / name).read_text(encoding="utf-8")).substitute(values)


def repository() -> str:
    return os.environ.get("GITHUB_REPOSITORY", "grus/grus")


def maintainer() -> str:
    """The repository's owner, by the address that takes no mail: what is wrong is reported on the homepage."""
    return f"The Grus authors <{repository().split('/')[0]}@users.noreply.github.com>"


def source_date() -> int:
    """When the source was committed: the same sources make the same packages."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or project.git("log", "-1", "--format=%ct"))


def lay_out(root: Path) -> Path:
    """The files of a Linux package below `root`, as /usr has them."""
    shutil.rmtree(root, ignore_errors=True)
    usr = root / "usr"
    shutil.copytree(application(), usr / "lib" / "grus", symlinks=True)
    texts = {
        f"share/applications/{DESKTOP_ID}.desktop": (HERE / f"{DESKTOP_ID}.desktop").read_text(encoding="utf-8"),
        f"share/metainfo/{DESKTOP_ID}.metainfo.xml": filled(f"{DESKTOP_ID}.metainfo.xml"),
        f"share/icons/hicolor/scalable/apps/{DESKTOP_ID}.svg": icons.svg(),
    }
    for place, text in texts.items():
        (usr / place).parent.mkdir(parents=True, exist_ok=True)
        (usr / place).write_text(text, encoding="utf-8")
    (usr / "bin").mkdir()
    (usr / "bin" / "grus").symlink_to("../lib/grus/grus")
    _compressed(usr / "share" / "man" / "man1" / "grus.1.gz", (HERE / "grus.1").read_bytes())
    for path in root.rglob("*"):
        if not path.is_symlink():
            program = path.is_dir() or path == usr / "lib" / "grus" / "grus" or path.name == "torch_shm_manager"
            path.chmod(0o755 if program else 0o644)
    return root


def _compressed(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data, 9, mtime=0))


def system_names(column: int) -> list[str]:
    """The system's packages that Grus needs, in one package manager's names."""
    cells = [line.packages[column] for line in requirements() if line.library and line.when == "run"]
    return list(dict.fromkeys(name for cell in cells for name in cell.split(",") if name not in ("-", "base")))


def debian_packages() -> list[str]:
    """What the .deb depends on: PortAudio is in the bundle, and ALSA, which it plays through, is the system's.

    Newer systems have these under names with t64, which provide the old ones.
    """
    return ["libasound2" if name == "libportaudio2" else name for name in system_names(_LIBRARY_COLUMN)]


def rpm_packages() -> list[str]:
    """The same for the .rpm, with the C library, which rpm is not asked to find out."""
    return [
        f"glibc >= {oldest_glibc()}",
        *("alsa-lib" if name == "portaudio" else name for name in system_names(_DNF_COLUMN)),
    ]


def fonts(column: int) -> list[str]:
    """Packages with the Chinese and Japanese characters, for which a bare system draws boxes: recommended, as they are large."""
    return [line.packages[column] for line in requirements() if line.probe.startswith("font:")]


def oldest_glibc() -> str:
    """The C library of this machine: an older one may not load what was made here."""
    import platform

    return platform.libc_ver()[1]


def package_version() -> str:
    """As dpkg and rpm order versions: what comes before a release begins with a tilde. Not for file names, which servers change."""
    return re.sub(r"\.?(dev|a|b|rc)(?=\d)", r"~\1", version())


def make_deb() -> Path:
    root = lay_out(BUILD / "deb")
    size = sum(path.lstat().st_size for path in root.rglob("*")) // 1024
    name = f"grus_{version()}_{DEBIAN[machine()]}.deb"
    depends = [f"libc6 (>= {oldest_glibc()})", *debian_packages()]
    control = root / "DEBIAN"
    control.mkdir()
    fields = {
        "Package": "grus", "Version": package_version(), "Architecture": DEBIAN[machine()], "Maintainer": maintainer(),
        "Installed-Size": str(size), "Depends": ", ".join(depends),
        "Recommends": ", ".join(fonts(_LIBRARY_COLUMN)), "Section": "science", "Priority": "optional",
        "Homepage": f"https://github.com/{repository()}",
        "Description": "private AI on your own machine\n"
        " Grus chats, reads documents, speaks and listens with language models that\n run on this machine, in a window, on the command line, and as a server.",
    }  # fmt: skip
    (control / "control").write_text("".join(f"{key}: {value}\n" for key, value in fields.items()), encoding="utf-8")
    about = root / "usr" / "share" / "doc" / "grus"
    changes = f"grus ({package_version()}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {maintainer()}  {formatdate(source_date())}\n"
    _compressed(about / "changelog.gz", changes.encode())
    (about / "copyright").write_text(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\n"
        f"Copyright: {time.gmtime(source_date()).tm_year} The Grus authors\n"
        "License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
        " The licences of what comes with it are beside the files, in /usr/lib/grus/_internal.\n"
        "\nFiles: usr/lib/grus/_internal/av/* usr/lib/grus/_internal/av.libs/*\nCopyright: The authors of PyAV, FFmpeg, x264 and x265\n"
        "License: GPL-3+\n On Debian systems the text is in /usr/share/common-licenses/GPL-3. The sources are at\n"
        " https://github.com/PyAV-Org/PyAV and https://github.com/PyAV-Org/pyav-ffmpeg.\n",
        encoding="utf-8",
    )
    overrides = root / "usr" / "share" / "lintian" / "overrides" / "grus"
    overrides.parent.mkdir(parents=True)
    shutil.copyfile(HERE / "lintian-overrides", overrides)
    DIST.mkdir(exist_ok=True)
    pack_deb(root, DIST / name)
    shutil.rmtree(root)
    return DIST / name


def pack_deb(root: Path, package: Path) -> None:
    """dpkg-deb's own package with its files packed anew, by xz with the filter for x86 programs, which dpkg-deb has no option for.
    dpkg unpacks either."""
    plain, parts = package.with_suffix(".plain"), BUILD / "deb-parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    words = ["--root-owner-group", "--no-uniform-compression", "-Znone"]
    run("dpkg-deb", *words, "--build", root, plain, SOURCE_DATE_EPOCH=str(source_date()))
    run("ar", "x", plain, cwd=parts)
    plain.unlink()
    control = next(parts.glob("control.tar*")).name
    run("xz", "--force", "--threads=2", *(["--x86"] if machine() == "x86_64" else []), XZ, parts / "data.tar")
    package.unlink(missing_ok=True)
    run("ar", "rcD", package, "debian-binary", control, "data.tar.xz", cwd=parts)
    shutil.rmtree(parts)


RPM = """\
Name: grus
Version: {version}
Release: 1
Summary: Private AI on your own machine
License: Apache-2.0 AND GPL-3.0-or-later
URL: https://github.com/{repository}
Packager: {maintainer}
AutoReqProv: no
Requires: {requires}
Recommends: {recommends}
%define __os_install_post %{{nil}}
%define _build_id_links none
%define _binary_payload w6T2.xzdio
%description
Grus chats, reads documents, speaks and listens with language models that
run on this machine, in a window, on the command line, and as a server.
%files
/usr/bin/grus
/usr/lib/grus
/usr/share/applications/{id}.desktop
/usr/share/icons/hicolor/scalable/apps/{id}.svg
/usr/share/man/man1/grus.1.gz
/usr/share/metainfo/{id}.metainfo.xml
%changelog
* {day} {maintainer} - {version}-1
- See CHANGELOG.md.
"""


def make_rpm() -> Path:
    root = lay_out(BUILD / "rpm")
    spec = BUILD / "grus.spec"
    spec.write_text(
        RPM.format(
            version=package_version(),
            id=DESKTOP_ID,
            repository=repository(),
            maintainer=maintainer(),
            requires=", ".join(rpm_packages()),
            recommends=", ".join(fonts(_DNF_COLUMN)),
            day=time.strftime("%a %b %d %Y", time.gmtime(source_date())),
        ),
        encoding="utf-8",
    )
    out = BUILD / "rpms"
    defines = ["--define", f"_topdir {BUILD / 'rpmbuild'}", "--define", f"_rpmdir {out}", "--buildroot", root]
    run("rpmbuild", "-bb", "--noclean", "--target", machine(), *defines, spec)
    DIST.mkdir(exist_ok=True)
    made = next(out.rglob("*.rpm"))
    target = DIST / f"grus-{version()}.{machine()}.rpm"
    shutil.move(made, target)
    for folder in (root, BUILD / "rpmbuild", out):
        shutil.rmtree(folder, ignore_errors=True)
    return target


def make_tar() -> Path:
    root = lay_out(BUILD / "tar")
    DIST.mkdir(exist_ok=True)
    target = DIST / f"grus-linux-{machine()}.tar.xz"
    times = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{source_date()}"]
    run("tar", *times, "-C", root, "-cJf", target, "usr", XZ_OPT="-6 -T0")
    shutil.rmtree(root)
    return target


ELF, APPIMAGE_2 = b"\x7fELF", b"AI\x02"  # the second lies 8 bytes into the file
APPRUN = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/usr/lib/grus/grus" "$@"
"""


def make_appdir() -> Path:
    """The folder that an AppImage holds."""
    root = lay_out(BUILD / "AppDir")
    (root / "AppRun").write_text(APPRUN, encoding="utf-8")
    (root / "AppRun").chmod(0o755)
    (root / f"{DESKTOP_ID}.desktop").symlink_to(f"usr/share/applications/{DESKTOP_ID}.desktop")
    (root / f"{DESKTOP_ID}.svg").symlink_to(f"usr/share/icons/hicolor/scalable/apps/{DESKTOP_ID}.svg")
    (root / ".DirIcon").symlink_to(f"{DESKTOP_ID}.svg")
    return root


def checked_runtime(runtime: Path | None) -> Path:
    """The program that an AppImage begins with; the format's mark tells it from other programs."""
    if runtime is None or not runtime.is_file():
        raise BundleError("an AppImage begins with a runtime: --runtime FILE, of packaging/bundle/appimage-runtime.sh")
    with runtime.open("rb") as file:
        head = file.read(len(ELF) + 7)
    if not head.startswith(ELF) or head[8:] != APPIMAGE_2:
        raise BundleError(f"{runtime} is no runtime of AppImages of type 2")
    return runtime


def make_appimage(runtime: Path | None) -> Path:
    """A file that runs: the runtime, then the application as a squashfs."""
    runtime = checked_runtime(runtime)
    root = make_appdir()
    image = BUILD / "squashfs"
    image.unlink(missing_ok=True)
    words = ["-root-owned", "-noappend", "-comp", "zstd", "-Xcompression-level", "19", "-b", "1M", "-quiet"]
    run("mksquashfs", root, image, *words)
    DIST.mkdir(exist_ok=True)
    target = DIST / f"Grus-{version()}-{machine()}.AppImage"
    with target.open("wb") as whole:
        for part in (runtime, image):
            with part.open("rb") as file:
                shutil.copyfileobj(file, whole)
    target.chmod(0o755)
    image.unlink()
    shutil.rmtree(root)
    return target


def make_dmg() -> Path:
    """Signed with the hardened runtime, notarized and stapled where the identity and the profile are given; the image too."""
    app, identity, profile = application(), os.environ.get("GRUS_SIGN", ""), os.environ.get("GRUS_NOTARY", "")
    if identity:
        rights = ["--options", "runtime", "--entitlements", HERE / "entitlements.plist"]
        sign = ["codesign", "--force", "--timestamp", *rights, "--sign", identity]
        for library in sorted([*app.rglob("*.dylib"), *app.rglob("*.so")]):
            run(*sign, library)
        run(*sign, "--deep", app)
    folder = BUILD / "dmg"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if identity and profile:  # before the image is made: an application that is dragged out of it keeps its ticket
        sent = BUILD / "Grus.zip"
        run("ditto", "-c", "-k", "--keepParent", app, sent)
        notarize(sent, app, profile)
        sent.unlink()
    DIST.mkdir(exist_ok=True)
    image = DIST / f"Grus-{version()}.dmg"
    image.unlink(missing_ok=True)
    run("ditto", app, folder / app.name)
    (folder / "Applications").symlink_to("/Applications")
    run("hdiutil", "create", "-volname", "Grus", "-srcfolder", folder, "-format", "ULMO", image)
    if identity:
        run("codesign", "--timestamp", "--sign", identity, image)
    if identity and profile:
        notarize(image, image, profile)
    return image


def notarize(sent: Path, stapled: Path, profile: str) -> None:
    """Send a file to Apple, wait, and put the ticket onto what it is for."""
    keychain = os.environ.get("GRUS_KEYCHAIN", "")  # where mac-keys.sh put the profile; else the person's own
    where = ["--keychain", keychain] if keychain else []
    run("xcrun", "notarytool", "submit", sent, "--keychain-profile", profile, *where, "--wait")
    run("xcrun", "stapler", "staple", stapled)


def make_setup() -> Path:
    made = version()
    run("iscc", f"/DVersion={made}", f"/DSource={application()}", HERE / "grus.iss")
    return DIST / f"Grus-{made}-setup.exe"


def sizes() -> None:
    """The largest parts of the bundle, in MB."""
    folder = application()
    inner = folder / "_internal" if (folder / "_internal").exists() else folder
    parts: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(inner).parts[0] if path.is_relative_to(inner) else path.name
            parts[name] = parts.get(name, 0) + path.stat().st_size
    for name, size in sorted(parts.items(), key=lambda part: -part[1])[:_GROUP]:
        print(f"{size / 1e6:8.1f}  {name}")
    print(f"{sum(parts.values()) / 1e6:8.1f}  in all")


def main() -> None:
    makers = {
        "app": make_app,
        "tar": make_tar,
        "deb": make_deb,
        "rpm": make_rpm,
        "appdir": make_appdir,
        "dmg": make_dmg,
        "setup": make_setup,
    }
    parser = argparse.ArgumentParser(description="Makes the application and what people install.")
    parser.add_argument("what", nargs="+", choices=[*makers, "appimage", "sizes"])
    parser.add_argument("--runtime", type=Path, help="of AppImages, type 2")
    given = parser.parse_args()
    for what in given.what:
        if what == "sizes":
            sizes()
            continue
        made = make_appimage(given.runtime) if what == "appimage" else makers[what]()
        size = f", {made.stat().st_size / 1e6:.1f} MB" if made.is_file() else ""
        print(f"{made.relative_to(project.ROOT)}{size}", flush=True)


if __name__ == "__main__":
    main()
