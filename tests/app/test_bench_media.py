"""`grus bench` with models that speak, listen and read, in a new process; and --profile of the commands that use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image, ImageDraw

from tests import speech_checkpoints
from tests.app.fresh import grus, several
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.qwen3_tts_cases import checkpoint, ending
from tests.reading_checkpoints import save_paddleocr_vl

SMALL = ["--runs", 1, "--json"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("media")
    made = {kind: ending(checkpoint(kind, root / kind)) for kind in ("base", "custom_voice")}
    made["listens"] = speech_checkpoints.save("moonshine", root / "moonshine-tiny")
    made["reads"] = save_paddleocr_vl(root / "reads")
    return made


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("inputs")
    page = Image.new("RGB", (200, 80), "white")
    ImageDraw.Draw(page).text((10, 30), "Cranes", fill="black")
    page.save(root / "page.png")
    soundfile.write(root / "talk.wav", talk(2), RATE)
    (root / "words.txt").write_text("Good morning.")
    return {"page": root / "page.png", "talk": root / "talk.wav", "words": root / "words.txt"}


def figures(outcome: Any, kind: str) -> dict[str, dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["kind"] == kind
    found = {figure["what"]: figure for figure in report["figures"]}
    assert found
    assert [what for what, figure in found.items() if not figure["value"] > 0] == []
    return found


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def test_each_kind_of_model_has_its_figures(backend: str, models: dict[str, Path], inputs: dict[str, Path]) -> None:
    where = ["--backend", backend, "--device", "cpu"]
    speaks, cloned, listens, recorded, reads = several(
        ["bench", models["custom_voice"], "--input", inputs["words"], "--streams", "1,2", *SMALL, *where],
        ["bench", models["base"], "--input", inputs["words"], "--streams", "1", *SMALL, *where],
        ["bench", models["listens"], "--streams", "1,2", *SMALL, *where],
        ["bench", models["listens"], "--input", inputs["talk"], "--streams", "1", *SMALL, *where],
        ["bench", models["reads"], "--input", inputs["page"], *SMALL, *where],
    )
    found = figures(speaks, "speak")
    assert found["first sound"]["unit"] == "ms"
    assert found["speech, 2 at once"]["unit"] == "s of work per s of sound"
    assert "speech, 1 at once" in figures(cloned, "speak")
    for outcome in (listens, recorded):
        found = figures(outcome, "listen")
        assert {"load", "first words", "real-time factor, 1 at once", "memory of this process"} <= set(found)
    found = figures(reads, "read")
    assert found["pages"]["value"] == pytest.approx(60 / found["a page"]["value"])
    assert found["text"]["unit"] == "tokens/s"


@pytest.mark.slow
def test_a_table_for_people_and_the_example_page() -> None:
    seen = grus("bench", "reader", "--runs", 1)
    assert seen.code == 0, seen.err
    assert "pages/minute" in seen.out
    assert "reader on " in seen.out


@pytest.mark.parametrize("backend", ["torch", pytest.param("mlx", marks=pytest.mark.slow)])
def test_a_profile_of_speaking_listening_and_reading(
    backend: str, models: dict[str, Path], inputs: dict[str, Path], tmp_path: Path
) -> None:
    where = ["--backend", backend, "--device", "cpu"]
    names = ("speak", "listen", "read")
    files = {name: tmp_path / f"{name}.json" for name in names}
    seen = several(
        ["speak", "Good morning.", "--model", models["custom_voice"], "--voice", "vivian", "-o", tmp_path / "out.wav",
         "--profile", files["speak"], *where],
        ["listen", inputs["talk"], "--model", models["listens"], "--profile", files["listen"], *where],
        ["read", inputs["page"], "--model", models["reads"], "--profile", files["read"], *where],
    )  # fmt: skip
    assert [outcome.code for outcome in seen] == [0, 0, 0], [outcome.err for outcome in seen]
    for name in names:
        events = json.loads(files[name].read_text())["traceEvents"]
        assert {"queue", "prefill", "decode", "task"} <= {event["name"] for event in events}, name
    tasks = {
        event["args"]["what"]
        for event in json.loads(files["listen"].read_text())["traceEvents"]
        if event["name"] == "task"
    }
    assert any("speech_parts" in what for what in tasks), "voice activity is named"


def test_what_cannot_be_is_one_sentence(models: dict[str, Path], inputs: dict[str, Path], tmp_path: Path) -> None:
    soundfile.write(tmp_path / "me.wav", np.zeros(RATE), RATE)
    codec = models["custom_voice"] / "speech_tokenizer"
    reading = ["read", inputs["page"], "--model", models["reads"]]
    wrong: list[tuple[list[Any], str]] = [
        (["bench", codec], "is a part of other models (a codec, a layout), and is not measured by itself."),
        (["bench", models["reads"], "--streams", "2"], "--streams is for models that chat, speak or listen."),
        (["bench", models["listens"], "--runs", 0], "--runs must be a number from 1 on, not 0."),
        (["bench", models["listens"], "--kind", "chat"], "Give it to grus listen"),
        (["bench", models["listens"], "--kind", "speak"], "does not speak."),
        (["bench", models["listens"], "--input", tmp_path / "none.wav"], "none.wav"),
        (["bench", models["custom_voice"], "--voice", "nobody"], "nobody"),
        (["bench", models["custom_voice"], "--input", tmp_path / "none.txt"], "cannot be read: No such file"),
        (["bench", models["reads"], "--input", tmp_path / "none.pdf"], "There is no file"),
        ([*reading, "--profile", tmp_path], "is a folder. Name a file for the profile."),
        (
            ["listen", inputs["talk"], "--model", models["listens"], "--profile", tmp_path / "no" / "p"],
            "does not exist",
        ),
        (["speak", "x", "--model", models["base"], "--profile", tmp_path], "is a folder. Name a file for the profile."),
    ]
    seen = several(*(arguments for arguments, _ in wrong))
    for (arguments, said), outcome in zip(wrong, seen, strict=True):
        assert (outcome.code, outcome.out) == (2, ""), (arguments, outcome)
        assert said in outcome.err, outcome.err
        assert len(outcome.err.splitlines()) == 1
