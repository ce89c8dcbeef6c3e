"""Bring the weights of Silero VAD (MIT licence) from its package into `resources/silero_vad`, as safetensors.

    python packaging/silero.py SITE_PACKAGES/silero_vad

The package's TorchScript file is read: the safetensors file beside it holds other weights. Run once; the result is kept
in the repository, so that voice activity needs no download.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

RATES = {"_model": "16k", "_model_8k": "8k"}
NAMES = {
    "stft.forward_basis_buffer": "stft.weight",
    "encoder.0.reparam_conv.": "encoder.0.",
    "encoder.1.reparam_conv.": "encoder.1.",
    "encoder.2.reparam_conv.": "encoder.2.",
    "encoder.3.reparam_conv.": "encoder.3.",
    "decoder.rnn.": "lstm.",
    "decoder.decoder.2.": "out.",
}


def main(package: Path) -> None:
    target = Path(__file__).parents[1] / "resources" / "silero_vad"
    target.mkdir(parents=True, exist_ok=True)
    model = torch.jit.load(str(package / "data" / "silero_vad.jit"), map_location="cpu")
    tensors = {}
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        part, _, rest = name.partition(".")
        for old, new in NAMES.items():
            if rest.startswith(old):
                tensors[f"{RATES[part]}.{new}{rest[len(old) :]}"] = tensor.detach().contiguous()
    save_file(tensors, str(target / "model.safetensors"))
    (target / "config.json").write_text(json.dumps({"model_type": "silero_vad"}, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes resources/silero_vad anew.")
    parser.add_argument("package", type=Path, help="the folder of the installed package silero_vad")
    main(parser.parse_args().package)
