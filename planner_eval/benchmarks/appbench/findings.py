"""What is irregular in AppBench's records, in their gold plans, and against the catalogue."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from planner_eval.benchmarks.datasets.published import ToolSpecs, gold_findings
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.plan.model import Diagnostic, Plan, Ref, Unresolved

_OUTPUT_TYPES = {
    "used_app": list,
    "used_api": list,
    "result_arguments": list,
    "api_results": list,
    "user_aware_arguments": dict,
}


def findings(gold: Any, query: Any, repeats: str | None, specs: ToolSpecs) -> Iterator[Diagnostic]:
    """What is irregular in a record.

    Args:
        gold: The record's ``output``.
        query: The record's ``input``.
        repeats: The earlier record with the same instruction.
        specs: The catalogue.
    """
    yield from record_findings(gold, query)
    if repeats is not None:
        yield Diagnostic("dataset.repeated_query", f"the instruction is that of {repeats}", "info")
    yield from gold_findings(gold, "appbench", partial(_plan_findings, gold=gold, catalog=specs.catalog))


def record_findings(gold: Any, query: Any = "") -> Iterator[Diagnostic]:
    """What is irregular in one record's fields, apart from the plan that they hold.

    Args:
        gold: The record's ``output``.
        query: The record's ``input``.

    >>> gold = {"used_app": ["A"], "used_api": [{"f": {}}], "result_arguments": [["x"]],
    ...         "api_results": ["x = f()", "x = f()"], "user_aware_arguments": {}}
    >>> [found.code for found in record_findings(gold)]
    ['dataset.length', 'dataset.repeated_call']
    """
    if not isinstance(query, str):
        yield Diagnostic("dataset.record", "input is not text", "error")
    if not isinstance(gold, dict):
        yield Diagnostic("dataset.record", "output is not an object", "error")
        return
    wrong = [key for key, kind in _OUTPUT_TYPES.items() if not isinstance(gold.get(key), kind)]
    if wrong:
        yield Diagnostic(
            "dataset.record", f"output lacks {', '.join(wrong)}, or has them in another shape", "error"
        )
        return
    lists = ("api_results", "used_app", "used_api", "result_arguments")
    sizes = {key: len(gold[key]) for key in lists}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{size} in {key}" for key, size in sizes.items())
        yield Diagnostic("dataset.length", f"entries: {listing}; the lines of api_results are the plan")
    for line, count in Counter(map(str, gold["api_results"])).items():
        if count > 1:
            yield Diagnostic("dataset.repeated_call", f"{count} identical lines: {line[:80]}", "info")


def _plan_findings(plan: Plan, gold: Any, catalog: Catalog | None) -> Iterator[Diagnostic]:
    """What is irregular in the gold plan: its texts, its parallel fields, the catalogue."""
    for position, call in enumerate(plan.calls):
        for name, value in call.arguments:
            trap = re.search("['#]", value) if isinstance(value, str) else None
            if trap:
                text = f"{name} holds {trap.group()!r} unescaped: {value}"
                yield Diagnostic("dataset.text", text, "info", position, name)
        for name in call.returns:
            if keyword.iskeyword(name):
                text = f"the returned name {name} is a word of Python"
                yield Diagnostic("dataset.text", text, "info", position)
    yield from _shared_name_findings(plan)
    if isinstance(gold, dict):
        yield from _mismatch_findings(plan, gold)
    if catalog is None:
        return
    yield from check_plan(plan, catalog)
    for position, call in enumerate(plan.calls):
        tools = catalog.find(call.name, call.app)
        field_names = {field.name for tool in tools for field in tool.returns.fields}
        for name in call.returns:
            if tools and name not in field_names:
                text = f"{call.tool} returns no {name}"
                yield Diagnostic("dataset.unknown_output", text, "info", position)


def _shared_name_findings(plan: Plan) -> Iterator[Diagnostic]:
    """Names that another call returns too, which no data flow keeps from standing between maker and user."""
    before: list[set[int]] = [set() for _ in plan.calls]
    for index, ancestors in enumerate(before):
        for edge in plan.edges:
            if edge.consumer == index > edge.producer:
                ancestors |= {edge.producer, *before[edge.producer]}
    shared: dict[str, set[int]] = {}
    for edge in plan.edges:
        name = str(edge.path[0]) if edge.path else ""
        for index, call in enumerate(plan.calls):
            unordered = index not in (edge.producer, edge.consumer) and index not in before[edge.producer]
            if unordered and name in call.returns and edge.consumer not in before[index]:
                shared.setdefault(name, set()).update({index + 1, edge.producer + 1})
    for name, calls in shared.items():
        numbers = ", ".join(map(str, sorted(calls)))
        text = f"calls {numbers} each name their output {name}: only order shows which one a later call means"
        yield Diagnostic("dataset.shared_output", text, "info")


def _mismatch_findings(plan: Plan, gold: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Where the record's parallel fields tell another story than its lines."""
    fields = (gold.get(key) for key in ("used_api", "result_arguments"))
    lists = [field if isinstance(field, list) else [] for field in fields]
    for position, (call, used, returned) in enumerate(zip(plan.calls, *lists, strict=False)):
        if list(call.returns) != returned:
            yield Diagnostic(
                "dataset.mismatch", f"result_arguments differ from {call.name}'s line", call=position
            )
        name, arguments = next(iter(used.items()), ("", {})) if isinstance(used, dict) else ("", {})
        if name != call.name:
            yield Diagnostic("dataset.mismatch", f"used_api has {name}, the line {call.name}", call=position)
        if not isinstance(arguments, dict):
            continue
        written = {key: value for key, value in call.arguments if not isinstance(value, (Ref, Unresolved))}
        for key in sorted(arguments.keys() ^ dict(call.arguments).keys()):
            where = "used_api" if key in arguments else "the line"
            yield Diagnostic("dataset.mismatch", f"only {where} gives {key}", call=position, argument=key)
        for key, value in written.items():
            if key in arguments and str(arguments[key]) != str(value):
                text = f"used_api has {key}={arguments[key]!r}, the line {value!r}"
                yield Diagnostic("dataset.mismatch", text, call=position, argument=key)
