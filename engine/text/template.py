"""Chat templates: a list of messages becomes the text that a checkpoint was trained to see.

Finds the templates of a checkpoint folder (or a built-in one), renders them in the sandbox, and turns every way in
which that can fail into a TemplateError. Adds nothing of its own to a conversation: no default system prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import jinja2
from jinja2 import nodes

from engine.errors import TemplateError
from engine.text.builtin_templates import builtin_template
from engine.text.sandbox import Environment, LimitReached, metered

_REASONING_NAMES = ("reasoning_content", "thinking", "reasoning")
_CONTINUES = "CONTINUE_FINAL_MESSAGE_TAG "  # its last space shows whether the template trims


class Names(Protocol):
    """The part of a tokenizer that is needed here."""

    @property
    def special_tokens(self) -> Mapping[str, str]: ...

    def id(self, token: str) -> int | None: ...


class ChatTemplate:
    """All templates of one checkpoint, by name; most have one, called "default"."""

    def __init__(self, sources: Mapping[str, str], special_tokens: Mapping[str, str] | None = None) -> None:
        self._sources = dict(sources)
        self._special_tokens = dict(special_tokens or {})
        self._environment = Environment()
        self._compiled: dict[str, jinja2.Template] = {}
        self._shapes: dict[str, ContentShape] = {}

    @classmethod
    def from_folder(cls, path: str | Path, tokenizer: Names, config: Mapping[str, Any] | None = None) -> ChatTemplate:
        """The checkpoint's own templates, else the built-in one of its family, else none."""
        sources = _find_sources(Path(path))
        if not sources:
            builtin = builtin_template(str((config or {}).get("model_type", "")), tokenizer.id)
            sources = {"default": builtin} if builtin is not None else {}
        return cls(sources, tokenizer.special_tokens)

    @property
    def names(self) -> tuple[str, ...]:
        """Empty for a base model, which has no chat format."""
        return tuple(self._sources)

    def compile(self) -> None:
        """Now, instead of at the first conversation. What is wrong with a template is said then."""
        for name, source in self._sources.items():
            with suppress(Exception), metered():
                self._compiled[name] = self._environment.load(source)
            self._shape(name)

    def source(self, name: str | None = None, *, tools: bool = False) -> str:
        """The template's text; parsers of replies are chosen by it."""
        return self._sources[self._choose(name, tools)]

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        *,
        name: str | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        continue_final_message: bool = False,
        **variables: Any,
    ) -> str:
        """`variables` reach the template as they are: enable_thinking, reasoning_effort and whatever else it knows.

        With `continue_final_message` the text ends inside the last message, for the model to go on with it.
        """
        name = self._choose(name, bool(tools))
        given = (
            self._special_tokens
            | {"tools": _plain(tools) or None, "documents": _plain(documents)}
            | {"add_generation_prompt": add_generation_prompt and not continue_final_message}
            | _plain(variables)
        )
        refused: TemplateError | None = None
        for opened in (True, False):
            chat = [_prepared(message, self._shape(name), opened) for message in messages]
            final = _open_final(chat) if continue_final_message else None
            try:
                text = self._run(name, given | {"messages": chat})
            except TemplateError as error:
                refused = refused or error
                if not any(_has_text_arguments(message) for message in messages):
                    break
            else:
                return text if final is None else _cut_after(text, final)
        assert refused is not None
        raise refused

    def _choose(self, name: str | None, tools: bool) -> str:
        if not self._sources:
            raise TemplateError(
                "This model has no chat template: it continues texts and was not made for conversations. "
                "Send it a plain prompt."
            )
        if name is None:
            name = "tool_use" if tools and "tool_use" in self._sources else "default"
            if name not in self._sources and len(self._sources) == 1:
                name = next(iter(self._sources))
        if name not in self._sources:
            raise TemplateError(f"This model has no chat template {name!r}. It has {', '.join(self._sources)}.")
        return name

    def _shape(self, name: str) -> ContentShape:
        """Of the content that this template reads; what cannot be parsed is said when it is rendered."""
        if name not in self._shapes:
            self._shapes[name] = ContentShape()
            with suppress(Exception), metered():
                self._shapes[name] = content_shape(self._environment.parsed(self._sources[name]))
        return self._shapes[name]

    def _run(self, name: str, variables: Mapping[str, Any]) -> str:
        try:
            with metered():
                template = self._compiled.get(name)
                if template is None:
                    template = self._compiled[name] = self._environment.load(self._sources[name])
                return template.render(variables)
        except LimitReached as error:
            raise TemplateError(f"The model's chat template was stopped: {error}.") from error
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(
                f"The model's chat template is broken in line {error.lineno}: {error.message}"
            ) from error
        except jinja2.TemplateError as error:  # raise_exception's too: the template's own words
            raise TemplateError(f"The model's chat template refused: {error.message}") from error
        except (RecursionError, MemoryError) as error:
            raise TemplateError("The model's chat template was stopped: it nests too deeply.") from error
        except Exception as error:  # whatever Python raises inside a stranger's template is the template's fault
            raise TemplateError(f"The model's chat template failed on this conversation: {error}") from error


