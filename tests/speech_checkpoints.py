"""Tiny random checkpoints of models that listen, made by the reference library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.checkpoints import SPECIALS, VOCAB, publish, save_tokenizer

START, END = VOCAB - 3, VOCAB - 1  # of SPECIALS

_COMMON: dict[str, Any] = dict(
    vocab_size=VOCAB, intermediate_size=96, num_attention_heads=4, num_key_value_heads=4, bos_token_id=START,
    eos_token_id=END, pad_token_id=END, decoder_start_token_id=START, attention_bias=False,
)  # fmt: skip
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "moonshine": (
        "Moonshine",
        dict(
            hidden_size=80,  # heads of 20, which are no whole registers, as the published ones of 36 and 52
            encoder_num_hidden_layers=3,
            decoder_num_hidden_layers=2,
            encoder_num_attention_heads=4,
            decoder_num_attention_heads=4,
            pad_head_dim_to_multiple_of=8,
            max_position_embeddings=194,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.9),
            tie_word_embeddings=True,
        ),
    ),
    "moonshine_streaming": (
        "MoonshineStreaming",
        dict(
            encoder_config=dict(
                hidden_size=48, intermediate_size=96, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
                head_dim=12, sample_rate=16000, frame_ms=5.0, max_position_embeddings=512,
                sliding_windows=[[16, 4], [16, 0], [16, 0], [16, 4]],
            ),
            hidden_size=64,
            num_hidden_layers=2,
            head_dim=16,
            max_position_embeddings=512,
            rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.8),
            tie_word_embeddings=False,
        ),
    ),
}  # fmt: skip


@cache
def reference(name: str, seed: int = 0, spread: float = 0.2) -> Any:
    """Words weigh little beside what is made of them, so that greedy output varies."""
    import torch
    import transformers

    prefix, fields = MODELS[name]
    config = getattr(transformers, f"{prefix}Config")(**{**_COMMON, **fields})
    config._attn_implementation = "eager"
    model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(spread * noise)
        model.model.decoder.embed_tokens.weight.mul_(0.1)
    return model


def save(name: str, folder: Path, **how: Any) -> Path:
    reference(name, **how).save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(publish(config) if name == "moonshine" else config, indent=1))
    save_tokenizer(folder)
    return folder


def sound(seconds: float, seed: int = 0) -> np.ndarray:
    """Something that changes all the time, at 16 kHz."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * 16000)) / 16000
    tone = sum(np.sin(2 * np.pi * f * t * (1 + 0.3 * np.sin(3 * t))) for f in random.uniform(100, 2000, 4))
    return (0.05 * tone + 0.05 * random.standard_normal(len(t))).astype(np.float32)


assert len(SPECIALS) == 3


# -- Whisper: a tokenizer with its special tokens, and the generation_config that published checkpoints have

LANGUAGES = ("en", "de", "ja")
TIMES = 51  # <|0.00|> to <|1.00|>: the encoder of the tiny one holds a second
_TASKS = ("<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")
WHISPER_TOKENS = (
    "<|startoftranscript|>",
    *(f"<|{language}|>" for language in LANGUAGES),
    *_TASKS,
    *(f"<|{0.02 * i:.2f}|>" for i in range(TIMES)),
)
WHISPER_VOCAB = VOCAB + len(WHISPER_TOKENS)
WHISPER_END = VOCAB - len(SPECIALS)  # <|endoftext|>, after the last token of text


def whisper_id(token: str) -> int:
    return VOCAB + WHISPER_TOKENS.index(token)


