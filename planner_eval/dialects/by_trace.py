"""Spans taken apart by the traces that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.dialects.spans import DEPTH, plain_id, spans_in, trace_of


def by_trace(items: Iterable[dict[str, Any]]) -> dict[str | None, list[dict[str, Any]]]:
    """Spans by the trace that they belong to, in the order in which the traces are met.

    Args:
        items: Spans, and objects that hold some.

    Returns:
        The spans of each trace by its id as it is first written.

    >>> list(by_trace([{"traceId": "a", "attributes": {}}, {"traceId": "b", "attributes": {}}]))
    ['a', 'b']
    """
    traces: dict[str | None, list[dict[str, Any]]] = {}
    names: dict[str | None, str | None] = {}
    for item in items:
        own = _own_name(item)
        for span in spans_in(item) or [item]:
            name = trace_of(span) if own is None else own
            traces.setdefault(names.setdefault(plain_id(name), name), []).append(span)
    return traces


def _listed(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects of lists in lists."""
    if isinstance(data, dict):
        yield data
    elif isinstance(data, list) and depth <= DEPTH:
        for item in data:
            yield from _listed(item, depth + 1)


def _own_name(item: dict[str, Any]) -> str | None:
    """The id under which MLflow shows a trace, which is not that of its spans."""
    info = item.get("info")
    named = info.get("trace_id") if isinstance(info, dict) else None
    return named if isinstance(named, str) and named else None


def refuse_several(data: Any) -> None:
    """Calls of different runs are no plan together, and say nothing of each other.

    Args:
        data: A trace, as JSON data.

    Raises:
        ParseError: its spans are of several traces.

    >>> span = {"name": "execute_tool f", "attributes": {}}
    >>> refuse_several([span | {"traceId": "a"}, span | {"traceId": "b"}])
    Traceback (most recent call last):
    planner_eval.base.errors.ParseError: found spans of 2 traces, expected those of one: runs are no plan \
together; in a file of spans alone each trace is a record
    """
    traces = by_trace(item for item in _listed(data) if spans_in(item))
    count = len(traces.keys() - {None})  # one that does not say its own may be of any
    if count > 1:
        raise ParseError(
            f"found spans of {count:,} traces, expected those of one: runs are no plan together; in a file "
            "of spans alone each trace is a record",
            code="parse.traces",
        )
