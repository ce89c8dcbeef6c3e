"""Reads a Mach-O library as macOS's loader does, so that it can be checked where no Mac is: load commands, exports, its signature."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass

ARM64 = 0x0100000C
LIBRARY = 6
_HEADER = 32  # bytes of the header; the load commands follow it
_LOAD_DYLIB, _ID_DYLIB, _CODE_SIGNATURE, _BUILD_VERSION = 0xC, 0xD, 0x1D, 0x32
_DYLD_INFO, _DYLD_INFO_ONLY, _EXPORTS_TRIE = 0x22, 0x80000022, 0x80000033
_SIGNATURES, _CODE_DIRECTORY, _SHA256 = 0xFADE0CC0, 0xFADE0C02, 2


@dataclass(frozen=True)
class MachO:
    """What a 64-bit file promises. `oldest`: the macOS that it is built for, as major and minor."""

    processor: int
    kind: int
    install_names: list[str]
    needs: list[str]
    oldest: tuple[int, int]
    exports: frozenset[str]  # as C has them, without the underscore
    unsigned: (
        str  # why a Mac that asks for a signature refuses it; empty: it is signed, and every page is as it was signed
    )


def read(data: bytes) -> MachO:
    processor, _, kind, count = struct.unpack_from("<4I", data, 4)
    commands = list(_commands(data, count))

    def names(wanted: int) -> list[str]:
        # the command's third word says where its text begins
        texts = [text[struct.unpack_from("<I", text, 8)[0] :] for number, text in commands if number == wanted]
        return [text.rstrip(b"\0").decode() for text in texts]

    packed = next((struct.unpack_from("<I", text, 12)[0] for number, text in commands if number == _BUILD_VERSION), 0)
    return MachO(
        processor,
        kind,
        names(_ID_DYLIB),
        names(_LOAD_DYLIB),
        (packed >> 16, packed >> 8 & 255),
        frozenset(_exports(data, commands)),
        _why_unsigned(data, commands),
    )


def _commands(data: bytes, count: int) -> Iterator[tuple[int, bytes]]:
    place = _HEADER
    for _ in range(count):
        number, size = struct.unpack_from("<II", data, place)
        yield number, data[place : place + size]
        place += size


def _exports(data: bytes, commands: list[tuple[int, bytes]]) -> Iterator[str]:
    """The names in the tree in which the loader looks a symbol up."""
    for number, text in commands:
        if number in (_DYLD_INFO, _DYLD_INFO_ONLY):
            start, size = struct.unpack_from("<II", text, 40)
        elif number == _EXPORTS_TRIE:
            start, size = struct.unpack_from("<II", text, 8)
        else:
            continue
        if size:
            yield from (name.removeprefix("_") for name in _below(data[start : start + size], 0, ""))


def _below(tree: bytes, place: int, so_far: str) -> Iterator[str]:
    size, place = _number(tree, place)
    if size:
        yield so_far
    place += size
    children, place = tree[place], place + 1
    for _ in range(children):
        end = tree.index(b"\0", place)
        child, after = _number(tree, end + 1)
        yield from _below(tree, child, so_far + tree[place:end].decode())
        place = after


def _number(tree: bytes, place: int) -> tuple[int, int]:
    """An unsigned LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = tree[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _why_unsigned(data: bytes, commands: list[tuple[int, bytes]]) -> str:
    """A Mac with Apple silicon maps no page whose hash is not the signed one, be the signature ad hoc."""
    found = [text for number, text in commands if number == _CODE_SIGNATURE]
    if not found:
        return "it is not signed"
    start = struct.unpack_from("<I", found[0], 8)[0]
    magic, _, count = struct.unpack_from(">3I", data, start)
    if magic != _SIGNATURES:
        return "its signature is none"
    for index in range(count):
        place = start + struct.unpack_from(">I", data, start + 16 + 8 * index)[0]
        words = struct.unpack_from(">9I4B", data, place)
        if words[0] != _CODE_DIRECTORY:
            continue
        hashes, pages, end = place + words[4], words[7], words[8]
        length, kind, page = words[9], words[10], 1 << words[12]
        if kind != _SHA256 or end != start or pages != -(-end // page):
            return "its signature does not cover the file"
        for at in range(pages):
            signed = data[hashes + at * length : hashes + (at + 1) * length]
            if hashlib.sha256(data[at * page : min((at + 1) * page, end)]).digest() != signed:
                return f"page {at} is not as it was signed"
        return ""
    return "its signature signs nothing"
