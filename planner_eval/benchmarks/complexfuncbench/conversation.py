"""ComplexEval as a simulator that answers a model's calls turn by turn, as each published runner does.

``start`` gives a state, ``answer_turn`` takes a model's calls and gives the next state with the replies,
``finish`` takes the final text. States are never changed. :func:`run` drives a model, and
:func:`planner_eval.benchmarks.complexfuncbench.official.replay_model` drives it with recorded turns.

Source: ComplexFuncBench paper, Algorithm 1; the published base runner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from planner_eval.benchmarks.complexfuncbench.data import (
    FREE_FUNCTIONS,
    LAT_LONG,
    ErrorRecord,
    FunctionCall,
    OfficialFailure,
    Step,
    error_record,
    free_call,
)
from planner_eval.benchmarks.complexfuncbench.matching import Rules
from planner_eval.benchmarks.complexfuncbench.turn import JudgedCall, OpenCall, drop_called, judge_turn

# ----------------------------------------------------------------------
# How the published runners differ: one row of a table each.
#
# Source: published code; the paper describes one runner for all models.
NO_RESPONSE = "llm_response is None"


@dataclass(frozen=True, slots=True)
class UndecodableCall:
    """A call whose arguments are no JSON object.

    Args:
        name: The function's name.
        arguments: The arguments as written.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Runner:
    """What one published runner does differently.

    Args:
        name: The family of models it was written for.
        keeps_last_errors: Errors of the last turn with calls fail the sample even when nothing is open.
        unknown_function: The error type that ends a sample when a function is not in its list;
            ``""`` where the model gets the format message and may go on.
        shows_format_errors: The model sees why a call is malformed.
        raises_on_nothing: The run ends when a model returns nothing at all.
    """

    name: str
    keeps_last_errors: bool = False
    unknown_function: str = ""
    shows_format_errors: bool = True
    raises_on_nothing: bool = False

    def decode(
        self, calls: Sequence[FunctionCall | UndecodableCall], functions: Mapping[str, Any]
    ) -> tuple[list[FunctionCall], ErrorRecord | None]:
        """The turn's calls, or the record that ends the sample.

        Args:
            calls: One turn as the model gave it.
            functions: The sample's functions by name.
        """
        readable: list[FunctionCall] = []
        for call in calls:
            if isinstance(call, UndecodableCall):
                return [], self._refusal(call.name, call.arguments)
            if self.unknown_function and call["name"] not in functions:
                return [], self._refusal(call["name"], json.dumps(call["arguments"]))
            readable.append(call)
        return readable, None

    def _refusal(self, name: str, arguments: str) -> ErrorRecord:
        call_text = f"namespace(name={name!r}, arguments={arguments!r})"
        return error_record(self.unknown_function or "decode_error", f"{call_text} is not Valid.")

    def nothing(self) -> ErrorRecord:
        """The record of a model that returned nothing.

        Raises:
            OfficialFailure: this runner's code raises instead.
        """
        if self.raises_on_nothing:
            raise OfficialFailure("NotImplementedError", "LLM response is None")
        return error_record("unknown_error", NO_RESPONSE)


RUNNERS: Mapping[str, Runner] = {
    runner.name: runner
    for runner in (
        Runner("gpt", keeps_last_errors=True, unknown_function="decode_error"),
        Runner("mistral", keeps_last_errors=True, unknown_function="name_error"),
        Runner("claude", unknown_function="name_error", shows_format_errors=False),
        Runner("glm"),
        Runner("llama"),
        Runner("qwen", raises_on_nothing=True),
    )
}
"""The runners by name; ``gpt`` and ``qwen`` are proved against the published code, the rest are read."""


# ----------------------------------------------------------------------
# ComplexEval as a simulator: it answers a model's calls turn by turn, and says how the talk ended.
GENERAL_ERROR = {"error": "The call could not be answered. Check its name and its arguments, then try again."}
"""What a wrong call gets for an answer; the published text is fixed too, in other words."""

SUCCESS = "Success."
MAX_TURNS = 200
"""The published code has no limit and can be kept busy for ever by malformed calls."""

