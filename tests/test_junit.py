"""What CI is given: JUnit, GitHub's annotations and summary, SARIF, the action, pre-commit's hook."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

import planner_eval as pe
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files.record import Record
from planner_eval.results.findings import (
    MAX_ANNOTATIONS,
    MAX_SUMMARY_BYTES,
    Finding,
    GoldFinding,
    finding_of_check,
    finding_of_gold,
    github_annotations,
    group_findings,
    path_from_root,
    sarif,
    summary,
)
from planner_eval.results.views.junit import Case, write_cases
from planner_eval.results.views.report import report_view
from tests import inside
from tests.conftest import ROOT, tabled, text_case

DEMO = (str(ROOT / "data" / "demo" / "pred.jsonl"), str(ROOT / "data" / "demo" / "gold.jsonl"))
SAMPLES = ROOT / "data" / "samples"
BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")
HOSTILE = "a\x00\x1b[31m<b>&\"'\ufffe\ud800\u202e]]>\n\tz"

OUT = "system-out"
# What the schemas of Jenkins and of others that read JUnit allow: attributes (those needed first), children.
ALLOWED = {
    "testsuites": ((), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (("name", "tests", "failures", "errors"), {"skipped", "time", "file"}, {"testcase"}),
    "testcase": (("name",), {"classname", "time", "file", "line"}, {"failure", "error", "skipped", OUT}),
    "failure": ((), {"type", "message"}, set()), "error": ((), {"type", "message"}, set()),
    "skipped": ((), {"type", "message"}, set()), OUT: ((), set(), set())
}  # fmt: skip


def checked(text: str) -> list[ElementTree.Element]:
    """The test cases of a report that is valid, and whose counts are those of its cases."""
    top = ElementTree.fromstring(text)
    for element in top.iter():
        needed, allowed, children = ALLOWED[element.tag]
        assert {*needed} <= {*element.attrib} <= {*needed, *allowed}, ElementTree.tostring(element)
        assert {child.tag for child in element} <= children
        assert element.tag != "testcase" or len(element) <= 1
    cases = list(top.iter("testcase"))
    kinds = Counter(child.tag for case in cases for child in case)
    assert top.get("tests") == top[0].get("tests") == str(len(cases))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert top[0].get(name) == str(kinds[kind])
    return cases


def kind(case: ElementTree.Element) -> str:
    return case[0].tag if len(case) and case[0].tag != "system-out" else "passed"


def test_pairs_that_differ_fail_and_say_what_differs_and_where() -> None:
    for command in ("score", "diff"):
        first, again = (planeval(command, *DEMO, "--format", "junit").stdout for _ in range(2))
        assert first == again
        cases = {case.get("name"): case for case in checked(first)}
        assert Counter(map(kind, cases.values())) == {"passed": 2, "failure": 10, "error": 1}
        case = cases["trip-missing"]
        assert (case.get("file"), case.get("line")) == (DEMO[0], "2")
        assert case.get("classname") == f"planeval.{command}"
        assert case.get("time") is None
        assert case[0].get("type") == "call.missing"
        assert "gold's Hotels.searchhotel (gold's call 2)" in case[0].get("message", "")


def test_a_threshold_is_a_test_case_and_decides() -> None:
    argv = ("score", *DEMO, "--format", "junit", "--fail-under", "calls=0.5", "--fail-under")
    met = planeval(*argv, "exact=0.1")
    assert met.returncode == 0
    cases = {case.get("name"): case for case in checked(met.stdout)}
    assert Counter(map(kind, cases.values())) == {"passed": 4, "skipped": 11}
    assert cases["exact=0.1"][0].text == "exact is 0.1538, expected at least 0.1"
    assert "call.missing" in cases["trip-missing"][0].get("message", "")
    low = planeval(*argv, "exact=0.9")
    assert low.returncode == 1
    (failed,) = [case for case in checked(low.stdout) if kind(case) == "failure"]
    assert (failed.get("name"), failed.get("classname")) == ("exact=0.9", "planeval.thresholds")
    assert failed[0].get("message") == "exact is 0.1538, expected at least 0.9"


def written(folder: Path, pred: list[Any], gold: list[Any]) -> list[str]:
    files = []
    for name, records in (("p", pred), ("g", gold)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
        files.append(str(folder / f"{name}.jsonl"))
    return files


def test_a_figure_just_below_is_not_shown_as_the_threshold(tmp_path: Path) -> None:
    gold = [{"id": str(n), "gold": "f()"} for n in range(3)]
    pred = [{"id": str(n), "prediction": "f()" if n < 2 else "g()"} for n in range(3)]
    done = planeval("score", *written(tmp_path, pred, gold), "--fail-under", "exact=0.6667")
    assert done.returncode == 1
    assert "exact is 0.6666666666666666, expected at least 0.6667" in done.stderr


def test_records_that_fail_the_command_fail_the_report(tmp_path: Path) -> None:
    """What is left over or given twice is the exit code 1, threshold or not; so it is no green run."""
    pred = [{"id": id, "prediction": f"{name}()"} for id, name in (("a", "f"), ("a", "g"), ("z", "f"))]
    files = written(tmp_path, pred, [{"id": "a", "gold": "f()"}])
    done = planeval("score", *files, "--fail-under", "exact=0.5", "--format", "junit")
    assert done.returncode == 1
    found = [(case.get("name"), kind(case), case.get("line")) for case in checked(done.stdout)]
    assert found[1:] == [("a", "passed", "1"), ("z", "error", "3"), ("a", "error", "2")]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_likewise(name: str) -> None:
    file = str(SAMPLES / "answers" / f"{name}.jsonl")
    argv = ("score", file, str(SAMPLES / name), "--benchmark", name, "--format", "junit")
    plain = checked(planeval(*argv).stdout)
    failed = [case for case in plain if kind(case) == "failure"]
    assert failed
    assert all(case[0].get("message") not in ("", "wrong", None) for case in failed)
    assert {case.get("file") for case in plain} == {file}
    assert {case.get("classname") for case in plain} == {f"planeval.{name}.corrected"}
    rows: dict[str, Any] = json.loads(planeval(*argv[:-1], "json").stdout)["reports"]
    figure = next(f["name"] for f in rows["corrected"]["figures"] if isinstance(f["value"], float))
    limited = planeval(*argv, "--fail-under", f"{figure}=0")
    assert limited.returncode == 0, limited.stderr
    cases = checked(limited.stdout)
    assert {kind(case) for case in cases} == {"passed", "skipped"}
    assert len(cases) == len(plain) + 1
    high = checked(planeval(*argv, "--fail-under", f"{figure}=1.01").stdout)
    assert [case.get("name") for case in high if kind(case) == "failure"] == [f"{figure}=1.01"]


def test_any_text_is_valid_xml() -> None:
    odd = HOSTILE
    every = [Case(odd, one, odd, odd, odd, odd, 3, odd) for one in ("failure", "passed")]
    first, second = checked("".join(write_cases(lambda: ([*every, Case("", "error")], None))))[:2]
    shown = first[0].get("message", "")
    assert all(part in shown for part in ("\\x00", "\\ud800", "\\ufffe", "\\u202e", "<b>&\"'"))
    assert shown == first.get("name")
    assert "\n\tz" in (second[0].text or "")
    "".join(write_cases(lambda: (every, None))).encode("utf-8")
    cases = checked(report_view(pe.score(["f()"], ["g()"])).text("junit"))
    assert [(case.get("name"), case.get("file")) for case in cases] == [("1", None)]


@tabled("name, figure, value")
def test_a_threshold_of_errors_is_the_most_allowed(name: str, figure: str, value: float | None) -> None:
    argv = ("score", str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)
    if value is None:
        reports = json.loads(planeval(*argv, "--format", "json").stdout)["reports"]
        value = next(one["value"] for one in reports["corrected"]["figures"] if one["name"] == figure)
    assert planeval(*argv, "--fail-under", f"{figure}={value + 0.1}").returncode == 0
    strict = planeval(*argv, "--fail-under", f"{figure}={value - 0.1}")
    assert strict.returncode == 1
    assert f"expected at most {value - 0.1:g}" in strict.stderr


PLANS = ROOT / "data" / "demo"
RATES = ROOT / "data" / "catalogs" / "rates.json"
COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:\n]*,?)+)::[^\n]*")


def planeval(*argv: object, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith("GITHUB_")]:
            del os.environ[name]
        return inside.planeval(*argv, cwd=folder, **environment)


def jsonl(file: Path, *records: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return file


@pytest.fixture
def pairs(tmp_path: Path) -> tuple[Path, Path]:
    """Four pairs: the same value is wrong twice, one call is missing, one is right."""
    preds = ["f(x=2)", "f(x=2)", "f(x=1)", "f(x=1)"]
    golds = ["f(x=1)", "f(x=1)", "f(x=1)\ng()", "f(x=1)"]
    return (
        jsonl(tmp_path / "pred.jsonl", *({"id": f"q{at}", "output": text} for at, text in enumerate(preds))),
        jsonl(tmp_path / "gold.jsonl", *({"id": f"q{at}", "gold": text} for at, text in enumerate(golds))),
    )


def test_annotations_are_root_causes_the_commonest_first(pairs: tuple[Path, Path], tmp_path: Path) -> None:
    done = planeval("diff", "pred.jsonl", "gold.jsonl", "--format", "github", folder=tmp_path)
    first, second, said = done.stdout.splitlines()
    assert done.returncode == 1
    title = "::error file=pred.jsonl,line=1,title=argument.value in f(x) ×2::"
    assert first == f"{title}q0: f (call 1): argument 'x' is 2, expected 1; also in q1"
    assert second.startswith("::error file=pred.jsonl,line=3,title=call.missing in g::q2: ")
    assert said == "4 pairs: 1 same, 3 different"
    (tmp_path / "below").mkdir()
    argv = ("diff", "../pred.jsonl", "../gold.jsonl", "--format", "github")
    done = planeval(*argv, folder=tmp_path / "below", GITHUB_WORKSPACE=str(tmp_path))
    assert done.stdout.startswith("::error file=pred.jsonl,"), "files are named from the repository"
    assert path_from_root("/else/where.json", "/repository") == "/else/where.json"
    done = planeval("diff", pairs[0], pairs[1], "--id", "q3", "--format", "github")
    assert (done.returncode, done.stdout) == (0, "1 pair: 1 same\n")


def test_one_plan_has_line_and_column() -> None:
    done = planeval("diff", "data/demo/pred.json", "data/demo/gold.json", "--format", "github")
    assert done.stdout.startswith("::error file=data/demo/pred.json,line=15,col=13,title=argument.value in ")
    text = "f(x=1)\ng(y=2, z=3)"
    record, plan = Record("gold.txt", 0, "a", text), locate(pe.parse(text))
    row = {"tool": "g", "argument": "z", "severity": "info", "record": "a", "code": "c", "message": "m",
           "line": 2, "column": 8}  # fmt: skip
    for many, expected in ((False, [(2, 8), (2, 1), (2, 10)]), (True, [(None, None)] * 3)):
        doubts = [GoldFinding("c", "m", "high", 1, name) for name in (None, "z")]
        found = [finding_of_check(row, record, many=many)]
        found += [finding_of_gold(doubt, record, plan, "a", many=many) for doubt in doubts]
        assert [(one.line, one.column) for one in found] == expected


def test_the_worst_level_stands_first() -> None:
    levels = enumerate(["note", "warning", "warning", "error"])
    found = [Finding("a", "", "", level, record=str(at)) for at, level in levels]
    assert [group.first.level for group in group_findings(found)] == ["error", "warning", "note"]


def test_what_ci_is_shown_has_bounds() -> None:
    """Six records of a mistake, ten mistakes, 100 characters of a title, 500 of a message or a name."""
    same = [Finding("call.missing", "f", "is missing", record=f"q{n}") for n in range(7)]
    kinds = [Finding("call.missing", f"f{n}", "is missing") for n in range(11)]
    long = [Finding(code * (100 + n), "", "m" * (500 + n)) for n, code in enumerate("ab")]
    texts = [
        "".join(github_annotations(found, "head")) for found in (same[:6], same, kinds[:10], kinds, long)
    ]
    cases = [Case(name * (500 + n), "passed") for n, name in enumerate("cd")]
    texts += ["\n".join(summary(long, "head", "Title")), "".join(write_cases(lambda: (cases, None)))]
    assert "\n----\n".join(texts) + "\n" == text_case("test_junit-BOUNDS.txt")


@pytest.mark.parametrize(
    "evil",
    ["a\n::set-output name=x::y", "100%0A::error::", "\x1b[31m", "a,b:c=d", "\r\n", "::", "\u202e", "\ud800"],
)
def test_no_text_becomes_a_command_of_its_own(evil: str) -> None:
    found = [Finding(evil, evil, evil, record=evil, file=evil, line=1)] * 2
    lines = "".join(github_annotations([*found, found[0]._replace(record="b")], "said")).split("\n")
    assert len(lines) == 2
    match = COMMAND.fullmatch(lines[0])
    assert match
    assert [part.partition("=")[0] for part in match[2].split(",")] == ["file", "line", "title"]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", lines[0])
    said = re.sub("%(25|0D|0A|3A|2C)", "", lines[0])
    assert "%" not in said


def test_the_summary_is_appended_in_full(pairs: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    planeval("diff", *pairs, "--format", "github", GITHUB_STEP_SUMMARY=str(file))
    text = file.read_text()
    assert text.startswith("before\n## planeval diff\n\n4 pairs: 1 same, 3 different\n")
    assert "| argument.value in f(x) | 2 | 2 | q0: f (call 1): argument 'x' is 2, expected 1 |" in text
    assert text.count("| error | argument.value |") == 2
    planeval("diff", *pairs, "--format", "json", GITHUB_STEP_SUMMARY=str(file))
    assert file.read_text() == text


@pytest.mark.more
def test_the_summary_never_grows_beyond_what_github_takes(tmp_path: Path) -> None:
    many = 8_000
    preds = jsonl(tmp_path / "p.jsonl", *({"id": str(at), "output": f"f{at}(x={at})"} for at in range(many)))
    golds = jsonl(tmp_path / "g.jsonl", *({"id": str(at), "gold": "f()"} for at in range(many)))
    file = tmp_path / "summary.md"
    file.write_bytes(b"#" * (MAX_SUMMARY_BYTES // 2) + b"\n")
    done = planeval("diff", preds, golds, "--format", "github", GITHUB_STEP_SUMMARY=str(file))
    assert done.returncode == 1
    assert MAX_SUMMARY_BYTES * 0.9 < file.stat().st_size <= MAX_SUMMARY_BYTES
    assert re.search(r"… [\d,]+ lines are left out: ", file.read_text().splitlines()[-1])
    assert len(done.stdout.splitlines()) == MAX_ANNOTATIONS + 2


def test_score_tells_thresholds_as_errors(pairs: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    argv = ("score", *pairs, "--format", "github")
    done = planeval(*argv, "--fail-under", "exact=0.9", GITHUB_STEP_SUMMARY=str(file))
    first, said = done.stdout.splitlines()
    assert done.returncode == 1
    assert first.endswith(",title=threshold::exact=0.9: exact is 0.2500, expected at least 0.9")
    assert said == "4 pairs: 1 same, 3 different"
    assert "| exact | 0.25 |" in file.read_text()
    done = planeval(*argv)
    assert done.returncode == 0
    assert {line[:10] for line in done.stdout.splitlines()[:-1]} == {"::warning "}


def test_a_benchmark_tells_what_is_not_solved() -> None:
    samples = "data/samples"
    argv = (f"{samples}/answers/nestful.jsonl", f"{samples}/nestful", "--benchmark", "nestful")
    done = planeval("score", *argv, "--format", "github")
    assert done.stdout.startswith("::warning file=data/samples/answers/nestful.jsonl,title=wrong ×2::rows: ")


NATURAL = {"type": "integer", "minimum": 1}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def listed(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = closed(["text"], text={"type": "string"})
WORD, URI = {"type": "string"}, {"type": "string", "format": "uri-reference"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REGION = closed([], startLine=NATURAL, startColumn=NATURAL)
PLACE = closed([], artifactLocation=closed([], uri=URI), region=REGION)
RESULT = closed(
    ["message"], ruleId={"type": "string"}, ruleIndex={"type": "integer", "minimum": -1}, level=LEVEL,
    message=TEXT, partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    locations=listed(closed([], physicalLocation=PLACE)), properties={"type": "object"}
)  # fmt: skip
RULE = closed(["id"], id={"type": "string"}, shortDescription=TEXT)
DRIVER = closed(["name"], name={"type": "string"}, version={"type": "string"}, rules=listed(RULE))
NOTIFICATION = closed(["message"], level=LEVEL, message=TEXT)
RUN = closed(
    ["tool"], tool=closed(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=listed(closed(
        ["executionSuccessful"], executionSuccessful={"type": "boolean"},
        toolExecutionNotifications=listed(NOTIFICATION)
    )),
    results=listed(RESULT)
)  # fmt: skip
LOG = closed(["version", "runs"], **{"$schema": WORD}, version={"const": "2.1.0"}, runs=listed(RUN))
"""What the standard's schema says of the parts that we write, of which none other may stand there."""


