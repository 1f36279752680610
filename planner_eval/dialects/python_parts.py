"""Long Python text as a tree whose long lists are made part by part, and dropped once they were looked at.

ast.parse takes some thousand times the memory of its text. Here the text is cut where statements, and where
the items of long brackets, are apart. A part is parsed when a reader comes to it, in its own line and column.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

from planner_eval.base.later import later
from planner_eval.dialects import python_cuts
from planner_eval.dialects.python_cuts import UNREAD, Long, Uncut, cut
from planner_eval.dialects.python_data import NoData, data_of

_WARNED = later(r"[\\0-9](?:(?<=\\)|[A-Za-z])")
"""What Python's parser may warn of, escapes and letters after digits; silence costs more than the parse."""
LINES = later(r"\r\n|\r|\n")
_FORMATTED = later(r"[FTft](?:(?<!\w.)[Rr]?|(?<=[Rr].)(?<!\w..))['\"]")
"""A text in which quotes of its own kind may stand, from some version of Python on.

A letter to begin with is looked for eight times as quickly as what must not stand before it.
"""
PARSED = 256_000
"""Characters that are parsed at once at most, those in quotes not counted: they are one node."""
_QUOTED = later(
    r"""'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?|\"""(?:[^"\\]++|\\.|"(?!""))*+(?:\""")?|"""
    r"""'(?:[^'\\\r\n]++|\\.)*+'?|"(?:[^"\\\r\n]++|\\.)*+"?|\#[^\r\n]*+""",
    re.S,
)
"""Texts, those that nothing closes too, where parsing ends; and comments."""
_FAR = 100_000
"""Lines or columns that are not put before a part: at each of many parts they would cost all before it."""
_FIELDS = ("body", "orelse", "finalbody")


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


def parsed(text: str) -> ast.Module:
    """What ast.parse makes of a text, without Python's warnings about it."""
    if not _WARNED.search(text):
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
            waiting.append(ast.iter_child_nodes(child) if data_in(child) is None else iter(()))
            break
        else:
            waiting.pop()


def in_parts(text: str) -> ast.Module:
    r"""The tree of a long text; ast.parse's for one that need not, or cannot, be cut.

    Raises:
        SyntaxError: as ast.parse.
        Uncut: more than :data:`PARSED` would have to be parsed at once.

    >>> tree = in_parts("f(a=1)\n" * 2000)
    >>> len(tree.body), tree.body[1999].lineno
    (2000, 2000)
    """
    outline, opened = cut(text)
    if not (outline.cuts or outline.inner or opened):
        return _at_once(text)
    source = _Source(text)
    for start, end in outline.parts():
        if (
            opened
            and end == len(text)
            and end - start > 2 * python_cuts.PART
            and not _FORMATTED.search(text, start)
        ):
            line, column = source.at(opened)  # ast.parse would read all before it said so
            message = f"'{text[opened]}' was never closed"
            raise BrokenPart(SyntaxError(message, ("<unknown>", line + 1, column + 1, None)), start, end)
        try:
            outline.note("body", source.part(outline, start, end, placed=False).body)
        except (SyntaxError, Uncut):
            source.far = len(text)  # an error may tell other lines in words
            if len(text) > PARSED:
                _refuse_part(source, outline, start, end)
            source.part(Long("", start), start, len(text))  # what is wrong is wrong there too
            return _at_once(text)
    return ast.Module(body=_Made(source, outline), type_ignores=[])


def data_in(node: ast.AST) -> Any:
    """What a long list or object is, where it is data and nothing else; else None."""
    if isinstance(node, (ast.List, ast.Tuple)):
        items = node.elts
    elif isinstance(node, ast.Dict):
        items = node.values
    else:
        return None
    return items.data if isinstance(items, _Made) else None


def may_hold(body: list[Any], kinds: frozenset[type]) -> bool:
    """Whether statements, or expressions that are one, may be of some kinds; made parts know of theirs."""
    return not isinstance(body, _Made) or not body.kinds.isdisjoint(kinds)


def are_expressions(body: list[ast.stmt]) -> bool:
    """Whether all statements are expressions."""
    if isinstance(body, _Made):
        return all(kind is ast.Expr or issubclass(kind, ast.expr) for kind in body.kinds)
    return all(isinstance(node, ast.Expr) for node in body)


def _refuse_part(source: _Source, long: Long, start: int, end: int) -> None:
    try:
        source.part(long, start, end)
    except Uncut:
        raise BrokenPart(SyntaxError(), start, end) from None
    except SyntaxError as error:
        raise BrokenPart(error, start, end) from None


def _at_once(text: str) -> ast.Module:
    if _is_large(text):
        raise Uncut
    return parsed(text)


def _is_large(text: str) -> bool:
    """Whether a text may have too large a tree; what a text in quotes formats is a tree too."""
    if len(text) <= PARSED:
        return False
    return bool(_FORMATTED.search(text)) or len(_QUOTED.sub("", text)) > PARSED


