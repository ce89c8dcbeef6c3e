"""Command R7B and Command A: attention and MLP side by side behind one layer norm; layers without a window have no positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backends.base import Array, Step
from engine.models.config import text_config
from engine.models.decoder import Decoder, NormNames, Traits, standard_decoder
from engine.models.rope import text_rope
from engine.models.windows import layer_windows, sliding_layers
from engine.weights.view import View


class SideBySide(Decoder):
    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        ops, eps, x = self.ops, self.eps, step.x
        angles = self.angles(step)
        for i, layer in enumerate(self.layers):
            normed = ops.layer_norm(x, layer.input_norm, None, eps)
            assert layer.mlp is not None
            x = x + layer.mixer(normed, step, angles[self.rope_of[i]]) + layer.mlp(normed)
        return ops.layer_norm(x, self.norm, None, eps)


def cohere2(w: View, config: Mapping[str, Any]) -> Decoder:
    c = text_config(config)
    f = c.fields
    c = replace(c, eps=f.float("layer_norm_eps", default=1e-5), tied=f.flag("tie_word_embeddings", True))
    bias = f.flag("attention_bias")
    traits = Traits(qkv_bias=bias, out_bias=bias, windows=layer_windows(c, pattern=4))
    rope = replace(text_rope(c), pairs=True)
    ropes = [rope if sliding else None for sliding in sliding_layers(c, pattern=4)]
    decoder = standard_decoder(w, c, ropes, traits, norms=NormNames(mlp=None), kind=SideBySide)
    decoder.logit_scale = f.float("logit_scale", default=0.0625)
    return decoder
