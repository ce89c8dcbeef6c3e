"""LoRA adapters through the doors that people use: commands in a new process, a server on a socket, the cache."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from app.gui.preferences import Preferences
from app.runtime.catalogue import Catalogue
from app.runtime.models import UNUSED_SUMS
from app.server.config import adapters
from app.window_engine import WindowEngine, local_service
from app.window_reply import ReplyRequest
from engine.errors import BadRequest, ModelNotFound
from engine.hub.download import wanted
from engine.hub.resolve import resolve
from tests.app.fresh import ROOT, environment, several
from tests.app.gui.media import AtOnce
from tests.asserting import every
from tests.checkpoints import reference_cached, save
from tests.lora_adapters import RandomLora, random_lora

PROMPT = "Cranes fly"
USER = [{"role": "user", "content": "Hi"}]


@dataclass(frozen=True)
class Files:
    base: Path
    folders: list[Path]
    loras: list[RandomLora]

    def wanted(self, adapter: int | None, n: int = 16) -> list[int]:
        """The reference's greedy tokens after the prompt."""
        import torch

        model = reference_cached("qwen3") if adapter is None else self.loras[adapter].merged(reference_cached("qwen3"))
        from engine.text.tokenizer import Tokenizer

        ids = list(Tokenizer.from_folder(self.base, {}, {}).encode(PROMPT))
        with torch.no_grad():
            out = model.generate(
                torch.tensor([ids]), max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0
            )
        tokens: list[int] = out[0, len(ids) :].tolist()
        return tokens


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    root = tmp_path_factory.mktemp("adapters")
    model = reference_cached("qwen3")
    loras = [random_lora(model, 1, spread=0.1), random_lora(model, 2, r"(q|v)_proj$", rank=7, alpha=21)]
    base = save("qwen3", root / "tiny")
    return Files(base, [lora.save_peft(root / name) for name, lora in zip(("sql", "law"), loras)], loras)


