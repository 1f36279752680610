"""Mistakes in the forms that models make: which edits are found, and which follow from which."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.patch import apply_patch, make_patch
from planner_eval.dialects.read import parse
from planner_eval.drawing.overlay import diff_scene
from planner_eval.metrics import score
from planner_eval.metrics.counts import Counts
from planner_eval.plan.model import Plan
from planner_eval.policy import Policy
from planner_eval.records.rows import diff_data
from tests.inside import planeval


def calls(*given: str) -> Plan:
    """A plan of calls as Python writes them."""
    return parse("[" + ", ".join(given) + "]", dialect="pythonic")


def steps(text: str) -> Plan:
    """A plan in which calls take one another's outputs."""
    return parse(text, dialect="code")


def graph(*nodes: tuple[str, list[Any]], linked: bool = True) -> Plan:
    """A task graph; each node takes the one before, unless it shall not be `linked`."""
    pairs = pairwise([name for name, _ in nodes]) if linked else ()
    data = {
        "task_nodes": [{"task": name, "arguments": given} for name, given in nodes],
        "task_links": [{"source": one, "target": other} for one, other in pairs],
    }
    return parse(json.dumps(data), dialect="taskbench")


def told(found: Diff) -> list[str]:
    return [f"{'-' if e.cause is None else e.cause} {e.code}: {e.message}" for e in found.edits]


ACTS = (
    "get_booking(booking_id='QX7PLM')",
    "change_train(booking_id='QX7PLM', train='RX056')",
    "send_note(booking_id='QX7PLM', text='Done')",
)
PHOTO = ("Photo Sharpening", ["lake.jpg", "less noise"])


