"""The tables and charts of the papers: which figure, of which samples and runs, stands in which cell.

They are data: of systems one file a benchmark, ``data/layouts/NAME.toml``, whose head explains the keys; of
the data themselves ``data/papers.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder, read
from planner_eval.base.text import did_you_mean
from planner_eval.benchmarks.answers import AnsweredSample
from planner_eval.benchmarks.report import Cell, Figure, Report, Run, SampleScore
from planner_eval.comparison.metrics.facts import Share
from planner_eval.results.columns import Column
from planner_eval.results.drawing.charts import Bars, Chart, Point
from planner_eval.results.intervals import intervals, proportion

if TYPE_CHECKING:
    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# The layouts of the papers' tables: which figure, of which samples and runs, stands in which column.
class Part(NamedTuple):
    """Samples that have a value under a key."""

    key: str
    value: str


class LayoutColumn(NamedTuple):
    """One column of a table.

    Args:
        group: What stands above several columns; "" for nothing.
        head: What stands above this one.
        figure: The figure, as the benchmark's report calls it.
        of: The figures of a sample that may add up to it, the likeliest first.
        only: The samples that have to: key → value; all where empty.
        part: The samples that are scored by themselves; None for all together.
        where: The runs that it is of: what was asked of them, key → value or several.
        settings: The benchmark's own options that it is scored with.
        unit: How it is shown: ``"share"``, ``"percent"`` or ``"count"``, a share of how many there are.
        digits: After the point.
        percent_in: The variants whose report gives this figure in percent.
    """

    group: str
    head: str
    figure: str
    of: tuple[str, ...] = ()
    only: Mapping[str, str] = {}
    part: Part | None = None
    where: Mapping[str, Any] = {}
    settings: Mapping[str, str] = {}
    unit: str = "share"
    digits: int = 3
    percent_in: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Both heads."""
        return " ".join(filter(None, (self.group, self.head)))


class Layout(NamedTuple):
    """A table.

    Args:
        name: What users call it; "" for one of their own.
        title: What stands above it.
        columns: Its columns.
        rows: What was asked of a run that belongs to a row's name.
        note: What a reader should know.
    """

    name: str
    title: str
    columns: tuple[LayoutColumn, ...]
    rows: tuple[str, ...] = ()
    note: str = ""


def layouts(benchmark: str) -> dict[str, Layout]:
    """The layouts of a benchmark's tables by name, that of its main table first; none where it has none.

    >>> [column.title for column in layouts("nestful")["nestful-2"].columns]
    ['Win Rate One-shot direct', 'Win Rate ReAct']
    """
    import tomllib

    path = folder("data") / "layouts" / f"{benchmark}.toml"
    if not path.is_file():
        return {}
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    read_layouts = {}
    for name, data in tables.items():
        shared = {"unit": data["unit"], "digits": data["digits"]}
        columns = tuple(column for block in data["block"] for column in _read_columns({**shared, **block}))
        rows, note = tuple(data.get("rows", ())), data.get("note", "")
        read_layouts[name] = Layout(name, data["title"], columns, rows, note)
    return read_layouts


def layout(name: str, benchmark: str) -> Layout:
    """The layout of a name.

    Raises:
        InputError: the benchmark has none of that name; says which there are.

    >>> layout("callnavi-7", "callnavi").rows
    ()
    """
    available = layouts(benchmark)
    if name not in available:
        choices = f"{benchmark} has {', '.join(available)}" if available else f"{benchmark} has none"
        hint = did_you_mean(name, available, lead="; ")
        raise InputError(f"there is no layout {name!r} for these runs; {choices}{hint}")
    return available[name]


def plain_layout(figures: Iterable[str], key: str | None, values: Sequence[str], **how: Any) -> Layout:
    """A table of figures, for each value of a key where one is named.

    Args:
        figures: Their names.
        key: The key.
        values: Its values, in order.
        how: What columns share: their unit and digits.

    >>> [column.title for column in plain_layout(["exact"], "depth", ["1", "2"]).columns]
    ['depth 1 exact', 'depth 2 exact']
    """
    names = list(figures)
    if key is None:
        columns = [LayoutColumn("", name, name, (name,), **how) for name in names]
    else:
        columns = [
            LayoutColumn(f"{key} {value}", name, name, (name,), part=Part(key, value), **how)
            for value in values
            for name in names
        ]
    return Layout("", "", tuple(columns))


