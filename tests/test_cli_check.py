"""planeval check and planeval catalog through their real entry point."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_findings_are_shown_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(PLAN)
    done = planeval("check", str(path), "--catalog", RATES)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "line 2, column 80, call 1 (get_rate): error: quote: expected string, found integer 7 "
        "[check.wrong_type]",
        "line 3, column 69, call 2 (ratio): error: second: call 1 (get_rate) has no output 'price'; "
        "it returns rate, day [check.unknown_output]",
    ]
    assert done.stderr == "1 plan checked against 3 tools: 2 errors\n"


def test_a_good_plan_has_no_findings() -> None:
    done = planeval("check", "-", "--catalog", RATES, text='[{"name": "notify", "arguments": {"text": "a"}}]')
    assert (done.returncode, done.stdout.strip()) == (0, "")
    assert done.stderr == "1 plan checked against 3 tools: nothing found\n"


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "md"])
def test_findings_as_data(form: str) -> None:
    done = planeval("check", "-", "--catalog", RATES, "--format", form, text=PLAN)
    assert done.returncode == 1
    assert done.stderr == ""
    if form == "json":
        first = json.loads(done.stdout)[0]
        assert first["code"] == "check.wrong_type"
        assert (first["call"], first["tool"], first["argument"]) == (1, "get_rate", "quote")
        assert (first["line"], first["column"]) == (2, 80)
    else:
        assert len(done.stdout.splitlines()) == {"jsonl": 2, "csv": 3, "md": 4}[form]


def test_codes_and_severities_can_be_left_out() -> None:
    done = planeval(
        "check",
        "-",
        "--catalog",
        RATES,
        "--ignore",
        "check.wrong_type",
        "--ignore",
        "check.unknown_output",
        text=PLAN,
    )
    assert done.returncode == 0
    unused = '[{"name": "get_rate", "label": "$var_1", "arguments": {"base": "a", "quote": "b"}}, '
    unused += '{"name": "get_rate", "label": "$var_2", "arguments": {"base": "a", "quote": "b"}}, '
    unused += '{"name": "notify", "arguments": {"text": "$var_2.day$"}}]'
    assert planeval("check", "-", "--catalog", RATES, text=unused).returncode == 1
    assert planeval("check", "-", "--catalog", RATES, "--level", "error", text=unused).returncode == 0


def test_many_records_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    rows = [
        {"id": "a", "output": json.loads(PLAN)},
        {"id": "b", "output": '{"name": 3'},
        {"id": "c", "output": []},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = planeval("check", str(path), "--catalog", RATES)
    assert done.returncode == 1
    assert [line.split(",")[0].split(":")[0] for line in done.stdout.splitlines()] == [
        "record a",
        "record a",
        "record b",
    ]
    assert done.stderr.endswith("; 1 unreadable\n")
    assert planeval("check", "-", "--catalog", RATES, text='{"name": 3').returncode == 3


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("check", "-"), "--catalog"),
        (("check", "nothing.json", "--catalog", RATES), "nothing.json"),
        (("check", "-", "--catalog", "nothing.json"), "nothing.json: no such file"),
        (("check", "-", "--catalog", str(CASES)), "is a directory"),
        (
            ("check", "-", "--catalog", RATES, "--catalog-format", "swagger"),
            "unknown catalog format 'swagger'",
        ),
        (("check", "-", "--catalog", "world:nowhere"), "no world 'nowhere'; shipped: appbench, "),
        (("catalog", "show", RATES, "--tool", "get_rates"), "did you mean 'get_rate'?"),
        (("catalog", "convert", RATES), "--to"),
        (("catalog", "convert", RATES, "--to", "python"), "'python' is not one of"),
    ],
)
def test_usage_errors(argv: tuple[str, ...], said: str) -> None:
    done = planeval(*argv, text=GOOD)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_tools_of_a_world_and_several_catalogs() -> None:
    weather = "Weather: [a = getweather(#city='Oslo', #day='2019-03-01')]"
    done = planeval("check", "-", "--catalog", "world:appbench", text=weather)
    assert "takes no argument 'day'; it takes city, date [check.unknown_argument]" in done.stdout
    both = planeval(
        "check",
        "-",
        "--catalog",
        RATES,
        "--catalog",
        "world:bank",
        text='[{"name": "getLoanStatus", "arguments": {"loanID": "L1"}}]',
    )
    assert both.returncode == 0, both.stdout


def test_catalogs_are_shown_and_converted(tmp_path: Path) -> None:
    done = planeval("catalog", "show", RATES)
    assert done.stdout.splitlines()[0] == "get_rate(base: string, quote: string) -> rate, day"
    full = planeval("catalog", "show", RATES, "--tool", "get_rate").stdout.splitlines()
    assert full == [
        "get_rate",
        "  What one currency costs in another.",
        "  takes:",
        "    base (string)",
        "    quote (string)",
        "  returns:",
        "    rate (number)",
        "    day (date)",
    ]
    assert (
        json.loads(planeval("catalog", "show", RATES, "--format", "json").stdout)[0]["required"]
        == "base, quote"
    )
    target = tmp_path / "out.json"
    assert planeval("catalog", "convert", RATES, "--to", "planeval", "-o", str(target)).returncode == 0
    assert planeval("catalog", "show", str(target)).stdout == done.stdout
    assert (
        json.loads(planeval("catalog", "convert", RATES, "--to", "openai", "--loss").stdout)[0]["type"]
        == "function"
    )


def test_variants_that_a_format_has_no_place_for_are_said(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    variants = [{"name": "f", "parameters": {"properties": {name: {}}, "type": "object"}} for name in "abc"]
    file.write_text(json.dumps([*variants, {"name": "g", "parameters": {}}]))
    for form in ("openai", "mcp", "jsonschema"):
        done = planeval("catalog", "convert", str(file), "--to", form)
        assert (done.returncode, done.stdout) == (3, "")
        assert f"{form} has no place for 2 further variants of tools that have one name\n" in done.stderr
    assert planeval("catalog", "convert", str(file), "--to", "planeval").stdout.count('"f"') == 3


def test_a_catalogs_text_cannot_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "a\x1b[31m", "description": "\x07", "parameters": {}}]))
    for argv in (("show", str(path)), ("show", str(path), "--tool", "a\x1b[31m")):
        assert "\x1b" not in planeval("catalog", *argv).stdout
