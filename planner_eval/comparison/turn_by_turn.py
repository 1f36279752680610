"""Two plans of a conversation compared turn by turn: which turn each difference belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from planner_eval.base.text import shorten
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.edits import Edit, find_form_difference
from planner_eval.comparison.explanation.names import calls_numbers, tool_label
from planner_eval.comparison.explanation.sentences import format_names
from planner_eval.comparison.turns import TurnComparison
from planner_eval.plan.model import Plan, leaves
from planner_eval.reading.conversation import Message, read_messages
from planner_eval.reading.files.record import Record

_MIN_TRACED_LENGTH = 4
"""A shorter text is no sign that it comes from a tool's answer."""


def compare_turns(
    diff: Diff, plans: tuple[Plan, Plan], records: tuple[Record | None, Record | None]
) -> TurnComparison | None:
    """Two plans turn by turn; None where neither is of several turns.

    A difference belongs to gold's turn where gold has turns, else to the prediction's. A missing call of gold
    without turns, and an extra one of a prediction without, belongs to a turn where the calls around it leave
    but one; where such a call may be wrong before all others, the first wrong turn is not known.

    Args:
        diff: The comparison; its plans may lack calls that do not count.
        plans: The prediction and gold with all their calls.
        records: Where they were read from.
    """
    messages = [read_messages(record, plan) for record, plan in zip(records, plans, strict=True)]
    most = [max((message.turn for message in side), default=0) for side in messages]
    unit = "turn" if max(most) > 1 else "step"
    pred, gold = (
        _call_turns(side, plan, compared, unit)
        for side, plan, compared in zip(messages, plans, (diff.pred, diff.gold), strict=True)
    )
    if pred is None and gold is None:  # no call says where it went wrong, but it is a conversation
        return TurnComparison(unit, max(most)) if max(most) > 1 else None
    numbers = [*(pred or {}).values(), *(gold or {}).values()]
    count = max([*numbers, *(most if unit == "turn" else ())], default=0)
    if count < 2:
        return None
    turns = _Turns(diff, pred, gold, count)
    spans = [turns.span(edit) for edit in diff.edits]
    turn_of = [span[0] if span is not None and span[0] == span[1] else None for span in spans]
    wrong = sorted({turn for turn in turn_of if turn})
    earliest = min((span[0] for span in spans if span is not None and span[0] < span[1]), default=count)
    late, moved, delayed = _find_late_calls(diff, pred, gold, unit) if pred and gold else (0, (), False)
    if not wrong or earliest < wrong[0]:
        return TurnComparison(unit, count, late=late, moved=moved, delayed=delayed)
    first = wrong[0]
    news = turns.find_news(turn_of, first, messages[0], plans[0])
    by_turn = {
        turn: [edit for edit, t in zip(diff.edits, turn_of, strict=True) if t == turn] for turn in wrong
    }
    follow, form = (
        tuple(turn for turn in wrong[1:] if all(map(is_of_kind, by_turn[turn])))
        for is_of_kind in (lambda edit: turns.follows(edit, turn_of, first, news), find_form_difference)
    )
    request = _asked(messages, first) if unit == "turn" else ""
    return TurnComparison(unit, count, tuple(wrong), follow, late, request, form, moved, delayed)


def _find_late_calls(
    diff: Diff, pred: Mapping[int, int], gold: Mapping[int, int], unit: str
) -> tuple[int, tuple[str, ...], bool]:
    """How many right calls are made in another turn than gold's; all that are, in words; if one is later."""
    touched = {location.call for edit in diff.edits for location, _ in edit.places if location is not None}
    late: dict[tuple[int | None, int | None], list[int]] = {}
    for position, gold_position in sorted(diff.alignment.pairs):
        turns = pred.get(position), gold.get(gold_position)
        if turns[0] != turns[1]:
            late.setdefault(turns, []).append(position)
    calls = diff.pred.calls
    moved = (
        f"{format_names(tool_label(calls[position]) for position in group)} ({calls_numbers(group)})"
        f" in {unit} {own}, gold's {other}"
        for (own, other), group in late.items()
        if own is not None and other is not None
    )
    right = sum(position not in touched for group in late.values() for position in group)
    delayed = any(own is not None and other is not None and own > other for own, other in late)
    return right, tuple(moved), delayed


