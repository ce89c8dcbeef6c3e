"""The full-text search against questions as people ask them: among 300 generated documents, papers of a household, and Debian's documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.runtime.library.folders import FolderLibrary
from tests.app.library_corpus import make_corpus
from tests.app.library_questions import asked, copy_system_documents, is_found, make_papers


def _indexed(folder: Path) -> FolderLibrary:
    library = FolderLibrary(folder, folder.parent / "index.sqlite3")
    list(library.update())
    return library


def test_questions_about_papers_find_their_passages(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    assert make_papers(folder) >= 36
    questions = asked("questions.tsv")
    assert len(questions) >= 100
    library = _indexed(folder)
    missed = [question for question in questions if not is_found(question, library)]
    assert len(missed) <= 0.05 * len(questions), missed


@pytest.mark.slow
def test_papers_are_found_among_many_other_documents(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    make_papers(folder)
    make_corpus(folder / "generated")
    copy_system_documents(folder)
    library = _indexed(folder)
    missed = [question for question in asked("questions.tsv") if not is_found(question, library)]
    assert len(missed) <= 0.05 * len(asked("questions.tsv")), missed


@pytest.mark.slow
def test_questions_about_the_documentation_of_debian(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    folder.mkdir()
    there = copy_system_documents(folder)
    questions = [question for question in asked("debian.tsv") if question.file.startswith(tuple(there))]
    if len(questions) < 20:
        pytest.skip("Debian's packages git, valgrind and espeak-ng have not installed their documentation here")
    make_papers(folder / "papers")
    library = _indexed(folder)
    missed = [question for question in questions if not is_found(question, library)]
    assert len(missed) <= 0.05 * len(questions), missed
