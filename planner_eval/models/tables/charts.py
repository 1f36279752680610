"""Charts of systems under a benchmark, as the figures of its paper have them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from planner_eval.base.arguments import FUNCTION, LIST, NAME, PATH, expect, expect_or_none
from planner_eval.base.errors import InputError
from planner_eval.benchmarks.benchmark import VARIANTS
from planner_eval.benchmarks.charts import System, find_chart
from planner_eval.benchmarks.judging import Judge
from planner_eval.benchmarks.registry import benchmark
from planner_eval.benchmarks.score import Scored
from planner_eval.models.tables.runs import TableRun
from planner_eval.models.tables.sources import BenchmarkSource, ScoringOptions
from planner_eval.models.tables.table import form_of, named_runs
from planner_eval.results.drawing.charts import Chart
from planner_eval.results.views.compare import free_names

ChartSystem: TypeAlias = "Scored | str | os.PathLike[str]"


def chart(
    systems: Scored | Mapping[str, Any] | Mapping[str | None, Any] | Sequence[str | os.PathLike[str]],
    figure: str | None = None,
    *,
    gold: str | os.PathLike[str] | None = None,
    variant: str = "corrected",
    judge: Judge | None = None,
    prompts: str | os.PathLike[str] | None = None,
    run: Any = None,
    **settings: str,
) -> Chart:
    """Make a chart of systems, as a figure of their benchmark's paper has it.

    Args:
        systems: What :func:`score_benchmark` gave; or a mapping from names to that, or to folders of runs;
            or such folders, which are called as :func:`table` calls them.
        figure: Which, e.g. ``"nestful-6"``; the benchmark's first when left out.
        gold: What was wanted, where runs do not say it.
        variant: Of runs of :func:`predict`: ``"corrected"`` or ``"official"``.
        judge: Decides what rules cannot, where the benchmark knows a judge.
        prompts: The folder of the prompts that the judge is asked with.
        run: Runs answers, where the benchmark does.
        settings: The benchmark's own options, for runs of :func:`predict`.

    Returns:
        The chart; its ``image`` is the picture.

    Raises:
        InputError: there is no such figure, or the systems lack what it shows.

    >>> folder = "data/samples"
    >>> from planner_eval import score_benchmark
    >>> scored = score_benchmark(f"{folder}/answers/appbench.jsonl", f"{folder}/appbench", "appbench")
    >>> [panel.title for panel in chart({"mine": scored}, "appbench-6").panels]
    ['F1 App', 'F1 API', 'Succ']
    """
    expect_or_none(NAME, figure=figure)
    expect_or_none(PATH, gold=gold, prompts=prompts)
    expect_or_none(FUNCTION, run=run)
    expect(LIST, systems=[systems] if isinstance(systems, (Scored, str, os.PathLike)) else systems)
    if isinstance(systems, Scored):
        systems = {"answers": systems}
    items = [*systems.values()] if isinstance(systems, Mapping) else [*systems]
    if items and all(isinstance(item, Scored) for item in items):
        assert isinstance(systems, Mapping)
        chart_systems = [System(str(name), scored, run=run) for name, scored in systems.items()]
        chosen = find_chart(chart_systems[0].scored.benchmark, figure)
        for system in chart_systems:
            lacking = {k: v for k, v in chosen.settings.items() if system.scored.options.get(k) != v}
            for key, value in lacking.items():
                raise InputError(f"{chosen.name} is made of answers that are scored with --set {key}={value}")
        return chosen.make(chart_systems)
    if variant not in VARIANTS:
        raise InputError(f"there is no variant {variant!r}; there are {' and '.join(VARIANTS)}")
    named = named_runs(systems)
    form = form_of([r for _, r in named])
    if form is None:
        raise InputError("charts are those of a benchmark's paper, and these runs are of tasks of one's own")
    bench = benchmark(form)
    chosen = find_chart(bench, figure)
    how = ScoringOptions(variant, None if gold is None else os.fspath(gold), judge, prompts, run)
    chosen_settings = tuple(sorted({**settings, **chosen.settings}.items()))
    sources = [BenchmarkSource(r, bench, how) for _, r in named]
    names = free_names(_labels(named), heads=("",))
    chart_systems = [
        System(name, source.scored_with(chosen_settings), source.run.asked, run, source.samples)
        for name, source in zip(names, sources, strict=True)
    ]
    return chosen.make(chart_systems)


def _labels(named: Sequence[tuple[str | None, TableRun]]) -> Iterator[str]:
    """What runs are called; those of one system by their pipelines too, or else by their folders."""
    labels = [run.label if name is None else name for name, run in named]
    for label, (_, run) in zip(labels, named, strict=True):
        same = [other for its, (_, other) in zip(labels, named, strict=True) if its == label]
        pipelines = {other.asked.get("pipeline") for other in same}
        suffix = run.asked.get("pipeline") if len(pipelines) == len(same) else os.path.normpath(run.path)
        yield f"{label}, {suffix}" if len(same) > 1 else label
