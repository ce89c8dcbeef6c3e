"""Tiny random Chatterbox checkpoints in both published layouts, and what the reference (mlx-audio 0.6.2) makes of them.

`tests/data/chatterbox/record.py` writes `cases.npz`; it also holds the names and shapes here against mlx-audio's own.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

DATA = Path(__file__).parent / "data" / "chatterbox"
Table = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Sizes:
    hidden: int = 1024  # of T3
    layers: int = 30
    ffn: int = 4096
    words: int = 704
    text_places: int = 2050
    speech_places: int = 4100
    own_words: int = 8  # of the Llama's embedding, which is not used
    speaker: int = 256
    voice_width: int = 256
    tokenizer: int = 1280
    tokenizer_layers: int = 6
    dim: int = 512  # of S3Gen's encoder
    heads: int = 8
    units: int = 2048
    blocks: tuple[int, int] = (6, 4)
    estimator: int = 256
    inner: int = 512
    transformers: int = 4
    middle: int = 12
    vector: int = 192
    vocoder: int = 512
    pitch: int = 512
    head: int = 32  # of CAM++
    first: int = 128
    grown: int = 32
    narrow: int = 128


PUBLISHED = Sizes()
TINY = Sizes(
    hidden=128, layers=2, ffn=96, text_places=80, speech_places=200, speaker=24, voice_width=16, tokenizer=64,
    tokenizer_layers=2, dim=64, heads=2, units=96, blocks=(2, 1), estimator=32, inner=64, transformers=1, middle=2,
    vector=16, vocoder=32, pitch=16, head=4, first=16, grown=4, narrow=8,
)  # fmt: skip
_CAM_LAYERS = (12, 24, 16)


def shapes(s: Sizes) -> Table:
    """Every tensor of the three files, below `t3`, `ve` and `s3gen`."""
    made: Table = {}

    def linear(name: str, inp: int, out: int, bias: bool = True) -> None:
        made[f"{name}.weight"] = (out, inp)
        if bias:
            made[f"{name}.bias"] = (out,)

    def conv(name: str, inp: int, out: int, *size: int, bias: bool = True) -> None:
        made[f"{name}.weight"] = (out, inp, *size)
        if bias:
            made[f"{name}.bias"] = (out,)

    def normed(name: str, first: int, second: int, size: int, out: int) -> None:
        made[f"{name}.parametrizations.weight.original0"] = (first, 1, 1)
        made[f"{name}.parametrizations.weight.original1"] = (first, second, size)
        made[f"{name}.bias"] = (out,)

    def norm(name: str, dim: int) -> None:
        made.update({f"{name}.weight": (dim,), f"{name}.bias": (dim,)})

    def batch(name: str, dim: int, learned: bool = True) -> None:
        made.update({f"{name}.running_mean": (dim,), f"{name}.running_var": (dim,)})
        made[f"{name}.num_batches_tracked"] = ()
        if learned:
            norm(name, dim)

    # T3
    made["t3.tfmr.embed_tokens.weight"] = (s.own_words, s.hidden)
    made["t3.tfmr.norm.weight"] = (s.hidden,)
    for i in range(s.layers):
        own = f"t3.tfmr.layers.{i}"
        for name in ("input_layernorm", "post_attention_layernorm"):
            made[f"{own}.{name}.weight"] = (s.hidden,)
        for name in ("q", "k", "v", "o"):
            linear(f"{own}.self_attn.{name}_proj", s.hidden, s.hidden, bias=False)
        linear(f"{own}.mlp.gate_proj", s.hidden, s.ffn, bias=False)
        linear(f"{own}.mlp.up_proj", s.hidden, s.ffn, bias=False)
        linear(f"{own}.mlp.down_proj", s.ffn, s.hidden, bias=False)
    linear("t3.cond_enc.spkr_enc", s.speaker, s.hidden)
    linear("t3.cond_enc.emotion_adv_fc", 1, s.hidden, bias=False)
    made["t3.cond_enc.perceiver.pre_attention_query"] = (1, 32, s.hidden)
    norm("t3.cond_enc.perceiver.attn.norm", s.hidden)
    for name in ("to_q", "to_k", "to_v", "proj_out"):
        linear(f"t3.cond_enc.perceiver.attn.{name}", s.hidden, s.hidden)
    for name, rows in (("text_emb", s.words), ("speech_emb", 8194)):
        made[f"t3.{name}.weight"] = (rows, s.hidden)
    for name, rows in (("text_pos_emb", s.text_places), ("speech_pos_emb", s.speech_places)):
        made[f"t3.{name}.emb.weight"] = (rows, s.hidden)
    linear("t3.text_head", s.hidden, s.words, bias=False)
    linear("t3.speech_head", s.hidden, 8194, bias=False)
    # the voice encoder
    for i in range(3):
        for name, inp in (("ih", 40 if i == 0 else s.voice_width), ("hh", s.voice_width)):
            made[f"ve.lstm.weight_{name}_l{i}"] = (4 * s.voice_width, inp)
            made[f"ve.lstm.bias_{name}_l{i}"] = (4 * s.voice_width,)
    linear("ve.proj", s.voice_width, s.speaker)
    made.update({"ve.similarity_weight": (1,), "ve.similarity_bias": (1,)})
    # the speech tokenizer
    own = "s3gen.tokenizer.encoder"
    conv(f"{own}.conv1", 128, s.tokenizer, 3)
    conv(f"{own}.conv2", s.tokenizer, s.tokenizer, 3)
    for i in range(s.tokenizer_layers):
        block = f"{own}.blocks.{i}"
        for name in ("query", "key", "value", "out"):
            linear(f"{block}.attn.{name}", s.tokenizer, s.tokenizer, bias=name != "key")
        conv(f"{block}.attn.fsmn_block", 1, s.tokenizer, 31, bias=False)
        norm(f"{block}.attn_ln", s.tokenizer)
        linear(f"{block}.mlp.0", s.tokenizer, 4 * s.tokenizer)
        linear(f"{block}.mlp.2", 4 * s.tokenizer, s.tokenizer)
        norm(f"{block}.mlp_ln", s.tokenizer)
    linear("s3gen.tokenizer.quantizer._codebook.project_down", s.tokenizer, 8)
    _cam(s, conv, batch)
    # the flow
    own = "s3gen.flow"
    made[f"{own}.input_embedding.weight"] = (6561, s.dim)
    linear(f"{own}.spk_embed_affine_layer", s.vector, 80)
    linear(f"{own}.encoder_proj", s.dim, 80)
    for name in ("embed", "up_embed"):
        linear(f"{own}.encoder.{name}.out.0", s.dim, s.dim)
        norm(f"{own}.encoder.{name}.out.1", s.dim)
    norm(f"{own}.encoder.after_norm", s.dim)
    conv(f"{own}.encoder.pre_lookahead_layer.conv1", s.dim, s.dim, 4)
    conv(f"{own}.encoder.pre_lookahead_layer.conv2", s.dim, s.dim, 3)
    conv(f"{own}.encoder.up_layer.conv", s.dim, s.dim, 5)
    for stack, count in zip(("encoders", "up_encoders"), s.blocks):
        for i in range(count):
            block = f"{own}.encoder.{stack}.{i}"
            for name in ("q", "k", "v", "out"):
                linear(f"{block}.self_attn.linear_{name}", s.dim, s.dim)
            linear(f"{block}.self_attn.linear_pos", s.dim, s.dim, bias=False)
            for name in ("pos_bias_u", "pos_bias_v"):
                made[f"{block}.self_attn.{name}"] = (s.heads, s.dim // s.heads)
            linear(f"{block}.feed_forward.w_1", s.dim, s.units)
            linear(f"{block}.feed_forward.w_2", s.units, s.dim)
            norm(f"{block}.norm_ff", s.dim)
            norm(f"{block}.norm_mha", s.dim)
    own, wide = f"{own}.decoder.estimator", s.estimator
    linear(f"{own}.time_mlp.linear_1", 320, 4 * wide)
    linear(f"{own}.time_mlp.linear_2", 4 * wide, 4 * wide)
    stages = [("down_blocks.0", 320), *((f"mid_blocks.{i}", wide) for i in range(s.middle)), ("up_blocks.0", 2 * wide)]
    for stage, inp in stages:
        resnet = f"{own}.{stage}.0"
        for i, size in ((1, inp), (2, wide)):
            conv(f"{resnet}.block{i}.block.0", size, wide, 3)
            norm(f"{resnet}.block{i}.block.2", wide)
        linear(f"{resnet}.mlp.1", 4 * wide, wide)
        conv(f"{resnet}.res_conv", inp, wide, 1)
        for i in range(s.transformers):
            block = f"{own}.{stage}.1.{i}"
            for name in ("to_q", "to_k", "to_v"):
                linear(f"{block}.attn1.{name}", wide, s.inner, bias=False)
            linear(f"{block}.attn1.to_out.0", s.inner, wide)
            norm(f"{block}.norm1", wide)
            norm(f"{block}.norm3", wide)
            linear(f"{block}.ff.net.0.proj", wide, 4 * wide)
            linear(f"{block}.ff.net.2", 4 * wide, wide)
        if not stage.startswith("mid"):
            conv(f"{own}.{stage}.2", wide, wide, 3)
    conv(f"{own}.final_block.block.0", wide, wide, 3)
    norm(f"{own}.final_block.block.2", wide)
    conv(f"{own}.final_proj", wide, 80, 1)
    # the vocoder
    own = "s3gen.mel2wav"
    for i in range(5):
        normed(f"{own}.f0_predictor.condnet.{2 * i}", s.pitch, 80 if i == 0 else s.pitch, 3, s.pitch)
    linear(f"{own}.f0_predictor.classifier", s.pitch, 1)
    linear(f"{own}.m_source.l_linear", 9, 1)
    normed(f"{own}.conv_pre", s.vocoder, 80, 7, s.vocoder)

    def snakes(name: str, dim: int, size: int) -> None:
        for i in range(3):
            for n in (1, 2):
                normed(f"{name}.convs{n}.{i}", dim, dim, size, dim)
                made[f"{name}.activations{n}.{i}.alpha"] = (dim,)

    for i, (size, taps, kernel) in enumerate(((16, 30, 7), (11, 6, 7), (7, 1, 11))):
        dim = s.vocoder // 2 ** (i + 1)
        normed(f"{own}.ups.{i}", 2 * dim, dim, size, dim)
        conv(f"{own}.source_downs.{i}", 18, dim, taps)
        snakes(f"{own}.source_resblocks.{i}", dim, kernel)
        for j, other in enumerate((3, 7, 11)):
            snakes(f"{own}.resblocks.{3 * i + j}", dim, other)
    normed(f"{own}.conv_post", 18, s.vocoder // 8, 7, 18)
    return made


def _cam(s: Sizes, conv: object, batch: object) -> None:
    own = "s3gen.speaker_encoder"
    assert callable(conv)
    assert callable(batch)
    conv(f"{own}.head.conv1", 1, s.head, 3, 3, bias=False)
    conv(f"{own}.head.conv2", s.head, s.head, 3, 3, bias=False)
    batch(f"{own}.head.bn1", s.head)
    batch(f"{own}.head.bn2", s.head)
    for i in (1, 2):
        for j in (0, 1):
            block = f"{own}.head.layer{i}.{j}"
            for n in (1, 2):
                conv(f"{block}.conv{n}", s.head, s.head, 3, 3, bias=False)
                batch(f"{block}.bn{n}", s.head)
            if j == 0:
                conv(f"{block}.shortcut.0", s.head, s.head, 1, 1, bias=False)
                batch(f"{block}.shortcut.1", s.head)
    own = f"{own}.xvector"
    conv(f"{own}.tdnn.linear", 10 * s.head, s.first, 5, bias=False)
    batch(f"{own}.tdnn.nonlinear.batchnorm", s.first)
    width = s.first
    for i, count in enumerate(_CAM_LAYERS, 1):
        for j in range(count):
            layer = f"{own}.block{i}.tdnnd{j + 1}"
            batch(f"{layer}.nonlinear1.batchnorm", width + j * s.grown)
            conv(f"{layer}.linear1", width + j * s.grown, s.narrow, 1, bias=False)
            batch(f"{layer}.nonlinear2.batchnorm", s.narrow)
            conv(f"{layer}.cam_layer.linear_local", s.narrow, s.grown, 3, bias=False)
            conv(f"{layer}.cam_layer.linear1", s.narrow, s.narrow // 2, 1)
            conv(f"{layer}.cam_layer.linear2", s.narrow // 2, s.grown, 1)
        width += count * s.grown
        batch(f"{own}.transit{i}.nonlinear.batchnorm", width)
        conv(f"{own}.transit{i}.linear", width, width // 2, 1, bias=False)
        width //= 2
    batch(f"{own}.out_nonlinear.batchnorm", width)
    conv(f"{own}.dense.linear", 2 * width, s.vector, 1, bias=False)
    batch(f"{own}.dense.nonlinear.batchnorm", s.vector, learned=False)


def tensors(sizes: Sizes = TINY) -> dict[str, np.ndarray]:
    """Random, of such sizes that sums stay about one."""
    made: dict[str, np.ndarray] = {}
    for name, shape in shapes(sizes).items():
        if name.endswith("num_batches_tracked"):
            made[name] = np.array(1, np.int64)
            continue
        noise = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape).astype(np.float32)
        if name.endswith(("running_var", "original0", "alpha")):
            value = 1.0 + 0.2 * np.abs(noise)
        elif len(shape) < 2:
            value = 1.0 + 0.2 * noise if name.endswith(("weight", "norm.weight")) else 0.2 * noise
        elif "_emb." in name or "embedding" in name or "query" in name:
            value = noise
        else:
            value = noise * (1.4 / math.sqrt(math.prod(shape[1:])))
        made[name] = value.astype(np.float32)
    made["s3gen.mel2wav.f0_predictor.classifier.weight"] *= 300.0  # frames with a pitch and without
    made["s3gen.mel2wav.conv_post.parametrizations.weight.original0"] *= 0.03
    made["s3gen.mel2wav.conv_post.bias"][:9] -= 3.0  # samples stay within their limit
    # speech ends after the fortieth token
    end = np.random.default_rng(11).standard_normal(sizes.hidden).astype(np.float32)
    made["t3.speech_pos_emb.emb.weight"][40:] += 4 * end
    made["t3.speech_head.weight"][6562] = 0.15 * end
    return made


def mlx_layout(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors as mlx-audio writes them, without the speech tokenizer."""
    made: dict[str, np.ndarray] = {}
    for name, value in given.items():
        if name.startswith("s3gen.tokenizer.") or name.endswith(("num_batches_tracked", "original0")):
            continue
        new, array = _mlx_name(name), value
        if name.endswith("original1"):
            new = new.replace(".parametrizations.weight.original1", ".weight")
            length = np.sqrt((value * value).sum((1, 2), keepdims=True))
            array = given[name.replace("original1", "original0")] * value / (length + 1e-12)
        if "lstm.bias_ih" in name:
            array = value + given[name.replace("_ih_", "_hh_")]
        if "lstm.bias_hh" in name or name == "t3.tfmr.embed_tokens.weight":
            continue
        if new.endswith(".weight") and array.ndim > 2:
            array = array.transpose(1, 2, 0) if ".ups." in name else np.moveaxis(array, 1, -1)
        made[new] = array
    return made


