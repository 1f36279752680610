"""Edits: the 38 pairs, forty explained by hand, mistakes as models make them, repairs by a patch."""

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base import resources
from planner_eval.base.errors import InputError
from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.explanation import names
from planner_eval.comparison.explanation.causes import is_lookup
from planner_eval.comparison.explanation.edits import EDITS, Place
from planner_eval.comparison.explanation.lines import make_edit_lines
from planner_eval.comparison.explanation.sentences import mark_differences
from planner_eval.comparison.gold_alternatives import terms_of
from planner_eval.comparison.metrics import score
from planner_eval.comparison.metrics.facts import Counts
from planner_eval.comparison.patch import SCHEMA, apply_patch, make_patch
from planner_eval.comparison.patch_files import read_patch_text
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import Spans, diff_data
from planner_eval.plan.canonical import NumberedPlan
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.reading.dialects.read import parse, write
from planner_eval.results.drawing.overlay import diff_scene
from planner_eval.results.views.rows import diff_text
from tests.build import edges, plan
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.pages import Page
from tests.plant import KINDS, ROOTS, Planted
from tests.property.test_comparison_laws import plans

TABLES = tables(__file__)

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))


# (code, gold call, pred call, argument, place) of each edit, written by hand from the pairs' text.
WANTED: dict[str, list[list[Any]]] = TABLES["WANTED"]


def told(found: Diff) -> list[list[Any]]:
    said = []
    for edit in found.edits:
        gold, pred = (place and place.call for place in (edit.gold, edit.pred))
        where = edit.gold or edit.pred
        said.append([edit.code, gold, pred, where.argument, [*where.at]])  # type: ignore[union-attr]
    return said


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['id']} {pair['what']}")
def test_pair_is_explained(pair: dict) -> None:
    found = diff(plan(pair["pred"]), plan(pair["gold"]))
    assert told(found) == WANTED.get(pair["id"], [])
    assert found.proved
    assert found.same is (pair["id"] not in WANTED)
    assert all(edit.code in EDITS and edit.message for edit in found.edits)
    repaired(plan(pair["pred"]), plan(pair["gold"]))


def call(name: str = "f", app: str | None = None, **arguments: object) -> Call:
    return Call("c", name, tuple(arguments.items()), app)


def of(*calls: Call, answer: dict | None = None) -> Plan:
    numbered = tuple(Call(f"c{i}", c.name, c.arguments, c.app) for i, c in enumerate(calls))
    return Plan(numbered, edges(numbered), None if answer is None else tuple(answer.items()))


A, B = call("a"), call("b")
V = Unresolved("v")


def to(*parts: Any) -> Template:
    return Template(parts)


@pytest.mark.parametrize(("ours", "theirs", "code"), [
    ([Ref(0), 1], [Ref(0), 2], "argument.value"), ([Ref(0)], [Ref(0), Ref(0)], "argument.value"),
    (["l"], [Ref(0)], "reference.literal"), (Ref(0), {"k": 1}, "reference.unwanted"),
    ([Ref(0)], Ref(0), "argument.value"), ({"k": Ref(0)}, {"k": Ref(0, ("o",))}, "reference.output"),
    ({"k": 1}, {"k": 1, "m": 2}, "argument.value"), ("7", 7, "argument.type"),
    ([1, "2"], [1, 2], "argument.type"), ({"a": 1}, [1], "argument.type"), (None, 1, "argument.value"),
    (7.5, 7, "argument.value"), (V, Ref(0), "reference.unresolved"), (V, "text", "reference.unresolved"),
    (Ref(0), V, "reference.producer"), ("text", V, "reference.literal"),
    (to("to ", Ref(1)), to("to ", Ref(0)), "reference.producer"),
    (to("at ", Ref(0)), to("to ", Ref(0)), "argument.value"),
    (Ref(2), Ref(2), None), (Ref(2), 1, "reference.unwanted"),
])  # fmt: skip
def test_codes_of_values(ours: object, theirs: object, code: str | None) -> None:
    found = diff(of(A, B, call(x=ours)), of(A, B, call(x=theirs))).edits
    assert [edit.code for edit in found] == ([code] if code else [])


