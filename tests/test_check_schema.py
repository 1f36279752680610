"""Plans against the whole of JSON Schema: each keyword, references, hostile patterns and values."""

import json
import pickle
import random
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import jsonschema
import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import planner_eval as pe
from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.check import check_plan
from planner_eval.catalogs.formats import as_catalog
from planner_eval.plan.model import Call, Diagnostic, Plan, Ref, Template
from tests.conftest import tabled, tables
from tests.inside import planeval
from tests.memory import slowness
from tests.random_schemas import Drawn

TABLES = tables(__file__)


def found(schema: Any, value: Any, **conventions: Any) -> tuple[Diagnostic, ...]:
    """What check says of one call whose argument v has a schema."""
    parameters = {"type": "object", "properties": {"v": schema}, "$defs": DEFS}
    tools = [
        {"name": "f", "description": "d", "parameters": parameters},
        {"name": "made", "description": "d"},
    ]
    calls = (Call("1", "made"), Call("2", "f", (("v", value),)))
    catalog = as_catalog({"format": "planeval-catalog/1", "tools": tools, **conventions})
    return tuple(one for one in check_plan(Plan(calls), catalog) if one.code != "check.unused_result")


DEFS = TABLES["DEFS"]


KEYWORDS: list[tuple[dict[str, Any], list[Any], list[Any]]] = TABLES["KEYWORDS"]
"""A schema, values that it allows, values that it does not: by the standard's text, not by any program."""


@pytest.mark.parametrize(("schema", "good", "bad"), KEYWORDS, ids=[json.dumps(k[0])[:50] for k in KEYWORDS])
def test_each_keyword(schema: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert found(schema, value) == (), value
    for value in bad:
        assert found(schema, value), value


SAID: list[tuple[Any, Any, str, str]] = TABLES["SAID"]


@pytest.mark.parametrize(("schema", "value", "code", "message"), SAID, ids=[each[3][:40] for each in SAID])
def test_what_is_said_of_a_value(schema: Any, value: Any, code: str, message: str) -> None:
    assert [(one.code, one.message) for one in found(schema, value)] == [(code, message)]


def checked(folder: Path, parameters: Any, arguments: str, *more: str) -> Any:
    """What the command says of a call of a tool with the parameters."""
    file = folder / "tools.json"
    file.write_text(json.dumps([{"name": "find", "description": "d", "parameters": parameters}]))
    plan = f'[{{"name": "find", "arguments": {arguments}}}]'
    return planeval("check", "-", "--catalog", file, *more, text=plan)


@pytest.mark.more
def test_verdicts_are_those_of_jsonschema() -> None:
    drawn = Drawn(random.Random(1))
    told = 0
    for _ in range(1000):
        top, value = drawn.pair()
        if _loops(top):
            continue
        want = jsonschema.Draft202012Validator(top).is_valid({"v": value})
        plan = Plan((Call("1", "f", (("v", value),)),))
        catalog = as_catalog([{"name": "f", "description": "d", "parameters": top}])
        assert (not check_plan(plan, catalog)) == want, json.dumps([top, value])
        told += not want
    assert 300 < told < 800
    assert min(drawn.used.values()) > 20
    assert len(drawn.used) == 33


def _loops(schema: Any) -> bool:
    """Whether a $ref leads to nothing but itself, which jsonschema has no end of."""
    validator = jsonschema.Draft202012Validator(schema)
    try:
        as_catalog([{"name": "f", "parameters": schema}])
        for value in (1, "a", [1], {"a": 1}):
            validator.is_valid({"v": value})
    except (RecursionError, CatalogError):
        return True
    return False


AB, LOOSE = (
    [{"required": ["a"]}, {"required": ["b"]}],
    {"properties": {"b": {}}, "additionalProperties": True},
)
OPEN: list[tuple[Any, Any, bool]] = [
    ({"type": "string", "pattern": "^a", "minLength": 3}, Ref(0), True),
    ({"type": "string", "pattern": "^a"}, Template(("b ", Ref(0))), True),
    ({"type": "integer", "multipleOf": 2}, Template(("b ", Ref(0))), False),
    ({"uniqueItems": True}, [Ref(0), Ref(0, ("id",)), "a"], True),
    ({"uniqueItems": True}, [Ref(0), "a", "a"], False), ({"uniqueItems": True}, [Ref(0), Ref(0)], False),
    ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, Ref(0), True),
    ({"oneOf": [{"required": ["a"]}, LOOSE]}, {"a": Ref(0)}, True), ({"oneOf": AB}, {"c": Ref(0)}, False),
    ({"not": {"required": ["a"]}}, {"a": Ref(0)}, True), ({"not": {"type": "string"}}, Ref(0), True),
    ({"if": {"properties": {"k": {"const": 1}}}, "then": AB[0], "else": AB[1]}, {"k": Ref(0)}, True),
    ({"if": {"required": ["z"]}, "else": {"required": ["y"]}}, {"k": Ref(0)}, False),
    ({"contains": {"const": 3}}, [1, Ref(0)], True),
    ({"contains": {"const": 3}, "maxContains": 1}, [3, Ref(0)], True),
    ({"contains": {"const": 3}, "maxContains": 1}, [3, 3, Ref(0)], False),
    ({"const": {"a": [1, 2]}}, {"a": [Ref(0), 2]}, True),
    ({"const": {"a": [1, 2]}}, {"a": [Ref(0), 3]}, False),
    ({"properties": {"a": False}, "additionalProperties": True}, {"a": Ref(0)}, False),
    ({"minItems": 2, "uniqueItems": True}, [Ref(0)], False),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "good"), OPEN, ids=[json.dumps(each[0])[:50] for each in OPEN])
