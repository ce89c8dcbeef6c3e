"""Record what mlx-audio 0.6.2 makes of the tiny checkpoint of `tests/chatterbox_checkpoints.py`, as `cases.npz` beside this file.

Run it from the repository's root with mlx-audio unpacked on PYTHONPATH: `PYTHONPATH=.:UNPACKED python tests/data/chatterbox/record.py`.
In four places mlx-audio 0.6.2 differs from the program of Chatterbox's authors, with which the published weights were trained; there
the authors' rule is put in its place: the spread that is pooled, the mean of a last stretch that is not whole (both of CAM++), the
slope before the vocoder's last convolution, and the front ends, which are given features.
"""

from __future__ import annotations

import json
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.utils import tree_flatten
from mlx_audio.codec.models.s3 import model_v2
from mlx_audio.tts.models.chatterbox import config as chatterbox_config
from mlx_audio.tts.models.chatterbox.s3gen import hifigan, s3gen, xvector
from mlx_audio.tts.models.chatterbox.s3gen.decoder import ConditionalDecoder
from mlx_audio.tts.models.chatterbox.s3gen.f0_predictor import ConvRNNF0Predictor
from mlx_audio.tts.models.chatterbox.s3gen.flow import CausalMaskedDiffWithXvec
from mlx_audio.tts.models.chatterbox.s3gen.flow_matching import CFM_PARAMS, CausalConditionalCFM
from mlx_audio.tts.models.chatterbox.s3gen.transformer.upsample_encoder import UpsampleConformerEncoder
from mlx_audio.tts.models.chatterbox.t3 import perceiver
from mlx_audio.tts.models.chatterbox.t3.cond_enc import T3Cond
from mlx_audio.tts.models.chatterbox.t3.t3 import T3
from mlx_audio.tts.models.chatterbox.voice_encoder import VoiceEncConfig, VoiceEncoder
from tokenizers import Tokenizer

from engine.media.mel import kaldi_features, voice_mel, whisper_mel
from tests.chatterbox_checkpoints import (
    DATA,
    EXPRESSIONS,
    GREEDY,
    NOISE,
    PUBLISHED,
    SOURCE,
    SPEECH,
    TEXTS,
    TINY,
    Sizes,
    mlx_layout,
    mlx_tokenizer,
    shapes,
    sound,
    tensors,
    tokenizer_json,
    voice_arrays,
)


def as_the_authors_have_it() -> None:
    def pooled(x: mx.array, axis: int = -1, keepdim: bool = False) -> mx.array:
        return mx.concatenate([mx.mean(x, axis=axis), mx.sqrt(mx.var(x, axis=axis, ddof=1))], axis=-1)

    def stretches(self: Any, x: mx.array, seg_len: int = 100, stype: str = "avg") -> mx.array:
        parts = [x[:, :, at : at + seg_len] for at in range(0, x.shape[2], seg_len)]
        return mx.concatenate([mx.broadcast_to(mx.mean(p, axis=2, keepdims=True), p.shape) for p in parts], axis=2)

    xvector.statistics_pooling, xvector.CAMLayer.seg_pooling = pooled, stretches
    slopes = iter([0.1, 0.1, 0.1, 0.01] * 100)
    plain = nn.leaky_relu

    class Activations:
        def __getattr__(self, name: str) -> Any:
            return getattr(nn, name)

        @staticmethod
        def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
            return plain(x, negative_slope=next(slopes))

    hifigan.nn = Activations()


def t3(s: Sizes) -> T3:
    chatterbox_config.LLAMA_520M_CONFIG.update(
        hidden_size=s.hidden, num_hidden_layers=s.layers, intermediate_size=s.ffn, vocab_size=s.own_words,
        num_attention_heads=s.hidden // 64, num_key_value_heads=s.hidden // 64,
    )  # fmt: skip
    perceiver.Perceiver.__init__.__defaults__ = (32, s.hidden, s.hidden, 4)
    return T3(
        chatterbox_config.T3Config(
            text_tokens_dict_size=s.words, max_text_tokens=s.text_places - 2, max_speech_tokens=s.speech_places - 4,
            speaker_embed_size=s.speaker,
        )
    )  # fmt: skip


class Decoder(s3gen.S3Token2Wav):
    """S3Gen of other sizes."""

    def __init__(self, s: Sizes) -> None:
        nn.Module.__init__(self)
        self.speaker_encoder = xvector.CAMPPlus(
            embedding_size=s.vector, growth_rate=s.grown, bn_size=s.narrow // s.grown, init_channels=s.first
        )
        if s.head != 32:
            self.speaker_encoder.head = xvector.FCM(m_channels=s.head)
            self.speaker_encoder.tdnn = xvector.TDNNLayer(10 * s.head, s.first, 5, stride=2, padding=-1)
        encoder = UpsampleConformerEncoder(
            input_size=s.dim, output_size=s.dim, attention_heads=s.heads, linear_units=s.units, num_blocks=s.blocks[0],
            num_up_blocks=s.blocks[1],
        )  # fmt: skip
        estimator = ConditionalDecoder(
            channels=[s.estimator], n_blocks=s.transformers, num_mid_blocks=s.middle, num_heads=s.inner // 64
        )
        decoder = CausalConditionalCFM(spk_emb_dim=80, cfm_params=CFM_PARAMS, estimator=estimator)
        self.flow = CausalMaskedDiffWithXvec(encoder=encoder, decoder=decoder, input_size=s.dim, spk_embed_dim=s.vector)
        self.mel2wav = hifigan.HiFTGenerator(
            base_channels=s.vocoder, sampling_rate=24000, upsample_rates=[8, 5, 3], upsample_kernel_sizes=[16, 11, 7],
            source_resblock_kernel_sizes=[7, 7, 11], source_resblock_dilation_sizes=[[1, 3, 5]] * 3,
            f0_predictor=ConvRNNF0Predictor(cond_channels=s.pitch),
        )  # fmt: skip


