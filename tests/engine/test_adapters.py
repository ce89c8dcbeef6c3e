"""Adapters in the engine: prefixes and drafts beside them, quantized bases, merging, and files that do not fit."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grus
from backends.base import Adapters, Dense, Segment
from backends.pick import pick
from backends.torch.runner import TorchRunner
from engine.adapters import put_adapter
from engine.errors import GrusError, UnsupportedArchitecture, WeightsError
from engine.loading import LoadOptions, load
from engine.types import Settings
from engine.weights.convert import convert
from engine.weights.gguf.orders import rotary_halves
from engine.weights.lora import fitted, open_lora, tail
from engine.weights.merged import stored_as
from tests.asserting import every
from tests.checkpoints import reference_cached, save
from tests.lora_adapters import RandomLora, random_lora

BACKENDS = ("torch", "mlx")
TEXT = "Cranes fly high and far over the sea, over the sea"
GREEDY: dict[str, Any] = dict(raw=True, max_tokens=24, temperature=0.0, ignore_eos=True)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("qwen3", tmp_path_factory.mktemp("adapters") / "base")


@pytest.fixture(scope="module")
def loras() -> list[RandomLora]:
    model = reference_cached("qwen3")
    return [random_lora(model, 1, spread=0.1), random_lora(model, 2, r"(q|v)_proj$", rank=7, alpha=21)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, loras: list[RandomLora]) -> list[Path]:
    root = tmp_path_factory.mktemp("loras")
    return [lora.save_peft(root / f"{i}") for i, lora in enumerate(loras)]


def greedy_of(model: Any, ids: Any, n: int) -> list[int]:
    import torch

    with torch.no_grad():
        out = model.generate(
            torch.tensor([list(ids)]), max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0
        )
    tokens: list[int] = out[0, len(ids) :].tolist()
    return tokens


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("speculation", ["off", "ngram", "draft"])
def test_each_adapter_has_its_own_prefixes_and_drafts_change_nothing(
    base: Path, loras: list[RandomLora], folders: list[Path], tmp_path: Path, backend: str, speculation: Any
) -> None:
    model = reference_cached("qwen3")
    draft = str(save("qwen2", tmp_path / "draft")) if speculation == "draft" else None
    settings = Settings(speculation=speculation, draft_model=draft)
    places = {"one": folders[0], "two": folders[1]}
    with grus.Model(str(base), LoadOptions(backend=backend), settings, adapters=places) as engine:
        ids = engine.prepare(TEXT, raw=True).prompt.ids
        wanted = {
            "one": greedy_of(loras[0].merged(model), ids, 24),
            "two": greedy_of(loras[1].merged(model), ids, 24),
            None: greedy_of(model, ids, 24),
        }
        assert len(set(map(tuple, wanted.values()))) == 3
        for adapter, want in wanted.items():  # no prefix of another one
            answer = engine.run(TEXT, adapter=adapter, **GREEDY)
            assert (list(answer.result.ids), answer.result.timings.cached_tokens) == (want, 0)
        for adapter, want in wanted.items():  # the own one
            answer = engine.run(TEXT, adapter=adapter, **GREEDY)
            assert list(answer.result.ids) == want
            assert answer.result.timings.cached_tokens >= len(ids) - 1
        together = engine.batch([TEXT] * 6, adapter=["two", None, "one", "one", None, "two"], **GREEDY)
        assert [list(a.result.ids) for a in together] == [
            wanted[name] for name in ("two", None, "one", "one", None, "two")
        ]
        assert engine.engine.stats().drafted > 0 or speculation == "off"


def test_an_adapter_comes_back_with_its_model(base: Path, folders: list[Path]) -> None:
    with grus.Model(str(base), LoadOptions(backend="torch"), adapters={"one": folders[0]}) as model:
        before = model.run(TEXT, adapter="one", **GREEDY).text
        model.engine.unload(model.name)
        assert model.run(TEXT, adapter="one", **GREEDY).text == before


def test_an_adapter_is_freed_when_no_request_uses_it(base: Path, folders: list[Path]) -> None:
    """One that comes back meanwhile stays."""
    with grus.Model(str(base), LoadOptions(backend="torch"), adapters={"one": folders[0], "two": folders[1]}) as model:
        before = model.run(TEXT, adapter="one", **GREEDY).text
        size = model.loaded.weight_bytes
        key = next(key for key in model.loaded.adapters if key.startswith("one@"))
        long = dict(raw=True, max_tokens=150, temperature=0.0, ignore_eos=True)
        stream = model.stream(TEXT, adapter="one", **long)
        next(stream)
        model.service.withdraw_adapter(model.name, "one")
        assert key in model.loaded.adapters
        assert len("".join(stream)) > 50
        model.run(TEXT, adapter="two", max_tokens=1)
        assert [kept[:4] for kept in model.loaded.adapters] == ["two@"]
        assert model.loaded.model.adapters.names == list(model.loaded.adapters)
        assert size - model.loaded.weight_bytes == open_lora(folders[0]).nbytes
        with pytest.raises(GrusError, match=r"There is no model|has no adapter"):
            model.run(TEXT, adapter="one", **GREEDY)
        for _ in range(2):  # withdrawn while it is used, and offered anew
            model.service.offer_adapter(model.name, "one", str(folders[0]))
            model.service.load_now(f"{model.name}:one")
            stream = model.stream(TEXT, adapter="one", **long)
            next(stream)
            model.service.withdraw_adapter(model.name, "one")
            model.service.offer_adapter(model.name, "one", str(folders[0]))
            model.service.load_now(f"{model.name}:one")
            stream.close()
            assert model.run(TEXT, adapter="one", **GREEDY).text == before
            model.service.withdraw_adapter(model.name, "one")


def test_prefixes_on_the_disk_belong_to_one_adapter(
    base: Path, folders: list[Path], loras: list[RandomLora], tmp_path: Path
) -> None:
    """Also where another one has taken its name since."""
    settings = Settings(offload_folder=tmp_path / "kv")
    cached = []
    for folder in (folders[0], folders[1], folders[0]):
        with grus.Model(str(base), LoadOptions(backend="torch"), settings, adapters={"same": folder}) as model:
            answer = model.run(TEXT, adapter="same", **GREEDY)
            merged = loras[folders.index(folder)].merged(reference_cached("qwen3"))
            assert list(answer.result.ids) == greedy_of(merged, answer.prompt.ids, 24)
            cached.append(answer.result.timings.cached_tokens)
    assert cached[:2] == [0, 0]
    assert cached[2] > 0


class TestMerging:
    @pytest.mark.parametrize("backend", BACKENDS)
    def test_merged_adapters_are_the_weights_that_peft_would_save(
        self, base: Path, folders: list[Path], loras: list[RandomLora], backend: str
    ) -> None:
        """Two of them, each on what the other one made; and one of them to choose beside the other."""
        one, both = (
            loras[0].merged(reference_cached("qwen3")),
            loras[1].merged(loras[0].merged(reference_cached("qwen3"))),
        )
        options = LoadOptions(backend=backend, merged=(str(folders[0]), str(folders[1])))
        with grus.Model(str(base), options) as model:
            answer = model.run(TEXT, **GREEDY)
            assert list(answer.result.ids) == greedy_of(both, answer.prompt.ids, 24)
        with grus.Model(str(base), replace(options, merged=(str(folders[0]),)), adapters={"two": folders[1]}) as model:
            answers = model.batch([TEXT] * 2, adapter=[None, "two"], **GREEDY)
            wanted = [greedy_of(merged, answers[0].prompt.ids, 24) for merged in (one, both)]
            assert [list(answer.result.ids) for answer in answers] == wanted

    def test_a_16_bit_checkpoint_is_quantized_after_it(self, tmp_path: Path, loras: list[RandomLora]) -> None:
        """As the folder of the merged model would be: the same weights to the bit, so the same tokens."""
        import torch

        folder = save("qwen3", tmp_path / "base", dtype="bfloat16")
        peft = loras[0].save_peft(tmp_path / "lora")
        rounded = copy.deepcopy(reference_cached("qwen3")).to(torch.bfloat16).float()
        whole = save("qwen3", tmp_path / "merged", dtype="bfloat16")
        loras[0].merged(rounded).to(torch.bfloat16).save_pretrained(whole)
        texts = []
        for place, merged in ((folder, (str(peft),)), (whole, ())):
            with grus.Model(str(place), LoadOptions(backend="torch", quant="q8_0", merged=merged)) as model:
                texts.append(model.run(TEXT, **GREEDY).result.ids)
        assert list(texts[0]) == list(texts[1])

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_what_it_changes_of_quantized_matrices_is_added_to_them(
        self, tmp_path: Path, backend: str, loras: list[RandomLora], folders: list[Path]
    ) -> None:
        """The same tokens as the adapter gives that a request chooses, where nothing is rounded to bytes."""
        import mlx.core as mx
        from safetensors.numpy import load_file, save_file

        folder = save("qwen3", tmp_path / "base")
        tensors = {}
        for name, values in load_file(folder / "model.safetensors").items():
            stem = name.removesuffix(".weight")
            if values.ndim == 2 and "layers" in name:
                parts = mx.quantize(mx.array(values), group_size=32, bits=4)
                named = zip((name, f"{stem}.scales", f"{stem}.biases"), parts)
                tensors.update({key: np.array(part) for key, part in named})
            else:
                tensors[name] = values
        save_file(tensors, folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text())
        packing: dict[str, Any] = {"group_size": 32, "bits": 4, "lm_head": False, "model.embed_tokens": False}
        (folder / "config.json").write_text(json.dumps({**config, "quantization": packing}))
        with grus.Model(str(folder), LoadOptions(backend=backend, dtype="f32"), adapters={"one": folders[0]}) as model:
            plain, chosen = model.run(TEXT, **GREEDY), model.run(TEXT, adapter="one", **GREEDY)
        with grus.Model(str(folder), LoadOptions(backend=backend, dtype="f32", merged=(str(folders[0]),))) as model:
            merged = model.run(TEXT, **GREEDY)
        assert list(merged.result.ids) == list(chosen.result.ids) != list(plain.result.ids)

    def test_one_beside_quantized_matrices_and_one_that_is_chosen_add_up(
        self, base: Path, folders: list[Path], tmp_path: Path
    ) -> None:
        """Whichever of them is which; the kernels' program and operation by operation."""
        file = convert(base, tmp_path / "base.gguf", quant="q8_0")
        ids, chosen = list(range(3, 40)), ["x", None, "x", None, "x"]
        sums = []
        for always, other in (folders, folders[::-1]):
            model = load(str(file), LoadOptions(backend="torch", kv_bits=32, merged=(str(always),)))
            model.put_adapter("x", open_lora(other))
            eager = TorchRunner(model.model, model.kv, model.backend.ops, plain=True)  # type: ignore[arg-type]
            found = []
            for runner in (model.runner, eager):
                slots = [slot for slot in (model.kv.open(64) for _ in chosen) if slot is not None]
                segments = [Segment(slot, ids, want=range(len(ids)), adapter=x) for slot, x in zip(slots, chosen)]
                made = runner.run(segments).read()
                found.append([made[slot].logits for slot in slots])
            for rows in found:
                assert every(np.abs(rows[0] - row).max() <= 1e-5 * np.abs(row).max() for row in rows[::2])
                assert every(np.abs(rows[1] - row).max() <= 1e-5 * np.abs(row).max() for row in rows[1::2])
            for one, two in zip(*found):
                assert np.abs(one - two).max() <= 1e-2 * np.abs(one).max()
            sums.append(found[0])
            model.close()
        scale = np.abs(sums[0][0]).max()
        assert np.abs(sums[0][0] - sums[1][0]).max() <= 2e-2 * scale
        assert np.abs(sums[0][1] - sums[1][1]).max() > 0.2 * scale
        assert np.abs(sums[0][1] - sums[0][0]).max() > 0.2 * scale

    def test_bf16_is_rounded_to_the_nearest(self) -> None:
        import torch

        x = np.random.default_rng(1).normal(0, 1, 4096).astype(np.float32)
        x[:3] = np.nan, np.inf, -0.0
        want = torch.from_numpy(x).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
        got = stored_as(x, "BF16")
        assert np.array_equal(got[1:], want[1:])
        assert got[0] & 0x7FFF > 0x7F80


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K"])
def test_a_quantized_base_is_not_touched(base: Path, folders: list[Path], kind: str) -> None:
    """What an adapter adds to a product of quantized weights is the low-rank product in f32."""
    import torch

    backend = pick("torch", "cpu", "f32")
    if not backend.blocks:
        pytest.skip("no kernels on this machine")
    from engine.weights.safetensors import read_file

    raw = replace(next(iter(read_file(folders[0] / "adapter_model.safetensors").values())))
    draw = np.random.default_rng(3)
    weight = draw.normal(0, 1, (48, 256)).astype(np.float32)
    made = replace(
        raw, name="w", shape=weight.shape, nbytes=weight.nbytes, dtype="F32", buffer=memoryview(weight).cast("B")
    )
    adapters = Adapters()
    linear = adapters.wrap(backend.linear([Dense(made, kind)], [None]), [("w", 48)])
    a, b = draw.normal(0, 1, (5, 256)).astype(np.float32), draw.normal(0, 1, (48, 5)).astype(np.float32)
    halves = [
        backend.linear([Dense(replace(made, shape=w.shape, nbytes=w.nbytes, buffer=memoryview(w).cast("B")))], [None])
        for w in (a, b)
    ]
    adapters.put("x", {"w": (halves[0], halves[1])})
    from backends.adapters import AdapterRun
    from backends.torch.runner import TorchAdapterRows

    x = torch.from_numpy(draw.normal(0, 1, (6, 256)).astype(np.float32))
    plain = linear(x).clone()
    with adapters.using(TorchAdapterRows([AdapterRun(1, 3, "x"), AdapterRun(4, 5, "x")], 6, torch.device("cpu"))):
        changed = linear(x)
    rows = [1, 2, 4]
    assert np.array_equal(np.delete(changed.numpy(), rows, 0), np.delete(plain.numpy(), rows, 0))
    want = x.numpy()[rows] @ a.T @ b.T
    assert np.abs((changed - plain).numpy()[rows] - want).max() <= 2e-5 * np.abs(want).max()


