"""Whisper and Parakeet on this CPU at their published shapes with random weights: seconds of work for a second of sound.

Whisper hears half a minute and writes a hundred tokens, through the whole engine: spectrogram, encoder, keys and values of the cross
attention, decoding. Its peers are faster-whisper, which is CTranslate2 at int8, and the reference library in f32. Parakeet hears three
stretches of twenty seconds, which voice activity detection has looked for in the whole sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.hearers import RATE, STRETCH, STRETCHES, WINDOW, faster_whisper_packages, sound
from tests.bench.peers import Peer
from tests.bench.shapes import KEPT
from tests.bench.table import Row, paired
from tests.checkpoints import save_tokenizer

ROUNDS = 5
WORK = "s of work a s of sound"
WHISPERS: dict[str, dict[str, Any]] = {
    "large-v3-turbo": dict(
        vocab_size=51866, num_mel_bins=128, d_model=1280, encoder_layers=32, decoder_layers=4,
        encoder_attention_heads=20, decoder_attention_heads=20, encoder_ffn_dim=5120, decoder_ffn_dim=5120,
    ),
    "small": dict(
        vocab_size=51865, num_mel_bins=80, d_model=768, encoder_layers=12, decoder_layers=12,
        encoder_attention_heads=12, decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072,
    ),
}  # fmt: skip
PARAKEET: dict[str, Any] = dict(
    hidden_size=1024, num_hidden_layers=24, num_attention_heads=8, intermediate_size=4096, conv_kernel_size=9,
    subsampling_conv_channels=256, num_mel_bins=128, attention_bias=False, convolution_bias=False, scale_input=False,
)  # fmt: skip
PARAKEET_VOCAB = 8193
SILENT = 0.7  # share of frames without a token: twelve a second, of which speech fills four


def whisper_checkpoint(name: str) -> Path:
    """Made by the reference library; `ctranslate2` in it holds the same weights for faster-whisper."""
    folder = KEPT / f"whisper-{name}"
    if (folder / "ready").exists():
        return folder
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.WhisperConfig(**WHISPERS[name])
    transformers.WhisperForConditionalGeneration(config).half().save_pretrained(folder)
    save_tokenizer(folder)
    subprocess.run([sys.executable, "-m", "tests.bench.whisper", str(folder)], check=True)
    (folder / "ready").touch()
    return folder


def convert(folder: Path) -> None:
    """By CTranslate2's own converter, in a process of its own, which has its package."""
    sys.path.insert(0, str(faster_whisper_packages()))
    import tokenizers
    import transformers
    from ctranslate2.converters import TransformersConverter

    size = transformers.AutoConfig.from_pretrained(folder).vocab_size
    special = {50257: "<|endoftext|>", 50258: "<|startoftranscript|>", 50259: "<|en|>", 50359: "<|translate|>",
               50360: "<|transcribe|>", 50361: "<|startoflm|>", 50362: "<|startofprev|>", 50363: "<|nospeech|>",
               50364: "<|notimestamps|>"}  # fmt: skip
    vocab = {special.get(id, f"token{id}"): id for id in range(size)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocab, unk_token="<|endoftext|>"))

    class Converter(TransformersConverter):
        """With a vocabulary as large as the model's: the tests' tokenizer is smaller."""

        def load_tokenizer(self, *_: Any, **__: Any) -> Any:
            return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<|endoftext|>")

    target = folder / "ctranslate2"
    Converter(str(folder), load_as_float16=True).convert(str(target), quantization="int8", force=True)
    tokenizer.save(str(target / "tokenizer.json"))
    mels = transformers.AutoConfig.from_pretrained(folder).num_mel_bins
    (target / "preprocessor_config.json").write_text(json.dumps(dict(feature_size=mels)))


def parakeet_checkpoint() -> Path:
    folder = KEPT / "parakeet-tdt-0.6b"
    if (folder / "ready").exists():
        return folder
    import torch
    import transformers

    torch.manual_seed(0)
    blank = PARAKEET_VOCAB - 1
    config = transformers.ParakeetTDTConfig(
        vocab_size=PARAKEET_VOCAB, encoder_config=PARAKEET, decoder_hidden_size=640, pad_token_id=2,
        blank_token_id=blank, decoder_start_token_id=blank,
    )  # fmt: skip
    model = transformers.ParakeetForTDT(config).eval()
    extract = transformers.ParakeetFeatureExtractor(feature_size=PARAKEET["num_mel_bins"])
    with torch.no_grad():
        given = extract(sound(0, STRETCH), sampling_rate=RATE, return_tensors="pt")
        heard = model.encoder_projector(model.encoder(**given).last_hidden_state)
        said = model.decoder(torch.tensor([[blank]]))
        logits = model.joint(said, heard)[..., :PARAKEET_VOCAB].reshape(-1, PARAKEET_VOCAB)
        ahead = logits[:, :blank].max(-1).values - logits[:, blank]
        model.joint.head.bias[blank] += torch.quantile(ahead, SILENT)
        model.joint.head.bias[PARAKEET_VOCAB + 2] += 1.0  # most tokens last two frames
    model.half().save_pretrained(folder)
    save_tokenizer(folder)
    (folder / "ready").touch()
    return folder


def small_rows() -> list[Row]:
    return whisper_rows("small")


def turbo_rows() -> list[Row]:
    return whisper_rows("large-v3-turbo")


def whisper_rows(name: str) -> list[Row]:
    folder, found = whisper_checkpoint(name), []
    with Peer("grus-whisper", folder, "q8_0") as ours:
        for kind, dtype, aim in (("faster-whisper", "int8", ">= 1.3x"), ("transformers-whisper", "f32", ">= 3x")):
            with ours.rival(kind, folder, dtype) as peer:
                a, b = paired(ROUNDS, *(partial(side.ask, "transcribe", sounds=1) for side in (ours, peer)))
            label = f"{kind.removesuffix('-whisper')}, {dtype}"
            found.append(Row(f"{name} at 8 bits", WORK, a / WINDOW, b / WINDOW, label, aim, more_is_better=False))
    return found


def parakeet_rows() -> list[Row]:
    with Peer("grus-parakeet", parakeet_checkpoint(), "q8_0") as ours:
        ours.ask("recognize")
        made = sorted(ours.ask("recognize") for _ in range(ROUNDS))
    seconds = STRETCH * STRETCHES
    took, heard = made[ROUNDS // 2]
    return [
        Row("Parakeet TDT 0.6B at 8 bits", "s of sound a s", seconds / took, aim=">= 20"),
        Row("Parakeet: tokens heard", "a s of sound", heard / seconds),
    ]


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
