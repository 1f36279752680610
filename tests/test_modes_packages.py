"""Modes of other packages held against these packages themselves, where they are installed.

`pip install agentevals google-adk deepeval` into an environment of its own, and name its site-packages in
PLANEVAL_MODE_PACKAGES.
"""

import json
import os
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from planner_eval.base import resources
from tests.test_modes import PUBLISHED, Calls, random_calls, written

pytestmark = pytest.mark.long

if folder := os.environ.get("PLANEVAL_MODE_PACKAGES"):
    sys.path.append(folder)


def both(pair: dict[str, Any]) -> tuple[Calls, Calls]:
    """A pair's calls as the packages see them."""
    return written(pair["pred"]), written(pair["gold"])


def agentevals(mode: str) -> Callable[[Calls, Calls], bool]:
    match = pytest.importorskip("agentevals.trajectory.match")
    evaluator = match.create_trajectory_match_evaluator(trajectory_match_mode=mode)

    def messages(calls: Calls) -> list[dict[str, Any]]:
        made = [{"function": {"name": name, "arguments": json.dumps(given)}} for name, given in calls]
        if mode == "strict":  # it compares message by message
            return [{"role": "assistant", "content": "", "tool_calls": [call]} for call in made]
        return [{"role": "assistant", "content": "", "tool_calls": made}]

    return lambda pred, gold: bool(
        evaluator(outputs=messages(pred), reference_outputs=messages(gold))["score"]
    )


def google_adk(mode: str) -> Callable[[Calls, Calls], bool]:
    trajectory = pytest.importorskip("google.adk.evaluation.trajectory_evaluator")
    types = pytest.importorskip("google.genai.types")
    evaluator = trajectory.TrajectoryEvaluator(threshold=1.0)
    compare = getattr(evaluator, f"_are_tool_calls_{mode}_match")

    def made(calls: Calls) -> list[Any]:
        return [types.FunctionCall(name=name, args=given) for name, given in calls]

    return lambda pred, gold: bool(compare(made(pred), made(gold)))


def deepeval(_mode: str) -> Callable[[Calls, Calls], bool]:
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    metrics = pytest.importorskip("deepeval.metrics")
    test_case = pytest.importorskip("deepeval.test_case")

    class NoModel(pytest.importorskip("deepeval.models").DeepEvalBaseLLM):  # type: ignore[misc]
        """The metric asks for a model where it is made, and asks it nothing without tools on offer."""

        def load_model(self) -> None: ...

        def get_model_name(self) -> str:
            return "none"

        def generate(self, *_args: Any, **_kwargs: Any) -> str:
            raise AssertionError("no model is asked")

        async def a_generate(self, *_args: Any, **_kwargs: Any) -> str:
            raise AssertionError("no model is asked")

    def score(pred: Calls, gold: Calls) -> bool:
        metric = metrics.ToolCorrectnessMetric(model=NoModel(), async_mode=False)
        metric.tools_called = [test_case.ToolCall(name=name, input_parameters=given) for name, given in pred]
        metric.expected_tools = [
            test_case.ToolCall(name=name, input_parameters=given) for name, given in gold
        ]
        return bool(metric._calculate_score() == 1)

    return score


THEIRS = {
    "agentevals strict": ("exact-order", agentevals, "strict"),
    "agentevals unordered": ("unordered", agentevals, "unordered"),
    "agentevals subset": ("subset", agentevals, "subset"),
    "agentevals superset": ("superset", agentevals, "superset"),
    "google-adk EXACT": ("exact-order", google_adk, "exact"),
    "google-adk IN_ORDER": ("in-order", google_adk, "in_order"),
    "google-adk ANY_ORDER": ("any-order", google_adk, "any_order"),
    "deepeval ToolCorrectness": ("names-only", deepeval, ""),
}


@pytest.mark.parametrize("name", THEIRS)
def test_the_package_says_what_the_tests_take_it_to_say(name: str) -> None:
    """On random trajectories and on the 38 pairs: so the docs' table holds for the package itself."""
    mode, make, its_name = THEIRS[name]
    theirs, expected, random = make(its_name), PUBLISHED[mode], Random(11)
    cases = [(random_calls(random), random_calls(random)) for _ in range(150)]
    cases += [(gold[:], gold) for _, gold in cases[:30]]
    pairs = json.loads(resources.read("data/selftest/plan_pairs.json"))
    cases += [both(pair) for pair in pairs]
    differ = []
    for pred, gold in cases:
        if theirs(pred, gold) is not expected(pred, gold):
            differ.append((pred, gold))
    assert differ == []
