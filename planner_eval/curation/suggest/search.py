"""Mends that were tried: each removes its fault and brings no new one, or it is not told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from planner_eval.base.errors import PlanevalError
from planner_eval.comparison.patch import SCHEMA, apply_operations
from planner_eval.curation.suggest.faults import Fault, FaultKey, count_faults, fault_key, faults
from planner_eval.curation.suggest.proposals import Fix, FixFinder, ToolIndex
from planner_eval.plan.model import Plan

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


class Suggestion(NamedTuple):
    """One mend that was tried.

    Args:
        says: What is done, in words.
        reason: Why it is likely.
        score: How likely it is, from 0 to 1: for ranking; no probability.
        source: Whose it is: ``"catalog"``, ``"plan"``, ``"query"`` or ``"model"``.
        operations: What is done, as a patch has it.
    """

    says: str
    reason: str
    score: float
    source: str
    operations: tuple[Mapping[str, Any], ...]


class FaultSuggestions(NamedTuple):
    """One fault, with what mends it.

    Args:
        fault: The fault.
        suggestions: What mends it, the likeliest first.
        looked: Whether mends were looked for: a plan of very many faults gets no more than so many.
    """

    fault: Fault
    suggestions: tuple[Suggestion, ...]
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
    operations: tuple[Mapping[str, Any], ...]
    mended: Plan
    left: tuple[Fault, ...]

    @property
    def patch(self) -> dict[str, Any]:
        """The likeliest mends together, for :func:`planner_eval.apply`."""
        return {"schema": SCHEMA, "operations": [dict(operation) for operation in self.operations]}


def _are_tied(suggestions: Sequence[Suggestion]) -> bool:
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
    [('call add', 'its name is 80% alike')]
    """
    catalog = tools.catalog
    plan_faults = faults(plan, catalog)
    if not plan_faults:
        return PlanSuggestions(plan, (), (), plan, ())
    search = _Search(tools, query, most, ask, [MAX_WRITTEN_CALLS])
    before = count_faults(plan, plan_faults)
    mends = FixFinder(plan, tools, query)
    faulty_items = [
        FaultSuggestions(
            fault,
            tuple(search.of(mends, fault, before)) if index < MAX_FAULTS else (),
            index < MAX_FAULTS and search.budget[0] > 0,
        )
        for index, fault in enumerate(plan_faults)
    ]
    return PlanSuggestions(
        plan,
        tuple(faulty_items),
        *search._replace(budget=[MAX_WRITTEN_CALLS])._together(plan, faulty_items, before, least),
    )


