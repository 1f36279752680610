"""What a gold record leaves open, of which findings about its first values know nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner_eval.auditing.asked import Question
from planner_eval.auditing.finding import GoldFinding
from planner_eval.plan.model import Call, Plan, Value
from planner_eval.plan.walk import leaves

_MOST = 16
"""So many accepted values of an argument are looked at."""


def without_blanks(plan: Plan, fields: Mapping[str, Any]) -> Plan:
    """A plan without the arguments that may be left out and hold nothing: BFCL writes "" for those.

    Args:
        plan: The plan.
        fields: The gold record's fields.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse([{"name": "f", "arguments": {"a": 1, "b": ""}, "label": "c1"}])
    >>> without_blanks(plan, {"omittable": {"c1": ["b"]}}).calls[0].arguments
    (('a', 1),)
    """
    omittable = fields.get("omittable")
    if not isinstance(omittable, dict) or not omittable:
        return plan
    return replace(plan, calls=tuple(_without(call, omittable.get(call.id) or ()) for call in plan.calls))


def _without(call: Call, omittable: Any) -> Call:
    retained = [name not in omittable or value not in ("", None) for name, value in call.arguments]
    if all(retained):
        return call
    arguments = tuple(
        argument for argument, is_retained in zip(call.arguments, retained, strict=True) if is_retained
    )
    spans = (
        tuple(span for span, is_retained in zip(call.spans, retained, strict=True) if is_retained)
        if call.spans
        else ()
    )
    return replace(call, arguments=arguments, spans=spans)


def allows(fields: Mapping[str, Any], plan: Plan, finding: GoldFinding, query: str | None) -> bool:
    """Whether a gold record calls another value right that its query says, or lets the argument be left out.

    Args:
        fields: The gold record's fields.
        plan: Its plan.
        finding: The query does not say a value of it.
        query: All that is said before the plan.

    >>> from planner_eval.dialects.read import parse
    >>> plan, fields = parse("f(city='Rome')"), {"accepted": {"c1": {"city": ["Roma"]}}}
    >>> found = GoldFinding("gold.ungrounded", "", "medium", 0, "city")
    >>> allows(fields, plan, found, "A room in Roma"), allows(fields, plan, found, "A room in Oslo")
    (True, False)
    """
    if finding.call is None or finding.argument is None or query is None:
        return False
    call = plan.calls[finding.call].id
    if finding.code == "gold.ungrounded" and finding.argument in _of(fields, "omittable", call):
        return True
    accepted = _of(fields, "accepted", call)
    values = accepted.get(finding.argument, ()) if isinstance(accepted, dict) else ()
    question = Question(query)
    return any(
        all(question.grounds(leaf, finding.argument) is not None for leaf in literals)
        for value in (values if isinstance(values, list) else [values])[:_MOST]
        if (literals := [*_literals(value)])
    )


def _of(fields: Mapping[str, Any], kind: str, call: str) -> Any:
    named = fields.get(kind)
    return named.get(call) or () if isinstance(named, dict) else ()


def _literals(value: Value) -> Iterator[Value]:
    return (leaf for _, leaf in leaves(value) if leaf is not None and leaf != "")
