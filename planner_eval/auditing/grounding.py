"""Literals of a gold plan that its query does not say.

The check is the third of AppBench's construction (paper 3.3: each value is the user's, none the system's),
with values normalised as people write them; docs/grounding.md says what is read. It is meant to be right
before it is complete: a value that cannot be judged (a flag that is off, "tomorrow", a single ticket, a query
in another language) is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.auditing.asked import Question
from planner_eval.auditing.finding import GoldFinding
from planner_eval.auditing.formulas import arithmetic, constant
from planner_eval.auditing.ground import Ground
from planner_eval.auditing.reasons import Literal, finding, unasked
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter
from planner_eval.plan.model import Call, Path, Plan, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds, leaves
from planner_eval.policy.values import numbers

CODES = ("gold.ungrounded", "gold.contradicted", "gold.unasked")


def grounds(value: Value, query: str | Question, *, name: str = "") -> Ground | None:
    """What in a query says a value.

    Args:
        value: A text, a number, a flag or None.
        query: What is asked; a :class:`Question` where many values are.
        name: The argument's name, whose words ground a flag.

    Returns:
        The kind of ground and its place, see :class:`Ground`; None where the query does not say the value.

    >>> said = "A room with Wi-Fi in NYC for two, Mar 5 at 6pm"
    >>> for value in ("New York", "2", "2024-03-05", "18:00"):
    ...     found = grounds(value, said)
    ...     print(found.how, said[slice(*found.span)])
    words NYC
    number two
    day Mar 5
    time 6pm
    >>> grounds(True, "A room with internet", name="has_wifi") is not None, grounds("Boston", said)
    (True, None)
    """
    return (Question(query) if isinstance(query, str) else query).grounds(value, name)


def literals(plan: Plan, query: str | Question, catalog: Catalog | None = None) -> Iterator[Literal]:
    """The literals of a plan in written order, each with what grounds it.

    A value is also grounded where an earlier call's recorded result holds it, and where the tool takes it
    anyway. The text around references is left out: it is the plan's own.

    Args:
        plan: The plan.
        query: What is asked; of a conversation, all that is said in it.
        catalog: The tools.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse("f(to='Rome', n=3)")
    >>> [(one.value, one.ground is not None) for one in literals(plan, "Three nights in Oslo")]
    [('Rome', False), (3, True)]
    """
    question = Question(query) if isinstance(query, str) else query
    seen: set[Any] = set()
    for position, call in enumerate(plan.calls):
        declared = _declared(call, catalog)
        for name, argument_value in call.arguments:
            parameter = declared.get(name)
            for path, value in leaves(argument_value):
                if _judged(argument_value, path, value) and not (catalog and value in catalog.holes):
                    type_ = (parameter.type.at(path) if parameter else None) or ANY
                    ground = _ground(question, value, name, path, parameter, seen)
                    yield Literal(position, name, path, value, type_, ground)
        if call.has_result:
            seen.update(
                _key(value) for _, value in leaves(call.result) if isinstance(value, (str, int, float))
            )


def ungrounded(plan: Plan, query: str | Question, catalog: Catalog | None = None) -> Iterator[GoldFinding]:
    """What a gold plan says that its query does not.

    - ``gold.unasked``: nothing to the point that a call is given stands in the query.
    - ``gold.contradicted``: the query says another value of the kind: other days, another time of day, the
      flag's opposite, another of the values that may be chosen.
    - ``gold.ungrounded``: the query says nothing of the kind.

    Args:
        plan: The gold plan.
        query: What is asked; of a conversation, all that is said in it.
        catalog: The tools, whose defaults and listed values are then known.

    Source: AppBench, paper 3.3, third step; the rules are our own.

    >>> from planner_eval.dialects.read import parse
    >>> gold = parse("book(city='Rome', day='2024-03-06')")
    >>> for found in ungrounded(gold, "A room in Rome for March 5th."): print(found.confidence, found.message)
    high day is '2024-03-06', but the query speaks of another day ("March 5th")
    """
    question = Question(query) if isinstance(query, str) else query
    if not question.words:
        return
    by_call: dict[int, list[Literal]] = {}
    for literal in literals(plan, question, catalog):
        by_call.setdefault(literal.call, []).append(literal)
    grounded = [
        literal.ground
        for call_literals in by_call.values()
        for literal in call_literals
        if literal.ground is not None
    ]
    claimed = [ground.span for ground in grounded if ground.span is not None]
    for position, call_literals in by_call.items():
        call = plan.calls[position]
        if (call_finding := unasked(call, position, call_literals, question, claimed)) is not None:
            yield call_finding
            continue
        for literal in call_literals:
            number = not isinstance(literal.value, bool) and arithmetic(call) and constant(literal.value)
            if literal.ground is None and not number:
                yield finding(literal, question, claimed)


def _judged(argument_value: Value, path: Path, value: Value) -> bool:
    if isinstance(value, (Ref, Unresolved)) or not isinstance(value, (str, int, float, bool)):
        return False
    return not (isinstance(value, str) and holds(argument_value, Template))


def _declared(call: Call, catalog: Catalog | None) -> Mapping[str, Parameter]:
    tools = catalog.find(call.name, call.app) if catalog is not None else ()
    return {parameter.name: parameter for tool in tools for parameter in tool.parameters}


def _key(value: Value) -> Any:
    """A value as it is looked up in answers: the text of a number is the number."""
    return numbers(value.strip().casefold()) if isinstance(value, str) else value


def _ground(
    question: Question, value: Value, name: str, path: Path, parameter: Parameter | None, seen: set[Any]
) -> Ground | None:
    named = " ".join([name, *[step for step in path if isinstance(step, str)]])
    ground = question.grounds(value, named)
    if ground is not None:
        return ground
    if (
        parameter is not None
        and parameter.has_default
        and not path
        and _key(parameter.default) == _key(value)
    ):
        return Ground("default", sure=False)
    return Ground("result") if _key(value) in seen else None
