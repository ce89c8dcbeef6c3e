"""Rotary position embeddings: from a config's rope fields to inverse frequencies.

Kinds: plain, `linear`, `dynamic`, `llama3`, `yarn`, `longrope`, `proportional`, `factors` (of GGUF files), and Hunyuan's `dynamic` with a fixed
`alpha`, which is not dynamic at all. The numbers are computed in double precision and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from backends.base import Rope
from engine.errors import ConfigError
from engine.models.config import Fields, TextConfig


def text_rope(c: TextConfig, default_theta: float = 10000.0, default_partial: float = 1.0) -> Rope:
    """The rope of a text model, under either spelling."""
    f = c.fields
    rope = rope_fields(f)
    theta = rope.float("rope_theta", default=f.float("rope_theta", default=default_theta), above=1)
    partial = rope.float("partial_rotary_factor", default=f.float("partial_rotary_factor", default=default_partial))
    kind = rope.find("rope_type", "type", default="default")
    dims = c.head_dim if kind == "proportional" else int(c.head_dim * partial)
    if not 2 <= dims <= c.head_dim or dims % 2:
        raise ConfigError(
            f"{f.where}: rope would turn {dims} of {c.head_dim} dimensions, which is no even number above 0 and up to it."
        )
    if kind == "mrope":  # an older name for plain frequencies with a section
        kind = "default"
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"{rope.where}: rope type `{kind}` is not known. Known: {', '.join(sorted(KINDS))}.")
    return Rope(dims=dims, **KINDS[kind](rope, theta, dims, c.context), **_section(rope, dims))


def fields_of_kind(f: Fields, kind: str) -> Fields | None:
    """A config whose ropes are those of this kind of layers; None where one rope is for all."""
    given = f.find("rope_parameters", default=None)
    if not isinstance(given, Mapping) or kind not in given:
        return None
    return Fields({**f.values, "rope_parameters": f.sub("rope_parameters").sub(kind).values}, f.where)


def rope_fields(f: Fields) -> Fields:
    for name in ("rope_parameters", "rope_scaling"):
        if f.find(name, default=None) is not None:
            inner, trained = f.sub(name), "original_max_position_embeddings"
            outer = {trained: f.values[trained]} if f.find(trained, default=None) is not None else {}  # Phi's place
            return Fields({**inner.values, **outer}, inner.where)
    return Fields({}, f.where)


def _section(rope: Fields, dims: int) -> dict[str, Any]:
    section = rope.find("mrope_section", default=None)
    if section is None:
        return {}
    counts = isinstance(section, list) and all(type(count) is int and count >= 0 for count in section)
    if not (counts and len(section) == 3 and sum(section) == dims // 2):
        raise ConfigError(
            f"{rope.where}: mrope_section must be three counts that add up to {dims // 2}, not {section!r}."
        )
    return {"section": tuple(section), "interleaved": rope.flag("mrope_interleaved")}


def frequencies(theta: float, dims: int) -> list[float]:
    return [theta ** (-i / dims) for i in range(0, dims, 2)]


def _plain(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    return {"inv": tuple(frequencies(theta, dims))}


def _linear(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    factor = rope.float("factor", above=0)
    return {"inv": tuple(x / factor for x in frequencies(theta, dims))}


def _proportional(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    """Of the frequencies of a whole head the first ones; the others turn by nothing."""
    partial, factor = rope.float("partial_rotary_factor", default=1.0), rope.float("factor", default=1.0, above=0)
    turned = int(partial * dims // 2)
    if not 0 <= turned <= dims // 2:
        raise ConfigError(f"{rope.where}: `partial_rotary_factor` must be from 0 to 1, not {partial:g}.")
    return {"inv": tuple(x / factor if i < turned else 0.0 for i, x in enumerate(frequencies(theta, dims)))}


def _dynamic(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    alpha = rope.float("alpha", default=0.0)
    if alpha:
        return _plain(rope, _stretched(rope, theta, alpha, dims), dims, context)
    factor = rope.float("factor", above=0)
    return {"inv": tuple(frequencies(theta, dims)), "dynamic": (theta, factor, context)}


def _stretched(rope: Fields, theta: float, alpha: float, dims: int) -> float:
    """The base that `alpha` makes of another."""
    try:
        base = theta * alpha ** (dims / (dims - 2))
        if 1 < base < math.inf:
            return base
    except (ZeroDivisionError, OverflowError, TypeError):  # of complex numbers, which negative ones become
        pass
    raise ConfigError(f"{rope.where}: `alpha` {alpha:g} makes no rope of {dims} dimensions with the base {theta:g}.")


def _llama3(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    factor = rope.float("factor", above=0)
    low = rope.float("low_freq_factor", above=0)
    high = rope.float("high_freq_factor", above=low)
    original = rope.int("original_max_position_embeddings", default=context)

    def stretch(x: float) -> float:
        wavelength = 2 * math.pi / x
        if wavelength < original / high:
            return x
        if wavelength > original / low:
            return x / factor
        smooth = (original / wavelength - low) / (high - low)
        return (1 - smooth) * x / factor + smooth * x

    return {"inv": tuple(stretch(x) for x in frequencies(theta, dims))}


def _yarn(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    original = rope.int("original_max_position_embeddings", default=context)
    factor = rope.float("factor", default=context / original, above=0)
    fast, slow = rope.float("beta_fast", default=32.0, above=0), rope.float("beta_slow", default=1.0, above=0)

    def dimension_of(turns: float) -> float:
        return dims * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))

    first, last = dimension_of(fast), dimension_of(slow)
    if rope.flag("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, dims - 1)
    span = (last - first) or 0.001

    def blend(i: int, x: float) -> float:
        ramp = min(max((i - first) / span, 0.0), 1.0)
        return x / factor * ramp + x * (1 - ramp)

    inv = tuple(blend(i, x) for i, x in enumerate(frequencies(theta, dims)))
    return {"inv": inv, "scale": _yarn_scale(rope, factor)}


def _yarn_scale(rope: Fields, factor: float) -> float:
    given = rope.float("attention_factor", default=0.0)
    if given:
        return given

    def scale(m: float) -> float:
        return 0.1 * m * math.log(factor) + 1.0 if factor > 1 else 1.0

    m, m_all = rope.float("mscale", default=0.0), rope.float("mscale_all_dim", default=0.0)
    return scale(m) / scale(m_all) if m and m_all else scale(1.0)


def _factors(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    """GGUF files say what was made of the frequencies, not how."""
    return {"inv": _divided(rope, "factors", theta, dims)}


def _longrope(rope: Fields, theta: float, dims: int, context: int) -> dict[str, Any]:
    """Two sets of factors: texts up to the trained length have one, longer ones the other from their first token on."""
    trained = rope.int("original_max_position_embeddings", default=context)
    factor = rope.float("factor", default=context / trained, above=0)
    usual = math.sqrt(1 + math.log(factor) / math.log(trained)) if factor > 1 < trained else 1.0
    made = {
        "inv": _divided(rope, "short_factor", theta, dims),
        "scale": rope.float("attention_factor", default=usual, above=0),
    }
    return made | ({"long": (trained, _divided(rope, "long_factor", theta, dims))} if context > trained else {})


def _divided(rope: Fields, name: str, theta: float, dims: int) -> tuple[float, ...]:
    factors = rope.find(name)
    if (
        not isinstance(factors, list)
        or len(factors) != dims // 2
        or not all(isinstance(factor, int | float) and 0 < factor < math.inf for factor in factors)
    ):
        raise ConfigError(
            f"{rope.where}: rope needs {dims // 2} factors in `{name}`, each above 0, one for each pair of dimensions."
        )
    return tuple(x / factor for x, factor in zip(frequencies(theta, dims), factors))


KINDS: dict[str, Callable[[Fields, float, int, int], dict[str, Any]]] = {
    "default": _plain,
    "linear": _linear,
    "proportional": _proportional,
    "dynamic": _dynamic,
    "llama3": _llama3,
    "yarn": _yarn,
    "factors": _factors,
    "longrope": _longrope,
    "su": _longrope,
}
