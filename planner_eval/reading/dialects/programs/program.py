"""What is known of a program while it is followed, and what its variables hold for later pieces of text.

A list or an object is known by its identity, which its aliases and what holds it share; a result by its
reference.
"""

from __future__ import annotations

import ast
import builtins
import sys
import tomllib
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import map_object_values, object_items
from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.plan.model import Diagnostic, Path, RawCall, RawComputed, RawPlan, RawRef, Value, map_leaves
from planner_eval.reading.dialects.programs.syntax import JavaScriptModule, PlacedTree


class Unknown:
    """In the place of a value that cannot be known.

    Args:
        reason: Why.
        at: Where the cause stands.
        text: In which text.
        of: What it is made of: what changes it may change these.
        is_part: It may be one of these, or lie in one, so that its methods may be tools.
    """

    def __init__(
        self,
        reason: str = "the program computes it",
        at: int = 0,
        text: str = "",
        of: Iterable[Any] = (),
        *,
        is_part: bool = False,
    ) -> None:
        self.reason = reason
        self.at = at
        self.text = text
        self.of = tuple(value for value in of if isinstance(value, (RawRef, list, dict, Unknown)))
        self.tools = max(map(tool_methods, of), default=0) if is_part else 0


VariableValue: TypeAlias = Value | Unknown
ABSENT = Unknown()
"""A variable that holds nothing yet."""


class Changed(Unknown):
    """What is no longer what it was, or not on each way; its reason is told wherever it is used."""


class Spread(Unknown):
    """Arguments that a star spreads, of which it is not known how many there are."""


class OwnFunction(Unknown):
    """A function of the program's own, a lambda: called through a variable it is not followed."""


class ToolName(Unknown):
    """A name that is imported from a module that is no library, or that nothing assigns: a text, or a tool.

    Args:
        name: The name, and the way behind it; of an imported one what it is called where it comes from.
        is_imported: Whether it is imported.
    """

    def __init__(self, name: str, *, is_imported: bool = False) -> None:
        super().__init__(f"{name!r} is imported by the program")
        self.name = name
        self.is_imported = is_imported
        self.tools = 1 + is_imported


def tool_methods(value: VariableValue) -> int:
    """Which methods of a value may be tools: 0 none, 1 all but those of data, 2 all."""
    return value.tools if isinstance(value, Unknown) else int(isinstance(value, (RawRef, RawComputed)))


# ----------------------------------------------------------------------
# Functions that are no tools, by the names that programs have for them.
_NAMES = tomllib.loads(read("data/functions.toml"))
_BUILTIN_OPTIONS: dict[str, list[str]] = _NAMES.pop("builtin_options")
_SETS: dict[str, frozenset[str]] = {table: frozenset(names) for table, names in _NAMES.items()}
DISPLAY_FUNCTIONS = _SETS["display_functions"]
"""Calls that show a value and are looked through; smolagents' final_answer ends a program."""
BUILTINS = _SETS["builtins"]
"""Functions of the languages themselves: no tools where a program calls them on its own values."""
EXITS = _SETS["exits"]
LIBRARY_FUNCTIONS = _SETS["library_functions"]
SELF_NAMES = _SETS["self_names"]
MUTATING_METHODS = _SETS["mutating_methods"]
MUTATING_FUNCTIONS = _SETS["mutating_functions"]
PASS_THROUGH_FUNCTIONS = _SETS["pass_through_functions"]
HIGHER_ORDER_FUNCTIONS = _SETS["higher_order_functions"]
METHOD_OPTIONS = _SETS["method_options"]
KNOWN_PACKAGES = _SETS["known_packages"]


def is_builtin_call(name: str, keys: Collection[str | None]) -> bool:
    """Whether a call is the language's own function's, and of no tool that has its name.

    >>> is_builtin_call("zip", [None, "strict"]), is_builtin_call("max", ["numbers"])
    (True, False)
    """
    named = {key for key in keys if key is not None}
    is_own = named <= {*_BUILTIN_OPTIONS.get(name, ())} and (None in keys or "iterable" in named)
    return name in BUILTINS and (not named or is_own)


EXCEPTIONS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
)
"""Python's exceptions: what a program raises is no tool."""


