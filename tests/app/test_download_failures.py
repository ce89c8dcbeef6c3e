"""What goes wrong with the hub, the network or the disk is one sentence and exit code 2, and a second attempt goes on."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.hub.cache import Snapshot
from engine.hub.download import damaged_files
from engine.starter import GUIDE, starter
from tests.app.new_machine import Ended, Fresh, files_of, one_sentence, until
from tests.hub_server import TOKEN, FakeHub, Hold, serving

REPO, WEIGHTS = "org/model", "model.safetensors"
OTHER = "hf_AnotherTokenThatTheHubKnows"


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    folder = starter(GUIDE)
    assert folder is not None
    return files_of(folder)


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[FakeHub]:
    with serving() as hub:
        hub.repos[REPO] = dict(files)
        yield hub


@pytest.fixture
def fresh(hub: FakeHub, tmp_path: Path) -> Fresh:
    return Fresh(hub, tmp_path / "home")


def whole(fresh: Fresh) -> Snapshot:
    """The model is here to its last byte, and nothing half is left."""
    snapshot = fresh.found(REPO)
    assert snapshot is not None
    assert snapshot.complete
    assert (snapshot.path / WEIGHTS).read_bytes() == fresh.hub.repos[REPO][WEIGHTS]
    assert damaged_files(snapshot.path) == []
    assert list(fresh.cache.rglob("*.part")) == []
    return snapshot


def fetch(fresh: Fresh) -> Ended:
    """By the command that does least beside it."""
    return fresh.grus("convert", REPO, fresh.home / "model.gguf")


def begin(fresh: Fresh, name: str = "model") -> subprocess.Popen[str]:
    return fresh.start("convert", REPO, fresh.home / f"{name}.gguf")


def refused(fresh: Fresh, *more: object) -> str:
    ended = fresh.grus("info", REPO, *more)
    assert ended.code == 2
    assert fresh.found(REPO) is None
    return one_sentence(ended)


def blob(fresh: Fresh) -> Path:
    name = hashlib.sha256(fresh.hub.repos[REPO][WEIGHTS]).hexdigest()
    return fresh.cache / "models--org--model" / "blobs" / name


def part(fresh: Fresh) -> Path:
    return blob(fresh).with_name(blob(fresh).name + ".part")


# -- the hub refuses


def test_a_repository_that_is_not_there(fresh: Fresh) -> None:
    del fresh.hub.repos[REPO]
    assert refused(fresh).startswith(f"Hugging Face has no repository {REPO}, or it is private.")


def test_a_gated_model_without_a_token_says_what_to_do(fresh: Fresh) -> None:
    fresh.hub.gated[REPO] = {TOKEN}
    assert refused(fresh) == (
        f"{REPO} is gated. Accept its terms on {fresh.hub.address}/{REPO}, then give Grus a token of your account: "
        "`grus token set`, Settings in the window, or HF_TOKEN."
    )


def test_a_token_that_does_not_open_it_and_one_that_the_hub_does_not_know(fresh: Fresh) -> None:
    fresh.hub.gated[REPO], fresh.hub.tokens = {TOKEN}, {TOKEN, OTHER}
    fresh.more["HF_TOKEN"] = OTHER
    assert refused(fresh).startswith(f"{REPO} is gated, and your token does not open it.")
    fresh.more["HF_TOKEN"] = "hf_nobody_knows"
    assert refused(fresh).startswith("Hugging Face does not know your token (status 401).")


@pytest.mark.parametrize("kept", ["environment", "of Grus", "of Hugging Face's tools"])
def test_a_gated_model_with_a_token(fresh: Fresh, kept: str) -> None:
    fresh.hub.gated[REPO] = {TOKEN}
    if kept == "environment":
        fresh.more["HF_TOKEN"] = TOKEN
    elif kept == "of Grus":
        assert fresh.grus("token", "set", said=TOKEN + "\n").code == 0
    else:
        (fresh.home / "hf").mkdir(parents=True)
        (fresh.home / "hf" / "token").write_text(TOKEN)
        fresh.more["HF_HOME"] = str(fresh.home / "hf")
    ended = fetch(fresh)
    assert ended.code == 0, ended.err
    whole(fresh)
    assert ("hub", TOKEN) in fresh.hub.shown
    sent_on = {token for where, token in fresh.hub.shown if where == "storage"}
    assert sent_on == {""}, "the token went to another host"
    assert TOKEN not in ended.out + ended.err


def test_the_hub_asks_to_wait_and_is_asked_again(fresh: Fresh) -> None:
    fresh.hub.busy = {
        "/api/models/": [(429, {"Retry-After": "1"})],
        "/resolve/": [(503, {}), (429, {"Retry-After": "1"})],
    }
    ended = fetch(fresh)
    assert ended.code == 0, ended.err
    assert "Hugging Face is busy (status 429). Trying again in 1 s." in ended.err
    assert [answers for answers in fresh.hub.busy.values() if answers] == []
    whole(fresh)


def test_a_hub_that_stays_busy(fresh: Fresh) -> None:
    fresh.hub.busy["/api/models/"] = [(429, {"Retry-After": "3600"})]
    assert refused(fresh).endswith("takes no more requests from here (status 429). Try again in 3600 s.")
    fresh.hub.busy["/api/models/"] = [(500, {})] * 9
    assert refused(fresh).endswith("Hugging Face answered with status 500. Try again later.")


def test_no_network_and_what_is_not_the_hub(fresh: Fresh) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        fresh.more["HF_ENDPOINT"] = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        assert refused(fresh) == f"{REPO} is not on this machine and Hugging Face cannot be reached. Check the network."
    fresh.more["HF_ENDPOINT"] = fresh.hub.address
    fresh.hub.busy["/api/models/"] = [(200, {"Content-Type": "text/html"})]
    assert refused(fresh).startswith("What answered is not Hugging Face.")
    fresh.more["HF_HUB_OFFLINE"] = "1"
    assert refused(fresh).startswith(f"{REPO} is not on this machine and HF_HUB_OFFLINE is set")


# -- the connection and the file


def test_a_cut_connection_is_taken_up_where_it_was_cut(fresh: Fresh) -> None:
    fresh.hub.cuts[WEIGHTS] = [2_000_000, 0, 1_000_000]
    ended = fetch(fresh)
    assert ended.code == 0, ended.err
    begun = [int(asked.removeprefix("bytes=").rstrip("-")) for name, asked in fresh.hub.ranges if name == WEIGHTS]
    assert len(begun) == 3
    assert 0 < begun[0] <= begun[1] < begun[2] < len(fresh.hub.repos[REPO][WEIGHTS])
    whole(fresh)


def test_a_killed_download_goes_on(fresh: Fresh) -> None:
    hold = fresh.hub.holds[WEIGHTS] = Hold(3_000_000)
    process = begin(fresh)
    assert hold.reached.wait(60)
    until(lambda: part(fresh).exists() and part(fresh).stat().st_size > 1_000_000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    hold.go.set()
    there = part(fresh).stat().st_size
    assert fresh.found(REPO) is None
    ended = fetch(fresh)
    assert ended.code == 0, ended.err
    assert [asked for name, asked in fresh.hub.ranges if name == WEIGHTS] == [f"bytes={there}-"]
    assert fresh.hub.served.count(WEIGHTS) == 2, "nothing is fetched twice"
    whole(fresh)


def test_a_file_that_arrives_damaged_is_named_and_thrown_away(fresh: Fresh) -> None:
    fresh.hub.tags[WEIGHTS] = "0" * 64
    assert refused(fresh) == (
        f"{WEIGHTS} arrived damaged: its checksum is not the hub's. It was thrown away; download it again."
    )
    # a part of another file may be there, which its download continues
    assert list(fresh.cache.rglob(f"blobs/{'0' * 64}*")) == []
    fresh.hub.tags.clear()
    assert fetch(fresh).code == 0
    whole(fresh)


def test_a_damaged_part_of_an_earlier_download_is_fetched_anew(fresh: Fresh) -> None:
    part(fresh).parent.mkdir(parents=True)
    part(fresh).write_bytes(b"rot" * 100_000)
    ended = fetch(fresh)
    assert ended.code == 0, ended.err
    whole(fresh)


# -- the disk


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is a full disk on Linux alone")
def test_a_disk_that_fills_up(fresh: Fresh) -> None:
    part(fresh).parent.mkdir(parents=True)
    part(fresh).symlink_to("/dev/full")  # every write to it finds no space on the device
    said = refused(fresh)
    assert said.startswith(f"The disk is full, so {REPO} could not be downloaded to its end")
    assert not blob(fresh).exists()
    part(fresh).unlink()
    assert fetch(fresh).code == 0
    whole(fresh)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")
def test_a_file_that_is_too_large_for_the_account(fresh: Fresh) -> None:
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))"
    program = ("-c", f"{limit}; from app.cli import main; sys.exit(main())")
    process = fresh.start("convert", REPO, fresh.home / "model.gguf", program=program)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 2
    assert "larger than this disk or account may hold" in one_sentence(Ended(2, out, err))
    assert fresh.found(REPO) is None
    assert not blob(fresh).exists()
    assert fetch(fresh).code == 0
    whole(fresh)


def test_a_disk_with_too_little_room_is_noticed_before(fresh: Fresh) -> None:
    fresh.hub.cards[REPO] = {
        "siblings": [{"rfilename": "config.json", "size": 5}, {"rfilename": WEIGHTS, "size": 10**18}]
    }
    assert refused(fresh).startswith(f"{REPO} needs 1000000.0 TB, but ")
    assert fresh.hub.served == []


def test_a_cache_that_cannot_be_written(fresh: Fresh) -> None:
    fresh.home.mkdir()
    fresh.cache.write_text("a file where the folder should be")
    assert refused(fresh).startswith(f"{REPO} cannot be saved (")


# -- the token's keeping


def test_the_token_is_kept_in_a_file_of_this_person_where_no_keyring_works(fresh: Fresh) -> None:
    assert fresh.grus("token").out.startswith("There is no token.")
    ended = fresh.grus("token", "set", said=TOKEN + "\n")
    assert ended.out.endswith("which only you can read. No system keyring is available.\n")
    file = next(fresh.home.rglob("hub-tokens.json"))
    assert TOKEN in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert TOKEN not in ended.out + ended.err
    assert fresh.grus("token", "remove").out == "The token is removed.\n"
    assert [path for path in fresh.home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()] == []
    assert one_sentence(fresh.grus("token", "set", said="\n")).startswith("No token was given.")


def test_the_token_is_kept_in_the_keyring_where_one_works(fresh: Fresh) -> None:
    fresh.more["PYTHON_KEYRING_BACKEND"] = "tests.app.keyring_in_a_file.KeyringInAFile"
    fresh.more["TEST_KEYRING"] = str(fresh.home / "keyring.json")
    fresh.hub.gated[REPO] = {TOKEN}
    assert fresh.grus("token", "set", said=TOKEN + "\n").out == "A token is stored in the system keyring.\n"
    assert TOKEN in Path(fresh.more["TEST_KEYRING"]).read_text()
    assert TOKEN not in next(fresh.home.rglob("hub-tokens.json")).read_text()
    assert fetch(fresh).code == 0
    whole(fresh)
    fresh.more["HF_ENDPOINT"] = f"http://localhost:{fresh.hub.address.rpartition(':')[2]}"
    assert fresh.grus("token").out.startswith("There is no token."), "another hub must not get it"
    fresh.more["HF_ENDPOINT"] = fresh.hub.address
    assert fresh.grus("token", "remove").out == "The token is removed.\n"
    assert TOKEN not in Path(fresh.more["TEST_KEYRING"]).read_text()


# -- two at once


def test_two_processes_that_download_one_model_share_it(fresh: Fresh) -> None:
    hold = fresh.hub.holds[WEIGHTS] = Hold(2_000_000)
    first = begin(fresh, "first")
    assert hold.reached.wait(60)
    until(lambda: part(fresh).exists() and part(fresh).stat().st_size > 1_000_000)
    second = begin(fresh, "second")
    assert second.stderr is not None
    said = ""
    while "Another download" not in said:
        line = second.stderr.readline()
        assert line, said
        said += line
    assert f"Another download of {REPO} is under way. Waiting for it, to share what it brings." in said
    hold.go.set()
    for process in (first, second):
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    assert fresh.hub.served.count(WEIGHTS) == 1
    whole(fresh)


def test_the_second_goes_on_where_the_first_was_killed(fresh: Fresh) -> None:
    hold = fresh.hub.holds[WEIGHTS] = Hold(2_000_000)
    first = begin(fresh, "first")
    assert hold.reached.wait(60)
    until(lambda: part(fresh).exists() and part(fresh).stat().st_size > 1_000_000)
    second = begin(fresh, "second")
    assert second.stderr is not None
    until(lambda: "Another download" in second.stderr.readline())
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    hold.go.set()
    _, err = second.communicate(timeout=240)
    assert second.returncode == 0, err
    assert len([asked for name, asked in fresh.hub.ranges if name == WEIGHTS]) == 1
    whole(fresh)
