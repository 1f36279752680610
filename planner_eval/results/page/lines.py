"""A pair as a line of a page: what its index has of it, its gold plan, and columns of what is shown of it.

The columns are JSON texts with tabs between them, so that packs are put together without reading them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.comparison.rows import JUDGED_STATES, STATES
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files.record import Record
from planner_eval.results.page.packed_edits import EditMessage, PlanLocation, pack_edit, spans_of_calls
from planner_eval.results.page.plan_data import (
    cut_text,
    encode_against_gold,
    plan_data,
    short_json,
    text_json,
)

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
            "said": f"when run: {pair.ran['said']}",
            **{short: values[role] for short, role in (("p", "pred"), ("g", "gold")) if role in values},
        }
    return details or None
