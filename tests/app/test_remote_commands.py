"""`grus remote`, and commands that use a model elsewhere, in processes of their own; from Python too."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile

from engine.media.sound import written
from tests.app.fresh import ROOT, environment, several
from tests.app.fresh import grus as fresh
from tests.app.remote_peer import Peer, delta, listening, words
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.processes import child_process

KEY = "sk-secret-0123456789"


@pytest.fixture
def peer() -> Iterator[Peer]:
    with listening(stream=[delta(reasoning_content="Hm."), *words("Hello", " there.")]) as peer:
        yield peer


@pytest.fixture
def where(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


def folder(where: dict[str, str]) -> Path:
    return Path(where["XDG_CONFIG_HOME"]) / "Grus"


def test_a_server_is_added_listed_tried_and_removed(peer: Peer, where: dict[str, str]) -> None:
    peer.key = KEY
    added, listed, tried, bare = several(
        ["remote", "add", "peer", peer.url, "--model", "hidden"], ["remote", "--json"], ["remote", "test", "peer"], ["remote"],
        given=f"{KEY}\n", **where,
    )  # fmt: skip
    assert (
        added.out
        == "peer is added, with 2 models. What you send to it leaves this machine.\n  peer::tiny\n  peer::hidden\n"
    )
    (server,) = json.loads(listed.out)["servers"]
    assert (server["name"], server["url"], server["key"]) == ("peer", f"{peer.url}/v1", True)
    assert [model["name"] for model in server["models"]] == ["peer::tiny", "peer::hidden"]
    assert re.match(r"peer answers after \d+\.\d\d s, with 1 model\.", tried.out)
    assert bare.out.startswith(f"peer  {peer.url}/v1\n  peer::tiny  chat, vision, embed")
    assert KEY not in added.out + added.err + listed.out + tried.out
    assert stat.S_IMODE((folder(where) / "remote-keys.json").stat().st_mode) == 0o600
    gone, none = several(["remote", "remove", "peer"], ["remote"], **where)
    assert gone.out == "peer is removed, with its key.\n"
    assert none.out.startswith("No server was added.")
    assert list(folder(where).iterdir()) == []


def test_a_key_goes_into_the_keyring(peer: Peer, where: dict[str, str], tmp_path: Path) -> None:
    ring = {
        "PYTHON_KEYRING_BACKEND": "tests.app.keyring_in_a_file.KeyringInAFile",
        "TEST_KEYRING": str(tmp_path / "ring.json"),
    }
    peer.key = KEY
    (added, said) = several(
        ["remote", "add", "peer", peer.url], ["run", "peer::tiny", "Hi"], given=f"{KEY}\n", **{**where, **ring}
    )
    assert (added.code, said.out) == (0, "Hm.\n\nHello there.\n")
    assert json.loads((tmp_path / "ring.json").read_text()) == {f"Grus {peer.url}/v1": KEY}
    assert KEY not in (folder(where) / "remote-keys.json").read_text()


def test_what_cannot_be_added(peer: Peer, where: dict[str, str]) -> None:
    peer.key = KEY
    refused = several(
        ["remote", "add", "peer"], ["remote", "add", "a b", peer.url], ["remote", "add", "peer", "ftp://x"],
        ["remote", "add", "peer", "http://user:pass@127.0.0.1"], ["remote", "add", "peer", peer.url, "--no-key"],
        ["remote", "add", "peer", peer.url], ["remote", "remove", "peer"], ["remote", "test"],
        given="wrong\n", **where,
    )  # fmt: skip
    assert [one.code for one in refused] == [2] * 8
    assert [one.err.count("\n") for one in refused] == [1] * 8
    assert "wants a key" in refused[4].err
    assert "refuses the key" in refused[5].err
    assert "There is no server 'peer' here. Added: none." in refused[6].err
    assert not folder(where).exists() or list(folder(where).iterdir()) == []


def test_an_answer_its_figures_and_what_goes_wrong(peer: Peer, where: dict[str, str]) -> None:
    several(["remote", "add", "peer", peer.url, "--no-key", "--silence", "0.5"], **where)
    said, short, wrong, unknown, offline = several(
        ["run", "peer::tiny", "Why?", "--max-tokens", 9, "--system", "Be brief.", "--json"],
        ["run", "peer::tiny", "Why?", "--hide-reasoning"],
        ["run", "peer::huge", "Why?"], ["run", "other::tiny", "Why?"], ["run", "peer::tiny", "Why?", "--offline"], **where,
    )  # fmt: skip
    report = json.loads(said.out)
    assert (report["text"], report["reasoning"], report["finish_reason"]) == ("Hello there.", "Hm.", "stop")
    assert (report["prompt_ids"], report["output_ids"], report["backend"]["name"]) == ([], [], "remote")
    assert short.out == "Hello there.\n"
    assert wrong.err == "grus: peer has no model huge, or does not do this.\n"
    assert unknown.err == "grus: There is no server 'other' here. Added: peer.\n"
    assert offline.err == "grus: peer was not asked, because Grus was told to work offline.\n"
    peer.stream, peer.cut = words("Half")[:2], True
    (cut,) = several(["run", "peer::tiny", "Why?"], **where)
    assert (cut.code, cut.err) == (1, "grus: peer ended the connection before the reply was complete.\n")
    assert cut.out == "Half"
    peer.cut, peer.stream = False, [3.0]
    (slow,) = several(["run", "peer::tiny", "Why?"], **where)
    assert (slow.code, slow.err) == (1, "grus: peer sent nothing for 0.5 seconds.\n")


def test_a_conversation_in_the_terminal(peer: Peer, where: dict[str, str]) -> None:
    fresh("remote", "add", "peer", peer.url, "--no-key", **where)
    talk = fresh("chat", "peer::tiny", given="Hi\nAgain\n/quit\n", **where)
    assert talk.out.count("Hello there.") == 2
    assert "peer::tiny on peer (127.0.0.1:" in talk.err
    assert [message["role"] for message in peer.last["messages"]] == ["user", "assistant", "user"]


def test_ctrl_c_closes_the_connection(peer: Peer, where: dict[str, str]) -> None:
    fresh("remote", "add", "peer", peer.url, "--no-key", **where)
    peer.stream = [delta(content="One"), 60.0]
    command = [sys.executable, "-m", "app.cli", "run", "peer::tiny", "Count"]
    with child_process(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment(**where)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(3) == b"One"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert peer.gone.wait(20)


def test_from_python(peer: Peer, where: dict[str, str]) -> None:
    fresh("remote", "add", "peer", peer.url, "--no-key", **where)
    script = """
