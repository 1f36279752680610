"""Plans and edits packed as short JSON data: values as they are shown, and what gold has told by numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from planner_eval.base.text import JsonObject
from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.explanation.names import path_name
from planner_eval.comparison.rows import Spans
from planner_eval.plan.model import Arguments, Plan, Ref, Unresolved, Value, fold
from planner_eval.results.drawing.scene import value_text
from planner_eval.results.scored import json_encoder

MAX_TEXT = 20_000
"""Characters of a text that a page shows."""

_encode_text: Callable[[str], str] = json.encoder.encode_basestring
_MAX_EXACT_INTEGER = 2**53
_LITERALS = {None: "null", True: "true", False: "false"}
_TAGS = frozenset("$?~#{")


short_json = json_encoder(",", ":")
"""Data as JSON, as short as it gets."""


def plan_data(plan: Plan) -> JsonObject:
    """A plan: its calls, each with the tool and the arguments, and its answer where it has one.

    >>> from planner_eval.plan.model import Call
    >>> plan_data(Plan((Call("a", "f", (("x", "1"),)), Call("b", "g", (("y", Ref(0, ("id",))),), "App"))))
    {'c': [['f', [['x', '1']]], ['App.g', [['y', {'$': [0, ['id']]}]]]]}
    """
    data: JsonObject = {"c": [[call.tool, arguments_data(call.arguments)] for call in plan.calls]}
    if plan.answer is not None:
        data["a"] = arguments_data(plan.answer)
    return data


def arguments_data(arguments: Arguments) -> list[Any]:
    """Arguments in written order, each a name and a value."""
    return [[name, value if type(value) is str else value_data(value)] for name, value in arguments]


def value_data(value: Value) -> Any:
    """A value as JSON data; what is more than data is an object with one key, which says what.

    ``$`` is a reference, ``?`` one to no call, ``~`` text around references, ``#`` a number that a browser
    would write otherwise, ``{`` an object that has one of these keys alone.

    >>> value_data(12), value_data(Unresolved("v")), value_data(["a", Ref(1, ("id",))]), value_data(1.0)
    (12, {'?': 'v'}, ['a', {'$': [1, ['id']]}], {'#': '1.0'})
    """
    if type(value) is str:
        return value
    return fold(
        value, _leaf_data, fields=_wrap_tagged, text=lambda pieces: {"~": [_leaf_data(p) for p in pieces]}
    )


def _leaf_data(value: Value) -> Any:
    if isinstance(value, Ref):
        return {"$": [value.call, list(value.path)]}
    if isinstance(value, Unresolved):
        return {"?": [value.name, list(value.path)] if value.path else value.name}
    if isinstance(value, float) or (isinstance(value, int) and abs(value) > _MAX_EXACT_INTEGER):
        return {"#": value_text(value, str)}
    return value


def _wrap_tagged(data: JsonObject) -> JsonObject:
    return {"{": data} if len(data) == 1 and not _TAGS.isdisjoint(data) else data


def plain_value_text(data: Any) -> str:
    """A plain value, or a reference, as sentences write it; "" of others.

    >>> (
    ...     plain_value_text("a"), plain_value_text(True), plain_value_text({"?": "v"}),
    ...     plain_value_text({"$": [0, ["id"]]})
    ... )
    ('"a"', 'true', '', '‹call 1: id›')
    """
    if type(data) is str:
        return _encode_text(data)
    if type(data) is dict and "$" in data:
        call, path = data["$"]
        return f"‹call {call + 1}: {path_name(path)}›" if path else f"‹call {call + 1}›"
    if data is None or data is True or data is False:
        return _LITERALS[data]
    return str(data) if type(data) is int else ""


def text_json(text: str | None) -> str:
    """A text, or none, as JSON.

    >>> print(text_json("Rome"), text_json(None))
    "Rome" null
    """
    return "null" if text is None else _encode_text(text)


def encode_against_gold(
    data: Mapping[str, Any], gold: Mapping[str, Any], pairs: Iterable[Sequence[int]]
) -> Any:
    """A prediction by what gold has too: of a call that is one of gold's its number, of arguments likewise.

    Args:
        data: The prediction, as :func:`plan_data` gives it.
        gold: The gold plan.
        pairs: Which calls stand for which: positions in the prediction and in gold.

    >>> one = {"c": [["f", [["x", "1"]]], ["g", [["y", "1"], ["z", "2"]]]]}
    >>> two = {"c": [["f", [["x", "1"]]], ["g", [["y", "1"], ["z", "3"]]]]}
    >>> encode_against_gold(two, one, [(0, 0), (1, 1)])
    [0, [1, [0, ['z', '3']]]]
    """
    partner = {pred_call: gold_call for pred_call, gold_call, *_ in pairs}
    gold_calls = gold["c"]
    calls = [_encode_call(call, gold_calls, partner.get(i)) for i, call in enumerate(data["c"])]
    return {"c": calls, "a": data["a"]} if "a" in data else calls


def _encode_call(call: Any, gold_calls: Sequence[Any], partner: int | None) -> Any:
    if partner is None:
        return gold_calls.index(call) if call in gold_calls else call
    tool, gold_arguments = gold_calls[partner]
    if call[0] != tool:
        return call
    if call[1] == gold_arguments:
        return partner
    return [partner, [gold_arguments.index(a) if a in gold_arguments else a for a in call[1]]]


def cut_text(text: str) -> str:
    """A text as far as it is shown.

    >>> cut_text("f()"), cut_text("x" * 20_005)[-25:]
    ('f()', 'x … 5 more characters cut')
    """
    more = len(text) - MAX_TEXT
    return text if more <= 0 else f"{text[:MAX_TEXT]} … {more:,} more characters cut"


# ----------------------------------------------------------------------
# What differs: edits with their words and places, as short as they get.
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
        pred: The prediction, as :func:`plan_data` gives it.
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
