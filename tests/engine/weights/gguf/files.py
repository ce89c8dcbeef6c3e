"""Small GGUF files for tests: whole ones, and headers put together byte by byte so that each byte can be wrong."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from engine.weights.gguf.types import TYPES
from engine.weights.gguf.writer import Plan, write


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def key(name: str, kind: int, raw: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + raw


def entry(name: str, shape: tuple[int, ...], number: int, offset: int) -> bytes:
    """`shape` as the file has it, innermost first."""
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, number, offset)


def header(keys: list[bytes], entries: list[bytes], version: int = 3, counts: tuple[int, int] | None = None) -> bytes:
    tensors, n = counts or (len(entries), len(keys))
    raw = b"GGUF" + struct.pack("<IQQ", version, tensors, n) + b"".join(keys) + b"".join(entries)
    return raw + bytes(-len(raw) % 32)


def plan(name: str, kind: str, shape: tuple[int, ...], data: bytes | np.ndarray) -> Plan:
    raw = data if isinstance(data, bytes) else data.tobytes()
    return Plan(name, kind, shape, lambda: [raw])


def zeros(name: str, kind: str, shape: tuple[int, ...]) -> Plan:
    return plan(name, kind, shape, bytes(int(np.prod(shape[:-1])) * TYPES[kind].row_bytes(shape[-1])))


def save(path: Path, metadata: dict[str, Any], plans: list[Plan]) -> Path:
    write(path, metadata, plans)
    return path
