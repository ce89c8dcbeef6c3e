"""How many of our own files one piece of work goes through.

Three walks: one streamed chat request over HTTP, `grus read page.png` with the Reader, and one click on Speak (the window's
view-model over a tiny Qwen3-TTS checkpoint). Each runs once to warm up, so that imports, loading and caches are not part of it,
and once while the interpreter reports every function that is entered, on every thread. Two counts of it:

- the main path, which a reader opens to follow the work from the door to the token and back: `STATIONS` names the functions
  between which the work changes hands (prompt tokenized, request handed to the engine's thread, step planned, model computed,
  token made text, event handed back, event parsed, reply written). A file counts when one of its functions is on the call stack
  where a station is entered for the first time, so that a file that only passes work on counts as well. A station that is not entered
  is an error.
- all files in which any function was entered: also those that check, measure, look up and keep accounts.

`python -m tests.bench walks` prints the counts; `python -m tests.bench.walks` the files too, those of the main path marked.
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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

from tests.bench.table import Row

ROOT = Path(__file__).resolve().parents[2]
OURS = ("app", "engine", "backends", "grus.py")
WALKS = {"chat": ("one HTTP chat request", 25), "read": ("grus read page.png", 20), "speak": ("one click on Speak", 15)}

# file and qualified name of the functions between which the work changes hands, in its order
STATIONS = {
    "chat": [
        ("engine/text/tokenizer.py", "Tokenizer.encode"),
        ("engine/engine.py", "Engine._submit"),
        ("engine/admission.py", "Admission.sequences"),
        ("engine/scheduler.py", "Scheduler.plan"),
        ("backends/torch/program.py", "Program.run"),
        ("engine/text/detokenizer.py", "Detokenizer.push"),
        ("engine/types.py", "RequestHandle.put"),
        ("app/runtime/chat.py", "ReplyParser.read"),
        ("app/server/requests.py", "StreamingReply._send"),
    ],
    "read": [
        ("engine/media/documents.py", "ScanDocument.page"),
        ("engine/pipelines/reading/layout.py", "PageSplitter.detect"),
        ("engine/engine.py", "Engine._submit"),
        ("engine/scheduler.py", "Scheduler.plan"),
        ("backends/torch/program.py", "Program.run"),
        ("engine/text/detokenizer.py", "Detokenizer.push"),
        ("engine/types.py", "RequestHandle.put"),
        ("engine/pipelines/reading/writers.py", "page_text"),
    ],
    "speak": [
        ("engine/pipelines/speaking/text.py", "passages"),
        ("engine/engine.py", "Engine._submit"),
        ("engine/scheduler.py", "Scheduler.plan"),
        ("backends/torch/program.py", "Program.run"),
        ("engine/types.py", "RequestHandle.put"),
        ("engine/models/codec12.py", "FrameDecoder.decode_together"),
        ("app/gui/viewmodels/playback.py", "Playback.put"),
    ],
}


class Recorder:
    """The files of our own in which a function is entered while `recording`, and those on the call stack of a station. Make it
    before threads begin."""

    def __init__(self, stations: Iterable[tuple[str, str]] = ()) -> None:
        self.recording = False
        self.path: set[str] = set()  # the files of the main path
        self._codes: set[Any] = set()
        self._left = {(str(ROOT / file), name) for file, name in stations}
        sys.setprofile(self._event)
        threading.setprofile(self._event)

    def _event(self, frame: FrameType, kind: str, argument: Any) -> None:
        if not self.recording or kind != "call" or frame.f_code in self._codes:
            return
        self._codes.add(frame.f_code)
        station = (frame.f_code.co_filename, frame.f_code.co_qualname)
        if station in self._left:
            self._left.discard(station)
            above: FrameType | None = frame
            while above is not None:
                if (name := _own(above.f_code.co_filename)) is not None:
                    self.path.add(name)
                above = above.f_back

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
        if self._left:
            raise SystemExit(f"not entered: {sorted(self._left)}")
        names = (_own(code.co_filename) for code in self._codes if code.co_name != "<module>")
        return sorted({name for name in names if name is not None})


def _own(file: str) -> str | None:
    path = Path(file)
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    return name if name.split("/")[0] in OURS else None


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
    body = {"model": "guide", "max_tokens": 8, "stream": True}

    def ask(question: str) -> None:
        messages = [{"role": "user", "content": question}]
        reply = httpx.post(url, json={**body, "messages": messages}, timeout=60)
        assert reply.status_code == 200
        assert reply.text.endswith("data: [DONE]\n\n")

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


def walked(name: str) -> dict[str, bool]:
    """The files of a walk, made in a process of its own, and whether they are on the main path."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.walks", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {file: mark == "*" for mark, file in (line.split() for line in done.stdout.splitlines())}


def rows() -> list[Row]:
    out = []
    for name, (what, aim) in WALKS.items():
        files = walked(name)
        out.append(Row(f"{what}, main path", "files", sum(files.values()), aim=f"<= {aim}", more_is_better=False))
        out.append(Row(f"{what}, all that ran", "files", len(files), more_is_better=False))
    return out


def main() -> None:
    if len(sys.argv) > 1:
        recorder = Recorder(STATIONS[sys.argv[1]])
        with tempfile.TemporaryDirectory() as folder:
            globals()[sys.argv[1]](recorder, Path(folder))
        print(*(f"{'*' if file in recorder.path else '-'} {file}" for file in recorder.files()), sep="\n", flush=True)
        os._exit(0)
    for name, (what, aim) in WALKS.items():
        files = walked(name)
        layers = Counter(file.split("/")[0] for file in files)
        print(
            f"{what}: {sum(files.values())} files on the main path (aim {aim}), {len(files)} in which code ran:",
            end=" ",
        )
        print(", ".join(f"{n} {layer}" for layer, n in layers.items()))
        print(*(f"  {'*' if main else ' '} {file}" for file, main in files.items()), sep="\n", flush=True)


if __name__ == "__main__":
    main()
