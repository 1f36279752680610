"""A difference in words: one sentence that names the calls, the arguments, the values, the places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from planner_eval.base.text import one_line, one_line_json
from planner_eval.comparison.explanation.edits import (
    Draft,
    Edit,
    Place,
    ValueData,
    ValueDiff,
    kind_difference_code,
    kind_name,
    name_type_difference,
)
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.plan.model import Call, Path, Plan, Ref, Template, Unresolved, Value, fold
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

# ----------------------------------------------------------------------
# A difference in words: one sentence that names the calls, the arguments, the values, the places.
MAX_RUNS = 8
"""So many runs of calls are told by number, and of further calls how many there are."""

MAX_VALUE_LENGTH = 80
"""The longest value that a sentence shows in full."""


def call_number(pred: int | None, gold: int | None) -> str:
    """A call's place among the prediction's calls, and among gold's where that is another.

    >>> call_number(1, 1), call_number(1, 2), call_number(1, None), call_number(None, 2)
    ('call 2', "call 2, gold's 3", 'call 2', "gold's call 3")
    """
    if pred is None:
        return f"gold's call {(gold or 0) + 1}"
    return f"call {pred + 1}" if gold is None or gold == pred else f"call {pred + 1}, gold's {gold + 1}"


class CallNames:
    """How the calls of two compared plans are named: by tool and number, of one call always the same.

    Args:
        pred: The prediction.
        gold: The gold plan.
        to_gold: The partner of each call of the prediction; negative or not there for none.
        to_pred: The partner of each call of gold, likewise.
    """

    def __init__(self, pred: Plan, gold: Plan, to_gold: Sequence[int], to_pred: Sequence[int]) -> None:
        self.pred, self.gold, self.to_gold, self.to_pred = pred, gold, to_gold, to_pred

    @classmethod
    def of(cls, pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]) -> CallNames:
        """The names where pairs of positions (in the prediction, in gold) are partners."""
        to_gold, to_pred = [-1] * len(pred.calls), [-1] * len(gold.calls)
        for pred_position, gold_position in pairs:
            to_gold[pred_position], to_pred[gold_position] = gold_position, pred_position
        return cls(pred, gold, to_gold, to_pred)

    def our_number(self, position: int) -> str:
        """A call of the prediction without its tool: ``call 2, gold's 3``."""
        partner = self.to_gold[position]
        return call_number(position, partner if partner >= 0 else None)

    def their_number(self, position: int) -> str:
        """A call of gold without its tool: as its partner is called, or ``gold's call 3``."""
        partner = self.to_pred[position]
        return call_number(partner if partner >= 0 else None, position)

    def ours(self, position: int | None) -> str:
        """A call of the prediction: ``book_trip (call 2, gold's 3)``; the answer for None."""
        if position is None:
            return "the answer"
        return f"{self.pred.calls[position].tool} ({self.our_number(position)})"

    def theirs(self, position: int | None) -> str:
        """A call of gold: ``book_trip (call 2, gold's 3)``; the answer for None."""
        if position is None:
            return "the answer"
        return f"{self.gold.calls[position].tool} ({self.their_number(position)})"

    def labelled(self, value: Value) -> str:
        """What a text is that is the bare label of a call of the prediction; empty for any other value."""
        if type(value) is not str or _GENERATED_LABEL.fullmatch(value):
            return ""
        position = next((position for position, call in enumerate(self.pred.calls) if value == call.id), None)
        return "" if position is None else f", the label of {self.ours(position)} as a text"


_GENERATED_LABEL = re.compile(r"c[0-9]+")
"""Labels that calls get that have none."""


def _plain_call_number(position: int) -> str:
    return f"call {position + 1}"


def calls_numbers(positions: Iterable[int | None], whose: str = "") -> str:
    """Calls by their numbers; empty where only the answer, None, is meant.

    Args:
        positions: The calls.
        whose: What stands before.

    >>> calls_numbers([0, 1, 2, 6]), calls_numbers([0, 1]), calls_numbers([2], "gold's ")
    ('calls 1–3, 7', 'calls 1, 2', "gold's call 3")
    """
    numbers = sorted({position + 1 for position in positions if position is not None})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    if len(texts) > MAX_RUNS:
        return (
            f"{whose}calls {', '.join(texts[:MAX_RUNS])} and "
            f"{len(numbers) - sum(map(len, runs[:MAX_RUNS])):,} more"
        )
    return f"{whose}call{'s' * (len(numbers) > 1)} {', '.join(texts)}" if texts else ""


