"""What is irregular in NESTful's records, in their gold plans, and against the tool specs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from planner_eval.benchmarks.datasets.published import ToolSpecs, gold_findings
from planner_eval.benchmarks.nestful.data import decode_if_json
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.plan.model import Diagnostic, Plan, Template, contains_kind, leaves


def version_1_findings(fields: Mapping[str, Any], specs: ToolSpecs, tools: Any) -> Iterator[Diagnostic]:
    """What is irregular in a record of version 1, and in the tool specs where they are given."""
    yield from record_findings(fields)
    find = partial(_plan_findings, catalog=specs.catalog)
    yield from gold_findings(fields.get("output"), "nestful", find)
    yield from tool_findings(tools)


def version_2_findings(
    fields: Mapping[str, Any], diagnostics: Sequence[Diagnostic], gold: Any, specs: ToolSpecs
) -> Iterator[Diagnostic]:
    """What is irregular in a record of version 2, which was found in part already."""
    yield from record_findings(fields)
    yield from diagnostics
    yield from tool_findings(specs.tools)
    yield from gold_findings(gold, "nestful", partial(_plan_findings, catalog=specs.catalog))


def record_findings(fields: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in a record's fields.

    >>> [found.message for found in record_findings({"input": "?", "output": "x"})]
    ['output is a text that is not JSON']
    """
    if not isinstance(fields.get("input"), str):
        yield Diagnostic("dataset.record", "input is not text", "error")
    for key in ("output", "tools"):
        value = fields.get(key)
        if isinstance(value, str):
            if isinstance(decode_if_json(value), str):
                yield Diagnostic("dataset.record", f"{key} is a text that is not JSON", "error")
            else:
                yield Diagnostic("dataset.encoded", f"{key} is JSON text inside JSON", "info")
    if not isinstance(fields.get("output"), list | str):
        yield Diagnostic("dataset.record", "output is not a list of calls", "error")


def tool_findings(tools: Any) -> Iterator[Diagnostic]:
    """What is irregular in a list of tool specs: repeated names, the layouts that cannot be executed.

    >>> [found.code for found in tool_findings([{"name": "f", "output_parameter": {}}, {"name": "f"}])]
    ['dataset.layout', 'dataset.repeated_spec']
    """
    specs = [spec for spec in tools if isinstance(spec, dict)] if isinstance(tools, list) else []
    singular = sum("output_parameter" in spec for spec in specs)
    nested = sum("properties" in (spec.get("output_parameters") or ()) for spec in specs)
    if singular or nested:
        text = (
            f"older layout: {singular} specs say output_parameter, {nested} nest outputs under properties; "
            "the published executor fails on both"
        )
        yield Diagnostic("dataset.layout", text)
    for name, count in Counter(str(spec.get("name")) for spec in specs).items():
        if count > 1:
            yield Diagnostic("dataset.repeated_spec", f"{count} specs are called {name}", "info")


def _plan_findings(plan: Plan, catalog: Catalog | None) -> Iterator[Diagnostic]:
    """What an argument's text and value need care for, then what the tools forbid, where there are any."""
    for position, call in enumerate(plan.calls):
        for name, value in call.arguments:
            if contains_kind(value, Template):
                text = f"{name} holds a reference inside a longer text, which the published code overlooks"
                yield Diagnostic("dataset.embedded_reference", text, "info", position, name)
            money = [leaf for _, leaf in leaves(value) if isinstance(leaf, str) and re.match(r"\$\d", leaf)]
            if money:
                text = f"{name} is {money[0]!r}, which the published scorer changes only in predictions"
                yield Diagnostic("dataset.dollar", text, "info", position, name)
    if catalog is not None:
        yield from check_plan(plan, catalog)
