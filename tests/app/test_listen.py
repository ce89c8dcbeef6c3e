"""`grus listen`, as a person types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import av
import numpy as np
import pytest
import soundfile
import soxr

from app.cli import main
from app.commands import listen, sound_devices
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.recordings import save_media, save_silence
from tests.sortformer_checkpoints import save_sortformer
from tests.speech_checkpoints import save, save_parakeet, save_qwen3_asr, save_whisper


@pytest.fixture(scope="module", params=["moonshine", "moonshine_streaming"])
def any_model(request, tmp_path_factory):
    return str(save(request.param, tmp_path_factory.mktemp("listen") / request.param))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save("moonshine", tmp_path_factory.mktemp("listen") / "moonshine-tiny"))


@pytest.fixture
def files(tmp_path):
    for name, parts in (("one.wav", 1), ("two.flac", 2)):
        soundfile.write(tmp_path / name, talk(parts), RATE)
    return tmp_path


def grus(capsys, *arguments):
    code = main([*map(str, arguments), "--backend", "auto", "--device", "cpu"])
    return code, *capsys.readouterr()


def test_text_on_standard_output(files, model, capsys):
    code, out, _ = grus(capsys, "listen", files / "one.wav", "--model", model)
    assert code == 0
    assert len(out.splitlines()) == 1


def test_own_words_are_spelled_as_they_are_given(files, model, capsys):
    """With a model that takes no prompt."""
    _, heard, _ = grus(capsys, "listen", files / "one.wav", "--model", model)
    word = next(word for word in re.findall(r"\w+", heard) if word != word.swapcase())
    own = word.swapcase()
    code, out, _ = grus(capsys, "listen", files / "one.wav", "--model", model, "--own-words", f"Grus, {own}")
    assert code == 0
    assert own in re.findall(r"\w+", out)
    assert word not in re.findall(r"\w+", out)
    code, _, err = grus(capsys, "listen", files / "one.wav", "--model", model, "--own-words", "a" * 61)
    assert code != 0
    assert "at most 500" in err


def test_both_backends_hear_the_same(files, any_model, capsys):
    outputs = []
    for backend in ("torch", "mlx"):
        code = main(["listen", str(files / "two.flac"), "--model", any_model, "--backend", backend])
        seen = capsys.readouterr()
        assert code == 0, seen.err
        outputs.append(seen.out)
    assert outputs[0].strip()
    assert outputs[0] == outputs[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("parakeet_ctc", marks=pytest.mark.slow), "parakeet_tdt"])
def test_parakeet_in_a_new_process_on_both_backends(kind, files, tmp_path):
    """Quantized too, which is the default on a CPU."""
    folder = str(save_parakeet(kind, tmp_path / kind))
    command = [
        sys.executable,
        "-m",
        "app.cli",
        "listen",
        str(files / "two.flac"),
        "--model",
        folder,
        "--format",
        "json",
    ]
    outputs = []
    for more in (["--backend", "torch", "--quant", "none"], ["--backend", "mlx", "--quant", "none"], []):
        done = subprocess.run(
            [*command, "--words", *more, "--device", "cpu"], capture_output=True, text=True, timeout=250
        )
        assert done.returncode == 0, done.stderr
        outputs.append(json.loads(done.stdout))
    assert outputs[0]["text"].strip()
    assert outputs[0]["text"] == outputs[1]["text"]
    assert every(one["language"] == "en" and len(one["segments"]) == 2 for one in outputs)
    assert outputs[0]["segments"][0]["words"]


def test_who_said_what_in_a_new_process_on_both_backends(files, tmp_path):
    words, voices = save_parakeet("parakeet_tdt", tmp_path / "words"), save_sortformer("v2", tmp_path / "voices")
    command = [sys.executable, "-m", "app.cli", "listen", str(files / "two.flac"), "--model", str(words)]
    command += ["--speakers", str(voices), "--quant", "none", "--device", "cpu"]
    made = []
    for more in (["--backend", "torch", "--format", "json"], ["--backend", "mlx", "--format", "json"], []):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stderr
        made.append(done.stdout)
    first, second = ([(one["speaker"], one["text"]) for one in json.loads(text)["segments"]] for text in made[:2])
    assert first
    assert first == second
    assert made[2].splitlines() == [f"{speaker}: {text}" for speaker, text in first]


def test_speakers_of_a_model_that_cannot(files, model, capsys):
    code, _, err = grus(capsys, "listen", "--mic", "--model", model, "--speakers", model, "--aligner", model)
    assert code == 2
    assert "for files" in err
    code, _, err = grus(capsys, "listen", files / "one.wav", "--model", model, "--speakers", model)
    assert code == 2
    assert "tells who speaks when" in err
    code, _, err = grus(capsys, "listen", files / "one.wav", "--activity", "--format", "md")
    assert code == 2
    assert "--format is" in err


def test_qwen3_asr_hears_the_same_on_both_backends_and_in_both_layouts(files, tmp_path, capsys):
    heard = []
    for layout, backend in (("transformers", "torch"), ("thinker", "mlx")):
        folder = save_qwen3_asr(tmp_path / f"qwen3-asr-{backend}", layout)
        given = ["--model", str(folder), "--backend", backend, "--quant", "none", "--format", "json"]
        code = main(["listen", str(files / "two.flac"), *given, "--language", "de", "--prompt", "Grus grus"])
        seen = capsys.readouterr()
        assert code == 0, seen.err
        heard.append(json.loads(seen.out))
    assert heard[0]["text"].strip()
    assert heard[0]["text"] == heard[1]["text"]
    assert every(one["language"] == "de" and len(one["segments"]) == 2 for one in heard)


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


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "one of the two"),
    (["--mic", "a.wav"], "one of the two"),
    (["a.wav", "--words"], "--format json"),
    (["a.wav"], "is not a file"),
    (["a.wav", "-o", "nowhere/a.txt"], "folder nowhere does not exist"),
])  # fmt: skip
def test_what_cannot_be(arguments, message, model, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = grus(capsys, "listen", *arguments, "--model", model)
    assert code == 2
    assert message in err


def test_captions_at_the_microphone_grow_and_become_final(any_model, capsys, monkeypatch):
    sound = talk(2)

    def spoken(begun):
        begun()
        for at in range(0, len(sound), 1600):
            yield sound[at : at + 1600]
        raise KeyboardInterrupt

    monkeypatch.setattr(listen, "pieces", spoken)
    code, out, err = grus(capsys, "listen", "--mic", "--model", any_model)
    assert code == 0
    assert "Ctrl-C" in err
    final = [line.split("\r")[-1] for line in out.split("\n") if line]
    assert len(final) == 2
    assert out.count("\r") > len(final)  # partial ones came before


def test_who_speaks_at_the_microphone_is_what_it_is_in_a_file(files, model, capsys, monkeypatch, tmp_path):
    """Each line once it is known whose it is; and on Ctrl-C the rest."""
    voices = str(save_sortformer("v2", tmp_path / "voices"))
    sound = talk(2)

    def spoken(begun):
        begun()
        for at in range(0, len(sound), 1600):
            yield sound[at : at + 1600]
        raise KeyboardInterrupt

    monkeypatch.setattr(listen, "pieces", spoken)
    code, out, err = grus(capsys, "listen", "--mic", "--model", model, "--speakers", voices)
    assert code == 0, err
    final = [line.split("\r")[-1].rstrip() for line in out.split("\n") if line]
    assert every(re.fullmatch(r"Speaker \d: \S.*", line) for line in final)
    soundfile.write(tmp_path / "same.wav", sound, 16000, subtype="FLOAT")
    code, text, err = grus(capsys, "listen", tmp_path / "same.wav", "--model", model, "--speakers", voices)
    assert code == 0, err
    assert [line.split(": ")[0] for line in text.splitlines()] == [line.split(": ")[0] for line in final]


def test_pieces_of_the_microphone_join_without_a_seam(monkeypatch):
    """A tone at 44.1 kHz comes out as the same tone at 16 kHz, across the borders of its pieces."""
    tone = np.sin(2 * np.pi * 440 * np.arange(44100) / 44100).astype(np.float32)

    class Device:
        PortAudioError = OSError

        @staticmethod
        def query_devices(kind):
            return {"default_samplerate": 44100.0}

        class InputStream:
            def __init__(self, samplerate, channels, dtype, blocksize, callback):
                self.given = [tone[at : at + blocksize, None] for at in range(0, len(tone), blocksize)]
                self.callback = callback

            def __enter__(self):
                for piece in self.given:
                    self.callback(piece, len(piece), None, None)

            def __exit__(self, *_):
                pass

    monkeypatch.setattr(sound_devices, "_library", lambda: Device)
    coming = sound_devices.pieces()
    recorded = np.concatenate([next(coming) for _ in range(10)])
    coming.close()
    whole = soxr.resample(tone, 44100, 16000)
    assert len(recorded) > 15000
    np.testing.assert_allclose(recorded[500:], whole[500 : len(recorded)], atol=1e-3)


def test_every_kind_of_file_is_heard(any_model, tmp_path, capsys):
    sound = talk(1)
    for rate in (8000, 192000):
        soundfile.write(tmp_path / f"{rate}.wav", soxr.resample(sound, RATE, rate), rate)
    soundfile.write(tmp_path / "a.mp3", sound, RATE, format="MP3")
    soundfile.write(tmp_path / "a.ogg", sound, RATE, format="OGG", subtype="VORBIS")
    soundfile.write(tmp_path / "stereo.flac", np.stack([sound, 0.3 * sound], 1), RATE)
    soundfile.write(tmp_path / "clipped.wav", np.clip(20 * sound, -1, 1), RATE)
    names = ["8000.wav", "192000.wav", "a.mp3", "a.ogg", "stereo.flac", "clipped.wav"]
    for name in names:
        code, out, err = grus(capsys, "listen", tmp_path / name, "--model", any_model)
        assert (code, bool(out.strip())) == (0, True), (name, err)
    for name, made in (("silent.wav", np.zeros(RATE)), ("short.wav", sound[:100])):
        soundfile.write(tmp_path / name, made, RATE)
        assert grus(capsys, "listen", tmp_path / name, "--model", any_model)[:2] == (0, "")
    (tmp_path / "empty.mp3").write_bytes(b"")
    soundfile.write(tmp_path / "none.wav", np.zeros(0), RATE)
    (tmp_path / "cut.flac").write_bytes((tmp_path / "stereo.flac").read_bytes()[:9000])
    for name, message in (("empty.mp3", "is empty"), ("none.wav", "holds no sound"), ("cut.flac", "could not be read")):
        code, out, err = grus(capsys, "listen", tmp_path / name, "--model", any_model)
        assert (code, out) == (2, "")
        assert message in err


@pytest.fixture(scope="module")
def whisper(tmp_path_factory):
    return str(save_whisper(tmp_path_factory.mktemp("listen") / "whisper-tiny", frames=200))


def test_a_video_gets_subtitles_of_the_track_that_is_named(whisper, tmp_path, capsys):
    """From two seconds on, with the times of the whole."""
    tracks = [np.zeros(RATE, np.int16), (talk(2) * 32767).astype(np.int16)]
    film = save_media(tmp_path / "film.mkv", "flac", tracks, RATE, pictures=True)
    code, out, err = grus(capsys, "listen", film, "--model", whisper)
    assert (code, out) == (0, ""), err  # nobody speaks in the first track
    code, out, err = grus(
        capsys, "listen", film, "--model", whisper, "--track", "2", "--from", "2", "--subtitles", "--language", "de"
    )
    assert code == 0, err
    assert "film.subtitled.mkv" in err
    with av.open(str(tmp_path / "film.subtitled.mkv")) as opened:
        lines = [packet for packet in opened.demux(opened.streams.subtitles[0]) if packet.size]
        assert lines
        assert float(lines[0].pts * lines[0].time_base) >= 2


@pytest.mark.parametrize(
    "more",
    [["--language", "de", "--words"], pytest.param(["--translate", "--prompt", "Grus grus"], marks=pytest.mark.slow)],
)
def test_whisper_hears_the_same_on_both_backends(whisper, tmp_path, capsys, more):
    """A recording of a phone: the decoder's process, windows, encoder, timestamps, the rules for what is believed, and words."""
    phone = save_media(tmp_path / "phone.m4a", "aac", [(talk(2) * 32767).astype(np.int16)], RATE)
    outputs = []
    for backend in ("torch", "mlx"):
        given = ["--model", whisper, "--backend", backend, "--format", "json", *more]
        code = main(["listen", str(phone), *given])
        seen = capsys.readouterr()
        assert code == 0, seen.err
        outputs.append(json.loads(seen.out))
    torch_s, mlx_s = outputs
    assert torch_s["text"].strip()
    assert torch_s["text"] == mlx_s["text"]
    assert torch_s["language"] == mlx_s["language"] == ("de" if "--language" in more else "en")
    times = [[(part["start"], part["end"]) for part in one["segments"]] for one in outputs]
    assert times[0] == times[1]
    assert every(start <= end for start, end in times[0])
    if "--words" in more:
        words = [[word for part in one["segments"] for word in part["words"]] for one in outputs]
        assert [word["text"] for word in words[0]] == [word["text"] for word in words[1]] != []
        starts = [[word["start"] for word in one] for one in words]
        np.testing.assert_allclose(starts[0], starts[1], atol=0.045)  # a frame of attention may tie


