"""How a model that reads single lines of print wants them, as its preprocessor settings state it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.models.config import Fields


@dataclass(frozen=True)
class StripRules:
    """What a line model asks for: `height` pixels, of which `rise` rows stay white above and below the ink; pixels
    repeated `stretch` times across, so that a square patch covers a narrow slice; cut beyond `longest` pixels."""

    height: int
    rise: int
    stretch: int
    longest: int

    @classmethod
    def of(cls, preprocessor: Mapping[str, object]) -> StripRules | None:
        """The rules a model's preprocessor settings state, if it is a line model."""
        stated = preprocessor.get("line_strip")
        if not isinstance(stated, Mapping):
            return None
        fields = Fields(stated, "preprocessor_config.json (line_strip)")
        return cls(
            fields.int("height"), fields.int("rise", least=0), fields.int("stretch"), fields.int("longest", least=16)
        )
