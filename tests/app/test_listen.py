"""`grus listen`, as a person types it."""

from __future__ import annotations

import json

import pytest
import soundfile

from app.cli import main
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import save


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save("moonshine", tmp_path_factory.mktemp("listen") / "moonshine-tiny"))


@pytest.fixture
def files(tmp_path):
    for name, parts in (("one.wav", 1), ("two.flac", 2)):
        soundfile.write(tmp_path / name, talk(parts), RATE)
    return tmp_path


def grus(capsys, *arguments):
    code = main([*map(str, arguments), "--backend", "torch", "--device", "cpu"])
    return code, *capsys.readouterr()


def test_text_on_standard_output(files, model, capsys):
    code, out, _ = grus(capsys, "listen", files / "one.wav", "--model", model)
    assert code == 0
    assert len(out.splitlines()) == 1


def test_json_with_words_into_a_file(files, model, capsys):
    target = files / "said.json"
    code, out, err = grus(
        capsys, "listen", files / "two.flac", "--format", "json", "--words", "-o", target, "--model", model
    )
    assert (code, out) == (0, "")
    assert "said.json" in err
    body = json.loads(target.read_text())
    assert len(body["segments"]) == 2
    assert body["segments"][0]["words"]
    assert list(files.glob("*.part")) == []


def test_several_files_go_beside_themselves_and_a_bad_one_stops_nothing(files, model, capsys):
    (files / "bad.wav").write_bytes(b"nothing")
    given = [files / name for name in ("one.wav", "bad.wav", "two.flac")]
    code, _, err = grus(capsys, "listen", *given, "--format", "srt", "--model", model)
    assert code == 2
    assert "bad.wav could not be read as sound" in err
    assert (files / "one.srt").read_text().startswith("1\n00:00:0")
    assert (files / "two.srt").exists()


@pytest.mark.parametrize(("arguments", "says"), [
    ([], "one of the two"),
    (["--mic", "a.wav"], "one of the two"),
    (["a.wav", "--words"], "--format json"),
    (["a.wav"], "is not a file"),
])  # fmt: skip
def test_what_cannot_be(arguments, says, model, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = grus(capsys, "listen", *arguments, "--model", model)
    assert code == 2
    assert says in err
