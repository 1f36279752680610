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
from planner_eval.policy.file import load_policy, policy_of, presets
from planner_eval.policy.rule import COMPARE, Rule
from planner_eval.policy.values import LEAVES, Form
from planner_eval.records.files import Record
from planner_eval.records.gold import read_gold, terms_of
from planner_eval.records.rows import evaluate
from tests.build import edges, plan
from tests.inside import planeval

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))

# What each preset answers to the 8 pairs whose answer hangs on a policy; documented in docs/comparison.md.
SAME: dict[str, set[str]] = {
    "default": {"20"},
    "strict": set(),
    "lenient": {"13", "14", "19", "20", "21", "24", "35"},
    "appbench": {"13", "19", "20"},
    "nestful": {"19", "20"},
    "callnavi": {"20", "21", "24"},
    "complexfuncbench": {"20"},
    "functionchat": {"13", "20"},
}


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


@pytest.mark.parametrize(
    ("rule", "pred", "gold", "wanted"),
    [
        ({"compare": ("casefold",)}, " new  YORK", "New York", True),
        ({"compare": ("casefold",)}, ["A", {"k": "B"}], ["a", {"k": "b"}], True),
        ({"compare": ("casefold",)}, "NewYork", "New York", False),
        ({"compare": ("blankless",)}, "newYork", "New York", True),
        ({"compare": ("typed",)}, 7.0, 7, False),
        ({"compare": ("typed",)}, 7.5, 7.5, True),
        ({"compare": ("numbers",)}, "7.50", 7.5, True),
        ({"compare": ("numbers",)}, "7,5", 7.5, False),
        ({"compare": ("numbers",)}, True, 1, False),
        ({"compare": ("booleans",)}, True, 1, True),
        ({"compare": ("booleans",)}, "False", False, True),
        ({"compare": ("date",)}, "May 1st, 2024", "2024-05-01", True),
        ({"compare": ("date",)}, "01/05/2024", "2024-05-01", False),
        ({"compare": ("time",)}, "6:30 PM", "18:30", True),
        ({"compare": ("set",)}, "b, a, b", ["a", "b"], True),
        ({"compare": ("set",)}, ["a"], ["a", "b"], False),
        ({"compare": ("casefold", "set")}, "WiFi,Pool", ["pool", "wifi"], True),
        ({"compare": ("set", "casefold")}, "WiFi,Pool", ["pool", "wifi"], True),
        ({"compare": ("unordered",)}, [2, 1], [1, 2], True),
        ({"compare": ("unordered",)}, [1, 1], [1], False),
        ({"compare": ("subset",)}, ["a"], ["a", "b"], True),
        ({"compare": ("subset",)}, ["c"], ["a", "b"], False),
        ({"compare": ("subset",)}, {"k": 1}, {"k": 1, "m": 2}, True),
        ({"compare": ("superset",)}, "a, b, c", "a, b", True),
        ({"compare": ("superset",)}, "a", "a, b", False),
        ({"compare": ("any",)}, "whatever", "gold", True),
        ({"compare": ("ignore",)}, "whatever", "gold", True),
        ({"tolerance": 0.01}, 3.149, 3.14, True),
        ({"tolerance": 0.01}, 3.16, 3.14, False),
        ({"relative": 0.1}, 108, 100, True),
        ({"relative": 0.1}, [108, 1], [100, 1], True),
        ({"relative": 0.1}, [108, 2], [100, 1], False),
        ({"tolerance": 1}, True, 1, False),
        ({"tolerance": 1}, 10**400, 1.5, False),
        ({"tolerance": 1}, float("nan"), 1.5, False),
        ({"compare": ("numbers",), "tolerance": 0.1}, "3.15", "3.1", True),
        ({"accepted": ("NYC", "New York City")}, "NYC", "New York", True),
        ({"accepted": ("NYC",), "compare": ("casefold",)}, "nyc", "New York", True),
        ({"accepted": ("NYC",)}, "LA", "New York", False),
        ({"aliases": {"nyc": "New York"}}, "NYC", "New York", True),
        ({"aliases": {"nyc": "New York"}, "compare": ("casefold",)}, "NYC", "new york", True),
        ({"pattern": r"\d{4}"}, "2024", "1999", True),
        ({"pattern": r"\d{4}"}, "20245", "1999", False),
        ({"function": lambda ours, theirs: len(ours) == len(theirs)}, "abc", "xyz", True),
        ({"function": lambda ours, theirs: False}, "abc", "xyz", False),
    ],
)
def test_rule(rule: dict, pred: object, gold: object, wanted: bool) -> None:
    assert same(one(pred), one(gold), **rule) is wanted


