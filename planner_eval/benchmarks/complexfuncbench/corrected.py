"""The figures that the paper's definitions mean: every turn is judged, every sample counts.

Source: ComplexFuncBench paper, sections 3.1 (Success Rate, equation 2), 3.2 (completeness and
correctness) and 4.3 (Figures 4 to 6); :mod:`.paper` says where the published code differs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, JudgeError, ParseError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.complexfuncbench.conversation import Turn, UndecodableCall
from planner_eval.benchmarks.complexfuncbench.data import (
    Api,
    FunctionCall,
    Step,
    domain_of,
    error_record,
    free_key,
    sorted_call,
    successful_response,
)
from planner_eval.benchmarks.complexfuncbench.matching import (
    Rules,
    argument_key,
    assign,
    call_key,
    find_fault,
    first_difference,
)
from planner_eval.benchmarks.complexfuncbench.official import ANSWER_SCORES, NO_JUDGE_NOTE, read_turns
from planner_eval.benchmarks.complexfuncbench.turn import (
    DEFAULT_SETTINGS,
    FAILED_SCORE,
    JudgedCall,
    Settings,
    prepare,
    score_response,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import Judge
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer, ratio, shared_figures, sum_columns
from planner_eval.benchmarks.turns import turn_figures
from planner_eval.comparison.turns import TurnComparison

# ----------------------------------------------------------------------
# Why models fail: types of errors, types of parameters, numbers of steps (Figures 4, 5 and 6).
#
# No code was published for these figures; each function says how it counts.
ERROR_TYPES = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")
"""The paper's types of errors."""
OTHER = "other"
"""Errors that are of none."""

_PAPER_TYPE = {  # calls of unknown functions and calls after the last step are wrong calls (section 4.3.1)
    "func_error": "func_error",
    "func_hallucination": "func_error",
    "name_error": "func_error",
    "decode_error": "func_error",
    "param_missing": "param_missing",
    "param_hallucination": "hallucination",
    "value_error": "value_error",
    "stop_early": "stop_early",
}

_PARAMETER_NAMES = {
    "filter": ".*filter",
    "legs": "legs",
    "token": ".*token",
    "slug": "slug",
    "date": ".*date",
    "location": "query|location|.*latitude|.*longitude",
    "key": ".*key",
    "id": ".*id",
    "time": ".*time",
    "sort_by": "sort|sort_?by",
    "type": ".*type",
    "age": "age|.*_age",
    "people": "adults|children|room_qty|people",
}
"""The paper's types of parameters, and how the names of such are spelled, but for their case."""
PARAMETER_TYPES = (*_PARAMETER_NAMES, OTHER)
"""The paper's types, and one for the rest (currency, language, page …)."""


def parameter_type(name: str) -> str:
    """The paper's type of a parameter, by its name.

    Source: ComplexFuncBench paper, appendix C (Table 4), which gives one example a type.

    >>> [parameter_type(n) for n in ("categories_filter", "pick_up_time", "toId", "children_age")]
    ['filter', 'time', 'id', 'age']
    """
    kinds = (kind for kind, names in _PARAMETER_NAMES.items() if re.fullmatch(names, name.lower(), re.DOTALL))
    return next(kinds, OTHER)


def error_types(calls: Iterable[JudgedCall], *, stopped: bool) -> Iterator[str]:
    """The paper's type of each error of a conversation (Figure 4).

    Args:
        calls: Every judged call.
        stopped: It ended before all annotated calls were made.
    """
    for call in calls:
        if not call.matched:
            yield _PAPER_TYPE.get(call.record["error_type"] if call.record else "", OTHER)
    if stopped:
        yield "stop_early"


def compared_values(judged: Iterable[JudgedCall]) -> Iterator[tuple[str, bool]]:
    """The type of each parameter of calls that name the function of their gold call, and whether it is wrong.

    A parameter is compared when both calls give it. Values of a call that was matched, in whatever
    way, are right.

    Source: ComplexFuncBench paper, Figure 5.
    """
    for call in judged:
        if call.gold is None or call.prediction["name"] != call.gold["name"]:
            continue
        function, arguments = call.gold["name"], call.prediction["arguments"]
        for name, value in call.gold["arguments"].items():
            if name in arguments:
                key = argument_key(function, name, arguments[name])
                wrong = not call.matched and key != argument_key(function, name, value)
                yield parameter_type(name), wrong