def calls_name(plan: Plan) -> str:
    """All calls of a plan on one line, as far as it reaches.

    >>> from planner_eval.plan.model import Call
    >>> calls_name(Plan((Call("a", "f", (("x", [1, True]),)), Call("b", "g", (("y", Ref(0)),)))))
    'f(x=[1, true]); g(y=‹call 1›)'
    """
    return (
        one_line("; ".join(map(call_name, plan.calls[:MAX_VALUE_LENGTH])), 2 * MAX_VALUE_LENGTH) or "no call"
    )


def call_name(call: Call) -> str:
    """A call as one writes it: ``f(x=[1, true])``."""
    arguments_text = ", ".join(f"{name}={value_name(value)}" for name, value in call.arguments)
    return f"{call.tool}({arguments_text})"


def path_name(path: Path) -> str:
    """A path as one writes it: ``tone.len``, ``rows[0].id``.

    >>> path_name(("rows", 0, "id"))
    'rows[0].id'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def output_name(reference: Ref | Unresolved, name: Callable[[int], str]) -> str:
    """What a reference takes: ``output id of book_trip (call 3)``.

    Args:
        reference: The reference.
        name: The name of the call at a position.
    """
    producer = name(reference.call) if isinstance(reference, Ref) else repr(reference.name)
    return (
        f"output {path_name(reference.path)} of {producer}" if reference.path else f"the result of {producer}"
    )


def value_name(value: Value, number: Callable[[int], str] = _plain_call_number) -> str:
    """A value on one line: JSON, references as ``‹call 3: id›``.

    Args:
        value: The value.
        number: The number of the call at a position.

    >>> value_name({"x": [Ref(2, ("id",)), True]})
    '{"x": [‹call 3: id›, true]}'
    """
    if type(value) in _SCALAR_TYPES:
        return _unquote_references(one_line_json(value, MAX_VALUE_LENGTH))

    def plain(leaf: Value) -> Any:
        return _format_leaf(leaf, number)

    def text(segments: tuple[Value, ...]) -> str:
        return "".join(map(str, map(plain, segments)))

    return _unquote_references(one_line_json(fold(value, plain, text=text), MAX_VALUE_LENGTH))


def links_of(argument: str, value: Value) -> list[Ref]:
    """The calls after which a call comes without an argument that says so; none where it is an argument.

    >>> links_of("", Ref(2)), links_of("", 5), links_of("of", Ref(2))
    ([Ref(call=2, path=())], [], [])
    """
    refs = value if type(value) is list else [value]
    return refs if argument == DEPENDENCY_ARGUMENT and all(type(ref) is Ref for ref in refs) else []


_QUOTED_REFERENCE = re.compile(r'"(‹[^"›]*›)"')

_SCALAR_TYPES = (str, int, float, bool, type(None))


def text_name(value: str | Template, number: Callable[[int], str]) -> str:
    """A text in full, without quotes; references in it as in :func:`value_name`."""
    return (
        value
        if isinstance(value, str)
        else "".join(str(_format_leaf(segment, number)) for segment in value.parts)
    )


def place_name(call: str | None, argument: Any, path: Path = ()) -> str:
    """A place: ``book_trip (call 3): argument 'opts' at tone.len``.

    Args:
        call: The name of the call; None for the answer.
        argument: The argument's name, and which of several of that name.
        path: The way into its value.
    """
    name = argument if isinstance(argument, str) else argument[0]
    within = f" at {path_name(path)}" if path else ""
    of = "the answer: value" if call is None else f"{call}: argument"
    return f"{of} {name!r}{within}"


def _format_leaf(leaf: Value, number: Callable[[int], str]) -> Any:
    if isinstance(leaf, Ref):
        return _format_reference(number(leaf.call), leaf.path)
    return _format_reference(f"{leaf.name}?", leaf.path) if isinstance(leaf, Unresolved) else leaf


def _format_reference(name: str, path: Path) -> str:
    return f"‹{name}: {path_name(path)}›" if path else f"‹{name}›"


def _unquote_references(text: str) -> str:
    """References without the quotes around them, unless a text goes on beside them."""
    return _QUOTED_REFERENCE.sub(r"\1", text) if "‹" in text else text


def no_call_suffix(pred: Plan, gold: Plan) -> str:
    """What the reader found in a prediction without calls where gold makes some, as the end of a sentence.

    >>> no_call_suffix(Plan(()), Plan((Call("a", "f"),)))
    '; the prediction holds no call'
    """
    if pred.calls or not gold.calls:
        return ""
    why = [note.message for note in pred.diagnostics if note.code == "plan.no_call"][:1]
    doubts = (n for n in pred.diagnostics if n.code in ("find.text", "find.unread"))
    warnings = [n.message for n in doubts if n.severity == "warning"][:1]
    return f"; the prediction holds {'; '.join([*(why or ['no call']), *warnings])}"


# ----------------------------------------------------------------------
# Two differing values beside each other: both in full, or what stands around their first difference.
_MAX_VISIBLE_OFFSET = MAX_VALUE_LENGTH - 20
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
        if isinstance(draft.data, ValueData) and draft.data.producer is not None and draft.also:
            calls = self.names.pred.calls
            assert draft.pred is not None
            assert draft.pred.call is not None
            link = f"{calls[draft.data.producer].tool} → {calls[draft.pred.call].tool}"
            message = f"{message}; the link {link} is right"
        pred_value, gold_value = self.by_place(draft.pred_value), self.by_place(draft.gold_value)
        also, cause = draft.also, draft.cause
        return Edit(
            draft.code, message, draft.pred, draft.gold, pred_value, gold_value, cause, also, own
        )  # fmt: skip

    def by_place(self, value: Value) -> Value:
        """The values of a compound edit by the names of their places; any other value as it is."""
        if type(value) is not dict or not any(type(key) is Place for key in value):
            return value
        return {self.place(place): item for place, item in value.items()}

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

    def takes_pred(self, value: Value) -> str:
        """What an argument of the prediction says: ``takes output id of f (call 1)``, ``is 7``."""
        return f"{'takes' if type(value) is Ref else 'is'} {self.pred(value)}"

    def takes_gold(self, value: Value) -> str:
        """What an argument of gold says, likewise."""
        return f"{'takes' if type(value) is Ref else 'is'} {self.gold(value)}"

    def place(self, location: Place | None) -> str:
        """A place in the prediction; of an argument that stands in its call's one object its own name."""
        call, argument, path = location or Place()
        call_name = None if call is None else self.names.ours(call)
        if path and call in self.objects:
            return place_name(call_name, path[0], path[1:])
        return place_name(call_name, argument or "", path)

    objects: Collection[int] = ()
    """Calls of the prediction whose arguments all stand in one object."""

    # ------------------------------------------------------------ calls
    def _missing_call(self, draft: Draft) -> tuple[str, str]:
        assert draft.gold is not None
        position, names = draft.gold.call or 0, self.names
        call_text = _format_call(names.gold, position, names.theirs(position), names.their_number)
        repetition = f": gold repeats {names.their_number(draft.data)}" if draft.data is not None else ""
        return f"gold's {call_text} is missing{repetition}", repetition

    def _extra_call(self, draft: Draft) -> tuple[str, str]:
        position, names = _pred_call(draft), self.names
        call_text = _format_call(names.pred, position, names.ours(position), names.our_number)
        return f"{call_text} is not in gold", ""

    def _repeated_call(self, draft: Draft) -> str:
        twin, paired = draft.data
        contrast = "gold calls it less often" if paired else "gold has neither"
        return f"{self.names.ours(_pred_call(draft))} repeats {self.names.our_number(twin)}; {contrast}"

    def _tried_call(self, draft: Draft) -> str:
        position, (near_call, values) = _pred_call(draft), draft.data
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
            start = max(0, _common_prefix_length(value, other_value) - _CONTEXT_BEFORE)
            end = start + _CONTEXT_BEFORE + _CONTEXT_AFTER
            texts = _window(value, start, end), _window(other_value, start, end)
        return f"{argument_path_name(name, path)}={texts[0]} in place of {texts[1]}"

    def _spelling(self, draft: Draft) -> str:
        return f"{self.names.ours(_pred_call(draft))}, expected spelling {draft.gold_value}"

    def _replaced_call(self, draft: Draft) -> str:
        assert draft.gold is not None
        gold_tool = self.names.gold.calls[draft.gold.call or 0].tool
        return f"{self.names.ours(_pred_call(draft))} is called, expected {gold_tool}"

    def _listed_calls(self, draft: Draft) -> str:
        pred, gold, listed = draft.data
        if listed.merged:
            calls = calls_numbers((gold, *listed.parts))
            return f"{self.names.ours(pred)} holds in {listed.pred_name!r} what gold asks in its {calls}"
        calls, tool = calls_numbers((pred, *listed.parts)), self.names.pred.calls[pred].tool
        call_name = f"gold's {self.names.gold.calls[gold].tool} (gold's call {gold + 1})"
        return f"{tool} ({calls}) asks one by one what {call_name} asks in {listed.gold_name!r}"

    def _early_call(self, draft: Draft) -> str:
        producer = self.names.ours(draft.data)
        return f"{self.names.ours(_pred_call(draft))} is written before {producer}, whose output it needs"

    def _misplaced_call(self, draft: Draft) -> str:
        other, after = draft.data
        where = f"{'after' if after else 'before'} {self.names.theirs(other)}"
        return f"{self.names.ours(_pred_call(draft))} is out of order, expected {where}"

    def _object_arguments(self, draft: Draft) -> str:
        call_name = self.names.ours(_pred_call(draft))
        return f"{call_name}: all arguments stand in one object, {self.pred(draft.pred_value)}"

    # ------------------------------------------------------------ arguments
    def _missing_answer(self, draft: Draft) -> str:
        value = value_name(draft.gold_value, self.names.their_number)
        return f"the answer lacks {_argument_name(draft.gold)!r}, expected {value}"

    def _extra_answer(self, draft: Draft) -> str:
        value = value_name(draft.pred_value, self.names.our_number)
        return f"the answer has an extra value {_argument_name(draft.pred)!r} = {value}"

    def _exchange(self, draft: Draft) -> str:
        call = draft.pred and draft.pred.call
        kind = "values" if call is None else "arguments"
        return f"{self.names.ours(call)}: {kind} {_format_list(map(repr, draft.pred_value))} are swapped"

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
        tools = [plan.calls[ref.call].tool for ref in links_of(location.argument or "", value)]
        return f"the link {' and '.join(tools)} → {plan.calls[location.call].tool}" if tools else ""

    def _renamed(self, draft: Draft) -> str:
        gold_name = _argument_name(draft.gold)
        named = f"stands at position {gold_name}" if gold_name.isdecimal() else f"is named {gold_name!r}"
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
        own = f"{_argument_name(location)!r} {clause}" if draft.name == "missing argument" else None
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
            return f"is the literal {self.pred(pred_value)}{label}, expected {self.gold(gold_value)}"
        if code == "unwanted":
            return f"takes {self.pred(pred_value)}, expected the literal {self.gold(gold_value)}"
        if code == "unresolved":
            return f"refers to {pred_value.name!r}, which no call returns; expected {self.gold(gold_value)}"
        if code in ("producer", "output"):
            return f"takes {self.pred(pred_value)}, expected {self.gold(gold_value)}"
        return self.contrast(f"argument.{code}", pred_value, gold_value)

    def contrast(self, code: str, pred_value: Value, gold_value: Value) -> str:
        """The same of two values that are no outputs of calls, or not both."""
        pred_text, gold_text = self.pred(pred_value), self.gold(gold_value)
        if self.diff.shuffled(pred_value, gold_value):
            return f"has the items in another order: {pred_text}, expected {gold_text}"
        if code == "argument.type" and name_type_difference(pred_value, gold_value):
            pred_kind, gold_kind = kind_name(pred_value), kind_name(gold_value)
            return f"is the {pred_kind} {pred_text}, expected the {gold_kind} {gold_text}"
        cut = pred_text[-1:] == "…" or gold_text[-1:] == "…"
        if (
            cut
            and not isinstance(pred_value, (Ref, Unresolved))
            and not isinstance(gold_value, (Ref, Unresolved))
        ):
            return self.narrow(pred_value, gold_value)
        return f"is {pred_text}, expected {gold_text}"

    def narrow(self, pred_value: Value, gold_value: Value) -> str:
        """What the prediction says and what gold says; of long values where they differ."""
        numbers = self.names.our_number, self.names.their_number
        pred_text, gold_text = value_name(pred_value, numbers[0]), value_name(gold_value, numbers[1])
        text = None
        cut = pred_text[-1:] == "…" or gold_text[-1:] == "…"
        if cut and _common_prefix_length(pred_text, gold_text) >= _MAX_VISIBLE_OFFSET:
            if isinstance(pred_value, list) and isinstance(gold_value, list):
                text = self.items(pred_value, gold_value)
            elif isinstance(pred_value, (str, Template)) and isinstance(gold_value, (str, Template)):
                texts = text_name(pred_value, numbers[0]), text_name(gold_value, numbers[1])
                text = _format_first_difference(*texts)
        return text or f"is {pred_text}, expected {gold_text}"

    def items(self, pred_items: list[Value], gold_items: list[Value]) -> str | None:
        """The first item in which two lists differ."""
        counts = len(pred_items), len(gold_items)
        sizes = "differs" if counts[0] == counts[1] else f"has {counts[0]:,} items, expected {counts[1]:,}"
        for position, (pred_item, gold_item) in enumerate(zip(pred_items, gold_items, strict=False)):
            if not self.diff.alike(pred_item, gold_item):
                return f"{sizes}: [{position}] {self.narrow(pred_item, gold_item)}"
        end = min(counts)
        if counts[0] > end:
            extra = value_name(pred_items[end], self.names.our_number)
            return f"{sizes}: [{end}] is {extra}, which is not in gold"
        if counts[1] > end:
            lacking = value_name(gold_items[end], self.names.their_number)
            return f"{sizes}: [{end}] is missing, expected {lacking}"
        return None

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
        names = [self.names.theirs(call) for call in draft.data]
        if len(names) > 1:
            tools = " → ".join(self.names.gold.calls[call].tool for call in draft.data)
            return f"{_format_list(names)} are in the wrong order, expected {tools}"
        place = next(pred for pred, gold in draft.places if gold is not None and gold.call == draft.data[0])
        pred_value, gold_value = draft.pred_value[place], draft.gold_value[place]
        after = f"after {self.names.ours(pred_value.call)}" if type(pred_value) is Ref else "first"
        gold_after = f"after {self.names.theirs(gold_value.call)}" if type(gold_value) is Ref else "first"
        return f"{names[0]} comes {after}, expected {gold_after}"

    def _swapped_results(self, draft: Draft) -> str:
        calls = sorted(draft.data, key=self.names.to_pred.__getitem__)
        places = {pred.call: None for pred, _ in draft.places if pred is not None}
        where = _format_list(map(self.names.ours, places))
        return f"the results of {_format_list(map(self.names.theirs, calls))} are swapped in {where}"

    def _swapped_values(self, draft: Draft) -> str:
        places = [pred for pred, _ in draft.places if pred is not None]
        calls = [self.names.ours(call) for call in {place.call: None for place in places}]
        arguments = {place.argument or "": None for place in places}
        message = f"{_format_list(calls)} have swapped {_format_list(map(repr, arguments))}"
        if len(places) > 2:
            return message
        texts = [self.takes_pred(value) for value in draft.pred_value.values()]
        return f"{message}: the first {texts[0]}, the second {texts[1]}"

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
        "steps": _steps, "results swapped": _swapped_results, "values swapped": _swapped_values,
    }  # fmt: skip
    """The sentence of each edit by its name; with the part of it that may stand without the rest, if any."""


