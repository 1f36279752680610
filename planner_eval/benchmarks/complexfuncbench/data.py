"""ComplexFuncBench's conversations: one JSON object a line, annotated step by step.

Only the paper's example and the published lists of tools were at hand when this was written; the
reader follows the record format that the published runner reads.

Source: repository THUDM/ComplexFuncBench at c37b284; paper section 2 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.datasets.sample import Sample, load_json, load_jsonl
from planner_eval.plan.model import Diagnostic

DATA_FILE = "ComplexFuncBench.jsonl"
EXACT_VALUES_FILE = "exact_match_values.json"
DOMAINS = ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross")
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def read_complexfuncbench(folder: Path) -> Iterator[Sample]:
    """The conversations of a folder, or of one file.

    ``gold`` is the annotated conversation as released. ``extra`` holds ``diagnostics`` and, where
    ``exact_match_values.json`` lies beside the data, the lists of parameters that the published
    scorer compares by equality, as ``exact_match_values``.

    Args:
        folder: Holds ``ComplexFuncBench.jsonl``; or such a file itself.

    Raises:
        DatasetError: there is no such file, or it cannot be read.
    """
    path = folder / DATA_FILE if folder.is_dir() else folder
    lists = path.parent / EXACT_VALUES_FILE
    checked = load_json(lists) if lists.is_file() else None
    if checked is not None and not isinstance(checked, dict):
        raise DatasetError(f"{lists}: expected an object of function names")
    seen: set[str] = set()
    for number, record, _ in load_jsonl(path):
        if not isinstance(record, dict):
            record = {"conversations": record}
        id_ = str(record.get("id", f"line {number}"))
        diagnostics = (*record_findings(record), *_repeated_id_findings(id_, seen))
        extra: dict[str, Any] = {"diagnostics": diagnostics}
        if checked is not None:
            extra["exact_match_values"] = checked
        talk = record.get("conversations")
        yield Sample(id_, _query(talk), record.get("functions"), talk, "complexfuncbench", domain(id_), extra)


def domain(identifier: str) -> str:
    """The domain in an id: what stands before the last dash.

    >>> domain("Car-Rental-7")
    'Car-Rental'
    """
    return identifier.rpartition("-")[0] or identifier


def _repeated_id_findings(identifier: str, seen: set[str]) -> Iterator[Diagnostic]:
    if identifier in seen:
        yield Diagnostic("dataset.repeated_id", f"an earlier record has the id {identifier!r}", "error")
    seen.add(identifier)


def _query(talk: Any) -> str:
    if isinstance(talk, list) and talk and isinstance(talk[0], dict):
        return str(talk[0].get("content", ""))
    return ""


def record_findings(record: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in one record.

    Args:
        record: The record as released.

    >>> talk = [{"role": "user", "content": "?"},
    ...         {"role": "assistant", "function_call": [{"name": "f", "arguments": {}}]}]
    >>> found = record_findings({"id": "Cross-1", "conversations": talk, "functions": []})
    >>> [d.code for d in found]
    ['dataset.length', 'dataset.no_answer', 'dataset.unknown_tool']
    """
    missing = [key for key in ("id", "conversations", "functions") if key not in record]
    talk = record.get("conversations")
    if missing or not isinstance(talk, list) or not all(isinstance(turn, dict) for turn in talk):
        what = f"no {', '.join(missing)}" if missing else "conversations is no list of turns"
        yield Diagnostic("dataset.record", what, "error")
    if not isinstance(talk, list):
        return
    turns = [turn for turn in talk if isinstance(turn, dict)]
    yield from _turn_findings(turns)
    functions = {f.get("name"): f for f in record.get("functions") or () if isinstance(f, dict)}
    position = 0
    for turn in turns:
        for call in turn.get("function_call") or ():
            yield from _call_findings(call, functions, position)
            position += 1


def _turn_findings(turns: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    if domain_unknown := [turn for turn in turns[:1] if turn.get("role") != "user"]:
        yield Diagnostic(
            "dataset.record", f"begins with a turn of role {domain_unknown[0].get('role')!r}", "error"
        )
    for number, turn in enumerate(turns):
        if "function_call" not in turn:
            continue
        after = turns[number + 1] if number + 1 < len(turns) else {}
        answers = after.get("content") if after.get("role") == "observation" else []
        calls = turn["function_call"]
        if not isinstance(calls, list) or not isinstance(answers, list) or len(calls) != len(answers):
            yield Diagnostic(
                "dataset.length",
                f"turn {number} has {_list_length(calls)} calls and {_list_length(answers)} observations",
            )
    if not turns or turns[-1].get("role") != "assistant" or "function_call" in turns[-1]:
        yield Diagnostic("dataset.no_answer", "the conversation has no final answer")


def _list_length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _call_findings(call: Any, functions: Mapping[Any, Any], position: int) -> Iterator[Diagnostic]:
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict) or "name" not in call:
        yield Diagnostic(
            "dataset.record", f"call {position} has no name and arguments", "error", call=position
        )
        return
    name, arguments = call["name"], call["arguments"]
    if name not in functions:
        yield Diagnostic("dataset.unknown_tool", f"{name} is not in the record's functions", call=position)
        return
    parameters = functions[name].get("parameters") or {}
    declared = parameters.get("properties") or {}
    for key in parameters.get("required") or ():
        if key not in arguments:
            message = f"{name} requires {key}, which is not given"
            yield Diagnostic("dataset.missing_argument", message, call=position, argument=key)
    for key, value in arguments.items():
        if key not in declared:
            message = f"{name} declares no parameter {key}"
            yield Diagnostic("dataset.unknown_argument", message, call=position, argument=key)
        elif not isinstance(value, _JSON_TYPES.get(str(declared[key].get("type")), object)):
            message = f"{name}.{key} is {type(value).__name__}, declared {declared[key].get('type')}"
            yield Diagnostic("dataset.type", message, "info", call=position, argument=key)