def test_a_reference_stands_for_any_value(schema: Any, value: Any, good: bool) -> None:
    assert (found(schema, value) == ()) == good


@pytest.mark.more
def test_a_finding_holds_for_all_that_a_reference_may_be() -> None:
    """Where any of many values in a reference's place fits, nothing is found."""
    drawn = Drawn(random.Random(3))
    decided = 0
    for _ in range(1500):
        top, value = drawn.pair()
        held, at = drawn.hidden(value)
        if at is None or _loops(top):
            continue
        plan = Plan((Call("0", "g"), Call("1", "f", (("v", held),))))
        tools = [{"name": "f", "description": "d", "parameters": top}, {"name": "g", "description": "d"}]
        found = [one for one in check_plan(plan, as_catalog(tools)) if one.call == 1]
        said = [one.message for one in found if one.code != "check.unused_result"]
        validator = jsonschema.Draft202012Validator(top)
        fits = any(validator.is_valid({"v": drawn.instead(held, other)}) for other in drawn.many)
        assert not (fits and said), json.dumps([top, value, said], default=str)
        decided += bool(said)
    assert decided > 200


@pytest.mark.parametrize(("pattern", "text", "codes"), [
    ("^(a+)+$", "a" * 50_000 + "b", ["check.pattern"]), ("^(a|a)*$", "a" * 50_000 + "b", ["check.pattern"]),
    ("^(?=(a+)+$)a", "a" * 50_000 + "b", ["check.undecided"]),
    (r"(\w+)\1{20}x", "a" * 50_000, ["check.undecided"]),
    ("(?=x)" + "a?" * 40 + "a" * 40, "a" * 39, ["check.undecided"]),
])  # fmt: skip
def test_patterns_come_to_an_end(pattern: str, text: str, codes: list[str]) -> None:
    before = time.process_time()
    assert [one.code for one in found({"type": "string", "pattern": pattern}, text)] == codes
    by_name = {"type": "object", "patternProperties": {pattern: {}}, "additionalProperties": False}
    assert found(by_name, {text: 1}) or "check.undecided" in codes
    assert time.process_time() - before < 5 * slowness()


@tabled("schema, value, codes")
def test_patterns_of_repeats_decide(schema: Any, value: Any, codes: list[str], tmp_path: Path) -> None:
    """Also of fields that no part describes, and inside conditions."""
    parameters = {"type": "object", "properties": {"v": schema}}
    done = checked(tmp_path, parameters, json.dumps({"v": value}), "--format", "json")
    assert [one["code"] for one in json.loads(done.stdout)] == codes, done.stdout
    assert done.returncode == bool(codes)


def _own_alternatives(key: str, count: int, depth: int) -> tuple[dict[str, Any], Any]:
    """Parameters whose alternatives hold themselves, told apart by a field, and a value of none of them."""
    inner = {"$ref": "#/$defs/n"}
    fields = [{"n": inner, "k": {"const": at}} for at in range(count)]
    kinds = [{"type": "object", "required": ["k"], "properties": each} for each in fields]
    value: Any = 5
    for _ in range(depth):
        value = {"n": value, "k": "none"}
    return {"properties": {"v": inner}, "$defs": {"n": {key: kinds}}}, {"v": value}


