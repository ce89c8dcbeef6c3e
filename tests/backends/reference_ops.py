"""Every operation of `backends.ops.Ops` in plain numpy: slow, in f64, and written to be obviously right.

One function an operation, of the same name and arguments. Knows no backend. Rope is the exception to f64: its angles
are products in f32, as every published model was trained with them.
"""

from __future__ import annotations

import math

import numpy as np

from backends.base import Rope
from backends.ops import LONG_TEXT

# ------------------------------------------------------------------------------------------------------------- rope


def frequencies(pos: np.ndarray, rope: Rope) -> np.ndarray:
    """The angle of every token and pair of dimensions, `[T, dims / 2]`."""
    streams = np.broadcast_to(pos, (3, pos.shape[-1]))
    theta = np.zeros((pos.shape[-1], len(rope.inv)), np.float32)
    for token in range(pos.shape[-1]):
        for i, inv in enumerate(rope.inv):
            p = streams[axis_of(i, rope), token]
            if rope.long is not None and p >= LONG_TEXT:
                p, inv = p - LONG_TEXT, rope.long[1][i]
            p = np.float32(p)
            if rope.dynamic is not None:
                base, factor, trained = rope.dynamic
                if p >= trained:
                    grown = base * (factor * (p + 1) / trained - (factor - 1)) ** (rope.dims / (rope.dims - 2))
                    inv = grown ** (-2 * i / rope.dims)
            theta[token, i] = p * np.float32(inv)
    return theta


def axis_of(i: int, rope: Rope) -> int:
    """Which of t, h, w owns frequency `i`."""
    if rope.section is None:
        return 0
    t, h, w = rope.section
    if rope.interleaved:
        return 1 if i % 3 == 1 and i < 3 * h else 2 if i % 3 == 2 and i < 3 * w else 0
    return 0 if i < t else 1 if i < t + h else 2


def rotate(x: np.ndarray, pos: np.ndarray, rope: Rope) -> np.ndarray:
    """`ops.rope(x, ops.angles(pos, rope))` for `x [T, H, D]`."""
    theta = frequencies(pos, rope)
    out = np.array(x, np.float64)
    half = rope.dims // 2
    for i in range(half):
        a, b = (2 * i, 2 * i + 1) if rope.pairs else (i, i + half)
        cos = np.cos(theta[:, i], dtype=np.float64)[:, None] * rope.scale
        sin = np.sin(theta[:, i], dtype=np.float64)[:, None] * rope.scale
        out[..., a] = x[..., a] * cos - x[..., b] * sin
        out[..., b] = x[..., b] * cos + x[..., a] * sin
    return out


def qkv(x, pos, q_norm, k_norm, *, heads, kv_heads, dim, rope, eps=1e-6, norm_after_rope=False):
    tokens = x.shape[0]
    ends = [heads * dim, (heads + kv_heads) * dim]
    parts = zip(np.split(x, ends, axis=1), (heads, kv_heads, kv_heads))
    q, k, v = (part.reshape(tokens, count, dim) for part, count in parts)
    ready = []
    for part, w in ((q, q_norm), (k, k_norm)):
        if w is not None and not norm_after_rope:
            part = rms_norm(part, w, eps)
        part = rotate(part, pos, rope)
        if w is not None and norm_after_rope:
            part = rms_norm(part, w, eps)
        ready.append(part)
    return ready[0], ready[1], v


# ------------------------------------------------------------------------------------- norms, elementwise, reductions


def rms_norm(x, w, eps):
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return y if w is None else y * w


def add_rms_norm(x, residual, w, eps):
    return x + residual, rms_norm(x + residual, w, eps)


def layer_norm(x, w, b, eps):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    y = y if w is None else y * w
    return y if b is None else y + b


def group_norm(x, groups, w, b, eps):
    if x.size == 0:
        return x
    y = x.reshape(*x.shape[:2], groups, -1)
    y = (y - y.mean((1, 3), keepdims=True)) / np.sqrt(y.var((1, 3), keepdims=True) + eps)
    return y.reshape(x.shape) * w + b


def silu(x):
    return x * sigmoid(x)


def swiglu(x, gate_last=False):
    gate, up = np.split(x, 2, axis=-1)[:: -1 if gate_last else 1]
    return silu(gate) * up


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def geglu(x):
    gate, up = np.split(x, 2, axis=-1)
    return gelu_tanh(gate) * up


def relu(x):
    return np.maximum(x, 0)


def likeliest(x):
    top = x.max(-1, initial=-np.inf, keepdims=True)
    return 1 / np.exp(x - top).sum(-1), x.argmax(-1).astype(np.int32)


def leaky_relu(x, slope):
    return np.where(x < 0, slope * x, x)


def clamp(x, low, high):
    return np.clip(x, low, high)


def sigmoid(x):
    return 0.5 * (1 + np.tanh(x / 2))


def softplus(x):
    return np.logaddexp(x, 0)


