"""Models of GGUF repositories: `owner/name-GGUF:QUANT` picks the file, shards come together, and a file without a tokenizer
takes its base repository's."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.runtime.catalogue import Catalogue
from engine.errors import ModelNotFound, Offline
from engine.hub.cache import Named, cached_models, chosen, discard_unfinished, gguf_models, parse, remove
from engine.hub.download import download, wanted
from engine.hub.resolve import resolve
from engine.hub.searching import facts, search
from engine.loading import LoadOptions, load
from engine.model_files import open_model
from engine.weights.convert import convert
from engine.weights.gguf.reader import read
from engine.weights.gguf.writer import Plan, write
from tests.checkpoints import save, save_tokenizer

REPO = "o/m-GGUF"
SHARDS = ["m-Q6_K-00001-of-00002.gguf", "m-Q6_K-00002-of-00002.gguf"]
NAMES = ["README.md", "m-Q2_K.gguf", "m-Q4_K_M.gguf", "m.q8_0.gguf", *SHARDS, "mmproj-m-F16.gguf", "params.json"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("o/m", Named("o/m")),
        ("o/m@v1", Named("o/m", "v1")),
        ("o/m-GGUF:Q8_0", Named("o/m-GGUF", None, "Q8_0")),
        ("o/m-GGUF@v1:UD-Q4_K_XL", Named("o/m-GGUF", "v1", "UD-Q4_K_XL")),
        ("o/m:latest", Named("o/m")),
        ("o/m:", None),
        ("o/m@:Q8_0", None),
        ("o/m:../x", None),
        ("C:/models/x", None),
        ("http://x/y", None),
    ],
)
def test_names(name: str, expected: Named | None) -> None:
    assert parse(name) == expected


@pytest.mark.parametrize(("repo", "base"), [("o/m-GGUF", "o/m"), ("o/m-gguf", "o/m"), ("o/m", None), ("o/GGUF", None)])
def test_the_base_is_the_name_without_its_ending(repo: str, base: str | None) -> None:
    assert Named(repo).base == base


@pytest.mark.parametrize(
    ("quant", "files"),
    [
        (None, ["m-Q4_K_M.gguf"]),
        ("q2_k", ["m-Q2_K.gguf"]),
        ("Q8_0", ["m.q8_0.gguf"]),
        ("Q6_K", SHARDS),
        ("m-Q6_K", SHARDS),
        ("m-Q2_K.gguf", ["m-Q2_K.gguf"]),
        ("Q5_K_M", []),
        ("F16", []),
    ],
)
def test_a_quantization_picks_its_files(quant: str | None, files: list[str]) -> None:
    beside = ["params.json", "mmproj-m-F16.gguf"] if files else []
    assert wanted(NAMES, quant) == [name for name in NAMES if name in (*files, *beside)]


def test_one_of_several_image_encoders_comes_along() -> None:
    """The one with the nearest number of bits, and in the nearest folder."""
    names = [
        "m-Q4_K_M.gguf",
        "m-BF16.gguf",
        "mmproj-BF16.gguf",
        "mmproj-F32.gguf",
        "mmproj-Q8_0.gguf",
        "other/mmproj-Q4_0.gguf",
    ]
    assert wanted(names, "Q4_K_M") == ["m-Q4_K_M.gguf", "mmproj-Q8_0.gguf"]
    assert wanted(names, "BF16") == ["m-BF16.gguf", "mmproj-BF16.gguf"]
    inner = ["Q8/m-Q8_0.gguf", "Q8/mmproj-F16.gguf", "mmproj-Q8_0.gguf"]
    assert wanted(inner, "Q8_0") == ["Q8/m-Q8_0.gguf", "Q8/mmproj-F16.gguf"]


def test_kinds_are_told_by_names_of_many_makers() -> None:
    names = [
        "UD-Q4_K_XL/m-UD-Q4_K_XL-00001-of-00001.gguf",
        "m-IQ4_NL.gguf",
        "m.mxfp4.gguf",
        "m-TQ1_0.gguf",
        "m-BF16.gguf",
    ]
    models = gguf_models([*names, "Bonsai-8B-Q1_0.gguf", "plain.gguf", "other-IQ4_NL.gguf"])
    assert list(models) == ["UD-Q4_K_XL", "IQ4_NL", "MXFP4", "TQ1_0", "BF16", "Q1_0", "plain", "other-IQ4_NL"]
    assert chosen(models, "ud-q4_k_xl") == "UD-Q4_K_XL"


MANY = ["m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-BF16.gguf", "m-Q8_0.gguf", "other-Q8_0.gguf", "m-UD-Q2_K_XL.gguf"]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("q4_k_m", "Q4_K_M"),
        ("Q8_0", "Q8_0"),
        ("bf", "BF16"),
        ("Q2_K", "UD-Q2_K_XL"),
        ("k_s", "Q4_K_S"),
        ("other", "other-Q8_0"),
        ("f16", "BF16"),
        ("Q3_K", None),
    ],
)
def test_a_part_of_a_name_finds_its_file(part: str, found: str | None) -> None:
    assert chosen(gguf_models(MANY), part) == found


def test_a_part_that_fits_several_lists_them() -> None:
    with pytest.raises(ModelNotFound, match=r"^Q4_K fits several GGUF files: Q4_K_M, Q4_K_S\. Name one of them\.$"):
        chosen(gguf_models(MANY), "Q4_K")
    with pytest.raises(ModelNotFound, match="q8 fits several GGUF files: Q8_0, other-Q8_0"):
        wanted(MANY, "q8")


def test_the_middle_of_a_word_counts_only_where_it_may_be_a_guess() -> None:
    assert chosen(gguf_models(["m-BF16.gguf"]), "F16", loosely=False) is None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One tiny model twice, and once in two shards of which the second has no tensors."""
    root = tmp_path_factory.mktemp("files")
    folder = save("qwen3", root / "m", "old")
    made = {kind: convert(folder, root / f"m-{kind}.gguf", "gguf", kind.lower()) for kind in ("Q8_0", "Q4_0")}
    found = {path.name: path.read_bytes() for path in made.values()}
    found["no-tokenizer-Q8_0.gguf"] = without_tokenizer(made["Q8_0"], root / "bare.gguf").read_bytes()
    return found


