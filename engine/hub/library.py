"""huggingface_hub, imported when it is first used (it takes long), and told to send nothing but what it is asked for."""

from __future__ import annotations

from typing import Any


def hub() -> Any:
    """By itself it would tell Hugging Face which libraries are installed here, and which program runs it."""
    import huggingface_hub

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True
    return huggingface_hub
