"""What each family's config becomes in GGUF's keys, beside what all share (`metadata`): the way back of `config`.

What a config says and no key can is refused, before anything is written: a reader would assume what published models have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

from engine.errors import UnsupportedArchitecture
from engine.models.config import TextConfig, text_config, text_fields
from engine.models.exaone4 import counted_pattern
from engine.models.gemma3n import by_layer
from engine.models.gemma4 import head_shapes
from engine.models.glm4 import is_dense
from engine.models.granite import ATTENTION, MAMBA
from engine.models.granite import mamba_sizes as granite_sizes
from engine.models.lfm2 import CONV, dense_width
from engine.models.lfm2 import layer_kinds as conv_kinds
from engine.models.mamba2 import MambaSizes
from engine.models.nemotron_h import layer_kinds as block_kinds
from engine.models.nemotron_h import mamba_sizes as nemotron_sizes
from engine.models.qwen3_5 import layer_kinds as delta_kinds
from engine.models.rope import fields_of_kind
from engine.models.windows import FULL, SLIDING, sliding_layers

KeyValues = dict[str, Any]
_SOFTMAX, _SIGMOID = 1, 2  # of `expert_gating_func`
_ACTIVATIONS = ("silu", "swish", "gelu_pytorch_tanh", "relu2")


def config_of(config: Mapping[str, Any], arch: str) -> TextConfig:
    """The config of a model's text, in whatever spelling."""
    values = dict(text_fields(counted_pattern(config)).values)
    if arch == "gemma3n":
        values["intermediate_size"] = by_layer(text_fields(config))[0][0]
    if arch == "qwen3vlmoe" and "tie_word_embeddings" in config:
        values["tie_word_embeddings"] = config["tie_word_embeddings"]  # see `qwen3_vl_moe`
    if arch.startswith("nemotron_h"):
        values["num_hidden_layers"] = len(block_kinds(values))
    c = text_config(values, activations=(values.get("hidden_act") or "silu", *_ACTIVATIONS))
    eps = c.fields.float("layer_norm_epsilon", "layer_norm_eps", default=c.eps)
    return replace(c, eps=eps, tied=c.fields.flag("tie_word_embeddings", c.fields.flag("tie_embedding", arch in _TIED)))


_TIED = ("cohere2", "ernie4_5", "ernie4_5-moe", "lfm2", "lfm2moe", "smollm3")  # unless their configs say otherwise


def unsaid(what: str) -> UnsupportedArchitecture:
    return UnsupportedArchitecture(f"GGUF cannot say that {what}.")


def _only(c: TextConfig, name: str, value: Any, default: Any = None) -> None:
    """A field that every reader takes to be so."""
    found = c.fields.find(name, default=value if default is None else default)
    same = math.isclose(found, value, rel_tol=1e-6) if isinstance(value, float) else found == value
    if not same:
        raise unsaid(f"`{name}` is {found!r} (files of this architecture always mean {value!r})")


def _every(flags: Sequence[bool], every: int, what: str) -> None:
    if list(flags) != [(i + 1) % every > 0 for i in range(len(flags))]:
        raise unsaid(f"{what} otherwise than every {every}th layer")


def _sliding(c: TextConfig, pattern: int = 0, flags: Sequence[bool] | None = None) -> KeyValues:
    """The window, and a flag for each layer that has it."""
    window = c.fields.int("sliding_window", default=0, least=0)
    if not window:
        return {}
    flags = sliding_layers(c, pattern) if flags is None else flags
    return {"attention.sliding_window": window, "attention.sliding_window_pattern": list(flags)}


def _local_rope(c: TextConfig, dim: int | None = None) -> KeyValues:
    """Of layers with a window; `dim`: the size of their heads, where it is written."""
    f = fields_of_kind(c.fields, SLIDING)
    if f is None:
        return {"rope.freq_base_swa": c.fields.float("rope_local_base_freq", default=10000.0)}
    rope = f.sub("rope_parameters")
    if rope.find("rope_type", default="default") != "default":
        raise unsaid("the positions of layers with a window are scaled")
    made: KeyValues = {"rope.freq_base_swa": rope.float("rope_theta", default=10000.0)}
    if dim:
        made["rope.dimension_count_swa"] = int(dim * rope.float("partial_rotary_factor", default=1.0))
    return made


