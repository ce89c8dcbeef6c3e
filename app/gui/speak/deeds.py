"""The Speak pane's actions: their names, shortcuts and what they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFileDialog, QMenu

from app.gui.texts import tr
from app.gui.viewmodels.speak import FORMATS, Take
from app.gui.viewmodels.text_files import ENDINGS, text_of

if TYPE_CHECKING:
    from app.gui.speak.pane import SpeakPane


class Deeds:
    def __init__(self, pane: SpeakPane) -> None:
        self.pane, self.desk, self.studio = pane, pane.desk, pane.studio
        group = tr("Speak")

        def add(name: str, title: str, run: Callable[[], Any], keys: str, icon: str = "") -> None:
            self.desk.actions.add(pane, f"speak.{name}", title, run, keys, group, icon)

        add("speak", tr("Speak the text"), pane.speak, "Ctrl+Return", "speak")
        add("stop", tr("Stop speaking"), self.studio.stop, "Ctrl+Shift+X", "stop")
        add("open", tr("Open a text"), self.choose, "Ctrl+O", "file")
        add("play", tr("Play or pause"), pane.player.toggle, "Ctrl+Space", "play")
        add("save", tr("Save the sound"), lambda: self._on(self.save), "Ctrl+S", "save")
        add("voice", tr("New voice"), self.new_voice, "Ctrl+N", "plus")
        add("sample", tr("Hear the voice's sample"), self.hear_voice, "Ctrl+Shift+P", "sound")
        add("drop", tr("Delete the voice"), self.drop_voice, "Ctrl+Shift+D", "trash")
        add("text", tr("Take the text again"), lambda: self._on(self.take_text), "Ctrl+E", "edit")
        add("remove", tr("Remove from the list"), lambda: self._on(self.studio.remove), "Ctrl+Shift+Backspace", "trash")

    def _on(self, run: Callable[[Take], Any]) -> None:
        if self.studio.current is not None:
            run(self.studio.current)

    def menu(self, take: Take, where: Any) -> None:
        self.studio.choose(take)
        menu = QMenu(self.pane)
        for name in ("play", "text", "save", "remove"):
            menu.addAction(self.desk.actions[f"speak.{name}"])
        menu.popup(where)

    # -- texts

    def choose(self) -> None:
        dialog = QFileDialog(self.pane.window(), tr("Open a text"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(tr("Texts") + f" ({' '.join('*' + ending for ending in ENDINGS)})")
        dialog.fileSelected.connect(lambda chosen: self.open(Path(chosen)))
        dialog.open()

    def open(self, file: Path) -> None:
        def here(text: str) -> None:
            self.pane.text.setPlainText(text)
            self.pane.markdown = file.suffix.lower() == ".md"

        self.desk.work.run(lambda: text_of(file), here, lambda sentence: self.desk.say(sentence, level="error"))

    def take_text(self, take: Take) -> None:
        """To be spoken again, differently."""
        self.pane.text.setPlainText(take.text)
        self.pane.instructions.setText(take.choice.instructions)
        self.pane.text.setFocus()

    # -- sounds

    def save(self, take: Take) -> None:
        dialog = QFileDialog(self.pane.window(), tr("Save the sound"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([f"{'Opus' if kind == 'opus' else kind.upper()} (*.{kind})" for kind in FORMATS])
        dialog.setDefaultSuffix("wav")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(chosen.split("*.")[1].rstrip(")")))
        dialog.fileSelected.connect(lambda chosen: self.write(take, Path(chosen)))
        dialog.open()

    def write(self, take: Take, file: Path) -> None:
        self.desk.work.run(
            lambda: self.studio.save(take, file),
            lambda written: self.desk.say(tr("Saved as {file}.", file=written), level="ok"),
            lambda sentence: self.desk.say(sentence, level="error"),
        )

    # -- voices

    def new_voice(self) -> None:
        if self.pane.model_box.name and not self.pane.offer.clones:
            self.desk.say(
                tr("This model clones no voices. Choose one that does, Qwen3-TTS Base or Spark-TTS."), level="warning"
            )
            return
        self.pane.voice_panel.show()
        self.pane.voice_panel.name.setFocus()

    def hear_voice(self) -> None:
        if saved := self.pane.choice().saved:
            self.studio.hear_voice(saved)

    def drop_voice(self) -> None:
        if saved := self.pane.choice().saved:
            self.studio.drop_voice(saved)
