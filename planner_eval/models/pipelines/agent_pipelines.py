"""Pipelines of agents: an agent an app, thought and action; and what carries out a model's calls.

Agents with a ``?`` are asked again with the names of all results so far, until none is left, nothing changes,
or the rounds are used up. The plan is all agents' last lines, producers first.

Source: AppBench's ``meta_agent.py``, which cannot run as published; no table uses it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import PlanevalError
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.execution.program import Options
from planner_eval.execution.run import execute_plan
from planner_eval.models.pipelines.direct_pipelines import (
    choose_apps,
    label_calls,
    shown_messages,
    turn_message,
)
from planner_eval.models.pipelines.pipeline import (
    Exchange,
    Failure,
    Message,
    ModelCall,
    Observations,
    Outcome,
    Pipeline,
    Steps,
    Task,
    act,
    ask,
    assistant_message,
    result_messages,
    system_message,
    user_message,
)
from planner_eval.models.pipelines.replies import ReplyTurn, distinct, read_step, reply_text
from planner_eval.models.pipelines.setup import MAX_STEPS, Example, Setup
from planner_eval.models.pipelines.tool_lists import (
    OWN_LISTINGS,
    Offer,
    api_lines,
    as_json,
    catalog_of,
    format_tools,
)
from planner_eval.plan.model import Call, Plan, fold
from planner_eval.reading.dialects import read

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.execution.sandbox.sandbox import Sandbox


# ----------------------------------------------------------------------
# An agent an app: each sees its own APIs only and writes ``?`` for what it does not know.
_CALL_LINE = re.compile(r"\[?\s*+(?P<returned>[\w\s,]*+)=\s*+(?P<api>\w++)\s*+\((?P<given>.*)\)\s*+\]?\s*+$")
_GIVEN_NAME = re.compile(r"(?<!\w)\w++\s*+=\s*+(?P<name>[^\W\d]\w*+)\s*+(?=,|$)")
_UNKNOWN_ARGUMENT = re.compile(r"(?<!\w)(\w++)\s*+=\s*+['\"]?\?['\"]?\s*+(?=,|$)")
_QUOTED = re.compile(r"'(?!\?')[^']*+'")
_BRACKETED_RETURNS = re.compile(r"^\[([\w\s,]*+)\](?=\s*+=)")
_LINE_PREFIX = re.compile(r"^\s*+(?:[-*•]\s++|\d{1,3}[.)]\s++)?+(?:\w++\s*+:\s*+(?=\[))?+")


MAX_LINES = 200
"""Lines of one agent that are taken; gold has ten at most."""


def isolated_steps(task: Task, setup: Setup) -> Steps:
    """Ask for apps, ask each app's agent, then those again that lack a value."""
    first = yield from choose_apps(task, setup)
    lines: dict[str, list[str]] = {}
    for app in first.apps:
        lines[app] = yield from _ask_agent(task, setup, app, "agent")
    rounds = [dict(lines)]
    while len(rounds) <= setup.rounds and (
        lacking := [app for app in lines if unknown_arguments(lines[app])]
    ):
        for app in lacking:
            other_lines = (line for other, listed in lines.items() if other != app for line in listed)
            returned = ", ".join(distinct(name for line in other_lines for name in _returned_names(line)))
            retried = yield from _ask_agent(task, setup, app, "agent-again", returned_arguments=returned)
            lines[app] = retried or lines[app]
        rounds.append(dict(lines))
        if rounds[-1] == rounds[-2]:
            break
    left = {app: names for app in lines if (names := unknown_arguments(lines[app]))}
    stop = "unknown_values" if left else "answered"
    stages = {**first._asdict(), "rounds": rounds, "unknown_values": left}
    return Outcome("\n".join(plan_lines(lines)), stages, stop)


def _ask_agent(task: Task, setup: Setup, app: str, stage: str, **fields: str) -> Exchange[list[str]]:
    """Ask an app's agent; what other apps return is known once it is asked again."""
    apis = api_lines(task.tools, app)
    text = setup.prompts.fill(f"appbench/{stage}", app_api_list=apis, today=setup.today, **fields)
    examples = agent_examples(setup.examples, app, setup.shots, results_known=stage == "agent-again")
    return agent_lines(reply_text((yield from ask(stage, shown_messages(text, examples, task.query)))))


