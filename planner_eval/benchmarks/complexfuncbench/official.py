"""The published figures: ``print_results`` over recorded conversations, and records scored into a report.

Source: published code, commit c37b284 (``print_results.py`` and the runners); ComplexFuncBench
paper, sections 3.1 and 3.2, for what the figures are called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, JudgeError, LimitError, ParseError
from planner_eval.base.json_text import check_depth, decode_object, loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.complexfuncbench.conversation import (
    RUNNERS,
    ConversationState,
    Model,
    Runner,
    Turn,
    UndecodableCall,
    run,
    start,
)
from planner_eval.benchmarks.complexfuncbench.data import FunctionCall, OfficialFailure, domain_of, replay
from planner_eval.benchmarks.complexfuncbench.turn import (
    CROSS,
    DEFAULT_SETTINGS,
    AnswerScores,
    Settings,
    prepare,
    score_response,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import Judge
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer, shared_figures

# ----------------------------------------------------------------------
# A recorded conversation as text becomes the turns that a model took in it.
#
# Two forms are read, alone or as the ``conversations`` or ``messages`` of an object: the released one
# (``function_call`` holds the calls of an assistant turn) and the one of chat endpoints (``tool_calls``,
# arguments as JSON text). Observations, system and user messages are passed over.
MAX_CALLS = 10_000
"""Calls of one conversation; mapping needs memory for each."""


def read_turns(text: str) -> list[Turn]:
    """The model's turns of a recorded conversation: lists of calls, then the final text if there is one.

    Args:
        text: One conversation as JSON.

    Raises:
        ParseError: the text is no JSON, no conversation, or too large; says where or what.

    >>> read_turns('[{"role": "assistant", "function_call": [{"name": "f", "arguments": {}}]},'
    ...            ' {"role": "assistant", "content": "Done."}]')
    [[{'name': 'f', 'arguments': {}}], 'Done.']
    """
    turns: list[Turn] = []
    count = 0
    for number, message in enumerate(_messages(text)):
        if not isinstance(message, Mapping):
            raise _shape_error(f"message {number} is not an object", text)
        if message.get("role") != "assistant":
            continue
        calls = message.get("function_call") or message.get("tool_calls")
        if calls:
            listed = [calls] if isinstance(calls, Mapping) else calls
            if not isinstance(listed, list):
                raise _shape_error(f"the calls of message {number} are not a list", text)
            count += len(listed)
            if count > MAX_CALLS:
                raise LimitError(f"the conversation has more than {MAX_CALLS:,} calls")
            turns.append([_call(call, number, text) for call in listed])
        else:
            content = message.get("content")
            turns.append(content if isinstance(content, str) else "")
            break
    return turns


def replay_model(turns: Sequence[Turn]) -> Model:
    """A model that takes recorded turns, and gives nothing once they are used up."""
    left: Iterator[Turn] = iter(turns)
    return lambda messages: next(left, None)


def gold_prediction(conversations: Sequence[Mapping[str, Any]]) -> str:
    """The text of a prediction that repeats the annotated conversation.

    A record that is cut before its final answer gets an empty one.
    """
    turns = [turn for turn in conversations if turn.get("role") == "assistant"]
    if not turns or "function_call" in turns[-1]:
        turns.append({"role": "assistant", "content": ""})
    return json.dumps(turns, ensure_ascii=False)


def _messages(text: str) -> list[Any]:
    if len(text) > DEFAULT_LIMITS.chars:
        raise LimitError(f"the conversation is longer than {DEFAULT_LIMITS.chars:,} characters")
    check_depth(text, DEFAULT_LIMITS)
    values = loads(text, DEFAULT_LIMITS)
    value = values[0] if len(values) == 1 else values
    if isinstance(value, Mapping):
        value = value.get("conversations", value.get("messages"))
    if not isinstance(value, list):
        raise _shape_error(
            "expected a list of messages, or an object with 'conversations' or 'messages'", text
        )
    return value


def _call(call: Any, number: int, text: str) -> FunctionCall | UndecodableCall:
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise _shape_error(f"a call of message {number} has no name", text)
    arguments = inner.get("arguments")
    if isinstance(arguments, Mapping):
        return {"name": inner["name"], "arguments": arguments}
    arguments_text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    decoded = decode_object(arguments_text)
    if decoded is None:
        return UndecodableCall(inner["name"], arguments_text)
    return {"name": inner["name"], "arguments": decoded}


def _shape_error(reason: str, text: str) -> ParseError:
    return ParseError(reason, code="parse.shape", dialect="complexfuncbench")


# ----------------------------------------------------------------------
# The published figures: ``print_results`` over conversations, and records scored into a report.
ANSWER_SCORES = {"Complete Score": "complete", "Correct Score": "correct"}
NO_JUDGE_NOTE = "no judge was named"
SAMPLES_PER_DOMAIN, SAMPLES_IN_CROSS, SAMPLES_IN_ALL = 150, 400, 1000
"""Denominators that the published code takes for granted."""

UNKNOWN_ERROR = "unknown_error"
"""Samples that end so are never written, and so missing from every count of the published code."""

NO_VALUE_CHECK_NOTE = (
    "without the published value check: exact_match_values.json is not beside the data "
    "(planeval data fetch complexfuncbench)"
)

REPLAY_NOTE = (
    "recorded observations replace the API that the published code calls; a conversation on "
    "which that code stops counts as a failure"
)


_NUMBERS = (
    "correct_call_num", "total_call_num", "success_turn_num", "total_turn_num", "real_turn_num", "complete",
    "correct",
)  # fmt: skip


class OfficialOutcome(NamedTuple):
    """One conversation as the published code writes it down.

    Args:
        domain: Of the sample.
        error: Why it is not written, and missing from every count.
        ok: The task was completed, as the published code sees it.
        message: How it ended, as text; "" where that code has none.
        correct_call_num: As of :class:`.conversation.ConversationState` …
        total_call_num: …
        success_turn_num: …
        total_turn_num: …
        real_turn_num: …
        complete: What the judge said of the final answer …
        correct: …
        checked: Calls were held to the published lists of parameters that must be equal.
    """

    domain: str
    error: str | None = None
    ok: bool = False
    message: str = ""
    correct_call_num: int = 0
    total_call_num: int = 0
    success_turn_num: int = 0
    total_turn_num: int = 0
    real_turn_num: int = 0
    complete: int | None = None
    correct: int | None = None
    checked: bool = True

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """What the published code writes of it."""
        if self.message:
            yield Figure("message", self.message)
            for name in _NUMBERS:
                yield Figure(name, getattr(self, name))


def scorer(runner: str = "gpt", settings: Settings = DEFAULT_SETTINGS, judge: Judge | None = None) -> Scorer:
    """The published figures of recorded conversations.

    Records that cannot be read, or on which the published code ends, count as failures of the success rate
    and are missing from call accuracy, as samples it never writes.

    Args:
        runner: A name of :data:`RUNNERS`: the published code treats model families differently.
        settings: API, embedding, judge, checked parameters.
        judge: Takes the place of the settings' own.

    Raises:
        InputError: there is no such runner.

    Source: ComplexFuncBench, published ``print_results.py``; paper, section 3.1 "Metrics".
    """
    if runner not in RUNNERS:
        raise InputError(f"there is no runner {runner!r}: choose one of {', '.join(RUNNERS)}")
    used = settings if judge is None else replace(settings, judge=judge)

    def judge_sample(sample: Sample, text: str) -> OfficialOutcome:
        domain, checked = domain_of(sample.id), used.checked_for(sample) is not None
        try:
            state = score_conversation(sample, read_turns(text), runner=RUNNERS[runner], settings=used)
            scores = score_response(sample.gold, state.response, used.judge)
        except ParseError as failure:
            return OfficialOutcome(domain, failure.code, checked=checked)
        except (OfficialFailure, InputError, JudgeError) as failure:
            return OfficialOutcome(domain, str(failure), checked=checked)
        return keep(domain, state, scores)._replace(checked=checked)

    def figures(results: SampleResults) -> Iterator[Figure]:
        note = "" if all(outcome.checked for _, outcome in results) else NO_VALUE_CHECK_NOTE
        written = [outcome for _, outcome in results if outcome.error is None]
        yield from success_figures(written, note, live=used.api is not replay)
        yield from answer_figures(written, judged=used.judge is not None)

    return Scorer(judge_sample, figures, OfficialOutcome, apart=False)


def score_conversation(
    sample: Sample,
    turns: Sequence[Turn],
    *,
    runner: Runner = RUNNERS["gpt"],
    settings: Settings = DEFAULT_SETTINGS,
) -> ConversationState:
    """How the recorded turns of one conversation end, as the published code sees it.

    Raises:
        OfficialFailure: the published code would end its run here.
        InputError: the sample's record is not a ComplexFuncBench conversation.
    """
    steps, rules = prepare(sample, settings)
    return run(replay_model(turns), (), start(steps, rules, runner), max_turns=len(turns) + 1).outcome


def keep(domain: str, outcome: ConversationState, scores: AnswerScores) -> OfficialOutcome:
    """What is kept of a conversation and the judge's scores of its final answer."""
    message = outcome.message
    is_lost = isinstance(message, dict) and message["error_type"] == UNKNOWN_ERROR
    return OfficialOutcome(
        domain,
        UNKNOWN_ERROR if is_lost else None,
        outcome.success,
        message if isinstance(message, str) else json.dumps(message, ensure_ascii=False),
        outcome.correct_call_num,
        outcome.total_call_num,
        outcome.success_turn_num,
        outcome.total_turn_num,
        outcome.real_turn_num,
        *scores,
    )


