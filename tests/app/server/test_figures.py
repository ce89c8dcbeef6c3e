"""Metrics of text, speech and transcription over a socket: counters, histograms, the last minute, timings of a request."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, serving
from tests.app.server.scripted import until
from tests.app.server.test_audio import wav
from tests.checkpoints import save
from tests.engine.pipelines.listening.conftest import talk
from tests.qwen3_tts_cases import checkpoint, ending
from tests.speech_checkpoints import save as save_ears
from tests.vision_checkpoints import save as save_seeing

KEPT = [
    "grus_prefix_hits",
    "grus_prefix_tokens",
    "grus_evictions",
    "grus_output_tokens_total",
    "grus_prompt_tokens_total",
]


@pytest.fixture(scope="module", params=["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def models(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("models")
    return request.param, {
        "text": str(save("qwen3", folder / "text", max_position_embeddings=256)),
        "voice": str(ending(checkpoint("custom_voice", folder / "voice"))),
        "base": str(checkpoint("base", folder / "base")),
        "designed": str(checkpoint("voice_design", folder / "designed")),
        "ears": str(save_ears("moonshine", folder / "moonshine-tiny")),
        "seeing": str(save_seeing("qwen3_vl", folder / "seeing")),
    }


def served(models: tuple[str, dict[str, str]], *names: str) -> Any:
    backend, folders = models
    where = LoadOptions(backend=backend, device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4, speculation="ngram")
    return serving(
        lambda of: Engine(of, settings),
        lambda name: load_any(name, where),
        Catalogue({name: folders[name] for name in names}, use_cache=False),
        log_requests=True,
    )


@pytest.fixture(scope="module")
def live(models: tuple[str, dict[str, str]]) -> Iterator[Live]:
    with served(models, "text", "voice", "ears") as up:
        yield up


def figures(live: Live) -> dict[str, float]:
    page = httpx.get(f"{live.url}/metrics", timeout=30).text
    return {name: float(value) for name, value in re.findall(r"^(grus_\w+(?:\{.*?\})?) (\S+)$", page, re.MULTILINE)}


def write(live: Live, prompt: str = "Once upon a time there was", **body: Any) -> httpx.Response:
    asked = {"model": "text", "prompt": prompt, "max_tokens": 24, "temperature": 0, "ignore_eos": True}
    reply = httpx.post(f"{live.url}/v1/completions", json={**asked, **body}, timeout=60)
    assert reply.status_code == 200, reply.text
    return reply


def speak(live: Live) -> httpx.Response:
    body = {"model": "voice", "voice": "vivian", "input": "Hello there.", "response_format": "pcm", "seed": 3}
    return httpx.post(f"{live.url}/v1/audio/speech", json={**body, "temperature": 0.9, "stream": False}, timeout=60)


def listen(live: Live) -> httpx.Response:
    sound = {"file": ("talk.wav", wav(talk(2)))}
    return httpx.post(f"{live.url}/v1/audio/transcriptions", files=sound, data={"model": "ears"}, timeout=60)


def test_voices_and_transcriptions_count_like_text(live: Live) -> None:
    for ask, least in ((write, 24), (speak, 2), (listen, 2)):
        before = figures(live)
        reply = ask(live)
        assert reply.status_code == 200, reply.text
        after = figures(live)
        grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
        ended = sum(value for name, value in grown.items() if name.startswith("grus_requests_total"))
        assert ended >= 1
        assert grown["grus_output_tokens_total"] >= least
        assert grown["grus_prompt_tokens_total"] >= 1
        for name in ("queue", "prefill", "time_to_first_token", "request"):
            assert grown[f"grus_{name}_seconds_count"] == ended, name
        assert grown["grus_inter_token_seconds_count"] >= least - ended
        assert grown["grus_tokens_per_second_count"] >= 1
        assert grown["grus_tokens_per_second_sum"] > 0


def test_a_histogram_s_buckets_hold_what_it_counted(live: Live) -> None:
    write(live)
    found = figures(live)
    buckets = [value for name, value in found.items() if name.startswith("grus_prefill_seconds_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == found["grus_prefill_seconds_count"] == found['grus_prefill_seconds_bucket{le="+Inf"}'] >= 1


def test_counters_never_fall(live: Live) -> None:
    for _ in range(2):
        write(live, "The same beginning of two prompts, word for word")
    before = figures(live)
    assert before["grus_prefix_hits"] >= 1
    assert before["grus_prefix_tokens"] >= 4
    assert httpx.post(f"{live.url}/v1/unload", json={"model": "text"}, timeout=60).status_code == 200
    after = figures(live)
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}


def test_guessed_tokens_are_counted(live: Live) -> None:
    before = figures(live)
    reply = write(live, "ab ab ab ab ab ab ab ab ab ab ab ab", max_tokens=40).json()
    drafted = reply["usage"]["completion_tokens_details"]
    after = figures(live)
    accepted = after["grus_accepted_draft_tokens_total"] - before["grus_accepted_draft_tokens_total"]
    assert accepted == drafted["accepted_prediction_tokens"]
    guessed = after["grus_draft_tokens_total"] - before["grus_draft_tokens_total"]
    assert guessed == accepted + drafted["rejected_prediction_tokens"] > 0


def test_the_last_minute_and_averages(live: Live) -> None:
    write(live)
    engine = httpx.get(f"{live.url}/v1/stats", timeout=30).json()["engine"]
    names = ("queue_seconds", "prefill_seconds", "first_token_seconds", "inter_token_seconds", "request_seconds")
    for name in (*names, "tokens_per_second"):
        assert 0 < engine["last_minute"][name]["p50"] <= engine["last_minute"][name]["p95"]
    assert engine["avg_tokens_per_request"] > 1
    found = figures(live)
    assert found["grus_avg_tokens_per_request"] == pytest.approx(engine["avg_tokens_per_request"])
    shown = found['grus_last_minute{measure="request_seconds",quantile="0.95"}']
    assert shown == pytest.approx(engine["last_minute"]["request_seconds"]["p95"])
    info = httpx.get(f"{live.url}/server_info", timeout=30).json()
    assert info["model_path"] == live.service.catalogue.named["text"]
    assert (info["max_concurrent"], info["decode_tokens_per_seq"]) == (4, 16)
    stats = info["stats"]
    assert stats["total_requests"] >= stats["completed_requests"] >= 1
    assert stats["avg_decode_tokens_per_sec"] > 0
    assert (stats["active_sequences"], stats["waiting_sequences"]) == (0, 0)


def test_a_request_that_is_cancelled_is_counted(live: Live) -> None:
    end = 'grus_requests_total{end="cancelled"}'
    before = figures(live).get(end, 0.0)
    body = {"model": "text", "prompt": "x", "max_tokens": 200, "stream": True, "ignore_eos": True}
    with httpx.stream("POST", f"{live.url}/v1/completions", json=body, timeout=60) as reply:
        next(reply.iter_lines())
    until(lambda: figures(live).get(end, 0.0) == before + 1)


# -- of one request


def test_a_whole_reply_has_its_timings_in_its_head(live: Live) -> None:
    for ask in (write, speak, listen):
        head = ask(live).headers["server-timing"]
        times = {name: float(value) for name, value in re.findall(r"([\w-]+);dur=([\d.]+)", head)}
        assert list(times) == ["queue", "first-token", "gap-p50", "gap-p95", "total"]
        assert 0 < times["first-token"] <= times["total"]
        assert 0 <= times["gap-p50"] <= times["gap-p95"]
    assert "server-timing" not in httpx.get(f"{live.url}/health").headers


CHAT = {"model": "text", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 6, "ignore_eos": True}
ROUTES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", CHAT),
    ("/v1/completions", {"model": "text", "prompt": "Hi", "max_tokens": 6, "ignore_eos": True}),
    ("/generate", {"model": "text", "text": "Hi", "sampling_params": {"max_new_tokens": 6, "ignore_eos": True}}),
]


@pytest.mark.parametrize(("path", "body"), ROUTES, ids=[path for path, _ in ROUTES])
def test_timings_are_in_the_body_where_a_header_asks(live: Live, path: str, body: dict[str, Any]) -> None:
    def last(wanted: bool, stream: bool) -> dict[str, Any]:
        head = {"x-grus-timings": "true"} if wanted else {}
        reply = httpx.post(live.url + path, json={**body, "stream": stream}, headers=head, timeout=60)
        assert reply.status_code == 200, reply.text
        if stream:
            lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {")]
            found: dict[str, Any] = json.loads(lines[-1])
        else:
            found = reply.json()
        return found["meta_info"] if path == "/generate" else found

    for stream in (False, True):
        timings = last(True, stream)["timings"]
        assert timings["output_tokens"] == 6
        assert timings["prompt_tokens"] >= 1
        assert 0 <= timings["queued_seconds"] <= timings["first_token_seconds"] <= timings["total_seconds"]
        assert 0 < timings["gap_p50_seconds"] <= timings["gap_p95_seconds"]
        assert "timings" not in last(False, stream)


def test_a_line_of_the_log_has_tokens_and_no_words(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="grus.server"):
        write(live, "A secret sentence of this prompt")
        speak(live)
        # the line of a request of the test before may still come
        until(lambda: all(any(path in line for line in caplog.messages) for path in ("/completions", "/speech")))
    text, voice = (next(line for line in caplog.messages if path in line) for path in ("/completions", "/speech"))
    line = r"[\w-]+ POST {} 200 \d+\.\d+s (\d+) prompt tokens, (\d+) output tokens, queued [\d.]+s, first token [\d.]+s"
    found = re.fullmatch(line.format("/v1/completions"), text)
    assert found is not None
    assert found[2] == "24"
    found = re.fullmatch(line.format("/v1/audio/speech"), voice)
    assert found is not None
    assert int(found[2]) >= 2
    assert "secret" not in caplog.text
    assert "Hello" not in caplog.text


# -- a server that only speaks, or only listens


@pytest.mark.parametrize(
    "name",
    ["text", "voice", *(pytest.param(name, marks=pytest.mark.slow) for name in ("base", "designed")), "ears", "seeing"],
)
def test_any_model_is_described_and_probed(models: tuple[str, dict[str, str]], name: str) -> None:
    with served(models, name) as alone:
        info = httpx.get(f"{alone.url}/model_info", timeout=60).json()
        assert info["served_model_name"] == name
        assert info["device"] == "Cpu"
        assert info["has_image_understanding"] is (name == "seeing")
        assert info["has_audio_understanding"] is (name == "ears")
        before = alone.service.stats()["completed"] + alone.service.stats()["cancelled"]
        probed = httpx.get(f"{alone.url}/health_generate", timeout=60)
        assert (probed.status_code, probed.json()) == (200, {"status": "ok"})
        until(lambda: alone.service.stats()["active"] == 0)
        stats = alone.service.stats()
        assert stats["completed"] + stats["cancelled"] == before + 1
        assert 1 <= stats["output_tokens"] <= 16


@pytest.mark.parametrize("name", ["voice", "ears"])
def test_a_model_that_cannot_compute_is_unhealthy(
    models: tuple[str, dict[str, str]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(segments: Any) -> None:
        raise RuntimeError("no device")

    with served(models, name) as alone:
        httpx.get(f"{alone.url}/model_info", timeout=60)
        monkeypatch.setattr(alone.service.loaded[name].runner, "run", fails)
        assert httpx.get(f"{alone.url}/health_generate", timeout=60).status_code == 500
