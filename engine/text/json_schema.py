"""Prepares a client's JSON schema for the grammar engine: what it enforces stays or is rewritten, the rest is removed and named.

An object that lists its properties and says nothing about others is closed. JSON Schema would leave it open, but a model that
may invent properties does so until the length limit. A reply of the closed schema is one of the open schema too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llguidance

from engine.errors import BadRequest

BLANK: Any = {"whitespace_pattern": "[ ]?"}  # small models write blanks forever where they are allowed
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")  # by name
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "$ref")
_APPLICATORS = (*_ALTERNATIVES, "not", "if", "dependentSchemas")
_OWN = ("properties", "patternProperties", "additionalProperties", "required", "propertyNames", "items", "prefixItems")
_NOT_ENFORCED = frozenset(
    {
        "uniqueItems", "contains", "minContains", "maxContains", "propertyNames", "dependentSchemas", "dependencies",
        "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
    }
)  # fmt: skip
# what only describes; `$schema` would choose an older draft, of which `_modern` makes the newest
_DESCRIBES = frozenset(
    {
        "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment",
        "$schema", "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema", "x-guidance", "nullable",
        "maxContains", "minContains", "then", "else", "$recursiveAnchor", "$dynamicAnchor",
    }
)  # fmt: skip
_FORMATS = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"]
)  # the grammar engine's
_MOST_PASSES = 8
_LARGEST = 9 * 10**18  # the grammar engine counts to 64 bits, and reads bounds as floating point
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_PATTERNS = {
    "base64": r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "base64url": r"^[A-Za-z0-9_-]*={0,2}$",
    "jwt": r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$",
    "cuid": r"^c[0-9a-z]{24}$",
    "cuid2": r"^[a-z][0-9a-z]{23}$",
    "ulid": r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
    "nanoid": r"^[A-Za-z0-9_-]{21}$",
    "xid": r"^[0-9a-v]{20}$",
    "ksuid": r"^[A-Za-z0-9]{27}$",
    "e164": r"^\+[1-9][0-9]{6,14}$",
    "emoji": r"^(?:\p{Extended_Pictographic}|\p{Emoji_Component})+$",
    "hex": r"^[0-9a-fA-F]*$",
    "mac": r"^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$",
    "cidrv4": rf"^{_BYTE}(?:\.{_BYTE}){{3}}/(?:[0-9]|[12][0-9]|3[0-2])$",
    "json-pointer": r"^(?:/(?:[^~/]|~[01])*)*$",
    "relative-json-pointer": r"^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)$",
    "idn-email": r"^[^\s@]+@[^\s@]+$",
    "idn-hostname": r"^[^\s/@:]+$",
    "uri-reference": r"""^[^\s"<>\\^`{|}]*$""",
}
_SAME = {"byte": "base64", "guid": "uuid", "uuid4": "uuid", "uuidv4": "uuid", "url": "uri", "phone": "e164",
         "datetime": "date-time", "iri-reference": "uri-reference"}  # fmt: skip
_ANY_TEXT = frozenset(  # hints to a program or a form, which restrict no text
    [
        "path",
        "file-path",
        "directory-path",
        "file",
        "password",
        "binary",
        "string",
        "text",
        "textarea",
        "multiline",
        "markdown",
        "html",
    ]
)


@dataclass(frozen=True)
class GrammarSchema:
    """`text` is what the grammar engine enforces of a schema, as JSON; `ignored` are the keywords that it cannot."""

    text: str
    ignored: tuple[str, ...] = ()

    @property
    def value(self) -> dict[str, Any]:
        return dict(json.loads(self.text))


