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
from planner_eval.reading.files.record import IN_MEMORY, Record, Store, is_stored, read_plan
from tests.conftest import tabled, tables

CALL = {"name": "f", "arguments": {"a": 1}}
LINE = "x = f(#a='1')"


def file(folder: Path, content: object, name: str = "plans") -> str:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("content", [
    [CALL], CALL, [], {"tool_calls": [{"type": "function", "function": CALL}]},
    {"schema": "planeval.plan/1", "calls": [CALL]}, b"\xef\xbb\xbf[]",
    [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": []}],
    f"{json.dumps(CALL)}\n{json.dumps(CALL)}\n", LINE, f"{LINE}\n{LINE}", '[{"name": "f", "arguments": ',
])  # fmt: skip
def test_one_plan_in_a_file_of_its_own(tmp_path: Path, content: object) -> None:
    found = read_file(file(tmp_path, content))
    assert (found.many, len(found.records)) == (False, 1)


def test_each_side_takes_its_field_and_the_one_that_is_named(tmp_path: Path) -> None:
    path = file(tmp_path, [{"id": "a", "output": [CALL], "generated_text": "[]"}])
    assert len(read_plan(read_file(path).records[0])) == 0
    assert len(read_plan(read_file(path, role="gold").records[0])) == 1
    path = file(tmp_path, [{"key": "k1", "mine": LINE, "output": "other"}, {"key": "k2", "score": 1}])
    record = read_file(path, id_field="key", text_field="mine").records[0]
    assert (record.id, record.source) == ("k1", LINE)
    missing = read_file(path).records[1]
    unread = read_file(file(tmp_path, b"f(#a='\xff')", "odd")).records[0]
    for refused, said in (
        (lambda: read_file(path, id_field="nokey"), "no record has the field 'nokey'"),
        (lambda: read_plan(missing), "the field 'output', which holds this file's plans, is missing"),
        (lambda: read_plan(unread), "column 7: the byte 0xff is not UTF-8"),
        (lambda: read_file(file(tmp_path, b"id,gold\n\xff,f()\n\xff,\n", "a.csv")), "2 of 2 records hold"),
        (lambda: read_file(str(tmp_path / "none")), "there is no file"),
        (lambda: read_file(str(tmp_path)), "is a directory"),
        (lambda: read_file(file(tmp_path, [{f"field{at}": at for at in range(8)}] * 2, "many")),
         r"the first has 'field0', .*, 'field5': name it"),
    ):  # fmt: skip
        with pytest.raises((InputError, ParseError), match=said):
            refused()


@pytest.mark.parametrize("role", ["answer", "gold", "plan"])
def test_a_conversation_under_output_is_read_as_one_under_messages(tmp_path: Path, role: Role) -> None:
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [CALL]}]
    found = read_file(file(tmp_path, [{"id": "a", "output": chat}]), role=role)
    assert (found.content, found.records[0].source) == ("output", chat)
    assert len(read_plan(found.records[0], turn="first")) == 1
    items = [{"type": "message", "role": "assistant", "content": "I."}, {"type": "function_call", **CALL}]
    response = {"id": "a", "object": "response", "output": items}
    assert read_file(file(tmp_path, [response], "api.json"), role=role).records[0].source == response


@tabled("content, ids")
def test_records(tmp_path: Path, content: object, ids: list[str | None]) -> None:
    found = read_file(file(tmp_path, content))
    assert found.many
    assert [r.id for r in found.records] == ids
    for record in found.records:
        read_plan(record)


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


def test_what_stands_between_records_is_one_that_cannot_be_read(tmp_path: Path) -> None:
    records = read_file(file(tmp_path, '[{"id": "a", "output": []}; {"id": "b", "output": []}]')).records
    assert [(record.id, record.error is None) for record in records] == [
        ("a", True), (None, False), ("b", True),
    ]  # fmt: skip
    assert 'found \'; {"id": "b", "outpu\' after it, expected a comma' in str(records[1].error)


def test_a_broken_line_stays_a_record_with_its_line(tmp_path: Path) -> None:
    good = json.dumps({"id": "a", "output": LINE})
    found = read_file(file(tmp_path, f"{good}\n{{broken\n\n{good}\n"))
    assert [r.line for r in found.records] == [1, 2, 4]
    assert found.records[1].error is not None


@pytest.mark.parametrize(
    ("good", "broken", "many"),
    [(1, 1, True), (2, 2, True), (3, 1, True), (1, 2, False), (2, 3, False), (0, 1, False)],
)
def test_text_is_lines_where_half_can_be_read(tmp_path: Path, good: int, broken: int, many: bool) -> None:
    record = json.dumps({"id": "a", "output": LINE})
    text = "\n".join([record] * good + ["{broken"] * broken)
    assert read_file(file(tmp_path, text, "plans.txt")).many is many
    assert len(read_file(file(tmp_path, text, "plans.jsonl")).records) == good + broken
    begins = "\n".join(["{broken", *[record] * good])  # needs two records behind
    assert read_file(file(tmp_path, begins, "begins.txt")).many is (good > 1)


def test_pairs_by_id_keep_golds_order_and_by_position_where_none_has_one() -> None:
    found = pair(records("p", "b", "x", "b"), records("g", "a", "b"))
    ids = [(p.id if p else None, g.id if g else None) for p, g in found.pairs]
    assert ids == [(None, "a"), ("b", "b"), ("x", None)]
    assert [r.position for r in found.repeated] == [2]
    bare = pair(records("p", None, None, None), records("g", None, None))
    assert (bare.by, len(bare.pairs), bare.pairs[2][1]) == ("position", 3, None)
    pred, gold = records("p", None, None, None), records("g", "a", "b")
    with pytest.raises(PairingError, match="no id is in both files: p has none; g has 'a', 'b'"):
        pair(pred, gold)
    assert pair(pred, gold, by="position").by == "position"


def test_a_file_that_cannot_be_read_and_one_that_could_be_repaired(tmp_path: Path) -> None:
    gold = read_file(file(tmp_path, [{"id": "a", "plan": [CALL]}, {"id": "b", "plan": []}], "gold.json"))
    broken = read_file(file(tmp_path, b"x = f(\xff)", "pred.txt"))
    with pytest.raises(PairingError, match=r"pred\.txt cannot be read: column 7: the byte 0xff"):
        pair(broken, gold)
    gold = read_file(file(tmp_path, [CALL], "gold.json"))
    broken = read_file(file(tmp_path, "[{'name': 'f', 'arguments': {'a': 1}}]", "pred.json"))
    for repair, state in ((False, "unreadable"), (True, "same")):
        assert [row.state for row in Evaluation(repair=repair).rows(pair(broken, gold).pairs)] == [state]


def records(name: str, *ids: str | None) -> PlanFile:
    return PlanFile(name, tuple(Record(name, i, key, LINE) for i, key in enumerate(ids)), True)


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