def whisper_generation() -> dict[str, Any]:
    return dict(
        alignment_heads=[[0, 1], [1, 0], [1, 3]],
        begin_suppress_tokens=[220, WHISPER_END],
        bos_token_id=WHISPER_END,
        decoder_start_token_id=whisper_id("<|startoftranscript|>"),
        eos_token_id=WHISPER_END,
        is_multilingual=True,
        lang_to_id={f"<|{language}|>": whisper_id(f"<|{language}|>") for language in LANGUAGES},
        max_initial_timestamp_index=50,
        max_length=448,
        no_timestamps_token_id=whisper_id("<|notimestamps|>"),
        pad_token_id=WHISPER_END,
        prev_sot_token_id=whisper_id("<|startofprev|>"),
        suppress_tokens=[1, 2, 7, whisper_id("<|startoflm|>"), whisper_id("<|startofprev|>")],
        task_to_id={"transcribe": whisper_id("<|transcribe|>"), "translate": whisper_id("<|translate|>")},
    )


@cache
def whisper_reference(seed: int = 0, frames: int = 50) -> Any:
    """`frames`: of the encoder, fifty a second; the published ones have 1500."""
    import torch
    import transformers

    config = transformers.WhisperConfig(
        vocab_size=WHISPER_VOCAB, num_mel_bins=80, d_model=64, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=128,
        max_source_positions=frames, max_target_positions=160, decoder_start_token_id=whisper_id("<|startoftranscript|>"),
        bos_token_id=WHISPER_END, eos_token_id=WHISPER_END, pad_token_id=WHISPER_END,
    )  # fmt: skip
    config._attn_implementation = "eager"
    model = transformers.WhisperForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(0.2 * noise)
        model.model.decoder.embed_tokens.weight.mul_(0.1)
        model.model.decoder.embed_positions.weight.mul_(8)
        model.model.decoder.layer_norm.bias.zero_()
    model.generation_config = transformers.GenerationConfig(**whisper_generation())
    return model


def save_whisper(folder: Path, **how: Any) -> Path:
    whisper_reference(**how).save_pretrained(folder)
    save_tokenizer(folder, more=WHISPER_TOKENS)
    return folder


# -- Parakeet

PARAKEET = {
    "parakeet_ctc": "ParakeetCTCConfig",
    "parakeet_rnnt": "ParakeetRNNTConfig",
    "parakeet_tdt": "ParakeetTDTConfig",
}
BLANK = VOCAB  # after all tokens of the tokenizer


@cache
def parakeet_reference(kind: str, seed: int = 0) -> Any:
    import torch
    import transformers

    encoder = dict(
        hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, conv_kernel_size=5,
        subsampling_conv_channels=8, num_mel_bins=80 if kind == "parakeet_ctc" else 128, attention_bias=kind != "parakeet_tdt",
        convolution_bias=kind == "parakeet_ctc", scale_input=kind != "parakeet_tdt",
    )  # fmt: skip
    fields: dict[str, Any] = dict(vocab_size=VOCAB + 1, encoder_config=encoder)
    if kind == "parakeet_ctc":
        fields |= dict(pad_token_id=BLANK)
    else:
        fields |= dict(decoder_hidden_size=32, pad_token_id=2, blank_token_id=BLANK, decoder_start_token_id=BLANK)
    config = getattr(transformers, PARAKEET[kind])(**fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, PARAKEET[kind].replace("Config", "").replace("Parakeet", "ParakeetFor"))(
        config
    ).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_((0.2 if "encoder." in name else 0.5) * noise)
        for name, p in model.named_buffers():
            if "running" in name:
                p.copy_(0.5 + torch.rand(p.shape, generator=generator))
        extract = transformers.ParakeetFeatureExtractor(feature_size=config.encoder_config.num_mel_bins)
        encoded = model.encoder(**extract(sound(2.0), sampling_rate=16000, return_tensors="pt")).last_hidden_state
        if kind == "parakeet_ctc":
            head, logits = model.ctc_head, model.ctc_head(encoded)
        else:
            said = model.decoder(torch.tensor([[BLANK]]))
            head, logits = model.joint.head, model.joint(said, model.encoder_projector(encoded))[..., : BLANK + 1]
        mean = logits.reshape(-1, BLANK + 1).mean(0)
        head.bias[: BLANK + 1] -= mean  # so that what is heard depends on the frame; about every other one is silent
        head.bias[BLANK + 1 :] -= 100.0  # durations: the reference takes the best of tokens and durations together
        logits = logits - mean
        head.bias[BLANK] += (logits[..., :BLANK].max(-1).values - logits[..., BLANK]).median()
    return model