def self_correction(turns: Sequence[Sequence[JudgedCall]]) -> tuple[int, int]:
    """How many wrong calls of a conversation a later turn puts right, and how many there are.

    A wrong call gets an error message for an answer (a malformed one says what is wrong, any other is
    general). It is put right where a later turn holds a right call of the same function, or the right call
    that the wrong one stood for.

    Args:
        turns: Every judged call, by turn.

    Source: ComplexFuncBench paper, section 1 (the ability that ComplexEval's error messages are to show);
    no figure and no code of it was published.
    """
    corrected = total = 0
    later: list[JudgedCall] = []
    for turn in reversed(turns):
        wrong = [call for call in turn if not call.matched]
        total += len(wrong)
        corrected += sum(
            any(
                right.prediction["name"] == call.prediction["name"]
                or (call.gold is not None and right.gold is call.gold)
                for right in later
            )
            for call in wrong
        )
        later += [call for call in turn if call.matched]
    return corrected, total


# ----------------------------------------------------------------------
# What the paper defines: every turn is judged, every sample counts, no call counts twice.
#
# Where the published code goes its own way, this follows the paper (section 3.1 and Algorithm 1):
#
# * calls are checked for format first, by every declared type, and only well-formed ones are mapped;
# * values are equal under the policy ``complexfuncbench``: 24.0 is 24, and true is not 1;
# * there is no value check that overrules lenient matching, and there are no free calls;
# * a failed API call matches nothing, so two alike failures are no match;
# * the next step opens after every turn with calls, and a conversation goes on to its final answer;
# * a sample succeeds when every annotated call was made and an answer given; corrected mistakes do
#   not spoil it, and no number of right calls exceeds the annotated ones;
# * rates divide by the samples that came in, and averages of answers by all of them.
#
# Identical calls are paired first, then calls with the same response, then the rest by similarity for the
# model to decide. Identity and equal responses are equivalence relations, so with them alone a call less
# never gives a higher score; model-based matching follows the paper's mapping and can.
@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """A conversation judged to its end.

    Args:
        calls: Annotated calls.
        correct: Annotated calls that were made.
        steps: Annotated steps.
        turns: The model's turns with calls.
        response: The model's final text; None where there was none.
        judged: Every call, by turn; malformed ones and ones without a partner included.
        wrong_steps: The annotated steps, counted from 1, of which a call was not made.
    """

    calls: int
    correct: int
    steps: int
    turns: int
    response: str | None
    judged: tuple[tuple[JudgedCall, ...], ...]
    wrong_steps: tuple[int, ...]

    @property
    def success(self) -> bool:
        """Every annotated call was made, and an answer given."""
        return self.correct == self.calls and self.response is not None


def judge_conversation(steps: Sequence[Step], turns: Sequence[Turn], rules: Rules) -> JudgedConversation:
    """Judge all turns of a conversation.

    Args:
        steps: The annotated steps.
        turns: The model's turns; what follows the first text is not looked at.
        rules: What to judge with; free calls and checked parameters are not used.

    Source: ComplexFuncBench paper, section 3.1 and Algorithm 1.
    """
    golds = [[sorted_call(call) for call in step.calls] for step in steps]
    left, opened = [*golds[0]], 1
    judged: list[tuple[JudgedCall, ...]] = []
    response: str | None = None
    for turn in turns:
        if turn is None or isinstance(turn, str):
            response = turn
            break
        judgements = judge_calls(turn, left, rules)
        judged.append(judgements)
        matched = [id(judgement.gold) for judgement in judgements if judgement.matched]
        left = [call for call in left if id(call) not in matched]
        if opened < len(steps):
            left += golds[opened]
            opened += 1
    calls = sum(len(step.calls) for step in steps)
    correct = sum(judgement.matched for turn in judged for judgement in turn)
    unmade = {id(call) for call in left}
    wrong = [
        number
        for number, gold in enumerate(golds, 1)
        if number > opened or any(id(call) in unmade for call in gold)
    ]
    return JudgedConversation(calls, correct, len(steps), len(judged), response, tuple(judged), tuple(wrong))


