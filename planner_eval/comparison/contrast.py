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

    def half(self, code: str, ours: Value, theirs: Value) -> str:
        """The second half of a sentence: what the prediction says and what gold says."""
        if ours is MISSING:
            return f"is missing, {self.verb} {self.theirs(theirs)}"
        if theirs is MISSING:
            return f"is {self.ours(ours)}, which is not in gold"
        if code == "reference.literal":
            label = self.names.labelled(ours)
            return f"is the literal {self.ours(ours)}{label}, gold takes {self.theirs(theirs)}"
        if code == "reference.unwanted":
            return f"takes {self.ours(ours)}, {self.verb} the literal {self.theirs(theirs)}"
        if code == "reference.unresolved":
            return f"refers to {ours.name!r}, which no call returns; gold has {self.theirs(theirs)}"
        if code.startswith("reference"):
            return f"takes {self.ours(ours)}, gold takes {self.theirs(theirs)}"
        return self.values(code, ours, theirs)

    def values(self, code: str, ours: Value, theirs: Value) -> str:
        """The same of two values that are no outputs of calls, or not both."""
        one, other = self.ours(ours), self.theirs(theirs)
        if self.unlike.shuffled(ours, theirs):
            return f"has gold's items in another order: {one}, {self.verb} {other}"
        if code == "argument.type" and other_type(ours, theirs):
            return f"is the {kind_name(ours)} {one}, {self.verb} the {kind_name(theirs)} {other}"
        cut = one[-1:] == "…" or other[-1:] == "…"
        if cut and not isinstance(ours, _OUTPUTS) and not isinstance(theirs, _OUTPUTS):
            return self.told(ours, theirs)
        return f"is {one}, {self.verb} {other}"

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

    def told(self, ours: Value, theirs: Value) -> str:
        """What the prediction says and what gold says: ``is 1, gold gives 2``."""
        one, other = value_name(ours, self.names.our_number), value_name(theirs, self.names.their_number)
        plain = f"is {one}, {self.verb} {other}"
        if not (one[-1:] == "…" or other[-1:] == "…") or _common(one, other) < _SEEN:
            return plain
        if isinstance(ours, list) and isinstance(theirs, list):
            return self._items(ours, theirs) or plain
        if isinstance(ours, (str, Template)) and isinstance(theirs, (str, Template)):
            return (
                _around(text_name(ours, self.names.our_number), text_name(theirs, self.names.their_number))
                or plain
            )
        return plain

    def instead(self, name: str, ours: Value, other: Value) -> str:
        """Two values of the prediction: ``x=1 in place of 2``; of long ones where they differ."""
        at, ours, other = narrowed(ours, other)
        both = self.ours(ours), self.ours(other)
        if both[0] == both[1] and type(ours) is str and type(other) is str:
            start = max(0, _common(ours, other) - _BEFORE)
            end = start + _BEFORE + _AFTER
            both = _window(ours, start, end), _window(other, start, end)
        return f"{inner(name, at)}={both[0]} in place of {both[1]}"

    def _items(self, ours: list[Value], theirs: list[Value]) -> str | None:
        """The first item in which two lists differ."""
        both = zip(ours, theirs, strict=False)
        at = next((n for n, (one, other) in enumerate(both) if not self.unlike.alike(one, other)), None)
        sizes = f"has {len(ours):,} items, gold {len(theirs):,}" if len(ours) != len(theirs) else "differs"
        if at is not None:
            return f"{sizes}: [{at}] {self.told(ours[at], theirs[at])}"
        end = min(len(ours), len(theirs))
        if len(ours) > end:
            return f"{sizes}: [{end}] is {value_name(ours[end], self.names.our_number)}, which is not in gold"
        if len(theirs) > end:
            lacking = value_name(theirs[end], self.names.their_number)
            return f"{sizes}: [{end}] is missing, {self.verb} {lacking}"
        return None


def narrowed(one: Value, other: Value) -> tuple[Path, Value, Value]:
    """Where two values differ if one of them is too long to be shown, and what stands there.

    >>> narrowed([{"id": "x" * 80, "n": 5}], [{"id": "x" * 80, "n": 55}])
    ((0, 'n'), 5, 55)
    """
    at: Path = ()
    while any(value_name(value)[-1:] == "…" for value in (one, other)):
        if type(one) is list and type(other) is list and len(one) == len(other):
            steps: list[Any] = [
                n for n, both in enumerate(zip(one, other, strict=True)) if both[0] != both[1]
            ]
        elif type(one) is dict and type(other) is dict and one.keys() == other.keys():
            steps = [key for key in one if one[key] != other[key]]
        else:
            break
        if len(steps) != 1:
            break
        at, one, other = (*at, steps[0]), one[steps[0]], other[steps[0]]
    return at, one, other


def inner(name: str, at: Path) -> str:
    """An argument and the way into its value: ``rows[0].id``."""
    way = path_name(at)
    return f"{name}{'' if way[:1] in ('', '[') else '.'}{way}"


def _around(ours: str, theirs: str) -> str | None:
    """Two texts around their first difference; None for equal ones.

    >>> _around("a" * 99 + " Project C", "a" * 99 + " Project C.")
    'ends …"Project C", gold …"Project C." (character 110)'
    """
    if ours == theirs:
        return None
    at = _common(ours, theirs)
    start = max(0, at - _BEFORE)
    blank = ours.find(" ", start, at)
    start = blank + 1 if blank >= 0 else start
    ends = max(len(ours), len(theirs)) <= at + _AFTER
    one, other = (_window(text, start, at + _AFTER) for text in (ours, theirs))
    if ends:
        return f"ends {one}, gold {other} (character {at + 1:,})"
    return f"differs at character {at + 1:,}: {one}, gold {other}"


def _window(text: str, start: int, end: int) -> str:
    shown = one_line(json.dumps(text[start:end], ensure_ascii=False), 6 * (end - start) + 2)
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
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
    found = re.search(_BOTH, sentence)
    spans = [] if found is None else list(_differing(found))
    pieces, done = [], 0
    for start, end in spans:
        pieces += [(sentence[done:start], False), (sentence[start:end], True)]
        done = end
    return [*pieces, (sentence[done:], False)]


def _differing(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Where the words stand that only one of two texts has; nowhere where they have none in common."""
    from difflib import SequenceMatcher

    sides = [[*re.finditer(_WORD, found[side])] for side in (1, 2)]
    words = [[word[0] for word in side] for side in sides]
    steps = SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes()
    if not any(step == "equal" and words[0][one:end] != [" "] for step, one, end, _, _ in steps):
        return
    for side in (0, 1):
        base = found.start(side + 1)
        for step, *ends in steps:
            first, last = ends[2 * side : 2 * side + 2]
            if step != "equal" and first < last:
                yield base + sides[side][first].start(), base + sides[side][last - 1].end()
