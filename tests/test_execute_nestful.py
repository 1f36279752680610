"""NESTful's answers run in a worker: every row of the vectors that needs execution, and MathQA's formulas."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import ExecutionError
from planner_eval.benchmarks.datasets.mathqa import read_mathqa
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.official import is_win
from planner_eval.execution.nestful import NestfulRunner
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.execution.run import execute_many
from tests.conftest import tables
from tests.nestful_published import PublishedRunner

TABLES = tables(__file__)

TOOLS = [{"name": name, "output_parameters": {"result": {}}} for name in OFFICIAL_FUNCTIONS]
SAMPLE = SimpleNamespace(tools=[*TOOLS, {"name": "pair", "output_parameters": {"a": {}, "b": {}}}])


def call(name: str, label: str, *values: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "arguments": {f"arg_{i}": value for i, value in enumerate(values)}}


@pytest.fixture(scope="module", params=["inline", "process", "strict"])
def run(request: pytest.FixtureRequest) -> Iterator[NestfulRunner]:
    with NestfulRunner(level=request.param, seconds=2) as runner:
        try:
            runner([call("add", "$var_1", 1, 2)], SAMPLE)
        except ExecutionError as error:
            pytest.skip(f"isolation: {error}")
        yield runner


CASES = [
    ([call("power", "$var_1", -8, 0.5)], (-8) ** 0.5),
    *TABLES["CASES"],
]  # fmt: skip


@pytest.mark.parametrize(("calls", "expected"), CASES)
def test_an_answer_runs_as_the_benchmark_runs_it(run: NestfulRunner, calls: Any, expected: Any) -> None:
    found = run(calls, SAMPLE)
    assert found == expected
    assert type(found) is type(expected)
    assert found == PublishedRunner(OFFICIAL_FUNCTIONS)(calls, Sample("a", tools=SAMPLE.tools))


def test_outcomes_keep_order_and_tell_failure_from_false(run: NestfulRunner) -> None:
    outcomes = list(run.outcomes([(calls, SAMPLE) for calls, _ in CASES]))
    assert [o.value if o.failure is None else False for o in outcomes] == [want for _, want in CASES]
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    assert kinds[12] == "ZeroDivisionError"
    assert kinds[13:] == ["not-executable"] * (len(CASES) - 13)


def test_an_answer_without_end_costs_its_deadline(run: NestfulRunner) -> None:
    if run.box.level == "inline":
        return
    endless = [call("power", "$var_1", 9, 9), call("power", "$var_2", 9, "$var_1.result$")]
    with NestfulRunner(level=run.box.level, seconds=0.5) as quick:
        outcome = quick.outcome(endless, SAMPLE)
        assert quick(endless[:1], SAMPLE) == 9**9
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


def test_all_math_plans_of_the_released_data_reach_their_answer_in_a_worker(reference: Path) -> None:
    answers, golds = [], []
    for line in (reference / "datasets/nestful/v2/nestful_v2_collected.jsonl").read_text().splitlines():
        record = json.loads(line)
        if all(c["name"] in OFFICIAL_FUNCTIONS and "arg_0" in c["arguments"] for c in record["output"]):
            tools = [{"name": c["name"], "output_parameters": {"result": {}}} for c in record["output"]]
            answers.append((record["output"], SimpleNamespace(tools=tools)))
            golds.append(record["gold_answer"])
    with NestfulRunner() as run:
        values = [outcome.value for outcome in run.outcomes(answers)]
    exact = sum(value == gold for value, gold in zip(values, golds, strict=True))
    won = sum(is_win(value, gold) for value, gold in zip(values, golds, strict=True))
    assert (len(golds), exact, won - exact) == (411, 361, 50)


@pytest.mark.more
@pytest.mark.parametrize(("split", "named", "sane"), [("test", 2967, 2958), ("challenge_test", 599, 596)])
def test_the_formulas_of_mathqa_run(reference: Path, split: str, named: int, sane: int) -> None:
    samples = read_mathqa(reference / "datasets" / "mathqa", split=split)
    plans = [pe.parse(sample.gold, dialect="nestful") for sample in samples]
    known = [plan for plan in plans if all(call.tool in OFFICIAL_FUNCTIONS for call in plan.calls)]
    assert len(known) == named
    traces = list(execute_many(plans, "nestful:sane"))
    assert sum(trace.ok for trace in traces) == sane
    reasons = {call.error.kind for trace in traces for call in trace.failed if call.error}
    assert reasons <= {"unknown-tool", "ZeroDivisionError", "ValueError", "TypeError"}
