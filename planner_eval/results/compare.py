"""Sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any, NamedTuple, TypeAlias, TypeVar

from planner_eval.base.text import format_count
from planner_eval.comparison.metrics import METRICS
from planner_eval.comparison.metrics.facts import Share
from planner_eval.comparison.rows import JUDGED_STATES, NO_ANSWER_STATES, STATES
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.results.columns import Column
from planner_eval.results.contrast import BothRead, Comparison, Contrast, Line, Records
from planner_eval.results.drawing.scene import Arrow, Box, Scene, name_text
from planner_eval.results.intervals import differences, holm
from planner_eval.results.report import (
    UNKNOWN_PROVENANCE,
    Provenance,
    count_clusters,
    figures,
    interval_note,
    no_cluster_error,
    shown_group,
    signature,
    sort_values,
)
from planner_eval.results.scored import ScoredRow
from planner_eval.results.totals import Totals, totals_of
from planner_eval.results.trials import TaskCount, TrialSums, fill_unanswered, pass_hat_k

# ----------------------------------------------------------------------
# The samples that two systems were both judged on, side by side, and what is counted of them.
NO_CALL = "nothing"
"""Stands for no call: on gold's side for a call too much, on the prediction's for one left out."""

PairedColumns: TypeAlias = dict[str, Column]
"""For each metric the two systems' counts, a pair a sample."""


class JoinedSums:
    """What is kept of the samples that two systems were both judged on.

    Args:
        metrics: What is counted.
        by: The keys that it is broken down by.
        cluster: The key by which samples lie in clusters.
    """

    def __init__(self, metrics: Sequence[str], by: Sequence[str], cluster: str | None = None) -> None:
        self.read, self.unread = (Totals(metrics, by, cluster=cluster) for _ in range(2))
        """What both systems counted in samples that both answered readably, and in the others."""
        self.lost: list[str] = []
        self.won: list[str] = []
        self.unread_lead = 0
        """Of the others: those that only the second gets right, less those that only the first does."""
        self.states: tuple[Counter[str], ...] = (Counter(), Counter())
        self.mistaken: tuple[Counter[tuple[str, str]], ...] = (Counter(), Counter())
        self.causes: tuple[Counter[str], ...] = (Counter(), Counter())
        self.causes_read: tuple[Counter[str], ...] = (Counter(), Counter())

    def add(self, *pair: ScoredRow) -> None:
        """Add the next sample: the first system's row and the second's."""
        first, second = pair
        read = first.state not in NO_ANSWER_STATES and second.state not in NO_ANSWER_STATES
        totals = self.read if read else self.unread
        if totals.cluster is not None and first.keys.get(totals.cluster) is None:
            raise no_cluster_error(totals.cluster, first.id)
        tallies: Any = {n: (first.tallies.get(n), second.tallies.get(n)) for n in totals.metrics}
        totals.add(ScoredRow(first.id, first.state, tallies, keys=first.keys))
        if (first.state == "same") != (second.state == "same"):
            (self.lost if first.state == "same" else self.won).append(first.id)
            self.unread_lead += 0 if read else 1 if second.state == "same" else -1
        for index, row in enumerate(pair):
            self.states[index][row.state] += 1
            self.causes[index].update(row.codes)
            if read:
                self.causes_read[index].update(row.codes)
            if row.state not in NO_ANSWER_STATES:  # what cannot be read takes no tool for another
                self.mistaken[index].update((gold or NO_CALL, pred or NO_CALL) for gold, pred in row.mistaken)

    @property
    def totals(self) -> Totals:
        """What both counted in all samples."""
        if not self.unread.pairs:
            return self.read
        totals = Totals(self.read.metrics, self.read.by, cluster=self.read.cluster)
        totals.extend(self.read)
        totals.extend(self.unread)
        return totals


def join_rows(
    first: Iterable[ScoredRow], second: Iterable[ScoredRow], side_totals: tuple[Totals, Totals]
) -> Iterator[tuple[ScoredRow, ScoredRow]]:
    """The samples that both were judged on, in the first's order; adds up the rows of each side.

    Both stand in gold's order as a rule, so that each has its partner beside it and none needs to be kept.

    Args:
        first: The one's rows.
        second: The other's.
        side_totals: What the rows of each are added to.
    """
    first_rows, second_rows = (
        _select_judged(rows, totals) for rows, totals in zip((first, second), side_totals, strict=True)
    )
    for first_row, second_row in zip_longest(first_rows, second_rows):
        if first_row is None or second_row is None or first_row.id != second_row.id:
            break
        yield first_row, second_row
    else:
        return
    remaining = {row.id: row for row in (second_row, *second_rows) if row is not None}
    for row in (first_row, *first_rows):
        if row is not None and row.id in remaining:
            yield row, remaining[row.id]


