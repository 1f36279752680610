"""NESTful's figures on its data, and win rate by structure.

Source: the paper, sections 3.2 (samples, tools, calls), 1 and 2 (averages), Figure 6 (section 4.5).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from planner_eval.base.errors import CatalogError, InputError, ParseError
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.compare import Rows, part_reports, part_rows
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import ChartSpec, System, bars, paper_grid, point_of, printed_table
from planner_eval.benchmarks.nestful.corrected import CorrectedOutcome, judge_answer
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL
from planner_eval.benchmarks.nestful.official_metrics import (
    ALTERNATE_FIGURE,
    alternate_figure,
    alternate_wins,
    weighted_average,
)
from planner_eval.benchmarks.nestful.reading import (
    drop_named_answer,
    read_gold,
    read_prediction,
    usual_layout,
)
from planner_eval.benchmarks.report import Cell, Records, Report, Run, ratio
from planner_eval.benchmarks.score import Scored, format_counts, format_first_ids
from planner_eval.catalogs.benchmark_formats import read_nestful
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.plan.graph import producers
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import components, consumers, depth, nesting_patterns
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing.charts import Chart


def dataset_table(samples: Iterable[Sample]) -> list[Cell]:
    """What the paper says of its data: samples, tools and calls of both domains.

    The paper says "more than 881" tools, and the number of all samples only by its two parts.

    Args:
        samples: Of version 2.

    Returns:
        Printed cells beside the recomputed ones, each with the number of samples available.

    >>> [cell.published for cell in dataset_table([])][:3]
    ['1415', '40', '5.1']
    """
    sample_list = list(samples)
    columns = {
        domain: [*_gold_plans(sample for sample in sample_list if domain in ("all", sample.category))]
        for domain in ("math", "coding", "all")
    }
    cells = paper_grid("Section 3.2", printed_table("nestful", "section_3_2"), columns, _MEASURES)
    return sorted(cells, key=lambda cell: [*columns].index(cell.column))


_MEASURES: dict[str, Callable[[Sequence[Plan]], float]] = {
    "Samples": len,
    "Tools": lambda plans: len({call.name for plan in plans for call in plan.calls}),
    "Avg. calls": lambda plans: sum(map(len, plans)) / len(plans),
}


def _gold_plans(samples: Iterable[Sample]) -> Iterator[Plan]:
    """The gold plans of samples, of those that can be read."""
    for sample in samples:
        with suppress(ParseError):
            yield drop_named_answer(parse(sample.gold, dialect="nestful"))


def nesting_depth(plan: Plan) -> int:
    """References on the longest chain, Figure 6(a): 0 where no call uses another's output."""
    return max(depth(plan) - 1, 0)


def data_dependencies(plan: Plan) -> int:
    """Pairs of calls of which one uses the other's output, Figure 6(b)."""
    return sum(map(len, producers(plan)))


class WinShare(NamedTuple):
    """Wins among the samples of one structure.

    Args:
        panel: ``"depth"``, ``"dependencies"`` or ``"pattern"``.
        key: The depth, the number of dependencies, or the pattern.
        n: Samples of that structure.
        won: Those that won.
    """

    panel: str
    key: int | str
    n: int
    won: int


_PANELS: dict[str, tuple[str, str, Callable[[Plan], Iterable[int | str]]]] = {
    "depth": ("(a)", "nesting depth (samples)", lambda plan: (nesting_depth(plan),)),
    "dependencies": ("(b)", "data dependencies (samples)", lambda plan: (data_dependencies(plan),)),
    "pattern": ("(c)", "nesting pattern (samples)", lambda plan: set(nesting_patterns(plan)) - {"A"}),
}
"""The panels of Figure 6: head, what stands below, and where a gold plan counts."""


def figure6(judged: Iterable[tuple[Sample, CorrectedOutcome]]) -> list[WinShare]:
    """Figure 6: win rate by nesting depth, by data dependencies and by nesting pattern of the gold plan.

    A sample counts under each pattern that its gold plan holds.

    Args:
        judged: Samples with what became of their answers, which were run.

    Returns:
        The bars of the three panels, each in order.
    """
    wins: dict[tuple[str, Any], list[int]] = defaultdict(list)
    for sample, outcome in judged:
        if outcome.counts is not None and outcome.counts.runnable:
            gold = read_gold(sample.gold)
            for panel, (_, _, keys_of) in _PANELS.items():
                for key in keys_of(gold):
                    wins[panel, key].append(outcome.counts.won)
    keys = sorted(wins, key=lambda bar: ([*_PANELS].index(bar[0]), bar[1]))
    return [WinShare(*key, len(wins[key]), sum(wins[key])) for key in keys]


def paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """What section 3.2 says of version 2; then the structure of each part, as section 4.5 models it."""
    second = [sample for sample in samples if sample.category in ("math", "coding")]
    first = [sample for sample in samples if sample.category not in ("math", "coding")]
    if second or not first:
        yield from dataset_table(second)
    plans: dict[str, list[Plan]] = {}
    for sample in samples:
        plans.setdefault(sample.category, []).extend(_gold_plans([sample]))
    columns = {category: _structure_rows(members) for category, members in plans.items()}
    for row in next(iter(columns.values()), {}):
        for key in sorted({key for column in columns.values() for key in column[row]}):
            for category, column in columns.items():
                value = float(column[row].get(key, 0))
                yield Cell("Section 4.5", row.format(key), category, None, value, len(plans[category]))


def _structure_rows(plans: Sequence[Plan]) -> dict[str, Mapping[Any, float]]:
    """The rows of one part's column, as section 4.5 models gold plans: calls as nodes, references as edges.

    The closing ``var_result`` is not counted. A histogram is a row a value, anything else one of the key "".
    """
    n, calls = len(plans), sum(map(len, plans))
    needed, used = [producers(plan) for plan in plans], [consumers(plan) for plan in plans]
    depths, dependencies = list(map(nesting_depth, plans)), sum(map(data_dependencies, plans))
    component_count = sum(len(components(plan)) for plan in plans)
    chains = (
        len(before) * len(after)
        for ins, outs in zip(needed, used, strict=True)
        for before, after in zip(ins, outs, strict=True)
    )
    rows: dict[str, float | Counter[Any]] = {
        "Samples": n,
        "Tools": len({call.name for plan in plans for call in plan.calls}),
        "Samples that repeat a tool": sum(
            len({call.name for call in plan.calls}) < len(plan) for plan in plans
        ),
        "Calls": calls,
        "Avg. calls": calls / (n or 1),
        "Avg. depth": sum(depths) / (n or 1),
        "Samples of depth {}": Counter(depths),
        "References": sum(len(plan.edges) for plan in plans),
        "Data dependencies": dependencies,
        "Avg. data dependencies": dependencies / (n or 1),
        "Calls that use {} others": Counter(len(links) for plan in needed for links in plan),
        "Calls used by {} others": Counter(len(links) for plan in used for links in plan),
        "Chains A→B→C": sum(chains),
        "Avg. components": component_count / (n or 1),
        "Avg. calls of a component": calls / (component_count or 1),
        "Pattern {}": sum((Counter(nesting_patterns(plan)) for plan in plans), Counter()),
    }
    return {row: value if isinstance(value, Counter) else {"": value} for row, value in rows.items()}


# ----------------------------------------------------------------------
# NESTful's Figure 6: win rate by nesting depth, data dependencies and nesting pattern (section 4.5).
def structure_chart(systems: Sequence[System]) -> Chart:
    """Win rate by the structure of the gold plan, three panels, a bar a system."""
    shares = {}
    for system in systems:
        if system.run is None:
            raise InputError(
                "nestful-6 shows win rates, which need the answers to be run: add --tools=nestful"
            )
        records = [record for record, _ in system.rows()]
        shares[system.name] = figure6(_judge(records, system.run, system.scored.options))
        if not shares[system.name]:
            raise InputError(
                f"{system.name}: nestful-6 shows win rates, but none of these gold plans can be run"
            )
    panels = []
    for panel, (head, across, _) in _PANELS.items():
        points = {
            name: {
                share.key: point_of(ratio("", share.won, share.n))
                for share in model_shares
                if share.panel == panel
            }
            for name, model_shares in shares.items()
        }
        keys = sorted(  # numbers in order, patterns by their length
            {key for by_key in points.values() for key in by_key},
            key=lambda key: (key, "") if isinstance(key, int) else (len(key), key),
        )
        panels.append(bars(head, {key: str(key) for key in keys}, points, across, "win rate (%)"))
    return Chart("nestful-6", tuple(panels))


def _judge(
    records: Records, run: Run | None, options: Mapping[str, Any]
) -> list[tuple[Sample, CorrectedOutcome]]:
    return [(sample, judge_answer(sample, text, run=run, **options)) for sample, text in records]


CHARTS = {
    "nestful-6": ChartSpec("win rate by depth, dependencies and nesting pattern", "Figure 6", structure_chart)
}


# ----------------------------------------------------------------------
# Where NESTful's answers fail: the challenges that the paper names.
#
# Section 5 names data types, variable assignments and implicit calls; section 4.4 besides the details of
# output parameters. The paper counts none of them and no code was published: what counts is said here.
CHALLENGE_CODES = {
    "data types": (
        "check.wrong_type", "check.output_type", "check.format", "check.enum", "check.out_of_range",
    ),
    "variable assignments": (
        "label.duplicate", "reference.unresolved", "reference.forward", "reference.malformed",
    ),
    "output parameters": ("check.unknown_output",),
}  # fmt: skip
"""A challenge → the findings that show it in a plan: values and outputs of another type than the tool's
specification says; labels given twice, and references to what no earlier call returns; outputs that the
tool does not have."""
IMPLICIT, UNREAD, OTHER = "implicit calls", "unreadable", "none of these"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