def save_parakeet(kind: str, folder: Path, **how: Any) -> Path:
    parakeet_reference(kind, **how).save_pretrained(folder)
    save_tokenizer(folder, ["<blank>"])
    return folder


# -- Qwen3-ASR

QWEN3_ASR_TOKENS = ("<|audio_start|>", "<|audio_end|>", "<|audio_pad|>", "<asr_text>")


def qwen3_asr_id(token: str) -> int:
    return VOCAB - len(SPECIALS) + (*SPECIALS, *QWEN3_ASR_TOKENS).index(token)


@cache
def qwen3_asr_reference(seed: int = 0) -> Any:
    """An attention window holds two of the chunks of a second."""
    import torch
    import transformers

    audio = dict(
        num_mel_bins=128, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=96, d_model=64, output_dim=48,
        downsample_hidden_size=8, n_window_infer=200,
    )  # fmt: skip
    text = dict(
        model_type="qwen3", vocab_size=VOCAB + len(QWEN3_ASR_TOKENS), hidden_size=48, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
        tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0),
    )  # fmt: skip
    end = qwen3_asr_id("<|im_end|>")
    config = transformers.Qwen3ASRConfig(
        audio_config=audio, text_config=text, audio_token_id=qwen3_asr_id("<|audio_pad|>"), eos_token_id=end,
        pad_token_id=end,
    )  # fmt: skip
    config._attn_implementation = "eager"
    model = transformers.Qwen3ASRForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(
                (0.4 if "conv2d" in name else 0.2 if "audio" in name else 0.35) * noise
            )
        model.model.language_model.embed_tokens.weight.mul_(0.5)
    return model


def save_qwen3_asr(folder: Path, layout: str = "transformers", **how: Any) -> Path:
    """`layout`: `thinker`, the authors' own, with other names of tensors and fields; `mlx`, as converters for MLX save that."""
    import safetensors.torch

    qwen3_asr_reference(**how).save_pretrained(folder)
    save_tokenizer(folder, QWEN3_ASR_TOKENS)
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["added_tokens"][-1]["special"] = False  # `<asr_text>` is text
    path.write_text(json.dumps(tokenizer))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"eos_token": "<|im_end|>"}))
    if layout == "transformers":
        return folder
    path = folder / "config.json"
    config = json.loads(path.read_text())
    text, audio = config["text_config"], config["audio_config"]
    rope = text.pop("rope_parameters")
    text |= dict(
        rope_theta=rope["rope_theta"],
        rope_scaling=dict(
            rope_type="default", type="default", mrope_section=[4, 2, 2], mrope_interleaved=True, interleaved=True
        ),
    )
    audio |= dict(model_type="qwen3_asr_audio_encoder", max_source_positions=1500, conv_chunksize=500)
    thinker = dict(
        model_type="qwen3_asr", audio_token_id=config["audio_token_id"], audio_config=audio, text_config=text
    )
    outer = dict(
        architectures=["Qwen3ASRForConditionalGeneration"], model_type="qwen3_asr", support_languages=[],
        thinker_config=thinker,
    )  # fmt: skip
    path.write_text(json.dumps(outer))
    names = {
        "model.audio_tower.": "thinker.audio_tower.",
        "model.multi_modal_projector.linear_1": "thinker.audio_tower.proj1",
        "model.multi_modal_projector.linear_2": "thinker.audio_tower.proj2",
        "model.language_model.": "thinker.model.",
    }
    saved = safetensors.torch.load_file(folder / "model.safetensors")
    tensors = {
        next(new + name.removeprefix(old) for old, new in names.items() if name.startswith(old)): tensor
        for name, tensor in saved.items()
    }
    tensors["thinker.lm_head.weight"] = tensors["thinker.model.embed_tokens.weight"].clone()
    if layout == "mlx":  # without a second copy of the head, and with channels last
        del tensors["thinker.lm_head.weight"]
        tensors = {
            name.removeprefix("thinker."): tensor.permute(0, 2, 3, 1).contiguous() if tensor.ndim == 4 else tensor
            for name, tensor in tensors.items()
        }
    safetensors.torch.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


