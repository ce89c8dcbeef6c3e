"""The grammars of custom tools: which texts they let a model write as the input of a call, on the grammar engine itself."""

from __future__ import annotations

import contextlib
import json
import time
from functools import partial
from typing import Any

import llguidance
import pytest

from app.runtime.custom_tools import InputGrammar, InputReader, arguments_rules
from engine.errors import BadRequest
from engine.text.call_grammars import CallGrammars
from engine.text.families import family_of

PATCH = r"""
// a change to files
start: begin hunk+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
hunk: "*** Add File: " name LF line+ -> add
?name: /(.+)/
line.2: "+" /(.*)/ LF
%import common.LF
"""
SUM = r"""
start: sum
sum: sum "+" one | one
one: "(" sum ")" | /[0-9]+/ | "\"" /[a-z]*/ "\"\n"
"""


class _Bytes:
    """A vocabulary of bytes."""

    eos_token_id, bos_token_id, special_token_ids = 256, None, [256]
    tokens = [bytes([at]) for at in range(256)] + [b"\xff<eos>"]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


@pytest.fixture(scope="module")
def vocabulary() -> llguidance.LLTokenizer:
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()), n_vocab=257, eos_token=256)


def calls(functions: list[dict[str, Any]], **inputs: InputGrammar) -> CallGrammars:
    rules = {name: partial(arguments_rules, grammar=grammar) for name, grammar in inputs.items()}
    return CallGrammars(family_of("qwen3", ""), functions, inputs=rules)


