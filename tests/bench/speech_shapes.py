"""A Qwen3-TTS 0.6B CustomVoice of the published shape, with random weights, made once and kept in `.grus-bench`.

Its text vocabulary is cut short: its rows are looked up and multiply nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.bench.shapes import KEPT, _write, tensors
from tests.checkpoints import save_tokenizer

TEXT_ROWS = 4096
TEXT = "The quick brown fox jumps over the lazy dog, and then it rests."  # 15 tokens, as of the published tokenizer
DECODER: dict[str, Any] = dict(
    codebook_dim=512,
    codebook_size=2048,
    decoder_dim=1536,
    head_dim=64,
    hidden_size=512,
    intermediate_size=1024,
    latent_dim=1024,
    num_attention_heads=16,
    num_hidden_layers=8,
    num_key_value_heads=16,
    num_quantizers=16,
    rms_norm_eps=1e-5,
    rope_theta=10000,
    sliding_window=72,
    upsample_rates=[8, 5, 4, 3],
    upsampling_ratios=[2, 2],
)
LAYERS: dict[str, Any] = dict(
    hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8, head_dim=128,
    rope_theta=1000000, rms_norm_eps=1e-6, hidden_act="silu", attention_bias=False, max_position_embeddings=32768,
)  # fmt: skip
TALKER: dict[str, Any] = dict(
    LAYERS,
    num_hidden_layers=28,
    vocab_size=3072,
    num_code_groups=16,
    text_hidden_size=2048,
    text_vocab_size=TEXT_ROWS,
    code_predictor_config=dict(LAYERS, num_hidden_layers=5, vocab_size=2048, num_code_groups=16),
    rope_scaling=dict(interleaved=True, mrope_section=[24, 20, 20], rope_type="default", type="default"),
    codec_pad_id=2148,
    codec_bos_id=2149,
    codec_eos_token_id=2150,
    codec_think_id=2154,
    codec_nothink_id=2155,
    codec_think_bos_id=2156,
    codec_think_eos_id=2157,
    codec_language_id={"english": 2050},
    spk_id={"vivian": 3065},
    spk_is_dialect={"vivian": False},
)
CONFIG: dict[str, Any] = dict(
    model_type="qwen3_tts",
    architectures=["Qwen3TTSForConditionalGeneration"],
    talker_config=TALKER,
    tts_model_type="custom_voice",
    tts_model_size="0b6",
    tts_pad_token_id=1,
    tts_bos_token_id=2,
    tts_eos_token_id=3,
)
GENERATION = dict(
    do_sample=True, temperature=0.9, top_k=50, repetition_penalty=1.05, subtalker_temperature=0.9, subtalker_top_k=50
)


def speaking_checkpoint() -> Path:
    folder = KEPT / "qwen3-tts-0.6b-bf16"
    # a token a word: letter by letter four seconds' text would be a prompt of 89 rows instead of 25
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder, words=(TEXT, "assistant"))
    if (folder / "config.json").exists():
        return folder
    (folder / "speech_tokenizer").mkdir(parents=True, exist_ok=True)
    _write(folder / "model.safetensors", talker_tensors(), "BF16")
    _write(folder / "speech_tokenizer" / "model.safetensors", codec_tensors(DECODER), "F32")
    codec = dict(model_type="qwen3_tts_tokenizer_12hz", decoder_config=DECODER)
    (folder / "speech_tokenizer" / "config.json").write_text(json.dumps(codec))
    (folder / "generation_config.json").write_text(json.dumps(GENERATION))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def talker_tensors() -> dict[str, tuple[int, ...]]:
    found = {}
    predictor = TALKER["code_predictor_config"]
    for prefix, c in (("talker.", TALKER), ("talker.code_predictor.", predictor)):
        layers = {name: shape for name, shape in tensors(c).items() if not name.startswith("model.embed")}
        found |= {prefix + name: shape for name, shape in layers.items()}
    hidden, text = TALKER["hidden_size"], TALKER["text_hidden_size"]
    found |= {
        "talker.model.codec_embedding.weight": (TALKER["vocab_size"], hidden),
        "talker.model.text_embedding.weight": (TEXT_ROWS, text),
        "talker.text_projection.linear_fc1.weight": (text, text),
        "talker.text_projection.linear_fc1.bias": (text,),
        "talker.text_projection.linear_fc2.weight": (hidden, text),
        "talker.text_projection.linear_fc2.bias": (hidden,),
        "talker.codec_head.weight": (TALKER["vocab_size"], hidden),
    }
    for i in range(TALKER["num_code_groups"] - 1):
        found[f"talker.code_predictor.model.codec_embedding.{i}.weight"] = (predictor["vocab_size"], hidden)
        found[f"talker.code_predictor.lm_head.{i}.weight"] = (predictor["vocab_size"], predictor["hidden_size"])
    return found


def codec_tensors(c: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Of the decoder alone: what speaking with a preset voice needs."""
    hidden, latent, width, channels = c["hidden_size"], c["latent_dim"], c["codebook_dim"], c["decoder_dim"]
    inner, heads = width // 2, c["num_attention_heads"] * c["head_dim"]
    found: dict[str, tuple[int, ...]] = {}

    def with_bias(name: str, *shape: int, out: int | None = None) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = shape, (shape[0] if out is None else out,)

    for part, count in (("rvq_first", 1), ("rvq_rest", c["num_quantizers"] - 1)):
        found[f"quantizer.{part}.output_proj.weight"] = (width, inner, 1)
        for i in range(count):
            book = f"quantizer.{part}.vq.layers.{i}._codebook"
            found |= {
                f"{book}.embedding_sum": (c["codebook_size"], inner),
                f"{book}.cluster_usage": (c["codebook_size"],),
            }
    with_bias("pre_conv.conv", latent, width, 3)
    with_bias("pre_transformer.input_proj", hidden, latent)
    with_bias("pre_transformer.output_proj", latent, hidden)
    found["pre_transformer.norm.weight"] = (hidden,)
    for i in range(c["num_hidden_layers"]):
        layer = f"pre_transformer.layers.{i}."
        found |= {f"{layer}self_attn.{n}_proj.weight": (heads, hidden) for n in "qkv"}
        found |= {f"{layer}mlp.{n}_proj.weight": (c["intermediate_size"], hidden) for n in ("gate", "up")}
        found |= {
            f"{layer}self_attn.o_proj.weight": (hidden, heads),
            f"{layer}mlp.down_proj.weight": (hidden, c["intermediate_size"]),
            f"{layer}input_layernorm.weight": (hidden,),
            f"{layer}post_attention_layernorm.weight": (hidden,),
            f"{layer}self_attn_layer_scale.scale": (hidden,),
            f"{layer}mlp_layer_scale.scale": (hidden,),
        }
    for i, factor in enumerate(c["upsampling_ratios"]):
        with_bias(f"upsample.{i}.0.conv", latent, latent, factor)
        with_bias(f"upsample.{i}.1.dwconv.conv", latent, 1, 7)
        with_bias(f"upsample.{i}.1.norm", latent)
        with_bias(f"upsample.{i}.1.pwconv1", 4 * latent, latent)
        with_bias(f"upsample.{i}.1.pwconv2", latent, 4 * latent)
        found[f"upsample.{i}.1.gamma"] = (latent,)
    with_bias("decoder.0.conv", channels, latent, 7)
    for i, rate in enumerate(c["upsample_rates"]):
        block, inp, out = f"decoder.{i + 1}.block.", channels >> i, channels >> (i + 1)
        found |= {f"{block}0.alpha": (inp,), f"{block}0.beta": (inp,)}
        with_bias(f"{block}1.conv", inp, out, 2 * rate, out=out)
        for unit in (2, 3, 4):
            found |= {f"{block}{unit}.act{a}.{n}": (out,) for a in (1, 2) for n in ("alpha", "beta")}
            with_bias(f"{block}{unit}.conv1.conv", out, out, 7)
            with_bias(f"{block}{unit}.conv2.conv", out, out, 1)
    last, at = channels >> len(c["upsample_rates"]), len(c["upsample_rates"]) + 1
    found |= {f"decoder.{at}.alpha": (last,), f"decoder.{at}.beta": (last,)}
    with_bias(f"decoder.{at + 1}.conv", 1, last, 7)
    return {f"decoder.{name}": shape for name, shape in found.items()}
