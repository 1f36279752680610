"""The shapes that everything else speaks: a call as written, a call as meant, a plan.

``RawCall`` is faithful to the text; ``planner_eval.plan.linking.link`` turns raw calls into a ``Plan``.
Nothing here reads or writes, and importing it costs little more than dataclasses.

A *value* is JSON data (None, bool, int, float, str, list, dict with string keys) whose leaves may
also be references: ``RawRef`` and ``RawTemplate`` before linking, ``Ref``, ``Unresolved`` and
``Template`` after it; an expression is ``RawComputed`` until then. Lists and dicts inside values
belong to the plan: treat them as read-only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import map_object_values
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import service
from planner_eval.base.text import lazy_pattern

if TYPE_CHECKING:
    import networkx as nx


Path: TypeAlias = tuple[str | int, ...]
"""A way into a value: field names and list positions, outermost first; () is the whole value."""

WHOLE_RESULT_NAMES = ("result", "output", "output_0")
"""Names under which plans speak of a tool's only output, whatever it is called."""

Value: TypeAlias = Any
"""JSON data with references as leaves; see the module's docstring."""

Arguments: TypeAlias = tuple[tuple[str, Value], ...]
"""Name and value of each argument in written order; a repeated name stays repeated."""


# ---------------------------------------------------------------- as written
@fast_frozen
class _NamedReference:
    """A name and the way into what it names. Making a dataclass takes 0.3 ms of every start: one for two."""

    name: str
    path: Path = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@fast_frozen
class _TextWithReferences:
    """Text around references, likewise."""

    parts: tuple[Any, ...]


class RawRef(_NamedReference):
    """A reference as written: a name that some call binds, and a path into what it names.

    Args:
        name: The name.
        path: The way into what it names.
        span: Where the reference stands in the text, when the parser knows.
    """

    __slots__ = ()


class RawTemplate(_TextWithReferences):
    """Text around references: strings and RawRefs in written order."""

    __slots__ = ()


@fast_frozen
class RawComputed:
    """The source text of an expression that stands where a value should, as `1/6` in a Python call."""

    text: str


@fast_frozen
class RawCall:
    """One call as written.

    Args:
        name: The tool's name.
        arguments: Argument names and raw values in written order.
        app: The app or namespace that the notation names apart from the tool.
        label: The call's own label in the text, if it has one.
        binds: The names under which later text can refer to this call's result, each with the
            path into the result that the name stands for: ``(("var1", ()),)`` for a label,
            ``(("city", ("city",)), …)`` for AppBench's returned names.
        returns: The names of the outputs that the text declares.
        span: Where the call stands in the text, when the parser knows.
        spans: Where each argument stands, as many as there are arguments, when the parser knows.
        result: What the tool answered, in notations that record it; ``MISSING`` otherwise.
        turn: As for :class:`Call`.
        failed: As for :class:`Call`.
    """

    name: str
    arguments: Arguments = ()
    app: str | None = None
    label: str | None = None
    binds: tuple[tuple[str, Path], ...] = ()
    returns: tuple[str, ...] = ()
    span: Span | None = None
    spans: tuple[Span, ...] = ()
    result: Value = None
    has_result: bool = False
    turn: int | None = None
    failed: bool = False


class RawPlan(NamedTuple):
    """What a dialect's parser gives: raw calls, the named answer if the notation has one, notes.

    A search of a text says the reason too for which it took a notation.
    """

    calls: tuple[RawCall, ...]
    answer: Arguments | None = None
    notes: tuple[Diagnostic, ...] = ()
    reason: str | None = None


# ---------------------------------------------------------------- as meant
@fast_frozen
class Ref:
    r"""A reference to another call's output.

    Args:
        call: The producer's position in ``plan.calls``.
        path: The way into the producer's result; () is the whole result.
        span: Where the reference stands in the text, when known; side data.

    >>> import planner_eval as pe
    >>> pe.parse("a = f(#x='1')\ng(#y=a)").calls[1].arguments
    (('y', Ref(call=0, path=('a',))),)
    """

    call: int
    path: Path = ()
    span: Span | None = field(default=None, compare=False, repr=False)


class Unresolved(_NamedReference):
    """A reference to nothing: no call of the plan binds `name`.

    Args:
        name: The name as written.
        path: The way into what it would name.
        span: Where the reference stands in the text, when known; side data.
    """

    __slots__ = ()


class Template(_TextWithReferences):
    """Text around references: strings, Refs and Unresolveds in written order."""

    __slots__ = ()


