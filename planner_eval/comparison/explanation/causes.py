"""Causes and consequences: which edits follow from which.

An edit follows from another when mending the other mends it:

- a call is mended with its links: so whatever concerns a value in which gold refers to a missing call follows
  from that, and a value in which the prediction refers to an extra call follows from the extra call;
- arguments that only one of two tools takes, and outputs that only one of them has, follow from the
  replacement of the one by the other;
- calls that another one asks for, too, or stands for, follow from that one;
- the same change made again (one wrong value for one right value, one spelling) follows from the first.

What is left are root causes, those first that change most of what is done, see :class:`_Weights`; of one
weight as the prediction is read.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from planner_eval.comparison.explanation.edits import (
    EMPTY_VALUES,
    Draft,
    Edit,
    Place,
    ValueData,
    find_form_difference,
    name_type_difference,
    name_writing_difference,
)
from planner_eval.comparison.explanation.names import compute_results
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.replaced import MIN_LIKENESS
from planner_eval.plan.canonical import OWN_POSITIONS, producers_of, value_key
from planner_eval.plan.graph import generations, producers, reach
from planner_eval.plan.model import Call, Plan, Ref, Value


def order_by_cause(
    edits: list[Draft], pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]
) -> tuple[Draft, ...]:
    """The edits, roots by weight and as the prediction is read, each followed by its consequences."""
    if len(edits) < 2:
        return tuple(edits)
    partner = {gold_call: pred_call for pred_call, gold_call in pairs}
    ranks, weights = _Ranks(pred, gold, partner), _Weights(edits, pred, gold, partner)
    edits = sorted(edits, key=lambda edit: (weights.of(edit), ranks.of(edit)))
    cause = _find_causes(edits)
    children: dict[int | None, list[int]] = {}
    for position, parent in enumerate(cause):
        children.setdefault(parent, []).append(position)
    order: list[int] = []
    stack = list(reversed(children.get(None, [])))
    while stack:
        position = stack.pop()
        order.append(position)
        stack.extend(reversed(children.get(position, [])))
    new_positions = {position: new for new, position in enumerate(order)}
    return tuple(
        edits[position]
        if (parent := cause[position]) is None
        else edits[position]._replace(cause=new_positions[parent])
        for position in order
    )


_DONE, _DEED, _LIGHT, _BESIDE, _WORDED, _AGAIN, _FORM, _NAME, _LOOKUP = range(9)
"""Weights, the heaviest first: what gold's calls lack or have wrong, and what an agent does when it has done
all that gold does; what any other plan does then; prose, and arguments that may be left out; what is given
besides; empties and other words; what an agent tries or does again; the same written otherwise, values before
names; what it looks up."""

MIN_WORDS = 4
"""A text of so many words is prose, which two people word differently."""

_WEIGHTS = {"name.spelling": _NAME, "argument.object": _FORM, "argument.extra": _BESIDE}


class _Weights:
    """How much edits change of what is done.

    Args:
        edits: What differs.
        pred: The prediction.
        gold: The gold plan.
        partner: The prediction's call for each of gold's.
    """

    def __init__(self, edits: list[Draft], pred: Plan, gold: Plan, partner: Mapping[int, int]) -> None:
        self.pred, self.gold, self.partner = pred, gold, partner
        self.lookups = find_lookups(edits, pred, gold)
        self.is_all_called = all(edit.code != "call.missing" for edit in edits)
        self.flows = bool(pred.edges or gold.edges)

    @cached_property
    def needed(self) -> set[int]:
        """The calls whose results calls with a partner, or the answer, need."""
        paired = [*self.partner.values()]
        if not paired and not is_conversation(self.pred):  # of another plan all that it does counts
            paired = [*range(len(self.pred.calls))]
        needs = producers(self.pred)
        in_answer = (call for _, value in self.pred.answer or () for call in producers_of(value))
        return reach([*paired, *(need for call in in_answer for need in needs[call])], needs.__getitem__)

    @cached_property
    def results(self) -> list[list[int | float | None]]:
        """What the calls of either plan come to that compute with numbers."""
        return [*map(compute_results, (self.pred, self.gold))]

    @cached_property
    def numbers(self) -> list[set[int | float]]:
        """The numbers that the calls of either plan are given."""
        values = [[v for call in plan.calls for _, v in call.arguments] for plan in (self.pred, self.gold)]
        return [{value for value in side if type(value) in (int, float)} for side in values]

    @cached_property
    def merged(self) -> dict[int, int]:
        """Missing calls of gold, with the call that comes to the same from where gold takes a result."""
        pred_results, gold_results = self.results
        return {
            use.consumer: call
            for use in self.gold.edges
            if use.consumer not in self.partner
            and (call := self.partner.get(use.producer)) is not None
            and pred_results[call] == gold_results[use.consumer] is not None
        }

    def comes_to_the_same(self, edit: Draft) -> bool:
        """Whether an edit leaves what is computed: of a call, or of what a literal stands for."""
        if edit.name == "exchange" and edit.data:  # the two terms of a sum
            return True
        gold = edit.gold and edit.gold.call
        if gold is None or (result := self.results[1][gold]) is None:
            return False
        if edit.pred is None or edit.pred.call is None:  # a number that only the prediction writes
            return gold in self.merged or result in self.numbers[0] - self.numbers[1]
        return edit.pred.call in self.merged.values() or self.results[0][edit.pred.call] == result

    def is_deed(self, edit: Draft) -> bool:
        """Whether what does all that gold does acts once more: no try, and nothing made again."""
        call = self.pred.calls[(edit.pred and edit.pred.call) or 0]
        acts = not is_lookup(call) and call.name not in _MOVES
        return edit.name == "extra call" and self.is_all_called and not self.flows and acts

    def of(self, edit: Draft) -> int:
        """The weight of an edit."""
        kind, pred_value, gold_value = edit.code, edit.pred_value, edit.gold_value
        if edit.pred is not None and edit.gold is None and edit.pred.argument is None:
            if edit.pred.call in self.lookups:
                return _LOOKUP
            acts = self.is_deed(edit)
            if edit.pred.call in self.needed or (acts and is_conversation(self.pred)):
                return _DONE
            return _DEED if acts else _BESIDE if self.flows else _AGAIN
        if kind == "argument.extra" and (pred_value in EMPTY_VALUES or pred_value is False):
            return _FORM
        if kind in _WEIGHTS:
            return _WEIGHTS[kind]
        if self.comes_to_the_same(edit):
            return _FORM
        form: str | None = None
        is_light = isinstance(edit.data, ValueData) and edit.data.optional
        is_worded = is_amount(edit) or (kind == "argument.missing" and gold_value in EMPTY_VALUES)
        if kind == "argument.type":
            form = name_type_difference(pred_value, gold_value)
        elif kind == "argument.renamed":
            form = find_form_difference(edit)
        elif kind == "argument.value" and type(pred_value) is str and type(gold_value) is str:
            form = name_writing_difference(pred_value, gold_value)
            is_light |= is_prose(pred_value) and is_prose(gold_value)
            is_worded = (
                all(text[:1] + text[-1:] == "<>" for text in (pred_value, gold_value))
                or name_wording(edit) is not None
                or (_TIME.fullmatch(gold_value) is not None and _TOLD_TIME.search(pred_value) is not None)
            )
        return _FORM if form else _WORDED if is_worded else _LIGHT if is_light else _DONE


_MOVES = frozenset({"cd"})
"""Tools that only say where the next calls act."""

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_TIME = re.compile(r"[\d\sT.]*+[:/-][\d\sT.:/-]*+")
_TOLD_TIME = re.compile(r"\d.*[^\W\d_]{2}|[^\W\d_]{2}.*\d")
"""A day or a time in digits, and what tells one in words."""

_AMOUNTS = frozenset({"amount", "cost", "price", "sum", "total"})


def is_amount(edit: Edit | Draft) -> bool:
    """Whether an edit is about what is paid, a number within an argument: it follows from what is bought."""
    path = edit.pred.at if edit.pred is not None else ()
    numbers = {type(edit.pred_value), type(edit.gold_value)} <= {int, float}
    return numbers and path[-1:] != () and path[-1] in _AMOUNTS


def is_prose(value: Value) -> bool:
    """Whether a value is a text of several words, which two people word differently."""
    return type(value) is str and len([*filter(_LETTERS.search, value.split())]) >= MIN_WORDS


def name_wording(edit: Edit | Draft) -> str | None:
    """How two texts differ of which one is prose, worded otherwise: with little in common, or by words more.

    Gold's text may also break off within a word that the prediction's has whole; of two words that may be
    another name.

    >>> [
    ...     name_wording(Edit("argument.value", "", pred_value=text, gold_value="a trip to Rome"))
    ...     for text in ("I want a trip to Rome.", "not a trip to Rome", "a trip to Oslo", "a trip to Romeo")
    ... ]
    ['more words', None, None, 'cut gold']
    """
    texts = edit.pred_value, edit.gold_value
    if type(texts[0]) is not str or type(texts[1]) is not str:
        return None
    end = len(texts[1])
    if texts[0].startswith(texts[1]) and texts[0][end - 1 : end + 1].isalpha() and texts[1].count(" ") > 1:
        return "cut gold"
    if not any(map(is_prose, texts)):
        return None
    if all(map(is_prose, texts)) and likeness(*texts) < MIN_LIKENESS:
        return "free text"
    pred_words, gold_words = ({*_ANY_WORD.findall(text.casefold())} for text in texts)
    less, more = sorted((pred_words, gold_words), key=len)
    surplus = more - less
    if not set[str]() < less < more or _CODE.search("".join(texts)):
        return None
    if not surplus.isdisjoint(_NEGATIONS) or not all(map(str.isalpha, surplus)):
        return None
    return "more words" if less == gold_words else "fewer words"


_ANY_WORD = re.compile(r"\w++(?:['’]\w++)*+")
_CODE = re.compile(r"[(){}\[\]=_/\\|&+*^#@$%]")
"""Signs of texts that are no words but code, units or addresses."""

_NEGATIONS = frozenset({"cannot", "except", "no", "non", "none", "not", "never", "without"})

LOOKUP_VERBS = frozenset({
    "browse", "calc", "calculate", "cat", "check", "compute", "count", "describe", "display", "du", "fetch",
    "find", "get", "grep", "head", "list", "look", "lookup", "ls", "pwd", "query", "read", "retrieve",
    "search", "show", "tail", "think", "verify", "view", "wc",
})  # fmt: skip
"""The first words of tools that change nothing: agents call them, and their gold lists what acts."""

_WORD = re.compile(r"[A-Z]?[a-z]+")


def find_lookups(edits: Iterable[Edit | Draft], pred: Plan, gold: Plan) -> frozenset[int]:
    """The prediction's calls that look something up, where gold lists what acts.

    Gold never calls their tools, or all its calls of them are right; what takes their results looks something
    up as well.

    Args:
        edits: What differs.
        pred: The prediction.
        gold: The gold plan.

    >>> from planner_eval.plan.model import Call
    >>> pred = Plan(tuple(Call(name, name) for name in ("get_user", "searchFlights", "book", "pay")))
    >>> extra = [Edit("call.extra", "", Place(position)) for position in range(3)]
    >>> sorted(find_lookups(extra, pred, Plan((Call("a", "pay"),))))
    [0, 1]
    """
    extra = {
        edit.pred.call
        for edit in edits
        if edit.code in _EXTRA_CALL_CODES and edit.pred and edit.pred.call is not None
    }
    lookups = {call for call in extra if is_lookup(pred.calls[call])}
    if not lookups:
        return frozenset()
    wrong = {place.call for edit in edits for _, place in edit.places if place is not None}
    wrong_tools = {gold.calls[call].tool for call in wrong if call is not None}
    lookups = {call for call in lookups if pred.calls[call].tool not in wrong_tools}
    if gold.calls and all(map(is_lookup, (*gold.calls, *(pred.calls[call] for call in extra)))):
        return frozenset()
    if not is_conversation(pred) and len(extra) == len(pred.calls):  # another plan, of which no call is right
        return frozenset()
    for _, value in pred.answer or ():
        lookups.difference_update(producers_of(value))
    for edge in sorted(pred.written.edges, key=lambda edge: -edge.consumer):  # from the last one back
        if edge.consumer not in lookups:
            lookups.discard(edge.producer)
    return frozenset(lookups)


def is_conversation(pred: Plan) -> bool:
    """Whether a plan is what an agent called in a conversation, turn by turn."""
    return any(call.turn is not None for call in pred.calls)


def is_lookup(call: Call) -> bool:
    """Whether a call's tool, by its first word or a ``get`` after it, looks up or thinks and changes nothing.

    >>> [is_lookup(Call("a", name)) for name in ("searchFlights", "ticket_get_status", "book_trip")]
    [True, True, False]
    """
    return _names_lookup(call.name)


@lru_cache(maxsize=1024)
def _names_lookup(name: str) -> bool:
    names = [word.lower() for word in _WORD.findall(name.rpartition(".")[2])]
    return bool(names) and (names[0] in LOOKUP_VERBS or names[1:2] == ["get"])


class _Ranks:
    """Where an edit comes: where the prediction is read that far.

    A missing call is written nowhere: it comes where it would stand, see :func:`find_positions_in_pred`, but
    after calls there that gold does not have, which are met first.
    """

    def __init__(self, pred: Plan, gold: Plan, partner: Mapping[int, int]) -> None:
        self.end = len(pred.calls)
        self.gold, self.partner = gold, partner

    @cached_property
    def slots(self) -> list[tuple[int, int]]:
        """Where each call of gold comes: behind a call, and those after it that only the prediction has."""
        pairs = [(pred, gold) for gold, pred in self.partner.items()]
        paired, last = {pred for pred, _ in pairs}, [*range(self.end)]
        for position in range(self.end - 2, -1, -1):
            last[position] = position if position + 1 in paired else last[position + 1]
        places = find_positions_in_pred(self.gold, pairs)
        return [(last[pred] if offset > 0 else pred, offset) for pred, offset in places]

    def of(self, edit: Draft) -> tuple[int, ...]:
        if edit.gold is not None and (gold := edit.gold.call) is not None:
            if gold in self.partner:
                return self.partner[gold], 0, 1, gold
            return (*self.slots[gold], 0, gold) if self.partner else (self.end + 1, 0, 0, gold)
        if edit.gold is None and edit.pred is not None and edit.pred.call is not None:
            return edit.pred.call, 0, 1
        return (self.end + 2,)


def _find_first_consumers(gold: Plan, partner: Mapping[int, int], end: int) -> list[int]:
    """Where the prediction first waits for each call of gold, or for what needs it; `end` for nowhere."""
    awaited = [end] * len(gold.calls)
    needs = producers(gold)
    for call in [call for generation in generations(needs) for call in generation][::-1]:
        for producer in needs[call]:
            awaited[producer] = min(awaited[producer], awaited[call], partner.get(call, end))
    return awaited


def find_positions_in_pred(gold: Plan, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where each call of gold stands among the prediction's: a position, and -1 before, 0 at or 1 after it.

    A call without a partner stands after the partner of the call before it, or else before the partner of
    the next that has one; before all where none has one. It stands after all that it takes from, but never
    after a call that waits for it: before the first of them.

    Args:
        gold: The gold plan.
        pairs: Positions (in pred, in gold) of partners.

    >>> from planner_eval.plan.model import Call
    >>> from planner_eval.plan.linking import build_plan
    >>> waits = Call("d", "f", (("x", Ref(3)),))
    >>> find_positions_in_pred(build_plan([Call("a", "f"), Call("b", "f"), waits, Call("e", "f")]),
    ...     [(5, 1), (2, 2)])
    [(5, -1), (5, 0), (2, 0), (2, -1)]
    """
    partner = {gold: pred for pred, gold in pairs}
    end = max(partner.values(), default=0) + 1
    needs = producers(gold)
    awaited = _find_first_consumers(gold, partner, end)
    slots: dict[int, tuple[int, int]] = {}
    current = min(partner.items(), default=(0, 0))[1], -1
    for call in range(len(needs)):
        if call in partner:
            current = slots[call] = partner[call], 0
            continue
        current = max([current, *(slots[producer] for producer in needs[call] if producer in slots)])
        current = current[0], current[1] or 1
        first = awaited[call]
        slots[call] = (first, -1) if first < end and first <= current[0] else current
    return [slots[call] for call in range(len(gold.calls))]


