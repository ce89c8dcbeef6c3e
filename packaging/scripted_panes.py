"""What panes show in the pictures of `screenshots.py`: files, servers, facts and sign-ins that are scripted."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any


def spin(app: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.005)


def until(app: Any, condition: Callable[[], Any], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("screenshots: the window did not come to where the picture is taken")
        spin(app, 0.02)


def libraries(app: Any, window: Any) -> None:
    """A folder of two documents and one that cannot be read, and a search in it."""
    pane = window.open_pane("libraries")
    folder = window.context.places.data.parent / "House and garden"
    folder.mkdir(exist_ok=True)
    (folder / "lease.md").write_text(
        "# Lease\n\nThe lease of the mill ends on 3 May 2031. It is renewed in writing.\n\n# Rent\n\nThe rent is 410 crowns a month."
    )
    (folder / "birds.txt").write_text("Cranes migrate in autumn. They rest on the meadows behind the mill.")
    (folder / "old scan.pdf").write_bytes(b"%PDF-1.7")
    pane.results.add([folder])
    until(app, lambda: pane.results.items and pane.results.items[0].state == "done")
    pane.field.setText("lease of the mill")
    until(app, lambda: pane.found.count())


def models(app: Any, window: Any) -> None:
    """Recommended models for the machine that draws the picture."""
    pane = window.pane("models")
    until(app, lambda: pane.library.known and pane.machinery.machine)
    pane.turn_to(1)
    pane.choose("ggml-org/gpt-oss-20b-GGUF")


def server(app: Any, window: Any) -> None:
    """As it looks while programs use it."""
    from app.gui.viewmodels.server import LiveRequest

    pane = window.pane("server")
    until(app, lambda: pane.hosting.models)
    pane._timer.stop()
    hosting = pane.hosting
    hosting.state, hosting.address = "on", "http://127.0.0.1:8080"
    hosting.rates.extend([0.0] * 40 + [44 + 9 * math.sin(i / 5) + 4 * math.sin(i) for i in range(80)])
    hosting.requests = [LiveRequest("a", "Qwen3-0.6B", 3.4), LiveRequest("b", "Qwen3-0.6B", 0.8)]
    hosting.log.extend(f"10:42:{second:02}  POST /v1/chat/completions 200 {second / 10:.1f}s" for second in (7, 19, 31))
    hosting.changed()
    hosting.moved()


def settings(app: Any, window: Any) -> None:
    """Folders and sizes are scripted; backend, device and memory are those of the machine that draws the picture."""
    pane = window.pane("settings")
    until(app, lambda: pane.privacy.stored[0].nbytes is not None and pane.computing._machinery.machine)
    home = Path("/home/robin/.local/share/Grus")
    sizes = (2_400_000, 18_000_000, 4_100_000, 3_000, 4_300_000_000, 12_600_000_000)
    paths = (home / "grus.sqlite3", home / "attachments", home, Path("/home/robin/.config/Grus/preferences.json"),
             Path("/home/robin/.cache/Grus/packed"), Path("/home/robin/.cache/huggingface/hub"))  # fmt: skip
    pane.privacy.stored = [
        replace(kept, path=path, nbytes=nbytes)
        for kept, path, nbytes in zip(pane.privacy.stored, paths, sizes, strict=True)
    ]
    pane.privacy.changed()


def tools(app: Any, window: Any) -> None:
    """A conversation with a call that was made and unfolded, and one that a person is asked about. The calls are scripted, too."""
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage, ToolUse

    asked = "How much is 17 % of the mill's rent a year? The lease says what it is a month."
    first = ToolUse(
        "read_file",
        '{"path": "lease.md"}',
        "1",
        "grus/read_file",
        "made",
        "# Rent\n\nThe rent is 410 crowns a month.",
        0,
        32,
    )
    second = ToolUse("calculator", '{"expression": "410 * 12 * 0.17"}', "2", "grus/calculator", "", "", 1, 73)
    text = "I look the rent up in the lease.\n\nIt is 410 crowns a month. I compute."

    def fill(db: Any) -> int:
        id = conversations.create(db, "Qwen3-0.6B", title="Rent of the mill", tools=("read_file", "calculator"))
        question = messages.add(db, id, StoredMessage(0, None, "user", asked))
        messages.add(
            db, id, StoredMessage(0, question.id, "assistant", text, calls=(first, second), model="Qwen3-0.6B")
        )
        return id

    pane = _opened(app, window, fill)
    pane.views.unfolded_calls.add((pane.talk.path[1].id, 0))
    _ask(app, pane, (first, second), "Computes an expression such as (3 + 4) * 2 ** 10 / sqrt(2).")


def web(app: Any, window: Any) -> None:
    """A page that is read, and a search of the web that a person is asked about. Nothing is searched or read."""
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage, ToolUse

    asked = "When do the cranes leave the lake this year?"
    text = "I search the web for this year's counts."
    search = ToolUse(
        "web_search", '{"query": "crane migration counts autumn lake"}', "1", "grus/web_search", at=len(text)
    )

    def fill(db: Any) -> int:
        id = conversations.create(db, "Qwen3-0.6B", title="Migration", tools=("web_search", "read_web_page"))
        question = messages.add(db, id, StoredMessage(0, None, "user", asked))
        messages.add(db, id, StoredMessage(0, question.id, "assistant", text, calls=(search,), model="Qwen3-0.6B"))
        return id

    _ask(app, _opened(app, window, fill), (search,), "Searches the web.", leaves_machine=True)


def _opened(app: Any, window: Any, fill: Callable[[Any], int]) -> Any:
    """The chat pane with the conversation that `fill` makes."""
    pane = window.open_pane("chat")
    id = window.context.store.ask(fill).result()
    pane.conversation_list.look()
    pane.open(id)
    until(app, lambda: pane.talk.id == id and len(pane.talk.path) > 1)
    spin(app, 0.6)
    return pane


def _ask(app: Any, pane: Any, calls: tuple[Any, ...], description: str, leaves_machine: bool = False) -> None:
    """The last of the calls waits for the person."""
    from app.gui.viewmodels.chat.reply_stream import ReplyStream
    from app.runtime.tools.permissions import PermissionRequest
    from app.window_reply import PermissionQuestion

    shown = replace(pane.talk.path[1], calls=calls)
    reply = ReplyStream(shown, pane.talk._reply_changed, lambda message: None, lambda seconds, run: None, tools=True)
    reply._round = calls[-1].round
    pane.talk.reply = reply
    pane.talk.busy()
    arguments = json.loads(calls[-1].arguments)
    reply.called(PermissionQuestion(PermissionRequest(calls[-1].label, description, arguments, leaves_machine, True)))
    spin(app, 0.6)


def end_tools(window: Any) -> None:
    pane = window.pane("chat")
    pane.talk.reply = None
    pane.talk.busy()
    pane.begin()


def settings_of_tools(app: Any, window: Any) -> None:
    """The server is scripted: nothing is started for the picture."""
    from app.gui.viewmodels.tools import ListedTool, ServerEntry
    from app.runtime.tools.settings import ToolServer

    pane = window.pane("settings")
    listed = pane.tools.tools
    until(app, lambda: listed.builtin)
    found = (
        ListedTool("memory/search_nodes", "Searches the notes by a word.", "", "always"),
        ListedTool("memory/create_entities", "Adds notes.", "", "ask"),
        ListedTool("memory/delete_entities", "Deletes notes and what leads to them.", "", "never"),
    )
    server = ToolServer("memory", "npx", ("-y", "@modelcontextprotocol/server-memory"))
    calculator = next(entry for entry in listed.builtin if entry.name == "calculator")
    on = replace(calculator, on=True, tool=ListedTool("grus/calculator", "", "", "always"))
    listed.builtin = [on if entry.name == "calculator" else entry for entry in listed.builtin]
    listed.servers = [ServerEntry(server, found)]
    pane.tools._unfolded = {"memory"}
    listed.changed()
    spin(app, 0.4)
    pane.show_tools()
    spin(app, 0.3)


def settings_of_web(app: Any, window: Any) -> None:
    """The tools of the web, with the address of a search. Nothing is asked."""
    from PySide6.QtWidgets import QWidget

    from app.gui.viewmodels.tools import ListedTool

    pane = window.pane("settings")
    listed = pane.tools.tools
    before = listed.builtin
    on = {"web_search": ("http://127.0.0.1:8888",), "read_web_page": ()}
    listed.builtin = [
        replace(entry, on=True, folders=on[entry.name], tool=ListedTool(f"grus/{entry.name}", "", "", "ask"))
        if entry.name in on
        else entry
        for entry in before
    ]
    listed.changed()
    spin(app, 0.4)
    first = pane.tools.findChild(QWidget, "tool.search_documents")
    pane.area.verticalScrollBar().setValue(first.mapTo(pane.area.widget(), first.rect().topLeft()).y() - 24)
    spin(app, 0.3)


def settings_of_memory(app: Any, window: Any) -> None:
    """The facts are scripted."""
    from app.gui.store import conversations, memories

    def fill(db: Any) -> None:
        talk = conversations.listed(db)[0].id
        for fact, source in (
            ("I live near a marsh.", None),
            ("I am vegetarian.", talk),
            ("My telescope is an 80 mm one.", talk),
        ):
            memories.add(db, fact, source)

    pane = window.pane("settings")
    pane.context.store.ask(fill)
    pane.memories.memories.turn(True)
    pane.memories.memories.look()
    until(app, lambda: len(pane.memories.memories.facts) == 3)
    spin(app, 0.3)
    pane.area.verticalScrollBar().setValue(pane.memories.y())
    spin(app, 0.3)


def settings_of_sign_in(app: Any, window: Any) -> None:
    """A server that waits for the person's browser. It is scripted: nobody is asked."""
    from app.gui.viewmodels.tools import ServerEntry
    from app.runtime.tools.settings import ToolServer

    pane = window.pane("settings")
    listed = pane.tools.tools
    server = ToolServer("notes", url="https://notes.example.org/mcp")
    address = "https://login.example.org/authorize?response_type=code"
    listed.servers = [*listed.servers, ServerEntry(server, sign_in="open", address=address)]
    listed.changed()
    spin(app, 0.4)
    pane.area.verticalScrollBar().setValue(pane.tools.y() + pane.tools.height() - pane.area.height() + 40)
    spin(app, 0.3)


