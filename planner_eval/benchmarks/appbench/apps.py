"""Which APIs of which apps are used, and the structure that the published code reads off a gold record.

Source: the paper, Table 8 (appendix A.2), "the list of all APP and API".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.appbench.reading import normalize_plan, read_prediction
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.report import Cell, Records
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse

# ----------------------------------------------------------------------
# Which APIs of which apps are used: the list of the paper, in the gold plans, and in answers.
TABLE_8 = {
    "Rents": ("getcarsavailable", "reservecar", "getride"),
    "Hotels": ("searchhouse", "bookhouse"),
    "Services": (
        "book_stylist_appointment",
        "find_stylist_provider",
        "book_therapist_appointment",
        "find_therapist_appointment",
    ),
    "Restaurants": ("reserverestaurant", "findrestaurants"),
    "Movies": ("buymovietickets", "findmovies", "gettimesformovie", "reviewmovies"),
    "Trains": ("gettraintickets", "findtrains"),
    "Events": ("findevents", "buyeventtickets"),
    "Travel": ("findattractions",),
    "Buses": ("findbus", "buybusticket"),
    "Flights": ("searchonewayflight", "searchroundtripflights"),
    "Payment": ("requestpayment", "makepayment"),
    "Music": ("playmedia", "lookupmusic"),
    "Weather": ("getweather",),
}
"""As printed, but for "Restaurant", which the data calls Restaurants."""
_PUBLISHED_SAMPLES = 800


def table8(samples: Iterable[Sample]) -> list[Cell]:
    """Table 8: how many APIs of each app the gold plans call, and how often.

    Args:
        samples: Of any parts.

    Returns:
        A row an app, those that are not printed last; values are None where no sample is at hand.

    >>> [cell.published for cell in table8([])][:3]
    ['3', None, '2']
    """
    used: dict[str, Counter[str]] = defaultdict(Counter)
    n = 0
    for sample in samples:
        plan = _read_gold_plan(sample)
        if plan is not None:
            n += 1
            for call in plan.calls:
                used[str(call.app)][call.name] += 1
    cells: list[Cell] = []
    for app in (*TABLE_8, *sorted(used.keys() - TABLE_8.keys())):
        cells += _app_cells(app, used[app], n)
    return cells


def _app_cells(app: str, used: Counter[str], n: int) -> Iterator[Cell]:
    printed = TABLE_8.get(app, ())
    absent = [name for name in printed if name not in used]
    unprinted = [name for name in used if name not in printed]
    remarks = [f"never called: {', '.join(absent)}"] * bool(absent)
    remarks += [f"not printed: {', '.join(unprinted)}"] * bool(unprinted)
    note = "; ".join(remarks) if n else "no sample at hand"
    published = str(len(printed)) if printed else None
    yield Cell(
        "Table 8", app, "APIs", published, float(len(used)) if n else None, n, _PUBLISHED_SAMPLES, note
    )
    yield Cell("Table 8", app, "Calls", None, float(used.total()) if n else None, n, _PUBLISHED_SAMPLES)


def _read_gold_plan(sample: Sample) -> Plan | None:
    try:
        return parse(sample.gold, dialect="appbench")
    except ParseError:
        return None


def used_apis(records: Records) -> list[dict[str, Any]]:
    """The APIs of each app that gold calls, with how often gold, answers, and both call it.

    A call is in both as often as gold and the answer of one sample call it; case plays no part. What gold
    never calls is summed up in a last row.

    Args:
        records: Samples with the text that a model answered.
    """
    gold: Counter[tuple[str, str]] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    shared_calls: Counter[tuple[str, str]] = Counter()
    for sample, text in records:
        plan = _read_gold_plan(sample)
        if plan is not None:
            gold_calls, answer_calls = (
                _count_calls(normalize_plan(plan)),
                _count_calls(read_prediction(text).plan),
            )
            gold, answers, shared_calls = (
                gold + gold_calls,
                answers + answer_calls,
                shared_calls + (gold_calls & answer_calls),
            )
    rows: list[dict[str, Any]] = [
        {"app": app, "API": name, "gold": gold[app, name]}
        | {"answers": answers[app, name], "both": shared_calls[app, name]}
        for app, name in sorted(gold)
    ]
    unlisted = sum(times for key, times in answers.items() if key not in gold)
    if unlisted:
        rows.append({"app": "others", "API": None, "gold": 0, "answers": unlisted, "both": 0})
    return rows


def _count_calls(plan: Plan) -> Counter[tuple[str, str]]:
    return Counter((call.app or "", call.name) for call in plan.calls)


# ----------------------------------------------------------------------
# The structure that the published AppBench code reads off a gold record (its Table 2).
#
# Source: repository ruleGreen/AppBench at 81539ee, ``utils.topo_relations``.
_NEEDED_NAME = re.compile(r"#\w+=(?:'[^']*'|(\w+))")


def official_components(gold: Mapping[str, Any]) -> list[list[int]]:
    """The components of a gold plan, as the published depth-first search lists them.

    Every call that returns a needed name is linked, later ones too, and the search walks from
    producer to consumer only: two producers of one consumer lie in two components.

    Args:
        gold: A gold record's ``output``.

    Returns:
        Positions of calls, one list a component, in the order in which they are found.

    >>> lines = ["a = f(#x='1')", "b = g(#y='2')", "c = h(#a=a, #b=b)"]
    >>> official_components({"used_app": ["A", "A", "A"], "api_results": lines})
    [[0, 2], [1]]
    """
    lines = [line for line, _ in zip(gold["api_results"], gold["used_app"], strict=False)]
    returned: list[set[str]] = []
    needs: list[set[str]] = []
    for line in lines:
        names, _, call = line.partition("=")
        returned.append({name.strip() for name in names.split(",")})
        needs.append({name for name in _NEEDED_NAME.findall(call) if name})
    n = len(lines)
    # As published: the first call's needs and, as a producer, the last call are never looked at.
    consumers: list[list[int]] = [
        [i for i in range(n - 1, 0, -1) if i != j and j < n - 1 and not needs[i].isdisjoint(returned[j])]
        for j in range(n)
    ]
    components: list[list[int]] = []
    visited: set[int] = set()
    for start in range(n):
        component: list[int] = []
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in visited:
                visited.add(node)
                component.append(node)
                stack.extend(reversed(consumers[node]))
        if component:
            components.append(component)
    return components