# ----------------------------------------------------------------------
# Several edits in one sentence.
MAX_LISTED = 4
"""So many values, calls or names are told one by one."""


class LineWording:
    """The words for lines that tell several edits of two plans.

    Args:
        pred: The prediction.
        gold: The gold plan.
        names: How calls are called.
    """

    def __init__(self, pred: Plan, gold: Plan, names: CallNames) -> None:
        self.pred, self.gold, self.names = pred, gold, names

    def write(self, name: str, edits: list[Edit], data: Any) -> str:
        """The sentence of edits that are told together.

        Args:
            name: What they are, by which they have their price.
            edits: The edits.
            data: What the sentence needs beside them.
        """
        return self.SENTENCES[name](self, edits, data)

    def _lookups(self, edits: list[Edit], times: Mapping[str, int]) -> str:
        tools = (f"{tool} ×{count}" if count > 1 else f"{tool}" for tool, count in times.items())
        return f"gold lists none of them: {', '.join(tools)}"

    def _items(self, edits: list[Edit], data: None) -> str:
        messages = [edit.own or edit.message for edit in edits[1:]]
        more = [f"{len(messages) - MAX_LISTED + 1} more"] if len(messages) >= MAX_LISTED else []
        return "; ".join([edits[0].message, *messages[: MAX_LISTED - 1], *more])

    def _same_value(self, edits: list[Edit], data: None) -> str:
        value = value_name(edits[0].pred_value, self.names.our_number)
        return f"{self._argument(edits[0])} is {value}, expected {self._gold_values(edits)}"

    def _copied_value(self, edits: list[Edit], data: None) -> str:
        names = _format_list(repr(edit.pred.argument) for edit in edits[1:] if edit.pred is not None)
        are = "is" if len(edits) == 2 else "are"
        return f"{edits[0].message}; {names}, not in gold, {are} the same"

    def _missing_argument(self, edits: list[Edit], data: None) -> str:
        return f"{self._argument(edits[0])} is missing, expected {self._gold_values(edits)}"

    def _argument(self, edit: Edit) -> str:
        call = edit.pred.call if edit.pred is not None else None
        tool = None if call is None else self.pred.calls[call].tool
        return f"{tool}: argument {_argument_name(edit.gold)!r}"

    def _gold_values(self, edits: list[Edit]) -> str:
        return _format_list(value_name(edit.gold_value, self.names.their_number) for edit in edits)

    def _links(self, edits: list[Edit], data: None) -> str:
        tools = [call.tool for call in self.gold.calls]
        links = (
            f"{tools[ref.call]} → {tools[edit.gold.call or 0]}"
            for edit in edits
            if edit.gold is not None
            for ref in links_of(DEPENDENCY_ARGUMENT, edit.gold_value)
        )
        return f"the links {_format_list(links)} are missing"

    def _repeated_run(self, edits: list[Edit], twins: list[int]) -> str:
        return (
            f"{calls_numbers(edit.pred and edit.pred.call for edit in edits)} repeat {calls_numbers(twins)}"
        )

    def _tries(self, edits: list[Edit], data: tuple[int, list[tuple[int, tuple[str, ...]]]]) -> str:
        near_call, calls = data
        texts = []
        for call, changed in calls:
            args, near_args = (dict(self.pred.calls[position].arguments) for position in (call, near_call))
            changes = []
            for name in changed:
                if name in args:
                    path, value, _ = narrow_difference(args[name], near_args.get(name))
                    text = value_name(value, self.names.our_number)
                    changes.append(f"{argument_path_name(name, path)}={text}")
            change = f"with {', '.join(changes)}" if changes else f"without {', '.join(changed)}"
            texts.append(f"{self.names.our_number(call)} {change}")
        return f"near repeats of {self.names.ours(near_call)}: {_format_list(texts)}"

    def _end(self, edits: list[Edit], data: tuple[list[int], int | None]) -> str:
        tail, last = data
        plan = self.pred if last is None else self.gold
        runs = [(tool, len([*run])) for tool, run in groupby(plan.calls[call].tool for call in tail)]
        tools = _format_list(f"{tool} ×{times}" if times > 1 else tool for tool, times in runs)
        if last is None:
            return f"the plan goes on with {len(tail)} extra calls: {tools}"
        return f"the plan stops after {self.names.our_number(last)}: gold's {tools} are missing"

    def _run(self, edits: list[Edit], calls: list[int]) -> str:
        if edits[0].pred is not None:
            details = _format_arguments(self.pred, calls, self.names.our_number)
            return f"{self.pred.calls[calls[0]].tool} is not in gold{details}"
        ends = {edit.own or "" for edit in edits}
        details = _format_arguments(self.gold, calls, self.names.their_number)
        end = ends.pop() if len(ends) == 1 else ""
        return f"gold's {self.gold.calls[calls[0]].tool} is missing{details}{end}"

    def _missing_answer(self, edits: list[Edit], data: None) -> str:
        names = _format_list(repr(_argument_name(edit.gold)) for edit in edits)
        return f"the answer lacks {names}"

    SENTENCES: ClassVar[dict[str, Callable[[LineWording, list[Edit], Any], str]]] = {
        "lookup": _lookups, "items": _items, "item": _items, "same value": _same_value,
        "copied value": _copied_value, "missing throughout": _missing_argument,
        "missing together": _items,
        "missing answer": _missing_answer, "links": _links, "repeated run": _repeated_run,
        "tries": _tries, "end": _end, "run": _run,
    }  # fmt: skip
    """The sentence of each line by its name."""


