"""Doubts about gold as they are kept for a set: how sure, schema faults once, a baseline of known ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, shorten
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import find_tool
from planner_eval.curation.audit.grounding import CODES, is_identifier
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.curation.audit.words import words
from planner_eval.plan.model import Call, Plan, leaves
from planner_eval.results.findings import CONFIDENCES, LEVELS, Confidence, Finding, GoldFinding, digests

_SCHEMA_CODES = ("gold.missing_argument", "gold.unknown_argument", "gold.wrong_type", "gold.unknown_output")
_MIN_SCHEMA_RECORDS, _MIN_SCHEMA_SHARE = 5, 0.9
"""A fault of so many records, and of this share of those that use a tool so, is one of its schema."""


class GoldDoubt(NamedTuple):
    """A doubt about the gold of one record of a set.

    Args:
        record: The record's id, else its place counted from 1.
        found: The doubt: code, message, confidence, and its place in the plan.
        shown: The same for CI servers: its level, and the file, line and column where they are known.
        query: What the record asks, where that is known.
    """

    record: str | int
    found: GoldFinding
    shown: Finding
    query: str | None

    def weighed(self, confidence: Confidence) -> GoldDoubt:
        """The same as sure as `confidence` says."""
        level = LEVELS[CONFIDENCES.index(confidence)]
        found = self.found._replace(confidence=confidence)
        return self._replace(found=found, shown=self.shown._replace(level=level))


class SchemaFault(NamedTuple):
    """What a plan contradicts in a tool: a check's code, the tool by name and declaration, the argument."""

    code: str
    tool: str
    declared: str
    argument: str | None


class KeptDoubt(NamedTuple):
    """A doubt with the number of its record.

    Args:
        position: The record's.
        doubt: The doubt.
        unreferenced: How sure it is in a set whose plans write no references.
        fault: What it contradicts in a tool; None where it does not.
    """

    position: int
    doubt: GoldDoubt
    unreferenced: Confidence
    fault: SchemaFault | None

    def weighed(self, confidence: Confidence) -> KeptDoubt:
        """The same as sure as `confidence` says."""
        return self._replace(doubt=self.doubt.weighed(confidence))


def find_schema_fault(subject: AuditedRecord, finding: GoldFinding) -> SchemaFault | None:
    """What a finding contradicts in a tool that is known; None of another.

    Args:
        subject: The record.
        finding: The finding.
    """
    if finding.code not in _SCHEMA_CODES or finding.call is None or subject.catalog is None:
        return None
    call = subject.plan.calls[finding.call]
    tool = find_tool(call, subject.catalog)
    return SchemaFault(finding.code, call.tool, repr(tool), finding.argument) if tool is not None else None


def fold_schema_faults(
    doubts: Sequence[KeptDoubt], uses: Mapping[tuple[str, str | None], int]
) -> list[KeptDoubt]:
    """Doubts, with a fault that nearly all records have which use a tool, or an argument, told once.

    Args:
        doubts: The doubts of a set.
        uses: In how many records a tool is called, and with which arguments: see :func:`tool_uses`.
    """
    groups: dict[SchemaFault, dict[int, KeptDoubt]] = {}
    for kept in doubts:
        if kept.fault is not None:
            groups.setdefault(kept.fault, {}).setdefault(kept.position, kept)
    folded: dict[SchemaFault | None, list[KeptDoubt]] = {}
    for fault, by_record in groups.items():
        # an argument that is lacking is one of every call of the tool
        count = uses[fault.tool, fault.argument if fault.code != "gold.missing_argument" else None]
        if len(by_record) >= _MIN_SCHEMA_RECORDS and len(by_record) >= _MIN_SCHEMA_SHARE * count:
            surest = min(by_record.values(), key=lambda kept: CONFIDENCES.index(kept.doubt.found.confidence))
            code, doubt = "gold.tool_schema", surest.doubt
            share = f"{len(by_record)} of {format_count(count, 'record')}"
            message = f"{doubt.found.message} (in {share}: the schema may be wrong)"
            doubt = doubt._replace(
                found=doubt.found._replace(code=code, message=message, operations=()),
                shown=doubt.shown._replace(code=code, message=message),
            )
            folded[fault] = [surest, surest._replace(doubt=doubt)]
    return [
        folded[kept.fault][1] if kept.fault in folded else kept
        for kept in doubts
        if kept.fault not in folded or kept is folded[kept.fault][0]
    ]


# ----------------------------------------------------------------------
# What else than the question may have given a value: answers of tools that nobody recorded.
#
# An identifier is a sure finding only where all that could know it is known and does not: the tools on offer,
# what earlier calls returned, and a plan's references, which tell values of tools from those of the question.
MIN_RECORDS, MIN_SHARE = 5, 0.2
"""So many records, and this share of all, with identifiers that nobody said: the set keeps them elsewhere."""


