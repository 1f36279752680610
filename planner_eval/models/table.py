"""Tables of systems: models × parts × figures, with intervals and paired tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from planner_eval._version import __version__
from planner_eval.base.errors import FLAG, LIST, NAME, NAMES, PATH, InputError, expect, expect_or_none
from planner_eval.base.text import did_you_mean, format_count
from planner_eval.benchmarks.benchmark import DEFAULT_RULES, BenchmarkRules, benchmark, check_rules
from planner_eval.benchmarks.layouts import (
    Layout,
    LayoutColumn,
    System,
    find_chart,
    layout,
    layouts,
    plain_layout,
)
from planner_eval.benchmarks.score import Scored
from planner_eval.comparison.evaluate import pair
from planner_eval.comparison.metrics import METRICS, choose_metrics
from planner_eval.comparison.rows import NO_ANSWER_STATES
from planner_eval.models.predict.folder import gold_of, read_run_answers, select_asked_golds
from planner_eval.models.table_sources import (
    BenchmarkSource,
    OwnSource,
    RememberingJudge,
    Source,
    TableRun,
    read_table_run,
    refuse_unlike,
)
from planner_eval.reading.files.context import SHARED_ANSWERS_LABEL
from planner_eval.reading.settings import DEFAULT_READING
from planner_eval.results.contrast import free_names
from planner_eval.results.drawing.charts import Chart
from planner_eval.results.report import interval_note, shown_group, sort_values
from planner_eval.results.score import read_stored_score, refuse_seed, score
from planner_eval.results.table import ColumnHead, MeasuredFigure, Table, make_table
from planner_eval.results.trials import trial_figure


# ----------------------------------------------------------------------
# The columns of a table of runs: those of a published one, or figures by a key.
def key_values(sources: Mapping[str, Source], by: str | None) -> list[str]:
    """What a key is in the samples of runs; nothing for no key.

    Raises:
        InputError: no sample has it.
    """
    if by is None:
        return []
    values = list(dict.fromkeys(value for source in sources.values() for value in source.values(by)))
    if not values:
        raise InputError(f"no sample has a {by!r}: the table cannot be broken down by it")
    return values


def layout_of(
    form: str,
    name: str | None,
    by: str | None,
    metrics: tuple[str, ...],
    sources: Mapping[str, BenchmarkSource],
    settings: Mapping[str, str],
) -> Layout:
    """The layout of a table under a benchmark: the one that is named, its main one, or of the figures wanted.

    The main one only where each run is of one of its columns: else it would leave runs out.

    Args:
        form: The benchmark.
        name: The layout, where one is named.
        by: A column for each value of this key.
        metrics: The figures, where some are named.
        sources: The runs.
        settings: The options for all columns, on which it depends what figures there are.

    Raises:
        InputError: there is no such layout, figure or key.
    """
    if name is not None:
        if by is not None or metrics:
            raise InputError(f"the layout {name} sets the metrics and breakdowns: drop --metric and --by")
        return layout(name, form)
    published = layouts(form)
    note = ""
    if by is None and not metrics and published:
        main_layout = next(iter(published.values()))
        published_columns = with_settings(main_layout, settings).columns
        runs = [source.run for source in sources.values()]
        strays = sum(not any(run.fits(c, published_columns) for c in published_columns) for run in runs)
        if not strays:
            return main_layout
        note = (
            f"{main_layout.name} has no column for {strays:,} of {format_count(len(runs), 'run')}, "
            f"so these are the figures of each; --layout {main_layout.name} shows that table"
        )
    column = LayoutColumn("", "", "", settings=settings)
    figures = list(dict.fromkeys(name for source in sources.values() for name in source.names(column)))
    if unknown := [metric for metric in metrics if metric not in figures]:
        hint = did_you_mean(unknown[0], figures, f"expected one of {', '.join(figures)}")
        raise InputError(f"{form} has no metric {unknown[0]!r}: {hint}")
    main = next(iter(published.values())).columns if published else ()
    usual = [c.figure for c in main if not c.settings and c.figure in figures]
    chosen = metrics or tuple(dict.fromkeys(usual)) or tuple(figures)
    table_layout = plain_layout(chosen, by, key_values(sources, by))
    of = {c.figure: c for c in main}
    columns = (
        column._replace(of=of[column.figure].of, only=of[column.figure].only)
        if column.figure in of
        else column
        for column in table_layout.columns
    )
    scored_with = [source.run.settings for source in sources.values()]
    are_alike = scored_with.count(scored_with[0]) == len(scored_with)
    return with_settings(
        table_layout._replace(columns=tuple(columns), note=note), scored_with[0] if are_alike else {}
    )


def with_settings(chosen: Layout, settings: Mapping[str, str]) -> Layout:
    """A layout with options for all columns; those of a column itself stay.

    Args:
        chosen: The layout.
        settings: The options.
    """
    columns = (column._replace(settings={**settings, **column.settings}) for column in chosen.columns)
    return chosen._replace(columns=tuple(columns))


def head_of(column: LayoutColumn, form: str | None) -> ColumnHead:
    """What stands above a column.

    Args:
        column: The column.
        form: The benchmark; None for tasks of your own.
    """
    if form is None:
        lower = column.figure in METRICS and METRICS[column.figure].lower
    else:
        lower = benchmark(form).less_is_better(column.figure)
    return ColumnHead(column.group, column.head, column.figure, column.unit, column.digits, lower)


# ----------------------------------------------------------------------
# Tables of systems: models × parts × figures, with intervals and paired tests.
OWN_METRICS = ("exact", "calls", "argument_values", "references")
"""The metrics of a table of one's own tasks where none is named."""

