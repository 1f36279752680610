"""Policies: each rule, each preset on the 38 pairs, what a gold plan may leave open, and bad input."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base import resources
from planner_eval.base.errors import InputError, PolicyError
from planner_eval.comparison.diff import diff, diff_any
from planner_eval.comparison.evaluate import compare_structure
from planner_eval.comparison.gold_alternatives import read_gold, terms_of
from planner_eval.comparison.metrics import DEFAULT_METRICS, METRICS, score
from planner_eval.comparison.metrics.facts import Counts, Tally
from planner_eval.comparison.policy.file import find_idle_rule, load_policy, presets
from planner_eval.comparison.policy.policy import NAMES, NO_TERMS, ORDERS, Policy, Terms, fits
from planner_eval.comparison.policy.values import COMPARE, LEAF_NORMALISERS, NOTHING, Rule
from planner_eval.plan.model import Call, Plan, Ref, Unresolved
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.record import Record
from planner_eval.reading.trace_times import recorded_run
from tests.build import edges, plan
from tests.conftest import ROOT, examples, tabled, tables
from tests.inside import planeval
from tests.test_site import loaded

TABLES = tables(__file__)

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))

# What each preset answers to the 8 pairs whose answer hangs on a policy; documented in docs/policies.md.
SAME: dict[str, set[str]] = {
    "default": {"20"}, "strict": set(), "lenient": {"13", "14", "19", "20", "21", "24", "35"},
    "appbench": {"13", "19", "20"}, "nestful": {"19", "20"}, "callnavi": {"20", "21", "24"},
    "complexfuncbench": {"20"}, "functionchat": {"13", "20"},
}  # fmt: skip


MODES = {
    "acting", "exact-order", "in-order", "any-order", "superset", "subset", "unordered", "names-only",
}  # fmt: skip
"""Presets that do not ask for every call: tests/test_modes.py."""


def test_every_preset_is_listed_here() -> None:
    assert set(presets()) == set(SAME) | MODES
    assert set(LEAF_NORMALISERS) <= set(COMPARE)


@pytest.mark.parametrize("name", SAME)
def test_preset_on_the_pairs(name: str) -> None:
    policy = load_policy(name)
    for pair in PAIRS:
        wanted = pair["id"] in SAME[name] if pair["policy_dependent"] else pair["same"]
        assert diff(plan(pair["pred"]), plan(pair["gold"]), policy).same is wanted, pair["id"]


def one(value: object, name: str = "x") -> Plan:
    return Plan((Call("c0", "f", ((name, value),), "App"),))


def parts_of(rule: str | dict) -> dict[str, Any]:
    """A rule's parts: words are what it compares by."""
    parts = {"compare": rule.split()} if isinstance(rule, str) else {"compare": [], **rule}
    return {**parts, "compare": tuple(parts["compare"])}


def same(pred: Plan, gold: Plan, **rule: object) -> bool:
    return diff(pred, gold, Policy(rules=(Rule(**rule),))).same  # type: ignore[arg-type]


WILD = [("*", "*", True), ("f", "x", True), ("App.f", "x", True), ("App.*", "?", True),
        ("Other.*", "x", False), ("f", "y", False), ("F", "x", False)]  # fmt: skip


def test_a_rule_names_tools_and_arguments_and_the_last_that_fits_holds() -> None:
    for tool, argument, wanted in WILD:
        assert same(one("A"), one("a"), tool=tool, argument=argument, compare=("casefold",)) is wanted
    policy = Policy(rules=(Rule(compare=("casefold",)), Rule(argument="code", compare=("exact",))))
    assert diff(one("A"), one("a"), policy).same
    assert not diff(one("A", "code"), one("a", "code"), policy).same


@tabled("rule, pred, gold, wanted")
def test_rule_on_what_is_not_there(rule: str | dict, pred: dict, gold: dict, wanted: bool) -> None:
    ours, theirs = (Plan((Call("c", "f", tuple(given.items())),)) for given in (pred, gold))
    assert same(ours, theirs, **parts_of(rule)) is wanted
    for default in (2, 1):  # where gold gives another value, a default is no missing argument
        (edit,) = diff(one(2), one(1), Policy(rules=(Rule(default=default),))).edits
        assert edit.code == "argument.value"


def test_one_wrong_value_stays_visible_and_shows_what_was_written() -> None:
    (edit,) = diff(one(" NEW york "), one("Rome"), load_policy("lenient")).edits
    assert (edit.code, edit.pred_value, edit.gold_value) == ("argument.value", " NEW york ", "Rome")


