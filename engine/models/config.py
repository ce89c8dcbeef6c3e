"""Reading config.json: one set of names for what published repositories spell in several ways.

Older files have `rope_theta` and `rope_scaling`, newer ones `rope_parameters`; mixtures say `num_experts` or
`num_local_experts`; a vision checkpoint nests its text model in `text_config`. Everything wrong is a ConfigError that
names the field.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import ConfigError
from engine.models.config_defaults import completed

_MISSING = object()

# Far beyond every published model. What a config names is made before any tensor is looked at (a rope's table, a list
# of layers), so that a file which means harm must be stopped here.
LARGEST = 1 << 31  # any count or size
MOST_LAYERS = 1 << 10
LARGEST_HEAD = 1 << 16

CONTEXT = "max_position_embeddings", "max_sequence_length", "max_target_positions"  # what configs call the longest text
_NESTED = ("text_config", "talker_config", "language_config")  # of others; Qwen3-TTS; DeepSeek-OCR
TEXT_MODEL_TYPE = "text_model_type"  # in a flat config of a model that sees: which text model it has


class Fields:
    """Typed access to a JSON object."""

    def __init__(self, values: Mapping[str, Any], where: str = "config.json") -> None:
        self.values = values
        self.where = where

    def find(self, *names: str, default: Any = _MISSING) -> Any:
        """The first of `names` that is there and not null."""
        for name in names:
            if self.values.get(name) is not None:
                return self.values[name]
        if default is _MISSING:
            raise ConfigError(f"{self.where} lacks `{names[0]}`.")
        return default

    def int(self, *names: str, default: Any = _MISSING, least: int = 1, most: int = LARGEST) -> int:
        value = self.find(*names, default=default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ConfigError(
                f"{self.where}: `{names[0]}` must be a whole number from {least} to {most:,}, not {_short(value)}."
            )
        return value

    def float(self, *names: str, default: Any = _MISSING, above: float | None = None) -> float:
        """A finite number; `above`: greater than this."""
        value = self.find(*names, default=default)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not abs(value) <= sys.float_info.max
            or (above is not None and value <= above)
        ):
            bound = "" if above is None else f" above {above:g}"
            raise ConfigError(f"{self.where}: `{names[0]}` must be a number{bound}, not {_short(value)}.")
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.find(name, default=default)
        if not isinstance(value, bool):
            raise ConfigError(f"{self.where}: `{name}` must be true or false, not {value!r}.")
        return value

    def sub(self, name: str) -> Fields:
        value = self.find(name)
        if not isinstance(value, Mapping):
            raise ConfigError(f"{self.where}: `{name}` must be an object.")
        return Fields(value, f"{self.where} ({name})")


def named_architectures(config: Mapping[str, Any]) -> str:
    """The classes that config.json names, for an error: " (`architectures`: LlamaForCausalLM)"; empty where it names none."""
    given = config.get("architectures")
    classes = [str(name)[:80] for name in given[:5]] if isinstance(given, list) else []
    return f" (`architectures`: {', '.join(classes)})" if classes else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass(frozen=True)
class TextConfig:
    """What every decoder needs to know. What only one family has is read from `fields` by that family's file."""

    fields: Fields
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    eps: float
    context: int
    tied: bool


def text_fields(config: Mapping[str, Any]) -> Fields:
    """The token model's own object: `text_config`, or as `_NESTED` says, where a checkpoint nests it (also inside a
    `thinker_config`), else the whole config."""
    if isinstance(config.get("thinker_config"), Mapping):
        config = {**config, **config["thinker_config"]}
    name = next((n for n in _NESTED if isinstance(config.get(n), Mapping)), None)
    outer = {k: config[k] for k in ("tie_word_embeddings", "quantization") if k in config} if name else {}
    given = completed({**outer, **(config[name] if name else config)})
    return Fields(given, f"config.json ({name})" if name else "config.json")


def text_config(config: Mapping[str, Any], activations: Sequence[str] = ("silu", "swish")) -> TextConfig:
    f = text_fields(config)
    hidden, heads = f.int("hidden_size"), f.int("num_attention_heads")
    kv_heads = f.int("num_key_value_heads", default=heads)
    if heads % kv_heads:
        raise ConfigError(
            f"{f.where}: num_attention_heads ({heads}) is not a multiple of num_key_value_heads ({kv_heads})."
        )
    activation = f.find("hidden_act", "hidden_activation", default=activations[0])
    if activation not in activations:
        raise ConfigError(
            f"{f.where}: hidden_act `{activation}` is not one that this architecture is known with ({activations[0]})."
        )
    return TextConfig(
        fields=f,
        hidden=hidden,
        layers=f.int("num_hidden_layers", most=MOST_LAYERS),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=f.int("head_dim", "attention_head_dim", default=hidden // heads, most=LARGEST_HEAD),
        ffn=f.int("intermediate_size", "block_ff_dim", "moe_intermediate_size"),  # a mixture may have no other
        vocab=f.int("vocab_size"),
        eps=f.float("rms_norm_eps", "norm_eps", "layer_norm_epsilon", default=1e-6),
        context=f.int("max_position_embeddings", default=2048),
        tied=f.flag("tie_word_embeddings"),
    )
