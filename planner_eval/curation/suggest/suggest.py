"""Fixes of plans that break their catalog, without gold; a model may be asked for what nothing else fixes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from planner_eval.base.json_files import read_json_lines
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import shorten
from planner_eval.benchmarks.judging import Judge, make_request
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog
from planner_eval.comparison.patch import SCHEMA, apply_operations
from planner_eval.curation.suggest.faults import Fault, FaultKey, fault_key
from planner_eval.curation.suggest.proposals import Fix, FixFinder, Operations
from planner_eval.curation.suggest.tool_names import ToolIndex
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.plan import to_data, value_data
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
    looked: bool = True

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
    if not finder.faults:
        return PlanSuggestions(plan, (), (), plan, ())
    search = _Search(most, ask, [MAX_WRITTEN_CALLS])
    faulty_items = [
        FaultSuggestions(
            fault,
            tuple(search.of(finder, fault)) if index < MAX_FAULTS else (),
            index < MAX_FAULTS and search.budget[0] > 0,
        )
        for index, fault in enumerate(finder.faults)
    ]
    search = search._replace(budget=[MAX_WRITTEN_CALLS])
    return PlanSuggestions(plan, tuple(faulty_items), *search.together(finder, faulty_items, least))


class _Search(NamedTuple):
    """How mends are tried.

    Args:
        most: How many mends a fault are kept.
        ask: Who is asked for what is left.
        budget: How many calls may yet be written and checked again.
    """

    most: int
    ask: FixAsker | None
    budget: list[int]

    def of(self, finder: FixFinder, fault: Fault, deep: int = 0) -> list[Fix]:
        """The mends of a fault that remove it and bring no new one, the likeliest first."""
        mends = self._tried(finder, finder.of(fault), fault, deep)
        if not mends and self.ask is not None and deep == 0:
            mends = self._tried(finder, self.ask(finder.plan, fault), fault, deep)
        return mends

    def _tried(self, finder: FixFinder, candidates: Iterable[Fix], fault: Fault, deep: int) -> list[Fix]:
        mends: list[Fix] = []
        seen: set[str] = set()
        for tried_count, mend in enumerate(candidates):
            if tried_count == MAX_TRIES or (
                len(mends) >= self.most and mend.score <= sorted(m.score for m in mends)[-self.most]
            ):
                break
            if mend.score < _MIN_SCORE or repr(mend.operations) in seen:
                continue
            seen.add(repr(mend.operations))
            good = self._good(finder, mend, fault, deep)
            if good is not None:
                mends.append(good)
        return sorted(mends, key=lambda m: -m.score)[: self.most]

    def _good(self, finder: FixFinder, mend: Fix, fault: Fault, deep: int) -> Fix | None:
        """A mend that removes its fault and brings none: by itself, or with mends of what it uncovers."""
        after, key = self._apply(finder, mend), fault_key(finder.plan, fault)
        if after is None or after.counts[key] >= finder.counts[key]:
            return None
        complete: Fix | None = mend
        if after.counts - finder.counts:
            if mend.operations[0]["op"] != "rename" or deep == _MAX_DEPTH:
                return None
            complete = self._with_uncovered(after, mend, finder.counts, deep)
        return complete and complete._replace(score=round(max(complete.score, 0.01), 2))

    def _with_uncovered(
        self, finder: FixFinder, mend: Fix, before: Counter[FaultKey], deep: int
    ) -> Fix | None:
        """A mend with those of all that came to light, and the score of all: none scores more than each."""
        least = mend.score
        for _ in range(_MAX_REVEALED_FAULTS):
            new = finder.counts - before
            fault = next((f for f in finder.faults if new[fault_key(finder.plan, f)] > 0), None)
            if fault is None:
                return mend._replace(score=min(mend.score, least))
            inner = self.of(finder, fault, deep + 1)
            after = self._apply(finder, inner[0]) if inner else None
            if after is None:
                return None
            finder, best = after, inner[0]
            mend = mend._replace(
                operations=(*mend.operations, *best.operations),
                says=f"{mend.says}, {best.says}",
                score=mend.score * (0.5 + 0.5 * best.score),
            )
            least = min(least, best.score)
        return None

    def _apply(self, finder: FixFinder, mend: Fix) -> FixFinder | None:
        """What is known of the plan after a mend; None where it does not fit, or too many were tried."""
        if self.budget[0] <= 0:
            return None
        self.budget[0] -= len(finder.plan.calls)
        plan = rewrite_plan(finder.plan, mend.operations)
        return None if plan is None else FixFinder(plan, finder.tools, finder.query)

    def together(
        self, start: FixFinder, faulty_items: Iterable[FaultSuggestions], least: float
    ) -> tuple[Operations, Plan, tuple[Fault, ...]]:
        """The likeliest mend of each fault that is likely enough, as long as each makes fewer faults."""
        operations: Operations = ()
        finder = start
        for faulty in faulty_items:
            best = self._now(finder, faulty, start)
            after = self._apply(finder, best) if best is not None and best.score >= least else None
            if best is None or after is None or after.counts - finder.counts:
                continue
            if after.counts.total() < finder.counts.total():
                operations, finder = (*operations, *best.operations), after
        return operations, finder.plan, finder.faults

    def _now(self, finder: FixFinder, faulty: FaultSuggestions, start: FixFinder) -> Fix | None:
        """The likeliest mend of a fault in a plan of which other faults may be mended by now."""
        key = fault_key(start.plan, faulty.fault)
        if finder.counts[key] == 0 or not faulty.looked or self.budget[0] <= 0:
            return None
        self.budget[0] -= len(finder.plan.calls)
        fault = next(candidate for candidate in finder.faults if fault_key(finder.plan, candidate) == key)
        fresh = self.of(finder, fault, 1) if finder is not start else []
        suggestions = fresh or faulty.suggestions
        return None if _are_tied(suggestions) else next(iter(suggestions), None)


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
_MODEL_SCORE = 0.5
"""A model's mend is behind whatever the catalog shows, and before nothing."""

