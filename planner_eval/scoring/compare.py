"""Sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

from planner_eval.drawing.labels import name_text
from planner_eval.drawing.scene import Arrow, Box, Scene
from planner_eval.metrics import METRICS
from planner_eval.records.rows import JUDGED, NO_ANSWER
from planner_eval.scoring.chance import holm
from planner_eval.scoring.columns import Column
from planner_eval.scoring.contrast import Comparison, Contrast, Line
from planner_eval.scoring.differences import differences
from planner_eval.scoring.record_counts import count_records
from planner_eval.scoring.report import (
    About,
    clusters_of,
    figures,
    in_no_cluster,
    in_order,
    signature,
    sureness,
)
from planner_eval.scoring.scored import Scored
from planner_eval.scoring.totals import Totals, totals_of

NOTHING = "nothing"
"""Stands for no call: on gold's side for a call too much, on the prediction's for one left out."""

LOWER = frozenset(name for name, metric in METRICS.items() if metric.lower)
"""Metrics of which less is better."""


def make_comparison(
    runs: Sequence[Sequence[Scored]],
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
        runs: The scored pairs of each system, against the same gold plans.
        metrics: The metrics they were scored with.
        names: What the systems are called.
        made: How the figures were made; how sure they are is added.
        by: What to break the differences down by, as the rows' keys.
        seed: Where random numbers start.
        cluster: By which of the rows' keys samples lie in clusters.

    Raises:
        InputError: a sample lies in no cluster, and they are asked for.
    """
    found = [
        _contrast((runs[0], other), metrics, (names[0], name), made, by, seed, cluster)
        for other, name in zip(runs[1:], names[1:], strict=True)
    ]
    return Comparison(_corrected(found))


def make_contrast(first: Sequence[Scored], second: Sequence[Scored], *args: Any, **options: Any) -> Contrast:
    """Compare two systems, as :func:`make_comparison` does several."""
    return make_comparison((first, second), *args, **options).contrasts[0]


def _contrast(
    runs: tuple[Sequence[Scored], Sequence[Scored]],
    metrics: Sequence[str],
    names: tuple[str, str],
    made: str,
    by: Sequence[str],
    seed: int,
    cluster: str | None,
) -> Contrast:
    found = _Joined(metrics, by, cluster)
    sides = Totals(()), Totals(())
    for ours, theirs in _joined(*runs, sides):
        found.add(ours, theirs)
    return Contrast(
        names,
        (count_records(sides[0]), count_records(sides[1])),
        (found.unanswered[0], found.unanswered[1]),
        _lines(found.columns, seed),
        found.n,
        tuple(found.lost),
        tuple(found.won),
        {
            key: {value: _lines(groups[value], seed) for value in in_order(groups)}
            for key, groups in found.groups.items()
        },
        (_ranked(found.mistaken[0]), _ranked(found.mistaken[1])),
        runs,
        f"{made}, {sureness(cluster, clusters_of(found.columns))}, seed {seed}",
    )


Pairs: TypeAlias = dict[str, Column]
"""For each metric the two systems' counts, a pair a sample."""


class System(NamedTuple):
    """What one system's predictions came to.

    Args:
        rows: The scored pairs.
        totals: What they add up to.
        about: How they came about.
    """

    rows: Sequence[Scored]
    totals: Totals
    about: About


def comparison_of(
    systems: Sequence[System],
    metrics: Sequence[str],
    *,
    names: Sequence[str],
    by: Sequence[str],
    seed: int,
    policy: str,
    cluster: str | None = None,
    **said: str,
) -> Comparison:
    """Compare each of several systems with the first, and say how that was done.

    Args:
        systems: The systems.
        metrics: The metrics they were scored with.
        names: What the systems are called.
        by: What to break the differences down by, where the first has it.
        seed: Where random numbers start.
        policy: What the policy is called.
        cluster: By which key of the rows samples lie in clusters.
        said: Which version scored them, where it is another.
    """
    first = systems[0]
    parts = {
        "answers": " and ".join(one.about.answers for one in systems),
        "pairing": " and ".join(f"{one.about.pairing} ({one.totals.read})" for one in systems),
        "reading": first.about.reading,
        **first.about.counted,
    }
    found = make_comparison(
        [one.rows for one in systems],
        metrics,
        names=names,
        made=signature(policy, **said, **parts),
        by=[key for key in by if first.totals.groups[key]],
        seed=seed,
        cluster=cluster,
    )
    made = []
    for each, other in zip(found.contrasts, systems[1:], strict=True):
        both = (first.about, other.about)
        records = [
            counts._replace(repeated=len(about.repeated))
            for counts, about in zip(each.records, both, strict=True)
        ]
        read = {"first": first.about.read["answers"], "second": other.about.read["answers"]}
        read["gold"] = other.about.read["gold"]
        lacks = first.totals.lacking
        made.append(replace(each, records=(records[0], records[1]), read=read, lacks=lacks))
    return Comparison(tuple(made))


