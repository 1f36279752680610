"""A call in a notation that is not read is refused or told, and no answer without calls."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.dialects.read import parse
from planner_eval.dialects.table import table
from planner_eval.dialects.unread import unread
from tests.inside import planeval
from tests.test_dialect_cases import CASES, split

FRAMED = sorted(row.name for row in table().values() if row.shape in ("sections", "named", "xml", "gemma"))
PLAIN = (
    "I can look that up for you. Which city do you mean (Rome, Italy or Rome, Georgia)?",
    "Use the **config** (see below): {a} and {b} stand for the values, as in f(x) = x + 1.",
    '<p class="note">Nothing <b>to do</b> here.</p> <input name="city"> <button name="go">Go</button>',
    "The area is A = f(r) = 3.14 * r^2 (r = 2), so A = 12.56.",
    '```json\n{"temperature": 21, "unit": "C"}\n```\nThat is all.',
    'Answer: {"temperature": 21}',
    "Please set `timeout=30` in `settings.toml`, then run `make test`.",
    "Name: Ann\nAge: 30\nParameters: none were given",
    "I used `get_weather(city='Rome')` a minute ago: it is sunny.",
    "I cannot call `send_mail(to='ann')`: there is no such tool.",
    "It shows that round(number=2.5) is 2, and that `numpy.zeros(shape=3)` makes an array.",
    "Action: none\nI am done.",
    "✿ Happy spring! ✿",
    "Between <tool_call> tags (so they say)\nstands what is called.",
    "You would see <function_calls> and <|python_start|> here, were there a tool.",
)


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


@pytest.mark.parametrize("text", PLAIN)
def test_words_are_an_answer_without_a_doubt(text: str) -> None:
    assert not parse(text).calls
    assert not doubted(text)


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
    place = unread(text)
    assert place is None or 0 <= place[0] < place[1] <= len(text)


def test_a_doubt_is_told_wherever_a_verdict_is(tmp_path: Path) -> None:
    """An answer that may hold a call is `same` as no call, and each command says what speaks against that."""
    pred, gold, tools = (tmp_path / name for name in ("pred.jsonl", "gold.jsonl", "tools.json"))
    pred.write_text(json.dumps({"id": "a", "prediction": 'I call `get_weather(city="Rome")`.'}), "utf-8")
    gold.write_text('{"id": "a", "gold": []}', "utf-8")
    tools.write_text('[{"name": "get_weather", "parameters": {"type": "object", "properties": {}}}]', "utf-8")
    said = planeval("diff", pred, gold).stderr
    assert "pred: 1 without calls, whose text may hold one (parse shows where)" in said
    said = planeval("score", pred, gold).stdout
    assert "1 prediction without calls holds what may be a call that was not read" in said
    row = json.loads(planeval("score", pred, gold, "--format", "json").stdout)["rows"][0]
    assert (row["state"], row["unread"]) == ("same", True)
    checked = planeval("check", pred, "--catalog", tools)
    assert (checked.returncode, "find.unread" in checked.stdout) == (1, True)
    assert "find.unread" in planeval("parse", pred).stdout
