"""Speakers over HTTP: diarized_json whole and streamed, as OpenAI's client reads it, and the other formats."""

from __future__ import annotations

import base64
import io
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
from tests.sortformer_checkpoints import save_sortformer
from tests.speech_checkpoints import save_parakeet
from tests.wavlm_checkpoints import save_wavlm


@pytest.fixture(scope="module")
def sound() -> bytes:
    file = io.BytesIO()
    soundfile.write(file, talk(4), RATE, format="WAV")
    return file.getvalue()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("speakers")
    named = {
        "words": str(save_parakeet("parakeet_tdt", folder / "parakeet-tdt")),
        "voices": str(save_sortformer("v2", folder / "sortformer")),
        "prints": str(save_wavlm(folder / "wavlm")),
    }
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    with serving(
        lambda of: Engine(of, settings), lambda name: load_any(name, where), Catalogue(named, use_cache=False)
    ) as up:
        yield up


def listen(live: Live, sound: bytes, **form: Any) -> httpx.Response:
    url = f"{live.url}/v1/audio/transcriptions"
    given = {"model": "words"} | {key.replace("__", "[]"): value for key, value in form.items()}
    return httpx.post(url, files={"file": ("a.wav", sound)}, data=given, timeout=250)


def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none")


def test_openai_s_client_reads_who_said_what(live: Live, sound: bytes) -> None:
    made: Any = client(live).audio.transcriptions.create(
        file=("a.wav", sound), model="gpt-4o-transcribe-diarize", response_format="diarized_json",
        chunking_strategy="auto",
    )  # fmt: skip
    assert made.task == "transcribe"
    assert made.duration == pytest.approx(len(talk(4)) / RATE, abs=0.01)
    assert made.text == " ".join(segment.text for segment in made.segments)
    letters = list(dict.fromkeys(segment.speaker for segment in made.segments))
    assert letters == ["A", "B", "C", "D"][: len(letters)]
    assert len(letters) > 1
    assert len({segment.id for segment in made.segments}) == len(made.segments)
    assert every(segment.type == "transcript.text.segment" and segment.start < segment.end for segment in made.segments)


def test_a_stream_has_the_same_segments(live: Live, sound: bytes) -> None:
    whole = listen(live, sound, response_format="diarized_json").json()
    events: Any = client(live).audio.transcriptions.create(
        file=("a.wav", sound), model="words", response_format="diarized_json", stream=True
    )
    seen = list(events)
    segments = [one for one in seen if one.type == "transcript.text.segment"]
    assert [(one.id, one.speaker, one.text, one.start) for one in segments] == [
        (one["id"], one["speaker"], one["text"], one["start"]) for one in whole["segments"]
    ]
    assert "".join(one.delta for one in seen if one.type == "transcript.text.delta") == whole["text"]
    assert [one.segment_id for one in seen if one.type == "transcript.text.delta"] == [one.id for one in segments]
    assert seen[-1].type == "transcript.text.done"


def test_the_other_formats_name_them_where_a_model_is_named(live: Live, sound: bytes) -> None:
    verbose = listen(
        live, sound, response_format="verbose_json", speakers="voices", timestamp_granularities__=["word", "segment"]
    ).json()
    assert {segment["speaker"] for segment in verbose["segments"]} >= {"Speaker 1", "Speaker 2"}
    assert every(word["speaker"].startswith("Speaker ") for word in verbose["words"])
    for format, start in (("text", "Speaker 1: "), ("srt", "Speaker 1: "), ("vtt", "<v Speaker 1>")):
        assert start in listen(live, sound, response_format=format, speakers="voices").text
    assert "speaker" not in listen(live, sound, response_format="verbose_json").text


def test_known_speakers_have_their_names(live: Live, sound: bytes) -> None:
    """The reference is what one of the speakers says longest in the recording itself."""
    plain = listen(live, sound, response_format="diarized_json").json()["segments"]
    longest = max((one for one in plain if one["speaker"] == "A"), key=lambda one: one["end"] - one["start"])
    file = io.BytesIO()
    soundfile.write(file, talk(4)[int(longest["start"] * RATE) : int(longest["end"] * RATE)], RATE, format="WAV")
    url = f"data:audio/wav;base64,{base64.b64encode(file.getvalue()).decode()}"
    asked: Any = dict(known_speaker_names=["Eva"], known_speaker_references=[url], response_format="diarized_json")
    made: Any = client(live).audio.transcriptions.create(file=("a.wav", sound), model="words", **asked)
    assert [one.text for one in made.segments] == [one["text"] for one in plain]
    assert longest["text"] in [one.text for one in made.segments if one.speaker == "Eva"]
    assert {one.speaker for one in made.segments} - {"Eva"} <= {"A", "B", "C"}
    events: Any = client(live).audio.transcriptions.create(file=("a.wav", sound), model="words", stream=True, **asked)
    seen = [one for one in events if one.type == "transcript.text.segment"]
    assert [one.speaker for one in seen] == [one.speaker for one in made.segments]


def test_what_is_refused(live: Live, sound: bytes) -> None:
    for form, message in (
        (dict(speakers="voices"), "diarized_json"),
        (dict(response_format="diarized_json", speakers="words"), "tells who speaks when"),
        (dict(response_format="diarized_json", speakers="nobody"), "no model"),
        (dict(response_format="diarized_json", known_speaker_names__="Eva"), "known_speaker_references"),
        (
            dict(response_format="diarized_json", known_speaker_names__="Eva", known_speaker_references__="x"),
            "data URL",
        ),
        (dict(known_speaker_names__="Eva", known_speaker_references__="x"), "diarized_json"),
        (dict(response_format="text", model="voices"), "listens"),
    ):
        reply = listen(live, sound, **form)
        assert reply.status_code in (400, 404), (form, reply.text)
        assert message in reply.text, reply.text


def test_the_model_list_says_what_it_does(live: Live) -> None:
    kinds = {one["id"]: one["kind"] for one in httpx.get(f"{live.url}/v1/models").json()["data"]}
    assert kinds == {"words": "transcription", "voices": "diarization", "prints": "verification"}


def test_a_server_without_such_a_model_says_so(tmp_path: Any, sound: bytes) -> None:
    named = {"words": str(save_parakeet("parakeet_ctc", tmp_path / "words"))}
    where = LoadOptions(backend="auto", device="cpu", memory_limit=1 << 30, download=False)
    with serving(
        lambda of: Engine(of, Settings(gpu_memory_limit="1G")),
        lambda name: load_any(name, where),
        Catalogue(named, use_cache=False),
    ) as up:
        reply = listen(up, sound, response_format="diarized_json")
        reference = "data:audio/wav;base64," + base64.b64encode(sound).decode()
        known = listen(
            up,
            sound,
            speakers="words",
            response_format="text",
            known_speaker_names__="Eva",
            known_speaker_references__=reference,
        )
    assert reply.status_code == 400
    assert "tells who speaks when" in reply.text
    assert known.status_code == 400