def _experts(c: TextConfig, ffn: int | None = None) -> KeyValues:
    f = c.fields
    counts = {
        "expert_count": f.int("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
        "expert_used_count": f.int("num_experts_per_tok", "experts_per_token", "moe_k"),
    }
    return counts | {"expert_feed_forward_length": ffn or f.int("moe_intermediate_size", "intermediate_size")}


def _renormalized(c: TextConfig, default: bool = False) -> None:
    _only(c, "norm_topk_prob", True, default)


def _qwen3_moe(c: TextConfig) -> KeyValues:
    _renormalized(c)
    _only(c, "decoder_sparse_step", 1)
    _only(c, "mlp_only_layers", [])
    return _experts(c)


def _qwen3_vl_moe(c: TextConfig) -> KeyValues:
    """Whatever `norm_topk_prob` says, the model adds shares up to one."""
    _only(c, "decoder_sparse_step", 1)
    _only(c, "mlp_only_layers", [])
    return _experts(c)


def _delta(c: TextConfig) -> KeyValues:
    f, kinds = c.fields, delta_kinds(c)
    every = kinds.index("full_attention") + 1 if "full_attention" in kinds else c.layers + 1
    _every([kind != "full_attention" for kind in kinds], every, "layers attend to everything")
    if f.int("linear_key_head_dim") != f.int("linear_value_head_dim"):
        raise unsaid("linear heads' keys and values differ in size")
    return {
        "ssm.conv_kernel": f.int("linear_conv_kernel_dim"),
        "ssm.state_size": f.int("linear_key_head_dim"),
        "ssm.group_count": f.int("linear_num_key_heads"),
        "ssm.time_step_rank": f.int("linear_num_value_heads"),
        "ssm.inner_size": f.int("linear_num_value_heads") * f.int("linear_value_head_dim"),
        "full_attention_interval": every,
    }


def _delta_moe(c: TextConfig) -> KeyValues:
    _renormalized(c, default=c.fields.find("model_type", default="") != "qwen3_next")
    _only(c, "decoder_sparse_step", 1)
    _only(c, "mlp_only_layers", [])
    shared = c.fields.int("shared_expert_intermediate_size")
    recurrent = [kind == "linear_attention" for kind in delta_kinds(c)]
    more = {"expert_shared_feed_forward_length": shared, "attention.recurrent_layers": recurrent}
    return _delta(c) | _experts(c) | more


def _gemma3(c: TextConfig) -> KeyValues:
    of_27b = c.layers == 62  # see `config`
    _only(c, "query_pre_attn_scalar", c.hidden // c.heads if of_27b else c.head_dim)
    flags = sliding_layers(c, 6)
    every = flags.index(False) + 1 if False in flags else c.layers + 1
    _every(flags, every, "layers attend to everything")
    return _sliding(c, 6) | {"attention.sliding_window_pattern": every} | _local_rope(c)


def _per_layer(c: TextConfig, default: int) -> KeyValues:
    f = c.fields
    return {
        "embedding_length_per_layer_input": f.int("hidden_size_per_layer_input", default=default, least=0),
        "attention.shared_kv_layers": f.int("num_kv_shared_layers", default=0, least=0),
    }


def _gemma3n(c: TextConfig) -> KeyValues:
    f, (widths, cut) = c.fields, by_layer(c.fields)
    if len(set(widths)) > 1:
        raise unsaid("MLPs differ in size between layers")
    return (
        _sliding(c, 5)
        | _local_rope(c)
        | _per_layer(c, 256)
        | {
            "altup.num_inputs": f.int("altup_num_inputs", default=4),
            "altup.active_idx": f.int("altup_active_idx", default=0, least=0),
            "activation_sparsity_scale": [NormalDist().inv_cdf(share) if share else -math.inf for share in cut],
            "final_logit_softcapping": f.float("final_logit_softcapping", default=30.0),
        }
    )


def _gemma4(c: TextConfig) -> KeyValues:
    f, flags = c.fields, sliding_layers(c, 6)
    shapes = head_shapes(c, flags)
    full = [shape for shape, sliding in zip(shapes, flags) if not sliding] or shapes
    local = [shape for shape, sliding in zip(shapes, flags) if sliding] or shapes
    wide, dim = full[0][0], local[0][0]
    shared = f.int("num_kv_shared_layers", default=0, least=0)
    double = 2 if f.flag("use_double_wide_mlp") else 1
    made = (
        _sliding(c, 6)
        | _per_layer(c, 0)
        | _local_rope(c, dim)
        | {
            "attention.head_count_kv": [kv_heads for _, kv_heads in shapes],
            "feed_forward_length": [c.ffn * (double if i >= c.layers - shared else 1) for i in range(c.layers)],
            **{f"attention.{part}_length": wide for part in ("key", "value")},
            **{f"attention.{part}_length_swa": dim for part in ("key", "value")},
            "final_logit_softcapping": f.float("final_logit_softcapping", default=30.0),
        }
    )
    if not f.flag("enable_moe_block"):
        return made
    counts = {"expert_count": f.int("num_experts"), "expert_used_count": f.int("top_k_experts")}
    return made | counts | {"expert_feed_forward_length": f.int("moe_intermediate_size")}


def _gpt_oss(c: TextConfig) -> KeyValues:
    _only(c, "swiglu_limit", 7.0)
    _only(c, "swiglu_alpha", 1.702)
    _every(sliding_layers(c, 2), 2, "layers attend to everything")
    return {"attention.sliding_window": c.fields.int("sliding_window"), **_experts(c, c.ffn)}


def _mistral3(c: TextConfig) -> KeyValues:
    if _sliding(c):
        raise unsaid("Mistral's layers have sliding windows")
    return {}


def _muse_glimmer(c: TextConfig) -> KeyValues:
    f = c.fields
    kinds = f.find("layer_types", default=None)
    flags = [(c.layers - 1 - i) % 4 > 0 for i in range(c.layers)] if kinds is None else sliding_layers(c)
    thetas = f.find("layer_rope_theta", default=[int(flag) for flag in flags])
    if [bool(theta) for theta in thetas] != flags:
        raise unsaid("other layers than those with a window have positions")
    return _sliding(c, flags=flags) | {
        "final_logit_softcapping": f.float("final_logit_softcapping", default=20.0),
        "logit_scale": f.float("output_multiplier", default=1.0),
    }


def _laguna(c: TextConfig) -> KeyValues:
    f = c.fields
    _only(c, "moe_router_logit_softcapping", 0.0)
    kinds = f.find("mlp_layer_types", default=["dense", *["sparse"] * (c.layers - 1)])
    dense = kinds.index("sparse") if "sparse" in kinds else c.layers
    if "dense" in kinds[dense:]:
        raise unsaid("layers behind the first ones are no mixtures")
    windows = {} if f.find("layer_types", default=None) is None else _sliding(c)
    return {
        **windows,
        **_local_rope(c, c.head_dim),
        **_experts(c),
        "attention.head_count": f.find("num_attention_heads_per_layer", default=[c.heads] * c.layers),
        "expert_shared_feed_forward_length": f.int("shared_expert_intermediate_size", default=512),
        "expert_weights_norm": True,
        "expert_weights_scale": f.float("moe_routed_scaling_factor", default=1.0),
        "expert_gating_func": _SIGMOID,
        "leading_dense_block_count": dense,
    }


def _cohere2(c: TextConfig) -> KeyValues:
    f = c.fields
    _every(sliding_layers(c, 4), 4, "layers attend to everything")
    return {
        "attention.sliding_window": f.int("sliding_window", default=4096),
        "rope.scaling.type": "none",
        "logit_scale": f.float("logit_scale", default=0.0625),
        "attention.layer_norm_epsilon": f.float("layer_norm_eps", default=1e-5),
    }


def _olmo2(c: TextConfig) -> KeyValues:
    found = fields_of_kind(c.fields, FULL)
    local = _local_rope(c) if found else {}
    if found and local["rope.freq_base_swa"] != found.sub("rope_parameters").float("rope_theta"):
        raise unsaid("layers with a window have a rope base of their own")
    return _sliding(c, 4)


def _routed(c: TextConfig, sigmoid: bool) -> KeyValues:
    """GLM's and DeepSeek's mixtures."""
    f = c.fields
    kinds = [is_dense(c, i, int(sigmoid)) for i in range(c.layers)]
    dense = kinds.index(False) if False in kinds else c.layers
    if True in kinds[dense:]:
        raise unsaid("layers behind the first ones are no mixtures")
    grouped = sigmoid or f.find("topk_method", default="greedy") != "greedy"
    return _experts(c) | {
        "leading_dense_block_count": dense,
        "expert_shared_count": f.int("n_shared_experts", default=0, least=0),
        "expert_weights_scale": f.float("routed_scaling_factor", default=1.0),
        "expert_weights_norm": f.flag("norm_topk_prob", sigmoid),
        "expert_group_count": f.int("n_group", default=1) if grouped else 1,
        "expert_group_used_count": f.int("topk_group", default=1) if grouped else 1,
        "expert_gating_func": _SIGMOID if sigmoid else _SOFTMAX,
    }


def _deepseek2(c: TextConfig) -> KeyValues:
    f = c.fields
    _only(c, "rope_interleave", True)
    key, shared = f.int("qk_nope_head_dim"), f.int("qk_rope_head_dim")
    rank, value = f.int("kv_lora_rank"), f.int("v_head_dim")
    return _routed(c, f.find("model_type", default="") != "deepseek_v2") | {
        "attention.kv_lora_rank": rank,
        "attention.q_lora_rank": f.int("q_lora_rank", default=0, least=0),
        "attention.head_count_kv": 1,
        "attention.key_length": rank + shared,
        "attention.value_length": rank,
        "attention.key_length_mla": key + shared,
        "attention.value_length_mla": value,
    }


def _minimax_m2(c: TextConfig) -> KeyValues:
    return _experts(c, c.ffn) | {"expert_gating_func": _SIGMOID}


def _hunyuan_moe(c: TextConfig) -> KeyValues:
    f, first = c.fields, lambda found: found[0] if isinstance(found, list) and len(set(found)) == 1 else found
    ffn = first(f.find("moe_intermediate_size", default=c.ffn))
    shared = first(f.find("num_shared_expert", default=1))
    return {
        "expert_count": first(f.find("num_experts", "num_local_experts")),
        "expert_used_count": first(f.find("moe_topk", "num_experts_per_tok")),
        "expert_feed_forward_length": ffn,
        "expert_shared_feed_forward_length": c.ffn * shared,
        "expert_shared_count": shared,
    }


def _ernie_moe(c: TextConfig) -> KeyValues:
    f = c.fields
    ffn, shared = f.int("moe_intermediate_size"), f.int("moe_num_shared_experts", default=0, least=0)
    last = f.int("moe_layer_end_index", default=-1, least=-1)
    if 0 <= last < c.layers - 1:
        raise unsaid("the last layers are no mixtures")
    return _experts(c) | {
        "interleave_moe_layer_step": f.int("moe_layer_interval", default=1),
        "leading_dense_block_count": f.int("moe_layer_start_index", default=1, least=0),
        "expert_shared_count": shared,
        "expert_shared_feed_forward_length": ffn * shared,
    }


def _smollm3(c: TextConfig) -> KeyValues:
    f = c.fields
    _only(c, "no_rope_layer_interval", 4)
    turned = f.find("no_rope_layers", default=[int((i + 1) % 4 > 0) for i in range(c.layers)])
    _every([bool(one) for one in turned[: c.layers]], 4, "layers have no positions")
    if f.flag("use_sliding_window") and f.int("sliding_window", default=0, least=0):
        raise unsaid("SmolLM's layers have sliding windows")
    return {}


def _phi3(c: TextConfig) -> KeyValues:
    window = c.fields.int("sliding_window", default=0, least=0)
    return {"attention.sliding_window": window} if window else {}


def _bitnet(c: TextConfig) -> KeyValues:
    return {"hidden_activation": str(c.fields.find("hidden_act", default="relu2"))}


def _kv_heads(c: TextConfig, attending: Sequence[bool]) -> KeyValues:
    return {"attention.head_count_kv": [c.kv_heads if attends else 0 for attends in attending]}


def _lfm2(c: TextConfig) -> KeyValues:
    f = c.fields
    _only(c, "conv_bias", False)
    made = _kv_heads(c, [kind != CONV for kind in conv_kinds(c, (FULL, CONV))])
    made["shortconv.l_cache"] = f.int("conv_L_cache")
    if f.find("num_experts", "num_local_experts", default=None) is None:
        return made | {"feed_forward_length": dense_width(c)}
    _renormalized(c, default=True)
    return (
        made
        | _experts(c)
        | {
            "leading_dense_block_count": f.int("num_dense_layers", default=0, least=0),
            "expert_gating_func": _SIGMOID,
            "expert_weights_scale": f.float("routed_scaling_factor", default=1.0),
        }
    )


def _mamba(c: TextConfig, size: MambaSizes) -> KeyValues:
    if size.steps != (0.0, math.inf):
        raise unsaid("Mamba's steps are bounded (`time_step_limit`)")
    return {
        "ssm.conv_kernel": size.kernel,
        "ssm.state_size": size.state,
        "ssm.group_count": size.groups,
        "ssm.inner_size": size.heads * size.dim,
        "ssm.time_step_rank": size.heads,
    }


def granite_kinds(c: TextConfig) -> list[str]:
    return list(c.fields.find("layer_types", "layers_block_type"))


def _granite(c: TextConfig) -> KeyValues:
    f = c.fields
    made: KeyValues = {
        "attention.scale": f.float("attention_multiplier", default=1.0),
        "embedding_scale": f.float("embedding_multiplier", default=1.0),
        "residual_scale": f.float("residual_multiplier", default=1.0),
        "logit_scale": f.float("logits_scaling", default=1.0),
    }
    mixture = f.find("num_local_experts", "num_experts", default=0)
    shared = f.int("shared_intermediate_size", default=0, least=0)
    if mixture:
        made |= {key: value for key, value in _experts(c).items() if key != "expert_feed_forward_length"}
    if shared:
        made["expert_shared_feed_forward_length"] = shared
        made |= {} if mixture else {"feed_forward_length": shared}
    if f.find("model_type", default="") != "granitemoehybrid":
        return made
    turned, kinds = f.find("position_embedding_type", default=None) == "rope", granite_kinds(c)
    if not set(kinds) & set(MAMBA):  # the architecture of Granite 3, whose layers have positions
        if not turned:
            raise unsaid("layers have no positions")
        return made
    made |= _mamba(c, granite_sizes(c))
    return made | _kv_heads(c, [kind in ATTENTION for kind in kinds]) | {"rope.scaling.finetuned": turned}


def _nemotron_h(c: TextConfig) -> KeyValues:
    f, kinds = c.fields, block_kinds(c.fields.values)
    _only(c, "mlp_hidden_act", "relu2")
    mixture = "moe" in kinds
    width = {"mlp": c.ffn, "moe": f.int("moe_intermediate_size") if mixture else 0}
    made = _kv_heads(c, [kind == "attention" for kind in kinds]) | _mamba(c, nemotron_sizes(c))
    made |= {
        "feed_forward_length": [width.get(kind, 0) for kind in kinds],
        "attention.layer_norm_epsilon": c.eps,
    }
    if not mixture:
        return made
    narrow = f.int("moe_latent_size", default=0, least=0)
    made |= {"moe_latent_size": narrow} if narrow else {}
    return (
        made
        | _experts(c)
        | {
            "expert_shared_feed_forward_length": f.int("moe_shared_expert_intermediate_size"),
            "expert_shared_count": 1,
            "expert_weights_norm": f.flag("norm_topk_prob", True),
            "expert_weights_scale": f.float("routed_scaling_factor", default=1.0),
            "expert_group_count": f.int("n_group", default=1),
            "expert_group_used_count": f.int("topk_group", default=1),
            "expert_gating_func": _SIGMOID,
        }
    )


KEYS: dict[str, Callable[[TextConfig], KeyValues]] = {
    "bitnet": _bitnet,
    "cohere2": _cohere2,
    "deepseek2": _deepseek2,
    "ernie4_5-moe": _ernie_moe,
    "exaone4": lambda c: _sliding(c, 4),
    "gemma3": _gemma3,
    "gemma3n": _gemma3n,
    "gemma4": _gemma4,
    "glm4moe": lambda c: _routed(c, sigmoid=True),
    "gpt-oss": _gpt_oss,
    "granite": _granite,
    "granitehybrid": _granite,
    "granitemoe": _granite,
    "hunyuan-moe": _hunyuan_moe,
    "laguna": _laguna,
    "lfm2": _lfm2,
    "lfm2moe": _lfm2,
    "minimax-m2": _minimax_m2,
    "mistral3": _mistral3,
    "muse-glimmer": _muse_glimmer,
    "nemotron_h": _nemotron_h,
    "nemotron_h_moe": _nemotron_h,
    "olmo2": _olmo2,
    "phi3": _phi3,
    "qwen35": _delta,
    "qwen35moe": _delta_moe,
    "qwen3moe": _qwen3_moe,
    "qwen3vlmoe": _qwen3_vl_moe,
    "qwen3next": _delta_moe,
    "smollm3": _smollm3,
}
