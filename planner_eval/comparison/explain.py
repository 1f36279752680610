"""Finding edits: what differs, given which call stands for which."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.text import one_line
from planner_eval.comparison.align import Matching
from planner_eval.comparison.called import CallEdits
from planner_eval.comparison.contrast import Contrast
from planner_eval.comparison.edits import Edit, Place
from planner_eval.comparison.matching.order import Misplaced
from planner_eval.comparison.matching.pairing import MISSING, Side
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.operands import either_order
from planner_eval.comparison.others import NO_OTHERS, Accepted, Others
from planner_eval.comparison.positions import by_position
from planner_eval.comparison.renamed import nearest_names
from planner_eval.comparison.sentences import WIDTH, Names, links_of, path_name, place_name, value_name
from planner_eval.comparison.several import exchanged
from planner_eval.comparison.together import together
from planner_eval.comparison.value_diff import other_kind
from planner_eval.dialects.dialect import AFTER
from planner_eval.plan.model import Path, Plan, Ref, Value


def find_edits(matching: Matching, others: Others = NO_OTHERS) -> list[Edit]:
    """All differences, call by call in gold's order, then pred's extra calls, then order and answer."""
    edits: list[Edit] = []
    if matching.pairing is not None:
        waived = {Place(call) for call in matching.waived}
        open_to = Accepted(matching.policy, matching.terms, others)
        finder = _Finder(matching.pairing, open_to, ordered=matching.policy.order != "free")
        edits = [e for e in finder.all() if e.code != "call.missing" or e.gold not in waived]
        edits = together(edits, finder.names) if len(edits) > 1 else edits
    if matching.misplaced:
        names = Names.of(matching.pred, matching.gold, matching.alignment.pairs)
        edits += [_misplaced(names, found) for found in matching.misplaced]
    return edits


def _misplaced(names: Names, found: Misplaced) -> Edit:
    here, wanted = names.ours(found.pred), names.theirs(found.other)
    said = f"{here} is out of order: gold wants it {'after' if found.after else 'before'} {wanted}"
    return Edit("order.broken", said, Place(found.pred), Place(found.gold))


class _Finder(CallEdits):
    """Edits about calls, their arguments and the answer."""

    def all(self) -> Iterator[Edit]:
        for gold in range(len(self.gold.calls)):
            pred = self.pairing.to_pred[gold]
            if pred < 0:
                shown = self.given_to(self.gold, gold, self.names.theirs(gold), self.names.their_number)
                again = self.again(gold)
                said = f"gold's {shown} is missing{again}"
                yield Edit("call.missing", said, None, Place(gold), own=again)
            elif not self.pairing.equal(pred, gold):
                yield from self.name(pred, gold)
                yield from self.arguments(pred, gold)
        for pred in range(len(self.pred.calls)):
            if self.pairing.to_gold[pred] < 0:
                yield self.extra(pred)
        yield from self.order()
        yield from self.answer()

    def again(self, gold: int) -> str:
        """Which call that is right a missing one repeats; empty for none."""
        if self.made is None:
            self.made = self.right_twins()
        first = self.made.get(self.pairing.gold.numbered.numbers[gold])
        return "" if first is None else f": gold makes {self.names.their_number(first)} again"

    def right_twins(self) -> dict[int | None, int]:
        """The first call that is right of those of gold that are equal to a missing one, by their number."""
        numbers, found = self.pairing.gold.numbered.numbers, dict[int | None, int]()
        partners = [*enumerate(self.pairing.to_pred[: len(self.gold.calls)])]
        missing = {numbers[at] for at, pred in partners if pred < 0}
        for at, pred in partners:
            number = numbers[at]
            if pred < 0 or number is None or number in found or number not in missing:
                continue
            same = self.pairing.pred.tools[pred] == self.pairing.gold.tools[at]
            if same and not self.pairing.final(pred, at):
                found[number] = at
        return found

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
        if pred in self.objects:
            yield self.object(pred, gold)
        if gold in self.listed:
            many = self.listed[gold]
            yield self.many(pred, gold, many)
            told = {name for pair in many.names for name in pair}
            found = {name: part for name, part in found.items() if name not in told}
        if not found:
            return
        differ = [name for name in theirs if name in found]
        for circles in self.exchanged(ours, theirs, differ) if len(differ) > 1 else ():
            yield self.swapped(pred, gold, circles)
            differ = [name for name in differ if not any(name in names for names in circles)]
        yield from self.unlike_names(pred, gold, [*found], differ)

    def unlike_names(self, pred: int, gold: int, found: list[Any], differ: list[Any]) -> Iterator[Edit]:
        """The differing arguments of two partners, of which one may stand for another of another name.

        Args:
            pred: A call of pred.
            gold: Its partner.
            found: The names under which the two differ.
            differ: Those of gold, but for what is told already.
        """
        ours, theirs = self.pairing.pred.arguments(pred), self.pairing.gold.arguments(gold)
        left = dict.fromkeys(name for name in found if name not in theirs)
        absent = [name for name in differ if name not in ours]
        under = by_position(ours, left, theirs, absent, self.same(ours, theirs)) if left and absent else {}
        linked = self.linked(ours, theirs, differ, under) if AFTER in found else {}
        if linked:
            left.pop(AFTER, None)
            differ = [name for name in differ if name != AFTER]
        spare = self.doubles(ours, (name for name in left if name != AFTER))
        said: list[Edit | str] = []
        for name in differ:
            if name in under and self.same(ours, theirs)(under[name], name):
                both = [self.renamed(pred, gold, under[name], name)]
            else:
                both = [*self.values(pred, gold, name, linked.get(name), under.get(name))]
            left.pop(under.get(name), None)
            doubles = spare.get(theirs[name][:2]) if name not in linked else None
            if both or name in ours:
                said += both
            elif doubles:
                double = doubles.popleft()
                del left[double]
                said.append(self.renamed(pred, gold, double, name))
            else:
                said.append(name)
        lacking = [each for each in said if not isinstance(each, Edit)]
        near = nearest_names(ours, [*left], theirs, lacking) if left and lacking else {}
        for each in said:
            if isinstance(each, Edit):
                yield each
            elif each in near:
                del left[near[each]]
                yield self.renamed(pred, gold, near[each], each)
            else:
                yield self.beside(self.lacking(pred, gold, each), linked.get(each))
        for name in left:
            for edit in [*self.values(pred, gold, name)] or [self.surplus(pred, gold, name)]:
                yield self.beside(edit, linked.get(name))

    def same(self, ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> Callable[[Any, Any], bool]:
        """Whether an argument of the prediction is equal to one of gold's, whatever their names."""
        return lambda one, other: bool(self.key(ours[one]) == theirs[other][:2])

    def exchanged(
        self, ours: Mapping[Any, Any], theirs: Mapping[Any, Any], differ: list[Any]
    ) -> Iterable[list[list[str]]]:
        """Arguments whose values go round among them, those that take from the same calls together."""
        both = [name for name in differ if name in ours and type(name) is str]
        mine = {name: (ours[name][0], tuple(self.images[at] for at in ours[name][1])) for name in both}
        found: dict[Any, list[list[str]]] = {}
        for names in exchanged(mine, {name: theirs[name][:2] for name in both}):
            taken = frozenset(producer for name in names for producer in theirs[name][1])
            found.setdefault(taken or names[0], []).append(names)
        return found.values()

    def swapped(self, pred: int, gold: int, circles: list[list[str]]) -> Edit:
        names = [name for circle in circles for name in circle]
        one, other = (
            {name: self.written(side, at, name) for name in names}
            for side, at in ((self.pairing.pred, pred), (self.pairing.gold, gold))
        )
        here = self.place(self.pred, pred, names[0])
        kind = "values" if here.call is None else "arguments"
        quoted = [[repr(name) for name in circle] for circle in circles]
        named = ", ".join(f"{', '.join(each[:-1])} and {each[-1]}" for each in quoted)
        said = f"{self.names.ours(here.call)}: {kind} {named} are exchanged"
        both = here.call is not None and (self.pred.calls[pred], self.gold.calls[gold])
        if both and all(map(either_order, both)):
            said += ", which gives the same result"
        places = [(self.place(self.pred, pred, name), self.place(self.gold, gold, name)) for name in names]
        return self.edit("arguments.swapped", said, *places[0], one, other)._replace(also=tuple(places[1:]))

    def linked(
        self,
        ours: Mapping[Any, Any],
        theirs: Mapping[Any, Any],
        differ: Sequence[Any],
        under: Mapping[Any, Any],
    ) -> dict[Any, int]:
        """Wrong arguments for which a link without an argument, of one plan only, is right → its producer.

        The producer is by the prediction's position. Nothing unless each such link is for one of them.
        """
        if AFTER in ours and AFTER in theirs:
            return {}
        mine = AFTER in ours
        value = (ours if mine else theirs)[AFTER][2]
        links = value if type(value) is list else [value]
        if any(type(link) is not Ref for link in links):
            return {}
        images = self.pairing.to_pred
        free = {self.images[link.call] if mine else images[link.call]: link.call for link in links}
        if min(free, default=-1) < 0:
            return {}
        found: dict[Any, int] = {}
        other = {name: under.get(name, name) for name in differ}
        for name in differ if mine else dict.fromkeys([*differ, *(n for n in ours if n not in theirs)]):
            held = theirs[name] if mine else ours.get(other.get(name, name))
            if held is not None and name != AFTER and type(held[2]) is Ref and held[2].call in free:
                at = free.pop(held[2].call)
                found[name] = at if mine else held[2].call
        return {} if free else found

    def key(self, argument: Any) -> tuple[Any, tuple[Any, ...]]:
        """What makes an argument of the prediction equal to one of gold's under the pairing."""
        return argument[0], tuple(self.images[producer] for producer in argument[1])

    def doubles(self, ours: dict[Any, Any], names: Iterable[Any]) -> dict[Any, deque[Any]]:
        """Arguments by what makes two of them equal under the pairing, whatever their names."""
        found: dict[Any, deque[Any]] = {}
        for name in names:
            found.setdefault(self.key(ours[name]), deque()).append(name)
        return found

    def edit(self, code: str, said: str, pred: Place | None, gold: Place | None, *values: Value) -> Edit:
        """An edit of an argument, or of the answer where the place is the answer's."""
        place = pred or gold
        if place is not None and place.call is None:
            code = "answer." + code.partition(".")[2]
        return Edit(code, said, pred, gold, *values)

    def named(self, here: Place) -> str:
        """A place in the prediction."""
        if here.call in self.objects:
            return place_name(self.names.ours(here.call), here.at[0], here.at[1:])
        return place_name(None if here.call is None else self.names.ours(here.call), here.argument, here.at)

    def lacking(self, pred: int, gold: int, name: Any) -> Edit:
        there, value = self.place(self.gold, gold, name), self.written(self.pairing.gold, gold, name)
        here = self.place(self.pred, pred, name)
        if name == AFTER and (links := self.links(self.gold, gold, value)):
            return self.edit(
                "argument.missing",
                f"{self.names.ours(here.call)}: {links} is missing",
                here,
                there,
                None,
                value,
            )
        said = f"{self.named(here)} {self.contrast(gold, name).half('argument.missing', MISSING, value)}"
        said += self.right(gold, name) if self.open_to else ""
        return self.edit("argument.missing", said, here, there, None, value)

    def surplus(self, pred: int, gold: int, name: Any) -> Edit:
        here, value = self.place(self.pred, pred, name), self.written(self.pairing.pred, pred, name)
        there = self.place(self.gold, gold, name)
        links = self.links(self.pred, pred, value) if name == AFTER else ""
        said = (
            f"{self.names.ours(here.call)}: {links}"
            if links
            else f"{self.named(here)} = {self.said.ours(value)}"
        )
        said += " is not in gold" + self.elsewhere(pred, gold, name)
        return self.edit("argument.extra", said, here, there, value, None)

    def elsewhere(self, pred: int, gold: int, name: Any) -> str:
        """Which other call of gold's tool is given, under that name, what a call has too much."""
        given = self.pairing.pred.arguments(pred).get(name)
        if given is None or type(name) is not str or gold >= len(self.gold.calls) or not telling(given[2]):
            return ""
        alike = self.holders(self.pairing.gold.tools[gold], name, self.key(given))
        at = next((at for at in alike if at != gold), None)
        return "" if at is None else f"; gold gives it in {self.names.their_number(at)}"

    def links(self, plan: Plan, position: int, value: Value) -> str:
        """Links that no argument has: ``the link Look → Draw``; empty for anything else."""
        refs = links_of(AFTER, value) if position < len(plan.calls) else []
        if not refs:
            return ""
        tools = [plan.calls[ref.call].tool for ref in refs]
        return f"the link {' and '.join(tools)} → {plan.calls[position].tool}"

    def renamed(self, pred: int, gold: int, ours: Any, theirs: Any) -> Edit:
        here, there = self.place(self.pred, pred, ours), self.place(self.gold, gold, theirs)
        one, other = (
            self.written(self.pairing.pred, pred, ours),
            self.written(self.pairing.gold, gold, theirs),
        )
        said = f"{self.named(here)} holds what gold gives as {there.argument!r}"
        if not self.unlike.alike(one, other):
            half = self.contrast(gold, theirs).values(other_kind(one, other), one, other)
            said = f"{self.named(here)} stands for gold's {there.argument!r} and {half}"
            said += self.right(gold, theirs) if self.open_to else ""
        return self.edit("argument.renamed", said, here, there, one, other)

    def values(
        self, pred: int, gold: int, name: Any, linked: int | None = None, under: Any = None
    ) -> Iterator[Edit]:
        """Where the values of one argument differ that both give, be it only as a default.

        Args:
            pred: A call of pred.
            gold: Its partner.
            name: The argument.
            linked: Gold's producer in pred, where a link without an argument has it.
            under: What the prediction calls it.
        """
        under = name if under is None else under
        ours = self.compared(self.pairing.pred, pred, under)
        theirs = self.compared(self.pairing.gold, gold, name)
        if ours is MISSING or theirs is MISSING:
            return
        for at, code, one, other in self.unlike.walk(ours, theirs, ()):
            if not at:  # a policy may have changed what is compared; show what was written
                one = self.written(self.pairing.pred, pred, under)
                other = self.written(self.pairing.gold, gold, name)
            here, there = self.place(self.pred, pred, under, at), self.place(self.gold, gold, name, at)
            half = self.contrast(gold, name).half(code, one, other)
            if type(one) is Ref and one.call == pred:
                _, _, rest = half.partition(self.said.ours(one))
                half = f"names this call itself{rest if linked is None else ''}"
            elif type(one) is str and not at and (pred, name) in self.computed and half.startswith("is "):
                _, _, rest = half.partition(self.said.ours(one))
                half = f"is the expression {one_line(one, WIDTH)}{rest}" if rest else half
            if under != name:
                half = f"(gold's {name!r}) {half}"
            if self.open_to:
                half += self.right(gold, name, at)
            said = f"{self.named(here)} {half}"
            if name == AFTER and here.call is not None and type(one) is Ref and type(other) is Ref:
                said = f"{self.names.ours(here.call)} {half}"
            inside = here.at and here.call is not None and here.call not in self.objects
            own = f"{path_name(here.at)} {half}" if inside else None
            one, other = None if one is MISSING else one, None if other is MISSING else other
            found = self.edit(code, said, here, there, one, other)
            yield self.beside(found if own is None else found._replace(own=own), linked)

    def beside(self, edit: Edit, producer: int | None) -> Edit:
        """An edit of an argument whose link stands, right, beside it; as it is without a producer."""
        if producer is None or edit.also:
            return edit
        calls = [at.call for at in (edit.pred, edit.gold) if at is not None and at.call is not None]
        ends = f"{self.pred.calls[producer].tool} → {self.pred.calls[calls[0]].tool}"
        beside = Place(calls[0], AFTER), Place(calls[1], AFTER)
        return edit._replace(message=f"{edit.message}; the link {ends} is right", also=(beside,))

    def contrast(self, gold: int, name: Any) -> Contrast:
        """How values of an argument of gold are told beside others."""
        optional = gold < len(self.gold.calls) and self.open_to.is_optional(self.gold.calls[gold], name)
        return self.said_of_optional if optional else self.said

    def right(self, gold: int, name: Any, at: Path = ()) -> str:
        """What would be right besides gold's value, in brackets; empty where nothing would."""
        if not isinstance(name, str) or gold >= len(self.gold.calls):
            return ""
        call, value = self.gold.calls[gold], self.written(self.pairing.gold, gold, name)
        values = self.open_to.said(call, name, value, self.names.their_number)
        beside = [f"or {name!r} {values}" if at else f"or {values}"] if values else []
        if self.open_to.is_optional(call, name):
            beside.append(f"{name!r} is optional" if at else "optional")
        return f" ({', '.join(beside)})" if beside else ""

    def compared(self, side: Side, position: int, name: Any) -> Value:
        """An argument's value as the policy compares it, or as written where that takes it for left out."""
        found = side.arguments(position)
        return found[name][2] if name in found else self.written(side, position, name)
