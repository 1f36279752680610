"""Tables and data in writing: the same rows as text, Markdown, CSV, JSON or JSON lines."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from planner_eval.base.counts import ratio_text
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import join_pieces, one_line, printable, to_json

_FORMULA = "=+-@\t\r"
"""What makes a spreadsheet take a cell for a formula."""

Rows: TypeAlias = "list[dict[str, Any]]"
"""The rows of a table, each by its columns."""


class Style(NamedTuple):
    """How tables and documents are written: as text for people, as Markdown, or as CSV for programs.

    Args:
        markup: Whether it is Markdown.
        line: Writes a row by itself, without its line end; None where columns stand below one another.
    """

    markup: bool = False
    line: Callable[[Sequence[Any]], str] | None = None

    def table(self, rows: Iterable[Mapping[str, Any]], *, width: int = 60) -> str:
        r"""Rows of equal keys as a table, without a last line end; "" for no rows.

        Args:
            rows: The rows; columns are the keys of the first.
            width: The widest cell of a table for people.

        >>> print(TEXT.table([{"name": "a", "n": 1}, {"name": "bc", "n": 20}]))
        name   n
        a      1
        bc    20
        """
        return "".join(self.pieces([*rows], width))

    def pieces(self, rows: Iterable[Any], width: int = 60) -> Iterator[str]:
        r"""The same in pieces; as text the rows are gone through twice.

        >>> "".join(CSV.pieces(iter([{"n": 1}, {"n": 2}])))
        'n\n1\n2'
        """
        return _text_pieces(rows, width) if self.line is None else join_pieces(self.row_lines(rows))

    def row_lines(self, rows: Iterable[Mapping[str, Any] | str]) -> Iterator[str]:
        """The same line by line, of a style whose rows stand by themselves; a text stands as it is."""
        columns: list[str] = []
        assert self.line is not None
        for row in rows:
            if isinstance(row, str):
                yield row
                continue
            if not columns:
                columns = list(row)
                yield self.line(columns)
                yield from [self.line(["---"] * len(columns))] if self.markup else []
            yield self.line([row.get(name) for name in columns])

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


def _markdown_line(values: Sequence[Any]) -> str:
    r"""A row of a table as Markdown.

    >>> _markdown_line(["a|b", 1, None])
    '| a\\|b | 1 | – |'
    """
    return "| " + " | ".join(md_cell(_cell(value)) for value in values) + " |"


def _csv_line(values: Sequence[Any]) -> str:
    """A row of a table as CSV.

    >>> _csv_line(["a,b", 1, None])
    '"a,b",1,'
    """
    import csv

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([v if v is None or isinstance(v, (int, float)) else csv_cell(_cell(v)) for v in values])
    return out.getvalue().removesuffix("\n")


TEXT, MARKDOWN, CSV = Style(), Style(markup=True, line=_markdown_line), Style(line=_csv_line)


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
    yield from value if isinstance(value, Iterator) else [to_json(value, 1)]


def write_json_lines(records: Callable[[], Iterable[Any]]) -> Iterator[str]:
    """A line of JSON a value; one that is a text is its line already."""
    return join_pieces(record if isinstance(record, str) else to_json(record) for record in records())


def write_csv(rows: Callable[[], Iterable[Mapping[str, Any]]]) -> Iterator[str]:
    """Rows as CSV."""
    return CSV.pieces(rows())


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


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return ratio_text(value)
    if isinstance(value, str):
        return value
    return to_json(value) if isinstance(value, (list, dict, tuple)) else str(value)


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
