"""Editing a transcript in Listen: words that are clicked, merging, splitting, replacing, and the history that undoes all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from app.gui.listen.pane import ListenPane
from app.gui.listen.segment_table import TEXT
from app.gui.viewmodels.transcript_edits import SegmentHistory, merged, parted, rewritten, word_at
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord, placed_words
from tests.app.gui.conftest import Opened
from tests.app.gui.test_listen_pane import LEFT, Device, ears, transcribed  # noqa: F401
from tests.app.gui.test_listen_pane import pane as listening  # noqa: F401

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
TIMED = TranscriptSegment(
    1.0, 3.0, "The crane bows.", 0.5,
    (TranscriptWord("The", 1.0, 1.2), TranscriptWord("crane", 1.2, 2.5), TranscriptWord("bows.", 2.5, 3.0)), True,
)  # fmt: skip
PLAIN = TranscriptSegment(3.0, 5.0, "It dances")


def times(segment: TranscriptSegment) -> list[tuple[str, float, float]]:
    return [(one.word.text, one.word.start, one.word.end) for one in placed_words(segment)]


def test_a_word_has_the_model_s_time_or_its_share_of_the_letters() -> None:
    assert times(TIMED) == [("The", 1.0, 1.2), ("crane", 1.2, 2.5), ("bows.", 2.5, 3.0)]
    assert times(PLAIN) == [("It", 3.0, 3.5), ("dances", 3.5, 5.0)]
    assert [word and word.text for word in (word_at(PLAIN, at) for at in (0, 2, 3, 8, 9))] == [
        "It", None, "dances", "dances", None,
    ]  # fmt: skip
    assert times(TranscriptSegment(0.0, 1.0, "")) == []


def test_another_spelling_keeps_the_times_of_the_words_and_other_words_do_not() -> None:
    spelled = rewritten(TIMED, "The Crane bows!")
    assert [(word.text, word.start) for word in spelled.words] == [("The", 1.0), ("Crane", 1.2), ("bows!", 2.5)]
    assert (spelled.doubtful, spelled.confidence) == (False, 1.0)
    assert rewritten(TIMED, "The cranes all bow.").words == ()


def test_merging_and_splitting_are_each_other_s_inverse() -> None:
    first, second = parted(TIMED, 5)  # type: ignore[misc]
    assert (first.text, first.start, first.end) == ("The", 1.0, 1.2)
    assert (second.text, second.start, second.end) == ("crane bows.", 1.2, 3.0)
    assert merged(first, second) == TIMED
    assert parted(TIMED, 0) is None
    assert parted(TIMED, 99) is None
    both = merged(TIMED, PLAIN)
    assert (both.text, both.start, both.end, both.words) == ("The crane bows. It dances", 1.0, 5.0, ())
    assert both.confidence == pytest.approx(0.75)


def test_what_is_appended_after_an_edit_outlives_its_undo() -> None:
    segments, history = [TIMED, PLAIN], SegmentHistory()
    history.change(segments, 0, 2, [merged(TIMED, PLAIN)])
    segments.append(PLAIN)
    assert (edit := history.undo(segments)) is not None
    assert (edit.at, segments) == (0, [TIMED, PLAIN, PLAIN])
    assert history.redo(segments) == edit
    assert segments == [merged(TIMED, PLAIN), PLAIN]
    assert history.undo(segments) == edit
    history.change(segments, 1, 1, [TIMED])
    assert history.redo(segments) is None  # another edit has taken its place


def texts(pane: ListenPane) -> list[str]:
    return [pane.table.item(row, TEXT).text() for row in range(pane.table.rowCount())]


def test_a_person_edits_a_transcript_by_mouse_and_keys(
    grus: Opened,
    listening: ListenPane,  # noqa: F811
    tmp_path: Path,
) -> None:
    pane = listening
    item: Any = transcribed(grus, pane, tmp_path / "talk.wav")
    counts = [(len(one.words), len(placed_words(one))) for one in item.segments]
    assert len(counts) == 2
    assert [given for given, _ in counts] == [placed for _, placed in counts]  # this model gives their times
    before, table = texts(pane), pane.table
    table.item(0, TEXT).setText("The crane dances, the crane bows.")
    grus.qtbot.mouseClick(table.viewport(), LEFT, pos=table.place_of(0, 5))  # in "crane"
    word, playback = placed_words(item.segments[0])[1].word, pane.player.playback
    assert (word.text, playback.playing) == ("crane", True)
    assert playback.position == pytest.approx(word.start, abs=0.01)
    playback.pause()
    # Shift+Enter splits at the cursor
    table.setCurrentCell(0, TEXT)
    table.editItem(table.item(0, TEXT))
    editor = table.viewport().findChild(QPlainTextEdit)
    cursor = editor.textCursor()
    cursor.setPosition(len("The crane dances, "))
    editor.setTextCursor(cursor)
    grus.qtbot.keyClick(editor, Qt.Key.Key_Return, SHIFT)
    assert texts(pane) == ["The crane dances,", "the crane bows.", before[1]]
    assert item.segments[1].start == item.segments[0].end
    # Ctrl+F finds and replaces, in one step
    grus.qtbot.keyClick(table, Qt.Key.Key_F, CTRL)
    grus.qtbot.keyClicks(pane.bar.field, "CRANE")
    assert pane.bar.count.text() == "in 2 segments"
    grus.qtbot.keyClick(pane.bar.field, Qt.Key.Key_Return)
    grus.qtbot.keyClick(pane.bar.field, Qt.Key.Key_Return)
    assert table.currentRow() == 1
    grus.qtbot.keyClicks(pane.bar.by, "stork")
    grus.qtbot.mouseClick(pane.bar.replace, LEFT)
    assert texts(pane)[:2] == ["The stork dances,", "the stork bows."]
    pane.bar.case.setChecked(True)
    assert (pane.bar.count.text(), pane.bar.next.isEnabled()) == ("in 0 segments", False)
    assert pane.stop()
    assert pane.bar.isHidden()
    # Ctrl+J merges, Ctrl+Z undoes all of it, Ctrl+Shift+Z brings one back
    table.setFocus()
    table.setCurrentCell(0, TEXT)
    grus.qtbot.keyClick(table, Qt.Key.Key_J, CTRL)
    assert texts(pane) == ["The stork dances, the stork bows.", before[1]]
    for _ in range(4):
        grus.qtbot.keyClick(table, Qt.Key.Key_Z, CTRL)
    assert texts(pane) == before
    assert not grus.context.actions["listen.undo"].isEnabled()
    grus.qtbot.keyClick(table, Qt.Key.Key_Z, CTRL | SHIFT)
    assert texts(pane) == ["The crane dances, the crane bows.", before[1]]
    grus.settle()
    kept = pane.results.from_record(pane.results.to_record(item))  # as the next start reads it
    assert [one.words for one in kept.segments] == [tuple(one.words) for one in item.segments]
    assert Device.opened