# -- finding


def _find_sources(folder: Path) -> dict[str, str]:
    """Files win over the field in tokenizer_config.json, as newer checkpoints write them beside a stale field."""
    sources: dict[str, str] = {}
    settings_file = folder / "tokenizer_config.json"
    if settings_file.is_file():
        field = _settings(settings_file).get("chat_template")
        if isinstance(field, str):
            sources["default"] = field
        elif isinstance(field, Mapping):
            sources.update({str(name): text for name, text in field.items() if isinstance(text, str)})
        elif isinstance(field, list):
            for entry in field:
                if not isinstance(entry, Mapping) or not isinstance(entry.get("template"), str):
                    raise TemplateError(f"chat_template in {settings_file} must be a text or a list of named texts.")
                sources[str(entry.get("name", "default"))] = entry["template"]
    legacy = folder / "chat_template.json"
    if legacy.is_file() and isinstance(text := _settings(legacy).get("chat_template"), str):
        sources["default"] = text
    if (folder / "chat_template.jinja").is_file():
        sources["default"] = _text(folder / "chat_template.jinja")
    for folder_name in ("chat_templates", "additional_chat_templates"):
        for file in sorted((folder / folder_name).glob("*.jinja")):
            sources[file.stem] = _text(file)
    return sources


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateError(f"{file} cannot be read ({error}).") from error


def _settings(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(_text(file))
    except ValueError as error:
        raise TemplateError(f"{file} is not valid JSON ({error}). Download it again.") from error
    return value if isinstance(value, dict) else {}


# -- preparing what the template sees


def _plain(value: Any) -> Any:
    """A copy of nothing but JSON types: objects would bring methods that the sandbox does not know."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return f"<{type(value).__name__}>"  # an image or a sound: templates ask whether it is there, never what it is


def _prepared(message: Mapping[str, Any], shape: ContentShape, opened: bool) -> dict[str, Any]:
    """One message in the shape that this template reads; what it says stays as it was given, but for the arguments of calls
    where they are `opened`. A field that is null is left
    out, since templates ask whether a field is there."""
    copy: dict[str, Any] = {key: value for key, value in _plain(message).items() if value is not None}
    if "content" in copy:
        copy["content"] = _content(copy["content"], shape)
    reasoning = next((copy[key] for key in _REASONING_NAMES if copy.get(key) is not None), None)
    if reasoning is not None:
        copy = {"thinking": reasoning, **copy, "reasoning_content": reasoning}
    for call in copy.get("tool_calls") or [] if opened else []:
        _open_arguments(call)
    return copy


def _has_text_arguments(message: Mapping[str, Any]) -> bool:
    calls = message.get("tool_calls") or []
    return any(isinstance(call.get("function", call).get("arguments"), str) for call in calls)


def _content(content: Any, shape: ContentShape) -> Any:
    """Some templates read a string, some a list of parts, some both."""
    if isinstance(content, str) and shape.loops and not shape.checks_strings:
        return [{"type": "text", "text": content}]
    if isinstance(content, list) and not shape.loops:
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        strings = [text for text in texts if isinstance(text, str)]
        if len(strings) < len(texts):
            kinds = sorted({str(part.get("type", "?")) for part in content if isinstance(part, dict)} - {"text"})
            raise TemplateError(f"This model takes text only; a message holds {', '.join(kinds) or 'something else'}.")
        return "\n".join(strings)
    return content


def _open_arguments(call: Any) -> None:
    """Clients send a call's arguments as JSON in a string; most templates were written for the object in it."""
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(arguments, dict):
        function["arguments"] = arguments


# -- continuing the last message


def _open_final(chat: list[dict[str, Any]]) -> str:
    """Mark where the last message's text ends, and return that text."""
    content = chat[-1].get("content") if chat else None
    if isinstance(content, str):
        chat[-1]["content"] = content + _CONTINUES
        return content
    for part in reversed(content if isinstance(content, list) else []):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            text: str = part["text"]
            part["text"] = text + _CONTINUES
            return text
    raise TemplateError("There is no text in the last message that could be continued.")


def _cut_after(rendered: str, final: str) -> str:
    at = rendered.rfind(_CONTINUES.strip())
    if at < 0 or final.strip() not in rendered:
        raise TemplateError("The model's chat template drops the end of the last message, so it cannot be continued.")
    trims = not rendered.startswith(_CONTINUES, at)
    return rendered[:at].rstrip() if trims else rendered[:at]


# -- what a template does with a message's content: whether it loops over parts, and whether it checks for strings
#
# Read from the template's syntax tree. Content may have been given another name there, or be the argument of a macro, which calls it
# whatever it likes.

_TESTS = ("string", "iterable", "sequence", "mapping")
_CONTENT = "content"
_MOST_PASSES = 8  # whatever a template hands on, and however often
N = TypeVar("N", bound=nodes.Node)


@dataclass(frozen=True)
class ContentShape:
    loops: bool = False  # over parts
    checks_strings: bool = False


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
