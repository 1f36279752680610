"""The tools on offer: gold's always, and others beside them; the same for every model.

Here gold is looked at, for which tools have to be there; the order says nothing of which these are.
Of AppBench an app is one tool: its APIs are offered together, and all apps in the published order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.models.pipelines.demonstrations import (
    list_shortfalls,
    own_gold_plans,
    word_overlap,
    word_set,
)
from planner_eval.models.pipelines.pipeline import OWN_TASKS, read_tools
from planner_eval.models.pipelines.tool_lists import app_catalogue, apps_in_order, functions_data

DISTRACTORS_MARK = "tools: gold+distractors"
"""The mark of a run whose tools were chosen so."""


_BYTES_PER_TOKEN = 3
"""Bytes that are counted as a token: JSON has more for each, so that what is counted to fit does."""


class ToolChoice(NamedTuple):
    """Which tools are on offer.

    Args:
        number: How many beside gold's; None for all of the sample's own that fit.
        closeness: Which other tools come first: ``"random"``, ``"close"`` or ``"same-signature"``.
        budget: The most tokens of question and tools; None for any number.
        seed: Where random choices start.
    """

    number: int | None
    closeness: str = "random"
    budget: int | None = None
    seed: int = 0


class ComparedTool(NamedTuple):
    """A tool as it is compared with others."""

    tool: Any
    name: str
    words: frozenset[str]
    signature: frozenset[str]
    size: int


class OfferedTools(NamedTuple):
    """The tools on offer to a sample.

    Args:
        tools: In the form in which the sample brings its own.
        others: How many of them gold does not call.
        there: How many such tools there are.
    """

    tools: Any
    others: int
    there: int


ToolChooser = Callable[[Sample], OfferedTools]
"""Gives a sample's tools."""


def tool_chooser(
    choice: ToolChoice, form: str, samples: Sequence[Sample], *, tools: Any, source: str
) -> ToolChooser:
    """How the tools of samples are chosen, out of those of all samples.

    Args:
        choice: Which are on offer.
        form: The data set.
        samples: All of its samples.
        tools: The tools of samples that bring none.
        source: Where the samples come from; of tasks of your own, the file that holds their gold too.

    Raises:
        InputError: nothing says which tools gold calls.
    """
    golds = own_gold_tools(source) if form == OWN_TASKS else {}
    all_tools: dict[str, ComparedTool] = {}
    last: tuple[Any, list[ComparedTool]] = (None, [])

    def listing(sample: Sample) -> list[ComparedTool]:
        nonlocal last
        offered = sample.tools if tools is None else tools
        if offered is not last[0]:  # many samples share one list
            last = offered, _comparable_tools(offered, form)
        return last[1]

    for sample in samples:
        try:
            for entry in listing(sample):
                all_tools.setdefault(entry.name, entry)
        except InputError:
            continue  # the sample's own row says so

    def of(sample: Sample) -> OfferedTools:
        own = {entry.name: entry for entry in listing(sample)}
        if form == OWN_TASKS and sample.id not in golds:
            raise InputError(f"sample {sample.id!r} has no gold plan in {source}, to choose the tools by")
        gold = golds[sample.id] if form == OWN_TASKS else gold_tools(sample, form)
        needed = [entry for name, entry in own.items() if name in gold]
        pool = own if choice.number is None else all_tools | own
        candidates = _order_candidates(
            [entry for name, entry in pool.items() if name not in gold], needed, sample, choice
        )
        selected = _fit_budget(needed, candidates[: choice.number], sample, choice)
        random.Random(f"{choice.seed} {sample.query}").shuffle(selected)
        offered = _format_offer(
            [entry.tool for entry in selected], sample.tools if tools is None else tools, form
        )
        return OfferedTools(offered, len(selected) - len(needed), len(candidates))

    return of


def too_few_tools_message(choice: ToolChoice, offers: Mapping[str, OfferedTools]) -> str | None:
    """Says which samples get fewer other tools than are asked for; None where none does.

    Args:
        choice: What is asked for.
        offers: What each sample gets, by its id.

    >>> too_few_tools_message(ToolChoice(5), {"a": OfferedTools([], 5, 9), "b": OfferedTools([], 2, 2)})
    '--run distractors=5: 1 of 2 samples gets fewer, of all other tools: b 2 of 2'
    """
    short = {name: offer for name, offer in offers.items() if offer.others < (choice.number or 0)}
    if not short:
        return None
    listed = (
        f"{name} {offer.others} of {offer.there}"
        + (f" for --run budget={choice.budget}" if offer.others < offer.there else "")
        for name, offer in short.items()
    )
    named = list_shortfalls(listed, [offer.others for offer in short.values()], " samples")
    who = f"{len(short):,} of {format_count(len(offers), 'sample')} get{'s' * (len(short) == 1)} fewer"
    return f"--run distractors={choice.number}: {who}, of all other tools: {named}"


def own_gold_tools(source: str) -> dict[str, frozenset[str]]:
    """The names of the tools that gold of one's own tasks calls, by the sample's id.

    Args:
        source: Their file.

    Raises:
        InputError: they come from no file, or none of them has a gold plan.
    """
    if not source:
        raise InputError(
            "distractors are chosen by gold plans, and these tasks come from no file that has them"
        )
    plans = own_gold_plans(source)
    if not plans:
        raise InputError(f"{source}: no task has a gold plan, to choose the tools by")
    return {name: frozenset(call.tool for call in plan.calls) for name, plan in plans.items()}


