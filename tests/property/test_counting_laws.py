"""Laws of what counts: a call that does not may be made, left out and written anywhere without effect."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.comparison.diff import diff
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics import DEFAULT_METRICS, METRICS, measure
from planner_eval.comparison.patch import apply_patch, make_patch
from planner_eval.comparison.policy.counting import leave_out_free_calls
from planner_eval.comparison.policy.policy import Policy, ToolCount
from planner_eval.comparison.rows import Row
from planner_eval.plan.canonical import digest
from planner_eval.plan.linking import build_plan, move_references
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading.dialects.notations.plan import write
from planner_eval.results.intervals import intervals
from planner_eval.results.report import figures
from planner_eval.results.scored import scored_row
from planner_eval.results.totals import totals_of
from tests.conftest import examples, tabled
from tests.plant import topological
from tests.property.test_comparison_laws import literals, paths, plans

READS = Policy(name="reads", counts=(ToolCount("look*", "never"),))
ASKED = Policy(name="asked", counts=(ToolCount("look*", "if gold calls it"),))
MOST = Policy(name="most", counts=(ToolCount("*", "never"), ToolCount("f", "always")), order="written")
POLICIES = st.sampled_from([READS, ASKED, MOST])


@st.composite
def plans_with_reads(draw: st.DrawFn, most: int = 6) -> Plan:
    """A plan of which some calls only look, whatever others take of them."""
    plan = draw(plans(most))
    looks = draw(st.sets(st.integers(0, max(0, len(plan.calls) - 1))))
    calls = [replace(c, name=f"look_{c.name}") if i in looks else c for i, c in enumerate(plan.calls)]
    return replace(plan, calls=tuple(calls))


def insert_read(plan: Plan, position: int, value: object, name: str = "look_more") -> Plan:
    """The plan with a call more that nothing uses."""
    moved = {old: old + (old >= position) for old in range(len(plan.calls))}
    call = Call("more", name, (("x", value),))

    def with_moved(arguments: tuple[tuple[str, object], ...]) -> tuple[tuple[str, object], ...]:
        return tuple((argument, move_references(item, moved)) for argument, item in arguments)

    calls = [replace(c, arguments=with_moved(c.arguments)) for c in plan.calls]
    calls.insert(position, replace(call, arguments=(("x", value),)))
    answer = None if plan.answer is None else with_moved(plan.answer)
    return build_plan(calls, answer)


def told(pred: Plan, gold: Plan, policy: Policy) -> object:
    """All that is said and counted of a pair, but whether calls are left that do not count."""
    found = diff(pred, gold, policy)
    assert found.matching is not None
    edits = [
        e._replace(message=e.message.partition("; the prediction holds no call")[0]) for e in found.edits
    ]
    return edits, found.alignment, measure(found.matching, METRICS)


@examples(100)
@given(plans_with_reads(), POLICIES, st.integers(0, 9))
def test_gold_against_itself_in_any_order_is_the_same_and_full_marks(
    gold: Plan, policy: Policy, seed: int
) -> None:
    other = gold if policy.order == "written" else topological(gold, Random(seed)) or gold
    found = diff(other, gold, policy)
    assert found.edits == ()
    assert found.matching is not None
    for name, tally in measure(found.matching, DEFAULT_METRICS).items():
        assert tally is None or tally.value in (None, 0 if METRICS[name].lower else 1)


@examples(100)
@given(plans_with_reads(), plans_with_reads(), st.data())
def test_a_call_that_does_not_count_added_anywhere_changes_nothing(
    pred: Plan, gold: Plan, data: st.DataObject
) -> None:
    policy = data.draw(st.sampled_from([READS, MOST]))
    before = told(pred, gold, policy)
    for side in range(2):
        plan = (pred, gold)[side]
        position = data.draw(st.integers(0, len(plan.calls)))
        value = data.draw(literals)
        if position and data.draw(st.booleans()):
            value = Ref(data.draw(st.integers(0, position - 1)), data.draw(paths))
        longer = insert_read(plan, position, value)
        assert told(*((longer, gold) if side == 0 else (pred, longer)), policy) == before


@examples(60)
@given(plans_with_reads(), plans_with_reads(), st.data())
def test_what_gold_never_calls_is_free_and_what_it_calls_is_held_against_it(
    pred: Plan, gold: Plan, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(pred.calls)))
    longer = insert_read(pred, position, 1)
    assert told(longer, gold, ASKED) == told(pred, gold, ASKED)
    asked = insert_read(gold, len(gold.calls), 1)
    assert not diff(gold, asked, ASKED).same
    assert diff(asked, asked, ASKED).same


@examples(60)
@given(plans_with_reads(), plans_with_reads(), POLICIES)
def test_a_patch_makes_of_the_prediction_what_counts_in_gold(pred: Plan, gold: Plan, policy: Policy) -> None:
    found = diff(pred, gold, policy)
    assert diff(apply_patch(found.pred, make_patch(found)), gold, policy).same


@examples(40)
@given(
    st.lists(st.tuples(plans_with_reads(4), plans_with_reads(4)), min_size=1, max_size=4), POLICIES, st.data()
)
def test_figures_and_intervals_of_many_hold(
    pairs: list[tuple[Plan, Plan]], policy: Policy, data: st.DataObject
) -> None:
    policy = READS if policy is ASKED else policy
    spread = []
    for longer in (False, True):
        rows = []
        for number, (pred, gold) in enumerate(pairs):
            if longer:
                pred = insert_read(pred, data.draw(st.integers(0, len(pred.calls))), number)
            found = diff(pred, gold, policy)
            row = Row(str(number), "same" if found.same else "different", found, pred, gold)
            rows.append(scored_row(row, DEFAULT_METRICS, policy))
            absent = scored_row(Row(f"{number}a", "absent", gold=gold), DEFAULT_METRICS, policy)
            assert absent.tallies["exact"].part == 0  # also where no call of gold counts
            rows.append(absent)
        columns = totals_of(rows, DEFAULT_METRICS).columns
        spread.append((figures(columns), intervals(columns)))
    assert spread[0] == spread[1]


@tabled("pred, gold, same")
def test_what_is_taken_from_a_free_call_is_held_against_gold(pred: str, gold: str, same: bool) -> None:
    assert pe.diff(pred, gold, READS).same is same
    assert (pe.reward(policy=READS)([pred], gold=[gold]) == [1]) is same


def test_only_calls_that_count_are_in_a_matching() -> None:
    matching = match(pe.parse("look()\nf()"), pe.parse("f()\ng()\nlook()\nlook()"), READS)
    found = ([c.name for c in matching.pred.calls], [c.name for c in matching.gold.calls])
    assert found == (["f"], ["f", "g"])


@examples(60)
@given(plans_with_reads(), st.data())
def test_what_counts_of_a_plan_has_one_canonical_form(plan: Plan, data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from([READS, MOST]))
    longer = insert_read(plan, data.draw(st.integers(0, len(plan.calls))), data.draw(literals))
    counted, again = leave_out_free_calls(plan, longer, policy)
    assert digest(again) == digest(counted)
    assert pe.same(again, counted)


@examples(40)
@given(plans_with_reads(4), plans_with_reads(4), st.data())
def test_a_reward_is_that_of_what_counts(pred: Plan, gold: Plan, data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from([READS, MOST]))
    give = pe.reward(policy=policy)
    longer = insert_read(pred, data.draw(st.integers(0, len(pred.calls))), 1)
    before, after = give([write(pred), write(longer)], gold=[write(gold)] * 2)
    assert before == after
    assert (before == 1) is diff(pred, gold, policy).same
