"""Which reply of a chat model is typed instead of what was dictated, and which model is asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runtime.dictation_cleanup import accepted, clean_up
from engine.errors import BadRequest
from engine.types import Request
from tests.app.gui.scripted import scripted_service

SPOKEN = "um the the crane bows in the in the morning"
CLEAN = "The crane bows in the morning."


@pytest.mark.parametrize(
    ("spoken", "reply", "typed"),
    [
        (SPOKEN, CLEAN, CLEAN),
        (SPOKEN, f'"{CLEAN}"\n', CLEAN),
        ("hello", "Hello.", "Hello."),
        ("what is the capital of france", "What is the capital of France?", "What is the capital of France?"),
        ("we wants to go home now please", "We want to go home now, please.", "We want to go home now, please."),
        ("äh die kraniche ziehen nach süden", "Die Kraniche ziehen nach Süden.", "Die Kraniche ziehen nach Süden."),
        ("えっと鶴は朝に飛びます", "鶴は朝に飛びます。", "鶴は朝に飛びます。"),
        ("one line and another", "One line,\nand another.", "One line, and another."),
        ("“hello” she said", "“Hello”, she said.", "“Hello”, she said."),
    ],
)
def test_corrections_are_typed(spoken: str, reply: str, typed: str) -> None:
    assert accepted(spoken, reply) == typed


@pytest.mark.parametrize(
    ("spoken", "reply"),
    [
        (SPOKEN, ""),
        (SPOKEN, " \n"),
        (SPOKEN, "..."),
        (SPOKEN, f"Sure! {CLEAN}"),
        (SPOKEN, f"Here is the corrected text: {CLEAN}"),
        (SPOKEN, f"{CLEAN} {CLEAN}"),
        (SPOKEN, f"{CLEAN} Cranes are large birds with long legs."),
        (SPOKEN, "The crane."),
        (SPOKEN, "The crane bows\x1b[2J in the morning."),
        ("um the crane bows today", "Yes, the crane bows today."),
        ("what is the capital of france", "The capital of France is Paris."),
        ("what is two plus two", "What is two plus two? Four"),
        ("Do you like cranes?", "I like cranes."),
        ("write a poem about cranes", "Cranes in the morning, cranes in the dew."),
        ("the crane bows", "Der Kranich verneigt sich."),
        ("鶴は何を食べますか", "鶴は魚や虫や穀物などを食べる雑食の鳥です"),
        ("...", "Nothing was said."),
    ],
)
def test_what_is_no_correction_is_refused(spoken: str, reply: str) -> None:
    assert accepted(spoken, reply) == ""


@pytest.fixture
def host(tmp_path: Path) -> Any:
    """A service with a scripted engine. `engine.reply` is what its model writes."""
    service, engine = scripted_service(tmp_path, ("tiny", "other"))
    engine.reply = CLEAN
    return SimpleNamespace(service=service, engine=engine)


def test_no_model_is_loaded_for_it(host: Any) -> None:
    assert clean_up(host, SPOKEN) == SPOKEN
    assert (host.engine.requests, host.engine.models_loaded) == ([], {})
    host.service.load_now("tiny")
    assert clean_up(host, SPOKEN) == CLEAN
    assert list(host.engine.models_loaded) == ["tiny"]


def test_the_chat_model_is_asked_where_it_is_in_memory(host: Any) -> None:
    host.service.load_now("tiny")
    host.engine.load("other")
    for preferred, asked in (("other", "other"), ("gone", "tiny"), ("", "tiny")):
        clean_up(host, SPOKEN, preferred)
        assert host.engine.requests[-1].model == asked


def test_it_is_asked_greedily_for_a_reply_of_its_length(host: Any) -> None:
    host.service.load_now("tiny")
    clean_up(host, SPOKEN)
    sampling = host.engine.requests[0].sampling
    assert sampling.temperature == 0
    assert 2 * len(SPOKEN) <= sampling.max_tokens <= 2 * len(SPOKEN) + 16  # each byte is a token
    host.engine.reason = "length"  # a reply that was cut off
    assert clean_up(host, SPOKEN) == SPOKEN


@pytest.mark.parametrize("where", ["error", "refusal"])
def test_a_model_that_fails_leaves_the_text(host: Any, where: str) -> None:
    host.service.load_now("tiny")
    setattr(host.engine, where, BadRequest("The queue is full."))
    assert clean_up(host, SPOKEN) == SPOKEN


def test_a_model_that_takes_too_long_is_stopped(host: Any) -> None:
    host.service.load_now("tiny")
    host.engine.silence = 0.4
    began = time.monotonic()
    assert clean_up(host, SPOKEN, seconds=0.1) == SPOKEN
    assert time.monotonic() - began < 5
    assert host.engine.cancelled == [host.engine.requests[0].id]


def test_an_answer_is_not_typed(host: Any) -> None:
    host.service.load_now("tiny")
    script: Callable[[Request], str] = lambda request: "The capital of France is Paris."  # noqa: E731
    host.engine.script = script
    assert clean_up(host, "what is the capital of france") == "what is the capital of france"
