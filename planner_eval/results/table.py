"""A table of systems and figures: intervals, the best of each column, who is worse, and its formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from planner_eval.base.formats import View
from planner_eval.base.tables import TEXT
from planner_eval.base.text import JsonObject, format_count, one_line
from planner_eval.comparison.metrics.facts import Tally
from planner_eval.results.columns import Column
from planner_eval.results.contrast import (
    SIGNIFICANCE_LEVEL,
    TERMINAL_WIDTH,
    free_names,
    letter_legend,
    letter_names,
)
from planner_eval.results.intervals import differences, holm, intervals


class ColumnHead(NamedTuple):
    """What a column shows.

    Args:
        group: What stands above several columns; "" for nothing.
        name: What stands above this one.
        figure: The figure's own name.
        unit: ``share``, ``percent`` or ``count``.
        digits: After the point.
        lower: Less is better.
    """

    group: str
    name: str
    figure: str
    unit: str = "share"
    digits: int = 3
    lower: bool = False

    @property
    def title(self) -> str:
        """Both heads."""
        return " ".join(filter(None, (self.group, self.name)))


class MeasuredFigure(NamedTuple):
    """One figure of one system.

    Args:
        value: The figure; None where there is none.
        tallies: Of each sample, by its id, what adds up to the figure; empty where nothing does.
        ids: The samples that it is of.
        scale: What it is shown times.
        why: Why there is no figure, or no interval.
        run: The run that it is of.
        clusters: In which cluster each sample lies, where they do.
    """

    value: float | None
    tallies: Mapping[str, Tally | None] = {}
    ids: frozenset[str] = frozenset()
    scale: float = 1
    why: str = ""
    run: str = ""
    clusters: Mapping[str, str] = {}


class Cell(NamedTuple):
    """One cell; its numbers are in the column's unit.

    Args:
        value: The figure; None where there is none.
        low: Lower end of its interval of 95 %; None without one.
        high: Upper end.
        n: How many samples it is of.
        best: No system has a better one.
        p: The probability, after Holm's correction, that it differs from the best so much by chance.
        run: The run that it is of.
        scale: What a share is shown times.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    best: bool
    p: float | None
    run: str
    scale: float = 1

    @property
    def worse(self) -> bool:
        """Whether it is surely worse than the best of its column."""
        return self.p is not None and self.p <= SIGNIFICANCE_LEVEL


class Row(NamedTuple):
    """One system."""

    name: str
    cells: tuple[Cell, ...]


