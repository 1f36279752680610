"""Values held against alternatives: what `check` says, and JSON Schema's own validator beside it."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import planner_eval as pe
from planner_eval.catalogs.json_schema.types import type_of
from planner_eval.catalogs.value_errors import ValueChecker
from tests.conftest import tables
from tests.memory import slowness

TABLES = tables(__file__)

TEXT, NUMBER, MAYBE = {"type": "string"}, {"type": "integer"}, {"type": "null"}


def fields(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


PERSON = fields("iban", "name", iban=TEXT, name=TEXT)
MARKED = {"oneOf": [fields("k", n, k={"const": mark}, **{n: TEXT}, more=NUMBER) for mark, n in ("Ax", "By")]}
SIDE = {"$ref": "#/$defs/sum"}
SUM = {"anyOf": [{"type": "number"}, fields("op", "l", "r", op={"enum": ["+", "-"]}, l=SIDE, r=SIDE)]}
EITHER = {**fields(id=NUMBER, mail=TEXT), "anyOf": [{"required": ["id"]}, {"required": ["mail"]}]}
PAID = {"anyOf": [PERSON, MAYBE]}


@pytest.mark.parametrize(("schema", "value", "said"), [
    *TABLES["a_value_fits_one_of_the_alternatives"],
    (PAID, None, []),
    (PAID, {"iban": "X", "name": "Y"}, []),
    (MARKED, {"k": "A", "x": "t"}, []),
    (MARKED, {"k": "A", "y": "t"}, ["no field 'y'; the fields are k, x, more",
     "to: the field 'x' is required [check.missing_argument]"]),
    (MARKED, {"k": "C", "x": "t"}, ["to.k: expected one of 'A', found string 'C' [check.enum]"]),
    (EITHER, {"id": 1}, []),
])  # fmt: skip
def test_a_value_fits_one_of_the_alternatives(schema: dict[str, Any], value: Any, said: list[str]) -> None:
    parameters = {"type": "object", "properties": {"to": schema}, "$defs": {"sum": SUM}}
    plan = json.dumps([{"name": "pay", "arguments": {"to": value}}])
    found = pe.check(plan, [{"name": "pay", "parameters": parameters}])
    assert len(found) == len(said)
    for each, one in zip(said, found, strict=True):
        assert each in f"{one.message} [{one.code}]"


def test_a_reference_may_be_any_of_the_alternatives_and_a_text_around_one_only_a_text() -> None:
    def codes(value: Any) -> list[str]:
        takes = {"properties": {"to": {"anyOf": [PERSON, NUMBER]}}}
        tools = [{"name": "get", "parameters": {}}, {"name": "pay", "parameters": takes}]
        calls = [{"name": "get", "label": "$var_1", "arguments": {}}]
        calls += [{"name": "pay", "label": "$var_2", "arguments": {"to": value}}]
        return [found.code for found in pe.check(json.dumps(calls), tools)]

    assert codes("$var_1.result$") == []
    assert codes({"iban": "$var_1.result$", "name": "a"}) == []
    assert codes({"iban": "$var_1.result$"}) == ["check.missing_argument"]


def test_alternatives_inside_alternatives_are_looked_at_once_however_deep() -> None:
    inner = {"$ref": "#/$defs/node"}
    node = {"anyOf": [fields(name, kid=inner, **{name: {}}) for name in "vwx"]}
    parameters = {"type": "object", "properties": {"tree": inner}, "$defs": {"node": node}}
    tools = [{"name": "grow", "parameters": parameters}]
    tree: Any = {"w": 1, "x": 1}
    for _ in range(180):
        tree = {"kid": tree, "x": 1}
    begun = time.process_time()
    found = pe.check(json.dumps([{"name": "grow", "arguments": {"tree": tree}}]), tools)
    assert len(found) == 1
    assert found[0].argument == "tree"
    assert time.process_time() - begun < 20 * slowness()


SCALARS = st.sampled_from([None, True, False, 0, 1, 2.5, "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)
SIMPLE = st.sampled_from(
    [{"type": kind} for kind in ("string", "integer", "number", "boolean", "null", "object")]
    + [{}, {"enum": ["a", 1]}, {"const": "b"}, {"type": "integer", "minimum": 1}]
    + [{"type": ["string", "null"]}]
)  # fmt: skip


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """An object that says whether it takes other fields; beside it, perhaps, alternatives for its own."""
    properties = draw(st.dictionaries(st.sampled_from("abc"), inner, min_size=1))
    some = st.lists(st.sampled_from(sorted(properties)), unique=True)
    made = {"type": "object", "properties": properties, "required": draw(some)}
    made["additionalProperties"] = draw(st.booleans())
    if draw(st.booleans()):
        part = st.fixed_dictionaries({"required": some})
        if not made["additionalProperties"]:
            part |= st.dictionaries(st.sampled_from(sorted(properties)), inner, min_size=1).map(
                lambda own: {"type": "object", "properties": own}
            )
        made["anyOf"] = draw(st.lists(part, min_size=1, max_size=3))
    return made


SCHEMAS = st.recursive(SIMPLE, lambda inner: st.one_of(
    _objects(inner), st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each}),
    inner.map(lambda items: {"type": "array", "items": items}),
), max_leaves=8)  # fmt: skip


@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=6))
def test_what_json_schema_refuses_is_found_and_no_more(schema: dict[str, Any], values: list[Any]) -> None:
    kind, oracle = type_of(schema), Draft202012Validator(schema)
    for value in values:
        found = ValueChecker().wrong(value, kind)
        assert (not found) == oracle.is_valid(value), found
