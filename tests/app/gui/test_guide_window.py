"""The Guide in the window: the window's words, the button that shows them, other languages, and no figures."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from app.gui.store.messages import ReplyStatistics, StoredMessage
from app.gui.viewmodels.chat import guide
from app.gui.viewmodels.chat.conversation import for_model
from app.gui.viewmodels.chat.message_views import MessageViews
from tests.app.gui.conftest import Opened
from tests.app.gui.test_chat_models import Bench

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {
    name: " ".join(answer["says"].split())
    for name, answer in tomllib.loads((ROOT / "packaging/starters/guide_answers.toml").read_text("utf-8")).items()
}


def test_every_entry_is_known_by_how_one_answer_of_the_guide_begins() -> None:
    for entry in guide._table()["answers"]:
        beginning = [name for name, text in TEXTS.items() if text.startswith(entry["begins"])]
        assert beginning == [entry["name"]], entry["name"]
        assert len(entry["begins"]) >= min(40, len(TEXTS[entry["name"]]))  # what the Guide reads of it again


def test_questions_about_the_window_are_not_answered_with_commands() -> None:
    """What only the command line has keeps its words: installing, scripts, exit codes."""
    window = {entry["name"]: entry["says"] for entry in guide._table()["answers"]}
    assert [name for name, text in window.items() if "grus " in text or "`" in text or "--" in text] == []
    topics = (
        "add_model which_model will_it_fit switch_model delete_model system_prompt settings read_pdf speak off_topic"
    )
    assert set(topics.split()) <= set(window)
    assert guide.in_window("", TEXTS["install_linux"]) == TEXTS["install_linux"]


def test_every_button_has_an_action(grus: Opened) -> None:
    grus.window.make_all()
    named = set(grus.context.actions._named)
    assert {entry["show"] for entry in guide._table()["answers"]} <= named


@pytest.mark.parametrize(("question", "language"), [
    ("Wie füge ich ein Modell hinzu?", "de"), ("Was ist das?", "de"), ("Comment ajouter un modèle ?", "fr"),
    ("¿Cómo añado un modelo?", "es"), ("Como adiciono um modelo?", "pt"), ("モデルを追加するには", "ja"),
    ("如何添加模型？", "zh"), ("Как добавить модель?", "ru"), ("How do I add a model?", ""), ("models", ""), ("Hi", ""),
    ("Can I use it in German?", ""), ("what is a token", ""),
])  # fmt: skip
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert guide.language_of(question) == language


def test_the_window_shows_its_own_words_and_the_guide_reads_its_own_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.talk.configure(model="guide")
    bench.send("How do I add a model?")
    bench.mouth.say(TEXTS["add_model"][:40])
    assert bench.talk.path[-1].text == ""  # nothing of what will be replaced is shown
    bench.mouth.say(TEXTS["add_model"][40:])
    bench.mouth.end()
    bench.settle()
    shown = bench.talk.path[-1].text
    assert "press Download" in shown
    bench.send("and where are they kept?")
    assert bench.mouth.asked[-1].messages[1]["content"] == TEXTS["add_model"][:60]
    bench.mouth.end()
    bench.send("Und wie geht das?", TEXTS["unclear"])
    assert bench.talk.path[-1].text.startswith("Ich verstehe nur Englisch.")
    bench.store.close()


def test_its_replies_have_a_button_and_no_figures() -> None:
    text = guide.in_window("", TEXTS["switch_model"])
    figures = ReplyStatistics(20, 0, 3, 0.1, 0.1, 1790.0)
    message = StoredMessage(2, 1, "assistant", text, model="guide", figures=figures)
    views = MessageViews()
    views.figures = True
    foot = views.of(message, 1, 1)[-1]
    assert (foot.shows, foot.text, foot.figures) == ("chat.model", "", "")
    other = views.of(replace(message, id=4, model="tiny", text="Fine."), 1, 1)[-1]
    assert other.shows == ""
    assert "3 tokens" in other.text


def test_other_models_get_their_words_unchanged() -> None:
    path = [StoredMessage(1, None, "user", "Hi"), StoredMessage(2, 1, "assistant", "Hello.", model="tiny")]
    assert [m["content"] for m in for_model("", path)] == ["Hi", "Hello."]
