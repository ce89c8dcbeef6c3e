"""`grus convert SRC DST`: the same model in another file format, quantized on the way if wished."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.hub.download import TerminalBar
from engine.hub.resolve import resolve
from engine.weights.convert import convert as convert_model
from engine.weights.gguf.mmproj_files import name_beside

DESCRIPTION = """\
Writes a model in another format. The files open in llama.cpp (gguf), in mlx-lm (mlx) and in transformers (safetensors).

  grus convert Qwen/Qwen3-0.6B qwen.gguf --quant q4_k
  grus convert Qwen/Qwen3-VL-4B-Instruct vl.gguf      (the image encoder goes to mmproj-vl.gguf)
  grus convert ./my-model ./my-model-mlx --backend mlx --quant q8_0"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "convert",
        help="write a model in another file format",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("source", metavar="SRC", help="a checkpoint's folder, a GGUF file, or a repository id")
    command.add_argument("target", metavar="DST", help="the file (gguf) or folder (mlx, safetensors) to write")
    command.add_argument(
        "--to",
        choices=("gguf", "mlx", "safetensors"),
        help="format (default: gguf, which both backends read; mlx with --backend mlx)",
    )
    command.add_argument(
        "--backend",
        choices=("auto", "mlx", "torch"),
        default="auto",
        help="the backend that the model is written for: it decides the format where --to does not. Nothing is computed on it.",
    )
    command.add_argument(
        "--quant",
        choices=("none", "q8_0", "q4_0", "q4_k", "q6_k"),
        default="none",
        help="quantize the weights (default: none)",
    )
    command.add_argument("--offline", action="store_true", help="never download; use only what is on this machine")
    command.set_defaults(command=convert)


def convert(options: argparse.Namespace) -> int:
    target = Path(options.target).expanduser()
    source = resolve(options.source, download=not options.offline, progress=TerminalBar(options.source))
    quant = None if options.quant == "none" else options.quant
    to = options.to or ("mlx" if options.backend == "mlx" else "gguf")
    written = convert_model(source, target, to, quant, TerminalBar(target.name))
    print(written)
    if (encoder := name_beside(target)).exists():
        print(encoder)
    return 0
