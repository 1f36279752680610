"""Compound edits: one mistake that shows in several arguments, proposed in the place of primitive edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.argument_names import is_commutative
from planner_eval.comparison.explanation.edits import Draft, Place, kind_name
from planner_eval.comparison.explanation.multi_call_edits import MIN_LIKENESS, is_identifier
from planner_eval.comparison.explanation.search import Proposal, choose_cheapest
from planner_eval.comparison.explanation.sentences import CallNames, value_name
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Ref, Template, Unresolved, Value, contains_kind

MAX_EDITS = 1000
"""Edits up to which it is asked which of them are one mistake."""

_VALUE_CODES = frozenset({
    "reference.producer", "answer.producer", "argument.value", "argument.type", "reference.literal",
    "reference.unwanted",
})  # fmt: skip
_NAME_CODES = frozenset({"argument.missing", "argument.extra", "argument.renamed"})
_REFERENCE_TYPES = (Ref, Unresolved, Template)

CODES = {
    "step moved": "order.steps", "results swapped": "arguments.swapped",
    "values swapped": "arguments.swapped", "arguments swapped": "arguments.swapped",
    "arguments joined": "arguments.joined",
}  # fmt: skip
"""The codes of compound edits by name."""

IndexedEdits = Sequence[tuple[int, Draft]]
"""Edits with their positions among all."""


class Compound(NamedTuple):
    """What is proposed: the whole edit, or the data of one that holds the places and values of its edits."""

    data: Any = None
    edit: Draft | None = None


def merge_edits(edits: list[Draft], names: CallNames) -> tuple[list[Draft], bool]:
    """The edits with those that are one mistake as one, in the place of the first of them; if that is proved.

    Args:
        edits: What differs, argument by argument.
        names: How calls are called, and which are partners.
    """
    candidates = [
        (index, edit) for index, edit in enumerate(edits) if edit.code in _VALUE_CODES | _NAME_CODES
    ]
    if not 2 <= len(candidates) <= MAX_EDITS:
        return edits, len(candidates) < 2
    links = [*_find_wrong_values(candidates, names)]
    choice = choose_cheapest(
        [
            *_propose_moved_steps(links, names), *_propose_swapped_results(candidates, names),
            *_propose_swapped_values(links, names), *_propose_swapped_arguments(links, names),
            *_propose_joined_arguments(candidates),
        ]
    )  # fmt: skip
    merged: dict[int, Draft | None] = {}
    for proposal in choice.proposals:
        merged |= dict.fromkeys(proposal.edits)
        merged[proposal.edits[0]] = proposal.data.edit or _merge(proposal, edits)
    remaining = [merged.get(index, edit) for index, edit in enumerate(edits)]
    return [edit for edit in remaining if edit is not None], choice.exact


def _merge(proposal: Proposal, edits: list[Draft]) -> Draft:
    """One edit of those of a proposal; its values are an object of theirs, by place."""
    members = sorted((edits[index] for index in proposal.edits), key=_call_order)
    places = [Place(edit.pred and edit.pred.call, edit.pred and edit.pred.argument) for edit in members]
    pred_values = {place: edit.pred_value for place, edit in zip(places, members, strict=True)}
    gold_values = {place: edit.gold_value for place, edit in zip(places, members, strict=True)}
    (pred, gold), *others = ((edit.pred, edit.gold) for edit in members)
    code, data = CODES[proposal.name], proposal.data.data
    return Draft(proposal.name, code, pred, gold, pred_values, gold_values, tuple(others), data)


def _call_order(edit: Draft) -> tuple[bool, int]:
    """By the position of its call, the answer last."""
    call = edit.pred and edit.pred.call
    return call is None, call or 0


class _WrongValue(NamedTuple):
    """A wrong argument: its value and the right one, results by gold's positions of their calls.

    Args:
        number: The position of its edit among all.
        edit: The edit.
        place: Where it is in the prediction.
        call: Its call in gold; None for the answer.
        source: What it takes: a call, or a literal.
        gold_source: What gold takes.
    """

    number: int
    edit: Draft
    place: tuple[int, str]
    call: int | None
    source: Any
    gold_source: Any


def _find_wrong_values(edits: IndexedEdits, names: CallNames) -> Iterator[_WrongValue]:
    """The edits of whole values that are the result of a call with a partner, or hold no reference."""
    for index, edit in edits:
        pred, gold = edit.pred, edit.gold
        if pred is None or gold is None or pred.at or gold.at or edit.also or edit.code in _NAME_CODES:
            continue
        source = _source(edit.pred_value, names.to_gold)
        gold_source = _source(edit.gold_value, range(len(names.to_pred)))
        if source is not None and gold_source is not None:
            place = pred.call or 0, pred.argument or ""
            yield _WrongValue(index, edit, place, gold.call, source, gold_source)


def _source(value: Value, images: Sequence[int]) -> Any:
    """A call by its position in gold, or a literal's key; None for what is neither."""
    if type(value) is Ref:
        return images[value.call] if images[value.call] >= 0 else None
    return None if contains_kind(value, _REFERENCE_TYPES) else ("literal", value_key(value, OWN_POSITIONS))


