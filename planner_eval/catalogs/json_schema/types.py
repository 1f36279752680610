"""JSON Schema to and from catalog types, references to definitions elsewhere included.

Read: type (name or list), enum, const, nullable, anyOf, oneOf, allOf (merged), local ``$ref``, format,
number and size limits, items, properties, required, additionalProperties and their type. An object that
lists properties is closed unless additionalProperties says otherwise: a tool call with an argument that
nobody listed is a mistake, whatever JSON Schema's own default is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from planner_eval.base.errors import CatalogError, is_number
from planner_eval.catalogs.catalog import ANY, KINDS, Parameter, RecursiveType, Tool, Type

# ----------------------------------------------------------------------
# JSON Schema to and from :class:`planner_eval.catalogs.catalog.Type`.
Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema that is read."""
WrittenSchema: TypeAlias = dict[str, Any]
"""A JSON Schema that is written."""
ReferenceWriter: TypeAlias = Callable[[RecursiveType], WrittenSchema]
_MAX_DEPTH = 64
_MAX_SCHEMAS = 20_000
COMBINING_KEYWORDS = ("allOf", "anyOf", "oneOf")
COUNT_KEYWORDS = tuple(
    f"{end}{counted}" for end in ("min", "max") for counted in ("Length", "Items", "Properties", "Contains")
)
"""Keywords that hold how many there may be of something."""
_INNER_VALUE_KEYWORDS = frozenset(("items", "properties", "additionalProperties"))
"""Keys below which a value is another one: a type inside itself comes to an end there."""


class SchemaRoute(NamedTuple):
    """How a schema was come to, from the one that is read.

    Args:
        root: The document in which references are looked up.
        seen: The references and keys that led here.
        left: Counts what is read: references to references double at each level, so few lines say very much.
        known: The types that came again in this document, each once.
    """

    root: Schema
    seen: tuple[str, ...]
    left: Iterator[int]
    known: dict[str, RecursiveType]

    def to(self, step: str) -> SchemaRoute:
        """The way one step on.

        Raises:
            CatalogError: it is too deep, or too much has been read already.
        """
        if len(self.seen) >= _MAX_DEPTH:
            raise CatalogError(f"a JSON Schema is nested more than {_MAX_DEPTH} levels deep")
        if next(self.left, None) is None:
            raise CatalogError(
                f"a JSON Schema has more than {_MAX_SCHEMAS:,} schemas, with those it refers to"
            )
        return self._replace(seen=(*self.seen, step))


def type_of(schema: Any, root: Schema | None = None) -> Type:
    """The type that a JSON Schema describes; a circular reference to nothing but itself is anything.

    Args:
        schema: A schema: an object, True (anything) or False (read as anything).
        root: The document in which ``$ref`` is looked up; `schema` itself when None.

    Raises:
        CatalogError: something in it is no schema, or it is too deep or too large.

    >>> str(type_of({"type": ["integer", "null"]}))
    'integer or null'
    """
    route = SchemaRoute(schema if root is None else root, (), iter(range(_MAX_SCHEMAS)), {})
    return _read_type(schema, route)


def _read_type(schema: Any, route: SchemaRoute) -> Type:
    if isinstance(schema, bool):
        return ANY
    if not isinstance(schema, Mapping):
        raise CatalogError(f"expected a JSON Schema object, found {schema!r:.80}")
    if "$ref" in schema:
        return _read_reference(schema, route)
    if schema.get("allOf"):
        followed: list[str] = []
        merged = _merge_all_of(schema, route, followed)
        for reference in (*followed, "allOf"):
            route = route.to(reference)
        return _read_type(merged, route)
    schema = read_older_drafts(schema)
    kinds = _kinds(schema)
    (low, excludes_low), (high, excludes_high) = _limit(schema, "minimum"), _limit(schema, "maximum")
    items, first = schema.get("items"), schema.get("prefixItems") or ()
    fields = _read_fields(schema, route)
    return Type(
        kinds=kinds,
        enum=_enum(schema),
        format=schema.get("format") if isinstance(schema.get("format"), str) else None,
        minimum=low,
        maximum=high,
        exclusive=(excludes_low, excludes_high),
        length=(_count(schema, "minLength"), _count(schema, "maxLength")),
        size=(_count(schema, "minItems"), len(first) if items is False else _count(schema, "maxItems")),
        items=_read_type(items, route.to("items")) if isinstance(items, Mapping) else None,
        first=tuple(_read_type(item, route.to("items")) for item in first),
        fields=fields,
        open=is_open(schema),
        any_of=tuple(_read_type(variant, route.to("anyOf")) for variant in _variants(schema)),
        others=_unlisted_type(schema, route),
    )