def without_tokenizer(file: Path, target: Path) -> Path:
    opened = read(file)
    values = {key: value for key, value in opened.metadata.items() if not key.startswith("tokenizer.")}
    write(
        target, values, [Plan(t.name, t.dtype, t.shape, lambda t=t: [bytes(t.buffer)]) for t in opened.tensors.values()]
    )
    return target


def test_each_quantization_is_fetched_when_it_is_named(tmp_path, hub, files) -> None:
    hub.repos[REPO] = {name: files[name] for name in ("m-Q8_0.gguf", "m-Q4_0.gguf")}
    first = resolve(f"{REPO}:q8_0", tmp_path)
    assert first.name == "m-Q8_0.gguf"
    assert hub.served == ["m-Q8_0.gguf"]
    assert resolve(REPO, tmp_path, download=False) == first  # the only one that is here
    assert cached_models(tmp_path)[0].names == (REPO,)
    with pytest.raises(ModelNotFound, match="has only Q8_0"):
        resolve(f"{REPO}:Q4_0", tmp_path, download=False)
    second = resolve(f"{REPO}:Q4_0", tmp_path)
    assert [second.name, hub.served] == ["m-Q4_0.gguf", ["m-Q8_0.gguf", "m-Q4_0.gguf"]]
    assert cached_models(tmp_path)[0].names == (f"{REPO}:Q4_0", f"{REPO}:Q8_0")
    assert resolve(REPO, tmp_path, download=False) == second  # the usual choice of several
    with pytest.raises(ModelNotFound, match=r"has no Q3_K\. It has: Q8_0, Q4_0"):
        resolve(f"{REPO}:Q3_K", tmp_path)