@lru_cache(maxsize=256)
def grammar_schema(text: str) -> GrammarSchema:
    """Of a schema as JSON. Raises BadRequest for what is no schema."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"The JSON schema is not JSON: {error}.", "grammar") from None
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        raise BadRequest("A JSON schema must be an object.", "grammar")
    opened: frozenset[str] = frozenset()
    for _ in range(_MOST_PASSES):
        rewriting = _Rewriting(schema, opened)
        if rewriting.opened == opened:
            break
        opened = rewriting.opened
    else:  # references of references without end: all of them stay open
        rewriting = _Rewriting(
            schema, frozenset(f"#/{k}/{name}" for k in ("$defs", "definitions") for name in schema.get(k, ()))
        )
    return GrammarSchema(json.dumps(rewriting.schema, ensure_ascii=False), tuple(rewriting.ignored))


class _Rewriting:
    """One pass over a schema. `opened` are the references that other schemas add properties to, which stay open: they are
    known after a pass, so that there is another one."""

    def __init__(self, schema: Mapping[str, Any], opened: frozenset[str]) -> None:
        self.opened = opened
        self.ignored: dict[str, None] = {}
        self._definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        self.schema = self._node(schema, "#", "#" in opened)

    def _ignore(self, keyword: str) -> None:
        self.ignored[keyword] = None

    def _node(self, schema: Any, at: str = "", shared: bool = False) -> Any:
        """`shared`: other schemas speak about the same value, so that this one does not know all of its properties."""
        if not isinstance(schema, Mapping):
            return schema
        schema = _modern(schema)
        mixed = shared or _is_mixed(schema)
        if mixed and isinstance(schema.get("$ref"), str):
            self.opened |= {schema["$ref"]}
        out: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _SCHEMAS and isinstance(value, Mapping):
                inside = {name: f"{at}/{key}/{name}" if at == "#" else "" for name in value}
                out[key] = {
                    name: self._node(one, inside[name], inside[name] in self.opened) for name, one in value.items()
                }
            elif key in _LISTS and isinstance(value, list):
                out[key] = [self._node(one, shared=mixed and key != "prefixItems") for one in value]
            elif key in ("items", "additionalProperties"):
                out[key] = self._node(value)
            elif key not in _DESCRIBES and key not in _NOT_ENFORCED and key not in ("not", "if", "dependentRequired"):
                out[key] = value
        self._strings(out)
        self._integers(out)
        self._objects(schema, out, mixed)
        self._alternatives(schema, out)
        for key in _NOT_ENFORCED & schema.keys() - {"propertyNames", "unevaluatedProperties"} - _DESCRIBES:
            if schema[key] is not False:
                self._ignore(key)
        return out

    # -- texts

    def _strings(self, out: dict[str, Any]) -> None:
        pattern, form = out.get("pattern"), out.pop("format", None)
        usable = isinstance(pattern, str) and compiles(json.dumps({"type": "string", "pattern": pattern}))
        if pattern is not None and not usable:
            del out["pattern"]
        if not isinstance(form, str) or "string" not in _types(out):
            if pattern is not None and not usable:
                self._ignore("pattern")
            return
        form = _SAME.get(form, form)
        if form in _FORMATS and (
            not usable or compiles(json.dumps({"type": "string", "pattern": pattern, "format": form}))
        ):
            out["format"] = form
        elif form in _PATTERNS and not usable:
            out["pattern"] = _PATTERNS[form]
        elif not usable:  # with a pattern of its own, a format adds nothing
            if pattern is not None:
                self._ignore("pattern")
            if form not in _ANY_TEXT:
                self._ignore("format")

    def _integers(self, out: dict[str, Any]) -> None:
        """An integer has 64 bits: small models add digits without end, and few clients read more."""
        if set(_types(out)) - {"null"} != {"integer"} or {"enum", "const"} & out.keys():
            return
        for keys, sign in ((("minimum", "exclusiveMinimum"), -1), (("maximum", "exclusiveMaximum"), 1)):
            for key in keys:
                if isinstance(bound := out.get(key), int | float) and abs(bound) > _LARGEST:
                    del out[key]
                    if bound * sign < 0:
                        self._ignore(key)
        if not {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} & out.keys():
            out |= {"minimum": -_LARGEST, "maximum": _LARGEST}

    # -- objects

    def _objects(self, schema: Mapping[str, Any], out: dict[str, Any], mixed: bool) -> None:
        closes = "properties" in schema and not mixed
        if schema.get("unevaluatedProperties") is False and not mixed:
            closes = True
        elif "unevaluatedProperties" in schema and schema["unevaluatedProperties"] is not True:
            self._ignore("unevaluatedProperties")
        names = schema.get("propertyNames")
        if isinstance(names, Mapping) and out.get("additionalProperties") is not False:
            self._names(names, out)
        if "patternProperties" in out and not compiles(
            json.dumps({"type": "object", "patternProperties": dict.fromkeys(out["patternProperties"], True)})
        ):
            del out["patternProperties"]
            self._ignore("patternProperties")
        if closes and not {"additionalProperties", "patternProperties"} & out.keys():
            out["additionalProperties"] = False
            missing = [name for name in _strings_of(schema.get("required")) if name not in out.get("properties", {})]
            if missing:
                out["properties"] = {**out.get("properties", {}), **{name: {} for name in missing}}
        optional = set(out.get("properties", {})) - set(_strings_of(out.get("required")))
        if optional and (out.get("minProperties") or "maxProperties" in out):
            for key in ("minProperties", "maxProperties"):
                if out.pop(key, None) is not None:
                    self._ignore(key)
        if not mixed and "type" not in schema and {"properties", "patternProperties"} & schema.keys():
            out["type"] = "object"
        self._required_together(schema.get("dependentRequired"), out)

    def _names(self, names: Mapping[str, Any], out: dict[str, Any]) -> None:
        """Names of properties that a schema allows: as properties, or as a pattern of them."""
        value = out.get("additionalProperties", {})
        names = _modern(names)
        if "properties" in out or "patternProperties" in out:
            self._ignore("propertyNames")
        elif isinstance(names.get("enum"), list) or "const" in names:
            given = names["enum"] if "enum" in names else [names["const"]]
            out["properties"] = dict.fromkeys(_strings_of(given), value)
            out["additionalProperties"] = False
        elif isinstance(names.get("pattern"), str) or _PATTERNS.get(str(names.get("format"))):
            out["patternProperties"] = {names.get("pattern") or _PATTERNS[names["format"]]: value}
            out["additionalProperties"] = False
        elif {"minLength", "maxLength"} & names.keys():
            low, high = names.get("minLength", 0), names.get("maxLength", "")
            out["patternProperties"] = {f"^.{{{low},{high}}}$": value}
            out["additionalProperties"] = False
        elif names.keys() - _DESCRIBES - {"type"}:
            self._ignore("propertyNames")

    def _required_together(self, together: Any, out: dict[str, Any]) -> None:
        if not isinstance(together, Mapping) or not together:
            return
        if len(together) > 3 or not all(name in out.get("properties", {}) for name in together):
            self._ignore("dependentRequired")
            return
        for name, others in together.items():
            either = [{"properties": {name: False}}, {"required": [name, *_strings_of(others)]}]
            out["allOf"] = [*out.get("allOf", []), {"anyOf": either}]

    # -- alternatives

    def _alternatives(self, schema: Mapping[str, Any], out: dict[str, Any]) -> None:
        if "oneOf" in out and _overlap(json.dumps({**self._definitions, "oneOf": out["oneOf"]})):
            self._one_of(out, [_resolved(one, self._definitions) for one in out["oneOf"]])
        if "not" in schema:
            self._not(schema["not"], out)
        if "if" in schema:
            self._if(schema, out)

    def _one_of(self, out: dict[str, Any], alternatives: list[Any]) -> None:
        """Alternatives that the grammar engine cannot tell apart: any of them, which is the same where something does."""
        if not all(_are_apart(a, b) for at, a in enumerate(alternatives[:100]) for b in alternatives[at + 1 :]):
            self._ignore("oneOf")
        either = {"anyOf": out.pop("oneOf")}
        if "anyOf" in out:
            out["allOf"] = [*out.get("allOf", []), either]
        else:
            out |= either

    def _not(self, refused: Any, out: dict[str, Any]) -> None:
        types = (
            _strings_of([t] if isinstance(t := (refused or {}).get("type"), str) else t) if refused is not True else []
        )
        if refused is True or refused == {}:
            out["enum"] = []
        elif refused is False:
            return
        elif refused.keys() - _DESCRIBES == {"type"} and "integer" not in types:
            gone = {*types, "integer"} if "number" in types else set(types)
            out["type"] = [kind for kind in _types(out) if kind not in gone]
        elif refused.keys() - _DESCRIBES <= {"enum", "const", "type"} and isinstance(out.get("enum"), list):
            out["enum"] = [value for value in out["enum"] if not _matches(refused, value)]
        else:
            self._ignore("not")

    def _if(self, schema: Mapping[str, Any], out: dict[str, Any]) -> None:
        """Enforced where a required property with known values tells the two cases apart."""
        asked = schema["if"]
        tests = asked.get("properties") if isinstance(asked, Mapping) else None
        simple = (
            isinstance(tests, Mapping)
            and len(tests) == 1
            and not asked.keys() - {"properties", "required", *_DESCRIBES}
        )
        name = next(iter(tests)) if simple and tests else ""
        values = out.get("properties", {}).get(name, {}) if name else {}
        known = (
            values.get("enum", [values["const"]] if "const" in values else None)
            if isinstance(values, Mapping)
            else None
        )
        if not name or not isinstance(known, list) or name not in _strings_of(schema.get("required")):
            self._ignore("if")
            return
        holds = [value for value in known if _matches(tests[name], value)] if tests else []
        cases = []
        for kept, branch in ((holds, "then"), ([v for v in known if v not in holds], "else")):
            if kept and schema.get(branch, True) is not False:
                own = {"properties": {name: {"enum": kept}}}
                cases.append({"allOf": [own, self._node(schema.get(branch, {}), shared=True)]})
        out["allOf"] = [*out.get("allOf", []), {"anyOf": cases}]


def _modern(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Spellings of older drafts and of OpenAPI as the newest draft has them."""
    out = dict(schema)
    if isinstance(out.get("items"), list):
        out["prefixItems"] = out.pop("items")
        if "additionalItems" in out:
            out["items"] = out["additionalItems"]
    out.pop("additionalItems", None)
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if out.get(key) is True and bound in out:
            out[key] = out.pop(bound)
        elif isinstance(out.get(key), bool):
            del out[key]
    dependencies = out.get("dependencies")
    if isinstance(dependencies, Mapping) and all(isinstance(names, list) for names in dependencies.values()):
        out["dependentRequired"] = out.pop("dependencies")
    if out.get("nullable") is True and isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
        if isinstance(out.get("enum"), list) and None not in out["enum"]:
            out["enum"] = [*out["enum"], None]
    return out


