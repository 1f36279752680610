"""Laws against reward hacking: nothing that is added to an answer earns but what is right itself."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, reject
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.integrations.reward_parts import WRONG_AT_MOST, Weights
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.plan.rewire import plan_of

TOOLS = ("f", "g", "h")
OTHERS = ("k", "m", "n")
REWARD = pe.reward()
NEAR = 1e-9
"""Rounding of sums."""


@st.composite
def plans(draw: st.DrawFn, tools: tuple[str, ...] = TOOLS, least: int = 0, most: int = 5) -> Plan:
    """A small plan: few tools, few values, references to earlier calls."""
    calls: list[Call] = []
    for at in range(draw(st.integers(least, most))):
        names = draw(st.lists(st.sampled_from("xyz"), unique=True, max_size=3))
        kinds: list[st.SearchStrategy[Any]] = [st.integers(1, 3)]
        if at:
            kinds.append(st.builds(Ref, st.integers(0, at - 1), st.sampled_from([(), ("id",)])))
        arguments = tuple((name, draw(st.one_of(kinds))) for name in names)
        calls.append(Call(f"c{at + 1}", draw(st.sampled_from(tools)), arguments))
    return plan_of(calls)


WEIGHTS = st.builds(Weights, *(st.integers(0, 4) for _ in Weights._fields)).filter(any)


def worth(pred: Plan, gold: Plan, reward: Any = REWARD) -> float:
    return reward.judge(pred, gold).reward


def text(plan: Plan) -> str:
    return pe.write(plan, "plan")


@given(plans(least=1), plans(), WEIGHTS)
def test_it_is_1_for_what_means_the_same_alone(gold: Plan, pred: Plan, weights: Weights) -> None:
    reward = pe.reward(weights=weights)
    assert abs(worth(gold, gold, reward) - 1) < NEAR
    found = worth(pred, gold, reward)
    assert 0 <= found <= (1 + NEAR if pe.same(pred, gold) else WRONG_AT_MOST)
    again = pickle.loads(pickle.dumps(reward))
    assert reward([text(pred)], gold=[text(gold)]) == again([text(pred)], gold=[text(gold)])


@given(plans(least=1), plans())
def test_an_empty_plan_earns_no_more_than_any_other(gold: Plan, pred: Plan) -> None:
    assert worth(Plan(), gold) <= worth(pred, gold)
    assert REWARD(["[]", "I can't", ""], gold=gold) == [worth(Plan(), gold), 0, 0]
    assert worth(Plan(), Plan()) == 1


@given(plans(), plans(), plans(tools=OTHERS, least=1), WEIGHTS, st.randoms(use_true_random=False))
def test_calls_of_other_tools_earn_nothing(
    gold: Plan, pred: Plan, more: Plan, weights: Weights, random: Any
) -> None:
    assume(pred.calls)
    reward = pe.reward(weights=weights)
    calls = [*pred.calls]
    for at, call in enumerate(more.calls):
        values = [value for one in gold.calls for _, value in one.arguments if not isinstance(value, Ref)]
        values = values or [1]
        calls.append(Call(f"x{at}", call.name, tuple((n, random.choice(values)) for n, _ in call.arguments)))
    assert worth(plan_of(calls), gold, reward) <= worth(pred, gold, reward) + NEAR


@given(plans(least=1), plans(least=1), WEIGHTS, st.data())
def test_calls_made_again_earn_nothing(gold: Plan, pred: Plan, weights: Weights, data: st.DataObject) -> None:
    reward = pe.reward(weights=weights)
    again = data.draw(st.lists(st.integers(0, len(pred.calls) - 1), min_size=1, max_size=3))
    copies = [replace(pred.calls[at], id=f"again{number}") for number, at in enumerate(again)]
    doubled = plan_of([*pred.calls, *copies])
    # What gold itself makes twice is no copy.
    equal = [(call.name, sorted(call.arguments, key=repr)) for call in gold.calls]
    assume(all(equal.count((c.name, sorted(c.arguments, key=repr))) < 2 for c in copies))
    assert worth(doubled, gold, reward) <= worth(pred, gold, reward) + NEAR


PROMPTS = (
    "You may call f(x), g(y) and h(z). Answer with one line a call.",
    'Tools: [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]',
    "Example:\nQuestion: add two numbers\nAnswer: [k(x=1), m(y=2)]\nQuestion: what is f of one?",
)


@given(plans(least=1, most=3), plans(least=1, most=3), st.sampled_from(PROMPTS))
def test_a_prompt_that_is_copied_earns_nothing(gold: Plan, pred: Plan, prompt: str) -> None:
    honest = REWARD.judge(text(pred), gold).reward
    talk = [{"role": "system", "content": prompt}, {"role": "user", "content": "Go on, please!"}]
    for asked in (prompt, talk):
        assert REWARD.judge(f"{prompt}\n{text(pred)}", gold, asked).reward <= honest + NEAR
        assert REWARD.judge(prompt, gold, asked).reward == 0


QUOTED = (
    "I would answer {gold} if I were asked to.", "{pred}\nThe right answer would have been {gold}",
    "The plan is not {gold}", "{pred}\n\nNote: the gold plan is `{gold}`."
)  # fmt: skip


@given(plans(least=1, most=3), plans(least=1, most=3), st.sampled_from(QUOTED))
def test_gold_quoted_in_prose_earns_less_than_gold(gold: Plan, pred: Plan, words: str) -> None:
    try:
        wanted, given_ = pe.write(gold, "pythonic"), pe.write(pred, "pythonic")
    except pe.PlanevalError:  # nested calls cannot say that a result is used twice
        reject()
    said = words.format(gold=wanted.replace("\n", "; "), pred=given_)
    found = REWARD.judge(said, gold)
    assert found.reward <= max(1 - REWARD.how.weights.format, REWARD.judge(given_, gold).reward) + NEAR
    assert found.reward < 1 or pe.same(pred, gold)


ANY = st.text() | st.binary() | st.none() | st.integers() | st.lists(st.dictionaries(st.text(), st.text()))


@given(ANY)
def test_no_completion_raises_anything(completion: Any) -> None:
    found = REWARD([completion], gold=["f(x=1)"])
    assert len(found) == 1
    assert 0 <= found[0] <= 1
    assert pe.reward(repair=True, prose=True)([completion], gold="f(x=1)")[0] <= 1
