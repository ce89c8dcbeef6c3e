"""Reading documents from Python and from the command line: the models that read, and `grus.read`, which keeps them loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.runtime.catalogue import require
from app.runtime.models import ServiceOwner, closed_on_error, open_models
from app.runtime.remote.servers import BETWEEN
from engine.errors import BadRequest, UnreadableFile
from engine.loaded import LoadedPart
from engine.loading import LoadedModel, LoadOptions
from engine.pipelines.reading.elements import NO_MODEL
from engine.pipelines.reading.formats.detection import carries_text
from engine.pipelines.reading.layout import LayoutDetector
from engine.pipelines.reading.layout_model import LayoutModel
from engine.pipelines.reading.reader import DocumentRead
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.results import Document
from engine.pipelines.reading.session import ReadingSession, ReadOptions, output_targets
from engine.pipelines.reading.text_lines import recognizer_of
from engine.pipelines.reading.writers import ExportOptions, format_of, page_text
from engine.starter import READER, starter
from engine.types import Settings


class ReadingModels(ServiceOwner):
    """A recognizer, and a layout where one was asked for."""

    recognizer: Recognizer | None
    layout: LayoutDetector | None
    loaded: LoadedModel | LoadedPart  # the model that recognizes

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
        """`model` None: the Reader that comes with Grus. Where that is missing too, it is an error if a model is `required`."""
        self.recognizer = self.layout = None
        name = model or (READER if starter(READER) is not None else None)
        if name is None and required:
            raise BadRequest(NO_MODEL, "model")
        names = [given for given in (name, layout) if given is not None]
        self.service = open_models(names, options, settings, profile=profile)
        with closed_on_error(self.service):
            if name is not None:
                self.recognizer = self._recognizer(name)
            if layout is not None:
                self.service.load_now(layout)
                self.layout = LayoutModel(self.service, layout)

    def _recognizer(self, name: str) -> Recognizer:
        loaded = self.service.load_now(name)
        if BETWEEN in name:
            require("read", name, loaded)
        self.loaded = loaded
        return recognizer_of(self.service, loaded)


class NoReadingModels:
    """For documents that carry their text."""

    recognizer: Recognizer | None = None
    layout: LayoutDetector | None = None

    def __enter__(self) -> NoReadingModels:
        return self

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None: ...


def needs_model(sources: Sequence[Any]) -> bool:
    """Whether any of the sources has pages that are looked at."""
    return not sources or not all(carries_text(source) for source in sources)


@dataclass(frozen=True)
class Read:
    """What was read of one document. `document` has every page, region, box, confidence and doubt."""

    document: Document

    @property
    def error(self) -> str | None:
        """Why the document could not be opened."""
        return self.document.error

    @property
    def markdown(self) -> str:
        return page_text(self.document.pages, "md", ExportOptions())

    @property
    def text(self) -> str:
        return page_text(self.document.pages, "txt", ExportOptions())

    @property
    def tables(self) -> list[list[list[str]]]:
        """Rows of cells of each table."""
        return [table.grid() for table in self.document.tables]

    def __str__(self) -> str:
        return self.markdown


_kept: dict[tuple[str | None, str | None, bool, LoadOptions], ReadingModels] = {}


def read(
    source: Any,
    *,
    model: str | None = None,
    layout: str | None = None,
    password: str | None = None,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Read:
    """Read one document: a path, the bytes of a file, a Pillow image or an array. `model` None: the reader that Grus brings.

    `parameters`: task, pages, text_layer, rotate, dots (see `ReadOptions`). `out`: where the result is written to as well, its ending says
    as what. Raises UnreadableFile for what cannot be opened; pages that cannot be read say so in `document.pages`."""
    found = read_all([source], model=model, layout=layout, password=password, out=out, options=options, **parameters)[0]
    if found.error is not None:
        raise UnreadableFile(found.error)
    return found


def read_all(
    sources: Sequence[Any],
    *,
    model: str | None = None,
    layout: str | None = None,
    password: str | None = None,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> list[Read]:
    """Read many documents together, in their order. One that cannot be opened has an `error`. With `out`, sources are paths."""
    chosen = ReadOptions(**parameters)
    needed = model is not None or layout is not None or needs_model(sources)
    models = _models(model, layout, chosen, LoadOptions(**(options or {}))) if needed else NoReadingModels()
    session = ReadingSession(models.recognizer, models.layout, chosen, password=lambda name, wrong: password)
    if out is None:
        return [Read(document) for document in session.documents(sources)]
    paths = [Path(source) for source in sources]
    where = output_targets(paths, Path(out), format_of(Path(out).suffix or "md"))
    return [Read(event.result) for event in session.save(paths, where) if isinstance(event, DocumentRead)]


def _models(model: str | None, layout: str | None, chosen: ReadOptions, options: LoadOptions) -> ReadingModels:
    key = (model, layout, chosen.text_layer, options)
    if key not in _kept:
        _kept[key] = ReadingModels(model, layout, options, required=not chosen.text_layer)
    return _kept[key]


def forget_readers() -> None:
    """Let go of every model that `read` has kept loaded."""
    while _kept:
        _kept.popitem()[1].close()
