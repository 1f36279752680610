"""The head of a page: figures, states and breakdowns of each run, and two runs compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner_eval._version import __version__
from planner_eval.comparison.edits import EDITS
from planner_eval.metrics import METRICS
from planner_eval.metrics.counts import Counts
from planner_eval.records.rows import STATES
from planner_eval.reports.packs import CHUNK, Packs
from planner_eval.reports.page import SCHEMA
from planner_eval.scoring.causes import CauseSum
from planner_eval.scoring.causes_formats import fix_words
from planner_eval.scoring.contrast import Contrast, Line
from planner_eval.scoring.report import Estimate, Report

THEMES = ("auto", "light", "dark")
"""How a page looks: as the reader's system does, or always the same."""

_MOST = 200


def head_of(
    packs: Packs,
    runs: Sequence[Mapping[str, Any]],
    *,
    title: str,
    commands: Sequence[Sequence[str] | None],
    notes: Sequence[str],
    theme: str = "auto",
    compare: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
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
    present = {STATES_AT[number] for side in packs.sides for number in side.states}
    present.update(state for run in runs for state in run["states"])
    return {
        "schema": SCHEMA,
        "title": title,
        "version": __version__,
        "chunk": CHUNK,
        "packs": packs.count,
        "details": packs.detail_packs,
        "pairs": len(packs.ids),
        "states": {state: said for state, said in STATES.items() if state in present},
        "codes": {code: EDITS[code] for code, _ in packs.codes.most_common()},
        "runs": list(runs),
        **({"compare": compare} if compare is not None else {}),
        "commands": [None if one is None else list(one) for one in commands],
        "theme": theme,
        "notes": list(notes),
    }


STATES_AT = tuple(STATES)
"""The states by the numbers that packs give them."""


def run_data(
    report: Report,
    name: str,
    mistaken: Mapping[tuple[str | None, str | None], int],
) -> dict[str, Any]:
    """What a page says of a run.

    Args:
        report: Its figures.
        name: What it is called.
        mistaken: (gold's tool, the tool that was taken for it) → pairs.
    """
    ranked = sorted(mistaken.items(), key=lambda one: (-one[1], one[0][0] or "", one[0][1] or ""))
    return {
        "name": name,
        "signature": report.signature,
        "answers": report.read.get("answers", ""),
        "states": report.states(),
        "figures": [_figure(one) for one in report.figures if one.value is not None],
        "by": [
            {"field": field, "rows": [_group(value, found) for value, found in groups.items()]}
            for field, groups in report.breakdown.items()
        ],
        "causes": None if report.causes is None else [_cause(one) for one in report.causes.rows],
        "fixes": []
        if report.causes is None
        else [fix_words(report.causes, one) for one in report.causes.fixes],
        "mistaken": [[gold, taken, pairs] for (gold, taken), pairs in ranked[:_MOST]],
    }


_PARTS = {
    "code": ("code",), "tool": ("tool",), "argument": ("tool", "argument"), "call": ("tool", "code"),
    "depth": (),
}  # fmt: skip
"""By what the page picks the pairs that have causes of a kind."""


def _cause(found: CauseSum) -> dict[str, Any]:
    """A group of root causes: what they cost ``exact``, and what mending them alone would gain."""
    kind, parts = found.kind, found.parts
    picks = (
        {"state": parts[0]}
        if kind == "code" and parts[0] in STATES
        else dict(zip(_PARTS[kind], parts, strict=False))
    )
    return {
        "kind": kind, "name": found.name, "pairs": found.pairs, "credit": found.exact, "gain": found.gain,
        "picks": picks,
    }  # fmt: skip


def _figure(found: Estimate) -> dict[str, Any]:
    data: dict[str, Any] = {"name": found.name, "value": found.value, "n": found.n, **_direction(found.name)}
    if found.interval is not None:
        data |= {"low": found.interval.low, "high": found.interval.high}
    if isinstance(found.tally, Counts):
        data |= {"precision": found.tally.precision, "recall": found.tally.recall}
    return data


def _direction(name: str) -> dict[str, bool]:
    """That less of a figure is better, where it is."""
    return {"lower": True} if name in METRICS and METRICS[name].lower else {}


def _group(value: str, found: Iterable[Estimate]) -> dict[str, Any]:
    kept = [one for one in found if one.value is not None]
    return {
        "value": value,
        "n": max((one.n for one in kept), default=0),
        "figures": {one.name: one.value for one in kept},
    }


def _sure(line: Line) -> dict[str, float | None]:
    """How sure the difference of two figures is."""
    return {"low": line.difference.low, "high": line.difference.high, "p": line.p}


def compare_data(found: Contrast) -> dict[str, Any]:
    """How two runs compare.

    Args:
        found: The contrast of the second with the first.
    """
    lines = [
        {
            "name": line.name,
            "a": line.first.value,
            "b": line.second.value,
            **_sure(line),
            **_direction(line.name),
        }
        for line in found.lines
        if line.first.value is not None or line.second.value is not None
    ]
    return {
        "figures": lines,
        "verdict": found.verdict,
        "n": found.n,
        "lost": len(found.lost),
        "won": len(found.won),
    }
