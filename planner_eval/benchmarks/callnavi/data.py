"""CallNavi's questions: ten domains, each with its list of APIs.

The folder is laid out as published: ``Questions/<domain>.json`` and ``APIs/<domain>.json``.

Source: repository Etamin/CallNavi at 520e280, folder ``Dataset``; paper section 4 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner_eval.base.errors import DatasetError, JudgeError
from planner_eval.benchmarks.callnavi.reading import Reader
from planner_eval.benchmarks.datasets.published import (
    Audit,
    Sample,
    load_json,
    load_records,
    message_content,
)
from planner_eval.benchmarks.judging import Judge, Question, ask, prompt_files, read_rating
from planner_eval.plan.model import Diagnostic, leaves

DOMAINS = (
    "bank",
    "shopping",
    "logistics",
    "aviation",
    "hospital",
    "gov",
    "hr",
    "hotel",
    "insurance",
    "telecommunications",
)
"""In the order of the paper's Table 2."""
_FINDINGS = "planner_eval.benchmarks.callnavi.data:findings"
PLACEHOLDER = "$$$"
"""Stands in gold plans for a value that the question does not give."""


def read_callnavi(folder: Path) -> Iterator[Sample]:
    """The questions of all domains that the folder holds, in the order of the paper's Table 2.

    ``extra`` holds ``difficulty``, ``question`` (the chat messages) and ``diagnostics``; what is to be
    said of a domain's list of APIs is among the diagnostics of the domain's first question.

    Args:
        folder: Holds ``Questions`` and ``APIs``.

    Raises:
        DatasetError: there are no questions, or a file cannot be read.
    """
    domains = [domain for domain in DOMAINS if (folder / "Questions" / f"{domain}.json").is_file()]
    if not domains:
        raise DatasetError(f"{folder}: no Questions/<domain>.json here; expected one of {', '.join(DOMAINS)}")
    for domain in domains:
        yield from _read_domain(folder, domain)


def read_domain_file(path: Path) -> Iterator[Sample]:
    """The questions of one domain, of its file.

    Raises:
        DatasetError: it is not called as one, or cannot be read.
    """
    if path.parent.name != "Questions" or path.stem not in DOMAINS:
        raise DatasetError(
            f"{path}: CallNavi's files are called Questions/bank.json, Questions/shopping.json …"
        )
    return (sample for sample in read_callnavi(path.parent.parent) if sample.category == path.stem)


def read_tools(folder: Path, domain: str) -> list[dict[str, Any]]:
    """The APIs of one domain as released: name, parameters, description, returnParameter."""
    path = folder / "APIs" / f"{domain}.json"
    content = load_json(path)
    tools = content.get("api_ports") if isinstance(content, dict) else None
    if not isinstance(tools, list) or not all(isinstance(t, dict) and "name" in t for t in tools):
        raise DatasetError(f'{path}: expected {{"api_ports": [{{"name": …, "parameters": …}}, …]}}')
    return tools


def _read_domain(folder: Path, domain: str) -> Iterator[Sample]:
    records = load_records(folder / "Questions" / f"{domain}.json")
    tools = read_tools(folder, domain)
    declared = {tool["name"]: tool.get("parameters") for tool in tools}
    for position, record in enumerate(records):
        if not isinstance(record, dict):
            record = {"ground_truth": record}
        gold = record.get("ground_truth")
        audit = Audit(_FINDINGS, record, declared, tools if position == 0 else [])
        messages = record.get("question")
        extra = {
            "difficulty": record.get("difficulty"),
            "question": messages,
            "diagnostics": audit,
        }
        id_ = str(record["id"]) if "id" in record else f"{domain}[{position}]"
        yield Sample(id_, message_content(messages, -1), tools, gold, "callnavi", domain, extra)


def findings(
    record: Mapping[str, Any], declared: Mapping[str, Any], tools: list[dict[str, Any]]
) -> Iterator[Diagnostic]:
    """What is irregular in a question's record, and in a list of APIs."""
    yield from record_findings(record, declared)
    yield from tool_findings(tools)


