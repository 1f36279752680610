"""What records without an id are called where others of their file have one: never what another is called."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.records.storing import is_joined
from tests.inside import planeval
from tests.pages import Page

MIXED = ("1", "3", None, "4")
"""The third record has no id, and the second is called 3."""

CATALOG = [{"name": "f", "parameters": {"type": "object", "properties": {"b": {"type": "integer"}}}}]


def write(path: Path, field: str, ids: Sequence[str | None], first: int = 0, padding: int = 0) -> str:
    """A file of plans f(a=N); with padding it is too large to be held in memory."""
    lines = []
    for at, id in enumerate(ids):
        named = {} if id is None else {"id": id}
        noted = {"note": "x" * padding} if padding and at else {}  # the head of a file is looked at whole
        lines.append(json.dumps({**named, field: f"f(a={first + at})", **noted}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture(params=[0, 3_000_000], ids=["held", "stored"])
def sides(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    pred = write(tmp_path / "p.jsonl", "output", MIXED, 0, request.param)
    gold = write(tmp_path / "g.jsonl", "gold", MIXED, 10, request.param)
    assert is_joined(pe.pair(Path(pred), Path(gold)).pairs) == bool(request.param)
    return pred, gold


@pytest.fixture
def tools(tmp_path: Path) -> str:
    (tmp_path / "tools.py").write_text("def f(a=0):\n    return a\n", encoding="utf-8")
    (tmp_path / "catalog.json").write_text(json.dumps(CATALOG), encoding="utf-8")
    return str(tmp_path / "tools.py")


def rows(done: subprocess.CompletedProcess[str], key: str) -> list[str]:
    return [json.loads(line)[key] for line in done.stdout.splitlines()]


NAMES = ["1", "3", "record 3", "4"]


def test_each_command_calls_it_by_its_place_in_words(sides: tuple[str, str], tools: str) -> None:
    pred, _ = sides
    catalog = str(Path(tools).with_name("catalog.json"))
    ran = planeval("execute", pred, "--tools", tools, "--isolation", "inline", "--format", "jsonl")
    assert rows(ran, "record") == NAMES
    found = planeval("check", pred, "--catalog", catalog, "--format", "jsonl")
    assert list(dict.fromkeys(rows(found, "record"))) == NAMES
    said = planeval("check", pred, "--catalog", catalog).stdout.splitlines()
    assert [line.partition(",")[0] for line in said] == [
        "record 1",
        "record 3",
        "record 'record 3'",
        "record 4",
    ]
    assert rows(planeval("suggest", pred, "--catalog", catalog, "--format", "jsonl"), "id") == NAMES
    twice = planeval("data", "duplicates", pred, pred, "--by", "plan", "--format", "json")
    assert "record 3" in json.dumps(json.loads(twice.stdout))
    drawn = planeval("render", pred, "--id", "record 3")
    assert (drawn.returncode, "a = 2" in drawn.stdout) == (0, True)


def test_it_is_found_by_what_it_is_called(sides: tuple[str, str], tools: str) -> None:
    pred, gold = sides
    one = planeval("execute", pred, "--tools", tools, "--isolation", "inline", "--id", "record 3")
    assert (one.returncode, one.stdout.split()[-1]) == (0, "2")
    by_place = ("diff", pred, gold, "--pair", "position", "--format", "json", "--id")
    assert json.loads(planeval(*by_place, "record 3").stdout)["edits"][0]["gold_value"] == 12
    assert json.loads(planeval(*by_place, "3").stdout)["edits"][0]["gold_value"] == 11
    for name, state in (("record 3", "absent"), ("prediction 3", "gold_absent")):
        told = json.loads(planeval("diff", pred, gold, "--format", "json", "--id", name).stdout)
        assert (told["id"], told["state"]) == (name, state)
    for name, by in (("record 2", "id"), ("record 9", "id"), ("prediction 3", "position")):
        told = planeval("diff", pred, gold, "--pair", by, "--id", name)
        assert (told.returncode, told.stdout) == (2, "")
        assert f"no record has the id '{name}'" in told.stderr


@pytest.mark.parametrize("by", ["id", "position"])
def test_a_patch_goes_to_the_plan_that_it_was_made_for(
    sides: tuple[str, str], by: str, tmp_path: Path
) -> None:
    pred, gold = sides
    patch = str(tmp_path / "patch.jsonl")
    assert planeval("diff", pred, gold, "--pair", by, "--patch", "-o", patch).returncode == 1
    applied = planeval("apply", patch, pred, "--to", "pythonic")
    written = {row["id"]: row.get("text") for row in map(json.loads, applied.stdout.splitlines())}
    third = "[f(a=12)]" if by == "position" else None
    assert written == {"1": "[f(a=10)]", "3": "[f(a=11)]", "record 3": third, "4": "[f(a=13)]"}
    assert applied.returncode == int(by == "id")
    if by == "id":  # gold's third record is another, and what is said of it is not taken for this one's
        assert "there is no gold plan for this prediction" in applied.stdout
        assert "gold 3" in applied.stderr


def test_patches_are_called_as_the_predictions_are(tmp_path: Path) -> None:
    """Gold's ids stand in another order than the plans without ids that they are paired with."""
    pred = write(tmp_path / "p.jsonl", "output", [None] * 3)
    gold = write(tmp_path / "g.jsonl", "gold", ["2", "3", "1"], 10)
    patch = str(tmp_path / "patch.jsonl")
    planeval("diff", pred, gold, "--pair", "position", "--patch", "-o", patch)
    applied = planeval("apply", patch, pred, "--to", "pythonic")
    assert rows(applied, "text") == ["[f(a=10)]", "[f(a=11)]", "[f(a=12)]"]


