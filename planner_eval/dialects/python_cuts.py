"""Where long Python text can be cut: between statements, and between the items of long brackets.

Whether it is Python is not asked here: a cut in a wrong place leaves a part that ast.parse refuses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from planner_eval.base.later import later

PART = 6_000
"""Characters of a part: what is parsed at once."""
_TOKEN = later(
    r"""[\[({](?:[^\[\](){}'"#\\\r\n]|'[^'\\\r\n]{0,99}+'(?!')|"[^"\\\r\n]{0,99}+"(?!")){0,99}+[\])}]"""
    r"""|(?P<text>'''(?:[^'\\]++|\\.|'(?!''))*+'''|\"""(?:[^"\\]++|\\.|"(?!""))*+\"""|"""
    r"""'(?:[^'\\\r\n]++|\\\r\n|\\.)*+'|"(?:[^"\\\r\n]++|\\\r\n|\\.)*+")"""
    r"""|(?P<stop>['"]|\\(?!\r?\n|\r))|(?P<open>[\[({])|(?P<close>[\])}])|(?P<between>[,;:])"""
    r"""|\#[^\r\n]*+|\\(?:\r\n?|\n)|(?:\r\n?|\n)(?P<indent>[ \t]*+)(?![ \t\f\r\n#]|\Z)""",
    re.S,
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_GOES_ON = later(r"(?:else|elif|except|finally)\b")
"""What begins a line that belongs to the statement before it."""
_HEADS = later(r"(?:if|for|while|with|try|else|elif|except|finally|def|class|async|match|case)\b")
"""What begins a line on which others may stand inside of it, after a colon."""


_DEEP = 300
"""Brackets in brackets and blocks in blocks, of which Python reads fewer."""
UNREAD: Any = object()
"""Of items that nobody has read as data."""


class Uncut(Exception):
    """A text that these rules do not cut; it may be Python all the same."""


@dataclass(slots=True)
class Long:
    """The statements of a block, or the items of a bracket, and where they are cut.

    Args:
        mark: The bracket, ``f(`` for a call's; an indentation for a block's.
        start: Where the first begins.
        cuts: Where another part begins.
        inner: Those inside that are cut too.
        end: Where the last ends.
        pairs: Whether a colon stands between the first items.
        counts: How many nodes it is made of, by the field that they are of.
        kinds: Of what types they are, and the expressions among statements.
        stop: The line and column where the last of a block's statements ends.
        data: What the items are, where they are data and nothing else; it is looked for once.
    """

    mark: str
    start: int
    cuts: list[int] = field(default_factory=list)
    inner: list[Long] = field(default_factory=list)
    end: int = 0
    pairs: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    kinds: set[type] = field(default_factory=set)
    stop: tuple[int, int] | None = None
    data: Any = UNREAD

    def note(self, key: str, nodes: Iterable[Any]) -> None:
        """Take notes of nodes that were made."""
        for node in nodes:
            self.counts[key] = self.counts.get(key, 0) + 1
            self.kinds.add(type(node))
            if type(node) is ast.Expr:
                self.kinds.add(type(node.value))

    @property
    def is_block(self) -> bool:
        """Whether it is a block's statements."""
        return not self.mark or self.mark.isspace()

    def parts(self) -> list[tuple[int, int]]:
        """Where each part begins and ends."""
        edges = [self.start, *self.cuts, self.end]
        return list(pairwise(edges))


def cut(text: str) -> tuple[Long, int]:
    """The statements of a text, all after what cannot be cut as one part; and a bracket that stays open."""
    cutter, opened = _Cutter(text), 0
    with suppress(Uncut):
        cutter.read()
        opened = cutter.open[-1].start - 1 if len(cutter.open) > 1 else 0
    outline = cutter.open[0]
    outline.end = len(text)
    return outline, opened


class _Cutter:
    """Finds where a text can be cut."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open = [Long("", 0)]
        self.line = 0

    def read(self) -> None:
        """Go through the text.

        Raises:
            Uncut: what closes or begins does not fit to what is open.
        """
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup
            if kind == "between":
                self.between(match.group(), match.end())
            elif kind == "open":
                if len(self.open) > _DEEP:
                    raise Uncut
                self.open.append(Long(self.bracket(match), match.end()))
            elif kind == "close":
                if self.open[-1].is_block or _CLOSING[self.open[-1].mark[-1]] != match.group():
                    raise Uncut
                self.close(match.start())
            elif kind == "indent":
                self.indent(match["indent"], match.start("indent"))
            elif kind == "stop":
                raise Uncut
        while len(self.open) > 1 and self.open[-1].is_block:
            self.close(len(self.text))

    def bracket(self, match: re.Match[str]) -> str:
        """The mark of a bracket that opens: after a name it is a call's, or one that is cut nowhere."""
        mark, before = match.group(), self.text[match.start() - 1 : match.start()]
        after = match.start() > 0 and (before.isalnum() or before in "_)]}\"'")
        return {"(": "f(", "[": "x["}.get(mark, mark) if after else mark

    def close(self, end: int) -> None:
        """Leave a bracket or a block; it is kept if it was cut, else what is inside of it."""
        left = self.open.pop()
        left.end = end
        self.open[-1].inner += [left] if left.cuts else left.inner

    def between(self, mark: str, position: int) -> None:
        """A comma, semicolon or colon."""
        top = self.open[-1]
        if mark == ":":
            top.pairs = top.pairs or not top.cuts
        elif (mark == "," and not top.is_block and top.mark != "x[") or (
            mark == ";" and top.is_block and not _HEADS.match(self.text, self.line)
        ):
            self.cut_at(top, position)

    def cut_at(self, top: Long, position: int) -> None:
        """Begin another part where the one before is long enough."""
        if position - (top.cuts[-1] if top.cuts else top.start) >= PART:
            top.cuts.append(position)

    def indent(self, indent: str, position: int) -> None:
        """The begin of a line of code; inside brackets it is none."""
        if not self.open[-1].is_block:
            return
        while len(indent) < len(self.open[-1].mark):
            self.close(position)
        top = self.open[-1]
        if len(indent) > len(top.mark):
            self.open.append(Long(indent, position))
        elif indent != top.mark:
            raise Uncut
        elif (
            not _GOES_ON.match(self.text, position + len(indent))
            and self.text[self.line : self.line + 1] != "@"
        ):
            self.cut_at(top, position)
        self.line = position + len(indent)
