"""Values that hold what elsewhere is a thought's tag or a token: they are read character for character.

Outside of values such text is blanked before anything is read, and a notation's opening token counts
wherever it stands. Where one may stand inside a value, the text is read with an opaque sign in its
place, which opens nothing and ends nothing. One that is then found inside a value was the value's own
text and is put back there; one that is not found there is what it is elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planner_eval.base.later import later
from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple
from planner_eval.dialects.inside import Tag
from planner_eval.plan.model import Path, RawCall, RawPlan, RawRef, Value
from planner_eval.plan.walk import map_leaves

_FIRST = 0xF0000
"""The first of the signs, of those that Unicode leaves to private use."""
_MOST = 0xFFF0
"""How many signs there are."""
_SIGN = later("([\U000f0000-\U000fffff])\\1*+")
_TRIES = 12
"""How often a text is read, at most, to find out what stands inside values."""
_LONG = 100_000
"""Characters of a text that is read twice at most."""


class Taken(NamedTuple):
    """Calls whose values hold what they were written with, and what reading gave beside them."""

    raw: RawPlan
    given: Any


def settled(text: str, groups: list[list[Tag]], read: Callable[[str], Taken | None]) -> Taken | None:
    """What a text says where values of its calls hold tags; None where none does.

    Args:
        text: The text.
        groups: What may stand inside values, from :func:`tags`.
        read: Reads a text; None where it cannot be read.
    """
    if sum(map(len, groups)) > _MOST or max(text) >= chr(_FIRST):
        return None
    proven: list[list[Tag]] = []
    found: Taken | None = None
    waiting = [groups]
    for _ in range(_TRIES if len(text) <= _LONG else 2):
        if not waiting:
            break
        part = waiting.pop(0)
        tried = [*proven, *part]
        signs = _Signs(text, tried)
        read_ = read(signs.text)
        raw = None if read_ is None else signs.put_back(read_.raw)
        if read_ is None or raw is None:
            waiting[:0] = _split(part)
            continue
        held = [group for group in tried if all(signs.seen.issuperset(tag.spans) for tag in group)]
        if len(held) == len(tried):
            proven, found = tried, Taken(raw, read_.given)
        elif len(held) > len(proven):
            waiting.insert(0, [group for group in held if group not in proven])
    return found


def _split(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Groups that do not stand inside values together, apart: by kind, else in halves."""
    asides = [group for group in groups if group[0].aside]
    if asides and len(asides) < len(groups):
        return [asides, [group for group in groups if not group[0].aside]]
    half = len(groups) // 2
    return [groups[:half], groups[half:]] if half else []


class _Signs:
    """A text with opaque signs in the place of tags, and what they stand for."""

    def __init__(self, text: str, groups: list[list[Tag]]) -> None:
        parts, at = [], 0
        self.spans: dict[str, Span] = {}
        self.source = text
        self.seen: set[Span] = set()
        self.broken = False
        for i, (start, end) in enumerate(
            sorted(span for group in groups for tag in group for span in tag.spans)
        ):
            sign = chr(_FIRST + i)
            self.spans[sign] = (start, end)
            parts += [text[at:start], sign * (end - start)]
            at = end
        self.text = "".join([*parts, text[at:]])

    def put_back(self, raw: RawPlan) -> RawPlan | None:
        """The calls with the tags in their values; None where one is broken, or stands in a tool's name."""
        if any(_SIGN.search(call.name) for call in raw.calls):
            return None
        calls = tuple(map(self._call, raw.calls))
        answer = raw.answer and tuple((key, self._value(value)) for key, value in raw.answer)
        seen = set(self.seen)
        notes = tuple(note._replace(message=self._text(note.message)) for note in raw.notes)
        self.seen = seen  # a note tells of the text, be it a value's or not
        return None if self.broken else raw._replace(calls=calls, answer=answer, notes=notes)

    def _call(self, call: RawCall) -> RawCall:
        return replace(
            call,
            arguments=tuple([(self._text(key), self._value(value)) for key, value in call.arguments]),
            label=call.label and self._text(call.label),
            binds=tuple([(self._text(name), self._path(path)) for name, path in call.binds]),
            returns=tuple(map(self._text, call.returns)),
            result=self._value(call.result),
        )

    def _value(self, value: Value) -> Value:
        if type(value) is dict:  # one with keys that a text repeats is refused later on
            return {self._text(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return map_leaves(self._leaf, value)

    def _leaf(self, value: Value) -> Value:
        if isinstance(value, RawRef):
            return RawRef(self._text(value.name), self._path(value.path))
        return self._text(value) if isinstance(value, str) else value

    def _path(self, path: Path) -> Path:
        return tuple([self._text(step) if isinstance(step, str) else step for step in path])

    def _text(self, text: str) -> str:
        return text if text.isascii() else _SIGN.sub(self._tag, text)

    def _tag(self, match: re.Match[str]) -> str:
        start, end = self.spans.get(match[1], (0, 0))
        self.broken |= len(match[0]) != end - start
        self.seen.add((start, end))
        return self.source[start:end]
