"""Citations in a reply: `[1]` in its HTML becomes a link to the passage of that number."""

from __future__ import annotations

import re

from app.runtime.library.answers import CITED

PASSAGE = "passage"  # the scheme of these links
_LEFT_ALONE = re.compile(r"(<(?:code|pre|a)\b.*?</(?:code|pre|a)>|<[^>]*>)", re.DOTALL)


def with_citations(html: str, passages: int) -> str:
    """HTML in which `[n]` leads to a passage, outside of code and links."""

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        return f'<a href="{PASSAGE}:{number}">{match[0]}</a>' if 1 <= number <= passages else match[0]

    parts = _LEFT_ALONE.split(html)
    return "".join(part if at % 2 else CITED.sub(link, part) for at, part in enumerate(parts)) if passages else html
