"""Chatterbox's T3: a Llama that writes speech tokens, 25 a second, from text, a speaker and an exaggeration.

It writes with classifier-free guidance: beside the prompt runs a second one without the text, and logits move away from that one's. Both
are one sequence here, whose inputs are two embeddings side by side and the guidance's weight, and which has two sets of keys and values.
So guided sequences are batched, preempted and resumed as any others. Positions of speech are learned: the request's track brings them,
and the weight, to each written token.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Step
from engine.errors import BadRequest, ConfigError
from engine.models.config import text_config
from engine.models.decoder import Attention, Layers, Mlp, Traits
from engine.models.rope import text_rope
from engine.weights.view import View

START_TEXT, STOP_TEXT = 255, 0
START_SPEECH, STOP_SPEECH = 6561, 6562  # codes come before them
CONTEXT = 4096  # of a prompt and its speech
_HEAD = 64  # numbers of an attention head, which no file says
_PERCEIVER_HEADS = 4
_EPS = 1e-5
# the scaled rope of Llama 3, and the norms' constant
_LLAMA: dict[str, Any] = dict(
    rms_norm_eps=1e-5,
    rope_theta=500000.0,
    rope_scaling=dict(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192
    ),
    max_position_embeddings=131072,
)


class _Perceiver:
    """Speech of any length as 32 vectors: queries attend to it, then to one another, by the same weights."""

    def __init__(self, w: View, hidden: int) -> None:
        self.ops, self.hidden = w.backend.ops, hidden
        count = (w.shape("pre_attention_query") or (1, 32))[1]
        self.queries = w.tensor("pre_attention_query", (1, count, hidden))
        own = w.sub("attn")
        self.gain, self.shift = own.tensor("norm.weight", (hidden,)), own.tensor("norm.bias", (hidden,))
        self.q, self.k, self.v, self.out = (
            own.linear((name, hidden), inp=hidden, bias=True) for name in ("to_q", "to_k", "to_v", "proj_out")
        )

    def __call__(self, speech: Array) -> Array:
        """`[n, D]` -> `[32, D]`"""
        queries = self.queries[0]
        for heard in (speech, None):
            queries = self._attend(queries, queries if heard is None else heard)
        return queries

    def _attend(self, queries: Array, heard: Array) -> Array:
        ops, dim = self.ops, self.hidden // _PERCEIVER_HEADS
        normed, other = (ops.layer_norm(x, self.gain, self.shift, _EPS) for x in (queries, heard))
        q, k, v = (
            linear(x).reshape(1, x.shape[0], _PERCEIVER_HEADS, dim)
            for linear, x in ((self.q, normed), (self.k, other), (self.v, other))
        )
        return queries + self.out(ops.sdpa(q, k, v, dim**-0.5).reshape(queries.shape[0], self.hidden))


class _Condition:
    """A speaker, a stretch of the speaker's speech, and an exaggeration as the first rows of a prompt."""

    def __init__(self, w: View, hidden: int) -> None:
        self.ops = w.backend.ops
        self.size = (w.shape("spkr_enc.weight") or (0, 256))[1]
        self.speaker = w.linear(("spkr_enc", hidden), inp=self.size, bias=True)
        self.exaggeration = w.linear(("emotion_adv_fc", hidden), inp=1)
        self.perceiver = _Perceiver(w.sub("perceiver"), hidden)

    def __call__(self, speaker: np.ndarray, speech: Array, exaggeration: float) -> Array:
        given = self.ops.array(np.array([[exaggeration]], np.float32))
        rows = [self.speaker(self.ops.array(speaker[None])), self.perceiver(speech), self.exaggeration(given)]
        return self.ops.cat(rows, 0)