@pytest.mark.parametrize(("ours", "theirs", "said"), [
    ({"": Ref(1)}, {"": Ref(0)}, "uses the result of b (call 2), expected the result of a (call 1)"),
    ({"": "a"}, {"": Ref(0)}, "argument '' is the literal \"a\", expected the result of a (call 1)"),
    ({"": Ref(0)}, {"": 1}, "argument '' uses the result of a (call 1), expected the literal 1"),
    ({"": Ref(0)}, {}, "the link a → f is not in gold"), ({}, {"": Ref(0)}, "the link a → f is missing"),
    ({"x": Ref(2)}, {"x": Ref(0)},
     "argument 'x' refers to this call itself, expected the result of a (call 1)"),
])  # fmt: skip
def test_links_that_no_argument_says_are_told_as_links(ours: dict, theirs: dict, said: str) -> None:
    (edit,) = diff(of(A, B, call(**ours)), of(A, B, call(**theirs))).edits
    assert edit.message.removeprefix("f (call 3)").lstrip(": ") == said


X = {"r": Ref(0)}


@pytest.mark.parametrize(("ours", "theirs", "code"), [
    ({"r": "1"}, {"r": 1}, "type"), (X, None, "extra"), (None, X, "missing"), ({"r": Ref(1)}, X, "producer"),
    ({"r": Ref(0, ("x",))}, {"r": Ref(0, ("y",))}, "output"), ({"r": "text"}, X, "literal"),
    (X, {"r": "text"}, "unwanted"), ({"r": V}, X, "unresolved"), ({"r": 1}, {"r": 2}, "value"),
    ({"s": Ref(0)}, X, "renamed"),
])  # fmt: skip
def test_codes_of_answers(ours: dict | None, theirs: dict | None, code: str) -> None:
    (edit,) = diff(of(A, B, answer=ours), of(A, B, answer=theirs)).edits
    assert edit.code == f"answer.{code}"


def test_codes_of_names() -> None:
    rows: list[tuple[Any, Any, list[str]]] = TABLES["codes_of_names"]
    for ours, theirs, codes in rows:
        assert [edit.code for edit in diff(of(call(**ours)), of(call(**theirs))).edits] == codes


def test_a_repeated_argument_is_seen() -> None:
    given = (tuple(("x", value) for value in values) for values in ((1, 2), (1, 3), (1,)))
    twice, other, once = (Plan((Call("c", "f", arguments),)) for arguments in given)
    assert diff(twice, twice).same
    (edit,) = diff(twice, other).edits
    assert edit.code == "argument.value"
    assert edit.pred == edit.gold == Place(0, "x")
    for pred, gold, code in ((twice, once, "argument.extra"), (once, twice, "argument.missing")):
        assert [edit.code for edit in diff(pred, gold).edits] == [code]


A_TEXT = call("f", x="text"), call("g", x="text")


@pytest.mark.parametrize(("pred", "gold", "wanted"), [
    ((call("f", city="Oslo"), call("g", town="Oslo"), call("h", n=2), call("k", m=2)),
     (call("f", city="Rome"), call("g", town="Rome"), call("h", n=1), call("k", m=1)), [None, 0, None, None]),
    (A_TEXT, (call("f", x=7), call("g", x=7)), [None, 0]),
    ((A, *A_TEXT), (A, call("f", x=Ref(0)), call("g", x=Ref(0))), [None, 0]),
    ((A, call("f", x=Unresolved("v")), call("g", x=Unresolved("v"))),
     (A, call("f", x=Ref(0)), call("g", x=Ref(0))), [None, 0]),
    ((A, call("f", x=Ref(0)), call("g", x=Ref(0))), (A, *A_TEXT), [None, 0]),
    ((call("f"), call("g")), A_TEXT, [None, None]),  # what is left out twice is two mistakes
    ((), (call("f", x=Ref(1)), call("g", x=Ref(0))), [None, None]),  # a circle
    ((A, call("b", y=Ref(0))), (), [None, None]),
    ((), (A, call("b", y=Ref(0))), [None, None]),
])  # fmt: skip
def test_one_mistake_made_twice_has_one_root(pred: tuple, gold: tuple, wanted: list[int | None]) -> None:
    assert [edit.cause for edit in diff(of(*pred), of(*gold)).edits] == wanted