def agent_examples(
    examples: Sequence[Example], app: str, number: int, *, results_known: bool
) -> list[Example]:
    r"""The demonstrations that one app's agent is shown: of plans that use its app, its own lines alone.

    Args:
        examples: Those that there are, the closest last.
        app: The agent's.
        number: How many at most; the closest.
        results_known: Show the names of results of other apps, which the agent knows by then, not ``?``.

    >>> plan = "A: [x = f(#a='1')]\nB: [y = g(#x=x, #b='2')]"
    >>> [one.answer for one in agent_examples([Example("q", plan)], "B", 1, results_known=False)]
    ["[y = g(#x=?, #b='2')]"]
    """
    selected: list[Example] = []
    for example in reversed(examples):
        lines = example.answer.split("\n")
        own_lines = [line.removeprefix(f"{app}: ") for line in lines if line.startswith(f"{app}: ")]
        if own_lines and len(selected) < number:
            selected.append(
                replace(example, answer="\n".join(own_lines if results_known else _mark_unknown(own_lines)))
            )
    return selected[::-1]


def _mark_unknown(lines: list[str]) -> list[str]:
    """Lines of one app, with ``?`` for what other apps return."""
    known_names = {name for line in lines for name in _returned_names(line)} | {"True", "False"}

    def put(match: re.Match[str]) -> str:
        text = match[0]
        return text if match["name"] in known_names else f"{text[: text.rindex(match['name'])]}?"

    return [_GIVEN_NAME.sub(put, line) for line in lines]


def agent_lines(text: str) -> list[str]:
    r"""The lines of an agent that are calls, each in brackets; the first :data:`MAX_LINES` of them.

    >>> agent_lines("Sure:\n- App: [a = f(#b=?)]\nc = g()\n[d, e] = h()")
    ['[a = f(#b=?)]', '[c = g()]', '[d, e = h()]']
    """
    bare = (_LINE_PREFIX.sub("", line).strip().strip("`") for line in text.splitlines())
    bare = (_BRACKETED_RETURNS.sub(r"\1", line) for line in bare)
    return list(islice((f"[{line.strip('[] ')}]" for line in bare if _CALL_LINE.match(line)), MAX_LINES))


def unknown_arguments(lines: list[str]) -> list[str]:
    """The arguments that stand as ``?``.

    >>> unknown_arguments(["[a = f(#b=?, #c='what?')]"])
    ['b']
    """
    return [name for line in lines for name in _UNKNOWN_ARGUMENT.findall(_line_group(line, "given"))]


def plan_lines(lines: Mapping[str, list[str]]) -> list[str]:
    """All lines with their apps, each after those whose results it uses, as far as that can be.

    >>> plan_lines({"A": ["[x = f(#y=z)]"], "B": ["[z = g()]"]})
    ['B: [z = g()]', 'A: [x = f(#y=z)]']
    """
    left = [
        (f"{app}: {line}", _returned_names(line), set(_GIVEN_NAME.findall(_line_group(line, "given"))))
        for app, listed in lines.items()
        for line in listed
    ]
    returned = Counter(name for _, names, _ in left for name in names)
    placed: list[str] = []
    while left:
        # A line waits for a name that a line not yet placed returns, unless only itself does.
        ready = (
            index
            for index, (_, names, used) in enumerate(left)
            if not any(returned[name] > names.count(name) for name in used)
        )
        text, names, _ = left.pop(next(ready, 0))
        returned.subtract(names)
        placed.append(text)
    return placed


def _returned_names(line: str) -> list[str]:
    return [name.strip() for name in _line_group(line, "returned").split(",") if name.strip()]


def _line_group(line: str, name: str) -> str:
    match = _CALL_LINE.match(line)
    return _QUOTED.sub("''", match[name]) if match else ""


ISOLATED = Pipeline(
    "isolated",
    "one agent per app, which sees only its own APIs",
    isolated_steps,
    {"appbench": ("appbench/apps", "appbench/agent", "appbench/agent-again")},
)


# ----------------------------------------------------------------------
# Thought, action, observation: NESTful 4.4.
#
# The calls that were made are the answer, written with the values that they were given; the final answer
# that the model states is kept apart, for models replace tools by what they know.
_STOP_SEQUENCES = ("\nObservation:",)
_UNREADABLE_MESSAGE = (
    "That is neither a call nor a final answer. Write an Action with its Action Input, or a Final Answer."
)


