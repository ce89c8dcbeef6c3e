"""Pocket-TTS against the reference, on both backends: hidden states, flow head, greedy frames, and the codec both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backends.base import Sampling, Segment
from backends.pick import pick
from engine.errors import ConfigError, WeightsError
from engine.models.pocket_codec import pocket_decoder, pocket_encoder
from engine.models.pocket_tts import gaussian, pocket_tts
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import build, check
from tests.driver import Driver
from tests.pocket_checkpoints import CODEC, FRAME, LATENT, codec, processor, save_pocket, talker, tokenizer, voice
from tests.qwen3_tts_cases import finished

BACKENDS = ("torch", "mlx")
TEXT = "Good morning! The cranes dance."


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Driver]]:
    root = tmp_path_factory.mktemp("pocket")

    @cache
    def folder(flow: str) -> Path:
        return save_pocket(root / flow, flow)

    @cache
    def made(backend: str, flow: str = "lsd") -> Driver:
        return Driver(folder(flow), backend)

    yield made
    made.cache_clear()


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def asked(text: str = TEXT) -> Any:
    content = [{"type": "audio"}, {"type": "text", "text": text}]
    prompt = processor().apply_chat_template([{"role": "user", "content": content}])
    return processor()(text=prompt, audio_prompt_latents=[torch.from_numpy(voice(0))], return_tensors="pt")


def rows_of(model: Any, text: str = TEXT) -> np.ndarray:
    words = tokenizer()
    ids = words.convert_tokens_to_ids(["<|audio_prompt_bos|>"]) + words.encode(text, add_special_tokens=False)
    return np.asarray(model.prompt(np.array(ids, np.int32), 1, voice(0)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("flow", "steps"), [("lsd", 1), ("lsd", 3), ("drifting", 1)])
def test_greedy_frames_and_how_surely_each_is_the_last(
    driver: Callable[..., Driver], backend: str, flow: str, steps: int
) -> None:
    rig = driver(backend, flow)
    inputs = asked()
    wanted = talker(flow).generate(
        **inputs, do_sample=False, num_flow_steps=steps, return_dict_in_generate=True, output_logits=True,
        max_new_tokens=12, eos_threshold=1e9,
    )  # fmt: skip
    if rig.model.flow.steps:
        rig.model.flow.steps = steps
    slot = rig.kv.open(64)
    assert slot is not None
    codes = [rig.runner.run([Segment(slot, embeds=rows_of(rig.model), sample=Sampling())]).read()[slot].codes]
    while len(codes) < 6:
        codes.append(rig.runner.run([Segment(slot, sample=Sampling())]).read()[slot].codes)
    # the rest behind frames that come back from the host, as after a preemption
    rig.kv.close(slot)
    slot = rig.kv.open(64)
    assert slot is not None
    rig.runner.run([Segment(slot, embeds=rows_of(rig.model))]).read()
    codes.append(rig.runner.run([Segment(slot, codes=np.stack(codes), sample=Sampling())]).read()[slot].codes)
    while len(codes) < 12:
        codes.append(rig.runner.run([Segment(slot, sample=Sampling())]).read()[slot].codes)
    rig.kv.close(slot)
    made = np.stack(codes)
    numbers = [rig.backend.ops.numpy(part) for part in (rig.model.spread, rig.model.mean)]
    latents = made[:, :LATENT] * numbers[0] + numbers[1]
    assert worst(latents, wanted.audio_latents[0].numpy()) <= 1e-3
    assert worst(made[:, LATENT], np.array([float(x) for x in wanted.logits])) <= 1e-3
    assert len({round(float(x), 3) for x in latents[:, 0]}) == 12  # it does not say one thing all the time


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_flow_head_on_noise(driver: Callable[..., Driver], backend: str) -> None:
    rig, random = driver(backend), np.random.default_rng(3)
    hidden, noise = (random.standard_normal((4, n)).astype(np.float32) for n in (64, LATENT))
    for steps in (1, 4):
        with torch.no_grad():
            want = talker().sample_latent(torch.from_numpy(hidden), torch.from_numpy(noise), steps).numpy()
        rig.model.flow.steps = steps
        ops = rig.backend.ops
        assert worst(ops.numpy(rig.model.flow(ops.array(noise, "f32"), ops.array(hidden, "f32"))), want) <= 1e-4


def test_the_draws_are_normal_and_belong_to_their_row() -> None:
    rows = gaussian([0.25, 0.5, 0.25], 4096)
    np.testing.assert_array_equal(rows[0], rows[2])
    assert abs(float(rows.mean())) < 0.05
    assert abs(float(rows.std()) - 1) < 0.05
    assert abs(float(np.corrcoef(rows[0], rows[1])[0, 1])) < 0.1


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_at_once_are_as_each_alone(driver: Callable[..., Driver], backend: str) -> None:
    """Whatever the temperature of the others."""
    rig = driver(backend)
    samplings = [Sampling(temperature=t, noise=n) for t, n in ((0.5, 0.3), (0.0, 0.9), (1.0, 0.7))]
    rows = rows_of(rig.model)

    def run(these: list[Sampling]) -> list[np.ndarray]:
        slots = [rig.kv.open(40) for _ in these]
        rig.runner.run([Segment(slot, embeds=rows, sample=s) for slot, s in zip(slots, these)]).read()
        read = rig.runner.run([Segment(slot, sample=s) for slot, s in zip(slots, these)]).read()
        made = [read[slot].codes for slot in slots]
        for slot in slots:
            rig.kv.close(slot)
        return made

    alone = [run([s])[0] for s in samplings]
    for one, other in zip(run(samplings), alone):
        assert worst(one, other) <= 1e-4
    assert np.abs(alone[0] - alone[1]).max() > 0.1


# -- the codec


@pytest.fixture(scope="module", params=BACKENDS)
def halves(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder = save_pocket(tmp_path_factory.mktemp("codec") / "p") / "audio_tokenizer"
    backend = pick(request.param, "cpu", "f32")
    checkpoint = Checkpoint.open(folder)
    return (
        build(lambda view: pocket_decoder(view, checkpoint.config), checkpoint, backend),
        build(lambda view: pocket_encoder(view, checkpoint.config), Checkpoint.open(folder), backend),
    )


def test_latents_to_samples_whole_in_pieces_and_beside_others(halves: tuple[Any, Any]) -> None:
    decoder, _ = halves
    streams = [voice(7, 23), voice(8, 4)]
    with torch.no_grad():
        wanted = [codec().decode(torch.from_numpy(one)[None]).audio_values[0, 0].numpy() for one in streams]
    assert 0.05 < float(np.abs(wanted[0]).max()) < 1.0
    for one, want in zip(finished(decoder.decode_together([(one, {}) for one in streams])), wanted):
        assert one.shape == want.shape == (len(want),)
        np.testing.assert_allclose(one, want, atol=1e-4)
    past: dict[Any, Any] = {}
    pieces = [finished(decoder.decode(part, past)) for part in np.split(streams[0], [1, 3, 12])]
    np.testing.assert_allclose(np.concatenate(pieces), wanted[0], atol=1e-4)


@pytest.mark.parametrize("count", [FRAME * 20, FRAME * 31 + 5])
def test_a_recording_to_latents(halves: tuple[Any, Any], count: int) -> None:
    sound = np.random.default_rng(4).standard_normal(count).astype(np.float32) * 0.3
    given = processor().feature_extractor(sound, sampling_rate=24000, end_on_pause=False)
    with torch.no_grad():
        want = codec().encode(given["input_values"], given["padding_mask"]).latents[0].numpy()
    made = finished(halves[1].encode(sound))
    assert made.shape == want.shape
    assert worst(made, want) <= 1e-4


@pytest.mark.parametrize(
    ("field", "value"), [("use_causal_conv", False), ("upsample_groups", 4), ("hidden_act", "relu")]
)
def test_a_codec_of_another_kind_is_refused(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=field):
        check(lambda view: pocket_decoder(view, {**CODEC, field: value}), {})


def test_a_flow_of_another_kind_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(save_pocket(tmp_path / "p"))
    config = checkpoint.config | {"flow_head_config": checkpoint.config["flow_head_config"] | {"flow_type": "other"}}
    with pytest.raises(ConfigError, match="flow_type"):
        check(lambda view: pocket_tts(view, config), {})


def test_published_sizes() -> None:
    """Names and shapes of the reference's own defaults, none more and none less."""
    import transformers

    with torch.device("meta"):
        whole = transformers.PocketTTSForConditionalGeneration(transformers.PocketTTSConfig())
        sound = transformers.PocketTTSAudioTokenizerModel(transformers.PocketTTSAudioTokenizerConfig())
    tables = [{name: tuple(part.shape) for name, part in one.state_dict().items()} for one in (whole, sound)]
    # training only: missing in what is published
    published = {name: shape for name, shape in tables[0].items() if not name.startswith(("loss_w", "latent_stats"))}
    for table in (tables[0], published):
        seen = check(lambda w: pocket_tts(w, whole.config.to_dict()), table)
    assert seen.parameters / 1e6 == pytest.approx(90, abs=3)
    for make in (pocket_decoder, pocket_encoder):
        part = partial(make, config=sound.config.to_dict())
        assert check(part, tables[1]).parameters > 1e6
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: pocket_tts(w, whole.config.to_dict()), published | {"model.surprise": (3,)})
