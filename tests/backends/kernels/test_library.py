"""Finding, building and choosing the kernels, on machines that have them and on those that do not."""

from __future__ import annotations

import ctypes
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backends.base import BackendMissing
from backends.torch.kernels import build, library

load = library._load.__wrapped__  # without its memory


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with an empty cache, no packaged library and no compiler."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("GRUS_KERNELS", raising=False)
    monkeypatch.setattr(library, "packaged", lambda: None)
    return tmp_path


def fake_compiler(folder: Path, body: str) -> Path:
    """Notes each call in a file beside it, then does what `body` says."""
    tool = folder / "fake-c++"
    tool.write_text(f'#!/bin/sh\necho x >> "{folder}/calls"\n{body}\n')
    tool.chmod(0o755)
    return tool


def test_the_kernels_run_here() -> None:
    assert library.available()
    assert library.tier() in library.TIERS


def test_structs_are_as_large_on_both_sides() -> None:
    """One that had gained a field in C++ alone was read beyond its end."""
    sizes = [library.library().grus_struct_bytes(i) for i in range(len(library.STRUCTS) + 1)]
    assert sizes == [*map(ctypes.sizeof, library.STRUCTS), 0]


@pytest.mark.parametrize("wanted", ["scalar", "SCALAR "])
def test_a_tier_can_be_forced(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    monkeypatch.setenv("GRUS_KERNELS", wanted)
    try:
        found, _ = load()
        assert found is not None
        assert found.grus_tier() == b"scalar"
    finally:
        library.library().grus_use_tier(-1)


def test_off_means_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRUS_KERNELS", "off")
    assert load() == (None, "turned off by GRUS_KERNELS")


def test_a_wrong_tier_is_told_with_the_right_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRUS_KERNELS", "avx3")
    with pytest.raises(BackendMissing, match=r"`avx3`.*scalar, avx2.*off"):
        load()


def test_a_tier_of_another_cpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = next(t for i, t in enumerate(library.TIERS) if not library.library().grus_use_tier(i))
    library.library().grus_use_tier(-1)
    monkeypatch.setenv("GRUS_KERNELS", other)
    with pytest.raises(BackendMissing, match="this machine does not have"):
        load()


def test_without_a_compiler_there_is_a_reason_and_no_error(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, why = load()
    assert found is None
    assert "no C++ compiler" in why
    monkeypatch.setenv("GRUS_KERNELS", "avx2")
    with pytest.raises(BackendMissing, match="no C\\+\\+ compiler"):
        load()


def test_a_compiler_that_fails_is_quoted(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(fake_compiler(bare, "echo 'x.cpp: error: no such flag' >&2; exit 1")))
    found, why = load()
    assert found is None
    assert "no such flag" in why
    assert not list((bare / "cache").rglob("*.so"))


def test_a_folder_that_cannot_be_written_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "cache").write_text("in the way")
    monkeypatch.setenv("CXX", str(fake_compiler(bare, "exit 0")))
    _, why = load()
    assert "cannot be written" in why


def test_it_is_compiled_once_however_many_ask(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_output = 'while [ "$1" != -o ]; do shift; done; echo made > "$2"'
    monkeypatch.setenv("CXX", str(fake_compiler(bare, write_output)))
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: build.cached(), range(4)))
    assert [p.read_text() for p in paths] == ["made\n"]
    assert len((bare / "calls").read_text().split()) == len(build.sources()) + 1
    assert sorted(p.name for p in paths.pop().parent.iterdir()) == ["libgrus_kernels.so", "lock"]


def test_a_library_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    built = library.library()._name
    assert library._fresh(built) is not None
    monkeypatch.setattr(build, "digest", lambda: "other")
    assert library._fresh(built) is None


def test_a_library_that_does_not_load_is_not_used(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF")
    assert library._fresh(str(broken)) is None


def test_the_digest_follows_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = build.digest()
    copy = shutil.copytree(build.FOLDER, tmp_path / "src")
    monkeypatch.setattr(build, "FOLDER", copy)
    assert build.digest() == before
    (copy / "matmul" / "tile.inl").write_text("// changed")
    assert build.digest() != before


def test_object_files_have_names_of_their_own() -> None:
    """Files of one name may lie in two folders."""
    names = [build.object_name(source) for source in build.sources()]
    assert len(set(names)) == len(names) > 25
