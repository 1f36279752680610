"""What a question says of a value, and literals of gold that it does not say; the published gold counted.

Questions and values are lines of tests/cases/grounded.jsonl, questions and plans of ungrounded.jsonl, all of
our own writing; ``pytest tests/test_grounding.py --update-cases`` writes what is found: review its diff like
code.
"""

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from planner_eval.base.codes import code_meanings
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.catalogs.formats import as_catalog
from planner_eval.curation.audit.grounding import CODES as FOUND
from planner_eval.curation.audit.grounding import literals, ungrounded
from planner_eval.curation.audit.question import Question
from planner_eval.curation.audit.words import MAX_MENTIONS
from planner_eval.curation.sets import sample_conversation_text
from planner_eval.plan.model import Call, Plan, Ref, Template
from planner_eval.reading.dialects.read import parse
from tests.conftest import ROOT, AsKept, examples, tabled

CASES = ROOT / "tests" / "cases"
SAID = CASES / "grounded.jsonl"
PLANS = CASES / "ungrounded.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def found(query: str, value: Any, name: str) -> dict[str, Any]:
    """A case as it is kept: how the value is grounded, how surely, and by which words."""
    ground, told = Question(query).grounds(value, name), {"query": query, "value": value, "name": name}
    if ground is None:
        return told | {"how": None}
    said = None if ground.span is None else query[slice(*ground.span)]
    return told | {"how": ground.how, "sure": ground.sure, "said": said}


def test_grounds_are_as_they_were_reviewed(as_kept: AsKept) -> None:
    as_kept(SAID, [found(one["query"], one["value"], one["name"]) for one in lines(SAID)])


def test_findings_are_as_they_were_reviewed(as_kept: AsKept) -> None:
    def told(query: str, plan: str) -> dict[str, Any]:
        findings = [[e.code, e.confidence, e.call, e.message] for e in ungrounded(parse(plan), query)]
        return {"query": query, "plan": plan, "findings": findings}

    as_kept(PLANS, [told(one["query"], one["plan"]) for one in lines(PLANS)])
    codes = {code for one in lines(PLANS) for code, *_ in one["findings"]}
    assert codes == set(FOUND)
    assert codes <= set(code_meanings())


WORDS = st.sampled_from([
    "two", "rooms", "in", "New", "York", "from", "March", "5th", "at", "6", "pm", "without", "wifi", "NYC",
    "$40", "7%",
])  # fmt: skip
VALUES = st.one_of(
    st.sampled_from(["New York", "2031-03-05", "18:00", "True", "40", "wifi", "0.07", "Oslo"]),
    st.integers(-5, 3000), st.floats(allow_nan=True), st.booleans(), st.none(), st.text(max_size=12),
)  # fmt: skip


@given(st.lists(WORDS, max_size=12), VALUES)
def test_a_place_lies_in_the_question_and_more_words_take_no_ground_away(said: list[str], value: Any) -> None:
    """More words may ground more values of a text or number; they never unground one word for word."""
    query = " ".join(said)
    ground = Question(query).grounds(value, "has_wifi")
    if ground is not None and ground.span is not None:
        start, end = ground.span
        assert 0 <= start < end <= len(query)
    plain, more = Question(query).grounds(value), Question(f"Hello there. {query} . Thanks").grounds(value)
    if said and plain is not None and plain.how in ("text", "number"):
        assert more is not None
        assert more.how in ("text", "number")


@given(st.text(max_size=200), st.text(max_size=60))
def test_no_text_makes_it_fail(query: str, value: str) -> None:
    Question(query).grounds(value, value)
    [*ungrounded(Plan((Call("a", value, ((value, value),)),)), query)]


@given(st.text(min_size=1, max_size=40))
@example("TRUE")
def test_what_is_said_word_for_word_is_grounded(value: str) -> None:
    assert Question(f"I say {value} now").grounds(value) is not None


@examples(50)
@given(st.permutations(range(4)))
def test_findings_do_not_depend_on_the_order_of_arguments_and_calls(order: list[int]) -> None:
    given_ = (("to", "Leiden"), ("day", "2031-03-06"), ("n", "4"), ("from", "Utrecht"))

    def told(*calls: Call) -> set[Any]:
        findings = ungrounded(Plan(calls), "From Utrecht on March 5th")
        return {(one.code, one.argument, one.confidence) for one in findings}

    turned = Call("b", "f", tuple(given_[at] for at in order))
    assert told(Call("a", "f", given_)) == told(Call("x", "g", ()), turned) != set()


@tabled("plan, query, schema, told")
def test_what_the_tool_takes_tells_findings(plan: str, query: str, schema: Any, told: list[Any]) -> None:
    gold = parse(plan)
    properties = {gold.calls[0].arguments[0][0]: {"type": "string", **schema}}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    found = [*ungrounded(gold, query, as_catalog([tool]) if schema else None)]
    assert [[one.code, one.confidence] for one in found] == told
    assert all("'single', another of its values" in e.message for e in found if e.confidence == "medium")


def test_what_an_earlier_answer_holds_is_grounded_and_references_are_not_judged() -> None:
    search = Call("a", "search", result=[{"id": "h-2300"}], has_result=True)
    book = Call("b", "book", (("hotel", "h-2300"),))
    assert [one.ground and one.ground.how for one in literals(Plan((search, book)), "Book it")] == ["result"]
    assert [one.ground for one in literals(Plan((book, search)), "Book it")] == [None]
    text = Template(("see ", Ref(0), " there"))
    gold = Plan((Call("a", "f", (("x", 7),)), Call("b", "g", (("y", Ref(0)), ("z", text)))))
    assert [one.value for one in literals(gold, "Go")] == [7]


def test_all_turns_are_heard() -> None:
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "The user's id is 7714."},
        {"role": "user", "content": "My bill, please."}, {"role": "tool", "content": '{"bill": "B-1"}'},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
    ]  # fmt: skip
    text = sample_conversation_text(Sample("a", "My bill, please.", extra={"messages": said}))
    assert [text.count(word) for word in ("7714", "My bill", "B-1", '"f"')] == [1] * 4
    assert sample_conversation_text(Sample("a", "Go.")) == "Go."


def test_of_a_question_that_is_too_long_nothing_is_said_to_lack() -> None:
    assert Question("the word " * 50_000).grounds("Oslo").how == "unread"  # type: ignore[union-attr]
    assert Question("5 " * (MAX_MENTIONS + 1)).grounds(77).how == "unread"  # type: ignore[union-attr]
    assert Question("the word " * 1_000).grounds("Oslo") is None
