"""Fixes of plans that break their catalog, without gold; a model may be asked for what nothing else fixes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import (
    FLAG,
    NAME,
    POSITIVE_COUNT,
    SHARE,
    InputError,
    JudgeError,
    PlanevalError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.json_files import read_json_lines, read_json_reply
from planner_eval.base.text import shorten
from planner_eval.benchmarks.judging import Judge, make_request
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog
from planner_eval.comparison.patch import SCHEMA, apply_operations
from planner_eval.curation.suggest.candidates import ToolIndex
from planner_eval.curation.suggest.faults import Fault, fault_key
from planner_eval.curation.suggest.proposals import Fix, FixFinder, Operations
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.plan import to_data
from planner_eval.reading.parse import Source, parse

# ----------------------------------------------------------------------
# Mends that were tried: each removes its fault and brings no new one, or it is not told.
MAX_TRIES = 12
"""Mends of one fault that are tried."""

MAX_FAULTS = 200
"""Faults of one plan that mends are looked for."""

MAX_WRITTEN_CALLS = 200_000
"""Calls that are written and checked again for one plan: its calls, times the mends that are tried."""

MIN_PATCH_SCORE = 0.6
"""The least score of a mend that the patch takes: what might do harm where it is wrong scores less."""

_MIN_SCORE = 0.3
"""Mends of a lower score are not worth telling."""

_TIE_MARGIN = 0.015
"""Scores are rounded to hundredths: two no further apart than one of these tell no likelier mend."""

_MAX_DEPTH = 2
_MAX_REVEALED_FAULTS = 8
"""Faults that come to light when a tool's name is mended, and are mended with it."""

FixAsker = Callable[[Plan, Fault], Iterator[Fix]]
"""Who is asked for mends of what is left."""


class FaultSuggestions(NamedTuple):
    """One fault, with what mends it.

    Args:
        fault: The fault.
        suggestions: What mends it, the likeliest first.
        looked: Whether mends were looked for: a plan of very many faults gets no more than so many.
    """

    fault: Fault
    suggestions: tuple[Fix, ...]
    looked: bool

    @property
    def tied(self) -> bool:
        """Whether the two best are as likely as one another, so that the patch takes neither."""
        return _are_tied(self.suggestions)


@dataclass(frozen=True)
class PlanSuggestions:
    """What may mend a plan.

    Args:
        plan: The plan.
        faults: What is wrong with it, by call, each with what mends it.
        operations: The likeliest mends of all faults together, as a patch has them.
        mended: The plan after these.
        left: What is wrong then.
    """

    plan: Plan
    faults: tuple[FaultSuggestions, ...]
    operations: Operations
    mended: Plan
    left: tuple[Fault, ...]

    @property
    def patch(self) -> dict[str, Any]:
        """The likeliest mends together, for :func:`planner_eval.apply`."""
        return {"schema": SCHEMA, "operations": [dict(operation) for operation in self.operations]}


def _are_tied(suggestions: Sequence[Fix]) -> bool:
    return len(suggestions) > 1 and suggestions[0].score - suggestions[1].score < _TIE_MARGIN


def search_suggestions(
    plan: Plan,
    tools: ToolIndex,
    query: str = "",
    *,
    most: int = 3,
    least: float = MIN_PATCH_SCORE,
    ask: FixAsker | None = None,
) -> PlanSuggestions:
    """What may mend a plan, found by trying.

    Args:
        plan: The plan.
        tools: The tools it may call.
        query: What the user asked; "" where that is not known.
        most: How many mends a fault are kept.
        least: The least score of a mend that becomes part of the patch.
        ask: Who is asked for mends of faults that nothing else mends.

    >>> from planner_eval.catalogs.catalog import Catalog, Tool
    >>> from planner_eval.reading.dialects.read import parse
    >>> found = search_suggestions(parse("ad()"), ToolIndex(Catalog((Tool("add"), Tool("sin")))))
    >>> [(one.says, one.reason) for one in found.faults[0].suggestions]
    [('call add', 'its name is 80% similar')]
    """
    finder = FixFinder(plan, tools, query)
    search = _Search(most, ask)
    faulty_items = []
    for index, fault in enumerate(finder.faults):
        fixes = search.of(finder, fault) if index < MAX_FAULTS else []
        looked = index < MAX_FAULTS and search.budget > 0
        faulty_items.append(FaultSuggestions(fault, tuple(fixes), looked))
    search.budget = MAX_WRITTEN_CALLS
    return PlanSuggestions(plan, tuple(faulty_items), *search.together(finder, faulty_items, least))


