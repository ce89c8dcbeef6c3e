"""The engine under the Guide, a real model with answers that can be told right from wrong: many at once, little
memory, prompts that were read before, and two models where one has room.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from evaluate_guide import TEXTS, plain

import grus
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.pipelines.prompt import chat_prompt
from engine.starter import GUIDE, starter
from engine.types import Request, SamplingParams, Settings
from engine.weights.convert import convert

ASKED = {
    "How do I add a model?": "add_model",
    "Which model fits 16 GB?": "model_16gb",
    "Is anything sent over the network?": "privacy",
    "How do I read a PDF?": "read_pdf",
    "How do I point my editor here?": "editor",
    "What can you do?": "what_can_you_do",
    "Write me a poem about the sea": "off_topic",
    "How do I uninstall Grus?": "uninstall",
}
GREEDY = SamplingParams(temperature=0)


def test_many_people_at_once_get_their_own_answers(guide: grus.Model) -> None:
    said: dict[tuple[str, int], str] = {}

    def person(question: str, number: int) -> None:
        said[question, number] = guide.run(question).text

    people = [threading.Thread(target=person, args=(question, n)) for question in ASKED for n in range(3)]
    for thread in people:
        thread.start()
    for thread in people:
        thread.join(60)
    assert {key: plain(text) for key, text in said.items()} == {
        (question, n): TEXTS[answer] for question, answer in ASKED.items() for n in range(3)
    }


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_question_that_was_asked_before_is_not_read_again(backend: str) -> None:
    with grus.load(backend=backend, device="cpu", quant="none") as model:
        first, again = (model.run("How do I point my editor here?") for _ in range(2))
        other = model.run("How do I point my editor to another port?")
    assert first.text == again.text
    assert first.result.timings.cached_tokens == 0
    assert again.result.timings.cached_tokens == len(again.prompt.ids) - 1
    assert 4 < other.result.timings.cached_tokens < len(other.prompt.ids) - 1


def test_crowded_in_little_memory_each_text_goes_on_as_when_alone() -> None:
    """Long texts, each growing out of its memory while it is continued."""
    options = LoadOptions(backend="auto", device="cpu", quant="none", memory_limit=72 << 20)
    settings = Settings(max_concurrent=24, gpu_memory_limit="72M", prefix_reuse=False)
    with Engine(lambda name: load(name, options), settings) as engine:
        engine.load(GUIDE)
        tokenizer = load(GUIDE, options).tokenizer
        texts = [f"{n}. " + " ".join(list(TEXTS.values())[n : n + 12]).lower() for n in range(24)]
        params = SamplingParams(temperature=0, max_tokens=16, ignore_eos=True)
        requests = [Request(GUIDE, tokenizer.encode(text)[:245], params) for text in texts]
        alone = [engine.submit(request).result().ids for request in requests]
        together = [result.ids for result in engine.batch(requests)]
    assert together == alone


def test_of_two_models_the_idle_one_makes_room(tmp_path: Path) -> None:
    folder = starter(GUIDE)
    assert folder is not None
    file = str(convert(folder, tmp_path / "guide.gguf", "gguf", "q8_0"))
    options = LoadOptions(backend="auto", device="cpu", quant="none", memory_limit=100 << 20)
    with Engine(lambda name: load(name, options), Settings(gpu_memory_limit="100M")) as engine:
        described = load(GUIDE, options)
        prompt = chat_prompt(described, [{"role": "user", "content": "How do I read a PDF?"}])
        for name in (GUIDE, file, GUIDE):
            assert plain(engine.submit(Request(name, prompt.ids, GREEDY)).result().text) == TEXTS["read_pdf"]
        assert GUIDE in {model.name for model in engine.models()}


def test_evicted_texts_come_out_as_when_they_are_alone() -> None:
    """Each text outgrows its first place in memory, which has no second one for all of them."""
    settings = Settings(decode_tokens_per_seq=4, prefix_reuse=False)
    with grus.load(settings=settings, backend="auto", device="cpu", quant="none") as model:
        words = model.prompt("which model fits 16 GB", raw=True).ids
        texts = [[*words[i:], *words * 200][:250] for i in range(3)]
        params = SamplingParams(temperature=0.0, max_tokens=24, ignore_eos=True)
        alone = [model.engine.submit(Request(model.name, text, params)).result().ids for text in texts]
        memory = model.engine._manager.executors[model.name].memory
        memory.loaded_budget = memory.kv.bytes_for(300) + memory.kv.bytes_for(256)
        handles = [model.engine.submit(Request(model.name, text, params)) for text in texts]
        assert [handle.result().ids for handle in handles] == alone
        assert model.engine.stats().evictions > 0
