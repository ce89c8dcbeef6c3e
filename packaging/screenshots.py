"""Pictures of every pane, light and dark, and of the first start, for `docs/images/`: made by `make screenshots`, off screen.

In the pictures of the panes the engine, the models, the conversations and the results are scripted, so that the same pictures come out
everywhere; their captions in README.md say so. The machine is the one that draws them: device and memory are never scripted. In
`guide-light` and `reader-light` nothing is: the Guide answers and the DocumentReader reads.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
os.environ["HF_HUB_OFFLINE"] = "0"  # else the modules of the tests set it, and Settings shows "Work offline"

IMAGES = ROOT / "docs" / "images"
SIZE = (1180, 780)

QUESTION = "How do I solve a quadratic equation? Show me in Python, too."
REPLY = r"""Every equation $ax^2 + bx + c = 0$ with $a \neq 0$ has the solutions

$$x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

The part under the root, $\Delta = b^2 - 4ac$, tells **how many** real ones there are:

| discriminant | real solutions |
|---|---:|
| $\Delta > 0$ | 2 |
| $\Delta = 0$ | 1 |
| $\Delta < 0$ | 0 |

```python
from math import sqrt

def solve(a: float, b: float, c: float) -> list[float]:
    delta = b * b - 4 * a * c
    if delta < 0:
        return []  # none that is real
    return sorted({(-b - sqrt(delta)) / (2 * a), (-b + sqrt(delta)) / (2 * a)})
```

