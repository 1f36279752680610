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
    held = [name not in omittable or value not in ("", None) for name, value in call.arguments]
    if all(held):
        return call
    arguments = tuple(one for one, is_held in zip(call.arguments, held, strict=True) if is_held)
    spans = tuple(one for one, is_held in zip(call.spans, held, strict=True) if is_held) if call.spans else ()
    return replace(call, arguments=arguments, spans=spans)


def allows(fields: Mapping[str, Any], plan: Plan, found: GoldFinding, query: str | None) -> bool:
    """Whether a gold record calls another value right that its query says, or lets the argument be left out.

    Args:
        fields: The gold record's fields.
        plan: Its plan.
        found: The query does not say a value of it.
        query: All that is said before the plan.

    >>> from planner_eval.dialects.read import parse
    >>> plan, fields = parse("f(city='Rome')"), {"accepted": {"c1": {"city": ["Roma"]}}}
    >>> found = GoldFinding("gold.ungrounded", "", "medium", 0, "city")
    >>> allows(fields, plan, found, "A room in Roma"), allows(fields, plan, found, "A room in Oslo")
    (True, False)
    """
    if found.call is None or found.argument is None or query is None:
        return False
    call = plan.calls[found.call].id
    if found.code == "gold.ungrounded" and found.argument in _of(fields, "omittable", call):
        return True
    others = _of(fields, "accepted", call)
    values = others.get(found.argument, ()) if isinstance(others, dict) else ()
    question = Question(query)
    return any(
        all(question.grounds(leaf, found.argument) is not None for leaf in literals)
        for value in (values if isinstance(values, list) else [values])[:_MOST]
        if (literals := [*_literals(value)])
    )


def _of(fields: Mapping[str, Any], kind: str, call: str) -> Any:
    named = fields.get(kind)
    return named.get(call) or () if isinstance(named, dict) else ()


def _literals(value: Value) -> Iterator[Value]:
    return (leaf for _, leaf in leaves(value) if leaf is not None and leaf != "")
