"""What a chat template does with a message's content: whether it loops over parts, and whether it tells strings from them.

Read from the template's syntax tree. Content may have been given another name there, or be the argument of a macro, which calls it
whatever it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from jinja2 import nodes

_TESTS = ("string", "iterable", "sequence", "mapping")
_CONTENT = "content"
_MOST_PASSES = 8  # whatever a template hands on, and however often
N = TypeVar("N", bound=nodes.Node)


@dataclass(frozen=True)
class ContentShape:
    loops: bool = False  # over parts
    tells_strings: bool = False


def content_shape(tree: nodes.Template) -> ContentShape:
    found = _Names(tree)
    loops = any(found.is_content(_looped(loop.iter), macro) for loop, macro in found.of(nodes.For))
    tested = ((test, macro) for test, macro in found.of(nodes.Test) if test.name in _TESTS)
    return ContentShape(loops, any(found.is_content(test.node, macro) for test, macro in tested))


class _Names:
    """Which names stand for content: everywhere, or in one macro."""

    def __init__(self, tree: nodes.Template) -> None:
        self._nodes = list(_inside(tree, ""))
        macros = {node.name: node for node, _ in self._nodes if isinstance(node, nodes.Macro)}
        self._names: set[tuple[str, str]] = set()  # macro ("": all of the template), name
        for _ in range(_MOST_PASSES):  # a macro may hand content on to another
            known = len(self._names)
            for assigned, macro in self.of(nodes.Assign):
                if isinstance(assigned.target, nodes.Name) and self.is_content(assigned.node, macro):
                    self._names.add((macro, assigned.target.name))
            for call, macro in self.of(nodes.Call):
                called = macros.get(call.node.name) if isinstance(call.node, nodes.Name) else None
                if called is not None:
                    given = [*zip((name.name for name in called.args), call.args)]
                    given += [(keyword.key, keyword.value) for keyword in call.kwargs]
                    self._names |= {(called.name, name) for name, value in given if self.is_content(value, macro)}
            if known == len(self._names):
                break

    def of(self, kind: type[N]) -> Iterator[tuple[N, str]]:
        """All nodes of a kind, each with the macro that it is in."""
        return ((node, macro) for node, macro in self._nodes if isinstance(node, kind))

    def is_content(self, node: nodes.Node, macro: str) -> bool:
        if isinstance(node, nodes.CondExpr):
            return any(self.is_content(one, macro) for one in (node.expr1, node.expr2) if one is not None)
        if isinstance(node, nodes.And | nodes.Or):
            return self.is_content(node.left, macro) or self.is_content(node.right, macro)
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr) and node.node.attr == "get":
            return bool(node.args) and isinstance(node.args[0], nodes.Const) and node.args[0].value == _CONTENT
        if isinstance(node, nodes.Getattr):
            return node.attr == _CONTENT
        if isinstance(node, nodes.Getitem):
            return isinstance(node.arg, nodes.Const) and node.arg.value == _CONTENT
        if not isinstance(node, nodes.Name):
            return False
        return node.name.endswith(_CONTENT) or bool({(macro, node.name), ("", node.name)} & self._names)


def _inside(node: nodes.Node, macro: str) -> Iterator[tuple[nodes.Node, str]]:
    for child in node.iter_child_nodes():
        yield child, macro
        yield from _inside(child, child.name if isinstance(child, nodes.Macro) else macro)


def _looped(node: nodes.Node) -> nodes.Node:
    """What is looped over, be it filtered or cut."""
    while isinstance(node, nodes.Filter) or (isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)):
        if node.node is None:
            break
        node = node.node
    return node