def fits(vocabulary: llguidance.LLTokenizer, grammar: InputGrammar, text: str, ascii: bool = False) -> bool:
    """Whether a model may write a call with this input, and end there."""
    held = calls([{"name": "tool"}], tool=grammar).demanded()
    matcher = llguidance.LLMatcher(vocabulary, llguidance.grammar_from("ebnf", held.text), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    body = json.dumps({"name": "tool", "arguments": {"input": text}}, ensure_ascii=ascii)
    call = f"<tool_call>\n{body}\n</tool_call>".encode()
    return bool(matcher.consume_tokens(list(call))) and bool(matcher.is_accepting())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch", True),
        ('*** Begin Patch\n*** Add File: "a" \\ b\n+print("h\u00e9\\n")\n+\tx\n*** End Patch\n', True),
        ("*** Begin Patch\n*** Add File: a.py\n*** End Patch\n", False),
        ("*** Begin Patch\n*** Add File: a.py\nx\n*** End Patch\n", False),
        ("hello", False),
    ],
)
def test_a_grammar_of_lines(vocabulary: llguidance.LLTokenizer, text: str, expected: bool) -> None:
    assert fits(vocabulary, InputGrammar("lark", PATCH), text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1+(2+34)", True), ('1+"ab"\n', True), ("(1", False), ("1+", False), ('"A"', False)],
)
def test_a_recursive_grammar(vocabulary: llguidance.LLTokenizer, text: str, expected: bool) -> None:
    assert fits(vocabulary, InputGrammar("lark", SUM), text) is expected


@pytest.mark.parametrize(
    ("expression", "fitting", "other"),
    [
        (r"[a-z]+", "abc", "ab1"),
        (r".*", 'say "no" \\ \t', "two\nlines"),
        (r"(?s).*", "two\nlines", None),
        (r"[^a]+", 'b"\n\\', "ba"),
        (r"\S+\s\d{2}", '"x" 12', "x  12"),
        (r'a"b\\c\nd/e', 'a"b\\c\nd/e', "a"),
        (r"(x|\n\t)+?", "x\n\tx", "\n"),
        (r"[\]\-\"]+", ']-"', "x"),
        (r"\x41\u00e9", "A\u00e9", "A"),
    ],
)
def test_expressions(vocabulary: llguidance.LLTokenizer, expression: str, fitting: str, other: str | None) -> None:
    grammar = InputGrammar("regex", expression)
    assert fits(vocabulary, grammar, fitting)
    assert other is None or not fits(vocabulary, grammar, other)


@pytest.mark.parametrize(
    ("lark", "fitting", "other"),
    [
        ('start: X+\nX: "a".."c" | " ".."#"', 'ab" "!', "d"),
        ("start: A B\n%import common (INT, WS_INLINE)\nA: INT\nB: WS_INLINE", "12 \t", "12"),
        ('start: NUMBER ("," NUMBER)*\n%import common.NUMBER\n%ignore " "', "1, 2.5", "x"),
        ("%import common.ESCAPED_STRING -> QUOTED\nstart: QUOTED", '"a \\" b"', '"a'),
        ('start: "Yes"i # a word', "yES", "no"),
        (r"start: /[a\/]+/", "a/a", "b"),
    ],
)
def test_other_notations(vocabulary: llguidance.LLTokenizer, lark: str, fitting: str, other: str) -> None:
    assert fits(vocabulary, InputGrammar("lark", lark), fitting)
    assert not fits(vocabulary, InputGrammar("lark", lark), other)


@pytest.mark.parametrize(
    "lark", ["start: %json {}", "%import common.NONE\nstart: NONE", "start: /[z-a]/", "start: /a b/x"]
)
def test_what_cannot_be_rewritten_is_refused(lark: str) -> None:
    with pytest.raises(BadRequest):
        calls([{"name": "tool"}], tool=InputGrammar("lark", lark)).demanded()


@pytest.mark.parametrize(
    "lark",
    [
        "start: /" + "a[" * 9000,
        "/a[" * 6000,
        'start: "' + "a" * 19_000,
        '"' * 19_999,
        "start: /a{" + "1" * 19_000 + "/",
        "start: /" + "(?" * 9000 + "/",
        "%import common (" * 1200,
        "\n".join(f"r{at}: r{at + 1}" for at in range(1500)),
        "_" * 20_000,
    ],
)
def test_a_hostile_grammar_takes_no_time(lark: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(BadRequest):
        calls([{"name": "tool"}], tool=InputGrammar("lark", lark)).demanded()
    assert time.monotonic() - began < 2


def test_calls_stand_among_words_and_beside_functions(vocabulary: llguidance.LLTokenizer) -> None:
    schema = {
        "properties": {"n": {"$ref": "#/$defs/count"}},
        "$defs": {"count": {"type": "integer"}},
        "required": ["n"],
    }
    other = {"name": "f", "parameters": {"type": "object", "additionalProperties": False, **schema}, "strict": True}
    held = calls([other, {"name": "tool"}], tool=InputGrammar("regex", "[a-z]+")).among_words()

    def allowed(text: str) -> bool:
        matcher = llguidance.LLMatcher(vocabulary, llguidance.grammar_from("ebnf", held.text), log_level=0)
        return bool(matcher.consume_tokens(list(text.encode())))

    frame = "Let me.\n<tool_call>\n{}\n</tool_call>\n<tool_call>\n{}\n</tool_call>"
    good = '{"name": "tool", "arguments": {"input": "abc"}}'
    assert allowed("just words")
    assert allowed(frame.format(good, '{"name": "f", "arguments": {"n": 5}}'))
    assert not allowed(frame.format(good, '{"name": "f", "arguments": {"n": "x"}}'))
    assert not allowed(frame.format(good, good.replace("abc", "ABC")))


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_an_input_is_read_while_it_is_written(ascii: bool, step: int) -> None:
    text = 'a "quoted" \\ back\n\t\u00e9 \U0001f600 end/\x01'
    arguments = json.dumps({"input": text}, ensure_ascii=ascii)
    reader = InputReader()
    read = [reader.feed(arguments[at : at + step]) for at in range(0, len(arguments), step)]
    assert "".join(read) == reader.input == text
    assert reader.end() == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"input": "a\\ud83dx\\udc00"}', "a\ufffdx\ufffd"),
        ('{"input": "a\\uZZZZ"}', "a"),
        ('{"input": "a\\', "a"),
        ('{"input" : "a", "more": 1}', "a"),
        ('{"more": 1, "input": "late"}', "late"),
        ('{"patch": "a"}', '{"patch": "a"}'),
    ],
)
def test_an_input_that_is_not_as_it_should_be(arguments: str, expected: str) -> None:
    reader = InputReader()
    read = [reader.feed(char) for char in arguments]
    assert "".join(read) + reader.end() == reader.input == expected
    reader.input.encode()