def _find_causes(edits: list[Draft]) -> list[int | None]:
    """For each edit, in that order, the edit that it follows from."""
    missing = {e.gold.call: i for i, e in enumerate(edits) if e.gold and e.code == "call.missing"}
    extra = {e.pred.call: i for i, e in enumerate(edits) if e.pred and e.code in _EXTRA_CALL_CODES}
    renamed = {e.gold.call: i for i, e in enumerate(edits) if e.gold and e.code in _TOOL_CHANGE_CODES}
    also_told = {place_pair: i for i, e in enumerate(edits) for place_pair in e.also if None in place_pair}
    first: dict[Any, int] = {}
    causes: list[int | None] = []
    for position, edit in enumerate(edits):
        cause = None
        if edit.code in _UNPAIRED_CALL_CODES:
            cause = also_told.get((edit.pred, edit.gold))
        elif edit.code == "order.broken":
            cause = _find_order_cause(edit, edits, extra)
        elif edit.code not in _ROOT_CODES:
            cause = _find_producer_edit(edit.gold_value, edit.gold, missing)
            if cause is None:
                cause = _find_producer_edit(edit.pred_value, edit.pred, extra)
            if cause is None and edit.code.endswith(".output"):
                cause = _find_producer_edit(edit.gold_value, edit.gold, renamed)
        if cause is None and edit.gold and edit.code in UNSHARED_ARGUMENT_CODES:
            cause = renamed.get(edit.gold.call)
        if cause is None and edit.code in REPEATABLE_CODES:
            cause = first.setdefault(change_key(edit), position)
        causes.append(None if cause == position else cause)
    return causes


