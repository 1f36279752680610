"""Programs read statically: what variables hold, which calls are of tools, which call feeds which.

Python's and JavaScript's readers turn text into the few nodes below; this module follows them
statement by statement and gives raw calls. Nothing is compiled or run. A variable that holds a literal
is replaced by it, a name that nothing defines is a text, an expression on the program's own
variables cannot be known and is an error where a tool's argument needs it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span, too_many_calls_error
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.plan.model import (
    Diagnostic,
    Path,
    RawCall,
    RawComputed,
    RawPlan,
    RawRef,
    RawTemplate,
    Value,
    map_leaves,
)
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DATA_METHODS,
    DISPLAY_FUNCTIONS,
    HIGHER_ORDER_FUNCTIONS,
    METHOD_OPTIONS,
    MUTATING_FUNCTIONS,
    MUTATING_METHODS,
    OWN_FUNCTION,
    PASS_THROUGH_FUNCTIONS,
    SELF_NAMES,
    UNKNOWN,
    BranchLog,
    Changes,
    DerivedValue,
    ImportedName,
    OpaqueObject,
    UnassignedName,
    Unknown,
    UnknownValueError,
    UnsureValue,
    VariableValue,
)


@dataclass(slots=True)
class CallNode:
    """A call as written; a None key is a positional argument. `done` is what it gave: it is made once."""

    name: str
    arguments: list[tuple[str | None, Any, Span]]
    span: Span
    quoted: bool = False
    done: Any = None


def _is_named_print(node: CallNode) -> bool:
    """Whether a call of ``print`` is a tool's: all that it is given has names, none of them Python's."""
    names = {name for name, _, _ in node.arguments}
    return node.name == "print" and bool(names) and names.isdisjoint((None, "sep", "end", "file", "flush"))


@dataclass(slots=True)
class NameNode:
    """A variable, or a way into one: `x`, `x.city`, `x["city"][0]`."""

    name: str
    path: Path
    text: str
    span: Span


@dataclass(slots=True)
class FieldNode:
    """A way into the result of a call that has no name: `f(a=1)["city"]`."""

    base: CallNode
    path: Path


@dataclass(slots=True)
class DataNode:
    """A list or an object of nothing but data."""

    value: Any


@dataclass(slots=True)
class TextNode:
    """Text around values: an f-string, a template string, strings joined by '+'."""

    parts: list[Any]
    text: str
    span: Span


@dataclass(slots=True)
class OtherNode:
    """An expression that is not followed; `inside` holds the nodes in it.

    `pure` says that it holds literals only: it is an expression whose source text is known. `at` is the
    place that a message points to. `method` is the method that it calls on the first node inside, with
    arguments of the names `given`.
    """

    reason: str
    text: str
    span: Span
    at: int
    inside: list[Any] = field(default_factory=list)
    pure: bool = False
    method: str = ""
    given: tuple[str, ...] = ()


_SCALARS = frozenset({str, int, float, bool, type(None)})
_EMPTY_NAME = UnassignedName("")
"""What a variable holds that is none."""
_ALL_DATA_METHODS = DATA_METHODS | MUTATING_METHODS
_KEYWORD_METHODS = frozenset({"format", "update", "setdefault", "dict", "text", "json"})
"""Methods of data that take arguments of any name."""
MAX_VALUES = 1_000_000
"""Values that variables may put into arguments, all together: a list of a list can double at each line."""


class NamedArgument(NamedTuple):
    """An argument: its name, the node of its value, and where it stands."""

    key: str
    value: Any
    span: Span


class Machine:
    """The state of following one program.

    Args:
        text: The program, for messages.
        defined: Names that are no tools: functions and libraries that the text before defines.
        mappings: One positional mapping is the named arguments (JavaScript).
        limits: Bounds on calls, which hold while they are made.
        taken: How many calls were read before, which count too.
        before: What the variables of the text before hold; this program's own come before them.
    """

    def __init__(
        self,
        text: str,
        defined: Iterable[str] = (),
        *,
        mappings: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        calls_before: int = 0,
        before: Mapping[str, Value | Unknown] | None = None,
    ) -> None:
        self.text = text
        self.limits = limits
        self.most = limits.calls - calls_before
        self.defined = set(defined)
        self.mappings = mappings
        self.own: dict[str, Value | Unknown] = {}
        self.held: MutableMapping[str, Value | Unknown] = self.own
        if before:  # a copy of it for each piece of a text would take quadratic time
            self.held = ChainMap(self.own, before)  # type: ignore[arg-type]
        self.ways = BranchLog()
        self.changes = Changes(self.held, self.ways, text)
        self.calls: list[RawCall] = []
        self.notes: list[Diagnostic] = []
        self.control: list[tuple[str, str, Span]] = []
        self.error: ParseError | None = None
        self.dropped: ParseError | None = None
        self.surely = False
        self.is_program = bool(before)
        self.spent = 0
        self.inside = 0
        self.quiet = False
        self.bare: set[str] = set()
        self.also: set[str] = set()
        self.run: Callable[[CallNode], Value | Unknown | None] = _follow_nothing

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
        self.changes.settle(self.own)
        return self.own

    # ------------------------------------------------------------ statements
    def assign(
        self, targets: Sequence[str], value: Any, *, unpack: bool = False, keys: Sequence[str | int] = ()
    ) -> None:
        """`targets = value`; with `unpack` each target takes an output, named by `keys` or counted."""
        self.is_program = True
        stored = self.hold(value)
        if not unpack:
            for name in targets:
                self.bind(name, stored)
            return
        if self.changes.any and isinstance(stored, (list, dict)):
            stored = self.now(stored)
        steps = keys or range(len(targets))
        for step, name in zip(steps, targets, strict=True):
            self.bind(name, _follow_step(stored, step))
        if isinstance(stored, RawRef) and self.calls and stored.name == _result_name(len(self.calls) - 1):
            self.calls[-1] = replace(self.calls[-1], returns=tuple(targets))

    def bind(self, name: str, value: VariableValue) -> None:
        """Give a variable what it holds from here on."""
        self.ways.put(self.held, name, value)

    def hold(self, value: Any) -> VariableValue:
        """What a variable holds that is given a value; a name that nothing assigns may be a tool's."""
        if type(value) is NameNode and value.name not in self.defined:
            stored = self.held.get(value.name)
            if value.name not in self.held or (type(stored) is UnassignedName and not value.path):
                return stored or UnassignedName(value.text)
        return self.loose(value)

    def now(self, value: VariableValue) -> VariableValue:
        """What is held, as the changes leave it."""
        try:
            return value if isinstance(value, Unknown) else self.changes.current(value, self.spend)
        except UnknownValueError as error:
            return error.holds

    def spend(self, count: int) -> None:
        """Count values that variables put into arguments.

        Raises:
            LimitError: there are too many.
        """
        self.spent += count
        if self.spent > MAX_VALUES:
            raise LimitError("the program's values grow too large", text=self.text)

    def statement(self, value: Any) -> None:
        """An expression on its own: calls, or a list of them."""
        if isinstance(value, (list, tuple)):
            for item in value:
                self.statement(item)
        elif isinstance(value, OtherNode):
            sure = any(has_keyword_arguments(item) for item in value.inside)
            if sure or self.is_program:  # else it may be prose
                before = len(self.calls)
                self.loose(value)
                if sure or (len(self.calls) > before and not value.method):
                    self.fail(f"{value.reason} between calls", value.at)
        else:
            self.loose(value)

    def fail(self, reason: str, offset: int) -> None:
        """Remember the first thing that cannot be read."""
        if self.error is None:
            self.error = ParseError(reason, text=self.text, offset=offset)

    def loose(self, value: Any) -> Value | Unknown:
        """A value where nothing depends on it yet; calls inside are recorded, the rest may be unknown."""
        try:
            return self.value(value)
        except UnknownValueError as error:
            values = [self.loose(node) for node in _inner_nodes(value)]
            if type(value) is OtherNode and value.method:
                self.touch(values[0], value.method, value.given, value.text, value.at)
            return DerivedValue(values) if values and error.holds is UNKNOWN else error.holds

    # ------------------------------------------------------------ values
    def value(self, node: Any) -> Value:  # noqa: PLR0911 - one branch a kind of node
        """The value of a node, with references where it depends on calls.

        Raises:
            CannotKnow: it is an expression on the program's own variables.
        """
        kind = type(node)
        if kind in _SCALARS:
            return node
        if kind is CallNode:
            return self.call(node)
        if kind is NameNode:
            return self.name(node)
        if kind is list:
            return [self.value(item) for item in node]
        if kind is dict:
            return {key: self.value(item) for key, item in node.items()}
        if kind is DataNode:
            return node.value
        if kind is FieldNode:
            base = self.call(node.base)
            if not isinstance(base, RawRef):
                raise UnknownValueError(f"the program computes {node.base.name!r}", node.base.span[0])
            return _follow_path(base, node.path)
        if kind is TextNode:
            return self.template(node)
        if kind is OtherNode:
            if node.pure and not any(self.knows(item) for item in node.inside):
                return RawComputed(node.text)
            raise UnknownValueError(
                node.reason, node.at, OWN_FUNCTION if node.reason == "a lambda" else UNKNOWN
            )
        return node

    def knows(self, node: Any) -> bool:
        """Whether a node depends on a variable of the program or on a call."""
        if isinstance(node, NameNode):
            return node.name in self.held or node.name in self.defined
        if isinstance(node, (CallNode, FieldNode)):
            return True
        return any(self.knows(item) for item in _inner_nodes(node))

    def name(self, node: NameNode) -> Value:
        """A variable's value, or the name as a text where nothing defines it."""
        if node.name in self.held:
            stored = self.held[node.name]
            if isinstance(stored, UnassignedName):
                self.tell_bare(stored.text, node.span)
                return stored.text + node.text[len(node.name) :]
            if node.path and not isinstance(stored, Unknown):
                stored = self.changes.inside(stored, node.path)
            if isinstance(stored, Unknown):
                if isinstance(stored, UnsureValue):
                    raise self.changes.cannot_know(stored)
                how = "imported" if isinstance(stored, ImportedName) else "computed"
                raise UnknownValueError(f"{node.text!r} is {how} by the program", node.span[0], stored)
            if isinstance(stored, (list, dict)):
                self.spent += _count_values(stored, MAX_VALUES - self.spent)
                if self.spent > MAX_VALUES:
                    raise LimitError(
                        "the program's values grow too large", text=self.text, offset=node.span[0]
                    )
            return stored
        if node.name in self.defined:
            raise UnknownValueError(f"{node.text!r} is defined by the program", node.span[0], OWN_FUNCTION)
        self.tell_bare(node.text, node.span)
        return node.text

    def tell_bare(self, text: str, span: Span) -> None:
        """Say of a name in a tool's argument that nothing assigns it."""
        if self.inside and not self.quiet and text not in self.bare:
            self.bare.add(text)
            message = f"the name {shorten(text, 60)!r} is not defined; it is read as text"
            severity = "warning" if self.is_program else "info"
            self.notes.append(Diagnostic("value.name", message, severity, None, None, span))

    def part(self, node: Any) -> Value:
        """A value in a text; of a name there that nothing assigns the text is said to be computed."""
        quiet, self.quiet = self.quiet, True
        try:
            item = self.value(node)
        finally:
            self.quiet = quiet
        if isinstance(item, RawRef) and self.changes.any:
            self.changes.refuse(item)
        return item

    def template(self, node: TextNode) -> Value:
        """Text around references; a text again where nothing in it depends on a call."""
        pieces: list[Any] = []
        is_exact = True
        for node_part in node.parts:
            item = self.part(node_part)
            if isinstance(item, RawComputed) or (
                isinstance(node_part, NameNode)
                and isinstance(self.held.get(node_part.name, _EMPTY_NAME), UnassignedName)
            ):
                is_exact = False  # its source stands where its value should
            if isinstance(item, RawTemplate):
                pieces += item.parts
            elif isinstance(item, RawComputed):
                pieces.append(item.text)
            elif isinstance(item, (str, RawRef)):
                pieces.append(item)
            else:
                raise UnknownValueError("a value is made into text by the program", node.span[0])
        merged: list[Any] = []
        for item in pieces:
            if item == "":
                continue
            if isinstance(item, str) and merged and isinstance(merged[-1], str):
                merged[-1] += item
            else:
                merged.append(item)
        if all(isinstance(item, str) for item in merged):
            return "".join(merged) if is_exact else RawComputed(node.text)
        if not is_exact:
            message = f"the program computes a part of {node.text[:60]}; its text is used"
            self.notes.append(Diagnostic("value.computed", message, "warning", None, None, node.span))
        return RawTemplate(tuple(merged))

    # ------------------------------------------------------------ calls
    def is_tool(self, node: CallNode) -> bool:
        """Whether a call is of a tool: not of the program's own functions, variables and libraries."""
        root = node.name.split(".", 1)[0]
        if type(self.held.get(root)) is ImportedName:  # but classes of modules that are no tools
            return not node.name.rsplit(".", 1)[-1][:1].isupper()
        if node.name in self.defined or root in self.defined or root in SELF_NAMES:
            return False
        if root in (self.own if root == node.name else self.held):  # a tool may be called as a line before
            return False  # named its result
        if node.name not in BUILTINS:
            return True
        named = any(key is not None for key, _, _ in node.arguments)
        if named or not (self.is_program or self.inside):
            self.also.add(node.name)  # a list of calls that calls it so has a tool of that name
        return named or (node.name in self.also and not self.is_program)

    def call(self, node: CallNode) -> Value:
        """What a call gives; it is made once, however often its value is asked for.

        Raises:
            CannotKnow: it is no tool's call, so its value cannot be known.
            LimitError: it is one call too many.
        """
        if node.done is None:
            root, dot, suffix = node.name.partition(".")
            stored = self.held.get(root)
            if type(stored) is UnassignedName:  # a tool under another name
                node.name = f"{stored.text}{dot}{suffix}"
            try:
                node.done = (self.make(node),)
            except UnknownValueError as error:
                node.done = error
        if isinstance(node.done, UnknownValueError):
            raise UnknownValueError(node.done.reason, node.done.at, node.done.holds)
        return node.done[0]

    def make(self, node: CallNode) -> Value:
        """Record a tool's call and give the reference to its result.

        Raises:
            CannotKnow: it is no tool's call, so its value cannot be known.
            LimitError: it is one call too many.
        """
        if (node.name in DISPLAY_FUNCTIONS and not _is_named_print(node)) or not self.is_tool(node):
            return self.own_call(node)
        name = self.known_as(node.name)
        if node.quoted:
            self.fail(f"found the tool's name {node.name!r} in quotes", node.span[0])
        arguments, spans = [], []
        self.inside += 1
        for key, value, span in self.named(node):
            try:
                content = self.value(value)
                if self.changes.any:
                    content = self.changes.current(content, self.spend)
            except UnknownValueError as error:
                content = self.text[span[0] : span[1]]
                for inner in _inner_nodes(value):
                    self.loose(inner)
                if not self.control:
                    self.fail(
                        f"the argument {key!r} of {node.name!r} cannot be computed: {error.reason}",
                        span[0] if error.at is None else error.at,
                    )
                else:
                    message = f"{key!r} of {node.name!r} is computed by the program: {error.reason}"
                    self.notes.append(Diagnostic("value.computed", message, "warning", None, key, span))
            arguments.append((key, content))
            spans.append(span)
        self.inside -= 1
        if len(self.calls) >= self.most:
            raise too_many_calls_error(self.limits, self.text)
        result_name = _result_name(len(self.calls))
        for code, message, span in self.control[-1:]:
            if not any(note.span == span and note.code == code for note in self.notes):
                self.notes.append(Diagnostic(code, message, "warning", len(self.calls), None, span))
        self.calls.append(
            RawCall(name, tuple(arguments), binds=((result_name, ()),), span=node.span, spans=tuple(spans))
        )
        return RawRef(result_name)

    def own_call(self, node: CallNode) -> Value:
        """Follow a call of the program's own function, or pass over one of a library, and give its value.

        Raises:
            CannotKnow: its value cannot be known.
        """
        inside, self.inside = self.inside, 0
        returned = self.run(node)
        self.inside = inside
        if returned is None:
            positional = [self.hold(value) for key, value, _ in node.arguments if key is None]
            named = {key: self.hold(value) for key, value, _ in node.arguments if key is not None}
            holds = self.pass_over(node, positional, named)
            raise UnknownValueError(f"the program computes {node.name!r}", node.span[0], holds)
        if not isinstance(returned, Unknown):
            return returned
        raise UnknownValueError(f"the program computes {node.name!r}", node.span[0])

    def pass_over(
        self, node: CallNode, positional: list[VariableValue], named: Mapping[str, VariableValue]
    ) -> Unknown:
        """What a call gives that is not followed; it is refused where it may be a tool's, or make one."""
        root, dot, suffix = node.name.partition(".")
        last = suffix.rpartition(".")[2] or root
        if node.name in DISPLAY_FUNCTIONS or root in SELF_NAMES:
            return UNKNOWN
        if last in HIGHER_ORDER_FUNCTIONS and (not dot or root in self.defined or root in self.held):
            for value in (*positional, *named.values()):
                if type(value) is UnassignedName and value.text.split(".")[0] not in BUILTINS:
                    self.drop(f"{node.name!r} calls {value.text!r}", node.span[0], surely=True)
        if (
            (node.name in MUTATING_FUNCTIONS or last in MUTATING_FUNCTIONS)
            and positional
            and root not in self.own
        ):
            self.changes.change(positional[0], f"{node.name!r} changes it", node.span[0], self.spend)
        if node.name in self.defined or root in self.defined:
            return DerivedValue((*positional, *named.values()))
        stored = self.held.get(root)
        if type(stored) is ImportedName:
            return OpaqueObject()
        if not dot:
            if root in self.own and stored is not OWN_FUNCTION:
                self.drop(f"{root!r} is called, which the program assigned", node.span[0], surely=bool(named))
            return DerivedValue(positional) if node.name in PASS_THROUGH_FUNCTIONS else UNKNOWN
        simple = isinstance(stored, (list, dict)) and last == suffix and not self.control
        if simple and self.changes.follow(stored, last, positional, named):
            return UNKNOWN
        base = self.changes.inside(stored, tuple(suffix.split(".")[:-1]))
        self.touch(base, last, tuple(named), node.name, node.span[0])
        return UNKNOWN if last == "copy" else DerivedValue((base,))

    def touch(
        self, base: VariableValue, method: str, argument_names: Iterable[str], source: str, offset: int
    ) -> None:
        """Look at a call of a method on what is held: it changes it, only looks at it, or may be a tool's."""
        of: VariableValue = base
        while isinstance(of, OpaqueObject) and of.of is not None:
            of = of.of
        if method in MUTATING_METHODS:
            self.changes.change(base, f"{shorten(source, 60)!r} changes it", offset, self.spend)
        if isinstance(of, RawRef):
            data = method in _KEYWORD_METHODS or (
                method in _ALL_DATA_METHODS and all(key in METHOD_OPTIONS for key in argument_names)
            )
        else:
            data = not isinstance(of, OpaqueObject)
        if not data:
            reason = f"{shorten(source, 60)!r} is called on a value, and may be a tool"
            self.drop(reason, offset, surely=isinstance(of, OpaqueObject))

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

    def known_as(self, name: str) -> str:
        """A tool's name where it was imported under another."""
        root, dot, suffix = name.partition(".")
        stored = self.held.get(root)
        return f"{stored.name}{dot}{suffix}" if isinstance(stored, ImportedName) else name

    def named(self, node: CallNode) -> list[NamedArgument]:
        """The arguments with names: positional ones are counted from "0"."""
        if self.mappings and len(node.arguments) == 1 and isinstance(node.arguments[0][1], dict):
            span = node.arguments[0][2]
            return [NamedArgument(key, value, span) for key, value in node.arguments[0][1].items()]
        arguments = []
        position = 0
        for key, value, span in node.arguments:
            arguments.append(NamedArgument(str(position) if key is None else key, value, span))
            position += key is None
        return arguments


