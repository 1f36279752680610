"""Files of answers as their vendors write them: one object, JSON lines and an array, in each command."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import planner_eval as pe
from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.plan import to_data
from planner_eval.reading.files.fields import (
    ANSWER_FIELDS,
    FALLBACK_ANSWER_FIELDS,
    FALLBACK_GOLD_FIELDS,
    GOLD_FIELDS,
    ID_FIELDS,
)
from tests.build import jsonl
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_answers import CASES

TOOLS = {"find_room": ["floor"], "heat": ["room", "degrees"], "run_query": ["input"], "web_search": ["query"]}
TOOLS |= {"get_weather": ["city"], "f": ["x"], "g": ["x"], "now": []}
CATALOG = [
    {"type": "function", "function": {"name": name, "description": "A tool.", "parameters": {
        "type": "object", "properties": {key: {} for key in keys}}}}
    for name, keys in {**TOOLS, "roll": ["sides"]}.items()
]  # fmt: skip


STATES = {"answer.cut": "cut", "answer.refused": "refused", "answer.failed": "failed"}


class Want(NamedTuple):
    plan: Plan | None
    state: str


def wanted(name: str) -> Want:
    try:
        return Want(pe.parse(CASES[name]), "same")
    except AnswerError as error:
        return Want(None, STATES.get(error.code, "unreadable"))
    except ParseError:
        return Want(None, "unreadable")


FORMS = {
    "alone.json": lambda data: json.dumps(data, indent=1),
    "lines.jsonl": lambda data: 3 * f"{json.dumps(data)}\n",
    "lines.json": lambda data: 3 * f"{json.dumps(data)}\n", "array.json": lambda data: json.dumps([data] * 3),
}  # fmt: skip
"""One object in a file, JSON lines and a JSON array of three, by the file's name."""


def alike(name: str) -> bool:
    """Whether objects of a kind in an array are parts of one conversation."""
    data = CASES[name]
    return isinstance(data, dict) and ("role" in data or data.get("type") in ("ai", "AIMessageChunk"))


PIECES = {"langchain_piece-lines.jsonl", "langchain_piece-lines.json", "ollama_stream-alone.json"}
PAIRS = [(name, form) for name in CASES for form in FORMS if not (form == "array.json" and alike(name))]


def run(*argv: str) -> tuple[int, str, str]:
    done = planeval(*argv)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.more
@pytest.mark.parametrize(("name", "form"), PAIRS)
def test_each_command_gives_and_counts_every_record(name: str, form: str, tmp_path: Path) -> None:
    path, want, n = tmp_path / form, wanted(name), 1 if form == "alone.json" else 3
    path.write_text(FORMS[form](CASES[name]), encoding="utf-8")
    file, unread = str(path), 3 if want.plan is None else 0
    code, out, err = run("parse", file, "--format", "json")
    if f"{name}-{form}" in PIECES:  # each record is one of a stream's
        assert (code, out, "its records are pieces of a stream, not answers" in err) == (2, "", True)
        return
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, len(rows)) == (unread, n)
    code, out, _ = run("convert", file, "--to", "plan")
    assert code == unread
    if want.plan is None:
        assert all("error" in row and STATES.get(row["code"], "unreadable") == want.state for row in rows)
    else:
        assert [row["plan"] for row in rows] == [to_data(want.plan)] * n
        texts = [json.loads(line)["text"] for line in out.splitlines()] if out.startswith('{"id"') else [out]
        assert [pe.same(text, want.plan) for text in texts] == [True] * n
    text = pe.write(want.plan, "plan") if want.plan is not None else "[]"
    sides = (file, str(jsonl(tmp_path / "gold.jsonl", [{"gold": text}] * n)), "--pair", "position")
    code, out, _ = run("diff", *sides, "--format", "jsonl")
    assert [json.loads(line)["state"] for line in out.splitlines()] == [want.state] * n
    assert code == (want.state != "same")
    report = json.loads(run("score", *sides, "--format", "json")[1])
    figures = {want.state: n}, float(want.state == "same")
    assert (report["states"], report["figures"]["exact"]["value"]) == figures
    code, out, _ = run("stats", file, "--each", "--format", "json")
    assert (code, len(json.loads(out))) == (unread, n)
    assert want.plan is None or [row["calls"] for row in json.loads(out)] == [len(want.plan)] * n
    catalog = jsonl(tmp_path / "tools.json", [CATALOG])
    code, out, err = run("check", file, "--catalog", str(catalog))
    doubted = want.plan is not None and any(note.code == "find.unread" for note in want.plan.diagnostics)
    assert code == (unread or int(doubted)), out
    checked = f"{n} plan" if want.plan is not None else f"0 of {n} plan"
    assert re.search(rf"^{checked}s? checked", err, re.MULTILINE), err


