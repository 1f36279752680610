"""One prompt with all tools: AppBench 5.2, NESTful, CallNavi's parameters, one's own tasks.

The answer is what the model wrote, unchanged but for the object that a schema puts around a list; nothing is
asked twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner_eval.dialects import get
from planner_eval.prediction import constraint
from planner_eval.prediction.listing import CALLNAVI, OWN, app_catalogue, as_json, listed
from planner_eval.prediction.notation import shown
from planner_eval.prediction.offer import catalog_of
from planner_eval.prediction.pipeline import Message, Outcome, Pipeline, Steps, ask, assistant, system, user
from planner_eval.prediction.published import as_asked, messages_of
from planner_eval.prediction.reading import planned
from planner_eval.prediction.setup import Example, Setup
from planner_eval.prediction.visible import Task

_REFERENCES = (
    "- A value that an earlier call returns is written $label.output$: $var_1.result$ is the output "
    "result of the call labelled $var_1.\n"
)


def steps(task: Task, setup: Setup) -> Steps:
    """Ask once, with all tools."""
    reply = yield from ask("plan", messages(task, setup), constraint=constraint.fields(task, setup))
    return Outcome(constraint.unwrapped(planned(reply), task, setup))


def messages(task: Task, setup: Setup) -> list[Message]:
    """The messages of the one request, by data set."""
    if task.form == "appbench":
        return appbench(task, setup, app_catalogue(task.tools))
    if task.form == "nestful":
        tools = as_json(as_json(task.tools)) if setup.official else as_json(task.tools)
        return _nestful(tools, task.query, setup)
    if task.form == "callnavi":
        return [user(callnavi("callnavi/plan", task.tools, task, setup, setup.examples))]
    catalog = catalog_of(task)
    tools = listed(catalog, setup.listing or "json", OWN)
    offered = (name for tool in catalog.tools for name in (tool.name, tool.full_name))
    notation = f"{get(setup.notation).title}\n{shown(setup.notation, offered)}"
    text = setup.prompts.fill(
        "own/plan", tools=tools, notation=notation, examples=demonstrations(setup.examples)
    )
    return [system(text.rstrip()), *task.messages]


def appbench(task: Task, setup: Setup, catalogue: str) -> list[Message]:
    """AppBench's request for calls, with some apps or all; demonstrations are turns of the talk."""
    text = setup.prompts.fill("appbench/plan", app_api_list=catalogue, today=setup.today)
    return [system(text), *as_turns(setup.examples), user(task.query)]


def as_turns(examples: Sequence[Example]) -> list[Message]:
    """Demonstrations as turns of a conversation."""
    return [message for example in examples for message in (user(example.query), assistant(example.answer))]


def callnavi(name: str, tools: object, task: Task, setup: Setup, examples: Sequence[Example] = ()) -> str:
    """A text of CallNavi's with a list of APIs, or some of them, demonstrations and the question."""
    listing = setup.listing or "json"
    return setup.prompts.fill(
        name, tools=listed(tools, listing, CALLNAVI), query=task.query, examples=demonstrations(examples)
    )


def demonstrations(examples: Sequence[Example]) -> str:
    r"""Examples as NESTful's prompts show them.

    >>> demonstrations((Example("Why?", "[]"),))
    '\n#Example-1\nInput: Why?\nOutput: []\n'
    """
    return "".join(
        f"\n#Example-{number}\nInput: {example.query}\nOutput: {example.answer}\n"
        for number, example in enumerate(examples, 1)
    )


def _nestful(tools: str, query: str, setup: Setup) -> list[Message]:
    explained = _REFERENCES if setup.explain_references else ""
    name = setup.prompts.published_for
    demos = tuple(replace(example, answer=as_asked(example.answer, name)) for example in setup.examples)
    examples = explained + demonstrations(demos)
    if name:
        text = setup.prompts.texts["nestful/plan"]
        return messages_of(text, tools=tools, examples=examples, query=query)
    text = setup.prompts.fill("nestful/plan", tools=tools, examples=examples)
    return [system(text.rstrip()), user(query)]


PIPELINE = Pipeline(
    "flat",
    "one prompt with all tools",
    steps,
    {form: (f"{form}/plan",) for form in ("appbench", "nestful", "callnavi", "own")},
)
