"""`grus embed` and `grus rerank`, and the same from Python, as people use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grus
from app.cli import main
from engine.errors import BadRequest, ContextOverflow, MissingCapability
from tests.app.fresh import several
from tests.asserting import every
from tests.checkpoints import reference_cached
from tests.checkpoints import save as save_decoder
from tests.encoder_checkpoints import reference, save, save_modules
from tests.needs import need_kernels

TEXTS = ["the sea is blue.", "bread", "it was as blue as the sky above it yesterday, and so is the sea"]
PROMPTS = {"prompts": {"query": "sea ", "document": ""}}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = save("bert", tmp_path_factory.mktemp("embed") / "bert")
    save_modules(folder, "mean_tokens", dense=24, **PROMPTS)
    return str(folder)


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save("bert", tmp_path_factory.mktemp("embed") / "ranker", head=True))


def options(backend: str = "torch") -> dict[str, Any]:
    return {"backend": backend, "device": "cpu", "dtype": "f32"}


def wanted(folder: str, text: str, prompt: str = "") -> np.ndarray:
    """By the reference library, with the layers behind it by hand."""
    import torch
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(f"{folder}/tokenizer.json").encode(prompt + text).ids
    with torch.no_grad():
        mean = reference("bert")(torch.tensor([ids])).last_hidden_state[0].mean(0).numpy()
    made = load_file(f"{folder}/2_Dense/model.safetensors")["linear.weight"] @ mean
    return np.asarray(made / np.linalg.norm(made))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_vectors_are_those_of_the_references_modules(bert: str, backend: str) -> None:
    made = grus.embed(TEXTS, model=bert, options=options(backend))
    assert made.shape == (3, 24)
    assert made == pytest.approx(np.stack([wanted(bert, text) for text in TEXTS]), abs=1e-5)
    (asked,) = grus.embed(TEXTS[:1], model=bert, prompt="query", options=options(backend))
    assert asked == pytest.approx(wanted(bert, TEXTS[0], "sea "), abs=1e-5)
    short = grus.embed(TEXTS[0], model=bert, dimensions=8, options=options(backend))
    assert short == pytest.approx(made[0, :8] / np.linalg.norm(made[0, :8]), abs=1e-6)


def test_many_texts_are_packed_and_keep_their_order(bert: str) -> None:
    many = [TEXTS[i % 3] for i in range(300)]  # more tokens than one run takes
    made = grus.embed(many, model=bert, options=options())
    assert made[:3] == pytest.approx(np.stack([wanted(bert, text) for text in TEXTS]), abs=1e-5)
    assert every(np.allclose(made[i], made[i % 3], atol=1e-6) for i in range(300))


def test_what_makes_no_sense_is_refused(bert: str, ranker: str, tmp_path: Path) -> None:
    long = "bread " * 200
    with pytest.raises(ContextOverflow, match="can read 80"):
        grus.embed(long, model=bert, options=options())
    assert grus.embed(long, model=bert, truncate=True, options=options()).shape == (24,)
    with pytest.raises(BadRequest, match=r"no prompt 'poem'.*query, document"):
        grus.embed("a", model=bert, prompt="poem", options=options())
    with pytest.raises(BadRequest, match="24 dimensions"):
        grus.embed("a", model=bert, dimensions=25, options=options())
    with pytest.raises(MissingCapability, match="ranks texts"):
        grus.embed("a", model=ranker, options=options())
    with pytest.raises(BadRequest, match="does not rank"):
        grus.rerank("a", ["b"], model=str(save_decoder("qwen3", tmp_path / "chat")), options=options())


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_cross_encoder_puts_documents_in_the_references_order(ranker: str, backend: str) -> None:
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{ranker}/tokenizer.json")
    scores = []
    for text in TEXTS:
        both = tokenizer.encode("blue sea", text)
        with torch.no_grad():
            given = {"input_ids": torch.tensor([both.ids]), "token_type_ids": torch.tensor([both.type_ids])}
            scores.append(float(torch.sigmoid(reference("bert", True)(**given).logits[0, 0])))
    ranked = grus.rerank("blue sea", TEXTS, model=ranker, options=options(backend))
    assert [one.index for one in ranked] == sorted(range(3), key=lambda at: -scores[at])
    assert every(one.score == pytest.approx(scores[one.index], abs=1e-5) for one in ranked)
    assert [one.text for one in grus.rerank("blue sea", TEXTS, model=ranker, top=1, options=options(backend))] == [
        TEXTS[ranked[0].index]
    ]


def test_a_pair_that_is_too_long_loses_the_end_of_the_longer_text(ranker: str) -> None:
    from engine.text.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_folder(ranker)
    for first, second in (("sea", "bread " * 200), ("bread " * 200, "sea"), ("bread " * 200, "sea " * 200)):
        reference_ids = _reference_pair(ranker, first, second, 80)
        assert tokenizer.pair(first, second, 80) == reference_ids
    (only,) = grus.rerank("sea", ["bread " * 200], model=ranker, options=options())
    assert 0 < only.score < 1


def _reference_pair(folder: str, first: str, second: str, most: int) -> tuple[list[int], list[int]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(most)
    both = tokenizer.encode(first, second)
    return both.ids, both.type_ids


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_model_that_says_yes_or_no_is_scored_by_both_tokens(tmp_path: Path, backend: str) -> None:
    """As Qwen3-Reranker's own code does."""
    import torch

    from engine.pipelines.ranking import yes_no_ids
    from tests.checkpoints import SPECIALS, save_tokenizer

    folder = save_decoder("qwen3", tmp_path / "tiny-reranker")
    save_tokenizer(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1024}))
    path = folder / "tokenizer.json"
    described = json.loads(path.read_text())
    vocabulary = described["model"]["vocab"]
    for word, char in (("yes", "Ā"), ("no", "ā")):  # two bytes' tokens under new names
        vocabulary[word] = vocabulary.pop(char)
    path.write_text(json.dumps(described))
    with grus.EmbeddingModel(str(folder), grus_options(backend)) as model:
        assert model.ranks
        tokenizer = model.loaded.tokenizer
        assert SPECIALS[1] in tokenizer.decode(yes_no_ids(model.loaded, "a", "b"), skip_special=False)
        made = model.rank("a", ["b", "c"])
        for one in made:
            ids = yes_no_ids(model.loaded, "a", one.text)
            with torch.no_grad():
                logits = reference_cached("qwen3")(torch.tensor([ids])).logits[0, -1]
            yes, no = (float(logits[tokenizer.id(word)]) for word in ("yes", "no"))
            assert one.score == pytest.approx(1 / (1 + np.exp(no - yes)), abs=1e-5)
        assert made[0].score > made[1].score


