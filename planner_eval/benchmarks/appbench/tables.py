"""The tables and charts of AppBench's paper, each printed cell beside the recomputed one.

Source: the paper, Table 2 (section 3.4, appendix A.2), Table 4 (section 5.3), Figure 4 (section 5.1).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.benchmarks.appbench.corrected import Outcome, outcomes, total
from planner_eval.benchmarks.appbench.official import official_components
from planner_eval.benchmarks.appbench.reading import normalize_plan, read_prediction
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.compare import Rows, part_reports, part_rows, records_by_part
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import ChartSpec, System, own_figure, point, printed_table
from planner_eval.benchmarks.report import Cell, Records
from planner_eval.comparison.metrics.facts import Share
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import components, parallel_scale
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing.charts import MIN_CELL_SAMPLES, Bars, Chart, HeatMap

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Run
    from planner_eval.benchmarks.score import Scored

# ----------------------------------------------------------------------
# The tables of AppBench's paper, each printed cell beside the recomputed one, and its figure 4.
PARTS = ("SS", "SM", "MS", "MM")
_TABLE_2 = printed_table("appbench", "table_2")
_TABLE_4 = printed_table("appbench", "table_4")
_TABLE_4_COLUMNS = ("Keys I", "Keys D", "Values I", "Values D", "T", "S")


@dataclass(frozen=True, slots=True)
class _PartSummary:
    """One part's samples as far as Table 2 looks at them."""

    samples: Sequence[Sample]
    plans: Sequence[Plan]
    sizes: Sequence[Sequence[int]]


def table2(samples: Iterable[Sample], *, official: bool = False) -> list[Cell]:
    """Table 2: samples, apps, APIs, arguments, sequential and parallel scale of each part.

    The sequential scale is a component's size in calls, averaged over components; the parallel scale is
    the number of components of a sample (appendix A.2).

    Args:
        samples: Of any parts.
        official: Components as the published code finds them, see :mod:`.topology`; else the weakly
            connected ones, a name meaning the nearest earlier call that returns it.

    Returns:
        The table row by row; a value is None where no sample of the part is at hand.

    >>> table2([])[0].published
    '200'
    """
    by_category: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_category[sample.category.upper()].append(sample)
    summaries = {category: _summarize_part(by_category[category], official) for category in PARTS}
    return [
        _cell(row, category, published, summaries[category])
        for row, cells in _TABLE_2.items()
        for category, published in zip(PARTS, cells, strict=True)
    ]


def _summarize_part(samples: Sequence[Sample], official: bool) -> _PartSummary:
    readable, plans, sizes = [], [], []
    for sample in samples:
        if not _is_complete(sample.gold):
            continue  # the cell says how many samples it was computed from
        try:
            plan = parse(sample.gold, dialect="appbench")
        except ParseError:
            continue
        readable.append(sample)
        plans.append(plan)
        groups = official_components(sample.gold) if official else components(_keep_backward_references(plan))
        sizes.append([len(group) for group in groups])
    return _PartSummary(readable, plans, sizes)


def _is_complete(gold: Any) -> bool:
    """Whether a record has the fields that the table counts."""
    keys = ("api_results", "used_api", "used_app")
    return isinstance(gold, dict) and all(isinstance(gold.get(key), list) for key in keys)


def _keep_backward_references(plan: Plan) -> Plan:
    """The plan with references to earlier calls alone."""
    edges = tuple(edge for edge in plan.edges if edge.producer < edge.consumer)
    return Plan(plan.calls, edges)


def _mean(values: Iterable[int]) -> float:
    value_list = list(values)
    return sum(value_list) / len(value_list) if value_list else 0.0


def _count_used_arguments(samples: Iterable[Sample]) -> Iterator[int]:
    """The number of arguments of each entry of ``used_api``, the field that the paper's table counts."""
    for sample in samples:
        for entry in sample.gold["used_api"]:
            if isinstance(entry, dict):
                yield from map(len, entry.values())


