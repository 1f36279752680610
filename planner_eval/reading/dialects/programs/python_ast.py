"""Python programs followed statement by statement, out of their syntax trees: nothing is compiled or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.errors import LimitError
from planner_eval.base.limits import (
    DEFAULT_LIMITS,
    MAX_DIGITS,
    Limits,
    has_long_integer,
    long_integer_error,
)
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic, RawPlan, RawRef
from planner_eval.reading.dialects.programs.expressions import MAX_REREAD_CHARS, Machine
from planner_eval.reading.dialects.programs.syntax import (
    STUB,
    CallNode,
    KnownNode,
    ToolCall,
    call_name,
    constant_step,
    dotted_name,
    has_keyword_arguments,
    inner_expressions,
    may_be_prose,
    root_of,
)
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    EXITS,
    SELF_NAMES,
    UNKNOWN,
    ImportedName,
    NotKnown,
    OpaqueObject,
    Scope,
    UnassignedName,
    Unknown,
    UnsureValue,
    VariableValue,
    is_library,
    stored_value,
)

_ORDINALS = frozenset({"First", "Second", "Third", "Fourth", "Fifth", "Next", "Then", "Finally", "Lastly"})
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
    program = _Program(tree, text, defined, limits=limits, calls_before=calls_before, before=before)
    if has_long_integer(text) and not program.by_offset:
        program.refuse_long_integers(tree)
    try:
        program.block(tree.body)
    except RecursionError:
        raise LimitError("the program nests too deeply", text=text) from None
    if variables is not None:
        variables.update(program.settled())
    if program.unread or program.unbound:
        program.tell_unread()
    return program.finish()


class _Function(NamedTuple):
    """A function of the program, the variables around it, and what its defaults were when it was defined."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    held: MutableMapping[str, VariableValue]
    defaults: Mapping[ast.expr, VariableValue] = MappingProxyType({})


class _FunctionRun:
    """A function that is followed: how many loops and branches are around its call, and what it returns."""

    def __init__(self, function: ast.AST, control: int) -> None:
        self.function = function
        self.control = control
        self.returned: list[VariableValue] = []
        self.told = False


