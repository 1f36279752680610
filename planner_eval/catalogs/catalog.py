"""Tool catalogs: what may be called, with which arguments, and what comes back.

A :class:`Catalog` is read with :func:`read_catalog` (a file) or :func:`as_catalog` (data in memory)
of :mod:`planner_eval.catalogs.formats`, and used by :func:`planner_eval.catalogs.check.check_plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.plan.model import WHOLE_RESULT_NAMES, Path, Value

if TYPE_CHECKING:
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator


KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
"""The kinds of JSON Schema."""


@dataclass(frozen=True)
class RecursiveType:
    """A type inside itself: what a ``$ref`` leads back to, read when it is needed.

    Args:
        reference: The ``$ref``.
        root: The document in which it stands.
        read: Reads it.
    """

    reference: str
    root: Mapping[str, Any] = field(hash=False)
    read: Callable[[str, Mapping[str, Any]], Type] = field(repr=False, compare=False)

    @cached_property
    def type(self) -> Type:
        """The type that it leads back to; what comes again is below its top."""
        return self.read(self.reference, self.root)


@fast_frozen
class Type:
    """What values are allowed: the part of JSON Schema that tool catalogs use.

    Args:
        kinds: Allowed kinds of :data:`KINDS`; () allows anything.
        enum: The allowed values, when they are listed.
        format: ``"date"`` (yyyy-mm-dd), ``"time"`` (hh:mm) or ``"date-time"`` for strings; others are
            kept and not checked.
        minimum: Smallest number allowed; `exclusive` says whether it is itself excluded.
        maximum: Largest number allowed.
        exclusive: Whether minimum and maximum are themselves excluded.
        length: Smallest and largest number of characters of a string, None where there is no limit.
        size: Smallest and largest number of items of an array.
        items: The type of an array's items.
        first: The types of its first items, where they have their own.
        fields: The fields of an object.
        open: Whether an object may have fields that are not listed.
        any_of: Alternatives, one of which must hold as well.
        others: The type of fields that are not listed, where they may be; None for any.
        again: What stands here instead, where a type comes again inside itself.
    """

    kinds: tuple[str, ...] = ()
    enum: tuple[Value, ...] | None = None
    format: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive: tuple[bool, bool] = (False, False)
    length: tuple[int | None, int | None] = (None, None)
    size: tuple[int | None, int | None] = (None, None)
    items: Type | None = None
    fields: tuple[Parameter, ...] = ()
    open: bool = True
    any_of: tuple[Type, ...] = ()
    others: Type | None = None
    again: RecursiveType | None = None
    first: tuple[Type, ...] = ()

    @property
    def unfolded(self) -> Type:
        """The type itself, also where it comes again."""
        return self if self.again is None else self.again.type

    def __str__(self) -> str:
        if self.again is not None:
            return " or ".join(self.again.type.kinds) or "anything"
        if self.any_of:
            return " or ".join(dict.fromkeys(str(t) for t in self.any_of))
        if self.enum is not None:
            if not self.enum:
                return "no value (the list of allowed values is empty)"
            return "one of " + ", ".join(repr(value) for value in self.enum)
        if self.kinds == ("array",) and self.first:
            return f"array of ({', '.join(map(str, self.first))})"
        kind = self.kinds[0] if len(self.kinds) == 1 else ""
        inner = {"array": self.items, "object": None if self.fields else self.others}.get(kind)
        if inner is not None and inner != ANY:
            return f"{kind} of {inner}"
        return self.format or " or ".join(self.kinds) or "anything"

    def _ends_before(self, position: int) -> bool:
        """Whether no array of this type has an item at a position."""
        most = self.size[1]
        return self.kinds == ("array",) and most is not None and not -most <= position < most

    def item(self, position: int) -> Type:
        """The type of an array's item at a position."""
        return self.first[position] if 0 <= position < len(self.first) else self.items or ANY

    def at(self, path: Path) -> Type | None:
        """The type of the part at `path`; None when there can be no such part.

        A notation may write a position as text: ``$var_1.0.id$`` is the first item's id.

        >>> Type(("object",), fields=(Parameter("id", Type(("integer",))),), open=False).at(("id",)).kinds
        ('integer',)
        """
        if not path:
            return self
        if self.again is not None:
            return self.again.type.at(path)
        if self.any_of:
            types = tuple(
                subtype for alternative in self.any_of if (subtype := alternative.at(path)) is not None
            )
            return (types[0] if len(types) == 1 else Type(any_of=types)) if types else None
        step, remaining = path[0], path[1:]
        if not self.kinds:
            return ANY
        is_index = type(step) is int or ("array" in self.kinds and str(step).lstrip("-").isdecimal())
        if ("array" if is_index else "object") not in self.kinds:
            return None
        if is_index:
            return None if self._ends_before(int(step)) else self.item(int(step)).at(remaining)
        for member in self.fields:
            if member.name == step:
                return member.type.at(remaining)
        return (self.others or ANY).at(remaining) if self.open else None


