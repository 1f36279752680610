"""Files of plans: what is one plan, what are records, and who belongs to whom."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.comparison.explanation.names import call_name
from planner_eval.comparison.rows import Evaluation
from planner_eval.reading.files.fields import Role
from planner_eval.reading.files.files import PlanFile, read_file
from planner_eval.reading.files.pairing import (
    format_repeated_ids,
    pair,
    refuse_repeated_gold,
    warn_doubtful_pairing,
    warn_invalid_ids,
    warn_taken_pair_names,
)
from planner_eval.reading.files.record import IN_MEMORY, Store, is_stored, read_plan
from tests.conftest import tabled, tables

CALL = {"name": "f", "arguments": {"a": 1}}


def file(folder: Path, content: object, name: str = "plans") -> str:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("name", "said"), [("none", "there is no file"), ("", "is a directory")])
def test_what_is_no_file_is_refused(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read_file(str(tmp_path / name))


BESIDE = ("accepted", "omittable")
"""What may stand beside the plan of a gold record."""


def told_of(folder: Path, name: str, text: str, options: Any, store: Store) -> tuple[list[str], bool]:
    """Whether a file is one plan, or which field of its records holds one; each record's id, line, calls."""
    try:
        path = file(folder, text.encode("utf-8", "surrogateescape"), name)
        found = read_file(path, store=store, **options)
    except InputError as error:
        return [f"refused: {error}".replace(f"{folder}/", "")], False
    lines = [f"{found.content} of many" if found.many else "one plan"]
    for record in found.records:
        try:
            read = "; ".join(map(call_name, read_plan(record).calls)) or "no call"
        except ParseError as error:
            read = f"! {error}".splitlines()[0]
        beside = [f", {key} {json.dumps(record.fields[key])}" for key in BESIDE if record.fields.get(key)]
        lines.append(f"{record.id} at {record.line}: {read}{''.join(beside)}")
    return [*lines, *(note.replace(f"{folder}/", "") for note in found.notes)], is_stored(found.records)


@tabled("name, text, options, stored, told")
def test_what_is_read_of_a_file(
    tmp_path: Path, name: str, text: str, options: Any, stored: bool, told: list[str]
) -> None:
    assert told_of(tmp_path, name, text, options, IN_MEMORY) == (told, False)


LINES = [row for row in tables(__file__)["what_is_read_of_a_file"] if row[0].endswith(("l", ".txt"))]


@pytest.mark.parametrize(("name", "text", "options", "stored", "told"), LINES)
def test_a_large_file_of_lines_is_read_from_disk(
    tmp_path: Path, name: str, text: str, options: Any, stored: bool, told: list[str]
) -> None:
    """The same is read, by an index, or of a file that may be no lines of records whole."""
    assert told_of(tmp_path, name, text, options, Store(limit=0, piece=40)) == (told, stored)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_mark_at_its_beginning_says_a_files_encoding(encoding: str, tmp_path: Path) -> None:
    path = file(tmp_path, '\ufeff[{"name": "é"}]'.encode(encoding))
    assert read_plan(read_file(path).records[0]).calls[0].name == "é"


def test_a_file_that_cannot_be_read_and_one_that_could_be_repaired(tmp_path: Path) -> None:
    gold = read_file(file(tmp_path, [{"id": "a", "plan": [CALL]}, {"id": "b", "plan": []}], "gold.json"))
    broken = read_file(file(tmp_path, b"x = f(\xff)", "pred.txt"))
    with pytest.raises(PairingError, match=r"pred\.txt cannot be read: column 7: the byte 0xff"):
        pair(broken, gold)
    gold = read_file(file(tmp_path, [CALL], "gold.json"))
    broken = read_file(file(tmp_path, "[{'name': 'f', 'arguments': {'a': 1}}]", "pred.json"))
    for repair, state in ((False, "unreadable"), (True, "same")):
        assert [row.state for row in Evaluation(repair=repair).rows(pair(broken, gold).pairs)] == [state]


def written(folder: Path, name: str, role: Role, ids: list[Any], store: Store) -> PlanFile:
    """A file of records with some ids; of null without, and where ``!`` stands cut off."""
    fields = [{"id": each, "output": "f()"} if each is not None else {"output": "f()"} for each in ids]
    lines = ['{"id": "x' if each == "!" else json.dumps(data) for each, data in zip(ids, fields, strict=True)]
    return read_file(file(folder, "\n".join(lines), name), role=role, store=store)


@tabled("pred, gold, by, told")
def test_which_prediction_belongs_to_which_gold_plan(
    pred: list[Any], gold: list[Any], by: str | None, told: list[Any], tmp_path: Path
) -> None:
    """How, the pairs by numbers of records, what is left out, what is said: in memory and from disk."""
    for store in (IN_MEMORY, Store(limit=0, piece=1), Store(limit=0, piece=50)):
        left = written(tmp_path, "p.jsonl", "answer", pred, store)
        right = written(tmp_path, "g.jsonl", "gold", gold, store)
        found: list[Any] = []
        said = [*format_repeated_ids(left.records), *warn_invalid_ids(left)]
        said += [*warn_doubtful_pairing(left, right, by=by), *warn_taken_pair_names(left, right)]
        try:
            pairing = pair(left, right, by=by)
            numbers = [[record and record.position + 1 for record in records] for records in pairing.pairs]
            found = [pairing.by, numbers, [record.where for record in pairing.repeated]]
            refuse_repeated_gold(pairing, right.records)
        except (InputError, PairingError) as error:
            said.append(f"refused: {error}")
        assert json.loads(json.dumps([*found, *said]).replace(f"{tmp_path}/", "")) == told
