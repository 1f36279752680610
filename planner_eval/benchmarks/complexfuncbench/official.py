"""The published figures: ``print_results`` over recorded conversations, and records scored into a report.

Source: published code, commit c37b284 (``print_results.py`` and the runners); ComplexFuncBench
paper, sections 3.1 and 3.2, for what the figures are called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError, JudgeError, LimitError, ParseError
from planner_eval.base.json_text import check_depth, decode_object, loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.complexfuncbench.conversation import (
    RUNNERS,
    Model,
    Outcome,
    Runner,
    Turn,
    UndecodableCall,
    run,
    start,
)
from planner_eval.benchmarks.complexfuncbench.data import FunctionCall, OfficialFailure, replay
from planner_eval.benchmarks.complexfuncbench.turn import (
    CROSS,
    DEFAULT_SETTINGS,
    AnswerScores,
    Settings,
    domain_of,
    prepare,
    score_response,
)
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.judging import Judge


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


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """One conversation as the published code writes it down.

    Args:
        id: The sample's id, which begins with its domain.
        outcome: How it ended.
        scores: What the judge said of the final answer.
    """

    id: str
    outcome: Outcome
    scores: AnswerScores

    @property
    def domain(self) -> str:
        """The sample's domain."""
        return domain_of(self.id)


# ---------------------------------------------------------------- what the published code prints
def _rows_by_domain(rows: Sequence[StoredConversation]) -> list[tuple[str, list[StoredConversation]]]:
    names = dict.fromkeys(row.domain for row in rows)
    return [(name, [row for row in rows if row.domain == name]) for name in names]


def _successes_by_domain(rows: Sequence[StoredConversation]) -> list[tuple[str, list[StoredConversation]]]:
    return _rows_by_domain([row for row in rows if row.outcome.success])


def _domain_size(domain: str) -> int:
    return SAMPLES_IN_CROSS if domain == CROSS else SAMPLES_PER_DOMAIN


def _count_successes(rows: Sequence[StoredConversation]) -> int:
    return sum(row.outcome.success for row in rows)


def _success_rate(rows: Sequence[StoredConversation], size: int) -> float:
    return _count_successes(rows) / size * 100


def _call_counts(rows: Sequence[StoredConversation]) -> tuple[int, int]:
    return (
        sum(row.outcome.correct_call_num for row in rows),
        sum(row.outcome.total_call_num for row in rows),
    )


def _call_accuracy(rows: Sequence[StoredConversation]) -> float:
    correct, total = _call_counts(rows)
    return correct / total * 100


def _usable_scores(scores: Sequence[int | None]) -> list[int]:
    return [score for score in scores if score is not None and 0 <= score <= 2]


def _mean_score(scores: Sequence[int | None]) -> float:
    return sum(_usable_scores(scores)) / len(_usable_scores(scores))


# ---------------------------------------------------------------- records into a report
def score_conversation(
    sample: Sample,
    turns: Sequence[Turn],
    *,
    runner: Runner = RUNNERS["gpt"],
    settings: Settings = DEFAULT_SETTINGS,
) -> StoredConversation:
    """Score the recorded turns of one conversation as the published code does.

    Raises:
        OfficialFailure: the published code would end its run here.
        InputError: the sample's record is not a ComplexFuncBench conversation.
    """
    steps, rules = prepare(sample, settings)
    state = start(steps, rules, runner)
    outcome = run(replay_model(turns), (), state, max_turns=len(turns) + 1).outcome
    return StoredConversation(
        sample.id, outcome, score_response(sample.gold, outcome.response, settings.judge)
    )


def score_official(
    records: Records,
    *,
    runner: str = "gpt",
    settings: Settings = DEFAULT_SETTINGS,
    judge: Judge | None = None,
) -> Report:
    """The published figures of recorded conversations.

    Args:
        records: Samples, each with the JSON text of the conversation that a model had.
        runner: A name of :data:`RUNNERS`: the published code treats model families differently.
        settings: API, embedding, judge, checked parameters.
        judge: Takes the place of the settings' own.

    Returns:
        One row a record. Records that cannot be read, or on which the published code ends, count as
        failures of the success rate and are missing from call accuracy, as samples it never writes.

    Raises:
        InputError: there is no such runner.

    Source: ComplexFuncBench, published ``print_results.py``; paper, section 3.1 "Metrics".
    """
    if judge is not None:
        settings = replace(settings, judge=judge)
    if runner not in RUNNERS:
        raise InputError(f"there is no runner {runner!r}: choose one of {', '.join(RUNNERS)}")
    written: list[StoredConversation] = []
    rows: list[SampleScore] = []
    note = ""
    for sample, text in records:
        if settings.checked_for(sample) is None:
            note = NO_VALUE_CHECK_NOTE
        row, result = _score_sample(sample, text, runner=RUNNERS[runner], settings=settings)
        rows.append(row)
        if result is not None:
            written.append(result)
    figures = (
        *success_figures(written, note, live=settings.api is not replay),
        *answer_figures(written, judged=settings.judge is not None),
    )
    return Report("complexfuncbench", "official", len(rows), figures, tuple(rows))