def test_an_edit_follows_from_a_call_too_much_only_by_the_argument_that_takes_its_result() -> None:
    found = diff(of(A, call("f", x=Ref(0), y=2)), of(call("f", x="text", y=1))).edits
    assert sorted((edit.code, edit.cause) for edit in found if edit.cause is not None) == [
        ("reference.unwanted", next(at for at, edit in enumerate(found) if edit.code == "call.extra"))
    ]
    assert {edit.code for edit in found} == {"call.extra", "reference.unwanted", "argument.value"}


def test_a_place_in_the_text_is_its_argument_or_its_call() -> None:
    call = "a = find(#kind='Books', #town='Oslo')"
    found = parse(f"Shops: [{call}]")
    shown = [Spans(found).of(Place(0, name)) for name in ("kind", "town", "none", None)]
    parts = [found.text[slice(*span)] for span in shown if span]
    assert parts == ["#kind='Books'", "#town='Oslo'", call, call]
    assert Spans(found).of(Place(None, "x")) is None


def twins(gold: Plan, one: int | None, other: int | None) -> bool:
    """Whether two calls are one for a reader: equal in all they need, or both caught in circles."""
    if one is None or other is None:
        return one is other
    numbers = NumberedPlan(gold, {}).numbers
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


def test_items_are_told_together_whatever_a_tool_is_called() -> None:
    one, other = (
        parse([{"name": "f: argument 'x' at g", "arguments": {"x": items}}])
        for items in (["one", "two"], ["uno", "dos"])
    )
    (line,) = make_edit_lines(diff(one, other))
    told = 'argument \'x\' at [0] is "one", expected "uno"; [1] is "two", expected "dos"'
    assert line.said.partition(": argument 'x' at g (call 1): ")[2] == told
    # Of one item several fields are another item.
    legs = [[{"name": "book", "arguments": {"legs": [{"from": "a"}, leg]}}] for leg in (
        {"no": "K1", "day": "2024-05-01"}, {"no": "K2", "day": "2024-05-03"},
    )]  # fmt: skip
    (line,) = make_edit_lines(diff(*map(parse, legs)))
    assert line.said.endswith('is "K1", expected "K2"; [1].day is "2024-05-01", expected "2024-05-03"')


def test_what_one_call_or_the_answer_leaves_out_is_one_line() -> None:
    (line,) = make_edit_lines(diff(calls("pay(by='card')"), calls("pay(by='card', sum=7, to='Ada')")))
    assert line.head == "argument.missing ×2 (call 1)"
    assert (
        line.said == "pay (call 1): argument 'sum' is missing, expected 7; 'to' is missing, expected \"Ada\""
    )
    (line,) = make_edit_lines(diff(of(A, B), of(A, B, answer={"first": Ref(0), "then": Ref(1)})))
    assert (line.head, line.said) == ("answer.missing ×2", "the answer lacks 'first' and 'then'")


def test_an_agent_that_acts_where_gold_only_looks_up_did_so_first() -> None:
    looks = [f"get_room(id='r{number}')" for number in range(4)]
    found = diff(calls("get_user(id='u1')", *looks, "send_gift(to='u1')"), calls("get_user(id='u1')"))
    assert found.roots[0].pred == Place(5)


