"""One mistake that shows in several arguments: steps in another order, results and values exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.edits import Edit, Place
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.operands import either_order
from planner_eval.comparison.sentences import Names, output_name, place_name, value_name
from planner_eval.comparison.tries import ALMOST, identifies
from planner_eval.comparison.value_diff import kind_name
from planner_eval.plan.canonical import OWN, value_key
from planner_eval.plan.model import Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds

MOST = 1000
"""Edits up to which it is asked which of them are one mistake."""

ABOUT = 4
"""So many calls that a mistake shows in are told by name."""

_CODES = frozenset({
    "reference.producer", "answer.producer", "argument.value", "argument.type", "reference.literal",
    "reference.unwanted",
})  # fmt: skip
_LINKED = (Ref, Unresolved, Template)


def together(edits: list[Edit], names: Names) -> list[Edit]:
    """The edits with those that are one mistake as one, in the place of the first of them.

    Args:
        edits: What differs, argument by argument.
        names: How calls are called, and which are partners.
    """
    found = [edit for edit in edits if edit.code in _CODES]
    refer = any(edit.code not in ("argument.value", "argument.type") for edit in found)
    for find in (_steps, _results, _values, _sides) if refer else (_values, _sides):
        if not 2 <= len(found) <= MOST:
            break
        for made, parts in find(found, names):
            gone = {id(part) for part in parts}
            first = next(at for at, edit in enumerate(edits) if id(edit) in gone)
            edits = [
                made if at == first else edit
                for at, edit in enumerate(edits)
                if at == first or id(edit) not in gone
            ]
            found = [edit for edit in found if id(edit) not in gone]
    return edits


class _Link(NamedTuple):
    """A wrong argument: what it takes and what it should take, calls in gold's positions.

    Args:
        edit: The edit.
        call: Its call in gold; None for the answer.
        ours: What it takes.
        theirs: What gold takes.
    """

    edit: Edit
    call: int | None
    ours: Any
    theirs: Any


def _links(edits: Iterable[Edit], names: Names) -> Iterator[_Link]:
    """The edits of whole values that are the result of a call with a partner, or hold no reference."""
    for edit in edits:
        pred, gold = edit.pred, edit.gold
        if pred is None or gold is None or pred.at or gold.at or edit.also:
            continue
        ours, theirs = _taken(edit.pred_value, names.to_gold), _taken(edit.gold_value, None)
        if ours is not None and theirs is not None:
            yield _Link(edit, gold.call, ours, theirs)


def _taken(value: Value, images: Any) -> Any:
    """A call by its position in gold, or a literal's key; None for what is neither."""
    if type(value) is Ref:
        at = value.call if images is None else images[value.call]
        return at if at >= 0 else None
    return None if holds(value, _LINKED) else ("literal", value_key(value, OWN))


Found = Iterator[tuple[Edit, list[Edit]]]


# ---------------------------------------------------------------- steps
def _steps(edits: list[Edit], names: Names) -> Found:
    """A step of a chain that stands elsewhere in it, and what takes its result, or should."""
    by_call: dict[int | None, list[_Link]] = {}
    for link in _links(edits, names):
        if type(link.theirs) is not int or names.to_pred[link.theirs] >= 0:  # else it is the missing call's
            by_call.setdefault(link.call, []).append(link)
    links = [there[0] for there in by_call.values() if len(there) == 1]
    links.sort(key=lambda link: _written(link.edit))
    takes: dict[tuple[Any, Any], list[_Link]] = {}
    for link in links:
        takes.setdefault((link.ours, link.theirs), []).append(link)
    told: set[int | None] = set()
    for link in links if len(links) > 1 else ():
        if link.call is None:
            continue
        # what should take the step's result takes what the step should take; and the other way round
        left, joined = takes.get((link.theirs, link.call), []), takes.get((link.call, link.ours), [])
        calls = [part.call for part in (link, *left, *joined)]
        said = _moved(link, left, joined, names)
        if said is not None and len({*calls}) == len(calls) and told.isdisjoint(calls):
            told.update(calls)
            parts = [part.edit for part in (link, *left, *joined)]
            yield _one("order.steps", said, parts, names), parts


