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
