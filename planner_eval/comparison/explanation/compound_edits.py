"""One mistake that shows in several arguments: steps in another order, results and values exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.argument_names import is_commutative
from planner_eval.comparison.explanation.edits import Edit, Place, kind_name
from planner_eval.comparison.explanation.multi_call_edits import MIN_LIKENESS, is_identifier
from planner_eval.comparison.explanation.search import Proposal, choose_cheapest
from planner_eval.comparison.explanation.sentences import CallNames, output_name, place_name, value_name
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Ref, Template, Unresolved, Value, contains_kind

MAX_EDITS = 1000
"""Edits up to which it is asked which of them are one mistake."""

MAX_NAMED_CALLS = 4
"""So many calls that a mistake shows in are told by name."""

_MERGEABLE_CODES = frozenset({
    "reference.producer", "answer.producer", "argument.value", "argument.type", "reference.literal",
    "reference.unwanted",
})  # fmt: skip
_REFERENCE_TYPES = (Ref, Unresolved, Template)


_JOINABLE_CODES = frozenset({"argument.missing", "argument.extra", "argument.renamed"})

IndexedEdits = Sequence[tuple[int, Edit]]
"""Edits with their positions among all."""


def merge_edits(edits: list[Edit], names: CallNames) -> list[Edit]:
    """The edits with those that are one mistake as one, in the place of the first of them.

    Args:
        edits: What differs, argument by argument.
        names: How calls are called, and which are partners.
    """
    candidates = [
        (index, edit) for index, edit in enumerate(edits) if edit.code in _MERGEABLE_CODES | _JOINABLE_CODES
    ]
    if not 2 <= len(candidates) <= MAX_EDITS:
        return edits
    choice = choose_cheapest(proposal for propose in PROPOSALS for proposal in propose(candidates, names))
    merged: dict[int, Edit | None] = {}
    for proposal in choice.proposals:
        merged |= dict.fromkeys(proposal.edits)
        merged[proposal.edits[0]] = _COMPOUND_EDITS[proposal.name](proposal, edits, names)
    edits_or_none = (merged.get(index, edit) for index, edit in enumerate(edits))
    return [edit for edit in edits_or_none if edit is not None]


class _WrongArgument(NamedTuple):
    """A wrong argument: what it takes and what it should take, calls in gold's positions.

    Args:
        position: That of its edit among all.
        edit: The edit.
        call: Its call in gold; None for the answer.
        ours: What it takes.
        theirs: What gold takes.
    """

    position: int
    edit: Edit
    call: int | None
    ours: Any
    theirs: Any


def _find_wrong_arguments(edits: IndexedEdits, names: CallNames) -> Iterator[_WrongArgument]:
    """The edits of whole values that are the result of a call with a partner, or hold no reference."""
    for index, edit in edits:
        pred, gold = edit.pred, edit.gold
        if pred is None or gold is None or pred.at or gold.at or edit.also or edit.code in _JOINABLE_CODES:
            continue
        pred_source = _source_key(edit.pred_value, names.to_gold)
        gold_source = _source_key(edit.gold_value, None)
        if pred_source is not None and gold_source is not None:
            yield _WrongArgument(index, edit, gold.call, pred_source, gold_source)


def _source_key(value: Value, images: Any) -> Any:
    """A call by its position in gold, or a literal's key; None for what is neither."""
    if type(value) is Ref:
        position = value.call if images is None else images[value.call]
        return position if position >= 0 else None
    return None if contains_kind(value, _REFERENCE_TYPES) else ("literal", value_key(value, OWN_POSITIONS))


def _propose(name: str, links: Iterable[_WrongArgument], *data: Any) -> Proposal:
    return Proposal(name, tuple(sorted(link.position for link in links)), data)