def resources(app: Any, window: Any) -> Any:
    """The dialog with what two servers have to read. It is scripted."""
    from app.gui.chat.server_items import ServerItemsDialog
    from app.gui.viewmodels.chat.server_items import ServerItems
    from app.runtime.tools.resources import ServerArgument, ServerResource

    pane = window.open_pane("chat")
    items = ServerItems("resource", window.context.work, lambda: window.context.core.tools, pane.draft)
    date = ServerArgument("date", "", True)
    items.items = [
        ServerResource("notes", "note://journal/{date}", "Journal", "What was written on a day.", "", (date,)),
        ServerResource("notes", "note://today", "Today", "What is to be done."),
        ServerResource("mill", "file:///mill/lease.pdf", "Lease", "The lease of the mill.", "application/pdf"),
    ]
    dialog = ServerItemsDialog(pane, items)
    dialog.open()
    dialog.fields["date"].setText("2026-03-21")
    return dialog


def audiobook(app: Any, window: Any) -> None:
    """The form for an audiobook, one of whose chapters is left out. The book is scripted."""
    from PySide6.QtCore import Qt

    from tests.books import epub

    words = {"Before dawn": 3, "The dance": 9, "Winter in the south": 6, "Index of places": 1}
    sentence = "The cranes sleep in shallow water, where no fox comes unheard. "
    parts = [(title, [sentence * 4] * count) for title, count in words.items()]
    pane = window.open_pane("speak")
    pane.take([epub(window.context.places.data.parent / "cranes.epub", parts)])
    until(app, pane.book_panel.isVisible)
    pane.book_panel.chapters.item(len(parts) - 1).setCheckState(Qt.CheckState.Unchecked)
    spin(app, 0.3)


