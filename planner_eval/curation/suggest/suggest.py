"""Fixes of plans that break their catalog, without gold; a model may be asked for what nothing else fixes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.arguments import FLAG, NAME, POSITIVE_COUNT, SHARE, expect, expect_or_none, instance_of
from planner_eval.base.errors import InputError, JudgeError, PlanevalError
from planner_eval.base.json_files import read_json_lines
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import shorten
from planner_eval.benchmarks.judging import Judge, make_request
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog
from planner_eval.curation.suggest.faults import Fault
from planner_eval.curation.suggest.proposals import Fix, ToolIndex
from planner_eval.curation.suggest.search import (
    MIN_PATCH_SCORE,
    FixAsker,
    PlanSuggestions,
    search_suggestions,
)
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.plan import to_data, value_data
from planner_eval.reading.parse import Source, parse

# ----------------------------------------------------------------------
# Asking a model for the mend of a fault that nothing else mends; what it says is tried like any other.
TASK = "suggest.mend"

MAX_QUESTIONS = 20
"""Faults of one plan that a model is asked about."""

_MAX_SHOWN_CALLS = 40
_MAX_SHOWN_CHARACTERS = 2_000
_MAX_NEAR_TOOLS = 10
_MODEL_SCORE = 0.5
"""A model's mend is behind whatever the catalog shows, and before nothing."""

_INSTRUCTIONS = (
    "A plan of tool calls has a fault. Say what mends it, as one JSON object and nothing else: "
    '{"tool": NAME} to call another tool, {"argument": NAME} to give the argument under another name, '
    '{"value": VALUE} to give the argument another value, or {"nothing": true} where you cannot tell. '
    'A value is JSON; the output of an earlier call is {"$ref": ID, "path": [NAME, …]}. '
    "Take values from the question; invent none."
)


class ModelAnswer(NamedTuple):
    """A model's answer: ``"tool"``, ``"argument"`` or ``"value"``, and what."""

    key: str
    value: Any


def make_asker(judge: Judge, tools: ToolIndex, query: str = "") -> FixAsker:
    """Who is asked for mends of one plan's faults.

    Args:
        judge: Who answers.
        tools: The tools that the plan may call.
        query: What the user asked.

    >>> from planner_eval.catalogs.catalog import Catalog, Tool
    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> tools = ToolIndex(Catalog((Tool("add"),)))
    >>> ask = make_asker(ScriptedJudge(lambda make_request: '{"tool": "add"}'), tools)
    >>> [mend.says for mend in ask(parse("plus()"), Fault("check.unknown_tool", "no tool", 0))]
    ['call add']
    """
    left = [MAX_QUESTIONS]

    def ask(plan: Plan, fault: Fault) -> Iterator[Fix]:
        if left[0] <= 0:
            return
        left[0] -= 1
        try:
            reply = judge.ask(make_request(TASK, _INSTRUCTIONS, _material(plan, fault, tools, query)))
        except JudgeError as problem:
            if problem.code == "missing":  # nor will anything else be answered
                raise
            return  # whoever asks counts them
        answer = read_answer(reply.text)
        mend = None if answer is None else _make_fix(plan, fault, tools, answer.key, answer.value)
        if mend is not None:
            yield mend

    return ask


def read_answer(text: str) -> ModelAnswer | None:
    """What a model's answer says: ``tool``, ``argument`` or ``value``, and what; None for anything else.

    The answer is one JSON object of one key, alone or in a fence.

    >>> (
    ...     read_answer('{"value": 3}'), read_answer('it is {"value": 3}'),
    ...     read_answer('{"value": 3, "tool": "f"}')
    ... )
    (ModelAnswer(key='value', value=3), None, None)
    """
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare[bare.index("\n") : -3].strip()
    try:
        values = loads(bare, DEFAULT_LIMITS, "plan")
    except PlanevalError:
        return None
    only = values[0] if len(values) == 1 else None
    if type(only) is not dict or len(only) != 1:
        return None
    key, value = next(iter(only.items()))
    if key == "value" or (key in ("tool", "argument") and isinstance(value, str)):
        return ModelAnswer(key, value)
    return None


def _material(plan: Plan, fault: Fault, tools: ToolIndex, query: str) -> dict[str, Any]:
    calls = to_data(plan)["calls"]
    first = max(0, (fault.call or 0) + 1 - _MAX_SHOWN_CALLS)
    call = None if fault.call is None else plan.calls[fault.call]
    material: dict[str, Any] = {"Question": shorten(query, 8 * _MAX_SHOWN_CHARACTERS) or "not known"}
    material["Plan"] = shorten(
        json.dumps(calls[first : first + _MAX_SHOWN_CALLS], ensure_ascii=False), 16 * _MAX_SHOWN_CHARACTERS
    )
    material["Fault"] = shorten(
        f"call {call.id if call else 'none: the answer'}: {fault.message}", _MAX_SHOWN_CHARACTERS
    )
    if call is not None:
        exact = tools.catalog.find(call.name, call.app)
        candidates = exact or tuple(tools.near(call)[:_MAX_NEAR_TOOLS])
        material["Tools"] = [
            shorten(f"{tool.signature()}  {tool.description}", _MAX_SHOWN_CHARACTERS)
            for tool in candidates[:_MAX_NEAR_TOOLS]
        ]
    return material


