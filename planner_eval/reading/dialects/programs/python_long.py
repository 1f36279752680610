"""Long Python text, read part by part.

ast.parse takes some thousand times the memory of its text. Here the text is cut where statements, and where
the items of long brackets, are apart. A part is parsed when a reader comes to it, in its own line and column.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice, pairwise
from typing import Any

from planner_eval.base.text import lazy_pattern
from planner_eval.reading.dialects.programs.literals import NotDataError, parse_literal_items

# ----------------------------------------------------------------------
# Where long Python text can be cut: between statements, and between the items of long brackets.
#
# Whether it is Python is not asked here: a cut in a wrong place leaves a part that ast.parse refuses.
PART_CHARS = 6_000
"""Characters of a part: what is parsed at once."""
_TOKEN = lazy_pattern(
    r"""[\[({](?:[^\[\](){}'"#\\\r\n]|'[^'\\\r\n]{0,99}+'(?!')|"[^"\\\r\n]{0,99}+"(?!")){0,99}+[\])}]"""
    r"""|(?P<text>'''(?:[^'\\]++|\\.|'(?!''))*+'''|\"""(?:[^"\\]++|\\.|"(?!""))*+\"""|"""
    r"""'(?:[^'\\\r\n]++|\\\r\n|\\.)*+'|"(?:[^"\\\r\n]++|\\\r\n|\\.)*+")"""
    r"""|(?P<stop>['"]|\\(?!\r?\n|\r))|(?P<open>[\[({])|(?P<close>[\])}])|(?P<between>[,;:])"""
    r"""|\#[^\r\n]*+|\\(?:\r\n?|\n)|(?:\r\n?|\n)(?P<indent>[ \t]*+)(?![ \t\f\r\n#]|\Z)""",
    re.S,
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_CONTINUATION = lazy_pattern(r"(?:else|elif|except|finally)\b")
"""What begins a line that belongs to the statement before it."""
_BLOCK_HEAD = lazy_pattern(r"(?:if|for|while|with|try|else|elif|except|finally|def|class|async|match|case)\b")
"""What begins a line on which others may stand inside of it, after a colon."""


_MAX_NESTING = 300
"""Brackets in brackets and blocks in blocks, of which Python reads fewer."""
UNREAD: Any = object()
"""Of items that nobody has read as data."""


class UncuttableError(Exception):
    """A text that these rules do not cut; it may be Python all the same."""


@dataclass(slots=True)
class Outline:
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
    inner: list[Outline] = field(default_factory=list)
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


def cut(text: str) -> tuple[Outline, int]:
    """The statements of a text, all after what cannot be cut as one part; and a bracket that stays open."""
    cutter, opened = _Cutter(text), 0
    with suppress(UncuttableError):
        cutter.read()
        opened = cutter.open[-1].start - 1 if len(cutter.open) > 1 else 0
    outline = cutter.open[0]
    outline.end = len(text)
    return outline, opened


class _Cutter:
    """Finds where a text can be cut."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open = [Outline("", 0)]
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
                if len(self.open) > _MAX_NESTING:
                    raise UncuttableError
                self.open.append(Outline(self.bracket(match), match.end()))
            elif kind == "close":
                if self.open[-1].is_block or _CLOSING[self.open[-1].mark[-1]] != match.group():
                    raise UncuttableError
                self.close(match.start())
            elif kind == "indent":
                self.indent(match["indent"], match.start("indent"))
            elif kind == "stop":
                raise UncuttableError
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
            mark == ";" and top.is_block and not _BLOCK_HEAD.match(self.text, self.line)
        ):
            self.cut_at(top, position)

    def cut_at(self, top: Outline, position: int) -> None:
        """Begin another part where the one before is long enough."""
        if position - (top.cuts[-1] if top.cuts else top.start) >= PART_CHARS:
            top.cuts.append(position)

    def indent(self, indent: str, position: int) -> None:
        """The begin of a line of code; inside brackets it is none."""
        if not self.open[-1].is_block:
            return
        while len(indent) < len(self.open[-1].mark):
            self.close(position)
        top = self.open[-1]
        if len(indent) > len(top.mark):
            self.open.append(Outline(indent, position))
        elif indent != top.mark:
            raise UncuttableError
        elif (
            not _CONTINUATION.match(self.text, position + len(indent))
            and self.text[self.line : self.line + 1] != "@"
        ):
            self.cut_at(top, position)
        self.line = position + len(indent)


# ----------------------------------------------------------------------
# Long Python text as a tree whose long lists are made part by part, and dropped once they were looked at.
_WARNING_CAUSE = lazy_pattern(r"\\(?!['\"\\\nabfnrtv0-3x])|[0-9][A-Za-z]")
"""What Python's parser may warn of, escapes and letters after digits; silence costs more than the parse."""
LINE_END = lazy_pattern(r"\r\n|\r|\n")
_FORMATTED_STRING = lazy_pattern(r"[FTft](?:(?<!\w.)[Rr]?|(?<=[Rr].)(?<!\w..))['\"]")
"""A text in which quotes of its own kind may stand, from some version of Python on.

A letter to begin with is looked for eight times as quickly as what must not stand before it.
"""
MAX_PARSED_CHARS = 256_000
"""Characters that are parsed at once at most, those in quotes not counted: they are one node."""
_QUOTED_OR_COMMENT = lazy_pattern(
    r"""'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?|\"""(?:[^"\\]++|\\.|"(?!""))*+(?:\""")?|"""
    r"""'(?:[^'\\\r\n]++|\\.)*+'?|"(?:[^"\\\r\n]++|\\.)*+"?|\#[^\r\n]*+""",
    re.S,
)
"""Texts, those that nothing closes too, where parsing ends; and comments."""
_MAX_PADDING = 100_000
"""Lines or columns that are not put before a part: at each of many parts they would cost all before it."""
_BLOCK_FIELDS = ("body", "orelse", "finalbody")


class BrokenPart(SyntaxError):
    """What is wrong with long text.

    Args:
        error: The error of a part; one that says nothing where the part is too long to be parsed at once.
        start: Where the part begins.
        end: Where it ends.
    """

    def __init__(self, error: SyntaxError, start: int, end: int) -> None:
        super().__init__(*error.args)
        self.start = start
        self.end = end


def parse_quietly(text: str) -> ast.Module:
    """What ast.parse makes of a text, without Python's warnings about it."""
    if not _WARNING_CAUSE.search(text):
        return ast.parse(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it but long data, of which few exist at a time; ast.walk keeps all of a level.

    >>> [type(node).__name__ for node in walk(ast.parse("f(1)"))]
    ['Module', 'Expr', 'Call', 'Name', 'Load', 'Constant']
    """
    waiting = [iter((node,))]
    while waiting:
        for child in waiting[-1]:
            yield child
            waiting.append(ast.iter_child_nodes(child) if find_long_data(child) is None else iter(()))
            break
        else:
            waiting.pop()


def parse_in_parts(text: str) -> ast.Module:
    r"""The tree of a long text; ast.parse's for one that need not, or cannot, be cut.

    Raises:
        SyntaxError: as ast.parse.
        Uncut: more than :data:`MAX_PARSED_CHARS` would have to be parsed at once.

    >>> tree = parse_in_parts("f(a=1)\n" * 2000)
    >>> len(tree.body), tree.body[1999].lineno
    (2000, 2000)
    """
    outline, opened = cut(text)
    if not (outline.cuts or outline.inner or opened):
        return _parse_at_once(text)
    source = _Source(text)
    for start, end in outline.parts():
        if (
            opened
            and end == len(text)
            and end - start > 2 * PART_CHARS
            and not _FORMATTED_STRING.search(text, start)
        ):
            line, column = source.at(opened)  # ast.parse would read all before it said so
            message = f"'{text[opened]}' was never closed"
            raise BrokenPart(SyntaxError(message, ("<unknown>", line + 1, column + 1, None)), start, end)
        try:
            outline.note("body", source.part(outline, start, end, placed=False).body)
        except (SyntaxError, UncuttableError):
            source.far = len(text)  # an error may tell other lines in words
            if len(text) > MAX_PARSED_CHARS:
                _refuse_part(source, outline, start, end)
            source.part(Outline("", start), start, len(text))  # what is wrong is wrong there too
            return _parse_at_once(text)
    return ast.Module(body=_LazyNodes(source, outline), type_ignores=[])


def find_long_data(node: ast.AST) -> Any:
    """What a long list or object is, where it is data and nothing else; else None."""
    if isinstance(node, (ast.List, ast.Tuple)):
        items = node.elts
    elif isinstance(node, ast.Dict):
        items = node.values
    else:
        return None
    return items.data if isinstance(items, _LazyNodes) else None


def may_hold_kinds(body: list[Any], kinds: frozenset[type]) -> bool:
    """Whether statements, or expressions that are one, may be of some kinds; made parts know of theirs."""
    return not isinstance(body, _LazyNodes) or not body.kinds.isdisjoint(kinds)


def are_expressions(body: list[ast.stmt]) -> bool:
    """Whether all statements are expressions."""
    if isinstance(body, _LazyNodes):
        return all(kind is ast.Expr or issubclass(kind, ast.expr) for kind in body.kinds)
    return all(isinstance(node, ast.Expr) for node in body)


def _refuse_part(source: _Source, long: Outline, start: int, end: int) -> None:
    try:
        source.part(long, start, end)
    except UncuttableError:
        raise BrokenPart(SyntaxError(), start, end) from None
    except SyntaxError as error:
        raise BrokenPart(error, start, end) from None


def _parse_at_once(text: str) -> ast.Module:
    if _is_large(text):
        raise UncuttableError
    return parse_quietly(text)


def _is_large(text: str) -> bool:
    """Whether a text may have too large a tree; what a text in quotes formats is a tree too."""
    if len(text) <= MAX_PARSED_CHARS:
        return False
    return bool(_FORMATTED_STRING.search(text)) or len(_QUOTED_OR_COMMENT.sub("", text)) > MAX_PARSED_CHARS


class _Source:
    """A text of which parts are parsed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.far = _MAX_PADDING
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]
        used_numbers = set(re.findall(r"_cut(\d++)", text))
        self.name = next(f"_cut{number}" for number in count() if str(number) not in used_numbers)

    def at(self, offset: int) -> tuple[int, int]:
        """The line of a place, counted from 0, and its column in bytes."""
        line = bisect_right(self.starts, offset) - 1
        return line, len(self.text[self.starts[line] : offset].encode("utf-8", "surrogatepass"))

    def part(self, long: Outline, start: int, end: int, *, placed: bool = True) -> ast.Module:
        """The tree of a part, alone where it stands in the text.

        Args:
            long: What it is a part of.
            start: Where it begins.
            end: Where it ends.
            placed: Whether lines and columns have to be those of the text: to move nodes takes time.

        Raises:
            SyntaxError: it is no Python by itself.
            Uncut: what is cut inside of it is no list of items there.
        """
        line, column = self.at(start)
        down, right = max(line - 1, 0), column - len(long.mark) - 2
        down, right = down if down > self.far else 0, right if right > self.far else 0
        line, column = line - down, column - right
        inner = [piece for piece in long.inner if start <= piece.start < end]
        text = self.shortened(start, end, inner)
        if end - start - sum(piece.end - piece.start for piece in inner) > MAX_PARSED_CHARS and _is_large(
            text
        ):
            raise UncuttableError
        if long.is_block:
            head = "if 1:" if long.mark else ""
            lead = "\n" * line
            if column >= len(long.mark) + 2:  # after a semicolon
                lead += f"{long.mark}0;".ljust(column)
            elif column:
                lead = lead[:-1] + f"{long.mark}(0\n{');'.ljust(column)}"
            tree = parse_quietly(f"{head}{lead}{text}")
            body = tree.body[0].body if head else tree.body  # type: ignore[attr-defined]
            if head and len(tree.body) > 1:
                raise UncuttableError
            tree.body = body[1:] if column else body
        else:
            head = "{" if long.mark == "{" and long.pairs else "_(" if long.mark == "f(" else "["
            lead = "\n" * line + " " * column if line else " " * (column - len(head))
            tree = parse_quietly(
                f"{head}{lead}{text}\n{'}' if head == '{' else ')' if head == '_(' else ']'}"
            )
        if placed and (down or right):
            _move(tree, line + 1, down, right)
        if inner:
            self.attach(tree, inner)
        return tree

    def shortened(self, start: int, end: int, inner: list[Outline]) -> str:
        """The text of a part with a name in the place of each that is cut inside of it."""
        texts, position = [], start
        for number, piece in enumerate(inner):
            first, last = self.at(piece.start), self.at(piece.end)
            name = f"{self.name}_{number}_"
            if piece.is_block:  # the statement around it ends where its last one does
                stop = self.stop(piece)
                put = _pad_until(f"{piece.mark}({name}", first, (stop[0], stop[1] - 1)) + ")"
                put += "\n" * max(last[0] - stop[0], 1)
            else:
                put = _pad_until(f"{'**' if piece.mark == '{' and piece.pairs else '*'}{name},", first, last)
            texts += [self.text[position : piece.start], put]
            position = piece.end
        return "".join([*texts, self.text[position:end]])

    def stop(self, long: Outline) -> tuple[int, int]:
        """Where the last statement of a block ends, as :meth:`at` says it."""
        if long.stop is None:
            bodies = (self.part(long, *bounds).body for bounds in reversed(long.parts()))
            node = next(body for body in bodies if body)[-1]
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            long.stop = node.end_lineno - 1, node.end_col_offset
        return long.stop

    def attach(self, tree: ast.Module, inner: list[Outline]) -> None:
        """Put what is made part by part in the places of the names.

        Raises:
            Uncut: one stands where no items stand.
        """
        named = {f"{self.name}_{number}_": piece for number, piece in enumerate(inner)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                starred = _starred_name(node.args)
                if starred in named and len(node.args) == 1 and not node.keywords:
                    long = named.pop(starred)
                    node.args, node.keywords = (
                        _LazyNodes(self, long, "args"),
                        _LazyNodes(self, long, "keywords"),
                    )
            elif isinstance(node, ast.Dict):
                value = node.values[0] if len(node.values) == 1 else None
                if isinstance(value, ast.Name) and node.keys == [None] and value.id in named:
                    long = named.pop(value.id)
                    node.keys, node.values = _LazyNodes(self, long, "keys"), _LazyNodes(self, long, "values")
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                starred = _starred_name(node.elts)
                stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
                if starred in named and len(node.elts) == 1 and not stored:
                    node.elts = _LazyNodes(self, named.pop(starred), "elts")
            else:
                for key in _BLOCK_FIELDS:
                    name = _only_name(getattr(node, key, None))
                    if name in named:
                        setattr(node, key, _LazyNodes(self, named.pop(name)))
        if named:
            raise UncuttableError


def _move(tree: ast.AST, first: int, down: int, right: int) -> None:
    """Put a tree where its text stands: so many lines further, and from the first line on as many columns."""
    waiting = [tree]
    while waiting:  # ast.walk takes several times as long
        node = waiting.pop()
        attributes = vars(node)
        if "end_lineno" in attributes:
            if attributes["lineno"] == first:
                attributes["col_offset"] += right
            if attributes["end_lineno"] == first:
                attributes["end_col_offset"] += right
            attributes["lineno"] += down
            attributes["end_lineno"] += down
        for value in attributes.values():
            if type(value) is list:
                waiting += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append(value)


def _pad_until(text: str, start: tuple[int, int], end: tuple[int, int]) -> str:
    """A text that begins at a line and column, with white space up to others."""
    lines = end[0] - start[0]
    return text + "\n" * lines + " " * end[1] if lines else text.ljust(end[1] - start[1])


def _only_name(body: Any) -> str:
    """The name that is all that a block says."""
    first = body[0] if isinstance(body, list) and len(body) == 1 else None
    return first.value.id if isinstance(first, ast.Expr) and isinstance(first.value, ast.Name) else ""


def _starred_name(items: list[ast.expr]) -> str:
    """The name that the first of some items spreads."""
    first = items[0] if items else None
    return first.value.id if isinstance(first, ast.Starred) and isinstance(first.value, ast.Name) else ""


class _LazyNodes(list[Any]):
    """Nodes that are made anew whenever they are looked at; a list, for in trees nothing else holds nodes.

    Raises:
        SyntaxError: a part is no Python by itself.
        Uncut: as :meth:`_Source.part`.
    """

    def __init__(self, source: _Source, long: Outline, key: str = "body") -> None:
        super().__init__()
        self._source = source
        self._long = long
        self._key = key
        if key not in long.counts:
            long.counts[key] = 0
            if self.data is None:
                long.note(key, self._nodes(placed=False))
            else:
                long.counts[key] = len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return self._nodes(placed=True)

    def _nodes(self, *, placed: bool) -> Iterator[Any]:
        for start, end in self._long.parts():
            tree = self._source.part(self._long, start, end, placed=placed)
            if self._long.is_block:
                yield from tree.body
                continue
            (statement,) = tree.body
            value = statement.value if isinstance(statement, ast.Expr) else None
            items = getattr(value, self._key, None)
            if items is None:
                raise UncuttableError
            yield from items

    @property
    def data(self) -> Any:
        """What the items are, where they are data and nothing else; else None."""
        if self._long.data is UNREAD:
            self._long.data = self._read() if self._key in ("elts", "keys", "values") else None
        return self._long.data

    def _read(self) -> Any:
        pairs = self._key != "elts"
        data: Any = {} if pairs else []
        try:
            for start, end in self._long.parts():
                if end - start > MAX_PARSED_CHARS:
                    return None
                piece = parse_literal_items(self._source.text[start:end], pairs=pairs)
                data.update(piece) if pairs else data.extend(piece)
        except NotDataError:
            return None
        return data

    @property
    def kinds(self) -> set[type]:
        """Of what types the nodes are."""
        return self._long.kinds

    def __len__(self) -> int:
        return self._long.counts[self._key]

    def __bool__(self) -> bool:
        return len(self) > 0

    def __getitem__(self, index: Any) -> Any:
        return next(islice(iter(self), index, None))
