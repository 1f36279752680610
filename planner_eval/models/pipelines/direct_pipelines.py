"""Pipelines of plain prompts, and of the protocol's own tools, in one turn or several.

The answer is what the model wrote, unchanged but for the object that a schema puts around a list; nothing is
asked twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from planner_eval.base.text import format_count
from planner_eval.benchmarks.asking import CallTexts
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.models.pipelines.pipeline import (
    Exchange,
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
    result_messages,
    system_message,
    user_message,
)
from planner_eval.models.pipelines.replies import (
    ReplyTurn,
    distinct,
    known_names,
    plan_text,
    read_reply,
    reply_text,
)
from planner_eval.models.pipelines.setup import (
    MAX_STEPS,
    MAX_TURNS,
    Example,
    Setup,
    format_answer,
    messages_of,
    request_fields,
    unwrap_answer,
)
from planner_eval.models.pipelines.tool_lists import (
    CALLNAVI_LISTINGS,
    OWN_LISTINGS,
    Offer,
    app_catalogue,
    app_lines,
    apps_in_order,
    as_json,
    catalog_of,
    dialect_example,
    format_tools,
    offer_of,
)
from planner_eval.reading.dialects import get

# ----------------------------------------------------------------------
# One prompt with all tools: AppBench 5.2, NESTful, CallNavi's parameters, one's own tasks.
_REFERENCES = (
    "- A value that an earlier call returns is written $label.output$: $var_1.result$ is the output "
    "result of the call labelled $var_1.\n"
)


def flat_steps(task: Task, setup: Setup) -> Steps:
    """Ask once, with all tools."""
    reply = yield from ask("plan", flat_messages(task, setup), constraint=request_fields(task, setup))
    return Outcome(unwrap_answer(plan_text(reply), task, setup))


def flat_messages(task: Task, setup: Setup) -> list[Message]:
    """The messages of the one request, by data set."""
    if task.form == "appbench":
        return _appbench_messages(task, setup)
    if task.form == "nestful":
        tools = as_json(as_json(task.tools)) if setup.official else as_json(task.tools)
        return _nestful_messages(tools, task.query, setup)
    if task.form == "callnavi":
        return [user_message(callnavi_text("callnavi/plan", task.tools, task, setup, setup.examples))]
    catalog = catalog_of(task)
    tools = format_tools(catalog, setup.listing or "json", OWN_LISTINGS)
    offered = (name for tool in catalog.tools for name in (tool.name, tool.full_name))
    notation = f"{get(setup.notation).title}\n{dialect_example(setup.notation, offered)}"
    text = setup.prompts.fill(
        "own/plan", tools=tools, notation=notation, examples=format_examples(setup.examples)
    )
    return [system_message(text.rstrip()), *task.messages]


def shown_messages(text: str, examples: Sequence[Example], query: str) -> list[Message]:
    """AppBench's request: what to do, demonstrations as turns of the talk, the instruction."""
    turns = [
        message
        for example in examples
        for message in (user_message(example.query), assistant_message(example.answer))
    ]
    return [system_message(text), *turns, user_message(query)]


def _appbench_messages(task: Task, setup: Setup, apps: Sequence[str] | None = None) -> list[Message]:
    """The request for calls, with some apps or all."""
    catalogue = app_catalogue(task.tools, apps)
    text = setup.prompts.fill("appbench/plan", app_api_list=catalogue, today=setup.today)
    return shown_messages(text, setup.examples, task.query)


def callnavi_text(name: str, tools: object, task: Task, setup: Setup, examples: Sequence[Example]) -> str:
    """A text of CallNavi's with a list of APIs, or some of them, demonstrations and the question."""
    listing = setup.listing or "json"
    return setup.prompts.fill(
        name,
        tools=format_tools(tools, listing, CALLNAVI_LISTINGS),
        query=task.query,
        examples=format_examples(examples),
    )


def format_examples(examples: Sequence[Example]) -> str:
    r"""Examples as NESTful's prompts show them.

    >>> format_examples((Example("Why?", "[]"),))
    '\n#Example-1\nInput: Why?\nOutput: []\n'
    """
    return "".join(
        f"\n#Example-{number}\nInput: {example.query}\nOutput: {example.answer}\n"
        for number, example in enumerate(examples, 1)
    )


def _nestful_messages(tools: str, query: str, setup: Setup) -> list[Message]:
    explained = _REFERENCES if setup.explain_references else ""
    name = setup.prompts.published_for
    demos = tuple(replace(example, answer=format_answer(example.answer, name)) for example in setup.examples)
    examples = explained + format_examples(demos)
    if name:
        text = setup.prompts.texts["nestful/plan"]
        return messages_of(text, tools=tools, examples=examples, query=query)
    text = setup.prompts.fill("nestful/plan", tools=tools, examples=examples)
    return [system_message(text.rstrip()), user_message(query)]


