"""Where chat templates run. They come with downloaded checkpoints, so they are programs by strangers.

Jinja's sandbox keeps them from Python's internals. What it does not bound is time and memory; here every loop round
costs a step, every piece of text costs its length, and operations that multiply are measured before they are done.
Knows nothing of chats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from types import GeneratorType
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from engine.text import measuring

MAX_STEPS = 2_000_000
_CALL_STEPS = 4
MAX_CHARS = 64_000_000
MAX_SOURCE = 1_000_000
_MAX_NUMBER = 1_000_000  # as an argument: a width, a count, an index
_CHEAP = frozenset({"length", "count", "first", "last", "default", "d"})  # these do not walk through their input
_SCAN = 1000  # characters that an operation walks through in the time of a step
_FRESH = frozenset({"batch", "slice", "groupby", "split", "rsplit", "splitlines", "partition", "rpartition"})
_LAZY = (GeneratorType, map, filter, zip, reversed, enumerate)  # what filters give that make their items one by one


class LimitReached(Exception):
    """A template asked for more time or memory than any conversation needs."""


@dataclass
class _Meter:
    steps: int = 0
    chars: int = 0


_meter: ContextVar[_Meter | None] = ContextVar("template_meter", default=None)


@contextmanager
def metered() -> Iterator[None]:
    """Start a fresh account for one rendering."""
    token = _meter.set(_Meter())
    try:
        yield
    finally:
        _meter.reset(token)


def _charge(chars: int, steps: int = 0) -> None:
    meter = _meter.get()
    if chars > MAX_CHARS:
        raise LimitReached("it builds a text that is too long")
    if meter is not None:
        meter.steps += steps
        meter.chars += chars
        if meter.steps > MAX_STEPS:
            raise LimitReached("it loops for too long")
        if meter.chars > MAX_CHARS:
            raise LimitReached("it builds a text that is too long")


def _check(chars: int | None) -> None:
    """Refuse what would blow up, before it does."""
    if chars is None:
        raise LimitReached("it formats with a width that is too large")
    if chars > MAX_CHARS:
        raise LimitReached("it builds a text that is too long")


def _paid(value: Any) -> Any:
    _charge(measuring.held(value))
    return value


def _shown(value: Any) -> Any:
    """A value on its way into the text."""
    if isinstance(value, str):
        return _paid(value)
    _check(measuring.shown(value))
    return _paid(str(value))


def _listed(value: Any) -> Any:
    """What makes its items one by one is made now, so that it can be measured."""
    if not isinstance(value, _LAZY):
        return value
    made = []
    for item in value:
        _charge(0, steps=1)
        made.append(item)
    return made


def _check_made(name: str, subject: Any, args: list[Any]) -> None:
    if any(isinstance(a, int) and abs(a) > _MAX_NUMBER for a in args):
        raise LimitReached("it uses a number that is too large")
    walked = measuring.size(subject) if isinstance(subject, str | bytes) else 0
    _charge(0, steps=_CALL_STEPS + walked // _SCAN)
    if name in _CHEAP:
        return
    most = measuring.made(name, subject, args)
    _check(most)
    if name in _FRESH and most is not None:  # they make more than the list that is counted when they are done
        _charge(most if measuring.size(subject) >= 100_000 or name in ("batch", "slice") else measuring.size(subject))


class _Tick:
    """`tick - cost` charges one step. An operator, because the sandbox sends calls through a path ten times slower."""

    def __sub__(self, cost: int) -> None:
        _charge(cost, steps=1)


class _Metering(NodeTransformer):
    """Puts a charge into the body of everything that can run more than once, and measures `~`."""

    def _charge_body(self, node: Any) -> Any:
        cost = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        literals = [len(made.items) for made in node.find_all((nodes.List, nodes.Tuple, nodes.Dict))]
        cost += measuring.ITEM * sum(literals)
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(nodes.Sub(nodes.EnvironmentAttribute("tick"), nodes.Const(cost))))
        return node

    visit_For = visit_Macro = visit_CallBlock = _charge_body

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        none = nodes.Const(None)
        bounds = [node.arg.start or none, node.arg.stop or none, node.arg.step or none]
        return nodes.Call(nodes.EnvironmentAttribute("sliced"), [node.node, *bounds], [], None, None)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return nodes.Call(nodes.EnvironmentAttribute("concatenate"), node.nodes, [], None, None)


class _Generation(Extension):
    """`{% generation %}` marks a reply's text for training; here it is only its content."""

    tags = {"generation"}  # noqa: RUF012  (declared so by Jinja)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _PlainNamespace(Namespace):
    """A namespace whose attributes cannot pose as Python's own protocols."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        attributes = dict(*rest, **kwargs)
        for name in attributes:
            _refuse_underscore(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_underscore(name)
        super().__setitem__(name, value)


def _refuse_underscore(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold {name!r}")


class Environment(ImmutableSandboxedEnvironment):
    """Renders as `transformers` does, within bounds."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    tick = _Tick()

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols], finalize=_shown)
        self.filters["tojson"] = _tojson
        self.filters = {name: _measured(name, function) for name, function in self.filters.items()}
        self.globals = {
            "range": self.globals["range"],
            "namespace": _PlainNamespace,
            "cycler": self.globals["cycler"],
            "joiner": self.globals["joiner"],
            "dict": lambda *args, **kwargs: dict(*args, **kwargs),
            "raise_exception": _raise_exception,
            "strftime_now": _strftime_now,
        }

    def parsed(self, source: str) -> jinja2.nodes.Template:
        if len(source) > MAX_SOURCE:
            raise LimitReached("it is too long itself")
        return self.parse(source)

    def load(self, source: str) -> jinja2.Template:
        """Compile a template with its charges built in."""
        tree = _Metering().visit(self.parsed(source))
        return jinja2.Template.from_code(self, self.compile(tree), self.make_globals(None))

    def concatenate(self, *values: Any) -> str:
        values = tuple(map(_listed, values))
        _check(sum(map(measuring.shown, values)))
        texts = [str(value) for value in values]
        _charge(sum(map(len, texts)))
        return "".join(texts)

    def sliced(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        return value[start:stop:step]

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        subject = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)  # the sandbox wraps str.format
        args, kwargs = tuple(map(_listed, args)), {name: _listed(value) for name, value in kwargs.items()}
        if subject is self:  # our own, which measure for themselves
            _charge(0, steps=_CALL_STEPS)
        else:
            _check_made(getattr(obj, "__name__", ""), subject, [*args, *kwargs.values()])
        return _paid(super().call(context, obj, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and (_magnitude(left) > 1_000_000 or _magnitude(right) > 64):
            raise LimitReached("it uses a number that is too large")
        if operator == "*":
            if isinstance(left, int) and isinstance(right, int):
                if max(_magnitude(left), _magnitude(right)) > 1 << 64:
                    raise LimitReached("it uses a number that is too large")
            else:
                _charge(_product(left, right))
        if operator == "%" and isinstance(left, str | bytes):
            _check(measuring.formatted(left, [right], percent=True))
        return _paid(super().call_binop(context, operator, left, right))


def _magnitude(value: Any) -> float:
    return abs(value) if isinstance(value, (int, float)) else 0


def _product(left: Any, right: Any) -> int:
    sizes = [value if isinstance(value, int) else measuring.held(value) for value in (left, right)]
    return max(0, sizes[0] * sizes[1])


def _measured(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    made = "%" if name == "format" else name  # the filter of this name is the operator
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0  # Jinja passes a context first to some

    def measured(*args: Any, **kwargs: Any) -> Any:
        subject, *rest = given = [_listed(value) for value in args[skipped:]]
        _check_made(made, subject, [*rest, *(_listed(value) for value in kwargs.values())])
        _charge(0, steps=0 if name in _CHEAP or isinstance(subject, str) else measuring.size(subject))
        return _paid(function(*args[:skipped], *given, **kwargs))

    if skipped:
        measured.jinja_pass_arg = function.jinja_pass_arg  # type: ignore[attr-defined]
    return measured


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Jinja's own escapes for HTML, which no model was trained on."""
    if indent is not None and (len(indent) if isinstance(indent, str) else indent) > 64:
        raise LimitReached("it formats with a width that is too large")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _strftime_now(format: str) -> str:
    if len(format) > 1000 or any(char.isdigit() for char in format):  # glibc takes widths
        raise LimitReached("it formats with a width that is too large")
    return datetime.now().strftime(format)


def _raise_exception(message: str) -> None:
    _check(measuring.shown(message))
    raise jinja2.TemplateError(str(message))
