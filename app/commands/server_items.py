"""`/resource` and `/prompt` of `grus chat`: what the tool servers that were added have beside tools, for the next message."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from app.commands.tools import plain
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.runtime.tools.connection import McpConnection
    from app.runtime.tools.resources import ServerArgument, ServerFile
    from app.runtime.tools.toolbox import Toolbox


class ChatServerItems:
    """`texts` and `pictures` wait for the next message. Raises GrusError where something cannot be had. `markers` of the model's
    template are taken apart in what comes from a server."""

    def __init__(self, box: Toolbox, sees: bool, markers: Collection[str]) -> None:
        self._box, self._sees, self._markers = box, sees, markers
        self.texts: list[str] = []
        self.pictures: list[bytes] = []

    def clear(self) -> None:
        self.texts.clear()
        self.pictures.clear()

    def resource(self, given: str) -> None:
        """`SERVER URI`; nothing: a list."""
        from app.runtime.tools.connection import listed_resources_of

        words = given.split()
        if len(words) != 2:
            resources, problems = listed_resources_of(self._connections())
            shown = [f"/resource {one.server} {plain(one.uri)}  {one.title}" for one in resources]
            _list([*problems, *shown], "resource")
            return
        name, uri = words
        files = self._box.connection(self._box.settings.server(name)).read(uri).result()
        for file in files:
            self._add(file)
            print(f"{file.name} goes with what you say next.")
        if not files:
            print(f"{plain(uri)} is empty.")

    def prompt(self, given: str) -> str | None:
        """`SERVER NAME ARGUMENT=VALUE...`; missing arguments are asked for. Nothing: a list. The text, when the person sends it."""
        from app.runtime.tools.connection import listed_prompts_of

        try:
            words = shlex.split(given)
        except ValueError as error:
            raise BadRequest(f"This line cannot be read: {error}.", "prompt") from None
        if len(words) < 2:
            prompts, problems = listed_prompts_of(self._connections())
            shown = [f"/prompt {one.server} {shlex.quote(plain(one.name))}  {one.title}" for one in prompts]
            _list([*problems, *shown], "prompt")
            return None
        connection = self._box.connection(self._box.settings.server(words[0]))
        prompt = next((one for one in connection.prompts().result() if one.name == words[1]), None)
        if prompt is None:
            raise BadRequest(f"{words[0]} has no prompt {words[1][:100]!r}. /prompt lists all.", "prompt")
        values = _asked(prompt.arguments, dict(word.partition("=")[::2] for word in words[2:]))
        made = connection.prompt(prompt, values).result()
        print(made.text, *(f"[{file.name}]" for file in made.files), sep="\n")
        if not input("Send this? [y]es, [n]o: ").strip().lower().startswith("y"):
            return None
        for file in made.files:
            self._add(file)
        return self._clean(made.text)

    # -- inside

    def _connections(self) -> list[McpConnection]:
        return [self._box.connection(one) for one in self._box.settings.servers() if one.enabled]

    def _add(self, file: ServerFile) -> None:
        if file.media_type.startswith("image/"):
            if not self._sees:
                raise BadRequest(f"{file.name} is a picture, and this model reads text only.", "resource")
            self.pictures.append(file.data)
            return
        try:
            text = file.data.decode()
        except UnicodeDecodeError:
            raise BadRequest(f"{file.name} is no text.", "resource") from None
        self.texts.append(f'<file name="{file.name}">\n{self._clean(text)}\n</file>')

    def _clean(self, text: str) -> str:
        from app.runtime.tools.loop import without_markers

        return without_markers(text, self._markers)


def _list(lines: Sequence[str], what: str) -> None:
    print("\n".join(lines) if lines else f"No tool server that was added has a {what}.")


def _asked(arguments: Sequence[ServerArgument], given: Mapping[str, str]) -> dict[str, str]:
    values = dict(given)
    for one in arguments:
        if one.name not in values:
            about = ": ".join(filter(None, (plain(one.name), one.description)))
            values[one.name] = input(f"{about}{'' if one.required else ' (optional)'}: ")
    return values