def _make_fix(plan: Plan, fault: Fault, tools: ToolIndex, key: str, value: Any) -> Fix | None:
    """A model's answer as a mend; None where it does not belong to the fault."""
    if fault.call is None:
        return None
    call, why = plan.calls[fault.call], fault.code
    if key == "tool":
        app, _, name = value.rpartition(".")
        matches = tools.catalog.find(value) or tools.catalog.find(name, app or None)
        if not matches:
            return None
        tool = matches[0]
        operation = {"op": "rename", "id": call.id, "app": tool.app, "name": tool.name, "why": why}
        return Fix((operation,), f"call {tool.full_name}", "the model says so", _MODEL_SCORE, "model")
    name = fault.argument
    if name is None or len(dict(call.arguments)) < len(call.arguments):
        return None
    old: dict[str, Any] = {key: value_data(argument, plan) for key, argument in call.arguments}
    if key == "argument":
        if name not in old or value in old:
            return None  # what is given under the other name would be lost
        operations = (
            {"op": "unset", "id": call.id, "argument": name, "why": why},
            {"op": "set", "id": call.id, "argument": value, "value": old[name], "why": why},
        )
        return Fix(
            operations,
            f"rename {shorten(name, 40)} to {shorten(value, 40)}",
            "the model says so",
            _MODEL_SCORE,
            "model",
        )
    if name in old and fault.code == "check.missing_argument":
        return None
    set_ = {"op": "set", "id": call.id, "argument": name, "value": value, "why": why}
    value_text = shorten(json.dumps(value, ensure_ascii=False), 60)
    return Fix(
        (set_,),
        f"{'set' if name in old else 'give'} {shorten(name, 40)} = {value_text}",
        "the model says so",
        _MODEL_SCORE,
        "model",
    )


# ----------------------------------------------------------------------
# Mends of plans that break their catalog, without gold.
def suggest(  # noqa: PLR0913 - the options of a public function
    plan: Source,
    catalog: Any,
    *,
    query: str | None = None,
    model: Judge | None = None,
    most: int = 3,
    least: float = MIN_PATCH_SCORE,
    dialect: str | None = None,
    repair: bool = False,
) -> PlanSuggestions:
    """What may mend a plan that breaks its catalog, found without gold.

    Each mend was tried: it removes its fault and brings no new one. A plan without faults gets none.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        catalog: The tools it may call: a catalog, or what :func:`planner_eval.read_catalog` takes.
        query: What the user asked, from which values may be taken.
        model: Who is asked about faults that nothing else mends: anything with ``ask``, as
            :func:`planner_eval.models.judges.open_judge` gives it.
        most: How many mends a fault are kept.
        least: The least score of a mend that becomes part of the patch.
        dialect: The notation of the plan; recognised when left out.
        repair: Mend small faults of a text that cannot be read strictly.

    Returns:
        The faults by call, each with its mends, the likeliest first; ``patch`` holds the likeliest of all
        together, for :func:`planner_eval.apply`, and ``mended`` is the plan after it.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no plan, or no catalog.
        JudgeError: the model cannot be asked at all, for want of a key, say; a question that it leaves
            without an answer is no error.
        ParseError: the plan cannot be read.

    >>> tools = [{"name": "search", "parameters": {"properties": {"city": {"type": "string"}}}}]
    >>> found = suggest("serch(#city='Rome')", tools)
    >>> found.mended.calls[0].name, found.faults[0].suggestions[0].says
    ('search', 'call search')
    """
    if plan is None or catalog is None:
        raise InputError("to suggest something takes a plan and a catalog of the tools that it may call")
    expect(POSITIVE_COUNT, most=most)
    expect(SHARE, least=least)
    expect(FLAG, repair=repair)
    expect_or_none(NAME, query=query)
    expect_or_none(instance_of(Judge, "anything with ask(), as open_judge() gives it"), model=model)
    tools = index_tools(catalog)
    ask = make_asker(model, tools, query or "") if model is not None else None
    read = parse(plan, dialect=dialect, repair=repair)
    return search_suggestions(read, tools, query or "", most=most, least=least, ask=ask)


def index_tools(catalog: Any) -> ToolIndex:
    """A catalog made ready for many plans.

    Args:
        catalog: A catalog, or what :func:`planner_eval.read_catalog` takes.
    """
    return catalog if isinstance(catalog, ToolIndex) else ToolIndex(read_catalog(catalog))


def pooling_warnings(files: Sequence[str], catalog: Catalog) -> Iterator[str]:
    """What has to be said of a catalog that is a file of records, each with tools of its own.

    Args:
        files: The names of the catalog's files.
        catalog: What was read of them.
    """
    for name in files:
        if not name.endswith((".jsonl", ".ndjson")):
            continue
        text = Path(name).read_text(encoding="utf-8", errors="replace")
        lines = [line.data for line in read_json_lines(text) if line.error is None]
        brings = sum(isinstance(line, dict) and isinstance(line.get("tools"), list) for line in lines)
        if brings > 1:
            name_counts = Counter((tool.app, tool.name) for tool in catalog.tools)
            differ = sum(count > 1 for count in name_counts.values())
            yield (
                f"{name}: the tools of {brings:,} records are pooled, though none may have been offered all; "
                f"{differ:,} of the same name differ, of which the one counts that a call breaks least"
            )
