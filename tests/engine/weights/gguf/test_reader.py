"""Opening GGUF files: what the reference writes and reads, shards, and every way in which a header can lie."""

from __future__ import annotations

import struct
import time
import tracemalloc
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.errors import WeightsError
from engine.weights.gguf.reader import read
from tests.engine.weights.gguf.files import entry, header, key, plan, save, text, zeros

U32, STRING, ARRAY = 4, 8, 9


def test_reads_what_the_package_writes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("a.u8", 200)
    writer.add_int8("a.i8", -3)
    writer.add_uint16("a.u16", 40000)
    writer.add_int16("a.i16", -300)
    writer.add_int32("a.i32", -70000)
    writer.add_uint64("a.u64", 2**63 + 1)
    writer.add_int64("a.i64", -(2**62))
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 0.1)
    writer.add_bool("a.yes", True)
    writer.add_string("a.text", "grüß dich")
    writer.add_array("a.words", ["x", "", "数"])
    writer.add_array("a.floats", [1.5, -2.0])
    data = np.arange(96, dtype=np.float32).reshape(2, 48)
    writer.add_tensor("one", data)
    writer.add_tensor("two", data.astype(np.float16)[:, :32].copy())
    writer.add_tensor("three", gguf.quantize(data[:, :32], gguf.GGMLQuantizationType.Q8_0), raw_dtype=8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    file = read(path)
    plain = {k: v for k, v in file.metadata.items() if k.startswith("a.") and k not in ("a.words", "a.floats")}
    assert plain == {
        "a.u8": 200,
        "a.i8": -3,
        "a.u16": 40000,
        "a.i16": -300,
        "a.i32": -70000,
        "a.u64": 2**63 + 1,
        "a.i64": -(2**62),
        "a.f32": 0.5,
        "a.f64": 0.1,
        "a.yes": True,
        "a.text": "grüß dich",
    }
    assert file.metadata["a.words"].strings() == ["x", "", "数"]
    assert file.metadata["a.floats"].numbers().tolist() == [1.5, -2.0]
    reference = {t.name: t for t in gguf.GGUFReader(path).tensors}
    assert list(file.tensors) == list(reference)
    for name, raw in file.tensors.items():
        want = reference[name]
        assert (raw.shape, raw.dtype) == (tuple(int(n) for n in want.shape[::-1]), want.tensor_type.name)
        assert (raw.offset, bytes(raw.buffer)) == (want.data_offset, want.data.tobytes())


def test_the_package_reads_what_we_write(tmp_path: Path) -> None:
    metadata = {
        "general.architecture": "llama",
        "n": 7,
        "big": 1 << 40,
        "minus": -1,
        "x": 0.25,
        "yes": True,
        "words": ["a", "ü"],
        "types": [1, 2, 3],
        "scores": [0.5, -1.0],
        "none": [],
    }
    values = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    path = save(tmp_path / "m.gguf", metadata, [plan("w", "F32", (3, 64), values), zeros("q", "Q4_0", (2, 3, 32))])
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
    assert fields == metadata
    assert np.array_equal(reader.tensors[0].data, values)
    assert reader.tensors[1].shape.tolist() == [32, 3, 2]
    assert not list(tmp_path.glob("*.part"))
    assert read(path).nbytes == 3 * 64 * 4 + 6 * 18


def write_shards(folder: Path, count: int = 3, **changes: object) -> list[Path]:
    paths = []
    for i in range(count):
        metadata = {"split.no": i, "split.count": count, "split.tensors.count": count, **(changes if i == 0 else {})}
        name = f"m-{i + 1:05}-of-{count:05}.gguf"
        paths.append(save(folder / name, metadata | {"first": i}, [zeros(f"t{i}", "F32", (4,))]))
    return paths


class TestShards:
    def test_any_of_them_opens_all(self, tmp_path: Path) -> None:
        paths = write_shards(tmp_path)
        for path in paths:
            file = read(path)
            assert (file.path, file.metadata["first"]) == (paths[0], 0)
            assert sorted(file.tensors) == ["t0", "t1", "t2"]

    def test_a_missing_one_is_named(self, tmp_path: Path) -> None:
        paths = write_shards(tmp_path)
        paths[1].unlink()
        with pytest.raises(WeightsError, match="lacks m-00002-of-00003"):
            read(paths[0])

    def test_a_renamed_one_is_noticed(self, tmp_path: Path) -> None:
        paths = write_shards(tmp_path)
        with pytest.raises(WeightsError, match="one of 3 files"):
            read(paths[0].rename(tmp_path / "m.gguf"))
        write_shards(tmp_path)
        paths[2].write_bytes(paths[1].read_bytes())
        with pytest.raises(WeightsError, match="is not shard 3"):
            read(paths[0])

    def test_tensors_are_counted(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match="3 tensors, but should hold 4"):
            read(write_shards(tmp_path, **{"split.tensors.count": 4})[0])


def ternary_file(path: Path, block: bytes, rows: int, columns: int) -> str:
    data = block * (rows * columns // 128) if len(block) == 34 else block * (rows * columns // 64)
    raw = header([], [entry("t", (columns, rows), 42, 0), entry("u", (4,), 0, -(-len(data) // 32) * 32)])
    path.write_bytes(raw + data + bytes(-len(data) % 32) + bytes(16))
    return read(path).tensors["t"].dtype


def test_type_42_is_told_apart_by_size_and_by_the_order_of_bytes(tmp_path: Path) -> None:
    scale, codes = struct.pack("<e", 0.03), bytes([0b10010010] * 32)
    assert ternary_file(tmp_path / "a", scale + codes[:16], 40, 256) == "Q2_0"
    assert ternary_file(tmp_path / "b", scale + codes, 40, 256) == "PQ2_0"
    assert ternary_file(tmp_path / "c", codes + scale, 40, 256) == "TQ2_0_G128"
    assert ternary_file(tmp_path / "d", scale + codes[:16], 3, 64) == "Q2_0"


def huge(n: int) -> bytes:
    return struct.pack("<Q", n)


F32_64 = bytes(256)
BROKEN = {
    "empty": (b"", "is empty"),
    "other magic": (b"GGML" + bytes(40), "is not a GGUF file"),
    "pointer": (b"version https://git-lfs", "git-lfs pointer"),
    "cut in the magic": (b"GGUF\x03", "truncated"),
    "version 1": (header([], [], version=1), "version 1"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
    "many tensors": (header([], [], counts=(2**64 - 1, 0)), "18,446,744,073,709,551,615 tensors"),
    "more tensors than bytes": (header([], [], counts=(5000, 0)), "truncated"),
    "many keys": (header([], [], counts=(0, 2**63)), "keys"),
    "more keys than bytes": (header([], [], counts=(0, 9000)), "truncated"),
    "long key": (header([huge(2**62) + bytes(40)], []), "truncated"),
    "key not text": (header([key("", U32, bytes(4)).replace(huge(0), huge(1) + b"\xff", 1)], []), "UTF-8"),
    "key twice": (header([key("a", U32, bytes(4))] * 2, []), "key a twice"),
    "unknown type": (header([key("a", 99, bytes(40))], []), "unknown type 99"),
    "long string": (header([key("a", STRING, huge(2**64 - 1) + bytes(20))], []), "truncated"),
    "huge array": (header([key("a", ARRAY, struct.pack("<IQ", U32, 2**62))], []), "truncated"),
    "huge array of strings": (header([key("a", ARRAY, struct.pack("<IQ", STRING, 2**61))], []), "truncated"),
    "array of unknown": (header([key("a", ARRAY, struct.pack("<IQ", 77, 1))], []), "unknown type 77"),
    "string in array": (
        header([key("a", ARRAY, struct.pack("<IQ", STRING, 2) + text("x") + huge(2**63))], []),
        "truncated",
    ),
    "deep arrays": (header([key("a", ARRAY, struct.pack("<IQ", ARRAY, 1) * 9)], []), "more than 4 deep"),
    "alignment": (header([key("general.alignment", U32, struct.pack("<I", 24))], []), "power of two"),
    "alignment of text": (header([key("general.alignment", STRING, text("32"))], []), "power of two"),
    "alignment 0": (header([key("general.alignment", U32, bytes(4))], []), "power of two"),
    "no dimensions": (header([], [entry("t", (), 0, 0) + bytes(8)]), "0 dimensions"),
    "many dimensions": (header([], [text("t") + struct.pack("<I", 2**31) + bytes(60)]), "dimensions"),
    "empty shape": (header([], [entry("t", (4, 0), 0, 0)]), "impossible shape"),
    "huge shape": (header([], [entry("t", (2**63, 2**63), 0, 0)]) + F32_64, "tensor t ends beyond"),
    "huge offset": (header([], [entry("t", (4,), 0, 2**63)]) + F32_64, "tensor t ends beyond"),
    "beyond the end": (header([], [entry("t", (65,), 0, 0)]) + F32_64, "tensor t ends beyond"),
    "crooked offset": (header([], [entry("t", (4,), 0, 8)]) + F32_64, "not aligned"),
    "overlap": (header([], [entry("t", (32,), 0, 0), entry("u", (4,), 0, 32)]) + F32_64, "t and u overlap"),
    "same place": (header([], [entry("t", (4,), 0, 0), entry("u", (4,), 0, 0)]) + F32_64, "t and u overlap"),
    "name twice": (header([], [entry("t", (4,), 0, 0), entry("t", (4,), 0, 32)]) + F32_64, "named t"),
    "part of a block": (header([], [entry("t", (40,), 8, 0)]) + F32_64, "do not divide"),
    "other type": (header([], [entry("t.w", (256,), 15, 0)]) + F32_64, "tensor t.w is stored as Q8_K"),
    "unheard type": (header([], [entry("t.w", (256,), 2**32 - 1, 0)]) + F32_64, "type 4294967295"),
    "no data": (header([], [entry("t", (4,), 0, 0)])[:-8], "truncated"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_header_is_a_typed_error_and_costs_nothing(tmp_path: Path, case: str) -> None:
    raw, message = BROKEN[case]
    path = tmp_path / "m.gguf"
    path.write_bytes(raw)
    tracemalloc.start()
    began = time.monotonic()
    try:
        with pytest.raises(WeightsError, match=message) as caught:
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "m.gguf" in str(caught.value)
    assert peak < 1_000_000
    assert time.monotonic() - began < 1


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="does not exist"):
        read(tmp_path / "none.gguf")


def test_asking_an_array_for_what_it_is_not(tmp_path: Path) -> None:
    file = read(save(tmp_path / "m.gguf", {"words": ["a"], "numbers": [1]}, []))
    with pytest.raises(WeightsError, match="words must be an array of numbers"):
        file.metadata["words"].numbers()
    with pytest.raises(WeightsError, match="numbers must be an array of strings"):
        file.metadata["numbers"].strings()


def test_a_large_vocabulary_opens_at_once(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(250_000)]
    path = save(tmp_path / "m.gguf", {"tokenizer.ggml.tokens": words, "tokenizer.ggml.merges": words}, [])
    began = time.process_time()
    file = read(path)
    assert time.process_time() - began < 0.5
    assert file.metadata["tokenizer.ggml.tokens"].strings() == words
