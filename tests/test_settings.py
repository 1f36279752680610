"""What a project keeps in planeval.toml, and what a policy names: found, said, refused with file and line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from planner_eval.cli.settings import Settings
from planner_eval.comparison.policy.file import line_of, lines_of
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.test_dialects_own import FORMS

TABLES = tables(__file__)

PRED = """\
{"id": "1", "key": "a", "output": "none", "answer": [{"name": "f", "arguments": {"x": "A"}}]}
{"id": "2", "key": "b", "output": "none", "answer": [{"name": "g", "arguments": {"x": "A"}}]}
"""
GOLD = """\
{"id": "2", "key": "a", "gold": "none", "plan": [{"name": "f", "arguments": {"x": "a"}}]}
{"id": "1", "key": "b", "gold": "none", "plan": [{"name": "g", "arguments": {"y": "A"}}]}
"""
FIELDS = '[fields]\nid-field = "key"\ntext-field = "answer"\ngold-text-field = "plan"\n'


def run(folder: Path, *argv: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    return planeval(*argv, cwd=folder, **({"HOME": str(home)} if home else {}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "runs" / "today"
    folder.mkdir(parents=True)
    (folder / "pred.jsonl").write_text(PRED)
    (folder / "gold.jsonl").write_text(GOLD)
    return folder


def keep(project: Path, text: str) -> None:
    (project / "../../planeval.toml").write_text(text)


def test_settings_are_found_upwards_to_the_repository_and_named(project: Path) -> None:
    keep(project, f'extends = "lenient"\n{FIELDS}')
    done = run(project, "diff", "pred.jsonl", "gold.jsonl")
    assert done.stderr.splitlines()[0] == "settings of ../../planeval.toml"
    assert 'field "answer" of 2 records; gold: field "plan" of 2 records; paired by id' in done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[:2]] == ["same", "different:"]
    keep(project, "thresholds = 1")  # the nearest file holds alone
    (project / "../pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (project / "pyproject.toml").write_text('[tool.planeval.fields]\nid-field = "key"\n')
    assert "settings of pyproject.toml" in run(project, "parse", "pred.jsonl").stderr


@pytest.mark.parametrize("fence", ["no repository", "a repository below", "home"])
def test_settings_above_are_not_taken(project: Path, fence: str) -> None:
    keep(project, FIELDS)
    home = None
    if fence != "a repository below":
        (project / "../../.git").rmdir()
    if fence == "a repository below":
        (project / ".git").write_text("gitdir: elsewhere")
    if fence == "home":
        home = project.parent
        (project.parent.parent / ".git").mkdir()
    done = run(project, "parse", "pred.jsonl", home=home)
    assert "settings" not in done.stderr
    here = run(project.parent.parent, "parse", "runs/today/pred.jsonl", home=home)
    assert "settings of planeval.toml" in here.stderr


def test_what_no_setting_can_change_reads_none(project: Path) -> None:
    keep(project, "this is no TOML")
    assert run(project, "schema", "policy").returncode == 0
    assert run(project, "diff", "--help").returncode == 0
    every = "--from json --from gold=json --field id=key --field text=answer --field gold.id=key "
    every += "--field gold.text=plan --policy default --wrappers own.toml"
    (project / "own.toml").write_text(FORMS["between tokens"])
    done = run(project, "diff", "pred.jsonl", "gold.jsonl", *every.split())
    assert done.returncode == 1, done.stderr


def test_the_file_may_be_named_or_refused(project: Path, tmp_path: Path) -> None:
    keep(project, "this is no TOML")
    (tmp_path / "mine.toml").write_text(f'order = "free"\n{FIELDS}')
    done = run(project, "--config", "../../mine.toml", "diff", "pred.jsonl", "gold.jsonl")
    assert "settings of ../../mine.toml" in done.stderr
    assert 'gold: field "plan"' in done.stderr
    done = run(project, "--config", "none", "diff", "pred.jsonl", "gold.jsonl")
    assert ("settings" in done.stderr, 'gold: field "gold"' in done.stderr) == (False, True)
    done = run(project, "--config", "absent.toml", "diff", "pred.jsonl", "gold.jsonl")
    said = "planeval: --config absent.toml: there is no such file; --config none takes no settings\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_dialects_and_wrappers_lie_beside_the_file_and_a_benchmark_takes_none(project: Path) -> None:
    (project / "../../mine.toml").write_text(FORMS["between tokens"])
    keep(project, '[dialects]\nfrom = "own"\nwrappers = "mine.toml"\n')
    (project / "one.txt").write_text('<go>[{"fn": "f", "kw": {"a": 1}}]</go>')
    done = run(project, "parse", "one.txt")
    assert done.stdout.startswith("own: as requested"), done.stderr
    data = str(ROOT / "data/samples/nestful")
    keep(project, '[thresholds]\nexact = 1\n[dialects]\nfrom = "nestful"\n')
    done = run(project, "score", "pred.jsonl", data, "--benchmark", "nestful")
    assert ("settings" in done.stderr, "exact" in done.stderr) == (False, False)


def test_options_win(project: Path) -> None:
    keep(project, f'order = "free"\n{FIELDS}[dialects]\nfrom = "nestful"\n')
    done = run(project, "diff", "pred.jsonl", "gold.jsonl", "--from", "json", "--field", "id=id")
    assert done.stdout.splitlines()[-1] == "2 pairs: 2 different"
    assert "paired by id" in done.stderr
    done = run(project, "diff", "pred.jsonl", "gold.jsonl", "--from", "json", "--policy", "lenient")
    assert done.stdout.splitlines()[-1] == "2 pairs: 1 same, 1 different"


def test_metrics_and_thresholds(project: Path) -> None:
    keep(project, f'metrics = ["exact", "calls"]\n{FIELDS}[thresholds]\nexact = 0.1\ncalls.recall = 1\n')
    done = run(project, "score", "pred.jsonl", "gold.jsonl")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["exact", "calls"]
    assert done.stderr.splitlines()[-1] == "exact is 0.0000, expected at least 0.1"
    assert done.returncode == 1
    done = run(project, "score", "pred.jsonl", "gold.jsonl", "--fail-under", "exact=0", "--metric", "exact")
    assert (done.returncode, "\ncalls" not in done.stdout) == (0, True)
    done = run(project, "compare", "pred.jsonl", "pred.jsonl", "--gold", "gold.jsonl")
    assert done.returncode == 0, done.stderr
    assert "references" not in done.stdout


@tabled("text, said")
def test_wrong_settings_are_told_by_file_and_line(project: Path, text: str, said: str) -> None:
    keep(project, text)
    done = run(project, "score", "pred.jsonl", "gold.jsonl")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    keep(project, "")
    (project / "mine.toml").write_text("[thresholds]\nexact = 1\n")  # a policy's file holds no settings
    done = run(project, "diff", "pred.jsonl", "gold.jsonl", "--policy", "mine.toml")
    assert (done.returncode, "mine.toml, line 1: there is no key 'thresholds'" in done.stderr) == (2, True)


def test_the_line_of_a_place() -> None:
    text = 'a = 1\n# b = 1\n[ t ]\n"b" = 1\n[[rule]]\nx = 1\n[[rule]]\nx = 1\n[q]'
    lines = {("a",): 1, ("t", "b"): 4, ("t", "c"): 3, ("rule", 1, "x"): 8, ("rule", 1, "y"): 7, ("q", "r"): 9}
    for place, line in {**lines, ("no",): None}.items():
        assert line_of(lines_of(text), place) == line, place


PUT = {"name": "put", "label": "$v2", "arguments": {"x": "$v1$"}}
SUMS = [{"name": "sum", "label": "$v1", "arguments": {"a": 1}}, PUT]


def tool(name: str, argument: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {argument: {"type": "number"}}}
    return {"name": name, "parameters": parameters}


TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}}
TOOLS = [{**tool("sum", "a"), "outputSchema": TOTAL}, tool("put", "x"), tool("take", "y")]


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    (tmp_path / "g.json").write_text(json.dumps(SUMS))
    (tmp_path / "p.json").write_text(json.dumps(SUMS).replace("$v1$", "$v1.result$"))
    (tmp_path / "t.json").write_text(json.dumps(SUMS).replace("$v1$", "$v1.total$"))
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path


@pytest.mark.parametrize("argv", [
    ("diff", "p.json", "g.json"), ("score", "p.json", "g.json"),
    ("compare", "p.json", "t.json", "--gold", "g.json"),
])  # fmt: skip
def test_a_rule_for_what_nothing_has_is_an_error(sums: Path, argv: tuple[str, ...]) -> None:
    for rule, said in TABLES["a_rule_for_what_nothing_has_is_an_error"]:
        head = "" if rule.startswith("catalog") else "[[rule]]\n"
        (sums / "own.toml").write_text(f'{head}{rule}\ncompare = "date"\n')
        done = run(sums, *argv, "--policy", "own.toml")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    take = 'tool = "take"'
    rules = (take, f'{take}\nargument = "y"', 'tool = "gi*"\nargument = "z"', 'argument = "*b"')
    text = "".join(f"[[rule]]\n{rule}\ncompare = 'date'\n" for rule in rules)
    (sums / "own.toml").write_text('catalog = "tools.json"\n' + text)
    done = run(sums, *argv, "--policy", "own.toml")
    assert (done.returncode < 2, "no plan" in done.stderr) == (True, False), done.stderr
    (sums / "planeval.toml").write_text('[[rule]]\ntool = "take"\ncompare = "date"\n')
    done = run(sums, *argv)  # in a project's settings it is a remark
    assert done.returncode < 2
    assert done.stderr.count("planeval.toml, line 1, rule 1: no plan calls the tool 'take'") == 1


def test_the_only_output_of_a_tool_equals_its_whole_result(project: Path, sums: Path) -> None:
    (sums / "own.toml").write_text('catalog = "tools.json"\n')
    for pred, gold in (("p", "g"), ("g", "p"), ("t", "g"), ("p", "t")):
        files = (f"{pred}.json", f"{gold}.json")
        assert run(sums, "diff", *files, "--policy", "own.toml").stdout == "same\n"
        scored = run(sums, "score", *files, "--policy", "own.toml", "--fail-under", "exact=1")
        assert (scored.returncode, "| policy=own |" in scored.stdout) == (0, True)
        done = run(sums, "diff", *files)
        assert done.returncode == 1
        assert 'with catalog = "tools.json" in the policy they mean its only output' in done.stderr
        assert run(sums, "check", files[0], "--catalog", "tools.json").returncode == 0
    two = json.dumps(TOOLS).replace('"total": {', '"rest": {"type": "number"}, "total": {')
    (sums / "tools.json").write_text(two)
    done = run(sums, "diff", "p.json", "g.json", "--policy", "own.toml")
    assert (done.returncode, "catalog" in done.stderr) == (1, False)
    assert "sum(a?: number) -> rest, total\n" in run(sums, "catalog", "tools.json").stdout
    done = run(sums, "check", "p.json", "--catalog", "tools.json")
    assert "call 1 (sum) has no output 'result' (that name is only for tools" in done.stdout
    (project / "own.toml").write_text('[[rule]]\ntool = "g"\nargument = "y"\ncompare = "date"\n')
    argv = ("diff", "pred.jsonl", "gold.jsonl", "--field", "text=answer", "--field", "gold.text=plan")
    done = run(project, *argv, "--field", "id=key", "--id", "a", "--policy", "own.toml")
    assert done.returncode == 1, done.stderr  # of one pair of two files the tools of all are known


def test_clicks_mark_for_nothing_is_no_setting(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    nothing = object()  # click 8.3 asks so, and takes it back for "left out"
    with click.Context(click.Command("score")):
        assert Settings(None).get("policy", nothing) is nothing
