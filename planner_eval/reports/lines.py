"""A pair as a line: what the page's index has of it, its gold plan, and columns of what is shown of it.

The columns are JSON texts with tabs between them, so that packs are put together without reading them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.dialects.messages import join_messages
from planner_eval.dialects.read import locate
from planner_eval.plan.model import Plan
from planner_eval.records.record import Record
from planner_eval.records.rows import JUDGED, STATES
from planner_eval.reports.compact import against, cut_text, plan_data, text_written, written
from planner_eval.reports.told import Said, Where, packed, places_of

COLUMNS = ("p", "t", "e", "al", "s", "x")
"""Of a pair: the prediction, its text, the edits, which calls are partners, the structure, what else."""


class Index(NamedTuple):
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


MISTAKES = ("call.replaced", "app.changed", "call.missing", "call.extra", "call.duplicated")
"""Codes of edits that say which tool was taken for which."""

_NOTHING: Mapping[str, Any] = {"c": []}
_MOST = 4_096


class Pair(NamedTuple):
    """What is known of a pair, wherever from.

    Args:
        name: The records' id, or their position counted from 1.
        state: One of :data:`planner_eval.records.rows.STATES`.
        pred: The prediction, where it could be read.
        gold: The gold plan, where it could be read.
        edits: What differs.
        partners: Which calls stand for which: positions in the prediction and in gold.
        structure: In how far the structure differs, in words.
        error: Why a plan could not be read.
        mended: What repair would make of the prediction, in words.
        fields: What the pairs can be told apart by.
        ran: What the two plans come to when they are run, and each of their calls, where they were.
    """

    name: str
    state: str
    pred: Plan | None = None
    gold: Plan | None = None
    edits: Sequence[Said] = ()
    partners: Iterable[Sequence[int]] = ()
    structure: str = ""
    error: str | None = None
    mended: str | None = None
    fields: Mapping[str, str] = {}
    ran: Mapping[str, Any] | None = None


class Lines:
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
        data, theirs = self._gold(pair.gold)
        ours = _NOTHING if pair.pred is None else plan_data(pair.pred)
        edits = pair.edits
        index = Index(
            pair.name,
            pair.state,
            [*dict.fromkeys([edit.code for edit in edits])],
            [*dict.fromkeys([call[0] for plan in (data, ours) for call in plan["c"]])],
            _arguments(edits),
            edits[0].words if edits else _first(pair),
            _score(pair, ours, data),
            pair.fields,
            _taken(edits, ours, data),
        )
        text = self._text(pair, pred)
        shown = (
            written(None if pair.pred is None else against(ours, data, pair.partners)),
            text_written(text),
            written([packed(edit, ours, data, text) for edit in edits]) if edits else "[]",
            f"[{','.join([f'[{one},{other}]' for one, other, *_ in pair.partners])}]",
            text_written(pair.structure),
            "null" if (more := _more(pair, self._reply(pred, text))) is None else written(more),
            scored,
        )
        asked = None if self.query is None else self._question(pred, gold)
        question = "null" if asked is None else written(asked)
        return "\t".join((written(index), theirs, question, *shown))

    def _gold(self, gold: Plan | None) -> tuple[Mapping[str, Any], str]:
        """A gold plan as data, and that with its text and places as a line has it."""
        if gold is None:
            return _NOTHING, "null"
        known = self._golds.get(gold.text) if gold.text is not None else None
        if known is None or (known[0].calls, known[0].answer) != (gold.calls, gold.answer):
            data = plan_data(gold)
            text = cut_text(gold.text) if self.texts and gold.text is not None else None
            places = places_of(locate(gold)) if text is not None else []
            known = gold, data, written([data, text, places])
            if gold.text is not None:
                if len(self._golds) >= _MOST:
                    self._golds.clear()
                self._golds[gold.text] = known
        return known[1:]

    def _text(self, pair: Pair, pred: Record | None) -> str | None:
        """The text of the prediction; of one that could not be read what stands in its place."""
        if not self.texts:
            return None
        if pair.pred is not None:
            return None if pair.pred.text is None else cut_text(pair.pred.text)
        return None if pred is None else _raw(pred.source)

    def _reply(self, pred: Record | None, shown: str | None) -> str | None:
        """What the model replied, where that is not the text that is shown.

        That may be data, of which the plan is a part, or replies to several requests of `planeval predict`.
        """
        if not self.texts or pred is None:
            return None
        asked = pred.fields.get("requests")
        if isinstance(asked, list) and asked and all(isinstance(one, dict) for one in asked):
            said = [one.get("reply") for one in asked]
            texts = [_raw(one["text"] if _is_text(one) else one) or "" for one in said if one]
            reply = cut_text("\n\n".join(texts)) or None
        else:
            reply = None if isinstance(pred.source, str) else _raw(pred.source)
        return None if reply == shown else reply

    def _question(self, pred: Record | None, gold: Record | None) -> Any:
        for record in (gold, pred):
            said = None if record is None else record.fields.get(self.query or "")
            if said is not None:
                return _spoken(said)
        return None


def _raw(source: Any) -> str | None:
    if source is None or isinstance(source, Plan):
        return None
    return cut_text(
        source if isinstance(source, str) else json.dumps(source, ensure_ascii=False, default=repr)
    )


def _is_text(reply: Any) -> bool:
    """Whether a reply is a text and nothing else."""
    return isinstance(reply, dict) and [*reply] == ["text"] and isinstance(reply["text"], str)


def _spoken(said: Any) -> Any:
    """A question, or a conversation turn by turn."""
    if isinstance(said, str):
        return cut_text(said)
    said = join_messages(said)
    turns = said if isinstance(said, list) else [said]
    if turns and all(isinstance(one, dict) for one in turns):
        return [_turn(one) for one in turns]
    return _raw(said)


def _turn(said: Mapping[str, Any]) -> dict[str, str]:
    role = said.get("role", said.get("from", ""))
    text = said.get("content", said.get("value"))
    more = {
        name: one for name, one in said.items() if name not in ("role", "from", "content", "value") and one
    }
    parts = [] if text in (None, "") else [text if isinstance(text, str) else written(text)]
    parts += [written(more)] if more else []
    return {"role": str(role), "text": cut_text("\n".join(parts))}


def _first(pair: Pair) -> str:
    if pair.state == "same":
        return ""
    return (pair.error or STATES[pair.state]).partition("\n")[0]


def _arguments(edits: Iterable[Said]) -> list[str]:
    """The arguments that edits are about."""
    places = [place for edit in edits for place in (edit.pred, edit.gold) if place is not None]
    return [*dict.fromkeys([place.argument for place in places if place.argument is not None])]


def _taken(edits: Iterable[Said], pred: Mapping[str, Any], gold: Mapping[str, Any]) -> list[list[str | None]]:
    """Gold's tool and the tool that was taken for it, None where there is none."""
    found = [edit for edit in edits if edit.code in MISTAKES]
    return [[_tool(edit.gold, gold), _tool(edit.pred, pred)] for edit in found]


