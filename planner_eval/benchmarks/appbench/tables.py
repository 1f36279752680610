"""The tables and charts of AppBench's paper, each printed cell beside the recomputed one.

Source: the paper, Table 2 (section 3.4, appendix A.2), Table 4 (section 5.3), Figure 4 (section 5.1).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.benchmarks.appbench import data
from planner_eval.benchmarks.appbench.corrected import AppBenchCounts, judge_answer, total
from planner_eval.benchmarks.appbench.official import official_components
from planner_eval.benchmarks.appbench.reading import normalize_plan, read_gold, read_prediction
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.compare import Rows, part_reports, part_rows
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import ChartSpec, System, bars, own_figure, point, printed_table
from planner_eval.benchmarks.report import Cell, Records, Run
from planner_eval.benchmarks.score import Scored
from planner_eval.comparison.metrics.facts import Share
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import components, parallel_scale
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing.charts import MIN_CELL_SAMPLES, Chart, HeatMap

# ----------------------------------------------------------------------
# The tables of AppBench's paper, each printed cell beside the recomputed one, and its figure 4.
PARTS = {category: category.upper() for category in data.PARTS}
_TABLE_2 = printed_table("appbench", "table_2")
_TABLE_4 = printed_table("appbench", "table_4")


class _Record(NamedTuple):
    """A sample as far as Table 2 looks at it: its gold, its plan, the sizes of the plan's components."""

    gold: Mapping[str, Any]
    plan: Plan
    sizes: Sequence[int]


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
    records_by_category: dict[str, list[_Record]] = {title: [] for title in PARTS.values()}
    for sample in samples:
        gold = sample.gold if isinstance(sample.gold, dict) else {}
        lists = all(isinstance(gold.get(key), list) for key in ("api_results", "used_api", "used_app"))
        plan = _read_gold_plan(sample) if lists else None
        if plan is not None:  # the cell says how many samples it was computed from
            groups = official_components(sample.gold) if official else _components(plan)
            record = _Record(sample.gold, plan, list(map(len, groups)))
            records_by_category.setdefault(sample.category.upper(), []).append(record)
    return [
        _scale_cell(row, part, published, records_by_category[part])
        for row, cells in _TABLE_2.items()
        for part, published in zip(PARTS.values(), cells, strict=True)
    ]


def _read_gold_plan(sample: Sample) -> Plan | None:
    try:
        return parse(sample.gold, dialect="appbench")
    except ParseError:
        return None


def _components(plan: Plan) -> list[list[int]]:
    """The components of a plan by references to earlier calls alone."""
    return components(Plan(plan.calls, tuple(edge for edge in plan.edges if edge.producer < edge.consumer)))


def _mean(values: Iterable[int]) -> float:
    value_list = list(values)
    return sum(value_list) / len(value_list) if value_list else 0.0


def _count_used_arguments(record: _Record) -> Iterator[int]:
    """The number of arguments of each entry of ``used_api``, the field that the paper's table counts."""
    for entry in record.gold["used_api"]:
        if isinstance(entry, dict):
            yield from map(len, entry.values())


_TABLE_2_ROWS: dict[str, Callable[[Sequence[_Record]], float]] = {
    "# Samples": len,
    "# Apps": lambda records: len({call.app for record in records for call in record.plan.calls}),
    "# APIs": lambda records: len({call.name for record in records for call in record.plan.calls}),
    "Avg. Apps": lambda records: _mean(len({call.app for call in record.plan.calls}) for record in records),
    "Avg. APIs": lambda records: _mean(len(record.plan.calls) for record in records),
    "Avg. arguments": lambda records: _mean(chain.from_iterable(map(_count_used_arguments, records))),
    "Max. Seq.": lambda records: max((size for record in records for size in record.sizes), default=0),
    "Max. Para.": lambda records: max(len(record.sizes) for record in records),
    "Avg. Seq.": lambda records: _mean(size for record in records for size in record.sizes),
    "Avg. Para.": lambda records: _mean(len(record.sizes) for record in records),
}
_TABLE_2_NOTES = {
    ("# Samples", "MS"): "the released file has 201 records",
    ("Max. Seq.", "MM"): "no sample of the released file has more than 7 calls",
}


