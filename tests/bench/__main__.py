"""`python -m tests.bench [NAME ...]`: run the benches (all by default) and print their tables. `gate`: see gate.py."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
from pathlib import Path
from typing import Any

from tests.bench import peers
from tests.bench.shapes import KEPT
from tests.bench.table import alternating, render

# name -> (title, module, function that returns rows)
BENCHES = {
    "torch": ("torch on this CPU, Qwen3-0.6B's shape, random weights", "foundation", "torch_rows"),
    "gguf": ("GGUF files on this CPU against llama.cpp, Qwen3-0.6B's shape", "gguf", "rows"),
    "gguf-3b": ("GGUF files on this CPU against llama.cpp, a 3B Llama's shape", "gguf", "large_rows"),
    "mixtures": (
        "Mixtures of experts on this CPU against llama.cpp, published shapes with fewer layers",
        "mixtures",
        "rows",
    ),
    "primitives": (
        "operations of a decode step on MLX against mlx-lm, each architecture that both have",
        "primitives",
        "rows",
    ),
    "ik": (
        "GGUF files on this CPU against ik_llama.cpp, shapes of Qwen3.5-4B and Qwen3.6-35B-A3B with fewer layers",
        "ik",
        "rows",
    ),
    "gguf-gemma4": (
        "Gemma 4 E4B's shape with 12 layers against llama.cpp on this CPU, random weights",
        "gguf",
        "gemma_rows",
    ),
    "engine": ("The engine on this CPU, Qwen3-0.6B's shape, f32", "engine", "rows"),
    "mlx": ("MLX on this CPU, a small Qwen3", "foundation", "mlx_rows"),
    "mtp": ("Multi-token prediction on this CPU, Qwen3.5-0.8B's shape, 8 bits", "mtp", "rows"),
    "restart": (
        "From a restart to the first token of a conversation of 20,000 tokens, Qwen3.5-4B's shape in Q4_0",
        "restart",
        "rows",
    ),
    "window": ("The window, drawn without a screen", "window", "rows"),
    "speech": ("Speaking on this CPU, Qwen3-TTS 0.6B's shape, random weights", "speech", "rows"),
    "speech-8bit": ("One voice at 8 bits, without the reference package", "speech", "eight_bit_rows"),
    "first-sound": (
        "The first sound of a sentence on this CPU, Pocket-TTS's shape, random weights",
        "first_sound",
        "rows",
    ),
    "first-sound-chatterbox": (
        "The first sound of a short sentence on this CPU, Chatterbox's shape, random weights",
        "first_sound",
        "chatterbox_rows",
    ),
    "kokoro": ("Kokoro on this CPU, its published shape, random weights", "kokoro", "rows"),
    "listening": ("Listening on this CPU, Moonshine-base's shape, random weights", "listening", "rows"),
    "whisper-small": (
        "Whisper small's shape on this CPU, random weights, half a minute of sound",
        "whisper",
        "small_rows",
    ),
    "whisper-turbo": (
        "Whisper large-v3-turbo's shape on this CPU, random weights, half a minute of sound",
        "whisper",
        "turbo_rows",
    ),
    "parakeet": (
        "Parakeet TDT 0.6B's shape on this CPU, random weights, a minute of sound",
        "whisper",
        "parakeet_rows",
    ),
    "reading": ("Reading on this CPU, PaddleOCR-VL's shape, random weights", "reading", "rows"),
    "ocr-lines": (
        "Lines of text on this CPU, PP-OCRv6's published shapes, random weights, f32",
        "reading_ocr",
        "line_rows",
    ),
    "ocr": ("Writing what a page says on this CPU, GLM-OCR's shape, random weights", "reading_ocr", "glm_rows"),
    "vectors": ("Vectors on this CPU, shapes of MiniLM and bge-m3, random weights", "vectors", "rows"),
    "server": ("The server over the engine, on a fake model", "server", "rows"),
    "long-prompts": ("/health while prompts of 3.5 MB arrive by every protocol", "long_prompts", "rows"),
    "libraries": ("Questions to a library of 100,000 made-up pages", "libraries", "rows"),
    "ranks": ("A model split among ranks on this CPU: what telling them costs", "ranks", "rows"),
    "kv-bits": (
        "Decode behind 16,384 tokens, keys and values in 8 and 4 bits against half precision, the same shapes",
        "ik",
        "kv_bits_rows",
    ),
    "long-decode": (
        "Decode behind 16,384 tokens against llama.cpp, shapes of Qwen3.5-4B and Qwen3.6-35B-A3B, random weights",
        "ik",
        "llama_cpp_rows",
    ),
    "walks": (
        "Files of our own that three pieces of work enter (the files: python -m tests.bench.walks)",
        "walks",
        "rows",
    ),
}
PEERED = ("torch", "gguf", "gguf-3b", "mixtures", "gguf-gemma4", "mlx", "listening", "reading", "ocr", "ocr-lines")
LLAMA_CPP = (
    "gguf",
    "gguf-3b",
    "mixtures",
    "gguf-gemma4",
    "long-decode",
)  # it compiles for minutes, so that no set-up installs it
# a package of its own; large files, and minutes; the same, with a peer of one's own; the same, four times; a part of `speech`; minutes; no speed
ON_DEMAND = (
    "vectors",
    "gguf-3b",
    "ik",
    "kv-bits",
    "long-decode",
    "mtp",
    "restart",
    "speech-8bit",
    "libraries",
    "walks",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one or more of: {', '.join(BENCHES)} (default: all but {', '.join(ON_DEMAND)}); or gate: ten short ratios "
        "to peers, compared with those that are kept for this class of machine",
    )
    parser.add_argument("--keep", action="store_true", help="of gate: keep what was measured")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="compare with another checkout of Grus, set up by its `make setup-test`, in place of the reference libraries",
    )
    parser.add_argument(
        "--ik", type=Path, metavar="FOLDER", help="of ik: the source of ik_llama.cpp, built in its `build`"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help='of ik: rows whose name has this in it, as "4b Q4_K_M short"'
    )
    parser.add_argument(
        "--behind", type=int, nargs="+", metavar="TOKENS", help="of ik: tokens behind, in place of 16,384 and 65,536"
    )
    arguments = parser.parse_args()
    if arguments.names == ["gate"]:
        from tests.bench import gate

        raise SystemExit(gate.run(arguments.keep))
    how: dict[str, dict[str, Any]] = {}  # what one bench alone is asked
    if "ik" in arguments.names:
        from tests.bench import ik

        os.environ[ik.SOURCE] = str(arguments.ik or os.environ.get(ik.SOURCE, ""))
        if not (Path(os.environ[ik.SOURCE]) / "build").is_dir():
            parser.error(f"ik needs --ik FOLDER (or {ik.SOURCE}): the source of ik_llama.cpp with its `build`")
        how["ik"] = {"only": arguments.only, "lengths": arguments.behind or ik.LONG}
    peers.checkout = arguments.against
    if arguments.against and not (kept := arguments.against / KEPT.name).exists():
        # the same files for both: where the system has put the pages of a file decides up to a tenth of what is read in a second
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.symlink_to(KEPT)
    names = arguments.names or [name for name in BENCHES if name not in ON_DEMAND]
    if unknown := set(names) - set(BENCHES):
        parser.error(f"there is no bench {', '.join(sorted(unknown))}; choose from {', '.join(BENCHES)}")
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {platform.platform()}\n")
    for name in names:
        if name in LLAMA_CPP and importlib.util.find_spec("llama_cpp") is None:
            print(f"{name} is left out: it compares with llama.cpp. `pip install llama-cpp-python` brings it.\n")
            continue
        title, module, function = BENCHES[name]
        if arguments.against and name not in PEERED:
            rows = alternating(name, arguments.against)
        else:
            rows = getattr(importlib.import_module(f"tests.bench.{module}"), function)(**how.get(name, {}))
        if arguments.against:
            title += f'; the peer is "{arguments.against}"'
        print(render(title, rows), flush=True)


if __name__ == "__main__":
    main()
