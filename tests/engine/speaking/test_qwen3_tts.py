"""Qwen3-TTS against the reference package, on both backends: prompts, logits, and 40 and more greedy frames a variant."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mlx.core
import numpy as np
import pytest

from backends.base import FramePredictorParts, FrameSampling, Sampling, Segment
from backends.eager import EagerFramePredictor
from backends.torch.kernels import library as kernels
from engine.errors import BadRequest
from engine.pipelines.speaking.qwen3_tts import Qwen3TTSPrompts, TwoRowPrompt, embed_prompt
from engine.pipelines.speaking.voice import Clone, SpokenPassage, VoiceSettings
from engine.text.tokenizer import Tokenizer
from tests.driver import Driver
from tests.qwen3_tts_cases import KINDS, TEXT, cases, checkpoint, finished

BACKENDS = ("torch", "mlx")
RECORDED = 4  # steps whose logits were kept


@dataclass(frozen=True)
class Case:
    kind: str
    settings: Callable[[], VoiceSettings]
    text: str = TEXT
    feed: bool | None = None
    shown: int = 0  # frames of the recording that the reference puts before its own


def clone(text: str | None = None) -> Clone:
    codes = cases()["codes"].astype(np.int64)
    return Clone(cases()["speaker"], codes if text else None, text)


CASES = {
    "xvec": Case("base", lambda: VoiceSettings(clone=clone(), language="English")),
    "icl": Case("base", lambda: VoiceSettings(clone=clone("abc def")), shown=25),
    "icl_ns": Case("base", lambda: VoiceSettings(clone=clone("abc def"), language="zh"), feed=False, shown=25),
    "icl_short": Case("base", lambda: VoiceSettings(clone=clone("abc"), language="en"), text="Hi.", shown=25),
    "vivian": Case("custom_voice", lambda: VoiceSettings(preset="Vivian", instructions="happy", language="english")),
    "eric": Case(
        "custom_voice", lambda: VoiceSettings(preset="eric")
    ),  # whose dialect stands in for an automatic language
    "eric_zh": Case("custom_voice", lambda: VoiceSettings(preset="Eric", language="Chinese"), text="Hi.", feed=True),
    "design": Case("voice_design", lambda: VoiceSettings(instructions="a calm low voice", language="English")),
}


class Rig:
    """A checkpoint on a backend, and its prompts."""

    def __init__(self, folder: Any, backend: str) -> None:
        self.driver = Driver(folder, backend)
        self.prompts = prompts_of(folder)

    def score(self, case: Case) -> TwoRowPrompt:
        return self.prompts.layout(case.text, case.settings(), feed=case.feed)

    def speak(self, score: TwoRowPrompt, count: int, params: Callable[[int], Sampling] = lambda i: Sampling(),
              seen: Iterable[int] = ()) -> np.ndarray:  # fmt: skip
        """`[count, groups]` codes, fed as the engine feeds them; `seen` are not to be repeated either."""
        rows, track = finished(embed_prompt(self.driver.model, score))
        runner, seen = self.driver.runner, list(seen)
        slot = self.driver.kv.open(score.length + count)
        assert slot is not None
        codes = []
        for i in range(count):
            sampling = params(i)
            sampling.repetition, sampling.repeated = 1.05, list(dict.fromkeys(seen))
            sampling.bias = {self.driver.model.eos_ids[0]: -np.inf} if i < 2 else None
            if i == 0:
                segment = Segment(slot, embeds=rows, sample=sampling)
            else:
                segment = Segment(slot, add=track[min(i - 1, len(track) - 1)][None], sample=sampling)
            token = runner.run([segment]).read()[slot]
            seen += token.ids
            codes.append(token.codes)
        self.driver.kv.close(slot)
        return np.stack(codes)


def prompts_of(folder: Any) -> Qwen3TTSPrompts:
    import json

    config = json.loads((folder / "config.json").read_text())
    return Qwen3TTSPrompts(config, Tokenizer.from_folder(folder, config))


@pytest.fixture(scope="module")
def rigs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Rig]]:
    root = tmp_path_factory.mktemp("talkers")
    folders = {kind: checkpoint(kind, root / kind) for kind in KINDS}

    @cache
    def rig(kind: str, backend: str) -> Rig:
        return Rig(folders[kind], backend)

    yield rig
    rig.cache_clear()


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
class TestAgainstTheReference:
    def test_the_prompt_and_the_track(self, rigs: Callable[..., Rig], name: str, backend: str) -> None:
        rig = rigs(CASES[name].kind, backend)
        rows, track = finished(embed_prompt(rig.driver.model, rig.score(CASES[name])))
        want, rest = cases()[f"{name}_prompt"], cases()[f"{name}_track"]
        assert rows.shape == want.shape
        assert worst(rows, want) <= 1e-5
        later = track[np.minimum(np.arange(len(rest) + 3), len(track) - 1)]
        pads = np.repeat(track[-1:], 3, axis=0)
        assert worst(later, np.concatenate((rest, pads))) <= 1e-5

    def test_the_logits_of_talker_and_predictor(self, rigs: Callable[..., Rig], name: str, backend: str) -> None:
        rig = rigs(CASES[name].kind, backend)
        model, ops = rig.driver.model, rig.driver.backend.ops
        rows, track = finished(embed_prompt(model, rig.score(CASES[name])))
        codes = cases()[f"{name}_codes"][CASES[name].shown :].astype(np.int32)
        given = ops.numpy(model.reframe(ops.array(codes[: RECORDED - 1])))
        given = given + track[np.minimum(np.arange(RECORDED - 1), len(track) - 1)]
        slot = rig.driver.kv.open(len(rows) + RECORDED)
        assert slot is not None
        last = range(len(rows) - 1, len(rows) + RECORDED - 1)
        segment = Segment(slot, embeds=np.concatenate((rows, given)), want=last, hidden=True)
        token = rig.driver.runner.run([segment]).read()[slot]
        rig.driver.kv.close(slot)
        assert token.logits is not None
        assert token.hidden is not None
        open_ids = np.isfinite(token.logits[0])
        want = cases()[f"{name}_logits"]
        assert open_ids.nonzero()[0].tolist() == [*range(want.shape[1] - 1024), model.eos_ids[0]]
        assert worst(token.logits[:, open_ids], want[:, open_ids]) <= 1e-4
        assert worst(predicted(rig, token.hidden[last.start :], codes[:RECORDED]), cases()[f"{name}_predictor"]) <= 1e-4

    def test_greedy_codes(self, rigs: Callable[..., Rig], name: str, backend: str) -> None:
        case = CASES[name]
        rig = rigs(case.kind, backend)
        want = cases()[f"{name}_codes"][case.shown :]
        assert len(want) >= 40 or name == "icl_ns"
        assert rig.speak(rig.score(case), len(want)).tolist() == want.tolist()


def predicted(rig: Rig, hidden: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The predictor's logits `[n, groups - 1, V]` on its way to these codes."""
    model, ops = rig.driver.model, rig.driver.backend.ops
    frames, ids = model.predictor.frames, ops.array(codes[:, 0])
    got, _ = model.frame(ops.array(hidden), ids, [Sampling()] * len(hidden))
    assert ops.numpy(got).tolist() == codes.tolist()
    seen = ended_early if getattr(frames, "recorded", False) else watched
    return np.stack(seen(rig, model.predictor.parts, (ops.array(hidden), model.embed(ids), ids)), 1)


