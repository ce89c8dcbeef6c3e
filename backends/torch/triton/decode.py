"""What a block's bytes mean, in Triton: the value of weight `i` of the block at `p`, for each type, as f32.

The same arithmetic as `engine/weights/gguf/blocks.py`, so the values are the same to the bit. Bytes are read one by one: GGUF's
blocks lie at odd addresses.
"""

from __future__ import annotations

import triton
import triton.language as tl

# (weights, bytes) of a block
BLOCKS = {
    "Q4_0": (32, 18),
    "Q4_1": (32, 20),
    "Q5_0": (32, 22),
    "Q5_1": (32, 24),
    "Q8_0": (32, 34),
    "Q2_K": (256, 84),
    "Q3_K": (256, 110),
    "Q4_K": (256, 144),
    "Q5_K": (256, 176),
    "Q6_K": (256, 210),
    "IQ4_NL": (32, 18),
    "IQ4_XS": (256, 136),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
    "MXFP4": (32, 17),
    "Q1_0": (128, 18),
    "Q2_0": (64, 18),
    "PQ2_0": (128, 34),
    "TQ2_0_G128": (128, 34),
    "PTQ1_0": (128, 28),
}


@triton.jit
def _byte(p, at, mask):
    return tl.load(p + at, mask=mask, other=0).to(tl.int32)


