"""Makes compressed_tensors.npz, beside this file: matrices as the compressed-tensors package (0.20.0) packs them, and the floats
that it makes of them again.

Run it where that package is installed; tests need only the file. A key is `CASE/TENSOR/DTYPE/SHAPE`, a value its bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from compressed_tensors.compressors.mxfp4 import MXFP4PackedCompressor
from compressed_tensors.compressors.naive_quantized import NaiveQuantizationCompressor
from compressed_tensors.compressors.nvfp4 import NVFP4PackedCompressor
from compressed_tensors.compressors.pack_quantized import PackedQuantizationCompressor
from compressed_tensors.entrypoints.convert.converters.autoawq import AutoAWQConverter
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme

DTYPES = {
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.uint8: "U8",
    torch.int8: "I8",
    torch.float8_e4m3fn: "F8_E4M3",
}
State = dict[str, torch.Tensor]
found: dict[str, np.ndarray] = {}


def put(case: str, state: State, want: torch.Tensor) -> None:
    for name, tensor in {**state, "want": want}.items():
        shape = "x".join(map(str, tensor.shape))
        data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy()
        found[f"{case}/{name}/{DTYPES[tensor.dtype]}/{shape}"] = data


def scheme(**weights: object) -> QuantizationScheme:
    return QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**weights))


def integers(case: str, bits: int, dtype: torch.dtype, group: int | None, zeros: bool, packed: bool = True) -> None:
    rows, columns = 16, 96
    tool = PackedQuantizationCompressor if packed else NaiveQuantizationCompressor
    strategy = "group" if group else "channel"
    how = scheme(num_bits=bits, type="int", strategy=strategy, group_size=group, symmetric=not zeros)
    w = torch.randn(rows, columns).to(dtype)
    half = 1 << bits >> 1
    blocks = w.float().reshape(rows, columns // group if group else 1, -1)
    low, high = blocks.amin(-1), blocks.amax(-1)
    scale = ((high - low) / (2 * half - 1) if zeros else blocks.abs().amax(-1) / (half - 0.5)).to(dtype)
    state = {"weight": w, "weight_scale": scale}
    if zeros:
        state["weight_zero_point"] = (-half - torch.round(low / scale.float())).clamp(-half, half - 1).to(torch.int8)
    made = tool.compress(state, how)
    put(case, made, tool.decompress(made, how)["weight"])


def float8(case: str, dtype: torch.dtype, rows: int, columns: int, scale: torch.Tensor | None, **how: object) -> None:
    w = torch.randn(rows, columns).to(dtype) * 0.02
    if scale is None:
        scale = (w.float().abs().amax(-1, keepdim=True) / 448).to(dtype)
    made = {"weight": w, "weight_scale": scale}
    of = scheme(num_bits=8, type="float", symmetric=True, **how)
    made = NaiveQuantizationCompressor.compress(made, of)
    put(case, made, NaiveQuantizationCompressor.decompress(made, of)["weight"])


def main() -> None:
    torch.manual_seed(0)
    integers("int4-group", 4, torch.bfloat16, 32, zeros=False)
    integers("int4-group-zeros", 4, torch.float16, 32, zeros=True)
    integers("int4-channel", 4, torch.float32, None, zeros=False)
    integers("int8-group-zeros", 8, torch.bfloat16, 32, zeros=True)
    integers("int8", 8, torch.bfloat16, None, zeros=False, packed=False)
    integers("int8-zeros", 8, torch.float16, None, zeros=True, packed=False)
    squares = torch.rand(2, 2) / 4e3 + 2e-4
    float8("fp8-squares", torch.float32, 24, 64, squares, strategy="block", block_structure=[16, 32])
    float8("fp8-rows", torch.bfloat16, 8, 128, None, strategy="channel")
    float8("fp8-whole", torch.bfloat16, 8, 64, torch.tensor([2e-4], dtype=torch.bfloat16), strategy="tensor")

    w = (torch.randn(16, 128) * 0.05).bfloat16()
    peaks = w.float().reshape(16, 8, 16).abs().amax(-1)
    whole = torch.tensor([448 * 6 / float(w.float().abs().max())])
    state = {
        "weight": w,
        "weight_scale": (peaks * whole / 6).to(torch.float8_e4m3fn).bfloat16(),
        "weight_global_scale": whole,
    }
    of = scheme(
        num_bits=4,
        type="float",
        strategy="tensor_group",
        group_size=16,
        symmetric=True,
        scale_dtype=torch.float8_e4m3fn,
    )
    made = NVFP4PackedCompressor.compress(state, of)
    put("nvfp4", made, NVFP4PackedCompressor.decompress(made, of)["weight"])

    w = (torch.randn(8, 64) * 0.05).bfloat16()
    powers = torch.exp2(torch.floor(torch.log2(w.float().reshape(8, 2, 32).abs().amax(-1))) - 2).bfloat16()
    of = scheme(num_bits=4, type="float", strategy="group", group_size=32, symmetric=True, scale_dtype=torch.uint8)
    made = MXFP4PackedCompressor.compress({"weight": w, "weight_scale": powers}, of)
    put("mxfp4", made, MXFP4PackedCompressor.decompress(made, of)["weight"])

    words = torch.randint(-(2**31), 2**31, (96, 2), dtype=torch.int64).int()
    zeros = torch.randint(-(2**31), 2**31, (3, 2), dtype=torch.int64).int()
    scales = torch.rand(3, 16).half() / 100
    made = AutoAWQConverter(group_size=32, targets=["Linear"]).process(
        {"m.qweight": words, "m.qzeros": zeros, "m.scales": scales}
    )
    of = scheme(num_bits=4, type="int", strategy="group", group_size=32, symmetric=False)
    made = {name.removeprefix("m."): tensor for name, tensor in made.items()}
    want = PackedQuantizationCompressor.decompress(made, of)["weight"]
    put("awq", {"qweight": words, "qzeros": zeros, "scales": scales}, want)
    np.savez_compressed(Path(__file__).with_name("compressed_tensors.npz"), **found)


if __name__ == "__main__":
    main()
