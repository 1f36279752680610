"""Python text to the nodes of a program, by ast.parse: syntax only, nothing is compiled or run.

ast.parse itself can be hurt by hostile text (memory, recursion), so that long text goes to it part by part,
see :mod:`planner_eval.reading.dialects.programs.python_long`, and all of its errors are caught.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.limits import (
    DEFAULT_LIMITS,
    MAX_DIGITS,
    Limits,
    Span,
    has_long_integer,
    long_integer_error,
)
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan, RawRef, Value
from planner_eval.reading.dialects.programs.program import (
    CallNode,
    DataNode,
    FieldNode,
    Machine,
    NameNode,
    OtherNode,
    TextNode,
)
from planner_eval.reading.dialects.programs.python_long import (
    JSON_LITERALS,
    LINE_END,
    NotDataError,
    UncuttableError,
    find_long_data,
    may_hold_kinds,
    object_key,
    parse_in_parts,
    parse_quietly,
    signed_number,
    walk,
)
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    SELF_NAMES,
    UNKNOWN,
    BranchWrites,
    DerivedValue,
    ImportedName,
    OpaqueObject,
    Scope,
    Unknown,
    UnsureValue,
    VariableValue,
    is_library,
)

LONG_CHARS = 20_000
"""Longer text is parsed part by part: ast.parse takes a thousand times the memory of its text."""
MAX_REREAD_CHARS = 200_000
"""Characters of functions that are read again: each that calls the one before twice doubles them."""
_ORDINALS = frozenset({"First", "Second", "Third", "Fourth", "Fifth", "Next", "Then", "Finally", "Lastly"})
_DEFINITION_NODES = frozenset(
    {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom}
)


def parse_syntax(text: str) -> ast.Module | SyntaxError | None:
    """The syntax tree, Python's syntax error, or None where ast.parse cannot say.

    >>> type(parse_syntax("f(a=1)")).__name__, parse_syntax("f(").msg
    ('Module', "'(' was never closed")
    """
    try:
        return parse_quietly(text) if len(text) <= LONG_CHARS else parse_in_parts(text)
    except SyntaxError as error:
        return strip_traceback(error)
    except (ValueError, RecursionError, MemoryError, UncuttableError):
        return None


def follow(
    tree: ast.Module,
    text: str,
    defined: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    calls_before: int = 0,
    before: Mapping[str, VariableValue] | None = None,
    variables: dict[str, VariableValue] | None = None,
) -> RawPlan:
    r"""The calls of a program.

    Args:
        tree: From :func:`parse_syntax`.
        text: The same text.
        defined: Names that are no tools.
        limits: Bounds on calls.
        calls_before: How many calls were read before, which count too.
        before: What the variables of the text before hold.
        variables: Takes what the program's own variables hold after it.

    Raises:
        ParseError: an argument of a tool's call cannot be known.
        LimitError: there are too many calls, an integer has more digits than a plan may hold, or the program
            nests too deeply.

    >>> text = "x = f(a=1)\ng(b=x['y'])"
    >>> follow(parse_syntax(text), text).calls[1].arguments
    (('b', RawRef(name='@0', path=('y',))),)
    """
    machine = Machine(text, defined, limits=limits, calls_before=calls_before, before=before)
    reader = _Reader(text, machine)
    if has_long_integer(text):
        reader.refuse_long_integers(tree)
    try:
        reader.define(tree.body)
        reader.body(tree.body)
    except RecursionError:
        raise LimitError("the program nests too deeply", text=text) from None
    if variables is not None:
        variables.update(machine.settled())
    if reader.unread:
        reader.tell_unread()
    return machine.finish()


class _Function(NamedTuple):
    """A function of the program, and the variables around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    held: MutableMapping[str, VariableValue]


class _BoundArguments(NamedTuple):
    """Parameters and the nodes of their values, and those that have their defaults."""

    values: dict[str, Any]
    defaults: dict[str, ast.expr]


class _FunctionRun:
    """A function that is followed: how many loops and branches are around its call, and what it returns."""

    def __init__(self, span: Span, control: int) -> None:
        self.at = span
        self.control = control
        self.returned: list[VariableValue] = []
        self.told = False


class _StatementNames(NamedTuple):
    """The variables that a statement reads, and those that it assigns."""

    read: frozenset[str]
    stored: frozenset[str]


