"""The explanation of a difference: partners as a person takes them, edits, compound ones, causes, sentences.

Compound edits are values of several calls that are taken for one another, told as one mistake. A wrong value
leads from what gold has there to what the prediction has there. Where such steps lead back to where they
began, values stand in one another's places: results swapped wherever they are used, arguments of several
calls, steps of a chain in another order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import order_by_cause
from planner_eval.comparison.explanation.edits import Draft, Edit, Place, ValueDiff, kind_name
from planner_eval.comparison.explanation.names import CallNames, no_call_suffix
from planner_eval.comparison.explanation.partners import rematch_for_explanation
from planner_eval.comparison.explanation.primitive_edits import PrimitiveEdits
from planner_eval.comparison.explanation.sentences import Wording
from planner_eval.comparison.gold_alternatives import AcceptedValues, AlternativeValues
from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.graph import circles
from planner_eval.plan.model import Ref, Value, is_dependent


def explain_matching(
    matching: Matching, alternatives: AlternativeValues
) -> tuple[Matching, tuple[Edit, ...], bool]:
    """The explanation of a difference.

    Args:
        matching: What figures count.
        alternatives: Values that other gold plans have in the place of this one's, which sentences name.

    Returns:
        The matching, with partners as a person takes them; the edits, causes before consequences; whether the
        search for partners was not bounded.
    """
    matching, shortest = rematch_for_explanation(matching)
    pred, gold, pairs, pairing = matching.pred, matching.gold, matching.alignment.pairs, matching.pairing
    names = CallNames.of(pred, gold, pairs)
    wording = Wording(names, ValueDiff(names.to_gold))
    edits: list[Draft] = []
    if pairing is not None:
        waived = {Place(call) for call in matching.waived}
        accepted = AcceptedValues(matching.policy, matching.terms, alternatives)
        primitive = PrimitiveEdits(pairing, accepted, ordered=matching.policy.order != "free")
        edits = [edit for edit in primitive if edit.code != "call.missing" or edit.gold not in waived]
        edits = merge_edits(edits, names)
        wording.objects, wording.failed = primitive.objects, matching.failed
    edits += [
        Draft("misplaced call", "order.broken", Place(call), Place(image), data=(other, after))
        for call, image, other, after in matching.misplaced
    ]
    written = [wording.write(edit) for edit in order_by_cause(edits, pred, gold, pairs)]
    if written and (suffix := no_call_suffix(pred, gold)):
        written[0] = written[0]._replace(message=written[0].message + suffix)
    return matching, tuple(written), shortest


# ----------------------------------------------------------------------
# Values that are taken for one another.
MAX_EDITS = 1000
"""Edits up to which it is asked which of them are one mistake."""

_VALUE_CODES = frozenset({
    "reference.producer", "answer.producer", "argument.value", "reference.literal", "reference.unwanted",
})  # fmt: skip


class _WrongValue(NamedTuple):
    """A wrong argument, what it takes, and what gold takes: a call of gold, or a literal."""

    number: int
    edit: Draft
    source: Any
    gold_source: Any


def merge_edits(edits: list[Draft], names: CallNames) -> list[Draft]:
    """The edits with those that are one mistake as one, in the place of the first of them.

    Args:
        edits: What differs, argument by argument.
        names: How calls are called, and which are partners.
    """
    edits = _mark_moved_values(_merge_tools(edits, names))
    wrong = [*_find_wrong_values(edits, names)]
    if not 2 <= len(wrong) <= MAX_EDITS:
        return edits
    merged: dict[int, Draft | None] = {}
    for group in _find_circles(wrong, _find_moved_end(names)):
        if compound := _merge(group, names):
            merged |= dict.fromkeys(link.number for link in group)
            merged[min(link.number for link in group)] = compound
    remaining = [merged.get(index, edit) for index, edit in enumerate(edits)] if merged else edits
    return [edit for edit in remaining if edit is not None]


def _merge_tools(edits: list[Draft], names: CallNames) -> list[Draft]:
    """The edits with calls that have one another's tools, and nothing else wrong, as one edit."""
    if [edit.code for edit in edits].count("call.replaced") < 2:
        return edits
    touched = Counter(place.call for edit in edits for _, place in edit.places if place is not None)
    replaced = [
        edit for edit in edits
        if edit.code == "call.replaced" and edit.gold and touched[edit.gold.call] == 1
    ]  # fmt: skip
    if len(replaced) < 2 or Counter(e.pred_value for e in replaced) != Counter(
        e.gold_value for e in replaced
    ):
        return edits
    first, *further_edits = replaced
    golds = [edit.gold and edit.gold.call for edit in replaced]
    is_chain = all(any(call in edge[:2] for edge in names.gold.edges) for call in golds)
    swapped = first._replace(
        name="tools in another order" if is_chain else "tools swapped",
        code="order.steps" if is_chain else "call.replaced",
        pred_value={edit.pred: edit.pred_value for edit in replaced},
        gold_value={edit.pred: edit.gold_value for edit in replaced},
        also=tuple((edit.pred, edit.gold) for edit in further_edits),
    )
    return [swapped if edit is first else edit for edit in edits if edit not in further_edits]


