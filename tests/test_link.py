"""Linking: which call a reference means, and what is said when it is doubtful."""

from __future__ import annotations

import pytest

from planner_eval.base.errors import LimitError
from planner_eval.plan.link import link
from planner_eval.plan.model import (
    Edge,
    Plan,
    RawCall,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Template,
    Unresolved,
    references,
)


def call(name: str, *binds: str, label: str | None = None, **arguments: object) -> RawCall:
    names = tuple((b, (b,)) for b in binds) + (((label, ()),) if label else ())
    return RawCall(name, tuple(arguments.items()), label=label, binds=names)


def linked(*calls: RawCall) -> Plan:
    return link(RawPlan(calls))


def codes(plan: Plan) -> list[str]:
    return [d.code for d in plan.diagnostics]


def test_a_name_means_the_nearest_earlier_producer_and_says_when_there_are_several() -> None:
    plan = linked(call("f", "city"), call("g", "city"), call("h", a=RawRef("city")))
    assert plan.edges == (Edge(1, 2, "a", (), ("city",)),)
    assert codes(plan) == ["reference.ambiguous"]
    assert "calls 1, 2" in plan.diagnostics[0].message


def test_a_label_twice_is_said_once_and_means_the_nearest() -> None:
    plan = linked(call("f", label="v"), call("g", label="v"), call("h", label="w", a=RawRef("v")))
    assert [c.id for c in plan.calls] == ["v", "v_2", "w"]
    assert plan.calls[2].arguments == (("a", Ref(1)),)
    assert codes(plan) == ["label.duplicate"]
    plan = linked(call("f", label="v"), call("g", label="v"), call("h", label="v_2"))  # a label is kept
    assert len({c.id for c in plan.calls}) == 3
    assert plan.calls[2].id == "v_2"


def test_forward_references_keep_their_edge_and_circles_are_named() -> None:
    forward = linked(call("f", a=RawRef("x")), call("g", "x"))
    assert forward.edges[0].producer == 1
    assert codes(forward) == ["reference.forward"]
    circle = linked(call("f", "y", a=RawRef("x")), call("g", "x", b=RawRef("y")))
    assert codes(circle) == ["reference.forward", "plan.cycle"]


def test_a_self_reference_is_said_only_when_nobody_else_returns_the_name() -> None:
    assert codes(linked(call("f", "x", a=RawRef("x")))) == ["reference.self"]
    assert codes(linked(call("f", "x", a=RawRef("x")), call("g", "x"))) == ["reference.forward"]
    assert codes(linked(call("g", "x"), call("f", "x", a=RawRef("x")))) == []


def test_unresolved_references_stay_in_the_plan() -> None:
    plan = linked(call("f", a=RawRef("nobody", ("k",))))
    assert plan.calls[0].arguments == (("a", Unresolved("nobody", ("k",))),)
    assert plan.edges == ()
    assert plan.diagnostics[0].code == "reference.unresolved"
    assert (plan.diagnostics[0].call, plan.diagnostics[0].argument) == (0, "a")


def test_references_inside_lists_objects_and_text() -> None:
    inner = {"k": [1, RawRef("v", ("p",)), RawTemplate(("from ", RawRef("v")))]}
    plan = linked(call("f", label="v"), call("g", a=inner))
    assert [(e.at, e.path) for e in plan.edges] == [(("k", 1), ("p",)), (("k", 2, 1), ())]
    assert plan.calls[1].arguments[0][1]["k"][2] == Template(("from ", Ref(0)))
    assert [at for at, _ in references(plan.calls[1].arguments[0][1])] == [e.at for e in plan.edges]
    plan = linked(RawCall("f", (("a", 1), ("a", 2))))
    assert plan.calls[0].arguments == (("a", 1), ("a", 2))
    assert codes(plan) == ["argument.duplicate"]
    value: object = 1
    for _ in range(50):
        value = [value]
    with pytest.raises(LimitError, match="deeper than 20"):
        link(RawPlan((RawCall("f", (("a", value),)),)), depth=20)


def test_the_answers_references_are_resolved_and_make_no_edges() -> None:
    plan = link(RawPlan((call("f", label="v"),), (("r", RawRef("v")), ("s", RawRef("w")))))
    assert plan.answer == (("r", Ref(0)), ("s", Unresolved("w")))
    assert plan.edges == ()
    assert codes(plan) == ["reference.unresolved"]


def test_the_graph_has_one_edge_for_each_argument_and_path() -> None:
    plan = linked(call("f", "x", "y"), call("g", a=RawRef("x"), b=RawRef("y")))
    graph = plan.graph
    assert graph.number_of_nodes() == 2
    assert sorted(graph.edges(keys=True)) == [(0, 1, ("a", ())), (0, 1, ("b", ()))]
    assert graph.nodes[0]["name"] == "f"


def test_a_call_without_a_label_gives_way_to_a_name_that_no_call_returns() -> None:
    plan = linked(call("f"), call("g", a=RawRef("c1")), call("h", a=RawRef("c2_2"), b=RawRef("c2")))
    assert [c.id for c in plan.calls] == ["c1_2", "c2_3", "c3"]
    assert plan.calls[1].arguments == (("a", Unresolved("c1")),)
