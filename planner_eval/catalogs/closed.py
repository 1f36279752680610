"""JSON Schemas as the judge holds them: 2020-12's words alone, references within, objects closed.

An object that lists properties takes no others unless the schema says so, which JSON Schema does not have:
it is written into the schema here. What a condition asks (``if``, ``not``, ``contains``) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.schema import target

_MOST = 20_000
_SAME = ("allOf", "anyOf", "oneOf")
_TOGETHER = ("allOf", "if", "then", "else", "dependentSchemas", "$ref")
"""What holds of a value with a schema, as one of its alternatives may not."""
_ASKED = ("if", "not")
_FOLLOWS = ("then", "else")
_PARTS = ("items", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalProperties")
_COUNTED = ("Length", "Items", "Properties", "Contains")
_KEPT = frozenset(
    (
        *("enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
        *("minContains", "maxContains", "minProperties", "maxProperties", "dependentRequired"),
    )
)
_COUNTS = tuple(f"{end}{what}" for end in ("min", "max") for what in _COUNTED)


@dataclass(frozen=True, slots=True)
class _Way:
    """How a schema was come to, and what of the value is known from others that hold of it.

    Args:
        names: The properties that other schemas of the same value list, but for other alternatives.
        patterns: Likewise the patterns of properties.
        said: Whether one says which other properties there may be.
        asked: Whether the schema is a condition.
        seen: The references that led here from a schema of the same value.
    """

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    said: bool = False
    asked: bool = False
    seen: tuple[str, ...] = ()


class Closing:
    """Writes a schema as the judge holds it.

    Args:
        root: The document with all that is referred to.

    >>> root = {"type": "object", "properties": {"x": {"type": "integer", "title": "X"}}}
    >>> Closing(root).whole()["properties"], Closing(root).whole()["additionalProperties"]
    ({'x': {'type': ['integer']}}, False)
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.made: dict[str, Any] = {}
        self.places: dict[tuple[str, _Way], str] = {}
        self.left = _MOST

    def whole(self) -> dict[str, Any]:
        """The document.

        Raises:
            CatalogError: it refers to nothing, or is too large.
        """
        made = self.over(self.root, _Way())
        if self.root.get("properties") == {} and "additionalProperties" not in self.root:
            made["additionalProperties"] = False  # a tool that lists no argument takes none
        return {**made, "$defs": self.made} if self.made else dict(made)

    def over(self, schema: Any, way: _Way) -> Any:
        """A schema of a value; true and false stay."""
        if not isinstance(schema, Mapping):
            return schema
        self._count()
        schema = {key: value for key, value in schema.items() if value is not None or key == "const"}
        way = replace(way, said=way.said or self._says(schema, way.seen))
        made = {key: value for key, value in schema.items() if key in _KEPT}
        made.update({key: int(made[key]) for key in _COUNTS if key in made})
        if way.asked:
            made.pop("format", None)
        _older(schema, made)
        together = self._with(way, schema, _TOGETHER)
        for key in _SAME:
            if schema.get(key):
                others = [each for each in ("anyOf", "oneOf") if each != key]
                inside = self._with(together, schema, others)
                made[key] = [self.over(each, inside) for each in schema[key]]
        together = self._with(together, schema, ("anyOf", "oneOf"))
        for key in _ASKED:
            if key in schema:
                made[key] = self.over(schema[key], replace(together, asked=True))
        for key in _FOLLOWS:
            if key in schema:
                made[key] = self.over(schema[key], together)
        self._refer(schema, made, together)
        self._parts(schema, made, together)
        self._close(schema, made, together)
        return made

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise CatalogError(
                f"a JSON Schema is one of more than {_MOST:,} schemas, its references followed"
            )

    def _refer(self, schema: Mapping[str, Any], made: dict[str, Any], way: _Way) -> None:
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if reference is None or reference in way.seen:  # one to nothing but itself says nothing
            return
        key = (reference, way)
        if key not in self.places:
            self.places[key] = name = str(len(self.places) + 1)
            self.made[name] = True
            inside = replace(way, seen=(*way.seen, reference))
            self.made[name] = self.over(target(reference, self.root), inside)
        made["$ref"] = f"#/$defs/{self.places[key]}"

    def _parts(self, schema: Mapping[str, Any], made: dict[str, Any], way: _Way) -> None:
        """What is said of the parts of a value."""

        def part(inner: Any, *, asked: bool = way.asked) -> Any:
            return self.over(inner, _Way(asked=asked))

        for key in _PARTS:
            if isinstance(schema.get(key), (Mapping, bool)):
                made[key] = part(schema[key])
        if "contains" in schema:
            made["contains"] = part(schema["contains"], asked=True)
        for key in ("properties", "patternProperties"):
            if isinstance(schema.get(key), Mapping):
                made[key] = {str(name): part(inner) for name, inner in schema[key].items()}
        first = schema.get("prefixItems", schema.get("items"))
        if isinstance(first, list):
            made["prefixItems"] = [part(inner) for inner in first]
            if "additionalItems" in schema and isinstance(schema.get("items"), list):
                made["items"] = part(schema["additionalItems"])
        depending = {**(schema.get("dependencies") or {}), **(schema.get("dependentSchemas") or {})}
        for name, inner in depending.items():
            if isinstance(inner, list):
                made["dependentRequired"] = {**(made.get("dependentRequired") or {}), name: inner}
            else:
                made.setdefault("dependentSchemas", {})[name] = self.over(inner, way)

    def _close(self, schema: Mapping[str, Any], made: dict[str, Any], way: _Way) -> None:
        if not schema.get("properties") or way.said or way.asked:
            return
        made["properties"] = {**dict.fromkeys(way.names, True), **made["properties"]}
        if way.patterns:
            made["patternProperties"] = {
                **dict.fromkeys(way.patterns, True),
                **(made.get("patternProperties") or {}),
            }
        made["additionalProperties"] = False

    def _with(self, way: _Way, schema: Mapping[str, Any], keys: Iterable[str]) -> _Way:
        """The way with what a schema lists itself, and what those under some of its keywords do."""
        listed: dict[str, None] = dict.fromkeys(way.names)
        patterns: dict[str, None] = dict.fromkeys(way.patterns)
        for each in chain([schema], self._under(schema, keys, way.seen)):
            needed = each.get("required")
            listed |= dict.fromkeys(map(str, each.get("properties") or ()))
            listed |= dict.fromkeys(needed if isinstance(needed, list) else ())
            patterns |= dict.fromkeys(map(str, each.get("patternProperties") or ()))
        return replace(way, names=tuple(listed), patterns=tuple(patterns))

    def _under(
        self, schema: Mapping[str, Any], keys: Iterable[str], seen: tuple[str, ...]
    ) -> Iterator[Mapping[str, Any]]:
        """The schemas under some keywords of a schema that are of the same value."""
        for key in keys:
            if key == "$ref":
                reference = schema.get("$ref", schema.get("$dynamicRef"))
                if reference is not None and reference not in seen:
                    yield from self._same(target(reference, self.root), (*seen, reference))
                continue
            held = schema.get(key)
            for each in held.values() if key == "dependentSchemas" and held else _listed(held):
                yield from self._same(each, seen)

    def _same(self, schema: Any, seen: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        """A schema and all that are of the same value."""
        if isinstance(schema, Mapping):
            self._count()
            yield schema
            yield from self._under(schema, (*_TOGETHER, "anyOf", "oneOf"), seen)

    def _says(self, schema: Mapping[str, Any], seen: tuple[str, ...]) -> bool:
        """Whether a schema, or what holds with it, says which other properties there may be."""
        self._count()
        if any(schema.get(key) is not None for key in ("additionalProperties", "unevaluatedProperties")):
            return True
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        held = [each for each in schema.get("allOf") or () if isinstance(each, Mapping)]
        if any(self._says(each, seen) for each in held):
            return True
        if reference is None or reference in seen:
            return False
        named = target(reference, self.root)
        return isinstance(named, Mapping) and self._says(named, (*seen, reference))


def _listed(held: Any) -> list[Any]:
    return held if isinstance(held, list) else [held]


def _older(schema: Mapping[str, Any], made: dict[str, Any]) -> None:
    """What earlier drafts and OpenAPI say otherwise: types that may be null, limits, what is required."""
    kinds = schema.get("type")
    if kinds:
        named = [kinds] if isinstance(kinds, str) else list(kinds)
        made["type"] = [*named, "null"] if schema.get("nullable") is True else named
    for limit, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(strict), bool):
            del made[strict]
            if schema[strict] and limit in made:
                made[strict] = made.pop(limit)
    needed = schema.get("required")
    listed = list(needed) if isinstance(needed, list) else []
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        marked = [name for name, each in properties.items() if isinstance(each, Mapping)]
        listed += [name for name in marked if properties[name].get("required") is True]
    if listed:
        made["required"] = list(dict.fromkeys(listed))
