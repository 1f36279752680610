"""Two sets of predictions for the same gold plans: paired differences, what flipped, what was mistaken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval.base.tables import table
from planner_eval.drawing.labels import name_text
from planner_eval.drawing.scene import Arrow, Box, Scene
from planner_eval.metrics import METRICS
from planner_eval.records.rows import JUDGED, NO_ANSWER
from planner_eval.scoring.intervals import Difference, differences
from planner_eval.scoring.record_counts import Records, count_records, record_rows
from planner_eval.scoring.report import Estimate, figures, group_values
from planner_eval.scoring.scored import Scored

NOTHING = "nothing"
"""Stands for no call: on gold's side for a call too much, on the prediction's for one left out."""


@dataclass(frozen=True, slots=True)
class Line:
    """One metric under both systems.

    Args:
        first: The first system's figure.
        second: The second's.
        difference: Second less first, with interval and test.
    """

    first: Estimate
    second: Estimate
    difference: Difference


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two systems on the same samples.

    Args:
        names: What the two are called.
        records: What became of the records of each.
        unanswered: Of the samples that both were judged on, how many predictions of each were
            unreadable, cut, refused, failed or absent, and so count as wrong.
        lines: One a metric.
        n: Samples that both were judged on.
        lost: Ids of samples that only the first gets right.
        won: Ids of samples that only the second gets right.
        breakdown: Key → value → lines.
        mistaken: For each system (gold's tool, the tool called) → how often.
        signature: How the figures were made.
        read: Which fields were read as each system's answers and as gold, in words.
    """

    names: tuple[str, str]
    records: tuple[Records, Records]
    unanswered: tuple[int, int]
    lines: tuple[Line, ...]
    n: int
    lost: tuple[str, ...]
    won: tuple[str, ...]
    breakdown: Mapping[str, Mapping[str, tuple[Line, ...]]]
    mistaken: tuple[Mapping[tuple[str, str], int], Mapping[tuple[str, str], int]]
    signature: str
    read: Mapping[str, str] = field(default_factory=dict)


def make_contrast(
    first: Sequence[Scored],
    second: Sequence[Scored],
    metrics: Sequence[str],
    *,
    names: tuple[str, str],
    made: str,
    by: Sequence[str] = (),
    seed: int = 0,
) -> Contrast:
    """Compare two systems on the samples that both were judged on.

    Args:
        first: The first system's scored pairs.
        second: The second system's, against the same gold plans.
        metrics: The metrics they were scored with.
        names: What the two are called.
        made: How the figures were made.
        by: What to break the differences down by, as the rows' keys.
        seed: Where random numbers start.
    """
    others = {row.id: row for row in second if row.state in JUDGED}
    both = [(row, others[row.id]) for row in first if row.state in JUDGED and row.id in others]
    breakdown = {
        key: {
            value: _lines([pair for pair in both if pair[0].keys.get(key) == value], metrics, seed)
            for value in group_values([row for row, _ in both], key)
        }
        for key in by
    }
    return Contrast(
        names,
        (count_records(first), count_records(second)),
        (_unanswered([a for a, _ in both]), _unanswered([b for _, b in both])),
        _lines(both, metrics, seed),
        len(both),
        tuple(a.id for a, b in both if a.state == "same" != b.state),
        tuple(a.id for a, b in both if b.state == "same" != a.state),
        breakdown,
        (_mistaken([a for a, _ in both]), _mistaken([b for _, b in both])),
        made,
    )


def _unanswered(rows: Sequence[Scored]) -> int:
    return sum(row.state in NO_ANSWER for row in rows)


def _lines(both: Sequence[tuple[Scored, Scored]], metrics: Sequence[str], seed: int) -> tuple[Line, ...]:
    ours, theirs = [a for a, _ in both], [b for _, b in both]
    pairs = {name: ([r.tallies[name] for r in ours], [r.tallies[name] for r in theirs]) for name in metrics}
    found = differences(pairs, seed=seed)
    columns = zip(figures(ours, metrics, seed=seed), figures(theirs, metrics, seed=seed), strict=True)
    return tuple(Line(a, b, found[a.name]) for a, b in columns)


def _mistaken(rows: Sequence[Scored]) -> dict[tuple[str, str], int]:
    """Which tool was taken for which, the commonest first."""
    found = Counter((theirs or NOTHING, ours or NOTHING) for row in rows for theirs, ours in row.mistaken)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def mistaken_scene(contrast: Contrast) -> Scene:
    """The graph of which tool was taken for which: an arrow from gold's tool to the one called.

    Each arrow's label counts both systems' mistakes, e.g. ``3 | 1``.
    """
    first, second = contrast.mistaken
    pairs = sorted({*first, *second}, key=lambda pair: (-first.get(pair, 0) - second.get(pair, 0), pair))
    tools = sorted({tool for pair in pairs for tool in pair})
    place = {tool: at for at, tool in enumerate(tools)}
    boxes = tuple(Box(name_text(tool), "plain", name_text(tool)) for tool in tools)
    arrows = tuple(
        Arrow(place[gold], place[pred], "plain", f"{first.get(pair, 0)} | {second.get(pair, 0)}")
        for pair in pairs
        for gold, pred in (pair,)
    )
    said = f"gold's tool → the tool called instead; counts: {contrast.names[0]} | {contrast.names[1]}"
    return Scene(boxes, arrows, said, layout=(("rankdir", "LR"),))


