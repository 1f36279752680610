"""Reports in writing: what each format shows of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from planner_eval.base.counts import round_ratio
from planner_eval.base.formats import View
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import Rows, Style, json_array
from planner_eval.base.text import JsonObject, format_count, join_pieces, one_line, to_json
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.metrics import METRICS, matched_calls_note
from planner_eval.comparison.metrics.facts import Counts
from planner_eval.comparison.rows import NO_ANSWER_STATES, STATES, causes_head
from planner_eval.plan.statistics import plain_scope
from planner_eval.results.intervals import span_text
from planner_eval.results.report import Estimate, Report
from planner_eval.results.scored import ScoredRow, row_data, tally_data
from planner_eval.results.totals import (
    conversation_data,
    cost_lines,
    cost_rows,
    turn_lines,
)
from planner_eval.results.trials import trial_data, trial_lines, trial_rows
from planner_eval.results.views.junit import Case, outcome

if TYPE_CHECKING:
    from planner_eval.results.gold_doubts import WithoutDoubts

# ----------------------------------------------------------------------
# Which figures are shown to people: those that the data can have, and why others are left out.
_ABSENCE_REASONS = {
    "calls": "no gold plan has calls",
    "app": "no gold plan names an app",
    "arguments": "no gold plan has arguments",
    "references": "no gold plan has references",
}
_FEATURE_METRICS = {
    "app": ("apps",),
    "arguments": ("argument_names", "argument_values", "independent_arguments", "independent_errors"),
    "references": (
        "dependent_arguments", "dependent_errors", "references", "dependencies", "order_tau", "precedences",
        "component_pairs", "transitive_dependencies", "taskbench_links",
    ),
}  # fmt: skip
_REQUIRED_FEATURES = {name: what for what, names in _FEATURE_METRICS.items() for name in names}


class FigureView(NamedTuple):
    """What people are shown of a report's figures.

    Args:
        shown: The metrics whose figures they are; all that there are when left out.
        every: Metrics whose figures are shown although they do not exist.
        brief: Text says in words which causes are the commonest, and not how often each is one.
    """

    shown: Collection[str] = ()
    every: Collection[str] = ()
    brief: bool = False

    def figures(self, report: Report) -> list[Estimate]:
        """The figures that are to be shown, whether they exist or not."""
        return [figure for figure in report.figures if not self.shown or figure.name in self.shown]


ALL_FIGURES = FigureView()
"""Each figure that exists."""


def existing_figures(estimates: Sequence[Estimate], always_shown: Collection[str]) -> list[Estimate]:
    """The figures that exist, and those of `always_shown` that do not."""
    return [figure for figure in estimates if figure.value is not None or figure.name in always_shown]


def left_out_lines(names: Iterable[str], lacks: Collection[str]) -> list[str]:
    """Which figures are left out, and why, as one line; none where nothing is.

    >>> left_out_lines(["references", "same_depth"], ["references"])
    ['left out (--all shows them): references (no gold plan has references); same_depth (nothing to count)']
    """
    reasons: dict[str, list[str]] = {}
    for name in names:
        need = "calls" if "calls" in lacks else _REQUIRED_FEATURES.get(name, "calls")
        reasons.setdefault(_ABSENCE_REASONS[need] if need in lacks else "nothing to count", []).append(name)
    message = "; ".join(f"{', '.join(left)} ({reason})" for reason, left in reasons.items())
    return [f"left out (--all shows them): {message}"] if message else []


# ----------------------------------------------------------------------
# Reports in writing.
def figure_rows(estimates: Iterable[Estimate]) -> Rows:
    """Figures as rows of a table."""
    rows = []
    for figure in estimates:
        counts = figure.tally if isinstance(figure.tally, Counts) else None
        rows.append(
            {
                "metric": figure.name,
                "value": round_value(figure.value),
                "95 %": span_text(figure.interval),
                "precision": round_value(counts.precision if counts else None),
                "recall": round_value(counts.recall if counts else None),
                "macro": round_value(figure.macro),
                "n": figure.n,
                "": "↓" if METRICS[figure.name].lower else "",
            }
        )
    return rows


def round_value(value: float | None) -> float | None:
    """A figure rounded for people; None where there is none."""
    return None if value is None else round_ratio(value)


def report_view(
    report: Report,
    *,
    failures: bool = False,
    view: FigureView = ALL_FIGURES,
    limits: Sequence[Case] = (),
    beside: Sequence[Case] = (),
    without: WithoutDoubts | None = None,
) -> View:
    """What a report shows. Documents leave out figures that do not exist; others have each, as null.

    Pairs are asked for as they are written, which can be done once. A table has the figures, or what root
    causes cost, where that was asked for.

    Args:
        report: The report.
        failures: List only pairs that are not the same; documents list them at all.
        view: Which figures documents show.
        limits: Thresholds as test cases: where there are some they decide, and a pair may differ.
        beside: What is no pair, as test cases: records that were left out.
        without: The figures without the records of doubtful gold, which documents and data show too.
    """
    rows = (row for row in report.rows if not failures or row.state != "same")
    listed = rows if failures and report.totals.pairs > report.totals.states["same"] else None

    def cases() -> tuple[Iterable[Case], Mapping[str, int]]:
        limited = bool(limits)
        others = [*_task_cases(report, failures=failures, limited=limited), *beside]
        outcomes = Counter(case.outcome for case in (*limits, *others))
        for state, count in report.states().items():
            outcomes[outcome(state, limited=limited)] += count * (not failures or state != "same")
        return report_cases(report, failures=failures, limits=limits, beside=others), outcomes

    causes = report.causes
    return View(
        document=lambda style: _document(report, style, listed, view, without),
        data=lambda: _json_pieces(report, rows, without),
        records=lambda: map(row_data, rows),
        table=lambda: figure_rows(report.figures) if causes is None else causes.table(),
        cases=cases,
    )


def _document(
    report: Report,
    style: Style,
    listed: Iterable[ScoredRow] | None,
    view: FigureView,
    without: WithoutDoubts | None,
) -> Iterator[str]:
    """What people are shown: pairs, where they are listed, tables, and as text what is said below them."""
    selected = existing_figures(view.figures(report), view.every)
    similarity_pairs = next((figure.n for figure in report.figures if figure.name == "similarity"), None)
    blocks = [
        style.table(figure_rows(selected)),
        *(
            block
            for _, rows, lines in _beside_figures(report)
            for block in (style.table(rows), style.lines(lines))
        ),
        *_breakdowns(report, selected, style),
        *([] if report.causes is None else [report.causes.text(style, similarity_pairs)]),
        *_doubt_blocks(report, selected, without, style),
        *([] if style.markup else ["\n".join(_remarks(report, view))]),
    ]
    text = "\n\n".join(filter(None, blocks))
    if listed is not None:
        if style.markup:
            rows = ({"id": r.id, "state": r.state.replace("_", " "), "reason": r.reason} for r in listed)
            yield from style.pieces(rows)
        else:
            yield from join_pieces(_lines(listed, report.totals.width))
        text = text and f"\n\n{text}"
    yield text


def report_cases(
    report: Report, *, failures: bool = False, limits: Sequence[Case] = (), beside: Sequence[Case] = ()
) -> Iterator[Case]:
    """The thresholds and pairs of a report as test cases, as :func:`report_view` takes them."""
    rows = (row for row in report.rows if not failures or row.state != "same")
    return chain(limits, (_case(row, limited=bool(limits)) for row in rows), beside)


def _task_cases(report: Report, *, failures: bool, limited: bool) -> Iterator[Case]:
    """The tasks of trials as test cases: one passes whose trials are all the same as gold."""
    trials = report.trials
    for name, counts in (trials.tasks if trials is not None and trials.passes else {}).items():
        state = "same" if counts.right == counts.trials else "different"
        if counts.trials and not (failures and state == "same"):
            said = f"{counts.right} of {format_count(counts.trials, 'trial')} the same as gold"
            code = "" if state == "same" else "trials.sometimes" if counts.right else "trials.never"
            yield Case(name, outcome(state, limited=limited), code, said, said, group="tasks")


def _json_pieces(report: Report, rows: Iterable[ScoredRow], without: WithoutDoubts | None) -> Iterator[str]:
    """The whole as ``json.dumps`` writes it, whose last key is the rows."""
    data = report_data(report)
    if without is not None:
        from planner_eval.results.gold_doubts import doubt_data

        data["without_gold_doubts"] = doubt_data(report, without)
    yield to_json({**data, "rows": []}, 1).removesuffix("[]\n}")
    for text in json_array(to_json(row_data(row), 1) for row in rows):
        yield text.replace("\n", "\n ")
    yield "\n}"


def _lines(rows: Iterable[ScoredRow], width: int) -> Iterator[str]:
    for row in rows:
        first = row.reason.partition("\n")[0]
        text = f"{row.state.replace('_', ' ')}: {causes_head(row.codes)}{first}"
        yield one_line(f"{row.id.ljust(width)}  {text}", 200)


def _case(row: ScoredRow, *, limited: bool) -> Case:
    test_case = Case(row.id, outcome(row.state, limited=limited), file=row.file, line=row.line, group="score")
    if test_case.outcome == "passed":
        return test_case
    more = f" (and {len(row.codes) - 1} more: {', '.join(row.codes[1:])})" if len(row.codes) > 1 else ""
    code = row.codes[0] if row.codes else row.state
    named = f"{row.state.replace('_', ' ')}: " + (f"{code}: " if row.codes else "")
    return test_case._replace(
        code=code, message=f"{named}{row.reason.splitlines()[0]}{more}", text=row.reason
    )


def _remarks(report: Report, view: FigureView) -> list[str]:
    """What text says below the tables."""
    totals = report.totals
    named = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in report.states().items())
    pairs = f"{totals.pairs} pair{'s' * (totals.pairs != 1)}"
    lines = [f"{pairs}: {named or 'none'}; scores computed from {format_count(report.judged, 'pair')}"]
    unanswered = sum(totals.states[state] for state in NO_ANSWER_STATES)
    lines += matched_calls_note((figure.name for figure in view.figures(report) if figure.n), unanswered)
    repaired, unproved, with_choices = (totals.flags[name] for name in ("repaired", "unproved", "choices"))
    if repaired:
        lines.append(
            f"{repaired} prediction{'s were' if repaired > 1 else ' was'} readable only after repair; "
            f"without repair, {totals.flags['strictly_same']} of {report.judged} are the same"
        )
    if with_choices:
        lines.append(f"{with_choices} with several choices or candidates; the first was read")
    if unread := totals.flags["unread"]:
        subject = "predictions contain" if unread > 1 else "prediction contains"
        lines.append(f"{unread} {subject} what may be an unread call (planeval parse shows where)")
    if unproved:
        subject = "1 matching of calls is" if unproved == 1 else f"{unproved} matchings of calls are"
        lines.append(f"{subject} not proved optimal: the search was limited")
    counted = totals.pairs_by_code.keys() == totals.codes.keys()  # not so in a run of an earlier version
    if view.brief and report.causes is None and counted:
        lines += _commonest_causes(report)
    elif report.codes():
        lines.append("causes: " + ", ".join(f"{code} {count}" for code, count in report.codes().items()))
    lines += left_out_figures(report, view)
    lines += ["--metric all shows all metrics and causes"] if view.brief else []
    return [*lines, report.signature]


_MAX_CAUSES_SHOWN = 3
"""Causes that people are told of first."""


def _commonest_causes(report: Report) -> list[str]:
    """The root causes, and the states without an answer, that most of the wrong predictions have."""
    totals = report.totals
    counts = Counter({state: totals.states[state] for state in NO_ANSWER_STATES if totals.states[state]})
    wrong = totals.states["different"] + counts.total()
    counts.update(totals.pairs_by_code)
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda item: (-item[1], -totals.codes[item[0]], item[0]))
    lines = [f"most common causes among {format_count(wrong, 'wrong prediction')}:"]
    for number, (cause, count) in enumerate(ranked[:_MAX_CAUSES_SHOWN], 1):
        meaning = EDITS[cause] if cause in EDITS else STATES[cause].partition(";")[0]
        lines.append(
            f"{number}. {cause}, in {count:,} ({100 * round_ratio(count / wrong, 2):.10g} %): {meaning}"
        )
    return lines


def _beside_figures(report: Report) -> Iterator[tuple[str, Rows, list[str]]]:
    """Trials, costs and turns, where there are any: each a title, a table and sentences."""
    trials, sums = report.trials, report.totals.conversations
    if trials is not None:
        title = "Trials of tasks" if trials.passes else "Recorded verdicts"
        yield title, trial_rows(trials) if trials.passes else [], [*trial_lines(trials)]
    yield "Cost", cost_rows(sums, "/".join(report.totals.trials.fields)), cost_lines(sums)
    yield "Turns", [], [*turn_lines(sums)]


def beside_cards(report: Report) -> Rows:
    """Trials, costs and turns as a page shows them: each a title, a table and sentences."""
    return [
        {
            "title": title,
            "heads": [*rows[0]] if rows else [],
            "rows": [[*row.values()] for row in rows],
            "lines": lines,
        }
        for title, rows, lines in _beside_figures(report)
        if rows or lines
    ]


def _doubt_blocks(
    report: Report, selected: Sequence[Estimate], without: WithoutDoubts | None, style: Style
) -> list[str]:
    """The figures without the records of doubtful gold, where that was asked for."""
    if without is None:
        return []
    from planner_eval.results.gold_doubts import doubt_rows

    rows = doubt_rows(report, without, [figure.name for figure in selected])
    return [style.join([without.message, style.table(rows)])]


def left_out_figures(report: Report, view: FigureView) -> list[str]:
    """Which figures documents leave out, and why, as one line; none where nothing is left out."""
    figures = view.figures(report)
    selected = existing_figures(figures, view.every)
    return left_out_lines([figure.name for figure in figures if figure not in selected], report.lacks)


def _breakdowns(report: Report, selected: Sequence[Estimate], style: Style) -> list[str]:
    """A table a key of the breakdown, of the first figures."""
    names = [figure.name for figure in selected][:8]
    left_out = [f"the first {len(names)} of {len(selected)} metrics"] if len(selected) > len(names) else []
    tables = []
    for key, groups in report.breakdown.items():
        if key == "scope":
            groups = {plain_scope(value): estimates for value, estimates in groups.items()}
        without = report.totals.without(key)
        remark = [f"{without} of {report.judged} gold plans have no {key}"] if without else []
        head = f"{key} (key)" if key == "n" or key in names else key
        rows = [
            {head: value, "n": max((figure.n for figure in estimates), default=0)}
            | {figure.name: round_value(figure.value) for figure in estimates if figure.name in names}
            for value, estimates in groups.items()
        ]
        tables.append(style.join([style.table(rows), *remark, *left_out]))
    return tables


def _figure_data(figure: Estimate) -> JsonObject:
    span = figure.interval
    counts = figure.tally if isinstance(figure.tally, Counts) else None
    data: JsonObject = {"value": figure.value, "macro": figure.macro, "n": figure.n}
    data["counts"] = tally_data(figure.tally)
    if counts is not None:
        data |= {"precision": counts.precision, "recall": counts.recall}
    if span is not None:
        data["interval"] = {"low": span.low, "high": span.high, "method": span.method}
    return data


def report_data(report: Report) -> JsonObject:
    """A report as JSON data, but for its rows."""
    without = {key: count for key in report.breakdown if (count := report.totals.without(key))}
    return {
        "schema": "planeval.report/1",
        "signature": report.signature,
        **report.read,
        "pairs": report.totals.pairs,
        "judged": report.judged,
        "states": report.states(),
        "strictly_same": report.totals.flags["strictly_same"],
        "figures": {figure.name: _figure_data(figure) for figure in report.figures},
        "breakdown": {
            key: {value: {f.name: _figure_data(f) for f in estimates} for value, estimates in groups.items()}
            for key, groups in report.breakdown.items()
        },
        **({"without": without} if without else {}),
        "causes": report.codes(),
        **({} if report.causes is None else {"attribution": report.causes.data()}),
        **({} if (trials := report.trials) is None else {"trials": trial_data(trials)}),
        **conversation_data(report.totals.conversations),
    }
