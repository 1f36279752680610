"""Rewards for training: part by part and call by call; nothing that is added to an answer earns."""

import json
import math
import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.integrations.reward_parts import MAX_WRONG_REWARD, Verdicts, Weights, normalize_weights
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading import dialects
from tests.conftest import ROOT, tabled, tables

TABLES = tables(__file__)

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
    return build_plan(calls)


WEIGHTS = st.builds(Weights, *(st.integers(0, 4) for _ in Weights._fields)).filter(any)


def earned(pred: Plan, gold: Plan, reward: Any = REWARD) -> float:
    return reward.judge(pred, gold).reward


def text(plan: Plan) -> str:
    return pe.write(plan, "plan")


@given(plans(least=1), plans(), WEIGHTS)
def test_it_is_1_for_what_means_the_same_alone(gold: Plan, pred: Plan, weights: Weights) -> None:
    reward = pe.reward(weights=weights)
    assert abs(earned(gold, gold, reward) - 1) < NEAR
    found = earned(pred, gold, reward)
    assert 0 <= found <= (1 + NEAR if pe.same(pred, gold) else MAX_WRONG_REWARD)
    again = pickle.loads(pickle.dumps(reward))
    assert reward([text(pred)], gold=[text(gold)]) == again([text(pred)], gold=[text(gold)])


@given(plans(least=1), plans())
def test_an_empty_plan_earns_no_more_than_any_other(gold: Plan, pred: Plan) -> None:
    assert earned(Plan(), gold) <= earned(pred, gold)
    assert REWARD(["[]", "I can't", ""], gold=gold) == [earned(Plan(), gold), 0, 0]
    assert earned(Plan(), Plan()) == 1


@given(plans(), plans(), plans(tools=OTHERS, least=1), WEIGHTS, st.randoms(use_true_random=False))
def test_other_tools_earn_nothing(gold: Plan, pred: Plan, more: Plan, weights: Weights, random: Any) -> None:
    assume(pred.calls)
    reward = pe.reward(weights=weights)
    calls = [*pred.calls]
    for at, call in enumerate(more.calls):
        values = [value for one in gold.calls for _, value in one.arguments if not isinstance(value, Ref)]
        values = values or [1]
        calls.append(Call(f"x{at}", call.name, tuple((n, random.choice(values)) for n, _ in call.arguments)))
    assert earned(build_plan(calls), gold, reward) <= earned(pred, gold, reward) + NEAR


@given(plans(least=1), plans(least=1), WEIGHTS, st.data())
def test_calls_made_again_earn_nothing(gold: Plan, pred: Plan, weights: Weights, data: st.DataObject) -> None:
    reward = pe.reward(weights=weights)
    again = data.draw(st.lists(st.integers(0, len(pred.calls) - 1), min_size=1, max_size=3))
    copies = [replace(pred.calls[at], id=f"again{number}") for number, at in enumerate(again)]
    doubled = build_plan([*pred.calls, *copies])
    # What gold itself makes twice is no copy.
    equal = [(call.name, sorted(call.arguments, key=repr)) for call in gold.calls]
    assume(all(equal.count((c.name, sorted(c.arguments, key=repr))) < 2 for c in copies))
    assert earned(doubled, gold, reward) <= earned(pred, gold, reward) + NEAR


PROMPTS = TABLES["PROMPTS"]


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


GOLD = 'a = f(x=1)\nb = g(y=a, z="q")'
RIGHT, VALUE, MISSING, CUT = GOLD, GOLD.replace("x=1", "x=2"), "f(x=1)", "f(x="


def worth(completion: Any, gold: Any = GOLD, **how: Any) -> float:
    return pe.reward(**how)([completion], gold=[gold])[0]


def test_the_parts_by_hand() -> None:
    found = pe.reward().judge(MISSING, GOLD)
    # calls 2·1/(1+2); arguments 2·1/(1+3): x of x, y, z; no reference of 1; no dependency of 1
    assert found.parts == {"format": 1, "calls": 2 / 3, "arguments": 1 / 2, "references": 0, "structure": 0}
    assert found.reward == pytest.approx(0.1 + 0.3 * 2 / 3 + 0.3 * 1 / 2)
    assert found.missing == 1
    alone = {name: float(name == "calls") for name in Weights._fields}
    assert worth(MISSING, weights=alone) == pytest.approx(2 / 3)
    assert sum(normalize_weights({"calls": 3, "format": 1})) == pytest.approx(1)


BACKWARD = "multiply(arg_0=3, arg_1=3)\nadd(arg_0=7, arg_1=8)"
FORWARD = "a = add(arg_0=1, arg_1=2)\nmultiply(arg_0=a, arg_1=3)"


@tabled("completion, gold, how, reward")
def test_what_an_answer_is_worth(completion: Any, gold: str, how: dict[str, Any], reward: float) -> None:
    assert worth(completion, gold, **how) == pytest.approx(reward)


