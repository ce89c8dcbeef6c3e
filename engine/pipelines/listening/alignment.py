"""When each word of a transcript is said, by a forced aligner: a model that hears the sound beside its text."""

from __future__ import annotations

import unicodedata
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord, split
from engine.tasks import EngineLike

LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "yue", "zh")  # that it was trained for
_UNNAMED = (None, "auto", "und")  # of recognizers that do not say which language they hear
_SNAPPED = 2  # times out of order, in a row, that become a neighbour's; of more, a straight line


class ForcedAligner:
    def __init__(self, engine: EngineLike, model: str) -> None:
        """`model`: an aligner of the engine."""
        self._engine, self._model = engine, model

    def timed(self, segment: TranscriptSegment, samples: np.ndarray, language: str | None) -> TranscriptSegment:
        """The segment, which is said in `samples`, with the times of its words; as it is in a language that the model does not know."""
        words = list(split(segment.text))
        spoken = [spelled(word) for word in words]
        if not any(spoken) or language not in (*LANGUAGES, *_UNNAMED):
            return segment

        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            model, encode = loaded.model, loaded.tokenizer.encode
            if not hasattr(model, "classes"):
                raise BadRequest(f"{self._model} aligns no words. Qwen3-ForcedAligner does.", "aligner")
            before = list(encode("<|audio_start|>", add_special=False))
            behind = list(encode("<|audio_end|>", add_special=False))
            for word in filter(None, spoken):
                behind += [*encode(word, add_special=False, parse_special=False), model.mark, model.mark]
            found: np.ndarray = yield from model.classes(samples, before, behind)
            return found * model.unit

        times = in_order(self._engine.task(self._model, work, admitted=True).result().tolist())
        return replace(segment, words=tuple(_placed(segment, words, spoken, times)))


def spelled(word: str) -> str:
    """As the model was trained to read it: letters, numbers and apostrophes."""
    return "".join(sign for sign in word if sign == "'" or unicodedata.category(sign)[0] in "LN")


def _placed(
    segment: TranscriptSegment, words: Sequence[str], spoken: Sequence[str], times: Sequence[float]
) -> list[TranscriptWord]:
    """Words with their times inside of the segment. What is no word, such as a dash, takes no time."""
    made, at, end = list[TranscriptWord](), 0, segment.start
    for word, said in zip(words, spoken):
        if not said:
            made.append(TranscriptWord(word, end, end))
            continue
        start, stop = (min(segment.start + one, segment.end) for one in times[at : at + 2])
        at, end = at + 2, stop
        made.append(TranscriptWord(word, start, stop))
    return made


def in_order(times: Sequence[float]) -> list[float]:
    """Times that never go back: the longest run of them in order stays, and the others are put between its neighbours."""
    kept = _longest_in_order(times)
    made = list(times)
    for before, after in zip([-1, *kept], [*kept, len(made)]):
        count = after - before - 1
        for i in range(before + 1, after):
            if before < 0 or after == len(made):
                made[i] = times[kept[0]] if before < 0 else times[before]
            elif count <= _SNAPPED:
                made[i] = times[before] if i - before <= after - i else times[after]
            else:
                made[i] = times[before] + (times[after] - times[before]) / (count + 1) * (i - before)
    return made


def _longest_in_order(times: Sequence[float]) -> list[int]:
    """The places of the longest subsequence that does not decrease; of several, the one that ends first."""
    lengths, parents = [1] * len(times), [-1] * len(times)
    for i, time in enumerate(times):
        for j in range(i):
            if times[j] <= time and lengths[j] + 1 > lengths[i]:
                lengths[i], parents[i] = lengths[j] + 1, j
    at = lengths.index(max(lengths)) if lengths else -1
    found = []
    while at >= 0:
        found.append(at)
        at = parents[at]
    return found[::-1]
