"""PP-DocLayout: the regions of a page, their classes, and the order they are read in.

Version 2 asks a model of its own for the order. Version 3 scores it in the detector, and takes its first boxes from
masks. Version 4 marks regions by quadrilaterals, and also scores which region directly follows which. All look at the page as a
square of 800 pixels, whatever its shape.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array
from engine.errors import BadRequest, ConfigError, UnsupportedArchitecture
from engine.models.config import Fields
from engine.models.convolution import conv_norm
from engine.models.detr_decoder import (
    BOX,
    QUAD,
    DetrDecoder,
    Head,
    Queries,
    corners_of_quads,
    sigmoid,
)
from engine.models.detr_encoder import DetrNorm, HybridEncoder
from engine.models.encoder import Pieces
from engine.models.hgnet import HgNet
from engine.models.layout_masks import MaskFeatures, boxes_of_masks
from engine.models.reading_order import SCALE, OrderModel, Pairs, ranks
from engine.models.successors import Successors
from engine.vision.processor import bicubic
from engine.weights.view import View

THRESHOLD = 0.3  # where a config names none
THRESHOLD_V4 = 0.5


@dataclass(frozen=True)
class Region:
    box: tuple[float, float, float, float]  # left, top, right, bottom in pixels of the page
    label: str
    score: float
    order: int  # 0 is read first


@dataclass(frozen=True)
class Candidates:
    """What the detector says, before it is decided what of it is there."""

    logits: np.ndarray  # [Q, classes]
    boxes: np.ndarray  # [Q, 4], centers and sizes as shares of the page
    ranks: Callable[[np.ndarray], np.ndarray]  # of those that are there, whose numbers it is given


class PpDocLayout:
    """What all versions share: a backbone, an encoder of three scales, a decoder."""

    side = 800  # pixels of the square
    numbers = BOX  # of a box in the decoder
    rounded = True  # the square has bytes

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        f, model = Fields(config), w.sub("model")
        self.ops, self.dtype = w.backend.ops, w.backend.dtype
        self.labels = _labels(f)
        self.thresholds = np.full(len(self.labels), THRESHOLD, np.float32)
        dim, wide = f.int("d_model", "hidden_size", default=256), f.int("encoder_hidden_dim", default=256)
        self.backbone = HgNet(model.sub("backbone.model"), f.sub("backbone_config"))
        inputs = self.backbone.channels[1:]
        self.inputs = [
            conv_norm(model.sub(f"encoder_input_proj.{i}"), width, wide, 1, names=("0", "1"))
            for i, width in enumerate(inputs)
        ]
        self.encoder = HybridEncoder(model.sub("encoder"), f, wide, len(inputs))
        self.decoder = DetrDecoder(model, f, dim, [wide] * len(inputs), len(self.labels), self.numbers)
        w.ignore(r"\.num_batches_tracked$")

    def detect(self, image: np.ndarray, threshold: float | None = None) -> list[Region]:
        """All at once. `image` is RGB `[H, W, 3]` of uint8; regions come in reading order."""
        work = self.detecting(image, threshold)
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: list[Region] = end.value
                return found

    def detecting(self, image: np.ndarray, threshold: float | None = None) -> Generator[None, None, list[Region]]:
        """The same, yielding where other work may step in."""
        pixels = np.asarray(image)
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
            raise BadRequest("A page must be an RGB image: [H, W, 3] of uint8.", "image")
        height, width = pixels.shape[:2]
        candidates = yield from self.candidates(bicubic(pixels, self.side, self.side, self.rounded))
        limits = self.thresholds if threshold is None else np.full_like(self.thresholds, threshold)
        return self._decided(candidates, limits, height, width)

    def candidates(self, square: np.ndarray) -> Generator[None, None, Candidates]:
        """Of a page that has been brought to the square."""
        pieces = Pieces(self.ops)
        x = self.ops.array((square.astype(np.float32) / np.float32(255))[None], self.dtype)
        stages = yield from self.backbone(x, pieces)
        maps = yield from self.encoder([project(x) for project, x in zip(self.inputs, stages[1:])], pieces)
        memory, sizes = self.decoder.memory(maps)
        yield from pieces.cut(memory)
        proposals = self.decoder.proposals(memory, sizes)
        yield from pieces.cut(proposals.x)
        start = self.first(proposals, stages[0], maps)
        yield from pieces.cut(start.x)
        final = yield from self.decoder.refine(start, memory, sizes, self.box_head, pieces)
        return self.judged(final)

    def first(self, proposals: Queries, fine: Array, maps: Sequence[Array]) -> Queries:
        return proposals

    @abstractmethod
    def box_head(self, layer: int) -> Callable[[Array], Array]: ...

    @abstractmethod
    def judged(self, final: Queries) -> Candidates: ...

    def _decided(self, found: Candidates, limits: np.ndarray, height: int, width: int) -> list[Region]:
        """A candidate is what it most looks like; its other classes would only read the same place twice."""
        scores = sigmoid(found.logits)
        best = scores.argmax(1)
        score = scores[np.arange(len(best)), best]
        corners = corners_of(found.boxes) * np.array([width, height] * 2, np.float32)
        corners = corners.clip(0, np.array([width, height] * 2, np.float32))
        kept = np.flatnonzero(score >= limits[best])
        kept = kept[np.argsort(found.ranks(kept), kind="stable")]
        return [
            Region(tuple(corners[i].tolist()), self.labels[best[i]], float(score[i]), order)
            for order, i in enumerate(kept)
        ]


class PpDocLayoutV2(PpDocLayout):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config)
        f, dim, decoder = Fields(config), self.decoder.dim, w.sub("model.decoder")
        layers, count = range(len(self.decoder.layers)), len(self.labels)
        self.boxes = [Head(decoder.sub(f"bbox_embed.{i}"), [dim, dim, dim, 4]) for i in layers]
        self.classes = [decoder.linear((f"class_embed.{i}", count), inp=dim, bias=True) for i in layers]
        self.order = OrderModel(w.sub("reading_order"), f.sub("reading_order_config"))
        self.thresholds = np.array(_one_a_label(f, "class_thresholds", [THRESHOLD] * count), np.float32)
        self.class_order = np.array(_one_a_label(f, "class_order", list(range(count))), np.int32)

    def box_head(self, layer: int) -> Callable[[Array], Array]:
        return self.boxes[layer]

    def judged(self, final: Queries) -> Candidates:
        """The order is asked about what is there; the rest follows behind it, without a place of its own."""
        logits = self.ops.numpy(self.classes[-1](final.x))
        kinds = logits.argmax(1)
        there = sigmoid(logits.max(1)) >= self.thresholds[kinds]
        behind = np.argsort(~there, kind="stable")
        logits, boxes, kinds, there = logits[behind], final.boxes[behind], kinds[behind], there[behind]
        page = np.where(there[:, None], (corners_of(boxes) * np.float32(SCALE)).clip(0, SCALE), 0)
        scores = self.order(page, self.class_order[np.where(there, kinds, 0)], int(there.sum()))
        return Candidates(logits, boxes, ranks(scores).__getitem__)


class PpDocLayoutV3(PpDocLayout):
    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config)
        f, dim, model = Fields(config), self.decoder.dim, w.sub("model")
        self.masked = f.flag("mask_enhanced", True)
        wide, kinds = f.int("encoder_hidden_dim", default=256), f.int("num_prototypes", default=32)
        self.masks = MaskFeatures(model.sub("encoder"), f, wide, self.backbone.channels[0], kinds)
        self.mask_query = Head(model.sub("mask_query_head"), [dim, dim, dim, kinds])
        self.norm = DetrNorm(model, "decoder_norm", dim, f.float("layer_norm_eps", default=1e-5))
        last = len(self.decoder.layers) - 1
        self.order = model.linear((f"decoder_order_head.{last}", dim), inp=dim, bias=True)
        size = f.int("global_pointer_head_size", default=64)
        self.pairs = Pairs(model.sub("decoder_global_pointer"), dim, size)
        # The other layers' orders served training; the heads for boxes and classes are the proposals' own.
        w.ignore(r"^model\.decoder_order_head\.", r"^model\.decoder\.(bbox|class)_embed\.")

    def first(self, proposals: Queries, fine: Array, maps: Sequence[Array]) -> Queries:
        if not self.masked:
            return proposals
        features = self.ops.numpy(self.masks(fine, maps))[0]
        queries = self.ops.numpy(self.mask_query(self.norm(proposals.x)))
        return Queries(proposals.x, boxes_of_masks(queries, features))

    def box_head(self, layer: int) -> Callable[[Array], Array]:
        return self.decoder.first_box

    def judged(self, final: Queries) -> Candidates:
        known = self.norm(final.x)
        logits = self.ops.numpy(self.decoder.score(known))
        return Candidates(logits, final.boxes, ranks(self.pairs(self.order(known))).__getitem__)


class PpDocLayoutV4(PpDocLayout):
    numbers, rounded = QUAD, False

    def __init__(self, w: View, config: Mapping[str, Any]) -> None:
        super().__init__(w, config)
        f, dim, decoder = Fields(config), self.decoder.dim, w.sub("model.decoder")
        if f.int("num_coords", default=QUAD) != QUAD:
            raise ConfigError(f"{f.where}: num_coords must be {QUAD}: the corners of a quadrilateral.")
        self.thresholds = np.full(len(self.labels), THRESHOLD_V4, np.float32)
        layers = range(len(self.decoder.layers))
        self.boxes = [Head(decoder.sub(f"bbox_embed.{i}"), [dim, dim, dim, QUAD]) for i in layers]
        self.score = decoder.linear((f"class_embed.{layers[-1]}", len(self.labels)), inp=dim, bias=True)
        self.successors = Successors(w.sub("model"), f, dim, layers[-1])
        w.ignore(r"^model\.decoder\.class_embed\.")  # of the other layers: they served training

    def box_head(self, layer: int) -> Callable[[Array], Array]:
        return self.boxes[layer]

    def judged(self, final: Queries) -> Candidates:
        corners = corners_of_quads(final.boxes)
        low, high = corners.min(1), corners.max(1)
        boxes = np.concatenate([(low + high) * np.float32(0.5), high - low], 1)
        return Candidates(self.ops.numpy(self.score(final.x)), boxes, self.successors(final.x))


VERSIONS: dict[str, Callable[[View, Mapping[str, Any]], PpDocLayout]] = {
    "pp_doclayout_v2": PpDocLayoutV2,
    "pp_doclayout_v3": PpDocLayoutV3,
    "pp_doclayout_v4": PpDocLayoutV4,
}


def pp_doclayout(w: View, config: Mapping[str, Any]) -> PpDocLayout:
    """Whichever version the config names."""
    version = VERSIONS.get(str(config.get("model_type")))
    if version is None:
        raise UnsupportedArchitecture(
            f"`{config.get('model_type')}` is not a layout model that Grus knows. Known: {', '.join(VERSIONS)}."
        )
    return version(w, config)


def corners_of(boxes: np.ndarray) -> np.ndarray:
    half = boxes[:, 2:] * np.float32(0.5)
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], 1)


def _labels(f: Fields) -> list[str]:
    names = {str(id): name for id, name in f.sub("id2label").values.items()}
    try:
        return [str(names[str(i)]) for i in range(len(names))]
    except KeyError as missing:
        raise ConfigError(f"{f.where}: id2label has no name for class {missing}.") from None


def _one_a_label(f: Fields, name: str, default: list[Any]) -> list[Any]:
    values = f.find(name, default=default)
    if not isinstance(values, list) or len(values) != len(default):
        raise ConfigError(f"{f.where}: `{name}` must have one number for each of the {len(default)} classes.")
    return values
