"""Findings of plans against catalogs: each code exactly placed, and the published gold plans counted."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.catalogs.formats import as_catalog, read_catalog_file
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.read import locate, parse
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.record import read_plan
from tests.build import jsonl
from tests.conftest import tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

SEARCHED = TABLES["SEARCHED"]
FOUND = TABLES["FOUND"]
BOOKED = {"id": {"type": "integer"}, "note": {"type": "string"}, "nights": {}}


def tool(name: str, app: str, given: Any, returns: Any, *required: str, action: bool = False) -> Any:
    parameters = {"type": "object", "properties": given, "required": list(required)}
    returned = {"type": "object", "properties": returns}
    return {"name": name, "app": app, "parameters": parameters, "returns": returned, "action": action}


TOOLS = as_catalog({
    "format": "planeval-catalog/1", "name": "trips",
    "tools": [tool("search", "Hotels", SEARCHED, FOUND, "city"),
     tool("book", "Hotels", BOOKED, {"code": {"type": "string"}}, "id", action=True),
     {"name": "search", "app": "Trains", "parameters": {"type": "object", "properties": {"to": {}}}},
     {"name": "free", "parameters": {"type": "object", "additionalProperties": True}}],
})  # fmt: skip

SEARCH = "Hotels.search"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def findings(calls: list[dict[str, Any]], catalog: Catalog = TOOLS) -> list[tuple[Any, ...]]:
    """Code, call, argument and the text that the finding's span covers."""
    text = json.dumps([{"label": f"$var_{n}", **each} for n, each in enumerate(calls, 1)])
    found = check_plan(locate(parse(text, dialect="nestful")), catalog)
    assert all(each.span is not None for each in found if each.call is not None)
    return [(one.code, one.call, one.argument, text[slice(*one.span)] if one.span else "") for one in found]


OSLO, ROME = call(SEARCH, city="Oslo"), call(SEARCH, city="Rome")


@tabled("calls, code, position, argument, covers")
def test_findings(calls: list[dict[str, Any]], code: str, position: int, argument: Any, covers: Any) -> None:
    found = findings(calls)
    assert [each[:3] for each in found] == [(code, position, argument)]
    if covers is not None:
        assert found[0][3] == covers


def test_every_code_is_explained_and_raised_here() -> None:
    tabled = (json.dumps(tables(f"test_{name}")) for name in ("check", "check_schema"))
    source = "".join([Path(__file__).read_text(encoding="utf-8"), *tabled])
    codes = {code for code in code_meanings() if code.startswith("check.")}
    source += Path(__file__).with_name("test_check_schema.py").read_text(encoding="utf-8")
    assert len(codes) == 16
    assert all(f'"{code}"' in source for code in codes)


@tabled("calls")
def test_plans_without_findings(calls: list[dict[str, Any]]) -> None:
    assert findings(calls) == []


def test_messages_say_what_was_found_and_expected() -> None:
    plan = parse(json.dumps([call(SEARCH, city=4, guests=[{"name": "a", "age": "x"}]), call("serch")]))
    assert [(each.severity, each.message) for each in check_plan(plan, TOOLS)] == [
        ("error", "city: expected string, found integer 4"),
        ("error", "guests[0].age: expected integer, found string 'x'"),
        ("error", "trips has no tool 'serch'; did you mean search?"),
    ]
    pair = [{**OSLO, "label": "$var_1"}, call("book", id="$var_1.nr$")]
    (found,) = check_plan(parse(json.dumps(pair), dialect="nestful"), TOOLS)
    assert found.message == "id: call 1 (Hotels.search) has no output 'nr'; it returns id, name, rooms, place"


def test_an_answer_is_checked_and_uses_results() -> None:
    answer = call("var_result", id="$var1.id$", nr="$var1.nr$")
    calls = [{**OSLO, "label": "var1"}, {**ROME, "label": "var2"}, answer]
    found = [(one.code, one.call, one.argument) for one in check_plan(parse(json.dumps(calls)), TOOLS)]
    assert found == [("check.unused_result", 1, None), ("check.unknown_output", None, "nr")]


def test_of_variants_the_one_that_fits_counts() -> None:
    catalog = read_catalog_file(Path(__file__).parent / "cases/catalogs/nestful_v1.json")
    wrong = ["check.enum", "check.missing_argument"]
    for given, codes in (({"text": "", "urgent": True}, []), ({"text": "a"}, []), ({"kind": "smoke"}, wrong)):
        assert [each[0] for each in findings([call("Send", **given)], catalog)] == codes