def read_older_drafts(schema: Schema) -> WrittenSchema:
    """A schema in the words of 2020-12, where earlier drafts and OpenAPI have others.

    These are: types that may be null, limits that a flag excludes, items by their position, and what is
    required said at each property. What stands in the schema stays as it is.

    >>> read_older_drafts({"type": "number", "nullable": True, "minimum": 0, "exclusiveMinimum": True})
    {'type': ['number', 'null'], 'nullable': True, 'exclusiveMinimum': 0}
    """
    modern = dict(schema)
    kinds, items, properties = schema.get("type"), schema.get("items"), schema.get("properties")
    if isinstance(kinds, (str, list)):
        modern["type"] = [kinds] if isinstance(kinds, str) else kinds
        if kinds and schema.get("nullable") is True:
            modern["type"] = [*modern["type"], "null"]
    for limit, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(strict), bool) and modern.pop(strict) and limit in schema:
            modern[strict] = modern.pop(limit)
    if isinstance(items, list):
        del modern["items"]
        modern = {"prefixItems": items, **modern}
        if "additionalItems" in schema:
            modern["items"] = schema["additionalItems"]
    required = modern.pop("required", None)
    if required is not None and not isinstance(required, bool):
        modern["required"] = required
    if isinstance(properties, Mapping):
        marked = [n for n, s in properties.items() if isinstance(s, Mapping) and s.get("required") is True]
        if marked:
            modern["required"] = [*modern.get("required", ()), *marked]
    return modern


def _read_fields(schema: Schema, route: SchemaRoute) -> tuple[Parameter, ...]:
    """The properties of an object's schema, as parameters or fields.

    A name that is required and not described is a field of any type.
    """
    properties = schema.get("properties") or {}
    if not isinstance(properties, Mapping):
        raise CatalogError(f"expected an object of properties, found {properties!r:.80}")
    needed = _required(schema)
    fields = []
    for name, property_schema in properties.items():
        inner = property_schema if isinstance(property_schema, Mapping) else {}
        fields.append(
            Parameter(
                str(name),
                _read_type(property_schema, route.to("properties")),
                required=name in needed,
                description=str(inner.get("description") or ""),
                default=inner.get("default"),
                has_default="default" in inner,
            )
        )
    return (*fields, *(Parameter(name) for name in needed if name not in properties))


def is_open(schema: Schema) -> bool:
    """Whether an object of this schema may hold fields that are not listed."""
    if schema.get("patternProperties"):
        return True  # which names these are is for the validator
    additional = schema.get("additionalProperties")
    return not schema.get("properties") if additional is None else additional is not False


def schema_of(kind: Type, refer: ReferenceWriter | None = None) -> WrittenSchema:
    """A JSON Schema for a type.

    Args:
        kind: The type.
        refer: Writes a type that comes again inside itself; without it, one stands for anything there.

    >>> schema_of(Type(("string",), format="date"))
    {'type': 'string', 'format': 'date'}
    """
    if kind.again is not None:
        return {} if refer is None else refer(kind.again)
    kinds = kind.kinds[0] if len(kind.kinds) == 1 else list(kind.kinds)
    named: WrittenSchema = {"type": kinds} if kinds else {}
    schema = dict(named)
    if kind.enum is not None:
        schema["enum"] = list(kind.enum)
    if kind.format is not None:
        schema["format"] = kind.format
    for name in ("number", "string", "array"):
        schema.update(limits_of(kind, name))
    if kind.items is not None:
        schema["items"] = schema_of(kind.items, refer)
    if kind.first:
        schema["prefixItems"] = [schema_of(item, refer) for item in kind.first]
    if kind.any_of:
        schema["anyOf"] = [schema_of(alternative, refer) for alternative in kind.any_of]
    if kind.fields:
        schema |= object_schema(kind.fields, open=kind.open, refer=refer) | named
    elif not kind.open:
        schema["additionalProperties"] = False
    if kind.others is not None:
        schema["additionalProperties"] = schema_of(kind.others, refer)
    return schema


def limits_of(kind: Type, name: str) -> WrittenSchema:
    """The limits of a type's numbers, texts or lists, as keywords.

    >>> limits_of(Type(("integer",), minimum=1, length=(2, None)), "integer")
    {'minimum': 1}
    """
    if name in ("integer", "number"):
        low, high = kind.exclusive
        limits = {
            "exclusiveMinimum" if low else "minimum": kind.minimum,
            "exclusiveMaximum" if high else "maximum": kind.maximum,
        }
    else:
        counted, (least, most) = ("Length", kind.length) if name == "string" else ("Items", kind.size)
        limits = {f"min{counted}": least, f"max{counted}": most}
    return {keyword: limit for keyword, limit in limits.items() if limit is not None}