class PieceVariables(NamedTuple):
    """What the variables of a piece of a text hold after it, for the pieces that follow.

    Args:
        piece: The piece's number, of which no other piece of the text has the same.
        held: Variable → value; a reference is to a call of the piece by :func:`_result_name`, or of one
            before.
    """

    piece: int
    held: Mapping[str, Value | Unknown]

    def shared(self) -> dict[str, Value | Unknown]:
        """The same as later pieces see it: calls of the piece under names that no other piece's calls have.

        >>> PieceVariables(3, {"x": RawRef("@0", ("city",))}).shared()
        {'x': RawRef(name='0@3', path=('city',))}
        """

        def leaf(item: Value) -> Value:
            if isinstance(item, RawRef) and item.name[:1] == "@":
                return RawRef(f"{item.name[1:]}@{self.piece}", item.path)
            return item

        renamed: dict[int, Value] = {}

        def shared(value: Value) -> Value:
            if not isinstance(value, (list, dict)):
                return map_leaves(leaf, value)
            if id(value) not in renamed:  # what holds no such call stays the same, as its aliases are
                copied = map_leaves(leaf, value)
                renamed[id(value)] = value if copied == value else copied
            return renamed[id(value)]

        return {
            f"{name[1 : name.index(' ')]}@{self.piece}{name[name.index(' ') :]}"
            if name[:1] == "@" and " " in name
            else name: value if isinstance(value, Unknown) else shared(value)
            for name, value in self.held.items()
        }


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
        return RawRef(_result_name(index), item.path)

    linked = [
        replace(call, arguments=tuple([(key, map_leaves(leaf, item)) for key, item in call.arguments]))
        for call in calls
    ]
    for index in named:  # a call that a program only repeats may be of a notation that gives it no name
        if index < len(linked) and all(name != _result_name(index) for name, _ in linked[index].binds):
            linked[index] = replace(linked[index], binds=(*linked[index].binds, (_result_name(index), ())))
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


