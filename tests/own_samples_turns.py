"""The official verdicts on our own samples of ComplexFuncBench: pairs of calls, turns and conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.benchmarks.complexfuncbench import official as cfb
from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure, Step, free_calls, steps_of
from planner_eval.benchmarks.complexfuncbench.embedding import Trigrams
from planner_eval.benchmarks.complexfuncbench.matching import (
    Matcher,
    check_format,
    equivalent,
    first_difference,
    functions_by_name,
    response_match,
    rule_match,
    value_check,
)
from planner_eval.benchmarks.complexfuncbench.recorded import read_turns
from planner_eval.benchmarks.complexfuncbench.responses import Scores
from planner_eval.benchmarks.complexfuncbench.runners import RUNNERS
from planner_eval.benchmarks.complexfuncbench.scoring import Settings
from planner_eval.benchmarks.complexfuncbench.turn import Open, Rules, judge_turn
from tests.own_samples import Cases, Compared, Record
from tests.test_benchmark_complexfuncbench import StubApi, normal, recorded, with_normal


class Urls(dict[str, str]):
    """Every function has an address."""

    def __missing__(self, name: str) -> str:
        return f"https://stub.example/{name}"


def complexfuncbench() -> Iterator[Compared]:
    cases = Cases("complexfuncbench")
    samples = folder("data") / "samples" / "complexfuncbench"
    checked = json.loads((samples / "exact_match_values.json").read_text("utf-8"))
    api = StubApi(Urls())
    conversations: dict[str, dict[str, cfb.Written]] = {runner: {} for runner in ("gpt", "qwen")}

    def calls(names: list[str]) -> list[Any]:
        return [cases.shared["call"][name] for name in names]

    for record in cases.records:
        kind, gold, official = record["kind"].partition(":")[0], record["gold"], record["official"]
        listed = record["settings"].get("functions")
        functions = cases.file["functions"] if listed == "own" else listed and cases.samples[listed].tools
        judged_with = SimpleNamespace(
            functions=functions_by_name(functions or ()),
            checked=checked,
            api=api,
            matcher=Matcher(api, checked),
        )
        if kind.startswith("pair"):
            right = gold.get("inline") or right_call(cases, gold)
            ours = [*pair(judged_with, record["prediction"], right).values()]
            yield Compared(record["id"], ours, [with_normal(official[0]), *official[1:]])
        elif kind == "turn":
            ours = turn(judged_with, calls(record["prediction"]), gold["inline"], calls)
            allowed = [found["result"] for found in official.get("one_of", [])] or [official]
            theirs = [with_calls(result, calls) for result in allowed]
            yield Compared(record["id"], ours, ours if ours in theirs else official)
        else:
            for runner, written in conversations.items():
                theirs = official["gpt"] if official[runner] == "as gpt" else official[runner]
                if kind == "set":
                    rows = [written[id_] for id_ in record["prediction"]["records"] if id_ in written]
                    yield Compared(record["id"], cfb.print_results(rows), theirs)
                    continue
                script = {**record["prediction"], "script": [*map(calls, record["prediction"]["script"])]}
                ours, found = conversation(cases, record, script, RUNNERS[runner], Settings(lambda _: api))
                if found:
                    written[record["id"]] = found
                yield Compared(record["id"], ours, theirs)


def right_call(cases: Cases, gold: Record) -> Any:
    return steps_of(cases.samples[gold["sample"]].gold)[gold["step"]].calls[gold["call"]]


def pair(judged_with: Any, pred: Any, gold: Any) -> Record:
    """The seven steps of one pair, each run alone, so that one that raises hides no other."""
    fault = check_format(pred, judged_with.functions)
    veto = partial(value_check, pred, gold, judged_with.checked)
    answered = response_match(pred, gold, judged_with.api)
    same = partial(equivalent, pred, gold, judged_with.matcher)
    return {
        "format_check": True if fault is None else {"error": normal(fault.text)},
        "rule": raised_or(partial(rule_match, pred, gold)),
        "value_checker": raised_or(veto, lambda found: [found is None, found or ""]),
        "response": bool(answered),
        "error_message_after_response": f"API call failed for {pred}." if answered is None else [],
        "single": raised_or(same, lambda verdict: [verdict.equivalent, verdict.veto]),
        "get_error_message": first_difference(pred, gold),
    }


def turn(judged_with: SimpleNamespace, pred: Any, inline: Record, calls: Callable[[Any], Any]) -> Record:
    """The verdict on one turn in the words of the file."""
    given = calls(inline["free"])
    free = free_calls([Step(given, [{"free_obs": number} for number in range(len(given))])])
    gold = [Open(*pair) for pair in zip(calls(inline["calls"]), inline["observations"], strict=True)]
    try:
        result = judge_turn(pred, gold, Rules(judged_with.functions, free, judged_with.matcher, Trigrams()))
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}
    return {
        "errors": result.errors,
        "success_map": {str(position): found for position, found in result.success.items()},
        "success_matched": result.matched,
        "format_error": {str(k): with_normal(fault) for k, fault in result.format_errors.items()},
        "free_called": list(result.free_called),
    }


def with_calls(official: Record, calls: Callable[[Any], Any]) -> Record:
    """A published verdict on a turn with the calls that its names stand for."""
    if "__raised__" in official:
        return official
    faults = {key: with_normal(fault) for key, fault in official["format_error"].items()}
    return official | {"success_matched": calls(official["success_matched"]), "format_error": faults}


def raised_or(step: Callable[[], Any], shown: Callable[[Any], Any] = lambda found: found) -> Any:
    try:
        return shown(step())
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}


def conversation(
    cases: Cases, record: Record, script: Record, runner: Any, settings: Settings
) -> tuple[Any, cfb.Written | None]:
    """How a conversation ended, figures in the order of the file; and as it is counted."""
    sample = cases.samples[record["gold"]["sample"]]
    try:
        outcome = cfb.talk(sample, read_turns(recorded(script)), runner=runner, settings=settings).outcome
    except OfficialFailure as failure:
        return {"__raised__": str(failure)}, None
    responded = outcome.response is not None
    ours = [getattr(outcome, name) for name in cases.figures["conversation"][:-1]]
    said = record["settings"]["judge"]
    scores = Scores(said["complete"], said["correct"]) if responded else Scores()
    return [*ours, responded], cfb.Written(sample.id, outcome, scores)
