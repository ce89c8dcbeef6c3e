"""GGUF files of encoders, as llama.cpp's converter writes them: vectors, scores and tokens of the checkpoint they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.loaded import LoadedEncoder
from engine.loading import LoadOptions, load_any
from engine.models.text_encoder import TextInput
from tests.encoder_checkpoints import MARKS, PIECES, VOCAB, WORDS, reference, save_word_pieces
from tests.engine.models.test_text_encoders import ended

ARCHITECTURES = {
    "bert": "bert",
    "xlm-roberta": "bert",
    "nomic_bert": "nomic-bert",
    "embedding_gemma": "gemma-embedding",
}
TEXTS = ["the sea is blue.", "Bread", "it was as blue as the sky above it yesterday and so is the sea"]
_BERT = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
    "classifier": "cls.output",
    "classifier.dense": "cls",
    "classifier.out_proj": "cls.output",
}
_NOMIC = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "attn_output_norm",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_proj": "ffn_gate",
    "mlp.down_proj": "ffn_down",
    "post_mlp_layernorm": "layer_output_norm",
}
_GEMMA = {
    "embed_tokens": "token_embd",
    "norm": "output_norm",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def tensors_of(kind: str, model: Any) -> dict[str, np.ndarray]:
    names = {"nomic_bert": _NOMIC, "embedding_gemma": _GEMMA}.get(kind, _BERT)
    made: dict[str, np.ndarray] = {}
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    for name, value in state.items():
        plain = name.removeprefix("bert.").removeprefix("roberta.")
        stem, _, part = plain.rpartition(".")
        if "pooler" in plain or stem.endswith("rotary_emb") or plain in ("embeddings.position_ids",):
            continue
        _, found, inner = stem.rpartition("layers." if "layers." in stem else "layer.")
        number, _, rest = inner.partition(".")
        where = f"blk.{number}." if found and number.isdigit() else ""
        key = rest if where else stem
        if kind == "nomic_bert" and key in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"):
            if key.endswith("q_proj"):
                parts = [state[name.replace("q_proj", f"{p}_proj")] for p in "qkv"]
                made[f"{where}attn_qkv.weight"] = np.concatenate(parts)
            continue
        if plain == "embeddings.position_embeddings.weight" and kind == "xlm-roberta":
            value = value[2:]
        if kind == "embedding_gemma" and part == "weight" and key.endswith("norm"):
            value = value + 1
        made[f"{where}{names[key]}.{part}"] = value.squeeze() if value.ndim > 1 else value  # as the converter does
    return made


def write(kind: str, path: Path, head: bool = False, model: Any = None) -> Path:
    """`model`: one of the reference library, if not the tiny one of this kind."""
    import gguf

    model = model or reference(kind, head)
    arch, config = ARCHITECTURES[kind], model.config
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings - (2 if kind == "xlm-roberta" else 0))
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_pooling_type(gguf.PoolingType.RANK if head else gguf.PoolingType.MEAN)
    if kind == "embedding_gemma":
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(config.head_dim)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_sliding_window((config.sliding_window - 1) * 2)
    else:
        writer.add_layer_norm_eps(config.layer_norm_eps)
        writer.add_causal_attention(False)
        writer.add_token_type_count(getattr(config, "type_vocab_size", 1))
    if kind == "nomic_bert":
        writer.add_rope_freq_base(1000.0)
    write_vocabulary(writer)
    for name, value in tensors_of(kind, model).items():
        writer.add_tensor(name, np.ascontiguousarray(value))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_vocabulary(writer: Any) -> None:
    tokens = [*MARKS, *(f"▁{word}" for word in WORDS)]
    tokens += [piece.removeprefix("##") if piece.startswith("##") else f"▁{piece}" for piece in PIECES]
    kinds = [3] * len(MARKS) + [1] * (len(tokens) - len(MARKS))
    tokens += [f"▁[unused{i}]" for i in range(VOCAB - len(tokens))]
    # the last of equal tokens counts, and llama.cpp takes none twice
    tokens = [f"▁[unused-{i}]" if token in tokens[i + 1 :] else token for i, token in enumerate(tokens)]
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds + [5] * (VOCAB - len(kinds)))
    for name, id in (("cls", 2), ("seperator", 3), ("padding", 0), ("unknown", 1), ("mask", 4)):
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", id)


def opened(path: Path, backend: str) -> LoadedEncoder:
    loaded = load_any(str(path), LoadOptions(backend=backend, device="cpu", dtype="f32", download=False))
    assert isinstance(loaded, LoadedEncoder)
    return loaded


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("kind", sorted(set(ARCHITECTURES) - {"embedding_gemma"}))
def test_hidden_states_are_the_checkpoints(kind: str, backend: str, tmp_path: Path) -> None:
    import torch

    loaded = opened(write(kind, tmp_path / "tiny.gguf"), backend)
    for text in TEXTS:
        ids = loaded.tokenizer.encode(text)
        (made,) = ended(loaded.model.pooled([TextInput(ids)], "mean"))
        with torch.no_grad():
            want = reference(kind)(torch.tensor([ids])).last_hidden_state[0].mean(0).numpy()
        assert made == pytest.approx(want, abs=1e-4)


def test_tokens_are_those_of_the_checkpoints_tokenizer(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    save_word_pieces(tmp_path)
    theirs, ours = (
        Tokenizer.from_file(str(tmp_path / "tokenizer.json")),
        opened(write("bert", tmp_path / "t.gguf"), "torch"),
    )
    for text in (*TEXTS, "Äs, so? breads", ""):
        assert ours.tokenizer.encode(text) == theirs.encode(text).ids
    both = theirs.encode("sea", "sky")
    assert ours.tokenizer.pair("sea", "sky", 50) == (both.ids, both.type_ids)


def test_a_reranker_gives_the_checkpoints_scores(tmp_path: Path) -> None:
    import torch

    loaded = opened(write("xlm-roberta", tmp_path / "tiny.gguf", head=True), "torch")
    assert loaded.ranks
    assert loaded.config["pooling"] == "rank"
    ids, _ = loaded.tokenizer.pair("sea", "the sea is blue", 50)
    (made,) = ended(loaded.model.logits([TextInput(ids)]))
    with torch.no_grad():
        want = reference("xlm-roberta", True)(torch.tensor([ids])).logits[0].numpy()
    assert made == pytest.approx(want, abs=1e-5)


def test_scores_make_a_vocabulary_of_xlm_roberta(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from engine.weights.gguf.tokenizer import surround, unigram

    tokens = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁s", "ea", "▁sea", "s"]
    scores = [0.0, 0.0, 0.0, 0.0, -1.0, -3.0, -3.0, -2.0, -4.0]
    specials = {"bos": 0, "eos": 2, "unknown": 3}
    v: Any = SimpleNamespace(
        tokens=tokens,
        scores=lambda: scores,
        special=specials.get,
        metadata={},
        ids={token: id for id, token in enumerate(tokens)},
    )
    backend = unigram(v)
    surround(backend, v, words=False)
    assert backend.encode("the sea  seas").tokens == ["<s>", "▁the", "▁sea", "▁sea", "s", "</s>"]
    assert backend.encode("sea", "the").tokens == ["<s>", "▁sea", "</s>", "</s>", "▁the", "</s>"]
    assert backend.encode("sea", "the").type_ids == [0] * 6
