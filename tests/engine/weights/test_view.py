from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from backends.base import Affine, Dense
from engine.errors import WeightsError
from engine.weights import view as views
from engine.weights.checkpoint import Checkpoint
from engine.weights.quantization import Packing, Quantization
from engine.weights.source import raws_of
from engine.weights.view import View, build, check, survey
from tests.asserting import every
from tests.engine.weights.files import write_folder

NUMPY = {"F32": np.float32, "F16": np.float16, "U32": np.uint32}
H, F, V, LAYERS = 64, 96, 10, 2


def values(raw):
    return np.frombuffer(raw.buffer, NUMPY[raw.dtype]).reshape(raw.shape)


class FakeBackend:
    """Records what it is given; arrays are numpy's."""

    dtype = "f16"

    def __init__(self):
        self.calls = []
        self.ops = SimpleNamespace(cast=lambda x, dtype: x.astype({"f16": np.float16, "f32": np.float32}[dtype]))

    def tensor(self, raw, dtype=None):
        self.calls.append(("tensor", raw.name))
        return self.ops.cast(values(raw), dtype or self.dtype)

    def linear(self, parts, bias):
        self.calls.append(("linear", list(parts), list(bias)))
        return self.calls[-1]

    def experts(self, parts):
        self.calls.append(("experts", [list(p) for p in parts]))
        return self.calls[-1]


