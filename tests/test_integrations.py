"""Each block of docs/integrations.md against the real package, in an environment made for it."""

import json
import os
import re
import subprocess
import sys
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import planner_eval as pe
from planner_eval.base.errors import PolicyError
from planner_eval.integrations.langchain import plan_evaluator
from planner_eval.integrations.verdict import GoldError, compare_pair, judge
from tests.conftest import ROOT, tabled, tables

TABLES = tables(__file__)

PAGE = ROOT / "docs" / "integrations.md"
GOLD = '[{"name": "get_rate", "arguments": {"base": "EUR", "quote": "USD"}}]'
CALL = {"name": "get_rate", "args": {"base": "EUR", "quote": "USD"}, "id": "c1", "type": "tool_call"}


class Section(NamedTuple):
    """A part of the page: its heading, the packages that it needs, its blocks and what they print."""

    name: str
    packages: tuple[str, ...]
    blocks: tuple[tuple[str, str], ...]


def sections() -> list[Section]:
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
    """An environment of some packages and this one; the test is skipped where they cannot be loaded."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run([*pip, "--editable", ROOT, *packages], capture_output=True, text=True, timeout=1200)
    if done.returncode:
        lost = r"NewConnectionError|No matching distribution|Temporary failure|Max retries"
        if re.search(lost, done.stderr):
            pytest.skip(f"{', '.join(packages)} cannot be installed here: {done.stderr.splitlines()[-1]}")
        pytest.fail(done.stderr[-2000:])
    freeze = [python, "-m", "pip", "freeze", "--all"]
    listed = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = [one.lower().replace("_", "-") for one in packages]
    named = [line for line in listed if line.partition("==")[0].lower().replace("_", "-") in wanted]
    print("tried with", ", ".join(named) or "nothing else")
    return python


def test_an_answer_is_the_plan_or_it_is_not_and_why() -> None:
    assert judge(GOLD, GOLD) == ("same", "the same plan: 1 call", ())
    wrong = judge(GOLD.replace("USD", "GBP"), GOLD)
    assert (wrong.same, wrong.causes) == (False, ("argument.value",))
    assert "argument 'quote' is \"GBP\"" in wrong.reason
    assert judge(GOLD[:-30], GOLD, repair=False).state == "unreadable"
    assert judge("I cannot help.", GOLD).causes == ("call.missing",)


@tabled("answer")
def test_an_answer_may_have_any_form(answer: object) -> None:
    assert judge(answer, GOLD).same
    assert judge(GOLD, answer).same
    found = plan_evaluator(key="plan")(inputs={}, outputs=answer, reference_outputs=GOLD, run=None)
    assert (found["key"], found["score"]) == ("plan", True)
    assert found["metadata"] == {"state": "same", "causes": []}


DEEP: list[Any] = []
for _ in range(3_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "answer", [None, "", "README.md", 5, {"x": 1}, [[[]]], "[" * 300, {"a": DEEP}], ids=range(8)
)
def test_no_answer_raises(answer: object) -> None:
    assert not judge(answer, GOLD).same


NO_GOLD = TABLES["NO_GOLD"]


@pytest.mark.parametrize("gold", NO_GOLD, ids=repr)
@pytest.mark.parametrize("answer", [GOLD, "I cannot.", None])
def test_beside_gold_that_is_no_plan_nothing_is_right(answer: object, gold: object) -> None:
    with pytest.raises(GoldError, match="gold plan"):
        judge(answer, gold)
    found = plan_evaluator()(outputs=answer, reference_outputs=gold)
    assert (found["score"], found["metadata"]) == (None, {"state": "gold_unreadable", "causes": []})
    assert "gold plan" in found["comment"]
    assert plan_evaluator()(outputs=answer)["score"] is None
    with pytest.raises(PolicyError):
        plan_evaluator(policy="nosuch")(outputs=GOLD, reference_outputs=GOLD)


@pytest.mark.parametrize("gold", [[], "[]", {"gold": []}, {"output": "[]"}, {"tool_calls": []}])
def test_an_empty_list_is_gold_without_calls(gold: object) -> None:
    assert judge("I cannot.", gold).same
    assert judge(GOLD, gold).causes == ("call.extra",)


RECORDS: list[tuple[str, dict[str, object], bool]] = TABLES["RECORDS"]


@pytest.mark.parametrize(("answer", "gold", "right"), RECORDS)
def test_what_else_is_right_counts_everywhere(answer: str, gold: dict[str, object], right: bool) -> None:
    # A text is a record where it says so.
    for given in (gold, *([json.dumps(gold)] if "gold" in gold else [])):
        assert judge(answer, given).same is right
        assert pe.diff(answer, given).same is right
        assert (compare_pair(answer, given).state == "same") is right
        assert (pe.reward()([answer], gold=[given]) == [1.0]) is right
    assert [row.state == "same" for row in pe.evaluate([answer], [gold])] == [right]


RATE = "get_rate(base=1)"
NO_PLAN: list[tuple[object, str]] = TABLES["NO_PLAN"]


@pytest.mark.parametrize(("gold", "said"), NO_PLAN, ids=repr)
@pytest.mark.parametrize("answer", ["I am sorry.", RATE, "[]", "f("])
def test_what_is_no_plan_is_no_gold_wherever_it_stands(answer: str, gold: object, said: str) -> None:
    with pytest.raises(GoldError, match=re.escape(said)):
        judge(answer, gold)
    found = pe.reward().judge(answer, gold)
    assert (isnan(found.reward), found.state, said in found.said) == (True, "gold_unreadable", True)
    with pytest.raises(AssertionError, match=re.escape(said)):
        pe.assert_same(answer, gold)


def test_gold_records_may_stand_under_a_key() -> None:
    held = {"gold": "f()", "alternatives": [RATE]}
    for gold in ({"output": held}, {"output": json.dumps(held)}):
        assert plan_evaluator()(outputs=RATE, reference_outputs=gold)["score"] is True
        assert pe.reward()([RATE, "g()"], gold=[gold, gold])[0] == 1.0
        both = {**gold, "alternatives": ["g()"]}  # which of the two counts is not for us to say
        assert plan_evaluator()(outputs=RATE, reference_outputs=both)["score"] is None


class Message:
    """What another package's message is: an object that dumps itself."""

    def model_dump(self) -> dict[str, object]:
        return {"role": "assistant", "content": "", "tool_calls": [CALL]}