def test_commands_in_a_new_process(files: Files) -> None:
    words = ["--raw", "--json", "--max-tokens", 16, "--temperature", 0]
    sql, law = files.folders
    seen = several(
        ["run", files.base, PROMPT, *words, "--backend", "torch"],
        ["run", files.base, PROMPT, *words, "--backend", "torch", "--adapter", sql],
        ["run", files.base, PROMPT, *words, "--backend", "mlx", "--adapter", law],
        ["info", sql],
        ["info", sql, "--json"],
        ["info", files.base, "--adapter", law],
        ["run", files.base, PROMPT, "--adapter", files.base],
        ["run", sql, PROMPT],
    )
    assert [one.code for one in seen] == [0, 0, 0, 0, 0, 0, 2, 2], seen
    for outcome, adapter in zip(seen[:3], (None, 0, 1)):
        got = json.loads(outcome.out)["output_ids"]
        assert got == files.wanted(adapter)[: len(got)]
        assert len(got) > 4
    assert "LoRA (PEFT), rank 4" in seen[3].out
    assert "Made for  tests/base" in seen[3].out
    facts = json.loads(seen[4].out)
    assert facts["matrices"] == 14
    assert facts["targets"] == ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
    assert "rank 7, 4 matrices" in seen[5].out
    assert "is a model, not an adapter" in seen[6].err
    assert "is a LoRA adapter, not a model" in seen[7].err


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    """The address of `grus serve` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "serve", "--port", "0", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Grus serves on "), (line, process.stderr and process.stderr.read())
        yield line.split()[-1]
    finally:
        process.terminate()
        process.wait(30)


def post(url: str, path: str, **body: Any) -> Any:
    return httpx.post(url + path, json=body, timeout=60).json()


def test_a_server_answers_for_the_base_and_for_each_adapter(files: Files, tmp_path: Path) -> None:
    sql, law = files.folders
    given = ["--adapter", f"sql={sql}", "--adapter", f"tiny:law={law}", "--backend", "auto", "--voices-dir", tmp_path]
    with served("--model", files.base, *given) as url:
        names = {"tiny": None, "tiny:sql": 0, "tiny:law": 1}
        # ids of tokens, so that nothing depends on how a text is written
        for name, adapter in names.items():
            made = post(
                url, "/generate", model=name, text=PROMPT, sampling_params={"max_new_tokens": 16, "temperature": 0}
            )
            got = made["output_ids"]
            assert got == files.wanted(adapter)[: len(got)], (name, made)
        texts = {
            name: post(url, "/v1/completions", model=name, prompt=PROMPT, max_tokens=16, temperature=0)["choices"][0][
                "text"
            ]
            for name in names
        }
        assert len(set(texts.values())) == 3
        llama = {
            name: post(url, "/completion", model=name, prompt=PROMPT, n_predict=16, temperature=0)["content"]
            for name in names
        }
        ollama = {
            name: post(url, "/api/generate", model=name, prompt=PROMPT, raw=True, stream=False,
                       options={"num_predict": 16, "temperature": 0})["response"]
            for name in names
        }  # fmt: skip
        assert texts == llama == ollama
        said: dict[str, list[str]] = {}
        for name in names:
            chat = post(url, "/v1/chat/completions", model=name, messages=USER, max_tokens=8, temperature=0)
            answer = post(url, "/v1/responses", model=name, input="Hi", max_output_tokens=8, temperature=0)
            message = post(url, "/v1/messages", model=name, messages=USER, max_tokens=8, temperature=0)
            few = {"num_predict": 8, "temperature": 0}
            talk = post(url, "/api/chat", model=name, messages=USER, stream=False, options=few)
            assert [chat["model"], answer["model"], message["model"]] == [name] * 3
            said[name] = [
                chat["choices"][0]["message"]["content"],
                answer["output"][-1]["content"][0]["text"],
                message["content"][-1]["text"],
                talk["message"]["content"],
            ]
        assert every(len(set(texts_of_all)) == 3 for texts_of_all in zip(*said.values()))
        listed = {card["id"]: card for card in httpx.get(f"{url}/v1/models").json()["data"]}
        assert [listed[name]["parent"] for name in names] == [None, "tiny", "tiny"]
        assert every(listed[name]["loaded"] for name in names)
        assert list(listed)[:3] == ["tiny", "tiny:sql", "tiny:law"]
        assert httpx.get(f"{url}/v1/models/tiny:law").json()["parent"] == "tiny"
        missing = httpx.post(f"{url}/v1/chat/completions", json={"model": "tiny:tax", "messages": USER})
        assert missing.status_code == 404
        assert "It has: sql, law" in missing.json()["error"]["message"]
        unloaded = post(url, "/v1/unload", model="tiny:sql")
        assert unloaded["loaded"] is False
        again = post(url, "/v1/completions", model="tiny:sql", prompt=PROMPT, max_tokens=16, temperature=0)
        assert again["choices"][0]["text"] == texts["tiny:sql"]


def test_an_adapter_without_a_name_is_part_of_what_is_served(files: Files, tmp_path: Path) -> None:
    given = ("--model", files.base, "--adapter", files.folders[0], "--backend", "auto", "--voices-dir", tmp_path)
    with served(*given) as url:
        made = post(url, "/generate", text=PROMPT, sampling_params={"max_new_tokens": 16, "temperature": 0})
        got = made["output_ids"]
        assert got == files.wanted(0)[: len(got)]
        assert "tiny:sql" not in {card["id"] for card in httpx.get(f"{url}/v1/models").json()["data"]}


def test_adapters_come_and_go_while_the_server_runs(files: Files, tmp_path: Path) -> None:
    """By vLLM's routes and by SGLang's; only what lies in the folder that was named."""
    folder = tmp_path / "adapters"
    folder.mkdir()
    (folder / "sql").symlink_to(files.folders[0])  # leads out of the folder
    files.loras[0].save_peft(folder / "one")
    files.loras[1].save_peft(folder / "two", use_dora=True)
    given = ("--model", files.base, "--backend", "auto", "--voices-dir", tmp_path, "--adapters-dir", folder)
    with served(*given) as url:
        for path, status in (
            ("one", 200),
            ("sql", 404),
            ("../law", 404),
            (files.folders[1], 404),
            ("two", 400),
            (".", 404),
        ):
            name = "first" if path == "one" else "other"
            made = httpx.post(
                f"{url}/v1/load_lora_adapter", json={"lora_name": name, "lora_path": str(path)}, timeout=60
            )
            assert made.status_code == status, made.text
        greedy = {"max_new_tokens": 16, "temperature": 0}
        for name in ("tiny:first", "first"):
            got = post(url, "/generate", model=name, text=PROMPT, sampling_params=greedy)["output_ids"]
            assert got == files.wanted(0)[: len(got)]
        several = post(url, "/generate", text=[PROMPT] * 2, lora_path=["first", None], sampling_params=greedy)
        for one, adapter in zip(several, (0, None)):
            assert one["output_ids"] == files.wanted(adapter)[: len(one["output_ids"])]
        assert [card["id"] for card in httpx.get(f"{url}/v1/models").json()["data"]][:2] == ["tiny", "tiny:first"]
        held = httpx.get(f"{url}/v1/stats").json()
        both = post(url, "/load_lora_adapter", lora_name="again", lora_path="one")
        assert both == {
            "success": True, "error_message": "", "loaded_adapters": {"first": "tiny:first", "again": "tiny:again"},
        }  # fmt: skip
        assert post(url, "/unload_lora_adapter", lora_name="first")["loaded_adapters"] == {"again": "tiny:again"}
        gone = httpx.post(f"{url}/v1/completions", json={"model": "tiny:first", "prompt": PROMPT})
        assert gone.status_code == 404
        still = post(url, "/generate", model="again", text=PROMPT, sampling_params=greedy)["output_ids"]
        assert still == files.wanted(0)[: len(still)]
        assert httpx.post(f"{url}/v1/unload_lora_adapter", json={"lora_name": "again"}).text.startswith("Success")
        assert httpx.post(f"{url}/v1/unload_lora_adapter", json={"lora_name": "again"}).status_code == 404
        for name, status in (("ä" * 200, 404), ("ä" * 201, 400), ("", 400), ("a b", 400)):
            assert httpx.post(f"{url}/v1/unload_lora_adapter", json={"lora_name": name}).status_code == status
        assert held["models"] == ["tiny"]


@pytest.fixture(scope="module")
def with_both(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with both adapters, whose scales are zero before and after each test."""
    sql, law = files.folders
    given = ["--adapter", f"sql={sql}", "--adapter", f"law={law}", "--backend", "auto"]
    with served("--model", files.base, *given, "--voices-dir", tmp_path_factory.mktemp("voices")) as url:
        yield url