def _scale_cell(row: str, category: str, published: str, records: Sequence[_Record]) -> Cell:
    of = int(_TABLE_2["# Samples"][[*PARTS.values()].index(category)])
    value = float(_TABLE_2_ROWS[row](records)) if records else None
    cell = Cell("Table 2", row, category, published, value, len(records), of)
    if not records:
        return replace(cell, note="no sample available")
    other = "the table was made from another version of this file"
    return cell if cell.agrees else replace(cell, note=_TABLE_2_NOTES.get((row, category), other))


def table4(counts: Sequence[AppBenchCounts], part: str) -> list[Cell]:
    """Table 4's row of one part: key errors and value errors, dependent and independent, time and space.

    The text gives shares of all arguments, but the printed shares are multiples of one sample, so they
    count samples with such an error; both are given. Time and space are shares of all wrong arguments.

    Args:
        counts: Of the part's answers.
        part: ``"SS"``, ``"SM"``, ``"MS"`` or ``"MM"``.

    Returns:
        Percentages; a value is None where there is nothing to divide by. The printed cells are GPT-4o's.
    """
    c, printed = total(counts), _TABLE_4[part]
    errors = {  # samples with such an error, and such arguments
        "Keys I": (sum(n.missing > n.missing_dependent for n in counts), c.missing - c.missing_dependent),
        "Keys D": (c.with_missing_dependent, c.missing_dependent),
        "Values I": (sum(n.wrong > n.wrong_dependent for n in counts), c.wrong - c.wrong_dependent),
        "Values D": (c.with_wrong_dependent, c.wrong_dependent),
    }
    rows = [
        (name, published, hits, c.samples, "samples with such an error; GPT-4o's cell")
        for (name, (hits, _)), published in zip(errors.items(), printed[:4], strict=True)
    ]
    rows += [
        (f"{name}, of arguments", None, hits, c.gold, "as stated in the text")
        for name, (_, hits) in errors.items()
    ]
    rows += [
        (name, published, hits, c.missing + c.wrong, "of missing and wrong arguments; GPT-4o's cell")
        for name, published, hits in zip("TS", printed[4:], (c.time, c.place), strict=True)
    ]
    return [
        Cell("Table 4", part, name, published, 100 * hits / size if size else None, size, None, note)
        for name, published, hits, size, note in rows
    ]


def figure4(judged: Iterable[tuple[Sample, AppBenchCounts]]) -> Rows:
    """Figure 4: exact match of arguments by parallel and sequential scale.

    Args:
        judged: Samples of all parts, with the counts of their answers.

    Returns:
        A row a cell in order of both scales: the components of a sample, their average size, the samples of
        these scales, the share whose arguments are all right, and whether the figure shows so few.
    """
    grid: dict[tuple[int, float], list[int]] = defaultdict(list)
    for sample, counts in judged:
        gold = read_gold(sample.gold)
        groups = _components(gold)
        grid[len(groups), len(gold.calls) / len(groups) if groups else 0.0].append(counts.arguments_exact)
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
    plans = [plan for plan in map(_read_gold_plan, samples) if plan is not None]
    for call in chain.from_iterable(plan.calls for plan in plans):
        used[str(call.app)][call.name] += 1
    apps = (*TABLE_8, *sorted(used.keys() - TABLE_8.keys()))
    n, cells = len(plans), []
    for app in apps:
        printed = TABLE_8.get(app, ())
        absent = [name for name in printed if name not in used[app]]
        unprinted = [name for name in used[app] if name not in printed]
        remarks = [f"never called: {', '.join(absent)}"] * bool(absent)
        remarks += [f"not printed: {', '.join(unprinted)}"] * bool(unprinted)
        note = "; ".join(remarks) if n else "no sample available"
        published = str(len(printed)) if printed else None
        apis, calls = (float(len(used[app])), float(used[app].total())) if n else (None, None)
        cells.append(Cell("Table 8", app, "APIs", published, apis, n, _PUBLISHED_SAMPLES, note))
        cells.append(Cell("Table 8", app, "Calls", None, calls, n, _PUBLISHED_SAMPLES))
    return cells


