"""Plans run with tools as a job: a row a plan, how they ended, and how often over several seeds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.counts import Counts
from planner_eval.base.formats import View, shows
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.tables import Rows, json_array
from planner_eval.base.text import JsonObject, format_count, one_line
from planner_eval.execution.run import execute, tool_source
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.results.runs.model import JSON, Reiterable

if TYPE_CHECKING:
    from planner_eval.execution.program import Options
    from planner_eval.execution.run import RecordRun
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.execution.trace import Trace
    from planner_eval.reading.files.context import StateSource
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.results.runs.model import Pair


# ----------------------------------------------------------------------
# Plans run with tools as a job: a row a plan, and how they ended.
ROWS_FORM = "rows"
"""The form of a run's own rows."""


class RunCounts(Counts):
    """How plans ended.

    ``printed`` says whether a tool printed something, ``stated`` whether nothing is to be said of a state,
    ``interrupted`` whether these are not all.
    """

    plans: Counter[str]
    calls: Counter[str]
    problems: Counter[str]
    printed: bool
    stated: bool
    interrupted = False

    def add(self, trace: Trace | None) -> None:
        """Add a plan that was run, or that cannot be read."""
        if trace is None:
            self.plans["unreadable"] += 1
            self.stated = True
            return
        self.plans["ok" if trace.ok else "failed"] += 1
        self.calls.update(call.status for call in trace.calls)
        self.problems.update(call.error.kind for call in trace.failed if call.error is not None)
        self.printed = self.printed or any(call.printed for call in trace.calls)
        self.stated = self.stated or bool(trace.ended) or trace.state is not None

    @property
    def ran(self) -> int:
        """How many plans were run."""
        return self.plans["ok"] + self.plans["failed"]

    @property
    def code(self) -> int:
        """The command's exit code."""
        return 3 if not self.ran else int(self.plans["ok"] < self.plans.total())

    @property
    def report(self) -> dict[str, Any]:
        """What a run's folder says of all plans."""
        return {
            "plans": self.plans.total(),
            **{state: self.plans[state] for state in ("ok", "failed", "unreadable")},
            "calls": {state: self.calls[state] for state in ("ok", "failed", "skipped")},
            "problems": dict(sorted(self.problems.items(), key=lambda item: (-item[1], item[0]))),
        }

    @property
    def said(self) -> str:
        """The same in one line.

        >>> runs = RunCounts({"plans": {"ok": 2, "unreadable": 1}, "calls": {"ok": 5}})
        >>> runs.said
        '3 plans: 2 ok, 0 failed, 1 unreadable; 5 calls: 5 ok, 0 failed, 0 skipped'
        """
        plans, calls = self.report, self.report["calls"]
        ends = ", ".join(f"{plans[state]:,} {state}" for state in ("ok", "failed", "unreadable"))
        counts = ", ".join(f"{count:,} {state}" for state, count in calls.items())
        return (
            f"{format_count(plans['plans'], 'plan')}: {ends}; "
            f"{format_count(sum(calls.values()), 'call')}: {counts}"
        )


class ExecuteSettings(NamedTuple):
    """How plans are run.

    Args:
        tools: The tools.
        isolation: Where they run; None for where they want to.
        timeout: Seconds for a plan.
        options: How calls are made.
        allow_read: What tools may read.
        dialect: The notation of the plans; recognised when left out.
        states: The states that they begin in.
    """

    tools: ToolSource
    isolation: str | None
    timeout: float
    options: Options
    allow_read: tuple[str, ...]
    dialect: str | None
    states: StateSource

    def run(self, plans: PlanFile, record: str | None = None) -> Iterator[RecordRun]:
        """Run plans; `record` is a file whose outputs are replayed, and that keeps the others."""
        runs: Iterator[RecordRun] = execute(
            plans, self.tools, isolation=self.isolation, timeout=self.timeout, options=self.options,
            allow_read=self.allow_read, record=record, dialect=self.dialect, initial=self.states,
        )  # fmt: skip
        return runs


@fast_frozen
class ExecuteJob:
    """How plans are run, and told.

    Args:
        how: How they are run.
        form: How they are told: a format, or :data:`ROWS_FORM`.
        trace: Tell each call.
        said: All that decides what the rows are, as JSON data.
    """

    kind = "execute"

    how: ExecuteSettings
    form: str
    trace: bool
    said: Mapping[str, Any]

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.said}

    def columns(self) -> dict[str, Any]:
        """The types of a row's keys, see :func:`planner_eval.results.runs.stored.write_rows`."""
        texts = dict.fromkeys(("calls", "ended", "answer", "state", "turns", "layers"), JSON)
        return {
            "record": str,
            "ok": bool,
            "isolation": str,
            "seconds": float,
            **texts,
            "error": str,
            "where": str,
        }

    def fold(self, data: Any = None) -> RunCounts:
        """Sums over no plans, or those that were kept as data."""
        return RunCounts(data)

    def rows(self, pairs: Iterable[Pair], fold: RunCounts) -> Iterator[str]:
        """A line a plan, which is run when the one before is done: only so it is known which one hangs.

        Args:
            pairs: The records.
            fold: The sums.
        """
        how = self.how
        limits = Limits(seconds=how.timeout, read=how.allow_read)
        threads = True if how.options.concurrency > 1 else None
        with Sandbox(how.tools, level=how.isolation, limits=limits, threads=threads, jobs=1) as box:
            for record, _ in pairs:
                assert record is not None
                ran = execute([record], box, options=how.options, dialect=how.dialect, initial=how.states)
                yield self.line(next(ran), fold)

    def line(self, ran: RecordRun, fold: RunCounts) -> str:
        """What is told of a plan, as a line of JSON; adds it to the sums."""
        fold.add(ran.trace)
        record, trace = ran.record, ran.trace
        if self.form == ROWS_FORM:
            where = {} if ran.error is None else {"where": record.where}
            return json.dumps({**_data(ran), **where}, ensure_ascii=False, allow_nan=False)
        message = None if ran.error is None else f"{record.where}: {ran.error}"
        if shows(self.form, "data", "records"):
            indent = 1 if shows(self.form, "data") else None
            run = _data(ran)
            for call in run.get("calls", ()) if not self.trace else ():
                call.pop("arguments", None)  # a recording needs them, the reader did not ask
            return json.dumps([message, json.dumps(run, ensure_ascii=False, indent=indent, allow_nan=False)])
        states = []
        if trace is not None and shows(self.form, "plain"):
            states = [f"state after turn {turn}: {_value_text(state, 1000)}" for turn, state in trace.turns]
            states += [f"state: {_value_text(trace.state, 1000)}"] * (trace.state is not None)
        rows = [{"record": record.name, **row} for row in _rows(ran, in_full=self.trace)]
        return json.dumps([message, rows, [(record.name, state) for state in states]])


