"""Runs llama.cpp's own tests of its server (tools/server/tests) against `grus serve`.

The tests come with the sources of llama-cpp-python, which packaging/clients.py puts into `.clients-llama`. They start a server
by `utils.ServerProcess`: `conftest.py` of their copy is replaced by one that calls `adapt` here, which starts ours instead, with a
tiny model made by hand. What they expect of the words of a certain model is not compared (`STORIES`, `COUNTS`), nor what a
protocol says in other words than llama.cpp (`REWORDED`). tests/clients/llama_table.py says which of the tests apply.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from engine.text.builtin_templates import CHATML, LLAMA3

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / ".clients-llama"

# What their models write: the texts and the counts of tokens of ours are others.
STORIES = {
    "But she couldn't",
    '(Suddenly)+|\\{ " Sarax.',
    "^ blue",
    "(Aside|she|felter|alonger)+",
    "Whillicter",
    "(Suddenly)+",
    "(going|bed)+",
    "(princesses|everyone|kids|Anna|forest)+",
    "(Ann|small|shiny|Daddy|Jimmy)+",
    "(Dad|excited|park|Jimmy)+",
    "(cat)+",
    "(frog)+",
    "[ -3000 ]",
}
COUNTS = ("n_prompt", "n_tokens", "n_token_output")

# (theirs, ours): where a protocol of ours says the same in other words, or the test asks the network.
REWORDED = (
    ('system_fingerprint"].startswith("b")', 'system_fingerprint"].startswith("fp_")'),
    ('system_fingerprint.startswith("b")', 'system_fingerprint.startswith("fp_")'),
    ('["error"]["type"] == "exceed_context_size_error"', '["error"]["code"] == "context_length_exceeded"'),
    ('"too large" in res', '"maximum context length" in res'),
    ('"exceeds the available context size" in res', '"maximum context length" in res'),
    (
        'res.status_code == 500\n    assert "image input is not supported"',
        'res.status_code == 400\n    assert "does not see images"',
    ),
    ('"prompt"] == "<s> " + prompt', '"prompt"] == "<s>" + prompt'),
    ('["prompt_tokens"] == n_prompt', '["prompt_tokens"] > 0'),
    ('["cached_tokens"] == n_cache', '["cached_tokens"] >= (n_cache > 0)'),
    ('timings["cache_n"] == n_prompt', 'timings["cache_n"] > 0'),
    ("== 2 * 9", "> 2 * 5"),  # tokens of two texts
    (
        'assert len(res.body["data"]) == 1\n    assert res.body["data"][0]["id"] == server.model_alias',
        'assert server.model_alias in [model["id"] for model in res.body["data"]]',
    ),
    ('            assert data["generation_settings"]["seed"] == server.seed\n', ""),  # of a whole server
    ('            assert "adaptive_target" in data["generation_settings"]\n', ""),
    ('            assert "adaptive_decay" in data["generation_settings"]\n', ""),
    (
        "assert res.status_code == 200\n    assert cors_header in",
        "assert res.status_code == 204\n    assert cors_header in",
    ),
    (
        'assert res.status_code == 200\n    assert res.headers["Access-Control-Allow-Origin"] == origin',
        'assert res.status_code == 204\n    assert res.headers["Access-Control-Allow-Origin"] == origin',
    ),
    (
        'assert res.status_code == 200\n    assert "Access-Control-Allow-Origin" not in',
        'assert res.status_code == 403\n    assert "Access-Control-Allow-Origin" not in',
    ),
    ("        return IMG_URL_0", '        return get_img_url("IMG_BASE64_URI_0")'),
    ("        return IMG_URL_1", '        return get_img_url("IMG_BASE64_URI_1")'),
    ("requests.get(IMG_URL", "picture(IMG_URL"),
)
# Their native routes without /v1 are OpenAI's here.
PATHS = {"/completions": "/completion", "/responses": "/v1/responses"}


class AnyCount:
    """Equal to every count of tokens."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and other > 0

    __hash__ = None  # type: ignore[assignment]


# -- the model


SPECIALS = ("<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>")
MARKS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>", "<think>", "</think>")
HIDDEN, LAYERS, HEADS, INNER = 64, 2, 4, 128
CONTEXT = 8192


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=list(SPECIALS), show_progress=False
    )
    made.train([str(page) for page in sorted((ROOT / "docs").glob("*.md"))], trainer)
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in MARKS])
    begin = made.token_to_id("<s>")
    from tokenizers.processors import TemplateProcessing

    made.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", begin)])
    return made