class Broken:
    def model_dump(self) -> object:
        raise RuntimeError("no")


def test_messages_may_be_objects_of_other_packages() -> None:
    for answer in ([Message()], {"messages": [Message()]}, Message()):
        assert judge(answer, GOLD).same
        assert judge(GOLD, answer).same
        pe.assert_same(answer, GOLD)
    assert judge([Broken()], GOLD).state == "unreadable"
    with pytest.raises(GoldError, match=r"model_dump\(\) fails"):
        judge(GOLD, Broken())


RESPONSES = [
    {"type": "function_call", "id": f"fc_{at}", "call_id": f"c{at}", "name": name, "arguments": arguments}
    for at, (name, arguments) in enumerate((("f", '{"x": 1}'), ("g", '{"y": 2}')))
]
LISTED = [
    {"type": "tool_call", "id": f"c{at}", "name": name, "args": given}
    for at, (name, given) in enumerate((("f", {"x": 1}), ("g", {"y": 2})))
]


@pytest.mark.parametrize("calls", [
    RESPONSES, LISTED, [{"f": {"x": 1}}, {"g": {"y": 2}}], ["f(x=1)", "g(y=2)"],
    [{"tool_calls": [call]} for call in LISTED]
], ids=["Responses", "LangChain", "keyed", "texts", "messages"])  # fmt: skip
def test_several_calls_in_a_list_are_one_plan(calls: list[Any], tmp_path: Path) -> None:
    assert judge(calls, "f(x=1)\ng(y=2)").same
    assert judge("f(x=1)\ng(y=2)", calls).same
    if calls in (RESPONSES, LISTED):
        (tmp_path / "pred.json").write_text(json.dumps(calls), encoding="utf-8")
        assert len(pe.read(tmp_path / "pred.json").records) == 1
        pe.assert_same(calls, "f(x=1)\ng(y=2)")


TORCH = os.environ.get("PLANEVAL_TORCH", "torch==2.13.0")
"""What is installed as torch: its newest release may bring gigabytes that only a GPU needs."""


@pytest.mark.long
def test_trl_trains_with_our_rewards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = environment(tmp_path / "env", (TORCH, "trl"))
    whole = [python, str(ROOT / "tests" / "integrations_trl.py"), str(tmp_path / "out")]
    offline = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": "", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(whole, env=offline, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    with capsys.disabled():
        print(f"\ntried with {', '.join(f'{name} {number}' for name, number in found['versions'].items())}")
    assert len(found["logged"]) == 2
