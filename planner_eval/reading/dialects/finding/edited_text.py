"""A text made from another text by cuts and edits, which knows where each of its characters came from.

Finding a plan (a fence in prose, a text inside a JSON string) and repairing it both change the text
that is read; places must still point into the text that the user gave.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache

from planner_eval.base.frozen import fast_frozen, replace
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import INVISIBLE, JSON_STRING, lazy_pattern
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan


class TextEdit(NamedTuple):
    """Characters [start, end) of a text become `new`, by a repair of that name."""

    start: int
    end: int
    new: str
    repair: str = ""


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
            return self.marks[0][1] + offset
        position = bisect_left(self.marks, (offset + 1, 0))
        text_mark, original_mark = self.marks[position - 1]
        original = original_mark + offset - text_mark
        # what an edit put in may be longer than what it took out
        return original if position == len(self.marks) else min(original, self.marks[position][1])

    def cut(self, start: int, end: int) -> TextView:
        """Characters [start, end) of this view."""
        if len(self.marks) == 1:
            return TextView(self.text[start:end], ((0, self.marks[0][1] + start),))
        inside = [(m[0] - start, m[1]) for m in self.marks if start < m[0] < end]
        return TextView(self.text[start:end], ((0, self.origin(start)), *inside))

    def strip(self) -> TextView:
        """The view without white space around it."""
        length = len(self.text.strip())
        if length == len(self.text):
            return self
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, start + length)

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
        for start, end, new, _ in sorted(edits):
            while position < len(inner) and inner[position][0] <= start:
                if inner[position][0] > offset:
                    marks.append((size + inner[position][0] - offset, inner[position][1]))
                position += 1
            pieces += (self.text[offset:start], new)
            size += start - offset + len(new)
            offset = end
            if len(new) == end - start and (position == len(inner) or inner[position][0] > end):
                continue  # it runs parallel on
            if new:
                marks.append((size - len(new), self.origin(start)))
            marks.append((size, self.origin(end)))
            while position < len(inner) and inner[position][0] <= offset:
                position += 1
        marks += [(size + text_mark - offset, original_mark) for text_mark, original_mark in inner[position:]]
        pieces.append(self.text[offset:])
        return TextView("".join(pieces), tuple(marks))

    def span(self, span: Span) -> Span:
        """The original's place of [start, end) of this text."""
        if len(self.marks) == 1:
            begin = self.marks[0][1] + span[0]
            return begin, begin + max(span[1] - span[0], 0)
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
            span, spans, call.result, call.has_result, call.turn, call.failed,
        )  # fmt: skip

    def place_note(self, note: Diagnostic) -> Diagnostic:
        """One diagnostic with its place in the original."""
        return note if note.span is None else note._replace(span=self.span(note.span))


def remove_call_spans(raw: RawPlan) -> RawPlan:
    """The calls without places: those they have are of another text."""
    calls = tuple(replace(call, span=None, spans=()) for call in raw.calls)
    return RawPlan(calls, raw.answer, tuple(note._replace(span=None) for note in raw.notes))


def drop_chat_tokens(raw: RawPlan) -> RawPlan:
    """The calls without the chat tokens that a server left in tools' names: ``f<|channel|>commentary``."""
    notes = [
        Diagnostic("find.token", f"a chat token in the name {call.name!r} was dropped", "info", i)
        for i, call in enumerate(raw.calls)
        if "<|" in call.name.lstrip("<|")
    ]
    calls = (replace(c, name=c.name.partition("<|")[0] or c.name) for c in raw.calls)
    return raw._replace(calls=tuple(calls), notes=(*raw.notes, *notes))


def blank_byte_order_mark(text: str) -> str:
    """A text that begins with blanks for a byte order mark and the like; places stay as they are."""
    text_after_marks = text.lstrip(INVISIBLE)
    return " " * (len(text) - len(text_after_marks)) + text_after_marks


_PAIR = r"u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
PYTHON_ESCAPE = r"\\[xU](?P<code>(?<=x)[\da-fA-F]{2}|(?<=U)00(?:0[\da-fA-F]|10)[\da-fA-F]{4})"
_ESCAPE = lazy_pattern(rf"{PYTHON_ESCAPE}|\\(?:(?P<json>{_PAIR}|u[\da-fA-F]{{4}})|(?P<mark>.))", re.S)
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescaping_edits(text: str) -> list[TextEdit]:
    """What undoes the escapes of JSON or Python in a text."""
    edits = []
    for match in _ESCAPE.finditer(text):
        if match["mark"]:
            new = _CONTROL_CHARACTERS.get(match["mark"], match["mark"])
        else:
            new = chr(int(match["code"], 16)) if match["code"] else json.loads(f'"{match.group()}"')
        edits.append(TextEdit(match.start(), match.end(), new, "escaped_newline"))
    return edits


def unescape_view(view: TextView) -> TextView:
    r"""The inside of a quoted text of JSON's or Python's with its escapes undone.

    >>> unescape_view(TextView(r"a\nf(\"x\", '\ud83d\ude00\xe9')")).text
    'a\nf("x", \'😀é\')'
    """
    edits = unescaping_edits(view.text)
    return view.edit(edits) if edits else view