def test_what_is_said_of_alternatives_inside_alternatives_does_not_multiply() -> None:
    """Each level quoted three of the next: of twelve levels 20 MB, of sixteen more than the memory."""
    parameters, arguments = _own_alternatives("anyOf", 5, 12)
    (found,) = pe.check([{"name": "f", "arguments": arguments}], [{"name": "f", "parameters": parameters}])
    assert found.message.startswith("v: fits none of 5 alternatives: n: fits none of 5 alternatives: ")
    assert len(found.message) < 1000


@pytest.mark.more
def test_many_rows_of_alternatives_are_not_too_many() -> None:
    kind = {"oneOf": [{"type": "object", "required": [name]} for name in "abc"]}
    parameters = {"properties": {"v": {"type": "array", "items": kind}}}
    tools = [{"name": "f", "parameters": parameters}]
    rows = [{"abc"[at % 3]: at} for at in range(8_000)]
    for more, said in (([], []), ([{"a": 1, "b": 1}], ["check.not_allowed"])):
        found = pe.check([{"name": "f", "arguments": {"v": rows + more}}], tools)
        assert [one.code for one in found] == said


def test_a_catalog_goes_to_other_processes() -> None:
    schema = {"type": "object", "properties": {"v": {"type": "string", "pattern": "^a"}}}
    catalog = as_catalog([{"name": "f", "parameters": schema}])
    plan = Plan((Call("1", "f", (("v", "b"),)),))
    assert check_plan(plan, catalog)
    assert check_plan(plan, pickle.loads(pickle.dumps(catalog))) == check_plan(plan, catalog)


def test_texts_and_placeholders_of_a_benchmark() -> None:
    schema = {"type": "integer", "multipleOf": 5}
    assert found(schema, "10", text_values=True) == ()
    assert found(schema, "11", text_values=True)[0].code == "check.out_of_range"
    assert found(schema, "10")[0].code == "check.wrong_type"
    assert found(schema, "$$$", holes=["$$$"]) == ()


class File(BaseModel):  # not the word for a text
    name: str
    size: int = 0


class Span(TypedDict):
    start: str


@dataclass
class Point:
    x: int


class Board(Enum):
    HALF = "half"
    FULL = "full"


def test_functions_are_held_to_their_annotations() -> None:
    def store(
        files: list[File],
        by: dict[str, File] | None = None,
        span: Span | None = None,
        pair: tuple[int, str] = (1, ""),
        even: Annotated[int, Field(ge=2, multiple_of=2)] = 2,
        board: Board = Board.HALF,
        at: Point | None = None,
        kind: Literal["a", "b"] = "a",
        first: Optional[File] = None,  # noqa: UP045 - as many write it
        what: object = None,
        tags: set[str] | None = None,
        more: list[frozenset[int]] | None = None,
    ) -> list[File]:
        """Store files."""
        return files

    def said(**arguments: Any) -> list[str]:
        call = [{"name": "store", "arguments": {"files": [{"name": "a"}], **arguments}}]
        return [one.message for one in pe.check(json.dumps(call), store)]

    assert said() == said(by={"k": {"name": "b"}}, pair=[1, "a"], even=4, board="half", at={"x": 1}) == []
    assert said(what=3, first={"name": "c"}, span={"start": "now"}, kind="b", tags=["a", "b"]) == []
    wrong: list[tuple[dict[str, Any], str]] = TABLES["functions_are_held_to_their_annotations"]
    for arguments, message in wrong:
        assert said(**arguments) == [message]


def test_alternatives_of_all_parameters_are_held(tmp_path: Path) -> None:
    a, b = (
        {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
        for name, kind in (("a", "integer"), ("b", "string"))
    )
    for wrong in ("{}", '{"c": 1}', '{"a": "x"}'):
        assert checked(tmp_path, {"anyOf": [a, b]}, wrong).returncode == 1, wrong
    for right in ('{"a": 1}', '{"b": "x"}'):
        assert checked(tmp_path, {"anyOf": [a, b]}, right).returncode == 0, right
