"""Broken folders of every quantization of safetensors: whatever the bytes, a model opens or a typed error says in a sentence why not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from backends.pick import pick
from engine.errors import GrusError
from engine.model_files import open_model
from engine.models.registry import find_architecture
from engine.weights.fit import fitted
from engine.weights.view import build
from tests.asserting import every
from tests.checkpoints import save
from tests.packed_checkpoints import METHODS, save_packed

MODES = {"mxfp4": (4, 32), "nvfp4": (4, 16), "mxfp8": (8, 32), "affine": (4, 32)}  # MLX's
KINDS = [*METHODS, *(f"mlx {mode}" for mode in MODES), "gpt_oss"]
SMALL: dict[str, Any] = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=1, vocab_size=256)
AT_LEAST = 60
DTYPES = ["I32", "U32", "U8", "I8", "F16", "BF16", "F32", "F8_E4M3", "F8_E8M0", "I64", "F64", "BOOL"]
SIZES = [0, 1, 2, 3, 8, 16, 31, 32, 64, 128, 1 << 31, 1 << 62]
VALUES: list[Any] = [0, 1, -1, 3, 4, 8, 16, 32, 1 << 40, 0.5, "4", "", None, True, [], [0, 0], [32, 32], [1, 2, 3], {}]


def made(kind: str, folder: Path) -> Path:
    if kind in METHODS:
        save_packed("qwen3", folder, kind, **SMALL)
    elif kind == "gpt_oss":
        save("gpt_oss", folder, "old", num_hidden_layers=1)
        pack_experts(folder)
    else:
        save("qwen3", folder, "old", **SMALL)
        pack_by_mlx(folder, kind.partition(" ")[2])
    return folder


def pack_by_mlx(folder: Path, mode: str) -> None:
    path, (bits, group) = folder / "model.safetensors", MODES[mode]
    tensors: dict[str, mx.array] = {}
    with mx.stream(mx.cpu):
        for key, value in mx.load(str(path)).items():
            if not key.endswith("_proj.weight"):
                tensors[key] = value
                continue
            for part, packed in zip(("weight", "scales", "biases"), mx.quantize(value, group, bits, mode=mode)):
                tensors[f"{key.removesuffix('weight')}{part}"] = packed
        mx.save_safetensors(str(path), tensors)
    said(folder, quantization={"bits": bits, "group_size": group, "mode": mode})


def pack_experts(folder: Path, scales: tuple[int, int] = (110, 130)) -> None:
    """gpt-oss's experts in MXFP4, of random bytes."""
    from safetensors.numpy import load_file, save_file

    path, rng, tensors = folder / "model.safetensors", np.random.default_rng(0), {}
    for key, value in load_file(path).items():
        if not key.endswith(("gate_up_proj", "down_proj")):
            tensors[key] = value
            continue
        count, inputs, outputs = value.shape
        tensors[f"{key}_blocks"] = rng.integers(0, 256, (count, outputs, inputs // 32, 16), np.uint8)
        tensors[f"{key}_scales"] = rng.integers(*scales, (count, outputs, inputs // 32), np.uint8)
    save_file(tensors, path)
    said(folder, quantization_config={"quant_method": "mxfp4"})


def said(folder: Path, **more: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | more))


def use(folder: Path) -> None:
    """Everything that loading does with a folder, by Grus itself or by a library that takes floats, and `grus info` before it."""
    opened = open_model(folder)
    assert opened.stored_as
    assert opened.quantized in (True, False)
    assert opened.whole_shapes
    backend = pick("torch", "cpu", "f32")
    make = find_architecture(opened.config, folder.name)
    for read in (opened.floats or {}).values():
        read()
    build(lambda view: make(view, opened.config), fitted(opened.source, backend, None), backend)


def mutants(config: dict[str, Any], file: bytes) -> Iterator[tuple[str, bytes]]:
    """config.json and the weights' file, one of which is broken."""
    rng = np.random.default_rng(11)
    length = int.from_bytes(file[:8], "little")
    header, data = json.loads(file[8 : 8 + length]), file[8 + length :]
    section = next(name for name in ("quantization", "quantization_config") if name in config)
    packed = [
        name for name in header if name != "__metadata__" and not name.endswith(("norm.weight", "embed_tokens.weight"))
    ]

    def pick_one(of: list[Any]) -> Any:
        return of[int(rng.integers(len(of)))]

    def whole(changed: dict[str, Any], bytes_: bytes = data) -> bytes:
        text = json.dumps(changed).encode()
        return len(text).to_bytes(8, "little") + text + bytes_

    while True:
        name = pick_one(packed)
        entry = header[name]
        changed, text = dict(header), json.dumps(config)
        match int(rng.integers(0, 8)):
            case 0:
                yield text, file[: int(rng.integers(0, len(file)))]
            case 1:
                flipped = bytearray(file)
                flipped[int(rng.integers(0, 8 + length))] ^= 1 << int(rng.integers(8))
                yield text, bytes(flipped)
            case 2:
                flipped = bytearray(data)
                for at in rng.integers(0, len(data), 64):
                    flipped[at] = int(rng.integers(0, 256))
                yield text, whole(header, bytes(flipped))
            case 3:
                del changed[name]
                yield text, whole(changed)
            case 4:
                changed[name] = entry | {"dtype": pick_one(DTYPES)}
                yield text, whole(changed)
            case 5:  # another shape, mostly of as many numbers
                shape = list(entry["shape"])
                shape = pick_one(
                    [
                        shape[::-1],
                        [*shape, 1],
                        [1, *shape],
                        [int(np.prod(shape))],
                        shape[1:],
                        [],
                        [pick_one(SIZES), *shape[1:]],
                    ]
                )
                changed[name] = entry | {"shape": shape}
                yield text, whole(changed)
            case 6:  # another tensor's bytes
                changed[name] = header[pick_one(packed)]
                yield text, whole(changed)
            case 7:
                inner = dict(config[section])
                key = pick_one([*inner, "weight_block_size", "bits", "group_size", "checkpoint_format", "mode"])
                inner[key] = pick_one(VALUES)
                yield json.dumps(config | {section: inner}), file


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_breaks_what_opens_a_packed_folder(tmp_path: Path, kind: str) -> None:
    folder = made(kind, tmp_path / "m")
    use(folder)
    weights, settings = folder / "model.safetensors", folder / "config.json"
    config, file = json.loads(settings.read_text()), weights.read_bytes()
    opened = refused = 0
    slowest, reasons = 0.0, list[str]()
    for text, raw in mutants(config, file):
        settings.write_text(text)
        weights.write_bytes(raw)
        began = time.process_time()
        try:
            use(folder)
            opened += 1
        except GrusError as error:
            refused += 1
            reasons.append(str(error))
        slowest = max(slowest, time.process_time() - began)
        if opened + refused >= AT_LEAST:
            break
    assert every(str(folder) in reason for reason in reasons)
    assert opened > AT_LEAST / 20
    assert refused > AT_LEAST / 3
    assert slowest < 2
