"""planeval check and planeval catalog; catalogs that are none are refused, never taken in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, tabled
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


@pytest.mark.parametrize(("argv", "said"), [
    ("check -", "--catalog"), (f"check nothing.json --catalog {RATES}", "nothing.json"),
    ("check - --catalog nothing.json", "nothing.json: no such file"),
    (f"check - --catalog {RATES} --catalog-format swagger", "unknown catalog format 'swagger'"),
    ("check - --catalog world:nowhere", "no world 'nowhere'; shipped: appbench, "),
    (f"catalog {RATES} --tool get_rates", "did you mean 'get_rate'?"),
    (f"catalog {RATES} --to python", "'python' is not one of"),
])  # fmt: skip
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
    done = planeval("catalog", RATES)
    assert done.stdout.splitlines()[0] == "get_rate(base: string, quote: string) -> rate, day"
    full = "get_rate\n  What one currency costs in another.\n  takes:\n    base (string)\n"
    full += "    quote (string)\n  returns:\n    rate (number)\n    day (date)\n"
    assert planeval("catalog", RATES, "--tool", "get_rate").stdout == full
    rows = json.loads(planeval("catalog", RATES, "--format", "json").stdout)
    assert rows[0]["required"] == "base, quote"
    target = str(tmp_path / "out.json")
    assert planeval("catalog", RATES, "--to", "planeval", "-o", target).returncode == 0
    assert planeval("catalog", target).stdout == done.stdout
    lossy = planeval("catalog", RATES, "--to", "openai", "--loss")
    assert json.loads(lossy.stdout)[0]["type"] == "function"


def test_a_catalogs_text_cannot_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "a\x1b[31m", "description": "\x07", "parameters": {}}]))
    for argv in (("show", str(path)), ("show", str(path), "--tool", "a\x1b[31m")):
        assert "\x1b" not in planeval("catalog", *argv).stdout


SEARCH = '[{"name": "search", "label": "$a", "arguments": {"city": "Rome"}}]'


def _catalog(folder: Path, content: Any) -> str:
    file = folder / "tools.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def _tool(parameters: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "search", "parameters": parameters}}]


@pytest.mark.parametrize("content", [
    SEARCH,
    [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"city": "Rome"}'}}],
    [{"type": "tool_use", "id": "t", "name": "search", "input": {"city": "Rome"}}],
    {"name": "search", "arguments": {"city": "Rome"}},
])  # fmt: skip
def test_a_plan_is_no_catalog(tmp_path: Path, content: Any) -> None:
    done = planeval("catalog", _catalog(tmp_path, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert "tools.json: entry 0, 'search', is a call, not a tool: it has" in done.stderr
    assert "this looks like a plan" in done.stderr


def _doubling(step: str) -> str:
    """A tool whose 30 definitions each name the next one twice: a thousand million schemas in 30 lines."""
    texts = [step.replace("{}", f'{{"$ref": "#/$defs/d{level}"}}') for level in range(1, 30)]
    definitions = ", ".join(f'"d{level}": {text}' for level, text in enumerate([*texts, "{}"]))
    city = '{"city": {"$ref": "#/$defs/d0"}}'
    return f'[{{"name": "search", "parameters": {{"properties": {city}, "$defs": {{{definitions}}}}}}}]'


TAKES = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NESTED = '{"type": "array", "items": ' * 300 + "{}" + "}" * 300


@tabled("content", "key")
def test_a_schema_under_an_unknown_key_is_refused(tmp_path: Path, content: Any, key: str) -> None:
    done = planeval("catalog", _catalog(tmp_path, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the key {key!r} is not read" in done.stderr
    assert "expected its parameters under parameters or inputSchema or input_schema" in done.stderr


@pytest.mark.parametrize(("content", "message"), [
    ([{"name": "Ann", "age": 3}], "entry 0, 'Ann', is not a tool: expected a description or parameters"),
    ({"model": "m", "temperature": 1}, "found an object of 'model', 'temperature'"),
    ([{"functions_declared": []}], "found a list whose first item is an object of 'functions_decl"),
    ({}, "found an empty object"),
    (_tool({"city": {"type": "string"}}), "tool 0 'search': expected the JSON Schema of an object"),
    (_tool({"type": "array"}), 'arguments are an object, so expected "type": "object", found \'array\''),
    (_tool({**TAKES, "required": "city"}), "required must be a list of names, found 'city'"),
    (_tool({"properties": {"city": {"type": 3}}}), "type must be a name or a list of names, found 3"),
    (_tool({"properties": {"city": {"anyOf": 3}}}), "city: anyOf must be a list of schemas, found 3"),
    (f'[{{"name": "search", "parameters": {{"properties": {{"city": {NESTED}}}}}}}]',
     "a JSON Schema is nested more than 64 levels deep"),
    (_doubling('{"properties": {"x": {}, "y": {}}}'), "more than 20,000 schemas, its references"),
    ([{"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "TEXT"}}}}],
     "unknown type 'TEXT'; Gemini knows NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT"),
    ([{"functionDeclarations": ["f"]}], "expected a function declaration, found 'f'"),
    ([{"toolSpec": {"name": "f", "inputSchema": TAKES}}], "tool 'f': expected a JSON Schema under \"json\""),
    ({"toolConfig": {"tools": [3]}}, "expected a list of tools, found [3]"),
    ([{"question": "?", "function": [3]}], "expected a function's document, found 3"),
    ([{"question": "?", "function": ""}], "a record has no tools under 'function', found 'question', 'f"),
    ([{"api_name": 3}], 'expected a tool with an "api_name"'),
    ([{"api_name": "f", "required": "a"}], "tool 'f': required must be a list of names, found 'a'"),
    ([{"api_name": "f", "parameters": ["a"]}], "tool 'f': parameters: expected an object of names, fou"),
    ([{"api_name": "f", "responses": {"a": "str"}}], "tool 'f': responses: expected an object for 'a', "),
    ([{"Name": "Bells", "Documentation": "{"}], "'Bells': its \"Documentation\" is a text that is not J"),
    ([{"Name": "Bells", "Documentation": None}], "'Bells': expected an OpenAPI document with \"paths\""),
    ({"result": {"tools": [{"name": "f", "inputSchema": {}}], "nextCursor": "2"}}, "a nextCursor, '2': "),
    ({"tools": {"name": "f"}, "name": "g"}, "expected a list of tools, found {'name': 'f'}"),
])  # fmt: skip
def test_a_wrong_catalog_is_refused_with_what_was_found(tmp_path: Path, content: Any, message: str) -> None:
    done = planeval("catalog", _catalog(tmp_path, content))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_is_required_and_not_described_is_missed(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city", "stars"]}
    file = _catalog(tmp_path, _tool(schema))
    assert planeval("catalog", file).stdout == "search(city: string, stars)\n"
    done = planeval("check", "-", "--catalog", file, text=SEARCH)
    assert done.returncode == 1
    assert "search needs the argument 'stars' [check.missing_argument]" in done.stdout
    assert done.stderr == "1 plan checked against 1 tool: 1 error\n"


def test_misspelt_keywords_and_repeated_names_are_said(tmp_path: Path) -> None:
    city = {"type": "string", "minimun": 3, "x-order": 1, "colour": "red"}
    schema = {"type": "object", "properties": {"city": city}, "requried": ["city"]}
    done = planeval("check", "-", "--catalog", _catalog(tmp_path, _tool(schema) * 2), text=SEARCH)
    assert (done.returncode, done.stdout) == (0, "")
    told = "is not a JSON Schema keyword and is ignored; did you mean"
    assert done.stderr.splitlines() == [
        f"tools.json: search: 'requried' {told} 'required'?",
        f"tools.json: search: city: 'minimun' {told} 'minimum'?",
        "tools.json: search is declared 2 times: the one that a call violates least counts",
        "1 plan checked against 2 tools: nothing found",
    ]


def test_positions_in_lists_are_outputs(tmp_path: Path) -> None:
    whole = {"type": "integer"}
    found = {"type": "array", "items": {"type": "object", "properties": {"id": whole}}}
    search = {"name": "search", "inputSchema": {"type": "object"}, "outputSchema": found}
    use = {"name": "use", "inputSchema": {"type": "object", "properties": {"x": whole}}}
    file = _catalog(tmp_path, {"tools": [search, use]})
    for way, code, said in (("0.id", 0, ""), ("0.name", 1, "has no output '0.name'")):
        calls = [
            {"name": "search", "label": "$a", "arguments": {}},
            {"name": "use", "arguments": {"x": f"$a.{way}$"}},
        ]
        done = planeval("check", "-", "--catalog", file, text=json.dumps(calls))
        assert (done.returncode, said in done.stdout) == (code, True)


def test_what_a_tool_takes_and_returns_is_shown_apart(tmp_path: Path) -> None:
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    log = {"name": "log", "inputSchema": {"type": "object"}, "outputSchema": nothing}
    file = _catalog(tmp_path, {"tools": [log]})
    takes = "log\n  takes: nothing that is declared\n    and arguments that are not listed\n"
    assert planeval("catalog", file, "--tool", "log").stdout == f"{takes}  returns: nothing\n"
    assert planeval("catalog", file).stdout == "log(…) -> nothing\n"
    done = planeval("catalog", _catalog(tmp_path, []))
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "tools.json lists no tools\n")


@tabled("name", "plan", "said")
def test_texts_for_numbers_and_nothing_may_be_right(name: str, plan: str, said: str | None) -> None:
    file = Path(__file__).parent / "cases" / "catalogs" / name
    done = planeval("check", "-", "--catalog", file, text=plan)
    assert (done.returncode, (said or "") in done.stdout) == (int(said is not None), True)
