"""NESTful's figures on its data, and win rate by structure.

Source: the paper, sections 3.2 (samples, tools, calls), 1 and 2 (averages), Figure 6 (section 4.5).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import CatalogError, InputError, ParseError
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.compare import Rows, part_reports, part_rows
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import ChartSpec, System, point_of
from planner_eval.benchmarks.nestful.corrected import CorrectedOutcome, outcomes
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL
from planner_eval.benchmarks.nestful.official_metrics import (
    ALTERNATE_FIGURE,
    alternate_figure,
    alternate_wins,
    weighted_average,
)
from planner_eval.benchmarks.nestful.reading import drop_named_answer, read_prediction, usual_layout
from planner_eval.benchmarks.report import Cell, ratio
from planner_eval.catalogs.benchmark_formats import read_nestful
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.plan.graph import producers
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import components, consumers, depth, nesting_patterns
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing.charts import Bars, Chart, Point

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Figure, Report, Run
    from planner_eval.benchmarks.score import Scored


_PUBLISHED: dict[str, dict[str, str | None]] = {
    "math": {"Samples": "1415", "Tools": "40", "Avg. calls": "5.1"},
    "coding": {"Samples": "446", "Tools": "881", "Avg. calls": "2.1"},
    "all": {"Samples": "1861", "Tools": None, "Avg. calls": "4.36"},
}
"""The paper says "more than 881" tools, and the number of all samples only by its two parts."""


def dataset_table(samples: Iterable[Sample]) -> list[Cell]:
    """What the paper says of its data: samples, tools and calls of both domains.

    Args:
        samples: Of version 2.

    Returns:
        Printed cells beside the recomputed ones, each with the number of samples available.

    >>> [cell.published for cell in dataset_table([])][:3]
    ['1415', '40', '5.1']
    """
    by_category: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_category[sample.category].append(sample)
        by_category["all"].append(sample)
    return [
        _cell(category, row, published, by_category[category])
        for category, rows in _PUBLISHED.items()
        for row, published in rows.items()
    ]


def _cell(category: str, row: str, published: str | None, samples: Sequence[Sample]) -> Cell:
    total = int(_PUBLISHED[category]["Samples"] or 0)
    plans = [plan for sample in samples if (plan := _gold_plan(sample)) is not None]
    n = len(plans)
    values: dict[str, Callable[[], float]] = {
        "Samples": lambda: n,
        "Tools": lambda: len({call.name for plan in plans for call in plan.calls}),
        "Avg. calls": lambda: sum(map(len, plans)) / n,
    }
    note = "" if n == total else f"{n} of {total} samples available"
    return Cell("Section 3.2", row, category, published, values[row]() if n else None, n, total, note)


def _gold_plan(sample: Sample) -> Plan | None:
    try:
        return drop_named_answer(parse(sample.gold, dialect="nestful"))
    except ParseError:
        return None


def nesting_depth(plan: Plan) -> int:
    """References on the longest chain, Figure 6(a): 0 where no call uses another's output."""
    return max(depth(plan) - 1, 0)


def data_dependencies(plan: Plan) -> int:
    """Pairs of calls of which one uses the other's output, Figure 6(b)."""
    return sum(map(len, producers(plan)))


@dataclass(frozen=True, slots=True)
class WinShare:
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

    @property
    def win_rate(self) -> float:
        """The share of wins."""
        return self.won / self.n


_Panel: TypeAlias = Callable[[Plan], Iterable[int | str]]
_PANELS: dict[str, _Panel] = {
    "depth": lambda plan: (nesting_depth(plan),),
    "dependencies": lambda plan: (data_dependencies(plan),),
    "pattern": lambda plan: [pattern for pattern in nesting_patterns(plan) if pattern != "A"],
}