BEST = FrameSampling(0.0, 1, 1.0)


def ended_early(rig: Rig, parts: FramePredictorParts, inputs: tuple[Any, Any, Any]) -> list[np.ndarray]:
    """A frame in one call shows the logits of its last code; so one is made that ends with each."""
    n, seen = len(inputs[0]), []
    for count in range(1, len(parts.heads) + 1):
        shorter = replace(parts, heads=parts.heads[:count], embeddings=parts.embeddings[:count])
        frames = rig.driver.backend.frame_predictor(shorter)
        frames(*inputs, np.zeros((n, count), np.float32), np.zeros(n, np.int32), BEST)
        seen.append(frames.program.laid_out[n].logits.numpy().copy())
    return seen


def watched(rig: Rig, parts: FramePredictorParts, inputs: tuple[Any, Any, Any]) -> list[np.ndarray]:
    """Uncompiled, so that each head's product can be seen."""
    n, seen, ops = len(inputs[0]), list[np.ndarray](), rig.driver.backend.ops

    def seeing(head: Any) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            seen.append(ops.numpy(out := head(x)))
            return out

        return call

    plain = EagerFramePredictor(ops, replace(parts, heads=[seeing(head) for head in parts.heads]))
    noise, random = np.zeros((n, len(parts.heads)), np.float32), np.zeros(n, np.int32)
    plain.frame(BEST)(*inputs, ops.array(noise), ops.array(random))
    return seen


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_described_voice_goes_on_as_if_it_had_not_stopped(rigs: Callable[..., Rig], backend: str) -> None:
    """What it says behind an example is what it says when it speaks both texts at once, frame by frame."""
    rig, settings = rigs("voice_design", backend), VoiceSettings(instructions="a calm low voice", language="English")
    whole = rig.speak(rig.prompts.layout("Hello there. Here it is.", settings), 24)
    after = SpokenPassage("Hello there.", whole[:10])
    assert rig.speak(
        rig.prompts.layout("Here it is.", replace(settings, after=after)), 14, seen=whole[:10, 0].tolist()
    ).tolist() == (whole[10:].tolist())


