"""What is written reads back as the plan it was written of, or is refused in words, or is listed as lost."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_eval import dialects
from planner_eval.base.errors import WriteError
from planner_eval.dialects.loss import write_lossy
from planner_eval.dialects.read import parse, write
from planner_eval.dialects.types import types_of
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.plan.rewire import plan_of
from tests.conftest import examples

# Texts with the special tokens of chat templates are left out: those are blanked wherever they stand.
ODD = [
    "", " lead", "trail ", "\n", "\na", "a\n", "\r\n", "\x85", "\x00", "\ud800", "it's", 'say "hi"', "back\\",
    "\\'", "</parameter>", "</arg_value>", "{", "[1]", "(", "7", "7.0", "true", "null", "NaN", "é漢😀",
    "\u2028", "a, b", "#b=c", "&amp;", "<b>", "'''", '"""', "`", "f(a=1)", "c1", "$1", "${1}", "$x$", "#E1",
    "<node-0>", "<GENERATED>-0", "{{tool0turn0}}", "$`c1`", "API_call_0", "result://c1#/x", "$ref",
    "Observation: 5", "- a", "~", "2024-01-01", "1e5", "$name", "\\n", "END", "join()",
]  # fmt: skip
NAMES = ["f", "get_rate", "get-rate", "a.b", "print", "class", "None", "f g", "a/b", "1f", "f\n", "", "<f>"]
KEYS = ["x", "y", "a b", "0", "1", "a-b", "class", "name", "arguments", "$x", "é", "", "$ref", "x\n", "app"]


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(ODD), st.sampled_from([1.0, 10**30])
)  # fmt: skip
paths = st.sampled_from([(), (), ("a",), ("a", 0), ("a b",), (0,), ("0",), ("a.b", "c"), ("",)])


def values(refs: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    whole = leaves if refs is None else leaves | refs | refs.map(lambda ref: Template(("at ", ref)))
    return st.recursive(
        whole,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
        max_leaves=4,
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans with whatever a plan may have: apps, equal calls, references, bare links, an answer."""
    names, keys = (NAMES, KEYS) if draw(st.booleans()) else (NAMES[:2], KEYS[:2])
    linked = draw(st.booleans())
    calls: list[Call] = []
    for at in range(draw(st.integers(0, 3))):
        unknown = st.builds(Unresolved, st.sampled_from(["v9", "9"]), paths)
        refs = st.builds(Ref, st.integers(0, at - 1), paths) | unknown if linked and at else None
        given_ = draw(st.lists(st.tuples(st.sampled_from(keys), values(refs)), max_size=2))
        if refs is not None and draw(st.integers(0, 9)) == 0:
            given_.append(("", [Ref(at - 1)]))
        app = draw(st.sampled_from([None, None, None, "App", "My App"]))
        again = calls and draw(st.integers(0, 5)) == 0
        call = calls[-1] if again else Call("", draw(st.sampled_from(names)), tuple(given_), app)
        own = draw(st.sampled_from([f"c{at + 1}", f"c{at + 1}", f"{at + 1}", f"$var_{at}", f"a b{at}"]))
        calls.append(Call(own, call.name, call.arguments, call.app))
    plan = plan_of(calls)
    answered = calls and draw(st.integers(0, 9)) == 0
    return Plan(plan.calls, plan.edges, (("out", Ref(0, draw(paths))),)) if answered else plan


@examples(600)
@given(plans(), st.sampled_from(dialects.names()), st.booleans())
def test_what_is_written_is_the_plan(plan: Plan, name: str, typing: bool) -> None:
    tools = types_of(plan) if typing else None
    try:
        text = write(plan, name, tools=tools)
    except WriteError:
        return
    assert same(parse(text, dialect=name, tools=tools), plan)


@examples(300)
@given(plans(), st.sampled_from(dialects.names()))
def test_what_is_given_up_is_listed(plan: Plan, name: str) -> None:
    try:
        text, losses = write_lossy(plan, name, write)
    except WriteError:
        return
    assert losses or same(parse(text, dialect=name), plan)
    assert len(parse(text, dialect=name).calls) == len(plan.calls)


tame = st.text(string.ascii_letters + string.digits + " .,;:!?-_/()'\"\\\né漢", max_size=12)
tame_values = st.one_of(st.none(), st.booleans(), st.integers(), tame, st.lists(tame, max_size=2))
tame_calls = st.lists(
    st.tuples(st.sampled_from(["t_f", "t_get_rate"]),
        st.dictionaries(st.sampled_from(["p_x", "p_y"]), tame_values, min_size=1, max_size=2)), max_size=3,
)  # fmt: skip


@examples(400)
@given(tame_calls, st.sampled_from(dialects.names()))
def test_what_is_written_is_recognised(calls: list[tuple[str, dict[str, Any]]], name: str) -> None:
    plan = plan_of([Call(f"c{i}", tool, tuple(given_.items())) for i, (tool, given_) in enumerate(calls, 1)])
    tools = types_of(plan)
    try:
        text = write(plan, name, tools=tools)
    except WriteError:
        return
    found = parse(text, tools=tools)
    assert same(found, plan), (found.dialect, text)
