"""How the window looks: icons, the style sheet generated from a `Theme`, language, text size and motion.

Icons are one drawn set of strokes in `resources/icons`, recoloured by the theme. No widget sets colours itself: widgets say
what they are with the property `kind` ("main", "flat", "second", "side", "card", "bubble", ...), and dynamic states are
properties too (`chosen`, `level`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from string import Template
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLayout, QPlainTextEdit, QWidget
from shiboken6 import isValid

import resources
from app.gui.language import InstalledWords, best
from app.gui.preferences import Preferences
from app.gui.retranslate import retranslate
from app.gui.theme import CORNER, Theme, choose, colours

FOLDER = resources.path("icons")


@cache
def drawing(name: str) -> str:
    """The SVG's text."""
    return (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


@cache
def icon(name: str, colour: str, disabled: str = "") -> QIcon:
    """Sharp at every size and pixel ratio, because it is drawn when it is painted."""
    return QIcon(_Strokes(name, colour, disabled or colour))


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    """One for all icons that are alike: an engine is copied with each icon that changes, and parsing takes a millisecond."""
    return QSvgRenderer(QByteArray(drawing(name).replace("currentColor", colour).encode()))


class _Strokes(QIconEngine):
    def __init__(self, name: str, colour: str, disabled: str) -> None:
        super().__init__()
        self._made = (name, colour, disabled)
        self._normal, self._disabled = _renderer(name, colour), _renderer(name, disabled)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        renderer = self._disabled if mode == QIcon.Mode.Disabled else self._normal
        if mode == QIcon.Mode.Disabled:
            painter.setOpacity(0.45)
        renderer.render(painter, QRectF(rect))
        painter.setOpacity(1.0)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        picture = QPixmap(size)
        if size.isEmpty():  # asked for by widgets that have no room yet
            return picture
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, picture.rect(), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        return _Strokes(*self._made)


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """A picture of `size` logical pixels."""
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer = QSvgRenderer(QByteArray(drawing(name).replace("currentColor", colour).encode()))
    renderer.render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


SHEET = Template(
    """
* { outline: none; }
QWidget { color: $text; }
QMainWindow, QDialog, QStackedWidget, QWidget[kind="window"] { background: $window; }
QWidget[kind="side"] { background: $side; }
QWidget[kind="strip"] { background: $side; border-top: 1px solid $line; }
QWidget[kind="notice"] { background: $side; border-bottom: 1px solid $line; }
QWidget[kind="rail"] { background: $side; border-right: 1px solid $line; }
QWidget[kind="card"] { background: $window; border: 1px solid $line; border-radius: ${corner}px; }
QWidget[kind="floating"] { background: $window; border: 1px solid $line; border-radius: ${corner}px; }
QWidget[kind="bubble"] { background: $bubble; border-radius: ${corner}px; }
QWidget[kind="codebox"] { background: $code; border: 1px solid $line; border-radius: ${corner}px; }
QWidget[kind="block"] { background: transparent; border: 1px solid transparent; border-radius: ${corner}px; }
QWidget[kind="block"]:hover { background: $hover; }
QWidget[kind="block"][chosen="true"] { background: $selected; border: 1px solid $accent; }
QTableWidget[kind="bare"] { gridline-color: $line; border: 1px solid $line; background: $window; }
QWidget[kind="line"] { background: $line; }

QLabel { background: transparent; }
QLabel[kind="second"], QLabel[kind="figures"] { color: $second; }
QLabel[kind="title"] { font-weight: 600; }
QLabel[kind="heading"] { font-weight: 600; }
QLabel[level="error"] { color: $error; }
QLabel[level="warning"] { color: $warning; }
QLabel[level="ok"] { color: $ok; }

QPushButton, QToolButton {
    background: transparent; border: 1px solid $line; border-radius: ${corner}px; padding: 5px 12px; color: $text;
}
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed { background: $pressed; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: 4px 11px; }
QPushButton:disabled, QToolButton:disabled { color: $second; }
QPushButton[kind="main"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[kind="main"]:focus { border: 2px solid $text; }
QPushButton[kind="main"]:disabled { background: $pressed; color: $second; border: 1px solid $line; }
QToolButton[kind="send"] { background: $accent; border: 1px solid $accent; border-radius: 16px; padding: 0; }
QToolButton[kind="send"]:focus { border: 2px solid $text; }
QToolButton[kind="send"]:disabled { background: $pressed; border: 1px solid $line; }
QPushButton[kind="flat"], QToolButton[kind="flat"] { border: 1px solid transparent; padding: 5px; }
QPushButton[kind="flat"]:focus, QToolButton[kind="flat"]:focus { border: 2px solid $accent; padding: 4px; }
QPushButton[kind="link"] { border: 1px solid transparent; padding: 2px 4px; text-decoration: underline; color: $text; }
QPushButton[kind="link"]:focus { border: 2px solid $accent; padding: 1px 3px; }
QPushButton[kind="fold"] { border: 1px solid transparent; padding: 3px 6px; text-align: left; color: $second; }
QPushButton[kind="fold"]:focus { border: 2px solid $accent; padding: 2px 5px; }
QToolButton:checked, QToolButton[kind="flat"]:checked { background: $selected; }
QToolButton[kind="floating"] { background: $window; border: 1px solid $line; border-radius: ${corner}px; padding: 5px; }
QToolButton[kind="rail"] { border: 2px solid transparent; border-radius: ${corner}px; padding: 0 7px; }
QToolButton[kind="rail"]:checked { background: $selected; }
QToolButton[kind="rail"]:focus { border: 2px solid $accent; }
QToolButton::menu-indicator { image: none; width: 0; }
QPushButton::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
    background: $window; border: 1px solid $line; border-radius: ${corner}px; padding: 5px 8px; color: $text;
    selection-background-color: $accent; selection-color: $on_accent; placeholder-text-color: $second;
}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 2px solid $accent; padding: 4px 7px;
}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled { color: $second; }
QTextEdit[kind="bare"], QPlainTextEdit[kind="bare"], QTextBrowser[kind="bare"], QLineEdit[kind="bare"] {
    background: transparent; border: none; padding: 0;
}
QTextEdit[kind="bare"]:focus, QPlainTextEdit[kind="bare"]:focus, QTextBrowser[kind="bare"]:focus { border: none; padding: 0; }
QPlainTextEdit[kind="cell"], QPlainTextEdit[kind="cell"]:focus { border: 2px solid $accent; padding: 2px 4px; }
QWidget[kind="composer"] { background: $window; border: 1px solid $line; border-radius: 12px; }
QWidget[kind="composer"][chosen="true"] { border: 2px solid $accent; }
QComboBox { padding-right: 22px; combobox-popup: 0; }
QComboBox::drop-down { border: none; width: 20px; subcontrol-position: center right; }
QComboBox::down-arrow { image: url("$arrow"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $window; border: 1px solid $line; padding: 4px; selection-background-color: $selected; selection-color: $text; }
QComboBox[kind="flat"] { border: 1px solid transparent; background: transparent; font-weight: 600; }
QComboBox[kind="flat"]:hover { background: $hover; }
QComboBox[kind="flat"]:focus { border: 2px solid $accent; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: none; }

QCheckBox, QRadioButton { background: transparent; spacing: 8px; border: 2px solid transparent; border-radius: 4px; padding: 1px; }
QCheckBox:focus, QRadioButton:focus { border: 2px solid $accent; }

QCheckBox::indicator, QAbstractItemView::indicator {
    width: 16px; height: 16px; border: 1px solid $second; border-radius: 4px; background: $window;
}
QCheckBox::indicator:hover, QAbstractItemView::indicator:hover { background: $hover; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {
    background: $accent; border: 1px solid $accent; image: url("$check");
}

QListView, QTreeView, QTableView {
    background: transparent; border: none; selection-background-color: $selected; selection-color: $text;
}
QListView::item, QTreeView::item { border-radius: 6px; padding: 4px 6px; color: $text; }
QListView::item:hover, QTreeView::item:hover { background: $hover; }
QListView::item:selected, QTreeView::item:selected { background: $selected; color: $text; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 2px solid $accent; border-radius: ${corner}px; }
QListView[kind="plain"]:focus, QTableView[kind="plain"]:focus { border: none; }
QTableView[kind="plain"]::item { padding: 6px 8px; }
QListView[kind="lines"]:focus { border: none; }
QHeaderView { background: $side; border: none; }
QHeaderView::section { background: $side; color: $second; border: none; border-bottom: 1px solid $line; padding: 4px 8px; }

QMenu { background: $window; border: 1px solid $line; border-radius: ${corner}px; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 6px; color: $text; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $second; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QToolTip { background: $text; color: $window; border: none; padding: 4px 8px; }

QScrollArea, QAbstractScrollArea[kind="plain"] { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $pressed; border-radius: 4px; margin: 2px; min-height: 32px; min-width: 32px; }
QScrollBar::handle:hover { background: $second; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: transparent; border: none; width: 0; height: 0; }
QSplitter::handle { background: $line; }
QSplitter::handle:hover { background: $accent; }

QProgressBar { background: $pressed; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; text-align: center; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSlider::groove:horizontal { background: $pressed; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $accent; border-radius: 2px; }
QSlider::handle:horizontal { background: $text; width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:focus { background: $accent; border: 2px solid $text; width: 12px; height: 12px; margin: -6px 0; }
QTabBar::tab { background: transparent; color: $second; padding: 6px 12px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:focus { color: $accent; }
QTabWidget::pane { border: none; border-top: 1px solid $line; }
QGroupBox { border: none; margin-top: 24px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; subcontrol-position: top left; padding: 0; }
"""
)


def sheet(theme: Theme) -> str:
    """The whole style sheet."""
    folder, ending = FOLDER.parent / "styles", "dark.svg" if theme.dark else "light.svg"
    arrow, check = (folder / f"{name}-{ending}" for name in ("arrow", "check"))
    return SHEET.substitute(colours(theme), corner=CORNER, arrow=arrow.as_posix(), check=check.as_posix())


def palette(theme: Theme) -> QPalette:
    """For what style sheets do not reach: text cursors, links, disabled text, native dialogs."""
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.window),
        (role.AlternateBase, theme.side),
        (role.Text, theme.text),
        (role.Button, theme.side),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.on_accent),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.on_accent),
        (role.Accent, theme.accent),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.PlaceholderText, theme.second),
        (role.ToolTipBase, theme.text),
        (role.ToolTipText, theme.window),
        (role.Mid, theme.line),
        (role.Dark, theme.line),
    ):
        made.setColor(which, QColor(colour))
    for which in (role.Text, role.ButtonText, role.WindowText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.second))
    return made


