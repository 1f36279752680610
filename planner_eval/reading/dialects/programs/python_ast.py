"""Python programs followed statement by statement, out of their syntax trees: nothing is compiled or run."""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any, NamedTuple

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import (
    DEFAULT_LIMITS,
    MAX_DIGITS,
    Limits,
    has_long_integer,
    long_integer_error,
)
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan, Value
from planner_eval.reading.dialects.programs.expressions import MAX_REREAD_CHARS, Machine
from planner_eval.reading.dialects.programs.program import (
    ABSENT,
    BUILTINS,
    DISPLAY_FUNCTIONS,
    EXITS,
    SELF_NAMES,
    Changed,
    OwnFunction,
    ToolCall,
    ToolName,
    Unknown,
    VariableValue,
    is_library,
)
from planner_eval.reading.dialects.programs.syntax import (
    STUB,
    CallNode,
    KnownNode,
    call_name,
    dotted_name,
    has_keyword_arguments,
    inner_expressions,
    may_be_prose,
    parse_syntax,
    root_of,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENDINGS = {ast.Return: "a return", ast.Raise: "an error", ast.Expr: "an exit"}
_DEFINITION_NODES = frozenset({*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom})


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
        tree: From :func:`parse_syntax`, or from a grammar.
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

    >>> from planner_eval.reading.dialects.programs.syntax import parse_syntax
    >>> text = "x = f(a=1)\ng(b=x['y'])"
    >>> follow(parse_syntax(text), text).calls[1].arguments
    (('b', RawRef(name='@0', path=('y',))),)
    """
    program = _Program(tree, text, defined, limits, calls_before, before)
    if has_long_integer(text) and not program.by_offset:
        program.refuse_long_integers(tree)
    try:
        program.block(tree.body)
    except RecursionError:
        raise LimitError("the program nests too deeply", text=text) from None
    if program.unread or program.unbound:
        program.tell_unread()
    plan = program.finish()
    if variables is not None:
        variables.update(program.settled())
    return plan


class _Function(NamedTuple):
    """A function of the program, the variables around it, and what its defaults were when it was defined."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    held: MutableMapping[str, VariableValue]
    defaults: Mapping[str, VariableValue]


class _FunctionRun(NamedTuple):
    """A function that is followed: how many loops and branches are around its call, and what it returns."""

    function: ast.AST
    control: int
    returned: list[VariableValue]


class _Program(Machine):
    """Follows the statements of one program."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.functions: dict[str, _Function] = {}
        self.running: list[_FunctionRun] = []
        self.inner: set[str] = set()
        self.unbound: dict[ast.AST, None] = {}
        """Functions of which a call was passed over, as it is open what their parameters get."""

    def refuse_long_integers(self, tree: ast.Module) -> None:
        """Refuse integers that Python reads, for they are hexadecimal, and could not write.

        Raises:
            LimitError: with the place of the first.
        """
        numbers = (
            node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int
        )
        too_long = [self.span(number)[0] for number in numbers if number.value >= 10**MAX_DIGITS]
        if too_long:
            raise long_integer_error(self.text, min(too_long))

    # ------------------------------------------------------------ statements
    def block(self, body: list[ast.stmt]) -> bool:
        """Follow statements in order, up to one after which a function's others are not reached.

        Returns:
            Whether what stands after them is reached.
        """
        for node in body:
            if type(node) in _DEFINITION_NODES:
                self.define(node)
        for index, node in enumerate(body, 1):
            if not self.statement(node):
                if not self.running:
                    self.note_unreached(body[index:], _ENDINGS.get(type(node), "an exit or an error"))
                return False
            if index < len(body) and self.exit_name(node) is not None:
                message = "an exit among calls alone is read as a tool's; in a program it ends the calls"
                self.note("code.branch", message, self.span(node), "info")
        return True

    def note_unreached(self, body: list[ast.stmt], ending: str) -> None:
        """Say that calls after the end of a program are left out."""
        for node in body:
            parts = [getattr(node, "value", None), *ast.walk(node)]
            call = next((part for part in parts if isinstance(part, (ast.Call, CallNode))), None)
            if call is not None:
                message = f"{ending} ends the program: the calls after it are not reached, and not counted"
                self.note("code.branch", message, self.span(call))
                return

    def exit_name(self, node: ast.AST) -> str | None:
        """The name of the language's function that ends a program, where a statement calls one."""
        call = node.value if isinstance(node, ast.Expr) else None
        name = call_name(call) if isinstance(call, ast.Call) and not call.keywords else None
        return name if name in EXITS and name not in self.defined and name not in self.held else None

    def is_exit(self, node: ast.AST) -> bool:
        """Whether a statement ends the program, which a list of calls is not."""
        name = self.exit_name(node)
        return name is not None and (self.is_program or name not in self.tool_names)

    def define(self, node: Any) -> None:
        """Note what a block defines or imports: of a library it is no tool, of any other module it may be."""
        self.is_program = True
        if isinstance(node, _FUNCTIONS):
            parameters = self.text.find("(", self.span(node)[0]) + 1
            if STUB.match(self.text, parameters):
                return
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self.defined.add(node.name)
            self.unread[node] = None
            if not isinstance(node, ast.ClassDef):
                self.functions[node.name] = _Function(node, self.held, {})
            return
        for name in node.names:
            module = name.name if isinstance(node, ast.Import) else node.module or ""
            bound_name = name.asname or name.name.split(".")[0]
            if is_library(module) and not getattr(node, "level", 0):
                self.defined.add(bound_name)
            elif bound_name != "*":
                self.bind(bound_name, ToolName(name.name if name.asname else bound_name, is_imported=True))

    def statement(self, node: ast.stmt) -> bool:
        """Follow one statement; what can hold no call is passed over.

        Returns:
            Whether what stands after it is reached.
        """
        kind = type(node)
        if kind in _COMPOUND:
            self.is_program = True
            return _COMPOUND[kind](self, node)
        if kind in _SIMPLE:
            _SIMPLE[kind](self, node)
        elif kind in _NOT_FOLLOWED:
            has_call = any(isinstance(part, ast.Call) for part in ast.walk(node))
            reason = f"'{_NOT_FOLLOWED[kind]}' is not followed: write the calls out"
            self.fail(reason, self.span(node)[0], surely=has_call)
        return not (kind in (ast.Return, ast.Raise) or self.is_exit(node))

    def may_end(self, node: ast.AST) -> None:
        """Remember that what stands after a statement may not be reached; the next call says so.

        Beyond the function that it stands in only where it may raise or exit.
        """
        beyond = any(isinstance(inner, ast.Raise) or self.is_exit(inner) for inner in ast.walk(node))
        self.endings.append((beyond, self.span(node)))

    def give_back(self, node: ast.Return) -> None:
        """Follow a return; outside of functions it shows a value."""
        if self.running:
            returned = None if node.value is None else self.value(node.value)
            sure = len(self.control) == self.running[-1].control
            self.running[-1].returned.append(returned if sure else Unknown())
        elif node.value is not None:
            self.show(node.value)

    def close_over(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Let a function see the variables around it, and make its defaults."""
        if node.name in self.functions:
            given = node.args
            names = [parameter.arg for parameter in (*given.posonlyargs, *given.args)]
            pairs: list[tuple[str, ast.expr | None]] = [
                *zip(names[len(names) - len(given.defaults) :], given.defaults, strict=True)
            ]
            pairs += zip([word.arg for word in given.kwonlyargs], given.kw_defaults, strict=True)
            defaults = {name: self.value(default) for name, default in pairs if default is not None}
            self.functions[node.name] = _Function(node, self.held, defaults)

    def look(self, node: ast.Assert | ast.Raise) -> None:
        """Follow what only looks at values; of what is raised, what it is made of."""
        for child in ast.iter_child_nodes(node):
            raised = isinstance(node, ast.Raise) and child is node.exc and isinstance(child, ast.Call)
            for part in inner_expressions(child) if raised else [child]:
                self.value(part)

    def show(self, node: Any) -> None:
        """An expression on its own: calls, or a list of them; what is not followed may be prose."""
        if isinstance(node, (ast.List, ast.Tuple)):
            before, all_calls = len(self.calls), True
            for item in node.elts:
                self.show(item)
                all_calls = all_calls and not isinstance(item, _NO_CALL_NODES)
            if len(self.calls) > before and not all_calls:  # looking again parses a long list again
                self.check_items(node.elts)
            return
        if isinstance(getattr(node, "func", None), ast.Name) or isinstance(node, CallNode):  # as most
            self.value(node)
            return
        before = len(self.calls)
        is_doubtful = may_be_prose(node)
        if is_doubtful and not self.is_program and not has_keyword_arguments(node):
            return
        value = self.value(node)
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_doubtful and len(self.calls) > before and not is_method and isinstance(value, Unknown):
            self.fail(f"{value.reason} between calls", self.place_of(value, self.span(node)[0]))

    def check_items(self, items: list[Any]) -> None:
        """Say what a list of calls holds that calls nothing; refuse a call in quotes, which would be lost."""
        for item in items:
            name = getattr(root_of(item)[0], "id", "")
            if name in self.held or not isinstance(item, _NO_CALL_NODES):
                continue
            start, end = self.span(item)
            text = getattr(item, "value", None)
            if isinstance(text, str) and _CALL_TEXT.match(text):
                self.fail("found a call in quotes, expected a call", start)
                continue
            message = f"not a call among the calls of a list, not read: {shorten(self.text[start:end], 60)}"
            self.note("shape.ignored", message, (start, end))

    # ------------------------------------------------------------ assignments
    def assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Follow an assignment."""
        if node.value is None:
            return
        self.is_program = True
        value = self.value(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.target(target, value)

    def augment(self, node: ast.AugAssign) -> None:
        """Follow ``+=`` and its like: what a name holds is changed in place, or anew."""
        self.value(node.value)
        held = self.held.get(node.target.id, ABSENT) if isinstance(node.target, ast.Name) else ABSENT
        reason = f"an assignment to {shorten(self.source(node.target), 60)!r} changes it"
        start = self.span(node)[0]
        self.change(held, reason, start)
        self.target(node.target, self.unknown(reason, start, (held,)))

    # ------------------------------------------------------------ functions
    def run(self, call: ToolCall) -> VariableValue:
        """Follow the body of a function that the program calls, at each call, and give what it returns.

        Raises:
            LimitError: functions call one another so often that reading them would take too long.
        """
        function = self.functions.get(call.name)
        if function is None:
            return self.pass_over(call)
        node = function.node
        if any(running.function is node for running in self.running):
            self.fail(f"{shorten(call.name, 60)!r} calls itself: write the calls out", call.span[0])
            return self.pass_over(call)
        local = None if node.decorator_list else call.bound_to(node.args, function.defaults)
        if local is None:
            self.unbound[node] = None
            return self.pass_over(call)
        if node not in self.unread:  # its first reading is a part of the program's own length
            start, end = self.span(node)
            self.again += end - start
        if self.again > MAX_REREAD_CHARS:
            reason = (
                f"functions call each other so often that more than {MAX_REREAD_CHARS:,} "
                "characters would be read again; write the calls out"
            )
            raise LimitError(reason, text=self.text, offset=call.span[0])
        self.unread.pop(node, None)
        running = _FunctionRun(node, len(self.control), [])
        self.running.append(running)
        if not self.body(function, local) and not running.returned:
            self.may_end(node)
        self.running.pop()
        if len(running.returned) == 1:
            return running.returned[0]
        return self.unknown(f"the program computes {call.name!r}", call.span[0])

    def body(self, function: _Function, local: dict[str, VariableValue]) -> bool:
        """Follow a function's body with its own variables, functions and imports."""
        around = self.own, self.held, self.defined, self.functions
        self.own, self.held = local, ChainMap(local, function.held)
        self.defined, self.functions = {*self.defined}, {**self.functions}
        endings = len(self.endings)
        goes_on = self.block(function.node.body)
        self.endings[endings:] = [ending for ending in self.endings[endings:] if ending[0]]
        self.inner |= self.defined
        self.own, self.held, self.defined, self.functions = around
        return goes_on

    def tell_unread(self) -> None:
        """Say which calls stand in functions that were not followed; one that is never called is no plan."""
        tools: dict[str, None] = {}
        unread = self.unread | self.unbound
        own = {*SELF_NAMES, *self.defined, *self.inner, *DISPLAY_FUNCTIONS, *BUILTINS}
        for node in unread:
            calls_tool = False
            for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
                name = dotted_name(call.func)
                if name and own.isdisjoint((name, name.split(".")[0])):
                    tools |= dict.fromkeys([name] if call.keywords else [])
                    calls_tool = calls_tool or bool(call.keywords) or "." not in name
            if calls_tool and isinstance(node, _FUNCTIONS):
                self.own[node.name] = OwnFunction(f"{node.name!r} is defined in another piece")
        if tools:
            message = (
                f"calls in functions that are not followed were not read: {shorten(', '.join(tools), 60)}"
            )
            span = self.span(next(iter(unread)))
            self.note("code.function", message, span)

    # ------------------------------------------------------------ several ways
    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Follow a loop over literals round by round; any other calls no tool, and leaves what is unsure."""
        reason = "depends on a loop that is not over literals, or that a round may leave"
        if isinstance(node, ast.While):
            self.value(node.test)
            return self.ways(node, [node.body, node.orelse], reason)
        over = self.elements(node.iter)
        values = self.rounds(over, node.body)
        if values is None:
            self.target(node.target, Unknown(of=(over,), is_part=True))
            return self.ways(node, [node.body, node.orelse], reason)
        for value in values:
            self.target(node.target, value)
            if not self.block(node.body):
                return False
        content = self.content(over)
        if not isinstance(content, (list, dict)) or len(content) != len(values):
            self.fail("a loop changes the list that it goes over", self.span(node)[0])
        return self.block(node.orelse)

    def branches(self, node: ast.If) -> bool:
        """Follow the branch that is surely taken; what several leave is unsure, and they call no tool."""
        self.value(node.test)
        outcome = _truth(node.test)
        if outcome is not None:
            return self.block(node.body if outcome else node.orelse)
        bodies, last = [node.body], node.orelse
        while len(last) == 1 and isinstance(last[0], ast.If) and _truth(last[0].test) is None:
            test = ast.copy_location(ast.Expr(last[0].test), last[0].test)
            bodies.append([test, *last[0].body])
            last = last[0].orelse  # one after another: a walk through each in the one before is quadratic
        return self.ways(node, [*bodies, last], "depends on which branch is taken")

    def attempt(self, node: ast.Try) -> bool:
        """Follow a try: its plan is what it does where nothing fails; a handler calls no tool."""
        arrives = self.block(node.body)
        after, endings = self.capture([node]), len(self.endings)
        returned = self.running[-1].returned if self.running else []
        count = len(returned)
        self.ways(node, [handler.body for handler in node.handlers], "depends on whether a try block fails")
        self.restore(after)
        del returned[count:], self.endings[endings:]
        arrives = self.block(node.orelse) and arrives
        if node.handlers and any(map(self.is_exit, node.body)):
            self.may_end(node)
        return self.block(node.finalbody) and (arrives or bool(node.handlers))

    def ways(self, node: ast.AST, bodies: list[list[ast.stmt]], reason: str) -> bool:
        """Follow bodies of which it is not known whether they are run: no call of a tool may stand there.

        Returns:
            Whether one of them goes on.
        """
        test = node.test if isinstance(node, ast.If) else None  # which is made on each way
        before = self.capture(child for child in ast.iter_child_nodes(node) if child is not test)
        self.control.append(f"whether a tool is called {reason}")
        arrive = []
        for body in bodies:
            arrive.append(self.block(body))
            self.restore(before)
        self.control.pop()
        for name, value in before.items():
            self.bind(
                name, Changed(f"{name!r} {reason}", self.span(node)[0], self.text, (value,), is_part=True)
            )
        if not all(arrive):
            self.may_end(node)
        return any(arrive)

    def context(self, node: ast.With | ast.AsyncWith) -> bool:
        """Follow a with."""
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.target(item.optional_vars, value)
        return self.block(node.body)


_SIMPLE: dict[type, Callable[[_Program, Any], None]] = {
    ast.Expr: lambda program, node: program.show(node.value),
    ast.Assign: _Program.assign,
    ast.AnnAssign: _Program.assign,
    ast.AugAssign: _Program.augment,
    ast.Return: _Program.give_back,
    **dict.fromkeys(_FUNCTIONS, _Program.close_over),
    ast.Assert: _Program.look,
    ast.Raise: _Program.look,
}
_COMPOUND: dict[type, Callable[[_Program, Any], bool]] = {
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), _Program.loop),
    ast.If: _Program.branches,
    ast.Try: _Program.attempt,
    ast.TryStar: _Program.attempt,
    ast.With: _Program.context,
    ast.AsyncWith: _Program.context,
}
_NOT_FOLLOWED = {ast.Match: "match", ast.Global: "global", ast.Nonlocal: "nonlocal", ast.Delete: "del"}


_NO_CALL_NODES = (
    KnownNode,
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Dict,
    ast.Set,
    ast.JoinedStr,
)
"""What calls nothing where it stands among the calls of a list."""
_CALL_TEXT = lazy_pattern(r"\s*+([^\W\d][\w.\-]*+)\((.*)", re.S)


def _truth(test: ast.expr) -> bool | None:
    """Whether a test is surely true or surely false: a constant, or that the program is run by itself."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    is_main = ast.unparse(test) == "__name__ == '__main__'" if isinstance(test, ast.Compare) else False
    return True if is_main else None


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
