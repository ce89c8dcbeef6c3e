"""A model that sees, on one backend, from a folder or a GGUF file, with an engine: its features, logits and greedy replies."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from backends.base import Segment
from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load
from engine.pipelines.prompt import Prompt, encoded
from engine.types import Request, Result, SamplingParams, Settings

GREEDY = 32


class SeeingWorld:
    def __init__(self, place: Path, backend: str, quant: str = "auto", **settings: Any) -> None:
        self.name = str(place)

        def make(name: str) -> LoadedModel:
            where: dict[str, Any] = dict(backend=backend, device="cpu", dtype="f32", memory_limit=1 << 30)
            self.loaded = load(name, LoadOptions(**where, quant=quant))
            return self.loaded

        self.engine = Engine(make, Settings(**settings))
        self.engine.load(self.name)

    def prompt(self, text: str, pictures: Sequence[Image.Image]) -> Prompt:
        assert self.loaded.vision is not None
        return encoded(self.loaded, text, [self.loaded.vision.prepare(one) for one in pictures])

    def encode(self, pictures: Sequence[Any]) -> list[np.ndarray]:
        def work(loaded: LoadedModel) -> Any:
            return (yield from loaded.model.encode(pictures))

        return self.engine.task(self.name, work).result(60)

    def logits(self, prompt: Prompt) -> np.ndarray:
        """Of every position."""
        features = np.concatenate(self.encode(prompt.pictures)) if prompt.pictures else None
        seen = set() if prompt.positions is None else set(prompt.positions.tolist())
        ends = [i for i in range(1, len(prompt.ids)) if (i in seen) != (i - 1 in seen)]

        def work(loaded: LoadedModel) -> Any:
            slot = loaded.kv.open(len(prompt.ids))
            assert slot is not None
            rows, used = [], 0
            for start, stop in zip([0, *ends], [*ends, len(prompt.ids)]):
                rope = None if prompt.rope is None else prompt.rope[:, start:stop]
                segment = Segment(slot, pos=rope, want=range(stop - start))
                if start in seen:
                    assert features is not None
                    segment.embeds, segment.mutual = (
                        features[used : used + stop - start],
                        loaded.model.mutual_pictures,
                    )
                    used += stop - start
                else:
                    segment.ids = prompt.ids[start:stop]
                rows.append(loaded.runner.run([segment]).read()[slot].logits)
                yield
            loaded.kv.close(slot)
            return np.concatenate(rows)

        return self.engine.task(self.name, work).result(60)

    def reply(self, prompt: Prompt) -> list[int]:
        greedy = SamplingParams(temperature=0.0, max_tokens=GREEDY, ignore_eos=True)
        seen = dict(pictures=prompt.pictures, positions=prompt.positions, rope=prompt.rope)
        request = Request(self.name, prompt.ids, greedy, **seen)  # type: ignore[arg-type]
        result = self.engine.batch([request])[0]
        assert isinstance(result, Result), result
        return list(result.ids)


def exact_logits(model: Any, inputs: dict[str, Any]) -> np.ndarray:
    """Logits of the prompt from a copy of the reference in 64 bits: in 32, deep stacks of it are themselves off by nearly what a test allows."""
    import torch

    exact = copy.deepcopy(model).double()
    exact.set_experts_implementation("eager")  # the others know no 64 bits
    wide = {
        name: one.double() if torch.is_tensor(one) and one.is_floating_point() else one for name, one in inputs.items()
    }
    with torch.no_grad():
        found: np.ndarray = exact(**wide).logits[0].numpy()
    return found


def nearly_alike(quantized: SeeingWorld, whole: SeeingWorld, prompt: Prompt) -> None:
    """Weights in blocks of 8 bits serve: the same but for what they round."""
    features, want = (np.concatenate(world.encode(prompt.pictures)) for world in (quantized, whole))
    assert 0 < np.median(np.abs(features - want)) <= 0.03 * np.abs(want).max()
    logits, known = (world.logits(prompt) for world in (quantized, whole))
    assert np.median(np.abs(logits - known)) <= 0.05 * np.abs(known).max()
    assert len(quantized.reply(prompt)) == GREEDY


def references_reply(model: Any, inputs: dict[str, Any]) -> tuple[np.ndarray, list[int], list[float]]:
    """Logits of the prompt; greedy tokens, and by how much each beat the second best."""
    import torch

    with torch.no_grad():
        logits = model(**inputs).logits[0].numpy()
        out = model.generate(
            **inputs,
            max_new_tokens=GREEDY,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    given = inputs["input_ids"].shape[1]
    return logits, out.sequences[0, given:].tolist(), ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()
