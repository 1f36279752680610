"""Two differing values beside each other: both in full, or what stands around their first difference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.base.text import one_line
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.comparison.sentences import WIDTH, Names, output_name, path_name, text_name, value_name
from planner_eval.comparison.value_diff import ValueDiff, kind_name, other_type
from planner_eval.plan.model import Path, Ref, Template, Unresolved, Value

_SEEN = WIDTH - 20
"""A difference that starts later in two texts of which one is cut is not to be seen."""

_OUTPUTS = (Ref, Unresolved)

_BEFORE, _AFTER = 24, 40
"""Characters shown before the first difference and after it."""


class Contrast(NamedTuple):
    """How two values are told beside each other.

    Args:
        names: How calls are called.
        unlike: How two values differ.
        verb: What leads to a value of gold.
    """

    names: Names
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
        if code == "argument.type" and other_type(pred_value, gold_value):
            pred_kind, gold_kind = kind_name(pred_value), kind_name(gold_value)
            return f"is the {pred_kind} {pred_text}, {self.verb} the {gold_kind} {gold_text}"
        cut = pred_text[-1:] == "…" or gold_text[-1:] == "…"
        if cut and not isinstance(pred_value, _OUTPUTS) and not isinstance(gold_value, _OUTPUTS):
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
        if not (pred_text[-1:] == "…" or gold_text[-1:] == "…") or _common(pred_text, gold_text) < _SEEN:
            return plain
        if isinstance(pred_value, list) and isinstance(gold_value, list):
            return self._items(pred_value, gold_value) or plain
        if isinstance(pred_value, (str, Template)) and isinstance(gold_value, (str, Template)):
            return (
                _around(
                    text_name(pred_value, self.names.our_number),
                    text_name(gold_value, self.names.their_number),
                )
                or plain
            )
        return plain

    def instead(self, name: str, value: Value, other_value: Value) -> str:
        """Two values of the prediction: ``x=1 in place of 2``; of long ones where they differ."""
        path, value, other_value = narrowed(value, other_value)
        texts = self.ours(value), self.ours(other_value)
        if texts[0] == texts[1] and type(value) is str and type(other_value) is str:
            start = max(0, _common(value, other_value) - _BEFORE)
            end = start + _BEFORE + _AFTER
            texts = _window(value, start, end), _window(other_value, start, end)
        return f"{inner(name, path)}={texts[0]} in place of {texts[1]}"

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


def narrowed(first: Value, second: Value) -> tuple[Path, Value, Value]:
    """Where two values differ if one of them is too long to be shown, and what stands there.

    >>> narrowed([{"id": "x" * 80, "n": 5}], [{"id": "x" * 80, "n": 55}])
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


def inner(name: str, path: Path) -> str:
    """An argument and the way into its value: ``rows[0].id``."""
    path_text = path_name(path)
    return f"{name}{'' if path_text[:1] in ('', '[') else '.'}{path_text}"


def _around(pred_text: str, gold_text: str) -> str | None:
    """Two texts around their first difference; None for equal ones.

    >>> _around("a" * 99 + " Project C", "a" * 99 + " Project C.")
    'ends …"Project C", gold …"Project C." (character 110)'
    """
    if pred_text == gold_text:
        return None
    offset = _common(pred_text, gold_text)
    start = max(0, offset - _BEFORE)
    blank = pred_text.find(" ", start, offset)
    start = blank + 1 if blank >= 0 else start
    near_end = max(len(pred_text), len(gold_text)) <= offset + _AFTER
    pred_window, gold_window = (_window(text, start, offset + _AFTER) for text in (pred_text, gold_text))
    if near_end:
        return f"ends {pred_window}, gold {gold_window} (character {offset + 1:,})"
    return f"differs at character {offset + 1:,}: {pred_window}, gold {gold_window}"


def _window(text: str, start: int, end: int) -> str:
    line = one_line(json.dumps(text[start:end], ensure_ascii=False), 6 * (end - start) + 2)
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def _common(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_TEXT = r'…?"((?:[^"\\]|\\.)*+)(?:"…?|…)'
_BOTH = rf"{_TEXT}, (?:gold (?:gives )?|expected ){_TEXT}(?= \(|$| \[)"
_WORD = r"\w+|\s+|[^\w\s]"


def marked(sentence: str) -> list[tuple[str, bool]]:
    """A sentence about two texts in pieces, and whether each is what one of them does not have in common.

    Args:
        sentence: What an edit says, in any line.

    >>> [piece for piece, differs in marked('x is "to Rome", gold gives "to Oslo"') if differs]
    ['Rome', 'Oslo']
    """
    match = re.search(_BOTH, sentence)
    spans = [] if match is None else list(_differing(match))
    pieces, offset = [], 0
    for start, end in spans:
        pieces += [(sentence[offset:start], False), (sentence[start:end], True)]
        offset = end
    return [*pieces, (sentence[offset:], False)]


def _differing(match: re.Match[str]) -> Iterator[tuple[int, int]]:
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
