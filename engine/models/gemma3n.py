"""Gemma 3n's text model: several hidden states a token, of which a layer computes one and corrects the others by it (AltUp).

Beside attention each layer has a low-rank path (Laurel), some MLPs cut their gates to the largest few percent, and each layer gets a
vector of every token; the last layers read the keys and values of earlier ones. Image and sound encoders are not built: it reads text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

from backends.base import Array, Step
from engine.errors import ConfigError
from engine.models.config import MOST_LAYERS, Fields, TextConfig, text_config, text_fields
from engine.models.decoder import Decoder, nested_names
from engine.models.gemma3 import NORMS, gemma_ropes
from engine.models.gemma4 import PerLayerGate, PerLayerInputs, SharingAttention, shared_sources
from engine.models.gemma4_vision import ignore_towers
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View

LEAST_SQUARE = 1e-5  # of a hidden state, where another is brought to its size
MOST_STATES = 64


class SparseMlp:
    """An MLP whose gates below a quantile are zero, as if they were normally distributed."""

    def __init__(self, w: View, hidden: int, ffn: int, share: float) -> None:
        self.ops, self.dtype, self.ffn = w.backend.ops, w.backend.dtype, ffn
        self.deviations = NormalDist().inv_cdf(share) if share else None
        own = w.width(ffn, "down_proj", hidden)
        self.own = own.size
        self.gate_up = w.linear(("gate_proj", ffn), ("up_proj", ffn), inp=hidden, rows=[own, own])
        self.down = w.linear(("down_proj", hidden), inp=ffn, columns=own)

    def __call__(self, x: Array) -> Array:
        ops, made = self.ops, self.gate_up(x)
        if self.deviations is None:
            return self.down(ops.geglu(made))
        gate, up = ops.split(made, [self.own, self.own], 1)
        wide = ops.cast(gate, "f32")
        off = wide - self._mean(wide)
        deviation = ops.sqrt(self._mean(off * off))
        kept = ops.relu(off - deviation * self.deviations)
        return self.down(ops.cast(ops.gelu_tanh(kept) * ops.cast(up, "f32"), self.dtype))

    def _mean(self, x: Array) -> Array:
        """Of each token's numbers on all ranks."""
        return (self.ops.all_reduce(self.ops.sum(x, 1)) / self.ffn).reshape(x.shape[0], 1)


class AltUp:
    """Predicts all hidden states `[T, N, D]` of a layer's output from those of its input, and corrects them by the one that the layer
    computes."""

    def __init__(self, w: View, c: TextConfig, count: int, active: int) -> None:
        self.ops, self.dtype, self.eps, self.hidden = w.backend.ops, w.backend.dtype, c.eps, c.hidden
        self.count, self.active = count, active
        self.router_norm = w.norm("router_norm", c.hidden)
        self.router = w.linear(("modality_router", count), inp=c.hidden)
        self.prediction = w.linear(("prediction_coefs", count * count), inp=count)
        self.correction = w.linear(("correction_coefs", count), inp=count)
        self.scale = w.tensor("correct_output_scale", (c.hidden,))

    def _modalities(self, x: Array) -> Array:
        routed = self.router(self.ops.rms_norm(x, self.router_norm, self.eps) * (1 / self.hidden))
        return self.ops.cast(self.ops.tanh(self.ops.cast(routed, "f32")), self.dtype)

    def predict(self, states: Array) -> Array:
        n, count = states.shape[0], self.count
        shares = self.prediction(self._modalities(states[:, self.active])).reshape(n, count, count, 1)
        predicted = states
        for i in range(count):
            predicted = predicted + shares[:, :, i] * states[:, i].reshape(n, 1, self.hidden)
        return predicted

    def correct(self, predicted: Array, computed: Array) -> Array:
        n = computed.shape[0]
        shares = self.correction(self._modalities(computed)).reshape(n, self.count, 1) + 1
        return predicted + shares * (computed - predicted[:, self.active]).reshape(n, 1, self.hidden)


class Laurel:
    """A low-rank path around a layer's attention."""

    def __init__(self, w: View, c: TextConfig) -> None:
        rank = c.fields.int("laurel_rank", default=64)
        self.ops, self.eps = w.backend.ops, c.eps
        self.left = w.linear(("linear_left", rank), inp=c.hidden)
        self.right = w.linear(("linear_right", c.hidden), inp=rank)
        self.norm = w.norm("post_laurel_norm", c.hidden)

    def __call__(self, x: Array) -> Array:
        return x + self.ops.rms_norm(self.right(self.left(x)), self.norm, self.eps)


