"""The keywords of JSON Schema 2020-12 for values with references in them, in words for people.

They extend the validator of ``jsonschema``, which has all others. A reference stands for any value, so what
could be is let pass: a keyword fails only where no value of the references would hold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import jsonschema
from jsonschema.exceptions import ValidationError

from planner_eval.base.text import counted
from planner_eval.catalogs.catalog import Type
from planner_eval.catalogs.json_schema.patterns import Pattern
from planner_eval.catalogs.values import as_kind, problem, same, shown
from planner_eval.plan.model import Ref, Template, Unresolved

# ----------------------------------------------------------------------
# Which fields of an object a schema describes, for ``unevaluatedProperties`` of JSON Schema 2020-12.
#
# ``jsonschema`` has such a search, but matches the names of fields with Python's engine, which may never
# end.
_SAME = ("allOf", "anyOf", "oneOf")


def evaluated(validator: Any, value: Mapping[str, Any], schema: Any) -> set[str]:
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
    for subschema in _applied(validator, value, schema):
        names |= evaluated(validator, value, subschema)
    return names


def _applied(validator: Any, value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas in another one that count for the same value."""
    if "$ref" in schema:
        yield validator.format_checker.named[schema["$ref"].rpartition("/")[2]]
    yield from (
        dependent for name, dependent in (schema.get("dependentSchemas") or {}).items() if name in value
    )
    for keyword in _SAME:
        yield from (
            alternative
            for alternative in schema.get(keyword) or ()
            if validator.evolve(schema=alternative).is_valid(value)
        )
    if "if" in schema:
        good, sure = validator.format_checker.surely(validator.evolve(schema=schema["if"]), value)
        if good:
            yield schema["if"]
            yield schema.get("then", True)
        if not (good and sure):
            yield schema.get("else", True)


# ----------------------------------------------------------------------
# The keywords of JSON Schema 2020-12 for values with references in them, in words for people.
_SHOWN = 60
_MOST = 300_000
"""So many keywords are held against one call's arguments; alternatives inside alternatives double."""
_OFTEN = 4
"""How often a value is held against the same alternatives where none of those around it are tried again."""
_AGAIN = 3_000
"""So many times more is one list or object held against the alternatives that it was held against before."""
_Errors: TypeAlias = Iterator["Told"]


class EndlessError(Exception):
    """To hold a schema against a value takes too long."""


class Told(ValidationError):  # type: ignore[misc]
    """What is wrong, with its code, the field that is meant, and what is wrong with each alternative."""

    def __init__(self, message: str, code: str = "", name: str | None = None, **more: Any) -> None:
        self.tries: list[list[Any]] = more.pop("tries", [])
        super().__init__(message, **more)
        self.code = code
        self.name = name


class Held(NamedTuple):
    """Whether a value holds, and whether no undecided pattern was let pass for that."""

    good: bool
    sure: bool


@dataclass(slots=True)
class Run:
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
    left: int = _MOST
    undecided: set[str] = field(default_factory=set)
    again: int = _AGAIN
    met: Counter[tuple[int, int]] = field(default_factory=Counter)
    known: dict[tuple[int, int], tuple[Held, frozenset[str], Any]] = field(default_factory=dict)

    def begin(self, value: Any) -> None:
        """Find out which lists and objects have references in them."""
        stack: list[tuple[Any, Iterator[Any]]] = [(value, _parts(value))]
        while stack:
            _, children = stack[-1]
            for child in children:
                if isinstance(child, (dict, list)):
                    stack.append((child, _parts(child)))
                    break
                if self.stands(child) or isinstance(child, Template):
                    self.inside.update(id(outer) for outer, _ in stack)
            else:
                stack.pop()

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
        self.again -= self.met[key] > _OFTEN
        if self.again < 0:
            raise EndlessError

    def surely(self, validator: Any, value: Any) -> Held:
        """Whether a value holds, and whether no undecided pattern was let pass for that.

        A list or object is held against a part of the schema once, whatever is around either.
        """
        if not isinstance(value, (dict, list)):
            return self._held(validator, value)[0]
        key = (id(validator.schema), id(value))
        if key not in self.known:
            self.known[key] = (*self._held(validator, value), value)
        verdict, patterns, _ = self.known[key]
        self.undecided |= patterns
        return verdict

    def _held(self, validator: Any, value: Any) -> tuple[Held, frozenset[str]]:
        """The same, and the undecided patterns that were met."""
        before, self.undecided = self.undecided, set()
        try:
            good = validator.is_valid(value)
            return Held(good, not self.undecided), frozenset(self.undecided)
        finally:
            self.undecided |= before


