"""A pair as lines of a page: what its index has of it, its plans as compact data, its edits in words.

The columns are JSON texts with tabs between them, so that packs are put together without reading them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.explanation.names import path_name
from planner_eval.comparison.rows import JUDGED_STATES, STATES, Spans
from planner_eval.plan.model import Arguments, Plan, Ref, Unresolved, Value, fold
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files.record import Record
from planner_eval.results.drawing.scene import value_text

# ----------------------------------------------------------------------
# Plans as short JSON data: each value as the text that is shown of it, a prediction by what gold has too.
MAX_TEXT = 20_000
"""Characters of a text that a page shows."""

_encode_text: Callable[[str], str] = json.encoder.encode_basestring
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# The encoder's own encode() makes this anew for each text, which takes longer than a short text.
_make_encoder: Any = getattr(json.encoder, "c_make_encoder", None)
_encode_parts = _make_encoder and _make_encoder(
    None, _encoder.default, _encode_text, None, ":", ",", False, False, True
)
_MAX_EXACT_INTEGER = 2**53
_LITERALS = {None: "null", True: "true", False: "false"}
_TAGS = frozenset("$?~#{")


def short_json(data: Any) -> str:
    """Data as JSON, as short as it gets.

    >>> short_json(["é", {"x": 1.5}])
    '["é",{"x":1.5}]'
    """
    return _encoder.encode(data) if _encode_parts is None else "".join(_encode_parts(data, 0))


def plan_data(plan: Plan) -> dict[str, Any]:
    """A plan: its calls, each with the tool and the arguments, and its answer where it has one.

    >>> from planner_eval.plan.model import Call
    >>> plan_data(Plan((Call("a", "f", (("x", "1"),)), Call("b", "g", (("y", Ref(0, ("id",))),), "App"))))
    {'c': [['f', [['x', '1']]], ['App.g', [['y', {'$': [0, ['id']]}]]]]}
    """
    data: dict[str, Any] = {"c": [[call.tool, arguments_data(call.arguments)] for call in plan.calls]}
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


def _wrap_tagged(data: dict[str, Any]) -> dict[str, Any]:
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
# What a page tells of a pair: edits with their words and places, as short as they get.
CODE_NUMBERS = {code: number for number, code in enumerate(EDITS)}
"""The number of each code in packed edits."""

NO_CALL, ANSWER = -1, -2
"""Stand in the place of a call: there is none on that side; it is the plan's answer."""

LITERAL_MARK = "\x01"
"""Before words in which no mark stands for anything."""

_MARKS = "\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12"
_MAX_LITERAL_LENGTH = 2
"""What is not longer stands for itself."""


class PlanLocation(NamedTuple):
    """A place in one plan.

    Args:
        call: The call's position; None for the answer.
        argument: The argument; None for the whole call.
        span: Begin and end in the text, where they are known.
    """

    call: int | None
    argument: str | None
    span: Sequence[int] = ()


class EditMessage(NamedTuple):
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
    gold: PlanLocation | None
    pred: PlanLocation | None
    also: Sequence[tuple[PlanLocation | None, PlanLocation | None]] = ()


def edit_message(edit: Edit, pred: Spans | None) -> EditMessage:
    """An edit of a comparison."""
    (gold, pred_where), *also = [
        (_plan_location(gold, None), _plan_location(pred_place, pred)) for pred_place, gold in edit.places
    ]
    return EditMessage(edit.code, edit.message, edit.cause, gold, pred_where, also)


def _plan_location(location: Place | None, spans: Spans | None) -> PlanLocation | None:
    if location is None:
        return None
    return PlanLocation(
        location.call, location.argument, (spans.of(location) or ()) if spans is not None else ()
    )


def read_edit_message(data: Mapping[str, Any]) -> EditMessage:
    """An edit of a row that `planeval diff` wrote."""
    also = [
        (_read_location(entry.get("gold")), _read_location(entry.get("pred")))
        for entry in data.get("also", ())
    ]
    gold, pred = _read_location(data.get("gold")), _read_location(data.get("pred"))
    return EditMessage(data["code"], data["message"], data.get("cause"), gold, pred, also)


def _read_location(data: Mapping[str, Any] | None) -> PlanLocation | None:
    if data is None:
        return None
    return PlanLocation(data["call"], data.get("argument"), data.get("span", ()))


