"""LaTeX as models write it, brought to one form: no delimiters of display or text mode around it, no empty lines."""

from __future__ import annotations

_AROUND = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_FENCES = ("```latex", "```tex", "```math", "```")


def clean_formula(text: str) -> str:
    formula = text.strip()
    for fence in _FENCES:
        if formula.startswith(fence) and formula.endswith("```") and len(formula) >= len(fence) + 3:
            formula = formula[len(fence) : -3].strip()
            break
    for left, right in _AROUND:
        inside = formula[len(left) : len(formula) - len(right)]
        if formula.startswith(left) and formula.endswith(right) and left not in inside and len(formula) > len(left):
            formula = inside.strip()
            break
    return "\n".join(line for line in formula.splitlines() if line.strip())