def watched_folder(app: Any, window: Any) -> None:
    """A watched folder with two files that were read. The folder is scripted: none is looked at."""
    from app.gui.viewmodels.read_watch import FOLDER, WatchedResult

    pane = window.open_pane("read")
    window.context.preferences.put(FOLDER, "/home/robin/Scans")
    watch = pane.watch.watch
    watch.on, watch.done = True, [WatchedResult("Lease.pdf"), WatchedResult("Letter.png")]
    watch.changed()
    spin(app, 0.3)


def settings_of_compute(app: Any, window: Any) -> None:
    """With the section that a machine with an NVIDIA GPU has. The GPU and the download are scripted."""
    from app.cuda_pack import CudaPack
    from app.updates import ReleaseFile

    pane = window.pane("settings")
    context = window.context
    context.cuda_pack.pack = CudaPack("1", (ReleaseFile("", "", 2_100_000_000),))
    context.cuda_pack.changed()
    pane.cuda_pack.show()
    spin(app, 0.3)
    pane.area.verticalScrollBar().setValue(
        pane.replicas.mapTo(pane.area.widget(), pane.replicas.rect().topLeft()).y() - 120
    )
    spin(app, 0.3)


def settings_to_the_end(app: Any, window: Any) -> None:
    bar = window.pane("settings").area.verticalScrollBar()
    bar.setValue(bar.maximum())
    spin(app, 0.3)


