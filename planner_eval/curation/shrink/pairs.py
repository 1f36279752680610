"""A pair of plans that is made smaller: how large it is, how its sides are read and written again."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Path, Plan, Ref, Template, Unresolved, Value
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import Record, read_plan

# ----------------------------------------------------------------------
# A pair of plans that is made smaller, and how large it is.
Side: TypeAlias = Plan | str
"""A plan; or a text, where none can be read of it, or it does not show the same when it is written anew."""


class Pair(NamedTuple):
    """A prediction and the gold plan."""

    pred: Side
    gold: Side


Partners: TypeAlias = Sequence[tuple[int, int]]
"""Which call of the prediction stands for which of gold."""


class Size(NamedTuple):
    """How large a plan or a pair is; each step makes it less, as tuples are compared.

    Args:
        calls: How many calls.
        arguments: How many arguments.
        outputs: How many values of the answer, the answer itself, declared outputs and recorded results.
        references: How many references, and steps of the ways into what they name.
        weight: Of all values and labels; of a text its characters.
    """

    calls: int = 0
    arguments: int = 0
    outputs: int = 0
    references: int = 0
    weight: int = 0

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(*(count + other_count for count, other_count in zip(self, other, strict=True)))


SIMPLE_TEXT = "x"
"""The text that says nothing: what stands in the place of another, and of a reference."""


def strip_source(plan: Plan) -> Plan:
    """The plan without what the text that it was read from says beside it: places, notes, guessed edges.

    >>> from planner_eval.reading.dialects.read import parse
    >>> strip_source(parse("a = f(#x='1')")).text is None
    True
    """
    return build_plan((replace(call, span=None, spans=()) for call in plan.calls), plan.answer)


def size_of(plan_or_text: Side) -> Size:
    r"""How large a side is.

    >>> from planner_eval.reading.dialects.read import parse
    >>> size_of(parse("a = f(#x='Rome')\ng(#y=a)"))
    Size(calls=2, arguments=2, outputs=1, references=2, weight=13)
    >>> size_of("f(").weight
    2
    """
    if isinstance(plan_or_text, str):
        return Size(weight=len(plan_or_text))
    calls, answer = plan_or_text.calls, plan_or_text.answer
    arguments, named_values = [pair for call in calls for pair in call.arguments], answer or ()
    outputs = sum(len(call.returns) + call.has_result for call in calls) + (answer is not None)
    references, weight = 0, sum(len(call.id) for call in calls)
    values = (value for _, value in (*arguments, *named_values))
    for _, item in (pair for value in values for pair in nested_values(value)):
        if isinstance(item, (Ref, Unresolved)):
            references += 1 + len(item.path)
        elif isinstance(item, (list, dict, Template)):  # it weighs 1, and 1 more for each that it holds
            weight += 1 + len(items_of(item))
            weight += sum(map(len, item)) if isinstance(item, dict) else 0
        else:
            weight += weight_of(item)
    return Size(len(calls), len(arguments), outputs + len(named_values), references, weight)


def pair_size(pair: Pair) -> Size:
    """How large both sides are together."""
    return size_of(pair.pred).plus(size_of(pair.gold))


def nested_values(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """A value and all that it holds, each with the way to it; outer ones first."""
    yield path, value
    for step, item in items_of(value).items():
        yield from nested_values(item, (*path, step))


def items_of(value: Value) -> Mapping[str | int, Value]:
    """What a list, an object or a text around references holds, by the step to each."""
    if isinstance(value, dict):
        return value
    items = value.parts if isinstance(value, Template) else value if isinstance(value, list) else ()
    return dict(enumerate(items))


def weight_of(leaf: Any) -> int:
    """What a scalar weighs: 0 and 1 least of all numbers, and of texts the shortest.

    >>> weight_of(0) < weight_of(1) < weight_of(7) < weight_of(70), weight_of("x") < weight_of("y")
    (True, True)
    """
    if isinstance(leaf, bool) or leaf is None:
        return 1
    if isinstance(leaf, str):
        return 2 * len(leaf) + (leaf != SIMPLE_TEXT)
    if isinstance(leaf, (int, float)):
        return 1 if leaf == 0 else 2 if leaf == 1 else 2 + number_length(leaf)
    return 1


def number_length(number: float) -> int:
    """How many characters a number takes; of whole numbers that are too long to write, about."""
    if isinstance(number, int) and number.bit_length() > 10_000:
        return number.bit_length() // 3
    return len(repr(number))


# ----------------------------------------------------------------------
# The two sides of a pair that is made smaller: how each is read, and how it is written again.
T = TypeVar("T")

FALLBACK_DIALECT = "plan"
"""The notation of what its own cannot say: every plan can be written in it."""


class PairSelection(NamedTuple):
    """Which pair is meant, and how it is written.

    Args:
        id: The pair's id.
        record: Or its number, counted from 1.
        to: The notation to write; each side's own when None.
    """

    id: str | None
    record: int | None
    to: str | None


class SideFile(NamedTuple):
    """What a side is in a file of its own, in the form of the file that it came from."""

    suffix: str
    text: str


@dataclass(frozen=True)
class InputSide:
    """One side as it was given.

    Args:
        text: As it was written.
        plan: What was read of it; None where it holds no readable plan.
        error: Why it holds none.
        dialect: The notation in which it is written again.
        written: Writes a plan; raises WriteError for what cannot be said.
        parsed: Reads a text.
        calling: Whether it keeps a call: that two scores disagree about nothing at all teaches nobody.
        cut: Whether its text may be cut where it cannot be made smaller as a plan.
        notes: What is to be said of it.
        file: The file that holds a text instead of the given one.
    """

    text: str
    plan: Plan | None
    error: str = ""
    dialect: str = ""
    written: Callable[[Plan], str] = field(default=lambda plan: write(plan, FALLBACK_DIALECT))
    parsed: Callable[[str], Plan] = parse
    cut: bool = True
    calling: bool = False
    notes: tuple[str, ...] = ()
    file: Callable[[str], SideFile] = field(default=lambda text: SideFile(".txt", text))

    def read(self, text: str) -> Plan | None:
        """The plan that a text is; None where it is none."""
        try:
            return self.parsed(text)
        except ParseError:
            return None


def read_side(
    plan_file: PlanFile, record: Record, options: Mapping[str, Any], to: str | None, *, role: str
) -> InputSide:
    """A record of a user's file.

    Args:
        plan_file: The file.
        record: The record.
        options: How plans are read, as for :func:`planner_eval.reading.dialects.read.parse`.
        to: The notation to write; its own when left out.
        role: What messages call it.

    Raises:
        InputError: `to` cannot say what it says.
    """
    source = record.source
    if isinstance(source, Plan):
        text = source.text or ""
    else:
        text = source if isinstance(source, str) else _as_json(source, record.where)
    file = _make_file_writer(plan_file, record)
    options = {**options, **({"dialect": record.dialect} if record.dialect else {})}
    try:
        plan = read_plan(record, **options)
    except ParseError as error:
        return InputSide(text, None, f"{record.where}: {str(error).partition(chr(10))[0]}", file=file)
    notation, notes = _choose_notation(plan, to, role)
    options |= {"turn": record.turn, "dialect": notation if notation == options.get("dialect") else None}
    options = {name: value for name, value in options.items() if value is not None}
    return InputSide(
        text or write(plan, notation),
        plan,
        dialect=notation,
        written=lambda plan: write(plan, notation),
        parsed=lambda text: parse(text, **options),
        notes=notes,
        file=file,
    )


def _choose_notation(plan: Plan, to: str | None, role: str) -> tuple[str, tuple[str, ...]]:
    """In which notation a plan is written, and what is to be said of that."""
    if to is not None:
        dialects.get(to)
    notation = to or plan.dialect or FALLBACK_DIALECT
    try:
        write(plan, notation)
        if to is not None:
            write(strip_source(plan), to)  # which is what is written: what was guessed is no part of it
    except WriteError as error:
        message = str(error).partition("\n")[0]
        if to is not None:
            raise InputError(
                f"{role} cannot be written as {to}: {message}; name another notation with --to, such as "
                f"{FALLBACK_DIALECT}, or drop --to"
            ) from None
        note = f"{role} is written as {FALLBACK_DIALECT}, for {notation} cannot be: {message}"
        return FALLBACK_DIALECT, (note,)
    return notation, ()


def _make_file_writer(plan_file: PlanFile, record: Record) -> Callable[[str], SideFile]:
    """Puts a text where the record has its plan: a file of one plan, or of that record alone."""
    if not plan_file.many or plan_file.published or plan_file.content is None:
        suffix = pathlib.Path(plan_file.name).suffix if not plan_file.many and not plan_file.parts else ""
        return lambda text: SideFile(suffix or ".txt", text)
    structured = not isinstance(record.source, str)
    path = plan_file.content

    def file(text: str) -> SideFile:
        content: Any = text
        values = loads_if_json(text, DEFAULT_LIMITS) if structured else None
        if values is not None and len(values) == 1:
            content = values[0]
        fields = set_field(record.fields, path, content)
        return SideFile(".jsonl", json.dumps(fields, ensure_ascii=False) + "\n")

    return file


def set_field(fields: Mapping[str, Any], path: str, content: Any) -> dict[str, Any]:
    """The fields with another content; of a way into a record the whole way.

    >>> set_field({"id": 1}, "output.gold", "f()")
    {'id': 1, 'output': {'gold': 'f()'}}
    """
    first, _, remaining = path.partition(".")
    inner = fields.get(first, {})
    if path in fields or not remaining or not isinstance(inner, dict):
        return {**fields, path: content}
    return {**fields, first: set_field(inner, remaining, content)}


def _as_json(data: Any, where: str) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError):
        kind = type(data).__name__
        raise InputError(f"{where}: found a {kind}, expected a plan, its text or its data") from None


def select_one(pairs: Sequence[T], record: int | None, names: str) -> T:
    """The one of some pairs that is meant.

    Args:
        pairs: The pairs.
        record: Its number, counted from 1; None where there is only one.
        names: What the user named, for the message.

    Raises:
        InputError: there are several, or no such number.
    """
    count = len(pairs)
    if record is None and count != 1:
        raise InputError(
            f"{names} hold {count:,} pairs, but one is reduced: choose it with --id or --record N"
        )
    if record is not None and not 1 <= record <= count:
        raise InputError(f"{names} hold {format_count(count, 'pair')}, and there is no record {record:,}")
    return pairs[(record or 1) - 1]
