"""What is known of a program while it is followed, and what its variables hold for later pieces of text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import replace
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan, RawRef, Value, map_leaves
from planner_eval.reading.dialects.programs.syntax import JavaScriptModule, PlacedTree, ToolCall
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    CHANGED_RESULTS,
    EXCEPTIONS,
    LIBRARY_FUNCTIONS,
    SELF_NAMES,
    BranchLog,
    ChangedResults,
    Changes,
    ImportedName,
    Scope,
    Unknown,
    UnsureValue,
    VariableValue,
    is_builtin_call,
)


class ProgramState(PlacedTree):
    """What is known of a program while it is followed.

    Args:
        tree: The program's syntax tree.
        text: The program.
        defined: Names that are no tools: functions and libraries that the text before defines.
        limits: Bounds on calls, which hold while they are made.
        calls_before: How many calls were read before, which count too.
        before: What the variables of the text before hold; this program's own come before them.
    """

    def __init__(
        self,
        tree: ast.Module,
        text: str,
        defined: Iterable[str] = (),
        *,
        limits: Limits = DEFAULT_LIMITS,
        calls_before: int = 0,
        before: Mapping[str, VariableValue] | None = None,
    ) -> None:
        super().__init__(tree, text)
        self.limits = limits
        self.most = limits.calls - calls_before
        self.defined = set(defined)
        self.mappings = isinstance(tree, JavaScriptModule)
        self.own: MutableMapping[str, VariableValue] = {}
        # A copy of what was before for each piece of a text would take quadratic time.
        self.held = Scope(self.own, before) if before else self.own  # type: ignore[arg-type]
        self.ways = BranchLog()
        self.changes = Changes(text, self.held.get(CHANGED_RESULTS))
        self.calls: list[RawCall] = []
        self.notes: list[Diagnostic] = []
        self.control: list[tuple[str, str, Span]] = []
        self.endings: list[tuple[bool, str, str, Span]] = []
        self.error: ParseError | None = None
        self.dropped: ParseError | None = None
        self.surely = False
        self.is_program = bool(before) or self.mappings
        self.inside = 0
        self.quiet = False
        self.again = 0
        self.repeating = 0
        self.unassigned: set[str] = set()
        self.tool_names: set[str] = set()
        """Names of the language's functions that a list of calls calls as tools."""
        self.words: dict[str, bool] = {}
        """Whether an ordinal is a word of the text around the calls, not a variable."""
        self.unread: dict[ast.AST, None] = {}
        """Functions that were not followed."""

    def finish(self) -> RawPlan:
        """The calls that were found.

        Raises:
            ParseError: there are calls, and something about one cannot be known; or what may be one is none
                that can be read.
        """
        error = self.error or self.dropped
        if error is not None and (self.calls or self.surely):
            raise error
        return RawPlan(tuple(self.calls), None, tuple(self.notes))

    def settled(self) -> Mapping[str, VariableValue]:
        """What the program's own variables hold after it, for the text that follows."""
        self.changes.settle(self.held, self.own)
        return self.own

    def fail(self, reason: str, offset: int) -> None:
        """Remember the first thing that cannot be read."""
        if self.error is None:
            self.error = ParseError(reason, text=self.text, offset=offset)

    def drop(self, reason: str, offset: int, *, surely: bool = False) -> None:
        """Remember the first call that would be lost.

        Args:
            reason: What is called how.
            offset: Where.
            surely: It is a tool's, even where no other call is.
        """
        message = f"{reason}: only tools that are called by their own names are read"
        if self.dropped is None:
            self.dropped = ParseError(message, text=self.text, offset=offset)
        self.surely = self.surely or surely

    # ------------------------------------------------------------ variables
    def bind(self, name: str, value: VariableValue) -> None:
        """Give a variable what it holds from here on."""
        self.ways.put(self.held, name, value)

    def unsure(self, reason: str, node: Any) -> UnsureValue:
        """A value that depends on what stands here."""
        return UnsureValue(reason, self.span(node)[0], self.text)

    def known_as(self, name: str) -> str:
        """A tool's name where it was imported under another."""
        root, dot, suffix = name.partition(".")
        stored = self.held.get(root)
        return f"{stored.name}{dot}{suffix}" if isinstance(stored, ImportedName) else name

    def is_self(self, name: str) -> bool:
        """Whether a name is what a class calls itself, and no variable of the program."""
        return name in SELF_NAMES and name not in self.held

    def is_tool(self, call: ToolCall) -> bool:
        """Whether a call is of a tool: not of the program's own functions, variables and libraries."""
        name = call.name
        root = name.split(".", 1)[0]
        if isinstance(self.held.get(root), ImportedName):  # but classes of modules that are no tools
            return not name.rsplit(".", 1)[-1][:1].isupper()
        if name in self.defined or root in self.defined or root in SELF_NAMES:
            return False
        if root in (self.own if root == name else self.held):  # a tool may be called as a line before
            return False  # named its result
        if name in EXCEPTIONS or name in LIBRARY_FUNCTIONS:
            return False
        if name not in BUILTINS:
            return True
        is_named = not is_builtin_call(name, [argument.key for argument in call.arguments])
        if is_named or not (self.is_program or self.inside or self.control):
            self.tool_names.add(name)
        return is_named or (name in self.tool_names and not self.is_program)


# ----------------------------------------------------------------------
# Pieces of a text that are programs: their variables, their calls together.
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
