"""A difference in words: one sentence that names the calls, the arguments, the values, the places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from planner_eval.base.text import format_count, one_line
from planner_eval.comparison.explanation.edits import (
    EMPTY_VALUES,
    Draft,
    Edit,
    Place,
    ValueData,
    ValueDiff,
    kind_difference_code,
    kind_name,
)
from planner_eval.comparison.explanation.names import (
    MAX_LISTED,
    MAX_TEXT_LENGTH,
    MAX_VALUE_LENGTH,
    CallNames,
    call_number,
    calls_numbers,
    compute_results,
    find_common_result,
    find_formulas,
    format_list,
    is_computed,
    links_of,
    name_odd_character,
    output_name,
    path_name,
    place_name,
    tell_apart,
    text_name,
    tool_label,
    value_name,
)
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Call, Path, Plan, Ref, Template, Unresolved, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

# ----------------------------------------------------------------------
# Two differing values beside each other: both in full, or what stands around their first difference.
_MAX_VISIBLE_OFFSET = MAX_VALUE_LENGTH - 22
"""A difference that starts later in two texts of which one is cut is not to be seen."""

_CONTEXT_BEFORE, _CONTEXT_AFTER = 24, 40
"""Characters shown before the first difference and after it."""

_MAX_SHOWN_VALUES = 3
"""So many further right values are named; of more it is said how many there are."""

MAX_NAMED_CALLS = 4
"""So many calls that a mistake shows in are told by name."""


class Wording:
    """The words for edits of two plans: ``SENTENCES`` says which method has those for which edit.

    Args:
        names: How calls are called.
        values: How two values differ.
    """

    def __init__(self, names: CallNames, values: ValueDiff) -> None:
        self.names, self.diff = names, values

    def write(self, draft: Draft) -> Edit:
        """An edit with its sentence."""
        sentence = self.SENTENCES[draft.name](self, draft)
        message, own = sentence if isinstance(sentence, tuple) else (sentence, None)
        if isinstance(draft.data, ValueData):
            message += self.aside(draft, draft.data)
        if "\\" in message or not message.isascii():
            message += self.odd_character(draft)
        values = self.by_place(draft.pred_value), self.by_place(draft.gold_value)
        return Edit(draft.code, message, draft.pred, draft.gold, *values, draft.cause, draft.also, own)

    def aside(self, draft: Draft, data: ValueData) -> str:
        """What is right beside a wrong argument, as the end of a sentence: a link, or a place."""
        if data.elsewhere:
            return f"; gold has it in {data.elsewhere!r}"
        if data.producer is None or not draft.also:
            return ""
        calls = self.names.pred.calls
        return (
            f"; the link {tool_label(calls[data.producer])} → {tool_label(calls[_call(draft.pred)])} is right"
        )

    def odd_character(self, draft: Draft) -> str:
        """Which character of a text or a name only looks like gold's, as the end of a sentence."""
        pred, gold, pred_value, gold_value = draft.pred, draft.gold, draft.pred_value, draft.gold_value
        if pred is not None and draft.name == "extra call":
            return name_odd_character(self.names.pred.calls[pred.call or 0].tool, None)
        if pred is not None and draft.name in ("renamed", "extra argument", "extra field"):
            expected = gold.argument if gold is not None and draft.name == "renamed" else None
            return name_odd_character(str(pred.at[-1]) if pred.at else pred.argument or "", expected)
        texts = type(pred_value) is str and type(gold_value) is str
        return name_odd_character(pred_value, gold_value) if texts else ""

    def by_place(self, value: Value) -> Value:
        """The values of a compound edit by the names of their places; any other value as it is."""
        if type(value) is not dict or not any(type(key) is Place for key in value):
            return value
        return {
            self.names.ours(place.call) if place.argument is None else self.place(place): item
            for place, item in value.items()
        }

    def pred(self, value: Value) -> str:
        """A value of the prediction."""
        if isinstance(value, (Ref, Unresolved)):
            return output_name(value, self.names.ours)
        return value_name(value, self.names.our_number)

    def gold(self, value: Value) -> str:
        """A value of gold."""
        if isinstance(value, (Ref, Unresolved)):
            return output_name(value, self.names.theirs)
        return value_name(value, self.names.their_number)

    def place(self, location: Place | None) -> str:
        """A place in the prediction; of an argument that stands in its call's one object its own name."""
        call, argument, path = location or Place()
        call_name = None if call is None else self.names.ours(call)
        if path and call in self.objects:
            return place_name(call_name, path[0], path[1:])
        return place_name(call_name, argument or "", path)

    objects: Collection[int] = ()
    """Calls of the prediction whose arguments all stand in one object."""

    failed: Sequence[Call] = ()
    """Calls of the prediction that failed and do not count."""

    # ------------------------------------------------------------ calls
    def _missing_call(self, draft: Draft) -> tuple[str, str]:
        position, names = _call(draft.gold), self.names
        call_text = _format_call(names.gold, position, names.theirs(position), names.their_number)
        repetition = f": gold repeats {names.their_number(draft.data)}" if draft.data is not None else ""
        repetition += self.tries(names.gold.calls[position])
        return f"gold's {call_text} is missing{repetition}", repetition

    def tries(self, gold_call: Call) -> str:
        """How often a call of gold was tried that failed each time, and with what other values."""
        tries = [call for call in self.failed if call.tool == gold_call.tool]
        gold_arguments = dict(gold_call.arguments)
        values: dict[str, dict[str, None]] = {}
        for call in tries:
            for name, value in call.arguments:
                path, value, gold_value = narrow_difference(value, gold_arguments.get(name, MISSING))
                if value != gold_value:
                    values.setdefault(argument_path_name(name, path), {})[value_name(value)] = None
        changes = ", ".join(f"{name}={format_list(texts)}" for name, texts in values.items())
        times = f" ×{len(tries)}" if len(tries) > 1 else ""
        return f"; tried{times} and failed{f', with {changes}' if changes else ''}" if tries else ""

    def _extra_call(self, draft: Draft) -> tuple[str, str]:
        position, names = _call(draft.pred), self.names
        call_text = _format_call(names.pred, position, names.ours(position), names.our_number)
        twin = names.gold_twin(position)
        if twin is None:
            return f"{call_text} is not in gold", ""
        partner = names.our_number(names.to_pred[twin])
        return f"{call_text} is extra: gold's call {twin + 1} is the same, but is compared with {partner}", ""

    def _repeated_call(self, draft: Draft) -> str:
        twin, paired = draft.data
        contrast = "gold makes this call less often" if paired else "gold makes neither call"
        repeats = "repeats" if twin < _call(draft.pred) else "is made again as"
        return f"{self.names.ours(_call(draft.pred))} {repeats} {self.names.our_number(twin)}; {contrast}"

    def _tried_call(self, draft: Draft) -> str:
        position, (near_call, values) = _call(draft.pred), draft.data
        call_name, near_name = self.names.ours(position), call_number(near_call, None)
        later = near_call < position
        if values[0][2] is MISSING:
            added = ", ".join(f"{name}={self.pred(value)}" for name, value, _ in values)
            repetition = f"it repeats {near_name} with {added} added"
            repetition = repetition if later else f"{near_name} repeats it without {added}"
        else:
            pairs = ((name, *((own, near) if later else (near, own))) for name, own, near in values)
            changes = ", ".join(self.change(*pair) for pair in pairs)
            repetition = f"it repeats {near_name}" if later else f"{near_name} repeats it"
            repetition = f"{repetition} with {changes}"
        return f"{call_name} is not in gold: {repetition}"

    def change(self, name: str, value: Value, other_value: Value) -> str:
        """Two values of the prediction: ``x=1 in place of 2``; of long ones where they differ."""
        path, value, other_value = narrow_difference(value, other_value)
        texts = self.pred(value), self.pred(other_value)
        if texts[0] == texts[1] and type(value) is str and type(other_value) is str:
            texts = _windows(value, other_value, _common_prefix_length(value, other_value))
        return f"{argument_path_name(name, path)}={texts[0]} in place of {texts[1]}"

    def _spelling(self, draft: Draft) -> str:
        pred, gold = _call(draft.pred), _call(draft.gold)
        if draft.gold_value == draft.pred_value:
            own, other = (
                f"tool {call.name!r} {f'of app {call.app!r}' if call.app else 'without an app'}"
                for call in (self.names.pred.calls[pred], self.names.gold.calls[gold])
            )
            return f"{self.names.ours(pred)} is {own}, expected {other}"
        return f"{self.names.ours(pred)}, expected spelling {draft.gold_value}"

    def _replaced_call(self, draft: Draft) -> str:
        pred, gold = _call(draft.pred), _call(draft.gold)
        tools = tool_label(self.names.pred.calls[pred]), tool_label(self.names.gold.calls[gold])
        pred_tool, gold_tool = tell_apart(*tools)
        return f"{pred_tool} ({self.names.our_number(pred)}) is called, expected {gold_tool}"

    def _listed_calls(self, draft: Draft) -> str:
        pred, gold, listed = draft.data
        if listed.merged:
            call_name = f"{self.names.ours(pred)} asks in one call, with {listed.pred_name!r}, for what gold"
            return f"{call_name} asks for in {calls_numbers((gold, *listed.parts))}"
        calls, tool = calls_numbers((pred, *listed.parts)), tool_label(self.names.pred.calls[pred])
        call_name = f"gold's {tool_label(self.names.gold.calls[gold])} (gold's call {gold + 1})"
        asked = f"what {call_name} asks for in one, with {listed.gold_name!r}"
        return f"{tool} ({calls}) asks in several calls for {asked}"

    def _early_call(self, draft: Draft) -> str:
        producer = self.names.ours(draft.data)
        return f"{self.names.ours(_call(draft.pred))} is written before {producer}, whose output it needs"

    def _misplaced_call(self, draft: Draft) -> str:
        other, after = draft.data
        where = f"{'after' if after else 'before'} {self.names.theirs(other)}"
        return f"{self.names.ours(_call(draft.pred))} is out of order, expected {where}"

    def _object_arguments(self, draft: Draft) -> str:
        call_name = self.names.ours(_call(draft.pred))
        return f"{call_name}: all arguments are in one object, {self.pred(draft.pred_value)}"

    # ------------------------------------------------------------ arguments
    def _missing_answer(self, draft: Draft) -> str:
        value = value_name(draft.gold_value, self.names.their_number)
        return f"the answer lacks {argument_name(draft.gold)!r}, expected {value}"

    def _extra_answer(self, draft: Draft) -> str:
        value = value_name(draft.pred_value, self.names.our_number)
        return f"the answer has an extra value {argument_name(draft.pred)!r} = {value}"

    def _exchange(self, draft: Draft) -> str:
        call = draft.pred and draft.pred.call
        kind = "values" if call is None else "arguments"
        return f"{self.names.ours(call)}: {kind} {format_list(map(repr, draft.pred_value))} are swapped" + (
            ", which changes nothing" if draft.data else ""
        )

    def _missing_argument(self, draft: Draft) -> str | tuple[str, str | None]:
        if links := self.links(self.names.gold, draft.gold, draft.gold_value):
            return f"{self.names.ours(draft.pred and draft.pred.call)}: {links} is missing"
        return self._value(draft)

    def _extra_argument(self, draft: Draft) -> str:
        what = f"{self.place(draft.pred)} = {self.pred(draft.pred_value)}"
        if links := self.links(self.names.pred, draft.pred, draft.pred_value):
            what = f"{self.names.ours(draft.pred and draft.pred.call)}: {links}"
        return f"{what} is not in gold"

    def links(self, plan: Plan, location: Place | None, value: Value) -> str:
        """Links that no argument has: ``the link Look → Draw``; empty for anything else."""
        if location is None or location.call is None:
            return ""
        tools = [tool_label(plan.calls[ref.call]) for ref in links_of(location.argument or "", value)]
        return f"the link {' and '.join(tools)} → {tool_label(plan.calls[location.call])}" if tools else ""

    def _renamed(self, draft: Draft) -> str:
        gold_name = argument_name(draft.gold)
        named = f"is at position {gold_name}" if gold_name.isdecimal() else f"is named {gold_name!r}"
        message = f"{self.place(draft.pred)} {named} in gold"
        if draft.name == "renamed":
            return message
        code = kind_difference_code(draft.pred_value, draft.gold_value)
        clause = self.contrast(code, draft.pred_value, draft.gold_value)
        return f"{message} and {clause}{self.accepted(draft)}"

    def _value(self, draft: Draft) -> tuple[str, str | None]:
        """The sentence about a value, and what it says where the list that it stands in is named already."""
        data, location, value = draft.data, draft.pred or Place(), draft.pred_value
        clause = self.clause(draft)
        if type(value) is Ref and value.call == location.call:
            _, _, remainder = clause.partition(self.pred(value))
            clause = f"refers to this call itself{remainder if data.producer is None else ''}"
        elif type(value) is str and data.computed and clause.startswith("is "):
            _, _, remainder = clause.partition(self.pred(value))
            expression = f"is the expression {one_line(value, MAX_VALUE_LENGTH)}{remainder}"
            clause = expression if remainder else clause
        if data.renamed:
            clause = f"(gold's {data.name!r}) {clause}"
        clause += self.accepted(draft)
        linked = type(value) is Ref and type(draft.gold_value) is Ref and data.name == DEPENDENCY_ARGUMENT
        is_link = linked and location.call is not None
        message = f"{self.names.ours(location.call) if is_link else self.place(location)} {clause}"
        if location.at and location.call is not None and location.call not in self.objects:
            return message, f"{path_name(location.at)} {clause}"
        own = f"{argument_name(location)!r} {clause}" if draft.name == "missing argument" else None
        return message, own

    def clause(self, draft: Draft) -> str:
        """The second half of a sentence: what the prediction says and what gold says."""
        pred_value, gold_value = draft.pred_value, draft.gold_value
        code = draft.code.partition(".")[2]
        if draft.name in ("missing argument", "missing field"):
            return f"is missing, expected {self.gold(gold_value)}"
        if draft.name == "extra field":
            return f"is {self.pred(pred_value)}, which is not in gold"
        if code == "literal":
            label = self.names.labelled(pred_value)
            comes = ", which comes to that" if self.comes_to(gold_value, pred_value) else ""
            return f"is the literal {self.pred(pred_value)}{label}, expected {self.gold(gold_value)}{comes}"
        if code == "unwanted":
            return f"uses {self.pred(pred_value)}, expected the literal {self.gold(gold_value)}"
        if code == "unresolved":
            return f"refers to {pred_value.name!r}, which no call returns; expected {self.gold(gold_value)}"
        if code in ("producer", "output"):
            return f"uses {self.pred(pred_value)}, expected {self.gold(gold_value)}"
        return self.contrast(f"argument.{code}", pred_value, gold_value)

    def comes_to(self, reference: Value, number: Value) -> bool:
        """Whether a call of gold that computes comes to a number."""
        plan = self.names.gold
        if type(number) not in (int, float) or type(reference) is not Ref:
            return False
        return is_computed(plan.calls[reference.call]) and compute_results(plan)[reference.call] == number

    def contrast(self, code: str, pred_value: Value, gold_value: Value) -> str:
        """The same of two values that are no outputs of calls, or not both."""
        pred_text, gold_text = tell_apart(self.pred(pred_value), self.gold(gold_value))
        if self.diff.shuffled(pred_value, gold_value):
            return f"has its items in a different order: {pred_text}, expected {gold_text}"
        pred_kind, gold_kind = kind_name(pred_value), kind_name(gold_value)
        if code == "argument.type" and pred_kind != gold_kind:
            label = self.names.labelled(pred_value)
            return f"is the {pred_kind} {pred_text}{label}, expected the {gold_kind} {gold_text}"
        cut = "…" in (pred_text[-1:], gold_text[-1:])
        has_reference = any(isinstance(value, (Ref, Unresolved)) for value in (pred_value, gold_value))
        if cut and not has_reference and (text := self.narrow(pred_value, gold_value)):
            return text
        return f"is {pred_text}{self.names.labelled(pred_value)}, expected {gold_text}"

    def narrow(self, pred_value: Value, gold_value: Value) -> str | None:
        """The same of long values where they differ; None where nothing but the whole says it."""
        if isinstance(pred_value, list) and isinstance(gold_value, list):
            return self.items(pred_value, gold_value)
        if not isinstance(pred_value, (str, Template)) or not isinstance(gold_value, (str, Template)):
            return None
        numbers = self.names.our_number, self.names.their_number
        texts = text_name(pred_value, numbers[0]), text_name(gold_value, numbers[1])
        offset = _common_prefix_length(*texts)
        if offset > _MAX_VISIBLE_OFFSET:
            return "differs at character {:,}: {}, expected {}".format(offset + 1, *_windows(*texts, offset))
        shown = (value_name(text, longest=MAX_TEXT_LENGTH) for text in texts)
        return "is {}, expected {}".format(*tell_apart(*shown))

    def items(self, pred_items: list[Value], gold_items: list[Value]) -> str | None:
        """The items of two lists that only one of them has; the first that differ of those of one length."""
        counts = len(pred_items), len(gold_items)
        sizes = f"has {format_count(counts[0], 'item')}, expected {counts[1]:,}"
        sizes = "differs" if counts[0] == counts[1] else sizes
        surplus, lacking = self.find_unshared(pred_items, gold_items)
        if not surplus and not lacking:  # equal items, in another number or order
            return None
        texts = []
        for pred, gold in zip(surplus, lacking, strict=False):
            path, *values = narrow_difference(pred_items[pred], gold_items[gold])
            texts.append(f"{path_name((pred, *path))} {self.contrast('', *values)}")
        shared = len(texts)
        texts += [
            f"[{item}] is {self.pred(pred_items[item])}, which is not in gold" for item in surplus[shared:]
        ]
        texts += [f"[{item}] is missing, expected {self.gold(gold_items[item])}" for item in lacking[shared:]]
        return f"{sizes}: {'; '.join(texts[:_MAX_SHOWN_VALUES])}"

    def find_unshared(self, pred_items: list[Value], gold_items: list[Value]) -> tuple[list[int], list[int]]:
        """Where the items stand that only one of two lists has."""
        pred_keys = [value_key(item, self.diff.images) for item in pred_items]
        gold_keys = [value_key(item, OWN_POSITIONS) for item in gold_items]
        surplus, lacking = (
            [number for number, key in enumerate(keys) if key not in others]
            for keys, others in ((pred_keys, {*gold_keys}), (gold_keys, {*pred_keys}))
        )
        return surplus, lacking

    def accepted(self, draft: Draft) -> str:
        """What would be right besides gold's value, in brackets; empty where nothing would."""
        data: ValueData = draft.data
        texts = [value_name(value, self.names.their_number) for value in data.accepted[:_MAX_SHOWN_VALUES]]
        more = len(data.accepted) - _MAX_SHOWN_VALUES
        values = " or ".join([*texts, f"{more} more"] if more > 0 else texts)
        notes = [f"or {data.name!r} {values}" if data.within else f"or {values}"] if values else []
        if data.optional:
            notes.append(f"{data.name!r} is optional" if data.within else "optional")
        return f" ({', '.join(notes)})" if notes else ""

    # ------------------------------------------------------------ compound edits
    def _steps(self, draft: Draft) -> str:
        golds, to_pred = [*draft.data], self.names.to_pred
        if len(golds) > 1 and self.chain(sorted(golds, key=to_pred.__getitem__)) == self.chain(golds):
            golds = sorted({_call(gold) for _, gold in draft.places})  # others came between them
        names = [self.names.theirs(call) for call in sorted(golds, key=to_pred.__getitem__)]
        if len(names) > 1:
            result = find_common_result(find_formulas(self.names.pred, self.names.gold))
            order = "in the wrong order" if result is None else "in another order"
            return f"{format_list(names)} are {order}, expected {self.chain(golds)}"
        place = next(pred for pred, gold in draft.places if gold and gold.call == draft.data[0])
        pred_value, gold_value = draft.pred_value[place], draft.gold_value[place]
        after = f"after {self.names.ours(pred_value.call)}" if type(pred_value) is Ref else "first"
        gold_after = f"after {self.names.theirs(gold_value.call)}" if type(gold_value) is Ref else "first"
        return f"{names[0]} comes {after}, expected {gold_after}"

    def _swapped_tools(self, draft: Draft) -> str:
        places = _pred_places(draft)
        calls = format_list(self.names.ours(place.call) for place in places)
        return f"{calls} have {'each other' if len(places) == 2 else 'one another'}'s tools"

    def _reordered_tools(self, draft: Draft) -> str:
        calls = format_list(self.names.ours(place.call) for place in _pred_places(draft))
        golds = sorted(_call(gold) for _, gold in draft.places)
        return f"{calls} are in the wrong order, expected {self.chain(golds)}"

    def _swapped_results(self, draft: Draft) -> str:
        calls = sorted(draft.data, key=self.names.to_pred.__getitem__)
        where = format_list(self.names.ours(call) for call in {p.call: None for p in _pred_places(draft)})
        return f"the results of {format_list(map(self.names.theirs, calls))} are swapped in {where}"

    def _swapped_values(self, draft: Draft) -> str:
        places = _pred_places(draft)
        calls = [self.names.ours(call) for call in {place.call: None for place in places}]
        arguments = {place.argument or "": None for place in places}
        message = f"{format_list(calls)} have swapped {format_list(map(repr, arguments))}"
        if len(places) > 2:
            return message
        first, second = (
            f"{'uses' if type(value) is Ref else 'is'} {self.pred(value)}"
            for value in draft.pred_value.values()
        )
        return f"{message}: the first {first}, the second {second}"

    def chain(self, golds: Iterable[int]) -> str:
        """Calls of gold in a row: ``f → g``."""
        return " → ".join(tool_label(self.names.gold.calls[gold]) for gold in golds)

    SENTENCES: ClassVar[dict[str, Callable[[Wording, Draft], str | tuple[str, str | None]]]] = {
        "missing call": _missing_call, "extra call": _extra_call,
        "repeated call": _repeated_call, "try": _tried_call, "spelling": _spelling,
        "replaced call": _replaced_call,
        "call.merged": _listed_calls, "call.split": _listed_calls,
        "early call": _early_call, "misplaced call": _misplaced_call,
        "argument.object": _object_arguments, "missing answer": _missing_answer,
        "extra answer": _extra_answer, "exchange": _exchange,
        "missing argument": _missing_argument, "extra argument": _extra_argument,
        "renamed": _renamed, "renamed and wrong": _renamed, "value": _value,
        "missing field": _value, "extra field": _value,
        "steps": _steps, "tools swapped": _swapped_tools, "tools in another order": _reordered_tools,
        "results swapped": _swapped_results, "values swapped": _swapped_values,
    }  # fmt: skip
    """The sentence of each edit by its name; with the part of it that may stand without the rest, if any."""