tanh, exp, sqrt, sin = np.tanh, np.exp, np.sqrt, np.sin


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def l2norm(x, eps=1e-6):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + eps)


def pick(x, ids):
    return np.take_along_axis(x, ids, -1)


def topk(x, k):
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


# ------------------------------------------------------------------------------------------------------------ shape


def cat(*xs, axis):
    return np.concatenate(xs, axis)


def stack(*xs, axis):
    return np.stack(xs, axis)


def split(x, sizes, axis):
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


take, where, permute = np.take, np.where, np.transpose


def pad(x, widths, value=0.0):
    return np.pad(x, widths, constant_values=value)


def sum(x, axis):
    return x.sum(axis)


# -------------------------------------------------------------------------------------------------------- attention


def sdpa(q, k, v, scale, *, causal=False, mask=None):
    batch, length, heads, _ = q.shape
    out = np.zeros((batch, length, heads, v.shape[-1]))
    if out.size == 0:
        return out
    added = np.broadcast_to(0.0 if mask is None else mask, (batch, heads, length, k.shape[1]))
    for b in range(batch):
        for h in range(heads):
            kv_head = h // (heads // k.shape[2])
            scores = q[b, :, h] @ k[b, :, kv_head].T * scale + added[b, h]
            if causal:
                scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
            out[b, :, h] = softmax(scores) @ v[b, :, kv_head]
    return out


def attend_window(q, k, v, window, scale):
    distance = np.arange(len(q))[:, None] + len(k) - len(q) - np.arange(len(k))
    hidden = np.where((distance >= 0) & (distance < window), 0.0, -np.inf)
    return sdpa(q[None], k[None], v[None], scale, mask=hidden)[0]


def attend_varlen(q, k, v, lens, scale):
    ends = np.cumsum(lens)
    runs = [sdpa(q[None, e - n : e], k[None, e - n : e], v[None, e - n : e], scale)[0] for e, n in zip(ends, lens)]
    return np.concatenate([np.zeros((0, q.shape[1], v.shape[2])), *runs])


# ---------------------------------------------------------------------------------------------------------- signals


