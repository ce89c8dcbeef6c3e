"""Files of whisper.cpp, written as its own script writes them: the same logits, tokens and rules as the folder that they were made of."""

from __future__ import annotations

import itertools
import struct
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers

from app.runtime.catalogue import Catalogue, capabilities_of
from backends.base import Segment
from engine.errors import WeightsError
from engine.loading import LoadOptions, load_any
from engine.pipelines.listening.whisper import WhisperTokens
from engine.text.vocabulary import BYTE_OF_CHAR
from engine.types import Sound
from engine.weights.ggml_whisper import GgmlWhisper
from tests.speech_checkpoints import sound

MANY, ENGLISH = 51866, 51864
FTYPES = {"f32": 0, "f16": 1, "q8_0": 8, "q5_0": 6}
NAMES = {
    "self_attn.q_proj": "attn.query", "self_attn.k_proj": "attn.key", "self_attn.v_proj": "attn.value",
    "self_attn.out_proj": "attn.out", "self_attn_layer_norm": "attn_ln", "encoder_attn.q_proj": "cross_attn.query",
    "encoder_attn.k_proj": "cross_attn.key", "encoder_attn.v_proj": "cross_attn.value", "encoder_attn.out_proj": "cross_attn.out",
    "encoder_attn_layer_norm": "cross_attn_ln", "fc1": "mlp.0", "fc2": "mlp.2", "final_layer_norm": "mlp_ln",
}  # fmt: skip
WHOLE = {
    "encoder.layer_norm": "encoder.ln_post", "decoder.layer_norm": "decoder.ln",
    "encoder.embed_positions.weight": "encoder.positional_embedding",
    "decoder.embed_positions.weight": "decoder.positional_embedding",
    "decoder.embed_tokens.weight": "decoder.token_embedding.weight",
}  # fmt: skip


@cache
def reference(vocab: int) -> Any:
    config = transformers.WhisperConfig(
        vocab_size=vocab, num_mel_bins=128, d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, max_source_positions=50, max_target_positions=64,
    )  # fmt: skip
    torch.manual_seed(3)
    return transformers.WhisperForConditionalGeneration(config).eval()


@cache
def texts(count: int) -> list[bytes]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [b" " + letter.encode() for letter in letters]
    longer = ("".join(one).encode() for size in (2, 3, 4) for one in itertools.product(letters, repeat=size))
    order = [bytes([byte]) for byte in sorted(BYTE_OF_CHAR.values())]
    return [*order, *pairs, *itertools.islice(longer, count - len(order) - len(pairs))]


def ggml_name(name: str) -> str:
    plain = name.removeprefix("model.")
    for ours, theirs in WHOLE.items():
        if plain.startswith(ours):
            return plain.replace(ours, theirs)
    side, _, rest = plain.partition(".layers.")
    if not rest:
        return plain
    layer, part = rest.split(".", 1)
    stem, _, kind = part.rpartition(".")
    return f"{side}.blocks.{layer}.{NAMES[stem]}.{kind}"


def write(path: Path, vocab: int, kind: str) -> Path:
    count = 50257 if vocab >= 51865 else 50256
    with path.open("wb") as out:
        out.write(struct.pack("<i", 0x67676D6C))
        out.write(struct.pack("<11i", vocab, 50, 64, 4, 1, 64, 64, 4, 1, 128, FTYPES[kind]))
        out.write(struct.pack("<2i", 128, 201) + np.zeros((128, 201), "<f4").tobytes())
        out.write(struct.pack("<i", count))
        for text in texts(count):
            out.write(struct.pack("<i", len(text)) + text)
        for name, tensor in reference(vocab).state_dict().items():
            if name == "proj_out.weight":
                continue
            data, own = tensor.numpy(), ggml_name(name)
            if own.endswith(("conv1.bias", "conv2.bias")):
                data = data[:, None]
            plain = data.ndim < 2 or data.shape[1] == 1 or "positional" in own
            stored = "f32" if plain else "f16" if kind.startswith("q") and data.ndim == 3 else kind
            if stored.startswith("q"):
                raw = gguf.quants.quantize(data, gguf.GGMLQuantizationType[stored.upper()]).tobytes()
            else:
                raw = data.astype("<f4" if stored == "f32" else "<f2").tobytes()
            out.write(struct.pack("<3i", data.ndim, len(own), FTYPES[stored]))
            out.write(struct.pack(f"<{data.ndim}i", *reversed(data.shape)) + own.encode() + raw)
    return path


