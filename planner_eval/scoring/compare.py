"""Sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from planner_eval.drawing.labels import name_text
from planner_eval.drawing.scene import Arrow, Box, Scene
from planner_eval.metrics import METRICS
from planner_eval.records.rows import JUDGED, NO_ANSWER
from planner_eval.scoring.chance import holm
from planner_eval.scoring.contrast import BothRead, Comparison, Contrast, Line
from planner_eval.scoring.differences import differences
from planner_eval.scoring.joining import Joined, Pairs, joined
from planner_eval.scoring.record_counts import count_records
from planner_eval.scoring.report import (
    About,
    clusters_of,
    figures,
    in_order,
    signature,
    sureness,
)
from planner_eval.scoring.scored import Scored
from planner_eval.scoring.totals import Totals, totals_of

Key = TypeVar("Key", str, tuple[str, str])

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
    found = Joined(metrics, by, cluster)
    sides = Totals(()), Totals(())
    for ours, theirs in joined(*runs, sides):
        found.add(ours, theirs)
    columns = found.columns
    return Contrast(
        names,
        (count_records(sides[0]), count_records(sides[1])),
        (_unanswered(found.states[0]), _unanswered(found.states[1])),
        _lines(columns, seed),
        found.n,
        tuple(found.lost),
        tuple(found.won),
        {
            key: {value: _lines(groups[value], seed) for value in in_order(groups)}
            for key, groups in found.groups.items()
        },
        (_ranked(found.mistaken[0]), _ranked(found.mistaken[1])),
        runs,
        f"{made}, {sureness(cluster, clusters_of(columns))}, seed {seed}",
        causes=(_ranked(found.causes[0]), _ranked(found.causes[1])),
        both_read=None if found.both_read == found.n else _both_read(found, seed),
    )


def _unanswered(states: Counter[str]) -> int:
    return sum(states[state] for state in NO_ANSWER)


def _both_read(found: Joined, seed: int) -> BothRead:
    states = found.states
    return BothRead(
        found.both_read,
        _lines(found.read, seed),
        (_ranked(found.causes_read[0]), _ranked(found.causes_read[1])),
        (
            {s: states[0][s] for s in NO_ANSWER if states[0][s]},
            {s: states[1][s] for s in NO_ANSWER if states[1][s]},
        ),
        found.unread_lead,
    )


class System(NamedTuple):
    """What one system's predictions came to.

    Args:
        rows: The scored pairs.
        totals: What they add up to.
        about: How they came about.
        tried: It is known whether repair reads what strict reading refuses.
    """

    rows: Sequence[Scored]
    totals: Totals
    about: About
    tried: bool = True


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
        **{name: one.about.mark for name, one in zip(names, systems, strict=True) if one.about.mark},
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
        both = (first, other)
        records = [
            counts._replace(
                repeated=len(one.about.repeated), repairable=counts.repairable if one.tried else None
            )
            for counts, one in zip(each.records, both, strict=True)
        ]
        read = {"first": first.about.read["answers"], "second": other.about.read["answers"]}
        read["gold"] = other.about.read["gold"]
        lacks = first.totals.lacking
        made.append(replace(each, records=(records[0], records[1]), read=read, lacks=lacks))
    return Comparison(tuple(made))


def _corrected(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The probabilities after Holm's correction.

    Over all figures; over those of what both answered readably; over all of each breakdown.
    """
    figures = _holm([each.lines for each in found])
    family = sum(line.p is not None for lines in figures for line in lines)
    of_read = _holm([() if each.both_read is None else each.both_read.lines for each in found])
    breakdowns: list[dict[str, dict[str, tuple[Line, ...]]]] = [{} for _ in found]
    for key in found[0].breakdown:
        groups = [(at, value) for at, each in enumerate(found) for value in each.breakdown[key]]
        corrected = _holm([found[at].breakdown[key][value] for at, value in groups])
        for (at, value), lines in zip(groups, corrected, strict=True):
            breakdowns[at].setdefault(key, {})[value] = lines
    return tuple(
        replace(each, lines=lines, breakdown=breakdown, family=family, both_read=_with(each.both_read, read))
        for each, lines, breakdown, read in zip(found, figures, breakdowns, of_read, strict=True)
    )


def _with(found: BothRead | None, lines: tuple[Line, ...]) -> BothRead | None:
    return None if found is None else replace(found, lines=lines)


def _holm(blocks: Sequence[Sequence[Line]]) -> list[tuple[Line, ...]]:
    """Blocks of lines that are one family of tests, with corrected probabilities."""
    corrected = iter(holm([line.difference.p for lines in blocks for line in lines]))
    return [tuple(replace(line, p=next(corrected)) for line in lines) for lines in blocks]


def _lines(columns: Pairs, seed: int) -> tuple[Line, ...]:
    found = differences(columns, seed=seed)
    sides = (figures({n: c.side(at) for n, c in columns.items()}) for at in (0, 1))
    return tuple(Line(a, b, found[a.name], lower=a.name in LOWER) for a, b in zip(*sides, strict=True))


def _ranked(found: Counter[Key]) -> dict[Key, int]:
    """What was counted, the commonest first."""
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


def cause_counts(found: Comparison) -> dict[str, list[int]]:
    """Code of a root cause → how often each system has it, what differs most first."""
    systems = [found.contrasts[0].causes[0], *(each.causes[1] for each in found.contrasts)]
    codes: Iterable[str] = {code for system in systems for code in system}
    counts = {code: [system.get(code, 0) for system in systems] for code in codes}
    return dict(
        sorted(counts.items(), key=lambda item: (min(item[1]) - max(item[1]), -sum(item[1]), item[0]))
    )


def unjudged(found: Comparison) -> Totals:
    """Sums over the pairs without a gold plan to be judged by, each once, of whichever systems."""
    sides = (side for each in found.contrasts for side in each.rows)
    lost = {row.id: row for side in sides for row in side if row.state not in JUDGED}
    return totals_of(lost.values(), ())
