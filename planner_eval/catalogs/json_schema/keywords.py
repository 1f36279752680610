"""The keywords of JSON Schema 2020-12: misspelt, misplaced, without a check, or more than types say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import CatalogError, is_number
from planner_eval.base.patterns import Pattern
from planner_eval.base.text import close_names
from planner_eval.catalogs.catalog import KINDS, Catalog
from planner_eval.catalogs.json_schema.types import COUNT_KEYWORDS, Schema, find_references, resolve_reference

if TYPE_CHECKING:
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator

# ----------------------------------------------------------------------
# The keywords of JSON Schema 2020-12: which there are, what each may hold, and which are misspelt.
SCHEMA_KEYWORDS = (
    *("additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
)
"""Keywords that hold a schema."""
SCHEMA_LIST_KEYWORDS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""Keywords that hold a list of schemas; ``items`` did before 2020-12."""
SCHEMA_OBJECT_KEYWORDS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords that hold an object of schemas."""
_MAX_DEPTH = 64


class _KeywordForm(NamedTuple):
    """What a keyword may hold."""

    holds: Callable[[Any], bool]
    words: str


def _is_count(value: Any) -> bool:
    return is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_NUMBER = _KeywordForm(is_number, "a number")
_COUNT = _KeywordForm(_is_count, "a whole number, 0 or more")
_FLAG = _KeywordForm(lambda value: isinstance(value, bool), "true or false")
_SCHEMAS = _KeywordForm(lambda value: isinstance(value, list), "a list of schemas")
_NAMES = _KeywordForm(lambda value: isinstance(value, Mapping), "an object of schemas")
_LIMIT = _KeywordForm(lambda value: isinstance(value, bool) or is_number(value), "a number")
_KEYWORD_FORMS: dict[str, _KeywordForm] = {
    **dict.fromkeys(("minimum", "maximum"), _NUMBER),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _LIMIT),
    **dict.fromkeys(COUNT_KEYWORDS, _COUNT),
    "multipleOf": _KeywordForm(lambda value: is_number(value) and value > 0, "a number above 0"),
    "type": _KeywordForm(lambda value: value != [], "a type or a list of types"),
    "pattern": _KeywordForm(
        lambda value: isinstance(value, str) and Pattern(value).readable, "a regular expression"
    ),
    "uniqueItems": _FLAG,
    "enum": _KeywordForm(lambda value: isinstance(value, list), "a list of values"),
    "required": _KeywordForm(lambda value: isinstance(value, bool) or _are_texts(value), "a list of names"),
    "dependentRequired": _KeywordForm(
        lambda value: isinstance(value, Mapping) and all(map(_are_texts, value.values())),
        "an object of lists of names",
    ),
    "dependencies": _KeywordForm(lambda value: isinstance(value, Mapping), "an object"),
    "$ref": _KeywordForm(lambda value: isinstance(value, str), "a text"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _SCHEMAS),
    **dict.fromkeys(SCHEMA_OBJECT_KEYWORDS, _NAMES),
}
"""What keywords hold; None counts as not said, as Python's libraries write it."""
_KNOWN_KEYWORDS = frozenset(
    (
        *(
            *_KEYWORD_FORMS,
            *SCHEMA_KEYWORDS,
            *SCHEMA_LIST_KEYWORDS,
            *SCHEMA_OBJECT_KEYWORDS,
            "const",
            "format",
            "nullable",
            "title",
            "description",
        ),
        *("default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator"),
        *("contentEncoding", "contentMediaType", "contentSchema", "propertyOrdering", "externalDocs", "xml"),
        *("$schema", "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "$vocabulary"),
        *("$recursiveRef", "$recursiveAnchor", "optional", "enumNames", "enumDescriptions", "name", "strict"),
        *("units", "unit", "example_value", "options", "order", "label", "placeholder", "widget", "hidden"),
    )
)
_SUGGESTED_KEYWORDS = tuple(
    sorted((*_KEYWORD_FORMS, *SCHEMA_KEYWORDS, "const", "format", "description", "default"))
)
_MIN_SIMILARITY = 0.75


def can_hold(keyword: str, value: Any) -> bool:
    """Whether a keyword of JSON Schema may hold a value; what is no keyword may hold any.

    >>> can_hold("minLength", "3"), can_hold("minLength", 3), can_hold("colour", 3)
    (False, True, True)
    """
    form = _KEYWORD_FORMS.get(keyword)
    return form is None or value is None or form.holds(value)


def refuse_faults(schema: Any) -> None:
    """Refuse a schema in which a keyword holds what it may not.

    Raises:
        CatalogError: with the place of the first.

    >>> refuse_faults({"properties": {"pin": {"type": "string", "pattern": "^[0-9]+$"}}})
    """
    for path, subschema in subschemas(schema):
        for keyword, value in subschema.items():
            if not can_hold(keyword, value):
                name = f"{path}: {keyword}" if path else keyword
                raise CatalogError(f"{name} must be {_KEYWORD_FORMS[keyword].words}, found {value!r:.60}")


def find_misspelt_keywords(schema: Any) -> Iterator[str]:
    """What looks like a keyword of JSON Schema and is none, with its place.

    >>> list(find_misspelt_keywords({"properties": {"n": {"type": "integer", "minimun": 1}}}))
    ["n: 'minimun' is not a JSON Schema keyword and is ignored; did you mean 'minimum'?"]
    """
    for path, subschema in subschemas(schema):
        for key in subschema:
            if key in _KNOWN_KEYWORDS or not isinstance(key, str) or key.lower().startswith(("x-", "x_")):
                continue
            plain = key.replace("_", "").replace("-", "").lower()
            suggestions = [keyword for keyword in _SUGGESTED_KEYWORDS if keyword.lower() == plain]
            suggestions += close_names(key, _SUGGESTED_KEYWORDS, 1, cutoff=_MIN_SIMILARITY)
            if suggestions:
                prefix = f"{path}: " if path else ""
                problem = f"is not a JSON Schema keyword and is ignored; did you mean {suggestions[0]!r}?"
                yield f"{prefix}{key[:40]!r} {problem}"


class LocatedSchema(NamedTuple):
    """A schema in another one, with its place for people."""

    at: str
    schema: Schema


def subschemas(schema: Any) -> Iterator[LocatedSchema]:
    """A schema and all that stand in it, each with its place; references are not followed.

    >>> [each.at for each in subschemas({"properties": {"tags": {"items": {"type": "string"}}}})]
    ['', 'tags', 'tags[]']
    """
    left: list[tuple[str, Any, int]] = [("", schema, 0)]
    while left:
        path, subschema, depth = left.pop()
        if not isinstance(subschema, Mapping):
            continue
        yield LocatedSchema(path, subschema)
        if depth < _MAX_DEPTH:
            left += reversed(
                [(inner_path, inner, depth + 1) for inner_path, inner in _inner_schemas(path, subschema)]
            )


def _inner_schemas(path: str, schema: Schema) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        if keyword in SCHEMA_OBJECT_KEYWORDS and isinstance(value, Mapping):
            for name, inner in value.items():
                relative_path = str(name) if keyword == "properties" else f"{keyword}.{name}"
                yield f"{path}.{relative_path}".removeprefix("."), inner
        elif keyword in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            yield from ((f"{path}.{keyword}[{n}]".removeprefix("."), inner) for n, inner in enumerate(value))
        elif keyword in SCHEMA_KEYWORDS:
            relative_path = f"{path}[]" if keyword == "items" else f"{path}.{keyword}".removeprefix(".")
            yield relative_path, value


# ----------------------------------------------------------------------
# Schemas under keys that no reader looks at: a tool that has one would seem to take nothing.
PARAMETERS_KEYS = ("parameters", "inputSchema", "input_schema")
"""Where a tool of the trade has the schema of what it takes."""
RETURNS_KEYS = ("returns", "outputSchema", "output_schema")
"""Where it has the schema of what it returns."""
_OTHER_TOOL_KEYS = frozenset(
    (
        *(
            *PARAMETERS_KEYS,
            *RETURNS_KEYS,
            "name",
            "app",
            "description",
            "action",
            "annotations",
            "type",
            "function",
        ),
        *("title", "strict", "icons", "execution", "cache_control", "input_examples", "examples", "_meta"),
    )
)
"""Keys of a tool that are read, or say nothing of its arguments and results."""


def refuse_misplaced(
    entry: Mapping[str, Any],
    label: str,
    takes: tuple[str, ...] = PARAMETERS_KEYS,
    returns: tuple[str, ...] = RETURNS_KEYS,
) -> None:
    """Refuse a schema under a key that is not read: the tool would seem to take nothing.

    Args:
        entry: The tool as it stands in its file.
        label: What to call it in messages, in front of its name.
        takes: The keys under which what it takes is read.
        returns: The keys under which what it returns is read.

    Raises:
        CatalogError: another key has a schema, or what looks like a list of arguments where none is read.

    >>> refuse_misplaced({"name": "f", "parameters": {}, "tags": {"kind": "x"}}, "tool 1")
    """
    described = any(entry.get(key) is not None for key in takes)
    for key, value in entry.items():
        if key in _OTHER_TOOL_KEYS or key in takes or key in returns:
            continue
        if _is_schema(value) or (not described and _is_argument_list(value)):
            raise CatalogError(
                f"{label} {entry.get('name')!r:.60}: the key {key!r:.40} is not read; "
                f"expected its parameters under {' or '.join(takes)}, and its output under "
                f"{' or '.join(returns)}"
            )


def _is_schema(value: Any) -> bool:
    kinds = (*KINDS, "dict")
    return isinstance(value, Mapping) and (
        "properties" in value or str(value.get("type", "")).lower() in kinds or "$ref" in value
    )


def _is_argument_list(value: Any) -> bool:
    """Whether a value looks like a list or an object of arguments, each of which is described."""
    entries = list(value.values()) if isinstance(value, Mapping) else value
    return (
        isinstance(entries, list) and bool(entries) and all(isinstance(entry, Mapping) for entry in entries)
    )


# ----------------------------------------------------------------------
# Whether a type says all that a JSON Schema does: then a check of types is enough, and quick.
_TYPED_KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "items", "properties", "required"),
        *("additionalProperties", "anyOf", "$ref"),
    )
)
"""What a type has a place for."""
_UNTYPED_KEYWORDS = (
    *("pattern", "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
    *("not", "if", "patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems"),
    "oneOf",
)
"""What it has none for."""
_PLAIN_KEYWORDS = _TYPED_KEYWORDS | {"nullable"}
_CHECKED_KEYWORDS = frozenset((*_UNTYPED_KEYWORDS, "allOf", "then", "else", "$dynamicRef", "additionalItems"))
_CONTAINER_KEYWORDS = frozenset(("properties", "items", "additionalProperties", "required"))


def make_validator(schema: Schema) -> ArgumentsValidator | None:
    """What holds arguments against a schema that says more than a type can; None where a type is enough.

    >>> make_validator({"type": "object", "properties": {"x": {"type": "integer"}}})
    """
    if is_plain(schema):
        return None
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator

    return ArgumentsValidator(schema)


def is_plain(schema: Any) -> bool:
    """Whether a check of types finds all that a schema of arguments asks for, and nothing else.

    >>> is_plain({"type": "object", "properties": {"x": {"type": ["integer", "null"]}}})
    True
    >>> is_plain({"type": "object", "properties": {"x": {"type": "string", "pattern": "^[a-z]+$"}}})
    False
    >>> is_plain({"anyOf": [{"properties": {"x": {"type": "integer"}}, "required": ["x"]}]})
    False
    """
    top = {"type": "object", **schema} if isinstance(schema, Mapping) else schema
    if not isinstance(top, Mapping):
        return top is True
    # a catalog's parameters have a place for alternatives of each, not of all together
    return top.get("anyOf") is None and all(_is_plain(s) for _, s in subschemas(top))


def _is_plain(schema: Schema) -> bool:
    stated = {
        key
        for key in schema.keys() & (_PLAIN_KEYWORDS | _CHECKED_KEYWORDS)
        if schema[key] is not None or key == "const"
    }
    if schema.get("uniqueItems") is False:
        stated.discard("uniqueItems")
    if stated & _CHECKED_KEYWORDS or ("$ref" in stated and stated != {"$ref"}):
        return False
    if "anyOf" in stated and not stated <= {"anyOf", "type"}:
        return False
    if stated & _CONTAINER_KEYWORDS and (
        not schema.get("type") or {"array", "object"} <= set(schema["type"])
    ):
        return False
    items, properties = schema.get("items"), schema.get("properties") or {}
    needed = schema.get("required")
    if schema.get("additionalProperties") not in (None, True) and (
        isinstance(needed, list) and not set(needed) <= set(properties)
    ):
        return False  # a required field that is not described
    listed = (*(schema.get("enum") or ()), schema.get("const"))
    if {"enum", "const"} <= stated or any(isinstance(value, (list, dict)) for value in listed):
        return False
    if isinstance(items, list) or False in (items, *properties.values(), *(schema.get("anyOf") or ())):
        return False
    return not any(
        {f"{end}imum", f"exclusive{end.capitalize()}imum"} <= stated
        and not isinstance(schema[f"exclusive{end.capitalize()}imum"], bool)
        for end in ("min", "max")
    )


# ----------------------------------------------------------------------
# What the JSON Schemas of a catalog ask for and types, or no check, have no place for.
_COMBINING_KEYWORDS = ("anyOf", "oneOf", "allOf")
_NAMED_SCHEMA_KEYWORDS = ("properties", "$defs", "definitions")
_MERGED_KEYWORDS = _TYPED_KEYWORDS | {"oneOf", "allOf"}
_OVERLAID_KEYWORDS = _MERGED_KEYWORDS - {"properties", "required", "type"}


def untyped_keywords(catalog: Catalog) -> dict[str, list[str]]:
    """Keywords of JSON Schema that types have no place for, with the tools that have them.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> digits = {"type": "object", "properties": {"pin": {"type": "string", "pattern": "^[0-9]+$"}}}
    >>> untyped_keywords(as_catalog([{"name": "login", "parameters": digits}]))
    {'pattern': ['login']}
    """
    tools_by_keyword: dict[str, list[str]] = {}
    for tool in catalog.tools:
        for keyword in dict.fromkeys((*_find_untyped(tool.schema), *_find_self_references(tool.schema))):
            tools_by_keyword.setdefault(keyword, []).append(tool.full_name)
    return tools_by_keyword


def catalog_remarks(catalog: Catalog) -> list[str]:
    """What is worth saying of a catalog itself before plans are held against it, a sentence each.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> pin = {"type": "object", "properties": {"pin": {"type": "string", "minlength": 4}}}
    >>> catalog_remarks(as_catalog([{"name": "login", "parameters": pin}]))
    ["login: pin: 'minlength' is not a JSON Schema keyword and is ignored; did you mean 'minLength'?"]
    """
    messages: dict[str, None] = {}
    for tool in catalog.tools:
        tool_messages = [*find_misspelt_keywords(tool.schema), *find_misspelt_keywords(tool.returns_schema)]
        tool_messages += [f"{keyword} has no effect" for keyword in _find_self_references(tool.schema)]
        messages |= dict.fromkeys(f"{tool.full_name}: {message}" for message in tool_messages)
    names = Counter(tool.full_name for tool in catalog.tools)
    for name in dict.fromkeys(tool.full_name for tool in catalog.tools if tool.schema is not None):
        if names[name] > 1:  # benchmarks have variants of a name on purpose
            messages[
                f"{name} is declared {names[name]} times: a call is checked against the declaration that "
                "it violates least"
            ] = None
    return list(messages)


def _find_self_references(schema: Any) -> Iterator[str]:
    """Whether a type is read as any: one that is said to be itself is, and nothing more."""
    if not isinstance(schema, Mapping):
        return
    followed: dict[str, set[str]] = {}
    left = list(find_references(schema))
    while left:
        reference = left.pop()
        if reference not in followed:
            try:
                target = resolve_reference(reference, schema)
            except CatalogError:  # an example of a value may look like a reference
                target = None
            followed[reference] = set(find_references(target, _COMBINING_KEYWORDS))
            left += followed[reference]
    try:
        TopologicalSorter(followed).prepare()
    except CycleError:
        yield "a $ref to itself"


def _find_merge_losses(schema: Schema) -> Iterator[str]:
    """What several schemas say of one thing, of which a type has one."""
    if isinstance(schema.get("$ref"), str) and schema.keys() & _MERGED_KEYWORDS - {"$ref"}:
        yield "keys beside a $ref"
    if schema.get("allOf"):
        schemas = [schema, *(s for s in schema["allOf"] if isinstance(s, Mapping))]
        keywords = Counter(key for subschema in schemas for key in subschema.keys() & _OVERLAID_KEYWORDS)
        fields = Counter(name for subschema in schemas for name in subschema.get("properties") or ())
        if any(count > 1 for count in (*keywords.values(), *fields.values())):
            yield "allOf"


def _find_untyped(schema: Any, depth: int = 0) -> Iterator[str]:
    if schema is False:
        yield "false"
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    yield from (keyword for keyword in _UNTYPED_KEYWORDS if schema.get(keyword) not in (None, False))
    yield from _find_merge_losses(schema)
    if depth == 0:  # alternatives for all arguments together are read as none
        yield from (keyword for keyword in ("anyOf", "oneOf") if schema.get(keyword))
    named = [schema[k].values() for k in _NAMED_SCHEMA_KEYWORDS if isinstance(schema.get(k), Mapping)]
    listed = [schema[k] for k in _COMBINING_KEYWORDS if isinstance(schema.get(k), list)]
    single = [schema.get(k) or None for k in ("items", "additionalProperties")]
    for inner in chain(*named, *listed, single):
        yield from _find_untyped(inner, depth + 1)