def react_steps(task: Task, setup: Setup) -> Steps:
    """Ask step by step, show what each call came to, until an answer is stated or the steps are used up."""
    names = {tool.full_name: tool.full_name for tool in catalog_of(task).tools}
    if task.form == "nestful":
        text = setup.prompts.fill("nestful/react", tools=as_json(task.tools))
    else:
        tools = format_tools(catalog_of(task), setup.listing or "json", OWN_LISTINGS)
        text = setup.prompts.fill("own/react", tools=tools)
    shown_before = [message for example in setup.examples for message in _example_messages(example)]
    messages: list[Message] = [system_message(text), *shown_before, *task.messages]
    made_calls: list[ModelCall] = []
    step_records: list[dict[str, Any]] = []
    for _ in range(setup.steps or MAX_STEPS):
        reply = yield from ask("step", messages, stop=list(_STOP_SEQUENCES))
        step = read_step(reply, names)
        if not step.calls:
            step_records.append({"text": step.text})
            if step.final is not None:
                return _outcome(task, made_calls, step_records, "final_answer", step.final)
            messages += [assistant_message(step.text), user_message(_UNREADABLE_MESSAGE)]
            continue
        seen = yield from act(step.calls)
        made_calls += step.calls
        if seen.over:
            return _outcome(task, made_calls, [*step_records, {"text": step.text}], "over", None)
        step_records += _step_data(step, seen.contents)
        messages += _step_messages(step, seen.contents, names)
    return _outcome(task, made_calls, step_records, "max_steps", None)


def _example_messages(example: Example) -> list[Message]:
    r"""A demonstration as the talk that it would have been.

    >>> made = '[{"name": "f", "arguments": {}, "saw": 3}]'
    >>> [message["content"] for message in _example_messages(Example("Why?", made))][1:3]
    ['Thought: I need f.\nAction: f\nAction Input: {}', 'Observation: 3']
    """
    talk = [user_message(example.query)]
    calls = json.loads(example.answer)
    for call in calls:
        arguments = as_json(call["arguments"])
        talk.append(
            assistant_message(
                f"Thought: I need {call['name']}.\nAction: {call['name']}\nAction Input: {arguments}"
            )
        )
        talk.append(user_message(f"Observation: {as_json(call['saw'])}"))
    answer = calls[-1]["saw"]
    final = answer if isinstance(answer, str) else as_json(answer)
    return [*talk, assistant_message(f"Thought: This is what was asked for.\nFinal Answer: {final}")]


def _step_data(step: ReplyTurn, contents: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "text": step.text if not number else "",
            "name": call.name,
            "arguments": call.written,
            "saw": content,
        }
        for number, (call, content) in enumerate(zip(step.calls, contents, strict=True))
    ]


def _step_messages(step: ReplyTurn, contents: Sequence[Any], names: dict[str, str]) -> list[Message]:
    """The step and its observations as messages, in the form in which the model wrote the step."""
    seen = [as_json(content) for content in contents]
    if step.written == "tool_calls":
        turn = turn_message(step, Offer((), names))
        return [turn, *result_messages(turn, seen)]
    return [assistant_message(step.text), user_message("\n".join(f"Observation: {text}" for text in seen))]


def _outcome(
    task: Task, made_calls: Sequence[ModelCall], step_records: Sequence[Any], stop: str, final: str | None
) -> Outcome:
    error = None
    if stop == "max_steps":
        error = Failure("max_steps", f"no final answer was stated in {len(step_records)} steps")
    calls = [
        {"name": call.name, "arguments": call.written if call.arguments is None else dict(call.arguments)}
        for call in made_calls
    ]
    prediction = label_calls(made_calls) if task.form == "nestful" else as_json(calls)
    return Outcome(prediction, {"steps": list(step_records), "final_answer": final}, stop, error)


REACT = Pipeline(
    "react",
    "thought, action, observation",
    react_steps,
    {"nestful": ("nestful/react",), "own": ("own/react",)},
    acts=True,
)


# ----------------------------------------------------------------------
# What makes a model's calls: tools in a sandbox, or ComplexEval with the recorded answers.
#
# Only here a sample's gold may be looked at, by ComplexEval: it decides whether a call is accepted, and
# answers it with what was recorded. What it says of a call that it does not accept says nothing of gold.
CallRunner: TypeAlias = Callable[[Sequence[ModelCall]], Observations]
"""Makes the calls of one sample, turn after turn."""

_MAX_NAMES = 50
"""Tools that a model is told of which named another."""

_MAX_OUTPUT_CHARS = 20_000
"""Characters of a text that an observation shows; what is longer is cut, and says so."""


