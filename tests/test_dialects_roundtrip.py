"""One plan, written in every dialect that can hold it, parses to equal plans: all pairs of dialects."""

from __future__ import annotations

import json
from itertools import permutations
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

PLANS: dict[str, tuple[Any, int]] = {
    "flat": ([{"name": "get_rate",
                "arguments": {"cur": "EUR", "days": 7, "via": {"a": [1, 2.5, None, True]}}},
            {"name": "roll", "arguments": {"sides": 6}}, {"name": "ping", "arguments": {}}], 70),
    "texts": ([{"name": "say", "arguments": {"text": 'it\'s 5 < 6 & "q" \\ back\nline', "to": "日本 😀"}},
            {"name": "say", "arguments": {"text": "", "to": " sp "}}], 70),
    "positional": ([{"name": "f", "arguments": {"0": "x"}}, {"name": "g", "arguments": {"0": "y", "1": "z"}}],
        70),
    "names only": ([{"name": "a"}, {"name": "b"}], 74),
    "chain": ([{"id": "a", "name": "f", "arguments": {"x": 1}},
            {"id": "b", "name": "g", "arguments": {"y": {"$ref": "a"}}},
            {"id": "c", "name": "h", "arguments": {"z": {"$ref": "b"}, "w": "k"}}], 22),
    "fan": ([{"id": "a", "name": "f", "arguments": {"x": 1}},
            {"id": "b", "name": "g", "arguments": {"y": {"$ref": "a"}}},
            {"id": "c", "name": "g", "arguments": {"y": {"$ref": "a"}}},
            {"id": "d", "name": "h", "arguments": {"p": {"$ref": "b"}, "q": {"$ref": "c"}}}], 13),
    "paths": ([{"id": "a", "name": "f", "arguments": {"x": 1}},
            {"id": "b", "name": "g",
                "arguments": {"y": {"$ref": "a", "path": ["city"]}, "w": [{"$ref": "a", "path": ["l", 0]}]}}],
        6),
    "templates": ([{"id": "a", "name": "f", "arguments": {"x": "1"}},
            {"id": "b", "name": "g", "arguments": {"y": {"$template": ["from ", {"$ref": "a"}, " on"]}}}],
        12),
    "links": ([{"id": "a", "name": "do a"}, {"id": "b", "name": "do b", "arguments": {"": {"$ref": "a"}}},
            {"id": "c", "name": "c", "arguments": {"": [{"$ref": "a"}, {"$ref": "b"}]}}], 9),
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
def test_every_pair_of_dialects(name: str) -> None:
    source, least = PLANS[name]
    plan = parse(source, dialect="plan")
    types = types_of(plan)
    texts = written(plan)
    assert len(texts) >= least, sorted(set(dialects.names()) - texts.keys())
    read = {dialect: parse(text, dialect=dialect, tools=types) for dialect, text in texts.items()}
    for dialect, back in read.items():
        assert same(plan, back), dialect
    for one, other in permutations(read, 2):
        assert same(read[one], read[other]), (one, other)


@pytest.mark.parametrize("name", ["flat", "chain", "links"])
def test_from_every_dialect_into_every_other(name: str) -> None:
    plan = parse(PLANS[name][0], dialect="plan")
    types = types_of(plan)
    texts = written(plan)
    some = [*texts][:: 4 if name == "flat" else 1]
    for one in some:
        back = parse(texts[one], dialect=one, tools=types)
        for other in some:
            again = parse(write(back, other, tools=types), dialect=other, tools=types)
            assert same(plan, again), (one, other)


@pytest.mark.parametrize("name", PLANS)
def test_what_is_written_is_recognised(name: str) -> None:
    plan = parse(PLANS[name][0], dialect="plan")
    for dialect, text in written(plan).items():
        found = parse(text, tools=types_of(plan))
        assert same(plan, found), (dialect, found.dialect)


def test_real_plans(reference: Path) -> None:
    plans = [
        plan
        for plan in real_plans(reference)[::40]
        if all(not d.code.startswith("label") for d in plan.diagnostics)
    ]
    held: dict[str, int] = {}
    for plan in plans:
        types = types_of(plan)
        for dialect, text in written(plan).items():
            held[dialect] = held.get(dialect, 0) + 1
            assert same(plan, parse(text, dialect=dialect, tools=types)), (dialect, text)
    assert held["plan"] == len(plans)
    assert len(held) >= 15


def test_real_calls_without_references(reference: Path) -> None:
    plans = []
    for file in sorted((reference / "datasets/callnavi/Questions").glob("*.json"))[:3]:
        records = json.loads(file.read_text(encoding="utf-8"))
        plans += [parse(record["ground_truth"], dialect="callnavi") for record in records[::12]]
    for plan in plans:
        texts = written(plan)
        assert len(texts) > 55
        for dialect, text in texts.items():
            assert same(plan, parse(text, dialect=dialect, tools=types_of(plan))), dialect


def test_what_a_dialect_cannot_say_is_an_error() -> None:
    chain = parse(PLANS["chain"][0], dialect="plan")
    for dialect in ("json", "openai-chat", "hermes", "glm", "callnavi"):
        with pytest.raises(WriteError, match="is a reference"):
            write(chain, dialect)
    with pytest.raises(WriteError, match="used 2 times"):
        write(parse(PLANS["fan"][0], dialect="plan"), "pythonic")
    with pytest.raises(WriteError, match="app"):
        write(parse("Hotels: [find(#city='Rome')]"), "openai-chat")
