"""Grammars of a catalog's plans: what one draws is a plan of the catalog, and what is none is refused."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import LarkError

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.decoding.grammar import LARGEST, TARGETS, Grammar
from planner_eval.decoding.wanted import DIALECTS
from planner_eval.dialects import get
from tests.grammar_walk import WALKS, drawn
from tests.inside import planeval

JSON = ("plan", "json", "nestful")
PAIRS = [(name, to) for name in DIALECTS for to in TARGETS if name in JSON or to != "json-schema"]
ENUM = ["hotel", "inn", 'it\'s "x"', "$5"]
OWN = [
    {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "stars": {"type": "integer", "minimum": 1, "maximum": 5},
                "kind": {"enum": ENUM},
                "day": {"type": "string", "format": "date"},
                "at": {"type": "string", "format": "time"},
                "when": {"type": "string", "format": "date-time"},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
                "any": {},
                "opts": {
                    "type": "object",
                    "properties": {"a": {"type": "number"}, "b": {"type": ["boolean", "null"]}},
                    "required": ["b"],
                },
                "free": {"type": "object"},
                "code": {"type": "string", "minLength": 2, "maxLength": 4},
                "n": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "array"}]},
            },
            "required": ["city", "stars"],
        },
        "returns": {
            "type": "object",
            "properties": {"hotel": {"type": "string"}, "price": {"type": "number"}},
        },
    },
    {
        "name": "book",
        "parameters": {
            "type": "object",
            "properties": {"hotel": {"type": "string"}, "kind": {"enum": ENUM}},
            "required": ["hotel", "kind"],
        },
        "returns": {"type": "object", "properties": {"id": {"type": "string"}}},
    },
    {"name": "now", "parameters": {}},
    {
        "name": "pay",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "array"}},
        },
    },
]
ODD = [
    *(
        'a"b',
        "a\\b",
        "a\nb",
        ".*+?[](){}|^$/",
        "-",
        "#x",
        "é",
        "漢字",
        "a b",
        "class",
        "print",
        "None",
        "True",
    ),
    *(
        "\x7f",
        "\u2028",
        "it's",
        "$ref",
        "a.b",
        "App.tool",
        '\\"',
        "/",
        "//x",
        "{",
        "0",
        "_",
        "var_result",
        "😀",
    ),
]
"""Names that mean something in a grammar or a notation, or cannot be written in one."""


def _odd_fields() -> dict[str, Any]:
    return {
        name: {"enum": [name, at, None, f"{name}x", 1.5, True]} if at % 3 else {"type": "string"}
        for at, name in enumerate(ODD)
    }


def _object(fields: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


CATALOGS: dict[str, Any] = {
    "own": OWN,
    "rates": "data/catalogs/rates.json",
    "odd": [
        *(
            {"name": name, "parameters": _object(_odd_fields()), "returns": _object(_odd_fields())}
            for name in ODD
        ),
        {"name": "deep", "parameters": _object({"o": _object(_odd_fields()), "p": _object({"$ref": {}})})},
    ],
    "variants": [
        {"name": "f", "parameters": _object({"a": {"type": "integer"}}, "a")},
        {"name": "f", "parameters": _object({"a": {"type": "string"}, "b": {"type": "number"}}, "b")},
        {"name": "g", "parameters": {"type": "object"}},
    ],
    "recursive": [
        {
            "name": "walk",
            "parameters": {
                **_object({"tree": {"$ref": "#/$defs/tree"}}),
                "$defs": {"tree": _object({"next": {"$ref": "#/$defs/tree"}, "size": {"type": "integer"}})},
            },
        },
        {
            "name": "filter",
            "parameters": {
                **_object({"by": {"$ref": "#/$defs/all"}}, "by"),
                "$defs": {
                    "all": {"anyOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/list"}, {"type": "null"}]},
                    "one": _object({"field": {"enum": ["a", "b"]}, "not": {"$ref": "#/$defs/all"}}, "field"),
                    "list": {"type": "array", "items": {"$ref": "#/$defs/all"}, "maxItems": 3},
                },
            },
        },
        {
            "name": "lay",
            "parameters": {
                **_object({"out": {"$ref": "#/definitions/lay"}, "rest": {"$ref": "#/definitions/endless"}}),
                "definitions": {
                    "lay": {"type": "object", "additionalProperties": {"$ref": "#/definitions/lay"}},
                    "endless": _object({"more": {"$ref": "#/definitions/endless"}}, "more"),
                },
            },
        },
    ],
    "typed": [
        {
            "name": "count",
            "parameters": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        {
            "name": "group",
            "parameters": _object(
                {
                    "sizes": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                    "kinds": {"type": "object", "additionalProperties": {"enum": ["x", "y"]}},
                    "lists": {
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"type": "boolean"}},
                    },
                    "deep": {
                        "type": "object",
                        "additionalProperties": {"type": "object", "additionalProperties": {"type": "null"}},
                    },
                    "some": {**_object({"a": {"type": "string"}}, "a"), "additionalProperties": {}},
                },
                "sizes",
            ),
        },
    ],
    "listed": [
        {
            "name": "set",
            "parameters": _object(
                {
                    "to": {"enum": [{"x": [1, "y"]}, {"x": [2]}, {}, [], ["a", "b"], "a", 5, None]},
                    "at": {"const": {"where": "here"}},
                    "on": {"anyOf": [{"enum": [["all"]]}, {"type": "integer"}]},
                }
            ),
        }
    ],
    "mixed": [
        {
            "name": "mix",
            "parameters": _object(
                {
                    "a": {
                        "anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0}, {"enum": [1.5, "x"]}]
                    },
                    "b": {"anyOf": [_object({"x": {"type": "integer"}}, "x"), _object({"y": {}}, "y")]},
                    "c": {
                        "anyOf": [{"type": "array", "items": {"type": kind}} for kind in ("string", "null")]
                    },
                    "d": {"type": "array", "items": {"enum": [1, 12, 123]}, "minItems": 2},
                    "e": {"type": "string", "maxLength": 1000, "minLength": 300},
                    "f": {"type": "object", "additionalProperties": False},
                    "g": {"type": "array", "maxItems": 0},
                    "h": {"type": "string", "anyOf": [{"pattern": "x"}, {"enum": ["y"]}]},
                }
            ),
        }
    ],
}


@cache
def made(catalog: str, dialect: str, to: str) -> tuple[Grammar, Any]:
    grammar = pe.grammar(CATALOGS[catalog], dialect=dialect, to=to, max_calls=4)
    return grammar, WALKS[to](grammar.text)


@cache
def tools(catalog: str) -> pe.Catalog:
    return pe.read_catalog(CATALOGS[catalog])


# ---------------------------------------------------------------- what is drawn
def hold(catalog: str, dialect: str, to: str, count: int) -> None:
    """Draw plans from a grammar: each is read, and breaks nothing but what the grammar says."""
    grammar, walk = made(catalog, dialect, to)
    at = random.Random(f"{catalog} {dialect} {to}")
    calls = 0
    for number in range(count):
        text = walk.draw(at)
        plan = pe.parse(text, dialect=dialect)
        calls += len(plan.calls)
        for found in (*plan.diagnostics, *pe.check(plan, tools(catalog))):
            assert grammar.may_break(found.code) or found.code == "plan.no_call", (found, text)
        if number % 10 == 0:
            assert walk.takes(text), text
    assert calls > count / 3


@pytest.mark.more
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_plans_of_a_grammar_are_plans_of_the_catalog(dialect: str, to: str) -> None:
    hold("own", dialect, to, 150)


@pytest.mark.more
@pytest.mark.parametrize("catalog", [name for name in CATALOGS if name != "own"])
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_plans_of_other_catalogs_too(catalog: str, dialect: str, to: str) -> None:
    hold(catalog, dialect, to, 20)


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_ten_thousand_plans_of_a_grammar(dialect: str, to: str) -> None:
    hold("own", dialect, to, 10_000)


# ---------------------------------------------------------------- what is refused
def _json_mutants(text: str, dialect: str) -> Iterator[tuple[str, str]]:
    """A plan with one mistake, of each kind for which it has a place."""

    def mutant(change: Callable[[list[Any]], Any]) -> str:
        data = json.loads(text)
        change(data["calls"] if isinstance(data, dict) else data)
        return json.dumps(data, ensure_ascii=False)

    data = json.loads(text)
    calls = data["calls"] if isinstance(data, dict) else data
    if not calls:
        return
    yield "unknown tool", mutant(lambda calls: calls[0].update(name="serch"))
    yield "no tool", mutant(lambda calls: calls[0].pop("name"))
    yield "too many calls", mutant(lambda calls: calls.extend(calls[-1:] * 4))
    yield "unknown argument", mutant(lambda calls: calls[-1]["arguments"].update(citty="Rome"))
    later = {"nestful": "$var_3$", "plan": {"$ref": "c3"}}.get(dialect)
    own = {"nestful": f"$var_{len(calls)}$", "plan": {"$ref": f"c{len(calls)}"}}.get(dialect)
    for at, call in enumerate(calls):
        given = call["arguments"]
        for name in given:
            if at < 2 and later is not None:
                yield (
                    "later call",
                    mutant(lambda c, at=at, name=name: c[at]["arguments"].update({name: later})),
                )
            if at == len(calls) - 1 and own is not None:
                yield "own call", mutant(lambda c, at=at, name=name: c[at]["arguments"].update({name: own}))
        if "kind" in given:
            yield "not listed", mutant(lambda c, at=at: c[at]["arguments"].update(kind="tent"))
        if "stars" in given:
            yield "wrong type", mutant(lambda c, at=at: c[at]["arguments"].update(stars=True))
        for name in {"search": ("city", "stars"), "book": ("hotel", "kind")}.get(call["name"], ()):
            yield "missing", mutant(lambda c, at=at, name=name: c[at]["arguments"].pop(name))


def _line_mutants(text: str, dialect: str) -> Iterator[tuple[str, str]]:
    """The same for lines and Python, by their text."""
    mark = "#" if dialect == "appbench" else ""
    changes = {
        "unknown tool": (r"(?<![\w'\"#])(book|search)\(", r"\1x("),
        "unknown argument": (rf"{mark}(hotel|city|stars)=", rf"{mark}\1s="),
        "missing": (rf"{mark}stars=[1-5](, |(?=\)))", ""),
        "missing too": (rf", {mark}kind=(['\"])(hotel|inn)\1(?=\))", ""),
        "not listed": (rf"{mark}kind=(['\"])(hotel|inn)\1", rf"{mark}kind=\1tent\1"),
        "wrong type": (rf"{mark}stars=[1-5]", f"{mark}stars=True"),
        "no output": (rf"{mark}hotel=(price|id)(?=[,)])", f"{mark}hotel=prise"),
    }
    for kind, (pattern, into) in changes.items():
        changed, count = re.subn(pattern, into, text, count=1)
        if count and not (kind == "missing too" and not re.search(r"book\(", text)):
            yield kind, changed


WRONG = {
    True: {
        "unknown tool",
        "no tool",
        "too many calls",
        "unknown argument",
        "not listed",
        "wrong type",
        "missing",
    },
    False: {"unknown tool", "unknown argument", "missing", "not listed", "wrong type"},
}


def refuse(dialect: str, to: str, count: int) -> None:
    _, walk = made("own", dialect, to)
    at = random.Random(f"mutants {dialect} {to}")
    is_json = dialect in JSON
    seen: set[str] = set()
    for _ in range(count):
        text = walk.draw(at)
        for kind, mutant in (_json_mutants if is_json else _line_mutants)(text, dialect):
            if kind == "missing too":
                continue
            seen.add(kind)
            assert not walk.takes(mutant), (kind, mutant)
    assert seen >= WRONG[is_json] | ({"later call", "own call"} if dialect in ("plan", "nestful") else set())


@pytest.mark.more
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_plans_with_a_mistake_are_refused(dialect: str, to: str) -> None:
    refuse(dialect, to, 30)


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_ten_thousand_plans_with_mistakes_are_refused(dialect: str, to: str) -> None:
    refuse(dialect, to, 2_500)  # each has several


# ---------------------------------------------------------------- what is taken
def _tool(name: str, **kinds: str) -> dict[str, Any]:
    return {"name": name, "parameters": _object({key: {"type": kind} for key, kind in kinds.items()}, *kinds)}


EXAMPLES = [
    _tool("get_weather", city="string"),
    _tool("roll", sides="integer"),
    _tool("get_rate", cur="string"),
    _tool("convert", rate="number"),
    _tool("add", arg_0="number", arg_1="number"),
    _tool("multiply", arg_0="number", arg_1="number"),
]


@pytest.mark.parametrize("to", ["lark", "gbnf"])
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "appbench"])
def test_the_example_that_prompts_show_is_taken(dialect: str, to: str) -> None:
    grammar = pe.grammar(EXAMPLES, dialect=dialect, to=to, max_calls=2)
    assert WALKS[to](grammar.text).takes(get(dialect).example)


@pytest.mark.parametrize("to", ["lark", "gbnf"])
def test_the_example_of_appbench_is_taken(to: str) -> None:
    hotels = {
        "format": "planeval-catalog/1",
        "text_values": True,
        "tools": [
            {
                "app": "Hotels",
                **_tool("searchhotel", city="string"),
                "returns": _object({"hotel_name": {"type": "string"}, "price": {"type": "number"}}),
            },
            {"app": "Hotels", **_tool("reservehotel", hotel="string", nights="integer")},
        ],
    }
    walk = WALKS[to](pe.grammar(hotels, dialect="appbench", to=to).text)
    assert walk.takes(get("appbench").example)
    assert not walk.takes(get("appbench").example.replace("'2'", "'two'"))


def test_appbench_lark_grammars_are_for_lalr_too(tmp_path: Path) -> None:
    """Of tools with results of the same names one token ahead does not tell whose they are."""
    returns = _object({name: {"type": "string"} for name in ("city", "price", "rating")})
    tools = [
        {"app": app, **_tool(name, city="string"), "returns": returns}
        for app, name in (("Hotels", "find"), ("Hotels", "book"), (None, "rent"), (None, "buy"))
    ]
    tools[1]["returns"] = _object({"price": {"type": "string"}, "city": {"type": "string"}})
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"format": "planeval-catalog/1", "text_values": True, "tools": tools}))
    done = planeval("catalog", "grammar", str(file), "--dialect", "appbench", "--to", "lark")
    reader = Lark(done.stdout, parser="lalr")
    right = (
        "Hotels: [find(#city='x')]\nHotels: [price, city = book(#city=city)]\nrating = buy(#city='y')",
        "rent(#city='x')",
        "city, rating = rent(#city='x')",
    )
    for text in right:
        assert reader.parse(text)
    for text in (
        "Hotels: [rating = book(#city='x')]",
        "rating, city = rent(#city='x')",
        "city rent(#city='x')",
    ):
        with pytest.raises(LarkError):
            reader.parse(text)


@pytest.mark.parametrize("to", ["lark", "gbnf"])
@pytest.mark.parametrize(("texts", "quote"), [(True, "'"), (False, "")])
def test_appbench_has_booleans_in_both_spellings(tmp_path: Path, to: str, texts: bool, quote: str) -> None:
    file = tmp_path / "tools.json"
    tools = [_tool("find", direct="boolean")]
    file.write_text(json.dumps({"format": "planeval-catalog/1", "text_values": texts, "tools": tools}))
    done = planeval("catalog", "grammar", str(file), "--dialect", "appbench", "--to", to)
    walk = WALKS[to](done.stdout)
    for word in ("True", "False", "true", "false"):
        line = f"find(#direct={quote}{word}{quote})"
        assert walk.takes(line), line
        checked = planeval("check", "-", "--catalog", str(file), "--from", "appbench", text=line)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert not walk.takes(f"find(#direct={quote}maybe{quote})")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_bracket_of_a_listed_value_is_a_token_of_its_own(dialect: str) -> None:
    """As that of a reference or an object there: engines do not go back behind a token's begin."""
    _, walk = made("listed", dialect, "lark")
    inner = [t for name, t in walk.patterns.items() if "RESULT" not in name and "planeval" not in t]
    options = [one for text in inner for one in re.split(r"(?<!\\)\|", text)]
    assert not [one for one in options if re.match(r"[(?:]*\\[\[{].", one)]


