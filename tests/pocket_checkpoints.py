"""A tiny random Pocket-TTS with its codec, made by the reference library, in the layout of the published repositories."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

WORDS = "The cranes have come back from the south, and at dawn they dance. Good morning! It costs 3.5 euros; is it so? Yes: "
MARKS = ("<|audio_prompt|>", "<|audio_latent|>", "<|audio_prompt_bos|>", "<|audio_bos|>")
TEMPLATE = (
    "{% for message in messages %}{% for item in message['content'] %}{% if item['type'] == 'audio' %}"
    "{{ '<|audio_prompt_bos|><|audio_prompt|>' }}{% else %}{{ item['text'] | trim }}{% endif %}{% endfor %}"
    "{% endfor %}{{ '<|audio_bos|>' }}"
)
LATENT = 8
CODEC: dict[str, Any] = dict(
    hidden_size=32, num_filters=4, upsampling_ratios=[3, 2], latent_stride=4, latent_dim=LATENT, upsample_groups=32,
    num_hidden_layers=2, intermediate_size=48, num_attention_heads=4, num_key_value_heads=4, sliding_window=6,
)  # fmt: skip
FRAME = 24  # samples
TALKER: dict[str, Any] = dict(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, latent_dim=LATENT,
    max_position_embeddings=4096,
)  # fmt: skip


def _spread(model: Any, seed: int, scale: float) -> Any:
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            noise = torch.randn(p.shape, generator=generator)
            p.add_(0.1 * noise) if p.ndim <= 1 else p.copy_(scale * noise / max(1, p[0].numel()) ** 0.5)
    return model.eval()


@cache
def tokenizer() -> Any:
    """SentencePiece's way: words begin with a low line."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Split(r"[.,!?;:]", "isolated")]
    )
    made.decoder = decoders.Metaspace()
    made.train_from_iterator([WORDS], trainers.BpeTrainer(vocab_size=52, special_tokens=["<unk>", "<pad>"]))
    names = ("audio_prompt_token", "audio_latent_token", "audio_prompt_bos_token", "audio_bos_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", pad_token="<pad>", extra_special_tokens=dict(zip(names, MARKS))
    )


@cache
def talker(flow: str = "lsd") -> Any:
    from transformers import PocketTTSConfig, PocketTTSForConditionalGeneration

    words = tokenizer()
    ids = dict(zip(("prompt", "latent", "prompt_bos", "bos"), words.convert_tokens_to_ids(list(MARKS))))
    config = PocketTTSConfig(
        vocab_size=len(words), pad_token_id=1, **{f"audio_{name}_token_id": id for name, id in ids.items()}, **TALKER,
        flow_head_config=dict(
            hidden_size=32, num_hidden_layers=2, latent_dim=LATENT, condition_dim=64, frequency_embedding_size=16,
            flow_type=flow,
        ),
    )  # fmt: skip
    config._attn_implementation = "eager"
    made = _spread(PocketTTSForConditionalGeneration(config), 1, 1.0)
    made.latent_mean.copy_(made.latent_mean + 0.1)
    made.latent_std.copy_(made.latent_std * 0.8)
    for name, value in dict(eos_threshold=0.7, num_flow_steps=1, min_frames_before_eos=3).items():
        setattr(made.generation_config, name, value)
    made.generation_config.update(do_sample=True, temperature=0.5)
    return made


@cache
def codec() -> Any:
    import torch
    from transformers import PocketTTSAudioTokenizerConfig, PocketTTSAudioTokenizerModel

    made = _spread(PocketTTSAudioTokenizerModel(PocketTTSAudioTokenizerConfig(**CODEC)), 2, 1.6)
    with torch.no_grad():
        for p in made.decoder.decoder_seanet.layers[-1].parameters():
            p.mul_(0.02)  # below full scale
    return made


@cache
def processor() -> Any:
    from transformers import PocketTTSFeatureExtractor, PocketTTSProcessor

    return PocketTTSProcessor(
        PocketTTSFeatureExtractor(frame_size=FRAME, pad_to_multiple_of=FRAME), tokenizer(), audio_tokenizer=codec(),
        chat_template=TEMPLATE,
    )  # fmt: skip


def voice(seed: int, frames: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((frames, LATENT)).astype(np.float32)


def save_pocket(folder: Path, flow: str = "lsd", voices: tuple[str, ...] = ("alba", "marius")) -> Path:
    talker(flow).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    about = processor().to_dict()
    about["audio_tokenizer"] = {"audio_tokenizer_name_or_path": "somebody/pocket-tts-audio-tokenizer"}
    (folder / "processor_config.json").write_text(json.dumps(about, default=str))
    codec().save_pretrained(folder / "audio_tokenizer")
    (folder / "voices").mkdir()
    for i, name in enumerate(voices):
        safetensors.numpy.save_file({"audio_prompt_latents": voice(i)}, folder / "voices" / f"{name}.safetensors")
    return folder