def weigh_without_references(plan: Plan, finding: GoldFinding, catalog: Catalog | None) -> Confidence:
    """How sure a finding is in a set whose plans write no references.

    There, results of earlier calls stand in a plan as literals. What may be one is ``low``; an identifier
    is no more than ``medium`` where the tools are not known.

    Args:
        plan: The plan.
        finding: What the question does not say, or contradicts.
        catalog: The tools on offer; None where they are not known.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("[find(name='Kim'), pay(user='U1234')]")
    >>> finding = GoldFinding("gold.ungrounded", "user is 'U1234'", "high", 1, "user")
    >>> weigh_without_references(plan, finding, None)
    'low'
    >>> weigh_without_references(parse("pay(user='U1234')"), finding._replace(call=0), None)
    'medium'
    """
    sure = finding.confidence
    if finding.code not in CODES or finding.call is None or sure == "low" or finding.operations:
        return sure
    call = plan.calls[finding.call]
    values = [value for _, value in leaves(dict(call.arguments).get(finding.argument or ""))]
    for other in plan.calls[: finding.call]:
        literals = [value for _, argument in other.arguments for _, value in leaves(argument)]
        if values and all(value in literals for value in values):
            break  # no later call has to return them
        same = (other.name, other.app) == (call.name, call.app)
        if not same and _may_return(other, finding.argument, catalog):
            return sure if _is_contradicted_choice(plan, finding, catalog) else "low"
    if finding.code == "gold.ungrounded" and catalog is None and any(map(is_identifier, values)):
        return "medium" if sure == "high" else "low"
    return sure


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


def _is_contradicted_choice(plan: Plan, finding: GoldFinding, catalog: Catalog | None) -> bool:
    """Whether a question says the contrary of a flag or of a listed value, which no tool returns."""
    if finding.code != "gold.contradicted" or finding.call is None:
        return False
    call = plan.calls[finding.call]
    tool = find_tool(call, catalog) if catalog is not None else None
    is_listed = tool is not None and any(p.name == finding.argument and p.type.enum for p in tool.parameters)
    return is_listed or isinstance(dict(call.arguments).get(finding.argument or ""), bool)


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


# ----------------------------------------------------------------------
# A baseline: what was found before, and does not count again.
SCHEMA = "planeval.baseline/1"


class Baseline(NamedTuple):
    """What was found before.

    Args:
        doubts: What each doubt is known by; no place in a file is part of it.
        irregularities: How often each code was found.
        imperfect: The records of a data set that were not perfect against themselves, by variant.
    """

    doubts: frozenset[str] = frozenset()
    irregularities: Mapping[str, int] = {}
    imperfect: Mapping[str, frozenset[str]] = {}

    def new(self, doubts: Sequence[GoldDoubt]) -> tuple[GoldDoubt, ...]:
        """The doubts that are not known."""
        if not self.doubts:
            return tuple(doubts)
        named = digests([doubt.shown for doubt in doubts])
        return tuple(doubt for doubt, name in zip(doubts, named, strict=True) if name not in self.doubts)


def baseline_data(
    doubts: Sequence[GoldDoubt], irregularities: Mapping[str, int], imperfect: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What was found as JSON data, which :func:`read_baseline` reads.

    Args:
        doubts: The doubts.
        irregularities: How often each code was found.
        imperfect: The records that are not perfect against themselves, by variant.

    >>> sorted(baseline_data([], {"dataset.type": 2}, {}))
    ['findings', 'imperfect', 'irregularities', 'schema']
    """
    named = zip(doubts, digests([doubt.shown for doubt in doubts]), strict=True)
    rows = sorted((doubt.found.code, str(doubt.record), name) for doubt, name in named)
    return {
        "schema": SCHEMA,
        "findings": [dict(zip(("code", "record", "digest"), row, strict=True)) for row in rows],
        "irregularities": dict(sorted(irregularities.items())),
        "imperfect": {variant: sorted(names) for variant, names in sorted(imperfect.items())},
    }


def read_baseline(source: Any) -> Baseline:
    """A baseline, from its file or as data.

    Args:
        source: The path of the file, what :meth:`DatasetCheck.baseline` gave, or None for none.

    Raises:
        InputError: there is no such file, or it is no baseline; says what was found.

    >>> read_baseline(baseline_data([], {"dataset.type": 2}, {})).irregularities
    {'dataset.type': 2}
    """
    if source is None:
        return Baseline()
    name, data = "the baseline", source
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        try:
            data = read_json(read_text(name, advice=f"--write-baseline {name} writes one"))
        except ParseError as error:
            raise InputError(f"{name}, {error.brief}") from None
    schema = data.get("schema") if isinstance(data, dict) else data
    if not isinstance(data, dict) or schema != SCHEMA:
        description = shorten(repr(schema), 40) if schema is not None else "none"
        raise InputError(
            f"{name}: expected a baseline, whose schema is {SCHEMA!r}, found {description}; "
            "--write-baseline writes one"
        )
    try:
        return Baseline(
            frozenset(str(row["digest"]) for row in data["findings"]),
            {str(code): int(count) for code, count in data["irregularities"].items()},
            {str(variant): frozenset(map(str, names)) for variant, names in data["imperfect"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InputError(
            f"{name}: not in the form that --write-baseline writes ({type(problem).__name__}: {problem}); "
            "write the file again"
        ) from None
