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
    present = {STATES_AT[number] for s in packs.sides for number in s.states}
    present.update(state for run in runs for state in run["states"])
    return {
        "schema": SCHEMA,
        "title": title,
        "version": __version__,
        "chunk": CHUNK,
        "packs": packs.count,
        "details": packs.detail_packs,
        "pairs": len(packs.ids),
        "states": {state: meaning for state, meaning in STATES.items() if state in present},
        "codes": {code: EDITS[code] for code, _ in packs.codes.most_common()},
        "runs": list(runs),
        **({"compare": compare} if compare is not None else {}),
        "commands": [None if c is None else list(c) for c in commands],
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
    ranked = sorted(mistaken.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
    return {
        "name": name,
        "signature": report.signature,
        "answers": report.read.get("answers", ""),
        "states": report.states(),
        "figures": [_figure(f) for f in report.figures if f.value is not None],
        "by": [
            {"field": field, "rows": [_group(value, group) for value, group in groups.items()]}
            for field, groups in report.breakdown.items()
        ],
        "causes": None if report.causes is None else [_cause(r) for r in report.causes.rows],
        "fixes": [] if report.causes is None else [fix_words(report.causes, f) for f in report.causes.fixes],
        "mistaken": [[gold, tool, pairs] for (gold, tool), pairs in ranked[:_MOST]],
    }


_PARTS = {
    "code": ("code",), "tool": ("tool",), "argument": ("tool", "argument"), "call": ("tool", "code"),
    "depth": (),
}  # fmt: skip
"""By what the page picks the pairs that have causes of a kind."""


def _cause(cause: CauseSum) -> dict[str, Any]:
    """A group of root causes: what they cost ``exact``, and what mending them alone would gain."""
    kind, names = cause.kind, cause.parts
    picks = (
        {"state": names[0]}
        if kind == "code" and names[0] in STATES
        else dict(zip(_PARTS[kind], names, strict=False))
    )
    return {
        "kind": kind, "name": cause.name, "pairs": cause.pairs, "credit": cause.exact, "gain": cause.gain,
        "picks": picks,
    }  # fmt: skip


def _figure(estimate: Estimate) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": estimate.name,
        "value": estimate.value,
        "n": estimate.n,
        **_direction(estimate.name),
    }
    if estimate.interval is not None:
        data |= {"low": estimate.interval.low, "high": estimate.interval.high}
    if isinstance(estimate.tally, Counts):
        data |= {"precision": estimate.tally.precision, "recall": estimate.tally.recall}
    return data


def _direction(name: str) -> dict[str, bool]:
    """That less of a figure is better, where it is."""
    return {"lower": True} if name in METRICS and METRICS[name].lower else {}


def _group(value: str, estimates: Iterable[Estimate]) -> dict[str, Any]:
    valued = [e for e in estimates if e.value is not None]
    return {
        "value": value,
        "n": max((e.n for e in valued), default=0),
        "figures": {e.name: e.value for e in valued},
    }


def _sure(line: Line) -> dict[str, float | None]:
    """How sure the difference of two figures is."""
    return {"low": line.difference.low, "high": line.difference.high, "p": line.p}


def compare_data(contrast: Contrast) -> dict[str, Any]:
    """How two runs compare.

    Args:
        contrast: The contrast of the second with the first.
    """
    lines = [
        {
            "name": line.name,
            "a": line.first.value,
            "b": line.second.value,
            **_sure(line),
            **_direction(line.name),
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
