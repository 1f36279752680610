"""Arguments against the whole of JSON Schema 2020-12.

What is wrong is found with ``jsonschema``, whose keywords :mod:`planner_eval.catalogs.json_schema.vocabulary`
extends for references; nothing is fetched, and regular expressions, depth and steps are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import CatalogError
from planner_eval.base.patterns import Pattern
from planner_eval.catalogs.catalog import ANY, Type
from planner_eval.catalogs.json_schema.types import (
    COMBINING_KEYWORDS,
    COUNT_KEYWORDS,
    Schema,
    WrittenSchema,
    read_older_drafts,
    resolve_reference,
    type_of,
)
from planner_eval.catalogs.value_errors import Fault, ValueChecker

if TYPE_CHECKING:
    from planner_eval.plan.model import Path


# ----------------------------------------------------------------------
# JSON Schemas as the judge holds them: 2020-12's words alone, references within, objects closed.
#
# An object that lists properties takes no others unless the schema says so, which JSON Schema does not
# have: it is written into the schema here. What a condition asks (``if``, ``not``, ``contains``) stays as
# it is.
_MAX_SCHEMAS = 20_000
_JOINT_KEYWORDS = ("allOf", "if", "then", "else", "dependentSchemas", "$ref")
"""What holds of a value with a schema, as one of its alternatives may not."""
_SAME_VALUE_KEYWORDS = (*_JOINT_KEYWORDS, "anyOf", "oneOf")
_CONDITION_KEYWORDS = ("if", "not", "contains")
_PART_KEYWORDS = (
    "items",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalProperties",
    "contains",
)
_COPIED_KEYWORDS = frozenset(
    (
        *("enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("type", "required", "multipleOf", "pattern", "uniqueItems", "dependentRequired", *COUNT_KEYWORDS),
    )
)


@dataclass(frozen=True, slots=True)
class _SchemaContext:
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


class SchemaCloser:
    """Writes a schema as the judge holds it.

    Args:
        root: The document with all that is referred to.

    >>> root = {"type": "object", "properties": {"x": {"type": "integer", "title": "X"}}}
    >>> SchemaCloser(root).whole()["properties"], SchemaCloser(root).whole()["additionalProperties"]
    ({'x': {'type': ['integer']}}, False)
    """

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.made: WrittenSchema = {}
        self.places: dict[tuple[str, _SchemaContext], str] = {}
        self.left = _MAX_SCHEMAS

    def whole(self) -> WrittenSchema:
        """The document.

        Raises:
            CatalogError: it refers to nothing, or is too large.
        """
        document = self.over(self.root, _SchemaContext())
        if self.root.get("properties") == {} and "additionalProperties" not in self.root:
            document["additionalProperties"] = False  # a tool that lists no argument takes none
        return {**document, "$defs": self.made} if self.made else dict(document)

    def over(self, schema: Any, context: _SchemaContext) -> Any:
        """A schema of a value; true and false stay."""
        if not isinstance(schema, Mapping):
            return schema
        self._count()
        schema = {key: value for key, value in schema.items() if value is not None or key == "const"}
        schema = read_older_drafts(schema)
        context = replace(context, said=context.said or self._says(schema, context.seen))
        closed = {key: value for key, value in schema.items() if key in _COPIED_KEYWORDS}
        closed.update({key: int(closed[key]) for key in COUNT_KEYWORDS if key in closed})
        if context.asked:
            closed.pop("format", None)
        joint_context = self._with(context, schema, _JOINT_KEYWORDS)
        for key in COMBINING_KEYWORDS:
            if schema.get(key):
                other_keys = [k for k in ("anyOf", "oneOf") if k != key]
                inside = self._with(joint_context, schema, other_keys)
                closed[key] = [self.over(subschema, inside) for subschema in schema[key]]
        joint_context = self._with(joint_context, schema, ("anyOf", "oneOf"))
        for key in ("if", "not", "then", "else"):
            if key in schema:
                is_asked = context.asked or key in _CONDITION_KEYWORDS
                closed[key] = self.over(schema[key], replace(joint_context, asked=is_asked))
        self._refer(schema, closed, joint_context)
        self._parts(schema, closed, joint_context)
        self._close(schema, closed, joint_context)
        return closed

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise CatalogError(
                f"a JSON Schema has more than {_MAX_SCHEMAS:,} schemas, with those it refers to"
            )

    def _refer(self, schema: Schema, closed: WrittenSchema, context: _SchemaContext) -> None:
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if reference is None or reference in context.seen:  # one to nothing but itself says nothing
            return
        key = (reference, context)
        if key not in self.places:
            self.places[key] = name = str(len(self.places) + 1)
            self.made[name] = True
            inside = replace(context, seen=(*context.seen, reference))
            self.made[name] = self.over(resolve_reference(reference, self.root), inside)
        closed["$ref"] = f"#/$defs/{self.places[key]}"

    def _parts(self, schema: Schema, closed: WrittenSchema, context: _SchemaContext) -> None:
        """What is said of the parts of a value."""

        def close_part(inner: Any, key: str) -> Any:
            return self.over(inner, _SchemaContext(asked=context.asked or key in _CONDITION_KEYWORDS))

        for key in _PART_KEYWORDS:
            if isinstance(schema.get(key), (Mapping, bool)):
                closed[key] = close_part(schema[key], key)
        for key in ("properties", "patternProperties"):
            if isinstance(schema.get(key), Mapping):
                closed[key] = {str(name): close_part(inner, key) for name, inner in schema[key].items()}
        if "prefixItems" in schema:
            closed["prefixItems"] = [close_part(inner, "prefixItems") for inner in schema["prefixItems"]]
        depending = {**(schema.get("dependencies") or {}), **(schema.get("dependentSchemas") or {})}
        for name, inner in depending.items():
            if isinstance(inner, list):
                closed["dependentRequired"] = {**(closed.get("dependentRequired") or {}), name: inner}
            else:
                closed.setdefault("dependentSchemas", {})[name] = self.over(inner, context)

    def _close(self, schema: Schema, closed: WrittenSchema, context: _SchemaContext) -> None:
        if not schema.get("properties") or context.said or context.asked:
            return
        closed["properties"] = {**dict.fromkeys(context.names, True), **closed["properties"]}
        if context.patterns:
            closed["patternProperties"] = {
                **dict.fromkeys(context.patterns, True),
                **(closed.get("patternProperties") or {}),
            }
        closed["additionalProperties"] = False

    def _with(self, context: _SchemaContext, schema: Schema, keys: Iterable[str]) -> _SchemaContext:
        """The context with what a schema lists itself, and what those under some of its keywords do."""
        listed: dict[str, None] = dict.fromkeys(context.names)
        patterns: dict[str, None] = dict.fromkeys(context.patterns)
        inner = self._under(schema, keys, context.seen, _SAME_VALUE_KEYWORDS)
        for subschema in chain([schema], inner):
            needed = subschema.get("required")
            listed |= dict.fromkeys(map(str, subschema.get("properties") or ()))
            listed |= dict.fromkeys(needed if isinstance(needed, list) else ())
            patterns |= dict.fromkeys(map(str, subschema.get("patternProperties") or ()))
        return replace(context, names=tuple(listed), patterns=tuple(patterns))

    def _under(
        self, schema: Schema, keys: Iterable[str], seen: tuple[str, ...], deeper: tuple[str, ...]
    ) -> Iterator[Schema]:
        """The schemas under some keywords of a schema that are of the same value."""
        for key in keys:
            if key == "$ref":
                reference = schema.get("$ref", schema.get("$dynamicRef"))
                if reference is not None and reference not in seen:
                    named = resolve_reference(reference, self.root)
                    yield from self._same(named, (*seen, reference), deeper)
                continue
            nested = schema.get(key)
            if key == "dependentSchemas" and nested:
                nested = list(nested.values())
            for subschema in nested if isinstance(nested, list) else [nested]:
                yield from self._same(subschema, seen, deeper)

    def _same(self, schema: Any, seen: tuple[str, ...], keys: tuple[str, ...]) -> Iterator[Schema]:
        """A schema and all under some keywords, at any depth, that are of the same value."""
        if isinstance(schema, Mapping):
            self._count()
            yield schema
            yield from self._under(schema, keys, seen, keys)

    def _says(self, schema: Schema, seen: tuple[str, ...]) -> bool:
        """Whether a schema, or what holds with it, says which other properties there may be."""
        closing_keywords = ("additionalProperties", "unevaluatedProperties")
        schemas = self._same(schema, seen, ("allOf", "$ref"))
        return any(subschema.get(key) is not None for subschema in schemas for key in closing_keywords)


# ----------------------------------------------------------------------
# Arguments against the whole of JSON Schema 2020-12, where a tool's schema says more than a type can.
_UNDECIDED_TEXT = "is too large or too deep to check against the tool's schema"
_WORST_CODES = ("check.wrong_type", "check.enum")


@dataclass(frozen=True)
class ArgumentsValidator:
    """Holds arguments against a tool's JSON Schema.

    Args:
        schema: The schema of the parameters, as the catalog has it.

    >>> codes = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    >>> judge = ArgumentsValidator({"type": "object", "properties": {"codes": codes}})
    >>> [(wrong.at, wrong.text) for wrong in judge.wrong({"codes": ["a", "b", "a"]})]
    [(('codes', 2), "'a' is repeated, but items must be unique")]
    """

    schema: Schema = field(hash=False)

    def __reduce__(self) -> tuple[type[ArgumentsValidator], tuple[Any]]:
        return ArgumentsValidator, (self.schema,)

    @cached_property
    def _validator(self) -> Any:
        from planner_eval.catalogs.json_schema.vocabulary import make_validator_class

        return make_validator_class()(SchemaCloser(self.schema).whole())

    @cached_property
    def _patterns(self) -> dict[str, Pattern]:
        return {}

    def wrong(self, value: Any, *, texts: bool = False, holes: tuple[str, ...] = ()) -> tuple[Fault, ...]:
        """Everything that is wrong with a value; a reference in it stands for any.

        Args:
            value: JSON data, possibly with references inside.
            texts: Whether a text counts as what it reads as.
            holes: Literals that stand for a value still unknown.
        """
        from planner_eval.catalogs.json_schema.vocabulary import EndlessError, ValidationRun

        base_validator = self._validator
        run = ValidationRun(texts, holes, self._patterns, base_validator.schema.get("$defs") or {})
        validator = base_validator.evolve(format_checker=run)
        try:
            run.begin(value)
            good = validator.is_valid(value)
            faults = [] if good else _collect_faults(validator.iter_errors(value), run, validator.schema)
        except (EndlessError, RecursionError):
            return (Fault((), "check.undecided", _UNDECIDED_TEXT),)
        faults += [
            Fault(
                (), "check.undecided", f"whether a text matches {pattern!r:.80} could take too long to check"
            )
            for pattern in sorted(run.undecided)
        ]
        return tuple(sorted(faults, key=lambda fault: _position_in_value(value, fault)))


def _collect_faults(errors: Any, run: Any, root: Schema) -> list[Fault]:
    """What the validator's errors say, the worst of each place."""
    faults: dict[Fault, None] = {}
    for error in errors:
        faults |= dict.fromkeys(_faults_of_error(error, run, root))
    worst: dict[Path, Fault] = {}
    for code in reversed(_WORST_CODES):
        worst |= {fault.at: fault for fault in reversed(faults) if fault.code == code}
    return [fault for fault in faults if worst.get(fault.at, fault) is fault]


