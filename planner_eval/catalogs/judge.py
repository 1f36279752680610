"""Arguments against the whole of JSON Schema 2020-12, where a tool's schema says more than a type can.

What is wrong is found with ``jsonschema``, whose keywords :mod:`planner_eval.catalogs.vocabulary` extends for
references; nothing is fetched, and regular expressions, depth and steps are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import ANY, Type
from planner_eval.catalogs.closed import Closing
from planner_eval.catalogs.parts import Parts, Wrong
from planner_eval.catalogs.patterns import Pattern
from planner_eval.catalogs.schema import type_of

if TYPE_CHECKING:
    from planner_eval.plan.model import Path

_ENDLESS = "is too large or too deep to be held against the tool's schema"
_WORST = ("check.wrong_type", "check.enum")


@dataclass(frozen=True)
class Judge:
    """Holds arguments against a tool's JSON Schema.

    Args:
        schema: The schema of the parameters, as the catalog has it.

    >>> codes = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    >>> judge = Judge({"type": "object", "properties": {"codes": codes}})
    >>> [(wrong.at, wrong.text) for wrong in judge.wrong({"codes": ["a", "b", "a"]})]
    [(('codes', 2), "'a' stands twice, and items must be unique")]
    """

    schema: Mapping[str, Any] = field(hash=False)

    def __reduce__(self) -> tuple[type[Judge], tuple[Any]]:
        return Judge, (self.schema,)

    @cached_property
    def _validator(self) -> Any:
        from planner_eval.catalogs.vocabulary import held_by

        return held_by()(Closing(self.schema).whole())

    @cached_property
    def _patterns(self) -> dict[str, Pattern]:
        return {}

    def wrong(self, value: Any, *, texts: bool = False, holes: tuple[str, ...] = ()) -> tuple[Wrong, ...]:
        """Everything that is wrong with a value; a reference in it stands for any.

        Args:
            value: JSON data, possibly with references inside.
            texts: Whether a text counts as what it reads as.
            holes: Literals that stand for a value still unknown.
        """
        from planner_eval.catalogs.vocabulary import EndlessError, Run

        base_validator = self._validator
        run = Run(texts, holes, self._patterns, base_validator.schema.get("$defs") or {})
        validator = base_validator.evolve(format_checker=run)
        try:
            run.begin(value)
            good = validator.is_valid(value)
            faults = [] if good else _all(validator.iter_errors(value), (), run, validator.schema)
        except (EndlessError, RecursionError):
            return (Wrong((), "check.undecided", _ENDLESS),)
        faults += [
            Wrong(
                (), "check.undecided", f"whether a text matches {pattern!r:.80} could take too long to find"
            )
            for pattern in sorted(run.undecided)
        ]
        return tuple(sorted(faults, key=lambda fault: _place(value, fault)))


def _all(errors: Any, path: Path, run: Any, root: Mapping[str, Any]) -> list[Wrong]:
    """What the validator's errors say, the worst of each place."""
    faults: dict[Wrong, None] = {}
    for error in errors:
        faults |= dict.fromkeys(_told(error, path, run, root))
    worst: dict[Path, Wrong] = {}
    for code in reversed(_WORST):
        worst |= {fault.at: fault for fault in reversed(faults) if fault.code == code}
    return [fault for fault in faults if worst.get(fault.at, fault) is fault]


def _place(value: Any, fault: Wrong) -> list[float]:
    """Where in a value something is wrong, so that findings stand in its order, what is missing last."""
    positions: list[float] = []
    for step in fault.at:
        try:
            positions.append(step if isinstance(step, int) else list(value).index(step))
            value = value[step]
        except (TypeError, ValueError, LookupError):
            break
    return [*positions, inf] if fault.code == "check.missing_argument" else positions


def _told(error: Any, path: Path, run: Any, root: Mapping[str, Any]) -> list[Wrong]:
    location = (*path, *error.path)
    code = getattr(error, "code", None)
    if code:
        return [Wrong(location, code, error.message, error.name)]
    if error.schema is False:
        return [Wrong(location, "check.not_allowed", "the tool allows nothing here")]
    if error.validator in ("anyOf", "oneOf"):
        return _either(error, location, run, root)
    return [Wrong(location, "check.not_allowed", f"breaks what the tool says with {error.validator!r}")]


def _either(error: Any, location: Path, run: Any, root: Mapping[str, Any]) -> list[Wrong]:
    """What to say of a value that is of none of the alternatives."""
    kinds = Type(any_of=tuple(_outline(alternative, root) for alternative in error.validator_value))
    tries = [tuple(_all(errors, (), run, root)) for errors in error.tries]
    faults = Parts(run.texts, run.holes).closest(error.instance, kinds, tries)
    return [fault._replace(at=(*location, *fault.at)) for fault in faults]


def _outline(schema: Any, root: Mapping[str, Any]) -> Type:
    """What a type can say of an alternative."""
    try:
        return type_of(schema, root)
    except CatalogError:
        return ANY
