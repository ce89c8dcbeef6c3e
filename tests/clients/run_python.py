"""Runs in a client's own environment: the lines of docs/clients.md, then what the program's file in programs/ can do.

run_python.py LINES PROGRAM MODEL ABILITY... writes a line of JSON for each ability: {"ability": ..., "value": ... or "error": ...}
Lines in a shell's language start a server of the program's own, on a `port` that is added to them.
"""

import asyncio
import contextlib
import inspect
import io
import json
import runpy
import socket
import subprocess
import sys
import traceback


def called(function, names):
    with contextlib.redirect_stdout(io.StringIO()):
        value = function(*(names[name] for name in inspect.signature(function).parameters))
        return asyncio.run(value) if inspect.iscoroutine(value) else value


def run(lines, names):
    """What Python's lines print."""
    output = io.StringIO()
    with open(lines, encoding="utf-8") as file, contextlib.redirect_stdout(output):
        exec(compile(file.read(), "docs/clients.md", "exec"), names)
    return output.getvalue().strip()


def started(lines, names):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        names["port"] = free.getsockname()[1]
    with open(lines, encoding="utf-8") as file:
        command = f"{file.read().rstrip()} --port {names['port']}"
    with open("server.log", "w") as log:
        subprocess.Popen(["bash", "-c", command], stdout=log, stderr=subprocess.STDOUT)


def main(lines, program, model, *abilities):
    names, functions, problem, printed = {"MODEL": model}, runpy.run_path(program), None, ""
    try:
        printed = (started if lines.endswith(".sh") else run)(lines, names)
    except Exception as error:
        problem = error
    for ability in abilities:
        outcome = {"ability": ability}
        try:
            if ability == "connects" and problem is not None:
                raise problem
            outcome["value"] = called(functions[ability], names) if ability in functions else printed
        except Exception as error:
            outcome["error"] = f"{type(error).__name__}: {error}"
            outcome["trace"] = traceback.format_exc()[-1500:]
        sys.__stdout__.write(json.dumps(outcome) + "\n")


main(*sys.argv[1:])