DATA_METHODS = _SETS["reading_methods"].union(
    *(
        [name for name in dir(kind) if name[0] != "_"]
        for kind in (str, bytes, int, float, list, tuple, dict, set)
    )
)
"""Methods of the values that tools give, and of texts, lists and objects: they look, and call no tool."""


def is_library(module: str) -> bool:
    """Whether a module is Python's own or a known package: what is imported from any other may be a tool.

    >>> is_library("os.path"), is_library("numpy"), is_library("tools"), is_library("")
    (True, True, False, False)
    """
    root = module.split(".", 1)[0]
    return root in KNOWN_PACKAGES or root in sys.stdlib_module_names


class Argument(NamedTuple):
    """An argument: its name, None of a positional one; its value; its place."""

    key: str | None
    value: Any
    span: Span


class ToolCall(NamedTuple):
    """A call as written, of a tool or of anything else that has a name."""

    name: str
    arguments: list[Argument]
    span: Span

    @property
    def positional(self) -> list[Any]:
        """The arguments that have no name."""
        return [argument.value for argument in self.arguments if argument.key is None]

    @property
    def named(self) -> dict[str, Any]:
        """The arguments that have a name."""
        return {argument.key: argument.value for argument in self.arguments if argument.key is not None}

    def bound_to(self, given: ast.arguments, defaults: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a function's parameters get, defaults too; None where that is open: stars."""
        plain = [parameter.arg for parameter in (*given.posonlyargs, *given.args)]
        positional = self.positional
        local = {**defaults, **dict(zip(plain, positional, strict=False)), **self.named}
        names = {*plain, *(word.arg for word in given.kwonlyargs)}
        twice = len({*plain[: len(positional)], *self.named}) < len(self.arguments)
        is_open = given.vararg or given.kwarg or any(isinstance(value, Spread) for value in positional)
        return None if is_open or twice or local.keys() != names else local


MAX_VALUES = 1_000_000
"""Values that variables may put into arguments, all together: a list of a list can double at each line."""


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
        defined: Iterable[str],
        limits: Limits,
        calls_before: int,
        before: Mapping[str, VariableValue] | None,
    ) -> None:
        super().__init__(tree, text)
        self.limits = limits
        self.most = limits.calls - calls_before
        self.defined = set(defined)
        self.mappings = isinstance(tree, JavaScriptModule)
        self.own: MutableMapping[str, VariableValue] = {}
        # A copy of what was before for each piece of a text would take quadratic time.
        self.held: MutableMapping[str, VariableValue]
        self.held = ChainMap(self.own, before) if before else self.own  # type: ignore[arg-type]
        self.growing: set[int] = set()
        """Lists and objects that the program writes itself, by identity."""
        self.changed: dict[str | int, tuple[Any, Changed]] = {}
        """Results by name, lists and objects by identity, that are no longer known."""
        self.spent = 0
        self.spent_at = 0
        self.calls: list[RawCall] = []
        self.notes: list[Diagnostic] = []
        self.control: list[str] = []
        """Why it is not known whether what is followed is run."""
        self.endings: list[tuple[bool, Span]] = []
        """Where the program may have ended before: beyond the function, or not."""
        self.told: set[Span | str] = set()
        """Names and places of which something was remarked."""
        self.error: ParseError | None = None
        self.surely = False
        self.is_program = bool(before) or self.mappings
        self.inside = 0
        self.quiet = False
        self.again = 0
        self.tool_names: set[str] = set()
        """Names of the language's functions that a list of calls calls as tools."""
        self.unread: dict[ast.AST, None] = {}
        """Functions that were not followed."""

    def finish(self) -> RawPlan:
        """The calls that were found.

        Raises:
            ParseError: there are calls, and something about one cannot be known; or what may be one is none
                that can be read.
        """
        if self.error is not None and (self.calls or self.surely):
            raise self.error
        return RawPlan(tuple(self.calls), None, tuple(self.notes))

    def settled(self) -> Mapping[str, VariableValue]:
        """What the program's own variables hold after it, and what it changed, for the text that follows."""
        for name, value in [*(self.held if self.changed else self.own).items()]:
            current = self.current(value)
            if isinstance(current, Unknown):
                self.own[name] = current
        return self.own

    def note(self, code: str, message: str, span: Span, severity: str = "warning", **details: Any) -> None:
        """Remark on something."""
        self.notes.append(Diagnostic(code, message, severity, span=span, **details))

    def fail(self, reason: str, offset: int, *, surely: bool = False, code: str = "parse.syntax") -> None:
        """Remember the first thing that cannot be read.

        Args:
            reason: What it is.
            offset: Where.
            surely: A call of a tool would be lost, even where no other call is.
            code: The error's code.
        """
        if self.error is None:
            self.error = ParseError(reason, text=self.text, offset=offset, code=code)
        self.surely = self.surely or surely

    def drop(self, reason: str, offset: int, *, surely: bool = True) -> None:
        """Remember a call that would be lost; as :meth:`fail`."""
        reason = f"{reason}: only tools that are called by their own names are read"
        self.fail(reason, offset, surely=surely)

    # ------------------------------------------------------------ variables
    def bind(self, name: str, value: VariableValue) -> None:
        """Give a variable what it holds from here on."""
        self.own[name] = value

    def place_of(self, value: Unknown, start: int) -> int:
        """Where the cause of an unknown value stands; where it is used, if that is another text."""
        return value.at if value.text is self.text else start

    def content(self, value: Any) -> Any:
        """A value itself, or why a list, an object or a result is no longer known."""
        if not self.changed or not isinstance(value, (RawRef, list, dict)):
            return value
        return self.changed.get(_identity(value), (value, value))[1]

    def follow_path(self, value: Any, path: Path) -> Any:
        """What a way leads to, itself and no copy; what is around it, where that is not sure."""
        for i, step in enumerate(path):
            content = self.content(value)
            if isinstance(content, RawRef):
                return RawRef(content.name, (*content.path, *path[i:]))
            if not isinstance(content, (list, dict)):
                return content if isinstance(content, Unknown) else Unknown()
            try:
                value = content[step]  # type: ignore[index]
            except (LookupError, TypeError):
                return Unknown(of=(value,))
        return value

    def current(self, value: VariableValue, depth: int = 0) -> VariableValue:
        """A copy of a value as it is now, names as texts; Unknown where a part of it is."""
        value = self.content(value)
        if isinstance(value, ToolName) and not value.is_imported:
            return value.name
        if not isinstance(value, (list, dict)):
            return value
        if depth > self.limits.depth:
            return Unknown(f"it nests lists deeper than {self.limits.depth} levels")
        self.spend(len(value))
        if isinstance(value, dict):
            current: Any = map_object_values(value, lambda item: self.current(item, depth + 1))
            items = [item for _, item in object_items(current)]
        else:
            current = items = [self.current(item, depth + 1) for item in value]
        return next((item for item in items if isinstance(item, Unknown)), current)

    def capture(self, nodes: Iterable[ast.AST]) -> dict[str, VariableValue]:
        """What the variables hold that some nodes assign."""
        names = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
        return {
            name.id: self.held.get(name.id, ABSENT) for name in names if not isinstance(name.ctx, ast.Load)
        }

    def restore(self, before: Mapping[str, VariableValue]) -> None:
        """Let variables hold what they held."""
        for name, value in before.items():
            if value is ABSENT:
                self.own.pop(name, None)
            else:
                self.own[name] = value

    # ------------------------------------------------------------ changes in place
    def spend(self, count: int) -> None:
        """Count values that variables put into arguments.

        Raises:
            LimitError: there are too many.
        """
        self.spent += count
        if self.spent > MAX_VALUES:
            raise LimitError("the program's values grow too large", text=self.text, offset=self.spent_at)

    def change(self, target: VariableValue, reason: str, at: int) -> None:
        """Take what is held for changed in a way that is not followed; of a part of something all of it."""
        changed = Changed(reason, at, self.text, (target,), is_part=True)
        waiting, seen = [target], set[int]()
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Unknown):
                waiting += value.of
            elif isinstance(value, (RawRef, list, dict)):
                self.changed[_identity(value)] = value, changed
                if isinstance(target, Unknown) and not isinstance(value, RawRef):
                    waiting += value.values() if isinstance(value, dict) else value
            self.spend(1)

    def grow(
        self, target: Any, method: str, positional: list[VariableValue], named: Mapping[str, VariableValue]
    ) -> bool:
        """Make a change that is as simple as it is certain: something put at the end, or under a key.

        Returns:
            False where it is not simple.
        """
        if self.control or id(target) not in self.growing:
            return False
        first = self.content(positional[0]) if len(positional) == 1 else None
        if isinstance(target, list) and method in ("append", "push") and positional and not named:
            target += positional if method == "push" else positional[:1]
        elif isinstance(target, list) and method == "extend" and type(first) is list and not named:
            target += [*first]
        elif type(target) is dict and method == "update" and (type(first) is dict or not positional):
            target.update(first or {}, **named)
        else:
            return False
        return True

    # ------------------------------------------------------------ names
    def is_self(self, name: str) -> bool:
        """Whether a name is what a class calls itself, and no variable of the program."""
        return name in SELF_NAMES and name not in self.held

    def is_tool(self, name: str, known: str, keys: list[str | None]) -> bool:
        """Whether a call is of a tool: not of the program's own functions, variables and libraries.

        Args:
            name: What is called.
            known: The tool's own name, where the program has another for it.
            keys: The names of its arguments, None of positional ones.
        """
        root = known.split(".", 1)[0]
        stored = self.held.get(name.split(".", 1)[0])
        if isinstance(stored, ToolName) and stored.is_imported:  # but classes of modules that are no tools
            return not known.rsplit(".", 1)[-1][:1].isupper()
        if not self.defined.isdisjoint((known, root)) or root in SELF_NAMES:
            return False
        if root in (self.own if root == known else self.held):  # a tool may be called as a line before
            return False  # named its result
        if known in EXCEPTIONS or known in LIBRARY_FUNCTIONS:
            return False
        if known in DISPLAY_FUNCTIONS:  # `print` with names that are none of Python's is a tool's
            return known == "print" and bool(keys) and _PRINT_OPTIONS.isdisjoint(keys)
        if known not in BUILTINS:
            return True
        is_named = not is_builtin_call(known, keys)
        if is_named or not (self.is_program or self.inside or self.control):
            self.tool_names.add(known)
        return is_named or (known in self.tool_names and not self.is_program)