class Gemma3nDecoder(Decoder):
    def __init__(self, w: View, c: TextConfig, ffn: Sequence[int], cut: Sequence[float]) -> None:
        f = c.fields
        sliding, windows = sliding_layers(c, pattern=5), layer_windows(c, pattern=5)
        sources, width = shared_sources(c, sliding), f.int("hidden_size_per_layer_input", default=256)
        self.count = f.int("altup_num_inputs", default=4, most=MOST_STATES)
        self.active = f.int("altup_active_idx", default=0, least=0, most=self.count - 1)
        self.scales = f.flag("altup_correct_scale", True)
        self.mlps: list[SparseMlp] = []
        self.altups: list[AltUp] = []
        self.laurels: list[Laurel] = []
        self.gates: list[PerLayerGate] = []

        def mixer(v: View, i: int) -> SharingAttention:
            return SharingAttention(
                v.sub("self_attn"), c, i, c.head_dim, c.kv_heads, windows[i], sources[i], values=True
            )

        def mlp(v: View, i: int) -> SparseMlp:
            self.altups.append(AltUp(v.sub("altup"), c, self.count, self.active))
            self.laurels.append(Laurel(v.sub("laurel"), c))
            self.gates.append(PerLayerGate(v, c, width))
            self.mlps.append(SparseMlp(v.sub("mlp"), c.hidden, ffn[i], cut[i]))
            return self.mlps[i]

        body, head = nested_names(w)
        full, local = gemma_ropes(c)
        ropes = [local if kind else full for kind in sliding]
        super().__init__(w, c, ropes, mixer, mlp, body=body, head=head, norms=NORMS, embed_scale=c.hidden**0.5)
        inner = w if w.has("embed_tokens.weight") else w.sub(body)
        self.inputs, self.dtype = PerLayerInputs(inner, c, width), w.backend.dtype
        names = [[f"altup_{kind}projections.{i}" for i in range(self.count - 1)] for kind in ("", "unembed_")]
        self.apart = [inner.linear((name, c.hidden), inp=c.hidden) for name in names[0]]
        self.together = [inner.linear((name, c.hidden), inp=c.hidden) for name in names[1]]
        self.softcap = f.float("final_logit_softcapping", default=30.0)

    def embed(self, ids: Array) -> Array:
        return self.inputs.behind(super().embed(ids), ids)

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        ops, eps = self.ops, self.eps
        angles = self.angles(step)
        first, given = self.inputs.split(step.x)
        others = self._sized([linear(first) for linear in self.apart], first)
        states = ops.stack([first, *others], 1)
        for i, layer in enumerate(self.layers):
            predicted = self.altups[i].predict(states)
            x = predicted[:, self.active]
            normed = ops.rms_norm(x, layer.input_norm, eps)
            mixed = ops.rms_norm(layer.mixer(normed, step, angles[self.rope_of[i]]), layer.mixed_norm, eps)
            x = (x + mixed + self.laurels[i](normed)) * 2**-0.5
            x = x + ops.rms_norm(self.mlps[i](ops.rms_norm(x, layer.post_norm, eps)), layer.out_norm, eps)
            states = self.altups[i].correct(predicted, x)
            x = states[:, self.active]
            extra = self.gates[i](x * self.altups[i].scale if self.scales else x, given[i])
            rest = states[:, 1:] + extra.reshape(extra.shape[0], 1, extra.shape[1])
            states = ops.cat([states[:, :1], rest], 1)
        made = [linear(states[:, i + 1]) for i, linear in enumerate(self.together)]
        mean = states[:, 0]
        for other in self._sized(made, mean):
            mean = mean + other
        return ops.rms_norm(mean * (1 / self.count), self.norm, eps)

    def _sized(self, others: Sequence[Array], first: Array) -> list[Array]:
        """The others, each token's brought to the size that it has in the first."""
        wanted = self._size(first, 0.0)
        return [self.ops.cast(other * (wanted / self._size(other, LEAST_SQUARE)), self.dtype) for other in others]

    def _size(self, x: Array, least: float) -> Array:
        wide = self.ops.cast(x, "f32")
        square = (self.ops.sum(wide * wide, 1) / x.shape[1]).reshape(x.shape[0], 1)
        return self.ops.sqrt(self.ops.clamp(square, least, None))


def by_layer(f: Fields) -> tuple[list[int], list[float]]:
    """The width of each layer's MLP, and the share of its gates that are cut."""
    layers, ffn = f.int("num_hidden_layers", most=MOST_LAYERS), f.find("intermediate_size")
    sizes = ffn if isinstance(ffn, list) else [ffn] * layers
    given = f.find("activation_sparsity_pattern", default=None)
    if given is None:
        given = [0.95 if i < 10 < layers else 0.0 for i in range(layers)]
    cut = given if isinstance(given, list) else [given] * layers
    right = len(sizes) == len(cut) == layers and all(type(size) is int and size > 0 for size in sizes)
    if not right or not all(isinstance(share, int | float) and 0 <= share < 1 for share in cut):
        raise ConfigError(
            f"{f.where}: intermediate_size and activation_sparsity_pattern must have a number for each layer, these below 1."
        )
    return sizes, cut


def gemma3n(w: View, config: Mapping[str, Any]) -> Decoder:
    f = text_fields(config)
    sizes, cut = by_layer(f)
    c = text_config({**f.values, "intermediate_size": sizes[0]}, activations=("gelu_pytorch_tanh",))
    ignore_towers(w)
    return Gemma3nDecoder(w, c, sizes, cut)