# ---------------------------------------------------------------- steps
def _propose_moved_steps(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """A step of a chain that stands elsewhere in it, and what takes its result, or should."""
    by_call: dict[int | None, list[_WrongArgument]] = {}
    for link in _find_wrong_arguments(edits, names):
        if type(link.theirs) is not int or names.to_pred[link.theirs] >= 0:  # else it is the missing call's
            by_call.setdefault(link.call, []).append(link)
    links = [call_links[0] for call_links in by_call.values() if len(call_links) == 1]
    links.sort(key=lambda link: _edit_sort_key(link.edit))
    takes: dict[tuple[Any, Any], list[_WrongArgument]] = {}
    for link in links:
        takes.setdefault((link.ours, link.theirs), []).append(link)
    for link in links if len(links) > 1 else ():
        if link.call is None:
            continue
        # what should take the step's result takes what the step should take; and the other way round
        left, joined = takes.get((link.theirs, link.call), []), takes.get((link.call, link.ours), [])
        calls = [member.call for member in (link, *left, *joined)]
        message = _format_moved_step(link, left, joined, names)
        if message is not None and len({*calls}) == len(calls):
            yield _propose("step moved", (link, *left, *joined), message)


def _format_moved_step(
    link: _WrongArgument, left: list[_WrongArgument], joined: list[_WrongArgument], names: CallNames
) -> str | None:
    """The sentence of a step that stands elsewhere; None where it may be two mistakes."""
    call = link.call
    assert call is not None
    for other_link, first, then in (
        *((other_link, other_link.call, call) for other_link in left if other_link.call == link.ours),
        *((other_link, call, other_link.call) for other_link in joined if other_link.call == link.theirs),
    ):
        if other_link.call is not None:
            tools = " → ".join(names.gold.calls[i].tool for i in (then, first) if i is not None)
            call_names = f"{names.theirs(first)} and {names.theirs(then)}"
            return f"{call_names} are in the other order: gold makes {tools}"
    if not joined and left and isinstance(link.ours, int) and _is_last_step(names, link.ours, call):
        return f"{names.theirs(call)} comes last, in gold before {names.theirs(left[0].call)}"
    if not left and joined and isinstance(link.theirs, int) and _is_last_step(names, call, link.theirs):
        return f"{names.theirs(call)} comes before {names.theirs(joined[0].call)}, in gold last"
    if not left or not joined:
        return None
    after = f"after {names.theirs(link.ours)}" if isinstance(link.ours, int) else "first"
    return f"{names.theirs(call)} comes {after}, in gold before {names.theirs(left[0].call)}"


def _is_last_step(names: CallNames, gold: int, pred: int) -> bool:
    """Whether nothing takes a call's result in gold, nor another's in the prediction, by gold's places."""
    partner = names.to_pred[pred]
    return not any(edge.producer == gold for edge in names.gold.edges) and not any(
        edge.producer == partner for edge in names.pred.edges
    )


# ---------------------------------------------------------------- joined arguments
def _propose_joined_arguments(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """A text that holds, one beside another, what gold gives in several arguments of the call."""
    by_call: dict[int | None, list[tuple[int, Edit]]] = {}
    for index, edit in edits:
        if edit.pred and edit.gold and not edit.pred.at and not edit.also:
            by_call.setdefault(edit.pred.call, []).append((index, edit))
    for members in by_call.values():
        missing = [(index, edit) for index, edit in members if edit.code == "argument.missing"]
        for index, edit in members if missing else ():
            if type(edit.pred_value) is not str or edit.code not in _JOINED_CODES:
                continue
            own = [] if edit.code == "argument.extra" else [(index, edit)]
            remainder, pieces = edit.pred_value, list[tuple[int, Edit]]()
            for piece in sorted([*own, *missing], key=lambda piece: -len(_text_of(piece[1].gold_value))):
                text = _text_of(piece[1].gold_value)
                if text and text in remainder:
                    remainder, pieces = remainder.replace(text, "\0", 1), [*pieces, piece]
            complete = (
                len(pieces) > 1
                and all(piece in pieces for piece in own)
                and not any(map(str.isalnum, remainder))
            )
            if complete and any(is_distinctive(piece.gold_value) for _, piece in pieces):
                positions = sorted({index, *(position for position, _ in pieces)})
                gold_names = [_argument_name(piece.gold) for _, piece in sorted(pieces)]
                yield Proposal("arguments joined", tuple(positions), (edit, gold_names))


def _text_of(value: Value) -> str:
    """A text as it is, a number as it is written; empty for what is neither."""
    return value if type(value) is str else value_name(value) if type(value) in (int, float) else ""


def _format_joined_arguments(edit: Edit, gold_names: list[str], names: CallNames) -> str:
    place = place_name(names.ours(edit.pred and edit.pred.call), _argument_name(edit.pred))
    quoted = [repr(name) for name in gold_names]
    value = value_name(edit.pred_value, names.our_number)
    return f"{place} holds gold's {', '.join(quoted[:-1])} and {quoted[-1]} in one text, {value}"


_JOINED_CODES = ("argument.value", "argument.type", "argument.renamed", "argument.extra")


# ---------------------------------------------------------------- results and values
def _propose_swapped_results(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """Two calls whose results are taken for one another."""
    groups: dict[frozenset[int], list[int]] = {}
    images: dict[frozenset[int], set[int]] = {}
    consumers: dict[frozenset[int], set[int | None]] = {}
    for index, edit in edits:
        pred_ref, gold_ref = edit.pred_value, edit.gold_value
        if edit.also or edit.pred is None or type(pred_ref) is not Ref or type(gold_ref) is not Ref:
            continue
        image = names.to_gold[pred_ref.call]
        if image >= 0 and names.to_pred[gold_ref.call] >= 0 and pred_ref.call != edit.pred.call:
            call_pair = frozenset((image, gold_ref.call))
            groups.setdefault(call_pair, []).append(index)
            images.setdefault(call_pair, set()).add(image)
            consumers.setdefault(call_pair, set()).add(edit.pred.call)
    for call_pair, group in groups.items():
        if len(images[call_pair]) > 1 and len(consumers[call_pair]) > 1:
            yield Proposal("results swapped", tuple(group), (call_pair, consumers[call_pair]))


def _format_swapped_results(call_pair: frozenset[int], consumers: set[int | None], names: CallNames) -> str:
    first, second = sorted(call_pair, key=names.to_pred.__getitem__)
    where = _format_calls([names.ours(call) for call in sorted(consumers, key=_call_sort_key)])
    calls = f"{names.theirs(first)} and {names.theirs(second)}"
    if _has_swapped_labels(first, second, names):
        return f"the labels of {calls} are exchanged, as seen in {where}"
    return f"the results of {calls} are taken for one another in {where}"


def _has_swapped_labels(first: int, second: int, names: CallNames) -> bool:
    """Whether two calls, by gold's positions, are written with the labels of one another's results."""
    pred_labels = [names.pred.calls[names.to_pred[call]].returns for call in (first, second)]
    gold_labels = [names.gold.calls[call].returns for call in (second, first)]
    return pred_labels == gold_labels and pred_labels[0] != pred_labels[1]


def _propose_swapped_values(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """Arguments of two calls, each with the value of the other's."""
    links = [link for link in _find_wrong_arguments(edits, names) if link.call is not None]
    links = [link for link in links if link.edit.code != "argument.type"]
    by_sources: dict[tuple[Any, Any], list[_WrongArgument]] = {}
    for link in links:
        by_sources.setdefault((link.ours, link.theirs), []).append(link)
    groups: dict[tuple[int, int], list[tuple[_WrongArgument, _WrongArgument]]] = {}
    for (pred_source, gold_source), same_links in by_sources.items():
        reverse_links = by_sources.get((gold_source, pred_source), ())
        if len(same_links) == 1 == len(reverse_links):
            first, second = sorted((same_links[0], reverse_links[0]), key=_pred_location)
            calls = _pred_location(first)[0], _pred_location(second)[0]
            if calls[0] != calls[1] and first is same_links[0] and _is_one_swap(first, second, names):
                groups.setdefault(calls, []).append((first, second))
    for pairs in groups.values():
        yield _propose("values swapped", (link for pair in pairs for link in pair), pairs)


def _pred_location(link: _WrongArgument) -> tuple[int, str]:
    location = link.edit.pred
    assert location is not None
    return location.call or 0, location.argument or ""


def _is_one_swap(first: _WrongArgument, second: _WrongArgument, names: CallNames) -> bool:
    """Whether two values that change places do so by one mistake: they say something, and are of a kind."""
    values = first.edit.pred_value, second.edit.pred_value
    same = _pred_location(first)[1] == _pred_location(second)[1]
    tools = [names.pred.calls[_pred_location(link)[0]].tool for link in (first, second)]
    paths = type(values[0]) is Ref, type(values[1]) is Ref
    if any(paths):
        ref, gold = (values[0], second.edit.gold_value) if paths[0] else (values[1], first.edit.gold_value)
        literal = values[1] if paths[0] else values[0]
        return not all(paths) and ref.path == gold.path and is_distinctive(literal)
    identifying = all(
        is_identifier(_pred_location(link)[1], link.edit.pred_value) for link in (first, second)
    )
    informative = all(is_distinctive(value) or kind_name(value) == "number" for value in values)
    return same and (tools[0] == tools[1] or identifying) and informative


def _format_call_swap(pairs: list[tuple[_WrongArgument, _WrongArgument]], names: CallNames) -> str:
    """The sentence of two calls that have each other's values."""
    calls = [names.ours(_pred_location(link)[0]) for link in pairs[0]]
    if all(_pred_location(first)[1] == _pred_location(second)[1] for first, second in pairs):
        quoted = [repr(_pred_location(first)[1]) for first, _ in pairs]
        names_text = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
        first_edits = pairs[0][0].edit, pairs[0][1].edit
        pred_texts = [_format_value(edit.pred_value, names.ours, names.our_number) for edit in first_edits]
        example = f": the first {pred_texts[0]}, the second {pred_texts[1]}" if len(pairs) == 1 else ""
        return f"{calls[0]} and {calls[1]} have one another's {names_text}{example}"
    pair_texts = [
        f"{place_name(calls[0], _pred_location(first)[1])} and "
        f"{place_name(calls[1], _pred_location(second)[1])}"
        for first, second in pairs
    ]
    return f"{', '.join(pair_texts)} are exchanged"


def _propose_swapped_arguments(edits: IndexedEdits, names: CallNames) -> Iterator[Proposal]:
    """Two arguments of a call of which one has the other's value, which is wrong besides."""
    by_call: dict[int, list[_WrongArgument]] = {}
    for link in _find_wrong_arguments(edits, names):
        if link.call is not None:
            by_call.setdefault(link.call, []).append(link)
    for call, links in by_call.items():
        free = is_commutative(names.gold.calls[call]) and is_commutative(
            names.pred.calls[names.to_pred[call]]
        )
        pairs = [
            (first, second)
            for first in links
            for second in links
            if first is not second
            and first.ours == second.theirs
            and (free or _is_likely_swap(first, second))
        ]
        if len(pairs) != 1:
            continue
        (first, second), (ref, gold) = pairs[0], (pairs[0][0].edit.pred_value, pairs[0][1].edit.gold_value)
        same_path = type(ref) is not Ref or ref.path == gold.path
        if not same_path and second.ours != first.theirs:
            continue
        wrong, intended = (second, first) if same_path else (first, second)
        if free:
            yield _propose("operand", (first, second), wrong, intended)
        else:
            yield _propose("arguments swapped", (first, second), first, second, wrong, intended)


def _is_likely_swap(first: _WrongArgument, second: _WrongArgument) -> bool:
    """Whether it is no chance that an argument has another one's value."""
    if type(first.ours) is int:
        return True
    listed = type(first.edit.pred_value) is list and len(first.edit.pred_value) > 1
    if not is_distinctive(first.edit.pred_value) and not listed:
        return False
    if type(second.ours) is int or type(first.theirs) is int:
        return True
    texts = all(
        type(value) is str
        for link in (first, second)
        for value in (link.edit.pred_value, link.edit.gold_value)
    )
    return texts and not any(likeness(link.edit.pred_value, link.edit.gold_value) for link in (first, second))


def _is_similar(pred_link: _WrongArgument, gold_link: _WrongArgument) -> bool:
    """Whether a literal may be meant for another: two numbers may, two texts only when they are like."""
    pred_value, gold_value = pred_link.edit.pred_value, gold_link.edit.gold_value
    return (
        kind_name(pred_value) == kind_name(gold_value) == "number"
        or likeness(pred_value, gold_value) >= MIN_LIKENESS
    )


def _format_argument_swap(
    first: _WrongArgument,
    second: _WrongArgument,
    wrong: _WrongArgument,
    intended: _WrongArgument,
    names: CallNames,
) -> str:
    """The sentence of two arguments of which one has the other's value."""
    call_name, wrong_argument = names.ours(_pred_location(first)[0]), _pred_location(wrong)[1]
    if (
        wrong is second
        and type(second.ours) is type(first.theirs) is tuple
        and not _is_similar(second, first)
    ):
        value = _format_value(second.edit.gold_value, names.theirs, names.their_number)
        value_text, missing_value = (
            value_name(second.edit.pred_value, names.our_number),
            first.edit.gold_value,
        )
        first_name, second_name = _argument_name(first.edit.gold), _argument_name(second.edit.gold)
        message = (
            f"{call_name}: argument {_pred_location(first)[1]!r} {value}, which is gold's {second_name!r}"
        )
        missing = f"gold's {first_name!r}, {value_name(missing_value, names.their_number)}, is missing"
        return f"{message}; {wrong_argument!r} is {value_text}, and {missing}"
    pred_text = _format_value(wrong.edit.pred_value, names.ours, names.our_number)
    label = names.labelled(wrong.edit.pred_value)
    pred_text += f"{label}," if label else ""
    gold_text = _format_value(intended.edit.gold_value, names.theirs, names.their_number)
    names_text = " and ".join(
        repr(_argument_name(link.edit.gold)) for link in sorted((first, second), key=_pred_location)
    )
    arguments_text = f"{call_name}: arguments {names_text} are exchanged"
    gold_name = _argument_name(intended.edit.gold)
    return f"{arguments_text}, and {wrong_argument!r} {pred_text} where gold's {gold_name!r} {gold_text}"


def _make_operand_edit(wrong: _WrongArgument, intended: _WrongArgument, names: CallNames) -> Edit:
    """The one wrong operand of two that may stand in either order."""
    pred_value, gold_value = wrong.edit.pred_value, intended.edit.gold_value
    code = {
        (True, True): "reference.producer",
        (True, False): "reference.unwanted",
        (False, True): "reference.literal",
        (False, False): "argument.value",
    }[type(pred_value) is Ref, type(gold_value) is Ref]
    if code == "reference.producer" and names.to_gold[pred_value.call] == gold_value.call:
        code = "reference.output"
    location_name = place_name(names.ours(_pred_location(wrong)[0]), _pred_location(wrong)[1])
    message = f"{location_name} {_format_value(pred_value, names.ours, names.our_number)}"
    if code == "reference.literal":
        message = f"{location_name} is the literal {value_name(pred_value, names.our_number)}"
    message += (
        f", gold's {_argument_name(intended.edit.gold)!r} "
        f"{_format_value(gold_value, names.theirs, names.their_number)}"
    )
    other_places = (intended.edit.pred, wrong.edit.gold)
    return Edit(
        code, message, wrong.edit.pred, intended.edit.gold, pred_value, gold_value, also=(other_places,)
    )


def _argument_name(location: Place | None) -> str:
    return (location and location.argument) or ""


def _format_value(value: Value, name: Callable[[int], str], number: Callable[[int], str]) -> str:
    """What an argument says: ``takes output id of f (call 1)``, ``is 7``."""
    return f"takes {output_name(value, name)}" if type(value) is Ref else f"is {value_name(value, number)}"


def _format_calls(call_names: list[str]) -> str:
    """Calls by name: ``f (call 1), g (call 2) and 3 more``."""
    return ", ".join(call_names[:MAX_NAMED_CALLS]) + (
        f" and {len(call_names) - MAX_NAMED_CALLS} more" if len(call_names) > MAX_NAMED_CALLS else ""
    )


def _merge(code: str, sentence: Callable[..., str]) -> CompoundEdit:
    """What makes one edit of those of a proposal; its values are an object of theirs, by place."""

    def merge(proposal: Proposal, edits: Sequence[Edit], names: CallNames) -> Edit:
        members = sorted((edits[index] for index in proposal.edits), key=_edit_sort_key)
        places = [
            place_name(
                None if edit.pred is None or edit.pred.call is None else names.ours(edit.pred.call),
                edit.pred and edit.pred.argument,
            )
            for edit in members
        ]
        pred_values = {place: edit.pred_value for place, edit in zip(places, members, strict=True)}
        gold_values = {place: edit.gold_value for place, edit in zip(places, members, strict=True)}
        first, *others = ((edit.pred, edit.gold) for edit in members)
        message = sentence(*proposal.data, names)
        return Edit(code, message, *first, pred_values, gold_values, also=tuple(others))

    return merge


def _edit_sort_key(edit: Edit) -> tuple[bool, int]:
    return _call_sort_key(None if edit.pred is None else edit.pred.call)


def _call_sort_key(call: int | None) -> tuple[bool, int]:
    """By position, the answer last."""
    return call is None, call or 0


CompoundEdit = Callable[[Proposal, Sequence[Edit], CallNames], Edit]

PROPOSALS: tuple[Callable[[IndexedEdits, CallNames], Iterator[Proposal]], ...] = (
    _propose_moved_steps, _propose_swapped_results, _propose_swapped_values, _propose_swapped_arguments,
    _propose_joined_arguments,
)  # fmt: skip
"""What may be one mistake in the place of several; of those that save as much the first is taken."""

_COMPOUND_EDITS: dict[str, CompoundEdit] = {
    "step moved": _merge("order.steps", lambda message, names: message),
    "results swapped": _merge("arguments.swapped", _format_swapped_results),
    "values swapped": _merge("arguments.swapped", _format_call_swap),
    "arguments swapped": _merge("arguments.swapped", _format_argument_swap),
    "arguments joined": _merge("arguments.joined", _format_joined_arguments),
    "operand": lambda proposal, edits, names: _make_operand_edit(proposal.data[0], proposal.data[1], names),
}
"""The edit that each proposal makes, with its sentence."""
