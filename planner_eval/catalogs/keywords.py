"""The keywords of JSON Schema 2020-12: which there are, what each may hold, and which are misspelt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from planner_eval.base.errors import CatalogError
from planner_eval.base.text import close_names
from planner_eval.catalogs.patterns import Pattern

ONE = (
    *("additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
)
"""Keywords that hold a schema."""
MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""Keywords that hold a list of schemas; ``items`` did before 2020-12."""
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords that hold an object of schemas."""
_DEPTH = 64


class _Form(NamedTuple):
    """What a keyword may hold."""

    holds: Callable[[Any], bool]
    words: str


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and Pattern(value).readable


_NUMBER = _Form(_is_number, "a number")
_COUNT = _Form(_is_count, "a whole number, 0 or more")
_TEXTS = _Form(_are_texts, "a list of names")
_FLAG = _Form(lambda value: isinstance(value, bool), "true or false")
_SCHEMAS = _Form(lambda value: isinstance(value, list), "a list of schemas")
_NAMES = _Form(lambda value: isinstance(value, Mapping), "an object of schemas")
_LIMIT = _Form(lambda value: isinstance(value, bool) or _is_number(value), "a number")
_FORMS: dict[str, _Form] = {
    **dict.fromkeys(("minimum", "maximum"), _NUMBER),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _LIMIT),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _COUNT),
    "multipleOf": _Form(lambda value: _is_number(value) and value > 0, "a number above 0"),
    "type": _Form(lambda value: value != [], "a kind of value or a list of such"),
    "pattern": _Form(_is_pattern, "a regular expression"),
    "uniqueItems": _FLAG,
    "enum": _Form(lambda value: isinstance(value, list), "a list of values"),
    "required": _Form(lambda value: isinstance(value, bool) or _are_texts(value), "a list of names"),
    "dependentRequired": _Form(
        lambda value: isinstance(value, Mapping) and all(map(_are_texts, value.values())),
        "an object of lists of names",
    ),
    "dependencies": _Form(lambda value: isinstance(value, Mapping), "an object"),
    "$ref": _Form(lambda value: isinstance(value, str), "a text"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _SCHEMAS),
    **dict.fromkeys(NAMED, _NAMES),
}
"""What keywords hold; None counts as not said, as Python's libraries write it."""
_SAID = frozenset(
    (
        *(*_FORMS, *ONE, *MANY, *NAMED, "const", "format", "nullable", "title", "description"),
        *("default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator"),
        *("contentEncoding", "contentMediaType", "contentSchema", "propertyOrdering", "externalDocs", "xml"),
        *("$schema", "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "$vocabulary"),
        *("$recursiveRef", "$recursiveAnchor", "optional", "enumNames", "enumDescriptions", "name", "strict"),
        *("units", "unit", "example_value", "options", "order", "label", "placeholder", "widget", "hidden"),
    )
)
_MEANT = tuple(sorted((*_FORMS, *ONE, "const", "format", "description", "default")))
_ALIKE = 0.75


def holds(keyword: str, value: Any) -> bool:
    """Whether a keyword of JSON Schema may hold a value; what is no keyword may hold any.

    >>> holds("minLength", "3"), holds("minLength", 3), holds("colour", 3)
    (False, True, True)
    """
    form = _FORMS.get(keyword)
    return form is None or value is None or form.holds(value)


def refuse_faults(schema: Any) -> None:
    """Refuse a schema in which a keyword holds what it may not.

    Raises:
        CatalogError: with the place of the first.

    >>> refuse_faults({"properties": {"pin": {"type": "string", "pattern": "^[0-9]+$"}}})
    """
    for path, subschema in subschemas(schema):
        for keyword, value in subschema.items():
            if not holds(keyword, value):
                prefix = f"{path}: " if path else ""
                raise CatalogError(f"{prefix}{keyword} must be {_FORMS[keyword].words}, found {value!r:.60}")


def misspelt(schema: Any) -> Iterator[str]:
    """What looks like a keyword of JSON Schema and is none, with its place.

    >>> list(misspelt({"properties": {"n": {"type": "integer", "minimun": 1}}}))
    ["n: 'minimun' is no keyword of JSON Schema and is not looked at; did you mean 'minimum'?"]
    """
    for path, subschema in subschemas(schema):
        for key in subschema:
            if key in _SAID or not isinstance(key, str) or key.lower().startswith(("x-", "x_")):
                continue
            suggestion = _meant(key)
            if suggestion is not None:
                prefix = f"{path}: " if path else ""
                yield (
                    f"{prefix}{key[:40]!r} is no keyword of JSON Schema and is not looked at; "
                    f"did you mean {suggestion!r}?"
                )


def _meant(key: str) -> str | None:
    plain = key.replace("_", "").replace("-", "").lower()
    same = next((k for k in _MEANT if k.lower() == plain), None)
    if same is not None:
        return same
    return next(iter(close_names(key, _MEANT, 1, cutoff=_ALIKE)), None)


class Placed(NamedTuple):
    """A schema in another one, with its place for people."""

    at: str
    schema: Mapping[str, Any]


def subschemas(schema: Any) -> Iterator[Placed]:
    """A schema and all that stand in it, each with its place; references are not followed.

    >>> [each.at for each in subschemas({"properties": {"tags": {"items": {"type": "string"}}}})]
    ['', 'tags', 'tags[]']
    """
    left: list[tuple[str, Any, int]] = [("", schema, 0)]
    while left:
        path, subschema, depth = left.pop()
        if not isinstance(subschema, Mapping):
            continue
        yield Placed(path, subschema)
        if depth < _DEPTH:
            left += reversed(
                [(inner_path, inner, depth + 1) for inner_path, inner in _inside(path, subschema)]
            )


def _inside(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        if keyword in NAMED and isinstance(value, Mapping):
            for name, inner in value.items():
                relative_path = str(name) if keyword == "properties" else f"{keyword}.{name}"
                yield f"{path}.{relative_path}".removeprefix("."), inner
        elif keyword in MANY and isinstance(value, list):
            yield from ((f"{path}.{keyword}[{n}]".removeprefix("."), inner) for n, inner in enumerate(value))
        elif keyword in ONE:
            relative_path = f"{path}[]" if keyword == "items" else f"{path}.{keyword}".removeprefix(".")
            yield relative_path, value