@pytest.mark.parametrize(
    ("rule", "pred", "gold", "wanted"),
    [
        ({"compare": ("optional",)}, {}, {"x": 1}, True),
        ({"compare": ("optional",)}, {"x": 1}, {}, True),
        ({"compare": ("extra",)}, {"x": 1}, {}, True),
        ({"compare": ("extra",)}, {}, {"x": 1}, False),
        ({"compare": ("any",)}, {}, {"x": 1}, False),
        ({"default": 10}, {"x": 10}, {}, True),
        ({"default": 10}, {}, {"x": 10.0}, True),
        ({"default": 10}, {"x": 11}, {}, False),
        ({"default": "10", "compare": ("numbers",)}, {"x": 10}, {}, True),
        ({"compare": ("ignore",)}, {"x": 1}, {}, True),
    ],
)
def test_rule_on_what_is_not_there(rule: dict, pred: dict, gold: dict, wanted: bool) -> None:
    ours, theirs = (Plan((Call("c", "f", tuple(given.items())),)) for given in (pred, gold))
    assert same(ours, theirs, **rule) is wanted


@pytest.mark.parametrize(
    ("tool", "argument", "wanted"),
    [
        ("*", "*", True),
        ("f", "x", True),
        ("App.f", "x", True),
        ("App.*", "?", True),
        ("Other.*", "x", False),
        ("f", "y", False),
        ("F", "x", False),
    ],
)
def test_wildcards(tool: str, argument: str, wanted: bool) -> None:
    assert same(one("A"), one("a"), tool=tool, argument=argument, compare=("casefold",)) is wanted


def test_the_last_rule_that_fits_holds() -> None:
    policy = Policy(rules=(Rule(compare=("casefold",)), Rule(argument="code", compare=("exact",))))
    assert diff(one("A"), one("a"), policy).same
    assert not diff(one("A", "code"), one("a", "code"), policy).same


def test_references_are_compared_whatever_the_values() -> None:
    def two(producer: int, items: list[int]) -> Plan:
        calls = (
            Call("a", "f", (("n", 1),)),
            Call("b", "f", (("n", 2),)),
            Call("c", "g", (("x", Ref(producer)), ("y", [Ref(i) for i in items]))),
        )
        return Plan(calls, edges(calls))

    lenient = load_policy("lenient")
    assert not diff(two(0, [0, 1]), two(1, [0, 1]), lenient).same
    assert not diff(two(0, [1, 0]), two(0, [0, 1]), lenient).same
    unordered = Policy(rules=(Rule(argument="y", compare=("unordered",)),))
    assert diff(two(0, [1, 0]), two(0, [0, 1]), unordered).same
    assert not diff(two(0, [1, 1]), two(0, [0, 1]), unordered).same


def test_one_wrong_value_stays_visible_and_shows_what_was_written() -> None:
    found = diff(one(" NEW york "), one("Rome"), load_policy("lenient"))
    assert [(e.code, e.pred_value, e.gold_value) for e in found.edits] == [
        ("argument.value", " NEW york ", "Rome")
    ]


def test_assignment_takes_accepted_values_into_account() -> None:
    """A first-fit matcher rejects this: f(1) would take the gold call that only f(1) satisfies."""

    def calls(*values: object) -> Plan:
        return Plan(tuple(Call(f"c{i}", "f", (("x", v),)) for i, v in enumerate(values)))

    either = Terms(accepted={"c0": {"x": (2,)}})
    assert diff(calls(1, 2), calls(1, 1), terms=either).same
    assert diff(calls(2, 1), calls(1, 1), terms=either).same
    assert not diff(calls(2, 2), calls(1, 1), terms=either).same