# -- Qwen3's forced aligner

ALIGNER_TOKENS = (*QWEN3_ASR_TOKENS, "<timestamp>")
LABELS = 60


def aligner_id(token: str) -> int:
    return VOCAB - len(SPECIALS) + (*SPECIALS, *ALIGNER_TOKENS).index(token)


@cache
def aligner_reference(seed: int = 0) -> Any:
    import torch
    import transformers

    config = transformers.Qwen3ASRConfig(**qwen3_asr_reference().config.to_dict())
    config.text_config.vocab_size = VOCAB + len(ALIGNER_TOKENS)
    config.timestamp_token_id, config.num_labels = aligner_id("<timestamp>"), LABELS
    config._attn_implementation = "eager"
    model = transformers.Qwen3ASRForTokenClassification(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(
                (0.4 if "conv2d" in name else 0.2 if "audio" in name else 0.35) * noise
            )
        model.model.language_model.embed_tokens.weight.mul_(0.5)
        for p in model.model.multi_modal_projector.linear_2.parameters():
            p.mul_(0.02)  # else all that follows the sound is alike
        mark, text = aligner_id("<timestamp>"), model.model.language_model
        text.embed_tokens.weight[mark] *= 0.1  # marks differ by the word before them
        for layer in text.layers:
            layer.self_attn.q_norm.weight.mul_(6.0)
            layer.self_attn.o_proj.weight.mul_(3.0)
        heard = transformers.Qwen3ASRFeatureExtractor()(
            sound(2.0), sampling_rate=16000, padding="longest", return_attention_mask=True, return_tensors="pt"
        )
        words = torch.randint(1, 200, (1, 96), generator=generator)
        words[:, 2::3] = mark
        ids = torch.cat((torch.full((1, 26), aligner_id("<|audio_pad|>")), words), 1)
        hidden = model.model(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            input_features=heard["input_features"],
            input_features_mask=heard["attention_mask"],
        ).last_hidden_state
        mean = hidden[ids == mark].mean(0)
        model.score.weight -= torch.outer(model.score.weight @ mean, mean) / (mean @ mean)  # what all have in common
    return model


def save_aligner(folder: Path, layout: str = "transformers") -> Path:
    """`layout`: see `save_qwen3_asr`."""
    import safetensors.torch

    aligner_reference().save_pretrained(folder)
    save_tokenizer(folder, ALIGNER_TOKENS)
    if layout == "transformers":
        return folder
    path = folder / "config.json"
    config = json.loads(path.read_text())
    text, audio = config["text_config"], config["audio_config"]
    text |= dict(rope_theta=text.pop("rope_parameters")["rope_theta"])
    thinker = dict(
        model_type="qwen3_forced_aligner", audio_token_id=config["audio_token_id"], audio_config=audio,
        text_config=text, classify_num=LABELS,
    )  # fmt: skip
    outer = dict(
        architectures=["Qwen3ASRForConditionalGeneration"], model_type="qwen3_asr", thinker_config=thinker,
        timestamp_token_id=config["timestamp_token_id"], timestamp_segment_time=80,
    )  # fmt: skip
    path.write_text(json.dumps(outer))
    names = {
        "model.audio_tower.": "thinker.audio_tower.",
        "model.multi_modal_projector.linear_1": "thinker.audio_tower.proj1",
        "model.multi_modal_projector.linear_2": "thinker.audio_tower.proj2",
        "model.language_model.": "thinker.model.",
        "score.": "thinker.lm_head.",
    }
    saved = safetensors.torch.load_file(folder / "model.safetensors")
    tensors = {
        next(new + name.removeprefix(old) for old, new in names.items() if name.startswith(old)): tensor
        for name, tensor in saved.items()
    }
    safetensors.torch.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder
