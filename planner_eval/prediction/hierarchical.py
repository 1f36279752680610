"""Apps first, then the APIs of these apps: AppBench 4.1.

The first stage is always asked without demonstrations. An answer that names no app is asked for again with
another seed and a temperature, for the same request would give the same answer; in the end all apps count.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.llm.replies import Reply
from planner_eval.prediction import constraint, flat
from planner_eval.prediction.listing import app_catalogue, app_lines, apps_in_order
from planner_eval.prediction.pipeline import (
    Act,
    Observed,
    Outcome,
    Pipeline,
    Request,
    Steps,
    ask,
    system,
    user,
)
from planner_eval.prediction.reading import distinct, known_names, planned, said
from planner_eval.prediction.setup import Setup
from planner_eval.prediction.visible import Task

_TRIES = 5
_WARMTH = 0.5
"""The temperature at which the first stage is asked again."""


class Apps(NamedTuple):
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


def choose(task: Task, setup: Setup) -> Generator[Request | Act, Reply | Observed, Apps]:
    """Ask which apps are needed."""
    everything = [str(app["app"]) for app in apps_in_order(task.tools)]
    messages = [system(setup.prompts.fill("appbench/apps", apps=app_lines(task.tools))), user(task.query)]
    texts: list[str] = []
    unknown: list[str] = []
    for number in range(_TRIES):
        retry_options: dict[str, Any] = {"temperature": _WARMTH, "seed": number} if number else {}
        texts.append(said((yield from ask("apps", messages, **retry_options))))
        if setup.official:
            chosen = official_apps(texts[-1], everything)
        else:
            named = known_names(texts[-1], everything)
            chosen, unknown = named.known, named.unknown
        if chosen:
            return Apps(texts, [app for app in everything if app in chosen], unknown, None)
    return Apps(texts, everything, unknown, "all_apps")


def official_apps(text: str, apps: Sequence[str]) -> list[str]:
    """The apps as the published code finds them: by substring, else by each character of the answer.

    >>> official_apps("I do not need Hotels", ["Hotels"]), official_apps("hotels", ["Hotels", "Homes", "X"])
    (['Hotels'], ['Hotels', 'Homes'])
    """
    named = [app for app in apps if app in text]
    return named or distinct(app for character in text for app in apps if character in app)


def steps(task: Task, setup: Setup) -> Steps:
    """Ask for apps, then for calls with the APIs of these."""
    first = yield from choose(task, setup)
    messages = flat.appbench(task, setup, app_catalogue(task.tools, first.apps))
    catalogue = {"apps": [app for app in apps_in_order(task.tools) if app["app"] in first.apps]}
    fields = constraint.fields(replace(task, tools=catalogue), setup)
    reply = yield from ask("plan", messages, constraint=fields)
    return Outcome(planned(reply), stages=first._asdict(), beside={"first_step_apps": first.apps})


PIPELINE = Pipeline(
    "hierarchical",
    "apps, then the APIs of these apps",
    steps,
    {"appbench": ("appbench/apps", "appbench/plan")},
)
