"""The style sheet and the palette, generated from a `Theme`. No widget sets colours by itself.

Widgets say what they are with the property `kind` ("main", "flat", "second", "side", "card", "bubble", ...) and get
their looks here; dynamic states are properties too (`chosen`, `level`).
"""

from __future__ import annotations

from string import Template

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from app.gui.theme import CORNER, Theme, colours

SHEET = Template(
    """
* { outline: none; }
QWidget { color: $text; }
QMainWindow, QDialog, QStackedWidget, QWidget[kind="window"] { background: $window; }
QWidget[kind="side"] { background: $side; }
QWidget[kind="strip"] { background: $side; border-top: 1px solid $line; }
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
QToolButton[kind="rail"] { border: 2px solid transparent; border-radius: ${corner}px; padding: 0; }
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
QWidget[kind="composer"] { background: $window; border: 1px solid $line; border-radius: 12px; }
QWidget[kind="composer"][chosen="true"] { border: 2px solid $accent; }
QComboBox { padding-right: 22px; }
QComboBox::drop-down { border: none; width: 20px; subcontrol-position: center right; }
QComboBox::down-arrow { image: url("$arrow"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $window; border: 1px solid $line; padding: 4px; selection-background-color: $selected; selection-color: $text; }
QComboBox[kind="flat"] { border: 1px solid transparent; background: transparent; font-weight: 600; }
QComboBox[kind="flat"]:hover { background: $hover; }
QComboBox[kind="flat"]:focus { border: 2px solid $accent; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: none; }

QCheckBox, QRadioButton { background: transparent; spacing: 8px; border: 2px solid transparent; border-radius: 4px; padding: 1px; }
QCheckBox:focus, QRadioButton:focus { border: 2px solid $accent; }

QCheckBox::indicator {
    width: 16px; height: 16px; border: 1px solid $second; border-radius: 4px; background: $window;
}
QCheckBox::indicator:hover { background: $hover; }
QCheckBox::indicator:checked { background: $accent; border: 1px solid $accent; image: url("$check"); }

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
    from app.gui.icons import FOLDER

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
    """Change state properties (`chosen=True`, `level="error"`) and draw the widget anew."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()