class _Search:
    """How fixes are tried.

    Args:
        most: How many fixes a fault are kept.
        ask: Who is asked for what is left.
    """

    def __init__(self, most: int, ask: FixAsker | None) -> None:
        self.most, self.ask = most, ask
        self.budget = MAX_WRITTEN_CALLS
        """How many calls may yet be written and checked again."""

    def of(self, finder: FixFinder, fault: Fault, deep: int = 0) -> list[Fix]:
        """The fixes of a fault that remove it and bring no new one, the likeliest first."""
        fixes = self._try(finder, finder.of(fault), fault, deep)
        if not fixes and self.ask is not None and deep == 0:
            fixes = self._try(finder, self.ask(finder.plan, fault), fault, deep)
        return fixes

    def _try(self, finder: FixFinder, candidates: Iterable[Fix], fault: Fault, deep: int) -> list[Fix]:
        fixes: list[Fix] = []
        seen: set[str] = set()
        for candidate in islice(candidates, MAX_TRIES):
            if len(fixes) >= self.most and candidate.score <= fixes[self.most - 1].score:
                break
            if candidate.score < _MIN_SCORE or repr(candidate.operations) in seen:
                continue
            seen.add(repr(candidate.operations))
            fix = self._complete(finder, candidate, fault, deep)
            fixes += [] if fix is None else [fix]
            fixes.sort(key=lambda fix: -fix.score)
        return fixes[: self.most]

    def _complete(self, finder: FixFinder, fix: Fix, fault: Fault, deep: int) -> Fix | None:
        """A fix that removes its fault, with fixes of all that came to light; None where one is left."""
        before, key = finder.counts, fault_key(finder.plan, fault)
        after = self._apply(finder, fix)
        if after is None or after.counts[key] >= before[key]:
            return None
        least = fix.score  # none scores more than each
        for _ in range(_MAX_REVEALED_FAULTS + 1):
            new = after.counts - before
            if not new:
                return fix._replace(score=round(max(min(fix.score, least), 0.01), 2))
            if fix.operations[0]["op"] != "rename" or deep == _MAX_DEPTH:
                return None
            revealed = next(f for f in after.faults if new[fault_key(after.plan, f)] > 0)
            inner = next(iter(self.of(after, revealed, deep + 1)), None)
            after = None if inner is None else self._apply(after, inner)
            if inner is None or after is None:
                return None
            fix = fix._replace(
                operations=(*fix.operations, *inner.operations),
                says=f"{fix.says}, {inner.says}",
                score=fix.score * (0.5 + 0.5 * inner.score),
            )
            least = min(least, inner.score)
        return None

    def _apply(self, finder: FixFinder, fix: Fix) -> FixFinder | None:
        """What is known of the plan after a fix; None where it does not fit, or too many were tried."""
        if self.budget <= 0:
            return None
        self.budget -= len(finder.plan.calls)
        plan = rewrite_plan(finder.plan, fix.operations)
        return None if plan is None else FixFinder(plan, finder.tools, finder.query)

    def together(
        self, start: FixFinder, faulty_items: Iterable[FaultSuggestions], least: float
    ) -> tuple[Operations, Plan, tuple[Fault, ...]]:
        """The likeliest fix of each fault that is likely enough, as long as each makes fewer faults."""
        operations: Operations = ()
        finder = start
        for faulty in faulty_items:
            key = fault_key(start.plan, faulty.fault)
            fault = next((f for f in finder.faults if fault_key(finder.plan, f) == key), None)
            if fault is None or not faulty.looked or self.budget <= 0:
                continue
            self.budget -= len(finder.plan.calls)
            fresh = self.of(finder, fault, 1) if finder is not start else []  # others are mended by now
            fixes = [fix for fix in fresh or faulty.suggestions if fix.score >= least]
            after = (
                self._apply(finder, fixes[0])
                if fixes and not _are_tied(fresh or faulty.suggestions)
                else None
            )
            if after is not None and after.counts < finder.counts:
                operations, finder = (*operations, *fixes[0].operations), after
        return operations, finder.plan, finder.faults


