"""`grus chat [MODEL]`: a conversation in the terminal, with the Guide when no model is named."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grus
from app.commands.memory import TerminalMemory, add_memory, terminal_memory
from app.commands.options import add_conversation, add_model, reasoning, sampling, say_notes
from app.commands.run import ReplyPrinter, ToolReplies, figures, opened
from app.commands.tool_use import ToolTerminal, add_tools, tool_terminal
from engine.errors import BadRequest, ContextOverflow, GrusError
from engine.pipelines.prompt import open_image, open_sound
from engine.starter import GUIDE
from engine.types import SamplingParams, Timings
from engine.vision.processor import hearing, seeing
from engine.whole_file import whole_file

if TYPE_CHECKING:
    from app.commands.server_items import ChatServerItems
    from app.runtime.tools.toolbox import Toolbox

HELP = """\
/image FILE    show the model an image, together with what you say next
/audio FILE    let the model hear a sound, together with what you say next
/resource      list what tool servers have to read; /resource SERVER URI lets it go with what you say next
/prompt        list the prompts of tool servers; /prompt SERVER NAME [ARGUMENT=VALUE ...] uses one
/reset         forget the conversation
/save FILE     write the conversation to a file (.json, else as markdown)
/system TEXT   set the system prompt and start anew
/help          this list
/quit          leave (so does Ctrl-D)
Ctrl-C stops an answer. A line that ends with \\ continues in the next one."""

DESCRIPTION = f"A conversation in the terminal.\n\n{HELP}"


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "chat",
        help="a conversation in the terminal",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command, GUIDE)
    add_conversation(command)
    add_tools(command)
    add_memory(command)
    command.set_defaults(command=chat)


def chat(options: argparse.Namespace) -> int:
    params, reasons = sampling(options), reasoning(options)
    with (
        terminal_memory(options) as memory,
        opened(options) as model,
        tool_terminal(options, model, memory) as tools,
    ):
        backend = model.loaded.backend
        print(f"{model.name} on {backend.describe()}. /help lists what you can do.", file=sys.stderr)
        conversation = _Conversation(model, params, options.system, reasons, options.hide_reasoning, tools, memory)
        for path in options.image:
            conversation.show(path)
        for path in options.audio:
            conversation.play(path)
        conversation.hold()
    return 0


class _Conversation:
    """Reads lines, answers them, and obeys commands until the end of input."""

    def __init__(
        self,
        model: grus.Model,
        params: SamplingParams,
        system: str | None,
        reasons: dict[str, Any],
        hides_reasoning: bool = False,
        tools: ToolTerminal | None = None,
        memory: TerminalMemory | None = None,
    ) -> None:
        self.model, self.params, self.system, self.reasons = model, params, system, reasons
        self.hides_reasoning, self.tools, self.memory = hides_reasoning, tools, memory
        self.messages: list[dict[str, Any]] = []
        self.images: list[Path] = []  # shown, and waiting for words
        self.sounds: list[Path] = []
        self.noted: set[str] = set()
        self._box: Toolbox | None = None  # of servers whose resources and prompts are used
        self._items: ChatServerItems | None = None

    def hold(self) -> None:
        try:
            self._hold()
        finally:
            if self._box is not None:
                self._box.close()

    def _hold(self) -> None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (line editing and history for input())
        while True:
            try:
                line = self._read()
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()
                continue
            if line.startswith("/"):
                if not self._obey(line):
                    return
            elif line.strip():
                self._answer(line)

    def show(self, path: Path) -> None:
        """Raises where there is no image, or the model sees none."""
        if not seeing(self.model.loaded.vision):
            reads = "reads text only" if self.model.loaded.vision is None else "hears sounds"
            raise BadRequest(f"{self.model.name} {reads} and does not see images.", "images")
        open_image(path)
        self.images.append(path)

    def play(self, path: Path) -> None:
        """Raises where there is no sound, or none that the model hears."""
        ears = hearing(self.model.loaded.vision)
        if ears is None:
            raise BadRequest(f"{self.model.name} does not hear sound.", "audio")
        ears.sound(open_sound(path))
        self.sounds.append(path)

    def _read(self) -> str:
        line = input("> ")
        while line.endswith("\\"):
            line = line[:-1] + "\n" + input("… ")
        return line

    def _obey(self, line: str) -> bool:
        """False: leave."""
        command, _, rest = line.partition(" ")
        rest = rest.strip()
        if command in ("/quit", "/exit"):
            return False
        if command == "/image":
            self._add(command, rest, self.show)
        elif command == "/audio":
            self._add(command, rest, self.play)
        elif command in ("/resource", "/prompt"):
            self._use(command, rest)
        elif command == "/reset":
            self._forget()
            print("The conversation is forgotten.")
        elif command == "/system":
            self.system = rest or None
            self._forget()
            print(
                "A new conversation, with this system prompt."
                if rest
                else "A new conversation, without a system prompt."
            )
        elif command == "/save":
            self._save(rest)
        else:
            if command != "/help":
                print(f"There is no command {command}.")
            print(HELP)
        return True

    def _add(self, command: str, name: str, add: Callable[[Path], None]) -> None:
        if not name:
            print(f"Say which: {command} FILE")
            return
        try:
            add(Path(name).expanduser())
        except GrusError as error:
            print(error)
        else:
            print(f"{name} goes with what you say next.")

    def _use(self, command: str, rest: str) -> None:
        """A resource or a prompt of a tool server."""
        text = None
        try:
            items = self._server_items()
            if command == "/prompt":
                text = items.prompt(rest)
            else:
                items.resource(rest)
        except GrusError as error:
            print(error)
        except KeyboardInterrupt:
            print()
        if text:
            self._answer(text)

    def _server_items(self) -> ChatServerItems:
        from app.commands.server_items import ChatServerItems
        from app.runtime.tools.toolbox import Toolbox

        if self._items is None:
            box = self.tools.box if self.tools is not None else None
            if box is None:
                box = self._box = Toolbox(only=())
            loaded = self.model.loaded
            self._items = ChatServerItems(box, seeing(loaded.vision), loaded.tokenizer.markers)
        return self._items

    def _given(self, line: str) -> Any:
        """A message with all that waits for it."""
        texts = self._items.texts if self._items is not None else []
        pictures = self._items.pictures if self._items is not None else []
        return grus.with_images("\n\n".join([*texts, line]), [*self.images, *pictures], self.sounds)

    def _forget(self) -> None:
        self.messages.clear()
        self._forget_waiting()

    def _forget_waiting(self) -> None:
        self.images.clear()
        self.sounds.clear()
        if self._items is not None:
            self._items.clear()

    def _save(self, name: str) -> None:
        if not name:
            print("Say where: /save FILE")
            return
        path = Path(name).expanduser()
        messages = self._all_messages()
        if path.suffix == ".json":
            text = json.dumps(
                {"model": self.model.name, "messages": messages}, ensure_ascii=False, indent=2, default=str
            )
        else:
            text = "\n\n".join(f"**{m['role'].capitalize()}**\n\n{_markdown(m)}" for m in messages)
        try:
            with whole_file(path) as part:
                part.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            print(f"{path} could not be written: {error.strerror}.")
        else:
            print(f"Saved {len(messages)} messages to {path}.")

    def _all_messages(self) -> list[dict[str, Any]]:
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, *self.messages]

    def _read_messages(self) -> list[Mapping[str, Any]]:
        """What the model reads: the conversation, and the facts that were kept."""
        facts = self.memory.facts if self.memory is not None else ()
        if not facts:
            return list(self._all_messages())
        from app.runtime.memories import with_facts

        return list(with_facts(self._all_messages(), facts, self.model.loaded.tokenizer.markers))

    def _answer(self, line: str) -> None:
        self.messages.append({"role": "user", "content": self._given(line)})
        try:
            answer, timings = self._stream() if self.tools is None else self._act(self.tools)
        except ContextOverflow as error:
            self.messages.pop()
            print(f"{error} /reset starts anew.", file=sys.stderr)
        except GrusError as error:
            self.messages.pop()
            print(f"{error}", file=sys.stderr)
        else:
            # A stopped answer stays in the conversation as far as it came: the person has read it.
            if answer is not None:
                self.messages.append({"role": "assistant", "content": answer})
            self._forget_waiting()
            if timings:
                print(f"[{figures(timings)}]", file=sys.stderr)

    def _act(self, tools: ToolTerminal) -> tuple[str | None, Timings | None]:
        """The same with tools. What was called stays in the conversation, also where the person stopped it."""
        replies = ToolReplies(self.model, self.params, self.reasons, hides_reasoning=self.hides_reasoning)
        loop = tools.loop(replies.ask)
        before = self._read_messages()
        try:
            loop.run(before)
        except KeyboardInterrupt:
            print("\n[stopped]", file=sys.stderr)
            self.messages += map(dict, loop.messages[len(before) :])
            return replies.stopped or None, None
        self.messages += map(dict, loop.messages[len(before) :])
        return None, replies.timings

    def _stream(self) -> tuple[str, Timings | None]:
        prepared = self.model.prepare(self._read_messages(), self.params, **self.reasons)
        say_notes([note for note in prepared.prompt.notes if note not in self.noted])
        self.noted.update(prepared.prompt.notes)
        handle = self.model.service.submit(prepared.request)
        printer = ReplyPrinter(prepared.reader, reasoning=not self.hides_reasoning)
        try:
            printer.follow(handle)
        except KeyboardInterrupt:
            handle.cancel()
            print("\n[stopped]", file=sys.stderr)
            for _ in handle:  # what was made before the stop took effect
                pass
            return printer.answer, None
        print()
        return printer.answer, handle.result().timings


def _markdown(message: dict[str, Any]) -> str:
    content = message["content"]
    called = [f"`{call['function']['name']} {call['function']['arguments']}`" for call in message.get("tool_calls", ())]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return "\n\n".join(text for text in (*map(_part_markdown, parts), *called) if text)


def _part_markdown(part: Mapping[str, Any]) -> str:
    match part["type"]:
        case "text":
            return str(part["text"])
        case "image":
            return "[picture]" if isinstance(part["image"], bytes) else f"![]({part['image']})"
        case _:
            return f"[{part['audio'].name}]({part['audio']})"
