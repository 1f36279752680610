"""Runs that are scored into a folder: the bytes of the plain command, told again, compared, and refused."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.engine.run_file import read_run, write_run
from planner_eval.engine.score import ScoreJob
from planner_eval.policy.file import load_policy
from planner_eval.scoring.report import UNSAID
from tests.conftest import ROOT
from tests.test_cli import planeval

PRED, GOLD = (str(ROOT / "data" / "demo" / f"{side}.jsonl") for side in ("pred", "gold"))
FORMS = ("text", "json", "jsonl", "csv", "md", "junit")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A second system: every third answer is wrong, one is left out, one is given twice."""
    lines = Path(PRED).read_text(encoding="utf-8").splitlines()
    made = [line.replace("Rome", "Roma") if at % 3 else line for at, line in enumerate(lines)]
    file = tmp_path_factory.mktemp("other") / "other.jsonl"
    file.write_text("\n".join([*made[:-2], made[0]]), encoding="utf-8")
    return str(file)


def seen(*argv: str) -> tuple[str, str, int]:
    done = planeval(*argv)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("file", ["demo", "other"])
def test_a_run_says_what_the_plain_command_says(file: str, other: str, tmp_path: Path) -> None:
    pred = PRED if file == "demo" else other
    run = f"{tmp_path}/run/"
    assert seen("score", pred, GOLD, "--by", "calls", "-o", run) == seen("score", pred, GOLD, "--by", "calls")
    for form in FORMS:
        more = [] if form in ("csv", "junit") else ["--by", "calls"]
        limit = ["--fail-under", "exact=0.9"]
        options = [limit] if form == "csv" else [[], ["--only", "failures", *limit]]
        for option in options:
            plain = seen("score", pred, GOLD, "--format", form, *more, *option)
            out, notes, code = seen("score", run, "--format", form, *option)
            assert (out, code) == plain[::2], (form, option)
            assert notes == plain[1], (form, option)
    text = planeval("score", pred, GOLD, "--all").stdout.partition("\n\n")[0]
    assert planeval("score", run.rstrip("/"), "--all").stdout.partition("\n\n")[0] == text


def test_a_run_with_a_function_that_has_changed_is_another_run(tmp_path: Path) -> None:
    module, run = tmp_path / "own_rule.py", f"{tmp_path}/run/"
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nargument = "*"\nfunction = "own_rule:alike"\n', encoding="utf-8")
    command = [sys.executable, "-m", "planner_eval", "score", PRED, GOLD, "--policy", str(policy), "-o", run]
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def scored(text: str) -> subprocess.CompletedProcess[str]:
        module.write_text(text, encoding="utf-8")
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    first = scored("def alike(ours, theirs):\n    return ours == theirs\n")
    assert first.returncode == 0, first.stderr
    again = scored("def alike(ours, theirs):\n    return True\n")
    assert (again.returncode, again.stdout) == (2, "")
    assert "holds another run: what --policy says has changed" in again.stderr
    assert scored("def alike(ours, theirs):\n    return ours == theirs\n").stdout == first.stdout