def _read_columns(block: Mapping[str, Any]) -> Iterator[LayoutColumn]:
    """Those of a block: a figure says more than its group, and this more than the block."""
    for group, figure in product(block["groups"], block["figures"]):
        name = figure["figure"].replace("{}", group.get("name", ""))
        only, where = (
            {**block.get(key, {}), **group.get(key, {}), **figure.get(key, {})} for key in ("only", "where")
        )
        yield LayoutColumn(
            group["head"],
            figure["head"],
            name,
            tuple(figure.get("of", (name,))),
            only,
            Part("part", group["part"]) if "part" in group else None,
            where,
            block.get("set", {}),
            figure.get("unit", block["unit"]),
            figure.get("digits", block["digits"]),
            tuple(figure.get("percent_in", ())),
        )


# ----------------------------------------------------------------------
# Charts of scores under a benchmark, as the figures of its paper have them.
class SampleResult(NamedTuple):
    """A sample with its answer, "" where a run of score has kept none, and what became of it."""

    record: AnsweredSample
    row: SampleScore


class System(NamedTuple):
    """What a chart is made of: one system's answers, scored.

    Args:
        name: What it is called.
        scored: What the benchmark said of it.
        asked: What was asked of it, as layouts name it; empty where that is not known.
        run: Runs answers, where it was scored with them run.
        samples: Reads the samples by id, of a run of score, which keeps none.
    """

    name: str
    scored: Scored
    asked: Mapping[str, Any] = {}
    run: Run | None = None
    samples: Callable[[], Mapping[str, Sample]] | None = None

    @property
    def report(self) -> Report:
        """The last of its variants: the corrected one where there is one."""
        return [*self.scored.reports.values()][-1]

    def rows(self) -> list[SampleResult]:
        """Each sample with what became of its answer.

        Raises:
            InputError: the samples are not at hand.
        """
        records, rows = self.scored.matched.records, self.report.rows
        if not records and self.samples is not None:
            samples_by_id = self.samples()
            if missing_id := next((row.id for row in rows if row.id not in samples_by_id), None):
                raise InputError(
                    f"{self.name}: the gold data has no sample {missing_id!r}, which the run has"
                )
            records = tuple(AnsweredSample(samples_by_id[row.id], "") for row in rows)
        if not records:
            raise InputError(
                f"{self.name}: this plot needs the samples, which a run of score does not keep: score the "
                "answers themselves, or planeval table RUN --plot FILE, which reads the samples again"
            )
        return [*map(SampleResult, records, rows)]


class ChartSpec(NamedTuple):
    """A chart that can be made.

    Args:
        title: What it shows, in one line.
        source: Which figure or table of the paper it is like.
        make: Makes it of systems; InputError says what they lack.
        settings: The benchmark's options that the answers have to be scored with.
        name: What users call it.
    """

    title: str
    source: str
    make: Callable[[Sequence[System]], Chart]
    settings: Mapping[str, str] = {}
    name: str = ""


def find_chart(bench: Benchmark, name: str | None) -> ChartSpec:
    """A benchmark's chart by its name, and the first where none is named.

    Args:
        bench: The benchmark.
        name: The chart's name, e.g. ``"nestful-6"``.

    Raises:
        InputError: there is no such chart.
    """
    charts = bench.charts() if bench.charts else {}
    if not charts:
        raise InputError(f"{bench.title} has no plots")
    name = next(iter(charts)) if name is None else name
    if name not in charts:
        hint = did_you_mean(name, charts, f"expected one of {', '.join(charts)}")
        raise InputError(f"{bench.title} has no metric {name!r}: {hint}")
    return charts[name]._replace(name=name)


def point(shares: Iterable[Share | None]) -> Point:
    """A figure that shares of samples add up to, in percent, with its interval.

    >>> found = point([Share(1, 1), Share(0, 1), None])
    >>> found.value, found.n, round(found.low)
    (50.0, 2, 1)
    """
    present = [share for share in shares if share is not None]
    total = sum(present, Share(0, 0))
    if not total.whole:
        return Point(None, n=len(present))
    span = intervals({"": Column(present)})[""]
    low, high = (None, None) if span is None else (100 * span.low, 100 * span.high)
    return Point(100 * total.part / total.whole, low, high, len(present))