# ---------------------------------------------------------------- orders, repeats, answers
def named(*names: str) -> Plan:
    return Plan(tuple(Call(f"c{i + 1}", name) for i, name in enumerate(names)))


def test_written_order() -> None:
    written = Policy(order="written")
    assert diff(named("a", "b", "c"), named("a", "b", "c"), written).same
    found = diff(named("b", "c", "a"), named("a", "b", "c"), written)
    assert [(e.code, e.pred and e.pred.call) for e in found.edits] == [("order.broken", 2)]
    assert "gold wants it before b (call 1, gold's 2)" in found.edits[0].message
    free = Terms(unordered=(frozenset({"c1", "c2"}),))
    assert diff(named("b", "a", "c"), named("a", "b", "c"), written, free).same
    assert not diff(named("b", "c", "a"), named("a", "b", "c"), written, free).same


def test_flat_order_asks_for_written_order_only_without_references() -> None:
    flat = Policy(order="flat")
    assert not diff(named("b", "a"), named("a", "b"), flat).same
    pair = next(pair for pair in PAIRS if pair["id"] == "02")
    assert diff(plan(pair["pred"]), plan(pair["gold"]), flat).same


def test_free_order_forgives_a_call_before_its_producer() -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == "08")
    assert diff(plan(pair["pred"]), plan(pair["gold"]), Policy(order="free")).same


def test_must_precede() -> None:
    terms = Terms(before=(("c1", "c3"),))
    assert diff(named("b", "a", "c"), named("a", "b", "c"), terms=terms).same
    found = diff(named("c", "b", "a"), named("a", "b", "c"), terms=terms)
    assert [e.code for e in found.edits] == ["order.broken"]
    assert (
        found.edits[0].message
        == "c (call 1, gold's 3) is out of order: gold wants it after a (call 3, gold's 1)"
    )


def test_optional_calls() -> None:
    gold, terms = named("a", "b", "b"), Terms(optional=frozenset({"c2"}))
    assert diff(named("a", "b", "b"), gold, terms=terms).same
    assert not diff(named("a"), gold, terms=terms).same
    assert diff(named("a", "b"), named("a", "b", "x"), terms=Terms(optional=frozenset({"c3"}))).same
    assert not diff(named("a", "b", "x", "x"), named("a", "b", "x"), terms=terms).same


def test_one_of_two_equal_calls_may_be_optional() -> None:
    assert diff(named("a", "b"), named("a", "b", "b"), terms=Terms(optional=frozenset({"c2"}))).same


def test_repeats_count_for_stateful_tools_only() -> None:
    policy = Policy(repeats=False, stateful=("Bank.*",))
    assert diff(named("look", "look"), named("look"), policy).same
    twice = Plan((Call("a", "pay", app="Bank"), Call("b", "pay", app="Bank")))
    assert not diff(Plan(twice.calls[:1]), twice, policy).same
    assert diff(Plan(twice.calls[:1]), twice, Policy(repeats=False)).same
    assert not diff(named("look", "look"), named("look")).same


def test_merged_repeats_keep_their_consumers() -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == "18")
    assert diff(plan(pair["pred"]), plan(pair["gold"]), Policy(repeats=False)).same


def test_the_answer_may_be_left_out_of_account() -> None:
    with_answer = Plan(named("a").calls, (), (("out", Ref(0)),))
    assert not diff(named("a"), with_answer).same
    assert diff(named("a"), with_answer, Policy(answer=False)).same


def test_wildcards_of_gold() -> None:
    policy = Policy(wildcards=("$$$",))
    assert diff(one("anything"), one("$$$"), policy).same
    assert not diff(one("$$$"), one("anything"), policy).same
    assert not diff(Plan((Call("c", "f", (), "App"),)), one("$$$"), policy).same


