"""Any way to cut a text into pieces, for tests that streaming must not notice them."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def cut(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> list[str]:
    text = draw(texts)
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=min(len(text), 40))))
    return [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]
