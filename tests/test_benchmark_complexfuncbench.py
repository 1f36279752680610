"""ComplexFuncBench: every verdict and figure of the published code, on the reference cases."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from planner_eval.benchmarks.complexfuncbench import Settings, official, score_corrected, score_official
from planner_eval.benchmarks.complexfuncbench.api import Api, ApiResponse
from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure, steps_of
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
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge
from tests.complexfuncbench_turns import normal, possible, published, with_normal

DEFAULT_ARGUMENTS = {
    "adults": "1",
    "room_qty": "1",
    "driver_age": "30",
    "page": "1",
    "page_number": "0",
    "currency_code": "USD",
    "languagecode": "en-us",
    "cabinClass": "ECONOMY",
}


class StubApi:
    """The deterministic API that the reference verdicts were made with."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    def __call__(self, call: Any) -> ApiResponse:
        sent = {k: json.dumps(v) if k == "legs" else str(v) for k, v in call["arguments"].items()}
        url = self.urls[call["name"]]
        values = set(sent.values())
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


class Vectors:
    """The reference cases with everything that they are judged with."""

    def __init__(self, reference: Path) -> None:
        at = reference / "vectors" / "complexfuncbench"
        with gzip.open(at / "cases.jsonl.gz", "rt") as stream:
            self.cases = [json.loads(line) for line in stream]
        with gzip.open(at / "official.json.gz", "rt") as stream:
            self.official = json.load(stream)
        data = reference / "datasets" / "complexfuncbench"
        self.checked = json.loads((data / "exact_match_values.json").read_text())
        tools = json.loads((data / "tool_info.json").read_text())
        self.api: Api = StubApi(tools["booking-com15"]["name_to_url"])
        self.function_list = self.cases[0]["functions"]
        self.functions = functions_by_name(self.function_list)
        self.matcher = Matcher(self.api, self.checked)

    def of(self, kind: str) -> Iterator[tuple[dict[str, Any], Any]]:
        for case in self.cases:
            if case["kind"] == kind:
                yield case, self.official[kind][case["id"]]

    def sample(self, case: dict[str, Any]) -> Sample:
        talk = case["conversations"]
        return Sample(case["id"], talk[0]["content"], self.function_list, talk, "complexfuncbench")

    def settings(self, judge: Any = None) -> Settings:
        return Settings(api=lambda steps: self.api, checked=self.checked, judge=judge)


def recorded(case: dict[str, Any]) -> str:
    """A case's script as the text of a recorded conversation."""
    said = [{"role": "assistant", "function_call": calls} for calls in case["script"]]
    return json.dumps([*said, {"role": "assistant", "content": case["final"]}])


@pytest.fixture(scope="module")
def vectors(reference: Path) -> Vectors:
    return Vectors(reference)


def test_all_pairs(vectors: Vectors) -> None:
    rows = 0
    for case, expected in vectors.of("pair"):
        pred, gold = case["pred"], case["gold"]
        fault = check_format(pred, vectors.functions)
        veto = value_check(pred, gold, vectors.checked)
        answered = response_match(pred, gold, vectors.api)
        verdict = equivalent(pred, gold, vectors.matcher)
        assert verdict.failed_response == (answered is None and not verdict.veto)
        assert {
            "format_check": True if fault is None else {"error": normal(fault.text)},
            "rule": rule_match(pred, gold),
            "value_checker": [veto is None, veto or ""],
            "response": bool(answered),
            "error_message_after_response": f"API call failed for {pred}." if answered is None else [],
            "single": [verdict.equivalent, verdict.veto],
            "get_error_message": first_difference(pred, gold),
        } == {**expected, "format_check": with_normal(expected["format_check"])}, case["id"]
        rows += 1
    assert rows == 629


@pytest.mark.more
def test_all_turns(vectors: Vectors) -> None:
    rows = raised = 0
    for case, expected in vectors.of("turn"):
        rows += 1
        raised += "__raised__" in expected
        ours = list(possible(vectors, case))
        assert published(expected) in ours, (case["id"], ours[0])
    assert (rows, raised) == (615, 39)


OUTCOME = (
    "message",
    "success_turn_num",
    "correct_call_num",
    "total_turn_num",
    "total_call_num",
    "real_turn_num",
)


