"""Laws of ComplexFuncBench's corrected figures."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.resources import folder
from planner_eval.benchmarks.complexfuncbench import score_corrected
from planner_eval.benchmarks.complexfuncbench.calls import steps_of
from planner_eval.benchmarks.complexfuncbench.embedding import Trigrams, assign
from planner_eval.benchmarks.complexfuncbench.recorded import replayed
from planner_eval.datasets.complexfuncbench import read_complexfuncbench
from tests.conftest import examples


@st.composite
def answers(draw: st.DrawFn) -> tuple[int, list[Any]]:
    """A sample and a model's talk made of its own and foreign calls, in any order and turns."""
    number = draw(st.integers(0, 5))
    own = [list(step.calls) for step in steps_of(OWN[number].gold)]
    pool = [call for calls in own for call in calls]
    spoiled = [{"name": c["name"], "arguments": {**c["arguments"], "query": "elsewhere"}} for c in pool]
    called = st.sampled_from([*pool, *pool, *spoiled, {"name": "Nothing", "arguments": {}}])
    turns = draw(st.lists(st.lists(called, min_size=1, max_size=4), max_size=6))
    return number, own + turns if draw(st.booleans()) else turns


OWN = list(read_complexfuncbench(folder("data") / "samples" / "complexfuncbench"))
TEXTS = st.lists(st.text(max_size=20), min_size=1, max_size=5)


def figures_of(number: int, turns: list[Any], final: bool = True) -> tuple[float, float]:
    talk = [{"role": "assistant", "function_call": calls} for calls in turns if calls]
    text = json.dumps([*talk, *([{"role": "assistant", "content": "Done."}] if final else [])])
    report = score_corrected([(OWN[number], text)])
    success, accuracy = report.value("Overall Success Rate"), report.value("Overall Call Accuracy")
    assert isinstance(success, float)
    assert isinstance(accuracy, float)
    return success, accuracy


@examples(150)
@given(answers(), st.data())
def test_dropping_a_call_never_raises_a_score(case: tuple[int, list[Any]], data: st.DataObject) -> None:
    number, turns = case
    whole = figures_of(number, turns)
    assert all(0 <= value <= 1 for value in whole)
    if turns:
        at = data.draw(st.integers(0, len(turns) - 1))
        call = data.draw(st.integers(0, len(turns[at]) - 1))
        fewer = [list(calls) for calls in turns]
        del fewer[at][call]
        assert all(less <= more for less, more in zip(figures_of(number, fewer), whole, strict=True))


@examples(50)
@given(st.integers(0, 5), st.randoms(use_true_random=False))
def test_order_of_calls_and_keys_changes_nothing(number: int, random: Any) -> None:
    turns = []
    for step in steps_of(OWN[number].gold):
        calls = random.sample(step.calls, len(step.calls))
        for at, call in enumerate(calls):
            given_ = random.sample(list(call["arguments"].items()), len(call["arguments"]))
            calls[at] = {"name": call["name"], "arguments": dict(given_)}
        turns.append(calls)
    assert figures_of(number, turns) == (1.0, 1.0)
    assert figures_of(number, turns, final=False) == (0.0, 1.0)


@examples(60)
@given(TEXTS, TEXTS)
def test_assignment_is_one_to_one(left: list[str], right: list[str]) -> None:
    pairs = assign(left, right, Trigrams())
    assert len(pairs) == min(len(left), len(right))
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    model = replayed([[], "done"])
    assert [model(()), model(()), model(())] == [[], "done", None]
