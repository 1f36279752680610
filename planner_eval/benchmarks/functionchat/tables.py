"""The tables and charts of FunctionChat-Bench's paper, and why items do not pass.

Source: FunctionChat-Bench paper, Tables 1 and 2, sections 3.1 and 3.2.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.corrected import rule_answer
from planner_eval.benchmarks.functionchat.data import OUTPUT_TYPES
from planner_eval.benchmarks.functionchat.reading import AssistantTurn, answer_of, read_answer
from planner_eval.benchmarks.layouts import ChartSpec, System, figure_bars, paper_cell, printed_table
from planner_eval.benchmarks.report import Cell, Run
from planner_eval.plan.model import Call
from planner_eval.results.drawing.charts import Chart

if TYPE_CHECKING:
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# The paper's tables of the data, each printed cell beside the recomputed one.
_OUTPUT_TYPES = {
    "call": "Tool Call",
    "completion": "Answer Completion",
    "slot": "Slot Question",
    "relevance": "Relevance Detection",
}
_SINGLECALL_ITEMS, _DIALOG_ITEMS = 500, 200


def table1(samples: Iterable[Sample]) -> list[Cell]:
    """Table 1 and section 3.1: the single calls by kind of tool list.

    Args:
        samples: Of the FunctionChat reader; other parts are passed over.

    Source: FunctionChat-Bench paper, Table 1 and section 3.1.

    >>> [cell.published for cell in table1([])[:2]]
    ['1', '0.20']
    """
    items = [sample for sample in samples if sample.extra.get("part") == "singlecall"]
    n, cells = len(items), []
    cell = partial(paper_cell, sizes=(n, _SINGLECALL_ITEMS), unit="items")
    for kind, (length, composition) in printed_table("functionchat", "table_1").items():
        group = [sample for sample in items if sample.category == kind]
        lengths = {len(sample.tools) for sample in group}
        note = f"lists of {sorted(lengths)}" if len(lengths) > 1 else ""
        cells.append(cell(("Table 1", kind, "Length"), length, max(lengths, default=None), note=note))
        cells.append(cell(("Table 1", kind, "Composition"), composition, len(group) / (n or 1)))
    functions = len({sample.gold["name"] for sample in items})
    queries = len({sample.extra["serial_num"] for sample in items})
    facts = (functions, queries / (functions or 1), n)
    printed = printed_table("functionchat", "section_3_1")
    return cells + [
        cell(("Section 3.1", "single call", fact), published, value)
        for (fact, (published,)), value in zip(printed.items(), facts, strict=True)
    ]


def table2(samples: Iterable[Sample]) -> list[Cell]:
    """Table 2 and section 3.2: the turns of the dialogs by output type.

    Args:
        samples: Of the FunctionChat reader; other parts are passed over.

    Source: FunctionChat-Bench paper, Table 2 and section 3.2.

    >>> [cell.published for cell in table2([])[:5]]
    ['70', '71', '36', '23', '200']
    """
    items = [sample for sample in samples if sample.extra.get("part") == "dialog"]
    counts = Counter(_OUTPUT_TYPES.get(sample.category) for sample in items)
    turns = Counter(sample.extra["dialog_num"] for sample in items)
    calling = {sample.extra["dialog_num"] for sample in items if sample.category == "call"}
    sizes = sorted(turns.values()) or [0]
    facts = (len(turns), sizes[0], sizes[-1], median(sizes), mean(sizes), len(calling))
    cell = partial(paper_cell, sizes=(len(items), _DIALOG_ITEMS), unit="items")
    return [
        cell(("Table 2", title, "Count"), published, len(items) if title == "total" else counts[title])
        for title, (published,) in printed_table("functionchat", "table_2").items()
    ] + [
        cell(("Section 3.2", "dialog", fact), published, value)
        for (fact, (published,)), value in zip(
            printed_table("functionchat", "section_3_2").items(), facts, strict=True
        )
    ]


def paper_cells(samples: Sequence[Sample]) -> list[Cell]:
    """The cells of Table 1 and Table 2."""
    return [*table1(samples), *table2(samples)]


# ----------------------------------------------------------------------
# FunctionChat-Bench's scores by type as bars: single calls by list of tools, dialogs by type of output.
#
# Source: FunctionChat-Bench paper, Tables 3 and 4 (section 6.1); it has no such figure.
_PANELS = {
    "singlecall": (
        "single calls",
        "list of tools (items)",
        {kind: kind.replace("_", " ") for kind in printed_table("functionchat", "table_1")},
    ),
    "dialog": (
        "dialogs",
        "type of output (items)",
        {kind: title.lower() for kind, title in _OUTPUT_TYPES.items()},
    ),
}


def type_chart(systems: Sequence[System]) -> Chart:
    """Pass rates by type, a panel a part of the data."""
    panels = []
    for subset, (head, across, titles) in _PANELS.items():
        groups = {kind: (f"{subset} {kind} pass rate", title) for kind, title in titles.items()}
        panels.append(figure_bars(head, systems, groups, across, "pass rate (%)"))
    present = tuple(panel for panel in panels if panel is not None)
    if not present:
        raise InputError("functionchat-types shows pass rates by type, but these answers have no types")
    return Chart("functionchat-types", present)


CHARTS = {"functionchat-types": ChartSpec("pass rates by type of item", "Tables 3 and 4", type_chart)}


# ----------------------------------------------------------------------
# Why items of FunctionChat-Bench do not pass, as far as a rule can tell, by the right kind of turn.
#
# Source: paper section 6.2, which names the errors of each kind of turn in words; no code was published.
# What only a reading of meaning can tell (a question that leaves out a slot, a result that is altered, a
# service that does not exist) is a class of its own: it is for the judge, or for a person.
MEANING_CLASS = "only its meaning can tell"
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CALL_CLASSES = (
    "unreadable call",
    "no call",
    "more than one call",
    "other arguments",
    "other type",
    "other value",
)
"""Reasons of :func:`.corrected.rule_answer` that are classes as they are."""


def error_class(sample: Sample, answer: AssistantTurn) -> str:
    """The class of the error of an answer that does not pass.

    Args:
        sample: Of the FunctionChat reader.
        answer: What the model said.

    >>> extra = {"type_of_output": "slot", "messages": [{"role": "user", "content": "Book a table."}]}
    >>> error_class(Sample("s", gold={"content": "For when?"}, extra=extra), read_answer("Book a table."))
    'repeats the conversation'
    """
    if answer.code:
        return "unreadable call"
    if sample.extra["type_of_output"] == "call":
        reason = rule_answer(sample, answer).reason
        if reason == "other function":
            is_offered = answer.calls[0].name in offered_functions(sample)
            return "another offered function" if is_offered else "function not offered"
        if reason == "no call":
            return "text instead of a call" if answer.content else "empty answer"
        return reason if reason in _CALL_CLASSES else MEANING_CLASS
    if answer.calls:
        return _needless_call_class(sample, answer.calls)
    return _content_class(sample, answer.content)


def _needless_call_class(sample: Sample, calls: Sequence[Call]) -> str:
    """A call where words are due: of no tool, one that was made before, or one with invented values."""
    offered = offered_functions(sample)
    if any(call.name not in offered for call in calls):
        return "call of a function not offered"
    before = {
        _call_key(call)
        for message in sample.extra["messages"]
        if isinstance(message, Mapping) and message.get("tool_calls")
        for call in answer_of(message).calls
    }
    if all(_call_key(call) in before for call in calls):
        return "call made before"
    for call in calls:
        needed = offered[call.name].get("required")
        if isinstance(needed, list) and set(map(str, needed)) - dict(call.arguments).keys():
            return "call with missing information"
    slot = sample.extra["type_of_output"] == "slot"
    return "call with invented values" if slot else "call instead of text"


def _content_class(sample: Sample, content: str) -> str:
    if not content:
        return "empty answer"
    contents = [str(message.get("content") or "").strip() for message in sample.extra["messages"]]
    if content in contents:
        return "repeats the conversation"
    if content[:1] in "{[" and _is_json(content):
        return "raw data instead of text"
    gold = sample.gold.get("content") if isinstance(sample.gold, Mapping) else ""
    if _HANGUL.search(str(gold)) and not _HANGUL.search(content):
        return "in another language"
    return MEANING_CLASS


def offered_functions(sample: Sample) -> dict[str, Mapping[str, Any]]:
    """The parameters of the functions on offer, by name."""
    functions = [tool.get("function") for tool in sample.tools or () if isinstance(tool, Mapping)]
    declared_functions = [function for function in functions if isinstance(function, Mapping)]
    declared = [(str(function.get("name")), function.get("parameters")) for function in declared_functions]
    return {name: schema if isinstance(schema, Mapping) else {} for name, schema in declared}


def _call_key(call: Call) -> str:
    return json.dumps([call.name, dict(call.arguments)], sort_keys=True, default=str)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return False


def detail_tables(scored: Scored, _run: Run | None) -> Details:
    """Why items do not pass."""
    yield Table("why items do not pass, by the right kind of turn (section 6.2)", error_rows(scored))


def error_rows(scored: Scored) -> list[dict[str, Any]]:
    """How many items do not pass under the last variant, a row a class, a column a kind of turn.

    Items without a verdict, which a judge would have to give, are counted as what can be told of them.

    Args:
        scored: What was scored.
    """
    variant, report = list(scored.reports.items())[-1]
    counts_by_error: dict[str, Counter[str]] = {}
    for (sample, text), row in zip(scored.matched.records, report.rows, strict=True):
        kind = sample.extra.get("type_of_output")
        if not row.ok and kind in OUTPUT_TYPES:
            counts_by_error.setdefault(error_class(sample, read_answer(text)), Counter())[kind] += 1
    kinds = [kind for kind in OUTPUT_TYPES if any(kind in counts for counts in counts_by_error.values())]
    errors = sorted(
        counts_by_error.items(), key=lambda error: (error[0] == MEANING_CLASS, -error[1].total(), error[0])
    )
    return [{f"{variant}: error": name} | {kind: counts[kind] for kind in kinds} for name, counts in errors]
