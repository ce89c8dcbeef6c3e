"""Encoders of texts against the reference library, on both backends: hidden states, pooling, scores of cross-encoders."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, WeightsError
from engine.loaded import LoadedEncoder
from engine.loading import LoadOptions, load_any, weight_bytes
from engine.models.text_encoder import TextInput, pool
from tests.asserting import every
from tests.encoder_checkpoints import KINDS, VOCAB, reference, save, save_word_pieces
from tests.needs import need_kernels

LENGTHS = [1, 40, 7, 23]


def texts(seed: int = 0) -> list[TextInput]:
    random = np.random.default_rng(seed)
    return [TextInput(random.integers(5, VOCAB, n).tolist()) for n in LENGTHS]


def ended(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def opened(folder: Path, backend: str) -> LoadedEncoder:
    loaded = load_any(str(folder), LoadOptions(backend=backend, device="cpu", dtype="f32", download=False))
    assert isinstance(loaded, LoadedEncoder)
    return loaded


@pytest.fixture(scope="module", params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(kind, tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_packed_texts_have_the_references_hidden_states(kind: str, folder: Path, backend: str) -> None:
    import torch

    loaded, given = opened(folder, backend), texts()
    hidden = loaded.backend.ops.numpy(ended(loaded.model.hidden(given)))
    parts = np.split(hidden, np.cumsum(LENGTHS)[:-1])
    for text, part in zip(given, parts):
        with torch.no_grad():
            want = reference(kind)(torch.tensor([text.ids])).last_hidden_state[0].numpy()
        assert part == pytest.approx(want, abs=1e-4)
    means = ended(loaded.model.pooled(given, "mean"))
    assert means == pytest.approx(np.stack([part.mean(0) for part in parts]), abs=1e-5)
    firsts = ended(loaded.model.pooled(given, "cls"))
    assert np.array_equal(firsts, np.stack([part[0] for part in parts]))
    assert np.array_equal(ended(loaded.model.pooled(given, "last")), np.stack([part[-1] for part in parts]))


def test_windows_are_crossed(kind: str, folder: Path) -> None:
    """A token at the end changes the first one's hidden state only where some layer attends to everything."""
    loaded = opened(folder, "torch")
    (text,) = [text for text in texts() if len(text.ids) == 40]
    other = TextInput([*text.ids[:-1], text.ids[-1] ^ 1])
    one, two = (ended(loaded.model.hidden([each]))[0] for each in (text, other))
    assert float(np.abs(loaded.backend.ops.numpy(one) - loaded.backend.ops.numpy(two)).max()) > 1e-4


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "modernbert"])
def test_a_cross_encoder_gives_the_references_scores(family: str, tmp_path: Path, backend: str) -> None:
    import torch

    loaded = opened(save(family, tmp_path / "tiny", head=True), backend)
    assert loaded.ranks
    given = [TextInput(text.ids, [0] * 3 + [1] * (len(text.ids) - 3)) if family == "bert" and len(text.ids) > 3 else text
             for text in texts(1)]  # fmt: skip
    made = ended(loaded.model.logits(given))
    for text, logits in zip(given, made):
        more = {} if text.types is None else {"token_type_ids": torch.tensor([text.types])}
        with torch.no_grad():
            want = reference(family, True)(torch.tensor([text.ids]), **more).logits[0].numpy()
        assert logits == pytest.approx(want, abs=1e-5 * max(1.0, float(abs(want).max())))


@pytest.mark.parametrize(
    ("pooling", "want"),
    [
        ("max", [[3, 4], [5, 6]]),
        ("mean", [[2, 3], [5, 6]]),
        ("mean_sqrt_len", [[4 / 2**0.5, 6 / 2**0.5], [5, 6]]),
        ("weightedmean", [[7 / 3, 10 / 3], [5, 6]]),
    ],
)
def test_pooling(pooling: Any, want: list[list[float]]) -> None:
    hidden = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    assert pool(hidden, np.array([0, 2]), pooling) == pytest.approx(np.array(want))


