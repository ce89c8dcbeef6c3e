"""The chat's view-models, without a widget and without Qt: a store, and an engine that a test speaks for."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest

from app.gui.store import conversations, messages, records
from app.gui.store.messages import Attachment, StoredMessage, ToolUse
from app.gui.store.worker import AppStore
from app.gui.viewmodels.chat import conversation, exchange
from app.gui.viewmodels.chat.conversation import MessageTree, OpenConversation
from app.gui.viewmodels.chat.conversation_list import ConversationList
from app.gui.viewmodels.chat.draft import MessageDraft, attach, attach_bytes
from app.gui.viewmodels.chat.message_views import MessageViews
from app.gui.viewmodels.sampling import reasoning, sampling
from app.runtime.chat import ReplyEvent
from app.runtime.tools.loop import ToolCallBegun, ToolCallEnded, ToolStep
from app.runtime.tools.permissions import PermissionAnswer, PermissionRequest
from app.window_reply import CallProgress, PermissionQuestion, ReplyListener, ReplyRequest, RoundBegan
from engine.errors import BadRequest
from engine.types import Timings
from tests.app.gui.media import AtOnce
from tests.engine.media.test_documents import text_pdf

DOCUMENTS = Path(__file__).resolve().parents[2] / "data" / "documents"


class SpeechQueue:
    """Where replies are asked for; the test says what comes."""

    def __init__(self) -> None:
        self.asked: list[ReplyRequest] = []
        self.listener: Any = None
        self.cancelled = 0

    def reply(self, ask: ReplyRequest, listener: ReplyListener) -> Any:
        self.asked.append(ask)
        self.listener = listener
        return self

    def cancel(self) -> None:
        self.cancelled += 1
        self.listener.ended("cancelled", Timings())

    def say(self, text: str, kind: Any = "answer") -> None:
        self.listener.parts([ReplyEvent(0, kind, text)])

    def end(self, reason: Any = "stop") -> None:
        self.listener.ended(reason, Timings(total=2.0, first_token=0.5, prompt_tokens=9, output_tokens=4))


class Bench:
    """A talk with everything it needs; callbacks run when the test says so."""

    def __init__(self, folder: Path) -> None:
        self.posted: list[Callable[[], None]] = []
        self.store = AppStore(folder / "grus.sqlite3", self.posted.append)
        self.mouth = SpeechQueue()
        self.said: list[tuple[str, Any]] = []
        self.later: list[Callable[[], None]] = []
        self.talk = OpenConversation(self.store, self.mouth, lambda seconds, run: self.later.append(run), self.say)
        self.talk.configure(model="tiny")

    def say(self, sentence: str, level: str = "info", undo: Any = None) -> None:
        self.said.append((sentence, undo))

    def settle(self) -> None:
        for _ in range(6):
            self.store.wait()
            while self.posted:
                self.posted.pop(0)()

    def send(self, text: str, answer: str = "") -> None:
        assert self.talk.send(text)
        self.settle()
        if answer:
            self.mouth.say(answer)
            self.mouth.end()
            self.settle()

    @property
    def shown(self) -> list[str]:
        return [message.text for message in self.talk.path]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.store.close()


def test_a_message_is_sent_answered_and_kept(bench: Bench) -> None:
    bench.send("Hello", "Hi there.")
    assert bench.shown == ["Hello", "Hi there."]
    assert bench.mouth.asked[0].messages == [{"role": "user", "content": "Hello"}]
    id = bench.talk.id
    bench.talk.new()
    assert bench.shown == []
    bench.talk.open(id)
    bench.settle()
    assert bench.shown == ["Hello", "Hi there."]
    assert bench.talk.head.title == "Hello"
    assert bench.talk.path[-1].figures.output_tokens == 4


def test_messages_that_are_sent_while_a_reply_is_written_wait_for_its_end(bench: Bench) -> None:
    bench.send("First")
    bench.mouth.say("One")
    bench.send("Second")
    bench.send("Third")
    assert (bench.shown, len(bench.mouth.asked)) == (["First", "One", "Second", "Third"], 1)
    assert bench.talk.queued == [message.id for message in bench.talk.path[2:]]
    views = MessageViews().of(bench.talk.path[-1], 1, 1, "Queued.")
    assert (views[0].text, views[0].title) == ("Third", "Queued.")
    bench.mouth.end()
    bench.settle()
    assert (bench.talk.queued, len(bench.mouth.asked)) == ([], 2)
    said = [(message["role"], message["content"]) for message in bench.mouth.asked[1].messages]
    assert said == [("user", "First"), ("assistant", "One"), ("user", "Second\n\nThird")]
    bench.mouth.say("Two")
    bench.mouth.end()
    bench.settle()
    assert bench.shown == ["First", "One", "Second", "Third", "Two"]
    id = bench.talk.id
    bench.talk.new()
    assert id is not None
    bench.talk.open(id)
    bench.settle()
    assert bench.shown == ["First", "One", "Second", "Third", "Two"]


def test_a_message_that_waits_is_stored_and_another_conversation_is_not_mixed_in(bench: Bench) -> None:
    bench.send("First")
    bench.send("Waits")
    id = bench.talk.id
    assert id is not None
    bench.talk.new()
    assert not bench.talk.send("Elsewhere")  # one reply is written at a time
    assert "another conversation" in bench.said[-1][0]
    bench.mouth.say("One")
    bench.mouth.end()
    bench.settle()
    assert (len(bench.mouth.asked), bench.talk.queued) == (1, [])
    bench.talk.open(id)
    bench.settle()
    assert bench.shown == ["First", "One", "Waits"]
    bench.talk.regenerate(bench.talk.path[-1].id)
    bench.settle()
    assert len(bench.mouth.asked) == 2


def test_what_is_typed_before_the_store_answers_stands_behind_the_stored_draft(bench: Bench, tmp_path: Path) -> None:
    bench.store.ask(lambda db: records.keep_draft(db, "new", "stored, "))
    draft = MessageDraft(bench.store, AtOnce(), tmp_path)
    draft.open(None)
    draft.open(None)
    draft.type("typed")
    bench.settle()
    assert draft.text == "stored, typed"
    assert bench.store.ask(lambda db: records.draft(db, "new")).result().text == "stored, typed"
    draft.open(7)
    assert draft.text == ""
    draft.type("for seven")
    bench.settle()
    assert draft.text == "for seven"
    assert bench.store.ask(lambda db: records.draft(db, "new")).result().text == "stored, typed"


def test_the_whole_branch_and_the_system_prompt_reach_the_model(bench: Bench) -> None:
    bench.talk.configure(system="Be brief.", sampling={"temperature": 0.2, "thinking": False})
    bench.send("One", "Two")
    bench.send("Three", "Four")
    ask = bench.mouth.asked[1]
    assert [m["content"] for m in ask.messages] == ["Be brief.", "One", "Two", "Three"]
    assert (ask.sampling, ask.reasoning) == ({"temperature": 0.2}, {"thinking": False})


def test_without_a_model_it_is_said_what_to_do(bench: Bench) -> None:
    bench.talk.configure(model="")
    assert not bench.talk.send("Hello")
    assert "Choose a model" in bench.said[0][0]


def test_an_edited_message_is_a_version_beside_the_old_one(bench: Bench) -> None:
    bench.send("Old question", "Old answer")
    bench.talk.edit(bench.talk.path[0].id, "New question")
    bench.settle()
    bench.mouth.say("New answer")
    bench.mouth.end()
    bench.settle()
    assert bench.shown == ["New question", "New answer"]
    assert bench.talk.versions(bench.talk.path[0].id) == (2, 2)
    bench.talk.turn(bench.talk.path[0].id, -1)
    assert bench.shown == ["Old question", "Old answer"]
    bench.settle()
    id = bench.talk.id
    bench.talk.new()
    bench.talk.open(id)
    bench.settle()
    assert bench.shown == ["Old question", "Old answer"]  # which branch is shown is kept too


def test_answering_again_keeps_the_first_answer(bench: Bench) -> None:
    bench.send("Q", "First")
    bench.talk.regenerate(bench.talk.path[-1].id)
    bench.settle()
    assert bench.mouth.asked[1].messages == [{"role": "user", "content": "Q"}]
    bench.mouth.say("Second")
    bench.mouth.end()
    assert bench.shown == ["Q", "Second"]
    assert bench.talk.versions(bench.talk.path[-1].id) == (2, 2)


def test_stopping_keeps_what_came_and_continuing_goes_on(bench: Bench) -> None:
    bench.send("Count")
    bench.mouth.say("one two")
    assert bench.talk.stop()
    assert bench.talk.path[-1].state == "stopped"
    assert not bench.talk.stop()
    bench.talk.go_on(bench.talk.path[-1].id)
    assert bench.mouth.asked[-1].continue_last
    assert bench.mouth.asked[-1].messages[-1] == {"role": "assistant", "content": "one two"}
    bench.mouth.say(" three")
    bench.mouth.end()
    assert bench.shown == ["Count", "one two three"]


def test_a_reply_that_streams_is_on_disk_within_the_second(bench: Bench) -> None:
    bench.send("Tell")
    bench.mouth.say("half of")
    assert len(bench.later) == 1  # one save is due
    bench.mouth.say(" it")
    assert len(bench.later) == 1
    bench.later.pop()()
    bench.store.wait()
    kept = bench.store.ask(lambda db: messages.all_of(db, bench.talk.id)).result()
    assert (kept[-1].text, kept[-1].state) == ("half of it", "writing")


def test_a_failure_is_told_under_the_message_and_can_be_tried_again(bench: Bench) -> None:
    bench.send("Q")
    bench.mouth.listener.failed("The model is too large for this machine.")
    row = MessageViews().of(bench.talk.path[-1], 1, 1)[-1]
    assert (row.text, row.level) == ("The model is too large for this machine.", "error")
    assert "regenerate" in row.can
    assert not bench.talk.writing


def test_thoughts_calls_and_words_are_told_apart(bench: Bench) -> None:
    bench.send("Weather?")
    bench.mouth.say("Let me see", "reasoning")
    bench.mouth.listener.parts(
        [ReplyEvent(0, "call", name="weather", call_id="c"), ReplyEvent(0, "arguments", '{"city":"Bonn"}')]
    )
    bench.mouth.end()
    message = bench.talk.path[-1]
    assert (message.reasoning, message.calls[0].arguments) == ("Let me see", '{"city":"Bonn"}')
    rows = MessageViews()
    assert [row.kind for row in rows.of(message, 1, 1)] == ["reasoning", "call", "footer"]
    assert rows.of(message, 1, 1)[0].text == ""  # folded
    rows.unfolded.add(message.id)
    assert rows.of(message, 1, 1)[0].text == "Let me see"
    bench.talk.answer_call(message.id, "sunny")
    bench.settle()
    assert [m["role"] for m in bench.mouth.asked[-1].messages] == ["user", "assistant", "tool"]


def test_a_deleted_message_comes_back_with_undo(bench: Bench) -> None:
    bench.send("A", "B")
    bench.send("C", "D")
    bench.talk.remove(bench.talk.path[2].id)
    bench.settle()
    assert bench.shown == ["A", "B"]
    bench.said[-1][1][1]()
    bench.settle()
    assert bench.shown == ["A", "B", "C", "D"]


def test_leaving_a_conversation_does_not_stop_its_reply(bench: Bench) -> None:
    bench.send("Long story")
    id = bench.talk.id
    bench.mouth.say("Once ")
    bench.talk.new()
    bench.mouth.say("upon a time")
    assert bench.shown == []
    bench.talk.open(id)
    bench.settle()
    assert bench.shown == ["Long story", "Once upon a time"]
    bench.mouth.end()
    assert bench.talk.path[-1].state == "done"


# -- the list


def conversation_list(bench: Bench, today: datetime.date | None = None) -> ConversationList:
    made = ConversationList(bench.store, bench.say, lambda: today or datetime.date.today())
    made.look()
    bench.settle()
    return made


def titles(made: ConversationList) -> list[str]:
    return [line.title for line in made.lines]


def test_the_list_has_sections(bench: Bench) -> None:
    ids = [bench.store.ask(lambda db, t=t: conversations.create(db, title=t)).result() for t in ("a", "b", "c")]
    made = conversation_list(bench)
    assert titles(made) == ["Today", "c", "b", "a"]
    made.pin(ids[0], True)
    made.add_project("Work", lambda project: None, ids[1])
    bench.settle()
    assert titles(made) == ["Pinned", "a", "Work", "b", "Today", "c"]
    later = conversation_list(bench, datetime.date.today() + datetime.timedelta(days=1))
    assert titles(later)[-2:] == ["Yesterday", "c"]


def test_search_rename_duplicate_delete_and_take_back(bench: Bench) -> None:
    bench.send("Where do cranes sleep?", "In shallow water.")
    made = conversation_list(bench)
    id = bench.talk.id
    made.search("SHALLOW")
    bench.settle()
    assert made.lines[1].conversation.found == "In shallow water."
    made.search("")
    made.rename(id, "  Cranes \n at night ")
    bench.settle()
    assert titles(made) == ["Today", "Cranes at night"]
    made.duplicate(id)
    bench.settle()
    assert titles(made) == ["Today", "Cranes at night (copy)", "Cranes at night"]
    made.delete(id)
    bench.settle()
    assert titles(made) == ["Today", "Cranes at night (copy)"]
    bench.said[-1][1][1]()
    bench.settle()
    assert "Cranes at night" in titles(made)


# -- out and in


def test_json_brings_back_every_branch(bench: Bench) -> None:
    bench.send("Q", "First")
    bench.talk.regenerate(bench.talk.path[-1].id)
    bench.settle()
    bench.mouth.say("Second")
    bench.mouth.end()
    every = [bench.talk.tree[id] for id in (1, 2, 3)]
    head, found = exchange.read_json(exchange.as_json(bench.talk.head, every))
    assert found == every
    assert (head.title, head.model) == ("Q", "tiny")
    id = bench.store.ask(lambda db: conversations.create(db, title="In")).result()
    bench.store.ask(lambda db: messages.add_all(db, id, found)).result()
    copied = bench.store.ask(lambda db: messages.all_of(db, id)).result()
    assert [m.text for m in copied] == ["Q", "First", "Second"]
    assert MessageTree(copied).siblings(copied[1].id) == (copied[1].id, copied[2].id)


def test_plain_messages_of_other_programs_are_taken() -> None:
    text = json.dumps(
        [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    )
    head, found = exchange.read_json(text)
    assert (head.system, head.title, found[0].text) == ("S", "Hi", "Hi")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("no json", "not JSON"),
        ('{"a": 1}', "no list of messages"),
        ('{"messages": [{"role": "user"}]}', "incomplete"),
        ('{"format": "grus-conversation", "version": 99, "messages": []}', "newer"),
    ],
)
def test_what_cannot_be_imported_is_said_plainly(text: str, word: str) -> None:
    with pytest.raises(BadRequest, match=word):
        exchange.read_json(text)


def test_markdown_holds_what_was_said(bench: Bench) -> None:
    bench.talk.configure(system="Be kind.")
    bench.send("Q", "**A**")
    made = exchange.as_markdown(bench.talk.head, bench.talk.path)
    assert made == "# Q\n\n> Be kind.\n\n## You\n\nQ\n\n## tiny\n\n**A**\n"
    assert "<strong>A</strong>" in exchange.as_html(bench.talk.head, bench.talk.path)


# -- files


def test_a_text_file_reaches_the_model_as_words(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Notes", encoding="utf-8")
    made = attach(file, tmp_path / "kept")
    file.unlink()
    assert Path(made.path).read_text() == "# Notes"
    said = StoredMessage(1, None, "user", "Sum up.", attachments=(made,))
    content = conversation.for_model("", [said])[0]["content"]
    assert content == '<file name="notes.md">\n# Notes\n</file>\n\nSum up.'


def test_an_office_file_reaches_the_model_as_markdown(tmp_path: Path) -> None:
    deck = attach(DOCUMENTS / "python-pptx.pptx", tmp_path)
    assert (deck.kind, deck.pages) == ("text", 2)
    assert deck.text.startswith("# Cranes of the North\n\n## A survey\n\n# What cranes do\n\n- They dance")
    assert "| Müritz | 412 |" in deck.text
    with pytest.raises(BadRequest, match=r"x\.docx cannot be opened\. The file is damaged"):
        attach_bytes("x.docx", b"PK\x03\x04", tmp_path)
    with pytest.raises(BadRequest, match=r"x\.odt cannot be opened: the file is damaged"):
        attach_bytes("x.odt", b"no zip", tmp_path)


def test_a_picture_is_a_part_of_its_own() -> None:
    said = StoredMessage(1, None, "user", "What is it?", attachments=(Attachment("a.png", "image", "/a.png"),))
    parts = conversation.for_model("", [said])[0]["content"]
    assert [part["type"] for part in parts] == ["image", "text"]


def test_files_that_cannot_be_read_are_told_in_plain_words(tmp_path: Path) -> None:
    for name, data, word in (
        ("x.bin", b"\0\1\2", "not supported"),
        ("x.png", b"no picture", "damaged"),
        ("x.pdf", b"no pdf", "damaged"),
    ):
        with pytest.raises(BadRequest, match=word):
            attach_bytes(name, data, tmp_path)
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(text_pdf("Secret words here")))
    writer.encrypt("sesame", algorithm="RC4-128")
    writer.write(locked := io.BytesIO())
    with pytest.raises(BadRequest, match=r"x\.pdf is password-protected"):
        attach_bytes("x.pdf", locked.getvalue(), tmp_path)
    with pytest.raises(BadRequest, match="not folders"):
        attach(tmp_path, tmp_path)


def test_only_known_sampling_reaches_the_engine() -> None:
    chosen = {"temperature": 0.0, "thinking": True, "top_k": None, "reasoning_tokens": 64}
    assert sampling(chosen) == {"temperature": 0.0}
    assert reasoning(chosen) == {"thinking": True, "reasoning_tokens": 64}
    assert reasoning({"thinking": "low", "reasoning_tokens": None}) == {"effort": "low"}
    assert reasoning({"thinking": "colossal"}) == {}


def test_a_reply_without_words_is_left_out_of_the_prompt() -> None:
    failed = StoredMessage(2, 1, "assistant", "", state="failed")
    assert len(conversation.for_model(" ", [StoredMessage(1, None, "user", "Q"), failed])) == 1
    assert len(conversation.for_model("", [replace(failed, text="A")])) == 1


def test_what_was_said_around_a_stopped_reply_is_one_message() -> None:
    path = [
        StoredMessage(1, None, "user", "Q"),
        StoredMessage(2, 1, "assistant", "", state="stopped"),
        StoredMessage(3, 2, "user", "And?"),
    ]
    assert conversation.for_model("", path) == [{"role": "user", "content": "Q\n\nAnd?"}]
    seen = replace(path[2], attachments=(Attachment("a.png", "image", "/a.png"),))
    said = conversation.for_model("", [*path[:2], seen])
    assert [part["type"] for part in said[0]["content"]] == ["text", "image", "text"]
    assert len(said) == 1


def test_a_reply_with_calls_asks_shows_stops_and_is_continued(bench: Bench) -> None:
    def called(name: str, outcome: Any = None, result: str = "") -> None:
        begun = ToolCallBegun("c", name, {"a": 1})
        ended = ToolCallEnded("c", ToolStep(name, {"a": 1}, result, outcome or "made"))
        bench.mouth.listener.called(CallProgress("grus/calculator", begun if outcome is None else ended))

    def asks(id: str) -> None:
        parts = [ReplyEvent(0, "call", name="calculator", call_id=id), ReplyEvent(0, "arguments", '{"a": 0}')]
        bench.mouth.listener.parts(parts)

    bench.talk.configure(tools=("calculator",))
    bench.send("Compute")
    assert (bench.mouth.asked[0].tools, bench.mouth.asked[0].granted) == (("calculator",), set())
    bench.mouth.say("First.")
    asks("1")
    question = PermissionQuestion(PermissionRequest("grus/calculator", "", {"a": 0}, False, True))
    bench.mouth.listener.called(question)
    rows = MessageViews()

    def call_rows() -> list[Any]:
        asked = bench.talk.reply.question.request if bench.talk.reply and bench.talk.reply.question else None
        return [row for row in rows.of(bench.talk.path[-1], 1, 1, question=asked) if row.kind == "call"]

    (row,) = call_rows()
    assert (row.title, row.question, row.call.outcome) == ("Allow Calculator?", question.request, "asked")
    bench.talk.answer_permission(bench.talk.path[-1].id, PermissionAnswer(True, arguments={"a": 1}))
    assert question.answer.result(0).arguments == {"a": 1}
    called("calculator")
    assert [row.title for row in call_rows()] == ["Calculator is running."]
    called("calculator", "made", "one")
    bench.mouth.listener.called(RoundBegan())
    bench.mouth.say("Then.")
    asks("2")
    called("calculator")
    bench.talk.stop()
    bench.settle()
    message = bench.talk.path[-1]
    assert [(call.outcome, call.round, call.at) for call in message.calls] == [("made", 0, 6), ("stopped", 1, 13)]
    assert (message.text, message.state) == ("First.\n\nThen.", "stopped")
    assert [row.kind for row in rows.of(message, 1, 1)] == ["prose", "call", "prose", "call", "footer"]
    bench.talk.go_on(message.id)
    ask = bench.mouth.asked[-1]
    assert not ask.continue_last  # the model reads what the tools returned
    assert [m["role"] for m in ask.messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [m["content"] for m in ask.messages[1::2]] == ["First.", "Then."]
    assert ask.messages[1]["tool_calls"][0]["function"] == {"name": "calculator", "arguments": '{"a": 1}'}
    assert ask.messages[2]["content"].endswith("allows nothing.]\none")
    assert ask.messages[4]["content"] == "The person stopped this call."
    bench.mouth.say("Now I know.")
    bench.mouth.end()
    bench.settle()
    assert bench.talk.path[-1].text == "First.\n\nThen.\n\nNow I know."
    id = bench.talk.id
    bench.talk.new()
    assert bench.talk.head.tools == ()
    bench.talk.open(id)
    bench.settle()
    assert (bench.talk.head.tools, bench.talk.path[-1].calls[0].result) == (("calculator",), "one")
    # what is allowed for this conversation holds while the window is open
    bench.mouth.asked[0].granted.add("grus/calculator")
    bench.send("Again")
    assert bench.mouth.asked[-1].granted == {"grus/calculator"}
    bench.mouth.end()
    bench.talk.new()
    bench.send("Elsewhere")
    assert bench.mouth.asked[-1].granted == set()


def test_a_process_that_was_killed_leaves_no_call_that_runs(bench: Bench) -> None:
    def fill(db: Any) -> int:
        id = conversations.create(db, "tiny")
        calls = (ToolUse("date", "{}", "1", "grus/date", "running"),)
        messages.add(db, id, StoredMessage(0, None, "assistant", "", calls=calls, state="writing"))
        messages.settle(db)
        return id

    bench.talk.open(bench.store.ask(fill).result())
    bench.settle()
    assert bench.talk.path[0].calls[0].outcome == "stopped"
