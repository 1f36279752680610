"""What a policy takes for right is right in every figure, and gold itself is right: each smallest case."""

from __future__ import annotations

import re
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.comparison.diff import diff
from planner_eval.metrics import METRICS, score
from planner_eval.metrics.counts import Counts
from planner_eval.plan.model import Plan
from planner_eval.policy import NO_TERMS, Policy, Terms
from planner_eval.policy.file import load_policy
from planner_eval.policy.rule import Rule
from planner_eval.policy.values import LEAVES
from tests.build import plan
from tests.conftest import ROOT

Calls = list[tuple[str, dict[str, Any]]]


def data(calls: Calls) -> list[dict[str, Any]]:
    """Calls with the ids c1, c2, …; an id in angle brackets is a reference to the call."""

    def value(raw: Any) -> Any:
        if isinstance(raw, list):
            return [value(item) for item in raw]
        return {"$ref": raw[1:-1]} if isinstance(raw, str) and raw[:1] == "<" else raw

    return [
        {"id": f"c{at}", "name": name, "arguments": {key: value(item) for key, item in given.items()}}
        for at, (name, given) in enumerate(calls, 1)
    ]


def made(*calls: tuple[str, dict[str, Any]]) -> Plan:
    return plan(data([*calls]))


def rule(**parts: Any) -> Policy:
    return Policy(rules=(Rule(**parts),))


def not_right(pred: Plan, gold: Plan, policy: Policy, terms: Terms = NO_TERMS) -> dict[str, object]:
    """The figures that are not those of a plan that is right; and none may be outside [0, 1]."""
    found: dict[str, object] = {}
    for name, tally in score(pred, gold, policy, terms).items():
        if tally is not None and tally.value is not None:
            assert (-1 if name == "order_tau" else 0) <= tally.value <= 1
            assert not isinstance(tally, Counts) or tally.hit <= min(tally.pred, tally.gold)
            if tally.value != (0 if METRICS[name].lower else 1):
                found[name] = tally
    return found


def right(pred: Plan, gold: Plan, policy: Policy, terms: Terms = NO_TERMS) -> bool:
    """Whether the plans are the same; then every figure must say so."""
    same = diff(pred, gold, policy, terms).same
    assert not same or not_right(pred, gold, policy, terms) == {}
    return same


SUM: Calls = [("h", {"k": 1}), ("h", {"k": 2}), ("clean", {"x": "<c1>"}), ("clean", {"x": "<c2>"})]


@pytest.mark.parametrize(("compare", "items", "wanted"), [
    ("set", ["<c4>"], False), ("set", ["<c4>", "<c3>"], True), ("set", ["<c4>", "<c4>"], False),
    ("set", ["<c3>", "<c4>", "<c3>"], True), ("unordered", ["<c4>"], False),
    ("unordered", ["<c4>", "<c3>"], True), ("unordered", ["<c4>", "<c4>"], False),
    ("unordered", ["<c3>", "<c4>", "<c3>"], False), ("subset", ["<c4>"], True),
    ("subset", ["<c4>", "<c1>"], False), ("superset", ["<c4>"], False),
    ("superset", ["<c4>", "<c1>", "<c3>"], True),
])  # fmt: skip
def test_members_count_as_the_calls_that_they_refer_to(compare: str, items: list[str], wanted: bool) -> None:
    gold = made(*SUM, ("sum", {"items": ["<c3>", "<c4>"]}))
    assert right(made(*SUM, ("sum", {"items": items})), gold, rule(compare=(compare,))) is wanted


def test_equal_calls_in_a_set_are_told_apart_by_who_else_uses_them() -> None:
    twins: Calls = [("roll", {}), ("roll", {})]
    gold = made(*twins, ("sum", {"items": ["<c1>", "<c2>"]}), ("use", {"x": "<c2>"}))
    policy = rule(compare=("unordered",))
    assert right(made(*twins, ("sum", {"items": ["<c2>", "<c1>"]}), ("use", {"x": "<c1>"})), gold, policy)
    assert not right(made(*twins, ("sum", {"items": ["<c1>", "<c1>"]}), ("use", {"x": "<c1>"})), gold, policy)


