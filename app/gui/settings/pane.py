"""The settings pane: appearance, computing, folders, tools, network, privacy, and the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionSpec
from app.gui.dialogs import choose_files, choose_folder, choose_target
from app.gui.dictation_key import OWN_WORDS, DictationKey
from app.gui.hotkey import PREFERENCE
from app.gui.language import LANGUAGES
from app.gui.look import Look, restate
from app.gui.pane import AppContext, Pane
from app.gui.settings.cuda_pack import CudaPackView
from app.gui.settings.dictation_cleanup import DictationCleanup
from app.gui.settings.hotkey_edit import HotKeyEdit
from app.gui.settings.known_voices import KnownVoicesView
from app.gui.settings.memories import MemoriesView
from app.gui.settings.section import SettingsSection
from app.gui.settings.speculation import SpeculationView
from app.gui.settings.tools import ToolsView
from app.gui.settings.updates import UpdatesView
from app.gui.texts import mark, size, tr
from app.gui.theme import APPEARANCES, GRID
from app.gui.viewmodels.known_voices import KnownVoiceList
from app.gui.viewmodels.settings import (
    BACKENDS,
    BATTERY_THREADS,
    COUNTS,
    DEVICES,
    PACKED_LIMIT,
    PACKED_LIMITS,
    ComputeSettings,
    NetworkSettings,
    StoredData,
    StoredKind,
)
from app.gui.viewmodels.speculation import SpeculationSettings
from app.gui.viewmodels.tools import AddedTools
from app.gui.viewmodels.transfer import Transfer
from app.gui.widgets import icon_button, label, text_button
from app.service import LoginStart


class PrivacyView(QWidget):
    def __init__(self, look: Look, privacy: StoredData) -> None:
        super().__init__()
        self._look, self._privacy = look, privacy
        self._shown: list[StoredKind] = []
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID * 2)
        self._grid.setVerticalSpacing(GRID)
        self._grid.setColumnStretch(0, 1)
        self.begin = text_button(tr("Delete all"), privacy.ask)
        self.question = label(
            tr("Delete all conversations, results, voices, files and settings of Grus? This cannot be undone."),
            wrap=True,
        )
        restate(self.question, level="error")
        self.keep = text_button(tr("Cancel"), lambda: privacy.ask(False))
        self.really = text_button(tr("Delete all now"), privacy.delete_all, kind="main")
        self._answer = QWidget()
        row = QHBoxLayout(self._answer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.keep)
        row.addWidget(self.really)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        note = tr("Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.")
        column.addWidget(label(note, "second", wrap=True))
        column.addWidget(self._table)
        column.addSpacing(GRID)
        column.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.question)
        column.addWidget(self._answer)
        privacy.changed.connect(self.show_stored)
        self.show_stored()

    def show_stored(self) -> None:
        asking = self._privacy.asking
        was = self._answer.isVisibleTo(self)
        self.question.setVisible(asking)
        self._answer.setVisible(asking)
        if asking and not was:
            self.keep.setFocus()
        self.begin.setVisible(not asking)
        if self._privacy.stored != self._shown:
            self._fill(self._privacy.stored)

    def _fill(self, stored: list[StoredKind]) -> None:
        self._shown = stored
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for i, kept in enumerate(stored):
            words = QWidget()
            column = QVBoxLayout(words)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            column.addWidget(label(tr(kept.title)))
            path = label(str(kept.path), "second")
            path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            path.setToolTip(str(kept.path))
            column.addWidget(path)
            self._grid.addWidget(words, i, 0)
            self._grid.addWidget(
                label("…" if kept.nbytes is None else size(kept.nbytes)), i, 1, Qt.AlignmentFlag.AlignRight
            )
            show = icon_button(self._look, "folder", tr("Show {what}", what=tr(kept.title)), _opens(kept), size=16)
            self._grid.addWidget(show, i, 2)


def _opens(kept: StoredKind) -> Callable[[], object]:
    folder = kept.path if kept.path.is_dir() else kept.path.parent
    return lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class NetworkView(SettingsSection):
    def __init__(self, look: Look, access: NetworkSettings) -> None:
        super().__init__(look, tr("Network"))
        self._access = access
        self.offline = QCheckBox(tr("Work offline"))
        self.offline.toggled.connect(access.set_offline)
        self.put(self.offline)
        self.about_offline = self.say()
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(tr("Hugging Face token"))
        self.token.setPlaceholderText(tr("Paste it, and press Enter"))
        self.token.setToolTip(tr("Paste it, and press Enter"))
        look.hold_width(self.token, _CONTROL)
        self.token.returnPressed.connect(self._keep)
        self.remove = text_button(tr("Remove the token"), access.remove)
        field = QWidget()
        row = QHBoxLayout(field)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(self.remove)
        row.addWidget(self.token)
        self.about_token = self.add(tr("Hugging Face token"), field, " ")
        access.changed.connect(self.show_access)
        self.show_access()

    def _keep(self) -> None:
        given = self.token.text()
        self.token.clear()  # it is shown nowhere again
        self._access.keep(given)

    def show_access(self) -> None:
        access = self._access
        self.offline.blockSignals(True)
        self.offline.setChecked(access.offline)
        self.offline.blockSignals(False)
        self.offline.setEnabled(access.may_switch)
        self.about_offline.setText(access.about_offline)
        self.about_token.setText(access.about_token)
        restate(self.about_token, level="error" if access.problem else "")
        self.remove.setVisible(access.removable)
        self.token.setEnabled(not access.busy)


_CONTROL = 220
_ARCHIVE = "ZIP (*.zip)"
_WIDTH = 680
_APPEARANCES = {
    "system": mark("System"),
    "light": mark("Light"),
    "dark": mark("Dark"),
    "contrast": mark("High contrast"),
}
_SCALES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


ACTIONS = (
    ActionSpec("motion", mark("Reduce motion"), "Ctrl+M", "", lambda pane: pane.motion.toggle()),
    ActionSpec("data", mark("Show data folder"), "Ctrl+O", "folder", lambda pane: pane.show_data()),
    ActionSpec("export", mark("Export everything"), "Ctrl+Shift+S", "download", lambda pane: pane.export_all()),
    ActionSpec("import", mark("Import an archive"), "Ctrl+I", "upload", lambda pane: pane.import_all()),
    ActionSpec("again", mark("Refresh"), "Ctrl+R F5", "retry", lambda pane: pane.look_again()),
    ActionSpec("delete", mark("Delete all"), "Ctrl+Shift+Backspace", "trash", lambda pane: pane.privacy.ask()),
)  # fmt: skip


def make(context: AppContext) -> Pane:
    return SettingsPane(context)


class SettingsPane(Pane):
    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.computing = ComputeSettings(context.machinery, context.preferences)
        self.privacy = StoredData(
            context.places, context.preferences, context.store, context.work, context.say, context.wiped, context.reread
        )
        data, preferences = context.places.data, context.preferences
        self.transfer = Transfer(context.store, context.work, preferences, data, context.say, context.reread)
        self.access = NetworkSettings(context.work, context.preferences)
        context.wiped.connect(self.access.remove_all)
        context.wiped.connect(lambda: self.tools.tools.forget(data))
        context.actions.add_table(self, "settings", tr("Settings"), ACTIONS)
        self.appearance = self._choice("appearance", tr("Appearance"), [(n, tr(_APPEARANCES[n])) for n in APPEARANCES])
        self.scale = self._choice("text_scale", tr("Text size"), [(s, f"{100 * s:.0f} %") for s in _SCALES])
        self.motion = QCheckBox(tr("Reduce motion"))
        self.motion.toggled.connect(lambda on: context.preferences.put("reduce_motion", on))
        self.figures = QCheckBox(tr("Show tokens and time under replies"))
        self.figures.toggled.connect(lambda on: context.preferences.put("chat.figures", on))
        self.login = QCheckBox(tr("Open at login"))
        self.login.setChecked(LoginStart().on)
        self.login.toggled.connect(self._open_at_login)
        languages = [("system", tr("System")), *LANGUAGES.items()]
        self.language = self._choice("language", tr("Language"), languages)
        self.backend = self._choice("backend", tr("Backend"), [(n, tr(t)) for n, t in BACKENDS], self.computing)
        self.device = self._choice("device", tr("Device"), [(n, tr(t)) for n, t in DEVICES], self.computing)
        self.replicas = self._choice("replicas", tr("Replicas"), [(n, str(n)) for n in COUNTS], self.computing)
        self.split = self._choice(
            "tensor_parallel", tr("Tensor parallelism"), [(n, str(n)) for n in COUNTS], self.computing
        )
        threads = [(n, str(n) if n else tr("All")) for n in BATTERY_THREADS]
        self.battery = self._choice("battery_threads", tr("Threads on battery"), threads)
        self.packed = self._choice("packed_limit", tr("Packed weights"), [(n, tr(t)) for n, t in PACKED_LIMITS])
        self.limit = QLineEdit()
        self.limit.setAccessibleName(tr("Memory limit"))
        self.limit.setPlaceholderText("70 %")
        self.context.look.hold_width(self.limit, _CONTROL)
        self.limit.editingFinished.connect(lambda: self.computing.set_limit(self.limit.text()))
        self.own_words = QLineEdit()
        self.own_words.setAccessibleName(tr("Own words"))
        self.context.look.hold_width(self.own_words, _CONTROL)
        self.own_words.editingFinished.connect(
            lambda: self.context.preferences.put(OWN_WORDS, self.own_words.text().strip())
        )
        self.outcome, self.applies = label(kind="second", wrap=True), label(kind="second", wrap=True)
        self.cache = text_button(tr("Choose"), self.choose_cache)
        self.default_cache = text_button(tr("Use default"), lambda: self._put_cache(None))
        self.folders = QVBoxLayout()
        self.private = PrivacyView(context.look, self.privacy)
        self.network = NetworkView(context.look, self.access)
        guessing = SpeculationSettings(context.core, preferences)
        self.speculation = SpeculationView(context.look, guessing, context.restart, _CONTROL)
        self.cuda_pack = CudaPackView(context.look, context.cuda_pack, context.restart)
        self.tools = ToolsView(context.look, AddedTools(context.work, lambda: context.core.tools))
        show: Callable[[int], object] = lambda id: context.open_pane("chat").open(id)  # noqa: E731
        self.memories = MemoriesView(context.look, context.memories, show)
        self.voices = KnownVoicesView(context.look, KnownVoiceList(context.work, context.places.data, context.say))
        self.updates = UpdatesView(context.look, context.updates, context.restart)
        self._build()
        self.computing.changed.connect(self._show)
        context.preferences.changed.connect(lambda key: self._show())
        for key in (context.hotkey, context.dictation):
            if key is not None:
                key.changed.connect(self._show_hotkey)
        context.look.language_changed.connect(self._show)
        context.look.language_changed.connect(self._show_hotkey)
        self._show_hotkey()
        self._show()

    def _build(self) -> None:
        look = self.context.look
        seen = SettingsSection(look, tr("Appearance"))
        seen.add(tr("Colours"), self.appearance)
        seen.add(tr("Text size"), self.scale, tr("In addition to the system's text size."))
        seen.add(tr("Language"), self.language)
        seen.put(self.motion)
        seen.put(self.figures)
        seen.put(self.login)
        self.hotkey = HotKeyEdit(self.context.preferences, PREFERENCE, tr("Global shortcut"))
        look.hold_width(self.hotkey, _CONTROL)
        self.hotkey_note = seen.add(tr("Global shortcut"), self.hotkey, " ")
        self.dictation = QWidget()  # where there is no such key: a field that nobody sees is restyled all the same
        if self.context.dictation is not None and self.context.dictation.works:
            self.dictation = HotKeyEdit(self.context.preferences, DictationKey.preference, tr("Dictation key"))
            look.hold_width(self.dictation, _CONTROL)
        self.dictation_note = seen.add(tr("Dictation key"), self.dictation, " ")
        if self.context.dictation is not None:
            self.cleanup = DictationCleanup(self.context, self.context.dictation)
            seen.put(self.cleanup)
        seen.add(
            tr("Own words"),
            self.own_words,
            tr("Names and terms, separated by commas. Listen, Talk and dictation spell them like this."),
        )
        computed = SettingsSection(look, tr("Compute"))
        computed.add(tr("Backend"), self.backend, tr("The library that runs models."))
        computed.add(tr("Device"), self.device)
        computed.add(
            tr("Replicas"),
            self.replicas,
            tr(
                "How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on."
            ),
        )
        computed.add(
            tr("Tensor parallelism"),
            self.split,
            tr(
                "Among how many devices a text model is split, which compute it together. Applies to models loaded from now on."
            ),
        )
        computed.add(
            tr("Threads on battery"),
            self.battery,
            tr("How many threads of the CPU compute without mains power. Applies after a restart of Grus."),
        )
        computed.add(
            tr("Packed weights"),
            self.packed,
            tr(
                "How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time."
            ),
        )
        computed.add(tr("Memory limit"), self.limit, tr("For all models together, as a share or a size."))
        computed.put(self.outcome)
        computed.put(self.applies)
        kept = SettingsSection(look, tr("Folders"))
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.default_cache)
        row.addWidget(self.cache)
        self.cache_note = kept.add(tr("Downloaded models"), buttons, " ")
        self.own = QWidget()
        self.own.setLayout(self.folders)
        self.folders.setContentsMargins(0, 0, 0, 0)
        add = text_button(tr("Add a folder"), self.choose_folder)
        kept.add(tr("Model folders"), add, tr("Grus never changes files in these folders."))
        kept.put(self.own)
        moved = SettingsSection(look, tr("Export and import"))
        out = text_button(tr("Export everything"), self.export_all)
        note = tr(
            "Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here."
        )
        moved.add(tr("To another machine"), out, note)
        taken = text_button(tr("Import an archive"), self.import_all)
        moved.add(
            tr("From another machine"),
            taken,
            tr("Adds what the file contains. Settings with the same name are replaced."),
        )
        private = SettingsSection(look, tr("Privacy"))
        private.put(self.private)
        wrong = SettingsSection(look, tr("Troubleshooting"))
        show = text_button(tr("Show the log"), self.context.actions["window.log"].trigger)
        wrong.add(tr("Log"), show, tr("Errors and crashes, stored on this machine. Export the log to get help."))
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID * 2)
        self.sections = (
            seen, computed, self.speculation, self.cuda_pack, kept, self.memories, self.voices, self.tools, self.network, self.updates, moved, private, wrong,
        )  # fmt: skip
        for section in self.sections:
            column.addWidget(section)
        column.addStretch(1)
        body = QWidget()
        centred = QHBoxLayout(body)
        centred.setContentsMargins(GRID * 4, GRID * 3, GRID * 4, GRID * 3)
        centred.addStretch(1)
        centred.addWidget(inner, 100)
        centred.addStretch(1)
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.area)

    def _choice(
        self, key: str, name: str, options: list[tuple[Any, str]], computing: ComputeSettings | None = None
    ) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.setObjectName(key)
        self.context.look.hold_width(box, _CONTROL)
        for value, title in options:
            box.addItem(title, value)
        put = self.context.preferences.put if computing is None else computing.choose
        box.activated.connect(lambda index: put(key, box.itemData(index)))
        return box

    # -- the pane

    @property
    def parts(self) -> Sequence[QWidget]:
        return (*self.sections, self.area.verticalScrollBar(), self.area.horizontalScrollBar())

    def entered(self) -> None:
        self.appearance.setFocus()
        self.look_again()

    def stop(self) -> bool:
        """Esc: nothing is deleted."""
        asking = self.privacy.asking
        self.privacy.ask(False)
        return asking

    # -- what a person does

    def look_again(self) -> None:
        self.computing.look()
        self.privacy.look()
        self.access.look()
        self.tools.tools.look()
        self.memories.memories.look()
        self.voices.voices.look()

    def show_updates(self) -> None:
        """Where the section begins."""
        self.area.ensureWidgetVisible(self.updates)
        self.updates.look_now.setFocus()

    def show_tools(self) -> None:
        """Where the section begins."""
        self.area.verticalScrollBar().setValue(self.tools.y())

    def show_data(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.context.places.data)))

    def export_all(self) -> None:
        then = lambda file: self.transfer.export(file, everything=True)  # noqa: E731
        choose_target(self, tr("Export everything"), then, {"zip": _ARCHIVE}, "Grus")

    def import_all(self) -> None:
        choose_files(self, tr("Import an archive"), lambda files: self.transfer.take(files[0]), _ARCHIVE, many=False)

    def choose_cache(self) -> None:
        choose_folder(self, tr("Choose a folder for downloaded models"), lambda folder: self._put_cache(str(folder)))

    def choose_folder(self) -> None:
        """Through the models pane, which says what it found there."""
        choose_folder(self, tr("Add a model folder"), lambda folder: self.context.hand_over("models", [folder]))

    def _put_cache(self, folder: str | None) -> None:
        self.context.preferences.put("cache_dir", folder)
        self.privacy.look()

    def _drop_folder(self, key: str) -> None:
        kept = [folder for folder in self.context.preferences.get("model_folders", []) if folder != key]
        self.context.preferences.put("model_folders", kept)

        def apply(service: Any) -> None:
            service.catalogue.more_folders = [Path(folder) for folder in kept]

        self.context.core.use(apply, lambda _: self.context.models_changed())

    # -- drawing

    def _open_at_login(self, on: bool) -> None:
        try:
            LoginStart().put(on)
        except OSError as error:
            self.context.show_error(str(error))

    def _show(self) -> None:
        preferences = self.context.preferences
        for box, usual in (
            (self.appearance, "system"),
            (self.scale, 1.0),
            (self.language, "system"),
            (self.backend, "auto"),
            (self.device, "auto"),
            (self.replicas, 1),
            (self.split, 1),
            (self.battery, 0),
            (self.packed, PACKED_LIMIT),
        ):
            box.setCurrentIndex(_nearest(box, preferences.get(box.objectName(), usual)))
        for check, key in ((self.motion, "reduce_motion"), (self.figures, "chat.figures")):
            check.blockSignals(True)
            check.setChecked(bool(preferences.get(key, False)))
            check.blockSignals(False)
        if not self.own_words.hasFocus():
            self.own_words.setText(str(preferences.get(OWN_WORDS, "")))
        if not self.limit.hasFocus() and not self.computing.problem:
            self.limit.setText(self.computing.limit)
        self.outcome.setText(self.computing.problem or self.computing.outcome)
        restate(self.outcome, level="error" if self.computing.problem or self.computing.failed else "")
        note = tr(
            "Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus."
        )
        self.applies.setText(note if self.computing.altered else "")
        self.applies.setVisible(self.computing.altered)
        cache = preferences.get("cache_dir")
        self.cache_note.setText(cache or tr("The Hugging Face cache, shared with other programs"))
        self.cache_note.setVisible(True)
        self.default_cache.setVisible(cache is not None)
        self._show_folders(preferences.get("model_folders", []))

    def _show_hotkey(self) -> None:
        for key, field, note in (
            (self.context.hotkey, self.hotkey, self.hotkey_note),
            (self.context.dictation, self.dictation, self.dictation_note),
        ):
            if key is not None:
                field.setVisible(key.possible)
                note.setText(key.about)
                restate(note, level="error" if key.problem else "")

    def _show_folders(self, folders: list[str]) -> None:
        while (item := self.folders.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for folder in folders:
            line = QWidget()
            row = QHBoxLayout(line)
            row.setContentsMargins(0, 0, 0, 0)
            row.addWidget(label(folder, "second"), 1)
            drop: Callable[[], None] = _with(self._drop_folder, folder)
            row.addWidget(
                icon_button(
                    self.context.look, "close", tr("Remove {folder} from the list", folder=folder), drop, size=14
                )
            )
            self.folders.addWidget(line)
        self.own.setVisible(bool(folders))


def _nearest(box: QComboBox, value: Any) -> int:
    """The entry for a value; of numbers the nearest, because text can be sized in other steps by keys."""
    if isinstance(value, float):
        return min(range(box.count()), key=lambda i: abs(box.itemData(i) - value))
    return max(0, box.findData(value))


def _with(run: Callable[[str], None], folder: str) -> Callable[[], None]:
    return lambda: run(folder)
