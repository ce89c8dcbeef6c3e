"""The Speak pane's behaviour without a widget, with tiny models that really speak and clone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from app.gui.store.worker import AppStore
from app.gui.viewmodels.speak import PACES, PITCHES, SpeakResults, SpeakSettings, fitting, text_of
from app.gui.viewmodels.speak_options import SpeakOptions, offer_of
from app.runtime import pipelines
from app.runtime.catalogue import config_in
from engine.engine import Engine
from engine.errors import BadRequest
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking.spark import SparkStyle, style_of
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import Clone, SavedVoices, VoiceSettings
from tests.app.gui.media import ORPHEUS, AtOnce, like_spark
from tests.engine.media.test_documents import text_pdf
from tests.engine.pipelines.listening.conftest import voice
from tests.qwen3_tts_cases import checkpoint


@pytest.fixture(scope="module")
def speakers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("voices")
    options = LoadOptions(backend="auto", device="cpu", dtype="f32")
    engine = Engine(lambda name: load_any(name, options))
    yield {kind: speaker(engine, str(checkpoint(kind, folder / kind))) for kind in ("base", "custom_voice")}
    engine.close()


class Spoken:
    """A voice whose sound a test knows."""

    rate = 24_000
    presets = ("vivian",)
    clones = False
    engine: Any = None  # nothing is asked of one

    def check(self, settings: Any) -> None:
        if settings.language not in ("auto", "english"):
            raise BadRequest("This model does not speak that language.", "language")

    def needs_example(self, settings: Any) -> bool:
        return False

    def speak(self, text: str, settings: Any, **more: Any) -> Iterator[np.ndarray]:
        for _ in range(4):
            yield np.full(2400, 0.5, np.float32)


class Setup:
    def __init__(self, folder: Path) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.store = AppStore(folder / "grus.sqlite3")
        self.streams = AtOnce()
        self.folder = folder
        self.studio = self.fresh()

    def fresh(self) -> SpeakResults:
        say = lambda said, **more: self.said.append((said, more))  # noqa: E731
        return SpeakResults(self.store, self.streams, self.streams, say, self.folder)


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setup]:
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: Spoken())
    made = Setup(tmp_path)
    yield made
    made.store.close()


def test_playing_begins_with_the_first_sound_and_the_file_is_whole(setup: Setup) -> None:
    setup.streams.hold = True
    take = setup.studio.speak("The crane dances. Then it sleeps.", SpeakSettings())
    assert take is not None
    stream, playback = setup.streams.held[0], setup.studio.playback
    while not playback.seconds:
        stream.step()
    assert playback.playing
    assert not playback.complete
    assert len(playback.take(100)) == 100
    stream.finish()
    assert take.state == "done"
    assert playback.complete
    assert soundfile.info(str(take.file)).duration == pytest.approx(take.seconds, abs=0.01)


def test_what_was_made_is_there_after_a_restart_and_can_be_heard(setup: Setup) -> None:
    setup.studio.speak("The crane dances.", SpeakSettings(preset="vivian", instructions="slowly"))
    setup.store.wait()
    setup.store.wait()
    again = setup.fresh()
    again.look()
    setup.store.wait()
    take = again.items[0]
    assert (take.text, take.choice.preset, take.choice.instructions) == ("The crane dances.", "vivian", "slowly")
    assert again.playback.seconds == pytest.approx(take.seconds, abs=0.01)


@pytest.mark.parametrize("ending", ["wav", "mp3", "flac", "opus", "pcm"])
def test_it_is_saved_in_every_format(setup: Setup, tmp_path: Path, ending: str) -> None:
    take = setup.studio.speak("The crane dances.", SpeakSettings())
    assert take is not None
    assert setup.studio.save(take, tmp_path / f"out.{ending}").stat().st_size > 100


def test_stopping_keeps_what_was_heard(setup: Setup) -> None:
    setup.streams.hold = True
    take = setup.studio.speak("The crane dances.", SpeakSettings())
    assert take is not None
    assert setup.studio.speak("Another.", SpeakSettings()) is None  # one voice at a time
    while not take.seconds:
        setup.streams.held[0].step()
    assert setup.studio.stop()
    assert (take.state, setup.studio.busy, setup.studio.stop()) == ("stopped", False, False)
    assert soundfile.info(str(take.file)).duration == pytest.approx(take.seconds, abs=0.01)


def test_what_a_model_cannot_do_is_told_at_the_take(setup: Setup) -> None:
    take = setup.studio.speak("The crane dances.", SpeakSettings(language="klingon"))
    assert take is not None
    assert take.state == "failed"
    assert "does not speak that language" in take.status()
    assert setup.studio.speak("   ", SpeakSettings()) is None


def test_a_real_voice_speaks(setup: Setup, speakers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: speakers["custom_voice"])
    setup.streams.hold = True
    setup.studio.speak("Hello.", SpeakSettings(preset=speakers["custom_voice"].presets[0]))
    while not setup.studio.playback.seconds:
        setup.streams.held[0].step()
    assert np.isfinite(setup.studio.playback.samples).all()
    setup.studio.stop()


def test_a_voice_is_cloned_saved_heard_deleted_and_taken_back(
    setup: Setup, speakers: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: speakers["base"])
    soundfile.write(tmp_path / "me.wav", voice(2.0), 16_000)
    sentences: list[str] = []
    setup.studio.clone("Anna", tmp_path / "me.wav", "Hello there.", "base", sentences.append, sentences.append)
    assert sentences == ["Anna"]
    assert [(saved.name, saved.text) for saved in setup.studio.saved] == [("Anna", "Hello there.")]
    setup.studio.play_sample("Anna")
    assert setup.studio.playback.seconds == pytest.approx(2.0, abs=0.01)
    setup.studio.drop_voice("Anna")
    assert setup.studio.saved == []
    setup.said[-1][1]["undo"][1]()
    assert [saved.name for saved in setup.studio.saved] == ["Anna"]
    setup.studio.clone("Anna", voice(2.0), "", "base", sentences.append, sentences.append)
    assert "already" in sentences[-1]
    setup.studio.clone("Quiet", np.zeros(32_000, np.float32), "", "base", sentences.append, sentences.append)
    assert "silent" in sentences[-1]


@pytest.mark.parametrize(("kind", "offers"), [
    ("custom_voice", {"clones": False, "levels": False}),
    ("voice_design", {"words": "must", "presets": (), "clones": False}),
    ("base", {"words": "no", "presets": (), "clones": True}),
])  # fmt: skip
def test_what_a_qwen3_tts_offers_is_told_by_its_config(tmp_path: Path, kind: str, offers: dict[str, Any]) -> None:
    folder = checkpoint(kind, tmp_path / "tts")
    offer = offer_of(config_in(folder), folder)
    assert {name: getattr(offer, name) for name in offers} == offers
    assert "english" in offer.languages
    assert bool(offer.presets) == (kind == "custom_voice")


def test_only_the_large_custom_voice_takes_instructions() -> None:
    config = {"tts_model_type": "custom_voice", "talker_config": {"spk_id": {"vivian": 1}}}
    assert offer_of(config | {"tts_model_size": "0b6"}, Path("tts")).words == "no"
    assert offer_of(config | {"tts_model_size": "1b7"}, Path("tts")).words == "may"


def test_what_spark_and_orpheus_offer(tmp_path: Path) -> None:
    spark = offer_of({}, like_spark(tmp_path / "spark"))
    assert (spark.presets, spark.levels, spark.clones, spark.words) == (("female", "male"), True, True, "no")
    assert "keeps the pitch and pace" in spark.note(SpeakSettings(saved="Anna"))
    assert spark.problem(SpeakSettings(preset="male", pitch="low")) == ""
    orpheus = offer_of(ORPHEUS, tmp_path, str(tmp_path))
    assert "tara" in orpheus.presets
    assert "<laugh>" in orpheus.note(SpeakSettings())
    assert "hubertsiuzdak/snac_24khz" in orpheus.problem(SpeakSettings())


@pytest.mark.parametrize(("offer", "choice", "said"), [
    (SpeakOptions(("vivian",)), SpeakSettings(saved="Anna"), "does not support voice cloning"),
    (SpeakOptions(clones=True), SpeakSettings(), "recorded voice"),
    (SpeakOptions(words="must", needs_voice=False), SpeakSettings(), "Describe one"),
    (SpeakOptions(words="must", needs_voice=False), SpeakSettings(instructions="an old man"), ""),
])  # fmt: skip
def test_what_does_not_go_together_is_said(offer: SpeakOptions, choice: SpeakSettings, said: str) -> None:
    problem = offer.problem(choice)
    assert said in problem
    assert bool(said) == bool(problem)


def test_spark_is_asked_in_words_that_it_understands() -> None:
    for pitch, place in zip(PITCHES, range(5)):
        for pace, speed in zip(PACES, range(5)):
            choice = SpeakSettings(preset="male", pitch=pitch, pace=pace)
            assert style_of(VoiceSettings("male", instructions=choice.instruction_text)) == SparkStyle(1, place, speed)


def test_talk_takes_of_a_choice_what_the_model_can_do(tmp_path: Path, speakers: dict[str, Any]) -> None:
    """Whatever was chosen for another model is left out."""
    voices, model = SavedVoices(tmp_path), speakers["custom_voice"]
    near = fitting(SpeakSettings(preset="nobody", saved="gone", language="klingon", pitch="low"), model, voices)
    assert (near.preset, near.clone, near.language) == (model.presets[0], None, "auto")
    assert (
        fitting(SpeakSettings(preset=model.presets[-1], language="english"), model, voices).preset == model.presets[-1]
    )
    with pytest.raises(BadRequest, match="recording"):
        fitting(SpeakSettings(), speakers["base"], voices)
    voices.save("Anna", "base", Clone(np.ones(4, np.float32)), voice(2.0), 24_000)
    assert fitting(SpeakSettings(saved="Anna"), speakers["base"], voices).clone is not None


def book(file: Path) -> Path:
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("META-INF/container.xml", '<c xmlns="x"><rootfile full-path="OPS/book.opf"/></c>')
        made.writestr(
            "OPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="two" href="b%20b.xhtml"/>'
            '<item id="one" href="a.xhtml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/></spine>'
            "</package>",
        )
        made.writestr(
            "OPS/a.xhtml", "<html><head><title>No</title></head><body><h1>One</h1><p>The crane\nbows.</p></body>"
        )
        made.writestr("OPS/b b.xhtml", "<p>It <b>dances</b>.</p><script>no</script>")
    return file


def test_texts_of_files(tmp_path: Path) -> None:
    assert text_of(book(tmp_path / "a.epub")) == "One\n\nThe crane bows.\n\nIt dances."
    documents = Path(__file__).resolve().parents[2] / "data" / "documents"
    assert text_of(documents / "python-docx.docx").startswith("The Crane Report\n\nIntroduction\n\nThe common crane")
    (tmp_path / "a.pdf").write_bytes(text_pdf("Words of a page"))
    assert text_of(tmp_path / "a.pdf") == "Words of a page"
    (tmp_path / "a.txt").write_bytes("Größe".encode("latin-1"))
    assert text_of(tmp_path / "a.txt") == "Größe"


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.doc", b"x", "is not supported"),
    ("a.epub", b"no zip", "damaged"),
    ("a.pdf", b"no pdf", "damaged"),
    ("a.txt", b"  ", "no text"),
])  # fmt: skip
def test_what_holds_no_text_is_told(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadRequest, match=said):
        text_of(tmp_path / name)
