"""Calls that are not read are refused or told: in another notation, or more of them than a plan may have."""

import json
import re
from pathlib import Path

import pytest

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.reading.dialects.finding.unread_calls import find_unread_call
from planner_eval.reading.dialects.finding.whole_texts import refuse_too_many_calls
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.dialects.table import table
from tests.conftest import tables
from tests.inside import planeval
from tests.memory import measured, measures
from tests.test_dialect_cases import CASES, split

TABLES = tables(__file__)

FRAMED = sorted(row.name for row in table().values() if row.shape in ("sections", "named", "xml", "gemma"))


def doubted(text: str) -> bool:
    return any(note.code == "find.unread" for note in parse(text).diagnostics)


@pytest.mark.parametrize("name", FRAMED)
def test_a_notation_whose_tokens_are_misspelt_is_read_refused_or_told(name: str) -> None:
    text = re.sub(r"([<\[]\|?｜?/?)(?=[A-Za-z])", r"\1my_", table()[name].example)
    text = re.sub(r"✿(\w+)✿", r"✿MY_\1✿", text)
    try:
        plan = parse(text)
    except ParseError:
        return
    assert plan.calls or doubted(text)


@pytest.mark.parametrize("text", TABLES["PLAIN"])
def test_words_are_an_answer_without_a_doubt(text: str) -> None:
    assert not parse(text).calls
    assert not doubted(text)


@pytest.mark.parametrize("text", TABLES["LOOSE"])
def test_a_call_in_no_notation_is_doubted(text: str) -> None:
    assert not parse(text).calls
    assert doubted(text)


def test_no_text_of_which_calls_were_read_is_doubted() -> None:
    read = [one for one in (split(path)[2] for path in CASES) if "\nc1 " in one]
    assert len(read) > 300
    assert not [one for one in read if "find.unread" in one]


def test_real_answers_without_calls_are_not_doubted(reference: Path) -> None:
    """FunctionChat's gold replies, which ask back, refuse and sum up, and genuine outputs of models."""
    folder = reference / "datasets"
    lines = (folder / "raw_outputs" / "raw_outputs.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    for path in sorted((folder / "functionchat").glob("*.jsonl")):
        texts += re.findall(r'"content": ("(?:[^"\\]|\\.)*")', path.read_text("utf-8"))
    silent = told = 0
    for text in dict.fromkeys(json.loads(text) if text[:1] == '"' else text for text in texts):
        try:
            plan = parse(text) if text.strip() else None
        except ParseError:
            continue
        if plan is not None and not plan.calls:
            silent += 1
            told += any(note.code == "find.unread" for note in plan.diagnostics)
    assert (silent > 300, told) == (True, 0)


@pytest.mark.parametrize(
    "part", ["<|tool|>", "{name:a ", "f(a", "<a_b>", "```\n", "tool: x\n", "a_b ", "I don't f(a=1) ", "aB: {"]
)
def test_a_hostile_text_is_looked_through_in_a_moment(part: str) -> None:
    text = part * (200_000 // len(part))
    place = find_unread_call(text)
    assert place is None or 0 <= place[0] < place[1] <= len(text)


def test_a_doubt_is_told_wherever_a_verdict_is(tmp_path: Path) -> None:
    """An answer that may hold a call is `same` as no call, and each command says what speaks against that."""
    pred, gold, tools = (tmp_path / name for name in ("pred.jsonl", "gold.jsonl", "tools.json"))
    pred.write_text(json.dumps({"id": "a", "prediction": 'I call `get_weather(city="Rome")`.'}), "utf-8")
    gold.write_text('{"id": "a", "gold": []}', "utf-8")
    tools.write_text('[{"name": "get_weather", "parameters": {"type": "object", "properties": {}}}]', "utf-8")
    said = planeval("diff", pred, gold).stderr
    assert "pred: 1 without calls, but the text may hold one (parse shows where)" in said
    said = planeval("score", pred, gold).stdout
    assert "1 prediction contains what may be an unread call" in said
    row = json.loads(planeval("score", pred, gold, "--format", "json").stdout)["rows"][0]
    assert (row["state"], row["unread"]) == ("same", True)
    checked = planeval("check", pred, "--catalog", tools)
    assert (checked.returncode, "find.unread" in checked.stdout) == (1, True)
    assert "find.unread" in planeval("parse", pred).stdout


@pytest.mark.parametrize("text", TABLES["BESIDE"])
def test_a_call_that_was_passed_over_beside_others_is_told_with_the_verdict(
    tmp_path: Path, text: str
) -> None:
    pred, gold = tmp_path / "pred.jsonl", tmp_path / "gold.jsonl"
    pred.write_text(json.dumps({"id": "a", "prediction": text}), "utf-8")
    gold.write_text('{"id": "a", "gold": "f(a=1)"}', "utf-8")
    said = "pred: 1 with text beside the calls that may hold another (parse shows where)"
    assert said in planeval("diff", pred, gold).stderr
    assert "1 prediction contains what may be an unread call" in planeval("score", pred, gold).stdout


UNITS = TABLES["UNITS"]
MANY = TABLES["MANY"]


@pytest.mark.more
@measures
@pytest.mark.parametrize("text", MANY)
def test_a_refusal_costs_little_time_and_memory(text: tuple[str, str, str], tmp_path: Path) -> None:
    """Fourteen megabytes of calls, alone or in a list, within seconds and without objects of each."""
    file = tmp_path / "plan.txt"
    before, unit, after = text
    file.write_text(before + unit * (14_000_000 // len(unit)) + after, "utf-8")
    done, peak = measured("parse", str(file), seconds=12)
    assert (done.returncode, "than the limit of 100,000" in done.stdout) == (3, True)
    assert 0 < peak < 150


@pytest.mark.parametrize("unit", UNITS)
def test_as_many_calls_as_the_limit_are_read_and_one_more_is_refused(unit: str) -> None:
    calls = len(parse(unit).calls)
    limits = Limits(calls=calls * 20)
    assert len(parse(unit * 20, limits=limits).calls) == calls * 20
    with pytest.raises(LimitError, match="the limit of"):
        parse(unit * 21, limits=limits)
    refuse_too_many_calls(unit * 20, limits)
    with pytest.raises(LimitError):  # before anything is made of them
        refuse_too_many_calls(unit * 21, Limits(calls=20))