def test_llama_cpps_scales_of_adapters(files: Files, with_both: str) -> None:
    """They change the model's own replies, together and alone; its adapters' names stay what they are."""
    url = with_both

    def reply(model: str = "tiny") -> str:
        made = post(url, "/completion", model=model, prompt=PROMPT, n_predict=16, temperature=0)
        return str(made["content"])

    def scaled(*scales: float) -> str:
        body = [{"id": i, "scale": scale} for i, scale in enumerate(scales)]
        assert httpx.post(f"{url}/lora-adapters", json=body, timeout=60).json() == {"success": True}
        return reply()

    base, of_sql = reply(), reply("tiny:sql")
    assert httpx.get(f"{url}/lora-adapters").json() == [
        {"id": 0, "path": "sql", "scale": 0.0}, {"id": 1, "path": "law", "scale": 0.0},
    ]  # fmt: skip
    assert scaled(1.0) == of_sql != base
    assert httpx.get(f"{url}/lora-adapters").json()[0]["scale"] == 1.0
    assert scaled(0.5, -0.5) not in (base, of_sql)
    assert reply("tiny:sql") == of_sql
    both = files.loras[1].merged(files.loras[0].merged(reference_cached("qwen3")))
    assert scaled(1.0, 1.0) == text_of(files, both)
    post(url, "/v1/unload", model="tiny")
    assert reply() == text_of(files, both)  # loaded again
    assert scaled() == scaled(0.0, 0.0) == base
    for body in ([{"id": 2, "scale": 1.0}], [{"id": 0}], {"id": 0, "scale": 1.0}):
        assert httpx.post(f"{url}/lora-adapters", json=body).status_code == 400


