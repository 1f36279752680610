"""Run by another interpreter: time published plan scorers on prepared pairs, and put them to the 38 pairs.

    python peers.py PAIRS.json SELFTEST.json     one JSON object a line: name, rate, wrong, error

Each peer is optional; what does not import is left out. Inputs are prepared before the clock starts; a
peer's own public call is timed, with its verdict "same" where its score is 1.
"""

import asyncio
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Calls = list[dict[str, Any]]
Prepare = Callable[[Calls, Calls], Any]
Score = Callable[[Any], float]


def plain(plan: Calls) -> Calls:
    """The calls as most scorers know them: names and arguments, references as they stand."""
    return [{"name": call["name"], "args": call["arguments"]} for call in plan]


def deepdiff_peer() -> Iterator[tuple[str, Prepare, Score]]:
    from deepdiff import DeepDiff

    yield "deepdiff", lambda p, g: (p, g), lambda pair: float(not DeepDiff(pair[1], pair[0]))
    ignore = {"ignore_order": True}
    yield "deepdiff ignore order", lambda p, g: (p, g), lambda pair: float(not DeepDiff(*pair, **ignore))


def autoevals_peer() -> Iterator[tuple[str, Prepare, Score]]:
    from autoevals import JSONDiff

    scorer = JSONDiff()
    yield "autoevals JSONDiff", lambda p, g: (plain(p), plain(g)), lambda x: scorer.eval(x[0], x[1]).score


def agentevals_peer() -> Iterator[tuple[str, Prepare, Score]]:
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    def messages(plan: Calls) -> Calls:
        calls = [{"function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in plan]
        return [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": calls}]

    for mode in ("strict", "unordered", "superset"):
        evaluator = create_trajectory_match_evaluator(trajectory_match_mode=mode)

        def score(pair: Any, evaluator: Any = evaluator) -> float:
            return float(evaluator(outputs=pair[0], reference_outputs=pair[1])["score"])

        yield f"agentevals {mode}", lambda p, g: (messages(p), messages(g)), score


def deepeval_peer() -> Iterator[tuple[str, Prepare, Score]]:
    os.environ.setdefault("OPENAI_API_KEY", "unused")  # asked for at construction, though nothing is asked
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    def case(pred: Calls, gold: Calls) -> Any:
        used, wanted = (
            [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in plan]
            for plan in (pred, gold)
        )
        return LLMTestCase(input="?", actual_output="!", tools_called=used, expected_tools=wanted)

    settings = {"evaluation_params": [ToolCallParams.INPUT_PARAMETERS], "async_mode": False}
    for name, more in (("arguments", {}), ("arguments, exact", {"should_exact_match": True})):
        metric = ToolCorrectnessMetric(**settings, **more)

        def score(prepared: Any, metric: Any = metric) -> float:
            return float(metric.measure(prepared, _show_indicator=False))

        yield f"DeepEval ToolCorrectness {name}", case, score


def ragas_peer() -> Iterator[tuple[str, Prepare, Score]]:
    from ragas.dataset_schema import MultiTurnSample
    from ragas.messages import AIMessage, HumanMessage, ToolCall
    from ragas.metrics import ToolCallAccuracy, ToolCallF1

    def sample(pred: Calls, gold: Calls) -> Any:
        used, wanted = ([ToolCall(name=c["name"], args=c["arguments"]) for c in one] for one in (pred, gold))
        messages = [HumanMessage(content="?"), AIMessage(content="", tool_calls=used)]
        return MultiTurnSample(user_input=messages, reference_tool_calls=wanted)

    loop = asyncio.new_event_loop()
    for metric in (ToolCallAccuracy(), ToolCallF1()):

        def score(prepared: Any, metric: Any = metric) -> float:
            return float(loop.run_until_complete(metric.multi_turn_ascore(prepared)))

        yield f"Ragas {type(metric).__name__}", sample, score


def networkx_peer() -> Iterator[tuple[str, Prepare, Score]]:
    import networkx as nx

    def graph(plan: Calls) -> Any:
        made = nx.DiGraph()
        for call in plan:
            made.add_node(call["id"], label=call["name"])
        for call in plan:
            for value in call["arguments"].values():
                if isinstance(value, dict) and value.get("$ref") in made:
                    made.add_edge(value["$ref"], call["id"])
        return made

    def score(pair: Any) -> float:
        distance = nx.graph_edit_distance(
            *pair, node_match=lambda one, other: one["label"] == other["label"], timeout=5
        )
        return float(distance == 0)

    yield "networkx graph edit distance (names)", lambda p, g: (graph(p), graph(g)), score


PEERS = (deepdiff_peer, autoevals_peer, agentevals_peer, deepeval_peer, ragas_peer, networkx_peer)


def wrong(prepare: Prepare, score: Score, selftest: Calls) -> list[str]:
    """The numbers of undisputed pairs that the peer gets wrong, or raises on."""
    found = []
    for pair in selftest:
        if pair["policy_dependent"]:
            continue
        try:
            said = score(prepare(pair["pred"], pair["gold"])) >= 1
        except Exception:  # a raise is a wrong answer, whatever the peer raises
            said = None
        if said is not pair["same"]:
            found.append(pair["id"])
    return found


def main() -> None:
    """Measure every peer that imports."""
    warnings.simplefilter("ignore")
    pairs, selftest = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3])
    for peer in PEERS:
        try:
            for name, prepare, score in peer():
                ready = [prepare(pred, gold) for pred, gold in pairs]
                times = []
                for _ in range(3):  # the quickest of three runs, as for ours
                    start = time.perf_counter()
                    for item in ready:
                        score(item)
                    times.append(time.perf_counter() - start)
                rate = len(ready) / min(times)
                row = {"name": name, "rate": rate, "wrong": wrong(prepare, score, selftest)}
                print("\n" + json.dumps(row), flush=True)
        except ImportError:
            continue


if __name__ == "__main__":
    main()