class _Reader:
    """Turns statements into the machine's steps and expressions into nodes."""

    def __init__(self, text: str, machine: Machine) -> None:
        self.text = text
        self.machine = machine
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]
        self.ascii = text.isascii()
        self.module = machine.held
        self.functions: dict[str, _Function] = {}
        self.running: list[_FunctionRun] = []
        self.again = 0
        self.inner: set[str] = set()
        self.unread: dict[Span, ast.AST] = {}
        self.words: dict[str, bool] = {}
        self.names: dict[ast.stmt, _StatementNames] = {}

    # ------------------------------------------------------------ places
    def place(self, line: int, column: int) -> int:
        """A character's place from ast's line and column, which counts bytes."""
        start = self.starts[min(line, len(self.starts)) - 1]
        if not self.ascii:
            end = self.starts[line] if line < len(self.starts) else len(self.text)
            column = len(
                self.text[start:end].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
            )
        return start + column

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.excepthandler) -> Span:
        """Where a node stands."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        if self.ascii:  # as most: asked for each argument
            starts, last = self.starts, len(self.starts)
            return (
                starts[min(node.lineno, last) - 1] + node.col_offset,
                starts[min(node.end_lineno, last) - 1] + node.end_col_offset,
            )
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def refuse_long_integers(self, tree: ast.Module) -> None:
        """Refuse integers that Python reads, for they are hexadecimal, and could not write.

        Raises:
            LimitError: with the place of the first.
        """
        for node in walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 10**MAX_DIGITS:
                raise long_integer_error(self.text, self.span(node)[0])

    # ------------------------------------------------------------ statements
    def define(self, body: list[ast.stmt]) -> None:
        """Note what the program defines and imports; such names are no tools."""
        if not may_hold_kinds(body, _DEFINITION_NODES):
            return
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.machine.defined.add(node.name)
                self.machine.is_program = True
                self.functions[node.name] = _Function(node, self.machine.held)
                self.machine.run = self.run
                self.unread[_node_position(node)] = node
            elif isinstance(node, ast.ClassDef):
                self.machine.defined.add(node.name)
                self.machine.is_program = True
                self.unread[_node_position(node)] = node
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.machine.is_program = True
                self.imported(node)

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """Note what is imported: of a library it is no tool, of any other module it may be one."""
        for name in node.names:
            module = name.name if isinstance(node, ast.Import) else node.module or ""
            bound_name = name.asname or name.name.split(".")[0]
            if bound_name == "*":
                continue
            if is_library(module) and not getattr(node, "level", 0):
                self.machine.defined.add(bound_name)
            else:
                self.machine.bind(bound_name, ImportedName(name.name if name.asname else bound_name))

    def body(self, body: list[ast.stmt]) -> bool:
        """Follow statements in order, up to one after which a function's others are not reached.

        Returns:
            Whether what stands after them is reached.
        """
        node: ast.stmt | None = None
        for node in body:
            self.statement(node)
            if self.running and isinstance(node, (ast.Return, ast.Raise)):
                break
        return not isinstance(node, (ast.Return, ast.Raise))

    def statement(self, node: ast.stmt) -> None:
        """Follow one statement; what can hold no call is passed over."""
        if isinstance(node, ast.Expr):
            self.expression(node.value)
        elif isinstance(node, ast.Assign):
            value = self.node(node.value)
            for target in sorted(node.targets, key=lambda t: not isinstance(t, ast.Name)):
                self.target(target, value)
                if isinstance(target, ast.Name):  # the others have what it has: nothing is called again
                    value = self.node(target)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            if node.value is not None:
                value = self.node(node.value)
                self.machine.loose(value) if isinstance(node, ast.AugAssign) else self.target(
                    node.target, value
                )
            if isinstance(node, ast.AugAssign):
                self.altered(node.target)
                if isinstance(node.target, ast.Name):
                    self.machine.bind(node.target.id, DerivedValue((self.found(node.target),)))
        elif isinstance(node, ast.Return):
            value = None if node.value is None else self.node(node.value)
            if self.running:
                returned = None if value is None else self.machine.loose(value)
                sure = len(self.machine.control) == self.running[-1].control
                self.running[-1].returned.append(returned if sure else UNKNOWN)
            elif value is not None:
                self.machine.statement(value)
        else:
            self.further(node)

    def expression(self, value: ast.expr) -> None:
        """Follow an expression on its own: calls, or a list of them."""
        before = len(self.machine.calls)
        self.machine.statement(self.node(value))
        if len(self.machine.calls) > before and isinstance(value, (ast.List, ast.Tuple)):
            self.check_items(value.elts)

    def check_items(self, items: list[ast.expr]) -> None:
        """Say what a list of calls holds that calls nothing; refuse a call in quotes."""
        for item in items:
            if isinstance(item, (ast.List, ast.Tuple)):
                self.check_items(item.elts)
            elif not isinstance(item, _NO_CALL_NODES) or _root_name(item) in self.machine.held:
                continue
            elif isinstance(item, ast.Constant) and isinstance(item.value, str) and _CALL.match(item.value):
                self.machine.fail("found a call in quotes, expected a call", self.span(item)[0])
            else:
                start, end = self.span(item)
                message = (
                    f"not a call among the calls of a list, not read: {shorten(self.text[start:end], 60)}"
                )
                self.machine.notes.append(
                    Diagnostic("shape.ignored", message, "warning", None, None, (start, end))
                )

    def compound(self, node: ast.stmt) -> bool:
        """Follow a loop, a branch, a try or a with; False for any other statement."""
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            follow: Callable[[Any], None] = self.loop
        elif isinstance(node, (ast.If, ast.Match)):
            follow = self.branches
        elif isinstance(node, (ast.Try, ast.TryStar)):
            follow = self.attempt
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            follow = self.context
        else:
            return False
        self.machine.is_program = True
        follow(node)
        return True

    def further(self, node: ast.stmt) -> None:
        """Follow a statement that holds others, or that only looks at values."""
        if self.compound(node):
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.functions[node.name] = _Function(node, self.machine.held)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope = self.machine.held
            if isinstance(scope, Scope):
                for name in node.names:
                    outside = self.module if isinstance(node, ast.Global) else scope.enclosing(name)
                    scope.elsewhere[name] = outside
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.deleted(target)
        elif isinstance(node, (ast.Assert, ast.Raise)):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.machine.loose(self.node(child))

    def run(self, call: CallNode) -> VariableValue | None:
        """Follow the body of a function that the program calls, at each call, and give what it returns.

        Returns:
            None where it is no such function, or one that is not followed: its call is passed over.

        Raises:
            LimitError: functions call one another so often that reading them would take too long.
        """
        function = self.functions.get(call.name)
        if function is None:
            return None
        node = function.node
        if any(running.at == _node_position(node) for running in self.running):
            if not self.running[-1].told:
                self.running[-1].told = True
                message = f"{shorten(call.name, 60)!r} calls itself, which repeats its calls"
                self.machine.notes.append(
                    Diagnostic(
                        "code.loop", f"{message}; they are counted once", "warning", None, None, call.span
                    )
                )
            return None
        arguments = _bind_arguments(node, call)
        if arguments is None:
            return None
        machine = self.machine
        if _node_position(node) not in self.unread:  # its first reading is a part of the program's own length
            start, end = self.span(node)
            self.again += end - start
            if self.again > MAX_REREAD_CHARS:
                reason = (
                    f"functions call one another: more than {MAX_REREAD_CHARS:,} characters would be "
                    "read again"
                )
                raise LimitError(reason, text=self.text, offset=call.span[0])
        local = {
            name: UNKNOWN if value is UNKNOWN else machine.hold(value)
            for name, value in arguments.values.items()
        }
        self.unread.pop(_node_position(node), None)
        local |= {name: machine.loose(self.node(value)) for name, value in arguments.defaults.items()}
        running = _FunctionRun(_node_position(node), len(machine.control))
        own, outer_variables = machine.own, machine.held
        defined, functions = machine.defined, self.functions
        machine.defined, self.functions = set(defined), dict(functions)  # what it defines is its own
        self.running.append(running)
        machine.own, machine.held = local, Scope(local, function.held)
        self.define(node.body)
        self.body(node.body)
        self.running.pop()
        machine.own, machine.held = own, outer_variables
        self.inner |= machine.defined
        machine.defined, self.functions = defined, functions
        return running.returned[0] if len(running.returned) == 1 else UNKNOWN

    def tell_unread(self) -> None:
        """Say which calls stand in functions that were not followed; one that is never called is no plan."""
        tools: dict[str, None] = {}
        inside = (
            call for node in self.unread.values() for call in ast.walk(node) if isinstance(call, ast.Call)
        )
        for call in inside:
            name = _dotted_name(call.func)
            if name and call.keywords and name not in DISPLAY_FUNCTIONS and name not in BUILTINS:
                root = name.split(".")[0]
                if root not in SELF_NAMES and root not in self.machine.defined and root not in self.inner:
                    tools[name] = None
        if tools:
            message = (
                f"calls in functions that are not followed were not read: {shorten(', '.join(tools), 60)}"
            )
            span = self.span(next(iter(self.unread.values())))  # type: ignore[arg-type]
            self.machine.notes.append(Diagnostic("code.function", message, "warning", None, None, span))

    def target(self, target: ast.expr, value: Any) -> None:
        """Assign to a name or to names; anything else only has its calls recorded."""
        if isinstance(target, ast.Name):
            self.machine.assign([target.id], value)
        elif isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(t, ast.Name) for t in target.elts):
            names = [t.id for t in target.elts if isinstance(t, ast.Name)]
            if len(names) == 2 and self.is_word(names[0]) and names[1].title() not in _ORDINALS:
                self.machine.assign(names[1:], value)
            else:
                self.machine.assign(names, value, unpack=True)
        else:
            assigned = self.machine.loose(value)
            if any(isinstance(child, ast.Call) for child in ast.walk(target)):
                self.machine.loose(self.node(target))
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                self.altered(target, assigned)
            else:
                self.forget(target)

    def is_word(self, name: str) -> bool:
        """Whether `First` in `First, r = f()` is a word: no other use of it is a variable's."""
        if name not in _ORDINALS:
            return False
        if name not in self.words:
            self.words[name] = self.text.count(name) == self.text.count(f"{name}, ")
        return self.words[name]

    def forget(self, target: ast.expr) -> None:
        """What the variables of a target hold is no longer known, and what it stands in is changed."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.machine.bind(node.id, UNKNOWN)
            elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                self.altered(node)

    def altered(
        self,
        target: ast.expr,
        value: VariableValue = UNKNOWN,
        template: str = "an assignment to {} changes it",
    ) -> None:
        """Note a change in place of what a name or a way into it holds.

        Args:
            target: The name, the field or the item.
            value: What it is given, where that is known.
            template: Says what the change is; ``{}`` stands for the target.
        """
        start, end = self.span(target)
        reason = template.format(repr(shorten(self.text[start:end], 60)))
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            self.change(target, reason)
            return
        holder = self.found(target.value)
        key = (
            target.slice.value
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
            else None
        )
        machine = self.machine
        if not machine.control and not isinstance(value, Unknown) and machine.changes.put(holder, key, value):
            return
        if isinstance(holder, RawRef) and isinstance(target, ast.Attribute):
            key = target.attr
        if isinstance(holder, RawRef) and isinstance(key, (str, int)):
            holder = RawRef(holder.name, (*holder.path, key))
            machine.changes.change(holder, reason, start, machine.spend)
        else:
            self.change(target.value, reason)

    def change(self, base: ast.expr, reason: str) -> None:
        """Note a change in place of what an expression gives."""
        root = base
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if not isinstance(root, ast.Name):
            return
        position = self.span(base)[0]
        machine = self.machine
        current = self.found(base)
        if isinstance(current, (RawRef, list, dict, OpaqueObject, DerivedValue, UnsureValue)):
            machine.changes.change(current, reason, position, machine.spend)
            return
        around = machine.held.get(root.id)
        if (
            root.id not in SELF_NAMES
            and root.id not in machine.defined
            and not isinstance(around, ImportedName)
        ):
            for name in ast.walk(base):
                if isinstance(name, ast.Name):
                    machine.bind(name.id, UNKNOWN)

    def found(self, base: ast.expr) -> Any:
        """What a name, or a way into what it holds, gives; itself and no copy."""
        if isinstance(base, ast.Name):
            return self.machine.held.get(base.id, UNKNOWN)
        if not isinstance(base, (ast.Attribute, ast.Subscript)):
            return UNKNOWN
        holder = self.found(base.value)
        step: Any = base.attr if isinstance(base, ast.Attribute) else None
        if isinstance(base, ast.Subscript) and isinstance(base.slice, ast.Constant):
            step = base.slice.value
        if isinstance(step, (str, int)):
            return self.machine.changes.inside(holder, (step,))
        return holder if isinstance(holder, (RawRef, Unknown)) else DerivedValue((holder,))

    def deleted(self, target: ast.expr) -> None:
        """Follow ``del``."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self.deleted(item)
        elif isinstance(target, ast.Name):
            self.machine.bind(target.id, self.unsure(f"'del' takes {target.id!r} away", target))
        else:
            self.machine.loose(self.node(target))
            self.altered(target, template="'del' removes {} from it")

    def unsure(self, reason: str, node: ast.expr | ast.stmt) -> UnsureValue:
        """A value that depends on what stands here."""
        return UnsureValue(reason, self.span(node)[0], self.text)

    # ------------------------------------------------------------ several ways
    def block(self, body: list[ast.stmt]) -> bool:
        """Follow the statements of a block, as :meth:`body` does."""
        self.define(body)
        return self.body(body)

    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Follow a loop's first round; what it gives a variable is unsure where it may have none."""
        machine = self.machine
        if isinstance(node, ast.While):
            machine.loose(self.node(node.test))
        else:
            over = machine.loose(self.node(node.iter))
            self.forget(node.target)
            element: Unknown = (
                OpaqueObject(over) if isinstance(over, (RawRef, OpaqueObject)) else DerivedValue((over,))
            )
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    machine.bind(name.id, element)
        message = "the calls in a loop are counted once"
        machine.control.append(("code.loop", message, self.span(node)))
        certain, calls_before = self.runs(node), len(machine.calls)
        mark = machine.ways.part()
        self.block(node.body)
        self.repeat(node, calls_before)
        end = machine.ways.take(mark)
        machine.ways.meet(
            [end] if certain else [end, {}], self.unsure("depends on whether a loop runs", node)
        )
        if node.orelse:
            mark = machine.ways.part()
            self.block(node.orelse)
            end = machine.ways.take(mark)
            machine.ways.meet([end, {}], self.unsure("depends on how a loop ends", node))
        machine.control.pop()

    def repeat(self, node: ast.For | ast.AsyncFor | ast.While, calls_before: int) -> None:
        """Say that a variable is unsure whose value grows with the rounds; a loop's call is its first one."""
        elements: list[ast.expr] = getattr(getattr(node, "iter", None), "elts", [])
        if len(elements) == 1 and not isinstance(elements[0], ast.Starred):
            return
        outputs = {name for call in self.machine.calls[calls_before:] for name, _ in call.binds}
        for name in sorted(_carried_names(node.body, self.names_of)):
            value = self.machine.held.get(name, UNKNOWN)
            if not isinstance(value, Unknown) and not (isinstance(value, RawRef) and value.name in outputs):
                self.machine.bind(name, self.unsure("depends on how many rounds a loop has", node))

    def names_of(self, statement: ast.stmt) -> _StatementNames:
        """What a statement reads and assigns; loops in loops ask again."""
        names = self.names.get(statement)
        if names is None:
            own = (c for c in ast.iter_child_nodes(statement) if isinstance(c, (ast.expr, ast.withitem)))
            nodes = [name for child in own for name in ast.walk(child) if isinstance(name, ast.Name)]
            stored = frozenset(name.id for name in nodes if isinstance(name.ctx, ast.Store))
            read = frozenset(name.id for name in nodes if isinstance(name.ctx, ast.Load))
            names = _StatementNames(read | stored if isinstance(statement, ast.AugAssign) else read, stored)
            self.names[statement] = names
        return names

    def runs(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Whether a loop surely has a first round."""
        if isinstance(node, ast.While):
            return self.truth(node.test, named=True) is True
        if isinstance(node.iter, ast.Name):
            iterated = self.machine.changes.content(self.found(node.iter))
            return isinstance(iterated, (list, dict)) and bool(iterated)
        if isinstance(node.iter, (ast.List, ast.Tuple)):
            return any(not isinstance(item, ast.Starred) for item in node.iter.elts)
        if isinstance(node.iter, ast.Call) and _dotted_name(node.iter.func) == "range":
            bounds = [argument.value for argument in node.iter.args if isinstance(argument, ast.Constant)]
            ends = [bound for bound in bounds if isinstance(bound, int)]
            return len(ends) == len(node.iter.args) in (1, 2) and [0, *ends][-2] < ends[-1]
        return False

    def truth(self, test: ast.expr, *, named: bool = False) -> bool | None:
        """Whether a test is surely true or surely false.

        Args:
            test: The test.
            named: Look at what variables hold, too.
        """
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.truth(test.operand, named=named)
            return None if inner is None else not inner
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
            other = test.comparators[0]
            if test.left.id == "__name__" and isinstance(test.ops[0], ast.Eq):
                return True if isinstance(other, ast.Constant) and other.value == "__main__" else None
            if named and isinstance(test.ops[0], ast.Is) and isinstance(other, ast.Constant):
                none = other.value is None and self.found(test.left) is None
                return True if none else None
        if named and isinstance(test, ast.Name):
            value = self.machine.changes.content(self.found(test))
            return None if isinstance(value, (Unknown, RawRef)) or not _is_data(value) else bool(value)
        return None

    def branches(self, node: ast.If | ast.Match) -> None:
        """Follow each branch; a variable that they leave otherwise is unsure."""
        machine = self.machine
        if isinstance(node, ast.If):
            machine.loose(self.node(node.test))
            outcome = self.truth(node.test)
            bodies = [(node.body, outcome is not False), (node.orelse, outcome is not True)]
        else:
            machine.loose(self.node(node.subject))
            bodies = [(case.body, True) for case in node.cases]
            last = node.cases[-1]
            if not (
                isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and not last.guard
            ):
                bodies.append(([], True))
        message = "the calls in a branch are counted once"
        machine.control.append(("code.branch", message, self.span(node)))
        mark = machine.ways.part()
        ends: list[BranchWrites] = []
        for i, (body, possible) in enumerate(bodies):
            if isinstance(node, ast.Match) and i < len(node.cases):
                self.captured(node.cases[i])
            arrives = self.block(body)
            end = machine.ways.take(mark)
            if arrives and possible:
                ends.append(end)
        machine.ways.meet(ends, self.unsure("depends on which branch is taken", node))
        machine.control.pop()

    def captured(self, case: ast.match_case) -> None:
        """What a pattern's names hold cannot be known."""
        for pattern in ast.walk(case.pattern):
            name = (
                getattr(pattern, "rest", None)
                if isinstance(pattern, ast.MatchMapping)
                else getattr(pattern, "name", None)
            )
            if isinstance(name, str):
                self.machine.bind(name, UNKNOWN)
        if case.guard is not None:
            self.machine.loose(self.node(case.guard))

    def attempt(self, node: ast.Try | ast.TryStar) -> None:
        """Follow a try: its plan is what it does where nothing fails.

        A handler that calls no tool changes nothing; one that does has its calls told, and what it leaves
        otherwise is unsure.
        """
        machine = self.machine
        routes = machine.ways
        mark = routes.part()
        arrives = self.block(node.body)
        failed: list[BranchWrites] = []
        start = len(routes.log)
        if node.handlers:
            routes.between(mark, self.unsure("depends on whether a try block fails", node))
        for handler in node.handlers:
            begin, calls = len(routes.log), len(machine.calls)
            returned = len(self.running[-1].returned) if self.running else 0
            message = "an except block makes its calls only where the try block fails; they are counted once"
            machine.control.append(("code.branch", message, self.span(handler)))
            if handler.name:
                machine.bind(handler.name, UNKNOWN)
            goes_on = self.block(handler.body)
            machine.control.pop()
            makes_calls = len(machine.calls) > calls
            end = routes.written(start) if makes_calls else {}
            routes.take(begin)
            if makes_calls:
                failed += [end] if goes_on else []
            elif self.running:
                del self.running[-1].returned[returned:]
        routes.take(start)
        arrives = self.block(node.orelse) and arrives
        end = routes.take(mark)
        ends = [end, *failed] if arrives or not failed else failed
        routes.meet(ends, self.unsure("depends on whether a try block fails", node))
        self.block(node.finalbody)

    def context(self, node: ast.With | ast.AsyncWith) -> None:
        """Follow a with."""
        for item in node.items:
            value = self.node(item.context_expr)
            if item.optional_vars is not None:
                self.target(item.optional_vars, value)
            else:
                self.machine.loose(value)
        self.block(node.body)

    # ------------------------------------------------------------ expressions
    def node(self, value: ast.expr) -> Any:  # noqa: PLR0911 - one branch a kind of node
        """An expression as a node of the machine."""
        if isinstance(value, ast.Constant):
            return self.constant(value)
        if isinstance(value, ast.Call):
            return self.call(value)
        if (data := find_long_data(value)) is not None:
            return DataNode(data)
        if isinstance(value, (ast.List, ast.Tuple)):
            return [self.node(item) for item in value.elts]
        if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
            return {
                object_key(key): self.node(item) for key, item in zip(value.keys, value.values, strict=True)
            }
        if isinstance(value, ast.Await):
            return self.node(value.value)
        if isinstance(value, ast.Name) and value.id in JSON_LITERALS:
            return JSON_LITERALS[value.id]
        if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            return self.way(value)
        if isinstance(value, ast.JoinedStr):
            return self.joined(value)
        if isinstance(value, ast.UnaryOp):
            with suppress(NotDataError):
                return signed_number(value)
        if isinstance(value, ast.BinOp):
            return self.operation(value)
        return self.uncommon(value)

    def uncommon(self, value: ast.expr) -> Any:
        """A value with a name where it stands, a comprehension over literals, or what is not followed."""
        if isinstance(value, ast.NamedExpr):
            self.machine.assign([value.target.id], self.node(value.value))
            return self.node(value.target)
        elements = (
            _expand_comprehension(value) if isinstance(value, (ast.ListComp, ast.GeneratorExp)) else None
        )
        return self.other(value) if elements is None else [self.node(element) for element in elements]

    def constant(self, value: ast.Constant) -> Any:
        """A literal as JSON data."""
        if isinstance(value.value, str):
            self.check_joined(value, value.value)
            return value.value
        if value.value is None or isinstance(value.value, (int, float)):
            return value.value
        start, end = self.span(value)
        return OtherNode("a literal that is not JSON", self.text[start:end], (start, end), start, [], True)

    def check_joined(self, node: ast.Constant, text: str) -> None:
        """Say of a text that it is several side by side on one line: a comma, or a sign, may be missing."""
        length = (node.end_col_offset or 0) - node.col_offset
        if length == len(text) + 2 or node.end_lineno != node.lineno:  # most texts are one, as they stand
            return
        start, end = self.span(node)
        if self.text[end - 1] in "\"'" and _ONE_STRING.fullmatch(self.text, start, end) is None:
            message = f"quoted texts side by side are read as one: {shorten(self.text[start:end], 60)}"
            self.machine.notes.append(
                Diagnostic("value.joined", message, "warning", None, None, (start, end))
            )

    def other(
        self, value: ast.expr, reason: str = "", offset: int | None = None, inside: list[Any] | None = None
    ) -> OtherNode:
        """An expression that is not followed, with the calls and names in it.

        Each expression is turned into a node once: nested ones would take exponential time otherwise.
        """
        span = self.span(value)
        if isinstance(value, ast.Lambda):
            self.unread[_node_position(value)] = value
        comprehension = isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        if comprehension:
            for generator in value.generators:  # type: ignore[attr-defined]
                self.forget(generator.target)
            self.machine.control.append(("code.loop", "the calls in a comprehension are counted once", span))
        if inside is None:
            inside = (
                [] if isinstance(value, ast.Lambda) else [self.node(v) for v in _inner_expressions(value)]
            )
        if comprehension:
            is_program, self.machine.is_program = self.machine.is_program, True  # range() is no tool in it
            for item in inside:
                self.machine.loose(item)
            self.machine.is_program = is_program
            self.machine.control.pop()
            inside = [NameNode("", (), "", span)]
            self.machine.held[""] = UNKNOWN
        reason = reason or f"{_NODE_DESCRIPTIONS.get(type(value), 'an expression')}"
        pure = not isinstance(value, (ast.Lambda, ast.Starred, ast.NamedExpr)) and not comprehension
        return OtherNode(
            reason, self.text[span[0] : span[1]], span, span[0] if offset is None else offset, inside, pure
        )

    def operation(self, value: ast.BinOp) -> Any:
        """A binary operation: strings joined by '+', else an expression."""
        left_end, right = self.span(value.left)[1], self.span(value.right)[0]
        gap = self.text[left_end:right]
        operator_start = left_end + len(gap) - len(gap.lstrip(") \t\n"))
        span = self.span(value)
        operands = [self.node(value.left), self.node(value.right)]
        if isinstance(value.op, ast.Add) and any(
            isinstance(operand, (str, TextNode)) for operand in operands
        ):
            return TextNode(operands, self.text[span[0] : span[1]], span)
        return self.other(value, f"found the operator {gap.strip('() ')[:3]!r}", operator_start, operands)

    def joined(self, value: ast.JoinedStr) -> Any:
        """An f-string whose fields are plain; one with formats is an expression."""
        formatted = [item for item in value.values if isinstance(item, ast.FormattedValue)]
        if any(item.format_spec is not None or item.conversion not in (-1, 115) for item in formatted):
            return self.other(value, "a format", None, [self.node(item.value) for item in formatted])
        pieces: list[Any] = []
        for item in value.values:
            if isinstance(item, ast.FormattedValue):
                pieces.append(self.node(item.value))
            else:
                pieces.append(self.node(item))
        span = self.span(value)
        return TextNode(pieces, self.text[span[0] : span[1]], span)

    def way(self, value: ast.expr) -> Any:
        """A name, or a way by fields and constant positions into a name or a call's result."""
        path: list[str | int] = []
        node: ast.expr = value
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Attribute):
                path.append(node.attr)
            else:
                step = node.slice
                if not isinstance(step, ast.Constant) or not isinstance(step.value, (str, int)):
                    return self.other(value)
                path.append(step.value)
            node = node.value
        while isinstance(node, ast.Await):
            node = node.value
        start, end = self.span(value)
        steps = tuple(reversed(path))
        if isinstance(node, ast.Name):
            return NameNode(node.id, steps, _dotted_name(value) or self.text[start:end], (start, end))
        base = self.node(node)
        return FieldNode(base, steps) if isinstance(base, CallNode) else self.other(value, "", None, [base])

    def call(self, value: ast.Call) -> Any:
        """A call by its dotted name; gathered calls are a list of calls."""
        quoted = isinstance(value.func, ast.Constant) and isinstance(value.func.value, str)
        name = value.func.value if quoted else _dotted_name(value.func)  # type: ignore[attr-defined]
        if name is None:
            return self.computed(value)
        if name == "asyncio.run" and value.args:
            return self.node(value.args[0])
        if name in ("asyncio.gather", "gather") and not any(isinstance(a, ast.Starred) for a in value.args):
            return [self.node(arg) for arg in value.args]
        arguments: list[tuple[str | None, Any, Span]] = [
            (None, self.node(arg), self.span(arg)) for arg in value.args
        ]
        for keyword in value.keywords:
            if keyword.arg is None:
                arguments += self.spread(keyword)
            else:
                arguments.append((keyword.arg, self.node(keyword.value), self.span(keyword.value)))
        return CallNode(str(name), arguments, self.span(value), quoted)

    def computed(self, value: ast.Call) -> OtherNode:
        """A call of what has no name: a method of a value, or what an expression gives."""
        node = self.other(value, "a call of a computed function")
        if isinstance(value.func, ast.Attribute):
            base = self.node(value.func.value)
            node.method = value.func.attr
            node.given = tuple(keyword.arg or "" for keyword in value.keywords)
            node.inside = [base, *node.inside[1:]]
        elif isinstance(value.func, (ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp)):
            start = self.span(value)[0]
            self.machine.drop("a function is called that has no name", start, surely=bool(value.keywords))
        return node

    def spread(self, keyword: ast.keyword) -> list[tuple[str | None, Any, Span]]:
        """The arguments in ``**{...}``: of a literal, or of a variable that holds one; else one not known."""
        span = self.span(keyword.value)
        if isinstance(keyword.value, ast.Name) and keyword.value.id in self.machine.held:
            node = NameNode(keyword.value.id, (), keyword.value.id, span)
            mapping = self.machine.now(self.machine.loose(node))
            if isinstance(mapping, UnsureValue):
                return [(None, node, span)]
        else:
            mapping = self.node(keyword.value)
        mapping = mapping.value if isinstance(mapping, DataNode) else mapping
        if isinstance(mapping, dict):
            return [(key, item, span) for key, item in mapping.items()]
        return [
            (
                None,
                OtherNode("spread arguments", self.text[span[0] : span[1]], span, span[0], [], False),
                span,
            )
        ]


