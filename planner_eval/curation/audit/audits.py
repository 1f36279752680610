"""The audits: what is looked for in gold, a row each, and which are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Protocol

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, shorten
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan, find_tool
from planner_eval.curation.audit import (
    candidates,
    grounding,
    outcome,
    surplus,
    votes,
)
from planner_eval.curation.audit.subject import OPEN_CODES, AuditedRecord, find_open_value_faults
from planner_eval.plan.model import Call, Diagnostic, Plan, Value, leaves
from planner_eval.results.findings import CONFIDENCES, TOOL_CODES, Confidence, GoldFinding

# ----------------------------------------------------------------------
# Gold against the tools on offer: what a plan that may only use these could not say.
CONFIDENCE_BY_CODE: dict[str, Confidence] = {
    "check.unknown_tool": "high",
    "check.permission": "high",
    "check.missing_argument": "high",
    "check.unknown_argument": "high",
    "check.unknown_output": "high",
    "check.enum": "high",
    "check.out_of_range": "high",
    "check.format": "medium",
    "check.pattern": "medium",
    "check.repeated_item": "medium",
    "check.not_allowed": "medium",
    "check.wrong_type": "medium",
    "check.output_type": "low",
}
"""How sure gold is wrong where it contradicts its tools; what else a check says is no doubt about gold.

Types are often told carelessly: a number that stands for a text is a fault of the tool's description as
often as one of gold, and what tools return is told worst of all.
"""

CATALOG_CODES = (*(code.replace("check.", "gold.") for code in CONFIDENCE_BY_CODE), *TOOL_CODES)


def contradictions(subject: AuditedRecord) -> Iterator[GoldFinding]:
    """Where a gold plan contradicts the tools that were on offer, and where these contradict themselves.

    Args:
        subject: The record.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> from planner_eval.reading.dialects.read import parse
    >>> tools = as_catalog([{"name": "pay", "parameters": {}}])
    >>> [found.code for found in contradictions(AuditedRecord("q", parse("pay(#to='Ann')"), catalog=tools))]
    ['gold.unknown_argument']
    """
    plan, catalog = subject.plan, subject.catalog
    if catalog is None:
        return
    computed = {(d.call, d.argument) for d in plan.diagnostics if d.code == "value.computed"}
    for finding in check_plan(plan, catalog):
        if finding.code not in CONFIDENCE_BY_CODE:
            continue
        if finding.code == "check.wrong_type" and (finding.call, finding.argument) in computed:
            continue  # its text stands for what a program computes
        code = finding.code.replace("check.", "gold.")
        yield _find_tool_fault(plan, catalog, finding) or GoldFinding(
            code, finding.message, CONFIDENCE_BY_CODE[finding.code], finding.call, finding.argument
        )
    yield from _find_missing_signs(plan, catalog)


_FIRST_SIGN = re.compile(r"\b(?:must|should|has to|have to) (?:start|begin) with ['\"`]?([@#$+/])(?!\w)")
"""What a description says that its values begin with."""


def _find_missing_signs(plan: Plan, catalog: Catalog) -> Iterator[GoldFinding]:
    """Values without the sign that their description says they begin with."""
    for position, call in enumerate(plan.calls):
        tool = find_tool(call, catalog)
        for parameter in tool.parameters if tool is not None else ():
            sign = _FIRST_SIGN.search(parameter.description)
            if sign is None:
                continue
            for _, value in leaves(dict(call.arguments).get(parameter.name)):
                if isinstance(value, str) and value and not value.startswith(sign[1]):
                    message = f"{parameter.name}: {value[:60]!r} does not start with {sign[1]!r}"
                    yield GoldFinding("gold.pattern", message, "medium", position, parameter.name)
                    break


def _find_tool_fault(plan: Plan, catalog: Catalog, finding: Diagnostic) -> GoldFinding | None:
    """The fault of a tool's description by which gold seems wrong: gold has the default that it declares."""
    if finding.call is None or finding.argument is None:
        return None
    call = plan.calls[finding.call]
    value = dict(call.arguments).get(finding.argument)
    for tool in catalog.find(call.name, call.app):
        for parameter in (p for p in tool.parameters if p.name == finding.argument):
            if parameter.has_default and _are_among([value], [parameter.default]):
                # null as the default of a text says that there is none
                sure: Confidence = "low" if finding.code == "check.wrong_type" else "high"
                message = f"{tool.full_name} excludes its own default: {finding.message}"
                return GoldFinding("gold.tool_default", message, sure, finding.call, finding.argument)
            allowed = parameter.type.enum if finding.code == "check.enum" else None
            if allowed and isinstance(value, list) and _are_among(value, allowed):
                message = f"{tool.full_name} lists the items of {parameter.name} as if they were the list"
                return GoldFinding("gold.tool_enum", message, "high", finding.call, finding.argument)
    return None


