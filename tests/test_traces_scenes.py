"""How precise the findings in traces are: sixty scenes in six forms, counted as the docs say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import planner_eval as pe
from tests.conftest import ROOT
from tests.traces_scenes import FORMS, RIGHT, WRONG

FALSE = {"the same number twice", "a game that says one sentence"}
"""Right runs with a warning: of tools that may say the same each time, which no trace tells."""

BESIDE = {"a span is missing": "trace.repeated_call"}
"""What is told wrongly beside the fault: of which agent the calls are stands in the span that is missing."""

MILD = {
    "again after another", "not allowed, after another", "a tool that nobody ran", "an answer unread",
    "the first answer unread", "two answers unread", "a job that has failed",
}  # fmt: skip
"""Faults that are told as info."""

TWICE = {"not allowed"}
"""A fault that is told of two calls."""

UNSEEN = {"a search in new words each time"}


def found(path: Path) -> list[tuple[str, str]]:
    return [(one.severity, one.code) for one in pe.check(path) if one.code != "trace.critical_path"]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_told_of_each_scene(form: str, tmp_path: Path) -> None:
    path = tmp_path / ("t.jsonl" if form in ("Agents SDK", "MLflow") else "t.json")
    warned = set()
    for name, spans in RIGHT.items():
        path.write_text(FORMS[form](name, spans))
        warned |= {name for severity, _ in found(path) if severity != "info"}
    assert warned == FALSE
    for name, (spans, code) in WRONG.items():
        path.write_text(FORMS[form](name, spans))
        told = found(path)
        severe = {code for severity, code in told if severity != "info"}
        right = set() if name in MILD | UNSEEN else {code}
        assert severe == right | ({BESIDE[name]} if name in BESIDE else set()), name
        assert sum(one == ("warning", code) for one in told) == len(right) + (name in TWICE), name
        assert bool(told) == (name not in UNSEEN), name


def test_the_docs_say_these_counts() -> None:
    forms = len(FORMS)
    counts = {
        "traces": forms * (len(RIGHT) + len(WRONG)),
        "right": forms * len(RIGHT),
        "false": forms * len(FALSE),
        "wrong": forms * len(WRONG),
        "said": forms * (len(WRONG) - len(MILD) - len(UNSEEN) + len(TWICE)),
        "seen": forms * (len(WRONG) - len(MILD) - len(UNSEEN)),
    }
    row = "| 60 more, with the rules of today | {traces} | {right} | {false} | {wrong} | "
    row += "{said}, of {seen} traces; "
    page = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    assert f"{row.format(**counts)}{forms * len(BESIDE)} more are beside the fault |" in page
    assert re.search(rf"{forms * len(MILD)} are told as info,\s{forms * len(UNSEEN)} not at all", page)
    assert f"{counts['seen']} of {counts['seen'] + counts['false']} traces\nwith a warning are wrong" in page


def test_half_of_the_scenes_are_right_and_each_fault_has_some() -> None:
    assert len(RIGHT) == len(WRONG) == 30
    faults = Counter(code for _, code in WRONG.values())
    assert min(faults.values()) >= 3
    assert set(faults) == {
        "trace.repeated_call", "trace.loop", "trace.failed_retry", "trace.not_run", "trace.incomplete",
        "trace.unused_result",
    }  # fmt: skip
