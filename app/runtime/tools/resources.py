"""What an MCP server has beside tools: resources to read and prompts to begin with, listed, and their content within limits.

All of it comes from outside: a person reads a prompt in the message field before it is sent, and signs that nobody sees are left out.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from engine.errors import BadRequest

MOST_LISTED = 500  # of the resources or prompts of a server
_SHORT, _LONG = 200, 1000  # characters of a title and of a description
_MOST_ARGUMENTS, _MOST_FILES, _MOST_TURNS = 20, 20, 50
_LONGEST_PROMPT = 100_000  # characters
LARGEST_FILE = 16 << 20  # bytes of one that a server sends
_VARIABLE = re.compile(r"\{([A-Za-z0-9_.]+)\}")  # of a template; other kinds of RFC 6570 are left out
_INVISIBLE = ("Cc", "Cs", "Co", "Cn")
_UNSEEN = {
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xE0000, 0xE0080),
}  # turn the direction, or are no signs


@dataclass(frozen=True)
class ServerArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True)
class ServerResource:
    """`arguments`: of a template, whose `uri` has them in braces."""

    server: str
    uri: str
    title: str
    description: str = ""
    media_type: str = ""
    arguments: tuple[ServerArgument, ...] = ()

    def filled(self, given: Mapping[str, str]) -> str:
        """The address of one resource. Raises BadRequest."""
        checked = checked_arguments(self.arguments, given)
        return _VARIABLE.sub(lambda match: quote(checked[match[1]], safe=""), self.uri)


@dataclass(frozen=True)
class ServerPrompt:
    server: str
    name: str
    title: str
    description: str = ""
    arguments: tuple[ServerArgument, ...] = ()


@dataclass(frozen=True)
class ServerFile:
    """A resource as a file: a name with an ending by its type, and its content."""

    name: str
    data: bytes
    media_type: str = ""


@dataclass(frozen=True)
class ServerText:
    """A prompt: what is put into the message field, and files that go with it."""

    text: str
    files: tuple[ServerFile, ...] = ()


def checked_arguments(arguments: Sequence[ServerArgument], given: Mapping[str, str]) -> dict[str, str]:
    """Those that are not empty. Raises BadRequest."""
    known = {one.name for one in arguments}
    if unknown := [name for name in given if name not in known]:
        have = ", ".join(sorted(known)) or "none"
        raise BadRequest(f"There is no argument {unknown[0][:100]!r} here. There are: {have}.", "arguments")
    if missing := [one.name for one in arguments if one.required and not given.get(one.name, "").strip()]:
        raise BadRequest(f"{missing[0]} is missing.", "arguments")
    return {name: value for name, value in given.items() if value.strip()}


def listed_resources(server: str, resources: Sequence[Any], templates: Sequence[Any]) -> list[ServerResource]:
    """Those of the package. A template that no person can fill in here is left out."""
    found = [_resource(server, str(one.uri), one) for one in resources]
    for one in templates:
        names = dict.fromkeys(_VARIABLE.findall(one.uri_template))
        if names and len(names) <= _MOST_ARGUMENTS and "{" not in _VARIABLE.sub("", one.uri_template):
            arguments = tuple(ServerArgument(name, "", True) for name in names)
            found.append(_resource(server, one.uri_template, one, arguments))
    return found[:MOST_LISTED]


def _resource(server: str, uri: str, one: Any, arguments: tuple[ServerArgument, ...] = ()) -> ServerResource:
    title = line(one.title or one.name or uri)
    return ServerResource(server, uri, title, line(one.description or "", _LONG), line(one.mime_type or ""), arguments)


def listed_prompts(server: str, prompts: Sequence[Any]) -> list[ServerPrompt]:
    def arguments(one: Any) -> tuple[ServerArgument, ...]:
        given = (one.arguments or ())[:_MOST_ARGUMENTS]
        return tuple(ServerArgument(arg.name, line(arg.description or "", _LONG), bool(arg.required)) for arg in given)

    return [
        ServerPrompt(server, one.name, line(one.title or one.name), line(one.description or "", _LONG), arguments(one))
        for one in prompts[:MOST_LISTED]
    ]


def read_contents(contents: Sequence[Any]) -> tuple[ServerFile, ...]:
    """Of a resource that was read."""
    return tuple(file for part in contents[:_MOST_FILES] if (file := embedded(part)) is not None)


def prompt_text(messages: Sequence[Any]) -> ServerText:
    """A prompt as text for the message field, and what else it has as files. Several turns are marked with who speaks."""
    turns: list[str] = []
    files: list[ServerFile] = []
    messages = messages[:_MOST_TURNS]
    several = len({message.role for message in messages}) > 1
    for message in messages:
        part = message.content
        if part.type == "text":
            turns.append((f"{message.role.capitalize()}: " if several else "") + visible(part.text))
        elif part.type == "resource" and (file := embedded(part.resource)) is not None:
            files.append(file)
        elif part.type == "resource_link":
            turns.append(visible(f"[{part.name}: {part.uri}]"))
        elif part.type in ("image", "audio") and (data := decoded(part.data)) is not None:
            files.append(ServerFile(file_name(part.type, part.mime_type), data, part.mime_type))
    text = "\n\n".join(turns)
    if len(text) > _LONGEST_PROMPT:
        raise BadRequest("This prompt is longer than a message field holds.", "prompt")
    return ServerText(text, tuple(files[:_MOST_FILES]))


def embedded(resource: Any) -> ServerFile | None:
    """A resource as a file; None where it is no text and cannot be decoded."""
    text = getattr(resource, "text", None)
    data = visible(text).encode("utf-8", "replace") if text is not None else decoded(getattr(resource, "blob", ""))
    if data is None or len(data) > LARGEST_FILE:
        return None
    kind = line(resource.mime_type or ("text/plain" if text is not None else ""))
    return ServerFile(file_name(str(resource.uri), kind), data, kind)


def decoded(data: str) -> bytes | None:
    with_errors = (binascii.Error, ValueError)
    try:
        return base64.b64decode(data, validate=True)
    except with_errors:
        return None


def file_name(uri: str, media_type: str | None) -> str:
    """The last part of an address, with an ending that fits the type: other programs, and Grus, know a file by it."""
    last = re.split(r"[/\\:]", unquote(re.sub(r"[?#].*", "", uri, flags=re.DOTALL)).rstrip("/"))[-1]
    plain = re.sub(r"[^\w.-]+", "-", line(last)).strip(".-")[:80] or "resource"
    kind = (media_type or "").partition(";")[0].strip().lower()
    known = PurePosixPath(plain).suffix and mimetypes.guess_type(plain)[0]
    if not kind or known == kind or (known and kind in ("text/plain", "application/octet-stream")):
        return plain
    ending = ".txt" if kind == "text/plain" else mimetypes.guess_extension(kind) or ""
    return plain + (ending or (".txt" if kind.startswith("text/") else ""))


def line(text: str, most: int = _SHORT) -> str:
    return " ".join(visible(text).split())[:most]


def visible(text: str) -> str:
    """Without signs that a person does not see and a model reads, and without those that turn the direction of others."""
    return "".join(_seen(text))


def _seen(text: str) -> Iterator[str]:
    for sign in text:
        if sign in "\n\t" or (unicodedata.category(sign) not in _INVISIBLE and ord(sign) not in _UNSEEN):
            yield sign
