"""The kinds of errors that CallNavi's paper finds in answers: hallucination, formatting, logic.

Source: the paper, appendix F. It counts none of them and no code was published: what counts is said here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import pairs_of
from planner_eval.benchmarks.callnavi.corrected import judge_calls
from planner_eval.benchmarks.callnavi.official import DIFFICULTIES, gold_problem
from planner_eval.benchmarks.callnavi.reading import Calls, calls_of, read_answer, read_route
from planner_eval.benchmarks.callnavi.verdicts import PLACEHOLDER
from planner_eval.benchmarks.report import Records
from planner_eval.datasets.sample import Sample
from planner_eval.plan.model import Value

KINDS = {
    "hallucination": "F.1: calls an API that is not on the list",
    "format": "F.2: not as asked for, as it stands",
    "logic: order": "F.3: gold's calls in another order",
    "logic: steps": "F.3: leaves calls of gold out",
    "logic: values": "F.3: a later call lacks a value of an earlier one",
    "other": "none of these, and not gold's calls",
}
"""A kind of error → what counts; one answer can show several, but for the last."""


def kinds_of(
    sample: Sample, text: str, *, task: str = "parameters", notation: str = "json"
) -> frozenset[str]:
    """The kinds of errors of one answer; none of an answer that is right and as asked for.

    An API counts as invented where neither the question's list nor its gold has it. Calls are left out where
    more of gold's are missing than others stand for them. A later call lacks a value where the argument is a
    placeholder in gold and not there.

    Args:
        sample: The question, whose gold record can be read.
        text: What the model answered.
        task: ``"parameters"``, or ``"routing"``: names alone.
        notation: ``"json"`` or ``"yaml"``.

    >>> gold = {"API": ["list", "pay"], "parameters": [{}, {"to": "$$$"}]}
    >>> sample = Sample("q", tools=[{"name": "list"}, {"name": "pay"}], gold=gold)
    >>> sorted(kinds_of(sample, 'So: {"API": ["list"], "parameters": [{}]}'))
    ['format', 'logic: steps']
    """
    gold_calls = calls_of(sample.gold)
    if task == "routing":
        names = read_route(text)
        well_formed, calls = names is not None and "```" not in text, None
        right = names == gold_calls[0]
    else:
        answer = read_answer(text, notation=notation)
        well_formed, calls = answer.valid, answer.calls
        names = None if calls is None else calls[0]
        right = calls is not None and judge_calls(gold_calls, calls).ast
    kinds = set() if well_formed else {"format"}
    if names is not None and not right:
        kinds |= _wrong(sample, gold_calls, names, calls)
    return frozenset(kinds)


def _wrong(sample: Sample, gold_calls: Calls, names: list[str], calls: Calls | None) -> set[str]:
    gold, _ = gold_calls
    kinds = set()
    if listed := _listed(sample):
        kinds |= {"hallucination"} if set(names) - listed - set(gold) else set()
    missing, extra = Counter(gold) - Counter(names), Counter(names) - Counter(gold)
    if names != gold and not missing and not extra:
        kinds.add("logic: order")
    if missing.total() > extra.total():
        kinds.add("logic: steps")
    if names == gold and calls is not None and _lacks_values(gold_calls, calls):
        kinds.add("logic: values")
    return kinds or {"other"}


def _listed(sample: Sample) -> set[str]:
    """The names on the question's list; none where it has no list that can be read."""
    tools = sample.tools if isinstance(sample.tools, list) else []
    return {tool["name"] for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)}


def _lacks_values(gold_calls: Calls, calls: Calls) -> bool:
    """Whether a call after the first lacks an argument that holds a placeholder in gold."""
    pairs = list(zip(gold_calls[1], calls[1], strict=True))[1:]
    return any(_is_open(value) and name not in pred for gold, pred in pairs for name, value in pairs_of(gold))


def _is_open(value: Value) -> bool:
    if isinstance(value, dict):
        return any(map(_is_open, value.values()))
    return any(map(_is_open, value)) if isinstance(value, list) else value == PLACEHOLDER


def error_rows(records: Records, *, task: str = "parameters", notation: str = "json") -> list[dict[str, Any]]:
    """How many answers show each kind of error, by difficulty.

    Args:
        records: Samples with the text that a model answered.
        task: As for :func:`kinds_of`.
        notation: As for :func:`kinds_of`.

    Returns:
        A row a kind; then those without any error, and all of which gold can be read.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*KINDS, "no error", "answers")}
    for sample, text in records:
        if gold_problem(sample):
            continue
        try:
            kinds = kinds_of(sample, text, task=task, notation=notation)
        except ParseError:
            continue  # a gold record with lists of other things than names and objects
        levels = ("all", str(sample.extra.get("difficulty")))
        for kind in (*(kinds or ("no error",)), "answers"):
            counts[kind].update(levels)
    columns = (*DIFFICULTIES, "all")
    return [
        {"error": kind, **{column: by_column[column] for column in columns}, "note": KINDS.get(kind, "")}
        for kind, by_column in counts.items()
    ]