class Diagnostic(NamedTuple):
    """Something worth saying about a plan that can still be used.

    Args:
        code: A stable dotted code; the meanings are in ``data/codes.toml``.
        message: One sentence with the names and values found.
        severity: ``"error"``, ``"warning"`` or ``"info"``.
        call: The position of the call concerned.
        argument: The name of the argument concerned.
        span: The place in the text, when it is known.
    """

    code: str
    message: str
    severity: str = "warning"
    call: int | None = None
    argument: str | None = None
    span: Span | None = None


UNREAD_CALL = "looks like a call"
"""What remarks say of text around calls in which another may stand."""

LATER_TURN = "the turn after"
"""How a remark begins that a text goes on with another turn, which was not read."""


def may_tell_unread_call(note: Diagnostic) -> bool:
    """Whether a remark says that a call may stand where none was read: in a whole text, or around calls.

    >>> may_tell_unread_call(Diagnostic("find.text", "5 characters of text around the calls were ignored"))
    False
    """
    return note.code == "find.unread" or (note.code == "find.text" and UNREAD_CALL in note.message)


def no_call_remark(why: str) -> Diagnostic:
    """That a text calls no tool, and why.

    >>> no_call_remark("an empty list").message, no_call_remark("the text calls no tool").message
    ('no call: an empty list', 'the text calls no tool')
    """
    lead = "" if "calls no tool" in why else "no call: "
    return Diagnostic("plan.no_call", f"{lead}{why}", "info")


@fast_frozen
class Call:
    """One call of a plan: a node of the graph.

    Args:
        id: Unique in its plan; carries no meaning for comparison.
        name: The tool's name.
        arguments: Argument names and linked values in written order.
        app: The app or namespace, when the notation names one.
        returns: Declared output names; side data, not part of a plan's meaning.
        span: Where the call stands in the text, when known; side data.
        spans: Where each argument stands, when known; side data.
        result: The recorded answer of the tool if ``has_result``; side data.
        turn: The turn of the assistant that makes the call, counted from 1, where a conversation has
            several; side data.
        failed: Whether what records the answer marks it as a failure; side data.

    >>> import planner_eval as pe
    >>> call = pe.parse("Hotels: [h = search(#city='Rome')]").calls[0]
    >>> call.tool, call.arguments
    ('Hotels.search', (('city', 'Rome'),))
    """

    id: str
    name: str
    arguments: Arguments = ()
    app: str | None = None
    returns: tuple[str, ...] = field(default=(), compare=False)
    span: Span | None = field(default=None, compare=False)
    spans: tuple[Span, ...] = field(default=(), compare=False)
    result: Value = field(default=None, compare=False)
    has_result: bool = field(default=False, compare=False)
    turn: int | None = field(default=None, compare=False)
    failed: bool = field(default=False, compare=False)

    @property
    def tool(self) -> str:
        """The app and the name, or the name alone: ``"Hotels.search"``."""
        return f"{self.app}.{self.name}" if self.app else self.name


class Edge(NamedTuple):
    """One reference: data flows from `producer`'s output to an argument of `consumer`.

    Args:
        producer: Position of the call whose output is used.
        consumer: Position of the call that uses it.
        argument: The consumer's argument.
        at: The way into the argument's value to the reference; () when it is the whole value.
        path: The way into the producer's result.
        inferred: The edge was guessed, not written.
    """

    producer: int
    consumer: int
    argument: str
    at: Path = ()
    path: Path = ()
    inferred: bool = False


