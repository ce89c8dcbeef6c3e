"""Voices that are remembered: a name given in one recording is known in the next, in new processes; who may read them; how they go."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import grus
from app.cli import main
from app.runtime import known_voices
from app.runtime.known_voices import KnownVoices
from engine.errors import BadRequest
from engine.file_lock import exclusive
from engine.pipelines.listening.voice_prints import VoicePrint
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.sortformer_checkpoints import save_sortformer
from tests.speech_checkpoints import save_parakeet
from tests.wavlm_checkpoints import save_wavlm


def of(*values: float) -> VoicePrint:
    vector = np.array(values, np.float32)
    return VoicePrint(vector / np.linalg.norm(vector), 2.0)


@pytest.mark.slow
def test_a_name_of_one_recording_is_known_in_the_next_process(tmp_path: Path) -> None:
    models = ["--model", save_parakeet("parakeet_tdt", tmp_path / "words"), "--speakers", save_sortformer("v2", tmp_path / "voices"),
              "--voice-prints", save_wavlm(tmp_path / "prints")]  # fmt: skip
    home = ["--folder", tmp_path / "home"]

    def listen(file: str, *more: object) -> list[str]:
        command = [sys.executable, "-m", "app.cli", "listen", tmp_path / file, *models, *home, "--device", "cpu", *more]
        done = subprocess.run(
            [*map(str, command), "--format", "json"], capture_output=True, text=True, timeout=250, check=False
        )
        assert done.returncode == 0, done.stderr
        return [one["speaker"] for one in json.loads(done.stdout)["segments"]]

    sound = talk(4)
    soundfile.write(tmp_path / "one.wav", sound, RATE)
    soundfile.write(tmp_path / "two.wav", sound, RATE, subtype="FLOAT")  # the same people, in another file
    first = listen("one.wav", "--name", "1=Anna Kranich")
    assert first[0] == "Anna Kranich"
    file = tmp_path / "home" / "data" / "voice-prints.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    second = listen("two.wav")
    assert [name == "Anna Kranich" for name in second] == [name == "Anna Kranich" for name in first]
    listed = subprocess.run(
        [sys.executable, "-m", "app.cli", "listen", "--known-voices", *map(str, home)], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert listed.stdout == "Anna Kranich\n"
    assert main(["listen", "--forget-voice", "Anna Kranich", *map(str, home)]) == 0
    assert not file.exists()
    assert main(["listen", "--forget-voice", "Anna Kranich", *map(str, home)]) == 2
    assert "Speaker 1" in listen("two.wav")


def test_a_correction_takes_the_vector_back(tmp_path: Path) -> None:
    voices = KnownVoices(tmp_path)
    voices.keep("Anna", "m", "monday", of(1, 0))
    voices.keep("Anna", "m", "tuesday", of(0, 1))
    assert [(one.name, one.recordings) for one in voices.all()] == [("Anna", 2)]
    voices.keep("Bert", "m", "tuesday", of(0, 1), instead="Anna")
    np.testing.assert_allclose(voices.prints("m")["Anna"].vector, [1, 0], atol=1e-5)
    np.testing.assert_allclose(voices.prints("m")["Bert"].vector, [0, 1], atol=1e-5)
    assert voices.prints("another model") == {}
    for number in range(30):
        voices.keep("Anna", "m", str(number), of(1, number))
    assert {one.name: one.recordings for one in voices.all()} == {"Anna": 10, "Bert": 1}
    assert voices.delete("Bert")
    assert not voices.delete("Bert")
    assert "Bert" not in voices.file.read_text()


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"voices": [1]}', '{"voices": [{"name": "A"}]}'):
        (tmp_path / "voice-prints.json").write_text(text)
        assert KnownVoices(tmp_path).all() == []
    with pytest.raises(BadRequest, match="name"):
        KnownVoices(tmp_path).keep(" ", "m", "r", of(1))


def test_what_does_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soundfile.write(tmp_path / "one.wav", talk(1), RATE)
    words = save_parakeet("parakeet_ctc", tmp_path / "words")
    for more, message in (
        (["--name", "1=Anna"], "--speakers"),
        (["--voice-prints", "x"], "--speakers"),
        (["--name", "Anna", "--speakers", "x"], "1=Anna"),
    ):
        assert main(["listen", str(tmp_path / "one.wav"), "--model", str(words), *more]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(BadRequest, match="speakers"):
        grus.Ears(str(words), voice_prints=str(words))


def test_a_file_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    voices = KnownVoices(tmp_path)
    voices.keep("Anna", "m", "monday", of(1, 0))
    damaged = voices.file.read_bytes()[:-5]
    voices.file.write_bytes(damaged)
    assert voices.all() == []
    for change in (lambda: voices.keep("Bert", "m", "monday", of(0, 1)), lambda: voices.delete("Anna")):
        with pytest.raises(BadRequest, match="cannot be read"):
            change()
    assert voices.file.read_bytes() == damaged


def test_a_deleted_voice_comes_back_but_for_what_was_named_since(tmp_path: Path) -> None:
    voices = KnownVoices(tmp_path)
    voices.keep("Anna", "m", "monday", of(1, 0))
    voices.keep("Anna", "m", "tuesday", of(0, 1))
    voices.keep("Bert", "m", "monday", of(1, 1))
    assert [one["recording"] for one in voices.delete("Anna", "tuesday")] == ["tuesday"]
    gone = voices.delete("Anna")
    voices.keep("Anna", "m", "monday", of(0, 1))
    voices.restore(gone)
    np.testing.assert_allclose(voices.prints("m")["Anna"].vector, [0, 1], atol=1e-5)
    assert {one.name: one.recordings for one in voices.all()} == {"Anna": 1, "Bert": 1}
    gone = voices.delete("Anna")
    voices.restore(gone)
    voices.restore(gone)
    assert {one.name: one.recordings for one in voices.all()} == {"Anna": 1, "Bert": 1}


NAMING = """
import sys
from pathlib import Path
import numpy as np
from app.runtime.known_voices import KnownVoices
from engine.pipelines.listening.voice_prints import VoicePrint

for number in range(20):
    KnownVoices(Path(sys.argv[1])).keep(f"{sys.argv[2]} {number}", "m", "r", VoicePrint(np.ones(200, np.float32), 2.0))
"""


def test_programs_that_name_voices_at_once_lose_none(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", NAMING, str(tmp_path), name]) for name in ("Anna", "Bert", "Eva")
    ]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    want = {f"{name} {number}" for name in ("Anna", "Bert", "Eva") for number in range(20)}
    assert {one.name for one in KnownVoices(tmp_path).all()} == want


def test_who_waits_too_long_for_another_program_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_voices, "_PATIENCE", 0.2)
    voices = KnownVoices(tmp_path)
    with (
        exclusive(voices.file.with_suffix(".lock"), lambda: None),
        pytest.raises(BadRequest, match="another program"),
    ):
        voices.keep("Anna", "m", "r", of(1))
    voices.keep("Anna", "m", "r", of(1))
    assert [one.name for one in voices.all()] == ["Anna"]