# ---------------------------------------------------------------- writing
def write_contrast(contrast: Contrast, form: str = "text", *, flips: int = 10) -> str:
    """A contrast as text, ``json``, ``csv`` or ``md`` (the table of differences).

    What became of the records stands first in each: in ``csv`` and ``md`` as rows of the one table.

    Args:
        contrast: The contrast.
        form: The format.
        flips: How many ids of flipped samples text names on each side; JSON names all.
    """
    if form == "json":
        return json.dumps(_data(contrast), ensure_ascii=False, indent=1)
    rows = _rows(contrast.lines, contrast.names)
    if form in ("csv", "md"):
        counts = [
            {"metric": f"records.{row.pop('records')}"} | row
            for row in record_rows(contrast.names, contrast.records)
        ]
        return table([*(dict.fromkeys(rows[0]) | row for row in counts), *rows], form)
    blocks = [table(record_rows(contrast.names, contrast.records)), table(rows)]
    for key, groups in contrast.breakdown.items():
        blocks.append(table(_breakdown_rows(key, groups, contrast.names)))
    mistaken = _mistaken_rows(contrast)
    if mistaken:
        blocks.append(table(mistaken[:20]))
    lines = [_judged(contrast)]
    for ids, name in ((contrast.lost, contrast.names[0]), (contrast.won, contrast.names[1])):
        more = f", … {len(ids) - flips} more" if len(ids) > flips else ""
        lines.append(
            f"only {name} is right on {len(ids)}" + (f": {', '.join(ids[:flips])}{more}" if ids else "")
        )
    return "\n\n".join([*blocks, "\n".join([*lines, contrast.signature])])


def _judged(contrast: Contrast) -> str:
    """How many samples were judged, and how many of them for want of an answer that can be read."""
    said = f"{contrast.n} samples judged under both"
    if not any(contrast.unanswered):
        return f"{said}, every prediction of them read"
    counts = zip(contrast.unanswered, contrast.names, strict=True)
    return f"{said}; wrong for being unreadable or absent: " + ", ".join(
        f"{n} of {name}" for n, name in counts
    )


def _rows(lines: Sequence[Line], names: tuple[str, str]) -> list[dict[str, Any]]:
    rows = []
    for line in lines:
        gap = line.difference
        span = None if gap.low is None or gap.high is None else f"{gap.low:+.3f}…{gap.high:+.3f}"
        rows.append(
            {
                "metric": line.first.name,
                names[0]: _short(line.first.value),
                names[1]: _short(line.second.value),
                "difference": None if gap.value is None else f"{gap.value:+.4f}",
                "95 %": span,
                "p": None if gap.p is None else _probability(gap.p),
                "test": gap.test.partition(" ")[0] or None,
                "": "↓" if METRICS[line.first.name].lower else "",
            }
        )
    return rows


def _probability(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _breakdown_rows(
    key: str, groups: Mapping[str, tuple[Line, ...]], names: tuple[str, str]
) -> list[dict[str, Any]]:
    rows = []
    for value, lines in groups.items():
        for line in lines[:3]:
            gap = line.difference
            rows.append(
                {
                    key: value,
                    "metric": line.first.name,
                    "n": line.first.n,
                    names[0]: _short(line.first.value),
                    names[1]: _short(line.second.value),
                    "difference": None if gap.value is None else f"{gap.value:+.4f}",
                    "p": None if gap.p is None else _probability(gap.p),
                }
            )
    return rows


def _mistaken_rows(contrast: Contrast) -> list[dict[str, Any]]:
    first, second = contrast.mistaken
    pairs = sorted({*first, *second}, key=lambda pair: (-first.get(pair, 0) - second.get(pair, 0), pair))
    return [
        {
            "gold calls": gold,
            "called": pred,
            contrast.names[0]: first.get((gold, pred), 0),
            contrast.names[1]: second.get((gold, pred), 0),
        }
        for gold, pred in pairs
    ]


def _line_data(line: Line) -> dict[str, Any]:
    return {
        "first": line.first.value,
        "second": line.second.value,
        "n": line.first.n,
    } | line.difference._asdict()


def _data(contrast: Contrast) -> dict[str, Any]:
    return {
        "schema": "planeval.contrast/1",
        "signature": contrast.signature,
        "first": contrast.names[0],
        "second": contrast.names[1],
        "read": dict(contrast.read),
        "records": {"first": contrast.records[0]._asdict(), "second": contrast.records[1]._asdict()},
        "samples": contrast.n,
        "unanswered": {"first": contrast.unanswered[0], "second": contrast.unanswered[1]},
        "figures": {line.first.name: _line_data(line) for line in contrast.lines},
        "breakdown": {
            key: {
                value: {line.first.name: _line_data(line) for line in lines}
                for value, lines in groups.items()
            }
            for key, groups in contrast.breakdown.items()
        },
        "only_first": list(contrast.lost),
        "only_second": list(contrast.won),
        "mistaken": _mistaken_rows(contrast),
    }
