"""TaskBench's figures: cases by hand, and against what its evaluate.py counts, told again in a few lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.comparison.metrics import score
from planner_eval.comparison.metrics.facts import Counts
from planner_eval.comparison.policy.policy import Policy
from planner_eval.reading.dialects.read import parse
from tests.conftest import examples

TOOLS = ("Text Search", "Image Search", "Text-to-Video")
PUBLISHED = ["taskbench_nodes", "taskbench_links"]
Graph = dict[str, list[dict[str, Any]]]


def graph(*nodes: tuple[str, list[Any]]) -> Graph:
    return {"task_nodes": [{"task": name, "arguments": given} for name, given in nodes], "task_links": []}


def ours(pred: Graph, gold: Graph, tools: tuple[str, ...] = TOOLS) -> list[Any]:
    policy = Policy(tools={name: frozenset() for name in tools})
    read = [parse(json.dumps(one), dialect="taskbench") for one in (pred, gold)]
    return [*score(read[0], read[1], policy, metrics=PUBLISHED).values()]


TEXT, IMAGE = ("Text Search", ["a"]), ("Image Search", ["<node-0>"])
SEARCHED = graph(TEXT, IMAGE)
BOTH = ("Image Search", ["<node-0> <node-1>"])
BARE = ("Text Search", [])
OWN_LOOP = graph(("Text Search", ["<node-0>"]), ("Image Search", ["<node-7> <node-0>"]))


@pytest.mark.parametrize(("pred", "nodes", "links"), [
    (SEARCHED, Counts(2, 2, 2), Counts(1, 1, 1)),
    (graph(TEXT, ("Draw", ["<node-0>"])), Counts(1, 1, 2), Counts(0, 1, 1)),  # no node, but its link counts
    (graph(("Find", []), ("Draw", [])), Counts(0, 0, 2), Counts(0, 0, 1)),
    (graph(("Text_Search", ["a"]), IMAGE), Counts(2, 2, 2), Counts(1, 1, 1)),  # a blank, but in a target
    (graph(TEXT, ("Image_Search", ["<node-0>"])), Counts(2, 2, 2), Counts(0, 1, 1)),
    (graph(BARE, BARE, BOTH), Counts(2, 2, 2), Counts(1, 1, 1)),  # one node, and one link of an argument
    (graph(BARE, ("Text-to-Video", []), BOTH), Counts(2, 3, 2), Counts(1, 1, 1)),
    (OWN_LOOP, Counts(2, 2, 2), Counts(0, 0, 1)),  # to itself, and to none
])  # fmt: skip
def test_by_hand(pred: Graph, nodes: Counts, links: Counts) -> None:
    assert ours(pred, SEARCHED) == [nodes, links]


def published(pred: Graph, gold: Graph) -> list[Counts]:
    """What evaluate.py counts of one sample with --dependency_type resource, for its nodes and its links."""
    names, links = [], []
    for side in (pred["task_nodes"], gold["task_nodes"]):
        named = [node["task"].replace("_", " ") for node in side]
        fed = []
        for at, node in enumerate(side):
            for argument in node["arguments"]:
                text = " ".join(argument) if isinstance(argument, list) else argument
                if "<node-" in text:
                    number = int(text[text.index("<node-") + 6 : text.index(">")])
                    if number != at and number < len(named):
                        fed.append((named[number], node["task"]))
        names.append({name for name in named if name in TOOLS})
        links.append({*fed})
    return [Counts(len(a & b), len(a), len(b)) for a, b in (names, links)]


texts = st.sampled_from(["x", "<node-0>", "<node-1>", "<node-9>", "<node-1>, <node-0>", "a <node-2> b"])
called = st.sampled_from([*TOOLS, *(name.replace(" ", "_") for name in TOOLS), "Draw", "Draw_It"])
nodes = st.tuples(called, st.lists(texts | st.lists(texts, max_size=2), max_size=3))
# the reader counts from 1 where no <node-0> occurs, the published code never does
graphs = st.lists(nodes, max_size=4).map(lambda found: graph(*found, ("Text Search", ["<node-0>"])))


@examples(400)
@given(graphs, graphs)
def test_as_the_published_code_counts(pred: Graph, gold: Graph) -> None:
    assert ours(pred, gold) == published(pred, gold)
