"""AppBench's instructions: one app or several, one API or several (ss, sm, ms, mm).

The folder is laid out as published: ``test_ss.json`` … ``test_mm.json``. A ``catalogue.json`` beside
them, made from the literal descriptions in the published app classes, gives the tools.

Source: repository ruleGreen/AppBench at 81539ee; paper section 3.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from planner_eval.base.errors import CatalogError, DatasetError
from planner_eval.benchmarks.datasets.published import (
    Audit,
    Sample,
    choose_parts,
    gold_findings,
    load_json,
    load_records,
)
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check_plan
from planner_eval.catalogs.formats import as_catalog
from planner_eval.plan.model import Diagnostic, Plan, Ref, Unresolved

_FILES = {part: f"test_{part}.json" for part in ("ss", "sm", "ms", "mm")}
PARTS = tuple(_FILES)
"""Single or multiple app × single or multiple API, in the order of the paper's tables."""

_OUTPUT_TYPES = {
    "used_app": list,
    "used_api": list,
    "result_arguments": list,
    "api_results": list,
    "user_aware_arguments": dict,
}


def read_appbench(folder: Path, *, part: str | None = None) -> Iterator[Sample]:
    """The instructions of all parts that the folder holds, or of one, in the order of the paper.

    ``gold`` is the record's ``output`` as released, ``category`` the part, ``id`` the part and the
    record's position (``mm-10``). ``extra`` holds ``diagnostics``: what is irregular in the record, in
    its gold plan, and against the catalogue, looked for when it is asked for.

    Args:
        folder: Holds the files.
        part: One of :data:`PARTS`; None for all that are there.

    Raises:
        DatasetError: none of the files is there, one cannot be read, or is no list of records.
    """
    names = choose_parts(folder, "AppBench", _FILES, part)
    tools, catalog = _read_tools(folder)
    for name in names:
        seen: dict[str, str] = {}
        for position, record in enumerate(load_records(folder / _FILES[name])):
            yield _sample(record, f"{name}-{position}", name, (tools, catalog), seen)


def _read_tools(folder: Path) -> tuple[Any, Catalog | None]:
    path = folder / "catalogue.json"
    if not path.is_file():
        return None, None
    data = load_json(path)
    try:
        return data, as_catalog(data, "appbench", name="AppBench's catalogue")
    except CatalogError as problem:
        raise DatasetError(f"{path}: {problem}") from None


def read_part_file(path: Path) -> Iterator[Sample]:
    """The samples of one part, of its file.

    Raises:
        DatasetError: it is not called as one, or cannot be read.
    """
    name_match = re.fullmatch(r"test_(\w+)\.json", path.name)
    if not name_match:
        raise DatasetError(f"{path}: AppBench's files are called test_ss.json, test_sm.json …")
    return read_appbench(path.parent, part=name_match[1])


def _sample(
    record: Any, identity: str, category: str, offer: tuple[Any, Catalog | None], seen: dict[str, str]
) -> Sample:
    is_object = isinstance(record, dict)
    gold = record.get("output") if is_object else record
    query = record.get("input") if is_object else None
    tools, catalog = offer
    first = seen.setdefault(query, identity) if isinstance(query, str) else identity
    repeats = first if first != identity else None
    extra = {"diagnostics": Audit(partial(_findings, gold, query, repeats, catalog))}
    return Sample(identity, query if isinstance(query, str) else "", tools, gold, "appbench", category, extra)


def _findings(gold: Any, query: Any, repeats: str | None, catalog: Catalog | None) -> Iterator[Diagnostic]:
    yield from record_findings(gold, query)
    if repeats is not None:
        yield Diagnostic("dataset.repeated_query", f"the instruction is that of {repeats}", "info")
    yield from gold_findings(gold, "appbench", partial(_plan_findings, gold=gold, catalog=catalog))


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
    yield from _text_findings(plan)
    yield from _shared_name_findings(plan)
    if isinstance(gold, dict):
        yield from _mismatch_findings(plan, gold)
    if catalog is not None:
        yield from check_plan(plan, catalog)
        yield from _unknown_return_findings(plan, catalog)


def _text_findings(plan: Plan) -> Iterator[Diagnostic]:
    """Values and names that trip simple readers of the notation."""
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


def _unknown_return_findings(plan: Plan, catalog: Catalog) -> Iterator[Diagnostic]:
    """Returned names that the tool does not have; references to them are found by the check."""
    for position, call in enumerate(plan.calls):
        tools = catalog.find(call.name, call.app)
        field_names = {field.name for tool in tools for field in tool.returns.fields}
        for name in call.returns:
            if tools and name not in field_names:
                text = f"{call.tool} returns no {name}"
                yield Diagnostic("dataset.unknown_output", text, "info", position)
