"""Which architecture reads which `model_type`. To add one: write its file, add a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from backends.base import TokenModel
from engine.errors import UnsupportedArchitecture
from engine.loaded import MakePart
from engine.models.config import named_architectures
from engine.weights.view import View

if TYPE_CHECKING:
    from engine.models.text_encoder import TextEncoder

Maker = Callable[[View, Mapping[str, Any]], TokenModel]
MakeEncoder = Callable[[View, Mapping[str, Any]], "TextEncoder"]
_M = TypeVar("_M")


class _Makers(Mapping[str, _M]):
    """What makes each model type, given as the file and function of this package. A file is imported when its type is
    first asked for: an idle window, which only asks what there is, then holds none of them in memory."""

    def __init__(self, functions: Mapping[str, str]) -> None:
        self.functions = functions

    def __getitem__(self, kind: str) -> _M:
        file, function = self.functions[kind].split(".")
        made: _M = getattr(import_module(f"engine.models.{file}"), function)
        return made

    def __contains__(self, kind: object) -> bool:
        return kind in self.functions

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)


_ARCHITECTURES = {
    "chatterbox": "chatterbox_t3.chatterbox",
    "cohere2": "cohere2.cohere2",
    "deepseek_ocr2": "deepseek_ocr2.deepseek_ocr2",
    "deepseek_v2": "deepseek.deepseek_v2",
    "deepseek_v3": "deepseek.deepseek_v3",
    "ernie4_5": "ernie4_5.ernie4_5",
    "ernie4_5_moe": "ernie4_5.ernie4_5_moe",
    "exaone4": "exaone4.exaone4",
    "gemma3": "gemma3.gemma3",
    "gemma3_text": "gemma3.gemma3",
    "gemma3n": "gemma3n.gemma3n",
    "gemma3n_text": "gemma3n.gemma3n",
    "gemma4": "gemma4.gemma4",
    "gemma4_text": "gemma4.gemma4",
    "gemma4_unified": "gemma4.gemma4",
    "gemma4_unified_text": "gemma4.gemma4",
    "glm4": "glm4.glm4",
    "glm4_moe": "glm4.glm4_moe",
    "glm4_moe_lite": "deepseek.deepseek_v3",
    "glm46v": "glm4v.glm4v",
    "glm4v": "glm4v.glm4v",
    "glm_ocr": "glm_ocr.glm_ocr",
    "gpt_oss": "gpt_oss.gpt_oss",
    "granite": "granite.granite",
    "granitemoe": "granite.granite_moe",
    "granitemoehybrid": "granite.granite_hybrid",
    "granitemoeshared": "granite.granite_moe",
    "hunyuan_v1_dense": "hunyuan.hunyuan_dense",
    "hunyuan_v1_moe": "hunyuan.hunyuan_moe",
    "idefics3": "idefics3.idefics3",
    "internvl": "internvl.internvl",
    "laguna": "laguna.laguna",
    "lfm2": "lfm2.lfm2",
    "lfm2-vl": "lfm2_vl.lfm2_vl",
    "lfm2_moe": "lfm2.lfm2_moe",
    "lfm2_vl": "lfm2_vl.lfm2_vl",
    "lfm3": "lfm2.lfm3",
    "lighton_ocr": "lighton_ocr.lighton_ocr",
    "llama": "llama.llama",
    "minimax_m2": "minimax_m2.minimax_m2",
    "ministral3": "ministral3.ministral3",
    "mistral": "llama.llama",
    "mistral3": "ministral3.ministral3",
    "moonshine": "moonshine.moonshine",
    "moonshine_streaming": "moonshine.moonshine_streaming",
    "muse_glimmer": "muse_glimmer.muse_glimmer",
    "muse_glimmer_text": "muse_glimmer.muse_glimmer",
    "nemotron_h": "nemotron_h.nemotron_h",
    "olmo2": "olmo3.olmo3",
    "olmo3": "olmo3.olmo3",
    "paddleocr_vl": "paddleocr_vl.paddleocr_vl",
    "phi3": "phi3.phi3",
    "pocket_tts": "pocket_tts.pocket_tts",
    "qwen2": "qwen2.qwen2",
    "qwen2_5_vl": "qwen2_5_vl.qwen2_5_vl",
    "qwen3": "qwen3.qwen3",
    "qwen3_5": "qwen3_5.qwen3_5",
    "qwen3_5_moe": "qwen3_5.qwen3_5_moe",
    "qwen3_5_moe_text": "qwen3_5.qwen3_5_moe",
    "qwen3_5_text": "qwen3_5.qwen3_5",
    "qwen3_asr": "qwen3_asr.qwen3_asr",
    "qwen3_moe": "qwen3.qwen3_moe",
    "qwen3_next": "qwen3_next.qwen3_next",
    "qwen3_tts": "qwen3_tts.qwen3_tts",
    "qwen3_vl": "qwen3_vl.qwen3_vl",
    "qwen3_vl_moe": "qwen3_vl.qwen3_vl_moe",
    "seed_oss": "llama.seed_oss",
    "bitnet": "bitnet.bitnet",
    "smollm3": "llama.smollm3",
    "smolvlm": "idefics3.idefics3",
    "unlimited_ocr": "unlimited_ocr.unlimited_ocr",
    "voxtral": "voxtral.voxtral",
    "voxtral_realtime": "voxtral_realtime.voxtral_realtime",
    "whisper": "whisper.whisper",
}

ARCHITECTURES: Mapping[str, Maker] = _Makers(_ARCHITECTURES)

# Models that are no token models; see `engine.parts`. A checkpoint that holds several has them behind a "#".
_PARTS = {
    "bicodec": "bicodec.bicodec_decoder",
    "bicodec#encoder": "bicodec.bicodec_encoder",
    "chatterbox#decoder": "s3gen.s3gen",
    "chatterbox#encoder": "chatterbox_encoder.chatterbox_encoder",
    "higgs_audio_v2_tokenizer": "higgs_codec.higgs_decoder",
    "higgs_audio_v2_tokenizer#encoder": "higgs_codec.higgs_encoder",
    "kokoro": "kokoro.kokoro",
    "nemotron3_diarization": "nemotron_diarization.nemotron_diarization",
    "omnivoice": "omnivoice.omnivoice",
    "parakeet_ctc": "parakeet.parakeet_ctc",
    "parakeet_rnnt": "parakeet.parakeet_rnnt",
    "parakeet_tdt": "parakeet.parakeet_tdt",
    "pocket_tts_audio_tokenizer": "pocket_codec.pocket_decoder",
    "pocket_tts_audio_tokenizer#encoder": "pocket_codec.pocket_encoder",
    "pp_doclayout_v2": "pp_doclayout.pp_doclayout",
    "pp_doclayout_v3": "pp_doclayout.pp_doclayout",
    "pp_doclayout_v4": "pp_doclayout.pp_doclayout",
    "pp_ocrv6_medium_det": "pp_ocr.pp_ocr_detector",
    "pp_ocrv6_small_rec": "pp_ocr.pp_ocr_recognizer",
    "qwen3_forced_aligner": "qwen3_aligner.qwen3_forced_aligner",
    "qwen3_tts#speaker": "ecapa.speaker_encoder",
    "qwen3_tts_tokenizer_12hz": "codec12.codec_decoder",
    "qwen3_tts_tokenizer_12hz#encoder": "codec12.codec_encoder",
    "silero_vad": "silero.silero_vad",
    "snac": "snac.snac",
    "sortformer": "sortformer.sortformer",
    "system_voice": "system_voice.system_voice",
    "wav2vec2": "wav2vec2.wav2vec2",
    "wavlm": "wavlm.wavlm",
}
PARTS: Mapping[str, MakePart] = _Makers(_PARTS)
# Those that hear whole stretches of speech.
RECOGNIZERS = frozenset({"parakeet_ctc", "parakeet_rnnt", "parakeet_tdt"})
# Those that have a tokenizer, and are quantized like models that write.
WITH_TOKENIZER = RECOGNIZERS | {"omnivoice", "qwen3_forced_aligner"}
# Parts that hear differences which a half-precision float has not: computed in f32 whatever else is chosen.
EXACT_PARTS = frozenset(PARTS) - WITH_TOKENIZER - {"pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4"}

# Models that read texts whole and write none: embedding models, and cross-encoders, which rank.
_ENCODERS = {
    "bert": "bert.bert",
    "camembert": "bert.roberta",
    "gemma3_text": "embedding_gemma.embedding_gemma",  # where it attends in both directions, see `find_encoder`
    "modernbert": "modernbert.modernbert",
    "nomic_bert": "bert.nomic_bert",
    "roberta": "bert.roberta",
    "xlm-roberta": "bert.roberta",
}
ENCODERS: Mapping[str, MakeEncoder] = _Makers(_ENCODERS)
FUNCTIONS: tuple[Mapping[str, str], ...] = (
    _ARCHITECTURES,
    _PARTS,
    _ENCODERS,
)  # by file and name, which nothing imports yet


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