def _is_mixed(schema: Mapping[str, Any]) -> bool:
    """Whether several schemas speak about one value, so that none of them alone knows its properties. A lone reference,
    `anyOf` or `oneOf`, and an `allOf` of one, only stand for another schema."""
    present = [key for key in _APPLICATORS if key in schema and key != "not"]
    if not present:
        return False
    several = len(schema["allOf"]) > 1 if present == ["allOf"] and isinstance(schema["allOf"], list) else False
    return several or len(present) > 1 or "if" in present or any(key in schema for key in _OWN)


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema that a reference to a definition stands for."""
    for _ in range(8):
        path = str(schema.get("$ref", "")).split("/") if isinstance(schema, Mapping) else []
        if len(path) != 3 or path[2] not in definitions.get(path[1], {}):
            break
        schema = definitions[path[1]][path[2]]
    return schema


def _are_apart(one: Any, other: Any) -> bool:
    """Whether no value can be of both schemas: by their types, their values, or a property that both require."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    values, others = _values(one), _values(other)
    if values is not None and others is not None:
        return not any(value in others for value in values)
    kinds, other_kinds = set(_types(one)), set(_types(other))
    if not kinds & other_kinds and not {"integer", "number"} <= kinds | other_kinds:
        return True
    both = set(_strings_of(one.get("required"))) & set(_strings_of(other.get("required")))
    pairs = [(_values(one["properties"][n]), _values(other["properties"][n])) for n in both
            if n in one.get("properties", {}) and n in other.get("properties", {})]  # fmt: skip
    return kinds == other_kinds == {"object"} and any(a and b and not any(v in b for v in a) for a, b in pairs)