def _propose(
    name: str, links: Sequence[_WrongValue], data: Any = None, edit: Draft | None = None
) -> Proposal:
    return Proposal(name, tuple(sorted(link.number for link in links)), Compound(data, edit))


# ---------------------------------------------------------------- steps
def _propose_moved_steps(wrong: Sequence[_WrongValue], names: CallNames) -> Iterator[Proposal]:
    """A step of a chain that stands elsewhere in it, and what takes its result, or should."""
    by_call: dict[int | None, list[_WrongValue]] = {}
    for link in wrong:
        missing = type(link.gold_source) is int and names.to_pred[link.gold_source] < 0
        if not missing:  # else it is the missing call's
            by_call.setdefault(link.call, []).append(link)
    links = [call_links[0] for call_links in by_call.values() if len(call_links) == 1]
    links.sort(key=lambda link: _call_order(link.edit))
    by_sources: dict[tuple[Any, Any], list[_WrongValue]] = {}
    for link in links:
        by_sources.setdefault((link.source, link.gold_source), []).append(link)
    for link in links if len(links) > 1 else ():
        if link.call is None:
            continue
        # what should take the step's result takes what the step should take; and the other way round
        left = by_sources.get((link.gold_source, link.call), [])
        joined = by_sources.get((link.call, link.source), [])
        calls = [member.call for member in (link, *left, *joined)]
        data = _find_move(link, left, joined, names)
        if data is not None and len({*calls}) == len(calls):
            yield _propose("step moved", (link, *left, *joined), data)


def _find_move(
    link: _WrongValue, left: list[_WrongValue], joined: list[_WrongValue], names: CallNames
) -> tuple[str, int, int | None, int | None] | None:
    """How a step stands elsewhere: in what way, the step, after and before what; None if by two mistakes."""
    assert link.call is not None
    call, source = link.call, link.source if isinstance(link.source, int) else None
    for other in left:
        if other.call == source is not None:
            return "reversed", call, other.call, call
    for other in joined:
        if other.call == link.gold_source:
            return "reversed", call, call, other.call
    if not joined and left and source is not None and _is_last_step(names, source, call):
        return "last", call, None, left[0].call
    last_in_gold = not left and joined and isinstance(link.gold_source, int)
    if last_in_gold and _is_last_step(names, call, link.gold_source):
        return "last in gold", call, joined[0].call, None
    return ("elsewhere", call, source, left[0].call) if left and joined else None


def _is_last_step(names: CallNames, gold: int, pred: int) -> bool:
    """Whether nothing takes a call's result in gold, nor another's in the prediction, by gold's places."""
    partner = names.to_pred[pred]
    gold_used = any(edge.producer == gold for edge in names.gold.edges)
    return not gold_used and not any(edge.producer == partner for edge in names.pred.edges)


