"""Matrices of other tools' quantizations: bit for bit what the tool itself makes of them, or what its rule says weight by weight."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import torch

from backends.base import Affine, Blocks, Dense, Raw, Weight
from backends.mlx.linear import make_linear as mlx_linear
from backends.pick import pick
from backends.torch.kernels.linear import linear as cpu_linear
from backends.torch.kernels.linear import takes
from engine.weights import affine
from engine.weights.fit import MLX_MODES, as_dense
from engine.weights.gguf.blocks import dequantize
from engine.weights.input_order import ordered_linear
from engine.weights.packed_tensors import FORMATS, PackedTensors, tensors_of
from engine.weights.quantization import Method
from tests.needs import need_kernels

FIXTURES = np.load(Path(__file__).parents[2] / "data" / "compressed_tensors.npz")
CASES = sorted({key.split("/")[0] for key in FIXTURES})
TORCH = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32}


def raw(name: str, data: np.ndarray, dtype: str, shape: tuple[int, ...]) -> Raw:
    return Raw(name, "here", 0, data.nbytes, dtype, shape, memoryview(data.tobytes()))


def of_array(name: str, values: np.ndarray) -> Raw:
    dtype = {"int32": "I32", "uint32": "U32", "float16": "F16", "float32": "F32", "uint8": "U8", "int8": "I8"}
    return raw(name, values, dtype[values.dtype.name], values.shape)


def case_of(case: str) -> tuple[PackedTensors, torch.Tensor]:
    """The tensors of a fixture under the stem `m`, and the tool's own floats."""
    tensors, want = {}, torch.empty(0)
    for key in FIXTURES.files:
        of, name, dtype, size = key.split("/")
        if of != case:
            continue
        shape = tuple(int(n) for n in size.split("x") if n)
        if name == "want":
            want = torch.from_numpy(FIXTURES[key].copy()).view(TORCH[dtype]).view(shape)
        else:
            tensors[f"m.{name}"] = raw(name, FIXTURES[key], dtype, shape)
    found = tensors_of(
        "here", tensors, None, Method(case, (16, 32) if case == "fp8-squares" else None, awq=case == "awq")
    )
    assert isinstance(found, PackedTensors)
    return found, want


def weight_of(source: PackedTensors, shape: tuple[int, ...]) -> Weight:
    found = source.matrix("m", shape)
    assert not found.problems
    assert found.weight is not None
    return found.weight


def floats_of(weight: Weight) -> np.ndarray:
    if isinstance(weight, Affine):
        return affine.dequantize(weight)
    if isinstance(weight, Blocks):
        return dequantize(weight)
    return dequantize(weight.data).reshape(weight.shape)


def bits(values: torch.Tensor) -> np.ndarray:
    return values.contiguous().view(torch.int32 if values.dtype == torch.float32 else torch.int16).numpy()


def test_every_format_has_a_fixture_or_a_rule() -> None:
    kinds = {case_of(case)[0].kinds["m"] for case in CASES}
    assert kinds | {"gptq", "ternary"} == set(FORMATS)


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_tool(case: str) -> None:
    source, want = case_of(case)
    weight = weight_of(source, tuple(want.shape))
    assert weight.shape == tuple(want.shape) == source.logical("m")
    assert not isinstance(weight, Dense)  # backends multiply it as it lies
    got = torch.from_numpy(floats_of(weight)).to(want.dtype)  # the tool computes in its scale's type
    if case == "int4-channel":  # whose scales are f32: two products are rounded there, not one
        assert torch.allclose(got, want, rtol=1e-5, atol=1e-6 * float(want.abs().max()))
    else:
        assert np.array_equal(bits(got + 0), bits(want + 0))  # four-bit floats of GGUF's have one zero


@pytest.mark.parametrize("case", CASES)
def test_the_cpu_kernels_hold_the_same_numbers(case: str) -> None:
    need_kernels()
    source, want = case_of(case)
    weight = weight_of(source, tuple(want.shape))
    assert takes([weight])
    rows = cpu_linear([weight], [None], torch.float32).rows(torch.arange(want.shape[0])).numpy()
    # what a divisor's inverse loses is less than a unit of f32's last place
    room = 2e-7 * np.abs(rows) if isinstance(weight, Blocks) and weight.divide else 0
    assert (np.abs(rows - floats_of(weight)) <= room).all()