def _mark_moved_values(edits: list[Draft]) -> list[Draft]:
    """The edits; of what an argument has too much it is said which of its call lacks just that."""
    lacking: dict[int | None, list[Draft]] = {}
    for edit in edits:
        if edit.code in _LACKING_CODES and edit.pred and edit.gold and not edit.pred.at:
            lacking.setdefault(edit.pred.call, []).append(edit)
    if not lacking:
        return edits
    marked = []
    for edit in edits:
        others = lacking.get(edit.pred.call, ()) if edit.pred and (surplus := _find_surplus(edit)) else ()
        names = (other.gold.argument for other in others if other.gold and _lacks(other, edit, surplus))
        if name := next(names, None):
            edit = edit._replace(data=edit.data._replace(elsewhere=name))
        marked.append(edit)
    return marked


_LACKING_CODES = frozenset({"argument.value", "argument.type", "argument.missing"})


def _find_surplus(edit: Draft) -> list[Value]:
    """What an argument has too much: all of one that gold does not give, or items of a list."""
    if edit.code == "argument.extra":
        surplus = [edit.pred_value]
    elif type(edit.pred_value) is list and type(edit.gold_value) is list and edit.name == "value":
        surplus = [item for item in edit.pred_value if item not in edit.gold_value]
    else:
        return []
    return surplus if all(map(is_distinctive, surplus)) else []


def _lacks(edit: Draft, other: Draft, surplus: list[Value]) -> bool:
    """Whether gold's list, text or object has what another argument has too much, and pred's has not."""
    pred_value, gold_value = edit.pred_value, edit.gold_value
    if type(gold_value) is dict and other.pred is not None:
        return edit.code == "argument.missing" and gold_value.get(other.pred.argument, MISSING) in surplus
    if type(pred_value) is not type(gold_value) or type(gold_value) not in (str, list):
        return False
    if type(gold_value) is str and any(type(item) is not str for item in surplus):
        return False
    return all(_holds(gold_value, item) and not _holds(pred_value, item) for item in surplus)


def _holds(value: Any, item: Any) -> bool:
    """Whether a list has an item, or a text has it in words of its own."""
    if type(value) is list:
        return item in value
    return re.search(rf"(?<!\w){re.escape(item)}(?!\w)", value) is not None


def _find_wrong_values(edits: list[Draft], names: CallNames) -> Iterator[_WrongValue]:
    """The edits of whole values that are the result of a call with a partner, or hold no reference."""
    for number, edit in enumerate(edits):
        pred, gold = edit.pred, edit.gold
        if edit.code not in _VALUE_CODES or pred is None or gold is None or pred.at or gold.at or edit.also:
            continue
        source = _find_source(edit.pred_value, names.to_gold)
        gold_source = _find_source(edit.gold_value, range(len(names.to_pred)))
        own = type(edit.pred_value) is Ref and edit.pred_value.call == pred.call
        if source is not None and gold_source is not None and source != gold_source and not own:
            yield _WrongValue(number, edit, source, gold_source)


def _find_source(value: Value, images: Sequence[int]) -> Any:
    """A call by its position in gold, or a literal that says something; None for what is neither."""
    if type(value) is Ref:
        return images[value.call] if images[value.call] >= 0 else None
    if is_dependent(value) or not (is_distinctive(value) or kind_name(value) == "number"):
        return None
    return "literal", value_key(value, OWN_POSITIONS)