def test_assignment_takes_accepted_values_into_account() -> None:
    """A first-fit matcher rejects this: f(1) would take the gold call that only f(1) satisfies."""

    def calls(*values: object) -> Plan:
        return Plan(tuple(Call(f"c{i}", "f", (("x", v),)) for i, v in enumerate(values)))

    either = Terms(accepted={"c0": {"x": (2,)}})
    assert diff(calls(1, 2), calls(1, 1), terms=either).same
    assert diff(calls(2, 1), calls(1, 1), terms=either).same
    assert not diff(calls(2, 2), calls(1, 1), terms=either).same


def named(*names: str) -> Plan:
    return Plan(tuple(Call(f"c{i + 1}", name) for i, name in enumerate(names)))


def of_pair(number: str) -> tuple[Plan, Plan]:
    pair = next(pair for pair in PAIRS if pair["id"] == number)
    return plan(pair["pred"]), plan(pair["gold"])


def test_orders() -> None:
    written, flat = Policy(order="written"), Policy(order="flat")
    assert diff(named("a", "b", "c"), named("a", "b", "c"), written).same
    found = diff(named("b", "c", "a"), named("a", "b", "c"), written)
    assert [(e.code, e.pred and e.pred.call) for e in found.edits] == [("order.broken", 2)]
    assert "expected before b (call 1, gold's 2)" in found.edits[0].message
    free = Terms(unordered=(frozenset({"c1", "c2"}),))
    assert diff(named("b", "a", "c"), named("a", "b", "c"), written, free).same
    assert not diff(named("b", "c", "a"), named("a", "b", "c"), written, free).same
    assert not diff(named("b", "a"), named("a", "b"), flat).same
    assert diff(*of_pair("02"), flat).same
    assert diff(*of_pair("08"), Policy(order="free")).same


def test_must_precede() -> None:
    terms = Terms(before=(("c1", "c3"),))
    assert diff(named("b", "a", "c"), named("a", "b", "c"), terms=terms).same
    (edit,) = diff(named("c", "b", "a"), named("a", "b", "c"), terms=terms).edits
    assert edit.code == "order.broken"
    said = "c (call 1, gold's 3) is out of order, expected after a (call 3, gold's 1)"
    assert edit.message == said


def test_optional_calls() -> None:
    gold, terms = named("a", "b", "b"), Terms(optional=frozenset({"c2"}))
    assert diff(named("a", "b", "b"), gold, terms=terms).same
    assert not diff(named("a"), gold, terms=terms).same
    assert diff(named("a", "b"), named("a", "b", "x"), terms=Terms(optional=frozenset({"c3"}))).same
    assert not diff(named("a", "b", "x", "x"), named("a", "b", "x"), terms=terms).same
    assert diff(named("a", "b"), gold, terms=terms).same  # one of two equal calls


def test_repeats_count_for_stateful_tools_only() -> None:
    policy = Policy(repeats=False, stateful=("Bank.*",))
    assert diff(named("look", "look"), named("look"), policy).same
    twice = Plan((Call("a", "pay", app="Bank"), Call("b", "pay", app="Bank")))
    assert not diff(Plan(twice.calls[:1]), twice, policy).same
    assert diff(Plan(twice.calls[:1]), twice, Policy(repeats=False)).same
    assert not diff(named("look", "look"), named("look")).same
    assert diff(*of_pair("18"), Policy(repeats=False)).same  # what uses a repeat uses the one
    with_answer = Plan(named("a").calls, (), (("out", Ref(0)),))
    assert not diff(named("a"), with_answer).same
    assert diff(named("a"), with_answer, Policy(answer=False)).same


def test_inlined_calls_nest() -> None:
    inner = {"name": "inner", "arguments": {"n": 1}}
    first = {"id": "a", **inner}
    gold = plan([
        first, {"id": "b", "name": "middle", "arguments": {"x": {"$ref": "a", "path": ["id"]}}},
        {"id": "c", "name": "outer", "arguments": {"y": [{"$ref": "b"}], "z": {"$ref": "a"}}},
    ])  # fmt: skip
    middle = {"name": "middle", "arguments": {"x": inner}}
    pred = plan([{"id": "c", "name": "outer", "arguments": {"y": [middle], "z": inner}}])
    assert diff(pred, gold, Policy(inline=True, repeats=False)).same
    assert not diff(pred, gold, Policy(inline=True)).same  # inner is called twice
    gold = plan([first, {"id": "b", "name": "outer", "arguments": {"y": {"k": {"$ref": "a"}, "m": 2}}}])
    for m, same in ((2, True), (3, False)):  # a call in an object is taken out, and the object stays
        pred = plan([{"id": "c", "name": "outer", "arguments": {"y": {"k": inner, "m": m}}}])
        assert diff(pred, gold, Policy(inline=True)).same is same