Folder: TypeAlias = "str | os.PathLike[str]"


def table(  # noqa: PLR0913 - the options of a public function
    runs: Sequence[Folder] | Mapping[str | None, Folder | Sequence[Folder]] | Mapping[str, Folder],
    *,
    gold: Folder | None = None,
    rules: BenchmarkRules = DEFAULT_RULES,
    metrics: Iterable[str] = (),
    by: Sequence[str] = (),
    cluster: str | None = None,
    seed: int = 0,
    layout: str | None = None,
    common: bool = False,
) -> Table:
    """Make a table of runs: a row a system, a column a figure, with intervals and the best of each column.

    Args:
        runs: Folders of :func:`predict` or of :func:`score`; or a mapping from the names of systems to
            theirs. Without a name, or with None, a system is called by its model, else by its folder.
        gold: What was wanted, where the runs do not say it.
        rules: How a benchmark judges answers, under the last of their variants; its own options are for all
            columns.
        metrics: The figures, as the report calls them; of one's own tasks metrics or their groups.
        by: A column for each value of this one key: ``"part"``, or a field of the samples; of one's own
            tasks what :func:`score` takes.
        cluster: What says in which cluster a sample lies, as for `by`; of one's own tasks what the runs were
            scored with when left out.
        seed: Where random numbers start.
        layout: The layout of a published table, e.g. ``"appbench-3"``; when left out the benchmark's main
            one, unless `by` or `metrics` say what is wanted, or it has no column for some run, whose own
            figures are shown then.
        common: Take only the samples that all runs have.

    Returns:
        The table, with notes that say why figures are missing. :mod:`planner_eval.results.table`
        writes it.

    Raises:
        InputError: a folder holds no run, the runs are of different data, or there is no such layout.

    >>> import tempfile
    >>> from planner_eval import Running
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = score(["f()", "g()"], ["f()", "h()"], running=Running(folder=f"{folder}/base"))
    ...     found = table([f"{folder}/base"], metrics=["exact"])
    >>> [(row.name, row.cells[0].value) for row in found.rows]
    [('base', 0.5)]
    """
    refuse_seed(seed)
    expect_or_none(NAME, layout=layout, cluster=cluster)
    expect_or_none(PATH, gold=gold)
    expect(NAMES, metrics=metrics, by=by)
    expect(FLAG, common=common)
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    rules = check_rules(rules)
    key, settings = _only_key(by), rules.settings
    all_runs = open_runs(runs)
    form = form_of(all_runs)
    refuse_unlike(all_runs)
    named_gold = None if gold is None else os.fspath(gold)
    sources: dict[str, Source]
    if form is None:
        _refuse_of_benchmark(layout, settings)
        of_trials = tuple(name for name in metrics if trial_figure(name) is not None)
        other_metrics = [name for name in metrics if name not in of_trials]
        chosen_metrics = choose_metrics(
            other_metrics or (("exact",) if of_trials else _usual_metrics(all_runs))
        )
        sources = {r.path: _own_source(r, named_gold, chosen_metrics, key, cluster) for r in all_runs}
        if not metrics and (most := min(s.trials for s in sources.values() if isinstance(s, OwnSource))) > 1:
            of_trials = (f"pass^{most}",)
        shown_metrics = (*(chosen_metrics if other_metrics or not metrics else ()), *of_trials)
        chosen = _own_layout(shown_metrics, key, sort_values(key_values(sources, key)))
    else:
        rules = rules._replace(judge=rules.judge and RememberingJudge(rules.judge))
        scored = {r.path: BenchmarkSource(r, benchmark(form), rules, named_gold) for r in all_runs}
        chosen = with_settings(layout_of(form, layout, key, metrics, scored, settings), settings)
        sources = {**scored}
    cluster = cluster or next((s.cluster for s in sources.values() if isinstance(s, OwnSource)), None)
    rows = _rows(all_runs, chosen)
    _refuse_other_gold(list(sources.values()))
    ids = frozenset.intersection(*(s.ids() for s in sources.values())) if common else None
    if ids is not None and not ids:
        raise InputError("no sample is in all of these runs")
    cells = [
        [_measure_column(column, row_runs, chosen, sources, ids) for column in chosen.columns]
        for row_runs in rows.values()
    ]
    sure = "95 % intervals"
    if cluster is not None:
        clusters = {path: source.clusters(cluster) for path, source in sources.items()}
        cells = [
            [  # of trials each task is a sample
                cell._replace(clusters={} if trial_figure(column.figure) else clusters.get(cell.run, {}))
                for column, cell in zip(chosen.columns, row, strict=True)
            ]
            for row in cells
        ]
        cluster_names = {
            name for row in cells for cell in row for key, name in cell.clusters.items() if key in cell.ids
        }
        sure = interval_note(cluster, len(cluster_names)) if cluster_names else sure
    names = free_names(rows, heads=("",))
    heads = [head_of(column, form) for column in chosen.columns]
    notes = [*filter(None, [chosen.note]), *_run_notes(names, rows, sources)]
    provenance = f"planeval {__version__} | " + (
        "metrics" if form is None else f"benchmark {form} ({rules.variants[-1]})"
    )
    provenance += "".join(f" | {key} {value}" for key, value in settings.items())
    provenance += " | only samples in common" if common else ""
    return make_table(
        chosen.title, heads, names, cells, notes=[*notes, f"{provenance} | {sure}, seed {seed}"], seed=seed
    )


