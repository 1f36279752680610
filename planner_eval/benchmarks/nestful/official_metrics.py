"""Matches, F1 and trajectories as the published NESTful scorer computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from planner_eval.benchmarks.report import Figure, Report, ratio


# ----------------------------------------------------------------------
# Partial and full match of the published NESTful scorer: call texts, compared place by place.
def gold_text(name: Any, arguments: Iterable[str]) -> str:
    """A call as the scorer compares it; arguments are sorted as texts.

    Args:
        name: Its name.
        arguments: What :func:`argument_pairs` makes of its arguments.

    >>> gold_text("add", ["b = 2", "a = $floor.result$"])
    'add(a = $floor.result$, b = 2)'
    """
    return f"{name!s}({', '.join(sorted(arguments))})"


def predicted_text(call: Any) -> str | None:
    """A predicted entry as the scorer compares it; None for an entry without a name.

    Arguments that are no object give ``name({})``, which equals no gold text.

    >>> predicted_text({"name": "add", "arguments": {"a": "$floor.result"}}), predicted_text({"name": "f"})
    ('add(a = $floor.result$)', 'f({})')
    """
    if type(call) is not dict or "name" not in call:
        return None
    arguments = call.get("arguments")
    if type(arguments) is not dict:
        return f"{call['name']!s}({{}})"
    return f"{call['name']!s}({', '.join(sorted(argument_pairs(arguments, close=True)))})"


def argument_pairs(arguments: Mapping[str, Any], *, close: bool = False) -> list[str]:
    """The arguments as ``key = value`` texts, values by Python's ``str``.

    Args:
        arguments: One call's arguments.
        close: Append a ``$`` to each text that begins with one and does not end with one. The scorer does
            so for predictions alone, which spoils prices such as ``$5-$9``.
    """
    if not close:
        return [f"{key} = {value}" for key, value in arguments.items()]
    return [f"{key} = {_close_reference(value)}" for key, value in arguments.items()]


def _close_reference(value: Any) -> Any:
    if type(value) is str and value.startswith("$") and not value.endswith("$"):
        return value + "$"
    return value


def align(gold: Sequence[str], predicted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both lists at one length: calls paired by name in order, the others against "".

    Lists of equal length stay as they are. Otherwise a predicted name that is not next in the gold list
    makes the walk skip all of the gold list, and a predicted call that is named "" is itself the "" of a
    place without a gold call, whatever its arguments.

    Source: ``post_process_api_with_args`` of the published ``utils.py``.

    >>> align(["a(1)", "b(2)"], ["b(2)"])
    (['a(1)', 'b(2)'], ['', 'b(2)'])
    >>> align(["a(1)"], ["x()", "a(1)"])
    (['a(1)', '', ''], ['', 'x()', 'a(1)'])
    >>> align(["a(1)"], ["a(1)", "(b = 2)"])
    (['a(1)', ''], ['a(1)', ''])
    """
    if len(gold) == len(predicted):
        return list(gold), list(predicted)
    pred_names, gold_names = _call_names(predicted), _call_names(gold)
    aligned: list[tuple[str, str]] = []
    i = j = 0
    while i < len(gold) or j < len(predicted):
        if i < len(gold) and j < len(predicted) and gold_names[i] == pred_names[j]:
            aligned.append((gold[i], predicted[j]))
            i, j = i + 1, j + 1
        elif i < len(gold):
            aligned.append((gold[i], ""))
            i += 1
        else:
            aligned.append(("", predicted[j] if pred_names[j] else ""))
            j += 1
    return [left for left, _ in aligned], [right for _, right in aligned]


def _call_names(texts: Iterable[str]) -> list[str]:
    return [text.split("(", 1)[0] for text in texts]


