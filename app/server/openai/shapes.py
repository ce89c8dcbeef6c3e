"""Parts of OpenAI's replies that several routes share: usage, log probabilities, finish reasons, fingerprints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.loading import LoadedModel
from engine.text.tokenizer import Tokenizer
from engine.types import FinishReason, Timings, TokenLogprob

LEAST_LOGPROB = -9999.0  # JSON has no infinity; OpenAI writes this


def finish_reason(reason: FinishReason) -> str:
    """OpenAI has no reason for a cancelled reply: it is reported like one that reached its limit."""
    return "length" if reason == "cancelled" else reason


def fingerprint(model: LoadedModel) -> str:
    return f"fp_{model.fingerprint[:12]}"


def usage(timings: Timings, reasoning_tokens: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": timings.prompt_tokens,
        "completion_tokens": timings.output_tokens,
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
        "prompt_tokens_details": {"cached_tokens": timings.cached_tokens},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning_tokens,
            "accepted_prediction_tokens": timings.accepted,
            "rejected_prediction_tokens": timings.drafted - timings.accepted,
        },
    }


def token_text(tokenizer: Tokenizer, id: int) -> str:
    return tokenizer.bytes_of(id).decode("utf-8", "replace")


def content_logprobs(tokenizer: Tokenizer, scores: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    return [
        _scored(tokenizer, score.id, score.logprob)
        | {"top_logprobs": [_scored(tokenizer, id, logprob) for id, logprob in score.top]}
        for score in scores
    ]


def _scored(tokenizer: Tokenizer, id: int, logprob: float) -> dict[str, Any]:
    return {
        "token": token_text(tokenizer, id),
        "logprob": max(logprob, LEAST_LOGPROB),
        "bytes": list(tokenizer.bytes_of(id)),
    }
