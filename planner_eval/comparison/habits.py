"""Edits as they are told: what is done again and again on one line, consequences under their cause."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.causes import change
from planner_eval.comparison.edits import Edit
from planner_eval.comparison.sentences import Names, calls_numbers, value_name
from planner_eval.plan.canonical import OWN, value_key
from planner_eval.plan.model import Call

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff

OBJECT = "positional.object"
"""All arguments stand in one object, which has no name or is the first by position: ``f({"x": 1})``."""

UNNAMED = ("", "0")
"""The names that readers give an argument without one."""


class Line(NamedTuple):
    """One edit, or several that are one habit, as told.

    Args:
        name: The code of the edit, or what the habit is called.
        edits: Positions in the diff's edits.
        calls: Where it is: ``calls 1, 3``; empty for a single edit, whose message says it.
        times: How often it is done.
        said: The sentence of the first.
        depth: How far it stands below its root cause.
    """

    name: str
    edits: tuple[int, ...]
    calls: str
    times: int
    said: str
    depth: int

    @property
    def head(self) -> str:
        """What stands before the sentence: ``number for text ×2 (calls 1, 3)``."""
        times = f" ×{self.times}" if self.times > 1 else ""
        return f"{self.name}{times} ({self.calls})" if self.calls else self.name + times


def told_lines(found: Diff, *, each: bool = False) -> list[Line]:
    """The edits of a comparison, line by line.

    Args:
        found: The comparison.
        each: Give each edit a line of its own.
    """
    edits = found.edits
    keys: dict[int, Hashable] = {} if each or len(edits) < 2 else _keys(found)
    groups: list[list[int]] = []
    home: list[int] = []
    parents: list[int | None] = []
    known: dict[Hashable, int] = {}
    for at, edit in enumerate(edits):
        above, key = None if edit.cause is None else home[edit.cause], keys.get(at, at)
        if above is not None and keys.get(groups[above][0]) == key:
            group = above  # the same again follows from the first
        else:
            group = known.setdefault((above, key), len(groups))
        if group == len(groups):
            groups.append([])
            parents.append(above)
        groups[group].append(at)
        home.append(group)
    return [_line(found, keys, groups[group], depth) for group, depth in _in_order(parents)]


def habits_data(found: Diff) -> list[dict[str, Any]]:
    """What is done again and again, as JSON data: its name, how often, and which edits it is."""
    lines = (line for line in told_lines(found) if len(line.edits) > 1)
    return [{"name": line.name, "count": line.times, "edits": list(line.edits)} for line in lines]


def _in_order(parents: list[int | None]) -> Iterator[tuple[int, int]]:
    """Groups with their depths, each followed by those that follow from it."""
    children: dict[int | None, list[int]] = {}
    for group, parent in enumerate(parents):
        children.setdefault(parent, []).append(group)
    stack = [(group, 0) for group in reversed(children.get(None, []))]
    while stack:
        group, depth = stack.pop()
        yield group, depth
        stack += [(child, depth + 1) for child in reversed(children.get(group, []))]


def _line(found: Diff, keys: dict[int, Hashable], group: list[int], depth: int) -> Line:
    edits = [found.edits[at] for at in group]
    first = edits[0]
    if len(edits) == 1:
        return Line(first.code, tuple(group), "", 1, first.message, depth)
    key = keys[group[0]]
    if key == OBJECT:
        calls = dict.fromkeys(edit.pred.call for edit in edits if edit.pred is not None)
        return Line(OBJECT, tuple(group), calls_numbers(calls), len(calls), _object_said(found, first), depth)
    name = key if isinstance(key, str) else first.code
    mine = [edit.pred.call for edit in edits if edit.pred is not None]
    where = (
        calls_numbers(mine)
        if mine
        else calls_numbers((e.gold.call for e in edits if e.gold is not None), "gold's ")
    )
    return Line(name, tuple(group), where, len(edits), first.message, depth)


def _keys(found: Diff) -> dict[int, Hashable]:
    """What each edit has in common with others of one habit; a habit that has a name is called by it."""
    objects = _objects(found)
    keys: dict[int, Hashable] = {}
    for at, edit in enumerate(found.edits):
        if edit.code not in _ONCE:
            keys[at] = OBJECT if at in objects else _key(found, edit)
    return keys


def _key(found: Diff, edit: Edit) -> Hashable:
    code, pred, gold = edit.code, edit.pred, edit.gold
    if code == "name.spelling":
        return code
    if code == "argument.renamed" and pred is not None and gold is not None:
        return "positional.arguments" if str(pred.argument).isdecimal() else (code, pred[1:], gold[1:])
    if code == "argument.type":
        return other_type(edit.pred_value, edit.gold_value) or change(edit)
    if code == "call.duplicated" and pred is not None and pred.call is not None:
        call = found.pred.calls[pred.call]
        return code, call.tool, tuple((name, value_key(value, OWN)) for name, value in call.arguments)
    if code in ("argument.missing", "argument.extra") and gold is not None and gold.call is not None:
        return change(edit), found.gold.calls[gold.call].tool
    return change(edit)


_ONCE = ("call.missing", "call.extra", "call.merged", "call.split", "order.broken", "arguments.swapped")
"""Codes of edits that say nothing of values: each is told for itself."""

_TYPES: dict[type, str] = {str: "text", int: "number", float: "number", bool: "boolean", list: "list"}


def other_type(ours: Any, theirs: Any) -> str | None:
    """What two values are that say the same in two types; None for others.

    >>> other_type(500, "500"), other_type(["a"], "a"), other_type(500, "501")
    ('number for text', 'list for text', None)
    """
    kinds = _TYPES.get(type(ours)), _TYPES.get(type(theirs))
    if None in kinds or kinds[0] == kinds[1] or _bare(ours) != _bare(theirs):
        return None
    return f"{kinds[0]} for {kinds[1]}"


def _bare(value: Any) -> Any:
    """A value without its type: a number as it is, texts by the number that they hold."""
    if isinstance(value, list):
        return _bare(value[0]) if len(value) == 1 else None
    try:
        text = str(value).strip().lower()
    except ValueError:  # a number of thousands of digits
        return value
    try:
        return float(text)
    except ValueError:
        return text


def _objects(found: Diff) -> set[int]:
    """The edits about arguments that stand in one object, where gold gives them by their names."""
    about: dict[int, list[int]] = {}
    for at, edit in enumerate(found.edits):
        if edit.pred is not None and edit.pred.call is not None:
            about.setdefault(edit.pred.call, []).append(at)
    covered: set[int] = set()
    images: Sequence[int] | None = None
    for call, edits in about.items():
        held = one_object(found.pred.calls[call])
        if held is None:
            continue
        if images is None:
            images = Names.of(found.pred, found.gold, found.alignment.pairs).to_gold
        missing = [at for at in edits if found.edits[at].code == "argument.missing"]
        same = [at for at in missing if _holds(held, found.edits[at], images)]
        extra = [at for at in edits if found.edits[at].code == "argument.extra"]
        names = {place.argument for at in missing if (place := found.edits[at].gold) is not None}
        if same and names.issuperset(held):
            covered.update(same, extra)
    return covered


def one_object(call: Call) -> dict[str, Any] | None:
    """The object in which all arguments of a call stand; None where they stand for themselves.

    >>> one_object(Call("c", "f", (("0", {"x": 1}),))), one_object(Call("c", "f", (("x", {"y": 1}),)))
    ({'x': 1}, None)
    """
    (name, value), *more = call.arguments or ((None, None),)
    return value if name in UNNAMED and not more and isinstance(value, dict) else None


def _holds(held: dict[str, Any], edit: Edit, images: Sequence[int]) -> bool:
    name = edit.gold.argument if edit.gold is not None else None
    return name in held and bool(value_key(held[name], images) == value_key(edit.gold_value, OWN))


def _object_said(found: Diff, edit: Edit) -> str:
    call = edit.pred.call if edit.pred is not None else None
    assert call is not None, "an object stands in a call"
    names = Names.of(found.pred, found.gold, found.alignment.pairs)
    ((name, value),) = found.pred.calls[call].arguments
    shown = value_name(value, names.our_number)
    return f"{names.ours(call)}: argument {name!r} = {shown} holds gold's arguments"
