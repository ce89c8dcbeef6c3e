"""Speech recognition: voice activity detection, transcription, word times."""

LISTENING = (
    "moonshine",
    "moonshine_streaming",
    "parakeet_ctc",
    "parakeet_rnnt",
    "parakeet_tdt",
    "qwen3_asr",
    "whisper",
)  # model types
DIARIZING = ("sortformer",)  # those that tell who speaks when
