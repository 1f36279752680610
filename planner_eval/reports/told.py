"""What a page tells of a pair: edits with their words and places, as short as they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.comparison.edits import EDITS, Edit, Place
from planner_eval.plan.model import Plan
from planner_eval.records.rows import Spans
from planner_eval.reports.compact import value_words

CODES = {code: number for number, code in enumerate(EDITS)}
"""The number of each code in packed edits."""

NOWHERE, ANSWER = -1, -2
"""Stand in the place of a call: there is none on that side; it is the plan's answer."""

AS_IT_IS = "\x01"
"""Before words in which no mark stands for anything."""

_MARKS = "\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12"
_SHORT = 2
"""What is not longer stands for itself."""


class Where(NamedTuple):
    """A place in one plan.

    Args:
        call: The call's position; None for the answer.
        argument: The argument; None for the whole call.
        span: Begin and end in the text, where they are known.
    """

    call: int | None
    argument: str | None
    span: Sequence[int] = ()


class Said(NamedTuple):
    """An edit as it is told.

    Args:
        code: Its code.
        words: Its sentence.
        cause: The position of the edit from which it follows.
        gold: Where it is in gold.
        pred: Where it is in the prediction.
        also: Further places that it concerns, in gold and in the prediction.
    """

    code: str
    words: str
    cause: int | None
    gold: Where | None
    pred: Where | None
    also: Sequence[tuple[Where | None, Where | None]] = ()


def said_of(edit: Edit, pred: Spans | None) -> Said:
    """An edit of a comparison."""
    (gold, pred_where), *also = [
        (_where(gold, None), _where(pred_place, pred)) for pred_place, gold in edit.places
    ]
    return Said(edit.code, edit.message, edit.cause, gold, pred_where, also)


def _where(location: Place | None, spans: Spans | None) -> Where | None:
    if location is None:
        return None
    return Where(location.call, location.argument, (spans.of(location) or ()) if spans is not None else ())


def said_in(data: Mapping[str, Any]) -> Said:
    """An edit of a row that `planeval diff` wrote."""
    also = [(_where_in(entry.get("gold")), _where_in(entry.get("pred"))) for entry in data.get("also", ())]
    gold, pred = _where_in(data.get("gold")), _where_in(data.get("pred"))
    return Said(data["code"], data["message"], data.get("cause"), gold, pred, also)


def _where_in(data: Mapping[str, Any] | None) -> Where | None:
    if data is None:
        return None
    return Where(data["call"], data.get("argument"), data.get("span", ()))


def packed(edit: Said, pred: Mapping[str, Any], gold: Mapping[str, Any], text: str | None) -> list[Any]:
    """An edit by numbers, its words by what the plans say already.

    Args:
        edit: The edit.
        pred: The prediction, as :func:`planner_eval.reports.compact.plan_data` gives it.
        gold: The gold plan, likewise.
        text: The prediction's text, where it is shown.
    """
    words = edit.words
    gold_numbers, gold_fills = _place(edit.gold, gold)
    pred_numbers, pred_fills = _place(edit.pred, pred)
    if not words.isprintable():
        words = AS_IT_IS + words
    else:
        for mark, fill in zip(_MARKS, _fills(pred_fills, gold_fills, edit.gold), strict=True):
            if len(fill) > _SHORT and fill in words:
                words = words.replace(fill, mark)
    cause = -1 if edit.cause is None else edit.cause
    where = (*gold_numbers, *pred_numbers, *_off(edit.pred, pred, text))
    if not edit.also:
        return [CODES[edit.code], words, cause, *where]
    also = [
        (*_place(gold_where, gold)[0], *_place(pred_where, pred)[0], *_off(pred_where, pred, text))
        for gold_where, pred_where in edit.also
    ]
    return [CODES[edit.code], words, cause, *where, also]


def _off(where: Where | None, pred: Mapping[str, Any], text: str | None) -> tuple[int, ...]:
    """How far off a guess of a place in the prediction's text is; nothing where none is known."""
    if text is None or where is None or not where.span or where.call is None:
        return ()
    begin, end = guessed(text, pred["c"], where.call, where.argument)
    return where.span[0] - begin, where.span[1] - end


def guessed(text: str, calls: Sequence[Any], call: int, argument: str | None) -> tuple[int, int]:
    """About where a call or an argument stands in a text: what is kept is how far off that is.

    viz/report/data.js guesses the same.

    >>> guessed("f(x=1); g(y=2)", [["f", [["x", 1]]], ["g", [["y", 2]]]], 1, "y")
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


_Numbers = tuple[Any, Any]
_Words = tuple[str, str, str, str, str]
_NONE: tuple[_Numbers, _Words] = (NOWHERE, NOWHERE), ("", "", "", "", "")


def _place(location: Where | None, plan: Mapping[str, Any]) -> tuple[_Numbers, _Words]:
    """A place by numbers, and what is said of it.

    The numbers are that of the call and that of the argument, or its name where the call has none such. What
    is said is the whole call, the tool, the value, the argument and the call's number.
    """
    if location is None:
        return _NONE
    call, argument = location.call, location.argument
    tool, arguments = ("", plan.get("a", ())) if call is None else plan["c"][call]
    number = ANSWER if call is None else call
    named = "" if call is None else f"call {call + 1}"
    if argument is None:
        listed = ", ".join([f"{name}={value_words(value)}" for name, value in arguments]) if named else ""
        return (number, NOWHERE), (listed, tool, "", "", named)
    for index, (name, value) in enumerate(arguments):
        if name == argument:
            return (number, index), ("", tool, value_words(value), f"'{argument}'", named)
    return (number, argument), ("", tool, "", f"'{argument}'", named)


def _fills(pred: _Words, gold: _Words, where: Where | None) -> tuple[str, ...]:
    """What the marks stand for: of either side the whole call, the tool, the value and the argument.

    viz/report/data.js says the same of them.
    """
    a, b, c, d, e = pred
    v, w, x, y, z = gold
    partner = "" if where is None or where.call is None else f"gold's {where.call + 1}"
    return a, v, b, w, c, x, d, y, e, z, partner


def places_of(plan: Plan) -> list[Any]:
    """Where the calls of a plan stand in its text: begin and end, then those of each argument."""
    call_spans = []
    for call in plan.calls:
        spans = call.spans if len(call.spans) == len(call.arguments) else ()
        call_spans.append([] if call.span is None else [*call.span, [list(span) for span in spans]])
    return call_spans if any(call_spans) else []