@tabled("form, good, bad")
def test_days_and_times_are_such_as_rfc_3339_writes(form: str, good: list[str], bad: list[str]) -> None:
    """Python's own reader takes weeks, and digits alone."""
    kind = {"type": "object", "properties": {"on": {"type": "string", "format": form}}}
    catalog = as_catalog([{"name": "f", "parameters": kind}])
    for text in (*good, *bad):
        found = [each.code for each in check_plan(Plan((Call("a", "f", (("on", text),)),)), catalog)]
        assert found == ["check.format"] * (text in bad), text


def test_conventions_of_a_benchmark() -> None:
    catalog = read_catalog_file(Path(__file__).parent / "cases/catalogs/appbench.json")
    text = "Rates: [rate = getrate(#base='EUR', #day='?', #amount='12', #kind='card')]\n"
    text += "Post: [send(#amount=rate, #at='25:00')]"
    assert [(e.code, e.call, e.argument) for e in check_plan(parse(text), catalog)] == [
        ("check.format", 1, "at")
    ]
    text = "Post: [rate = getrate(#base='EUR', #day='tomorrow')]"
    assert [each.code for each in check_plan(parse(text), catalog)] == ["check.permission"]


def test_broken_and_hostile_plans_are_checked_too() -> None:
    calls = [call("book", id="$var_9.x$"), call("book", id="$var_2.id$"), call("\x00" * 300)]
    codes = [each[0] for each in findings(calls)]
    assert codes == ["check.unknown_output", "check.unknown_tool"], "what the reader says is not repeated"
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    assert [each[0] for each in findings([call("book", id=deep)])] == ["check.wrong_type"]
    assert check_plan(Plan(), TOOLS) == ()
    strangers = check_plan(Plan(tuple(Call(str(n), f"serch{n}") for n in range(50_000))), TOOLS)
    assert len(strangers) == 50_000
    assert sum("did you mean" in each.message for each in strangers) == 20
    assert check_plan(Plan((Call("1", "x"),)), Catalog())[0].code == "check.unknown_tool"


def counts(plans: Iterable[tuple[Plan, Catalog]]) -> dict[str, int]:
    found = Counter(each.code for plan, catalog in plans for each in check_plan(plan, catalog))
    return {code.removeprefix("check."): count for code, count in sorted(found.items())}


def test_appbench_gold(reference: Path) -> None:
    catalog = read_catalog_file(reference / "datasets/appbench/catalogue.json")
    mixed = {"enum": 16, "missing_argument": 78, "unknown_argument": 132, "unused_result": 187}
    for part, expected in {"ss": {}, "sm": {}, "ms": {"unused_result": 56}, "mm": mixed}.items():
        records = read_file(str(reference / f"datasets/appbench/test_{part}.json"), role="gold").records
        assert counts((read_plan(record), catalog) for record in records) == expected


NESTFUL = TABLES["NESTFUL"]


@pytest.mark.parametrize("part", NESTFUL)
def test_nestful_v1_gold(reference: Path, part: str) -> None:
    folder = reference / "datasets/nestful/v1"
    catalog = read_catalog_file(folder / f"{part}-spec.json")
    records = json.loads((folder / f"{part}-data.json").read_text())
    plans = [parse(record["output"], dialect="nestful") for record in records]
    assert counts((plan, catalog) for plan in plans) == NESTFUL[part]
    if part == "executable/executable":
        missing = [f for p in plans for f in check_plan(p, catalog) if f.code == "check.unknown_output"]
        assert sum(f.call is not None for f in missing) == 26, "the others are in the answer"