def conv1d(x, w, b=None, *, stride=1, padding=0, dilation=1, groups=1):
    x = np.pad(x, ((0, 0), (padding, padding), (0, 0)))
    out, part, kernel = w.shape
    count = max(0, (x.shape[1] - dilation * (kernel - 1) - 1) // stride + 1)
    y = np.zeros((x.shape[0], count, out))
    for t in range(count):
        for o in range(out):
            first = o // (out // groups) * part
            for tap in range(kernel):
                y[:, t, o] += x[:, t * stride + tap * dilation, first : first + part] @ w[o, :, tap]
    return y if b is None else y + b


def stream_conv(lengths, x, w, b, rate=None, size=None, add=None, dilation=1):
    """Of whole streams, and their last inputs."""
    if rate is not None:
        x = x + np.sin(x * rate) ** 2 * size
    keep = (w.shape[2] - 1) * dilation
    streams = [np.pad(part, ((keep, 0), (0, 0))) for part in np.split(x, np.cumsum(lengths)[:-1])]
    groups = x.shape[1] // w.shape[1]
    y = np.concatenate([conv1d(each[None], w, b, dilation=dilation, groups=groups)[0] for each in streams])
    return y if add is None else y + add, np.concatenate([each[len(each) - keep :] for each in streams])


def same_conv(x, w, b, scale=None, shift=None, rate=None, size=None, add=None, dilation=1):
    if scale is not None:
        x = x * scale + shift
    if rate is not None:
        x = x + np.sin(x * rate) ** 2 * size
    padding = (w.shape[2] - 1) * dilation // 2
    y = conv1d(x[None], w, b, padding=padding, dilation=dilation)[0]
    return y if add is None else y + add


def channel_scale(x, gain, bias, eps):
    scale = gain / np.sqrt(x.var(0) + eps)
    return scale, bias - x.mean(0) * scale


def choose(logits, noise, random, temperature, top_k, top_p):
    ids = np.zeros(len(logits), np.int32)
    for i, row in enumerate(logits):
        order = np.argsort(-row, kind="stable")[:top_k]
        p = np.exp((row[order] - row[order[0]]) / (temperature or 1.0))
        kept = np.cumsum(p) - p < top_p * p.sum()
        kept[0] = True
        mass = np.cumsum(np.where(kept, p, 0.0))
        drawn = order[(mass <= noise[i] * mass[-1] * (1 - 1e-6)).sum()]
        ids[i] = drawn if random[i] and temperature > 0 else order[0]
    return ids


def conv_transpose1d(x, w, b=None, *, stride=1, padding=0, output_padding=0, groups=1):
    inputs, part, kernel = w.shape
    whole = np.zeros((x.shape[0], max(0, x.shape[1] - 1) * stride + kernel + output_padding, part * groups))
    for t in range(x.shape[1]):
        for i in range(inputs):
            first = i // (inputs // groups) * part
            for tap in range(kernel):
                whole[:, t * stride + tap, first : first + part] += x[:, t, i, None] * w[i, :, tap]
    y = whole[:, padding : whole.shape[1] - padding] if x.shape[1] else whole[:, :0]
    return y if b is None else y + b


def conv2d(x, w, b=None, *, stride=(1, 1), padding=(0, 0), groups=1):
    x = np.pad(x, ((0, 0), (padding[0],) * 2, (padding[1],) * 2, (0, 0)))
    out, part, *kernel = w.shape
    height, width = (max(0, (x.shape[1 + i] - kernel[i]) // stride[i] + 1) for i in (0, 1))
    y = np.zeros((x.shape[0], height, width, out))
    for r in range(height):
        for c in range(width):
            for o in range(out):
                first = o // (out // groups) * part
                top, left = r * stride[0], c * stride[1]
                patch = x[:, top : top + kernel[0], left : left + kernel[1], first : first + part]
                y[:, r, c, o] = np.einsum("bhwc,chw->b", patch, w[o])
    return y if b is None else y + b


def image_conv(x, w, b, add=None, *, activation=None, **options):
    y = conv2d(x, w, b, **options)
    y = {None: lambda x: x, "relu": lambda x: np.maximum(x, 0), "gelu": gelu, "silu": silu}[activation](y)
    return y if add is None else y + add


def batch_norm(x, mean, var, w, b, eps):
    return (x - mean) / np.sqrt(var + eps) * w + b


def max_pool(x, kernel, stride, padding=(0, 0)):
    x = np.pad(x, ((0, 0), (padding[0],) * 2, (padding[1],) * 2, (0, 0)), constant_values=-np.inf)
    height, width = (max(0, (x.shape[1 + i] - kernel[i]) // stride[i] + 1) for i in (0, 1))
    y = np.zeros((x.shape[0], height, width, x.shape[3]))
    for r in range(height):
        for c in range(width):
            top, left = r * stride[0], c * stride[1]
            y[:, r, c] = x[:, top : top + kernel[0], left : left + kernel[1]].max((1, 2))
    return y


def interpolate(x, size, mode):
    y = np.zeros((x.shape[0], *size, x.shape[3]))
    scale = [x.shape[1 + i] / size[i] for i in (0, 1)]
    last = [x.shape[1] - 1, x.shape[2] - 1]
    for r in range(size[0]):
        for c in range(size[1]):
            if mode == "nearest":
                # in f32, as torch rounds
                row, column = (int(np.float32(n) * np.float32(s)) for n, s in zip((r, c), scale))
                y[:, r, c] = x[:, min(row, last[0]), min(column, last[1])]
                continue
            fy, fx = (min(max((n + 0.5) * s - 0.5, 0), m) for n, s, m in zip((r, c), scale, last))
            y[:, r, c] = blend(x, fy, fx)
    return y


def blend(x, fy, fx):
    """The four pixels around a point, each weighed by its nearness; nothing outside of the picture."""
    total = np.zeros((x.shape[0], x.shape[3]))
    for row in (math.floor(fy), math.floor(fy) + 1):
        for column in (math.floor(fx), math.floor(fx) + 1):
            if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
                total += (1 - abs(fy - row)) * (1 - abs(fx - column)) * x[:, row, column]
    return total


def grid_sample(x, grid):
    y = np.zeros((*grid.shape[:3], x.shape[3]))
    for b, r, c in np.ndindex(*grid.shape[:3]):
        fx = ((grid[b, r, c, 0] + 1) * x.shape[2] - 1) / 2
        fy = ((grid[b, r, c, 1] + 1) * x.shape[1] - 1) / 2
        y[b, r, c] = blend(x[b : b + 1], fy, fx)[0]
    return y


def lstm(x, w_ih, w_hh, b, h, c):
    y = np.zeros((*x.shape[:2], h.shape[1]))
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ w_ih.T + h @ w_hh.T + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        y[:, t] = h
    return y, h, c


def stft(x, window, hop):
    n = len(window)
    count = max(0, (x.shape[1] - n) // hop + 1)
    bins = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n // 2 + 1)) / n)
    y = np.zeros((x.shape[0], count, n // 2 + 1), complex)
    for t in range(count):
        y[:, t] = (x[:, t * hop : t * hop + n] * window) @ bins
    return y.real, y.imag


def istft(re, im, window, hop):
    n, count = len(window), re.shape[1]
    y = np.zeros((re.shape[0], (count - 1) * hop + n if count else 0))
    weight = np.zeros(y.shape[1])
    for t in range(count):
        y[:, t * hop : t * hop + n] += np.fft.irfft(re[:, t] + 1j * im[:, t], n) * window
        weight[t * hop : t * hop + n] += window**2
    return y / np.where(weight > 1e-11, weight, 1)
