"""What LFM 2-VL's own image processor makes of pictures. transformers has it for torchvision alone: without that, the processor's own code
runs with Pillow's scaling in place of torchvision's, which gives the same bytes but for a rounding here and there.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
from PIL import Image

TORCHVISION = importlib.util.find_spec("torchvision") is not None
_FUNCTIONS = "torchvision.transforms.v2.functional"


@cache
def processor_class() -> Any:
    import transformers.image_processing_backends as backends

    if TORCHVISION:
        from transformers.models.lfm2_vl.image_processing_lfm2_vl import Lfm2VlImageProcessor

        return Lfm2VlImageProcessor
    names = [_FUNCTIONS.rsplit(".", depth)[0] for depth in range(_FUNCTIONS.count("."), 0, -1)] + [_FUNCTIONS]
    stands = {name: ModuleType(name) for name in names}
    for name in names[1:]:
        setattr(stands[name.rpartition(".")[0]], name.rpartition(".")[2], stands[name])
    with mock.patch.dict(sys.modules, stands):
        found = importlib.import_module("transformers.models.lfm2_vl.image_processing_lfm2_vl")
    assert found.TorchvisionBackend is backends.TorchvisionBackend
    return found.Lfm2VlImageProcessor


def _resized(self: Any, image: Any, size: Any, resample: Any = None, **more: Any) -> Any:
    import torch

    filter = Image.Resampling(int(resample))
    made = [
        np.asarray(Image.fromarray(one.permute(1, 2, 0).numpy()).resize((size.width, size.height), filter))
        for one in image
    ]
    return torch.from_numpy(np.stack(made)).permute(0, 3, 1, 2)


def _normalized(self: Any, image: Any, mean: Any, std: Any, **more: Any) -> Any:
    return (image - mean[None, :, None, None]) / std[None, :, None, None]


@contextmanager
def _with_pillow(kind: Any) -> Iterator[None]:
    if TORCHVISION:
        yield
        return
    base = kind.__mro__[1]
    with mock.patch.object(base, "resize", _resized), mock.patch.object(base, "normalize", _normalized):
        yield


def lfm2_pixels(pictures: Sequence[Image.Image], settings: dict[str, Any]) -> dict[str, Any]:
    import torch

    kind = processor_class()
    given = {
        **{name: getattr(kind, name) for name in kind.valid_kwargs.__annotations__ if hasattr(kind, name)},
        "do_resize": True,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "resample": kind.resample,
        "image_mean": kind.image_mean,
        "image_std": kind.image_std,
    } | settings
    given |= {"return_row_col_info": True, "disable_grouping": True, "return_tensors": "pt"}
    given |= {name: tuple(given[name]) for name in ("image_mean", "image_std")}
    images = [torch.from_numpy(np.array(one.convert("RGB"))).permute(2, 0, 1) for one in pictures]
    with _with_pillow(kind):
        reference = kind.__new__(kind)
        return dict(kind._preprocess(reference, images, **given))
