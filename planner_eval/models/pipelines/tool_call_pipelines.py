"""The protocol's own tools: ``tool_calls``, in one turn or several.

``function-calling`` and ``dialog`` are one turn, or several where calls are made; ``stepwise`` is
ComplexFuncBench's conversation, in which ComplexEval answers the calls and its errors go back to the model.

Source: FunctionChat-Bench, the conversation before each turn as published; ComplexFuncBench, Algorithm 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from planner_eval.base.text import format_count
from planner_eval.models.pipelines.pipeline import (
    Failure,
    Message,
    ModelCall,
    Outcome,
    Pipeline,
    Steps,
    Task,
    act,
    ask,
    assistant_message,
    system_message,
)
from planner_eval.models.pipelines.replies import ReplyTurn, read_reply
from planner_eval.models.pipelines.setup import MAX_STEPS, MAX_TURNS, Setup
from planner_eval.models.pipelines.tool_lists import Offer, offer_of


def single_turn_steps(task: Task, setup: Setup) -> Steps:
    """Ask for one turn of the assistant; its calls are the answer."""
    return (yield from _next_turn(task, opening_messages(task, setup), offer_of(task)))


def _next_turn(task: Task, messages: Sequence[Message], offer: Offer) -> Steps:
    reply = yield from ask("call", messages, tools=offer.tools)
    turn = read_reply(reply, offer.names)
    stages = {"calls_from": turn.written}
    if task.form == "nestful":
        return Outcome(label_calls(turn.calls) if turn.calls else turn.text, stages)
    return Outcome(turn_message(turn, offer, own_names=True), stages)


def dialog_steps(task: Task, setup: Setup) -> Steps:
    """Ask for the next turn of a recorded conversation; on demand for all of its earlier turns first.

    What was recorded after an earlier turn is said only where it can follow on the model's own: a tool's
    results where the model called the same tools, the user's words where it called none. Else it is over.
    """
    if setup.history == "gold":
        return (yield from single_turn_steps(task, setup))
    offer = offer_of(task)
    messages: list[Message] = []
    ids: list[str] = []
    for message in opening_messages(task, setup):
        if message.get("role") == "assistant":
            turn = read_reply((yield from ask("history", messages, tools=offer.tools)), offer.names)
            if why := _find_departure(turn, message):
                stages = {"own_turns": sum(m["role"] == "assistant" for m in messages)}
                return Outcome("", stages, "left_record", Failure("left_record", why))
            messages.append(turn_message(turn, offer))
            ids = [call["id"] for call in messages[-1].get("tool_calls") or ()]
        elif message.get("role") == "tool" and ids:
            messages.append({**message, "tool_call_id": ids.pop(0)})
        else:
            messages.append(message)
    return (yield from _next_turn(task, messages, offer))


def _find_departure(turn: ReplyTurn, recorded: Message) -> str:
    """Why what was recorded after a turn cannot follow on the model's; nothing where it can."""
    recorded_names = [str(call["function"]["name"]) for call in recorded.get("tool_calls") or ()]
    called_names = [call.name for call in turn.calls]
    if sorted(called_names) == sorted(recorded_names):
        return ""
    follows = "a tool's results" if recorded_names else "the user's words"
    called = (
        f"the model called {', '.join(called_names)[:80]}" if called_names else "the model called nothing"
    )
    return f"the record goes on with {follows}, which do not follow: {called}"