def tool_findings(tools: list[dict[str, Any]]) -> Iterator[Diagnostic]:
    """What is irregular in a list of APIs: parameters without types.

    >>> [d.code for d in tool_findings([{"name": "pay", "parameters": ["to"]}])]
    ['dataset.untyped']
    """
    for tool in tools:
        if isinstance(tool.get("parameters"), list):
            yield Diagnostic("dataset.untyped", f"{tool['name']} lists parameter names without types", "info")


def record_findings(record: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in one question's record.

    Args:
        record: The record as released.
        declared: API name → its declared parameters, of the record's domain.

    >>> gold = {"API": ["pay"], "parameters": [{"to": "$$$", "sum": 5}]}
    >>> findings = record_findings({"ground_truth": gold}, {"pay": {"to": "string", "sum": "string"}})
    >>> [d.code for d in findings]
    ['dataset.record', 'dataset.placeholder', 'dataset.placeholder_first', 'dataset.type']
    """
    missing = [key for key in ("id", "question", "difficulty") if key not in record]
    gold = record.get("ground_truth")
    names = gold.get("API") if isinstance(gold, dict) else None
    entries = gold.get("parameters") if isinstance(gold, dict) else None
    if missing or not isinstance(names, list) or not isinstance(entries, list):
        what = f"no {', '.join(missing)}" if missing else "ground_truth has no lists API and parameters"
        yield Diagnostic("dataset.record", what, "error")
    if not isinstance(names, list) or not isinstance(entries, list):
        return
    if len(names) != len(entries):
        message = f"{len(names)} APIs but {len(entries)} parameter objects; missing ones mean no parameters"
        yield Diagnostic("dataset.length", message)
    if record.get("difficulty") in ("medium", "hard") and len(names) == 1:
        yield Diagnostic("dataset.difficulty", f"marked {record['difficulty']} but has one call")
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Diagnostic("dataset.repeated_tool", f"{name} is called {names.count(name)} times", "info")
    for position, (name, entry) in enumerate(zip(names, entries, strict=False)):
        if name not in declared:
            yield Diagnostic("dataset.unknown_tool", f"{name} is not in the domain's list", call=position)
        if isinstance(entry, dict):
            yield from _call_findings(name, entry, declared.get(name), position)


def _call_findings(
    name: str, entry: Mapping[str, Any], parameters: Any, position: int
) -> Iterator[Diagnostic]:
    if isinstance(parameters, (dict, list)):
        for key in entry:
            if key not in parameters:
                message = f"{name} declares no parameter {key}"
                yield Diagnostic("dataset.unknown_argument", message, call=position, argument=key)
        for key in parameters:
            if key not in entry:
                message = f"{name} declares {key}, which is not given"
                yield Diagnostic("dataset.missing_argument", message, call=position, argument=key)
    for key, value in entry.items():
        declared_type = parameters.get(key) if isinstance(parameters, dict) else None
        for code, message in _value_findings(name, value, declared_type, position):
            yield Diagnostic(code, f"{name}.{key} {message}", "info", call=position, argument=key)


def _value_findings(name: str, value: Any, declared_type: Any, position: int) -> Iterator[tuple[str, str]]:
    if value == PLACEHOLDER:
        yield "dataset.placeholder", "is a placeholder"
        if position == 0:
            yield "dataset.placeholder_first", "is a placeholder in the first call, where nothing precedes it"
    elif value == {}:
        yield "dataset.empty_value", "is {}, which the published code treats as any value"
    elif not isinstance(value, str) and holds_placeholder(value):
        yield "dataset.placeholder_nested", "contains a placeholder, which the published code compares "
        "literally"
    elif isinstance(value, int) and declared_type == "string":
        yield "dataset.type", f"is the number {value} where {name} declares a string"


def holds_placeholder(value: Any) -> bool:
    """Whether the value is the placeholder or holds it at any depth.

    >>> holds_placeholder({"size": ["$$$", 1]})
    True
    """
    return any(leaf == PLACEHOLDER for _, leaf in leaves(value))


# ----------------------------------------------------------------------
# What CallNavi asks a judge for: repairing an answer, and rating one.
#
# The prompts are our own. The published ones stand inside code; who has copied their text into files uses
# them (:data:`PROMPT_FILES`).
# ----------------------------------------------------------------------
# What CallNavi's paper asks a judge for: repairing an answer, and rating one.
_RATING_PROMPT = """You compare the tool calls that a model predicted with the correct ones.
Look at two things: are the same tools called in the same order, and does every call have the same \
arguments with the same values? An argument whose correct value is "$$$" is not known yet; any value is fine.
Rate the likeness from 0 (nothing in common) to 1 (the same), with three decimals. \
Answer with the rating alone, in double square brackets, for example [[0.350]]."""

_REPAIR_PROMPT = """Below is a model's answer that should have been one JSON object of the form
{"API": ["name", ...], "parameters": [{"argument": "value"}, ...]}
with one parameters object for each name, but it cannot be parsed. Write the object that it means. \
Calls written as code become entries of both lists; a call inside another call's arguments becomes an \
entry of its own before it, and "$$$" takes its place. Change no name and no value, add nothing. \
Answer with the JSON object alone."""

RATING = Question(
    "callnavi.gpt_score", _RATING_PROMPT, {"predicted": "Predicted", "gold": "Correct"}, "gpt_score.txt"
)
"""How like the gold calls the predicted calls are, 0 to 1 (section 5.2); read with :func:`read_rating`."""
REPAIR = Question("callnavi.repair", _REPAIR_PROMPT, {"tools": "Tools", "answer": "Answer"}, "repair.txt")
"""The JSON object that an unparsable answer means (section 5.1, before structural accuracy)."""
PROMPT_FILES = prompt_files(RATING, REPAIR)
"""Files that take the place of our prompts, by task."""


# ----------------------------------------------------------------------
# What CallNavi asks a model for: repairing an answer, and rating one.
#
# Source: paper sections 5.1 (repair) and 5.2 (GPT score).
MAX_ATTEMPTS = 3
"""How often a rating is asked for before the answer counts as unrated."""


def ask_repair(judge: Judge, text: str, tools: Any, read: Reader) -> Any:
    """The data of the judge's repair of an unparsable answer; ``{}`` where that fails too.

    >>> from planner_eval.benchmarks.callnavi.reading import read_json
    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> ask_repair(ScriptedJudge(lambda request: '{"API": []}'), "pay()", None, read_json)
    {'API': []}
    """
    try:
        return read(judge.ask(REPAIR.request(tools=tools, answer=text)).text).value
    except JudgeError:
        return {}


def ask_rating(judge: Judge, gold: Any, predicted: Any) -> float | str:
    """The judge's rating read as the published code reads it, or the exception it would end with.

    All square brackets are deleted and the rest must be a number, of any size.

    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> ask_rating(ScriptedJudge(lambda request: "[[0.5]]"), {}, {})
    0.5
    >>> ask_rating(ScriptedJudge(lambda request: "about 0.5"), {}, {})
    "ValueError: could not convert string to float: 'about 0.5'"
    """
    try:
        text = judge.ask(RATING.request(predicted=predicted, gold=gold)).text
        return float(text.replace("[", "").replace("]", ""))
    except (JudgeError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"


def ask_clean_rating(judge: Judge, gold: Any, predicted: Any) -> float | None:
    """The judge's rating, 0 to 1, asked for again where there is none; None in the end.

    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> judge = ScriptedJudge(lambda request: "[[0.5]]" if request.attempt else "[[7]]")
    >>> ask_clean_rating(judge, {}, {})
    0.5
    """
    try:
        return ask(judge, RATING.request(predicted=predicted, gold=gold), read_rating, MAX_ATTEMPTS)
    except JudgeError:
        return None