# ---------------------------------------------------------------- the runs
def _only_key(by: Sequence[str]) -> str | None:
    """The key that a table has columns of."""
    keys = (by,) if isinstance(by, str) else tuple(by)
    if len(keys) > 1:
        raise InputError(f"by is {', '.join(keys)}: a table has columns of one key")
    return keys[0] if keys else None


def open_runs(runs: Any) -> list[TableRun]:
    """The runs, each labelled with the name of its system where the user gives one."""
    if isinstance(runs, (str, os.PathLike)):
        runs = [runs]
    expect(LIST, runs=runs)
    pairs: list[tuple[str | None, Any]] = []
    for name, folders in runs.items() if isinstance(runs, Mapping) else [(None, runs)]:
        folders = [folders] if isinstance(folders, (str, os.PathLike)) else folders
        expect(LIST, run=folders)
        pairs += [(None if name is None else str(name), folder) for folder in folders]
    if not pairs:
        raise InputError("there are no runs to make a table of")
    paths: list[str] = []
    for _, folder in pairs:
        expect(PATH, run=folder)
        paths.append(os.path.realpath(os.fspath(folder)))
        if paths[-1] in paths[:-1]:
            raise InputError(f"{os.fspath(folder)} is named twice")
    opened = [read_table_run(os.fspath(folder)) for _, folder in pairs]
    return [
        run if name is None else run._replace(label=name)
        for run, (name, _) in zip(opened, pairs, strict=True)
    ]


def form_of(runs: Sequence[TableRun]) -> str | None:
    """The benchmark of all runs; None for one's own."""
    first = runs[0]
    for other in runs[1:]:
        if other.form != first.form:
            called = [run.form or "tasks of your own" for run in (first, other)]
            raise InputError(
                f"{first.path} and {other.path} cannot share a table: they are of {called[0]} and {called[1]}"
            )
    return first.form


def _own_layout(figures: Sequence[str], key: str | None, values: Sequence[str]) -> Layout:
    """The columns of tasks of one's own: the figures, for each value of a key where one is named."""
    own_layout = plain_layout(figures, key, values)
    columns = (
        c if c.part is None else c._replace(group=f"{key} {shown_group(c.part.value, values)}")
        for c in own_layout.columns
    )
    return own_layout._replace(columns=tuple(columns))


