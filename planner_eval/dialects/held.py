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
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
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


Read: TypeAlias = Callable[[str], "tuple[RawPlan, Any]"]
"""Reads a text: its calls, and what its reader wants to know beside them."""


class Settled(NamedTuple):
    """What a text says whose values hold tags.

    Args:
        raw: The calls, with the tags in their values.
        beside: What the reader gave beside them.
        signs: The text with signs for these tags.
    """

    raw: RawPlan
    beside: Any
    signs: Signs


def settled(text: str, groups: list[list[Tag]], read: Read) -> Settled | None:
    """What a text says where values of its calls hold tags; None where none does.

    Args:
        text: The text.
        groups: What may stand inside values, from :func:`planner_eval.dialects.inside.tags`.
        read: Reads a text; what it refuses with a ParseError is read otherwise.
    """
    if not groups or sum(map(len, groups)) > _MOST or max(text) >= chr(_FIRST):
        return None
    proven: list[list[Tag]] = []
    best: Settled | None = None
    waiting = [groups]
    for _ in range(_TRIES if len(text) <= _LONG else 2):
        if not waiting:
            break
        candidates = waiting.pop(0)
        tried = [*proven, *candidates]
        signs = Signs(text, tried)
        try:
            raw, extra = read(signs.text)
        except ParseError:
            waiting[:0] = _split(candidates)
            continue
        put = signs.put_back(raw)
        read_groups = [group for group in tried if all(signs.seen.issuperset(tag.spans) for tag in group)]
        if put is None:
            waiting[:0] = _split(candidates)
        elif len(read_groups) == len(tried):
            proven, best = tried, Settled(put, extra, signs)
        elif len(read_groups) > len(proven):
            unread_groups = [group for group in candidates if group not in read_groups]
            waiting[:0] = [
                [group for group in read_groups if group not in proven],
                *(_split(unread_groups) or [unread_groups]),
            ]
        elif len(_kinds(candidates)) > 1:
            waiting[:0] = _kinds(candidates)
    return best


def _split(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Groups that do not stand inside values together, apart: by kind, else in halves."""
    kinds = _kinds(groups)
    half = len(groups) // 2
    return kinds if len(kinds) > 1 else [groups[:half], groups[half:]] if half else []


def _kinds(groups: list[list[Tag]]) -> list[list[list[Tag]]]:
    """Thoughts and chat tokens, and what else there is."""
    asides = [group for group in groups if group[0].aside]
    return [kind for kind in (asides, [group for group in groups if not group[0].aside]) if kind]


class Signs:
    """A text with opaque signs in the place of tags, and what they stand for.

    >>> signs = Signs("f(a='</s>')", [[Tag(((5, 9),), aside=True, framed=True)]])
    >>> signs.text.isascii(), signs.whole(signs.text)
    (False, "f(a='</s>')")
    """

    def __init__(self, text: str, groups: list[list[Tag]]) -> None:
        pieces, position = [], 0
        self.spans: dict[str, Span] = {}
        self.source = text
        self.seen: set[Span] = set()
        self.broken = False
        for i, (start, end) in enumerate(
            sorted(span for group in groups for tag in group for span in tag.spans)
        ):
            sign = chr(_FIRST + i)
            self.spans[sign] = (start, end)
            pieces += [text[position:start], sign * (end - start)]
            position = end
        self.text = "".join([*pieces, text[position:]])

    def put_back(self, raw: RawPlan) -> RawPlan | None:
        """The calls with the tags in their values; None where one is broken, or stands in a tool's name."""
        if any(_SIGN.search(call.name) for call in raw.calls):
            return None
        calls = tuple(map(self._call, raw.calls))
        answer = raw.answer and tuple((key, self._value(value)) for key, value in raw.answer)
        seen = set(self.seen)
        notes = tuple(note._replace(message=self.whole(note.message)) for note in raw.notes)
        self.seen = seen  # a note tells of the text, be it a value's or not
        return None if self.broken else raw._replace(calls=calls, answer=answer, notes=notes)

    def _call(self, call: RawCall) -> RawCall:
        return replace(
            call,
            arguments=tuple([(self.whole(key), self._value(value)) for key, value in call.arguments]),
            label=call.label and self.whole(call.label),
            binds=tuple([(self.whole(name), self._path(path)) for name, path in call.binds]),
            returns=tuple(map(self.whole, call.returns)),
            result=self._value(call.result),
        )

    def _value(self, value: Value) -> Value:
        if type(value) is dict:  # one with keys that a text repeats is refused later on
            return {self.whole(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return map_leaves(self._leaf, value)

    def _leaf(self, value: Value) -> Value:
        if isinstance(value, RawRef):
            return RawRef(self.whole(value.name), self._path(value.path))
        return self.whole(value) if isinstance(value, str) else value

    def _path(self, path: Path) -> Path:
        return tuple([self.whole(step) if isinstance(step, str) else step for step in path])

    def whole(self, text: str) -> str:
        """A text with the tags in the place of their signs."""
        return text if text.isascii() else _SIGN.sub(self._tag, text)

    def _tag(self, match: re.Match[str]) -> str:
        start, end = self.spans.get(match[1], (0, 0))
        self.broken |= len(match[0]) != end - start
        self.seen.add((start, end))
        return self.source[start:end]
