"""Chatterbox on both backends against mlx-audio 0.6.2: prompts, greedy speech tokens, mel frames, pitch, samples, and what is heard of a
recording; both published layouts, their names and sizes."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import Sampling, Segment
from backends.torch.kernels import library as kernels
from engine.errors import BadRequest, WeightsError
from engine.loading import LoadOptions, load_any
from engine.media.mel import kaldi_features, s3gen_mel, voice_mel, whisper_mel
from engine.models.chatterbox_encoder import trimmed
from engine.models.chatterbox_t3 import START_SPEECH, chatterbox
from engine.models.registry import PARTS
from engine.models.s3gen import HeardVoice
from engine.models.yield_budget import YieldBudget
from engine.pipelines.speaking.chatterbox import read_own_voice
from engine.weights.chatterbox_files import in_their_layout
from engine.weights.view import View, check
from tests.chatterbox_checkpoints import (
    EXPRESSIONS,
    GREEDY,
    NOISE,
    PUBLISHED,
    SOURCE,
    SPEECH,
    TEXTS,
    cases,
    mlx_layout,
    save_chatterbox,
    shapes,
    sound,
    tokenizer_json,
    voice_arrays,
)

BACKENDS = ("torch", "mlx")
LAYOUTS = ("resemble", "mlx")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("chatterbox")
    folders = {layout: save_chatterbox(home / layout, layout) for layout in LAYOUTS}

    @cache
    def load(backend: str, piece: str = "", layout: str = "resemble") -> Any:
        options = LoadOptions(backend=backend, device="cpu", dtype="f32")
        return load_any(f"{folders[layout]}{piece}", options)

    return load


def run(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def close(ours: np.ndarray, theirs: np.ndarray, most: float) -> None:
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() / np.abs(theirs).max() < most


def prompt(loaded: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
    ids = loaded.tokenizer.encode(TEXTS[i].replace(" ", "[SPACE]"), add_special=False)
    voice = voice_arrays()
    speaker, speech = voice["t3.speaker_emb"][0], voice["t3.cond_prompt_speech_tokens"][0]
    made: tuple[np.ndarray, np.ndarray] = run(loaded.model.prompt(ids, speaker, speech, *EXPRESSIONS[i], GREEDY))
    return made


def greedy(loaded: Any, which: tuple[int, ...]) -> list[list[int]]:
    """The tokens of several prompts, which share each step."""
    prompts = [prompt(loaded, i) for i in which]
    slots = [loaded.kv.open(len(rows) + GREEDY) for rows, _ in prompts]
    made: list[list[int]] = [[] for _ in which]
    for step in range(GREEDY):
        segments = []
        for slot, (rows, track), ids in zip(slots, prompts, made):
            chosen = Sampling(repetition=1.2, repeated=[START_SPEECH, *ids])
            if step == 0:
                segments.append(Segment(slot, embeds=rows, sample=chosen))
            else:
                segments.append(Segment(slot, [ids[-1]], add=track[step - 1 : step], sample=chosen))
        found = loaded.runner.run(segments).read()
        for slot, ids in zip(slots, made):
            ids.append(found[slot].ids[0])
    for slot in slots:
        loaded.kv.close(slot)
    return made


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_prompts_and_greedy_tokens_are_the_reference_s(opened: Any, backend: str, layout: str) -> None:
    loaded, found = opened(backend, layout=layout), cases()
    for i in range(len(TEXTS)):
        rows, _ = prompt(loaded, i)
        dim = loaded.model.hidden
        close(np.stack([rows[:, :dim], rows[:, dim : 2 * dim]]), found[f"prompt{i}"], 1e-4)
    together = greedy(loaded, (0, 1))
    assert together == [found["greedy0"].tolist(), found["greedy1"].tolist()]
    assert greedy(loaded, (1,)) == together[1:]  # alone as together
    assert len(set(together[0])) > GREEDY // 2
    if backend == "torch":
        assert (loaded.runner._traced is not None) == kernels.available()  # one program of the CPU kernels


def test_the_guidance_changes_what_is_said(opened: Any) -> None:
    loaded = opened("torch")
    hidden = np.random.default_rng(0).standard_normal((3, 2 * loaded.model.hidden + 1)).astype(np.float32)
    hidden[:, -1] = (0.0, 0.5, 1.0)
    ops, dim = loaded.backend.ops, loaded.model.hidden
    logits = ops.numpy(loaded.model.logits(ops.array(hidden)))
    head = [ops.numpy(loaded.model.head(ops.array(hidden[:, side : side + dim]))) for side in (0, dim)]
    np.testing.assert_allclose(logits, head[0] + hidden[:, -1:] * (head[0] - head[1]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_frames_pitch_and_samples_are_the_reference_s(opened: Any, backend: str, layout: str) -> None:
    own, found, voice = opened(backend, "#decoder", layout).model, cases(), voice_arrays()
    heard = HeardVoice(voice["gen.prompt_token"][0], voice["gen.prompt_feat"][0], voice["gen.embedding"][0])
    mel = run(own.frames(SPEECH, heard, NOISE))
    close(own.ops.numpy(mel)[0], found["mel"], 1e-4)
    pitch = own.vocoder.pitch(mel)
    close(pitch, found["pitch"], 1e-3)
    given = own.ops.array(found["mel"][None], "f32")
    samples = run(own.vocoder.run(given, SOURCE, YieldBudget(own.ops)))
    close(samples, found["samples"], 1e-3)
    assert np.abs(found["samples"]).max() < 0.99  # none of them was cut


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_heard_of_a_recording_is_the_reference_s(opened: Any, backend: str, layout: str) -> None:
    own, found, narrow = opened(backend, "#encoder", layout).model, cases(), sound(rate=16000)
    close(run(own.voice.embed(voice_mel(narrow))), found["speaker"], 1e-4)
    close(run(own.speaker.embed(kaldi_features(narrow, 80))), found["vector"], 1e-3)
    assert run(own.tokenizer.tokens(whisper_mel(narrow, 128))).tolist() == found["tokens"].tolist()
    voice = run(own.hear(sound(), narrow))
    assert len(voice.heard.mel) == 2 * len(voice.heard.tokens) == 150
    assert len(voice.speech) == 75


def test_the_source_follows_the_pitch(opened: Any) -> None:
    """Written from the authors' description: harmonics whose phases are sums over all samples, and noise where there is no pitch."""
    own = opened("torch", "#decoder").model.vocoder
    pitch = np.array([0.0, 200.0, 220.0, 3.0], np.float32)
    made = own.source(pitch, np.random.default_rng(5))
    random = np.random.default_rng(5)
    hz = np.repeat(pitch.astype(np.float64), 480)
    phases = random.uniform(-np.pi, np.pi, 9)
    phases[0] = 0
    noise = random.standard_normal((len(hz), 9), dtype=np.float32)
    voiced = (hz > 10)[:, None]
    waves = np.stack([0.1 * np.sin(2 * np.pi * np.cumsum(hz * n / 24000) + phases[n - 1]) for n in range(1, 10)], 1)
    mixed = np.where(voiced, waves + 0.003 * noise, 0.1 / 3 * noise)
    from tests.chatterbox_checkpoints import tensors

    weights = tensors()
    row, shift = (weights[f"s3gen.mel2wav.m_source.l_linear.{part}"] for part in ("weight", "bias"))
    np.testing.assert_allclose(made, np.tanh(mixed @ row[0] + shift), atol=1e-5)


