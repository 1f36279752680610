"""Finding edits: what differs, given which call stands for which."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from planner_eval.comparison.align import Matching
from planner_eval.comparison.contrast import Contrast
from planner_eval.comparison.edits import Edit, Place
from planner_eval.comparison.habits import one_object
from planner_eval.comparison.matching.order import Misplaced
from planner_eval.comparison.matching.pairing import MISSING, Pairing, Side
from planner_eval.comparison.others import NO_OTHERS, Accepted, Others
from planner_eval.comparison.sentences import Names, calls_numbers, place_name, value_name
from planner_eval.comparison.several import Listed, chain, exchanged, listed
from planner_eval.comparison.value_diff import ValueDiff
from planner_eval.dialects.dialect import AFTER
from planner_eval.plan.model import Path, Plan, Ref, Value


def find_edits(matching: Matching, others: Others = NO_OTHERS) -> list[Edit]:
    """All differences, call by call in gold's order, then pred's extra calls, then order and answer."""
    edits: list[Edit] = []
    if matching.pairing is not None:
        waived = {Place(call) for call in matching.waived}
        open_to = Accepted(matching.policy, matching.terms, others)
        edits += _Finder(matching.pairing, open_to, ordered=matching.policy.order != "free").all()
        edits = [e for e in edits if e.code != "call.missing" or e.gold not in waived]
    if matching.misplaced:
        names = Names.of(matching.pred, matching.gold, matching.alignment.pairs)
        edits += [_misplaced(names, found) for found in matching.misplaced]
    return edits


def _misplaced(names: Names, found: Misplaced) -> Edit:
    here, wanted = names.ours(found.pred), names.theirs(found.other)
    said = f"{here} is out of order: gold wants it {'after' if found.after else 'before'} {wanted}"
    return Edit("order.broken", said, Place(found.pred), Place(found.gold))


class _Finder:
    """The two plans and the pairing, while edits are collected."""

    def __init__(self, pairing: Pairing, open_to: Accepted, *, ordered: bool) -> None:
        self.pairing, self.open_to, self.ordered = pairing, open_to, ordered
        self.pred: Plan = pairing.pred.numbered.plan
        self.gold: Plan = pairing.gold.numbered.plan
        self.names = Names(self.pred, self.gold, pairing.to_gold, pairing.to_pred)
        self.first: dict[int | None, int] = {}
        self.images: list[Any] = [*pairing.to_gold]
        self.unlike = ValueDiff(pairing.to_gold)
        self.said = Contrast(self.names, self.unlike.alike)
        self.listed = listed(pairing, self.images)
        self.given: dict[tuple[int, int], dict[str, list[Value]]] = {}

    def all(self) -> Iterator[Edit]:
        for gold in range(len(self.gold.calls)):
            pred = self.pairing.to_pred[gold]
            if pred < 0:
                shown = self.given_to(self.gold, gold, self.names.theirs(gold), self.names.their_number)
                yield Edit("call.missing", f"gold's {shown} is missing", None, Place(gold))
            elif not self.pairing.equal(pred, gold):
                yield from self.name(pred, gold)
                yield from self.arguments(pred, gold)
        for pred in range(len(self.pred.calls)):
            if self.pairing.to_gold[pred] < 0:
                yield self.extra(pred)
        yield from self.order()
        yield from self.answer()

    def name(self, pred: int, gold: int) -> Iterator[Edit]:
        ours, theirs = self.pred.calls[pred], self.gold.calls[gold]
        if (ours.app, ours.name) == (theirs.app, theirs.name):
            return
        here = self.names.ours(pred)
        values: tuple[str | None, str | None] = ours.tool, theirs.tool
        if self.pairing.pred.tools[pred] == self.pairing.gold.tools[gold]:
            said = f"{here} is gold's {theirs.tool}"
            yield Edit("name.spelling", said, Place(pred), Place(gold), *values)
            return
        said, calls = f"{here} stands for gold's {theirs.tool}", [gold]
        code = "app.changed" if ours.name == theirs.name else "call.replaced"
        if code == "app.changed":
            values = ours.app, theirs.app
        else:
            calls = chain(self.pairing, pred, gold)
        if len(calls) > 1:
            tools = " → ".join(self.gold.calls[at].tool for at in calls)
            said = f"{here} stands for gold's {tools} (gold's {calls_numbers(calls)})"
        also = tuple((None, Place(at)) for at in calls if at != gold)
        yield Edit(code, said, Place(pred), Place(gold), *values, also=also)

    def extra(self, pred: int) -> Edit:
        twin = self.twin(pred)
        if twin is None:
            shown = self.given_to(self.pred, pred, self.names.ours(pred), self.names.our_number)
            said = f"{shown} is not in gold"
            return Edit("call.extra", said, Place(pred), None)
        said = f"{self.names.ours(pred)} repeats {self.names.our_number(twin)}; gold makes it less often"
        return Edit("call.duplicated", said, Place(pred), None)

    def given_to(self, plan: Plan, position: int, name: str, number: Callable[[int], str]) -> str:
        """A call with all that it is given."""
        given = plan.calls[position].arguments
        shown = ", ".join(f"{name}={value_name(value, number)}" for name, value in given)
        return f"{name} with {shown}" if shown else name

    def twin(self, pred: int) -> int | None:
        """A paired call of pred that equals an extra one."""
        numbers = self.pairing.pred.numbered.numbers
        if not self.first:
            for at in range(len(self.pred.calls) - 1, -1, -1):
                if self.pairing.to_gold[at] >= 0 and numbers[at] is not None:
                    self.first[numbers[at]] = at
        return self.first.get(numbers[pred])

    def answer(self) -> Iterator[Edit]:
        ours, theirs = self.pred.answer or (), self.gold.answer or ()
        if ours and theirs:
            yield from self.arguments(len(self.pred.calls), len(self.gold.calls))
            return
        for name, value in theirs:
            said = f"the answer lacks {name!r}, gold gives {value_name(value, self.names.their_number)}"
            yield Edit("answer.missing", said, None, Place(None, name), None, value)
        for name, value in ours:
            shown = value_name(value, self.names.our_number)
            said = f"the answer names {name!r} = {shown}, gold names none"
            yield Edit("answer.extra", said, Place(None, name), None, value)

    def arguments(self, pred: int, gold: int) -> Iterator[Edit]:
        """The differing arguments of two partners, gold's first."""
        ours, theirs = self.pairing.pred.arguments(pred), self.pairing.gold.arguments(gold)
        found = self.pairing.final(pred, gold)
        if gold in self.listed:
            many = self.listed[gold]
            yield self.many(pred, gold, many)
            found = {name: part for name, part in found.items() if name not in (many.ours, many.theirs)}
        differ = [name for name in theirs if name in found]
        for names in self.exchanged(ours, theirs, differ) if len(differ) > 1 else ():
            yield self.swapped(pred, gold, names)
            differ = [name for name in differ if name not in names]
        left = dict.fromkeys(name for name in found if name not in theirs)
        linked = self.linked(ours, theirs, differ) if AFTER in left else {}
        if linked:
            del left[AFTER]
        spare = self.doubles(ours, left)
        for name in differ:
            both = [*self.values(pred, gold, name, linked.get(name))]
            if name in ours or both:
                yield from both
                continue
            doubles = spare.get(theirs[name][:2])
            if doubles:
                double = doubles.popleft()
                del left[double]
                yield self.renamed(pred, gold, double, name)
            else:
                yield self.lacking(pred, gold, name)
        for name in left:
            yield from [*self.values(pred, gold, name)] or [self.surplus(pred, gold, name)]

    def exchanged(
        self, ours: Mapping[Any, Any], theirs: Mapping[Any, Any], differ: list[Any]
    ) -> Iterable[list[str]]:
        """Arguments whose values go round among them."""
        both = [name for name in differ if name in ours and type(name) is str]
        mine = {name: (ours[name][0], tuple(self.images[at] for at in ours[name][1])) for name in both}
        return exchanged(mine, {name: theirs[name][:2] for name in both})

    def swapped(self, pred: int, gold: int, names: list[str]) -> Edit:
        one, other = (
            {name: self.written(side, at, name) for name in names}
            for side, at in ((self.pairing.pred, pred), (self.pairing.gold, gold))
        )
        here = self.place(self.pred, pred, names[0])
        kind = "values" if here.call is None else "arguments"
        quoted = [repr(name) for name in names]
        named = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
        said = f"{self.names.ours(here.call)}: {kind} {named} are exchanged"
        places = [(self.place(self.pred, pred, name), self.place(self.gold, gold, name)) for name in names]
        return self.edit("arguments.swapped", said, *places[0], one, other)._replace(also=tuple(places[1:]))

    def many(self, pred: int, gold: int, many: Listed) -> Edit:
        """A call that asks in a list what gold asks call by call, or the other way round."""
        here, there = self.place(self.pred, pred, many.ours), self.place(self.gold, gold, many.theirs)
        if many.merged:
            calls = calls_numbers((gold, *many.parts))
            said = f"{self.names.ours(pred)} holds in {many.ours!r} what gold asks in its {calls}"
        else:
            calls, tool = calls_numbers((pred, *many.parts)), self.pred.calls[pred].tool
            one = f"gold's {self.gold.calls[gold].tool} (gold's call {gold + 1})"
            said = f"{tool} ({calls}) asks one by one what {one} asks in {many.theirs!r}"
        alone = (Place(at) for at in many.parts)
        return Edit(
            "call.merged" if many.merged else "call.split", said, here, there,
            self.written(self.pairing.pred, pred, many.ours),
            self.written(self.pairing.gold, gold, many.theirs),
            also=tuple((None, at) if many.merged else (at, None) for at in alone),
        )  # fmt: skip

    def linked(self, ours: Mapping[Any, Any], theirs: Mapping[Any, Any], differ: list[Any]) -> dict[Any, int]:
        """Wrong arguments of pred for which a link without an argument has gold's producer → the producer.

        Nothing unless each such link of the call is for one of them.
        """
        value = ours[AFTER][2]
        links = value if type(value) is list else [value]
        if any(type(link) is not Ref for link in links):
            return {}
        free = {self.images[link.call]: link.call for link in links}
        found = {
            name: free.pop(theirs[name][2].call)
            for name in differ
            if name in ours and type(theirs[name][2]) is Ref and theirs[name][2].call in free
        }
        return {} if free else found

    def doubles(self, ours: dict[Any, Any], names: Iterable[Any]) -> dict[Any, deque[Any]]:
        """Arguments by what makes two of them equal under the pairing, whatever their names."""
        found: dict[Any, deque[Any]] = {}
        for name in names:
            key, producers, _ = ours[name]
            mapped = tuple(self.images[producer] for producer in producers)
            found.setdefault((key, mapped), deque()).append(name)
        return found

    def edit(self, code: str, said: str, pred: Place | None, gold: Place | None, *values: Value) -> Edit:
        """An edit of an argument, or of the answer where the place is the answer's."""
        place = pred or gold
        if place is not None and place.call is None:
            code = "answer." + code.partition(".")[2]
        return Edit(code, said, pred, gold, *values)

    def place(self, plan: Plan, position: int, name: Any, at: Path = ()) -> Place:
        call = position if position < len(plan.calls) else None
        return Place(call, name if isinstance(name, str) else name[0], at)

    def named(self, here: Place) -> str:
        """A place in the prediction."""
        call = None if here.call is None else self.names.ours(here.call)
        return place_name(call, here.argument, here.at)

    def lacking(self, pred: int, gold: int, name: Any) -> Edit:
        there, value = self.place(self.gold, gold, name), self.written(self.pairing.gold, gold, name)
        here = self.place(self.pred, pred, name)
        said = f"{self.named(here)} is missing, gold gives {self.said.theirs(value)}"
        said += self.right(gold, name) if self.open_to else ""
        held = one_object(self.pred.calls[pred]) if here.call is not None else None
        if held is not None and here.argument in held:
            said += f"; its one object holds {self.said.ours(held[here.argument])} there"
        return self.edit("argument.missing", said, here, there, None, value)

    def surplus(self, pred: int, gold: int, name: Any) -> Edit:
        here, value = self.place(self.pred, pred, name), self.written(self.pairing.pred, pred, name)
        there = self.place(self.gold, gold, name)
        said = f"{self.named(here)} = {self.said.ours(value)} is not in gold"
        return self.edit("argument.extra", said, here, there, value, None)

    def renamed(self, pred: int, gold: int, ours: Any, theirs: Any) -> Edit:
        here, there = self.place(self.pred, pred, ours), self.place(self.gold, gold, theirs)
        value = self.written(self.pairing.pred, pred, ours)
        said = f"{self.named(here)} holds what gold gives as {there.argument!r}"
        return self.edit(
            "argument.renamed", said, here, there, value, self.written(self.pairing.gold, gold, theirs)
        )

    def values(self, pred: int, gold: int, name: Any, linked: int | None = None) -> Iterator[Edit]:
        """Where the values of one argument differ that both give, be it only as a default.

        Args:
            pred: A call of pred.
            gold: Its partner.
            name: The argument.
            linked: Gold's producer in pred, where a link without an argument has it.
        """
        ours = self.compared(self.pairing.pred, pred, name)
        theirs = self.compared(self.pairing.gold, gold, name)
        if ours is MISSING or theirs is MISSING:
            return
        for at, code, one, other in self.unlike.walk(ours, theirs, ()):
            if not at:  # a policy may have changed what is compared; show what was written
                one = self.written(self.pairing.pred, pred, name)
                other = self.written(self.pairing.gold, gold, name)
            here, there = self.place(self.pred, pred, name, at), self.place(self.gold, gold, name, at)
            half = self.said.half(code, one, other)
            if type(one) is Ref and one.call == pred:
                half = f"names this call itself{half[half.index(', gold') :] if linked is None else ''}"
            said = f"{self.named(here)} {half}"
            if self.open_to:
                said += self.right(gold, name, at)
            one, other = None if one is MISSING else one, None if other is MISSING else other
            found = self.edit(code, said, here, there, one, other)
            yield found if linked is None else self.beside(found, linked)

    def beside(self, edit: Edit, producer: int) -> Edit:
        """An edit of an argument whose link stands, right, beside it."""
        calls = [at.call for at in (edit.pred, edit.gold) if at is not None and at.call is not None]
        ends = f"{self.pred.calls[producer].tool} → {self.pred.calls[calls[0]].tool}"
        beside = Place(calls[0], AFTER), Place(calls[1], AFTER)
        return edit._replace(message=f"{edit.message}; the link {ends} is right", also=(beside,))

    def right(self, gold: int, name: Any, at: Path = ()) -> str:
        """What would be right besides gold's value, in brackets; empty where nothing would."""
        if not isinstance(name, str) or gold >= len(self.gold.calls):
            return ""
        value = self.written(self.pairing.gold, gold, name)
        found = self.open_to.said(self.gold.calls[gold], name, value, self.names.their_number)
        return f" (or {name!r} {found})" if at and found else f" (or {found})" if found else ""

    def compared(self, side: Side, position: int, name: Any) -> Value:
        """An argument's value as the policy compares it, or as written where that takes it for left out."""
        found = side.arguments(position)
        return found[name][2] if name in found else self.written(side, position, name)

    def written(self, side: Side, position: int, name: Any) -> Value:
        """An argument's value as the plan has it, before any policy; MISSING where it has none."""
        given = self.given.get((id(side), position))
        if given is None:
            given = self.given[id(side), position] = _given(side.numbered.plan, position)
        wanted, copy = (name, 1) if isinstance(name, str) else name
        values = given.get(wanted, ())
        if copy <= len(values):
            return values[copy - 1]
        found = side.arguments(position)
        return found[name][2] if name in found else MISSING

    def order(self) -> Iterator[Edit]:
        """Calls written before one they need, where gold does not write them so; circles aside.

        What the call should not need, and needs nothing that comes as late, is the prediction's value.
        """
        numbered = self.pairing.pred.numbered
        if not numbered.forward or not self.ordered:
            return
        for pred, producer in numbered.early():
            gold, image = self.pairing.to_gold[pred], self.pairing.to_gold[producer]
            if gold >= 0 and (image < 0 or image < gold):
                said = (
                    f"{self.names.ours(pred)} is written before "
                    f"{self.names.ours(producer)}, whose output it needs"
                )
                needed = self.pairing.gold.numbered.producers(gold)
                late = image in needed or any(self.pairing.to_pred[at] > pred for at in needed)
                yield Edit("order.broken", said, Place(pred), Place(gold), None if late else Ref(producer))


def _given(plan: Plan, position: int) -> dict[str, list[Value]]:
    """The values of each argument of a call, or of each name of the answer."""
    given: dict[str, list[Value]] = {}
    for name, value in plan.calls[position].arguments if position < len(plan.calls) else plan.answer or ():
        given.setdefault(name, []).append(value)
    return given
