"""Checks minisign's signatures: Ed25519 over the BLAKE2b digest of a file (RFC 8032), with integers of Python.

One signature of a small file is checked for an update, in some milliseconds; a library for that would be one more thing to trust.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass

_P = 2**255 - 19
_Q = 2**252 + 27742317777372353535851937790883648493  # the order of the base point
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1
_Point = tuple[int, int, int, int]  # x = X/Z, y = Y/Z, T = XY/Z


class BadSignature(Exception):
    """The file is not what was signed, or the signature is none; the message says which."""


@dataclass(frozen=True)
class PublicKey:
    """The second line of minisign's `.pub` file."""

    id: bytes
    point: bytes

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        data = _decoded(text.strip().splitlines()[-1] if text.strip() else "", 42, "public key")
        if data[:2] != b"Ed":
            raise BadSignature("the public key is not one of minisign's")
        return cls(data[2:10], data[10:])

    def check(self, file: bytes, signature: str) -> str:
        """Raises BadSignature unless the text `signature` (a `.minisig` file) signs these bytes. Returns the trusted comment."""
        lines = signature.splitlines()
        if len(lines) < 4 or not lines[2].startswith("trusted comment: "):
            raise BadSignature("the signature is incomplete")
        data = _decoded(lines[1], 74, "signature")
        if data[:2] != b"ED":
            raise BadSignature("the signature is of an old kind, which does not sign a digest")
        if data[2:10] != self.id:
            raise BadSignature("the signature was made with another key")
        comment = lines[2].removeprefix("trusted comment: ")
        signed = hashlib.blake2b(file).digest()
        if not verify(self.point, signed, data[10:]):
            raise BadSignature("the file is not the one that was signed")
        if not verify(self.point, data[10:] + comment.encode(), _decoded(lines[3], 64, "signature")):
            raise BadSignature("the comment of the signature was changed")
        return comment


def _decoded(text: str, length: int, what: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) != length:
        raise BadSignature(f"the {what} is not one of minisign's")
    return data


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the Ed25519 signature (64 bytes) of the message is by this key (32 bytes)."""
    a, r = _point(key), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _Q
    left, right = _times(s, _BASE), _sum(r, _times(h, a))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (left[1] * right[2] - right[1] * left[2]) % _P == 0


def _x(y: int, odd: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if not square:
        return None if odd else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return x if x & 1 == odd else _P - x


def _point(data: bytes) -> _Point | None:
    value = int.from_bytes(data, "little")
    y, odd = value & ((1 << 255) - 1), value >> 255
    x = _x(y, odd) if y < _P else None
    return None if x is None else (x, y, 1, x * y % _P)


def _sum(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(n: int, p: _Point) -> _Point:
    total: _Point = (0, 1, 1, 0)
    while n:
        if n & 1:
            total = _sum(total, p)
        p, n = _sum(p, p), n >> 1
    return total


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE_X = _x(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)