_CHALLENGE_NOTES = {
    "data types": "values and outputs that do not fit the parameter",
    "variable assignments": "duplicate labels, references to nothing",
    "output parameters": "outputs that the tool does not have",
    IMPLICIT: "gold functions neither called nor named in the query",
}


def challenges(answers: Iterable[tuple[Sample, str, CorrectedOutcome]], *, model: str) -> Rows:
    """What is wrong with the answers that failed, by the challenges of sections 5 and 4.4.

    An answer fails that does not mean the same as gold, and does not win where answers are run; there,
    samples whose functions are not there are left out. What gold's own plan shows as well is no fault.

    Args:
        answers: Samples with what was answered and what became of it.
        model: The model name that chooses the published reader.

    Returns:
        A row a challenge: its name, how many answers show it, of how many that failed, how often it shows in
        them, and what counts; no rows where no answer failed.
    """
    failures: list[Counter[str]] = []
    for sample, text, outcome in answers:
        counts = outcome.counts
        if counts is not None and counts.runnable and not (counts.won or counts.full):
            failures.append(_answer_challenges(sample, text, model) or Counter({OTHER: 1}))
    return [
        {
            "challenge": name,
            "answers": sum(failure[name] > 0 for failure in failures),
            "failed": len(failures),
            "times": sum(failure[name] for failure in failures),
            "note": _CHALLENGE_NOTES.get(name, ""),
        }
        for name in (*CHALLENGE_CODES, IMPLICIT, UNREAD, OTHER)
        if failures
    ]


def _answer_challenges(sample: Sample, text: str, model: str) -> Counter[str]:
    """The challenges that one answer shows, each with how often."""
    gold, reading = read_gold(sample.gold), read_prediction(text, model, sample.tools)
    if reading.error is not None:
        return Counter({UNREAD: 1})
    try:
        catalog = read_nestful(usual_layout(sample.tools), "tools")
    except CatalogError:
        catalog = Catalog((), "tools")
    extra = _findings(reading.plan, catalog) - _findings(gold, catalog)
    occurrences: Counter[str] = Counter()
    for name, codes in CHALLENGE_CODES.items():
        occurrences[name] = sum(times for (code, *_), times in extra.items() if code in codes)
    absent = Counter(call.name for call in gold.calls) - Counter(call.name for call in reading.plan.calls)
    query = f" {_join_words(sample.query)} "
    occurrences[IMPLICIT] = sum(
        times
        for name, times in absent.items()
        if not (words := _join_words(name)) or f" {words} " not in query
    )
    return +occurrences


def _findings(plan: Plan, catalog: Catalog) -> Counter[tuple[str, str, str | None]]:
    """Code, tool and argument of everything that is wrong with a plan."""
    notes = [*plan.diagnostics, *check_plan(plan, catalog)]
    return Counter(
        (note.code, "" if note.call is None else plan.calls[note.call].name, note.argument) for note in notes
    )


def _join_words(text: str) -> str:
    return " ".join(word.casefold() for word in _WORD.findall(text))


# ----------------------------------------------------------------------
# The further tables of a NESTful score: averages over parts, other plans, challenges, Figure 6.
def tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part and their weighted average, the challenges; with `run`, what needs wins."""
    reports_by_part = part_reports(scored, run)
    yield Table("By part", part_rows(reports_by_part))
    yield Table("Average over parts, weighted by samples", _average_rows(reports_by_part))
    records = scored.matched.records
    judged = _judge(records, run, scored.options)
    if run is not None:
        rows = _alternate_rows({**reports_by_part, "all": scored.reports})
        yield Table("Alternate trajectories: the gold answer by another plan", rows)
    answers = ((*record, outcome) for record, (_, outcome) in zip(records, judged, strict=True))
    rows = challenges(answers, model=scored.options.get("model", DEFAULT_MODEL))
    yield Table("Sections 5 and 4.4: challenges in the answers that failed", rows)
    if run is not None:
        shares = [
            {"by": s.panel, "value": str(s.key), "samples": s.n, "won": s.won, "win rate": s.won / s.n}
            for s in figure6(judged)
        ]
        yield Table("Figure 6: win rate by structure", shares)


def _average_rows(reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a figure, the average under each variant with its sums."""
    rows: dict[str, dict[str, Any]] = {}
    for variant in next(iter(reports_by_part.values()), {}):
        for figure in weighted_average([reports[variant] for reports in reports_by_part.values()]):
            row = rows.setdefault(figure.name, {"figure": figure.name})
            row |= {variant: figure.error or figure.value, f"{variant} of": format_counts(figure)}
    return list(rows.values())


def _alternate_rows(reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a part and variant, with the first of the samples that were won by another plan."""
    rows = []
    for subset, variants in reports_by_part.items():
        for variant, report in variants.items():
            figure, ids = alternate_figure(report), alternate_wins(report)
            row: dict[str, Any] = {"part": subset, "variant": variant}
            row |= {ALTERNATE_FIGURE: figure.error or figure.value, "of": format_counts(figure)}
            rows.append(row | {"which": format_first_ids(ids)})
    return rows
