"""What records are called, with an id and without, and --id in every command that has it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.reading.files.record import is_lazy_pairs
from tests.inside import planeval
from tests.pages import Page

MIXED = ("1", "3", None, "4")  # the third record has no id, and the second is called 3
NAMES = ["1", "3", "record 3", "4"]
LARGE = pytest.mark.parametrize(
    "padding",
    [pytest.param(0, id="held"), pytest.param(3_000_000, id="stored", marks=pytest.mark.more)],
)


def write(path: Path, field: str, ids: Any, first: int = 0, padding: int = 0, plan: str = "f(a={})") -> str:
    """A file of plans f(a=N); with padding it is too large to be held in memory."""
    lines = []
    for at, id in enumerate(ids):
        named = {} if id is None else {"id": id}
        noted = {"note": "x" * padding} if padding and at else {}  # the head of a file is looked at whole
        lines.append(json.dumps({**named, field: plan.format(first + at), **noted}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture(params=[0, 3_000_000], ids=["held", "stored"])
def sides(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    pred = write(tmp_path / "p.jsonl", "output", MIXED, 0, request.param)
    gold = write(tmp_path / "g.jsonl", "gold", MIXED, 10, request.param)
    assert is_lazy_pairs(pe.pair(Path(pred), Path(gold)).pairs) == bool(request.param)
    return pred, gold


@pytest.fixture
def tools(tmp_path: Path) -> str:
    (tmp_path / "tools.py").write_text("def f(a=0):\n    return a\n", encoding="utf-8")
    return str(tmp_path / "tools.py")


def rows(done: subprocess.CompletedProcess[str], key: str) -> list[Any]:
    return [json.loads(line).get(key) for line in done.stdout.splitlines()]


def test_each_command_finds_it_by_its_place(sides: tuple[str, str], tools: str, tmp_path: Path) -> None:
    pred, gold = sides
    parameters = {"type": "object", "properties": {"b": {"type": "integer"}}}
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps([{"name": "f", "parameters": parameters}]), encoding="utf-8")
    run = ("execute", pred, "--tools", tools, "--isolation", "inline")
    assert rows(planeval(*run, "--format", "jsonl"), "record") == NAMES
    found = planeval("check", pred, "--catalog", catalog, "--format", "jsonl")
    assert list(dict.fromkeys(rows(found, "record"))) == NAMES
    said = planeval("check", pred, "--catalog", catalog).stdout.splitlines()
    named = ["record 1", "record 3", "record 'record 3'", "record 4"]
    assert [line.partition(",")[0] for line in said] == named
    assert rows(planeval("suggest", pred, "--catalog", catalog, "--format", "jsonl"), "id") == NAMES
    assert "record 3" in planeval("data", "duplicates", pred, pred, "--by", "plan", "--format", "json").stdout
    drawn = planeval("render", pred, "--id", "record 3")
    assert (drawn.returncode, "a = 2" in drawn.stdout) == (0, True)
    one = planeval(*run, "--id", "record 3")
    assert (one.returncode, one.stdout.split()[-1]) == (0, "2")
    by_place = ("diff", pred, gold, "--pair", "position", "--format", "json", "--id")
    assert json.loads(planeval(*by_place, "record 3").stdout)["edits"][0]["gold_value"] == 12
    assert json.loads(planeval(*by_place, "3").stdout)["edits"][0]["gold_value"] == 11
    for name, state in (("record 3", "absent"), ("prediction 3", "gold_absent")):
        told = json.loads(planeval("diff", pred, gold, "--format", "json", "--id", name).stdout)
        assert (told["id"], told["state"]) == (name, state)
    for name, by in (("record 2", "id"), ("record 9", "id"), ("prediction 3", "position")):
        done = planeval("diff", pred, gold, "--pair", by, "--id", name)
        assert (done.returncode, f"no record has the id '{name}'" in done.stderr) == (2, True)


@pytest.mark.parametrize("by", ["id", "position"])
def test_a_patch_goes_to_the_plan_of_its_making(sides: tuple[str, str], by: str, tmp_path: Path) -> None:
    pred, gold = sides
    patch = tmp_path / "patch.jsonl"
    assert planeval("diff", pred, gold, "--pair", by, "--patch", "-o", patch).returncode == 1
    applied = planeval("convert", pred, "--patch", patch, "--to", "pythonic")
    third = "[f(a=12)]" if by == "position" else None
    assert rows(applied, "id") == NAMES
    assert rows(applied, "text") == ["[f(a=10)]", "[f(a=11)]", third, "[f(a=13)]"]
    assert applied.returncode == int(by == "id")
    if by == "id":  # gold's third record is another, and what is said of it is not taken for this one's
        assert "the prediction has no gold plan" in applied.stdout
        assert "gold 3" in applied.stderr


def test_the_commands_of_a_page_show_its_pairs(tmp_path: Path) -> None:
    pred = write(tmp_path / "p.jsonl", "output", MIXED)
    gold = write(tmp_path / "g.jsonl", "gold", MIXED, 10)
    page = tmp_path / "page.html"
    assert planeval("report", pred, "--gold", gold, "-o", page).returncode == 0
    (command,) = Page.of(page).head["commands"]
    for name in (*NAMES, "prediction 3"):
        told = planeval(*command[1:], name, "--format", "json")
        assert json.loads(told.stdout)["id"] == name
    # Where gold has no ids its pairs are called by their places, which may be another prediction's id.
    bare = write(tmp_path / "n.jsonl", "gold", [None, None], 10)
    pred = write(tmp_path / "p.jsonl", "output", ["2", "1"])
    assert planeval("report", pred, "--gold", bare, "--pair", "position", "-o", page).returncode == 0
    assert Page.of(page).head["commands"] == [None]


@LARGE
def test_an_id_that_another_is_called_is_told(padding: int, tools: str, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", "gold", ["a", "b", "c", None], 10, padding)
    ids = ["a", "record 3", None, "record 4", "prediction 3"]
    pred, patch = write(tmp_path / "p.jsonl", "output", ids, 0, padding), tmp_path / "patch.jsonl"
    said = f"{pred}, line 3, record 3 has no id and is called '{{}}', which is the id of {pred}"
    ran = planeval("execute", pred, "--tools", tools, "--isolation", "inline")
    assert f"{said.format('record 3')}, line 2" in ran.stderr
    told = planeval("diff", pred, plain, "--patch", "-o", patch).stderr
    assert said.format("record 3") in told
    assert said.format("prediction 3") in told
    assert f"{plain}, line 4, record 4 has no id and is called 'record 4', which is the id of {pred}" in told
    refused = planeval("convert", pred, "--patch", patch)
    errors = [row for row in map(json.loads, refused.stdout.splitlines()) if row["id"] == "record 3"]
    assert [row["error"].partition(": ")[2] for row in errors] == ["2 plans have the id 'record 3'"] * 2


def folders(tmp_path: Path, held: dict[str, dict[str, list[dict[str, Any]]]]) -> tuple[Path, Path]:
    for field, files in held.items():
        (tmp_path / field).mkdir()
        for name, records in files.items():
            named = [{"id": one["id"]} if "id" in one else {} for one in records]
            lines = [id | {field: f"f(x={one['f']})"} for id, one in zip(named, records, strict=True)]
            (tmp_path / field / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path / "prediction", tmp_path / "gold"


def test_in_directories_a_record_without_an_id_takes_no_other_ones_place(tmp_path: Path) -> None:
    """Files of the same ids again, one of which has a record without one: its place is another's id."""
    ids = [{"id": "1", "f": 1}, {"id": "2", "f": 2}]
    sides = folders(tmp_path, {
        "gold": {"one": [{"id": "1", "f": 1}, {"f": 50}], "two": ids},
        "prediction": {"one": ids, "two": [{"f": 9}, {"f": 9}, *ids[::-1]]},
    })  # fmt: skip
    for jobs in ((), ("--jobs", "2")):
        done = planeval("diff", *sides, "--format", "jsonl", *jobs)
        assert list(zip(rows(done, "id"), rows(done, "state"), strict=True)) == [
            ("one/1", "same"), ("one/record 2", "absent"), ("two/1", "same"), ("two/2", "same"),
            ("one/2", "gold_absent"), ("two/prediction 1", "gold_absent"),
            ("two/prediction 2", "gold_absent"),
        ]  # fmt: skip


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    plans, gold, patches, tools = (tmp_path / n for n in ("p.jsonl", "g.jsonl", "patches.jsonl", "f.py"))
    texts = {name: f"a = f(#x='{name}')" for name in ("north", "south", "east", "west")}
    plans.write_text("".join(json.dumps({"id": name, "plan": text}) + "\n" for name, text in texts.items()))
    gold.write_text(plans.read_text().replace("north", "nord").replace('"nord"', '"north"'))
    patches.write_text(planeval("diff", plans, gold, "--patch").stdout)
    tools.write_text("def f(x):\n    return x\n")
    return {
        "diff": ("diff", str(plans), str(gold)), "render": ("render", str(plans)),
        "convert": ("convert", str(plans), "--patch", str(patches), "--to", "appbench"),
        "execute": ("execute", str(plans), "--tools", str(tools), "--isolation", "process"),
    }  # fmt: skip


