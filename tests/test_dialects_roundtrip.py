"""One plan, written in every dialect that can hold it, parses to equal plans: all pairs of dialects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval import dialects
from planner_eval.base.errors import WriteError
from planner_eval.dialects.read import parse, write
from planner_eval.dialects.types import types_of
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan
from tests.real_plans import real_plans


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "arguments": arguments}


def ref(id: str, *path: str | int) -> dict[str, Any]:
    return {"$ref": id, "path": [*path]} if path else {"$ref": id}


NESTED = {"cur": "EUR", "days": 7, "via": {"a": [1, 2.5, None, True]}}
ODD = {"text": 'it\'s 5 < 6 & "q" \\ back\nline', "to": "日本 😀"}
PLANS: dict[str, tuple[Any, int]] = {
    "flat": ([{"name": "get_rate", "arguments": NESTED}, {"name": "roll", "arguments": {"sides": 6}},
            {"name": "ping", "arguments": {}}], 70),
    "texts": ([{"name": "say", "arguments": given} for given in (ODD, {"text": "", "to": " sp "})], 70),
    "positional": ([{"name": "f", "arguments": {"0": "x"}}, {"name": "g", "arguments": {"0": "y", "1": "z"}}],
        70),
    "names only": ([{"name": "a"}, {"name": "b"}], 74),
    "chain": ([call("a", "f", x=1), call("b", "g", y=ref("a")), call("c", "h", z=ref("b"), w="k")], 22),
    "fan": ([call("a", "f", x=1), call("b", "g", y=ref("a")), call("c", "g", y=ref("a")),
            call("d", "h", p=ref("b"), q=ref("c"))], 13),
    "paths": ([call("a", "f", x=1), call("b", "g", y=ref("a", "city"), w=[ref("a", "l", 0)])], 6),
    "templates": ([call("a", "f", x="1"), call("b", "g", y={"$template": ["from ", ref("a"), " on"]})], 12),
    "links": ([{"id": "a", "name": "do a"}, call("b", "do b", **{"": ref("a")}),
            call("c", "c", **{"": [ref("a"), ref("b")]})], 9),
}  # fmt: skip
"""Name → a plan, and how many dialects can hold it at least."""


def written(plan: Plan) -> dict[str, str]:
    """The plan in every dialect that can hold it."""
    texts = {}
    for name in dialects.names():
        try:
            texts[name] = write(plan, name, tools=types_of(plan))
        except WriteError:
            continue
    return texts


@pytest.mark.parametrize("name", PLANS)
def test_every_dialect_gives_the_plan_named_and_recognised(name: str) -> None:
    source, least = PLANS[name]
    plan = parse(source, dialect="plan")
    types, texts = types_of(plan), written(plan)
    assert len(texts) >= least, sorted(set(dialects.names()) - texts.keys())
    for dialect, text in texts.items():
        back = parse(text, dialect=dialect, tools=types)
        assert same(plan, back), dialect
        assert same(back, plan), dialect
        found = parse(text, tools=types)
        assert same(plan, found), (dialect, found.dialect)


@pytest.mark.parametrize("name", ["flat", "chain", "links"])
def test_from_every_dialect_into_every_other(name: str) -> None:
    plan = parse(PLANS[name][0], dialect="plan")
    types, texts = types_of(plan), written(plan)
    some = [*texts][:: 6 if name == "flat" else 1]
    for one in some:
        back = parse(texts[one], dialect=one, tools=types)
        for other in some:
            again = parse(write(back, other, tools=types), dialect=other, tools=types)
            assert same(plan, again), (one, other)


def test_real_plans(reference: Path) -> None:
    known = real_plans(reference)[::80]
    plans = [plan for plan in known if not any(d.code.startswith("label") for d in plan.diagnostics)]
    flat = []
    for file in sorted((reference / "datasets/callnavi/Questions").glob("*.json"))[:3]:
        records = json.loads(file.read_text(encoding="utf-8"))
        flat += [parse(record["ground_truth"], dialect="callnavi") for record in records[::12]]
    held: dict[str, int] = {}
    for plan in (*plans, *flat):
        types, texts = types_of(plan), written(plan)
        assert plan not in flat or len(texts) > 55
        for dialect, text in texts.items():
            held[dialect] = held.get(dialect, 0) + 1
            assert same(plan, parse(text, dialect=dialect, tools=types)), (dialect, text)
    assert held["plan"] == len(plans) + len(flat)


def test_what_a_dialect_cannot_say_is_an_error() -> None:
    chain = parse(PLANS["chain"][0], dialect="plan")
    for dialect in ("json", "openai-chat", "hermes", "glm", "callnavi"):
        with pytest.raises(WriteError, match="is a reference"):
            write(chain, dialect)
    with pytest.raises(WriteError, match="used 2 times"):
        write(parse(PLANS["fan"][0], dialect="plan"), "pythonic")
    with pytest.raises(WriteError, match="app"):
        write(parse("Hotels: [find(#city='Rome')]"), "openai-chat")