@pytest.mark.parametrize("runner", ["gpt", "qwen"])
def test_all_conversations_and_the_printed_figures(vectors: Vectors, runner: str) -> None:
    written = []
    rows = raised = 0
    for case, verdicts in vectors.of("conv"):
        expected = verdicts[runner]
        rows += 1
        sample, turns = vectors.sample(case), read_turns(recorded(case))
        options = {"runner": RUNNERS[runner], "settings": vectors.settings()}
        if "__raised__" in expected:
            raised += 1
            with pytest.raises(OfficialFailure) as failure:
                official.talk(sample, turns, **options)  # type: ignore[arg-type]
            assert str(failure.value) == expected["__raised__"], case["id"]
            continue
        found = official.talk(sample, turns, **options)  # type: ignore[arg-type]
        outcome = found.outcome
        mine = {name: getattr(outcome, name) for name in OUTCOME}
        assert {**mine, "responded": outcome.response is not None} == expected, case["id"]
        scores = Scores(case["judge"]["complete"], case["judge"]["correct"])
        written.append(
            official.Written(case["id"], outcome, Scores() if outcome.response is None else scores)
        )
    assert (rows, raised) == (300, 3)
    assert official.print_results(written) == vectors.official["print_results"][runner]


@pytest.mark.parametrize("runner", ["gpt", "qwen"])
def test_report_has_the_printed_figures(vectors: Vectors, runner: str) -> None:
    cases = [case for case, _ in vectors.of("conv")]
    scores = {case["final"]: case["judge"] for case in cases}

    def reply(request: JudgeRequest) -> str | None:
        name = {"complexfuncbench.completeness": "complete", "complexfuncbench.correctness": "correct"}
        if request.task not in name:
            return '{"reason": "", "is_equal": false}'
        final = re.search(r"Answer:\n<<<\n(.*)\n>>>", request.messages[-1][1])
        assert final
        return json.dumps({"reason": "", "score": scores[final[1]][name[request.task]]})

    records = [(vectors.sample(case), recorded(case)) for case in cases]
    started = perf_counter()
    report = score_official(records, runner=runner, settings=vectors.settings(ScriptedJudge(reply)))
    rate = len(records) / (perf_counter() - started)
    printed = vectors.official["print_results"][runner]
    assert str(report.value("Overall Success Rate")) == printed["Overall Success Rate"]
    assert str(report.value("Overall Call Accuracy")) == printed["Overall Call Accuracy"]
    assert str(report.value("Complete Score")) == printed["Complete Score"]
    assert str(report.value("Correct Score")) == printed["Correct Score"]
    for label, prefix in (("Domain Success Rate", "Success Rate"), ("Domain Call Accuracy", "Call Accuracy")):
        domains = ["Hotels", "Flights", "Car-Rental", "Attraction", "Cross"]
        figures = {name: report.value(f"{prefix} {name}") for name in domains}
        assert figures == eval_free(printed[label])
    raised = {row.id for row in report.rows if row.error}
    expected = {c["id"] for c, v in vectors.of("conv") if "__raised__" in v[runner]}
    assert (report.n, len(report.rows), raised) == (300, 300, expected)
    print(f"complexfuncbench, {runner} runner: {rate:,.0f} conversations a second")


def eval_free(text: str) -> Any:
    """A printed Python dict of numbers, read as JSON."""
    return json.loads(text.replace("'", '"'))


def test_corrected_gives_a_figure_where_the_published_code_raises(vectors: Vectors) -> None:
    records = [(vectors.sample(case), recorded(case)) for case, _ in vectors.of("conv")]
    report = score_corrected(records, settings=vectors.settings())
    assert report.figure("Overall Success Rate").denominator == 300
    assert not [row.id for row in report.rows if row.error]
    assert all(row.figures[0].value <= 1 for row in report.rows)  # type: ignore[operator]


def test_paper_example_and_its_model_answer(reference: Path) -> None:
    at = reference / "datasets" / "complexfuncbench"
    example = json.loads((at / "paper_example.json").read_text())
    talk = example["gold"]["conversations"]
    made = example["model_generated"]["steps"]
    calls = [call for step in (*made, *(turn.calls for turn in steps_of(talk))) for call in step]
    keys = {key: {} for call in calls for key in call["arguments"]}
    functions = [{"name": call["name"], "parameters": {"properties": keys, "required": []}} for call in calls]
    sample = Sample("paper-table5", talk[0]["content"], functions, talk)
    said = [{"role": "assistant", "function_call": step} for step in made]
    text = json.dumps([*said, {"role": "assistant", "content": "Booked."}])
    row = score_corrected([(sample, text)]).rows[0]
    assert (row.figures[0].numerator, row.figures[0].denominator) == (5, 5)
    figures = {f.name: f.numerator for f in score_corrected([(sample, text)]).figures}
    assert figures["error share func_error"] == 4  # one superfluous call in step 1, three in step 2
