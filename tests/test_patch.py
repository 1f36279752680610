"""Repairs: a patch turns the prediction into gold, whatever was wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.base import resources
from planner_eval.base.errors import InputError
from planner_eval.comparison.diff import diff
from planner_eval.comparison.patch import SCHEMA, apply_patch, make_patch
from planner_eval.dialects.read import parse, write
from planner_eval.plan.model import Call, Plan
from planner_eval.records.patches import read_patches
from tests.build import plan
from tests.inside import planeval
from tests.plant import KINDS, ROOTS
from tests.property.test_comparison_laws import plans
from tests.real_plans import real_plans

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))


def repaired(pred: Plan, gold: Plan) -> None:
    patch = make_patch(diff(pred, gold))
    assert bool(patch["operations"]) is not diff(pred, gold).same
    assert diff(apply_patch(pred, json.loads(json.dumps(patch))), gold).edits == ()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_pairs(pair: dict) -> None:
    repaired(plan(pair["pred"]), plan(pair["gold"]))


def test_a_small_patch_is_small() -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == "06")
    (operation,) = make_patch(diff(plan(pair["pred"]), plan(pair["gold"])))["operations"]
    what = {"op": "set", "id": "c4", "argument": "booking", "value": {"$ref": "c3", "path": ["id"]}}
    assert operation == {**what, "why": "reference.producer"}
    one, other = (plan([{"id": "a", "name": "f", "arguments": {"x": {"$ref": "a"}, "y": y}}]) for y in (1, 2))
    assert [each["op"] for each in make_patch(diff(one, other))["operations"]] == ["set"]  # not the order


def test_what_a_patch_has_to_take_care_of() -> None:
    one, other = (Plan((Call("a", "f", (("x", 1), ("x", second))),)) for second in (2, 3))
    repaired(one, other)
    assert make_patch(diff(one, other))["operations"][0]["arguments"] == [["x", 1], ["x", 3]]
    gold = plan([{"id": "c9", "name": "new"}, {"id": "a", "name": "f", "arguments": {"x": "text"}}])
    repaired(plan([{"id": "a", "name": "f", "arguments": {"x": {"$ref": "c9"}}}]), gold)  # to nothing
    one, other = (Plan((Call("a", n, (("x", v),)), Call("b", "g"))) for n, v in (("f", "Rome"), ("", "Oslo")))
    repaired(one, other)  # a call of no name


@settings(deadline=None)
@given(plans(), plans())
def test_any_plan_becomes_any_other(one: Plan, other: Plan) -> None:
    if "nan" not in repr((one, other)):
        repaired(one, other)


@settings(deadline=None)
@given(plans(), plans(), st.integers(0, 3))
def test_a_part_of_a_patch_makes_no_more_edits(one: Plan, other: Plan, count: int) -> None:
    found = diff(one, other)
    patch = make_patch(found)
    if any(o["op"] in ("remove", "add") for o in patch["operations"]):
        return
    part = {"schema": SCHEMA, "operations": patch["operations"][:count]}
    assert len(diff(apply_patch(one, part), other).edits) <= len(found.edits)


def test_real_plans_with_planted_mistakes(reference) -> None:
    kinds = [*KINDS.values(), *ROOTS.values()]
    for number, gold in enumerate(real_plans(reference)):
        if any(e.producer >= e.consumer for e in gold.edges):
            continue
        planted = kinds[number % len(kinds)](gold, Random(number))
        if planted is not None:
            repaired(planted.plan, gold)


@pytest.mark.parametrize(("operation", "said"), [
    ({"op": "burn"}, "the patch, operations 1: op is 'burn', expected one of set, unset"),
    ({"op": "remove", "id": "z"}, "(remove) does not fit the plan: 'z' is not there; the plan's calls are a"),
    ({"op": "set", "id": "a"}, "the patch, operations 1: 'argument' is missing"),
    ({"op": "add", "call": 1}, "the patch, operations 1: call is 1, expected an object"),
])  # fmt: skip
def test_bad_patches(operation: dict[str, object], said: str) -> None:
    wrong = {"schema": SCHEMA, "operations": [operation]}
    for patch, why in ((wrong, said), ([], "is no patch"), ({"schema": SCHEMA}, "'operations' is missing")):
        with pytest.raises(InputError) as caught:
            apply_patch(Plan((Call("a", "f"),)), patch)
        assert why in str(caught.value)


def test_command_line(tmp_path: Path) -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == "18")
    pred, gold, patch, new = (tmp_path / f"{name}.json" for name in ("pred", "gold", "patch", "new"))
    pred.write_text(json.dumps(pair["pred"]))
    gold.write_text(json.dumps(pair["gold"]))
    assert planeval("diff", pred, gold, "--patch", "-o", patch).returncode == 1
    assert planeval("apply", patch, pred, "-o", new).returncode == 0
    assert planeval("diff", new, gold).returncode == 0
    wrong = planeval("apply", pred, pred)
    assert (wrong.returncode, "this is no patch" in wrong.stderr) == (2, True)


def test_an_optional_call_that_others_need_is_made_with_them(tmp_path: Path) -> None:
    text = "a = log_in()\nb = search(user=a)\nnote(text=b)\nbook(hotel=b)"
    calls = json.loads(write(parse(text, dialect="code"), "plan"))["calls"]
    gold = {"id": "k", "gold": calls, "optional": [call["id"] for call in calls[:3]]}
    for name, record in (("gold", gold), ("pred", {"id": "k", "plan": []})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    pred, wanted, patch, new = (str(tmp_path / f"{n}.jsonl") for n in ("pred", "gold", "patch", "new"))
    planeval("diff", pred, wanted, "--patch", "-o", patch)
    assert planeval("apply", patch, pred, "-o", new).returncode == 0
    assert planeval("diff", new, wanted).stdout.startswith("k  same\n")
    assert "note" not in Path(new).read_text()


def test_two_patches_of_one_id_are_known_as_such() -> None:
    lines = [{"id": at, "operations": []} for at in ("a", "b", "a")]
    found = read_patches("\n".join(map(json.dumps, lines)), "p.jsonl")
    assert (found.repeated, sorted(found.by_id)) == (frozenset("a"), ["a", "b"])


def test_a_call_is_added_where_the_patch_says() -> None:
    pred = Plan(tuple(Call(name, "f") for name in "abc"))
    for after, wanted in ((None, "xabc"), ("a", "axbc"), ("b", "abxc"), ("c", "abcx"), ("lost", "abcx")):
        added = {"op": "add", "call": {"id": "x", "name": "g", "arguments": {}}, "after": after}
        found = apply_patch(pred, {"schema": SCHEMA, "operations": [added]})
        assert "".join(call.id for call in found.calls) == wanted