def _format_arguments(plan: Plan, calls: list[int], number: Callable[[int], str]) -> str:
    """What calls of one tool are given: ``, with room="attic" and "hall", each time with floor=1``."""
    texts = [
        {
            name: value_name(value, number)
            for name, value in plan.calls[call].arguments
            if name != DEPENDENCY_ARGUMENT
        }
        for call in calls
    ]
    shared = {
        name: text for name, text in texts[0].items() if all(other.get(name) == text for other in texts)
    }
    own_texts = [{name: text for name, text in given.items() if name not in shared} for given in texts]
    call_texts = [", ".join(f"{name}={text}" for name, text in own.items()) for own in own_texts]
    varying = {name for own in own_texts for name in own}
    if len(varying) == 1 and all(own_texts):
        details = _format_list([call_texts[0], *(text for own in own_texts[1:] for text in own.values())])
    else:
        details = "; ".join(_cut_list([text or "nothing" for text in call_texts]))
    details = f", with {details}" if varying else ""
    shared_text = ", ".join(f"{name}={text}" for name, text in shared.items())
    return details + (f", each time with {shared_text}" if shared else "")


def _cut_list(texts: list[str]) -> list[str]:
    more = len(texts) - MAX_LISTED
    return [*texts[:MAX_LISTED], f"{more} more"] if more > 1 else texts