def pack_edit(
    edit: EditMessage, pred: Mapping[str, Any], gold: Mapping[str, Any], text: str | None
) -> list[Any]:
    """An edit by numbers, its words by what the plans say already.

    Args:
        edit: The edit.
        pred: The prediction, as :func:`planner_eval.results.page.lines.plan_data` gives it.
        gold: The gold plan, likewise.
        text: The prediction's text, where it is shown.
    """
    words = edit.words
    gold_numbers, gold_fills = _pack_location(edit.gold, gold)
    pred_numbers, pred_fills = _pack_location(edit.pred, pred)
    if not words.isprintable():
        words = LITERAL_MARK + words
    else:
        for mark, fill in zip(_MARKS, _mark_texts(pred_fills, gold_fills, edit.gold), strict=True):
            if len(fill) > _MAX_LITERAL_LENGTH and fill in words:
                words = words.replace(fill, mark)
    cause = -1 if edit.cause is None else edit.cause
    where = (*gold_numbers, *pred_numbers, *_span_offset(edit.pred, pred, text))
    if not edit.also:
        return [CODE_NUMBERS[edit.code], words, cause, *where]
    also = [
        (
            *_pack_location(gold_where, gold)[0],
            *_pack_location(pred_where, pred)[0],
            *_span_offset(pred_where, pred, text),
        )
        for gold_where, pred_where in edit.also
    ]
    return [CODE_NUMBERS[edit.code], words, cause, *where, also]


def _span_offset(where: PlanLocation | None, pred: Mapping[str, Any], text: str | None) -> tuple[int, ...]:
    """How far off a guess of a place in the prediction's text is; nothing where none is known."""
    if text is None or where is None or not where.span or where.call is None:
        return ()
    begin, end = guess_span(text, pred["c"], where.call, where.argument)
    return where.span[0] - begin, where.span[1] - end


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
    location: PlanLocation | None, plan: Mapping[str, Any]
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


def _mark_texts(pred: _LocationTexts, gold: _LocationTexts, where: PlanLocation | None) -> tuple[str, ...]:
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


# ----------------------------------------------------------------------
# A pair as a line: what the page's index has of it, its gold plan, and columns of what is shown of it.
COLUMNS = ("p", "t", "e", "al", "s", "x")
"""Of a pair: the prediction, its text, the edits, which calls are partners, the structure, what else."""


class IndexEntry(NamedTuple):
    """What a page's index has of a pair, as the line gives it.

    Args:
        id: The pair's name.
        state: Its state.
        codes: The codes of what differs.
        tools: The tools of both plans.
        arguments: The arguments that differ.
        first: The first difference in words, or why there is none.
        score: How many of the calls are alike, per mille.
        fields: What the pairs can be told apart by.
        taken: Gold's tool and the tool that was taken for it.
    """

    id: str
    state: str
    codes: Sequence[str] = ()
    tools: Sequence[str] = ()
    arguments: Sequence[str] = ()
    first: str = ""
    score: int = -1
    fields: Mapping[str, str] = {}
    taken: Sequence[Sequence[str | None]] = ()


TOOL_MISTAKES = ("call.replaced", "app.changed", "call.missing", "call.extra", "call.duplicated")
"""Codes of edits that say which tool was taken for which."""

_EMPTY_PLAN: Mapping[str, Any] = {"c": []}
_MAX_CACHED_GOLDS = 4_096


class Pair(NamedTuple):
    """What is known of a pair, wherever from.

    Args:
        name: The records' id, or their position counted from 1.
        state: One of :data:`planner_eval.comparison.rows.STATES`.
        pred: The prediction, where it could be read.
        gold: The gold plan, where it could be read.
        edits: What differs.
        partners: Which calls stand for which: positions in the prediction and in gold.
        structure: In how far the structure differs, in words.
        error: Why a plan could not be read.
        mended: What repair would make of the prediction, in words.
        fields: What the pairs can be told apart by.
        ran: What the two plans come to when they are run, and each of their calls, where they were.
        first: What is wrong in a line; None for the first edit.
        more: What else is shown of it, as JSON data by name.
    """

    name: str
    state: str
    pred: Plan | None = None
    gold: Plan | None = None
    edits: Sequence[EditMessage] = ()
    partners: Iterable[Sequence[int]] = ()
    structure: str = ""
    error: str | None = None
    mended: str | None = None
    fields: Mapping[str, str] = {}
    ran: Mapping[str, Any] | None = None
    first: str | None = None
    more: Mapping[str, Any] = {}


