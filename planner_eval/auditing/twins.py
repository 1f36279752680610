"""Records of one question, up to values, whose gold plans are of different shape: one may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from planner_eval.auditing.finding import Confidence, GoldFinding
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import counted, shortened
from planner_eval.datasets.questions import question_template
from planner_eval.plan.digest import Classes
from planner_eval.plan.model import Plan

CODES = ("gold.twin",)
FEW = 4
"""So many records are named in a message and in `related`, the first ones."""


class Item(NamedTuple):
    """One record.

    Args:
        record: Its name.
        question: What is asked.
        plan: Its gold plan.
        tools: What tells the tools on offer apart, e.g. their names: only records with the same are twins.
    """

    record: str
    question: str
    plan: Plan
    tools: Hashable = None


def differing(items: Iterable[Item]) -> dict[str, list[GoldFinding]]:
    """Records whose plan has another shape than those of records with the same question, up to values.

    Questions are alike as :func:`planner_eval.datasets.questions.question_template` says; shapes are those of
    :class:`planner_eval.plan.digest.Classes`, up to values. Where one shape is that of more than half of a
    group, the others are doubtful: of three or more and at least three in four that agree, ``medium``; of a
    smaller majority, and where there is none (all are then named), ``low``. Never ``high``: a question up to
    values may ask for other calls where a value decides which.

    Args:
        items: The records of a data set.

    Returns:
        By record, in their order; records without a finding are left out.

    >>> from planner_eval.dialects.read import parse
    >>> plans = {"a": "f(x=3)", "b": "f(x=5)", "c": "f(x=6)", "d": "g(x=7)"}
    >>> asked = [Item(name, f"Take {len(name)} off.", parse(plan)) for name, plan in plans.items()]
    >>> for name, (found,) in differing(asked).items(): print(name, found.confidence, found.message)
    d medium the question is that of a, b, c, up to values, whose plans make the calls f; this one makes g
    """
    shapes = Classes(values=False)
    grouped: dict[tuple[str, Hashable], list[tuple[Item, str]]] = {}
    order: list[str] = []
    for item in items:
        order.append(item.record)
        key = (question_template(item.question), item.tools)
        grouped.setdefault(key, []).append((item, shapes.of(item.plan)))
    found: dict[str, list[GoldFinding]] = {}
    for group in grouped.values():
        for record, finding in _odd(group):
            found.setdefault(record, []).append(finding)
    return {record: found[record] for record in dict.fromkeys(order) if record in found}


def _odd(group: Sequence[tuple[Item, str]]) -> Iterator[tuple[str, GoldFinding]]:
    counts = Counter(shape for _, shape in group)
    if len(counts) < 2:
        return
    (first, most), (_, second) = counts.most_common(2)
    usual = first if most > second and 2 * most > len(group) else None
    confidence: Confidence = "medium" if usual and most >= 3 and 4 * most >= 3 * len(group) else "low"
    for item, shape in group:
        if shape == usual:
            continue
        others = [other for other, its in group if (its == usual if usual else its != shape)]
        names = [other.record for other in others[:FEW]]
        what = f"{', '.join(names)}{', …' if len(others) > FEW else ''}"
        theirs, mine = _told(others[0].plan, item.plan)
        whose = "whose plans make" if len(others) > 1 else "whose plan makes"
        if usual is None and len({its for other, its in group if its != shape}) > 1:
            shapes = counted(len(counts), "shape")
            message = f"the question is that of {what}, up to values; their plans are of {shapes}"
        else:
            message = f"the question is that of {what}, up to values, {whose} {theirs}; this one makes {mine}"
        yield item.record, GoldFinding("gold.twin", message, confidence, None, None, tuple(names))


def _told(usual: Plan, odd: Plan) -> tuple[str, str]:
    """What two plans of different shape call, or that only what they pass on differs."""
    ours, theirs = ([call.tool for call in plan.calls] for plan in (odd, usual))
    if sorted(ours) != sorted(theirs):
        return f"the calls {_calls(theirs)}", _calls(ours)
    given = [
        sorted((call.tool, name) for call in plan.calls for name, _ in call.arguments)
        for plan in (odd, usual)
    ]
    if given[0] != given[1]:
        return f"the calls {_calls(theirs)} with other arguments", "them with its own"
    bare = Classes(values=False)
    if bare.of(replace(usual, answer=None)) == bare.of(replace(odd, answer=None)):
        return f"the calls {_calls(theirs)} and answer with other results", "them too"
    return f"the calls {_calls(theirs)} and pass their results on otherwise", "them too"


def _calls(tools: Sequence[str]) -> str:
    if not tools:
        return "none at all"
    return shortened(", ".join(tools[:6]), 120) + (f" and {len(tools) - 6} more" if len(tools) > 6 else "")
