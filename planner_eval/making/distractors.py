"""The tools that are offered beside those a plan needs: such as could be mistaken for them, or any."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from planner_eval.catalogs.catalog import Tool
from planner_eval.making.graph import ToolGraph, words_of
from planner_eval.plan.model import Plan

OFFERS = ("close", "random")
"""Which tools are offered besides: those most like the needed ones, or any."""


class Offer(NamedTuple):
    """Which tools are offered beside those that a plan needs.

    Args:
        number: How many; all that there are where there are fewer.
        which: One of :data:`OFFERS`.
    """

    number: int = 0
    which: str = "close"


def offered(plan: Plan, graph: ToolGraph, offer: Offer, random: Random) -> tuple[Tool, ...]:
    """The tools of a plan and others, in an order that does not tell which are which.

    Args:
        plan: The plan.
        graph: All tools.
        offer: How many others, and which.
        random: Where chance comes from.
    """
    called = {(call.app, call.name) for call in plan.calls}
    needed = [tool for tool in graph.tools if (tool.app, tool.name) in called]
    tools = [*needed, *beside(needed, graph.tools, offer, random)]
    random.shuffle(tools)
    return tuple(tools)


def beside(needed: Sequence[Tool], tools: Sequence[Tool], offer: Offer, random: Random) -> list[Tool]:
    """Tools to be offered beside some.

    >>> tools = [Tool(name) for name in ("find_bus", "find_train", "pay")]
    >>> [tool.name for tool in beside(tools[:1], tools, Offer(1), Random(0))]
    ['find_train']
    """
    candidates = [
        tool for tool in tools if all(tool.full_name != needed_tool.full_name for needed_tool in needed)
    ]
    random.shuffle(candidates)
    if offer.which == "close" and offer.number:
        candidates.sort(
            key=lambda tool: -max((_likeness(tool, needed_tool) for needed_tool in needed), default=0.0)
        )
    return candidates[: offer.number]


def _likeness(tool: Tool, other: Tool) -> float:
    """How like two tools are: by the words of names and descriptions, by parameters and by app."""
    return (
        2 * _shared(words_of(tool.name), words_of(other.name))
        + _shared(words_of(tool.description), words_of(other.description))
        + _shared(_signature(tool), _signature(other))
        + 0.5 * (tool.app is not None and tool.app == other.app)
    )


def _signature(tool: Tool) -> list[str]:
    return [f"{parameter.name} {parameter.type}" for parameter in tool.parameters]


def _shared(left_words: Sequence[str], right_words: Sequence[str]) -> float:
    """The part of all words that both have."""
    all_words = {*left_words, *right_words}
    return len({*left_words} & {*right_words}) / len(all_words) if all_words else 0.0