def kind(widget: QWidget, name: str) -> QWidget:
    """Say what a widget is, for the style sheet."""
    widget.setProperty("kind", name)
    return widget


def restate(widget: QWidget, **properties: object) -> None:
    """Change state properties (`chosen=True`, `level="error"`) and restyle the widget."""
    if all(widget.property(name) == value for name, value in properties.items()):
        return
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


_LATER = 60  # milliseconds from one part that is not shown to the next


def _system_points(app: QApplication) -> float:
    """The size of the system's font. The application keeps it: by the time of a second `Look` its own font may have been enlarged."""
    kept = app.property("systemPoints")
    if kept is None:
        kept = app.font().pointSizeF() if app.font().pointSizeF() > 0 else 10.0
        app.setProperty("systemPoints", kept)
    return float(kept)


class Look(QObject):
    """One per process. `changed` is emitted when colours or the text size change, `language_changed` when the language does.

    The style sheet is set on the parts of the window that `dress` names, not on the application: Qt restyles an
    application's widgets in a time that grows with their number times their depth, 0.4 to 1 s for seven panes. Parts that
    are in sight change at once, in one frame; the others a little later, one at a time, or when they are shown.
    """

    changed = Signal()
    language_changed = Signal()

    def __init__(self, app: QApplication, preferences: Preferences) -> None:
        super().__init__(app)
        self._app = app
        self._preferences = preferences
        self._points = _system_points(app)
        self._words = InstalledWords(app)
        self._followers: list[tuple[QObject, Callable[[], Any]]] = []
        self._parts: list[QWidget] = []
        self._stale: dict[QWidget, list[Callable[[], Any]]] = {}  # parts in an old look, and what follows it in them
        self._sheet = ""
        self._later = QTimer(self)
        self._later.setInterval(_LATER)
        self._later.timeout.connect(self._renew_one)
        self.theme: Theme = self._wanted()
        app.styleHints().colorSchemeChanged.connect(lambda _: self.refresh())
        self._soon = QTimer(self)  # several steps of the size in one turn of the event loop are one change
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.refresh)
        changes = {
            "appearance": self.refresh,
            "text_scale": self._soon.start,
            "language": lambda: self.speak(self.language),
        }
        preferences.changed.connect(lambda key: changes[key]() if key in changes else None)
        self.speak(self.language)
        self._apply()

    @property
    def language(self) -> str:
        """The chosen language, or the first of the system's that Grus has."""
        return best(str(self._preferences.get("language", "system")))

    @property
    def scale(self) -> float:
        """The person's own scale of text, on top of the system's."""
        return float(self._preferences.get("text_scale", 1.0))

    @property
    def moves(self) -> bool:
        """Whether anything may move."""
        return not self._preferences.get("reduce_motion", False)

    @property
    def mono(self) -> QFont:
        """For code: the system's monospace at the size of text."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self._app.font().pointSizeF())
        return font

    def font(self, size: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        font = QFont(self._app.font())
        font.setPointSizeF(font.pointSizeF() * size)
        font.setWeight(weight)
        return font

    def icon(self, name: str, colour: str | None = None) -> QIcon:
        """In the theme's second text colour, or in a colour of the theme by its token."""
        return icon(name, getattr(self.theme, colour or "second"), self.theme.second)

    def dress(self, part: QWidget, later: bool = False) -> None:
        """Give `part`, and all that is in it, the style sheet, now and after each change. `later`: in a turn of the event loop of its own, or
        when it is shown."""
        part.installEventFilter(self)
        self._parts.append(part)
        if later:
            self._stale[part] = []
            self._later.start()
        else:
            part.setStyleSheet(self._sheet)

    def refresh(self) -> None:
        self.theme = self._wanted()
        self._apply()
        self._parts = [part for part in self._parts if isValid(part)]
        self._followers = [(widget, repaint) for widget, repaint in self._followers if isValid(widget)]
        follows: dict[QWidget | None, list[Callable[[], Any]]] = {part: [] for part in (None, *self._parts)}
        for widget, repaint in self._followers:
            at: QObject | None = widget
            while at is not None and at not in follows:
                at = at.parent()
            follows[at].append(repaint)  # type: ignore[index]
        for repaint in follows.pop(None):
            repaint()
        self._stale = {part: repaints for part, repaints in follows.items() if part is not None}
        for part in self._parts:
            if part.isVisible() and not part.visibleRegion().isEmpty():
                self._renew(part)
        self._later.start()
        self.changed.emit()

    @property
    def settled(self) -> bool:
        """Whether everything is in the look that was chosen last."""
        return not (self._soon.isActive() or self._stale)

    def settle(self) -> None:
        """All that is still to come, now."""
        if self._soon.isActive():
            self._soon.stop()
            self.refresh()
        while self._stale:
            self._renew_one()

    def _renew(self, part: QWidget) -> None:
        repaints = self._stale.pop(part, [])
        if isValid(part):
            part.setStyleSheet(self._sheet)  # also for another size: so fonts reach widgets that have a style sheet
            for repaint in repaints:
                repaint()
            if not part.isVisible():  # layouts of what is hidden do not hear that a font is another
                for layout in part.findChildren(QLayout):
                    layout.invalidate()
                part.updateGeometry()

    def _renew_one(self) -> None:
        if self._stale:
            self._renew(next(iter(self._stale)))
        else:
            self._later.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._stale and watched in self._stale and event.type() == QEvent.Type.Show:
            self._renew(watched)  # type: ignore[arg-type]
        return False

    def speak(self, language: str) -> None:
        """Translate from now on. What widgets show is renewed; views that compose or paint texts follow `language_changed`."""
        self._words.load(language)
        retranslate(self._app)
        self.language_changed.emit()

    def fall_silent(self) -> None:
        """Qt's and our own translations are taken out again."""
        self._words.unload()

    def on_change(self, widget: QObject, repaint: Callable[[], Any]) -> None:
        """Call `repaint` now and whenever the look changes, for as long as the widget lives."""
        repaint()
        self._followers.append((widget, repaint))

    def write_mono(self, area: QPlainTextEdit) -> None:
        """Code and logs: the system's monospace at the size of text."""

        def renew() -> None:
            area.setFont(self.mono)
            area.viewport().setFont(self.mono)  # hints are drawn in it, and it does not inherit under a style sheet

        self.on_change(area, renew)

    def hold_width(self, widget: QWidget, pixels: int) -> None:
        """So many pixels wide at the usual size of text, and wider where it is larger."""
        self.on_change(widget, lambda: widget.setFixedWidth(self.grown(pixels)))

    def limit_width(self, widget: QWidget, pixels: int) -> None:
        """At most so many, in the same way."""
        self.on_change(widget, lambda: widget.setMaximumWidth(self.grown(pixels)))

    def grown(self, pixels: int) -> int:
        """Half as much more as the text is larger: most fields have room to spare."""
        return round(pixels * max(1.0, (1 + self.scale) / 2))

    def _wanted(self) -> Theme:
        dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return choose(str(self._preferences.get("appearance", "system")), dark)

    def _apply(self) -> None:
        font = self._app.font()
        font.setPointSizeF(self._points * self.scale)
        self._app.setFont(font)
        self._app.setPalette(palette(self.theme))
        self._sheet = sheet(self.theme)