def sarif_of(text: str) -> dict[str, Any]:
    log = json.loads(text)
    jsonschema.validate(log, LOG)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    found: dict[str, Any] = run
    return found


def test_sarif_of_diff_and_check(pairs: tuple[Path, Path], tmp_path: Path) -> None:
    done = planeval("diff", "pred.jsonl", "gold.jsonl", "--format", "sarif", folder=tmp_path)
    assert done.returncode == 1
    results = sarif_of(done.stdout)["results"]
    assert [one["ruleId"] for one in results] == ["argument.value", "argument.value", "call.missing"]
    place = results[1]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "pred.jsonl"}, "region": {"startLine": 2}}
    assert len({one["partialFingerprints"]["planeval/v1"] for one in results}) == 3
    text, place = (PLANS / "pred.json").read_text(), tmp_path / "c.sarif"
    done = planeval("check", PLANS / "pred.json", PLANS / "gold.json", "--catalog", RATES, "-o", place)
    assert done.returncode == 1
    assert {one["level"] for one in sarif_of(place.read_text())["results"]} == {"error", "warning"}
    assert planeval("diff", PLANS / "gold.json", PLANS / "gold.json", "--format", "sarif").returncode == 0
    done = inside.planeval("check", "-", "--catalog", RATES, "--format", "sarif", text=text, cwd=ROOT)
    assert all("locations" not in one for one in sarif_of(done.stdout)["results"])
    found = [Finding("a", "", "m", file=name, line=1) for name in ("a b/ü%.json", "/else/x.json")]
    places = [one["locations"][0]["physicalLocation"] for one in sarif_of("".join(sarif(found)))["results"]]
    uris = [place["artifactLocation"]["uri"] for place in places]
    assert uris == ["a%20b/%C3%BC%25.json", "file:///else/x.json"]