def estimate_tokens(text: str) -> int:
    """How many tokens a text has at most, by its bytes.

    >>> estimate_tokens("book a room")
    4
    """
    return -(-len(text.encode("utf-8", "backslashreplace")) // _BYTES_PER_TOKEN)


def gold_tools(sample: Sample, form: str) -> frozenset[str]:
    """The names of the tools that a sample's gold calls.

    >>> sorted(gold_tools(Sample("a", gold={"API": ["f", "g"]}), "callnavi"))
    ['f', 'g']
    """
    gold = sample.gold
    if form == "appbench":
        return frozenset(map(str, gold["used_app"]))
    if form == "callnavi":
        return frozenset(str(name) for name in gold["API"])
    if form == "nestful":
        return frozenset(str(call["name"]) for call in gold)
    if form == "complexfuncbench":
        return frozenset(str(call["name"]) for turn in gold for call in turn.get("function_call") or ())
    calls = gold.get("tool_calls") or [{"function": gold}]
    return frozenset(str(call["function"]["name"]) for call in calls if call["function"].get("name"))


def _comparable_tools(tools: Any, form: str) -> list[ComparedTool]:
    """What can be on offer, each by itself."""
    if form == "appbench":
        return [_compared_app(app) for app in apps_in_order(tools)]
    if form == OWN_TASKS:
        catalog = read_tools([] if tools is None else tools)
        data = functions_data(catalog)
        return [
            _compared_tool(function)._replace(tool=tool, name=tool.full_name)
            for tool, function in zip(catalog.tools, data, strict=True)
        ]
    return [_compared_tool(tool) for tool in tools or ()]


def _format_offer(chosen: list[Any], tools: Any, form: str) -> Any:
    """The chosen ones in the form in which the sample brings its tools."""
    if form == "appbench":
        return {**tools, "apps": chosen}
    if form == OWN_TASKS:
        return replace(read_tools(tools), tools=tuple(chosen))
    return chosen


def _compared_app(app: Mapping[str, Any]) -> ComparedTool:
    """An app, compared by the words of its APIs and all that they take."""
    name, apis = str(app["app"]), app.get("apis") or ()
    descriptions = (str(described.get("description")) for described in (app, *apis))
    kinds = ("required_arguments", "optional_arguments")
    arguments = (argument for api in apis for kind in kinds for argument in api.get(kind) or ())
    signature = frozenset(f"{argument.get('name')}: {argument.get('type')}" for argument in arguments)
    size = estimate_tokens(app_catalogue({"apps": [app]}))
    return ComparedTool(app, name, word_set(" ".join((name, *descriptions))), signature, size)


def _compared_tool(tool: Mapping[str, Any]) -> ComparedTool:
    inner = tool.get("function")
    function = inner if isinstance(inner, Mapping) else tool
    parameters = function.get("parameters")
    parameters = parameters.get("properties", parameters) if isinstance(parameters, Mapping) else parameters
    if not isinstance(parameters, Mapping):
        parameters = dict.fromkeys(map(str, parameters or ()), "")
    types = (
        (name, schema.get("type") if isinstance(schema, Mapping) else schema)
        for name, schema in parameters.items()
    )
    signature = frozenset(f"{name}: {kind}" for name, kind in types)
    size = estimate_tokens(json.dumps(tool, ensure_ascii=False))
    name = str(function.get("name"))
    # the words of getUserName and get_user_name
    spaced = "".join(f" {mark}" if mark.isupper() or not mark.isalnum() else mark for mark in name)
    words = word_set(f"{spaced.replace('_', ' ')} {function.get('description')}")
    return ComparedTool(tool, name, words, signature, size)


def _order_candidates(
    candidates: list[ComparedTool], needed: Sequence[ComparedTool], sample: Sample, choice: ToolChoice
) -> list[ComparedTool]:
    """Other tools, those that come first before the rest, and alike ones by chance."""
    random.Random(f"{choice.seed} others {sample.query}").shuffle(candidates)
    if choice.closeness == "random":
        return candidates

    compared = attrgetter("words" if choice.closeness == "close" else "signature")

    def close(candidate: ComparedTool) -> float:
        return max((word_overlap(compared(candidate), compared(tool)) for tool in needed), default=0.0)

    return sorted(candidates, key=close, reverse=True)


def _fit_budget(
    needed: list[ComparedTool], candidates: Iterable[ComparedTool], sample: Sample, choice: ToolChoice
) -> list[ComparedTool]:
    if choice.budget is None:
        return [*needed, *candidates]
    left = choice.budget - estimate_tokens(sample.query) - sum(needed_tool.size for needed_tool in needed)
    if left < 0:
        message = f"sample {sample.id!r} has about {choice.budget - left:,} tokens with gold's tools alone"
        raise InputError(f"{message}, and --run budget is {choice.budget:,}")
    fitting = list(needed)
    for candidate in candidates:
        left -= candidate.size
        if left < 0:
            break
        fitting.append(candidate)
    return fitting