def record(**fields: object) -> Record:
    calls = [{"id": "c1", "name": "f", "arguments": {"city": "Rome"}}, {"id": "c2", "name": "g"}]
    return Record("gold.json", 0, "r1", calls, fields=fields)


def test_gold_record_with_terms_and_alternatives() -> None:
    h, k = ([{"id": "c1", "name": name, "arguments": {}}] for name in "hk")
    accepted = {"c1": {"city": ["Roma", "ROME"]}}
    gold = read_gold(
        record(optional=["c2"], accepted=accepted, alternatives=[h, {"gold": k, "optional": ["c1"]}])
    )
    assert [len(p) for p, _ in gold.plans] == [2, 1, 1]
    roma = plan([{"id": "a", "name": "f", "arguments": {"city": "Roma"}}])
    assert diff_any(roma, gold.plans).diff.same
    assert diff_any(plan(h), gold.plans).number == 1
    assert diff_any(Plan(), gold.plans).number == 2
    assert terms_of({}, Plan(), "gold") is NO_TERMS
    found, chosen = diff_any(named("a", "x"), [(named("b", "c"), NO_TERMS), (named("a", "b"), NO_TERMS)])
    assert chosen == 1  # the nearest explains
    assert [e.code for e in found.edits] == ["call.missing", "call.extra"]