class PairLineWriter:
    """Pairs as lines; what many pairs have in common is made once.

    Args:
        query: The field of a record that holds the question.
        texts: Whether the texts of plans are shown.
    """

    def __init__(self, query: str | None, *, texts: bool = True) -> None:
        self.query, self.texts = query, texts
        self._golds: dict[str, tuple[Plan, Mapping[str, Any], str]] = {}

    def line(self, pair: Pair, pred: Record | None, gold: Record | None, scored: str = "null") -> str:
        """The line of a pair of records.

        Args:
            pair: What is known of it.
            pred: The prediction.
            gold: The gold record.
            scored: Its counts as JSON, where two runs are compared.
        """
        gold_data, gold_text = self._gold(pair.gold)
        pred_data = _EMPTY_PLAN if pair.pred is None else plan_data(pair.pred)
        edits = pair.edits
        index = IndexEntry(
            pair.name,
            pair.state,
            [*dict.fromkeys([edit.code for edit in edits])],
            [*dict.fromkeys([call[0] for plan in (gold_data, pred_data) for call in plan["c"]])],
            _edited_arguments(edits),
            _first_message(pair),
            _unedited_share(pair, pred_data, gold_data),
            pair.fields,
            _mistaken_tools(edits, pred_data, gold_data),
        )
        text = self._text(pair, pred)
        columns = (
            short_json(
                None if pair.pred is None else encode_against_gold(pred_data, gold_data, pair.partners)
            ),
            text_json(text),
            short_json([pack_edit(edit, pred_data, gold_data, text) for edit in edits]) if edits else "[]",
            f"[{','.join([f'[{p},{g}]' for p, g, *_ in pair.partners])}]",
            text_json(pair.structure),
            "null" if (more := _extra_data(pair, self._reply(pred, text))) is None else short_json(more),
            scored,
        )
        raw_question = None if self.query is None else self._question(pred, gold, "talk" in pair.more)
        question = "null" if raw_question is None else short_json(raw_question)
        return "\t".join((short_json(index), gold_text, question, *columns))

    def _gold(self, gold: Plan | None) -> tuple[Mapping[str, Any], str]:
        """A gold plan as data, and that with its text and places as a line has it."""
        if gold is None:
            return _EMPTY_PLAN, "null"
        stored = self._golds.get(gold.text) if gold.text is not None else None
        if stored is None or (stored[0].calls, stored[0].answer) != (gold.calls, gold.answer):
            data = plan_data(gold)
            text = cut_text(gold.text) if self.texts and gold.text is not None else None
            spans = spans_of_calls(locate(gold)) if text is not None else []
            stored = gold, data, short_json([data, text, spans])
            if gold.text is not None:
                if len(self._golds) >= _MAX_CACHED_GOLDS:
                    self._golds.clear()
                self._golds[gold.text] = stored
        return stored[1:]

    def _text(self, pair: Pair, pred: Record | None) -> str | None:
        """The text of the prediction; of one that could not be read what stands in its place."""
        if not self.texts:
            return None
        if pair.pred is not None:
            return None if pair.pred.text is None else cut_text(pair.pred.text)
        return None if pred is None else _reply_text(pred.source)

    def _reply(self, pred: Record | None, shown_text: str | None) -> str | None:
        """What the model replied, where that is not the text that is shown.

        That may be data, of which the plan is a part, or replies to several requests of `planeval predict`.
        """
        if not self.texts or pred is None:
            return None
        requests = pred.fields.get("requests")
        if isinstance(requests, list) and requests and all(isinstance(r, dict) for r in requests):
            replies = [r.get("reply") for r in requests]
            texts = [_reply_text(r["text"] if _is_text(r) else r) or "" for r in replies if r]
            reply = cut_text("\n\n".join(texts)) or None
        else:
            reply = None if isinstance(pred.source, str) else _reply_text(pred.source)
        return None if reply == shown_text else reply

    def _question(self, pred: Record | None, gold: Record | None, is_shown: bool) -> Any:
        """What was asked; nothing where that is the conversation that the page shows already."""
        for record in (gold, pred):
            question = None if record is None else record.fields.get(self.query or "")
            if question is not None:
                if is_shown and pred is not None and question == pred.source:
                    return None
                return _question_data(question)
        return None


