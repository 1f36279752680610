"""Runs of which much cannot be read, compared: what is said first, and what is so where both were read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.records.rows import NO_ANSWER
from tests.inside import planeval
from tests.test_compare import lines

COUNT = 120


def files(folder: Path, *, seed: int = 1) -> dict[str, str]:
    random = Random(seed)
    sides: dict[str, list[dict[str, Any]]] = {"gold": [], "quoted": [], "plain": []}
    for n in range(COUNT):
        plan = [{"name": random.choice("fgh"), "arguments": {"user": f"u{n}"}}]
        wrong = [{"name": "login", "arguments": {"user": f"u{n}"}}]
        other = [{"name": plan[0]["name"], "arguments": {"user": "nobody"}}]
        ours = random.choices([plan, wrong, other], [8, 1, 1])[0]
        theirs = random.choices([plan, wrong, other], [5, 2, 3])[0]
        text = json.dumps(ours) if n % 4 == 0 else str(ours)
        text = f"{text[:-1]}))" if n % 24 == 1 else text
        sides["gold"].append({"id": f"q{n}", "gold": plan})
        sides["quoted"].append({"id": f"q{n}", "prediction": text})
        sides["plain"].append({"id": f"q{n}", "prediction": json.dumps(theirs)})
    return {name: lines(folder / f"{name}.jsonl", records) for name, records in sides.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return files(tmp_path_factory.mktemp("unreadable"))


def compared(made: Mapping[str, str], *argv: str) -> str:
    sides = (made["quoted"], made["plain"], "--gold", made["gold"])
    done = planeval("compare", *sides, "--metric", "exact", *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_cannot_be_read_stands_first_and_in_the_verdict(made: Mapping[str, str]) -> None:
    """Read strictly the one is worse for its quotes; once repaired it is better."""
    for strict in ([], ["--strict"]):
        for form in ("text", "md"):
            head = compared(made, *strict, "--format", form).splitlines()[0]
            assert head == "unreadable: quoted 90 of 120 as written, 5 once repaired; plain 0 of 120"
    strict = compared(made, "--strict").splitlines()[1]
    assert strict.startswith("plain is better than quoted in exact: 0.53 against 0.19, p < 0.0001")
    assert strict.endswith(
        "; for the most part because quoted is unreadable in 90 of 120; over the 30 that both answered "
        "readably plain is worse: 0.40 against 0.77, p = 0.0074"
    )
    mended = compared(made).splitlines()[1]
    assert mended.startswith("plain is worse than quoted in exact: 0.53 against 0.77, p = 0.00026")
    assert "; quoted is unreadable in 5 of 120; over the 115 that both answered readably" in mended
    assert "because" not in mended
    found = pe.compare(["f()", "g()"], ["f()", "h()"], ["f()", "g()"], metrics=["exact"])
    assert (found.both_read, "readabl" in found.verdict) == (None, False)
    nothing = pe.compare(["f("], ["g("], ["f()"], metrics=["exact"])
    said = "; A is cut off in 1 of 1 and B is cut off in 1 of 1; no sample was answered readably by both"
    assert nothing.verdict.endswith(said)


def test_causes_stand_beside_one_another_the_largest_difference_first(made: Mapping[str, str]) -> None:
    text = compared(made, "--strict")
    assert ("nothing" in text, "login" in text) == (False, True)  # what cannot be read is no other tool
    head, *rows = next(part for part in text.split("\n\n") if part.startswith("cause ")).splitlines()
    assert head.split("  ")[-1] == "30 both read"
    counts = [(row.split()[0], int(row.split()[1]), int(row.split()[2])) for row in rows]
    gaps = [abs(one - other) for _, one, other in counts]
    assert {code for code, *_ in counts} == {"argument.value", "call.replaced"}
    assert gaps == sorted(gaps, reverse=True)
    data = json.loads(compared(made, "--strict", "--format", "json"))
    for at, side in enumerate(("first", "second"), 1):
        assert {row[0]: row[at] for row in counts} == data["causes"][side]
    assert (data["samples"], data["figures"]["exact"]["n"]) == (COUNT, COUNT)
    assert data["figures"]["exact"]["first"] == data["records"]["first"]["same"] / COUNT


def test_figures_of_what_both_read_are_of_these_alone(made: Mapping[str, str], tmp_path: Path) -> None:
    """A law: leave out what one could not read, and the figures over all are those beside."""
    data = json.loads(compared(made, "--strict", "--format", "json"))
    samples = [json.loads(line) for line in compared(made, "--strict", "--format", "jsonl").splitlines()]
    read = {one["id"] for one in samples if all(s["state"] not in NO_ANSWER for s in one["systems"].values())}
    assert data["both_read"]["samples"] == len(read) == 30
    kept = {}
    for name, file in made.items():
        records = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
        kept[name] = lines(tmp_path / f"{name}.jsonl", [one for one in records if one["id"] in read])
    alone = json.loads(compared(kept, "--strict", "--format", "json"))
    assert alone["figures"] == data["both_read"]["figures"]
    assert alone["causes"] == data["both_read"]["causes"]
    assert "both_read" not in alone


def test_strict_reading_counts_what_repair_would_read(made: Mapping[str, str]) -> None:
    """With and without repair the counts are the same two, seen from either side, record by record."""
    strict, mended = (json.loads(compared(made, *argv, "--format", "json")) for argv in (["--strict"], []))
    assert strict["unreadable"] == mended["unreadable"]
    assert strict["unreadable"]["first"] == {"as_written": 90, "once_repaired": 5}
    assert strict["records"]["first"]["repairable"] == mended["records"]["first"]["repaired"] == 85
    assert "reading strict |" in strict["signature"]
    assert "reading strict, else repaired" in mended["signature"]
    sides = (made["quoted"], made["plain"], "--gold", made["gold"], "--strict")
    said = "quoted: 90 of 120 predictions cannot be read and count as wrong; without --strict"
    assert said in planeval("compare", *sides).stderr
    told = [compared(made, *argv, "--format", "jsonl").splitlines() for argv in (["--strict"], [])]
    for lines_ in zip(*told, strict=True):
        one, other = (json.loads(line)["systems"]["quoted"] for line in lines_)
        assert one.get("repairable", False) is other.get("repaired", False)


def test_csv_and_runs_in_folders_say_the_same(made: Mapping[str, str], tmp_path: Path) -> None:
    table = csv.DictReader(io.StringIO(compared(made, "--strict", "--format", "csv")))
    rows = {row["metric"]: row for row in table}
    assert (rows["records.repairable"]["quoted"], rows["both_read.exact"]["quoted"]) == ("85", "0.7667")
    assert rows["causes.argument.value"]["plain"] == "39"
    for flag, said in ((["--strict"], "90 of 120 as written"), ([], "90 of 120 as written, 5 once repaired")):
        folders = [tmp_path / str(len(flag)) / name for name in ("quoted", "plain")]
        folders[0].parent.mkdir()
        for name, kept in zip(("quoted", "plain"), folders, strict=True):
            argv = ("score", made[name], made["gold"], "--metric", "exact", *flag, "-o", f"{kept}/")
            assert planeval(*argv).returncode == 0
        again = json.loads(planeval("compare", *folders, "--format", "json").stdout)
        whole = json.loads(compared(made, *flag, "--format", "json"))
        for key in ("verdict", "samples", "unanswered", "figures", "causes", "mistaken", "both_read"):
            assert again[key] == whole[key], key
        head = planeval("compare", *folders).stdout.splitlines()[0]
        assert head == f"unreadable: quoted {said}; plain 0 of 120"
