"""The proof of a row: its own example is read, written and read again, and means the same."""

from __future__ import annotations

import re

from planner_eval import dialects
from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.jsontext import whole
from planner_eval.dialects.messages import add_form
from planner_eval.dialects.notations import NOTATIONS
from planner_eval.dialects.read import parse, write
from planner_eval.dialects.table import Wrapper
from planner_eval.dialects.templates import fit, is_usual


def prove(row: Wrapper, source: str) -> None:
    """Refuse a row whose example does not come back as it was; the row is in the table already.

    Args:
        row: The row.
        source: The file it stands in, for the message.

    Raises:
        InputError: a field cannot be used, or the example cannot be read, or cannot be written again.
    """
    where = f"{source}: dialect {row.name!r}"
    if row.name in dialects.MODULES:
        raise InputError(f"{where}: {row.name!r} is read by code of its own; give the row another name")
    wrong = _unusable(row)
    if wrong:
        raise InputError(f"{where}: {wrong}")
    try:
        plan = parse(row.example, dialect=row.name)
    except ParseError as error:
        raise InputError(f"{where}: its example cannot be read as the row says: {error.reason}") from None
    if isinstance(row.call, str) and row.call and not is_usual(row):
        add_form(row.name, lambda item: fit(row, item) > 0)
    if not plan.calls:
        raise InputError(f"{where}: its example calls no tool as the row says; expected at least one call")
    ignored = next((note.message for note in plan.diagnostics if note.code == "shape.ignored"), None)
    if ignored:
        raise InputError(f"{where}: its example says more than the row reads: {ignored}")
    try:
        write(plan, row.name)
    except WriteError as error:
        raise InputError(f"{where}: its example does not come back as it was: {error}") from None


def _unusable(row: Wrapper) -> str | None:
    """What is wrong with a field, as a text; None where nothing is."""
    try:
        re.compile(row.sign)
    except re.error as error:
        return f"'sign' is no regular expression: {error}"
    if row.shape == "live" and row.references not in NOTATIONS:
        return f"'references' is {row.references!r}, expected one of {', '.join(NOTATIONS)}"
    if row.shape == "xml":
        short = next((key for key in ("call", "parameter") if not _is_pair(getattr(row, key))), None)
        return (
            f"{short!r} is {getattr(row, short)!r}, expected an opening and a closing tag" if short else None
        )
    if row.call and not _is_json(row.call):
        return f"'call' is {row.call!r}, expected a JSON object as a text"
    if row.call and '"$name"' not in row.call:
        return f"'call' is {row.call!r}, which lacks \"$name\""
    if row.around and row.around != "$each" and not (_is_json(row.around) and '"$calls"' in row.around):
        return f'\'around\' is {row.around!r}, expected "$each" or a JSON object with "$calls"'
    return None


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _is_json(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(whole(text), dict)
    except (ValueError, RecursionError):
        return False
