"""Tables of systems in writing: for people, for papers and for programs.

Names of systems are foreign text: each format writes them so that they stay a text there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from planner_eval.base.formats import View
from planner_eval.base.tables import TEXT
from planner_eval.base.text import JsonObject, one_line
from planner_eval.results.system_names import free_names, letter_legend, letter_names
from planner_eval.results.table import Cell, ColumnHead, Table, number_text
from planner_eval.results.views.compare import TERMINAL_WIDTH

# ----------------------------------------------------------------------
# Tables of systems in writing.
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|$~&#])")
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "–": "--", "…": r"\dots{}", "\0": "-{}", "[": "{[}", "*": "{*}",
}  # fmt: skip


def table_view(table: Table, *, intervals: bool = True) -> View:
    r"""What a table shows: text a row a figure, other documents a row a system, programs one a cell.

    Args:
        table: The table.
        intervals: Whether figures have their intervals beside them.

    >>> from planner_eval.results.table import MeasuredFigure, make_table
    >>> table = make_table("", [ColumnHead("", "exact", "exact")], ["a|b"], [[MeasuredFigure(0.5)]])
    >>> print(table_view(table).text("md").splitlines()[2])
    | a\|b | 0.500 |
    """
    return View(
        document=lambda style: [(_markdown if style.markup else _text)(table, intervals)],
        paper=lambda: _latex(table, intervals),
        table=lambda: _cell_rows(table),
    )


def interval_text(cell: Cell, head: ColumnHead, between: str = "–") -> str:
    """The interval of a figure; "" without one."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number_text(cell.low, head)}{between}{number_text(cell.high, head)}]"


def plain_cell(
    cell: Cell, head: ColumnHead, intervals: bool, mark: Callable[[str], str] = "{}^".format, star: str = "*"
) -> str:
    """A cell as text; `mark` says how the best of a column stands out, and a star what is worse."""
    if cell.value is None:
        return "–"
    value = number_text(cell.value, head)
    value = mark(value) if cell.best else f"{value}{star}" if cell.worse else value
    return " ".join(filter(None, (value, interval_text(cell, head) if intervals else "")))


# ---------------------------------------------------------------- for people
def _text(table: Table, intervals: bool) -> str:
    names = free_names((one_line(row.name, 40) for row in table.rows), heads=("", "figure"))
    letters = letter_names(len(names))
    body = _columns(table, names, intervals)
    legend = ""
    if max(map(len, body.splitlines()), default=0) > TERMINAL_WIDTH and len(names) > 1:
        legend = letter_legend([row.name for row in table.rows])
        body = _columns(table, letters, intervals)
    notes = "\n".join(one_line(note, 400) for note in _notes(table, "^ best; "))
    return "\n\n".join(filter(None, (table.title, legend, body, notes)))


def _columns(table: Table, names: Sequence[str], intervals: bool) -> str:
    """A row a figure, a column a system."""
    rows = []
    grouped = any(head.group for head in table.heads)
    for index, head in enumerate(table.heads):
        row = {"": head.group} if grouped else {}
        row["figure"] = head.name + " ↓" * head.lower
        rows.append(
            row
            | {n: plain_cell(r.cells[index], head, intervals) for n, r in zip(names, table.rows, strict=True)}
        )
    return TEXT.table(rows)


def _notes(table: Table, best: str) -> list[str]:
    """The notes; where one says that the best is marked, how."""
    marked = "the best of each column is marked; "
    return [note.replace(marked, best, 1) if note.startswith(marked) else note for note in table.notes]


# ---------------------------------------------------------------- documents
def _markdown(table: Table, intervals: bool) -> str:
    def escaped(text: str) -> str:
        return _MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text, 400))

    heads = ["system", *(escaped(head.title + " ↓" * head.lower) for head in table.heads)]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * len(table.heads)}"]
    for row in table.rows:
        cells = [
            plain_cell(cell, head, intervals, "**{}**".format, r"\*")
            for cell, head in zip(row.cells, table.heads, strict=True)
        ]
        lines.append(f"| {' | '.join([escaped(row.name), *cells])} |")
    notes = "\n".join(f"- {escaped(note)}" for note in _notes(table, "bold is the best of each column; "))
    title = f"**{escaped(table.title)}**" if table.title else ""
    return "\n\n".join(filter(None, (title, "\n".join(lines), notes)))


def latex_text(text: str) -> str:
    r"""A text as LaTeX sets it, on one line.

    >>> print(latex_text(r"50% of a_b\c"))
    50\% of a\_b\textbackslash{}c
    """
    line = one_line(text, 400).replace("--", "\0-")  # two hyphens would be set as a dash
    return "".join(_LATEX_ESCAPES.get(char, char) for char in line)


def _latex(table: Table, intervals: bool) -> str:
    def cell(table_cell: Cell, head: ColumnHead) -> str:
        if table_cell.value is None:
            return "--"
        value = number_text(table_cell.value, head)
        value = (
            rf"\textbf{{{value}}}" if table_cell.best else f"{value}$^{{*}}$" if table_cell.worse else value
        )
        ends = interval_text(table_cell, head, ", ") if intervals else ""
        return rf"{value} {{\scriptsize {ends}}}" if ends else value

    arrows = [latex_text(head.name) + r" $\downarrow$" * head.lower for head in table.heads]
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{latex_text(table.title)}}}"] if table.title else []
    lines += [rf"\begin{{tabular}}{{l{'r' * len(table.heads)}}}", r"\hline"]
    lines += _latex_groups(table.heads)
    lines += [rf"{' & '.join(['System', *arrows])} \\", r"\hline"]
    for row in table.rows:
        cells = (cell(table_cell, head) for table_cell, head in zip(row.cells, table.heads, strict=True))
        lines.append(rf"{' & '.join([latex_text(row.name), *cells])} \\")
    lines += [r"\hline", r"\end{tabular}"]
    notes = [latex_text(note) for note in _notes(table, "bold is the best of each column; ")]
    if notes:
        body = " \\\\\n".join(notes)
        lines += [r"\begin{flushleft}\footnotesize", body, r"\end{flushleft}"]
    return "\n".join([*lines, r"\end{table}"])


def _latex_groups(heads: Sequence[ColumnHead]) -> list[str]:
    if not any(head.group for head in heads):
        return []
    spans = [(name, len(list(members))) for name, members in groupby(head.group for head in heads)]
    cells = (rf"\multicolumn{{{count}}}{{c}}{{{latex_text(name)}}}" for name, count in spans)
    return [rf" & {' & '.join(cells)} \\"]


# ---------------------------------------------------------------- programs
def _cell_rows(table: Table) -> Iterator[JsonObject]:
    """A row a cell, for programs."""
    for row in table.rows:
        for cell, head in zip(row.cells, table.heads, strict=True):
            yield {
                "system": one_line(row.name, 400),
                "group": head.group,
                "column": head.name,
                "figure": head.figure,
                "unit": head.unit,
                "value": cell.value,
                "low": cell.low,
                "high": cell.high,
                "samples": cell.n,
                "best": "yes" if cell.best else "",
                "p": cell.p,
                "worse": "yes" if cell.worse else "",
                "run": one_line(cell.run, 400),
            }