@LARGE
@pytest.mark.parametrize("wrong", [True, ["q2"]])
def test_an_id_that_names_none_is_told_with_its_place(wrong: object, padding: int, tmp_path: Path) -> None:
    ids = ["q1", wrong, "q3"]
    files = [write(tmp_path / f"{f}.jsonl", f, ids, 0, padding) for f in ("plan", "gold")]
    for command in ("diff", "score"):
        done = planeval(command, *files, "--format", "jsonl")
        said = f"the 'id' of 1 record is not an id (first line 2, record 2: {json.dumps(wrong)}); "
        assert all(f"{file}: {said}" in done.stderr for file in files)
        states = {row["id"]: row["state"] for row in map(json.loads, done.stdout.splitlines())}
        assert states == {"q1": "same", "record 2": "absent", "q3": "same", "prediction 2": "gold_absent"}


def test_reading_what_a_patch_wrote_gives_the_patched_plan(tmp_path: Path) -> None:
    pred, gold, patch, new = (str(tmp_path / f"{name}.jsonl") for name in ("pred", "gold", "patch", "new"))
    wanted = [{"id": name, "plan": "wanted(a=1)"} for name in "ab"]
    Path(gold).write_text("\n".join(map(json.dumps, wanted)))
    patched = 0
    for case in sorted((Path(__file__).parent / "cases").glob("*/*.txt")):
        text = case.read_text(errors="replace").split("\n--- ")[0].split("\n", 1)[-1]
        if case.parent.name not in PATCHED or not text.startswith("{") or "\n" in text.strip():
            continue
        record = json.loads(text)
        Path(pred).write_text("\n".join(json.dumps({**record, "id": name}) for name in "ab"))
        planeval("diff", pred, gold, "--patch", "-o", patch)
        if planeval("convert", pred, "--patch", patch, "-o", new).returncode == 0:
            assert planeval("diff", new, gold).returncode == 0, case
            patched += 1
    assert patched > 20


PATCHED = ("answers", "anthropic", "bedrock", "plan", "react", "taskbench", "vercel", "openai-responses")
"""Folders of cases whose records are answers, conversations or plans as they are."""
