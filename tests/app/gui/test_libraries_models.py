"""Libraries in the window, without a widget: indexing, pausing, removing, and conversations that ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.gui.store import conversations, messages
from app.gui.store.database import purge, remove
from app.gui.store.messages import GivenPassage
from app.gui.viewmodels.chat.citations import with_citations
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.message_views import MessageViews
from app.gui.viewmodels.libraries import IndexedFolder, LibraryList, given
from app.gui.viewmodels.read import region_with
from app.runtime.library.folders import index_place
from app.runtime.library.together import OpenLibraries
from engine.pipelines.reading.results import Box, Element, Page
from tests.app.gui.media import AtOnce, Held
from tests.app.gui.test_chat_models import Bench
from tests.asserting import every
from tests.engine.media.test_documents import text_pdf


class LibrariesBench:
    """A list of libraries over a store, whose work is done at once, or step by step."""

    def __init__(self, folder: Path, hold: bool = False) -> None:
        self.bench, self.streams = Bench(folder / "data"), AtOnce(hold)
        self.data = folder / "data"
        self.open = OpenLibraries(self.data)
        runs: Any = self.streams
        self.list = LibraryList(self.bench.store, runs, runs, self.bench.say, self.open, self.data)

    def settle(self) -> None:
        self.bench.settle()

    @property
    def only(self) -> IndexedFolder:
        (item,) = self.list.items
        return item

    @property
    def running(self) -> Held:
        return self.streams.held[-1]


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.md").write_text("# Lease\n\nThe lease of the mill ends on 3 May 2031.")
    (folder / "pump.pdf").write_bytes(text_pdf("Contents of the manual", "The fuse is rated at 16 amperes."))
    return folder


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Callable[..., LibrariesBench]]:
    made: list[LibrariesBench] = []

    def make(hold: bool = False) -> LibrariesBench:
        (tmp_path / "data").mkdir(exist_ok=True)
        made.append(LibrariesBench(tmp_path, hold))
        return made[-1]

    yield make
    for one in made:
        one.open.close()
        one.bench.store.close()


def test_a_folder_is_indexed_and_searched(shelf: Callable[..., LibrariesBench], papers: Path) -> None:
    one = shelf()
    one.list.add([papers])
    one.settle()
    assert one.only.state == "done"
    assert one.only.status() == "2 documents · 3 pages"
    found: list[Any] = []
    one.list.search(one.only, "amperes of the fuse", found.extend)
    assert (given(found[0]).where, given(found[0]).file) == ("pump.pdf, page 2", str(papers / "pump.pdf"))
    one.list.add([papers / "lease.md"])  # a file of a folder that is there already
    one.settle()
    assert len(one.list.items) == 1
    restarted = shelf()
    restarted.list.look()
    restarted.settle()
    assert (restarted.only.state, restarted.only.status()) == ("done", "2 documents · 3 pages")


def test_changes_are_followed_without_a_word_where_there_are_none(
    shelf: Callable[..., LibrariesBench], papers: Path
) -> None:
    one = shelf(hold=True)
    one.list.add([papers])
    one.settle()
    one.running.finish()
    states: list[str] = []
    one.list.changed.connect(lambda item: states.append(item.status()))
    one.list.update_all()
    one.running.finish()
    assert set(states) == {"2 documents · 3 pages"}
    (papers / "new.txt").write_text("A crane.")
    one.list.update_all()
    one.running.finish()
    assert one.only.status() == "3 documents · 4 pages"


def test_indexing_is_paused_resumed_and_stopped(shelf: Callable[..., LibrariesBench], papers: Path) -> None:
    one = shelf(hold=True)
    one.list.add([papers])
    one.settle()
    assert (one.only.state, one.only.status()) == ("indexing", "Looking for documents")
    one.running.step()
    assert (one.only.state, one.only.share) == ("indexing", 0.5)
    one.list.pause(one.only)
    assert one.only.control.paused
    assert one.only.status() == "Paused after 1 of 2 files"
    one.list.resume(one.only)
    assert not one.only.control.paused
    assert one.list.cancel(one.only)
    assert one.only.status().endswith("Not complete")
    one.list.resume(one.only)
    one.running.finish()
    assert one.only.status() == "2 documents · 3 pages"


def test_a_second_folder_waits_for_the_first(
    shelf: Callable[..., LibrariesBench], papers: Path, tmp_path: Path
) -> None:
    (other := tmp_path / "other").mkdir()
    one = shelf(hold=True)
    one.list.add([papers, other])
    one.settle()
    second, first = one.list.items
    assert (first.state, second.state) == ("indexing", "waiting")
    one.running.finish()
    assert (first.state, second.state) == ("done", "indexing")
    one.running.finish()
    assert second.state == "done"


def test_documents_that_cannot_be_read_say_why(shelf: Callable[..., LibrariesBench], papers: Path) -> None:
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    one = shelf()
    one.list.add([papers])
    one.settle()
    ((name, why),) = one.only.counts.problems
    assert name == "broken.pdf"
    assert len(why) > 10
    assert one.only.status() == "3 documents · 3 pages · 1 not read"


def test_a_folder_that_is_gone_keeps_its_library(shelf: Callable[..., LibrariesBench], papers: Path) -> None:
    one = shelf()
    one.list.add([papers])
    one.settle()
    papers.rename(papers.with_name("away"))
    one.list.update(one.only)
    assert one.only.state == "failed"
    assert str(papers) in one.only.error
    assert one.open.find([papers], "lease") == []
    papers.with_name("away").rename(papers)
    one.list.resume(one.only)
    assert (one.only.state, one.only.error) == ("done", "")


def test_a_library_is_removed_with_an_undo_and_its_index_deleted_later(
    shelf: Callable[..., LibrariesBench], papers: Path
) -> None:
    one = shelf()
    one.list.add([papers])
    one.settle()
    index = index_place(papers, one.data)
    one.list.remove(one.only)
    sentence, undo = one.bench.said[-1]
    assert sentence == "“papers” was removed. The folder and its documents were not changed."
    undo[1]()
    one.settle()
    assert one.only.status() == "2 documents · 3 pages"
    assert index.exists()
    one.list.remove(one.only)
    one.settle()
    gone: list[Any] = []
    one.bench.store.ask(lambda db: purge(db, 9e12), gone.append)
    one.settle()
    remove(one.data, gone[0])
    assert not index.exists()
    assert every(path.exists() for path in (papers / "lease.md", papers / "pump.pdf"))


# -- conversations


@pytest.fixture
def bench(tmp_path: Path, papers: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    libraries = OpenLibraries(tmp_path)
    list(libraries.library(papers).update())
    find = lambda folders, question, service: [given(one) for one in libraries.find([*map(Path, folders)], question)]  # noqa: E731
    made.talk = OpenConversation(made.store, made.mouth, lambda seconds, run: made.later.append(run), made.say, find)
    made.talk.configure(model="tiny")
    yield made
    libraries.close()
    made.store.close()


def test_a_conversation_asks_its_libraries_and_keeps_what_was_found(bench: Bench, papers: Path) -> None:
    bench.talk.configure(libraries=(str(papers),))
    bench.talk.send("When does the lease end?")
    bench.settle()
    ask = bench.mouth.asked[-1]
    assert ask.passages is not None
    passages = ask.passages(None)  # type: ignore[arg-type]
    assert [one.text for one in passages] == ["The lease of the mill ends on 3 May 2031."]
    bench.mouth.listener.found(passages)
    bench.mouth.say("On 3 May 2031 [1].")
    bench.mouth.end()
    bench.settle()
    again = OpenConversation(bench.store, bench.mouth, lambda seconds, run: None, bench.say)
    again.open(bench.talk.id or 0)
    bench.settle()
    assert again.head.libraries == (str(papers),)
    assert again.path[-1].passages == tuple(passages)
    views = MessageViews().of(again.path[-1], 1, 1)
    assert [view.kind for view in views] == ["prose", "sources", "footer"]
    assert views[1].passages[0].where == "lease.md, Lease"
    copies: list[int] = []
    bench.store.ask(lambda db: conversations.duplicate(db, bench.talk.id or 0, "Copy"), copies.append)
    bench.settle()
    heads: list[Any] = []
    bench.store.ask(lambda db: (conversations.head(db, copies[0]), messages.all_of(db, copies[0])), heads.append)
    bench.settle()
    head, copied = heads[0]
    assert (head.libraries, copied[-1].passages) == ((str(papers),), tuple(passages))


def test_without_a_library_nothing_is_searched(bench: Bench, papers: Path) -> None:
    bench.talk.send("When does the lease end?")
    bench.settle()
    assert bench.mouth.asked[-1].passages is None
    bench.mouth.say("No idea.")
    bench.mouth.end()
    bench.settle()
    bench.talk.configure(libraries=(str(papers),))
    bench.talk.configure(libraries=())
    bench.talk.regenerate(bench.talk.path[-1].id)
    bench.settle()
    assert bench.mouth.asked[-1].passages is None


def test_a_reply_that_goes_on_has_its_passages_already(bench: Bench, papers: Path) -> None:
    bench.talk.configure(libraries=(str(papers),))
    bench.talk.send("When does the lease end?")
    bench.settle()
    passage = GivenPassage("a.md", "a.md", 1, "part", "text")
    bench.mouth.listener.found([passage])
    bench.mouth.say("On")
    bench.mouth.end("length")
    bench.settle()
    bench.talk.go_on(bench.talk.path[-1].id)
    asked = bench.mouth.asked[-1].passages
    assert asked is not None
    assert list(asked(None)) == [passage]  # type: ignore[arg-type]


def test_citations_become_links_outside_of_code() -> None:
    html = '<p>So [1], [3] and <code>a[1]</code>, <a href="x">[1]</a>, <img alt="[1]"></p>'
    assert with_citations(html, 2) == (
        '<p>So <a href="passage:1">[1]</a>, [3] and <code>a[1]</code>, <a href="x">[1]</a>, <img alt="[1]"></p>'
    )
    assert with_citations(html, 0) == html


def test_a_passage_is_found_on_its_page() -> None:
    texts = ("Mill", "Contents", "The lease of the mill ends.", "The rent is 410 crowns.")
    box = Box(0, 0, 0, 0)
    page = Page(
        1, 0, 0, tuple(Element("heading" if at == 0 else "text", box, at, text) for at, text in enumerate(texts))
    )
    assert region_with(page, "The lease of the mill ends.\nThe rent is 410 crowns.") == 2
    assert region_with(page, "The rent is 410 crowns.") == 3
    assert region_with(page, "Contents") == 1
    assert region_with(page, "Something else entirely") is None
