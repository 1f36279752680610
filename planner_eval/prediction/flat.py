"""One prompt with all tools: AppBench 5.2, NESTful, CallNavi's parameters, one's own tasks.

The answer is what the model wrote, unchanged but for the object that a schema puts around a list; nothing is
asked twice.
"""

from __future__ import annotations

from planner_eval.dialects import get
from planner_eval.prediction import constraint
from planner_eval.prediction.listing import CALLNAVI, OWN, app_catalogue, as_json, listed
from planner_eval.prediction.offer import catalog_of
from planner_eval.prediction.pipeline import Message, Outcome, Pipeline, Steps, ask, assistant, system, user
from planner_eval.prediction.reading import said
from planner_eval.prediction.setup import Example, Setup
from planner_eval.prediction.visible import Task

_REFERENCES = (
    "- A value that an earlier call returns is written $label.output$: $var_1.result$ is the output "
    "result of the call labelled $var_1.\n"
)


def steps(task: Task, setup: Setup) -> Steps:
    """Ask once, with all tools."""
    reply = yield from ask("plan", messages(task, setup), constraint=constraint.fields(task, setup))
    return Outcome(constraint.unwrapped(said(reply), task, setup))


def messages(task: Task, setup: Setup) -> list[Message]:
    """The messages of the one request, by data set."""
    if task.form == "appbench":
        return appbench(task, setup, app_catalogue(task.tools))
    if task.form == "nestful":
        tools = as_json(as_json(task.tools)) if setup.official else as_json(task.tools)
        return [system(_nestful(tools, setup)), user(task.query)]
    if task.form == "callnavi":
        return [user(callnavi("callnavi/plan", task.tools, task, setup))]
    tools = listed(catalog_of(task), setup.listing or "json", OWN)
    notation = get(setup.dialect)
    shown = f"{notation.title}\n{notation.example}"
    text = setup.prompts.fill(
        "own/plan", tools=tools, notation=shown, examples=demonstrations(setup.examples)
    )
    return [system(text.rstrip()), *task.messages]


def appbench(task: Task, setup: Setup, catalogue: str) -> list[Message]:
    """AppBench's request for calls, with some apps or all; demonstrations are turns of the talk."""
    text = setup.prompts.fill("appbench/plan", app_api_list=catalogue, today=setup.today)
    shown = [
        message for example in setup.examples for message in (user(example.query), assistant(example.answer))
    ]
    return [system(text), *shown, user(task.query)]


def callnavi(name: str, tools: object, task: Task, setup: Setup) -> str:
    """A text of CallNavi's with a list of APIs, or some of them, and the question."""
    listing = setup.listing or "json"
    return setup.prompts.fill(name, tools=listed(tools, listing, CALLNAVI), query=task.query)


def demonstrations(examples: tuple[Example, ...]) -> str:
    r"""Examples as NESTful's prompts show them.

    >>> demonstrations((Example("Why?", "[]"),))
    '\n#Example-1\nInput: Why?\nOutput: []\n'
    """
    return "".join(
        f"\n#Example-{number}\nInput: {one.query}\nOutput: {one.answer}\n"
        for number, one in enumerate(examples, 1)
    )


def _nestful(tools: str, setup: Setup) -> str:
    explained = _REFERENCES if setup.explain_references else ""
    examples = explained + demonstrations(setup.examples)
    return setup.prompts.fill("nestful/plan", tools=tools, examples=examples).rstrip()


PIPELINE = Pipeline("flat", "one prompt with all tools", steps, ("appbench", "nestful", "callnavi", "own"))