def _is_data(value: VariableValue) -> bool:
    return value is None or isinstance(value, (str, int, float, list, dict))


def _carried_names(body: list[ast.stmt], names_of: Callable[[ast.stmt], _StatementNames]) -> set[str]:
    """The variables of a loop's body whose value after a round depends on what an earlier round left.

    Each statement and each assignment is followed once: a body may be as long as hostile text is.

    Args:
        body: The loop's statements.
        names_of: What a statement reads and assigns, blocks inside of it left out.
    """
    carried: set[str] = set()
    """Variables that are read where this round may not have assigned them yet."""
    users: dict[str, list[_StatementNames]] = {}
    stored: set[str] = set()
    assigned: set[str] = set()
    order: list[str] = []

    def follow(statements: list[ast.stmt]) -> None:
        for statement in statements:
            names = names_of(statement)
            carried.update(names.read - assigned)
            order.extend(names.stored - assigned)
            assigned.update(names.stored)
            stored.update(names.stored)
            for name in names.read if names.stored else ():
                users.setdefault(name, []).append(names)
            if isinstance(statement, _SCOPE_NODES):
                continue
            is_sure = isinstance(statement, (ast.With, ast.AsyncWith, ast.Try, ast.TryStar))
            for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                for field in ("body", "orelse", "finalbody"):
                    before = len(order)
                    follow(getattr(part, field, []))
                    while len(order) > before and not (is_sure and part is statement):
                        assigned.remove(order.pop())

    follow(body)
    grown: set[str] = set()
    waiting = [*(carried & stored)]
    while waiting:
        for names in users.pop(waiting.pop(), ()):
            waiting.extend(names.stored - grown)
            grown |= names.stored
    return grown


