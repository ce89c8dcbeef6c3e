"""Which architecture reads which `model_type`. To add one: write its file, add a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.base import TokenModel
from engine.errors import UnsupportedArchitecture
from engine.loaded import MakePart
from engine.models.bert import bert, nomic_bert, roberta
from engine.models.bicodec import bicodec_decoder, bicodec_encoder
from engine.models.bitnet import bitnet
from engine.models.codec12 import codec_decoder, codec_encoder
from engine.models.cohere2 import cohere2
from engine.models.config import named_architectures
from engine.models.deepseek import deepseek_v2, deepseek_v3
from engine.models.ecapa import speaker_encoder
from engine.models.embedding_gemma import embedding_gemma
from engine.models.ernie4_5 import ernie4_5, ernie4_5_moe
from engine.models.exaone4 import exaone4
from engine.models.gemma3 import gemma3
from engine.models.gemma3n import gemma3n
from engine.models.gemma4 import gemma4
from engine.models.glm4 import glm4, glm4_moe
from engine.models.glm_ocr import glm_ocr
from engine.models.gpt_oss import gpt_oss
from engine.models.granite import granite, granite_hybrid, granite_moe
from engine.models.hunyuan import hunyuan_dense, hunyuan_moe
from engine.models.idefics3 import idefics3
from engine.models.internvl import internvl
from engine.models.kokoro import kokoro
from engine.models.laguna import laguna
from engine.models.lfm2 import lfm2, lfm2_moe, lfm3
from engine.models.lighton_ocr import lighton_ocr
from engine.models.llama import llama, seed_oss, smollm3
from engine.models.minimax_m2 import minimax_m2
from engine.models.ministral3 import ministral3
from engine.models.modernbert import modernbert
from engine.models.moonshine import moonshine, moonshine_streaming
from engine.models.muse_glimmer import muse_glimmer
from engine.models.nemotron_h import nemotron_h
from engine.models.olmo3 import olmo3
from engine.models.paddleocr_vl import paddleocr_vl
from engine.models.parakeet import parakeet_ctc, parakeet_rnnt, parakeet_tdt
from engine.models.phi3 import phi3
from engine.models.pp_doclayout import pp_doclayout
from engine.models.pp_ocr import pp_ocr_detector, pp_ocr_recognizer
from engine.models.qwen2 import qwen2
from engine.models.qwen2_5_vl import qwen2_5_vl
from engine.models.qwen3 import qwen3, qwen3_moe
from engine.models.qwen3_5 import qwen3_5, qwen3_5_moe
from engine.models.qwen3_asr import qwen3_asr
from engine.models.qwen3_next import qwen3_next
from engine.models.qwen3_tts import qwen3_tts
from engine.models.qwen3_vl import qwen3_vl, qwen3_vl_moe
from engine.models.silero import silero_vad
from engine.models.snac import snac
from engine.models.system_voice import system_voice
from engine.models.text_encoder import TextEncoder
from engine.models.wav2vec2 import wav2vec2
from engine.models.whisper import whisper
from engine.weights.view import View

Maker = Callable[[View, Mapping[str, Any]], TokenModel]

ARCHITECTURES: dict[str, Maker] = {
    "cohere2": cohere2,
    "deepseek_v2": deepseek_v2,
    "deepseek_v3": deepseek_v3,
    "ernie4_5": ernie4_5,
    "ernie4_5_moe": ernie4_5_moe,
    "exaone4": exaone4,
    "gemma3": gemma3,
    "gemma3_text": gemma3,
    "gemma3n": gemma3n,
    "gemma3n_text": gemma3n,
    "gemma4": gemma4,
    "gemma4_text": gemma4,
    "gemma4_unified": gemma4,
    "gemma4_unified_text": gemma4,
    "glm4": glm4,
    "glm4_moe": glm4_moe,
    "glm4_moe_lite": deepseek_v3,
    "glm_ocr": glm_ocr,
    "gpt_oss": gpt_oss,
    "granite": granite,
    "granitemoe": granite_moe,
    "granitemoehybrid": granite_hybrid,
    "granitemoeshared": granite_moe,
    "hunyuan_v1_dense": hunyuan_dense,
    "hunyuan_v1_moe": hunyuan_moe,
    "idefics3": idefics3,
    "internvl": internvl,
    "laguna": laguna,
    "lfm2": lfm2,
    "lfm2_moe": lfm2_moe,
    "lfm3": lfm3,
    "lighton_ocr": lighton_ocr,
    "llama": llama,
    "minimax_m2": minimax_m2,
    "ministral3": ministral3,
    "mistral": llama,
    "mistral3": ministral3,
    "moonshine": moonshine,
    "moonshine_streaming": moonshine_streaming,
    "muse_glimmer": muse_glimmer,
    "muse_glimmer_text": muse_glimmer,
    "nemotron_h": nemotron_h,
    "olmo2": olmo3,
    "olmo3": olmo3,
    "paddleocr_vl": paddleocr_vl,
    "phi3": phi3,
    "qwen2": qwen2,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3": qwen3,
    "qwen3_5": qwen3_5,
    "qwen3_5_moe": qwen3_5_moe,
    "qwen3_5_moe_text": qwen3_5_moe,
    "qwen3_5_text": qwen3_5,
    "qwen3_asr": qwen3_asr,
    "qwen3_moe": qwen3_moe,
    "qwen3_next": qwen3_next,
    "qwen3_tts": qwen3_tts,
    "qwen3_vl": qwen3_vl,
    "qwen3_vl_moe": qwen3_vl_moe,
    "seed_oss": seed_oss,
    "bitnet": bitnet,
    "smollm3": smollm3,
    "smolvlm": idefics3,
    "whisper": whisper,
}

# Models that are no token models; see `engine.parts`. A checkpoint that holds several has them behind a "#".
PARTS: dict[str, MakePart] = {
    "bicodec": bicodec_decoder,
    "bicodec#encoder": bicodec_encoder,
    "kokoro": kokoro,
    "parakeet_ctc": parakeet_ctc,
    "parakeet_rnnt": parakeet_rnnt,
    "parakeet_tdt": parakeet_tdt,
    "pp_doclayout_v2": pp_doclayout,
    "pp_doclayout_v3": pp_doclayout,
    "pp_ocrv6_medium_det": pp_ocr_detector,
    "pp_ocrv6_small_rec": pp_ocr_recognizer,
    "qwen3_tts#speaker": speaker_encoder,
    "qwen3_tts_tokenizer_12hz": codec_decoder,
    "qwen3_tts_tokenizer_12hz#encoder": codec_encoder,
    "silero_vad": silero_vad,
    "snac": snac,
    "system_voice": system_voice,
    "wav2vec2": wav2vec2,
}
# Those that hear whole stretches of speech: they have a tokenizer, and are quantized like models that write.
RECOGNIZERS = frozenset({"parakeet_ctc", "parakeet_rnnt", "parakeet_tdt"})
# Parts that hear differences which a half-precision float has not: computed in f32 whatever else is chosen.
EXACT_PARTS = frozenset(PARTS) - RECOGNIZERS - {"pp_doclayout_v2", "pp_doclayout_v3"}

# Models that read texts whole and write none: embedding models, and cross-encoders, which rank.
MakeEncoder = Callable[[View, Mapping[str, Any]], TextEncoder]
ENCODERS: dict[str, MakeEncoder] = {
    "bert": bert,
    "camembert": roberta,
    "gemma3_text": embedding_gemma,  # where it attends in both directions, see `find_encoder`
    "modernbert": modernbert,
    "nomic_bert": nomic_bert,
    "roberta": roberta,
    "xlm-roberta": roberta,
}


def find_encoder(config: Mapping[str, Any]) -> MakeEncoder | None:
    kind = str(config.get("model_type"))
    if kind in ARCHITECTURES and config.get("use_bidirectional_attention") is not True:
        return None
    return ENCODERS.get(kind)


def part_kind(config: Mapping[str, Any], piece: str = "") -> str:
    """What PARTS knows the part of a checkpoint by: the whole of it, or a piece that was asked for."""
    kind = str(config.get("model_type"))
    return f"{kind}#{piece}" if piece else kind


def find_part(config: Mapping[str, Any], piece: str = "") -> MakePart | None:
    return PARTS.get(part_kind(config, piece))


def find_architecture(config: Mapping[str, Any], name: str, library: str = "", hint: str = "") -> Maker:
    """The maker for a config, or an error that names the type, the model, and what is supported. `library`: what the
    backend reads other architectures with, which does not know this one either; `hint`: how to get one."""
    model_type = config.get("model_type")
    maker = ARCHITECTURES.get(str(model_type))
    if maker is None:
        tried = f"; {library} was tried and does not know it either" if library else ""
        raise UnsupportedArchitecture(
            f"{name} has the architecture `{model_type}`{named_architectures(config)}, which Grus does not know{tried}. "
            f"Supported: {', '.join(sorted({*ARCHITECTURES, *ENCODERS}))}."
            + (f" {hint}." if hint and not library else "")
        )
    return maker