def _reply_text(source: Any) -> str | None:
    if source is None or isinstance(source, Plan):
        return None
    return cut_text(
        source if isinstance(source, str) else json.dumps(source, ensure_ascii=False, default=repr)
    )


def _is_text(reply: Any) -> bool:
    """Whether a reply is a text and nothing else."""
    return isinstance(reply, dict) and [*reply] == ["text"] and isinstance(reply["text"], str)


def _question_data(question: Any) -> Any:
    """A question, or a conversation turn by turn."""
    if isinstance(question, str):
        return cut_text(question)
    question = join_messages(question)
    turns = question if isinstance(question, list) else [question]
    if turns and all(isinstance(t, dict) for t in turns):
        return [_turn_data(t) for t in turns]
    return _reply_text(question)


def _turn_data(turn: Mapping[str, Any]) -> dict[str, str]:
    role = turn.get("role", turn.get("from", ""))
    text = turn.get("content", turn.get("value"))
    more = {
        name: value
        for name, value in turn.items()
        if name not in ("role", "from", "content", "value") and value
    }
    pieces = [] if text in (None, "") else [text if isinstance(text, str) else short_json(text)]
    pieces += [short_json(more)] if more else []
    return {"role": str(role), "text": cut_text("\n".join(pieces))}


def _first_message(pair: Pair) -> str:
    if pair.first is not None:
        return pair.first
    if pair.edits:
        return pair.edits[0].words
    if pair.state == "same":
        return ""
    return (pair.error or STATES[pair.state]).partition("\n")[0]


def _edited_arguments(edits: Iterable[EditMessage]) -> list[str]:
    """The arguments that edits are about."""
    locations = [location for edit in edits for location in (edit.pred, edit.gold) if location is not None]
    return [*dict.fromkeys([location.argument for location in locations if location.argument is not None])]


def _mistaken_tools(
    edits: Iterable[EditMessage], pred: Mapping[str, Any], gold: Mapping[str, Any]
) -> list[list[str | None]]:
    """Gold's tool and the tool that was taken for it, None where there is none."""
    mistaken = [edit for edit in edits if edit.code in TOOL_MISTAKES]
    return [[_located_tool(edit.gold, gold), _located_tool(edit.pred, pred)] for edit in mistaken]


def _located_tool(location: PlanLocation | None, plan: Mapping[str, Any]) -> str | None:
    tool: str | None = (
        plan["c"][location.call][0] if location is not None and location.call is not None else None
    )
    return tool


def _unedited_share(pair: Pair, pred: Mapping[str, Any], gold: Mapping[str, Any]) -> int:
    """The calls that no edit is about, per mille of all calls of both plans; -1 where nothing can be said."""
    if pair.state not in JUDGED_STATES:
        return -1
    if pair.state == "same":
        return 1000
    calls = len(pred["c"]) + len(gold["c"])
    wrong = {edit.pred.call for edit in pair.edits if edit.pred is not None}
    missed = {edit.gold.call for edit in pair.edits if edit.gold is not None}
    right = sum(
        pred_call not in wrong and gold_call not in missed for pred_call, gold_call, *_ in pair.partners
    )
    return 2000 * right // calls if calls else 0


def _extra_data(pair: Pair, reply: str | None) -> Any:
    """What else is shown of a pair: why it could not be compared, what was repaired, the reply as it came."""
    details: dict[str, Any] = {**pair.more}
    if reply is not None and "talk" not in details:
        details["raw"] = reply
    if pair.error is not None:
        details["error"] = cut_text(pair.error)
    notes = [n.message for n in pair.pred.diagnostics if n.code.startswith("repair.")] if pair.pred else []
    if pair.mended is not None:
        notes.append(f"readable with repair: {pair.mended}")
    if notes:
        details["repairs"] = notes
    if pair.ran is not None:
        values = pair.ran.get("values", {})
        details["ex"] = {
            "said": f"in effect {pair.ran['said']}",
            **{short: values[role] for short, role in (("p", "pred"), ("g", "gold")) if role in values},
        }
    return details or None
