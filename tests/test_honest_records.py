"""Records and values that must not count as right: cut, refused and failed answers, and what is no answer."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import AnswerError
from planner_eval.comparison.policy.values import Rule
from tests.conftest import tabled
from tests.inside import planeval

F = "[f(a=1)]"
CALL = {"name": "f", "arguments": {"a": 1}}


ITEM = {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "a"}


def written(path: Path, *records: Any) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


@tabled("beside, state")
def test_an_answer_that_did_not_end_is_none(tmp_path: Path, beside: dict[str, Any], state: str) -> None:
    for answer in ({"output": F}, {"output": [CALL]}, {"calls": [CALL]}, {"output": []}):
        pred = written(tmp_path / "p.jsonl", {"id": 1, **answer, **beside})
        right = [] if answer == {"output": []} else F
        done = planeval("diff", pred, written(tmp_path / "g.jsonl", {"id": 1, "gold": right}))
        assert (done.returncode, done.stdout.split()[1].strip(":")) == (int(state != "same"), state)


def test_what_ended_an_answer_is_said_of_it_alone(tmp_path: Path) -> None:
    both = written(tmp_path / "b.jsonl", {"id": 1, "prediction": F, "gold": F, "finish_reason": "length"})
    assert planeval("diff", both, both).stdout.startswith("1  cut: ")
    assert planeval("diff", both, both, "--field", "text=gold").returncode == 0
    choice = {"message": F, "finish_reason": "length"}
    pred = written(tmp_path / "p.jsonl", {"id": 1, "body": {"choices": [choice]}})
    done = planeval("diff", pred, both, "--field", "text=body.choices.0.message", "--field", "gold.text=gold")
    assert done.stdout.startswith("1  cut: ")
    assert pe.same([{**ITEM, "status": "completed"}], F)
    assert pe.same({"generated_text": "f(a=1)", "finish_reason": "stop"}, F)


@tabled("answer, code")
def test_a_message_that_did_not_end_is_no_answer(tmp_path: Path, answer: Any, code: str) -> None:
    for source in (answer, json.dumps(answer)):
        with pytest.raises(AnswerError) as caught:
            pe.parse(source)
        assert caught.value.code == f"answer.{code}"
    pred, gold = tmp_path / "p.json", tmp_path / "g.json"
    pred.write_text(json.dumps(answer))
    gold.write_text("[]" if "response_metadata" in answer else F)
    assert planeval("diff", pred, gold).returncode == 1


@pytest.mark.parametrize("value", [None, 5, True, 1.5, float("nan")])
def test_a_value_that_is_no_plan_is_unreadable_in_memory_as_in_a_file(tmp_path: Path, value: Any) -> None:
    assert pe.score([value, F], [F, F]).states() == {"unreadable": 1, "same": 1}
    pred, gold = written(tmp_path / "p.jsonl", value), written(tmp_path / "g.jsonl", "[]")
    for report in (pe.score([value], ["[]"]), pe.score(Path(pred), Path(gold))):
        assert report.states() == {"unreadable": 1}


@pytest.mark.parametrize("texts", [["f(a=1)", "not a call"], [F, "sorry, her"], ["Here it is:", "f(a=1)"]])
def test_a_text_that_is_no_call_beside_calls_is_told(texts: list[str]) -> None:
    for source in (texts, json.dumps(texts)):
        plan = pe.parse(source)
        found = [note.message for note in plan.diagnostics if note.severity == "warning"]
        silent = next(text for text in texts if "(" not in text)
        assert found == [f"1 text of the list calls no tool, although others do: {silent!r}"]
    assert pe.diff(texts, F).pred.diagnostics == pe.parse(texts).diagnostics
    assert not pe.parse(["f(a=1)", "g(b=2)"]).diagnostics


def test_a_list_of_texts_is_many_plans_wherever_there_may_be_many(tmp_path: Path) -> None:
    texts = [F, "I refuse", "g(#x="]
    path = tmp_path / "p.json"
    path.write_text(json.dumps(texts))
    for source in (texts, tuple(texts), iter(texts), path):
        many = pe.stats(source)
        assert (many.plans, many.unread) == (2, 1)
    assert pe.stats(["f(a=1)", "g(b=2)"]).plans == len(pe.read(["f(a=1)", "g(b=2)"]).records) == 2
    assert pe.score(texts, [F, "[]", F]).states() == {"same": 2, "cut": 1}
    assert pe.stats([CALL, CALL]).calls == 2


class Broken:
    def model_dump(self) -> Any:
        raise ValueError("boom")


def _circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize(("value", "reason"), [
    ({"name": "f", "arguments": {"a": {1, 2}}}, "argument 'a' of call 1 is a set"),
    ({"name": "f", "arguments": {"a": _circle()}}, "nests deeper than"), (_circle(), "nests deeper than"),
    (Broken(), "Broken.model_dump() fails: ValueError: boom"),
    (object(), "expected a call or a list of calls"),
])  # fmt: skip
def test_one_bad_value_costs_one_row(value: Any, reason: str) -> None:
    rows = pe.score([value, F], [F, F]).rows
    assert [row.state for row in rows] == ["unreadable", "same"]
    assert "predictions, record 1" in rows[0].reason
    assert reason in rows[0].reason
    with pytest.raises(pe.ParseError) as caught:
        pe.parse(value)
    assert reason in caught.value.reason


def test_a_lone_name_stands_for_a_list_of_one() -> None:
    report = pe.score([F], [F], metrics="exact", by="calls")
    assert ([figure.name for figure in report.figures], list(report.breakdown)) == (["exact"], ["calls"])
    assert pe.score(F, F, metrics="exact").keys() == {"exact"}
    assert pe.compare([F], [F], [F], metrics="exact", by="calls").n == 1
    assert Rule(compare="casefold") == Rule(compare=("casefold",))


@pytest.mark.parametrize("number", ["1e400", "-9e999"])
@pytest.mark.parametrize("form", ["[f(a={})]", '[{{"name": "f", "arguments": {{"a": [{}]}}}}]'])
def test_a_number_past_all_that_is_kept_equals_nothing(number: str, form: str) -> None:
    with pytest.raises(pe.ParseError, match=r"of call 1 is a number outside ±1\.8e308"):
        pe.parse(form.format(number))
    assert pe.score([form.format(number)], [F]).states() == {"unreadable": 1}


@pytest.mark.parametrize(
    "block", [{"text": F}, [{"type": "text", "text": F}], {"type": "output_text", "text": F}]
)
def test_a_call_in_a_block_of_text_is_a_call(block: Any) -> None:
    assert pe.diff(block, F).same
    assert pe.parse({"text": "It rains."}).calls == ()
    assert pe.score([{"id": 1, "output": block}], [{"id": 1, "gold": []}]).states() == {"different": 1}