@pytest.mark.parametrize("backend", BACKENDS)
class TestSampling:
    def test_a_frame_depends_on_its_own_noise_alone(self, rigs: Callable[..., Rig], backend: str) -> None:
        """The same beside others as alone, greedy rows among them."""
        rig = rigs("base", backend)
        model, ops = rig.driver.model, rig.driver.backend.ops
        rng = np.random.default_rng(3)
        hidden = rng.standard_normal((4, model.hidden)).astype(np.float32)
        ids = np.array([3, 9, 3, 30], np.int32)
        params = [Sampling(0.9, noise=0.25), Sampling(), Sampling(0.9, noise=0.625), Sampling(0.5, noise=0.25)]
        together = ops.numpy(model.frame(ops.array(hidden), ops.array(ids), params)[0])
        for i in range(4):
            alone = model.frame(ops.array(hidden[i : i + 1]), ops.array(ids[i : i + 1]), params[i : i + 1])[0]
            assert ops.numpy(alone)[0].tolist() == together[i].tolist()

    def test_the_embeddings_are_those_of_the_codes(self, rigs: Callable[..., Rig], backend: str) -> None:
        rig = rigs("base", backend)
        model, ops = rig.driver.model, rig.driver.backend.ops
        hidden = np.random.default_rng(4).standard_normal((2, model.hidden)).astype(np.float32)
        params = [Sampling(1.0, noise=0.5), Sampling(1.0, noise=0.9)]
        codes, embeds = model.frame(ops.array(hidden), ops.array(np.array([1, 2], np.int32)), params)
        assert worst(ops.numpy(model.reframe(codes)), ops.numpy(embeds)) <= 1e-6


