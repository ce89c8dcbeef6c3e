"""Finds the first of several strings in text that arrives in pieces, without ever looking at a character twice.

This is an Aho-Corasick automaton. It knows nothing of tokens, tags or stop rules; those who use it decide what a
find means. The match that ends first wins; of those that end together, the longest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple


class Scan(NamedTuple):
    text: str  # can no longer become part of a match
    match: str | None
    rest: str  # what follows the match, not yet looked at


class Scanner:
    """Holds back only the longest suffix that could still become one of the patterns."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._depth = [0]
        self._match: list[str | None] = [None]  # the longest pattern that ends at this node
        for pattern in patterns:
            self._add(pattern)
        self._fail = [0] * len(self._next)
        self._link()
        self._node = 0
        self._held = ""

    def _add(self, pattern: str) -> None:
        node = 0
        for char in pattern:
            child = self._next[node].get(char)
            if child is None:
                child = len(self._next)
                self._next[node][char] = child
                self._next.append({})
                self._depth.append(self._depth[node] + 1)
                self._match.append(None)
            node = child
        if node:
            self._match[node] = pattern

    def _link(self) -> None:
        queue = deque(self._next[0].values())
        while queue:
            node = queue.popleft()
            for char, child in self._next[node].items():
                fall = self._fail[node]
                while fall and char not in self._next[fall]:
                    fall = self._fail[fall]
                self._fail[child] = self._next[fall].get(char, 0)
                if self._match[child] is None:
                    self._match[child] = self._match[self._fail[child]]
                queue.append(child)

    def feed(self, text: str) -> Scan:
        """Look at `text`. After a match the scanner starts afresh; feed it `rest` to go on."""
        node = self._node
        for at, char in enumerate(text):
            while node and char not in self._next[node]:
                node = self._fail[node]
            node = self._next[node].get(char, 0)
            match = self._match[node]
            if match is not None:
                seen = self._held + text[: at + 1]
                self._node, self._held = 0, ""
                return Scan(seen[: -len(match)], match, text[at + 1 :])
        seen = self._held + text
        keep = len(seen) - self._depth[node]
        self._node, self._held = node, seen[keep:]
        return Scan(seen[:keep], None, "")

    def flush(self) -> str:
        """No more text comes: give back what was held."""
        held, self._node, self._held = self._held, 0, ""
        return held
