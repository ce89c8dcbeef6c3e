"""A process that holds a replica of a model and answers requests: `python -m engine.parallel.replica`. Started by
`replicas.Replicas`, ended with its leader.

It has an engine of its own. Commands arrive on standard input; events leave on the original standard output.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from engine.engine import Engine
from engine.errors import EngineFault, GrusError
from engine.load_options import LoadOptions
from engine.loading import load_any
from engine.parallel.messages import packed, unpacked
from engine.parallel.pipes import PipeWriter, end_with_leader, read_message, serve_leader
from engine.types import Failed, Request, RequestHandle, Settings

BEAT = 0.2  # seconds between two reports that the process is alive


def main() -> None:
    commands, reports = serve_leader()
    end_with_leader()
    begun = read_message(commands)
    if begun["cpus"]:
        os.sched_setaffinity(0, begun["cpus"])
    threading.Thread(target=_beat, args=(reports,), daemon=True).start()
    try:
        options = LoadOptions(**{**begun["options"], "merged": tuple(begun["options"]["merged"]), "devices": ()})
        loaded: dict[str, Any] = {begun["name"]: load_any(begun["name"], options)}
        reports.write(("loaded",))
        settings = _settings(read_message(commands)[1])
        plain = replace(
            options, model_type="auto", format="auto", mmproj="auto", merged=(), draft_head=False, eagle=None
        )
        # the engine may load the model anew after a failure
        engine = Engine(
            lambda name: loaded.pop(name, None) or load_any(name, options if name == begun["name"] else plain), settings
        )  # type: ignore[return-value]
        engine.load(begun["name"], pin=True)
    except EOFError:
        return
    except BaseException as error:
        reports.write(("failed", packed(_known(error))))
        os._exit(1)
    reports.write(("ready",))
    asyncio.run(_Serving(begun["name"], engine, reports).live(commands))


def _known(error: BaseException) -> GrusError:
    return error if isinstance(error, GrusError) else EngineFault(f"{type(error).__name__}: {error}")


def _settings(given: Any) -> Settings:
    folder = given["offload_folder"]
    return Settings(**{**given, "offload_folder": None if folder is None else Path(folder)})


def _beat(reports: PipeWriter) -> None:
    while True:
        try:
            reports.write(("beat",))
        except (OSError, ValueError):
            os._exit(0)
        time.sleep(BEAT)


class _Serving:
    def __init__(self, model: str, engine: Engine, reports: PipeWriter) -> None:
        self._model, self._engine, self._reports = model, engine, reports

    async def live(self, commands: IO[bytes]) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(commands, loop), daemon=True).start()
        await asyncio.Event().wait()

    def _listen(self, commands: IO[bytes], loop: asyncio.AbstractEventLoop) -> None:
        try:
            while True:
                what, *given = read_message(commands)
                if what == "end":
                    self._engine.close()
                    os._exit(0)
                elif what == "cancel":
                    self._engine.cancel(given[0])
                elif what == "clear":
                    self._engine.clear_prefix_cache()
                else:
                    self._begin(replace(unpacked(given[0]), model=self._model), loop)
        except (EOFError, OSError):
            os._exit(0)  # the leader was killed
        except BaseException as error:
            self._reports.write(("failed", packed(_known(error))))
            os._exit(1)

    def _begin(self, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        try:
            handle = self._engine.submit(request, admitted=True)
        except GrusError as error:
            self._reports.write(("event", request.id, packed(Failed(request.id, error))))
            return
        asyncio.run_coroutine_threadsafe(self._follow(handle), loop)

    async def _follow(self, handle: RequestHandle) -> None:
        async for event in handle:
            try:
                self._reports.write(("event", handle.id, packed(event)))
            except (OSError, ValueError):
                os._exit(0)


if __name__ == "__main__":
    main()