def rewrite_plan(plan: Plan, operations: Operations) -> Plan | None:
    """A plan after operations, in its own notation; None where they do not fit it."""
    try:
        return replace(apply_operations(plan, operations), dialect=plan.dialect)
    except PlanevalError:
        return None


# ----------------------------------------------------------------------
# Asking a model for the mend of a fault that nothing else mends; what it says is tried like any other.
TASK = "suggest.mend"

MAX_QUESTIONS = 20
"""Faults of one plan that a model is asked about."""

_MAX_SHOWN_CALLS = 40
_MAX_SHOWN_CHARACTERS = 2_000
_MAX_NEAR_TOOLS = 10

_INSTRUCTIONS = (
    "A plan of tool calls has a fault. Say what fixes it, as one JSON object and nothing else: "
    '{"tool": NAME} to call another tool, {"argument": NAME} to give the argument under another name, '
    '{"value": VALUE} to give the argument another value, or {"nothing": true} where you cannot tell. '
    'A value is JSON; the output of an earlier call is {"$ref": ID, "path": [NAME, …]}. '
    "Take values from the question; invent none."
)


def make_asker(judge: Judge, tools: ToolIndex, query: str = "") -> FixAsker:
    """Who is asked for mends of one plan's faults.

    Args:
        judge: Who answers.
        tools: The tools that the plan may call.
        query: What the user asked.

    >>> from planner_eval.catalogs.catalog import Catalog, Tool
    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> tools = ToolIndex(Catalog((Tool("add"),)))
    >>> ask = make_asker(ScriptedJudge(lambda make_request: '{"tool": "add"}'), tools)
    >>> [mend.says for mend in ask(parse("plus()"), Fault("check.unknown_tool", "no tool", 0))]
    ['call add']
    """
    questions = count()

    def ask(plan: Plan, fault: Fault) -> Iterator[Fix]:
        if next(questions) >= MAX_QUESTIONS:
            return
        try:
            reply = judge.ask(make_request(TASK, _INSTRUCTIONS, _material(plan, fault, tools, query)))
        except JudgeError as problem:
            if problem.code == "missing":  # nor will anything else be answered
                raise
            return  # whoever asks counts them
        answer = read_answer(reply.text)
        fix = FixFinder(plan, tools).read_answer(fault, *answer) if answer is not None else None
        yield from () if fix is None else (fix,)

    return ask


def read_answer(text: str) -> tuple[str, Any] | None:
    """What a model's answer says: ``tool``, ``argument`` or ``value``, and what; None for anything else.

    The answer is one JSON object of one key, alone or in a fence.

    >>> (
    ...     read_answer('{"value": 3}'), read_answer('it is {"value": 3}'),
    ...     read_answer('{"value": 3, "tool": "f"}')
    ... )
    (('value', 3), None, None)
    """
    answer = read_json_reply(text)
    if type(answer) is not dict or len(answer) != 1:
        return None
    ((key, value),) = answer.items()
    return (
        (key, value) if key == "value" or (key in ("tool", "argument") and isinstance(value, str)) else None
    )


def _material(plan: Plan, fault: Fault, tools: ToolIndex, query: str) -> dict[str, Any]:
    first = max(0, (fault.call or 0) + 1 - _MAX_SHOWN_CALLS)
    calls = json.dumps(to_data(plan)["calls"][first : first + _MAX_SHOWN_CALLS], ensure_ascii=False)
    call = None if fault.call is None else plan.calls[fault.call]
    location = f"call {call.id}" if call else "call none: the answer"
    material: dict[str, Any] = {
        "Question": shorten(query, 8 * _MAX_SHOWN_CHARACTERS) or "not known",
        "Plan": shorten(calls, 16 * _MAX_SHOWN_CHARACTERS),
        "Fault": shorten(f"{location}: {fault.message}", _MAX_SHOWN_CHARACTERS),
    }
    if call is not None:
        candidates = tools.catalog.find(call.name, call.app) or tools.near(call)
        material["Tools"] = [
            shorten(f"{tool.signature()}  {tool.description}", _MAX_SHOWN_CHARACTERS)
            for tool in candidates[:_MAX_NEAR_TOOLS]
        ]
    return material


