"""Files of spans as the plans of their traces: one after another in any form, with what is broken between.

A file that an exporter was writing when its program died ends in half a span, and what a program prints
stands between the spans of the console exporter: neither loses the spans around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import BLANK, decode, refusal
from planner_eval.base.later import later
from planner_eval.dialects.spans import CUT, id_of, is_span, linked, spans_in, tools_run, trace_of
from planner_eval.records.shapes import Item, shape_of

_SIGNS = ('"attributes"', '"span_data"', '"resourceSpans"', '"resource_spans"')
_BETWEEN = BLANK + ",[]"
_NAMED = later(r'"trace_?[iI]d"\s*+:\s*+"([^"\\]++)"')
_HOLDS = later(r'\{\s*+"(?:resourceSpans|resource_spans|scopeSpans|scope_spans|info)"')
_SPENT = 50
"""How often, at most, a text may be read over in search of whole spans in what is broken."""


def traced(text: str) -> list[Item] | None:
    r"""The traces of a text of spans, an item each, and an item with an error for all that is broken.

    Args:
        text: Spans, or objects that hold some, in a row: over several lines, one a line, or in an array that
            is broken.

    Returns:
        The items in the order of the text; None where it is no text of spans alone.

    >>> span = '{"name": "execute_tool f", "traceId": "%s", "spanId": "1",\n "attributes": {}}'
    >>> [item.key for item in traced(span % "a" + span % "b")]
    ['a', 'b']
    """
    if not any(sign in text for sign in _SIGNS):
        return None
    found = _Pieces(text)
    found.take_all()
    spans = [item for item in found.items if item.error is None]
    if not spans or found.strange > len(spans) or not (found.clean or found.held):
        return None
    if text.lstrip(BLANK)[:1] not in ("{", "[") and not all(_placed(item.data) for item in spans):
        return None  # words of a model around its plan, written as spans
    return runs(found.items)


def runs(items: Sequence[Item]) -> list[Item] | None:
    """Spans as the plans of their traces; None where the items are no spans, or models' answers alone.

    One trace alone, with nothing broken beside it, is an item without a key: the file is that plan.
    """
    held = [item.data for item in items if isinstance(item.data, dict) and is_span(item.data)]
    if not held or len(held) < sum(item.error is None for item in items):
        return None
    spans = spans_in(held)
    if not tools_run(spans) and not linked(spans):
        return None
    found: dict[Any, Any] = {}
    for at, item in enumerate(items):
        if item.error is not None:
            found[at,] = item
            continue
        own = _own_name(item.data)
        for span in spans_in(item.data) or [item.data]:
            found.setdefault(trace_of(span) if own is None else own, []).append(span)
    if len(found) == 1:
        return [Item(held[0] if len(held) == 1 else held)]
    for item in items:
        for trace in set(_NAMED.findall(item.text)) if item.error is not None else ():
            if trace in found:
                found[trace].append({"object": CUT, "trace_id": trace})
    return [run if isinstance(run, Item) else _run(run, trace) for trace, run in found.items()]


def _run(run: list[dict[str, Any]], trace: str | None) -> Item:
    if not spans_in(run):  # the Agents SDK writes a trace before its spans
        return Item(None, error=ParseError("the trace has no spans in the file"), key=trace)
    return Item(run, key=trace)


def _own_name(item: dict[str, Any]) -> str | None:
    """The id under which MLflow shows a trace, which is not that of its spans."""
    info = item.get("info")
    named = info.get("trace_id") if isinstance(info, dict) else None
    return named if isinstance(named, str) and named else None


def _placed(data: dict[str, Any]) -> bool:
    """Whether spans say what they are: each has an id, and that of its trace."""
    spans = spans_in(data)
    return bool(spans or data.get("object") == "trace") and all(id_of(one) and trace_of(one) for one in spans)


class _Pieces:
    """Spans taken out of a text one after another.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.items: list[Item] = []
        self.clean = self.held = self.strange = 0
        self.spent = 0
        self.line, self.counted = 1, 0
        self.open: int | None = None  # the column of the broken object of which this may be a part

    def take_all(self) -> None:
        """Take everything."""
        at = 0
        while (at := self._past(at)) < len(self.text):
            at = self._take(at)

    def _past(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in _BETWEEN:
            at += 1
        return at

    def _take(self, at: int) -> int:
        """Take what stands at a place, whole or broken; where it ends."""
        text = self.text
        if self.open is not None and not self._begins(at):
            start, data, end = self._next(at)
            if data is not None and self._begins(start):
                return start
            self._keep(data)
            return end
        self.open = None
        error: Exception | None = None
        if text[at] == "{":
            try:
                data, end = decode(text, at)
            except (ValueError, RecursionError) as refused:
                error = refused
            else:
                if isinstance(data, dict) and is_span(data):
                    self.clean += 1
                    self._keep(data)
                else:
                    self.strange += 1
                    keys = ", ".join(map(repr, list(data)[:4]))
                    self._fail(at, end, ParseError(f"it is no span: it has {keys or 'nothing'}"))
                return end
        start, data, end = self._next(at + (error is not None))
        if error is None:
            shown = text[at : at + 30].partition("\n")[0]
            self._fail(at, start, ParseError(f"it is no span: found {shown!r}"))
        else:
            column = text.rfind("\n", 0, at) + 1
            self.open = at - column
            self.held += _HOLDS.match(text, at) is not None
            self._fail(at, start, refusal(error, "the span is no JSON", column))
        return start if data is not None and self._begins(start) else self._kept(data, end)

    def _kept(self, data: Any, end: int) -> int:
        self._keep(data)
        return end

    def _keep(self, data: Any) -> None:
        if data is not None:
            self.items.append(Item(data, shape_of(data, None)))

    def _begins(self, at: int) -> bool:
        """Whether a place is no part of the broken object before it: nothing stands before it on its line."""
        start = self.text.rfind("\n", 0, at) + 1
        return (self.open is None or at - start <= self.open) and not self.text[start:at].strip(_BETWEEN)

    def _next(self, at: int) -> tuple[int, Any, int]:
        """Where the next whole span begins, or what holds some; the end of the text where there is none."""
        text = self.text
        while (at := text.find("{", at)) >= 0 and self.spent <= _SPENT * len(text):
            try:
                data, end = decode(text, at)
            except (ValueError, RecursionError) as error:
                self.spent += max(1, getattr(error, "pos", len(text)) - at)
                at += 1
                continue
            if isinstance(data, dict) and is_span(data) and _placed(data):
                return at, data, end
            at = end
        return len(text), None, len(text)

    def _fail(self, at: int, end: int, error: ParseError) -> None:
        """Keep what cannot be read, with its line."""
        self.line += self.text.count("\n", self.counted, at)
        self.counted = at
        told = ParseError(f"line {self.line}: {error.reason}")
        self.items.append(Item(None, line=self.line, error=told, text=self.text[at:end]))