def test_inlined_calls_nest() -> None:
    gold = plan(
        [
            {"id": "a", "name": "inner", "arguments": {"n": 1}},
            {"id": "b", "name": "middle", "arguments": {"x": {"$ref": "a", "path": ["id"]}}},
            {"id": "c", "name": "outer", "arguments": {"y": [{"$ref": "b"}], "z": {"$ref": "a"}}},
        ]
    )
    inner = {"name": "inner", "arguments": {"n": 1}}
    middle = {"name": "middle", "arguments": {"x": inner}}
    pred = plan([{"id": "c", "name": "outer", "arguments": {"y": [middle], "z": inner}}])
    policy = Policy(inline=True, repeats=False)
    assert diff(pred, gold, policy).same
    assert not diff(pred, gold, Policy(inline=True)).same  # inner is called twice


def test_a_call_inlined_in_an_object_is_taken_out_and_the_object_stays() -> None:
    gold = plan(
        [
            {"id": "a", "name": "inner", "arguments": {"n": 1}},
            {"id": "b", "name": "outer", "arguments": {"y": {"k": {"$ref": "a"}, "m": 2}}},
        ]
    )
    inner = {"name": "inner", "arguments": {"n": 1}}
    for m, same in ((2, True), (3, False)):
        pred = plan([{"id": "c", "name": "outer", "arguments": {"y": {"k": inner, "m": m}}}])
        assert diff(pred, gold, Policy(inline=True)).same is same


# ---------------------------------------------------------------- gold records
def record(**fields: object) -> Record:
    calls = [
        {"id": "c1", "name": "f", "arguments": {"city": "Rome"}},
        {"id": "c2", "name": "g", "arguments": {}},
    ]
    return Record("gold.json", 0, "r1", calls, fields=fields)


def test_gold_record_with_terms_and_alternatives() -> None:
    gold = read_gold(
        record(
            optional=["c2"],
            accepted={"c1": {"city": ["Roma", "ROME"]}},
            alternatives=[
                [{"id": "x", "name": "h", "arguments": {}}],
                {"gold": [{"id": "c1", "name": "k", "arguments": {}}], "optional": ["c1"]},
            ],
        )
    )
    assert [len(p) for p, _ in gold.plans] == [2, 1, 1]
    roma = plan([{"id": "a", "name": "f", "arguments": {"city": "Roma"}}])
    assert diff_any(roma, gold.plans).diff.same
    assert diff_any(plan([{"id": "a", "name": "h", "arguments": {}}]), gold.plans).number == 1
    assert diff_any(Plan(), gold.plans).number == 2
    assert terms_of({}, Plan()) is NO_TERMS


def test_the_nearest_alternative_explains() -> None:
    found, chosen = diff_any(named("a", "x"), [(named("b", "c"), NO_TERMS), (named("a", "b"), NO_TERMS)])
    assert chosen == 1
    assert [e.code for e in found.edits] == ["call.extra", "call.missing"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
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
    ],
)
def test_bad_terms_name_the_record(fields: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_gold(record(**fields))
    assert said in str(caught.value)
    assert "gold.json, record 1 (id r1)" in str(caught.value)


def test_evaluate_takes_the_policy() -> None:
    pred = Record(
        "p", 0, "r1", [{"name": "f", "arguments": {"city": "ROME"}}, {"name": "g", "arguments": {}}]
    )
    assert [row.state for row in evaluate([(pred, record())])] == ["different"]
    assert [row.state for row in evaluate([(pred, record())], policy=load_policy("lenient"))] == ["same"]


# ---------------------------------------------------------------- files
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[[rule]]\ncompare = ["casefolded"]',
            "optional, extra; did you mean 'casefold'?",
        ),
        ('[[rule]]\n[[rule]]\npattern = "("', "rule 2: the pattern '(' does not compile"),
        ('[[rule]]\ntools = "f"', "rule 1: there is no key 'tools'; did you mean 'tool'?"),
        ('ordr = "free"', "there is no key 'ordr'; did you mean 'order'?"),
        ('order = "random"', "order is 'random', expected one of data, free, written, flat"),
        ("[[rule]]\ntolerance = -1", "rule 1: tolerance is -1, expected a number from 0 on"),
        ('[[rule]]\ntolerance = "much"', "tolerance is 'much', expected a number"),
        ("[[rule]]\ntolerance = true", "tolerance is True"),
        ('rule = "f"', "rule is 'f', expected a list"),
        ('[[rule]]\naliases = "planets"', "there is no table of aliases 'planets'; known are cities"),
        ("[[rule]]\naliases = {a = 1}", "rule 1, aliases: a is 1, expected text"),
        ('[[rule]]\nfunction = "os:nothing"', "function 'os:nothing' cannot be had"),
        ('extends = "lenientt"', "there is no policy 'lenientt'"),
        ("[[rule]]\ncompare = []", "compare is empty"),
        ("order = 1 2", "at line 1, column"),
    ],
)
def test_bad_policy_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(PolicyError) as caught:
        load_policy(str(file))
    assert said in str(caught.value)


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


