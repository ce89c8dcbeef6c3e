"""The SDK: what the README promises to those who write Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import grus
from engine.errors import BadRequest, EngineStopped
from tests.checkpoints import save

WISHES = {"max_tokens": 12, "temperature": 0.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield str(save("qwen3", tmp_path_factory.mktemp("sdk") / "tiny", "old"))
    grus.unload()


def test_chat_answers_a_message_and_a_conversation(folder: str) -> None:
    said = grus.chat("Hello", model=folder, **WISHES)
    assert said
    assert said == grus.chat([{"role": "user", "content": "Hello"}], model=folder, **WISHES)


def test_run_tells_everything(folder: str) -> None:
    answer = grus.run("Hello", model=folder, raw=True, **WISHES)
    assert answer.prompt.ids == list(answer.prompt.ids)
    assert len(answer.prompt.ids) == 5
    assert answer.result.timings.output_tokens == len(answer.result.ids)
    assert str(answer) == answer.text


def test_streamed_pieces_are_the_whole(folder: str) -> None:
    with grus.load(folder) as model:
        assert "".join(model.stream("Hello", **WISHES)) == model.run("Hello", **WISHES).text


def test_a_stream_that_is_left_stops_the_model(folder: str) -> None:
    with grus.load(folder) as model:
        pieces = model.stream("Hello", raw=True, max_tokens=200, temperature=1.0, seed=1)
        next(pieces)
        pieces.close()
        model.run("Again", max_tokens=1)
        assert model.engine.stats().cancelled == 1


def test_a_batch_keeps_its_order(folder: str) -> None:
    prompts = [f"Number {i}" for i in range(12)]
    together = [answer.text for answer in grus.batch(prompts, model=folder, **WISHES)]
    assert together == [grus.chat(prompt, model=folder, **WISHES) for prompt in prompts]


def test_both_backends(folder: str) -> None:
    said = {
        backend: grus.chat("Hello", model=folder, options={"backend": backend}, **WISHES)
        for backend in ("torch", "mlx")
    }
    assert said["torch"] == said["mlx"]


def test_errors_are_typed(folder: str) -> None:
    with pytest.raises(BadRequest, match="temperature"):
        grus.chat("Hello", model=folder, temperature=-1.0)
    with pytest.raises(grus.GrusError, match="/no/such/model"):
        grus.chat("Hello", model="/no/such/model")
    model = grus.load(folder)
    model.close()
    with pytest.raises(EngineStopped):
        model.run("Hello")
