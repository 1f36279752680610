"""A text made from another text by cuts and edits, which knows where each of its characters came from.

Finding a plan (a fence in prose, a text inside a JSON string) and repairing it both change the text
that is read; places must still point into the text that the user gave.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan


class TextEdit(NamedTuple):
    """Characters [start, end) of a text become `new`."""

    start: int
    end: int
    new: str


@fast_frozen
class TextView:
    """A text and where it stands in the original.

    Args:
        text: The text.
        marks: Places in `text` from which on it runs parallel to the original, ascending, each with
            the original's place; the first is at 0.

    >>> view = TextView("say f(1)").cut(4, 8)
    >>> view.text, view.origin(2)
    ('f(1)', 6)
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ((0, 0),)

    def origin(self, offset: int) -> int:
        """The position in the original of a position in this text."""
        if len(self.marks) == 1:
            return self.marks[0][1] + offset - self.marks[0][0]
        position = bisect_right(self.marks, (offset, 1 << 62))
        text_mark, original_mark = self.marks[position - 1]
        original = original_mark + offset - text_mark
        # what an edit put in may be longer than what it took out
        return original if position == len(self.marks) else min(original, self.marks[position][1])

    def cut(self, start: int, end: int) -> TextView:
        """Characters [start, end) of this view."""
        if len(self.marks) == 1:
            return TextView(self.text[start:end], ((0, self.origin(start)),))
        inside = [(m[0] - start, m[1]) for m in self.marks if start < m[0] < end]
        return TextView(self.text[start:end], ((0, self.origin(start)), *inside))

    def strip(self) -> TextView:
        """The view without white space around it."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))

    def edit(self, edits: Iterable[TextEdit]) -> TextView:
        r"""The text after the edits, which must not overlap.

        >>> view = TextView("a\\_b").edit([TextEdit(1, 2, "")])
        >>> view.text, view.origin(1)
        ('a_b', 2)
        """
        pieces: list[str] = []
        marks: list[tuple[int, int]] = [(0, self.origin(0))]
        size = offset = position = 0
        inner = self.marks
        for start, end, new in sorted(edits):
            while position < len(inner) and inner[position][0] <= start:
                if inner[position][0] > offset:
                    marks.append((size + inner[position][0] - offset, inner[position][1]))
                position += 1
            pieces += (self.text[offset:start], new)
            size += start - offset + len(new)
            if new:
                marks.append((size - len(new), self.origin(start)))
            marks.append((size, self.origin(end)))
            offset = end
            while position < len(inner) and inner[position][0] <= offset:
                position += 1
        marks += [(size + text_mark - offset, original_mark) for text_mark, original_mark in inner[position:]]
        pieces.append(self.text[offset:])
        return TextView("".join(pieces), tuple(marks))

    def span(self, span: Span) -> Span:
        """The original's place of [start, end) of this text."""
        start = self.origin(span[0])
        if span[1] <= span[0]:
            return start, start
        # What was put in last has no length there; after what was taken out the next sign stands farther on.
        return start, max(start, min(self.origin(span[1] - 1) + 1, self.origin(span[1])))

    def place(self, raw: RawPlan) -> RawPlan:
        """The same calls and notes with their places in the original."""
        if self.marks == ((0, 0),):
            return raw
        return RawPlan(
            tuple(map(self.place_call, raw.calls)), raw.answer, tuple(map(self.place_note, raw.notes))
        )

    def place_call(self, call: RawCall) -> RawCall:
        """One call with its places in the original."""
        if call.span is None and not call.spans:
            return call
        span = self.span(call.span) if call.span else None
        spans = tuple(map(self.span, call.spans))
        return RawCall(
            call.name, call.arguments, call.app, call.label, call.binds, call.returns,
            span, spans, call.result, call.has_result,
        )  # fmt: skip

    def place_note(self, note: Diagnostic) -> Diagnostic:
        """One diagnostic with its place in the original."""
        return note if note.span is None else note._replace(span=self.span(note.span))


def remove_call_spans(raw: RawPlan) -> RawPlan:
    """The calls without places: those they have are of another text."""
    calls = tuple(replace(call, span=None, spans=()) for call in raw.calls)
    return RawPlan(calls, raw.answer, tuple(note._replace(span=None) for note in raw.notes))


_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescape_view(view: TextView) -> TextView:
    r"""A quoted text's inside with its escapes undone; surrogate pairs stay two characters.

    >>> unescape_view(TextView(r"a\nf(\"x\")")).text
    'a\nf("x")'
    """
    edits = []
    for match in _ESCAPE.finditer(view.text):
        new = chr(int(match[1], 16)) if match[1] else _CONTROL_CHARACTERS.get(match[2], match[2])
        edits.append(TextEdit(match.start(), match.end(), new))
    return view.edit(edits) if edits else view
