"""Why models fail: types of errors, types of parameters, numbers of steps (Figures 4, 5 and 6).

No code was published for these figures; each function says how it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.complexfuncbench.data import Step, domain_of, steps_of
from planner_eval.benchmarks.complexfuncbench.matching import argument_key
from planner_eval.benchmarks.complexfuncbench.turn import JudgedCall
from planner_eval.benchmarks.layouts import (
    ChartSpec,
    System,
    figure_bars,
    paper_grid,
    point_of,
    printed_table,
)
from planner_eval.benchmarks.report import Cell, ratio
from planner_eval.results.drawing.charts import Bars, Chart, Point

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample


ERROR_TYPES = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")
"""The paper's types of errors."""
OTHER = "other"
"""Errors that are of none."""

_PAPER_TYPE = {
    "func_error": "func_error",
    "func_hallucination": "func_error",
    "name_error": "func_error",
    "decode_error": "func_error",
    "param_missing": "param_missing",
    "param_hallucination": "hallucination",
    "value_error": "value_error",
    "stop_early": "stop_early",
}

PARAMETER_TYPES = (
    "filter",
    "legs",
    "token",
    "slug",
    "date",
    "location",
    "key",
    "id",
    "time",
    "sort_by",
    "type",
    "age",
    "people",
    "other",
)
"""The paper's types of parameters, and one for the rest (currency, language, page …)."""

_TYPE_BY_NAME = {
    "legs": "legs",
    "slug": "slug",
    "query": "location",
    "location": "location",
    "sort": "sort_by",
    "sort_by": "sort_by",
    "sortby": "sort_by",
    "adults": "people",
    "children": "people",
    "room_qty": "people",
    "people": "people",
    "age": "age",
}
_TYPE_BY_ENDING = (
    ("filter", "filter"),
    ("token", "token"),
    ("latitude", "location"),
    ("longitude", "location"),
    ("date", "date"),
    ("time", "time"),
    ("_age", "age"),
    ("type", "type"),
    ("key", "key"),
    ("id", "id"),
)


def paper_error_type(code: str) -> str | None:
    """The paper's type of an error code; None for codes that it does not speak of.

    Calls of unknown functions and calls after the last step are wrong calls.

    Source: ComplexFuncBench paper, section 4.3.1.

    >>> paper_error_type("param_hallucination"), paper_error_type("unknown_error")
    ('hallucination', None)
    """
    return _PAPER_TYPE.get(code)


def parameter_type(name: str) -> str:
    """The paper's type of a parameter, by its name.

    Source: ComplexFuncBench paper, appendix C (Table 4), which gives one example a type.

    >>> [parameter_type(n) for n in ("categories_filter", "pick_up_time", "toId", "children_age")]
    ['filter', 'time', 'id', 'age']
    """
    lower = name.lower()
    if lower in _TYPE_BY_NAME:
        return _TYPE_BY_NAME[lower]
    return next((kind for ending, kind in _TYPE_BY_ENDING if lower.endswith(ending)), "other")


def error_types(calls: Iterable[JudgedCall], *, stopped: bool) -> Iterator[str]:
    """The paper's type of each error of a conversation (Figure 4).

    Args:
        calls: Every judged call.
        stopped: It ended before all annotated calls were made.
    """
    for call in calls:
        if not call.matched:
            yield paper_error_type(call.record["error_type"] if call.record else "") or OTHER
    if stopped:
        yield "stop_early"


def compared_values(judged: Iterable[JudgedCall]) -> Iterator[tuple[str, bool]]:
    """The type of each parameter of calls that name the function of their gold call, and whether it is wrong.

    A parameter is compared when both calls give it. Values of a call that was matched, in whatever
    way, are right.

    Source: ComplexFuncBench paper, Figure 5.
    """
    for call in judged:
        if call.gold is None or call.prediction["name"] != call.gold["name"]:
            continue
        function, arguments = call.gold["name"], call.prediction["arguments"]
        for name, value in call.gold["arguments"].items():
            if name in arguments:
                key = argument_key(function, name, arguments[name])
                wrong = not call.matched and key != argument_key(function, name, value)
                yield parameter_type(name), wrong


def self_correction(turns: Sequence[Sequence[JudgedCall]]) -> tuple[int, int]:
    """How many wrong calls of a conversation a later turn puts right, and how many there are.

    A wrong call gets an error message for an answer (a malformed one says what is wrong, any other is
    general). It is put right where a later turn holds a right call of the same function, or the right call
    that the wrong one stood for.

    Args:
        turns: Every judged call, by turn.

    Source: ComplexFuncBench paper, section 1 (the ability that ComplexEval's error messages are to show);
    no figure and no code of it was published.
    """
    corrected = total = 0
    later: list[JudgedCall] = []
    for turn in reversed(turns):
        wrong = [call for call in turn if not call.matched]
        total += len(wrong)
        corrected += sum(any(_is_corrected_by(call, other) for other in later) for call in wrong)
        later += [call for call in turn if call.matched]
    return corrected, total


