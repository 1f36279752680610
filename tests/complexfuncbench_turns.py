"""ComplexFuncBench's cases, judged: our verdicts in the published form, and what a tie lets them be."""

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from planner_eval.benchmarks.complexfuncbench import matching, turn
from planner_eval.benchmarks.complexfuncbench.data import Api, ApiResponse, OfficialFailure, Step, free_calls
from planner_eval.benchmarks.complexfuncbench.matching import Embedding, Trigrams, assign, similarities
from planner_eval.benchmarks.complexfuncbench.turn import Settings
from planner_eval.benchmarks.datasets.published import Sample

DEFAULT_ARGUMENTS = {
    "adults": "1", "room_qty": "1", "driver_age": "30", "page": "1", "page_number": "0",
    "currency_code": "USD", "languagecode": "en-us", "cabinClass": "ECONOMY",
}  # fmt: skip
OUTCOME = (
    "message", "success_turn_num", "correct_call_num", "total_turn_num", "total_call_num", "real_turn_num",
)  # fmt: skip


class StubApi:
    """The deterministic API that the reference verdicts were made with."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    def __call__(self, call: Any) -> ApiResponse:
        sent = {k: json.dumps(v) if k == "legs" else str(v) for k, v in call["arguments"].items()}
        url, values = self.urls[call["name"]], set(sent.values())
        if values & {"RAISE", "-1004"}:
            raise ConnectionError
        if values & {"HTTP500", "-1003"}:
            return ApiResponse(None, 500)
        if values & {"FALSE", "-1002"}:
            return ApiResponse({"status": False, "message": "no", "timestamp": 1})
        if values & {"EMPTY", "-1001"}:
            return ApiResponse({"status": True, "data": {}, "timestamp": 2})
        kept = {k: v for k, v in sorted(sent.items()) if DEFAULT_ARGUMENTS.get(k) != v}
        return ApiResponse({"status": True, "data": [url.rsplit("/", 1)[-1], kept], "timestamp": 3})


class Judging:
    """What a call or a turn is judged with."""

    def __init__(self, functions: Any, checked: Any, api: Api) -> None:
        self.functions, self.checked, self.api = matching.functions_by_name(functions), checked, api
        self.rules = turn.Rules(self.functions, {}, api, Trigrams(), checked)


class Vectors(Judging):
    """The reference cases with everything that they are judged with."""

    def __init__(self, reference: Path) -> None:
        at = reference / "vectors" / "complexfuncbench"
        with gzip.open(at / "cases.jsonl.gz", "rt") as stream:
            self.cases = [json.loads(line) for line in stream]
        with gzip.open(at / "official.json.gz", "rt") as stream:
            self.official = json.load(stream)
        data = reference / "datasets" / "complexfuncbench"
        checked = json.loads((data / "exact_match_values.json").read_text())
        tools = json.loads((data / "tool_info.json").read_text())
        self.function_list = self.cases[0]["functions"]
        super().__init__(self.function_list, checked, StubApi(tools["booking-com15"]["name_to_url"]))

    def of(self, kind: str) -> Iterator[tuple[dict[str, Any], Any]]:
        for case in self.cases:
            if case["kind"] == kind:
                yield case, self.official[kind][case["id"]]

    def sample(self, case: dict[str, Any]) -> Sample:
        talk = case["conversations"]
        return Sample(case["id"], talk[0]["content"], self.function_list, talk, "complexfuncbench")

    def settings(self, judge: Any = None) -> Settings:
        return Settings(api=lambda steps: self.api, checked=self.checked, judge=judge)


def has_ties(predicted: Sequence[str], gold: Sequence[str], embedding: Embedding) -> bool:
    """Two rows or two columns of the similarities are equal: exchanging them costs nothing."""
    if not predicted or not gold:
        return False
    table = similarities(predicted, gold, embedding)
    return any(len(set(map(tuple, lines.tolist()))) < len(lines) for lines in (table, table.T))


def recorded(case: dict[str, Any]) -> str:
    """A case's script as the text of a recorded conversation."""
    said = [{"role": "assistant", "function_call": calls} for calls in case["script"]]
    return json.dumps([*said, {"role": "assistant", "content": case["final"]}])