class Table(NamedTuple):
    """Systems and their figures.

    Args:
        title: What stands above it; "" for nothing.
        heads: Its columns.
        rows: The systems.
        notes: What a reader should know, a sentence each: why figures are missing, how they were made.
        apart: Systems were not measured on the same samples, and so not compared.
    """

    title: str
    heads: tuple[ColumnHead, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    apart: bool

    @property
    def filled(self) -> int:
        """How many cells hold a figure."""
        return sum(cell.value is not None for row in self.rows for cell in row.cells)


def number_text(value: float, head: ColumnHead) -> str:
    """A figure as its column shows it."""
    return f"{value:.{head.digits}f}"


def make_table(
    title: str,
    heads: Sequence[ColumnHead],
    names: Sequence[str],
    measured_rows: Sequence[Sequence[MeasuredFigure]],
    *,
    notes: Sequence[str] = (),
    seed: int = 0,
) -> Table:
    """Make a table.

    In each column the others are tested against the best by the paired tests of a comparison, with Holm's
    correction over all tests of the table; only where all systems have the same samples.

    Args:
        title: What stands above it.
        heads: Its columns.
        names: The systems.
        measured_rows: Of each system its figures, one a column.
        notes: What a reader should know of it.
        seed: Where random numbers start.

    >>> from planner_eval.comparison.metrics.facts import Share
    >>> right = {str(n): Share(1, 1) for n in range(8)}
    >>> sides = [MeasuredFigure(sum(n < k for n in range(8)) / 8, {
    ...     i: Share(int(int(i) < k), 1) for i in right}, frozenset(right)) for k in (8, 1)]
    >>> table = make_table("", [ColumnHead("", "exact", "exact")], ["a", "b"], [[one] for one in sides])
    >>> [(row.cells[0].best, row.cells[0].worse) for row in table.rows]
    [(True, False), (False, True)]
    """
    measured_rows = [*zip(*map(_drop_partial_tallies, zip(*measured_rows, strict=True)), strict=True)]
    best: list[frozenset[int]] = []
    tested: dict[tuple[int, int], float] = {}
    mismatches: dict[str, list[str]] = {}
    for index, head in enumerate(heads):
        column = [row[index] for row in measured_rows]
        present = [k for k, measured in enumerate(column) if measured.value is not None]
        same = len({column[k].ids for k in present}) < 2
        best.append(_best_rows(column, present, head) if same and len(present) > 1 else frozenset())
        if not same:
            mismatches.setdefault(_unshared_samples_note(names, column, present), []).append(head.title)
        # tied: how many tests there are is no chance
        for k in present[1:] if same and not best[index] else ():
            tested |= {(k, index): 1.0} if column[k].tallies else {}
        for k in present if best[index] else ():
            if k != min(best[index]):
                p = _test_against_best(column[k], column[min(best[index])], head.figure, seed)
                tested |= {} if p is None else {(k, index): p}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    rows = tuple(
        Row(
            name,
            tuple(
                _cell(measured, heads[index].figure, k in best[index], corrected.get((k, index)))
                for index, measured in enumerate(row)
            ),
        )
        for k, (name, row) in enumerate(zip(names, measured_rows, strict=True))
    )
    remarks = [
        *_missing_notes(heads, names, measured_rows),
        *(_reason_with_columns(why, where, heads) for why, where in mismatches.items()),
    ]
    remarks += [_best_note(len(corrected))] if any(best) else []
    return Table(title, tuple(heads), rows, (*remarks, *notes), bool(mismatches))


_NO_INTERVAL_NOTE = "no interval and no test: it is not a mean over samples"


def _drop_partial_tallies(column: Sequence[MeasuredFigure]) -> list[MeasuredFigure]:
    """A column with intervals for all of its figures, or for none: what adds up by chance is none."""
    if all(measured.value is None or measured.tallies for measured in column):
        return [*column]
    return [
        measured
        if measured.value is None
        else measured._replace(tallies={}, why=measured.why or _NO_INTERVAL_NOTE)
        for measured in column
    ]


def _best_rows(column: Sequence[MeasuredFigure], present: Sequence[int], head: ColumnHead) -> frozenset[int]:
    sign = -1 if head.lower else 1
    values = {k: sign * (column[k].value or 0.0) for k in present}
    most = max(values.values())
    leaders = frozenset(k for k, value in values.items() if most - value < 1e-12)
    return leaders if len(leaders) < len(present) else frozenset()


def _test_against_best(
    candidate: MeasuredFigure, best: MeasuredFigure, figure: str, seed: int
) -> float | None:
    if not (candidate.tallies and best.tallies):
        return None
    pairs = Column()
    for key in candidate.tallies.keys() | best.tallies.keys():
        pairs.add((best.tallies.get(key), candidate.tallies.get(key)), candidate.clusters.get(key))
    return differences({figure: pairs}, seed=seed)[figure].p


def _cell(measured: MeasuredFigure, figure: str, best: bool, p: float | None) -> Cell:
    if measured.value is None:
        return Cell(None, None, None, len(measured.ids), False, None, measured.run, measured.scale)
    column = Column()
    for key, tally in measured.tallies.items():
        column.add(tally, measured.clusters.get(key))
    span = intervals({figure: column})[figure]
    low, high = (None, None) if span is None else (span.low * measured.scale, span.high * measured.scale)
    return Cell(
        measured.value * measured.scale, low, high, len(measured.ids), best, p, measured.run, measured.scale
    )


# ---------------------------------------------------------------- what is said
def _missing_notes(
    heads: Sequence[ColumnHead], names: Sequence[str], measured_rows: Sequence[Sequence[MeasuredFigure]]
) -> list[str]:
    """Why cells are empty, or without an interval."""
    reasons: dict[tuple[str, str, bool], list[str]] = {}
    for name, row in zip(names, measured_rows, strict=True):
        for head, measured in zip(heads, row, strict=True):
            if measured.why:
                reasons.setdefault((name, measured.why, measured.value is None), []).append(head.title)
    merged: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for (name, why, empty), where in reasons.items():
        merged.setdefault((why, empty, tuple(where)), []).append(name)
    remarks = []
    for (why, empty, columns), who in merged.items():
        named = ", ".join(who) if len(who) < len(names) else "all"
        remarks.append(f"{'–, ' if empty else ''}{named}: {_reason_with_columns(why, columns, heads)}")
    return remarks


def _reason_with_columns(why: str, where: Sequence[str], heads: Sequence[ColumnHead]) -> str:
    """A reason with the columns that it is of; a group of which it is of all is named once."""
    if len(where) == len(heads):
        return why
    named: dict[str, None] = {}
    for head in heads:
        covers_group = head.group and all(
            other.title in where for other in heads if other.group == head.group
        )
        named |= {head.group if covers_group else head.title: None} if head.title in where else {}
    return f"{why} ({', '.join(named)})"


def _unshared_samples_note(
    names: Sequence[str], column: Sequence[MeasuredFigure], present: Sequence[int]
) -> str:
    common = frozenset.intersection(*(column[k].ids for k in present))
    counts = ", ".join(f"{names[k]} {len(column[k].ids):,}" for k in present)
    return f"different samples, so no best is marked: {counts}; in common {len(common):,}"


def _best_note(tests: int) -> str:
    if not tests:
        return "the best of each column is marked; nothing was tested"
    return (
        f"the best of each column is marked; * is significantly worse: paired tests against the best, Holm's "
        f"correction over {format_count(tests, 'test')}, at {SIGNIFICANCE_LEVEL}"
    )


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