Message: TypeAlias = str | ErrorRecord | list[ErrorRecord | None]
"""How a conversation ended: ``"Success."``, one record, or the records of its last turn."""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation under way, or its end, with the published code's own numbers.

    Args:
        steps: The annotated steps.
        rules: What calls are judged with.
        runner: Which of the published runners to follow.
        gold: The gold calls that are open, with their observations.
        next: How many steps have been opened.
        called: The free calls made so far, as JSON texts.
        correct_call_num: Matched calls so far; repeated free calls count each time.
        real_turn_num: The model's turns with calls that were judged so far.
        last_errors: The errors of the last turn.
        replies: What each call of the last turn gets for an answer.
        judged: Every mapped call so far, by turn.
        message: How it ended; None while it is under way.
        response: The model's final text; None where there was none.
    """

    steps: tuple[Step, ...]
    rules: Rules
    runner: Runner
    gold: tuple[OpenCall, ...] = ()
    next: int = 0
    called: tuple[str, ...] = ()
    correct_call_num: int = 0
    real_turn_num: int = 0
    last_errors: list[ErrorRecord | None] | str = field(default_factory=list)
    replies: tuple[Any, ...] = ()
    judged: tuple[tuple[JudgedCall, ...], ...] = ()
    message: Message | None = None
    response: str | None = None

    @property
    def success(self) -> bool:
        """The task was completed, as the published code sees it."""
        return self.message == SUCCESS

    @property
    def success_turn_num(self) -> int:
        """The smallest step that holds a call equal to an open one, or the number of steps."""
        left = [call for call, _ in self.gold]
        unfinished = (n for n, step in enumerate(self.steps) if any(call in left for call in step.calls))
        return next(unfinished, len(self.steps))

    @property
    def total_turn_num(self) -> int:
        """Annotated steps."""
        return len(self.steps)

    @property
    def total_call_num(self) -> int:
        """Annotated calls."""
        return sum(len(step.calls) for step in self.steps)


def start(steps: Sequence[Step], rules: Rules, runner: Runner) -> ConversationState:
    """The state before the model's first turn: step 0 is open, and step 1 if step 0 is all free.

    Raises:
        OfficialFailure: the published code would end its run here.
    """
    state = _open_next_step(ConversationState(tuple(steps), rules, runner))
    return _open_next_step(state) if has_only_free(state.gold) else state


def answer_turn(
    state: ConversationState, calls: Sequence[FunctionCall | UndecodableCall]
) -> ConversationState:
    """The state after a turn of calls; ``replies`` holds what they get, ``message`` an early end.

    Args:
        state: A conversation that is not over.
        calls: The model's calls of one turn.

    Raises:
        OfficialFailure: the published code would end its run here.
    """
    if not state.gold:
        return replace(state, message=error_record("func_hallucination", HALLUCINATION))
    readable, fault = state.runner.decode(calls, state.rules.functions)
    if fault:
        return replace(state, message=fault)
    gold = drop_called(state.gold, state.called)
    result = judge_turn(readable, gold, state.rules, called=state.called)
    replies = {**(result.format_errors if state.runner.shows_format_errors else {}), **result.success}
    state = replace(
        state,
        gold=tuple(gold),
        real_turn_num=state.real_turn_num + 1,
        called=result.free_called,
        last_errors=result.errors,
        judged=(*state.judged, result.judged),
        replies=tuple(replies.get(index, GENERAL_ERROR) for index in range(len(readable))),
    )
    if not result.success and not result.format_errors:
        return replace(state, message=result.errors)
    correct = state.correct_call_num + len(result.success)
    state = replace(state, correct_call_num=correct, gold=_remove_calls(gold, result.matched))
    if result.success:
        state = _open_next_step(state)
    state = replace(state, gold=_remove_calls(state.gold, [free_call(key) for key in state.called]))
    return _open_next_step(state) if has_only_free(state.gold) else state


def finish(state: ConversationState, text: str) -> ConversationState:
    """The state after the model's final text; ``message`` is set.

    Two leftover calls that may be missing do not both go: the published code removes from the list
    that it walks through, and so skips the neighbour of each one that it removes.

    Raises:
        OfficialFailure: the published code would end its run here.
    """
    if state.runner.keeps_last_errors and state.last_errors:
        return replace(state, message=state.last_errors, response=text)
    left = list(state.gold)
    for open_call in left:
        if _is_optional(open_call.call):
            left.remove(open_call)
    unfinished = left or state.next < len(state.steps)
    message = error_record("stop_early", "Stop early.") if unfinished else SUCCESS
    return replace(state, gold=tuple(left), message=message, response=text)


Turn: TypeAlias = "Sequence[FunctionCall | UndecodableCall] | str | None"
"""What a model gives: calls, a final text, or nothing at all."""

Model: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], Turn]
"""Takes the messages so far, gives its next turn."""


class Conversation(NamedTuple):
    """A conversation that is over.

    Args:
        outcome: How it ended.
        messages: All of it: the model's turns and the observations in the released form.
    """

    outcome: ConversationState
    messages: list[Mapping[str, Any]]


def run(
    model: Model,
    messages: Sequence[Mapping[str, Any]],
    state: ConversationState,
    *,
    max_turns: int = MAX_TURNS,
) -> Conversation:
    """Talk with a model until the conversation is over.

    Args:
        model: Is given the messages so far each time.
        messages: What the model sees first, usually the user's query.
        state: A conversation from :func:`start`.
        max_turns: End with ``exceed_max_length`` after so many turns.

    Raises:
        OfficialFailure: the published code would end its run here.
    """
    conversation = list(messages)
    while state.message is None:
        turn = model(tuple(conversation))
        if turn is None or state.real_turn_num >= max_turns:
            state = replace(state, message=state.runner.nothing() if turn is None else _TOO_MANY_TURNS)
        elif isinstance(turn, str):
            conversation.append({"role": "assistant", "content": turn})
            state = finish(state, turn)
        else:
            conversation.append({"role": "assistant", "function_call": list(turn)})
            state = answer_turn(state, turn)
            if state.message is None:
                conversation.append({"role": "observation", "content": list(state.replies)})
    return Conversation(state, conversation)


HALLUCINATION = "`self.golden_fcs == []`. Expected to stop. But Model continue to output function call."
_TOO_MANY_TURNS = error_record("exceed_max_length", "The model has taken too many turns.")


def has_only_free(gold: Sequence[OpenCall]) -> bool:
    """No open call has to be made: all are free (true for none), or a hotel is looked up by itself.

    One ``Search_Hotels`` of search type ``hotel`` makes it true whatever else is open.

    Raises:
        OfficialFailure: a ``Search_Hotels`` has no search type; the published code raises KeyError.
    """
    free = True
    for call, _ in gold:
        if call["name"] == "Search_Hotels" and _search_type(call) == "hotel":
            return True
        free = free and call["name"] in FREE_FUNCTIONS
    return free


def _search_type(call: FunctionCall) -> Any:
    if "search_type" not in call["arguments"]:
        raise OfficialFailure("KeyError", "'search_type'")
    return call["arguments"]["search_type"]


def _is_optional(call: FunctionCall) -> bool:
    if call["name"] == "Search_Hotels":
        return bool(_search_type(call) == "hotel")
    return call["name"] in FREE_FUNCTIONS and call["name"] != LAT_LONG


def _open_next_step(state: ConversationState) -> ConversationState:
    if state.next >= len(state.steps):
        return state
    step = state.steps[state.next]
    opened = tuple(OpenCall(*pair) for pair in zip(step.calls, step.observations, strict=True))
    return replace(state, gold=state.gold + opened, next=state.next + 1)


def _remove_calls(gold: Sequence[OpenCall], calls: Sequence[FunctionCall]) -> tuple[OpenCall, ...]:
    """Gold without the first occurrence of each of the calls, where there is one."""
    left = list(gold)
    for call in calls:
        for open_call in left:
            if open_call.call == call:
                left.remove(open_call)
                break
    return tuple(left)
