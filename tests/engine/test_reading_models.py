"""The models that read pages in a running engine: images beside text in one batch, a layout as work beside replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.models.pp_doclayout import Region
from engine.types import Request, SamplingParams, Settings
from engine.vision.registry import make_vision_processor
from engine.weights.checkpoint import Checkpoint
from tests.asserting import every
from tests.engine.vision.pictures import drawn
from tests.reading_checkpoints import BEGIN, END, IMAGE, START, paddleocr_vl, page, save_paddleocr_vl, save_pp_doclayout

LENGTH = 32
ASKED = {"one": [(30, 20)], "text": [], "several": [(50, 9), (8, 8), (21, 64)], "same again": [(30, 20)]}


@pytest.fixture(params=["torch", "mlx"])
def options(request: Any) -> LoadOptions:
    return LoadOptions(backend=request.param, device="cpu", dtype="f32")


def requests(folder: Path) -> list[Request]:
    vision = make_vision_processor(Checkpoint.open(folder).config, folder, lambda text: [])
    assert vision is not None
    made = []
    for sizes in ASKED.values():
        pictures = [vision.prepare(drawn(*size)) for size in sizes]
        ids = [BEGIN, 40, 41, *[id for _ in sizes for id in (START, IMAGE, END)], 9, 17, 80, 12]
        ids, places = vision.expand(ids, pictures)
        rope = vision.rope(ids, pictures) if pictures else None
        params = SamplingParams(temperature=0.0, max_tokens=LENGTH, ignore_eos=True)
        made.append(Request("m", ids, params, pictures=pictures, positions=places, rope=rope))
    return made


def expected(request: Request) -> tuple[list[int], list[float]]:
    import torch

    ids = torch.tensor([list(request.prompt_ids)])
    given: dict[str, Any] = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    if request.pictures:
        given |= dict(
            pixel_values=torch.from_numpy(np.concatenate([p.patches for p in request.pictures])),
            image_grid_thw=torch.tensor([p.grid for p in request.pictures]),
            mm_token_type_ids=(ids == IMAGE).int(),
        )
    out = paddleocr_vl().generate(
        **given,
        max_new_tokens=LENGTH,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
        output_logits=True,
        return_dict_in_generate=True,
    )
    best = torch.stack(out.logits)[:, 0].topk(2, dim=-1).values
    return out.sequences[0, ids.shape[1] :].tolist(), ((best[:, 0] - best[:, 1]) / best.abs().max()).tolist()


def test_images_and_text_in_one_batch_say_what_the_reference_says(options: LoadOptions, tmp_path: Path) -> None:
    folder = save_paddleocr_vl(tmp_path)
    engine = Engine(lambda name: load_any(str(folder), options), Settings(prefill_chunk=16), start=False)
    asked = requests(folder)
    handles = [engine.submit(request) for request in asked]
    while not engine.idle:
        engine.turn()
    for handle, request in zip(handles, asked):
        got, (want, margins) = list(handle.result(0).ids), expected(request)
        assert len(set(want)) > 8, "the reference repeats itself, so this would prove little"
        if got != want:
            parted = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
            assert margins[parted] < 1e-5, f"token {parted}: {got[parted]}, expected {want[parted]}"
    engine.close()


def test_a_layout_is_work_beside_replies(options: LoadOptions, tmp_path: Path) -> None:
    folder = save_pp_doclayout(3, tmp_path)
    engine = Engine(lambda name: load_any(str(folder), options), Settings(), start=False)

    def work(loaded: Any) -> Any:
        loaded.model.side = 128
        return loaded.model.detecting(page())

    task = engine.task("layout", work)
    while not engine.idle:
        engine.turn()
    regions = task.result(0)
    assert regions
    assert every(isinstance(region, Region) for region in regions)
    assert [region.order for region in regions] == list(range(len(regions)))
    engine.close()
