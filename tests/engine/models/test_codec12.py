"""The 12 Hz codec and the speaker encoder against the reference package, on both backends; and streams against wholes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from backends.pick import pick
from engine.errors import WeightsError
from engine.media.mel import speaker_mel
from engine.models import yield_budget
from engine.models.codec12 import CodecDecoder, codec_decoder, codec_encoder
from engine.models.ecapa import speaker_encoder
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import build
from tests.qwen3_tts_cases import cases, checkpoint, finished

BACKENDS = ("torch", "mlx")
MAKERS = {"decoder": codec_decoder, "encoder": codec_encoder, "speaker": speaker_encoder}
Parts = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint("base", tmp_path_factory.mktemp("codec") / "base")


@pytest.fixture(scope="module")
def parts(folder: Path) -> Iterator[Parts]:
    @cache
    def part(name: str, backend: str) -> Any:
        return made(folder if name == "speaker" else folder / "speech_tokenizer", name, backend)

    yield part
    part.cache_clear()


def made(folder: Path, name: str, backend: str) -> Any:
    opened = Checkpoint.open(folder)
    return build(lambda view: MAKERS[name](view, opened.config), opened, pick(backend, "cpu", "f32"))


def whole(decoder: CodecDecoder, codes: np.ndarray) -> np.ndarray:
    return finished(decoder.decode(codes, {}))


@pytest.mark.parametrize("backend", BACKENDS)
class TestDecoder:
    def test_the_sound(self, parts: Parts, backend: str) -> None:
        sound = whole(parts("decoder", backend), cases()["codes"])
        assert sound.shape == cases()["decoded"].shape
        assert float(np.abs(cases()["decoded"]).max()) > 0.01
        assert float(np.abs(sound - cases()["decoded"]).max()) <= 1e-5

    def test_what_follows_a_recording(self, parts: Parts, backend: str) -> None:
        """The reference decodes recording and reply together and cuts the first part off."""
        past: dict[Any, Any] = {}
        codes, decoder = cases()["icl_ns_codes"], parts("decoder", backend)
        finished(decoder.decode(codes[:25], past))
        sound = finished(decoder.decode(codes[25:], past))
        assert float(np.abs(sound - cases()["icl_ns_wav"]).max()) <= 1e-5

    @settings(max_examples=8, deadline=None)
    @given(sizes=st.lists(st.integers(1, 7), min_size=2, max_size=5))
    def test_pieces_of_any_size_are_the_whole(self, parts: Parts, backend: str, sizes: list[int]) -> None:
        decoder, count = parts("decoder", backend), sum(sizes)
        codes = np.random.default_rng(count).integers(0, 32, (count, 4))
        past: dict[Any, Any] = {}
        pieces, at = [], 0
        for size in sizes:
            pieces.append(finished(decoder.decode(codes[at : at + size], past)))
            assert len(pieces[-1]) == size * 1920
            at += size
        assert float(np.abs(np.concatenate(pieces) - whole(decoder, codes)).max()) <= 1e-5

    @settings(max_examples=8, deadline=None)
    @given(streams=st.lists(st.lists(st.integers(1, 11), min_size=2, max_size=2), min_size=2, max_size=4))
    def test_a_voice_sounds_the_same_in_company(self, parts: Parts, backend: str, streams: list[list[int]]) -> None:
        """Streams of different lengths, at different places, some with more than one piece to go."""
        decoder = parts("decoder", backend)
        codes = [np.random.default_rng(i).integers(0, 32, (sum(each), 4)) for i, each in enumerate(streams)]
        pasts: list[dict[Any, Any]] = [{} for _ in streams]
        begun = [finished(decoder.decode(c[: s[0]], past)) for c, s, past in zip(codes, streams, pasts)]
        rest = finished(decoder.decode_together([(c[s[0] :], past) for c, s, past in zip(codes, streams, pasts)]))
        for i, each in enumerate(streams):
            past: dict[Any, Any] = {}
            alone = [finished(decoder.decode(part, past)) for part in np.split(codes[i], [each[0]])]
            assert np.array_equal(alone[0], begun[i])
            assert alone[1].shape == rest[i].shape
            assert float(np.abs(alone[1] - rest[i]).max()) <= 1e-6

    def test_the_window_is_kept(self, parts: Parts, backend: str) -> None:
        """A frame far beyond every layer's window changes nothing; one within it does."""
        decoder = parts("decoder", backend)
        codes = np.random.default_rng(0).integers(0, 32, (48, 4))
        other = codes.copy()
        other[0] = (other[0] + 1) % 32
        first, second = whole(decoder, codes), whole(decoder, other)
        assert np.array_equal(first[-1920 * 12 :], second[-1920 * 12 :])
        assert not np.array_equal(first[: 1920 * 3], second[: 1920 * 3])

    def test_it_lets_others_in_when_it_takes_long(
        self, parts: Parts, backend: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for longest, pauses in ((0.0, 17), (60.0, 0)):
            monkeypatch.setattr(yield_budget, "LONGEST", longest)
            assert sum(1 for _ in parts("decoder", backend).decode(cases()["codes"][:4], {})) == pauses

    def test_codes_out_of_range_are_no_reads_out_of_range(self, parts: Parts, backend: str) -> None:
        codes = np.array([[-5, 40, 9999, 3]])
        assert np.array_equal(
            whole(parts("decoder", backend), codes), whole(parts("decoder", backend), codes.clip(0, 31))
        )

    def test_no_frames(self, parts: Parts, backend: str) -> None:
        assert whole(parts("decoder", backend), np.zeros((0, 4), np.int64)).shape == (0,)


@pytest.mark.parametrize("backend", BACKENDS)
class TestEncoder:
    def test_the_codes(self, parts: Parts, backend: str) -> None:
        assert finished(parts("encoder", backend).encode(cases()["wav"])).tolist() == cases()["codes"].tolist()

    def test_a_length_that_no_stride_divides(self, parts: Parts, backend: str) -> None:
        codes = finished(parts("encoder", backend).encode(cases()["wav"][:31337]))
        assert codes.tolist() == cases()["odd_codes"].tolist()

    def test_longer_than_the_window(self, parts: Parts, backend: str) -> None:
        t = np.arange(24000 * 13) / 24000
        sound = (0.3 * np.sin(2 * np.pi * (200 + 30 * t) * t) * np.sin(3 * t)).astype(np.float32)
        assert finished(parts("encoder", backend).encode(sound)).tolist() == cases()["long_codes"].tolist()


def test_the_mel_spectrogram() -> None:
    mel = speaker_mel(cases()["wav"])
    assert float(np.abs(mel[::4] - cases()["mel"]).max()) <= 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "length"), [("speaker", 48000), ("odd_speaker", 31337)])