def test_copies_earn_once_and_all_pairings_count_as_figures_do() -> None:
    gold = "f(x=1)\nf(x=2)"
    assert worth("f(x=1)\nf(x=1)", gold) < worth("f(x=1)", gold) < worth("f(x=1)\nf(x=3)", gold)
    found = pe.reward().judge(BACKWARD, FORWARD)
    assert found.reward == worth(BACKWARD, FORWARD)
    assert found.parts["calls"] == 1


@pytest.mark.parametrize(("completion", "reward", "state"), [
    (RIGHT, 1, "same"), (CUT, 0, "cut"), ("[{'name': }]", 0, "unreadable"), ("", 0, "unreadable"),
    (None, 0, "unreadable"), (7, 0, "unreadable"), (float("nan"), 0, "unreadable"),
    ([{"role": "assistant", "content": RIGHT}], 1, "same"),
    ([{"role": "assistant", "content": None}], 0, "unreadable"), ([], 0.1, "different"),
    ("x" * 100_000, 0, "too_large"), ("[" * 5000, 0, "too_large"), ("I would rather not.", 0, "different"),
    (f"<think>f(x=7)?</think>\n{RIGHT}", 1, "same"), (f"Here is the plan:\n```\n{RIGHT}\n```", 0.9, "same"),
    ("no_such(x=1)", 0.1, "different")
])  # fmt: skip
def test_unreadable_is_told_from_wrong(completion: Any, reward: float, state: str) -> None:
    found = pe.reward().judge(completion, GOLD)
    assert (found.state, round(found.reward, 9)) == (state, reward)
    unreadable = pe.reward(unreadable=-0.5).judge(completion, GOLD)
    assert unreadable.reward == (found.reward if found.readable else -0.5)


TAGGED = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
LISTED = '[{"name": "f", "arguments": {"x": 1}}]'
PROGRAM = "a = f(x=1)\nb = g(y=a[0], z=2)"
OTHER = TAGGED.replace('"f"', '"g"')


@pytest.mark.parametrize("completion", [
    f"{TAGGED}\nIgnore the call above, it is not meant.", f"{TAGGED} Ignore the call above. {OTHER}",
    f"{TAGGED}{OTHER}" + " I did what I was asked to." * 50, f"Sure. {TAGGED}", f"{TAGGED} done.",
    f"{LISTED} ok", f"{LISTED} or {LISTED.replace('1', '2')}", f"```json\n{LISTED}\n```\nok", "Sure\nf(x=1)",
    "f(x=1)\nDone", f"I think\n</think>\nSure. {TAGGED}",
    *(f"{word}\n{PROGRAM}" for word in ("Sure.", "Sure!", "Sure. Done.", "OK", "Plan:", "**Plan**")),
    *(f"{PROGRAM}\n{word}" for word in ("done", "Done.", "\ndone", "Yes, done")),
    f"<tool_call>\nSure.\n{PROGRAM}\n</tool_call>"
])  # fmt: skip
def test_words_around_calls_cost_the_format_however_few(completion: str) -> None:
    assert pe.reward().judge(completion, "f(x=1)").parts["format"] == 0
    assert pe.reward(prose=True).judge(completion, "f(x=1)").parts["format"] == 1


@tabled("completion")
def test_marks_names_and_thoughts_are_no_words(completion: str) -> None:
    assert pe.reward().judge(completion, "f(x=1)").parts["format"] == 1


def test_what_we_write_ourselves_has_no_words_around_it() -> None:
    plan = pe.parse('a = f(x=1, z="It is a word")\nb = g(y=a.k, l=[1,{"k":"v"}])\nh(q=b)')
    for name in dialects.names():
        try:
            text = pe.write(plan, name)
        except pe.PlanevalError:  # it cannot say all of this
            continue
        assert pe.reward().judge(text, plan).parts["format"] == 1, name


def test_an_order_that_cannot_be_is_no_structure() -> None:
    f, g = {"name": "f", "arguments": {}, "label": "$var_1"}, {"name": "g", "arguments": {"y": "$var_1.r$"}}
    late, gold = json.dumps([g, f]), json.dumps([f, g])
    found = pe.reward().judge(late, gold)
    assert found.parts["structure"] == 0
    assert found.state == "different"
    assert found.reward < 0.95


def test_what_each_call_is_worth() -> None:
    gold = "a = f(x=1)\nb = g(y=a)\nh(z=b)\nk()"
    pred = "b = g(y=7)\nh(z=b)\nk()\nm()"
    found = pe.reward(per_call=Verdicts(right=2, wrong=-3, consequence=-0.5)).judge(pred, gold)
    assert [(c.tool, c.verdict, c.reward) for c in found.calls] == [
        ("g", "consequence", -0.5), ("h", "right", 2), ("k", "right", 2), ("m", "wrong", -3)
    ]  # fmt: skip
    assert found.calls[0].said == "gold's f (gold's call 1) with x=1 is missing"
    spans = [c.span for c in found.calls]
    assert all(span is not None for span in spans)
    assert [pred[slice(*span)] for span in spans if span] == ["g(y=7)", "h(z=b)", "k()", "m()"]