def test_a_part_of_a_quantization_is_enough(tmp_path, hub, files) -> None:
    hub.repos[REPO] = {"m-Q8_0.gguf": files["m-Q8_0.gguf"], "m-Q4_K_M.gguf": files["m-Q4_0.gguf"], "x-BF16.gguf": b""}
    path = resolve(f"{REPO}:q4_k", tmp_path)
    assert (path.name, hub.served) == ("m-Q4_K_M.gguf", ["m-Q4_K_M.gguf"])
    asked = len(hub.asked)
    assert resolve(f"{REPO}:Q4_K", tmp_path) == resolve(f"{REPO}:4_k_m", tmp_path, download=False) == path
    assert len(hub.asked) == asked, "what is here is used without the network"
    with pytest.raises(ModelNotFound, match="q fits several GGUF files: Q8_0, Q4_K_M"):
        resolve(f"{REPO}:q", tmp_path / "other")


def test_the_weights_of_one_format_are_fetched(tmp_path, hub, files) -> None:
    hub.repos["o/both"] = {"config.json": b"{}", "model.safetensors": b"weights", "m-Q8_0.gguf": files["m-Q8_0.gguf"]}
    assert resolve("o/both", tmp_path / "a", weights="gguf").name == "m-Q8_0.gguf"
    assert sorted(hub.served) == ["config.json", "m-Q8_0.gguf"]
    folder = resolve("o/both", tmp_path / "b", weights="safetensors")
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]
    with pytest.raises(ModelNotFound, match="has no GGUF files"):
        resolve("o/both", tmp_path / "b", download=False, weights="gguf")
    hub.repos["o/one"] = {"config.json": b"{}", "model.safetensors": b"weights"}
    with pytest.raises(ModelNotFound, match="o/one holds no gguf weights"):
        resolve("o/one", tmp_path, weights="gguf")


def test_a_model_named_so_answers(tmp_path, hub, files) -> None:
    hub.repos[REPO] = files
    loaded = load(f"{REPO}:Q4_0", LoadOptions(backend="torch", device="cpu", cache_dir=str(tmp_path)))
    assert loaded.name == f"{REPO}:Q4_0"
    assert loaded.folder.name == "m-Q4_0.gguf"
    loaded.close()


def test_shards_come_together(tmp_path, hub) -> None:
    hub.repos[REPO] = dict.fromkeys(SHARDS, b"shard")
    assert resolve(f"{REPO}:Q6_K", tmp_path).name == SHARDS[0]
    (resolve(REPO, tmp_path).parent / SHARDS[1]).unlink()
    assert cached_models(tmp_path)[0].quants == ()
    with pytest.raises(ModelNotFound, match=f"lacks {SHARDS[1]}"):
        resolve(f"{REPO}:Q6_K", tmp_path, download=False)