@triton.jit
def _half(p, at, mask):
    bits = _byte(p, at, mask) | (_byte(p, at + 1, mask) << 8)
    return bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def _nibble(p, at, i, mask):
    """Low halves of 16 bytes, then high halves."""
    return (_byte(p, at + i % 16, mask) >> (4 * (i // 16))) & 15


@triton.jit
def _signed(x):
    """A byte as a signed number."""
    return tl.where(x > 127, x - 256, x)


@triton.jit
def _iq4(q):
    """The sixteen steps of IQ4."""
    low = tl.where(q == 0, -127, tl.where(q == 1, -104, tl.where(q == 2, -83, tl.where(q == 3, -65, 0))))
    low += tl.where(q == 4, -49, tl.where(q == 5, -35, tl.where(q == 6, -22, tl.where(q == 7, -10, 0))))
    high = tl.where(q == 8, 1, tl.where(q == 9, 13, tl.where(q == 10, 25, tl.where(q == 11, 38, 0))))
    high += tl.where(q == 12, 53, tl.where(q == 13, 69, tl.where(q == 14, 89, tl.where(q == 15, 113, 0))))
    return low + high


@triton.jit
def _scale_and_minimum(p, j, mask):
    """Six bits each, packed into twelve bytes: of Q4_K and Q5_K."""
    low = j < 4
    k = tl.where(low, j, j - 4)
    first, second = _byte(p, 4 + k, mask), _byte(p, 8 + k, mask)
    third = _byte(p, 12 + k, mask)
    scale = tl.where(low, first & 63, (third & 15) | ((first >> 6) << 4))
    minimum = tl.where(low, second & 63, (third >> 4) | ((second >> 6) << 4))
    return scale.to(tl.float32), minimum.to(tl.float32)


@triton.jit
def _trit(p, i, mask, FIRST: tl.constexpr):
    """FIRST bytes of five base-3 digits, half as many of five, an eighth as many of four."""
    one, two = i < 5 * FIRST, i < 5 * FIRST + 5 * (FIRST // 2)
    k = tl.where(one, i, tl.where(two, i - 5 * FIRST, i - 5 * FIRST - 5 * (FIRST // 2)))
    run = tl.where(one, FIRST, tl.where(two, FIRST // 2, FIRST // 8))
    start = tl.where(one, 0, tl.where(two, FIRST, FIRST + FIRST // 2))
    digit = k // run
    power = tl.where(digit == 0, 1, tl.where(digit == 1, 3, tl.where(digit == 2, 9, tl.where(digit == 3, 27, 81))))
    return ((((_byte(p, start + k % run, mask) * power) & 255) * 3) >> 8) - 1


@triton.jit
def value(p, i, mask, KIND: tl.constexpr):
    if KIND == "Q4_0":
        return _half(p, 0, mask) * (_nibble(p, 2, i, mask) - 8).to(tl.float32)
    elif KIND == "Q4_1":
        return _half(p, 0, mask) * _nibble(p, 4, i, mask).to(tl.float32) + _half(p, 2, mask)
    elif KIND == "Q5_0":
        fifth = (_byte(p, 2 + i // 8, mask) >> (i % 8)) & 1
        return _half(p, 0, mask) * ((_nibble(p, 6, i, mask) | (fifth << 4)) - 16).to(tl.float32)
    elif KIND == "Q5_1":
        fifth = (_byte(p, 4 + i // 8, mask) >> (i % 8)) & 1
        return _half(p, 0, mask) * (_nibble(p, 8, i, mask) | (fifth << 4)).to(tl.float32) + _half(p, 2, mask)
    elif KIND == "Q8_0":
        return _half(p, 0, mask) * _signed(_byte(p, 2 + i, mask)).to(tl.float32)
    elif KIND == "Q2_K":
        both = _byte(p, i // 16, mask)
        q = (_byte(p, 16 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        d = _half(p, 80, mask) * (both & 15).to(tl.float32)
        m = _half(p, 82, mask) * (both >> 4).to(tl.float32)
        return d * q.to(tl.float32) - m
    elif KIND == "Q3_K":
        j = i // 16
        low = (_byte(p, 32 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        high = (_byte(p, i % 32, mask) >> (i // 32)) & 1
        scale = (_byte(p, 96 + j % 8, mask) >> (4 * (j // 8))) & 15
        scale |= ((_byte(p, 104 + j % 4, mask) >> (2 * (j // 4))) & 3) << 4
        d = _half(p, 108, mask) * (scale - 32).to(tl.float32)
        return d * (low + 4 * high - 4).to(tl.float32)
    elif KIND == "Q4_K":
        scale, minimum = _scale_and_minimum(p, i // 32, mask)
        q = (_byte(p, 16 + 32 * (i // 64) + i % 32, mask) >> (4 * (i % 64 // 32))) & 15
        return (_half(p, 0, mask) * scale) * q.to(tl.float32) - _half(p, 2, mask) * minimum
    elif KIND == "Q5_K":
        scale, minimum = _scale_and_minimum(p, i // 32, mask)
        q = (_byte(p, 48 + 32 * (i // 64) + i % 32, mask) >> (4 * (i % 64 // 32))) & 15
        q |= ((_byte(p, 16 + i % 32, mask) >> (i // 32)) & 1) << 4
        return (_half(p, 0, mask) * scale) * q.to(tl.float32) - _half(p, 2, mask) * minimum
    elif KIND == "Q6_K":
        low = (_byte(p, 64 * (i // 128) + i % 64, mask) >> (4 * (i % 128 // 64))) & 15
        high = (_byte(p, 128 + 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        d = _half(p, 208, mask) * _signed(_byte(p, 192 + i // 16, mask)).to(tl.float32)
        return d * ((low | (high << 4)) - 32).to(tl.float32)
    elif KIND == "IQ4_NL":
        return _half(p, 0, mask) * _iq4(_nibble(p, 2, i, mask)).to(tl.float32)
    elif KIND == "IQ4_XS":
        j = i // 32
        low = (_byte(p, 4 + j // 2, mask) >> (4 * (j % 2))) & 15
        high = (_byte(p, 2 + j // 4, mask) >> (2 * (j % 4))) & 3
        d = _half(p, 0, mask) * ((low | (high << 4)) - 32).to(tl.float32)
        return d * _iq4(_nibble(p, 8 + 16 * j, i % 32, mask)).to(tl.float32)
    elif KIND == "TQ1_0":
        return _half(p, 52, mask) * _trit(p, i, mask, 32).to(tl.float32)
    elif KIND == "PTQ1_0":
        return _half(p, 26, mask) * _trit(p, i, mask, 16).to(tl.float32)
    elif KIND == "TQ2_0":
        q = (_byte(p, 32 * (i // 128) + i % 32, mask) >> (2 * (i % 128 // 32))) & 3
        return _half(p, 64, mask) * (q - 1).to(tl.float32)
    elif KIND == "MXFP4":
        e = _byte(p, 0, mask)
        bits = tl.where(e < 2, 0x00200000 << (e & 1), (e - 1) << 23)
        q = _nibble(p, 1, i, mask)
        m = q & 7
        size = tl.where(m < 5, m, tl.where(m == 5, 6, tl.where(m == 6, 8, 12)))
        return bits.to(tl.float32, bitcast=True) * tl.where(q > 7, -size, size).to(tl.float32)
    elif KIND == "Q1_0":
        d = _half(p, 0, mask)
        return tl.where(((_byte(p, 2 + i // 8, mask) >> (i % 8)) & 1) == 1, d, -d)
    elif KIND == "TQ2_0_G128":
        q = (_byte(p, i // 4, mask) >> (2 * (i % 4))) & 3
        return _half(p, 32, mask) * tl.where(q == 3, 0, q - 1).to(tl.float32)
    else:  # Q2_0 and PQ2_0, which differ in length alone
        q = (_byte(p, 2 + i // 4, mask) >> (2 * (i % 4))) & 3
        return _half(p, 0, mask) * (q - 1).to(tl.float32)