def used_apis(records: Records) -> list[dict[str, Any]]:
    """The APIs of each app that gold calls, with how often gold, answers, and both call it.

    A call is in both as often as gold and the answer of one sample call it; case plays no part. What gold
    never calls is summed up in a last row.

    Args:
        records: Samples with the text that a model answered.
    """
    gold, answers, shared = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for sample, text in records:
        plan = _read_gold_plan(sample)
        if plan is not None:
            gold_calls, answer_calls = (
                _count_calls(normalize_plan(plan)),
                _count_calls(read_prediction(text).plan),
            )
            gold.update(gold_calls)
            answers.update(answer_calls)
            shared.update(gold_calls & answer_calls)
    rows: list[dict[str, Any]] = [
        {"app": app, "API": name, "gold": gold[app, name]}
        | {"answers": answers[app, name], "both": shared[app, name]}
        for app, name in sorted(gold)
    ]
    unlisted = sum(times for key, times in answers.items() if key not in gold)
    if unlisted:
        rows.append({"app": "others", "API": None, "gold": 0, "answers": unlisted, "both": 0})
    return rows


def _count_calls(plan: Plan) -> Counter[tuple[str, str]]:
    return Counter((call.app or "", call.name) for call in plan.calls)


def paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """Table 2, its scales a second time with components as the published code finds them, and Table 8."""
    yield from table2(samples)
    for cell in table2(samples, official=True):
        if cell.row.endswith(("Seq.", "Para.")):
            yield replace(cell, table="Table 2, components as the published code finds them")
    yield from table8(samples)


def detail_tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part, Table 4, Figure 4, and the APIs of Table 8 in answers."""
    yield Table("By part", part_rows(part_reports(scored, run)))
    records = scored.matched.records
    judged = [(sample, counts) for sample, text in records if (counts := judge_answer(sample, text).counts)]
    errors: list[dict[str, Any]] = []
    for category in dict.fromkeys(sample.category for sample, _ in records):
        title = category.upper()
        for cell in table4([counts for sample, counts in judged if sample.category == category], title):
            row = {"part": title, "error": cell.column, "percent": cell.value, "of": cell.n}
            errors.append(row | {"GPT-4o's, as printed": cell.published, "note": cell.note})
    yield Table("Table 4: errors in percent", errors)
    yield Table("Figure 4: exact match of arguments by scale", figure4(judged))
    yield Table("Table 8: APIs called, by app", used_apis(records))


# ----------------------------------------------------------------------
# AppBench's figures: where dependencies make plans hard, how prompting and training change scores.
#
# Source: AppBench paper, Figure 4 (section 5.1), Figure 5 (5.2) and Figure 6 (5.4).
_FIGURE_TITLES = {"app_hit_f1": "F1 App", "api_hit_f1": "F1 API", "complete_match": "Succ"}


def figure4_chart(systems: Sequence[System]) -> Chart:
    """A heat map a system: exact match of arguments by parallel and sequential scale of the gold plan.

    The sequential scale is the average size of the connected components, as section 5.1 has it.
    """
    note = f"hatched: fewer than {MIN_CELL_SAMPLES} samples"
    return Chart("appbench-4", tuple(map(_heat_map, systems)), (note,))


def _heat_map(system: System) -> HeatMap:
    shares_by_scale: dict[tuple[float, float], list[Share | None]] = defaultdict(list)
    for (sample, _), row in system.rows():
        if (share := own_figure(row, "argu.em")) is None:
            raise InputError(
                f"{system.name} shows the exact match of arguments, which the published code does not "
                "compute: use --corrected"
            )
        plan = _read_gold_plan(sample)
        if plan is not None and plan.calls:
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
    rows: dict[str, dict[str, list[Mapping[str, Share | None]]]] = {}
    for system in systems:
        groups = rows[system.name] = defaultdict(list)
        for (sample, _), row in system.rows():
            groups[sample.category].append({name: own_figure(row, name) for name in _FIGURE_TITLES})
    ticks = {
        category: title
        for category, title in PARTS.items()
        if any(category in groups for groups in rows.values())
    }
    if not ticks:
        raise InputError(
            "appbench-6 compares samples of the kinds SS, SM, MS and MM, but these samples have no kind"
        )
    panels = []
    for figure, head in _FIGURE_TITLES.items():
        points = {
            name: {category: point(row[figure] for row in members) for category, members in groups.items()}
            for name, groups in rows.items()
        }
        panels.append(bars(head, ticks, points, "kind of instruction (samples)", f"{head} (%)"))
    return Chart("appbench-6", tuple(panels))


CHARTS = {
    "appbench-4": ChartSpec(
        "exact match of arguments by parallel and sequential scale", "Figure 4", figure4_chart
    ),
    "appbench-5": ChartSpec("scores with flat and with hierarchical prompts", "Figure 5", figure5),
    "appbench-6": ChartSpec("F1 of apps and APIs, and success, by kind of instruction", "Figure 6", figure6),
}