def project(app: Any, window: Any) -> Any:
    """A conversation in a project, and the dialog with the project's settings. What is in it is scripted."""
    from app.gui.chat.project_dialog import ProjectDialog
    from app.gui.store import conversations, messages, projects
    from app.gui.store.messages import Attachment, StoredMessage

    asked = "When do I have to say that we stay?"
    answered = "By **3 February 2031**, in writing: the lease ends on 3 May 2031, and three months' notice is given."
    lease = Attachment("lease.md", "text", "/home/robin/Papers/lease.md", 2140, "The lease ends on 3 May 2031.")
    plan = Attachment("Plan of the house.png", "image", "/home/robin/Papers/plan.png", 318_000)
    library = str(window.context.places.data.parent / "House and garden")
    values = {
        "system": "I rent an old mill, with a garden. Answer briefly, and name the document you rely on.",
        "model": "Qwen3-0.6B",
        "files": (lease, plan),
        "libraries": (library,),
        "tools": ("calculator", "date"),
    }

    def fill(db: Any) -> int:
        made = projects.create(db, "The mill")
        projects.configure(db, made, **values)
        for title in ("Rent for the next year", "Letter about the roof"):
            conversations.create(db, "Qwen3-0.6B", title=title, folder=made)
        id = conversations.create(db, "Qwen3-0.6B", title="End of the lease", folder=made)
        question = messages.add(db, id, StoredMessage(0, None, "user", asked))
        messages.add(db, id, StoredMessage(0, question.id, "assistant", answered, model="Qwen3-0.6B"))
        return id

    pane = _opened(app, window, fill)
    until(app, lambda: pane.talk.head.project is not None)
    pane.projects.show_own_settings()
    return window.findChild(ProjectDialog)


def compare(app: Any, window: Any) -> None:
    """The replies of two models to one message. They are scripted."""
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage

    asked = "Why do cranes stand on one leg?"
    replies = {
        "Qwen3-0.6B": "To **keep warm**. A bare leg loses heat to air and water; a leg drawn up into the feathers does not.\n\n"
        "- In the cold they stand so more often.\n- The legs take turns.",
        "gemma-3-1b-it": "Two reasons are given:\n\n1. *Warmth*: only one leg is bare.\n2. *Rest*: the joint locks, "
        "so that standing on one leg takes hardly any muscle.\n\nThe first was measured in several birds, the second in flamingos.",
    }  # fmt: skip

    def fill(db: Any) -> int:
        id = conversations.create(db, "Qwen3-0.6B", title="Cranes on one leg")
        question = messages.add(db, id, StoredMessage(0, None, "user", asked))
        for model, text in replies.items():
            messages.add(db, id, StoredMessage(0, question.id, "assistant", text, model=model))
        return id

    pane = _opened(app, window, fill)
    pane.stack.setCurrentWidget(pane.compare_view)  # replies grow in sight
    spin(app, 0.3)
    pane.comparison.shown = tuple(pane.talk.tree.siblings(pane.talk.path[-1].id))
    pane.comparison.changed()
    spin(app, 0.6)
    for column in pane.compare_view.columns.values():
        column.transcript.redraw()  # in the app a reply grows in sight, and is measured again
    spin(app, 0.3)


_CRANE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">
  <rect width="200" height="200" fill="{sky}"/>
  <circle cx="140" cy="60" r="26" fill="{sun}"/>
  <path d="M96 150 V188 M108 150 V188" stroke="#18181b" stroke-width="4"/>
  <ellipse cx="102" cy="132" rx="46" ry="22" fill="#f4f4f5"/>
  <path d="M64 122 C48 96 78 88 66 56" fill="none" stroke="#18181b" stroke-width="8"/>
  <circle cx="64" cy="52" r="9" fill="#c23b22"/>
  <path d="M56 54 L32 60 L58 60 Z" fill="#52525b"/>
</svg>"""
_COUNT = "place,morning,evening\nLake,212,340\nFields,40,12\nMarsh,96,131\nIsland,7,88"
_PAGE = """<!doctype html>
<h1>Count of the cranes</h1>
<button onclick="count.value++">One more</button>
<output id="count">0</output>"""
_BLOCKS = (
    ("Draw me a crane at dawn, as SVG.", "Here it is:", "svg", _CRANE.format(sky="#fde7d9", sun="#f59e0b")),
    ("At night, please.", "With the moon:", "svg", _CRANE.format(sky="#1e2a4a", sun="#e4e4e7")),
    ("And the count as a table?", "As CSV, from the notes:", "csv", _COUNT),
    ("Make a page with a button that counts.", "One file is enough:", "html", _PAGE),
)


def previews(app: Any, window: Any) -> Any:
    """`previews(app, window)(kind)` shows the last block of that kind beside a scripted conversation."""
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage
    from app.gui.viewmodels.chat.preview import blocks

    def fill(db: Any) -> int:
        id = conversations.create(db, "Qwen3-0.6B", title="Pictures of cranes")
        last = None
        for asked, said, language, text in _BLOCKS:
            last = messages.add(db, id, StoredMessage(0, last, "user", asked)).id
            reply = f"{said}\n\n```{language}\n{text}\n```\n"
            last = messages.add(db, id, StoredMessage(0, last, "assistant", reply, model="Qwen3-0.6B")).id
        return id

    pane = _opened(app, window, fill)

    def show(kind: str) -> None:
        block = [one for one in blocks(pane.talk.path) if one.kind == kind][-1]
        pane.preview.open(block.message, kind, block.text)
        spin(app, 1)
        pane.transcript.choose(block.message)
        pane.transcript.choose(None)
        spin(app, 0.6)

    return show
