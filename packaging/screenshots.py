"""Pictures of every pane, light and dark, and of the first start, for `docs/images/`: made by `make screenshots`, off screen.

In the pictures of the panes the engine, the models, the conversations and the results are scripted, so that the same pictures come out
everywhere; their captions in README.md say so. The machine is the one that draws them: device and memory are never scripted. In
`guide-light` and `reader-light` nothing is: the Guide answers and the DocumentReader reads.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from scripted_panes import (  # noqa: E402
    audiobook,
    compare,
    end_tools,
    libraries,
    models,
    previews,
    project,
    resources,
    server,
    settings,
    settings_of_compute,
    settings_of_memory,
    settings_of_sign_in,
    settings_of_tools,
    settings_of_web,
    settings_to_the_end,
    spin,
    tools,
    until,
    watched_folder,
    web,
)

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


def conversations(app: Any, window: Any, theme: str) -> None:
    """Of the web, of a project, of two models, and of previews."""
    web(app, window)
    shot(app, window, f"chat-web-{theme}")
    end_tools(window)
    dialog = project(app, window)
    shot(app, dialog, f"project-settings-{theme}")
    dialog.reject()
    shot(app, window, f"project-{theme}")
    compare(app, window)
    shot(app, window, f"compare-{theme}")
    window.pane("chat").comparison.close()
    show = previews(app, window)
    for kind in ("svg", "csv", "html"):
        show(kind)
        shot(app, window, f"preview-{kind}-{theme}")


USED = {"libraries": libraries, "models": models, "server": server, "settings": settings}
MORE = {  # further pictures of a pane
    "read": {"read-watch": watched_folder},
    "speak": {"speak-book": audiobook},
    "settings": {
        "settings-memory": settings_of_memory,
        "settings-tools": settings_of_tools,
        "settings-web": settings_of_web,
        "settings-sign-in": settings_of_sign_in,
        "settings-compute": settings_of_compute,
        "settings-end": settings_to_the_end,
    },
}


def wanted(name: str) -> bool:
    """All pictures, or those whose names begin as one of the arguments does."""
    return not sys.argv[1:] or name.startswith(tuple(sys.argv[1:]))


def shot(app: Any, window: Any, name: str) -> None:
    if not wanted(name):
        return
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

    from app.gui import dictation_key, hotkey
    from app.main import close_context

    # drawn off screen, where no system gives a shortcut; none is registered
    hotkey.system = dictation_key.system = lambda: "x11"
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
                if spec.name != "chat" and any(map(wanted, (spec.name, *MORE.get(spec.name, {})))):
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
            conversations(app, window, theme)
            window.close()
            close_context(window)
    if wanted("guide") or wanted("reader"):
        first_start(app)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes the pictures in docs/images.")
    parser.add_argument("names", nargs="*", help="those alone whose names begin so")
    parser.parse_args()
    sys.exit(main())
