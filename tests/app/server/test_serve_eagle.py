"""An EAGLE-3 head that drafts for a served model, over HTTP and in a process of its own."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.app.server.test_serve_options import reply, served
from tests.eagle_heads import make_eagle_predictable, save_eagle, save_target


def drafted(client: httpx.Client) -> int:
    found = re.search(r"^grus_draft_tokens_total (\d+)", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("backend", ["torch", "mlx"])
def test_a_served_model_drafts_with_a_head(backend: str, tmp_path: Path) -> None:
    target, head = save_target(tmp_path / "target"), tmp_path / "head"
    make_eagle_predictable(target, save_eagle(target, head), 0.0)
    options = "--model", f"tiny={target}", "--backend", backend, "--dtype", "f32"
    with served(*options) as client:
        plain = reply(client)
        assert drafted(client) == 0
    with served(*options, "--draft", head) as client:
        assert reply(client) == plain
        assert drafted(client) > 0
        named = [model["id"] for model in client.get("/v1/models").json()["data"]]
        assert named == ["tiny"]  # the head is no model of its own