def write_gguf(lora: RandomLora, path: Path, arch: str, order: Callable[[str, np.ndarray], np.ndarray]) -> None:
    """As llama.cpp's convert_lora_to_gguf.py names them."""
    import gguf

    names = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    }  # fmt: skip
    writer = gguf.GGUFWriter(path, arch)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(lora.config["lora_alpha"]))
    for module, (a, b) in lora.pairs.items():
        _, layer, part = tail(module).split(".", 2)
        writer.add_tensor(f"blk.{layer}.{names[part]}.weight.lora_a", a)
        writer.add_tensor(f"blk.{layer}.{names[part]}.weight.lora_b", np.ascontiguousarray(order(part, b)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def permuted(b: np.ndarray, heads: int | None) -> np.ndarray:
    """`LlamaModel.permute` of llama.cpp's converter, for queries and keys."""
    if heads is None:
        return b
    return b.reshape(heads, 2, b.shape[0] // heads // 2, *b.shape[1:]).swapaxes(1, 2).reshape(b.shape)


def test_a_gguf_adapter_is_the_same_as_its_peft_folder(tmp_path: Path) -> None:
    """Of Llama's queries and keys with rows in llama.cpp's order."""
    lora = random_lora(reference_cached("llama"), 4)
    heads = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}
    write_gguf(lora, tmp_path / "adapter.gguf", "llama", lambda part, b: permuted(b, heads.get(part)))
    one, other = open_lora(lora.save_peft(tmp_path / "peft")), open_lora(tmp_path / "adapter.gguf")
    shapes = {name: pair.shape for name, pair in one.pairs.items()}
    config = {"num_attention_heads": 4, "num_key_value_heads": 2}
    left, right = fitted(one, shapes, config), fitted(other, shapes, config)
    assert left.keys() == right.keys()
    assert every(np.allclose(left[name].delta(), right[name].delta(), atol=1e-6) for name in left)
    assert rotary_halves(8, 2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gguf_base_takes_the_adapters_of_its_checkpoint(tmp_path: Path, backend: str) -> None:
    """Whose rows of queries and keys lie in another order; by request, and merged."""
    model = reference_cached("llama")
    lora = random_lora(model, 4, spread=0.1)
    peft = lora.save_peft(tmp_path / "peft")
    file = convert(save("llama", tmp_path / "base"), tmp_path / "base.gguf")
    heads = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}
    write_gguf(lora, tmp_path / "adapter.gguf", "llama", lambda part, b: permuted(b, heads.get(part)))
    places = {"peft": peft, "gguf": tmp_path / "adapter.gguf"}
    options = LoadOptions(backend=backend, quant="none")
    with grus.Model(str(file), options, adapters=places) as engine:
        answers = engine.batch([TEXT] * 3, adapter=["peft", None, "gguf"], **GREEDY)
    with grus.Model(str(file), replace(options, merged=(str(peft),))) as engine:
        answers.append(engine.run(TEXT, **GREEDY))
    changed, plain = (greedy_of(one, answers[0].prompt.ids, 24) for one in (lora.merged(model), model))
    assert [list(answer.result.ids) for answer in answers] == [changed, plain, changed, changed]
    assert changed != plain


# -- files that are wrong: one typed sentence, and nothing is loaded


def spoiled(folder: Path, **config: Any) -> Path:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    return folder


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
    ({"bias": "all"}, "biases"),
    ({"lora_bias": True}, "lora_bias"),
    ({"peft_type": "IA3"}, "IA3"),
    ({"init_lora_weights": "pissa_niter_4"}, "pissa"),
    ({"trainable_token_indices": [1]}, "trainable_token_indices"),
    ({"layer_replication": [[0, 1], [0, 2]]}, "layer_replication"),
    ({"alora_invocation_tokens": [1]}, "aLoRA"),
]
IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"r": 0}, "r must be"),
    ({"r": 9}, "rank 9"),
    ({"lora_alpha": "much"}, "lora_alpha must be"),
    ({"lora_alpha": float("nan")}, "lora_alpha must be"),
    ({"alpha_pattern": [1]}, "alpha_pattern must be"),
    ({"rank_pattern": {"q_proj(": 2}}, "no expression"),
    ({"rank_pattern": {"q_proj": True}}, "rank_pattern must be"),
]