class ChatterboxT3(Layers):
    """See `backends.base.TokenModel`."""

    writes_text = False

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        w.ignore(r"^(ve|s3gen|gen|conds)\.", r"^t3\.text_head\.", r"^t3\.tfmr\.(embed_tokens|lm_head)\.")
        w = w.sub("t3")
        self.words, self.hidden = w.shape("text_emb.weight") or (704, 1024)
        self.vocab = (w.shape("speech_emb.weight") or (8194,))[0]
        if self.hidden % _HEAD or self.vocab <= STOP_SPEECH:
            raise ConfigError(f"{config.get('model_type')}: these are not the sizes of Chatterbox's T3.")
        inner, heads = w.sub("tfmr"), self.hidden // _HEAD
        count = sum(inner.has(f"layers.{i}.input_layernorm.weight") for i in range(200))
        ffn = (inner.shape("layers.0.mlp.up_proj.weight") or (4 * self.hidden,))[0]
        sizes = dict(
            hidden_size=self.hidden,
            num_hidden_layers=max(1, count),
            num_attention_heads=heads,
            head_dim=_HEAD,
            intermediate_size=ffn,
            vocab_size=self.vocab,
        )
        c = text_config(_LLAMA | sizes)
        traits, self.rope = Traits(), text_rope(c)
        super().__init__(
            inner,
            c,
            self.rope,
            mixer=lambda v, i: Attention(v.sub("self_attn"), c, i, traits),
            mlp=lambda v, i: Mlp(v.sub("mlp"), c.hidden, c.ffn),
        )
        self.memory = [*self.memory, *self.memory]
        self.eos_ids = (STOP_SPEECH,)
        self.text_embedding = w.embedding("text_emb", self.words, self.hidden)
        self.speech_embedding = w.embedding("speech_emb", self.vocab, self.hidden)
        self.text_places, self.speech_places = (
            w.tensor(f"{name}.emb.weight", (self._rows(w, name), self.hidden))
            for name in ("text_pos_emb", "speech_pos_emb")
        )
        self.head = w.linear(("speech_head", self.vocab), inp=self.hidden)
        self.condition = _Condition(w.sub("cond_enc"), self.hidden)

    @staticmethod
    def _rows(w: View, name: str) -> int:
        return (w.shape(f"{name}.emb.weight") or (1, 0))[0]

    @property
    def longest_text(self) -> int:
        """Tokens, with those at its ends."""
        return int(self.text_places.shape[0])

    def embed(self, ids: Array) -> Array:
        rows = self.speech_embedding.rows(ids)
        return self.ops.cat([rows, rows, rows[:, :1] * 0.0], 1)

    def __call__(self, step: Step, added: Sequence[Array] = ()) -> Array:
        """`[T, 2 D + 1]`: what both prompts give, and the weight. Each matrix is used for both while it is at hand."""
        ops, eps, dim, count = self.ops, self.eps, self.hidden, len(self.layers)
        angles = ops.angles(step.pos, self.rope)
        totals = [step.x[:, :dim], step.x[:, dim : 2 * dim]]
        xs = [ops.rms_norm(total, self.layers[0].input_norm, eps) for total in totals]
        following = [layer.input_norm for layer in self.layers[1:]] + [self.norm]
        for i, (layer, next_norm) in enumerate(zip(self.layers, following)):
            mixer: Any = layer.mixer
            turned = [ops.qkv(mixer.qkv(x), mixer.heads, mixer.kv_heads, mixer.dim, angles) for x in xs]
            heard = [step.cache.attend(i + side * count, *qkv, mixer.scale) for side, qkv in enumerate(turned)]
            mixed = [mixer.out(each.reshape(each.shape[0], mixer.heads * mixer.dim)) for each in heard]
            both = [ops.add_rms_norm(new, total, layer.post_norm, eps) for new, total in zip(mixed, totals)]
            wide = [layer.mlp.gate_up(x) for _, x in both]  # type: ignore[union-attr]
            outs = [layer.mlp.down(layer.mlp.gated(x)) for x in wide]  # type: ignore[union-attr]
            both = [ops.add_rms_norm(out, total, next_norm, eps) for out, (total, _) in zip(outs, both)]
            totals, xs = [total for total, _ in both], [x for _, x in both]
        return ops.cat([*xs, step.x[:, 2 * dim :]], 1)

    def logits(self, hidden: Array) -> Array:
        dim = self.hidden
        with_text, without = self.head(hidden[:, :dim]), self.head(hidden[:, dim : 2 * dim])
        return with_text + (with_text - without) * hidden[:, 2 * dim :]

    def prompt(
        self,
        text: Sequence[int],
        speaker: np.ndarray,
        speech: np.ndarray,
        exaggeration: float,
        guidance: float,
        most: int,
    ) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
        """The prompt's rows `[n, 2 D + 1]`, and what is added to each of at most `most` written tokens. `text`: without the tokens at
        its ends; `speech`: what the speaker has said, as tokens."""
        ops, dim = self.ops, self.hidden
        ids = [START_TEXT, *text, STOP_TEXT]
        if len(ids) > self.longest_text or max(ids) >= self.words:
            raise BadRequest(f"The text has {len(ids)} tokens; {self.longest_text} are spoken at once.", "input")
        heard = self._with_places(self.speech_embedding, self.speech_places, speech)
        condition = ops.numpy(self.condition(speaker, heard, exaggeration))
        yield
        places = ops.numpy(self.text_places[: len(ids)])
        words = ops.numpy(self.text_embedding.rows(ops.array(np.array(ids, np.int32)))) + places
        start = ops.numpy(self._with_places(self.speech_embedding, self.speech_places, np.array([START_SPEECH])))
        # the authors' program puts the first speech token in twice, at the same place
        both = [np.concatenate((condition, rows, start, start)) for rows in (words, places)]
        weight = np.full((len(both[0]), 1), guidance, np.float32)
        count = min(most, int(self.speech_places.shape[0]) - 1)
        after = ops.numpy(self.speech_places[1 : count + 1])
        track = np.concatenate((after, after, np.full((count, 1), guidance, np.float32)), 1)
        made = np.concatenate((*both, weight), 1)
        assert made.shape[1] == 2 * dim + 1
        return made.astype(np.float32), track.astype(np.float32)

    def _with_places(self, embedding: Any, places: Array, tokens: np.ndarray) -> Array:
        rows = embedding.rows(self.ops.array(tokens.astype(np.int32)))
        return rows + places[: len(tokens)]


def chatterbox(w: View, config: Mapping[str, Any]) -> ChatterboxT3:
    return ChatterboxT3(w, config)