_SCOPE_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _node_position(node: ast.stmt | ast.expr) -> Span:
    """The line and column of a node, which know it again: of long text nodes are made anew."""
    return node.lineno, node.col_offset


def _bind_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, call: CallNode) -> _BoundArguments | None:
    """What a call gives to a function's parameters; None where that is open: stars, decorators."""
    parameters = node.args
    if node.decorator_list or parameters.vararg or parameters.kwarg:
        return None
    ordered = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    names = [*ordered, *(parameter.arg for parameter in parameters.kwonlyargs)]
    values: dict[str, Any] = {}
    free = iter(ordered)
    for key, value, _ in call.arguments:
        if isinstance(value, OtherNode) and value.reason in (
            "spread arguments",
            _NODE_DESCRIPTIONS[ast.Starred],
        ):
            return None
        name = next(free, None) if key is None else key
        if name not in names or name in values:
            return None
        values[name] = value
    least = len(ordered) - len(parameters.defaults)
    defaults = dict(zip(ordered[least:], parameters.defaults, strict=True))
    defaults |= {
        parameter.arg: value
        for parameter, value in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        if value
    }
    if any(name not in values and name not in defaults for name in names):
        return None
    return _BoundArguments(values, {name: value for name, value in defaults.items() if name not in values})


_NODE_DESCRIPTIONS: dict[type, str] = {
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Compare: "a comparison",
    ast.IfExp: "a conditional",
    ast.BoolOp: "found 'and' or 'or'",
    ast.Set: "a set",
    ast.Starred: "a starred expression",
}


