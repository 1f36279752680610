"""Thought, action, observation: NESTful 4.4.

The calls that were made are the answer, written with the values that they were given; the final answer that
the model states is kept apart, for models replace tools by what they know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from planner_eval.prediction.calling import labelled, message_of
from planner_eval.prediction.listing import OWN, as_json, listed
from planner_eval.prediction.offer import Offer, catalog_of
from planner_eval.prediction.pipeline import (
    Called,
    Failure,
    Message,
    Outcome,
    Pipeline,
    Steps,
    act,
    ask,
    assistant,
    system,
    user,
)
from planner_eval.prediction.reading import Said, Step, read_step
from planner_eval.prediction.setup import STEPS, Example, Setup
from planner_eval.prediction.visible import Task

_STOP = ("\nObservation:",)
_UNREADABLE = (
    "That is neither a call nor a final answer. Write an Action with its Action Input, or a Final Answer."
)


def steps(task: Task, setup: Setup) -> Steps:
    """Ask step by step, show what each call came to, until an answer is stated or the steps are used up."""
    names = {tool.full_name: tool.full_name for tool in catalog_of(task).tools}
    shown_before = [message for example in setup.examples for message in _as_talk(example)]
    messages: list[Message] = [system(_text(task, setup)), *shown_before, *task.messages]
    made_calls: list[Called] = []
    step_records: list[dict[str, Any]] = []
    for _ in range(setup.steps or STEPS):
        reply = yield from ask("step", messages, stop=list(_STOP))
        step = read_step(reply, names)
        if not step.calls:
            step_records.append({"text": step.text})
            if step.final is not None:
                return _outcome(task, made_calls, step_records, "final_answer", step.final)
            messages += [assistant(step.text), user(_UNREADABLE)]
            continue
        seen = yield from act(step.calls)
        made_calls += step.calls
        if seen.over:
            return _outcome(task, made_calls, [*step_records, {"text": step.text}], "over", None)
        step_records += _shown(step, seen.contents)
        messages += _exchange(step, seen.contents, names)
    return _outcome(task, made_calls, step_records, "max_steps", None)


def _as_talk(example: Example) -> list[Message]:
    r"""A demonstration as the talk that it would have been.

    >>> made = '[{"name": "f", "arguments": {}, "saw": 3}]'
    >>> [message["content"] for message in _as_talk(Example("Why?", made))][1:3]
    ['Thought: I need f.\nAction: f\nAction Input: {}', 'Observation: 3']
    """
    talk = [user(example.query)]
    calls = json.loads(example.answer)
    for call in calls:
        arguments = as_json(call["arguments"])
        talk.append(
            assistant(f"Thought: I need {call['name']}.\nAction: {call['name']}\nAction Input: {arguments}")
        )
        talk.append(user(f"Observation: {as_json(call['saw'])}"))
    answer = calls[-1]["saw"]
    final = answer if isinstance(answer, str) else as_json(answer)
    return [*talk, assistant(f"Thought: This is what was asked for.\nFinal Answer: {final}")]


def _text(task: Task, setup: Setup) -> str:
    if task.form == "nestful":
        return setup.prompts.fill("nestful/react", tools=as_json(task.tools))
    tools = listed(catalog_of(task), setup.listing or "json", OWN)
    return setup.prompts.fill("own/react", tools=tools)


def _shown(step: Step, contents: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "text": step.text if not number else "",
            "name": call.name,
            "arguments": call.written,
            "saw": content,
        }
        for number, (call, content) in enumerate(zip(step.calls, contents, strict=True))
    ]


def _exchange(step: Step, contents: Sequence[Any], names: dict[str, str]) -> list[Message]:
    """The step and its observations as messages, in the form in which the model wrote the step."""
    seen = [as_json(content) for content in contents]
    if step.written == "tool_calls":
        turn = message_of(Said(step.calls, step.text, step.written), Offer((), names))
        ids = [call["id"] for call in turn["tool_calls"]]
        results = [
            {"role": "tool", "tool_call_id": id_, "content": text}
            for id_, text in zip(ids, seen, strict=True)
        ]
        return [turn, *results]
    return [assistant(step.text), user("\n".join(f"Observation: {text}" for text in seen))]


def _outcome(
    task: Task, made_calls: Sequence[Called], step_records: Sequence[Any], stop: str, final: str | None
) -> Outcome:
    error = None
    if stop == "max_steps":
        error = Failure("max_steps", f"no final answer was stated in {len(step_records)} steps")
    calls = labelled(made_calls) if task.form == "nestful" else _plain(made_calls)
    return Outcome(calls, {"steps": list(step_records), "final_answer": final}, stop, error)


def _plain(made_calls: Sequence[Called]) -> str:
    calls = [
        {"name": call.name, "arguments": call.written if call.arguments is None else dict(call.arguments)}
        for call in made_calls
    ]
    return json.dumps(calls, ensure_ascii=False)


PIPELINE = Pipeline(
    "react",
    "thought, action, observation",
    steps,
    {"nestful": ("nestful/react",), "own": ("own/react",)},
    acts=True,
)
