"""Both kinds of Moonshine, on both backends, against the reference: features, logits, greedy tokens, several at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from backends.base import Sampling, Segment
from engine.errors import BadRequest
from engine.types import Sound
from tests.driver import Driver
from tests.speech_checkpoints import MODELS, START, reference, save, sound

BACKENDS = ("torch", "mlx")
LENGTHS = (2.0, 0.605, 1.315)  # seconds: whole frames of 5 ms, and not whole windows
GREEDY = 64


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    root = tmp_path_factory.mktemp("listening")
    folder = cache(lambda name: save(name, root / name))
    made = cache(lambda name, backend: Driver(folder(name), backend))
    yield made
    made.cache_clear()


@cache
def sounds():
    return [sound(seconds, seed) for seed, seconds in enumerate(LENGTHS)]


def given(samples):
    wav = torch.from_numpy(samples)[None]
    return dict(input_values=wav, attention_mask=torch.ones(wav.shape, dtype=torch.long))


@cache
def expected(name, which):
    """Reference features (as the decoder attends to them), logits of a forced prompt, greedy tokens and their margins."""
    model = reference(name)
    with torch.no_grad():
        features = model.model.encoder(**given(sounds()[which])).last_hidden_state.clone()
        if name == "moonshine_streaming":
            decoder = model.model.decoder
            features = decoder.proj(features + decoder.pos_emb(torch.arange(features.shape[1])))
        forced = torch.tensor([[START, 5, 90, 33, 200]])
        logits = model(decoder_input_ids=forced, **given(sounds()[which])).logits
        out = model.generate(
            **given(sounds()[which]), max_new_tokens=GREEDY, do_sample=False, eos_token_id=None, pad_token_id=0,
            output_logits=True, return_dict_in_generate=True,
        )  # fmt: skip
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    margins = (best[:, 0] - best[:, 1]) / best.abs().max()
    return features[0].numpy(), logits[0].numpy(), out.sequences[0, 1:].tolist(), margins.tolist()


def encoded(driver, samples):
    work = driver.model.encode([Sound(one, str(i)) for i, one in enumerate(samples)])
    pieces = 0
    while True:
        try:
            next(work)
            pieces += 1
        except StopIteration as end:
            assert pieces > len(samples)
            return end.value


def opened(driver, features):
    slot = driver.kv.open(GREEDY + 8)
    driver.model.begin(driver.kv, slot, features)
    return slot


def worst(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
class TestParity:
    def test_features_of_several_sounds_at_once(self, driver, name, backend):
        made = encoded(driver(name, backend), sounds())
        for which, features in enumerate(made):
            assert features.shape == expected(name, which)[0].shape
            assert worst(features, expected(name, which)[0]) < 1e-4

    def test_logits(self, driver, name, backend):
        own = driver(name, backend)
        (features,) = encoded(own, sounds()[:1])
        slot = opened(own, features)
        token = own.runner.run([Segment(slot, [START, 5, 90, 33, 200], want=range(5))]).read()[slot]
        own.kv.close(slot)
        assert worst(token.logits, expected(name, 0)[1]) < 1e-4

    def test_greedy_tokens_of_several_sounds_together(self, driver, name, backend):
        own = driver(name, backend)
        slots = [opened(own, features) for features in encoded(own, sounds())]
        said = {slot: [] for slot in slots}
        step = [Segment(slot, [START], sample=Sampling()) for slot in slots]
        for _ in range(GREEDY):
            for slot, token in own.runner.run(step).read().items():
                said[slot] += token.ids
            step = [Segment(slot, said[slot][-1:], sample=Sampling()) for slot in slots]
        for which, slot in enumerate(slots):
            own.kv.close(slot)
            _, _, wanted, margins = expected(name, which)
            assert len(set(wanted)) > 8  # a model that repeats itself would prove little
            parted = next((i for i, (a, b) in enumerate(zip(said[slot], wanted)) if a != b), None)
            assert parted is None or margins[parted] < 1e-5


@pytest.mark.parametrize("name", MODELS)
def test_a_sound_of_nothing(driver, name):
    with pytest.raises(BadRequest):
        encoded(driver(name, "torch"), [np.zeros(40, np.float32)])