def test_what_an_agent_looks_up_is_one_line_after_what_acts() -> None:
    assert [verb for verb in TABLES["VERBS"] if not is_lookup(call(f"{verb}_all"))] == ["book", "send"]
    gold = calls("get_user(id='u1')", "book(room='attic')")
    talk = TABLES["what_an_agent_looks_up_is_one_line_after_what_acts"]
    lines = make_edit_lines(diff(calls(*talk, "book(room='cellar')", "search_room(near='attic')"), gold))
    assert [(line.head, line.said) for line in lines] == [
        ("argument.value", 'book (call 6, gold\'s 2): argument \'room\' is "cellar", expected "attic"'),
        ("call.extra", 'get_user (call 2) is not in gold: it repeats call 1 with id="u2" in place of "u1"'),
        ("lookup ×4 (calls 3–5, 7)", "gold lists none of them: get_room ×2, think, search_room"),
    ]
    # Where gold looks things up alone, or something takes the result, a lookup is a mistake as any other.
    asked = calls("get_user(id='u1')", "show_user(id='u1')")
    line = make_edit_lines(diff(calls(*talk, "show_user(id='u2')"), asked))[1]
    assert line.said.startswith("get_user (call 2)")
    # A lookup does not do what gold does, though the two share a value.
    held = diff(calls("get_room(room='attic')", "think(thought='dear')"), calls("lock(room='attic')"))
    assert [edit.code for edit in held.edits] == ["call.extra", "call.extra", "call.missing"]
    used = steps("a = get_room(id='r1')\nb = think(of=a)\nc = book(room=b)")
    assert diff(used, calls("book(room='attic')")).first == (used, 0)


def test_the_wrong_booking_of_a_published_conversation_comes_first(reference: Path) -> None:
    file = reference / "vectors/taubench/gpt-4o-airline.json.gz"
    told = planeval("diff", file, file, "--id", "3/0").stdout.splitlines()
    assert [line.partition(" (")[0] for line in told[1:5]] == [
        "  argument.value: update_reservation_flights",
        "  argument.value ×2",
        "  call.missing: gold's update_reservation_baggages",
        "  call.extra ×5",
    ]
    lookups = [line for line in told if "get_" in line or "think" in line]
    assert [line.partition(": gold")[0] for line in lookups] == ["  lookup ×14 (calls 1–13, 16)"]
    # Of an agent's conversation lookups that are made again come last, too, and one that is alone.
    for task, last in (
        ("33/0", "  lookup ×6 (calls 17, 18, 20–23)"),
        ("15/0", "  call.extra: get_reservation"),
    ):
        edits = planeval("diff", file, file, "--id", task).stdout.partition("\nstructure")[0].splitlines()
        assert edits[-1].startswith(last)


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


def made(notation: str, *parts: Any) -> Plan:
    """A plan of a table, as one of these notations says it."""
    return {"calls": calls, "steps": steps, "graph": graph, "unlinked": partial(graph, linked=False)}[
        notation
    ](*parts)


def edits_of(found: Diff) -> list[str]:
    return [f"{'-' if e.cause is None else e.cause} {e.code}: {e.message}" for e in found.edits]


@tabled("what, pred, gold, wanted")
def test_what_is_said(what: str, pred: list[Any], gold: list[Any], wanted: list[str]) -> None:
    found = diff(made(*pred), made(*gold))
    assert edits_of(found) == wanted, what
    assert diff(apply_patch(found.pred, json.loads(json.dumps(make_patch(found)))), found.gold).same


def policy_of(parts: dict[str, Any]) -> Policy:
    """A policy, and its rules, of a table."""

    def hashable(given: dict[str, Any]) -> dict[str, Any]:
        return {key: tuple(item) if isinstance(item, list) else item for key, item in given.items()}

    return Policy(**hashable({**parts, "rules": [Rule(**hashable(rule)) for rule in parts.get("rules", ())]}))


@tabled("what, policy, pred, gold, told, edits", ids=[row[0] for row in TABLES["what_is_told"]])
def test_what_is_told(
    what: str, policy: dict[str, Any], pred: str, gold: str, told: list[str], edits: list[str]
) -> None:
    ours, theirs = (parse(text, dialect="plan" if text[0] == "{" else "code") for text in (pred, gold))
    found = diff(ours, theirs, policy_of(policy))
    assert diff_text(found).split("\n") == told, what
    assert edits_of(found) == edits
    patched = apply_patch(found.pred, json.loads(json.dumps(make_patch(found))))
    assert diff(patched, found.gold, policy_of(policy)).same


