"""All dialects as rows, as the page of the documentation, and the proof that a row reads what it writes."""

from __future__ import annotations

import re
from typing import NamedTuple

from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.json_text import decode_whole
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import add_call_form
from planner_eval.reading.dialects.dialect import SHAPES
from planner_eval.reading.dialects.notations.json_rows import count_matching_keys, has_usual_template
from planner_eval.reading.dialects.read import parse, write_text
from planner_eval.reading.dialects.references import NOTATIONS
from planner_eval.reading.dialects.table import Wrapper, table


# ----------------------------------------------------------------------
# All dialects as rows, and as the page of the documentation: made from the same table.
class Entry(NamedTuple):
    """One dialect for a person."""

    name: str
    title: str
    references: str
    written: str
    checked: str
    rows: tuple[int, ...]
    note: str
    example: str
    grammar: bool


def entries() -> list[Entry]:
    """Every dialect.

    >>> [entry.name for entry in entries()][:2]
    ['plan', 'nestful']
    """
    rows = table()
    listed = []
    for name in dialects.names():
        dialect = dialects.get(name)
        row = rows.get(name)
        description = row or dialect
        entry = Entry(
            name,
            dialect.title,
            references=description.references,
            written="yes" if dialect.write else "no",
            checked=row.status if row else "V",
            rows=description.rows,
            note=description.note,
            example=dialect.example,
            grammar=dialect.reference is not None,
        )
        listed.append(entry)
    return listed


def dialect_tables() -> str:
    """A table of all dialects in Markdown, and an example of each."""
    lines = ["| dialect | what it is | references | seen |", "|---|---|---|---|"]
    listed = entries()
    for entry in listed:
        title = _escape_html(entry.title).replace("|", "\\|")
        references = f"`{entry.references}`" if entry.references else ""
        lines.append(
            f"| [{entry.name}](#{entry.name.replace('.', '')}) | {title} | {references} | {entry.checked} |"
        )
    sections = ["\n".join(lines) + "\n"]
    for entry in listed:
        fence = "````" if "```" in entry.example else "```"
        note = _escape_html(f"{entry.note[0].upper()}{entry.note[1:]}.\n\n") if entry.note else ""
        sections.append(f"### {entry.name}\n\n{note}{fence}text\n{entry.example}\n{fence}\n")
    return "\n".join(sections)


def _escape_html(text: str) -> str:
    """A text as Markdown that shows its tags: what reads Markdown takes them for HTML and leaves them out."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


# ----------------------------------------------------------------------
# The notations that plans are read from and written in.
def list_dialects(name: str | None = None) -> tuple[Entry, ...]:
    """The dialects, each with an example.

    Args:
        name: Only the one of this name.

    Raises:
        InputError: unknown notation of that name; says which is closest.

    >>> list_dialects("appbench")[0].name
    'appbench'
    """
    if name is not None:
        dialects.get(name)
    return tuple(entry for entry in entries() if name in (None, entry.name))


# ----------------------------------------------------------------------
# The proof of a row: its own example is read, written and read again, and means the same.
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
    wrong = _find_field_error(row)
    if wrong:
        raise InputError(f"{where}: {wrong}")
    try:
        plan = parse(row.example, dialect=row.name)
    except ParseError as error:
        raise InputError(
            f"{where}: its 'example' cannot be read with the row's own settings: {error.reason}"
        ) from None
    own_form = SHAPES[row.shape].form != "others" and isinstance(row.call, str) and row.call
    if own_form and not has_usual_template(row):
        add_call_form(row.name, lambda item: count_matching_keys(row, item) > 0)
    if not plan.calls:
        raise InputError(
            f"{where}: read with the row's own settings, its 'example' calls no tool; expected at least "
            "one call"
        )
    ignored = next((note.message for note in plan.diagnostics if note.code == "shape.ignored"), None)
    if ignored:
        raise InputError(f"{where}: its 'example' has text that the row does not read: {ignored}")
    try:
        write_text(plan, row.name, recognised=False)
    except WriteError as error:
        raise InputError(
            f"{where}: its 'example' changes when it is read and written again: {error}"
        ) from None


def _find_field_error(row: Wrapper) -> str | None:
    """What is wrong with a field, as a text; None where nothing is."""
    try:
        re.compile(row.sign)
    except re.error as error:
        return f"'sign' is not a regular expression: {error}"
    if row.shape == "live" and row.references not in NOTATIONS:
        return f"'references' is {row.references!r}, expected one of {', '.join(NOTATIONS)}"
    if row.shape == "xml":
        short = next((key for key in ("call", "parameter") if not _is_pair(getattr(row, key))), None)
        return (
            f"{short!r} is {getattr(row, short)!r}, expected an opening and a closing tag" if short else None
        )
    if row.call and not _is_json_object(row.call):
        return f"'call' is {row.call!r}, expected a JSON object as a text"
    if row.call and '"$name"' not in row.call:
        return f"'call' is {row.call!r}, which lacks \"$name\""
    if (
        row.around
        and row.around != "$each"
        and not (_is_json_object(row.around) and '"$calls"' in row.around)
    ):
        return f'\'around\' is {row.around!r}, expected "$each" or a JSON object with "$calls"'
    return None


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _is_json_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(decode_whole(text), dict)
    except (ValueError, RecursionError):
        return False