def partial_score(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of equal places after :func:`align`; 0 where there is nothing to compare.

    >>> partial_score(["a(1)", "b(2)"], ["a(1)", "x()", "b(2)"])
    0.25
    """
    left, right = align(gold, predicted)
    return sum(map(str.__eq__, left, right)) / len(left) if left else 0.0


# ----------------------------------------------------------------------
# Macro precision, recall and F1 over the names or pairs that occur in the gold, as NESTful computes them.
_BLOCK_SIZE = 128


class Macro(NamedTuple):
    """Three separate means over classes; the F1 is not computed from the other two."""

    precision: float
    recall: float
    f1: float


def macro(rows: Iterable[tuple[Collection[str], Collection[str]]]) -> Macro:
    """Means over the classes that occur in any gold row; other predicted classes are not looked at.

    Args:
        rows: Gold and predicted classes of each row; repeats collapse.

    Raises:
        ValueError: no gold row holds a class; so does scikit-learn on the empty table.

    Source: ``compute_score_sklearn`` of the published ``utils.py``: scikit-learn's MultiLabelBinarizer
    fitted on gold, then macro averages with 0 for 0/0. A table of one column counts there as a binary
    problem, whose two classes are "in the row" and "not in the row".

    >>> macro([(["add", "floor"], ["add", "invented"])])
    Macro(precision=0.5, recall=0.5, f1=0.5)
    """
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    n = 0
    for gold_classes, predicted_classes in rows:
        n += 1
        distinct = set(predicted_classes)
        for name in distinct:
            predicted[name] += 1
        for name in set(gold_classes):
            gold[name] += 1
            shared[name] += name in distinct
    classes = sorted(gold)
    if not classes:
        raise ValueError("no gold row holds a class")
    counts = [(shared[name], predicted[name], gold[name]) for name in classes]
    if len(counts) == 1:
        hits, predicted_n, gold_n = counts[0]
        absent = (n - predicted_n - gold_n + hits, n - predicted_n, n - gold_n)
        counts = [row for row in (absent, counts[0]) if row[1] or row[2]]
    return Macro(
        mean([hits / (p or 1) for hits, p, _ in counts]),
        mean([hits / (g or 1) for hits, _, g in counts]),
        mean([2 * hits / (p + g or 1) for hits, p, g in counts]),
    )


def mean(values: Sequence[float]) -> float:
    """The mean as NumPy computes it, whose order of summation decides the last digit; importing it is dear.

    Args:
        values: One or more.

    >>> mean([1.0, 0.5])
    0.75
    """
    return _pairwise_sum(values, 0, len(values)) / len(values)


def _pairwise_sum(values: Sequence[float], start: int, size: int) -> float:
    """NumPy's pairwise sum: halves, of blocks of 128, of which every eighth value is summed up by itself."""
    if size > _BLOCK_SIZE:
        half = size // 2 - size // 2 % 8
        return _pairwise_sum(values, start, half) + _pairwise_sum(values, start + half, size - half)
    total, full = 0.0, size - size % 8
    if full:
        r = list(values[start : start + 8])
        for offset in range(start + 8, start + full, 8):
            r = list(map(add, r, values[offset : offset + 8]))
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    return reduce(add, values[start + full : start + size], total)


# ----------------------------------------------------------------------
# NESTful's alternate trajectories, and averages over files: in the published scorer, which never calls
# them.
#
# Source: the paper, section 4.4 ("alternative reasoning paths/trajectories"); ``get_alter_traj_scores`` and
# ``calculate_weighted_avg_score`` of the published ``scorer.py``.
ALTERNATE_FIGURE = "alternate_trajectory_score"
AVERAGED_FIGURES = (
    "f1_intent",
    "f1_slot",
    "accuracy_combined",
    "percentage_times_full_score",
    "win_rate",
    ALTERNATE_FIGURE,
)
"""What is averaged over files, in the published order but for the last two."""


def alternate_figure(report: Report) -> Figure:
    """The share of samples that win although not all of their calls are gold's: by another plan.

    Args:
        report: Of answers that were run; without, the figure has no value.

    Returns:
        Wins with Partial below 1, of all samples that have a win or a loss: under ``"official"`` all of them.

    >>> from planner_eval.benchmarks.report import SampleScore
    >>> row = SampleScore("a", True, (Figure("partial", 0.5), Figure("win", 1.0)))
    >>> alternate_figure(Report("nestful", "official", 1, (), (row,))).value
    1.0
    """
    error = next((figure.error for figure in report.figures if figure.error), None)
    if error is not None:
        return Figure(ALTERNATE_FIGURE, None, error=error)
    hits = alternate_wins(report)
    judged = sum(
        any(figure.name == "win" and figure.value is not None for figure in row.figures)
        for row in report.rows
    )
    return ratio(ALTERNATE_FIGURE, len(hits), judged, note="" if judged else "not run")


def alternate_wins(report: Report) -> list[str]:
    """The ids of the samples that :func:`alternate_figure` counts."""
    ids = []
    for row in report.rows:
        values = {figure.name: figure.value for figure in row.figures}
        win, partial = values.get("win"), values.get("partial")
        if win and isinstance(partial, float | int) and partial < 1:
            ids.append(row.id)
    return ids


def weighted_average(reports: Sequence[Report]) -> list[Figure]:
    """Each figure of several files, averaged with the numbers of their samples as weights.

    The published function reads the printed numbers, of three decimals; so do the official averages. It asks
    for a figure, ``alternate_trajectory_score``, that no published result has: see :func:`alternate_figure`.
    A win rate is weighted by the samples that it was computed from, none in a file whose functions are not
    there.

    Args:
        reports: One a file, all of one variant.

    Returns:
        A figure a name of :data:`AVERAGED_FIGURES`; without a value where a file has none, with the error of
        the first file whose figures have one.

    >>> one = Report("nestful", "corrected", 1, (Figure("num_examples", 1), Figure("f1_slot", 1.0)))
    >>> other = Report("nestful", "corrected", 3, (Figure("num_examples", 3), Figure("f1_slot", 0.0)))
    >>> weighted_average([one, other])[1].value
    0.25
    """
    return [_average(name, reports) for name in AVERAGED_FIGURES]


def _average(name: str, reports: Iterable[Report]) -> Figure:
    total = weights = 0.0
    for report in reports:
        figures = {figure.name: figure for figure in (*report.figures, alternate_figure(report))}
        figure, samples = figures.get(name), figures["num_examples"]
        if figure is not None and figure.error:
            return Figure(name, None, error=figure.error)
        counted = samples.value
        if figure is not None and name in ("win_rate", ALTERNATE_FIGURE):
            counted = figure.denominator
        if counted == 0:
            continue  # a file of which nothing was counted weighs nothing
        if figure is None or not isinstance(figure.value, float | int):
            return Figure(name, None, note=figure.note if figure else "")
        weight = float(counted or 0)
        value = float(f"{figure.value:.3f}") if report.variant == "official" else figure.value
        total, weights = total + weight * value, weights + weight
    return ratio(name, total, weights)


# ----------------------------------------------------------------------
# References made comparable, as the published NESTful scorer does it: a label becomes a tool's name.
MAX_GROUNDED_CHARS = 1 << 24
"""A value that would grow beyond this is refused: labels and names come from the answer."""


def ground(calls: Iterable[Any]) -> list[dict[str, Any]]:
    """Each call as name and arguments, references by tool name instead of by label.

    Only a string, or a string inside a list, that begins with ``$var`` and has a field is rewritten.
    Labels are dropped, and so is the closing pseudo call ``var_result``. Two calls of one tool become
    indistinguishable.

    Args:
        calls: Decoded calls; any of them may turn out to be something else.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: an entry is no call; the published code catches all.

    Source: ``ground_seq_nested_repsonse`` of the published ``output_parsers.py``.

    >>> ground([{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2}},
    ...         {"name": "floor", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$"}}])[1]
    {'name': 'floor', 'arguments': {'arg_0': '$add.result$'}}
    """
    calls = list(calls)
    names: dict[str, Any] = {}
    for call in calls:
        if call["name"] not in ("varResult", "var_result") and "label" in call:
            names[call["label"].replace("$", "")] = call["name"]
    grounded = []
    for call in calls:
        if call["name"] == "var_result":
            continue
        arguments = call["arguments"] if "arguments" in call else call.get("parameters", {})
        values = {key: _ground_value(value, names) for key, value in arguments.items()}
        grounded.append({"name": call["name"], "arguments": values})
    return grounded


def _ground_value(value: Any, names: Mapping[str, Any]) -> Any:
    if type(value) is str:
        return _ground_text(value, names)
    if type(value) is list and names:
        return [_ground_text(item, names) if type(item) is str else item for item in value]
    return value


def _ground_text(text: str, names: Mapping[str, Any]) -> str:
    if not text.startswith("$var"):
        return text
    target = _leading_label(text)
    for label, name in names.items():  # in order: a rewritten text may match a later label again
        if target == label:
            if text.count(label) * len(name) > MAX_GROUNDED_CHARS:
                raise ValueError("a reference grows beyond the limit")
            text = text.replace(label, name)
            target = _leading_label(text)
    return text


def _leading_label(text: str) -> str | None:
    """The label that a text begins with; None of a text that is no reference."""
    head, dot, _ = text.partition(".")
    return head.replace("$", "") if dot and text.startswith("$var") else None