def test_llama_cpps_scales_of_adapters_for_one_request(files: Files, with_both: str) -> None:
    """They change this reply alone, whatever the model's other replies are computed with, also beside others in one batch."""
    url = with_both

    def listed(scales: Sequence[float]) -> list[dict[str, float]]:
        return [{"id": i, "scale": scale} for i, scale in enumerate(scales)]

    def reply(*scales: float, **more: Any) -> str:
        made = post(url, "/completion", prompt=PROMPT, n_predict=16, temperature=0, lora=listed(scales), **more)
        return str(made["content"])

    plain = post(url, "/completion", prompt=PROMPT, n_predict=16, temperature=0)["content"]
    of_sql = post(url, "/completion", model="tiny:sql", prompt=PROMPT, n_predict=16, temperature=0)["content"]
    both = text_of(files, files.loras[1].merged(files.loras[0].merged(reference_cached("qwen3"))))
    assert len({plain, of_sql, both}) == 3
    assert [reply(), reply(0.0, 0.0), reply(1.0), reply(1.0, 1.0)] == [plain, plain, of_sql, both]
    httpx.post(f"{url}/lora-adapters", json=listed([1.0, 1.0]), timeout=60)
    assert post(url, "/completion", prompt=PROMPT, n_predict=16, temperature=0)["content"] == both
    assert [reply(), reply(1.0)] == [plain, of_sql]
    httpx.post(f"{url}/lora-adapters", json=[], timeout=60)

    strengths = [(float(i), 1.0) for i in range(UNUSED_SUMS + 3)]
    alone = [reply(*scales) for scales in strengths]
    assert len(set(alone)) > UNUSED_SUMS  # most of them differ, and the first ones are no longer in memory
    with ThreadPoolExecutor(len(strengths)) as pool:
        assert list(pool.map(lambda scales: reply(*scales), strengths)) == alone
    body = {"prompt": PROMPT, "n_predict": 16, "temperature": 0, "lora": listed([1.0]), "stream": True}
    events = httpx.post(f"{url}/completion", json=body, timeout=60).text.split("\n\n")
    parts = [json.loads(one.removeprefix("data: ")) for one in events if one.startswith("data: {")]
    assert "".join(part["content"] for part in parts) == of_sql

    for wrong in ([{"id": 2, "scale": 1.0}], [{"id": 0}], {"id": 0, "scale": 1.0}, [{"id": -1, "scale": 1.0}]):
        refused = httpx.post(f"{url}/completion", json={"prompt": PROMPT, "lora": wrong})
        assert refused.status_code == 400
    refused = httpx.post(f"{url}/completion", json={"model": "tiny:sql", "prompt": PROMPT, "lora": listed([1.0])})
    assert refused.status_code == 400
    assert "name that model" in refused.text


def text_of(files: Files, model: Any) -> str:
    """The reference's greedy text after the prompt."""
    import torch

    from engine.text.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_folder(files.base, {}, {})
    ids = list(tokenizer.encode(PROMPT))
    with torch.no_grad():
        out = model.generate(torch.tensor([ids]), max_new_tokens=16, do_sample=False, eos_token_id=None, pad_token_id=0)
    return tokenizer.decode(out[0, len(ids) :].tolist())


def test_which_model_an_adapter_is_for() -> None:
    one, two = {"a": "./a"}, {"a": "./a", "b": "./b"}
    assert adapters(["x=./x", "y=o/y", "./z"], one).chosen == {"a": {"x": "./x", "y": "o/y"}}
    assert adapters(["x=./x", "y=o/y", "./z"], one).merged == {"./a": ("./z",)}
    assert adapters(["b:x=./x"], two).chosen == {"b": {"x": "./x"}}
    assert adapters(["b:x=./x"], two).sources == {"./x"}
    for given, named in ((["x=./x"], two), (["./x"], two), (["c:x=./x"], two), (["x=./x", "x=./y"], one)):
        with pytest.raises(BadRequest):
            adapters(given, named)


# -- adapters as repositories