@fast_frozen
class Parameter:
    """One argument that a tool takes, or one field of an object.

    Args:
        name: The argument's name.
        type: What it may hold.
        required: Whether a call must give it.
        description: What it means, for people.
        default: What the tool takes where it is left out, if ``has_default``.
    """

    name: str
    type: Type = field(default_factory=Type)
    required: bool = True
    description: str = ""
    default: Value = None
    has_default: bool = False


ANY = Type()


@fast_frozen
class Tool:
    """One tool of a catalog.

    Args:
        name: The name that plans call.
        app: The app that offers it, where tools belong to apps.
        description: What it does, for people.
        parameters: The arguments it takes.
        open: Whether it takes arguments that are not listed.
        returns: The type of its result; :data:`ANY` when the catalog does not say.
        action: Whether it changes something (True), only looks (False), or is not said to (None).
        schema: The JSON Schema of the parameters that the tool was read from; side data, written
            back as it is when a catalog is converted.
        returns_schema: The same for the result.
        others: The type of arguments that are not listed, where it takes them; None for any.
        written: The name that the source has for it where that could not hold its own; calls may use it too.
        judge: What holds arguments against the schema, where that says more than the parameters' types.
    """

    name: str
    app: str | None = None
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    open: bool = False
    returns: Type = ANY
    action: bool | None = None
    schema: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    returns_schema: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    others: Type | None = None
    written: str | None = field(default=None, compare=False, repr=False)
    judge: ArgumentsValidator | None = field(default=None, compare=False, repr=False)

    @property
    def arguments(self) -> Type:
        """The type of all arguments of a call together: an object."""
        return Type(("object",), fields=self.parameters, open=self.open, others=self.others)

    @property
    def only_output(self) -> str | None:
        """The name of the tool's one output, "" for one without a name; None for several, or none known.

        >>> Tool("sum", returns=Type(("number",))).only_output, Tool("log").only_output
        ('', None)
        """
        if self.returns.fields:
            return self.returns.fields[0].name if len(self.returns.fields) == 1 else None
        return "" if self.returns.kinds and "object" not in self.returns.kinds else None

    @property
    def returned(self) -> str:
        """What it returns, for people: its outputs' names, else the type; "" where that is not said."""
        outputs = ", ".join(f.name for f in self.returns.fields)
        if not outputs and self.returns.kinds == ("object",):
            return "" if self.returns.open else "nothing"
        return outputs or ("" if self.returns == ANY else str(self.returns))

    def output(self, path: Path) -> Type | None:
        """The type of what a reference's path means; None when there can be no such output.

        The one output of a tool is also called by the names of :data:`WHOLE_RESULT`.

        >>> Tool("sum", returns=Type(("number",))).output(("result",)).kinds
        ('number',)
        """
        only = self.only_output
        if only is not None and path and path[0] in WHOLE_RESULT_NAMES:
            return self.returns.at((only, *path[1:]) if only else path[1:])
        return self.returns.at(path)

    @property
    def full_name(self) -> str:
        """The app and the name, or the name alone: ``"Hotels.search"``."""
        return f"{self.app}.{self.name}" if self.app else self.name

    def signature(self) -> str:
        """The tool in one line, for people.

        >>> number = Type(("number",))
        >>> Tool("add", parameters=(Parameter("a", number), Parameter("b", required=False))).signature()
        'add(a: number, b?)'
        """
        arguments = []
        for parameter in self.parameters:
            mark = "" if parameter.required else "?"
            kind = "" if parameter.type == ANY else f": {parameter.type}"
            arguments.append(
                f"{parameter.name}{mark}{kind}"
                + (f" = {parameter.default!r}" if parameter.has_default else "")
            )
        if self.open:
            arguments.append("…")
        return f"{self.full_name}({', '.join(arguments)})" + (f" -> {self.returned}" if self.returned else "")


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools that plans may call, and the conventions of the plans written for them.

    Args:
        tools: The tools in the order of their source; a name that occurs twice is overloaded.
        name: What the catalog is called in messages.
        text_values: Whether every literal is written as text, so that ``"4"`` is an integer.
        holes: Literals that stand for a value still unknown: no check applies to them.
        reports_all: Whether every result reaches the user, so that a result which no call uses is
            only worth a remark.

    >>> import planner_eval as pe
    >>> catalog = pe.read_catalog([{"name": "search", "parameters": {"properties": {"city": {}}}}])
    >>> len(catalog), [tool.name for tool in catalog.find("search")]
    (1, ['search'])
    """

    tools: tuple[Tool, ...] = ()
    name: str = "catalog"
    text_values: bool = False
    holes: tuple[str, ...] = ()
    reports_all: bool = False
    _index: dict[str, tuple[Tool, ...]] = field(init=False, compare=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        index: dict[str, list[Tool]] = {}
        for tool in self.tools:
            for name in {tool.name, tool.written or tool.name}:
                index.setdefault(name, []).append(tool)
        object.__setattr__(self, "_index", {name: tuple(tools) for name, tools in index.items()})

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps that offer tools, in order of their first tool."""
        return tuple(dict.fromkeys(tool.app for tool in self.tools if tool.app))

    def named(self, name: str) -> tuple[Tool, ...]:
        """All tools of that name, whatever their app; it may be the one that their source has for them."""
        return self._index.get(name, ())

    def find(self, name: str, app: str | None = None) -> tuple[Tool, ...]:
        """The tools that a call means: variants of one tool, or tools of several apps.

        ``"App.name"`` is understood as a name of its own first, then as app and name; an app and a name
        also as a name of its own, for many formats know no apps.

        >>> Catalog((Tool("find", app="Hotels"), Tool("find", app="Trains"))).find("Trains.find")[0].app
        'Trains'
        """
        tools = self.named(name)
        if app is None and not tools and "." in name:
            app, _, name = name.rpartition(".")
            tools = self.named(name)
        candidates = tuple(tool for tool in tools if app is None or tool.app is None or tool.app == app)
        return candidates if candidates or app is None else self.named(f"{app}.{name}")

    def __add__(self, other: Catalog) -> Catalog:
        """Both catalogs' tools under the first one's conventions; equal tools appear once."""
        name = self.name if other.name in (self.name, "") else f"{self.name} + {other.name}"
        return replace(self, tools=union((*self.tools, *other.tools)), name=name)


def union(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools without repetitions, in order of first appearance; variants of one name stay.

    >>> [tool.name for tool in union([Tool("a"), Tool("b"), Tool("a")])]
    ['a', 'b']
    """
    by_name: dict[str, list[Tool]] = {}
    for tool in tools:
        variants = by_name.setdefault(tool.full_name, [])
        if tool not in variants:
            variants.append(tool)
    return tuple(tool for variants in by_name.values() for tool in variants)
