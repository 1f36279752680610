"""All dialects as rows, as the page of the documentation, and the proof that a row reads what it writes."""

from __future__ import annotations

import re
from typing import NamedTuple

from planner_eval.base.errors import InputError, ParseError, WriteError
from planner_eval.base.json_text import decode_whole
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import add_call_form
from planner_eval.reading.dialects.notations.json_rows import count_matching_keys, has_usual_template
from planner_eval.reading.dialects.read import parse, write
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
        status = row.status if row else "V"
        written = "yes" if dialect.write else "no"
        has = dialect.reference is not None
        entry = Entry(
            name,
            dialect.title,
            description.references,
            written,
            status,
            description.rows,
            description.note,
            dialect.example,
            has,
        )
        listed.append(entry)
    return listed


_PAGE_HEAD = """\
# Dialects

For anyone whose model writes plans in a notation of its own: every notation that `planeval` reads and
writes, and how to add one. `planeval parse` says which notation it recognised, why, and what it ignored;
`--from` names it.

| case | what happens |
|---|---|
| the notation has no references (column empty) | `convert` refuses a plan with references; `--loss` writes \
them as text and says so |
| the notation has no types (XML parameters) | all values are texts, unless `--catalog FILE` gives the types |
| a plan would read back as another | `convert` refuses it, and names the call |
| no call is found, but something looks like one | a warning with the place (`find.unread`); the text \
counts as one without calls, and `diff` and `score` count such predictions. Only the first 20,000 \
characters are searched |
| a tool is only mentioned ("I will use get_weather") | no call |

**Seen** is V if the shape was checked against a server's or framework's source or real outputs, and K if it
is known only from descriptions. `planeval convert --list --format md` makes this page.

## Plans as programs

A Python or JavaScript program is read as the calls that it makes, never run. What would have to be guessed
is refused, with its place.

| code | is read as |
|---|---|
| several pieces (fences, tags, list items) | one program; list markers, prompts and backticks around a \
line are ignored |
| a function of the program | its calls, each time it is called; not with `*args` or decorators, nor from \
another fence |
| `append`, `extend`, `update`, `d["k"] = v` | a change of the list or object, under all its names |
| other changes (`sort`, `pop`), variables that differ between branches | an uncertain value; a call that \
takes it is refused |
| a loop | its first round |
| `try` | what happens if nothing fails |
| functions of the standard library and known packages (`numpy`, `requests`) | not tools; functions of \
other modules are |
| methods of tool results, calls through variables, `map`, `partial` | refused |
| a name without a value | a text, with a note |

## The grammar's reading

Lark grammars (`grammars/`) define most notations. A faster reader does the work; tests hold both equal.
`planeval parse --grammar`, in Python `parse(text, reader="grammar")`, uses the grammar, which gives the
place of every call and argument as line:column-column. It repairs nothing, reads at most 256,000
characters, and takes 7 to 14 times as long.

```console
$ head -1 data/samples/nestful/v2/nestful_data.jsonl | planeval parse - --grammar
standard input, record 1 (id half)
nestful: labels or $name$ references, read by the grammar
  var_1  add  arg_0=3  arg_1=5
      at 1:2-75
      arg_0 at 1:60-61
      arg_1 at 1:72-73
  var_2  divide  arg_0=← var_1.result  arg_1=2
      at 1:77-168
      arg_0 at 1:138-154, ← var_1 at 1:139-153
      arg_1 at 1:165-166
```

These have no grammar for the whole of their text: {without}.

## Adding your own

Write a row in a TOML file and pass it with `--wrappers FILE`. A package publishes rows under the entry
point group `planner_eval.wrappers`: a function that returns a list of mappings. `data/wrappers.toml`
explains the keys.

```toml
[[dialect]]
name = "my-model"
title = "My model: <call> around JSON"
shape = "sections"           # json, sections, named, xml, gemma
open = ["<call>"]
close = ["</call>"]
inner = "json"
each = true
call = '{"tool": "$name", "args": "$arguments"}'
example = '<call>{"tool": "f", "args": {"a": 1}}</call>'
```

With `shape = "json"` and `call = '{"fn": "$name", "kw": "$arguments"}'`, lists of `{"fn": …, "kw": …}` are
read and written. The example is read, written and read again when the file is loaded; a row whose example
does not survive is refused.

## All dialects

"""


def page() -> str:
    """The documentation's page on dialects, in Markdown."""
    lines = ["| dialect | what it is | references | seen |", "|---|---|---|---|"]
    listed = entries()
    for entry in listed:
        title = _escape_html(entry.title).replace("|", "\\|")
        references = f"`{entry.references}`" if entry.references else ""
        lines.append(
            f"| [{entry.name}](#{entry.name.replace('.', '')}) | {title} | {references} | {entry.checked} |"
        )
    without = ", ".join(f"`{entry.name}`" for entry in listed if not entry.grammar)
    sections = [_PAGE_HEAD.replace("{without}", without) + "\n".join(lines) + "\n"]
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
        raise InputError(f"{where}: its example cannot be read as the row says: {error.reason}") from None
    if isinstance(row.call, str) and row.call and not has_usual_template(row):
        add_call_form(row.name, lambda item: count_matching_keys(row, item) > 0)
    if not plan.calls:
        raise InputError(f"{where}: its example calls no tool as the row says; expected at least one call")
    ignored = next((note.message for note in plan.diagnostics if note.code == "shape.ignored"), None)
    if ignored:
        raise InputError(f"{where}: its example says more than the row reads: {ignored}")
    try:
        write(plan, row.name)
    except WriteError as error:
        raise InputError(f"{where}: its example does not survive a round trip: {error}") from None


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
