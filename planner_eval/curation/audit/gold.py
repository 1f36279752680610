"""What is doubtful in the gold of a set: its records audited one by one, and run where they can be."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.benchmarks.datasets.sources import Source
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.record_tools import RecordTools
from planner_eval.comparison.gold_alternatives import describe_prose_gold, is_prose_gold, read_gold
from planner_eval.curation.audit import audits, grounding, outcome, surplus
from planner_eval.curation.audit.audits import (
    SET_AUDITS,
    FindingSelection,
    audit,
    select_audits,
)
from planner_eval.curation.audit.doubts import (
    GoldDoubt,
    KeptDoubt,
    are_identifiers_kept_elsewhere,
    find_schema_fault,
    fold_schema_faults,
    weigh_without_references,
)
from planner_eval.curation.audit.near_misses import is_program_name
from planner_eval.curation.audit.outcome import describe_unusable_options, lacks_tools, read_expected_answer
from planner_eval.curation.audit.subject import (
    AuditedRecord,
    OpenValues,
    drop_blank_arguments,
    is_finding_allowed,
    read_open_values,
)
from planner_eval.curation.audit.votes import Answer, Votes
from planner_eval.curation.audit.words import is_readable, words
from planner_eval.curation.sets import Questions, SetItem
from planner_eval.execution.program import Options, PlanWithState
from planner_eval.execution.run import execute_many, initial_state_of
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.plan.model import Call, Plan, leaves
from planner_eval.reading.files.context import StateSource
from planner_eval.reading.files.record import GOLD_COMPANION_FIELDS, Record
from planner_eval.results.findings import (
    TOOL_CODES,
    GoldFinding,
    finding_of_gold,
)

# ----------------------------------------------------------------------
# What is doubtful in the gold of a set: its records audited one by one, and run where they can be.
ANSWER_FIELD = "gold_answer"
"""The field of a record that holds what its plan should come to, where no other is named."""


_EXPRESSION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(.*\))?|[A-Za-z_]\w*\[.*\]|[A-Z][A-Z_\d]+")
"""What names a value in a program: "ResultSet.TYPE", "data['x']", "EVENT_THREAD"."""
_MAX_LANGUAGE_SAMPLE = 2_000
"""So many characters of a question say whether it is in English."""


class RunCounts(NamedTuple):
    """How many gold plans were run.

    Args:
        tools: What they were run with; "" where none were to be run.
        plans: How many were run to their end, or failed.
        failed: How many of these failed.
        lacking: How many call what the tools do not have, so that their runs say nothing.
    """

    tools: str = ""
    plans: int = 0
    failed: int = 0
    lacking: int = 0


class AuditSettings(NamedTuple):
    """How gold is audited.

    Args:
        choice: Which findings are asked for.
        catalog: The tools on offer to every record; None for those that a record brings.
        box: Where plans are run; None where none are.
        basic: Whether the tools are NESTful's functions of mathematics.
        questions: What the records ask; None where nobody knows.
        answer: The field that holds the gold answer.
        votes: What runs of models said; None where none are given.
        binding: How calls pass their arguments: by ``"name"`` or by ``"position"``.
        fixes: Whether what would mend a plan that breaks its tools is looked for.
    """

    choice: FindingSelection
    catalog: Catalog | None
    box: Sandbox | None
    basic: bool
    questions: Questions | None
    answer: str
    votes: Votes | None
    binding: str
    fixes: bool


class GoldAudit:
    """The doubts about a set, gathered record by record.

    Args:
        source: The set.
        how: How it is audited.
    """

    def __init__(self, source: Source, how: AuditSettings) -> None:
        self._how, self._source, self._has = how, source, how.choice.has
        self._audits = select_audits(self._has)
        self._runs = how.box is not None and any(audit.runs for audit in self._audits)
        self._grounds = any(map(self._has, grounding.CODES))
        self._asks = self._grounds or any(map(self._has, surplus.TWIN_CODES))
        self._tools = RecordTools(how.catalog)
        self._found: list[KeptDoubt] = []
        self.unread: list[GoldDoubt] = []
        """The plans that cannot be read, where other findings were selected."""
        self._has_references = False
        self._ran, self._unseen = Counter[str](), Counter[str]()
        self._uses = Counter[tuple[str, str | None]]()
        self._told: set[str] = set()
        self._first: dict[str, str] = {}

    def add(self, items: Iterable[SetItem]) -> GoldAudit:
        """Audit the records of the set.

        Args:
            items: All of them, in their order.
        """
        set_audits = [kind.begin() for kind in SET_AUDITS if any(map(self._has, kind.codes))]
        for position, (item, subject) in enumerate(
            self._executed((item, self._subject(item)) for item in items)
        ):
            if subject is None:
                self._add_without_plan(position, item)
                continue
            self._count_unseen(item.record, subject)
            for finding in audit(subject, self._audits, self._has):
                self._keep(position, item, self._weigh(item.record, subject, finding), subject)
            self._has_references = self._has_references or _marks_results(subject)
            calls = subject.plan.calls  # of each the tool, and the tool with each argument
            self._uses.update({(call.tool, name) for call in calls for name in (None, *dict(call.arguments))})
            for set_audit in set_audits:
                set_audit.add(position, subject)
        self._settle_confidence()
        self._found = fold_schema_faults(self._found, self._uses)
        for position, finding in (pair for set_audit in set_audits for pair in set_audit.found()):
            record = self._source.records[position]  # only these are looked up again
            self._keep(position, SetItem(record, record.told, record.where, None, None), finding)
        return self

    def _settle_confidence(self) -> None:
        """Make findings as sure as they are in a set whose plans write no references, where this is one."""
        if self._has_references:
            return
        self._found = [kept.weighed(kept.unreferenced) for kept in self._found]
        sure = [(d.record, d.found) for _, d, *_ in self._found if d.found.confidence != "low"]
        if are_identifiers_kept_elsewhere(sure, self._unseen["plans"]):
            codes = ("gold.ungrounded", "gold.unasked")
            self._found = [k.weighed("low") if k.doubt.found.code in codes else k for k in self._found]

    def _weigh(self, record: Record, subject: AuditedRecord, finding: GoldFinding) -> GoldFinding | None:
        """A finding by what its record leaves open and does not record; None where it is none then."""
        if finding.code == "gold.wrong_type" and _names_a_variable(subject, finding):
            return finding._replace(confidence="low")
        if finding.code in TOOL_CODES:  # a fault of a tool's description is told by its first record
            is_told = finding.message in self._told
            self._told.add(finding.message)
            return None if is_told else finding
        if finding.code not in grounding.CODES:
            return finding
        if is_finding_allowed(subject.open_values or OpenValues(), subject.plan, finding, subject.said):
            return None
        if finding.operations or not self._has_turns(record):
            return finding  # no tool returns nearly what the question says
        # the tools keep a state that nobody recorded, or answered what nobody did
        unrecorded = _has_unrecorded_answers(subject.plan.calls[: finding.call])
        return finding._replace(confidence="low") if unrecorded or len(subject.plan) > 1 else finding

    def _has_turns(self, record: Record) -> bool:
        """Whether the user speaks more than once."""
        questions = self._how.questions
        return questions is not None and questions.turns(record) > 1

    def _count_unseen(self, record: Record, subject: AuditedRecord) -> None:
        """Count what is not known of a record, as far as the findings that are asked for need it."""
        unseen = self._unseen
        unseen["plans"] += 1
        unseen["questions"] += self._asks and subject.query is None
        unseen["tools"] += subject.catalog is None and any(map(self._has, audits.CATALOG_CODES))
        if subject.said is not None and self._grounds:
            unseen["language"] += not is_readable([*words(subject.said[:_MAX_LANGUAGE_SAMPLE])])
            unrecorded = _has_unrecorded_answers(subject.plan.calls[:-1])
            unseen["answers"] += unrecorded and self._has_turns(record)
        unseen["open"] += any(record.fields.get(name) for name in GOLD_COMPANION_FIELDS)
        if any(map(self._has, outcome.CODES)):
            unseen["runs"] += subject.trace is None or lacks_tools(subject.trace)

    def _add_without_plan(self, position: int, item: SetItem) -> None:
        """Keep a plan that cannot be read, also where other findings are selected."""
        error, record = item.error, item.record
        if error is None and self._source.file is not None:
            error = describe_prose_gold(record.source, Plan(())) if is_prose_gold(record) else None
            if error is None:
                self._lose("words", item.where)
        if error is not None:
            reason = f"the plan cannot be read: {error.splitlines()[0]}"
            finding = GoldFinding("gold.unreadable", reason, "high")
            self._keep(position, item, finding)
            if not self._has(finding.code) and not self._how.choice.ignores(finding.code):
                self.unread.append(self._doubt(item, finding))

    def _doubt(self, item: SetItem, finding: GoldFinding) -> GoldDoubt:
        questions = self._how.questions
        query = (
            questions.of(item.record) if questions is not None and finding.code != "gold.unreadable" else None
        )
        many = self._source.many
        reported = finding_of_gold(finding, item.record, item.plan, str(item.name), many=many)
        return GoldDoubt(item.name, finding, reported, query)

    @property
    def doubts(self) -> tuple[GoldDoubt, ...]:
        """The doubts, in the order of the records."""
        return tuple(kept.doubt for kept in sorted(self._found, key=lambda kept: kept.position))

    @property
    def ran(self) -> RunCounts:
        """How many plans were run."""
        box = self._how.box
        return RunCounts(box.source.name if box is not None else "", **self._ran)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What was not held against gold, with the number of plans; of what no record has, how to name it."""
        counts = self._unseen
        plans = format_count(counts["plans"], "plan")
        of = {kind: format_count(count, "plan") for kind, count in counts.items()}
        complete = {kind for kind, count in counts.items() if count == counts["plans"]}
        hints = {"questions": "; --field query names their field", "tools": "; --catalog names them"}
        described = {
            kind: f"{kind} (none known{hint if self._source.file is not None else ''})"
            if kind in complete
            else f"{kind} (none known of {counts[kind]:,} of {plans})"
            for kind, hint in hints.items()
        }
        described |= {
            "language": f"values of {of.get('language')} (the question is not in English)",
            "answers": f"values of {of.get('answers')} (no answers recorded between turns)",
            "open": f"accepted values and alternatives beside {of.get('open')}",
            "runs": "results (no plan was run)"
            if "runs" in complete
            else f"results ({counts['runs']:,} of {plans} not run)",
            "choice": f"answer options of {of.get('choice')} (not understood)",
            "words": f"{format_count(counts['words'], 'record')} (gold is prose)",
            "votes": f"votes of runs on {of.get('votes')} (accepted alternatives are not read)",
        }
        return tuple(text for kind, text in described.items() if counts[kind])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the records' own tools, and of the runs."""
        votes, questions, field = self._how.votes, self._how.questions, self._tools.field
        question_field = questions.field if questions is not None else None
        reasons = {
            "words": "gold is prose without calls and does not count as a plan",
            "question": f"no question in field {question_field!r}: not checked against a question",
            "choice": "options and correct cannot be read: the plan is not compared with the options",
        }
        counts = {kind: format_count(count, "record") for kind, count in self._unseen.items()}
        unvoted = f"the accepted alternatives of {counts.get('votes')} cannot be read"
        return (
            *([f'tools: field "{field}" of {self._source.name}'] if field else ()),
            *(
                f"{counts[kind]}: {reasons[kind]}; the first is {first}"
                for kind, first in self._first.items()
            ),
            *self._tools.notes,
            *(votes.notes if votes is not None else ()),
            *([f"{unvoted}: the runs do not vote there"] if "votes" in counts else ()),
        )

    def _lose(self, kind: str, first: str) -> None:
        """Count what was not looked at, and keep the first record."""
        self._first.setdefault(kind, first)
        self._unseen[kind] += 1

    def _keep(
        self, position: int, item: SetItem, finding: GoldFinding | None, subject: AuditedRecord | None = None
    ) -> None:
        if finding is None or not self._has(finding.code):
            return
        unreferenced, fault = finding.confidence, None
        if subject is not None:
            if self._how.fixes and finding.code in _SUGGESTED_CODES:
                finding = finding._replace(operations=_suggest_operations(subject, finding))
            unreferenced = weigh_without_references(subject.plan, finding, subject.catalog)
            fault = find_schema_fault(subject, finding)
        self._found.append(KeptDoubt(position, self._doubt(item, finding), unreferenced, fault))

    def _subject(self, item: SetItem) -> AuditedRecord | None:
        """What the audits are told of a record; None where it has no plan."""
        if (plan := item.plan) is None:
            return None
        how, record, questions = self._how, item.record, self._how.questions
        query = questions.of(record) if questions is not None else None
        if self._asks and query is None and questions is not None and questions.field is not None:
            self._lose("question", item.where)
        if self._runs and (why := describe_unusable_options(record)) is not None:
            self._lose("choice", f"{item.where}: {why}")
        tools, open_values = self._tools.of(record), read_open_values(record, plan)
        plan = drop_blank_arguments(plan, open_values)
        if tools is not None:
            plan = audits.name_positional_arguments(plan, tools)
        subject = AuditedRecord(
            str(item.name),
            plan,
            query,
            tools,
            how.basic,
            read_expected_answer(record, how.answer),
            heard=questions.heard(record) if questions is not None else None,
            open_values=open_values,
        )
        return subject if how.votes is None else self._with_answers(subject, record, how.votes.of(record))

    def _with_answers(
        self, subject: AuditedRecord, record: Record, answers: tuple[Answer, ...]
    ) -> AuditedRecord:
        """The same with what runs said, where what the record accepts can be read."""
        if len(answers) < 2:
            return subject
        if hasattr(record.source, "category"):
            open_values = subject.open_values or OpenValues()
            record = record._replace(fields={**record.fields, **open_values._asdict()})
        try:
            accepts_more = any(name in record.fields for name in GOLD_COMPANION_FIELDS)
            right = read_gold(record, known=subject.plan).plans if accepts_more else ()
        except (ParseError, InputError):  # so nobody can be outvoted
            self._unseen["votes"] += 1
            return subject
        return subject._replace(answers=answers, right=right)

    def _executed(
        self, subjects: Iterable[tuple[SetItem, AuditedRecord | None]]
    ) -> Iterator[tuple[SetItem, AuditedRecord | None]]:
        """The same with the plans' runs, where plans are run; work is sent ahead."""
        box = self._how.box
        if box is None or not self._runs:
            yield from subjects
            return
        sent: deque[tuple[SetItem, AuditedRecord | None]] = deque()

        def starts() -> Iterator[PlanWithState]:
            for item, subject in subjects:
                sent.append((item, subject))
                if subject is not None:
                    plan = _fill_output_names(subject.plan, subject.catalog)
                    yield PlanWithState(plan, initial_state_of(StateSource(), item.record, box))

        for trace in execute_many(starts(), box, options=Options(self._how.binding)):
            while (pair := sent.popleft())[1] is None:
                yield pair
            lacking = lacks_tools(trace)
            self._ran.update(lacking=lacking, plans=not lacking, failed=not lacking and not trace.ok)
            yield pair[0], pair[1]._replace(trace=trace)
        yield from sent


