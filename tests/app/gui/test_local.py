"""The window's engine with real tiny models: words, pictures, and what a model is for."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from app.gui.preferences import Preferences
from app.gui.viewmodels.models.library import on_disk
from app.runtime.catalogue import Catalogue, able, capabilities_of, main_use
from app.runtime.chat import ReplyEvent
from app.window_engine import WindowEngine, local_service
from app.window_reply import ReplyRequest
from backends.torch.kernels import arena, packed_store
from engine.packed_weights import SUFFIX
from engine.weights.convert import convert
from tests.app.gui.media import ORPHEUS, like_spark
from tests.app.server.scripted import until
from tests.checkpoints import save
from tests.engine.hub.test_other_apps import ollama, put
from tests.engine.parallel.test_team import children, gone
from tests.engine.vision.pictures import drawn
from tests.packed_checkpoints import save_packed
from tests.seeing_checkpoints import gemma4_hearing, made, written
from tests.seeing_checkpoints import save as save_family
from tests.vision_checkpoints import save as save_seeing


class AtOnce:
    """Runs jobs where they are asked for."""

    def post(self, work: Any) -> None:
        work()

    def run(self, job: Any, then: Any = None, failed: Any = None) -> Any:
        try:
            answer = job()
        except Exception as error:
            if failed is None:
                raise
            return failed(str(error))
        return then(answer) if then is not None else None


class Listener:
    """A listener that waits for the end."""

    def __init__(self) -> None:
        self.text, self.end, self.over = "", "", threading.Event()

    def working(self, what: str) -> None: ...

    def parts(self, parts: Any) -> None:
        self.text += "".join(part.text for part in parts if part.kind == "answer")

    def ended(self, reason: str, timings: Any) -> None:
        self.end = reason
        self.over.set()

    def failed(self, sentence: str) -> None:
        self.end = sentence
        self.over.set()


class Straight:
    def __init__(self, deliver: Any) -> None:
        self._deliver = deliver

    def put(self, item: Any) -> None:
        self._deliver([item])


@pytest.fixture
def core(tmp_path: Path) -> Iterator[WindowEngine]:
    words = save("qwen3", tmp_path / "words", max_position_embeddings=4096)
    sees = save_seeing("qwen3_vl", tmp_path / "sees")
    preferences = Preferences(tmp_path / "preferences.json")
    preferences.put("backend", "auto")
    models = {"words": str(words), "sees": str(sees)}
    core = WindowEngine(AtOnce(), lambda: local_service(preferences, models), Straight)
    core.start()
    yield core
    core.close()


def reply(core: WindowEngine, model: str, content: Any) -> Listener:
    listener = Listener()
    sampling = {"max_tokens": 6, "temperature": 0.0}
    core.reply(ReplyRequest(model, [{"role": "user", "content": content}], sampling), listener)
    assert listener.over.wait(60)
    return listener


def test_a_real_model_answers_and_pictures_change_what_it_says(core: WindowEngine, tmp_path: Path) -> None:
    assert reply(core, "words", "Hello").end == "length"
    assert core.state.model == "words"
    answers = set()
    for colour in ("red", "green", "blue"):
        picture = tmp_path / f"{colour}.png"
        Image.new("RGB", (64, 48), colour).save(picture)
        parts = [{"type": "image", "image": picture}, {"type": "text", "text": "What is it?"}]
        listener = reply(core, "sees", parts)
        assert listener.end == "length"
        answers.add(listener.text)
        assert reply(core, "words", parts).end == "length"  # without the picture, which it cannot see
    assert len(answers) > 1


@pytest.mark.torch_only("MLX packs no weights")
def test_packed_weights_are_kept_as_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_store, "LEAST", 1)
    words = str(save("qwen3", tmp_path / "words", max_position_embeddings=4096, dtype="bfloat16"))
    preferences, packed, answers = Preferences(tmp_path / "preferences.json"), tmp_path / "packed", []
    preferences.put("backend", "torch")
    for limit, files in (("0", 0), ("8G", 1), ("8G", 1)):
        preferences.put("packed_limit", limit)
        core = WindowEngine(AtOnce(), lambda: local_service(preferences, {"words": words}, packed=packed), Straight)
        core.start()
        answers.append(reply(core, "words", "Hello").text)
        arena.wait()
        core.close()
        assert len(list(packed.glob(f"*{SUFFIX}"))) == files
    assert answers == answers[:1] * 3


def test_internvl_sees_and_gemma_4_hears_in_the_window(tmp_path: Path) -> None:
    """A sound that a model hears is one that another is told of."""
    family = gemma4_hearing()
    models = {
        "internvl": str(save_family("internvl", tmp_path / "internvl")),
        "gemma": str(written(family, made(family), tmp_path / "gemma")),
    }
    assert "hear" in capabilities_of(models["gemma"])
    assert "hear" not in capabilities_of(models["internvl"])
    preferences = Preferences(tmp_path / "preferences.json")
    preferences.put("backend", "auto")
    core = WindowEngine(AtOnce(), lambda: local_service(preferences, models), Straight)
    core.start()
    try:
        for model, kind, ending in (("internvl", "image", "png"), ("gemma", "image", "png"), ("gemma", "audio", "wav")):
            answers = set()
            for seed in range(4):
                file = tmp_path / f"{seed}.{ending}"
                if kind == "image":
                    drawn(60, 40, seed).save(file)
                else:
                    soundfile.write(file, np.random.default_rng(seed).normal(0, 0.1 + 0.1 * seed, 8000), 16000)
                parts = [{"type": kind, kind: file}, {"type": "text", "text": "What is it?"}]
                listener = reply(core, model, parts)
                assert listener.end == "length"
                answers.add(listener.text)
            assert len(answers) > 1
        assert reply(core, "internvl", parts).end == "length"  # without the sound, which it cannot hear
    finally:
        core.close()


@pytest.mark.slow
def test_a_split_model_answers_again_after_a_rank_was_killed(tmp_path: Path) -> None:
    """As Settings, Compute, Tensor parallelism has it."""
    words = save("qwen3", tmp_path / "words", max_position_embeddings=4096)
    preferences = Preferences(tmp_path / "preferences.json")
    for key, value in {"backend": "auto", "device": "cpu", "tensor_parallel": 2}.items():
        preferences.put(key, value)
    before = children()
    core = WindowEngine(AtOnce(), lambda: local_service(preferences, {"words": str(words)}), Straight)
    core.start()
    try:
        first = reply(core, "words", "Hello")
        assert first.end == "length"
        ranks = children() - before
        assert ranks
        long = Listener()
        said = [{"role": "user", "content": "Hello"}]
        core.reply(ReplyRequest("words", said, {"max_tokens": 3000, "min_tokens": 3000}), long)
        until(lambda: long.text, 60)
        os.kill(max(ranks), signal.SIGKILL)
        assert long.over.wait(60)
        assert "do not work together any more" in long.end
        assert gone(list(ranks))
        again = reply(core, "words", "Hello")
        assert (again.end, again.text) == ("length", first.text)
    finally:
        core.close()


@pytest.mark.parametrize(("gone", "text"), [(False, "late"), (True, "")])
def test_a_reply_has_no_listener_once_the_window_is_gone(
    core: WindowEngine, monkeypatch: pytest.MonkeyPatch, gone: bool, text: str
) -> None:
    done = threading.Event()
    monkeypatch.setattr(
        "app.window_engine.make_reply", lambda core, ask, speaking: done.wait(10)
    )  # the reply is still being made
    listener = Listener()
    speaking = core.reply(ReplyRequest("words", [{"role": "user", "content": "Hi"}], {}), listener)
    core.close()
    if gone:
        core.silence()
    speaking.hand_over([("parts", [ReplyEvent(0, "answer", "late")]), ("ended", "cancelled", None)])
    done.set()
    assert (listener.text, listener.over.is_set()) == (text, not gone)


def test_nothing_begins_after_the_end(core: WindowEngine) -> None:
    core.close()
    begun = threading.Event()

    def work(scoped: Any) -> Iterator[int]:
        begun.set()
        yield 1

    given: list[Any] = []
    core.stream(work, given.append, given.append)
    assert not begun.wait(0.2)
    assert given == []
    assert not core.busy


def test_what_a_model_is_for_is_read_from_its_config(core: WindowEngine, tmp_path: Path) -> None:
    for name, model_type in (("ears", "moonshine"), ("mouth", "qwen3_tts"), ("new", "something_else")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": model_type}))
    assert [main_use(capabilities_of(str(tmp_path / name))) for name in ("ears", "mouth", "new")] == [
        "listen",
        "speak",
        "chat",
    ]
    assert main_use(capabilities_of("no/such-model")) == "chat"
    spark = like_spark(tmp_path / "spark")
    (tmp_path / "orpheus").mkdir()
    (tmp_path / "orpheus" / "config.json").write_text(json.dumps(ORPHEUS))
    (tmp_path / "snac").mkdir()
    (tmp_path / "snac" / "config.json").write_text(
        json.dumps({"vq_strides": [4], "encoder_rates": [2], "decoder_rates": [2]})
    )
    assert [main_use(capabilities_of(str(folder))) for folder in (spark, spark / "LLM", tmp_path / "orpheus")] == [
        "speak"
    ] * 3
    assert main_use(capabilities_of(str(tmp_path / "snac"))) == "part"
    assert {"spark", "orpheus"} <= {known.name for known in Catalogue(folder=tmp_path, use_cache=False).all()}
    found: list[list[str]] = []
    core.models(found.append)
    assert {"words", "sees"} <= set(found[0])
    core.use(lambda service: found.append(able(service.catalogue, "listen")))
    assert "words" not in found[1]


def test_no_model_that_listens_is_said_plainly(
    core: WindowEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "empty"))
    said: list[str] = []
    core.transcribe(tmp_path / "a.wav", said.append, said.append)
    assert "listens" in said[0]


def test_other_applications_models_and_the_fallback_answer(
    core: WindowEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they lie in the folders of LM Studio, Ollama and llama.cpp; and what Grus has no class for, plain and packed."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("GRUS_OTHER_APPS", "on")
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("engine.hub.other_apps._FRESH", -1.0)
    data = convert(tmp_path / "words", tmp_path / "tiny.gguf").read_bytes()
    put(tmp_path / ".lmstudio" / "models" / "maker" / "Tiny-GGUF" / "Tiny-Q8_0.gguf", data)
    ollama(tmp_path / ".ollama" / "models", "registry.ollama.ai/library/tiny/1b", data)
    put(tmp_path / ".cache" / "llama.cpp" / "tiny.gguf", data)
    service = core._service.result()
    shown = {model.name: model.app for model in on_disk(service)}
    names = {"maker/Tiny-GGUF": "LM Studio", "tiny:1b": "Ollama", "tiny": "llama.cpp"}
    assert {name: shown.get(name) for name in names} == names
    texts = {reply(core, name, "Hello").text for name in ("words", *names)}
    assert len(texts) == 1
    mine = service.catalogue.folder = tmp_path / "mine"
    save("gemma", mine / "plain", max_position_embeddings=4096)
    save_packed("gemma", mine / "packed", "awq", max_position_embeddings=4096)
    for name in ("plain", "packed"):
        (mine / name / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
        assert reply(core, name, "Hello").end == "length"
        assert service.loaded[name].foreign
