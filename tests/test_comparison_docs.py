"""The tables of docs/comparison.md say what the code says."""

from __future__ import annotations

import pytest

from planner_eval.comparison.edits import EDITS
from planner_eval.metrics import METRICS
from planner_eval.policy import NAMES, ORDERS
from planner_eval.policy.rule import COMPARE
from tests.conftest import ROOT
from tests.test_policy import PAIRS, SAME

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [EDITS, COMPARE, ORDERS, NAMES], ids=["codes", "rules", "orders", "names"])
def test_every_row_is_there(table: dict[str, str]) -> None:
    assert [name for name, said in table.items() if f"| `{name}` | {said} |" not in PAGE] == []


def test_metrics_are_there() -> None:
    missing = [
        m.name for m in METRICS.values() if f"| `{m.name}` | {m.group} |" not in PAGE or m.title not in PAGE
    ]
    assert missing == []


def test_presets_answers_are_there() -> None:
    order = ("strict", "lenient", "appbench", "nestful", "callnavi", "complexfuncbench", "functionchat")
    for pair in PAIRS:
        if pair["policy_dependent"]:
            line = next(
                line for line in PAGE.splitlines() if line.startswith(f"| {pair['id']} {pair['what']} |")
            )
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert (cells[1] == "same") is (pair["id"] in SAME["default"])
            assert [cell == "same" for cell in cells[3:]] == [pair["id"] in SAME[name] for name in order]
