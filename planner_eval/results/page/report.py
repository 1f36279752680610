"""One page of compared pairs: what was right, what went wrong, and why, of one system or of two."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import NAMES, InputError, expect_or_none
from planner_eval.base.text import JsonObject
from planner_eval.comparison.evaluate import (
    PairedFiles,
    Progress,
    pair,
    pair_systems,
    read_shared_gold,
    report_progress,
)
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.metrics import METRICS, choose_metrics
from planner_eval.comparison.metrics.facts import Counts
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import STATES, reading_notes
from planner_eval.reading.files.context import question_field
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.reading.parse import Source
from planner_eval.reading.settings import DEFAULT_READING, Reading
from planner_eval.results.compare import System, make_comparison, signature_of
from planner_eval.results.contrast import Contrast, name_systems
from planner_eval.results.page.lines import PageJob
from planner_eval.results.page.page import PACK_SIZE, SCHEMA, LineSpool, Packs, page
from planner_eval.results.report import Estimate, Report, report_of
from planner_eval.results.runs.jobs import Effects, ScoreJob
from planner_eval.results.runs.model import DEFAULT_RUNNING, Running, check_running, make_change_check
from planner_eval.results.runs.run import run
from planner_eval.results.runs.stored import StoredLines
from planner_eval.results.score import (
    Systems,
    check_breakdown,
    refuse_unknown_keys,
    repair_predictions,
    scoring_job,
)
from planner_eval.results.scored import BREAKDOWN_FIELDS, StoredRows
from planner_eval.results.totals import Totals
from planner_eval.results.views.report import beside_cards

if TYPE_CHECKING:
    from planner_eval.results.causes import CauseSum

# ----------------------------------------------------------------------
# The head of a page: figures, states and breakdowns of each run, and two runs compared.
THEMES = ("auto", "light", "dark")
"""How a page looks: as the reader's system does, or always the same."""

_MAX_MISTAKEN = 200


def head_of(
    packs: Packs,
    runs: Sequence[Mapping[str, Any]],
    *,
    title: str,
    commands: Sequence[Sequence[str] | None],
    notes: Sequence[str],
    theme: str = "auto",
    compare: Mapping[str, Any] | None = None,
) -> JsonObject:
    """What a page says before any pair is looked at.

    Args:
        packs: The pairs.
        runs: What is known of each run, as :func:`run_data` gives it.
        title: The page's heading.
        commands: Of each run the command that shows a pair, up to its id.
        notes: What the reader should know.
        theme: One of :data:`THEMES`.
        compare: How two runs compare, as :func:`compare_data` gives it.
    """
    names = [*packs.states]
    present = {names[number] for s in packs.sides for number in s.columns["state"]}
    present.update(state for run in runs for state in run["states"])
    return {
        "schema": SCHEMA,
        "title": title,
        "version": __version__,
        "chunk": PACK_SIZE,
        "packs": packs.count,
        "details": packs.detail_packs,
        "pairs": len(packs.ids),
        "states": {state: meaning for state, meaning in packs.states.items() if state in present},
        "codes": {code: EDITS[code] for code, _ in packs.codes.most_common()},
        "runs": list(runs),
        **({"compare": compare} if compare is not None else {}),
        "commands": [None if c is None else list(c) for c in commands],
        "theme": theme,
        "notes": list(notes),
    }