def judge_calls(
    predictions: Sequence[FunctionCall | UndecodableCall], gold: Sequence[FunctionCall], rules: Rules
) -> tuple[JudgedCall, ...]:
    """Every call of a turn with its verdict, in the order of the calls.

    Args:
        predictions: The model's calls of this turn.
        gold: The open gold calls, arguments sorted.
        rules: What to judge with.

    Source: ComplexFuncBench paper, section 3.1.
    """
    judgements: dict[int, JudgedCall] = {}
    well_formed: dict[int, FunctionCall] = {}
    for position, call in enumerate(predictions):
        if isinstance(call, UndecodableCall):
            bare: FunctionCall = {"name": call.name, "arguments": {}}
            judgements[position] = JudgedCall(
                position, bare, None, "format", error_record("func_error", _UNREADABLE_MESSAGE)
            )
            continue
        fault = find_fault(call, rules.functions)
        if fault and free_key(sorted_call(call)) not in map(free_key, gold):  # gold's own form is no fault
            record = error_record(fault.error_type, fault.text)
            judgements[position] = JudgedCall(position, call, None, "format", record, fault)
        else:
            well_formed[position] = sorted_call(call)
    pairs = _OpenPairing(well_formed, list(gold))
    pairs.join("rule", call_key)
    pairs.join("response", lambda call: _answer_text(call, rules.api))
    judgements.update(pairs.found)
    judgements.update(_match_by_similarity(pairs, rules))
    return tuple(judgements[position] for position in sorted(judgements))


_UNREADABLE_MESSAGE = "The arguments are not a JSON object."
_SUPERFLUOUS_MESSAGE = "No gold call is left for this call."


@dataclass(slots=True)
class _OpenPairing:
    """Predicted calls and gold calls that are not paired yet, and what was found so far."""

    sound: dict[int, FunctionCall]
    gold: list[FunctionCall]
    found: dict[int, JudgedCall] = field(default_factory=dict)

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
                self.found[position] = JudgedCall(position, call, self.gold[index], how)
                del self.sound[position]
        self.gold = [call for index, call in enumerate(self.gold) if index not in used]


def _answer_text(call: FunctionCall, api: Api) -> str | None:
    answer = successful_response(api, call)
    return None if answer is None else json.dumps(answer, sort_keys=True, default=str)


def _match_by_similarity(pairs: _OpenPairing, rules: Rules) -> dict[int, JudgedCall]:
    """The rest, each with its most similar gold call for the model to decide."""
    positions = list(pairs.sound)
    chosen = assign(
        [_embedded_text(pairs.sound[position]) for position in positions],
        [_embedded_text(call) for call in pairs.gold],
        rules.embedding,
    )
    judgements = {
        position: JudgedCall(position, call, None, "", error_record("func_error", _SUPERFLUOUS_MESSAGE))
        for position, call in pairs.sound.items()
    }
    for row, column in chosen:
        position, gold = positions[row], pairs.gold[column]
        call = pairs.sound[position]
        if call["name"] != gold["name"]:
            record: Any = error_record("func_error", "Do not call the correct function.")
        elif rules.same(call, gold):
            judgements[position] = JudgedCall(position, call, gold, "model")
            continue
        else:
            record = first_difference(call, gold, argument_key)
        judgements[position] = JudgedCall(position, call, gold, "", record)
    return judgements


def _embedded_text(call: FunctionCall) -> str:
    return f"{call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}"