def test_dates_are_those_that_there_are() -> None:
    from datetime import date, timedelta

    from planner_eval.decoding.texts import date as token
    from planner_eval.decoding.written import regex

    known = re.compile(regex(token()))
    day = date(1896, 1, 1)
    real = set()
    while day.year < 1905:
        real.add(day.isoformat())
        day += timedelta(1)
    tried = {f"{y}-{m:02}-{d:02}" for y in range(1896, 1905) for m in range(14) for d in range(33)}
    assert {one for one in tried if known.fullmatch(one)} == real
    at = random.Random(1)
    assert all(date.fromisoformat(drawn(known.pattern, at)) for _ in range(2000))


# ---------------------------------------------------------------- size
def many(count: int) -> list[dict[str, Any]]:
    fields = {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"enum": ["x", "y"]}}
    return [{"name": f"tool_{at}", "parameters": _object(fields, "a")} for at in range(count)]


@pytest.mark.more
@pytest.mark.parametrize("to", TARGETS)
def test_a_large_catalog_gets_references_to_any_call_and_a_larger_one_is_refused(
    to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner_eval.decoding.grammar.LARGEST", 120_000)
    assert not pe.grammar(many(30), dialect="nestful", to=to, max_calls=4).may_break("reference.forward")
    large = pe.grammar(many(120), dialect="nestful", to=to)
    assert any("later call" in one.text for one in large.looser)
    assert large.may_break("reference.forward")
    walk, at = WALKS[to](large.text), random.Random(2)
    for text in (walk.draw(at), walk.draw(at)):
        assert walk.takes(text)
        pe.parse(text, dialect="nestful")
    with pytest.raises(InputError, match=r"2,000 tools .* leave tools out"):
        pe.grammar(many(2_000), dialect="nestful", to=to)


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_ten_thousand_tools_give_a_grammar_or_are_refused(dialect: str, to: str) -> None:
    if to == "json-schema":
        with pytest.raises(InputError, match="leave tools out, or allow fewer calls"):
            pe.grammar(many(10_000), dialect=dialect, to=to)
    elif dialect == "nestful":  # which has a rule of each tool for each kind of label
        with pytest.raises(InputError, match="leave tools out, or allow fewer calls"):
            pe.grammar(many(10_000), dialect=dialect, to=to)
        assert len(pe.grammar(many(500), dialect=dialect, to=to).text) < 2 * LARGEST
    else:
        assert len(pe.grammar(many(10_000), dialect=dialect, to=to).text) < 2 * LARGEST


def test_a_large_enum_is_held() -> None:
    fields = {"of": {"enum": [f"v{at}" for at in range(2_000)]}}
    listed = [{"name": "pick", "parameters": _object(fields, "of")}]
    at = random.Random(4)
    for dialect, to in PAIRS:
        walk = WALKS[to](pe.grammar(listed, dialect=dialect, to=to, max_calls=1).text)
        text = next(text for text in iter(lambda: walk.draw(at), "") if "pick" in text)  # noqa: B023
        assert walk.takes(text)
        assert not walk.takes(re.sub(r"v\d+", "v2000", text))


# ---------------------------------------------------------------- what OpenAI takes
def test_a_schema_of_plain_tools_is_within_the_strict_part() -> None:
    assert pe.grammar(EXAMPLES, dialect="json").strict
    assert "strict mode" not in pe.grammar(EXAMPLES, dialect="json").text
    optional = pe.grammar(many(1), dialect="json")
    assert not optional.strict
    assert "Not for OpenAI's strict mode: it has arguments that may be left out." in optional.text


# ---------------------------------------------------------------- the command
def test_the_command_writes_a_grammar_and_says_what_it_does_not_hold(tmp_path: Path) -> None:
    file = tmp_path / "rates.gbnf"
    argv = ("catalog", "grammar", "data/catalogs/rates.json", "--dialect", "plan", "--to", "gbnf")
    done = planeval(*argv, "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        "looser than the catalog: a reference may name an output that its call does not have" in done.stderr
    )
    assert file.read_text(encoding="utf-8") == planeval(*argv).stdout
    assert "# Looser than the catalog: whether a result is used is not held." in file.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--dialect", "appbench", "--to", "json-schema"), "a grammar can, as lark or gbnf"),
        (
            ("--dialect", "hermes", "--to", "lark"),
            "there are those of plan, json, nestful, pythonic, appbench",
        ),
        (("--dialect", "plan", "--to", "lark", "--max-calls", "0"), "--max-calls"),
        (("--dialect", "plan", "--to", "peg"), "'peg'"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_written(argv: tuple[str, ...], said: str) -> None:
    done = planeval("catalog", "grammar", "data/catalogs/rates.json", *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_catalog_without_a_tool_that_the_notation_can_call_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "a b", "description": "x"}]), encoding="utf-8")
    done = planeval("catalog", "grammar", str(file), "--dialect", "pythonic", "--to", "lark")
    assert done.returncode == 2
    assert "has no tool that pythonic can call" in done.stderr
    file.write_text(json.dumps([{"name": "a b", "description": "x"}, {"name": "ab", "description": "x"}]))
    done = planeval("catalog", "grammar", str(file), "--dialect", "pythonic", "--to", "lark")
    assert (done.returncode, "a b" in done.stdout.partition("start:")[2]) == (0, False)
    assert "left out, for pythonic has no way to write it: 'a b'" in done.stderr