# ---------------------------------------------------------------- what the published code prints
def success_figures(
    rows: Sequence[OfficialOutcome], note: str = "", *, live: bool = True
) -> Iterator[Figure]:
    """Success rates and call accuracy, overall and by domain, as the published code prints them.

    Success rates divide by 150 (400 for Cross) and 1,000, whatever the number of samples; a domain
    without a success is missing. Call accuracy divides by the calls of the samples that were written,
    and counts repeated free calls, so that it can exceed 100.

    Args:
        rows: The samples that the published code writes.
        note: What is to be known of each figure.
        live: Whether the API was asked, and not what was recorded.
    """
    overall = note if live else "; ".join(filter(None, (REPLAY_NOTE, note)))
    successes = [row for row in rows if row.ok]
    sizes = {domain: SAMPLES_PER_DOMAIN for domain in _by_domain(successes)} | {CROSS: SAMPLES_IN_CROSS}
    yield _percent("Overall Success Rate", len(successes), SAMPLES_IN_ALL, overall)
    for domain, members in _by_domain(successes).items():
        yield _percent(f"Success Rate {domain}", len(members), sizes[domain], note)
    yield _percent("Overall Call Accuracy", *_call_counts(rows), overall)
    for domain, members in _by_domain(rows).items():
        yield _percent(f"Call Accuracy {domain}", *_call_counts(members), note)


