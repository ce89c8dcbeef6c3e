"""Convolutions, pooling, resampling and the LSTM, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends import reference_ops
from tests.backends.op_cases import Bench, Case, check, check_case, normal


def conv(op: str, name: str, x: tuple[int, ...], w: tuple[int, ...], bias: bool = True, **options) -> Case:
    """A convolution whose weight takes the way of a checkpoint's: through `conv_weight`, once."""
    transposed = op == "conv_transpose1d"
    outputs = w[1] * options.get("groups", 1) if transposed else w[0]
    return Case(
        op,
        name,
        [normal(*x), normal(*w, seed=1), normal(outputs, seed=2) if bias else None],
        options,
        call=lambda ops, x, w, b: getattr(ops, op)(x, ops.conv_weight(w, transposed), b, **options),
    )


def stream(
    name: str, lengths: tuple[int, ...], w: tuple[int, ...], dilation: int = 1, *, first: int, whole: bool
) -> Case:
    """Streams together, in two pieces, of which the first has `first` positions of each. `w [out, 1, kernel]` is depthwise."""
    total, depthwise = sum(lengths), w[1] == 1
    inputs = [normal(total, w[0] if depthwise else w[1]), normal(*w, seed=1), normal(w[0], seed=2)]
    if whole:
        inputs += [np.exp(normal(w[1], seed=3)), normal(w[1], seed=4), normal(total, w[0], seed=5)]

    def call(ops, x, w, b, rate=None, size=None, add=None):
        weight, before, made = ops.stream_weight(w, b, depthwise), [None] * len(lengths), []
        xs, adds = ops.split(x, lengths, 0), None if add is None else ops.split(add, lengths, 0)
        for piece in (slice(0, first), slice(first, None)):
            parts = [each[piece] for each in xs]
            y, before = ops.stream_conv(
                ops.cat(parts, 0),
                weight,
                [part.shape[0] for part in parts],
                before,
                dilation=dilation,
                snake=None if rate is None else (rate, size),
                add=None if adds is None else ops.cat([each[piece] for each in adds], 0),
            )
            made.append(ops.split(y, [part.shape[0] for part in parts], 0))
        return ops.cat([part for both in zip(*made) for part in both], 0), ops.cat(before, 0)

    return Case(
        "stream_conv",
        name,
        inputs,
        call=call,
        want=lambda *given: reference_ops.stream_conv(lengths, *given, dilation=dilation),
        slack=6,
    )


def same(name: str, length: int, w: tuple[int, int, int], dilation: int = 1, *, whole: bool = True) -> Case:
    """`whole`: with a scale and shift, a snake and a sum."""
    inputs = [normal(length, w[1]), normal(*w, seed=1), normal(w[0], seed=2)]
    if whole:
        inputs += [normal(w[1], seed=3), normal(w[1], seed=4), np.exp(normal(w[1], seed=5)), normal(w[1], seed=6)]
        inputs += [normal(length, w[0], seed=7)]

    def call(ops, x, w, b, scale=None, shift=None, rate=None, size=None, add=None):
        return ops.same_conv(
            x,
            ops.stream_weight(w, b),
            dilation=dilation,
            scale=None if scale is None else (scale, shift),
            snake=None if rate is None else (rate, size),
            add=add,
        )

    want = lambda *given: reference_ops.same_conv(*given, dilation=dilation)  # noqa: E731
    return Case("same_conv", name, inputs, call=call, want=want, slack=6)


