"""Programs read statically: what variables hold, which calls are of tools, which call feeds which.

The syntax tree of Python is followed, expression by expression; the grammars of grammars/ make the same tree
of JavaScript and of what Python refuses. Nothing is compiled or run. A variable that holds a literal is
replaced by it, a name that nothing defines is a text, an expression on the program's own variables cannot be
known and is an error where a tool's argument needs it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from planner_eval.base.json_text import build_object, map_object_values, object_items
from planner_eval.base.limits import Span, too_many_calls_error
from planner_eval.base.text import shorten
from planner_eval.plan.model import (
    Diagnostic,
    Path,
    RawCall,
    RawComputed,
    RawRef,
    RawTemplate,
    Value,
)
from planner_eval.reading.dialects.programs.program import ProgramState, result_name
from planner_eval.reading.dialects.programs.syntax import (
    COMPREHENSIONS,
    DESCRIPTIONS,
    IMPURE_NODES,
    JSON_LITERALS,
    ONE_STRING,
    Argument,
    CallNode,
    KnownNode,
    NotDataError,
    ObjectNode,
    ToolCall,
    call_name,
    dotted_name,
    inner_expressions,
    is_text,
    merge_texts,
    object_key,
    root_of,
    signed_number,
    text_parts,
)
from planner_eval.reading.dialects.programs.values import (
    ABSENT,
    BUILTINS,
    CHARACTERS_PER_VALUE,
    DATA_METHODS,
    DISPLAY_FUNCTIONS,
    HIGHER_ORDER_FUNCTIONS,
    IMPORTED_OBJECT,
    MAX_VALUES,
    METHOD_OPTIONS,
    MUTATING_FUNCTIONS,
    MUTATING_METHODS,
    OWN_FUNCTION,
    PASS_THROUGH_FUNCTIONS,
    UNKNOWN,
    ImportedName,
    NotKnown,
    OpaqueObject,
    UnassignedName,
    Unknown,
    UnsureValue,
    VariableValue,
    count_values,
    object_types,
    stored_value,
)

_KEYWORD_METHODS = frozenset({"format", "update", "setdefault", "dict", "text", "json"})
"""Methods of data that take arguments of any name."""
MAX_REREAD_CHARS = 200_000
"""Characters of functions and loops that are read again: each in the one before doubles them."""
_LOOP_EXITS = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)
_SEQUENCES: dict[str, Any] = {"range": range, "enumerate": enumerate, "zip": zip}
"""Functions of the language over which loops go, which give numbers or tuples."""
_RUN_FUNCTIONS = frozenset({
    "asyncio.run", "asyncio.create_task", "asyncio.ensure_future", "asyncio.wait_for", "asyncio.shield",
    "Promise.all", "Promise.allSettled",
})  # fmt: skip
"""What gives its first argument."""


class Machine(ProgramState):
    """Follows the expressions of one program."""

    def hold(self, node: Any) -> VariableValue:
        """What a variable holds that is given an expression; a name that nothing assigns may be a tool's."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            root, path = root_of(node)
            if isinstance(root, ast.Name) and root.id not in self.defined and root.id not in JSON_LITERALS:
                stored = self.held.get(root.id, ABSENT)
                if stored is ABSENT:
                    return UnassignedName(dotted_name(node) or self.source(node))
                if isinstance(stored, UnassignedName) and not path:
                    return stored
        return stored_value(self.value(node))

    # ------------------------------------------------------------ expressions
    def value(self, node: Any) -> Value | NotKnown:
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
        read = _READERS.get(kind)
        return self.computed(node) if read is None else read(self, node)

    def check_joined(self, node: Any) -> None:
        """Say of a text that it is several side by side on one line: a comma, or a sign, may be missing."""
        length = node.end_col_offset - node.col_offset
        if (
            length == len(node.value) + 2 or node.end_lineno != node.lineno
        ):  # most texts are one, as they stand
            return
        start, end = self.span(node)
        if self.text[end - 1] in "\"'" and ONE_STRING.fullmatch(self.text, start, end) is None:
            message = f"adjacent strings are joined into one: {shorten(self.text[start:end], 60)}"
            self.notes.append(Diagnostic("value.joined", message, "warning", span=(start, end)))

    def items(self, node: ast.List | ast.Tuple) -> Value | NotKnown:
        """A list, or a tuple."""
        return self.all([self.value(item) for item in node.elts])

    def fields(self, node: ast.Dict) -> Value | NotKnown:
        """An object, whose keys are constants."""
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            return self.computed(node)
        keys = map(object_key, node.keys)
        return self.all(build_object([*zip(keys, map(self.value, node.values), strict=True)]))

    def all(self, values: Any) -> Any:
        """A list or an object of values; of which one cannot be known it cannot either."""
        inner = [value for _, value in object_items(values)] if isinstance(values, dict) else values
        unknown = next((value for value in inner if isinstance(value, NotKnown)), None)
        return values if unknown is None else self.derived(unknown, inner)

    def operation(self, node: ast.expr) -> Value | NotKnown:
        """Text around values, a number with its sign, or an expression."""
        if isinstance(node, ast.UnaryOp):
            with suppress(NotDataError):
                return signed_number(node)
        return self.template(node) if is_text(node) else self.computed(node)

    def assigned(self, node: ast.NamedExpr) -> Value | NotKnown:
        """A value that is given a name where it stands."""
        self.is_program = True
        self.bind(node.target.id, self.hold(node.value))
        return self.value(node.target)

    def derived(self, unknown: NotKnown, values: Iterable[Any]) -> NotKnown:
        """What is made of values of which one cannot be known."""
        of, because = [*map(stored_value, values)], unknown.holds
        if isinstance(because, UnsureValue):
            return unknown._replace(holds=UnsureValue(because.reason, because.at, because.text, of))
        return unknown._replace(holds=Unknown(of))

    def way(self, node: ast.expr) -> Value | NotKnown:
        """A name, or a way by fields and constant positions into a name or a call's result."""
        root, path = root_of(node)
        start, end = self.span(node)
        if isinstance(root, ast.Name):
            if root.id in JSON_LITERALS and not path:
                return JSON_LITERALS[root.id]
            return self.name(root.id, path, dotted_name(node) or self.text[start:end], (start, end))
        if not isinstance(root, (ast.Call, CallNode)) or call_name(root) is None:
            return self.computed(node)
        value = self.value(root)
        if isinstance(value, RawRef):
            return RawRef(value.name, value.path + path)
        if isinstance(value, NotKnown):
            return value
        name = call_name(root)
        return NotKnown(f"the program computes {name!r}", self.span(root)[0], Unknown((value,)))

    def name(self, root: str, path: Path, text: str, span: Span) -> Value | NotKnown:
        """A variable's value, or the name as a text where nothing defines it."""
        stored = self.held.get(root, ABSENT)
        if stored is ABSENT and root in self.defined:
            return NotKnown(f"{text!r} is defined by the program", span[0], OWN_FUNCTION)
        if stored is ABSENT or isinstance(stored, UnassignedName):
            own_text = stored.text if isinstance(stored, UnassignedName) else text
            if self.inside and not self.quiet and own_text not in self.unassigned:
                self.unassigned.add(own_text)
                message = f"the name {shorten(own_text, 60)!r} is not defined; it is read as text"
                severity = "warning" if self.is_program else "info"
                self.notes.append(Diagnostic("value.name", message, severity, span=span))
            return own_text if stored is ABSENT else own_text + text[len(root) :]
        if path and not isinstance(stored, Unknown):
            stored = self.changes.inside(stored, path)
        if isinstance(stored, UnsureValue):
            return self.changes.not_known(stored)
        if isinstance(stored, Unknown):
            how = "imported" if isinstance(stored, ImportedName) else "computed"
            return NotKnown(f"{text!r} is {how} by the program", span[0], stored)
        if isinstance(stored, (list, dict)):
            self.changes.spend(count_values(stored, MAX_VALUES - self.changes.spent), span[0])
        return stored

    def depends(self, node: ast.AST) -> bool:
        """Whether an expression depends on a variable of the program or on a call."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                if part.id in self.held or part.id in self.defined:
                    return True
            elif isinstance(part, (ast.Call, ast.NamedExpr, *COMPREHENSIONS)):
                return True
        return False

    def computed(self, node: ast.expr) -> Value | NotKnown:
        """An expression that is not followed: its text, where it depends on nothing of the program."""
        start = self.span(node)[0]
        if not isinstance(node, IMPURE_NODES) and not self.depends(node):
            return RawComputed(self.source(node))
        if isinstance(node, ast.Lambda):
            self.unread[node] = None
            return NotKnown("a lambda", start, OWN_FUNCTION)
        if isinstance(node, COMPREHENSIONS):
            return self.comprehension(node)
        reason, offset = DESCRIPTIONS.get(type(node), "an expression"), start
        if isinstance(node, ast.BinOp):
            end, begin = self.span(node.left)[1], self.span(node.right)[0]
            gap = self.text[end:begin]
            reason = f"found the operator {gap.strip('() ')[:3]!r}"
            offset = end + len(gap) - len(gap.lstrip(") \t\n"))
        elif isinstance(node, ast.JoinedStr):
            reason = "a format"
        elif isinstance(node, ast.Call):
            reason = "a call of a computed function"
        inner = inner_expressions(node)  # none of a template of JavaScript's
        others = inner[1:]
        values = [self.hold(first) for first in inner[:1]]
        is_choice = isinstance(node, (ast.IfExp, ast.BoolOp))
        if is_choice:
            message = "the calls in all branches of a conditional expression count, each once"
            self.control.append(("code.branch", message, self.span(node)))
        values += map(self.hold, others)
        if is_choice:
            self.control.pop()
        if isinstance(node, ast.Call):
            named = [keyword.arg or "" for keyword in node.keywords]
            if isinstance(node.func, ast.Attribute):
                self.touch(values[0], node.func.attr, named, self.source(node), start)
            elif isinstance(node.func, (ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp)):
                self.drop("a function is called that has no name", start, surely=bool(named))
        is_part = is_choice or isinstance(node, (ast.Attribute, ast.Subscript))
        return NotKnown(reason, offset, (OpaqueObject if is_part else Unknown)(values))

    def elements(self, node: Any) -> VariableValue:
        """What a loop goes over; of ``range``, ``zip``, ``enumerate`` and an object's ``items`` a list."""
        name = call_name(node) if isinstance(node, ast.Call) else None
        function = _SEQUENCES.get(name or "")
        method = node.func if isinstance(node, ast.Call) and not node.keywords else None
        if isinstance(method, ast.Attribute) and method.attr == "items":
            is_literal = isinstance(method.value, ast.Dict)
            of = self.value(method.value) if is_literal else self.held.get(dotted_name(method.value) or "")
            items = self.changes.content(of)
            if isinstance(items, dict):
                return [[*item] for item in items.items()]
        if function is None or name in self.held or name in self.defined:
            return stored_value(self.value(node))
        arguments = self.arguments(node)
        values = [stored_value(self.value(argument.node)) for argument in arguments]
        contents = [self.changes.content(value) for value in values]
        if all(isinstance(content, (list, int)) for content in contents):
            given = [(argument.key, item) for argument, item in zip(arguments, contents, strict=True)]
            positional = [item for key, item in given if key is None]
            named = {key: item for key, item in given if key is not None}
            with suppress(TypeError, ValueError, OverflowError):
                items = islice(function(*positional, **named), MAX_REREAD_CHARS)
                return [[*item] if isinstance(item, tuple) else item for item in items]
        return Unknown(values)

    def rounds(self, over: VariableValue, body: list[Any]) -> list[Any] | None:
        """What each round of a loop gets; None where that is not known, or one may leave the loop early."""
        content = self.changes.content(over)
        exits = (node for part in body for node in ast.walk(part) if isinstance(node, _LOOP_EXITS))
        if not isinstance(content, (list, dict)) or next(exits, None) is not None:
            return None
        (start, _), (_, end) = self.span(body[0]), self.span(body[-1])
        again = (len(content) - 1) * (end - start)
        if self.again + again > MAX_REREAD_CHARS:
            return None
        self.again += max(again, 0)
        return [*content]

    def comprehension(self, node: Any) -> Value | NotKnown:
        """A comprehension over literals, element by element; of any other the calls are counted once."""
        span, first = self.span(node), node.generators[0]
        over = [self.elements(first.iter)]
        is_plain = len(node.generators) == 1 and not first.ifs and isinstance(first.target, ast.Name)
        if is_plain and isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            values = self.rounds(over[0], [node.elt])
            if values is not None:
                outer = self.held.get(first.target.id, ABSENT)
                elements = []
                self.repeating += 1
                for value in values:
                    self.bind(first.target.id, value)
                    elements.append(self.value(node.elt))
                self.repeating -= 1
                if outer is ABSENT:
                    self.own.pop(first.target.id, None)
                else:
                    self.bind(first.target.id, outer)
                return self.all(elements)
        self.control.append(("code.loop", "the calls in a comprehension are counted once", span))
        over += [stored_value(self.value(generator.iter)) for generator in node.generators[1:]]
        for generator in node.generators:
            for name in ast.walk(generator.target):
                if isinstance(name, ast.Name):
                    self.bind(name.id, Unknown(over))
        inner = [getattr(node, key) for key in ("elt", "key", "value") if hasattr(node, key)]
        inner += [test for generator in node.generators for test in generator.ifs]
        values = [stored_value(self.value(part)) for part in inner]
        self.control.pop()
        return NotKnown("a comprehension", span[0], Unknown((*over, *values)))

    def template(self, node: ast.expr) -> Value | NotKnown:
        """Text around references; a text again where nothing in it depends on a call.

        A name there that nothing assigns makes the text a computed one, and is not told.
        """
        quiet, self.quiet = self.quiet, True
        parts = text_parts(node)
        values = list(map(self.value, parts))
        self.quiet = quiet
        pieces: list[Any] = []
        is_exact = True
        for part, value in zip(parts, values, strict=True):
            value = self.changes.refused(value) or value if isinstance(value, RawRef) else value
            if isinstance(value, NotKnown):
                return self.derived(value, values)
            if isinstance(value, RawComputed) or self._is_unassigned(part):
                is_exact = False  # its source stands where its value should
            if isinstance(value, RawTemplate):
                pieces += value.parts
            elif isinstance(value, (str, RawRef, RawComputed)):
                pieces.append(value.text if isinstance(value, RawComputed) else value)
            else:
                reason = "a value is made into text by the program"
                return self.derived(NotKnown(reason, self.span(node)[0]), values)
            # A text that is put together of texts that were put together doubles with each line.
            brought = len(value) // CHARACTERS_PER_VALUE if isinstance(value, str) else 0
            self.changes.spend(max(brought, len(value.parts) if isinstance(value, RawTemplate) else 0))
        merged = merge_texts(pieces)
        if all(isinstance(piece, str) for piece in merged):
            return "".join(merged) if is_exact else RawComputed(self.source(node))
        if not is_exact:
            message = f"the program computes a part of {self.source(node)[:60]}; its text is used"
            self.notes.append(Diagnostic("value.computed", message, "warning", span=self.span(node)))
        return RawTemplate(tuple(merged))

    def _is_unassigned(self, node: ast.expr) -> bool:
        root = root_of(node)[0]
        return (
            isinstance(root, ast.Name)
            and root.id not in JSON_LITERALS
            and (root.id not in self.held or isinstance(self.held[root.id], UnassignedName))
        )

    # ------------------------------------------------------------ calls
    def call(self, node: Any) -> Value | NotKnown:
        """What a call gives; gathered calls give a list.

        Raises:
            LimitError: it is one call too many.
        """
        name = call_name(node)
        if name is None:
            return self.computed(node)
        if name in _RUN_FUNCTIONS and node.args:
            return self.value(node.args[0])
        if name in ("asyncio.gather", "gather"):
            return self.gathered(node.args)
        root, dot, suffix = name.partition(".")
        if name == "dict" and not node.args and root not in self.held and root not in self.defined:
            return self.all(
                build_object([(key or "", self.value(item)) for key, item, _ in self.arguments(node)])
            )
        stored = self.held.get(root)
        if isinstance(stored, UnassignedName):  # a tool under another name
            name = f"{stored.text}{dot}{suffix}"
        call = ToolCall(name, self.arguments(node), self.span(node))
        if (name in DISPLAY_FUNCTIONS and not call.is_named_print) or not self.is_tool(call):
            return self.own_call(call)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Constant):
            self.fail(f"found the tool's name {name!r} in quotes", call.span[0])
        return self.make(call)

    def gathered(self, nodes: list[Any]) -> Value | NotKnown:
        """A list of what calls give that run side by side; what a star spreads is a part of it."""
        values: list[Any] = []
        for node in nodes:
            is_spread = isinstance(node, ast.Starred)
            value = self.value(node.value if is_spread else node)
            value = value if isinstance(value, NotKnown) else self.changes.current(value)
            values += value if is_spread and isinstance(value, list) else [value]
        return self.all(values)

    def arguments(self, node: Any) -> list[Argument]:
        """The arguments as written; what ``**{...}`` spreads one by one, where it is known."""
        arguments = [Argument(None, argument, self.span(argument)) for argument in node.args]
        for keyword in node.keywords:
            span = self.span(keyword.value)
            if keyword.arg is not None:
                arguments.append(Argument(keyword.arg, keyword.value, span))
                continue
            value = keyword.value
            if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
                items = zip(value.keys, value.values, strict=True)
                arguments += [Argument(object_key(key), item, span) for key, item in items]
                continue
            mapping = self.value(value)
            mapping = mapping if isinstance(mapping, NotKnown) else self.changes.current(mapping)
            if isinstance(mapping, dict):
                arguments += [Argument(key, KnownNode(item), span) for key, item in object_items(mapping)]
            else:
                sure = isinstance(mapping, NotKnown) and isinstance(mapping.holds, UnsureValue)
                unread = mapping if sure else NotKnown("spread arguments", span[0])
                arguments.append(Argument(None, unread, span))
        return arguments

    def make(self, call: ToolCall) -> RawRef:
        """Record a tool's call and give the reference to its result.

        Raises:
            LimitError: it is one call too many.
        """
        name, arguments, spans = self.known_as(call.name), [], []
        self.inside += 1
        position = 0
        given = call.arguments
        if self.mappings and len(given) == 1 and isinstance(given[0].node, ObjectNode):
            given = [Argument(key, item, given[0].span) for key, item in object_items(given[0].node.fields)]
        for name_key, node, span in given:
            key = str(position) if name_key is None else name_key
            position += name_key is None
            if name_key is None and isinstance(node, ast.NamedExpr):
                self.fail(f"found ':=' in an argument of {call.name!r}, expected '='", span[0])
            value = self.value(node)
            if not isinstance(value, NotKnown) and self.changes.any:
                value = self.changes.current(value)
            if isinstance(value, NotKnown):
                if not (self.control or self.repeating):
                    self.fail(
                        f"the argument {key!r} of {call.name!r} cannot be computed: {value.reason}",
                        span[0] if value.at is None else value.at,
                    )
                else:
                    message = f"{key!r} of {call.name!r} is computed by the program: {value.reason}"
                    self.notes.append(Diagnostic("value.computed", message, "warning", None, key, span))
                value = self.text[span[0] : span[1]]
            arguments.append((key, value))
            spans.append(span)
        self.inside -= 1
        if len(self.calls) >= self.most:
            raise too_many_calls_error(self.limits, self.text)
        own_name = result_name(len(self.calls))
        for code, message, span in self.control[-1:] or [ending[1:] for ending in self.endings[-1:]]:
            if not any(note.span == span and note.code == code for note in self.notes):
                self.notes.append(Diagnostic(code, message, "warning", len(self.calls), span=span))
        self.calls.append(
            RawCall(name, tuple(arguments), binds=((own_name, ()),), span=call.span, spans=tuple(spans))
        )
        return RawRef(own_name)

    def run(self, call: ToolCall) -> VariableValue | None:
        """Follow a function of the program's own; None where it is none, or none that is followed."""
        return None

    def own_call(self, call: ToolCall) -> Value | NotKnown:
        """Follow a call of the program's own function, or pass over one of a library."""
        root, dot, _ = call.name.partition(".")
        self.is_program = self.is_program or call.name in DISPLAY_FUNCTIONS  # no tool is shown, but a value
        if dot and call.named and self.is_self(root):
            message = f"a call on {root!r} was not read: {shorten(call.name, 60)}"
            self.notes.append(Diagnostic("code.function", message, "warning", span=call.span))
        inside, self.inside = self.inside, 0
        returned = self.run(call)
        self.inside, holds = inside, UNKNOWN
        if returned is None:
            values = [(key, self.hold(node)) for key, node, _ in call.arguments]
            positional = [value for key, value in values if key is None]
            holds = self.pass_over(call, positional, {key: value for key, value in values if key is not None})
        if returned is None or isinstance(returned, Unknown):
            return NotKnown(f"the program computes {call.name!r}", call.span[0], holds)
        return returned

    def pass_over(
        self, call: ToolCall, positional: list[VariableValue], named: Mapping[str, VariableValue]
    ) -> Unknown:
        """What a call gives that is not followed; it is refused where it may be a tool's, or make one."""
        name, start = call.name, call.span[0]
        root, dot, suffix = name.partition(".")
        last = suffix.rpartition(".")[2] or root
        if name in DISPLAY_FUNCTIONS or self.is_self(root):
            return UNKNOWN
        if last in HIGHER_ORDER_FUNCTIONS and (not dot or root in self.defined or root in self.held):
            for value in (*positional, *named.values()):
                if isinstance(value, UnassignedName) and value.text.split(".")[0] not in BUILTINS:
                    self.drop(f"{name!r} calls {value.text!r}", start, surely=True)
        if not MUTATING_FUNCTIONS.isdisjoint((name, last)) and positional and root not in self.own:
            self.changes.change(positional[0], f"{name!r} changes it", start)
        if name in self.defined or root in self.defined:
            return Unknown((*positional, *named.values()))
        stored = self.held.get(root)
        if isinstance(stored, ImportedName):
            return IMPORTED_OBJECT
        if not dot:
            if root in self.own and stored is not OWN_FUNCTION:
                self.drop(f"{root!r} is called, which the program assigned", start, surely=bool(named))
            return OpaqueObject(positional) if name in PASS_THROUGH_FUNCTIONS else UNKNOWN
        is_simple = (
            isinstance(stored, (list, dict)) and last == suffix and not (self.control or self.ways.open)
        )
        if is_simple and self.changes.follow(stored, last, positional, named):
            return UNKNOWN
        base = self.changes.inside(stored, tuple(suffix.split(".")[:-1]))
        self.touch(base, last, tuple(named), name, start)
        return UNKNOWN if last == "copy" else Unknown((base,))

    def touch(
        self, base: VariableValue, method: str, argument_names: Iterable[str], source: str, offset: int
    ) -> None:
        """Look at a call of a method on what is held: it changes it, only looks at it, or may be a tool's."""
        if method in MUTATING_METHODS:
            self.changes.change(base, f"{shorten(source, 60)!r} changes it", offset)
        is_of_data = method in _KEYWORD_METHODS or (
            (method in DATA_METHODS or method in MUTATING_METHODS)
            and METHOD_OPTIONS.issuperset(argument_names)
        )
        types = object_types([base])
        objects = types & {ImportedName} if is_of_data else types
        if objects:
            reason = f"{shorten(source, 60)!r} is called on a value, and may be a tool"
            self.drop(reason, offset, surely=objects != {RawRef})


_READERS: dict[type, Callable[[Machine, Any], Value | NotKnown]] = {
    **dict.fromkeys((ast.Call, CallNode), Machine.call),
    **dict.fromkeys((ast.List, ast.Tuple), Machine.items),
    ast.Dict: Machine.fields,
    ObjectNode: lambda machine, node: machine.all(map_object_values(node.fields, machine.value)),
    NotKnown: lambda machine, node: node,
    ast.Await: lambda machine, node: machine.value(node.value),
    **dict.fromkeys((ast.Name, ast.Attribute, ast.Subscript), Machine.way),
    **dict.fromkeys((ast.JoinedStr, ast.BinOp, ast.UnaryOp), Machine.operation),
    ast.NamedExpr: Machine.assigned,
}
