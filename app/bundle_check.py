"""Whether everything that Grus imports is there: `python -m app.bundle_check`, in a bundle `grus -m app.bundle_check`.

Most of Grus is imported when it is first needed, much of it by a name in a table (commands, panes, architectures). What a bundle
lacks of that would show only when somebody asks for it. This looks for all of it: every module of Grus is imported, then every module
that its code imports anywhere, in functions too, and every entry of the tables. Prints JSON: the modules of Grus that are there, and
what is missing with its reason. Ends with 1 if anything is.
"""

from __future__ import annotations

import dis
import importlib
import importlib.util
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib.abc import InspectLoader
from types import CodeType

OWN = ("app", "engine", "backends")
# What Grus looks for and works without: the other backend, extras, and what only one system has.
OPTIONAL = (
    "backends.torch.through_transformers",
    "backends.torch.triton",
    "msvcrt",
    "pillow_heif",
    "transformers",
    "triton",
    "winreg",
) + (("torch",) if sys.platform == "darwin" else ("backends.mlx", "mlx", "mlx_lm"))
_MODULE_OF_GRUS = re.compile(rf"(?:{'|'.join(OWN)})(?:\.[a-z_][a-z0-9_]*)+")


def modules() -> list[str]:
    """The modules of Grus that are here, without the library of kernels, which is no module."""
    found: list[str] = []
    for name in OWN:
        package = importlib.import_module(name)
        found += [name, *(entry.name for entry in _walked(package.__path__, f"{name}."))]
    return sorted(name for name in found if code_of(name) is not None)


def _walked(path: object, prefix: str) -> Iterator[pkgutil.ModuleInfo]:
    """As pkgutil.walk_packages, which imports packages to see what is in them; these are looked into without."""
    for entry in pkgutil.iter_modules(path, prefix):  # type: ignore[arg-type]
        yield entry
        if entry.ispkg and (spec := importlib.util.find_spec(entry.name)) is not None:
            yield from _walked(spec.submodule_search_locations, f"{entry.name}.")


def is_optional(name: str) -> bool:
    """Whether this module, or `module:name`, is one of OPTIONAL or in one."""
    return any(re.match(rf"{re.escape(optional)}(?:[.:]|$)", name) for optional in OPTIONAL)


def imports_of(code: CodeType) -> Iterator[str]:
    """What this code and the functions in it import, as modules or as `module:name`; and modules of Grus named in a string."""
    consts: list[object] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            consts.append(instruction.argval)
        elif instruction.opname == "IMPORT_NAME" and consts[-2] == 0:
            names = consts[-1]
            yield instruction.argval
            if isinstance(names, tuple):
                yield from (f"{instruction.argval}:{name}" for name in names if name != "*")
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from imports_of(const)
        elif isinstance(const, str) and _MODULE_OF_GRUS.fullmatch(const):
            yield const


def code_of(module: str) -> CodeType | None:
    """Its code, without running it. A bundle has no sources, and its loader has the code."""
    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec is not None else None
    return loader.get_code(module) if isinstance(loader, InspectLoader) else None


def tables() -> Iterator[str]:
    """What is imported by a name in a table."""
    from app.cli import COMMANDS
    from app.gui.pane import PANES
    from engine.models import registry

    yield from (f"app.commands.{module}:add_to" for module in COMMANDS.values())
    yield from (f"{pane.module}:make" for pane in PANES)
    for functions in registry.FUNCTIONS:
        yield from ("engine.models.{}:{}".format(*function.split(".")) for function in functions.values())


def why_missing(wanted: str) -> str:
    """Why this cannot be imported; nothing if it can."""
    module, _, name = wanted.partition(":")
    try:
        got = importlib.import_module(module)
        if name and not hasattr(got, name):
            importlib.import_module(wanted.replace(":", "."))
    except Exception as error:  # a module that fails when it is imported is as good as missing
        optional = isinstance(error, ImportError) and is_optional(error.name or "")
        return "" if optional else f"{type(error).__name__}: {error}"
    return ""


def check() -> tuple[list[str], dict[str, str]]:
    """The modules that are here, and what is missing with its reason."""
    there = modules()
    wanted = set(there)
    for module in there:
        if (code := code_of(module)) is not None:
            wanted |= set(imports_of(code))
    wanted |= set(tables())
    reasons = ((name, why_missing(name)) for name in sorted(wanted) if not is_optional(name))
    return there, {name: reason for name, reason in reasons if reason}


def main() -> int:
    there, missing = check()
    print(json.dumps({"modules": there, "missing": missing}))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