FLAT = Pipeline(
    "flat",
    "one prompt with all tools",
    flat_steps,
    {form: (f"{form}/plan",) for form in ("appbench", "nestful", "callnavi", "own")},
)


# ----------------------------------------------------------------------
# Apps first, then the APIs of these apps: AppBench 4.1.
#
# The first stage is always asked without demonstrations. An answer that names no app is asked for again
# with another seed and a temperature, for the same request would give the same answer; in the end all apps
# count.
_MAX_TRIES = 5
_RETRY_TEMPERATURE = 0.5
"""The temperature at which the first stage is asked again."""


class ChosenApps(NamedTuple):
    """What the first stage came to.

    Args:
        texts: Its replies.
        apps: The apps, in the catalogue's order.
        unknown: Names that are no app's.
        fallback: ``"all_apps"`` where no reply named one.
    """

    texts: list[str]
    apps: list[str]
    unknown: list[str]
    fallback: str | None


def choose_apps(task: Task, setup: Setup) -> Exchange[ChosenApps]:
    """Ask which apps are needed."""
    everything = [str(app["app"]) for app in apps_in_order(task.tools)]
    messages = [
        system_message(setup.prompts.fill("appbench/apps", apps=app_lines(task.tools))),
        user_message(task.query),
    ]
    texts: list[str] = []
    unknown: list[str] = []
    for number in range(_MAX_TRIES):
        retry_options: dict[str, Any] = {"temperature": _RETRY_TEMPERATURE, "seed": number} if number else {}
        texts.append(reply_text((yield from ask("apps", messages, **retry_options))))
        if setup.official:
            chosen = official_apps(texts[-1], everything)
        else:
            named = known_names(texts[-1], everything)
            chosen, unknown = named.known, named.unknown
        if chosen:
            return ChosenApps(texts, [app for app in everything if app in chosen], unknown, None)
    return ChosenApps(texts, everything, unknown, "all_apps")


def official_apps(text: str, apps: Sequence[str]) -> list[str]:
    """The apps as the published code finds them: by substring, else by each character of the answer.

    >>> official_apps("I do not need Hotels", ["Hotels"]), official_apps("hotels", ["Hotels", "Homes", "X"])
    (['Hotels'], ['Hotels', 'Homes'])
    """
    named = [app for app in apps if app in text]
    return named or distinct(app for character in text for app in apps if character in app)


def hierarchical_steps(task: Task, setup: Setup) -> Steps:
    """Ask for apps, then for calls with the APIs of these."""
    first = yield from choose_apps(task, setup)
    messages = _appbench_messages(task, setup, first.apps)
    catalogue = {"apps": [app for app in apps_in_order(task.tools) if app["app"] in first.apps]}
    fields = request_fields(replace(task, tools=catalogue), setup)
    reply = yield from ask("plan", messages, constraint=fields)
    return Outcome(plan_text(reply), stages=first._asdict(), beside={"first_step_apps": first.apps})


HIERARCHICAL = Pipeline(
    "hierarchical",
    "apps, then the APIs of these apps",
    hierarchical_steps,
    {"appbench": ("appbench/apps", "appbench/plan")},
)


# ----------------------------------------------------------------------
# CallNavi's ways: names alone, names and then arguments with these functions only, the last call first.
#
# Source: paper 6.3, 7.1 and 7.2. The published ``Backward.py`` prints gold into its first prompt; here the
# question alone stands there, so its table cannot be compared.
STOP_WORD = "<!stop>"
"""What a model writes when nothing is missing any more."""


def route_steps(task: Task, setup: Setup) -> Steps:
    """Ask for the names of the APIs."""
    reply = yield from ask("route", [user_message(_route_text(task, setup))])
    return Outcome(reply_text(reply))


def route_then_fill_steps(task: Task, setup: Setup) -> Steps:
    """Ask a router for names, then for arguments with the APIs of these names."""
    messages = [user_message(_route_text(task, setup))]
    text = reply_text((yield from ask("route", messages, router=True)))
    names = known_names(text, [str(tool["name"]) for tool in task.tools])
    stages = {"route_text": text, "route": names.known, "unknown": names.unknown}
    if not names.known:
        unknown = f"; it named {', '.join(names.unknown[:5])}, which is not in the list"
        why = "the router named no API of the list" + (unknown if names.unknown else "")
        return Outcome("", stages, stop="no_route", error=Failure("no_route", why))
    by_name = {tool["name"]: tool for tool in reversed(task.tools)}
    chosen = [by_name[name] for name in distinct(names.known)]
    filling = callnavi_text("callnavi/fill", chosen, task, setup, setup.examples)
    reply = yield from ask("fill", [user_message(filling)])
    return Outcome(plan_text(reply), stages)


