"""Whether a model that speaks or listens works: one frame of a voice, one second of sound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.cancel import CancelScope
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS, default_settings
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.synthesis import FRAME_RATE
from engine.pipelines.speaking.voice import SpeechSampling, VoiceSettings


def speak_one_frame(scope: CancelScope, name: str) -> None:
    """Waits in a thread. Raises what goes wrong."""
    voice = speaker(scope, name)
    manner = default_settings(voice.prompts) if isinstance(voice, Qwen3TTS) else VoiceSettings()
    tokens = math.ceil(voice.token_rate / FRAME_RATE) + 1  # of a frame, and what comes before the first
    for _ in voice.speak("Hello.", manner, seed=0, sampling=SpeechSampling(max_tokens=tokens)):
        return


def hear_one_second(scope: CancelScope, name: str, loaded: Any) -> None:
    """Waits in a thread. A tone says nothing; that the model computed it is enough."""
    tone = 0.1 * np.sin(2 * np.pi * 220 * np.arange(SAMPLE_RATE) / SAMPLE_RATE)
    Transcriber(scope, asr_model(name, loaded)).submit(tone.astype(np.float32)).result()
