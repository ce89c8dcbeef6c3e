"""Speaking through the engine, on both backends: sound, voices together, cancelling, voices that run away, cloning."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import BadRequest, SpeechRanAway
from engine.loading import LoadOptions, load_any
from engine.models.codec12 import CodecDecoder
from engine.pipelines.speaking import qwen3_tts
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS
from engine.pipelines.speaking.speech import BLOCK, RepetitionGuard, SilenceGate, max_frames
from engine.pipelines.speaking.voice import Clone, SpeechSampling, SpokenPassage, VoiceSettings
from engine.tasks import Joint, Task
from engine.types import Settings
from tests.qwen3_tts_cases import KINDS, TEXT, cases, checkpoint, ending

Speakers = Callable[[str], Qwen3TTS]
GREEDY = SpeechSampling(temperature=0.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("speakers")
    return {kind: checkpoint(kind, root / kind) for kind in KINDS}


@pytest.fixture(scope="module", params=["torch", "mlx"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    options = LoadOptions(backend=request.param, device="cpu", dtype="f32", quant="none")
    with Engine(lambda name: load_any(name, options), Settings()) as made:
        yield made


@pytest.fixture
def speakers(engine: Engine, folders: dict[str, Path]) -> Speakers:
    return lambda kind: Qwen3TTS(engine, str(folders[kind]))


def cloned() -> VoiceSettings:
    return VoiceSettings(clone=Clone(cases()["speaker"], cases()["codes"].astype(np.int64), "abc def"), language="zh")


class TestSound:
    def test_it_is_the_reference_s(self, speakers: Speakers) -> None:
        """Greedy, with its own end after five frames, behind the frames of a recording."""
        chunks = list(speakers("base").speak(TEXT, cloned(), sampling=GREEDY, feed=False))
        assert len(chunks) > 1
        assert float(np.abs(np.concatenate(chunks) - cases()["icl_ns_wav"]).max()) <= 1e-4

    def test_patience_changes_no_sample(self, speakers: Speakers) -> None:
        sound = np.concatenate(list(speakers("base").speak(TEXT, cloned(), sampling=GREEDY, feed=False, buffered=True)))
        assert float(np.abs(sound - cases()["icl_ns_wav"]).max()) <= 1e-4

    def test_the_first_chunk_comes_before_the_end(self, engine: Engine, speakers: Speakers) -> None:
        speaker = speakers("custom_voice")
        before = engine.stats().output_tokens
        with closing(speaker.speak(TEXT, VoiceSettings(preset="eric"), seed=1)) as voice:
            first = next(voice)
            assert len(first) <= qwen3_tts.CHUNKS[0] * 1920
            assert engine.stats().output_tokens - before < 60

    def test_several_together_are_what_each_is_alone(self, speakers: Speakers) -> None:
        speaker = speakers("base")

        def voices() -> list[Any]:
            return [speaker.speak(TEXT, cloned(), seed=seed) for seed in (1, 2)]

        alone = []
        for voice in voices():
            with closing(voice):
                alone.append([next(voice) for _ in range(2)])
        both = voices()
        together: list[list[np.ndarray]] = [[], []]
        for _ in range(2):
            for chunks, voice in zip(together, both):
                chunks.append(next(voice))
        for voice in both:
            voice.close()
        for a, b in zip(alone, together):
            assert np.allclose(np.concatenate(a), np.concatenate(b), atol=1e-4)
        assert not np.allclose(np.concatenate(alone[0])[:4000], np.concatenate(alone[1])[:4000], atol=1e-4)


def test_a_described_voice_hands_over_what_it_said_and_goes_on_from_it(engine: Engine, tmp_path: Path) -> None:
    speaker = Qwen3TTS(engine, str(ending(checkpoint("voice_design", tmp_path / "design"))))
    settings, said = VoiceSettings(instructions="a calm low voice"), list[np.ndarray]()
    assert speaker.needs_example(settings)
    how: dict[str, Any] = {"seed": 3, "sampling": SpeechSampling(0.9), "buffered": True}
    first = np.concatenate(list(speaker.speak("Hello.", settings, on_codes=said.append, **how)))
    (codes,) = said
    assert codes.shape[1] == speaker.prompts.groups
    assert 0 < len(first) <= len(codes) * 1920
    going_on = replace(settings, after=SpokenPassage("Hello.", codes))
    alone, after = (np.concatenate(list(speaker.speak("Here it is.", one, **how))) for one in (settings, going_on))
    assert len(after)
    assert len(alone) != len(after) or not np.allclose(alone, after, atol=1e-3)


def test_chunks_that_wait_together_are_made_in_one_go(
    engine: Engine, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their lengths, each as it sounds alone, and without the one that is not wanted any more."""
    codec, codes = f"{folders['base']}/speech_tokenizer", cases()["codes"]
    chunks = [codes[:3], codes[3:8], codes[:11]]

    def ask(chunk: np.ndarray) -> Task[np.ndarray]:
        return engine.task(codec, Joint(qwen3_tts._decode, (chunk, {}), qwen3_tts.TOGETHER))

    alone = [ask(chunk).result() for chunk in chunks]
    calls: list[int] = []
    really = CodecDecoder.decode_together

    def counted(self: CodecDecoder, streams: Any) -> Any:
        calls.append(len(streams))
        return really(self, streams)

    def hold(loaded: Any) -> Iterator[None]:
        held.wait(10)
        yield

    monkeypatch.setattr(CodecDecoder, "decode_together", counted)
    held = threading.Event()
    engine.task(codec, hold)
    tasks = [ask(chunk) for chunk in chunks]
    tasks[1].cancel()
    held.set()
    with pytest.raises(CancelledError):
        tasks[1].result(20)
    for i in (0, 2):
        assert float(np.abs(tasks[i].result(20) - alone[i]).max()) <= 1e-6
    assert calls == [2]