import grus, json
with grus.load("peer::tiny") as model:
    answer = model.run("Hi", max_tokens=9)
    streamed = "".join(model.stream("Hi"))
    several = [str(one) for one in model.batch(["a", "b", "c"])]
print(json.dumps([answer.answer, answer.reasoning, streamed, several, grus.chat("Hi", model="peer::tiny")]))
grus.unload()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=200, env=environment(**where)
    )
    assert done.returncode == 0, done.stderr
    said = "Hello there."
    assert json.loads(done.stdout) == [said, "Hm.", said, [said] * 3, said]


def test_listening_and_speaking(peer: Peer, where: dict[str, str], tmp_path: Path) -> None:
    peer.models = [{"id": "whisper-1"}, {"id": "tts-1"}]
    peer.replies["/v1/audio/transcriptions"] = (200, "application/json", b'{"text": "Good morning."}')
    wave = np.sin(np.linspace(0, 900, RATE)).astype(np.float32)
    peer.replies["/v1/audio/speech"] = (200, "audio/wav", written([wave], RATE, "wav"))
    soundfile.write(tmp_path / "two.flac", talk(2), RATE)
    _, listened, timed, said = several(
        ["remote", "add", "peer", peer.url, "--no-key"],
        ["listen", tmp_path / "two.flac", "--model", "peer::whisper-1", "--language", "de"],
        ["listen", tmp_path / "two.flac", "--model", "peer::whisper-1", "--words", "--format", "json"],
        ["speak", "Good morning.", "--model", "peer::tts-1", "--voice", "nova", "-o", tmp_path / "said.wav"], **where,
    )  # fmt: skip
    assert (listened.code, listened.out) == (0, "Good morning.\nGood morning.\n"), listened.err
    assert (timed.code, timed.err) == (
        2,
        "grus: peer::whisper-1 runs on another server, which gives no times of words.\n",
    )
    assert said.code == 0, said.err
    assert soundfile.info(tmp_path / "said.wav").duration > 0.5
    assert (peer.last["model"], peer.last["voice"]) == ("tts-1", "nova")


def test_a_server_passes_requests_on(peer: Peer, where: dict[str, str]) -> None:
    fresh("remote", "add", "peer", peer.url, "--no-key", **where)
    (nobody,) = several(["serve", "--remote", "nobody", "--port", "0"], **where)
    assert (nobody.code, nobody.err) == (2, "grus: There is no server 'nobody' here. Added: none.\n")
    command = [sys.executable, "-m", "app.cli", "serve", "--remote", "peer", "--port", "0"]
    with child_process(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment(**where), text=True) as process:
        assert process.stdout is not None
        page: list[str] = []
        while not page or not page[-1].startswith("Ctrl-C"):
            page.append(process.stdout.readline())
            assert page[-1], "the server ended"
        address = page[0].split()[-1]
        assert any(f"peer::MODEL, answered by {peer.url}/v1" in line for line in page)
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}  # the default is its first model
        reply = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=60).json()
        named = httpx.post(f"{address}/v1/messages", json={**body, "model": "peer::tiny"}, timeout=60).json()
        listed = httpx.get(f"{address}/v1/models", timeout=60).json()["data"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert (reply["model"], reply["choices"][0]["message"]["content"]) == ("peer::tiny", "Hello there.")
    assert named["content"][-1]["text"] == "Hello there."
    assert {"peer::tiny": "peer"}.items() <= {card["id"]: card["server"] for card in listed}.items()
