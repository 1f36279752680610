"""Sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.drawing.labels import name_text
from planner_eval.drawing.scene import Arrow, Box, Scene
from planner_eval.metrics import METRICS
from planner_eval.records.rows import JUDGED, NO_ANSWER
from planner_eval.scoring.contrast import Comparison, Contrast, Line
from planner_eval.scoring.intervals import differences, holm
from planner_eval.scoring.record_counts import count_records
from planner_eval.scoring.report import figures, group_values
from planner_eval.scoring.scored import Scored

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
    lower: Collection[str] = LOWER,
) -> Comparison:
    """Compare each of several systems with the first, on the samples that both were judged on.

    Args:
        runs: The scored pairs of each system, against the same gold plans.
        metrics: The metrics they were scored with.
        names: What the systems are called.
        made: How the figures were made.
        by: What to break the differences down by, as the rows' keys.
        seed: Where random numbers start.
        lower: The metrics of which less is better.
    """
    found = [
        _contrast((runs[0], other), metrics, (names[0], name), made, by, seed, lower)
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
    lower: Collection[str],
) -> Contrast:
    first, second = runs
    others = {row.id: row for row in second if row.state in JUDGED}
    both = [(row, others[row.id]) for row in first if row.state in JUDGED and row.id in others]
    breakdown = {
        key: {
            value: _lines([pair for pair in both if pair[0].keys.get(key) == value], metrics, seed, lower)
            for value in group_values([row for row, _ in both], key)
        }
        for key in by
    }
    return Contrast(
        names,
        (count_records(first), count_records(second)),
        (_unanswered([a for a, _ in both]), _unanswered([b for _, b in both])),
        _lines(both, metrics, seed, lower),
        len(both),
        tuple(a.id for a, b in both if a.state == "same" != b.state),
        tuple(a.id for a, b in both if b.state == "same" != a.state),
        breakdown,
        (_mistaken([a for a, _ in both]), _mistaken([b for _, b in both])),
        (tuple(first), tuple(second)),
        made,
    )


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


def _unanswered(rows: Sequence[Scored]) -> int:
    return sum(row.state in NO_ANSWER for row in rows)


def _lines(
    both: Sequence[tuple[Scored, Scored]], metrics: Sequence[str], seed: int, lower: Collection[str]
) -> tuple[Line, ...]:
    ours, theirs = [a for a, _ in both], [b for _, b in both]
    pairs = {n: ([r.tallies.get(n) for r in ours], [r.tallies.get(n) for r in theirs]) for n in metrics}
    found = differences(pairs, seed=seed)
    columns = zip(figures(ours, metrics, seed=seed), figures(theirs, metrics, seed=seed), strict=True)
    return tuple(Line(a, b, found[a.name], lower=a.name in lower) for a, b in columns)


def _mistaken(rows: Sequence[Scored]) -> dict[tuple[str, str], int]:
    """Which tool was taken for which, the commonest first."""
    found = Counter((theirs or NOTHING, ours or NOTHING) for row in rows for theirs, ours in row.mistaken)
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