def image(
    name: str, x: tuple[int, ...], w: tuple[int, ...], activation: str | None = None, add: bool = False, **options
) -> Case:
    """A convolution of images with an activation and a sum behind it."""
    inputs = [normal(*x), normal(*w, seed=1), normal(w[0], seed=2)]
    stride, padding = options.get("stride", (1, 1)), options.get("padding", (0, 0))
    if add:
        height, width = (max(0, (x[1 + i] + 2 * padding[i] - w[2 + i]) // stride[i] + 1) for i in (0, 1))
        inputs.append(normal(x[0], height, width, w[0], seed=3))

    def call(ops, x, w, b, add=None):
        return ops.image_conv(x, ops.image_weight(w, b, activation=activation, **options), add)

    want = lambda *given: reference_ops.image_conv(*given, activation=activation, **options)  # noqa: E731
    return Case("image_conv", name, inputs, call=call, want=want, slack=6)


CASES = [
    image("plain", (2, 5, 7, 3), (4, 3, 3, 3)),
    image("patches", (1, 8, 12, 3), (5, 3, 4, 4), "relu", stride=(4, 4)),
    image("uneven", (1, 9, 6, 2), (3, 2, 1, 5), "silu", add=True, stride=(2, 1), padding=(1, 2)),
    image("many-channels", (2, 6, 31, 40), (50, 40, 3, 3), "gelu", add=True, padding=(1, 1)),
    image("tall", (1, 9, 5, 16), (16, 16, 7, 1), add=True, padding=(3, 0)),
    image("padded-beyond", (1, 2, 2, 3), (4, 3, 1, 1), "relu", padding=(2, 2)),
    image("grouped", (1, 5, 5, 4), (6, 2, 3, 2), "relu", groups=2, padding=(1, 0)),
    image("depthwise", (2, 6, 5, 37), (37, 1, 3, 3), groups=37, padding=(1, 1), stride=(2, 1)),
    image("depthwise-whole", (1, 6, 5, 5), (5, 1, 5, 5), "gelu", add=True, groups=5, padding=(2, 2)),
    image("one-by-one", (1, 3, 4, 3), (2, 3, 1, 1), "gelu", add=True),
    image("too-small", (2, 2, 5, 3), (4, 3, 3, 3), "relu"),
    image("batch-0", (0, 5, 5, 3), (4, 3, 3, 3)),
    same("plain", 9, (5, 3, 3), whole=False),
    same("whole", 300, (20, 16, 7)),
    same("dilated", 40, (33, 6, 11), 5),
    same("blocks-of-three", 90, (20, 32, 11), 5),
    same("one-block", 41, (16, 16, 3)),
    same("shorter-than-its-kernel", 3, (4, 3, 7), 3),
    same("kernel-1", 5, (4, 3, 1)),
    same("empty", 0, (4, 3, 3), whole=False),
    *(
        Case(
            "channel_scale",
            name,
            [normal(*shape) + far, normal(shape[1], seed=1), normal(shape[1], seed=2)],
            {"eps": 1e-5},
            slack=slack,
        )
        for name, shape, far, slack in (
            ("rows", (7, 5), 0, 1),
            ("many", (2100, 70), 0, 1),
            ("one", (1, 33), 0, 1),
            ("far-from-zero", (90, 64), 30, 20),
        )
    ),
    stream("plain", (9, 7), (5, 3, 3), first=4, whole=False),
    stream("whole", (9, 12, 3), (20, 16, 7), first=2, whole=True),
    stream("dilated", (40,), (3, 6, 7), dilation=3, first=30, whole=True),
    stream("kernel-1", (5, 2), (4, 3, 1), first=1, whole=True),
    stream("depthwise", (9, 12), (20, 1, 7), first=2, whole=False),
    stream("empty-piece", (5,), (4, 3, 2), first=0, whole=False),
    Case(
        "stream_weight",
        "used-twice",
        [normal(6, 3), normal(4, 3, 2, seed=1), normal(4, seed=2)],
        call=lambda ops, x, w, b: [
            ops.stream_conv(x, weight, [6], [None])[0] for weight in [ops.stream_weight(w, b)] * 2
        ][1],
        want=lambda x, w, b: reference_ops.stream_conv((6,), x, w, b)[0],
    ),
    Case(
        "image_weight",
        "used-twice",
        [normal(2, 5, 6, 3), normal(4, 3, 3, 3, seed=1), normal(4, seed=2)],
        call=lambda ops, x, w, b: [ops.image_conv(x, weight) for weight in [ops.image_weight(w, b)] * 2][1],
        want=lambda x, w, b: reference_ops.image_conv(x, w, b),
        slack=6,
    ),
    conv("conv1d", "plain", (2, 9, 3), (5, 3, 3)),
    conv("conv1d", "no-bias", (1, 7, 3), (4, 3, 2), bias=False),
    conv("conv1d", "kernel-1", (2, 5, 3), (4, 3, 1)),
    conv("conv1d", "strided", (1, 17, 2), (3, 2, 5), stride=3, padding=2),
    conv("conv1d", "wide", (1, 40, 1), (4, 1, 13), stride=7, bias=False),
    conv("conv1d", "dilated", (2, 13, 3), (2, 3, 3), dilation=4, padding=1),
    conv("conv1d", "grouped", (2, 8, 6), (4, 3, 3), groups=2, padding=1),
    conv("conv1d", "depthwise", (1, 11, 5), (5, 1, 7), groups=5, dilation=1, padding=3),
    conv("conv1d", "depthwise-dilated", (2, 15, 4), (8, 1, 3), groups=4, dilation=3, stride=2),
    conv("conv1d", "one-channel", (2, 9, 1), (1, 1, 3)),
    conv("conv1d", "exact-fit", (1, 3, 2), (3, 2, 3)),
    conv("conv1d", "too-short", (2, 2, 3), (5, 3, 3)),
    conv("conv1d", "empty", (2, 0, 3), (5, 3, 3)),
    conv("conv1d", "empty-but-padded", (2, 0, 3), (5, 3, 3), padding=1),
    conv("conv1d", "batch-0", (0, 9, 3), (5, 3, 3)),
    conv("conv_transpose1d", "plain", (2, 5, 3), (3, 4, 3)),
    conv("conv_transpose1d", "strided", (1, 7, 2), (2, 3, 8), stride=4, padding=2),
    conv("conv_transpose1d", "output-padding", (2, 4, 3), (3, 2, 5), stride=3, padding=2, output_padding=1),
    conv("conv_transpose1d", "stride-over-kernel", (1, 4, 2), (2, 3, 2), stride=3, bias=False),
    conv("conv_transpose1d", "grouped", (2, 5, 6), (6, 2, 4), stride=2, padding=1, groups=3),
    conv("conv_transpose1d", "depthwise", (1, 6, 4), (4, 1, 4), stride=2, groups=4, bias=False),
    conv("conv_transpose1d", "one-step", (1, 1, 3), (3, 4, 2), stride=2),
    conv("conv_transpose1d", "all-padding", (1, 1, 3), (3, 4, 2), padding=1),
    conv("conv_transpose1d", "empty", (2, 0, 3), (3, 4, 3)),
    conv("conv_transpose1d", "batch-0", (0, 5, 3), (3, 4, 3)),
    conv("conv2d", "plain", (2, 5, 7, 3), (4, 3, 3, 3)),
    conv("conv2d", "patches", (1, 8, 12, 3), (5, 3, 4, 4), stride=(4, 4), bias=False),
    conv("conv2d", "uneven", (1, 9, 6, 2), (3, 2, 1, 5), stride=(2, 1), padding=(1, 2)),
    conv("conv2d", "grouped", (1, 5, 5, 4), (6, 2, 3, 2), groups=2, padding=(1, 0)),
    conv("conv2d", "depthwise", (2, 6, 5, 5), (5, 1, 3, 3), groups=5, padding=(1, 1), stride=(2, 2)),
    conv("conv2d", "one-by-one", (1, 3, 4, 3), (2, 3, 1, 1)),
    conv("conv2d", "too-small", (2, 2, 5, 3), (4, 3, 3, 3)),
    conv("conv2d", "batch-0", (0, 5, 5, 3), (4, 3, 3, 3)),
    Case(
        "conv_weight",
        "stays-usable",
        [normal(1, 6, 2), normal(3, 2, 2)],
        call=lambda ops, x, w: ops.conv1d(x, ops.conv_weight(w)),
        want=lambda x, w: reference_ops.conv1d(x, w),
    ),
    *(
        Case(
            "batch_norm",
            f"{shape}",
            [normal(*shape), normal(c), np.abs(normal(c, seed=1)) + 0.1, normal(c, seed=2), normal(c, seed=3)],
            call=lambda ops, *a: ops.batch_norm(*a, 1e-5),
            want=lambda *a: reference_ops.batch_norm(*a, 1e-5),
        )
        for shape in ((2, 3, 5, 7), (1, 4, 3), (0, 3, 3, 4), (2, 0, 3))
        for c in shape[-1:]
    ),
    Case("max_pool", "2x2", [normal(2, 6, 8, 3)], {"kernel": (2, 2), "stride": (2, 2)}),
    Case("max_pool", "padded", [normal(1, 5, 7, 3) - 5], {"kernel": (3, 3), "stride": (2, 2), "padding": (1, 1)}),
    Case("max_pool", "uneven", [normal(1, 7, 5, 1)], {"kernel": (3, 2), "stride": (1, 3), "padding": (1, 0)}),
    Case("max_pool", "wide-pad", [normal(1, 4, 4, 2)], {"kernel": (2, 2), "stride": (1, 1), "padding": (1, 1)}),
    Case("max_pool", "infinite", [np.full((1, 3, 3, 1), -np.inf, np.float32)], {"kernel": (2, 2), "stride": (1, 1)}),
    Case("max_pool", "too-small", [normal(1, 2, 4, 2)], {"kernel": (3, 3), "stride": (1, 1)}),
    Case("max_pool", "batch-0", [normal(0, 4, 4, 2)], {"kernel": (2, 2), "stride": (2, 2)}),
    *(
        Case("interpolate", f"{mode}-{shape}-{size}", [normal(*shape)], {"size": size, "mode": mode})
        for mode in ("nearest", "bilinear")
        for shape, size in (
            ((1, 4, 6, 3), (8, 12)),
            ((2, 7, 5, 2), (3, 4)),
            ((1, 3, 3, 1), (7, 10)),
            ((1, 1, 5, 2), (4, 1)),
            ((1, 5, 4, 2), (5, 4)),
            ((0, 3, 3, 2), (6, 6)),
        )
    ),
    Case("grid_sample", "inside", [normal(2, 5, 7, 3), np.tanh(normal(2, 3, 4, 2))], slack=4),
    Case("grid_sample", "far-outside", [normal(1, 4, 3, 2), normal(1, 5, 5, 2, scale=3)], slack=4),
    Case("grid_sample", "one-pixel", [normal(1, 1, 1, 2), normal(1, 3, 3, 2)], slack=4),
    Case("grid_sample", "wild", [normal(1, 3, 3, 2), np.float32([[[[1e30, 0], [0, -1e30], [1e9, -1e9]]]])]),
    Case("grid_sample", "corners", [normal(1, 3, 4, 1), np.float32([[[[-1, -1], [1, 1], [-1, 1], [0, 0]]]])]),
    Case("grid_sample", "no-points", [normal(1, 3, 3, 2), normal(1, 0, 4, 2)]),
    Case("grid_sample", "batch-0", [normal(0, 3, 3, 2), normal(0, 2, 2, 2)]),
    *(
        Case(
            "lstm",
            f"{batch}x{length}",
            [
                normal(batch, length, 3),
                normal(20, 3, seed=1, scale=0.5),
                normal(20, 5, seed=2, scale=0.5),
                normal(20, seed=3),
                normal(batch, 5, seed=4),
                normal(batch, 5, seed=5),
            ],
        )
        for batch, length in ((1, 1), (2, 7), (3, 2), (0, 3), (2, 0))
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_signal_op_is_what_numpy_says(bench: Bench, case: Case) -> None:
    check_case(bench, case)


def test_nearest_picks_the_same_pixel_at_every_size(bench: Bench) -> None:
    """Quotients that are nearly whole are where two roundings part."""
    for source in (3, 7, 10, 31):
        x = np.arange(source, dtype=np.float32).reshape(1, 1, source, 1)
        for size in range(1, 40):
            got = bench.ops.interpolate(bench.put(x), (1, size), "nearest")
            check(bench, got, reference_ops.interpolate(x.astype(float), (1, size), "nearest"))


@pytest.mark.parametrize(
    ("shape", "size", "mode"),
    [((1, 2, 2, 1), (4, 4), "bicubic"), ((1, 0, 2, 1), (4, 4), "nearest"), ((1, 2, 2, 1), (0, 4), "bilinear")],
)
def test_interpolate_refuses_what_it_cannot_do(bench: Bench, shape, size, mode) -> None:
    with pytest.raises(ValueError, match="interpolate"):
        bench.ops.interpolate(bench.put(normal(*shape)), size, mode)


def test_a_weight_is_prepared_once_and_serves_many_inputs(bench: Bench) -> None:
    w = normal(4, 1, 3)
    ready = bench.ops.conv_weight(bench.put(w))
    for length in (3, 4, 9):
        x = normal(2, length, 4)
        want = reference_ops.conv1d(bench.round(x), bench.round(w), groups=4)
        check(bench, bench.ops.conv1d(bench.put(x), ready, groups=4), want)


def test_lstm_state_carries_on(bench: Bench) -> None:
    """Two halves in a row are the whole."""
    x, w_ih, w_hh, b = (bench.put(normal(*s)) for s in ((2, 6, 3), (16, 3), (16, 4), (16,)))
    h, c = bench.put(normal(2, 4)), bench.put(normal(2, 4, seed=1))
    whole, h_end, c_end = bench.ops.lstm(x, w_ih, w_hh, b, h, c)
    first, h1, c1 = bench.ops.lstm(x[:, :2], w_ih, w_hh, b, h, c)
    second, h2, c2 = bench.ops.lstm(x[:, 2:], w_ih, w_hh, b, h1, c1)
    for got, want in ((bench.ops.cat([first, second], 1), whole), (h2, h_end), (c2, c_end)):
        check(bench, got, bench.ops.numpy(want).astype(np.float64), slack=4)