class _Program(Machine):
    """Follows the statements of one program."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.module = self.held
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
                self.notes.append(Diagnostic("code.branch", message, "info", span=self.span(node)))
        return True

    def note_unreached(self, body: list[ast.stmt], ending: str) -> None:
        """Say that calls after the end of a program are left out."""
        for node in body:
            parts = [getattr(node, "value", None), *ast.walk(node)]
            call = next((part for part in parts if isinstance(part, (ast.Call, CallNode))), None)
            if call is not None:
                message = f"{ending} ends the program: the calls after it are not reached, and not counted"
                self.notes.append(Diagnostic("code.branch", message, "warning", span=self.span(call)))
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
                self.functions[node.name] = _Function(node, self.held)
            return
        for name in node.names:
            module = name.name if isinstance(node, ast.Import) else node.module or ""
            bound_name = name.asname or name.name.split(".")[0]
            if is_library(module) and not getattr(node, "level", 0):
                self.defined.add(bound_name)
            elif bound_name != "*":
                self.bind(bound_name, ImportedName(name.name if name.asname else bound_name))

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
        return not (kind in (ast.Return, ast.Raise) or self.is_exit(node))

    def may_end(self, node: ast.stmt) -> None:
        """Remember that what stands after a statement may not be reached; the next call says so.

        Beyond the function that it stands in only where it may raise or exit.
        """
        message = "calls that an exit, a return or an error before them may leave out are counted"
        beyond = any(isinstance(inner, ast.Raise) or self.is_exit(inner) for inner in ast.walk(node))
        self.endings.append((beyond, "code.branch", message, self.span(node)))

    def give_back(self, node: ast.Return) -> None:
        """Follow a return; outside of functions it shows a value."""
        if self.running:
            returned = None if node.value is None else stored_value(self.value(node.value))
            sure = len(self.control) == self.running[-1].control
            self.running[-1].returned.append(returned if sure else UNKNOWN)
        elif node.value is not None:
            self.show(node.value)

    def close_over(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Let a function see the variables around it, and make its defaults; in JavaScript each call does."""
        if node.name in self.functions:
            nodes = [] if self.mappings else [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            self.functions[node.name] = _Function(node, self.held, {item: self.hold(item) for item in nodes})

    def declare(self, node: ast.Global | ast.Nonlocal) -> None:
        """Follow ``global`` and ``nonlocal``."""
        if isinstance(self.held, Scope) and self.running:
            for name in node.names:
                is_global = isinstance(node, ast.Global)
                self.held.elsewhere[name] = self.module if is_global else self.held.enclosing(name)

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
                all_calls = all_calls and not isinstance(item, (KnownNode, *_NO_CALL_NODES))
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
        if is_doubtful and len(self.calls) > before and not is_method and isinstance(value, NotKnown):
            self.fail(f"{value.reason} between calls", self.span(node)[0] if value.at is None else value.at)

    def check_items(self, items: list[Any]) -> None:
        """Say what a list of calls holds that calls nothing; refuse a call in quotes, which would be lost."""
        for item in items:
            text = getattr(item, "value", None)
            if isinstance(item, KnownNode):
                if isinstance(text, str):
                    self.fail("found a text among the calls of a list, expected a call", item.col_offset)
                continue
            root = root_of(item)[0]
            if not isinstance(item, _NO_CALL_NODES) or getattr(root, "id", "") in self.held:
                continue
            start, end = self.span(item)
            if isinstance(item, ast.Constant) and isinstance(text, str) and _CALL_TEXT.match(text):
                self.fail("found a call in quotes, expected a call", start)
                continue
            message = f"not a call among the calls of a list, not read: {shorten(self.text[start:end], 60)}"
            self.notes.append(Diagnostic("shape.ignored", message, "warning", span=(start, end)))

    # ------------------------------------------------------------ assignments
    def assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Follow an assignment."""
        if node.value is None:
            return
        self.is_program = True
        value = self.hold(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.target(target, value)

    def augment(self, node: ast.AugAssign) -> None:
        """Follow ``+=`` and its like: what a name holds is changed in place, or anew."""
        self.value(node.value)
        self.altered(node.target)
        if isinstance(node.target, ast.Name):
            self.bind(node.target.id, Unknown((self.found(node.target),)))

    def target(self, target: ast.expr, value: VariableValue) -> None:
        """Assign to a name or to names; anything else only has its calls recorded."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(t, ast.Name) for t in target.elts):
            names = [t.id for t in target.elts if isinstance(t, ast.Name)]
            if len(names) == 2 and self.is_word(names[0]) and names[1].title() not in _ORDINALS:
                self.bind(names[1], value)
                return
            for step, name in zip(getattr(target, "keys", range(len(names))), names, strict=True):
                self.bind(name, _unpacked(self.changes.content(value), step))
            if isinstance(value, RawRef) and self.calls and value.name == self.calls[-1].binds[0][0]:
                self.calls[-1] = replace(self.calls[-1], returns=tuple(names))
        elif isinstance(target, (ast.Tuple, ast.List)) and _fits(target, self.changes.content(value)):
            for element, item in zip(target.elts, self.changes.content(value), strict=True):
                self.target(element, item)
        else:
            value = value.text if isinstance(value, UnassignedName) else value
            for node in ast.walk(target):
                if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                    self.value(node)
                    self.altered(node, value if node is target else UNKNOWN)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    self.bind(node.id, UNKNOWN)

    def is_word(self, name: str) -> bool:
        """Whether `First` in `First, r = f()` is a word: no other use of it is a variable's."""
        if name not in _ORDINALS:
            return False
        if name not in self.words:
            self.words[name] = self.text.count(name) == self.text.count(f"{name}, ")
        return self.words[name]

    # ------------------------------------------------------------ changes in place
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
        start = self.span(target)[0]
        reason = template.format(repr(shorten(self.source(target), 60)))
        base = target
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            base = target.value
            holder = self.found(base)
            key = constant_step(target)
            if type(holder) is dict and type(key) is str and isinstance(target, ast.Subscript):
                is_sure = not (self.control or self.ways.open or isinstance(value, Unknown))
                if is_sure and self.changes.follow(holder, "update", [{key: value}], {}):
                    return
            elif isinstance(holder, RawRef) and key is not None:
                self.changes.change(RawRef(holder.name, (*holder.path, key)), reason, start)
                return
        root: Any = base
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if not isinstance(root, ast.Name):
            return
        current = self.found(base)
        if isinstance(current, (RawRef, list, dict, OpaqueObject)) or (
            isinstance(current, Unknown) and current.of
        ):
            self.changes.change(current, reason, self.span(base)[0])
        elif root.id not in SELF_NAMES | self.defined:
            for name in ast.walk(base):
                if isinstance(name, ast.Name) and not isinstance(self.held.get(name.id), ImportedName):
                    self.bind(name.id, UNKNOWN)

    def found(self, base: ast.expr) -> Any:
        """What a name, or a way into what it holds, gives; itself and no copy."""
        if isinstance(base, ast.Name):
            return self.held.get(base.id, UNKNOWN)
        if not isinstance(base, (ast.Attribute, ast.Subscript)):
            return UNKNOWN
        holder, step = self.found(base.value), constant_step(base)
        if step is not None:
            return self.changes.inside(holder, (step,))
        return holder if isinstance(holder, (RawRef, Unknown)) else Unknown((holder,))

    def deleted(self, target: Any) -> None:
        """Follow ``del``."""
        if isinstance(target, (ast.Delete, ast.Tuple, ast.List)):
            for item in target.targets if isinstance(target, ast.Delete) else target.elts:
                self.deleted(item)
        elif isinstance(target, ast.Name):
            self.bind(target.id, self.unsure(f"'del' takes {target.id!r} away", target))
        else:
            self.value(target)
            self.altered(target, template="'del' removes {} from it")

    # ------------------------------------------------------------ functions
    def run(self, call: ToolCall) -> VariableValue | None:
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
        if any(running.function is node for running in self.running):
            if not self.running[-1].told:
                self.running[-1].told = True
                message = (
                    f"{shorten(call.name, 60)!r} calls itself, which repeats its calls; they are counted once"
                )
                self.notes.append(Diagnostic("code.loop", message, "warning", span=call.span))
            return None
        given = call.bound_to(node.args) if not node.decorator_list else None
        if given is None:
            self.unbound[node] = None
            return None
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
        defaults = function.defaults
        local = {
            name: defaults[value] if value in defaults else self.hold(value) for name, value in given.items()
        }
        running = _FunctionRun(node, len(self.control))
        around = self.own, self.held, self.defined, self.functions
        self.own, self.held = local, Scope(local, function.held)
        self.defined, self.functions = {*self.defined}, {**self.functions}  # what it defines is its own
        self.running.append(running)
        endings = len(self.endings)
        goes_on = self.block(node.body)
        self.endings[endings:] = [ending for ending in self.endings[endings:] if ending[0]]
        if not goes_on and not running.returned:
            self.may_end(node)
        self.running.pop()
        self.inner |= self.defined
        self.own, self.held, self.defined, self.functions = around
        return running.returned[0] if len(running.returned) == 1 else UNKNOWN

    def tell_unread(self) -> None:
        """Say which calls stand in functions that were not followed; one that is never called is no plan."""
        tools: dict[str, None] = {}
        unread = self.unread | self.unbound
        for node in unread:
            for call in ast.walk(node):
                name = dotted_name(call.func) if isinstance(call, ast.Call) and call.keywords else None
                own = {*SELF_NAMES, *self.defined, *self.inner}
                if name and name not in DISPLAY_FUNCTIONS | BUILTINS and name.split(".")[0] not in own:
                    tools[name] = None
        if tools:
            message = (
                f"calls in functions that are not followed were not read: {shorten(', '.join(tools), 60)}"
            )
            span = self.span(next(iter(unread)))
            self.notes.append(Diagnostic("code.function", message, "warning", span=span))

    # ------------------------------------------------------------ several ways
    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Follow a loop over literals round by round, and of any other loop the first round.

        What that leaves is what its own calls give, all else is unsure.
        """
        content: Any = None
        if isinstance(node, ast.While):
            self.value(node.test)
        else:
            over = self.elements(node.iter)
            values = self.rounds(over, node.body)
            if values is not None:
                return self.rounds_of(node, over, values)
            content = self.changes.content(over)
            if not isinstance(content, (list, dict)) or not content:
                content = None
                self.target(node.target, UNKNOWN)
                element = OpaqueObject((over,))
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        self.bind(name.id, element)
        self.control.append(("code.loop", "the calls in a loop are counted once", self.span(node)))
        calls_before, mark = len(self.calls), self.ways.part()
        if content is not None and not isinstance(node, ast.While):
            self.target(node.target, next(iter(content)))
        if not self.block(node.body):
            self.may_end(node)
        outputs = {call.binds[0][0] for call in self.calls[calls_before:]}
        for where, variable, value in self.ways.written(mark).values():
            if not isinstance(value, Unknown) and not (isinstance(value, RawRef) and value.name in outputs):
                reason = f"{variable!r} depends on how many rounds a loop has"
                self.ways.put(where, variable, self.unsure(reason, node))
        end = self.ways.take(mark)
        self.ways.meet([end, {}], self.unsure("depends on whether a loop runs", node))
        if node.orelse:
            mark = self.ways.part()
            self.block(node.orelse)
            end = self.ways.take(mark)
            self.ways.meet([end, {}], self.unsure("depends on how a loop ends", node))
        self.control.pop()
        return True

    def rounds_of(self, node: ast.For | ast.AsyncFor, over: VariableValue, values: list[Any]) -> bool:
        """Follow the rounds of a loop for what it goes over at its start."""
        for value in values:
            self.target(node.target, value)
            self.repeating += 1
            goes_on = self.block(node.body)
            self.repeating -= 1
            if not goes_on:
                return False
        content = self.changes.content(over) if isinstance(over, list) else values
        if isinstance(content, UnsureValue) or len(content) != len(values):
            message = "a loop changes the list that it goes over: not all of its rounds may be counted"
            self.notes.append(Diagnostic("code.loop", message, "warning", span=self.span(node)))
        return self.block(node.orelse)

    def branches(self, node: ast.If | ast.Match) -> bool:
        """Follow each branch; a variable that they leave otherwise is unsure."""
        if isinstance(node, ast.If):
            self.value(node.test)
            outcome = _truth(node.test)
            if outcome is not None:
                return self.block(node.body if outcome else node.orelse)
            bodies: list[tuple[Any, list[ast.stmt]]] = [(None, node.body), (None, node.orelse)]
        else:
            self.value(node.subject)
            bodies = [(case, case.body) for case in node.cases]
            last = node.cases[-1]
            if not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern or last.guard:
                bodies.append((None, []))
        self.control.append(("code.branch", "the calls in all branches count, each once", self.span(node)))
        mark = self.ways.part()
        ends = []
        for case, body in bodies:
            for part in ast.walk(case) if case is not None else ():
                for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if isinstance(part, ast.pattern) and name:
                        self.bind(name, UNKNOWN)
            if case is not None and case.guard is not None:
                self.value(case.guard)
            arrives = self.block(body)
            end = self.ways.take(mark)
            ends += [end] if arrives else []
        self.ways.meet(ends, self.unsure("depends on which branch is taken", node))
        self.control.pop()
        if len(ends) < len(bodies):
            self.may_end(node)
        return bool(ends)

    def attempt(self, node: ast.Try) -> bool:
        """Follow a try: its plan is what it does where nothing fails.

        A handler that calls no tool changes nothing; one that does has its calls told, and what it leaves
        otherwise is unsure.
        """
        ways, unsure = self.ways, self.unsure("depends on whether a try block fails", node)
        mark = ways.part()
        arrives = self.block(node.body)
        failed = []
        start = len(ways.log)
        if node.handlers:
            ways.between(mark, unsure)
        for handler in node.handlers:
            begin, calls_before = len(ways.log), len(self.calls)
            returned = len(self.running[-1].returned) if self.running else 0
            message = "an except block makes its calls only where the try block fails; they are counted once"
            self.control.append(("code.branch", message, self.span(handler)))
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            goes_on = self.block(handler.body)
            self.control.pop()
            end = ways.written(start)
            ways.take(begin)
            if len(self.calls) > calls_before:
                failed += [end] if goes_on else []
            elif self.running:
                del self.running[-1].returned[returned:]
        ways.take(start)
        arrives = self.block(node.orelse) and arrives
        end = ways.take(mark)
        ways.meet([end, *failed] if arrives or not failed else failed, unsure)
        if node.handlers and any(map(self.is_exit, node.body)):
            self.may_end(node)
        return self.block(node.finalbody) and (arrives or bool(node.handlers))

    def context(self, node: ast.With | ast.AsyncWith) -> bool:
        """Follow a with."""
        for item in node.items:
            value = self.hold(item.context_expr)
            if item.optional_vars is not None:
                self.target(item.optional_vars, value)
        return self.block(node.body)


_SIMPLE: dict[type, Callable[[_Program, Any], None]] = {
    ast.Expr: lambda program, node: program.show(node.value),
    **dict.fromkeys((ast.Assign, ast.AnnAssign), _Program.assign),
    ast.AugAssign: _Program.augment,
    ast.Return: _Program.give_back,
    **dict.fromkeys(_FUNCTIONS, _Program.close_over),
    **dict.fromkeys((ast.Global, ast.Nonlocal), _Program.declare),
    ast.Delete: _Program.deleted,
    **dict.fromkeys((ast.Assert, ast.Raise), _Program.look),
}
_COMPOUND: dict[type, Callable[[_Program, Any], bool]] = {
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), _Program.loop),
    **dict.fromkeys((ast.If, ast.Match), _Program.branches),
    **dict.fromkeys((ast.Try, ast.TryStar), _Program.attempt),
    **dict.fromkeys((ast.With, ast.AsyncWith), _Program.context),
}


_NO_CALL_NODES = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Dict, ast.Set, ast.JoinedStr)
"""What calls nothing where it stands among the calls of a list."""
_CALL_TEXT = lazy_pattern(r"\s*+([^\W\d][\w.\-]*+)\((.*)", re.S)


def _truth(test: ast.expr) -> bool | None:
    """Whether a test is surely true or surely false: a constant, or that the program is run by itself."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    is_main = ast.unparse(test) == "__name__ == '__main__'" if isinstance(test, ast.Compare) else False
    return True if is_main else None


def _fits(target: ast.Tuple | ast.List, content: Any) -> bool:
    """Whether a list has an element for each target."""
    starred = any(isinstance(element, ast.Starred) for element in target.elts)
    return isinstance(content, list) and len(content) == len(target.elts) and not starred


def _unpacked(value: VariableValue, step: str | int) -> VariableValue:
    if isinstance(value, RawRef):
        return RawRef(value.name, (*value.path, step))
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return value if isinstance(value, UnsureValue) else Unknown((value,))