_PRINT_OPTIONS = frozenset({None, "sep", "end", "file", "flush"})


def _identity(value: Any) -> str | int:
    return value.name if isinstance(value, RawRef) else id(value)


# ----------------------------------------------------------------------
# Pieces of a text that are programs: their variables, their calls together.
def result_name(position: int) -> str:
    """The made-up name of the result of a piece's call."""
    return f"@{position}"


def _rename_references(rename: Callable[[str], str], value: Any) -> Any:
    """A value with its references under other names."""

    def leaf(item: Any) -> Any:
        name = rename(item.name) if isinstance(item, RawRef) else None
        return item if name is None or name == item.name else RawRef(name, item.path)

    return map_leaves(leaf, value)


def _rename_arguments(rename: Callable[[str], str], call: RawCall) -> RawCall:
    arguments = [(key, _rename_references(rename, value)) for key, value in call.arguments]
    return replace(call, arguments=tuple(arguments))


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

        def rename(name: str) -> str:
            return f"{name[1:]}@{self.piece}" if name[:1] == "@" else name

        shared: dict[int, Any] = {}
        for value in self.held.values():
            if id(value) not in shared:  # what holds no such call stays the same, as its aliases are
                renamed = _rename_references(rename, value)
                shared[id(value)] = value if renamed == value else renamed
        return {name: shared[id(value)] for name, value in self.held.items()}


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

    def rename(given: str) -> str:
        call, mark, piece = repeated.get(given, given).partition("@")
        if not (mark and call.isdigit() and piece.isdigit() and int(piece) in starts):
            return given
        index = starts[int(piece)] + int(call)
        named.add(index)
        return result_name(index)

    linked = [_rename_arguments(rename, call) for call in calls]
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

    def shift(name: str) -> str:
        return result_name(int(name[1:]) + by) if name[:1] == "@" else name

    renamed = [_rename_arguments(shift, call) for call in calls]
    return tuple(
        [replace(call, binds=tuple([(shift(name), path) for name, path in call.binds])) for call in renamed]
    )