def point_of(figure: Figure | None) -> Point:
    """A figure of a report in percent, of which each counted thing is a yes or a no."""
    if figure is None or not figure.denominator or figure.numerator is None:
        return Point(None)
    span = proportion(figure.numerator, figure.denominator)
    assert span is not None
    value = 100 * figure.numerator / figure.denominator
    return Point(value, 100 * span.low, 100 * span.high, int(figure.denominator))


def bars(
    head: str, ticks: Mapping[Any, str], points: Mapping[str, Mapping[Any, Point]], across: str, up: str
) -> Bars:
    """Groups of bars, a bar a system.

    Args:
        head: What stands above.
        ticks: Group → what stands below it.
        points: System → its figure of each group.
        across: What the groups are of.
        up: What the bars show.
    """
    series = {
        name: tuple(by_group.get(group, Point(None)) for group in ticks) for name, by_group in points.items()
    }
    return Bars(head, tuple(ticks.values()), across, up, series)


def figure_bars(
    head: str, systems: Sequence[System], groups: Mapping[str, tuple[str, str]], across: str, up: str
) -> Bars | None:
    """Groups of bars, each of a figure of the whole report; None where no system has any of them.

    Args:
        head: What stands above.
        systems: The systems.
        groups: Group → how reports call its figure, and what stands below it; without those that none has.
        across: What the groups are of.
        up: What the bars show.
    """
    points = {
        system.name: {
            group: point_of(next((f for f in system.report.figures if f.name == name), None))
            for group, (name, _) in groups.items()
        }
        for system in systems
    }
    ticks = {
        group: title
        for group, (_, title) in groups.items()
        if any(by_group[group].value is not None for by_group in points.values())
    }
    return bars(head, ticks, points, across, up) if ticks else None


def own_figure(row: SampleScore, name: str) -> Share | None:
    """A figure of one sample, from its counts or as the number that it is; 0 where it could not be scored."""
    for figure in row.figures:
        if figure.name == name:
            return figure_share(figure)
    return Share(0, 1) if row.error else None


def figure_share(figure: Figure) -> Share | None:
    """A figure from its counts or as the number that it is; None where it is neither."""
    if figure.numerator is not None and figure.denominator is not None:
        return Share(figure.numerator, figure.denominator)
    return Share(float(figure.value), 1) if isinstance(figure.value, (int, float)) else None


# ----------------------------------------------------------------------
# The tables that papers print of their data, beside what the data at hand gives.
@cache
def printed_table(benchmark: str, table: str) -> Mapping[str, tuple[Any, ...]]:
    """A table that a paper prints, of ``data/papers.toml``: the cells of each row, None for an empty one.

    >>> printed_table("appbench", "table_2")["# Samples"]
    ('200', '200', '200', '200')
    """
    import tomllib

    rows = tomllib.loads(read("data/papers.toml"))[benchmark][table]
    return {row: tuple([None if cell == "" else cell for cell in cells]) for row, cells in rows.items()}


def paper_cell(
    place: tuple[str, str, str],
    published: Any,
    value: float | None,
    sizes: tuple[int, int],
    *,
    unit: str = "samples",
    note: str = "",
) -> Cell:
    """A cell of a table of the data; its note says where not all records are at hand.

    Args:
        place: The table, the row's heading, the column's.
        published: The cell as printed; None where the paper prints none.
        value: What the records at hand give.
        sizes: How many records these are, and how many the paper has.
        unit: What the records are called.
        note: What is to be said of the cell where all are at hand.

    >>> paper_cell(("Table 1", "a", "b"), 7, 5, (4, 5)).note
    '4 of 5 samples available'
    """
    n, of = sizes
    number = float(value) if n and value is not None else None
    note = note if n == of else f"{n} of {of} {unit} available"
    return Cell(*place, None if published is None else str(published), number, n, of, note)


def paper_grid(
    table: str,
    printed: Mapping[str, Sequence[Any]],
    columns: Mapping[str, Sequence[Any]],
    measures: Mapping[str, Callable[[Any], float]],
) -> Iterator[Cell]:
    """A table of measures of several parts of the data, row by row.

    Args:
        table: The table.
        printed: Measure → its printed cells, one a column; the first is how many records each part has.
        columns: Part → its records.
        measures: Measure → how it is computed from records, one at least.
    """
    for row, cells in printed.items():
        for (column, records), published, of in zip(
            columns.items(), cells, next(iter(printed.values())), strict=True
        ):
            value = measures[row](records) if records else None
            yield paper_cell((table, row, column), published, value, (len(records), int(of)))
