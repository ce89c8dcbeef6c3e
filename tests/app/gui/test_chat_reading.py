r"""How a reply becomes prose, code and formulas: whole, and while it grows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.gui.store.messages import StoredMessage
from app.gui.viewmodels.chat import markdown
from app.gui.viewmodels.chat.highlight import draw, spans
from app.gui.viewmodels.chat.markdown import (
    LONGEST_PART,
    Formula,
    IncrementalMarkdown,
    MarkdownPiece,
    as_source,
    blocks,
    filled,
    pieces,
)
from app.gui.viewmodels.chat.message_views import MessageViews
from tests.asserting import every

REPLY = """# Head {x}

Text with $x^2$ and \\(a_b\\), for $5 or $6. <b>not bold</b> [safe](https://a.example) [bad](javascript:alert(1))

1. one
2. two `c{}`

$$
\\frac{a}{b}
$$

| a | b |
|---|--:|
| 1 | $z$ |

```python
print("{}")
```

after it
"""


def html(text: str) -> str:
    return "".join(filled(p, [as_source(f) for f in p.formulas]) for p in pieces(text) if p.kind == "prose")


def formulas(text: str) -> list[Formula]:
    return [formula for piece in pieces(text) for formula in piece.formulas]


def test_a_reply_is_prose_and_code_in_order() -> None:
    kinds = [(piece.kind, piece.language) for piece in pieces(REPLY)]
    assert kinds == [("prose", ""), ("code", "python"), ("prose", "")]
    assert pieces(REPLY)[1].text == 'print("{}")'


def test_formulas_are_found_and_money_is_not() -> None:
    found = formulas(REPLY)
    assert found == [
        Formula("x^2", False),
        Formula("a_b", False),
        Formula("\\frac{a}{b}", True),
        Formula("z", False),
    ]
    assert formulas("It costs $5 and then $10.") == []
    assert formulas("`$x$`") == []
    assert formulas(r"\[ a * b * c \]") == [Formula("a * b * c", True)]
    assert formulas("a $$x$$ b") == [Formula("x", True)]


def test_html_in_a_reply_is_text_and_links_are_safe() -> None:
    made = html(REPLY)
    assert "&lt;b&gt;not bold&lt;/b&gt;" in made
    assert 'href="https://a.example"' in made
    assert 'href="javascript' not in made
    assert "Head {x}" in made
    assert "<code>c{}</code>" in made
    assert "<img" not in html("![alt](https://tracker.example/x.png)")
    assert 'href="file' not in html("[f](file:///etc/passwd)")


def test_tables_lists_and_headings_are_made() -> None:
    made = html(REPLY)
    for tag in ("<h1>", "<ol", "<li>", "<table", '<td align="right">'):
        assert tag in made


@pytest.mark.parametrize("step", [1, 3, 17])
def test_a_growing_reply_ends_as_the_whole_one(step: int) -> None:
    growing = IncrementalMarkdown()
    for end in range(0, len(REPLY), step):
        growing.grow(REPLY[:end])
    growing.grow(REPLY)
    assert list(growing.pieces) == pieces(REPLY)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*list("ab\n `#*->|$1.\\[](){}"), "\n\n", "```", "$$", "- ", "```py\n"]), max_size=60))
def test_growing_never_differs_from_reading_at_once(parts: list[str]) -> None:
    text = "".join(parts)
    growing = IncrementalMarkdown()
    for end in range(len(text) + 1):
        growing.grow(text[:end])
    shown = "".join(piece.text for piece in growing.pieces)
    at_once = "".join(piece.text for piece in pieces(text))
    assert shown.split() == at_once.split()


def test_settled_pieces_stay_the_same_objects() -> None:
    """So that what was drawn is not drawn again."""
    growing = IncrementalMarkdown("One.\n\n```py\nx\n```\n\nTwo")
    first = growing.pieces[:2]
    growing.grow("One.\n\n```py\nx\n```\n\nTwo and more")
    assert every(a is b for a, b in zip(first, growing.pieces[:2], strict=True))


def test_code_that_is_still_written_is_open() -> None:
    assert pieces("```py\nx = 1")[0] == MarkdownPiece("code", "x = 1", language="py", open=True)
    assert not pieces("```py\nx = 1\n```")[0].open


ITEMS = "".join(f"- point {k} of the **list**, about `cranes`\n" for k in range(400))
STEPS = "".join(f"{k + 3}. step\n\n     and why\n" for k in range(500))
TABLE = "| a | b |\n|---|--:|\n" + "".join(f"| crane {k} | $x_{k}$ |\n" for k in range(600))


@pytest.mark.parametrize("text", [REPLY * 60, ITEMS, STEPS, TABLE], ids=["mixed", "items", "steps", "table"])
def test_a_long_reply_is_read_only_where_it_grows(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(markdown, "blocks", lambda source, lead: read.append(len(source)) or blocks(source, lead))
    growing = IncrementalMarkdown()
    for end in range(0, len(text), 60):
        growing.grow(text[:end])
    assert len(text) > 4 * LONGEST_PART
    assert max(read) < LONGEST_PART + 1000


@pytest.mark.parametrize("text", [ITEMS, STEPS, TABLE, f"First.\n\n{TABLE}\nLast.\n"])
def test_a_long_list_or_table_is_the_same_grown_and_read_at_once(text: str) -> None:
    growing = IncrementalMarkdown()
    for end in range(0, len(text), 37):
        growing.grow(text[:end])
    growing.grow(text)
    assert list(growing.pieces) == pieces(text)
    assert "".join(piece.text for piece in pieces(text)).split() == text.split()
    assert len(pieces(text)) > 4


def test_numbers_go_on_and_columns_are_named_again_in_every_part() -> None:
    shown = [filled(piece, [as_source(f) for f in piece.formulas]) for piece in pieces(STEPS)]
    begin = 3
    for part in shown:
        assert f'<ol start="{begin}"' in part
        begin += part.count("<li>")
    assert begin == 503
    assert every("margin-bottom:0" in part for part in shown[:-1])
    rows = [filled(piece, [as_source(f) for f in piece.formulas]) for piece in pieces(TABLE)]
    assert every(part.count("<th ") == 2 and part.count('<td align="right">') > 10 for part in rows)
    assert sum(part.count("<td ") for part in rows) == 1200


def test_ends_of_lines_that_only_python_knows_are_no_ends() -> None:
    text = "one\x0ctwo\u2028three\x85\n\nfour\r\n\r\nfive\rsix\n\n```\na\x0bb\n```\nend"
    assert "\n".join(piece.text for piece in pieces(text)).split() == text.replace("```", "").split()


def test_words_of_code_get_their_colours() -> None:
    found = spans("def f():\n    return 'ä' # no\n", "python")
    kinds = {(span.line, span.start, span.length): span.kind for span in found}
    assert kinds[0, 0, 3] == "code_word"
    assert kinds[0, 4, 1] == "code_name"
    assert any(kind == "code_text" for (line, _, _), kind in kinds.items() if line == 1)
    assert spans("anything", "no-such-language") == []
    assert spans("anything", "") == []


def test_a_formula_is_drawn_and_a_broken_one_is_not() -> None:
    drawing = draw(r"\dfrac{a}{b}", True, 16.0, "#112233")
    assert drawing is not None
    assert drawing.svg.startswith("<svg")
    assert "#112233" in drawing.svg
    assert drawing.height > 16 > drawing.depth > 0
    assert draw(r"\frac{a", True, 16.0, "#112233") is None


def test_the_parser_is_whole_before_a_second_thread_gets_it() -> None:
    """The library fills tables for links when it first needs them, and another thread would read half a table."""
    import mdurl._decode
    import mdurl._encode

    from app.gui.viewmodels.chat.markdown import _made

    tables = (mdurl._encode.encode_cache, mdurl._decode.decode_cache)
    for table in tables:
        table.clear()
    _made.cache_clear()
    pieces("Nothing in it.")
    filled_in = [set(table) for table in tables]
    assert every(filled_in)
    pieces(REPLY + " <https://b.example/a%20b?q=%41&x=ä#%zz> [b](<https://c.example/a b>) [c](mailto:a@b.example)")
    assert [set(table) for table in tables] == filled_in


def test_rows_of_a_message_that_did_not_change_are_the_same_objects() -> None:
    rows = MessageViews()
    message = StoredMessage(1, None, "assistant", REPLY)
    first = rows.of(message, 1, 1)
    assert rows.of(message, 1, 1) is first
    assert rows.of(message, 1, 2) is not first
    rows.unfolded.add(1)
    assert rows.of(replace(message, reasoning="hm"), 1, 2)[0].open
    assert rows.has_made(message)
    rows.forget()
    assert not rows.has_made(message)


def test_nested_lists_task_boxes_and_quotes() -> None:
    made = html("1. one\n   - inner\n     - deeper\n2. two\n\n- [ ] open\n- [x] done\n- a [x] b\n\n> said\n> > twice\n")
    assert made.count("<ul>") == 3
    assert "<li>one<ul><li>inner<ul><li>deeper</li></ul></li></ul></li>" in made.replace("\n", "")
    assert ("☐ open" in made, "☑ done" in made, "a [x] b" in made) == (True, True, True)
    assert made.count('<td class="quote">') == made.count("</td></tr></table>") == 2


def test_footnotes_stand_where_they_were_written() -> None:
    made = html(
        "Cranes dance.[^1] And fly.[^b c]\n\n[^1]: Seen *often*,\n    in spring.\n[^two]: https://a.example/x.\n"
    )
    assert "dance.<sup>1</sup> And" in made
    assert '<p class="footnote"><sup>1</sup> Seen <em>often</em>, in spring.</p>' in made
    assert '<sup>two</sup> <a href="https://a.example/x">https://a.example/x</a>.</p>' in made
    assert "[^b c]" in made
    growing = IncrementalMarkdown("a[^1]\n\n[^1]: b")
    growing.grow("a[^1]\n\n[^1]: b\n[^2]: c")
    assert [p.html for p in growing.pieces] == [p.html for p in pieces("a[^1]\n\n[^1]: b\n[^2]: c")]


def test_bare_addresses_are_links() -> None:
    made = html(
        "See https://a.example/b_c_d?x=1&y=2, (http://b.example/(x)) or [https://c.example](https://d.example)."
    )
    assert '<a href="https://a.example/b_c_d?x=1&amp;y=2">https://a.example/b_c_d?x=1&amp;y=2</a>,' in made
    assert '(<a href="http://b.example/(x)">http://b.example/(x)</a>)' in made
    assert made.count("<a ") == 3
    assert "<a" not in html("`https://a.example`")


def test_a_mermaid_diagram_is_code_to_read() -> None:
    (piece,) = pieces("```mermaid\ngraph TD\n  A-->B\n```")
    assert (piece.kind, piece.language, piece.text) == ("code", "mermaid", "graph TD\n  A-->B")
