"""Layers over whole sequences: the kernels' one program gives what the operations one by one give."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import torch
from torch import Tensor

from backends.base import Dense, DistanceKeys, DType, Rope
from backends.torch.backend import TorchBackend
from backends.torch.encoders import TorchEncoder
from backends.torch.kernels import library
from backends.torch.ops import DTYPES
from tests.backends.kernels.weights_made_here import raw

pytestmark = pytest.mark.skipif(not library.available(), reason=library.why_not())
HEADS, DIM = 3, 20
WIDTH = HEADS * DIM
ROPE = Rope(12, tuple(0.5**i for i in range(6)), pairs=True)


class Layer:
    def __init__(
        self, backend: TorchBackend, seed: int, window: tuple[int, int] | None, quant: str | None = None
    ) -> None:
        self.ops, self.window = backend.ops, window
        random = torch.Generator().manual_seed(seed)

        def made(out: int, inp: int) -> Any:
            w = torch.randn(out, inp, generator=random) * inp**-0.5
            return backend.linear([Dense(raw(w.numpy(), "F32"), quant)], [None])

        self.project, self.out = made(3 * WIDTH, WIDTH), made(WIDTH, WIDTH)
        self.up, self.down = made(2 * WIDTH, WIDTH), made(WIDTH, 2 * WIDTH)
        self.norm = torch.rand(WIDTH, generator=random) + 0.5

    def __call__(self, x: Any, angles: Any, among: Any) -> Any:
        ops = self.ops
        heads = ops.qkv(self.project(ops.layer_norm(x, self.norm, None, 1e-5)), HEADS, HEADS, DIM, angles)
        x = x + self.out(among.attend(*heads, DIM**-0.5, self.window).reshape(x.shape[0], WIDTH))
        return x + self.down(ops.gelu(self.up(x)))


def ended(work: Generator[None, None, Tensor]) -> tuple[Tensor, int]:
    pauses = 0
    while True:
        try:
            next(work)
            pauses += 1
        except StopIteration as end:
            return end.value, pauses


@pytest.mark.parametrize("rope", [None, ROPE])
@pytest.mark.parametrize("window", [None, (5, 0), (1, 3), (40, 7)])
def test_it_equals_the_operations_one_by_one(rope: Rope | None, window: tuple[int, int] | None) -> None:
    backend = TorchBackend()
    whole = backend.encoder([Layer(backend, seed, window) for seed in range(4)], rope)
    assert isinstance(whole, TorchEncoder)
    for lens in ([70], [1, 16, 33], [200, 5]):
        x = torch.randn(sum(lens), WIDTH, generator=torch.Generator().manual_seed(sum(lens)))
        given = x.clone()
        made, pauses = ended(whole.run(x, lens))
        want, _ = ended(whole.plain.run(x, lens))
        assert whole.traced
        assert pauses >= 1
        assert torch.equal(x, given)
        torch.testing.assert_close(made, want, rtol=0, atol=2e-5 * float(want.abs().max()))


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_of_sixteen_bits(dtype: DType) -> None:
    """What lies between the layers is f32, so it is no farther from f32 than the operations one by one."""
    backend, wide = TorchBackend("cpu", dtype), TorchBackend()
    whole, exact = (b.encoder([Layer(b, seed, (1, 3)) for seed in range(4)], ROPE) for b in (backend, wide))
    x = torch.randn(60, WIDTH, generator=torch.Generator().manual_seed(0))
    made, _ = ended(whole.run(x.to(DTYPES[dtype]), [20, 40]))
    usual, _ = ended(whole.plain.run(x.to(DTYPES[dtype]), [20, 40]))
    want, _ = ended(exact.run(x, [20, 40]))
    assert whole.traced
    assert made.dtype == usual.dtype == DTYPES[dtype]
    assert (made - want).abs().max() <= 1.2 * (usual - want).abs().max() <= 0.1 * want.abs().max()


def test_what_one_run_made_outlives_the_next() -> None:
    backend = TorchBackend()
    whole = backend.encoder([Layer(backend, 0, None)], None)
    first, _ = ended(whole.run(torch.ones(9, WIDTH), [9]))
    kept = first.clone()
    ended(whole.run(torch.zeros(9, WIDTH), [9]))
    assert torch.equal(first, kept)


def test_layers_that_no_instruction_stands_for_run_all_the_same() -> None:
    backend = TorchBackend()
    layer = Layer(backend, 0, None)
    whole = backend.encoder([layer, lambda x, *_: x.flip(1)], None)
    x = torch.randn(7, WIDTH, generator=torch.Generator().manual_seed(1))
    made, _ = ended(whole.run(x, [7]))
    want, _ = ended(backend.encoder([layer], None).run(x, [7]))
    assert isinstance(whole, TorchEncoder)
    assert not whole.traced
    torch.testing.assert_close(made, want.flip(1), rtol=0, atol=2e-5 * float(want.abs().max()))


def test_the_error_function_of_numbers_of_all_sizes() -> None:
    backend = TorchBackend()
    whole = backend.encoder([lambda x, *_: backend.ops.gelu(x)], None)
    assert isinstance(whole, TorchEncoder)
    x = torch.cat([torch.linspace(-12, 12, 48 * 50 - 3), torch.tensor([0.0, 1e30, float("nan")])]).view(50, 48)
    made, _ = ended(whole.run(x, [50]))
    want = torch.nn.functional.gelu(x.double())
    assert whole.traced
    assert made[-1, -1].isnan()
    off = (made.double() - want).abs() / x.double().abs().clamp_min(1e-3)
    assert float(off.view(-1)[:-1].max()) < 4e-7


class Wide:
    """Heads of eight registers' widths, with quantized weights, among those of other sequences; or attention by distance and a convolution."""

    def __init__(self, backend: TorchBackend, dim: int, quant: str | None, by_distance: bool = False) -> None:
        self.ops, self.dim, self.width = backend.ops, dim, 2 * dim
        self.by_distance = by_distance
        random = torch.Generator().manual_seed(dim)

        def made(out: int, inp: int) -> Any:
            w = torch.randn(out, inp, generator=random) * inp**-0.5
            return backend.linear([Dense(raw(w.numpy(), "F32"), quant)], [None])

        self.project, self.distance = made(3 * self.width, self.width), made(self.width, self.width)
        self.table = torch.randn(3000, self.width, generator=random)
        self.content, self.position = torch.randn(2, 2, dim, generator=random)
        self.taps = backend.ops.conv_weight(torch.randn(self.width, 1, 5, generator=random))
        self.bias = torch.randn(self.width, generator=random)

    def keys(self, n: int) -> Any:
        return self.distance(self.table[1500 - n : 1500 + n - 1])

    def __call__(self, x: Any, angles: Any, among: Any) -> Any:
        q, k, v = self.ops.qkv(3 * self.project(x), 2, 2, self.dim, None)
        if not self.by_distance:
            return x + among.attend(q, k, v, self.dim**-0.5).reshape(x.shape[0], self.width)
        distances = DistanceKeys(self.content, self.position, self.keys)
        x = x + among.attend_by_distance(q, k, v, self.dim**-0.5, distances).reshape(x.shape[0], self.width)
        return among.convolve(x, self.taps, self.bias, 5)


