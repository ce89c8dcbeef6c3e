"""Speech and transcription over a socket: the openai client, tiny checkpoints, and invalid audio."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import openai
import pytest
import soundfile

from app.runtime.catalogue import Catalogue
from app.server.audio.speech import unpacked
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import until
from tests.asserting import every
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.needs import no_kernels
from tests.qwen3_tts_cases import KINDS, checkpoint, ending
from tests.spark_checkpoint import save_all
from tests.speech_checkpoints import save as save_ears

TEXT = "Hello there."
SEED = {"seed": 3, "temperature": 0.9}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("voices")
    named = {kind: str(ending(checkpoint(kind, folder / kind))) for kind in KINDS}
    named["endless"] = str(checkpoint("custom_voice", folder / "endless"))
    named["ears"] = str(save_ears("moonshine", folder / "moonshine-tiny"))
    named["spark"] = str(save_all(folder / "spark") / "LLM")
    named["text"] = str(save("qwen3", folder / "text", max_position_embeddings=256))
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue(named, use_cache=False)
    shelf = str(folder / "saved")
    with serving(
        lambda of: Engine(of, settings), lambda name: load_any(name, where), catalogue, voices_dir=shelf
    ) as up:
        yield up


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def preset(live: Live) -> str:
    return str(httpx.get(f"{live.url}/v1/audio/voices", params={"model": "custom_voice"}).json()["data"][0]["name"])


def wav(samples: np.ndarray, rate: int = RATE, format: str = "WAV") -> bytes:
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=format)
    return out.getvalue()


def say(live: Live, path: str = "/v1/audio/speech", **body: Any) -> httpx.Response:
    asked = {"model": "custom_voice", "input": TEXT, "response_format": "pcm", **SEED, **body}
    return httpx.post(live.url + path, json=asked, timeout=60)


def duration(data: bytes) -> float:
    """Seconds of a stream. Of FLAC's the header does not know them, and libsndfile
    then cannot tell the end: some of it is read."""
    info = soundfile.info(io.BytesIO(data))
    if info.format == "FLAC":
        assert info.samplerate == 24000
        return len(soundfile.SoundFile(io.BytesIO(data)).read(2400)) / 24000
    return info.duration


def samples(data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<i2")


def error(reply: httpx.Response) -> tuple[int, str | None, str]:
    detail = reply.json()["error"]
    return reply.status_code, detail["param"], detail["message"]


# -- speech


def test_the_openai_client_hears_a_voice_in_every_format(client: openai.OpenAI, live: Live) -> None:
    voice = preset(live)
    lengths = {}
    for format in ("wav", "flac", "mp3", "opus", "pcm"):
        data = client.audio.speech.create(
            model="custom_voice", input=TEXT, voice=voice, response_format=format, extra_body=SEED
        ).content
        lengths[format] = len(data) / 48000 if format == "pcm" else duration(data)
        if format == "wav":
            assert len(data) > 44 + 24000 / 10
    assert lengths["pcm"] > 0.1
    assert lengths["wav"] == lengths["pcm"]
    assert lengths["mp3"] == pytest.approx(lengths["pcm"], abs=0.1)
    assert lengths["opus"] == pytest.approx(lengths["pcm"], abs=0.1)


def test_streamed_sound_is_the_whole_sound_and_a_seed_repeats_it(live: Live) -> None:
    voice = preset(live)
    streamed = samples(say(live, voice=voice).content)
    assert np.array_equal(samples(say(live, voice=voice).content), streamed)
    for format in ("wav", "flac"):
        whole = say(live, voice=voice, stream=False, response_format=format)
        read, rate = soundfile.read(io.BytesIO(whole.content), dtype="int16")
        assert rate == 24000
        assert np.abs(read.astype(int) - streamed).max() <= 1
    assert not np.array_equal(samples(say(live, voice=voice, seed=4).content)[:2000], streamed[:2000])


def test_spark_is_known_by_what_lies_beside_it(live: Live) -> None:
    listed = httpx.get(f"{live.url}/v1/audio/voices", params={"model": "spark"}, timeout=60).json()["data"]
    assert {"female", "male"} <= {voice["name"] for voice in listed}


def test_events_carry_the_same_bytes(live: Live) -> None:
    voice = preset(live)
    reply = say(live, voice=voice, stream_format="sse")
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: ")]
    assert [one["type"] for one in events[:-1]] == ["speech.audio.delta"] * (len(events) - 1)
    assert events[-1]["type"] == "speech.audio.done"
    joined = b"".join(base64.b64decode(one["audio"]) for one in events[:-1])
    assert joined == say(live, voice=voice).content


def test_speed_makes_it_shorter(live: Live) -> None:
    voice = preset(live)
    plain, fast = (samples(say(live, voice=voice, speed=speed).content) for speed in (1.0, 2.0))
    assert len(fast) == pytest.approx(len(plain) / 2, rel=0.15)


def going_on(live: Live) -> dict[str, Any]:
    """A request whose voice does not end by itself: between the passages of one that does, nothing runs for a moment."""
    text = "A long text. " * 300
    return {"model": "endless", "input": text, "voice": preset(live), "response_format": "pcm", "temperature": 0.9,
            "seed": 7}  # fmt: skip


def test_a_client_that_leaves_stops_the_voice(live: Live) -> None:
    body = going_on(live)
    with httpx.stream("POST", f"{live.url}/v1/audio/speech", json=body, timeout=60) as reply:
        pieces = reply.iter_raw()
        # Between two passages there is no request, and the next one waits for a reader when enough sound lies ready.
        until(lambda: bool(next(pieces)) and live.service.stats()["active"] > 0)
    until(lambda: not any(live.service.stats()[kind] for kind in ("active", "waiting")))
    made = live.service.stats()["output_tokens"]
    time.sleep(0.1)
    assert live.service.stats()["output_tokens"] == made  # nor is the next passage begun


def abort(live: Live, **which: Any) -> str:
    return str(httpx.post(f"{live.url}/abort_request", json=which).json()["message"])


def test_a_voice_is_stopped_by_its_id(live: Live) -> None:
    body = going_on(live)
    with httpx.stream("POST", f"{live.url}/v1/audio/speech", json=body, timeout=60) as reply:
        pieces = reply.iter_raw()
        next(pieces)
        assert "0 requests" in abort(live, rid="another")
        assert "1 requests" in abort(live, rid=reply.headers["x-request-id"])
        with pytest.raises(httpx.RemoteProtocolError):  # sound has no place for words: it is cut off
            list(pieces)
    until(lambda: live.service.stats()["active"] == 0)
    assert "0 requests" in abort(live, abort_all=True)


@pytest.mark.parametrize("stream", ["true", "false"])
def test_a_transcription_is_stopped_too(live: Live, stream: str) -> None:
    long = wav(np.tile(talk(2), 20))
    form = {"model": "ears", "stream": stream}
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(
            httpx.post, f"{live.url}/v1/audio/transcriptions", data=form, files={"file": long}, timeout=60
        )
        until(lambda: live.service.stats()["active"] > 0, 30)
        assert "1 requests" in abort(live, abort_all=True)
        reply = asked.result(20)
    assert "was stopped" in reply.text
    until(lambda: live.service.stats()["active"] == 0)


@pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())
def test_voices_and_ears_and_words_together(client: openai.OpenAI, live: Live) -> None:
    voice, sound = preset(live), wav(talk(1))

    def listen(_: int) -> str:
        return client.audio.transcriptions.create(model="ears", file=("a.wav", sound)).text

    def speak(_: int) -> bytes:
        return say(live, voice=voice).content

    def write(_: int) -> str:
        return client.completions.create(model="text", prompt="ab", max_tokens=8, temperature=0).choices[0].text

    alone = listen(0), speak(0), write(0)
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.map(work, range(3)) for work in (listen, speak, write)]
        together = [list(run) for run in runs]
    assert together == [[one] * 3 for one in alone]


@pytest.mark.parametrize(("body", "param", "expected"), [
    ({"input": ""}, "input", "empty"),
    ({"input": " \n"}, "input", "empty"),
    ({"input": "x" * 1_000_001}, "input", "characters"),
    ({"voice": "nobody"}, "voice", "no voice 'nobody'"),
    ({"language": "klingon"}, "language", "klingon"),
    ({"response_format": "midi"}, "response_format", "mp3"),
    ({"speed": 9}, "speed", "4"),
    ({"stream_format": "sse", "stream": False}, "stream", "goes without"),
    ({"model": "text"}, "model", "writes text"),
    ({"model": "ears"}, "model", "listens"),
    ({"model": "voice_design", "voice": None}, "instructions", "Describe"),
    ({"model": "voice_design", "instructions": "warm"}, "voice", "no preset voices"),
    ({"model": "base", "voice": None}, "voice", "recording"),
])  # fmt: skip
def test_what_cannot_be_spoken(live: Live, body: dict[str, Any], param: str, expected: str) -> None:
    status, named, message = error(say(live, **({"voice": preset(live)} | body)))
    assert (status, named) == (400, param)
    assert expected in message


@pytest.mark.parametrize(("body", "reported"), [
    ({"voice": "alloy"}, "voice"),
    ({"voice": {"id": "nova"}, "model": "tts-1-hd"}, "model, voice"),
    ({"voice": None, "model": "gpt-4o-mini-tts", "instructions": "Cheerful."}, "model"),
    ({"language": None, "speed": None, "lang_code": "a", "return_download_link": False}, "lang_code, return_download_link"),
])  # fmt: skip
def test_what_clients_of_openai_send_to_be_spoken(live: Live, body: dict[str, Any], reported: str) -> None:
    reply = say(live, **({"voice": preset(live)} | body))
    assert reply.status_code == 200, reply.text
    assert ", ".join(sorted(reply.headers["x-grus-ignored"].split(", "))) == reported
    assert len(samples(reply.content)) > 2000


def test_openai_s_voice_is_the_default_one(live: Live) -> None:
    assert say(live, voice="alloy").content == say(live, voice=preset(live)).content
    assert error(say(live, voice="alloy", model="base"))[1] == "voice"  # which has no default


def test_a_front_end_lists_voices_and_models(live: Live) -> None:
    """As Open WebUI asks."""
    url = f"{live.url}/v1/audio"
    voices = httpx.get(f"{url}/voices", timeout=60).json()["voices"]
    assert {"id": preset(live), "name": preset(live)} in voices
    models = [one["id"] for one in httpx.get(f"{url}/models").json()["models"]]
    assert sorted(models) == sorted([*KINDS, "spark", "endless"])


def test_unknown_models_are_not_found_and_each_kind_keeps_to_its_work(client: openai.OpenAI, live: Live) -> None:
    assert say(live, model="nobody").status_code == 404
    for model in ("custom_voice", "ears"):
        with pytest.raises(openai.BadRequestError, match="here one is needed that writes text"):
            client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hi"}])
    kinds = {model.id: model.model_dump()["kind"] for model in client.models.list()}
    speakers = dict.fromkeys((*KINDS, "spark", "endless"), "speech")
    assert kinds == speakers | {"ears": "transcription", "text": "text"}


def test_no_client_reaches_what_models_have_beside_them(live: Live) -> None:
    say(live, voice=preset(live))
    beside = [name for name in live.service.resident() if "speech_tokenizer" in name]
    assert beside
    for name in beside:
        assert httpx.post(f"{live.url}/v1/load", json={"model": name}).status_code == 404


# -- described and cloned voices


RECORDING = wav(0.3 * np.sin(np.arange(24000 * 2) / 20) * np.random.default_rng(0).uniform(0.5, 1, 48000), 24000)


def test_a_described_voice(live: Live) -> None:
    reply = say(live, "/v1/audio/voice-design", model=None, instructions="A warm, low voice.")
    assert reply.status_code == 200, reply.text
    assert len(samples(reply.content)) > 2000


def learn(live: Live, path: str = "/v1/audio/voice-clone/prompt", sound: bytes = RECORDING, **form: str) -> Any:
    return httpx.post(live.url + path, files={"ref_audio": ("me.wav", sound)}, data=form, timeout=60)


def test_a_prompt_speaks_like_its_recording(live: Live) -> None:
    made = learn(live, ref_text="What I said.").json()
    assert made["model"] == "base"
    first = say(live, "/v1/audio/voice-clone", model="base", prompt=made["prompt"])
    assert first.status_code == 200, first.text
    direct = {"ref_audio": base64.b64encode(RECORDING).decode(), "ref_text": "What I said."}
    assert say(live, "/v1/audio/voice-clone", model=None, **direct).content == first.content


@pytest.mark.parametrize("form", [{}, {"ref_text": "What I said.", "x_vector_only": "true"}])
def test_a_prompt_of_the_colour_alone_holds_no_recording(live: Live, form: dict[str, str]) -> None:
    clone = unpacked(learn(live, **form).json()["prompt"])
    assert (clone.codes, clone.text) == (None, None)
    assert np.isfinite(clone.vector).all()


@pytest.mark.parametrize(("body", "param"), [
    ({}, "prompt"),
    ({"prompt": "AAAA", "ref_audio": "AAAA"}, "prompt"),
    ({"prompt": "AAAA", "ref_text": "x"}, "ref_text"),
    ({"prompt": "%%%"}, "prompt"),
    ({"prompt": "AAAAAAAA"}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"ref_audio": "***"}, "ref_audio"),
    ({"ref_audio": base64.b64encode(b"noise").decode()}, "file"),
    ({"ref_audio": base64.b64encode(RECORDING).decode(), "model": "custom_voice"}, "voice"),
])  # fmt: skip
def test_what_cannot_be_cloned(live: Live, body: dict[str, Any], param: str) -> None:
    status, named, _ = error(say(live, "/v1/audio/voice-clone", **({"model": "base"} | body)))
    assert (status, named) == (400, param)


def test_saved_voices_are_kept_used_and_forgotten(live: Live, client: openai.OpenAI) -> None:
    url = f"{live.url}/v1/audio/voices"
    made = learn(live, "/v1/audio/voices", name="me", ref_text="What I said.")
    assert made.json() | {"created": ""} == {
        "id": "me", "object": "voice", "name": "me", "kind": "saved", "model": "base", "text": "What I said.",
        "seconds": 2.0, "created": "",
    }  # fmt: skip
    assert [one["name"] for one in httpx.get(url).json()["data"]] == ["me"]
    assert learn(live, "/v1/audio/voices", name="me").status_code == 400
    data = client.audio.speech.create(model="base", input=TEXT, voice="me", response_format="pcm", extra_body=SEED)
    assert len(samples(data.content)) > 2000
    reply = say(live, model="base", voice="me", instructions="Cheerful.")
    assert (reply.status_code, reply.headers["x-grus-ignored"]) == (200, "instructions")
    assert error(say(live, voice="me"))[1] == "voice"  # a model with voices of its own clones none
    assert httpx.delete(f"{url}/me").json() == {"id": "me", "object": "voice", "deleted": True}
    assert httpx.delete(f"{url}/me").json()["error"]["code"] == "voice_not_found"
    assert httpx.get(url).json()["data"] == []


@pytest.mark.parametrize("name", ["../me", "a/b", ".hidden", "", "x" * 65, "CON"])
def test_a_voice_has_a_plain_name(live: Live, name: str) -> None:
    assert error(learn(live, "/v1/audio/voices", name=name))[:2] == (400, "name")
    assert httpx.get(f"{live.url}/v1/audio/voices").json()["data"] == []


BAD_SOUNDS = {
    "no bytes": b"",
    "no sound": b"RIFF and then nothing",
    "no samples": wav(np.zeros(0, np.float32)),
    "half a header": RECORDING[:30],
}


@pytest.mark.parametrize("kind", BAD_SOUNDS)
@pytest.mark.parametrize("route", ["/v1/audio/voice-clone/prompt", "/v1/audio/transcriptions"])
def test_sounds_that_are_none(live: Live, route: str, kind: str) -> None:
    field = "file" if route.endswith("transcriptions") else "ref_audio"
    reply = httpx.post(live.url + route, files={field: ("a.wav", BAD_SOUNDS[kind])}, timeout=30)
    assert error(reply)[:2] == (400, "file")


@pytest.mark.parametrize(("sound", "expected"), [
    (wav(np.zeros(24000, np.float32), 24000), "silent"),
    (wav(np.ones(4800, np.float32) / 2, 24000), "0.20 seconds"),
    (wav(np.ones(24000 * 61, np.float32) / 2, 24000), "61.0 seconds"),
])  # fmt: skip
def test_recordings_without_a_voice(live: Live, sound: bytes, expected: str) -> None:
    status, _, message = error(learn(live, sound=sound))
    assert status == 400
    assert expected in message


# -- transcription


def listen(live: Live, sound: bytes, **form: Any) -> httpx.Response:
    given = {"model": "ears", **form}
    return httpx.post(f"{live.url}/v1/audio/transcriptions", files={"file": ("a", sound)}, data=given, timeout=60)


def test_every_format_says_the_same(client: openai.OpenAI) -> None:
    sound = ("talk.wav", wav(talk(2)))
    ask = lambda **more: client.audio.transcriptions.create(model="ears", file=sound, **more)  # noqa: E731
    plain = ask()
    assert plain.text
    assert plain.usage is not None
    assert plain.usage.type == "duration"
    lines = ask(response_format="text").splitlines()
    assert " ".join(lines) == plain.text
    assert ask(response_format="srt").startswith("1\n00:00:0")
    assert ask(response_format="vtt").startswith("WEBVTT\n")
    full = ask(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert full.text == plain.text
    assert [one.text for one in full.segments] == lines
    assert [one.word for one in full.words] == plain.text.split()
    assert every(a.end <= b.start for a, b in zip(full.segments, full.segments[1:]))
    only = ask(response_format="verbose_json", timestamp_granularities=["word"])
    assert only.segments is None
    assert only.language == "en"
    assert only.duration == pytest.approx(len(talk(2)) / RATE, abs=0.01)


def test_a_stream_of_segments(client: openai.OpenAI) -> None:
    sound = ("talk.flac", wav(talk(3), format="FLAC"))
    events = list(client.audio.transcriptions.create(model="ears", file=sound, stream=True))
    assert [one.type for one in events] == ["transcript.text.delta"] * (len(events) - 1) + ["transcript.text.done"]
    assert len(events) > 2
    assert "".join(one.delta for one in events[:-1]) == events[-1].text
    assert client.audio.transcriptions.create(model="ears", file=sound).text == events[-1].text


def test_channels_and_rates_do_not_matter(live: Live) -> None:
    sound = talk(1)
    stereo = wav(np.stack([sound, sound], axis=1))
    assert listen(live, stereo).json()["text"] == listen(live, wav(sound)).json()["text"]
    for rate in (8000, 192000):
        reply = listen(live, wav(np.resize(sound, rate), rate))
        assert reply.json()["usage"]["seconds"] == pytest.approx(1.0, abs=0.01)


def test_silence_says_nothing(live: Live) -> None:
    assert listen(live, wav(np.zeros(RATE, np.float32))).json()["text"] == ""


def test_a_small_file_with_much_silence_is_refused(live: Live) -> None:
    silence = wav(np.zeros(8000 * 600, np.int16), 8000, "FLAC")
    object.__setattr__(live.settings, "max_sound_seconds", 300.0)
    try:
        assert "longer than 300 seconds" in error(listen(live, silence))[2]
    finally:
        object.__setattr__(live.settings, "max_sound_seconds", 3 * 3600.0)


@pytest.mark.parametrize(("form", "param"), [
    ({"language": "de"}, "language"),
    ({"response_format": "xml"}, "response_format"),
    ({"response_format": "diarized_json"}, "response_format"),
    ({"model": "base"}, "model"),
    ({"model": "nobody"}, None),
])  # fmt: skip
def test_what_cannot_be_transcribed(live: Live, form: dict[str, str], param: str) -> None:
    assert error(listen(live, wav(talk(1)), **form))[:2] == (400 if param else 404, param)


@pytest.mark.parametrize(("form", "reported"), [
    ({"temperature": "0"}, None),
    ({"temperature": "0.7", "prompt": "Names: Grus"}, "prompt, temperature"),
    ({"include[]": "logprobs", "chunking_strategy": "auto", "invented": "1"}, "chunking_strategy, invented"),
    ({"include[]": "logprobs", "response_format": "srt"}, "include[]"),
    ({"timestamp_granularities[]": "word"}, "timestamp_granularities[]"),
    ({"response_format": "srt", "stream": "true"}, "stream"),
    ({"model": "whisper-1"}, "model"),
    ({"model": "gpt-4o-mini-transcribe", "stream": "true"}, "model"),
])  # fmt: skip
def test_what_clients_of_openai_send_with_a_recording(live: Live, form: dict[str, str], reported: str | None) -> None:
    reply = listen(live, wav(talk(1)), **form)
    assert reply.status_code == 200, reply.text
    ignored = reply.headers.get("x-grus-ignored")
    assert (ignored and ", ".join(sorted(ignored.split(", ")))) == reported


def test_bodies_that_are_no_forms(live: Live) -> None:
    url = f"{live.url}/v1/audio/transcriptions"
    assert httpx.post(url, json={"model": "ears"}).status_code == 400
    assert httpx.post(url, data={"file": "words", "model": "ears"}).status_code == 400
    head = {"Content-Type": "multipart/form-data; boundary=x"}
    assert httpx.post(url, content=b"--x\r\nbroken", headers=head).status_code == 400
    assert httpx.post(url, content=b"", headers={"Content-Type": "multipart/form-data"}).status_code == 400


def test_a_client_that_leaves_during_its_upload_disturbs_nobody(live: Live) -> None:
    sound = wav(talk(3))
    leaving = threading.Thread(target=lambda: _leave(live, sound))
    leaving.start()
    leaving.join()
    until(lambda: live.service.stats()["active"] == 0)
    assert listen(live, sound).json()["text"]


def _leave(live: Live, sound: bytes) -> None:
    with pytest.raises(httpx.TimeoutException):
        httpx.post(
            f"{live.url}/v1/audio/transcriptions", files={"file": ("a", sound)}, data={"model": "ears"},
            timeout=httpx.Timeout(5, read=0.02),
        )  # fmt: skip
    time.sleep(0.05)
