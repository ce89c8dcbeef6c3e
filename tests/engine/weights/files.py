"""Writes safetensors files byte by byte, so that tests can also write broken ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

NAMES = {"float32": "F32", "float16": "F16", "uint16": "BF16", "uint32": "U32", "int64": "I64", "uint8": "U8"}


def header_of(tensors: Mapping[str, np.ndarray]) -> tuple[dict, bytes]:
    header, data = {}, b""
    for name, array in tensors.items():
        begin = len(data)
        data += array.tobytes()
        header[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, len(data)],
        }
    return header, data


def write_raw(path: Path, header: object, data: bytes) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def write(path: Path, tensors: Mapping[str, np.ndarray]) -> Path:
    return write_raw(path, *header_of(tensors))


def write_folder(folder: Path, tensors: Mapping[str, np.ndarray], **config: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "tiny", **config}))
    write(folder / "model.safetensors", tensors)
    return folder
