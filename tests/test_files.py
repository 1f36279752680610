"""Files of plans: what is one plan, what are records, and who belongs to whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.records.fields import Role
from planner_eval.records.files import PlanFile, Record, read_file
from planner_eval.records.pairing import pair
from planner_eval.records.plans import read_plan
from planner_eval.records.rows import evaluate

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
    [CALL], CALL, [],
    {"tool_calls": [{"type": "function", "function": CALL}]},
    {"schema": "planeval.plan/1", "calls": [CALL]},
    [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": []}],
    f"{json.dumps(CALL)}\n{json.dumps(CALL)}\n", LINE, f"{LINE}\n{LINE}", '[{"name": "f", "arguments": ',
])  # fmt: skip
def test_one_plan_in_a_file_of_its_own(tmp_path: Path, content: object) -> None:
    found = read_file(file(tmp_path, content))
    assert not found.many
    assert len(found.records) == 1


@pytest.mark.parametrize(("content", "ids"), [
    ([{"id": "a", "output": [CALL]}, {"id": 7, "output": LINE}], ["a", "7"]),
    ([{"sample_id": "a", "prediction": json.dumps([CALL])}], ["a"]),
    (f'{{"idx": 0, "text": {json.dumps(LINE)}}}\n{{"idx": 1, "text": "[]"}}\n', ["0", "1"]),
    ([[CALL], [CALL, CALL]], [None, None]), ([LINE, LINE], [None, None]),
    ({"q1": [CALL], "q2": []}, ["q1", "q2"]),
    ([{"input": "hi", "output": {"api_results": [LINE], "used_app": ["A"]}}], [None]),
])  # fmt: skip
def test_records(tmp_path: Path, content: object, ids: list[str | None]) -> None:
    found = read_file(file(tmp_path, content))
    assert found.many
    assert [r.id for r in found.records] == ids
    for record in found.records:
        read_plan(record)


def test_a_file_of_results_holds_both_and_each_side_takes_its_own(tmp_path: Path) -> None:
    path = file(tmp_path, [{"id": "a", "output": [CALL], "generated_text": "[]"}])
    assert len(read_plan(read_file(path).records[0])) == 0
    assert len(read_plan(read_file(path, role="gold").records[0])) == 1


def test_fields_can_be_named(tmp_path: Path) -> None:
    path = file(tmp_path, [{"key": "k1", "mine": LINE, "output": "other"}])
    record = read_file(path, id_field="key", text_field="mine").records[0]
    assert (record.id, record.source) == ("k1", LINE)
    with pytest.raises(InputError, match="no record has the id field 'nokey'"):
        read_file(path, id_field="nokey")


def test_a_record_without_a_plan_stays_a_record(tmp_path: Path) -> None:
    found = read_file(file(tmp_path, [{"id": "a", "output": LINE}, {"id": "b", "score": 1}]))
    assert [r.id for r in found.records] == ["a", "b"]
    with pytest.raises(ParseError, match="there is no plan: the record has no 'output'"):
        read_plan(found.records[1])


def test_a_broken_line_stays_a_record_with_its_line(tmp_path: Path) -> None:
    good = json.dumps({"id": "a", "output": LINE})
    found = read_file(file(tmp_path, f"{good}\n{{broken\n\n{good}\n"))
    assert [r.line for r in found.records] == [1, 2, 4]
    assert found.records[1].error is not None


@pytest.mark.parametrize(
    ("good", "broken", "many"),
    [(1, 1, True), (2, 2, True), (3, 1, True), (1, 2, False), (2, 3, False), (0, 1, False)],
)
def test_text_is_json_lines_where_half_of_them_can_be_read(
    tmp_path: Path, good: int, broken: int, many: bool
) -> None:
    record = json.dumps({"id": "a", "output": LINE})
    text = "\n".join([record] * good + ["{broken"] * broken)
    (tmp_path / "plans.txt").write_text(text)
    assert read_file(str(tmp_path / "plans.txt")).many is many
    (tmp_path / "plans.jsonl").write_text(text)
    assert len(read_file(str(tmp_path / "plans.jsonl")).records) == good + broken


def test_lines_that_begin_broken_need_two_records_behind(tmp_path: Path) -> None:
    record = json.dumps({"id": "a", "output": LINE})
    for good, many in ((1, False), (2, True)):
        path = tmp_path / f"{good}.txt"
        path.write_text("\n".join(["{broken", *[record] * good]))
        assert read_file(str(path)).many is many


@pytest.mark.parametrize(("role", "names"), [
    ("answer",
     "generated_text prediction predict predit pred response completion model_output raw text plan "
     "answer result gen_convs output outputs messages conversations"),
    ("gold", "gold ground_truth reference expected possible_answer output"),
])  # fmt: skip
def test_every_usual_field_of_a_plan_is_read(tmp_path: Path, role: Role, names: str) -> None:
    for name in names.split():
        found = read_file(file(tmp_path, [{"id": "a", name: LINE}, {"id": "b", name: LINE}]), role=role)
        assert [(r.id, r.source) for r in found.records] == [("a", LINE), ("b", LINE)], name


def test_every_usual_id_names_its_record(tmp_path: Path) -> None:
    names = "custom_id id sample_id idx index question_id task_id serial_num uuid request_id response_id "
    names += "recordId record_id customId example_id test_id qid key"
    for name in names.split():
        found = read_file(file(tmp_path, [{name: "k1", "output": LINE}, {name: "k2", "output": LINE}]))
        assert [r.id for r in found.records] == ["k1", "k2"], name


def test_bytes_that_are_no_text_say_where(tmp_path: Path) -> None:
    found = read_file(file(tmp_path, b"f(#a='\xff')"))
    with pytest.raises(ParseError, match=r"column 7: the byte 0xff is not UTF-8"):
        read_plan(found.records[0])


def test_a_byte_order_mark_is_no_part_of_the_plan(tmp_path: Path) -> None:
    assert read_file(file(tmp_path, b"\xef\xbb\xbf[]")).records[0].source == "[]"


def test_missing_files_and_directories(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_file(str(tmp_path / "none"))
    with pytest.raises(InputError, match="is a directory"):
        read_file(str(tmp_path))


def records(name: str, *ids: str | None) -> PlanFile:
    return PlanFile(name, tuple(Record(name, i, key, LINE) for i, key in enumerate(ids)), True)


def ids_of(pred: PlanFile, gold: PlanFile) -> list[tuple[str | None, str | None]]:
    return [(p.id if p else None, g.id if g else None) for p, g in pair(pred, gold).pairs]


def test_pairing_by_id_keeps_gold_order_and_counts_the_rest() -> None:
    assert ids_of(records("p", "b", "x"), records("g", "a", "b")) == [(None, "a"), ("b", "b"), ("x", None)]


def test_pairing_by_position_when_ids_are_missing() -> None:
    pred, gold = records("p", None, None, None), records("g", None, None)
    assert pair(pred, gold).by == "position"
    assert len(pair(pred, gold).pairs) == 3
    assert pair(pred, gold).pairs[2][1] is None


def test_ids_of_one_file_only_pair_nothing_unless_positions_are_asked_for() -> None:
    pred, gold = records("p", None, None, None), records("g", "a", "b")
    with pytest.raises(PairingError, match="no id is in both files: p has none; g has 'a', 'b'"):
        pair(pred, gold)
    assert pair(pred, gold, by="position").by == "position"


def test_a_repeated_id_is_reported_not_scored_twice() -> None:
    pairing = pair(records("p", "a", "a"), records("g", "a"))
    assert len(pairing.pairs) == 1
    assert [r.position for r in pairing.repeated] == [1]


@pytest.mark.parametrize(("name", "plans", "calls"), [
    ("appbench/test_mm.json", 200, 730),
    ("nestful/v1/executable/executable-data.json", 85, 233),
    ("nestful/v1/non-executable/non-executable-glaive-data.json", 169, 469),
    ("nestful/v1/non-executable/non-executable-sgd-data.json", 46, 98),
    ("nestful/v2/nestful_v2_collected.jsonl", 554, 2500),
    ("nestful/v2/split_original_last360.json", 360, None),
])  # fmt: skip
def test_the_benchmarks_own_gold_files(reference: Path, name: str, plans: int, calls: int | None) -> None:
    found = read_file(str(reference / "datasets" / name), role="gold")
    assert len(found.records) == plans
    total = sum(len(read_plan(record)) for record in found.records)
    assert calls is None or total == calls


def test_what_names_no_plan_shows_six_of_its_fields(tmp_path: Path) -> None:
    found = [{f"field{at}": at for at in range(8)}] * 2
    with pytest.raises(InputError, match=r"the first has 'field0', .*, 'field5': name it"):
        read_file(file(tmp_path, found))


def test_ids_beside_a_file_that_cannot_be_read_say_that_it_cannot(tmp_path: Path) -> None:
    gold = read_file(file(tmp_path, [{"id": "a", "plan": [CALL]}, {"id": "b", "plan": []}], "gold.json"))
    broken = read_file(file(tmp_path, b"x = f(\xff)", "pred.txt"))
    with pytest.raises(PairingError, match=r"pred\.txt cannot be read: column 7: the byte 0xff"):
        pair(broken, gold)


def test_nothing_is_repaired_unless_that_is_asked_for(tmp_path: Path) -> None:
    gold = read_file(file(tmp_path, [CALL], "gold.json"))
    broken = read_file(file(tmp_path, "[{'name': 'f', 'arguments': {'a': 1}}]", "pred.json"))
    assert [row.state for row in evaluate(pair(broken, gold).pairs)] == ["unreadable"]
    assert [row.state for row in evaluate(pair(broken, gold).pairs, repair=True)] == ["same"]
