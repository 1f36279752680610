"""Plans judged over several seeds of a world: how often each is carried out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.tables import json_array, table_pieces

if TYPE_CHECKING:
    from planner_eval.execution import Options, Trace
    from planner_eval.records.files import PlanFile


@dataclass(slots=True)
class Judged:
    """How often a plan is carried out; ``problems`` counts what its calls failed of."""

    record: str
    seeds: int
    ok: int = 0
    failed_at: int | None = None
    problems: Counter[str] = field(default_factory=Counter)
    error: str | None = None

    def add(self, seed: int, trace: Trace) -> None:
        """Add what became of the plan in the world of a seed."""
        if trace.ok:
            self.ok += 1
            return
        self.failed_at = seed if self.failed_at is None else self.failed_at
        self.problems.update({call.error.kind for call in trace.failed if call.error is not None})
        if trace.ended is not None:
            self.problems.update({trace.ended.kind} - {e.error.kind for e in trace.failed if e.error})

    def row(self) -> dict[str, Any]:
        """The same as a row; ``failed_at`` is the first seed at which it is not carried out."""
        problems = ", ".join(f"{kind} {count}" for kind, count in sorted(self.problems.items()))
        return {
            "record": self.record,
            "ok": self.ok,
            "seeds": self.seeds,
            "failed_at": self.failed_at,
            "problems": problems if self.error is None else f"unreadable: {self.error.splitlines()[0]}",
        }


def judged(
    source: PlanFile,
    spec: str,
    *,
    seeds: int,
    facts: str | None,
    isolation: str | None,
    timeout: float,
    options: Options,
    dialect: str | None,
    initial: Any,
) -> list[Judged]:
    """Run each plan in the worlds of the seeds 0, 1 … and count."""
    judgements = [Judged(record.name, seeds) for record in source.records]
    for seed in range(seeds):
        tools = pe.tool_source(spec, seed=str(seed), facts=facts)
        runs = pe.execute(
            source,
            tools,
            isolation=isolation,
            timeout=timeout,
            options=options,
            dialect=dialect,
            initial=initial,
        )
        for judgement, ran in zip(judgements, runs, strict=True):
            if ran.trace is None:
                judgement.error = ran.error or "no plan"
            else:
                judgement.add(seed, ran.trace)
    return judgements


def told(judgements: list[Judged], form: str) -> Iterator[str]:
    """The rows in a form, in pieces."""
    rows = [j.row() for j in judgements]
    if form in ("json", "jsonl"):
        texts = [json.dumps(row, ensure_ascii=False) for row in rows]
        return json_array(texts) if form == "json" else iter(["\n".join(texts)])
    return table_pieces(rows, form)


def code(judgements: list[Judged]) -> int:
    """The command's exit code: 0 where every plan is carried out at every seed."""
    if all(j.error is not None for j in judgements):
        return 3
    return int(any(j.ok < j.seeds for j in judgements))