def test_features_are_those_of_kaldi_and_torch() -> None:
    import torch
    from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

    narrow = sound(1.2, rate=16000)
    bank = mel_filter_bank(257, 80, 20, 8000, 16000, norm=None, mel_scale="kaldi", triangularize_in_mel_space=True)
    theirs = spectrogram(
        narrow, window_function(400, "povey", periodic=False), 400, 160, fft_length=512, power=2.0, center=False,
        preemphasis=0.97, mel_filters=bank, log_mel="log", mel_floor=np.finfo(np.float32).eps, remove_dc_offset=True,
    ).T  # fmt: skip
    np.testing.assert_allclose(kaldi_features(narrow, 80), theirs - theirs.mean(0), atol=2e-3)
    wide = torch.from_numpy(sound(1.0))
    padded = torch.nn.functional.pad(wide[None], (720, 720), mode="reflect")[0]
    spectrum = torch.stft(padded, 1920, 480, window=torch.hann_window(1920), center=False, return_complex=True)
    slaney = mel_filter_bank(961, 80, 0, 8000, 24000, norm="slaney", mel_scale="slaney")
    wanted = np.log(np.maximum(spectrum.abs().numpy().T @ slaney, 1e-5))
    np.testing.assert_allclose(s3gen_mel(wide.numpy()), wanted, atol=1e-3)
    power = (
        torch.stft(torch.from_numpy(narrow), 400, 160, window=torch.hann_window(400), return_complex=True).abs() ** 2
    )
    slaney = mel_filter_bank(201, 40, 0, 8000, 16000, norm="slaney", mel_scale="slaney")
    np.testing.assert_allclose(voice_mel(narrow), power.numpy().T @ slaney, rtol=1e-3, atol=1e-5)


