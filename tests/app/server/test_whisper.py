"""Whisper over HTTP: every format, times of words, log probabilities, streams, prompts, translation, recordings of phones."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
import soundfile

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.asserting import every
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import LANGUAGES, save, save_parakeet, save_qwen3_asr, save_whisper


def wav(parts: int) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, talk(parts), RATE, format="WAV")
    return file.getvalue()


SOUND = wav(2)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("whisper")
    named = {
        "ears": str(save_whisper(folder / "whisper-tiny", frames=200)),
        "moonshine": str(save("moonshine", folder / "moonshine-tiny")),
        "qwen3-asr": str(save_qwen3_asr(folder / "qwen3-asr")),
        "parakeet": str(save_parakeet("parakeet_tdt", folder / "parakeet-tdt")),
    }
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue(named, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda name: load_any(name, where), catalogue) as up:
        yield up


def listen(live: Live, route: str = "transcriptions", sound: bytes = SOUND, **form: Any) -> httpx.Response:
    given = {"model": "ears"} | {key.replace("__", "[]"): value for key, value in form.items()}
    url = f"{live.url}/v1/audio/{route}"
    return httpx.post(url, files={"file": ("a.wav", sound)}, data=given, timeout=250)


def test_verbose_json_is_whole(live: Live) -> None:
    reply = listen(live, response_format="verbose_json", timestamp_granularities__=["word", "segment"])
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert body["task"] == "transcribe"
    assert body["language"] in LANGUAGES
    assert body["duration"] == pytest.approx(len(talk(2)) / RATE, abs=0.01)
    assert body["words"]
    edges = [word[edge] for word in body["words"] for edge in ("start", "end")]
    assert edges == sorted(edges)
    keys = {
        "id",
        "seek",
        "start",
        "end",
        "text",
        "tokens",
        "avg_logprob",
        "temperature",
        "compression_ratio",
        "no_speech_prob",
    }
    assert every(keys == set(segment) for segment in body["segments"])


@pytest.mark.parametrize(("format", "begins"), [("srt", "1\n00:00:0"), ("vtt", "WEBVTT"), ("text", ""), ("json", "{")])
def test_other_formats_say_the_same(format: str, begins: str, live: Live) -> None:
    reply = listen(live, response_format=format, language="de")
    assert reply.status_code == 200, reply.text
    assert reply.text.startswith(begins)


def test_log_probabilities(live: Live) -> None:
    body = listen(live, include__="logprobs", language="de").json()
    assert body["logprobs"]
    assert every(score["logprob"] <= 0 and isinstance(score["bytes"], list) for score in body["logprobs"])
    said = b"".join(bytes(score["bytes"]) for score in body["logprobs"]).decode(errors="replace")
    assert said.split()[:1] == body["text"].split()[:1]


def test_a_stream_with_log_probabilities(live: Live) -> None:
    client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
    events = list(
        client.audio.transcriptions.create(
            model="ears", file=("a.wav", SOUND), stream=True, include=["logprobs"], language="de"
        )
    )
    deltas, done = events[:-1], events[-1]
    assert [event.type for event in deltas] == ["transcript.text.delta"] * len(deltas)
    assert done.type == "transcript.text.done"
    assert "".join(event.delta for event in deltas) == done.text
    assert sum(len(event.logprobs) for event in deltas) == len(done.logprobs) > 0


def test_translation_a_prompt_and_a_temperature(live: Live) -> None:
    """Which have an effect, so that none is reported as ignored."""
    translated = listen(live, "translations", response_format="verbose_json", prompt="Grus grus")
    assert translated.status_code == 200, translated.text
    assert (translated.json()["task"], translated.json()["language"]) == ("translate", "en")
    warmer = listen(live, language="de", prompt="Grus grus", temperature="0.6", response_format="verbose_json")
    assert {segment["temperature"] for segment in warmer.json()["segments"]} <= {0.6}
    assert not {"x-grus-ignored"} & {*translated.headers, *warmer.headers}


@pytest.mark.parametrize(("route", "form", "status", "param"), [
    ("transcriptions", {"language": "xx"}, 400, "language"),
    ("transcriptions", {"temperature": "2"}, 400, "temperature"),
    ("transcriptions", {"track": "2"}, 400, "track"),
    ("transcriptions", {"include__": "nothing"}, 200, None),
    ("translations", {"model": "moonshine"}, 400, "model"),
    ("translations", {"language": "de"}, 200, None),
])  # fmt: skip
def test_what_cannot_be(route: str, form: dict[str, str], status: int, param: str | None, live: Live) -> None:
    reply = listen(live, route, **form)
    assert reply.status_code == status, reply.text
    assert status == 200 or json.loads(reply.text)["error"]["param"] == param


def test_what_phones_and_browsers_record(live: Live) -> None:
    """An m4a, made with the encoder that Grus has: the same language, and a transcript."""
    av = pytest.importorskip("av")
    file = io.BytesIO()
    with av.open(file, "w", format="ipod") as out:
        stream = out.add_stream("aac", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(talk(2)[None], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = RATE, 0
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    reply = listen(live, sound=file.getvalue(), response_format="verbose_json")
    assert reply.status_code == 200, reply.text
    assert reply.json()["duration"] == pytest.approx(len(talk(2)) / RATE, abs=0.15)


def test_parakeet_over_http(live: Live) -> None:
    """Whole with times of words and log probabilities, and streamed."""
    reply = listen(
        live, model="parakeet", response_format="verbose_json", timestamp_granularities__=["word", "segment"]
    )
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert body["language"] == "en"
    assert len(body["segments"]) == 2
    assert body["words"]
    scored = listen(live, model="parakeet", include__=["logprobs"]).json()
    assert scored["text"] == body["text"]
    assert every(one["logprob"] <= 0 for one in scored["logprobs"])
    streamed = listen(live, model="parakeet", stream="true").text
    assert "transcript.text.done" in streamed
    refused = listen(live, model="parakeet", language="ja")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "language")
    assert listen(live, "translations", model="parakeet").status_code == 400


def test_qwen3_asr_over_http(live: Live) -> None:
    reply = listen(live, model="qwen3-asr", response_format="verbose_json", language="fr", prompt="Grus grus")
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert (body["language"], len(body["segments"])) == ("fr", 2)
    assert "x-grus-ignored" not in reply.headers
    assert "transcript.text.done" in listen(live, model="qwen3-asr", stream="true").text
    for form, param in (({"language": "xx"}, "language"), ({"timestamp_granularities__": ["word"]}, "words")):
        refused = listen(live, model="qwen3-asr", response_format="verbose_json", **form)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