@pytest.mark.parametrize(("config", "word"), REFUSED + IMPOSSIBLE)
def test_settings_that_cannot_be_honoured_are_refused_by_name(
    loras: list[RandomLora], tmp_path: Path, config: dict[str, Any], word: str
) -> None:
    folder = spoiled(loras[0].save_peft(tmp_path), **config)
    with pytest.raises(GrusError, match=word.replace("(", r"\(")) as error:
        open_lora(folder)
    assert "\n" not in str(error.value)
    if (config, word) in REFUSED:
        assert isinstance(error.value, UnsupportedArchitecture)


def tensors_of(lora: RandomLora) -> dict[str, np.ndarray]:
    made = {}
    for name, (a, b) in lora.pairs.items():
        made[f"base_model.model.{name}.lora_A.weight"], made[f"base_model.model.{name}.lora_B.weight"] = a, b
    return made


def spoilings() -> Iterator[tuple[str, Callable[[dict[str, np.ndarray]], Any]]]:
    first = "base_model.model.model.layers.0.self_attn.q_proj"
    a, b = f"{first}.lora_A.weight", f"{first}.lora_B.weight"
    yield "no B", lambda t: t.pop(b)
    yield "no A", lambda t: t.pop(a)
    yield "nothing", lambda t: t.clear()
    yield "another rank", lambda t: t.update({b: t[b][:, :3].copy()})
    yield "too few outputs", lambda t: t.update({b: t[b][:-1].copy()})
    yield "too many inputs", lambda t: t.update({a: np.pad(t[a], ((0, 0), (0, 8)))})
    yield "one axis", lambda t: t.update({a: t[a].reshape(-1)})
    yield "three axes", lambda t: t.update({a: t[a][None]})
    yield "no rows", lambda t: t.update({a: t[a][:0].copy(), b: t[b][:, :0].copy()})
    yield "whole numbers", lambda t: t.update({a: t[a].astype(np.int8)})
    yield "a layer that is not there", lambda t: t.update({k.replace("s.0.", "s.7."): t.pop(k) for k in (a, b)})
    yield "a matrix that is not there", lambda t: t.update({k.replace("q_proj", "w_proj"): t.pop(k) for k in (a, b)})
    yield "an image encoder", lambda t: t.update({k.replace("model.layers", "visual.layers"): t.pop(k) for k in (a, b)})
    yield "an embedding", lambda t: t.update({f"{first}.lora_embedding_A": t.pop(a)})
    yield "DoRA's sizes", lambda t: t.update({f"{first}.lora_magnitude_vector": t[b][:, 0].copy()})
    yield "a whole matrix", lambda t: t.update({"base_model.model.lm_head.weight": np.zeros((4, 4), np.float32)})


