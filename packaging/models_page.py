"""docs/models.md: which models run, from which files, with which abilities. Made from the registries of the code.

python packaging/models_page.py         writes the page anew
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PAGE = ROOT / "docs" / "models.md"

# Architectures of GGUF files and types that read as another one of their family, or that only their mmproj file tells from it.
ALIKE = [("glm4", "glm4v"), ("glm4", "glm_ocr")]
# What people call the models of a `model_type`.
NAMES = {
    "cohere2": "Command R7B, Command A",
    "deepseek_ocr2": "DeepSeek-OCR-2",
    "deepseek_v2": "DeepSeek-V2, V2.5 and V2-Lite (in GGUF files: deepseek2)",
    "deepseek_v3": "DeepSeek-V3, V3.1 and R1",
    "ernie4_5": "ERNIE 4.5",
    "ernie4_5_moe": "ERNIE 4.5 mixtures",
    "exaone4": "EXAONE 4",
    "gemma3": "Gemma 3",
    "gemma3_text": "Gemma 3",
    **dict.fromkeys(("gemma3n", "gemma3n_text"), "Gemma 3n (text)"),
    **dict.fromkeys(("gemma4", "gemma4_text"), "Gemma 4"),
    **dict.fromkeys(("gemma4_unified", "gemma4_unified_text"), "Gemma 4 12B, text (in GGUF files: gemma4)"),
    "glm4": "GLM-4-0414, GLM-Z1",
    "glm4_moe": "GLM-4.5, 4.6 and 4.7, GLM-4.5-Air",
    "glm4_moe_lite": "GLM-4.7-Flash (in GGUF files: deepseek2)",
    "glm46v": "GLM-4.6V-Flash",
    "glm4v": "GLM-4.1V-9B",
    "glm_ocr": "GLM-OCR",
    "gpt_oss": "gpt-oss 20B and 120B",
    "granite": "Granite 3",
    "granitemoe": "Granite 3 mixtures",
    "granitemoehybrid": "Granite 4",
    "granitemoeshared": "Granite 3 mixtures",
    "hunyuan_v1_dense": "Hunyuan Dense",
    "hunyuan_v1_moe": "Hunyuan A13B",
    "idefics3": "Idefics 3, SmolVLM, Granite-Docling, SmolDocling",
    "internvl": "InternVL 3 and 3.5 (of the `-hf` repositories)",
    "lfm2": "LFM2, LFM2.5",
    "lfm2_moe": "LFM2 mixtures",
    **dict.fromkeys(("lfm2-vl", "lfm2_vl"), "LFM2-VL, LFM2.5-VL"),
    "lfm3": "LFM3",
    "laguna": "Laguna",
    "lighton_ocr": "LightOnOCR, LightOnOCR-2",
    "llama": "Llama 1 to 3.3, and models made like them",
    "minimax_m2": "MiniMax-M2",
    "ministral3": "Ministral 3 (text)",
    "mistral": "Mistral 7B and Nemo (in GGUF files: llama)",
    "mistral3": "Ministral 3, Mistral Small 3.1 and 3.2",
    "moonshine": "Moonshine",
    "moonshine_streaming": "Moonshine, streaming",
    "nemotron_h": "Nemotron-H, Nemotron Nano 2 and 3",
    "bitnet": "BitNet b1.58",
    "chatterbox": "Chatterbox 0.5B: speaks, in the voice of a recording",
    "olmo2": "OLMo 2",
    **dict.fromkeys(("muse_glimmer", "muse_glimmer_text"), "Muse Glimmer (text)"),
    "olmo3": "OLMo 3",
    "paddleocr_vl": "PaddleOCR-VL",
    "phi3": "Phi-3, Phi-3.5, Phi-4, Phi-4-mini",
    "pocket_tts": "Pocket-TTS",
    "qwen2": "Qwen2, Qwen2.5",
    "qwen2_5_vl": "Qwen2.5-VL",
    "qwen3": "Qwen3",
    "qwen3_5": "Qwen3.5, Qwen3.8 (dense)",
    "qwen3_5_moe": "Qwen3.5 and Qwen3.6 mixtures (35B-A3B and larger)",
    "qwen3_5_moe_text": "Qwen3.5 and Qwen3.6 mixtures (35B-A3B and larger)",
    "qwen3_5_text": "Qwen3.5, Qwen3.8 (dense)",
    "qwen3_asr": "Qwen3-ASR 0.6B and 1.7B",
    "qwen3_moe": "Qwen3 30B-A3B and 235B-A22B, Qwen3-Coder",
    "qwen3_next": "Qwen3-Next",
    "qwen3_tts": "Qwen3-TTS",
    "qwen3_vl": "Qwen3-VL",
    "qwen3_vl_moe": "Qwen3-VL mixtures (30B-A3B, 235B-A22B)",
    "seed_oss": "Seed-OSS",
    "smollm3": "SmolLM3",
    "smolvlm": "SmolVLM 2",
    "unlimited_ocr": "Unlimited-OCR",
    "voxtral": "Voxtral Mini 3B and Small 24B",
    "voxtral_realtime": "Voxtral Mini 4B Realtime",
    "whisper": "Whisper, all sizes, turbo and distil",
}
PART_NAMES = {
    "bicodec": "BiCodec, the codec of Spark-TTS",
    "higgs_audio_v2_tokenizer": "the Higgs codec, version 2, of OmniVoice",
    "kokoro": "Kokoro 82M: speaks",
    "nemotron3_diarization": "Nemotron 3 Diarization: who speaks when, of up to eight speakers",
    "omnivoice": "OmniVoice: speaks, in a voice that is described or a recording's",
    "parakeet_ctc": "Parakeet CTC, 0.6B and 1.1B: listens",
    "parakeet_rnnt": "Parakeet RNN-T: listens",
    "parakeet_tdt": "Parakeet TDT, v2 and v3: listens",
    "pocket_tts_audio_tokenizer": "the codec of Pocket-TTS",
    "pp_doclayout_v2": "PP-DocLayout v2",
    "pp_doclayout_v3": "PP-DocLayout v3",
    "pp_doclayout_v4": "PP-DocLayout v4",
    "pp_ocrv6_medium_det": "PP-OCRv6 medium, detector: finds lines of text",
    "pp_ocrv6_small_rec": "PP-OCRv6 small, recognizer: reads pages",
    "qwen3_tts_tokenizer_12hz": "the codec of Qwen3-TTS",
    "qwen3_forced_aligner": "Qwen3-ForcedAligner 0.6B: when each word of a transcript is said",
    "silero_vad": "Silero, voice activity (built in)",
    "snac": "SNAC, the codec of Orpheus",
    "sortformer": "Sortformer, v1 and streaming v2.1: who speaks when, of up to four speakers",
    "system_voice": "the operating system's own voices, as the model `system`",
    "wav2vec2": "wav2vec 2.0, the ears of Spark-TTS's cloning",
    "wavlm": "WavLM Base and Base+ for speaker verification: knows a voice again",
}
WORDS = {
    "chat": "chat",
    "vision": "sees",
    "hear": "hears",
    "embed": "vectors",
    "read": "reads pages",
    "layout": "finds regions",
    "listen": "listens",
    "diarize": "tells who speaks",
    "verify": "knows voices again",
    "speak": "speaks",
}

HEAD = """\
# Models that run