def cache_of(root: Path, **repos: dict[str, str]) -> None:
    """A cache with these repositories: owner__name -> files."""
    for repo, contents in repos.items():
        folder = root / ("models--" + repo.replace("__", "--"))
        snapshot = folder / "snapshots" / "abc"
        snapshot.mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text("abc")
        for name, text in contents.items():
            (snapshot / name).write_text(text)


def test_adapters_in_the_cache_stand_beneath_their_model(tmp_path: Path) -> None:
    config = json.dumps({"model_type": "qwen3"})
    adapter = json.dumps({"peft_type": "LORA", "base_model_name_or_path": "own__er/base".replace("__", "")})
    whole = {"adapter_config.json": adapter, "adapter_model.safetensors": ""}
    cache_of(
        tmp_path,
        owner__base={"config.json": config, "model.safetensors": ""},
        zoe__sql=whole,
        zoe__cut={"adapter_config.json": adapter},
        zoe__other={**whole, "adapter_config.json": json.dumps({"base_model_name_or_path": "some/thing"})},
    )
    catalogue = Catalogue(cache_dir=str(tmp_path))
    ours = [known for known in catalogue.all() if known.app is None]
    assert [(known.name, known.base, known.adapter) for known in ours] == [
        ("owner/base", None, None),
        ("owner/base:zoe/sql", "owner/base", "zoe/sql"),
    ]
    found = catalogue.look_up("owner/base:zoe/sql")
    assert (found.model, found.source, found.adapter) == ("owner/base", "owner/base", "zoe/sql")
    with pytest.raises(ModelNotFound, match="It has: zoe/sql"):
        catalogue.look_up("owner/base:zoe/law")
    with pytest.raises(ModelNotFound, match="There is no model"):
        catalogue.look_up("zoe/sql")  # it is no model
    assert resolve("zoe/sql", tmp_path, download=False).name == "abc"
    with pytest.raises(ModelNotFound, match=r"lacks adapter_model\.safetensors"):
        resolve("zoe/cut", tmp_path, download=False)


def test_of_an_adapters_repository_its_two_files_are_downloaded() -> None:
    names = ["README.md", "adapter_config.json", "adapter_model.bin", "adapter_model.safetensors", "checkpoint-9/adapter_model.safetensors",
             "tokenizer.json", "training_args.bin"]  # fmt: skip
    assert wanted(names) == ["adapter_config.json", "adapter_model.safetensors"]
    assert "adapter_config.json" in wanted(["config.json", "model.safetensors", "adapter_config.json"])


def test_the_window_answers_with_an_adapter(files: Files, tmp_path: Path) -> None:
    preferences = Preferences(tmp_path / "preferences.json")
    for key, value in {"backend": "auto", "device": "cpu", "cache_dir": str(tmp_path / "cache")}.items():
        preferences.put(key, value)
    seen: list[Any] = []
    core = WindowEngine(
        AtOnce(),
        lambda: local_service(preferences, {"tiny": str(files.base)}),
        lambda deliver: SimpleNamespace(put=lambda item: deliver([item])),
    )
    core.start()
    try:
        core.service.catalogue.adapters = {"tiny": {"sql": str(files.folders[0])}}
        core.models(seen.append)
        assert list(seen[0])[:2] == ["tiny", "tiny:sql"]
        texts = {}
        for name in ("tiny", "tiny:sql"):
            reply = _Reply()
            core.reply(ReplyRequest(name, USER, {"max_tokens": 8, "temperature": 0.0}), reply)
            assert reply.done.wait(60)
            assert not reply.problem
            texts[name] = reply.text
        assert texts["tiny"] != texts["tiny:sql"]
        assert core.service.resident() == {"tiny"}
    finally:
        core.close()


class _Reply:
    """Implements `app.window_engine.ReplyListener`."""

    def __init__(self) -> None:
        self.text, self.problem, self.done = "", "", threading.Event()

    def working(self, what: str) -> None:
        pass

    def parts(self, parts: Sequence[Any]) -> None:
        self.text += "".join(part.text for part in parts)

    def ended(self, reason: Any, timings: Any) -> None:
        self.done.set()

    def failed(self, sentence: str) -> None:
        self.problem = sentence
        self.done.set()