def test_a_run_tells_again_what_is_to_be_known_of_gold(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    records = [{"id": "a", "gold": "f(#x='1')", "alternative": []}, {"id": "b", "gold": "none of these"}]
    gold.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    pred = tmp_path / "pred.jsonl"
    pred.write_text('{"id": "a", "output": "f(#x=\'1\')"}\n{"id": "b", "output": "g()"}\n', encoding="utf-8")
    first = seen("score", str(pred), str(gold), "-o", f"{tmp_path}/run/")
    assert "did you mean 'alternatives'" in first[1]
    assert seen("score", f"{tmp_path}/run") == first


def test_any_processes_and_parts_give_the_same_bytes(other: str, tmp_path: Path) -> None:
    kept, plain = {}, seen("score", other, GOLD, "--format", "json", "--by", "depth")
    for jobs, part in ((1, 1), (2, 3), (1, 100), (7, 2)):
        how = ["--format", "json", "--by", "depth", "--jobs", str(jobs), "--part", str(part)]
        assert seen("score", other, GOLD, *how) == plain
        run = tmp_path / f"{jobs}-{part}"
        assert seen("score", other, GOLD, *how, "-o", f"{run}/") == plain
        kept[jobs, part] = [(run / name).read_bytes() for name in ("rows.jsonl", "report.json")]
        assert seen("score", str(run), "--format", "json")[::2] == plain[::2]
        assert seen("score", other, GOLD, *how, "-o", f"{run}/") == plain  # once more: nothing to do
    assert len({tuple(files) for files in kept.values()}) == 1
    rows, report = kept[2, 3]
    told = json.loads(plain[0])
    assert [json.loads(line)["id"] for line in rows.splitlines()] == [row["id"] for row in told.pop("rows")]
    assert json.loads(report) == told


def test_records_without_an_id_are_named_by_their_place_in_any_cut(tmp_path: Path) -> None:
    files = []
    for name, field, texts in (("p", "output", ["f()", "g()", "(", "h()"]), ("g", "gold", ["f()"] * 5)):
        lines = [
            json.dumps({"id": "a"} | {field: texts[0]}),
            *(json.dumps({field: one}) for one in texts[1:]),
        ]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("\n".join(lines), encoding="utf-8")
    pair = [str(file) for file in files]
    for by in ("id", "position"):
        plain = seen("score", *pair, "--pair", by, "--format", "jsonl")
        assert seen("score", *pair, "--pair", by, "--format", "jsonl", "--jobs", "2", "--part", "2") == plain
    assert [json.loads(line)["id"] for line in plain[0].splitlines()] == [
        "a", "record 2", "record 3", "record 4", "record 5"
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["diff", "score"])
@pytest.mark.parametrize("padding", [10, 3_000_000], ids=["held", "stored"])
def test_no_row_has_the_id_of_another_where_one_record_has_none(
    command: str, padding: int, tmp_path: Path
) -> None:
    """The third record has no id, and the second is called 3."""
    files = []
    for name, field in (("p", "output"), ("g", "gold")):
        lines = [{"id": id, field: f"f(a={at})"} for at, id in enumerate(["1", "3", None, "4"])]
        files.append(tmp_path / f"{name}.jsonl")
        notes = ["", *3 * ["x" * padding]]  # the head of a file is looked at whole
        text = "\n".join(json.dumps({**line, "note": note}) for line, note in zip(lines, notes, strict=True))
        files[-1].write_text(text.replace('"id": null, ', ""), encoding="utf-8")
    pair = [str(file) for file in files]
    plain = seen(command, *pair, "--format", "jsonl")
    assert seen(command, *pair, "--format", "jsonl", "--jobs", "2", "--part", "2") == plain
    run = f"{tmp_path}/run/"
    seen(command, *pair, "--jobs", "2", "--part", "3", "-o", run)
    for text in (plain[0], Path(run, "rows.jsonl").read_text(encoding="utf-8")):
        names = [json.loads(line)["id"] for line in text.splitlines()]
        assert names == ["1", "3", "record 3", "4", "prediction 3"]


def test_one_plan_in_a_file_of_its_own_is_a_run_too(tmp_path: Path) -> None:
    pair = [str(ROOT / "data" / "demo" / f"{side}.json") for side in ("pred", "gold")]
    run = f"{tmp_path}/run/"
    assert seen("score", *pair, "-o", run) == seen("score", *pair) == seen("score", run)


RULES = """
[[rule]]
argument = "{argument}"
compare = "casefold"
"""


def test_a_policy_of_ones_own_goes_to_other_processes(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(RULES.format(argument="city"), encoding="utf-8")
    how = ["--policy", str(policy), "--format", "json"]
    plain = seen("score", PRED, GOLD, *how)
    assert plain[2] == 0
    assert seen("score", PRED, GOLD, *how, "--jobs", "2", "--part", "3") == plain
    policy.write_text(RULES.format(argument="citty"), encoding="utf-8")
    plain = seen("score", PRED, GOLD, *how)
    assert plain[2] == 2
    assert "no plan gives the argument 'citty'" in plain[1]
    assert seen("score", PRED, GOLD, *how, "--jobs", "2", "--part", "3") == plain


@pytest.mark.parametrize("name", ["default", "strict", "lenient", "appbench", "nestful"])
def test_a_job_can_be_sent_and_says_what_it_is(name: str) -> None:
    policy = load_policy(name)
    job = ScoreJob(("exact",), policy, ("calls",), pe.Reading()._asdict(), UNSAID)
    again = pickle.loads(pickle.dumps(job))
    assert again == job
    assert json.loads(json.dumps(again.options())) == job.options()


@pytest.fixture(scope="module")
def runs(other: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, pred in (("pred", PRED), ("other", other)):
        assert planeval("score", pred, GOLD, "-o", f"{folder / name}/", "--by", "calls").returncode < 2
    return folder / "pred", folder / "other"


@pytest.mark.parametrize("form", FORMS)
def test_two_runs_compare_as_their_files_do(form: str, other: str, runs: tuple[Path, Path]) -> None:
    more = ["--by", "calls"] if form in ("text", "md", "json") else []
    options = [*more, "--format", form, "--fail-if-worse", "exact"]
    plain = seen("compare", PRED, other, PRED, "--gold", GOLD, *options)
    found = seen("compare", *map(str, runs), str(runs[0]), *options)
    assert found[::2] == plain[::2]
    assert plain[1].endswith(found[1])


def test_runs_of_other_gold_or_options_are_not_compared(runs: tuple[Path, Path], tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(Path(GOLD).read_text(encoding="utf-8").replace("Rome", "Paris"), encoding="utf-8")
    for name, right, how, said in (
        ("gold", str(gold), ["--by", "calls"], "their gold plans are not the same"),
        ("by", GOLD, [], "they were not scored alike, --by is calls and not given"),
        ("metrics", GOLD, ["--by", "calls", "--metric", "exact"], "they were not scored alike, --metric is "),
        ("policy", GOLD, ["--by", "calls", "--policy", "strict"], '--policy is "default" and "strict"'),
        ("strict", GOLD, ["--by", "calls", "--strict"], "--strict is not given and given"),
    ):
        run = tmp_path / name
        assert planeval("score", PRED, right, *how, "-o", f"{run}/").returncode < 2
        done = planeval("compare", str(runs[0]), str(run))
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be compared" in done.stderr
        assert said in done.stderr
    done = planeval("compare", *map(str, runs), "--by", "depth")
    assert done.returncode == 2
    assert "was not scored with --by depth" in done.stderr
    alone = planeval("compare", str(runs[0]), PRED)
    assert alone.returncode == 2
    assert f"score {PRED} into a folder of its own" in alone.stderr
    idle = planeval("compare", *map(str, runs), "--metric", "exact")
    assert idle.returncode == 2
    assert "--metric applies only to files of plans" in idle.stderr


def test_a_folder_without_a_run_is_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    for argv, said in (
        (["score", str(tmp_path)], "Missing argument 'GOLD|DATASET'"),
        (["score", PRED], "Missing argument 'GOLD|DATASET'"),
        (["score", str(runs[0]), "--metric", "exact"], "--metric applies only to files of plans"),
        (["score", str(runs[0]), "--jobs", "2"], "--jobs applies only to files of plans"),
        (["score", PRED, GOLD, "-o", f"{ROOT}/tests/"], "holds other files"),
    ):
        done = planeval(*argv)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_damaged_run_is_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    def damaged(name: str) -> Path:
        return Path(shutil.copytree(runs[0], tmp_path / name))

    rows = damaged("rows") / "rows.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8").replace('"same"', '"diff"', 1), encoding="utf-8")
    rows = damaged("more") / "rows.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")
    (damaged("undone") / "rows.jsonl").unlink()
    next((damaged("parts") / "parts").iterdir()).unlink()
    (damaged("text") / "run.json").write_text("{", encoding="utf-8")
    (damaged("list") / "run.json").write_text("[]", encoding="utf-8")
    for name, old, new in (("kind", '"score"', '"diff"'), ("schema", "planeval.run/1", "planeval.run/9")):
        known = str(damaged(name))
        write_run(known, json.loads(json.dumps(read_run(known)).replace(old, new, 1)))
    data = read_run(options := str(damaged("options")))
    assert data is not None
    data["options"]["metrics"] = ["exactt"]
    write_run(options, data)
    for name, said in (
        ("rows", "not as the run left them"), ("more", "not as the run left them"),
        ("undone", "the run is not done: the command that began it goes on with it"),
        ("parts", "not as the run left them"), ("text", "run.json cannot be read"),
        ("list", "run.json cannot be read"), ("kind", "is a run of diff, expected one of score"),
        ("schema", "is of the form 'planeval.run/9'"), ("options", "cannot be read")
    ):  # fmt: skip
        done = planeval("score", str(tmp_path / name))
        assert (name, done.returncode, done.stdout) == (name, 2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_another_command_does_not_go_on_with_a_run(runs: tuple[Path, Path]) -> None:
    for how, said in (
        ([], "--by was calls and is not given"),
        (["--by", "calls", "--strict"], "--strict was not given and is given"),
    ):
        done = planeval("score", PRED, GOLD, *how, "-o", f"{runs[0]}/")
        assert done.returncode == 2
        assert "holds another run" in done.stderr
        assert said in done.stderr


def test_the_library_scores_by_processes_and_keeps_runs(tmp_path: Path) -> None:
    plain = pe.score(Path(PRED), Path(GOLD), by=["calls"])
    told: list[tuple[int, ...]] = []
    found = pe.score(Path(PRED), Path(GOLD), by=["calls"], jobs=2, part=4, progress=lambda *n: told.append(n))
    run = tmp_path / "run"
    kept = pe.score(Path(PRED), Path(GOLD), by=["calls"], folder=run)
    again = pe.score(run)
    for one in (found, kept, again):
        assert (one.figures, one.breakdown, one.signature) == (
            plain.figures,
            plain.breakdown,
            plain.signature,
        )
        assert tuple(one.rows) == plain.rows
        assert one.rows[-1] == plain.rows[-1]
        assert len(one.rows) == len(plain.rows)
    assert told[-1] == (13, 13, 0)
    both = pe.compare({"a": run, "b": run})
    assert both.contrasts[0].n == 13
