"""Kokoro on this CPU at its published shape with random weights: seconds of work for a second of sound, and when the first is heard."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch

from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking.kokoro import KokoroVoice
from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form
from engine.pipelines.speaking.voice import VoiceSettings
from engine.types import Settings
from tests.bench.shapes import KEPT
from tests.bench.table import Row
from tests.kokoro_checkpoints import PUBLISHED, scaled, shapes

ROUNDS = 5
SHORT = "Good morning."
SENTENCE = "The cranes have come back from the south, and in the wet meadows behind the village they dance at dawn."
TEXT = f"{SHORT} {SENTENCE}"


def kokoro_checkpoint() -> Path:
    """Phonemes last three frames, as in speech: a random projection alone would make them eight times longer."""
    folder = KEPT / "kokoro-82m"
    if not (folder / "config.json").exists():
        (folder / "voices").mkdir(parents=True, exist_ok=True)
        tensors = scaled(shapes(PUBLISHED, "published"), 0)
        tensors["predictor.duration_proj.linear_layer.bias"] -= 2.75
        torch.save(tensors, folder / "kokoro-v1_0.pth")
        style = np.random.default_rng(0).standard_normal((510, 1, 256), dtype=np.float32) * np.float32(0.1)
        torch.save(torch.from_numpy(style), folder / "voices" / "af_heart.pt")
        (folder / "config.json").write_text(json.dumps(PUBLISHED, ensure_ascii=False))
    return folder


def rows() -> list[Row]:
    model = str(kokoro_checkpoint())
    options = LoadOptions(backend="torch", device="cpu")
    with Engine(lambda name: load_any(name, options), Settings()) as engine:
        engine.load(model, pin=True)
        voice = KokoroVoice(engine, model)

        def spoken(text: str = TEXT) -> tuple[float, float, float]:
            """Seconds until the first sound, until the end, and of sound."""
            begin, first, samples = time.perf_counter(), 0.0, 0
            for chunk in speak_long_form(voice, text, VoiceSettings(), SpeechOptions(seed=1)):
                first = first or (time.perf_counter() - begin if len(chunk) else 0.0)
                samples += len(chunk)
            return first, time.perf_counter() - begin, samples / voice.rate

        fresh = spoken()[0]
        made = [spoken() for _ in range(ROUNDS)]
        alone_first, sentence_first = (median(spoken(text)[0] for _ in range(ROUNDS)) for text in (SHORT, SENTENCE))
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        spoken()
        begin = time.process_time()
        alone = spoken()[2] / (time.process_time() - begin)
        torch.set_num_threads(threads)
    return [
        Row("all of it", "s of sound a s", median(sound / spent for _, spent, sound in made), aim=">= 5x"),
        *(
            Row(f"first sound of {what}", "s", first, aim="<= 0.3", more_is_better=False)
            for what, first in (
                ("both sentences", median(one[0] for one in made)),
                ("a short sentence", alone_first),
                ("an ordinary sentence", sentence_first),
            )
        ),
        Row("first sound after loading", "s", fresh, more_is_better=False),
        Row("one thread, by its CPU time", "s of sound a s", alone),
        Row("sound in all", "s", made[0][2]),
    ]
