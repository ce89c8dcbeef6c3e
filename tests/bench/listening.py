"""Listening on this CPU at Moonshine-base's shape: seconds of work for a second of sound, against the reference library.

Ten seconds of sound and forty tokens, through the whole engine: encoder, keys and values of the cross attention, decoding.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.hearers import SECONDS
from tests.bench.peers import Peer
from tests.bench.shapes import KEPT
from tests.bench.table import Row, paired
from tests.checkpoints import save_tokenizer

ROUNDS, TOGETHER = 7, 6
BASE: dict[str, Any] = dict(
    vocab_size=32768, hidden_size=416, intermediate_size=1664, encoder_num_hidden_layers=8, decoder_num_hidden_layers=8,
    encoder_num_attention_heads=8, decoder_num_attention_heads=8, encoder_num_key_value_heads=8,
    decoder_num_key_value_heads=8, pad_head_dim_to_multiple_of=8, max_position_embeddings=194,
    rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.62), tie_word_embeddings=True,
    bos_token_id=1, eos_token_id=2, pad_token_id=2, decoder_start_token_id=1, attention_bias=False,
)  # fmt: skip


def listening_checkpoint() -> Path:
    """Moonshine-base's shape with random weights, made once by the reference library."""
    folder = KEPT / "moonshine-base-f32"
    if (folder / "ready").exists():
        return folder
    import torch
    import transformers

    torch.manual_seed(0)
    transformers.MoonshineForConditionalGeneration(transformers.MoonshineConfig(**BASE)).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | BASE["rope_parameters"]))  # as the published file has it
    save_tokenizer(folder)
    (folder / "ready").touch()
    return folder


def rows() -> list[Row]:
    folder, found = listening_checkpoint(), []
    for weights in ("f32", "q8_0"):
        with (
            Peer("grus-listening", folder, weights) as ours,
            ours.rival("transformers-listening", folder, "f32") as peer,
        ):
            for sounds, rounds in ((1, ROUNDS), (TOGETHER, 2)):
                a, b = paired(rounds, *(partial(side.ask, "transcribe", sounds=sounds) for side in (ours, peer)))
                what = "one sound" if sounds == 1 else f"{sounds} sounds together"
                per = sounds * SECONDS
                unit, name = "s of work a s of sound", "transformers, f32"
                aim = ">= 2x" if sounds == 1 else ""
                found.append(Row(f"{weights}, {what}", unit, a / per, b / per, name, aim, more_is_better=False))
    return found