class _Source:
    """A text of which parts are parsed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.far = _FAR
        self.starts = [0, *(match.end() for match in LINES.finditer(text))]
        used_numbers = set(re.findall(r"_cut(\d++)", text))
        self.name = next(f"_cut{number}" for number in count() if str(number) not in used_numbers)

    def at(self, offset: int) -> tuple[int, int]:
        """The line of a place, counted from 0, and its column in bytes."""
        line = bisect_right(self.starts, offset) - 1
        return line, len(self.text[self.starts[line] : offset].encode("utf-8", "surrogatepass"))

    def part(self, long: Long, start: int, end: int, *, placed: bool = True) -> ast.Module:
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
        if end - start - sum(piece.end - piece.start for piece in inner) > PARSED and _is_large(text):
            raise Uncut
        if long.is_block:
            head = "if 1:" if long.mark else ""
            lead = "\n" * line
            if column >= len(long.mark) + 2:  # after a semicolon
                lead += f"{long.mark}0;".ljust(column)
            elif column:
                lead = lead[:-1] + f"{long.mark}(0\n{');'.ljust(column)}"
            tree = parsed(f"{head}{lead}{text}")
            body = tree.body[0].body if head else tree.body  # type: ignore[attr-defined]
            if head and len(tree.body) > 1:
                raise Uncut
            tree.body = body[1:] if column else body
        else:
            head = "{" if long.mark == "{" and long.pairs else "_(" if long.mark == "f(" else "["
            lead = "\n" * line + " " * column if line else " " * (column - len(head))
            tree = parsed(f"{head}{lead}{text}\n{'}' if head == '{' else ')' if head == '_(' else ']'}")
        if placed and (down or right):
            _move(tree, line + 1, down, right)
        if inner:
            self.attach(tree, inner)
        return tree

    def shortened(self, start: int, end: int, inner: list[Long]) -> str:
        """The text of a part with a name in the place of each that is cut inside of it."""
        texts, position = [], start
        for number, piece in enumerate(inner):
            first, last = self.at(piece.start), self.at(piece.end)
            name = f"{self.name}_{number}_"
            if piece.is_block:  # the statement around it ends where its last one does
                stop = self.stop(piece)
                put = _until(f"{piece.mark}({name}", first, (stop[0], stop[1] - 1)) + ")"
                put += "\n" * max(last[0] - stop[0], 1)
            else:
                put = _until(f"{'**' if piece.mark == '{' and piece.pairs else '*'}{name},", first, last)
            texts += [self.text[position : piece.start], put]
            position = piece.end
        return "".join([*texts, self.text[position:end]])

    def stop(self, long: Long) -> tuple[int, int]:
        """Where the last statement of a block ends, as :meth:`at` says it."""
        if long.stop is None:
            bodies = (self.part(long, *bounds).body for bounds in reversed(long.parts()))
            node = next(body for body in bodies if body)[-1]
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            long.stop = node.end_lineno - 1, node.end_col_offset
        return long.stop

    def attach(self, tree: ast.Module, inner: list[Long]) -> None:
        """Put what is made part by part in the places of the names.

        Raises:
            Uncut: one stands where no items stand.
        """
        named = {f"{self.name}_{number}_": piece for number, piece in enumerate(inner)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                starred = _starred(node.args)
                if starred in named and len(node.args) == 1 and not node.keywords:
                    long = named.pop(starred)
                    node.args, node.keywords = _Made(self, long, "args"), _Made(self, long, "keywords")
            elif isinstance(node, ast.Dict):
                value = node.values[0] if len(node.values) == 1 else None
                if isinstance(value, ast.Name) and node.keys == [None] and value.id in named:
                    long = named.pop(value.id)
                    node.keys, node.values = _Made(self, long, "keys"), _Made(self, long, "values")
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                starred = _starred(node.elts)
                stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
                if starred in named and len(node.elts) == 1 and not stored:
                    node.elts = _Made(self, named.pop(starred), "elts")
            else:
                for key in _FIELDS:
                    name = _alone(getattr(node, key, None))
                    if name in named:
                        setattr(node, key, _Made(self, named.pop(name)))
        if named:
            raise Uncut


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


def _until(text: str, start: tuple[int, int], end: tuple[int, int]) -> str:
    """A text that begins at a line and column, with white space up to others."""
    lines = end[0] - start[0]
    return text + "\n" * lines + " " * end[1] if lines else text.ljust(end[1] - start[1])


def _alone(body: Any) -> str:
    """The name that is all that a block says."""
    first = body[0] if isinstance(body, list) and len(body) == 1 else None
    return first.value.id if isinstance(first, ast.Expr) and isinstance(first.value, ast.Name) else ""


def _starred(items: list[ast.expr]) -> str:
    """The name that the first of some items spreads."""
    first = items[0] if items else None
    return first.value.id if isinstance(first, ast.Starred) and isinstance(first.value, ast.Name) else ""


class _Made(list[Any]):
    """Nodes that are made anew whenever they are looked at; a list, for in trees nothing else holds nodes.

    Raises:
        SyntaxError: a part is no Python by itself.
        Uncut: as :meth:`_Source.part`.
    """

    def __init__(self, source: _Source, long: Long, key: str = "body") -> None:
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
                raise Uncut
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
                if end - start > PARSED:
                    return None
                piece = data_of(self._source.text[start:end], pairs=pairs)
                data.update(piece) if pairs else data.extend(piece)
        except NoData:
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
