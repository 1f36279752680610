"""planeval table: runs of models side by side, as the papers' tables have them."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.cli.benchmarks import (
    BenchmarkOptions,
    ChartOptions,
    benchmark_options,
    chart_options,
    delay_garbage_collection,
    open_rules,
    refuse_idle_options,
    say_judge_failures,
)
from planner_eval.cli.options import (
    as_command,
    cluster_option,
    format_condition,
    note,
    option,
    refuse_idle,
    seed_option,
)
from planner_eval.cli.output import Output, output_options

if TYPE_CHECKING:
    from planner_eval.benchmarks.benchmark import Benchmark


@as_command("table", runs="[NAME=]RUN...")
@option("--layout NAME", "The layout of a published table, e.g. nestful-1.")
@option("--by KEY", "Columns for each value of KEY: part, or a field of the samples.")
@option("--metric NAME...", "A metric of the runs; repeatable.", "metrics")
@option("--gold GOLD", "The gold data, if the runs do not name them.")
@option("--common", "Use only samples that all runs have.")
@option("--no-intervals", "Show scores without their intervals.", "bare")
@cluster_option
@seed_option
@benchmark_options
@chart_options
@output_options("document", "table", "paper")
def command(
    runs: tuple[str, ...],
    layout: str | None,
    by: str | None,
    gold: str | None,
    bare: bool,
    published: BenchmarkOptions,
    charted: ChartOptions,
    output: Output,
    **options: Any,
) -> int:
    """Make a table of runs: models × parts × figures, with intervals and the best of each column.

    RUN is a folder of planeval predict or planeval score -o DIR/. A row is named after its model, else its
    folder; NAME=RUN names it NAME, and runs with one name share a row. By default it is the main table of
    the runs' benchmark or, where that lacks a column for a run, each run's own figures. Figures are as the
    paper defines them; --official shows them as its code computes them. In each column all others are
    tested against the best, with Holm's correction over the table.
    Exit code: 0 made, 1 runs have different samples, 2 usage error, 3 no figure could be made.
    """
    refuse_idle(
        ("by metrics", layout is None, "without --layout, which sets what is shown"),
        charted.applies,
        ("bare", *format_condition(output.form, "document", "paper")),
    )
    from planner_eval.models.table_sources import read_table_run

    delay_garbage_collection()
    named = _runs_by_name(runs)
    all_runs = [read_table_run(path) for paths in named.values() for path in paths]
    bench = _benchmark(all_runs[0].form, published)
    asking = any(r.predicted is not None for r in all_runs)
    condition = "to runs of predict: the others are scored already"
    refuse_idle(
        (BenchmarkOptions._fields[3:], asking, condition),
        ("gold", asking or bench is not None, condition),
    )
    if bench is not None:
        refuse_idle_options(bench, published)
    with nullcontext(pe.BenchmarkRules()) if bench is None else open_rules(bench, published) as rules:
        draw = charted.write(lambda: pe.chart(named, charted.figure, gold=gold, rules=rules))
        result_table = pe.table(
            named, gold=gold, rules=rules, by=() if by is None else (by,), layout=layout, **options
        )
    from planner_eval.results.table import table_view

    output.emit_view(table_view(result_table, intervals=not bare))
    if not result_table.filled:
        note(
            "the runs have none of these metrics: choose others with --metric NAME, as planeval score RUN "
            "lists them"
        )
    elif result_table.apart:
        note("the runs are not of the same samples; --common takes those that all have")
    code = int(result_table.apart) if result_table.filled else 3
    code = max(code, say_judge_failures(rules.judge))
    draw()
    return code


def _runs_by_name(runs: tuple[str, ...]) -> dict[str | None, Any]:
    """The folders by the names that the user gives them; a path that is there has no name."""
    folders: dict[str | None, Any] = {}
    for run in runs:
        name, sign, path = run.partition("=")
        named = bool(sign and name and not os.path.exists(run))
        folders.setdefault(name if named else None, []).append(path if named else run)
    return folders


def _benchmark(form: str | None, published: BenchmarkOptions) -> Benchmark | None:
    """The benchmark of the runs; without one its options are refused."""
    from planner_eval.benchmarks.benchmark import benchmark

    if published.benchmark is not None and published.benchmark != form:
        bench = benchmark(published.benchmark)
        raise click.UsageError(f"--benchmark {bench.name}: the runs are of {form or 'tasks of your own'}")
    refuse_idle((BenchmarkOptions._fields[1:], form is not None, "to runs of a benchmark"))
    return None if form is None else benchmark(form)
