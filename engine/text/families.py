"""The families of models that call functions: how each spells its calls and its reasoning.

A chat template tells the family by the marks that it writes, else the model's type does. `convention` reads the calls of a
reply; `spelling` says how the family's template writes them, for grammars and for templates that leave calls out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from engine.text.channels import CALL_OPEN, HARMONY, MUSE
from engine.text.literal_readers import GEMMA, PYTHON, LiteralReader, LiteralSyntax
from engine.text.reasoning import ReasoningTags
from engine.text.tool_readers import QWEN_TAGS, JsonReader, Lead, NamedReader, Reader, TagSyntax, XmlReader
from engine.text.tools import Convention, MakeReader, ToolParser, listed

Schemas: TypeAlias = Mapping[str, Mapping[str, Any]]  # of the parameters of each function
Arguments = Literal["json", "tags", "python", "gemma"]

_JSON_HEAD = '{"name": "{name}", "arguments": '


@dataclass(frozen=True)
class CallSpelling:
    """A reply's calls: `marker each head ARGUMENTS tail end`, once for each call, with `between` them; where they are a
    group, `marker open`, then the calls, then `close`. `{name}` stands for the function, `{id}` and `{number}` for ids."""

    marker: str  # words may come before it, and none of them contains it
    head: str
    tail: str = ""
    each: str = ""
    end: str = ""
    between: str = ""
    grouped: bool = False
    open: str = ""
    close: str = ""
    arguments: Arguments = "json"
    tags: TagSyntax | None = None
    gap: str = ""  # a line break between the tags: "\n"; "?" where the family's models differ
    opened: str = ""  # a reply's first call has no `marker`, since the prompt ends with it; words then begin with this


@dataclass(frozen=True)
class MessageSpelling:
    """The messages of a reply whose format has several: `note` TEXT `note_end`, any number of times, then the answer or calls."""

    notes: tuple[str, ...]
    note_end: str
    answer: str
    call: str  # before the arguments
    call_end: str
    between: str
    tags: TagSyntax | None = None
    gap: str = ""


@dataclass(frozen=True)
class Family:
    """One family. `signs`: a template that has one of these strings is of it."""

    name: str
    signs: tuple[str, ...]
    convention: Callable[[Schemas], Convention]
    spelling: CallSpelling | MessageSpelling | None  # None: JSON that nothing marks
    types: tuple[str, ...] = ()  # beginnings of model types, for templates that show no calls
    also: str = ""  # the template must have this as well
    marks: tuple[str, ...] = ()  # of parts of a call, which its spelling does not show
    stops: tuple[str, ...] = ()  # tokens that end a reply, besides those that the files name

    @property
    def writes_json(self) -> bool:
        """Whether the arguments of its calls are JSON."""
        spelling = self.spelling
        tagged = spelling is not None and spelling.tags is not None
        return not tagged and not (isinstance(spelling, CallSpelling) and spelling.arguments != "json")


# -- readers


def _json() -> Reader:
    return Lead(skip={}, keep={"{": JsonReader})


def _json_list(marker: str, *closes: str) -> Callable[[Schemas], Convention]:
    """A JSON list of calls after a mark; a single call as well, and several that no list holds."""

    def group() -> Reader:
        return Lead(skip={"[": listed}, keep={"{": JsonReader})

    return lambda schemas: Convention(
        opens={marker: group}, closes=("]", *closes), joins={",": listed, "{": _after_brace}
    )


def _after_brace() -> Reader:
    reader = JsonReader()
    reader.feed("{")
    return reader


def _tagged(tags: TagSyntax, open: str, *closes: str) -> Callable[[Schemas], Convention]:
    """Calls in tags. The tag of a function's name begins a call without the opening mark as well: a further one of a group."""

    def make(schemas: Schemas) -> Convention:
        def reader() -> Reader:
            return Lead(skip={}, keep={"{": JsonReader, "": lambda: XmlReader(schemas, tags)})

        def after_name() -> Reader:
            inner = XmlReader(schemas, tags)
            inner.feed(tags.name)
            return inner

        more: dict[str, MakeReader] = {tags.name: after_name} if tags.name else {}
        return Convention(opens={open: reader, **more}, closes=closes)

    return make


