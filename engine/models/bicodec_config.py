"""`BiCodec/config.yaml`: the codec of Spark-TTS, what its two halves are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import ConfigError
from engine.models.config import Fields

MEL = {"sample_rate": 16000, "n_fft": 1024, "win_length": 640, "hop_length": 320, "mel_fmin": 10, "num_mels": 128}


@dataclass(frozen=True)
class VocosConfig:
    """A stack of Vocos backbones between two layers."""

    inp: int
    dim: int
    inner: int
    layers: int
    out: int
    stages: int  # backbones beside the main one
    condition: int | None


@dataclass(frozen=True)
class BiCodecConfig:
    features: int  # width of what the semantic half hears
    encoder: VocosConfig
    prenet: VocosConfig
    entries: int  # of the semantic codebook
    width: int  # of its entries
    latent: int  # of a voice token before quantization
    tokens: int  # that make a voice
    levels: tuple[int, ...]  # of each number that a voice token is made of
    dim: int  # of a voice's vector, and of what sound is made from
    channels: int
    rates: tuple[int, ...]
    kernels: tuple[int, ...]


def bicodec_config(config: Mapping[str, Any]) -> BiCodecConfig:
    f = Fields(config, "BiCodec/config.yaml").sub("audio_tokenizer")
    mel, vq, voice, wave = (f.sub(name) for name in ("mel_params", "quantizer", "speaker_encoder", "decoder"))
    for name, value in MEL.items():
        if mel.find(name) != value:
            raise ConfigError(f"{mel.where}: {name} must be {value}, not {mel.find(name)!r}.")
    if voice.int("fsq_num_quantizers", default=1) != 1:
        raise ConfigError(f"{voice.where}: fsq_num_quantizers must be 1.")
    prenet = f.sub("prenet")
    if prenet.flag("use_tanh_at_final"):
        raise ConfigError(f"{prenet.where}: use_tanh_at_final must be false.")
    rates, kernels = _numbers(wave, "rates"), _numbers(wave, "kernel_sizes")
    if len(rates) != len(kernels) or any(k < r or (k - r) % 2 for k, r in zip(kernels, rates)):
        raise ConfigError(f"{wave.where}: kernel_sizes do not fit the rates.")
    made = BiCodecConfig(
        features=f.sub("encoder").int("input_channels"),
        encoder=_net(f.sub("encoder"), None),
        prenet=_net(prenet, prenet.int("condition_dim")),
        entries=vq.int("codebook_size"),
        width=vq.int("codebook_dim"),
        latent=voice.int("latent_dim"),
        tokens=voice.int("token_num"),
        levels=_numbers(voice, "fsq_levels"),
        dim=voice.int("out_dim"),
        channels=wave.int("channels"),
        rates=rates,
        kernels=kernels,
    )
    widths = {made.encoder.out, made.prenet.inp, vq.int("input_dim")}
    if len(widths) > 1 or {made.prenet.out, made.prenet.condition, wave.int("input_channel")} != {made.dim}:
        raise ConfigError(f"{f.where}: the widths of its parts do not fit together.")
    return made


def _net(f: Fields, condition: int | None) -> VocosConfig:
    ratios = _numbers(f, "sample_ratios", [1, 1])
    if set(ratios) != {1}:
        raise ConfigError(f"{f.where}: sample_ratios must be ones, not {list(ratios)}.")
    return VocosConfig(
        inp=f.int("input_channels"),
        dim=f.int("vocos_dim"),
        inner=f.int("vocos_intermediate_dim"),
        layers=f.int("vocos_num_layers"),
        out=f.int("out_channels"),
        stages=len(ratios),
        condition=condition,
    )


def _numbers(f: Fields, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
    value = f.find(name) if default is None else f.find(name, default=default)
    if not isinstance(value, list) or not value or not all(type(n) is int and n > 0 for n in value):
        raise ConfigError(f"{f.where}: {name} must be a list of whole numbers, not {value!r}.")
    return tuple(value)