def tool_runner(box: Sandbox, offered: Collection[str] | None) -> CallRunner:
    """Calls made with tools; those before are made again where the tools remember what was done.

    Args:
        box: Where the tools run; it is left open, and used by one caller at a time.
        offered: The tools that may be called; None for all that there are.

    >>> from planner_eval.execution import Sandbox, tool_source
    >>> with Sandbox(tool_source("nestful"), level="inline") as box:
    ...     make = tool_runner(box, ["add"])
    ...     make([ModelCall("add", {"arg_0": 1, "arg_1": 2}, ""), ModelCall("sqrt", {}, "")]).contents
    (3, {'error': "there is no tool 'sqrt'; the tools are add"})
    """
    before: list[ModelCall] = []

    def make(calls: Sequence[ModelCall]) -> Observations:
        refused = [_refusal(call, offered) for call in calls]
        sound = [call for call, why in zip(calls, refused, strict=True) if why is None]
        history = list(before) if box.source.stateful else []
        plan = Plan(
            tuple(
                Call(f"call_{number}", call.name, tuple((call.arguments or {}).items()))
                for number, call in enumerate([*history, *sound])
            )
        )
        rows = iter(execute_plan(plan, box).calls[len(history) :]) if sound else iter(())
        before.extend(sound)
        return Observations(
            tuple({"error": why} if why is not None else _call_output(next(rows)) for why in refused)
        )

    return make


def run_example(answer: str, box: Sandbox) -> str | None:
    """A demonstration's plan with what its calls came to, as JSON; None where one of them fails.

    Args:
        answer: The plan, in any notation.
        box: Where the tools run.

    >>> from planner_eval.execution import Sandbox, tool_source
    >>> plan = '[{"name": "add", "label": "$x", "arguments": {"arg_0": 1, "arg_1": 2}}]'
    >>> with Sandbox(tool_source("nestful"), level="inline") as box:
    ...     run_example(plan, box)
    '[{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}, "saw": 3}]'
    """
    try:
        trace = execute_plan(read.parse(answer), box, options=Options(arguments=True))
    except PlanevalError:
        return None
    if not trace.ok or not trace.calls:
        return None
    records = [
        {
            "name": call.tool,
            "arguments": _json_data(dict(call.arguments or ())),
            "saw": _json_data(call.value),
        }
        for call in trace.calls
    ]
    return json.dumps(records, ensure_ascii=False)


def _refusal(called: ModelCall, offered: Collection[str] | None) -> str | None:
    """Why a call is not made; None where it is."""
    if offered is not None and called.name not in offered:
        names = list(offered)
        named = ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
        return f"there is no tool {called.name[:80]!r}; the tools are {named}"
    return "the arguments are no JSON object" if called.arguments is None else None


def _call_output(row: Any) -> Any:
    if row.error is None:
        return _json_data(row.value)
    return {"error": _shorten(f"{row.error.kind}: {row.error.message}")}


def _json_data(value: Any) -> Any:
    """A value as JSON data."""
    return fold(value, _json_leaf, fields=lambda items: {str(key): item for key, item in items.items()})


def _json_leaf(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _shorten(str(value))


def _shorten(text: str) -> str:
    return (
        text if len(text) <= _MAX_OUTPUT_CHARS else f"{text[:_MAX_OUTPUT_CHARS]}… ({len(text):,} characters)"
    )


def simulated_api(sample: Sample, *, runner: str) -> CallRunner:
    """ComplexEval as the API: it answers accepted calls with what was recorded.

    Args:
        sample: One of ComplexFuncBench's.
        runner: The published runner to follow: ``"gpt"`` as the code of most models; ``"glm"`` gives a call
            of an unknown tool a message, as the paper has it.

    Raises:
        InputError: the sample's record is not a ComplexFuncBench conversation.
    """
    from planner_eval.benchmarks.complexfuncbench.conversation import (
        RUNNERS,
        UndecodableCall,
        answer_turn,
        start,
    )
    from planner_eval.benchmarks.complexfuncbench.data import OfficialFailure
    from planner_eval.benchmarks.complexfuncbench.turn import DEFAULT_SETTINGS, prepare

    prepared = prepare(sample, DEFAULT_SETTINGS)
    state = start(prepared.steps, prepared.rules, RUNNERS[runner])

    def make(calls: Sequence[ModelCall]) -> Observations:
        nonlocal state
        turn = [
            UndecodableCall(call.name, call.written)
            if call.arguments is None
            else {"name": call.name, "arguments": call.arguments}
            for call in calls
        ]
        try:
            state = answer_turn(state, turn)
        except OfficialFailure:
            return Observations(over=True)
        return Observations(over=True) if state.message is not None else Observations(state.replies)

    return make


def benchmark_caller(sample: Sample, form: str, box: Sandbox) -> CallRunner:
    """Makes the calls of a sample as its benchmark does.

    Args:
        sample: The sample.
        form: Its benchmark.
        box: Where the tools run; used by one caller at a time.
    """
    asking = asking_of(form)
    assert asking is not None, "only such a benchmark has calls of its own"
    call = asking.caller(sample, box)
    return lambda calls: Observations(tuple(call([made.written for made in calls])))
