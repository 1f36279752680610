"""The one door in: text of any dialect → dialect → raw calls → linked plan."""

from __future__ import annotations

from typing import Any

from planner_eval import dialects
from planner_eval.dialects.base import DEFAULT_LIMITS, Limits
from planner_eval.errors import LimitError, ParseError, WriteError
from planner_eval.link import link
from planner_eval.model import Plan


def parse(source: Any, *, dialect: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Plan:
    """Read a plan.

    Args:
        source: The text, or structure that is JSON already (lists, dicts).
        dialect: The dialect's name; without it the notation is recognised, and named in the plan.
        limits: Bounds on size, nesting and the number of calls.

    Returns:
        The linked plan with its diagnostics.

    Raises:
        ParseError: the text is no plan; says where and what was expected.
        InputError: there is no dialect of that name.

    >>> plan = parse("Hotels: [h = search(#city='Rome'), book(#name=h)]")
    >>> plan.dialect, [call.tool for call in plan.calls], len(plan.edges)
    ('appbench', ['Hotels.search', 'Hotels.book'], 1)
    """
    if not isinstance(source, str):
        return _parse_data(source, dialect, limits)
    if len(source) > limits.chars:
        raise LimitError(f"the text has {len(source):,} characters, more than the limit of {limits.chars:,}")
    if not source.strip():
        raise ParseError(
            "the text is empty, expected a plan", text=source, code="parse.empty", dialect=dialect
        )
    if dialect is None:
        from planner_eval.dialects.detect import detect

        dialect = detect(source)[0].dialect
    try:
        raw = dialects.get(dialect).read(source, limits)
    except ParseError as error:
        error.text = error.text or source
        error.dialect = error.dialect or dialect
        raise
    return link(raw, dialect=dialect, text=source, depth=limits.depth)


def _parse_data(data: Any, dialect: str | None, limits: Limits) -> Plan:
    if dialect is None:
        from planner_eval.dialects.detect import detect_data

        dialect = detect_data(data).dialect
    reader = dialects.get(dialect).read_data
    if reader is None:
        raise ParseError(
            f"the dialect {dialect!r} is text, found {type(data).__name__}",
            code="parse.shape",
            dialect=dialect,
        )
    try:
        raw = reader(data, limits, None)
    except RecursionError:
        raise LimitError(f"the data nests deeper than {limits.depth} levels") from None
    return link(raw, dialect=dialect, depth=limits.depth)


def locate(plan: Plan, *, limits: Limits = DEFAULT_LIMITS) -> Plan:
    """The same plan with the places of its calls and arguments in its text.

    The fast JSON path keeps no places; this reads the text once more by the grammar to find them.

    Args:
        plan: A plan from :func:`parse`.
        limits: As for :func:`parse`.

    Returns:
        The plan with ``span`` and ``spans`` on its calls; as it was where no text is known.

    >>> locate(parse('[{"name": "f", "arguments": {"a": 12}}]')).calls[0].spans
    ((34, 36),)
    """
    if plan.text is None or plan.dialect is None or all(call.span for call in plan.calls):
        return plan
    reader = dialects.get(plan.dialect).read_data
    if reader is None:
        return plan
    from planner_eval.dialects.jsontext import LARK_CHARS, Places, parse_located

    if len(plan.text) > LARK_CHARS:
        return plan
    places = Places(parse_located(plan.text, plan.dialect))
    values = places.values
    raw = reader(values[0] if len(values) == 1 else values, limits, places)
    return link(raw, dialect=plan.dialect, text=plan.text, depth=limits.depth)


def write(plan: Plan, dialect: str) -> str:
    """Write a plan in a dialect.

    Raises:
        WriteError: the dialect cannot say what the plan says, or is only read.
        InputError: there is no dialect of that name.

    >>> write(parse("a = f(#x='1')"), "json")
    '[{"name": "f", "arguments": {"x": "1"}}]'
    """
    writer = dialects.get(dialect).write
    if writer is None:
        raise WriteError(f"the dialect {dialect!r} is read, not written")
    return writer(plan)
