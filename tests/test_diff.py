"""Edits: each of the 38 pairs explained, places, causes before consequences, data for programs."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from planner_eval.base import resources
from planner_eval.comparison.diff import EDITS, Diff, Place, diff
from planner_eval.comparison.habits import told_lines
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import Numbered
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.records.rows import Spans, diff_data
from tests.build import edges, plan
from tests.inside import planeval
from tests.plant import KINDS, Planted
from tests.plant_roots import ROOTS
from tests.real_plans import real_plans

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))

# (code, gold call, pred call, argument, place) of each edit, written by hand from the pairs' text.
WANTED: dict[str, list[tuple[str, int | None, int | None, str | None, tuple]]] = {
    "05": [("arguments.swapped", 2, 2, "flight", ())],
    "06": [("reference.producer", 3, 3, "booking", ())],
    "07": [("reference.output", 3, 3, "booking", ())],
    "08": [("order.broken", 3, 2, None, ())],
    "09": [("call.missing", 3, None, None, ())],
    "10": [("call.extra", None, 4, None, ())],
    "11": [("call.duplicated", None, 4, None, ())],
    "12": [("reference.literal", 2, 2, "flight", ())],
    "13": [("argument.value", 1, 1, "city", ())],
    "14": [("argument.value", 0, 0, "date", ())],
    "15": [("argument.value", 0, 0, "dest", ())],
    "17": [("arguments.swapped", 2, 2, "first", ())],
    "18": [("call.missing", 1, None, None, ()), ("reference.producer", 2, 1, "b", ())],
    "19": [("argument.type", 0, 0, "hour", ())],
    "21": [("argument.type", 0, 0, "repeat", ())],
    "22": [("argument.value", 0, 0, "days", ())],
    "23": [("argument.value", 0, 0, "opts", ("tone", "len"))],
    "24": [("argument.extra", 0, 0, "label", ())],
    "25": [
        ("call.extra", None, 0, None, ()),
        ("call.missing", 0, None, None, ()),
        ("call.missing", 1, None, None, ()),
        ("call.missing", 2, None, None, ()),
        ("call.missing", 3, None, None, ()),
    ],
    "26": [("call.missing", at, None, None, ()) for at in range(4)],
    "28": [("call.extra", None, 0, None, ())],
    "30": [("call.missing", 1, None, None, ())],
    "31": [("call.missing", 1, None, None, ()), ("call.duplicated", None, 2, None, ())],
    "34": [("reference.producer", 2, 2, "quotes", (0,)), ("reference.producer", 2, 2, "quotes", (1,))],
    "35": [("call.missing", 0, None, None, ()), ("reference.literal", 2, 1, "flight", ())],
    "36": [("reference.unresolved", 3, 3, "booking", ())],
    "37": [("reference.producer", 2, 2, "b", ())],
    "38": [("call.replaced", 2, 2, None, ())],
}


def told(found: Diff) -> list[tuple]:
    return [
        (
            edit.code,
            edit.gold.call if edit.gold else None,
            edit.pred.call if edit.pred else None,
            (edit.gold or edit.pred).argument,  # type: ignore[union-attr]
            (edit.gold or edit.pred).at,  # type: ignore[union-attr]
        )
        for edit in found.edits
    ]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['id']} {pair['what']}")
def test_pair_is_explained(pair: dict) -> None:
    found = diff(plan(pair["pred"]), plan(pair["gold"]))
    assert told(found) == WANTED.get(pair["id"], [])
    assert found.proved
    assert found.same is (pair["id"] not in WANTED)
    assert all(edit.code in EDITS and edit.message for edit in found.edits)


def test_causes_of_pairs() -> None:
    def causes(number: str) -> list[int | None]:
        pair = next(pair for pair in PAIRS if pair["id"] == number)
        return [edit.cause for edit in diff(plan(pair["pred"]), plan(pair["gold"])).edits]

    assert causes("18") == [None, 0]
    assert causes("26") == [None, None, None, None]


def call(name: str = "f", app: str | None = None, **arguments: object) -> Call:
    return Call("c", name, tuple(arguments.items()), app)


def of(*calls: Call, answer: dict | None = None) -> Plan:
    numbered = tuple(Call(f"c{i}", c.name, c.arguments, c.app) for i, c in enumerate(calls))
    return Plan(numbered, edges(numbered), None if answer is None else tuple(answer.items()))


def codes(pred: Plan, gold: Plan) -> list[str]:
    return [edit.code for edit in diff(pred, gold).edits]


A, B = call("a"), call("b")


@pytest.mark.parametrize(
    ("pred", "gold", "wanted"),
    [
        (of(call(app="X")), of(call(app="Y")), ["app.changed"]),
        (of(call(app="X", q=1)), of(call(app="Y", q=2)), ["app.changed", "argument.value"]),
        (of(call(town="Rome")), of(call(city="Rome")), ["argument.renamed"]),
        (of(call(town="Oslo")), of(call(city="Rome")), ["argument.missing", "argument.extra"]),
        (of(A, call(x=[Ref(0), 1])), of(A, call(x=[Ref(0), 2])), ["argument.value"]),
        (of(A, call(x=[Ref(0)])), of(A, call(x=[Ref(0), Ref(0)])), ["argument.value"]),
        (of(A, call(x=["l"])), of(A, call(x=[Ref(0)])), ["reference.literal"]),
        (of(A, call(x=Ref(0))), of(A, call(x={"k": 1})), ["reference.unwanted"]),
        (of(A, call(x=[Ref(0)])), of(A, call(x=Ref(0))), ["argument.value"]),
        (of(A, call(x={"k": Ref(0)})), of(A, call(x={"k": Ref(0, ("o",))})), ["reference.output"]),
        (of(call(x={"k": 1})), of(call(x={"k": 1, "m": 2})), ["argument.value"]),
        (of(call(x="7")), of(call(x=7)), ["argument.type"]),
        (of(call(x=[1, "2"])), of(call(x=[1, 2])), ["argument.type"]),
        (of(call(x={"a": 1})), of(call(x=[1])), ["argument.type"]),
        (of(call(x=None)), of(call(x=1)), ["argument.value"]),
        (of(call(x=7.5)), of(call(x=7)), ["argument.value"]),
        (of(A, answer={"r": "1"}), of(A, answer={"r": 1}), ["answer.type"]),
        (of(A, call(x=Unresolved("v"))), of(A, call(x=Ref(0))), ["reference.unresolved"]),
        (of(A, call(x=Unresolved("v"))), of(A, call(x="text")), ["reference.unresolved"]),
        (of(A, call(x=Ref(0))), of(A, call(x=Unresolved("v"))), ["reference.producer"]),
        (of(A, call(x="text")), of(A, call(x=Unresolved("v"))), ["reference.literal"]),
        (
            of(A, B, call(x=Template(("to ", Ref(1))))),
            of(A, B, call(x=Template(("to ", Ref(0))))),
            ["reference.producer"],
        ),
        (
            of(A, call(x=Template(("at ", Ref(0))))),
            of(A, call(x=Template(("to ", Ref(0))))),
            ["argument.value"],
        ),
        (of(A, answer={"r": Ref(0)}), of(A), ["answer.extra"]),
        (of(A), of(A, answer={"r": Ref(0)}), ["answer.missing"]),
        (of(A, B, answer={"r": Ref(1)}), of(A, B, answer={"r": Ref(0)}), ["answer.producer"]),
        (of(A, answer={"r": Ref(0, ("x",))}), of(A, answer={"r": Ref(0, ("y",))}), ["answer.output"]),
        (of(A, answer={"r": "text"}), of(A, answer={"r": Ref(0)}), ["answer.literal"]),
        (of(A, answer={"r": Ref(0)}), of(A, answer={"r": "text"}), ["answer.unwanted"]),
        (of(A, answer={"r": Unresolved("v")}), of(A, answer={"r": Ref(0)}), ["answer.unresolved"]),
        (of(A, answer={"r": 1}), of(A, answer={"r": 2}), ["answer.value"]),
        (of(A, answer={"s": Ref(0)}), of(A, answer={"r": Ref(0)}), ["answer.renamed"]),
        (of(call(x=Ref(0))), of(call(x=Ref(0))), []),
        (of(call(x=Ref(0))), of(call(x=1)), ["reference.unwanted"]),
    ],
)
def test_codes(pred: Plan, gold: Plan, wanted: list[str]) -> None:
    assert codes(pred, gold) == wanted
    assert {*wanted} <= {*EDITS}


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("text", Ref(0), 'is the literal "text", gold takes the result of a (call 1)'),
        (Ref(0), "text", 'takes the result of a (call 1), gold gives the literal "text"'),
        (Unresolved("v"), Ref(0), "refers to 'v', which no call returns; gold has the result of a (call 1)"),
        (Ref(0, ("o",)), Ref(0), "takes output o of a (call 1), gold takes the result of a (call 1)"),
        (1, 2, "is 1, gold gives 2"),
    ],
)
def test_a_sentence_says_both_values(ours: object, theirs: object, said: str) -> None:
    (edit,) = diff(of(A, call(x=ours)), of(A, call(x=theirs))).edits
    assert edit.message == f"f (call 2): argument 'x' {said}"


def test_a_repeated_argument_is_seen() -> None:
    twice = Plan((Call("c", "f", (("x", 1), ("x", 2))),))
    other = Plan((Call("c", "f", (("x", 1), ("x", 3))),))
    once = Plan((Call("c", "f", (("x", 1),)),))
    assert codes(twice, twice) == []
    assert codes(twice, other) == ["argument.value"]
    (edit,) = diff(twice, other).edits
    assert edit.pred == edit.gold == Place(0, "x")
    assert codes(twice, once) == ["argument.extra"]
    assert codes(once, twice) == ["argument.missing"]


def test_the_same_wrong_value_again_follows_from_the_first() -> None:
    gold = of(call("f", city="Rome"), call("g", town="Rome"), call("h", n=1), call("k", m=1))
    pred = of(call("f", city="Oslo"), call("g", town="Oslo"), call("h", n=2), call("k", m=2))
    assert [edit.cause for edit in diff(pred, gold).edits] == [None, 0, None, None]


@pytest.mark.parametrize(
    ("wrong", "right", "code"),
    [
        ("Oslo", "Rome", "argument.value"),
        ("7", 7, "argument.type"),
        ("text", Ref(0), "reference.literal"),
        (Unresolved("v"), Ref(0), "reference.unresolved"),
        (Ref(0), "text", "reference.unwanted"),
    ],
)
def test_one_mistake_made_twice_has_one_root(wrong: object, right: object, code: str) -> None:
    pred, gold = (of(A, call("f", x=value), call("g", x=value)) for value in (wrong, right))
    assert [(edit.code, edit.cause) for edit in diff(pred, gold).edits] == [(code, None), (code, 0)]


def test_what_is_left_out_twice_is_two_mistakes() -> None:
    pred, gold = of(call("f"), call("g")), of(call("f", x="text"), call("g", x="text"))
    found = [(edit.code, edit.cause) for edit in diff(pred, gold).edits]
    assert found == [("argument.missing", None), ("argument.missing", None)]


def test_an_edit_follows_from_a_call_too_much_only_by_the_argument_that_takes_its_result() -> None:
    found = diff(of(A, call("b", y=Ref(0))), of()).edits
    assert [(edit.code, edit.cause) for edit in found] == [("call.extra", None), ("call.extra", None)]
    found = diff(of(A, call("f", x=Ref(0), y=2)), of(call("f", x="text", y=1))).edits
    assert sorted((edit.code, edit.cause) for edit in found if edit.cause is not None) == [
        ("reference.unwanted", next(at for at, edit in enumerate(found) if edit.code == "call.extra"))
    ]
    assert {edit.code for edit in found} == {"call.extra", "reference.unwanted", "argument.value"}


def test_a_value_of_text_and_references_is_told_in_one_piece() -> None:
    gold = of(A, call(x=Template(("to ", Ref(0), " now"))))
    (edit,) = diff(of(A, call(x="to me")), gold).edits
    assert edit.message.endswith('gold gives "to ‹call 1› now"')


def test_a_place_in_the_text_is_its_argument_or_its_call() -> None:
    text = "Shops: [a = find(#kind='Books', #town='Oslo')]"
    found = parse(text)
    shown = [Spans(found).of(Place(0, name)) for name in ("kind", "town", "none", None)]
    assert [text[slice(*span)] for span in shown if span] == [
        "#kind='Books'",
        "#town='Oslo'",
        *["a = find(#kind='Books', #town='Oslo')"] * 2,
    ]
    assert Spans(found).of(Place(None, "x")) is None


def test_of_calls_in_a_circle_each_is_left_out_by_itself() -> None:
    gold = of(call("f", x=Ref(1)), call("g", x=Ref(0)))
    found = diff(of(), gold)
    assert [edit.cause for edit in found.edits] == [None, None]


def test_roles_of_calls_and_references() -> None:
    gold = plan(
        [
            {"id": "a", "name": "f"},
            {"id": "b", "name": "g"},
            {
                "id": "c",
                "name": "h",
                "arguments": {"x": {"$ref": "a"}, "y": {"$ref": "b"}, "z": {"$ref": "b"}},
            },
            {"id": "d", "name": "lost", "arguments": {"x": {"$ref": "c"}}},
        ]
    )
    pred = plan(
        [
            {"id": "a", "name": "f"},
            {"id": "b", "name": "g"},
            {"id": "n", "name": "new", "arguments": {"x": {"$ref": "b"}}},
            {"id": "c", "name": "h", "arguments": {"x": {"$ref": "a"}, "y": {"$ref": "a"}, "z": "text"}},
        ]
    )
    found = diff(pred, gold)
    assert [(role.role, role.pred, role.gold) for role in found.calls()] == [
        ("kept", 0, 0),
        ("kept", 1, 1),
        ("changed", 3, 2),
        ("missing", None, 3),
        ("extra", 2, None),
    ]
    assert [found.pred_role(at) for at in range(4)] == ["kept", "kept", "extra", "changed"]
    assert found.gold_role(3) == "missing"
    assert [(role.role, role.gold and role.gold.argument) for role in found.edges()] == [
        ("kept", "x"),
        ("wrong", "y"),
        ("missing", "z"),
        ("missing", "x"),
        ("extra", None),
    ]


def test_data_holds_places_and_values_in_the_interchange_notation() -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == "06")
    data = diff_data(diff(plan(pair["pred"]), plan(pair["gold"])))
    json.dumps(data)
    assert data["edits"][0]["pred_value"] == {"$ref": "c1", "path": ["id"]}
    assert data["edits"][0]["gold"] == {"call": 3, "id": "c4", "argument": "booking"}


def twins(gold: Plan, one: int | None, other: int | None) -> bool:
    """Whether two calls are one for a reader: equal in all they need, or both caught in circles."""
    if one is None or other is None:
        return one is other
    numbers = Numbered(gold, {}).numbers
    return one == other or numbers[one] == numbers[other]


def check(planted: Planted, gold: Plan) -> None:
    """The single edit has the planted code and stands at the planted place."""
    found = diff(planted.plan, gold)
    assert [edit.code for edit in found.edits] == [planted.code]
    edit = found.edits[0]
    assert found.proved
    if planted.gold is not None:
        assert edit.gold is not None
        assert twins(gold, edit.gold.call, planted.gold)
        assert (edit.gold.argument, edit.gold.at) == (planted.argument, planted.at)
    else:
        assert edit.pred is not None
        assert twins(planted.plan, edit.pred.call, planted.pred)


OURS = [plan(pair["gold"]) for pair in PAIRS]


@pytest.mark.parametrize("kind", KINDS)
def test_planted_edit_in_our_own_plans(kind: str) -> None:
    tried = 0
    for number, gold in enumerate(OURS * 5):
        planted = KINDS[kind](gold, Random(number))
        if planted is not None:
            check(planted, gold)
            tried += 1
    assert tried >= 25


@pytest.mark.more
@pytest.mark.parametrize("kind", KINDS)
def test_planted_edit_in_all_real_plans(kind: str, reference) -> None:
    plans = real_plans(reference)
    assert len(plans) == 1655
    tried = 0
    for number, gold in enumerate(plans):
        planted = KINDS[kind](gold, Random(number))
        if planted is not None:
            check(planted, gold)
            tried += 1
    assert tried >= 700


def first_is_planted(kind: str, gold: Plan, seed: int) -> bool | None:
    planted = ROOTS[kind](gold, Random(seed))
    if planted is None:
        return None
    found = diff(planted.plan, gold)
    assert found.first is not None
    where, at = found.first
    if planted.gold is None:
        return where is found.pred and at == planted.pred
    return where is found.gold and twins(gold, at, planted.gold)


@pytest.mark.parametrize("kind", ROOTS)
def test_planted_root_is_named_first_in_our_own_plans(kind: str) -> None:
    results = [first_is_planted(kind, gold, seed) for seed, gold in enumerate(OURS)]
    assert results.count(False) == 0
    assert results.count(True) >= 20


@pytest.mark.more
def test_planted_root_is_named_first_in_real_plans(reference) -> None:
    forward = [any(e.producer >= e.consumer for e in gold.edges) for gold in real_plans(reference)]
    results = [
        first_is_planted(kind, gold, seed)
        for kind in ROOTS
        for seed, gold in enumerate(real_plans(reference))
        if not forward[seed]
    ]
    planted = results.count(True) + results.count(False)
    assert planted >= 1000
    assert results.count(True) / planted >= 0.99


def test_the_pairing_is_proved_and_only_the_metric_is_exact(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text("f(#x='1')")
    shown = {
        form: planeval("diff", str(plan), str(plan), "--format", form).stdout
        for form in ("json", "jsonl", "csv")
    }
    assert json.loads(shown["json"])["proved"] is json.loads(shown["jsonl"])["proved"] is True
    assert shown["csv"].splitlines()[0].split(",")[:3] == ["id", "state", "proved"]
    assert not any("exact" in text for text in shown.values())


def test_items_are_told_together_whatever_a_tool_is_called() -> None:
    def one(items: list[str]) -> list[dict[str, object]]:
        return [{"name": "f: argument 'x' at g", "arguments": {"x": items}}]

    told = told_lines(diff(parse(one(["one", "two"])), parse(one(["uno", "dos"]))))
    assert [line.said for line in told] == [
        "f: argument 'x' at g (call 1): argument 'x' at [0] is \"one\", gold gives \"uno\"; "
        '[1] is "two", gold gives "dos"'
    ]