def _find_moved_end(names: CallNames) -> tuple[int, int] | None:
    """The call that nothing uses in gold alone, and the one that nothing uses in the prediction alone."""
    gold_used = {edge.producer for edge in names.gold.edges}
    pred_used = {names.to_gold[edge.producer] for edge in names.pred.edges}
    paired = [gold for gold, pred in enumerate(names.to_pred) if pred >= 0]
    gold_ends = [gold for gold in paired if gold in pred_used and gold not in gold_used]
    pred_ends = [gold for gold in paired if gold in gold_used and gold not in pred_used]
    return (gold_ends[0], pred_ends[0]) if len(gold_ends) == 1 == len(pred_ends) else None


def _find_circles(wrong: list[_WrongValue], moved_end: tuple[int, int] | None) -> Iterator[list[_WrongValue]]:
    """The wrong values of one circle together, and the literals that go round among the same calls.

    What the plan ends with counts as a value, too.
    """
    sources = {source: None for link in wrong for source in link[2:]} | dict.fromkeys(moved_end or ())
    numbers = {source: index for index, source in enumerate(sources)}
    onward: list[list[int]] = [[] for _ in numbers]
    for link in wrong:
        onward[numbers[link.gold_source]].append(numbers[link.source])
    if moved_end is not None:
        onward[numbers[moved_end[0]]].append(numbers[moved_end[1]])
    circle_of = {index: circle[0] for circle in circles(onward) for index in circle}
    by_circle: dict[int, list[_WrongValue]] = {}
    for link in wrong:
        circle = circle_of[numbers[link.source]]
        if circle == circle_of[numbers[link.gold_source]]:
            by_circle.setdefault(circle, []).append(link)
    groups: dict[Any, list[_WrongValue]] = {}
    for circle, links in by_circle.items():
        literals = all(type(link.source) is tuple for link in links)
        group = frozenset(link.edit.pred and link.edit.pred.call for link in links) if literals else circle
        groups.setdefault((literals, group), []).extend(links)
    yield from groups.values()


def _merge(group: list[_WrongValue], names: CallNames) -> Draft | None:
    """One edit of wrong values that go round; its values are an object of theirs, by place."""
    group = sorted(group, key=lambda link: _call_order(link.edit))
    sources = {link.source for link in group} | {link.gold_source for link in group}
    calls = {link.edit.pred.call: None for link in group if link.edit.pred}
    moved = {names.to_gold[call] for call in calls if call is not None} & sources
    tools = {call if call is None else names.pred.calls[call].tool for call in calls}
    results = all(type(source) is int for source in sources)
    if (len(calls) < 2 and len(group) < 3 and not results) or (
        results and not moved and _has_wrong_output(group)
    ):
        return None
    if moved:
        name, code, data = "steps", "order.steps", sorted(moved)
    elif results:
        name, code, data = "results swapped", "arguments.swapped", sorted(sources)
    else:
        name, code, data = "values swapped", "arguments.swapped", []
        texts = len(tools) == 1 or len(group) > 2 or all(type(link.edit.pred_value) is str for link in group)
        if not texts or any(type(source) is int for source in sources):
            return None
    edits = [link.edit for link in group]
    pred_values = {edit.pred: edit.pred_value for edit in edits}
    gold_values = {edit.pred: edit.gold_value for edit in edits}
    (pred, gold), *further_places = ((edit.pred, edit.gold) for edit in edits)
    return Draft(name, code, pred, gold, pred_values, gold_values, tuple(further_places), data)


def _has_wrong_output(group: list[_WrongValue]) -> bool:
    """Whether results that go round have other outputs than gold takes at their places, or of their calls."""
    outputs = {(link.gold_source, link.edit.gold_value.path) for link in group}
    return any((link.source, link.edit.pred_value.path) not in outputs for link in group) and any(
        link.edit.pred_value.path != link.edit.gold_value.path for link in group
    )


def _call_order(edit: Draft) -> tuple[bool, int]:
    """By the position of its call, the answer last."""
    call = edit.pred and edit.pred.call
    return call is None, call or 0