def _parts(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value)


def held_by() -> Any:
    """The validator's class."""
    keywords = {**jsonschema.Draft202012Validator.VALIDATORS, **_OWN}
    return jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {key: _guarded(function) for key, function in keywords.items()}
    )


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A keyword that lets pass what a reference stands for, and that comes to an end."""

    def check_value(validator: Any, keyword_value: Any, value: Any, schema: Any) -> Any:
        run: Run = validator.format_checker
        run.step()
        if run.stands(value):
            return ()
        if run.texts and isinstance(value, (str, int, float)):
            value = as_kind(value, tuple(schema.get("type") or ()))
        return function(validator, keyword_value, value, schema)

    return check_value


def _problem(value: Any, kind: Type, run: Run) -> _Errors:
    fault = problem(value, kind, texts=run.texts)
    if fault is not None:
        yield Told(fault[1], fault[0])


# ---------------------------------------------------------------- any value
def _type(validator: Any, kinds: list[str], value: Any, schema: Any) -> _Errors:
    run, expected = validator.format_checker, Type(tuple(kinds), format=schema.get("format"))
    if isinstance(value, Template):
        if "string" not in kinds and not run.texts:
            yield Told(f"expected {expected}, found a text with a reference in it", "check.wrong_type")
    elif problem(value, Type(tuple(kinds)), texts=run.texts) is not None:
        yield Told(f"expected {expected}, found {shown(value)}", "check.wrong_type")


def _enum(validator: Any, allowed: Any, value: Any, schema: Any) -> _Errors:
    run = validator.format_checker
    if isinstance(value, Template) or any(_could_be(value, option, run) for option in allowed):
        return
    kind = Type(tuple(schema.get("type") or ()), enum=tuple(allowed))
    yield Told(f"expected {kind}, found {shown(value)}", "check.enum")


def _const(validator: Any, allowed: Any, value: Any, schema: Any) -> _Errors:
    yield from _enum(validator, (allowed,), value, schema)


def _could_be(value: Any, allowed: Any, run: Run) -> bool:
    """Whether a value, or what its references stand for, may be another one."""
    if run.stands(value):
        return True
    if isinstance(value, Template):
        return isinstance(allowed, str)
    if isinstance(value, list):
        pairs = zip(value, allowed, strict=False) if isinstance(allowed, list) else ()
        same_length = isinstance(allowed, list) and len(value) == len(allowed)
        return same_length and all(_could_be(item, allowed_item, run) for item, allowed_item in pairs)
    if isinstance(value, dict):
        if not isinstance(allowed, dict) or value.keys() != allowed.keys():
            return False
        return all(_could_be(item, allowed[key], run) for key, item in value.items())
    return same(value, allowed, texts=run.texts)


def _not(validator: Any, schema: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    if not run.open(value) and run.surely(validator.evolve(schema=schema), value) == (True, True):
        yield Told(f"the tool excludes {shown(value)} here", "check.not_allowed")


def _if(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    run = validator.format_checker
    good, sure = run.surely(validator.evolve(schema=schema), value)
    if not good:
        yield from validator.descend(value, around.get("else", True), schema_path="else")
    elif sure and not run.open(value):
        yield from validator.descend(value, around.get("then", True), schema_path="then")


def _any_of(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    if not any(run.surely(validator.evolve(schema=alternative), value).good for alternative in schemas):
        yield _of_none(validator, schemas, value)


def _one_of(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    run = validator.format_checker
    good = [
        verdict
        for alternative in schemas
        if (verdict := run.surely(validator.evolve(schema=alternative), value)).good
    ]
    if not good:
        yield _of_none(validator, schemas, value)
    elif len(good) > 1 and not run.open(value):
        if sum(verdict.sure for verdict in good) < 2:
            return
        text = f"{shown(value)} fits {len(good)} of {len(schemas)} alternatives, and only one may be meant"
        yield Told(text, "check.not_allowed")


def _of_none(validator: Any, schemas: Any, value: Any) -> Told:
    """What is wrong with a value of none of the alternatives, for each of them."""
    validator.format_checker.choose(schemas, value)
    return Told("", tries=[list(validator.descend(value, alternative)) for alternative in schemas])


def _format(validator: Any, format: Any, value: Any, _schema: Any) -> _Errors:
    if isinstance(value, str) and isinstance(format, str):
        yield from _problem(value, Type(("string",), format=format), validator.format_checker)


# ---------------------------------------------------------------- numbers, texts
def _limit(name: str, *, strict: bool = False) -> Callable[..., _Errors]:
    def check_limit(validator: Any, limit: Any, value: Any, _schema: Any) -> _Errors:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            exclusive = (strict, strict)
            kind = (
                Type(minimum=limit, exclusive=exclusive)
                if name == "minimum"
                else Type(maximum=limit, exclusive=exclusive)
            )
            yield from _problem(value, kind, validator.format_checker)

    return check_limit


def _multiple_of(_validator: Any, unit: Any, value: Any, _schema: Any) -> _Errors:
    """A multiple as decimals have it: 19.99 is one of 0.01, though a computer's fractions are not."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return
    try:
        is_multiple = (_exact(value) / _exact(unit)).denominator == 1
    except (ValueError, OverflowError):  # infinity
        is_multiple = False
    if not is_multiple:
        yield Told(f"expected a multiple of {unit!r}, found {value!r:.60}", "check.out_of_range")


