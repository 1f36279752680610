"""The scores that the published AppBench code prints (its ``Evaluation`` class).

A sample is counted once and a set is the sum of its samples' counts, so the figures of any set,
also of one sample alone, come from :func:`figures`.

Source: repository ruleGreen/AppBench at 81539ee, ``evaluation.py``. Where these figures depart from
the paper's definitions is listed in ``planner_eval.benchmarks.appbench.corrected``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from planner_eval.benchmarks.report import Figure, failed_figures, sum_columns

# ----------------------------------------------------------------------
# How the published AppBench code reads an answer: lines, apps, calls, arguments.
#
# Two modules of that code read calls differently; both readings are here, faults included, because the
# published figures come from them. For a faithful reading use ``planner_eval.parse``.
#
# Source: repository ruleGreen/AppBench at 81539ee, ``utils.py`` and ``analysis.py``.
_APP_LINE = re.compile(r"(\w+):\s*(\[.*\])")
# Words are matched from their first letter only, and calls only before the last ")": the published
# expressions without these fences, which change no result, take quadratic time on hostile text.
_SCORED_CALL = re.compile(r"\w\s*=\s*(\w++)\(([^)]*)\)")
_ANALYSED_CALL = re.compile(r"(?<!\w)(\w++)\((.*)\)")
_MAX_CACHED_CHARS = 1_000
"""Shorter lines are remembered: most lines of an answer are gold's, or another answer's."""
_ANALYSED_ARGUMENT = re.compile(r"""(?<!\w)(\w++)\s*=\s*(?:['"](.+?)['"]|(\[.*\])|(\w+))""")


class OfficialCall(NamedTuple):
    """A call as one of the two published readers understands it.

    One line is read once: treat what it holds as read-only.

    Args:
        name: The API name after the reader's clean-up.
        arguments: Keys and values; keys with ``#`` and values with quotes in the scoring reader,
            both bare in the analysing one.
        returns: The returned names, which no published figure looks at.
    """

    name: str
    arguments: dict[str, str]
    returns: list[str]


def split_answer(text: str) -> tuple[list[str], list[str]]:
    r"""The apps and the call texts of an answer, line by line.

    A line that is not ``App: [call]`` still names an app as long as it holds a colon and both
    brackets; any other line is lost, so a call that spans two lines is too.

    Args:
        text: The whole answer.

    Returns:
        The app names and the call texts; a call text may be empty, and the lists differ in length
        when a line begins with its colon.

    Source: ``utils.discompose_app_api``.

    >>> split_answer("Movies: [x = buy(#city='Reno')]\n- Rents: [y = ride()]")
    (['Movies', '- Rents'], ["x = buy(#city='Reno')", 'y = ride()'])
    """
    apps: list[str] = []
    calls: list[str] = []
    for line in text.split("\n"):
        match = _APP_LINE.match(line)
        if match:
            app, call = match.groups()
        elif ":" in line and "[" in line and "]" in line:
            app, _, call = line.partition(":")
            app = app.strip()
        else:
            continue
        if app:
            apps.append(app)
        calls.append(call.replace("[", "").replace("]", "").strip())  # translate() takes five times as long
    return apps, calls


def read_scored_call(line: str) -> OfficialCall | None:
    """One call text as the scoring module reads it; None where it finds no ``name = api(...)``.

    Of a name with underscores only the second part is kept. Arguments are cut at comma and blank,
    so such a value loses its text (the piece without ``=`` blanks the last key), a value with
    ``=`` loses its key, and one with ``)`` ends the list.

    Args:
        line: One call text of :func:`split_answer`, or one line of the gold's ``api_results``.

    Source: ``utils.extract_name_params``.

    >>> read_scored_call("x = Movies_Buy(#City='Reno, NV', n=2)")
    OfficialCall(name='buy', arguments={'#city': '', '#n': '2'}, returns=['x'])
    """
    return _cached_scored_call(line) if len(line) < _MAX_CACHED_CHARS else _parse_scored_call(line)


def _parse_scored_call(line: str) -> OfficialCall | None:
    match = _SCORED_CALL.search(line, 0, line.rfind(")") + 1)
    if match is None:
        return None
    name, inside = match.groups()
    arguments: dict[str, str] = {}
    last = ""
    for piece in inside.split(", "):
        halves = piece.split("=")
        if len(halves) == 2:
            last = halves[0].strip().lower()
            if not last.startswith("#"):
                last = "#" + last
            arguments[last] = halves[1].strip()
        elif len(halves) == 1 and last:
            arguments[last] = ""
    returns = [name.strip() for name in line.partition("=")[0].split(",")]
    return OfficialCall(_second_name_segment(name.lower()), arguments, returns)


def read_analysed_call(line: str) -> OfficialCall | None:
    """One call text as the analysis module reads it; None where it finds no ``api(...)``.

    An apostrophe ends a value, an empty value swallows the text up to the next quote, and keys and
    values come without their ``#`` and quotes.

    Source: ``analysis.extract_name_params``.

    >>> read_analysed_call("x = buy(#name='Mcdonald's', #n=2)").arguments
    {'name': 'Mcdonald', 'n': '2'}
    """
    return _cached_analysed_call(line) if len(line) < _MAX_CACHED_CHARS else _parse_analysed_call(line)


def _parse_analysed_call(line: str) -> OfficialCall | None:
    match = _ANALYSED_CALL.search(line, 0, line.rfind(")") + 1)
    if match is None:
        return None
    name, inside = match.groups()
    arguments = {
        key: quoted or listed or bare for key, quoted, listed, bare in _ANALYSED_ARGUMENT.findall(inside)
    }
    return OfficialCall(_second_name_segment(name), arguments, line.partition("=")[0].strip().split(","))


_cached_scored_call, _cached_analysed_call = map(
    lru_cache(maxsize=4096), (_parse_scored_call, _parse_analysed_call)
)


def _second_name_segment(name: str) -> str:
    """The name, or what stands between its first and second underscore."""
    return name.split("_")[1] if "_" in name else name


# ----------------------------------------------------------------------
# The scores that the published AppBench code prints (its ``Evaluation`` class).
FIGURE_NAMES = (
    "app_hit_f1",
    "api_hit_f1",
    "argu_hit_f1",
    "complete_match",
    "depend_argu_hit_f1",
    "non_depend_argu_hit_f1",
)
NO_DIVISOR = "ZeroDivisionError"
_CITY_ABBREVIATIONS = {
    "la": "los angeles",
    "lax": "los angeles",
    "nyc": "new york",
    "sd": "san diego",
    "sfo": "san francisco",
    "chi-town": "chicago",
    "ciudad de mexico": "mexico city",
}


class ComparedPlan(NamedTuple):
    """What is compared, of the prediction or of the gold record.

    Args:
        apps: App names, one a call.
        apis: API names, one a call; "" for a call that cannot be read.
        arguments: API name → key → value, of the last call of each API.
    """

    apps: Sequence[str]
    apis: Sequence[str]
    arguments: Mapping[str, Mapping[str, str]]


class AppBenchOfficialCounts(NamedTuple):
    """The counts of one sample, or the sum over a set; `dependent` ones are a part of all."""

    app_hits: int
    app_predicted: int
    app_gold: int
    api_hits: int
    api_predicted: int
    api_gold: int
    hits: int
    predicted: int
    gold: int
    dependent_hits: int
    dependent_predicted: int
    dependent_gold: int
    complete: int


def compared_plan(apps: Sequence[str], lines: Sequence[str], *, is_gold: bool = False) -> ComparedPlan:
    """What the scorer sees of an answer, whose apps are matched with those of a first step, or of gold.

    Args:
        apps: Of :func:`.text.split_answer` …
        lines: … and the calls.
        is_gold: They are gold's, where backslashes stay.
    """
    calls = bare = [read_scored_call(line) for line in lines]
    if not is_gold and any("\\" in line for line in lines):  # deleted for the arguments, not for the names
        bare = [read_scored_call(line.replace("\\", "")) for line in lines]
    arguments = {call.name: call.arguments for call in bare if call is not None}
    return ComparedPlan(apps, [call.name if call else "" for call in calls], arguments)


def match_names(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, int]:
    """Exact match (as multisets) and hits (as sets) of two lists of names, case apart.

    Source: ``match_evaluate`` of ``Evaluation``, whose counter never goes beyond one hit, and of
    ``analysis``, where a perfect list with a repeated name has fewer hits than names.

    >>> match_names(["B", "a"], ["a", "b"]), match_names(["a", "a"], ["A", "a"]), match_names([], ["a"])
    ((1, 2), (1, 1), (0, 0))
    """
    if not predicted:
        return 0, 0
    if predicted == gold:
        return 1, len(set(map(str.lower, gold)))
    pred_names = sorted(map(str.lower, predicted))
    gold_names = sorted(map(str.lower, gold))
    return int(pred_names == gold_names), len(set(pred_names) & set(gold_names))


def expand_city(value: str) -> str:
    """The lower-cased value, or the full name where all of it is a city's abbreviation.

    >>> expand_city("'LA'"), expand_city("'Last'")
    ("'los angeles'", "'last'")
    """
    value = value.lower()
    full = _CITY_ABBREVIATIONS.get(value.strip("'"))
    return value if full is None else f"'{full}'"


def is_same_value(left: str, right: str) -> bool:
    """Whether one value contains the other once case and outer ``'`` are gone; "" is in all.

    >>> is_same_value("'Santa Rosa'", "'a'"), is_same_value("city", "'city'"), is_same_value("'1'", "'2'")
    (True, True, False)
    """
    left = left.lower().strip("'")
    right = right.lower().strip("'")
    return left in right or right in left


def count(predicted: ComparedPlan, gold: ComparedPlan, user: Mapping[str, str]) -> AppBenchOfficialCounts:
    """The counts of one sample.

    Args:
        predicted: What the answer says.
        gold: What the gold record says.
        user: The record's ``user_aware_arguments``: values that any argument of that key may take.

    Source: ``Evaluation.get_appbench_analysis``.
    """
    app_equal, app_hits = match_names(predicted.apps, gold.apps)
    api_equal, api_hits = match_names(predicted.apis, gold.apis)
    # An argument is "dependent" where its text holds no quote. The predicted ones are counted over
    # the whole prediction, the gold ones over the predicted APIs alone, as published.
    values = [value for arguments in predicted.arguments.values() for value in arguments.values()]
    dependent_predicted = sum("'" not in value for value in values)
    dependent_gold = hits = dependent_hits = 0
    all_found = True
    past: dict[str, str] = {}
    for api, gold_arguments in gold.arguments.items():
        pred_arguments = predicted.arguments.get(api)
        if pred_arguments is None:
            all_found = False
            continue
        for key, gold_value in gold_arguments.items():
            dependent = "'" not in gold_value
            dependent_gold += dependent
            if key not in pred_arguments:
                all_found = False
                continue
            value = expand_city(pred_arguments[key])
            rule = _hit_rule(value, gold_value, user.get(key[1:]), past.get(key))
            if not rule:
                all_found = False
                continue
            hits += 1
            past.setdefault(key, value)
            if dependent:
                dependent_hits += 1
                dependent_predicted += rule > 1
    return AppBenchOfficialCounts(
        min(app_hits, 1),
        len(predicted.apps),
        len(gold.apps),
        min(api_hits, 1),
        len(predicted.apis),
        len(gold.apis),
        hits,
        len(values),
        sum(map(len, gold.arguments.values())),
        dependent_hits,
        dependent_predicted,
        dependent_gold,
        int(app_equal and api_equal and all_found),
    )


def _hit_rule(value: str, gold: str, user: str | None, past: str | None) -> int:
    """Why a value counts as right: 1 the gold value, 2 the user's, 3 an earlier hit's; 0 it does not."""
    if value == gold or is_same_value(gold, value):
        return 1
    if user is not None and is_same_value(user, value):
        return 2
    return 3 if past is not None and is_same_value(past, value) else 0


def sum_counts(counts: Iterable[AppBenchOfficialCounts]) -> AppBenchOfficialCounts:
    """The sum of the counts of many samples."""
    return AppBenchOfficialCounts(*sum_columns(counts, len(AppBenchOfficialCounts._fields)))


def figures(c: AppBenchOfficialCounts, n: int) -> tuple[Figure, ...]:
    """The six printed figures; each names the exception where the published code divides by zero.

    Args:
        c: The sum over the set.
        n: Samples in the set.

    Source: the end of ``Evaluation.get_appbench_analysis``; the dependent and independent figures
    pair numerators with denominators that do not belong together, so they can pass 1.
    """
    try:
        app = f1(c.app_hits / c.app_predicted, c.app_hits / c.app_gold)
        api = f1(c.api_hits / c.api_predicted, c.api_hits / c.api_gold)
        arguments = f1(c.hits / c.predicted, c.hits / c.gold) if c.predicted else 0.0
        dependent = f1(
            c.dependent_hits / c.dependent_predicted if c.dependent_predicted else 1.0,
            c.dependent_hits / c.dependent_gold if c.dependent_gold else 1.0,
        )
        hits, predicted = c.hits - c.dependent_hits, c.predicted - c.dependent_predicted
        independent = f1(
            hits / predicted if predicted else 1.0,
            hits / (c.gold - c.dependent_gold) if c.dependent_gold else 1.0,
        )
        values = (app, api, arguments, c.complete / n, dependent, independent)
    except ZeroDivisionError:
        return failed_figures(FIGURE_NAMES, NO_DIVISOR)
    return tuple(map(Figure, FIGURE_NAMES, values))


@lru_cache(maxsize=4096)
def failure(counts: AppBenchOfficialCounts) -> str | None:
    """The exception that the published code raises for one sample scored alone, if it does."""
    return figures(counts, 1)[0].error


def f1(precision: float, recall: float) -> float:
    """The harmonic mean, 0 where both are 0.

    >>> f1(1.0, 0.5), f1(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