def _count_values(value: Any, most: int) -> int:
    """How many values a value holds at any depth; counting stops when there are more than `most`."""
    count = 0
    waiting = [value]
    while waiting and count <= most:
        item = waiting.pop()
        count += 1
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return count


def _follow_nothing(node: CallNode) -> None:
    """No function of the program's own is known."""


def _result_name(position: int) -> str:
    return f"@{position}"


def shift_names(calls: tuple[RawCall, ...], by: int) -> tuple[RawCall, ...]:
    """The calls with their made-up result names counted on from `by`."""

    def leaf(item: Value) -> Value:
        if isinstance(item, RawRef) and item.name[:1] == "@":
            return RawRef(_result_name(int(item.name[1:]) + by), item.path)
        return item

    return tuple(
        replace(
            call,
            arguments=tuple((key, map_leaves(leaf, item)) for key, item in call.arguments),
            binds=tuple(
                (_result_name(int(name[1:]) + by) if name[:1] == "@" else name, path)
                for name, path in call.binds
            ),
        )
        for call in calls
    )


def _follow_step(value: Value | Unknown, step: str | int) -> Value | Unknown:
    if isinstance(value, RawRef):
        return RawRef(value.name, (*value.path, step))
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return UNKNOWN


def _follow_path(value: Value, path: Path) -> Value:
    return RawRef(value.name, value.path + path) if path and isinstance(value, RawRef) else value


def _inner_nodes(node: Any) -> list[Any]:
    """The nodes directly inside a node that may hold calls."""
    if isinstance(node, list):
        return node
    if isinstance(node, dict):
        return list(node.values())
    if isinstance(node, OtherNode):
        return node.inside
    if isinstance(node, TextNode):
        return node.parts
    return []


def has_keyword_arguments(node: Any) -> bool:
    """Whether a call with named arguments stands in a node: then it is surely of a tool."""
    if isinstance(node, CallNode):
        return any(key is not None for key, _, _ in node.arguments)
    if isinstance(node, FieldNode):
        return has_keyword_arguments(node.base)
    return any(has_keyword_arguments(item) for item in _inner_nodes(node))