def _exact(value: float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _length(validator: Any, _most: Any, value: Any, schema: Any) -> _Errors:
    if isinstance(value, str):
        kind = Type(length=(schema.get("minLength"), schema.get("maxLength")))
        yield from _problem(value, kind, validator.format_checker)


def _pattern(validator: Any, pattern: Any, value: Any, _schema: Any) -> _Errors:
    if isinstance(value, str) and validator.format_checker.matches(pattern, value) is False:
        text = f"expected a text that matches {pattern!r:.80}, found {shown(value)}"
        yield Told(text, "check.pattern")


# ---------------------------------------------------------------- lists
def _size(validator: Any, _most: Any, value: Any, schema: Any) -> _Errors:
    if isinstance(value, list):
        kind = Type(size=(schema.get("minItems"), schema.get("maxItems")))
        yield from _problem(value, kind, validator.format_checker)


def _items(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    first = len(around.get("prefixItems") or ())
    if not isinstance(value, list) or len(value) <= first:
        return
    if schema is False:
        text = f"expected at most {counted(first, 'item')}, found {len(value)}"
        yield Told(text, "check.out_of_range")
        return
    for position in range(first, len(value)):
        yield from validator.descend(value[position], schema, path=position)


def _unique(validator: Any, unique: Any, value: Any, _schema: Any) -> _Errors:
    if not unique or not isinstance(value, list):
        return
    run, seen = validator.format_checker, set()
    for position, item in enumerate(value):
        key = _key(item, run)
        if key is None:
            continue
        if key in seen:
            named = "a reference" if isinstance(item, (Ref, Template)) else f"{item!r:.60}"
            text = f"{named} stands twice, and items must be unique"
            yield Told(text, "check.repeated_item", path=[position])
        seen.add(key)


def _key(value: Any, run: Run) -> str | None:
    """What two equal values share, and no others; None for what may turn out as any."""
    try:
        return json.dumps(_plain(value, run), sort_keys=True)
    except LookupError:
        return None


def _plain(value: Any, run: Run) -> Any:
    if isinstance(value, Ref):
        return {"": [value.call, [repr(step) for step in value.path]]}
    if run.stands(value):
        raise LookupError
    if isinstance(value, Template):
        return {"": [_plain(segment, run) for segment in value.parts]}
    if isinstance(value, dict):
        return {f"={key}": _plain(item, run) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, run) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _contains(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    if not isinstance(value, list):
        return
    run, inner = validator.format_checker, validator.evolve(schema=schema)
    good = [item for item in value if inner.is_valid(item)]
    definite = [item for item in good if not run.stands(item) and not run.open(item)]
    least, most = around.get("minContains", 1), around.get("maxContains")
    if len(good) < least:
        text = f"expected at least {least} of the items to be {_described(schema)}, found {len(good)}"
        yield Told(text, "check.out_of_range")
    elif most is not None and len(definite) > most:
        sure = sum(run.surely(inner, item).sure for item in definite)
        text = f"expected at most {most} of the items to be {_described(schema)}, found {sure}"
        if sure > most:
            yield Told(text, "check.out_of_range")


def _described(schema: Any) -> str:
    """A condition in a few words."""
    if not isinstance(schema, Mapping):
        return "as the tool describes"
    if "const" in schema or "enum" in schema:
        allowed = [schema["const"]] if "const" in schema else schema["enum"]
        return f"{Type(enum=tuple(allowed))}"[:_SHOWN]
    return str(Type(tuple(schema.get("type") or ()))) if schema.get("type") else "as the tool describes"


def _unevaluated_items(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    run = validator.format_checker
    if run.open(value):
        return
    validate = jsonschema.Draft202012Validator.VALIDATORS["unevaluatedItems"]
    before, run.undecided = run.undecided, set()
    wrong = any(True for _ in validate(validator, schema, value, around) or ())
    sure, run.undecided = not run.undecided, run.undecided | before
    if wrong and sure:
        text = "there are more items than the tool describes, or others"
        yield Told(text, "check.out_of_range")


# ---------------------------------------------------------------- objects
def _required(_validator: Any, names: Any, value: Any, _schema: Any) -> _Errors:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                yield Told(f"the field {name!r} is needed", "check.missing_argument", name)


def _additional(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    if not isinstance(value, dict) or schema is True:
        return
    run, listed, patterns = validator.format_checker, around.get("properties") or {}, _patterns(around)
    for key, item in value.items():
        if key in listed or any(run.matches(pattern, key) is not False for pattern in patterns):
            continue
        if schema is False:
            yield _no_field(key, listed)
        else:
            yield from validator.descend(item, schema, path=key)


def _patterns(schema: Any) -> tuple[str, ...]:
    return tuple(schema.get("patternProperties") or ())


def _no_field(key: str, listed: Any) -> Told:
    text = f"there is no field {key[:_SHOWN]!r}; the fields are {', '.join(listed) or 'none'}"
    return Told(text, "check.unknown_argument", key, path=[key])


def _by_pattern(validator: Any, schemas: Any, value: Any, _around: Any) -> _Errors:
    if isinstance(value, dict):
        for pattern, schema in schemas.items():
            for key, item in value.items():
                if validator.format_checker.matches(pattern, key):
                    yield from validator.descend(item, schema, path=key)


def _names(validator: Any, schema: Any, value: Any, _around: Any) -> _Errors:
    if isinstance(value, dict):
        for key in value:
            for error in validator.descend(key, schema):
                reason = f": {error.message}" if isinstance(error, Told) and error.message else ""
                text = f"a field may not be called {key[:_SHOWN]!r}{reason}"
                yield Told(text, "check.unknown_argument", path=[key])
                break


def _fields(validator: Any, _most: Any, value: Any, schema: Any) -> _Errors:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if not isinstance(value, dict):
        return
    if (least is not None and len(value) < least) or (most is not None and len(value) > most):
        limits = f"{0 if least is None else least} to {'any number of' if most is None else most}"
        yield Told(f"expected {limits} fields, found {len(value)}", "check.out_of_range")


def _dependent(_validator: Any, needed: Any, value: Any, _schema: Any) -> _Errors:
    if isinstance(value, dict):
        for trigger, names in needed.items():
            for name in names:
                if trigger in value and name not in value:
                    text = f"the field {name!r} is needed where {trigger!r} is given"
                    yield Told(text, "check.missing_argument", name)


def _unevaluated(validator: Any, schema: Any, value: Any, around: Any) -> _Errors:
    """Fields that no part of a schema describes."""
    run = validator.format_checker
    if not isinstance(value, dict) or run.open(value):
        return
    other_keywords = {
        key: keyword_value for key, keyword_value in around.items() if key != "unevaluatedProperties"
    }
    evaluated_names = evaluated(validator, value, other_keywords)
    for key in value:
        if key in evaluated_names:
            continue
        if schema is False:
            yield _no_field(key, around.get("properties") or {})
        else:
            yield from validator.descend(value[key], schema, path=key)


_OWN: dict[str, Callable[..., _Errors]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "not": _not,
    "if": _if,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "format": _format,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "items": _items,
    "minimum": _limit("minimum"),
    "maximum": _limit("maximum"),
    "exclusiveMinimum": _limit("minimum", strict=True),
    "exclusiveMaximum": _limit("maximum", strict=True),
    **dict.fromkeys(("minLength", "maxLength"), _length),
    **dict.fromkeys(("minItems", "maxItems"), _size),
    **dict.fromkeys(("minProperties", "maxProperties"), _fields),
    "uniqueItems": _unique,
    "contains": _contains,
    "required": _required,
    "propertyNames": _names,
    "additionalProperties": _additional,
    "patternProperties": _by_pattern,
    "dependentRequired": _dependent,
    "unevaluatedProperties": _unevaluated,
    "unevaluatedItems": _unevaluated_items,
}