def _select_judged(rows: Iterable[ScoredRow], totals: Totals) -> Iterator[ScoredRow]:
    """The judged rows; all are added up."""
    for row in rows:
        totals.add(row)
        if row.state in JUDGED_STATES:
            yield row


_SAMPLED_ROWS = 200
"""So many rows of a system are looked at for whether they are trials."""


def name_trials_alike(first: Sequence[ScoredRow], other: Sequence[ScoredRow]) -> Sequence[ScoredRow]:
    """Another system's rows; trials of a task with no id of the first's in them get the first's, in order.

    Args:
        first: The first system's rows.
        other: The other's.

    >>> first, other = ([ScoredRow(f"a/{n}", "same", task="a") for n in numbers] for numbers in ("01", "xyz"))
    >>> [row.id for row in name_trials_alike(first, other)]
    ['a/0', 'a/1', 'a/z']
    >>> once = ScoredRow("b", "same", task="b")  # a task that both tried once
    >>> [row.id for row in name_trials_alike([*first, once], [once, *other])]
    ['b', 'a/0', 'a/1', 'a/z']
    """
    if all(row.task is None for rows in (first, other) for row in islice(rows, _SAMPLED_ROWS)):
        return other  # rows without trials are read once, and not kept
    ids = {row.id for row in first}
    alike = {row.task for row in other if row.task is not None and row.id in ids}
    if all(row.task in alike for row in other):
        return other
    names: dict[str, list[str]] = defaultdict(list)
    for row in first:
        if row.state in JUDGED_STATES and row.task not in alike:
            names[row.task or row.id].append(row.id)
    unused = {task: iter(task_names) for task, task_names in names.items()}
    renamed = []
    for row in other:
        task = row.task or row.id
        if row.state in JUDGED_STATES and task in unused:
            row = replace(row, id=next(unused[task], row.id), task=task)
        renamed.append(row)
    return renamed


def _count_tasks(rows: Sequence[ScoredRow]) -> dict[str, TaskCount]:
    """How often each task was tried and right; all judged trials count, also those without a partner."""
    sums = TrialSums()
    for row in rows:
        sums.add(row if row.task is not None else replace(row, task=row.id))
    return {task: counts for task, counts in fill_unanswered(sums.tasks).items() if counts.trials}


def _pass_lines(
    first: Mapping[str, TaskCount], second: Mapping[str, TaskCount], most: int, seed: int
) -> tuple[Line, ...]:
    """pass^k of two systems, a task a sample, for each k from 2 up to the most trials that all have."""
    columns: PairedColumns = {}
    for k in range(2, most + 1):
        column = columns[f"pass^{k}"] = Column()
        for task, counts in first.items():
            column.add(
                tuple(
                    Share(pass_hat_k(c.trials, c.right, k), 1) if c.trials >= k else None
                    for c in (counts, second.get(task, TaskCount()))
                )
            )
    return _lines(columns, seed) if columns else ()


# ----------------------------------------------------------------------
# Sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken.
Key = TypeVar("Key", str, tuple[str, str])
S = TypeVar("S")
T = TypeVar("T")

LOWER_IS_BETTER = frozenset(name for name, metric in METRICS.items() if metric.lower)
"""Metrics of which less is better."""


UNKNOWN_TOTALS = Totals((), data={"lacks": ()})
"""Nothing is known of what gold plans have."""


class System(NamedTuple):
    """What one system's predictions came to.

    Args:
        rows: The scored pairs.
        totals: What they add up to.
        about: How they came about.
        tried: It is known whether repair reads what strict reading refuses.
    """

    rows: Sequence[ScoredRow]
    totals: Totals = UNKNOWN_TOTALS
    about: Provenance = UNKNOWN_PROVENANCE
    tried: bool = True

    def count_records(self, judged: Totals) -> Records:
        """What became of its records, of which these are the sums.

        >>> from planner_eval.results.totals import totals_of
        >>> System(()).count_records(totals_of([ScoredRow("a", "same"), ScoredRow("b", "cut")], ()))[:7]
        (2, 1, 0, 1, 1, 0, 1)
        """
        states, flags = judged.states, judged.flags
        return Records(
            judged.pairs,
            read=states["same"] + states["different"],
            repaired=flags["repaired"],
            strictly_same=flags["strictly_same"],
            repeated=len(self.about.repeated),
            repairable=flags["repairable"] if self.tried else None,
            **{state: states[state] for state in STATES if state != "different"},
        )


