"""Which calls of multi-turn gold take an earlier result: gold holds plain values, so that results tell it.

Gold's calls are made with the benchmark's own tools, in the sandbox. An argument takes a result where one of
its values equals a value of what an earlier call returned: texts in full, numbers by value. Truth values,
null, empty texts and numbers below 10 tell nothing. Where the user's words so far hold the value too, or an
earlier call had it before any result, it may come from there: that is counted apart, as ambiguous.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError, ExecutionError, is_number
from planner_eval.benchmarks.bfcl.gold import turn_calls
from planner_eval.benchmarks.bfcl.multi_turn import run_gold
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.plan.model import leaves

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SMALLEST = 10
"""Of smaller numbers many are equal by chance."""


class GoldCall(NamedTuple):
    """A call of a multi-turn gold plan, made.

    Args:
        arguments: By name.
        result: What it returned, as text.
        words: What the user said up to its turn.
    """

    arguments: Mapping[str, Any]
    result: str
    words: str


def count_references(samples: Sequence[Sample]) -> Counter[str]:
    """How many plans, calls and arguments of multi-turn gold there are, and how many take earlier results.

    Args:
        samples: Questions of several turns, of one folder.

    Returns:
        The counts; empty where the tools are not at hand or cannot be run here.
    """
    counts: Counter[str] = Counter()
    try:
        for sample, results in zip(samples, run_gold(samples), strict=True):
            if results is not None:
                counts += _count(list(_made_calls(sample, results)))
    except (DatasetError, ExecutionError):
        return Counter()
    return counts


def _made_calls(sample: Sample, results: Sequence[str]) -> Iterator[GoldCall]:
    words, remaining = "", iter(results)
    for messages, texts in zip(sample.extra["visible"].turns, sample.extra["ground_truth"], strict=False):
        words += "".join(f"\n{message['content']}" for message in messages)
        for call in turn_calls(texts, sample):
            (arguments,) = call.values()
            yield GoldCall(arguments, next(remaining), words)


def _count(calls: Sequence[GoldCall]) -> Counter[str]:
    """The counts of one plan.

    >>> find = GoldCall({"name": "Bo"}, '{"id": "u-77"}', "Message Bo.")
    >>> dict(_count([find, GoldCall({"to": "u-77", "again": "Bo"}, "", "Message Bo.")]))
    {'plans': 1, 'calls': 2, 'arguments': 3, 'taking arguments': 1, 'taking calls': 1, 'taking plans': 1}
    """
    counts = Counter(plans=1, calls=len(calls), arguments=sum(len(call.arguments) for call in calls))
    returned: set[Any] = set()
    given_values: set[Any] = set()
    for call in calls:
        kinds = []
        for value in call.arguments.values():
            shared = returned.intersection(_telling_values(value))
            unsaid = [item for item in shared - given_values if not _is_said(item, call.words)]
            if shared:
                kinds.append("taking" if unsaid else "ambiguous")
        counts.update(f"{kind} arguments" for kind in kinds)
        if kinds:
            counts["taking calls" if "taking" in kinds else "ambiguous calls"] += 1
        given_values.update(set(_telling_values([*call.arguments.values()])) - returned)
        returned.update(_telling_values(_result_data(call.result)))
    counts["taking plans"] = int(counts["taking calls"] > 0)
    return counts


def _is_said(value: Any, words: str) -> bool:
    """Whether the words hold a value: a text in any case, a number however it is written."""
    if isinstance(value, str):
        return value.lower() in words.lower()
    return value in {float(text.replace(",", "")) for text in _NUMBER.findall(words)}


def _telling_values(data: Any) -> Iterator[Any]:
    """The texts and numbers that stand in data, but those of which many are equal by chance."""
    for _, leaf in leaves(data):
        if (isinstance(leaf, str) and leaf) or (is_number(leaf) and abs(leaf) >= _SMALLEST):
            yield leaf


def _result_data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
