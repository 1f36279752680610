"""What plans touch, and what none does: by hand, against a catalog and another set, and the command."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.catalogs.formats import as_catalog
from planner_eval.datasets.coverage import ASPECTS, Link, Pair, Slot, Touched, possible, small_shapes
from planner_eval.datasets.schema import ToMakeFile
from planner_eval.plan.digest import Classes
from planner_eval.plan.model import Plan
from tests.conftest import ROOT, examples
from tests.plant import topological
from tests.property.test_comparison_laws import arguments_reversed, plans
from tests.test_cli import planeval

EXAMPLES = ROOT / "docs" / "examples" / "sets"
CATALOG = str(EXAMPLES / "tools.json")
SAMPLES = str(ROOT / "data" / "samples")
TOOLS = [
    {
        "name": "find",
        "parameters": {"city": "string"},
        "returnParameter": {"hotelID": "string", "stars": "int"},
    },
    {
        "name": "book",
        "parameters": {"hotel_id": "string", "nights": "int"},
        "returnParameter": {"billID": "int"},
    },
    {"name": "pay", "parameters": {"bill-id": "int"}, "returnParameter": {"hotelID": "string"}},
    {"name": "rate", "parameters": {"hotelId": "string", "stars": "string"}, "returnParameter": {}},
]
PLANS = [
    {"id": "a", "gold": "hotelID = find(#city='Rome')\nbook(#hotel_id=hotelID, #nights='2')"},
    {"id": "b", "gold": "find(#city='Oslo')"},
    {"id": "c", "gold": "find(#city='Bonn')\nother(#x='1')"},
]


# ---------------------------------------------------------------- by hand
def test_what_is_touched_and_what_is_not() -> None:
    found = pe.coverage(PLANS, as_catalog(TOOLS, "callnavi"))
    assert found.aspect("tools").touched == {"find": 3, "book": 1, "other": 1}
    assert (found.aspect("tools").never, found.aspect("tools").beside) == (("pay", "rate"), 1)
    assert found.aspect("parameters").never == (
        Slot("pay", "bill-id"),
        Slot("rate", "hotelId"),
        Slot("rate", "stars"),
    )
    assert found.aspect("pairs").touched == {Pair("find", "book"): 1}
    assert found.aspect("pairs").never == (
        Pair("find", "rate"), Pair("book", "pay"), Pair("pay", "book"), Pair("pay", "rate"),
    )  # fmt: skip
    assert found.aspect("edges").touched == {Link("find", "hotelID", "book", "hotel_id"): 1}
    assert found.aspect("edges").beside == 0
    assert found.aspect("shapes").touched == {"(())": 1, "()": 1, "() + ()": 1}
    assert len(found.aspect("shapes").never or ()) == 37
    assert (found.aspect("depths").touched, found.aspect("depths").never) == ({1: 2, 2: 1}, ())
    assert [one.plans for one in found.skeletons] == [1, 1, 1]
    assert [one.name for one in found.aspects] == [*ASPECTS]


def test_an_output_fits_by_name_and_type_and_never_its_own_tool() -> None:
    links = possible(as_catalog(TOOLS, "callnavi").tools)
    assert [str(link) for link in links or ()] == [
        "find.hotelID → book(hotel_id)",
        "find.hotelID → rate(hotelId)",  # its stars are a whole number, where rate takes a text
        "book.billID → pay(bill-id)",
        "pay.hotelID → book(hotel_id)",
        "pay.hotelID → rate(hotelId)",
    ]


def test_too_many_outputs_of_one_name_are_said_and_not_listed(tmp_path: Path) -> None:
    tool = {"parameters": {"id": "int"}, "returnParameter": {"id": "int"}}
    (tmp_path / "tools.json").write_text(json.dumps([{**tool, "name": f"t{at}"} for at in range(501)]))
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "gold": "id = t1()\\nt2(#id=id)"}\n')
    assert possible(pe.read_catalog(str(tmp_path / "tools.json")).tools[:500]) is not None
    argv = (str(tmp_path / "gold.jsonl"), "--catalog", str(tmp_path / "tools.json"))
    done = planeval("data", "coverage", *argv)
    assert done.returncode == 0
    assert "too many outputs have a parameter's name" in done.stderr
    assert "pairs never touched" not in done.stdout
    assert "tools never touched: 499" in done.stdout


def test_small_shapes_are_those_of_all_graphs_without_circles() -> None:
    sizes = [shape.count("(") for shape in small_shapes()]
    assert [sizes.count(size) for size in (1, 2)] == [1, 2]
    assert len(small_shapes()) == 1 + 2 + 6 + 31  # graphs of up to four nodes without circles, OEIS A003087


def test_skeletons_leave_out_what_is_given_besides_references() -> None:
    texts = ["a = f(#x='1')\ng(#y=a)", "a = f()\ng(#y=a, #z='5')", "a = f()\ng(#w=a)", "f()\ng(#y='1')"]
    found = pe.coverage([{"id": str(at), "gold": text} for at, text in enumerate(texts)])
    assert [one.plans for one in found.skeletons] == [2, 1, 1]
    assert (found.skeletons[0].tools, found.commonest) == ("f, g", 4)


def test_another_set_says_what_is_missing() -> None:
    found = pe.coverage(PLANS[1:], as_catalog(TOOLS, "callnavi"), against=PLANS[:1])
    assert found.aspect("tools").missing == ("book",)
    assert found.aspect("tools").alone == ("other",)
    assert found.aspect("depths").missing == (2,)
    made = found.to_make()
    assert made["tools"] == ["book", "pay", "rate"]  # what the other set has comes first
    assert made["shapes"][0] == "(())"
    assert made["edges"][0] == {
        "producer": "find",
        "output": "hotelID",
        "consumer": "book",
        "parameter": "hotel_id",
    }
    assert len(made["shapes"]) == len(set(made["shapes"]))
    ToMakeFile.check(made, "made")


def test_without_a_catalog_nobody_says_which_tools_there_are() -> None:
    found = pe.coverage(PLANS)
    assert found.aspect("tools").never is None
    made = found.to_make()
    assert (made["catalog"], made["tools"], made["pairs"]) == (None, [], [])
    ToMakeFile.check(made, "made")


def test_words_are_no_plan_and_said() -> None:
    found = pe.coverage([{"gold": "I will search flights first."}, {"gold": []}, {"gold": "f()"}])
    assert (found.sets[0].plans, found.aspect("depths").touched) == (2, {0: 1, 1: 1})
    (said,) = found.notes
    assert (
        "1 of 3 gold plans is words that call nothing, and counts as no plan; the first is record 1" in said
    )


@pytest.mark.parametrize("nothing", [None, 3, [], ()])
def test_what_is_no_set_is_refused_in_words(nothing: object) -> None:
    wanted = "the list is empty" if nothing in ([], ()) else "is no set of plans, expected the name of a file"
    with pytest.raises(InputError, match=wanted):
        pe.coverage(nothing)
    if nothing is not None:
        with pytest.raises(InputError, match=wanted):
            pe.coverage(PLANS, against=nothing)


def test_an_aspect_that_there_is_not_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="no aspect 'tool'; did you mean 'tools'"):
        pe.coverage(PLANS).aspect("tool")
    with pytest.raises(InputError, match="no aspect 'nope'; tools, parameters"):
        pe.coverage(PLANS).aspect("nope")


# ---------------------------------------------------------------- laws
@examples(60)
@given(st.lists(plans(5), max_size=4), st.integers(0, 10**6))
def test_labels_and_orders_touch_the_same(many: list[Plan], seed: int) -> None:
    classes = Classes(literals=False)
    one, other = Touched(None, classes), Touched(None, classes)
    for plan in many:
        one.add(plan)
        moved = topological(arguments_reversed(plan), Random(seed))
        assert moved is not None
        other.add(moved)
    # which of a circle's calls comes first is a matter of place, which only the shape of a circle shows
    assert {name: one.counts[name] for name in ASPECTS} == {name: other.counts[name] for name in ASPECTS}
    assert sum(one.counts["depths"].values()) == sum(one.counts["skeletons"].values()) == one.plans


@examples(60)
@given(st.lists(plans(4), max_size=4), st.lists(plans(4), max_size=4))
def test_a_set_and_another_part_what_both_touch(ours: list[Plan], theirs: list[Plan]) -> None:
    found = pe.coverage(ours or [Plan()], against=theirs or [Plan()])
    for one in found.aspects:
        both = set(one.touched) & set(one.others or ())
        assert both | set(one.alone) == set(one.touched)
        assert both | set(one.missing) == set(one.others or ())
        assert not set(one.never or ()) & set(one.touched)


# ---------------------------------------------------------------- the command
def test_to_make_follows_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "make.json"
    gold = str(EXAMPLES / "gold.jsonl")
    done = planeval("data", "coverage", gold, "--catalog", CATALOG, "--to-make", str(file))
    assert done.returncode == 0, done.stderr
    made = json.loads(file.read_text())
    ToMakeFile.check(made, "made")
    assert made["tools"] == ["Museums.tickets", "Weather.forecast"]
    assert {"producer": "Museums.open", "consumer": "Museums.tickets"} in made["pairs"]


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ((str(EXAMPLES / "gold.jsonl"),), 0, ""),
        (("nosuch.jsonl",), 2, "nosuch.jsonl"),
        ((str(EXAMPLES / "gold.jsonl"), "--catalog", "nosuch.json"), 2, "nosuch.json"),
        (("functionchat", "--source", SAMPLES, "--from", "json"), 2, "--from applies only to files"),
        (("-", "--against", "-"), 2, "standard input, which can be read only once"),
    ],
)
def test_codes_and_messages(argv: tuple[str, ...], code: int, said: str) -> None:
    done = planeval("data", "coverage", *argv)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr


def test_plans_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    bad, good = '{"id": "a", "gold": "f(#x="}\n', '{"id": "b", "gold": "f()"}\n'
    (tmp_path / "some.jsonl").write_text(bad + good)
    (tmp_path / "none.jsonl").write_text(bad)
    some, none = (planeval("data", "coverage", str(tmp_path / f"{name}.jsonl")) for name in ("some", "none"))
    assert (some.returncode, none.returncode) == (1, 3)
    assert "some.jsonl, line 1, record 1 (id a): " in some.stderr
    assert "2 records, 1 with a plan" in some.stdout
    assert none.stdout == "none.jsonl: 1 record, 0 with a plan\n"
    (tmp_path / "none.jsonl").write_text("")
    empty = planeval("data", "coverage", str(tmp_path / "none.jsonl"))
    assert (empty.returncode, empty.stdout) == (3, "none.jsonl: 0 records, 0 with a plan\n")
    assert "none.jsonl is empty" in empty.stderr


def test_a_plan_without_calls_is_none_and_no_blank(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "gold": []}\n')
    done = planeval("data", "coverage", str(tmp_path / "gold.jsonl"))
    assert done.returncode == 0
    assert "\n  1 × none\n" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.rstrip().endswith("×")]


def test_what_is_to_be_made_is_json_whatever_it_is_named(tmp_path: Path) -> None:
    gold, file = str(EXAMPLES / "gold.jsonl"), tmp_path / "make.json.gz"
    done = planeval("data", "coverage", gold, "--to-make", str(file))
    assert (done.returncode, file.exists()) == (2, False)
    assert "is named as gz, and json is written" in done.stderr


def test_the_same_bytes_whatever_the_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, train = (str(EXAMPLES / f"{name}.jsonl") for name in ("gold", "train"))
    found = []
    for seed in ("0", "1", "7"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(planeval("data", "coverage", gold, "--catalog", CATALOG, "--against", train).stdout)
    assert found[0]
    assert all(one == other for one, other in pairwise(found))


# ---------------------------------------------------------------- the published data
def test_ten_skeletons_hold_261_of_801_plans_of_appbench(reference: Path) -> None:
    folder = reference / "datasets"
    found = pe.coverage("appbench", str(folder / "appbench" / "catalogue.json"), folder=str(folder))
    assert (found.sets[0].plans, len(found.aspect("skeletons").touched), found.commonest) == (801, 260, 261)
    tools = found.aspect("tools")
    assert (len(tools.touched), len(tools.never or ()), tools.beside) == (25, 56, 0)
    assert found.unproved == 0