def told(folder: Path, policy: str, pred: object = 2) -> tuple[int, str]:
    """What diff says of f(x=pred) against f(x=1) under a policy file: exit code, and what it prints."""
    for name, value in (("pred", pred), ("gold", 1)):
        (folder / f"{name}.json").write_text(json.dumps([{"name": "f", "arguments": {"x": value}}]))
    (folder / "own.toml").write_text(policy)
    files = (str(folder / name) for name in ("pred.json", "gold.json"))
    done = planeval("diff", *files, "--policy", str(folder / "own.toml"))
    return done.returncode, done.stdout + done.stderr


def test_policies_that_extend_one_another_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('extends = "own.toml"')
    code, said = told(tmp_path, 'extends = "base.toml"')
    assert code == 2
    assert "own.toml: extends leads back to the file: " in said
    assert "base.toml → " in said


def test_a_function_that_fails_is_told_with_its_rule_and_values(tmp_path: Path) -> None:
    code, said = told(tmp_path, '[[rule]]\nargument = "x"\nfunction = "math:sqrt"')
    assert code == 2
    assert "own.toml, line 1, rule 1: 'sqrt' failed on 2 (the prediction's) and 1 (gold's): TypeError" in said


def test_a_message_names_its_rule_once(tmp_path: Path) -> None:
    code, said = told(tmp_path, '[[rule]]\nargument = "x"\naliases = "planets"')
    assert (code, said.count("rule 1")) == (2, 1)


def test_a_default_that_is_given_where_gold_gives_another_value_is_no_missing_argument(
    tmp_path: Path,
) -> None:
    for default in (2, 1):
        code, said = told(tmp_path, f'[[rule]]\nargument = "x"\ndefault = {default}')
        assert code == 1
        assert "argument.value: f (call 1): argument 'x' is 2, gold gives 1" in said


def test_a_schemas_default_equals_leaving_it_out(tmp_path: Path) -> None:
    tool = {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
        },
    }
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


def test_a_function_of_ones_own(tmp_path: Path) -> None:
    policy = policy_of({"rule": [{"function": "operator:eq"}, {"argument": "y", "function": "operator:ne"}]})
    assert not diff(one(1), one(2), policy).same
    assert diff(one(1, "y"), one(2, "y"), policy).same


def test_a_project_keeps_its_policy(tmp_path: Path) -> None:
    """What is beside the policy in a project's file, a policy's own file may not have."""
    for name in ("planeval.toml", "mine.toml"):
        (tmp_path / name).write_text('order = "free"\nmetrics = "exact"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.planeval]\nextends = "planeval.toml"\n[project]\n')
    assert load_policy(str(tmp_path / "pyproject.toml")).order == "free"
    with pytest.raises(PolicyError, match="there is no key 'metrics'"):
        load_policy(str(tmp_path / "mine.toml"))


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"name": "f", "arguments": {"x": "A"}}]')
    (tmp_path / "g.json").write_text('[{"name": "f", "arguments": {"x": "a"}}]')
    files = (str(tmp_path / "p.json"), str(tmp_path / "g.json"))
    assert planeval("diff", *files).returncode == 1
    assert planeval("diff", *files, "--policy", "lenient").returncode == 0
    wrong = planeval("diff", *files, "--policy", "nonsense")
    assert wrong.returncode == 2
    assert "there is no policy 'nonsense'" in wrong.stderr


@pytest.mark.parametrize("compare", ["set", "subset", "superset"])
def test_a_list_in_one_text_is_a_set_wherever_sets_are_compared(compare: str) -> None:
    assert Form((compare,), {}).of("b, a") == ["a", "b"]