def backward_steps(task: Task, setup: Setup) -> Steps:
    """Ask for the last call, then for what it needs, until nothing is missing.

    The last answer that says anything counts, also where the stop word stands alone after it, or never comes;
    the published code takes what stands beside the stop word, and nothing without one.
    """
    examples = [replace(example, answer=_last_call(example.answer)) for example in setup.examples]
    messages = [user_message(callnavi_text("callnavi/backward", task.tools, task, setup, examples))]
    follow_up = setup.prompts.fill("callnavi/backward-again")
    texts = [reply_text((yield from ask("backward", messages)))]
    for _ in range(setup.rounds):
        messages += [assistant_message(texts[-1]), user_message(follow_up)]
        texts.append(reply_text((yield from ask("backward", messages))))
        if STOP_WORD in texts[-1]:
            break
    stopped = STOP_WORD in texts[-1]
    said_last = [text.replace(STOP_WORD, "").strip() for text in reversed(texts)]
    last = next(filter(None, said_last), "")
    if setup.official:
        last = said_last[0] if stopped else ""
    return Outcome(last, {"replies": texts}, "stop_word" if stopped else "max_rounds")


def _route_text(task: Task, setup: Setup) -> str:
    examples = [
        replace(example, answer=json.dumps(json.loads(example.answer)["API"])) for example in setup.examples
    ]
    return callnavi_text("callnavi/route", task.tools, task, setup, examples)


def _last_call(answer: str) -> str:
    """The last call of a demonstration's, which is what is asked for first.

    >>> _last_call('{"API": ["f", "g"], "parameters": [{}, {"a": 1}]}')
    '{"API": ["g"], "parameters": [{"a": 1}]}'
    """
    demonstration = json.loads(answer)
    return json.dumps({key: demonstration[key][-1:] for key in ("API", "parameters")}, ensure_ascii=False)


ROUTE = Pipeline("route", "the names of the APIs alone", route_steps, {"callnavi": ("callnavi/route",)})
ROUTE_THEN_FILL = Pipeline(
    "route-then-fill",
    "names, then arguments with these APIs only",
    route_then_fill_steps,
    {"callnavi": ("callnavi/route", "callnavi/fill")},
    routes=True,
)
BACKWARD = Pipeline(
    "backward",
    "the last call first, then what it needs",
    backward_steps,
    {"callnavi": ("callnavi/backward", "callnavi/backward-again")},
)


# ----------------------------------------------------------------------
# The protocol's own tools: ``tool_calls``, in one turn or several.
#
# ``function-calling`` and ``dialog`` are one turn, or several where calls are made; ``stepwise`` is
# ComplexFuncBench's conversation, in which ComplexEval answers the calls and its errors go back to the
# model.
#
# Source: FunctionChat-Bench, the conversation before each turn as published; ComplexFuncBench, Algorithm 1.
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


def recorded_dialog_steps(task: Task, setup: Setup) -> Steps:
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
    return f"the recorded conversation continues with {follows}, but {called}"


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
        texts = [content if isinstance(content, str) else as_json(content) for content in seen.contents]
        results = result_messages(output[-1], texts)
        messages += [turn_message(turn, offer), *results]
        output += results
    why = f"the model was still calling tools after {format_count(most, 'turn')}"
    return Outcome(output, {"calls_from": written}, "max_turns", Failure("max_turns", why))


def function_calling_steps(task: Task, setup: Setup) -> Steps:
    """One turn, or several where the calls of one's own tasks are made, or a benchmark has its own way."""
    if asking_of(task.form) is not None:
        return (yield from dialog_steps("function-calling", task, setup))
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
    content = None if turn.written == "text" or (turn.calls and not turn.text) else turn.text
    sent = {} if own_names else {own: name for name, own in offer.names.items()}
    calls = [call._replace(name=sent.get(call.name, call.name)) for call in turn.calls]
    return assistant_message(content, calls)


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


def dialog_steps(name: str, task: Task, setup: Setup) -> Steps:
    """Hold a benchmark's own dialog: ask what it asks, have the calls made that it wants made."""
    asking = asking_of(task.form)
    assert asking is not None, "the pipeline serves such data sets alone"
    dialog = asking.dialog(name, task.visible, task.tools, setup.steps)
    sent: Any = None
    while True:
        try:
            step = dialog.send(sent)
        except StopIteration as end:
            result = end.value
            return Outcome(result.prediction, stop=result.stop, beside=result.beside)
        if isinstance(step, CallTexts):
            sent = (yield from act([ModelCall("", None, text) for text in step.texts])).contents
        else:
            sent = yield from ask("call", step.messages, tools=step.tools)


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
    recorded_dialog_steps,
    {"functionchat": ("functionchat/system",)},
)
STEPWISE = Pipeline(
    "stepwise",
    "a conversation in which ComplexEval answers",
    conversation_steps,
    {"complexfuncbench": ()},
    acts=True,
)


PROMPT = Pipeline(
    "prompt",
    "calls in text, as the benchmark's own runner asks",
    partial(dialog_steps, "prompt"),
    {},
    acts=True,
)
