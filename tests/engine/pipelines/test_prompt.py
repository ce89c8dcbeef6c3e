"""Prompts with pictures among their tokens: written on, continued, and looked at once however often they are rendered."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest
from engine.pipelines.prompt import chat_prompt, text_prompt, vision_request, with_text
from tests.app.server.scripted import scripted_model
from tests.engine.vision.pictures import drawn
from tests.vision_checkpoints import IMAGE


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return scripted_model(tmp_path_factory.mktemp("prompt"), "qwen3_vl")


def ids_of(model: Any, text: str) -> list[int]:
    return list(model.tokenizer.encode(text, add_special=False))


def asking(*images: Any) -> list[dict[str, Any]]:
    parts = [{"type": "image", "image": image} for image in images]
    return [{"role": "user", "content": [*parts, {"type": "text", "text": "Hm?"}]}]


def test_text_behind_a_prompt_keeps_its_pictures(model: Any) -> None:
    prompt = chat_prompt(model, asking(drawn(40, 32)))
    longer = with_text(model, prompt, "Well,")
    assert longer.ids == [*prompt.ids, *ids_of(model, "Well,")]
    assert longer.pictures == prompt.pictures
    assert np.array_equal(longer.rope[:, : len(prompt.ids)], prompt.rope)
    assert (np.diff(longer.rope[:, len(prompt.ids) - 1 :]) == 1).all()


def test_what_was_looked_at_is_not_looked_at_again(model: Any) -> None:
    looked = vision_request(model, asking(drawn(40, 32)))
    again = vision_request(model, asking(*looked.pictures))
    assert again.pictures == looked.pictures
    assert again.messages == looked.messages == asking_bare(1)


def asking_bare(n: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "image"}] * n + [{"type": "text", "text": "Hm?"}]}]


def test_the_same_note_is_told_once(model: Any) -> None:
    prompt = chat_prompt(model, asking(drawn(200, 100), drawn(200, 100, 1), drawn(40, 32)))
    assert len(prompt.notes) == 1
    assert prompt.ids.count(IMAGE) == sum(picture.tokens for picture in prompt.pictures)


def test_a_text_without_places_becomes_a_message(model: Any) -> None:
    assert text_prompt(model, "Hm?", [drawn(40, 32)]).ids == chat_prompt(model, asking(drawn(40, 32))).ids
    own = text_prompt(model, "<|image_pad|>Hm?", [drawn(40, 32)])
    assert own.ids[-3:] == ids_of(model, "Hm?")
    assert own.ids[0] == IMAGE


def test_a_model_that_reads_text_only_is_named(model: Any) -> None:
    blind = SimpleNamespace(**{**vars(model), "vision": None})
    for ask in (lambda: chat_prompt(blind, asking(drawn(9, 9))), lambda: text_prompt(blind, "Hm?", [drawn(9, 9)])):
        with pytest.raises(BadRequest, match="tiny reads text only"):
            ask()


def test_a_path_written_as_a_string_is_not_opened(model: Any, tmp_path: Path) -> None:
    """Messages may come from strangers; only this side makes paths."""
    file = tmp_path / "x.png"
    drawn(9, 9).save(file)
    with pytest.raises(BadRequest, match="not str"):
        vision_request(model, asking(str(file)))
    assert vision_request(model, asking(file)).pictures