def with_normal(message: Any) -> Any:
    """A format message with the names in braces in alphabetical order: the published order varies."""

    def in_order(found: re.Match[str]) -> str:
        return "{" + ", ".join(sorted(found[1].split(", "))) + "}"

    known = isinstance(message, dict)
    return {"error": re.sub(r"\{(.*?)\}", in_order, message["error"])} if known else message


def raised_or(step: Callable[[], Any], shown: Callable[[Any], Any] = lambda found: found) -> Any:
    try:
        return shown(step())
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}


def pair(judged_with: Judging, pred: Any, gold: Any) -> dict[str, Any]:
    """The seven steps of one pair, each run alone, so that one that raises hides no other."""
    fault = matching.check_format(pred, judged_with.functions)
    veto = partial(matching.value_check, pred, gold, judged_with.checked)
    answered = matching.response_match(pred, gold, judged_with.api)
    same = partial(matching.judge_equivalence, pred, gold, judged_with.rules)
    return {
        "format_check": True if fault is None else with_normal({"error": fault.text}),
        "rule": raised_or(partial(matching.rule_match, pred, gold)),
        "value_checker": raised_or(veto, lambda found: [found is None, found or ""]),
        "response": bool(answered),
        "error_message_after_response": f"API call failed for {pred}." if answered is None else [],
        "single": raised_or(same, lambda verdict: [bool(verdict.how), verdict.veto]),
        "get_error_message": matching.first_difference(pred, gold),
    }


def published(expected: dict[str, Any]) -> dict[str, Any]:
    """A published verdict, comparable: the order of successes counts, that of names in braces does not."""
    if "__raised__" in expected:
        return expected
    faults = {k: with_normal(v) for k, v in expected["format_error"].items()}
    successes = list(map(list, expected["success_map"].items()))
    return {**expected, "success_map": successes, "format_error": faults}


def verdict(judged_with: Judging, case: dict[str, Any]) -> dict[str, Any]:
    """Our verdict in the form of :func:`published`."""
    free = free_calls([Step(case["free"], [{"free_obs": number} for number in range(len(case["free"]))])])
    gold = [turn.OpenCall(*pair) for pair in zip(case["gold"], case["gold_obs"], strict=True)]
    try:
        result = turn.judge_turn(case["pred"], gold, replace(judged_with.rules, free=free))
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}
    return {
        "errors": result.errors, "success_matched": result.matched, "free_called": list(result.free_called),
        "success_map": [[str(position), found] for position, found in result.success.items()],
        "format_error": {str(k): with_normal(text) for k, text in result.format_errors.items()},
    }  # fmt: skip


def possible(judged_with: Judging, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Our verdict; then, where the mapping is tied, those that exchanging equal calls gives."""
    mapped: list[tuple[Sequence[str], Sequence[str], Embedding]] = []

    def watched(*given: Any) -> list[tuple[int, int]]:
        mapped.append(given)
        return assign(*given)

    with patch.object(turn, "assign", watched):
        yield verdict(judged_with, case)
    for given in mapped:
        for mapping in exchanged(*given) if has_ties(*given) else ():
            with patch.object(turn, "assign", return_value=mapping):
                yield verdict(judged_with, case)


def exchanged(predicted: Sequence[str], gold: Sequence[str], embedding: Embedding) -> list[Any]:
    """The mappings that come of exchanging equal rows and equal columns."""
    table, chosen = similarities(predicted, gold, embedding), assign(predicted, gold, embedding)
    ways = product(_exchanges(table.tolist()), _exchanges(table.T.tolist()))
    return [sorted((rows[row], columns[column]) for row, column in chosen) for rows, columns in ways]


def _exchanges(lines: list[list[float]]) -> list[tuple[int, ...]]:
    orders = permutations(range(len(lines)))
    return [order for order in orders if all(lines[a] == lines[b] for a, b in enumerate(order))]
