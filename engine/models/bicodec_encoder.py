"""BiCodec from sound to tokens: what cloning a voice from a recording needs.

Semantic tokens are made of wav2vec 2.0's features, global tokens of a mel spectrogram (`engine.media.mel.bicodec_mel`).
It is to be built with an f32 backend: a rounded sum would choose another token.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from backends.base import Ops
from engine.models.bicodec_config import MEL, bicodec_config
from engine.models.ecapa_glob import FEATURES, Ecapa
from engine.models.perceiver import _PerceiverResampler
from engine.models.scalars import Scalars
from engine.models.snac import Conv, unit
from engine.models.turns import Turns
from engine.models.vocos import Backbone, EvenSampling
from engine.weights.view import View


class BiCodecEncoder:
    rate = 16000

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        c = self.config = bicodec_config(config)
        self.ops: Ops = w.backend.ops
        w.ignore(r"^(decoder|prenet)\.", r"^quantizer\.out_project\.", r"^speaker_encoder\.project\.")  # the other half
        w.ignore(r"^speaker_encoder\.quantizer\.project_out\.")
        w.ignore(r"^speaker_encoder\.speaker_encoder\.(pool|bn|linear)\.", r"\.num_batches_tracked$")  # of training
        w.ignore(r"^postnet\.", r"^mel_transformer\.", r"^quantizer\.cluster_size$")
        w.ignore(r"^speaker_encoder\.quantizer\.(layers|scales)")
        v, net = w.sub("encoder"), c.encoder
        self.backbone = Backbone(v.sub("encoder"), net.inp, net.dim, net.inner, net.layers)
        self.stages = [EvenSampling(v.sub(f"downsample.{i}"), net.dim, net.inner) for i in range(net.stages)]
        self.project = v.linear(("project", net.out), inp=net.dim, bias=True)
        self.enter = Conv(w.sub("quantizer.in_project"), net.out, c.width)
        self.book = w.embedding("quantizer.codebook", c.entries, c.width)
        v = w.sub("speaker_encoder")
        self.frames = Ecapa(v.sub("speaker_encoder"), MEL["num_mels"])
        self.gather = _PerceiverResampler(v.sub("perceiver_sampler"), FEATURES, c.latent, c.tokens)
        self.narrow = v.linear(("quantizer.project_in", len(c.levels)), inp=c.latent, bias=True)
        self.scalars = Scalars(c.levels)

    def semantic(self, features: np.ndarray) -> Generator[None, None, np.ndarray]:
        """Features `[n, D]` -> tokens `[n]`."""
        ops, turns = self.ops, Turns(self.ops)
        x = yield from self.backbone(ops.array(features[None], "f32"), turns)
        for stage in self.stages:
            x = yield from stage(x, turns)
        found = unit(ops.numpy(self.enter(self.project(x)))[0])
        book = unit(ops.numpy(self.book.rows(ops.arange(self.config.entries))))
        distance = (found**2).sum(1, keepdims=True) - 2 * found @ book.T + (book**2).sum(1)
        return np.argmin(distance, axis=1).astype(np.int32)

    def voice(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        """A spectrogram `[frames, mels]` -> global tokens."""
        turns = Turns(self.ops)
        x = yield from self.frames(self.ops.array(mel[None], "f32"), turns)
        return self.scalars.codes(self.ops.numpy(self.narrow(self.gather(x)))[0])


def bicodec_encoder(w: View, config: Mapping[str, Any]) -> BiCodecEncoder:
    return BiCodecEncoder(w, config)
