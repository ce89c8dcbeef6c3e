"""Images through the whole server and the engine: every API gives the same reply to an image."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from PIL import Image

import grus
from app.runtime.catalogue import Catalogue
from engine.engine import Engine
from engine.loading import LoadOptions, load
from engine.types import Settings
from engine.weights.convert import convert
from tests.app.fresh import environment
from tests.app.server.live import Live, serving
from tests.engine.vision.pictures import drawn
from tests.processes import child_process
from tests.seeing_checkpoints import save as save_family
from tests.vision_checkpoints import save

WHERE: dict[str, Any] = dict(backend="auto", device="cpu", memory_limit=1 << 30, download=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save("qwen3_5", tmp_path_factory.mktemp("seeing") / "tiny"))


@pytest.fixture(scope="module")
def real(folder: str) -> Iterator[Live]:
    settings = Settings(gpu_memory_limit="1G", max_concurrent=4)
    where = LoadOptions(**WHERE)
    catalogue = Catalogue({"real": folder}, use_cache=False)
    with serving(lambda of: Engine(of, settings), lambda source: load(source, where), catalogue) as live:
        yield live


@pytest.fixture(scope="module")
def said(folder: str) -> str:
    """By the same model, without a server."""
    answer = grus.run("Hm?", images=[drawn(40, 32)], model=folder, options=WHERE, max_tokens=12, temperature=0.0)
    grus.unload()
    assert answer.text
    return answer.text


def file() -> str:
    out = io.BytesIO()
    drawn(40, 32).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def asked(live: Live, path: str, **body: Any) -> Any:
    answered = httpx.post(live.url + path, json=body, timeout=60)
    assert answered.status_code == 200, answered.text
    return answered.json()


def test_every_family_says_what_the_model_says(real: Live, said: str) -> None:
    url = f"data:image/png;base64,{file()}"
    user = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "Hm?"}]}
    ]
    chat = asked(real, "/v1/chat/completions", messages=user, max_tokens=12, temperature=0)
    assert chat["choices"][0]["message"]["content"] == said

    items = [{"type": "input_image", "image_url": url}, {"type": "input_text", "text": "Hm?"}]
    response = asked(
        real, "/v1/responses", input=[{"role": "user", "content": items}], max_output_tokens=12, temperature=0
    )
    assert response["output"][0]["content"][0]["text"] == said

    source = {"type": "base64", "media_type": "image/png", "data": file()}
    blocks = [{"type": "image", "source": source}, {"type": "text", "text": "Hm?"}]
    message = asked(
        real, "/v1/messages", model="real", messages=[{"role": "user", "content": blocks}], max_tokens=12, temperature=0
    )
    assert message["content"][0]["text"] == said

    options = {"num_predict": 12, "temperature": 0, "repeat_penalty": 1.0}
    spoken = [{"role": "user", "content": "Hm?", "images": [file()]}]
    ollama = asked(real, "/api/chat", model="real", messages=spoken, stream=False, options=options)
    assert ollama["message"]["content"] == said
    generated = asked(real, "/api/generate", model="real", prompt="Hm?", images=[file()], stream=False, options=options)
    assert generated["response"] == said

    params = {"max_new_tokens": 12, "temperature": 0}
    assert asked(real, "/generate", text="Hm?", image_data=url, sampling_params=params)["text"] == said


def test_streams_and_choices(real: Live, said: str) -> None:
    client = openai.OpenAI(base_url=f"{real.url}/v1", api_key="none", max_retries=0)
    parts: Any = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{file()}"}},
        {"type": "text", "text": "Hm?"},
    ]
    options: Any = dict(model="real", messages=[{"role": "user", "content": parts}], max_tokens=12, temperature=0)
    stream = client.chat.completions.create(**options, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == said
    both = client.chat.completions.create(**options, n=2).choices
    assert [choice.message.content for choice in both] == [said, said]


@pytest.mark.slow
def test_a_gguf_file_and_its_mmproj_file_are_served_by_a_process_of_its_own(
    folder: str, said: str, tmp_path: Path
) -> None:
    file_of_model = convert(Path(folder), tmp_path / "eyes.gguf")
    command = [sys.executable, "-m", "app.cli", "serve", "--model", f"eyes={file_of_model}", "--port", "0", "--cpu"]
    limits = {"GRUS_GPU_MEMORY_LIMIT": "1G", "GRUS_GRACE": "1"}
    with child_process(command, env=environment(**limits), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n")))
        try:
            assert found is not None
            picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{file()}"}}
            replies = []
            for parts in ([picture], []):
                user = [{"role": "user", "content": [*parts, {"type": "text", "text": "Hm?"}]}]
                body = {"model": "eyes", "messages": user, "max_tokens": 12, "temperature": 0}
                answered = httpx.post(f"{found[0]}/v1/chat/completions", json=body, timeout=60)
                assert answered.status_code == 200, answered.text
                replies.append(answered.json()["choices"][0]["message"]["content"])
            assert replies[0] == said
            assert replies[1] != said
        finally:
            child.terminate()
            child.communicate(timeout=30)


FAMILIES = ("internvl", "lfm2_vl")


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("families")
    folders = {name: str(save_family(name, root / name)) for name in FAMILIES}
    return folders | {f"{name}.gguf": str(convert(Path(of), root / f"{name}.gguf")) for name, of in folders.items()}


@pytest.mark.slow
def test_families_that_see_are_served_by_a_process_of_its_own(families: dict[str, str]) -> None:
    """Each from its folder and its GGUF file: a small picture, one that is cut into tiles, and both in one conversation."""
    pictures = [drawn(40, 32), drawn(90, 30)]
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--cpu"]
    for name, place in families.items():
        command += ["--model", f"{name}={place}"]
    limits = {"GRUS_GPU_MEMORY_LIMIT": "2G", "GRUS_GRACE": "1"}
    with child_process(command, env=environment(**limits), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", "".join(iter(child.stdout.readline, "Ctrl-C stops it.\n")))
        try:
            assert found is not None
            for name, place in families.items():
                answers = []
                for shown in ([pictures[0]], [pictures[1]], pictures, []):
                    parts = [{"type": "image_url", "image_url": {"url": url_of(one)}} for one in shown]
                    user = [{"role": "user", "content": [*parts, {"type": "text", "text": "Hm?"}]}]
                    body = {"model": name, "messages": user, "max_tokens": 12, "temperature": 0}
                    answered = httpx.post(f"{found[0]}/v1/chat/completions", json=body, timeout=120)
                    assert answered.status_code == 200, answered.text
                    answers.append(answered.json()["choices"][0]["message"]["content"])
                    said = grus.run(
                        "Hm?", images=shown, model=place, options=WHERE, max_tokens=12, temperature=0.0
                    ).text
                    assert answers[-1] == said, name
                assert len(set(answers)) == 4, name
        finally:
            grus.unload()
            child.terminate()
            child.communicate(timeout=30)


def url_of(picture: Image.Image) -> str:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
