"""Programs read statically: what variables hold, which calls are of tools, which call feeds which.

The syntax tree of Python is followed, expression by expression; the grammars of grammars/ make the same tree
of JavaScript and of what Python refuses. Nothing is compiled or run. A variable that holds a literal is
replaced by it, a name that nothing defines is a text, an expression on the program's own variables cannot be
known and is an error where a tool's argument needs it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import Any

from planner_eval.base.frozen import replace
from planner_eval.base.json_text import build_object, map_object_values, object_items
from planner_eval.base.limits import Span, too_many_calls_error
from planner_eval.base.text import shorten
from planner_eval.plan.model import Path, RawCall, RawComputed, RawRef, RawTemplate
from planner_eval.reading.dialects.programs.program import (
    ABSENT,
    BUILTINS,
    DATA_METHODS,
    DISPLAY_FUNCTIONS,
    HIGHER_ORDER_FUNCTIONS,
    METHOD_OPTIONS,
    MUTATING_FUNCTIONS,
    MUTATING_METHODS,
    PASS_THROUGH_FUNCTIONS,
    Argument,
    Changed,
    OwnFunction,
    ProgramState,
    Spread,
    ToolCall,
    ToolName,
    Unknown,
    VariableValue,
    result_name,
    tool_methods,
)
from planner_eval.reading.dialects.programs.syntax import (
    COMPREHENSIONS,
    CONDITION_CODE,
    DESCRIPTIONS,
    JSON_LITERALS,
    ONE_STRING,
    CallNode,
    KnownNode,
    NotDataError,
    ObjectNode,
    call_name,
    constant_step,
    dotted_name,
    inner_expressions,
    is_text,
    merge_texts,
    object_key,
    root_of,
    signed_number,
    text_parts,
)

_KEYWORD_METHODS = frozenset({"format", "update", "setdefault", "dict", "text", "json"})
"""Methods of data that take arguments of any name."""
MAX_REREAD_CHARS = 200_000
"""Characters of loops that are read again: each in the one before doubles them."""
_CHARACTERS_PER_VALUE = 64
"""So many characters of a text that a program puts together count as a value."""
_ORDINALS = frozenset({"First", "Second", "Third", "Fourth", "Fifth", "Next", "Then", "Finally", "Lastly"})
_LOOP_EXITS = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)
_VIEWS = ("items", "keys", "values")
_SEQUENCES: dict[str, Any] = {"range": range, "enumerate": enumerate, "zip": zip}
"""Functions of the language over which loops go, which give numbers or tuples."""
_RUN_FUNCTIONS = frozenset({
    "asyncio.run", "asyncio.create_task", "asyncio.ensure_future", "asyncio.wait_for", "asyncio.shield",
    "Promise.all", "Promise.allSettled",
})  # fmt: skip
"""What gives its first argument."""


class Machine(ProgramState):
    """Follows the expressions of one program."""

    def value(self, node: Any) -> VariableValue:
        """The value of an expression, with references where it depends on calls; its calls are recorded.

        Each expression is read once, so that no call is made twice.
        """
        kind = type(node)
        if kind is KnownNode:
            return node.value
        if kind is ast.Constant:
            if isinstance(node.value, str):
                self.check_joined(node)
            is_data = node.value is None or isinstance(node.value, (str, int, float))
            return node.value if is_data else RawComputed(self.source(node))
        return _READERS.get(kind, Machine.computed)(self, node)

    def unknown(self, reason: str, at: int, of: Any = (), *, is_part: bool = False) -> Unknown:
        """What cannot be known, for a reason that stands in this text."""
        return Unknown(reason, at, self.text, of, is_part=is_part)

    def check_joined(self, node: Any) -> None:
        """Say of a text that it is several side by side on one line: a comma, or a sign, may be missing."""
        length = node.end_col_offset - node.col_offset
        if length == len(node.value) + 2 or node.end_lineno != node.lineno:  # as most
            return
        start, end = self.span(node)
        if self.text[end - 1] in "\"'" and ONE_STRING.fullmatch(self.text, start, end) is None:
            message = f"adjacent strings are joined into one: {shorten(self.text[start:end], 60)}"
            self.note("value.joined", message, (start, end))

    def written(self, value: Any) -> Any:
        """A list or an object that the program writes."""
        self.growing.add(id(value))
        return value

    def items(self, nodes: list[Any]) -> VariableValue:
        """A list of what expressions give; what a star spreads is a part of it, where it is known."""
        values: list[Any] = []
        for value in map(self.value, nodes):
            spread = self.content(value.of[0]) if isinstance(value, Spread) and value.of else None
            values += spread if isinstance(spread, list) else [value]
        return self.written(values)

    def fields(self, node: ast.Dict) -> VariableValue:
        """An object, whose keys are constants."""
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return self.computed(node)
        keys = map(object_key, node.keys)
        return self.written(build_object([*zip(keys, map(self.value, node.values), strict=True)]))

    def operation(self, node: ast.expr) -> VariableValue:
        """Text around values, a number with its sign, or an expression."""
        if isinstance(node, ast.UnaryOp):
            with suppress(NotDataError):
                return signed_number(node)
        return self.template(node) if is_text(node) else self.computed(node)

    def assigned(self, node: ast.NamedExpr) -> VariableValue:
        """A value that is given a name where it stands."""
        self.is_program = True
        self.bind(node.target.id, self.value(node.value))
        return self.value(node.target)

    def way(self, node: ast.expr) -> VariableValue:
        """A name, or a way by fields and constant positions into a name or a call's result."""
        root, path = root_of(node)
        if isinstance(root, ast.Name):
            if root.id in JSON_LITERALS and not path:
                return JSON_LITERALS[root.id]
            return self.name(root.id, path, dotted_name(node) or self.source(node), self.span(node))
        if not isinstance(root, (ast.Call, CallNode)) or call_name(root) is None:
            return self.computed(node)
        return self.follow_path(self.value(root), path)

    def name(self, root: str, path: Path, text: str, span: Span) -> VariableValue:
        """A variable's value, or the name where nothing defines it."""
        stored = self.held.get(root, ABSENT)
        if stored is ABSENT and root in self.defined:
            return OwnFunction(f"{text!r} is defined by the program", span[0], self.text)
        if stored is ABSENT:
            self.tell_unassigned(text, span)
            return ToolName(text)
        if isinstance(stored, ToolName) and not stored.is_imported:
            self.tell_unassigned(stored.name, span)
            return ToolName(stored.name + text[len(root) :])
        value = self.follow_path(stored, path)
        if isinstance(value, Unknown) and not isinstance(value, (Changed, ToolName)):
            return self.unknown(f"{text!r} is computed by the program", span[0], (value,), is_part=True)
        return value

    def tell_unassigned(self, name: str, span: Span) -> None:
        """Say of a name in an argument that nothing assigns it."""
        if self.inside and not self.quiet and name not in self.told:
            self.told.add(name)
            message = f"the name {shorten(name, 60)!r} is not defined; it is read as text"
            self.note("value.name", message, span, "warning" if self.is_program else "info")

    def depends(self, node: ast.AST) -> bool:
        """Whether an expression depends on a variable of the program or on a call."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                if part.id in self.held or part.id in self.defined:
                    return True
            elif isinstance(part, (ast.Call, ast.NamedExpr, *COMPREHENSIONS)):
                return True
        return False

    def computed(self, node: ast.expr) -> VariableValue:
        """An expression that is not followed: its text, where it depends on nothing of the program."""
        if not self.depends(node):
            return RawComputed(self.source(node))
        reason, offset = DESCRIPTIONS.get(type(node), "an expression"), self.span(node)[0]
        if isinstance(node, ast.BinOp):
            end, begin = self.span(node.left)[1], self.span(node.right)[0]
            gap = self.text[end:begin]
            reason = f"found the operator {gap.strip('() ')[:3]!r}"
            offset = end + len(gap) - len(gap.lstrip(") \t\n"))
        first, *others = inner_expressions(node)
        values = [self.value(first)]
        is_choice = isinstance(node, (ast.IfExp, ast.BoolOp))
        if is_choice:
            self.control.append("whether a tool is called depends on a condition")
        values += map(self.value, others)
        if is_choice:
            self.control.pop()
        is_part = is_choice or isinstance(node, (ast.Attribute, ast.Subscript))
        return self.unknown(reason, offset, values, is_part=is_part)

    def function(self, node: ast.Lambda) -> OwnFunction:
        """A lambda."""
        self.unread[node] = None
        return OwnFunction("a lambda", self.span(node)[0], self.text)

    # ------------------------------------------------------------ rounds
    def elements(self, node: Any) -> VariableValue:
        """What a loop goes over; of ``range``, ``zip``, ``enumerate`` and an object's ``items`` a list."""
        name = (call_name(node) if isinstance(node, ast.Call) else None) or ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            holder, view = node.func.value, node.func.attr
            is_known = isinstance(holder, ast.Dict) or getattr(holder, "id", None) in self.held
            content = self.content(self.value(holder)) if is_known and view in _VIEWS else None
            if isinstance(content, dict):
                return (
                    [[*item] for item in content.items()] if view == "items" else [*getattr(content, view)()]
                )
        if name not in _SEQUENCES or name in self.held or name in self.defined:
            return self.value(node)
        arguments = self.arguments(node)
        contents = [argument._replace(value=self.content(argument.value)) for argument in arguments]
        call = ToolCall(name, contents, self.span(node))
        values = [argument.value for argument in contents]
        if all(isinstance(value, (list, int)) for value in values):
            with suppress(TypeError, ValueError, OverflowError):
                items = islice(_SEQUENCES[name](*call.positional, **call.named), MAX_REREAD_CHARS)
                return [[*item] if isinstance(item, tuple) else item for item in items]
        return self.unknown(f"the program computes {name!r}", call.span[0], values)

    def rounds(self, over: VariableValue, body: list[Any]) -> list[Any] | None:
        """What each round of a loop gets; None where that is not known, or one may leave the loop early."""
        content = self.content(over)
        exits = (node for part in body for node in ast.walk(part) if isinstance(node, _LOOP_EXITS))
        if not isinstance(content, (list, dict)) or next(exits, None) is not None:
            return None
        (start, _), (_, end) = self.span(body[0]), self.span(body[-1])
        again = (len(content) - 1) * (end - start)
        if self.again + again > MAX_REREAD_CHARS:
            return None
        self.again += max(again, 0)
        return [*content]

    def comprehension(self, node: Any) -> VariableValue:
        """A comprehension over literals, element by element; of any other the calls are counted once."""
        first, *others = node.generators
        parts = [getattr(node, key) for key in ("elt", "key", "value") if hasattr(node, key)]
        over = self.elements(first.iter)
        before = self.capture([generator.target for generator in node.generators])
        is_plain = isinstance(node, (ast.ListComp, ast.GeneratorExp)) and not (others or first.ifs)
        values = self.rounds(over, parts) if is_plain else None
        if values is None:
            self.control.append("whether a tool is called depends on what a comprehension goes over")
        found: list[Any] = []
        for value in [Unknown(of=(over,), is_part=True)] if values is None else values:
            self.target(first.target, value)
            for generator in others:
                self.target(generator.target, Unknown(of=(self.value(generator.iter),), is_part=True))
            tests = [test for generator in node.generators for test in generator.ifs]
            found += map(self.value, [*tests, *parts])
        self.restore(before)
        if values is not None:
            return self.written(found)
        self.control.pop()
        return self.unknown("a comprehension", self.span(node)[0], (over, *found))

    def template(self, node: ast.expr) -> VariableValue:
        """Text around references; a text again where nothing in it depends on a call.

        A name there that nothing assigns makes the text a computed one, and is not told.
        """
        pieces: list[Any] = []
        is_exact = True
        quiet, self.quiet = self.quiet, True
        values = [self.content(self.value(part)) for part in text_parts(node)]
        self.quiet = quiet
        for value in values:
            if isinstance(value, ToolName) and not value.is_imported:
                value = RawComputed(value.name)
            if isinstance(value, Unknown):
                return value
            if isinstance(value, RawTemplate):
                pieces += value.parts
            elif isinstance(value, RawComputed):
                is_exact = False  # its source stands where its value should
                pieces.append(value.text)
            elif isinstance(value, (str, RawRef)):
                pieces.append(value)
            else:
                return self.unknown("a value is made into text by the program", self.span(node)[0])
            # A text that is put together of texts that were put together doubles with each line.
            brought = len(value) // _CHARACTERS_PER_VALUE if isinstance(value, str) else 0
            self.spend(len(value.parts) if isinstance(value, RawTemplate) else brought)
        merged = merge_texts(pieces)
        if all(isinstance(piece, str) for piece in merged):
            return "".join(merged) if is_exact else RawComputed(self.source(node))
        if not is_exact:
            message = f"the program computes a part of {self.source(node)[:60]}; its text is used"
            self.note("value.computed", message, self.span(node))
        return RawTemplate(tuple(merged))

    # ------------------------------------------------------------ calls
    def call(self, node: Any) -> VariableValue:
        """What a call gives; gathered calls give a list.

        Raises:
            LimitError: it is one call too many.
        """
        name = call_name(node)
        if name is None:
            return self.call_of_value(node)
        if name in _RUN_FUNCTIONS and node.args:
            return self.value(node.args[0])
        if name in ("asyncio.gather", "gather"):
            return self.items(node.args)
        root, dot, suffix = name.partition(".")
        stored = self.held.get(root)
        if name == "dict" and not node.args and stored is None and root not in self.defined:
            return self.written(build_object([(item.key or "", item.value) for item in self.arguments(node)]))
        known = f"{stored.name}{dot}{suffix}" if isinstance(stored, ToolName) else name
        keys = [*[None] * len(node.args), *[keyword.arg for keyword in node.keywords]]
        is_tool = self.is_tool(name, known, keys)
        self.is_program = self.is_program or (not is_tool and name in DISPLAY_FUNCTIONS)  # a value is shown
        inside, self.inside = self.inside, self.inside + 1 if is_tool else 0
        call = ToolCall(known if is_tool else name, self.arguments(node), self.span(node))
        given = ABSENT if is_tool else self.run(call)
        self.inside = inside
        if not is_tool:
            return given
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Constant):
            self.fail(f"found the tool's name {name!r} in quotes", call.span[0])
        for argument in node.args:
            if isinstance(argument, ast.NamedExpr):
                self.fail(f"found ':=' in an argument of {name!r}, expected '='", self.span(argument)[0])
        if self.mappings and [*map(type, node.args)] == [ObjectNode]:  # which holds the named arguments
            ((_, fields, span),) = call.arguments
            call = call._replace(arguments=[Argument(key, item, span) for key, item in object_items(fields)])
        return self.make(call)

    def call_of_value(self, node: ast.Call) -> Unknown:
        """A call of what an expression gives, or of a method of it."""
        base = self.value(node.func.value if isinstance(node.func, ast.Attribute) else node.func)
        call = ToolCall(self.source(node), self.arguments(node), self.span(node))
        if isinstance(node.func, ast.Attribute):
            self.method(base, node.func.attr, call)
        elif isinstance(node.func, (ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp)):
            self.drop("a function is called that has no name", call.span[0], surely=bool(call.named))
        values = [argument.value for argument in call.arguments]
        return self.unknown("a call of a computed function", call.span[0], (base, *values))

    def arguments(self, node: Any) -> list[Argument]:
        """The arguments of a call; what ``**{...}`` spreads one by one, where it is known."""
        arguments = [Argument(None, self.value(argument), self.span(argument)) for argument in node.args]
        for keyword in node.keywords:
            span, value = self.span(keyword.value), self.value(keyword.value)
            spread = self.content(value)
            if keyword.arg is not None:
                arguments.append(Argument(keyword.arg, value, span))
            elif isinstance(spread, dict):
                arguments += [Argument(key, item, span) for key, item in object_items(spread)]
            else:
                reason = spread.reason if isinstance(spread, Changed) else "spread arguments"
                arguments.append(Argument(None, Spread(reason, span[0], self.text), span))
        return arguments

    def make(self, call: ToolCall) -> RawRef:
        """Record a tool's call and give the reference to its result.

        Raises:
            LimitError: it is one call too many.
        """
        for reason in self.control[:1]:
            self.fail(f"{reason}: write the calls out", call.span[0], code=CONDITION_CODE)
        arguments, position = [], 0
        for name_key, value, span in call.arguments:
            key = str(position) if name_key is None else name_key
            position += name_key is None
            arguments.append((key, self.argument(call.name, key, value, span)))
        if len(self.calls) >= self.most:
            raise too_many_calls_error(self.limits, self.text)
        own_name = result_name(len(self.calls))
        for _, span in self.endings[-1:]:
            if span not in self.told:
                self.told.add(span)
                message = "calls that an exit, a return or an error before them may leave out are counted"
                self.note("code.branch", message, span, call=len(self.calls))
        spans = tuple([argument.span for argument in call.arguments])
        binds = ((own_name, ()),)
        self.calls.append(RawCall(call.name, tuple(arguments), binds=binds, span=call.span, spans=spans))
        return RawRef(own_name)

    def argument(self, name: str, key: str, value: VariableValue, span: Span) -> Any:
        """What a tool's call gets."""
        self.spent_at = span[0]
        current = self.current(value)
        if isinstance(current, Unknown):
            reason = f"the argument {key!r} of {name!r} cannot be computed: {current.reason}"
            self.fail(reason, self.place_of(current, span[0]))
        return current

    def run(self, call: ToolCall) -> VariableValue:
        """Follow a function of the program's own; where there is none, pass its call over."""
        return self.pass_over(call)

    def pass_over(self, call: ToolCall) -> Unknown:
        """What a call gives that is not followed; it is refused where it may be a tool's, or make one."""
        name, start = call.name, call.span[0]
        unknown = partial(self.unknown, f"the program computes {name!r}", start)
        root, dot, suffix = name.partition(".")
        *path, last = suffix.split(".") if dot else [root]
        values = [argument.value for argument in call.arguments]
        stored = self.held.get(root)
        if isinstance(stored, OwnFunction) and not dot and name not in self.own:  # of a piece before
            self.fail(f"{stored.reason}: write one program", start, surely=True, code=CONDITION_CODE)
        if name in DISPLAY_FUNCTIONS or self.is_self(root):
            if dot and call.named and name not in DISPLAY_FUNCTIONS:
                message = f"a call on {root!r} was not read: {shorten(name, 60)}"
                self.note("code.function", message, call.span)
            return unknown()
        if last in HIGHER_ORDER_FUNCTIONS and (not dot or root in self.defined or root in self.held):
            for value in values:
                if isinstance(value, ToolName) and value.name.split(".")[0] not in BUILTINS:
                    self.drop(f"{name!r} calls {value.name!r}", start)
        if not MUTATING_FUNCTIONS.isdisjoint((name, last)) and values and root not in self.own:
            self.change(values[0], f"{name!r} changes it", start)
        if name in self.defined or root in self.defined:
            return unknown(values)
        if isinstance(stored, ToolName):  # an object of an imported class
            return unknown((stored,), is_part=True)
        if not dot:
            if root in self.own and not isinstance(stored, OwnFunction):
                self.drop(f"{root!r} is called, which the program assigned", start, surely=bool(call.named))
            is_part = name in PASS_THROUGH_FUNCTIONS
            return unknown(values if is_part else (), is_part=is_part)
        base = self.follow_path(self.held.get(root, ABSENT), tuple(path))
        self.method(base, last, call)
        return unknown((base,))

    def method(self, base: VariableValue, method: str, call: ToolCall) -> None:
        """Look at a call of a method on what is held: it changes it, only looks at it, or may be a tool's."""
        source, start, named = shorten(call.name, 60), call.span[0], call.named
        if self.grow(base, method, call.positional, named):
            return
        if method in MUTATING_METHODS:
            self.change(base, f"{source!r} changes it", start)
        is_of_data = method in _KEYWORD_METHODS or (
            (method in DATA_METHODS or method in MUTATING_METHODS) and METHOD_OPTIONS.issuperset(named)
        )
        if tool_methods(base) > is_of_data:
            self.drop(f"{source!r} is called on a value, and may be a tool", start)

    # ------------------------------------------------------------ assignments
    def target(self, target: ast.expr, value: VariableValue) -> None:
        """Assign to a name, to names, or to a part of what is held."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            self.alter(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            names = [element.id for element in target.elts if isinstance(element, ast.Name)]
            if len(names) == len(target.elts) == 2 and names[0] in self.ordinal_words - {names[1].title()}:
                self.bind(names[1], value)
                return
            steps = getattr(target, "keys", range(len(target.elts)))
            if any(isinstance(element, ast.Starred) for element in target.elts):
                value, steps = Unknown(of=(value,), is_part=True), ["*"] * len(target.elts)
            for step, element in zip(steps, target.elts, strict=True):
                self.target(element, self.follow_path(value, (step,)))
            is_last = isinstance(value, RawRef) and self.calls and value.name == self.calls[-1].binds[0][0]
            if is_last and len(names) == len(target.elts):
                self.calls[-1] = replace(self.calls[-1], returns=tuple(names))
        elif isinstance(target, ast.Starred):
            self.target(target.value, value)

    @cached_property
    def ordinal_words(self) -> set[str]:
        """Ordinals as `First` in `First, r = f()` that are words: no other use of one is a variable's."""
        return {word for word in _ORDINALS if self.text.count(word) == self.text.count(f"{word}, ")}

    def alter(self, target: ast.Attribute | ast.Subscript, value: VariableValue) -> None:
        """Assign to a field or an item of what is held: under a key of an object, or it is changed."""
        holder = self.value(target.value)
        key = constant_step(target)
        if key is None and isinstance(target, ast.Subscript):
            self.value(target.slice)
        is_key = isinstance(key, str) and isinstance(target, ast.Subscript)
        if is_key and self.grow(holder, "update", [], {str(key): value}):
            return
        start = self.span(target)[0]
        reason = f"an assignment to {shorten(self.source(target), 60)!r} changes it"
        self.change(holder, reason, start)
        if isinstance(holder, ToolName) and not holder.is_imported:
            self.target(target.value, self.unknown(reason, start))


_READERS: dict[type, Callable[[Machine, Any], VariableValue]] = {
    ast.Call: Machine.call,
    CallNode: Machine.call,
    ast.List: lambda machine, node: machine.items(node.elts),
    ast.Tuple: lambda machine, node: machine.items(node.elts),
    ast.Dict: Machine.fields,
    ObjectNode: lambda machine, node: machine.written(map_object_values(node.fields, machine.value)),
    ast.Await: lambda machine, node: machine.value(node.value),
    **dict.fromkeys((ast.Name, ast.Attribute, ast.Subscript), Machine.way),
    **dict.fromkeys((ast.JoinedStr, ast.BinOp, ast.UnaryOp), Machine.operation),
    **dict.fromkeys(COMPREHENSIONS, Machine.comprehension),
    ast.FormattedValue: lambda machine, node: machine.unknown("a computed template", machine.span(node)[0]),
    ast.NamedExpr: Machine.assigned,
    ast.Lambda: Machine.function,
    ast.Starred: lambda machine, node: Spread(
        "a starred expression", machine.span(node)[0], machine.text, (machine.value(node.value),)
    ),
}
