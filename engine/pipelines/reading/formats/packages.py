"""Files that are a ZIP of XML parts (docx, pptx, xlsx, odt, epub), opened with limits.

Nothing is run, fetched or expanded: macros are never opened, XML with entities of its own is refused, parts are unpacked up to a
limit whatever the archive says of their size. Expat is the parser of Python's own library; it is used directly, because
`ElementTree` offers no way to refuse a document type before it is read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element as XmlElement
from xml.etree.ElementTree import TreeBuilder
from xml.parsers import expat

from engine.errors import ErrorText, UnreadableFile
from engine.zip_file import BoundedZip, DamagedZip, OversizedZip, ProtectedZip

LARGEST_PART = 256 << 20  # bytes of one part, unpacked
LARGEST_TREE = 96 << 20  # bytes of a part that becomes a tree in memory
LARGEST_PACKAGE = 512 << 20  # bytes that are unpacked of one file, all parts together
MOST_PARTS = 50_000
MOST_ELEMENTS = 2_000_000  # of one tree
MOST_OF_A_PIECE = 200_000  # elements of one piece; a row of a sheet has 16,384 cells
MOST_OF_ALL_PIECES = 20_000_000
DEEPEST = 200  # elements inside each other; Word writes about 30
_CHUNK = 1 << 20


def damaged(kind: str) -> UnreadableFile:
    return UnreadableFile(ErrorText("The file is damaged or incomplete ({kind}).", kind=kind))


def protected() -> UnreadableFile:
    return UnreadableFile(ErrorText("The file is protected with a password. Save a copy without one."))


def too_large() -> UnreadableFile:
    return UnreadableFile(
        ErrorText("The file unpacks to more than can be read here: it is damaged, or made to do harm.")
    )


class XmlRefused(Exception):
    """XML that no program writes for a document: entities, a document type of its own, or endless nesting."""


class Package:
    """An archive of parts. Raises UnreadableFile."""

    def __init__(self, data: bytes) -> None:
        with _explained():
            self._archive = BoundedZip(data, parts=MOST_PARTS, whole=LARGEST_PACKAGE)
        self.names = frozenset(self._archive.names)

    def read(self, name: str, most: int = LARGEST_TREE) -> bytes:
        """A part. Raises UnreadableFile where it is missing, damaged or too large."""
        with _explained():
            try:
                return self._archive.read(name, most)
            except KeyError:
                raise UnreadableFile(ErrorText("A part of the file is missing: {name}.", name=name[:100])) from None

    def xml(self, name: str) -> XmlElement:
        return xml_tree(self.read(name))

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The relationships of a part of an Office file: (kind, name of the other part) by id. Those that lead out of the file are
        left out."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        if place not in self.names:
            return {}
        found = {}
        for relation in self.xml(place):
            if relation.get("TargetMode") != "External" and relation.get("Id"):
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, part_name(folder, relation.get("Target", "")))
        return found

    def close(self) -> None:
        self._archive.close()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except ProtectedZip:
        raise protected() from None
    except OversizedZip:
        raise too_large() from None
    except DamagedZip as error:
        raise damaged(str(error)) from None


def part_name(folder: str, target: str) -> str:
    """The name of a part that another one in `folder` refers to."""
    whole = target if target.startswith("/") else posixpath.join(folder, target)
    return posixpath.normpath(unquote(whole.partition("#")[0])).lstrip("/")


def xml_tree(data: bytes) -> XmlElement:
    """The root. Names have no namespaces; attributes of relationships are `r:id`. Raises UnreadableFile."""
    builder = TreeBuilder()
    _run(data, builder)
    return builder.close()


def xml_pieces(data: bytes, *names: str) -> Iterator[XmlElement]:
    """Each element of these names as it is complete, then dropped: for parts that are too large for a tree."""
    builder = _Pieces(frozenset(names))
    parser = _parser(builder, MOST_OF_ALL_PIECES)
    for at in range(0, len(data), _CHUNK):
        _feed(parser, data[at : at + _CHUNK], at + _CHUNK >= len(data))
        yield from builder.taken()


class _Pieces:
    """Builds only the elements of some names."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._builder: Any = None
        self._depth = self._count = 0
        self._whole: list[XmlElement] = []

    def taken(self) -> list[XmlElement]:
        whole, self._whole = self._whole, []
        return whole

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._builder is None and name in self._names:
            self._builder, self._depth, self._count = TreeBuilder(), 0, 0
        if self._builder is not None:
            self._depth += 1
            self._count += 1
            if self._count > MOST_OF_A_PIECE:
                raise XmlRefused
            self._builder.start(name, attributes)

    def end(self, name: str) -> None:
        if self._builder is None:
            return
        self._builder.end(name)
        self._depth -= 1
        if not self._depth:
            self._whole.append(self._builder.close())
            self._builder = None

    def data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)


def _run(data: bytes, builder: TreeBuilder) -> None:
    parser = _parser(builder, MOST_ELEMENTS)
    _feed(parser, data, True)


def _feed(parser: Any, data: bytes, last: bool) -> None:
    try:
        parser.Parse(data, last)
    except XmlRefused:
        raise UnreadableFile(
            ErrorText("The file holds XML that expands itself or never ends; it is not opened.")
        ) from None
    except (expat.ExpatError, ValueError, LookupError) as error:  # also encodings that do not exist
        raise damaged(type(error).__name__) from None


def _parser(builder: Any, most: int) -> Any:
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST or count > most:
            raise XmlRefused
        builder.start(_local(name), {_attribute(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(name))

    def doctype(name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            raise XmlRefused

    def refuse(*_: Any) -> int:
        raise XmlRefused

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, builder.data
    parser.StartDoctypeDeclHandler, parser.EntityDeclHandler = doctype, refuse
    parser.ExternalEntityRefHandler = parser.UnparsedEntityDeclHandler = refuse
    return parser


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attribute(name: str) -> str:
    space, _, local = name.rpartition("}")
    return f"r:{local}" if space.endswith("/relationships") else local
