"""Laws of the smallest pair: it shows what the given one shows, and no single step of it does."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from planner_eval.base.errors import ParseError
from planner_eval.comparison.diff import diff
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Plan, Ref, references
from planner_eval.shrinking.pairs import Pair, bare, size
from planner_eval.shrinking.smallest import shrink, smaller
from planner_eval.verbs.shrinking import shrink as shrink_written
from tests.conftest import examples
from tests.property.test_comparison_laws import plans


def sound(plan: Plan) -> bool:
    """Whether each reference of a plan leads to one of its calls, and is one of its edges."""
    values = [v for call in plan.calls for _, v in call.arguments] + [v for _, v in plan.answer or ()]
    refs = [ref for value in values for _, ref in references(value) if isinstance(ref, Ref)]
    return all(0 <= ref.call < len(plan.calls) for ref in refs) and all(
        0 <= edge.producer < len(plan.calls) for edge in plan.edges
    )


@examples(60)
@given(plans(), plans())
def test_each_step_is_smaller_and_a_plan(pred: Plan, gold: Plan) -> None:
    start = Pair(bare(pred), bare(gold))
    for each in smaller(start):
        assert size(each) < size(start)
        for side in each:
            assert isinstance(side, Plan)
            assert sound(side)


@examples(40)
@given(plans(), plans(), st.data())
def test_what_is_left_shows_it_and_no_step_of_it_does(pred: Plan, gold: Plan, data: st.DataObject) -> None:
    codes = sorted({edit.code for edit in diff(pred, gold).edits})
    assume(codes)
    code = data.draw(st.sampled_from(codes))

    def shows(each: Pair) -> bool:
        assert isinstance(each.pred, Plan)
        assert isinstance(each.gold, Plan)
        return any(edit.code == code for edit in diff(each.pred, each.gold).edits)

    start = Pair(bare(pred), bare(gold))
    assume(shows(start))  # what was inferred is no part of it
    found = shrink(start, shows)
    assert found.ended == "smallest"
    assert shows(found.pair)
    assert size(found.pair) <= size(start)
    assert not [each for each in smaller(found.pair) if shows(each)]
    assert shrink(start, shows) == found


@examples(60)
@given(st.text("fgx()='#, \n", max_size=30), st.sets(st.sampled_from("fgx("), min_size=1))
def test_of_a_text_the_wanted_characters_stay(text: str, wanted: set[str]) -> None:
    def shows(each: Pair) -> bool:
        assert isinstance(each.pred, str)
        return wanted <= set(each.pred)

    start = Pair(text, bare(Plan()))
    if shows(start):
        found = shrink(start, shows).pair.pred
        assert isinstance(found, str)
        assert sorted(found) == sorted(wanted)


def test_what_a_notation_cannot_say_is_not_tried() -> None:
    found = shrink_written("a, b = f(#x='1')\ng(#y=b, #z='2')", "g(#z='3')", code="argument.value")
    for text in (found.pred.text, found.gold.text):
        try:
            parse(text)
        except ParseError as error:
            raise AssertionError(text) from error
