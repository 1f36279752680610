"""The columns of a table of runs: those of a published one, or figures by a key."""

from __future__ import annotations

from collections.abc import Mapping

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.benchmarks.layouts import Column, Layout, layout, layouts, plain
from planner_eval.benchmarks.registry import benchmark
from planner_eval.metrics import METRICS
from planner_eval.scoring.tabled import Head
from planner_eval.verbs.table_sources import Source


def values_of(sources: Mapping[str, Source], by: str | None) -> list[str]:
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
    sources: Mapping[str, Source],
    settings: Mapping[str, str],
) -> Layout:
    """The layout of a table under a benchmark: the one that is named, its main one, or of the figures wanted.

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
            raise InputError(
                f"the layout {name} says which figures there are, and by what: leave out the others"
            )
        return layout(name, form)
    published = layouts(form)
    if by is None and not metrics and published:
        return next(iter(published.values()))
    figures = _known(sources, settings)
    if unknown := [metric for metric in metrics if metric not in figures]:
        hint = did_you_mean(unknown[0], figures, f"there are {', '.join(figures)}")
        raise InputError(f"{form} has no figure {unknown[0]!r}: {hint}")
    main = next(iter(published.values())).columns if published else ()
    usual = [c.figure for c in main if not c.settings and c.figure in figures]
    chosen = metrics or tuple(dict.fromkeys(usual)) or tuple(figures)
    table_layout = plain(chosen, by, values_of(sources, by))
    of = {c.figure: c for c in main}
    columns = (
        column._replace(of=of[column.figure].of) if column.figure in of else column
        for column in table_layout.columns
    )
    return table_layout._replace(columns=tuple(columns))


def with_settings(chosen: Layout, settings: Mapping[str, str]) -> Layout:
    """A layout with options for all columns; those of a column itself stay.

    Args:
        chosen: The layout.
        settings: The options.
    """
    columns = (column._replace(settings={**settings, **column.settings}) for column in chosen.columns)
    return chosen._replace(columns=tuple(columns))


def _known(sources: Mapping[str, Source], settings: Mapping[str, str]) -> list[str]:
    """The figures of any of the runs."""
    empty_column = Column("", "", "", settings=settings)
    return list(dict.fromkeys(name for source in sources.values() for name in source.names(empty_column)))


def head_of(column: Column, form: str | None) -> Head:
    """What stands above a column.

    Args:
        column: The column.
        form: The benchmark; None for tasks of one's own.
    """
    lower = METRICS[column.figure].lower if form is None else benchmark(form).less_is_better(column.figure)
    return Head(column.group, column.head, column.figure, column.unit, column.digits, lower)