def grus_options(backend: str) -> Any:
    from engine.loading import LoadOptions

    return LoadOptions(**options(backend), quant="none", memory_limit=1 << 30)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([*map(str, arguments), "--backend", "auto", "--device", "cpu"])
    return code, *capsys.readouterr()


def test_the_command_writes_vectors(bert: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "embed", *TEXTS, "--model", bert)
    assert (code, err) == (0, "")
    rows = np.array([json.loads(line) for line in out.splitlines()])
    assert rows == pytest.approx(np.stack([wanted(bert, text) for text in TEXTS]), abs=1e-5)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    for name in ("v.npy", "v.csv"):
        code, _, err = run(capsys, "embed", "--file", tmp_path / "texts.txt", "--model", bert, "-o", tmp_path / name)
        assert (code, err.startswith("3 vectors of 24 numbers")) == (0, True)
    assert np.load(tmp_path / "v.npy") == pytest.approx(rows, abs=1e-6)
    assert np.loadtxt(tmp_path / "v.csv", delimiter=",") == pytest.approx(rows, abs=1e-6)
    code, _, err = run(capsys, "embed", "a", "--model", bert, "-o", tmp_path / "v.doc")
    assert (code, "must end in" in err) == (2, True)


def test_the_command_ranks(ranker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "rerank", "blue sea", *TEXTS, "--model", ranker, "--top", 2, "--json")
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == 2
    assert found[0]["score"] >= found[1]["score"]
    code, out, _ = run(capsys, "rerank", "blue sea", *TEXTS, "--model", ranker)
    assert [line.split("  ", 1)[1] for line in out.splitlines()][:2] == [one["text"] for one in found]


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_both_commands_in_a_new_process(bert: str, ranker: str, backend: str) -> None:
    where = ["--backend", backend, "--device", "cpu", "--dtype", "f32"]
    made, ranked = several(
        ["embed", *TEXTS, "--model", bert, *where],
        ["rerank", "blue sea", *TEXTS, "--model", ranker, "--json", *where],
    )
    assert (made.code, ranked.code) == (0, 0), (made.err, ranked.err)
    rows = np.array([json.loads(line) for line in made.out.splitlines()])
    assert rows == pytest.approx(np.stack([wanted(bert, text) for text in TEXTS]), abs=1e-5)
    scores = [json.loads(line)["score"] for line in ranked.out.splitlines()]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


@pytest.mark.torch_only("MLX's CPU build multiplies no blocks")
def test_a_cpu_computes_in_eight_bits_and_says_so(tmp_path: Path) -> None:
    need_kernels()
    from tests.engine.models.test_text_encoders import wide

    folder = wide("bert", tmp_path / "wide")
    save_modules(folder)
    plain = ["--model", folder, "--backend", "torch", "--device", "cpu"]
    rounded, exact, in_f32, ranked = several(
        ["embed", *TEXTS, *plain],
        ["embed", *TEXTS, *plain, "--quant", "none"],
        ["embed", *TEXTS, *plain, "--dtype", "f32"],
        ["rerank", TEXTS[0], *TEXTS, *plain, "--json"],
    )
    assert (rounded.code, exact.code, in_f32.code, ranked.code) == (0, 0, 0, 0), (rounded.err, ranked.err)
    assert every("kept as q8_0" in one.err for one in (rounded, ranked))
    assert every("q8_0" not in one.err for one in (exact, in_f32))
    made, whole, same = (
        np.array([json.loads(line) for line in one.out.splitlines()]) for one in (rounded, exact, in_f32)
    )
    assert np.array_equal(whole, same)
    assert not np.array_equal(made, whole)
    assert every(cosine >= 0.999 for cosine in (made * whole).sum(1))
    assert json.loads(ranked.out.splitlines()[0])["index"] == 0