def test_what_is_wrong_with_a_checkpoint_is_said(tmp_path: Path) -> None:
    broken = save("bert", tmp_path / "tiny")
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps(config | {"num_attention_heads": 5}))
    with pytest.raises(ConfigError, match="5 heads"):
        opened(broken, "torch")
    (broken / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 4}))
    with pytest.raises(WeightsError, match=r"encoder\.layer\.3"):
        opened(broken, "torch")


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    made: np.ndarray = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return made


WIDE: dict[str, Any] = dict(hidden_size=384, num_hidden_layers=3, num_attention_heads=6, intermediate_size=1536)


def wide(kind: str, folder: Path, use: str = "Model") -> Path:
    """A checkpoint of published width, as the reference library initializes it, but with some dimensions in the first layer that are ten
    times as large as the others, as trained ones have them."""
    import torch
    import transformers

    name, fields = KINDS[kind]
    more = {"max_position_embeddings": 600, "head_dim": 64, "num_key_value_heads": 2} | WIDE
    known = {key: value for key, value in more.items() if key in fields}
    if kind == "modernbert":
        known["num_hidden_layers"] = 4
    torch.manual_seed(len(kind))
    config = getattr(transformers, f"{name}Config")(**fields | known, num_labels=1)
    model = getattr(transformers, f"{name}{use}")(config).eval()
    with torch.no_grad():
        for where, parameter in model.named_parameters():
            if ".0." in where and "norm" in where.lower() and parameter.shape == (WIDE["hidden_size"],):
                parameter[::96] += 10
    model.save_pretrained(folder)
    save_word_pieces(folder)
    return folder


@pytest.mark.torch_only("MLX's CPU build multiplies no blocks")
def test_on_a_cpu_layers_are_kept_in_eight_bits_and_vectors_stay_comparable(kind: str, tmp_path: Path) -> None:
    need_kernels()
    folder = wide(kind, tmp_path / "wide")
    whole = opened(folder, "torch")
    usual, asked = (
        load_any(str(folder), LoadOptions(backend="torch", device="cpu", download=False, quant=quant))
        for quant in ("auto", "none")
    )
    assert isinstance(usual, LoadedEncoder)
    assert isinstance(asked, LoadedEncoder)
    assert (whole.quant, usual.quant, asked.quant) == (None, "q8_0", None)
    assert usual.weight_bytes < 0.5 * whole.weight_bytes == 0.5 * asked.weight_bytes
    estimated = weight_bytes(str(folder), LoadOptions(backend="torch", device="cpu"))
    assert estimated == usual.weight_bytes
    random = np.random.default_rng(0)
    given = [TextInput(random.integers(5, VOCAB, n).tolist()) for n in (1, 16, 77, 256, 513)]
    if kind == "nomic_bert":
        given.pop()  # its rope is the trained one for fewer tokens
    for pooling in ("mean",) if kind == "embedding_gemma" else ("mean", "cls"):  # as models of these kinds pool
        exact, rounded, same = (ended(one.model.pooled(given, pooling)) for one in (whole, usual, asked))
        assert np.array_equal(exact, same)
        assert not np.array_equal(exact, rounded)
        assert every(cosine >= 0.999 for cosine in cosines(exact, rounded))


def test_a_narrow_encoder_stays_as_it_is(kind: str, folder: Path) -> None:
    usual = load_any(str(folder), LoadOptions(backend="torch", device="cpu", download=False))
    assert isinstance(usual, LoadedEncoder)
    assert usual.quant is None


@pytest.mark.torch_only("MLX's CPU build multiplies no blocks")
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "modernbert"])
def test_scores_of_a_cross_encoder_stay_near_in_eight_bits(family: str, tmp_path: Path) -> None:
    need_kernels()
    folder, given = wide(family, tmp_path / "wide", "ForSequenceClassification"), texts(1)
    usual = load_any(str(folder), LoadOptions(backend="torch", device="cpu", download=False))
    assert isinstance(usual, LoadedEncoder)
    assert (usual.ranks, usual.quant) == (True, "q8_0")
    exact, rounded = (ended(one.model.logits(given)) for one in (opened(folder, "torch"), usual))
    assert not np.array_equal(exact, rounded)
    assert rounded == pytest.approx(exact, abs=0.05 * float(np.abs(exact).max()))