def _score_sample(
    sample: Sample, text: str, *, runner: Runner, settings: Settings
) -> tuple[SampleScore, StoredConversation | None]:
    try:
        result = score_conversation(sample, read_turns(text), runner=runner, settings=settings)
    except ParseError as failure:
        return SampleScore(sample.id, False, error=failure.code), None
    except (OfficialFailure, InputError, JudgeError) as failure:
        return SampleScore(sample.id, False, error=str(failure)), None
    outcome = result.outcome
    is_lost = isinstance(outcome.message, dict) and outcome.message["error_type"] == UNKNOWN_ERROR
    figures = (
        Figure("message", _message_text(outcome.message)),
        Figure("correct_call_num", outcome.correct_call_num),
        Figure("total_call_num", outcome.total_call_num),
        Figure("success_turn_num", outcome.success_turn_num),
        Figure("total_turn_num", outcome.total_turn_num),
        Figure("real_turn_num", outcome.real_turn_num),
        Figure("complete", result.scores.complete),
        Figure("correct", result.scores.correct),
    )
    return SampleScore(
        sample.id, outcome.success, figures, UNKNOWN_ERROR if is_lost else None
    ), None if is_lost else result


def _message_text(message: Any) -> str:
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)


def success_figures(rows: Sequence[StoredConversation], note: str = "", *, live: bool = True) -> list[Figure]:
    """Success rates and call accuracy, overall and by domain, as the published code prints them.

    Success rates divide by 150 (400 for Cross) and 1,000, whatever the number of samples; a domain
    without a success is missing. Call accuracy divides by the calls of the samples that were written,
    and counts repeated free calls, so that it can exceed 100.

    Args:
        rows: The samples that the published code writes.
        note: What is to be known of each figure.
        live: Whether the API was asked, and not what was recorded.
    """
    successes = _count_successes(rows)
    overall = note if live else "; ".join(filter(None, (REPLAY_NOTE, note)))
    figures = [
        Figure(
            "Overall Success Rate", _success_rate(rows, SAMPLES_IN_ALL), successes, SAMPLES_IN_ALL, overall
        )
    ]
    for name, domain_rows in _successes_by_domain(rows):
        size = _domain_size(name)
        figures.append(
            Figure(f"Success Rate {name}", _success_rate(domain_rows, size), len(domain_rows), size, note)
        )
    figures.append(
        _figure_or_error("Overall Call Accuracy", _call_accuracy, rows, _call_counts(rows), overall)
    )
    figures += [
        _figure_or_error(
            f"Call Accuracy {name}", _call_accuracy, domain_rows, _call_counts(domain_rows), note
        )
        for name, domain_rows in _rows_by_domain(rows)
    ]
    return figures


def answer_figures(rows: Sequence[StoredConversation], *, judged: bool = True) -> list[Figure]:
    """The mean scores of the final answers, as the published code prints them."""
    if not judged:
        return [Figure(name, None, note="no judge was named") for name in ("Complete Score", "Correct Score")]
    figures = []
    for name, scores in (
        ("Complete Score", [row.scores.complete for row in rows]),
        ("Correct Score", [row.scores.correct for row in rows]),
    ):
        counted = _usable_scores(scores)
        figures.append(_figure_or_error(name, _mean_score, scores, (sum(counted), len(counted)), ""))
    return figures


def _figure_or_error(
    name: str, value: Callable[[Any], float], of: Sequence[Any], counts: tuple[int, int], note: str
) -> Figure:
    if not counts[1]:
        return Figure(name, None, *counts, note, "ZeroDivisionError: division by zero")
    return Figure(name, value(of), *counts, note)