def figure6(outcomes: Iterable[CorrectedOutcome]) -> list[WinShare]:
    """Figure 6: win rate by nesting depth, by data dependencies and by nesting pattern of the gold plan.

    A sample counts under each pattern that its gold plan holds.

    Args:
        outcomes: What became of the answers, run; see :func:`.corrected.outcomes`.

    Returns:
        The bars of the three panels, each in order.
    """
    wins_by_panel: dict[str, dict[int | str, list[int]]] = {panel: defaultdict(list) for panel in _PANELS}
    for outcome in outcomes:
        if outcome.gold is not None and outcome.counts is not None and outcome.counts.runnable:
            for panel, keys_of in _PANELS.items():
                for key in keys_of(outcome.gold):
                    wins_by_panel[panel][key].append(outcome.counts.won)
    return [
        WinShare(panel, key, len(wins), sum(wins))
        for panel, groups in wins_by_panel.items()
        for key, wins in sorted(groups.items(), key=lambda group: (isinstance(group[0], str), group[0]))
    ]


def paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """What section 3.2 says of version 2; then the structure of each part, as section 4.5 models it."""
    second = [sample for sample in samples if sample.category in ("math", "coding")]
    first = [sample for sample in samples if sample.category not in ("math", "coding")]
    if second or not first:
        yield from dataset_table(second)
    by_category: dict[str, list[Sample]] = {}
    for sample in samples:
        by_category.setdefault(sample.category, []).append(sample)
    plans = {
        category: [plan for sample in members if (plan := _gold_plan(sample)) is not None]
        for category, members in by_category.items()
    }
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
    parts = sum(len(components(plan)) for plan in plans)
    chains = (
        len(before) * len(after)
        for ins, outs in zip(needed, used, strict=True)
        for before, after in zip(ins, outs, strict=True)
    )
    return {
        "Samples": {"": n},
        "Tools": {"": len({call.name for plan in plans for call in plan.calls})},
        "Samples that repeat a tool": {
            "": sum(len({call.name for call in plan.calls}) < len(plan) for plan in plans)
        },
        "Calls": {"": calls},
        "Avg. calls": {"": calls / (n or 1)},
        "Avg. depth": {"": sum(depths) / (n or 1)},
        "Samples of depth {}": Counter(depths),
        "References": {"": sum(len(plan.edges) for plan in plans)},
        "Data dependencies": {"": dependencies},
        "Avg. data dependencies": {"": dependencies / (n or 1)},
        "Calls that use {} others": Counter(len(links) for plan in needed for links in plan),
        "Calls used by {} others": Counter(len(links) for plan in used for links in plan),
        "Chains A→B→C": {"": sum(chains)},
        "Avg. components": {"": parts / (n or 1)},
        "Avg. calls of a component": {"": calls / (parts or 1)},
        "Pattern {}": sum((Counter(nesting_patterns(plan)) for plan in plans), Counter()),
    }


# ----------------------------------------------------------------------
# NESTful's Figure 6: win rate by nesting depth, data dependencies and nesting pattern (section 4.5).
_CHART_PANELS = {
    "depth": ("(a)", "nesting depth (samples)"),
    "dependencies": ("(b)", "data dependencies (samples)"),
    "pattern": ("(c)", "nesting pattern (samples)"),
}


def structure_chart(systems: Sequence[System]) -> Chart:
    """Win rate by the structure of the gold plan, three panels, a bar a system."""
    shares_by_system = {system.name: _win_shares(system) for system in systems}
    panels = []
    for panel, (head, across) in _CHART_PANELS.items():
        panel_shares = {
            name: {s.key: s for s in shares if s.panel == panel} for name, shares in shares_by_system.items()
        }
        keys = dict.fromkeys(key for shares in panel_shares.values() for key in shares)
        ordered = sorted(
            keys,
            key=lambda key: (isinstance(key, str), len(str(key)) if isinstance(key, str) else key, str(key)),
        )
        series = {
            name: tuple(_share_point(shares.get(key)) for key in ordered)
            for name, shares in panel_shares.items()
        }
        panels.append(Bars(head, tuple(map(str, ordered)), across, "win rate (%)", series))
    return Chart("nestful-6", tuple(panels))


def _win_shares(system: System) -> list[WinShare]:
    if system.run is None:
        raise InputError("nestful-6 shows win rates, which need the answers to be run: add --tools=nestful")
    records = [record for record, _ in system.rows()]
    shares = figure6(outcomes(records, run=system.run, **system.scored.options))
    if not shares:
        raise InputError(f"{system.name}: nestful-6 shows win rates, but none of these gold plans can be run")
    return shares