def _tool(place: Where | None, plan: Mapping[str, Any]) -> str | None:
    tool: str | None = plan["c"][place.call][0] if place is not None and place.call is not None else None
    return tool


def _score(pair: Pair, pred: Mapping[str, Any], gold: Mapping[str, Any]) -> int:
    """The calls that no edit is about, per mille of all calls of both plans; -1 where nothing can be said."""
    if pair.state not in JUDGED:
        return -1
    if pair.state == "same":
        return 1000
    calls = len(pred["c"]) + len(gold["c"])
    wrong = {edit.pred.call for edit in pair.edits if edit.pred is not None}
    missed = {edit.gold.call for edit in pair.edits if edit.gold is not None}
    right = sum(ours not in wrong and theirs not in missed for ours, theirs, *_ in pair.partners)
    return 2000 * right // calls if calls else 0


def _more(pair: Pair, reply: str | None) -> Any:
    """Why a pair could not be compared, what was repaired, and the reply as it came."""
    said: dict[str, Any] = {} if reply is None else {"raw": reply}
    if pair.error is not None:
        said["error"] = cut_text(pair.error)
    notes = [n.message for n in pair.pred.diagnostics if n.code.startswith("repair.")] if pair.pred else []
    if pair.mended is not None:
        notes.append(f"readable with repair: {pair.mended}")
    if notes:
        said["repairs"] = notes
    if pair.ran is not None:
        values = pair.ran.get("values", {})
        said["ex"] = {
            "said": f"in effect {pair.ran['said']}",
            **{short: values[side] for short, side in (("p", "pred"), ("g", "gold")) if side in values},
        }
    return said or None
