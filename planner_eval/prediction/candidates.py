"""The tools on offer: gold's always, and others beside them; the same for every model.

Here gold is looked at, for which tools have to be there; the order says nothing of which these are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.datasets.sample import Sample
from planner_eval.prediction.shots import alike, words

CLOSENESS = ("random", "close", "same-signature")
"""Which other tools come first."""

MARK = "tools: gold+distractors"
"""The mark of a run whose tools were chosen so."""

FORMS = ("nestful", "callnavi", "complexfuncbench", "functionchat")
"""The data sets whose samples have lists of tools."""

_PER_TOKEN = 3
"""Bytes that are counted as a token: JSON has more for each, so that what is counted to fit does."""


class Choice(NamedTuple):
    """Which tools are on offer.

    Args:
        number: How many beside gold's; None for all of the sample's own that fit.
        closeness: One of :data:`CLOSENESS`.
        budget: The most tokens of question and tools; None for any number.
        seed: Where random choices start.
    """

    number: int | None = None
    closeness: str = "random"
    budget: int | None = None
    seed: int = 0


class Listed(NamedTuple):
    """A tool as it is compared with others."""

    tool: Mapping[str, Any]
    name: str
    words: frozenset[str]
    signature: frozenset[str]
    size: int


Chosen = Callable[[Sample], list[Any]]
"""Gives a sample's tools."""


def choosing(choice: Choice, form: str, samples: Sequence[Sample]) -> Chosen:
    """How the tools of samples are chosen, out of those of all samples.

    Args:
        choice: Which are on offer.
        form: The data set.
        samples: All of its samples.

    Raises:
        InputError: the data set has no lists of tools.
    """
    if form not in FORMS:
        raise InputError(f"candidate tools are chosen for {', '.join(FORMS)}; {form} has no list a sample")
    known: dict[str, Listed] = {}
    for sample in samples:
        for tool in sample.tools or ():
            name = str(_function(tool).get("name"))
            if name not in known:
                known[name] = _listed(tool)

    def of(sample: Sample) -> list[Any]:
        own = {each.name: each for each in map(_listed, sample.tools or ())}
        gold = gold_tools(sample, form)
        needed = [each for name, each in own.items() if name in gold]
        pool = own if choice.number is None else known | own
        others = _ordered([each for name, each in pool.items() if name not in gold], needed, sample, choice)
        found = _fitting(needed, others[: choice.number], sample, choice)
        random.Random(f"{choice.seed} {sample.query}").shuffle(found)
        return [each.tool for each in found]

    return of


def tokens(text: str) -> int:
    """How many tokens a text has at most, by its bytes.

    >>> tokens("book a room")
    4
    """
    return -(-len(text.encode("utf-8", "backslashreplace")) // _PER_TOKEN)


def gold_tools(sample: Sample, form: str) -> frozenset[str]:
    """The names of the tools that a sample's gold calls.

    >>> sorted(gold_tools(Sample("a", gold={"API": ["f", "g"]}), "callnavi"))
    ['f', 'g']
    """
    gold = sample.gold
    if form == "callnavi":
        return frozenset(str(name) for name in gold["API"])
    if form == "nestful":
        return frozenset(str(call["name"]) for call in gold)
    if form == "complexfuncbench":
        return frozenset(str(call["name"]) for turn in gold for call in turn.get("function_call") or ())
    calls = gold.get("tool_calls") or [{"function": gold}]
    return frozenset(str(call["function"]["name"]) for call in calls if call["function"].get("name"))


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = tool.get("function")
    return inner if isinstance(inner, Mapping) else tool


def _listed(tool: Mapping[str, Any]) -> Listed:
    said = _function(tool)
    taken = said.get("parameters")
    taken = taken.get("properties", taken) if isinstance(taken, Mapping) else taken
    pairs = taken.items() if isinstance(taken, Mapping) else ((str(one), "") for one in taken or ())
    signature = frozenset(f"{name}: {_type(kind)}" for name, kind in pairs)
    size = tokens(json.dumps(tool, ensure_ascii=False))
    name = str(said.get("name"))
    return Listed(tool, name, words(f"{_apart(name)} {said.get('description')}"), signature, size)


def _type(said: Any) -> str:
    return str(said.get("type")) if isinstance(said, Mapping) else str(said)


def _apart(name: str) -> str:
    """The words of a name: ``getUserName``, ``get_user_name``."""
    return "".join(f" {mark}" if mark.isupper() or not mark.isalnum() else mark for mark in name).replace(
        "_", " "
    )


def _ordered(others: list[Listed], needed: Sequence[Listed], sample: Sample, choice: Choice) -> list[Listed]:
    """Other tools, those that come first before the rest, and alike ones by chance."""
    random.Random(f"{choice.seed} others {sample.query}").shuffle(others)
    if choice.closeness == "random":
        return others

    def close(one: Listed) -> float:
        if choice.closeness == "close":
            return max((alike(one.words, each.words) for each in needed), default=0.0)
        return max((alike(one.signature, each.signature) for each in needed), default=0.0)

    return sorted(others, key=close, reverse=True)


def _fitting(needed: list[Listed], others: Iterable[Listed], sample: Sample, choice: Choice) -> list[Listed]:
    if choice.budget is None:
        return [*needed, *others]
    left = choice.budget - tokens(sample.query) - sum(one.size for one in needed)
    if left < 0:
        said = f"sample {sample.id!r} has about {choice.budget - left:,} tokens with gold's tools alone"
        raise InputError(f"{said}, and --budget is {choice.budget:,}")
    found = list(needed)
    for one in others:
        left -= one.size
        if left < 0:
            break
        found.append(one)
    return found