def save_model(folder: Path, template: str, context: int) -> Path:
    """Random weights that write plain words, and never end by themselves."""
    vocabulary = tokenizer()
    size, random = vocabulary.get_vocab_size(), np.random.default_rng(0)

    def some(*shape: int) -> np.ndarray:
        return random.normal(scale=0.2, size=shape).astype(np.float32)

    embedding, head = some(size, HIDDEN), some(size, HIDDEN)
    embedding[:, 0], head[:, 0] = 1, 0  # a dimension that stays as it is
    plain = re.compile(r"[ĠA-Za-z.,!?]+")
    for token, id in vocabulary.get_vocab().items():
        if token in (*SPECIALS, *MARKS):
            head[id, 0] = -40
        elif not plain.fullmatch(token):
            head[id, 0] = -4  # where a grammar wants them
    tensors = {"model.embed_tokens.weight": embedding, "lm_head.weight": head}
    tensors["model.norm.weight"] = np.ones(HIDDEN, np.float32)
    for layer in range(LAYERS):
        name = f"model.layers.{layer}"
        for part in "qkvo":
            tensors[f"{name}.self_attn.{part}_proj.weight"] = some(HIDDEN, HIDDEN)
        for part, shape in (("gate", (INNER, HIDDEN)), ("up", (INNER, HIDDEN)), ("down", (HIDDEN, INNER))):
            tensors[f"{name}.mlp.{part}_proj.weight"] = some(*shape)
        for part in ("self_attn.o_proj", "mlp.down_proj"):
            tensors[f"{name}.{part}.weight"][0] = 0
        for part in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{name}.{part}.weight"] = np.ones(HIDDEN, np.float32)
    config = dict(
        architectures=["LlamaForCausalLM"],
        model_type="llama",
        vocab_size=size,
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=context,
        rope_theta=10_000.0,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
        torch_dtype="float32",
    )
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    vocabulary.save(str(folder / "tokenizer.json"))
    named = dict(tokenizer_class="PreTrainedTokenizerFast", bos_token="<s>", eos_token="</s>", chat_template=template)
    for name, data in (("config.json", config), ("tokenizer_config.json", named)):
        (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return folder


def save_vision_model(folder: Path) -> Path:
    from tests.vision_checkpoints import save

    folder.parent.mkdir(parents=True, exist_ok=True)
    return save("qwen3_vl", folder)


# -- their process is ours

_Options = tuple[str, ...]
_running: dict[_Options, tuple[subprocess.Popen[bytes], str, int]] = {}  # and the address


def adapt(utils: ModuleType, folder: Path) -> None:
    """`utils` of theirs: from now on it starts `grus serve`, once for each API key and its origins, and names in each request
    the model that the options of their server ask for."""
    process = utils.ServerProcess
    made_url, matched = process.make_url, utils.match_regex
    requested, streamed = process.make_request, process.make_stream_request

    def start(self: Any, timeout_seconds: int = 0) -> None:
        self.grus_model = _model(self, folder / "models")
        options = ("--cors-origin", self.cors_origins or "*", *(("--api-key", self.api_key) if self.api_key else ()))
        if options not in _running:
            _running[options] = _start(folder, options)
        _, self.server_host, self.server_port = _running[options]

    def make_url(self: Any, path: str, host: str | None = None) -> str:
        return str(made_url(self, PATHS.get(path, path), host))

    def make_request(self: Any, method: str, path: str, data: Any = None, *more: Any, **options: Any) -> Any:
        reply = requested(self, method, path, _with_options(self, path, data), *more, **options)
        reply.headers = utils.requests.structures.CaseInsensitiveDict(reply.headers)
        return reply

    def make_stream_request(self: Any, method: str, path: str, data: Any = None, *more: Any, **options: Any) -> Any:
        return streamed(self, method, path, _with_options(self, path, data), *more, **options)

    process.start, process.stop, process.make_url = start, lambda self: None, make_url
    process.make_request, process.make_stream_request = make_request, make_stream_request
    utils.match_regex = lambda regex, text: bool(text) if regex in STORIES else matched(regex, text)
    utils.picture = picture


def _with_options(server: Any, path: str, data: Any) -> Any:
    """What is an option of their server is a field of each request here."""
    if not isinstance(data, dict):
        return data
    data = data | {"model": server.grus_model}
    if path == "/apply-template" and server.reasoning is not None:
        data["chat_template_kwargs"] = {"enable_thinking": server.reasoning != "off"}
    if path.endswith("chat/completions") and server.n_predict:
        data.setdefault("max_tokens", server.n_predict)
    return data


def _start(folder: Path, options: _Options) -> tuple[subprocess.Popen[bytes], str, int]:
    default = save_model(folder / "default", CHATML, 256)
    command = [sys.executable, "-m", "app.cli", "serve", "--device", "cpu", "--offline", "--grace", "0", "--port", "0"]
    command += [
        "--temperature",
        "0",
        "--responses-file",
        str(folder / "responses.json"),
        "--model",
        f"{DEFAULT}={default}",
    ]
    command += ["--models-dir", str(folder / "models"), "--alias", f"*={DEFAULT}", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    log = b""
    while not (found := re.search(rb"Grus serves on \S+?//([\w.]+):(\d+)", log)):
        if not (line := process.stdout.readline()):
            raise RuntimeError(f"grus serve did not start: {log.decode()}")
        log += line
    threading.Thread(target=process.stdout.read, daemon=True).start()
    host, port = found[1].decode(), int(found[2])
    for _ in range(200):  # the page comes before the socket
        with suppress(ConnectionRefusedError), socket.create_connection((host, port)):
            break
        time.sleep(0.05)
    return process, host, port


def end_all() -> None:
    for process, _, _ in _running.values():
        process.terminate()
        process.wait()


def _model(server: Any, folder: Path) -> str:
    """The name of the model that this server's options ask for, which is made if there is none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if "gemma3" in (server.model_hf_repo or ""):
        if not (folder / "vision").exists():
            save_vision_model(folder / "vision")
        return "vision"
    file, slots = server.chat_template_file, 1 if server.kv_unified else server.n_slots or 1
    template, context = (
        Path(file).stem if file else server.chat_template or "chatml",
        (server.n_ctx or CONTEXT) // slots,
    )
    own = server.model_alias if server.model_alias not in PRESETS else None
    name = own or f"{re.sub(r'[^A-Za-z0-9.-]', '-', template)}-{context}"
    if not (folder / name).exists():
        save_model(folder / name, _template(file) if file else TEMPLATES.get(template, template), context)
    return name


DEFAULT = "tinyllama-2"
PRESETS = {"tinyllama-2", "bert-bge-small", "tinyllama-infill", "tinyllama-2-anthropic", "tinyllama-2-tool-call"}
TEMPLATES = {"chatml": CHATML, "llama3": LLAMA3}


def _template(file: str) -> str:
    """Of the path from the build folder that their tests know."""
    (found,) = SOURCES.glob(f"**/models/templates/{Path(file).name}")
    return found.read_text(encoding="utf-8")


class _Picture:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def raise_for_status(self) -> None:
        pass


def picture(url: str) -> _Picture:
    """Instead of one from the web: another one for each address."""
    from io import BytesIO

    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (32, 32), (200, 30, 30) if "truck" in url else (30, 200, 30)).save(file, "PNG")
    return _Picture(file.getvalue())


# -- the run

CONFTEST = """
import sys
import types

import pytest

sys.modules["wget"] = types.ModuleType("wget")  # for downloads, of which there are none
import utils
from tests.clients import llama_server, llama_table
from pathlib import Path

llama_server.adapt(utils, Path(__file__).parent / "served")


@pytest.fixture(scope="session", autouse=True)
def end_all_servers():
    yield
    llama_server.end_all()


@pytest.hookimpl(trylast=True)  # without those that are marked as slow, which load models of the hub
def pytest_collection_modifyitems(config, items):
    kept = []
    for item in items:
        for name in llama_server.COUNTS:
            if hasattr(item, "callspec") and name in item.callspec.params:
                item.callspec.params[name] = llama_server.AnyCount()
        if EVERYTHING or not llama_table.reason(llama_server.name_of(item.nodeid)):
            kept.append(item)
    with open(Path(__file__).parent / "collected.txt", "a") as file:
        file.writelines(f"{llama_server.name_of(item.nodeid)}\\n" for item in items)
    items[:] = kept
"""


def name_of(node: str) -> str:
    """`test_basic.py::test_server_props`, whatever folder it is in."""
    return node.rpartition("unit/")[2]


def copied(folder: Path) -> Path:
    """The tests, with our conftest.py and the words of our protocols."""
    (theirs,) = SOURCES.glob("**/tools/server/tests")
    made = folder / "tests"
    shutil.copytree(theirs, made, ignore=shutil.ignore_patterns("conftest.py", "pytest.ini"))
    for file in made.glob("unit/*.py"):
        text = file.read_text(encoding="utf-8")
        for old, new in REWORDED:
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    return made


def run(folder: Path, files: Sequence[str] = (), everything: bool = False) -> tuple[dict[str, str], list[str]]:
    """The tests that ran, with what went wrong in each (empty: passed), and the names of all that there are."""
    made = copied(folder)
    (made / "conftest.py").write_text(f"EVERYTHING = {everything}\n{CONFTEST}", encoding="utf-8")
    (made / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    serial\n", encoding="utf-8")
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    command += [f"--junitxml={report}", "-o", "junit_family=xunit1", "--timeout", "120"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{made}"}
    done = subprocess.run(
        [*command, *(f"unit/{file}" for file in files or ("",))],
        cwd=made,
        env=environment,
        capture_output=True,
        text=True,
    )
    if not report.exists():
        raise RuntimeError(f"llama.cpp's tests did not run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    ran = {}
    for case in ElementTree.parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        skipped = [child for child in case if child.tag == "skipped"]
        name = f"{Path(case.get('file', '')).name}::{case.get('name')}"
        ran[name] = (bad[0].text or "failed") if bad else f"skipped: {skipped[0].get('message')}" if skipped else ""
    return ran, (made / "collected.txt").read_text(encoding="utf-8").splitlines()