# ----------------------------------------------------------------------
# Mends of plans that break their catalog, without gold.
def suggest(  # noqa: PLR0913 - the options of a public function
    plan: Source,
    catalog: Any,
    *,
    dialect: str | None = None,
    repair: bool = False,
    query: str | None = None,
    judge: Judge | None = None,
    most: int = 3,
    least: float = MIN_PATCH_SCORE,
) -> PlanSuggestions:
    """What may mend a plan that breaks its catalog, found without gold.

    Each mend was tried: it removes its fault and brings no new one. A plan without faults gets none.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        catalog: The tools it may call: a catalog, or what :func:`planner_eval.read_catalog` takes.
        dialect: The notation of the plan; recognised when left out.
        repair: Mend small faults of a text that cannot be read strictly.
        query: What the user asked, from which values may be taken.
        judge: Who is asked about faults that nothing else mends: anything with ``ask``, as
            :func:`planner_eval.models.judges.open_judge` gives it.
        most: How many mends a fault are kept.
        least: The least score of a mend that becomes part of the patch.

    Returns:
        The faults by call, each with its mends, the likeliest first; ``patch`` holds the likeliest of all
        together, for :func:`planner_eval.apply`, and ``mended`` is the plan after it.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no plan, or no catalog.
        JudgeError: the model cannot be asked at all, for want of a key, say; a question that it leaves
            without an answer is no error.
        ParseError: the plan cannot be read.

    >>> tools = [{"name": "search", "parameters": {"properties": {"city": {"type": "string"}}}}]
    >>> found = suggest("serch(#city='Rome')", tools)
    >>> found.mended.calls[0].name, found.faults[0].suggestions[0].says
    ('search', 'call search')
    """
    if plan is None or catalog is None:
        raise InputError("suggestions need a plan and the catalog of its tools")
    expect(POSITIVE_COUNT, most=most)
    expect(SHARE, least=least)
    expect(FLAG, repair=repair)
    expect_or_none(NAME, query=query)
    expect_or_none(instance_of(Judge, "anything with ask(), as open_judge() gives it"), judge=judge)
    tools = index_tools(catalog)
    ask = make_asker(judge, tools, query or "") if judge is not None else None
    read = parse(plan, dialect=dialect, repair=repair, tools=tools.catalog)
    return search_suggestions(read, tools, query or "", most=most, least=least, ask=ask)


def index_tools(catalog: Any) -> ToolIndex:
    """A catalog made ready for many plans.

    Args:
        catalog: A catalog, or what :func:`planner_eval.read_catalog` takes.
    """
    return catalog if isinstance(catalog, ToolIndex) else ToolIndex(read_catalog(catalog))


def pooling_warnings(files: Sequence[str], catalog: Catalog) -> Iterator[str]:
    """What has to be said of a catalog that is a file of records, each with tools of its own.

    Args:
        files: The names of the catalog's files.
        catalog: What was read of them.
    """
    for name in files:
        if not name.endswith((".jsonl", ".ndjson")):
            continue
        text = Path(name).read_text(encoding="utf-8", errors="replace")
        lines = [line.data for line in read_json_lines(text) if line.error is None]
        brings = sum(isinstance(line, dict) and isinstance(line.get("tools"), list) for line in lines)
        if brings > 1:
            name_counts = Counter((tool.app, tool.name) for tool in catalog.tools)
            differ = sum(count > 1 for count in name_counts.values())
            yield (
                f"{name}: the tools of {brings:,} records are merged, although no record may offer them "
                f"all; {differ:,} of the same name differ: a call is checked against the one it violates "
                "least"
            )
