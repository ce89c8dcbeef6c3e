"""Runs in a client's own environment: the lines of docs/clients.md, then what the program's file in programs/ can do.

run_python.py LINES PROGRAM MODEL ABILITY... writes a line of JSON for each ability: {"ability": ..., "value": ... or "error": ...}
"""

import asyncio
import contextlib
import inspect
import io
import json
import runpy
import sys
import traceback


def main(lines, program, model, *abilities):
    output, names, problem = io.StringIO(), {"MODEL": model}, None
    with open(lines, encoding="utf-8") as file, contextlib.redirect_stdout(output):
        try:
            exec(compile(file.read(), "docs/clients.md", "exec"), names)
        except Exception as error:
            problem = error
            names["refused"] = error
    functions = runpy.run_path(program)
    for ability in abilities:
        told = {"ability": ability}
        try:
            if ability == "connects":
                if problem is not None:
                    raise problem
                told["value"] = output.getvalue().strip()
            else:
                function = functions[ability]
                with contextlib.redirect_stdout(io.StringIO()):
                    value = function(*(names[name] for name in inspect.signature(function).parameters))
                    told["value"] = asyncio.run(value) if inspect.iscoroutine(value) else value
        except Exception as error:
            told["error"] = f"{type(error).__name__}: {error}"
            told["trace"] = traceback.format_exc()[-1500:]
        sys.__stdout__.write(json.dumps(told) + "\n")


main(*sys.argv[1:])