def test_the_speaker_s_vector(parts: Parts, backend: str, name: str, length: int) -> None:
    vector = finished(parts("speaker", backend).embed(speaker_mel(cases()["wav"][:length])))
    assert float(np.abs(vector - cases()[name]).max() / np.abs(cases()[name]).max()) <= 1e-5


class TestFiles:
    @pytest.fixture
    def copied(self, folder: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(folder / "speech_tokenizer", tmp_path / "codec"))

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_usage_that_old_files_lack_counts_as_one(self, copied: Path, backend: str) -> None:
        """Sums over usage, saved in place of the sums, are the same codebooks."""
        file = copied / "model.safetensors"
        tensors = load_file(file)
        for name in [n for n in tensors if n.endswith("cluster_usage")]:
            usage = np.maximum(tensors.pop(name), 1e-5)
            for kind in ("embedding_sum", "embed_sum"):
                sums = name.replace("cluster_usage", kind)
                if sums in tensors:
                    tensors[sums] = tensors[sums] / usage[:, None]
        save_file(tensors, file)
        sound = whole(made(copied, "decoder", backend), cases()["codes"])
        assert float(np.abs(sound - cases()["decoded"]).max()) <= 1e-5
        assert finished(made(copied, "encoder", backend).encode(cases()["wav"])).tolist() == cases()["codes"].tolist()

    def test_a_missing_tensor_is_named(self, copied: Path) -> None:
        file = copied / "model.safetensors"
        tensors = load_file(file)
        del tensors["decoder.pre_conv.conv.bias"]
        save_file(tensors, file)
        with pytest.raises(WeightsError, match=r"decoder\.pre_conv\.conv\.bias"):
            made(copied, "decoder", "torch")