`solve(1, -3, 2)` gives `[1.0, 2.0]`.
"""
OTHERS = (
    ("Packing list for three days in the marsh", "Take boots, a thermos, and the small telescope."),
    ("Rewrite this paragraph so that it is shorter", "The crane waits. Then it dances."),
    ("What does our lease say about pets?", "Section 9 allows one cat."),
    ("Names for a sourdough starter", "Doughlores, Clint Yeastwood, Bread Pitt."),
)


# models that the pictures need and that are not loaded: their panes name them
MODELS = {
    "PaddleOCR-VL": {"model_type": "paddleocr_vl", "vision_config": {}},
    "moonshine-base": {"model_type": "moonshine"},
    "Qwen3-TTS": {
        "model_type": "qwen3_tts",
        "tts_model_type": "custom_voice",
        "tts_model_size": "0b6",
        "talker_config": {"spk_id": {"vivian": 1}, "codec_language_id": {"english": 1, "german": 2}},
    },
}
COLUMNS = (
    ("Before dawn", (
        ("The cranes sleep in shallow water,", "where no fox comes unheard. One", "bird in each group keeps watch."),
        ("Long before the sun is up, the first", "call comes from the far side of the", "marsh, and a second answers it."),
        ("A pair calls together: she twice,", "he once, both with raised heads."),
    )),
    ("The dance", (
        ("It begins with a bow. Then one bird", "leaps, with open wings, and throws", "a stalk of grass into the air."),
        ("The young learn it from the old.", "They dance in winter, too, alone", "and in hundreds."),
        ("Nobody knows why.",),
    )),
)  # fmt: skip
SAID = (
    "Good morning. We begin with the count of the cranes.",
    "Two hundred and twelve were seen at the lake, and forty in the fields behind it.",
    "Who takes the early watch tomorrow?",
)
STORY = (
    "The crane stands in the marsh and waits for the first light. Then it spreads its wings, bows, and dances.\n\n"
    "Nobody knows why cranes dance. They do it in spring and in winter, alone and in hundreds."
)


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


def fill_chat(context: Any) -> None:
    """Some conversations, one of them open."""
    from app.gui.store import conversations, messages, projects
    from app.gui.store.messages import ReplyStatistics, StoredMessage

    def fill(db: Any) -> int:
        folder = projects.create(db, "Home")
        for i, (asked, answered) in enumerate(OTHERS):
            id = conversations.create(db, "Qwen3-0.6B", title=asked, folder=folder if i == 2 else None)
            first = messages.add(db, id, StoredMessage(0, None, "user", asked))
            messages.add(db, id, StoredMessage(0, first.id, "assistant", answered, model="Qwen3-0.6B"))
            conversations.pin(db, id, i == 0)
        id = conversations.create(db, "Qwen3-0.6B", title="Quadratic equations")
        asked_ = messages.add(db, id, StoredMessage(0, None, "user", QUESTION))
        thoughts = "The person wants the formula first, and then a short function. " * 4
        figures = ReplyStatistics(31, 0, 352, 0.19, 6.4, 56.7)
        messages.add(
            db, id, StoredMessage(0, asked_.id, "assistant", REPLY, thoughts, figures=figures, model="Qwen3-0.6B")
        )
        return id

    context.preferences.put("conversation", context.store.ask(fill).result())


def fill_media(context: Any, folder: Path) -> None:
    """A page that was read, a recording that was written down, a text that was spoken."""
    import soundfile

    from app.gui.store import records
    from app.gui.store.records import StoredResult
    from app.gui.viewmodels.read import ReadDocument, ReadSettings, to_result
    from engine.pipelines.reading.reader import DocumentReader
    from tests.engine.pipelines.listening.conftest import RATE, talk
    from tests.engine.pipelines.reading.fakes import Fake, by_colour
    from tests.engine.pipelines.reading.sheets import Sheet

    sheet = Sheet()
    sheet.line(100, 60, "Journal of Cranes", 20)
    sheet.line(100, 200, "Why cranes dance", 56)
    for x, (heading, paragraphs) in zip((100, 660), COLUMNS, strict=True):
        sheet.line(x, 320, heading, 34)
        y = 400
        for lines in paragraphs:
            y = sheet.paragraph(x, y, lines, 26) + 28
    sheet.line(600, 1690, "17", 20)
    page, sound = folder / "Journal of Cranes 17.png", folder / "Count at the lake.wav"
    sheet.image.save(page)
    soundfile.write(sound, talk(3), RATE)
    item = ReadDocument(page, page.name, ReadSettings(), state="done", numbers=(1,))
    for event in DocumentReader(Fake(by_colour(sheet.texts)), None).read([page]):
        if hasattr(event, "progress") and hasattr(event, "page"):
            item.read[event.page.number] = event.page
    said = [{"start": 0.8 + 2.2 * i, "end": 2.2 + 2.4 * i, "text": text} for i, text in enumerate(SAID)]
    choice = {"model": "Qwen3-TTS", "preset": "vivian"}
    context.store.ask(lambda db: records.add_result(db, to_result(item)))
    context.store.ask(
        lambda db: records.add_result(
            db, StoredResult(0, "listen", sound.name, str(sound), {"segments": said, "seconds": 7.7})
        )
    )
    spoken = {"text": STORY, "choice": choice, "seconds": 7.7}
    context.store.ask(
        lambda db: records.add_result(db, StoredResult(0, "speak", STORY[:48] + "…", "", spoken, str(sound)))
    )
    context.store.ask(lambda db: records.keep_draft(db, "speak", STORY)).result()


def prepared(app: Any, folder: Path, theme: str, language: str = "en") -> Any:
    from app.gui.preferences import Preferences, places_under
    from app.gui.store.worker import AppStore
    from app.main import Start, open_window
    from tests.app.gui.scripted import scripted_service

    os.environ["HF_HUB_CACHE"] = str(folder / "hub")
    places = places_under(folder / "grus").make()
    preferences = Preferences(places.preferences)
    preferences.put("appearance", theme)
    preferences.put("language", language)
    store = AppStore(places.database)

    class Kept:
        pass

    kept: Any = Kept()
    kept.store, kept.preferences = store, preferences
    fill_chat(kept)
    fill_media(kept, folder)
    store.close()
    service, _ = scripted_service(folder / "models", ("Qwen3-0.6B",))
    for name, config in MODELS.items():
        (folder / "models" / name).mkdir()
        (folder / "models" / name / "config.json").write_text(json.dumps(config))
    service.catalogue.named = {**service.catalogue.named, **{name: str(folder / "models" / name) for name in MODELS}}
    window = open_window(app, Start(), places, lambda: service)
    window.resize(*SIZE)
    until(app, lambda: window.context.core.state.phase == "ready")
    return window


def chat(app: Any, window: Any) -> None:
    pane = window.open_pane("chat")
    until(app, lambda: pane.transcript.views)
    until(app, lambda: not any(view.waiting for view in pane.transcript.widgets.values()))
    spin(app, 0.6)
    pane.transcript.verticalScrollBar().setValue(0)
    spin(app, 0.3)


def talk(app: Any, window: Any) -> None:
    """While a person asks something aloud."""
    chat(app, window)
    bar = window.pane("chat").talk_bar
    bar.handsfree.saying = "And what if the part under the root is"
    bar.handsfree._turn("listening")
    for i in range(40):
        bar.meter.show_level(abs(math.sin(i / 4.6)) * (0.4 + 0.6 * abs(math.sin(i / 14))))


def end_talk(window: Any) -> None:
    window.pane("chat").talk_bar.end()


def settings_of_chat(app: Any, window: Any) -> None:
    chat(app, window)
    pane = window.pane("chat")
    if pane.panel.isHidden():
        pane.toggle_panel()
    spin(app, 0.6)


def close_settings(window: Any) -> None:
    pane = window.pane("chat")
    if not pane.panel.isHidden():
        pane.toggle_panel()


def media_in_use(window: Any, name: str) -> None:
    pane = window.pane(name)
    if name == "read":
        for _ in range(3):
            pane.blocks.step(1)
    elif name in ("listen", "speak"):
        pane.player.seek(3.5)


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
    sizes = (2_400_000, 18_000_000, 4_100_000, 3_000, 12_600_000_000)
    paths = (home / "grus.sqlite3", home / "attachments", home, Path("/home/robin/.config/Grus/preferences.json"),
             Path("/home/robin/.cache/huggingface/hub"))  # fmt: skip
    pane.privacy.stored = [
        replace(kept, path=path, nbytes=nbytes)
        for kept, path, nbytes in zip(pane.privacy.stored, paths, sizes, strict=True)
    ]
    pane.privacy.changed()


def tools(app: Any, window: Any) -> None:
    """A conversation with a call that was made and unfolded, and one that a person is asked about. The calls are scripted, too."""
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage, ToolUse
    from app.gui.viewmodels.chat.reply_stream import ReplyStream
    from app.runtime.tools.permissions import PermissionRequest
    from app.window_reply import PermissionQuestion

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

    pane = window.open_pane("chat")
    id = window.context.store.ask(fill).result()
    pane.open(id)
    until(app, lambda: pane.talk.id == id and len(pane.talk.path) == 2)
    shown = replace(pane.talk.path[1], calls=(first, second))
    reply = ReplyStream(shown, pane.talk._reply_changed, lambda message: None, lambda seconds, run: None, tools=True)
    reply._round = 1
    pane.talk.reply = reply
    pane.talk.busy()
    pane.views.unfolded_calls.add((reply.message.id, 0))
    request = PermissionRequest(
        "grus/calculator",
        "Computes an expression such as (3 + 4) * 2 ** 10 / sqrt(2).",
        json.loads(second.arguments),
        False,
        True,
    )
    reply.called(PermissionQuestion(request))
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


USED = {"libraries": libraries, "models": models, "server": server, "settings": settings}
MORE = {  # further pictures of a pane
    "read": {"read-watch": watched_folder},
    "speak": {"speak-book": audiobook},
    "settings": {
        "settings-memory": settings_of_memory,
        "settings-tools": settings_of_tools,
        "settings-sign-in": settings_of_sign_in,
        "settings-compute": settings_of_compute,
        "settings-end": settings_to_the_end,
    },
}


def shot(app: Any, window: Any, name: str) -> None:
    spin(app, 0.3)
    window.grab().save(str(IMAGES / f"{name}.png"))
    print(f"docs/images/{name}.png")


# -- the first start: nothing is scripted

ASKED = ("What can you do?", "how do i read a pdf?", "What is the capital of France?")


def fresh(app: Any, folder: Path) -> Any:
    from app.gui.preferences import Preferences, places_under
    from app.main import Start, open_window

    places = places_under(folder / "grus").make()
    preferences = Preferences(places.preferences)
    preferences.put("appearance", "light")
    preferences.put("language", "en")
    preferences.put("cache_dir", str(folder / "cache"))
    window = open_window(app, Start(), places)
    window.resize(*SIZE)
    return window


def conversation(app: Any, window: Any) -> None:
    pane = window.open_pane("chat")
    until(app, lambda: pane.talk.head.model, 120)
    for number, question in enumerate(ASKED, 1):
        pane.talk.send(question)
        until(app, lambda n=2 * number: len(pane.talk.path) == n and not pane.talk.writing, 120)


def page(app: Any, window: Any) -> None:
    from engine.starter import PAGE

    pane = window.open_pane("read")
    pane.results.add([PAGE])
    until(app, lambda: pane.results.items and pane.results.items[0].state in ("done", "failed"), 240)
    until(app, lambda: pane.page.paper.image is not None, 60)


def first_start(app: Any) -> None:
    """The Guide answers, and the DocumentReader reads the page that comes with Grus."""
    from app.main import close_context

    os.environ.pop("HF_HUB_CACHE", None)  # of the scripted pictures
    with tempfile.TemporaryDirectory() as name:
        window = fresh(app, Path(name))
        conversation(app, window)
        shot(app, window, "guide-light")
        page(app, window)
        shot(app, window, "reader-light")
        window.close()
        close_context(window)


def main() -> int:
    from PySide6.QtGui import QCursor
    from PySide6.QtWidgets import QApplication

    from app.gui import hotkey
    from app.main import close_context

    hotkey.system = lambda: "x11"  # drawn off screen, where no system gives a shortcut; none is registered
    IMAGES.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    QCursor.setPos(SIZE[0] // 2, SIZE[1] - 4)  # over nothing that lights up
    for theme in ("light", "dark"):
        with tempfile.TemporaryDirectory() as folder:
            window = prepared(app, Path(folder), theme)
            chat(app, window)
            shot(app, window, f"chat-{theme}")
            talk(app, window)
            shot(app, window, f"talk-{theme}")
            end_talk(window)
            settings_of_chat(app, window)
            shot(app, window, f"chat-settings-{theme}")
            close_settings(window)
            window.pane("chat").begin()
            shot(app, window, f"chat-empty-{theme}")
            for spec in window.specs:
                if spec.name != "chat":
                    window.open_pane(spec.name)
                    spin(app, 1.5)
                    media_in_use(window, spec.name)
                    if spec.name in USED:
                        USED[spec.name](app, window)
                    shot(app, window, f"{spec.name}-{theme}")
                    for name, show in MORE.get(spec.name, {}).items():
                        show(app, window)
                        shot(app, window, f"{name}-{theme}")
            tools(app, window)
            shot(app, window, f"chat-tools-{theme}")
            end_tools(window)
            dialog = resources(app, window)
            shot(app, dialog, f"chat-resources-{theme}")
            dialog.reject()
            window.show_shortcuts()
            shot(app, window, f"shortcuts-{theme}")
            window.show_shortcuts()
            window.find_anything()
            shot(app, window, f"palette-{theme}")
            window.palette_card.shut()
            window.close()
            close_context(window)
    first_start(app)
    return 0


if __name__ == "__main__":
    sys.exit(main())