def test_a_patch_of_suggest_goes_to_its_plan(tmp_path: Path) -> None:
    catalog = [{"name": "search", "parameters": {"type": "object", "properties": {"city": {}}}}]
    (tmp_path / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    lines = [
        json.dumps(({} if id is None else {"id": id}) | {"output": f"serach(city='{at}')"})
        for at, id in enumerate(MIXED)
    ]
    pred, patch = tmp_path / "p.jsonl", str(tmp_path / "patch.jsonl")
    pred.write_text("\n".join(lines), encoding="utf-8")
    planeval("suggest", pred, "--catalog", tmp_path / "catalog.json", "--patch", "-o", patch)
    done = planeval("apply", patch, pred, "--to", "pythonic")
    assert rows(done, "text") == [f'[search(city="{at}")]' for at in range(4)]
    assert rows(done, "id") == NAMES


def test_the_commands_of_a_page_show_its_pairs(tmp_path: Path) -> None:
    pred = write(tmp_path / "p.jsonl", "output", MIXED)
    gold = write(tmp_path / "g.jsonl", "gold", MIXED, 10)
    page = tmp_path / "page.html"
    assert planeval("report", pred, "--gold", gold, "-o", page).returncode == 0
    made = Page.of(page)
    (command,) = made.head["commands"]
    names = [*NAMES, "prediction 3"]
    for name in names:
        told = planeval(*command[1:], name, "--format", "json")
        assert json.loads(told.stdout)["id"] == name


def test_a_page_has_no_command_where_gold_has_no_ids(tmp_path: Path) -> None:
    """Its pairs are called by their places, and a prediction of that id may be another's."""
    pred = write(tmp_path / "p.jsonl", "output", ["2", "1"])
    gold = write(tmp_path / "g.jsonl", "gold", [None, None], 10)
    page = tmp_path / "page.html"
    assert planeval("report", pred, "--gold", gold, "--pair", "position", "-o", page).returncode == 0
    assert Page.of(page).head["commands"] == [None]


@pytest.mark.parametrize("padding", [0, 3_000_000], ids=["held", "stored"])
def test_an_id_that_another_is_called_is_told(padding: int, tools: str, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", "gold", ["a", "b", "c", None], 10, padding)
    pred = write(
        tmp_path / "p.jsonl", "output", ["a", "record 3", None, "record 4", "prediction 3"], 0, padding
    )
    said = f"{pred}, line 3, record 3 has no id and is called 'record 3', which is the id of {pred}, line 2"
    ran = planeval("execute", pred, "--tools", tools, "--isolation", "inline")
    assert said in ran.stderr
    told = planeval("diff", pred, plain, "--patch", "-o", tmp_path / "patch.jsonl").stderr
    assert said in told
    assert f"{plain}, line 4, record 4 has no id and is called 'record 4', which is the id of {pred}" in told
    assert (
        f"{pred}, line 3, record 3 has no id and is called 'prediction 3', which is the id of {pred}" in told
    )
    refused = planeval("apply", tmp_path / "patch.jsonl", pred)
    errors = [row for row in map(json.loads, refused.stdout.splitlines()) if row["id"] == "record 3"]
    assert [row["error"].partition(": ")[2] for row in errors] == ["2 plans have the id 'record 3'"] * 2


@pytest.mark.parametrize("ids", [(None, None, None), ("record 2", "b", "record 1")], ids=["none", "all"])
def test_nothing_is_told_where_no_record_is_called_so(ids: Sequence[str | None], tmp_path: Path) -> None:
    pred, gold = (write(tmp_path / f"{name}.jsonl", name, ids) for name in ("output", "gold"))
    found = planeval("diff", pred, gold, "--format", "jsonl")
    assert rows(found, "id") == [id or str(at) for at, id in enumerate(ids, 1)]
    assert "is called" not in found.stderr


def test_what_a_finding_is_known_by_holds_no_place(tmp_path: Path) -> None:
    """A line more above it makes no new finding of it."""
    known = []
    for more in ([], ["before"]):
        ids = ["0", *more, None, "1"]
        pred, gold = tmp_path / "p.jsonl", tmp_path / "g.jsonl"
        for file, field, value in ((pred, "output", 1), (gold, "gold", 2)):
            lines = [
                json.dumps(({} if id is None else {"id": id}) | {field: f"f(a={value if id is None else 0})"})
                for id in ids
            ]
            file.write_text("\n".join(lines), encoding="utf-8")
        done = planeval("diff", pred, gold, "--pair", "position", "--format", "sarif")
        (run,) = json.loads(done.stdout)["runs"]
        known.append([one["partialFingerprints"] for one in run["results"]])
    assert known[0] == known[1]
    assert len(known[0]) == 1


def test_in_directories_a_record_without_an_id_takes_no_other_ones_place(tmp_path: Path) -> None:
    """Files of the same ids again, one of which has a record without one: its place is another's id."""
    ids = [{"id": "1", "f": 1}, {"id": "2", "f": 2}]
    held = {
        "gold": {"one": [{"id": "1", "f": 1}, {"f": 50}], "two": ids},
        "prediction": {"one": ids, "two": [{"f": 9}, {"f": 9}, *ids[::-1]]},
    }
    for field, files in held.items():
        (tmp_path / field).mkdir()
        for name, records in files.items():
            lines = [
                {k: v for k, v in one.items() if k == "id"} | {field: f"f(x={one['f']})"} for one in records
            ]
            (tmp_path / field / f"{name}.jsonl").write_text(
                "".join(json.dumps(line) + "\n" for line in lines)
            )
    sides = (str(tmp_path / "prediction"), str(tmp_path / "gold"))
    for jobs in ((), ("--jobs", "2")):
        done = planeval("diff", *sides, "--format", "jsonl", *jobs)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(row["id"], row["state"]) for row in rows] == [
            ("one/1", "same"),
            ("one/record 2", "absent"),
            ("two/1", "same"),
            ("two/2", "same"),
            ("one/2", "gold_absent"),
            ("two/prediction 1", "gold_absent"),
            ("two/prediction 2", "gold_absent"),
        ]


def test_that_places_are_paired_with_ids_is_said(tmp_path: Path) -> None:
    for field in ("gold", "prediction"):
        (tmp_path / field).mkdir()
        for name in ("one", "two", "three"):
            named = name != "one" or field == "prediction"
            lines = [{"id": str(n)} if named else {} for n in (1, 2)]
            text = "".join(json.dumps(line | {field: f"f(x={n})"}) + "\n" for n, line in enumerate(lines))
            (tmp_path / field / f"{name}.jsonl").write_text(text)
    done = planeval("diff", str(tmp_path / "prediction"), str(tmp_path / "gold"))
    assert (
        f"{tmp_path}/gold: the records of one have no ids, those in {tmp_path}/prediction have" in done.stderr
    )