def unread_lines(lines: Iterable[str], form: str) -> Iterator[str]:
    """What is said of the plans that could not be read."""
    for line in lines:
        data = json.loads(line)
        if form != ROWS_FORM:
            if data[0] is not None:
                yield data[0]
        elif "where" in data:
            yield f"{data['where']}: {data['error']}"


def runs_view(lines: Iterable[str], runs: RunCounts, *, many: bool, trace: bool) -> View:
    """What all plans show.

    Args:
        lines: The lines of an :class:`ExecuteJob`, which can be gone through again.
        runs: The sums over them.
        many: Whether the input may hold several plans.
        trace: Tell each call.
    """
    texts = (json.loads(line)[1] for line in lines)
    left_out = {*([] if trace else ["arguments", "ms"]), *["record"] * (not many)}
    left_out.update(["printed"] * (not (trace and runs.printed)))
    rows = Reiterable(
        lambda: (
            {key: value for key, value in row.items() if key not in left_out}
            for line in lines
            for row in json.loads(line)[1]
        )
    )
    named = (pair for line in lines for pair in json.loads(line)[2])
    states = (f"\n{one_line(name, 100) + ': ' if many else ''}{state}" for name, state in named)
    return View(
        document=lambda style: chain(style.pieces(rows), states),
        data=lambda: json_array(texts) if many else texts,
        records=lambda: texts,
        table=lambda: rows,
    )


# ---------------------------------------------------------------- one plan
def _data(ran: RecordRun) -> JsonObject:
    outcome = {"ok": False, "error": ran.error} if ran.trace is None else ran.trace.to_dict()
    return {"record": ran.record.name, **outcome}


def _rows(ran: RecordRun, *, in_full: bool) -> Rows:
    """A row a call; or what a plan came to: its answer or its last value, and the calls that failed."""
    trace = ran.trace
    if trace is None:
        return [_row("–", "–", "unreadable", (ran.error or "").split("\n")[0])]
    if in_full:
        rows = [
            _row(
                call.id,
                call.tool,
                call.status,
                _value_text(call.value) if call.error is None else str(call.error),
                arguments=", ".join(
                    f"{name}={_value_text(value, 30)}" for name, value in call.arguments or ()
                ),
                ms=round(1000 * call.seconds, 3),
                printed=one_line(call.printed.rstrip("\n"), 100) or None,
            )
            for call in trace.calls
        ]
    else:
        rows = [_row(call.id, call.tool, "failed", str(call.error)) for call in trace.failed]
        if trace.answer is not None:
            rows += [_row(name, "(answer)", "ok", _value_text(value)) for name, value in trace.answer]
        elif trace.calls and trace.calls[-1].status == "ok":
            last = trace.calls[-1]
            rows.append(_row(last.id, last.tool, last.status, _value_text(last.value)))
    if trace.ended is not None and all(call.error != trace.ended for call in trace.calls):
        rows.append(_row("–", "–", "failed", str(trace.ended)))
    return rows or ([] if in_full else [_row("–", "–", "ok", "no calls")])


def _row(
    call: str,
    tool: str,
    status: str,
    value: str,
    *,
    arguments: str = "–",
    ms: float | None = None,
    printed: str | None = None,
) -> dict[str, Any]:
    head = {"call": call, "tool": tool, "arguments": arguments}
    return {**head, "status": status, "value": value, "ms": ms, "printed": printed}


def _value_text(value: Any, width: int = 60) -> str:
    from planner_eval.execution.sandbox.wire import bounded_text

    return one_line(bounded_text(value, 4 * width), width)


# ----------------------------------------------------------------------
# Plans judged over several seeds of a world: how often each is carried out.
@dataclass(slots=True)
class SeedCounts:
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


def judge_seeds(
    plans: PlanFile, spec: str, seeds: int, facts: str | None, how: ExecuteSettings
) -> list[SeedCounts]:
    """Run each plan in the worlds of the seeds 0, 1 … and count."""
    judgements = [SeedCounts(record.name, seeds) for record in plans.records]
    for seed in range(seeds):
        tools = tool_source(spec, seed=str(seed), facts=facts)
        for judgement, ran in zip(judgements, how._replace(tools=tools).run(plans), strict=True):
            if ran.trace is None:
                judgement.error = ran.error or "no plan"
            else:
                judgement.add(seed, ran.trace)
    return judgements


def exit_code(judgements: Sequence[SeedCounts]) -> int:
    """The command's exit code: 0 where every plan is carried out at every seed."""
    if all(j.error is not None for j in judgements):
        return 3
    return int(any(j.ok < j.seeds for j in judgements))
