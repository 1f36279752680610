"""Small files of predictions, whole and broken, drawn at random, and all that is read of them.

What is read of a file beside its gold is one line of tests/cases/filed.jsonl; ``pytest tests/test_filed.py
--update-cases`` rewrites the file: review its diff like code. Laws hold for the same files: every record is
a row, and whole lines of a broken file are read.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner_eval.base.errors import PlanevalError
from planner_eval.records.files import read_file
from planner_eval.records.pairing import pair
from planner_eval.records.rows import evaluate
from tests.conftest import ROOT, AsKept

FILE = ROOT / "tests" / "cases" / "filed.jsonl"
COUNT = 240
PIECES = ('"', "{", "}", "[", "]", ",", ":", "\\", "\n", "x", " ", "null", '{"id": "q9"}', "\n\n")


def call(random: Random) -> dict[str, Any]:
    return {"name": random.choice("fg"), "arguments": {"a": random.randint(0, 2)}}


def record(random: Random, at: int, key: str | None, content: str) -> dict[str, Any]:
    plan: Any = [call(random) for _ in range(random.randint(0, 2))]
    plan = random.choice((plan, plan, json.dumps(plan), f"x = f(#a='{at}')", None))
    found: dict[str, Any] = (
        {} if key is None else {key: random.choice((f"q{at}", f"q{at}", at, f"q{at // 2}"))}
    )
    found["note"] = "n"
    if random.random() < 0.95:
        found[content] = plan
    return dict(random.sample([*found.items()], len(found)))


def drawn(random: Random) -> tuple[str, list[dict[str, Any]]]:
    """The text of a file of predictions, and the gold records."""
    key = random.choice(("id", "id", "sample_id", "idx", None))
    content = random.choice(("output", "prediction", "predict", "answer", "mine"))
    count = random.randint(1, 5)
    records = [record(random, at, key, content) for at in range(count)]
    gold = [({} if key is None else {key: f"q{at}"}) | {"plan": [call(random)]} for at in range(count)]
    if random.random() < 0.2:
        gold[0]["optional"] = random.choice((["c1"], ["lost"], 3))
    form = random.choice(("lines", "lines", "array", "array", "indented", "objects", "map", "plans"))
    if form == "lines":
        text = "\n".join(map(json.dumps, records)) + "\n"
    elif form == "objects":
        text = "\n".join(json.dumps(one, indent=1) for one in records)
    elif form == "map":
        text = json.dumps({f"q{at}": one.get(content) for at, one in enumerate(records)})
    elif form == "plans":
        text = json.dumps([[call(random)] for _ in records])
    else:
        text = json.dumps(records, indent=1 if form == "indented" else None)
    for _ in range(random.choice((0, 0, 1, 1, 1, 2, 3))):
        at = random.randint(0, len(text))
        kind = random.choice(("insert", "delete", "delete", "cut", "double"))
        if kind == "insert":
            text = text[:at] + random.choice(PIECES) + text[at:]
        elif kind == "delete":
            text = text[:at] + text[at + random.choice((1, 1, 2, 9)) :]
        elif kind == "cut":
            text = text[: max(at, 5)]
        else:
            text = text[:at] + text[max(0, at - 12) :]
    return text, gold


def said(seed: int) -> dict[str, Any]:
    """All that is read of one file, in the folder one is in."""
    random = Random(seed)
    text, golds = drawn(random)
    name = random.choice(("pred.json", "pred.json", "pred.jsonl", "pred.txt"))
    Path(name).write_text(text, encoding="utf-8")
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, golds)), encoding="utf-8")
    found: dict[str, Any] = {"seed": seed, "name": name, "text": text}
    try:
        pred = read_file(name, role="answer")
        found["said"] = [pred.said, pred.many, pred.content, pred.id_field]
        found["records"] = [
            [one.id, one.position, one.line, one.source, one.error and str(one.error), [*one.fields]]
            for one in pred.records
        ]
        gold = read_file("gold.jsonl", role="gold")
        pairing = pair(pred, gold, by=random.choice((None, None, None, "id", "position")))
        found["repeated"] = [one.where for one in pairing.repeated]
        rows = evaluate(pairing.pairs, repair=random.random() < 0.2)
        found["rows"] = [
            [row.id, row.state, row.error, [e.code for e in row.diff.edits] if row.diff else None]
            for row in rows
        ]
    except PlanevalError as error:
        found["refused"] = str(error)
    return found


def test_what_is_read_of_each_file(as_kept: AsKept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    as_kept(FILE, map(said, range(COUNT)))


def test_every_record_is_a_row_and_whole_lines_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(COUNT):
        found = said(seed)
        if "rows" in found:
            assert len(found["rows"]) + len(found["repeated"]) >= len(found["records"]), seed
        if found["name"] == "pred.jsonl" and found.get("said", [None, False])[1]:
            lines = [line for line in found["text"].split("\n") if line.strip()]
            whole = sum(_reads(line) for line in lines)
            assert sum("no JSON" not in (one[4] or "") for one in found["records"]) >= whole, seed


def _reads(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