def _named(
    head: str, opens: Sequence[str], closes: Sequence[str], joins: Sequence[str] = ()
) -> Callable[[Schemas], Convention]:
    """A name, a mark, and the arguments as JSON."""
    pattern = re.compile(head)

    def reader() -> Reader:
        return NamedReader(pattern, _UP_TO_BRACE)

    return lambda schemas: Convention(
        opens=dict.fromkeys(opens, reader), closes=tuple(closes), joins=dict.fromkeys(joins, reader)
    )


_UP_TO_BRACE = re.compile(r"[^{]{0,400}", re.DOTALL)


def _literal(
    syntax: LiteralSyntax, opens: Sequence[str], closes: Sequence[str], joins: Sequence[str] = ()
) -> Callable[[Schemas], Convention]:
    def reader() -> Reader:
        return LiteralReader(syntax)

    def group() -> Reader:
        return Lead(skip={"[": reader}, keep={"": reader})

    return lambda schemas: Convention(
        opens=dict.fromkeys(opens, group), closes=tuple(closes), joins=dict.fromkeys(joins, reader)
    )


def _qwen(schemas: Schemas) -> Convention:
    """Hermes' and Qwen's: JSON or, in the coders and from Qwen3.5 on, XML within <tool_call>; the latter also alone."""

    def xml() -> Reader:
        return XmlReader(schemas)

    def either() -> Reader:
        return Lead(skip={}, keep={"{": JsonReader, "<function=": xml})

    def after_name() -> Reader:
        reader = XmlReader(schemas)
        reader.feed("<function=")
        return reader

    return Convention(opens={"<tool_call>": either, "<function=": after_name}, closes=("</tool_call>",))


def _llama(schemas: Schemas) -> Convention:
    """Llama 3.1 and later: JSON after <|python_tag|>, or a reply that is nothing but JSON; several joined by ";"."""

    def known() -> Reader:
        return JsonReader(known=frozenset(schemas))

    def bare() -> Reader:
        return Lead(skip={}, keep={"{": known})

    def opened() -> Reader:
        reader = JsonReader(known=frozenset(schemas))
        reader.feed("{")
        return reader

    return Convention(opens={"<|python_tag|>": _json}, joins={";": bare, "{": opened}, bare=bare)


_FENCED_HEAD = re.compile(r"([\w.:/-]{1,256})[ \t]*\n\s*(?:```(?:json)?\s*)?")
_FENCED_PARTIAL = re.compile(r"[\w.:/-]{1,256}(?:[ \t]*(?:\n\s*(?:`{0,2}|```(?:j|js|jso|json)?\s*)?)?)?")


def _hunyuan(_: Schemas) -> Convention:
    """Within <tool_calls>, JSON calls, in a list or one after the other, or one <tool_call> each with a name and fenced arguments."""

    def fenced() -> Reader:
        return NamedReader(_FENCED_HEAD, _FENCED_PARTIAL)

    def one() -> Reader:
        return Lead(skip={}, keep={"{": JsonReader, "": fenced})

    def group() -> Reader:
        return Lead(skip={"<tool_call>": one, "[": listed}, keep={"{": JsonReader})

    return Convention(
        opens={"<tool_calls>": group, "<tool_call>": one},
        closes=("```", "</tool_call>", "]", "</tool_calls>"),
        joins={",": listed, "{": _after_brace},
    )


_NAMED_PARTIAL = re.compile(r"\s*(?:[\w.:/-]{1,256}[ \t]*(?:\n\s*)?)?")


def _glm4(schemas: Schemas) -> Convention:
    """A message of its own for each call: the function's name, and its arguments as JSON in the next line. A function that was not
    offered is no call, since nothing else marks the first."""
    names = "|".join(map(re.escape, schemas)) or "(?!)"
    head = re.compile(rf"\s*({names})[ \t]*\n\s*")

    def reader() -> Reader:
        return NamedReader(head, _NAMED_PARTIAL)

    return Convention(opens={"<|assistant|>": reader}, bare=reader)


