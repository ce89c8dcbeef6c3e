"""Formulas drawn as SVG, in a process-wide cache. Slow the first time (a font is read): call it beside the UI thread.

TeX that cannot be read gives None, and the source is shown instead.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache

log = logging.getLogger("grus.window")

# what replies use and the reader does not know, in words that it does
_SPELLINGS = (
    (re.compile(r"\\(?:dfrac|tfrac|cfrac)\b"), r"\\frac"),
    (re.compile(r"\\(?:displaystyle|textstyle|nonumber|notag|limits|nolimits)\b"), ""),
    (re.compile(r"\\(?:label|tag)\*?\{[^}]*\}"), ""),
    (re.compile(r"\\operatorname\*?\{([^}]*)\}"), r"\\mathrm{\1}"),
    (re.compile(r"\\boxed\{"), r"{"),
    (re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?\b"), ""),
)


@dataclass(frozen=True)
class Drawing:
    """`width`, `height` and `depth` (below the line of text) in the units of `size`."""

    svg: str
    width: float
    height: float
    depth: float


@lru_cache(maxsize=2048)
def draw(tex: str, display: bool, size: float, colour: str) -> Drawing | None:
    """One formula at a size of type."""
    import ziamath

    for pattern, spelling in _SPELLINGS:
        tex = pattern.sub(spelling, tex)
    try:
        ziamath.config.svg2 = False  # plain paths, which every SVG reader knows
        made = ziamath.Latex(tex, size=size, color=colour, inline=not display)
        width, height = made.getsize()
        return Drawing(made.svg(), float(width), float(height), max(0.0, -float(made.node.bbox.ymin)))
    except Exception as error:  # the reader fails in many ways on TeX that it does not know
        log.debug("a formula could not be drawn: %s (%s)", tex, error)
        return None