def _moved(link: _Link, left: list[_Link], joined: list[_Link], names: Names) -> str | None:
    """The sentence of a step that stands elsewhere; None where it may be two mistakes."""
    call = link.call
    assert call is not None
    for part, first, then in (
        *((part, part.call, call) for part in left if part.call == link.ours),
        *((part, call, part.call) for part in joined if part.call == link.theirs),
    ):
        if part.call is not None:
            tools = " → ".join(names.gold.calls[at].tool for at in (then, first) if at is not None)
            both = f"{names.theirs(first)} and {names.theirs(then)}"
            return f"{both} are in the other order: gold makes {tools}"
    if not joined and left and isinstance(link.ours, int) and _last_in(names, link.ours, call):
        return f"{names.theirs(call)} comes last, in gold before {names.theirs(left[0].call)}"
    if not left and joined and isinstance(link.theirs, int) and _last_in(names, call, link.theirs):
        return f"{names.theirs(call)} comes before {names.theirs(joined[0].call)}, in gold last"
    if not left or not joined:
        return None
    after = f"after {names.theirs(link.ours)}" if isinstance(link.ours, int) else "first"
    return f"{names.theirs(call)} comes {after}, in gold before {names.theirs(left[0].call)}"


def _last_in(names: Names, gold: int, pred: int) -> bool:
    """Whether nothing takes a call's result in gold, nor another's in the prediction, by gold's places."""
    partner = names.to_pred[pred]
    return not any(edge.producer == gold for edge in names.gold.edges) and not any(
        edge.producer == partner for edge in names.pred.edges
    )


# ---------------------------------------------------------------- results and values
def _results(edits: list[Edit], names: Names) -> Found:
    """Two calls whose results are taken for one another."""
    found: dict[frozenset[int], list[Edit]] = {}
    ways: dict[frozenset[int], set[int]] = {}
    for edit in edits:
        ours, theirs = edit.pred_value, edit.gold_value
        if edit.also or edit.pred is None or type(ours) is not Ref or type(theirs) is not Ref:
            continue
        image = names.to_gold[ours.call]
        if image >= 0 and names.to_pred[theirs.call] >= 0 and ours.call != edit.pred.call:
            both = frozenset((image, theirs.call))
            found.setdefault(both, []).append(edit)
            ways.setdefault(both, set()).add(image)
    for both, parts in found.items():
        if len(ways[both]) < 2 or len(calls := _calls(parts)) < 2:
            continue
        one, other = sorted(both, key=names.to_pred.__getitem__)
        where = _some([names.ours(at) for at in sorted(calls, key=_last)])
        said = f"the results of {names.theirs(one)} and {names.theirs(other)} are taken for one another in"
        if _relabelled(one, other, names):
            said = f"the labels of {names.theirs(one)} and {names.theirs(other)} are exchanged, as seen in"
        said = f"{said} {where}"
        yield _one("arguments.swapped", said, parts, names), parts


def _relabelled(one: int, other: int, names: Names) -> bool:
    """Whether two calls, by gold's positions, are written with the labels of one another's results."""
    ours = [names.pred.calls[names.to_pred[at]].returns for at in (one, other)]
    theirs = [names.gold.calls[at].returns for at in (other, one)]
    return ours == theirs and ours[0] != ours[1]


def _values(edits: list[Edit], names: Names) -> Found:
    """Arguments of two calls, each with the value of the other's."""
    links = [link for link in _links(edits, names) if link.call is not None]
    links = [link for link in links if link.edit.code != "argument.type"]
    known: dict[tuple[Any, Any], list[_Link]] = {}
    for link in links:
        known.setdefault((link.ours, link.theirs), []).append(link)
    groups: dict[tuple[int, int], list[tuple[_Link, _Link]]] = {}
    for (ours, theirs), there in known.items():
        back = known.get((theirs, ours), ())
        if len(there) == 1 == len(back):
            one, other = sorted((there[0], back[0]), key=_place)
            calls = _place(one)[0], _place(other)[0]
            if calls[0] != calls[1] and one is there[0] and _meant(one, other, names):
                groups.setdefault(calls, []).append((one, other))
    for pairs in groups.values():
        parts = [link.edit for pair in pairs for link in pair]
        yield _one("arguments.swapped", _exchange(pairs, names), parts, names), parts


