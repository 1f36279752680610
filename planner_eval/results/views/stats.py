"""The structure of plans in tables: each plan, sources side by side, what the words mean, distributions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from planner_eval.base.formats import View, rows_view
from planner_eval.base.tables import Rows, Style
from planner_eval.plan.statistics import FIGURES, Stats, explain_words, plain_figure, plain_scope
from planner_eval.results.runs.pairs import Reiterable
from planner_eval.results.runs.stats_job import NO_PLAN, UNREADABLE

if TYPE_CHECKING:
    from planner_eval.plan.statistics import Summary, Sums
    from planner_eval.results.drawing.charts import Bars


_LONG_FIGURES = ("critical_path", "fan_in", "fan_out", "argument_kinds", "patterns", "shape")
_COUNT_KINDS = ("argument_kinds", "patterns", "shapes", "scopes")
_MAX_COUNTED = 12


def plans_view(lines: Iterable[str], kinds: Sequence[str], *, many_sources: bool, inferred: bool) -> View:
    """A row a plan; a single plan as a list of its figures.

    Args:
        lines: The rows of a :class:`.stats_job.StatsJob`, which can be gone through again.
        kinds: The kinds of rows that there are, first come first.
        many_sources: Whether there are several sources, which rows name.
        inferred: Whether edges were inferred, and it is said how many.
    """

    def rows(*, full: bool = False) -> Reiterable:
        keys = dict.fromkeys(
            key for kind in kinds for key in _row_keys(kind, many_sources, inferred, full=full)
        )
        return Reiterable(
            lambda: ({key: row.get(key) for key in keys} for row in _rows(lines, inferred, full=full))
        )

    view, data = rows_view(rows()), rows_view(rows(full=True)).data
    alone = list(islice(_rows(lines, inferred, full=True), 2))
    if len(alone) == 1 and alone[0]["error"] is None:
        figures = {key: value for key, value in alone[0].items() if key not in ("file", "record", "error")}
        if "scope" in figures:
            figures["scope"] = plain_scope(figures["scope"])
        listed = [
            {"figure": plain_figure(k.replace("_", " ")), "value": _value_text(v)} for k, v in figures.items()
        ]
        view = view._replace(document=rows_view(listed, 100).document)
    return view._replace(data=data)


def _rows(lines: Iterable[str], inferred: bool, *, full: bool) -> Iterator[dict[str, Any]]:
    """The rows of a table of plans; in full with figures that are lists or counts."""
    for line in lines:
        data = json.loads(line)
        if data["state"] == NO_PLAN:
            continue
        kind = UNREADABLE if "error" in data else "plain" if data.get("scope") is None else "scoped"
        data["record"] = data["number"] if data.get("id") is None else data["id"]
        data["error"] = data["error"].split("\n")[0] if "error" in data else None
        yield {key: data[key] for key in _row_keys(kind, "file" in data, inferred, full=full)}


@cache
def _row_keys(kind: str, many_sources: bool, inferred: bool, *, full: bool) -> tuple[str, ...]:
    """The keys of a row of a kind."""
    names: list[str] = []
    if kind != UNREADABLE:
        left_out = {*["inferred"] * (not inferred), *["scope"] * (kind != "scoped")}
        long = () if full else _LONG_FIGURES
        names = [f.name for f in fields(Stats) if f.name not in left_out.union(long)]
        names += ["shape"] if long else []
    return (*["file"] * many_sources, "record", *names, "error")


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return " → ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{k} ×{n}" for k, n in value.items())
    return str(value)


def summary_blocks(
    titles: Sequence[str], summaries: Sequence[Summary], style: Style, *, readable: bool
) -> list[str]:
    """The figures of all sources side by side, then kinds of arguments, patterns and shapes."""
    blocks = [style.table(_figure_rows(titles, summaries, readable=readable))]
    for kind in _COUNT_KINDS:
        rows = _count_rows(titles, summaries, kind)
        if readable and kind == "scopes":
            rows = [{**row, "scope": plain_scope(row["scope"])} for row in rows]
        if rows:
            blocks.append(style.table(rows))
    return blocks


def _figure_rows(titles: Sequence[str], summaries: Sequence[Summary], *, readable: bool) -> Rows:
    """One row a figure; a group of columns a source, or one column each where they are many."""
    short = readable and len(titles) > 2
    heads = [f"{title} " if len(titles) > 1 else "" for title in titles]
    columns = [
        [head.rstrip()] if short else [f"{head}{name}" for name in ("total", "mean", "median", "max")]
        for head in heads
    ]
    rows: Rows = []

    def add(figure: str, values: Iterable[Sequence[Any]]) -> None:
        cells = (cell for pair in zip(columns, values, strict=True) for cell in zip_longest(*pair))
        rows.append({"figure": figure, **dict(cells)})

    for what in ("plans", "unread"):
        counts = [getattr(summary, what) for summary in summaries]
        if what == "plans" or any(counts):
            add(what, [[count] for count in counts])
    for k, figure in enumerate(summaries[0].figures):
        name = figure.name.replace("_", " ")
        name = plain_figure(name) if readable else name
        spread = [summary.figures[k] for summary in summaries]
        if short:
            add(
                f"{name}: mean, max", [[None if f.mean is None else f"{f.mean:.4g}, {f.max}"] for f in spread]
            )
        else:
            add(name, [(f.total, f.mean, f.median, f.max) for f in spread])
    return rows


def _count_rows(titles: Sequence[str], summaries: Sequence[Summary], kind: str) -> Rows:
    """The commonest kinds, patterns or shapes, a column of counts a source; the others in one row."""
    counts = [Counter(getattr(summary, kind)) for summary in summaries]
    totals = sum(counts, Counter[str]())
    ranked = sorted(totals, key=lambda key: (-totals[key], key))
    named = [(key or "no calls", [key]) for key in ranked[:_MAX_COUNTED]]
    if remaining := ranked[_MAX_COUNTED:]:
        named.append((f"… {len(remaining)} more", remaining))
    columns = [title if len(titles) > 1 else "count" for title in titles]
    return [
        {kind.replace("_", " ").removesuffix("s"): name}
        | {column: sum(map(c.__getitem__, keys)) for column, c in zip(columns, counts, strict=True)}
        for name, keys in named
    ]


def glossary_table(sums: Sums, style: Style, *, summary: bool, inferred: bool) -> str:
    """What the words above mean, a sentence each.

    Args:
        sums: What the plans of all sources come to.
        style: How it is written.
        summary: Whether plans are summed up; else each has a row.
        inferred: Whether edges were inferred.
    """
    totals, rows = sums.summary(), sums.plans + sums.unread
    names = [name.replace("_", " ") for name in FIGURES]
    if summary:
        names = ["total", "plans", *["unread"] * bool(sums.unread), *names]
    elif rows == 1:
        names += ["critical path", "fan in", "fan out"]
    names += ["scope"] * (not summary and bool(totals.scopes))
    names += ["inferred"] * inferred
    listed = summary or rows == 1
    kinds, patterns = (totals.argument_kinds, totals.patterns) if listed else ({}, {})
    words = explain_words(names, kinds, patterns, shapes=totals.shapes, scopes=totals.scopes)
    return style.table([{"word": word, "meaning": meaning} for word, meaning in words.items()], width=200)


_PANELS = (
    *((name, "", "plans", name) for name in ("calls", "depth", "width", "components")),
    ("fan-in", "calls whose output a call uses", "calls", "fan_in"),
    ("reuse", "calls that use a call's output", "calls", "fan_out"),
    ("data dependencies", "", "plans", "edges"),
    ("nesting patterns", "", "patterns", "patterns"),
    ("kinds of arguments", "", "arguments", "argument_kinds"),
)
"""The distributions of a plot: what is counted, what the numbers are, the whole of the shares, the figure."""


def panels(summaries: Mapping[str, Summary]) -> tuple[Bars, ...]:
    """What a plot shows of each source: distributions over plans, calls, patterns and arguments.

    Args:
        summaries: Source → its figures.
    """
    from planner_eval.results.drawing.charts import distribution

    def counts(summary: Summary, name: str) -> Any:
        return summary.figure(name).distribution if name in FIGURES else getattr(summary, name)

    distributions = (
        distribution(title, across, of, {key: counts(summary, name) for key, summary in summaries.items()})
        for title, across, of, name in _PANELS
    )
    return tuple(bars for bars in distributions if bars.ticks)
