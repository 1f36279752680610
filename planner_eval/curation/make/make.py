"""New gold plans of wanted structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from planner_eval.base.errors import (
    COUNT,
    FLAG,
    FUNCTION,
    LIST,
    NAME,
    POSITIVE_COUNT,
    SECONDS,
    InputError,
    expect,
    expect_or_none,
)
from planner_eval.base.text import did_you_mean, format_count, shorten
from planner_eval.catalogs.catalog import Catalog
from planner_eval.curation.make.batch import MakeOrder, MakeStep, PlanMaker
from planner_eval.curation.make.feasibility import (
    find_unfillable_tools,
    parse_wishes,
    refuse_impossible,
    refuse_unsayable,
)
from planner_eval.curation.make.record import Card, Made, figures_of
from planner_eval.curation.make.run_calls import TIMEOUT_REASON, MakingContext, Refusal
from planner_eval.curation.make.skeletons import DISTINCTIONS, JOINS, LAYOUTS, apply_preset
from planner_eval.curation.make.sources import (
    Material,
    keep_runnable_tools,
    limit_to_layout,
    material_of,
    read_wishes,
    templates,
    wishes_from_options,
)
from planner_eval.curation.make.tools import OFFER_KINDS, Offer, ToolGraph
from planner_eval.curation.make.writing import Record, make_layout_step, records, writes_texts
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.plan.structure import shape

Progress = Callable[[int, int], object]

MAX_TRIES = 1_000
"""Attempts in a row that may bring nothing new."""

MAX_PLANS = 1_000_000
"""Plans that are made at most."""


@dataclass(frozen=True)
class MadePlans:
    """Plans that were made.

    Args:
        made: The plans, in the order in which they were made.
        card: Their structure beside what was wanted.
        catalog: The tools that they are made of.
        form: The layout that they are written in.
        seed: What chance came from.
        said: Why there are fewer than were wanted; "" where there are not.
        notes: What may not be what was meant, in words.
    """

    made: tuple[Made, ...]
    card: Card
    catalog: Catalog
    form: str
    seed: int
    said: str
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.made)

    def records(self) -> list[Record]:
        """The records of a file, as the layout has them."""
        return records(self.form, self.made, self.catalog, self.seed)


def make(  # noqa: PLR0913 - the options of a public function
    n: int = 10,
    *,
    catalog: Any = None,
    tools: Any = None,
    preset: str | None = None,
    like: Any = None,
    fill: Any = None,
    calls: Any = None,
    depth: Any = None,
    width: Any = None,
    components: Any = None,
    reuse: Any = None,
    pattern: str | None = None,
    scope: str | None = None,
    single: bool | None = None,
    join: str | None = None,
    distinct: str | None = None,
    distractors: int | None = None,
    offer: str | None = None,
    seed: int = 0,
    isolation: str | None = None,
    timeout: float = 10.0,
    steps: Sequence[MakeStep] = (),
    tries: int = MAX_TRIES,
    progress: Progress | None = None,
    tell: Callable[[str], object] | None = None,
    to: str | None = None,
) -> MadePlans:
    """Make gold plans of wanted structure, run them, and keep those that are worth asking for.

    Args:
        n: How many.
        catalog: The tools that there are, as :func:`planner_eval.read_catalog` takes them; those of `tools`
            when left out.
        tools: What runs the plans, as :func:`planner_eval.tool_source` takes it; when left out they are not
            run, but for those of a world.
        preset: ``"nestful"``, ``"appbench:ss"`` …: what a published benchmark wanted, where nothing is said.
        like: Plans whose calls and references are to be had with other values: a set as
            :func:`planner_eval.coverage` takes it.
        fill: What no plan touches yet, as :meth:`Coverage.to_make` gives it, or its file: while there is any
            left, each plan touches one more.
        calls: How many calls: a number, or a range as ``"2..4"``.
        depth: How many generations.
        width: How many calls in the largest generation.
        components: How many pieces that nothing joins.
        reuse: How often outputs are used again, beyond the first use of each.
        pattern: ``"chain"``, ``"fan-out"``, ``"fan-in"``, ``"diamond"``, ``"independent"``, or a shape as
            :func:`planner_eval.stats` writes it.
        scope: AppBench's ``"ss"``, ``"sm"``, ``"ms"``, ``"mm"``.
        single: One call alone gives the answer.
        join: What makes an output one that a parameter takes: ``"name"`` (and type), ``"type"``, or by name
            where it says something (``"auto"``).
        distinct: No two plans have the same ``"skeleton"`` (calls and references), or the same in all
            ``"values"`` too.
        distractors: How many tools are offered beside those that a plan needs.
        offer: Which: those that are ``"close"`` to them, or any at ``"random"``.
        seed: What chance comes from; the same seed makes the same plans.
        isolation: As for :func:`planner_eval.execute`.
        timeout: Seconds for one run of a plan. A tool that takes longer three attempts in a row is called no
            more.
        steps: What is done with each plan at the end, in order: each takes a record and gives one, or says
            why there is none.
        tries: End after so many attempts in a row that bring nothing new.
        progress: Is told after each attempt how many are made, and of how many.
        tell: Is told at once, in words, of what the notes say at the end: a tool that is called no more.
        to: The layout of records, one of ``planner_eval.curation.make.skeletons.LAYOUTS``.

    Raises:
        InputError: the wishes contradict one another, or the tools can meet no such; says which bound cannot
            be met and the most that can be.
        CatalogError: the catalog cannot be read.
        ExecutionError: the tools cannot be loaded.

    >>> found = make(3, tools="nestful", calls=3, depth=2, single=True, seed=1)
    >>> len(found), found.card.figures[1].most, found.said
    (3, 2, '')
    """
    expect(POSITIVE_COUNT, n=n, tries=tries)
    expect(COUNT, seed=seed)
    expect_or_none(COUNT, distractors=distractors)
    expect_or_none(FLAG, single=single)
    expect_or_none(NAME, preset=preset, pattern=pattern, scope=scope)
    expect(SECONDS, timeout=timeout)
    expect(LIST, steps=steps)
    for step in steps:
        expect(FUNCTION, step=step)
    expect_or_none(FUNCTION, progress=progress, tell=tell)
    if n > MAX_PLANS:
        raise InputError(f"n is {n}, at most {MAX_PLANS:,} plans are made at once")
    options = {
        "catalog": catalog, "tools": tools, "like": like, "calls": calls, "depth": depth, "width": width,
        "components": components, "reuse": reuse, "pattern": pattern, "scope": scope, "single": single,
        "distinct": distinct, "distractors": distractors, "to": to, "join": join, "offer": offer,
    }  # fmt: skip
    if preset is not None:
        options = apply_preset(preset, options)
    form = _expect_one_of(options.get("to") or "planeval", LAYOUTS, "layout")
    material = material_of(options.get("catalog"), options.get("tools"))
    notes: list[str] = []
    if options.get("catalog") is not None and options.get("tools") is not None:
        material = keep_runnable_tools(material, _tools_name(options["tools"]), isolation, timeout, notes)
    graph = ToolGraph(material.catalog, _expect_one_of(options.get("join") or "auto", JOINS, "way to join"))
    wishes = wishes_from_options(options, graph)
    runs = material.source is not None
    notes += _describe_losses(form, runs=runs)
    if options.get("like") is None:
        refuse_unsayable(form, wishes, graph, runs=runs)
        refuse_impossible(wishes, graph)
        wishes = limit_to_layout(form, options, wishes, graph)
    texts = writes_texts(material.catalog, form)
    offer = _expect_one_of(options.get("offer") or "close", OFFER_KINDS, "way to choose tools")
    order = MakeOrder(
        graph,
        MakingContext(graph.tools, texts, runs, material.stateful, material.world),
        wishes,
        seed,
        _expect_one_of(options.get("distinct") or "skeleton", DISTINCTIONS, "way to differ"),
        Offer(options.get("distractors") or 0, offer),
        steps=(make_layout_step(form), *steps),
    )
    if material.world is None:
        notes += _describe_unfit_tools(graph, material.catalog)
    if options.get("like") is not None:
        order = replace(order, templates=templates(options["like"], graph, form, notes), distinct="values")
    if fill is not None:
        order = _add_file_wishes(order, fill, notes)

    def note(message: str) -> None:
        notes.append(message)
        if tell is not None:
            tell(message)

    plans, refused, making = _make_plans(order, material, n, tries, (isolation, timeout), progress, note)
    card = _card(n, plans, refused, order, making)
    shortfall = _describe_shortfall(card, tries, over=making.over)
    return MadePlans(tuple(plans), card, material.catalog, form, seed, shortfall, tuple(notes))


def _describe_losses(form: str, *, runs: bool) -> Iterator[str]:
    """What records of a layout lack."""
    if form == "complexfuncbench":
        yield "records of complexfuncbench have no references: each is written as its value"
    if form == "nestful" and not runs:
        yield "records of nestful have no gold answer here, because plans are not run: add --tools"


def _tools_name(tools: Any) -> str:
    """What tools are called in messages."""
    return shorten(tools, 400) if isinstance(tools, str) else getattr(tools, "name", "what runs the plans")


def _add_file_wishes(order: MakeOrder, fill: Any, notes: list[str]) -> MakeOrder:
    """What is to be made, with the wishes of a file; what cannot be made is noted."""
    graph = order.graph
    wishes, unknown_count = parse_wishes(read_wishes(fill), graph)
    reachable = [
        wish
        for wish in wishes
        if len(wish.tools) < 2 or any(map(wish.is_joined_by, graph.between(*wish.tools)))
    ]
    unjoined_count = len(wishes) - len(reachable)
    for count, why in (
        (unknown_count, f"name tools that {graph.catalog.name} does not have"),
        (unjoined_count, "join tools that cannot be connected"),
    ):
        notes += [f"{format_count(count, 'wish')} {why}"] if count else []
    return replace(order, fill=reachable, wished=len(wishes))


def _describe_unfit_tools(graph: ToolGraph, catalog: Catalog) -> list[str]:
    """What is said of tools that cannot be called.

    Raises:
        InputError: there are no others.
    """
    unfit = find_unfillable_tools(graph, catalog.text_values)
    if unfit and len({reason.partition(" ")[0] for reason in unfit}) == len(graph.tools):
        raise InputError(f"{catalog.name}: no tool can be called: {'; '.join(unfit[:3])}")
    more = [f"{format_count(len(unfit) - 3, 'parameter')} more without a value"] if len(unfit) > 3 else []
    return [*unfit[:3], *more]


def _expect_one_of(value: Any, names: Any, what: str) -> str:
    if not isinstance(value, str) or value not in names:
        raise InputError(
            f"there is no {what} {shorten(repr(value), 40)}; "
            + did_you_mean(str(value), names, ", ".join(names))
        )
    return str(value)


def _make_plans(
    order: MakeOrder,
    material: Material,
    n: int,
    tries: int,
    how: tuple[str | None, float],
    progress: Progress | None,
    tell: Callable[[str], object],
) -> tuple[list[Made], Counter[str], PlanMaker]:  # fmt: skip
    plans: list[Made] = []
    isolation, timeout = how
    refused: Counter[str] = Counter()
    idle = 0
    box = (
        nullcontext(None)
        if material.source is None
        else Sandbox(material.source, level=isolation or material.level, limits=Limits(seconds=timeout))
    )
    with box as sandbox:
        making = PlanMaker(order, sandbox, tell)
        for outcome in making.outcomes():
            if isinstance(outcome, Refusal):
                refused[outcome.why] += 1
                idle += 1
            else:
                idle = 0
                plans.append(replace(outcome, id=f"made-{len(plans) + 1}"))
            if progress is not None:
                progress(len(plans), n)
            if len(plans) == n or idle == tries:
                break
    return plans, refused, making


def _card(n: int, plans: Sequence[Made], refused: Counter[str], order: MakeOrder, making: PlanMaker) -> Card:
    graph = order.graph
    called = {call.tool for record in plans for call in record.plan.calls}
    joined = {
        (record.plan.calls[edge.producer].tool, record.plan.calls[edge.consumer].tool)
        for record in plans
        for edge in record.plan.edges
    }
    return Card(
        n,
        len(plans),
        figures_of(plans, order.wishes, given=bool(order.templates)),
        (len(called), len(graph.tools)),
        (len(joined), max(len(joined), sum(map(len, graph.consumers)))),
        len({shape(record.plan) for record in plans}),
        len(plans) + refused.total(),
        dict(sorted(refused.items(), key=lambda item: (-item[1], item[0]))),
        None if order.wished is None else (making.filled, order.wished),
        order.ground.runs,
    )


def _describe_shortfall(card: Card, tries: int, *, over: bool) -> str:
    """Why there are fewer than were wanted; "" where there are not."""
    if card.made == card.wanted:
        return ""
    most = [why for why, _ in Counter(card.refused).most_common(3)]
    if TIMEOUT_REASON in card.refused and TIMEOUT_REASON not in most:
        most.append(TIMEOUT_REASON)  # what takes the time is said however seldom it is
    why = ", ".join(f"{reason} ({card.refused[reason]:,})" for reason in most)
    end = f"{format_count(tries, 'attempt')} in a row produced nothing new"
    return f"{card.made:,} of {card.wanted:,} made: {'no tool is left to call' if over else end}: {why}"
