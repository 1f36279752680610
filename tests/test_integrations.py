"""Each block of docs/integrations.md against the real package, in an environment made for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from planner_eval.integrations.langchain import plan_evaluator
from planner_eval.integrations.verdict import judge
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "integrations.md"
GOLD = '[{"name": "get_rate", "arguments": {"base": "EUR", "quote": "USD"}}]'
CALL = {"name": "get_rate", "args": {"base": "EUR", "quote": "USD"}, "id": "c1", "type": "tool_call"}


class Section(NamedTuple):
    """A part of the page: its heading, the packages that it needs, its blocks and what they print."""

    name: str
    packages: tuple[str, ...]
    blocks: tuple[tuple[str, str], ...]


def sections() -> list[Section]:
    """The parts of the page that say what they need."""
    found = []
    for part in re.split(r"^##+ ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        needs = re.search(r"<!-- packages: (.*?); tried: .*? -->", part)
        if needs is not None:
            blocks = re.findall(r"^```python\n(.*?)^```\n```text\n(.*?)^```$", part, re.S | re.M)
            found.append(Section(part.partition("\n")[0], tuple(needs[1].split()), tuple(blocks)))
    return found


def pattern(shown: str) -> str:
    """What a block may print: ``…`` stands for anything."""
    return ".*".join(map(re.escape, shown.rstrip("\n").split("…"))) + r"\n*"


@pytest.mark.long
@pytest.mark.parametrize("section", sections(), ids=lambda one: one.name)
def test_a_section_runs_against_the_real_package(section: Section, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", section.packages)
    (tmp_path / "data").symlink_to(ROOT / "data")
    script = tmp_path / "section.py"
    text = "\nprint('-- block')\n".join(block for block, _ in section.blocks)
    script.write_text(text, encoding="utf-8")
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_SILENT": "true"}
    done = subprocess.run(
        [python, script], cwd=tmp_path, env=os.environ | quiet, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    printed = done.stdout.split("-- block\n")
    for (_, shown), said in zip(section.blocks, printed, strict=True):
        assert re.search(pattern(shown), said, re.S), said


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """An environment of some packages and this one; the test is skipped where they cannot be had."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run([*pip, "--editable", ROOT, *packages], capture_output=True, text=True, timeout=1200)
    if done.returncode:
        if re.search(
            r"NewConnectionError|No matching distribution|Temporary failure|Max retries", done.stderr
        ):
            pytest.skip(f"{', '.join(packages)} cannot be installed here: {done.stderr.splitlines()[-1]}")
        pytest.fail(done.stderr[-2000:])
    listed = subprocess.run(
        [python, "-m", "pip", "freeze", "--all"], capture_output=True, text=True, check=True
    )
    wanted = [one.lower().replace("_", "-") for one in packages]
    versions = [
        line
        for line in listed.stdout.splitlines()
        if line.partition("==")[0].lower().replace("_", "-") in wanted
    ]
    print("tried with", ", ".join(versions) or "nothing else")
    return python


# ---------------------------------------------------------------- without the packages
def test_an_answer_is_the_plan_or_it_is_not_and_why() -> None:
    assert judge(GOLD, GOLD) == ("same", "the same plan: 1 call", ())
    wrong = judge(GOLD.replace("USD", "GBP"), GOLD)
    assert (wrong.same, wrong.causes) == (False, ("argument.value",))
    assert "argument 'quote' is \"GBP\"" in wrong.reason
    assert judge(GOLD[:-30], GOLD, repair=False).state == "unreadable"
    assert judge("I cannot help.", GOLD).causes == ("call.missing",)


@pytest.mark.parametrize(
    "answer",
    [
        [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [CALL]}],
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [CALL]}]},
        {"output": GOLD},
        [CALL],
        'get_rate(base="EUR", quote="USD")',
    ],
)
def test_an_answer_may_have_any_form(answer: object) -> None:
    assert judge(answer, GOLD).same
    assert judge(GOLD, answer).same
    found = plan_evaluator(key="plan")(inputs={}, outputs=answer, reference_outputs=GOLD, run=None)
    assert (found["key"], found["score"], found["metadata"]) == (
        "plan",
        True,
        {"state": "same", "causes": []},
    )


@pytest.mark.parametrize("answer", [None, "", "README.md", 5, {"x": 1}, [[[]]], "[" * 300])
def test_no_answer_raises(answer: object) -> None:
    assert not judge(answer, GOLD).same


def test_gold_that_cannot_be_read_is_told() -> None:
    with pytest.raises(Exception, match="the gold plan cannot be read"):
        judge(GOLD, "[{")


def test_the_page_has_the_packages() -> None:
    assert len(sections()) >= 9
    assert all(section.blocks for section in sections())