def conversation_steps(task: Task, setup: Setup) -> Steps:
    """Talk until the model calls nothing any more, or nothing more can be done."""
    offer = offer_of(task)
    messages: list[Message] = list(opening_messages(task, setup))
    output: list[Message] = []
    written: list[str] = []
    most = setup.steps or (MAX_TURNS if task.form == "complexfuncbench" else MAX_STEPS)
    for _ in range(most):
        reply = yield from ask("call", messages, tools=offer.tools)
        turn = read_reply(reply, offer.names)
        if not turn.calls:
            final = assistant_message(turn.text)
            return Outcome([*output, final], {"calls_from": written}, "answered")
        written.append(turn.written)
        seen = yield from act(turn.calls)
        output.append(turn_message(turn, offer, own_names=True))
        if seen.over:
            return Outcome(output, {"calls_from": written}, "over")
        messages.append(turn_message(turn, offer))
        results = [
            _result_message(call, content, number)
            for number, (call, content) in _numbered_results(turn, seen.contents)
        ]
        messages += results
        output += results
    why = f"the model was still calling tools after {format_count(most, 'turn')}"
    return Outcome(output, {"calls_from": written}, "max_turns", Failure("max_turns", why))


def function_calling_steps(task: Task, setup: Setup) -> Steps:
    """One turn, or several where the calls of one's own tasks are made."""
    many_turns = task.form == "own" and setup.makes_calls
    return (yield from (conversation_steps if many_turns else single_turn_steps)(task, setup))


def opening_messages(task: Task, setup: Setup) -> Sequence[Message]:
    """The conversation so far, with FunctionChat's system message where the data set brings none."""
    has_system = bool(task.messages) and task.messages[0].get("role") == "system"
    if task.form != "functionchat" or has_system:
        return task.messages
    return (system_message(setup.prompts.fill("functionchat/system")), *task.messages)


def turn_message(turn: ReplyTurn, offer: Offer, *, own_names: bool = False) -> dict[str, Any]:
    """A turn as a message of the protocol; calls that stood in the text are its calls.

    Args:
        turn: The turn.
        offer: What was on offer.
        own_names: Write the sample's own names, not those that were sent.
    """
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.written == "text" or (turn.calls and not turn.text):
        message["content"] = None
    sent = {own: name for name, own in offer.names.items()}
    calls = [
        {
            "id": call.id or f"call_{number}",
            "type": "function",
            "function": {
                "name": call.name if own_names else sent.get(call.name, call.name),
                "arguments": call.written or "{}",
            },
        }
        for number, call in enumerate(turn.calls, 1)
    ]
    return message | ({"tool_calls": calls} if calls else {})


def label_calls(calls: Sequence[ModelCall]) -> str:
    """Calls as NESTful writes them: an argument ``label`` is the call's, others are numbered in order.

    >>> label_calls(
    ...     [ModelCall("f", {"a": 1}, ""), ModelCall("g", {"label": "$x", "b": "$var_1.result$"}, "")])
    '[{"name": "f", "label": "$var_1", "arguments": {"a": 1}}, \
{"name": "g", "label": "$x", "arguments": {"b": "$var_1.result$"}}]'
    """
    records = []
    for number, call in enumerate(calls, 1):
        arguments = dict(call.arguments) if call.arguments is not None else {"": call.written}
        label = arguments.pop("label", None)
        named = label if isinstance(label, str) and label else f"$var_{number}"
        records.append({"name": call.name, "label": named, "arguments": arguments})
    return json.dumps(records, ensure_ascii=False)


def _numbered_results(turn: ReplyTurn, contents: Sequence[Any]) -> Any:
    return enumerate(zip(turn.calls, contents, strict=True), 1)


def _result_message(call: ModelCall, content: Any, number: int) -> Message:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": call.id or f"call_{number}", "content": text}


FUNCTION_CALLING = Pipeline(
    "function-calling",
    "the endpoint's own tools",
    function_calling_steps,
    {"nestful": (), "functionchat": ("functionchat/system",), "own": ()},
    acts=True,
)
DIALOG = Pipeline(
    "dialog",
    "the next turn of a recorded conversation",
    dialog_steps,
    {"functionchat": ("functionchat/system",)},
)
STEPWISE = Pipeline(
    "stepwise",
    "a conversation in which ComplexEval answers",
    conversation_steps,
    {"complexfuncbench": ()},
    acts=True,
)