def test_what_grammars_do_not_hold_is_said(tmp_path: Path) -> None:
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
    odd = {
        "type": "object",
        "properties": {
            "counts": {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
            "tree": {"$ref": "#/$defs/node"},
            "same": {"$ref": "#/$defs/same"},
            "flat": {"$ref": "#/$defs/leaf"},
            "also": {"$ref": "#/$defs/leaf"},
            "shown": {"enum": ["a"], "examples": [{"$ref": "#/nowhere"}]},
        },
        "$defs": {
            "node": node,
            "leaf": {"type": "integer"},
            "same": {"anyOf": [{"$ref": "#/$defs/same"}]},
        },
    }
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "grow", "parameters": odd}, {"name": "now", "parameters": {}}]))
    for dialect, to in PAIRS:
        done = planeval("catalog", "grammar", str(file), "--dialect", dialect, "--to", to, "--max-calls", "1")
        assert done.returncode == 0, done.stderr
        for what in ("patternProperties", "a $ref to nothing but itself"):
            said = f"{what} is not held (grow)"
            assert f"looser than the catalog: {said}\n" in done.stderr, (dialect, to)
            assert said in done.stdout
    looked = planeval("check", "-", "--catalog", str(file), text='[{"name": "now", "arguments": {}}]')
    assert "grow: a $ref to nothing but itself says nothing, and is not looked at" in looked.stderr


