"""What plans touch, and what none does: by hand, against a catalog and another set, and the command."""

import json
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.benchmarks.datasets.schema import ToMakeFile
from planner_eval.catalogs.formats import as_catalog
from planner_eval.curation.coverage import (
    ASPECTS,
    CoverageCounts,
    Link,
    Pair,
    Slot,
    find_possible_links,
    small_shapes,
)
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.model import Plan
from tests.conftest import ROOT, examples, tables
from tests.inside import planeval
from tests.plant import topological
from tests.property.test_comparison_laws import arguments_reversed, plans

TABLES = tables(__file__)

EXAMPLES = ROOT / "docs" / "examples" / "sets"
CATALOG = str(EXAMPLES / "tools.json")
TOOLS = TABLES["TOOLS"]
CALLNAVI = as_catalog(TOOLS, "callnavi")
PLANS = [
    {"id": "a", "gold": "hotelID = find(#city='Rome')\nbook(#hotel_id=hotelID, #nights='2')"},
    {"id": "b", "gold": "find(#city='Oslo')"}, {"id": "c", "gold": "find(#city='Bonn')\nother(#x='1')"},
]  # fmt: skip


def test_what_is_touched_and_what_is_not() -> None:
    found = pe.coverage(PLANS, CALLNAVI)
    tools, pairs, edges, shapes, depths = map(found.aspect, ("tools", "pairs", "edges", "shapes", "depths"))
    assert tools.touched == {"find": 3, "book": 1, "other": 1}
    assert (tools.never, tools.beside, edges.beside) == (("pay", "rate"), 1, 0)
    slots = (Slot("pay", "bill-id"), Slot("rate", "hotelId"), Slot("rate", "stars"))
    assert found.aspect("parameters").never == slots
    assert pairs.touched == {Pair("find", "book"): 1}
    missing = (("find", "rate"), ("book", "pay"), ("pay", "book"), ("pay", "rate"))
    assert pairs.never == tuple(Pair(*each) for each in missing)
    assert edges.touched == {Link("find", "hotelID", "book", "hotel_id"): 1}
    assert (shapes.touched, len(shapes.never or ())) == ({"(())": 1, "()": 1, "() + ()": 1}, 37)
    assert (depths.touched, depths.never) == ({1: 2, 2: 1}, ())
    assert [one.plans for one in found.skeletons] == [1, 1, 1]
    assert [one.name for one in found.aspects] == [*ASPECTS]
    # By name and type, never its own tool.
    assert [str(link) for link in find_possible_links(CALLNAVI.tools) or ()] == [
        "find.hotelID → book(hotel_id)",
        "find.hotelID → rate(hotelId)",  # its stars are a whole number, where rate takes a text
        "book.billID → pay(bill-id)", "pay.hotelID → book(hotel_id)", "pay.hotelID → rate(hotelId)",
    ]  # fmt: skip


def test_too_many_outputs_of_one_name_are_said_and_not_listed(tmp_path: Path) -> None:
    tool = {"parameters": {"id": "int"}, "returnParameter": {"id": "int"}}
    (tmp_path / "tools.json").write_text(json.dumps([{**tool, "name": f"t{at}"} for at in range(501)]))
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "gold": "id = t1()\\nt2(#id=id)"}\n')
    assert find_possible_links(pe.read_catalog(str(tmp_path / "tools.json")).tools[:500]) is not None
    argv = (str(tmp_path / "gold.jsonl"), "--catalog", str(tmp_path / "tools.json"))
    done = planeval("data", "coverage", *argv)
    assert done.returncode == 0
    assert "too many outputs have a parameter's name" in done.stderr
    assert "pairs never used" not in done.stdout
    assert "tools never used: 499" in done.stdout


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
    found = pe.coverage(PLANS[1:], CALLNAVI, against=PLANS[:1])
    assert (found.aspect("tools").missing, found.aspect("tools").alone) == (("book",), ("other",))
    assert found.aspect("depths").missing == (2,)
    made = found.to_make()
    assert made["tools"] == ["book", "pay", "rate"]  # what the other set has comes first
    edge = {"producer": "find", "output": "hotelID", "consumer": "book", "parameter": "hotel_id"}
    assert (made["shapes"][0], made["edges"][0]) == ("(())", edge)
    assert len(made["shapes"]) == len(set(made["shapes"]))
    ToMakeFile.check(made, "made")
    alone = pe.coverage(PLANS)  # nobody says which tools there are
    assert alone.aspect("tools").never is None
    made = alone.to_make()
    assert (made["catalog"], made["tools"], made["pairs"]) == (None, [], [])
    ToMakeFile.check(made, "made")


@examples(60)
@given(st.lists(plans(5), max_size=4), st.integers(0, 10**6))
def test_labels_and_orders_touch_the_same(many: list[Plan], seed: int) -> None:
    classes = EquivalenceClasses(literals=False)
    one, other = CoverageCounts(None, classes), CoverageCounts(None, classes)
    for plan in many:
        one.add(plan)
        moved = topological(arguments_reversed(plan), Random(seed))
        assert moved is not None
        other.add(moved)
    # which of a circle's calls comes first is a matter of place, which only the shape of a circle shows
    assert {name: one.counts[name] for name in ASPECTS} == {name: other.counts[name] for name in ASPECTS}
    assert sum(one.counts["depths"].values()) == sum(one.counts["skeletons"].values()) == len(many)


@examples(60)
@given(st.lists(plans(4), max_size=4), st.lists(plans(4), max_size=4))
def test_a_set_and_another_part_what_both_touch(ours: list[Plan], theirs: list[Plan]) -> None:
    found = pe.coverage(ours or [Plan()], against=theirs or [Plan()])
    for one in found.aspects:
        both = set(one.touched) & set(one.others or ())
        assert both | set(one.alone) == set(one.touched)
        assert both | set(one.missing) == set(one.others or ())
        assert not set(one.never or ()) & set(one.touched)


def test_to_make_follows_its_schema(tmp_path: Path) -> None:
    file, gold = tmp_path / "make.json", str(EXAMPLES / "gold.jsonl")
    done = planeval("data", "coverage", gold, "--catalog", CATALOG, "--to-make", str(file))
    assert done.returncode == 0, done.stderr
    made = json.loads(file.read_text())
    ToMakeFile.check(made, "made")
    assert made["tools"] == ["Museums.tickets", "Weather.forecast"]
    assert {"producer": "Museums.open", "consumer": "Museums.tickets"} in made["pairs"]
    packed = tmp_path / "make.json.gz"
    done = planeval("data", "coverage", gold, "--to-make", str(packed))
    assert (done.returncode, packed.exists()) == (2, False)
    assert "has the suffix of gz, but json is written" in done.stderr
