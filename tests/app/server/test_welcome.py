"""What `grus serve` prints of the models that it has loaded."""

from __future__ import annotations

from pathlib import Path

from app.commands.serve import facts_of
from engine.loading import LoadOptions, load_any
from tests.checkpoints import save
from tests.spark_checkpoint import save_codec

OPTIONS = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 28)


def test_a_model_of_text_and_one_that_nothing_is_said_to(tmp_path: Path) -> None:
    talks = dict(facts_of(load_any(str(save("qwen3", tmp_path / "talks")), OPTIONS)))
    assert "tokens of context" in talks["model"]
    assert "for conversations" in talks["memory"]
    codec = dict(facts_of(load_any(str(save_codec(tmp_path / "codec")), OPTIONS)))
    assert "codec" in codec["model"]
    assert codec["memory"].endswith("of weights")