# ----------------------------------------------------------------------
# Where a bracketed piece of text ends: brackets counted, quotes respected, one pass.
BRACKET_PAIRS = {"[": "]", "{": "}", "(": ")"}

_SINGLE_QUOTED = (
    r"'(?:[^'\\\n]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z|\n|[^\W\d][\w\-.]*+\s*+=(?!=)|'[^'\\\n]*+'\s*+:)))*+"
)
"""An apostrophe ends a text only where something that may follow a text follows, or, without the comma, the
name of the next argument or key."""
_UNCLOSED_SINGLE_QUOTED = lazy_pattern(_SINGLE_QUOTED, re.S)


_SHORT_QUOTED = r'"[^"\\]{0,2000}+(?:\\.[^"\\]{0,200}+){0,50}+"'
"""A text in quotes, up to a length: a quote that nothing closes is not gone after at each bracket."""
_FLAT_CONTENT = rf"[^\[\]{{}}()\"'\\]++|{_SHORT_QUOTED}"


def _bracket_pattern(content: str) -> str:
    """A bracket, what it holds, and its partner."""
    return "|".join(rf"\{mark}(?:{content})*+\{BRACKET_PAIRS[mark]}" for mark in BRACKET_PAIRS)


_BALANCED_PATTERNS = (
    "(?!)",
    _bracket_pattern(_FLAT_CONTENT),
    _bracket_pattern(f"{_FLAT_CONTENT}|{_bracket_pattern(_FLAT_CONTENT)}"),
)
"""A piece that is whole, without apostrophes, of up to so many levels of brackets."""
MAX_BRACKET_DEPTH = 10_000
"""Brackets that are open at once, past which nothing is looked for: no notation reads the tenth part."""


@cache
def _token_pattern(
    *, double: bool = True, single: bool = True, line: bool = False, levels: int = 0
) -> re.Pattern[str]:
    """Brackets, texts in the quotes that are tried, other quotes; line ends where no apostrophe counts."""
    texts = [JSON_STRING.regex] * double + [f"{_SINGLE_QUOTED}'"] * single
    alternatives = f"(?P<whole>{_BALANCED_PATTERNS[levels if double and not line else 0]})|"
    alternatives += rf"(?P<open>[\[{{(])|(?P<close>[\]}})])|(?P<text>{'|'.join(texts) or '(?!)'})"
    return re.compile(
        alternatives + (r'|(?P<quote>")|(?P<line>\n)' if line else r"""|(?P<quote>["'])"""), re.S
    )


class Extent(NamedTuple):
    """How far a bracketed piece goes.

    Args:
        end: The place after its last bracket; where it breaks, the place of the bracket that fits
            nothing, or the end of the text.
        closed: Every bracket found its partner.
    """

    end: int
    closed: bool


def tokens(text: str, start: int, stop: int, *, levels: int = 0) -> Iterator[re.Match[str]]:
    """Brackets and texts in [start, stop), in linear time whatever the quotes.

    A piece of up to `levels` levels of brackets that ends well is one token, which saves those inside of it.
    A quote that nothing closes is yielded, an apostrophe is not: in the rest of its line none closes a text.
    What is known to be closed by nothing is not tried again, see :func:`planner_eval.base.text.find_matches`.
    """
    double = single = resumed = True
    vain = position = start
    pattern = _token_pattern(levels=levels)
    while resumed:
        resumed = False
        for match in pattern.finditer(text, position, stop):
            kind = match.lastgroup
            if kind not in ("line", "quote"):
                yield match
                continue
            position, resumed = match.end(), True
            if kind == "line":
                single = position >= vain
                pattern = _token_pattern(double=double, single=single, levels=levels)
            elif match.group() == "'":
                if not single and match.start() >= vain:
                    position, single = match.start(), True
                    pattern = _token_pattern(double=double, levels=levels)
                    break
                if single:
                    vain = _UNCLOSED_SINGLE_QUOTED.match(text, match.start(), stop).end()  # type: ignore[union-attr]
                pattern = _token_pattern(double=double, single=False, line=True)
            else:
                double, line = False, "line" in pattern.groupindex
                pattern = _token_pattern(double=False, single=single and not line, line=line)
                yield match
            break


def extent(text: str, start: int) -> Extent:
    """How far the piece goes whose first bracket is at or after `start`.

    Args:
        text: The text.
        start: Where to begin; text before the first bracket is passed over.

    >>> extent("f(a='x)', b=[1]) and more", 0).end
    16
    >>> extent("f([1)", 0)
    Extent(end=4, closed=False)
    """
    waiting: list[str] = []
    for match in tokens(text, start, len(text), levels=2):
        kind = match.lastgroup
        if kind == "whole":
            if not waiting:
                return Extent(match.end(), True)
        elif kind == "open":
            waiting.append(BRACKET_PAIRS[match.group()])
            if len(waiting) > MAX_BRACKET_DEPTH:
                break
        elif kind == "close":
            if not waiting or waiting.pop() != match.group():
                return Extent(match.start(), False)
            if not waiting:
                return Extent(match.end(), True)
        elif kind == "quote" and waiting:
            break
    return Extent(len(text), False)