@pytest.mark.parametrize("case", CASES)
def test_mlx_holds_the_same_numbers(case: str) -> None:
    source, want = case_of(case)
    weight = weight_of(source, tuple(want.shape))
    native = not isinstance(weight, Blocks) or weight.type in MLX_MODES
    floats = floats_of(weight)
    linear = mlx_linear([weight if native else as_dense(weight)], [None], mx.float32)
    rows = np.array(linear.rows(mx.arange(want.shape[0])))
    assert np.allclose(rows, floats, rtol=2e-7, atol=0)
    x = np.random.default_rng(0).standard_normal((3, want.shape[1])).astype(np.float32)
    room = np.abs(x) @ np.abs(floats.T) * 1e-5
    assert (np.abs(np.array(linear(mx.array(x))) - x @ floats.T) <= room).all()


def gptq(bits: int, columns: int, rows: int, group: int, order: np.ndarray | None = None, seed: int = 0):
    """A matrix packed one weight at a time, and its values by the rule."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 1 << bits, (columns, rows))
    zeros = rng.integers(1, 1 << bits, (columns // group, rows))
    scales = rng.uniform(0.001, 0.01, (columns // group, rows)).astype(np.float16)
    at = np.arange(columns) // group if order is None else order
    qweight = np.zeros((columns * bits // 32, rows), np.uint32)
    qzeros = np.zeros((columns // group, rows * bits // 32), np.uint32)
    each = 32 // bits
    for i in range(columns):
        qweight[i // each] |= (codes[i] << i % each * bits).astype(np.uint32)
    for j in range(rows):
        qzeros[:, j // each] |= ((zeros[:, j] - 1) << j % each * bits).astype(np.uint32)
    values = (codes - zeros[at]).astype(np.float32) * scales[at].astype(np.float32)
    parts = {
        "qweight": qweight.view(np.int32),
        "qzeros": qzeros.view(np.int32),
        "scales": scales,
        "g_idx": at.astype(np.int32),
    }
    return {f"m.{name}": of_array(name, value) for name, value in parts.items()}, values.T


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_gptq_by_its_rule(bits: int, group: int) -> None:
    tensors, want = gptq(bits, 128, 48, group)
    source = PackedTensors("here", tensors, Method("GPTQ"))
    weight = weight_of(source, want.shape)
    assert isinstance(weight, Affine)
    assert source.logical("m") == want.shape
    assert source.stored_as == f"{bits} bit (GPTQ)"
    assert np.array_equal(floats_of(weight), want)
    assert not source.as_floats()
    need_kernels()
    rows = cpu_linear([weight], [None], torch.float32).rows(torch.arange(48)).numpy()
    assert np.array_equal(rows, want)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_gptq_whose_inputs_are_in_any_order(bits: int) -> None:
    """Floats of its own type, or its own bits in the order of the groups."""
    order = np.random.default_rng(3).permutation(np.arange(128) // 32)
    tensors, want = gptq(bits, 128, 48, 32, order)
    source = PackedTensors("here", tensors, Method("GPTQ"))
    weight = weight_of(source, want.shape)
    assert isinstance(weight, Dense)
    assert weight.data.dtype == "F16"
    assert np.array_equal(floats_of(weight), want.astype(np.float16).astype(np.float32))
    ordered = source.matrix("m", want.shape).ordered
    assert ordered is not None
    assert np.array_equal(floats_of(ordered.weight), want[:, ordered.order])
    assert source.as_floats() == []
    backend = pick("torch", "cpu", "f32")
    x = torch.randn(3, 128, generator=torch.Generator().manual_seed(1))
    got = ordered_linear(backend, [ordered, ordered.weight, ordered, ordered], [None] * 4)(x)
    apart = x @ torch.from_numpy(want[:, ordered.order].copy()).T
    together = x @ torch.from_numpy(want.copy()).T
    assert torch.allclose(got, torch.cat([together, apart, together, together], 1), atol=1e-5)


def test_groups_of_other_sizes_become_floats() -> None:
    order = np.random.default_rng(3).permutation(np.arange(128) // 32)
    order[order == 3] = 2
    tensors, want = gptq(4, 128, 48, 32, order)
    source = PackedTensors("here", tensors, Method("GPTQ"))
    assert source.matrix("m", want.shape).ordered is None
    assert source.as_floats() == ["m"]


def test_zeros_of_gptq_as_its_second_version_stores_them() -> None:
    tensors, want = gptq(4, 64, 32, 32)
    scales = np.repeat(np.frombuffer(tensors["m.scales"].buffer, np.float16).reshape(2, 32), 32, 0).T
    weight = weight_of(PackedTensors("here", tensors, Method("GPTQ", less=0)), want.shape)
    assert np.array_equal(floats_of(weight), want + scales.astype(np.float32))


def test_zeros_in_the_middle_keep_the_scales_type() -> None:
    tensors, want = gptq(4, 64, 32, 32)
    tensors["m.qzeros"] = of_array("qzeros", np.full((2, 4), 0x77777777, np.int32))
    weight = weight_of(PackedTensors("here", tensors, Method("GPTQ")), want.shape)
    assert isinstance(weight, Affine)
    assert (weight.scales.dtype, weight.biases.dtype) == ("F16", "F16")


def test_the_factor_of_modelopt_is_multiplied_with() -> None:
    source, want = case_of("nvfp4")
    divided = weight_of(source, tuple(want.shape))
    assert isinstance(divided, Blocks)
    tensors = {f"m.{name}": part for name, part in source._parts["m"].items()}
    factor = np.float32(1) / np.frombuffer(tensors.pop("m.weight_global_scale").buffer, np.float32)
    tensors |= {"m.weight": tensors.pop("m.weight_packed"), "m.weight_scale_2": of_array("f", factor)}
    tensors |= {"m.input_scale": of_array("x", factor), "m.k_scale": of_array("k", factor)}
    source = PackedTensors("here", tensors, Method("ModelOpt"))
    assert set(source.names) == {"m.weight"}
    assert source.stored_as == "NVFP4 (ModelOpt)"
    weight = weight_of(source, tuple(want.shape))
    codes = np.frombuffer(tensors["m.weight"].buffer, np.uint8).reshape(16, 64)
    half = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    e4m3 = torch.from_numpy(np.frombuffer(tensors["m.weight_scale"].buffer, np.uint8).copy()).view(torch.float8_e4m3fn)
    scales = np.repeat(e4m3.float().numpy().reshape(16, 8) * factor, 16, axis=1)
    by_rule = np.stack([half[codes & 15], half[codes >> 4]], -1).reshape(16, 128) * scales
    assert np.array_equal(floats_of(weight), by_rule)


@pytest.mark.parametrize("columns", [48, 80])
def test_rows_that_no_block_divides_become_floats(columns: int) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 120, (6, columns), np.uint8)
    scale = np.full((6, 1), 0.25, np.float32)
    tensors = {"m.weight": raw("w", codes, "F8_E4M3", codes.shape), "m.weight_scale": of_array("s", scale)}
    source = PackedTensors("here", tensors, Method("FP8"))
    weight = weight_of(source, codes.shape)
    assert isinstance(weight, Dense)
    assert source.as_floats() == ["m"]
    want = torch.from_numpy(codes).view(torch.float8_e4m3fn).float().numpy() / 4
    assert np.array_equal(floats_of(weight), want)


def test_a_code_that_is_no_number_shows_in_its_group() -> None:
    need_kernels()
    codes = np.full((2, 256), 0x38, np.uint8)  # 1
    codes[1, 200] = 0x7F
    tensors = {
        "m.weight": raw("w", codes, "F8_E4M3", codes.shape),
        "m.weight_scale": of_array("s", np.ones(1, np.float32)),
    }
    weight = weight_of(PackedTensors("here", tensors, Method("FP8")), codes.shape)
    rows = cpu_linear([weight], [None], torch.float32).rows(torch.arange(2)).numpy()
    assert np.isnan(rows[1, 128:]).all()
    assert (np.delete(rows.reshape(-1), np.arange(384, 512)) == 1).all()


def test_a_bias_of_zeros_that_no_model_asks_for_is_not_unexpected() -> None:
    tensors, want = gptq(4, 64, 32, 32)
    for values, known in ((np.zeros(32), True), (np.ones(32), False)):
        tensors["m.bias"] = of_array("b", values.astype(np.float16))
        found = PackedTensors("here", tensors, Method("GPTQ")).matrix("m", want.shape)
        assert ("m.bias" in found.tensors) == known


BROKEN = {
    "no scales": ("m.scales", None),
    "scales of another width": ("m.scales", np.ones((2, 31), np.float16)),
    "scales that are whole numbers": ("m.scales", np.ones((2, 32), np.int32)),
    "zeros of another width": ("m.qzeros", np.ones((2, 3), np.int32)),
    "codes of another height": ("m.qweight", np.ones((7, 32), np.int32)),
    "codes that are floats": ("m.qweight", np.ones((8, 32), np.float32)),
    "an order that is too short": ("m.g_idx", np.zeros(63, np.int32)),
    "an order beyond the groups": ("m.g_idx", np.full(64, 9, np.int32)),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_what_does_not_fit_is_a_named_problem(wrong: str) -> None:
    tensors, want = gptq(4, 64, 32, 32)
    name, value = BROKEN[wrong]
    if value is None:
        del tensors[name]
    else:
        tensors[name] = of_array(name, value)
    found = PackedTensors("here", tensors, Method("GPTQ")).matrix("m", want.shape)
    assert found.weight is None
    assert [problem.tensor for problem in found.problems] == ["m.weight"]


@pytest.mark.parametrize("case", CASES)
def test_any_other_shape_is_a_named_problem(case: str) -> None:
    source, want = case_of(case)
    rows, columns = want.shape
    for shape in (
        (rows + 8, columns),
        (rows, columns + 64),
        (rows, columns * 2),
        (rows // 2, columns),
        (2, rows, columns),
    ):
        found = source.matrix("m", shape)
        assert found.weight is None, shape
        assert found.problems


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_shapes_and_types_raise_nothing() -> None:
    rng = np.random.default_rng(5)
    dtypes = {"I32": 4, "U8": 1, "I8": 1, "F16": 2, "F32": 4, "F8_E4M3": 1, "BF16": 2, "I64": 8}
    made = refused = 0
    for _ in range(400):
        source, want = case_of(CASES[rng.integers(len(CASES))])
        tensors = {f"m.{name}": part for name, part in source._parts["m"].items()}
        name = list(tensors)[rng.integers(len(tensors))]
        if rng.integers(3) == 0:
            del tensors[name]
        else:
            dtype = list(dtypes)[rng.integers(len(dtypes))]
            shape = tuple(int(n) for n in rng.choice([1, 2, 3, 8, 16, 64, 96, 128], rng.integers(0, 3)))
            data = rng.integers(0, 256, int(np.prod(shape)) * dtypes[dtype], np.uint8)
            tensors[name] = raw(name, data, dtype, shape)
        broken = tensors_of("here", tensors, None, Method("x", awq=bool(rng.integers(2))))
        found = broken.matrix("m", tuple(want.shape))
        if found.weight is None:
            refused += 1
        else:
            assert floats_of(found.weight).shape == tuple(want.shape)
            made += 1
    assert made > 20
    assert refused > 200


def test_all_experts_in_one_tensor_of_fp8() -> None:
    """As transformers saves a mixture's: `gate_up_proj` and `gate_up_proj_scale_inv`, squares that the last row does not fill."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 120, (3, 40, 64), np.uint8)
    scales = rng.uniform(0.1, 1, (3, 2, 2)).astype(np.float32)
    tensors = {
        "experts.gate_up_proj": raw("w", codes, "F8_E4M3", codes.shape),
        "experts.gate_up_proj_scale_inv": of_array("s", scales),
        "m.weight": raw("m", codes[0], "F8_E4M3", (40, 64)),
        "m.weight_scale_inv": of_array("s", scales[0]),
    }
    source = tensors_of("here", tensors, None, Method("FP8", (32, 32)))
    assert set(source.names) == {"experts.gate_up_proj", "m.weight"}
    assert source.raw("experts.gate_up_proj") is not None
    found = source.matrix("experts.gate_up_proj", codes.shape)
    assert isinstance(found.weight, Blocks)
    each = scales.repeat(32, 1).repeat(32, 2)[:, :40]
    want = torch.from_numpy(codes).view(torch.float8_e4m3fn).float().numpy() * each
    assert np.array_equal(floats_of(found.weight), want)
    assert np.array_equal(floats_of(source.matrix("m", (40, 64)).weight), want[0])  # type: ignore[arg-type]
    assert source.matrix("experts.gate_up_proj", (3, 64, 40), inputs_first=True).problems