def _is_corrected_by(wrong: JudgedCall, right: JudgedCall) -> bool:
    return right.prediction["name"] == wrong.prediction["name"] or (
        wrong.gold is not None and right.gold is wrong.gold
    )


# ----------------------------------------------------------------------
# The table of the data and the figures of ComplexFuncBench's paper.
#
# Source: ComplexFuncBench paper, Table 3.
# ----------------------------------------------------------------------
# The paper's table of the data, each printed cell beside the recomputed one.
_COLUMNS = ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross", "Total")


def table3(samples: Iterable[Sample]) -> list[Cell]:
    """Table 3: samples, steps and calls by domain, from the samples available.

    Args:
        samples: Any part of the data; each cell says how many samples it was computed from.

    Returns:
        The table row by row; a value is None where no sample of the domain is at hand.

    Source: ComplexFuncBench paper, Table 3.

    >>> table3([])[0].published
    '150'
    """
    steps: dict[str, list[tuple[Step, ...]]] = {name: [] for name in _COLUMNS}
    for sample in samples:
        for column in (domain_of(sample.id), "Total"):
            steps.setdefault(column, []).append(steps_of(sample.gold))
    columns = {name: steps[name] for name in _COLUMNS}
    return [*paper_grid("Table 3", printed_table("complexfuncbench", "table_3"), columns, _MEASURES)]


_MEASURES: dict[str, Callable[[Sequence[tuple[Step, ...]]], float]] = {
    "# Samples": len,
    "Avg. Steps": lambda conversations: sum(map(len, conversations)) / len(conversations),
    "Avg. Calls": lambda conversations: (
        sum(len(step.calls) for steps in conversations for step in steps) / len(conversations)
    ),
}


# ----------------------------------------------------------------------
# ComplexFuncBench's Figures 4, 5 and 6: kinds of errors, kinds of parameters, steps (section 4.3).
_INDEPENDENCE_NOTE = "error bars treat errors as independent, although some come from one conversation"


def error_chart(systems: Sequence[System]) -> Chart:
    """The share of each kind of error in all errors."""
    kinds = (*ERROR_TYPES, OTHER)
    panel = _bars(systems, "error share", kinds, "kind of error", "share of all errors (%)")
    series = {  # of one system all kinds are of the same number
        name: tuple(point._replace(n=0) for point in points) for name, points in panel.series.items()
    }
    return Chart("complexfuncbench-4", (panel._replace(series=series),), (_INDEPENDENCE_NOTE,))


def parameter_chart(systems: Sequence[System]) -> Chart:
    """The share of wrong values by kind of parameter."""
    across = "kind of parameter (values compared)"
    panel = _bars(systems, "error rate", PARAMETER_TYPES, across, "wrong values (%)")
    return Chart("complexfuncbench-5", (panel,), (_INDEPENDENCE_NOTE,))


def _bars(systems: Sequence[System], figure: str, kinds: Sequence[str], across: str, up: str) -> Bars:
    panel = figure_bars("", systems, {kind: (f"{figure} {kind}", kind) for kind in kinds}, across, up)
    if panel is None:
        raise InputError(
            f"there is no {figure} to show: no answer has such an error, or --official was given, whose code "
            "counts none"
        )
    return panel


def step_chart(systems: Sequence[System]) -> Chart:
    """How many conversations take how many steps, beside how many are annotated with so many."""
    distributions: dict[str, Counter[int]] = {}
    for system in systems:
        figures_by_row = [{figure.name: figure.value for figure in row.figures} for row in system.report.rows]
        pairs = [
            (figures["steps"], figures["turns"])
            for figures in figures_by_row
            if figures.keys() >= {"steps", "turns"}
        ]
        if not pairs:
            raise InputError(
                f"{system.name}: no conversation has a number of steps: use --corrected, which counts them"
            )
        annotated, actual = (Counter(int(pair[index] or 0) for pair in pairs) for index in (0, 1))
        distributions.setdefault("annotated", annotated)
        distributions[system.name if system.name != "annotated" else "annotated (system)"] = actual
    numbers = [number for counts in distributions.values() for number in counts]
    ticks = range(min(numbers), max(numbers) + 1)
    series = {name: _share_points(counts, ticks) for name, counts in distributions.items()}
    series["annotated"] = tuple(Point(point.value) for point in series["annotated"])  # what is given is sure
    across = "steps with calls"
    return Chart(
        "complexfuncbench-6", (Bars("", tuple(map(str, ticks)), across, "conversations (%)", series),)
    )


def _share_points(counts: Counter[int], ticks: Sequence[int]) -> tuple[Point, ...]:
    total = counts.total()
    return tuple(point_of(ratio("", counts[number], total))._replace(n=0) for number in ticks)


CHARTS = {
    "complexfuncbench-4": ChartSpec("kinds of errors", "Figure 4", error_chart),
    "complexfuncbench-5": ChartSpec("wrong values by kind of parameter", "Figure 5", parameter_chart),
    "complexfuncbench-6": ChartSpec("steps taken and annotated", "Figure 6", step_chart),
}
