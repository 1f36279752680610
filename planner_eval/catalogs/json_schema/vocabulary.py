"""The keywords of JSON Schema 2020-12 for values with references in them, in words for people.

They extend the validator of ``jsonschema``, which has all others. A reference stands for any value, so what
could be is let pass: a keyword fails only where no value of the references would hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import jsonschema
from jsonschema.exceptions import ValidationError

from planner_eval.base.patterns import Pattern
from planner_eval.base.text import format_count
from planner_eval.catalogs.catalog import Type
from planner_eval.catalogs.json_schema.types import COMBINING_KEYWORDS, Schema
from planner_eval.catalogs.value_errors import (
    describe_value,
    find_problem,
    find_size_problem,
    is_same_value,
    read_as_kind,
)
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Ref, Template, Unresolved, fold

# ----------------------------------------------------------------------
# Which fields of an object a schema describes, for ``unevaluatedProperties`` of JSON Schema 2020-12.
#
# ``jsonschema`` has such a search, but matches the names of fields with Python's engine, which may never
# end.


def evaluated_fields(validator: Any, value: Mapping[str, Any], schema: Any) -> set[str]:
    """The fields that a schema describes, or may where a pattern is undecided.

    Args:
        validator: Holds values against schemas; its checker of formats is the run.
        value: The object.
        schema: The schema as the judge holds it, without its ``unevaluatedProperties``.
    """
    run = validator.format_checker
    if not isinstance(schema, Mapping):
        return set()
    run.step()
    names = set(value.keys() & (schema.get("properties") or {}).keys())
    patterns = schema.get("patternProperties") or ()
    names |= {key for key in value for pattern in patterns if run.matches(pattern, key) is not False}
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            inner = validator.evolve(schema=schema[keyword])
            names |= {key for key in value if key not in names and inner.is_valid(value[key])}
    for subschema in _applied_schemas(validator, value, schema):
        names |= evaluated_fields(validator, value, subschema)
    return names


def _applied_schemas(validator: Any, value: Mapping[str, Any], schema: Schema) -> Iterator[Any]:
    """The schemas in another one that count for the same value."""
    if "$ref" in schema:
        yield validator.format_checker.named[schema["$ref"].rpartition("/")[2]]
    yield from (
        dependent for name, dependent in (schema.get("dependentSchemas") or {}).items() if name in value
    )
    for keyword in COMBINING_KEYWORDS:
        yield from (
            alternative
            for alternative in schema.get(keyword) or ()
            if validator.evolve(schema=alternative).is_valid(value)
        )
    if "if" in schema:
        good, sure = validator.format_checker.surely(validator, schema["if"], value)
        if good:
            yield schema["if"]
            yield schema.get("then", True)
        if not (good and sure):
            yield schema.get("else", True)


# ----------------------------------------------------------------------
# The keywords of JSON Schema 2020-12 for values with references in them, in words for people.
_MAX_SHOWN_CHARS = 60
_MAX_STEPS = 300_000
"""So many keywords are held against one call's arguments; alternatives inside alternatives double."""
_FREE_REPEATS = 4
"""How often a value is held against the same alternatives where none of those around it are tried again."""
_MAX_REPEATS = 3_000
"""So many times more is one list or object held against the alternatives that it was held against before."""
_NUMBERS = (int, float)
_STRICT = (True, True)
_Errors: TypeAlias = Iterator["KeywordError"]


class EndlessError(Exception):
    """To hold a schema against a value takes too long."""


class KeywordError(ValidationError):  # type: ignore[misc]
    """What is wrong, with its code, the field that is meant, and what is wrong with each alternative."""

    def __init__(
        self, message: str, code: str = "", name: str | None = None, *, tries: Any = (), **more: Any
    ) -> None:
        super().__init__(message, **more)
        self.code, self.name, self.tries = code, name, tries


class KeywordVerdict(NamedTuple):
    """Whether a value holds, and whether no undecided pattern was let pass for that."""

    good: bool
    sure: bool


