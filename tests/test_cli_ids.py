"""--id in every command that has it: given again, in the order of the records, told where it is a slip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.inside import planeval

TEXTS = {name: f"a = f(#x='{name}')" for name in ("north", "south", "east", "west")}


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    """Each command with --id, over four records."""
    plans, patches, tools = tmp_path / "p.jsonl", tmp_path / "patches.jsonl", tmp_path / "tools.py"
    plans.write_text("".join(json.dumps({"id": name, "plan": text}) + "\n" for name, text in TEXTS.items()))
    gold = tmp_path / "g.jsonl"
    gold.write_text(plans.read_text().replace("north", "nord").replace('"nord"', '"north"'))
    patches.write_text(planeval("diff", str(plans), str(gold), "--patch").stdout)
    tools.write_text("def f(x):\n    return x\n")
    samples = str(ROOT / "data" / "samples")
    return {
        "diff": ("diff", str(plans), str(gold)),
        "render": ("render", str(plans)),
        "apply": ("apply", str(patches), str(plans), "--to", "appbench"),
        "execute": ("execute", str(plans), "--tools", str(tools), "--isolation", "process"),
        "data show": ("data", "show", "appbench", "--source", samples),
    }


@pytest.mark.parametrize("name", ["diff", "render", "apply", "execute"])
def test_ids_are_taken_together_in_the_order_of_the_records(
    name: str, commands: dict[str, tuple[str, ...]]
) -> None:
    done = planeval(*commands[name], "--id", "east", "--id", "north", "--id", "east")
    assert done.returncode in (0, 1), done.stderr
    places = [done.stdout.find(word) for word in ("north", "east")]
    assert -1 < places[0] < places[1], done.stdout
    assert "south" not in done.stdout
    assert "west" not in done.stdout


@pytest.mark.parametrize("name", ["diff", "render", "apply", "execute"])
def test_an_id_that_no_record_has_is_an_error_beside_others_too(
    name: str, commands: dict[str, tuple[str, ...]]
) -> None:
    for argv in (("--id", "nroth"), ("--id", "east", "--id", "nroth")):
        done = planeval(*commands[name], *argv)
        assert (done.returncode, done.stdout) == (2, ""), argv
        assert "no record has the id 'nroth'; did you mean 'north'?" in done.stderr


def test_one_id_is_told_in_full_and_several_a_line_each(commands: dict[str, tuple[str, ...]]) -> None:
    assert planeval(*commands["diff"], "--id", "north").stdout.startswith("different: 1 edit; first")
    several = planeval(*commands["diff"], "--id", "north", "--id", "west").stdout
    assert several.splitlines()[-1] == "2 pairs: 1 same, 1 different"
    data = json.loads(planeval(*commands["diff"], "--id", "north", "--format", "json").stdout)
    assert (data["id"], data["state"]) == ("north", "different")


def test_samples_by_their_ids(commands: dict[str, tuple[str, ...]]) -> None:
    every = planeval(*commands["data show"], "--samples", "3").stdout
    decoder, ids = json.JSONDecoder(), []
    at = 0
    while at < len(every):
        sample, at = decoder.raw_decode(every, at)
        ids.append(sample["id"])
        at += 1
    both = planeval(*commands["data show"], "--id", ids[2], "--id", ids[0])
    assert both.stdout.find(f'"id": "{ids[0]}"') < both.stdout.find(f'"id": "{ids[2]}"')
    assert f'"id": "{ids[1]}"' not in both.stdout
    slip = planeval(*commands["data show"], "--id", f"{ids[1]}x")
    assert slip.returncode == 2
    assert f"no record has the id '{ids[1]}x'; did you mean" in slip.stderr


@pytest.mark.more
@pytest.mark.parametrize("padding", [10, 3_000_000], ids=["held", "stored"])
@pytest.mark.parametrize("command", ["diff", "score"])
@pytest.mark.parametrize("wrong", [True, "", 1.5, ["q2"]], ids=str)
def test_an_id_that_names_none_is_told_with_its_place(
    wrong: object, command: str, padding: int, tmp_path: Path
) -> None:
    files = []
    for name, field in (("p", "plan"), ("g", "gold")):
        rows = [
            {"id": id, field: f"f(x='{at}')", "note": "x" * padding}
            for at, id in enumerate(["q1", wrong, "q3"])
        ]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("\n".join(map(json.dumps, rows)))
    done = planeval(command, *map(str, files), "--format", "jsonl")
    said = f"the 'id' of 1 record names none, the first is line 2, record 2: {json.dumps(wrong)}; expected"
    assert all(f"{file}: {said}" in done.stderr for file in files)
    states = {row["id"]: row["state"] for row in map(json.loads, done.stdout.splitlines())}
    assert states == {"q1": "same", "record 2": "absent", "q3": "same", "prediction 2": "gold_absent"}


def test_files_of_which_one_has_no_id_that_names_any_say_so(tmp_path: Path) -> None:
    pred, gold = tmp_path / "p.jsonl", tmp_path / "g.jsonl"
    pred.write_text('{"id": true, "plan": "f()"}\n{"id": false, "plan": "f()"}')
    gold.write_text('{"id": "q1", "gold": "f()"}\n{"id": "q2", "gold": "f()"}')
    done = planeval("diff", str(pred), str(gold))
    assert done.returncode == 3
    assert "the 'id' of 2 records names none, the first is line 1, record 1: true; expected" in done.stderr


def test_records_with_ids_and_without_any_are_told_nothing(tmp_path: Path) -> None:
    pred, gold = tmp_path / "p.jsonl", tmp_path / "g.jsonl"
    for file, field in ((pred, "plan"), (gold, "gold")):
        rows = [{"id": "q1", field: "f()"}, {"id": None, field: "f()"}, {field: "f()"}]
        file.write_text("\n".join(map(json.dumps, rows)))
    assert "names none" not in planeval("diff", str(pred), str(gold)).stderr
