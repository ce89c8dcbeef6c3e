"""The registry of actions: title, shortcut, icon and callback. Menus, tooltips, the overview of shortcuts (Ctrl+/) and the
command palette (Ctrl+K) all read it. Each pane declares its actions in a table of `ActionSpec`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QMainWindow, QWidget

from app.gui.look import Look
from app.gui.texts import remember, source, tr


class ActionSpec(NamedTuple):
    """One row of a pane's table of actions. `title` is English, shown through `tr`; `run` gets the pane, or the table's target."""

    name: str
    title: str
    keys: str  # as Qt spells them ("Ctrl+N"; several with spaces between)
    icon: str
    run: Callable[[Any], Any]


@dataclass(frozen=True)
class ActionEntry:
    """One line of the overview."""

    group: str
    title: str
    keys: str
    action: QAction | None  # None: something that keys alone do ("Enter sends")


class Actions:
    """Actions belong to a widget: the window's work everywhere, a pane's while the pane is shown."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._listed: list[Callable[[], ActionEntry]] = []  # each in the language of now
        self._named: dict[str, QAction] = {}

    def add(
        self,
        owner: QWidget,
        name: str,
        title: str,
        run: Callable[[], Any],
        keys: str = "",
        group: str = "",
        icon: str = "",
    ) -> QAction:
        """`keys` as Qt spells them ("Ctrl+N"; several with spaces between); `group` heads the overview's section."""
        action = QAction(title, owner)
        action.setObjectName(name)
        action.triggered.connect(lambda checked=False: run())
        sequences = [QKeySequence(one) for one in keys.split()]
        action.setShortcuts(sequences)
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)  # Qt ignores shortcuts of hidden panes

        def shown() -> str:
            return sequences[0].toString(QKeySequence.SequenceFormat.NativeText) if sequences else ""

        titled, grouped = source(title), source(group)
        action.setToolTip(remember(lambda: f"{titled()} ({shown()})", __name__) if sequences else title)
        if icon:
            self._look.on_change(action, lambda: action.setIcon(self._look.icon(icon)))
        owner.addAction(action)
        self._named[name] = action
        self._listed.append(lambda: ActionEntry(grouped(), titled(), shown(), action))
        return action

    def add_table(
        self, owner: QWidget, prefix: str, group: str, table: Iterable[ActionSpec], target: Any = None
    ) -> None:
        """Every action of a pane, named `prefix.name`; they run with `target`, else with the pane."""
        for spec in table:
            self.add(
                owner,
                f"{prefix}.{spec.name}",
                tr(spec.title),
                partial(spec.run, owner if target is None else target),
                spec.keys,
                group,
                spec.icon,
            )

    def note(self, group: str, title: str, keys: str) -> None:
        """Something that a person should find in the overview though it is no action: Enter sends."""
        grouped, titled, pressed = source(group), source(title), source(keys)
        self._listed.append(lambda: ActionEntry(grouped(), titled(), pressed(), None))

    def __getitem__(self, name: str) -> QAction:
        return self._named[name]

    @property
    def listed(self) -> list[ActionEntry]:
        return [entry() for entry in self._listed]

    def clashes(self) -> list[str]:
        """Shortcuts that two actions of one owner, or one of the window and one of a pane, both claim."""
        seen: dict[tuple[Any, str], str] = {}
        found = []
        for line in self.listed:
            if line.action is None:
                continue
            for sequence in line.action.shortcuts():
                keys = sequence.toString()
                owner = line.action.parent()
                everywhere = isinstance(owner, QMainWindow)
                for (other, taken), title in seen.items():
                    if taken == keys and (other in (owner, "window") or everywhere):
                        found.append(f"{keys}: {title}, {line.title}")
                seen["window" if everywhere else owner, keys] = line.title
        return found


def wear(button: QAbstractButton, action: QAction, icon_only: bool = True) -> None:
    """A button that does an action: same words, same shortcut in its tooltip, enabled when it is."""

    def dress() -> None:
        button.setToolTip(action.toolTip())
        button.setAccessibleName(action.text())
        button.setIcon(action.icon())
        button.setEnabled(action.isEnabled())
        if not icon_only:
            button.setText(action.text())

    dress()
    action.changed.connect(dress)
    button.clicked.connect(lambda checked=False: action.trigger())
