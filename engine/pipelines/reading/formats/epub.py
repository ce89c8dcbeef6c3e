"""Books (epub): a page a file of the spine, and what the package says of the book: title, author, contents, cover."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from functools import cached_property
from xml.etree.ElementTree import Element as XmlElement

from engine.errors import UnreadableFile
from engine.pipelines.reading.formats.blocks import PageBuilder
from engine.pipelines.reading.formats.packages import Package, damaged, part_name, protected
from engine.pipelines.reading.formats.web import add_html, decoded_html
from engine.pipelines.reading.results import Page

_FONTS = ("embedding", "#obfuscation", "#rc")  # what an encrypted font's algorithm is called
_LARGEST_COVER = 32 << 20


class Epub:
    """An opened book. Raises UnreadableFile for one that is damaged or protected."""

    def __init__(self, package: Package) -> None:
        self._package = package
        container = package.xml("META-INF/container.xml")
        place = next((root.get("full-path", "") for root in container.iter("rootfile")), "")
        if place not in package.names:
            raise damaged("spine")
        self._root, self._folder = package.xml(place), posixpath.dirname(place)
        self._items = {item.get("id", ""): item for item in self._root.iter("item")}

    def pages(self) -> tuple[Page, ...]:
        """One page a file of the spine, in its order."""
        return tuple(page for _, page in self.files())

    def files(self) -> list[tuple[str, Page]]:
        """The name of each file of the spine, and its page. Files without text are left out."""
        locked, names = _locked(self._package), []
        out = PageBuilder("chapter")
        for reference in self._root.iter("itemref"):
            name = self._part(self._items.get(reference.get("idref", "")))
            if name in locked:
                raise protected()
            if name in self._package.names:
                out.begin_page()
                add_html(out, decoded_html(self._package.read(name)))
                if not out.empty:
                    names.append(name)
        return list(zip([*names, ""], out.pages()))  # an empty book has one page, of no file

    def fact(self, name: str) -> str:
        """The first `title`, `creator` or `language` that the package names."""
        found = (" ".join("".join(one.itertext()).split()) for one in self._root.iter(name))
        return next(filter(None, found), "")

    @cached_property
    def contents_file(self) -> str:
        """The name of the file that is the table of contents; empty where there is none."""
        listed = (item for item in self._items.values() if "nav" in item.get("properties", "").split())
        return self._part(next(listed, None))

    @cached_property
    def titles(self) -> dict[str, str]:
        """Of files of the spine: the first title that the table of contents has for each."""
        found: dict[str, str] = {}
        with suppress(UnreadableFile):  # without its contents a book can still be read
            for name, title in self._contents():
                found.setdefault(name, title)
        return found

    def cover(self) -> bytes:
        """The file of its picture; empty where there is none."""
        named = next((meta.get("content", "") for meta in self._root.iter("meta") if meta.get("name") == "cover"), "")
        marked = (item for item in self._items.values() if "cover-image" in item.get("properties", "").split())
        item = next(marked, self._items.get(named))
        name = self._part(item)
        if item is None or name not in self._package.names or not item.get("media-type", "").startswith("image/"):
            return b""
        with suppress(UnreadableFile):
            return self._package.read(name, _LARGEST_COVER)
        return b""

    def _contents(self) -> list[tuple[str, str]]:
        """The file and the title of each entry, from the navigation document, else from the older NCX."""
        if self.contents_file in self._package.names:
            root = self._package.xml(self.contents_file)
            lists = [nav for nav in root.iter("nav") if nav.get("type", "toc") == "toc"]
            links = [link for nav in lists[:1] for link in nav.iter("a")]
            return self._entries(self.contents_file, [(link.get("href", ""), link) for link in links])
        spine = next(self._root.iter("spine"), None)
        name = self._part(self._items.get(spine.get("toc", "") if spine is not None else ""))
        if name not in self._package.names:
            return []
        points = list(self._package.xml(name).iter("navPoint"))
        labels = [(point.find("content"), point.find("navLabel")) for point in points]
        return self._entries(name, [(at.get("src", ""), of) for at, of in labels if at is not None and of is not None])

    def _entries(self, place: str, links: list[tuple[str, XmlElement]]) -> list[tuple[str, str]]:
        folder = posixpath.dirname(place)
        named = [(part_name(folder, target), " ".join("".join(label.itertext()).split())) for target, label in links]
        return [(name, title) for name, title in named if title]

    def _part(self, item: XmlElement | None) -> str:
        return "" if item is None else part_name(self._folder, item.get("href", ""))


def _locked(package: Package) -> frozenset[str]:
    """Parts that are encrypted, without fonts."""
    if "META-INF/encryption.xml" not in package.names:
        return frozenset()
    found: set[str] = set()
    for data in package.xml("META-INF/encryption.xml").iter("EncryptedData"):
        method = data.find("EncryptionMethod")
        if method is None or not any(word in method.get("Algorithm", "").lower() for word in _FONTS):
            found.update(part_name("", reference.get("URI", "")) for reference in data.iter("CipherReference"))
    return frozenset(found)
