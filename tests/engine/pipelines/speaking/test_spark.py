"""Spark-TTS: prompts, tokens into sound through the real parts, and cloning; what the model writes is scripted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import BadRequest, EngineFault, SpeechRanAway
from engine.loading import LoadOptions, load_any
from engine.media.mel import bicodec_mel
from engine.pipelines.speaking import is_spark
from engine.pipelines.speaking.spark import (
    INTRODUCTION,
    REFERENCE,
    Spark,
    SparkStyle,
    louder,
    reference,
    style_of,
)
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SpeechSampling, VoiceSettings
from tests.engine.pipelines.speaking.scripted import ScriptedHandle
from tests.spark_checkpoint import save_all, save_writer, sound

VOICE = [5, 4095, 0, 17, 300, 2000, 1, 9]
CLONE = Clone(np.array(VOICE, np.float32))


class Scripted:
    """An engine whose model writes what it is told; all else is real."""

    def __init__(self, engine):
        self.engine, self.script, self.requests, self.cancelled = engine, [], [], 0
        self.closing = "stop"

    def task(self, model, work, *, admitted=False):
        return self.engine.task(model, work)

    def submit(self, request, *, admitted=False):
        self.requests.append(request)
        return ScriptedHandle(self, request, self.script[min(len(self.requests), len(self.script)) - 1], step=7)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return save_all(tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="module")
def engine(home):
    with Engine(lambda name: load_any(name, LoadOptions(backend="auto", device="cpu"))) as engine:
        yield engine


@pytest.fixture(scope="module")
def known(engine, home):
    return Spark(engine, str(home))


@pytest.fixture
def spark(engine, home, known):
    made = Spark.__new__(Spark)
    made.__dict__ |= known.__dict__ | {"engine": Scripted(engine), "_made": {}}
    return made


@pytest.fixture
def words(engine, home):
    def spelled(loaded):
        return loaded.tokenizer
        yield

    tokenizer = engine.task(str(home), spelled).result()
    return lambda ids: "".join(tokenizer.token(id) for id in ids)


def some(n, seed=0):
    return np.random.default_rng(seed).integers(0, 128, n).astype(np.int32)


def written(spark, codes):
    """What the model would write of a passage."""
    prompts = spark.prompts
    return [prompts._id("start_semantic_token"), *(prompts._semantic[code] for code in codes)]


def decoded(spark, codes):
    voice = np.array(VOICE, np.int32)
    return spark.engine.engine.task(spark.codec, lambda loaded: loaded.model.decode(codes, voice)).result()


def introduced(spark, voice=VOICE):
    """What the model would write of a voice made of words."""
    prompts = spark.prompts
    return [prompts._id("start_global_token"), *(prompts._global[i] for i in voice)]


@pytest.mark.parametrize("settings", [VoiceSettings("male"), VoiceSettings(clone=CLONE)])
def test_sound_is_that_of_the_tokens(spark, settings, monkeypatch):
    monkeypatch.setattr("engine.pipelines.speaking.speech.AUDIBLE", 1e-9)
    codes = some(140)
    spark.engine.script = [*([introduced(spark)] if settings.clone is None else []), written(spark, codes)]
    chunks = list(spark.speak("Hello there.", settings))
    samples, whole = np.concatenate(chunks), decoded(spark, codes)
    assert len(samples) == len(whole) == 140 * 320
    assert len(chunks) > 2
    np.testing.assert_allclose(samples, whole, atol=1e-4 * np.abs(whole).max())
    assert spark.engine.cancelled == len(spark.engine.requests) == len(spark.engine.script)


def test_all_passages_are_spoken_by_the_voice_that_was_made_first(spark, words):
    said = written(spark, some(80))
    spark.engine.script = [introduced(spark), said, said, introduced(spark), said]
    for text in ("One.", "Two."):
        list(spark.speak(text, VoiceSettings("female"), seed=7))
    first, *passages = [words(request.prompt_ids) for request in spark.engine.requests]
    voice = "".join(f"<|bicodec_global_{i}|>" for i in VOICE)
    assert INTRODUCTION.replace(" ", "Ġ") in first
    for prompt, text in zip(passages, ("One.", "Two."), strict=True):
        assert f"{text}<|end_content|>" in prompt
        assert prompt.endswith(f"<|end_style_label|><|start_global_token|>{voice}<|end_global_token|>")
    list(spark.speak("One.", VoiceSettings("female"), seed=8))
    assert words(spark.engine.requests[3].prompt_ids) == first


def test_the_prompt_of_a_voice_made_of_words(spark, words):
    prompt = spark.prompts.prompt(" Hi<|end_content|> ", VoiceSettings(instructions="male, very high pitch, slow"))
    assert words(prompt) == (
        "<|task_controllable_tts|><|start_content|>Hi<|end_content|><|end_content|>"
        "<|start_style_label|><|gender_1|><|pitch_label_4|><|speed_label_1|><|end_style_label|>"
    )
    assert len(prompt) == 1 + 2 + len("Hi<|end_content|>") + 5  # what is in the text stays text


def test_the_prompt_of_a_cloned_voice(spark, words):
    voice = "".join(f"<|bicodec_global_{i}|>" for i in VOICE)
    start = "<|task_tts|><|start_content|>"
    prompt = spark.prompts.prompt("Hi", VoiceSettings(clone=CLONE))
    assert words(prompt) == f"{start}Hi<|end_content|><|start_global_token|>{voice}<|end_global_token|>"
    recorded = Clone(CLONE.vector, np.array([[3], [90]]), "So.")
    assert words(spark.prompts.prompt("Hi", VoiceSettings(clone=recorded))) == (
        f"{start}So.Hi<|end_content|><|start_global_token|>{voice}<|end_global_token|>"
        "<|start_semantic_token|><|bicodec_semantic_3|><|bicodec_semantic_90|>"
    )


@pytest.mark.parametrize(("settings", "style"), [
    (VoiceSettings(), SparkStyle()),
    (VoiceSettings("male"), SparkStyle(gender=1)),
    (VoiceSettings(instructions="Female, high pitch, slow."), SparkStyle(0, 3, 1)),
    (VoiceSettings("male", instructions="very_low pitch; very fast"), SparkStyle(1, 0, 4)),
    (VoiceSettings(instructions="woman, normal pitch, high speed"), SparkStyle(0, 2, 3)),
])  # fmt: skip
def test_words_become_styles(settings, style):
    assert style_of(settings) == style


@pytest.mark.parametrize(("text", "settings", "message"), [
    ("Hi", VoiceSettings("bob"), "no voice 'bob'"),
    ("Hi", VoiceSettings(instructions="sadly"), "does not understand the instruction 'sadly'"),
    ("Hi", VoiceSettings("male", instructions="female"), "contradict"),
    ("Hi", VoiceSettings(instructions="slow, fast"), "contradict"),
    ("Hi", VoiceSettings("male", clone=CLONE), "not both"),
    ("Hi", VoiceSettings(clone=CLONE, instructions="slow"), "no instructions for a cloned voice"),
    ("Hi", VoiceSettings(clone=Clone(np.zeros(1024, np.float32))), "another model"),
    ("Hi", VoiceSettings(clone=Clone(np.full(8, 0.5, np.float32))), "another model"),
    ("Hi", VoiceSettings(clone=Clone(CLONE.vector, np.array([[128]]), "So.")), "another model"),
    ("Hi", VoiceSettings(language="de"), "Chinese and English"),
    ("  ", VoiceSettings(), "no text"),
    ("a" * 3000, VoiceSettings(), "3000 characters"),
])  # fmt: skip
def test_what_it_cannot_do(spark, text, settings, message):
    with pytest.raises(BadRequest, match=message):
        spark.speak(text, settings)


def test_it_samples_as_it_was_meant_to(spark):
    spark.engine.script = [written(spark, some(80))]
    list(spark.speak("Hello", VoiceSettings(clone=CLONE), seed=3))
    sampling = spark.engine.requests[0].sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.seed) == (0.8, 50, 0.95, 3)
    list(spark.speak("Hello" * 300, VoiceSettings(clone=CLONE), sampling=SpeechSampling(0.3)))
    assert spark.engine.requests[1].sampling.temperature == 0.3
    assert sampling.max_tokens < spark.engine.requests[1].sampling.max_tokens == 3000


def test_a_voice_that_is_stuck_is_tried_again_and_then_given_up(spark):
    stuck, good = written(spark, np.tile(some(12), 40)), written(spark, some(90))
    spark.engine.script = [stuck, good]
    samples = np.concatenate(list(spark.speak("Hello", VoiceSettings(clone=CLONE), buffered=True, seed=1)))
    assert 0 < len(samples) <= 90 * 320
    assert [request.sampling.seed for request in spark.engine.requests] == [1, 2]
    spark.engine.script, spark.engine.requests = [stuck], []
    with pytest.raises(SpeechRanAway, match="repeated itself"):
        list(spark.speak("Hello", VoiceSettings(clone=CLONE), buffered=True))
    assert len(spark.engine.requests) == 3


def test_a_model_that_makes_no_voice(spark):
    spark.engine.script = [introduced(spark, VOICE[:7])]
    with pytest.raises(SpeechRanAway, match="no voice of these words"):
        list(spark.speak("Hello", VoiceSettings()))
    assert len(spark.engine.requests) == 3


def test_a_model_that_says_nothing(spark):
    spark.engine.script = [written(spark, [])]
    with pytest.raises(SpeechRanAway, match="silent"):
        list(spark.speak("Hello", VoiceSettings(clone=CLONE)))
    assert len(spark.engine.requests) == 3


def test_a_fault_comes_out(spark):
    spark.engine.script, spark.engine.closing = [written(spark, some(3))], "fault"
    with pytest.raises(EngineFault):
        list(spark.speak("Hello", VoiceSettings(clone=CLONE)))


def test_a_clone_is_the_recordings_tokens(spark):
    recording = 0.1 * sound(1.3)
    loud = louder(recording)
    run = spark.engine.task
    voice = run(spark.codec_encoder, lambda part: part.model.voice(bicodec_mel(reference(loud)))).result()
    features = run(spark.feature_model, lambda part: part.model.features(loud)).result()
    codes = run(spark.codec_encoder, lambda part: part.model.semantic(features)).result()
    resembled, imitated = spark.clone(recording), spark.clone(recording, " So. ")
    assert resembled.codes is resembled.text is None
    assert resembled.vector.tolist() == imitated.vector.tolist() == voice.tolist()
    assert imitated.codes[:, 0].tolist() == codes.tolist()
    assert imitated.text == "So."
    spark.check(VoiceSettings(clone=imitated))


@pytest.mark.parametrize(("samples", "message"), [
    (np.zeros(100, np.float32), "lasts 0.01 seconds"), (np.zeros(32000, np.float32), "silent"),
    (np.full(32000, np.nan, np.float32), "finite"), (np.zeros((2, 32000), np.float32), "one row"),
])  # fmt: skip
def test_recordings_that_no_voice_is_taken_from(spark, samples, message):
    with pytest.raises(BadRequest, match=message):
        spark.clone(samples)


def test_a_short_recording_is_repeated_and_made_as_loud_as_others():
    short = sound(1.0)
    tiled = reference(short)
    assert len(tiled) == REFERENCE == 96000
    np.testing.assert_array_equal(tiled[16000:32000], short)
    np.testing.assert_array_equal(reference(sound(9.0)), sound(9.0)[:96000])
    quiet, loud = louder(0.2 * short), louder(2.5 * short)
    assert np.abs(quiet).max() == pytest.approx(np.abs(loud).max(), rel=0.02)
    assert np.abs(loud).max() <= 1.0


def test_the_folders_of_a_model(home):
    assert is_spark(home)
    assert is_spark(home / "LLM")
    assert not is_spark(Path(__file__).parent)


def test_it_is_found_among_the_models_that_speak(engine, home):
    assert isinstance(speaker(engine, str(home)), Spark)


def test_a_model_that_writes_at_random_is_given_up(known):
    with pytest.raises(SpeechRanAway, match="did not come to an end"):
        list(known.speak("Hi", VoiceSettings(), seed=1))


def test_another_model_is_refused(engine, tmp_path):
    with pytest.raises(BadRequest, match="no Spark-TTS"):
        Spark(engine, str(save_writer(tmp_path)))
