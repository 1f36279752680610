"""Turns of the reference, judged: our verdict in the published form, and what a tie lets it be as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from planner_eval.benchmarks.complexfuncbench import turn
from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure, free_key
from planner_eval.benchmarks.complexfuncbench.embedding import Embedding, Trigrams, assign, similarities, tied

if TYPE_CHECKING:
    from tests.test_benchmark_complexfuncbench import Vectors


def normal(text: str) -> str:
    """A format message with the names in braces in alphabetical order: the published order varies."""
    return re.sub(r"\{(.*?)\}", lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text)


def with_normal(message: Any) -> Any:
    return {"error": normal(message["error"])} if isinstance(message, dict) else message


def published(expected: dict[str, Any]) -> dict[str, Any]:
    """A published verdict, comparable: the order of successes counts, that of names in braces does not."""
    if "__raised__" in expected:
        return expected
    faults = {k: with_normal(v) for k, v in expected["format_error"].items()}
    return {
        **expected,
        "success_map": list(map(list, expected["success_map"].items())),
        "format_error": faults,
    }


def verdict(vectors: Vectors, case: dict[str, Any]) -> dict[str, Any]:
    """Our verdict in the form of :func:`published`."""
    free: dict[str, Any] = {}
    for number, call in enumerate(case["free"]):
        free.setdefault(free_key(call), {"free_obs": number})
    rules = turn.Rules(vectors.functions, free, vectors.matcher, Trigrams())
    gold = [turn.Open(*pair) for pair in zip(case["gold"], case["gold_obs"], strict=True)]
    try:
        result = turn.judge_turn(case["pred"], gold, rules)
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}
    return {
        "errors": result.errors,
        "success_map": [[str(position), found] for position, found in result.success.items()],
        "success_matched": result.matched,
        "format_error": {str(k): with_normal(text) for k, text in result.format_errors.items()},
        "free_called": list(result.free_called),
    }


def possible(vectors: Vectors, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Our verdict; then, where the mapping is tied, those that exchanging equal calls gives."""
    mapped: list[tuple[Sequence[str], Sequence[str], Embedding]] = []

    def watched(*given: Any) -> list[tuple[int, int]]:
        mapped.append(given)
        return assign(*given)

    with patch.object(turn, "assign", watched):
        yield verdict(vectors, case)
    for given in mapped:
        for mapping in exchanged(*given) if tied(*given) else ():
            with patch.object(turn, "assign", return_value=mapping):
                yield verdict(vectors, case)


def exchanged(
    predicted: Sequence[str], gold: Sequence[str], embedding: Embedding
) -> list[list[tuple[int, int]]]:
    """The mappings that come of exchanging equal rows and equal columns."""
    table, chosen = similarities(predicted, gold, embedding), assign(predicted, gold, embedding)
    return [
        sorted((rows[row], columns[column]) for row, column in chosen)
        for rows in _exchanges(table.tolist())
        for columns in _exchanges(table.T.tolist())
    ]


def _exchanges(lines: list[list[float]]) -> list[tuple[int, ...]]:
    orders = permutations(range(len(lines)))
    return [order for order in orders if all(lines[a] == lines[b] for a, b in enumerate(order))]