def test_cancelling_stops_within_one_frame(engine: Engine, speakers: Speakers) -> None:
    voice = speakers("custom_voice").speak(TEXT, VoiceSettings(preset="eric"), seed=1)
    next(voice)
    voice.close()  # type: ignore[attr-defined]
    made = engine.stats().output_tokens
    deadline = time.monotonic() + 5
    while not engine.idle and time.monotonic() < deadline:
        time.sleep(0.002)
    assert engine.idle
    assert engine.stats().output_tokens <= made + 1


class TestRunningAway:
    def test_a_voice_without_an_end_is_an_error(self, speakers: Speakers, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(qwen3_tts, "max_frames", lambda text: 12)
        chunks = []
        with pytest.raises(SpeechRanAway, match="far longer than the text"):
            chunks += speakers("custom_voice").speak(TEXT, VoiceSettings(preset="eric"), sampling=GREEDY)
        assert chunks

    def test_nothing_of_it_is_heard_by_the_patient(self, speakers: Speakers, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(qwen3_tts, "max_frames", lambda text: 12)
        chunks = []
        with pytest.raises(SpeechRanAway):
            chunks += speakers("custom_voice").speak(TEXT, VoiceSettings(preset="eric"), sampling=GREEDY, buffered=True)
        assert not chunks

    def test_it_is_tried_again_with_another_seed(self, speakers: Speakers, monkeypatch: pytest.MonkeyPatch) -> None:
        real, tried = qwen3_tts.synthesize, []

        def once(engine: Any, codec: str, request: Any, *more: Any) -> Any:
            tried.append(request.sampling.seed)
            if len(tried) < 3:
                return "repeats"
                yield
            return (yield from real(engine, codec, request, *more))

        monkeypatch.setattr(qwen3_tts, "synthesize", once)
        monkeypatch.setattr(qwen3_tts, "max_frames", lambda text: 4000)
        with closing(speakers("custom_voice").speak("Hi.", VoiceSettings(preset="eric"), seed=7)) as voice:
            assert len(next(voice))
        assert tried == [7, 8, 9]

    def test_repeating_is_noticed(self) -> None:
        frames = np.random.default_rng(0).integers(0, 2048, (200, 16))
        assert not any(RepetitionGuard().add(frame) for frame in frames)
        watch = RepetitionGuard()
        assert not any(watch.add(frame) for frame in np.tile(frames[:3], (12, 1)))
        assert any(watch.add(frame) for frame in np.tile(frames[:3], (3, 1)))

    def test_a_held_vowel_is_no_loop(self) -> None:
        watch = RepetitionGuard()
        assert not any(watch.add(np.arange(16)) for _ in range(30))

    def test_longer_texts_may_take_longer(self) -> None:
        assert max_frames("Hello.") < max_frames("Hello. " * 10)
        assert max_frames("你好") > max_frames("ab")
        assert max_frames("1984") > max_frames("abcd")


class TestSilence:
    def test_what_is_given_is_what_came_in(self) -> None:
        rng = np.random.default_rng(1)
        blocks = [rng.standard_normal(BLOCK).astype(np.float32) * (i % 3 != 1) for i in range(9)]
        whole, hush = np.concatenate(blocks), SilenceGate(24000)
        out = [hush.push(part) for part in np.split(whole, [BLOCK, 3 * BLOCK, 4 * BLOCK, 8 * BLOCK])]
        assert np.array_equal(np.concatenate([*out, hush.finish()]), whole)

    def test_silence_waits_for_sound(self) -> None:
        hush, quiet, loud = SilenceGate(24000), np.zeros(BLOCK, np.float32), np.ones(BLOCK, np.float32)
        assert not len(hush.push(quiet))
        assert len(hush.push(loud)) == 2 * BLOCK
        for _ in range(20):
            assert not len(hush.push(quiet))
        assert hush.seconds == pytest.approx(1.6)
        assert len(hush.finish()) == 6000


class TestCloning:
    def test_the_voice_is_the_reference_s(self, speakers: Speakers) -> None:
        voice = speakers("base").clone(cases()["wav"], " abc def ")
        assert voice.codes is not None
        assert voice.codes.tolist() == cases()["codes"].tolist()
        assert voice.text == "abc def"
        assert np.allclose(voice.vector, cases()["speaker"], atol=1e-3)

    def test_without_its_words_it_is_a_vector(self, speakers: Speakers) -> None:
        assert speakers("base").clone(cases()["wav"]).codes is None

    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (np.zeros(0), "lasts 0.00 seconds"),
            (np.zeros(24000), "silent"),
            (np.ones(24000 * 61), "lasts 61.0 seconds"),
            (np.full(24000, np.nan), "finite"),
            (np.ones((24000, 2)), "one row"),
        ],
    )
    def test_a_recording_without_a_voice(self, speakers: Speakers, samples: np.ndarray, message: str) -> None:
        with pytest.raises(BadRequest, match=message):
            speakers("base").clone(samples)

    def test_only_base_models_clone(self, speakers: Speakers) -> None:
        with pytest.raises(BadRequest, match="a Base model"):
            speakers("custom_voice").clone(cases()["wav"])


def test_another_model_does_not_speak(engine: Engine, folders: dict[str, Path]) -> None:
    with pytest.raises(BadRequest, match="does not speak"):
        Qwen3TTS(engine, str(folders["base"] / "speech_tokenizer"))