_EXTRA_CALL_CODES = ("call.extra", "call.duplicated")
_UNPAIRED_CALL_CODES = ("call.missing", *_EXTRA_CALL_CODES)
_TOOL_CHANGE_CODES = ("call.replaced", "app.changed")
_ROOT_CODES = (*_TOOL_CHANGE_CODES, "call.merged", "call.split", "arguments.swapped")
UNSHARED_ARGUMENT_CODES = ("argument.missing", "argument.extra", "argument.renamed", "arguments.swapped")
REPEATABLE_CODES = (
    "name.spelling",
    "argument.value",
    "argument.type",
    "reference.literal",
    "reference.unresolved",
    "reference.unwanted",
)
"""Codes of changes that are one mistake, and mended together, wherever the same one was made again."""


def _find_order_cause(edit: Draft, edits: list[Draft], extra: dict[int | None, int]) -> int | None:
    """The edit of the one thing for which a call comes too early; None where gold's call needs it, too."""
    if type(edit.pred_value) is not Ref or edit.pred is None:
        return None
    if edit.pred_value.call in extra:
        return extra[edit.pred_value.call]
    needing = [
        index
        for index, other in enumerate(edits)
        if other.pred is not None
        and other.pred.argument is not None
        and other.pred.call == edit.pred.call
        and edit.pred_value.call in producers_of(other.pred_value)
    ]
    return needing[0] if len(needing) == 1 else None


def _find_producer_edit(value: Value, location: Place | None, edits: dict[int | None, int]) -> int | None:
    """The edit about a call that a value at a place refers to."""
    own_call = location.call if location is not None else None
    return next((edits[call] for call in producers_of(value) if call in edits and call != own_call), None)


def change_key(edit: Edit | Draft) -> Hashable:
    """What was put for what; two edits of one change are one mistake made twice.

    Texts count wherever they stand; other values are too common to mean much under another name.
    """
    if edit.code == "name.spelling":
        return edit.code
    texts = type(edit.pred_value) is str and type(edit.gold_value) is str
    name = None if texts or edit.gold is None else edit.gold.argument
    return (
        edit.code,
        name,
        value_key(edit.pred_value, OWN_POSITIONS),
        value_key(edit.gold_value, OWN_POSITIONS),
    )
