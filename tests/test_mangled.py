"""Texts a few steps away from those that models write, and all that is read of each.

A line of tests/cases/mangled.jsonl is such a text, or data, with options, and what is read of it. They were
drawn from the golden cases with :mod:`tests.fuzz`, put into answers and conversations at times, and chosen
as those that together run most of the readers' code, each line of it several times, or that alone tell a
fault planted there; then come those that hold the words of the readers' tables, and last those written by
hand, a branch or a bound each; ``bounds`` among their options are smaller than the library's own. ``pytest
tests/test_mangled.py --update-cases`` rewrites what is read: review its diff like code.
"""

import json
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.base.limits import Limits
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.detect import detect
from planner_eval.reading.dialects.read import locate, parse, write
from tests.conftest import ROOT, AsKept
from tests.test_dialect_cases import printed

FILE = ROOT / "tests" / "cases" / "mangled.jsonl"


def said(kept: dict[str, Any]) -> dict[str, Any]:
    """All that is read of one text now, and its plan in the same dialects as before."""
    with ExitStack() as stack:
        for name, bound in kept["options"].get("bounds", {}).items():
            stack.enter_context(patch(f"planner_eval.reading.dialects.{name}", bound))
        return read(kept)


def read(kept: dict[str, Any]) -> dict[str, Any]:
    """The same, bounded as it is."""
    source, options, names = kept["source"], kept["options"], [*kept.get("written", ())]
    options = {name: value for name, value in options.items() if name != "bounds"}
    found = {"source": source, "options": kept["options"], "written": dict.fromkeys(names)}
    found["likely"] = detect(source) if isinstance(source, str) else None
    if "limits" in options:
        options = options | {"limits": Limits(**options["limits"])}
    try:
        plan = parse(source, **options)
    except ParseError as error:
        return {**found, "error": str(error), "code": error.code, "at": error.offset, "in": error.dialect}
    except PlanevalError as error:
        return {**found, "error": str(error)}
    places = [call for one in (plan, locate(plan)) for call in one.calls]
    return {
        **found, "dialect": plan.dialect, "plan": printed(plan).split("\n"), "reason": plan.reason,
        "notes": [[n.code, n.severity, n.call, n.argument, n.span] for n in plan.diagnostics],
        "places": [[call.span, *call.spans, call.turn] for call in places],
        "written": {name: written(plan, name) for name in names},
    }  # fmt: skip


def written(plan: Plan, name: str) -> str:
    """The plan in a dialect, or why not."""
    try:
        return write(plan, name)
    except PlanevalError as error:
        return f"not: {error}"


def test_what_is_read_of_each_text(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, map(json.loads, FILE.read_text(encoding="utf-8").splitlines())))
