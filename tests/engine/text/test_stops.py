"""Stop strings against the plainest implementation that can be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.text.detokenizer import StopMatcher
from engine.text.scanner import Scanner

STOPS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=4)
PIECES = st.lists(st.text("abc", max_size=5))


def naive(text: str, stops: list[str]) -> tuple[str, str | None]:
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            stop = max(found, key=len)
            return text[: end - len(stop)], stop
    return text, None


def run(pieces: list[str], stops: list[str]) -> tuple[list[str], str | None]:
    matcher = StopMatcher(stops)
    shown = [matcher.push(piece).text for piece in pieces]
    return [*shown, matcher.flush()], matcher.stop


@given(PIECES, STOPS)
def test_the_same_as_the_naive_matcher_however_it_is_cut(pieces: list[str], stops: list[str]) -> None:
    shown, stop = run(pieces, stops)
    assert ("".join(shown), stop) == naive("".join(pieces), stops)


@given(PIECES, STOPS)
def test_no_more_is_held_back_than_could_become_a_stop(pieces: list[str], stops: list[str]) -> None:
    matcher, text, shown = StopMatcher(stops), "", ""
    for piece in pieces:
        text += piece
        out, stop = matcher.push(piece)
        shown += out
        if stop is not None:
            return
        possible = [n for s in stops for n in range(1, len(s)) if text.endswith(s[:n])]
        assert len(text) - len(shown) == max(possible, default=0)


def test_a_stop_across_token_borders_never_shows() -> None:
    shown, stop = run(["Hello", " <", "|e", "nd|", "> more"], ["<|end|>", "###"])
    assert (shown, stop) == (["Hello", " ", "", "", "", ""], "<|end|>")


def test_what_looked_like_a_stop_comes_out_when_it_was_none() -> None:
    assert run(["a <", "|en", "x"], ["<|end|>"]) == (["a ", "", "<|enx", ""], None)
    assert run(["a <|en"], ["<|end|>"]) == (["a ", "<|en"], None)


def test_nothing_shows_after_a_stop() -> None:
    matcher = StopMatcher(["x"])
    assert matcher.push("axb") == ("a", "x")
    assert matcher.push("c") == ("", "x")
    assert matcher.flush() == ""


def test_a_scanner_goes_on_with_the_rest() -> None:
    scanner = Scanner(["<a>", "</a>"])
    assert scanner.feed("x<a>y</a>z") == ("x", "<a>", "y</a>z")
    assert scanner.feed("y</a>z") == ("y", "</a>", "z")
    assert scanner.feed("z<") == ("z", None, "")
    assert scanner.flush() == "<"
