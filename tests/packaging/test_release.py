"""A release's texts: its version from the tag, the changelog's section, checksums, what updates read, and the templates."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from tests.asserting import every
from tests.needs import need_program
from tests.packaging.tools import ROOT, need_tool, script

project, release = script("project"), script("release")
LOG = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-02)\n\n- First.\n"


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v1.2.3-0-gabcdef0", "1.2.3"),
        ("v1.2.3rc1-0-gabcdef0", "1.2.3rc1"),
        ("v0.0.9-7-gabcdef0", "{base}.dev7"),
        ("", "{base}.dev0"),
        ("1.2.3-0-gab", "{base}.dev0"),
    ],
)
def test_the_version_is_the_tags(described: str, version: str) -> None:
    assert project.version(described) == version.format(base=project.base_version())


def test_a_version_that_was_released_is_not_worked_on() -> None:
    with pytest.raises(SystemExit, match="Raise its version first"):
        project.version(f"v{project.base_version()}-3-gabcdef0")


def test_a_copy_of_the_tree_has_the_version_and_nothing_that_git_ignores(tmp_path: Path) -> None:
    tree = project.copy_tree(tmp_path / "tree", "9.8.7")
    assert 'version = "9.8.7"\n' in (tree / "pyproject.toml").read_text(encoding="utf-8")
    assert (tree / "resources" / "system.txt").is_file()
    assert not (tree / "resources" / "system.txt").is_symlink()
    assert [path for path in tree.rglob("*") if path.suffix in (".so", ".pyc") or path.name == ".venv"] == []


def test_the_changelog_is_cut() -> None:
    closed = release.cut(LOG, "0.2.0", "2026-03-04")
    assert closed == LOG.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2026-03-04)\n")
    assert release.section(closed, "0.2.0") == "- New.\n"
    assert release.section(closed, "0.1.0") == "- First.\n"
    assert release.section(LOG, "0.2.0.dev4") == "- New.\n"
    with pytest.raises(SystemExit, match=r"has 0\.1\.0 already"):
        release.cut(LOG, "0.1.0", "2026-03-04")
    with pytest.raises(SystemExit, match="nothing"):
        release.cut(closed, "0.3.0", "2026-03-04")


def test_the_projects_changelog_can_be_cut() -> None:
    text = release.CHANGELOG.read_text(encoding="utf-8")
    assert release.section(release.cut(text, "99.0.0", "2026-03-04"), "99.0.0").startswith("- ")


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """One file of every kind."""
    folder = tmp_path / "dist"
    folder.mkdir()
    for kind, ends in release.KINDS.items():
        (folder / (ends if ends.startswith("grus") else f"grus-0.2.0{ends}")).write_text(kind)
    return folder


def test_checksums_and_the_feed_name_every_file(dist: Path) -> None:
    release.files(dist, project.version(), "someone/grus")
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert len(sums) == len(release.KINDS)
    assert every(hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest for name, digest in sums.items())
    feed = json.loads((dist / "latest.json").read_text(encoding="utf-8"))
    assert set(feed["files"]) == set(release.KINDS)
    assert feed["files"]["deb"]["url"].startswith("https://github.com/someone/grus/releases/download/v")
    assert feed["files"]["deb"]["sha256"] == hashlib.sha256(b"deb").hexdigest()
    if shutil.which("sha256sum"):
        assert subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=dist).returncode == 0


def test_every_template_is_filled(dist: Path) -> None:
    made = release.fill(dist, "0.2.0", "someone/grus")
    assert len(made) == len([path for path in release.TEMPLATES.rglob("*") if path.is_file()])
    for path in made:
        text = path.read_text(encoding="utf-8")
        assert "0.2.0" in text
        assert "$version" not in text
        assert "$repository" not in text
        if path.suffix in (".yaml", ".yml") and path.parent.name == "winget":
            assert yaml.safe_load(text)["PackageVersion"] == "0.2.0"
    recipe = yaml.safe_load(
        (dist / "packages" / "conda-forge" / "meta.yaml")
        .read_text(encoding="utf-8")
        .replace("{{", "")
        .replace("}}", "")
    )
    names = {line.split()[0] for line in recipe["requirements"]["run"]}
    assert {"python", "pytorch", "numpy", "pyside6", "fastapi", "llguidance"} <= names
    build = dist / "packages" / "aur" / "PKGBUILD"
    assert subprocess.run(["bash", "-n", str(build)]).returncode == 0
    assert '"$srcdir/usr" "$pkgdir/usr"' in build.read_text(encoding="utf-8")


def test_the_files_for_homebrew_are_ruby_and_leave_no_service_behind(dist: Path) -> None:
    from app.bundled import DESKTOP_ID
    from app.service import LABEL, LOGIN_LABEL

    release.fill(dist, "0.2.0", "someone/grus")
    cask = (dist / "packages" / "homebrew" / "grus-app.rb").read_text(encoding="utf-8")
    removed = re.search(r"uninstall launchctl: \[(.+)\],\n +quit: +\"(.+)\"", cask)
    assert removed is not None
    assert (set(re.findall(r'"(.+?)"', removed[1])), removed[2]) == ({LABEL, LOGIN_LABEL}, DESKTOP_ID)
    assert every(f'"~/Library/LaunchAgents/{label}.plist"' in cask for label in (LABEL, LOGIN_LABEL))
    need_program("ruby")
    for name in ("grus.rb", "grus-app.rb"):
        file = dist / "packages" / "homebrew" / name
        done = subprocess.run(["ruby", "-wc", str(file)], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "Syntax OK\n", "")


def test_makepkg_reads_and_packs_what_is_for_arch_linux(dist: Path) -> None:
    """The digest of the release's archive is checked, and its folders are those that the recipe copies."""
    need_program("makepkg", "bsdtar", "fakeroot", "xz")
    archive = dist / release.KINDS["tar"]
    # makepkg refuses to run as root, and another user cannot enter the folders of pytest
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        place.chmod(0o777)
        (place / "usr" / "bin").mkdir(parents=True)
        (place / "usr" / "bin" / "grus").write_text("#!/bin/sh\n")
        subprocess.run(["tar", "-cJf", str(archive), "-C", str(place), "usr"], check=True)
        release.fill(dist, "0.2.0", "someone/grus")
        for file in (archive, dist / "packages" / "aur" / "PKGBUILD"):  # what is beside the recipe is not fetched
            shutil.copyfile(file, place / file.name)

        def makepkg(*words: str) -> str:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": temporary,
                "PKGEXT": ".pkg.tar.xz",
                "PACKAGER": "A <a@b>",
            }
            nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
            done = subprocess.run(
                ["makepkg", "--nodeps", *words],
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                **nobody,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        about = makepkg("--printsrcinfo")
        assert "\tpkgver = 0.2.0\n" in about
        assert f"\tsha256sums = {hashlib.sha256(archive.read_bytes()).hexdigest()}\n" in about
        makepkg("--ignorearch")
        [package] = place.glob("grus-bin-0.2.0-1-*.pkg.tar.xz")
        listed = subprocess.run(["tar", "-tJf", str(package)], capture_output=True, text=True, check=True).stdout
        assert "usr/bin/grus" in listed.splitlines()


def test_the_dockerfiles_are_clean_for_hadolint(dist: Path) -> None:
    release.fill(dist, "0.2.0", "someone/grus")
    files = sorted((dist / "packages" / "docker").iterdir())
    assert [path.name for path in files] == ["Dockerfile.cpu", "Dockerfile.cuda"]
    done = subprocess.run(
        [need_tool("hadolint"), *map(str, [*files, ROOT / "Dockerfile"])], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_a_template_whose_file_is_missing_is_left_out(dist: Path) -> None:
    next(dist.glob("*.dmg")).unlink()
    assert "grus-app.rb" not in {path.name for path in release.fill(dist, "0.2.0", "someone/grus")}


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_write_nothing_unless_a_job_says_so(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert every(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflows_scripts_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"packaging/[\w./-]+\.(?:py|sh|txt|yml)", text):
        assert (ROOT / name).is_file(), name
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for line in re.findall(r"\bmake ([a-z -]+)", text) for name in line.split()} <= targets


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_actions_of_a_workflow_are_pinned(path: Path) -> None:
    """A tag can be moved onto other code; a commit cannot."""
    used = re.findall(r"uses: (\S+)@(\S+)(?: # (\S+))?", path.read_text(encoding="utf-8"))
    loose = {
        name for name, commit, said in used if not (re.fullmatch(r"[0-9a-f]{40}", commit) and said.startswith("v"))
    }
    assert used
    assert loose <= {"pypa/gh-action-pypi-publish"}  # its makers say to use the branch `release/v1`


def test_every_system_is_tested_with_every_python() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    pythons = {name: jobs[name]["strategy"]["matrix"]["python"] for name in ("linux", "macos", "windows")}
    assert pythons == {name: ["3.11", "3.12", "3.13", "3.14"] for name in pythons}


def test_workflows_follow_their_schema() -> None:
    command = [need_tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def test_workflows_are_clean_for_actionlint() -> None:
    done = subprocess.run([need_tool("actionlint")], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_sbom_lists_what_grus_stands_on(tmp_path: Path) -> None:
    need_tool("cyclonedx-py")
    python = Path(need_tool("cyclonedx-py")).with_name("python")
    command = ["bash", str(ROOT / "packaging" / "bundle" / "sbom.sh"), str(tmp_path)]
    subprocess.run(
        command, check=True, env={"PATH": "/usr/bin:/bin", "PYTHON": str(python)}, timeout=120, capture_output=True
    )
    bom = json.loads((tmp_path / "grus.cdx.json").read_text(encoding="utf-8"))
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "grus")
    assert {"torch", "numpy", "pyside6", "llguidance"} <= {part["name"].lower() for part in bom["components"]}


def test_scripts_are_clean_for_shellcheck() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("needs shellcheck")
    files = [str(path) for path in (ROOT / "packaging" / "bundle").glob("*.sh")]
    done = subprocess.run(["shellcheck", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_packaging_tool_has_its_reason() -> None:
    from tests.test_docs import table_under

    lines = (ROOT / "packaging" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in lines if not line.startswith("#")}
    rows = table_under("docs/dependencies.md", "To package")
    assert {row[0] for row in rows} == names
    assert every(row[2] for row in rows)


@pytest.mark.parametrize(("tag", "kind"), [("v1.2.3", []), ("v1.2.3rc1", ["--prerelease"])])
def test_a_release_has_every_file_and_a_trial_is_nobodys_update(tag: str, kind: list[str], tmp_path: Path) -> None:
    """`gh` refuses a folder; and what updates read is the newest release that is no pre-release."""
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{tmp_path}/said"\n')
    program.chmod(0o755)
    dist = tmp_path / "dist"
    (dist / "packages" / "aur").mkdir(parents=True)
    for name in ("grus 1.whl", "latest.json", "packages/aur/PKGBUILD"):
        (dist / name).write_text("")
    command = ["bash", str(ROOT / "packaging" / "bundle" / "publish.sh"), tag, "notes.md", str(dist)]
    subprocess.run(command, check=True, env={"PATH": f"{program.parent}:/usr/bin:/bin"}, timeout=60)
    said = (tmp_path / "said").read_text().splitlines()
    assert said == ["release", "create", tag, "--verify-tag", "--notes-file", "notes.md", *kind,
                    f"{dist}/grus 1.whl", f"{dist}/latest.json"]  # fmt: skip


@pytest.mark.parametrize(("tag", "newest"), [("v1.2.3", True), ("v1.2.3rc1", False)])
def test_images_are_built_from_the_templates_and_a_trial_is_not_the_newest(
    tag: str, newest: bool, dist: Path, tmp_path: Path
) -> None:
    release.fill(dist, tag[1:], "Someone/Grus")
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >>"{tmp_path}/said"\n[ "$1" != build ] || grep "pip install" >>"{tmp_path}/built"\n'
    )
    program.chmod(0o755)
    script = str(ROOT / "packaging" / "bundle" / "images.sh")
    command = ["bash", script, tag, str(dist / "packages" / "docker"), "Someone/Grus"]
    subprocess.run(command, check=True, env={"PATH": f"{program.parent}:/usr/bin:/bin"}, timeout=60)
    said = (tmp_path / "said").read_text().splitlines()
    image = "ghcr.io/someone/grus"
    expected = []
    for suffix in ("", "-cuda"):
        names = [f"{image}:{tag[1:]}{suffix}", *([f"{image}:latest{suffix}"] if newest else [])]
        expected += [f"build --pull {' '.join(f'--tag={name}' for name in names)} -", *(f"push {n}" for n in names)]
    assert said == expected
    built = (tmp_path / "built").read_text().splitlines()
    assert [f'"grus=={tag[1:]}"' in line for line in built] == [True, True]
    assert ["whl/cpu" in line for line in built] == [True, False]