def format_names(names: Iterable[str]) -> str:
    """Different names in a row: ``'a', 'b', 'c', 'd' and 2 more``.

    >>> format_names("abba"), format_names("abcdef")
    ('a, b', 'a, b, c, d and 2 more')
    """
    texts = [*dict.fromkeys(names)]
    more = len(texts) - MAX_LISTED
    return ", ".join(texts[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _call(location: Place | None) -> int:
    """The call at a place where there is one."""
    return (location and location.call) or 0


def _pred_places(draft: Draft) -> list[Place]:
    return [pred for pred, _ in draft.places if pred is not None]


def argument_name(location: Place | None) -> str:
    """The name of the argument at a place; empty for none."""
    return (location and location.argument) or ""


def _format_call(plan: Plan, position: int, name: str, number: Callable[[int], str]) -> str:
    """A call with all that it is given."""
    arguments = [
        (argument, value, links_of(argument, value)) for argument, value in plan.calls[position].arguments
    ]
    after = [number(ref.call) for _, _, links in arguments for ref in links]
    values = [(argument, value) for argument, value, links in arguments if not links]
    telling = [pair for pair in values if pair[1] is not False and pair[1] not in EMPTY_VALUES]
    if len(values) - len(telling) <= MAX_LISTED:
        telling = values
    texts = [f"{argument}={value_name(value, number)}" for argument, value in telling]
    message = f"{name} with {', '.join(texts)}" if texts else name
    if telling is not values:
        message += f" ({len(values) - len(telling)} more are empty or false)"
    return f"{message}, which uses the result of {' and '.join(after)}," if after else message


def narrow_difference(first: Value, second: Value) -> tuple[Path, Value, Value]:
    """Where two values differ, if at one place, and what stands there.

    >>> narrow_difference([{"id": 1, "n": 5}], [{"id": 1, "n": 55}])
    ((0, 'n'), 5, 55)
    """
    path: Path = ()
    while True:
        if type(first) is list and type(second) is list and len(first) == len(second):
            steps: list[Any] = [
                n for n, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]
            ]
        elif type(first) is dict and type(second) is dict and first.keys() == second.keys():
            steps = [key for key in first if first[key] != second[key]]
        else:
            break
        if len(steps) != 1:
            break
        path, first, second = (*path, steps[0]), first[steps[0]], second[steps[0]]
    return path, first, second


def argument_path_name(name: str, path: Path) -> str:
    """An argument and the way into its value: ``rows[0].id``."""
    path_text = path_name(path)
    return f"{name}{'' if path_text[:1] in ('', '[') else '.'}{path_text}"


def _windows(first: str, second: str, offset: int) -> tuple[str, str]:
    """What stands in two texts around their first difference."""
    start, end = max(0, offset - _CONTEXT_BEFORE), offset + _CONTEXT_AFTER
    start = max(start, first.find(" ", start, offset) + 1)  # where a word begins, if one does
    return _window(first, start, end), _window(second, start, end)


def _window(text: str, start: int, end: int) -> str:
    line = one_line(json.dumps(text[start:end], ensure_ascii=False), 6 * (end - start) + 2)
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def _common_prefix_length(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_QUOTED_TEXT = r'…?"((?:[^"\\]|\\.)*+)(?:"…?|…)'
_TWO_TEXTS = rf"{_QUOTED_TEXT}, expected {_QUOTED_TEXT}(?= \(|$| \[|; )"
_WORD = r"\w+|\s+|[^\w\s]"


def mark_differences(sentence: str) -> list[tuple[str, bool]]:
    """A sentence about two texts in pieces, and whether each is what one of them does not have in common.

    Args:
        sentence: What an edit says, in any line.

    >>> [piece for piece, differs in mark_differences('x is "to Rome", expected "to Oslo"') if differs]
    ['Rome', 'Oslo']
    """
    match = re.search(_TWO_TEXTS, sentence)
    spans = [] if match is None else list(_find_differing_words(match))
    pieces, offset = [], 0
    for start, end in spans:
        pieces += [(sentence[offset:start], False), (sentence[start:end], True)]
        offset = end
    return [*pieces, (sentence[offset:], False)]


def _find_differing_words(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Where the words stand that only one of two texts has; nowhere where they have none in common."""
    from difflib import SequenceMatcher

    matches = [[*re.finditer(_WORD, match[group])] for group in (1, 2)]
    words = [[word[0] for word in tokens] for tokens in matches]
    steps = SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes()
    if not any(step == "equal" and words[0][start:end] != [" "] for step, start, end, _, _ in steps):
        return
    for side_index in (0, 1):
        base = match.start(side_index + 1)
        for step, *bounds in steps:
            first, last = bounds[2 * side_index : 2 * side_index + 2]
            if step != "equal" and first < last:
                yield base + matches[side_index][first].start(), base + matches[side_index][last - 1].end()