def _are_among(items: Sequence[Value], allowed: Sequence[Value]) -> bool:
    return all(any(type(item) is type(other) and item == other for other in allowed) for item in items)


def name_positional_arguments(plan: Plan, catalog: Catalog) -> Plan:
    """A plan with the names of arguments that it gives by position, as its tools declare them.

    Args:
        plan: The plan; positions are read as names: ``"0"``, ``"1"``.
        catalog: The tools.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> from planner_eval.reading.dialects.read import parse
    >>> properties = {"file_name": {"type": "string"}}
    >>> tool = {"name": "sort", "parameters": {"type": "object", "properties": properties}}
    >>> plan = parse(["sort('a.txt')"], dialect="call-texts")
    >>> name_positional_arguments(plan, as_catalog([tool])).calls[0].arguments
    (('file_name', 'a.txt'),)
    """
    if not any(name == "0" for call in plan.calls for name, _ in call.arguments):
        return plan
    return replace(plan, calls=tuple(_name_arguments(call, catalog) for call in plan.calls))


def _name_arguments(call: Call, catalog: Catalog) -> Call:
    tools = catalog.find(call.name, call.app)
    names = [parameter.name for parameter in tools[0].parameters] if len(tools) == 1 else []
    positional = [*takewhile(lambda pair: pair[1][0] == str(pair[0]), enumerate(call.arguments))]
    count = len(positional)
    if count > len(names) or "0" in names:
        return call
    named = ((name, value) for name, (_, (_, value)) in zip(names, positional, strict=False))
    return replace(call, arguments=(*named, *call.arguments[count:]))


# ----------------------------------------------------------------------
# The audits: what is looked for in gold, a row each; `data/codes.toml` says what they may find.


class Audit(NamedTuple):
    """Something that is looked for in one record after the other.

    Args:
        codes: What it may find.
        find: Finds it.
        runs: Whether it looks at the plan's run.
    """

    codes: tuple[str, ...]
    find: Callable[[AuditedRecord], Iterable[GoldFinding]]
    runs: bool = False


class SetAuditor(Protocol):
    """Looks at records that go by, and keeps little of each."""

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record; `number` is its position."""

    def found(self) -> Iterable[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record."""


class SetAudit(NamedTuple):
    """Something that is looked for in records beside each other.

    Args:
        codes: What it may find.
        begin: Begins to look.
    """

    codes: tuple[str, ...]
    begin: Callable[[], SetAuditor]


AUDITS: tuple[Audit, ...] = (
    Audit(CATALOG_CODES, contradictions),
    Audit(OPEN_CODES, find_open_value_faults),
    Audit(surplus.CODES, surplus.find_surplus),
    Audit(grounding.CODES, lambda s: grounding.ungrounded(s.plan, s.said or "", s.catalog)),
    Audit(candidates.CODES, lambda s: candidates.find_ambiguous_picks(s.plan, query=s.said)),
    Audit(outcome.CODES, outcome.audit_outcome, runs=True),
)
"""Every audit of single records, in the order in which their findings are told of one record."""


SET_AUDITS: tuple[SetAudit, ...] = (
    SetAudit(surplus.TWIN_CODES, surplus.TwinFinder),
    SetAudit(surplus.DISAGREEMENT_CODES, surplus.DisagreementFinder),
    SetAudit(votes.CODES, votes.OutvotedFinder),
)
"""Every audit of records beside each other."""


