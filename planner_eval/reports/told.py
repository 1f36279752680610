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
    (gold, ours), *also = [(_where(gold, None), _where(mine, pred)) for mine, gold in edit.places]
    return Said(edit.code, edit.message, edit.cause, gold, ours, also)


def _where(place: Place | None, spans: Spans | None) -> Where | None:
    if place is None:
        return None
    return Where(place.call, place.argument, (spans.of(place) or ()) if spans is not None else ())


def said_in(data: Mapping[str, Any]) -> Said:
    """An edit of a row that `planeval diff` wrote."""
    places = [
        (_where_in(one.get("gold")), _where_in(one.get("pred"))) for one in (data, *data.get("also", ()))
    ]
    return Said(data["code"], data["message"], data.get("cause"), *places[0], places[1:])


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
    if not words.isprintable():
        words = AS_IT_IS + words
    else:
        for mark, said in zip(_MARKS, _fills(edit, pred, gold), strict=True):
            if len(said) > _SHORT:
                words = words.replace(said, mark)
    cause = -1 if edit.cause is None else edit.cause
    also = [_places(theirs, ours, pred, gold, text) for theirs, ours in edit.also]
    where = _places(edit.gold, edit.pred, pred, gold, text)
    return [CODES[edit.code], words, cause, *where, *([also] if also else ())]


def _places(
    theirs: Where | None,
    ours: Where | None,
    pred: Mapping[str, Any],
    gold: Mapping[str, Any],
    text: str | None,
) -> tuple[Any, ...]:
    """A place in gold and one in the prediction, and how far off a guess in its text is."""
    numbers = (*_numbers(theirs, gold), *_numbers(ours, pred))
    if text is None or ours is None or not ours.span or ours.call is None:
        return numbers
    begin, end = guessed(text, pred["c"], ours.call, ours.argument)
    return *numbers, ours.span[0] - begin, ours.span[1] - end


def guessed(text: str, calls: Sequence[Any], call: int, argument: str | None) -> tuple[int, int]:
    """About where a call or an argument stands in a text: what is kept is how far off that is.

    viz/report/data.js guesses the same.

    >>> guessed("f(x=1); g(y=2)", [["f", [["x", 1]]], ["g", [["y", 2]]]], 1, "y")
    (10, 11)
    """
    at = begin = 0
    for tool, _ in calls[: call + 1]:
        name = tool.rpartition(".")[2]
        begin = max(text.find(name, at), 0)
        at = begin + len(name)
    if argument is None:
        after = text.find(calls[call + 1][0].rpartition(".")[2], at) if call + 1 < len(calls) else -1
        return begin, after if after >= 0 else len(text)
    place = max(text.find(argument, at), 0)
    value = next((said for name, said in calls[call][1] if name == argument), "")
    return place, place + len(argument) + (len(value) if isinstance(value, str) else 0)


def _numbers(place: Where | None, plan: Mapping[str, Any]) -> tuple[Any, Any]:
    """A place as the number of the call, and the number of the argument, or its name where it has none."""
    if place is None:
        return NOWHERE, NOWHERE
    call = ANSWER if place.call is None else place.call
    if place.argument is None:
        return call, NOWHERE
    names = [name for name, _ in _given(place, plan)]
    known = place.argument in names
    return call, names.index(place.argument) if known else place.argument


def _given(place: Where, plan: Mapping[str, Any]) -> Any:
    """The arguments among which a place is."""
    return plan.get("a", ()) if place.call is None else plan["c"][place.call][1]


def _fills(edit: Said, pred: Mapping[str, Any], gold: Mapping[str, Any]) -> tuple[str, ...]:
    """What the marks stand for: of either side the whole call, the tool, the value and the argument.

    viz/report/data.js says the same of them.
    """
    a, b, c, d, e = _words_of(edit.pred, pred)
    v, w, x, y, z = _words_of(edit.gold, gold)
    return a, v, b, w, c, x, d, y, e, z, _partner(edit)


def _words_of(place: Where | None, plan: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    if place is None:
        return "", "", "", "", ""
    given = _given(place, plan)
    said = listed = ""
    if place.argument is not None:
        said = next((value_words(value) for name, value in given if name == place.argument), "")
    elif place.call is not None:
        listed = ", ".join([f"{name}={value_words(value)}" for name, value in given])
    if place.call is None:
        return "", "", said, f"'{place.argument}'", ""
    return listed, plan["c"][place.call][0], said, f"'{place.argument}'", f"call {place.call + 1}"


def _partner(edit: Said) -> str:
    """Gold's number of a call whose number in the prediction is another."""
    if edit.gold is None or edit.gold.call is None:
        return ""
    return f"gold's {edit.gold.call + 1}"


def places_of(plan: Plan) -> list[Any]:
    """Where the calls of a plan stand in its text: begin and end, then those of each argument."""
    made = []
    for call in plan.calls:
        spans = call.spans if len(call.spans) == len(call.arguments) else ()
        made.append([] if call.span is None else [*call.span, [list(span) for span in spans]])
    return made if any(made) else []
