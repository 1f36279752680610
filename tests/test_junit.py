"""JUnit: thresholds are test cases, pairs have a place and say what differs, and any text is valid XML."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import planner_eval as pe
from planner_eval.scoring.junit import Case, junit
from planner_eval.scoring.report_formats import write_report
from tests.conftest import ROOT
from tests.inside import planeval

DEMO = (str(ROOT / "data" / "demo" / "pred.jsonl"), str(ROOT / "data" / "demo" / "gold.jsonl"))
SAMPLES = ROOT / "data" / "samples"
BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")
HOSTILE = "a\x00\x1b[31m<b>&\"'\ufffe\ud800\u202e]]>\n\tz"

# What the schemas of Jenkins and of others that read JUnit allow: attributes (those needed first), children.
ALLOWED = {
    "testsuites": ((), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (("name", "tests", "failures", "errors"), {"skipped", "time", "file"}, {"testcase"}),
    "testcase": (("name",), {"classname", "time", "file", "line"}, {
        "failure", "error", "skipped", "system-out"
    }),
    "failure": ((), {"type", "message"}, set()), "error": ((), {"type", "message"}, set()),
    "skipped": ((), {"type", "message"}, set()), "system-out": ((), set(), set())
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
    assert cases["exact=0.1"].text is None
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
    every = [Case(*[HOSTILE, one], *[HOSTILE] * 4, 3, HOSTILE) for one in ("failure", "passed")]
    first, second = checked(junit([*every, Case("", "error")])[0:])[:2]
    shown = first[0].get("message", "")
    assert all(part in shown for part in ("\\x00", "\\ud800", "\\ufffe", "\\u202e", "<b>&\"'"))
    assert shown == first.get("name")
    assert "\n\tz" in (second[0].text or "")
    junit(every).encode("utf-8")
    cases = checked("".join(write_report(pe.score(["f()"], ["g()"]), "junit")))
    assert [(case.get("name"), case.get("file")) for case in cases] == [("1", None)]


@pytest.mark.parametrize(("name", "figure", "value"), [
    ("appbench", "analysis.percent_key_value_mismatch", 0.25),
    ("complexfuncbench", "error share func_error", None), ("functionchat", "singlecall undecided", 0.0),
    ("nestful", "num_pred_examples_w_parsing_errors", 0.0)
])  # fmt: skip
def test_a_threshold_of_errors_is_the_most_allowed(name: str, figure: str, value: float | None) -> None:
    argv = ("score", str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)
    if value is None:
        reports = json.loads(planeval(*argv, "--format", "json").stdout)["reports"]
        value = next(one["value"] for one in reports["corrected"]["figures"] if one["name"] == figure)
    assert planeval(*argv, "--fail-under", f"{figure}={value + 0.1}").returncode == 0
    strict = planeval(*argv, "--fail-under", f"{figure}={value - 0.1}")
    assert strict.returncode == 1
    assert f"expected at most {value - 0.1:g}" in strict.stderr