def _format_list(texts: Iterable[str]) -> str:
    """Things in a row: ``a, b, c, d and 2 more``."""
    *first, last = _cut_list([*texts])
    return f"{', '.join(first)} and {last}" if first else last


def format_names(names: Iterable[str]) -> str:
    """Different names in a row: ``'a', 'b', 'c', 'd' and 2 more``.

    >>> format_names("abba"), format_names("abcdef")
    ('a, b', 'a, b, c, d and 2 more')
    """
    texts = [*dict.fromkeys(names)]
    more = len(texts) - MAX_LISTED
    return ", ".join(texts[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _pred_call(draft: Draft) -> int:
    assert draft.pred is not None
    return draft.pred.call or 0


def _argument_name(location: Place | None) -> str:
    return (location and location.argument) or ""


def _format_call(plan: Plan, position: int, name: str, number: Callable[[int], str]) -> str:
    """A call with all that it is given."""
    arguments = [
        (argument, value, links_of(argument, value)) for argument, value in plan.calls[position].arguments
    ]
    after = [number(ref.call) for _, _, links in arguments for ref in links]
    texts = [f"{argument}={value_name(value, number)}" for argument, value, links in arguments if not links]
    message = f"{name} with {', '.join(texts)}" if texts else name
    return f"{message}, which takes the result of {' and '.join(after)}," if after else message


def narrow_difference(first: Value, second: Value) -> tuple[Path, Value, Value]:
    """Where two values differ if one of them is too long to be shown, and what stands there.

    >>> narrow_difference([{"id": "x" * 80, "n": 5}], [{"id": "x" * 80, "n": 55}])
    ((0, 'n'), 5, 55)
    """
    path: Path = ()
    while any(value_name(value)[-1:] == "…" for value in (first, second)):
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


def _format_first_difference(pred_text: str, gold_text: str) -> str | None:
    """Two texts around their first difference; None for equal ones.

    >>> _format_first_difference("a" * 99 + " Project C", "a" * 99 + " Project C.")
    'ends …"Project C", expected …"Project C." (character 110)'
    """
    if pred_text == gold_text:
        return None
    offset = _common_prefix_length(pred_text, gold_text)
    start = max(0, offset - _CONTEXT_BEFORE)
    blank = pred_text.find(" ", start, offset)
    start = blank + 1 if blank >= 0 else start
    near_end = max(len(pred_text), len(gold_text)) <= offset + _CONTEXT_AFTER
    pred_window, gold_window = (
        _window(text, start, offset + _CONTEXT_AFTER) for text in (pred_text, gold_text)
    )
    if near_end:
        return f"ends {pred_window}, expected {gold_window} (character {offset + 1:,})"
    return f"differs at character {offset + 1:,}: {pred_window}, expected {gold_window}"


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
_TWO_TEXTS = rf"{_QUOTED_TEXT}, expected {_QUOTED_TEXT}(?= \(|$| \[)"
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