def test_members_may_be_in_a_circle() -> None:
    circle: Calls = [("f", {"x": ["<c2>", "<c3>"]}), ("g", {"y": "<c1>"}), ("g", {"y": "<c1>", "z": 1})]
    other: Calls = [("f", {"x": ["<c3>", "<c2>"]}), *circle[1:]]
    assert right(made(*other), made(*circle), rule(compare=("set",)))
    assert not right(made(*other), made(*circle), Policy())


def test_a_right_member_of_a_wrong_list_is_a_right_reference() -> None:
    gold = made(*SUM, ("sum", {"items": ["<c3>", "<c4>"]}))
    pred = made(*SUM, ("sum", {"items": ["<c4>", "<c1>"]}))
    for compare, hits in (("unordered", 3), ("exact", 2)):
        found = score(pred, gold, rule(compare=(compare,)), metrics=["references"])["references"]
        assert found == Counts(hits, 4, 4)


LITERAL = made(("a", {}), ("f", {"x": "$$$"}))
REFERRING = made(("a", {}), ("f", {"x": "<c1>"}))
ACCEPTED = Terms(accepted={"c2": {"x": ("$$$",)}})


@pytest.mark.parametrize(("pred", "gold", "policy", "terms"), [
    (REFERRING, LITERAL, Policy(wildcards=("$$$",)), NO_TERMS),
    (REFERRING, LITERAL, rule(compare=("any",)), NO_TERMS),
    (LITERAL, REFERRING, rule(compare=("any",)), NO_TERMS),
    (LITERAL, REFERRING, rule(accepted=("$$$",)), NO_TERMS), (LITERAL, REFERRING, Policy(), ACCEPTED),
])  # fmt: skip
def test_one_kind_decides_for_both_sides(pred: Plan, gold: Plan, policy: Policy, terms: Terms) -> None:
    assert right(pred, gold, policy, terms)
    found = score(pred, gold, policy, terms)
    kind = "dependent" if gold is REFERRING else "independent"
    assert found[f"{kind}_arguments"] == Counts(1, 1, 1)
    assert found["references"] == Counts(0, 0, 0)


def test_a_rule_lets_another_reference_be_only_where_any_value_will_do() -> None:
    pred = made(("a", {}), ("b", {}), ("f", {"x": "<c2>"}))
    gold = made(("a", {}), ("b", {}), ("f", {"x": "<c1>"}))
    assert not right(pred, gold, rule(accepted=("$$$",)))
    assert right(pred, gold, rule(compare=("any",)))
    gold = made(("a", {}), ("f", {"x": "<c1>"}))
    assert right(made(("f", {"x": 5}), ("a", {})), gold, rule(compare=("any",)))


@pytest.mark.parametrize(("pred", "gold", "policy", "kept"), [
    (LITERAL, REFERRING, rule(compare=("any",)), 1), (REFERRING, LITERAL, rule(compare=("any",)), 1),
    (
        made(*SUM, ("sum", {"items": ["<c4>", "<c3>", "<c3>"]})),
        made(*SUM, ("sum", {"items": ["<c3>", "<c4>"]})), rule(compare=("set",)), 5,
    ),
])  # fmt: skip
def test_references_that_a_policy_lets_be_are_drawn_as_kept(
    pred: Plan, gold: Plan, policy: Policy, kept: int
) -> None:
    assert [role.role for role in diff(pred, gold, policy).edges()] == ["kept"] * kept
    assert {role.role for role in diff(pred, gold).edges()} != {"kept"}


ABA = made(("a", {}), ("b", {}), ("a", {}))
AAB = made(("a", {}), ("a", {}), ("b", {}))
WRITTEN = Policy(order="written")


def test_a_group_without_order_may_stand_around_another_call() -> None:
    gold, terms = made(("a", {}), ("b", {}), ("c", {})), Terms(unordered=(frozenset({"c1", "c3"}),))
    assert right(gold, gold, WRITTEN, terms)
    assert right(made(("c", {}), ("b", {}), ("a", {})), gold, WRITTEN, terms)
    (edit,) = diff(made(("b", {}), ("a", {}), ("c", {})), gold, WRITTEN, terms).edits
    assert edit.message == "b (call 1, gold's 2) is out of order: gold wants it after a (call 2, gold's 1)"
    for calls in ([("b", {}), ("c", {})], [("c", {}), ("b", {})]):  # one of a group takes the place left
        assert right(made(*calls), gold, WRITTEN, terms._replace(optional=frozenset({"c1"})))


