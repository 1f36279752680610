"""Converting catalogs: what a format can say comes back as it was, what it cannot is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.catalogs.catalog import ANY, Catalog, Tool
from planner_eval.catalogs.formats import WRITABLE, as_catalog, to_data
from planner_eval.catalogs.schema import type_of
from planner_eval.catalogs.writing import losses, renamed, written_names
from tests.conftest import ROOT, examples
from tests.inside import planeval

CASES = ROOT / "tests" / "cases" / "catalogs"
APPBENCH = str(CASES / "appbench.json")
PLAN = '[{"name": "getrate", "app": "Rates", "arguments": {"base": "EUR", "day": "2024-01-01"}}]'
PLACELESS = "how plans of this catalog are to be read (values as text, placeholders, unused results)"
OTHERS = [format for format in WRITABLE if format != "planeval"]


def _file(folder: Path, content: Any) -> str:
    file = folder / "tools.json"
    file.write_text(json.dumps(content))
    return str(file)


@pytest.mark.parametrize("format", OTHERS)
def test_what_a_format_cannot_say_is_given_up_only_when_that_is_asked_for(
    tmp_path: Path, format: str
) -> None:
    target = tmp_path / "out.json"
    done = planeval("catalog", "convert", APPBENCH, "--to", format, "-o", str(target))
    assert (done.returncode, done.stdout, target.exists()) == (3, "", False)
    told = done.stderr.splitlines()
    assert f"{format} has no place for {PLACELESS}" in told
    assert told[-1] == "nothing is written: --loss writes the rest, --to planeval keeps everything"
    done = planeval("catalog", "convert", APPBENCH, "--to", format, "--loss", "-o", str(target))
    assert done.returncode == 0
    lost = [line for line in done.stderr.splitlines() if line.endswith(": left out")]
    assert lost == [f"{line}: left out" for line in told[:-1]]
    assert planeval("catalog", "convert", APPBENCH, "--to", "planeval").stderr == ""


@pytest.mark.parametrize("format", OTHERS)
def test_tools_of_apps_are_found_in_every_format(tmp_path: Path, format: str) -> None:
    target = str(tmp_path / "out.json")
    assert planeval("catalog", "convert", APPBENCH, "--to", format, "--loss", "-o", target).returncode == 0
    shown = [line.split("(")[0] for line in planeval("catalog", "show", target).stdout.splitlines()]
    assert shown == ["Rates.getrate", "Post.send"]
    for new in ('"getrate", "app": "Rates"', '"getrate"', '"Rates.getrate"'):
        plan = PLAN.replace('"getrate", "app": "Rates"', new)
        done = planeval("check", "-", "--catalog", target, text=plan)
        assert (done.returncode, done.stdout) == (0, "")
    found = planeval("check", "-", "--catalog", target, text=PLAN.replace("Rates", "Post"))
    assert "Post has no permission to call getrate; it belongs to Rates [check.permission]" in found.stdout


def test_a_name_that_a_format_cannot_hold_is_said_and_found_by_both(tmp_path: Path) -> None:
    target = str(tmp_path / "out.json")
    tools = [{"name": f"Trains.{name}", "parameters": {}} for name in ("find", "buy")]
    done = planeval("catalog", "convert", _file(tmp_path, tools), "--to", "openai", "-o", target)
    said = "openai has 2 tools under other names, as 'Trains_find' for 'Trains.find'\n"
    assert (done.returncode, done.stderr) == (0, said)
    written = [each["function"]["name"] for each in json.loads(Path(target).read_text())]
    assert written == ["Trains_find", "Trains_buy"]
    for name, code in (("Trains.find", 0), ("Trains_find", 0), ("Trains-find", 1)):
        found = planeval("check", "-", "--catalog", target, text=f'[{{"name": "{name}", "arguments": {{}}}}]')
        assert (found.returncode, "check.unknown_tool" in found.stdout) == (code, bool(code))


def test_a_dotted_name_of_a_list_without_apps_is_the_tool_of_an_app(tmp_path: Path) -> None:
    file = _file(tmp_path, {"tools": [{"name": "Rates.getrate", "inputSchema": {"type": "object"}}]})
    done = planeval("check", "-", "--catalog", file, text=PLAN)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("format", WRITABLE)
def test_definitions_go_where_their_schemas_go(tmp_path: Path, format: str) -> None:
    stop = {"type": "object", "properties": {"city": {"type": "string"}, "next": {"$ref": "#/$defs/Stop"}}}
    trip = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Stop"}}, "required": ["first"]}
    file = _file(tmp_path, {"$defs": {"Trip": trip, "Stop": stop}})
    target = str(tmp_path / "out.json")
    done = planeval("catalog", "convert", file, "--to", format, "-o", target)
    assert (done.returncode, done.stderr) == (0, "")
    plan = '[{"name": "Trip", "arguments": {"first": {"city": "Rome", "next": {"next": {"city": 3}}}}}]'
    found = planeval("check", "-", "--catalog", target, text=plan)
    assert "first.next.next.city: expected string, found integer 3" in found.stdout


@pytest.mark.parametrize("format", WRITABLE)
def test_a_type_inside_itself_is_written_where_no_schema_was_read(format: str) -> None:
    stop = type_of(
        {"$ref": "#/$defs/Stop", "$defs": {"Stop": {"properties": {"next": {"$ref": "#/$defs/Stop"}}}}}
    )
    again = as_catalog(to_data(Catalog((Tool("go", parameters=stop.fields),)), format), format)
    inner = again.tools[0].parameters[0].type
    assert inner.at(("next", "next")) is not None
    assert inner.at(("next", "other")) is None


@pytest.mark.parametrize("format", OTHERS)
def test_variants_are_listed_and_the_first_is_written(tmp_path: Path, format: str) -> None:
    variants = [{"name": "f", "parameters": {"properties": {name: {}}, "type": "object"}} for name in "abc"]
    done = planeval("catalog", "convert", _file(tmp_path, variants), "--to", format, "--loss")
    said = f"{format} has no place for 2 further variants of tools that have one name: left out\n"
    assert done.stderr == said
    tools = as_catalog(json.loads(done.stdout), format).tools
    assert [[each.name for each in tool.parameters] for tool in tools] == [["a"]]


def test_what_services_refuse_is_not_written(tmp_path: Path) -> None:
    tools = [{"name": "f", "inputSchema": {"properties": {"x": {}}}, "outputSchema": {"type": "string"}}]
    file = _file(tmp_path, {"tools": tools})
    done = planeval("catalog", "convert", file, "--to", "mcp", "--loss")
    assert done.stderr == "mcp has no place for what 1 tool returns, which is no object: left out\n"
    (written,) = json.loads(done.stdout)["tools"]
    assert "outputSchema" not in written
    assert written["inputSchema"]["type"] == "object"
    gemini = json.loads(planeval("catalog", "convert", file, "--to", "gemini").stdout)
    assert gemini[0]["functionDeclarations"][0]["responseJsonSchema"] == {"type": "string"}


ODD = ["find", "a.b", "a_b", "Get (x)", "1st", "für", "$defs", "title", "properties", "name", "function"]
LONG = [letter * length for letter, length in (("x", 64), ("x", 70), ("y", 130), ("y", 131))]
NAMES = st.sampled_from([*ODD, *LONG]) | st.text(min_size=1, max_size=4)
PLAIN = st.sampled_from(
    [
        {}, {"type": "string", "minLength": 1, "maxLength": 3}, {"const": True}, {"enum": ["a", 1, None]},
        {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9},
        {"type": "string", "format": "date"}, {"type": "object", "additionalProperties": {"type": "number"}},
        {"type": "object", "additionalProperties": False},
    ]
)  # fmt: skip
MORE = st.sampled_from([{}, {"additionalProperties": True}, {"additionalProperties": {"type": "null"}}])


def objects(names: st.SearchStrategy[str], fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda fields, needed, more: {"type": "object", "properties": fields, "required": needed, **more},
        st.dictionaries(names, fields, max_size=3),
        st.lists(names, unique=True, max_size=2),
        MORE,
    )


SCHEMAS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items, "maxItems": 2}),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: {"anyOf": each}),
        objects(st.sampled_from(["a", "type", "properties", "$ref"]), inner),
    ),
    max_leaves=6,
)
OBJECTS = objects(st.text(max_size=3), SCHEMAS.map(lambda each: {**each, "description": "x"}))


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    """A tool with the schema that it was read from, or without one."""
    schema = draw(OBJECTS)
    returned = draw(st.none() | SCHEMAS)
    (tool,) = as_catalog([{"name": "x", "parameters": schema, "returns": returned}]).tools
    kept = draw(st.booleans())
    return Tool(
        draw(NAMES),
        draw(st.sampled_from([None, None, "A", "a", "Ä.b"])),
        draw(st.sampled_from(["", "Does it."])),
        tool.parameters,
        open=tool.open,
        returns=tool.returns,
        action=draw(st.sampled_from([None, True, False])),
        schema=tool.schema if kept else None,
        returns_schema=returned if kept else None,
        others=tool.others,
    )


CATALOGS = st.builds(
    Catalog,
    st.lists(tools(), max_size=4).map(tuple),
    st.just("catalog"),
    st.booleans(),
    st.sampled_from([(), ("?",)]),
    st.booleans(),
)


@pytest.mark.parametrize("format", WRITABLE)
@examples(60)
@given(catalog=CATALOGS)
def test_what_a_format_can_say_comes_back_as_it_was(format: str, catalog: Catalog) -> None:
    data = json.loads(json.dumps(to_data(catalog, format)))
    again = as_catalog(data, format)
    if catalog.tools:
        assert as_catalog(data) == again, "the format is recognised"
    lost = losses(catalog, format)
    if not lost:
        assert again == catalog
    if format == "planeval":
        assert not lost
        return
    firsts: dict[tuple[str | None, str], Tool] = {}
    for tool in catalog.tools:
        firsts.setdefault((tool.app, tool.name), tool)
    assert len(again.tools) == len(firsts) == len(written_names(catalog, format))
    assert (len(firsts) < len(catalog.tools)) == any("variant" in each for each in lost)
    for found, tool in zip(again.tools, firsts.values(), strict=True):
        assert (found.app, found.name, found.description) == (tool.app, tool.name, tool.description)
        assert (found.parameters, found.open, found.others) == (tool.parameters, tool.open, tool.others)
        assert found.returns in ((tool.returns,) if format == "gemini" else (tool.returns, ANY))
        assert found.action == (tool.action if format == "mcp" else None)
        assert tool.full_name in {each.full_name for each in again.find(tool.name, tool.app)}
    assert {own for own, _ in renamed(catalog, format)} <= {tool.full_name for tool in catalog.tools}
    kept = all(one.returns == two.returns for one, two in zip(again.tools, firsts.values(), strict=True))
    assert kept or any(each.startswith("what ") for each in lost)


@pytest.mark.parametrize("format", WRITABLE)
def test_tools_may_be_named_as_the_keys_of_formats_are(format: str) -> None:
    names = ("title", "properties", "$defs", "definitions", "tools", "name", "function", "result", "format")
    catalog = Catalog(tuple(Tool(name) for name in names))
    again = as_catalog(json.loads(json.dumps(to_data(catalog, format))))
    assert again == catalog
    assert losses(catalog, format) == []
