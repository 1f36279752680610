"""What is known of a program while it is followed: its names, its calls, what cannot be read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan
from planner_eval.reading.dialects.programs.syntax import JavaScriptModule, PlacedTree, ToolCall
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    CHANGED_RESULTS,
    EXCEPTIONS,
    LIBRARY_FUNCTIONS,
    SELF_NAMES,
    BranchLog,
    Changes,
    ImportedName,
    Scope,
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
        self.unread: dict[Span, ast.AST] = {}
        """Functions that were not followed, by their places."""

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
