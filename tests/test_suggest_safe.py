"""What suggested mends must not do: what the patch takes is safe, and what is doubtful stays out of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type
from planner_eval.curation.suggest.suggest import PlanSuggestions
from planner_eval.plan.model import Call, Plan
from tests.conftest import examples, tabled, tables

TABLES = tables(__file__)

LEAST = 0.6


def offered(name: str, needed: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"properties": properties, "required": list(needed)}}


def asked(
    tools: Any, name: str, given: dict[str, Any], query: str | None = None, **more: Any
) -> PlanSuggestions:
    return pe.suggest(json.dumps([{"name": name, "arguments": given}]), tools, query=query, **more)


def likely(found: PlanSuggestions) -> list[Any]:
    """What the mends that a patch may take give the arguments, or which tool they call."""
    kept = [one for each in found.faults for one in each.suggestions if one.score >= LEAST]
    return [one.get("value", one.get("name")) for mend in kept for one in mend.operations]


@pytest.mark.parametrize("text", [".", "..", "...", "[]", "[", "$.$", "${.}", " . ", "", "{{.}}", "<.>"])
def test_a_text_of_marks_alone_names_no_output(text: str) -> None:
    for kind in ("string", "integer", "array"):
        found = asked([offered("ls", path={"type": kind})], "ls", {"path": text})
        assert [one.fault.code for one in found.faults] == ["check.wrong_type"] * (kind != "string")


@examples(60)
@given(st.text(alphabet=".[]${}<>#'/-_ 1a", max_size=8), st.sampled_from(["string", "integer"]))
def test_no_text_of_marks_ends_the_run(text: str, kind: str) -> None:
    calls = (Call("a", "ls", (("path", text),)), Call("b", "ls", (("path", [text]),)))
    found = pe.suggest(Plan(calls), [offered("ls", path={"type": kind})], query=text or None)
    assert len(found.left) <= len(found.faults)


@pytest.mark.parametrize("pair", TABLES["OTHERS"])
def test_a_tool_whose_name_says_another_thing_is_not_called_instead(pair: str) -> None:
    called, there = pair.split()
    for names in ((), ("id",), ("id", "reason")):
        given = dict.fromkeys(names, "x")
        tools = [offered(there, names, **{name: {"type": "string"} for name in names})]
        found = asked(tools, called, given)
        assert (found.operations, likely(found)) == ((), [])


@tabled("names")
def test_a_name_misspelt_or_written_otherwise_is_mended(names: str) -> None:
    called, there = names.split()
    found = asked([offered(there, ("id",), id={"type": "string"})], called, {"id": "x"})
    assert [call.name for call in found.mended.calls] == [there]
    assert found.left == ()


@tabled("given, there, renamed")
def test_an_argument_is_renamed_where_its_name_says_the_same(given: str, there: str, renamed: bool) -> None:
    found = asked([offered("f", (there,), **{there: {"type": "string"}})], "f", {given: "x"})
    assert dict(found.mended.calls[0].arguments) == {there if renamed else given: "x"}


@tabled("allowed, given, meant")
def test_numbers_are_compared_as_numbers(allowed: list[Any], given: Any, meant: Any) -> None:
    found = asked([offered("f", ("x",), x={"enum": allowed})], "f", {"x": given})
    assert dict(found.mended.calls[0].arguments)["x"] == (given if meant is None else meant)
    assert all(value == meant for value in likely(found))


@tabled("given, allowed")
def test_what_is_like_an_allowed_value_by_letters_alone_is_not_taken(given: str, allowed: str) -> None:
    found = asked([offered("f", ("x",), x={"type": "string", "enum": [allowed, "zzz"]})], "f", {"x": given})
    assert found.operations == ()
    assert likely(found) == []


@tabled("given, allowed")
def test_an_allowed_value_misspelt_or_written_otherwise_is_taken(given: str, allowed: str) -> None:
    kind = {"type": "string", "enum": [allowed, "zzz"]}
    found = asked([offered("f", ("class",), **{"class": kind})], "f", {"class": given})
    assert dict(found.mended.calls[0].arguments) == {"class": allowed}


@tabled("given, kind")
def test_what_may_be_several_things_is_not_taken_as_one(given: Any, kind: str) -> None:
    made = {"type": "string", "format": "date"} if kind == "date" else {"type": kind}
    found = asked([offered("f", ("x",), x=made | {"items": {"type": "string"}})], "f", {"x": given})
    assert found.operations == ()
    assert likely(found) == [] or found.faults[0].tied


DAY, SEAT = {"type": "string", "format": "date"}, {"type": "string", "enum": ["economy", "first"]}


def missing(query: str, name: str, kind: Any, beside: Any = None) -> list[Any]:
    """What the patch takes from a question for an argument; others beside it are free."""
    found = asked([offered("f", (name,), **{**(beside or {}), name: kind})], "f", {}, query)
    return [one.get("value") for one in found.operations]


@tabled("query, name, kind")
def test_what_a_question_does_not_mean_is_not_taken(query: str, name: str, kind: Any) -> None:
    assert missing(query, name, kind) == []


@tabled("query, name, kind, meant")
def test_what_a_question_says_is_taken(query: str, name: str, kind: Any, meant: Any) -> None:
    assert missing(query, name, kind) == [meant]


def test_a_day_of_return_is_no_day_of_departure() -> None:
    assert missing("I return on 2026-05-08", "date", DAY, {"return_date": DAY}) == []
    assert missing("I return on 2026-05-08", "return_date", DAY, {"date": DAY}) == ["2026-05-08"]


def of_app(app: str, name: str, needed: tuple[str, ...], *optional: str) -> Tool:
    given = tuple(Parameter(one, Type(("string",)), required=one in needed) for one in (*needed, *optional))
    return Tool(name, parameters=given, app=app)


CINEMA = Catalog(
    (
        of_app("Media", "findmovies", ("genre",)), of_app("Movies", "findmovies", ("location",), "genre"),
        of_app("Hotels", "search", ("where_to",)), of_app("Hotels", "book", ("where_to",), "adults"),
    )
)  # fmt: skip


def test_an_app_that_takes_what_is_given_is_not_exchanged_for_want_of_a_value() -> None:
    text = "Movies: [found = findmovies(#genre='drama')]"
    asked = pe.suggest(text, CINEMA, query="Find me a drama in San Jose.")
    assert dict(asked.mended.calls[0].arguments) == {"genre": "drama", "location": "San Jose"}
    assert asked.mended.calls[0].app == "Movies"
    assert pe.suggest(text, CINEMA).operations == ()
    assert pe.suggest("Movies: [findmovies(#genre='drama', #starring='x')]", CINEMA).operations == ()


def test_what_is_misnamed_is_renamed_rather_than_given_again() -> None:
    found = pe.suggest("Hotels: [search(#where_to='Rome')]\nHotels: [book(#city='Rome')]", CINEMA)
    assert dict(found.mended.calls[1].arguments) == {"where_to": "Rome"}
    assert found.left == ()
    other = pe.suggest("Hotels: [search(#where_to='Rome')]\nHotels: [book(#rating='5')]", CINEMA)
    assert other.operations == ()
