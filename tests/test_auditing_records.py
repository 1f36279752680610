"""Records beside each other: twins whose plans differ, picks from recorded answers, models against gold."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.catalogs.catalog import Catalog, Tool
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.values import Rule
from planner_eval.curation.audit.candidates import find_ambiguous_picks, find_picked_literals
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.curation.audit.surplus import TwinFinder
from planner_eval.curation.audit.votes import Answer, count_votes, group_answers
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading.dialects.read import parse
from planner_eval.results.findings import GoldFinding
from tests.conftest import tabled, tables

TABLES = tables(__file__)


def items(*records: tuple[str, str, str]) -> list[AuditedRecord]:
    return [AuditedRecord(name, parse(plan), question) for name, question, plan in records]


def twins(records: list[AuditedRecord]) -> dict[str, list[GoldFinding]]:
    finder = TwinFinder()
    for number, item in enumerate(records):
        finder.add(number, item)
    found: dict[str, list[GoldFinding]] = {}
    for number, finding in sorted(finder.found(), key=lambda pair: pair[0]):
        found.setdefault(records[number].record, []).append(finding)
    return found


SUM = "a = add(x=3, y=4)\ndouble(n=a)"
FOUR = TABLES["FOUR"]


def test_the_odd_one_of_a_group_is_named_with_the_others() -> None:
    told = twins(items(*FOUR))
    assert list(told) == ["r4"]
    (one,) = told["r4"]
    assert (one.code, one.confidence, one.related) == ("gold.twin", "medium", ("r1", "r2", "r3"))
    assert one.message == (
        "the question matches r1, r2, r3, up to values, whose plans make the calls add, double and pass "
        "their results differently; this one makes them too"
    )
    told = twins(items(*FOUR[:2], FOUR[3]))  # a majority of two is not much
    assert {name: one.confidence for name, (one,) in told.items()} == {"r4": "low"}
    told = twins(items(FOUR[0], ("r5", "Add 8 to 7 and double it.", "add(x=8, y=7)")))
    found = {name: (one.confidence, one.related) for name, (one,) in told.items()}
    assert found == {"r1": ("low", ("r5",)), "r5": ("low", ("r1",))}
    told = twins(items(("a", "Do 1.", "f(x=1)"), ("b", "Do 2.", "g(x=2)"), ("c", "Do 3.", "h(x=3)")))
    assert list(told) == ["a", "b", "c"]
    assert "their plans have 3 shapes" in told["a"][0].message
    plan = parse(SUM)
    answers = [Plan(plan.calls, plan.edges, (("it", Ref(at)),)) for at in (0, 1)]
    kept = [AuditedRecord("a", answers[0], "Add 3 to 4."), AuditedRecord("b", answers[1], "Add 3 to 5.")]
    assert "answer with other results" in twins(kept)["a"][0].message


def test_values_and_tools_make_no_twins_differ() -> None:
    assert not twins(items(*FOUR[:3]))
    plan = parse("add(x=8, y=7)")
    tools = [Catalog((Tool(name),)) for name in ("add", "sum")]
    records = [AuditedRecord("a", parse(SUM), "Add 1."), AuditedRecord("b", plan, "Add 2.")]
    assert twins(records)
    assert not twins([one._replace(catalog=tools[at]) for at, one in enumerate(records)])


@given(st.permutations(FOUR))
def test_the_order_of_records_decides_nothing(order: list[tuple[str, str, str]]) -> None:
    told = twins(items(*order))
    assert {name: (one.code, one.confidence, {*one.related}) for name, (one,) in told.items()} == {
        "r4": ("gold.twin", "medium", {"r1", "r2", "r3"})
    }


HOTELS = {"data": {"hotels": [{"id": f"h-{at}{at}00", "city": "Bonn"} for at in (1, 2)] + [{"id": "h-3300"}]}}


def recorded(given: Any, answer: Any = HOTELS) -> Plan:
    search = Call("a", "search", (("city", "Bonn"),), result=answer, has_result=True)
    return Plan((search, Call("b", "book", (("hotel", given),))))


@tabled("given, query, found")
def test_what_is_a_pick(given: Any, query: str | None, found: list[tuple[str, str]]) -> None:
    told = list(find_ambiguous_picks(recorded(given), query=query))
    assert [[one.code, one.confidence] for one in told] == found
    if ["gold.candidate", "medium"] in found:
        assert (told[0].call, told[0].argument) == (1, "hotel")
        assert told[0].message == (
            "hotel is 'h-2200', the 2nd of 3 that search returned (at data.hotels.*.id); "
            "the question does not say which"
        )
    answer = {"hotels": [{"city": "Bonn"}, {"city": "Bonn"}, {"city": "Ulm"}]}
    several = list(find_ambiguous_picks(recorded("Bonn", answer), query="Book me a hotel"))
    assert [(one.code, one.confidence) for one in several] == [("gold.candidates", "low")]


def test_the_text_of_a_number_is_the_number_and_lists_lie_in_lists() -> None:
    answer = [{"rooms": [{"price": 120.5}]}, {"rooms": [{"price": 99.5}, {"price": 87.25}]}]
    (one,) = find_picked_literals(recorded("87.25", answer))
    assert (one.path, one.entries, one.among) == ((1, "rooms", "*", "price"), (1,), 2)
    (two,) = find_picked_literals(recorded("99.5", answer))
    assert two.entries in ((0,), (1,))


def said(*plans: str | None, models: str = "") -> list[Answer]:
    names = models.split() or [f"m{at}" for at in range(len(plans))]
    return [Answer(f"run{at}", parse(one) if one else None, names[at]) for at, one in enumerate(plans)]


def votes(gold: str, answers: list[Answer], policy: Policy | None = None) -> list[GoldFinding]:
    counted = count_votes(parse(gold), answers, policy or Policy())
    finding = counted and counted.finding(dict.fromkeys(counted.votes, 1.0))
    return [finding] if finding else []


@tabled("plans, models, confidence")
def test_how_many_agree_decides(plans: str, models: str, confidence: str | None) -> None:
    answers = said(*(None if name == "-" else f"{name}(x=1)" for name in plans.split()), models=models)
    assert [one.confidence for one in votes("f(x=1)", answers)] == ([confidence] if confidence else [])


ADD = [{"name": "math.add", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]


@tabled("gold, answer, found")
def test_what_models_may_write_otherwise(gold: str, answer: str, found: list[tuple[str, str]]) -> None:
    record = {"id": "q", "question": "Add it", "gold": gold, "tools": ADD}
    runs = {name: [{"id": "q", "prediction": answer}] for name in "abc"}
    check = pe.check_dataset(
        [record], reading=pe.Reading(text_field="gold"), runs=runs, confidence="low", select=["gold.outvoted"]
    )
    assert [[doubt.found.code, doubt.found.confidence] for doubt in check.doubts] == found


def test_a_model_that_is_mostly_wrong_weighs_less() -> None:
    gold = [{"id": str(n), "question": f"What is {n}?", "gold": f"f(x={n})"} for n in range(12)]
    right = [{"id": str(n), "prediction": f"f(x={n})" if n else "g(x=1)"} for n in range(12)]
    wrong = [{"id": str(n), "prediction": f"h(x={n})"} for n in range(12)]
    runs = {"a": right, "b": right, "c": right, "d": wrong, "e": wrong}
    how = {"reading": pe.Reading(text_field="gold"), "confidence": "low", "select": ["gold.outvoted"]}
    check = pe.check_dataset(gold, runs=runs, **how)
    (doubt,) = check.doubts
    assert (doubt.record, doubt.found.confidence) == ("0", "medium")
    assert doubt.found.share is not None
    assert 0.8 < doubt.found.share < 1  # three of five are 0.6


def test_what_a_policy_takes_for_one_is_one_and_the_finding_says_who() -> None:
    folded = Policy(rules=(Rule(compare=("casefold",)),))
    answers = said("f(x='ROME')", "f(x='rome')", "f(x='Rome')")
    assert [len(camp.answers) for camp in group_answers(answers, folded)] == [3]
    assert not votes("f(x='rOmE')", answers, folded)
    assert not votes("f(x='rOmE')", answers)  # three camps of one
    (one,) = votes("f(x=1)", said("f(x=2)", "f(x=2)", "f(x=2)", "g(x=3)"))
    assert one.message.startswith("3 of 4 models agree on a plan that differs from gold: ")
    assert one.message.endswith("(run0, run1, run2)")
