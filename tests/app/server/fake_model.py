"""The engine's fake model with a real tokenizer and template, which runs the whole server without an array library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.loading import ReplyText
from tests.app.server.scripted import scripted_model
from tests.fake_backend import FakeLoaded, Nature


class FakeServed(FakeLoaded):
    def __init__(self, folder: Path, eos_every: int = 0) -> None:
        super().__init__("tiny", Nature(eos_every=eos_every))
        facts = scripted_model(folder)
        self.folder, self.config, self.template = facts.folder, facts.config, facts.template
        self.tokenizer: Any = facts.tokenizer
        self.vocab = facts.vocab
        self.load_seconds = 0.0
        self.foreign = False
        self.vision = None

    def text_stream(self) -> Any:
        return ReplyText(self.tokenizer, ())