LENS = ([70], [1, 16, 33], [200, 5], [63, 64, 65])


@pytest.mark.parametrize("dim", [16, 24, 64, 72, 128])
def test_quantized_layers_attend_in_bf16(dim: int) -> None:
    """As near to the operations one by one as bf16 is, where the CPU does so; else as floats are."""
    backend = TorchBackend()
    whole = backend.encoder([Wide(backend, dim, "Q8_0")], None)
    assert isinstance(whole, TorchEncoder)
    for lens in LENS:
        x = torch.randn(sum(lens), 2 * dim, generator=torch.Generator().manual_seed(sum(lens)))
        made, _ = ended(whole.run(x, lens))
        want, _ = ended(whole.plain.run(x, lens))
        assert whole.traced
        torch.testing.assert_close(made, want, rtol=0, atol=1.5e-2 * float((want - x).abs().max()))
        assert float((made - want).square().mean()) < (4e-3 * float((want - x).abs().max())) ** 2
    x[:, 0] = torch.nan
    made, _ = ended(whole.run(x, lens))
    assert made.isnan().all()


@pytest.mark.parametrize("dim", [16, 24, 64])
def test_attention_by_distance_and_convolutions_equal_the_operations_one_by_one(dim: int) -> None:
    backend = TorchBackend()
    whole = backend.encoder([Wide(backend, dim, None, by_distance=True)], None)
    assert isinstance(whole, TorchEncoder)
    for lens in (*LENS, [700, 3], [40]):  # more tokens than it has keys of distances for: they are made anew
        x = torch.randn(sum(lens), 2 * dim, generator=torch.Generator().manual_seed(sum(lens)))
        made, _ = ended(whole.run(x, lens))
        want, _ = ended(whole.plain.run(x, lens))
        assert whole.traced
        torch.testing.assert_close(made, want, rtol=0, atol=5e-5 * float(want.abs().max()))
    x = torch.randn(1100, 2 * dim, generator=torch.Generator().manual_seed(1))
    made, _ = ended(whole.run(x, [1100]))  # beyond what a program holds
    want, _ = ended(whole.plain.run(x, [1100]))
    torch.testing.assert_close(made, want, rtol=0, atol=5e-5 * float(want.abs().max()))


@pytest.mark.parametrize("window", [None, (5, 0), (1, 3), (40, 7), (300, 200)])
def test_quantized_layers_attend_in_pairs_of_bf16(window: tuple[int, int] | None) -> None:
    """Where the CPU multiplies these faster than f32, else in f32: as near to the operations one by one as bf16's digits are."""
    backend = TorchBackend()
    whole = backend.encoder([Layer(backend, seed, window, "Q8_0") for seed in range(2)], ROPE)
    assert isinstance(whole, TorchEncoder)
    for lens in ([70], [1, 16, 33], [200, 5, 2], [317]):
        x = torch.randn(sum(lens), WIDTH, generator=torch.Generator().manual_seed(sum(lens)))
        made, _ = ended(whole.run(x, lens))
        want, _ = ended(whole.plain.run(x, lens))
        assert whole.traced
        torch.testing.assert_close(made, want, rtol=0, atol=2e-2 * float(want.abs().max()))
        close = torch.nn.functional.cosine_similarity(made, want)
        assert float(close.min()) > 0.9995


def test_quantized_layers_pass_on_what_is_broken_to_its_own_text_alone() -> None:
    backend = TorchBackend()
    whole = backend.encoder([Layer(backend, seed, None, "Q8_0") for seed in range(2)], None)
    x = torch.randn(60, WIDTH, generator=torch.Generator().manual_seed(3))
    x[25, 7] = float("nan")
    made, _ = ended(whole.run(x, [20, 19, 21]))
    assert made[20:39].isnan().all()
    assert not made[:20].isnan().any()
    assert not made[39:].isnan().any()