def object_schema(
    fields: tuple[Parameter, ...], *, open: bool, refer: ReferenceWriter | None
) -> WrittenSchema:
    """The JSON Schema of an object with these fields; an open one says so."""
    properties = {}
    for member in fields:
        schema = schema_of(member.type, refer)
        if member.description:
            schema["description"] = member.description
        if member.has_default:
            schema["default"] = member.default
        properties[member.name] = schema
    result: WrittenSchema = {"type": "object", "properties": properties}
    if required := [m.name for m in fields if m.required]:
        result["required"] = required
    if open:
        result["additionalProperties"] = True
    return result


def arguments_schema(tool: Tool, refer: ReferenceWriter | None = None) -> WrittenSchema:
    """The JSON Schema of a tool's arguments, as its parameters' types have it; as for :func:`schema_of`."""
    schema = object_schema(tool.parameters, open=tool.open, refer=refer)
    if tool.others is not None:
        schema["additionalProperties"] = schema_of(tool.others, refer)
    return schema


def resolve_reference(reference: Any, root: Schema) -> Any:
    """What a local ``$ref`` points to."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise CatalogError(
            f"$ref {reference!r:.80}: only references within the same document can be followed"
        )
    node: Any = root
    if reference[1:] and not reference.startswith("#/"):
        anchor, keys = reference[1:], ("$anchor", "$dynamicAnchor")
        node = next((n for n in find_objects(root) if anchor in map(n.get, keys)), None)
    else:
        for step in filter(None, reference[1:].split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
                node = node[int(name)]
            else:
                node = node.get(name) if isinstance(node, Mapping) else None
    if node is None:
        raise CatalogError(f"$ref {reference!r:.80} points to nothing")
    return node


def find_objects(data: Any, keys: Collection[str] | None = None) -> Iterator[Schema]:
    """The objects in JSON data, in its order and outer ones first; below the top, only those at some keys."""
    left = [data]
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            yield node
            left += reversed([value for key, value in node.items() if keys is None or key in keys])
        elif isinstance(node, list):
            left += reversed(node)


def find_references(schema: Any, keys: Collection[str] | None = None) -> Iterator[str]:
    """The references in a schema; those at some keys alone are of the same value as it."""
    return (n["$ref"] for n in find_objects(schema, keys) if isinstance(n.get("$ref"), str))


def _read_reference(schema: Schema, route: SchemaRoute) -> Type:
    reference = schema["$ref"]
    if reference in route.seen:
        since = route.seen[route.seen.index(reference) :]
        if _INNER_VALUE_KEYWORDS.isdisjoint(since):
            return ANY
        if reference not in route.known:
            route.known[reference] = RecursiveType(
                reference, route.root, partial(_read_recursive_type, recurring_types=route.known)
            )
        return Type(again=route.known[reference])
    return _read_type(resolve_reference(reference, route.root), route.to(str(reference)))


def _read_recursive_type(reference: str, root: Schema, *, recurring_types: dict[str, RecursiveType]) -> Type:
    route = SchemaRoute(root, (), iter(range(_MAX_SCHEMAS)), recurring_types)
    return _read_reference({"$ref": reference}, route)


def _unlisted_type(schema: Schema, route: SchemaRoute) -> Type | None:
    """The type of fields that are not listed; None where it may be any."""
    additional = schema.get("additionalProperties")
    if not isinstance(additional, Mapping):
        return None
    kind = _read_type(additional, route.to("additionalProperties"))
    return None if kind == ANY else kind


def _merge_all_of(
    schema: Schema, route: SchemaRoute, followed: list[str], through: tuple[str, ...] = ()
) -> WrittenSchema:
    """The schema with its allOf parts laid over one another, properties and required joined.

    What comes again inside itself is not laid over: that a type has no place for. `followed` gets references.
    """
    merged: WrittenSchema = {}
    for subschema in (*schema["allOf"], {key: value for key, value in schema.items() if key != "allOf"}):
        led = through
        if isinstance(subschema, Mapping) and "$ref" in subschema:
            led = (*through, str(subschema["$ref"]))
            if led[-1] in through:
                raise CatalogError("allOf refers to itself")
            if led[-1] in route.seen:
                if _INNER_VALUE_KEYWORDS.isdisjoint(route.seen[route.seen.index(led[-1]) :]):
                    raise CatalogError("allOf refers to itself")
                continue
            followed.append(led[-1])
            subschema = {"allOf": [resolve_reference(subschema["$ref"], route.root)]}
        if isinstance(subschema, bool):
            continue
        if not isinstance(subschema, Mapping):
            raise CatalogError(f"expected a JSON Schema object in allOf, found {subschema!r:.80}")
        further = (
            _merge_all_of(subschema, route.to("allOf"), followed, led)
            if subschema.get("allOf")
            else subschema
        )
        for key, value in further.items():
            if key == "properties" and isinstance(value, Mapping):
                value = {**merged.get(key, {}), **value}
            elif key == "required" and isinstance(value, list):
                value = [*merged.get(key, []), *value]
            merged[key] = value
    return merged


def _kinds(schema: Schema) -> tuple[str, ...]:
    kinds = schema.get("type") or ()
    if not isinstance(kinds, (list, tuple)):
        raise CatalogError(f"type must be a name or a list of names, found {kinds!r:.60}")
    for name in kinds:
        if name not in KINDS:
            raise CatalogError(f"unknown type {name!r:.60}; JSON Schema knows {', '.join(KINDS)}")
    if not kinds and "properties" in schema:
        return ("object",)
    return tuple(dict.fromkeys(kinds))


def _required(schema: Schema) -> dict[str, None]:
    """The names under ``required``, in order."""
    names = schema.get("required", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CatalogError(f"required must be a list of names, found {names!r:.60}")
    return dict.fromkeys(names)


def _variants(schema: Schema) -> list[Any]:
    variants = schema.get("anyOf") or schema.get("oneOf") or []
    if not isinstance(variants, list):
        raise CatalogError(f"anyOf and oneOf must be lists of schemas, found {variants!r:.60}")
    return variants


def _count(schema: Schema, key: str) -> int | None:
    number = schema.get(key)
    if number is not None and not is_number(number):
        raise CatalogError(f"{key} must be a number, found {number!r:.60}")
    return None if number is None else int(number)


def _enum(schema: Schema) -> tuple[Any, ...] | None:
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum")
    if values is not None and not isinstance(values, list):
        raise CatalogError(f"enum must be a list, found {values!r:.80}")
    return None if values is None else tuple(values)


def _limit(schema: Schema, end: str) -> tuple[float | None, bool]:
    """The minimum or maximum, and whether it is itself excluded."""
    strict = schema.get(f"exclusive{end.capitalize()}")
    limit = schema.get(end) if strict is None else strict
    if limit is not None and not is_number(limit):
        raise CatalogError(f"{end} must be a number, found {limit!r:.60}")
    return limit, strict is not None


# ----------------------------------------------------------------------
# Schemas that refer to definitions elsewhere, made to carry these with them.
_DEFINITION_KEYWORDS = ("$defs", "definitions")


def make_self_contained(schema: Schema, root: Schema) -> WrittenSchema:
    """A schema whose references all lead into itself.

    Args:
        schema: The schema; given back as it is where it has all that it refers to.
        root: The document that it stood in.

    >>> root = {"$defs": {"Day": {"type": "string"}}}
    >>> make_self_contained({"properties": {"on": {"$ref": "#/$defs/Day"}}}, root)
    {'properties': {'on': {'$ref': '#/$defs/Day'}}, '$defs': {'Day': {'type': 'string'}}}
    """
    if all(_can_resolve(reference, schema) for reference in find_references(schema)):
        return dict(schema)
    moved = MovedDefinitions(schema, root)
    remaining = {key: value for key, value in schema.items() if key not in _DEFINITION_KEYWORDS}
    return moved.carry(moved.over(remaining))


class MovedDefinitions:
    """Definitions on their way from one document into another."""

    def __init__(self, *roots: Schema) -> None:
        self.roots = roots
        self.names: dict[str, str] = {}
        self.found: WrittenSchema = {}

    def carry(self, schema: WrittenSchema) -> WrittenSchema:
        """A schema with the definitions that were moved for it."""
        return {**schema, "$defs": self.found} if self.found else schema

    def again(self, kind: RecursiveType) -> WrittenSchema:
        """What refers to a type inside itself."""
        if kind.root not in self.roots:
            self.roots = (*self.roots, kind.root)
        return {"$ref": self.reference(kind.reference)}

    def over(self, schema: Any) -> Any:
        """The schema with references to what is moved, which is :attr:`found`."""
        if isinstance(schema, list):
            return [self.over(item) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        copied = {key: self.over(value) for key, value in schema.items() if key != "$ref"}
        reference = schema.get("$ref")
        if reference is not None:
            copied = {"$ref": self.reference(reference), **copied}
        return copied

    def reference(self, reference: Any) -> Any:
        """The new place of what a reference names; itself where it names nothing, which its reader tells."""
        if not isinstance(reference, str):
            return self.over(reference)
        root = next((r for r in self.roots if _can_resolve(reference, r)), None)
        if root is None:
            return reference
        if reference not in self.names:
            name = plain = reference.rpartition("/")[2].strip("#") or "whole"
            number = 2
            while name in self.found:
                name, number = f"{plain}_{number}", number + 1
            self.names[reference] = name
            self.found[name] = {}  # it may lead back to itself
            self.found[name] = self.over(resolve_reference(reference, root))
        return f"#/$defs/{self.names[reference]}"


def _can_resolve(reference: str, root: Schema) -> bool:
    try:
        resolve_reference(reference, root)
    except CatalogError:
        return False
    return True