Made by `python packaging/models_page.py` from the code's own registries. `grus info MODEL` says the same of one checkpoint, and whether
it fits here, before anything is loaded.

Every model below is written once and runs on both backends, MLX and torch. `model_type` is what a checkpoint's config.json says;
GGUF is the architecture that a GGUF file names; one that sees has its image encoder in an [mmproj](gguf.md) file beside it. Where that
column is empty, the model opens from safetensors only. Two kinds of voices are
language models with a codec: Orpheus is a `llama`, Spark-TTS a `qwen2`. All that chat take [LoRA adapters](adapters.md), but PaddleOCR-VL.
"""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), ["---"] * len(list(head)), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def gguf_names() -> dict[str, list[str]]:
    """By model_type. An architecture that sees with an mmproj file is that of both together, and of the text model too where that has no
    other one."""
    from engine.weights.gguf.mmproj_kinds import PROJECTORS
    from engine.weights.gguf.names import MODEL_TYPES

    seeing = [pair for projector in PROJECTORS.values() for pair in projector.texts.items()] + ALIKE
    seen_by = {kind: {MODEL_TYPES[theirs] for theirs, ours in seeing if ours == kind} for _, kind in seeing}
    together = {theirs for theirs, ours in seeing if len(seen_by[ours]) == 1}  # others see beside several text models
    apart = {ours for theirs, ours in MODEL_TYPES.items() if theirs not in together}
    alone = [(theirs, ours) for theirs, ours in MODEL_TYPES.items() if theirs not in together or ours not in apart]
    found: dict[str, list[str]] = {}
    for theirs, ours in sorted({*seeing, *alone}, key=lambda pair: ([*MODEL_TYPES].index(pair[0]), pair[1])):
        found.setdefault(ours, []).append(theirs)
    return found


def rows_of_models() -> list[list[str]]:
    """Those with the same name in one row."""
    from app.runtime.catalogue import capabilities
    from engine.models.registry import ARCHITECTURES

    gguf, grouped = gguf_names(), dict[str, list[str]]()
    for model_type in sorted(ARCHITECTURES):
        grouped.setdefault(NAMES[model_type], []).append(model_type)
    rows = []
    for name, types in sorted(grouped.items(), key=lambda item: item[0].lower()):
        can = frozenset[str]().union(
            *(capabilities({"model_type": one, "vision_config": {}, "audio_config": {}}) for one in types)
        )
        does = [word for kind, word in WORDS.items() if kind in can]
        names = dict.fromkeys(theirs for one in types for theirs in gguf.get(one, []))
        rows.append([name, code(types), code(names), ", ".join(does)])
    return rows


def rows_of_parts() -> list[list[str]]:
    from engine.models.registry import PARTS

    kinds = {kind.partition("#")[0] for kind in PARTS} - set(NAMES)
    return [[PART_NAMES[kind], f"`{kind}`"] for kind in sorted(kinds)]


def rows_of_blocks() -> list[list[str]]:
    """GGUF's types, and what becomes of them."""
    from engine.weights.fit import IN_PANELS, MLX_MODES
    from engine.weights.gguf.as_affine import EXACT
    from engine.weights.gguf.ternary import I2_S
    from engine.weights.gguf.types import FLOATS, OF_FILES, TYPES

    return [
        [
            f"`{name}`",
            f"{8 * kind.nbytes / kind.weights:.3g}",
            f"{IN_PANELS[name]:.3g}" if name in IN_PANELS else "",
            f"its mode {name.lower()}"
            if name in MLX_MODES
            else "the same numbers"
            if name in EXACT or name in FLOATS
            else "quantized anew to 8 bit",
        ]
        for name, kind in TYPES.items()
        if name in OF_FILES
    ] + [[f"`{I2_S}`", "2", "", "the same numbers"]]