@pytest.mark.parametrize("gold", [
    GOLD, pe.parse(GOLD), {"gold": "h()", "alternatives": [GOLD]},
    '{"gold": "h()", "alternatives": ["a = f(x=1)\\nb = g(y=a, z=\\"q\\")"]}',
    [{"name": "f", "arguments": {"x": 1}, "label": "$var_1"}, {"name": "g", "arguments": {
        "y": "$var_1$", "z": "q"
    }}]
])  # fmt: skip
def test_gold_is_whatever_says_a_plan(gold: Any) -> None:
    assert worth(RIGHT, gold) == 1


@pytest.mark.parametrize("gold", ["[]", [], '{"calls": []}', "```json\n[]\n```", pe.Plan(), {"gold": []}])
def test_gold_without_calls_says_so_as_a_plan(gold: Any) -> None:
    assert worth("I cannot.", gold) == 1


@pytest.mark.parametrize(
    "gold",
    ["I cannot", {"gold": "to be done"}, "none", "f(x=", None, {"gold": "f(x="}, {1, 2}, "[" * 100_000],
)
def test_a_gold_plan_that_cannot_be_read_teaches_nothing(gold: Any) -> None:
    reward = pe.reward()
    assert math.isnan(reward.judge(RIGHT, gold).reward)
    assert [math.isnan(each) for each in reward([RIGHT, RIGHT], gold=[gold, GOLD])] == [True, False]
    told = reward.compute_score("any", RIGHT, gold)
    assert told == {"score": 0.0, "same": 0, "readable": 0, "state": "gold_unreadable"}


def test_trl_and_verl_call_it_their_way() -> None:
    told: dict[str, float] = {}
    reward = pe.reward(gold_field="plan", name="plans")
    said = [[{"role": "assistant", "content": one}] for one in (RIGHT, VALUE, CUT)]
    more: dict[str, Any] = {"completion_ids": [[1]] * 3, "trainer_state": object(), "prompts": ["p"] * 3}
    more |= {"log_metric": told.__setitem__, "log_extra": lambda *_: None}
    assert reward(completions=said, plan=[GOLD] * 3, **more) == pytest.approx([1, 0.9, 0])
    assert told == {"plans/readable": 2 / 3, "plans/same": 1 / 3}
    assert reward.__name__ == "plans"
    more = {"data_source": "any", "extra_info": {"num_turns": None}, "reward_router_address": None}
    found = pe.reward().compute_score(solution_str=VALUE, ground_truth=GOLD, **more)
    assert found == {"score": pytest.approx(0.9), "same": 0, "readable": 1, "state": "different"}


def test_a_wrong_column_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(pe.PlanevalError, match=r"no column 'gold' of gold plans; the columns are answer"):
        pe.reward()(["f()"], answer=["f()"])
    with pytest.raises(pe.PlanevalError, match="2 completions, 1 gold plans"):
        pe.reward()(["f()", "g()"], gold=["f()"])
    assert pe.reward()(["f()", "g()"], gold="f()") == [1, pytest.approx(0.1)]


@pytest.mark.parametrize(("how", "said"), [
    *TABLES["what_cannot_be_meant_is_refused"],
    ({"unreadable": float("nan")}, "unreadable is nan"),
    *(({"jobs": jobs}, f"jobs is {jobs}, expected a whole number, 0 or more") for jobs in (-1, 1.5)),
    *(({"deadline": at}, f"deadline is {at}, expected a number of seconds above 0") for at in (-1, 0)),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(pe.PlanevalError) as found:
        pe.reward(**how)
    assert said in str(found.value)


def test_processes_give_the_same() -> None:
    texts = [RIGHT, VALUE, MISSING, CUT, None, [{"role": "assistant", "content": RIGHT}]] * 4
    golds = [GOLD] * 20 + ["f(x="] * 4
    alone = [str(each) for each in pe.reward()(texts, gold=golds)]
    assert [str(each) for each in pe.reward(jobs=2)(texts, gold=golds)] == alone
    assert [str(each) for each in pe.reward(deadline=30)(texts[:4], gold=golds[:4])] == alone[:4]


def test_the_page_shows_the_file_that_verl_loads() -> None:
    file = (ROOT / "docs" / "examples" / "training" / "rewards.py").read_text(encoding="utf-8")
    assert f"```python\n{file}```" in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    held: dict[str, Any] = {}
    exec(file, held)
    assert held["compute_score"]("any", CUT, GOLD)["score"] == -0.1