@tabled("fields, said")
def test_bad_terms_name_the_record(fields: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_gold(record(**fields))
    assert said in str(caught.value)
    assert "gold.json, record 1 (id r1)" in str(caught.value)


def test_extends_and_tables(tmp_path: Path) -> None:
    """And what is beside the policy in a project's file, a policy's own file may not have."""
    (tmp_path / "base.toml").write_text('order = "free"\n[[rule]]\ncompare = ["casefold"]\n')
    file, rule = tmp_path / "mine.toml", 'argument = "city"\ncompare = "casefold"\naliases = "cities"\n'
    file.write_text(f'extends = "base.toml"\n[[rule]]\n{rule}')
    policy = load_policy(str(file))
    assert (policy.name, policy.order, len(policy.rules)) == ("mine", "free", 2)
    assert diff(one("NYC", "city"), one("New York", "city"), policy).same
    assert not diff(one("NYC"), one("New York"), policy).same
    (tmp_path / "planeval.toml").write_text('order = "free"\nmetrics = "exact"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.planeval]\nextends = "planeval.toml"\n[project]\n')
    assert load_policy(str(tmp_path / "pyproject.toml")).order == "free"


def test_a_schemas_default_equals_leaving_it_out(tmp_path: Path) -> None:
    properties = {"city": {"type": "string"}, "limit": {"type": "integer", "default": 10}}
    tool = {"name": "search", "parameters": {"type": "object", "properties": properties}}
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": tool}]))
    file = tmp_path / "mine.toml"
    file.write_text('catalog = "tools.json"\n[[rule]]\nargument = "city"\ncompare = ["casefold"]\n')
    policy = load_policy(str(file))
    plain, ten, five = (
        Plan((Call("a", "search", (("city", city), *more)),))
        for city, more in (("Rome", ()), ("rome", (("limit", 10),)), ("Rome", (("limit", 5),)))
    )
    assert diff(ten, plain, policy).same
    assert diff(plain, ten, policy).same
    assert not diff(five, plain, policy).same
    assert not diff(Plan((Call("a", "find", (("limit", 10),)),)), Plan((Call("a", "find"),)), policy).same


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


def rule(words: str = "", **parts: Any) -> Policy:
    return Policy(rules=(Rule(compare=tuple(words.split()), **parts),))


def right(pred: Plan, gold: Plan, policy: Policy, terms: Terms = NO_TERMS) -> bool:
    """Whether the plans are the same; then every figure must say so."""
    same = diff(pred, gold, policy, terms).same
    assert not same or wrong(score(pred, gold, policy, terms)) == {}
    return same


SUM: Calls = [("h", {"k": 1}), ("h", {"k": 2}), ("clean", {"x": "<c1>"}), ("clean", {"x": "<c2>"})]


@tabled("compare, items, wanted")
def test_members_count_as_the_calls_that_they_refer_to(compare: str, items: list[str], wanted: bool) -> None:
    gold = made(*SUM, ("sum", {"items": ["<c3>", "<c4>"]}))
    assert right(made(*SUM, ("sum", {"items": items})), gold, rule(compare)) is wanted


def test_members_are_told_apart_by_who_else_uses_them_and_may_be_in_a_circle() -> None:
    twins: Calls = [("roll", {}), ("roll", {})]
    gold = made(*twins, ("sum", {"items": ["<c1>", "<c2>"]}), ("use", {"x": "<c2>"}))
    for items, wanted in ((["<c2>", "<c1>"], True), (["<c1>", "<c1>"], False)):
        pred = made(*twins, ("sum", {"items": items}), ("use", {"x": "<c1>"}))
        assert right(pred, gold, rule("unordered")) is wanted
    circle: Calls = [("f", {"x": ["<c2>", "<c3>"]}), ("g", {"y": "<c1>"}), ("g", {"y": "<c1>", "z": 1})]
    other: Calls = [("f", {"x": ["<c3>", "<c2>"]}), *circle[1:]]
    assert right(made(*other), made(*circle), rule("set"))
    assert not right(made(*other), made(*circle), Policy())


def test_a_right_member_of_a_wrong_list_is_a_right_reference() -> None:
    gold = made(*SUM, ("sum", {"items": ["<c3>", "<c4>"]}))
    pred = made(*SUM, ("sum", {"items": ["<c4>", "<c1>"]}))
    for compare, hits in (("unordered", 3), ("exact", 2)):
        found = score(pred, gold, rule(compare), metrics=["references"])["references"]
        assert found == Counts(hits, 4, 4)


LITERAL = made(("a", {}), ("f", {"x": "$$$"}))
REFERRING = made(("a", {}), ("f", {"x": "<c1>"}))
ACCEPTED = Terms(accepted={"c2": {"x": ("$$$",)}})


@pytest.mark.parametrize(("pred", "gold", "policy", "terms"), [
    (REFERRING, LITERAL, Policy(wildcards=("$$$",)), NO_TERMS), (REFERRING, LITERAL, rule("any"), NO_TERMS),
    (LITERAL, REFERRING, rule("any"), NO_TERMS), (LITERAL, REFERRING, rule(accepted=("$$$",)), NO_TERMS),
    (LITERAL, REFERRING, Policy(), ACCEPTED),
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
    assert right(pred, gold, rule("any"))
    gold = made(("a", {}), ("f", {"x": "<c1>"}))
    assert right(made(("f", {"x": 5}), ("a", {})), gold, rule("any"))


ABA = made(("a", {}), ("b", {}), ("a", {}))
AAB = made(("a", {}), ("a", {}), ("b", {}))
WRITTEN = Policy(order="written")


def test_a_group_without_order_may_stand_around_another_call() -> None:
    gold, terms = made(("a", {}), ("b", {}), ("c", {})), Terms(unordered=(frozenset({"c1", "c3"}),))
    assert right(gold, gold, WRITTEN, terms)
    assert right(made(("c", {}), ("b", {}), ("a", {})), gold, WRITTEN, terms)
    (edit,) = diff(made(("b", {}), ("a", {}), ("c", {})), gold, WRITTEN, terms).edits
    assert edit.message == "b (call 1, gold's 2) is out of order, expected after a (call 2, gold's 1)"
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
    either = Terms(before=(("c1", "c2"), ("c2", "c3")), optional=frozenset({"c1", "c3"}))
    assert all(right(made((x, {}), (y, {})), ABA, Policy(), either) for x, y in ("ab", "ba"))
    pred, gold = (made(*[("a", {})] * 2, ("f", {"r": f"<c{r}>", "s": f"<c{s}>"})) for r, s in ("21", "12"))
    assert not right(pred, gold, Policy(), Terms(before=(("c1", "c2"),)))
    pred, gold = (made(("a", {}), ("a", {}), ("f", {"r": "<c1>"}), ("g", {"s": s})) for s in ("<c2>", "<c1>"))
    assert not right(pred, gold, rule("any", argument="r"), Terms(before=(("c1", "c2"),)))


@pytest.mark.parametrize(("pred", "gold", "policy", "terms"), [
    ({"x": 1}, {"x": 1, "y": 2}, rule("optional", argument="y"), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, rule("optional", argument="y"), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, rule("extra", argument="y"), NO_TERMS),
    ({"x": 1, "y": 2}, {"x": 1}, load_policy("lenient"), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, Policy(), Terms(omittable={"c2": frozenset({"y"})})),
    ({"x": 1}, {"x": 1, "y": "<c1>"}, rule("optional", argument="y"), NO_TERMS),
    ({"x": 1, "y": "<c1>"}, {"x": 1}, rule("extra", argument="y"), NO_TERMS),
    ({"x": 1, "y": "<c1>"}, {"x": 1}, rule("ignore", argument="y"), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, rule(argument="y", default=2), NO_TERMS),
    ({"x": 1}, {"x": 1, "y": 2}, rule(argument="y", default=2.1, tolerance=0.1), NO_TERMS),
    ({"x": ["<c1>", "a"]}, {"x": ["a", "<c1>"]}, rule("unordered"), NO_TERMS),
])  # fmt: skip
def test_what_may_be_left_out_or_added_is_wrong_in_no_figure(
    pred: dict[str, Any], gold: dict[str, Any], policy: Policy, terms: Terms
) -> None:
    assert right(made(("a", {}), ("f", pred)), made(("a", {}), ("f", gold)), policy, terms)


def test_a_call_that_may_be_left_out_is_needed_by_none_whose_argument_may_be_anything() -> None:
    gold = made(("a", {}), ("f", {"x": "<c1>"}))
    terms = Terms(optional=frozenset({"c1"}))
    assert right(made(("f", {"x": 5})), gold, rule("any"), terms)
    assert not right(made(("f", {"x": 5})), gold, Policy(), terms)


def test_in_free_order_no_figure_asks_for_another() -> None:
    gold, pred = made(("a", {}), ("f", {"x": "<c1>"})), made(("f", {"x": "<c2>"}), ("a", {}))
    assert right(pred, gold, Policy(order="free"))
    assert set(wrong(score(pred, gold, Policy()))) == {"exact", "order_tau", "precedences", "ordered_calls"}


def test_what_is_left_out_rightly_is_left_out_of_the_figures_of_a_wrong_call() -> None:
    pred, gold = made(("f", {"x": 2})), made(("f", {"x": 1, "y": 2}))
    found: dict[str, Any] = score(pred, gold, rule("optional", argument="y"))
    assert (found["argument_values"], found["argument_names"]) == (Counts(0, 1, 1), Counts(1, 1, 1))
    assert (found["independent_errors"].value, found["similarity"].value) == (1, 0.75)


@pytest.mark.parametrize(
    ("rule", "pred", "gold", "wanted"),
    [
        *TABLES["rules_and_parts_in_any_order"],
        ({"tolerance": 1}, float("nan"), 1.5, False),
        ({"function": lambda ours, theirs: len(ours) == len(theirs)}, "abc", "xyz", True),
        ({"function": lambda ours, theirs: False}, "abc", "xyz", False),
        ({"tolerance": 1, "function": lambda ours, theirs: len(ours) == len(theirs)}, "abc", "xyz", True),
        ({"compare": ("numbers",), "function": lambda ours, theirs: ours + theirs == "12"}, "1", "2", True),
    ],
)
def test_rules_and_parts_in_any_order(rule: str | dict, pred: object, gold: object, wanted: bool) -> None:
    one, other = (made(("f", {"x": value})) for value in (pred, gold))
    parts = parts_of(rule)
    for compare in (parts.get("compare", ()), parts.get("compare", ())[::-1]):
        assert right(one, other, Policy(rules=(Rule(**{**parts, "compare": compare}),))) is wanted


def test_the_order_of_the_parts_is_written_down() -> None:
    lines = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| 5 | `aliases`"))
    assert re.findall("`(.*?)`", row)[: 1 + len(LEAF_NORMALISERS)] == ["aliases", *LEAF_NORMALISERS]


@pytest.mark.parametrize("compare", [(), ("casefold",), ("set",), ("typed",)])
def test_a_wildcard_is_what_gold_writes(compare: tuple[str, ...]) -> None:
    policy = Policy(wildcards=("ANY", {}), rules=(Rule(compare=compare),))
    for gold in ("ANY", {}):
        assert right(made(("f", {"x": 5})), made(("f", {"x": gold})), policy)
    assert not right(made(("f", {"x": 5})), made(("f", {"x": "any"})), policy)
    assert not right(made(("f", {"x": "ANY"})), made(("f", {"x": 5})), policy)
    assert not right(made(("f", {})), made(("f", {"x": "ANY"})), policy)


@tabled("word, pred, gold, wanted")
def test_text_around_references_is_only_folded(word: str, pred: str, gold: str, wanted: bool) -> None:
    first = {"name": "g", "label": "$var_1", "arguments": {}}
    texts = [text.replace("{}", "$var_1.out$") for text in (pred, gold)]
    one, other = (pe.parse([first, {"name": "f", "label": "$var_2", "arguments": {"x": x}}]) for x in texts)
    assert pe.diff(one, other, policy=rule(word)).same is wanted


def test_an_alias_of_an_alias_is_refused() -> None:
    with pytest.raises(pe.PlanevalError, match="the alias 'NYC' stands for 'New York', which is an alias"):
        rule(aliases={"NYC": "New York", "new york": "New York City"})
    assert rule(aliases={"NYC": "New York", "New York": "new york"})


@pytest.mark.parametrize(("text", "said"), TABLES["WRONG"])
def test_it_is_told_by_file_and_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(str(file))
    told = str(caught.value)
    assert (f"{file}, {said}" if said.startswith("line") else said).replace("{}", str(tmp_path)) in told
    assert str(file) in told
    assert told.count("rule 1") <= 1


@tabled("text, said")
def test_it_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "leaving.py").write_text("def out(ours, theirs):\n    raise SystemExit(0)\n")
    (tmp_path / "own.toml").write_text(text)
    for name, value in (("pred", 2), ("gold", 1)):
        (tmp_path / name).write_text(json.dumps([{"name": "f", "arguments": {"x": value}}]))
    done = planeval("diff", tmp_path / "pred", tmp_path / "gold", "--policy", tmp_path / "own.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/own.toml, " in done.stderr
    assert said in " ".join(done.stderr.split())


def test_the_place_in_a_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "a"\n[[tool.planeval.rule]]\nargument = "x"\npattern = "("\n')
    with pytest.raises(PolicyError, match=r"pyproject\.toml, line 3, rule 1: the pattern"):
        load_policy(str(file))


@tabled("rules")
def test_what_changes_something_is_taken(rules: str, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(rules)
    assert len(load_policy(str(tmp_path / "rules.toml")).rules) == rules.count("[[rule]]")
    (tmp_path / "base.toml").write_text('[[rule]]\nargument = "x"\ncompare = "date"\n')
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[[rule]]\n')  # which takes that back
    assert len(load_policy(str(tmp_path / "own.toml")).rules) == 2
    for name in presets():
        assert find_idle_rule(load_policy(name).rules) is None


NAMED = st.sampled_from(["*", "f", "g", "f*", "?", "?*"])


@given(st.lists(st.builds(Rule, tool=NAMED, argument=NAMED, compare=st.just(("date",))), max_size=8))
def test_a_rule_is_idle_where_one_that_comes_later_fits_all_that_it_fits(rules: list[Rule]) -> None:
    def over(later: str, text: str) -> bool:
        return later in ("*", text) or ("*" not in text and "?" not in text and fits(later, text))

    covered = [
        at
        for at, rule in enumerate(rules)
        if any(over(one.tool, rule.tool) and over(one.argument, rule.argument) for one in rules[at + 1 :])
    ]
    found = find_idle_rule(rules)
    assert (found.at if found else None) == next(iter(covered), None)


PAGE_NAMES = ("policies", "scores", "comparison")
PAGE = "\n".join(
    loaded("commands").on_page_markdown((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    for name in PAGE_NAMES
)


@pytest.mark.parametrize("table", [COMPARE, ORDERS, NAMES], ids=["rules", "orders", "names"])
def test_every_row_is_there(table: dict[str, str]) -> None:
    assert [name for name, said in table.items() if f"| `{name}` | {said} |" not in PAGE] == []


def test_metrics_are_there() -> None:
    rows = {m.name: (f"| `{m.name}` | {m.group} |", m.title) for m in METRICS.values()}
    assert [name for name, said in rows.items() if not all(one in PAGE for one in said)] == []


def test_presets_answers_are_there() -> None:
    order = ("strict", "lenient", "appbench", "nestful", "callnavi", "complexfuncbench", "functionchat")
    lines = PAGE.splitlines()
    for pair in PAIRS:
        if pair["policy_dependent"]:
            line = next(one for one in lines if one.startswith(f"| {pair['id']} {pair['what']} |"))
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert (cells[1] == "same") is (pair["id"] in SAME["default"])
            assert [cell == "same" for cell in cells[3:]] == [pair["id"] in SAME[name] for name in order]


SCALARS = st.sampled_from([
    None, True, False, 0, 1, 1.0, 1.1, 2, 7, "7", "7.0", "a", "A", "a, b", "b,a", "$$$", "true", "2024-05-01",
    "May 1, 2024", "6:30 pm", "18:30", "nyc", "New York", "nyc, 7", "", {},
])  # fmt: skip
TOOLS, ARGUMENTS = ("f", "g", "h"), ("x", "y")


@st.composite
def values(draw: st.DrawFn, calls: int) -> Any:
    """A scalar, a reference to a call of the plan, or a list or an object of them."""

    def leaf() -> Any:
        if calls and draw(st.booleans()):
            return Ref(draw(st.integers(0, calls - 1)), draw(st.sampled_from([(), (), ("o",)])))
        return Unresolved("z") if draw(st.integers(0, 15)) == 0 else draw(SCALARS)

    kind = draw(st.integers(0, 5))
    if kind >= 4:
        return [leaf() for _ in range(draw(st.integers(0, 3)))]
    return {"k": leaf(), "m": leaf()} if kind == 3 else leaf()


@st.composite
def plans(draw: st.DrawFn, most: int = 5) -> Plan:
    """A plan whose calls may refer to later ones, to themselves and in circles, though seldom."""
    count = draw(st.integers(0, most))
    astray = draw(st.integers(0, 4)) == 0
    calls = []
    for at in range(count):
        reach = count if astray else at
        named = draw(st.lists(st.sampled_from(ARGUMENTS), unique=draw(st.integers(0, 9)) > 0, max_size=2))
        given_ = tuple((name, draw(values(reach))) for name in named)
        tool, app = draw(st.sampled_from(TOOLS)), draw(st.sampled_from([None, None, "A"]))
        calls.append(Call(f"c{at}", tool, given_, app))
    answer = (("out", draw(values(count))),) if draw(st.integers(0, 3)) == 0 else None
    return Plan(tuple(calls), edges(tuple(calls)), answer)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    return Rule(
        tool=draw(st.sampled_from(["*", "*", "*", "f"])), argument=draw(st.sampled_from(["*", "*", "x"])),
        compare=tuple(draw(st.lists(st.sampled_from(sorted(COMPARE)), unique=True, max_size=4))),
        tolerance=draw(st.sampled_from([None, None, 0.1, 1])),
        relative=draw(st.sampled_from([None, None, 0.1])),
        accepted=tuple(draw(st.lists(SCALARS, max_size=1))),
        aliases=draw(st.sampled_from([{}, {}, {"nyc": "New York"}])),
        default=draw(st.one_of(st.just(NOTHING), st.just(NOTHING), SCALARS)),
        pattern=draw(st.sampled_from([None, None, "[A-Z]"])),
        function=draw(st.sampled_from([None, None, lambda ours, theirs: type(ours) is type(theirs)])),
    )  # fmt: skip


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    return Policy(
        rules=tuple(draw(st.lists(rules(), min_size=draw(st.sampled_from([0, 1, 1])), max_size=3))),
        order=draw(st.sampled_from(sorted(ORDERS))), names=draw(st.sampled_from(["exact", "loose"])),
        answer=draw(st.booleans()), inline=draw(st.booleans()), repeats=draw(st.booleans()),
        stateful=draw(st.sampled_from([(), ("f",)])), wildcards=draw(st.sampled_from([(), ("$$$", {})])),
        defaults=draw(st.sampled_from([{}, {("f", "x"): "7"}])),
        outputs=draw(st.sampled_from([{}, {"f": "o"}])),
    )  # fmt: skip


@st.composite
def terms(draw: st.DrawFn, gold: Plan) -> Terms:
    ids = st.sampled_from([call.id for call in gold.calls] or ["none"])
    some = st.frozensets(ids, max_size=2)
    return Terms(
        optional=draw(some), before=tuple(draw(st.lists(st.tuples(ids, ids), max_size=3))),
        unordered=tuple(draw(st.lists(st.frozensets(ids, max_size=3), max_size=2))),
        accepted={name: {"x": (draw(SCALARS),)} for name in draw(some)},
        omittable={name: frozenset({"y"}) for name in draw(some)},
    )  # fmt: skip


@st.composite
def answers(draw: st.DrawFn, gold: Plan) -> Plan:
    """A prediction made of gold: arguments changed, added, left out, lists turned round, calls doubled."""
    calls = list(gold.calls)
    for _ in range(draw(st.integers(1, 3)) if calls else 0):
        at = draw(st.integers(0, len(calls) - 1))
        given_ = dict(calls[at].arguments)
        name = draw(st.sampled_from([*given_] or ARGUMENTS))
        change = draw(st.integers(0, 5))
        if change == 0:
            given_[draw(st.sampled_from(ARGUMENTS))] = draw(values(at))
        elif change == 1:
            given_.pop(name, None)
        elif change == 2 and isinstance(given_.get(name), list):
            given_[name] = draw(st.permutations(given_[name]))[: draw(st.integers(0, 4))]
        elif change == 3:
            calls.append(replace(calls[at], id=f"d{len(calls)}"))
            continue
        elif change == 4:
            calls[at], calls[0] = calls[0], calls[at]  # references stay where they point
            continue
        else:
            given_[name] = alike(given_.get(name), draw(st.integers(0, 1)))
        calls[at] = replace(calls[at], arguments=tuple(given_.items()))
    return Plan(tuple(calls), edges(tuple(calls)), gold.answer)


ALIKE = [
    [True, 1, "1", "true"], ["7", 7, "7.0"], [1, 1.1, 1.0], ["a", "A"], ["a, b", "b,a"], ["nyc", "New York"],
    ["2024-05-01", "May 1, 2024"], ["6:30 pm", "18:30"], ["$$$", 2, {}], [None, "", 0],
]  # fmt: skip


def alike(item: Any, which: int) -> Any:
    """Another value that some rule takes for this one."""
    if isinstance(item, list):
        return [alike(one, which) for one in item[::-1]]
    if isinstance(item, dict) and item:
        return {key: alike(one, which) for key, one in item.items()}
    others = next((group for group in ALIKE for one in group if repr(one) == repr(item)), None)
    return item if others is None else others[which] if repr(others[which]) != repr(item) else others[-1]


def wrong(found: Mapping[str, Tally | None]) -> dict[str, Tally]:
    """The figures that are not those of a plan that is right."""
    best = {name: 0 if METRICS[name].lower else 1 for name in found}
    there = {name: tally for name, tally in found.items() if tally is not None}
    return {name: tally for name, tally in there.items() if tally.value not in (None, best[name])}


@examples(300)
@given(st.data())
def test_gold_is_right_under_every_policy_and_every_terms(data: st.DataObject) -> None:
    gold = data.draw(plans())
    policy, open_ = data.draw(policies()), data.draw(terms(gold))
    for pred in (gold, Plan(gold.calls, gold.edges, gold.answer)):
        assert diff(pred, gold, policy, open_).edits == ()
        assert wrong(score(pred, gold, policy, open_)) == {}
        assert compare_structure(pred, gold, policy, open_).same


def test_a_circle_that_a_policy_takes_still_has_to_keep_golds_order() -> None:
    gold = parse("a = f(#y='1')\nb = g(#x=a)")
    said = "g (call 1, gold's 2) is written before f (call 2, gold's 1), whose output it needs"
    taken = Policy(rules=(Rule(compare=("any", "optional")),), order="data")
    circle = parse("b = g(#x=a)\na = f(#y=b)")
    for pred in (parse("b = g(#x=a)\na = f(#y='1')"), circle):
        assert [edit.message for edit in diff(pred, gold, taken).edits] == [said]
        assert wrong(score(pred, gold, taken)).keys() >= {"exact", "order_tau", "precedences"}
    assert said not in [edit.message for edit in diff(circle, gold).edits]  # its wrong argument is told


@examples(600)
@given(st.data())
def test_what_a_policy_takes_for_right_is_right_in_every_figure(data: st.DataObject) -> None:
    gold = data.draw(plans(4))
    pred = data.draw(answers(gold)) if data.draw(st.integers(0, 4)) else data.draw(plans(4))
    policy, open_ = data.draw(policies()), data.draw(terms(gold))
    found = diff(pred, gold, policy, open_)
    figures = score(pred, gold, policy, open_)
    exact = figures["exact"]
    assert exact is not None
    assert exact.value == found.same
    if found.same:
        assert wrong(figures) == {}
        assert compare_structure(pred, gold, policy, open_).same
    for name in DEFAULT_METRICS:
        tally = figures[name]
        if isinstance(tally, Counts):
            assert 0 <= tally.hit <= min(tally.pred, tally.gold), name
        if tally is not None and tally.value is not None:
            assert (-1 if name == "order_tau" else 0) <= tally.value <= 1, name


# ---------------------------------------------------------------- which calls count
SHOP = [
    {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "buy", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": False}},
]


@tabled("text, same")
def test_a_policy_says_which_calls_count(text: str, same: bool, tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps({"tools": SHOP}))
    (tmp_path / "p.toml").write_text(text)
    policy = load_policy(str(tmp_path / "p.toml"))
    assert pe.diff("look(#x='1')\nbuy(#y='2')", "buy(#y='2')", policy).same is same
    assert pe.diff("buy(#y='2')", "buy(#y='2')", policy).same


@tabled("answer, failed")
def test_a_failed_call_need_not_count(answer: dict[str, Any], failed: bool) -> None:
    calls = [{"id": str(y), "name": "buy", "arguments": {"y": y}} for y in (1, 2)]
    pred = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "1", **answer}]
    free = replace(pe.Policy(), failed="free")
    assert (pe.diff(pred, calls[1:]).same, pe.diff(pred, calls[1:], free).same) == (False, failed)
    assert not pe.diff(calls[:1], calls[1:], free).same
    run = recorded_run(pe.parse(pred), pred)
    assert run is not None
    assert (run.tools[0].error is not None, run.tools[1].error) == (failed, None)


@tabled("text, message")
def test_what_cannot_be_meant_of_calls_that_count_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "unmarked.json").write_text(json.dumps([{"name": "f", "parameters": {}}]))
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(PolicyError, match=message):
        load_policy(str(tmp_path / "p.toml"))


def test_appbench_marks_acting_tools_alone_and_others_read(reference: Path) -> None:
    from planner_eval.catalogs.record_tools import catalog_facts

    facts = catalog_facts(str(reference / "datasets/appbench/catalogue.json"))
    assert "Hotels_2.SearchHouse" in facts.reads or facts.reads