def _place(link: _Link) -> tuple[int, str]:
    place = link.edit.pred
    assert place is not None
    return place.call or 0, place.argument or ""


def _meant(one: _Link, other: _Link, names: Names) -> bool:
    """Whether two values that change places do so by one mistake: they say something, and are of a kind."""
    values = one.edit.pred_value, other.edit.pred_value
    same = _place(one)[1] == _place(other)[1]
    tools = [names.pred.calls[_place(link)[0]].tool for link in (one, other)]
    paths = type(values[0]) is Ref, type(values[1]) is Ref
    if any(paths):
        ref, gold = (values[0], other.edit.gold_value) if paths[0] else (values[1], one.edit.gold_value)
        literal = values[1] if paths[0] else values[0]
        return not all(paths) and ref.path == gold.path and telling(literal)
    named = all(identifies(_place(link)[1], link.edit.pred_value) for link in (one, other))
    said = all(telling(value) or kind_name(value) == "number" for value in values)
    return same and (tools[0] == tools[1] or named) and said


def _exchange(pairs: list[tuple[_Link, _Link]], names: Names) -> str:
    """The sentence of two calls that have each other's values."""
    calls = [names.ours(_place(link)[0]) for link in pairs[0]]
    if all(_place(one)[1] == _place(other)[1] for one, other in pairs):
        quoted = [repr(_place(one)[1]) for one, _ in pairs]
        named = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
        first = pairs[0][0].edit, pairs[0][1].edit
        ours = [_gives(edit.pred_value, names.ours, names.our_number) for edit in first]
        given = f": the first {ours[0]}, the second {ours[1]}" if len(pairs) == 1 else ""
        return f"{calls[0]} and {calls[1]} have one another's {named}{given}"
    said = [
        f"{place_name(calls[0], _place(one)[1])} and {place_name(calls[1], _place(other)[1])}"
        for one, other in pairs
    ]
    return f"{', '.join(said)} are exchanged"


def _sides(edits: list[Edit], names: Names) -> Found:
    """Two arguments of a call of which one has the other's value, which is wrong besides."""
    by_call: dict[int, list[_Link]] = {}
    for link in _links(edits, names):
        if link.call is not None:
            by_call.setdefault(link.call, []).append(link)
    for call, links in by_call.items():
        free = either_order(names.gold.calls[call]) and either_order(names.pred.calls[names.to_pred[call]])
        pairs = [
            (one, other)
            for one in links
            for other in links
            if one is not other and one.ours == other.theirs and (free or _says(one, other))
        ]
        if len(pairs) != 1:
            continue
        (one, other), (ref, gold) = pairs[0], (pairs[0][0].edit.pred_value, pairs[0][1].edit.gold_value)
        whole = type(ref) is not Ref or ref.path == gold.path
        if not whole and other.ours != one.theirs:
            continue
        wrong, meant = (other, one) if whole else (one, other)
        parts = sorted((one.edit, other.edit), key=edits.index)
        if free:
            yield _operand(wrong, meant, names), parts
        else:
            yield _one("arguments.swapped", _exchanged(one, other, wrong, meant, names), parts, names), parts


def _says(one: _Link, other: _Link) -> bool:
    """Whether it is no chance that an argument has another one's value."""
    if type(one.ours) is int:
        return True
    listed = type(one.edit.pred_value) is list and len(one.edit.pred_value) > 1
    if not telling(one.edit.pred_value) and not listed:
        return False
    if type(other.ours) is int or type(one.theirs) is int:
        return True
    texts = all(
        type(value) is str for link in (one, other) for value in (link.edit.pred_value, link.edit.gold_value)
    )
    return texts and not any(likeness(link.edit.pred_value, link.edit.gold_value) for link in (one, other))


def _alike(ours: _Link, theirs: _Link) -> bool:
    """Whether a literal may be meant for another: two numbers may, two texts only when they are like."""
    one, other = ours.edit.pred_value, theirs.edit.gold_value
    return kind_name(one) == kind_name(other) == "number" or likeness(one, other) >= ALMOST


