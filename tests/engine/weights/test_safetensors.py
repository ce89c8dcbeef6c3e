from __future__ import annotations

import json
import mmap
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from engine.errors import WeightsError
from engine.weights import safetensors
from tests.engine.weights.files import header_of, write, write_raw

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(4, dtype=np.float16)


def values(raw):
    return np.frombuffer(raw.buffer, {"F32": np.float32, "F16": np.float16}[raw.dtype]).reshape(raw.shape)


def test_reads_what_the_reference_library_writes(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"a": A, "b": B, "empty": np.zeros((0, 4), np.float32)}, path, metadata={"format": "pt"})
    tensors = safetensors.read_file(path)
    assert set(tensors) == {"a", "b", "empty"}
    np.testing.assert_array_equal(values(tensors["a"]), A)
    np.testing.assert_array_equal(values(tensors["b"]), B)
    assert tensors["empty"].nbytes == 0
    raw = tensors["a"]
    assert path.read_bytes()[raw.offset : raw.offset + raw.nbytes] == A.tobytes()


def test_buffers_are_read_only_views_of_the_mapping(tmp_path):
    raw = safetensors.read_file(write(tmp_path / "x.safetensors", {"a": A}))["a"]
    assert isinstance(raw.buffer.obj, mmap.mmap)
    assert raw.buffer.readonly
    assert raw.buffer.nbytes == raw.nbytes == A.nbytes


def test_opening_a_huge_file_reads_only_its_header(tmp_path):
    size = 8 << 30
    path = write_raw(
        tmp_path / "x.safetensors", {"big": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}, b""
    )
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + size)  # sparse: takes no disk
    start = time.perf_counter()
    tensors = safetensors.read_file(path)
    assert time.perf_counter() - start < 0.2
    assert tensors["big"].nbytes == size


def test_forgotten_pages_can_be_read_again(tmp_path):
    big = np.arange(100_000, dtype=np.float32)
    tensors = safetensors.read_file(write(tmp_path / "x.safetensors", {"small": A, "big": big}))
    np.testing.assert_array_equal(values(tensors["big"]), big)
    safetensors.forget_pages(tensors.values())
    np.testing.assert_array_equal(values(tensors["big"]), big)
    np.testing.assert_array_equal(values(tensors["small"]), A)


