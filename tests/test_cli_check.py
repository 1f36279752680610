"""planeval check and planeval catalog through their real entry point."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.inside import planeval

CASES = ROOT / "tests" / "cases" / "catalogs"
RATES = str(CASES / "mcp.json")
GOOD = "Rates: [rate = get_rate(#base='EUR', #quote='USD')]"
PLAN = """[
 {"name": "get_rate", "label": "$var_1", "arguments": {"base": "EUR", "quote": 7}},
 {"name": "ratio", "arguments": {"first": "$var_1.rate$", "second": "$var_1.price$"}}
]
"""


def check(text: str, *more: str) -> Any:
    return planeval("check", "-", "--catalog", RATES, *more, text=text)


def test_findings_are_shown_with_their_places() -> None:
    done = check(PLAN)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "line 2, column 80, call 1 (get_rate): error: quote: expected string, found integer 7 "
        "[check.wrong_type]",
        "line 3, column 69, call 2 (ratio): error: second: call 1 (get_rate) has no output 'price'; "
        "it returns rate, day [check.unknown_output]",
    ]
    assert done.stderr == "1 plan checked against 3 tools: 2 errors\n"
    done = check('[{"name": "notify", "arguments": {"text": "a"}}]')
    assert (done.returncode, done.stdout.strip()) == (0, "")
    assert done.stderr == "1 plan checked against 3 tools: nothing found\n"


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "md"])
def test_findings_as_data(form: str) -> None:
    done = check(PLAN, "--format", form)
    assert (done.returncode, done.stderr) == (1, "")
    if form == "json":
        first = json.loads(done.stdout)[0]
        found = [first[key] for key in ("code", "call", "tool", "argument", "line", "column")]
        assert found == ["check.wrong_type", 1, "get_rate", "quote", 2, 80]
    else:
        assert len(done.stdout.splitlines()) == {"jsonl": 2, "csv": 3, "md": 4}[form]


def test_codes_and_severities_can_be_left_out() -> None:
    assert check(PLAN, "--ignore", "check.wrong_type", "--ignore", "check.unknown_output").returncode == 0
    given = {"base": "a", "quote": "b"}
    unused = [{"name": "get_rate", "label": f"$var_{n}", "arguments": given} for n in (1, 2)]
    plan = json.dumps([*unused, {"name": "notify", "arguments": {"text": "$var_2.day$"}}])
    assert (check(plan).returncode, check(plan, "--level", "error").returncode) == (1, 0)


def test_many_records_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    rows = {"a": json.loads(PLAN), "b": '{"name": 3', "c": []}
    path.write_text("".join(json.dumps({"id": key, "output": row}) + "\n" for key, row in rows.items()))
    done = planeval("check", path, "--catalog", RATES)
    assert done.returncode == 1
    heads = [line.split(",")[0].split(":")[0] for line in done.stdout.splitlines()]
    assert heads == ["record a", "record a", "record b"]
    assert done.stderr.endswith("; 1 unreadable\n")
    assert check('{"name": 3').returncode == 3


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("check -", "--catalog"),
        (f"check nothing.json --catalog {RATES}", "nothing.json"),
        ("check - --catalog nothing.json", "nothing.json: no such file"),
        (f"check - --catalog {RATES} --catalog-format swagger", "unknown catalog format 'swagger'"),
        ("check - --catalog world:nowhere", "no world 'nowhere'; shipped: appbench, "),
        (f"catalog show {RATES} --tool get_rates", "did you mean 'get_rate'?"),
        (f"catalog convert {RATES} --to python", "'python' is not one of"),
    ],
)
def test_usage_errors(argv: str, said: str) -> None:
    done = planeval(*argv.split(), text=GOOD)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_tools_of_a_world_and_several_catalogs() -> None:
    weather = "Weather: [a = getweather(#city='Oslo', #day='2019-03-01')]"
    done = planeval("check", "-", "--catalog", "world:appbench", text=weather)
    assert "takes no argument 'day'; it takes city, date [check.unknown_argument]" in done.stdout
    both = check('[{"name": "getLoanStatus", "arguments": {"loanID": "L1"}}]', "--catalog", "world:bank")
    assert both.returncode == 0, both.stdout


def test_catalogs_are_shown_and_converted(tmp_path: Path) -> None:
    done = planeval("catalog", "show", RATES)
    assert done.stdout.splitlines()[0] == "get_rate(base: string, quote: string) -> rate, day"
    full = (
        "get_rate\n  What one currency costs in another.\n  takes:\n    base (string)\n    quote (string)\n"
    )
    full += "  returns:\n    rate (number)\n    day (date)\n"
    assert planeval("catalog", "show", RATES, "--tool", "get_rate").stdout == full
    rows = json.loads(planeval("catalog", "show", RATES, "--format", "json").stdout)
    assert rows[0]["required"] == "base, quote"
    target = str(tmp_path / "out.json")
    assert planeval("catalog", "convert", RATES, "--to", "planeval", "-o", target).returncode == 0
    assert planeval("catalog", "show", target).stdout == done.stdout
    lossy = planeval("catalog", "convert", RATES, "--to", "openai", "--loss")
    assert json.loads(lossy.stdout)[0]["type"] == "function"


def test_a_catalogs_text_cannot_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "a\x1b[31m", "description": "\x07", "parameters": {}}]))
    for argv in (("show", str(path)), ("show", str(path), "--tool", "a\x1b[31m")):
        assert "\x1b" not in planeval("catalog", *argv).stdout
