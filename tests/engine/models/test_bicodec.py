"""BiCodec against what its reference made (`tests/data/spark`), on both backends; wav2vec 2.0 against transformers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import yaml

from engine.errors import BadRequest, ConfigError
from engine.loading import LoadOptions, load_any
from engine.media.mel import bicodec_mel
from engine.models.bicodec import BiCodecStream
from tests.spark_checkpoint import CONFIG, DATA, features, hearing, save_codec, save_hearing, sound

BACKENDS = ("torch", "mlx")


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    home = tmp_path_factory.mktemp("spark")
    codec, ears = save_codec(home / "BiCodec"), save_hearing(home / "wav2vec2-large-xlsr-53")
    names = {"decoder": f"{codec}", "encoder": f"{codec}#encoder", "ears": f"{ears}"}
    return cache(lambda part, backend: load_any(names[part], LoadOptions(backend=backend, device="cpu")).model)


@cache
def case() -> dict[str, np.ndarray]:
    with np.load(DATA / "case.npz") as arrays:
        return dict(arrays)


def run(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_the_spectrogram():
    wanted = case()["mel"]
    np.testing.assert_allclose(bicodec_mel(sound()), wanted, atol=1e-4 * wanted.max())


@pytest.mark.parametrize("backend", BACKENDS)
class TestAgainstTheReference:
    def test_semantic_tokens(self, load, backend):
        np.testing.assert_array_equal(run(load("encoder", backend).semantic(features())), case()["semantic"])
        assert len(set(case()["semantic"].tolist())) > 20

    def test_the_voice(self, load, backend):
        np.testing.assert_array_equal(run(load("encoder", backend).voice(bicodec_mel(sound()))), case()["voice"])
        assert len(set(case()["voice"].tolist())) > 4

    def test_sound(self, load, backend):
        made = run(load("decoder", backend).decode(case()["semantic"].astype(np.int32), case()["voice"]))
        wanted = case()["wave"]
        assert made.shape == wanted.shape
        assert 0.05 < np.abs(wanted).max() < 0.99
        np.testing.assert_allclose(made, wanted, atol=1e-3 * np.abs(wanted).max())

    def test_features(self, load, backend):
        even = (sound(1.0) - sound(1.0).mean()) / np.sqrt(sound(1.0).var() + 1e-7)
        with torch.inference_mode():
            states = hearing()(torch.from_numpy(even)[None], output_hidden_states=True).hidden_states
        wanted = ((states[11] + states[14] + states[16]) / 3)[0].numpy()
        made = run(load("ears", backend).features(sound(1.0)))
        assert made.shape == wanted.shape
        assert wanted.std(axis=0).min() > 0.01
        np.testing.assert_allclose(made, wanted, atol=1e-4 * np.abs(wanted).max())

    def test_sound_in_pieces_is_the_whole_sound(self, load, backend):
        codec, random = load("decoder", backend), np.random.default_rng(3)
        codes = random.integers(0, 128, 130).astype(np.int32)
        whole = run(codec.decode(codes, case()["voice"]))
        stream, parts, at = BiCodecStream(codec, case()["voice"]), [], 0
        while at < len(codes):
            stop = min(len(codes), at + int(random.integers(5, 40)))
            parts.append(run(stream.push(codes[at:stop], last=stop == len(codes))))
            at = stop
        np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-4 * np.abs(whole).max())
        assert sum(len(part) > 0 for part in parts) > 2
        assert not stream.waits
        assert len(stream._codes) <= codec.reach


def test_a_tokens_reach_is_what_it_is_said_to_be(load):
    codec = load("decoder", "torch")
    reach = codec.reach + codec.waves.reach
    codes = np.random.default_rng(0).integers(0, 128, 2 * reach + 9).astype(np.int32)
    other = codes.copy()
    at = reach + 4
    other[at] = (other[at] + 5) % 128
    differs = np.abs(run(codec.decode(codes, case()["voice"])) - run(codec.decode(other, case()["voice"]))) > 1e-7
    touched = np.flatnonzero(differs) // codec.samples
    assert at - reach <= touched.min() < at - 10
    assert at + 10 < touched.max() <= at + reach


@pytest.mark.parametrize(("codes", "voice"), [([0, 128], [0] * 8), ([-1], [0] * 8), ([], [0] * 8),
                                              ([0], [0] * 7), ([0], [4096] + [0] * 7)])  # fmt: skip
def test_tokens_that_cannot_be(load, codes, voice):
    with pytest.raises(BadRequest):
        run(load("decoder", "torch").decode(np.array(codes, np.int32), np.array(voice, np.int32)))


def test_a_sound_too_short_to_be_heard(load):
    with pytest.raises(BadRequest, match="at least 400"):
        run(load("ears", "torch").features(np.zeros(399, np.float32)))


@pytest.mark.parametrize(("part", "change", "message"), [
    ("prenet", {"sample_ratios": [2, 1]}, "sample_ratios"),
    ("decoder", {"kernel_sizes": [16, 10, 8, 4]}, "kernel_sizes"),
    ("mel_params", {"hop_length": 256}, "hop_length must be 320"),
    ("quantizer", {"input_dim": 41}, "widths"),
])  # fmt: skip
def test_kinds_that_are_not_supported(tmp_path, part, change, message):
    save_codec(tmp_path)
    parts = CONFIG["audio_tokenizer"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"audio_tokenizer": parts | {part: parts[part] | change}}))
    with pytest.raises(ConfigError, match=message):
        load_any(str(tmp_path))


@pytest.mark.parametrize("text", ["a: [1", "- 1", "!!python/object/apply:os.getcwd []", "\x00"])
def test_settings_that_are_none(tmp_path, text):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError):
        load_any(str(tmp_path))