def mlx_tokenizer(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The speech tokenizer as mlx-community/S3TokenizerV2 holds it."""
    made = {}
    for name, value in given.items():
        if name.startswith("s3gen.tokenizer."):
            new = (
                name.removeprefix("s3gen.tokenizer.")
                .replace(".mlp.", ".mlp.layers.")
                .replace("_codebook", "fsq_codebook")
            )
            made[new] = np.moveaxis(value, 1, -1) if value.ndim > 2 else value
    return made


def _whole(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(value) for name, value in given.items()}


def _mlx_name(name: str) -> str:
    import re

    for pattern, new in (
        (r"^t3\.tfmr\.(layers|norm)", r"t3.tfmr.model.\1"),
        (r"^ve\.lstm\.weight_ih_l(\d)", r"ve.lstm.layers.\1.Wx"),
        (r"^ve\.lstm\.weight_hh_l(\d)", r"ve.lstm.layers.\1.Wh"),
        (r"^ve\.lstm\.bias_ih_l(\d)", r"ve.lstm.layers.\1.bias"),
        (r"\.(down|mid|up)_blocks\.(\d+)\.0\.", r".\1_blocks_\2.resnet."),
        (r"\.(down|mid|up)_blocks\.(\d+)\.1\.(\d+)\.", r".\1_blocks_\2.transformer_\3."),
        (r"\.(down|up)_blocks\.(\d+)\.2\.", r".\1_blocks_\2.\1sample.conv."),
        (r"\.(block[12]|final_block)\.block\.0\.", r".\1.conv.conv."),
        (r"\.(block[12]|final_block)\.block\.2\.", r".\1.norm."),
        (r"resnet\.mlp\.1\.", "resnet.mlp_linear."),
        (r"\.attn1\.to_q\.", ".attn.query_proj."),
        (r"\.attn1\.to_k\.", ".attn.key_proj."),
        (r"\.attn1\.to_v\.", ".attn.value_proj."),
        (r"\.attn1\.to_out\.0\.", ".attn.out_proj."),
        (r"\.ff\.net\.0\.proj\.", ".ff.layers.0."),
        (r"\.ff\.net\.2\.", ".ff.layers.1."),
        (r"embed\.out\.0\.", "embed.linear."),
        (r"embed\.out\.1\.", "embed.norm."),
        (r"\.(encoders|up_encoders)\.(\d+)\.", r".\1_\2."),
        (r"condnet\.(\d)\.", lambda found: f"condnet.{int(found[1]) // 2}."),
        (r"xvector\.block(\d)\.tdnnd(\d+)\.", lambda found: f"blocks.{int(found[1]) - 1}.layers.{int(found[2]) - 1}."),
        (r"xvector\.transit(\d)\.", lambda found: f"transits.{int(found[1]) - 1}."),
        (r"xvector\.", ""),
        (r"nonlinear(\d?)\.batchnorm\.", r"nonlinear\1.0."),
    ):
        name = re.sub(pattern, new, name)
    return name


# -- what goes in


def sound(seconds: float = 3.0, seed: int = 1, rate: int = 24000) -> np.ndarray:
    """A voice-like hum whose pitch and loudness move."""
    at = np.arange(int(seconds * rate)) / rate
    random = np.random.default_rng(seed)
    phase = 2 * np.pi * np.cumsum(140 + 30 * np.sin(2 * np.pi * 0.7 * at)) / rate
    tone = sum(np.sin(n * phase) / n for n in range(1, 12))
    made = 0.1 * tone * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at)) + 0.01 * random.standard_normal(len(at))
    return made.astype(np.float32)


def voice_arrays(seed: int = 3, sizes: Sizes = TINY, prompt: tuple[int, int] = (20, 9)) -> dict[str, np.ndarray]:
    """The voice that comes with the model, by the names of its file. `prompt`: tokens that T3 and S3Gen hear of it."""
    random = np.random.default_rng(seed)
    speaker = np.abs(random.standard_normal((1, sizes.speaker))).astype(np.float32)
    first, second = prompt
    return {
        "t3.speaker_emb": speaker / np.linalg.norm(speaker),
        "t3.cond_prompt_speech_tokens": random.integers(0, 6561, (1, first)),
        "t3.emotion_adv": np.full((1, 1, 1), 0.5, np.float32),
        "gen.prompt_token": random.integers(0, 6561, (1, second)),
        "gen.prompt_token_len": np.array([second]),
        "gen.prompt_feat": (random.standard_normal((1, 2 * second, 80)) - 4).astype(np.float32),
        "gen.embedding": random.standard_normal((1, sizes.vector)).astype(np.float32),
    }


TEXTS = ("The cranes are back.", "Rain fell for three days, and then the sun came out again!")
SPEECH = np.random.default_rng(7).integers(0, 6561, 14)  # tokens that S3Gen renders
NOISE = np.random.default_rng(8).standard_normal((2 * (14 + 9), 80)).astype(np.float32)  # frames by bands
SOURCE = (0.1 * np.random.default_rng(9).standard_normal(28 * 480)).astype(np.float32)
GREEDY = 24  # tokens
EXPRESSIONS = ((0.5, 0.5), (1.1, 0.3))  # exaggeration and guidance of each text


def tokenizer_json() -> str:
    """A tokenizer of characters with the marks of the published one."""
    marks = {"[STOP]": 0, "[UNK]": 1, "[SPACE]": 2, "[START]": 255}
    characters = "!'(),-.:;?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\""
    vocabulary = marks | {sign: 3 + i for i, sign in enumerate(characters)}
    added = [
        dict(id=id, content=mark, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
        for mark, id in marks.items()
    ]
    model = dict(type="BPE", dropout=None, unk_token="[UNK]", continuing_subword_prefix=None, end_of_word_suffix=None,
                 fuse_unk=False, byte_fallback=False, vocab=vocabulary, merges=[])  # fmt: skip
    whole = dict(version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=None,
                 pre_tokenizer=dict(type="Whitespace"), post_processor=None, decoder=None, model=model)  # fmt: skip
    return json.dumps(whole)


def save_chatterbox(
    folder: Path,
    layout: str = "resemble",
    own_voice: bool = True,
    sizes: Sizes = TINY,
    prompt: tuple[int, int] = (20, 9),
) -> Path:
    """`resemble`: a file a part and no config; `mlx`: one file, with the speech tokenizer beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    given = tensors(sizes)
    if layout == "resemble":
        for file, part in (("t3_cfg", "t3"), ("ve", "ve"), ("s3gen", "s3gen")):
            own = {name.removeprefix(f"{part}."): value for name, value in given.items() if name.startswith(f"{part}.")}
            save_file(own, folder / f"{file}.safetensors")
    else:
        save_file(_whole(mlx_layout(given)), folder / "model.safetensors")
        save_file(_whole(mlx_tokenizer(given)), folder / "speech_tokenizer.safetensors")
        (folder / "config.json").write_text(json.dumps({"model_type": "chatterbox", "sample_rate": 24000}))
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    if own_voice and layout == "resemble":
        import torch

        state: dict[str, dict[str, object]] = {"t3": {"clap_emb": None}, "gen": {"prompt_feat_len": None}}
        for name, value in voice_arrays(sizes=sizes, prompt=prompt).items():
            part, _, rest = name.partition(".")
            made = torch.from_numpy(value.copy())
            if rest == "prompt_feat":  # as the authors' program leaves it: transposed
                made = made.transpose(1, 2).contiguous().transpose(1, 2)
            state[part][rest] = made
        torch.save(state, folder / "conds.pt")
    elif own_voice:
        save_file(
            {name: np.ascontiguousarray(value) for name, value in voice_arrays(sizes=sizes, prompt=prompt).items()},
            folder / "conds.safetensors",
        )
    return folder


def cases() -> dict[str, np.ndarray]:
    """What mlx-audio found."""
    with np.load(DATA / "cases.npz") as stored:
        return dict(stored)
