"""One turn of ComplexEval: a model's calls against the gold calls that are open.

Source: ComplexFuncBench paper, section 3.1; the order of the steps and the free calls are the
published code's. The official part never repairs: its oddities are named where they are coded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.complexfuncbench.data import (
    Api,
    ErrorRecord,
    FunctionCall,
    OfficialFailure,
    Step,
    call_text,
    free_calls,
    free_key,
    replay,
    sorted_call,
    steps_of,
)
from planner_eval.benchmarks.complexfuncbench.matching import (
    CallPredicate,
    Embedding,
    Fault,
    Functions,
    Rules,
    Trigrams,
    assign,
    check_format,
    first_difference,
    functions_by_name,
    judge_equivalence,
    never_matches,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import (
    Judge,
    Question,
    ask,
    prompt_files,
    read_equal,
    read_scale,
)

# ----------------------------------------------------------------------
# What ComplexFuncBench asks a judge for: final answers, and like calls.
#
# The prompts are our own. The published ones stand inside code; who has copied their text into files uses
# them (:data:`PROMPT_FILES`).
# ----------------------------------------------------------------------
# What ComplexFuncBench's paper asks a judge for: final answers, and like calls.
_COMPLETENESS_PROMPT = """You judge how completely an answer covers what a user asked.
2: every part of the request is answered. 1: some parts are answered, others are missing. \
0: none is answered, or the answer only asks back or gives up.
Judge coverage alone, not whether the answer is true."""

_CORRECTNESS_PROMPT = """You judge whether an assistant's final answer is true to what the tools returned.
2: everything it states agrees with the results in the conversation. 1: some statements agree, others \
do not or have no ground. 0: nothing agrees. Judge truth alone, not whether something is missing."""

_SCALE_INSTRUCTION = 'Answer with one JSON object: {"reason": "<short>", "score": <0, 1 or 2>}.'

_SAME_CALL_PROMPT = """You decide whether two calls of one tool ask for the same thing.
Values are the same if they mean the same: another language, another wording or spelling, a place with \
or without its country, arguments in another order, an optional argument that is left out and whose \
default is meant. They differ if any value that changes the result differs.
Answer with one JSON object: {"reason": "<short>", "is_equal": <true or false>}."""

COMPLETENESS = Question(
    "complexfuncbench.completeness",
    f"{_COMPLETENESS_PROMPT}\n{_SCALE_INSTRUCTION}",
    {"query": "Request", "response": "Answer"},
    "completeness.txt",
)
"""Whether a final answer covers the whole query, 0 to 2 (section 3.2); read with :func:`read_scale`."""
CORRECTNESS = Question(
    "complexfuncbench.correctness",
    f"{_CORRECTNESS_PROMPT}\n{_SCALE_INSTRUCTION}",
    {"conversation": "Conversation", "response": "Answer"},
    "correctness.txt",
)
"""Whether a final answer agrees with the tool results, 0 to 2 (section 3.2); read with :func:`read_scale`."""
SAME_CALL = Question(
    "complexfuncbench.same_call",
    _SAME_CALL_PROMPT,
    {"tool": "Tool", "predicted": "Predicted call", "gold": "Correct call"},
    "same_call.txt",
)
"""Whether two calls of one tool mean the same (section 3.1); read with :func:`read_equal`."""
PROMPT_FILES = prompt_files(COMPLETENESS, CORRECTNESS, SAME_CALL)
"""Files that take the place of our prompts, by task."""


# ----------------------------------------------------------------------
# The final answer's completeness and correctness, 0 to 2, as a judge sees them.
#
# Source: ComplexFuncBench paper, section 3.2; what the judge is shown follows the published code.
MAX_ATTEMPTS = 10
"""How often the published code asks before it gives a score up."""

FAILED_SCORE = -1
EMPTY_SCORE = -2


class AnswerScores(NamedTuple):
    """What the judge said of a final answer.

    Args:
        complete: 0, 1 or 2; -1 where the judge gave no usable answer, -2 for an empty answer, None
            where there was none to judge or no judge.
        correct: The same.
    """

    complete: int | None = None
    correct: int | None = None


def score_response(
    conversations: Sequence[Mapping[str, Any]], response: str | None, judge: Judge | None
) -> AnswerScores:
    """Both scores of a final answer.

    Args:
        conversations: The annotated conversation: its first message is the query; correctness is
            judged against all of it but the last message, not against the model's own talk.
        response: The model's final text; None where it gave none.
        judge: Who judges; None for nobody.
    """
    if response is None or judge is None:
        return AnswerScores()
    if not response:
        return AnswerScores(EMPTY_SCORE, EMPTY_SCORE)
    query = str(conversations[0].get("content", "")) if conversations else ""
    complete = COMPLETENESS.request(query=query, response=response)
    correct = CORRECTNESS.request(conversation=list(conversations[:-1]), response=response)
    scores = [ask(judge, request, read_scale, MAX_ATTEMPTS) for request in (complete, correct)]
    return AnswerScores(*(FAILED_SCORE if score is None else score for score in scores))


def judge_matcher(judge: Judge | None, functions: Functions) -> CallPredicate:
    """Model-based matching through a judge; without one no two calls match.

    Args:
        judge: Who decides.
        functions: The sample's functions by name; the judge is shown the called one.

    Source: ComplexFuncBench paper, section 3.1 "LLM-based Matching".
    """
    if judge is None:
        return never_matches

    def same(prediction: FunctionCall, gold: FunctionCall) -> bool:
        request = SAME_CALL.request(tool=functions.get(gold["name"]), predicted=prediction, gold=gold)
        return bool(ask(judge, request, read_equal, MAX_ATTEMPTS))

    return same


# ----------------------------------------------------------------------
# One turn of ComplexEval: a model's calls against the gold calls that are open.
class OpenCall(NamedTuple):
    """A gold call that is waiting for its prediction, with its observation."""

    call: FunctionCall
    observation: Any


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """One predicted call beside the gold call it was mapped to.

    Args:
        position: The call's position in the turn.
        prediction: The predicted call, arguments sorted.
        gold: The gold call, arguments sorted; the prediction itself for a free call, None where the
            call was not mapped to any.
        how: ``"rule"``, ``"response"``, ``"model"``, ``"format"``, or ``""`` for a wrong call.
        record: The error record of a wrong call; None may also mean that nothing differs.
        fault: Why the call is malformed, when it is.
    """

    position: int
    prediction: FunctionCall
    gold: FunctionCall | None
    how: str
    record: ErrorRecord | None = None
    fault: Fault | None = None

    @property
    def matched(self) -> bool:
        """The call does what the gold call does."""
        return self.how in ("rule", "response", "model")


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to.

    Args:
        errors: The records of wrong calls in the order in which they were judged; a text where the
            published code overwrote its list.
        success: Position of a matched call → the observation it gets.
        matched: The gold calls that were matched, in the order in which they were judged.
        format_errors: Position of a malformed call → the message it gets.
        free_called: The keys of the free calls called so far, in the sample's order.
        judged: Every mapped call; calls without a partner are not in it.
    """

    errors: list[ErrorRecord | None] | str
    success: dict[int, Any]
    matched: list[FunctionCall]
    format_errors: dict[int, dict[str, str]]
    free_called: tuple[str, ...]
    judged: tuple[JudgedCall, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    position: int
    prediction: FunctionCall
    gold: FunctionCall
    observation: Any
    index: int | None


def drop_called(gold: Sequence[OpenCall], called: Sequence[str]) -> list[OpenCall]:
    """Gold without the free calls that were called before.

    Positions are looked up by value before anything is dropped, so of two equal calls the first
    position is dropped twice: where the two are no neighbours, a call between them is lost instead of
    the second. Source: published code.
    """
    calls = [call for call, _ in gold]
    positions = [calls.index(call) for call in calls if free_key(call) in called]
    left = list(gold)
    for position in sorted(positions, reverse=True):
        del left[position]
    return left


def judge_turn(
    predictions: Sequence[FunctionCall], gold: Sequence[OpenCall], rules: Rules, *, called: Sequence[str] = ()
) -> TurnResult:
    """Map the predicted calls to the open gold calls, check and judge each pair.

    Args:
        predictions: The model's calls of this turn.
        gold: The open gold calls; :func:`drop_called` has been applied and something is left.
        rules: What to judge with.
        called: The keys of the free calls called in earlier turns.

    Raises:
        OfficialFailure: the published code would end its run here.

    Source: published code.
    """
    if not gold:
        raise OfficialFailure("NotImplementedError", "")
    exact, free = _exact_pairs(pred_calls := [sorted_call(call) for call in predictions], gold, rules.free)
    pairs = exact + _similar_pairs(pred_calls, gold, exact, rules.embedding)
    judged: list[JudgedCall] = []
    errors: list[ErrorRecord | None] | str = []
    for pair in pairs:
        fault = check_format(pair.prediction, rules.functions)
        if fault:
            judged.append(JudgedCall(pair.position, pair.prediction, pair.gold, "format", fault=fault))
            continue
        verdict = judge_equivalence(pair.prediction, pair.gold, rules)
        if verdict.failed_response:
            errors = f"API call failed for {dict(pair.prediction)}."
        record = None
        if not verdict.how:
            record = verdict.veto or first_difference(pair.prediction, pair.gold)
            if isinstance(errors, str):
                raise OfficialFailure("AttributeError", "'str' object has no attribute 'append'")
            errors.append(record)
        judged.append(JudgedCall(pair.position, pair.prediction, pair.gold, verdict.how, record))
    all_called = {*called, *free}
    observations = {pair.position: pair.observation for pair in pairs}
    matched = [judgement for judgement in judged if judgement.matched]
    return TurnResult(
        errors,
        {judgement.position: observations[judgement.position] for judgement in matched},
        [judgement.gold for judgement in matched if judgement.gold is not None],
        {judgement.position: {"error": judgement.fault.text} for judgement in judged if judgement.fault},
        tuple(text for text in rules.free if text in all_called),
        tuple(judged),
    )


def _exact_pairs(
    pred_calls: Sequence[FunctionCall], gold: Sequence[OpenCall], free: Mapping[str, Any]
) -> tuple[list[_Pair], list[str]]:
    """Pairs of equal calls and of free calls with themselves, and the texts of the latter.

    Each prediction scans the unused gold calls. The first one that is not equal already lets a free
    call match itself, even where an equal gold call follows.
    """
    gold_calls = [sorted_call(call) for call, _ in gold]
    unused = list(range(len(gold)))
    pairs: list[_Pair] = []
    free_called: list[str] = []
    for position, prediction in enumerate(pred_calls):
        text = free_key(prediction)
        for index in unused:
            if prediction == gold_calls[index]:
                pairs.append(_Pair(position, prediction, gold_calls[index], gold[index][1], index))
                unused.remove(index)
                break
            if text in free:
                pairs.append(_Pair(position, prediction, prediction, free[text], None))
                free_called.append(text)
                break
    return pairs, free_called


def _similar_pairs(
    pred_calls: Sequence[FunctionCall], gold: Sequence[OpenCall], exact: Sequence[_Pair], embedding: Embedding
) -> list[_Pair]:
    """The rest of the predictions, each with its most similar gold call; some stay without one."""
    paired = {pair.position for pair in exact}
    used = {pair.index for pair in exact}
    unpaired = [(position, call) for position, call in enumerate(pred_calls) if position not in paired]
    left = [
        (sorted_call(call), observation, index)
        for index, (call, observation) in enumerate(gold)
        if index not in used
    ]
    chosen = assign(
        [call_text(call) for _, call in unpaired], [call_text(call) for call, *_ in left], embedding
    )
    pairs = ((*unpaired[row], *left[column]) for row, column in chosen)
    return [_Pair(position, call, *opened) for position, call, *opened in pairs]


# ----------------------------------------------------------------------
# What both variants of the scorer need: settings, and a sample made ready for judging.

CROSS = "Cross"


@dataclass(frozen=True, slots=True)
class Settings:
    """What conversations are scored with.

    Args:
        api: Gives the API of a sample; the default replays the sample's own observations.
        embedding: Maps predicted calls to gold calls.
        judge: Matches calls by meaning and scores final answers; None leaves both out.
        checked: Function → parameters that must be equal; None takes the lists that the sample
            carries (the published ``exact_match_values.json`` beside the data).
    """

    api: Callable[[Sequence[Step]], Api] = replay
    embedding: Embedding = field(default_factory=Trigrams)
    judge: Judge | None = None
    checked: Mapping[str, Sequence[str]] | None = None

    def checked_for(self, sample: Sample) -> Mapping[str, Sequence[str]] | None:
        """The lists that the value check uses for a sample; None where there are none."""
        return sample.extra.get("exact_match_values") if self.checked is None else self.checked


DEFAULT_SETTINGS = Settings()


class PreparedSample(NamedTuple):
    """A sample's annotated steps, and what its turns are judged with."""

    steps: tuple[Step, ...]
    rules: Rules


def prepare(sample: Sample, settings: Settings) -> PreparedSample:
    """A sample made ready for judging.

    Raises:
        InputError: the sample's record is not a ComplexFuncBench conversation.
    """
    try:
        steps = steps_of(sample.gold)
        functions = functions_by_name(sample.tools or ())
        calls = [(call["name"], dict(call["arguments"])) for step in steps for call in step.calls]
        free = free_calls(steps)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"sample {sample.id!r} is not a ComplexFuncBench conversation: {problem!r}"
        ) from problem
    if not calls:
        raise InputError(f"sample {sample.id!r} has no annotated call")
    same = judge_matcher(settings.judge, functions)
    rules = Rules(
        functions, free, settings.api(steps), settings.embedding, settings.checked_for(sample), same
    )
    return PreparedSample(steps, rules)