def rows_of_folders() -> list[list[str]]:
    """What other tools write, and what becomes of it."""
    from engine.weights.packed_tensors import FORMATS

    return [[form.name, form.files, form.on_cpu, form.on_mlx] for form in FORMATS.values()]


def page() -> str:
    sections: Mapping[str, str] = {
        "Models": table(("models", "`model_type`", "GGUF", "what they do"), rows_of_models()),
        "Parts that other models use": table(("part", "`model_type`"), rows_of_parts()),
        "GGUF": GGUF + "\n\n" + table(("type", "bits a weight", "packed, if more", "on MLX"), rows_of_blocks()),
        "Safetensors": SAFETENSORS + "\n\n" + table(("weights", "from", "CPU", "MLX"), rows_of_folders()),
    }
    return HEAD + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections.items()) + TAIL


GGUF = """\
Types of blocks that a GGUF file may hold, several of them in one file. On a CPU the kernels compute from these bits as they are, on CUDA
they are multiplied as they are or unpacked for a product. MLX keeps weights in groups of its own: where these hold the same numbers
nothing is lost, else they are quantized anew.
[gguf.md](gguf.md) tells more."""

SAFETENSORS = """\
Single files and sharded ones, in 16 and 32 bits, in the spellings of transformers 4 and 5; MLX's own quantized checkpoints (2 to 8 bits,
groups of 32, 64 and 128, and its modes mxfp4, nvfp4 and mxfp8) on both backends; gpt-oss's experts in MXFP4. torch's own files (`.bin`, `.pth`)
are read where a model has no other. Other tools' quantizations are computed from their own bits; [gguf.md](gguf.md) has the rules."""

TAIL = """
## Any other model

- **MLX**: a text model that mlx-lm knows runs through mlx-lm, one sequence after another.
- **torch**: a text model that transformers knows runs through transformers, where it is installed (`pip install 'grus[transformers]'`):
  many sequences at once with prefix reuse and speculation over Grus's own KV cache, or one after another where its class keeps a memory of
  its own (Mamba) or computes attention by itself, which the log says. Weights stay whole, so it takes more memory and is slower than an
  architecture that Grus has.
- Code that comes with a checkpoint never runs. A model that needs it is refused, and the sentence names its architecture.
"""


if __name__ == "__main__":
    argparse.ArgumentParser(description="Writes docs/models.md anew.").parse_args()
    PAGE.write_text(page(), encoding="utf-8")