def _position_in_value(value: Any, fault: Fault) -> list[float]:
    """Where in a value something is wrong, so that findings stand in its order, what is missing last."""
    positions: list[float] = []
    for step in fault.at:
        try:
            positions.append(step if isinstance(step, int) else list(value).index(step))
            value = value[step]
        except (TypeError, ValueError, LookupError):
            break
    return [*positions, inf] if fault.code == "check.missing_argument" else positions


def _faults_of_error(error: Any, run: Any, root: Schema) -> list[Fault]:
    location = tuple(error.path)
    code = getattr(error, "code", None)
    if code:
        return [Fault(location, code, error.message, error.name)]
    if error.schema is False:
        return [Fault(location, "check.not_allowed", "the tool allows no value here")]
    if error.validator in ("anyOf", "oneOf"):
        kinds = Type(any_of=tuple(_outline_type(alternative, root) for alternative in error.validator_value))
        tries = [tuple(_collect_faults(errors, run, root)) for errors in error.tries]
        faults = ValueChecker(run.texts, run.holes).closest(error.instance, kinds, tries)
        return [fault._replace(at=(*location, *fault.at)) for fault in faults]
    return [Fault(location, "check.not_allowed", f"violates the tool's {error.validator!r}")]


def _outline_type(schema: Any, root: Schema) -> Type:
    """What a type can say of an alternative."""
    try:
        return type_of(schema, root)
    except CatalogError:
        return ANY