@dataclass(slots=True)
class ValidationRun:
    """One call's arguments on their way through a schema.

    It rides where the validator has its checker of formats, from which each keyword gets it.

    Args:
        texts: Whether a text counts as what it reads as.
        holes: Literals that stand for a value still unknown.
        patterns: The regular expressions that were met before.
        named: The schemas that references lead to, by name.
        inside: The lists and objects that have references in them, by identity.
        left: How many more keywords may be held against values.
        undecided: Regular expressions that would take too long.
        again: How many more times a value may be held against the alternatives that it was held against.
        met: How often each list and object was held against which alternatives, by identity.
        known: What is known of lists and objects held against parts of the schema, by identity; the value
            stands beside, so that no other gets its identity.
    """

    texts: bool
    holes: tuple[str, ...]
    patterns: dict[str, Pattern]
    named: Mapping[str, Any] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)
    left: int = _MAX_STEPS
    undecided: set[str] = field(default_factory=set)
    again: int = _MAX_REPEATS
    met: Counter[tuple[int, int]] = field(default_factory=Counter)
    known: dict[tuple[int, int], tuple[KeywordVerdict, frozenset[str], Any]] = field(default_factory=dict)

    def begin(self, value: Any) -> bool:
        """Find out which lists and objects have references in them; whether this one has."""
        if not isinstance(value, (dict, list)):
            return self.stands(value) or isinstance(value, Template)
        is_open = any([self.begin(child) for child in (value.values() if isinstance(value, dict) else value)])
        if is_open:
            self.inside.add(id(value))
        return is_open

    def stands(self, value: Any) -> bool:
        """Whether a value stands for any other."""
        return isinstance(value, (Ref, Unresolved)) or (type(value) is str and value in self.holes)

    def open(self, value: Any) -> bool:
        """Whether a value is known only in part."""
        return isinstance(value, Template) or id(value) in self.inside

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a regular expression is in a text; None where that takes too long."""
        compiled = self.patterns.get(pattern)
        if compiled is None:
            compiled = self.patterns[pattern] = Pattern(pattern)
        is_match = compiled.found(text)
        if is_match is None:
            self.undecided.add(pattern)
        return is_match

    def step(self) -> None:
        """Count one more keyword that is held against a value."""
        self.left -= 1
        if self.left < 0:
            raise EndlessError

    def choose(self, schemas: Any, value: Any) -> None:
        """Count that a value's faults are looked for by alternatives; inside others they double."""
        if not isinstance(value, (dict, list)):
            return
        key = (id(schemas), id(value))
        self.met[key] += 1
        self.again -= self.met[key] > _FREE_REPEATS
        if self.again < 0:
            raise EndlessError

    def surely(self, validator: Any, schema: Any, value: Any) -> KeywordVerdict:
        """Whether a value holds against a part of the schema, and no undecided pattern was let pass for that.

        A list or object is held against a part of the schema once, whatever is around either.
        """
        validator = validator.evolve(schema=schema)
        key = (id(validator.schema), id(value))
        if key not in self.known:
            judged = self.judge(lambda: validator.is_valid(value))
            if not isinstance(value, (dict, list)):
                return judged[0]
            self.known[key] = (*judged, value)
        verdict, patterns, _ = self.known[key]
        self.undecided |= patterns
        return verdict

    def judge(self, is_good: Callable[[], bool]) -> tuple[KeywordVerdict, frozenset[str]]:
        """A verdict, and the undecided patterns that were met on the way to it."""
        before, self.undecided = self.undecided, set()
        try:
            good = is_good()
            return KeywordVerdict(good, not self.undecided), frozenset(self.undecided)
        finally:
            self.undecided |= before


def make_validator_class() -> Any:
    """The validator's class."""
    checks = {
        **{key: (object, check) for key, check in jsonschema.Draft202012Validator.VALIDATORS.items()},
        **{
            key: (kinds, check)
            for kinds, keywords in _KEYWORD_CHECKS.items()
            for key, check in keywords.items()
        },
    }
    return jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {key: _guard_keyword(*check) for key, check in checks.items()}
    )


def _guard_keyword(kinds: Any, check: Callable[..., Any]) -> Callable[..., Any]:
    """A keyword of values of some classes; it lets pass what a reference stands for, and comes to an end."""

    def check_value(validator: Any, keyword_value: Any, value: Any, schema: Any) -> Any:
        run: ValidationRun = validator.format_checker
        run.step()
        if run.stands(value):
            return ()
        if run.texts and isinstance(value, (str, int, float)):
            value = read_as_kind(value, tuple(schema.get("type") or ()))
        if not isinstance(value, kinds) or (kinds is _NUMBERS and isinstance(value, bool)):
            return ()
        return check(validator, keyword_value, value, schema)

    return check_value