@pytest.mark.parametrize("dialect", ["plan", "json", "nestful", "pythonic"])
@pytest.mark.parametrize("to", ["lark", "gbnf"])
def test_whole_numbers_of_64_bits_can_be_written(dialect: str, to: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    ids = {"id": {"type": "integer"}, "share": {"type": "number"}}
    file.write_text(json.dumps([{"name": "f", "parameters": _object(ids, "id", "share")}]))
    done = planeval("catalog", "grammar", str(file), "--dialect", dialect, "--to", to, "--max-calls", "1")
    assert "numbers have at most 19 digits before the point" in done.stderr
    walk = WALKS[to](done.stdout)
    plan = _one_call("f", dialect, to)
    for number in (2**63 - 1, -(2**63), 123456789012345678, 5):
        given = f"id={number}, share=0.30000000000000004"
        if dialect != "pythonic":
            given = f'"id": {number}, "share": 0.30000000000000004'
        assert walk.takes(re.sub(r'"a": "x", "b": 1|a="x", b=1|a=\'x\', b=1', given, plan)), number


def _samples(tmp_path: Path) -> dict[str, tuple[str, list[str]]]:
    """Bundled samples with their catalogs: what convert reads gold from."""
    from tests.prediction_samples import appbench_catalogue

    apps = tmp_path / "catalogue.json"
    apps.write_text(json.dumps(appbench_catalogue()).replace('"done"', '"litres"'))  # as the samples have it
    nestful = "data/samples/nestful/v2/nestful_data.jsonl"
    questions = "data/samples/callnavi/Questions/hr.json"
    return {
        "nestful": (nestful, [nestful, "--text-field", "output"]),
        "callnavi": ("data/samples/callnavi/APIs/hr.json", [questions, "--text-field", "ground_truth"]),
        "appbench": (str(apps), ["data/samples/appbench/test_mm.json"]),
    }


@pytest.mark.parametrize(
    ("samples", "dialect"),
    [
        *(("nestful", dialect) for dialect in ("nestful", "pythonic")),
        *(("callnavi", dialect) for dialect in ("plan", "json", "nestful", "pythonic")),
        ("appbench", "appbench"),
    ],
)
def test_what_convert_writes_of_the_bundled_samples_is_taken(
    samples: str, dialect: str, tmp_path: Path
) -> None:
    catalog, given = _samples(tmp_path)[samples]
    argv = ("catalog", "grammar", catalog, "--dialect", dialect, "--to", "lark", "--max-calls", "4")
    made = planeval(*argv)
    walk = WALKS["lark"](made.stdout)
    done = planeval("convert", *given, "--to", dialect)
    texts = [json.loads(line)["text"] for line in done.stdout.splitlines()]
    assert (done.returncode, len(texts) > 1) == (0, True), done.stderr
    for text in texts:
        assert walk.takes(text) is (dialect != "nestful" or "$$$" not in text), text
    assert (dialect != "nestful") or "texts that end with a dollar sign" in made.stderr


@pytest.mark.parametrize("dialect", ["plan", "json", "nestful", "pythonic"])
def test_what_data_export_writes_is_taken(dialect: str, tmp_path: Path) -> None:
    tools = json.loads(Path("data/catalogs/rates.json").read_text(encoding="utf-8"))
    calls = [
        {"name": "get_rate", "label": "r", "arguments": {"base": "EUR", "quote": "USD"}},
        {"name": "get_rate", "label": "s", "arguments": {"base": "EUR", "quote": "JPY"}},
    ]
    if dialect in ("plan", "nestful"):
        given = {"first": "$c1.rate$", "second": "$c2.rate$"}
        calls = [{**call, "label": f"c{at}"} for at, call in enumerate(calls, 1)]
        calls.append({"name": "ratio", "label": "c3", "arguments": given})
    tasks, catalog = tmp_path / "tasks.jsonl", tmp_path / "tools.json"
    tasks.write_text(json.dumps({"id": "a", "query": "Dearer?", "gold": calls}))
    catalog.write_text(json.dumps(tools))
    argv = ("--catalog", str(catalog), "--to", "chat-jsonl", "--dialect", dialect)
    done = planeval("data", "export", str(tasks), *argv)
    assert done.returncode == 0, done.stderr
    text = json.loads(done.stdout)["messages"][-1]["content"]
    for to in ("lark", "gbnf"):
        made = planeval("catalog", "grammar", str(catalog), "--dialect", dialect, "--to", to)
        assert WALKS[to](made.stdout).takes(text), text


def test_labels_of_nestful_are_of_one_kind_in_a_plan() -> None:
    for to in ("lark", "gbnf"):
        walk = WALKS[to](pe.grammar(EXAMPLES, dialect="nestful", to=to, max_calls=2).text)
        data = get("nestful").example
        ours = pe.write(pe.parse(data), dialect="nestful")
        counted = ours.replace("var_", "c")
        assert [walk.takes(text) for text in (data, ours, counted)] == [True, True, True]
        assert not walk.takes(counted.replace('"c1"', '"var_1"'))
        assert not walk.takes(data.replace("$var_1.", "$c1."))
        assert not walk.takes(counted.replace("$c1.", "$var_1."))


def test_labels_of_nestful_are_of_one_kind_in_a_schema_too() -> None:
    schema = pe.grammar(EXAMPLES, dialect="nestful", max_calls=2)
    walk = WALKS["json-schema"](schema.text)
    data = json.dumps({"calls": json.loads(get("nestful").example)})
    counted = data.replace("var_", "c").replace('"$c1"', '"c1"').replace('"$c2"', '"c2"')
    for text in (data, data.replace("var_", "var"), counted):
        assert walk.takes(text), text
    assert not walk.takes(counted.replace('"c1"', '"var_1"'))
    assert not walk.takes(data.replace("$var_1.", "$c1."))
    assert not walk.takes(data.replace("$var_1.", "$var1."))


# ---------------------------------------------------------------- types of parts
NESTED = {
    "filter": [
        ({"by": {"field": "a", "not": {"field": "b", "not": None}}}, True),
        ({"by": {"field": "a", "not": {"field": "b", "not": {"field": "c"}}}}, False),
        ({"by": [[{"field": "a"}, None], {"field": "b", "not": [[]]}]}, True),
        ({"by": [[{"field": "a"}, 5], {"field": "b"}]}, False),
        ({"by": {"field": "a", "not": [{"fields": "a"}]}}, False),
    ],
    "walk": [
        ({"tree": {"next": {"next": {"next": {"size": 3}}}}}, True),
        ({"tree": {"next": {"next": {"next": {"size": "3"}}}}}, False),
    ],
    "lay": [
        ({"out": {"a": {"b": {"c": {}}}}}, True),
        ({"out": {"a": {"b": {"c": 1}}}}, False),
        ({"rest": {"more": {}}}, False),
    ],
    "count": [({"a": 1, "b": 2}, True), ({"a": 1, "b": "x"}, False)],
    "group": [
        ({"sizes": {"s": 3}, "kinds": {"k": "x"}, "lists": {"l": [True]}, "deep": {"d": {"e": None}}}, True),
        ({"sizes": {"s": "3"}}, False),
        ({"sizes": {}, "kinds": {"k": "z"}}, False),
        ({"sizes": {}, "lists": {"l": [1]}}, False),
        ({"sizes": {}, "deep": {"d": {"e": {}}}}, False),
    ],
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_types_inside_themselves_and_of_other_fields_are_held(name: str, dialect: str, to: str) -> None:
    catalog = "recursive" if name in ("filter", "walk", "lay") else "typed"
    grammar, walk = made(catalog, dialect, to)
    said = [one.text for one in (*grammar.looser, *grammar.narrower)]
    assert not any("additionalProperties" in text or "$ref" in text for text in said)
    if name == "count" and dialect in ("pythonic", "appbench"):
        assert "arguments that the catalog does not list are left out, also of tools that take them" in said
        return
    for given, right in NESTED[name] if dialect != "appbench" else ():
        assert walk.takes(_in(name, given, dialect, to)) is right, given


def _in(name: str, given: dict[str, Any], dialect: str, to: str) -> str:
    call = {"name": name, "arguments": given}
    if dialect == "json":
        text = json.dumps([call])
    elif dialect == "nestful":
        text = json.dumps([{"name": name, "label": "$var_1", "arguments": given}])
    else:
        text = pe.write(pe.parse([call], dialect="json"), dialect=dialect)
    wrapped = to == "json-schema" and dialect in ("json", "nestful")
    return json.dumps({"calls": json.loads(text)}) if wrapped else text


def test_a_type_that_needs_itself_is_left_out_and_told(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    endless = _object({"more": {"$ref": "#/$defs/endless"}}, "more")
    grow = {**_object({"rest": {"$ref": "#/$defs/endless"}}, "rest"), "$defs": {"endless": endless}}
    file.write_text(json.dumps([{"name": "grow", "parameters": grow}]))
    for dialect, to in PAIRS:
        argv = ("catalog", "grammar", str(file), "--dialect", dialect, "--to", to, "--max-calls", "1")
        refused = planeval(*argv)
        assert refused.returncode == 2, (dialect, to)
        assert "no tool can be called" in refused.stderr
    file.write_text(json.dumps([{"name": "grow", "parameters": grow}, {"name": "now", "parameters": {}}]))
    for dialect, to in [pair for pair in PAIRS if pair[0] != "appbench"]:
        argv = ("catalog", "grammar", str(file), "--dialect", dialect, "--to", to, "--max-calls", "1")
        done = planeval(*argv)
        assert done.returncode == 0, done.stderr
        assert "narrower than the catalog: values that never end, for their type needs itself" in done.stderr
        assert "'grow' is not called where a required value cannot be written" in done.stderr
        assert WALKS[to](done.stdout).takes(_in("now", {}, dialect, to))


LONG_NAME = "mcp__google_workspace__calendar_create_event"
NAMED = {
    **{f"{size}": ["n" * size] for size in (1, 33, 34, 64, 128)},
    "a name": [LONG_NAME],
    "one beginning": [LONG_NAME, f"{LONG_NAME}_now", f"{LONG_NAME}_x2", f"{LONG_NAME[:40]}_x2", "n" * 40],
}


@pytest.mark.parametrize("names", NAMED)
def test_names_of_tools_may_be_long_and_begin_alike(names: str, tmp_path: Path) -> None:
    given = {"a": {"type": "string"}, "b": {"type": "integer"}}
    tools = [{"name": name, "parameters": _object(given, "a")} for name in NAMED[names]]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(tools))
    for dialect, to in PAIRS:
        argv = ("catalog", "grammar", str(file), "--dialect", dialect, "--to", to, "--max-calls", "2")
        done = planeval(*argv)
        assert done.returncode == 0, done.stderr
        walk = WALKS[to](done.stdout)
        for name in NAMED[names]:
            assert walk.takes(_one_call(name, dialect, to)), (dialect, to)


def _one_call(name: str, dialect: str, to: str) -> str:
    """A plan of one call in the layout of a grammar."""
    text = pe.write(pe.Plan((pe.Call("c1", name, (("a", "x"), ("b", 1))),)), dialect=dialect)
    if dialect not in JSON:
        return text
    data = json.loads(text)
    if dialect == "nestful":
        data = [{"name": name, "label": "$var_1", "arguments": {"a": "x", "b": 1}}]
    return json.dumps(data if to != "json-schema" or dialect == "plan" else {"calls": data})


def test_the_same_grammar_every_time() -> None:
    argv = ("catalog", "grammar", "data/catalogs/rates.json", "--dialect", "nestful", "--to", "lark")
    texts = set()
    for seed in ("1", "2"):
        whole = [sys.executable, "-m", "planner_eval", *argv]
        texts.add(subprocess.check_output(whole, env=os.environ | {"PYTHONHASHSEED": seed}))
    assert len(texts) == 1
