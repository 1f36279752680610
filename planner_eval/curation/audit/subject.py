"""What an audit is told of one record: its plan, and what is known or accepted beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan, find_tool
from planner_eval.curation.audit.question import read_question
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.plan.model import Call, Plan, Value, leaves
from planner_eval.reading.files.field_choice import calls_by_tool, expand_calls
from planner_eval.reading.files.record import Record
from planner_eval.results.findings import Confidence, GoldFinding

if TYPE_CHECKING:
    from planner_eval.comparison.policy.policy import Terms
    from planner_eval.curation.audit.votes import Answer
    from planner_eval.execution.trace import Trace


# ----------------------------------------------------------------------
# What a record calls right beside its plan.
_MAX_ACCEPTED_VALUES = 16
"""So many accepted values of an argument are looked at."""


class OpenValues(NamedTuple):
    """What a record leaves open, by the id of a call and the name of an argument.

    Args:
        accepted: The values that are as right as the plan's.
        omittable: The arguments that may be left out.
    """

    accepted: Mapping[str, Mapping[str, Any]] = {}
    omittable: Mapping[str, Sequence[str]] = {}

    def values(self, call: str, argument: str) -> Sequence[Value]:
        """The other accepted values of an argument, not many."""
        arguments = self.accepted.get(call)
        values = arguments.get(argument, []) if isinstance(arguments, Mapping) else []
        return (values if isinstance(values, list) else [values])[:_MAX_ACCEPTED_VALUES]

    def is_omittable(self, call: str, argument: str) -> bool:
        """Whether an argument may be left out."""
        return argument in (self.omittable.get(call) or ())


class ExpectedAnswer(NamedTuple):
    """What a record says that its plan comes to.

    Args:
        answer: The gold answer.
        known: Whether the record gives one.
        text: The gold answer as released, which a text may equal.
        options: The answers on offer, by letter; empty where it is no choice.
        correct: The letter of the right one.
    """

    answer: Any = None
    known: bool = False
    text: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    correct: str = ""


class AuditedRecord(NamedTuple):
    """One record of gold.

    Args:
        record: What it is called.
        plan: Its plan.
        query: What it asks; None where that is not known.
        catalog: The tools on offer; None where they are not known.
        basic: Whether the tools are NESTful's functions of mathematics, of which is known what they do.
        wanted: What the plan should come to.
        trace: The plan's run; None where it was not run.
        heard: All that is said before its plan, by whomever; None where that is no more than the query.
        answers: What runs of models said to it.
        right: What the record says is as right: its plans with what they leave open; where there are answers.
    """

    record: str
    plan: Plan
    query: str | None = None
    catalog: Catalog | None = None
    basic: bool = False
    wanted: ExpectedAnswer = ExpectedAnswer()
    trace: Trace | None = None
    heard: str | None = None
    answers: tuple[Answer, ...] = ()
    right: tuple[tuple[Plan, Terms], ...] = ()
    open_values: OpenValues | None = None

    @property
    def said(self) -> str | None:
        """Where the values of its plan may come from."""
        return self.heard or self.query

    @property
    def ends(self) -> bool:
        """Whether it is known which of its values the user gets: named ones, or the last call's."""
        return self.plan.answer is not None or self.plan.dialect == "nestful"

    def arithmetic(self, call: Call) -> bool:
        """Whether a call is of a function of mathematics, which gives equal values for equal arguments."""
        return self.basic and call.app is None and call.name in OFFICIAL_FUNCTIONS

    def looks(self, call: Call) -> bool | None:
        """Whether a call only looks something up (True) or changes something (False); None if not known."""
        if self.arithmetic(call):
            return True
        tools = self.catalog.find(call.name, call.app) if self.catalog is not None else ()
        actions = {tool.action for tool in tools}
        return not actions.pop() if len(actions) == 1 and None not in actions else None


def read_open_values(record: Record, plan: Plan) -> OpenValues:
    """What a record says of its plan's values; of a sample of BFCL, its lists of accepted values.

    Args:
        record: The record.
        plan: Its plan.

    >>> from planner_eval.reading.dialects.read import parse
    >>> fields = {"accepted": {"c1": {"city": ["Roma"]}}, "omittable": {"c1": ["day"]}}
    >>> values = read_open_values(Record("g.jsonl", 0, "q", "", fields=fields), parse("f(city='Rome')"))
    >>> values.values("c1", "city"), values.is_omittable("c1", "day")
    (['Roma'], True)
    """
    fields: Mapping[str, Any] = record.fields
    if hasattr(record.source, "category"):
        by_tool = calls_by_tool(record.source.extra.get("ground_truth")) or []
        values = [values for _, arguments in by_tool for values in arguments.values()]
        fields = {}
        if [name for name, _ in by_tool] == [call.name for call in plan.calls]:
            with suppress(ParseError):
                fields = expand_calls(by_tool).fields if all(isinstance(v, list) for v in values) else {}
        ids = {f"c{number}": call.id for number, call in enumerate(plan.calls, 1)}
        fields = {kind: {ids.get(key, key): value for key, value in by_call.items()}
                  for kind, by_call in fields.items()}  # fmt: skip
    kinds = (fields.get(kind) for kind in OpenValues._fields)
    return OpenValues(*(kind if isinstance(kind, dict) else {} for kind in kinds))