def _share_point(share: WinShare | None) -> Point:
    return Point(None) if share is None else point_of(ratio("", share.won, share.n))


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
        answers: Samples with what was answered and what became of it, see :func:`.corrected.outcomes`.
        model: The model name that chooses the published reader.

    Returns:
        A row a challenge: its name, how many answers show it, of how many that failed, how often it shows in
        them, and what counts; no rows where no answer failed.
    """
    failures: list[Counter[str]] = []
    for sample, text, outcome in answers:
        gold, counts = outcome.gold, outcome.counts
        if gold is not None and counts is not None and counts.runnable and not (counts.won or counts.full):
            failures.append(_answer_challenges(sample, text, gold, model))
    unexplained = Counter({OTHER: 1})
    failures = [failure or unexplained for failure in failures]
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


def _answer_challenges(sample: Sample, text: str, gold: Plan, model: str) -> Counter[str]:
    """The challenges that one answer shows, each with how often."""
    reading = read_prediction(text, model, sample.tools)
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
    words = _split_words(sample.query)
    occurrences[IMPLICIT] = sum(
        times for name, times in absent.items() if not _has_name_words(_split_words(name), words)
    )
    return +occurrences


def _findings(plan: Plan, catalog: Catalog) -> Counter[tuple[str, str, str | None]]:
    """Code, tool and argument of everything that is wrong with a plan."""
    notes = [*plan.diagnostics, *check_plan(plan, catalog)]
    return Counter(
        (note.code, "" if note.call is None else plan.calls[note.call].name, note.argument) for note in notes
    )


def _split_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _has_name_words(name: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a function's name stand in a row."""
    size = len(name)
    return size > 0 and any(words[start : start + size] == name for start in range(len(words) - size + 1))


# ----------------------------------------------------------------------
# The further tables of a NESTful score: averages over parts, other plans, challenges, Figure 6.
_MAX_NAMED = 3
"""Samples that a row names."""


def tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part and their weighted average, the challenges; with `run`, what needs wins."""
    reports_by_part = part_reports(scored, run)
    yield Table("By part", part_rows(reports_by_part))
    yield Table("Average over parts, weighted by samples", _average_rows(reports_by_part))
    records = scored.matched.records
    results = list(outcomes(records, run=run, **scored.options))
    if run is not None:
        rows = _alternate_rows(scored.reports, reports_by_part)
        yield Table("Alternate trajectories: the gold answer by another plan", rows)
    model = scored.options.get("model", DEFAULT_MODEL)
    answers = ((sample, text, outcome) for (sample, text), outcome in zip(records, results, strict=True))
    rows = challenges(answers, model=model)
    yield Table("Sections 5 and 4.4: challenges in the answers that failed", rows)
    if run is not None:
        shares = [
            {"by": s.panel, "value": str(s.key), "samples": s.n, "won": s.won, "win rate": s.win_rate}
            for s in figure6(results)
        ]
        yield Table("Figure 6: win rate by structure", shares)


def _average_rows(reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a figure, the average under each variant with its sums."""
    rows: dict[str, dict[str, Any]] = {}
    for variant in next(iter(reports_by_part.values()), {}):
        for figure in weighted_average([reports[variant] for reports in reports_by_part.values()]):
            row = rows.setdefault(figure.name, {"figure": figure.name})
            row |= {variant: figure.error or figure.value, f"{variant} of": _format_sums(figure)}
    return list(rows.values())


def _format_sums(figure: Figure) -> str | None:
    if figure.numerator is None or figure.denominator is None:
        return None
    return f"{figure.numerator:g}/{figure.denominator:g}"


def _alternate_rows(
    overall: Mapping[str, Report], reports_by_part: Mapping[str, Mapping[str, Report]]
) -> Rows:
    """A row a part and variant, with the first of the samples that were won by another plan."""
    rows = []
    for subset, variants in {**reports_by_part, "all": overall}.items():
        for variant, report in variants.items():
            figure, ids = alternate_figure(report), alternate_wins(report)
            first_ids = ", ".join(ids[:_MAX_NAMED]) + (", …" if len(ids) > _MAX_NAMED else "")
            row: dict[str, Any] = {"part": subset, "variant": variant}
            row |= {
                ALTERNATE_FIGURE: figure.error or figure.value,
                "of": _format_sums(figure),
                "which": first_ids,
            }
            rows.append(row)
    return rows
