"""ZIP files made to do harm, and broken ones: each ends in a ZipRefused, in little memory."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from engine.zip_file import BoundedZip, DamagedZip, OversizedZip, ProtectedZip, ZipRefused


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def opened(source: bytes | Path, parts: int = 100, whole: int = 1 << 20) -> BoundedZip:
    return BoundedZip(source, parts=parts, whole=whole)


def test_parts_come_whole_and_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(packed({"folder/": b"", "folder/a": b"crane", "b": bytes(3 << 20)}))
    with opened(tmp_path / "a.zip", whole=8 << 20) as archive:
        assert archive.names == ("folder/a", "b")
        assert archive.read("folder/a", 5) == b"crane"
        assert [len(piece) for piece in archive.pieces("b", 8 << 20)] == [1 << 20] * 3
        with pytest.raises(KeyError):
            archive.read("missing", 5)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit_are_not_opened(method: int) -> None:
    bomb = packed({"a": bytes(32 << 20)}, method)
    tracemalloc.start()
    with opened(bomb, whole=1 << 30) as archive, pytest.raises(DamagedZip, match="compression"):
        archive.read("a", 1 << 30)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_what_comes_out_is_counted_over_all_parts() -> None:
    with opened(packed({"a": bytes(700_000), "b": bytes(700_000)})) as archive:
        assert len(archive.read("a", 700_000)) == 700_000
        with pytest.raises(OversizedZip):
            archive.read("b", 700_000)
    with opened(packed({"a": bytes(1000)})) as archive, pytest.raises(OversizedZip):
        archive.read("a", 999)
    dense = BoundedZip(packed({"a": bytes(1 << 20)}), parts=1, whole=1 << 30, unsuspected=1 << 16)
    with dense, pytest.raises(OversizedZip):
        dense.read("a", 1 << 30)


def test_a_directory_is_bounded_before_it_is_parsed() -> None:
    many = packed({f"{at}": b"" for at in range(4000)})
    tracemalloc.start()
    with pytest.raises(OversizedZip):
        opened(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    with pytest.raises(OversizedZip):
        opened(many, parts=3999)
    assert len(opened(many, parts=4000).names) == 4000


def test_encrypted_parts_are_said_to_be() -> None:
    data = bytearray(packed({"a": b"crane"}))
    data[6] |= 1
    at = data.index(b"PK\1\2") + 8
    data[at] |= 1
    with opened(bytes(data)) as archive:
        assert archive.encrypted
        with pytest.raises(ProtectedZip):
            archive.read("a", 10)


def test_each_broken_byte_ends_in_a_refusal_or_in_the_content(tmp_path: Path) -> None:
    """A stream that zlib cannot read has an error of its own; lengths and places in the directory lead anywhere."""
    content = {"a": b"the crane stands in the marsh " * 9, "b": b"x" * 50}
    whole, refused = packed(content), 0
    for at in range(len(whole)):
        for change in (0xFF, 0x01, 0x80):
            data = bytearray(whole)
            data[at] ^= change
            try:
                with opened(bytes(data)) as archive:
                    for name in archive.names:
                        archive.read(name, 1 << 16)
            except ZipRefused:
                refused += 1
    assert refused > len(whole)
    for end in range(len(whole) - 1):
        with pytest.raises(ZipRefused):
            opened(whole[:end])
    with pytest.raises(DamagedZip):
        opened(tmp_path / "missing.zip")


def test_places_beyond_every_file_are_damage() -> None:
    data = bytearray(packed({"a": b"crane"}))
    at = data.index(b"PK\1\2")
    data[at + 42 : at + 46] = struct.pack("<I", 0xFFFFFFF0)
    with opened(bytes(data)) as archive, pytest.raises(DamagedZip):
        archive.read("a", 10)