def _command_r(_: Schemas) -> Convention:
    def group() -> Reader:
        return Lead(skip={"```json": opening}, keep={})

    def opening() -> Reader:
        return Lead(skip={"[": listed}, keep={})

    return Convention(opens={"Action:": group}, closes=("]", "```"), joins={",": listed})


# -- spellings

_GLM_TAGS = TagSyntax("", "", "<arg_key>", "</arg_key>", "</arg_value>", "</tool_call>", value="<arg_value>")
_SEED_TAGS = TagSyntax("<function=", ">", "<parameter=", ">", "</parameter>", "</function>")
_INVOKE_TAGS = TagSyntax('<invoke name="', ">", '<parameter name="', ">", "</parameter>", "</invoke>")
_DSML_TAGS = TagSyntax(
    '<｜DSML｜invoke name="', ">", '<｜DSML｜parameter name="', ">", "</｜DSML｜parameter>", "</｜DSML｜invoke>"
)
_ATEM_TAGS = TagSyntax('<atem:invoke name="', ">", '<atem:parameter name="', ">", "</atem:parameter>", "</atem:invoke>")
_CALLS_BEGIN, _CALL_BEGIN, _SEP = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"
_CALL_END, _CALLS_END = "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"
_DEEPSEEK = _named(
    rf"\s*(?:{_CALL_BEGIN}\s*)?(?:function{_SEP})?([\w.:/-]+)\s*(?:{_SEP})?\s*(?:```(?:json)?\s*)?",
    opens=(_CALLS_BEGIN,),
    closes=("```", _CALL_END, _CALLS_END),
    joins=(_CALL_BEGIN,),
)
_MISTRAL = _named(r"\s*([\w.:/-]+?)(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*", opens=("[TOOL_CALLS]",), closes=())


_MISTRAL_MARKS = ("[ARGS]", "[CALL_ID]")


def _mistral(schemas: Schemas) -> Convention:
    """`[TOOL_CALLS]name[ARGS]{...}`, or the older list."""
    inner = _MISTRAL(schemas)
    named = inner.opens["[TOOL_CALLS]"]

    def either() -> Reader:
        return Lead(skip={"[": listed}, keep={"{": JsonReader, "": named})

    return Convention(opens={"[TOOL_CALLS]": either}, closes=("]",), joins={",": listed})


def _dsml(group: str, sign: str) -> Family:
    open, close = f"<｜DSML｜{group}>", f"</｜DSML｜{group}>"
    return Family(
        f"dsml_{group}",
        (sign,),
        _tagged(_DSML_TAGS, open, close),
        CallSpelling(open, '<｜DSML｜invoke name="{name}">\n', "</｜DSML｜invoke>\n", grouped=True, open="\n", close=close,
                 arguments="tags", tags=_DSML_TAGS, gap="\n"),
    )  # fmt: skip