@pytest.mark.parametrize(("pred", "gold", "wanted"), [
    pytest.param(calls("get_member(id='m_44')", "calculate(expression='152 + 103')"),
                 calls("get_member(id='m_44')", "change_train(booking='QX7PLM', train='RX056')"), [
        '- call.extra: calculate (call 2) with expression="152 + 103" is not in gold',
        "- call.missing: gold's change_train (gold's call 2) with booking=\"QX7PLM\", train=\"RX056\" "
        "is missing",
    ], id="position alone is no replacement"),
    pytest.param(calls("set_light(room='hall', on=True)"), calls("lock_door(door='back', on=True)"), [
        '- call.extra: set_light (call 1) with room="hall", on=true is not in gold',
        "- call.missing: gold's lock_door (gold's call 1) with door=\"back\", on=true is missing",
    ], id="true is no evidence"),
    pytest.param(calls(*ACTS[:2], "hand_over(booking_id='QX7PLM', to='staff')"), calls(*ACTS), [
        '- call.extra: hand_over (call 3) with booking_id="QX7PLM", to="staff" is not in gold',
        "- call.missing: gold's send_note (gold's call 3) with booking_id=\"QX7PLM\", text=\"Done\" is "
        "missing",
    ], id="nor is a value that most calls have"),
    pytest.param(calls("hotel_search(town='Rome', nights=2)"),
                 calls("search_hotels(city='Oslo', nights=3)"), [
        "- call.replaced: hotel_search (call 1) stands for gold's search_hotels",
        "0 argument.missing: hotel_search (call 1): argument 'city' is missing, gold gives \"Oslo\"",
        "0 argument.extra: hotel_search (call 1): argument 'town' = \"Rome\" is not in gold",
        "- argument.value: hotel_search (call 1): argument 'nights' is 2, gold gives 3",
    ], id="a like name is, and a value under one name is a mistake of its own"),
    pytest.param(calls("check(bank='Harbour', sum=5000)", "check(bank='Harbour', sum=5000)"),
                 calls("check(bank='Harbour', sum=5000)", "fee(bank='Harbour', abroad=True)"), [
        "- call.duplicated: check (call 2) repeats call 1; gold makes it less often",
        "- call.missing: gold's fee (gold's call 2) with bank=\"Harbour\", abroad=true is missing",
    ], id="a call made again stands for nothing"),
    pytest.param(calls("multiply(a=3, b=5)"), calls("add(a=3, b=5)"), [
        "- call.replaced: multiply (call 1) stands for gold's add",
    ], id="all arguments equal, however small"),
    pytest.param(steps("x = multiply(a=3, b=5)"),
                 steps("x = add(a=3, b=5)\ny = power(a=x, b=2)\nz = subtract(a=y, b=7)"), [
        "- call.replaced: multiply (call 1) stands for gold's add",
        "- call.missing: gold's power (gold's call 2) with a=‹call 1›, b=2 is missing",
        "- call.missing: gold's subtract (gold's call 3) with a=‹gold's call 2›, b=7 is missing",
    ], id="what is left out behind a replaced call is left out by itself"),
    pytest.param(steps("x = multiply(a=3, b=5)\nshow(value=x)"),
                 steps("x = add(a=3, b=5)\ny = power(a=x, b=2)\nz = subtract(a=y, b=7)\nshow(value=z)"), [
        "- call.replaced: multiply (call 1) stands for gold's add → power → subtract (gold's calls 1–3)",
        "0 call.missing: gold's power (gold's call 2) with a=‹call 1›, b=2 is missing",
        "0 call.missing: gold's subtract (gold's call 3) with a=‹gold's call 2›, b=7 is missing",
        "2 reference.producer: show (call 2, gold's 4): argument 'value' takes the result of "
        "multiply (call 1), gold takes the result of subtract (gold's call 3)",
    ], id="one call in the place of a chain"),
    pytest.param(steps("x = find(name='Ada')\nsend(to='made up', text='hello')"),
                 steps("x = find(name='Ada')\ny = mail(of=x)\nsend(to=y, text='hi')"), [
        "- call.missing: gold's mail (gold's call 2) with of=‹call 1› is missing",
        "0 reference.literal: send (call 2, gold's 3): argument 'to' is the literal \"made up\", "
        "gold takes the result of mail (gold's call 2)",
        "- argument.value: send (call 2, gold's 3): argument 'text' is \"hello\", gold gives \"hi\"",
    ], id="what takes a missing call's output follows from that"),
    pytest.param(calls("math_hypot(x=4, y=8)", "math_gcd(a=3, b=9)"),
                 calls("math.hypot(x=4, y=7)", "math.gcd(a=3, b=9)"), [
        "- name.spelling: math_hypot (call 1) is gold's math.hypot",
        "0 name.spelling: math_gcd (call 2) is gold's math.gcd",
        "- argument.value: math_hypot (call 1): argument 'y' is 8, gold gives 7",
    ], id="another spelling, once for all calls"),
    pytest.param(calls("mathHypot(x=4)"), calls("math_hypot(z='far')"), [
        "- name.spelling: mathHypot (call 1) is gold's math_hypot",
        "- argument.missing: mathHypot (call 1): argument 'z' is missing, gold gives \"far\"",
        "- argument.extra: mathHypot (call 1): argument 'x' = 4 is not in gold",
    ], id="a spelling explains no argument"),
    pytest.param(graph(PHOTO, ("Photo Tinting", ["<node-1>"]), ("Captioning", ["<node-2>", "<node-0>"])),
                 graph(PHOTO, ("Photo Tinting", ["<node-0>"]), ("Captioning", ["<node-1>", "<node-0>"])), [
        "- reference.producer: Photo Tinting (call 2): argument '0' names this call itself; the "
        "link Photo Sharpening → Photo Tinting is right",
        "- reference.producer: Captioning (call 3): argument '0' names this call itself; the link "
        "Photo Tinting → Captioning is right",
    ], id="a call that names itself beside a right link"),
    pytest.param(graph(PHOTO, ("Photo Tinting", ["<node-1>"]), ("Captioning", ["<node-0>"]), linked=False),
                 graph(PHOTO, ("Photo Tinting", ["<node-0>"]), ("Captioning", ["<node-0>"]), linked=False), [
        "- reference.producer: Photo Tinting (call 2): argument '0' names this call itself, gold "
        "takes the result of Photo Sharpening (call 1)",
    ], id="a call that names itself"),
    pytest.param(graph(PHOTO, ("Photo Tinting", ["sharp.jpg"])),
                 graph(PHOTO, ("Photo Tinting", ["<node-0>"])), [
        "- reference.literal: Photo Tinting (call 2): argument '0' is the literal \"sharp.jpg\", "
        "gold takes the result of Photo Sharpening (call 1); "
        "the link Photo Sharpening → Photo Tinting is right",
    ], id="an invented file beside a right link"),
    pytest.param(steps("x = f()\nd = divide(a=x, b=20)"), steps("x = f()\nd = divide(a=20, b=x)"), [
        "- arguments.swapped: divide (call 2): arguments 'a' and 'b' are exchanged",
    ], id="exchanged arguments"),
    pytest.param(calls("f(a=2, b=3, c=1, d=4)"), calls("f(a=1, b=2, c=3, d=5)"), [
        "- arguments.swapped: f (call 1): arguments 'a', 'b' and 'c' are exchanged",
        "- argument.value: f (call 1): argument 'd' is 4, gold gives 5",
    ], id="exchanged among three"),
    pytest.param(calls("grow(kind=['oak', 'elm', 'fir'], unit='m')"),
                 calls(*(f"grow(kind='{kind}', unit='m')" for kind in ("oak", "elm", "fir"))), [
        "- call.merged: grow (call 1) holds in 'kind' what gold asks in its calls 1–3",
        "0 call.missing: gold's grow (gold's call 2) with kind=\"elm\", unit=\"m\" is missing",
        "0 call.missing: gold's grow (gold's call 3) with kind=\"fir\", unit=\"m\" is missing",
    ], id="one call with a list for many"),
    pytest.param(calls("tide(ports=['Brest', 'Cork'])"),
                 calls("tide(port='Cork')", "tide(port='Brest')", "tide(port='Faro')"), [
        "- call.merged: tide (call 1) holds in 'ports' what gold asks in its calls 1, 2",
        "0 call.missing: gold's tide (gold's call 2) with port=\"Brest\" is missing",
        "- call.missing: gold's tide (gold's call 3) with port=\"Faro\" is missing",
    ], id="a list under another name, and a call that it does not hold"),
    pytest.param(calls("stock(of=['A', 'B'])", "stock(of=['C'])"), calls("stock(of=['A', 'B', 'C'])"), [
        "- call.split: stock (calls 1, 2) asks one by one what gold's stock (gold's call 1) asks in 'of'",
        '0 call.extra: stock (call 2) with of=["C"] is not in gold',
    ], id="many calls for one with a list"),
])  # fmt: skip
def test_what_is_said(pred: Plan, gold: Plan, wanted: list[str]) -> None:
    found = diff(pred, gold)
    assert told(found) == wanted
    assert diff(apply_patch(pred, json.loads(json.dumps(make_patch(found)))), gold).same


