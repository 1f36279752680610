"""Texts that are a plan from end to end, in the notations that need no search.

Most records of most files are such texts. What this module accepts, the search of
:mod:`planner_eval.reading.dialects.finding.find` reads to the same calls (tested); it is only dearer, and it
imports every shape that a text may have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import Limits
from planner_eval.plan.model import RawPlan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import is_plain_call
from planner_eval.reading.dialects.dialect import Data, RecognisedPlan

_PLAIN_CALL_KEYS = frozenset({"name", "arguments"})


def read_whole_text(source: str, limits: Limits, values: list[Any] | None = None) -> RecognisedPlan | None:
    """The dialect and the calls of a text that is nothing but a plan; None where a search has to decide.

    Args:
        source: The text.
        limits: Bounds on nesting and the number of calls.
        values: The JSON values of the text, where they are known already.

    Raises:
        LimitError: it nests too deeply, or holds too long a number.

    >>> read_whole_text("a = f(#x='1')", Limits()).dialect
    'appbench'
    >>> read_whole_text('Sure: [{"name": "f", "arguments": {}}]', Limits())
    """
    start = source[: len(source) - len(source.lstrip()) + 1][-1:]
    if start in ("[", "{"):
        values = loads_if_json(source, limits) if values is None else values
        return None if values is None else _read_json(source, limits, values)
    if "#" in source and "<" not in source and "```" not in source:
        raw = _appbench_reader()(source, limits)
        if raw is not None:
            return RecognisedPlan("appbench", raw)
    return None


@cache
def _appbench_reader() -> Callable[[str, Limits], RawPlan | None]:
    """The reader of AppBench's lines: an import inside a function takes a microsecond at each call."""
    from planner_eval.reading.dialects.notations.appbench import read_fast

    return read_fast


def _read_json(source: str, limits: Limits, values: list[Any]) -> RecognisedPlan | None:
    value = values[0] if len(values) == 1 else values
    has_schema = isinstance(value, dict) and "schema" in value
    items = value.get("calls", value) if isinstance(value, dict) and has_schema else value
    calls: list[Any] = items if isinstance(items, list) else [items]
    plain = bool(calls) and all(map(is_plain_call, calls))
    if not (has_schema or plain) or _may_hold_references(source):
        return None
    data = Data(value, calls, calls if plain else [], source)
    dialect = "json"
    for name, module in dialects.MODULES.items():
        if module.may_be(data) and (fits := dialects.get(name).fits) is not None and fits(data) is not None:
            dialect = name
            break
    if dialect == "json" and not (plain and all(call.keys() <= _PLAIN_CALL_KEYS for call in calls)):
        return None
    target = dialects.get(dialect)
    assert target.read_data is not None
    try:
        if plain and value is calls and target.read_plain is not None:
            raw = target.read_plain(calls, limits)
        else:
            raw = target.read_data(value, limits, None)
    except (ParseError, RecursionError):
        return None
    return RecognisedPlan(dialect, raw) if raw.calls else None


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
