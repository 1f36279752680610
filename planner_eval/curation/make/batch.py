"""Many plans under way at once: drawn one by one, run together, judged in the order of their drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from random import Random
from typing import Any, TypeAlias

from planner_eval.base.text import format_seconds
from planner_eval.catalogs.check import check_plan
from planner_eval.curation.make.feasibility import Wish
from planner_eval.curation.make.record import Made, wanted_figures
from planner_eval.curation.make.run_calls import (
    TIMEOUT_REASON,
    FilledPlan,
    FillGenerator,
    MakingContext,
    Refusal,
    fill_plan,
)
from planner_eval.curation.make.skeletons import Wishes, draw_skeleton
from planner_eval.curation.make.tools import Node, Offer, ToolGraph, ToolSearch, choose_offered_tools
from planner_eval.curation.make.values import NO_VALUE, draw_literal
from planner_eval.execution.program import sink_calls
from planner_eval.execution.run import execute_many
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.terms import symbolic
from planner_eval.execution.trace import TIMEOUT, Trace
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.plan.structure import depth, shape

MakeStep: TypeAlias = Callable[[Made], Made | Refusal]
"""What is done with a plan that is otherwise made: it may be written, asked about, refused."""

CONCURRENT_PLANS = 64
"""Plans under way at once; the same whatever the machine, for what is made must not depend on it."""

MAX_IDLE_ATTEMPTS = 300
"""Attempts in a row that fill no open wish, after which none is waited for any more."""

CONCURRENT_STATEFUL_PLANS = 8
"""The same where a plan is run from its beginning for each of its calls, so that one too many is dear."""


MAX_TIMEOUTS = 3
"""Attempts in a row that a tool may let run out of time, after which it is called no more."""

TIMED_OUT_REASON = "a tool timed out too often and is not called again"


@dataclass(frozen=True)
class MakeOrder:
    """What is to be made.

    Args:
        graph: The tools and how they join.
        ground: What values come from, and whether plans are run.
        wishes: What is wanted of each plan.
        seed: What chance comes from.
        distinct: One of :data:`.wishes.DISTINCT`.
        offer: Which other tools are offered.
        templates: Calls and references that the plans are to have, in turn; drawn when there are none.
        fill: Things that no plan touches yet; while there are any, each plan is to touch one.
        steps: What is done with each plan at the end.
        wished: How many things the file of `fill` has; None without one.
    """

    graph: ToolGraph
    ground: MakingContext
    wishes: Wishes = field(default_factory=Wishes)
    seed: int = 0
    distinct: str = "skeleton"
    offer: Offer = field(default_factory=Offer)
    templates: Sequence[tuple[Node, ...]] = ()
    fill: Sequence[Wish] = ()
    steps: Sequence[MakeStep] = ()
    wished: int | None = None


@dataclass
class _PlanInProgress:
    number: int
    nodes: tuple[Node, ...] = ()
    growth: FillGenerator | None = None
    asked: list[Plan] = field(default_factory=list)
    outcome: FilledPlan | Refusal | None = None


class PlanMaker:
    """Makes plans, and keeps count of what it makes of what.

    Args:
        order: What is to be made.
        box: Runs plans; None where nothing is run.
        tell: Is told in words of a tool that is called no more.
    """

    def __init__(self, order: MakeOrder, box: Sandbox | None, tell: Callable[[str], object]) -> None:
        self.order, self.box, self._tell = order, box, tell
        self._late: Counter[str] = Counter()
        self._slow: set[int] = set()
        self.known: set[str] = set()
        self.open = list(order.fill)
        self.filled = self.vain = 0
        self._classes = EquivalenceClasses(literals=order.distinct == "values")

    def outcomes(self) -> Iterator[Made | Refusal]:
        """A plan, or why there is none, for each attempt; without end where tools are left to call."""
        number, lane_count = 0, CONCURRENT_STATEFUL_PLANS if self.order.ground.stateful else CONCURRENT_PLANS
        while not self.over:
            lanes = [self._lane(attempt) for attempt in range(number, number + lane_count)]
            number += lane_count
            while waiting := [lane for lane in lanes if lane.outcome is None]:
                self._run(waiting)
            for lane in lanes:
                before = self.filled
                yield self._finished(lane)
                self.vain = self.vain + 1 if self.filled == before else 0
                if self.vain == MAX_IDLE_ATTEMPTS:
                    self.open = []

    @property
    def over(self) -> bool:
        """Whether no plan is left without a tool that is called no more."""
        if self.order.templates and self._slow:
            return all(map(self._is_slow, self.order.templates))
        return bool(self._slow) and len(self._slow) == len(self.order.graph.tools)

    def _is_slow(self, nodes: Sequence[Node]) -> bool:
        return any(node.tool in self._slow for node in nodes)

    # ------------------------------------------------------------ one attempt
    def _lane(self, number: int) -> _PlanInProgress:
        order, random = self.order, Random(f"{self.order.seed}/{number}")
        wish = self.open[number % len(self.open)] if self.open else None
        if order.templates:
            nodes: tuple[Node, ...] | Refusal = order.templates[number % len(order.templates)]
        else:
            nodes = self._draw(wish, random)
        if not isinstance(nodes, Refusal) and self._is_slow(nodes):
            nodes = Refusal(TIMED_OUT_REASON)
        if isinstance(nodes, Refusal):
            return _PlanInProgress(number, outcome=nodes)
        forced = (wish.tools[0], wish.parameter) if wish is not None and wish.kind == "parameters" else None
        lane = _PlanInProgress(number, nodes, fill_plan(nodes, order.ground, random, forced))
        self._send(lane, None)
        return lane

    def _draw(self, wish: Wish | None, random: Random) -> tuple[Node, ...] | Refusal:
        """A skeleton and its tools."""
        wishes, graph = self.order.wishes, self.order.graph
        if wish is not None and wish.shape:
            wishes = replace(wishes, pattern=wish.shape)
        needs = draw_skeleton(wishes, graph.most_in, random)
        if needs is None:
            return Refusal("no skeleton meets the bounds")
        pins = wish.pins(needs, random) if wish is not None else {}
        if pins is None:
            return Refusal("its skeleton cannot cover what is missing")
        search = ToolSearch(needs, graph, self._fillable, random, wishes.scope, pins, self._slow)
        nodes = search.assign()
        if nodes is None:
            return Refusal("no tools fit the skeleton")
        if self.order.distinct == "skeleton":
            plan = build_plan(  # its values are still to come
                Call(
                    f"c{index}",
                    graph.tools[node.tool].name,
                    tuple((link.parameter, Ref(link.producer, link.output)) for link in node.links),
                    graph.tools[node.tool].app,
                )
                for index, node in enumerate(nodes)
            )
            if self._classes.of(plan) in self.known:
                return Refusal("it was made before")
        return nodes

    @cached_property
    def _fillable(self) -> set[tuple[int, str]]:
        """The parameters that can be given a value that no call makes, each behind its tool's place."""
        ground = self.order.ground
        return {
            (index, parameter.name)
            for index, tool in enumerate(ground.tools)
            for parameter in tool.parameters
            if ground.world is not None
            or draw_literal(tool, parameter, Random(0), texts=ground.texts) is not NO_VALUE
        }

    def _send(self, lane: _PlanInProgress, traces: Any) -> None:
        assert lane.growth is not None
        try:
            lane.asked = lane.growth.send(traces)
        except StopIteration as stop:
            lane.outcome = stop.value

    def _run(self, waiting: Sequence[_PlanInProgress]) -> None:
        """Run what is asked for, and answer in order.

        A tool is given up between two answers, whatever was sent ahead by then: what ran ahead with it does
        not count, so that the plans are the same however many run at once.
        """
        assert self.box is not None
        sent: Counter[int] = Counter()

        def plans() -> Iterator[Plan]:
            for lane in waiting:
                for plan in lane.asked:
                    if self._is_slow(lane.nodes):
                        break
                    sent[lane.number] += 1
                    yield plan

        traces = execute_many(plans(), self.box)
        for lane in waiting:
            if self._is_slow(lane.nodes):
                lane.outcome = Refusal(TIMED_OUT_REASON)
                [*islice(traces, 0 if self.over else sent[lane.number])]
            else:
                lane_traces = [*islice(traces, len(lane.asked))]
                self._send(lane, lane_traces)
                self._judge_time(lane, lane_traces, self.box.limits.seconds)

    def _judge_time(self, lane: _PlanInProgress, traces: Sequence[Trace], seconds: float) -> None:
        """Count the attempts in a row that each tool let run out of time."""
        late = isinstance(lane.outcome, Refusal) and lane.outcome.why == TIMEOUT_REASON
        for call in (call for trace in traces for call in trace if late or self._late):
            if call.status == "ok":
                self._late.pop(call.tool, None)
            elif late and call.error is not None and call.error.kind == TIMEOUT:
                self._late[call.tool] += 1
                if self._late[call.tool] == MAX_TIMEOUTS:
                    self._slow.add(self.order.graph.positions[call.tool])
                    took = f"{MAX_TIMEOUTS} of its runs in a row took longer than {format_seconds(seconds)}"
                    self._tell(f"{call.tool} is not called again: {took}; --timeout SECONDS allows more")

    # ------------------------------------------------------------ and its end
    def _finished(self, lane: _PlanInProgress) -> Made | Refusal:
        if not isinstance(lane.outcome, FilledPlan):
            return lane.outcome or Refusal("it produced nothing")
        outcome = self._judged(lane, lane.outcome)
        for step in self.order.steps:
            if isinstance(outcome, Refusal):
                break
            outcome = step(outcome)
        if isinstance(outcome, Refusal):
            return outcome
        # an answer names all ends as they are written, and that order says nothing
        name = self._classes.of(replace(outcome.plan, answer=None))
        if name in self.known:
            return Refusal("it was made before")
        if not self._fills(lane.nodes, outcome.plan):
            return Refusal("it covers nothing new")
        self.known.add(name)
        return outcome

    def _judged(self, lane: _PlanInProgress, result: FilledPlan) -> Made | Refusal:
        order, wishes, values = self.order, self.order.wishes, result.values
        plan = self._answering(result.plan)
        if values:
            calls = zip(plan.calls, values, strict=True)
            plan = replace(
                plan, calls=tuple(replace(call, result=value, has_result=True) for call, value in calls)
            )
        terms = symbolic(plan, answer="last" if wishes.single else "sinks")
        if terms.dead or terms.duplicated:
            return Refusal("the result of a call is unused" if terms.dead else "it makes a call twice")
        doubts = [finding for finding in check_plan(plan, order.graph.catalog) if finding.severity != "info"]
        if doubts:
            return Refusal(f"the catalog rejects it: {doubts[0].code}")
        random, world = Random(f"{order.seed}/{lane.number}/tools"), order.ground.world
        tools = choose_offered_tools(plan, order.graph, order.offer, random)
        notes = {
            "seed": order.seed,
            "attempt": lane.number,
            "shape": shape(plan),
            "wanted": None if order.templates else wanted_figures(wishes),
            "pattern": wishes.pattern,
            "scope": wishes.scope,
            "world": None if world is None else world.definition.name,
        }
        notes = {name: note for name, note in notes.items() if note is not None}
        return Made("", plan, tools, answer=_final_answer(plan, values), notes=notes)

    def _answering(self, plan: Plan) -> Plan:
        """The plan with its answer named, where several calls give it and the catalog does not say so."""
        ends = sink_calls(plan)
        if self.order.graph.catalog.reports_all or len(ends) < 2:
            return plan
        return build_plan(
            plan.calls, tuple((f"answer_{number}", Ref(end)) for number, end in enumerate(ends, 1))
        )

    def _fills(self, nodes: Sequence[Node], plan: Plan) -> bool:
        """Whether a plan has something that is wished for, which is no wish any more then."""
        if not self.open:
            return True
        calls = zip(nodes, plan.calls, strict=True)
        arguments = [(node.tool, name) for node, call in calls for name, _ in call.arguments]
        structure = shape(plan), depth(plan)
        remaining = [wish for wish in self.open if not wish.filled(nodes, arguments, *structure)]
        filled_count = len(self.open) - len(remaining)
        self.filled, self.open = self.filled + filled_count, remaining
        return filled_count > 0


def _final_answer(plan: Plan, values: Sequence[Any]) -> Any:
    """What the plan came to, as whoever runs it again has it: what it names, else the last call's value.

    None where several calls give it and no answer is named, for every result is reported: whoever held the
    last one's value against it would take that call alone for the whole plan.
    """
    if not values:
        return None
    if plan.answer is None:
        return values[-1] if len(sink_calls(plan)) == 1 else None
    named = {name: values[end.call] for name, end in plan.answer if isinstance(end, Ref)}
    return named if len(named) > 1 else next(iter(named.values()))
