"""From a sentence to its first sound on this CPU: Pocket-TTS and Chatterbox of their published shapes, random weights, in voices of ten seconds.

Chatterbox makes a passage's tokens and then all of their sound, so its first sound comes when the first passage is whole.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median

import numpy as np
import safetensors.numpy

from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking.chatterbox import TOKEN_RATE, Chatterbox
from engine.pipelines.speaking.pocket_tts import PocketTTS
from engine.pipelines.speaking.speech import SpeechOptions, speak_long_form
from engine.pipelines.speaking.voice import SpeechSampling, VoiceSettings
from engine.types import Settings
from tests.bench.shapes import KEPT
from tests.bench.table import Row
from tests.chatterbox_checkpoints import PUBLISHED, save_chatterbox
from tests.pocket_checkpoints import MARKS, TEMPLATE, tokenizer

ROUNDS, FRAMES = 7, 125  # of the recording
SHORT = 38  # tokens of Chatterbox: a second and a half
TEXT = "Good morning! The cranes have come back from the south, and at dawn they dance."


def pocket_checkpoint() -> Path:
    folder = KEPT / "pocket-tts"
    if (folder / "ready").exists():
        return folder
    import torch
    import transformers

    torch.manual_seed(0)
    words = tokenizer()
    ids = dict(zip(("prompt", "latent", "prompt_bos", "bos"), words.convert_tokens_to_ids(list(MARKS))))
    names = {f"audio_{name}_token_id": id for name, id in ids.items()}
    config = transformers.PocketTTSConfig(vocab_size=len(words), pad_token_id=1, **names)
    model = transformers.PocketTTSForConditionalGeneration(config)
    model.generation_config.update(eos_threshold=1e9, num_flow_steps=1, do_sample=True, temperature=0.5)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "processor_config.json").write_text(json.dumps({}))
    codec = transformers.PocketTTSAudioTokenizerModel(transformers.PocketTTSAudioTokenizerConfig())
    with torch.no_grad():  # random convolutions alone would be silent, and silence is held back
        for p in codec.decoder.decoder_seanet.layers[-1].parameters():
            p.mul_(50.0)
    codec.save_pretrained(folder / "audio_tokenizer")
    (folder / "voices").mkdir(exist_ok=True)
    voice = np.random.default_rng(0).standard_normal((FRAMES, config.latent_dim), dtype=np.float32)
    safetensors.numpy.save_file({"audio_prompt_latents": voice}, folder / "voices" / "alba.safetensors")
    (folder / "ready").touch()
    return folder


def rows() -> list[Row]:
    return [row for quant in ("none", "q8_0") for row in rows_of(quant)]


def rows_of(quant: str) -> list[Row]:
    model, options = str(pocket_checkpoint()), LoadOptions(backend="torch", device="cpu", quant=quant)
    with Engine(lambda name: load_any(name, options), Settings()) as engine:
        engine.load(model, pin=True)
        voice = PocketTTS(engine, model)

        def spoken() -> tuple[float, float, float]:
            """Seconds until the first sound, until the end, and of sound."""
            begin, first, samples = time.perf_counter(), 0.0, 0
            for chunk in speak_long_form(voice, TEXT, VoiceSettings(preset="alba"), SpeechOptions(seed=1)):
                first = first or (time.perf_counter() - begin if len(chunk) else 0.0)
                samples += len(chunk)
            return first, time.perf_counter() - begin, samples / voice.rate

        spoken()
        made = [spoken() for _ in range(ROUNDS)]
    weights = "f32" if quant == "none" else quant
    first, rate = median(one[0] for one in made), median(sound / spent for _, spent, sound in made)
    return [
        Row(f"Pocket-TTS, {weights}: first sound", "s", first, aim="<= 0.3", more_is_better=False),
        Row(f"Pocket-TTS, {weights}: all of it", "s of sound a s", rate),
    ]


def chatterbox_rows() -> list[Row]:
    """`Good morning.` takes a second and a half, which a limit stands for: random weights do not end by themselves."""
    folder = KEPT / "chatterbox"
    if not (folder / "ready").exists():
        save_chatterbox(folder, sizes=PUBLISHED, prompt=(6 * TOKEN_RATE, 10 * TOKEN_RATE))
        (folder / "ready").touch()
    return [row for quant in ("none", "q8_0") for row in chatterbox_rows_of(str(folder), quant)]


def chatterbox_rows_of(model: str, quant: str) -> list[Row]:
    options, limit = LoadOptions(backend="torch", device="cpu", quant=quant), SpeechSampling(max_tokens=SHORT)
    with Engine(lambda name: load_any(name, options), Settings()) as engine:
        voice = Chatterbox(engine, model)

        def spoken() -> tuple[float, float]:
            """Seconds until the first sound, and of it."""
            begin = time.perf_counter()
            first = next(voice.speak("Good morning.", VoiceSettings(), seed=1, sampling=limit))
            return time.perf_counter() - begin, len(first) / voice.rate

        spoken()
        made = [spoken() for _ in range(3)]
    weights = "f32" if quant == "none" else quant
    first = median(one[0] for one in made)
    return [
        Row(f"Chatterbox, {weights}: first sound of a short sentence", "s", first, more_is_better=False),
        Row(f"Chatterbox, {weights}: seconds of that sound", "s", made[0][1]),
    ]