@pytest.mark.parametrize(("what", "spoil"), [pytest.param(*case, id=case[0]) for case in spoilings()])
def test_tensors_that_do_not_fit_end_in_one_sentence(
    base: Path, loras: list[RandomLora], tmp_path: Path, what: str, spoil: Callable[[dict[str, np.ndarray]], Any]
) -> None:
    from safetensors.numpy import save_file

    folder, tensors = loras[0].save_peft(tmp_path / "lora"), tensors_of(loras[0])
    spoil(tensors)
    save_file(tensors, folder / "adapter_model.safetensors")
    adapters, backend = Adapters(), pick("torch", "cpu", "f32")
    for name, (a, b) in loras[0].pairs.items():
        adapters.wrap(_Linear((b.shape[0], a.shape[1])), [(name, b.shape[0])])
    with pytest.raises((WeightsError, UnsupportedArchitecture)) as error:
        put_adapter(adapters, backend, {"model_type": "qwen3"}, "x", open_lora(folder))
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)
    assert not adapters.names
    assert every(not part.linear.sides for part in adapters.parts.values())


class _Linear:
    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape


def test_bytes_at_random_end_in_one_sentence(loras: list[RandomLora], tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    folder = loras[1].save_peft(tmp_path)
    names = ("adapter_config.json", "adapter_model.safetensors")
    whole = {name: (folder / name).read_bytes() for name in names}
    said = []
    for _ in range(300):
        name = names[int(draw.integers(2))]
        data = bytearray(whole[name])
        for _ in range(int(draw.integers(1, 5))):
            data[int(draw.integers(min(len(data), 2000)))] = int(draw.integers(256))
        cut = len(data) if draw.integers(2) else int(draw.integers(len(data)))
        (folder / name).write_bytes(data[:cut])
        try:
            open_lora(folder)
        except GrusError as error:
            said.append(str(error))
        (folder / name).write_bytes(whole[name])
    assert len(said) > 100
    assert every("\n" not in sentence for sentence in said)


def test_a_folder_that_is_no_adapter_says_so(base: Path, folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(GrusError, match="is a model, not an adapter"), grus.Model(str(base), adapters={"x": base}):
        pass
    with pytest.raises(GrusError, match="is a LoRA adapter, not a model"), grus.Model(str(folders[0])):
        pass
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(GrusError, match=r"has no adapter_model\.safetensors"):
        open_lora(tmp_path)
