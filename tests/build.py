"""Plans from the list-of-calls form of the pairs, without any parser; files of records."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from planner_eval.plan.model import Call, Edge, Plan, Ref, Template, Unresolved, references
from planner_eval.plan.statistics import Stats, Summary, Sums


def value(raw: Any, positions: dict[str, int]) -> Any:
    """One argument value with its references linked."""
    if isinstance(raw, dict):
        if "$ref" in raw:
            path = tuple(raw.get("path", ()))
            where = positions.get(raw["$ref"])
            return Unresolved(raw["$ref"], path) if where is None else Ref(where, path)
        if "$template" in raw:
            return Template(tuple(p if isinstance(p, str) else value(p, positions) for p in raw["$template"]))
        return {key: value(item, positions) for key, item in raw.items()}
    if isinstance(raw, list):
        return [value(item, positions) for item in raw]
    return raw


def edges(calls: tuple[Call, ...]) -> tuple[Edge, ...]:
    """The edges that the calls' references make."""
    return tuple(
        Edge(ref.call, position, name, at, ref.path)
        for position, call in enumerate(calls)
        for name, item in call.arguments
        for at, ref in references(item)
        if isinstance(ref, Ref)
    )


def plan(raw: list[dict[str, Any]], answer: dict[str, Any] | None = None) -> Plan:
    """The plan that a list of calls `{id, name, app?, arguments}` means."""
    positions = {call["id"]: position for position, call in enumerate(raw)}
    calls = tuple(
        Call(
            call["id"],
            call["name"],
            tuple((name, value(item, positions)) for name, item in call.get("arguments", {}).items()),
            app=call.get("app"),
        )
        for call in raw
    )
    named = None if answer is None else tuple((name, value(item, positions)) for name, item in answer.items())
    return Plan(calls, edges(calls), named)


def types_of(plan: Plan) -> dict[str, dict[str, str]]:
    """The types of a plan's own values, for reading it back from a notation without types."""
    kinds: dict[type, str] = {
        bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null",
    }  # fmt: skip
    types: dict[str, dict[str, str]] = {}
    for call in plan.calls:
        for key, value in call.arguments:
            kind = kinds.get(type(value), "string")
            stored = types.setdefault(call.name, {}).setdefault(key, kind)
            if stored != kind:
                types[call.name][key] = "number" if {stored, kind} == {"integer", "number"} else "string"
    return types


def jsonl(path: Path, rows: Iterable[Any]) -> str:
    """A file of a JSON value a line, in a folder that need not be there yet; its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def summarise(stats: Iterable[Stats], *, inferred: bool = False) -> Summary:
    """The figures of many plans."""
    sums = Sums()
    for row in stats:
        sums.add(row)
    return sums.summary(inferred=inferred)
