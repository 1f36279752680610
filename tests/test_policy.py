"""Policies: each rule, each preset on the 38 pairs, what a gold plan may leave open, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner_eval.base import resources
from planner_eval.base.errors import InputError, PolicyError
from planner_eval.comparison.diff import diff, diff_any
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.policy import NO_TERMS, Policy, Terms
from planner_eval.policy.file import load_policy, presets
from planner_eval.policy.rule import COMPARE, Rule
from planner_eval.policy.values import LEAVES
from planner_eval.records.files import Record
from planner_eval.records.gold import read_gold, terms_of
from tests.build import plan
from tests.inside import planeval

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))

# What each preset answers to the 8 pairs whose answer hangs on a policy; documented in docs/comparison.md.
SAME: dict[str, set[str]] = {
    "default": {"20"}, "strict": set(), "lenient": {"13", "14", "19", "20", "21", "24", "35"},
    "appbench": {"13", "19", "20"}, "nestful": {"19", "20"}, "callnavi": {"20", "21", "24"},
    "complexfuncbench": {"20"}, "functionchat": {"13", "20"},
}  # fmt: skip


def test_every_preset_is_listed_here() -> None:
    assert set(presets()) == set(SAME)
    assert set(LEAVES) <= set(COMPARE)


@pytest.mark.parametrize("name", SAME)
def test_preset_on_the_pairs(name: str) -> None:
    policy = load_policy(name)
    for pair in PAIRS:
        wanted = pair["id"] in SAME[name] if pair["policy_dependent"] else pair["same"]
        assert diff(plan(pair["pred"]), plan(pair["gold"]), policy).same is wanted, pair["id"]


def one(value: object, name: str = "x") -> Plan:
    return Plan((Call("c0", "f", ((name, value),), "App"),))


def same(pred: Plan, gold: Plan, **rule: object) -> bool:
    return diff(pred, gold, Policy(rules=(Rule(**rule),))).same  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "pred", "gold", "wanted"), [
    ({"compare": ("casefold",)}, " new  YORK", "New York", True),
    ({"compare": ("casefold",)}, ["A", {"k": "B"}], ["a", {"k": "b"}], True),
    ({"compare": ("casefold",)}, "NewYork", "New York", False),
    ({"compare": ("blankless",)}, "newYork", "New York", True), ({"compare": ("typed",)}, 7.0, 7, False),
    ({"compare": ("typed",)}, 7.5, 7.5, True), ({"compare": ("numbers",)}, "7.50", 7.5, True),
    ({"compare": ("numbers",)}, "7,5", 7.5, False), ({"compare": ("numbers",)}, True, 1, False),
    ({"compare": ("booleans",)}, True, 1, True), ({"compare": ("booleans",)}, "False", False, True),
    ({"compare": ("date",)}, "May 1st, 2024", "2024-05-01", True),
    ({"compare": ("date",)}, "01/05/2024", "2024-05-01", False),
    ({"compare": ("time",)}, "6:30 PM", "18:30", True), ({"compare": ("set",)}, "b, a, b", ["a", "b"], True),
    ({"compare": ("set",)}, ["a"], ["a", "b"], False),
    ({"compare": ("casefold", "set")}, "WiFi,Pool", ["pool", "wifi"], True),
    ({"compare": ("set", "casefold")}, "WiFi,Pool", ["pool", "wifi"], True),
    ({"compare": ("unordered",)}, [2, 1], [1, 2], True), ({"compare": ("unordered",)}, [1, 1], [1], False),
    ({"compare": ("subset",)}, ["a"], ["a", "b"], True), ({"compare": ("subset",)}, ["c"], ["a", "b"], False),
    ({"compare": ("subset",)}, {"k": 1}, {"k": 1, "m": 2}, True),
    ({"compare": ("superset",)}, "a, b, c", "a, b", True), ({"compare": ("superset",)}, "a", "a, b", False),
    ({"compare": ("any",)}, "whatever", "gold", True), ({"compare": ("ignore",)}, "whatever", "gold", True),
    ({"tolerance": 0.01}, 3.149, 3.14, True), ({"tolerance": 0.01}, 3.16, 3.14, False),
    ({"relative": 0.1}, 108, 100, True), ({"relative": 0.1}, [108, 1], [100, 1], True),
    ({"relative": 0.1}, [108, 2], [100, 1], False), ({"tolerance": 1}, True, 1, False),
    ({"tolerance": 1}, 10**400, 1.5, False), ({"tolerance": 1}, float("nan"), 1.5, False),
    ({"compare": ("numbers",), "tolerance": 0.1}, "3.15", "3.1", True),
    ({"accepted": ("NYC", "New York City")}, "NYC", "New York", True),
    ({"accepted": ("NYC",), "compare": ("casefold",)}, "nyc", "New York", True),
    ({"accepted": ("NYC",)}, "LA", "New York", False),
    ({"aliases": {"nyc": "New York"}}, "NYC", "New York", True),
    ({"aliases": {"nyc": "New York"}, "compare": ("casefold",)}, "NYC", "new york", True),
    ({"pattern": r"\d{4}"}, "2024", "1999", True), ({"pattern": r"\d{4}"}, "20245", "1999", False),
    ({"function": lambda ours, theirs: len(ours) == len(theirs)}, "abc", "xyz", True),
    ({"function": lambda ours, theirs: False}, "abc", "xyz", False),
])  # fmt: skip
def test_rule(rule: dict, pred: object, gold: object, wanted: bool) -> None:
    assert same(one(pred), one(gold), **rule) is wanted


WILD = [("*", "*", True), ("f", "x", True), ("App.f", "x", True), ("App.*", "?", True),
        ("Other.*", "x", False), ("f", "y", False), ("F", "x", False)]  # fmt: skip


def test_a_rule_names_tools_and_arguments_and_the_last_that_fits_holds() -> None:
    for tool, argument, wanted in WILD:
        assert same(one("A"), one("a"), tool=tool, argument=argument, compare=("casefold",)) is wanted
    policy = Policy(rules=(Rule(compare=("casefold",)), Rule(argument="code", compare=("exact",))))
    assert diff(one("A"), one("a"), policy).same
    assert not diff(one("A", "code"), one("a", "code"), policy).same


@pytest.mark.parametrize(("rule", "pred", "gold", "wanted"), [
    ({"compare": ("optional",)}, {}, {"x": 1}, True), ({"compare": ("optional",)}, {"x": 1}, {}, True),
    ({"compare": ("extra",)}, {"x": 1}, {}, True), ({"compare": ("extra",)}, {}, {"x": 1}, False),
    ({"compare": ("any",)}, {}, {"x": 1}, False), ({"default": 10}, {"x": 10}, {}, True),
    ({"default": 10}, {}, {"x": 10.0}, True), ({"default": 10}, {"x": 11}, {}, False),
    ({"default": "10", "compare": ("numbers",)}, {"x": 10}, {}, True),
    ({"compare": ("ignore",)}, {"x": 1}, {}, True),
])  # fmt: skip
def test_rule_on_what_is_not_there(rule: dict, pred: dict, gold: dict, wanted: bool) -> None:
    ours, theirs = (Plan((Call("c", "f", tuple(given.items())),)) for given in (pred, gold))
    assert same(ours, theirs, **rule) is wanted
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
    assert "gold wants it before b (call 1, gold's 2)" in found.edits[0].message
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
    said = "c (call 1, gold's 3) is out of order: gold wants it after a (call 3, gold's 1)"
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


def test_wildcards_of_gold() -> None:
    policy = Policy(wildcards=("$$$",))
    assert diff(one("anything"), one("$$$"), policy).same
    assert not diff(one("$$$"), one("anything"), policy).same
    assert not diff(Plan((Call("c", "f", (), "App"),)), one("$$$"), policy).same


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
    calls = [
        {"id": "c1", "name": "f", "arguments": {"city": "Rome"}},
        {"id": "c2", "name": "g", "arguments": {}},
    ]
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
    assert terms_of({}, Plan()) is NO_TERMS


def test_the_nearest_alternative_explains() -> None:
    found, chosen = diff_any(named("a", "x"), [(named("b", "c"), NO_TERMS), (named("a", "b"), NO_TERMS)])
    assert chosen == 1
    assert [e.code for e in found.edits] == ["call.extra", "call.missing"]


@pytest.mark.parametrize(("fields", "said"), [
    ({"optional": ["c9"]}, "names the call 'c9'; the plan's calls are c1, c2"),
    ({"optional": "c1"}, "optional is 'c1', expected a list"),
    ({"before": [["c1"]]}, "before 1 is ['c1'], expected 2 call ids"),
    ({"unordered": ["c1"]}, "unordered 1 is 'c1', expected a list"),
    ({"accepted": ["c1"]}, "expected call → argument → list of values"),
    ({"accepted": {"c1": {"cty": ["Roma"]}}}, "'cty' of call 'c1'; did you mean 'city'?"),
    ({"omittable": {"c2": ["nn"]}}, "'nn' of call 'c2'; the call gives none"),
    ({"accepted": {"c1": {"city": [{"$ref": "c2"}]}}}, "write the plan with that reference under 'alt"),
    ({"accepted": {"c1": {"city": [["$c2.id$"]]}}}, "gives call 'c1' a reference for 'city'"),
    ({"alternatives": "f()"}, "alternatives is 'f()', expected a list"),
])  # fmt: skip
def test_bad_terms_name_the_record(fields: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_gold(record(**fields))
    assert said in str(caught.value)
    assert "gold.json, record 1 (id r1)" in str(caught.value)


def test_extends_and_tables(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('order = "free"\n[[rule]]\ncompare = ["casefold"]\n')
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "base.toml"\n[[rule]]\nargument = "city"\ncompare = "casefold"\naliases = "cities"\n'
    )
    policy = load_policy(str(file))
    assert (policy.name, policy.order, len(policy.rules)) == ("mine", "free", 2)
    assert diff(one("NYC", "city"), one("New York", "city"), policy).same
    assert not diff(one("NYC"), one("New York"), policy).same


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


def test_a_project_keeps_its_policy(tmp_path: Path) -> None:
    """What is beside the policy in a project's file, a policy's own file may not have."""
    for name in ("planeval.toml", "mine.toml"):
        (tmp_path / name).write_text('order = "free"\nmetrics = "exact"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.planeval]\nextends = "planeval.toml"\n[project]\n')
    assert load_policy(str(tmp_path / "pyproject.toml")).order == "free"
    with pytest.raises(PolicyError, match="there is no key 'metrics'"):
        load_policy(str(tmp_path / "mine.toml"))


def test_command_line(tmp_path: Path) -> None:
    files = tmp_path / "p.json", tmp_path / "g.json"
    for file, value in zip(files, "Aa", strict=True):
        file.write_text(json.dumps([{"name": "f", "arguments": {"x": value}}]))
    for argv, code in (((), 1), (("--policy", "lenient"), 0), (("--policy", "nonsense"), 2)):
        done = planeval("diff", *files, *argv)
        assert done.returncode == code
    assert "there is no policy 'nonsense'" in done.stderr
