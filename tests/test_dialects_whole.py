"""The short way for texts that are nothing but a plan gives what the search gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner_eval.base.limits import Limits
from planner_eval.dialects.find import find
from planner_eval.dialects.whole import read_whole
from planner_eval.plan.link import link
from tests.conftest import ROOT

LIMITS = Limits()


def agree(text: str) -> bool:
    """Whether the short way took the text; where it did, the search must say the same."""
    whole = read_whole(text, LIMITS)
    if whole is None:
        return False
    found = find(text, LIMITS)
    assert found.dialect == whole[0]
    ours, theirs = link(whole[1]), link(found.raw)
    assert ours == theirs
    assert [d.code for d in ours.diagnostics] == [d.code for d in theirs.diagnostics]
    return True


TAKEN = [
    "a = f(#x='1')\nb = g(#y=a)",
    "App: [f(#x='it's', #y=['a', b])]\nApp: [g(#z='2')]",
    '[{"name": "f", "arguments": {"a": [1, {"b": null}]}}]',
    '{"name": "f", "arguments": {"a": 1, "a": 2}}',
    '{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}',
    '[{"name": "f", "label": "v1", "arguments": {}}, {"name": "g", "arguments": {"a": "$v1$"}}]',
    '[{"id": "a", "name": "f", "arguments": {}}, {"name": "g", "arguments": {"x": {"$ref": "a"}}}]',
    '{"schema": "planeval.plan/1", "calls": [{"id": "a", "app": "A", "name": "f", "arguments": {}}]}',
]
LEFT = [
    "[]", "hello", "f(a=1)", "[f(a=1)]", '[{"api": "f", "parameters": {}}]', "```\nf(#a='1')\n```",
    '[{"id": "c1", "name": "f", "arguments": {}}]', '{"name": "f", "arguments": {"a": "{{tool0turn0}}"}}',
    '{"name": "f", "arguments": ', "<think>x</think>f(#a='1')",
]  # fmt: skip


@pytest.mark.parametrize("text", TAKEN)
def test_plans_from_end_to_end_take_the_short_way(text: str) -> None:
    if "['a', b]" in text:  # lists go to the grammar
        assert read_whole(text, LIMITS) is None
    else:
        assert agree(text)


@pytest.mark.parametrize("text", LEFT)
def test_everything_else_is_left_to_the_search(text: str) -> None:
    assert read_whole(text, LIMITS) is None


def test_both_ways_agree_on_the_demo() -> None:
    texts = [json.loads(line)["gold"] for line in (ROOT / "data/demo/gold.jsonl").read_text().splitlines()]
    assert all(agree(text if isinstance(text, str) else json.dumps(text)) for text in texts)


def test_both_ways_agree_on_real_texts(reference: Path) -> None:
    taken = 0
    for part in ("ss", "sm", "ms", "mm"):
        for record in json.loads((reference / f"datasets/appbench/test_{part}.json").read_text()):
            taken += agree("\n".join(record["output"]["api_results"]))
    for line in (reference / "datasets/nestful/v2/nestful_v2_collected.jsonl").read_text().splitlines():
        taken += agree(json.dumps(json.loads(line)["output"]))
    assert taken == 801 + 554
    for line in (reference / "datasets/raw_outputs/raw_outputs.jsonl").read_text().splitlines():
        agree(json.loads(line)["text"])
