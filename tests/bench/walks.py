"""How many of our own files a person opens who follows one piece of work through the code.

Three walks: one chat request over HTTP, `grus read page.png` with the Reader, and one click on Speak (the window's view-model
over a tiny Qwen3-TTS checkpoint). Each runs once to warm up, so that imports, loading and caches are not part of it, and once
while the interpreter reports every function that is entered, on every thread. A file counts when one of its functions was
entered. `python -m tests.bench walks` prints the counts; `python -m tests.bench.walks` the files too.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

from tests.bench.table import Row

ROOT = Path(__file__).resolve().parents[2]
OURS = ("app", "engine", "backends", "grus.py")
WALKS = {"chat": ("one HTTP chat request", 25), "read": ("grus read page.png", 20), "speak": ("one click on Speak", 15)}


class Recorder:
    """The files of our own in which a function is entered while `recording`. Make it before threads begin."""

    def __init__(self) -> None:
        self.recording = False
        self._codes: set[Any] = set()
        sys.setprofile(self._event)
        threading.setprofile(self._event)

    def _event(self, frame: FrameType, kind: str, argument: Any) -> None:
        if self.recording and kind == "call":
            self._codes.add(frame.f_code)

    @contextlib.contextmanager
    def walk(self) -> Iterator[None]:
        self._codes.clear()
        self.recording = True
        try:
            yield
        finally:
            self.recording = False

    def files(self) -> list[str]:
        """Code at the top of a module is not counted: it runs where a module is imported."""
        found = set()
        for code in self._codes:
            path = Path(code.co_filename)
            if code.co_name != "<module>" and path.is_relative_to(ROOT):
                found.add(str(path.relative_to(ROOT)))
        return sorted(name for name in found if name.split("/")[0] in OURS)


def chat(recorder: Recorder, folder: Path) -> None:
    import httpx

    from app.server.app import create_app
    from app.server.config import ServerSettings, gather, make_service
    from app.server.listening import Listener

    service = make_service(gather({"device": "cpu", "port": 0}, {}, None))
    settings = ServerSettings(port=0, responses_file=str(folder / "responses"))
    listener = Listener(create_app(service, settings), settings)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.wait_until_open(20)}/v1/chat/completions"
    body = {"model": "guide", "max_tokens": 8, "messages": [{"role": "user", "content": "What is Grus?"}]}

    def ask(question: str) -> None:
        messages = [{"role": "user", "content": question}]
        assert httpx.post(url, json={**body, "messages": messages}, timeout=60).status_code == 200

    ask("How do I read a PDF?")
    with recorder.walk():
        ask("What is Grus?")
    listener.stop()
    thread.join(20)
    service.close()


def read(recorder: Recorder, folder: Path) -> None:
    from app.cli import main
    from engine.starter import PAGE

    def page() -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(["read", str(PAGE), "--quiet", "--device", "cpu"]) == 0
        assert out.getvalue()

    page()
    with recorder.walk():
        page()


def speak(recorder: Recorder, folder: Path) -> None:
    from app.gui.preferences import Preferences
    from app.gui.store.worker import AppStore
    from app.gui.viewmodels.speak import SpeakResults, SpeakSettings
    from app.window_engine import WindowEngine, local_service
    from tests.qwen3_tts_cases import checkpoint, ending

    voice = ending(checkpoint("custom_voice", folder / "voice"))
    preferences = Preferences(folder / "preferences.json")
    preferences.put("device", "cpu")
    preferences.put("cache_dir", str(folder / "cache"))
    runs = _Now()
    core = WindowEngine(runs, lambda: local_service(preferences, {"voice": str(voice)}), _Frames)
    core.start()
    store = AppStore(folder / "grus.sqlite3")
    studio = SpeakResults(store, core, runs, lambda said, **more: None, folder)

    def click(text: str) -> None:
        take = studio.speak(text, SpeakSettings(preset="vivian"))
        assert take is not None
        for thread in threading.enumerate():
            if thread.name == "grus-stream":
                thread.join()
        assert take.state == "done", take.error
        store.wait()

    click("The crane dances.")
    with recorder.walk():
        click("Then it sleeps.")
    core.close()
    store.close()


class _Now:
    """Jobs beside the window's thread, done at once."""

    def run(self, job: Callable[[], Any], then: Any = None, failed: Any = None) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(job())
        if then is not None:
            then(future.result())
        return future

    def post(self, work: Callable[[], None]) -> None:
        work()


def _Frames(deliver: Callable[[list[Any]], None]) -> Any:
    return SimpleNamespace(put=lambda item: deliver([item]))


def walked(name: str) -> list[str]:
    """The files of a walk, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.walks", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def rows() -> list[Row]:
    return [
        Row(what, "files", len(walked(name)), aim=f"<= {aim}", more_is_better=False)
        for name, (what, aim) in WALKS.items()
    ]


def main() -> None:
    if len(sys.argv) > 1:
        recorder = Recorder()
        with tempfile.TemporaryDirectory() as folder:
            globals()[sys.argv[1]](recorder, Path(folder))
        print(*recorder.files(), sep="\n", flush=True)
        os._exit(0)
    for name, (what, aim) in WALKS.items():
        files = walked(name)
        layers = Counter(file.split("/")[0] for file in files)
        print(f"{what}: {len(files)} files (aim {aim}); {', '.join(f'{n} {layer}' for layer, n in layers.items())}")
        print(*(f"  {file}" for file in files), sep="\n", flush=True)


if __name__ == "__main__":
    main()