FAMILIES: tuple[Family, ...] = (
    Family(
        "harmony",
        ("<|channel|>",),
        _named(r"(?:functions\.)?([\w.:/-]+)[^{]*?<\|message\|>\s*", opens=(CALL_OPEN,), closes=("<|call|>",)),
        MessageSpelling(
            ("<|channel|>analysis<|message|>", "<|channel|>commentary<|message|>"), "<|end|><|start|>assistant",
            "<|channel|>final<|message|>", "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>", "",
            "<|call|><|start|>assistant",
        ),
        ("gpt_oss", "gpt-oss"),
        stops=("<|return|>", "<|call|>"),
    ),
    Family(
        "muse",
        ("<atem:function_calls>",),
        _tagged(_ATEM_TAGS, "<atem:function_calls>", "</atem:function_calls>"),
        MessageSpelling(
            (" to=self<|message|>",), "<|eom|><|start|>assistant", " to=user<|message|>",
            ' to={name}<|message|><atem:function_calls>\n<atem:invoke name="{name}">\n',
            "</atem:invoke>\n</atem:function_calls>", "<|eom|><|start|>assistant", _ATEM_TAGS, "\n",
        ),
        ("muse",),
        stops=("<|eot|>",),
    ),
    Family(
        "gemma",
        ("<|tool_call>",),
        _literal(GEMMA, ("<|tool_call>",), ("<tool_call|>",)),
        CallSpelling("<|tool_call>", "call:{name}{", "}", end="<tool_call|>", arguments="gemma"),
        ("gemma4",),
        marks=GEMMA.quotes[:1],
        stops=("<turn|>", "<|tool_response>"),
    ),
    _dsml("function_calls", "'function_calls>"),
    _dsml("tool_calls", "｜DSML｜"),
    Family(
        "deepseek_json",
        (_CALLS_BEGIN,),
        _DEEPSEEK,
        CallSpelling(_CALLS_BEGIN, f"function{_SEP}{{name}}\n```json\n", "\n```", _CALL_BEGIN, _CALL_END, "\n", True,
                 close=_CALLS_END),
        also="```json",
    ),
    Family(
        "deepseek",
        (_CALLS_BEGIN,),
        _DEEPSEEK,
        CallSpelling(_CALLS_BEGIN, f"{{name}}{_SEP}", "", _CALL_BEGIN, _CALL_END, "", True, close=_CALLS_END),
        ("deepseek_v3",),
    ),
    Family(
        "mistral_id",
        ("[CALL_ID]",),
        _mistral,
        CallSpelling("[TOOL_CALLS]", "{name}[CALL_ID]{id}[ARGS]"),
        marks=_MISTRAL_MARKS,
    ),
    Family(
        "mistral",
        ("[ARGS]",),
        _mistral,
        CallSpelling("[TOOL_CALLS]", "{name}[ARGS]"),
        ("ministral3", "mistral3"),
        marks=_MISTRAL_MARKS,
    ),
    Family(
        "mistral_list",
        ("[TOOL_CALLS]",),
        _mistral,
        CallSpelling("[TOOL_CALLS]", _JSON_HEAD, ', "id": "{id}"}', grouped=True, between=", ", open="[", close="]"),
        marks=_MISTRAL_MARKS,
    ),
    Family(
        "kimi",
        ("<|tool_calls_section_begin|>",),
        _named(
            r"\s*(?:<\|tool_call_begin\|>\s*)?(?:functions\.)?([\w./-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*",
            opens=("<|tool_calls_section_begin|>",),
            closes=("<|tool_call_end|>", "<|tool_calls_section_end|>"),
            joins=("<|tool_call_begin|>",),
        ),
        CallSpelling("<|tool_calls_section_begin|>", "functions.{name}:{number}<|tool_call_argument_begin|>", "",
                 "<|tool_call_begin|>", "<|tool_call_end|>", "", True, close="<|tool_calls_section_end|>"),
    ),
    Family(
        "command",
        ("<|START_ACTION|>",),
        _json_list("<|START_ACTION|>", "<|END_ACTION|>"),
        CallSpelling("<|START_ACTION|>", '{"tool_call_id": "{number}", "tool_name": "{name}", "parameters": ', "}",
                 between=",\n    ", grouped=True, open="[\n    ", close="\n]<|END_ACTION|>"),
        ("cohere2",),
    ),
    Family(
        "command_r",
        ("Action:\\n```json", "'Action:'", "\\'Action:\\'"),
        _command_r,
        CallSpelling("Action:", '{\n        "tool_name": "{name}",\n        "parameters": ', "\n    }", between=",\n    ",
                 grouped=True, open="\n```json\n[\n    ", close="\n]```"),
    ),
    Family(
        "minimax",
        ("<minimax:tool_call>",),
        _tagged(_INVOKE_TAGS, "<minimax:tool_call>", "</minimax:tool_call>"),
        CallSpelling("<minimax:tool_call>", '<invoke name="{name}">\n', "</invoke>\n", grouped=True, open="\n",
                 close="</minimax:tool_call>", arguments="tags", tags=_INVOKE_TAGS, gap="\n"),
        ("minimax_m2",),
    ),
    Family(
        "seed",
        ("<seed:tool_call>",),
        _tagged(_SEED_TAGS, "<seed:tool_call>", "</seed:tool_call>"),
        CallSpelling("<seed:tool_call>", "\n<function={name}>\n", "</function>\n", end="</seed:tool_call>", between="\n",
                 arguments="tags", tags=_SEED_TAGS, gap="\n"),
        ("seed_oss",),
    ),
    Family(
        "lfm",
        ("<|tool_call_start|>", "<|tool_list_start|>"),
        _literal(PYTHON, ("<|tool_call_start|>",), ("]", "<|tool_call_end|>"), (",",)),
        CallSpelling("<|tool_call_start|>", "{name}(", ")", between=", ", grouped=True, open="[",
                 close="]<|tool_call_end|>", arguments="python"),
        ("lfm2", "lfm3"),
    ),
    Family(
        "olmo",
        ("<function_calls>",),
        _literal(PYTHON, ("<function_calls>",), ("</function_calls>",), ("",)),
        CallSpelling("<function_calls>", "{name}(", ")", between="\n", grouped=True, close="</function_calls>",
                     arguments="python"),
        ("olmo3",),
    ),
    Family(
        "nemotron",
        ("<TOOLCALL>",),
        _json_list("<TOOLCALL>", "</TOOLCALL>"),
        CallSpelling("<TOOLCALL>", _JSON_HEAD, "}", between=", ", grouped=True, open="[", close="]</TOOLCALL>"),
    ),
    Family(
        "phi",
        ("<|/tool_call|>",),
        _json_list("<|tool_call|>", "<|/tool_call|>"),
        CallSpelling("<|tool_call|>", _JSON_HEAD, "}", end="<|/tool_call|>"),
    ),
    Family(
        "functools",
        ("functools[", "<|/tool|>"),
        lambda schemas: Convention(
            opens={"functools[": listed, "<|tool_call|>": lambda: Lead(skip={"[": listed}, keep={"{": JsonReader})},
            closes=("]", "<|/tool_call|>"),
            joins={",": listed},
        ),
        CallSpelling("functools[", _JSON_HEAD, "}", between=", ", grouped=True, close="]"),
    ),
    Family(
        "granite",
        ("<|tool_call|>",),
        _json_list("<|tool_call|>"),
        CallSpelling("<|tool_call|>", _JSON_HEAD, "}", between=", ", grouped=True, open="[", close="]"),
    ),
    Family(
        "glm",
        ("<arg_key>",),
        _tagged(_GLM_TAGS, "<tool_call>"),
        CallSpelling("<tool_call>", "{name}", "</tool_call>", between="?", arguments="tags", tags=_GLM_TAGS, gap="?"),
        ("glm4_moe", "laguna"),
    ),
    Family(
        "glm4",
        ("# 可用工具",),
        _glm4,
        CallSpelling("<|assistant|>", "{name}\n", opened="\n"),
        ("glm4",),
        stops=("<|observation|>",),
    ),
    Family(
        "call_list",
        ("<tool_calls>[",),
        _hunyuan,
        CallSpelling("<tool_calls>", _JSON_HEAD, "}", between=", ", grouped=True, open="[", close="]</tool_calls>"),
    ),
    Family(
        "hunyuan",
        ("<tool_calls>",),
        _hunyuan,
        CallSpelling("<tool_calls>", "{name}\n```json\n", "\n```", "<tool_call>", "</tool_call>", "", True,
                 close="</tool_calls>"),
        ("hunyuan",),
    ),
    Family(
        "qwen_xml",
        ("<function=",),
        _qwen,
        CallSpelling("<tool_call>", "\n<function={name}>\n", "</function>\n", end="</tool_call>", between="\n",
                 arguments="tags", tags=QWEN_TAGS, gap="\n"),
    ),
    Family(
        "exaone",
        ("[|endofturn|]",),
        _qwen,
        CallSpelling("<tool_call>", _JSON_HEAD, "}", end="</tool_call>", between="\n"),
        ("exaone4",),
        also="<tool_call>",
    ),
    Family(
        "qwen",
        ("<tool_call>",),
        _qwen,
        CallSpelling("<tool_call>", "\n" + _JSON_HEAD, "}\n", end="</tool_call>", between="\n"),
        ("smollm3",),
    ),
    Family("llama", ("<|python_tag|>", "<|start_header_id|>"), _llama, None, ("llama",)),
)  # fmt: skip
_BY_NAME = {family.name: family for family in FAMILIES}


