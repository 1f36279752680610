"""What a page tells of a pair: edits with their words and places, as short as they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.rows import Spans
from planner_eval.plan.model import Plan
from planner_eval.results.page.plan_data import plain_value_text

CODE_NUMBERS = {code: number for number, code in enumerate(EDITS)}
"""The number of each code in packed edits."""

NO_CALL, ANSWER = -1, -2
"""Stand in the place of a call: there is none on that side; it is the plan's answer."""

LITERAL_MARK = "\x01"
"""Before words in which no mark stands for anything."""

_MARKS = "\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12"
_MAX_LITERAL_LENGTH = 2
"""What is not longer stands for itself."""


def pack_edit(
    edit: Edit, pred: Mapping[str, Any], gold: Mapping[str, Any], text: str | None, spans: Spans
) -> list[Any]:
    """An edit by numbers, its words by what the plans say already.

    Args:
        edit: The edit.
        pred: The prediction, as :func:`planner_eval.results.page.plan_data.plan_data` gives it.
        gold: The gold plan, likewise.
        text: The prediction's text, where it is shown.
        spans: Where places stand in that.
    """
    words = edit.message
    gold_numbers, gold_fills = _pack_location(edit.gold, gold)
    pred_numbers, pred_fills = _pack_location(edit.pred, pred)
    if not words.isprintable():
        words = LITERAL_MARK + words
    else:
        for mark, fill in zip(_MARKS, _mark_texts(pred_fills, gold_fills, edit.gold), strict=True):
            if len(fill) > _MAX_LITERAL_LENGTH and fill in words:
                words = words.replace(fill, mark)
    cause = -1 if edit.cause is None else edit.cause
    where = (*gold_numbers, *pred_numbers, *_span_offset(edit.pred, pred, text, spans))
    if not edit.also:
        return [CODE_NUMBERS[edit.code], words, cause, *where]
    also = [
        (
            *_pack_location(gold_where, gold)[0],
            *_pack_location(pred_where, pred)[0],
            *_span_offset(pred_where, pred, text, spans),
        )
        for pred_where, gold_where in edit.also
    ]
    return [CODE_NUMBERS[edit.code], words, cause, *where, also]


def _span_offset(
    where: Place | None, pred: Mapping[str, Any], text: str | None, spans: Spans
) -> tuple[int, ...]:
    """How far off a guess of a place in the prediction's text is; nothing where none is known."""
    if text is None or where is None or where.call is None or (span := spans.of(where)) is None:
        return ()
    begin, end = guess_span(text, pred["c"], where.call, where.argument)
    return span[0] - begin, span[1] - end


def guess_span(text: str, calls: Sequence[Any], call: int, argument: str | None) -> tuple[int, int]:
    """About where a call or an argument stands in a text: what is kept is how far off that is.

    viz/report/data.js guesses the same.

    >>> guess_span("f(x=1); g(y=2)", [["f", [["x", 1]]], ["g", [["y", 2]]]], 1, "y")
    (10, 11)
    """
    offset = begin = 0
    for tool, _ in calls[: call + 1]:
        name = tool.rpartition(".")[2]
        begin = max(text.find(name, offset), 0)
        offset = begin + len(name)
    if argument is None:
        after = text.find(calls[call + 1][0].rpartition(".")[2], offset) if call + 1 < len(calls) else -1
        return begin, after if after >= 0 else len(text)
    start = max(text.find(argument, offset), 0)
    value = next((v for name, v in calls[call][1] if name == argument), "")
    return start, start + len(argument) + (len(value) if isinstance(value, str) else 0)


_LocationNumbers = tuple[Any, Any]
_LocationTexts = tuple[str, str, str, str, str]
_NO_LOCATION: tuple[_LocationNumbers, _LocationTexts] = (NO_CALL, NO_CALL), ("", "", "", "", "")


def _pack_location(
    location: Place | None, plan: Mapping[str, Any]
) -> tuple[_LocationNumbers, _LocationTexts]:
    """A place by numbers, and what is said of it.

    The numbers are that of the call and that of the argument, or its name where the call has none such. What
    is said is the whole call, the tool, the value, the argument and the call's number.
    """
    if location is None:
        return _NO_LOCATION
    call, argument = location.call, location.argument
    tool, arguments = ("", plan.get("a", ())) if call is None else plan["c"][call]
    number = ANSWER if call is None else call
    named = "" if call is None else f"call {call + 1}"
    if argument is None:
        listed = (
            ", ".join([f"{name}={plain_value_text(value)}" for name, value in arguments]) if named else ""
        )
        return (number, NO_CALL), (listed, tool, "", "", named)
    for index, (name, value) in enumerate(arguments):
        if name == argument:
            return (number, index), ("", tool, plain_value_text(value), f"'{argument}'", named)
    return (number, argument), ("", tool, "", f"'{argument}'", named)


def _mark_texts(pred: _LocationTexts, gold: _LocationTexts, where: Place | None) -> tuple[str, ...]:
    """What the marks stand for: of either side the whole call, the tool, the value and the argument.

    viz/report/data.js says the same of them.
    """
    a, b, c, d, e = pred
    v, w, x, y, z = gold
    partner = "" if where is None or where.call is None else f"gold's {where.call + 1}"
    return a, v, b, w, c, x, d, y, e, z, partner


def spans_of_calls(plan: Plan) -> list[Any]:
    """Where the calls of a plan stand in its text: begin and end, then those of each argument."""
    call_spans = []
    for call in plan.calls:
        spans = call.spans if len(call.spans) == len(call.arguments) else ()
        call_spans.append([] if call.span is None else [*call.span, [list(span) for span in spans]])
    return call_spans if any(call_spans) else []
