"""The dialects: four with a module of their own, all others rows of a table and made from their shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.reading.dialects.dialect import Data, Dialect

__all__ = ["DEFAULT_LIMITS", "Dialect", "Limits", "get", "names"]


class DialectModule(NamedTuple):
    """What is said of a dialect of code without importing it.

    Args:
        module: The module that defines its ``DIALECT``.
        hints: Words of which one stands in all JSON data of the dialect: only then is it imported and
            asked whether the data fits it. Without any it is not asked.
        texts: Whether it is asked of lists of texts, too.
        schema: What data that says its ``schema`` says there. It is asked before all others then: what
            looks like another notation's reference is text in it.
        lines: It has a form in lines, too, in which none of these words need stand.
    """

    module: str
    hints: tuple[str, ...] = ()
    texts: bool = False
    schema: str = ""
    lines: bool = False

    def says_so(self, data: Data) -> bool:
        """Whether data says itself that it is in the dialect."""
        return bool(self.schema) and isinstance(data.value, dict) and data.value.get("schema") == self.schema

    def may_be(self, data: Data) -> bool:
        """Whether data may be in the dialect."""
        for hint in self.hints:  # asked of each text for each module: a loop is half as dear as any()
            if hint in data.text:
                return True
        return self.texts and data.texts

    def may_be_text(self, text: str) -> bool:
        """Whether the dialect's sign may stand in a text; those of JSON are not there without a hint."""
        return self.lines or any(map(text.__contains__, self.hints))


MODULES: dict[str, DialectModule] = {
    "plan": DialectModule(
        "planner_eval.reading.dialects.notations.plan", ("$ref", "planeval.plan/"), schema="planeval.plan/1"
    ),
    "nestful": DialectModule("planner_eval.reading.dialects.notations.nestful", ("label", "$")),
    "json": DialectModule("planner_eval.reading.dialects.notations.json_calls"),
    "appbench": DialectModule(
        "planner_eval.reading.dialects.notations.appbench", ("api_results", "decided_api"), True, lines=True
    ),
}
"""The dialects of code, in the order in which they are asked."""


def names() -> tuple[str, ...]:
    """The names of all dialects: those of code, then the rows of the table.

    >>> "appbench" in names(), "hermes" in names()
    (True, True)
    """
    from planner_eval.reading.dialects.table import table

    return (*MODULES, *table())


def get(name: str) -> Dialect:
    """The dialect called `name`.

    Raises:
        InputError: there is none; the message names the closest.

    >>> get("appbench").title
    "AppBench lines: App: [ret1, ret2 = api(#a='v', #b=ret1)]"
    """
    if not isinstance(name, str):
        raise InputError(f"the dialect is {name!r}, expected the name of one")
    if name in MODULES:
        return _load_dialect(name)
    table, dialect = _row_readers()
    row = table().get(name)
    if row is None:
        hint = did_you_mean(name, names(), "planeval convert --list lists them")
        raise InputError(f"unknown notation {name!r}: {hint}")
    return dialect(row)


@cache
def _row_readers() -> tuple[Callable[[], Mapping[str, Any]], Callable[[Any], Dialect]]:
    """The table of rows, and what makes a dialect of one; imported once, for each text asks."""
    from planner_eval.reading.dialects.dialect import dialect
    from planner_eval.reading.dialects.table import table

    return table, dialect


@cache
def _load_dialect(name: str) -> Dialect:
    dialect = import_module(MODULES[name].module).DIALECT
    assert isinstance(dialect, Dialect)
    return dialect


def recognise_plain(data: Data) -> tuple[str, str] | None:
    """The dialect of calls that are a name and arguments, and why; None where all have to be asked.

    Args:
        data: The data; its `calls` are plain ones (:func:`.messages.is_plain_call`).
    """
    if _may_hold_references(data.text):
        return None
    for name, module in MODULES.items():
        if (
            module.may_be(data)
            and (fits := get(name).fits) is not None
            and (reason := fits(data)) is not None
        ):
            return name, reason
    plain = data.calls and all(len(call) == 2 for call in data.calls)
    return ("json", "objects with names and arguments") if plain else None


def _may_hold_references(source: str) -> bool:
    """Whether a text may refer to results, or hold a program, in ways that plain calls do not show.

    The search decides then. It is asked too often rather than too seldom: a test reads every row's
    example both ways.
    """
    # One letter is found in a third of the time that two take, and most texts hold neither of these.
    return (
        ("`" in source and "$`" in source) or ("\\" in source and "\\u00" in source)
        or "{{" in source or '"code"' in source or ("/" in source and '"$ref"' in source and "://" in source)
    )  # fmt: skip
