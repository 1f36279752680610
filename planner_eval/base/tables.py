"""Tables: the same rows as text, Markdown, CSV, JSON or JSON lines."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.ratios import ratio_text
from planner_eval.base.text import join_pieces, one_line, printable

_FORMULA = "=+-@\t\r"
"""What makes a spreadsheet take a cell for a formula."""

FORMATS = ("text", "md", "csv", "json", "jsonl")

Rows: TypeAlias = "list[dict[str, Any]]"
"""The rows of a table, each by its columns."""


def table(rows: Sequence[Mapping[str, Any]], format: str = "text", *, width: int = 60) -> str:
    r"""Rows of equal keys in one of :data:`FORMATS`.

    Args:
        rows: The rows; columns are the keys of the first.
        format: ``"text"`` for people, ``"md"``, ``"csv"``, ``"json"`` or ``"jsonl"``.
        width: The widest cell of a table for people.

    Returns:
        The text, without a last line end; "" for no rows as text.

    >>> print(table([{"name": "a", "n": 1}, {"name": "bc", "n": 20}]))
    name   n
    a      1
    bc    20
    """
    return "".join(table_pieces(rows, format, width=width))


def table_pieces(rows: Iterable[Mapping[str, Any]], format: str, *, width: int = 60) -> Iterator[str]:
    r"""Rows of equal keys as :func:`table` writes them, in pieces.

    Args:
        rows: The rows; as ``"text"`` they are gone through twice.
        format: One of :data:`FORMATS`.
        width: The widest cell of a table for people.

    >>> "".join(table_pieces(iter([{"n": 1}, {"n": 2}]), "csv"))
    'n\n1\n2'
    """
    if format == "text":
        yield from _text_pieces(rows, width)
        return
    if format == "json":
        yield from json_array(json.dumps(dict(row), ensure_ascii=False, indent=1) for row in rows)
        return
    yield from join_pieces(
        (json.dumps(dict(row), ensure_ascii=False) for row in rows)
        if format == "jsonl"
        else _table_lines(rows, format)
    )


def _table_lines(rows: Iterable[Mapping[str, Any]], format: str) -> Iterator[str]:
    """The lines of a table as ``"csv"`` or ``"md"``, whose columns are the keys of the first row."""
    columns: list[str] = []
    for row in rows:
        if not columns:
            columns = list(row)
            yield from table_head(columns, format)
        yield table_line([row.get(name) for name in columns], format)


class Style(NamedTuple):
    """How a document is shown to people: as text for a terminal, or as Markdown.

    Args:
        form: The format, one of :data:`FORMATS`.
        markup: Whether it is Markdown.
    """

    form: str
    markup: bool

    def table(self, rows: Iterable[Mapping[str, Any]], *, width: int = 60) -> str:
        """Rows as a table."""
        return table([*rows], self.form, width=width)

    def lines(self, lines: Iterable[str]) -> str:
        """Lines, each an item of a list in Markdown."""
        return "\n".join(f"- {line}" if self.markup else line for line in lines)

    def escape(self, lines: Iterable[str]) -> str:
        """Lines in which words of the data stand."""
        return "\n".join(
            md_cell(line) if self.markup else printable(line.replace("\n", "\\n")) for line in lines
        )

    def join(self, blocks: Iterable[str]) -> str:
        """Blocks of which those of text stand together, and those of Markdown apart."""
        return ("\n\n" if self.markup else "\n").join(blocks)


TEXT, MARKDOWN = Style("text", markup=False), Style("md", markup=True)


# ----------------------------------------------------------------------
# What a result shows of itself (`planner_eval.base.formats.View`), written.
def write_text(document: Callable[[Style], Iterable[str]]) -> Iterator[str]:
    """A document as text."""
    yield from document(TEXT)


def write_markdown(document: Callable[[Style], Iterable[str]]) -> Iterator[str]:
    """A document as Markdown."""
    yield from document(MARKDOWN)


def write_json(data: Callable[[], Any]) -> Iterator[str]:
    """Data as JSON; what comes in pieces is its text already."""
    value = data()
    yield from value if isinstance(value, Iterator) else [json.dumps(value, ensure_ascii=False, indent=1)]


def write_json_lines(records: Callable[[], Iterable[Any]]) -> Iterator[str]:
    """A line of JSON a value."""
    return join_pieces(json.dumps(record, ensure_ascii=False) for record in records())


def write_csv(rows: Callable[[], Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """Rows as CSV."""
    return table_pieces(rows(), "csv")


def write_whole(text: Callable[[], str]) -> Iterator[str]:
    """What is a text of its format already."""
    yield text()


def _text_pieces(rows: Iterable[Mapping[str, Any]], width: int) -> Iterator[str]:
    columns: list[str] = []
    heads: list[str] = []
    widths: list[int] = []
    right: list[bool] = []
    for row in rows:
        if not columns:
            columns = list(row)
            heads = [one_line(name, width) for name in columns]
            widths, right = [len(head) for head in heads], [True] * len(heads)
        for k, name in enumerate(columns):
            value = row.get(name)
            widths[k] = max(widths[k], len(one_line(_cell(value), width)))
            right[k] = right[k] and (value is None or isinstance(value, (int, float)))
    if not columns:
        return

    def line(cells: Iterable[str]) -> str:
        padded = zip(cells, widths, right, strict=True)
        return "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in padded).rstrip()

    yield line(heads)
    for row in rows:
        yield "\n" + line(one_line(_cell(row.get(name)), width) for name in columns)


def json_array(items: Iterable[str]) -> Iterator[str]:
    r"""An array as ``json.dumps(…, indent=1)`` writes it, of items that are written so.

    >>> "".join(json_array(["1", "[]"])), "".join(json_array([]))
    ('[\n 1,\n []\n]', '[]')
    """
    lead = "[\n "
    for item in items:
        yield lead + item.replace("\n", "\n ")
        lead = ",\n "
    yield "\n]" if lead[0] == "," else "[]"


def table_head(columns: Sequence[str], format: str) -> list[str]:
    """The lines before the rows of a table as ``"csv"`` or ``"md"``.

    >>> table_head(["name", "n"], "md")
    ['| name | n |', '| --- | --- |']
    """
    rule = [table_line(["---"] * len(columns), format)] if format == "md" else []
    return [table_line(columns, format), *rule]


def table_line(values: Sequence[Any], format: str) -> str:
    r"""A row of a table as ``"csv"`` or ``"md"``, without its line end.

    >>> table_line(["a,b", 1, None], "csv"), table_line(["a|b", 1, None], "md")
    ('"a,b",1,', '| a\\|b | 1 | – |')
    """
    if format == "md":
        return "| " + " | ".join(md_cell(_cell(value)) for value in values) + " |"
    import csv

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([v if v is None or isinstance(v, (int, float)) else csv_cell(_cell(v)) for v in values])
    return out.getvalue().removesuffix("\n")


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return ratio_text(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict, tuple)) else str(value)


def csv_cell(text: str) -> str:
    r"""Foreign text as a cell of CSV: printable, and no formula of a spreadsheet.

    >>> csv_cell("=cmd|x"), csv_cell("-5"), csv_cell("a\x1b")
    ("'=cmd|x", '-5', 'a\\x1b')
    """
    text = printable(text)
    return "'" + text if text[:1] in _FORMULA and text and not _is_number(text) else text


def md_cell(text: str) -> str:
    r"""Foreign text as a cell of a Markdown table: printable, one line, no markup that does anything.

    >>> md_cell("a|b"), md_cell("<script>"), md_cell("![x](http://y)")
    ('a\\|b', '&lt;script>', '![x]\\(http://y)')
    """
    text = printable(text).replace("\n", "\\n").replace("\\|", "\\&#124;").replace("|", "\\|")
    return text.replace("<", "&lt;").replace("](", "]\\(")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
