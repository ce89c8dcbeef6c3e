"""The window: how soon a person can type, what it holds when idle, and how long it ever blocks while a reply streams.

    python -m tests.bench window

Without a screen Qt draws into memory; widths and fonts are those of a real one. The reply streams at 100 tokens a second
into a conversation of about 90,000 tokens: once with nothing else in the process, and once beside the torch engine, which
answers another request with the Guide, the model that comes with Grus, as quickly as it can.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.first_load import longest_block as longest_block_of_first_load
from tests.bench.shapes import checkpoint
from tests.bench.table import Row

ROOT = Path(__file__).resolve().parents[2]

OTHER = "What can you do?"

PARAGRAPH = """The crane stands in the shallows and waits, as cranes do, with $x^2 + {n}$ on its mind. See [a page](https://a.example/{n}).

```python
def crane_{n}(legs: int = 2) -> str:
    return "stands on " + str(legs - 1)
```

| month | cranes |
|---|---:|
| March | {n} |

- one thing about *feathers*
- another about **nests** and `eggs`

"""


def start_time() -> tuple[float, float]:
    """Seconds from the command's start until a person can type, the best of four; and the window's memory two seconds after all
    panes were imported. Warm: the bytecode of the sources is there, as it is where Grus is installed."""
    idle = (
        "import gc, os, sys, time; sys.path.insert(0, '.')\n"
        "from pathlib import Path\n"
        "from PySide6.QtCore import QTimer\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from app.gui.preferences import places_under\n"
        "from app.main import Start, close_context, open_window\n"
        "app = QApplication([])\n"
        "window = open_window(app, Start(), places_under(Path(sys.argv[1])).make())\n"
        "while not gc.get_freeze_count():\n"  # the modules of all panes are there
        "    app.processEvents(); time.sleep(0.01)\n"
        "QTimer.singleShot(2000, app.quit); app.exec()\n"
        "import psutil; print(psutil.Process().memory_info().rss, flush=True)\n"
        "close_context(window)\n"
    )
    command = "import sys; from app.cli import main; sys.exit(main(['app', '--folder', sys.argv[1]]))"
    ready, memory = [], list[int]()
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{name}/bytecode", "GRUS_SAY_READY": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for i in range(3):
            rss = int(subprocess.check_output([sys.executable, "-c", idle, f"{name}/{i}"], cwd=ROOT, env=environment))
            if i:  # the first writes the bytecode
                memory.append(rss)
        for i in range(4):
            began = time.time()  # not the process's own start, which the system keeps to the second that it booted in
            with subprocess.Popen(
                [sys.executable, "-c", command, f"{name}/new{i}"], cwd=ROOT, env=environment, stdout=subprocess.PIPE
            ) as run:
                assert run.stdout is not None
                assert run.stdout.readline().startswith(b"ready")
                ready.append(time.time() - began)
                run.terminate()
    return min(ready), max(memory)


def longest_block(seconds: float = 6.0, rate: float = 100.0, beside: bool = False) -> dict[str, float]:
    """The longest time between two turns of the event loop, and the longest that the UI thread worked between two.
    `beside`: with a real engine at work in the same process."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app import window_engine
    from app.gui.preferences import places_under
    from app.gui.store import conversations, messages
    from app.gui.store.messages import StoredMessage
    from app.main import Start, close_context, open_window
    from tests.app.gui.scripted import scripted_service

    app: Any = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = places_under(folder / "grus").make()
        if beside:
            window = open_window(app, Start(), places)
        else:
            window = open_window(app, Start(), places, lambda: scripted_service(folder / "models")[0])
        window.resize(1180, 780)
        pane: Any = window.pane("chat")

        def fill(db: Any) -> int:
            id = conversations.create(db, "tiny", title="Long")
            parent = None
            for i in range(150):
                asked = messages.add(db, id, StoredMessage(0, parent, "user", f"Question {i} about cranes, please?"))
                text = "".join(PARAGRAPH.replace("{n}", str(i * 10 + k)) for k in range(7))
                parent = messages.add(db, id, StoredMessage(0, asked.id, "assistant", text, model="tiny")).id
            return id

        id = window.context.store.ask(fill).result()
        tokens = sum(len(m.text) for m in window.context.store.ask(lambda db: messages.all_of(db, id)).result()) / 4
        pane.conversation_list.look()
        _spin(app, 1.0)
        blocks: list[tuple[float, float]] = []
        last = [time.perf_counter(), time.thread_time()]

        def beat() -> None:
            now, worked = time.perf_counter(), time.thread_time()
            blocks.append((now - last[0], worked - last[1]))
            last[:] = now, worked

        opened = time.perf_counter()
        pane.talk.open(id)
        while not pane.transcript.views:
            app.processEvents()
        opened = time.perf_counter() - opened
        _spin(app, 1.0)
        program = _Program(window.context.core) if beside else None
        while program is not None and not program.words and not program.problem:
            _spin(app, 0.05)  # until the model is loaded
        heart = QTimer()
        heart.setInterval(1)
        heart.timeout.connect(beat)
        window_engine.make_reply = _speaks(rate, seconds, window_engine.make_reply)
        before = program.words if program is not None else 0
        last[:] = time.perf_counter(), time.thread_time()
        heart.start()
        pane.talk.send("Tell me more.")
        _spin(app, seconds)
        streaming = [sorted(column) for column in zip(*blocks, strict=True)]
        pane.stop()
        if program is not None:
            assert program.words - before > rate * seconds / 2, f"the engine was to be at work: {program.problem}"
            program.over = True
        _spin(app, 0.5)
        blocks.clear()
        last[:] = time.perf_counter(), time.thread_time()
        for _ in range(240):
            _turn_wheel(window, pane.transcript)
            _spin(app, 0.008)
        scrolling = [sorted(column) for column in zip(*blocks, strict=True)]
        close_context(window)
        window.deleteLater()
    return {
        "tokens": tokens,
        "opened": opened,
        "streaming": streaming[0][-1],
        "streaming_worked": streaming[1][-1],
        "scrolling": scrolling[0][-1],
        "scrolling_worked": scrolling[1][-1],
    }


class _Program:
    """Asks the engine again and again, as a program through the server would. Nobody reads the words."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.words, self.problem, self.over = 0, "", False
        self._ask()

    def _ask(self) -> None:
        from app.window_reply import ReplyRequest
        from engine.starter import GUIDE

        sampling = {"temperature": 1.0, "ignore_eos": True}
        self._core.reply(ReplyRequest(GUIDE, [{"role": "user", "content": OTHER}], sampling), self)

    def working(self, what: str) -> None: ...

    def parts(self, parts: Sequence[Any]) -> None:
        self.words += len(parts)

    def ended(self, reason: str, timings: Any) -> None:
        if not self.over:
            self._ask()

    def failed(self, sentence: str) -> None:
        self.problem = sentence


def _speaks(rate: float, seconds: float, replies: Callable[..., None]) -> Callable[..., None]:
    """What the engine would do, from the thread that listens to it: words at a steady rate. The program's go to it."""
    from app.runtime.chat import ReplyEvent
    from engine.types import Timings

    text = "".join(PARAGRAPH.replace("{n}", str(k)) for k in range(200))

    def speak(engine: Any, ask: Any, speaking: Any) -> None:
        if ask.messages[-1]["content"] == OTHER:
            replies(engine, ask, speaking)
            return
        over = threading.Event()
        speaking.attach(over.set)
        began = time.monotonic()
        for said in itertools.count():
            if over.wait(began + (said + 1) / rate - time.monotonic()) or said > rate * seconds * 2:
                break
            speaking.gather.put(("parts", [ReplyEvent(0, "answer", text[4 * said : 4 * said + 4])]))
        speaking.gather.put(("ended", "cancelled", Timings()))

    return speak


def _turn_wheel(window: Any, over: Any) -> None:
    """One notch upwards, where a person's pointer would be."""
    from PySide6.QtCore import QPoint, QPointF
    from PySide6.QtTest import QTest

    QTest.wheelEvent(window.windowHandle(), QPointF(over.mapTo(window, over.rect().center())), QPoint(0, 120))


def _spin(app: Any, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.0005)


def journeys() -> list[Row]:
    """The longest that the UI thread worked in one turn, of each journey of tests/app/gui/test_journeys.py; none where they
    cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "", "tests/app/gui/test_journeys.py"],
            cwd=ROOT, env={**os.environ, "GRUS_JOURNEYS": str(file)}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        blocks = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    return [
        Row(
            f"longest block, {name.removeprefix('test_').replace('_', ' ')}",
            "ms",
            block,
            aim="<= 50",
            more_is_better=False,
        )
        for name, block, *_ in blocks
    ]


def first_loads() -> list[Row]:
    model = checkpoint("qwen3-0.6b", "BF16")
    return [
        Row(
            f"longest block, first model of a process, {backend}",
            "ms",
            1e3 * median(longest_block_of_first_load(model, backend) for _ in range(3)),
            aim="<= 300",
            more_is_better=False,
        )
        for backend in ("torch", "mlx")
    ]


def rows() -> list[Row]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    ready, idle = start_time()
    measured, beside = longest_block(), longest_block(beside=True)
    block = {what: 1e3 * measured[what] for what in ("streaming", "scrolling")}
    return [
        Row("from start until a person can type", "s", ready, aim="<= 0.5", more_is_better=False),
        Row("memory, idle, no model", "MB", idle / 1e6, aim="<= 150", more_is_better=False),
        Row(f"open {measured['tokens']:,.0f} tokens", "s", measured["opened"], more_is_better=False),
        Row("longest block, streaming", "ms", block["streaming"], aim="<= 50", more_is_better=False),
        Row("of it the window's own work", "ms", 1e3 * measured["streaming_worked"], more_is_better=False),
        Row(
            "longest block, beside a working engine", "ms", 1e3 * beside["streaming"], aim="<= 50", more_is_better=False
        ),
        Row("of it the window's own work", "ms", 1e3 * beside["streaming_worked"], more_is_better=False),
        Row("longest block, scrolling", "ms", block["scrolling"], aim="<= 50", more_is_better=False),
        Row("of it the window's own work", "ms", 1e3 * measured["scrolling_worked"], more_is_better=False),
        *first_loads(),
        *journeys(),
    ]
