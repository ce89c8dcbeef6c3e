"""Images on the command line and in the SDK: what the model is shown changes what it says, and every mistake is named."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import grus
from app.runtime.catalogue import capabilities_of
from engine.errors import BadRequest
from tests.app.conftest import Outcome
from tests.engine.vision.pictures import drawn
from tests.vision_checkpoints import IMAGE, MOST, save

Command = Callable[..., Outcome]
SAMPLING = ("--max-tokens", 12, "--temperature", 0, "--dtype", "f32")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield save("qwen3_vl", tmp_path_factory.mktemp("seeing") / "tiny-vl")
    grus.unload()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pictures")
    paths = []
    for i, size in enumerate([(40, 32), (48, 48), (200, 100)]):
        paths.append(folder / f"{i}.png")
        drawn(*size, seed=i).save(paths[-1])
    return paths


def report(seen: Outcome) -> dict:
    assert seen.code == 0, seen.err
    return json.loads(seen.out)


class TestRun:
    def test_images_come_before_the_words(self, command: Command, seeing: Path, files: list[Path]) -> None:
        reports = {}
        for n in (0, 1, 2):
            flags = [flag for path in files[:n] for flag in ("--image", path)]
            reports[n] = report(command("run", seeing, "What is it?", *flags, *SAMPLING, "--json"))
        assert [reports[n]["prompt_ids"].count(IMAGE) for n in (0, 1, 2)] == [0, 20, 20 + 36]
        assert len({tuple(reports[n]["output_ids"]) for n in (0, 1, 2)}) == 3

    def test_both_backends_say_the_same(self, command: Command, seeing: Path, files: list[Path]) -> None:
        said = [
            report(command("run", seeing, "Hm?", "--image", files[0], *SAMPLING, "--json", "--backend", backend))
            for backend in ("torch", "mlx")
        ]
        assert said[0]["output_ids"] == said[1]["output_ids"]

    def test_a_gguf_file_sees_with_the_mmproj_file_beside_it(
        self, command: Command, seeing: Path, files: list[Path], tmp_path: Path
    ) -> None:
        asked = ("Hm?", "--image", files[0], *SAMPLING, "--json")
        written = command("convert", seeing, tmp_path / "vl.gguf")
        assert written.out.split() == [str(tmp_path / "vl.gguf"), str(tmp_path / "mmproj-vl.gguf")]
        want = report(command("run", seeing, *asked))
        assert report(command("run", tmp_path / "vl.gguf", *asked))["output_ids"] == want["output_ids"]
        assert {"vision", "read"} <= capabilities_of(str(tmp_path / "vl.gguf"))
        moved = (tmp_path / "mmproj-vl.gguf").rename(tmp_path / "eyes")
        assert "does not see images" in command("run", tmp_path / "vl.gguf", *asked).err
        assert (
            report(command("run", tmp_path / "vl.gguf", "--mmproj", moved, *asked))["output_ids"] == want["output_ids"]
        )
        assert "vision" not in capabilities_of(str(tmp_path / "vl.gguf"))

    def test_what_is_lost_is_said(self, command: Command, seeing: Path, files: list[Path]) -> None:
        assert MOST < 200 * 100
        seen = command("run", seeing, "Hm?", "--image", files[2], *SAMPLING)
        assert seen.code == 0
        assert "200 x 100 pixels; the model looks at 88 x 40" in seen.err
        assert "looks at" not in command("run", seeing, "Hm?", "--image", files[0], *SAMPLING).err

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--image", "no-such.png"], "no-such.png could not be read"),
            (["--image", __file__], "not an image"),
            (["--image", __file__, "--raw"], "--image"),
        ],
    )
    def test_mistakes_are_one_sentence(self, command: Command, seeing: Path, arguments: list[str], said: str) -> None:
        seen = command("run", seeing, "Hm?", *arguments)
        assert seen.code == 2
        assert said in seen.err
        assert len(seen.err.strip().splitlines()) == 1

    def test_a_model_that_reads_text_only_says_so(self, command: Command, model: Path, files: list[Path]) -> None:
        seen = command("run", model, "Hm?", "--image", files[0])
        assert seen.code == 2
        assert "reads text only" in seen.err


def test_info_tells_what_a_model_sees(command: Command, seeing: Path, model: Path) -> None:
    assert f"images, {MOST} pixels of each at most" in command("info", seeing).out
    assert "Sees" not in command("info", model).out


class TestChat:
    @pytest.fixture
    def talk(self, command: Command, seeing: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
        def say(*lines: str, arguments: tuple[object, ...] = ()) -> Outcome:
            monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
            return command("chat", seeing, *SAMPLING, *arguments)

        return say

    def test_images_go_with_the_next_words_and_stay(
        self, talk: Callable[..., Outcome], files: list[Path], tmp_path: Path
    ) -> None:
        saved, written = tmp_path / "talk.json", tmp_path / "talk.md"
        arguments = ("--image", files[0])
        seen = talk(
            "Look", f"/image {files[1]}", "And now?", "Well?", f"/save {saved}", f"/save {written}", arguments=arguments
        )
        assert seen.code == 0
        users = [m["content"] for m in json.loads(saved.read_text())["messages"] if m["role"] == "user"]
        shown = [[part.get("image") for part in content[:-1]] for content in users[:2]]
        assert shown == [[str(files[0])], [str(files[1])]]
        assert users[2] == "Well?"
        assert f"![]({files[0]})" in written.read_text()
        assert seen.err.count("first token after") == 3

    def test_mistakes_do_not_end_it(self, talk: Callable[..., Outcome]) -> None:
        seen = talk("/image no-such.png", "/image", f"/image {__file__}", "Hello", "/quit")
        assert "no-such.png could not be read" in seen.out
        assert "Say which" in seen.out
        assert "not an image" in seen.out
        assert seen.err.count("first token after") == 1

    def test_a_reset_forgets_images_that_wait(
        self, talk: Callable[..., Outcome], files: list[Path], tmp_path: Path
    ) -> None:
        saved = tmp_path / "talk.json"
        talk(f"/image {files[0]}", "/reset", "Hello", f"/save {saved}")
        assert json.loads(saved.read_text())["messages"][0]["content"] == "Hello"

    def test_a_model_that_reads_text_only_says_so_at_once(
        self, command: Command, model: Path, files: list[Path]
    ) -> None:
        seen = command("chat", model, "--image", files[0])
        assert seen.code == 2
        assert "reads text only" in seen.err


class TestSdk:
    def test_every_kind_of_image_is_the_same_image(self, seeing: Path, files: list[Path]) -> None:
        kinds = [str(files[0]), files[0], files[0].read_bytes(), drawn(40, 32), np.asarray(drawn(40, 32))]
        options = dict(model=str(seeing), max_tokens=6, temperature=0.0)
        said = {grus.chat("Hm?", images=[kind], **options) for kind in kinds}
        assert len(said) == 1
        parts = [{"type": "image", "image": files[0]}, {"type": "text", "text": "Hm?"}]
        assert {grus.chat([{"role": "user", "content": parts}], **options)} == said
        assert grus.chat("Hm?", **options) not in said

    def test_a_video_is_a_list_of_frames(self, seeing: Path) -> None:
        frames = [drawn(24, 24, seed) for seed in range(4)]

        def ask(frames: list, **more: object) -> str:
            parts = [{"type": "video", "video": frames, **more}, {"type": "text", "text": "Hm?"}]
            return grus.chat([{"role": "user", "content": parts}], model=str(seeing), max_tokens=6, temperature=0.0)

        assert ask(frames) == ask(frames, seconds=[0, 0.5, 1, 1.5])
        assert ask(frames) != ask(frames[::-1])

    @pytest.mark.parametrize(
        ("image", "said"),
        [
            (7, "not int"),
            (b"no image", "not an image"),
            (np.zeros((4, 4), np.float32), "uint8"),
            (drawn(201, 1), "200"),
        ],
    )
    def test_what_is_no_image_is_refused(self, seeing: Path, image: object, said: str) -> None:
        with pytest.raises(BadRequest, match=said):
            grus.chat("Hm?", images=[image], model=str(seeing))

    def test_image_tokens_in_the_words_are_no_images(self, seeing: Path, files: list[Path]) -> None:
        with pytest.raises(BadRequest, match="2 places"):
            grus.chat("What is <|image_pad|>?", images=[files[0]], model=str(seeing))

    def test_images_that_do_not_fit_are_counted(self, seeing: Path) -> None:
        many = [drawn(64, 64, seed) for seed in range(17)]
        with pytest.raises(BadRequest, match="1088 of them for images"):
            grus.chat("Hm?", images=many, model=str(seeing))

    def test_a_raw_prompt_has_no_images(self, seeing: Path, files: list[Path]) -> None:
        with pytest.raises(TypeError, match="without images"):
            grus.chat("Hm?", raw=True, images=[files[0]], model=str(seeing))
        with pytest.raises(TypeError, match="parts of the content"):
            grus.chat([{"role": "user", "content": "x"}], images=[files[0]], model=str(seeing))
