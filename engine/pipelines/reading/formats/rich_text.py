"""Rich Text Format (rtf): paragraphs, headings by style, lists, tables and notes in order. Pictures and objects are passed over."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from engine.pipelines.reading.formats.blocks import PageBuilder, Row, whole_number
from engine.pipelines.reading.formats.packages import damaged
from engine.pipelines.reading.results import Kind, Page

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32}+)(-?[0-9]{1,9}+)? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]++|([^\\{}\r\n]++)",
    re.DOTALL,
)
_DEEPEST = 10_000  # groups in each other
_LABEL = re.compile(r"\s*(?:(\d{1,4})[.)]|([•·◦▪‣–-]|[a-zA-Z]{1,5}[.)]))\t+")
_PAGE = re.compile(rb"\\page(?![a-zA-Z])")
_SIGNS = {
    "tab": "\t", "cell": "", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "‑", "{": "{", "}": "}", "\\": "\\",
}  # fmt: skip
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255",
    178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
# groups whose text is no text of the document
_UNREAD = frozenset(
    {"colortbl", "info", "pict", "objdata", "fldinst", "xe", "tc", "nonshppict", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc",
     "aftncn", "datafield", "template", "filetbl", "revtbl", "atnid", "atnauthor", "annotation", "nonesttables", "shprslt", "listtable"}
)  # fmt: skip
_MARGINS: dict[str, Kind] = {
    f"{kind}{which}": kind
    for kind in ("header", "footer")
    for which in ("", "l", "r", "f")  # type: ignore[misc]
}


def read_rich_text(data: bytes) -> tuple[Page, ...]:
    out = PageBuilder("page" if _PAGE.search(data) else "part")
    _Reader(data, out).read()
    return out.pages()


@dataclass
class _Group:
    """What ends with the group that it was said in."""

    into: str = "body"  # or fonts, styles, label, unread, shape, and the margins and notes
    codec: str = "cp1252"
    fallbacks: int = 1  # signs behind a \u for programs that do not know it
    hidden: bool = False
    style: int = 0
    outline: int | None = None
    in_table: bool = False
    depth: int | None = None  # of the list
    indent: int = 0
    hangs: bool = False  # the first line begins left of the others


@dataclass
class _Text:
    """What is gathered until a paragraph ends."""

    pieces: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)  # letters of a code page
    codec: str = "cp1252"

    def add(self, text: str) -> None:
        self._decode()
        self.pieces.append(text)

    def add_raw(self, data: bytes, codec: str) -> None:
        if codec != self.codec:
            self._decode()
            self.codec = codec
        self.raw += data

    def _decode(self) -> None:
        if self.raw:
            self.pieces.append(self.raw.decode(self.codec, "replace"))
            self.raw.clear()

    def take(self) -> str:
        self._decode()
        text = "".join(self.pieces)
        self.pieces.clear()
        # \u gives the halves of characters beyond the first plane
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class _Cells:
    """A row of a table: its texts, and where each cell ends and how it is merged."""

    texts: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)  # by end: "", first or next, of cells one above the other
    merge: str = ""


@dataclass
class _Cell:
    text: str
    across: int
    down: int = 1


class _Reader:
    def __init__(self, data: bytes, out: PageBuilder) -> None:
        self._data, self._out = data, out
        self._groups = [_Group()]
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._styles: dict[int, tuple[str, int | None]] = {}  # the name, and the level of its heading from 0
        self._texts: dict[str, _Text] = {}
        self._footnotes: list[str] = []
        self._margins: set[tuple[str, str]] = set()
        self._skip = 0  # signs that a \u stood for
        self._row = _Cells()
        self._table: list[_Cells] = []

    def _text(self, into: str) -> _Text:
        return self._texts.setdefault(into, _Text())

    def read(self) -> None:
        at, data = 0, self._data
        star = False
        while (found := _TOKEN.match(data, at)) is not None:
            at = found.end()
            word, number, hexed, sign, brace, text = found.groups()
            if word is not None:
                value = None if number is None else int(number)
                if word == b"bin":
                    at += max(0, value or 0)
                elif self._skip:
                    self._skip -= 1
                else:
                    self._word(word.decode("ascii"), value, star)
                star = False
            elif brace is not None:
                self._skip, star = 0, False
                self._open() if brace == b"{" else self._close()
            elif sign == b"*":
                star = True
            elif sign is not None and sign in b"\r\n":
                self._end_paragraph()
            elif sign is not None:
                if self._skip:
                    self._skip -= 1
                elif (name := sign.decode("latin-1")) in _SIGNS:
                    self._add(_SIGNS[name])
            elif hexed is not None:
                self._add_raw(bytes([int(hexed, 16)]))
            elif text is not None:
                self._add_raw(text)
        self._end_paragraph()
        self._end_table()

    # -- groups

    def _open(self) -> None:
        if len(self._groups) > _DEEPEST:
            raise damaged("groups")
        self._groups.append(replace(self._groups[-1]))

    def _close(self) -> None:
        if len(self._groups) < 2:
            return  # one too many
        group = self._groups.pop()
        if group.into == self._groups[-1].into:
            return
        if group.into in _MARGINS:
            self._end_margin(group.into)
        elif group.into == "footnote":
            if text := self._text("footnote").take().strip():
                self._footnotes.append(text)
        elif group.into == "shptxt":  # a text box
            self._end_paragraph()

    def _end_margin(self, into: str) -> None:
        text = self._text(into).take().strip()
        if text and (_MARGINS[into], text) not in self._margins:
            self._margins.add((_MARGINS[into], text))
            self._out.text(text, _MARGINS[into])

    # -- words

    def _word(self, word: str, value: int | None, star: bool) -> None:
        group = self._groups[-1]
        if group.into == "unread":
            return
        if word in _MARGINS or word == "footnote":
            group.into = word
        elif word in _UNREAD:
            group.into = "unread"
        elif word in ("fonttbl", "stylesheet", "listtext", "pntext", "shpinst", "shptxt"):
            group.into = {"listtext": "label", "pntext": "label"}.get(word, word)
        elif star:
            group.into = "unread"
        elif group.into == "fonttbl":
            self._font_word(word, value or 0)
        elif group.into == "stylesheet":
            self._style_word(group, word, value)
        elif word in _SIGNS and word != "cell":
            self._add(_SIGNS[word])
        elif word == "u":
            self._add(chr((value or 0) % 0x10000))
            self._skip = group.fallbacks
        elif group.into in ("body", "shptxt"):
            self._body_word(group, word, value)
        elif word == "par":
            self._add("\n")
        self._any_word(group, word, value)

    def _any_word(self, group: _Group, word: str, value: int | None) -> None:
        if word == "uc":
            group.fallbacks = min(max(0, value or 0), 10)
        elif word == "f":
            group.codec = self._fonts.get(value or 0, self._default)
        elif word == "ansicpg":
            self._default = group.codec = _codec(f"cp{value}")
        elif word in ("mac", "pc"):
            self._default = group.codec = "mac_roman" if word == "mac" else "cp437"
        elif word in ("v", "deleted"):
            group.hidden = value != 0
        elif word == "plain":
            group.hidden = False

    def _font_word(self, word: str, value: int) -> None:
        if word == "f":
            self._font = value
        elif word == "fcharset" and value in _CHARSETS:
            self._fonts[self._font] = _codec(_CHARSETS[value])

    def _style_word(self, group: _Group, word: str, value: int | None) -> None:
        if word == "s":
            group.style = value or 0
        elif word == "outlinelevel":
            group.outline = value

    def _body_word(self, group: _Group, word: str, value: int | None) -> None:
        if word in ("par", "sect"):
            self._end_paragraph()
        elif word == "page":
            self._end_paragraph()
            self._end_table()
            self._out.begin_page()
        elif word == "pard":
            group.style, group.outline, group.in_table, group.depth, group.indent, group.hangs = (
                0,
                None,
                False,
                None,
                0,
                False,
            )
        elif word == "s":
            group.style = value or 0
        elif word == "outlinelevel":
            group.outline = value
        elif word == "intbl":
            group.in_table = True
        elif word == "ls":
            group.depth = group.depth or 0
        elif word == "ilvl":
            group.depth = min(max(0, value or 0), 8)
        elif word == "li":
            group.indent = value or 0
        elif word == "fi":
            group.hangs = (value or 0) < 0
        else:
            self._table_word(word, value or 0)

    # -- text

    def _target(self) -> _Text | None:
        group = self._groups[-1]
        hides = group.hidden or group.into in ("unread", "fonttbl", "shpinst")
        return None if hides else self._text("body" if group.into == "shptxt" else group.into)

    def _add(self, text: str) -> None:
        if (target := self._target()) is not None:
            target.add(text)

    def _add_raw(self, data: bytes) -> None:
        if self._skip:
            taken = min(self._skip, len(data))
            self._skip -= taken
            data = data[taken:]
        group = self._groups[-1]
        if group.into == "stylesheet":
            self._name_style(group, data)
        elif data and (target := self._target()) is not None:
            target.add_raw(data, group.codec)

    def _name_style(self, group: _Group, data: bytes) -> None:
        name, end, _ = data.decode("latin-1").partition(";")
        if end and name.strip():
            self._styles[group.style] = (name.strip().lower(), group.outline)

    def _end_paragraph(self) -> None:
        group = self._groups[-1]
        if group.into not in ("body", "shptxt"):
            return
        text, label = self._text("body").take(), self._text("label").take()
        if group.in_table:
            self._text("body").add(f"{text}\n")
            return
        self._end_table()
        level = self._level(group)
        if level and text.strip():
            self._out.heading(text, level)
        elif not self._item(group, label, text):
            self._out.text(text)
        self._end_notes()

    def _end_notes(self) -> None:
        notes, self._footnotes = self._footnotes, []
        for note in notes:
            self._out.text(note, "footnote")

    def _level(self, group: _Group) -> int:
        name, outline = self._styles.get(group.style, ("", None))
        if group.style and name in ("title", "subtitle"):
            return 1 if name == "title" else 2
        if group.style and name.startswith("heading "):
            outline = whole_number(name[8:], 10) - 1
        level = group.outline if group.outline is not None else outline if group.style else None
        return level + 1 if level is not None and 0 <= level < 9 else 0

    def _item(self, group: _Group, label: str, text: str) -> bool:
        """Whether the paragraph is an item of a list: by its label, which is a group of its own or stands before a hanging line."""
        if not label.strip():
            found = _LABEL.match(text) if group.hangs else None
            if found is None:
                return False
            label, text = found[0], text[found.end() :]
        found = _LABEL.match(f"{label.strip()}\t")
        depth = group.depth if group.depth is not None else max(0, min(group.indent // 360 - 1, 8))
        letters = found is not None and found[2] is not None and found[2][0].isalpha()  # a. or iv) stay as they are
        number = int(found[1]) if found is not None and found[1] else None
        self._out.item(f"{label.strip()} {text}" if letters else text, depth, number)
        return True

    # -- tables

    def _table_word(self, word: str, value: int) -> None:
        row = self._row
        if word == "trowd":
            row.ends, row.merges, row.merge = [], [], ""
        elif word in ("clvmgf", "clvmrg"):
            row.merge = "first" if word == "clvmgf" else "next"
        elif word == "cellx" and len(row.ends) < 1000:
            row.ends.append(value)
            row.merges.append(row.merge)
            row.merge = ""
        elif word == "cell":
            text = self._text("body").take()
            self._text("label").take()
            row.texts.append("\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines()))))
        elif word == "nestcell":
            self._add("\n")
        elif word == "row":
            if row.texts:
                self._table.append(row)
            self._row = _Cells([], row.ends, row.merges)

    def _end_table(self) -> None:
        if self._row.texts:  # a row that did not end
            self._table.append(self._row)
            self._row = _Cells()
        if self._table:
            table, self._table = self._table, []
            self._out.table(_rows(table))
            self._end_notes()


def _rows(table: list[_Cells]) -> list[Row]:
    """Cells span the columns that end before they do in another row."""
    edges = sorted({end for row in table if len(row.ends) >= len(row.texts) for end in row.ends[: len(row.texts)]})
    places = {end: at for at, end in enumerate(edges)}
    rows: list[list[_Cell]] = []
    above: dict[int, _Cell] = {}  # by column: the cell that reaches down
    for row in table:
        cells: list[_Cell] = []
        column = 0
        for at, text in enumerate(row.texts):
            known = len(row.ends) >= len(row.texts)
            across = max(1, places[row.ends[at]] + 1 - column) if known else 1
            merge = row.merges[at] if known else ""
            if merge == "next" and column in above:
                above[column].down += 1
            else:
                cells.append(_Cell(text, across))
                above.pop(column, None)
                if merge == "first":
                    above[column] = cells[-1]
            column += across
        rows.append(cells)
    return [[(cell.text, cell.down, cell.across, False) for cell in row] for row in rows]


def _codec(name: str) -> str:
    try:
        return codecs.lookup(name).name if name.startswith(("cp", "mac", "gbk", "big5")) else "cp1252"
    except LookupError:
        return "cp1252"