def _exchanged(one: _Link, other: _Link, wrong: _Link, meant: _Link, names: Names) -> str:
    """The sentence of two arguments of which one has the other's value."""
    here, mine = names.ours(_place(one)[0]), _place(wrong)[1]
    if wrong is other and type(other.ours) is type(one.theirs) is tuple and not _alike(other, one):
        value = _gives(other.edit.gold_value, names.theirs, names.their_number)
        given, lost = value_name(other.edit.pred_value, names.our_number), one.edit.gold_value
        said = f"{here}: argument {_place(one)[1]!r} {value}, which is gold's {_argument(other.edit.gold)!r}"
        missing = f"gold's {_argument(one.edit.gold)!r}, {value_name(lost, names.their_number)}, is missing"
        return f"{said}; {mine!r} is {given}, and {missing}"
    ours = _gives(wrong.edit.pred_value, names.ours, names.our_number)
    label = names.labelled(wrong.edit.pred_value)
    ours += f"{label}," if label else ""
    theirs = _gives(meant.edit.gold_value, names.theirs, names.their_number)
    named = " and ".join(repr(_argument(link.edit.gold)) for link in sorted((one, other), key=_place))
    both = f"{here}: arguments {named} are exchanged"
    return f"{both}, and {mine!r} {ours} where gold's {_argument(meant.edit.gold)!r} {theirs}"


def _operand(wrong: _Link, meant: _Link, names: Names) -> Edit:
    """The one wrong operand of two that may stand in either order."""
    ours, theirs = wrong.edit.pred_value, meant.edit.gold_value
    code = {
        (True, True): "reference.producer",
        (True, False): "reference.unwanted",
        (False, True): "reference.literal",
        (False, False): "argument.value",
    }[type(ours) is Ref, type(theirs) is Ref]
    if code == "reference.producer" and names.to_gold[ours.call] == theirs.call:
        code = "reference.output"
    here = place_name(names.ours(_place(wrong)[0]), _place(wrong)[1])
    said = f"{here} {_gives(ours, names.ours, names.our_number)}"
    if code == "reference.literal":
        said = f"{here} is the literal {value_name(ours, names.our_number)}"
    said += f", gold's {_argument(meant.edit.gold)!r} {_gives(theirs, names.theirs, names.their_number)}"
    rest = (meant.edit.pred, wrong.edit.gold)
    return Edit(code, said, wrong.edit.pred, meant.edit.gold, ours, theirs, also=(rest,))


def _argument(place: Place | None) -> str:
    return (place and place.argument) or ""


def _gives(value: Value, name: Callable[[int], str], number: Callable[[int], str]) -> str:
    """What an argument says: ``takes output id of f (call 1)``, ``is 7``."""
    return f"takes {output_name(value, name)}" if type(value) is Ref else f"is {value_name(value, number)}"


def _some(shown: list[str]) -> str:
    """Calls by name: ``f (call 1), g (call 2) and 3 more``."""
    return ", ".join(shown[:ABOUT]) + (f" and {len(shown) - ABOUT} more" if len(shown) > ABOUT else "")


def _calls(parts: list[Edit]) -> set[int | None]:
    return {part.pred.call for part in parts if part.pred is not None}


def _one(code: str, said: str, parts: list[Edit], names: Names) -> Edit:
    """One edit for several; its values are an object of theirs, by place."""
    parts = sorted(parts, key=_written)
    number: Callable[[Place | None], str] = lambda place: place_name(  # noqa: E731
        None if place is None or place.call is None else names.ours(place.call), place and place.argument
    )
    ours = {number(part.pred): part.pred_value for part in parts}
    theirs = {number(part.pred): part.gold_value for part in parts}
    places = [(part.pred, part.gold) for part in parts]
    return Edit(code, said, *places[0], ours, theirs, also=tuple(places[1:]))


def _written(edit: Edit) -> tuple[bool, int]:
    return _last(None if edit.pred is None else edit.pred.call)


def _last(call: int | None) -> tuple[bool, int]:
    """By position, the answer last."""
    return call is None, call or 0
