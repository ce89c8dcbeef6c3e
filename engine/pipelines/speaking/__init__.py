"""Text to speech: voices, passages, and the models that speak. How each of these models is known is here, without the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHATTERBOX_VOICE = "default"  # that comes with the model
CHATTERBOX_STYLE = "exaggeration 0.7, guidance 0.3"  # an example of its instructions
OMNIVOICE_STYLE = "female, low pitch, british accent"  # an example of its instructions
OMNIVOICE_LANGUAGES = (
    *(
        "arabic",
        "chinese",
        "dutch",
        "english",
        "french",
        "german",
        "hindi",
        "indonesian",
        "italian",
        "japanese",
        "korean",
    ),
    *("polish", "portuguese", "russian", "spanish", "thai", "turkish", "ukrainian", "vietnamese"),
)  # those of 600 that are named; others by their code
_ORPHEUS_VOCABULARY = 128_266 + 7 * 4096  # Llama's, and the codes of a frame


def is_kokoro(config: Mapping[str, Any]) -> bool:
    return config.get("model_type") == "kokoro" or {"istftnet", "plbert"} <= config.keys()


def is_orpheus(config: Mapping[str, Any]) -> bool:
    return config.get("model_type") == "llama" and int(config.get("vocab_size", 0)) >= _ORPHEUS_VOCABULARY


def spark_folder(folder: Path) -> Path | None:
    """The folder that holds Spark-TTS's codec: the language model's or its parent. None for other models."""
    return next((home for home in (folder, folder.parent) if (home / "BiCodec" / "config.yaml").is_file()), None)


def is_spark(folder: Path) -> bool:
    return spark_folder(folder) is not None