@pytest.mark.parametrize("first", ["c1", "c2"])
def test_a_precedence_may_name_any_of_equal_calls(first: str) -> None:
    assert right(AAB, AAB, Policy(), Terms(before=((first, "c3"),)))
    assert right(ABA, AAB, Policy(), Terms(before=((first, "c3"),)))
    assert not right(made(("b", {}), ("a", {}), ("a", {})), AAB, Policy(), Terms(before=((first, "c3"),)))
    assert not right(ABA, AAB, Policy(), Terms(before=(("c1", "c3"), ("c2", "c3"))))
    assert right(AAB, AAB, Policy(), Terms(before=(("c1", "c3"), ("c2", "c3"), ("c1", "c2"))))
    assert right(ABA, ABA, Policy(), Terms(before=(("c2", "c1"), ("c3", "c2"))))  # gold writes it otherwise


@pytest.mark.parametrize(("pred", "gold", "policy", "terms"), [
    ({"x": 1}, {"x": 1, "y": 2}, rule(argument="y", compare=("optional",)), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, rule(argument="y", compare=("optional",)), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, rule(argument="y", compare=("extra",)), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, load_policy("lenient"), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, Policy(), Terms(omittable={"c2": frozenset({"y"})})),
    ({"x": 1}, {"x": 1, "y": "<c1>"}, rule(argument="y", compare=("optional",)), NO_TERMS),
    ({"x": 1, "y": "<c1>"}, {"x": 1}, rule(argument="y", compare=("extra",)), NO_TERMS),
    ({"x": 1, "y": "<c1>"}, {"x": 1}, rule(argument="y", compare=("ignore",)), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, rule(argument="y", default=2), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, rule(argument="y", default=2.1, tolerance=0.1), NO_TERMS),
    ({"x": ["<c1>", "a"]}, {"x": ["a", "<c1>"]}, rule(compare=("unordered",)), NO_TERMS),
])  # fmt: skip
def test_what_may_be_left_out_or_added_is_wrong_in_no_figure(
    pred: dict[str, Any], gold: dict[str, Any], policy: Policy, terms: Terms
) -> None:
    assert right(made(("a", {}), ("f", pred)), made(("a", {}), ("f", gold)), policy, terms)


def test_a_call_that_may_be_left_out_is_needed_by_none_whose_argument_may_be_anything() -> None:
    gold = made(("a", {}), ("f", {"x": "<c1>"}))
    terms = Terms(optional=frozenset({"c1"}))
    assert right(made(("f", {"x": 5})), gold, rule(compare=("any",)), terms)
    assert not right(made(("f", {"x": 5})), gold, Policy(), terms)


def test_in_free_order_no_figure_asks_for_another() -> None:
    gold, pred = made(("a", {}), ("f", {"x": "<c1>"})), made(("f", {"x": "<c2>"}), ("a", {}))
    assert right(pred, gold, Policy(order="free"))
    assert set(not_right(pred, gold, Policy())) == {"exact", "order_tau", "precedences", "ordered_calls"}


def test_what_is_left_out_rightly_is_left_out_of_the_figures_of_a_wrong_call() -> None:
    pred, gold = made(("f", {"x": 2})), made(("f", {"x": 1, "y": 2}))
    found: dict[str, Any] = score(pred, gold, rule(argument="y", compare=("optional",)))
    assert (found["argument_values"], found["argument_names"]) == (Counts(0, 1, 1), Counts(1, 1, 1))
    assert (found["independent_errors"].value, found["similarity"].value) == (1, 0.75)


