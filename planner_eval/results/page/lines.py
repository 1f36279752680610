"""A pair as a line of a page: its index, its gold plan, and columns of short JSON that show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import JsonObject
from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.explanation.names import calls_name
from planner_eval.comparison.rows import JUDGED_STATES, Row, Spans, structure_lines
from planner_eval.comparison.turns import TurnComparison, late_text, turns_text
from planner_eval.plan.model import Arguments, Plan, Ref, Unresolved, Value, fold
from planner_eval.reading.conversation import Message, read_messages
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files.record import Record
from planner_eval.results.drawing.scene import value_text
from planner_eval.results.runs.jobs import Effects, ScoreJob
from planner_eval.results.runs.model import Pair as RecordPair
from planner_eval.results.runs.stored import StoredLines
from planner_eval.results.scored import RowLineWriter, json_encoder, keys_of, mistaken_tools
from planner_eval.results.totals import Totals

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


_EMPTY_PLAN: Mapping[str, Any] = {"c": []}
_MAX_CACHED_GOLDS = 4_096


class Pair(NamedTuple):
    """What a page tells of a pair.

    Args:
        row: What became of it.
        fields: What the pairs can be told apart by.
        first: What is wrong in a line; None for the first edit.
        more: What else is shown of it, as JSON data by name.
    """

    row: Row
    fields: Mapping[str, str] = {}
    first: str | None = None
    more: Mapping[str, Any] = {}

    @property
    def pred(self) -> Plan | None:
        """The prediction, where it could be read, as far as it was compared."""
        return self.row.pred if self.row.diff is None else self.row.diff.pred

    @property
    def gold(self) -> Plan | None:
        """The gold plan, likewise."""
        return self.row.gold if self.row.diff is None else self.row.diff.gold

    @property
    def edits(self) -> Sequence[Edit]:
        """What differs."""
        return () if self.row.diff is None else self.row.diff.edits

    @property
    def partners(self) -> Sequence[tuple[int, int]]:
        """Which calls stand for which: positions in the prediction and in gold."""
        return () if self.row.diff is None else self.row.diff.alignment.pairs


class PairLineWriter:
    """Pairs as lines; what many pairs have in common is made once.

    Args:
        query: The field of a record that holds the question.
        texts: Whether the texts of plans are shown.
    """

    def __init__(self, query: str | None, *, texts: bool = True) -> None:
        self.query, self.texts = query, texts
        self._golds: dict[str, tuple[Plan, Mapping[str, Any], Spans | None, str]] = {}

    def line(self, pair: Pair, pred: Record | None, gold: Record | None, scored: str = "null") -> str:
        """The line of a pair of records.

        Args:
            pair: What is known of it.
            pred: The prediction.
            gold: The gold record.
            scored: Its counts as JSON, where two runs are compared.
        """
        row, plan, edits, partners = pair.row, pair.pred, pair.edits, pair.partners
        gold_data, gold_spans, gold_text = self._gold(pair.gold)
        pred_data = _EMPTY_PLAN if plan is None else plan_data(plan)
        index = IndexEntry(
            row.id,
            row.state,
            [*dict.fromkeys([edit.code for edit in edits])],
            [*dict.fromkeys([call[0] for data in (gold_data, pred_data) for call in data["c"]])],
            _edited_arguments(edits),
            _first_message(pair),
            _unedited_share(pair, pred_data, gold_data),
            pair.fields,
            [] if row.diff is None else mistaken_tools(row.diff),
        )
        text = self._text(plan, pred)
        spans = None if text is None or plan is None else Spans(plan)
        columns = (
            short_json(None if plan is None else encode_against_gold(pred_data, gold_data, partners)),
            text_json(text),
            short_json([pack_edit(edit, spans, gold_spans) for edit in edits]) if edits else "[]",
            f"[{','.join([f'[{p},{g}]' for p, g, *_ in partners])}]",
            text_json(structure_lines(row.diff)),
            "null" if (more := _extra_data(pair, self._reply(pred, text))) is None else short_json(more),
            scored,
        )
        raw_question = None if self.query is None else self._question(pred, gold, "talk" in pair.more)
        question = "null" if raw_question is None else short_json(raw_question)
        return "\t".join((short_json(index), gold_text, question, *columns))

    def _gold(self, gold: Plan | None) -> tuple[Mapping[str, Any], Spans | None, str]:
        """A gold plan as data, its places, and it with its text as a line has it."""
        if gold is None:
            return _EMPTY_PLAN, None, "null"
        stored = self._golds.get(gold.text) if gold.text is not None else None
        if stored is None or (stored[0].calls, stored[0].answer) != (gold.calls, gold.answer):
            data = plan_data(gold)
            text = cut_text(gold.text) if self.texts and gold.text is not None else None
            spans = None if text is None else Spans(locate(gold))
            stored = gold, data, spans, short_json([data, text])
            if gold.text is not None:
                if len(self._golds) >= _MAX_CACHED_GOLDS:
                    self._golds.clear()
                self._golds[gold.text] = stored
        return stored[1:]

    def _text(self, plan: Plan | None, pred: Record | None) -> str | None:
        """The text of the prediction; of one that could not be read what stands in its place."""
        if not self.texts:
            return None
        if plan is not None:
            return None if plan.text is None else cut_text(plan.text)
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
        return pair.edits[0].message
    if pair.row.state == "same":
        return ""
    return pair.row.reason.partition("\n")[0]


def _edited_arguments(edits: Iterable[Edit]) -> list[str]:
    """The arguments that edits are about."""
    locations = [location for edit in edits for location in (edit.pred, edit.gold) if location is not None]
    return [*dict.fromkeys([location.argument for location in locations if location.argument is not None])]


def _unedited_share(pair: Pair, pred: Mapping[str, Any], gold: Mapping[str, Any]) -> int:
    """The calls that no edit is about, per mille of all calls of both plans; -1 where nothing can be said."""
    if pair.row.state not in JUDGED_STATES:
        return -1
    if pair.row.state == "same":
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
    details: JsonObject = {**pair.more}
    if reply is not None and "talk" not in details:
        details["raw"] = reply
    row, plan = pair.row, pair.pred
    if row.error is not None:
        details["error"] = cut_text(row.error)
    notes = [n.message for n in plan.diagnostics if n.code.startswith("repair.")] if plan else []
    if row.mended is not None:
        notes.append(f"readable with repair: {calls_name(row.mended)}")
    if notes:
        details["repairs"] = notes
    if row.effects is not None:
        values = row.effects.get("values", {})
        details["ex"] = {
            "said": row.in_effect,
            **{short: values[role] for short, role in (("p", "pred"), ("g", "gold")) if role in values},
        }
    return details or None


# ----------------------------------------------------------------------
# The conversation of a pair: messages, each with the calls that it makes.
ROLE_NUMBERS = {"user": 0, "assistant": 1, "tool": 2, "system": 3}
"""The roles by the numbers that viz/report/conversation.js knows them by."""

MAX_LENGTHS = {"user": 3_000, "assistant": 3_000, "tool": 600, "system": 300}
"""Characters of a message that a page shows, by its role: what people read is what was said."""

MAX_MESSAGES = 400
_MIN_MESSAGES = 2


def conversation_data(
    record: Record | None, plan: Plan | None, compared: Plan | None, turns: TurnComparison | None
) -> JsonObject:
    """What a page tells of a conversation, as JSON data; empty where the prediction is none.

    A call that is compared stands as its number, one that does not count as its tool and arguments.

    Args:
        record: The prediction's record.
        plan: All of its calls.
        compared: Those that were compared.
        turns: What differs turn by turn.

    >>> talk = [{"role": "user", "content": "Book it."},
    ...         {"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{}"}}]}]
    >>> from planner_eval.reading.dialects.read import parse
    >>> conversation_data(Record("p", 0, None, talk), parse(talk), parse(talk), None)
    {'talk': {'m': [[0, 1, 'Book it.'], [1, 1, '', [0]]]}}
    """
    messages = () if plan is None else read_messages(record, plan)
    if plan is None or sum(message.role in ("user", "assistant") for message in messages) < _MIN_MESSAGES:
        return {}
    positions = {call.id: position for position, call in enumerate((compared or Plan()).calls)}
    listed = [_message_data(message, plan, positions) for message in messages[:MAX_MESSAGES]]
    data: JsonObject = {"m": listed}
    if len(messages) > MAX_MESSAGES:
        data["more"] = len(messages) - MAX_MESSAGES
    if turns is not None:
        data["turns"] = turns.data()
        if said := "; ".join(filter(None, (turns_text(turns), late_text(turns)))):
            data["said"] = said
    return {"talk": data}


def _message_data(message: Message, plan: Plan, positions: dict[str, int]) -> list[Any]:
    text = cut_text(message.text, MAX_LENGTHS[message.role])
    data = [ROLE_NUMBERS[message.role], message.turn, text]
    calls = [plan.calls[position] for position in message.calls]
    if calls:
        data.append([positions.get(call.id, [call.tool, arguments_data(call.arguments)]) for call in calls])
    return data


# ----------------------------------------------------------------------
# Pairs compared for a page: each a line, and figures that add up.
@fast_frozen
class PageJob:
    """How pairs are read, compared, counted and told.

    Args:
        score: How they are read, compared and counted.
        fields: What pairs can be told apart by, as for figures' breakdowns.
        query: The field that holds the question.
        texts: Whether texts of plans are shown.
        counts: Whether lines keep what metrics counted, for two runs to be compared.
        stored: The rows of a run of diff of the same pairs, which are not compared again.
    """

    kind = "report"

    score: ScoreJob
    fields: tuple[str, ...] = ()
    query: str | None = None
    texts: bool = True
    counts: bool = False
    stored: StoredLines | None = None

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.score.options(), "query": self.query, "texts": self.texts}

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that were kept as data."""
        return self.score.fold(data)

    def rows(
        self, pairs: Iterable[RecordPair], fold: Totals, effects: Effects | None = None
    ) -> Iterator[str]:
        """A line a pair, in order; adds each to the sums.

        Args:
            pairs: Neighbouring pairs.
            fold: The sums.
            effects: Runs the plans of a row; it is given what was read of the pair.
        """
        lines, counts = PairLineWriter(self.query, texts=self.texts), RowLineWriter()
        stored = None if self.stored is None else self.stored.since(getattr(pairs, "first", 0))
        for records, row, scored in self.score.counted(
            pairs, fold, located=self.texts, effects=effects, stored=stored
        ):
            pair = Pair(row, pair_fields(self.fields, row))
            if self.texts:
                pair = pair._replace(more=conversation_data(records.pred, row.pred, pair.pred, row.turns))
            count_text = counts.line(scored) if self.counts else "null"
            yield lines.line(pair, records.pred, records.gold, count_text)


WRONG_TURN = "first wrong turn"
"""The field by which a page tells apart conversations of several turns."""


def pair_fields(names: Iterable[str], row: Row) -> dict[str, str]:
    """What a pair can be told apart by."""
    fields = keys_of(names, row)
    if row.turns is not None and row.turns.first is not None and row.turns.unit == "turn":
        fields[WRONG_TURN] = str(row.turns.first)
    return fields
