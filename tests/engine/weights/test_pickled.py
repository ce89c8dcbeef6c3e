"""torch's own files by strangers: what they unpack to, and what their pickle makes Python allocate, is bounded."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from engine.errors import WeightsError
from engine.weights.pickled import read_pickled

ROOM = 2 << 30  # bytes of addresses that the child may have
READ = "import sys; from pathlib import Path; from engine.weights.pickled import read_pickled; read_pickled(Path(sys.argv[1]))"


def bomb(file: Path, head: bytes, filler: int) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a/data.pkl", "w") as out:
        out.write(head)
        for _ in range(filler >> 20):
            out.write(b"N0" * (1 << 19))
    return file


def test_a_file_of_torch_is_read(tmp_path: Path) -> None:
    torch.save({"weight": torch.arange(6.0).reshape(2, 3)}, tmp_path / "pytorch_model.bin")
    found = read_pickled(tmp_path / "pytorch_model.bin")["weight"]
    assert (found.dtype, found.shape) == ("F32", (2, 3))
    assert bytes(found.buffer) == torch.arange(6.0).numpy().tobytes()


def test_tensors_that_are_stored_transposed_or_left_out(tmp_path: Path) -> None:
    numbers = torch.arange(24.0).reshape(2, 3, 4)
    torch.save({"a": {"turned": numbers.transpose(0, 2), "none": None}}, tmp_path / "conds.pt")
    found = read_pickled(tmp_path / "conds.pt")
    assert list(found) == ["a.turned"]
    raw = found["a.turned"]
    assert (raw.shape, raw.nbytes) == ((4, 3, 2), 96)
    assert bytes(raw.buffer) == numbers.transpose(0, 2).contiguous().numpy().tobytes()
    torch.save({"wide": torch.zeros(1).expand(1 << 30, 1 << 20)}, tmp_path / "wide.pt")
    with pytest.raises(WeightsError, match="repeats"):
        read_pickled(tmp_path / "wide.pt")


@pytest.mark.parametrize(
    ("head", "filler"),
    [
        (b"\x80\x02", 300 << 20),  # three hundred thousand bytes that unpack to three hundred million
        (b"\x80\x02Nr" + (1 << 31).to_bytes(4, "little") + b".", 0),  # a memo with two thousand million places
    ],
    ids=["packed", "memo"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a process's memory is bounded by what POSIX has for it")
def test_a_bomb_takes_no_more_memory_than_weights_need(tmp_path: Path, head: bytes, filler: int) -> None:
    import resource  # POSIX alone has it

    file = bomb(tmp_path / "pytorch_model.bin", head, filler)
    bounded = subprocess.run(
        [sys.executable, "-c", READ, str(file)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
    )
    assert "WeightsError" in bounded.stderr
    assert "MemoryError" not in bounded.stderr
    with pytest.raises(WeightsError, match="list of tensors"):
        read_pickled(file)


def test_a_pickle_that_is_none_is_refused(tmp_path: Path) -> None:
    for number, data in enumerate((b"", b"\x80\x02", pickle.dumps([1]), b"\xff")):
        with zipfile.ZipFile(tmp_path / f"{number}.bin", "w") as archive:
            archive.writestr("a/data.pkl", data)
        with pytest.raises(WeightsError):
            read_pickled(tmp_path / f"{number}.bin")
