"""The pipelines by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.models.pipelines import agent_pipelines, direct_pipelines
from planner_eval.models.pipelines.pipeline import Pipeline

_ASKED: Mapping[str, tuple[str, ...]] = {name: entry.pipelines for name, entry in BENCHMARKS.items()}
"""The pipelines that ask benchmarks by their own rules, which bring their own texts."""

PIPELINES: Mapping[str, Pipeline] = {
    entry.name: replace(
        entry, serves={**entry.serves, **{form: () for form, names in _ASKED.items() if entry.name in names}}
    )
    for entry in (
        direct_pipelines.FLAT,
        direct_pipelines.HIERARCHICAL,
        agent_pipelines.ISOLATED,
        direct_pipelines.ROUTE,
        direct_pipelines.ROUTE_THEN_FILL,
        direct_pipelines.BACKWARD,
        direct_pipelines.FUNCTION_CALLING,
        direct_pipelines.PROMPT,
        agent_pipelines.REACT,
        direct_pipelines.STEPWISE,
        direct_pipelines.DIALOG,
    )
}
"""The pipelines."""

DEFAULT_PIPELINES: Mapping[str, str] = {
    "appbench": "hierarchical",
    "nestful": "flat",
    "callnavi": "flat",
    "complexfuncbench": "stepwise",
    "functionchat": "dialog",
    **{form: names[0] for form, names in _ASKED.items() if names},
    "own": "flat",
}
"""The pipeline of a data set where none is named: that of its paper's main table."""


def pipeline(name: str, form: str) -> Pipeline:
    """The pipeline of a name, for a data set.

    Raises:
        InputError: there is none of that name, or it cannot be asked for the data set; says which can.

    >>> pipeline("route", "callnavi").title
    'the names of the APIs alone'
    """
    if name not in PIPELINES:
        raise InputError(
            f"there is no pipeline {name!r}: {did_you_mean(name, PIPELINES, ', '.join(PIPELINES))}"
        )
    chosen = PIPELINES[name]
    if form not in chosen.serves:
        what = "tasks of your own" if form == "own" else form
        serving = [entry.name for entry in PIPELINES.values() if form in entry.serves]
        do = "does" if len(serving) == 1 else "do"
        raise InputError(f"the pipeline {name} does not serve {what}; {', '.join(serving)} {do}")
    return chosen