_TABLE_2_ROWS: dict[str, Callable[[_PartSummary], float]] = {
    "# Samples": lambda p: len(p.samples),
    "# Apps": lambda p: len({call.app for plan in p.plans for call in plan.calls}),
    "# APIs": lambda p: len({call.name for plan in p.plans for call in plan.calls}),
    "Avg. Apps": lambda p: _mean(len({call.app for call in plan.calls}) for plan in p.plans),
    "Avg. APIs": lambda p: _mean(len(plan.calls) for plan in p.plans),
    "Avg. arguments": lambda p: _mean(_count_used_arguments(p.samples)),
    "Max. Seq.": lambda p: max((size for sizes in p.sizes for size in sizes), default=0),
    "Max. Para.": lambda p: max(map(len, p.sizes), default=0),
    "Avg. Seq.": lambda p: _mean(size for sizes in p.sizes for size in sizes),
    "Avg. Para.": lambda p: _mean(map(len, p.sizes)),
}
_TABLE_2_NOTES = {
    ("# Samples", "MS"): "the released file has 201 records",
    ("Max. Seq.", "MM"): "no sample of the released file has more than 7 calls",
}


def _cell(row: str, category: str, published: str, summary: _PartSummary) -> Cell:
    n = len(summary.samples)
    total = int(_TABLE_2["# Samples"][PARTS.index(category)])
    value = float(_TABLE_2_ROWS[row](summary)) if n else None
    cell = Cell("Table 2", row, category, published, value, n, total)
    if not n:
        return Cell("Table 2", row, category, published, None, 0, total, "no sample available")
    if cell.agrees:
        return cell
    other = "the table was made from another version of this file"
    return Cell(
        "Table 2", row, category, published, value, n, total, _TABLE_2_NOTES.get((row, category), other)
    )


def table4(outcomes: Iterable[Outcome], category: str) -> list[Cell]:
    """Table 4's row of one part: key errors and value errors, dependent and independent, time and space.

    The text gives shares of all arguments, but the printed shares are multiples of one sample, so they
    count samples with such an error; both are given. Time and space are shares of all wrong arguments.

    Args:
        outcomes: What became of the part's answers, see :func:`.counting.outcomes`.
        category: ``"SS"``, ``"SM"``, ``"MS"`` or ``"MM"``.

    Returns:
        Percentages; a value is None where there is nothing to divide by. The printed cells are GPT-4o's.
    """
    counts = [outcome.counts for outcome in outcomes if outcome.counts is not None]
    c = total(counts)
    independent = {
        "missing": sum(count.missing > count.missing_dependent for count in counts),
        "wrong": sum(count.wrong > count.wrong_dependent for count in counts),
    }
    of_arguments = (
        c.missing - c.missing_dependent,
        c.missing_dependent,
        c.wrong - c.wrong_dependent,
        c.wrong_dependent,
    )
    of_samples = (
        independent["missing"],
        c.with_missing_dependent,
        independent["wrong"],
        c.with_wrong_dependent,
    )
    cells = []
    for column, published, hits in zip(_TABLE_4_COLUMNS, _TABLE_4[category][:4], of_samples, strict=False):
        note = "samples with such an error; GPT-4o's cell"
        cells.append(_percent_cell(category, column, published, (hits, c.samples), note))
    for column, hits in zip(_TABLE_4_COLUMNS, of_arguments, strict=False):
        cells.append(
            _percent_cell(category, f"{column}, of arguments", None, (hits, c.gold), "as stated in the text")
        )
    for column, published, hits in zip(
        _TABLE_4_COLUMNS[4:], _TABLE_4[category][4:], (c.time, c.place), strict=True
    ):
        note = "of missing and wrong arguments; GPT-4o's cell"
        cells.append(_percent_cell(category, column, published, (hits, c.missing + c.wrong), note))
    return cells


def _percent_cell(
    category: str, column: str, published: str | None, counts: tuple[int, int], note: str
) -> Cell:
    hits, size = counts
    return Cell("Table 4", category, column, published, 100 * hits / size if size else None, size, None, note)