class Layer:
    def __init__(self, w: View):
        self.norm = w.norm("norm", H, plus=1.0)
        self.qkv = w.sub("attn").linear(("q", H), ("k", H // 2), inp=H, bias=True)
        self.up = w.linear(("up", F), inp=H)


class Tiny:
    def __init__(self, w: View):
        self.ops = w.backend.ops
        w.ignore(r"^mtp\.")
        model = w.sub("model")
        self.embed = model.embedding("embed", V, H)
        self.layers = [Layer(model.sub(f"layers.{i}")) for i in range(LAYERS)]
        self.decay = -w.backend.ops.cast(w.tensor("decay", (3,), "f32"), "f32")
        self.head = w.linear(("head", V), inp=H) if w.has("head.weight") else model.embedding("embed", V, H)


def tiny_tensors(seed=0):
    rng = np.random.default_rng(seed)

    def make(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    tensors = {"model.embed.weight": make(V, H), "decay": make(3)}
    for i in range(LAYERS):
        tensors |= {
            f"model.layers.{i}.norm.weight": make(H),
            f"model.layers.{i}.attn.q.weight": make(H, H),
            f"model.layers.{i}.attn.q.bias": make(H),
            f"model.layers.{i}.attn.k.weight": make(H // 2, H),
            f"model.layers.{i}.attn.k.bias": make(H // 2),
            f"model.layers.{i}.up.weight": make(F, H),
        }
    return tensors


def packed(out, inp, bits=4, group=32):
    return {
        "weight": np.arange(out * inp * bits // 32, dtype=np.uint32).reshape(out, -1),
        "scales": np.ones((out, inp // group), np.float16),
        "biases": np.zeros((out, inp // group), np.float16),
    }


def under(stem, tensors):
    return {f"{stem}.{name}": value for name, value in tensors.items()}


def open_folder(tmp_path, tensors, **config):
    return Checkpoint.open(write_folder(tmp_path, tensors, **config))


def problems_of(make, checkpoint):
    backend = FakeBackend()
    with pytest.raises(WeightsError) as error:
        build(make, checkpoint, backend)
    assert backend.calls == [], "nothing may be built when there are problems"
    return str(error.value)


def test_builds_from_dense_tensors(tmp_path):
    tensors = tiny_tensors()
    model = build(Tiny, open_folder(tmp_path, tensors | {"mtp.x": tensors["decay"]}), FakeBackend())
    _, parts, bias = model.layers[1].qkv
    assert [part.shape for part in parts] == [(H, H), (H // 2, H)]
    assert every(isinstance(part, Dense) for part in parts)
    np.testing.assert_array_equal(values(parts[1].data), tensors["model.layers.1.attn.k.weight"])
    np.testing.assert_array_equal(values(bias[1]), tensors["model.layers.1.attn.k.bias"])
    assert model.layers[0].up[2] == [None]
    np.testing.assert_array_equal(model.decay, -tensors["decay"])


def test_a_norms_offset_is_added_before_rounding(tmp_path):
    tiny = np.array([2.0**-13 + 2.0**-11] * H, np.float32)  # 1 + this rounds differently if this is rounded first
    model = build(lambda w: w.norm("n", H, plus=1.0), open_folder(tmp_path, {"n.weight": tiny}), FakeBackend())
    assert model.dtype == np.float16
    np.testing.assert_array_equal(model, (np.float32(1) + tiny).astype(np.float16))


def test_every_problem_is_named_at_once(tmp_path):
    tensors = tiny_tensors()
    del tensors["decay"], tensors["model.layers.1.attn.k.bias"]
    tensors["model.layers.0.norm.weight"] = np.zeros(H + 1, np.float32)
    tensors["model.layers.1.up.weight"] = np.zeros((F, H), np.int64)
    tensors["model.layers.2.up.weight"] = np.zeros((F, H), np.float32)
    text = problems_of(Tiny, open_folder(tmp_path, tensors))
    assert str(tmp_path) in text
    assert "Missing (2):\n  model.layers.1.attn.k.bias\n  decay\n" in text
    assert f"model.layers.0.norm.weight: has shape [{H + 1}], should be [{H}]" in text
    assert "model.layers.1.up.weight: is stored as I64" in text
    assert "Unexpected (1):\n  model.layers.2.up.weight" in text


def test_many_problems_are_folded_but_all_named():
    def deep(w):
        for i in range(48):
            for e in range(8):
                w.sub(f"layers.{i}").linear((f"experts.{e}.up", 4), inp=4)

    shapes = {f"layers.{i}.experts.{e}.up.weight": (4, 4) for i in (3, 4, 7) for e in range(8)}
    check(deep, {f"layers.{i}.experts.{e}.up.weight": (4, 4) for i in range(48) for e in range(8)})
    with pytest.raises(WeightsError) as error:
        check(deep, shapes)
    assert "Missing (360):\n  layers.0-2,5-6,8-47.experts.0-7.up.weight (360 tensors)" in str(error.value)


def test_a_listing_is_capped_and_says_so():
    with pytest.raises(WeightsError, match="and 60 more"):
        check(lambda w: None, {f"name{i}": (1,) for i in range(100)})


def test_quantized_tensors(tmp_path):
    quantization = {"bits": 4, "group_size": 32, "b": {"bits": 8, "group_size": 64}, "c": False}
    tensors = under("a", packed(8, H)) | under("b", packed(6, H, 8, 64)) | {"c.weight": np.zeros((2, H), np.float16)}
    checkpoint = open_folder(tmp_path, tensors, quantization=quantization)
    _, parts, _ = build(lambda w: w.linear(("a", 8), ("b", 6), ("c", 2), inp=H), checkpoint, FakeBackend())
    a, b, c = parts
    assert isinstance(a, Affine)
    assert (a.bits, a.group, a.shape) == (4, 32, (8, H))
    assert (b.bits, b.group, b.shape) == (8, 64, (6, H))
    assert isinstance(c, Dense)
    np.testing.assert_array_equal(values(a.packed), tensors["a.weight"])


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_every_packing_has_its_shape(tmp_path, bits):
    checkpoint = open_folder(tmp_path, under("a", packed(8, H, bits)), quantization={"bits": bits, "group_size": 32})
    [weight] = build(lambda w: w.linear(("a", 8), inp=H), checkpoint, FakeBackend())[1]
    assert weight.shape == (8, H)


def test_quantized_problems(tmp_path):
    def make(w):
        w.linear(("a", 8), ("b", 8), ("c", 8), ("d", 8), inp=H)

    tensors = (
        under("a", packed(8, H)) | under("b", packed(8, H, 8)) | under("c", packed(8, H)) | under("d", packed(8, H))
    )
    del tensors["a.biases"]
    tensors["d.scales"] = tensors["d.scales"].astype(np.float32)
    text = problems_of(make, open_folder(tmp_path, tensors, quantization={"bits": 4, "group_size": 32, "c": False}))
    assert "Missing (1):\n  a.biases" in text
    assert f"b.weight: has shape [8, 16], should be [8, 8], for [8, {H}] in 4 bits and groups of 32" in text
    assert "c.weight: is packed, but config.json says that it is not quantized" in text
    assert "d.biases: is F16, but its scales are F32" in text
    assert "Unexpected" not in text


def test_a_width_that_groups_do_not_divide():
    with pytest.raises(WeightsError, match="has 48 inputs, which 4 bits and groups of 32 do not divide"):
        check(
            lambda w: w.linear(("a", 8), inp=48),
            {"a.weight": (8, 6), "a.scales": (8, 2), "a.biases": (8, 2)},
            quantization=Quantization(Packing(4, 32)),
        )


PARTS = [("experts.{}.gate", F), ("experts.{}.up", F)]


def test_experts_one_by_one(tmp_path):
    tensors = {
        f"m.experts.{e}.{name}.weight": np.full((F, H), e, np.float32) for e in range(3) for name in ("gate", "up")
    }
    checkpoint = open_folder(tmp_path, tensors)
    _, parts = build(lambda w: w.sub("m").experts(PARTS, 3, H), checkpoint, FakeBackend())
    assert [[part.data.name for part in expert] for expert in parts][2] == [
        "m.experts.2.gate.weight",
        "m.experts.2.up.weight",
    ]


def test_stacked_experts_are_split_without_copying(tmp_path):
    gate, up = (np.random.default_rng(i).standard_normal((3, F, H)).astype(np.float16) for i in (0, 1))
    checkpoint = open_folder(tmp_path, {"switch_mlp.gate.weight": gate, "switch_mlp.up.weight": up})
    _, parts = build(lambda w: w.experts(PARTS, 3, H), checkpoint, FakeBackend())
    for e, (g, u) in enumerate(parts):
        np.testing.assert_array_equal(values(g.data), gate[e])
        np.testing.assert_array_equal(values(u.data), up[e])
    file = (tmp_path / "model.safetensors").read_bytes()
    data = parts[2][1].data
    assert file[data.offset : data.offset + data.nbytes] == up[2].tobytes()
    assert data.buffer.obj is checkpoint.tensors["switch_mlp.up.weight"].buffer.obj


def test_a_single_stacked_part_is_taken_whole(tmp_path):
    down = np.zeros((3, H, F), np.float32)
    checkpoint = open_folder(tmp_path, {"switch_mlp.down.weight": down})
    _, parts = build(lambda w: w.experts([("experts.{}.down", H)], 3, F), checkpoint, FakeBackend())
    assert len(parts) == len(parts[0]) == 1
    assert parts[0][0].shape == (3, H, F)


def test_quantized_stacked_experts(tmp_path):
    tensors = {}
    for i, name in enumerate(("gate", "up")):
        one = packed(F, H)
        stacked = {k: np.stack([v + np.array(10 * e + i).astype(v.dtype) for e in range(3)]) for k, v in one.items()}
        tensors |= under(f"switch_mlp.{name}", stacked)
    checkpoint = open_folder(tmp_path, tensors, quantization={"bits": 4, "group_size": 32})
    _, parts = build(lambda w: w.experts(PARTS, 3, H), checkpoint, FakeBackend())
    up = parts[2][1]
    assert isinstance(up, Affine)
    assert up.shape == (F, H)
    for raw, name in zip(raws_of(up), ("weight", "scales", "biases")):
        np.testing.assert_array_equal(values(raw), tensors[f"switch_mlp.up.{name}"][2])


def test_missing_experts_are_named_in_the_layout_that_is_there():
    with pytest.raises(WeightsError, match=r"Missing \(1\):\n  switch_mlp\.up\.weight"):
        check(lambda w: w.experts(PARTS, 3, H), {"switch_mlp.gate.weight": (3, F, H)})
    with pytest.raises(WeightsError, match=r"Missing \(3\):\n  experts\.0\.up\.weight"):
        check(lambda w: w.experts(PARTS, 3, H), {f"experts.{e}.gate.weight": (F, H) for e in range(3)})


def test_renaming_reaches_tensors_overrides_and_messages(tmp_path):
    def rename(name):
        return name.removeprefix("language_model.")

    tensors = under("language_model.a", packed(8, H, 8))
    quantization = {"bits": 4, "group_size": 32, "language_model.a": {"bits": 8, "group_size": 32}}
    checkpoint = open_folder(tmp_path, tensors, quantization=quantization)
    [weight] = build(lambda w: w.linear(("a", 8), inp=H), checkpoint, FakeBackend(), rename=rename)[1]
    assert weight.bits == 8
    with pytest.raises(WeightsError, match=r"Unexpected \(3\):\n  language_model\.a\.weight"):
        build(lambda w: None, checkpoint, FakeBackend(), rename=rename)
    with pytest.raises(WeightsError, match="are the same to the model"):
        build(lambda w: None, checkpoint, FakeBackend(), rename=lambda name: "x")


def test_a_survey_counts_each_tensor_once(tmp_path):
    tensors = tiny_tensors()
    found = survey(Tiny, open_folder(tmp_path, tensors))  # the embedding is also the head
    count = sum(array.size for array in tensors.values())
    assert found.problems == []
    assert (found.parameters, found.weight_bytes) == (count, 4 * count)
    assert (found.memory("f32"), found.memory("bf16")) == (4 * count, 2 * count)


def test_a_survey_counts_packed_weights_as_weights():
    shapes = {"a.weight": (8, 8), "a.scales": (8, 2), "a.biases": (8, 2), "n.weight": (5,)}

    def make(w):
        w.linear(("a", 8), inp=64)
        w.norm("n", 5)

    found = check(make, shapes, quantization=Quantization(Packing(4, 32)))
    assert found.parameters == 8 * 64 + 5
    assert found.weight_bytes == 8 * 8 * 4 + 2 * 8 * 2 * 2 + 5 * 2
    assert found.memory("f32") == 8 * 8 * 4 + 2 * 8 * 2 * 2 + 5 * 4


def test_constants_of_old_exports_are_no_surprise():
    check(lambda w: None, {"model.layers.0.self_attn.rotary_emb.inv_freq": (4,)})


def test_shapes_can_be_asked_for():
    def make(w):
        assert w.sub("x").shape("y") == (3, 1)
        assert w.shape("x.z") is None
        w.sub("x").tensor("y", (3, 1))

    check(make, {"x.y": (3, 1)})


def test_pages_are_given_back_after_each_tensor(tmp_path, monkeypatch):
    given_back = []
    monkeypatch.setattr(views, "forget_pages", lambda raws: given_back.extend(raw.name for raw in raws))
    tensors = tiny_tensors()
    build(Tiny, open_folder(tmp_path, tensors), FakeBackend())
    assert set(given_back) == {name for name in tensors if not name.endswith("bias")}


def test_the_dry_pass_survives_what_constructors_do():
    def make(w):
        x = w.tensor("x", (4, 6))
        assert x.shape == (4, 6)
        assert x.ndim == 2
        y = w.backend.ops.exp(-(2 * x[1:] + 1) / 3).reshape(3, 2)
        with pytest.raises(TypeError):
            iter(y)
        assert w.linear(("a", 2), ("b", 3), inp=4).shape == (5, 4)
        return y

    check(make, {"x": (4, 6), "a.weight": (2, 4), "b.weight": (3, 4)})