class _Search(NamedTuple):
    """How mends are tried.

    Args:
        tools: The tools that plans may call.
        query: What the user asked.
        most: How many mends a fault are kept.
        ask: Who is asked for what is left.
        budget: How many calls may yet be written and checked again.
    """

    tools: ToolIndex
    query: str
    most: int
    ask: FixAsker | None
    budget: list[int]

    def of(
        self, mends: FixFinder, fault: Fault, before: Counter[FaultKey], deep: int = 0
    ) -> list[Suggestion]:
        """The mends of a fault that remove it and bring no new one, the likeliest first."""
        suggestions = self._tried(mends, mends.of(fault), fault, before, deep)
        if not suggestions and self.ask is not None and deep == 0:
            suggestions = self._tried(mends, self.ask(mends.plan, fault), fault, before, deep)
        return suggestions

    def _tried(
        self, mends: FixFinder, candidates: Any, fault: Fault, before: Counter[FaultKey], deep: int
    ) -> list[Suggestion]:
        suggestions: list[Suggestion] = []
        seen: set[str] = set()
        for tried_count, mend in enumerate(candidates):
            if tried_count == MAX_TRIES or (
                len(suggestions) >= self.most
                and mend.score <= sorted(s.score for s in suggestions)[-self.most]
            ):
                break
            if mend.score < _MIN_SCORE or repr(mend.operations) in seen:
                continue
            seen.add(repr(mend.operations))
            good = self._good(mends, mend, fault, before, deep)
            if good is not None:
                suggestions.append(good)
        return sorted(suggestions, key=lambda s: -s.score)[: self.most]

    def _good(
        self, mends: FixFinder, mend: Fix, fault: Fault, before: Counter[FaultKey], deep: int
    ) -> Suggestion | None:
        """A mend that removes its fault and brings none: by itself, or with mends of what it uncovers."""
        patched_plan = self._made(mends.plan, mend.operations)
        if patched_plan is None:
            return None
        patched_faults = faults(patched_plan, self.tools.catalog)
        after = count_faults(patched_plan, patched_faults)
        key = fault_key(mends.plan, fault)
        if after[key] >= before[key]:
            return None
        operations, score, says = mend.operations, mend.score, mend.says
        if after - before:
            if mend.operations[0]["op"] != "rename" or deep == _MAX_DEPTH:
                return None
            within = self._uncovered(patched_plan, patched_faults, before, deep, score)
            if within is None:
                return None
            operations, score = (*operations, *within[0]), min(score, within[1])
            says = ", ".join((says, *within[2]))
        return Suggestion(says, mend.reason, round(max(score, 0.01), 2), mend.source, operations)

    def _uncovered(
        self, plan: Plan, plan_faults: tuple[Fault, ...], before: Counter[FaultKey], deep: int, score: float
    ) -> tuple[tuple[Mapping[str, Any], ...], float, tuple[str, ...]] | None:
        """Mends of all that came to light, with the score of all: none scores more than each; or None."""
        operations: tuple[Mapping[str, Any], ...] = ()
        least = score
        says: tuple[str, ...] = ()
        for _ in range(_MAX_REVEALED_FAULTS):
            current_counts = count_faults(plan, plan_faults)
            new = current_counts - before
            fault = next(
                (candidate for candidate in plan_faults if new[fault_key(plan, candidate)] > 0), None
            )
            if fault is None:
                return operations, min(score, least), says
            best = next(
                iter(self.of(FixFinder(plan, self.tools, self.query), fault, current_counts, deep + 1)), None
            )
            patched_plan = None if best is None else self._made(plan, best.operations)
            if best is None or patched_plan is None:
                return None
            operations, plan = (*operations, *best.operations), patched_plan
            says = (*says, best.says)
            score *= 0.5 + 0.5 * best.score
            least = min(least, best.score)
            plan_faults = faults(plan, self.tools.catalog)
        return None

    def _made(self, plan: Plan, operations: tuple[Mapping[str, Any], ...]) -> Plan | None:
        if self.budget[0] <= 0:
            return None
        self.budget[0] -= len(plan.calls)
        return rewrite_plan(plan, operations)

    def _together(
        self, plan: Plan, faulty_items: list[FaultSuggestions], before: Counter[FaultKey], least: float
    ) -> tuple[tuple[Mapping[str, Any], ...], Plan, tuple[Fault, ...]]:
        """The likeliest mend of each fault that is likely enough, as long as each makes fewer faults."""
        operations: tuple[Mapping[str, Any], ...] = ()
        start, current_counts = plan, before
        plan_faults = tuple(item.fault for item in faulty_items)
        for faulty in faulty_items:
            best = self._now(
                plan,
                faulty,
                fault_key(start, faulty.fault),
                plan_faults,
                current_counts,
                anew=plan is not start,
            )
            patched_plan = (
                self._made(plan, best.operations) if best is not None and best.score >= least else None
            )
            if best is None or patched_plan is None:
                continue
            left = faults(patched_plan, self.tools.catalog)
            after = count_faults(patched_plan, left)
            if after - current_counts or after.total() >= current_counts.total():
                continue
            operations, plan, current_counts, plan_faults = (
                (*operations, *best.operations),
                patched_plan,
                after,
                left,
            )
        return operations, plan, plan_faults

    def _now(
        self,
        plan: Plan,
        faulty: FaultSuggestions,
        key: FaultKey,
        plan_faults: tuple[Fault, ...],
        current_counts: Counter[FaultKey],
        *,
        anew: bool,
    ) -> Suggestion | None:
        """The likeliest mend of a fault in a plan of which other faults may be mended by now."""
        if current_counts[key] == 0 or not faulty.looked or self.budget[0] <= 0:
            return None
        self.budget[0] -= len(plan.calls)
        fault = next(candidate for candidate in plan_faults if fault_key(plan, candidate) == key)
        fresh = self.of(FixFinder(plan, self.tools, self.query), fault, current_counts, 1) if anew else []
        suggestions = fresh or faulty.suggestions
        return None if _are_tied(suggestions) else next(iter(suggestions), None)


def rewrite_plan(plan: Plan, operations: tuple[Mapping[str, Any], ...]) -> Plan | None:
    """A plan after operations, in its own notation; None where they do not fit it."""
    try:
        return replace(apply_operations(plan, operations), dialect=plan.dialect)
    except PlanevalError:
        return None