@tabled("sentence, words")
def test_words_that_only_one_of_two_texts_has(sentence: str, words: list[str]) -> None:
    assert [piece for piece, differs in mark_differences(sentence) if differs] == words


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
    calls("math_hypot(x=4, y=7)", "Sum_Up(of=[1, 2])"), calls("math.hypot(x=4, y=7)", "sum_up(of=[1, 2])"),
)  # fmt: skip


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


def chain(count: int) -> Plan:
    """Calls each of which takes the result of the one before."""
    return of(call("start"), *(call("f", of=Ref(at - 1), n=at) for at in range(1, count)))


def test_a_long_chain_of_missing_calls(tmp_path: Path) -> None:
    text = diff_text(diff(chain(2), chain(200)))
    assert "↳" not in text, "a missing call is no consequence of another: mending the one brings no other"
    assert (
        "×198 (gold's calls 3–200): the plan stops after call 2: gold's f is missing, with of=‹call 2›, n=2;"
        in text
    )
    pred, gold = tmp_path / "pred.json", tmp_path / "gold.json"
    pred.write_text(write(chain(1), "plan"))
    gold.write_text(write(chain(1500), "plan"))
    done = planeval("diff", pred, gold, "--format", "html")
    assert done.returncode == 1, done.stderr[-300:]
    edits = Page(done.stdout).pair(0)["e"]
    assert [(edit[0], edit[2]) for edit in edits] == [("call.missing", -1)] * 1499


@pytest.mark.parametrize(
    "pred", ["f(a=2, b=3, c=1, d=9)", "f(a=2, b=3, c=1, d=9, e=8)\ng(x=1)", "f(a=2, b=3, c=1, b2=7)"]
)
def test_arguments_that_went_round_are_written_once(pred: str) -> None:
    gold = parse("f(a=1, b=2, c=3)")
    assert diff(apply_patch(parse(pred), make_patch(diff(parse(pred), gold))), gold).same


def repaired(pred: Plan, gold: Plan) -> None:
    patch = make_patch(diff(pred, gold))
    assert bool(patch["operations"]) is not diff(pred, gold).same
    assert diff(apply_patch(pred, json.loads(json.dumps(patch))), gold).edits == ()


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


@tabled("operation, said")
def test_bad_patches(operation: dict[str, object], said: str) -> None:
    wrong = {"schema": SCHEMA, "operations": [operation]}
    for patch, why in ((wrong, said), ([], "not a patch"), ({"schema": SCHEMA}, "'operations' is missing")):
        with pytest.raises(InputError) as caught:
            apply_patch(Plan((Call("a", "f"),)), patch)
        assert why in str(caught.value)