def test_every_place_of_an_edit_is_in_data_and_drawn() -> None:
    found = diff(calls("f(a=1, b=2)"), calls("f(a=2, b=1)"))
    (edit,) = diff_data(found)["edits"]
    assert (edit["pred_value"], edit["gold_value"]) == ({"a": 1, "b": 2}, {"a": 2, "b": 1})
    assert [(also["pred"]["argument"], also["gold"]["argument"]) for also in edit["also"]] == [("b", "b")]
    (box,) = diff_scene(found).boxes
    assert [row.role for row in box.rows] == ["changed", "changed"]
    assert [role.role for role in diff(*SPELLED).calls()] == ["changed", "changed"]


LOOSE = Policy(names="loose")
SPELLED = (
    calls("math_hypot(x=4, y=7)", "Sum_Up(of=[1, 2])"),
    calls("math.hypot(x=4, y=7)", "sum_up(of=[1, 2])"),
)


def test_loose_names_are_the_same_in_every_figure() -> None:
    pred, gold = SPELLED
    assert diff(pred, gold, LOOSE).same
    assert score(pred, gold, LOOSE) == score(gold, gold)
    assert score(pred, gold, metrics=["calls"])["calls"] == Counts(0, 2, 2)
    assert [edit.code for edit in diff(pred, gold).edits] == ["name.spelling"] * 2


@pytest.mark.parametrize(("pred", "gold", "policy"), [
    (calls("a_b()", "a_b()"), calls("a.b()", "a_b()"), LOOSE),
    (calls("aB()"), calls("a.b()", "a_b()"), LOOSE),
    (calls("a_b()"), calls("a.b()"), Policy(names="loose", tools={"a_b": frozenset()})),
], ids=["gold calls both", "gold calls two like it", "the catalog has it"])  # fmt: skip
def test_two_tools_are_never_one(pred: Plan, gold: Plan, policy: Policy) -> None:
    found = diff(pred, gold, policy)
    assert not found.same
    assert "name.spelling" not in [edit.code for edit in found.edits]


def test_loose_names_from_a_file_on_the_command_line(tmp_path: Path) -> None:
    files = tmp_path / "pred", tmp_path / "gold", tmp_path / "loose.toml"
    texts = "[math_hypot(x=4)]", "[math.hypot(x=4)]", 'names = "loose"\n'
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    assert "  name.spelling: math_hypot (call 1) is gold's math.hypot" in planeval("diff", *files[:2]).stdout
    assert planeval("diff", *files[:2], "--policy", files[2]).returncode == 0
    files[2].write_text('names = "close"\n')
    wrong = planeval("diff", *files[:2], "--policy", files[2])
    assert wrong.returncode == 2
    assert "line 1: names is 'close', expected one of exact, loose" in wrong.stderr