@fast_frozen
class Plan:
    r"""A typed call DAG: nodes are calls, edges are references.

    Two plans compare equal with ``==`` only when they are written alike, ids included; use
    :func:`planner_eval.same` to ask whether they mean the same.

    Args:
        calls: The calls in written order.
        edges: One edge for each argument and path, in order of consumer and place.
        answer: The named values that the user gets, where the notation says (NESTful's
            ``var_result``), else None.
        diagnostics: What parsing and linking had to say; side data.
        dialect: The dialect the plan was read in; side data.
        text: The text the plan was read from; side data.
        steps: The number of each call's written step, where inference took steps for generations; side data.
        reason: Why the dialect was taken, where a search of the text decided it; side data.

    >>> import planner_eval as pe
    >>> plan = pe.parse("a = f(#x='1')\ng(#y=a)")
    >>> len(plan), [(edge.producer, edge.consumer, edge.argument) for edge in plan.edges]
    (2, [(0, 1, 'y')])
    """

    calls: tuple[Call, ...] = ()
    edges: tuple[Edge, ...] = ()
    answer: Arguments | None = None
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    dialect: str | None = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False, repr=False)
    steps: tuple[int, ...] = field(default=(), compare=False, repr=False)
    reason: str | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.calls)

    def __str__(self) -> str:
        """The plan as ``planeval render`` lists it: a line a call, by topological generation."""
        text: str = service("plan text")(self)
        return text

    @property
    def written(self) -> Plan:
        """The plan without what was inferred: what comparison sees."""
        if not self.steps and True not in [edge.inferred for edge in self.edges]:
            return self
        return replace(self, edges=tuple(edge for edge in self.edges if not edge.inferred), steps=())

    @property
    def graph(self) -> nx.MultiDiGraph[int]:
        """The plan as a NetworkX graph: nodes are positions, edges are keyed by argument and place."""
        return to_networkx(self)

    def _repr_svg_(self) -> str | None:
        """How a notebook shows the plan: a drawing, or None where nothing can draw."""
        drawing: str | None = service("notebook drawing")(self)
        return drawing

    def _repr_html_(self) -> str | None:
        """How a notebook shows the plan where nothing can draw: as the command line tells it."""
        listing: str | None = service("notebook listing")(self)
        return listing


def references(value: Value, path: Path = ()) -> Iterator[tuple[Path, Ref | Unresolved]]:
    """The references inside one linked value, each with the way to it, in written order.

    A reference inside a template is found at the template's place followed by its part's position.

    >>> list(references({"to": [Ref(0, ("city",))]}))
    [(('to', 0), Ref(call=0, path=('city',)))]
    """
    kind = type(value)
    if kind is Ref or kind is Unresolved:
        yield path, value
    elif kind is list:
        for position, item in enumerate(value):
            yield from references(item, (*path, position))
    elif kind is dict:
        for key, item in value.items():
            yield from references(item, (*path, key))
    elif kind is Template:
        for position, piece in enumerate(value.parts):
            if type(piece) is not str:
                yield (*path, position), piece


_LIST_OF_LISTS = lazy_pattern(r"\s*+\[\s*+\[")


def may_have_turns(pred: Plan, gold: Plan) -> bool:
    """Whether a plan may be of several turns: a look at its calls that costs next to nothing."""
    if not pred.calls:  # of a conversation without a call only its messages say it
        return True
    for plan in (pred, gold):
        if any(call.turn is not None for call in plan.calls):
            return True
        if plan.text is not None and _LIST_OF_LISTS.match(plan.text) is not None:
            return True
    return False


def to_networkx(plan: Plan) -> nx.MultiDiGraph[int]:
    r"""The plan as a NetworkX graph, the public view of its structure.

    Returns:
        Nodes are positions with attributes ``id``, ``name``, ``app``, ``arguments``; edges run from
        producer to consumer, keyed by (argument, place), with ``argument``, ``at``, ``path`` and
        ``inferred``.

    >>> from planner_eval.reading.dialects.read import parse
    >>> parse("a = f(#x='1')\nb = g(#y=a)").graph.edges[0, 1, ("y", ())]["path"]
    ('a',)
    """
    import networkx as nx

    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    for i, call in enumerate(plan.calls):
        graph.add_node(i, id=call.id, name=call.name, app=call.app, arguments=call.arguments)
    for edge in plan.edges:
        graph.add_edge(
            edge.producer,
            edge.consumer,
            key=(edge.argument, edge.at),
            argument=edge.argument,
            at=edge.at,
            path=edge.path,
            inferred=edge.inferred,
        )
    return graph


# ----------------------------------------------------------------------
# A list whose order carries no meaning.
class Bag(list[Any]):
    """A list whose order carries no meaning: what stands for it puts what stands for its items in order."""


# ----------------------------------------------------------------------
# Every kind of value, taught once: its leaves, the same value with other leaves, and what folds out of it.
#
# A value is JSON data with references in it (:mod:`planner_eval.plan.model`): lists, objects and texts
# around references hold values, everything else is a leaf. What only looks, asks :func:`leaves`; what
# changes leaves and keeps the rest, :func:`map_leaves`; what makes something else of a value, :func:`fold`;
# what only wants to know whether some kind is in it, :func:`contains_kind`. Loops measured to be hot keep a
# walk of their own, and ``tests/test_link.py`` holds them equal to these.
_LEAF_TYPES = frozenset({str, int, float, bool, type(None), Ref, Unresolved, RawRef})
"""What nearly every value is; asked first, for that is the quickest."""


