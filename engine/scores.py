"""Logprobs of prompt tokens, from the logits that a step brought to the host."""

from __future__ import annotations

import numpy as np

from engine.sequence import Choice
from engine.types import PromptScores, TokenLogprob


def prompt_scores(choice: Choice, start: int, logits: np.ndarray) -> PromptScores:
    """`logits[i]` were made at `start + i`, so they score the token after it."""
    wide = logits.astype(np.float64)
    wide -= wide.max(axis=-1, keepdims=True)
    norm = np.log(np.exp(wide).sum(axis=-1))
    most = choice.job.params.top_logprobs
    scores = []
    for i in range(len(wide)):
        id, line = choice.tokens[start + i + 1], wide[i] - norm[i]
        best = np.argsort(-line, kind="stable")[:most]
        scores.append(TokenLogprob(id, float(line[id]), [(int(t), float(line[t])) for t in best]))
    return PromptScores(choice.job.id, start + 1, scores)