def tokenizer(s: Sizes) -> model_v2.S3TokenizerV2:
    sizes = model_v2.ModelConfig(
        n_audio_state=s.tokenizer, n_audio_head=s.tokenizer // 64, n_audio_layer=s.tokenizer_layers
    )
    return model_v2.S3TokenizerV2("speech_tokenizer_v2_25hz", sizes)


def parts(s: Sizes) -> dict[str, nn.Module]:
    encoder = VoiceEncoder(VoiceEncConfig(ve_hidden_size=s.voice_width, speaker_embed_size=s.speaker))
    return {"t3": t3(s), "ve": encoder, "s3gen": Decoder(s)}


MADE = ("rand_noise", "pos_enc.pe", "stft_window", "trim_fade", "lm_head", "embed_tokens")  # not stored


def check_names(s: Sizes) -> None:
    """Both layouts have the tensors that mlx-audio has for these sizes."""
    empty = {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes(s).items()}
    stored = {name: value.shape for name, value in mlx_layout(empty).items()}
    wanted = {
        f"{part}.{name}": value.shape
        for part, model in parts(s).items()
        for name, value in tree_flatten(model.parameters())
        if not any(made in name for made in MADE)
    }
    assert stored == wanted, set(stored.items()) ^ set(wanted.items())
    spoken = {name: value.shape for name, value in mlx_tokenizer(empty).items()}
    wanted = {name: value.shape for name, value in tree_flatten(tokenizer(s).parameters())}
    assert spoken == wanted, set(spoken.items()) ^ set(wanted.items())
    for part, model in parts(s).items():
        own = {n.removeprefix(f"{part}."): mx.zeros(v) for n, v in shapes(s).items() if n.startswith(f"{part}.")}
        own = {name: value for name, value in own.items() if not name.startswith("tokenizer.")}
        read = model.sanitize(own)
        assert {f"{part}.{name}" for name in read} - set(stored) <= {"t3.tfmr.model.embed_tokens.weight"}, part


def main() -> None:
    check_names(PUBLISHED)
    check_names(TINY)
    as_the_authors_have_it()
    given = tensors()
    models = parts(TINY)
    for part, model in models.items():
        own = {n.removeprefix(f"{part}."): mx.array(v) for n, v in given.items() if n.startswith(f"{part}.")}
        model.load_weights(list(model.sanitize(own).items()), strict=False)
        model.eval()
    own = {n.removeprefix("s3gen.tokenizer."): mx.array(v) for n, v in given.items() if ".tokenizer." in n}
    speech_tokenizer = tokenizer(TINY)
    speech_tokenizer.load_weights(list(speech_tokenizer.sanitize(own).items()), strict=True)
    voice = {name: mx.array(value) for name, value in voice_arrays().items()}
    made: dict[str, np.ndarray] = {}

    spell = Tokenizer.from_str(tokenizer_json())
    for i, (text, (exaggeration, guidance)) in enumerate(zip(TEXTS, EXPRESSIONS)):
        ids = [255, *spell.encode(text.replace(" ", "[SPACE]")).ids, 0]
        both = mx.array([ids, ids], dtype=mx.int32)
        condition = T3Cond(
            speaker_emb=voice["t3.speaker_emb"],
            cond_prompt_speech_tokens=voice["t3.cond_prompt_speech_tokens"],
            emotion_adv=mx.ones((1, 1, 1)) * exaggeration,
        )
        rows = models["t3"]._prepare_inference_context(condition, both, guidance)
        made[f"prompt{i}"] = np.array(rows).astype(np.float32)
        found = models["t3"].inference(
            condition, both, max_new_tokens=GREEDY, temperature=0.0, top_p=1.0, min_p=0.0, cfg_weight=guidance
        )
        made[f"greedy{i}"] = np.array(found)[0, 1:].astype(np.int32)

    decoder = models["s3gen"]
    decoder.flow.decoder.rand_noise = mx.array(NOISE.T[None])
    reference = {name.removeprefix("gen."): value for name, value in voice.items() if name.startswith("gen.")}
    reference["prompt_feat_len"] = mx.array([18])
    mel = decoder.flow_inference(mx.array(SPEECH[None]), reference, finalize=True)
    made["mel"] = np.array(mel)[0].T
    made["pitch"] = np.array(decoder.mel2wav.f0_predictor(mel))[0]
    made["samples"] = np.array(decoder.mel2wav.decode(mel, mx.array(SOURCE[None, None])))[0]

    narrow = sound(rate=16000)
    made["speaker"] = np.array(models["ve"].embeds_from_mels([mx.array(voice_mel(narrow))], rate=1.3))[0]
    features = whisper_mel(narrow, 128)
    made["tokens"] = np.array(speech_tokenizer(mx.array(features.T[None]), mx.array([len(features)]))[0])[0]
    made["vector"] = np.array(decoder.speaker_encoder(mx.array(kaldi_features(narrow, 80)[None])))[0]
    np.savez_compressed(DATA / "cases.npz", **made)
    print(json.dumps({name: [*value.shape, float(np.abs(value).mean())] for name, value in made.items()}, indent=1))


if __name__ == "__main__":
    main()