class _Joined:
    """What is kept of the samples that two systems were both judged on."""

    def __init__(self, metrics: Sequence[str], by: Sequence[str], cluster: str | None = None) -> None:
        self.metrics, self.cluster, self.n = metrics, cluster, 0
        self.columns: Pairs = {name: Column() for name in metrics}
        self.groups: dict[str, dict[str, Pairs]] = {key: {} for key in by}
        self.lost: list[str] = []
        self.won: list[str] = []
        self.unanswered = [0, 0]
        self.mistaken: tuple[Counter[tuple[str, str]], ...] = (Counter(), Counter())

    def add(self, *both: Scored) -> None:
        ours, theirs = both
        self.n += 1
        self._count(self.columns, ours, theirs)
        for key, groups in self.groups.items():
            if (value := ours.keys.get(key)) is not None:
                if value not in groups:
                    groups[value] = {name: Column() for name in self.metrics}
                self._count(groups[value], ours, theirs)
        if (ours.state == "same") != (theirs.state == "same"):
            (self.lost if ours.state == "same" else self.won).append(ours.id)
        for at, row in enumerate(both):
            self.unanswered[at] += row.state in NO_ANSWER
            self.mistaken[at].update((gold or NOTHING, pred or NOTHING) for gold, pred in row.mistaken)

    def _count(self, columns: Pairs, ours: Scored, theirs: Scored) -> None:
        cluster = None if self.cluster is None else ours.keys.get(self.cluster)
        if self.cluster is not None and cluster is None:
            raise in_no_cluster(self.cluster, ours.id)
        for name, column in columns.items():
            column.add((ours.tallies.get(name), theirs.tallies.get(name)), cluster)


def _joined(
    first: Iterable[Scored], second: Iterable[Scored], sides: tuple[Totals, Totals]
) -> Iterator[tuple[Scored, Scored]]:
    """The samples that both were judged on, in the first's order; adds up the rows of each side.

    Both stand in gold's order as a rule, so that each has its partner beside it and none needs to be kept.
    """
    ours, theirs = (_judged(rows, totals) for rows, totals in zip((first, second), sides, strict=True))
    for one, other in zip_longest(ours, theirs):
        if one is None or other is None or one.id != other.id:
            break
        yield one, other
    else:
        return
    rest = {row.id: row for row in (other, *theirs) if row is not None}
    for row in (one, *ours):
        if row is not None and row.id in rest:
            yield row, rest[row.id]


def _judged(rows: Iterable[Scored], totals: Totals) -> Iterator[Scored]:
    for row in rows:
        totals.add(row)
        if row.state in JUDGED:
            yield row


def _corrected(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The probabilities after Holm's correction: over all figures, and over all of each breakdown."""
    figures = _holm([each.lines for each in found])
    family = sum(line.p is not None for lines in figures for line in lines)
    breakdowns: list[dict[str, dict[str, tuple[Line, ...]]]] = [{} for _ in found]
    for key in found[0].breakdown:
        groups = [(at, value) for at, each in enumerate(found) for value in each.breakdown[key]]
        corrected = _holm([found[at].breakdown[key][value] for at, value in groups])
        for (at, value), lines in zip(groups, corrected, strict=True):
            breakdowns[at].setdefault(key, {})[value] = lines
    return tuple(
        replace(each, lines=lines, breakdown=breakdown, family=family)
        for each, lines, breakdown in zip(found, figures, breakdowns, strict=True)
    )


def _holm(blocks: Sequence[Sequence[Line]]) -> list[tuple[Line, ...]]:
    """Blocks of lines that are one family of tests, with corrected probabilities."""
    corrected = iter(holm([line.difference.p for lines in blocks for line in lines]))
    return [tuple(replace(line, p=next(corrected)) for line in lines) for lines in blocks]


def _lines(columns: Pairs, seed: int) -> tuple[Line, ...]:
    found = differences(columns, seed=seed)
    sides = (figures({n: c.side(at) for n, c in columns.items()}) for at in (0, 1))
    return tuple(Line(a, b, found[a.name], lower=a.name in LOWER) for a, b in zip(*sides, strict=True))


def _ranked(found: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Which tool was taken for which, the commonest first."""
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def mistaken_scene(found: Comparison) -> Scene:
    """The graph of which tool was taken for which: an arrow from gold's tool to the one called.

    Each arrow's label counts the systems' mistakes, e.g. ``3 | 1``.
    """
    counts = mistaken_counts(found)
    tools = sorted({tool for pair in counts for tool in pair})
    place = {tool: at for at, tool in enumerate(tools)}
    boxes = tuple(Box(name_text(tool), "plain", name_text(tool)) for tool in tools)
    arrows = tuple(
        Arrow(place[gold], place[pred], "plain", " | ".join(map(str, row)))
        for (gold, pred), row in counts.items()
    )
    said = f"gold's tool → the tool called instead; counts: {' | '.join(found.names)}"
    return Scene(boxes, arrows, said, layout=(("rankdir", "LR"),))


def mistaken_counts(found: Comparison) -> dict[tuple[str, str], list[int]]:
    """(Gold's tool, the tool called) → how often each system took it so, the commonest first."""
    systems = [found.contrasts[0].mistaken[0], *(each.mistaken[1] for each in found.contrasts)]
    pairs: Iterable[tuple[str, str]] = {pair for system in systems for pair in system}
    counts = {pair: [system.get(pair, 0) for system in systems] for pair in pairs}
    return dict(sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0])))


def unjudged(found: Comparison) -> Totals:
    """Sums over the pairs without a gold plan to be judged by, each once, of whichever systems."""
    sides = (side for each in found.contrasts for side in each.rows)
    lost = {row.id: row for side in sides for row in side if row.state not in JUDGED}
    return totals_of(lost.values(), ())