def test_a_file_without_a_tokenizer_takes_the_one_of_its_base(tmp_path, hub, files, monkeypatch) -> None:
    hub.repos[REPO] = {"m-Q8_0.gguf": files["no-tokenizer-Q8_0.gguf"]}
    folder = tmp_path / "base"
    folder.mkdir()
    save_tokenizer(folder)
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    hub.repos["o/m"] = {file.name: file.read_bytes() for file in folder.iterdir()}
    hub.repos["o/m"] |= {"config.json": b"{}", "model.safetensors": b"much", "model.safetensors.index.json": b"{}"}
    path = resolve(f"{REPO}:Q8_0", tmp_path / "hub")
    assert set(hub.served) == {"m-Q8_0.gguf", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert resolve(REPO, tmp_path / "hub") == path
    opened = open_model(path)
    assert opened.tokenizer.encode("ab") == open_model_of(files, tmp_path).tokenizer.encode("ab")
    assert opened.template.render([{"role": "user", "content": "hi"}]) == "hi!"
    assert [model.repo for model in cached_models(tmp_path / "hub")] == [REPO]  # the base's tokenizer is no model


def open_model_of(files: dict[str, bytes], folder: Path):
    path = folder / "whole.gguf"
    path.write_bytes(files["m-Q8_0.gguf"])
    return open_model(path)


def test_without_a_base_it_says_what_to_do(tmp_path, hub, files) -> None:
    bare = files["no-tokenizer-Q8_0.gguf"]
    hub.repos |= {REPO: {"m-Q8_0.gguf": bare}, "o/other": {"m-Q8_0.gguf": bare}}
    with pytest.raises(ModelNotFound, match="o/m-GGUF holds no tokenizer, and o/m gives none"):
        download(REPO, cache_dir=tmp_path)
    with pytest.raises(ModelNotFound, match=r"Put a tokenizer\.json beside the file"):
        download("o/other", cache_dir=tmp_path)
    hub.repos["o/m"] = {"tokenizer.json": b"{}"}
    assert resolve(REPO, tmp_path).name == "m-Q8_0.gguf"  # what arrived is kept, and the base asked again


def test_offline_says_what_is_missing(tmp_path, hub, files, monkeypatch) -> None:
    hub.repos[REPO] = {"m-Q8_0.gguf": files["no-tokenizer-Q8_0.gguf"]}
    with pytest.raises(ModelNotFound):
        download(REPO, cache_dir=tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Offline, match="o/m"):
        resolve(REPO, tmp_path)


def test_one_quantization_can_be_taken_out_and_put_back(tmp_path, hub, files) -> None:
    hub.repos[REPO] = {name: files[name] for name in ("m-Q8_0.gguf", "m-Q4_0.gguf")}
    paths = [resolve(f"{REPO}:{quant}", tmp_path) for quant in ("Q8_0", "Q4_0")]
    removed = remove(f"{REPO}:Q8_0", tmp_path)
    assert [path.exists() for path in paths] == [False, True]
    assert resolve(REPO, tmp_path, download=False) == paths[1]
    assert removed.restore()
    assert paths[0].read_bytes() == files["m-Q8_0.gguf"]
    remove(f"{REPO}:Q8_0", tmp_path).purge()
    assert not removed.restore()
    discard_unfinished(f"{REPO}:Q8_0", tmp_path)
    assert paths[1].exists()


def test_a_request_may_name_it(tmp_path, hub, files) -> None:
    hub.repos[REPO] = {name: files[name] for name in ("m-Q8_0.gguf", "m-Q4_0.gguf")}
    for quant in ("Q8_0", "Q4_0"):
        resolve(f"{REPO}:{quant}", tmp_path)
    catalogue = Catalogue(cache_dir=str(tmp_path))
    assert {known.name for known in catalogue.all()} == {f"{REPO}:Q8_0", f"{REPO}:Q4_0"}
    assert catalogue.look_up(f"{REPO}:q8_0").source == f"{REPO}:q8_0"
    assert catalogue.look_up(f"{REPO}:latest").source == REPO + ":latest"
    with pytest.raises(ModelNotFound):
        catalogue.look_up(f"{REPO}:Q2_K")


def test_searching_and_facts_know_quantizations(hub) -> None:
    hub.repos[REPO] = {"m-Q8_0.gguf": bytes(80), "m-Q4_K_M.gguf": bytes(40)}
    assert [found.repo for found in search(f"{REPO}:Q8_0")] == [f"{REPO}:Q8_0"]
    usual, other = facts(REPO), facts(f"{REPO}:Q8_0")
    assert (usual.quantization, usual.nbytes, usual.others) == ("Q4_K_M", 40, (f"{REPO}:Q8_0",))
    assert (other.quantization, other.nbytes, other.others) == ("Q8_0", 80, (f"{REPO}:Q4_K_M",))
    with pytest.raises(ModelNotFound, match="holds no model files"):
        facts(f"{REPO}:Q2_K")


def test_without_a_wish_a_model_is_taken_and_not_its_draft():
    gpt_oss = gguf_models(["eagle3-gpt-oss-20b-Q8_0.gguf", "gpt-oss-20b-mxfp4.gguf"])
    assert gpt_oss[chosen(gpt_oss, None) or ""] == ["gpt-oss-20b-mxfp4.gguf"]
    dynamic = gguf_models(["m-BF16.gguf", "m-Q8_0.gguf", "m-UD-Q4_K_M.gguf", "m-UD-Q4_K_XL.gguf"])
    assert chosen(dynamic, None) == "UD-Q4_K_M"