_NO_CALL_NODES = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Dict, ast.Set, ast.JoinedStr)
"""What calls nothing where it stands among the calls of a list."""
_ONE_STRING = lazy_pattern(
    r"[A-Za-z]{0,2}+(?:\"\"\".*\"\"\"|'''.*'''"
    r"|\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+')",
    re.S,
)


def _root_name(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


_MAX_ELEMENTS = 100
_ELEMENT_NODES = (
    ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Attribute,
)  # fmt: skip
"""What an element of a comprehension is made of that is repeated for each value."""


def _expand_comprehension(value: ast.ListComp | ast.GeneratorExp) -> list[ast.expr] | None:
    """The elements of a comprehension over literal values; None where more is to be done."""
    generator, target = value.generators[0], value.generators[0].target
    is_plain = len(value.generators) == 1 and not generator.ifs and isinstance(target, ast.Name)
    if not is_plain or not all(isinstance(node, _ELEMENT_NODES) for node in ast.walk(value.elt)):
        return None
    values = _literal_values(generator.iter)
    if values is None or len(values) > _MAX_ELEMENTS:
        return None
    name = target.id  # type: ignore[attr-defined]
    return [_Substitution(name, item).visit(deepcopy(value.elt)) for item in values]


def _literal_values(node: ast.expr) -> Sequence[Any] | None:
    """The values that a literal list or a range of literal numbers has; None for anything else."""
    is_range = isinstance(node, ast.Call) and _dotted_name(node.func) == "range" and not node.keywords
    items = node.args if is_range else getattr(node, "elts", None)  # type: ignore[attr-defined]
    if items is None or not all(isinstance(item, ast.Constant) for item in items):
        return None
    values = [item.value for item in items]
    if not is_range:
        return values
    try:
        return range(*values)
    except (TypeError, ValueError):
        return None


class _Substitution(ast.NodeTransformer):
    """A literal in the place of a variable."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The literal, where the variable stands."""
        return ast.copy_location(ast.Constant(self.value), node) if node.id == self.name else node


def _inner_expressions(value: ast.expr) -> list[ast.expr]:
    children: list[ast.expr] = []
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr):
            children.append(child)
        elif isinstance(child, (ast.comprehension, ast.keyword)):
            children += [
                grandchild for grandchild in ast.iter_child_nodes(child) if isinstance(grandchild, ast.expr)
            ]
    return children


