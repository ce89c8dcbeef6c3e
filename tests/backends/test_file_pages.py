"""A prefix from disk becomes the KV cache's memory without a copy, and the file stays as it is."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from backends.base import KVSpec, Slot
from backends.mapped_file import MappedFile, mapped_file_of
from backends.torch.file_pages import map_over
from backends.torch.kernels import arena
from backends.torch.kv_cache import TorchKVCache
from engine.prefix_offload import PrefixOffload, StoredPrefix
from engine.sequence import HostState
from tests.asserting import every

HEADS, DIM, LENGTH = 2, 64, 700
CPU = torch.device("cpu")


class Now:
    def submit(self, fn, *args):
        fn(*args)


def cache(bits: int = 32) -> TorchKVCache:
    return TorchKVCache([KVSpec(HEADS, DIM)] * 2, 1 << 30, torch.float32, CPU, bits)


def written(folder: Path, bits: int, kept: int = LENGTH) -> tuple[HostState, list[np.ndarray]]:
    """A prefix as it is found on disk for its first `kept` tokens, and its rows."""
    kv = cache(bits)
    slot = kv.open(LENGTH)
    assert slot is not None
    for layer, seed in ((0, 1), (1, 3)):
        for slab, more in zip(kv.slabs[slot.capacity][layer], (0, 1)):
            random = torch.Generator().manual_seed(seed + more)
            slab.write_run(slot.place.row, 0, torch.randn(LENGTH, HEADS, DIM, generator=random))
    slot.length = LENGTH
    rows = kv.export_snapshot(kv.snapshot(slot))
    tokens = list(range(LENGTH))
    PrefixOffload(folder, 1 << 30).store('["f", null]', tokens, lambda: StoredPrefix(rows), Now())  # type: ignore[arg-type]
    found = PrefixOffload(folder, 1 << 30).finder("f", lambda length, shorter: True)([*tokens[:kept], 5000], None)
    assert found is not None
    return found, rows


def restored(found: HostState, bits: int, room: int = LENGTH) -> tuple[TorchKVCache, Slot]:
    kv = cache(bits)
    slot = kv.open(room)
    assert slot is not None
    kv.restore(slot, kv.import_snapshot(found.length, found.arrays))
    return kv, slot


def rows_of(kv: TorchKVCache, slot: Slot) -> list[np.ndarray]:
    return kv.export_snapshot(kv.snapshot(slot))


def mapped(file: Path) -> list[range]:
    """Addresses of this process at which the file lies, and writing copies a page."""
    lines = [line for line in Path("/proc/self/maps").read_text().splitlines() if str(file) in line]
    bounds = [line.split()[0].split("-") for line in lines if " rw-p " in line]
    return [range(int(start, 16), int(end, 16)) for start, end in bounds]


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("room", [LENGTH, 3 * LENGTH])
def test_the_files_pages_are_the_caches_memory(tmp_path: Path, bits: int, room: int) -> None:
    found, rows = written(tmp_path, bits)
    kv, slot = restored(found, bits, room)
    assert every(np.array_equal(a, b) for a, b in zip(rows_of(kv, slot), rows, strict=True))
    if sys.platform == "linux":
        (file,) = tmp_path.glob("*.prefix")
        planes = [
            pair[0].planes[0][slot.place.row, head] for pair in kv.slabs[slot.capacity].values() for head in (0, 1)
        ]
        found_at = mapped(file)
        assert every(any(plane.data_ptr() in one for one in found_at) for plane in planes)


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_what_is_written_stays_out_of_the_file(tmp_path: Path, bits: int) -> None:
    found, rows = written(tmp_path, bits)
    (file,) = tmp_path.glob("*.prefix")
    before = file.read_bytes()
    kv, slot = restored(found, bits)
    other, same = restored(found, bits)
    for pair in kv.slabs[slot.capacity].values():
        for slab in pair:
            slab.write_run(slot.place.row, 0, torch.ones(LENGTH + 40, HEADS, DIM))
    slot.length += 40
    assert every((part == 1).all() for part in rows_of(kv, slot)) or bits < 16
    assert file.read_bytes() == before
    assert every(np.array_equal(a, b) for a, b in zip(rows_of(other, same), rows, strict=True))


def test_a_deleted_file_serves_whoever_has_it(tmp_path: Path) -> None:
    found, rows = written(tmp_path, 16)
    kv, slot = restored(found, 16)
    del found
    (file,) = tmp_path.glob("*.prefix")
    file.unlink()
    assert every(np.array_equal(a, b) for a, b in zip(rows_of(kv, slot), rows, strict=True))
    kv.close(slot)
    assert not mapped(file)


def test_another_sequence_begins_in_rows_that_were_a_files(tmp_path: Path) -> None:
    found, _ = written(tmp_path, 32)
    kv, slot = restored(found, 32)
    neighbour = kv.open(LENGTH)
    assert neighbour is not None
    kv.restore(neighbour, kv.import_snapshot(found.length, found.arrays))
    kv.close(slot)  # the neighbour moves into its rows
    fresh = kv.open(LENGTH)
    assert fresh is not None
    x = torch.randn(90, HEADS, DIM)
    for slab in kv.slabs[fresh.capacity][0]:
        slab.write_run(fresh.place.row, 0, x)
        assert torch.equal(slab.read(fresh.place.row, fresh.place.row + 1, 0, 90)[0], x.transpose(0, 1))
    assert every(np.array_equal(a, b) for a, b in zip(rows_of(kv, neighbour), found.arrays, strict=True))


def test_only_whole_pages_are_taken(tmp_path: Path) -> None:
    """A source that begins within a page, or a target that does, is copied by the caller."""
    path = tmp_path / "rows"
    path.write_bytes(np.arange(1 << 16, dtype=np.float32).tobytes())
    file = MappedFile(path.open("rb"))
    whole = np.frombuffer(file, np.float32)
    assert mapped_file_of(whole[5:].reshape(-1, 1)) is file
    assert mapped_file_of(np.zeros(3)) is None
    target = arena.zeros(HEADS * 1024 * DIM * 4).view(torch.float32).view(HEADS, 1024, DIM)
    source = torch.from_numpy(whole[: HEADS * 256 * DIM].reshape(HEADS, 256, DIM))
    within = torch.from_numpy(whole[16 : 16 + HEADS * 256 * DIM].reshape(HEADS, 256, DIM))
    assert not map_over(target, within, file)
    assert not map_over(target[:, :, :32], source[:, :, :32], file)
    assert not map_over(target, source.clone(), file)
    assert not target.any()
    assert map_over(target, source, file)
    assert torch.equal(target[:, :256], source)
    assert not target[:, 256:].any()