def _usual_metrics(runs: Sequence[TableRun]) -> tuple[str, ...]:
    """What is shown where no metric is named: of what all runs have been scored with the usual, or all."""
    scored = [run.metrics for run in runs if run.predicted is None]
    usual = tuple(name for name in OWN_METRICS if all(name in names for names in scored))
    first = scored[0] if scored else ()
    return usual or tuple(name for name in first if all(name in names for names in scored)) or OWN_METRICS


def _refuse_of_benchmark(layout: str | None, settings: Mapping[str, str]) -> None:
    if layout is not None:
        raise InputError(f"there is no layout {layout!r} for tasks of your own: name metrics with --metric")
    if settings:
        raise InputError(
            f"--set {next(iter(settings))!r}=… applies only to runs of a benchmark, not to tasks of your own"
        )


def _own_source(
    run: TableRun, gold: str | None, metrics: tuple[str, ...], by: str | None, cluster: str | None
) -> OwnSource:
    if run.predicted is None:
        stored_report = read_stored_score(run.path, cluster)
        lacking = [name for name in metrics if name not in run.metrics]
        if lacking:
            raise InputError(
                f"{run.path} was not scored with --metric {lacking[0]}: score it again with that option"
            )
        if by is not None and by not in stored_report.breakdown:
            raise InputError(f"{run.path} was not scored with --by {by}: score it again with that option")
        states = stored_report.states()
        counts = [(states[state], state) for state in NO_ANSWER_STATES if state in states]
        notes = [f"{count:,} {state}, counted as wrong" for count, state in counts]
        return OwnSource(run.path, stored_report.rows, notes, stored_report.totals.cluster)
    model_run = run.predicted
    golds = select_asked_golds(DEFAULT_READING.golds(gold_of(model_run, gold)), model_run)
    rows = DEFAULT_READING.answers(model_run.rows)
    answers = read_run_answers(rows, model_run, trials=True)
    report = score(pair(answers, golds), metrics=metrics, by=() if by is None else (by,), cluster=cluster)
    notes = [note.removeprefix(f"{run.path}: ") for note in answers.notes if note not in rows.notes]
    return OwnSource(run.path, report.rows, notes, report.totals.cluster)


def _refuse_other_gold(sources: Sequence[Source]) -> None:
    """Refuse runs under a benchmark of which one sample has another gold than in the first."""
    scored = [source for source in sources if isinstance(source, BenchmarkSource)]
    for first, other in ((scored[0], source) for source in scored[1:]):
        first_samples = first.samples()
        for key, sample in other.samples().items():
            if key in first_samples and first_samples[key].gold != sample.gold:
                raise InputError(
                    f"{first.run.path} and {other.run.path} cannot share a table: their gold of {key!r} "
                    "differs: score both against the same gold"
                )


# ---------------------------------------------------------------- the rows
def _rows(all_runs: Sequence[TableRun], chosen: Layout) -> dict[str, list[TableRun]]:
    """The runs of each row: those of one system, as long as no two are for one column."""
    groups: dict[str, list[TableRun]] = {}
    for run in all_runs:
        extra = [f"{key} {run.asked[key]}" for key in chosen.rows if run.asked.get(key) not in (None, "")]
        groups.setdefault(", ".join([run.label, *extra]), []).append(run)
    rows: dict[str, list[TableRun]] = {}
    for label, runs in groups.items():
        for more, some in _split_unlike_runs(runs, chosen).items():
            if _has_clash(some, chosen):
                rows |= {f"{label}, {os.path.normpath(r.path)}": [r] for r in some}
            else:
                rows[", ".join(filter(None, (label, more)))] = some
    return {
        f"{label} ({SHARED_ANSWERS_LABEL})" if any(r.mark for r in runs) else label: runs
        for label, runs in rows.items()
    }


def _split_unlike_runs(runs: list[TableRun], chosen: Layout) -> dict[str, list[TableRun]]:
    """Runs of one system apart, where they have to be: by what else was asked of them."""
    if not _has_clash(runs, chosen):
        return {"": runs}
    used = {key for column in chosen.columns for key in column.where} | {*chosen.rows}
    keys = [key for key in runs[0].asked if key not in used]
    differ = [key for key in keys if len({str(r.asked.get(key)) for r in runs}) > 1]
    groups: dict[str, list[TableRun]] = {}
    for run in runs:
        values = {key: run.asked.get(key) for key in differ}
        label = ", ".join(
            f"{key} {'none' if value in (None, '') else value}" for key, value in values.items()
        )
        groups.setdefault(label, []).append(run)
    return groups


