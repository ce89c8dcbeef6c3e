"""Chatterbox's weights in either of their layouts, as one set of names and shapes: those of its authors' files, below `t3`, `ve` and `s3gen`.

ResembleAI publishes a file a part and no config.json. mlx-audio writes one file with names of its own, kernels with their inputs last,
and without the speech tokenizer, which lies in a repository of its own (mlx-community/S3TokenizerV2) and may lie beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backends.base import Raw
from engine.errors import WeightsError
from engine.weights.made import Made
from engine.weights.safetensors import read_file

FILES = {"t3_cfg.safetensors": "t3", "ve.safetensors": "ve", "s3gen.safetensors": "s3gen"}
VOICES = ("conds.pt", "conds.safetensors")  # the voice that a model comes with
NEEDED = (*FILES, "tokenizer.json", VOICES[0])  # of the repository, which holds other models too
TOKENIZER_FILES = ("speech_tokenizer.safetensors", "S3TokenizerV2/model.safetensors")  # beside mlx-audio's file

# from mlx-audio's names, in this order
_RENAMED = [
    (re.compile(pattern), name)
    for pattern, name in (
        (r"^t3\.tfmr\.model\.", "t3.tfmr."),
        (r"^ve\.lstm\.layers\.(\d+)\.Wx$", r"ve.lstm.weight_ih_l\1"),
        (r"^ve\.lstm\.layers\.(\d+)\.Wh$", r"ve.lstm.weight_hh_l\1"),
        (r"^ve\.lstm\.layers\.(\d+)\.bias$", r"ve.lstm.bias_l\1"),
        (r"\.(down|up)_blocks_(\d+)\.(?:down|up)sample\.conv\.", r".\1_blocks.\2.2."),
        (r"\.(down|mid|up)_blocks_(\d+)\.resnet\.", r".\1_blocks.\2.0."),
        (r"\.(down|mid|up)_blocks_(\d+)\.transformer_(\d+)\.", r".\1_blocks.\2.1.\3."),
        (r"\.(block[12])\.conv\.conv\.", r".\1.block.0."),
        (r"\.(block[12])\.norm\.", r".\1.block.2."),
        (r"\.final_block\.conv\.conv\.", ".final_block.block.0."),
        (r"\.final_block\.norm\.", ".final_block.block.2."),
        (r"\.mlp_linear\.", ".mlp.1."),
        (r"\.attn\.(query|key|value)_proj\.", lambda found: f".attn1.to_{found[1][0]}."),
        (r"\.attn\.out_proj\.", ".attn1.to_out.0."),
        (r"\.ff\.layers\.0\.", ".ff.net.0.proj."),
        (r"\.ff\.layers\.1\.", ".ff.net.2."),
        (r"\.(embed|up_embed)\.linear\.", r".\1.out.0."),
        (r"\.(embed|up_embed)\.norm\.", r".\1.out.1."),
        (r"\.(encoders|up_encoders)_(\d+)\.", r".\1.\2."),
        (r"\.condnet\.(\d+)\.", lambda found: f".condnet.{2 * int(found[1])}."),
        (r"^s3gen\.speaker_encoder\.blocks\.(\d+)\.layers\.(\d+)\.",
         lambda found: f"s3gen.speaker_encoder.xvector.block{int(found[1]) + 1}.tdnnd{int(found[2]) + 1}."),
        (r"^s3gen\.speaker_encoder\.transits\.(\d+)\.",
         lambda found: f"s3gen.speaker_encoder.xvector.transit{int(found[1]) + 1}."),
        (r"^s3gen\.speaker_encoder\.(tdnn|dense|out_nonlinear)\.", r"s3gen.speaker_encoder.xvector.\1."),
        (r"\.(nonlinear\d?|out_nonlinear)\.0\.", r".\1.batchnorm."),
        (r"^s3gen\.tokenizer\.(.*)\.mlp\.layers\.(\d)\.", r"s3gen.tokenizer.\1.mlp.\2."),
        (r"\.quantizer\.fsq_codebook\.", ".quantizer._codebook."),
    )
]  # fmt: skip
_STACKED = re.compile(r"\.ups\.\d+\.weight$")  # of transposed convolutions


def is_chatterbox_folder(folder: Path) -> bool:
    """Whether it holds the parts as ResembleAI publishes them."""
    return (folder / "t3_cfg.safetensors").is_file() and (folder / "s3gen.safetensors").is_file()


def chatterbox_tensors(folder: Path) -> dict[str, Raw]:
    """All tensors by their authors' names."""
    if is_chatterbox_folder(folder):
        return {f"{part}.{name}": raw for file, part in FILES.items() for name, raw in read_file(folder / file).items()}
    raws = read_file(folder / "model.safetensors")
    tokenizer = next((folder / name for name in TOKENIZER_FILES if (folder / name).is_file()), None)
    if tokenizer is not None:
        raws = raws | {f"s3gen.tokenizer.{name}": raw for name, raw in read_file(tokenizer).items()}
    if not any(name.startswith("ve.lstm.layers.") for name in raws):  # its authors' names in one file
        return dict(raws)
    return in_their_layout(raws)


def in_their_layout(raws: Mapping[str, Raw]) -> dict[str, Raw]:
    """mlx-audio's tensors as its authors have them. Nothing is read yet."""
    made: dict[str, Raw] = {}
    for stored, raw in raws.items():
        name = stored
        for pattern, new in _RENAMED:
            name = pattern.sub(new, name)
        made[name] = _turned(name, raw)
    return made


def _turned(name: str, raw: Raw) -> Raw:
    """Kernels with their inputs in front."""
    if not name.endswith(".weight") or len(raw.shape) < 3 or raw.dtype not in _SIZES:
        return raw
    axes = (2, 0, 1) if _STACKED.search(name) else (0, len(raw.shape) - 1, *range(1, len(raw.shape) - 1))
    kind = _SIZES[raw.dtype]

    def make() -> np.ndarray:
        return np.frombuffer(raw.buffer, kind).reshape(raw.shape).transpose(axes)

    return Made(raw, raw.dtype, tuple(raw.shape[axis] for axis in axes), raw.nbytes, make)


_SIZES = {"F32": np.uint32, "F16": np.uint16, "BF16": np.uint16}  # moved as they are


def own_voice(folder: Path) -> Path | None:
    """The file of the voice that the model comes with."""
    return next((folder / name for name in VOICES if (folder / name).is_file()), None)


def read_voice_tensors(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a voice's file, by name. No code of the file runs."""
    from engine.weights.pickled import read_pickled

    kinds = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}
    try:
        raws = read_pickled(path) if path.suffix == ".pt" else read_file(path)
        return {
            name: np.frombuffer(raw.buffer, kinds[raw.dtype]).reshape(raw.shape)
            for name, raw in raws.items()
            if raw.dtype in kinds
        }
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} is not a voice ({type(error).__name__}).") from None