def run(work: Any) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize(
    ("kind", "close"),
    [
        ("f32", 1e-4),
        pytest.param("f16", 5e-3, marks=pytest.mark.slow),
        ("q8_0", 0.05),
        pytest.param("q5_0", 0.3, marks=pytest.mark.slow),
    ],
)
def test_the_same_logits(kind: str, close: float, backend: str, tmp_path: Path) -> None:
    file = write(tmp_path / "ggml-tiny.bin", MANY, kind)
    loaded = load_any(str(file), LoadOptions(backend=backend, device="cpu", dtype="f32", quant="none"))
    samples, forced = sound(1.0), [50258, 50261, 50360, 400, 7]
    features = transformers.WhisperFeatureExtractor(feature_size=128, chunk_length=1)(
        samples, sampling_rate=16000, return_tensors="pt"
    ).input_features
    with torch.no_grad():
        wanted = reference(MANY)(input_features=features, decoder_input_ids=torch.tensor([forced])).logits[0].numpy()
    (made,) = run(loaded.model.encode([Sound(samples, "")]))
    slot = loaded.kv.open(len(forced))
    loaded.model.begin(loaded.kv, slot, made)
    logits = loaded.runner.run([Segment(slot, forced, want=range(len(forced)))]).read()[slot].logits
    assert np.abs(logits - wanted).max() < close * np.abs(wanted).max()


@pytest.mark.parametrize("vocab", [MANY, pytest.param(51865, marks=pytest.mark.slow), ENGLISH])
def test_special_tokens_follow_from_the_size_of_the_vocabulary(vocab: int, tmp_path: Path) -> None:
    """As published models have them."""
    file = GgmlWhisper(write(tmp_path / "a.bin", vocab, "f16"))
    tokens = WhisperTokens.of(file.tokenizer, file.config, file.generation_config)
    if vocab == ENGLISH:
        assert (tokens.end, tokens.start, tokens.zero, dict(tokens.languages)) == (50256, 50257, 50363, {})
        return
    more = vocab - 51865
    assert (tokens.end, tokens.start, tokens.no_speech, tokens.zero) == (50257, 50258, 50362 + more, 50364 + more)
    assert (tokens.languages["en"], tokens.languages["su"], len(tokens.languages)) == (50259, 50357, 99 + more)
    assert tokens.tasks == {"translate": 50358 + more, "transcribe": 50359 + more}
    assert tokens.previous == 50361 + more
    assert tokens.first_banned == (texts(50257).index(b" "), 50257)
    assert {50258, tokens.previous, tokens.no_speech, texts(50257).index(b"(")} <= set(tokens.banned)


def test_text_comes_back_and_longer_tokens_are_used(tmp_path: Path) -> None:
    tokenizer = GgmlWhisper(write(tmp_path / "a.bin", MANY, "f16")).tokenizer
    for text in ("abc abc", "Grüße, 日本", " ab"):
        assert tokenizer.decode(tokenizer.encode(text, add_special=False)) == text
    assert len(tokenizer.encode("abcd", add_special=False)) < 4
    assert tokenizer.encode("<|en|>", add_special=False) == [50259]
    assert len(tokenizer.encode("<|en|>", add_special=False, parse_special=False)) > 1


def test_a_file_in_a_models_folder_listens(tmp_path: Path) -> None:
    file = write(tmp_path / "ggml-tiny.bin", ENGLISH, "f16")
    (tmp_path / "other.bin").write_bytes(b"something else")
    assert capabilities_of(str(file)) == {"listen"}
    assert [known.name for known in Catalogue({}, tmp_path, use_cache=False).all()] == ["ggml-tiny.bin"]


def test_damaged_files(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.bin", ENGLISH, "f16").read_bytes()
    random = np.random.default_rng(0)
    for size in [0, 3, 4, 40, 1000, *random.integers(0, len(whole), 12).tolist()]:
        (tmp_path / "cut.bin").write_bytes(whole[:size])
        with pytest.raises(WeightsError, match=r"truncated|empty"):
            GgmlWhisper(tmp_path / "cut.bin")
    for at in (4, 12, 48, 52):
        for value in (-1, 1 << 30):
            (tmp_path / "odd.bin").write_bytes(whole[:at] + struct.pack("<i", value) + whole[at + 4 :])
            with pytest.raises(WeightsError, match=r"corrupt|truncated|not known"):
                GgmlWhisper(tmp_path / "odd.bin")