# ---------------------------------------------------------------- joined arguments
def _propose_joined_arguments(edits: IndexedEdits) -> Iterator[Proposal]:
    """A text that holds, one beside another, what gold gives in several arguments of the call."""
    by_call: dict[int | None, list[tuple[int, Draft]]] = {}
    for index, edit in edits:
        if edit.pred and edit.gold and not edit.pred.at and not edit.also:
            by_call.setdefault(edit.pred.call, []).append((index, edit))
    for members in by_call.values():
        missing = [(index, edit) for index, edit in members if edit.code == "argument.missing"]
        for index, edit in members if missing else ():
            if type(edit.pred_value) is not str or edit.code not in _JOINED_CODES:
                continue
            own = [] if edit.code == "argument.extra" else [(index, edit)]
            remainder, pieces = edit.pred_value, list[tuple[int, Draft]]()
            for piece in sorted([*own, *missing], key=lambda piece: -len(_text(piece[1].gold_value))):
                text = _text(piece[1].gold_value)
                if text and text in remainder:
                    remainder, pieces = remainder.replace(text, "\0", 1), [*pieces, piece]
            complete = len(pieces) > 1 and all(piece in pieces for piece in own)
            if not complete or any(map(str.isalnum, remainder)):
                continue
            if any(is_distinctive(piece.gold_value) for _, piece in pieces):
                positions = sorted({index, *(position for position, _ in pieces)})
                gold_names = [piece.gold.argument for _, piece in sorted(pieces) if piece.gold]
                data = edit.pred, edit.pred_value, gold_names
                yield Proposal("arguments joined", tuple(positions), Compound(data))


def _text(value: Value) -> str:
    """A text as it is, a number as it is written; empty for what is neither."""
    return value if type(value) is str else value_name(value) if type(value) in (int, float) else ""


_JOINED_CODES = ("argument.value", "argument.type", "argument.renamed", "argument.extra")


