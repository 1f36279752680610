"""What is irregular in a set of gold plans, and which of them may be wrong."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.errors import (
    COUNT,
    FLAG,
    FUNCTION,
    NAME,
    PATHS,
    SECONDS,
    expect,
    expect_or_none,
    one_of,
)
from planner_eval.benchmarks.answers import ReplayResult, replay
from planner_eval.benchmarks.datasets.check import CheckResult, Tally, plan_problem
from planner_eval.benchmarks.datasets.published import Dataset
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog
from planner_eval.comparison.evaluate import Progress
from planner_eval.comparison.patch import SCHEMA
from planner_eval.curation.audit.audits import FindingSelection, read_selection, select_audits
from planner_eval.curation.audit.doubts import Baseline, GoldDoubt, baseline_data, read_baseline
from planner_eval.curation.audit.gold import ANSWER_FIELD, AuditSettings, GoldAudit, RunCounts
from planner_eval.curation.audit.votes import Votes
from planner_eval.curation.sets import Questions, SetItem, items_of, set_of, set_warnings
from planner_eval.execution.run import tool_source
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import ToolSource
from planner_eval.reading.settings import DEFAULT_READING, Reading
from planner_eval.results.findings import GoldFinding


class DatasetCheck(NamedTuple):
    """What was found in a set of gold plans.

    Args:
        dataset: What it is; None of a file.
        checked: Its irregularities, counted: those that are asked for.
        replayed: Gold scored against itself under each variant of its benchmark, if it has one.
        name: What the set is called.
        doubts: What may be wrong in gold, record by record: as sure as was asked for, and not known before.
        unsure: How many more there are that are less sure, by their confidence.
        known: How many are left out because the baseline has them.
        ran: How many plans were run, and with which tools.
        notes: What the user should know, in words.
        every: All doubts, however sure, with those that the baseline has.
        before: The baseline.
        unread: How many plans cannot be read, and are neither among the doubts, for other findings were
            selected, nor in the baseline.
        unchecked: What gold was not held against, in words.
    """

    dataset: Dataset | None
    checked: CheckResult
    replayed: tuple[ReplayResult, ...]
    name: str
    doubts: tuple[GoldDoubt, ...]
    unsure: Mapping[str, int] = MappingProxyType({})
    known: int = 0
    ran: RunCounts = RunCounts()
    notes: tuple[str, ...] = ()
    every: tuple[GoldDoubt, ...] = ()
    before: Baseline = Baseline()
    unread: int = 0
    unchecked: tuple[str, ...] = ()

    @property
    def perfect(self) -> bool:
        """Whether gold is right under every variant."""
        return not any(r.imperfect for r in self.replayed)

    @property
    def clean(self) -> bool:
        """Whether nothing was found that is more than worth knowing, and is not in the baseline."""
        before = self.before
        irregular = any(
            finding.severity != "info" and finding.count > before.irregularities.get(finding.code, 0)
            for finding in self.checked.findings
        )
        imperfect = any(
            names - before.imperfect.get(variant, frozenset()) for variant, names in self._imperfect().items()
        )
        return not (self.doubts or self.unread or self.checked.unequal or irregular or imperfect)

    @property
    def fixes(self) -> list[dict[str, Any]]:
        """What would mend gold, a patch with its reasons each record, for people to review: nothing is sure.

        What models agree on stands for a record's other mends; of others those of all its findings are one
        patch, each operation once. :func:`planner_eval.apply` takes them.
        """
        by_record: dict[str | int, list[GoldFinding]] = {}
        for doubt in self.doubts:
            if doubt.found.operations:
                by_record.setdefault(doubt.record, []).append(doubt.found)
        patches = []
        for record, found in by_record.items():
            voted = [finding for finding in found if finding.code.startswith("gold.outvoted")]
            operations: list[dict[str, Any]] = []
            for finding in voted[:1] or found:
                why = {"why": f"{finding.confidence}: {finding.message} [{finding.code}]"}
                listed = [{**operation, **why} for operation in operations]
                new = ({**operation, **why} for operation in finding.operations)
                operations += [operation for operation in new if operation not in listed]
            patches.append({"id": str(record), "schema": SCHEMA, "operations": operations})
        return patches

    def baseline(self) -> dict[str, Any]:
        """All that was found, as data: given as `baseline` to a later check, nothing of it counts there."""
        counts = {f.code: f.count for f in self.checked.findings if f.severity != "info"}
        return baseline_data(self.every, counts, {name: [*ids] for name, ids in self._imperfect().items()})

    def _imperfect(self) -> dict[str, frozenset[str]]:
        return {
            result.report.variant: frozenset(row.id for row in result.imperfect)
            for result in self.replayed
            if result.imperfect
        }


def check_dataset(  # noqa: PLR0913 - the options of a public function
    name: Any,
    *,
    reading: Reading = DEFAULT_READING,
    catalog: Any = None,
    tools: Any = None,
    query: str | None = None,
    answer: str | None = None,
    select: Sequence[str] = (),
    ignore: Collection[str] = (),
    confidence: str = "high",
    runs: Any = (),
    baseline: Any = None,
    examples: int = 3,
    fixes: bool = False,
    isolation: str | None = None,
    timeout: float = 10.0,
    allow_read: Sequence[str] = (),
    binding: str = "name",
    progress: Progress | None = None,
) -> DatasetCheck:
    """Say which gold plans of a set may be wrong, and what is irregular in it.

    Gold is held against its tools and its question, looked through for calls that it makes for nothing, and
    run where there are tools for it, its result held against the gold answer; records of one question are
    held beside each other. Gold of a published data set is also scored against itself.

    Args:
        name: The set: the name of a file of records or of a published data set, what
            :func:`planner_eval.open_sources` gave, or records in memory, as :func:`planner_eval.read` takes
            them.
        reading: How its records are read: notation, fields, turn, and where data sets lie.
        catalog: The tools on offer, as :func:`planner_eval.read_catalog` takes them; left out, those that
            each record brings.
        tools: What plans are run with, as :func:`planner_eval.tool_source` takes it; left out, the functions
            that come along for a data set, and of a file no plan is run.
        query: The field of a file's records that holds the question; recognised when left out.
        answer: The field of a file's records that holds what the plan should come to; ``"gold_answer"`` when
            left out. Where ``options`` and ``correct`` stand there, these count.
        select: Codes, or their beginnings, of what is asked for; all when left out. With some, gold is not
            scored against itself, which has no code.
        ignore: Codes, or their beginnings, of what is left out.
        confidence: How sure a doubt has to be: ``"high"``, ``"medium"`` or ``"low"``.
        runs: What models said to the same records: a list of folders of :func:`planner_eval.predict` and
            :func:`planner_eval.score`, files of predictions, or predictions in memory; or a mapping of them
            by name. Where they agree on another plan than gold, that is told.
        baseline: What was found before and does not count: the file that ``--write-baseline`` wrote, or what
            :meth:`DatasetCheck.baseline` gave.
        examples: How many examples to keep of each irregularity.
        fixes: Whether what would mend gold is looked for: see :attr:`DatasetCheck.fixes`.
        isolation: As for :func:`planner_eval.execute`.
        timeout: Likewise.
        allow_read: As for :func:`planner_eval.execute`.
        binding: How calls pass their arguments: ``"name"``, or ``"position"`` as they are written.
        progress: Is told after each gold plan how many are done, and of how many.

    Raises:
        DatasetError: there is no data set of that name, or its files are not there or cannot be read.
        InputError: a file, an option or the baseline cannot be used, or a run says nothing to the set.
        ExecutionError: the tools cannot be loaded, or the isolation that was asked for is not to be had.

    >>> found = check_dataset("complexfuncbench", reading=Reading(folder="data/samples"))
    >>> found.dataset.records, found.perfect, found.doubts
    (1000, True, ())
    >>> call = {"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}}
    >>> record = {"id": "q1", "gold": [call], "gold_answer": 4}
    >>> how = Reading(dialect="nestful", text_field="gold")
    >>> found = check_dataset([record], reading=how, tools="nestful")
    >>> found.doubts[0].found.message
    'the plan gives 3; the gold answer is 4'
    """
    selection = read_selection(select, ignore, confidence)
    expect_or_none(NAME, query=query, answer=answer)
    expect(COUNT, examples=examples)
    expect(FLAG, fixes=fixes)
    expect_or_none(FUNCTION, progress=progress)
    expect(SECONDS, timeout=timeout)
    expect(one_of(("name", "position")), binding=binding)
    expect_or_none(one_of(("strict", "process", "inline")), isolation=isolation)
    expect(PATHS, allow_read=allow_read)
    earlier = read_baseline(baseline)
    opened = set_of(name, reading)
    offered = catalog if catalog is None or isinstance(catalog, Catalog) else read_catalog(catalog)
    questions = Questions(opened, query)
    none_named = isinstance(runs, (tuple, list, dict)) and not runs
    votes = Votes(runs, opened) if not none_named and selection.has("gold.outvoted") else None
    tally = Tally(examples)
    own = opened.dataset
    tool_spec = tools if tools is not None or own is None else own.tools or None
    runner = tool_spec if tool_spec is None or isinstance(tool_spec, Sandbox) else tool_source(tool_spec)
    source = runner.source if isinstance(runner, Sandbox) else runner
    with _open_sandbox(runner, selection, isolation, timeout, allow_read) as box:
        how = AuditSettings(
            selection,
            offered,
            box,
            source is not None and source.name in ("nestful:official", "nestful:sane"),
            questions,
            answer or ANSWER_FIELD,
            votes,
            binding,
            fixes,
        )
        audited = GoldAudit(opened, how).add(_tally_items(items_of(opened, reading.dialect, progress), tally))
    checked = tally.checked()
    checked = replace(checked, findings=tuple(f for f in checked.findings if selection.has(f.code)))
    new, unread = earlier.new(audited.doubts), earlier.new(audited.unread)
    sure = tuple(doubt for doubt in new if selection.sure(doubt.found.confidence))
    less = Counter(doubt.found.confidence for doubt in new if not selection.sure(doubt.found.confidence))
    scored = own.benchmark if own is not None and opened.samples and not selection.select else ""
    replayed = replay(scored, opened.samples) if scored else ()
    notes = (*set_warnings(opened), *(questions.notes if opened.file is not None else ()), *audited.notes)
    all_doubts = (*audited.doubts, *audited.unread)
    return DatasetCheck(
        own, checked, tuple(replayed), opened.name, sure, dict(sorted(less.items())),
        len(audited.doubts) - len(new), audited.ran, notes, all_doubts, earlier, len(unread),
        audited.unchecked,
    )  # fmt: skip


def _tally_items(items: Iterable[SetItem], tally: Tally) -> Iterator[SetItem]:
    """Records that go by, each counted."""
    for item in items:
        sample = item.record.source
        if hasattr(sample, "category"):
            diagnostics = tuple(sample.extra.get("diagnostics", ()))
        else:
            diagnostics = item.plan.diagnostics if item.plan is not None else ()
        reason = item.error.splitlines()[0] if item.error else item.error
        tally.add(str(item.name), diagnostics, reason if item.plan is None else plan_problem(item.plan))
        yield item


def _open_sandbox(
    runner: ToolSource | Sandbox | None,
    selection: FindingSelection,
    isolation: str | None,
    timeout: float,
    allow_read: Sequence[str],
) -> AbstractContextManager[Sandbox | None]:
    """Where plans are run; None where there are no tools, or nothing is asked for that needs a run."""
    if runner is None or not any(a.runs for a in select_audits(selection.has)):
        return nullcontext()
    if isinstance(runner, Sandbox):
        return nullcontext(runner)
    return Sandbox(
        runner, level=isolation, limits=Limits(seconds=timeout, read=tuple(map(os.fspath, allow_read)))
    )
