"""Symbolic execution, plans compared by their effects, repeated runs."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.values import Rule
from planner_eval.execution.effects import compare_effects
from planner_eval.execution.run import execute_many
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.terms import same_meaning, symbolic
from planner_eval.execution.tool_loading import execute_file
from planner_eval.execution.tool_sources import tool_source
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.results.trials import pass_estimates, pass_hat_k
from tests.conftest import tabled, tables, text_case

TABLES = tables(__file__)


def plan(*calls: tuple[Any, ...], answer: Any = None) -> Plan:
    made = tuple(Call(f"c{i}", name, tuple(given.items())) for i, (name, given) in enumerate(calls))
    return Plan(made, answer=answer)


USD, JPY = ("rate", {"to": "USD"}), ("rate", {"to": "JPY"})


def ratio(first: int, second: int) -> tuple[str, dict[str, Any]]:
    return ("ratio", {"first": Ref(first, ("rate",)), "second": Ref(second, ("rate",))})


RATES = (USD, JPY, ratio(0, 1))


def test_dead_and_duplicated_work_is_found() -> None:
    calls = (*RATES, ("rate", {"to": "USD"}), ("round", {"x": Ref(3), "digits": [1, {"deep": 2}]}))
    sinks = symbolic(plan(*calls))
    assert sinks.final == (2, 4)
    assert sinks.dead == ()
    assert sinks.duplicated == ((0, 3),)
    last = symbolic(plan(*calls), answer="last")
    assert last.final == (4,)
    assert last.dead == (0, 1, 2)
    answered = symbolic(plan(*calls, answer=(("out", Ref(0, ("rate",))),)))
    assert answered.final == (0,)
    assert answered.dead == (1, 2, 3, 4)


def test_templates_unresolved_references_and_circles_have_terms_too() -> None:
    template, lost = (
        {"x": Template(("to ", Ref(1), "!"))},
        {"x": Unresolved("lost"), "y": {"k": [True, None]}},
    )
    found = symbolic(plan(("f", template), ("g", lost), ("h", {"x": Ref(3)}), ("h", {"x": Ref(2)})))
    assert found.terms[0] == "f(x='to {g(x=?lost, y={'k': [True, None]})}!')"
    assert found.terms[2:] == ("h(x=h(x=⟲))", "h(x=⟲)")
    assert found.keys[2] == found.keys[3] == ""
    circle = plan(("h", {"x": Ref(0)}))
    assert same_meaning(circle, circle)
    assert not same_meaning(circle, plan(("k", {"x": Ref(0)})))


TWICE = (("f", {}), ("f", {}), ("g", {"x": Ref(0), "y": Ref(1)}))


PAY, BOOK, CANCEL, LOOK = ("pay", {"sum": 5}), ("book", {"seat": 1}), ("cancel", {"seat": 1}), ("seats", {})


@pytest.mark.parametrize(("pred", "gold", "acts", "same"), [
    *TABLES["equal_meanings"],
    (RATES, (JPY, USD, ratio(1, 0)), (), True),
    (RATES, (JPY, USD, ratio(0, 1)), (), False),
    (RATES, (USD, JPY, ratio(1, 0)), (), False),
    ((("f", {}), ("g", {"x": Ref(0), "y": Ref(0)})), TWICE, (), True),
])  # fmt: skip
def test_equal_meanings(pred: Any, gold: Any, acts: Any, same: bool) -> None:
    assert same_meaning(plan(*pred), plan(*gold), acts=acts) is same


def test_what_is_declared_independent_may_change_places() -> None:
    mail = ("mail", {"to": "ann"})
    one, other = plan(BOOK, mail, CANCEL, LOOK), plan(mail, BOOK, CANCEL, LOOK)
    acts = ("book", "cancel", "mail")
    apart = [("mail", "book"), ("mail", "cancel"), ("mail", "seats")]
    assert not same_meaning(one, other, acts=acts)
    assert same_meaning(one, other, acts=acts, independent=apart)
    assert not same_meaning(one, plan(CANCEL, mail, BOOK, LOOK), acts=acts, independent=apart)
    last = ("seats", {"of": 2})
    one, other = plan(BOOK, CANCEL, LOOK, last), plan(CANCEL, BOOK, last, LOOK)
    assert same_meaning(one, other, acts=acts, independent=[("book", "cancel")])
    assert not same_meaning(one, plan(CANCEL, LOOK, BOOK, last), acts=acts, independent=[("book", "cancel")])
    elsewhere = [Call("c1", "look", app="Weather"), Call("c2", "pay", app="Bank")]
    assert same_meaning(Plan(tuple(elsewhere)), Plan(tuple(reversed(elsewhere))), acts=["pay"])


def test_a_named_answer_counts_where_calls_act() -> None:
    calls = (LOOK, ("price", {}), BOOK)
    first, second = (plan(*calls, answer=(("out", Ref(at)),)) for at in (0, 1))
    assert same_meaning(first, first, acts=["book"])
    assert not same_meaning(first, second, acts=["book"])
    assert not same_meaning(first, plan(*calls[:2], answer=(("out", Ref(0)),)), acts=["book"])
    assert symbolic(plan(PAY, ("get", {})), answer="last", acts=["pay"]).dead == ()


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    calls: list[tuple[Any, ...]] = []
    for at in range(draw(st.integers(1, 6))):
        leaf: Any = st.integers(1, 3) | (st.builds(Ref, st.integers(0, at - 1)) if at else st.just(4))
        arguments = draw(st.fixed_dictionaries({"arg_0": leaf, "arg_1": leaf}))
        calls.append((draw(st.sampled_from(["add", "multiply", "subtract"])), arguments))
    return plan(*calls)


@given(plans(), plans())
def test_equal_meanings_have_equal_results(pred: Plan, gold: Plan) -> None:
    if same_meaning(pred, gold) and len(pred) == len(gold):
        assert compare_effects(pred, gold, "nestful", isolation="inline").results_same
    if pe.same(pred, gold):
        assert same_meaning(pred, gold)


def numbers(*calls: tuple[Any, ...], answer: Any = None) -> Plan:
    made = [(name, {f"arg_{i}": value for i, value in enumerate(values)}) for name, *values in calls]
    return plan(*made, answer=answer)


def effects(pred: Plan, gold: Any, **more: Any) -> Any:
    return compare_effects(pred, gold, "nestful", isolation="inline", **more)


def test_the_first_call_whose_value_differs_is_named() -> None:
    pred, gold = (numbers(("add", 2, n), ("multiply", Ref(0), 4), ("sqrt", Ref(1))) for n in (4, 3))
    found = effects(pred, gold)
    assert found.same  # the integer root of 24 and that of 20 are both 4
    assert str(found.first) == "c0 (add) gives 6, gold's c0 (add) gives 5"
    longer = effects(numbers(("add", 2, 3)), numbers(("add", 2, 3), ("negate", Ref(0))))
    assert (longer.same, str(longer.first)) == (False, "c1 (negate) is made only by gold and gives -5")
    failing = effects(numbers(("divide", 2, 0)), numbers(("divide", 2, 1)))
    assert str(failing.first).startswith("c0 (divide) fails with ZeroDivisionError: division by zero, gold's")
    assert effects(gold, gold).first is None


def test_named_answers_are_compared_where_both_plans_have_one() -> None:
    one = numbers(("add", 1, 2), ("add", 5, 5), answer=(("sum", Ref(0)),))
    for name, same in (("sum", True), ("total", False)):
        assert effects(one, numbers(("subtract", 4, 1), answer=((name, Ref(0)),))).results_same is same


def test_results_compare_by_the_policy() -> None:
    pred, gold = numbers(("divide", 1, 3)), numbers(("divide", 333, 1000))
    close = Policy(rules=(Rule(argument="result", tolerance=0.001),))
    assert not effects(pred, gold).same
    assert effects(pred, gold, policy=close).same
    assert not effects(pred, numbers(("divide", 1, 4)), policy=close).same
    wild = Policy(wildcards=("$$$",))
    shared = numbers(("add", 1, 2), ("multiply", "$$$", "$$$"))
    assert effects(numbers(("add", 1, 2), ("multiply", Ref(0), 4)), shared, policy=wild).same
    third = [{"name": "divide", "arguments": {"arg_0": 1, "arg_1": 3}}]
    assert effects(pred, {"gold": "[]", "alternatives": [third]}).same


@tabled("pred, gold, verdict")
def test_states_are_compared(pred: str, gold: str, verdict: list[bool], tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(text_case("test_execute_effects-TILL.txt"))
    plans = (plan(*[(name, {}) for name in names.split()]) for names in (pred, gold))
    found = compare_effects(*plans, f"{tmp_path}/shop.py:Till", isolation="inline")
    assert [found.same, found.results_same, found.state_same, found.reached] == verdict


COUNTER = text_case("test_execute_effects-COUNTER.txt")


@pytest.mark.parametrize("kind", ["file", "process", "object", "class", "methods", "functions", "module"])
def test_each_plan_has_the_tools_first_state_or_it_is_said(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "counters.py"
    path.write_text(COUNTER)
    made = execute_file(str(path))
    one = made.Counter()
    several: dict[str, Any] = {
        "object": one, "class": made.Counter, "methods": {"up": one.up}, "module": made,
    }  # fmt: skip
    tools = {**several, "file": f"{path}:Counter", "process": str(path), "functions": [made.up]}[kind]
    isolation = {"file": "inline", "process": "process"}.get(kind)
    single, double = plan(("up", {})), plan(("up", {}), ("up", {}))
    found = compare_effects(single, single, tools, isolation=isolation)
    other = compare_effects(single, double, tools, isolation=isolation)
    assert str(found) == "the same"
    if kind in ("functions", "module"):
        assert str(other).startswith(
            "unknown: run again, the prediction comes to something else: the tools keep"
        )
        assert (other.same, other.known, other.verdict) == (False, False, "unknown")
    else:
        assert (other.same, other.known, other.verdict) == (False, True, "different")
    assert one.count == 0, "the user's own object is as it was"
    with Sandbox(tool_source(tools), level=isolation) as box:
        assert str(compare_effects(single, single, box)) == str(found)
    if kind == "class":
        assert [trace.result for trace in execute_many([single, single], tools)] == [1, 1]


def test_pass_k_by_hand() -> None:
    # task 1: 3 of 4 succeed: C(3,2)/C(4,2) = 3/6; task 2: 2 of 3: 1/3; mean 5/12
    assert pass_estimates([(4, 3), (3, 2)])[1].hat == pytest.approx(5 / 12)
    assert pass_estimates([]) == []


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_pass_k_counts_the_choices_that_all_succeed(runs: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(runs)))
    chosen = [all(choice) for choice in combinations(runs, k)]
    assert pass_hat_k(len(runs), sum(runs), k) == pytest.approx(sum(chosen) / len(chosen))


DESCRIBED = text_case("test_execute_effects-DESCRIBED.txt")


@tabled("tool, said")
def test_what_is_only_described_is_not_known_to_be_the_same(tool: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "described.py").write_text(DESCRIBED)
    pred, gold = (plan((tool, {"to" if tool == "rename" else "last": number})) for number in (1, 2))
    found = compare_effects(pred, gold, f"{tmp_path}/described.py:Shop")
    assert str(found).startswith(said), str(found)
    assert (found.same, found.reached) == (False, False if tool == "number" else None)
    assert compare_effects(gold, gold, f"{tmp_path}/described.py:Shop").verdict == "same"
    between = [f"c = connect()\ncount(of=c, x={x})" for x in (1, 2)]  # what is no result may be anything
    assert compare_effects(*between, f"{tmp_path}/described.py:Between").verdict == "same"


def test_tools_that_answer_by_the_time_or_by_chance_tell_nothing_of_plans_that_differ(tmp_path: Path) -> None:
    tools = tmp_path / "stamps.py"
    tools.write_text("import time\ndef stamp(x): return time.monotonic_ns()\ndef echo(x): return x\n")
    for isolation in ("inline", "strict"):
        for name, calls, verdict in (("stamp", 1, "same"), ("stamp", 2, "unknown"), ("echo", 2, "different")):
            pred, gold = (plan(*[(name, {"x": at}) for at in range(count)]) for count in (calls, 1))
            found = compare_effects(pred, gold, str(tools), isolation=isolation)
            assert found.verdict == verdict, (isolation, name, calls)
            assert (found.reached is None) == (verdict == "unknown")
        swapped = [plan(*[("stamp", {"x": at}) for at in order]) for order in ((0, 1), (1, 0))]
        assert compare_effects(*swapped, str(tools), isolation=isolation).verdict == "unknown"


def test_states_are_held_to_the_rules_of_results(tmp_path: Path) -> None:
    (tmp_path / "described.py").write_text(DESCRIBED)
    for tool, (kind, verdict) in TABLES["STATES"].items():
        pred, gold = (plan((tool, {"v": number})) for number in (1, 2))
        assert compare_effects(pred, gold, f"{tmp_path}/described.py:{kind}").verdict == verdict, tool
