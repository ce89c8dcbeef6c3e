"""Ephemeral keys: made with a key, they open realtime sessions for a while, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from app.server.gate import EphemeralKeys
from tests.app.server.live import Live, scripted

KEY = {"Authorization": "Bearer first"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("guarded"), api_keys=("first",)) as live:
        yield live


def created(live: Live, key: str, query: str = "") -> Any:
    """The session that is opened as a page opens it."""
    protocols: Any = ["realtime", f"openai-insecure-api-key.{key}"]
    with connect(
        f"ws://127.0.0.1:{live.port}/v1/realtime{query}", subprotocols=protocols, compression=None
    ) as connection:
        return json.loads(connection.recv(timeout=20))["session"]


def test_a_key_opens_sessions_with_its_settings(guarded: Live) -> None:
    client = openai.OpenAI(base_url=f"{guarded.url}/v1", api_key="first", max_retries=0)
    made = client.realtime.client_secrets.create(
        session={"type": "realtime", "model": "gpt-realtime", "instructions": "Be brief.", "audio": {"output": {"voice": "marin"}}},
        expires_after={"anchor": "created_at", "seconds": 60},
    )  # fmt: skip
    assert made.value.startswith("ek_")
    session = created(guarded, made.value)
    assert (session["model"], session["instructions"]) == ("tiny", "Be brief.")
    assert created(guarded, made.value, "?model=tiny")["instructions"] == "Be brief."


@pytest.mark.parametrize("way", ["sessions", "transcription_sessions"])
def test_the_beta_s_keys(guarded: Live, way: str) -> None:
    body = {"turn_detection": None, "input_audio_format": "g711_ulaw", "invented": 1}
    reply = httpx.post(f"{guarded.url}/v1/realtime/{way}", json=body, headers=KEY)
    assert reply.headers["x-grus-ignored"] == "session.invented"
    made = reply.json()
    assert (made["turn_detection"], made["input_audio_format"]) == (None, "g711_ulaw")
    key = made["client_secret"]["value"]
    if way == "sessions":
        assert created(guarded, key)["audio"]["input"]["format"]["type"] == "audio/pcmu"


def test_a_key_opens_nothing_else(guarded: Live) -> None:
    reply = httpx.post(f"{guarded.url}/v1/realtime/client_secrets", json={}, headers=KEY)
    ephemeral = {"Authorization": f"Bearer {reply.json()['value']}"}
    assert httpx.get(f"{guarded.url}/v1/models", headers=ephemeral).status_code == 401
    assert httpx.post(f"{guarded.url}/v1/realtime/client_secrets", json={}, headers=ephemeral).status_code == 401
    assert httpx.post(f"{guarded.url}/v1/realtime/client_secrets", json={}).status_code == 401
    with pytest.raises(InvalidStatus):
        created(guarded, "ek_invented")


@pytest.mark.parametrize(("path", "body", "param"), [
    ("client_secrets", {"session": {"type": "realtime", "audio": {"output": {"speed": 9}}}}, "session.audio.output.speed"),
    ("client_secrets", {"expires_after": {"seconds": 1}}, "expires_after.seconds"),
    ("sessions", {"input_audio_format": "mp3"}, "session.input_audio_format"),
    ("sessions", {"expires_after": {"seconds": "soon"}}, "expires_after.seconds"),
])  # fmt: skip
def test_what_is_wrong_is_said_at_once(guarded: Live, path: str, body: dict[str, Any], param: str) -> None:
    reply = httpx.post(f"{guarded.url}/v1/realtime/{path}", json=body, headers=KEY)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


def test_a_call_by_webrtc(guarded: Live) -> None:
    headers = {**KEY, "Content-Type": "application/sdp"}
    reply = httpx.post(f"{guarded.url}/v1/realtime/calls", content="v=0", headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "unsupported_transport")


def test_keys_expire_and_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    keys = EphemeralKeys(lambda: now)
    key, expires = keys.make({"type": "realtime"}, 60)
    assert expires == 160
    now = 159.0
    assert keys.session(key) == {"type": "realtime"}
    now = 160.0
    assert keys.session(key) is None
    monkeypatch.setattr("app.server.gate._MOST_KEYS", 2)
    first, second, third = (keys.make({}, 60)[0] for _ in range(3))
    assert [keys.session(one) for one in (first, second, third)] == [None, {}, {}]