# ---------------------------------------------------------------- results and values
def _propose_swapped_results(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """Two calls whose results are taken for one another."""
    groups: dict[frozenset[int], list[tuple[int, int, int | None]]] = {}
    for index, edit in edits:
        ref, gold_ref = edit.pred_value, edit.gold_value
        if edit.also or edit.pred is None or type(ref) is not Ref or type(gold_ref) is not Ref:
            continue
        image = names.to_gold[ref.call]
        if image >= 0 and names.to_pred[gold_ref.call] >= 0 and ref.call != edit.pred.call:
            groups.setdefault(frozenset((image, gold_ref.call)), []).append((index, image, edit.pred.call))
    for call_pair, group in groups.items():
        consumers = {consumer for _, _, consumer in group}
        if len({image for _, image, _ in group}) > 1 and len(consumers) > 1:
            indexes = tuple(index for index, _, _ in group)
            yield Proposal("results swapped", indexes, Compound((call_pair, consumers)))


def _propose_swapped_values(wrong: Sequence[_WrongValue], names: CallNames) -> Iterator[Proposal]:
    """Arguments of two calls, each with the value of the other's."""
    links = [link for link in wrong if link.call is not None and link.edit.code != "argument.type"]
    by_sources: dict[tuple[Any, Any], list[_WrongValue]] = {}
    for link in links:
        by_sources.setdefault((link.source, link.gold_source), []).append(link)
    groups: dict[tuple[int, int], list[tuple[_WrongValue, _WrongValue]]] = {}
    for (source, gold_source), same_links in by_sources.items():
        reverse_links = by_sources.get((gold_source, source), ())
        if len(same_links) == 1 == len(reverse_links):
            first, second = sorted((same_links[0], reverse_links[0]), key=lambda link: link.place)
            calls = first.place[0], second.place[0]
            if calls[0] != calls[1] and first is same_links[0] and _is_one_swap(first, second, names):
                groups.setdefault(calls, []).append((first, second))
    for pairs in groups.values():
        data = [(first.edit, second.edit) for first, second in pairs]
        yield _propose("values swapped", [link for pair in pairs for link in pair], data)


def _is_one_swap(first: _WrongValue, second: _WrongValue, names: CallNames) -> bool:
    """Whether two values that change places do so by one mistake: they say something, and are of a kind."""
    values = first.edit.pred_value, second.edit.pred_value
    references = type(values[0]) is Ref, type(values[1]) is Ref
    if any(references):
        ref, gold = (
            (values[0], second.edit.gold_value) if references[0] else (values[1], first.edit.gold_value)
        )
        literal = values[1] if references[0] else values[0]
        return not all(references) and ref.path == gold.path and is_distinctive(literal)
    tools = [names.pred.calls[link.place[0]].tool for link in (first, second)]
    identifying = all(is_identifier(link.place[1], link.edit.pred_value) for link in (first, second))
    informative = all(is_distinctive(value) or kind_name(value) == "number" for value in values)
    return first.place[1] == second.place[1] and (tools[0] == tools[1] or identifying) and informative


def _propose_swapped_arguments(wrong: Sequence[_WrongValue], names: CallNames) -> Iterator[Proposal]:
    """Two arguments of a call of which one has the other's value, which is wrong besides."""
    by_call: dict[int, list[_WrongValue]] = {}
    for link in wrong:
        if link.call is not None:
            by_call.setdefault(link.call, []).append(link)
    for call, links in by_call.items():
        calls = names.gold.calls[call], names.pred.calls[names.to_pred[call]]
        free = all(map(is_commutative, calls))
        pairs = [
            (first, second)
            for first in links
            for second in links
            if first is not second
            and first.source == second.gold_source
            and (free or _is_likely_swap(first, second))
        ]
        if len(pairs) != 1:
            continue
        ((first, second),) = pairs
        ref = first.edit.pred_value
        same_path = type(ref) is not Ref or ref.path == second.edit.gold_value.path
        if not same_path and second.source != first.gold_source:
            continue
        wrong_link, intended = (second, first) if same_path else (first, second)
        if free:
            edit = _make_operand_edit(wrong_link.edit, intended.edit, names)
            yield _propose("operand", (first, second), edit=edit)
            continue
        literals = type(second.source) is type(first.gold_source) is tuple
        unlike = wrong_link is second and literals and not _is_similar(second.edit, first.edit)
        data = first.edit, second.edit, wrong_link.edit, intended.edit, unlike
        yield _propose("arguments swapped", (first, second), data)


def _is_likely_swap(first: _WrongValue, second: _WrongValue) -> bool:
    """Whether it is no chance that an argument has another one's value."""
    if type(first.source) is int:
        return True
    listed = type(first.edit.pred_value) is list and len(first.edit.pred_value) > 1
    if not is_distinctive(first.edit.pred_value) and not listed:
        return False
    if type(second.source) is int or type(first.gold_source) is int:
        return True
    value_pairs = [(link.edit.pred_value, link.edit.gold_value) for link in (first, second)]
    texts = all(type(value) is str for pair in value_pairs for value in pair)
    return texts and not any(likeness(*pair) for pair in value_pairs)


def _is_similar(pred_edit: Draft, gold_edit: Draft) -> bool:
    """Whether a literal may be meant for another: two numbers may, two texts only when they are like."""
    pred_value, gold_value = pred_edit.pred_value, gold_edit.gold_value
    if kind_name(pred_value) == kind_name(gold_value) == "number":
        return True
    return likeness(pred_value, gold_value) >= MIN_LIKENESS


def _make_operand_edit(wrong: Draft, intended: Draft, names: CallNames) -> Draft:
    """The one wrong operand of two that may stand in either order."""
    pred_value, gold_value = wrong.pred_value, intended.gold_value
    code = {
        (True, True): "reference.producer", (True, False): "reference.unwanted",
        (False, True): "reference.literal", (False, False): "argument.value",
    }[type(pred_value) is Ref, type(gold_value) is Ref]  # fmt: skip
    if code == "reference.producer" and names.to_gold[pred_value.call] == gold_value.call:
        code = "reference.output"
    also = ((intended.pred, wrong.gold),)
    return Draft("operand", code, wrong.pred, intended.gold, pred_value, gold_value, also)
