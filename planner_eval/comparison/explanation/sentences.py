"""A difference in words: one sentence that names the calls, the arguments, the values, the places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line, one_line_json
from planner_eval.comparison.explanation.edits import ValueDiff, kind_name, name_type_difference
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

_REFERENCE_TYPES = (Ref, Unresolved)

_CONTEXT_BEFORE, _CONTEXT_AFTER = 24, 40
"""Characters shown before the first difference and after it."""


class Contrast(NamedTuple):
    """How two values are told beside each other.

    Args:
        names: How calls are called.
        unlike: How two values differ.
        verb: What leads to a value of gold.
    """

    names: CallNames
    unlike: ValueDiff
    verb: str = "gold gives"

    def half(self, code: str, pred_value: Value, gold_value: Value) -> str:
        """The second half of a sentence: what the prediction says and what gold says."""
        if pred_value is MISSING:
            return f"is missing, {self.verb} {self.theirs(gold_value)}"
        if gold_value is MISSING:
            return f"is {self.ours(pred_value)}, which is not in gold"
        if code == "reference.literal":
            label = self.names.labelled(pred_value)
            return f"is the literal {self.ours(pred_value)}{label}, gold takes {self.theirs(gold_value)}"
        if code == "reference.unwanted":
            return f"takes {self.ours(pred_value)}, {self.verb} the literal {self.theirs(gold_value)}"
        if code == "reference.unresolved":
            return f"refers to {pred_value.name!r}, which no call returns; gold has {self.theirs(gold_value)}"
        if code.startswith("reference"):
            return f"takes {self.ours(pred_value)}, gold takes {self.theirs(gold_value)}"
        return self.values(code, pred_value, gold_value)

    def values(self, code: str, pred_value: Value, gold_value: Value) -> str:
        """The same of two values that are no outputs of calls, or not both."""
        pred_text, gold_text = self.ours(pred_value), self.theirs(gold_value)
        if self.unlike.shuffled(pred_value, gold_value):
            return f"has gold's items in another order: {pred_text}, {self.verb} {gold_text}"
        if code == "argument.type" and name_type_difference(pred_value, gold_value):
            pred_kind, gold_kind = kind_name(pred_value), kind_name(gold_value)
            return f"is the {pred_kind} {pred_text}, {self.verb} the {gold_kind} {gold_text}"
        cut = pred_text[-1:] == "…" or gold_text[-1:] == "…"
        if (
            cut
            and not isinstance(pred_value, _REFERENCE_TYPES)
            and not isinstance(gold_value, _REFERENCE_TYPES)
        ):
            return self.told(pred_value, gold_value)
        return f"is {pred_text}, {self.verb} {gold_text}"

    def ours(self, value: Value) -> str:
        """A value of the prediction."""
        if isinstance(value, (Ref, Unresolved)):
            return output_name(value, self.names.ours)
        return value_name(value, self.names.our_number)

    def theirs(self, value: Value) -> str:
        """A value of gold."""
        if isinstance(value, (Ref, Unresolved)):
            return output_name(value, self.names.theirs)
        return value_name(value, self.names.their_number)

    def told(self, pred_value: Value, gold_value: Value) -> str:
        """What the prediction says and what gold says: ``is 1, gold gives 2``."""
        pred_text, gold_text = (
            value_name(pred_value, self.names.our_number),
            value_name(gold_value, self.names.their_number),
        )
        plain = f"is {pred_text}, {self.verb} {gold_text}"
        if (
            not (pred_text[-1:] == "…" or gold_text[-1:] == "…")
            or _common_prefix_length(pred_text, gold_text) < _MAX_VISIBLE_OFFSET
        ):
            return plain
        if isinstance(pred_value, list) and isinstance(gold_value, list):
            return self._items(pred_value, gold_value) or plain
        if isinstance(pred_value, (str, Template)) and isinstance(gold_value, (str, Template)):
            return (
                _format_first_difference(
                    text_name(pred_value, self.names.our_number),
                    text_name(gold_value, self.names.their_number),
                )
                or plain
            )
        return plain

    def instead(self, name: str, value: Value, other_value: Value) -> str:
        """Two values of the prediction: ``x=1 in place of 2``; of long ones where they differ."""
        path, value, other_value = narrow_difference(value, other_value)
        texts = self.ours(value), self.ours(other_value)
        if texts[0] == texts[1] and type(value) is str and type(other_value) is str:
            start = max(0, _common_prefix_length(value, other_value) - _CONTEXT_BEFORE)
            end = start + _CONTEXT_BEFORE + _CONTEXT_AFTER
            texts = _window(value, start, end), _window(other_value, start, end)
        return f"{argument_path_name(name, path)}={texts[0]} in place of {texts[1]}"

    def _items(self, pred_items: list[Value], gold_items: list[Value]) -> str | None:
        """The first item in which two lists differ."""
        pairs = zip(pred_items, gold_items, strict=False)
        position = next(
            (
                n
                for n, (pred_item, gold_item) in enumerate(pairs)
                if not self.unlike.alike(pred_item, gold_item)
            ),
            None,
        )
        sizes = (
            f"has {len(pred_items):,} items, gold {len(gold_items):,}"
            if len(pred_items) != len(gold_items)
            else "differs"
        )
        if position is not None:
            return f"{sizes}: [{position}] {self.told(pred_items[position], gold_items[position])}"
        end = min(len(pred_items), len(gold_items))
        if len(pred_items) > end:
            extra = value_name(pred_items[end], self.names.our_number)
            return f"{sizes}: [{end}] is {extra}, which is not in gold"
        if len(gold_items) > end:
            lacking = value_name(gold_items[end], self.names.their_number)
            return f"{sizes}: [{end}] is missing, {self.verb} {lacking}"
        return None


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
    'ends …"Project C", gold …"Project C." (character 110)'
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
        return f"ends {pred_window}, gold {gold_window} (character {offset + 1:,})"
    return f"differs at character {offset + 1:,}: {pred_window}, gold {gold_window}"


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
_TWO_TEXTS = rf"{_QUOTED_TEXT}, (?:gold (?:gives )?|expected ){_QUOTED_TEXT}(?= \(|$| \[)"
_WORD = r"\w+|\s+|[^\w\s]"


def mark_differences(sentence: str) -> list[tuple[str, bool]]:
    """A sentence about two texts in pieces, and whether each is what one of them does not have in common.

    Args:
        sentence: What an edit says, in any line.

    >>> [piece for piece, differs in mark_differences('x is "to Rome", gold gives "to Oslo"') if differs]
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
