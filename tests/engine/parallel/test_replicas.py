"""Replicas: the same model in several processes. Each request ends, whatever ends a process, and goes where its prefix is."""

from __future__ import annotations

import marshal
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import psutil
import pytest

from engine import shares
from engine.engine import Engine
from engine.errors import (
    BadRequest,
    ContextOverflow,
    ErrorText,
    GrusError,
    ModelNotFound,
    Unsupported,
)
from engine.load_options import LoadOptions
from engine.loading import LoadedModel, load
from engine.media.inputs import Picture
from engine.model_files import open_model
from engine.parallel import replicas as processes
from engine.parallel.messages import packed, unpacked
from engine.parallel.replica_scheduler import prompt_key
from engine.parallel.replicas import Replica, Replicas, node_cpus
from engine.prefix_cache import common_prefix
from engine.types import Failed, Grammar, Request, RequestHandle, SamplingParams, Settings, Text, TokenLogprob, outcome
from tests import gemma3_checkpoints, vision_checkpoints
from tests.app.fresh import several
from tests.app.test_adapters import post, served
from tests.checkpoints import save
from tests.engine.parallel.test_team import gone
from tests.engine.vision.pictures import drawn
from tests.processes import child_process

HOW: dict[str, Any] = dict(backend="torch", device="cpu", dtype="f32", quant="none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("llama", tmp_path_factory.mktemp("replicas") / "m", max_position_embeddings=4096)


def opened(folder: Path, count: int = 2) -> LoadedModel:
    return load(str(folder), LoadOptions(**HOW, replicas=count))


@contextmanager
def running(folder: Path, settings: Settings | None = None) -> Iterator[tuple[Engine, Replicas]]:
    made = opened(folder)
    assert made.replicas is not None
    engine = Engine(lambda _: made, settings)
    try:
        engine.load("m")
        yield engine, made.replicas
    finally:
        pids = made.replicas.pids
        engine.close()
        assert gone(pids)


def until(true: Callable[[], object], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def greedy(length: int = 8) -> SamplingParams:
    return SamplingParams(temperature=0.0, max_tokens=length, ignore_eos=True)


def prompt(seed: int, length: int = 60) -> list[int]:
    dice = random.Random(seed)
    return [dice.randrange(256) for _ in range(length)]


def ids_of(engine: Engine, asked: list[list[int]]) -> list[Any]:
    results = engine.batch([Request("m", ids, greedy()) for ids in asked])
    return [result.ids for result in results if not isinstance(result, GrusError)]


def test_a_request_goes_where_its_prefix_is_and_each_ends_when_a_process_is_killed(folder: Path) -> None:
    begins = [prompt(seed) for seed in range(4)]
    follow = [[*begin, *prompt(9, 5)] for begin in begins]
    with Engine(lambda _: load(str(folder), LoadOptions(**HOW))) as engine:
        expected = ids_of(engine, begins + follow)
    with running(folder) as (engine, replicas):
        (other,) = replicas.all
        assert ids_of(engine, begins) == expected[:4]
        there = [begin for begin in begins if other.history.shared(begin, common_prefix) == len(begin)]
        assert 0 < len(there) < 4  # both processes have computed some
        for ids, wanted in zip(follow, expected[4:], strict=True):
            result = engine.submit(Request("m", ids, greedy())).result(120)
            assert result.ids == wanted
            assert result.timings.cached_tokens >= 59  # one of both has computed the beginning
        stats = engine.stats()
        assert (stats.completed, stats.output_tokens, stats.models[0].replicas) == (8, 64, 2)

        cancelled = engine.submit(Request("m", there[0], greedy(3000)))
        next(text for text in cancelled if isinstance(text, Text))
        cancelled.cancel()
        assert cancelled.result(120).reason == "cancelled"

        long = [engine.submit(Request("m", begin, greedy(1500))) for begin in begins]
        for handle in long:
            next(text for text in handle if isinstance(text, Text))
        os.kill(replicas.pids[0], signal.SIGKILL)
        lost = [begin for begin, handle in zip(begins, long, strict=True) if was_lost(handle)]
        assert lost == there
        assert ids_of(engine, follow) == expected[4:]
        assert engine.stats().models[0].active == 0


def was_lost(handle: RequestHandle) -> bool:
    """Whether the request ended with its process; it ends in any case."""
    result = outcome(handle, returned=True)
    if isinstance(result, GrusError):
        return "has ended: Replica 1 (cpu) was ended by signal 9. Send" in str(result)
    assert len(result.ids) == 1500
    return False


@pytest.mark.slow
def test_five_hundred_requests_while_a_process_is_killed_and_started_again(folder: Path) -> None:
    begins = [prompt(seed) for seed in range(20)]
    asked = [[*begins[i % 20], *prompt(i, 6)] for i in range(500)]
    with Engine(lambda _: load(str(folder), LoadOptions(**HOW))) as engine:
        expected = ids_of(engine, asked)
    with running(folder) as (engine, replicas):
        (other,) = replicas.all
        first = replicas.pids[0]
        handles = [engine.submit(Request("m", ids, greedy())) for ids in asked]
        until(lambda: sum(handle.ended for handle in handles) > 100)
        os.kill(first, signal.SIGKILL)
        answered = 0
        for handle, wanted in zip(handles, expected, strict=True):
            result = outcome(handle, returned=True)
            if isinstance(result, GrusError):
                assert "The process that answered has ended" in str(result)
            else:
                assert result.ids == wanted
                answered += 1
        assert answered >= 500 - 18  # only those fail that this process was answering

        def started_again() -> bool:
            ids_of(engine, asked[:1])
            return bool(replicas.ready)

        until(started_again)
        assert replicas.pids[0] != first
        before = engine.stats().prefix_tokens
        assert ids_of(engine, asked[:100]) == expected[:100]
        assert engine.stats().prefix_tokens - before >= 60 * (100 - 2 * 20)  # each begins twice at most
        assert other.load == 0
        assert engine.stats().leaks == 0


@pytest.mark.slow
def test_a_process_that_stops_is_given_up(folder: Path) -> None:
    with running(folder) as (engine, replicas):
        os.kill(replicas.pids[0], signal.SIGSTOP)
        assert len(ids_of(engine, [prompt(seed) for seed in range(6)])) == 6


LEADER = """
import sys, time
from pathlib import Path
from engine.engine import Engine
from tests.engine.parallel.test_replicas import opened
loaded = opened(Path(sys.argv[1]))
if sys.argv[2] == "answering":
    Engine(lambda _: loaded).load("m")
print(*loaded.replicas.pids, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["loaded", "answering"])
def test_nothing_is_left_of_a_leader_that_was_killed(moment: str, folder: Path) -> None:
    with child_process([sys.executable, "-c", LEADER, str(folder), moment], stdout=subprocess.PIPE) as leader:
        assert leader.stdout is not None
        pids = [int(pid) for pid in leader.stdout.readline().split()]
        leader.kill()
    assert pids
    assert gone(pids)


def test_what_cannot_be_replicated_starts_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(processes, "start_child", lambda *given: begun.append(given))

    def refused(kind: type[GrusError], words: str, **how: Any) -> None:
        with pytest.raises(kind, match=words):
            load(str(folder), LoadOptions(**{**HOW, **how}))

    refused(BadRequest, "has 1 replica or more, not 0", replicas=0)
    refused(BadRequest, "2 replicas need 2 devices, not 1", replicas=2, devices=("cpu",))
    refused(Unsupported, "not both", replicas=2, tensor_parallel=2)
    refused(GrusError, "There is no device `moon`", replicas=2, devices=("cpu", "moon"))
    refused(GrusError, "no room for a conversation", replicas=2, memory_limit=1 << 20)
    assert begun == []


@pytest.mark.slow
def test_a_process_that_cannot_load_fails_the_load_with_its_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Replica.begin

    def spoiled(replica: Replica, process: subprocess.Popen[bytes], message: Any) -> None:
        begin(replica, process, {**message, "name": str(folder / "gone")})

    monkeypatch.setattr(Replica, "begin", spoiled)
    before = {process.pid for process in psutil.Process().children()}
    with pytest.raises(ModelNotFound, match="gone"):
        opened(folder)
    assert gone([process.pid for process in psutil.Process().children() if process.pid not in before])


def test_requests_events_and_errors_survive_the_way_to_another_process() -> None:
    def sent(value: Any) -> Any:
        return unpacked(marshal.loads(marshal.dumps(packed(value))))

    how = SamplingParams(stop=("a", "b"), logit_bias={3: -1.5}, grammar=Grammar("regex", "a+"), top_logprobs=2)
    request = Request("m", [1, 2, 3], how, rope=np.arange(9, dtype=np.int32).reshape(3, 3), prediction=(4, 5))
    back = sent(request)
    assert (back.id, back.prompt_ids, back.sampling, back.prediction) == (request.id, [1, 2, 3], how, (4, 5))
    assert (back.rope == request.rope).all()
    picture = sent(Picture(np.ones((2, 3), np.float32), (1, 1, 2), 1, "key"))
    assert (picture.grid, picture.tokens, picture.key) == ((1, 1, 2), 1, "key")
    assert (picture.patches == 1).all()
    text = Text("r", "x\ud800", [7], 1, [TokenLogprob(7, -0.5, [(7, -0.5), (8, -1.0)])])
    assert sent(text) == text
    error = ContextOverflow(ErrorText("{n} is too long in {path}.", n=5, path=Path("a")), "prompt", tokens=5, limit=4)
    failed = sent(Failed("r", error)).error
    assert (type(failed), str(failed)) == (ContextOverflow, "5 is too long in a.")
    assert (failed.param, failed.tokens, failed.limit, failed.text.template) == ("prompt", 5, 4, error.text.template)


def test_a_replica_computes_on_the_cores_of_one_numa_node(tmp_path: Path) -> None:
    for node, cpus in {0: "0-1,4-5", 1: "2-3,6", 10: "8"}.items():
        (tmp_path / f"node{node}").mkdir()
        (tmp_path / f"node{node}" / "cpulist").write_text(cpus + "\n")
    assert [node_cpus(i, tmp_path) for i in range(4)] == [[0, 1, 4, 5], [2, 3, 6], [8], [0, 1, 4, 5]]
    assert node_cpus(1, tmp_path / "none") == []


def test_each_process_begins_on_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(processes, "node_cpus", lambda index: [10 * index, 10 * index + 1])
    monkeypatch.setattr(processes, "start_child", lambda *given: subprocess.Popen(["cat"], stdin=-1, stdout=-1))
    monkeypatch.setattr(Replica, "begin", lambda replica, process, message: begun.append((process, message)))
    Replicas("m", {}, ["cpu"] * 3, [None] * 3)
    Replicas("m", {}, ["cuda:0", "cuda:1"], [None] * 2)
    for process, _ in begun:
        process.communicate()
    assert [message["cpus"] for _, message in begun] == [[10, 11], [20, 21], []]  # a GPU's process may use all
    assert [message["options"]["device"] for _, message in begun] == ["cpu", "cpu", "cuda:1"]


def test_a_memory_limit_given_as_a_share_is_of_each_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second GPU stands in for one with a third of the memory."""
    begun: list[Any] = []
    backend = shares.pick_backend(LoadOptions(**HOW))

    def sized(total: int) -> Any:
        return SimpleNamespace(memory=lambda: SimpleNamespace(total=total))

    monkeypatch.setattr(shares, "rank_devices", lambda options: ("cuda:0", "cuda:1"))
    monkeypatch.setattr(shares, "pick_backend", lambda options: backend)
    monkeypatch.setattr(shares, "Replicas", lambda *given: begun.append(given))
    options = LoadOptions(backend="torch", replicas=2, memory_limit="0.5")
    own, _ = shares.start_replicas("m", folder, open_model(folder), options)
    (_, given, devices, limits), *_ = begun
    assert (own.memory_limit, given["memory_limit"], devices, limits) == (
        "0.5",
        "0.5",
        ("cuda:0", "cuda:1"),
        [None, None],
    )
    assert [shares.device_total(sized(n << 30), given["memory_limit"]) >> 20 for n in (24, 8)] == [12288, 4096]
    assert shares.device_total(sized(8 << 30), "3G") == shares.device_total(sized(24 << 30), 3 << 30) == 3 << 30


def test_prompts_with_different_pictures_have_nothing_in_common() -> None:
    def key(*names: str) -> list[int]:
        pictures = [Picture(np.ones((4, 3), np.float32), (1, 2, 2), 2, name) for name in names]
        ids = [1, 2, *[7, 9, 9, 8] * len(names), 3]
        positions = np.array([place for i in range(len(names)) for place in (3 + 4 * i, 4 + 4 * i)])
        return prompt_key(Request("m", ids, pictures=pictures, positions=positions))

    assert prompt_key(Request("m", [1, 2, 3])) == [1, 2, 3]
    assert key("a", "b") == key("a", "b")
    assert common_prefix(key("a", "b"), key("c", "b")) == 3
    assert common_prefix(key("a", "b"), key("a", "c")) == 7  # the second picture's place


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen3_vl", "gemma3"])
def test_replicas_of_a_vision_model_encode_pictures_themselves(name: str, tmp_path: Path) -> None:
    marks: Any = gemma3_checkpoints if name == "gemma3" else vision_checkpoints
    place = marks.save(tmp_path / "m") if name == "gemma3" else marks.save(name, tmp_path / "m")

    def requests(loaded: LoadedModel) -> list[Request]:
        vision = loaded.vision
        assert vision is not None
        made = []
        for seed in range(4):
            pictures = [vision.prepare(drawn(48, 32, seed)), vision.prepare(drawn(16, 64, 9))]
            seen = [marks.START, marks.IMAGE, marks.END]
            ids, positions = vision.expand([5, 17, *seen, 90, *seen, 11], pictures)
            rope = vision.rope(ids, pictures)
            how = replace(greedy(), logprobs=True)
            made.append(Request("m", ids, how, pictures=pictures, positions=positions, rope=rope))
        return made

    def answers(engine: Engine, loaded: LoadedModel) -> list[Any]:
        results = engine.batch(requests(loaded))
        said = [result for result in results if not isinstance(result, GrusError)]
        firsts.append({round(result.logprobs[0].logprob, 4) for result in said if result.logprobs})
        return [result.ids for result in said]

    firsts: list[set[float]] = []
    alone, made = load(str(place), LoadOptions(**HOW)), opened(place)
    alone.name = made.name = "m"
    with Engine(lambda _: alone) as engine:
        expected = answers(engine, alone)
    assert len(firsts[0]) == 4  # pictures make a difference
    with Engine(lambda _: made) as engine:
        engine.load("m")
        assert made.replicas is not None
        (other,) = made.replicas.all
        assert answers(engine, made) == expected
        there = [other.history.shared(prompt_key(one), common_prefix) == len(one.prompt_ids) for one in requests(made)]
        assert 0 < sum(there) < 4  # both have computed some
        assert answers(engine, made) == expected
        assert other.load == 0
        assert engine.stats().leaks == 0


@pytest.mark.slow
def test_each_replica_has_the_draft_model(folder: Path, tmp_path: Path) -> None:
    asked = [prompt(seed) for seed in range(8)]
    with Engine(lambda _: load(str(folder), LoadOptions(**HOW))) as engine:
        expected = ids_of(engine, asked)
    copied = shutil.copytree(folder, tmp_path / "draft")  # it drafts what the model says
    target, draft = opened(folder), load(str(copied), LoadOptions(**HOW))
    settings = Settings(speculation="draft", draft_model="draft", gpu_memory_limit="1T")
    with Engine({"m": target, "draft": draft}.__getitem__, settings) as engine:
        engine.load("m")
        assert target.replicas is not None
        (other,) = target.replicas.all
        results = [engine.submit(Request("m", ids, greedy())) for ids in asked]
        finished = [handle.result(240) for handle in results]
        assert [one.ids for one in finished] == expected
        there = [other.history.shared(ids, common_prefix) == len(ids) for ids in asked]
        assert 0 < sum(there) < 8
        drafted = [one.timings.accepted > 0 for one in finished]
        assert drafted == [True] * 8  # in both processes
        assert draft.kv.used == 0


@pytest.mark.slow
def test_a_server_has_replicas_as_the_command_and_http_ask(folder: Path, tmp_path: Path) -> None:
    how = ["--model", f"tiny={folder}", "--device", "cpu", "--voices-dir", tmp_path, "--replicas", 2]
    with served(*how) as url:
        asked = {"model": "tiny", "prompt": "Once upon a time there was a sea.", "max_tokens": 4, "temperature": 0}
        first = post(url, "/v1/completions", **asked)["choices"][0]["text"]
        assert httpx.get(f"{url}/v1/stats").json()["engine"]["models"][0]["replicas"] == 2
        whole = post(url, "/v1/load", model="tiny", replicas=1)
        assert (whole["replicas"], whole["devices"]) == (1, ["cpu"])
        assert post(url, "/v1/completions", **asked)["choices"][0]["text"] == first
        again = post(url, "/v1/load", model="tiny", replicas=2)
        assert (again["replicas"], again["devices"]) == (2, ["cpu", "cpu"])
        assert "2 replicas need 2 devices" in str(post(url, "/v1/load", model="tiny", replicas=2, devices=["cpu"]))
        assert post(url, "/v1/completions", **asked)["choices"][0]["text"] == first


def test_a_number_of_replicas_that_cannot_be_is_one_sentence(folder: Path) -> None:
    asked: list[list[object]] = [
        ["run", folder, "Hello", "--replicas", 0],
        ["serve", "--model", folder, "--port", 0, "--replicas", 2, "--tensor-parallel", 2],
    ]
    none, both = several(*asked)
    assert (none.code, none.err.strip()) == (2, "grus: A model has 1 replica or more, not 0.")
    assert (both.code, both.err.strip()) == (2, "grus: A model is split among devices, or has replicas: not both.")