def run_data(
    report: Report,
    name: str,
    mistaken: Mapping[tuple[str | None, str | None], int],
) -> JsonObject:
    """What a page says of a run.

    Args:
        report: Its figures.
        name: What it is called.
        mistaken: (gold's tool, the tool that was taken for it) → pairs.
    """
    ranked = sorted(mistaken.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
    return {
        "name": name,
        "signature": report.signature,
        "answers": report.read.get("answers", ""),
        "states": report.states(),
        "figures": [_figure_data(f) for f in report.figures if f.value is not None],
        "by": [
            {"field": field, "rows": [_group_data(*group) for group in groups.items()]}
            for field, groups in report.breakdown.items()
        ],
        "causes": None if report.causes is None else [_cause_data(r) for r in report.causes.rows],
        "fixes": []
        if report.causes is None
        else [report.causes.sentence(fix) for fix in report.causes.fixes],
        "mistaken": [[gold, tool, pairs] for (gold, tool), pairs in ranked[:_MAX_MISTAKEN]],
        "beside": beside_cards(report),
    }


_CAUSE_FIELDS = {
    "code": ("code",), "tool": ("tool",), "argument": ("tool", "argument"), "call": ("tool", "code"),
    "depth": (),
}  # fmt: skip
"""By what the page picks the pairs that have causes of a kind."""


def _cause_data(cause: CauseSum) -> JsonObject:
    """A group of root causes: what they cost ``exact``, and what mending them alone would gain."""
    kind, names = cause.kind, cause.parts
    picks = (
        {"state": names[0]}
        if kind == "code" and names[0] in STATES
        else dict(zip(_CAUSE_FIELDS[kind], names, strict=False))
    )
    return {
        "kind": kind, "name": cause.name, "pairs": cause.pairs, "credit": cause.exact, "gain": cause.gain,
        "picks": picks,
    }  # fmt: skip


def _figure_data(estimate: Estimate) -> JsonObject:
    data: JsonObject = {
        "name": estimate.name,
        "value": estimate.value,
        "n": estimate.n,
        **_direction_data(estimate.name),
    }
    if estimate.interval is not None:
        data |= {"low": estimate.interval.low, "high": estimate.interval.high}
    if isinstance(estimate.tally, Counts):
        data |= {"precision": estimate.tally.precision, "recall": estimate.tally.recall}
    return data


def _direction_data(name: str) -> dict[str, bool]:
    """That less of a figure is better, where it is."""
    return {"lower": True} if name in METRICS and METRICS[name].lower else {}


def _group_data(value: str, estimates: Iterable[Estimate]) -> JsonObject:
    valued = [e for e in estimates if e.value is not None]
    return {
        "value": value,
        "n": max((e.n for e in valued), default=0),
        "figures": {e.name: e.value for e in valued},
    }


def compare_data(contrast: Contrast) -> JsonObject:
    """How two runs compare.

    Args:
        contrast: The contrast of the second with the first.
    """
    lines = [
        {
            "name": line.name,
            "a": line.first.value,
            "b": line.second.value,
            "low": line.difference.low,
            "high": line.difference.high,
            "p": line.p,
            **_direction_data(line.name),
        }
        for line in contrast.lines
        if line.first.value is not None or line.second.value is not None
    ]
    return {
        "figures": lines,
        "verdict": contrast.verdict,
        "n": contrast.n,
        "lost": len(contrast.lost),
        "won": len(contrast.won),
    }


# ----------------------------------------------------------------------
# One page of compared pairs: what was right, what went wrong, and why, of one system or of two.
BREAKDOWN_KEYS = ("calls", *BREAKDOWN_FIELDS)
"""What pairs are told apart by unless the user says it."""


class PageSettings(NamedTuple):
    """What a page shows, and how.

    Args:
        title: Its heading; made of the names when left out.
        query: The field of a record that holds the question or the conversation; recognised when left out,
            none when "".
        texts: Show the texts of plans, as far as they are no longer than 20,000 characters.
        failures: List only pairs that are not the same; figures are of all.
        limit: List so many pairs at most.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        command: The command that shows one pair, up to its id; of two systems one of each.
        stored: Of each system the rows of its run of diff, see :attr:`.PageRun.stored`.
    """

    title: str | None = None
    query: str | None = None
    texts: bool = True
    failures: bool = False
    limit: int | None = None
    theme: str = "auto"
    command: Sequence[str] | Sequence[Sequence[str] | None] | None = None
    stored: Sequence[StoredLines | None] = ()


DEFAULT_SETTINGS = PageSettings()
"""All pairs, with their texts."""


class PageResult(NamedTuple):
    """A page, and what it is made of.

    Args:
        pieces: The page, piece by piece.
        reports: The figures of each system.
        notes: What the user should know.
    """

    pieces: Iterator[str]
    reports: tuple[Report, ...]
    notes: tuple[str, ...]


def report(  # noqa: PLR0913 - the options of a public function
    pred: Source | Systems,
    gold: Source = None,
    *,
    reading: Reading = DEFAULT_READING,
    policy: AnyPolicy = DEFAULT_POLICY,
    metrics: Iterable[str] = (),
    by: Sequence[str] = (),
    cluster: str | None = None,
    causes: bool = False,
    effects: Effects | None = None,
    names: Sequence[str] | None = None,
    running: Running = DEFAULT_RUNNING,
    progress: Progress | None = None,
    shown: PageSettings = DEFAULT_SETTINGS,
) -> PageResult:
    """Write one page of compared pairs: figures, what went wrong, and each pair with both plans.

    Args:
        pred: The predictions, as for :func:`planner_eval.pair`; of two systems a list or a mapping of two; or
            what :func:`planner_eval.pair` gave, or a list of two of these.
        gold: The gold plans; nothing beside what :func:`planner_eval.pair` gave.
        reading: How all are read and paired.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        metrics: Names of :data:`planner_eval.comparison.metrics.METRICS` or of their groups, or one name;
            all but those of other benchmarks when left out.
        by: What to break the figures down by, as for :func:`planner_eval.score`.
        cluster: What says in which cluster a pair lies, as for :func:`planner_eval.score`.
        causes: Find what each root cause costs, as :func:`planner_eval.attribute` does.
        effects: Runs the plans of a pair and says what they come to, in this process alone.
        names: What the systems are called; their files when left out.
        running: How the work is done.
        progress: Is told how many pairs are done, and of how many.
        shown: What the page shows, and how.

    Returns:
        The page in pieces, the figures of each system, and what the user should know.

    Raises:
        InputError: there is no such metric, file, policy or field; or there are more than two systems.

    >>> made = report(["f(#x='1')"], ["f(#x='2')"])
    >>> made.reports[0].states(), "".join(made.pieces).count("planeval.page/1")
    ({'different': 1}, 1)
    """
    chosen = policy_of(policy)
    by = check_breakdown(by, cluster, effects=effects, progress=progress)
    expect_or_none(NAMES, names=names)
    check_running(running)
    pairings, called = _pair_systems(pred, gold, reading, names)
    refuse_bad_settings(shown)
    query, query_notes = question_field(shown.query, pairings[0].gold, pairings[0].pred)
    keys = tuple(by) or BREAKDOWN_KEYS
    cluster = cluster or (TASK_KEY if any(paired.trials for paired in pairings) else None)
    results = []
    for paired, stored in zip_longest(pairings, shown.stored):
        score = scoring_job(paired, choose_metrics(metrics), chosen, keys, cluster, kept=True, causes=causes)
        job = PageJob(score, keys, query, shown.texts, len(pairings) > 1, stored)
        results.append(read_system(job, paired, running, progress, effects))
    for result in results:
        result.totals.names.check(chosen)
        refuse_unknown_keys(by, result.totals)
    return page_of_results(results, pairings, chosen, called, shown, query_notes)


class SystemResults(NamedTuple):
    """A system's pairs as lines, and what they add up to."""

    sheaf: LineSpool
    totals: Totals
    score: ScoreJob


def read_system(
    job: PageJob,
    paired: PairedFiles,
    running: Running,
    progress: Progress | None,
    effects: Effects | None,
) -> SystemResults:
    """Have the pairs of a system told: here, or in parts by processes.

    Args:
        job: How they are told.
        paired: The pairs.
        running: How the work is done.
        progress: Is told how many are done.
        effects: Runs the plans of a pair, in this process alone.

    Raises:
        InputError: a file behind the pairs was changed meanwhile, or cannot be read.
    """
    if not running.in_parts or effects is not None:
        totals = job.fold()
        rows = job.rows(paired.pairs, totals, *filter(None, [effects]))
        sheaf = LineSpool(tempfile.TemporaryFile())  # noqa: SIM115 - it lives as long as the page is written
        sheaf.extend(rows if progress is None else report_progress(rows, len(paired.pairs), progress))
        return SystemResults(sheaf, totals, job.score)
    same = make_change_check(paired.pred, paired.gold)
    outcome = run(job, paired.pairs, running, progress=progress, unchanged=same)
    return SystemResults(LineSpool(open(outcome.rows, "rb"), outcome), outcome.sums, job.score)


def page_of_results(
    results: Sequence[SystemResults],
    pairings: Sequence[PairedFiles],
    policy: Policy,
    names: Sequence[str],
    display: PageSettings,
    query_notes: Sequence[str],
) -> PageResult:
    """The page of pairs that were compared.

    Args:
        results: The pairs of each system.
        pairings: The files behind them.
        policy: How values were compared.
        names: What the systems are called.
        display: What the page shows.
        query_notes: What the user should know already.
    """
    packs = Packs([r.sheaf for r in results], failures=display.failures, limit=display.limit)
    reports = tuple(report_of(r.totals, (), r.score.about, policy=policy.name) for r in results)
    noted = [note for p in pairings for note in reading_notes(p.reading, [p.pred], p.gold)]
    own_notes = [*query_notes, *omission_notes(packs, display)]
    runs = [
        run_data(report, name, confusions)
        for report, name, confusions in zip(reports, names, packs.taken, strict=True)
    ]
    title = display.title or f"{' and '.join(names)} against {pairings[0].gold.name}"
    commands: Any = display.command
    if not commands or isinstance(commands[0], str):  # one command is that of the first system
        commands = [commands or None]
    head = head_of(
        packs,
        runs,
        title=title,
        commands=[*commands, *[None] * (len(results) - len(commands))],
        notes=[*dict.fromkeys([*noted, *own_notes])],
        theme=display.theme,
        compare=_comparison_data(results, names, policy) if len(results) > 1 else None,
    )
    return PageResult(page(head, packs), reports, tuple(dict.fromkeys(own_notes)))


def omission_notes(packs: Packs, display: PageSettings, what: str = "pairs") -> Iterator[str]:
    """That not all pairs are listed.

    Args:
        packs: What the page holds.
        display: What it shows.
        what: What is listed: ``"pairs"``, or ``"records"`` that a benchmark scored.
    """
    if display.limit is not None and packs.found > len(packs.ids):
        yield f"the first {len(packs.ids):,} of {packs.found:,} {what} are listed; scores cover all"
    if display.failures:
        right = "the same" if what == "pairs" else "right"
        yield f"{what} that are {right} are not listed; scores cover all"


def _comparison_data(results: Sequence[SystemResults], names: Sequence[str], policy: Policy) -> JsonObject:
    job = results[0].score
    systems = [System(_counted_rows(r), r.totals, r.score.about) for r in results]
    provenance = signature_of(systems, names, policy.name)
    comparison = make_comparison(systems, job.metrics, names=names, made=provenance, cluster=job.cluster)
    return compare_data(comparison.contrasts[0])


def _counted_rows(result: SystemResults) -> StoredRows:
    """What metrics counted in each pair of a system, read when it is asked for."""
    return StoredRows(lambda: map(json.loads, result.sheaf.counts()), result.totals.pairs)


def _pair_systems(
    pred: Any, gold: Source, reading: Reading, names: Sequence[str] | None
) -> tuple[list[PairedFiles], Sequence[str]]:
    """One system or two, paired with gold, and what they are called."""
    if isinstance(pred, PairedFiles):
        return [repair_predictions(pred)], _system_names(names, pred)
    source_types = (PairedFiles, PlanFile, os.PathLike, list, tuple)
    is_list = (
        isinstance(pred, (list, tuple)) and len(pred) > 1 and all(isinstance(p, source_types) for p in pred)
    )
    if not isinstance(pred, Mapping) and not is_list:
        paired = repair_predictions(pair(pred, gold, reading=reading))
        return [paired], _system_names(names, paired)
    if len(pred) > 2:
        raise InputError(f"a page shows one system or two, not {len(pred)}")
    pred, called = name_systems(pred, names)
    if all(isinstance(p, PairedFiles) for p in pred):
        return [repair_predictions(p) for p in pred], called
    right = read_shared_gold(gold, reading)
    return [*map(repair_predictions, pair_systems(pred, right, reading))], called


def _system_names(names: Any, system: PairedFiles) -> Sequence[str]:
    """What one system is called; a text may stand alone."""
    called = (names,) if isinstance(names, str) else names or (system.pred.name,)
    if len(called) > 1:
        raise InputError(f"there are {len(called)} names for 1 system")
    return called


def refuse_bad_settings(display: PageSettings) -> None:
    """Refuse a look that there is not, and a limit that is none.

    Raises:
        InputError: says what is expected.
    """
    if not isinstance(display, PageSettings):
        raise InputError(
            f"shown is {display!r}, expected PageSettings(…) of planner_eval.results.page.report"
        )
    if display.theme not in THEMES:
        raise InputError(f"the theme is {display.theme!r}, expected one of {', '.join(THEMES)}")
    if display.limit is not None and display.limit < 1:
        raise InputError(f"the limit is {display.limit}, expected a number from 1 on")