@pytest.mark.parametrize(("parts", "pred", "gold", "wanted"), [
    ({"tolerance": 0.01}, 19.99, 20.00, True), ({"tolerance": 0.01}, 19.98, 20.00, False),
    ({"tolerance": 0.1}, 1.1, 1.0, True), ({"relative": 0.1}, 1.1, 1.0, True),
    ({"relative": 0.1}, 0.9, 1.0, True), ({"relative": 0.1}, 1.0, 0.9, False),
    ({"relative": 0.1}, 0.0, 0.0, True),
    ({"compare": ("unordered",), "tolerance": 0.01}, [10.005, 9], [9, 10], True),
    ({"compare": ("unordered",), "tolerance": 1}, [1, 2], [2, 3], True),
    ({"compare": ("unordered",), "tolerance": 1}, [1, 1], [2, 3], False),
    ({"compare": ("set",), "tolerance": 0.1}, [1, 1.1], [1], True),
    ({"compare": ("subset",), "tolerance": 0.1}, [1.1], [2, 1], True),
    ({"compare": ("superset",), "relative": 0.1}, [1.1, 5], [1], True),
    ({"compare": ("superset",), "relative": 0.1}, {"k": 1.1, "m": 5}, {"k": 1}, True),
    ({"compare": ("subset", "superset")}, [1, 2], [1], True),
    ({"tolerance": 1, "pattern": "[a-z]+"}, "abc", "xyz", True),
    ({"tolerance": 1, "function": lambda ours, theirs: len(ours) == len(theirs)}, "abc", "xyz", True),
    ({"compare": ("subset",), "pattern": "[a-z]+"}, "abc", "xyz", True),
    ({"compare": ("casefold",), "pattern": "[A-Z]+"}, "ABC", "xyz", True),
    ({"compare": ("casefold",), "pattern": "[a-z]+"}, "ABC", "xyz", False),
    ({"compare": ("numbers",), "function": lambda ours, theirs: ours + theirs == "12"}, "1", "2", True),
    ({"compare": ("numbers", "set")}, "1, 2", [2, 1], True), ({"compare": ("set", "numbers")}, "7", 7, True),
    ({"compare": ("date", "set")}, "May 1, 2024", ["2024-05-01"], True),
    ({"compare": ("set",), "aliases": {"nyc": "New York"}}, "NYC, LA", ["LA", "New York"], True),
    ({"compare": ("subset",), "aliases": {"nyc": "New York"}}, "NYC", "LA, New York", True),
    ({"compare": ("blankless",), "aliases": {"nyc": "New York"}}, "NYC", "NewYork", True),
    ({"compare": ("blankless", "date")}, "May 1, 2024", "2024-05-01", True),
    ({"compare": ("typed", "numbers")}, "7.0", 7, False),
])  # fmt: skip
def test_parts_of_a_rule_act_together(
    parts: dict[str, Any], pred: object, gold: object, wanted: bool
) -> None:
    one, other = (made(("f", {"x": value})) for value in (pred, gold))
    assert right(one, other, rule(**parts)) is wanted
    backwards = {**parts, "compare": tuple(reversed(parts.get("compare", ())))}
    assert right(one, other, rule(**backwards)) is wanted


def test_the_order_of_the_parts_is_written_down() -> None:
    lines = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| 5 | `aliases`"))
    assert re.findall("`(.*?)`", row)[: 1 + len(LEAVES)] == ["aliases", *LEAVES]


@pytest.mark.parametrize("compare", [(), ("casefold",), ("set",), ("typed",)])
def test_a_wildcard_is_what_gold_writes(compare: tuple[str, ...]) -> None:
    policy = Policy(wildcards=("ANY", {}), rules=(Rule(compare=compare),))
    for gold in ("ANY", {}):
        assert right(made(("f", {"x": 5})), made(("f", {"x": gold})), policy)
    assert not right(made(("f", {"x": 5})), made(("f", {"x": "any"})), policy)


@pytest.mark.parametrize(("word", "pred", "gold", "wanted"), [
    ("casefold", "hello  {}", "Hello {}", True), ("casefold", " Hello {} ", "Hello {}", True),
    ("casefold", "Hello{}", "Hello {}", False), ("casefold", "{}  and  {}", "{} And {}", True),
    ("blankless", "Hello{}", "hello {}", True), ("numbers", "7{}", "7.0{}", False),
    ("booleans", "true{}", "1{}", False), ("date", "2024-5-1{}", "2024-05-01{}", False),
])  # fmt: skip
def test_text_around_references_is_folded_and_read_as_nothing_else(
    word: str, pred: str, gold: str, wanted: bool
) -> None:
    one, other = (
        pe.parse(
            [
                {"name": "g", "label": "$var_1", "arguments": {}},
                {"name": "f", "label": "$var_2", "arguments": {"x": text.replace("{}", "$var_1.out$")}},
            ]
        )
        for text in (pred, gold)
    )
    assert pe.diff(one, other, policy=rule(compare=(word,))).same is wanted


def test_an_alias_of_an_alias_is_refused() -> None:
    with pytest.raises(pe.PlanevalError, match="the alias 'NYC' stands for 'New York', which is an alias"):
        rule(aliases={"NYC": "New York", "new york": "New York City"})
    assert rule(aliases={"NYC": "New York", "New York": "new york"})
