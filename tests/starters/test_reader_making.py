"""How the Reader is made: the text and pictures it learns from, and that its network is the published architecture."""

from __future__ import annotations

import random
from pathlib import Path

import evaluate_reader
import export_reader
import line_fonts
import line_text
import numpy as np
import pytest
import reader_model
import torch
import transformers
from reader_heldout import SENTENCES

from tests.asserting import every


def test_lines_are_seeded_trimmed_and_use_every_character() -> None:
    lines = [line_text.line(random.Random(seed), 40) for seed in range(1500)]
    assert lines[:50] == [line_text.line(random.Random(seed), 40) for seed in range(50)]
    assert every(text == " ".join(text.split()) and 1 <= len(text) <= 45 for text in lines)
    assert set("".join(lines)) == set(line_text.CHARACTERS)


def test_no_held_out_sentence_and_no_held_out_font_is_learned_from() -> None:
    lines = " ".join(line_text.line(random.Random(seed), 60) for seed in range(300))
    assert not any(sentence[:24] in lines for sentence in SENTENCES)
    held_out = {pattern for table in line_fonts.HELD_OUT.values() for pattern in table}
    assert held_out.isdisjoint(pattern for table in line_fonts.TRAINING.values() for pattern in table)


@pytest.mark.parametrize(
    ("read", "wanted", "wrong"), [("sitting", "kitten", 3), ("", "abc", 3), ("abc", "", 3), ("a", "a", 0)]
)
def test_the_error_rate_counts_insertions_losses_and_changes(read: str, wanted: str, wrong: int) -> None:
    assert evaluate_reader.distance(read, wanted) == wrong


def test_white_space_and_quotes_count_alike() -> None:
    assert evaluate_reader.plain("“A  b”\n‘c’") == "\"A b\" 'c'"


def test_the_network_is_the_published_architecture(tmp_path: Path) -> None:
    """The trainer's shortcuts change nothing: exported with random weights, the reference says the same."""
    torch.manual_seed(0)
    network = reader_model.Reader().eval()
    weights = {name: value + 0.05 * torch.randn_like(value) for name, value in network.state_dict().items()}
    network.load_state_dict(weights)
    export_reader.export(weights, tmp_path, torch.float32)
    reference = transformers.PaddleOCRVLForConditionalGeneration.from_pretrained(tmp_path, attn_implementation="eager")
    columns, side = 24, export_reader.RULES.height
    strip = torch.rand(side, columns * reader_model.COLUMN) * 2 - 1
    text = torch.tensor([[reader_model.FIRST + i for i in (3, 50, 70, 94)]])
    stretched = strip.repeat_interleave(export_reader.RULES.stretch, 1)
    patches = stretched.view(side, columns, side).permute(1, 0, 2)[:, None].expand(-1, 3, -1, -1).contiguous()
    before, after = reader_model.BEFORE, reader_model.AFTER
    ids = torch.cat((torch.tensor([before + [reader_model.IMAGE] * columns + after]), text), 1)
    with torch.no_grad():
        ours, _ = network.speak(network.project(network.see(strip[None])), text)
        theirs = reference.eval()(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            pixel_values=patches,
            image_grid_thw=torch.tensor([[1, 1, columns]]),
            mm_token_type_ids=(ids == reader_model.IMAGE).int(),
        ).logits[:, -ours.shape[1] :]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-4)


def test_the_tokenizer_gives_a_token_a_character_and_the_prompt_its_few() -> None:
    tokenizer = export_reader.tokenizer()
    prompt = "<|begin_of_sentence|>User: <|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>OCR:\nAssistant: "
    image = [reader_model.IMAGE]
    assert tokenizer.encode(prompt).ids == reader_model.BEFORE + image + reader_model.AFTER
    text = "Total: $1,284.50 — “paid” (20%)"
    ids = tokenizer.encode(text).ids
    assert len(ids) == len(text)
    assert tokenizer.decode(ids) == text
