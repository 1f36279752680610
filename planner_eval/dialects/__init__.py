"""The dialects: four with a module of their own, all others rows of a table and made from their shape."""

from __future__ import annotations

from importlib import import_module

from planner_eval.base.errors import InputError
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.text import did_you_mean
from planner_eval.dialects.dialect import Dialect

__all__ = ["DEFAULT_LIMITS", "Dialect", "Limits", "get", "names"]

MODULES: dict[str, str] = {
    "plan": "planner_eval.dialects.plan",
    "nestful": "planner_eval.dialects.nestful",
    "json": "planner_eval.dialects.json_calls",
    "appbench": "planner_eval.dialects.appbench",
}


def names() -> tuple[str, ...]:
    """The names of all dialects: those of code, then the rows of the table.

    >>> "appbench" in names(), "hermes" in names()
    (True, True)
    """
    from planner_eval.dialects.table import table

    return (*MODULES, *table())


def get(name: str) -> Dialect:
    """The dialect called `name`.

    Raises:
        InputError: there is none; the message names the closest.

    >>> get("appbench").title
    "AppBench lines: App: [ret1, ret2 = api(#a='v', #b=ret1)]"
    """
    if name in MODULES:
        dialect = import_module(MODULES[name]).DIALECT
        assert isinstance(dialect, Dialect)
        return dialect
    from planner_eval.dialects.shapes import dialect as made
    from planner_eval.dialects.table import table

    row = table().get(name)
    if row is None:
        hint = did_you_mean(name, names(), "planeval dialects lists them")
        raise InputError(f"there is no dialect {name!r}: {hint}")
    return made(row)
