"""MLX: operations of a decode step, for every architecture that mlx-lm has too. Tiny checkpoints, batches of one and three.

    python -m tests.bench primitives

What a step costs beside arithmetic is building and issuing its graph, which grows with the operations in it. On Metal fused kernels count
as one each, here as what they consist of. An architecture that mlx-lm does not open as it was saved here has no row.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.table import Row

BATCHES = (1, 3)
PROMPT = 8  # tokens


def rows() -> list[Row]:
    import mlx.core as mx

    from tests.checkpoints import MODELS

    mx.set_default_device(mx.cpu)  # both of them compute there, on any machine
    found = []
    for name in sorted(MODELS):
        with tempfile.TemporaryDirectory() as folder:
            found += _rows_of(name, Path(folder))
    return found


def _rows_of(name: str, place: Path) -> list[Row]:
    reason = ""
    for folder in _saved(name, place):
        try:
            peers = [of_mlx_lm(folder, batch) for batch in BATCHES]
        except Exception as error:  # of mlx-lm's, of any kind: another spelling may do
            reason = f"{type(error).__name__}: {error}"
            continue
        return [
            Row(f"{name}, batch {batch}", "", ours(folder, batch), peer, "mlx-lm", "<= theirs", False)
            for batch, peer in zip(BATCHES, peers)
        ]
    print(f"{name} has no row, since mlx-lm does not open it: {reason}", file=sys.stderr)
    return []


def _saved(name: str, place: Path) -> Iterator[Path]:
    """The same checkpoint in the spellings in which repositories are published."""
    from tests.checkpoints import save, save_as_qwen_publishes

    for spelling in ("old", "new"):
        yield save(name, place / spelling, spelling)
        if (wrapped := _inside_of_a_seeing_model(place / spelling, place / f"{spelling} wrapped")) is not None:
            yield wrapped
    yield save(name, place / "tied", "old", tie_word_embeddings=True)
    if name == "qwen3_5_moe":
        folder = save_as_qwen_publishes(place / "old", place / "published")
        for file in (place / "old").glob("tokenizer*"):
            shutil.copy(file, folder)
        yield folder


def _inside_of_a_seeing_model(source: Path, folder: Path) -> Path | None:
    """As a text model is published that has an image encoder beside it, here without one."""
    from safetensors.torch import load_file, save_file

    config = json.loads((source / "config.json").read_text())
    whole, found, _ = str(config["model_type"]).partition("_text")
    if not found:
        return None
    shutil.copytree(source, folder)
    tensors = {
        name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name: tensor
        for name, tensor in load_file(source / "model.safetensors").items()
    }
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({"model_type": whole, "text_config": config, "vision_config": {}}))
    return folder


def ours(folder: Path, batch: int) -> int:
    from engine.loading import LoadOptions, load

    loaded = load(str(folder), LoadOptions(backend="mlx", device="cpu", dtype="f32", memory_limit=1 << 30))
    try:
        counted: int = loaded.runner.count_primitives(batch)  # type: ignore[attr-defined]
        return counted
    finally:
        loaded.close()


def of_mlx_lm(folder: Path, batch: int) -> int:
    """The next token, and what is remembered for the one after it."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.models.cache import make_prompt_cache
    from mlx_lm.utils import load_model

    from backends.mlx.primitives import count_primitives

    model: Any = load_model(folder)[0]
    cache = make_prompt_cache(model)
    ids = mx.stack([mx.arange(5 + i, 5 + i + PROMPT) for i in range(batch)])
    token = mx.argmax(model(ids, cache=cache)[:, -1:], -1)
    mx.eval(token, [c.state for c in cache])
    token = mx.argmax(model(token, cache=cache)[:, -1:], -1)
    kept = [array for _, array in tree_flatten([c.state for c in cache]) if isinstance(array, mx.array)]
    return count_primitives(token, *kept)