# ---------------------------------------------------------------- any value
def _check_type(validator: Any, kinds: list[str], value: Any, schema: Any) -> _Errors:
    run, expected = validator.format_checker, Type(tuple(kinds), format=schema.get("format"))
    if isinstance(value, Template):
        if "string" not in kinds and not run.texts:
            yield KeywordError(
                f"expected {expected}, found a text containing a reference", "check.wrong_type"
            )
    elif find_problem(value, Type(tuple(kinds)), texts=run.texts) is not None:
        yield KeywordError(f"expected {expected}, found {describe_value(value)}", "check.wrong_type")


def _check_enum(validator: Any, allowed: Any, value: Any, schema: Any) -> _Errors:
    run = validator.format_checker
    if isinstance(value, Template) or any(_can_equal(value, option, run) for option in allowed):
        return
    kind = Type(tuple(schema.get("type") or ()), enum=tuple(allowed))
    yield KeywordError(f"expected {kind}, found {describe_value(value)}", "check.enum")


def _can_equal(value: Any, allowed: Any, run: ValidationRun) -> bool:
    """Whether a value, or what its references stand for, may be another one."""
    if run.stands(value):
        return True
    if isinstance(value, Template):
        return isinstance(allowed, str)
    if isinstance(value, list):
        pairs = zip(value, allowed, strict=False) if isinstance(allowed, list) else ()
        same_length = isinstance(allowed, list) and len(value) == len(allowed)
        return same_length and all(_can_equal(item, allowed_item, run) for item, allowed_item in pairs)
    if isinstance(value, dict):
        if not isinstance(allowed, dict) or value.keys() != allowed.keys():
            return False
        return all(_can_equal(item, allowed[key], run) for key, item in value.items())
    return is_same_value(value, allowed, texts=run.texts)


