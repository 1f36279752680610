"""What ``planeval diff`` says of pairs as people tell them: the first mistake, numbers, habits, alternatives.

A case is one file of tests/told: the files of a pair under their names, then each command and what it
prints. ``pytest tests/test_told.py --update-cases`` rewrites what is printed: review the diff like code.
"""

import re
import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner_eval.comparison.diff import diff, explain
from planner_eval.comparison.explanation.lines import EditLine, make_edit_lines
from planner_eval.comparison.explanation.names import MAX_VALUE_LENGTH
from planner_eval.comparison.explanation.sentences import mark_differences
from planner_eval.comparison.matching.align import match
from planner_eval.plan.model import Call, Plan
from planner_eval.results.views.rows import diff_text
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_compared import COUNT, POLICIES, pair

CASES = sorted((ROOT / "tests" / "told").glob("*.txt"))
assert len(CASES) >= 10


def sections(text: str) -> list[tuple[str, str]]:
    parts = re.split(r"^--- (.*)\n", text, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_what_is_said(case: Path, tmp_path: Path, request: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    now = []
    for name, text in sections(case.read_text(encoding="utf-8")):
        if name.startswith("$ planeval "):
            text = planeval(*shlex.split(name)[2:]).stdout
        else:
            Path(name).write_text(text, encoding="utf-8")
        now.append(f"--- {name}\n{text}")
    if request.config.getoption("--update-cases"):
        case.write_text("".join(now), encoding="utf-8")
    assert case.read_text(encoding="utf-8") == "".join(now)


NUMBERS = re.compile(r"[(‹](?:call (\d+)(?:, gold's (\d+))?|gold's call (\d+))[):›]")


def test_of_calls_that_need_none_the_first_written_is_the_first_mistake() -> None:
    """However gold writes its calls: without references only the prediction's order is an order."""
    random = Random(5)
    for _ in range(200):
        wrong = sorted(random.sample(range(6), 2))
        pred = [Call(f"c{at}", f"f{at}", (("x", -1 if at in wrong else at),)) for at in range(6)]
        found = diff(Plan(tuple(pred)), Plan(tuple(random.sample(calls(6), 6))))
        assert [edit.pred and edit.pred.call for edit in found.edits] == wrong
        head = diff_text(found).split("\n")[0]
        assert f"; first at f{wrong[0]} (call {wrong[0] + 1}" in head


@pytest.mark.parametrize("ours", ["a" * 300, "word " * 60, '"\\' * 100, "\x1b[31m" * 60, "…" * 200])
def test_the_first_difference_of_two_long_texts_is_in_sight(ours: str) -> None:
    for at in (0, 70, len(ours) // 2, len(ours)):
        theirs = ours[:at] + "DIFFERENT" + ours[at:]
        one, other = (Plan((Call("c", "f", (("x", text),)),)) for text in (ours, theirs))
        (edit,) = diff(one, other).edits
        assert "DIFFERENT" in edit.message
        assert "\x1b" not in edit.message
        assert len(edit.message) < 8 * MAX_VALUE_LENGTH
        assert "".join(piece for piece, _ in mark_differences(edit.message)) == edit.message


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_call_has_one_number_and_lines_hold_every_edit_once_under_their_cause(seed: int) -> None:
    pred, gold, policy, terms = pair(seed)
    found = explain(match(pred, gold, POLICIES[policy], terms))
    partners = dict(found.alignment.pairs)
    said = diff_text(found, each=True, structure=True)
    for ours, theirs, lost in NUMBERS.findall(said):
        if lost:
            assert int(lost) - 1 not in partners.values(), said
        elif theirs:
            assert partners[int(ours) - 1] == int(theirs) - 1 != int(ours) - 1, said
        else:
            assert partners.get(int(ours) - 1, int(ours) - 1) == int(ours) - 1, said
    if found.first is not None:
        head = said.split("\n")[0].partition("; first at ")[2]
        assert any(head.partition(")")[0] in edit.message for edit in found.roots), said
    lines = make_edit_lines(found)
    assert sorted(at for line in lines for at in line.edits) == list(range(len(found.edits)))
    above: list[EditLine] = []
    for line in lines:
        cause = found.edits[line.edits[0]].cause
        del above[line.depth :]
        assert above[-1:] == [] if cause is None else cause in above[-1].edits
        above.append(line)
    assert [line.edits for line in make_edit_lines(found, each=True)] == [
        (at,) for at in range(len(found.edits))
    ]


def calls(count: int, by: int = 0) -> list[Call]:
    return [Call(f"c{at}", f"f{at}", (("x", at + by),)) for at in range(count)]
