"""Talking with tiny models of three kinds: from Python, and as a person types it."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

import grus
from app.cli import main
from app.commands import talk as command
from engine.pipelines.speaking.speech import SpeechOptions
from engine.pipelines.voice_chat import Answered, Heard, Reply, Voiced
from tests.checkpoints import save as save_text
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.qwen3_tts_cases import checkpoint, ending
from tests.speech_checkpoints import save

PIECE = 1600


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("talks")
    return {
        "ears": str(save("moonshine", folder / "moonshine-tiny")),
        "voice_model": str(ending(checkpoint("custom_voice", folder / "voice"))),
        "model": str(save_text("qwen3", folder / "text", max_position_embeddings=2048)),
    }


def spoken(parts):
    sound = talk(parts)
    return [sound[at : at + PIECE] for at in range(0, len(sound), PIECE)]


def test_what_is_said_is_answered_aloud(models):
    options = {"backend": "auto", "device": "cpu", "dtype": "f32"}
    events = list(
        grus.talk(
            spoken(1),
            **models,
            voice="eric",
            max_tokens=12,
            temperature=0.0,
            speech=SpeechOptions(seed=3),
            options=options,
        )
    )
    kinds = [type(event) for event in events]
    assert any(isinstance(event, Heard) and not event.final for event in events)  # captions while it is said
    question = next(i for i, event in enumerate(events) if isinstance(event, Heard) and event.final)
    assert kinds[-1] is Answered
    assert events[-1].error is None
    assert question < kinds.index(Reply) < kinds.index(Voiced)
    assert sum(len(event.samples) for event in events if isinstance(event, Voiced)) > 1000
    assert events[-1].text == " ".join(event.text for event in events if isinstance(event, Reply))


def typed(capsys, *arguments):
    code = main(["talk", *map(str, arguments), "--backend", "auto", "--device", "cpu"])
    return code, *capsys.readouterr()


def flags(models):
    return ["--seed", 3, *(part for name, value in models.items() for part in (f"--{name.replace('_', '-')}", value))]


def test_a_recorded_question_gets_an_answer_in_a_file(models, tmp_path, capsys):
    soundfile.write(tmp_path / "question.wav", talk(1), RATE)
    target = tmp_path / "answer.flac"
    code, out, err = typed(
        capsys, tmp_path / "question.wav", "-o", target, "--voice", "eric", "--max-tokens", 12, *flags(models)
    )
    assert code == 0, err
    assert out.startswith("> ")
    assert soundfile.info(target).duration > 0.05


def test_at_the_microphone_a_second_question_stops_the_voice(models, capsys, monkeypatch):
    played, stops = [], []

    class Speaker:
        def __init__(self, rate):
            assert rate == 24000

        play = staticmethod(lambda samples: played.append(len(samples)))
        stop = staticmethod(lambda: stops.append(len(played)))

        def finish(self):
            pass

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731

    def microphone(begun):
        begun()
        yield from spoken(1)
        while not played:
            yield np.zeros(PIECE, np.float32)
        yield from spoken(1)

    monkeypatch.setattr(command, "TerminalLoudspeaker", Speaker)
    monkeypatch.setattr(command, "pieces", microphone)
    code, out, err = typed(capsys, "--voice", "eric", "--max-tokens", 40, *flags(models))
    assert code == 0, err
    assert "Ctrl-C" in err
    assert out.count("> ") == 2
    assert stops


@pytest.mark.parametrize(("arguments", "message"), [
    (["-o", "a.wav"], "give the FILE"),
    (["none.wav"], "is not a file"),
    (["q.wav", "-o", "nowhere/a.wav"], "does not exist"),
    (["silence.wav", "-o", "a.wav"], "No speech was heard in silence.wav"),
    (["q.wav", "-o", "a.midi"], "not as 'midi'"),
    (["q.wav", "-o", "a.wav", "--voice", "nobody"], "no voice 'nobody'"),
])  # fmt: skip
def test_what_cannot_be(arguments, message, models, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    soundfile.write("q.wav", talk(1), RATE)
    soundfile.write("silence.wav", np.zeros(RATE), RATE)
    code, _, err = typed(capsys, *arguments, *flags(models))
    assert code == 2
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q.wav", "silence.wav"]
