"""Small files in the many forms in which plans come, drawn at random, and all that is read of them.

Some were drawn near others until they told a planted fault that those do not tell.

A line of tests/cases/formed.jsonl is a case: its files, byte by byte as Latin-1, how they are read, and what
is read of them; ``pytest tests/test_formed.py --update-cases`` rewrites the last: review its diff like code.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import PairingError, PlanevalError
from planner_eval.comparison.rows import Evaluation, row_data
from planner_eval.reading.files.files import PlanFile, read_path
from planner_eval.reading.files.pairing import (
    format_repeated_ids,
    pair,
    prefix_ids_by_file,
    refuse_repeated_gold,
)
from tests.conftest import ROOT, AsKept

FILE = ROOT / "tests" / "cases" / "formed.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
INPUTS = ("seed", "files", "path", "text", "options", "gold", "by", "repair", "located")


def kept(file: PlanFile) -> list[Any]:
    return [
        [one.id, one.position, one.line, one.source, one.error and str(one.error), [*one.fields]]
        for one in file.records
    ]


def said(case: dict[str, Any]) -> dict[str, Any]:
    """All that is read of the files of a case, in the folder one is in."""
    for old in Path("several").glob("*"):
        old.unlink()
    for name, content in case["files"].items():
        Path(name).write_bytes(content.encode("latin-1"))
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, case["gold"])), encoding="utf-8")
    found: dict[str, Any] = {name: case[name] for name in INPUTS}
    try:
        pred = read_path(case["path"], **case["options"])
        found |= {"said": [pred.said, pred.many, pred.content, pred.id_field, pred.notes], "read": kept(pred)}
        found["twice"] = format_repeated_ids(pred.records)
        gold = read_path("gold.jsonl", role="gold")
        if pred.parts:
            pred, gold = prefix_ids_by_file(pred, gold)
        try:
            pairing = pair(pred, gold, by=case["by"])
        except PairingError as error:
            found["apart"] = str(error)
            pairing = pair(pred, gold, by="position")
        found["repeated"] = [one.where for one in pairing.repeated]
        rows = Evaluation(repair=case["repair"], located=case["located"]).rows(pairing.pairs)
        found["rows"] = [row_data(row, structure=case["seed"] % 2 == 0) for row in rows]
        refuse_repeated_gold(pairing, gold.records)
    except PlanevalError as error:
        found["refused"] = str(error)
    return found


def test_what_is_read_of_each_file(as_kept: AsKept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was, every record a row, and of a file of lines those that are whole."""
    monkeypatch.chdir(tmp_path)
    Path("several").mkdir()
    found = [said(case) for case in CASES]
    as_kept(FILE, found)
    for one in found:
        if "rows" in one:
            assert len(one["rows"]) + len(one["repeated"]) >= len(one["read"]), one["seed"]
        if one["path"] == "pred.jsonl" and one.get("said", [None, False])[1] and "\r" not in one["text"]:
            whole = sum(map(is_object, filter(str.strip, one["text"].split("\n"))))
            assert sum("no JSON" not in (each[4] or "") for each in one["read"]) >= whole, one["seed"]


def is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