def test_an_optional_call_that_others_need_is_made_with_them(tmp_path: Path) -> None:
    text = "a = log_in()\nb = search(user=a)\nnote(text=b)\nbook(hotel=b)"
    calls = json.loads(write(parse(text, dialect="code"), "plan"))["calls"]
    gold = {"id": "k", "gold": calls, "optional": [call["id"] for call in calls[:3]]}
    for name, record in (("gold", gold), ("pred", {"id": "k", "plan": []})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    pred, wanted, patch, new = (str(tmp_path / f"{n}.jsonl") for n in ("pred", "gold", "patch", "new"))
    planeval("diff", pred, wanted, "--patch", "-o", patch)
    assert planeval("convert", pred, "--patch", patch, "-o", new).returncode == 0
    assert planeval("diff", new, wanted).stdout.startswith("k  same\n")
    assert "note" not in Path(new).read_text()


def test_two_patches_of_one_id_are_known_as_such() -> None:
    lines = [{"id": at, "operations": []} for at in ("a", "b", "a")]
    found = read_patch_text("\n".join(map(json.dumps, lines)), "p.jsonl")
    assert (found.repeated, sorted(found.by_id)) == (frozenset("a"), ["a", "b"])


def test_a_call_is_added_where_the_patch_says() -> None:
    pred = Plan(tuple(Call(name, "f") for name in "abc"))
    for after, wanted in ((None, "xabc"), ("a", "axbc"), ("b", "abxc"), ("c", "abcx"), ("lost", "abcx")):
        added = {"op": "add", "call": {"id": "x", "name": "g", "arguments": {}}, "after": after}
        found = apply_patch(pred, {"schema": SCHEMA, "operations": [added]})
        assert "".join(call.id for call in found.calls) == wanted


BY_HAND = ROOT / "tests" / "explained" / "pairs.jsonl"
EXPLAINED = [json.loads(line) for line in BY_HAND.read_text(encoding="utf-8").splitlines()]
NAMED = re.compile(r"(gold's|calls?) (\d+(?:(?:, |-)\d+)*)")


def named(text: str) -> Iterator[tuple[str, int]]:
    """The calls that a sentence names: whose they are, and their numbers."""
    for whose, numbers in NAMED.findall(text):
        for number in re.findall(r"\d+", numbers):
            yield ("gold" if whose == "gold's" else "pred", int(number))


def first_of(found: pe.Diff) -> dict[str, int] | None:
    """The first mistake that the tool tells: in the prediction's numbers wherever it has the call."""
    if found.first is None:
        return None
    position = found.first.position
    if found.first.plan is found.pred:
        return {"pred": position + 1}
    of_gold = {gold: pred for pred, gold in found.alignment.pairs}
    return {"pred": of_gold[position] + 1} if position in of_gold else {"gold": position + 1}


LIGHT_FIRST = TABLES["LIGHT_FIRST"]
"""Where what changes little is told last; the hands, written before, name the first mistake as it is read."""


@pytest.mark.parametrize("pair", EXPLAINED, ids=lambda pair: pair["id"])
def test_calls_that_the_hand_names_exist_and_the_first_mistake_is_the_hands(pair: dict[str, Any]) -> None:
    assert len({each["id"] for each in EXPLAINED}) == len(EXPLAINED) == 40
    hand, gold = pair["hand"], pe.parse(pair["gold"])
    calls = {"gold": len(gold.calls)}
    if pair.get("unreadable"):
        with pytest.raises(pe.ParseError):
            pe.parse(pair["prediction"])
        assert hand["first"] is None
    else:
        calls["pred"] = len(pe.parse(pair["prediction"]).calls)
        assert len(hand["first"]) == 1
        found = pe.diff(pair["prediction"], gold, terms=terms_of(pair, gold))
        assert first_of(found) == LIGHT_FIRST.get(pair["id"], hand["first"])
    said = [*(hand["first"] or {}).items(), *named(" · ".join([*hand["causes"], *hand["habits"]]))]
    assert hand["causes"] or hand["habits"]
    assert [(side, n) for side, n in said if side in calls and not 1 <= n <= calls[side]] == []


def test_each_call_of_gold_is_listed_once_for_extra_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Call] = []
    call_text = names._call_text

    def list_call(call: Call) -> tuple[str, ...]:
        listed.append(call)
        return call_text(call)

    monkeypatch.setattr(names, "_call_text", list_call)
    gold = [f"f(x={number})" for number in range(40)]
    found = diff(calls(*gold, *(f"f(x={number})" for number in range(100, 140))), calls(*gold))
    assert [edit.code for edit in found.edits] == ["call.extra"] * 40
    assert 40 <= len(listed) <= 80


@tabled("patches, plans, name, wanted")
def test_a_plan_is_repaired_by_the_patch_of_its_id(
    patches: list[str | None], plans: list[str | None], name: str | None, wanted: str
) -> None:
    """Each sets x to 2; None is one without an id."""
    patch = make_patch(pe.diff("f(x=1)", "f(x=2)"))
    listed = [patch if one is None else {"id": one, **patch} for one in patches]
    records = "f(x=1)" if plans == [None] else [{"id": one, "plan": "f(x=1)"} for one in plans]
    try:
        found = pe.apply(listed[0] if patches == [None] else listed, records, id=name)
    except InputError as error:
        said = str(error)
    else:
        results = [found] if isinstance(found, Plan) else [one.plan or one.error for one in found]
        said = " ".join(str(one if isinstance(one, str) else one.calls[0].arguments[0][1]) for one in results)
    assert said == wanted