def _check_not(validator: Any, schema: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    if not run.open(value) and run.surely(validator, schema, value) == (True, True):
        yield KeywordError(f"the tool excludes {describe_value(value)} here", "check.not_allowed")


def _check_if(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    run = validator.format_checker
    good, sure = run.surely(validator, schema, value)
    if not good:
        yield from validator.descend(value, around.get("else", True), schema_path="else")
    elif sure and not run.open(value):
        yield from validator.descend(value, around.get("then", True), schema_path="then")


def _check_any_of(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    if not any(run.surely(validator, alternative, value).good for alternative in schemas):
        yield _no_alternative_error(validator, schemas, value)


def _check_one_of(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    good = [verdict for alternative in schemas if (verdict := run.surely(validator, alternative, value)).good]
    if not good:
        yield _no_alternative_error(validator, schemas, value)
    elif len(good) > 1 and not run.open(value):
        if sum(verdict.sure for verdict in good) < 2:
            return
        text = (
            f"{describe_value(value)} fits {len(good)} of {len(schemas)} alternatives; exactly one must fit"
        )
        yield KeywordError(text, "check.not_allowed")


def _no_alternative_error(validator: Any, schemas: Any, value: Any) -> KeywordError:
    """What is wrong with a value of none of the alternatives, for each of them."""
    validator.format_checker.choose(schemas, value)
    return KeywordError("", tries=[list(validator.descend(value, alternative)) for alternative in schemas])


# ---------------------------------------------------------------- numbers, texts
def _check_by_type(make: Callable[[Any, Schema], Type]) -> Callable[..., _Errors]:
    """A keyword that a type can say, which is made of what it holds and of the schema around it."""

    def check_limit(validator: Any, limit: Any, value: Any, schema: Any) -> _Errors:
        problem = find_problem(value, make(limit, schema), texts=validator.format_checker.texts)
        if problem is not None:
            yield KeywordError(problem[1], problem[0])

    return check_limit


def _check_multiple_of(_validator: Any, unit: Any, value: Any, _schema: Any) -> _Errors:
    """A multiple as decimals have it: 19.99 is one of 0.01, though a computer's fractions are not."""
    try:
        is_multiple = (_exact_fraction(value) / _exact_fraction(unit)).denominator == 1
    except (ValueError, OverflowError):  # infinity
        is_multiple = False
    if not is_multiple:
        yield KeywordError(f"expected a multiple of {unit!r}, found {value!r:.60}", "check.out_of_range")


def _exact_fraction(value: float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _check_pattern(validator: Any, pattern: Any, value: Any, _schema: Any) -> _Errors:
    if validator.format_checker.matches(pattern, value) is False:
        text = f"expected a text that matches {pattern!r:.80}, found {describe_value(value)}"
        yield KeywordError(text, "check.pattern")


# ---------------------------------------------------------------- lists


def _check_items(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    first = len(around.get("prefixItems") or ())
    if len(value) <= first:
        return
    if schema is False:
        text = f"expected at most {format_count(first, 'item')}, found {len(value)}"
        yield KeywordError(text, "check.out_of_range")
        return
    for position in range(first, len(value)):
        yield from validator.descend(value[position], schema, path=position)


def _check_unique(validator: Any, unique: Any, value: Any, _schema: Any) -> _Errors:
    if not unique:
        return
    run, seen = validator.format_checker, set()
    for position, item in enumerate(value):
        if _is_undecided(item, run):
            continue
        key = value_key(item, OWN_POSITIONS)
        if key in seen:
            named = "a reference" if isinstance(item, (Ref, Template)) else f"{item!r:.60}"
            text = f"{named} is repeated, but items must be unique"
            yield KeywordError(text, "check.repeated_item", path=[position])
        seen.add(key)


def _is_undecided(value: Any, run: ValidationRun) -> bool:
    """Whether a value may turn out as any other; a reference is equal to itself."""
    return bool(
        fold(
            value,
            lambda leaf: not isinstance(leaf, Ref) and run.stands(leaf),
            items=any,
            fields=lambda inner: any(inner.values()),
            text=lambda segments: any(isinstance(segment, Unresolved) for segment in segments),
        )
    )


def _check_contains(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    run, inner = validator.format_checker, validator.evolve(schema=schema)
    good = [item for item in value if inner.is_valid(item)]
    definite = [item for item in good if not run.stands(item) and not run.open(item)]
    least, most = around.get("minContains", 1), around.get("maxContains")
    if len(good) < least:
        text = (
            f"expected at least {least} of the items to be {_describe_condition(schema)}, found {len(good)}"
        )
        yield KeywordError(text, "check.out_of_range")
    elif most is not None and len(definite) > most:
        sure = sum(run.surely(validator, schema, item).sure for item in definite)
        text = f"expected at most {most} of the items to be {_describe_condition(schema)}, found {sure}"
        if sure > most:
            yield KeywordError(text, "check.out_of_range")


def _describe_condition(schema: Any) -> str:
    """A condition in a few words."""
    if not isinstance(schema, Mapping):
        return "as the tool describes"
    if "const" in schema or "enum" in schema:
        allowed = [schema["const"]] if "const" in schema else schema["enum"]
        return f"{Type(enum=tuple(allowed))}"[:_MAX_SHOWN_CHARS]
    return str(Type(tuple(schema.get("type") or ()))) if schema.get("type") else "as the tool describes"


def _check_unevaluated_items(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    run = validator.format_checker
    if run.open(value):
        return
    validate = jsonschema.Draft202012Validator.VALIDATORS["unevaluatedItems"]
    verdict, _ = run.judge(lambda: not any(True for _ in validate(validator, schema, value, around) or ()))
    if verdict == (False, True):
        text = "other or more items than the tool describes"
        yield KeywordError(text, "check.out_of_range")


# ---------------------------------------------------------------- objects
def _check_required(_validator: Any, names: Any, value: Any, _schema: Any) -> _Errors:
    for name in names:
        if name not in value:
            yield KeywordError(f"the field {name!r} is required", "check.missing_argument", name)


def _check_additional_properties(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    if schema is True:
        return
    run, listed = validator.format_checker, around.get("properties") or {}
    patterns = tuple(around.get("patternProperties") or ())
    for key, item in value.items():
        if key in listed or any(run.matches(pattern, key) is not False for pattern in patterns):
            continue
        if schema is False:
            yield _unknown_field_error(key, listed)
        else:
            yield from validator.descend(item, schema, path=key)


def _unknown_field_error(key: str, listed: Any) -> KeywordError:
    text = f"there is no field {key[:_MAX_SHOWN_CHARS]!r}; the fields are {', '.join(listed) or 'none'}"
    return KeywordError(text, "check.unknown_argument", key, path=[key])


def _check_pattern_properties(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    for pattern, schema in schemas.items():
        for key, item in value.items():
            if validator.format_checker.matches(pattern, key):
                yield from validator.descend(item, schema, path=key)


def _check_property_names(validator: Any, schema: Any, value: Any, _around: Any) -> _Errors:
    for key in value:
        for error in validator.descend(key, schema):
            reason = f": {error.message}" if isinstance(error, KeywordError) and error.message else ""
            text = f"a field must not be called {key[:_MAX_SHOWN_CHARS]!r}{reason}"
            yield KeywordError(text, "check.unknown_argument", path=[key])
            break


def _check_property_count(_validator: Any, _most: Any, value: Any, schema: Any) -> _Errors:
    text = find_size_problem(len(value), _limits_of(schema, "Properties"), "fields")
    if text is not None:
        yield KeywordError(text, "check.out_of_range")


def _limits_of(schema: Schema, counted: str) -> tuple[int | None, int | None]:
    return schema.get(f"min{counted}"), schema.get(f"max{counted}")


def _check_dependent_required(_validator: Any, needed: Any, value: Any, _schema: Any) -> _Errors:
    for trigger, names in needed.items():
        for name in names:
            if trigger in value and name not in value:
                text = f"the field {name!r} is required where {trigger!r} is given"
                yield KeywordError(text, "check.missing_argument", name)


def _check_unevaluated_fields(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    """Fields that no part of a schema describes."""
    run = validator.format_checker
    if run.open(value):
        return
    other_keywords = {
        key: keyword_value for key, keyword_value in around.items() if key != "unevaluatedProperties"
    }
    evaluated_names = evaluated_fields(validator, value, other_keywords)
    for key in value:
        if key in evaluated_names:
            continue
        if schema is False:
            yield _unknown_field_error(key, around.get("properties") or {})
        else:
            yield from validator.descend(value[key], schema, path=key)


_KEYWORD_CHECKS: dict[Any, dict[str, Callable[..., _Errors]]] = {
    object: {
        "type": _check_type,
        "enum": _check_enum,
        "const": lambda validator, allowed, *value: _check_enum(validator, (allowed,), *value),
        "not": _check_not,
        "if": _check_if,
        "anyOf": _check_any_of,
        "oneOf": _check_one_of,
    },
    _NUMBERS: {
        "multipleOf": _check_multiple_of,
        "minimum": _check_by_type(lambda limit, _: Type(minimum=limit)),
        "maximum": _check_by_type(lambda limit, _: Type(maximum=limit)),
        "exclusiveMinimum": _check_by_type(lambda limit, _: Type(minimum=limit, exclusive=_STRICT)),
        "exclusiveMaximum": _check_by_type(lambda limit, _: Type(maximum=limit, exclusive=_STRICT)),
    },
    str: {
        "format": _check_by_type(lambda name, _: Type(format=name if isinstance(name, str) else None)),
        "pattern": _check_pattern,
        **dict.fromkeys(
            ("minLength", "maxLength"),
            _check_by_type(lambda _, schema: Type(length=_limits_of(schema, "Length"))),
        ),
    },
    list: {
        "items": _check_items,
        **dict.fromkeys(
            ("minItems", "maxItems"),
            _check_by_type(lambda _, schema: Type(size=_limits_of(schema, "Items"))),
        ),
        "uniqueItems": _check_unique,
        "contains": _check_contains,
        "unevaluatedItems": _check_unevaluated_items,
    },
    dict: {
        **dict.fromkeys(("minProperties", "maxProperties"), _check_property_count),
        "required": _check_required,
        "propertyNames": _check_property_names,
        "additionalProperties": _check_additional_properties,
        "patternProperties": _check_pattern_properties,
        "dependentRequired": _check_dependent_required,
        "unevaluatedProperties": _check_unevaluated_fields,
    },
}
"""The keywords by the classes of the values that they say something of."""