def contains_kind(value: Value, kinds: type | tuple[type, ...]) -> bool:
    """Whether a value, or anything in it, is of one of some kinds.

    Args:
        value: The value.
        kinds: The kinds: of references, of texts around references, of scalars, ``list`` or ``dict``.

    >>> contains_kind({"to": ["Rome", 7]}, int), contains_kind({"to": ["Rome", 7]}, Template)
    (True, False)
    """
    if isinstance(value, kinds):
        return True
    if type(value) in _LEAF_TYPES:
        return False
    if isinstance(value, dict):
        return any(contains_kind(item, kinds) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(contains_kind(item, kinds) for item in value)
    return isinstance(value, (Template, RawTemplate)) and any(isinstance(p, kinds) for p in value.parts)


def is_dependent(value: Value) -> bool:
    """Whether a value is or holds a reference, resolved or not."""
    return contains_kind(value, (Ref, Unresolved, Template))


def leaves(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """The leaves of a value, linked or not, each with the way to it, in written order.

    Args:
        value: The value.
        path: The way to the value itself, which the ways found start with.

    Returns:
        Scalars, references and the parts of texts around references; a part's place is its position.
        Empty lists and objects have no leaf.

    >>> list(leaves({"to": ["Rome", 7]}))
    [(('to', 0), 'Rome'), (('to', 1), 7)]
    """
    if type(value) in _LEAF_TYPES:
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from leaves(item, (*path, position))
    elif isinstance(value, (Template, RawTemplate)):
        for position, piece in enumerate(value.parts):
            yield (*path, position), piece
    else:
        yield path, value


def read_references_in(
    text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], RawRef | None]
) -> str | RawRef | RawTemplate:
    """A text as itself, a reference, or text around references.

    Args:
        text: The text.
        pattern: Finds a reference.
        read: The reference that a match is; None where it is text.
    """
    pieces: list[str | RawRef] = []
    end = 0
    for match in pattern.finditer(text):
        reference = read(match)
        if reference is not None:
            pieces += [text[end : match.start()], reference] if match.start() > end else [reference]
            end = match.end()
    if not pieces:
        return text
    if end < len(text):
        pieces.append(text[end:])
    return pieces[0] if len(pieces) == 1 else RawTemplate(tuple(pieces))


def map_leaves(change: Callable[[Value], Value], value: Value) -> Value:
    """The value with each leaf changed, in lists, objects and texts around references.

    Args:
        change: From a leaf, or a part of a text, to what stands in its place; a part stays a text or a
            reference.
        value: The value.

    >>> map_leaves(lambda leaf: leaf.upper() if isinstance(leaf, str) else leaf, {"to": ["Rome", 7]})
    {'to': ['ROME', 7]}
    """
    kind = type(value)
    if kind in _LEAF_TYPES:
        return change(value)
    if kind is dict:
        return {key: map_leaves(change, item) for key, item in value.items()}
    if isinstance(value, dict):  # keys that a text repeats are link()'s to report
        return map_object_values(value, partial(map_leaves, change))
    if isinstance(value, (list, tuple)):
        return [map_leaves(change, item) for item in value]
    if isinstance(value, (Template, RawTemplate)):
        return type(value)(tuple(map(change, value.parts)))
    return change(value)


def fold(
    value: Value,
    leaf: Callable[[Value], Any],
    *,
    items: Callable[[list[Any]], Any] = lambda items_made: items_made,
    fields: Callable[[dict[str, Any]], Any] = lambda fields_made: fields_made,
    text: Callable[[tuple[Any, ...]], Any] | None = None,
) -> Any:
    """What becomes of a value when each kind of value becomes something, the innermost first.

    Args:
        value: The value.
        leaf: What a scalar or a reference becomes.
        items: What a list becomes, given what its items became.
        fields: What an object becomes, given what its fields became.
        text: What a text around references becomes, given its parts as they are: texts and references.
            Left out, it is a leaf.

    >>> fold({"to": ["Rome", 7]}, repr, items=" ".join, fields=lambda made: f"<{made['to']}>")
    "<'Rome' 7>"
    """
    if type(value) in _LEAF_TYPES:
        return leaf(value)
    if isinstance(value, dict):
        return fields(
            {key: fold(item, leaf, items=items, fields=fields, text=text) for key, item in value.items()}
        )
    if isinstance(value, (list, tuple)):
        return items([fold(item, leaf, items=items, fields=fields, text=text) for item in value])
    if text is not None and isinstance(value, (Template, RawTemplate)):
        return text(value.parts)
    return leaf(value)