def test_fingerprints_of_records_without_ids_stay_when_lines_are_inserted(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "f", "parameters": {}}]))
    good, wrong, cut = {"plan": "f()"}, {"plan": "g()"}, '{"plan": "f('
    lines = [json.dumps(good), json.dumps(wrong), cut, json.dumps(wrong)]
    marks = []
    for inserted in ([], [json.dumps(good)], [json.dumps(wrong)], ["no JSON"]):
        (tmp_path / "p.jsonl").write_text("\n".join([*inserted, *lines]) + "\n")
        argv = ("check", "p.jsonl", "--catalog", "tools.json", "--format", "sarif")
        results = sarif_of(planeval(*argv, folder=tmp_path).stdout)["results"]
        marks.append({one["partialFingerprints"]["planeval/v1"] for one in results})
        assert len(marks[-1]) == len(results)
    assert len(marks[0]) == 3
    assert marks[1] == marks[0]
    assert [len(mark - marks[0]) for mark in marks[2:]] == [1, 1]
    assert marks[0] <= marks[2]
    assert marks[0] <= marks[3]


def step(name: str) -> dict[str, Any]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    found: dict[str, Any] = next(one for one in action["runs"]["steps"] if one["name"] == name)
    return found


def run_step(name: str, folder: Path, path: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as GitHub does, with what its expressions stand for."""
    found = step(name)
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    values = {key: one.get("default", "") for key, one in declared.items()} | inputs
    assert values.keys() == declared.keys()

    def valued(match: re.Match[str]) -> str:
        names = match[1].split(" || ")
        known = {f"inputs.{key}": value for key, value in values.items()} | {"github.action_path": str(ROOT)}
        return next((known[one] for one in names if known[one]), "")

    given = {k: re.sub(r"\$\{\{ (.*?) \}\}", valued, v) for k, v in found["env"].items()}
    assert "${{" not in found["run"]
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]]
    env = {"GITHUB_WORKSPACE": str(folder), "GITHUB_STEP_SUMMARY": f"{folder}/summary.md", "PATH": path}
    return subprocess.run(shell, cwd=folder, env=os.environ | given | env, capture_output=True, text=True)


HERE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.more
@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
def test_the_action_runs_its_command(pairs: tuple[Path, Path], tmp_path: Path) -> None:
    def run(**inputs: str) -> Any:
        return run_step("Run planeval", tmp_path, HERE, **inputs)

    words = "pred.jsonl \n\ngold.jsonl\r\n--policy\t\nlenient\n  \n"
    done = run(arguments=words, sarif="out.sarif")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=pred.jsonl,line=1,")
    assert len(sarif_of((tmp_path / "out.sarif").read_text())["results"]) == 3
    assert (tmp_path / "summary.md").read_text().startswith("## planeval diff\n")
    assert run(arguments="gold.jsonl\n--catalog\nno.json", command="check").returncode == 2
    assert run(arguments="pred.jsonl\n$(touch evil)\n; touch evil").returncode == 2
    assert not (tmp_path / "evil").exists()
    done = run(arguments="gold.jsonl\ngold.jsonl\n--field\ntext=gold\n--field\ngold.text=gold")
    assert done.returncode == 0, done.stderr
    done = run(arguments="no.jsonl", command="score", sarif="out.sarif")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith("::error title=sarif::planeval score writes no SARIF: check and diff do")


def test_the_hook_of_pre_commit_checks_the_files_that_it_is_given() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["language"]) == ("planeval-check", "python")
    program, *words = hook["entry"].split()
    assert program == "planeval"
    files = ["data/demo/gold.json", "data/demo/pred.json"]
    assert planeval(*words, "--catalog", RATES, *files).returncode == 1
    assert planeval(*words, "--catalog", RATES, files[0]).returncode == 0