def _asked(messages: Sequence[Sequence[Message]], turn: int) -> str:
    """What the user said in a turn."""
    for side in messages:
        words = " ".join(message.text for message in side if message.role == "user" and message.turn == turn)
        if words.strip():
            return shorten(" ".join(words.split()), 80)
    return ""


def _call_turns(messages: Sequence[Message], plan: Plan, compared: Plan, unit: str) -> dict[int, int] | None:
    """The turn of each compared call; None where the plan has no turns of this kind."""
    if unit == "turn":
        turns = {plan.calls[position].id: m.turn for m in messages for position in m.calls}
        if max((message.turn for message in messages), default=0) < 2:
            return None
    else:
        turns = {call.id: call.turn for call in plan.calls if call.turn is not None}
        steps = {turn: number for number, turn in enumerate(sorted(set(turns.values())), 1)}
        turns = {name: steps[turn] for name, turn in turns.items()}
    numbered = {i: turns[call.id] for i, call in enumerate(compared.calls) if call.id in turns}
    return numbered or ({} if turns else None)


class _Turns:
    """To which turn each edit of a comparison belongs."""

    def __init__(
        self, diff: Diff, pred: Mapping[int, int] | None, gold: Mapping[int, int] | None, count: int
    ) -> None:
        self.diff, self.pred, self.gold, self.count = diff, pred, gold, count

    def span(self, edit: Edit) -> tuple[int, int] | None:
        """The first and the last turn that an edit may belong to; None where nothing says it (the answer)."""
        pred_call, gold_call = (location and location.call for location in (edit.pred, edit.gold))
        for turns, call in ((self.gold, gold_call), (self.pred, pred_call)):
            if turns is not None and call is not None:
                turn = turns.get(call)
                return (turn, turn) if turn is not None else None
        pairs = self.diff.alignment.pairs
        if self.pred is not None and gold_call is not None:
            return self._around(gold_call, {gold: self.pred.get(pred) for pred, gold in pairs})
        if self.gold is not None and pred_call is not None:
            return self._around(pred_call, {pred: self.gold.get(gold) for pred, gold in pairs})
        return None

    def _around(self, call: int, turns: Mapping[int, int | None]) -> tuple[int, int]:
        """Between which turns of the other plan a call without a partner stands, by its neighbours."""
        turns_by_position = [(position, turn) for position, turn in sorted(turns.items()) if turn is not None]
        before = [turn for position, turn in turns_by_position if position < call]
        after = [turn for position, turn in turns_by_position if position > call]
        first, last = before[-1] if before else 1, after[0] if after else self.count
        return min(first, last), max(first, last)

    def follows(
        self, edit: Edit, turn_of: Sequence[int | None], first: int, news: tuple[list[str], str]
    ) -> bool:
        """Whether an edit follows from one of the first wrong turn: by its cause, or a value from there."""
        cause = edit.cause
        while cause is not None:
            if turn_of[cause] == first:
                return True
            cause = self.diff.edits[cause].cause
        answers, earlier_texts = news
        texts = [leaf for _, leaf in leaves(edit.pred_value) if isinstance(leaf, str)]
        traced = [text for text in texts if len(text) >= _MIN_TRACED_LENGTH and text not in earlier_texts]
        return any(text in answer for text in traced for answer in answers)

    def find_news(
        self, turn_of: Sequence[int | None], first: int, messages: Sequence[Message], plan: Plan
    ) -> tuple[list[str], str]:
        """What the wrong calls of the first wrong turn were answered, and what was known without them."""
        wrong = {
            edit.pred.call
            for edit, turn in zip(self.diff.edits, turn_of, strict=True)
            if turn == first and edit.pred is not None and edit.pred.call is not None
        }
        calls = [self.diff.pred.calls[position] for position in sorted(wrong)]
        ids = {call.id for call in calls}
        earlier = takewhile(lambda m: ids.isdisjoint(plan.calls[i].id for i in m.calls), messages)
        earlier_texts = [*(message.text for message in earlier), *(repr(call.arguments) for call in calls)]
        return [repr(call.result) for call in calls if call.has_result], "\n".join(earlier_texts)
