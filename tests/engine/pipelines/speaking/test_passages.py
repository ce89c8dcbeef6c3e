"""Long texts in passages: whole sentences, every script, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pipelines.speaking.text import (
    BREATH,
    CLAUSE_PAUSE,
    PARAGRAPH_PAUSE,
    SENTENCE_PAUSE,
    begun_soon,
    passages,
    sentences,
    size,
)
from tests.asserting import every


@pytest.mark.parametrize(("text", "wanted"), [
    ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
    ("Dr. Smith paid 3.50 dollars to J. R. Jones. He left.", ["Dr. Smith paid 3.50 dollars to J. R. Jones.", "He left."]),
    ('She said "Go." Then she went.', ['She said "Go."', "Then she went."]),
    ("See example.com for more. Or not...", ["See example.com for more.", "Or not..."]),
    ("我喜欢猫。你呢？好的！", ["我喜欢猫。", "你呢？", "好的！"]),
    ("今日は。「はい。」そうです。", ["今日は。", "「はい。」", "そうです。"]),
    ("Das ist z.B. gut, usw. und so. Ende.", ["Das ist z.B. gut, usw. und so.", "Ende."]),
    ("안녕하세요. 반갑습니다.", ["안녕하세요.", "반갑습니다."]),
    ("Wait... what?! Yes.", ["Wait... what?!", "Yes."]),
    ('"Why?" she asked. "No!" "Oh."', ['"Why?" she asked.', '"No!"', '"Oh."']),
    ("Am 3. Mai 1897, im 19. Jahrhundert. Der 2. Weltkrieg begann 1939. Danach",
     ["Am 3. Mai 1897, im 19. Jahrhundert.", "Der 2. Weltkrieg begann 1939.", "Danach"]),
    ("« Venez-vous ? » demanda-t-il. Oui ! Non.", ["« Venez-vous ? » demanda-t-il.", "Oui !", "Non."]),
    ("Er kam. »Wer ist da?« Sie.", ["Er kam.", "»Wer ist da?«", "Sie."]),
    ("—¿Viene? —preguntó. ¡Claro!", ["—¿Viene? —preguntó.", "¡Claro!"]),
    ("«Вы идёте?» — спросила она. Да!", ["«Вы идёте?» — спросила она.", "Да!"]),
    ("هل أنت قادم؟ نعم.", ["هل أنت قادم؟", "نعم."]),
    ("आप आ रहे हैं? हाँ। मैं आ रहा हूँ॥", ["आप आ रहे हैं?", "हाँ।", "मैं आ रहा हूँ॥"]),
    ("", []),
])  # fmt: skip
def test_sentences(text, wanted):
    assert list(sentences(text)) == wanted


def test_short_sentences_share_a_passage_and_paragraphs_pause_longer():
    made = passages("One. Two.\n\nThree.\n\n\n")
    assert [(p.text, p.pause) for p in made] == [("One. Two.", PARAGRAPH_PAUSE), ("Three.", 0.0)]
    long = passages(" ".join(["This is a sentence of some length."] * 30))
    assert len(long) > 2
    assert {p.pause for p in long[:-1]} == {SENTENCE_PAUSE}
    assert every(p.text.endswith(".") for p in long)


def test_a_sentence_without_an_end_is_parted_at_commas_then_spaces_then_anywhere():
    commas = passages(", ".join(["some words here"] * 60))
    assert every(p.text.endswith((",", "here")) for p in commas)
    assert {p.pause for p in commas[:-1]} == {CLAUSE_PAUSE}
    words = passages("word " * 300)
    assert every(size(p.text) <= 1.0 for p in words)
    assert {p.pause for p in words[:-1]} == {BREATH}
    assert every(size(p.text) <= 1.0 for p in passages("x" * 2000))
    assert every(size(p.text) <= 1.0 for p in passages("字" * 500))


@given(st.text(st.sampled_from("ab .,!?\n。字、\"'Dr3"), max_size=600))
def test_nothing_is_lost(text):
    made = passages(text)
    assert "".join("".join(p.text.split()) for p in made) == "".join(text.split())
    assert bool(made) == bool(text.strip())
    for passage in made:
        assert passage.text.strip()
        assert size(passage.text) <= 1.0 + 1e-9
    assert not made or made[-1].pause == 0.0


@pytest.mark.parametrize("text", ["他来了。“你来吗？”她问。", '그는 왔다. "오시나요?" 그녀가 물었다. 끝났다!'])
def test_spaces_stay_as_their_script_has_them(text):
    assert [passage.text for passage in passages(text)] == [text]


def test_the_first_passage_ends_behind_its_first_sentence_where_sound_must_begin_soon() -> None:
    made = passages("Mr. Crane is here. He dances, as cranes do. Look!\n\nThen he goes.")
    soon = begun_soon(made)
    assert [one.text for one in soon] == ["Mr. Crane is here.", "He dances, as cranes do. Look!", "Then he goes."]
    assert [one.pause for one in soon] == [SENTENCE_PAUSE, made[0].pause, 0.0]
    assert begun_soon(passages("One sentence alone.")) == passages("One sentence alone.")
    long = "Yes, when the cranes have come back from the south, and dance in the meadows at dawn, it is spring."
    assert [one.text for one in begun_soon(passages(long))] == [
        "Yes, when the cranes have come back from the south,",
        "and dance in the meadows at dawn, it is spring.",
    ]
    assert begun_soon(passages(long))[0].pause < made[0].pause
    number = "In all 1,250 cranes came back from the south to the meadows at dawn and danced."
    assert [one.text for one in begun_soon(passages(number))] == [number]
    assert [one.text for one in begun_soon(passages("鶴が来た。踊る。"))] == ["鶴が来た。", "踊る。"]
