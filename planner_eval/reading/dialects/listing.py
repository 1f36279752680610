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

Lark grammars (`grammars/`) define most notations; where a faster reader of our own stands beside a grammar,
tests hold both readings equal ([which, and on what](#the-grammars-reading)).

`planeval` reads every notation below, and writes them all; without `--from` it recognises the
notation, says which it took and why, and what it ignored (`planeval parse`). This page is made by
`planeval convert --list --format md`.

* **References** says how the notation refers to a call's result; where the column is empty a plan with
  references cannot be written in it (`planeval convert --loss` writes them as text and says so).
* **Seen**: V, the tokens or the shape were seen in a server's or framework's source or tests, or in real
  outputs; K, general knowledge, not checked against real output.
* Notations without types (XML parameters) take them from a tool catalog: `--catalog FILE`. Without it all of
  their values are texts, so that `planeval convert` writes nothing else in them; with it, what the catalog
  reads as it was (`--loss` writes the rest and lists it as `loss.type`).
* What `convert` writes is read again first: what would read as another plan is refused, with the call. A plan
  without calls is written where a list of none says so; where it would be no text at all, it is refused.
* Python that stands in several pieces of a text (a fence, a tag or a line of a list each) is one program:
  a name that one piece gives a result means it in the pieces that follow. Markers (`1.`, `1.1`, `(1)`,
  `a)`, `ii.`, `-`, `->`, `Step 2:`, `First,`, `In [3]:`) and backticks around a line are no part of it. What
  looks like a call that names its result and was not read is said.
* Where no call is read, what looks like one is said, with its place (`find.unread`, a warning): unknown
  tokens or tags around a name and its arguments, a tool's name beside an object, an object without quotes
  around its keys, a call in a sentence, unless that says that it is not made, or tells of one that was. It
  stays a text without calls; `diff` and `score` say how many such predictions there are. Words alone ("I
  will use get_weather for Rome"), commands of a shell and what stands after 20,000 characters are not
  doubted.
* A Python program's own functions are read at each call, with their arguments and what they return; one that
  calls itself counts once, which is said, and functions that call one another so often that more than 200,000
  characters would be read again are refused. Functions with stars (`*args`) or decorators, methods and
  lambdas are not followed, nor are those of another fence: tools called in them are named in a
  note. What is imported from Python's standard library or a known package (`numpy`, `requests`) is no tool;
  from any other module it is one, under the name that it has there, if it is no class (`Client()`).
* A program is read as the calls that it makes, with the values that they get, or refused with the place.
  What is put into a list or an object (`append`, `extend`, `update`, `d["k"] = v`) is in it, for
  each of its names. Any other change in place (`sort`, `pop`, one in a loop or a branch), and a variable that
  branches leave otherwise, makes a value unsure; only a call that is given it is refused. A `try` is
  read as what it does where nothing fails; handlers that call tools are told. The calls in a loop are
  those of its first round; a variable that each round makes of its earlier value is unsure. A method of
  a tool's result that is none of Python's data, a call through a subscript or a variable, and a tool
  that a library calls (`partial`, `map`) are refused. A name that nothing assigns is a text, with a
  note. A change to what stands inside a copy (`list(x)`, `x[1:]`) is not seen in the original.

## The grammar's reading

Notations are read by Lark grammars (`grammars/`), most of them by a faster path too, which may accept only
what the grammar reads the same; for JSON calls, AppBench and NESTful the tests hold both readings equal on
all gold plans and on mutated text. `planeval parse --grammar`, and in Python
`parse(text, reader="grammar")`, give the grammar's own reading, with the places of calls (`span`), of
arguments (`spans`) and, in NESTful and AppBench, of references. It reads the text, or the insides of its
fences, mends nothing, and refuses texts of more than 256,000 characters. Over the gold plans a call costs
46 µs in AppBench's lines (7 µs by the fast path), 85 µs as JSON (8) and 150 µs in NESTful (11). An argument
has no place of its own where all arguments are one JSON text. A place below is line:column-column, the last
one past the end; `--format json` counts characters from 0.

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

A row in a TOML file is enough for a model whose shape is known. `--wrappers FILE` reads it; a package
publishes rows under the entry point group `planner_eval.wrappers` (a function that returns a list of
mappings).

```toml
[[dialect]]
name = "my-model"
title = "My model: <call> around JSON"
shape = "sections"           # json, sections, named, xml, gemma; see data/wrappers.toml
open = ["<call>"]
close = ["</call>"]
inner = "json"
each = true
call = '{"tool": "$name", "args": "$arguments"}'
example = '<call>{"tool": "f", "args": {"a": 1}}</call>'
```

A row is read as it is written, whatever its keys: with `shape = "json"` and
`call = '{"fn": "$name", "kw": "$arguments"}'` a list of `{"fn": …, "kw": …}` is recognised, read and written.
The example is the proof: when the file is loaded it is read, written and read again, and a row whose
example does not come back is refused with the reason.

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
        note = f" {entry.note[0].upper()}{entry.note[1:]}." if entry.note else ""
        description = _escape_html(f"{entry.title}.{note}")
        sections.append(f"### {entry.name}\n\n{description}\n\n{fence}text\n{entry.example}\n{fence}\n")
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
        InputError: there is no dialect of that name; says which is closest.

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
        raise InputError(f"{where}: its example does not come back as it was: {error}") from None


def _find_field_error(row: Wrapper) -> str | None:
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