def test_nestful_v2_gold_against_its_own_tools(reference: Path) -> None:
    lines = (reference / "datasets/nestful/v2/nestful_v2_collected.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    plans = ((parse(r["output"], dialect="nestful"), as_catalog(r["tools"], name="tools")) for r in records)
    assert counts(plans) == {"missing_argument": 2, "output_type": 20, "unused_result": 10}


CALLNAVI = TABLES["CALLNAVI"]


@pytest.mark.parametrize("domain", CALLNAVI)
def test_callnavi_gold(reference: Path, domain: str) -> None:
    catalog = read_catalog_file(reference / f"datasets/callnavi/APIs/{domain}.json")
    questions = json.loads((reference / f"datasets/callnavi/Questions/{domain}.json").read_text())
    plans = (truth_plan(question["ground_truth"]) for question in questions)
    assert counts((plan, catalog) for plan in plans) == CALLNAVI[domain]


def truth_plan(truth: dict[str, Any]) -> Plan:
    pairs = zip(truth["API"], truth["parameters"] or [{}] * len(truth["API"]), strict=True)
    return Plan(tuple(Call(str(n), name, tuple(given.items())) for n, (name, given) in enumerate(pairs)))


def test_complexfuncbench_example(reference: Path) -> None:
    folder = reference / "datasets/complexfuncbench"
    names, exact = (
        read_catalog_file(folder / "tool_info.json"),
        read_catalog_file(folder / "exact_match_values.json"),
    )
    assert (len(names), len(exact)) == (48, 46)
    turns = json.loads((folder / "paper_example.json").read_text())["gold"]["conversations"]
    calls = [made for turn in turns for made in turn.get("function_call", ())]
    plan = Plan(tuple(Call(str(n), c["name"], tuple(c["arguments"].items())) for n, c in enumerate(calls)))
    assert len(plan) == 5
    assert check_plan(plan, names) == check_plan(plan, exact) == ()


def test_types_inside_themselves_and_of_fields_that_nobody_listed_are_checked() -> None:
    again = {"$ref": "#/$defs/node"}
    kinds = {"name": {"type": "string"}, "kids": {"type": "array", "items": again}}
    node = {"type": "object", "properties": kinds, "required": ["name"]}
    numbers = {"type": "object", "additionalProperties": {"type": "integer"}}
    grown = {"type": "object", "properties": {"tree": again, "counts": numbers}, "$defs": {"node": node}}
    anything = {"type": "object", "properties": {"a": {}}, "additionalProperties": {}}
    tools = {"grow": grown, "count": numbers, "any": anything}
    catalog = as_catalog([{"name": name, "parameters": given} for name, given in tools.items()])

    def tree(*kids: Any) -> dict[str, Any]:
        return {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c", "kids": [*kids]}]}]}

    deep = "tree.kids[0].kids[0].kids"
    calls: list[tuple[Any, list[str]]] = [
        (call("any", b=1), []), (call("grow", tree=tree(), counts={"x": 1}), []),
        (call("grow", tree=tree({"name": 5})), [f"{deep}[0].name: expected string, found integer 5"]),
        (call("grow", tree=tree(), counts={"x": "1"}), ["counts.x: expected integer, found string '1'"]),
        (call("count", a=1, b=2.5), ["b: expected integer, found number 2.5"]),
    ]  # fmt: skip
    unnamed = f"{deep}[0].nam: there is no field 'nam'; the fields are name, kids"
    calls.append(
        (call("grow", tree=tree({"nam": "d"})), [unnamed, f"{deep}[0]: the field 'name' is required"])
    )
    for made, expected in calls:
        assert [one.message for one in check_plan(parse(json.dumps([made])), catalog)] == expected


@tabled("output, into, value, said")
def test_references_whose_limits_cannot_be_met(output: Any, into: Any, value: Any, said: str | None) -> None:
    returns = {"type": "object", "properties": {"x": output}, "required": ["x"]}
    takes = {"type": "object", "properties": {"p": into}, "required": ["p"]}
    tools = [{"name": "src", "inputSchema": {"type": "object"}, "outputSchema": returns}]
    catalog = as_catalog([*tools, {"name": "dst", "inputSchema": takes}], "mcp")
    calls: list[Any] = [{"name": "src", "label": "v1", "arguments": {}}]
    plan = parse(
        json.dumps([*calls, {"name": "dst", "label": "v2", "arguments": {"p": value}}]), dialect="nestful"
    )
    assert [finding.message for finding in check_plan(plan, catalog)] == ([] if said is None else [said])


@tabled("call, said")
def test_arguments_that_a_function_does_not_name(call: Any, said: list[str], tmp_path: Path) -> None:
    heads = ("g(a: int, *args: int, **kw: str)", "h(*args: int)", "free(*args: int, **kw: str)")
    (tmp_path / "k.py").write_text("".join(f"def {head}: ...\n" for head in heads))
    catalog = read_catalog_file(str(tmp_path / "k.py"))
    assert [finding.message for finding in check_plan(parse(json.dumps([call])), catalog)] == said


def test_a_record_with_an_empty_list_of_tools_offers_none(tmp_path: Path) -> None:
    call = [{"name": "f", "arguments": {"a": 1}}]
    records = [{"id": n, "output": call, "tools": none} for n, none in enumerate(([], "[]"))]
    done = planeval("check", jsonl(tmp_path / "r.jsonl", records))
    assert (done.returncode, done.stdout.count("has no tool 'f' [check.unknown_tool]")) == (1, 2), done.stderr


@tabled("text")
def test_plans_are_read_with_the_tools(text: str, tmp_path: Path) -> None:
    content = {"type": "object", "properties": {"content": {"type": "integer"}}}
    tools, files = [{"name": "AIMessage", "parameters": content}], [tmp_path / "p.txt", tmp_path / "t.json"]
    for file, written in zip(files, (text, json.dumps(tools)), strict=True):
        file.write_text(written, encoding="utf-8")
    assert planeval("check", str(files[0]), "--catalog", str(files[1])).stderr == (
        "1 plan checked against 1 tool: nothing found\n"
    )
    assert not (*pe.check(text, tools), *pe.suggest(text, tools).faults)
