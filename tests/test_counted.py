"""One thing is no things: what is printed of one is in the singular."""

import re
from pathlib import Path

import pytest

from planner_eval.curation.shrink.pairs import Size
from planner_eval.curation.shrink.shrink import Shrunk, ShrunkSide
from planner_eval.plan.model import Plan
from tests.conftest import ROOT

ONE = re.compile(r"(?<![\w.,=#$×–\\/-])1 ([a-z]+s)\b(?! tools)")
VERBS = {"asks", "is", "has", "refers", "goes", "gives", "levels"}

CONSOLE = re.compile(r"```console\n(.*?)```", re.S)

PRINTED = [
    *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "tests" / "cases").glob("*.jsonl")),
    *sorted((ROOT / "tests" / "told").glob("*.txt")), *sorted((ROOT / "tests" / "explained").rglob("*.txt")),
]  # fmt: skip


@pytest.mark.parametrize("file", PRINTED, ids=lambda file: file.name)
def test_what_is_printed_of_one_thing_is_in_the_singular(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    printed = "\n".join(CONSOLE.findall(text)) if file.suffix == ".md" else text
    found = {match[1]: match[0] for match in ONE.finditer(printed)}
    assert not found.keys() - VERBS, found


def test_what_became_of_one_call_is_in_the_singular() -> None:
    was, now, small = Size(1, 1, 0, 0, 4), Size(1, 0, 0, 0, 1), Size(weight=1)
    plan = ShrunkSide("f()", "appbench", Plan(()), was, now, ".txt", "f()")
    found = Shrunk(plan, ShrunkSide("f", None, None, small, small, ".txt", "f"), "it", 1, 0, "smallest")
    said = "1 call to 1, 1 argument to 0, 1 character of text to 1 in 1 try; no step makes it smaller"
    assert found.said == said
