"""CallNavi's ways: names alone, names and then arguments with these functions only, the last call first.

Source: paper 6.3, 7.1 and 7.2. The published ``Backward.py`` prints gold into its first prompt; here the
question alone stands there, so its table cannot be compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from planner_eval.prediction import flat
from planner_eval.prediction.pipeline import Failure, Outcome, Pipeline, Steps, ask, assistant, user
from planner_eval.prediction.reading import Names, distinct, known_names, planned, said
from planner_eval.prediction.setup import Setup
from planner_eval.prediction.visible import Task

STOP = "<!stop>"
"""What a model writes when nothing is missing any more."""


def route(task: Task, setup: Setup) -> Steps:
    """Ask for the names of the APIs."""
    reply = yield from ask("route", [user(_asking_for_names(task, setup))])
    return Outcome(said(reply))


def route_then_fill(task: Task, setup: Setup) -> Steps:
    """Ask a router for names, then for arguments with the APIs of these names."""
    messages = [user(_asking_for_names(task, setup))]
    text = said((yield from ask("route", messages, router=True)))
    names = known_names(text, [str(tool["name"]) for tool in task.tools])
    stages = {"route_text": text, "route": names.known, "unknown": names.unknown}
    if not names.known:
        return Outcome("", stages, stop="no_route", error=Failure("no_route", _without_route(names)))
    chosen = _chosen(task.tools, names.known)
    filling = flat.callnavi("callnavi/fill", chosen, task, setup, setup.examples)
    reply = yield from ask("fill", [user(filling)])
    return Outcome(planned(reply), stages)


def backward(task: Task, setup: Setup) -> Steps:
    """Ask for the last call, then for what it needs, until nothing is missing.

    The last answer that says anything counts, also where the stop word stands alone after it, or never comes;
    the published code takes what stands beside the stop word, and nothing without one.
    """
    examples = [replace(example, answer=_last(example.answer)) for example in setup.examples]
    messages = [user(flat.callnavi("callnavi/backward", task.tools, task, setup, examples))]
    follow_up = setup.prompts.fill("callnavi/backward-again")
    texts = [said((yield from ask("backward", messages)))]
    for _ in range(setup.rounds):
        messages += [assistant(texts[-1]), user(follow_up)]
        texts.append(said((yield from ask("backward", messages))))
        if STOP in texts[-1]:
            break
    stopped = STOP in texts[-1]
    said_last = [text.replace(STOP, "").strip() for text in reversed(texts)]
    last = next(filter(None, said_last), "")
    if setup.official:
        last = said_last[0] if stopped else ""
    return Outcome(last, {"replies": texts}, "stop_word" if stopped else "max_rounds")


def _asking_for_names(task: Task, setup: Setup) -> str:
    examples = [
        replace(example, answer=json.dumps(json.loads(example.answer)["API"])) for example in setup.examples
    ]
    return flat.callnavi("callnavi/route", task.tools, task, setup, examples)


def _last(answer: str) -> str:
    """The last call of a demonstration's, which is what is asked for first.

    >>> _last('{"API": ["f", "g"], "parameters": [{}, {"a": 1}]}')
    '{"API": ["g"], "parameters": [{"a": 1}]}'
    """
    demonstration = json.loads(answer)
    return json.dumps({key: demonstration[key][-1:] for key in ("API", "parameters")}, ensure_ascii=False)


def _without_route(names: Names) -> str:
    unknown = (
        f"; it named {', '.join(names.unknown[:5])}, which the list does not hold" if names.unknown else ""
    )
    return f"the router named no API of the list{unknown}"


def _chosen(tools: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The APIs of these names, each once, in the router's order."""
    by_name = {tool["name"]: tool for tool in reversed(tools)}
    return [by_name[name] for name in distinct(names)]


ROUTE = Pipeline("route", "the names of the APIs alone", route, {"callnavi": ("callnavi/route",)})
ROUTE_THEN_FILL = Pipeline(
    "route-then-fill",
    "names, then arguments with these APIs only",
    route_then_fill,
    {"callnavi": ("callnavi/route", "callnavi/fill")},
    routes=True,
)
BACKWARD = Pipeline(
    "backward",
    "the last call first, then what it needs",
    backward,
    {"callnavi": ("callnavi/backward", "callnavi/backward-again")},
)