def make_comparison(
    systems: Sequence[System],
    metrics: Sequence[str],
    *,
    names: Sequence[str],
    made: str,
    by: Sequence[str] = (),
    seed: int = 0,
    cluster: str | None = None,
) -> Comparison:
    """Compare each of several systems with the first, on the samples that both were judged on.

    Args:
        systems: The systems, scored against the same gold plans.
        metrics: The metrics they were scored with.
        names: What the systems are called.
        made: How the figures were made; how sure they are is added.
        by: What to break the differences down by, as the rows' keys, where the first has it.
        seed: Where random numbers start.
        cluster: By which of the rows' keys samples lie in clusters.

    Raises:
        InputError: a sample lies in no cluster, and they are asked for.
    """
    first = systems[0]
    by = [key for key in by if key not in first.totals.by or first.totals.groups[key]]
    systems = [first, *(s._replace(rows=name_trials_alike(first.rows, s.rows)) for s in systems[1:])]
    tasks = [_count_tasks(s.rows) if cluster == TASK_KEY else {} for s in systems]
    most = min(max((counts.trials for counts in system.values()), default=0) for system in tasks)
    contrasts = []
    for other, name, second in zip(systems[1:], names[1:], tasks[1:], strict=True):
        contrast = _contrast((first, other), metrics, (names[0], name), made, by, seed, cluster)
        lines = (*contrast.lines, *_pass_lines(tasks[0], second, most, seed))
        both = {task: (counts, second.get(task, TaskCount())) for task, counts in tasks[0].items()}
        contrasts.append(replace(contrast, lines=lines, tasks=both))
    return Comparison(_correct_contrasts(contrasts), tuple(metrics), seed, cluster)


def _contrast(
    systems: tuple[System, System],
    metrics: Sequence[str],
    names: tuple[str, str],
    origin: str,
    by: Sequence[str],
    seed: int,
    cluster: str | None,
) -> Contrast:
    joined_pairs = JoinedSums(metrics, by, cluster)
    side_totals = Totals(()), Totals(())
    runs = _of_both(lambda system: system.rows, systems)
    for first_row, second_row in join_rows(*runs, side_totals):
        joined_pairs.add(first_row, second_row)
    totals = joined_pairs.totals
    first, second = systems
    read = {
        side: s.about.read.get("answers", "") for side, s in zip(("first", "second"), systems, strict=True)
    }
    return Contrast(
        names,
        (first.count_records(side_totals[0]), second.count_records(side_totals[1])),
        _of_both(lambda states: sum(map(states.__getitem__, NO_ANSWER_STATES)), joined_pairs.states),
        _lines(totals.columns, seed),
        totals.pairs,
        tuple(joined_pairs.lost),
        tuple(joined_pairs.won),
        {
            key: {shown_group(value, groups): _lines(groups[value], seed) for value in sort_values(groups)}
            for key, groups in totals.groups.items()
        },
        _of_both(_sort_by_count, joined_pairs.mistaken),
        runs,
        f"{origin} | {interval_note(cluster, count_clusters(totals.columns))} | seed={seed}"
        f"{_unpaired_trials(names, side_totals, totals.pairs) if cluster == TASK_KEY else ''}",
        read=read | {"gold": second.about.read.get("gold", "")},
        lacks=first.totals.lacking,
        causes=_of_both(_sort_by_count, joined_pairs.causes),
        conversations=_of_both(lambda side: side.conversations, side_totals),
        both_read=_both_read(joined_pairs, seed) if joined_pairs.unread.pairs else None,
    )


def _unpaired_trials(names: Sequence[str], totals: Sequence[Totals], joined: int) -> str:
    """How many trials of each system have no partner in the other: of figures only pass^k counts them."""
    clauses = [
        f"{format_count(side.judged - joined, 'trial')} of {name}"
        for name, side in zip(names, totals, strict=True)
        if side.judged > joined
    ]
    return f", without {' and '.join(clauses)} that {names[0]} and {names[1]} do not share" if clauses else ""


def _of_both(function: Callable[[S], T], pair: Iterable[S]) -> tuple[T, T]:
    """What a function gives of each of two systems."""
    first, second = map(function, pair)
    return first, second


def _both_read(joined_pairs: JoinedSums, seed: int) -> BothRead:
    return BothRead(
        joined_pairs.read.pairs,
        _lines(joined_pairs.read.columns, seed),
        _of_both(_sort_by_count, joined_pairs.causes_read),
        _of_both(lambda states: {s: states[s] for s in NO_ANSWER_STATES if states[s]}, joined_pairs.states),
        joined_pairs.unread_lead,
    )


def _join_unequal(values: Sequence[str]) -> str:
    """What systems have, once if all have the same."""
    return values[0] if len({*values}) == 1 else ", ".join(values)


