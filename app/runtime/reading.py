"""The models that read, loaded into an engine of their own: a recognizer, and a layout where one was asked for."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine
from engine.errors import BadRequest
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions, load_any
from engine.pipelines.reading.elements import NO_MODEL
from engine.pipelines.reading.layout import LayoutDetector, LayoutModel
from engine.pipelines.reading.recognizer import Recognizer, VisionRecognizer
from engine.settings import Settings
from engine.starter import READER, starter


class ReadingModels:
    """Close it, or use it in a `with` block."""

    recognizer: Recognizer | None
    layout: LayoutDetector | None

    def __init__(
        self,
        model: str | None,
        layout: str | None,
        options: LoadOptions | None = None,
        settings: Settings | None = None,
        *,
        required: bool = True,
        profile: Path | None = None,
    ) -> None:
        """`model` None: the Reader that comes with Grus. Where that is missing too, it is an error unless nothing needs it (`required`)."""
        self._options = options or LoadOptions()
        self._loaded: dict[str, LoadedModel | LoadedPart] = {}
        self.recognizer = self.layout = None
        name = model or (READER if starter(READER) is not None else None)
        if name is None and required:
            raise BadRequest(NO_MODEL, "model")
        self.engine = Engine(self._load, settings, profile=profile)
        try:
            if name is not None:
                self.recognizer = self._recognizer(name)
            if layout is not None:
                self.engine.load(layout)
                self.layout = LayoutModel(self.engine, layout)
        except BaseException:
            self.engine.close()
            raise

    def _recognizer(self, name: str) -> VisionRecognizer:
        self.engine.load(name)
        loaded = self._loaded[name]
        if isinstance(loaded, LoadedPart):
            raise BadRequest(f"{name} writes no text. Give it as the layout, and a vision model as the model.", "model")
        return VisionRecognizer(self.engine, loaded)

    def _load(self, name: str) -> LoadedModel | LoadedPart:
        """On the engine's thread, which must make every array itself."""
        self._loaded[name] = load_any(name, self._options)
        return self._loaded[name]

    @property
    def loaded(self) -> LoadedModel:
        """The model that recognizes."""
        return next(model for model in self._loaded.values() if isinstance(model, LoadedModel))

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> ReadingModels:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