_LONG = """
import json, resource, sys
import grus

with grus.Ears(sys.argv[1], grus.LoadOptions(device="cpu")) as ears:
    ears.listen(sys.argv[2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heard = ears.listen(sys.argv[3])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([heard.seconds, [part.start for part in heard.segments], grown]))
"""


@pytest.mark.slow
@pytest.mark.timeout(5000)
@pytest.mark.parametrize("hours", [1, 10])
def test_memory_does_not_grow_with_the_length_of_what_is_heard(whisper, tmp_path, hours):
    """An hour is 230 MB of samples, ten are 2.3 GB. Somebody speaks in the first and in the last minute."""
    speech = (soxr.resample(talk(2), RATE, 8000) * 32767).astype(np.int16)
    short = save_silence(tmp_path / "short.mka", 2 / 60, speech)
    long = save_silence(tmp_path / "long.mka", hours, speech)
    done = subprocess.run(
        [sys.executable, "-c", _LONG, whisper, short, long], capture_output=True, text=True, timeout=4900
    )
    assert done.returncode == 0, done.stderr
    seconds, starts, grown = json.loads(done.stdout)
    assert seconds == 3600 * hours
    assert starts[0] < 60
    assert starts[-1] > seconds - 60
    assert grown < 64_000  # KiB


@pytest.mark.parametrize(("arguments", "message"), [
    (["--translate"], "does not translate"),
    (["--prompt", "Grus"], "takes no prompt"),
    (["--track", "0"], "--track 1 or more"),
    (["--from", "-1"], "0 seconds or more"),
    (["--subtitles"], "muxed into"),
])  # fmt: skip
def test_what_this_model_or_file_cannot(arguments, message, files, model, capsys):
    code, _, err = grus(capsys, "listen", files / "one.wav", "--model", model, *arguments)
    assert code == 2
    assert message in err
