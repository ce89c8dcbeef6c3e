"""Mixtures of experts in files: one tensor an expert, as repositories publish them, or all in one stacked tensor."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.errors import WeightsError

_EXPERT = re.compile(r"(.*)\.experts\.(\d+)\.(\w+)\.weight")
_STACKED = re.compile(r"(.*)\.switch_mlp\.(\w+)\.weight")


def stacked(names: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Name of a tensor with its experts stacked -> what it is made of. `names`: the name to go by -> the stored one."""
    units: dict[str, list[str]] = {}
    experts: dict[str, dict[int, str]] = {}
    for name, stored in names.items():
        match = _EXPERT.fullmatch(name)
        if match is None:
            units[name] = [stored]
            continue
        stem = f"{match[1]}.switch_mlp.{match[3]}.weight"
        experts.setdefault(stem, {})[int(match[2])] = stored
        units[stem] = []
    for stem, numbered in experts.items():
        if sorted(numbered) != list(range(len(numbered))):
            raise WeightsError(f"{where}: some experts of {stem} are missing.")
        units[stem] = [numbered[i] for i in range(len(numbered))]
    return units


def of_one(name: str, expert: int) -> str:
    """The published name of one expert of a stacked tensor."""
    match = _STACKED.fullmatch(name)
    return f"{match[1]}.experts.{expert}.{match[2]}.weight" if match else name


def is_stacked(name: str) -> bool:
    return _STACKED.fullmatch(name) is not None