def test_silence_around_a_recording_is_left_out() -> None:
    loud = sound(1.0, rate=16000)
    quiet = np.zeros(16000, np.float32)
    kept = trimmed(np.concatenate((quiet, loud, quiet)))
    assert 16000 <= len(kept) < 16000 + 5 * 512
    np.testing.assert_array_equal(trimmed(quiet), quiet)


def test_the_same_seed_gives_the_same_samples(opened: Any) -> None:
    own, voice = opened("torch", "#decoder").model, voice_arrays()
    heard = HeardVoice(voice["gen.prompt_token"][0], voice["gen.prompt_feat"][0], voice["gen.embedding"][0])
    first, again, other = (run(own.speak(SPEECH[:4], heard, seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert len(first) == 4 * 960
    assert np.abs(first - other).max() > 1e-3
    assert not first[:480].any()  # the recording would be heard there


def test_a_text_that_is_too_long(opened: Any) -> None:
    loaded, voice = opened("torch"), voice_arrays()
    with pytest.raises(BadRequest, match="spoken at once"):
        run(
            loaded.model.prompt(
                [5] * 90, voice["t3.speaker_emb"][0], voice["t3.cond_prompt_speech_tokens"][0], 0.5, 0.5, 9
            )
        )


def test_a_voice_s_file_of_the_authors_and_of_mlx_audio(tmp_path: Path) -> None:
    for layout, file in (("resemble", "conds.pt"), ("mlx", "conds.safetensors")):
        voice = read_own_voice(save_chatterbox(tmp_path / layout, layout) / file)
        wanted = voice_arrays()
        np.testing.assert_array_equal(voice.heard.mel, wanted["gen.prompt_feat"][0])
        np.testing.assert_array_equal(voice.speech, wanted["t3.cond_prompt_speech_tokens"][0])
    broken = tmp_path / "conds.safetensors"
    broken.write_bytes((tmp_path / "mlx" / "conds.safetensors").read_bytes()[:200])
    with pytest.raises(WeightsError):
        read_own_voice(broken)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_published_sizes(layout: str) -> None:
    """Names and shapes of the published files, none more and none less. `tests/data/chatterbox/record.py` holds the table against
    mlx-audio's own names."""
    table: Any = shapes(PUBLISHED)
    if layout == "mlx":
        table = _as_mlx_stores_it()
    config = {"model_type": "chatterbox"}
    makers: list[Any] = [chatterbox, PARTS["chatterbox#decoder"], PARTS["chatterbox#encoder"]]
    counts = [check(partial(_made, make, config), table).parameters / 1e6 for make in makers]
    assert counts[0] == pytest.approx(532, abs=3)
    assert sum(counts) == pytest.approx(798 if layout == "resemble" else 674, abs=12)
    with pytest.raises(WeightsError, match="surprise"):
        check(lambda w: chatterbox(w, config), table | {"t3.surprise": (3,)})


def _made(make: Any, config: dict[str, Any], w: View) -> Any:
    return make(w, config)


def _as_mlx_stores_it() -> dict[str, tuple[int, ...]]:
    from backends.base import Raw

    empty = {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes(PUBLISHED).items()}
    raws = {
        name: Raw(name, "", 0, value.nbytes, "F32", value.shape, memoryview(b""))
        for name, value in mlx_layout(empty).items()
    }
    return {name: raw.shape for name, raw in in_their_layout(raws).items()}


def test_the_tokenizer_of_the_tests_is_one() -> None:
    from tokenizers import Tokenizer

    assert Tokenizer.from_str(tokenizer_json()).encode("Hi[SPACE]you.").ids[2] == 2
