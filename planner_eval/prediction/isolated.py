"""An agent an app: each sees its own APIs only and writes ``?`` for what it does not know.

Agents with a ``?`` are asked again with the names of all results so far, until none is left, nothing changes,
or the rounds are used up. The plan is all agents' last lines, producers first.

Source: AppBench's ``meta_agent.py``, which cannot run as published; no table uses it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from planner_eval.prediction.flat import as_turns
from planner_eval.prediction.hierarchical import choose
from planner_eval.prediction.listing import api_lines
from planner_eval.prediction.pipeline import Outcome, Pipeline, Steps, ask, system, user
from planner_eval.prediction.reading import distinct, said
from planner_eval.prediction.setup import Example, Setup
from planner_eval.prediction.visible import Task

_LINE = re.compile(r"\[?\s*+(?P<returned>[\w\s,]*+)=\s*+(?P<api>\w++)\s*+\((?P<given>.*)\)\s*+\]?\s*+$")
_GIVEN = re.compile(r"(?<!\w)\w++\s*+=\s*+(?P<name>[^\W\d]\w*+)\s*+(?=,|$)")
_UNKNOWN = re.compile(r"(?<!\w)(\w++)\s*+=\s*+['\"]?\?['\"]?\s*+(?=,|$)")
_QUOTED = re.compile(r"'(?!\?')[^']*+'")
_BRACKETED = re.compile(r"^\[([\w\s,]*+)\](?=\s*+=)")
_BEFORE = re.compile(r"^\s*+(?:[-*•]\s++|\d{1,3}[.)]\s++)?+(?:\w++\s*+:\s*+(?=\[))?+")


MOST_LINES = 200
"""Lines of one agent that are taken; gold has ten at most."""


def steps(task: Task, setup: Setup) -> Steps:
    """Ask for apps, ask each app's agent, then those again that lack a value."""
    first = yield from choose(task, setup)
    lines: dict[str, list[str]] = {}
    for app in first.apps:
        text = setup.prompts.fill(
            "appbench/agent", app_api_list=api_lines(task.tools, app), today=setup.today
        )
        demonstrations = as_turns(of_agent(setup.examples, app, setup.shots))
        lines[app] = lines_of(
            said((yield from ask("agent", [system(text), *demonstrations, user(task.query)])))
        )
    rounds = [dict(lines)]
    while len(rounds) <= setup.rounds and (lacking := [app for app in lines if unknown_of(lines[app])]):
        for app in lacking:
            text = setup.prompts.fill(
                "appbench/agent-again",
                app_api_list=api_lines(task.tools, app),
                returned_arguments=", ".join(_returned(lines, app)),
                today=setup.today,
            )
            demonstrations = as_turns(of_agent(setup.examples, app, setup.shots, results_known=True))
            reply = yield from ask("agent-again", [system(text), *demonstrations, user(task.query)])
            lines[app] = lines_of(said(reply)) or lines[app]
        rounds.append(dict(lines))
        if rounds[-1] == rounds[-2]:
            break
    left = {app: names for app in lines if (names := unknown_of(lines[app]))}
    stop = "unknown_values" if left else "answered"
    stages = {**first._asdict(), "rounds": rounds, "unknown_values": left}
    return Outcome("\n".join(plan_lines(lines)), stages, stop)


def of_agent(
    examples: Sequence[Example], app: str, number: int, *, results_known: bool = False
) -> list[Example]:
    r"""The demonstrations that one app's agent is shown: of plans that use its app, its own lines alone.

    Args:
        examples: Those that there are, the closest last.
        app: The agent's.
        number: How many at most; the closest.
        results_known: Show the names of results of other apps, which the agent knows by then, not ``?``.

    >>> plan = "A: [x = f(#a='1')]\nB: [y = g(#x=x, #b='2')]"
    >>> [one.answer for one in of_agent([Example("q", plan)], "B", 1)]
    ["[y = g(#x=?, #b='2')]"]
    """
    selected: list[Example] = []
    for example in reversed(examples):
        lines = example.answer.split("\n")
        own_lines = [line.removeprefix(f"{app}: ") for line in lines if line.startswith(f"{app}: ")]
        if own_lines and len(selected) < number:
            selected.append(
                replace(example, answer="\n".join(own_lines if results_known else _as_known(own_lines)))
            )
    return selected[::-1]


def _as_known(lines: list[str]) -> list[str]:
    """Lines of one app, with ``?`` for what other apps return."""
    known_names = {name for line in lines for name in _names(line)} | {"True", "False"}

    def put(match: re.Match[str]) -> str:
        text = match[0]
        return text if match["name"] in known_names else f"{text[: text.rindex(match['name'])]}?"

    return [_GIVEN.sub(put, line) for line in lines]


def lines_of(text: str) -> list[str]:
    r"""The lines of an agent that are calls, each in brackets; the first :data:`MOST_LINES` of them.

    >>> lines_of("Sure:\n- App: [a = f(#b=?)]\nc = g()\n[d, e] = h()")
    ['[a = f(#b=?)]', '[c = g()]', '[d, e = h()]']
    """
    bare = (_BEFORE.sub("", line).strip().strip("`") for line in text.splitlines())
    bare = (_BRACKETED.sub(r"\1", line) for line in bare)
    return list(islice((f"[{line.strip('[] ')}]" for line in bare if _LINE.match(line)), MOST_LINES))


def unknown_of(lines: list[str]) -> list[str]:
    """The arguments that stand as ``?``.

    >>> unknown_of(["[a = f(#b=?, #c='what?')]"])
    ['b']
    """
    return [name for line in lines for name in _UNKNOWN.findall(_part(line, "given"))]


def plan_lines(lines: Mapping[str, list[str]]) -> list[str]:
    """All lines with their apps, each after those whose results it uses, as far as that can be.

    >>> plan_lines({"A": ["[x = f(#y=z)]"], "B": ["[z = g()]"]})
    ['B: [z = g()]', 'A: [x = f(#y=z)]']
    """
    left = [
        (f"{app}: {line}", _names(line), set(_GIVEN.findall(_part(line, "given"))))
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


def _names(line: str) -> list[str]:
    return [name.strip() for name in _part(line, "returned").split(",") if name.strip()]


def _part(line: str, name: str) -> str:
    match = _LINE.match(line)
    return _QUOTED.sub("''", match[name]) if match else ""


def _returned(lines: Mapping[str, list[str]], asking_app: str) -> list[str]:
    """The names that the other apps' calls return."""
    return distinct(
        n for app, listed in lines.items() if app != asking_app for line in listed for n in _names(line)
    )


PIPELINE = Pipeline(
    "isolated",
    "an agent an app, which sees its own APIs only",
    steps,
    {"appbench": ("appbench/apps", "appbench/agent", "appbench/agent-again")},
)
