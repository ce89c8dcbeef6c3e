"""Prompts without a chat template and what requests generate from them: shared by `/v1/completions`, `/generate` and embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from app.server.errors import bad_request, unsupported
from app.server.sampling import TokenId
from engine.loaded import LoadedEncoder
from engine.loading import LoadedModel
from engine.text.detokenizer import Detokenizer
from engine.types import Done, Event, Finished, FinishReason, PromptScores, Started, Text, Timings, TokenLogprob

TokenIds = Annotated[list[TokenId], Field(min_length=1, max_length=1_000_000)]


def split_prompts(given: str | Sequence[Any]) -> tuple[list[str], list[list[int]]]:
    """The prompts of a text, tokens, or a list of either: texts, or else token ids."""
    texts = [given] if isinstance(given, str) else [prompt for prompt in given if isinstance(prompt, str)]
    if texts:
        return texts, []
    lists = [prompt for prompt in given if isinstance(prompt, list)]
    return [], lists or [[id for id in given if isinstance(id, int)]]


def check_ids(prompts: Sequence[Sequence[int]], model: LoadedModel | LoadedEncoder, param: str) -> None:
    if prompts:
        check_tokens(model, param)
    for ids in prompts:
        if unknown := [id for id in ids if not 0 <= id < model.vocab]:
            raise bad_request(f"There is no token {unknown[0]}; this model has tokens 0 to {model.vocab - 1}.", param)


def check_tokens(model: LoadedModel | LoadedEncoder, param: str) -> None:
    """For routes that take or give out tokens: those of a model elsewhere only its server knows."""
    if not model.vocab:
        raise unsupported(param, f"The model {model.name} runs on another server, whose tokens are not known here.")


@dataclass(eq=False)
class GeneratedChoice:
    """One of a request's `n` choices, as far as it is generated."""

    text: str = ""
    ids: list[int] = field(default_factory=list)
    scores: list[TokenLogprob] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)  # where in the text the token of each score begins
    reason: FinishReason | None = None
    stop: str | int | None = None

    @property
    def mean_logprob(self) -> float:
        return sum(score.logprob for score in self.scores) / max(len(self.scores), 1)


def whole_text(choice: GeneratedChoice, model: LoadedModel, skip_special: bool = True, trim: bool = True) -> str:
    """The text so far, with special tokens where they are wanted, and with the stop string where it is not trimmed."""
    text = choice.text
    if not skip_special:
        keep = getattr(model, "markers", ())
        plain, full = (Detokenizer(model.tokenizer, skip_special=skip, keep=keep) for skip in (True, False))
        text, left = "", len(choice.text)
        for id in choice.ids:
            short, long = plain.push(id), full.push(id)
            text += long if len(short) <= left else long[:left]  # what follows is held back, or the stop string
            left -= len(short)
            if left < 0:
                break
    if trim or choice.stop is None:
        return text
    return text + (
        choice.stop
        if isinstance(choice.stop, str)
        else model.tokenizer.decode([choice.stop], skip_special, at_start=False)
    )


class Generation:
    """One request's events, folded into its choices, prompt scores and timings."""

    def __init__(self, n: int) -> None:
        self.choices = [GeneratedChoice() for _ in range(n)]
        self.prompt_scores: list[TokenLogprob] = []
        self.cached_tokens = 0
        self.timings = Timings()

    def add(self, event: Event) -> list[GeneratedChoice]:
        """Returns the choices that have new tokens or have ended."""
        if isinstance(event, Text):
            choice = self.choices[event.index]
            choice.offsets += [len(choice.text)] * len(event.logprobs)
            choice.text += event.text
            choice.ids += event.ids
            choice.scores += event.logprobs
            return [choice] if event.ids else []
        if isinstance(event, Started):
            self.cached_tokens = event.cached_tokens
        elif isinstance(event, PromptScores):
            self.prompt_scores += event.logprobs
        elif isinstance(event, Finished):
            choice = self.choices[event.index]
            choice.reason, choice.stop = event.reason, event.stop
        elif isinstance(event, Done):
            self.timings = event.timings
            for choice in self.choices:
                if choice.reason is None:
                    choice.reason, choice.stop = event.reason, event.stop
            return self.choices
        return []
