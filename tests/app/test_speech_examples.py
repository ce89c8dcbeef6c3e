"""The commands of docs/speech.md, word for word, each in a new process in a folder where tiny random models have the names that stand there.
Left out: those that play or hear, which need a sound device."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests import books
from tests.app.test_examples import as_run, commands, run
from tests.chatterbox_checkpoints import save_chatterbox
from tests.checkpoints import save as save_decoder
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.listening.conftest import talk
from tests.engine.weights.test_ggml_whisper import MANY, write
from tests.kokoro_checkpoints import save_kokoro
from tests.needs import need_program
from tests.omnivoice_checkpoints import save_omnivoice
from tests.qwen3_tts_cases import checkpoint, ending
from tests.recordings import RATE, save_media
from tests.spark_checkpoint import save_all
from tests.speech_checkpoints import save, save_whisper

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def talker(kind: str) -> Callable[[Path], object]:
    def made(folder: Path) -> None:
        ending(checkpoint(kind, folder))
        config = json.loads((folder / "config.json").read_text())
        config["talker_config"]["spk_id"]["ryan"] = 1048
        config["talker_config"]["spk_is_dialect"]["ryan"] = False
        (folder / "config.json").write_text(json.dumps(config))

    return made


MODELS: dict[str, Callable[[Path], object]] = {
    "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice": talker("custom_voice"),
    "qwen3-tts": talker("custom_voice"),
    "qwen3-tts-base": talker("base"),
    "UsefulSensors/moonshine-base": lambda folder: save("moonshine", folder),
    "moonshine-base": lambda folder: save("moonshine", folder),
    "openai/whisper-small": save_whisper,
    "ggml-large-v3-turbo.bin": lambda file: write(file, MANY, "f16"),
    "qwen3": lambda folder: save_decoder("qwen3", folder),
    "hexgrad/Kokoro-82M": save_kokoro,
    "ResembleAI/chatterbox": save_chatterbox,
    "k2-fsa/OmniVoice": save_omnivoice,
    "Spark-TTS-0.5B/LLM": lambda folder: save_all(folder.parent),
}
PROGRAMS = {"Kokoro": "espeak-ng", "--book cranes.epub": "espeak-ng"}
DEVICES = ("grus speak 'Good morning.'", "--mic", "--ears ./moonshine-base --model ./qwen3")


def on_a_bare_machine(command: str) -> bool:
    if "Spark-TTS" in command:
        return False  # a tiny one with random weights does not end its speech; see tests/engine/pipelines/speaking/test_spark.py
    plays = command == DEVICES[0] or ("-o" not in command.split() and command.startswith("grus speak 'Good"))
    return not plays and not any(words in command for words in DEVICES[1:])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def prepared(command: str, models: Path, place: Path) -> None:
    """The models and the files that a command names."""
    words = [word.removeprefix("./") for word in shlex.split(command)]
    for name, make in MODELS.items():
        if name in words:
            if not (models / name).exists():
                (models / name).parent.mkdir(parents=True, exist_ok=True)
                make(models / name)
            home = name.split("/")[0]
            if not (place / home).exists():
                (place / home).symlink_to(models / home)
    sound, wide = talk(4), np.repeat(talk(4), RATE // 16000)
    samples = (np.clip(wide, -1, 1) * 32767).astype("<i2")
    made: dict[str, Callable[[Path], object]] = {
        "me.wav": lambda file: soundfile.write(file, sound[: 3 * 16000], 16000),
        "question.wav": lambda file: soundfile.write(file, sound, 16000),
        "talk.mp3": lambda file: soundfile.write(file, sound, 16000),
        "interview.m4a": lambda file: save_media(file, "aac", [samples]),
        "film.mkv": lambda file: save_media(file, "aac", [samples, samples], pictures=True),
        "book.txt": lambda file: file.write_text("# Cranes\n\nThey **dance** at dawn."),
        "play.md": lambda file: file.write_text("# Play\n\n[anna] Hello. [/anna]\n\n[bert] Yes. [/bert]\n"),
        "cranes.epub": lambda file: books.epub(file, books.chapters(3, 1), picture=books.cover()),
        "cranes.pdf": lambda file: file.write_bytes(text_pdf(*(f"Chapter {i}\n\nCranes dance." for i in range(1, 10)))),
    }
    for name, write_file in made.items():
        if name in words:
            write_file(place / name)


@pytest.mark.parametrize("command", [command for command in commands("speech") if on_a_bare_machine(command)])
def test_a_command_does_what_is_written(command: str, models: Path, tmp_path: Path) -> None:
    for words, program in PROGRAMS.items():
        if words in command:
            need_program(program)
    prepared(command, models, tmp_path)
    before = set(tmp_path.rglob("*"))
    done = run(as_run(command), tmp_path)
    assert done.returncode == 0, done.stderr
    given = shlex.split(command)
    if "-o" in given:
        target = tmp_path / given[given.index("-o") + 1]
        assert target.exists() or target.with_suffix("").is_dir(), done.stderr
    elif "--list-chapters" in given or given[1] == "listen":
        assert done.stdout.strip() or set(tmp_path.rglob("*")) > before
    else:
        assert set(tmp_path.rglob("*")) > before


def test_the_page_has_examples() -> None:
    assert sum(map(on_a_bare_machine, commands("speech"))) >= 15