def family_of(model_type: str, template_text: str) -> Family:
    """The family of a model: by its chat template where that is known, else by its type."""
    shown = _shown_in(template_text)
    if shown is not None:
        return shown
    for family in FAMILIES:
        if model_type.startswith(family.types or ("\0",)):
            return family
    return _BY_NAME["llama" if "llama" in model_type else "qwen"]


@lru_cache(64)
def _shown_in(template_text: str) -> Family | None:
    for family in FAMILIES:
        if any(sign in template_text for sign in family.signs) and family.also in template_text:
            return family
    return None


@lru_cache(64)
def shows_convention(model_type: str, template_text: str) -> bool:
    """Whether it is known how this model writes calls: its chat template has the marks of a family, or its type is of one."""
    typed = any(family.types and model_type.startswith(family.types) for family in FAMILIES if family.name != "llama")
    return _shown_in(template_text) is not None or (typed and bool(template_text))


def parser_for(model_type: str, template_text: str, tools: Sequence[Mapping[str, Any]] = ()) -> ToolParser:
    """The parser of a model's convention. `tools` are the functions offered, as the API has them."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        schemas[function.get("name", "")] = (function.get("parameters") or {}).get("properties") or {}
    return ToolParser(family_of(model_type, template_text).convention(schemas))


_MARK = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]+\]|｜DSML｜")


def marks_of(model_type: str, template_text: str) -> set[str]:
    """What delimits reasoning, calls and their parts. Where the vocabulary has one of these as a special token, the text of a
    reply must keep it."""
    family, tags = family_of(model_type, template_text), tags_for(model_type, template_text)
    texts = [*family.marks, *parser_for(model_type, template_text).markers, *(tags.markers if tags else ())]
    if family.spelling is not None:
        texts += _texts_in(astuple(family.spelling))
    return {*texts, *(mark for text in texts for mark in _MARK.findall(text))}


def _texts_in(values: Sequence[Any]) -> list[str]:
    nested = [value for value in values if isinstance(value, tuple)]
    return [value for value in values if isinstance(value, str)] + [
        text for value in nested for text in _texts_in(value)
    ]


# -- reasoning

_THINK = ("<think>", "</think>")
_REASONING: tuple[tuple[str, ReasoningTags], ...] = (
    ("<|channel|>analysis", HARMONY),
    ("<atem:function_calls>", MUSE),
    ("<|channel>thought", ReasoningTags("<|channel>thought", "<channel|>")),
    ("<seed:think>", ReasoningTags("<seed:think>", "</seed:think>")),
    ("<mm:think>", ReasoningTags("<mm:think>", "</mm:think>")),
    (
        "<|START_THINKING|>",
        ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>", ("<|START_RESPONSE|>", "<|END_RESPONSE|>")),
    ),
    ("</think>", ReasoningTags(*_THINK)),
    ("<think>", ReasoningTags(*_THINK)),
    ("[/THINK]", ReasoningTags("[THINK]", "[/THINK]")),
    ("[THINK]", ReasoningTags("[THINK]", "[/THINK]")),
)
_WRAPPED_ANSWERS = (("<answer>", "</answer>"), ("<response>", "</response>"))


@lru_cache(64)
def tags_for(model_type: str, template_text: str) -> ReasoningTags | None:
    """None: this model does not reason in a way that can be told apart."""
    for sign, tags in _REASONING:
        if sign not in template_text:
            continue
        if tags.open != _THINK[0]:
            return tags
        wraps = [pair for pair in _WRAPPED_ANSWERS if pair[0] in template_text]
        if model_type.startswith("hunyuan"):
            wraps = [_WRAPPED_ANSWERS[0]]
        return ReasoningTags(*_THINK, wraps[0] if wraps else None)
    return None
