"""Speech recognition: voice activity detection, transcription, word times."""

LISTENING = (
    "moonshine",
    "moonshine_streaming",
    "parakeet_ctc",
    "parakeet_rnnt",
    "parakeet_tdt",
    "qwen3_asr",
    "voxtral",
    "voxtral_realtime",
    "whisper",
)  # model types
LISTENING_CHATS = frozenset({"voxtral"})  # those that talk about what they hear as well
DIARIZING = ("nemotron3_diarization", "sortformer")  # those that tell who speaks when
VERIFYING = ("wavlm",)  # those that know voices again
ALIGNING = ("qwen3_forced_aligner",)  # those that tell when each word of a transcript is said
