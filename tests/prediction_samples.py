"""Samples of every data set for tests of pipelines, ours or published ones; models that follow a script."""

import random
import string
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.models.pipelines.pipeline import (
    OWN_TASKS,
    CallRequest,
    Observations,
    Request,
    Steps,
    Task,
    visible_task,
)
from planner_eval.models.pipelines.registry import PIPELINES
from planner_eval.models.replies import Reply
from tests import bfcl_package
from tests.conftest import tables

TABLES = tables(__file__)

CATALOG: dict[str, tuple[str, dict[str, str]]] = TABLES["CATALOG"]
"""The apps of our own AppBench samples: what they are, and of each API what it needs / takes / returns."""


def appbench_catalogue() -> dict[str, Any]:
    kinds, apps = ("required_arguments", "optional_arguments", "returned_arguments"), []
    for app, (description, apis) in CATALOG.items():
        listed: list[Any] = []
        for name, signature in apis.items():
            moves = name in ("ride", "borrow")
            api = {"name": name, "description": f"what {name} does", "is_transactional": moves}
            for kind, names in zip(kinds, signature.split("/"), strict=True):
                each = [{"name": n, "type": "str", "description": f"the {n}"} for n in names.split()]
                api |= {kind: each}
            listed.append(api)
        apps.append({"app": app, "description": description, "apis": listed})
    return {"apps": apps}


BFCL_CATEGORIES = ("simple_python", "simple_javascript", "multi_turn_miss_func", "simple_java")

OWN_TOOLS = TABLES["OWN_TOOLS"]


def own_samples(form: str) -> list[Sample]:
    """The bundled samples of a benchmark, or tasks of your own."""
    if form == OWN_TASKS:
        asks = ["What is a euro worth?", "Roll, then roll again.", "Guten Tag „Ä“ {tools}"]
        golds = [[{"name": "get_rate", "arguments": {"cur": "EUR"}}], [], "f()"]
        return [Sample(f"own-{n}", q, OWN_TOOLS, g) for n, (q, g) in enumerate(zip(asks, golds, strict=True))]
    if form == "bfcl":
        samples = list(BENCHMARKS[form].read(bfcl_package.package()))
        return [next(s for s in samples if s.category == name) for name in BFCL_CATEGORIES]
    found = list(BENCHMARKS[form].read(folder("data") / "samples" / form))
    return [replace(s, tools=appbench_catalogue()) for s in found] if form == "appbench" else found


FORMS = [(name, form) for name, one in PIPELINES.items() for form in one.serves]
"""Every pipeline with every data set that it serves."""


def task_of(sample: Sample, form: str) -> Task:
    return visible_task(sample, form)


def without_gold(sample: Sample, form: str, seed: int = 0) -> Sample:
    """The sample with all that may not be seen replaced by random words and numbers of the same shape."""
    draw = random.Random(f"{sample.id} {seed}")
    kept = {"messages"} if form in ("functionchat", OWN_TASKS) else {"visible"} if form == "bfcl" else set()
    extra = {key: value if key in kept else scrambled(value, draw) for key, value in sample.extra.items()}
    return Sample(
        scrambled(sample.id, draw), sample.query, sample.tools, scrambled(sample.gold, draw),
        scrambled(sample.dialect, draw), scrambled(sample.category, draw), extra,
    )  # fmt: skip


def scrambled(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return draw.random() < 0.5
    if isinstance(value, (int, float)):
        return type(value)(draw.randrange(10**6))
    if isinstance(value, str):
        return "".join(draw.choices(string.ascii_letters, k=12))
    if isinstance(value, dict):
        return {scrambled(str(key), draw): scrambled(item, draw) for key, item in value.items()}
    return [scrambled(item, draw) for item in value] if isinstance(value, (list, tuple)) else value


Script = Callable[[Request, int], Reply]
Answering = Callable[[CallRequest, int], Observations]


def observed(act: CallRequest, number: int) -> Observations:
    if any(not call.name for call in act.calls):  # a benchmark's own call returns a text
        return Observations(tuple(f"seen {number}.{n}" for n, _ in enumerate(act.calls)))
    return Observations(tuple({"seen": f"{number}.{n}"} for n, _ in enumerate(act.calls)))


def through(steps: Steps, script: Script, answering: Answering = observed) -> Any:
    requests: list[Request] = []
    acts: list[CallRequest] = []
    sent: Any = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return requests, acts, end.value
        if isinstance(step, Request):
            requests.append(step)
            sent = script(step, len(requests) - 1)
        else:
            acts.append(step)
            sent = answering(step, len(acts) - 1)


def listed(*texts: str | Reply) -> Script:
    replies = [Reply(text) if isinstance(text, str) else text for text in texts]
    return lambda request, number: replies[min(number, len(replies) - 1)]


def tool_names(task: Task) -> Iterator[str]:
    from planner_eval.models.pipelines.tool_lists import catalog_of

    yield from (tool.full_name for tool in catalog_of(task).tools)
