"""A made record, and the layouts in which it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.catalogs.catalog import Catalog, Tool
from planner_eval.catalogs.writers import function_definition
from planner_eval.curation.make.tools import Offer, choose_distractors

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan


# ----------------------------------------------------------------------
# A made record: a gold plan, the tools on offer, what it comes to, and a place for its query.
_NO_NOTES: Mapping[str, Any] = MappingProxyType({})


@fast_frozen
class Made:
    """One made record.

    Args:
        id: Unique among those made together.
        plan: The gold plan.
        tools: The tools on offer: those that it calls, and distractors.
        query: What a user asks that the plan answers; "" until somebody writes it.
        answer: What running the plan came to: the values that it names, else that of the one call that gives
            it; None where nothing was run, or where several calls give it and none is named.
        notes: What else is known of it: seed, pattern, wanted, world, scope.
    """

    id: str
    plan: Plan
    tools: tuple[Tool, ...]
    query: str = ""
    answer: Any = None
    notes: Mapping[str, Any] = field(default_factory=lambda: _NO_NOTES)


# ----------------------------------------------------------------------
# FunctionChat-Bench's records of single calls: a function, its queries, and lists of tools.
OFFER_LISTS = (("exact", Offer()), ("4_random", Offer(3, "random")), ("4_close", Offer(3)),
         ("8_random", Offer(7, "random")), ("8_close", Offer(7)))  # fmt: skip
"""The lists that a query is asked with, and which other tools stand in each (the paper, section 3)."""


def function_records(tasks: Sequence[Made], catalog: Catalog, seed: int) -> list[dict[str, Any]]:
    """A record for each function that is called, in order of first appearance, with all of its queries.

    Args:
        tasks: Plans of one call.
        catalog: All tools.
        seed: What the random lists, and the wanted function's place in each, come from.
    """
    serial = 0
    by_tool: dict[str, list[Made]] = {}
    for task in tasks:
        by_tool.setdefault(task.plan.calls[0].tool, []).append(task)
    records = []
    for number, (name, tool_tasks) in enumerate(by_tool.items(), 1):
        numbered = list(enumerate(tool_tasks, serial + 1))
        serial += len(tool_tasks)
        call = tool_tasks[0].plan.calls[0]
        tool = catalog.find(call.name, call.app)[0]
        records.append(
            {
                "function_num": number,
                "function_name": name,
                "function_info": _describe_function(tool)["function"],
                "query": [
                    {"serial_num": serial_number, "content": task.query} for serial_number, task in numbered
                ],
                "ground_truth": [
                    {"serial_num": serial_number, "content": _format_gold_call(task)}
                    for serial_number, task in numbered
                ],
                "acceptable_arguments": [
                    {"serial_num": serial_number, "content": None} for serial_number, _ in numbered
                ],
                "tools": list(_draw_tool_lists(tool, catalog, Random(f"{seed}/{name}"))),
            }
        )
    return records


def _format_gold_call(task: Made) -> str:
    call = task.plan.calls[0]
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)


def _draw_tool_lists(tool: Tool, catalog: Catalog, random: Random) -> Iterator[dict[str, Any]]:
    for kind, offer in OFFER_LISTS:
        distractors = choose_distractors([tool], catalog.tools, offer, random)
        tools = [tool, *distractors]
        random.shuffle(tools)
        yield {"type": kind, "content": [_describe_function(t) for t in tools]}


def _describe_function(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": {**function_definition(tool), "name": tool.name}}