def answer_figures(rows: Sequence[OfficialOutcome], *, judged: bool = True) -> Iterator[Figure]:
    """The mean scores of the final answers, as the published code prints them."""
    for name, field in ANSWER_SCORES.items():
        usable = [score for row in rows if (score := getattr(row, field)) is not None and 0 <= score <= 2]
        if judged:
            yield _share_or_error(name, sum(usable), len(usable))
        else:
            yield Figure(name, None, note=NO_JUDGE_NOTE)


def _by_domain(rows: Sequence[OfficialOutcome]) -> dict[str, list[OfficialOutcome]]:
    groups: dict[str, list[OfficialOutcome]] = {}
    for row in rows:
        groups.setdefault(row.domain, []).append(row)
    return groups


def _call_counts(rows: Sequence[OfficialOutcome]) -> tuple[int, int]:
    return sum(row.correct_call_num for row in rows), sum(row.total_call_num for row in rows)


def _percent(name: str, count: int, size: int, note: str) -> Figure:
    return _share_or_error(name, count, size, note, scale=100)


def _share_or_error(name: str, count: int, size: int, note: str = "", *, scale: int = 1) -> Figure:
    if not size:
        return Figure(name, None, count, size, note, "ZeroDivisionError: division by zero")
    return Figure(name, count / size * scale, count, size, note)
