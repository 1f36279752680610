"""What the paper defines: every turn is judged, every sample counts, no call counts twice.

Where the published code goes its own way, this follows the paper (section 3.1 and Algorithm 1):

* calls are checked for format first, by every declared type, and only well-formed ones are mapped;
* values are equal under the policy ``complexfuncbench``: 24.0 is 24, and true is not 1;
* there is no value check that overrules lenient matching, and there are no free calls;
* a failed API call matches nothing, so two alike failures are no match;
* the next step opens after every turn with calls, and a conversation goes on to its final answer;
* a sample succeeds when every annotated call was made and an answer given; corrected mistakes do
  not spoil it, and no number of right calls exceeds the annotated ones;
* rates divide by the samples that came in, and averages of answers by all of them.

Identical calls are paired first, then calls with the same response, then the rest by similarity for
the model to decide. Identity and equal responses are equivalence relations, so with them alone a
call less never gives a higher score; model-based matching follows the paper's mapping and can.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval.benchmarks.complexfuncbench.api import Api, successful
from planner_eval.benchmarks.complexfuncbench.calls import FunctionCall, Step, error, free_key, sorted_call
from planner_eval.benchmarks.complexfuncbench.conversation import Turn
from planner_eval.benchmarks.complexfuncbench.embedding import assign
from planner_eval.benchmarks.complexfuncbench.equality import call_key, difference, find_fault
from planner_eval.benchmarks.complexfuncbench.runners import Undecodable
from planner_eval.benchmarks.complexfuncbench.turn import Judged, Rules


@dataclass(frozen=True, slots=True)
class Completed:
    """A conversation judged to its end.

    Args:
        calls: Annotated calls.
        correct: Annotated calls that were made.
        steps: Annotated steps.
        turns: The model's turns with calls.
        response: The model's final text; None where there was none.
        judged: Every call, by turn; malformed ones and ones without a partner included.
    """

    calls: int
    correct: int
    steps: int
    turns: int
    response: str | None
    judged: tuple[tuple[Judged, ...], ...]

    @property
    def success(self) -> bool:
        """Every annotated call was made, and an answer given."""
        return self.correct == self.calls and self.response is not None


def complete(steps: Sequence[Step], turns: Sequence[Turn], rules: Rules) -> Completed:
    """Judge all turns of a conversation.

    Args:
        steps: The annotated steps.
        turns: The model's turns; what follows the first text is not looked at.
        rules: What to judge with; free calls and checked parameters are not used.

    Source: ComplexFuncBench paper, section 3.1 and Algorithm 1.
    """
    left = [sorted_call(call) for call in steps[0].calls]
    opened = 1
    judged: list[tuple[Judged, ...]] = []
    response: str | None = None
    for turn in turns:
        if turn is None or isinstance(turn, str):
            response = turn
            break
        judgements = judge(turn, left, rules)
        judged.append(judgements)
        matched = [id(judgement.gold) for judgement in judgements if judgement.matched]
        left = [call for call in left if id(call) not in matched]
        if opened < len(steps):
            left += [sorted_call(call) for call in steps[opened].calls]
            opened += 1
    calls = sum(len(step.calls) for step in steps)
    correct = sum(judgement.matched for turn in judged for judgement in turn)
    return Completed(calls, correct, len(steps), len(judged), response, tuple(judged))


def judge(
    predictions: Sequence[FunctionCall | Undecodable], gold: Sequence[FunctionCall], rules: Rules
) -> tuple[Judged, ...]:
    """Every call of a turn with its verdict, in the order of the calls.

    Args:
        predictions: The model's calls of this turn.
        gold: The open gold calls, arguments sorted.
        rules: What to judge with.

    Source: ComplexFuncBench paper, section 3.1.
    """
    judgements: dict[int, Judged] = {}
    well_formed: dict[int, FunctionCall] = {}
    for position, call in enumerate(predictions):
        if isinstance(call, Undecodable):
            bare: FunctionCall = {"name": call.name, "arguments": {}}
            judgements[position] = Judged(position, bare, None, "format", error("func_error", _UNREADABLE))
            continue
        fault = find_fault(call, rules.functions)
        if fault and free_key(sorted_call(call)) not in map(free_key, gold):  # gold's own form is no fault
            record = error(fault.error_type, fault.text)
            judgements[position] = Judged(position, call, None, "format", record, fault)
        else:
            well_formed[position] = sorted_call(call)
    pairs = _Pairs(well_formed, list(gold))
    pairs.join("rule", call_key)
    pairs.join("response", lambda call: _answer(call, rules.matcher.api))
    judgements.update(pairs.found)
    judgements.update(_by_similarity(pairs, rules))
    return tuple(judgements[position] for position in sorted(judgements))


_UNREADABLE = "The arguments are no JSON object."
_SUPERFLUOUS = "No gold call is left for this call."


@dataclass(slots=True)
class _Pairs:
    """Predicted calls and gold calls that are not paired yet, and what was found so far."""

    sound: dict[int, FunctionCall]
    gold: list[FunctionCall]
    found: dict[int, Judged] = field(default_factory=dict)

    def join(self, how: str, key: Callable[[FunctionCall], Hashable]) -> None:
        """Pair calls of equal keys one to one; a key of None equals nothing."""
        if not self.sound or not self.gold:
            return
        waiting: dict[Hashable, list[int]] = {}
        for index, call in enumerate(self.gold):
            waiting.setdefault(key(call), []).append(index)
        waiting.pop(None, None)
        used: set[int] = set()
        for position, call in list(self.sound.items()):
            indices = waiting.get(key(call))
            if indices:
                index = indices.pop(0)
                used.add(index)
                self.found[position] = Judged(position, call, self.gold[index], how)
                del self.sound[position]
        self.gold = [call for index, call in enumerate(self.gold) if index not in used]


def _answer(call: FunctionCall, api: Api) -> str | None:
    answer = successful(api, call)
    return None if answer is None else json.dumps(answer, sort_keys=True, default=str)


def _by_similarity(pairs: _Pairs, rules: Rules) -> dict[int, Judged]:
    """The rest, each with its most similar gold call for the model to decide."""
    positions = list(pairs.sound)
    chosen = assign(
        [_concatenated(pairs.sound[position]) for position in positions],
        [_concatenated(call) for call in pairs.gold],
        rules.embedding,
    )
    judgements = {
        position: Judged(position, call, None, "", error("func_error", _SUPERFLUOUS))
        for position, call in pairs.sound.items()
    }
    for row, column in chosen:
        position, gold = positions[row], pairs.gold[column]
        call = pairs.sound[position]
        if call["name"] != gold["name"]:
            record: Any = error("func_error", "Do not call the correct function.")
        elif rules.matcher.same(call, gold):
            judgements[position] = Judged(position, call, gold, "model")
            continue
        else:
            record = difference(call, gold)
        judgements[position] = Judged(position, call, gold, "", record)
    return judgements


def _concatenated(call: FunctionCall) -> str:
    return f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}"