# ----------------------------------------------------------------------
# The figures that the paper's definitions mean, over recorded conversations.
class CorrectedOutcome(NamedTuple):
    """What became of one conversation.

    Args:
        domain: Of the sample.
        error: Why it could not be read, or judged.
        judged: It was judged, and counts.
        ok: Every annotated call was made, and an answer given.
        correct: Annotated calls that were made …
        calls: … of so many.
        steps: Annotated steps.
        turns: The model's turns with calls.
        wrong_steps: The annotated steps of which a call was not made.
        complete: What the judge said of the final answer's completeness …
        truth: … and of its correctness.
        errors: The paper's types of errors of all calls, and whether it stopped early.
        values: The types of the parameters whose values were compared, each with whether it was wrong.
        corrections: Wrong calls that were put right later, and all wrong ones.
    """

    domain: str
    error: str | None = None
    judged: bool = False
    ok: bool = False
    correct: int = 0
    calls: int = 0
    steps: int = 0
    turns: int = 0
    wrong_steps: tuple[int, ...] = ()
    complete: int | None = None
    truth: int | None = None
    errors: tuple[str, ...] = ()
    values: tuple[tuple[str, bool], ...] = ()
    corrections: tuple[int, int] = (0, 0)

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The figures of this conversation alone."""
        if self.judged:
            yield ratio("Call Accuracy", self.correct, self.calls)
            yield Figure("steps", self.steps)
            yield Figure("turns", self.turns)
            yield Figure("completeness", self.complete)
            yield Figure("correctness", self.truth)
            yield from turn_figures(TurnComparison("step", self.steps, self.wrong_steps))


def scorer(settings: Settings = DEFAULT_SETTINGS, judge: Judge | None = None) -> Scorer:
    """The paper's figures of recorded conversations, under the published names.

    Rates are shares from 0 to 1, where the published code prints percent; answers score 0 to 2. A record that
    cannot be read made no call right and gave no answer; one that the judge gave up on, or whose sample is
    broken, is a row with the reason and in no figure.

    Args:
        settings: API, embedding and judge; the checked parameters are not used.
        judge: Takes the place of the settings' own.

    Source: ComplexFuncBench paper, sections 3.1, 3.2 and 4.3.
    """
    used = settings if judge is None else replace(settings, judge=judge)

    return Scorer(
        partial(_judge_record, settings=used),
        partial(_figures, has_judge=used.judge is not None),
        CorrectedOutcome,
        apart=False,
    )


def _judge_record(sample: Sample, text: str, settings: Settings) -> CorrectedOutcome:
    domain, error = domain_of(sample.id), None
    try:
        steps, rules = prepare(sample, settings)
        try:
            turns = read_turns(text)
        except ParseError as failure:
            turns, error = [], failure.code
        talk = judge_conversation(steps, turns, rules)
        scores = score_response(sample.gold, talk.response, settings.judge)
    except (InputError, JudgeError) as failure:
        return CorrectedOutcome(domain, str(failure))
    calls = [call for turn in talk.judged for call in turn]
    return CorrectedOutcome(
        domain,
        error,
        True,
        talk.success,
        talk.correct,
        talk.calls,
        talk.steps,
        talk.turns,
        talk.wrong_steps,
        *scores,
        tuple(error_types(calls, stopped=talk.correct < talk.calls)),
        tuple(compared_values(calls)),
        self_correction(talk.judged),
    )


_SUCCESS_NOTE = "share (0 to 1) of the samples in which all annotated calls were made and answered"
_ACCURACY_NOTE = "share (0 to 1) of the annotated calls that were made; each counts once"
_SELF_CORRECTION_NOTE = "wrong calls that got an error message and were put right in a later turn"


def _figures(results: SampleResults, *, has_judge: bool) -> Iterator[Figure]:
    judged: list[CorrectedOutcome] = [outcome for _, outcome in results if outcome.judged]
    groups = {"Overall {}": judged}
    for outcome in judged:
        groups.setdefault(f"{{}} {outcome.domain}", []).append(outcome)
    for name, group in groups.items():
        successes = sum(outcome.ok for outcome in group)
        yield ratio(name.format("Success Rate"), successes, len(group), note=_SUCCESS_NOTE)
    for name, group in groups.items():
        correct, calls = sum(outcome.correct for outcome in group), sum(outcome.calls for outcome in group)
        yield ratio(name.format("Call Accuracy"), correct, calls, note=_ACCURACY_NOTE)
    for name, scores in zip(
        ANSWER_SCORES, ([o.complete for o in judged], [o.truth for o in judged]), strict=True
    ):
        yield _answer_figure(name, scores) if has_judge else Figure(name, None, note=NO_JUDGE_NOTE)
    errors = Counter(error for outcome in judged for error in outcome.errors)
    for kind in (*ERROR_TYPES, OTHER):
        yield ratio(f"error share {kind}", errors[kind], errors.total())
    wrong, compared = Counter[str](), Counter[str]()
    for kind, is_wrong in (value for outcome in judged for value in outcome.values):
        compared[kind] += 1
        wrong[kind] += is_wrong
    for kind in PARAMETER_TYPES:
        if compared[kind]:
            yield ratio(f"error rate {kind}", wrong[kind], compared[kind])
    extra = sum(outcome.turns - outcome.steps for outcome in judged)
    yield ratio("extra steps", extra, len(judged), note="turns with calls beyond the annotated steps")
    corrected, mistakes = sum_columns([outcome.corrections for outcome in judged], 2)
    yield ratio("self-correction", corrected, mistakes, note=_SELF_CORRECTION_NOTE)


def _answer_figure(name: str, scores: Sequence[int | None]) -> Figure:
    """The average over all samples: no answer, or an empty one, scores 0; an undecided judge is left out."""
    decided = [max(score or 0, 0) for score in scores if score != FAILED_SCORE]
    undecided = len(scores) - len(decided)
    undecided_text = f"{format_count(undecided, 'answer')} on which the judge did not decide"
    note = f"{undecided_text} {'is' if undecided == 1 else 'are'} left out" if undecided else ""
    return ratio(name, sum(decided), len(decided), note=note)
