"""What a dialect is, and the shapes of notations: from a row of the table to a dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import ObjectSpans, parse_located, unwrap_single
from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Plan, RawCall, RawPlan, RawRef

if TYPE_CHECKING:
    from planner_eval.reading.dialects.table import Wrapper


# ----------------------------------------------------------------------
# What a dialect is.
class Data(NamedTuple):
    """JSON data as those see it who say which dialect it is in.

    Args:
        value: The data.
        items: The objects of its list, or of its list ``calls``; the data itself where it is no list.
        calls: Those of them that look like calls.
        text: What the data was written as, or its repr: where keys and texts are looked for.
        texts: Whether it is a list of texts.
    """

    value: Any
    items: list[Any]
    calls: list[dict[str, Any]]
    text: str
    texts: bool = False

    @property
    def only_calls(self) -> bool:
        """Whether everything in it looks like a call."""
        return bool(self.calls) and len(self.calls) == len(self.items)


class RecognisedPlan(NamedTuple):
    """What was read, before it is linked.

    Args:
        dialect: The notation.
        raw: The calls.
    """

    dialect: str
    raw: RawPlan


class Dialect(NamedTuple):
    """One way to write plans.

    Args:
        name: What ``--from`` and ``--to`` take.
        title: One line for a person.
        example: A short plan in this dialect, of our own writing.
        read: Reads a text, or raises ParseError.
        write: Writes a plan, or raises WriteError; None where the dialect is only read.
        read_data: Reads structure that is JSON already, given the places of its objects where they
            are known; None for dialects that are text.
        read_plain: Reads such structure where it is a list of calls that are a name, arguments and perhaps a
            label (:func:`planner_eval.reading.dialects.conversations.messages.is_plain_call`), and this was
            seen to.
        read_framed: Reads a text as `read` does, and says where the tokens stand that frame its calls.
        check: Adds remarks on what is doubtful in calls that were read.
        typed: Whether values say their types; where they do not, a tool schema gives them.
        reference: Reads a text by its Lark grammar, with places: what `read` must agree with; None where
            the notation has no grammar.
        answers: Whether it can say what the user gets.
        sign: A regular expression that a text in this dialect holds.
        known: What to say of such a text.
        fits: Why JSON data is in this dialect; None where it is not.
        references, note, rows: For the list of dialects, as in data/wrappers.toml.
    """

    name: str
    title: str
    example: str
    read: Callable[[str, Limits], RawPlan]
    write: Callable[[Plan], str] | None = None
    read_data: Callable[[Any, Limits, ObjectSpans | None], RawPlan] | None = None
    read_plain: Callable[[list[dict[str, Any]], Limits], RawPlan] | None = None
    read_framed: Callable[[str, Limits], tuple[RawPlan, list[Span]]] | None = None
    check: Callable[[RawPlan], RawPlan] | None = None
    typed: bool = True
    reference: Callable[[str, Limits], RawPlan] | None = None
    answers: bool = False
    sign: str = ""
    known: str = ""
    fits: Callable[[Data], str | None] | None = None
    references: str = ""
    note: str = ""
    rows: tuple[int, ...] = ()


DEPENDENCY_ARGUMENT = ""
"""The argument that holds a dependency which a notation states and no argument says: an edge of a
list of links, for instance. Its value is a reference, or a list of them."""


def add_dependencies(call: RawCall, producers: Iterable[str]) -> RawCall:
    """The call with the dependencies that are stated, and that no argument of it says."""
    refs = [RawRef(name) for name in producers]
    if not refs:
        return call
    dependency = (DEPENDENCY_ARGUMENT, unwrap_single(refs))
    return replace(call, arguments=(*call.arguments, dependency))


def json_grammar_reader(
    name: str, read_values: Callable[[list[Any], Limits, str, ObjectSpans], RawPlan]
) -> Callable[[str, Limits], RawPlan]:
    """The reference reading of a JSON notation: its values with places, by the grammar of JSON.

    Args:
        name: The dialect's name, for errors.
        read_values: Reads the calls of a text's values, given the limits, the text and the places.
    """

    def reference(text: str, limits: Limits) -> RawPlan:
        locations = ObjectSpans(parse_located(text, name))
        return read_values(locations.values, limits, text, locations)

    return reference


# ----------------------------------------------------------------------
# The shapes: from a row of the table to a dialect that reads and writes.
#
# Each shape is a module with ``dialect(row)``, imported when a row of it is first used.
class Shape(NamedTuple):
    """What is said of a shape without importing it.

    Args:
        module: Its module in this package.
        form: What a row's ``sign`` is looked for in: "text", the beginning of a text; "texts", each of a
            list of texts; else the text of JSON data. Its dialects say by ``fits`` whether "calls", or
            "others" of which not everything looks like a call, are in them; "data" says nothing by itself.
        required: The fields that its rows must have.
    """

    module: str
    form: Literal["text", "texts", "data", "calls", "others"] = "text"
    required: tuple[str, ...] = ()


SHAPES: dict[str, Shape] = {
    "json": Shape("notations.json_rows", "data"),
    "live": Shape("notations.json_rows", "data"),
    "nestools": Shape("notations.json_rows", "calls"),
    "complexfuncbench": Shape("notations.json_rows", "others"),
    "keyed": Shape("notations.json_rows", "others"),
    "call-texts": Shape("programs.python_calls", "texts"),
    "sections": Shape("notations.framed", required=("open",)),
    "named": Shape("notations.framed", required=("head", "middle")),
    "xml": Shape("notations.tagged", required=("call", "parameter")),
    "gemma": Shape("notations.tagged", required=("open", "close", "quote")),
    "python": Shape("programs.python_calls"),
    "python-list": Shape("programs.python_calls"),
    "code-block": Shape("programs.python_calls", "data"),
    "javascript": Shape("programs.javascript"),
    "callnavi": Shape("notations.callnavi", "others"),
    "callnavi-yaml": Shape("notations.callnavi"),
    "taskbench": Shape("notations.task_graphs", "others"),
    "hugginggpt": Shape("notations.task_graphs", "calls"),
    "worfbench": Shape("notations.task_graphs"),
    "rewoo": Shape("notations.steps"),
    "t-eval": Shape("notations.steps"),
    "llmcompiler": Shape("notations.steps"),
    "react": Shape("notations.steps"),
    "langgraph": Shape("conversations.traces", "others"),
    "openai-agents": Shape("conversations.traces", "others"),
    "mcp": Shape("conversations.traces", "others"),
    "opentelemetry": Shape("conversations.traces", "others"),
    "openinference": Shape("conversations.traces", "others"),
    "mlflow": Shape("conversations.traces", "others"),
}
"""The shapes by name."""


@cache
def dialect(row: Wrapper) -> Dialect:
    """The dialect that a row describes.

    >>> from planner_eval.reading.dialects.table import table
    >>> dialect(table()["vercel"]).name
    'vercel'
    """
    described = import_module(f"planner_eval.reading.dialects.{SHAPES[row.shape].module}").dialect(row)
    assert isinstance(described, Dialect)
    return described._replace(typed=row.typed)


TurnChoice: TypeAlias = int | Literal["first", "last"] | None
"""Which turn of the assistant is read, counted from 1; all of them where it is None."""


def check_turn(turn: TurnChoice) -> None:
    """Refuse what names no turn.

    Raises:
        InputError: it is neither ``"first"`` nor ``"last"`` nor a number from 1 on.
    """
    number = isinstance(turn, int) and not isinstance(turn, bool) and turn > 0
    if turn is not None and not number and turn not in ("first", "last"):
        raise InputError(f"the turn is {turn!r}, expected 'first', 'last' or a number counted from 1")


def check_options(dialect: Any, limits: Any, tools: Any) -> None:
    """Refuse options of another type than they have.

    Raises:
        InputError: says what is expected.
    """
    if dialect is not None and not isinstance(dialect, str):
        raise InputError(f"the dialect is {dialect!r}, expected the name of one, or None")
    if not isinstance(limits, Limits):
        raise InputError(f"the limits are {limits!r}, expected planner_eval.base.limits.Limits(…)")
    if tools is not None and not isinstance(tools, Mapping):
        raise InputError(f"the tools are {tools!r}, expected a mapping: tool → parameter → JSON type")
