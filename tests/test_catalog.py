"""Catalogs: every format, bad files, types; converted, what a format cannot say is listed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.formats import FORMATS, WRITABLE, as_catalog, catalog_to_data, read_catalog_file
from planner_eval.catalogs.json_schema.types import schema_of, type_of
from planner_eval.catalogs.type_words import type_of_words
from planner_eval.catalogs.value_errors import find_problem, is_compatible
from planner_eval.catalogs.writers import losses, renamed_tools, written_names
from tests.conftest import ROOT, examples, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

CASES = ROOT / "tests" / "cases" / "catalogs"


SIGNATURES = TABLES["SIGNATURES"]


def test_every_case_is_listed() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_file()} == set(SIGNATURES)


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_format_is_recognised_and_read_and_may_be_named(name: str) -> None:
    catalog = read_catalog_file(CASES / name)
    assert [tool.signature() for tool in catalog.tools] == SIGNATURES[name]
    format = {"functions.py": "python", "own.json": "planeval"}.get(name) or name.split(".")[0].split("_")[0]
    assert format in FORMATS
    assert read_catalog_file(CASES / name, format) == catalog


def test_conventions_come_with_the_format() -> None:
    for name in ("own.json", "appbench.json"):
        catalog = read_catalog_file(CASES / name)
        assert (catalog.text_values, catalog.holes, catalog.reports_all) == (True, ("?",), True)
    assert read_catalog_file(CASES / "callnavi.json").holes == ("$$$",)
    plain = read_catalog_file(CASES / "openai.json")
    assert plain == Catalog(plain.tools, "openai.json")


def test_what_is_said_of_tools_is_kept() -> None:
    rate, ratio, notify = read_catalog_file(CASES / "functions.py").tools
    assert rate.description == "What one currency costs in another."
    assert rate.parameters[0].description == "The currency that is bought, three letters."
    assert [each.description for each in ratio.parameters] == [
        "What is divided.", "What it is divided by.", "",
    ]  # fmt: skip
    assert notify.open
    search, _, note = read_catalog_file(CASES / "mcp.json").tools
    assert (search.action, note.action) == (False, True)
    assert read_catalog_file(CASES / "appbench.json").tools[1].action is True
    place = read_catalog_file(CASES / "nestful_v1.json").tools[0].returns
    assert place.at(("place", "city")) == Type(("string",))
    assert place.at(("city",)) is None


def test_overloads_and_apps_are_found() -> None:
    catalog = read_catalog_file(CASES / "nestful_v1.json")
    assert len(catalog.find("Send")) == 2
    assert len(catalog.find("Rates.Get")) == 1, "a name with a dot is first of all a name"
    rates = read_catalog_file(CASES / "appbench.json")
    assert rates.find("getrate", "Rates") == rates.find("Rates.getrate") == rates.find("getrate")
    assert rates.find("getrate", "Post") == ()
    assert rates.apps == ("Rates", "Post")
    both = rates + rates + catalog
    assert len(both) == len(rates) + len(catalog)
    assert both.text_values


class Person(BaseModel):
    name: str
    age: int = 0


@dataclass
class Place:
    city: str


def test_function_objects_with_rich_annotations() -> None:
    def invite(
        person: Person, place: Place, how: Literal["mail", "phone"] = "mail", *, when: Any = None
    ) -> list[int]:
        """Invite somebody.

        Args:
            how: The way.
        """
        raise NotImplementedError

    (tool,) = as_catalog(invite).tools
    taken = "person: object, place: object, how?: one of 'mail', 'phone' = 'mail', when? = None"
    assert tool.signature() == f"invite({taken}) -> array of integer"
    assert tool.parameters[0].type.at(("age",)) == Type(("integer",))
    assert tool.parameters[1].type.at(("town",)) is None
    assert tool.parameters[2].description == "The way."
    assert as_catalog([invite, len]).tools[1].name == "len"


@pytest.mark.parametrize(("name", "text", "said"), [
    *TABLES["a_bad_file_and_its_fault_are_named"],
    ("deep.json", "[" * 100_000, "line 1, column 201: the text nests deeper than 200 levels"),
])  # fmt: skip
def test_a_bad_file_and_its_fault_are_named(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(CatalogError) as caught:
        read_catalog_file(path)
    assert said in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value).replace(said, "") or name == "list.yaml"


def test_other_bad_input(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'[{"name": "caf\xe9"}]')
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: read_catalog_file(tmp_path), "is a directory"),
        (lambda: read_catalog_file(tmp_path / "latin.json"), "not UTF-8"),
        (lambda: as_catalog([], "swagger"), "unknown catalog format 'swagger'"),
        (lambda: catalog_to_data(Catalog(), "python"), "cannot write"),
        (lambda: read_catalog_file(""), "no catalog named"),
    ]
    for made, said in wrong:
        with pytest.raises(CatalogError, match=said):
            made()
    properties = {"x": {"$ref": "#/$defs/a"}}
    loop = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": properties}
    assert as_catalog([{"name": "f", "parameters": loop}]).tools[0].parameters[0].type == ANY
    spiral = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "properties": properties}
    with pytest.raises(CatalogError, match="refers to itself"):
        as_catalog([{"name": "f", "parameters": spiral}])


@pytest.mark.parametrize(
    ("words", "shown"),
    [*TABLES["types_in_words"], ("List[" * 4000, "anything"), ("[" * 1500, "anything")],
)
def test_types_in_words(words: str, shown: str) -> None:
    assert str(type_of_words(words)) == shown


INTEGER, TEXT, NUMBERS = (
    {"type": "integer"}, {"type": "string"}, {"type": "array", "items": {"type": "number"}},
)  # fmt: skip
DATE, TIME = {"type": "string", "format": "date"}, {"type": "string", "format": "time"}


@pytest.mark.parametrize(
    ("value", "schema", "texts", "code"),
    [*TABLES["values_against_schemas"], (float("nan"), INTEGER, False, "wrong_type")],
)
def test_values_against_schemas(value: Any, schema: dict[str, Any], texts: bool, code: str | None) -> None:
    found = find_problem(value, type_of(schema), texts=texts)
    assert (found[0] if found else None) == (code and f"check.{code}")


@tabled("output, into, texts, good")
def test_outputs_against_inputs(output: Any, into: Any, texts: bool, good: bool) -> None:
    assert is_compatible(type_of(output), type_of(into), texts=texts) is good


KINDS = ("number", "boolean", "null")
SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, INTEGER, *({"type": kind} for kind in KINDS), {}, DATE])
    | st.just({"enum": ["a", 1]}),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda fields: {"type": "object", "properties": fields},
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
        ),
        st.builds(lambda each: {"anyOf": each}, st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=8,
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)


@given(SCHEMAS)
def test_a_type_written_as_schema_is_the_same_type_and_fits_itself(schema: dict[str, Any]) -> None:
    kind = type_of(schema)
    assert type_of(schema_of(kind)) == kind
    assert is_compatible(kind, kind)


@given(SCHEMAS, SCHEMAS, SCALARS)
def test_a_value_of_both_types_means_that_they_fit(one: Any, other: Any, value: Any) -> None:
    if not find_problem(value, type_of(one)) and not find_problem(value, type_of(other)):
        assert is_compatible(type_of(one), type_of(other))


def test_the_tools_of_a_world_are_a_catalog() -> None:
    catalog = read_catalog_file("world:appbench")
    assert len(catalog) == 81
    (find,) = catalog.find("findbus")
    taken = "from_city: string, to_city: string, departure_date: date"
    assert find.signature().startswith(f"Buses.findbus({taken}")
    assert find.parameters[3] == Parameter("num_passengers", Type(("integer",)), False, "", 1, True)
    assert (find.action, catalog.find("buybusticket")[0].action) == (False, True)


def test_a_type_inside_itself_is_read_once_however_often_it_comes_again() -> None:
    names = ("f0", "f1", "f2", "f3", "f4")
    one = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    kind = type_of({"$ref": "#/$defs/f0", "$defs": dict.fromkeys(names, one)})
    ways = [kind.at(path) for path in (("f0",), ("f1", "f0"), ("f4", "f3", "f0"), ("f0", "f1", "f0"))]
    assert len({id(each.again) for each in ways if each is not None}) == 1
    again = kind.at(("f0",))
    assert again is not None
    assert again.unfolded.at(("f0",)) == again
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert str(again) == "object"


APPBENCH = str(CASES / "appbench.json")
PLAN = '[{"name": "getrate", "app": "Rates", "arguments": {"base": "EUR", "day": "2024-01-01"}}]'
OTHERS = [format for format in WRITABLE if format != "planeval"]


@pytest.mark.parametrize("format", OTHERS)
def test_tools_of_apps_are_found_in_every_format(tmp_path: Path, format: str) -> None:
    target = str(tmp_path / "out.json")
    assert planeval("catalog", APPBENCH, "--to", format, "--loss", "-o", target).returncode == 0
    shown = [line.split("(")[0] for line in planeval("catalog", target).stdout.splitlines()]
    assert shown == ["Rates.getrate", "Post.send"]
    for new in ('"getrate", "app": "Rates"', '"getrate"', '"Rates.getrate"'):
        plan = PLAN.replace('"getrate", "app": "Rates"', new)
        done = planeval("check", "-", "--catalog", target, text=plan)
        assert (done.returncode, done.stdout) == (0, "")
    found = planeval("check", "-", "--catalog", target, text=PLAN.replace("Rates", "Post"))
    assert "Post has no permission to call getrate, a tool of Rates [check.permission]" in found.stdout


@pytest.mark.parametrize("format", WRITABLE)
def test_a_type_inside_itself_is_written_where_no_schema_was_read(format: str) -> None:
    stop = type_of({"$ref": "#/$defs/S", "$defs": {"S": {"properties": {"next": {"$ref": "#/$defs/S"}}}}})
    again = as_catalog(catalog_to_data(Catalog((Tool("go", parameters=stop.fields),)), format), format)
    inner = again.tools[0].parameters[0].type
    assert inner.at(("next", "next")) is not None
    assert inner.at(("next", "other")) is None


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
ADDED = st.sampled_from([{}, {"additionalProperties": True}, {"additionalProperties": {"type": "null"}}])


def objects(names: st.SearchStrategy[str], fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda fields, needed, more: {"type": "object", "properties": fields, "required": needed, **more},
        st.dictionaries(names, fields, max_size=3),
        st.lists(names, unique=True, max_size=2),
        ADDED,
    )


OF_TOOLS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items, "maxItems": 2}),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: {"anyOf": each}),
        objects(st.sampled_from(["a", "type", "properties", "$ref"]), inner),
    ),
    max_leaves=6,
)
OBJECTS = objects(st.text(max_size=3), OF_TOOLS.map(lambda each: {**each, "description": "x"}))


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    """A tool with the schema that it was read from, or without one."""
    schema = draw(OBJECTS)
    returned = draw(st.none() | OF_TOOLS)
    (tool,) = as_catalog([{"name": "x", "parameters": schema, "returns": returned}]).tools
    kept = draw(st.booleans())
    return Tool(
        draw(NAMES), draw(st.sampled_from([None, None, "A", "a", "Ä.b"])),
        draw(st.sampled_from(["", "Does it."])), tool.parameters, open=tool.open, returns=tool.returns,
        action=draw(st.sampled_from([None, True, False])), schema=tool.schema if kept else None,
        returns_schema=returned if kept else None, others=tool.others,
    )  # fmt: skip


CATALOGS = st.builds(
    Catalog, st.lists(tools(), max_size=4).map(tuple), st.just("catalog"), st.booleans(),
    st.sampled_from([(), ("?",)]), st.booleans(),
)  # fmt: skip


@pytest.mark.parametrize("format", WRITABLE)
@examples(60)
@given(catalog=CATALOGS)
def test_what_a_format_can_say_comes_back_as_it_was(format: str, catalog: Catalog) -> None:
    data = json.loads(json.dumps(catalog_to_data(catalog, format)))
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
    assert {own for own, _ in renamed_tools(catalog, format)} <= {tool.full_name for tool in catalog.tools}
    kept = all(one.returns == two.returns for one, two in zip(again.tools, firsts.values(), strict=True))
    assert kept or any(each.startswith("what ") for each in lost)
