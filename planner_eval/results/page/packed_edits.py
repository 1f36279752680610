"""Plans and edits packed as short JSON data: values as they are shown, and what gold has told by numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from planner_eval.base.text import JsonObject
from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.rows import Spans
from planner_eval.plan.model import Arguments, Plan, Ref, Unresolved, Value, fold
from planner_eval.results.drawing.scene import value_text
from planner_eval.results.scored import json_encoder

MAX_TEXT = 20_000
"""Characters of a text that a page shows."""

_encode_text: Callable[[str], str] = json.encoder.encode_basestring
_MAX_EXACT_INTEGER = 2**53
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


def cut_text(text: str, most: int = MAX_TEXT) -> str:
    """A text as far as it is shown.

    >>> cut_text("f()"), cut_text("x" * 20_005)[-25:]
    ('f()', 'x … 5 more characters cut')
    """
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]} … {more:,} more characters cut"


# ----------------------------------------------------------------------
# What differs: edits with their words and places.
CODE_NUMBERS = {code: number for number, code in enumerate(EDITS)}
"""The number of each code in packed edits."""


def pack_edit(edit: Edit, pred: Spans | None = None, gold: Spans | None = None) -> list[Any]:
    """An edit: its code's number, its sentence, what it follows from or -1, and its places.

    Args:
        edit: The edit.
        pred: Where calls stand in the prediction's text; None where it is not shown.
        gold: Likewise of gold.
    """
    first, *also = [[_pack_place(g, gold), _pack_place(p, pred)] for p, g in edit.places]
    cause = -1 if edit.cause is None else edit.cause
    return [CODE_NUMBERS[edit.code], edit.message, cause, *first, *([also] if also else [])]


def _pack_place(place: Place | None, spans: Spans | None) -> list[Any] | None:
    """A call or None for the answer, the argument or None for all, begin and end in the text where known."""
    if place is None:
        return None
    return [place.call, place.argument, *(() if spans is None else spans.of(place) or ())]