_INSTRUCTIONS = (
    "A plan of tool calls has a fault. Say what fixes it, as one JSON object and nothing else: "
    '{"tool": NAME} to call another tool, {"argument": NAME} to give the argument under another name, '
    '{"value": VALUE} to give the argument another value, or {"nothing": true} where you cannot tell. '
    'A value is JSON; the output of an earlier call is {"$ref": ID, "path": [NAME, …]}. '
    "Take values from the question; invent none."
)


class ModelAnswer(NamedTuple):
    """A model's answer: ``"tool"``, ``"argument"`` or ``"value"``, and what."""

    key: str
    value: Any


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
    left = [MAX_QUESTIONS]

    def ask(plan: Plan, fault: Fault) -> Iterator[Fix]:
        if left[0] <= 0:
            return
        left[0] -= 1
        try:
            reply = judge.ask(make_request(TASK, _INSTRUCTIONS, _material(plan, fault, tools, query)))
        except JudgeError as problem:
            if problem.code == "missing":  # nor will anything else be answered
                raise
            return  # whoever asks counts them
        answer = read_answer(reply.text)
        mend = None if answer is None else _make_fix(plan, fault, tools, answer.key, answer.value)
        if mend is not None:
            yield mend

    return ask


def read_answer(text: str) -> ModelAnswer | None:
    """What a model's answer says: ``tool``, ``argument`` or ``value``, and what; None for anything else.

    The answer is one JSON object of one key, alone or in a fence.

    >>> (
    ...     read_answer('{"value": 3}'), read_answer('it is {"value": 3}'),
    ...     read_answer('{"value": 3, "tool": "f"}')
    ... )
    (ModelAnswer(key='value', value=3), None, None)
    """
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare[bare.index("\n") : -3].strip()
    try:
        values = loads(bare, DEFAULT_LIMITS, "plan")
    except PlanevalError:
        return None
    only = values[0] if len(values) == 1 else None
    if type(only) is not dict or len(only) != 1:
        return None
    key, value = next(iter(only.items()))
    if key == "value" or (key in ("tool", "argument") and isinstance(value, str)):
        return ModelAnswer(key, value)
    return None


def _material(plan: Plan, fault: Fault, tools: ToolIndex, query: str) -> dict[str, Any]:
    calls = to_data(plan)["calls"]
    first = max(0, (fault.call or 0) + 1 - _MAX_SHOWN_CALLS)
    call = None if fault.call is None else plan.calls[fault.call]
    material: dict[str, Any] = {"Question": shorten(query, 8 * _MAX_SHOWN_CHARACTERS) or "not known"}
    material["Plan"] = shorten(
        json.dumps(calls[first : first + _MAX_SHOWN_CALLS], ensure_ascii=False), 16 * _MAX_SHOWN_CHARACTERS
    )
    material["Fault"] = shorten(
        f"call {call.id if call else 'none: the answer'}: {fault.message}", _MAX_SHOWN_CHARACTERS
    )
    if call is not None:
        exact = tools.catalog.find(call.name, call.app)
        candidates = exact or tuple(tools.near(call)[:_MAX_NEAR_TOOLS])
        material["Tools"] = [
            shorten(f"{tool.signature()}  {tool.description}", _MAX_SHOWN_CHARACTERS)
            for tool in candidates[:_MAX_NEAR_TOOLS]
        ]
    return material


def _make_fix(plan: Plan, fault: Fault, tools: ToolIndex, key: str, value: Any) -> Fix | None:
    """A model's answer as a mend; None where it does not belong to the fault."""
    if fault.call is None:
        return None
    call, name = plan.calls[fault.call], fault.argument

    def fix(says: str, *operations: Mapping[str, Any]) -> Fix:
        full = tuple(
            {"op": operation["op"], "id": call.id, **operation, "why": fault.code} for operation in operations
        )
        return Fix(says, "the model suggests this", _MODEL_SCORE, "model", full)

    if key == "tool":
        app, _, bare = value.rpartition(".")
        tool = next(iter(tools.catalog.find(value) or tools.catalog.find(bare, app or None)), None)
        if tool is None:
            return None
        return fix(f"call {tool.full_name}", {"op": "rename", "app": tool.app, "name": tool.name})
    if name is None or len(dict(call.arguments)) < len(call.arguments):
        return None
    old: dict[str, Any] = {key: value_data(argument, plan) for key, argument in call.arguments}
    if key == "argument":
        if name not in old or value in old:
            return None  # what is given under the other name would be lost
        return fix(
            f"rename {shorten(name, 40)} to {shorten(value, 40)}",
            {"op": "unset", "argument": name},
            {"op": "set", "argument": value, "value": old[name]},
        )
    if name in old and fault.code == "check.missing_argument":
        return None
    value_text = shorten(json.dumps(value, ensure_ascii=False), 60)
    says = f"{'set' if name in old else 'give'} {shorten(name, 40)} = {value_text}"
    return fix(says, {"op": "set", "argument": name, "value": value})


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
    read = parse(plan, dialect=dialect, repair=repair)
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
