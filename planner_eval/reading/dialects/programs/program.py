"""Pieces of a text that are programs: what their variables hold for later ones, their calls together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner_eval.base.frozen import replace
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import RawCall, RawRef, Value, map_leaves
from planner_eval.reading.dialects.programs.values import ChangedResults, Unknown


def result_name(position: int) -> str:
    """The made-up name of the result of a piece's call."""
    return f"@{position}"


class PieceVariables(NamedTuple):
    """What the variables of a piece of a text hold after it, for the pieces that follow.

    Args:
        piece: The piece's number, of which no other piece of the text has the same.
        held: Variable → value; a reference is to a call of the piece by :func:`result_name`, or of one
            before.
    """

    piece: int
    held: Mapping[str, Value | Unknown]

    def shared(self) -> dict[str, Value | Unknown]:
        """The same as later pieces see it: calls of the piece under names that no other piece's calls have.

        >>> PieceVariables(3, {"x": RawRef("@0", ("city",))}).shared()
        {'x': RawRef(name='0@3', path=('city',))}
        """

        def own(name: str) -> str:
            return f"{name[1:]}@{self.piece}" if name[:1] == "@" else name

        def leaf(item: Value) -> Value:
            return RawRef(own(item.name), item.path) if isinstance(item, RawRef) else item

        renamed: dict[int, Value] = {}

        def shared(value: Value | Unknown) -> Value | Unknown:
            if isinstance(value, ChangedResults):
                fields = {(own(name), step): unsure for (name, step), unsure in value.fields.items()}
                return ChangedResults(fields)
            if isinstance(value, Unknown):
                return value
            if not isinstance(value, (list, dict)):
                return map_leaves(leaf, value)
            if id(value) not in renamed:  # what holds no such call stays the same, as its aliases are
                copied = map_leaves(leaf, value)
                renamed[id(value)] = value if copied == value else copied
            return renamed[id(value)]

        return {name: shared(value) for name, value in self.held.items()}


def connect_calls(
    calls: list[RawCall], pieces: Iterable[tuple[int, int]], repeated: Mapping[str, str]
) -> list[RawCall]:
    """The calls of several pieces, with references to earlier pieces as those within one.

    Args:
        calls: The calls, each one's result under the made-up name of its place.
        pieces: Each piece's number and the place of its first call.
        repeated: The name of a call of a piece that is left out → the name of the call that it repeats.

    >>> one, two = RawCall("f", binds=(("@0", ()),)), RawCall("g", (("y", RawRef("0@7")),))
    >>> connect_calls([one, two], [(7, 0)], {})[1].arguments
    (('y', RawRef(name='@0', path=())),)
    """
    if len(calls) < 2:
        return calls
    starts = dict(pieces)
    named: set[int] = set()

    def leaf(item: Value) -> Value:
        if not isinstance(item, RawRef):
            return item
        name = repeated.get(item.name, item.name)
        call, mark, piece = name.partition("@")
        if not (mark and call.isdigit() and piece.isdigit() and int(piece) in starts):
            return item
        index = starts[int(piece)] + int(call)
        named.add(index)
        return RawRef(result_name(index), item.path)

    linked = [
        replace(call, arguments=tuple([(key, map_leaves(leaf, item)) for key, item in call.arguments]))
        for call in calls
    ]
    for index in named:  # a call that a program only repeats may be of a notation that gives it no name
        if index < len(linked) and all(name != result_name(index) for name, _ in linked[index].binds):
            linked[index] = replace(linked[index], binds=(*linked[index].binds, (result_name(index), ())))
    return linked


class Variables:
    """What variables hold where the pieces of a text are read one after another, and all of them count.

    `held` is for the next piece. The calls of one are shifted by how many stand before them, and connected
    when all are read.
    """

    def __init__(self) -> None:
        self.held: dict[str, Value | Unknown] = {}
        self.starts: list[tuple[int, int]] = []

    def take(self, variables: Mapping[str, Value | Unknown], start: int) -> None:
        """Take what the variables of a piece hold whose calls begin at the place `start`."""
        if variables:
            self.held.update(PieceVariables(start, variables).shared())
            self.starts.append((start, start))

    def connected(self, calls: list[RawCall]) -> list[RawCall]:
        """The calls of all pieces with their references."""
        return connect_calls(calls, self.starts, {}) if self.starts else calls


def shift_names(calls: tuple[RawCall, ...], by: int) -> tuple[RawCall, ...]:
    """The calls with their made-up result names counted on from `by`."""

    def leaf(item: Value) -> Value:
        if isinstance(item, RawRef) and item.name[:1] == "@":
            return RawRef(result_name(int(item.name[1:]) + by), item.path)
        return item

    return tuple(
        replace(
            call,
            arguments=tuple((key, map_leaves(leaf, item)) for key, item in call.arguments),
            binds=tuple(
                (result_name(int(name[1:]) + by) if name[:1] == "@" else name, path)
                for name, path in call.binds
            ),
        )
        for call in calls
    )