def test_fields_may_be_ways_into_a_record(tmp_path: Path) -> None:
    answer = CASES["openai_batch"]
    pred = jsonl(tmp_path / "pred.jsonl", [answer | {"meta": {"key": f"q{i}"}} for i in range(2)])
    want = [{"plan": pe.write(pe.parse(answer), "plan")}]
    gold = jsonl(tmp_path / "gold.jsonl", [{"at": {"key": f"q{i}"}, "want": want} for i in (1, 0)])
    ways = ["--field", "text=response.body.choices.0.message", "--field", "id=meta.key"]
    ways += ["--field", "gold.text=want.0.plan", "--field", "gold.id=at.key"]
    done = planeval("diff", str(pred), str(gold), *ways)
    assert done.returncode == 0, done.stderr
    assert 'field "response.body.choices.0.message" of 2 records' in done.stderr
    wrong = planeval("parse", str(pred), "--field", "text=response.body.choices.9.message")
    assert (wrong.returncode, "no record has the field" in wrong.stderr) == (2, True)
    jsonl(Path(pred), [CASES["openai_chat_choices"], CASES["openai_chat"]])  # of which the second has none
    done = planeval("parse", str(pred), "--field", "text=choices.1.message", "--format", "json")
    one, other = (json.loads(line) for line in done.stdout.splitlines())
    assert (done.returncode, [call["name"] for call in one["plan"]["calls"]]) == (1, ["heat"])
    assert other["code"] == "parse.empty"


CALL = {"name": "find_room", "arguments": {"floor": 3}}


def test_calls_that_begin_late_beside_a_text_are_said_in_their_row(tmp_path: Path) -> None:
    rows = [{"id": str(at), "response": "No.", "toolCalls": None} for at in range(1_001)]
    pred = jsonl(tmp_path / "pred.jsonl", [*rows[:-1], {**rows[-1], "toolCalls": [CALL]}])
    gold = jsonl(tmp_path / "gold.jsonl", [{"id": str(at), "gold": []} for at in range(1_001)])
    done = planeval("diff", str(pred), str(gold), "--only", "failures")
    assert (done.returncode, "calls stand in 'toolCalls' too, beside 'response'" in done.stdout) == (1, True)


def listed() -> dict[str, str]:
    """The lists of docs/files.md that are made from the code, by their names."""
    answers, gold = (*ANSWER_FIELDS, "…", *FALLBACK_ANSWER_FIELDS), (*GOLD_FIELDS, "…", *FALLBACK_GOLD_FIELDS)
    fields = {"answers": answers, "gold": gold, "ids": ID_FIELDS}
    return {
        name: " ".join(f"`{key}`" if key != "…" else key for key in keys) for name, keys in fields.items()
    }


def test_the_lists_of_the_page_are_those_of_the_code(request: pytest.FixtureRequest) -> None:
    text = (page := ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    for name, want in listed().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        assert begin in text, name
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{want}\n\n{end}{rest.partition(end)[2]}"
    if request.config.getoption("--update-cases"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, "run: pytest tests/test_shapes.py --update-cases"