def signature_of(systems: Sequence[System], names: Sequence[str], policy: str, **version: str) -> str:
    """How the figures of several systems were made, in one line.

    Args:
        systems: The systems.
        names: What they are called.
        policy: What the policy is called.
        version: Which version scored them, where it is another.
    """
    first = systems[0]
    descriptions = zip(*((s.about.answers, s.about.pairing, s.totals.read) for s in systems), strict=True)
    provenance = {
        **dict(zip(("answers", "pairing", "notation"), map(_join_unequal, descriptions), strict=True)),
        "reading": first.about.reading,
        **first.about.counted,
        **{name: system.about.mark for name, system in zip(names, systems, strict=True) if system.about.mark},
    }
    return signature(policy, **version, **provenance)


def _correct_contrasts(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The probabilities after Holm's correction.

    Over all figures; over those of what both answered readably; over all of each breakdown.
    """
    figures = _correct_blocks([contrast.lines for contrast in contrasts])
    family = sum(line.p is not None for lines in figures for line in lines)
    of_read = _correct_blocks(
        [() if contrast.both_read is None else contrast.both_read.lines for contrast in contrasts]
    )
    breakdowns: list[dict[str, dict[str, tuple[Line, ...]]]] = [{} for _ in contrasts]
    for key in contrasts[0].breakdown:
        groups = [
            (index, value) for index, contrast in enumerate(contrasts) for value in contrast.breakdown[key]
        ]
        corrected = _correct_blocks([contrasts[index].breakdown[key][value] for index, value in groups])
        for (index, value), lines in zip(groups, corrected, strict=True):
            breakdowns[index].setdefault(key, {})[value] = lines
    return tuple(
        replace(
            contrast,
            lines=lines,
            breakdown=breakdown,
            family=family,
            both_read=contrast.both_read and replace(contrast.both_read, lines=read),
        )
        for contrast, lines, breakdown, read in zip(contrasts, figures, breakdowns, of_read, strict=True)
    )


def _correct_blocks(blocks: Sequence[Sequence[Line]]) -> list[tuple[Line, ...]]:
    """Blocks of lines that are one family of tests, with corrected probabilities."""
    corrected = iter(holm([line.difference.p for lines in blocks for line in lines]))
    return [tuple(replace(line, p=next(corrected)) for line in lines) for lines in blocks]


def _lines(columns: PairedColumns, seed: int) -> tuple[Line, ...]:
    tests = differences(columns, seed=seed)
    estimates = (figures({n: c.side(side_index) for n, c in columns.items()}) for side_index in (0, 1))
    return tuple(
        Line(a, b, tests[a.name], lower=a.name in LOWER_IS_BETTER) for a, b in zip(*estimates, strict=True)
    )


def _sort_by_count(counter: Counter[Key]) -> dict[Key, int]:
    """What was counted, the commonest first."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def mistaken_scene(comparison: Comparison) -> Scene:
    """The graph of which tool was taken for which: an arrow from gold's tool to the one called.

    Each arrow's label counts the systems' mistakes, e.g. ``3 | 1``.
    """
    counts = mistaken_counts(comparison)
    tools = sorted({tool for pair in counts for tool in pair})
    positions = {tool: position for position, tool in enumerate(tools)}
    boxes = tuple(Box(name_text(tool), "plain", name_text(tool)) for tool in tools)
    arrows = tuple(
        Arrow(positions[gold], positions[pred], "plain", " | ".join(map(str, row)))
        for (gold, pred), row in counts.items()
    )
    caption = f"gold's tool → the predicted tool; counts: {' | '.join(comparison.names)}"
    return Scene(boxes, arrows, caption, layout=(("rankdir", "LR"),))


def mistaken_counts(comparison: Comparison) -> dict[tuple[str, str], list[int]]:
    """(Gold's tool, the tool called) → how often each system took it so, the commonest first."""
    counts = _count_systems(comparison.of_each("mistaken"))
    return dict(sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0])))


def _count_systems(systems: Sequence[Mapping[Any, int]]) -> dict[Any, list[int]]:
    """What is counted → how often in each system."""
    keys = {key for system in systems for key in system}
    return {key: [system.get(key, 0) for system in systems] for key in keys}


def cause_counts(comparison: Comparison) -> dict[str, list[int]]:
    """Code of a root cause → how often each system has it, what differs most first."""
    counts = _count_systems(comparison.of_each("causes"))
    return dict(
        sorted(counts.items(), key=lambda item: (min(item[1]) - max(item[1]), -sum(item[1]), item[0]))
    )


def unjudged_totals(comparison: Comparison) -> Totals:
    """Sums over pairs that no gold plan judges: unreadable gold once, predictions without any by system."""
    unjudged_rows: dict[tuple[str, int | None], ScoredRow] = {}
    for system, run in enumerate(comparison.of_each("rows")):
        for row in run:
            if row.state not in JUDGED_STATES:
                owner = system if row.state == "gold_absent" else None
                unjudged_rows.setdefault((row.id, owner), row)
    return totals_of(unjudged_rows.values(), ())