def _has_clash(runs: Sequence[TableRun], chosen: Layout) -> bool:
    return any(sum(run.fits(column, chosen.columns) for run in runs) > 1 for column in chosen.columns)


def _measure_column(
    column: LayoutColumn,
    runs: Sequence[TableRun],
    chosen: Layout,
    sources: Mapping[str, Source],
    ids: frozenset[str] | None,
) -> MeasuredFigure:
    fitting = [run for run in runs if run.fits(column, chosen.columns)]
    if not fitting:
        conditions = {
            key: value if isinstance(value, list) else [value] for key, value in column.where.items()
        }
        listed = ", ".join(f"{key} {' or '.join(map(str, values))}" for key, values in conditions.items())
        scored = " ".join(f"--set {key}={value}" for key, value in column.settings.items())
        what = f"known to be asked with {listed}" if listed else f"scored with {scored or 'no --set'}"
        return MeasuredFigure(None, why=f"no run of it is {what}")
    return sources[fitting[0].path].measured(column, ids)


def _run_notes(
    names: Sequence[str], rows: Mapping[str, Sequence[TableRun]], sources: Mapping[str, Source]
) -> list[str]:
    """Of each run whose it is, what was asked, and what does not count."""
    return [
        f"{name}: {run.path}, {'; '.join([run.said, *sources[run.path].notes()])}"
        for name, runs in zip(names, rows.values(), strict=True)
        for run in runs
    ]


# ----------------------------------------------------------------------
# Charts of systems under a benchmark, as the figures of its paper have them.


def chart(
    systems: Scored | Mapping[str, Any] | Mapping[str | None, Any] | Sequence[str | os.PathLike[str]],
    figure: str | None = None,
    *,
    gold: Folder | None = None,
    rules: BenchmarkRules = DEFAULT_RULES,
) -> Chart:
    """Make a chart of systems, as a figure of their benchmark's paper has it.

    Args:
        systems: What :func:`score_benchmark` gave; or a mapping from names to that, or to folders of runs;
            or such folders, which are called as :func:`table` calls them.
        figure: Which, e.g. ``"nestful-6"``; the benchmark's first when left out.
        gold: What was wanted, where runs do not say it.
        rules: How the benchmark judges runs of :func:`predict`, under the last of their variants; of what
            was scored only what runs answers is used.

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
    expect_or_none(PATH, gold=gold)
    rules = check_rules(rules)
    expect(LIST, systems=[systems] if isinstance(systems, (Scored, str, os.PathLike)) else systems)
    if isinstance(systems, Scored):
        systems = {"answers": systems}
    items = [*systems.values()] if isinstance(systems, Mapping) else [*systems]
    if items and all(isinstance(item, Scored) for item in items):
        assert isinstance(systems, Mapping)
        chart_systems = [System(str(name), scored, run=rules.run) for name, scored in systems.items()]
        chosen = find_chart(chart_systems[0].scored.benchmark, figure)
        for system in chart_systems:
            lacking = {k: v for k, v in chosen.settings.items() if system.scored.options.get(k) != v}
            for key, value in lacking.items():
                raise InputError(f"{chosen.name} is made of answers that are scored with --set {key}={value}")
        return chosen.make(chart_systems)
    runs = open_runs(systems)
    form = form_of(runs)
    if form is None:
        raise InputError("charts are of a benchmark's paper, but these runs are of tasks of your own")
    bench = benchmark(form)
    chosen = find_chart(bench, figure)
    named_gold = None if gold is None else os.fspath(gold)
    chosen_settings = tuple(sorted({**rules.settings, **chosen.settings}.items()))
    sources = [BenchmarkSource(r, bench, rules, named_gold) for r in runs]
    names = free_names(_labels(runs), heads=("",))
    chart_systems = [
        System(name, source.scored_with(chosen_settings), source.run.asked, rules.run, source.samples)
        for name, source in zip(names, sources, strict=True)
    ]
    return chosen.make(chart_systems)


def _labels(runs: Sequence[TableRun]) -> Iterator[str]:
    """What runs are called; those of one system by their pipelines too, or else by their folders."""
    for run in runs:
        same = [other for other in runs if other.label == run.label]
        pipelines = {other.asked.get("pipeline") for other in same}
        suffix = run.asked.get("pipeline") if len(pipelines) == len(same) else os.path.normpath(run.path)
        yield f"{run.label}, {suffix}" if len(same) > 1 else run.label