GOOD = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("header", "data", "words"),
    [
        pytest.param({"a": GOOD}, b"1234", ["truncated", "tensor a"], id="truncated data"),
        pytest.param(b"{nope", b"", ["not valid JSON"], id="not JSON"),
        pytest.param(b"[" * 100_000, b"", ["not valid JSON"], id="nested too deep"),
        pytest.param(b"\xff\xfe", b"", ["not valid JSON"], id="not UTF-8"),
        pytest.param(b"[]", b"", ["not a JSON object"], id="a list"),
        pytest.param(
            b'{"a": {"dtype":"U8","shape":[0],"data_offsets":[0,0]}, "a": 1}', b"", ["names a twice"], id="duplicate"
        ),
        pytest.param({"a": 1}, b"", ["tensor a", "not an object"], id="entry"),
        pytest.param({"a": {**GOOD, "dtype": "F31"}}, bytes(8), ["tensor a", "F31"], id="dtype"),
        pytest.param({"a": {**GOOD, "dtype": ["F32"]}}, bytes(8), ["tensor a", "dtype"], id="dtype type"),
        pytest.param({"a": {**GOOD, "shape": [-2]}}, bytes(8), ["tensor a", "[-2]"], id="negative shape"),
        pytest.param({"a": {**GOOD, "shape": [True, 2]}}, bytes(8), ["tensor a", "shape"], id="bool in shape"),
        pytest.param({"a": {**GOOD, "shape": None}}, bytes(8), ["tensor a", "shape"], id="no shape"),
        pytest.param({"a": {**GOOD, "shape": [3]}}, bytes(8), ["tensor a", "8 bytes", "12"], id="size"),
        pytest.param({"a": {**GOOD, "shape": [1 << 70, 1 << 70]}}, bytes(8), ["tensor a"], id="huge shape"),
        pytest.param({"a": {**GOOD, "data_offsets": [8, 0]}}, bytes(8), ["tensor a", "[8, 0]"], id="reversed"),
        pytest.param({"a": {**GOOD, "data_offsets": [0]}}, bytes(8), ["tensor a", "[0]"], id="one offset"),
        pytest.param({"a": {**GOOD, "data_offsets": [-8, 0]}}, bytes(8), ["tensor a"], id="negative offset"),
        pytest.param({"a": {**GOOD, "data_offsets": [0.0, 8.0]}}, bytes(8), ["tensor a"], id="float offsets"),
        pytest.param({"a": GOOD, "b": {**GOOD, "data_offsets": [4, 12]}}, bytes(12), ["a and b overlap"], id="overlap"),
    ],
)
def test_a_corrupt_file_names_itself_and_the_tensor(tmp_path, header, data, words):
    path = write_raw(tmp_path / "x.safetensors", header, data)
    with pytest.raises(WeightsError) as error:
        safetensors.read_file(path)
    for word in [str(path), *words]:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"1234", "truncated"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "not a safetensors file"),
        ((1000).to_bytes(8, "little") + b"{}", "truncated inside its header"),
        (b"GGUF" + bytes(20), "GGUF"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer"),
    ],
)
def test_a_file_that_is_something_else(tmp_path, content, word):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=word):
        safetensors.read_file(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_escapes_as_another_error(tmp_path, data):
    header, body = header_of({"a": A, "b": B})
    text = json.dumps(header).encode()
    whole = bytearray(len(text).to_bytes(8, "little") + text + body)
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.safetensors"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        tensors = safetensors.read_file(path)
    except WeightsError:
        return
    for raw in tensors.values():
        assert raw.buffer.nbytes == raw.nbytes == len(bytes(raw.buffer))


def shard(folder, weight_map, **files):
    for name, tensors in files.items():
        write(folder / f"{name}.safetensors", tensors)
    (folder / safetensors.INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def test_shards_are_joined_by_their_index(tmp_path):
    shard(tmp_path, {"a": "one.safetensors", "b": "two.safetensors"}, one={"a": A}, two={"b": B, "extra": B})
    tensors = safetensors.read_folder(tmp_path)
    np.testing.assert_array_equal(values(tensors["a"]), A)
    np.testing.assert_array_equal(values(tensors["b"]), B)
    assert "extra" in tensors, "what the index forgot is still found, to be reported as unexpected"


def test_an_index_that_names_missing_shards_and_tensors(tmp_path):
    shard(tmp_path, {"a": "one.safetensors", "b": "two.safetensors", "c": "three.safetensors"}, one={"a": A})
    with pytest.raises(WeightsError, match=r"three\.safetensors, two\.safetensors, which are missing"):
        safetensors.read_folder(tmp_path)
    shard(tmp_path, {"a": "one.safetensors", "b": "one.safetensors"}, one={"a": A})
    with pytest.raises(WeightsError, match=r"lack: b \(one\.safetensors\)"):
        safetensors.read_folder(tmp_path)


@pytest.mark.parametrize("index", ["", "[]", "{}", '{"weight_map": {}}', '{"weight_map": 3}'])
def test_a_broken_index(tmp_path, index):
    (tmp_path / safetensors.INDEX).write_text(index)
    with pytest.raises(WeightsError, match=r"index\.json (is not valid JSON|has no weight_map)"):
        safetensors.read_folder(tmp_path)


@pytest.mark.parametrize("name", ["../x.safetensors", "/etc/passwd", "a\\b", "C:x", "..", "", 3])
def test_an_index_cannot_lead_out_of_the_folder(tmp_path, name):
    shard(tmp_path, {"a": name})
    with pytest.raises(WeightsError, match="not a file name"):
        safetensors.read_folder(tmp_path)


def test_without_an_index_shard_names_say_what_is_missing(tmp_path):
    write(tmp_path / "model-00001-of-00003.safetensors", {"a": A})
    write(tmp_path / "model-00003-of-00003.safetensors", {"b": B})
    with pytest.raises(WeightsError, match=r"lacks model-00002-of-00003\.safetensors"):
        safetensors.read_folder(tmp_path)
    write(tmp_path / "model-00002-of-00003.safetensors", {"a": A})
    with pytest.raises(WeightsError, match="Tensor a is in both"):
        safetensors.read_folder(tmp_path)
    write(tmp_path / "model-00002-of-00003.safetensors", {"c": A})
    assert set(safetensors.read_folder(tmp_path)) == {"a", "b", "c"}


def test_a_folder_of_other_formats_says_so(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(WeightsError, match=r"no safetensors files\. It has pytorch_model\.bin"):
        safetensors.read_folder(tmp_path)
