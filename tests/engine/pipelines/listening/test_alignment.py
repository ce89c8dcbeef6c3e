"""Times of words by a forced aligner: in Python, by command in a new process on both backends, and over HTTP."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import soundfile

import grus
from app.runtime.catalogue import Catalogue, capabilities, config_in
from engine.engine import Engine
from engine.errors import BadRequest, MissingCapability
from engine.loading import LoadOptions, load_any
from engine.pipelines.listening.alignment import ForcedAligner, in_order
from engine.pipelines.listening.transcript import TranscriptSegment
from engine.types import Settings
from tests.app.server.live import serving
from tests.asserting import every
from tests.engine.models.test_qwen3_aligner import run
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import aligner_id, save_aligner, save_qwen3_asr


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("aligned")
    return str(save_qwen3_asr(folder / "qwen3-asr")), str(save_aligner(folder / "aligner", "thinker"))


@pytest.fixture(scope="module")
def ears(folders: tuple[str, str]) -> Iterator[grus.Ears]:
    with grus.Ears(folders[0], LoadOptions(backend="auto", device="cpu"), aligner=folders[1]) as made:
        yield made


def test_words_have_the_times_that_the_aligner_hears(ears: grus.Ears) -> None:
    sound = talk(2)
    made = ears.listen(sound, rate=RATE, words=True)
    assert made.segments
    for segment in made.segments:
        assert "".join(word.text for word in segment.words) == "".join(segment.text.split())
        edges = [edge for word in segment.words for edge in (word.start, word.end)]
        assert edges == sorted(edges)
        assert every(segment.start <= edge <= segment.end for edge in edges)
    assert ears.listen(sound, rate=RATE).segments[0].words == ()


def test_times_are_those_of_the_classes(ears: grus.Ears) -> None:
    aligner = ForcedAligner(ears.service, str(ears.aligner))
    loaded = ears.service.load_now(str(ears.aligner))
    sound, mark = talk(1), aligner_id("<timestamp>")
    made = aligner.timed(TranscriptSegment(5.0, 5.0 + len(sound) / RATE, "a b — c!"), sound, "en")
    words = [loaded.tokenizer.encode(word, add_special=False) for word in ("a", "b", "c")]
    behind = [aligner_id("<|audio_end|>"), *(id for word in words for id in (*word, mark, mark))]
    classes = run(loaded.model.classes(sound, [aligner_id("<|audio_start|>")], behind))
    wanted = [min(5.0 + time, made.end) for time in in_order((classes * 0.08).tolist())]
    assert [word.text for word in made.words] == ["a", "b", "—", "c!"]
    timed = [made.words[0], made.words[1], made.words[3]]
    assert [edge for word in timed for edge in (word.start, word.end)] == pytest.approx(wanted)
    assert (made.words[2].start, made.words[2].end) == (made.words[1].end, made.words[1].end)


def test_a_language_that_it_was_not_trained_for_stays_without_times(ears: grus.Ears) -> None:
    aligner, segment = ForcedAligner(ears.service, str(ears.aligner)), TranscriptSegment(0.0, 1.0, "Ala ma kota.")
    assert aligner.timed(segment, talk(1)[:RATE], "pl") is segment
    assert aligner.timed(segment, talk(1)[:RATE], None).words
    assert aligner.timed(TranscriptSegment(0.0, 1.0, "..."), talk(1)[:RATE], "en").words == ()


def test_what_is_no_aligner_is_refused(folders: tuple[str, str]) -> None:
    options = LoadOptions(backend="auto", device="cpu")
    with pytest.raises(MissingCapability, match="tells when each word"):
        grus.Ears(folders[0], options, aligner=folders[0])
    with grus.Ears(folders[0], options) as plain, pytest.raises(BadRequest, match="forced aligner does"):
        plain.listen(talk(1), rate=RATE, words=True)
    with grus.Ears(folders[0], options) as plain, pytest.raises(BadRequest, match="aligns no words"):
        ForcedAligner(plain.service, folders[0]).timed(TranscriptSegment(0.0, 1.0, "a"), talk(1), "en")


@pytest.mark.slow
def test_by_command_in_a_new_process_on_both_backends(folders: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "talk.wav"
    soundfile.write(file, talk(2), RATE)
    command = [sys.executable, "-m", "app.cli", "listen", str(file), "--model", folders[0], "--aligner", folders[1]]
    command += ["--words", "--format", "json", "--quant", "none", "--device", "cpu", "--language", "en"]
    made = []
    for backend in ("torch", "mlx"):
        done = subprocess.run([*command, "--backend", backend], capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stderr
        made.append(json.loads(done.stdout)["segments"])
    assert made[0][0]["words"]
    assert [one["words"] for one in made[0]] == [one["words"] for one in made[1]]
    alone = subprocess.run(
        [*command[:4], str(file), "--model", folders[0], "--aligner", folders[1]],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert alone.returncode == 2
    assert "--words or --speakers" in alone.stderr


def test_over_http(folders: tuple[str, str]) -> None:
    named = {"qwen3-asr": folders[0], "aligner": folders[1]}
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    file = io.BytesIO()
    soundfile.write(file, talk(2), RATE, format="WAV")

    def post(url: str, **more: Any) -> httpx.Response:
        form = {"model": "qwen3-asr", "response_format": "verbose_json", "timestamp_granularities[]": "word"} | more
        return httpx.post(url + "/v1/audio/transcriptions", files={"file": file.getvalue()}, data=form, timeout=250)

    def serve(models: dict[str, str]) -> Any:
        settings = Settings(gpu_memory_limit="1G")
        catalogue = Catalogue(models, use_cache=False)
        return serving(lambda of: Engine(of, settings), lambda name: load_any(name, where), catalogue)

    with serve(named) as up:
        reply = post(up.url)
        assert reply.status_code == 200, reply.text
        edges = [word[edge] for word in reply.json()["words"] for edge in ("start", "end")]
        assert edges == sorted(edges)
        assert post(up.url, aligner="aligner").json()["words"] == reply.json()["words"]
        assert post(up.url, aligner="qwen3-asr").status_code == 400
        kinds = {one["id"]: one["kind"] for one in httpx.get(f"{up.url}/v1/models").json()["data"]}
        assert kinds["aligner"] == "alignment"
    with serve({"qwen3-asr": folders[0]}) as up:
        assert "forced aligner" in post(up.url).text


def test_both_layouts_are_known_for_what_they_are(folders: tuple[str, str], tmp_path: Path) -> None:
    assert capabilities(config_in(Path(folders[1]))) == {"align"}
    assert capabilities(config_in(save_aligner(tmp_path / "own"))) == {"align"}
    assert capabilities(config_in(Path(folders[0]))) == {"listen"}