def _dotted_name(node: ast.expr) -> str | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(names)])


# ----------------------------------------------------------------------
# A call as Python text that stands in the place of a tool's name, as in UltraTool's plans.
_CALL = lazy_pattern(r"\s*+([^\W\d][\w.\-]*+)\((.*)", re.S)
_ARGUMENT_SEPARATOR = lazy_pattern(r",\s*+(?=[^\W\d]\w*+\s*+=(?!=))")
_ARGUMENT = lazy_pattern(r"\s*+([^\W\d]\w*+)\s*+=(?!=)\s*+(.*?)\s*+", re.S)
_NESTED_CALL_MESSAGE = "its arguments hold another call"


def read_call_in_name(text: str, position: int, notes: list[Diagnostic]) -> RawCall | None:
    """The call that a text in the place of a name makes; None where it makes none.

    A value that is no Python is text: what such plans say of a result that they do not know yet.

    Args:
        text: The text.
        position: The call's position, for messages.
        notes: Takes what is worth saying.

    Raises:
        ParseError: it begins like a call, and is none.

    >>> read_call_in_name("f(a='it's', b=2, c=<the sum>)", 0, []).arguments
    (('a', "it's"), ('b', 2), ('c', '<the sum>'))
    >>> read_call_in_name("search (beta)", 0, [])
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    name, after_bracket = match.groups()
    inside = after_bracket.rstrip()
    try:
        if not inside.endswith(")"):
            raise ParseError("it is never closed")
        inside = inside[:-1]
        raw = _read_python(inside)
        if raw is None:
            return RawCall(name, _read_arguments_one_by_one(inside))
        if len(raw.calls) != 1:
            raise ParseError(_NESTED_CALL_MESSAGE)
    except LimitError:
        raise
    except ParseError as error:
        reason = f"the tool of call {position + 1} is {shorten(repr(text), 60)}, which cannot be read: "
        raise ParseError(reason + error.reason, code="parse.shape") from None
    for note in raw.notes:
        if note.severity != "info":
            message = note.message.replace(" of call 1 ", f" of call {position + 1} ", 1)
            notes.append(note._replace(message=message, call=position, span=None))
    return RawCall(name, raw.calls[0].arguments)


def _read_python(inside: str) -> RawPlan | None:
    """What Python makes of a call with these arguments; None where they are no Python."""
    text = f"f({inside})"
    tree = parse_syntax(text)
    return follow(tree, text) if isinstance(tree, ast.Module) else None


def _read_arguments_one_by_one(inside: str) -> Arguments:
    """The arguments of a call that is no Python as a whole, one by one."""
    arguments: list[tuple[str, Value]] = []
    for index, argument in enumerate(_split_arguments(inside)):
        match = _ARGUMENT.fullmatch(argument)
        name, value = match.groups() if match else (str(index), argument.strip())
        raw = _read_python(value) if value and value[0] != "<" else None
        if raw is None:
            is_quoted = value[:1] in ("'", '"') and value[0] == value[-1] and len(value) > 1
            arguments.append((name, value[1:-1] if is_quoted else value))
        elif len(raw.calls) == 1 and len(raw.calls[0].arguments) == 1:
            arguments.append((name, raw.calls[0].arguments[0][1]))
        else:
            raise ParseError(_NESTED_CALL_MESSAGE)
    return tuple(arguments)


def _split_arguments(inside: str) -> list[str]:
    """The arguments of a call, one a text; a quoted value goes on to the piece that ends in its quote."""
    arguments: list[list[str]] = []
    quote = ""
    for piece in _ARGUMENT_SEPARATOR.split(inside):
        if quote:
            arguments[-1].append(piece)
        else:
            arguments.append([piece])
            match = _ARGUMENT.fullmatch(piece)
            value = match[2] if match else ""
            quote = value[0] if value[:1] in ("'", '"') and len(value) > 1 else ""
        if quote and piece.rstrip().endswith(quote):
            quote = ""
    return [", ".join(pieces) for pieces in arguments]