def drop_blank_arguments(plan: Plan, open_values: OpenValues) -> Plan:
    """A plan without the arguments that may be left out and hold nothing: BFCL writes "" for those.

    Args:
        plan: The plan.
        open_values: What its record leaves open.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse([{"name": "f", "arguments": {"a": 1, "b": "", "c": [""]}, "label": "c1"}])
    >>> drop_blank_arguments(plan, OpenValues(omittable={"c1": ["b", "c"]})).calls[0].arguments
    (('a', 1),)
    """
    if not (open_values.omittable or open_values.accepted):
        return plan
    return replace(plan, calls=tuple(_drop_blanks(call, open_values) for call in plan.calls))


def _drop_blanks(call: Call, open_values: OpenValues) -> Call:
    accepted = open_values.accepted.get(call.id) or {}
    remaining = [
        ((name, shortest), span)
        for (name, value), span in zip_longest(call.arguments, call.spans)
        if (shortest := _drop_members(value, accepted.get(name))) not in ("", None, [""])
        or not open_values.is_omittable(call.id, name)
    ]
    spans = tuple(span for _, span in remaining) if call.spans else ()
    return replace(call, arguments=tuple(argument for argument, _ in remaining), spans=spans)


def _drop_members(value: Value, accepted: Any) -> Value:
    """An object without the members that gold lets be left out: the smallest accepted one within it."""
    if not isinstance(value, dict) or not isinstance(accepted, list):
        return value
    parts = [other for other in accepted if isinstance(other, dict) and other.items() <= value.items()]
    return min([value, *parts], key=len)


def is_finding_allowed(open_values: OpenValues, plan: Plan, finding: GoldFinding, query: str | None) -> bool:
    """Whether a record calls another value right that its query says, or lets the argument be left out.

    Args:
        open_values: What the record leaves open.
        plan: Its plan.
        finding: The query does not say a value of it.
        query: All that is said before the plan.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan, open_values = parse("f(city='Rome')"), OpenValues({"c1": {"city": ["Roma"]}})
    >>> finding = GoldFinding("gold.ungrounded", "", "medium", 0, "city")
    >>> [is_finding_allowed(open_values, plan, finding, f"A room in {city}") for city in ("Roma", "Oslo")]
    [True, False]
    """
    if finding.call is None or finding.argument is None or query is None:
        return False
    call = plan.calls[finding.call].id
    if finding.code == "gold.ungrounded" and open_values.is_omittable(call, finding.argument):
        return True
    question = read_question(query)
    return any(
        all(question.grounds(leaf, finding.argument) is not None for leaf in stated)
        for value in open_values.values(call, finding.argument)
        if (stated := [leaf for _, leaf in leaves(value) if leaf is not None and leaf != ""])
    )


# ----------------------------------------------------------------------
# What is left open and contradicts the tools.
OPEN_CODES = ("gold.accepted", "gold.omittable")
_CONFIDENCE_BY_CODE: dict[str, Confidence] = {
    "check.enum": "high",
    "check.out_of_range": "high",
    "check.unknown_argument": "high",
    "check.wrong_type": "medium",
}


def find_open_value_faults(subject: AuditedRecord) -> Iterator[GoldFinding]:
    """Accepted values that the tools do not allow, and arguments they need that gold lets be left out.

    A fault that the plan's own value has as well is told of that one alone.

    Args:
        subject: The record.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> from planner_eval.reading.dialects.read import parse
    >>> unit = {"type": "string", "enum": ["C", "F"]}
    >>> schema = {"type": "object", "properties": {"unit": unit}, "required": ["unit"]}
    >>> tools, plan = as_catalog([{"name": "f", "parameters": schema}]), parse("f(unit='C')")
    >>> open_values = OpenValues({"c1": {"unit": ["celsius"]}}, {"c1": ["unit"]})
    >>> record = AuditedRecord("q", plan, catalog=tools, open_values=open_values)
    >>> [finding.code for finding in find_open_value_faults(record)]
    ['gold.omittable', 'gold.accepted']
    """
    plan, open_values, catalog = subject.plan, subject.open_values, subject.catalog
    if catalog is None or open_values is None:
        return
    own = None
    for position, call in enumerate(plan.calls):
        tool = find_tool(call, catalog)
        for parameter in tool.parameters if tool is not None else ():
            name = parameter.name
            if parameter.required and not parameter.has_default and open_values.is_omittable(call.id, name):
                message = f"gold treats {name} as optional, but {call.tool} requires it"
                yield GoldFinding("gold.omittable", message, "high", position, name)
            values = [value for value in open_values.values(call.id, name) if value not in ("", None)]
            if values and name in dict(call.arguments):
                own = check_plan(plan, catalog, hints=False) if own is None else own
                own_codes = {f.code for f in own if (f.call, f.argument) == (position, name)}
                yield from _find_excluded_values(plan, position, name, values, catalog, own_codes)


def _find_excluded_values(
    plan: Plan, position: int, name: str, values: Sequence[Value], catalog: Catalog, own_codes: set[str]
) -> Iterator[GoldFinding]:
    call = plan.calls[position]
    for value in values:
        alone = Plan((replace(call, arguments=((name, value),), spans=()),))
        for finding in check_plan(alone, catalog, hints=False):
            sure = _CONFIDENCE_BY_CODE.get(finding.code)
            if finding.argument == name and sure and finding.code not in own_codes:
                message = f"gold accepts {shorten(repr(value), 40)} as well: {finding.message}"
                yield GoldFinding("gold.accepted", message, sure, position, name)
                break