def figure4(outcomes: Iterable[Outcome]) -> Rows:
    """Figure 4: exact match of arguments by parallel and sequential scale.

    Args:
        outcomes: What became of the answers of all parts.

    Returns:
        A row a cell in order of both scales: the components of a sample, their average size, the samples of
        these scales, the share whose arguments are all right, and whether the figure shows so few.
    """
    grid: dict[tuple[int, float], list[int]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.gold is not None and outcome.counts is not None:
            groups = components(_keep_backward_references(outcome.gold))
            scale = (len(groups), len(outcome.gold.calls) / len(groups)) if groups else (0, 0.0)
            grid[scale].append(outcome.counts.arguments_exact)
    return [
        {"parallel": parallel, "sequential": sequential, "samples": len(hits)}
        | {"exact match": sum(hits) / len(hits)}
        | {"in the figure": "yes" if len(hits) >= MIN_CELL_SAMPLES else "no: fewer than ten"}
        for (parallel, sequential), hits in sorted(grid.items())
    ]


# ----------------------------------------------------------------------
# Which APIs of which apps are used: the list of the paper, in the gold plans, and in answers.
TABLE_8 = printed_table("appbench", "table_8")
"""As printed, but for "Restaurant", which the data calls Restaurants."""
_PUBLISHED_SAMPLES = 800


def table8(samples: Iterable[Sample]) -> list[Cell]:
    """Table 8: how many APIs of each app the gold plans call, and how often.

    Args:
        samples: Of any parts.

    Returns:
        A row an app, those that are not printed last; values are None where no sample is at hand.

    >>> [cell.published for cell in table8([])][:3]
    ['3', None, '2']
    """
    used: dict[str, Counter[str]] = defaultdict(Counter)
    n = 0
    for sample in samples:
        plan = _read_gold_plan(sample)
        if plan is not None:
            n += 1
            for call in plan.calls:
                used[str(call.app)][call.name] += 1
    cells: list[Cell] = []
    for app in (*TABLE_8, *sorted(used.keys() - TABLE_8.keys())):
        cells += _app_cells(app, used[app], n)
    return cells


def _app_cells(app: str, used: Counter[str], n: int) -> Iterator[Cell]:
    printed = TABLE_8.get(app, ())
    absent = [name for name in printed if name not in used]
    unprinted = [name for name in used if name not in printed]
    remarks = [f"never called: {', '.join(absent)}"] * bool(absent)
    remarks += [f"not printed: {', '.join(unprinted)}"] * bool(unprinted)
    note = "; ".join(remarks) if n else "no sample available"
    published = str(len(printed)) if printed else None
    yield Cell(
        "Table 8", app, "APIs", published, float(len(used)) if n else None, n, _PUBLISHED_SAMPLES, note
    )
    yield Cell("Table 8", app, "Calls", None, float(used.total()) if n else None, n, _PUBLISHED_SAMPLES)


def _read_gold_plan(sample: Sample) -> Plan | None:
    try:
        return parse(sample.gold, dialect="appbench")
    except ParseError:
        return None


def used_apis(records: Records) -> list[dict[str, Any]]:
    """The APIs of each app that gold calls, with how often gold, answers, and both call it.

    A call is in both as often as gold and the answer of one sample call it; case plays no part. What gold
    never calls is summed up in a last row.

    Args:
        records: Samples with the text that a model answered.
    """
    gold: Counter[tuple[str, str]] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    shared_calls: Counter[tuple[str, str]] = Counter()
    for sample, text in records:
        plan = _read_gold_plan(sample)
        if plan is not None:
            gold_calls, answer_calls = (
                _count_calls(normalize_plan(plan)),
                _count_calls(read_prediction(text).plan),
            )
            gold, answers, shared_calls = (
                gold + gold_calls,
                answers + answer_calls,
                shared_calls + (gold_calls & answer_calls),
            )
    rows: list[dict[str, Any]] = [
        {"app": app, "API": name, "gold": gold[app, name]}
        | {"answers": answers[app, name], "both": shared_calls[app, name]}
        for app, name in sorted(gold)
    ]
    unlisted = sum(times for key, times in answers.items() if key not in gold)
    if unlisted:
        rows.append({"app": "others", "API": None, "gold": 0, "answers": unlisted, "both": 0})
    return rows


def _count_calls(plan: Plan) -> Counter[tuple[str, str]]:
    return Counter((call.app or "", call.name) for call in plan.calls)


_SCALE_ROWS = ("Max. Seq.", "Max. Para.", "Avg. Seq.", "Avg. Para.")


def paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """Table 2, its scales a second time with components as the published code finds them, and Table 8."""
    yield from table2(samples)
    for cell in table2(samples, official=True):
        if cell.row in _SCALE_ROWS:
            yield replace(cell, table="Table 2, components as the published code finds them")
    yield from table8(samples)


def detail_tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part, Table 4, Figure 4, and the APIs of Table 8 in answers."""
    yield Table("By part", part_rows(part_reports(scored, run)))
    errors: list[dict[str, Any]] = []
    for category, records in records_by_part(scored).items():
        for cell in table4(outcomes(records), category.upper()):
            row = {"part": category.upper(), "error": cell.column, "percent": cell.value, "of": cell.n}
            errors.append(row | {"GPT-4o's, as printed": cell.published, "note": cell.note})
    yield Table("Table 4: errors in percent", errors)
    yield Table("Figure 4: exact match of arguments by scale", figure4(outcomes(scored.matched.records)))
    yield Table("Table 8: APIs called, by app", used_apis(scored.matched.records))


# ----------------------------------------------------------------------
# AppBench's figures: where dependencies make plans hard, how prompting and training change scores.
#
# Source: AppBench paper, Figure 4 (section 5.1), Figure 5 (5.2) and Figure 6 (5.4).
_PART_TITLES = {"ss": "SS", "sm": "SM", "ms": "MS", "mm": "MM"}
_FIGURE_TITLES = {"app_hit_f1": "F1 App", "api_hit_f1": "F1 API", "complete_match": "Succ"}


def figure4_chart(systems: Sequence[System]) -> Chart:
    """A heat map a system: exact match of arguments by parallel and sequential scale of the gold plan.

    The sequential scale is the average size of the connected components, as section 5.1 has it.
    """
    return Chart(
        "appbench-4", tuple(map(_heat_map, systems)), (f"hatched: fewer than {MIN_CELL_SAMPLES} samples",)
    )


def _heat_map(system: System) -> HeatMap:
    shares_by_scale: dict[tuple[float, float], list[Share | None]] = defaultdict(list)
    for (sample, _), row in system.rows():
        if (share := own_figure(row, "argu.em")) is None:
            raise InputError(
                f"{system.name} shows the exact match of arguments, which the published code does not "
                "compute: use --corrected"
            )
        try:
            plan = parse(sample.gold, dialect="appbench")
        except ParseError:
            continue
        if plan.calls:
            parallel = parallel_scale(plan)
            shares_by_scale[parallel, len(plan.calls) / parallel].append(share)
    cells = {key: point(shares) for key, shares in shares_by_scale.items()}
    across, up = "parallel scale (components)", "sequential scale (calls a component)"
    return HeatMap(system.name, across, up, "arguments, exact match (%)", cells)


def figure5(systems: Sequence[System]) -> Chart:
    """Apps, APIs and whole plans by kind of instruction, prompted flatly and step by step."""
    pipelines = {system.asked.get("pipeline") for system in systems}
    if not {"flat", "hierarchical"} <= pipelines:
        raise InputError(
            "appbench-5 compares two pipelines: it needs runs of planeval predict with --pipeline flat and "
            f"hierarchical, found {', '.join(sorted(map(str, pipelines - {None}))) or 'neither'}"
        )
    with_suffix = [(system, f", {system.asked['pipeline']}") for system in systems]
    renamed = [
        system._replace(name=system.name.removesuffix(suffix) + suffix) for system, suffix in with_suffix
    ]
    return figure6(renamed)._replace(name="appbench-5")


def figure6(systems: Sequence[System]) -> Chart:
    """Apps, APIs and whole plans by kind of instruction."""
    by_system = {system.name: _shares_by_part(system) for system in systems}
    present = [
        category for category in _PART_TITLES if any(category in groups for groups in by_system.values())
    ]
    if not present:
        raise InputError(
            "appbench-6 compares samples of the kinds SS, SM, MS and MM, but these samples have no kind"
        )
    panels = []
    for figure, head in _FIGURE_TITLES.items():
        series = {
            name: tuple(point(row[figure] for row in groups.get(category, [])) for category in present)
            for name, groups in by_system.items()
        }
        ticks = tuple(_PART_TITLES[category] for category in present)
        panels.append(Bars(head, ticks, "kind of instruction (samples)", f"{head} (%)", series))
    return Chart("appbench-6", tuple(panels))


def _shares_by_part(system: System) -> dict[str, list[Mapping[str, Share | None]]]:
    by_category: dict[str, list[Mapping[str, Share | None]]] = defaultdict(list)
    for (sample, _), row in system.rows():
        by_category[sample.category].append({name: own_figure(row, name) for name in _FIGURE_TITLES})
    return by_category


CHARTS = {
    "appbench-4": ChartSpec(
        "exact match of arguments by parallel and sequential scale", "Figure 4", figure4_chart
    ),
    "appbench-5": ChartSpec("scores with flat and with hierarchical prompts", "Figure 5", figure5),
    "appbench-6": ChartSpec("F1 of apps and APIs, and success, by kind of instruction", "Figure 6", figure6),
}
