"""The two sides of a pair that is made smaller: how each is read, and how it is written again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from planner_eval import dialects
from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.jsontext import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import counted
from planner_eval.dialects.read import parse, write
from planner_eval.plan.model import Plan
from planner_eval.records.files import PlanFile, Record
from planner_eval.records.plans import read_plan
from planner_eval.shrinking.pairs import bare

T = TypeVar("T")

SPARE = "plan"
"""The notation of what its own cannot say: every plan can be written in it."""


class Asked(NamedTuple):
    """Which pair is meant, and how it is written.

    Args:
        id: The pair's id.
        record: Or its number, counted from 1.
        to: The notation to write; each side's own when None.
    """

    id: str | None
    record: int | None
    to: str | None


class File(NamedTuple):
    """What a side is in a file of its own, in the form of the file that it came from."""

    suffix: str
    text: str


@dataclass(frozen=True)
class Told:
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
    written: Callable[[Plan], str] = field(default=lambda plan: write(plan, SPARE))
    parsed: Callable[[str], Plan] = parse
    cut: bool = True
    calling: bool = False
    notes: tuple[str, ...] = ()
    file: Callable[[str], File] = field(default=lambda text: File(".txt", text))


def told(
    plan_file: PlanFile, record: Record, options: Mapping[str, Any], to: str | None, *, role: str
) -> Told:
    """A record of a user's file.

    Args:
        plan_file: The file.
        record: The record.
        options: How plans are read, as for :func:`planner_eval.dialects.read.parse`.
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
    options = {**options, "turn": record.turn} | ({"dialect": record.dialect} if record.dialect else {})
    try:
        plan = read_plan(record, **{name: value for name, value in options.items() if name != "turn"})
    except ParseError as error:
        why = f"{record.where}: {str(error).partition(chr(10))[0]}"
        return Told(text, None, why, file=_filed(plan_file, record))
    tools = options.get("tools")
    notation, notes = _notation(plan, to, role, tools)
    if not text:
        text = write(plan, notation, tools=tools)
    parse_options = {**options, "dialect": notation if notation == options.get("dialect") else None}

    def parsed(text: str) -> Plan:
        return parse(text, **{name: value for name, value in parse_options.items() if value is not None})

    return Told(
        text,
        plan,
        "",
        notation,
        lambda plan: write(plan, notation, tools=tools),
        parsed,
        notes=notes,
        file=_filed(plan_file, record),
    )


def _notation(plan: Plan, to: str | None, role: str, tools: Any) -> tuple[str, tuple[str, ...]]:
    """In which notation a plan is written, and what is to be said of that."""
    if to is not None:
        dialects.get(to)
        for variant in (plan, bare(plan)):  # the second is what is written: what was guessed is no part of it
            try:
                write(variant, to, tools=tools)
            except WriteError as error:
                message = str(error).partition("\n")[0]
                raise InputError(
                    f"{role} cannot be written as {to}: {message}; name another notation with --to, such as "
                    f"{SPARE}, or none, so that each side is written in its own"
                ) from None
        return to, ()
    own = plan.dialect or SPARE
    try:
        write(plan, own, tools=tools)
    except WriteError as error:
        message = str(error).partition("\n")[0]
        return SPARE, (f"{role} is written as {SPARE}, for {own} cannot be: {message}",)
    return own, ()


def _filed(plan_file: PlanFile, record: Record) -> Callable[[str], File]:
    """Puts a text where the record has its plan: a file of one plan, or of that record alone."""
    if not plan_file.many or plan_file.published or plan_file.content is None:
        suffix = Path(plan_file.name).suffix if not plan_file.many and not plan_file.parts else ""
        return lambda text: File(suffix or ".txt", text)
    structured = not isinstance(record.source, str)
    path = plan_file.content

    def file(text: str) -> File:
        content: Any = text
        values = loads_if_json(text, DEFAULT_LIMITS) if structured else None
        if values is not None and len(values) == 1:
            content = values[0]
        fields = _with(dict(record.fields), path, content)
        return File(".jsonl", json.dumps(fields, ensure_ascii=False) + "\n")

    return file


def _with(fields: dict[str, Any], path: str, content: Any) -> dict[str, Any]:
    """The fields with another content; of a way into a record the whole way."""
    if path in fields or "." not in path:
        return {**fields, path: content}
    first, _, remaining = path.partition(".")
    inner = fields.get(first)
    if isinstance(inner, dict):
        return {**fields, first: _with(inner, remaining, content)}
    return {**fields, path: content}


def _as_json(data: Any, where: str) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError):
        kind = type(data).__name__
        raise InputError(f"{where}: found a {kind}, expected a plan, its text or its data") from None


def only_one(pairs: Sequence[T], record: int | None, names: str) -> T:
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
            f"{names} hold {count:,} pairs, and one is made smaller: name it with --id, or --record N "
            "counted from 1"
        )
    if record is not None and not 1 <= record <= count:
        raise InputError(f"{names} hold {counted(count, 'pair')}, and there is no record {record:,}")
    return pairs[(record or 1) - 1]


def only_pair(pairs: Any, record: int | None, names: str) -> tuple[Record, Record]:
    """The one pair that is meant.

    Args:
        pairs: The pairs.
        record: Its number, counted from 1; None where there is only one.
        names: What the user named, for the message.

    Raises:
        InputError: there are several, no such number, or one side has no partner.
    """
    pred, gold = only_one(pairs, record, names)
    if pred is None or gold is None:
        present, lacking = (gold, "prediction") if pred is None else (pred, "gold plan")
        raise InputError(f"{present.where}: there is no {lacking} beside it")
    return pred, gold