def _has_unrecorded_answers(calls: Sequence[Call]) -> bool:
    """Whether calls were answered, and nobody recorded what: it may give a value."""
    return not all(call.has_result for call in calls)


def _marks_results(subject: AuditedRecord) -> bool:
    """Whether a plan writes results of calls otherwise than literals: by references, or by placeholders."""
    holes = subject.catalog.holes if subject.catalog is not None else ()
    return bool(subject.plan.edges) or any(
        value in holes for call in subject.plan.calls[1:] for _, argument in call.arguments
        for _, value in leaves(argument) if isinstance(value, str)
    )  # fmt: skip


def _names_a_variable(subject: AuditedRecord, finding: GoldFinding) -> bool:
    """Whether the question gives a value by the name of a variable, of any type: "the list `items`"."""
    if finding.call is None or finding.argument is None or subject.query is None:
        return False
    call = subject.plan.calls[finding.call]
    texts = [
        value for _, value in leaves(dict(call.arguments).get(finding.argument)) if isinstance(value, str)
    ]
    query = subject.query
    return any(f"{quote}{text}{quote}" in query for text in texts for quote in ("`", "'")) or any(
        (is_program_name(text) and text in query) or _EXPRESSION.fullmatch(text) for text in texts
    )


_SUGGESTED_CODES = frozenset(audits.CATALOG_CODES).difference(TOOL_CODES)


def _suggest_operations(subject: AuditedRecord, finding: GoldFinding) -> tuple[Mapping[str, Any], ...]:
    """The likeliest mend of what a call of gold breaks in its tool, where one is likelier than the others."""
    from planner_eval.curation.suggest.suggest import suggest

    if subject.catalog is None or finding.call is None:
        return ()
    call = subject.plan.calls[finding.call].id
    operations = suggest(subject.plan, subject.catalog, query=subject.said).operations
    return tuple(
        {**operation, "why": finding.code} for operation in operations if operation.get("id") == call
    )


def _fill_output_names(plan: Plan, catalog: Catalog | None) -> Plan:
    """The plan with the name of each call's only output, where its tool's specification says one."""
    if catalog is None:
        return plan

    def outputs(call: Call) -> tuple[str, ...]:
        tools = catalog.find(call.name, call.app)
        only = tools[0].only_output if len(tools) == 1 else None
        return (only,) if only else ()

    return replace(plan, calls=tuple(replace(c, returns=c.returns or outputs(c)) for c in plan.calls))
