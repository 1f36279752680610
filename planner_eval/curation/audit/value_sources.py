"""What else than the question may have given a value: answers of tools that nobody recorded.

An identifier is a sure finding only where all that could know it is known and does not: the tools on offer,
what earlier calls returned, and a plan's references, which tell values of tools from those of the question.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import find_tool
from planner_eval.curation.audit.grounding import CODES, is_identifier
from planner_eval.curation.audit.words import words
from planner_eval.plan.model import Call, Plan, Value, leaves
from planner_eval.results.findings import GoldFinding

MIN_RECORDS, MIN_SHARE = 5, 0.2
"""So many records, and this share of all, with identifiers that nobody said: the set keeps them elsewhere."""


def weigh_without_references(plan: Plan, finding: GoldFinding, catalog: Catalog | None) -> GoldFinding:
    """A finding as sure as it is in a set whose plans write no references.

    There, results of earlier calls stand in a plan as literals. What may be one is ``low``; an identifier
    is no more than ``medium`` where the tools are not known.

    Args:
        plan: The plan.
        finding: What the question does not say, or contradicts.
        catalog: The tools on offer; None where they are not known.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("[find(name='Kim'), pay(user='U1234')]")
    >>> finding = GoldFinding("gold.ungrounded", "user is 'U1234'", "high", 1, "user")
    >>> weigh_without_references(plan, finding, None).confidence
    'low'
    >>> weigh_without_references(parse("pay(user='U1234')"), finding._replace(call=0), None).confidence
    'medium'
    """
    if finding.code not in CODES or finding.call is None or finding.confidence == "low" or finding.operations:
        return finding
    call = plan.calls[finding.call]
    values = [
        value
        for name, argument in call.arguments
        if name == finding.argument
        for _, value in leaves(argument)
    ]
    earlier = plan.calls[: _first_use(plan, finding.call, values)]
    if any(
        (c.name, c.app) != (call.name, call.app) and _may_return(c, finding.argument, catalog)
        for c in earlier
    ):
        return (
            finding if _is_contradicted_choice(plan, finding, catalog) else finding._replace(confidence="low")
        )
    if finding.code == "gold.ungrounded" and catalog is None and any(map(is_identifier, values)):
        return finding._replace(confidence="medium" if finding.confidence == "high" else "low")
    return finding


def _may_return(call: Call, argument: str | None, catalog: Catalog | None) -> bool:
    """Whether a call without a recorded result may give an argument, by its declared outputs."""
    if call.has_result:
        return False
    tool = find_tool(call, catalog) if catalog is not None else None
    outputs = tool.returns.fields if tool is not None else ()
    if not outputs or argument is None:
        return True
    argument_words = {word.plain for word in words(argument)}
    return any(
        output.type.kinds in ((), ("object",), ("array",))
        or not argument_words.isdisjoint(word.plain for word in words(output.name))
        for output in outputs
    )


def _first_use(plan: Plan, call: int, values: Sequence[Value]) -> int:
    """The first call that holds all values of an argument: no later call has to return them."""
    for position, other in enumerate(plan.calls[:call]):
        held = [value for _, argument in other.arguments for _, value in leaves(argument)]
        if values and all(value in held for value in values):
            return position
    return call


def _is_contradicted_choice(plan: Plan, finding: GoldFinding, catalog: Catalog | None) -> bool:
    """Whether a question says the contrary of a flag or of a listed value, which no tool returns."""
    if finding.code != "gold.contradicted" or finding.call is None:
        return False
    call = plan.calls[finding.call]
    if isinstance(dict(call.arguments).get(finding.argument or ""), bool):
        return True
    tool = find_tool(call, catalog) if catalog is not None else None
    return tool is not None and any(p.name == finding.argument and p.type.enum for p in tool.parameters)


def are_identifiers_kept_elsewhere(findings: Sequence[tuple[str | int, GoldFinding]], plans: int) -> bool:
    """Whether so many records hold identifiers that nobody said that it is how the set is made, and no fault.

    Args:
        findings: The sure findings of the set, each with its record.
        plans: How many plans it has.

    >>> finding = GoldFinding("gold.ungrounded", "user is 'U1234'", "high", 0, "user")
    >>> [are_identifiers_kept_elsewhere([(n, finding) for n in range(10)], plans) for plans in (20, 200)]
    [True, False]
    """
    records = {record for record, finding in findings if finding.code == "gold.ungrounded"}
    return len(records) >= MIN_RECORDS and len(records) >= MIN_SHARE * plans