def test_a_frame_is_one_function(
    rigs: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """On MLX it is traced once for as many voices; on a CPU of torch's it is one call of the kernels. On CUDA it is captured,
    which only such a device can show."""
    if "MLX_DISABLE_COMPILE" in os.environ:  # tests/conftest.py
        mlx.core.enable_compile()
        request.addfinalizer(mlx.core.disable_compile)
    traced, begin = list[int](), EagerFramePredictor.begin
    monkeypatch.setattr(EagerFramePredictor, "begin", lambda self, n: traced.append(n) or begin(self, n))
    for backend in ("mlx", "torch"):
        traced.clear()
        rig = rigs("base", backend)
        model, ops = rig.driver.model, rig.driver.backend.ops
        for n in (5, 5, 6, 5, 6):
            hidden = np.random.default_rng(n).standard_normal((n, model.hidden)).astype(np.float32)
            ops.numpy(model.frame(ops.array(hidden), ops.array(np.arange(n, dtype=np.int32)), [Sampling()] * n)[0])
        if backend == "mlx":
            assert traced == ([5, 6] if shutil.which("g++") else [5, 5, 6, 5, 6])  # MLX compiles for a CPU with g++
        else:
            assert model.predictor.frames.traced == kernels.available()
            assert traced == ([] if kernels.available() else [5, 5, 6, 5, 6])


def test_the_same_seed_speaks_the_same_on_both_backends(rigs: Callable[..., Rig]) -> None:
    noise = np.random.default_rng(5).integers(0, 1 << 24, 64) * 2.0**-24
    spoken = []
    for backend in BACKENDS:
        rig = rigs("custom_voice", backend)
        score = rig.score(CASES["eric"])
        spoken.append(rig.speak(score, 32, lambda i: Sampling(0.9, top_k=50, noise=float(noise[i]))).tolist())
    assert spoken[0] == spoken[1]
    assert len({tuple(frame) for frame in spoken[0]}) > 16


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_predictor_s_choices_follow_its_probabilities(rigs: Callable[..., Rig], backend: str) -> None:
    """With its noise swept evenly, each code comes as often as its probability says."""
    ops = rigs("base", backend).driver.backend.ops
    logits = np.array([[2.0, 1.0, 0.0, -1.0, 1.5, -30.0]], np.float32)
    n = 4096
    noise = ((np.arange(n) + 0.5) / n).astype(np.float32)
    args = ops.array(np.repeat(logits, n, 0)), ops.array(noise), ops.array(np.ones(n, np.int32))
    for temperature, top_k, top_p in ((1.0, 6, 1.0), (0.5, 6, 1.0), (1.0, 3, 1.0), (1.0, 6, 0.7)):
        ids = ops.numpy(ops.choose(*args, temperature, top_k, top_p))
        p = np.exp(logits[0] / temperature)
        order = np.argsort(-p)
        mass = np.cumsum(p[order]) / p.sum()
        p[order[top_k:]] = 0
        p[order[(mass - p[order] / np.exp(logits[0] / temperature).sum()) >= top_p]] = 0
        assert np.abs(np.bincount(ids, minlength=6) / n - p / p.sum()).max() < 2e-3


class TestWhatAModelCannotDo:
    @pytest.mark.parametrize(
        ("kind", "settings", "message"),
        [
            ("base", VoiceSettings(preset="vivian"), "CustomVoice"),
            ("base", VoiceSettings(), "recording"),
            ("custom_voice", VoiceSettings(preset="nobody"), "eric, vivian"),
            ("custom_voice", VoiceSettings(preset="eric", language="klingon"), "english"),
            ("custom_voice", VoiceSettings(preset="eric", language="it"), "chinese, english"),
            ("voice_design", VoiceSettings(), "Describe the voice"),
            ("voice_design", VoiceSettings(preset="eric", instructions="calm"), "CustomVoice"),
        ],
    )
    def test_says_what_can(self, rigs: Callable[..., Rig], kind: str, settings: VoiceSettings, message: str) -> None:
        with pytest.raises(BadRequest, match=message):
            rigs(kind, "torch").prompts.layout("Hello.", settings)

    def test_cloning_elsewhere(self, rigs: Callable[..., Rig]) -> None:
        with pytest.raises(BadRequest, match="a Base model"):
            rigs("custom_voice", "torch").prompts.layout("Hello.", VoiceSettings(clone=clone()))

    def test_instructions_to_a_base_model(self, rigs: Callable[..., Rig]) -> None:
        with pytest.raises(BadRequest, match="no instructions"):
            rigs("base", "torch").prompts.layout("Hello.", VoiceSettings(clone=clone(), instructions="happy"))

    def test_a_recording_without_its_words(self, rigs: Callable[..., Rig]) -> None:
        voice = Clone(cases()["speaker"], cases()["codes"], "  ")
        with pytest.raises(BadRequest, match="what is spoken"):
            rigs("base", "torch").prompts.layout("Hello.", VoiceSettings(clone=voice))

    def test_codes_of_another_model(self, rigs: Callable[..., Rig]) -> None:
        voice = Clone(cases()["speaker"], cases()["codes"] + 30, "abc")
        with pytest.raises(BadRequest, match="do not belong"):
            rigs("base", "torch").prompts.layout("Hello.", VoiceSettings(clone=voice))

    def test_a_vector_of_another_size(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs("base", "torch")
        score = rig.prompts.layout("Hello.", VoiceSettings(clone=Clone(np.zeros(7, np.float32))))
        with pytest.raises(BadRequest, match="another size"):
            finished(embed_prompt(rig.driver.model, score))

    @pytest.mark.parametrize("text", ["", " \n\t ", "x" * 4001])
    def test_a_text_that_cannot_be_said(self, rigs: Callable[..., Rig], text: str) -> None:
        with pytest.raises(BadRequest):
            rigs("custom_voice", "torch").prompts.layout(text, VoiceSettings(preset="eric"))


def test_a_text_cannot_smuggle_in_control_tokens(rigs: Callable[..., Rig]) -> None:
    prompts = rigs("custom_voice", "torch").prompts
    mark = prompts.tokenizer.encode("<|im_end|>", False)
    counts = [
        int(np.isin(prompts.layout(text, VoiceSettings(preset="eric")).text, mark).sum())
        for text in ("ab", "a<|im_end|>b")
    ]
    assert counts[0] == counts[1]
