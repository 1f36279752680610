"""What a compared answer is worth, part by part and call by call: pure functions over one comparison."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.align import Matching
from planner_eval.comparison.diff import Diff
from planner_eval.metrics.counts import Counts
from planner_eval.metrics.facts import Facts
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Plan

WRONG_AT_MOST = 0.95
"""What an answer is worth at most that does not mean the same as gold, however little is wrong."""


class Weights(NamedTuple):
    """What the parts of an answer are worth beside one another.

    Args:
        format: It can be read, and is a plan and nothing else.
        calls: The right tools are called: F1 of calls.
        arguments: Their arguments are right in name and value: F1 of arguments.
        references: Outputs of the right calls are taken in the right places: F1 of references.
        structure: Calls need the calls that they should, and stand after them: F1 of dependencies.
    """

    format: float = 0.1
    calls: float = 0.3
    arguments: float = 0.3
    references: float = 0.2
    structure: float = 0.1


class Verdicts(NamedTuple):
    """What each call of an answer is worth by itself, for rewards per call.

    Args:
        right: The call is right.
        wrong: A root cause lies in it.
        consequence: Something in it is wrong that follows from another mistake.
    """

    right: float = 1.0
    wrong: float = -1.0
    consequence: float = 0.0


VERDICTS = Verdicts()
"""What they are worth where nothing is said."""


class CallReward(NamedTuple):
    """One call of an answer.

    Args:
        tool: The tool.
        verdict: ``"right"``, ``"wrong"`` or ``"consequence"``.
        reward: What that is worth.
        span: Where the call stands in the completion, in characters, where that is known.
        said: What is wrong, in words; of a consequence what it follows from.
    """

    tool: str
    verdict: str
    reward: float
    span: Span | None = None
    said: str = ""


def weights_of(given: Mapping[str, float] | Weights | None) -> Weights:
    """Weights as the user gives them, which add up to 1.

    Args:
        given: Name → weight; those left out keep their own.

    Raises:
        InputError: there is no such part, or a weight is no number from 0 on, or all are 0.

    >>> weights_of({"format": 0, "references": 0, "structure": 0})
    Weights(format=0.0, calls=0.5, arguments=0.5, references=0.0, structure=0.0)
    """
    chosen: dict[str, Any] = Weights()._asdict()
    for name, value in (given._asdict() if isinstance(given, Weights) else given or {}).items():
        if name not in chosen:
            hint = did_you_mean(name, chosen, f"known are {', '.join(chosen)}")
            raise InputError(f"the weights name {name!r}, which is no part of a reward; {hint}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise InputError(f"the weight of {name} is {value!r}, expected a number from 0 on")
        chosen[name] = value
    total = sum(chosen.values())
    if not total or not isfinite(total):
        raise InputError(f"the weights add up to {total:g}, expected more than 0")
    return Weights(**{name: value / total for name, value in chosen.items()})


def parts_of(found: Matching) -> dict[str, float | None]:
    r"""The parts of an answer but its format, each from 0 to 1; None where neither plan has any of it.

    Only calls of gold's own tool earn something, and only once: of equal calls of the prediction those earn
    that are right, else one. So nothing that is added earns but what is right itself.

    Args:
        found: What :func:`planner_eval.comparison.align.match` gave.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.dialects.read import parse
    >>> parts_of(match(parse("f(#x='1')\ng(#y='2')"), parse("f(#x='1')")))
    {'calls': 0.6666666666666666, 'arguments': 0.6666666666666666, 'references': None, 'structure': None}
    """
    facts = Facts(found)
    copies = _copies(facts)
    pairs = [pair for pair in facts.same_name if pair[0] not in copies]
    counted = facts.arguments
    right = sum(counted.right) - sum(_right(facts, gold) for pred, gold in facts.same_name if pred in copies)
    place: dict[int, int] = dict(pairs)
    parts = {
        "calls": Counts(len(pairs), len(facts.pred.calls), facts.gold_calls),
        "arguments": Counts(right, sum(counted.pred), sum(counted.gold)),
        "references": _references(facts, place),
        "structure": _dependencies(facts, place),
    }
    return {name: each.f1 for name, each in parts.items()}


def worth(weights: Weights, format: float, parts: Mapping[str, float | None], *, same: bool) -> float:
    """One figure from 0 to 1.

    Parts that neither plan has say nothing, and the others take their share; the format keeps its own.

    Args:
        weights: What the parts are worth, adding up to 1.
        format: What the format is worth, from 0 to 1.
        parts: What :func:`parts_of` gave.
        same: Whether the answer means the same as gold.

    >>> round(worth(weights_of(None), 1.0, {"calls": 0.5, "arguments": None}, same=False), 3)
    0.55
    """
    told = [(getattr(weights, name), part) for name, part in parts.items() if part is not None]
    whole = sum(weight for weight, _ in told)
    content = 1.0 if same or not whole else sum(weight * part for weight, part in told) / whole
    found = weights.format * format + (1 - weights.format) * content
    return found if same else min(found, WRONG_AT_MOST)


def calls_of(found: Diff, verdicts: Verdicts) -> tuple[CallReward, ...]:
    r"""What each call of the prediction is worth by itself.

    Args:
        found: The comparison.
        verdicts: What right and wrong calls, and consequences, are worth.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.dialects.read import parse
    >>> both = parse("g(#y='7')\nh(#x='1')"), parse("a = f()\ng(#y=a)\nh(#x='2')")
    >>> [call.verdict for call in calls_of(diff(*both), Verdicts())]
    ['consequence', 'wrong']
    """
    said: dict[int, tuple[str, str]] = {}
    for edit in found.edits:
        verdict = "wrong" if edit.cause is None else "consequence"
        why = edit if edit.cause is None else found.edits[_root(found, edit.cause)]
        for pred, _ in edit.places:
            if pred is None or pred.call is None:
                continue
            if pred.call not in said or (verdict == "wrong" and said[pred.call][0] != "wrong"):
                said[pred.call] = verdict, why.message
    return tuple(
        CallReward(call.tool, verdict, getattr(verdicts, verdict), call.span, message)
        for call, (verdict, message) in (
            (call, said.get(at, ("right", ""))) for at, call in enumerate(found.pred.calls)
        )
    )


def _root(found: Diff, at: int) -> int:
    while (cause := found.edits[at].cause) is not None:
        at = cause
    return at


def _copies(facts: Facts) -> set[int]:
    """Calls of the prediction that say again what another one says, and are not right themselves."""
    groups: dict[int, list[int]] = {}
    for at, number in enumerate(_equal(facts.pred)):
        groups.setdefault(number, []).append(at)
    many = [group for group in groups.values() if len(group) > 1]
    if not many:
        return set()
    whole, partner = {*facts.whole_calls}, dict(facts.same_name)
    found: set[int] = set()
    for group in many:
        paired = [at for at in group if at in partner]
        best = sorted(paired, key=lambda at: -_right(facts, partner[at]))[:1]
        found.update({*paired} - ({at for at in paired if partner[at] in whole} or {*best}))
    return found


def _equal(plan: Plan) -> list[int]:
    """A number for each call of a plan, the same for equal ones: what refers to equal calls is equal."""
    if len({(call.app, call.name) for call in plan.calls}) == len(plan.calls):
        return [*range(len(plan.calls))]
    numbers: list[int] = [*range(len(plan.calls))]
    known: dict[Any, int] = {}
    for at, call in enumerate(plan.calls):
        said = sorted(((name, value_key(value, numbers)) for name, value in call.arguments), key=repr)
        numbers[at] = known.setdefault((call.app, call.name, *said), at)
    return numbers


def _right(facts: Facts, gold: int) -> int:
    """How many arguments of a call of gold its partner of the same name has right."""
    wrong = facts.differing.get(gold, {})
    return sum(name not in wrong for name, _ in facts.gold.calls[gold].arguments)


def _references(facts: Facts, place: Mapping[int, int]) -> Counts:
    ours, theirs = facts.pred_edges, facts.gold_edges
    wanted = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in theirs}
    found = {
        (place[e.producer], place[e.consumer], e.argument, e.at, e.path)
        for e in ours
        if e.producer in place and e.consumer in place
    }
    return Counts(len(found & wanted), len(ours), len(theirs))


def _dependencies(facts: Facts, place: Mapping[int, int]) -> Counts:
    """Pairs of calls of which one needs the other; one written the wrong way round is not right."""
    ours = {(e.producer, e.consumer) for e in facts.pred_edges}
    theirs = {(e.producer, e.consumer) for e in facts.gold_edges}
    turned = {(p, c) for p, c in ours if p >= c} if facts.matching.policy.order != "free" else set()
    found = {
        (place[p], place[c])
        for p, c in ours
        if p in place and c in place and ((p, c) not in turned or place[p] >= place[c])
    }
    return Counts(len(found & theirs), len(ours), len(theirs))