def _values(schema: Any) -> list[Any] | None:
    """The values that a schema lists."""
    if not isinstance(schema, Mapping):
        return None
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return listed if isinstance(listed, list) else None


def _types(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", list(_TYPES))
    return [kinds] if isinstance(kinds, str) else _strings_of(kinds)


def _strings_of(values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _matches(test: Any, value: Any) -> bool:
    """Of a test by `const`, `enum` or `type`."""
    if not isinstance(test, Mapping):
        return test is not False
    if "const" in test and test["const"] != value:
        return False
    return "enum" not in test or value in test["enum"]


@lru_cache(maxsize=1024)
def compiles(text: str) -> bool:
    """Whether the grammar engine takes this part of a schema."""
    made = llguidance.LLMatcher.grammar_from_json_schema(text, overrides=BLANK)
    is_error, _ = llguidance.LLMatcher.validate_grammar_with_warnings(made)
    return not is_error


@lru_cache(maxsize=1024)
def _overlap(text: str) -> bool:
    """Whether the grammar engine cannot tell the alternatives of a `oneOf` apart."""
    made = llguidance.LLMatcher.grammar_from_json_schema(text, overrides=BLANK | {"lenient": True})
    is_error, messages = llguidance.LLMatcher.validate_grammar_with_warnings(made)
    return is_error or any("oneOf" in message for message in messages)


def room_for_more(schema: Mapping[str, Any]) -> int:
    """How many bytes a reply of this schema may commit itself to at once: by a property that need not be there, a further
    item, or the longest of several alternatives. So far before the length limit it must begin to end."""
    try:
        return _Sizes(schema).most + 8
    except RecursionError:  # a chain of a thousand references
        return 256


class _Sizes:
    """The shortest texts of a schema's parts, in bytes."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._known: dict[str, int] = {}
        self.most = 0
        self._least(schema)

    def _optional(self, size: int) -> None:
        if size < _ENDLESS:
            self.most = max(self.most, size)

    def _least(self, schema: Any) -> int:
        if not isinstance(schema, Mapping) or not schema:
            return 1
        if isinstance(reference := schema.get("$ref"), str):
            return self._referred(reference)
        if "const" in schema:
            return _length(schema["const"])
        for values in (schema.get("enum"), *(schema.get(key) for key in ("anyOf", "oneOf"))):
            if isinstance(values, list) and values:
                of_values = values is schema.get("enum")
                sizes = [_length(value) if of_values else self._least(value) for value in values]
                self._optional(max([size for size in sizes if size < _ENDLESS], default=0) - min(sizes))
                return min(sizes)
        own = [self._least(one) for one in schema.get("allOf", ())]
        own += [self._of_type(schema, kind) for kind in _types(schema)] if "type" in schema else [1]
        return max(own) if "allOf" in schema else min(own)

    def _of_type(self, schema: Mapping[str, Any], kind: str) -> int:
        if kind == "string":
            return 2 + max(int(schema.get("minLength", 0)), 34 if {"pattern", "format"} & schema.keys() else 0)
        if kind == "array":
            items = schema.get("items", {})
            size = 1 if items is False else self._least(items) + 2
            self._optional(size)
            first = [self._least(one) + 2 for one in schema.get("prefixItems", ())]
            least = int(schema.get("minItems", 0))
            return 2 + sum(first[:least]) + max(0, least - len(first)) * size
        if kind == "object":
            return self._object(schema)
        above, below = schema.get("minimum", 0), schema.get("maximum", 0)
        return {"boolean": 5, "null": 4}.get(kind, 2 + len(str(above if above > 0 else min(below, 0))))

    def _object(self, schema: Mapping[str, Any]) -> int:
        required = set(_strings_of(schema.get("required")))
        total = 2
        for name, value in schema.get("properties", {}).items():
            size = len(json.dumps(name)) + 4 + self._least(value)
            total += size if name in required else 0
            if name not in required:
                self._optional(size)
        for value in (schema.get("additionalProperties", {}), *schema.get("patternProperties", {}).values()):
            if value is not False:
                self._optional(16 + self._least(value))
        return total

    def _referred(self, reference: str) -> int:
        if reference not in self._known:
            self._known[reference] = _ENDLESS  # until it is known: what contains itself is no shorter than this
            found: Any = self._root
            for name in reference.removeprefix("#").split("/")[1:]:
                found = found.get(name.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, Mapping) else {}
            self._known[reference] = self._least(found)
        return self._known[reference]


_ENDLESS = 1 << 20


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
