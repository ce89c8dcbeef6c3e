"""PP-DocLayout of all versions on both backends against the reference library: boxes, classes, scores, reading order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from backends.pick import pick
from engine.errors import BadRequest, ConfigError, UnsupportedArchitecture, WeightsError
from engine.models.encoder import Pieces
from engine.models.pp_doclayout import PpDocLayout, PpDocLayoutV4, pp_doclayout
from engine.models.successors import reading_ranks
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import build, survey
from tests import reading_checkpoints
from tests.reading_checkpoints import LABELS, SIDE, layout_pixels, page, save_pp_doclayout

BACKENDS, VERSIONS = ("torch", "mlx"), (2, 3, 4)
PAGES = {"tall": page(), "wide": page(120, 260), "blank": np.full((90, 90, 3), 255, np.uint8)}
KEPT = 9  # class scores above the threshold; so few that the reference's limit to one a query cuts none


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., PpDocLayout]]:
    root = tmp_path_factory.mktemp("layouts")

    @cache
    def folder(version: int) -> Path:
        return save_pp_doclayout(version, root / f"v{version}")

    @cache
    def part(version: int, backend: str) -> PpDocLayout:
        checkpoint = Checkpoint.open(folder(version))
        made = build(lambda view: pp_doclayout(view, checkpoint.config), checkpoint, pick(backend, "cpu", "f32"))
        made.side = SIDE
        return made

    yield part
    part.cache_clear()


@cache
def raw(version: int, name: str) -> Any:
    """The reference sorts without saying how ties go, which then depends on the machine: here they keep their order."""
    import torch

    steady = partial(torch.argsort, stable=True)
    with torch.no_grad(), patch.object(torch, "argsort", steady):
        pixels = layout_pixels(PAGES[name], SIDE, rounded=version != 4)
        return reading_checkpoints.pp_doclayout(version)(pixel_values=pixels)


def threshold_of(version: int, name: str) -> float:
    scores = np.sort(1 / (1 + np.exp(-raw(version, name).logits.numpy().ravel())))[::-1]
    return float(scores[KEPT - 1] + scores[KEPT]) / 2


def expected(version: int, name: str, threshold: float) -> list[tuple[tuple[float, ...], str, float]]:
    """The reference's way from scores to regions in reading order; of a box with several classes, the likeliest."""
    import torch

    if version == 4:
        return expected_of_quads(name, threshold)
    found, (height, width) = raw(version, name), PAGES[name].shape[:2]
    scores = torch.sigmoid(found.order_logits)
    votes = scores.triu(diagonal=1).sum(1) + (1.0 - scores.transpose(1, 2)).tril(diagonal=-1).sum(1)
    places = torch.argsort(torch.argsort(votes, dim=1), dim=1)[0]
    center, size = found.pred_boxes[0].split(2, -1)
    boxes = torch.cat([center - 0.5 * size, center + 0.5 * size], -1) * torch.tensor([width, height, width, height])
    count = found.logits.shape[2]
    score, index = torch.topk(torch.sigmoid(found.logits[0]).flatten(), found.logits.shape[1])
    regions: dict[int, tuple[tuple[float, ...], str, float]] = {}
    for s, i in zip(score.tolist(), index.tolist()):
        place = int(places[i // count])
        if s >= threshold and place not in regions:
            box = boxes[i // count].numpy().clip(0, [width, height, width, height])
            regions[place] = (tuple(box.tolist()), LABELS[i % count], s)
    return [regions[place] for place in sorted(regions)]


def expected_of_quads(name: str, threshold: float) -> list[tuple[tuple[float, ...], str, float]]:
    """The same of version 4. The reference's boxes may reach beyond the page."""
    found, (height, width) = raw(4, name), PAGES[name].shape[:2]
    logits, quads = found.logits[0].numpy(), found.pred_boxes[0].numpy()
    scores = 1 / (1 + np.exp(-logits))
    kept = np.flatnonzero(scores.max(1) >= threshold)
    before, follows = (
        of[0].numpy()[np.ix_(kept, kept)] for of in (found.relative_order_logits, found.successor_order_logits)
    )
    corners = quads[:, None, :2] + quads[:, 2:].reshape(-1, 4, 2) - 0.5
    size = np.array([width, height])
    low, high = ((of(corners, 1) * size).clip(0, size) for of in (np.min, np.max))
    order = kept[np.argsort(references_order()(before, follows))]
    return [((*low[i].tolist(), *high[i].tolist()), LABELS[scores[i].argmax()], float(scores[i].max())) for i in order]


@cache
def references_order() -> Callable[..., np.ndarray]:
    """The reference's own code, without the libraries that its file wants for other things."""
    import ast
    from collections import defaultdict

    import transformers

    def dense(edges: Any, shape: tuple[int, int], dtype: Any) -> np.ndarray:
        made = np.zeros(shape, dtype)
        made[edges[1]] = edges[0]
        return made

    def components(graph: np.ndarray, directed: bool, connection: str = "weak") -> tuple[int, np.ndarray]:
        """What scipy gives, by powers of the matrix."""
        near = graph + np.eye(len(graph), dtype=int)
        reached = np.linalg.matrix_power((near if directed else near + near.T).astype(object), len(graph)) > 0
        alike = reached & reached.T
        firsts = sorted(set(alike.argmax(1).tolist()))
        return len(firsts), np.array([firsts.index(first) for first in alike.argmax(1)])

    folder = Path(transformers.__file__).parent / "models" / "pp_doclayout_v4"
    tree = ast.parse((folder / "image_processing_pp_doclayout_v4.py").read_text(encoding="utf-8"))
    (whole,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    names = {
        "_decode_reading_order",
        "_remove_cycles",
        "_find_connected_components",
        "_topological_sort",
        "_to_sparse_graph",
    }
    whole.body = [node for node in whole.body if isinstance(node, ast.FunctionDef) and node.name in names]
    whole.bases, whole.decorator_list = [], []
    known: dict[str, Any] = dict(np=np, defaultdict=defaultdict, coo_matrix=dense, connected_components=components)
    exec(compile(ast.Module([whole], []), str(folder), "exec"), known)
    decode: Callable[..., np.ndarray] = known[whole.name]()._decode_reading_order
    return decode


@pytest.mark.parametrize("seed", range(12))
def test_orders_of_successors_are_the_references(seed: int) -> None:
    """Circles, parts and choices of all sizes."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 40))
    follows = random.normal(-1.5 - seed / 4, 1, (n, n)).astype(np.float32)
    np.fill_diagonal(follows, -1e4)
    pairs = random.normal(0, 2, (n, n)).astype(np.float32)
    before = pairs - pairs.T
    assert reading_ranks(before, follows).tolist() == references_order()(before, follows).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_scores_of_successors_are_the_references(parts: Callable[..., PpDocLayout], backend: str) -> None:
    part, want = parts(4, backend), raw(4, "tall")
    assert isinstance(part, PpDocLayoutV4)
    x = part.ops.array(want.last_hidden_state[0].numpy())
    before, follows = part.successors.scores(x)
    assert np.abs(before - want.relative_order_logits[0].numpy()).max() <= 1e-4
    assert np.abs(follows - want.successor_order_logits[0].numpy()).max() <= 1e-3  # beside 10,000
    assert (want.successor_order_logits[0].numpy() > 0).any()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("backend", BACKENDS)
class TestParity:
    @pytest.mark.parametrize("name", PAGES)
    def test_candidates(self, parts: Callable[..., PpDocLayout], backend: str, version: int, name: str) -> None:
        part, want = parts(version, backend), raw(version, name)
        pixels = layout_pixels(PAGES[name], SIDE, part.rounded)[0].permute(1, 2, 0).numpy() * 255
        got = _run(part.candidates(pixels.round().astype(np.uint8) if part.rounded else pixels))
        boxes = want.pred_boxes[0].numpy()
        if version == 4:
            corners = boxes[:, None, :2] + boxes[:, 2:].reshape(-1, 4, 2) - 0.5
            low, high = corners.min(1), corners.max(1)
            boxes = np.concatenate([(low + high) / 2, high - low], 1)
        assert np.abs(got.boxes - boxes).max() <= 1e-4
        assert np.abs(got.logits - want.logits[0].numpy()).max() <= 1e-3

    @pytest.mark.parametrize("name", ["tall", "wide"])
    def test_regions(self, parts: Callable[..., PpDocLayout], backend: str, version: int, name: str) -> None:
        threshold = threshold_of(version, name)
        got, want = parts(version, backend).detect(PAGES[name], threshold), expected(version, name, threshold)
        assert len(want) >= 4
        assert [region.label for region in got] == [label for _, label, _ in want]
        assert [region.order for region in got] == list(range(len(want)))
        for region, (box, _, score) in zip(got, want):
            assert np.abs(np.subtract(region.box, box)).max() <= 1e-3 * max(PAGES[name].shape)
            assert abs(region.score - score) <= 1e-3
        # else this would prove little
        assert len({label for _, label, _ in want}) >= 2
        assert not (np.diff([box[1] for box, _, _ in want]) >= 0).all(), "it reads from top to bottom only"

    def test_each_class_has_its_threshold(self, parts: Callable[..., PpDocLayout], backend: str, version: int) -> None:
        part = parts(version, backend)
        scores = 1 / (1 + np.exp(-raw(version, "tall").logits[0].numpy()))
        there = scores.max(1) >= part.thresholds[scores.argmax(1)]
        assert there.any()
        got = part.detect(PAGES["tall"])
        assert sorted(region.score for region in got) == pytest.approx(np.sort(scores.max(1)[there]), abs=1e-3)


def _run(work: Any) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_other_work_may_step_in(parts: Callable[..., PpDocLayout], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.pp_doclayout.Pieces", partial(Pieces, pause_after=0.0))
    work = parts(2, "torch").detecting(PAGES["tall"])
    assert sum(1 for _ in work) > 20


def test_thresholds_are_the_checkpoints(parts: Callable[..., PpDocLayout]) -> None:
    assert parts(2, "torch").thresholds.tolist() == pytest.approx([0.5, 0.55, 0.45, 0.5, 0.4])
    assert parts(3, "torch").thresholds.tolist() == pytest.approx([0.3] * 5)
    assert parts(4, "torch").thresholds.tolist() == pytest.approx([0.5] * 5)


@pytest.mark.parametrize(
    "image", [np.zeros((5, 5), np.uint8), np.zeros((5, 5, 3), np.float32), np.zeros((0, 5, 3), np.uint8)]
)
def test_what_is_no_page_is_refused(parts: Callable[..., PpDocLayout], image: np.ndarray) -> None:
    with pytest.raises(BadRequest, match="RGB"):
        parts(2, "torch").detect(image)


def test_one_pixel_is_a_page(parts: Callable[..., PpDocLayout]) -> None:
    assert isinstance(parts(3, "torch").detect(np.zeros((1, 1, 3), np.uint8)), list)


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_tensors_are_named(tmp_path: Path, version: int) -> None:
    from safetensors.numpy import load_file, save_file

    folder = save_pp_doclayout(version, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.decoder.layers.1.encoder_attn.value_proj.weight"]
    tensors["model.strange"] = np.zeros(3, np.float32)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    checkpoint = Checkpoint.open(folder)
    found = survey(lambda view: pp_doclayout(view, checkpoint.config), checkpoint)
    assert {(p.kind, p.tensor) for p in found.problems} == {
        ("missing", "model.decoder.layers.1.encoder_attn.value_proj.weight"),
        ("unexpected", "model.strange"),
    }
    with pytest.raises(WeightsError, match="strange"):
        found.check()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"normalize_before": True}, "normalize_before"),
        ({"class_thresholds": [0.5]}, "class_thresholds"),
        ({"id2label": {"0": "a", "2": "b"}}, "id2label"),
        ({"activation_function": "sine"}, "sine"),
        ({"decoder_attention_heads": 5}, "5 heads"),
        ({"learn_initial_query": True}, "learned queries"),
    ],
)
def test_an_impossible_config_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    checkpoint = Checkpoint.open(save_pp_doclayout(2, tmp_path))
    config = checkpoint.config | changes
    with pytest.raises(ConfigError, match=said):
        survey(lambda view: pp_doclayout(view, config), checkpoint)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(save_pp_doclayout(2, tmp_path))
    with pytest.raises(UnsupportedArchitecture, match="yolo"):
        survey(lambda view: pp_doclayout(view, {**checkpoint.config, "model_type": "yolo"}), checkpoint)


def test_a_box_must_be_a_quadrilateral(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(save_pp_doclayout(4, tmp_path))
    with pytest.raises(ConfigError, match="num_coords must be 10"):
        survey(lambda view: pp_doclayout(view, {**checkpoint.config, "num_coords": 8}), checkpoint)


def test_the_config_is_the_published_one(tmp_path: Path) -> None:
    """A config may leave out what is usual."""
    folder = save_pp_doclayout(3, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    for name in ("layer_norm_eps", "batch_norm_eps", "activation_function", "mask_enhanced", "feat_strides"):
        config.pop(name)
    checkpoint = Checkpoint.open(folder)
    assert not survey(lambda view: pp_doclayout(view, config), checkpoint).problems