def select_audits(has: Callable[[str], bool]) -> tuple[Audit, ...]:
    """The audits that may find something that is asked for.

    Args:
        has: Whether a code is asked for.

    >>> [audit.codes[0] for audit in select_audits(lambda code: code == "gold.option")]
    ['gold.fails']
    """
    return tuple(audit for audit in AUDITS if any(map(has, audit.codes)))


def audit(
    subject: AuditedRecord, audits: Sequence[Audit], has: Callable[[str], bool] = lambda code: True
) -> Iterator[GoldFinding]:
    """What audits find in one record, in the order of its calls.

    Args:
        subject: The record.
        audits: The audits.
        has: Whether a code is asked for.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse([{"name": "f", "label": "a", "arguments": {"x": "$b.y$"}}], dialect="nestful")
    >>> [found.code for found in audit(AuditedRecord("q1", plan), AUDITS)]
    ['gold.unresolved']
    """
    findings = [finding for row in audits for finding in row.find(subject) if has(finding.code)]
    by_call = sorted(findings, key=lambda finding: (finding.call is None, finding.call or 0))
    by_argument: dict[object, list[GoldFinding]] = {}  # those about the items of one argument are told as one
    for index, finding in enumerate(by_call):
        key: object = index
        call, argument = finding.call, finding.argument
        if call is not None and argument is not None and not finding.operations:
            has_items = isinstance(dict(subject.plan.calls[call].arguments).get(argument), (list, dict))
            key = (finding.code, call, argument, finding.confidence) if has_items else index
        by_argument.setdefault(key, []).append(finding)
    for first, *others in by_argument.values():
        more = f" (and {len(others)} more of {first.argument})" if others else ""
        yield first._replace(message=first.message + more)


# ----------------------------------------------------------------------
# Which findings are asked for: by the beginnings of their codes.
class FindingSelection(NamedTuple):
    """Which findings are asked for.

    Args:
        select: Beginnings of codes; all where there are none.
        ignore: Beginnings of codes that are left out of these.
        least: How sure a finding has to be.

    >>> (
    ...     FindingSelection(("gold",), ("gold.answer",)).has("gold.answer"),
    ...     FindingSelection().has("dataset.type")
    ... )
    (False, True)
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least: Confidence = "high"

    def has(self, code: str) -> bool:
        """Whether a code is asked for."""
        return (not self.select or code.startswith(self.select)) and not self.ignores(code)

    def ignores(self, code: str) -> bool:
        """Whether a code is one of those that are left out by name."""
        return code.startswith(self.ignore)

    def sure(self, confidence: Confidence) -> bool:
        """Whether a finding is sure enough."""
        return CONFIDENCES.index(confidence) <= CONFIDENCES.index(self.least)


def read_selection(select: Iterable[str], ignore: Iterable[str], least: str) -> FindingSelection:
    """What the user asks for.

    Args:
        select: Codes or beginnings of codes.
        ignore: Likewise.
        least: One of :data:`CONFIDENCES`.

    Raises:
        InputError: a code is the beginning of none, or there is no such confidence; names the nearest.

    >>> read_selection(["gold.opt"], [], "medium").select
    ('gold.opt',)
    """
    if least not in CONFIDENCES:
        raise InputError(f"confidence {least!r}: expected one of {', '.join(CONFIDENCES)}")
    return FindingSelection(_read_codes("select", select), _read_codes("ignore", ignore), least)


def _read_codes(option: str, prefixes: Iterable[str]) -> tuple[str, ...]:
    if isinstance(prefixes, str):
        prefixes = (prefixes,)
    if not isinstance(prefixes, Iterable):
        raise InputError(f"{option} is {shorten(repr(prefixes), 40)}, expected codes, e.g. ['gold.answer']")
    codes = tuple(prefixes)
    for code in codes:
        if not isinstance(code, str) or not code:
            raise InputError(f"{option} {shorten(repr(code), 40)}: expected a code, e.g. 'gold.answer'")
        if not any(full_code.startswith(code) for full_code in code_meanings()):
            hint = did_you_mean(code, list(code_meanings()), "codes are in brackets at the end of findings")
            raise InputError(f"{option} {code!r}: no code begins with it; {hint}")
    return codes
