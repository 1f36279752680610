"""Grammars of a catalog's plans: what one draws is a plan of the catalog, and what is none is refused."""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import LarkError

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.catalogs.grammars import rules
from planner_eval.catalogs.grammars.grammar import TARGETS, Grammar
from planner_eval.catalogs.grammars.plans import DIALECTS
from planner_eval.reading.dialects import get
from tests.conftest import tables
from tests.grammar_walk import WALKS, drawn
from tests.inside import planeval
from tests.prediction_samples import appbench_catalogue

TABLES = tables(__file__)

JSON = ("plan", "json", "nestful")
PAIRS = [(name, to) for name in DIALECTS for to in TARGETS if name in JSON or to != "json-schema"]
RULES = ("lark", "gbnf")
TYPED = ("plan", "json", "nestful", "pythonic")


def _object(fields: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def _map(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _list(of: dict[str, Any], **more: int) -> dict[str, Any]:
    return {"type": "array", "items": of, **more}


def _ref(name: str, under: str = "$defs") -> dict[str, Any]:
    return {"$ref": f"#/{under}/{name}"}


def _tool(name: str, **kinds: str) -> dict[str, Any]:
    return {"name": name, "parameters": _object({key: {"type": kind} for key, kind in kinds.items()}, *kinds)}


def _of(kind: str) -> dict[str, Any]:
    return {"type": kind}


TEXT, INT, NUMBER, BOOL, NULL = map(_of, ("string", "integer", "number", "boolean", "null"))
KIND = {"enum": ["hotel", "inn", 'it\'s "x"', "$5"]}
SEARCH: dict[str, Any] = TABLES["SEARCH"]
ODD = [
    'a"b', "a\\b", "a\nb", ".*+?[](){}|^$/", "-", "#x", "é", "漢字", "a b", "class", "print", "None", "True",
    "\x7f", "\u2028", "it's", "$ref", "a.b", "App.tool", '\\"', "/", "//x", "{", "0", "_", "var_result", "😀",
]  # fmt: skip
"""Names that mean something in a grammar or a notation, or cannot be written in one."""
ODD_FIELDS: dict[str, Any] = {
    name: {"enum": [name, at, None, f"{name}x", 1.5, True]} if at % 3 else TEXT for at, name in enumerate(ODD)
}
TREE = _object({"next": _ref("tree"), "size": INT})
FILTER = {
    "all": {"anyOf": [_ref("one"), _ref("list"), NULL]}, "list": _list(_ref("all"), maxItems=3),
    "one": _object({"field": {"enum": ["a", "b"]}, "not": _ref("all")}, "field"),
}  # fmt: skip
ENDLESS = _object({"more": _ref("endless", "definitions")}, "more")
LAY = {"lay": _map(_ref("lay", "definitions")), "endless": ENDLESS}
CATALOGS: dict[str, Any] = {
    **TABLES["CATALOGS"],
    "own": [{"name": "search", "parameters": _object(SEARCH, "city", "stars"),
            "returns": _object({"hotel": TEXT, "price": NUMBER})},
        {"name": "book", "parameters": _object({"hotel": TEXT, "kind": KIND}, "hotel", "kind"),
            "returns": _object({"id": TEXT})}, {"name": "now", "parameters": {}},
        {"name": "pay", "parameters": _object({"a": INT, "b": BOOL, "c": {"type": "array"}})}],
    "odd": [*({"name": name, "parameters": _object(ODD_FIELDS),
                "returns": _object(ODD_FIELDS)} for name in ODD),
        {"name": "deep", "parameters": _object({"o": _object(ODD_FIELDS), "p": _object({"$ref": {}})})}],
    "recursive": [{"name": "walk",
            "parameters": {**_object({"tree": _ref("tree")}), "$defs": {"tree": TREE}}},
        {"name": "filter", "parameters": {**_object({"by": _ref("all")}, "by"), "$defs": FILTER}},
        {"name": "lay",
            "parameters": {**_object({"out": _ref("lay", "definitions"),
                "rest": _ref("endless", "definitions")}), "definitions": LAY}}],
    "mixed": [{"name": "mix",
            "parameters": _object({"a": {"anyOf": [INT, {**NUMBER, "minimum": 0}, {"enum": [1.5, "x"]}]},
                "b": {"anyOf": [_object({"x": INT}, "x"), _object({"y": {}}, "y")]},
                "c": {"anyOf": [_list(TEXT), _list(NULL)]}, "d": _list({"enum": [1, 12, 123]}, minItems=2),
                "e": {**TEXT, "maxLength": 1000, "minLength": 300}, "g": {"type": "array", "maxItems": 0},
                "f": {"type": "object", "additionalProperties": False},
                "h": {**TEXT, "anyOf": [{"pattern": "x"}, {"enum": ["y"]}]}})}],
}  # fmt: skip
SIZES = [(name, 12) for name in CATALOGS if name != "own"]
DRAWN = [pytest.param(*one, marks=pytest.mark.more) for one in (("own", 80), *SIZES)]
DRAWN.append(pytest.param("own", 10_000, marks=pytest.mark.long))


@cache
def made(catalog: str, dialect: str, to: str) -> tuple[Grammar, Any]:
    grammar = pe.grammar(CATALOGS[catalog], dialect=dialect, to=to, max_calls=4)
    return grammar, WALKS[to](grammar.text)


def drawer(catalog: str, dialect: str, to: str) -> Any:
    """What texts for a grammar are drawn from: those for GBNF from Lark's, which must say the same."""
    return made(catalog, dialect, "lark" if to == "gbnf" else to)[1]


@cache
def tools(catalog: str) -> pe.Catalog:
    return pe.read_catalog(CATALOGS[catalog])


def written_to(folder: Path, tools: list[Any], texts: bool | None = None) -> str:
    """A file of a catalog: a list of tools, or one of ours that says whether values are texts."""
    file = folder / "tools.json"
    whole = {"format": "planeval-catalog/1", "text_values": texts, "tools": tools}
    file.write_text(json.dumps(tools if texts is None else whole))
    return str(file)


def command(catalog: str, dialect: str, to: str, *more: str) -> subprocess.CompletedProcess[str]:
    return planeval("catalog", catalog, "--dialect", dialect, "--grammar", to, *more)


@pytest.mark.parametrize(("catalog", "count"), DRAWN)
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_plans_of_a_grammar_are_plans_of_the_catalog(catalog: str, count: int, dialect: str, to: str) -> None:
    """Each that is drawn is read, and breaks nothing but what the grammar says."""
    grammar, walk = made(catalog, dialect, to)
    at = random.Random(f"{catalog} {dialect} {to}")
    calls = 0
    for number in range(count):
        text = drawer(catalog, dialect, to).draw(at)
        plan = pe.parse(text, dialect=dialect)
        calls += len(plan.calls)
        for found in (*plan.diagnostics, *pe.check(plan, tools(catalog))):
            assert grammar.may_break(found.code) or found.code == "plan.no_call", (found, text)
        if number % 10 == 0 or to == "gbnf":
            assert walk.takes(text), text
    assert calls > count / 3


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
        wrong = [("not listed", "kind", "tent"), ("wrong type", "stars", True)]
        for name in call["arguments"]:
            wrong += [("later call", name, later)] * (at < 2 and later is not None)
            wrong += [("own call", name, own)] * (at == len(calls) - 1 and own is not None)
        for kind, name, value in wrong:
            if name in call["arguments"]:
                new = {name: value}
                yield kind, mutant(lambda c, at=at, new=new: c[at]["arguments"].update(new))
        for name in {"search": ("city", "stars"), "book": ("hotel", "kind")}.get(call["name"], ()):
            yield "missing", mutant(lambda c, at=at, name=name: c[at]["arguments"].pop(name))


def _line_mutants(text: str, dialect: str) -> Iterator[tuple[str, str]]:
    """The same for lines and Python, by their text."""
    mark = "#" if dialect == "appbench" else ""
    changes = {
        "unknown tool": (r"(?<![\w'\"#])(book|search)\(", r"\1x("),
        "unknown argument": (rf"{mark}(hotel|city|stars)=", rf"{mark}\1s="),
        "missing": (rf"{mark}stars=[1-5](, |(?=\)))", ""),
        "not listed": (rf"{mark}kind=(['\"])(hotel|inn)\1", rf"{mark}kind=\1tent\1"),
        "wrong type": (rf"{mark}stars=[1-5]", f"{mark}stars=True"),
        "no output": (rf"{mark}hotel=(price|id)(?=[,)])", f"{mark}hotel=prise"),
    }
    changed = ((kind, re.sub(pattern, into, text, count=1)) for kind, (pattern, into) in changes.items())
    yield from ((kind, mutant) for kind, mutant in changed if mutant != text)


WRONG = {"unknown tool", "unknown argument", "not listed", "wrong type", "missing"}
REFUSED = [pytest.param(30, marks=pytest.mark.more), pytest.param(2_500, marks=pytest.mark.long)]


@pytest.mark.parametrize("count", REFUSED)
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_plans_with_a_mistake_are_refused(dialect: str, to: str, count: int) -> None:
    _, walk = made("own", dialect, to)
    at = random.Random(f"mutants {dialect} {to}")
    seen: set[str] = set()
    for _ in range(count):
        text = drawer("own", dialect, to).draw(at)
        for kind, mutant in (_json_mutants if dialect in JSON else _line_mutants)(text, dialect):
            seen.add(kind)
            assert not walk.takes(mutant), (kind, mutant)
    more = {"no tool", "too many calls"} if dialect in JSON else set()
    assert seen >= WRONG | more | ({"later call", "own call"} if dialect in ("plan", "nestful") else set())


EXAMPLES = [
    _tool("get_weather", city="string"), _tool("roll", sides="integer"), _tool("get_rate", cur="string"),
    _tool("convert", rate="number"), _tool("add", arg_0="number", arg_1="number"),
    _tool("multiply", arg_0="number", arg_1="number"),
]  # fmt: skip


@pytest.mark.parametrize("to", RULES)
def test_the_example_that_prompts_show_is_taken(to: str) -> None:
    for dialect in DIALECTS:
        if dialect != "appbench":
            grammar = pe.grammar(EXAMPLES, dialect=dialect, to=to, max_calls=2)
            assert WALKS[to](grammar.text).takes(get(dialect).example), dialect
    find = {**_tool("searchhotel", city="string"), "returns": _object({"hotel_name": TEXT, "price": NUMBER})}
    hotels = [{"app": "Hotels", **t} for t in (find, _tool("reservehotel", hotel="string", nights="integer"))]
    catalog = {"format": "planeval-catalog/1", "text_values": True, "tools": hotels}
    walk = WALKS[to](pe.grammar(catalog, dialect="appbench", to=to).text)
    assert walk.takes(get("appbench").example)
    assert not walk.takes(get("appbench").example.replace("'2'", "'two'"))


def test_appbench_lark_grammars_are_for_lalr_too(tmp_path: Path) -> None:
    """Of tools with results of the same names one token ahead does not tell whose they are."""
    apps = (("Hotels", "find"), ("Hotels", "book"), (None, "rent"), (None, "buy"))
    returns = _object({name: TEXT for name in ("city", "price", "rating")})
    tools = [{"app": app, **_tool(name, city="string"), "returns": returns} for app, name in apps]
    tools[1]["returns"] = _object({"price": TEXT, "city": TEXT})
    reader = Lark(command(written_to(tmp_path, tools, True), "appbench", "lark").stdout, parser="lalr")
    right = "Hotels: [find(#city='x')]\nHotels: [price, city = book(#city=city)]\nrating = buy(#city='y')"
    for text in (right, "rent(#city='x')", "city, rating = rent(#city='x')"):
        assert reader.parse(text)
    for call in (
        "Hotels: [rating = book(#city='x')]", "rating, city = rent(#city='x')", "city rent(#city='x')",
    ):  # fmt: skip
        with pytest.raises(LarkError):
            reader.parse(call)


@pytest.mark.parametrize("to", RULES)
@pytest.mark.parametrize(("texts", "quote"), [(True, "'"), (False, "")])
def test_appbench_has_booleans_in_both_spellings(tmp_path: Path, to: str, texts: bool, quote: str) -> None:
    file = written_to(tmp_path, [_tool("find", direct="boolean")], texts)
    walk = WALKS[to](command(file, "appbench", to).stdout)
    for word in ("True", "False", "true", "false"):
        line = f"find(#direct={quote}{word}{quote})"
        assert walk.takes(line), line
        checked = planeval("check", "-", "--catalog", file, "--from", "appbench", text=line)
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
    known = re.compile(rules.regex(rules.date()))
    real = {(date(1896, 1, 1) + timedelta(at)).isoformat() for at in range(9 * 365 + 2)}
    tried = {f"{y}-{m:02}-{d:02}" for y in range(1896, 1905) for m in range(14) for d in range(33)}
    assert {one for one in tried if known.fullmatch(one)} == real
    at = random.Random(1)
    assert all(date.fromisoformat(drawn(known.pattern, at)) for _ in range(500))


def many(count: int) -> list[dict[str, Any]]:
    fields = {"a": TEXT, "b": INT, "c": {"enum": ["x", "y"]}}
    return [{"name": f"tool_{at}", "parameters": _object(fields, "a")} for at in range(count)]


@pytest.mark.more
@pytest.mark.parametrize("to", TARGETS)
def test_a_large_catalog_gets_looser_references_and_a_larger_one_none(to: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("planner_eval.catalogs.grammars.grammar.MAX_CHARS", 120_000)
    assert not pe.grammar(many(30), dialect="nestful", to=to, max_calls=4).may_break("reference.forward")
    large = pe.grammar(many(120), dialect="nestful", to=to)
    assert any("later call" in one.text for one in large.looser)
    assert large.may_break("reference.forward")
    walk = WALKS[to](large.text)
    if to != "gbnf":
        text = walk.draw(random.Random(2))
        assert walk.takes(text)
        pe.parse(text, dialect="nestful")
    with pytest.raises(InputError, match=r"2,000 tools .* drop tools"):
        pe.grammar(many(2_000), dialect="nestful", to=to)


def test_a_large_enum_is_held() -> None:
    fields = {"of": {"enum": [f"v{at}" for at in range(400)]}}
    listed = [{"name": "pick", "parameters": _object(fields, "of")}]
    at = random.Random(4)
    for dialect, to in PAIRS:
        walk = WALKS[to](pe.grammar(listed, dialect=dialect, to=to, max_calls=1).text)
        if to != "gbnf":
            text = next(text for text in iter(lambda: walk.draw(at), "") if "pick" in text)  # noqa: B023
        assert walk.takes(text)
        assert not walk.takes(re.sub(r"v\d+", "v400", text))


def test_a_schema_of_plain_tools_is_within_openai_s_strict_part() -> None:
    assert pe.grammar(EXAMPLES, dialect="json").strict
    assert "strict mode" not in pe.grammar(EXAMPLES, dialect="json").text
    optional = pe.grammar(many(1), dialect="json")
    assert not optional.strict
    assert "Not for OpenAI's strict mode: it has arguments that may be left out." in optional.text


def test_the_command_writes_a_grammar_and_says_what_it_does_not_hold(tmp_path: Path) -> None:
    file = tmp_path / "rates.gbnf"
    done = command(CATALOGS["rates"], "plan", "gbnf", "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    said = "looser than the catalog: a reference may name an output that its call does not have"
    assert said in done.stderr
    assert file.read_text(encoding="utf-8") == command(CATALOGS["rates"], "plan", "gbnf").stdout
    assert "# Looser than the catalog: unused results are allowed." in file.read_text("utf-8")


def test_what_grammars_do_not_hold_is_said(tmp_path: Path) -> None:
    fields = {"counts": {"type": "object", "patternProperties": {"^a": INT}}, "tree": _ref("node")}
    fields |= {"same": _ref("same"), "flat": _ref("leaf"), "also": _ref("leaf")}
    fields["shown"] = {"enum": ["a"], "examples": [{"$ref": "#/nowhere"}]}
    named = {"node": _object({"kids": _list(_ref("node"))}), "leaf": INT, "same": {"anyOf": [_ref("same")]}}
    grow = {"name": "grow", "parameters": {**_object(fields), "$defs": named}}
    file = written_to(tmp_path, [grow, {"name": "now", "parameters": {}}])
    for dialect, to in PAIRS:
        done = command(file, dialect, to, "--max-calls", "1")
        assert done.returncode == 0, done.stderr
        for what in ("patternProperties", "a $ref to itself"):
            assert f"looser than the catalog: {what} is not enforced (grow)\n" in done.stderr, (dialect, to)
            assert f"{what} is not enforced (grow)" in done.stdout
    looked = planeval("check", "-", "--catalog", file, text='[{"name": "now", "arguments": {}}]')
    assert "grow: a $ref to itself has no effect" in looked.stderr


@pytest.mark.parametrize("dialect", TYPED)
def test_whole_numbers_of_64_bits_can_be_written(dialect: str, tmp_path: Path) -> None:
    file = written_to(tmp_path, [_tool("f", id="integer", share="number")])
    for to in RULES:
        done = command(file, dialect, to, "--max-calls", "1")
        assert "numbers have at most 19 digits before the point" in done.stderr
        walk = WALKS[to](done.stdout)
        for number in (2**63 - 1, -(2**63), 123456789012345678, 5):
            assert walk.takes(_one("f", {"id": number, "share": 0.30000000000000004}, dialect, to)), number


CONVERTED = {"nestful": ("nestful", "pythonic"), "callnavi": TYPED, "appbench": ("appbench",)}


@pytest.mark.parametrize("name", CONVERTED)
def test_what_convert_writes_of_the_bundled_samples_is_taken(name: str, tmp_path: Path) -> None:
    nestful, asked = "data/samples/nestful/v2/nestful_data.jsonl", "data/samples/callnavi/Questions/hr.json"
    apps = tmp_path / "catalogue.json"
    apps.write_text(json.dumps(appbench_catalogue()).replace('"done"', '"litres"'))  # as the samples have it
    catalog, *given = {
        "nestful": (nestful, nestful, "--field", "text=output"),
        "callnavi": ("data/samples/callnavi/APIs/hr.json", asked, "--field", "text=ground_truth"),
        "appbench": (str(apps), "data/samples/appbench/test_mm.json"),
    }[name]
    for dialect in CONVERTED[name]:
        made = command(catalog, dialect, "lark", "--max-calls", "4")
        walk = WALKS["lark"](made.stdout)
        done = planeval("convert", *given, "--to", dialect)
        lines = [json.loads(line)["text"] for line in done.stdout.splitlines()]
        assert (done.returncode, len(lines) > 1) == (0, True), done.stderr
        for text in lines:
            assert walk.takes(text) is (dialect != "nestful" or "$$$" not in text), text
        assert (dialect != "nestful") or "texts that end with a dollar sign" in made.stderr


@pytest.mark.parametrize("to", TARGETS)
def test_labels_of_nestful_are_of_one_kind_in_a_plan(to: str) -> None:
    walk = WALKS[to](pe.grammar(EXAMPLES, dialect="nestful", to=to, max_calls=2).text)
    data = get("nestful").example
    counted = pe.write(pe.parse(data), dialect="nestful").replace("var_", "c")
    kinds = [data, pe.write(pe.parse(data), dialect="nestful"), counted]
    if to == "json-schema":
        data = json.dumps({"calls": json.loads(data)})
        counted = data.replace("var_", "c").replace('"$c1"', '"c1"').replace('"$c2"', '"c2"')
        kinds = [data, data.replace("var_", "var"), counted]
        assert not walk.takes(data.replace("$var_1.", "$var1."))
    assert [walk.takes(text) for text in kinds] == [True, True, True]
    assert not walk.takes(counted.replace('"c1"', '"var_1"'))
    assert not walk.takes(data.replace("$var_1.", "$c1."))


NESTED: dict[str, list[tuple[dict[str, Any], bool]]] = TABLES["NESTED"]


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize(("dialect", "to"), PAIRS)
def test_types_inside_themselves_and_of_other_fields_are_held(name: str, dialect: str, to: str) -> None:
    grammar, walk = made("recursive" if name in ("filter", "walk", "lay") else "typed", dialect, to)
    said = [one.text for one in (*grammar.looser, *grammar.narrower)]
    assert not any("additionalProperties" in text or "$ref" in text for text in said)
    if name == "count" and dialect in ("pythonic", "appbench"):
        assert "arguments that the catalog does not list are left out, even where a tool takes them" in said
        return
    for given, right in NESTED[name] if dialect != "appbench" else ():
        assert walk.takes(_one(name, given, dialect, to)) is right, given


def _one(name: str, given: dict[str, Any], dialect: str, to: str) -> str:
    """A plan of one call in the layout of a grammar."""
    call = {"name": name, "arguments": given}
    if dialect in ("json", "nestful"):
        calls = [call if dialect == "json" else {"name": name, "label": "$var_1", "arguments": given}]
        return json.dumps({"calls": calls} if to == "json-schema" else calls)
    return pe.write(pe.parse([call], dialect="json"), dialect=dialect)


def test_a_type_that_needs_itself_is_left_out_and_told(tmp_path: Path) -> None:
    endless = {"endless": _object({"more": _ref("endless")}, "more")}
    grow = {"name": "grow", "parameters": {**_object({"rest": _ref("endless")}, "rest"), "$defs": endless}}
    file = written_to(tmp_path, [grow])
    for dialect, to in PAIRS:
        refused = command(file, dialect, to, "--max-calls", "1")
        assert refused.returncode == 2, (dialect, to)
        assert "no tool can be called" in refused.stderr
    file = written_to(tmp_path, [grow, {"name": "now", "parameters": {}}])
    for dialect, to in [pair for pair in PAIRS if pair[0] != "appbench"]:
        done = command(file, dialect, to, "--max-calls", "1")
        assert done.returncode == 0, done.stderr
        assert "narrower than the catalog: values whose type requires itself" in done.stderr
        assert "'grow' is not called where a required value cannot be written" in done.stderr
        assert WALKS[to](done.stdout).takes(_one("now", {}, dialect, to))


LONG_NAME = "mcp__google_workspace__calendar_create_event"
NAMED = {
    "sizes": ["n" * size for size in (1, 34, 64, 128)],
    "one beginning": [LONG_NAME, f"{LONG_NAME}_now", f"{LONG_NAME}_x2", f"{LONG_NAME[:40]}_x2", "n" * 40],
}


@pytest.mark.parametrize("names", NAMED.values(), ids=NAMED)
def test_names_of_tools_may_be_long_and_begin_alike(names: list[str], tmp_path: Path) -> None:
    taken = _object({"a": TEXT, "b": INT}, "a")
    file = written_to(tmp_path, [{"name": one, "parameters": taken} for one in names])
    for dialect, to in PAIRS:
        done = command(file, dialect, to, "--max-calls", "2")
        assert done.returncode == 0, done.stderr
        walk = WALKS[to](done.stdout)
        for name in names:
            assert walk.takes(_one(name, {"a": "x", "b": 1}, dialect, to)), (dialect, to)


def test_the_same_grammar_every_time() -> None:
    argv = ("catalog", "data/catalogs/rates.json", "--dialect", "nestful", "--grammar", "lark")
    whole = [sys.executable, "-m", "planner_eval", *argv]
    made = {subprocess.check_output(whole, env=os.environ | {"PYTHONHASHSEED": seed}) for seed in "12"}
    assert len(made) == 1
